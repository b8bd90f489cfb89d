// What Megatron-Bridge's recipes of mixtures on nodes of eight GPUs set, by release: scripts/
// performance/configs/*/*_workload_base_configs.py at v0.2.0 (container 25.11), v0.3.0 (26.02),
// v0.3.1 (26.02.01), v0.4.0 (26.04), v0.4.2 (26.04.01), v0.5.0 (26.06), v0.5.1 (26.06.01) and
// src/megatron/bridge/perf_recipes at v0.6.0 (26.08): of two variants the later one.
#include <ctype.h>
#include <string.h>

#include "data/frameworks/defaults.h"

bool names_model(struct cell name, const char *word)
{
    char plain[64];
    int length = 0;
    for (int i = 0; i < name.length && length < (int)sizeof plain - 1; i++)
        plain[length++] = isalnum((unsigned char)name.text[i]) || name.text[i] == '.' ? name.text[i]
                                                                                      : '-';
    return cell_contains((struct cell){plain, length}, word);
}

// Releases as YYYYMM and a digit, of 26.02.01 2026021.
enum {
    V0_2_0 = 2025110,
    V0_3_0 = 2026020,
    V0_3_1 = 2026021,
    V0_4_0 = 2026040,
    V0_4_2 = 2026041,
    V0_5_0 = 2026060,
    V0_5_1 = 2026061,
};
enum {
    NOTHING = RECOMPUTE_NONE,
    NORMS_ACT = REPEAT_NORMS_ACT,
    MLA = REPEAT_MLA,
    MLA_MLP = REPEAT_MLA + 1,
    EACH = DISPATCH_ALL_TO_ALL,
    DEEPEP = DISPATCH_DEEPEP,
    HYBRID = DISPATCH_HYBRIDEP,
};

// In the order of releases; the last that applies counts. Where nothing is recomputed, what fits in
// the layout that is run decides.
static const struct recipe {
    const char *gpu, *model;
    int from;
    bool eight; // where it computes in 8 bits or fewer
    int dispatcher, overlap, graphs, recompute;
} recipes[] = {
    {"h100", "235b-a22b", V0_2_0, false, EACH, 1, GRAPHS_NONE, NOTHING},
    {"b200", "235b-a22b", V0_2_0, false, EACH, 1, GRAPHS_NONE, NOTHING},
    {"b200", "235b-a22b", V0_3_0, false, EACH, 0, GRAPHS_NONE, NOTHING},
    {"b200", "235b-a22b", V0_5_1, true, HYBRID, 1, GRAPHS_STEP, NOTHING},
    {"b300", "235b-a22b", V0_3_0, false, EACH, 1, GRAPHS_NONE, NOTHING},
    {"b300", "235b-a22b", V0_3_1, false, EACH, 0, GRAPHS_NONE, NOTHING},
    {"b300", "235b-a22b", V0_4_2, false, HYBRID, 0, GRAPHS_NONE, NOTHING},
    {"b300", "235b-a22b", V0_5_1, true, HYBRID, 1, GRAPHS_STEP, NOTHING},
    {"h100", "30b-a3b", V0_2_0, false, EACH, 1, GRAPHS_NONE, NOTHING},
    {"h100", "30b-a3b", V0_3_0, false, DEEPEP, 1, GRAPHS_NONE, NOTHING},
    {"h100", "30b-a3b", V0_3_1, false, HYBRID, 0, GRAPHS_NONE, NOTHING},
    {"b200", "30b-a3b", V0_2_0, false, EACH, 0, GRAPHS_PARTS, NOTHING},
    {"b200", "30b-a3b", V0_3_1, false, HYBRID, 0, GRAPHS_PARTS, NOTHING},
    {"b200", "30b-a3b", V0_5_1, true, HYBRID, 1, GRAPHS_STEP, NOTHING},
    {"b300", "30b-a3b", V0_3_0, false, HYBRID, 0, GRAPHS_PARTS, NOTHING},
    {"b300", "30b-a3b", V0_5_0, true, HYBRID, 1, GRAPHS_STEP, NOTHING},
    {"h100", "deepseek", V0_2_0, false, DEEPEP, 1, GRAPHS_NONE, MLA_MLP},
    {"h100", "deepseek", V0_3_0, false, HYBRID, 0, GRAPHS_NONE, MLA_MLP},
    {"b200", "deepseek", V0_2_0, false, EACH, 0, GRAPHS_NONE, MLA},
    {"b200", "deepseek", V0_3_0, false, HYBRID, 0, GRAPHS_NONE, MLA},
    {"b200", "deepseek", V0_4_2, false, DEEPEP, 1, GRAPHS_PARTS, MLA_MLP},
    {"b300", "deepseek", V0_3_0, false, HYBRID, 0, GRAPHS_NONE, MLA},
    {"b300", "deepseek", V0_4_2, false, HYBRID, 0, GRAPHS_PARTS, MLA},
    {"b300", "deepseek", V0_5_1, true, HYBRID, 1, GRAPHS_STEP, MLA},
    {"h100", "gpt-oss", V0_2_0, false, EACH, 0, GRAPHS_NONE, NORMS_ACT},
    {"b200", "gpt-oss", V0_2_0, false, EACH, 0, GRAPHS_NONE, NORMS_ACT},
    {"b200", "gpt-oss", V0_4_0, false, HYBRID, 0, GRAPHS_NONE, NORMS_ACT},
    {"b200", "gpt-oss", V0_4_2, false, EACH, 0, GRAPHS_NONE, NORMS_ACT},
    {"b300", "gpt-oss", V0_3_0, false, EACH, 0, GRAPHS_PARTS, NOTHING},
    {"b300", "gpt-oss", V0_4_0, false, HYBRID, 0, GRAPHS_PARTS, NOTHING},
};

bool recipe_says(const struct run_facts *f, enum trait trait, bool eight, int *value)
{
    const struct run_origin *o = &f->origin;
    const struct recipe *last = NULL;
    if (o->program != PROGRAM_BRIDGE || !f->mixture || !f->spread) return false;
    for (size_t i = 0; i < ARRAY_LENGTH(recipes); i++) {
        const struct recipe *r = &recipes[i];
        if (strcmp(r->gpu, o->gpu) || (r->eight && !eight) || 10 * o->date + o->point < r->from ||
            !names_model(f->model, r->model))
            continue;
        last = r;
    }
    if (!last) return false;
    switch (trait) {
    case TRAIT_DISPATCHER: *value = last->dispatcher; return true;
    case TRAIT_OVERLAP_DISPATCH: *value = last->overlap; return true;
    case TRAIT_GRAPHS: *value = last->graphs; return true;
    case TRAIT_RECOMPUTE: *value = last->recompute; return last->recompute != NOTHING;
    default: return false;
    }
}
