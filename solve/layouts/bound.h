// What is certain of a layout from its prices alone, without a schedule, choices or a program: that
// nothing fits, and a bound on the iteration time (on m x the greatest load, for that objective)
// that holds for every plan of it.
#ifndef PLUMBLINE_SOLVE_LAYOUTS_BOUND_H
#define PLUMBLINE_SOLVE_LAYOUTS_BOUND_H

#include "data/priced/priced.h"

enum { BOUND_GROUPS_MAX = 16 };
// (main layers + 1) x (others + 1) up to which others are counted.
enum { BOUND_SHARES_MAX = 4096 };

// The prices that the bounds read: layers that are priced alike and make up most of the model (the
// main ones), and the first and the last layer where they are others.
struct layer_terms {
    int64_t forward_ns, backward_ns, weight_ns; // of all slices
    int64_t selective_ns, full_ns, optimizer_ns, sync_ns;
};
struct layer_room {
    int64_t fixed_bytes, stash_bytes[3], working_bytes[3];
};

// other: where others than the two ends are not main ones, the least of each number of theirs.
struct group_terms {
    int slots;
    int64_t limit_bytes, constant_bytes, sync_constant_ns;
    struct layer_terms main, first, last, other;
};

// Layers of a rank, or of several: main ones, and others but for the model's ends.
struct layer_share {
    int64_t main, other;
};

// Micro-batches whose activations a rank keeps for the layers of its stages at its fullest moment,
// read off the turns of its schedule, and remembered.
struct kept {
    int least;    // for any of its stages
    int *most;    // [turns + 1]: for the so many stages that keep the most, together
    int *by_turn; // [turns]
    // Passes of each of its stages before the rank's last forward: at least so many backwards, and
    // weight gradients.
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
    const struct priced *p); // to be added to backwards, and to weights where there are any

// Of a sequence in slices: a path that crosses the pipeline with one of them (docs/PROOFS.md 8,
// crossing), in ns, least where it goes, most where it does not. Lost: by group, forward and
// backward of the slices before it and behind it, of a main layer, the first and the last.
struct crossing {
    int slice;
    int64_t main_ns, first_ns, last_ns; // forward and backward of the slice; ends that are not main
    int64_t before_ns, behind_ns;       // of the slices before it, first layer; behind it, last one
    int64_t send_ns;                    // both ways
    int64_t again_ns;                   // least that a main layer's recomputation adds to the slice
    int64_t lost_before_ns[BOUND_GROUPS_MAX], lost_behind_ns[BOUND_GROUPS_MAX],
        first_behind_ns[BOUND_GROUPS_MAX], last_before_ns[BOUND_GROUPS_MAX];
};
enum { CROSSINGS_MAX = 3 };

struct layout_sketch {
    const struct priced *priced;
    const struct kept *kept; // [ranks]
    // [ranks * (main_count + 1) * (others + 1)]: the filling bound's own, good until the next
    // sketch
    int64_t *loads;
    int ranks, stages, turns, micro_batches;
    bool joint, local, barrier, overlapped;
    int main_count;               // layers
    int others;                   // those that are counted beside them and are no ends; one group
    bool has_first, has_last;     // the first, the last layer is not a main one
    bool only_ends;               // there are no others than those two
    int main_run;                 // one run of main layers
    bool selective, full, partly; // modes the job allows
    bool swaps;                   // what makes room may then take no time
    struct layer_room main, first, last, other;
    int64_t all_ns; // one micro-batch through all layers, each where it is fastest
    struct group_terms groups[BOUND_GROUPS_MAX];
    int group_count; // of those that can hold a rank
    // Forward: the first layer where it is no main one, the lightest of all, a main one, another;
    // backward likewise. Of the slice that is fastest, where there are several.
    int64_t fill_first_ns, fill_ns, fill_main_ns, fill_other_ns;
    int64_t drain_first_ns, drain_ns, drain_main_ns, drain_other_ns;
    int64_t send_forward_ns, send_backward_ns;   // least of a boundary, all parts (one slice)
    int64_t block_forward_ns, block_backward_ns; // least that keeps one end busy, all slices
    int64_t message_bytes;                       // least
    int64_t embedding_sync_ns;                   // least; 0: there is none
    struct crossing crossings[CROSSINGS_MAX];
    int crossing_count; // 0: whole sequences
    // Of the ranks that hold a main layer for certain, those that cannot do without recomputing
    // one: by rank, and all.
    bool recomputes[STAGES_MAX];
    int recomputing_count;
};

// crossing.c: crossings of the sketch's priced document; main[run]: priced like the main layers.
void layout_find_crossings(struct layout_sketch *s, const bool *main);
// The longest of them through a rank with k main layers, which recompute for again_ns and end as
// tail_ns says; 0: there is none.
int64_t layout_crossing_ns(const struct layout_sketch *s, const struct group_terms *g, int rank,
                           int64_t k, int64_t again_ns, int64_t tail_ns);

// false: *why is one line without numbers, for counting (the groups have too few slots ...).
bool layout_sketch(struct layout_sketch *s, const struct priced *p, struct kept_cache *kept,
                   const char **why);

bool sketch_is_main(const struct layout_sketch *s, int run);

// Bytes that are certainly missing, 0 if that is not certain; and the bounds: one of averages, one
// that fills the ranks in order with whole layers, each in the least recomputation that can fit
// (INT64_MAX: none lets them all fit). Where others are counted no more than enough_ns is looked
// for.
int64_t layout_missing_bytes(const struct layout_sketch *s);
int64_t layout_average_bound(const struct layout_sketch *s);
int64_t layout_filling_bound(const struct layout_sketch *s, int64_t enough_ns); // fill.c

// ns that an iteration takes at least (m x the rank's load, for that objective) if the rank stands
// on that group (of the sketch) and holds k, with so many on the ranks before it; -1: k never fit.
// Never falls with k, nor when a layer moves from those before to the rank.
int64_t layout_rank_bound(const struct layout_sketch *s, int group, int rank,
                          struct layer_share before_least, struct layer_share before_most,
                          struct layer_share k);
void layout_forget_loads(const struct layout_sketch *s); // before the first of these

#endif
