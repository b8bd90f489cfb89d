// The truth of each layout of a space: its best plan's time, by enumeration with the oracle if that
// is small, else by an exact solve of that layout alone. At the planner's prices for the planner's
// claims; at those of the checker's own tables (the judge's) for what the checker accepts, so that
// no tolerance is needed where the two round differently.
#pragma once

#include "data/priced/priced.h"
#include "data/inputs/problem.h"
#include "solve/checker/space/space.h"

struct layout_truth {
    int64_t number;
    struct layout layout;
    struct check_layout own; // from the checker's walk of this space, and its own pricer
    const struct check_space *space;
    struct check_pricer pricer;
    bool refused, refused_by_checker; // before any plan is searched for
    struct priced priced;             // the planner's, where not refused
    struct check_problem *tables; // the checker's; NULL: refused. A doubtful price's lower value
    struct check_problem *dear_tables; // the higher value of a doubtful price
    int64_t value_ns; // planner's prices, by the job's objective (of max_load, of a whole batch);
                      // INT64_MAX: no plan
    int64_t time_ns;  // checker's prices, iteration time; INT64_MAX: no plan
    bool known;       // false: too large; the two are -1, and nothing is stated
    bool enumerated, alike; // alike: the prices are the same
};

struct space_truth {
    const struct problem *problem; // NULL: the layouts do not belong to a problem
    struct check_space space;
    struct layout_truth *layouts;
    int64_t count;
    int64_t value_ns, time_ns; // least of all
    int64_t unknown;           // layouts; if there are any the least of all is not known either
    int64_t plans_most;        // enumerated
    struct arena *arena;
};

// Requires problem->job.space.given. Fails the test if the two walks of the space differ.
void space_truth_find(struct space_truth *t, const struct problem *problem, int64_t plans_most,
                      struct arena *arena);

// The best iteration time or m x the least greatest load. INT64_MAX: no plan; -1: too large.
int64_t priced_optimum(const struct priced *p, int64_t plans_most, bool *enumerated,
                       struct arena *arena);
