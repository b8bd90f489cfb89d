// The table of schedules: the name, the generator and the properties of each. Everything that the
// planner decides by schedule is a property here; judge (solve/judge/kinds/kinds.h) and checker
// (solve/checker/read/orders.c) have their own tables. docs/FORMULAS.md 14 defines the schedules.
#pragma once

#include <stdbool.h>

// Whether the graph of fewer micro-batches is the graph of more of them with the first ones removed
// from every stream (docs/FORMULAS.md 15): never, if no transfer blocks both its ends, or always.
enum schedule_nesting { NESTS_NEVER, NESTS_UNBLOCKED, NESTS_ALWAYS };

struct schedule_properties {
    int virtual_stages;   // stages per rank; 0: two or more, as stated in the layout
    bool folds;           // the rank's second stage is on the way back: rank r has r and 2p-1-r
    bool splits_backward; // into input gradient and weight gradient
    bool slices;          // a sequence is processed in slices, two or more
    bool holds_all;       // all micro-batches go forward before any goes backward
    bool in_groups;       // micro-batches pass a rank's stages in groups (schedule_group)
    bool turns_at_once;   // the last stage runs each micro-batch backward right after its forward
    enum schedule_nesting nests;
    bool no_barrier;  // published without a barrier; of little use with one
    bool in_notes;    // its name has no other meaning in a note on a run
    bool in_megatron; // Megatron-LM runs it
    // All micro-batches pass a stage before the rank turns to its next stage, also with a single
    // rank; and sharded values are gathered and scattered once for all of them.
    bool layered;
};

// ROW(constant after SCHEDULE_, name, generator (data/schedule/builder.h), properties ...), in the
// order in which a space of layouts is enumerated: a new one comes last.
#define SCHEDULE_KINDS(ROW)                                                                        \
    ROW(GPIPE, "gpipe", gpipe_turns, .virtual_stages = 1, .holds_all = true,                       \
        .nests = NESTS_ALWAYS, .in_notes = true)                                                   \
    ROW(1F1B, "1f1b", one_f_one_b_turns, .virtual_stages = 1, .turns_at_once = true,               \
        .nests = NESTS_ALWAYS, .in_megatron = true)                                                \
    ROW(INTERLEAVED, "interleaved", interleaved_turns, .virtual_stages = 0, .in_groups = true,     \
        .turns_at_once = true, .nests = NESTS_UNBLOCKED, .in_megatron = true)                      \
    ROW(ZB_H1, "zb-h1", zb_h1_turns, .virtual_stages = 1, .splits_backward = true,                 \
        .nests = NESTS_UNBLOCKED, .in_notes = true)                                                \
    ROW(ZB_H2, "zb-h2", zb_h2_turns, .virtual_stages = 1, .splits_backward = true,                 \
        .nests = NESTS_NEVER, .no_barrier = true, .in_notes = true)                                \
    ROW(ZB_V, "zb-v", zb_v_turns, .virtual_stages = 2, .folds = true, .splits_backward = true,     \
        .nests = NESTS_NEVER, .no_barrier = true, .in_notes = true)                                \
    ROW(LOOPED_BFS, "looped-bfs", looped_bfs_turns, .virtual_stages = 0, .holds_all = true,        \
        .nests = NESTS_UNBLOCKED, .in_notes = true, .layered = true)                               \
    ROW(TOKEN_SLICED, "token-sliced", token_sliced_turns, .virtual_stages = 1, .slices = true,     \
        .holds_all = true, .nests = NESTS_ALWAYS)                                                  \
    ROW(V_HALF, "v-half", v_half_turns, .virtual_stages = 2, .folds = true,                        \
        .splits_backward = true, .nests = NESTS_UNBLOCKED, .in_notes = true)                       \
    ROW(V_MIN, "v-min", v_min_turns, .virtual_stages = 2, .folds = true, .splits_backward = true,  \
        .nests = NESTS_UNBLOCKED, .in_notes = true)

#define SCHEDULE_CONSTANT(constant, ...) SCHEDULE_##constant,
enum schedule_kind { SCHEDULE_KINDS(SCHEDULE_CONSTANT) SCHEDULE_KIND_COUNT };
#undef SCHEDULE_CONSTANT

// Micro-batches of a group where a schedule has them: the least divisor of micro_batches that is at
// least the number of ranks; the number of ranks where there are fewer micro-batches.
int schedule_group(int micro_batches, int ranks);

extern const char *const schedule_names[];                // by kind, ended by NULL
extern const struct schedule_properties schedule_kinds[]; // by kind

static inline bool schedule_splits_backward(int kind)
{
    return schedule_kinds[kind].splits_backward;
}

// Whether segments that read their inputs from a file can be pipelines of their own.
static inline bool schedule_stores_inputs(int kind)
{
    return kind == SCHEDULE_GPIPE || kind == SCHEDULE_1F1B;
}
