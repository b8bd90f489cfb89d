// The tables of a round, for mix*.c only.
#pragma once

#include "solve/checker/boxes/mix.h"

#define UNREACHED ((int64_t)1 << 61)
enum { COST_BITS = 58, CELLS_MOST = 1 << 25, USES_MOST = 1 << 16 };
// Of a rank's decisions: those that fit; beginnings that are looked at.
enum { DECISIONS_MOST = 1 << 12, VISITS_MOST = 1 << 16 };

// What a boundary depends on: seen from the stage after it, the group and cut of the sender; seen
// from the stage before it, the group and option.
struct side {
    int group, detail, choice;
}; // choice: one that has this side

struct mix_stage {
    struct side *left, *right; // sides: left of what it sends, right of how it is entered
    int left_count, right_count;
    int *left_of, *right_of;    // [choice]
    int *class_of, class_count; // [choice]: equal uses of the counted resources
    int *class_choice;
    // of one round
    int64_t *cost;        // [place in the box]; UNREACHED: impossible
    int64_t *boundary;    // [left of the stage before * right_count + right]
    int low, high;        // layers covered before the stage
    int *rows, row_count; // reachable uses before the stage
    int *target;          // [class * row_count + row]: row before the next stage, -1: over a limit
    int64_t *enter;       // [right][row][covered]: least cost of the stages before it
};

struct check_mixer {
    const struct check_choices *c;
    const struct check_problem *p;
    int64_t limit[RESOURCES_MOST]; // of counted resources; -1: not counted
    int stride[RESOURCES_MOST], use_count;
    struct mix_stage *stages; // [stages + 1]: the last stands for the end of the pipeline
    int *row_of;              // [use_count], scratch
    int shift;                // costs are multiples of 2^shift x 2^-40 ns
    wide priced_limits;       // of 2^-40 ns
    struct arena *arena;
};

// Costs of the box's choices and boundaries.
enum status mix_price(struct check_mixer *m, const struct check_box *box,
                      const struct check_round *round);

// to[n] becomes the least of itself and from[n] + cost.
void mix_lower(int64_t *restrict to, const int64_t *restrict from, int64_t cost, int count);
// The round by ranks, after the box is priced: removes whatever costs more than `most`.
enum status mix_use_ranks(struct check_mixer *m, struct check_box *box,
                          const struct check_round *round, int64_t most, bool *closed);

// ---- mix_decisions.c: a rank's decisions, one by one
struct mix_decisions {
    int count, *places, *layers; // places[decision * turns + turn], in the box; [decision]
    int64_t *cost;               // [decision]
};
// Those of the box that fit into the rank's memory and have at most `most` layers; *work: steps
// taken. false: they are too many, or every decision fits.
bool mix_list_decisions(const struct check_mixer *m, const struct check_box *box, int rank,
                        int most, struct mix_decisions *list, uint64_t *work);
// cost[layers]: the least of them.
void mix_cost_decisions(const struct check_mixer *m, const struct mix_decisions *list,
                        int64_t *cost);
// stays[turn][place]: whether one has the choice and costs at most `most` with the other ranks;
// cost[layers] says which numbers of layers are left.
void mix_thin_decisions(const struct check_mixer *m, const struct mix_decisions *list,
                        const int64_t *cost, const int64_t *others, int64_t most, bool **stays);
