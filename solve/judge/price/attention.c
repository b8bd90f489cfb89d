// What the attention of a layer consists of, as the judge reads it from docs/FORMULAS.md, sections
// 1 and 3 to 5: its matrices and other weights, what it keeps, moves and passes on, and its work.
#include "solve/judge/price/verify_price.h"

#include <assert.h>
#include <math.h>

int attentions_of(const struct layer_run *r) { return r->cross_attention ? 2 : 1; }

int judged_norms(const struct price_audit *a, const struct layer_run *r)
{
    int norms = a->problem->model.shape.norms;
    // A further token's layer has one for the state, one for the embedding, and one before the
    // logits.
    return (norms ? norms : 2) + attentions_of(r) - 1 + (r->mtp ? 3 : 0);
}

static void put(struct judged_matrix *m, int *count, long double inputs, long double outputs,
                bool whole)
{
    assert(*count < ATTENTION_MATRICES_MAX);
    m[(*count)++] = (struct judged_matrix){inputs, outputs, whole};
}

// Of each attention, beside the queries.
static long double gates_width(const struct price_audit *a)
{
    return a->problem->model.shape.gated_attention ? a->query : 0;
}

int judged_matrices(const struct price_audit *a, int run,
                    struct judged_matrix m[ATTENTION_MATRICES_MAX])
{
    const struct shape *s = &a->problem->model.shape;
    long double h = s->hidden / a->inner, t = a->outer;
    int count = 0;
    for (int i = 0; i < attentions_of(run_of(a, run)); i++) {
        if (s->kv_rank) {
            long double asked = h;
            if (s->query_rank) put(m, &count, h, asked = s->query_rank, true);
            put(m, &count, asked, a->query / t, false);
            put(m, &count, h, (long double)s->kv_rank + s->rotary_width, true);
            long double key = (long double)(s->head_width - s->rotary_width) * s->heads;
            put(m, &count, s->kv_rank, (key + a->summed) / t, false);
        } else if (i == 0) {
            put(m, &count, h, (a->query + gates_width(a) + 2 * a->key) / t, false);
        } else { // queries from the decoder, keys and values from the encoder
            put(m, &count, h, (a->query + gates_width(a)) / t, false);
            put(m, &count, h, 2 * a->key / t, false);
        }
        put(m, &count, a->summed / t, h, false);
    }
    return count;
}

// Vectors: norms of latents and of queries and keys; biases of what reads a token, and of the
// output.
static void weigh(const struct shape *s, long double query, long double gate, long double key,
                  int times, struct judged_attention *y)
{
    int norm = s->plain_norms ? 0 : s->rms_norm ? 1 : 2;
    long double latent = times * ((long double)s->query_rank + s->kv_rank);
    bool output = s->output_bias == 0 ? s->linear_bias : s->output_bias == 1;
    y->vectors_whole = norm * latent;
    if (s->qk_norm == QK_NORM_HEAD)
        y->vectors_whole += (long double)norm * times * 2 * s->head_width;
    if (s->qk_norm == QK_NORM_WHOLE) y->vectors_split = norm * times * (query + key);
    if (s->qkv_bias && !s->kv_rank) y->vectors_split += times * (query + gate + 2 * key);
    if (s->qkv_bias && s->kv_rank)
        y->vectors_whole += latent + times * (long double)s->rotary_width;
    if (output) y->vectors_whole += times * (long double)s->hidden;
}

