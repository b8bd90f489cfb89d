// The results of earlier searches of the same problem, for --resume and --part, and of concurrent
// ones, for --share.
#ifndef PLUMBLINE_SOLVE_QUESTIONS_RESUME_H
#define PLUMBLINE_SOLVE_QUESTIONS_RESUME_H

#include "data/base/command.h"
#include "solve/questions/solved.h"

struct resume {
    struct layouts_task task;         // of a space
    const struct plan *plan;          // the best earlier one, with its bound; NULL: none
    const struct document **rests_on; // [rests_on_count]: plans, or layouts documents of a space
    int rests_on_count;
};

// Reads the plans that --resume names and, for a space, the layouts documents next to them.
// BAD_INPUT unless each was made from these very documents by this version, and the judge accepts
// it.
enum status resume_read(struct resume *resume, const struct option_texts *plans,
                        const struct problem *problem, struct arena *arena, struct error *err);

// known.c: solves the layout of plan `at`, or of the problem with one layout, in a share of the
// time, and lets the search of the problem's space start from its plan. BAD_INPUT: the layout is
// not of the space, unless there are several: then it is left out.
enum { KNOWN_SHARE = 5 };
enum status known_take(struct layouts_task *task, const struct option_texts *paths, int at,
                       const struct problem *problem, const struct solve_settings *settings,
                       const volatile int *stop, struct arena *arena, struct error *err);

// States in the results that their bound rests on these documents. plan_path: where the plan goes.
void resume_claim(struct solved *s, const struct resume *resume, const char *plan_path,
                  struct arena *arena);

// Plans of searches that share a folder: each writes its best as FOLDER/best-ID.json and reads the
// others', which it takes if the judge accepts them.
struct share {
    const char *folder, *own;
    const struct problem *problem;
    int64_t reported_ns;
    struct share_seen *seen;
    int seen_count, seen_capacity;
    struct arena *arena;
};
enum status share_open(struct share *s, const char *folder, const struct problem *problem,
                       struct arena *arena, struct error *err);
layouts_exchange share_exchange; // argument: struct share *

#endif
