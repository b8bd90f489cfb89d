// A team of threads working on one thing together. Each takes its share of the rows or columns;
// the caller is member 0.
#pragma once

#include <stdint.h>

#include "data/base/arena.h"

struct team;

enum status team_open(struct team **team, int threads, struct arena *arena, struct error *err);
int team_threads(const struct team *team);

// A member's part of 0 .. count.
struct share {
    int64_t begin, end;
    int member;
};
typedef void team_task(const void *argument, struct share own);

// Every member runs the task on its own part, which may be empty; returns when all have.
void team_run(struct team *team, int64_t count, team_task *task, const void *argument);

// Since the reset: the caller's processor time, plus, for each task, the extra time of the slowest
// other member. On a machine shared with other programs this is the time of the work; the wall
// clock includes their turns, too.
void team_reset_busy(struct team *team);
double team_busy_s(const struct team *team);
