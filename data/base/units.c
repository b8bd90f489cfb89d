// Names of units that several documents share, and rounding.
#include "data/base/units.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

const char *const precision_names[] = {"fp32",      "fp16",  "bf16",  "fp8",
                                       "fp8_block", "mxfp8", "nvfp4", NULL};

const char *const pool_span_names[] = {"none", "stage", "pipeline", NULL};

double precision_narrow_bytes(enum precision p)
{
    switch (p) {
    case FP8_BLOCK: return 1 + 4. / 128; // in fp32
    case MXFP8: return 1 + 1. / 32;
    case NVFP4: return 0.5 + 1. / 16;
    default: return 1;
    }
}

enum precision precision_of_recipe(const char *fp8_recipe)
{
    if (fp8_recipe && !strcmp(fp8_recipe, "mxfp8")) return MXFP8;
    return fp8_recipe && !strcmp(fp8_recipe, "blockwise") ? FP8_BLOCK : FP8;
}

// The sets in the order of recompute_repeats: each macro adds a module to a set, or does not.
#define SET(s) &(s)[1],
#define WITH_MLP(s) SET(s) SET(s "+mlp")
#define WITH_NORM(s) WITH_MLP(s) WITH_MLP(s "+layernorm")
#define WITH_EXPERTS(s) WITH_NORM(s) WITH_NORM(s "+moe_act") WITH_NORM(s "+moe")
#define WITH_MLA(s) WITH_EXPERTS(s) WITH_EXPERTS(s "+mla_up_proj")
#define MODES                                                                                      \
    "none", "selective", "full", "first_layers", "swap",                                           \
        SET("+mlp") WITH_MLP("+layernorm") WITH_NORM("+moe_act") WITH_NORM("+moe")                 \
            WITH_EXPERTS("+mla_up_proj") WITH_MLA("+core_attn") NULL
const char *const recompute_names[] = {MODES};
const char *const recompute_setting_names[] = {"each", MODES};
const char *const recompute_module_names[] = {"mlp",         "layernorm", "moe_act", "moe",
                                              "mla_up_proj", "core_attn", NULL};
const char *const transfer_part_names[] = {"blocking", "link", "delay", "overhead", NULL};

bool recompute_repeats(enum recompute mode, enum recompute_module module)
{
    int set = (int)mode - RECOMPUTE_SETS + 1;
    if (set <= 0) return false;
    switch (module) {
    case MODULE_MLP: return set % 2;
    case MODULE_LAYERNORM: return set / 2 % 2;
    case MODULE_MOE_ACT: return set / 4 % 3 == 1;
    case MODULE_MOE: return set / 4 % 3 == 2;
    case MODULE_MLA_UP_PROJ: return set / 12 % 2;
    default: return set / 24;
    }
}

long double same_within(long double x)
{
    long double within = x * 0x1p-44L;
    return within < 0x1p-6L ? within : 0x1p-6L;
}

int64_t round_half_up(long double x)
{
    assert(x >= 0 && x < 9007199254740992.0L);
    return (int64_t)(x + same_within(x) + 0.5L);
}
