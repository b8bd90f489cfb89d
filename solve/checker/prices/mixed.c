// Layers of a stage in other layouts than the document's: all runs as sharded further, and those
// with the vocabulary at each other degree that has prices.
#include "solve/checker/prices/prices.h"
#include "solve/judge/price/verify_price.h"

static const struct price_audit *audit_of(const struct problem *problem,
                                          const struct price_audit *own, struct arena *arena)
{
    struct price_audit *to = TAKE(arena, 1, struct price_audit);
    struct problem *kept = TAKE(arena, 1, struct problem);
    *kept = *problem;
    *to = price_audit_over(kept, own);
    return to;
}

int space_other_runs(struct other_run **runs, const struct problem *p,
                     const struct price_audit *own, struct arena *arena)
{
    int degrees[VOCABULARY_DEGREES_MAX], count = 0,
                                         degree_count = problem_vocabulary_degrees(p, degrees);
    struct other_run *to = TAKE(arena, (1 + degree_count) * p->model.run_count, struct other_run);
    struct problem other = *p;
    *runs = to;
    other.job.layout.zero = p->job.sharded_zero;
    if (p->job.sharded_zero) {
        const struct price_audit *audit = audit_of(&other, own, arena);
        for (int run = 0; run < p->model.run_count; run++)
            to[count++] = (struct other_run){audit, run, 0};
    }
    for (int k = 0; k < degree_count; k++) {
        other = problem_at_vocabulary(p, degrees[k]);
        const struct price_audit *audit = audit_of(&other, own, arena);
        bool offered = can_spread_vocabulary(own, audit);
        for (int run = 0; run < p->model.run_count && offered; run++)
            if (run_has_vocabulary(&p->model.runs[run]))
                to[count++] = (struct other_run){audit, run, degrees[k]};
    }
    return count;
}
