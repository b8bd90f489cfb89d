// What the attention of a layer consists of, as the judge reads it from docs/FORMULAS.md, sections
// 1 and 3 to 5: its matrices and other weights, what it keeps, moves and passes on, and its work.
#include "solve/judge/price/verify_price.h"

int attentions_of(const struct layer_run *r)
{
    if (r->no_attention) return 0;
    return r->cross_attention ? 2 : 1;
}

int judged_parts(const struct layer_run *r)
{
    return attentions_of(r) + (r->no_feed_forward ? 0 : 1);
}

int judged_norms(const struct price_audit *a, const struct layer_run *r)
{
    int norms = a->problem->model.shape.norms;
    if (judged_parts(r) == 1) return norms == 0 ? 1 : norms - norms / 2; // one of two parts
    // A further token's layer has one for the state, one for the embedding, and one before the
    // logits.
    return (norms ? norms : 2) + attentions_of(r) - 1 + (r->mtp ? 3 : 0);
}

void judged_put(struct judged_matrix *m, int *count, long double inputs, long double outputs,
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

// As many heads of values as have keys of such a width together.
static long double of_values(const struct price_audit *a, long double keys)
{
    const struct shape *s = &a->problem->model.shape;
    return s->value_width > 0 ? keys / s->head_width * s->value_width : keys;
}

// Columns of the product that are values alone.
static long double own_values(const struct price_audit *a)
{
    return a->problem->model.shape.keys_as_values ? 0 : of_values(a, a->key);
}

// Keys and values, where they are this layer's.
static long double read_keys(const struct price_audit *a)
{
    return a->problem->model.shape.keys_reused ? 0 : a->key + own_values(a);
}

int judged_matrices(const struct price_audit *a, int run,
                    struct judged_matrix m[ATTENTION_MATRICES_MAX])
{
    const struct shape *s = &a->problem->model.shape;
    long double h = s->hidden / a->inner, t = a->outer;
    int count = 0;
    if (run_of(a, run)->linear) return judged_linear_matrices(a, m);
    for (int i = 0; i < attentions_of(run_of(a, run)); i++) {
        if (s->kv_rank) {
            long double asked = h;
            if (s->query_rank) judged_put(m, &count, h, asked = s->query_rank, true);
            judged_put(m, &count, asked, a->query / t, false);
            judged_put(m, &count, h, (long double)s->kv_rank + s->rotary_width, true);
            long double key = (long double)(s->head_width - s->rotary_width) * s->heads;
            judged_put(m, &count, s->kv_rank, (key + a->summed) / t, false);
            if (s->index_heads > 0) {
                judged_put(m, &count, asked, (long double)s->index_heads * s->index_width, true);
                judged_put(m, &count, h, s->index_width, true);
                judged_put(m, &count, h, s->index_heads, true);
            }
        } else if (i == 0) {
            judged_put(m, &count, h, (a->query + gates_width(a) + read_keys(a)) / t, false);
        } else { // queries from the decoder, keys and values from the encoder
            judged_put(m, &count, h, (a->query + gates_width(a)) / t, false);
            judged_put(m, &count, h, read_keys(a) / t, false);
        }
        judged_put(m, &count, a->summed / t, h, false);
    }
    if (run_of(a, run)->linear_beside) count += judged_linear_matrices(a, m + count);
    return count;
}

// Vectors: norms of latents and of queries and keys; biases of what reads a token, and of the
// output.
static void weigh(const struct shape *s, long double query, long double read, long double key,
                  int times, struct judged_attention *y)
{
    int norm = s->plain_norms ? 0 : s->rms_norm ? 1 : 2;
    long double latent = times * ((long double)s->query_rank + s->kv_rank);
    bool output = s->output_bias == 0 ? s->linear_bias : s->output_bias == 1;
    y->vectors_whole = norm * latent + times * 2 * (long double)s->index_width;
    if (s->qk_norm == QK_NORM_HEAD)
        y->vectors_whole += (long double)norm * times * (s->keys_reused ? 1 : 2) * s->head_width;
    if (s->qk_norm == QK_NORM_WHOLE)
        y->vectors_split = norm * times * (query + (s->keys_reused ? 0 : key));
    if (s->qkv_bias && !s->kv_rank) y->vectors_split += times * read;
    if (s->qkv_bias && s->kv_rank)
        y->vectors_whole += latent + times * (long double)s->rotary_width;
    if (output) y->vectors_whole += times * (long double)s->hidden;
}

// Beside the scores, out of the same input; the sum reads both outputs and writes one.
static void put_beside(const struct price_audit *a, struct judged_attention *y)
{
    struct judged_attention l = judged_linear(a);
    y->vectors_split += l.vectors_split, y->vectors_whole += l.vectors_whole;
    y->kept_split += l.kept_split, y->kept_whole += l.kept_whole;
    y->read_split += l.read_split, y->read_whole += l.read_whole;
    y->moved_split += l.moved_split;
    y->moved_whole += l.moved_whole + 3 * (long double)a->problem->model.shape.hidden;
    y->narrowed += l.narrowed, y->held_split += l.held_split;
    y->second_outputs += l.second_outputs, y->second_inputs += l.second_inputs;
    y->kernels += l.kernels + 1;
    y->back_split += l.back_split;
}

// What a token keeps of finding its keys: queries, a key, a weight for each head.
static long double found_by(const struct shape *s)
{
    return (long double)s->index_heads * (s->index_width + 1) + s->index_width;
}

struct judged_attention judged_attention(const struct price_audit *a, int run)
{
    if (run_of(a, run)->no_attention) return (struct judged_attention){0};
    if (run_of(a, run)->linear) return judged_linear(a);
    const struct shape *s = &a->problem->model.shape;
    int times = attentions_of(run_of(a, run));
    long double latent = times * ((long double)s->query_rank + s->kv_rank),
                passed = times * (a->held + (s->kv_rank ? a->summed : of_values(a, a->held))),
                turned = s->keys_reused ? a->query : a->query + a->held,
                normed = s->qk_norm == QK_NORM_NONE ? 0 : turned, gate = gates_width(a),
                output = times * a->query;
    bool fused = layout_of(a)->fused_attention;
    struct judged_attention y = {.scored = times,
                                 .kept_split = times * (a->query + a->summed) + normed,
                                 .kept_whole = 2 * latent + times * found_by(s),
                                 .read_split = times * a->summed,
                                 .read_whole = latent,
                                 .moved_split = 2 * normed,
                                 .moved_whole = 2 * latent,
                                 .rotated = turned,
                                 .passed = passed,
                                 .second_inputs = a->query};
    // Fused attention itself keeps its output in two bytes, so that it is there in one as well.
    y.narrowed = fused ? -output : output;
    y.held_split = a->query;
    if (!s->keys_reused) { // those of another layer are kept there
        y.kept_split += passed;
        y.held_split += a->key, y.second_outputs = a->key;
    }
    if (fused) y.held_split += a->query, y.held_rows = 4 * (long double)s->heads;
    y.kernels = 1; // the rotation
    if (s->qk_norm) y.kernels += s->keys_reused ? 1 : 2;
    if (gate > 0) { // read, multiplied, and what comes of it is what the output's product reads
        y.kept_split += times * (gate + a->summed);
        y.moved_split += times * (a->summed + gate + a->summed);
        y.kernels += times;
        y.held_split += gate;
        y.narrowed = output;
    }
    if (s->kv_rank) y.kernels += s->query_rank ? 2 : 1;
    if (a->held > a->key) { // ranks' parts of all heads, read and written once they are there
        y.together = times * (a->query + gate + read_keys(a));
        y.moved_whole += 2 * y.together;
        y.kernels += times;
    }
    weigh(s, a->query, a->query + gate + read_keys(a), a->key, times, &y);
    if (run_of(a, run)->linear_beside) put_beside(a, &y);
    return y;
}

long double judged_ring_bytes(const struct price_audit *a, int run, long double tokens)
{
    const struct layer_run *r = run_of(a, run);
    return judged_attention(a, run).passed / layout_of(a)->tensor * tokens * a->value_bytes +
           (r->linear || r->linear_beside ? judged_states_passed(a) : 0);
}

long double judged_exchanged(const struct price_audit *a, int run)
{
    int times = attentions_of(run_of(a, run));
    return (times * (a->query + a->summed) + judged_attention(a, run).passed) /
           layout_of(a)->tensor;
}

// Of torchtitan's compiled attention, which reads the keys and values of all context ranks at once.
bool judged_keys_kept(const struct price_audit *a, int run)
{
    const struct layer_run *r = run_of(a, run);
    const struct job *j = &a->problem->job;
    bool states = r->linear || r->linear_beside;
    return layout_of(a)->context > 1 && !states && !r->no_attention &&
           j->context_kind == CONTEXT_ALL_GATHER && j->trainer == TRAINER_TORCHTITAN;
}

// Buffers of context ranks: a step's and the next one's; all of the others' keys and values, or of
// their gradients, and once more; the heads of others.
static long double context_working(const struct price_audit *a, int run)
{
    const struct layer_run *r = run_of(a, run);
    bool states = r->linear || r->linear_beside; // only a ring passes them on
    enum context_kind kind = states ? CONTEXT_RING : a->problem->job.context_kind;
    if (layout_of(a)->context == 1) return 0;
    if (kind == CONTEXT_ALL_TO_ALL) return judged_exchanged(a, run) * a->tokens * a->value_bytes;
    long double steps = kind == CONTEXT_RING ? 1 : layout_of(a)->context;
    if (judged_keys_kept(a, run)) return steps * judged_ring_bytes(a, run, a->tokens); // gradients
    return 2 * steps * judged_ring_bytes(a, run, a->tokens);
}

long double judged_attention_working(const struct price_audit *a, int run, bool learns)
{
    const struct layout *l = layout_of(a);
    const struct layer_run *r = run_of(a, run);
    if (r->no_attention) return 0;
    long double heads = a->problem->model.shape.heads / a->outer, length = a->problem->job.sequence,
                bytes = context_working(a, run);
    if (r->linear || r->linear_beside)
        bytes += a->value_bytes * (a->tokens * judged_states_held(a) / l->tensor) *
                 (learns ? 2 : 1);
    if (learns && !l->fused_attention && !r->linear)
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
    const struct shape *s = &a->problem->model.shape;
    long double cross = r->cross_attention ? all : 0,
                w = s->index_heads ? s->index_top_k : r->window;
    if (r->bidirectional) return all + cross;
    if (r->chunk) return keys_in_chunks(r->chunk, p) + cross;
    if (w == 0 || last <= w) return p.length * (p.behind + p.length / 2) + cross;
    // Full windows from token w on; before it the triangle, or the slice's part of it.
    if (p.behind >= w) return p.length * w + cross;
    return (w - p.behind) * (w + p.behind) / 2 + (last - w) * w + cross;
}

// Finding keys: a triangle of them is looked at, or the slice's part of one; gradients come back
// from those that were found.
static void find_keys(const struct price_audit *a, struct piece p, struct attending *y)
{
    const struct shape *s = &a->problem->model.shape;
    if (s->index_heads == 0) return;
    long double each = 2 * a->sequences / layout_of(a)->context * s->index_heads * s->index_width,
                found = s->index_top_k, begin = p.behind, last = p.behind + p.length,
                grows = least(last, found) - least(begin, found); // tokens with fewer before them
    y->flop += each * p.length * (begin + p.length / 2);
    y->flop_back +=
        2 * each *
        (grows * (least(last, found) + least(begin, found)) / 2 + (p.length - grows) * found);
}

struct attending judged_attending(const struct price_audit *a, int run, struct piece p)
{
    const struct layer_run *r = run_of(a, run);
    if (r->no_attention) return (struct attending){.fused = true};
    if (r->linear) return judged_linear_attending(a, p);
    // Every token of the slice attends to those before it; the fused kernel skips what is masked.
    struct attending y = {.fused = layout_of(a)->fused_attention,
                          .cells = a->sequences * keys_seen(a, run_of(a, run), p) /
                                   layout_of(a)->context};
    y.flop = 2 * y.cells * (a->query + a->summed) / a->outer;
    y.flop_back = (y.fused ? 2.5L : 2) * y.flop;
    find_keys(a, p, &y);
    if (!y.fused)
        y.score_bytes = 6 * y.cells * (a->problem->model.shape.heads / a->outer) * a->value_bytes;
    if (r->linear_beside) {
        struct attending states = judged_linear_attending(a, p);
        y.flop += y.states = states.flop, y.flop_back += y.states_back = states.flop_back;
    }
    return y;
}
