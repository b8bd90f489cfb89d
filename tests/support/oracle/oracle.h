// The oracle: every plan of a small priced problem, each replayed event by event. Shares no code
// with formulate or solve: stage times, memory, moments in flight, periods, rules and budget are
// computed here a second time, straight from docs/FORMULAS.md.
#pragma once

#include "data/results/plan.h"
#include "data/priced/priced.h"
#include "data/schedule/schedule.h"

struct oracle {
    int64_t plans;              // that satisfy everything
    int64_t best_ns, second_ns; // least and next different iteration time (or greatest load or
                                // energy, by p->objective); INT64_MAX if there is none
    struct plan_stage *best;    // [stage_count], decision fields only
};

// An upper bound on the number of plans (ignoring slots and budget), at most limit + 1.
int64_t oracle_size(const struct priced *p, int64_t limit, struct arena *arena);

enum status oracle_answer(struct oracle *e, const struct priced *p, const struct schedule *s,
                          struct arena *arena, struct error *err);

// The iteration time of one decision (with a barrier, or the period), regardless of rules, slots,
// budgets and memory; -1 if no link connects two of its stages. rank_bytes: [rank_count], memory on
// each rank's device.
int64_t oracle_time(const struct priced *p, const struct schedule *s,
                    const struct plan_stage *decision, int64_t *rank_bytes, struct arena *arena);
