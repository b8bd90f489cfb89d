// What a schedule's generator writes: for each stage the order of its passes over the micro-batches. Everything else of
// the graph (transfers, syncs, optimizer) follows from it by rules that all schedules share (data/schedule.c).
#ifndef PLUMBLINE_DATA_SCHEDULES_TURNS_H
#define PLUMBLINE_DATA_SCHEDULES_TURNS_H

enum pass { PASS_FORWARD, PASS_BACKWARD, PASS_WEIGHT, PASS_COUNT };

struct turn { enum pass pass; int micro_batch; int turn; int slice; };      // turn: which of the rank's stages, in the model's order

// Fills turns[] with the order of one rank: every (pass, micro-batch, stage of the rank, slice) once.
struct schedule_request;
typedef void turn_generator(struct turn *turns, const struct schedule_request *request, int rank);

turn_generator gpipe_turns;
turn_generator one_f_one_b_turns;

#endif
