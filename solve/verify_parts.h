// What the files of the judge share: one hearing per plan, and its parts in the order in which they are gone through.
#ifndef PLUMBLINE_SOLVE_VERIFY_PARTS_H
#define PLUMBLINE_SOLVE_VERIFY_PARTS_H

#include "data/schedule.h"
#include "solve/verify.h"
#include "solve/verify_price.h"

struct hearing {
    struct verdict *verdict;
    const struct plan *plan;
    const struct problem *problem;
    struct assay assay;
    struct schedule_request request;
    int *group;             // [plan's group]: the cluster's group of that name, -1: there is none
    bool *sound;            // [stage]: layers, group and options exist, so that the stage can be priced
    struct arena *arena;
};

void hear_hashes(struct hearing *h);
bool hear_layout(struct hearing *h);                // false: the plan has another shape, nothing else can be compared
void hear_bound(struct hearing *h);

void hear_layers(struct hearing *h);
void hear_groups(struct hearing *h);                // "count", "joined"
void hear_options(struct hearing *h);               // "compression", "recompute"
void hear_budget(struct hearing *h);
void hear_rules(struct hearing *h);

void hear_graph(struct hearing *h);                 // "schedule": what the plan's graph has against what has a price
void hear_prices(struct hearing *h);
void hear_memory(struct hearing *h);

// The table against its request, without the generator: "schedule". Any table, so that a test can damage one.
void hear_schedule(struct verdict *v, const struct schedule *s, const struct schedule_request *request,
                   struct arena *arena);
// Event by event with the plan's own durations; -1: the table has a cycle, or is malformed.
int64_t judged_replay(const struct schedule *s, const struct plan *plan, struct arena *arena);
void hear_time(struct hearing *h, const struct schedule *s);            // "iteration", "closed_form"

// ---- of a stage whose decision is sound
static inline int judged_group(const struct hearing *h, int stage) { return h->group[h->plan->stages[stage].group]; }
static inline int gradient_rank(const struct hearing *h, int stage)
{
    return h->plan->gradient_options[h->plan->stages[stage].gradient_option].rank;
}
static inline int boundary_rank(const struct hearing *h, int stage)
{
    return h->plan->boundary_options[h->plan->stages[stage].boundary_option].rank;
}
int recomputable_layers(const struct hearing *h, int stage);
int in_flight_of(const struct schedule_request *request, int stage);

#endif
