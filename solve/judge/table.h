// Shared by the files that check a schedule's table: which operation is which, and where it is.
#pragma once

#include "data/schedule/schedule.h"
#include "solve/judge/kinds/kinds.h"
#include "data/results/verdict.h"

enum {
    RECEIVED = PART_COUNT,
    PIECES
}; // of a message: its parts, with overhead meaning the sender's, and the receiver's overhead

struct table {
    const struct schedule *s;
    const struct schedule_request *r;
    struct verdict *v;
    struct arena *arena;
    int passes;                     // 2, or 3 where the backward is split
    int *turn;                      // [pass, stage, micro-batch, slice]: its operation, -1 none
    int *message;                   // [forward or backward, boundary, micro-batch, slice, piece]
    int *sync, *queued, *optimizer; // [stage]; queued: its sync after the rank's one before it
    int embedding_sync;
    int *moved[2];              // [stage, micro-batch]: of swapped layers, away and back
    unsigned char *seen;        // [operation]: how many streams it is in
    int *stream[2], *place[2];  // [operation]: its first two; NULL where no operation is in two
    int *compute, *sync_stream; // [rank]: stream, -1 none
    int *last_gradient;         // [stage]: position of its last one in its rank's compute stream
    struct dependence *needed;
    size_t needed_count;
};

#define FAULT(t, stage, ...)                                                                       \
    (verdict_add((t)->v, (t)->arena, "schedule", stage, __VA_ARGS__), false)

static inline size_t pass_place(const struct table *t, int pass, int stage, int micro_batch,
                                int slice)
{
    const struct schedule_request *r = t->r;
    return (((size_t)pass * (size_t)r->stage_count + (size_t)stage) * (size_t)r->micro_batches +
            (size_t)micro_batch) *
               (size_t)r->slice_count +
           (size_t)slice;
}

static inline int *turn_at(const struct table *t, int pass, int stage, int micro_batch, int slice)
{
    return &t->turn[pass_place(t, pass, stage, micro_batch, slice)];
}

static inline int *message_at(const struct table *t, int pass, int boundary, int micro_batch,
                              int slice, int piece)
{
    return &t->message[pass_place(t, pass, boundary, micro_batch, slice) * PIECES + (size_t)piece];
}

// What an operation is: pass FORWARD to WEIGHT of a stage, or a message's piece; otherwise pass
// and direction are -1.
struct identity {
    int pass, direction, piece, place, micro_batch, slice;
};
struct identity identity_of(const struct table *t, int operation);

// solve/judge/order.c
bool check_compute(struct table *t, const struct stream *stream);
bool check_link(struct table *t, const struct stream *stream);
bool check_peaks(struct table *t);

// solve/judge/ending.c
bool check_sync_streams(struct table *t);
bool queues_syncs(const struct schedule_request *r);
bool in_sync_stream(const struct table *t, int stage, int kind);
void need_endings(struct table *t);
bool check_carried(struct table *t);

void need(struct table *t, int before, int after);
