// One judged plan: a random problem, a plan for it from the solver's choices with the time of the
// solver's own walk, and the verdict.
#pragma once

#include "data/results/verdict.h"
#include "formulate/choices/choices.h"
#include "tests/support/problems.h"

struct trial {
    struct arena arena;
    struct error err;
    struct random rng;
    struct problem problem;
    struct priced priced;
    struct schedule schedule;
    struct choices choices;
    int *chosen;
    int visits;
    struct plan plan;
};

// The layout as it came, or another: a schedule, barrier and local losses by chance. One that does
// not fit leaves it.
void vary_layout(struct problem *p, struct random *rng);

// A random problem, with its layout varied on request, and a plan for it; false: none was found.
bool trial_open(struct trial *t, uint64_t seed, const struct random_limits *limits, bool varied);
void trial_close(struct trial *t);

struct verdict trial_judge(struct trial *t);
void trial_expect_accepted(struct trial *t, uint64_t seed);

static inline int trial_last(const struct trial *t) { return t->plan.stage_count - 1; }
static inline int trial_stage(struct trial *t)
{
    return (int)random_between(&t->rng, 0, trial_last(t));
}

// A way of damaging a plan, or what it is judged by; plant returns false where it cannot.
struct damage {
    const char *name;
    bool (*plant)(struct trial *t);
    const char *rule; // NULL: not a damage, the plan stays right
    bool alone;       // no other rule is broken by it
};

// Plants each at most 20 times, at least 5, and fails unless the judge finds it under its rule.
void trial_plant(const struct damage *damages, size_t count, bool varied);
