// Certificates where all stages on a node group have one of its widths: a proof of each combination
// of widths, each searched once more for what is below the bound.
#include "data/base/grow.h"
#include "data/base/least.h"
#include "solve/certificate/internal.h"

static struct priced with_widths(const struct priced *p, const bool *taken, struct arena *arena)
{
    struct priced one = *p;
    one.width_per_group = false;
    one.groups = TAKE_COPY(arena, p->groups, p->group_count);
    for (int g = 0; g < p->group_count; g++)
        if (!taken[g] && !one.groups[g].excluded) one.groups[g].excluded = "has another width";
    return one;
}

// One combination, for the bound of all: *to, a part of *all. false: nothing could be proven.
static enum status prove_one(struct proof *to, bool *proven, const struct proof *all,
                             const struct check_problem *whole, const bool *taken,
                             struct arena *arena, struct error *err)
{
    bool infeasible;
    struct solve_settings settings;
    struct solve_result *r = TAKE(arena, 1, struct solve_result);
    struct certificate_request *request = TAKE_COPY(arena, all->request, 1);
    struct priced *priced = TAKE(arena, 1, struct priced);
    struct plan *none = TAKE(arena, 1, struct plan);
    struct check_problem *problem = TAKE(arena, 1, struct check_problem);
    *priced = with_widths(all->request->priced, taken, arena);
    *problem = check_with_widths(whole, taken, arena);
    solve_defaults(&settings);
    TRY(certificate_search(r, &infeasible, settings, priced, all->bound_ns, arena, err));
    none->bound_ns = infeasible ? -1 : all->bound_ns;
    none->outcome = none->bound_ns < 0 ? OUTCOME_INFEASIBLE : OUTCOME_OPEN;
    request->priced = priced, request->problem = problem, request->plan = none;
    request->evidence = r->evidence;
    *to = (struct proof){.request = request,
                         .result = all->result,
                         .arena = arena,
                         .bound_ns = none->bound_ns,
                         .taken = TAKE_COPY(arena, taken, whole->group_count)};
    return proof_find(to, proven, arena, err);
}

enum status proof_find_by_group(struct proof *all, bool *proven, struct arena *arena,
                                struct error *err)
{
    const struct certificate_request *r = all->request;
    struct check_problem whole;
    bool taken[MOST_SEATS] = {false};
    int capacity = 0;
    struct error why = {OK, ""};
    if (r->problem) whole = *r->problem;
    else if (check_read_problem(&whole, &r->priced_text, arena, &why) != OK)
        return fail(err, SOLVER, "the checker refuses the priced document: %s", why.text);
    *proven = true;
    check_next_combination(&whole, taken); // the first one
    do {
        struct proof *one = GROWN(arena, all->combinations, all->combination_count, capacity, 16);
        TRY(prove_one(one, proven, all, &whole, taken, arena, err));
        if (*proven && one->bound_ns >= 0) all->bound_ns = smaller(all->bound_ns, one->bound_ns);
    } while (*proven && check_next_combination(&whole, taken));
    return OK;
}
