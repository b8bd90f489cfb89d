// What a schedule's generator writes: for each rank, the order of its passes over stages,
// micro-batches and slices. The rest of the graph (transfers, syncs, optimizer) follows from it by
// rules that all schedules share (data/schedule/schedule.c).
#ifndef PLUMBLINE_DATA_SCHEDULE_WRITTEN_H
#define PLUMBLINE_DATA_SCHEDULE_WRITTEN_H

#include "data/kinds/schedules.h"

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

#endif