struct judged_attention judged_attention(const struct price_audit *a, int run)
{
    const struct shape *s = &a->problem->model.shape;
    int times = attentions_of(run_of(a, run));
    long double latent = times * ((long double)s->query_rank + s->kv_rank),
                passed = times * (a->key + (s->kv_rank ? a->summed : a->key)),
                normed = s->qk_norm == QK_NORM_NONE ? 0 : a->query + a->key, gate = gates_width(a),
                output = times * a->query;
    bool fused = layout_of(a)->fused_attention;
    struct judged_attention y = {.scored = times,
                                 .kept_split = times * (a->query + a->summed) + passed + normed,
                                 .kept_whole = 2 * latent,
                                 .read_split = times * a->summed,
                                 .read_whole = latent,
                                 .moved_split = 2 * normed,
                                 .moved_whole = 2 * latent,
                                 .rotated = a->query + a->key,
                                 .passed = passed,
                                 .second_outputs = a->key,
                                 .second_inputs = a->query};
    // Fused attention itself keeps its output in two bytes, so that it is there in one as well.
    y.narrowed = fused ? -output : output;
    y.held_split = a->query + a->key;
    if (fused) y.held_split += a->query, y.held_rows = 4 * (long double)s->heads;
    y.kernels = 1; // the rotation
    if (s->qk_norm) y.kernels += 2;
    if (gate > 0) { // read, multiplied, and what comes of it is what the output's product reads
        y.kept_split += times * (gate + a->summed);
        y.moved_split += times * (a->summed + gate + a->summed);
        y.kernels += times;
        y.held_split += gate;
        y.narrowed = output;
    }
    if (s->kv_rank) y.kernels += s->query_rank ? 2 : 1;
    weigh(s, a->query, gate, a->key, times, &y);
    return y;
}

long double judged_ring_bytes(const struct price_audit *a, int run, long double tokens)
{
    return judged_attention(a, run).passed / layout_of(a)->tensor * tokens * a->value_bytes;
}

long double judged_attention_working(const struct price_audit *a, int run, bool learns)
{
    const struct layout *l = layout_of(a);
    long double heads = a->problem->model.shape.heads / a->outer, length = a->problem->job.sequence,
                bytes = l->context > 1 ? 2 * judged_ring_bytes(a, run, a->tokens) : 0;
    if (learns && !l->fused_attention)
        bytes += 4 * a->sequences * heads * length * (length / l->context) * a->value_bytes / 2;
    return bytes;
}

// ---- work

// Where attention restarts at every chunk: the rest of the chunk in which the slice begins, whole
// chunks, and the start of the chunk in which it ends.
static long double keys_in_chunks(long double chunk, struct piece p)
{
    long double last = p.behind + p.length, in = fmodl(p.behind, chunk), begun = p.behind - in,
                end = fmodl(last, chunk), wholes = (last - end - begun) / chunk - 1;
    if (last <= begun + chunk) return p.length * (in + p.length / 2);
    return (chunk - in) * (chunk + in) / 2 + wholes * chunk * chunk / 2 + end * end / 2;
}

// Keys seen in one head by all tokens of a slice of one sequence.
static long double keys_seen(const struct price_audit *a, const struct layer_run *r, struct piece p)
{
    long double last = p.behind + p.length, all = p.length * last;
    if (!layout_of(a)->fused_attention) return attentions_of(r) * all;
    long double cross = r->cross_attention ? all : 0, w = r->window;
    if (r->bidirectional) return all + cross;
    if (r->chunk) return keys_in_chunks(r->chunk, p) + cross;
    if (w == 0 || last <= w) return p.length * (p.behind + p.length / 2) + cross;
    // Full windows from token w on; before it the triangle, or the slice's part of it.
    if (p.behind >= w) return p.length * w + cross;
    return (w - p.behind) * (w + p.behind) / 2 + (last - w) * w + cross;
}

struct attending judged_attending(const struct price_audit *a, int run, struct piece p)
{
    // Every token of the slice attends to those before it; the fused kernel skips what is masked.
    struct attending y = {.fused = layout_of(a)->fused_attention,
                          .cells = a->sequences * keys_seen(a, run_of(a, run), p) /
                                   layout_of(a)->context};
    y.flop = 2 * y.cells * (a->query + a->summed) / a->outer;
    y.flop_back = (y.fused ? 2.5L : 2) * y.flop;
    if (!y.fused)
        y.score_bytes = 6 * y.cells * (a->problem->model.shape.heads / a->outer) * a->value_bytes;
    return y;
}
