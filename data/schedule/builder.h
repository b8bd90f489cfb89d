// Shared by the files that build a schedule's tables, and internal to them: the turns of every
// rank, and the indices of the operations of passes and messages.
#pragma once

#include "data/kinds/schedules.h"
#include "data/schedule/schedule.h"

// What a schedule's generator writes: for each rank, the order of its passes over stages,
// micro-batches and slices. The rest of the graph (transfers, syncs, optimizer) follows from it by
// rules that all schedules share (data/schedule/schedule.c).

enum pass { PASS_FORWARD, PASS_BACKWARD, PASS_WEIGHT, PASS_COUNT };

struct turn {
    enum pass pass;
    int micro_batch;
    int turn;
    int slice;
}; // turn: index among the rank's stages, in the model's order

struct turn_list {
    struct turn *turns;
    int count, capacity;
    int micro_batches;
};

// A generator whose pattern needs more micro-batches than there are writes the missing ones all the
// same; this function leaves them out. The remaining passes keep their order, so they wait for
// nothing new.
void turn_put(struct turn_list *list, enum pass pass, int micro_batch, int turn, int slice);

// Writes the order of one rank: every (pass, micro-batch, stage of the rank, slice) once.
struct schedule_request;
typedef void turn_generator(struct turn_list *list, const struct schedule_request *request,
                            int rank);

extern turn_generator *const schedule_generators[]; // by kind

#define DECLARE(constant, name, generator, ...) turn_generator generator;
SCHEDULE_KINDS(DECLARE)
#undef DECLARE

// Operations of a message: one per part, plus the overhead at the receiver.
enum { MESSAGE_RECEIVED = PART_COUNT, MESSAGE_OPERATIONS };

struct builder {
    struct schedule *schedule;
    struct arena *arena;
    const struct schedule_request *request;
    int passes;              // of a stage and micro-batch: 3 if the backward is split, else 2
    struct turn_list *turns; // [rank]
    int *compute;            // [pass, stage, micro-batch, slice]: operation
    int *message; // [pass, boundary, micro-batch, slice, part]: operation, -1 if there is none; the
                  // receiver's overhead comes last
    struct stream **compute_stream; // [rank]
    int *link_count;                // [from rank x rank_count + to rank]: messages
};

static inline int *compute_of(const struct builder *b, int pass, int stage, int micro_batch,
                              int slice)
{
    const struct schedule_request *r = b->request;
    size_t place = ((size_t)pass * (size_t)r->stage_count + (size_t)stage) *
                       (size_t)r->micro_batches +
                   (size_t)micro_batch;
    return &b->compute[place * (size_t)r->slice_count + (size_t)slice];
}

static inline int *message_of(const struct builder *b, int pass, int boundary, int micro_batch,
                              int slice)
{
    const struct schedule_request *r = b->request;
    size_t place = ((size_t)pass * (size_t)r->stage_count + (size_t)boundary) *
                       (size_t)r->micro_batches +
                   (size_t)micro_batch;
    return &b->message[(place * (size_t)r->slice_count + (size_t)slice) * MESSAGE_OPERATIONS];
}

int add_operation(struct builder *b, int kind, int symbol_stage, int stage, int micro_batch);
void add_dependence(struct builder *b, int before, int after);
struct stream *add_stream(struct builder *b, enum stream_kind kind, int rank, int to_rank,
                          int capacity);
static inline void put_operation(struct stream *stream, int operation)
{
    stream->operations[stream->count++] = operation;
}

static inline int stage_of_turn(const struct builder *b, int rank, const struct turn *t)
{
    return schedule_stage_of(b->request, rank, t->turn);
}

// The boundary over which a turn of `stage` waits for a message, or sends one; -1: none.
int boundary_in(const struct builder *b, const struct turn *t, int stage);
int boundary_out(const struct builder *b, const struct turn *t, int stage);

enum status make_turns(struct builder *b, struct error *err); // and what is in flight
void make_compute(struct builder *b);
void make_messages(struct builder *b); // and their dependences
void make_swaps(struct builder *b);    // the same
enum status make_compute_streams(struct builder *b, struct error *err);
void make_link_streams(struct builder *b);
void make_ending(struct builder *b); // syncs, optimizers, what is carried
