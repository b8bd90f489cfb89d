// Linear attention as the judge reads it from docs/FORMULAS.md, section 1: one value head's parts,
// times the heads.
#include "solve/judge/price/verify_price.h"

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

static int chunk_tokens(const struct linear_shape *l)
{
    switch (l->rule) {
    case LINEAR_DELTA: return 64;
    case LINEAR_STATE_SPACE: return 128;
    default: return 256;
    }
}

// Widths of the parts of what a token's own product gives: queries, keys, values, and what else
// there is beside them.
static long double read_off_token(const struct linear_shape *l)
{
    long double values = all_values(l), both = 2 * values; // values and their gate
    if (l->rule == LINEAR_CONVOLUTION) return both + values;
    if (l->rule == LINEAR_SCAN) return both;
    long double whole = both + 2 * short_keys(l);
    return l->rule == LINEAR_STATE_SPACE ? whole + l->value_heads : whole;
}

// ---- weights

// Steps are a number for each value head, decays one for each or one for each value of its key.
static void delta_matrices(const struct price_audit *a, struct judged_matrix *m, int *count)
{
    const struct linear_shape *l = linear_in(a);
    long double h = a->problem->model.shape.hidden, t = layout_of(a)->tensor, v = all_values(l),
                heads = l->value_heads;
    judged_put(m, count, h, (2 * short_keys(l) + (l->gate_rank ? 1 : 2) * v) / t, false);
    judged_put(m, count, h, (l->decay_rank ? 1 : 2) * heads / t, false);
    if (l->decay_rank || l->gate_rank)
        judged_put(m, count, h, (long double)l->decay_rank + l->gate_rank, true);
    if (l->decay_rank) judged_put(m, count, l->decay_rank, heads * l->key_width / t, false);
    if (l->gate_rank) judged_put(m, count, l->gate_rank, v / t, false);
}

int judged_linear_matrices(const struct price_audit *a, struct judged_matrix *m)
{
    const struct linear_shape *l = linear_in(a);
    long double h = a->problem->model.shape.hidden, t = layout_of(a)->tensor, v = all_values(l);
    int count = 0;
    if (l->rule == LINEAR_DELTA) delta_matrices(a, m, &count);
    else judged_put(m, &count, h, read_off_token(l) / t, false);
    if (l->rule == LINEAR_SCAN) { // out of the convolved values; all values share keys and queries
        judged_put(m, &count, v / t, 2 * (long double)l->key_width + l->decay_rank, false);
        judged_put(m, &count, l->decay_rank, v / t, false);
    }
    judged_put(m, &count, v / t, h, false);
    return count;
}

// Values of the states before each chunk, by token.
static long double states_by_token(const struct linear_shape *l)
{
    return all_values(l) * l->key_width / chunk_tokens(l);
}

// ---- what is kept and moved

