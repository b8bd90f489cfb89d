// Stages with widths of their own (docs/FORMULAS.md 23): what a stage may take of which node group.
#ifndef PLUMBLINE_DATA_INPUTS_SEATS_H
#define PLUMBLINE_DATA_INPUTS_SEATS_H

#include "data/inputs/problem.h"

struct seat {
    int group; // of the cluster
    int tensor, context, data;
    const char *name; // "a100:2x1x4": its group, tensor x context x data
};

static inline bool job_has_widths(const struct job *j)
{
    return j->stage_degrees == DEGREES_PER_STAGE;
}
static inline int seat_devices(const struct seat *s) { return s->tensor * s->context * s->data; }

// Every seat that the lists give, each once: by the cluster's groups, then tensor, context, data,
// as listed. Their number is at most SEATS_MAX + 1 (problem_check_widths refuses that many).
int problem_seats(const struct problem *p, struct seat **seats, struct arena *arena);
// The problem in which all stages have the seat's degrees, and the micro-batch's samples are split
// over that many replicas.
struct problem problem_at_seat(const struct problem *p, const struct seat *seat);

extern const struct members width_list_members;
// What widths exclude, and whether each list's degrees fit the model, the batch and the nodes.
enum status problem_check_widths(const struct problem *p, struct error *err);

#endif
