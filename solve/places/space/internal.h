// Internals shared by the files of the search over a space on nodes.
#pragma once

#include "solve/layout/steps.h"
#include "solve/layouts/work.h"
#include "solve/places/placed.h"
#include "solve/places/space/space.h"

// ---- work.c: what the worker processes do; an answer is a function of its request alone

// What each process has for itself.
struct placed_work {
    const struct problem *problem;
    struct solving clock; // only for settings, time limit and the stop signal
    struct kept_cache kept;
};
worker_function placed_serve; // context: struct placed_work

// The problem of one layout. BAD_INPUT: it is not a valid one, or not on named nodes.
enum status placed_take_layout(struct problem *one, const struct problem *problem,
                               const struct layout *layout, struct error *err);
// A bound from the prices alone, which closes most layouts once a good plan is known. A bound of
// closing_ns or more need not be sharp. INT64_MAX: no room.
int64_t placed_bound_by_prices(struct kept_cache *kept, const struct priced *groups,
                               int64_t closing_ns);

// closing_ns: the bound at which a layout is of no interest; INT64_MAX: there is no plan yet.
// Requests only a bound, or also a plan, with this effort and at most `seconds` (INFINITY: all the
// time left).
void placed_request_bound(struct message *m, const struct layout *layout, int64_t closing_ns);
void placed_request_plan(struct message *m, const struct layout *layout, int64_t closing_ns,
                         const struct placed_effort *effort, double seconds);
