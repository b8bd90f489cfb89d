// The job's rules in the checker's tables.
#include <string.h>

#include "solve/checker/prices/prices.h"

static uint64_t bits_of_modes(const bool modes[RECOMPUTE_COUNT])
{
    uint64_t bits = 0;
    _Static_assert((int)RECOMPUTE_COUNT == (int)MODES && (int)RECOMPUTE_SWAP == (int)MODE_SWAP,
                   "the modes of the inputs are numbered as the checker's");
    for (int mode = 0; mode < MODES; mode++) bits |= (uint64_t)modes[mode] << mode;
    return bits;
}

static void read_rule(const struct check_problem *p, struct check_rule *to, const struct rule *r,
                      const char *const *node_groups, const struct problem *problem)
{
    *to = (struct check_rule){.forbids = r->action == RULE_FORBID,
                              .stage = r->stage,
                              .holds_first = r->holds_first,
                              .holds_last = r->holds_last,
                              .run = -1,
                              .layers_min = r->layers_min,
                              .layers_max = r->layers_max,
                              .modes_stated = r->recompute_stated,
                              .compresses_gradient = r->compresses_gradient,
                              .compresses_boundary = r->compresses_boundary};
    if (r->recompute_stated) to->modes = bits_of_modes(r->recompute);
    for (int i = 0; i < r->group_count; i++)
        for (int g = 0; g < p->group_count; g++)
            if (!strcmp(node_groups[g], r->groups[i])) to->groups |= (uint64_t)1 << g;
    for (int i = 0; r->run && i < problem->model.run_count; i++)
        if (!strcmp(problem->model.runs[i].name, r->run)) to->run = i;
}

// The stage with the head also has all layers that predict further tokens, which precede it.
static void keep_together(struct check_problem *p, const struct model *m)
{
    int further = 0;
    for (int i = 0; i < m->run_count; i++) further += m->runs[i].mtp ? m->runs[i].count : 0;
    if (!further) return;
    p->rules[p->rule_count++] = (struct check_rule){.forbids = true,
                                                    .stage = -1,
                                                    .holds_first = m->layer_count - 1,
                                                    .holds_last = m->layer_count - 1,
                                                    .run = -1,
                                                    .layers_min = -1,
                                                    .layers_max = further,
                                                    .compresses_gradient = -1,
                                                    .compresses_boundary = -1};
}

void check_read_job_rules(struct check_problem *p, const char *const *node_groups,
                          const struct problem *problem, struct arena *arena)
{
    p->rule_count = problem->job.rule_count;
    p->rules = TAKE(arena, p->rule_count + 1, struct check_rule);
    for (int i = 0; i < p->rule_count; i++)
        read_rule(p, &p->rules[i], &problem->job.rules[i], node_groups, problem);
    keep_together(p, &problem->model);
}
