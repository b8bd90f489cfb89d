// Which decoder layers a flag of Megatron means: every n-th one, or a list of 0s and 1s as Python
// reads it, "([1]*3+[0])*12".
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/import/jobs/core.h"
#include "data/import/text.h"

enum { DEPTH_MAX = 16 };

struct pattern {
    const char *at;
    bool *to;
    int64_t count, most; // values so far, also those above the most that there is room for
    bool wrong;
};

static void put(struct pattern *p, bool value)
{
    if (p->count < p->most) p->to[p->count] = value;
    p->count++;
}

static void skip_blanks(struct pattern *p) { p->at += strspn(p->at, " \t"); }

static void read_sum(struct pattern *p, int depth);

static void read_list(struct pattern *p)
{
    for (p->at++; *p->at && *p->at != ']'; p->at++)
        if (*p->at == '0' || *p->at == '1') put(p, *p->at == '1');
        else if (!strchr(" \t,", *p->at)) p->wrong = true;
    if (*p->at) p->at++;
    else p->wrong = true;
}

// A list or a sum in parentheses, repeated. A term of more values than there is room for ends the
// reading: it is counted no further.
static void read_term(struct pattern *p, int depth)
{
    int64_t first = p->count;
    skip_blanks(p);
    if (*p->at == '[') read_list(p);
    else if (*p->at == '(' && depth < DEPTH_MAX) {
        p->at++;
        read_sum(p, depth + 1);
        if (*p->at == ')') p->at++;
        else p->wrong = true;
    } else p->wrong = true;
    for (skip_blanks(p); *p->at == '*' && !p->wrong; skip_blanks(p)) {
        char *end;
        long times = strtol(p->at + 1, &end, 10);
        int64_t once = p->count - first;
        p->wrong = end == p->at + 1 || times < 0;
        p->at = end;
        if (!times) p->count = first;
        for (long t = 1; t < times && p->count <= p->most; t++)
            for (int64_t i = 0; i < once && p->count <= p->most; i++) put(p, p->to[first + i]);
    }
}

static void read_sum(struct pattern *p, int depth)
{
    read_term(p, depth);
    while (*p->at == '+' && !p->wrong) p->at++, read_term(p, depth);
}

enum status core_pattern(bool *to, const struct run *r, const char *flag, const char *text,
                         enum core_every every, struct error *err)
{
    int64_t n = 1;
    struct pattern p = {.at = text, .to = to, .most = r->layers};
    if (word_is_whole(text, &n) && n > 0) {
        for (int64_t i = 0; i < r->layers; i++)
            to[i] = every == CORE_EVERY_NTH ? i % n == 0 : (i + 1) % n != 0;
        return OK;
    }
    read_sum(&p, 0);
    if (!p.wrong && !*p.at && p.count == r->layers) return OK;
    return refuse(err, "%s: %s: expected %lld layers, found %lld in \"%s\"", r->file, flag,
                  (long long)r->layers, (long long)p.count, text);
}

// One layer of the kind after each `gap` state spaces, where that is rounded on the way.
static void spread(char *letters, char kind, double gap)
{
    double left = gap;
    for (char *at = letters; *at; at++)
        if (*at == 'M') *at = left < 0.5 ? kind : 'M', left += left < 0.5 ? gap : -1;
}

// Attention between state spaces, then feed-forward parts in place of state spaces
// (mamba_hybrid_layer_allocation.py of core 0.8 to 0.12).
enum status core_allocate(struct run *r, struct arena *arena, struct error *err)
{
    double attention = r->hybrid_attention, mlp = r->hybrid_mlp;
    if (attention + mlp > 1)
        return refuse(err,
                      "%s: --hybrid-attention-ratio and --hybrid-mlp-ratio: expected at most 1 "
                      "together, found %g and %g",
                      r->file, attention, mlp);
    int layers = (int)(r->layers < LAYERS_MAX ? r->layers : LAYERS_MAX),
        attentions = (int)rint(layers * attention), parts = (int)rint(layers * mlp);
    char *letters = TAKE(arena, layers + 1, char);
    memset(letters, 'M', (size_t)layers);
    spread(letters, '*', (double)(layers - attentions) / (attentions + 1));
    if (parts) spread(letters, '-', (double)(layers - attentions - parts) / parts);
    r->hybrid = letters;
    return OK;
}

// M: a state space, *: attention, -: a feed-forward part, E: experts (Megatron-LM's
// hybrid_layer_allocation.py); strokes end pipeline segments.
enum status core_hybrid(struct core_kinds *k, struct run *r, struct error *err)
{
    int64_t count = 0;
    for (const char *at = r->hybrid; at && *at; at++) {
        if (*at == '|') continue;
        if (!strchr("M*-E", *at))
            return refuse(
                err, "%s: --hybrid-layer-pattern: expected layers M, *, - and E, found \"%.40s\"",
                r->file, at);
        if (k) {
            k->linear[count] = *at == 'M', k->mixture[count] = *at == 'E';
            k->no_attention[count] = *at == '-' || *at == 'E';
            k->no_feed_forward[count] = !k->no_attention[count];
        }
        count++;
    }
    if (r->hybrid && r->layers && r->layers != count)
        return refuse(err, "%s: --num-layers %lld, but --hybrid-layer-pattern has %lld", r->file,
                      (long long)r->layers, (long long)count);
    if (r->hybrid) r->layers = count;
    return OK;
}

// With the products to their latent and back (moe_layer.py).
void core_set_experts(struct layer_run *run, const struct expert_shape *e, const struct shape *s)
{
    run->experts = *e;
    run->more_products = 2 * s->hidden * e->latent;
    run->more_values = run->more_products;
    if (e->latent && s->linear_bias) run->more_values += e->latent + s->hidden;
}
