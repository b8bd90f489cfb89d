// Stages whose first layers' activations are swapped to a tier: which of them exist, and what
// swapping adds to a pass and to memory, from the sums of docs/FORMULAS.md 8.
#include "data/base/least.h"
#include "solve/checker/layout/choices.h"

bool check_recomputes_behind(const struct check_problem *p, int recomputed, int left)
{
    return recomputed == 0 || p->modes[MODE_FIRST_LAYERS] ||
           (p->modes[MODE_FULL] && recomputed == left);
}

bool check_counts_layers(const struct check_problem *p, const struct check_choice *c, int first)
{
    int most = check_recomputable(p, first, c->layers);
    if (c->sharded > (p->runs[0].sharded ? most : 0)) return false;
    if (!check_may_spread(p, first, c->layers, c->vocabulary)) return false;
    if (c->mode == MODE_FIRST_LAYERS)
        return !c->swapped && c->recomputed >= 1 && c->recomputed <= most;
    if (c->mode != MODE_SWAP) return !c->swapped && !c->recomputed;
    int left = most - c->swapped;
    return c->swapped >= 1 && c->recomputed <= left &&
           check_recomputes_behind(p, c->recomputed, left);
}

// A stage's layer in a choice that swaps.
struct place {
    const struct check_run *run;
    bool goes, again; // swapped to the host; recomputed
};

// The given layer of the choice; *counted: recomputable layers so far.
static struct place place_of(const struct check_problem *p, const struct check_choice *c, int layer,
                             int *counted)
{
    const struct check_run *run = &p->runs[p->run_of[layer]];
    int at = run->recomputable ? (*counted)++ : c->layers;
    bool goes = at < c->swapped;
    return (struct place){run, goes, !goes && at < c->swapped + c->recomputed};
}

static int64_t pass_of(const struct place *x, const struct check_choice *c, bool backward)
{
    if (!backward) return check_forward(x->run, c->gradient)[c->group];
    return check_backward(x->run, c->gradient)[c->group] +
           (x->again ? x->run->again[MODE_FULL][c->group] : 0);
}

static int64_t bytes_of(const struct place *x)
{
    return x->run->stash[x->again ? MODE_FULL : MODE_NONE];
}

// Bytes of a micro-batch that the device may hold during a pass: what stays after it, and two
// buffers.
struct device {
    int64_t stays, buffers;
};

static struct device device_of(const struct check_problem *p, const struct check_choice *c,
                               int first)
{
    struct device d = {0, 0};
    int counted = 0;
    for (int layer = first; layer < first + c->layers; layer++) {
        struct place x = place_of(p, c, layer, &counted);
        d.stays += x.goes ? 0 : bytes_of(&x);
        int64_t one = x.run->recomputable ? 2 * x.run->stash[MODE_NONE] : 0;
        if (!p->gradient[c->gradient].across) d.buffers = larger(d.buffers, one);
        else if (x.goes) d.buffers += one; // a whole micro-batch goes, and another comes
    }
    return d;
}

// The transfers of one pass: when each ends, and its bytes plus those before it.
struct transfers {
    int64_t ends[MOST_LAYERS], bytes[MOST_LAYERS];
    int count;
};

// *beside: what of its transfers is not done while its layers run, where that may be so.
static int64_t pass_takes(const struct check_problem *p, const struct check_choice *c, int first,
                          const struct device *d, bool backward, int64_t *beside)
{
    struct transfers t = {.count = 0};
    int64_t produced = 0, ends = 0;
    int counted = 0, waited = 0; // transfers that must have ended
    for (int layer = first; layer < first + c->layers; layer++) {
        struct place x = place_of(p, c, layer, &counted);
        produced += bytes_of(&x);
        while (waited < t.count &&
               produced - (waited ? t.bytes[waited - 1] : 0) > d->stays + d->buffers)
            waited++;
        ends = larger(ends, waited ? t.ends[waited - 1] : 0) + pass_of(&x, c, backward);
        if (!x.goes) continue;
        int n = t.count++;
        t.ends[n] = larger(ends, n ? t.ends[n - 1] : 0) +
                    check_swap(x.run, c->gradient, backward)[c->group];
        t.bytes[n] = (n ? t.bytes[n - 1] : 0) + bytes_of(&x);
    }
    *beside = t.count ? larger(t.ends[t.count - 1] - ends, 0) : 0;
    return ends;
}

void check_time_swaps(const struct check_problem *p, int first, struct check_choice *c)
{
    struct device d = device_of(p, c, first);
    c->working += d.buffers;
    c->forward[0] = pass_takes(p, c, first, &d, false, &c->rest);
    c->backward[0] = pass_takes(p, c, first, &d, true, &c->start);
    if (p->gradient[c->gradient].across) return;
    c->forward[0] += c->rest, c->backward[0] += c->start;
    c->rest = c->start = 0;
}

bool check_full_keeps_less(const struct check_problem *p)
{
    for (int r = 0; r < p->run_count; r++)
        if (p->runs[r].recomputable && p->runs[r].stash[MODE_FULL] > p->runs[r].stash[MODE_NONE])
            return false;
    return true;
}
