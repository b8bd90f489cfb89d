// Linear attention by its rule: products and other weights, what it keeps and moves, the work of
// its chunks or of its scan, the states that context ranks pass on. docs/FORMULAS.md section 1.
#include "formulate/price/pricing.h"

// Value heads; widths of all heads' keys and values, and of keys by the value heads; of decays.
struct linear {
    enum linear_rule rule;
    real heads, keys, values, wide_keys, decays, decay_rank, gate_rank, key_width, value_width;
    real convolution, convolved; // tokens under it; its values
    real normed;                 // values that a norm takes: the output's, or none
};

static struct linear linear_of(const struct pricing *x)
{
    const struct linear_shape *l = &x->shape->linear;
    real heads = (real)l->value_heads, width = (real)l->key_width;
    struct linear y = {.rule = l->rule,
                       .heads = heads,
                       .keys = (real)l->key_heads * width,
                       .values = heads * (real)l->value_width,
                       .wide_keys = heads * width,
                       .decays = heads * (l->decay_rank ? width : 1),
                       .decay_rank = (real)l->decay_rank,
                       .gate_rank = (real)l->gate_rank,
                       .key_width = width,
                       .value_width = (real)l->value_width,
                       .convolution = (real)l->convolution};
    y.convolved = l->rule == LINEAR_SCAN || l->rule == LINEAR_CONVOLUTION ? y.values
                                                                          : 2 * y.keys + y.values;
    y.normed = l->no_norm ? 0 : y.values;
    return y;
}

// Tokens that kernels take together.
static real chunk_of(const struct linear *y)
{
    return y->rule == LINEAR_DELTA ? 64 : y->rule == LINEAR_STATE_SPACE ? 128 : 256;
}

// FLOP of fused attention that take as long as one of a scan of states.
#define FLOP_OF_SCAN 5

// ---- products

static int delta_products(const struct pricing *x, const struct linear *y, real n,
                          struct product *to)
{
    real gate = y->gate_rank > 0 ? 0 : y->values, decays = y->decay_rank > 0 ? 0 : y->decays,
         latents = y->decay_rank + y->gate_rank;
    int count = 0;
    to[count++] = (struct product){"queries, keys, values and gate", n,
                                   (y->convolved + gate) / x->t, x->h, 1};
    to[count++] = (struct product){"steps and decays", n, (y->heads + decays) / x->t, x->h, 1};
    if (latents > 0) to[count++] = (struct product){"latents", n, latents, x->h, 1};
    if (!decays) to[count++] = (struct product){"decays", n, y->decays / x->t, y->decay_rank, 1};
    if (!gate) to[count++] = (struct product){"gate", n, y->values / x->t, y->gate_rank, 1};
    return count;
}

// Columns of the product that reads the token.
static real read_columns(const struct linear *y)
{
    switch (y->rule) {
    case LINEAR_STATE_SPACE: return 2 * y->keys + 2 * y->values + y->heads;
    case LINEAR_SCAN: return 2 * y->values;
    case LINEAR_LIGHTNING: return 2 * y->keys + 2 * y->values;
    default: return 3 * y->values; // a convolution's values and its two gates
    }
}

int linear_products(const struct pricing *x, real n, struct product *to)
{
    struct linear y = linear_of(x);
    int count = 0;
    if (y.rule == LINEAR_DELTA) count = delta_products(x, &y, n, to);
    else to[count++] = (struct product){"values and gate", n, read_columns(&y) / x->t, x->h, 1};
    if (y.rule == LINEAR_SCAN) {
        to[count++] = (struct product){"keys, queries and steps' latent", n,
                                       y.decay_rank + 2 * y.keys, y.values / x->t, 1};
        to[count++] = (struct product){"steps", n, y.values / x->t, y.decay_rank, 1};
    }
    to[count++] = (struct product){"attention projection", n, x->h, y.values / x->t, 1};
    return count;
}

// ---- what it keeps and moves

// Kept: what the convolution reads and gives, keys and queries of unit length, the gate, what the
// norm reads and gives, and each chunk's inverse; decays of each value before and after they are
// summed in fp32. Moved: by the convolution, the unit lengths, the kernels of the chunks and the
// norm.
static struct attention delta_attention(const struct pricing *x, const struct linear *y)
{
    bool each = y->decay_rank > 0;
    real chunk = chunk_of(y), latents = y->decay_rank + y->gate_rank, inverse = y->heads * chunk,
         gate = y->gate_rank > 0 ? 0 : y->values, passes = y->convolution > 0 ? 2 : 0,
         states = y->wide_keys * y->value_width / chunk, steps = y->heads + (each ? 0 : y->decays);
    return (struct attention){
        .matrices = {x->h * (y->convolved + gate + steps + y->values) +
                         (each ? y->decay_rank * y->decays : 0) + y->gate_rank * y->values,
                     x->h * latents},
        .vectors = {y->convolution * y->convolved + y->heads + y->decays,
                    y->normed > 0 ? y->value_width : 0},
        .kept = {(1 + passes / 2) * y->convolved + 2 * y->wide_keys + 3 * y->values + inverse +
                     (each ? 3 * y->decays : 0),
                 latents},
        .read = {y->values, latents},
        .moved = {passes * y->convolved + 4 * y->keys + 7 * y->wide_keys + 9 * y->values +
                      4 * inverse + 2 * states + (each ? 13 * y->decays : 0),
                  0},
        .chosen = y->convolved + gate,
        .again_columns = steps,
        .kernels = 10 + passes / 2,
    };
}

