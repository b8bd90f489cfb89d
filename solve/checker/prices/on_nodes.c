// One layout of a space on named nodes, with its links: audits what a certificate of the space says
// of its placements (docs/PROOFS.md 15.4).
#include "solve/checker/prices/open.h"
#include "solve/checker/prices/prices.h"

enum status space_audit_on_nodes(struct check_result *result, const struct check_space *s,
                                 const struct check_layout *l, const struct reader *r,
                                 const cJSON *places, uint64_t *work, struct arena *arena)
{
    struct problem *one = TAKE(arena, 1, struct problem);
    struct check_places *x = TAKE(arena, 1, struct check_places);
    const struct layout layout = space_layout_back(l, &s->of_nodes->job.layout);
    *one = problem_with_layout(s->of_nodes, &layout);
    space_switch(&one->job, s->of_nodes, l);
    TRY(space_places(x, one, arena, r->err));
    return check_audit_places(result, r, places, x, work, arena);
}
