// The graph of one iteration, built by the checker from the layout alone: operations, their
// dependences, and how many micro-batches are in flight. Operations are numbered by kind, stage or
// boundary, micro-batch and slice, so that the successors of an operation have an order that a
// certificate can refer to.
#pragma once

#include "solve/checker/read/orders.h"

enum check_operation_kind {
    KIND_FORWARD,
    KIND_BACKWARD,
    KIND_WEIGHT,
    KIND_SYNC,
    KIND_OPTIMIZER,
    KIND_SEND_FORWARD,                               // + part
    KIND_SEND_BACKWARD = KIND_SEND_FORWARD + PARTS,  // + part
    KIND_SEND_EPILOGUE = KIND_SEND_BACKWARD + PARTS, // + part
    KIND_EMBEDDING_SYNC = KIND_SEND_EPILOGUE + PARTS,
    KIND_QUEUED_SYNC, // a stage's overlapped sync in full, after the one before it on the rank
    KIND_AWAY,        // transfers of swapped layers that a forward pass leaves to be done
    KIND_BACK,        // and those that must be done before a backward pass
    KINDS,
};
extern const char *const check_kind_names[]; // ended by NULL

// The fullest moments of a rank: held[moment * turns + turn] micro-batches.
struct check_peaks {
    int *held, count;
};

struct check_graph {
    const struct check_problem *p;
    bool parts[PARTS], epilogue, sync, optimizer; // which of these the graph has
    int offset[KINDS + 1];                        // where a kind's operations start
    int micro_batches[KINDS], slices[KINDS];      // that a kind distinguishes
    int *first, *next;           // successors of i: next[first[i]] .. next[first[i + 1] - 1]
    unsigned char *lap;          // beside next: 1 where the wait is for the previous lap
    int *order, operation_count; // those that exist, each after what it waits for within the lap
    bool *exists;
    struct check_peaks *peaks; // [rank]
};

// For a rank with these turns; *comparisons counts comparisons of moments over all ranks so far,
// and is limited.
enum status check_find_peaks(struct check_graph *g, int rank, const struct check_turn *turns,
                             int64_t *comparisons, struct arena *arena);
enum status check_build_graph(struct check_graph *g, const struct check_problem *p,
                              struct arena *arena);

// Finds what the graph has and numbers its operations by kinds; then whether it has a kind.
enum status check_number_operations(struct check_graph *g);
bool check_has_kind(const struct check_graph *g, int kind);

static inline int check_operation(const struct check_graph *g, int kind, int place, int micro_batch,
                                  int slice)
{
    return g->offset[kind] + (place * g->micro_batches[kind] + micro_batch) * g->slices[kind] +
           slice;
}

// Symbols: durations of one kind, stage or boundary, and slice.
static inline int check_symbol(const struct check_problem *p, int kind, int place, int slice)
{
    return (kind * p->slices + slice) * p->stages + place;
}
static inline int check_symbol_count(const struct check_problem *p)
{
    return KINDS * p->slices * p->stages;
}
int check_symbol_of(const struct check_graph *g, int operation);

// The compute streams where transfers block both ends (streams.c): stream[rank] receives the
// operations of the rank's turns with the blocking parts between them. blocking(x, rank, i,
// sends): the transfer that turn i of a rank ends or starts with.
struct check_streams {
    const struct check_graph *g;
    struct check_turn **turns; // [rank][check_turn_count]
    int **stream, *length;     // [rank]
};
enum status check_weave_streams(struct check_streams *x, struct arena *arena);
int check_turn_operation(const struct check_graph *g, int rank, const struct check_turn *t);
// A part of the message that a turn sends or receives over a boundary, once the graph has all
// messages; half is added to its micro-batch for the receiver's overhead.
int check_message_part(const struct check_graph *g, const struct check_turn *t, int boundary,
                       int part, int half);
// The boundary over which a turn receives a message, or sends one; -1: none.
int check_boundary_in(const struct check_problem *p, int rank, const struct check_turn *t);
int check_boundary_out(const struct check_problem *p, int rank, const struct check_turn *t);
