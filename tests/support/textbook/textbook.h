// The textbook formulation of plumbline's problem, an oracle for its own: binary layer-to-stage
// assignment, big-M for the groups. Also the baseline of the benchmark.
#pragma once

#include "formulate/program/formulate.h"

// Meaning of a COLUMN_OTHER: a = one of these, b = stage, c = the index below.
enum textbook_column {
    TEXTBOOK_HOLDS,     // layer c in stage b
    TEXTBOOK_FULL,      // layer c in stage b, recomputed in full
    TEXTBOOK_SELECTIVE, // layer c in stage b, recomputed selectively
    TEXTBOOK_GROUP,     // stage b on group c
    TEXTBOOK_MODE,      // recompute mode c in stage b
    TEXTBOOK_GRADIENT,  // gradient option c
    TEXTBOOK_BOUNDARY,  // boundary option c
    TEXTBOOK_CUT,       // message class c after stage b
    TEXTBOOK_BYTES,     // of stage b: 0 working (of the whole rank, at its first stage), 1 gradient
                        // feedback, 2 boundary feedback
    TEXTBOOK_OUTSIDE,   // a forbidding rule's count is below (c even) or above (c odd) its range
};

enum { TEXTBOOK_COLUMNS = TEXTBOOK_OUTSIDE };

struct textbook {
    struct formulation *f;
    struct milp *m;
    const struct choices *c;
    const struct priced *p;
    struct arena *arena;
    const bool *used;               // [symbol]
    int *columns[TEXTBOOK_COLUMNS]; // [stage * width + c], -1: none
    int width[TEXTBOOK_COLUMNS];
};

static inline int textbook_column(const struct textbook *t, enum textbook_column kind, int stage,
                                  int which)
{
    return t->columns[kind][stage * t->width[kind] + which];
}

// A term of the current row; nothing if the column does not exist (it is 0).
void textbook_put(struct textbook *t, enum textbook_column kind, int stage, int which,
                  int64_t value);
int textbook_add_column(struct textbook *t, enum textbook_column kind, int stage, int which,
                        int64_t upper, bool integer);
const struct priced_run *textbook_run(const struct textbook *t, int layer);

void textbook_add_structure(struct textbook *t);
void textbook_add_rules(struct textbook *t);
void textbook_add_memory(struct textbook *t);
void textbook_add_times(struct textbook *t);
// Whether a message crosses the boundary: its two stages are on different ranks.
bool textbook_crosses_ranks(const struct textbook *t, int boundary);

// The same problem as formulate_choices'. It shares only the time and symbol columns with it.
// It has no rows for swaps, whose times are no sums over layers, nor for further modes of layers.
bool textbook_covers(const struct priced *p);
enum status formulate_textbook(struct formulation *f, const struct choices *c,
                               int64_t time_upper_ns, struct arena *arena, struct error *err);
bool textbook_decode(const struct formulation *f, const double *values, int *chosen);

// The best plan by glp_intopt, with path rows from replays in its callback. Its bounds are floating
// point and prove nothing: bound_ns is 0. Without a plan the outcome is infeasible if glp_intopt
// says so, which by itself is not proven, or not found.
enum status textbook_solve(struct plan *plan, const struct priced *priced, double time_limit_s,
                           struct arena *arena, struct error *err);
