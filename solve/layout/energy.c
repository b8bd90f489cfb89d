// The least energy among the plans that take at most the limit, by halving: is there a plan within
// the limit that needs at most so much? Each question is a search for the least time under a budget
// of energy, which ends with a plan or with a proof that none is fast enough (docs/PROOFS.md 2,
// Energy).

#include "data/base/least.h"
#include "formulate/graph/objective.h"
#include "solve/layout/steps.h"

struct priced energy_below(const struct priced *p, int64_t bound_uj)
{
    struct priced below = *p;
    int64_t *most = &below.budget.energy_max_uj;
    if (bound_uj > 1 && (!*most || bound_uj - 1 < *most)) *most = bound_uj - 1;
    below.objective = OBJECTIVE_ITERATION_TIME, below.iteration_limit_ns = 0;
    return below;
}

struct halving {
    const struct priced *priced;
    const struct solve_settings *asked;
    struct solve_settings settings; // of its searches
    struct watch watch;
    struct plan_effort effort;
};

static void tell(const struct halving *h, int64_t least_uj, int64_t most_uj)
{
    char text[96];
    double seconds = watch_elapsed_s(&h->watch);
    snprintf(text, sizeof text, "%8.1f s  plan %.6f J  bound %.6f J", seconds,
             (double)most_uj / 1e6, (double)least_uj / 1e6);
    solve_tell(h->asked, &(struct solve_progress){seconds, most_uj, least_uj, text});
}

// What has less energy than the bound; gap: a search with a plan may end so early.
static enum status search(struct solve_result *r, struct halving *h, int64_t bound_uj, double gap,
                          const struct plan *start, struct arena *arena, struct error *err)
{
    struct priced *below = TAKE(arena, 1, struct priced);
    *below = energy_below(h->priced, bound_uj);
    h->settings.gap = gap;
    h->settings.time_limit_s = watch_left_s(&h->watch);
    TRY(solve_run(r, below, &h->settings, start, h->watch.stop, arena, err));
    plan_effort_add(&h->effort, &r->plan.effort);
    return OK;
}

enum answer { NONE, PLAN, UNKNOWN };

static enum answer answer_of(const struct solve_result *r, int64_t cutoff_ns)
{
    if (r->plan.stage_count && r->plan.iteration_ns < cutoff_ns) return PLAN;
    return r->cut_off || r->plan.outcome == OUTCOME_INFEASIBLE ? NONE : UNKNOWN;
}

// A plan that is not fast enough may have ended the search before a faster one was found.
static enum status ask(enum answer *answer, struct solve_result *r, struct halving *h,
                       int64_t bound_uj, const struct plan *start, struct arena *arena,
                       struct error *err)
{
    static const double early = 0.5;
    int64_t cutoff_ns = h->settings.cutoff_ns;
    *answer = UNKNOWN;
    for (int i = 0; i < 2 && *answer == UNKNOWN && (!i || !watch_is_over(&h->watch)); i++) {
        TRY(search(r, h, bound_uj, i ? 0 : early, start, arena, err));
        *answer = answer_of(r, cutoff_ns);
    }
    return OK;
}

// Halves what is open between the bound and the plan. *least_uj: no plan needs less.
static enum status halve(struct solve_result *best, int64_t *least_uj, int64_t *most_uj,
                         struct halving *h, double gap, const struct schedule *schedule,
                         struct arena *arena, struct error *err)
{
    while (*most_uj > 1 && *least_uj < bound_closing(*most_uj, gap, 0)) {
        int64_t at = larger(1, *least_uj + (*most_uj - 1 - *least_uj) / 2);
        struct arena_mark mark = arena_set_mark(arena);
        struct solve_result found;
        enum answer answer;
        tell(h, *least_uj, *most_uj);
        TRY(ask(&answer, &found, h, at + 1, NULL, arena, err));
        if (answer == UNKNOWN) return OK;
        if (answer == NONE) {
            *least_uj = at + 1;
            arena_reset(arena, mark);
            continue;
        }
        *best = found;
        *most_uj = objective_energy_uj(&best->plan, h->priced, schedule, arena);
    }
    return OK;
}

// The search that proved the bound, once more with what a certificate is made of.
static enum status find_evidence(struct solve_result *r, struct halving *h, int64_t bound_uj,
                                 struct arena *arena, struct error *err)
{
    struct solve_result proof;
    h->settings.evidence = true;
    TRY(search(&proof, h, bound_uj, 0, NULL, arena, err));
    r->evidence = proof.evidence;
    return OK;
}

static void state(struct solve_result *r, const struct halving *h, enum answer first,
                  int64_t least_uj, int64_t most_uj)
{
    struct plan *p = &r->plan;
    if (first != PLAN) p->stage_count = 0, p->iteration_ns = 0;
    if (first == NONE && r->cut_off) p->reason = "every plan takes longer than iteration_limit_s";
    p->objective = OBJECTIVE_ENERGY;
    p->objective_ns = most_uj, p->bound_ns = least_uj;
    p->effort = h->effort;
    p->effort.seconds = watch_elapsed_s(&h->watch);
    r->alternative_count = p->stage_count > 0, r->alternatives = p;
    r->finished = first == NONE ||
                  (first == PLAN && least_uj >= bound_closing(most_uj, h->asked->gap, 0));
    r->cut_off = r->limited = false;
    plan_end(p, h->asked->gap, first == NONE);
}

enum status solve_least_energy(struct solve_result *r, const struct priced *priced,
                               const struct solve_settings *settings, const struct plan *start,
                               const volatile int *stop, struct arena *arena, struct error *err)
{
    struct halving h = {.priced = priced,
                        .asked = settings,
                        .settings = *settings,
                        .watch = watch_begin(stop, settings->time_limit_s)};
    struct schedule schedule;
    int64_t least_uj = 0, most_uj = 0;
    enum answer answer;
    h.settings.cutoff_ns = priced->iteration_limit_ns + 1;
    h.settings.evidence = false, h.settings.known_bound_ns = 0, h.settings.progress = 0;
    TRY(schedule_build_priced(&schedule, priced, arena, err));
    TRY(ask(&answer, r, &h, 0, start, arena, err));
    if (answer == PLAN) {
        most_uj = objective_energy_uj(&r->plan, priced, &schedule, arena);
        TRY(halve(r, &least_uj, &most_uj, &h, settings->gap, &schedule, arena, err));
    }
    if (settings->evidence && (least_uj > 0 || answer == NONE))
        TRY(find_evidence(r, &h, least_uj, arena, err));
    state(r, &h, answer, least_uj, most_uj);
    if (!r->plan.stage_count) return OK;
    solve_keep_plan(settings, priced, &r->plan, most_uj);
    solve_keep_bound(settings, priced, least_uj);
    return OK;
}
