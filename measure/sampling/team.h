// A team of threads working on one thing together. Each takes its share of the rows or columns;
// the caller is member 0.
#ifndef PLUMBLINE_MEASURE_SAMPLING_TEAM_H
#define PLUMBLINE_MEASURE_SAMPLING_TEAM_H

#include <stdint.h>

#include "data/base/arena.h"
#include "data/base/status.h"

struct team;

enum status team_open(struct team **team, int threads, struct arena *arena, struct error *err);
int team_threads(const struct team *team);

// Every member runs task(argument, member, threads); returns when all have.
void team_run(struct team *team, void (*task)(const void *argument, int member, int threads),
              const void *argument);

// Since the reset: the caller's processor time, plus, for each task, the extra time of the slowest
// other member. On a machine shared with other programs this is the time of the work; the wall
// clock includes their turns, too.
void team_reset_busy(struct team *team);
double team_busy_s(const struct team *team);

// Member's part [*begin, *end) of 0..count.
void team_share(int64_t count, int member, int threads, int64_t *begin, int64_t *end);

#endif
