// What follows from a layout's prices alone, without a schedule, choices or a program: that nothing
// fits, and a bound on the iteration time (on m x the greatest load, for that objective) of every
// plan of the layout.
#pragma once

#include "data/priced/priced.h"

enum { BOUND_GROUPS_MAX = 16 };
// (main layers + 1) x (others + 1) up to which others are counted.
enum { BOUND_SHARES_MAX = 4096 };

// The prices that the bounds use: those of the layers that are priced alike and make up most of the
// model (the main layers), and of the first and the last layer where they differ from these.
struct layer_terms {
    int64_t forward_ns, backward_ns, weight_ns; // of all slices
    int64_t optimizer_ns, sync_ns;
    // Recomputation: the least of the modes that keep a part, in full, and the most of all.
    int64_t selective_ns, full_ns, most_again_ns;
    int64_t most_read_ns; // what an option's tiers add to the backward, at most
};
// In mode none, in the best of the modes that keep a part, and in full.
struct layer_room {
    int64_t fixed_bytes, stash_bytes[3], working_bytes[3];
};

// other: if layers besides the two ends are not main ones, the least of each of their numbers.
struct group_terms {
    int seats;
    int64_t limit_bytes, constant_bytes, sync_constant_ns;
    struct layer_terms main, first, last, other;
};

// Layers of a rank, or of several: main ones, and others apart from the model's ends.
struct layer_share {
    int64_t main, other;
};

// Micro-batches whose activations a rank keeps for the layers of its stages at its fullest moment,
// taken from the turns of its schedule, and cached.
struct kept {
    int least;    // for any of its stages
    int *most;    // [turns + 1]: together for the given number of stages, those that keep the most
    int *by_turn; // [turns]
    // Passes of each of its stages before the rank's last forward: at least this many backwards,
    // and weight gradients.
    int backwards, weights;
};
struct kept_cache {
    struct kept_entry *entries;
    int count, capacity;
    int64_t *loads;
    int64_t load_capacity;
    struct arena *arena;
};
const struct kept *kept_by_ranks(struct kept_cache *c, const struct priced *p); // [rank_count]
int kept_further_rounds(
    const struct priced *p); // to be added to backwards, and to weights if there are any

// For a sequence in slices: a path that crosses the pipeline with one of them (docs/PROOFS.md 8,
// crossing), in ns: least on the path, most off it.
struct crossing_layer {
    int64_t pass_ns;                      // forward and backward of the slice
    int64_t again_ns;                     // least that recomputing the layer adds to the slice
    int64_t lost_ns[BOUND_GROUPS_MAX][2]; // of the slices before it and after it
};
struct crossing {
    int slice;
    struct crossing_layer main, other; // other: of the least number each; if others count
    int64_t first_ns, last_ns;         // of the slice; ends that are not main
    int64_t before_ns, behind_ns;      // of the slices before it, first layer; after it, last layer
    int64_t send_ns;                   // both ways
    int64_t first_behind_ns[BOUND_GROUPS_MAX], last_before_ns[BOUND_GROUPS_MAX];
};
enum { CROSSINGS_MAX = 3 };

// What a rank that holds neither end of the model has to recompute, depending on what it holds.
enum need { NEED_NOTHING, NEED_MAIN, NEED_ALL, NEEDS }; // a main layer, but no other; either

