// Shared by the files of the checker of spaces; some of it is also called by the writer of their
// certificates.
#pragma once

#include "solve/checker/proof.h"
#include "solve/checker/space/space.h"

enum check_fate {
    FATE_IS_REFUSED,
    FATE_IS_MEMORY,
    FATE_IS_BOUND,
    FATE_IS_DOMINATED,
    FATE_IS_PROVEN,
    FATE_IS_GROUP,
    FATES
};
extern const char check_fate_letters[FATES + 1]; // "rmbdpg"

// ---- held.c: micro-batches that a rank's stages hold together at its fullest moment

struct check_held {
    int least;    // by any of its stages
    int *most;    // [turns + 1]: together, by this many of the stages that hold the most
    int sides;    // of its stages, over which messages arrive or leave in the forward direction
    bool returns; // its last pass is a backward of its first stage
    // Before its last forward each of its stages does this many backwards and weight gradients.
    int backwards, weights;
};
// The two arenas must differ: scratch is reset after memory has been taken from arena.
struct check_held_cache {
    struct held_entry *entries;
    int count, capacity, last;
    uint64_t *work;
    struct arena *arena, *scratch;
};
enum status check_find_held(struct check_held_cache *c, const struct check_problem *p,
                            const struct check_held **held); // [rank]

// ---- bound.c

struct check_terms {
    int64_t forward, backward, weight, optimizer, sync;
    // Recomputation: the least of the modes that keep a part, in full, the most of all.
    int64_t selective, full, most_again;
    int64_t most_read; // by tiers, added to the backward
};                     // ns of a layer, over all slices
struct check_room {
    int64_t fixed, stash[3], working[3]; // [none, the best of those that keep a part, full]
};                                       // bytes

// With slices: the path of one slice through the pipeline, forward and back (docs/PROOFS.md 8,
// crossing). A rank's work on it depends on whether there are ranks before and after it: [there
// are][there are].
struct check_across {
    int slice;
    int64_t main[MOST_GROUPS][2][2], first[MOST_GROUPS][2][2], last[MOST_GROUPS][2][2],
        other[2][2]; // ns of a layer on the rank
    int64_t main_away, other_away, first_away,
        last_away;                   // of a layer on another rank: the slice, both ways
    int64_t before, behind;          // of the model's first and last layer: other slices
    int64_t messages;                // of the slice over a boundary, both directions
    int64_t main_again, other_again; // least recomputation of the slice, of a layer
};
enum { MOST_ACROSS = 3 };

// Layers on one rank or several: main ones, and others that are neither the model's first nor its
// last.
struct check_share {
    int64_t main, other;
};
enum { MOST_SHARES = 4096 }; // others are counted while (main + 1) x (others + 1) is at most this

// What the arguments need from a layout's tables: the main layers, which are alike and make up
// most of the model, and the first and last layer where they differ from these.
struct check_sketch {
    const struct check_problem *p;
    const struct check_held *held;
    int main_run, main_count, others;    // others: those that are counted
    int strays;                          // all others, counted or not
    bool has_first, has_last, only_ends; // only_ends: there are no others
    bool selective, full, partly;        // modes of main layers
    bool swaps;                          // room for them may be made at no cost in time
    struct check_room main, first, last, other;
    int64_t message; // bytes, at least
    struct check_group_sketch {
        int slots;
        int64_t room, sync_constant;
        struct check_terms main, first, last, other;
    } groups[MOST_GROUPS];
    int group_count;
    int64_t all;                                         // ns of one micro-batch through all layers
    int64_t fill_first, fill, fill_main, fill_other;     // forward: the least of one slice
    int64_t drain_first, drain, drain_main, drain_other; // backward
    int64_t send_forward, send_backward, block_forward, block_backward;
    struct check_across across[MOST_ACROSS];
    int across_count;
    // Ranks before each that hold neither end of the model and must recompute a main layer if they
    // hold one; those of them that must recompute another layer if they hold only such.
    int main_pays[MOST_STAGES + 1], both_pay[MOST_STAGES + 1];
};

// Bytes only; and times after them.
void check_sketch_bytes(struct check_sketch *s, const struct check_problem *p,
                        const struct check_held *held);
void check_sketch_times(struct check_sketch *s);
bool check_has_slots(const struct check_problem *p); // one for each rank
struct check_terms check_terms_of(const struct check_problem *p, int run, int group);
bool check_is_usable(const struct check_problem *p, int g);
// Whether the run's layers are among the main ones, by bytes and times.
bool check_is_main(const struct check_sketch *s, int run);
// Layers of a run that are no main ones, without the model's first and last.
int check_others_of(const struct check_sketch *s, int run);

// ---- across.c

void check_find_across(struct check_sketch *s); // after all other times
// tail: what follows the first stage's last backward. 0: there is no such path.
int64_t check_across_takes(const struct check_sketch *s, int group, int rank, struct check_share k,
                           int64_t again, int64_t tail);

// ---- bound.c, on

// No plan fits; every plan takes at least t_ns.
bool check_never_fits(const struct check_sketch *s);
bool check_average_reaches(const struct check_sketch *s, int64_t t_ns);
bool check_filling_reaches(const struct check_sketch *s, int64_t t_ns); // fill.c
// Least ns of an iteration if the rank stands on that group (of the sketch) and holds k, with at
// least so many layers on the ranks before it; -1: k never fits. It never falls as k grows, nor
// when a layer moves from the ranks before to this rank.
int64_t check_rank_takes(const struct check_sketch *s, int group, int rank,
                         struct check_share before, struct check_share k);
int64_t check_rank_takes_anyway(const struct check_sketch *s, int group,
                                int rank); // whatever the rank holds; -1: nothing fits

// Main layers on the slots that hold the most, most[group] each, for as many slots as there are
// ranks.
int64_t check_held_together(const struct check_sketch *s, const int64_t *most);

// ---- memory.c
int64_t check_least_recomputation(const struct check_sketch *s, const struct check_group_sketch *g,
                                  int rank, struct check_share k); // ns; -1: k never fits
bool check_may_fit(const struct check_sketch *s, const struct check_group_sketch *g, int rank,
                   int64_t k);
int64_t check_forced(const struct check_sketch *s,
                     int rank); // least number of main layers that the rank holds
bool check_holds_first(const struct check_sketch *s, int rank);
bool check_holds_last(const struct check_sketch *s, int rank);

// ---- compare.c: every plan of b is also one of a, and takes no longer in a. Both have times
bool check_no_worse(const struct check_problem *a, const struct check_problem *b);

// ---- group.c: a bound of many layouts at once

struct check_layouts;
struct check_layout check_standing_for(const struct check_layout *layout);
// What every plan of the layout takes at least by the layout that stands for its group, whose
// tables x->p then has; 0: nothing is known.
enum status check_group_takes(struct check_layouts *x, const struct check_layout *layout,
                              int64_t *takes);

// ---- fates.c: one layout at a time

struct check_layouts {
    const struct check_space *space;
    const struct check_pricer *pricer;
    struct check_held_cache held;
    struct check_problem *p; // of the current layout
    struct reader reader;
    struct check_group_kept *groups; // group.c
    int64_t bound_ns;                // on values; -1: the claim is that there is no plan
};
// Whether this argument (refused, memory, bound or group) holds for the layout. *why: the rule,
// where refused.
enum status check_fate_holds(struct check_layouts *x, const struct check_layout *layout,
                             enum check_fate fate, bool *holds, const char **why);
// For the writer: the first of these arguments that holds, or that a proof is needed.
enum status check_find_fate(struct check_layouts *x, const struct check_layout *layout,
                            enum check_fate *fate);
