// Questions: a changed problem is searched, with limits, for what the change makes of it. Each
// family states its change, what is of interest and what it does with the answer; asking is the
// same for all.
#ifndef PLUMBLINE_SOLVE_QUESTIONS_QUESTION_H
#define PLUMBLINE_SOLVE_QUESTIONS_QUESTION_H

#include "solve/questions/solved.h"

// Is there a plan of this problem, below the cut-off?
struct question {
    const struct problem *problem;     // as changed
    const struct solve_settings *like; // seed, threads, memory as in this search
    const struct watch *watch;         // ends it
    double gap;
    int64_t cutoff_ns, boxes_max;                                        // 0: none
    bool quiet;                                                          // no progress
    void (*tell)(void *argument, const struct solve_progress *progress); // NULL: as that search
    void *tell_argument;
};
enum answer {
    ANSWER_NONE, // proven
    ANSWER_PLAN,
    ANSWER_OPEN // also where the watch was over before it began
};
// *to: the search, where there was one (to->result is NULL otherwise). Its plan is not judged.
enum status question_ask(enum answer *answer, struct solved *to, const struct question *question,
                         struct arena *arena, struct error *err);

// ---- quality.c

// The quality cost of a plan's compression: the sum of its options' costs, then how many of its
// options are not none.
struct quality {
    int64_t cost;
    int taken;
};
// Replaces the plan by one of this layout that takes no longer and has the least quality cost, as
// far as a search of a few thousand boxes within settings->time_limit_s finds; its effort is added
// to the plan's. Does nothing on places, nor for another objective.
enum status solve_least_quality(struct plan *plan, const struct problem *problem,
                                const struct solve_settings *settings, const volatile int *stop,
                                struct arena *arena, struct error *err);

// The Pareto front of time and quality: the first point is the plan found; each next one is the
// fastest found that costs less quality than the one before, with the bound on all that do. Fewer
// than `most` points if a limit ends the search.
struct front_point {
    struct plan plan;   // its bound is the first one's, which holds for all plans
    struct problem one; // with its layout
    int64_t bound_ns;   // of all plans of at most this quality cost
    struct quality quality;
};
enum status solve_front(struct front_point *points, int *count, const struct solved *first,
                        const struct solve_settings *settings, int most, const volatile int *stop,
                        struct arena *arena, struct error *err);
const char *solve_front_text(const struct front_point *points, int count, size_t *length,
                             struct arena *arena);

// ---- remedies.c: for a space without a plan, adds to the plan's reason: how many nodes, how much
// memory, or which batch would be enough, each by itself, as far as can be found within seconds of
// the time that s->watch leaves.
// Nothing for a cluster with places.
void solve_advise(const struct solved *s, const struct solve_settings *settings,
                  struct arena *arena);

#endif
