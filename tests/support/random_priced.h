// Small random priced documents in memory, for tests that need no pricing; and the chain family of
// the benchmark.
#pragma once

#include "data/priced/priced.h"
#include "data/schedule/schedule.h"

int64_t random_less(uint64_t *state, int64_t n); // 0..n-1

// Every feature now and then: different runs, all modes, compression, budgets, rules, groups that
// no link connects, overlapped and embedding sync. Many are infeasible.
void random_priced(struct priced *p, uint64_t *state, struct arena *arena);

// The same for a given schedule: ranks with 2 or 3 stages, 2 or 3 slices, split backward, now and
// then without a barrier and with local losses.
void random_priced_of(struct priced *p, int kind, uint64_t *state, struct arena *arena);

// Turns the document into one whose stages have widths of their own: its groups become widths of
// one or two node groups, each with devices and bytes of its own; what widths exclude is removed.
void priced_draw_widths(struct priced *p, uint64_t state, struct arena *arena);

// Offers to shard layers further (docs/PROOFS.md 4.2); what that excludes is removed.
void priced_draw_sharded(struct priced *p, uint64_t *state, struct arena *arena);
// Gives a document without tiers and options degrees of the vocabulary for its end runs.
void priced_draw_vocabulary(struct priced *p, uint64_t *state, struct arena *arena);

// Options with parts of a stage in tiers, of limited room, and now and then a budget of energy.
// false: the document has no option to become one, or what tiers exclude.
bool priced_draw_tiers(struct priced *p, uint64_t *state, struct arena *arena);

// Lets layers of the run swap in so much time each way, with every option; what is not elsewhere by
// then stays.
void priced_swap(const struct priced *p, struct priced_run *run, int64_t *away_ns,
                 struct arena *arena);
// Removes swapping, for formulations that do not support it.
void priced_without_swaps(struct priced *p); // nor other modes after it
// Each stage chooses how it recomputes.
void priced_without_setting(struct priced *p);

// chain of the benchmark: L blocks between an embedding and a head, S stages, K types, M
// micro-batches.
void chain_priced(struct priced *p, int layers, int stages, int types, int micro_batches,
                  struct arena *arena);

void priced_schedule(struct schedule *s, const struct priced *p,
                     struct arena *arena); // fails the test if it cannot
