// Ways of solving one layout: see ways.h.
#include "tests/support/trials/ways.h"

#include "data/kinds/schedules.h"
#include "tests/support/textbook/textbook.h"

#include "tests/support/check.h" // last: its macro `fail` hides data/base/status.h's

static const char *const names[WAY_COUNT] = {"default", "boxes", "tree alone", "GLPK", "textbook"};

const char *way_name(const struct priced *p, enum way way, uint64_t seed, struct arena *arena)
{
    return arena_print(arena, "%s, seed %llu, %s", schedule_names[p->layout.schedule],
                       (unsigned long long)seed, names[way]);
}

struct solve_result way_solve(const struct priced *p, enum way way, uint64_t seed, int threads,
                              struct arena *arena)
{
    static const volatile int never = 0;
    struct error err = {OK, ""};
    struct solve_result result = {0};
    struct solve_settings settings;
    solve_defaults(&settings);
    settings.progress = 0;
    settings.seed = (int64_t)(seed % 7);
    settings.threads = threads;
    settings.recheck = settings.evidence = true;
    settings.start_search = way == WAY_DEFAULT;
    settings.eliminate = way == WAY_DEFAULT || way == WAY_BOXES;
    if (way == WAY_GLPK) settings.engine = ENGINE_GLPK;
    if ((way == WAY_TEXTBOOK ? textbook_solve(&result.plan, p, 0, arena, &err)
                             : solve_run(&result, p, &settings, NULL, &never, arena, &err)) != OK)
        fail_msg("%s: %s", way_name(p, way, seed, arena), err.text);
    return result;
}

void way_expect(const struct solve_result *r, const struct priced *p, const struct oracle *e,
                enum way way, uint64_t seed)
{
    const struct plan *plan = &r->plan;
    int64_t value = plan_value_ns(plan);
    bool proven = plan->outcome == OUTCOME_OPTIMAL && plan->bound_ns == e->best_ns,
         below = way == WAY_TEXTBOOK && plan->bound_ns <= e->best_ns,
         equal = e->plans ? value == e->best_ns && (proven || below)
                          : plan->outcome == OUTCOME_INFEASIBLE;
    struct arena scratch = {0};
    if (!equal)
        fail_msg("%s: %s, %lld ns, bound %lld ns; enumeration: %lld ns of %lld plans",
                 way_name(p, way, seed, &scratch), outcome_names[plan->outcome], (long long)value,
                 (long long)plan->bound_ns, (long long)e->best_ns, (long long)e->plans);
    arena_close(&scratch);
}
