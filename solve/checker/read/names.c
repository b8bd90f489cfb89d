// Names in documents.
#include "solve/checker/read/problem.h"

#include <string.h>

// After swap, every set of recompute modules: without the one named by the macro, then with it.
#define NAME(s) &(s)[1],
#define DENSE(s) NAME(s) NAME(s "+mlp")
#define NORMED(s) DENSE(s) DENSE(s "+layernorm")
#define MIXED(s) NORMED(s) NORMED(s "+moe_act") NORMED(s "+moe")
#define LATENT(s) MIXED(s) MIXED(s "+mla_up_proj")
#define ALL_MODES                                                                                  \
    "none", "selective", "full", "first_layers", "swap",                                           \
        NAME("+mlp") DENSE("+layernorm") NORMED("+moe_act") NORMED("+moe") MIXED("+mla_up_proj")   \
            LATENT("+core_attn") NULL
const char *const check_mode_names[MODES + 1] = {ALL_MODES};
const char *const check_setting_names[MODES + 2] = {"each", ALL_MODES};

bool check_repeats_experts(int mode)
{
    const char *name = check_mode_names[mode], *at = mode >= MODE_SETS ? strstr(name, "moe") : NULL;
    if (at && at[3] == '_') at = strstr(at + 1, "moe"); // moe_act alone sends nothing again
    return mode == MODE_FULL || mode == MODE_FIRST_LAYERS || at;
}

const char *const check_objective_names[] = {"iteration_time", "pipette", "max_load",
                                             "cost",           "energy",  NULL};

const char *const *check_group_names(const struct check_problem *p, const char **names)
{
    for (int g = 0; g < p->group_count; g++) names[g] = p->groups[g].name;
    names[p->group_count] = NULL;
    return names;
}
