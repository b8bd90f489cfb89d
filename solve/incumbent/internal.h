// Internals of the incumbent search, for solve/incumbent/ alone.
#pragma once

#include "solve/boxes/dynamic.h"
#include "solve/incumbent/incumbent.h"

// Units of effort: a replay costs EFFORT_REPLAY, a decision that the pool of paths rejects costs
// one.
enum { EFFORT_REPLAY = 16 };

struct search {
    struct incumbent *best;
    const struct choices *c;
    struct graph *g;
    int stage_count, symbols;
    int64_t effort_left;
    uint64_t random;
    bool (*should_stop)(void *);
    void *stop_argument;
    bool stopped;
    struct arena *arena;
};

// Replays a decision that fits together; keeps it if it is the best so far. Returns the time, or
// INT64_MAX: it does not fit, or the search is stopped. counts, if not NULL, receives those of the
// critical path.
int64_t search_replay(struct search *s, const int *chosen, int *counts);
bool search_is_stopped(struct search *s);
bool search_is_over(struct search *s); // stopped, or no effort is left
uint64_t search_random(struct search *s, uint64_t below);

// Whether the limits of slots, of ranks with several stages and of the budget hold.
bool search_resources_hold(const struct search *s, const int *chosen);

// With several stages per rank: gives each stage of the rank its lightest choice, or a heavier one
// that memory requires. All choices of a stage with its current layers, group and options are
// heads[stage], next[stage][heads[stage]] ..., lightest first.
bool search_refit_rank(const struct choices *c, int rank, int *const *next, const int *heads,
                       int *chosen);
// The plans that balancing the whole problem finds; by_ranks: see solve/boxes/dynamic.h.
int search_balance(struct search *s, bool by_ranks, int **starts, int starts_max);

// Plans from the dynamic programme under caps on the stages' loads: starts[count][stage_count], in
// order of time. by_stages: also where ranks have several.
int search_construct(struct search *s, bool by_stages, int **starts, int starts_max);
// Threshold accepting from chosen[], which becomes the last decision accepted.
struct local;
struct local *local_open(struct search *s);
void local_search(struct local *l, int *chosen, int64_t steps, int64_t heat_ns);
