// What a schedule's generator writes: for each stage the order of its passes over the micro-batches. Everything else of
// the graph (transfers, syncs, optimizer) follows from it by rules that all schedules share (data/schedule.c).
#ifndef PLUMBLINE_DATA_SCHEDULES_TURNS_H
#define PLUMBLINE_DATA_SCHEDULES_TURNS_H

enum pass { PASS_FORWARD, PASS_BACKWARD, PASS_COUNT };

struct turn { enum pass pass; int micro_batch; };

// Fills turns[0 .. 2 x micro_batches) with the order of one stage.
typedef void turn_generator(struct turn *turns, int stage, int stage_count, int micro_batches);

turn_generator gpipe_turns;
turn_generator one_f_one_b_turns;

#endif
