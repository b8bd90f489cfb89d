// Why there is no plan: one family of limits after the other is dropped, and the problem solved
// again. The family whose removal makes it solvable is named.
#include <string.h>

#include "data/base/least.h"
#include "solve/layout/steps.h"

enum { FAMILY_S_MAX = 10 }; // seconds for each
enum family { FAMILY_SLOTS, FAMILY_BUDGET, FAMILY_RULES, FAMILY_MEMORY, FAMILY_COUNT };
static const char *const family_names[] = {"the number of devices of each group", "the budget",
                                           "the rules", "memory"};

// That a seat takes.
static int most_slots(const struct priced *p)
{
    int most = 1;
    for (int g = 0; g < p->group_count; g++) most = larger_int(most, priced_seat_slots(p, g));
    return most;
}

static void relax_family(struct priced *p, enum family family, struct arena *arena)
{
    if (family == FAMILY_BUDGET)
        p->budget = (struct quality_budget){-1, -1, -1, p->budget.rank_min};
    if (family == FAMILY_RULES) p->rule_count = 0;
    p->groups = TAKE_COPY(arena, p->groups, p->group_count);
    for (int g = 0; g < p->group_count; g++) {
        if (family == FAMILY_SLOTS) p->groups[g].slots = p->stage_count * most_slots(p);
        if (family == FAMILY_MEMORY) p->groups[g].memory_limit_bytes = (int64_t)1 << 60;
    }
}

static bool matters(const struct priced *p, enum family family)
{
    if (family == FAMILY_BUDGET)
        return p->budget.boundaries_max >= 0 || p->budget.stages_max >= 0 ||
               p->budget.cost_max >= 0 || p->budget.energy_max_uj;
    return family != FAMILY_RULES || p->rule_count > 0;
}

enum status solving_find_reason(struct solving *s, const char **why, struct error *err)
{
    struct solve_settings settings = *s->settings;
    char names[512] = "";
    settings.gap = 1;
    settings.progress = settings.alternatives = 0;
    settings.recheck = false;
    settings.program_path = NULL;
    settings.engine = ENGINE_TREE;
    for (int f = 0; f < FAMILY_COUNT; f++) {
        if (!matters(s->priced, (enum family)f)) continue;
        if (watch_is_over(&s->watch)) {
            *why = "no plan satisfies the limits";
            return OK;
        }
        double left_s = watch_left_s(&s->watch);
        settings.time_limit_s = left_s > 0 && left_s < FAMILY_S_MAX ? left_s : FAMILY_S_MAX;
        struct priced relaxed = *s->priced;
        struct solve_result result;
        relax_family(&relaxed, (enum family)f, s->arena);
        TRY(solve_without_reason(&result, &relaxed, &settings, s->watch.stop, s->arena, err));
        if (!result.plan.stage_count) continue;
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", or " : "", family_names[f]);
    }
    *why = names[0]
               ? arena_print(s->arena,
                             "no plan satisfies all limits together; one would exist but for %s",
                             names)
               : "no plan satisfies the limits; giving up devices, budget, rules or memory alone "
                 "does not help";
    return OK;
}
