// Shared by the files of the judge: one audit per plan, and its parts in the order in which they
// run.
#pragma once

#include "solve/judge/kinds/kinds.h"
#include "solve/judge/verify.h"
#include "solve/judge/places.h"

struct audit {
    struct verdict *verdict;
    const struct plan *plan;
    const struct problem *problem;  // as given; the job may leave the layout open
    struct problem judged;          // with the plan's layout filled in
    struct price_audit price_audit; // of `judged`
    // Where stages have heads of their own: the problem whose head is theirs, the head's run there.
    struct problem headed;
    struct price_audit headed_audit;
    int headed_run;
    // Where stages may shard layers further: the problem whose layout does, for all layers.
    struct problem sharded;
    struct price_audit sharded_audit;
    // The tensor degrees that a stage may choose for its layers with the vocabulary, and the
    // problems whose layouts have them.
    int degrees[VOCABULARY_DEGREES_MAX], degree_count;
    struct problem *spread;
    struct price_audit *spread_audit;
    struct schedule_request request;
    struct schedule schedule;
    int *group;                   // [plan's group]: the cluster's group of that name, -1: none
    const struct price_audit *at; // [plan's group]: of its width, where stages have their own; NULL
    bool *sound;           // [stage]: layers, group and options exist, so the stage can be priced
    int64_t *sync_work_ns; // [stage]: its sync with nothing hidden; set with its price
    bool collect; // prices are not compared with the plan's claims but written in their place; the
                  // plan is then a copy
    int64_t embedding_sync_ns; // set when collecting
    // Links of a replica that stands on nodes (places.c): the ring of each stage, with the groups
    // of the judged cluster that stand for the GPUs at the ends of its links. NULL: syncs use what
    // joins a stage's group.
    const struct ring_links {
        const struct ring_link {
            struct joint joint;
            int ends[2];
        } * links;
        int count;
    } * rings;
    struct joint *joints; // [group] what joins the group with itself: the current link of the ring
    // Where stages with widths of their own stand on nodes (widths.c): [stage] the judged group of
    // its first replica, those of the others follow; and its width's joints in place of the above.
    const int *first_place;
    struct joint **stage_joints;
    struct arena *arena;
};

// The problem of one layout, with the switches that the job's space gives it (switches.c).
struct problem judged_problem(const struct problem *p, const struct layout *layout);

#define REJECT(h, rule, stage, ...) verdict_add((h)->verdict, (h)->arena, rule, stage, __VA_ARGS__)

// stated.c: "name", "outcome", "groups", "options"
void audit_statement(struct verdict *v, const struct plan *plan, const struct problem *problem,
                     struct arena *arena);

// Everything after the layout, for a plan with a placement: replica by replica.
enum status audit_placement(struct audit *h, struct error *err);
void audit_pipette(struct audit *h, const int *node); // "objective"; node[replica * ranks + rank]
enum status audit_plan(struct audit *h,
                       struct error *err); // the same for a plan whose ranks stand on groups

void audit_layers(struct audit *h);
void audit_groups(struct audit *h);  // "count", "joined"
void audit_options(struct audit *h); // "compression", "recompute"
void audit_budget(struct audit *h);
void audit_rules(struct audit *h);

void audit_graph(struct audit *h); // "schedule": the plan's graph against what has a price
void audit_prices(struct audit *h);
void audit_memory(struct audit *h); // of stages, and of ranks with several stages

// Checks the table against its request, without the generator: "schedule". Any table, so that a
// test can damage one.
void audit_schedule(struct verdict *v, const struct schedule *s,
                    const struct schedule_request *request, struct arena *arena);
void audit_time(struct audit *h); // "iteration", "closed_form"
// "stream": no stream of a rank has more work than the plan's iteration, or period, of ns
// (streams.c).
void audit_streams(struct audit *h, int64_t ns);
void audit_range(struct audit *h); // "range": the uncertainty of the costs, and the runner-up
int64_t judged_time(const struct schedule *s, const struct plan *plan,
                    struct arena *arena); // replay, or period

// ---- the schedule's table with the plan's own durations (replay.c, period.c)

// Dependences: streams give an operation at most two successors, other dependences any number.
struct waiting {
    int *open;  // [operation]: predecessors still to finish
    int *first; // [operation + 1]: index of its first successor
    int *successors;
};
struct waiting judged_waiting(const struct schedule *s, struct arena *arena);
int64_t judged_duration(const struct plan *plan, const struct operation *o);
int64_t judged_later(int64_t start_ns, int64_t duration_ns); // saturates: no claim overflows it
// Event by event; -1: the table has a cycle or is malformed.
int64_t judged_replay(const struct schedule *s, const struct plan *plan, struct arena *arena);
// Without a barrier: the least T such that no cycle of the repeated graph takes longer than its
// laps x T. -1 as above.
int64_t judged_period(const struct schedule *s, const struct plan *plan, struct arena *arena);

// ---- the greatest load (load.c)
int64_t judged_load(const struct audit *h, const struct plan *plan); // at the plan's own prices
// "objective": compares this with the claim, where the job minimises the greatest load.
void audit_load(struct audit *h, int64_t own_ns);
void audit_cost(struct audit *h); // the objective cost, and the job's limits