struct layout_sketch {
    const struct priced *priced;
    const struct kept *kept; // [ranks]
    // [ranks * (main_count + 1) * (others + 1)]: owned by the filling bound, valid until the next
    // sketch
    int64_t *loads;
    int ranks, stages, turns, micro_batches;
    bool joint, local, barrier, overlapped;
    int segment; // ranks of one that reads its inputs from a file, and waits for no other; 0: none
    int main_count;               // layers
    int others;                   // those that are counted besides them and are no ends; one group
    bool has_first, has_last;     // the first or the last layer is not a main one
    bool only_ends;               // only those two are not main ones
    int main_run;                 // one run of main layers
    bool selective, full, partly; // modes the job allows
    bool swaps;                   // freeing memory may then take no time
    struct layer_room main, first, last, other;
    int64_t all_ns; // one micro-batch through all layers, each where it is fastest
    struct group_terms groups[BOUND_GROUPS_MAX];
    int group_count; // groups that can hold a rank
    // Forward: the first layer if it is no main one, the lightest of all, a main one, another;
    // backward likewise. If there are several slices, of the fastest one.
    int64_t fill_first_ns, fill_ns, fill_main_ns, fill_other_ns;
    int64_t drain_first_ns, drain_ns, drain_main_ns, drain_other_ns;
    int64_t send_forward_ns, send_backward_ns;   // least of a boundary, all parts (one slice)
    int64_t block_forward_ns, block_backward_ns; // least time that keeps one end busy, all slices
    int64_t message_bytes;                       // least
    int64_t embedding_sync_ns;                   // least; 0: there is none
    struct crossing crossings[CROSSINGS_MAX];
    int crossing_count; // 0: whole sequences
    // Lemma 8.1 (docs/PROOFS.md): each rank's need, and how many ranks have it; layers that are
    // neither main ones nor the model's ends, counted or not: as many ranks may hold no main one.
    unsigned char needs[STAGES_MAX]; // enum need
    int need_counts[NEEDS];
    int apart;
};

// crossing.c: crossings of the sketch's priced document. Of each run: priced like the main layers;
// has others that count.
void layout_find_crossings(struct layout_sketch *s, const bool *main, const bool *other);
// The longest of them through a rank with k, which recompute for again_ns and end with tail_ns; 0:
// there is none.
int64_t layout_crossing_ns(const struct layout_sketch *s, const struct group_terms *g, int rank,
                           struct layer_share k, int64_t again_ns, int64_t tail_ns);

// false: *why is one line without numbers, so that equal reasons can be counted (the groups have
// too few seats ...).
bool layout_sketch(struct layout_sketch *s, const struct priced *p, struct kept_cache *kept,
                   const char **why);

// In two steps: what follows from the prices alone, and the rest of a layout that has them.
bool layout_sketch_prices(struct layout_sketch *s, const struct priced *p, const char **why);
void layout_sketch_turns(struct layout_sketch *s, const struct priced *p, struct kept_cache *kept);

bool sketch_is_main(const struct layout_sketch *s, int run);

// Bytes that are certainly missing, 0 if that is not certain. Then the bounds: one from averages,
// and one that fills the ranks in order with whole layers, each with the least recomputation that
// can fit (INT64_MAX: none lets them all fit). Where others are counted it looks for at most
// enough_ns.
int64_t layout_missing_bytes(const struct layout_sketch *s);
int64_t layout_average_bound(const struct layout_sketch *s);
// The part of the former that needs only the sketch of p's prices.
int64_t layout_mean_of_passes(const struct layout_sketch *s, const struct priced *p);
int64_t layout_filling_bound(const struct layout_sketch *s, int64_t enough_ns); // fill.c

// The least ns of an iteration (m x the rank's load, for that objective) if the rank is on that
// group (of the sketch) and holds k, with at least `before` on the ranks before it; -1: k never
// fit. Never falls as k grows, nor when a layer moves from the ranks before to the rank.
int64_t layout_rank_bound(const struct layout_sketch *s, int group, int rank,
                          struct layer_share before, struct layer_share k);
void layout_forget_loads(const struct layout_sketch *s); // call before the first of these

// ---- room.c: the ranks of a layout's sketch and what fits on each, for its bounds (bound.c).

bool sketch_folds(const struct layout_sketch *s); // second stages: ranks in reverse order
int sketch_boundaries(const struct layout_sketch *s, int rank); // ends of transfers at the rank
// Whether the first (last) layer is no main one and is on the rank.
bool sketch_holds_first(const struct layout_sketch *s, int rank);
bool sketch_holds_last(const struct layout_sketch *s, int rank);

// The least recomputation that may make k fit, in ns of one micro-batch; -1: none does.
int64_t sketch_recomputation_ns(const struct layout_sketch *s, const struct group_terms *g,
                                int rank, struct layer_share k);
// Main layers that fit on the best ranks of the groups' seats, with most[group] on a rank.
int64_t sketch_together(const struct layout_sketch *s, const int64_t *most);