static struct judged_attention judged_delta(const struct price_audit *a)
{
    const struct linear_shape *l = linear_in(a);
    long double heads = l->value_heads, k = short_keys(l), v = all_values(l),
                wide = heads * l->key_width, triangle = heads * chunk_tokens(l),
                gate = l->gate_rank ? 0 : v, latent = (long double)l->decay_rank + l->gate_rank;
    struct judged_attention y = {.vectors_split = heads + (l->decay_rank ? wide : heads),
                                 .vectors_whole = l->no_norm ? 0 : l->value_width,
                                 .kept_whole = latent,
                                 .read_split = v,
                                 .read_whole = latent,
                                 .held_split = 2 * k + v + gate,
                                 .second_outputs = (l->decay_rank ? 1 : 2) * heads};
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

// A state of decays: one kernel each convolves (or applies the activation), sums steps up (where
// there are any), makes the chunks' states, passes them on, multiplies keys by queries, scans, and
// gates. Backward the gate first; the convolution, sums of steps, keys by queries and states again;
// gradients of states, passed on, of values, of keys, of queries, of their products, of both by
// these, of decays; of steps; of the convolution.
static struct judged_attention judged_states(const struct price_audit *a)
{
    const struct linear_shape *l = linear_in(a);
    bool learned = l->rule == LINEAR_STATE_SPACE;
    long double k = short_keys(l), v = all_values(l), steps = learned ? l->value_heads : 0,
                state = states_by_token(l), wide = 2 * state, // wide: in fp32
        cells = 2 * (long double)l->key_heads * chunk_tokens(l), all = 2 * k + v;
    struct judged_attention y = {.kept_split = read_off_token(l) + v + v,
                                 .read_split = v,
                                 .held_split = read_off_token(l),
                                 .kernels = learned ? 7 : 6,
                                 .vectors_split = l->no_norm ? 0 : v};
    long double convolved = 2 * all, summed = (1 + 4) * steps, scored = 2 * k + cells,
                made = v + k + wide + 4 * steps, gate = 3 * v,
                scan = v + k + state + cells + 4 * steps + v, back = 5 * v;
    y.moved_split = convolved + summed + made + (wide + state) + scored + scan + gate;
    back += convolved + summed + made + (wide + wide) + scored; // gate, and what is made again
    back += v + k + wide + 2 * steps;                           // of states
    back += 2 * wide + 2 * state;                               // passed on
    back += v + cells + v + k + state + v + 6 * steps;          // of values
    back += 2 * (v + state + k + 2 * k) + (6 + 4) * steps;      // of keys, of queries
    back += 2 * v + cells + 4 * steps;                          // of their products
    back += 2 * (k + cells + 2 * k + k);                        // of both by these
    back += 2 * v + cells + 6 * steps;                          // of decays
    back += 30 * steps + 3 * all;                               // of steps; of the convolution
    y.back_split = back - 2 * y.moved_split;
    if (!learned) y.kept_split += all; // the activation's results are not computed again
    y.vectors_split += 3 * steps;      // rates, biases of steps, shares of the values themselves
    if (l->convolution) y.vectors_split += all * (l->convolution + (learned ? 1 : 0));
    return y;
}

static struct judged_attention judged_scan(const struct price_audit *a)
{
    const struct linear_shape *l = linear_in(a);
    long double v = all_values(l), n = l->key_width;
    struct judged_attention y = {.vectors_split = v * n + v + v,
                                 // both halves, convolved, steps, before and behind the gate
                                 .kept_split = (2 + 1 + 1 + 1 + 1) * v,
                                 .kept_whole = l->decay_rank + 2 * n,
                                 .read_split = v + v,
                                 .read_whole = l->decay_rank,
                                 .moved_split = (4 + 1) * v, // values, steps, gate, output, again
                                 .moved_whole = 2 * n,
                                 .held_split = 2 * v,
                                 .kernels = 1};
    if (l->convolution) {
        y.vectors_split += (l->convolution + 1) * v, y.moved_split += 2 * v;
        y.kernels += 1;
    }
    return y;
}

static struct judged_attention judged_convolution(const struct price_audit *a)
{
    const struct linear_shape *l = linear_in(a);
    long double v = all_values(l);
    return (struct judged_attention){.vectors_split = l->convolution * v,
                                     .kept_split = 3 * v + v + v + v,
                                     .read_split = v,
                                     .moved_split = 3 * v + 2 * v + 3 * v,
                                     .held_split = 3 * v,
                                     .kernels = 3};
}

struct judged_attention judged_linear(const struct price_audit *a)
{
    const struct linear_shape *l = linear_in(a);
    struct judged_attention y;
    switch (l->rule) {
    case LINEAR_DELTA: y = judged_delta(a); break;
    case LINEAR_SCAN: y = judged_scan(a); break;
    case LINEAR_CONVOLUTION: y = judged_convolution(a); break;
    default: y = judged_states(a); break;
    }
    y.narrowed = y.second_inputs = all_values(l);
    return y;
}

// ---- context ranks, and states while a layer runs

// 4 bytes each: of each value head a state, and what becomes of one, which the delta rule says by a
// matrix, a scan by a decay for each value, and other decays by a number that does not count.
long double judged_states_passed(const struct price_audit *a)
{
    const struct linear_shape *l = linear_in(a);
    long double change[] = {[LINEAR_DELTA] = l->key_width,
                            [LINEAR_STATE_SPACE] = 0,
                            [LINEAR_SCAN] = 1,
                            [LINEAR_LIGHTNING] = 0,
                            [LINEAR_CONVOLUTION] = 0};
    return a->sequences * l->value_heads / layout_of(a)->tensor * 4 * l->key_width *
           ((long double)l->value_width + change[l->rule]);
}

long double judged_states_held(const struct price_audit *a)
{
    const struct linear_shape *l = linear_in(a);
    return l->rule == LINEAR_SCAN ? 0 : states_by_token(l);
}

// ---- work

// Products of one value head's chunk, C tokens, keys k and values v wide. Forward: four of C x C
// over k or v with keys and queries as one factor, one more over v; three of k x v; a triangle's
// inverse. Backward: what the states are made of again, 2 of k x v and one over k and v, then two
// gradients of each.
static struct attending delta_attending(const struct price_audit *a, struct piece p)
{
    const struct linear_shape *l = linear_in(a);
    long double k = l->key_width, v = l->value_width, c = chunk_tokens(l),
                chunks = p.tokens / c * l->value_heads / layout_of(a)->tensor;
    long double cells = c * c, states = c * k * v,
                forward = 2 * (3 * cells * k + 2 * cells * v + 3 * states) + cells * c / 3,
                again = 2 * (cells * (k + v) + 2 * states),
                back = 2 * (cells * (7 * k + 4 * v) + 6 * states) + 4 * cells * c;
    return (struct attending){
        .fused = true, .flop = chunks * forward, .flop_back = chunks * (again + back)};
}

// One key head's chunk: queries by keys. One value head's: what came of that by values, the state
// made, the state asked. Backward: queries by keys and states again; gradients of both factors of
// every product, of which the state is one in two; values by outputs' gradients again for decays.
// These kernels take five times as long as fused attention's for as many.
static struct attending states_attending(const struct price_audit *a, struct piece p)
{
    const struct linear_shape *l = linear_in(a);
    long double k = l->key_width, v = l->value_width, c = chunk_tokens(l),
                chunks = p.tokens / c / layout_of(a)->tensor, slowed = 5 * chunks,
                scored = 2 * c * c * k, summed = 2 * c * c * v, state = 2 * c * k * v;
    return (struct attending){
        .fused = true,
        .flop = slowed * (l->key_heads * scored + l->value_heads * (summed + 2 * state)),
        .flop_back = slowed * (l->key_heads * (scored + 2 * scored) +
                               l->value_heads * (2 * summed + summed + state + 4 * state))};
}

struct attending judged_linear_attending(const struct price_audit *a, struct piece p)
{
    switch (linear_in(a)->rule) {
    case LINEAR_DELTA: return delta_attending(a, p);
    case LINEAR_STATE_SPACE:
    case LINEAR_LIGHTNING: return states_attending(a, p);
    default: return (struct attending){.fused = true}; // bound by memory
    }
}