// ---- Fujii et al.'s formula (published.c)
struct published_memory {
    int64_t state_bytes, activation_bytes;
}; // of a device of the first stage
bool published_memory_of(const struct problem *problem,
                         struct published_memory *p); // false: not for this model
void audit_published(struct audit *h);

// ---- closed forms (closed.c)
struct closed_form closed_form_of(const struct plan *plan, const struct schedule_request *request);

// ---- claims against the judge's own sums, with their number of terms
struct sum {
    int64_t value, terms;
};
static inline void sum_add(struct sum *s, int64_t value)
{
    s->value = judged_later(s->value, value);
    s->terms++;
}
void audit_claim(struct audit *h, const char *rule, int stage, const char *what, const char *unit,
                 int64_t claimed, struct sum own);

// ---- for a stage whose decision is sound
static inline void raise_to(int64_t *largest, int64_t ns)
{
    if (ns > *largest) *largest = ns;
}

static inline int judged_group(const struct audit *h, int stage)
{
    return h->group[h->plan->stages[stage].group];
}
// The prices that the stage has: of its width, where it has its own.
static inline const struct price_audit *audit_at(const struct audit *h, int stage)
{
    return h->at ? &h->at[h->plan->stages[stage].group] : &h->price_audit;
}
static inline struct compression_form gradient_form(const struct audit *h, int stage)
{
    return h->plan->gradient_options[h->plan->stages[stage].gradient_option].form;
}
// Of one that the job does not have (audit_options): that of everything on the GPU. What is swapped
// although the job has no tier for it (audit_swap) counts as on the host.
static inline struct tier_option stage_tiering(const struct audit *h, int stage)
{
    const struct job *j = &h->judged.job; // with the layout of the plan
    int way = tiering_of(j, &h->plan->gradient_options[h->plan->stages[stage].gradient_option]);
    struct tier_option t = job_tiering(j, way < 0 ? 0 : way);
    if (!t.parts[TIER_ACTIVATIONS].tier) t.parts[TIER_ACTIVATIONS].tier = TIER_HOST;
    return t;
}
static inline struct compression_form boundary_form(const struct audit *h, int stage)
{
    return h->plan->boundary_options[h->plan->stages[stage].boundary_option].form;
}
int judged_run(const struct audit *h, int layer);
// Layers that a stage's plan counts: those recomputed and those swapped.
static inline int counted_layers(const struct plan_stage *x)
{
    return x->recomputed_layers + (x->recompute == RECOMPUTE_SWAP ? x->swapped_layers : 0);
}
// The mode of one layer: in first_layers, full for the counted number of layers that can be
// recomputed; in swap, swap for the first ones, then full. *left counts down from counted_layers.
// layer: of the stage's, from 0.
enum recompute layer_mode(const struct audit *h, const struct plan_stage *x, int layer, int run,
                          int *left);

// ---- widths.c (docs/FORMULAS.md 23)
void match_widths(struct audit *h); // sets group and at of a plan whose stages have widths
// "groups": those that the job's lists give, in their order.
void state_widths(struct verdict *v, const struct plan *plan, const struct problem *problem,
                  struct arena *arena);
// Everything after the layout, for such a plan on a cluster with places.
enum status audit_named(struct audit *h, struct error *err);
void audit_devices(struct audit *h); // "count": of each node group
// Of a message from stage `from` to stage `to`, neighbours; s: of the sender's group and so on.
bool stage_transfer(const struct audit *h, int from, int to, struct sending s,
                    int64_t parts[PART_COUNT]);
bool stages_joined(const struct audit *h, int from, int to);
bool ends_embedding_price(const struct audit *h, int64_t *ns);
struct largest_prices largest_of_widths(const struct audit *h);
// Where replicas take whole micro-batches in turn: what a stage keeps, the greatest load, and
// "iteration", which is so many loads.
bool is_in_turn(const struct audit *h);
int64_t turned_in_flight(const struct audit *h, int stage);
int64_t turned_load(const struct audit *h);
void audit_turned_time(struct audit *h, int64_t load_ns);

// ---- swap.c (docs/FORMULAS.md 8, Swapping)

// The passes of a stage with swapped layers, what of their transfers is left behind a forward pass
// and must go before a backward pass, and the working memory that swapping adds.
struct swapping {
    int64_t forward_ns, backward_ns, away_ns, back_ns, buffer_bytes;
};
// What a micro-batch's swapped layers take of the link to their tier, the longer of both ways.
int64_t swap_work_of(const struct audit *h, int stage);
struct swapping swapping_of(const struct audit *h, int stage);
void audit_swap(struct audit *h, int stage, int recomputable); // checks the plan's statement

// ---- of boundaries; false for -1 and for the last stage's
bool sends_over(const struct audit *h, int boundary);      // its stages are on different ranks
bool sends_back_over(const struct audit *h, int boundary); // and a gradient comes back
bool learns_locally(const struct audit *h, int stage);     // the next boundary has a local loss
// Prices layers that differ from the layout's as `h->judged` has them now: a local head, and layers
// that are sharded further.
void judge_other_layers(struct audit *h);
int judged_layers(const struct audit *h, int stage); // of the stage, with its own head
// Of the stage's layers the one of that number: its run, and the prices that hold for it.
const struct price_audit *judged_layer(const struct audit *h, int stage, int layer, int *run);
