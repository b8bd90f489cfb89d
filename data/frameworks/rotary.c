// How rotary positions are scaled, in Megatron-LM of 2026 (megatron/training/ arguments.py;
// core/models/common/embeddings/). For Llama 3's scaling and for latent attention's YaRN, all
// numbers except the factor are fixed there.
#include <string.h>

#include "data/frameworks/models.h"

enum { LLAMA3_POSITIONS = 8192, YARN_POSITIONS = 4096, BETA_FAST = 32 };

static bool is(double found, double otherwise, double wanted)
{
    double value = found > 0 ? found : otherwise;
    return value >= wanted && value <= wanted;
}

static bool is_type(const struct rotary_scaling *x, const char *name)
{
    return x->type && !strcmp(x->type, name);
}

static const char *fixed_numbers(const struct shape *s, bool keys, struct arena *arena)
{
    const struct rotary_scaling *x = &s->rotary_scaling;
    if (is_type(x, "llama3") &&
        !(is(x->low_freq_factor, 1, 1) && is(x->high_freq_factor, 4, 4) &&
          is((double)x->original_positions, LLAMA3_POSITIONS, LLAMA3_POSITIONS)))
        return arena_print(arena,
                           "rotary positions scaled as in Llama 3 with factors %.9g and %.9g from "
                           "%lld positions: Megatron's are 1, 4 and 8192",
                           x->low_freq_factor, x->high_freq_factor,
                           (long long)x->original_positions);
    if (is_type(x, "yarn") && s->kv_rank && !keys &&
        !(is(x->beta_fast, BETA_FAST, BETA_FAST) && is(x->beta_slow, 1, 1) &&
          is((double)x->original_positions, YARN_POSITIONS, YARN_POSITIONS)))
        return arena_print(arena,
                           "rotary positions scaled by YaRN with beta %.9g and %.9g from %lld "
                           "positions: for latent attention Megatron's are 32, 1 and 4096",
                           x->beta_fast, x->beta_slow, (long long)x->original_positions);
    return NULL;
}

const char *core_rotary_of(const struct shape *s, bool fractions, struct core_rotary *r,
                           struct arena *arena)
{
    const struct rotary_scaling *x = &s->rotary_scaling;
    *r = (struct core_rotary){ROTARY_PLAIN, s->rotary_factor};
    if (s->positions || (!x->type && !(s->rotary_factor > 0))) return NULL;
    const char *fixed = fixed_numbers(s, fractions, arena);
    if (fixed) return fixed;
    if (!(s->rotary_factor > 0))
        return arena_print(arena, "scaled rotary positions (%.60s)", x->type);
    if (is_type(x, "llama3")) r->way = ROTARY_LLAMA3;
    else if (is_type(x, "yarn")) r->way = ROTARY_YARN;
    else if (is_type(x, "linear") && (fractions || fmod(s->rotary_factor, 1) == 0))
        r->way = ROTARY_LINEAR;
    else
        return arena_print(arena, "rotary positions scaled by %.9g (%.60s)", s->rotary_factor,
                           is_type(x, "linear") ? "linear: Megatron's factors are whole numbers"
                           : x->type            ? x->type
                                                : "the method is not stated");
    return NULL;
}
