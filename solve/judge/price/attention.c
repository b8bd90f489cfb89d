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

// ---- linear attention (section 1): one value head's parts, times the heads

static const struct linear_shape *linear_in(const struct price_audit *a)
{
    return &a->problem->model.shape.linear;
}

// Width of the queries, or keys.
static long double short_keys(const struct linear_shape *l)
{
    return (long double)l->key_heads * l->key_width;
}

static long double all_values(const struct linear_shape *l)
{
    return (long double)l->value_heads * l->value_width;
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

// Steps are a number for each value head, decays one for each or one for each value of its key.
static int linear_judged_matrices(const struct price_audit *a,
                                  struct judged_matrix m[ATTENTION_MATRICES_MAX])
{
    const struct linear_shape *l = linear_in(a);
    long double h = a->problem->model.shape.hidden, t = layout_of(a)->tensor, v = all_values(l),
                heads = l->value_heads;
    int count = 0;
    put(m, &count, h, (2 * short_keys(l) + (l->gate_rank ? 1 : 2) * v) / t, false);
    put(m, &count, h, (l->decay_rank ? 1 : 2) * heads / t, false);
    if (l->decay_rank || l->gate_rank)
        put(m, &count, h, (long double)l->decay_rank + l->gate_rank, true);
    if (l->decay_rank) put(m, &count, l->decay_rank, heads * l->key_width / t, false);
    if (l->gate_rank) put(m, &count, l->gate_rank, v / t, false);
    put(m, &count, v / t, h, false);
    return count;
}

int judged_matrices(const struct price_audit *a, int run,
                    struct judged_matrix m[ATTENTION_MATRICES_MAX])
{
    const struct shape *s = &a->problem->model.shape;
    long double h = s->hidden / a->inner, t = a->outer;
    int count = 0;
    if (run_of(a, run)->linear) return linear_judged_matrices(a, m);
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

enum { CHUNK = 64 }; // tokens

// Values of the states before each chunk, by token.
static long double states_by_token(const struct linear_shape *l)
{
    return all_values(l) * l->key_width / CHUNK;
}

static struct judged_attention linear_judged(const struct price_audit *a)
{
    const struct linear_shape *l = linear_in(a);
    long double heads = l->value_heads, k = short_keys(l), v = all_values(l),
                wide = heads * l->key_width, triangle = heads * CHUNK, gate = l->gate_rank ? 0 : v,
                latent = (long double)l->decay_rank + l->gate_rank;
    struct judged_attention y = {.vectors_split = heads + (l->decay_rank ? wide : heads),
                                 .vectors_whole = l->value_width,
                                 .kept_whole = latent,
                                 .read_split = v,
                                 .read_whole = latent,
                                 .narrowed = v,
                                 .held_split = 2 * k + v + gate,
                                 .second_outputs = (l->decay_rank ? 1 : 2) * heads,
                                 .second_inputs = v};
    // Projected queries, keys and values; queries and keys of length 1, by value head; the
    // triangle; gate, outputs before and after their norm.
    y.kept_split = 2 * k + v + 2 * wide + triangle + 3 * v;
    // Lengths: queries and keys in and out. Chunks: the triangle is made of the keys, inverted, and
    // read with keys and values, which gives two of that size; the states are made of these and the
    // keys, outputs of states, queries, keys and what the states left of the values. The norm.
    y.moved_split = 2 * 2 * k + (wide + triangle) + 2 * triangle + (2 * wide + 2 * v + triangle) +
                    (2 * wide + v + states_by_token(l) + v) +
                    (2 * wide + v + states_by_token(l) + v) + 3 * v;
    y.kernels = 2 + 2 + 1 + 2 + 2 + 1; // step, decay; lengths; sum; triangle; products; norm
    if (l->convolution) {
        y.vectors_split += l->convolution * (2 * k + v);
        y.kept_split += 2 * k + v;
        y.moved_split += 2 * (2 * k + v);
        y.kernels += 1;
    }
    // Decays of each value: made of the product, summed up in fp32 (both kept), read by three
    // kernels.
    if (l->decay_rank) y.kept_split += 3 * wide, y.moved_split += (3 + 4 + 3 * 2) * wide;
    return y;
}

struct judged_attention judged_attention(const struct price_audit *a, int run)
{
    if (run_of(a, run)->linear) return linear_judged(a);
    const struct shape *s = &a->problem->model.shape;
    int times = attentions_of(run_of(a, run));
    long double latent = times * ((long double)s->query_rank + s->kv_rank),
                passed = times * (a->held + (s->kv_rank ? a->summed : a->held)),
                normed = s->qk_norm == QK_NORM_NONE ? 0 : a->query + a->held, gate = gates_width(a),
                output = times * a->query;
    bool fused = layout_of(a)->fused_attention;
    struct judged_attention y = {.scored = times,
                                 .kept_split = times * (a->query + a->summed) + passed + normed,
                                 .kept_whole = 2 * latent,
                                 .read_split = times * a->summed,
                                 .read_whole = latent,
                                 .moved_split = 2 * normed,
                                 .moved_whole = 2 * latent,
                                 .rotated = a->query + a->held,
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
    if (a->held > a->key) { // ranks' parts of all heads, read and written once they are there
        y.together = times * (a->query + gate + a->key + a->key);
        y.moved_whole += 2 * y.together;
        y.kernels += times;
    }
    weigh(s, a->query, gate, a->key, times, &y);
    return y;
}

long double judged_ring_bytes(const struct price_audit *a, int run, long double tokens)
{
    // For each value head a state, and a matrix that says what becomes of one; 4 bytes each.
    const struct linear_shape *l = linear_in(a);
    if (run_of(a, run)->linear)
        return a->sequences * l->value_heads / layout_of(a)->tensor * 4 * l->key_width *
               ((long double)l->value_width + l->key_width);
    return judged_attention(a, run).passed / layout_of(a)->tensor * tokens * a->value_bytes;
}

long double judged_exchanged(const struct price_audit *a, int run)
{
    int times = attentions_of(run_of(a, run));
    return (times * (a->query + a->summed) + judged_attention(a, run).passed) /
           layout_of(a)->tensor;
}

// Buffers of context ranks: a step's and the next one's; all of the others' keys and values, or of
// their gradients, and once more; the heads of others.
static long double context_working(const struct price_audit *a, int run)
{
    enum context_kind kind = a->problem->job.context_kind;
    if (layout_of(a)->context == 1) return 0;
    if (kind == CONTEXT_ALL_TO_ALL && !run_of(a, run)->linear)
        return judged_exchanged(a, run) * a->tokens * a->value_bytes;
    long double steps = run_of(a, run)->linear || kind == CONTEXT_RING ? 1 : layout_of(a)->context;
    return 2 * steps * judged_ring_bytes(a, run, a->tokens);
}

long double judged_attention_working(const struct price_audit *a, int run, bool learns)
{
    const struct layout *l = layout_of(a);
    long double heads = a->problem->model.shape.heads / a->outer, length = a->problem->job.sequence,
                bytes = context_working(a, run);
    if (run_of(a, run)->linear) {
        long double states = a->tokens * states_by_token(linear_in(a)) / l->tensor;
        return bytes + a->value_bytes * states * (learns ? 2 : 1);
    }
    if (learns && !l->fused_attention)
        bytes += 4 * a->sequences * heads * length * (length / l->context) * a->value_bytes / 2;
    // As they arrive, and in order.
    return bytes + 2 * judged_attention(a, run).together * a->tokens * a->value_bytes;
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

// Products of one value head's chunk, C tokens, keys k and values v wide. Forward: four of C x C
// over k or v with keys and queries as one factor, one more over v; three of k x v; a triangle's
// inverse. Backward: what the states are made of again, 2 of k x v and one over k and v, then two
// gradients of each.
static struct attending linear_attending(const struct price_audit *a, struct piece p)
{
    const struct linear_shape *l = linear_in(a);
    long double k = l->key_width, v = l->value_width, c = CHUNK,
                chunks = p.tokens / CHUNK * l->value_heads / layout_of(a)->tensor;
    long double cells = c * c, states = c * k * v,
                forward = 2 * (3 * cells * k + 2 * cells * v + 3 * states) + cells * c / 3,
                again = 2 * (cells * (k + v) + 2 * states),
                back = 2 * (cells * (7 * k + 4 * v) + 6 * states) + 4 * cells * c;
    return (struct attending){
        .fused = true, .flop = chunks * forward, .flop_back = chunks * (again + back)};
}

struct attending judged_attending(const struct price_audit *a, int run, struct piece p)
{
    if (run_of(a, run)->linear) return linear_attending(a, p);
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
