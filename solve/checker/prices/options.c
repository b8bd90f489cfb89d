// A stage's options and the budget, as the job states them, in the checker's tables.
#include "solve/checker/prices/prices.h"

struct compression_form check_form_of(const struct check_option *o)
{
    static const enum compression_method method_of[] = {[FORM_RANK] = COMPRESS_LOW_RANK,
                                                        [FORM_KEPT] = COMPRESS_TOP_K,
                                                        [FORM_BITS] = COMPRESS_QUANTISE};
    return (struct compression_form){method_of[o->form], o->amount};
}

// Option 0 is none; the others are those allowed.
static void offer_options(struct check_option **to, int *count,
                          const struct compression_option *options, int option_count, int rank_min,
                          struct arena *arena)
{
    static const enum check_form form_of[] = {[COMPRESS_LOW_RANK] = FORM_RANK,
                                              [COMPRESS_TOP_K] = FORM_KEPT,
                                              [COMPRESS_QUANTISE] = FORM_BITS};
    *to = TAKE(arena, option_count + 1, struct check_option);
    *count = 1;
    (*to)[0].remembers = true; // nothing is left out
    for (int i = 0; i < option_count; i++)
        if (options[i].form.method != COMPRESS_LOW_RANK || options[i].form.amount >= rank_min)
            (*to)[(*count)++] = (struct check_option){.form = form_of[options[i].form.method],
                                                      .amount = options[i].form.amount,
                                                      .epilogue_only = options[i].epilogue_only,
                                                      .cost = options[i].quality_cost,
                                                      .remembers = !options[i].forgets};
}

// Each compression of a stage's sync with everything on the GPU, then with every way to use tiers.
static void offer_tiers(struct check_problem *p, const struct job *j, struct arena *arena)
{
    int ways = job_tier_ways(j), compressions = p->gradient_count;
    struct check_option *all = TAKE(arena, compressions * ways, struct check_option);
    for (int i = 0; i < compressions * ways; i++) {
        struct compression_option way = job_option(j, (struct compression_option){0}, i % ways);
        all[i] = p->gradient[i / ways];
        all[i].tiers = way.tier_option, all[i].away = way.activations;
        all[i].across = way.across_passes;
        p->across = p->across || (way.across_passes && p->modes[MODE_SWAP]);
    }
    p->gradient = all, p->gradient_count = compressions * ways;
}

void check_read_options(struct check_problem *p, const struct job *j, struct arena *arena)
{
    offer_options(&p->boundary, &p->boundary_count, j->boundary_options, j->boundary_option_count,
                  j->budget.rank_min, arena);
    offer_options(&p->gradient, &p->gradient_count, j->gradient_options, j->gradient_option_count,
                  j->budget.rank_min, arena);
    offer_tiers(p, j, arena);
    p->budget[BUDGET_BOUNDARIES] = j->budget.boundaries_max;
    p->budget[BUDGET_STAGES] = j->budget.stages_max;
    p->budget[BUDGET_COST] = j->budget.cost_max;
    p->budget[BUDGET_ENERGY] = j->budget.energy_max_uj ? j->budget.energy_max_uj : -1;
    p->rank_min = j->budget.rank_min;
    p->objective = j->objective == OBJECTIVE_MAX_LOAD ? MINIMISE_LOAD
                   : j->objective == OBJECTIVE_ENERGY ? MINIMISE_ENERGY
                                                      : MINIMISE_TIME;
    // As the judge takes the limit: up to what its digits leave open.
    if (p->objective == MINIMISE_ENERGY)
        p->time_limit = (int64_t)(j->iteration_limit_s * (1 + 1e-12L) * 1e9L);
}
