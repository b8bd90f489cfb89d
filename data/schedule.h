// A schedule as plain tables: the symbolic graph of one iteration of one layout. An operation's duration is a symbol; the
// graph depends on the layout alone, never on a choice. Generators live in data/schedules/, one file each; the solver and
// the judge read the tables, each with a walk of its own.
#ifndef PLUMBLINE_DATA_SCHEDULE_H
#define PLUMBLINE_DATA_SCHEDULE_H

#include <stdbool.h>

#include "data/arena.h"
#include "data/job.h"
#include "data/status.h"
#include "data/units.h"

// Symbols come in kinds; one of each kind per stage, or per boundary s between stages s and s+1.
enum symbol_kind {
    SYMBOL_FORWARD, SYMBOL_BACKWARD,                    // of stage s, one micro-batch
    SYMBOL_SYNC, SYMBOL_OPTIMIZER,                      // of stage s, once
    SYMBOL_SEND_FORWARD,                                // + part: activation over boundary s
    SYMBOL_SEND_BACKWARD = SYMBOL_SEND_FORWARD + PART_COUNT,    // + part: gradient over boundary s
    SYMBOL_SEND_EPILOGUE = SYMBOL_SEND_BACKWARD + PART_COUNT,   // + part: the same in the drain, where options tell them apart
    SYMBOL_EMBEDDING_SYNC = SYMBOL_SEND_EPILOGUE + PART_COUNT,  // stage 0 only
    SYMBOL_KIND_COUNT,
};

// Durations and counts are arrays [SYMBOL_KIND_COUNT * stage_count], indexed by this.
static inline int symbol_index(int stage_count, int kind, int stage) { return kind * stage_count + stage; }
static inline int symbol_count(int stage_count) { return SYMBOL_KIND_COUNT * stage_count; }
const char *symbol_kind_name(int kind);                 // "forward", "send_backward.link", ...

struct operation {
    int symbol;             // its duration
    int stage;              // of the sender, for a transfer: the earlier stage's boundary is in the symbol
    int micro_batch;        // -1 for sync, optimizer, embedding sync
};

// An ordered list of operations that exclude one another. A blocking transfer stands in both ends' compute streams.
enum stream_kind { STREAM_COMPUTE, STREAM_LINK_FORWARD, STREAM_LINK_BACKWARD, STREAM_SYNC };
struct stream { enum stream_kind kind; int stage; int *operations; int count; };

struct dependence { int before, after; };               // operations; beside the streams' orders

// What a layout fixes of the graph.
struct schedule_request {
    enum schedule_kind kind;
    int stage_count, micro_batches;
    bool parts[PART_COUNT];     // which parts a transfer has; a part without any price is left out
    bool epilogue;              // the drain's backward transfers have symbols of their own
    bool sync, optimizer, embedding_sync;
};

struct schedule {
    struct schedule_request request;
    struct operation *operations;
    int operation_count;
    struct stream *streams;
    int stream_count;
    struct dependence *dependences;
    int dependence_count;
    int *in_flight;             // [stage]: most micro-batches started forward and not yet released by their backward
};

// Builds the tables and checks them: every micro-batch and pass once, no cycle (a cycle is a deadlock: BAD_INPUT).
enum status schedule_build(struct schedule *s, const struct schedule_request *request, struct arena *arena, struct error *err);

// Any order that respects streams and dependences: operation indices, [operation_count]. BAD_INPUT names a deadlock.
enum status schedule_order(const struct schedule *s, int *order, struct arena *arena, struct error *err);

struct priced;
struct schedule_request schedule_request_of(const struct priced *p);

#endif
