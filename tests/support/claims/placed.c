// Compares claims about placements with all placements.
#include "tests/support/claims/placed.h"

#include "formulate/price/price.h"
#include "solve/places/placed.h"
#include "solve/places/space/space.h"
#include "tests/support/trials/place_trials.h"
#include "tests/support/check.h"

enum { SPACE_PLACEMENTS = 20000 };

static int64_t bound_of(const struct plan *plan)
{
    return plan->outcome == OUTCOME_INFEASIBLE ? INT64_MAX : plan->bound_ns;
}

static void solve_it(struct claims *c, const struct place_trial *t)
{
    struct solve_settings settings;
    struct solve_result r;
    volatile int stop = 1;
    const struct placed_effort little = {.evaluations = 30, .tree = 10, .share_of_gap = 0.5};
    place_trial_solve(&r, t, &t->priced, 0);
    claims_note(c, CLAIM_PLACED, -1, -1, bound_of(&r.plan), t->best_ns);
    solve_defaults(&settings);
    settings.progress = 0, settings.gap = 0.1, settings.boxes_max = 2;
    MUST(placed_solve_with(&r, &t->priced, &settings, NULL, &little, NULL, t->arena, &own_err));
    claims_note(c, CLAIM_PLACED_ROUGH, -1, -1, bound_of(&r.plan), t->best_ns);
    MUST(placed_solve(&r, &t->priced, &settings, NULL, &stop, t->arena, &own_err));
    claims_note(c, CLAIM_PLACED_ROUGH, -1, -1, bound_of(&r.plan), t->best_ns);
}

static void bound_groups(struct claims *c, const struct place_trial *t)
{
    struct priced relaxed;
    int64_t bound_ns, time_ns;
    placed_relax(&relaxed, &t->priced, t->arena);
    relaxed.places = NULL;
    MUST(solve_bound(&bound_ns, &time_ns, &relaxed, NULL, NULL, t->arena, &own_err));
    claims_note(c, CLAIM_PLACED_GROUPS, -1, -1, bound_ns, t->best_ns);
}

// Audits the highest proof of all methods of the writer.
static void audit_highest(struct claims *c, const struct place_trial *t)
{
    struct certificate_places_result made;
    struct check_result audited;
    const char *why;
    int64_t high = t->best_ns < INT64_MAX / 16 ? 4 * t->best_ns + 4 : (int64_t)1 << 45;
    const struct solve_result believed = {.plan = {.outcome = OUTCOME_OPEN, .bound_ns = high}};
    place_trial_write(&made, t, &believed);
    if (!made.text || place_trial_audit(&audited, t, made.text, made.size, &why) != OK ||
        !audited.accepted)
        return;
    claims_note(c, CLAIM_PLACED_PROOF, -1, -1, audited.infeasible ? INT64_MAX : audited.bound_ns,
                t->best_ns);
}

// ---- a space of numbers of stages

struct asking {
    struct claims *claims;
    const struct problem *problem;
    const struct layouts *found;
    int64_t best_ns;
    bool known;
    struct arena *arena;
};

static bool audit_layout(void *argument, int64_t number, const struct layout *layout)
{
    struct asking *a = argument;
    struct error err = {OK, ""};
    struct problem one = problem_with_layout(a->problem, layout);
    struct priced priced;
    enum layout_fate fate = layouts_fate(a->found, number);
    bool none = fate == FATE_REFUSED || fate == FATE_MEMORY || fate == FATE_INFEASIBLE;
    if (problem_check_layout(&one, &err) != OK || problem_check_places(&one, &err) != OK ||
        price_problem(&priced, &one, a->arena, &err) != OK)
        return true;
    int64_t best_ns = best_placement(&one, &priced, SPACE_PLACEMENTS, a->arena);
    if (best_ns < 0) return a->known = false, true;
    claims_note(a->claims, CLAIM_PLACED_SPACE, number, -1,
                none ? INT64_MAX : a->found->value[number], best_ns);
    if (best_ns < a->best_ns) a->best_ns = best_ns;
    return true;
}

static void search_space(struct claims *c, const struct place_trial *t, bool rough)
{
    static int pipelines[] = {1, 2, 3};
    struct error err = {OK, ""};
    struct problem p = t->problem;
    struct layouts_result r;
    struct solve_settings settings;
    p.job.rule_count = 0;
    p.job.global_batch *= 6;
    p.job.space = (struct space){.given = true,
                                 .fewer_devices = true,
                                 .axes[SPACE_PIPELINE] = {AXIS_LIST, pipelines, 3},
                                 .axes[SPACE_DATA] = {.kind = AXIS_ALL}};
    if (p.job.placement.uneven_micro_batches || problem_check(&p, &err) != OK ||
        problem_check_places(&p, &err) != OK)
        return;
    solve_defaults(&settings);
    settings.progress = 0, settings.threads = 1, settings.gap = rough ? 0.1 : 0;
    CHECK_OK(placed_space_search(&r, &p, &settings, NULL, NULL, t->arena, &err));
    struct asking a = {c, &p, &r.layouts, INT64_MAX, true, t->arena};
    struct space_limits limits = problem_space_limits(&p);
    space_each(&p.job.space, &limits, audit_layout, &a);
    if (a.known) claims_note(c, CLAIM_PLACED_SPACE, -1, -1, bound_of(&r.solved.plan), a.best_ns);
}

void claims_placed(struct claims *c, uint64_t seed, struct arena *arena)
{
    struct place_trial t;
    int asked = (seed % 4 == 3 ? PLACED_UNEVEN : 0) | (seed % 5 == 1 ? PLACED_FUSED : 0);
    if (!place_trial_open(&t, seed, asked, arena)) return;
    if (t.best_ns >= 0) {
        solve_it(c, &t);
        bound_groups(c, &t);
        audit_highest(c, &t);
    }
    if (seed % 3 == 0) search_space(c, &t, seed % 2);
}
