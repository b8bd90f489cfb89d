// Stages with widths of their own on nodes that have names (docs/FORMULAS.md 23, PROOFS 12.1): the
// first stages stand on nodes, the others may be on any.
#pragma once

#include "solve/layout/solve.h"

// Where a stage stands: its seat, and the node of each of its replicas, in their order.
struct standing {
    int seat, node[NAMED_DATA_MAX];
};

// The program whose stages 0 to fixed - 1 stand like this: a group for each, with its own prices,
// and, unless all are fixed, the seats for the others. No plan with these stages there takes less
// than in the program, and if all are fixed it takes exactly that.
void named_program(struct priced *to, const struct priced *p, const struct standing *standing,
                   int fixed, struct arena *arena);

// The best plan whose stages all stand like this, within the settings' gap; without stages: there
// is none. start: NULL, or decisions, stage s's group s, than which it is no worse.
struct plan;
enum status named_plan(struct plan *plan, const struct priced *p, const struct standing *standing,
                       const struct plan *start, const struct solve_settings *settings,
                       struct arena *arena, struct error *err);

// As solve_run, for a priced document with seat_nodes.
enum status named_solve(struct solve_result *r, const struct priced *priced,
                        const struct solve_settings *settings, const volatile int *stop,
                        struct arena *arena, struct error *err);