// A state space keeps what its first product gives, and convolves it again; fixed decays keep both
// sides of the activation. Then the output before and after gate and norm. Moved: convolution (or
// activation), steps summed, the chunks' states made in fp32 and passed on, keys by queries in
// fp32, the scan, gate and norm. Backward all but scan and norm again, then a kernel for each
// gradient.
static struct attention states_attention(const struct pricing *x, const struct linear *y)
{
    bool fixed = y->rule == LINEAR_LIGHTNING;
    real chunk = chunk_of(y), steps = fixed ? 0 : y->heads, both = read_columns(y),
         states = y->values * y->key_width / chunk, scores = 2 * y->keys / y->key_width * chunk;
    return (struct attention){
        .matrices = {x->h * (both + y->values), 0},
        .vectors = {(y->convolution > 0 ? y->convolution + (fixed ? 0 : 1) : 0) * y->convolved +
                        3 * steps + y->normed,
                    0},
        .kept = {both + (fixed ? y->convolved : 0) + 2 * y->values, 0},
        .read = {y->values, 0},
        .moved = {8 * y->keys + 8 * y->values + 6 * states + 2 * scores + 13 * steps, 0},
        .moved_back = 13 * y->keys + 5 * y->values + 5 * states + 2 * scores + 41 * steps,
        .chosen = both,
        .kernels = fixed ? 6 : 7,
    };
}

// Kept: both halves of the first product, the convolved values, keys and queries and the steps'
// latent, steps, the output before and after its gate.
static struct attention scan_attention(const struct pricing *x, const struct linear *y)
{
    real latents = y->decay_rank + 2 * y->keys;
    return (struct attention){
        .matrices = {x->h * (3 * y->values) + y->values * (latents + y->decay_rank), 0},
        .vectors = {(y->convolution > 0 ? y->convolution + 1 : 0) * y->values +
                        y->values * y->key_width + 2 * y->values,
                    0},
        .kept = {6 * y->values, latents},
        .read = {2 * y->values, y->decay_rank},
        .moved = {(y->convolution > 0 ? 2 : 0) * y->values + 5 * y->values, 2 * y->keys},
        .chosen = 2 * y->values,
        .kernels = y->convolution > 0 ? 2 : 1,
    };
}

// Values by the first gate, convolved, by the second gate.
static struct attention convolved_attention(const struct pricing *x, const struct linear *y)
{
    return (struct attention){.matrices = {x->h * 4 * y->values, 0},
                              .vectors = {y->convolution * y->values, 0},
                              .kept = {6 * y->values, 0},
                              .read = {y->values, 0},
                              .moved = {8 * y->values, 0},
                              .chosen = 3 * y->values,
                              .kernels = 3};
}

struct attention linear_attention(const struct pricing *x)
{
    struct linear y = linear_of(x);
    struct attention a = y.rule == LINEAR_DELTA         ? delta_attention(x, &y)
                         : y.rule == LINEAR_SCAN        ? scan_attention(x, &y)
                         : y.rule == LINEAR_CONVOLUTION ? convolved_attention(x, &y)
                                                        : states_attention(x, &y);
    a.count = 1, a.narrowed = a.again_depth = y.values;
    return a;
}

// ---- work

// Delta: a chunk's keys by its keys and queries, their triangle's inverse, by keys and values; the
// state by keys and queries. Backward: all of it again but for the inverse, and each factor's
// gradient. States with decays: keys by queries, once for the heads that share them, by values; the
// state by keys and queries; backward the first and the states again, two gradients of each, and
// the decays' out of values by outputs' gradients once more.
void add_linear(const struct pricing *x, const struct slice *slice, struct layer_work *work)
{
    struct linear y = linear_of(x);
    real chunk = chunk_of(&y), k = y.key_width, v = y.value_width,
         each = slice->tokens * y.heads / x->t;
    if (y.rule == LINEAR_SCAN || y.rule == LINEAR_CONVOLUTION) return; // bound by memory
    if (y.rule == LINEAR_DELTA) {
        work->states = each * (2 * chunk * (3 * k + 2 * v) + 6 * k * v + chunk * chunk / 3);
        work->states_back = each * (2 * chunk * (8 * k + 5 * v) + 16 * k * v + 4 * chunk * chunk);
    } else {
        real shared = slice->tokens * y.keys / x->t * 2 * chunk;
        work->states = FLOP_OF_SCAN * (shared + each * (2 * chunk * v + 4 * k * v));
        work->states_back = FLOP_OF_SCAN * (3 * shared + each * (6 * chunk * v + 10 * k * v));
    }
    work->attention += work->states, work->attention_back += work->states_back;
}

// ---- context ranks

// A state of each value head, and what a rank's tokens do to it: a matrix by the delta rule, else
// decays, in fp32. A convolution passes on nothing that counts.
real linear_ring_bytes(const struct pricing *x)
{
    struct linear y = linear_of(x);
    real change = y.rule == LINEAR_DELTA  ? y.key_width
                  : y.rule == LINEAR_SCAN ? 1 // of each value of the state
                                          : 0;
    return 4 * x->b * y.wide_keys * (y.value_width + change) / x->t;
}

// Values of the states between chunks, by token. A scan keeps none: it computes them again.
real linear_states(const struct pricing *x)
{
    struct linear y = linear_of(x);
    return y.rule == LINEAR_SCAN ? 0 : y.wide_keys * y.value_width / chunk_of(&y);
}
