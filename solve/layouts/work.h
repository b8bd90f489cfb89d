// Shared by the files of the search over layouts.
#pragma once

#include "data/base/watch.h"
#include "data/kinds/schedules.h"
#include "formulate/price/price.h"
#include "solve/layouts/layouts.h"
#include "solve/layouts/bound.h"
#include "solve/process/worker.h"

// ---- plans.c: sends a plan of this problem from one process to another, without its document and
// reason
void layouts_put_plan(struct message *m, const struct plan *p);
void layouts_get_plan(struct message *m, struct plan *p, const struct problem *problem,
                      struct arena *arena);

// ---- work.c: what the worker processes do

struct layouts_context {
    const struct problem *problem;
    const struct solve_settings *settings;
    const struct space_index *index;
    const volatile int *stop;         // shared between the processes
    const struct watch *watch;        // to be checked as well if there are no processes; NULL: none
    void (*tell_again)(void *search); // called now and then in a long look, without processes
    void *search;
};
worker_function layouts_serve;
bool layouts_should_stop(void *context);

// The text of an error without file names and numbers, because many layouts are refused for the
// same reason.
const char *layouts_plain_reason(const char *text, const struct problem *problem,
                                 struct arena *arena);

enum layouts_request {
    REQUEST_GROUPS,
    REQUEST_SCAN,
    REQUEST_SHARPEN,
    REQUEST_FIRST,
    REQUEST_SCOUT,
    REQUEST_ROOT,
    REQUEST_SOLVE
};

// REQUEST_GROUPS: one range -> a bound of the group of each of its layouts, of which none is
// priced. REQUEST_SCAN: ascending ranges -> a reason and a value for each of their layouts.
void request_ranges(struct message *m, enum layouts_request request,
                    const struct space_range *ranges, int count);
bool answer_groups(struct message *m, int64_t *values, int64_t count);
struct scanned {
    uint16_t reason;
    int64_t value;
};
bool answer_scan(struct message *m, struct layouts *l, struct scanned *to, int64_t count,
                 struct arena *arena);

// Instead of a bound: every plan takes longer than the job's limits allow.
#define LAYOUT_TOO_SLOW (INT64_MAX - 1)
// enough: bounds at or above it need not be exact.
void request_sharpen(struct message *m, int64_t enough, const struct layout *const *layouts,
                     int count);
bool answer_sharpen(struct message *m, int64_t *bounds_ns, int count);

struct layout_answer {
    enum status status; // not OK: reason is the error's text, and there is nothing else
    bool finished; // solved to the gap, or proven to have no plan better than the cutoff, or none
                   // at all
    bool infeasible, cut_off;
    bool limited;       // more boxes may prove more
    const char *reason; // why there is no plan
    int64_t bound_ns;
    struct plan plan;     // stage_count 0: none
    int64_t one_width_ns; // as in struct solve_result, of REQUEST_ROOT
    int one_width_group;
    const char *sidelined;
};
void layout_answer_put(struct message *m, const struct layout_answer *answer);
// false: the worker died, or was stopped.
bool layout_answer_get(struct message *m, struct layout_answer *answer,
                       const struct problem *problem, struct arena *arena);
// request: REQUEST_FIRST (any plan, quickly), REQUEST_SCOUT (only a plan), REQUEST_ROOT (a first
// look) or REQUEST_SOLVE. Times here and in answers are values (problem_layout_worth). cutoff_ns:
// of the best plan known; 0: none. seconds: a time limit; 0: none. solves: how often the layout was
// solved before without being closed; each time may take twice as many boxes.
void request_look(struct message *m, enum layouts_request request, const struct layout *layout,
                  int64_t cutoff_ns, double seconds, int solves);
// Prices a layout that problem_check_layout accepts.
enum status layout_price(struct priced *priced, const struct problem *problem,
                         const struct layout *layout, struct arena *arena, struct error *err);

// ---- root.c
struct layout_effort {
    int64_t replays, boxes;
};
enum status layout_root(struct layout_answer *a, const struct layouts_context *x,
                        const struct priced *priced, int64_t cutoff_ns, struct layout_effort effort,
                        struct arena *arena, struct error *err);
// Where stages have widths of their own: the plans that the search of the layout would begin with,
// then a box. Boxes know no rule that all stages of a node group have one width.
enum status layout_root_of_widths(struct layout_answer *a, const struct layouts_context *x,
                                  const struct priced *priced,
                                  const struct solve_settings *settings, int64_t cutoff_ns,
                                  struct arena *arena, struct error *err);

// ---- price.c: layouts that differ only in what no price depends on share their prices
struct price_cache {
    const struct problem *problem;
    bool links_free;                      // prices of free links (formulate/price/price.h)
    int priced_like[SCHEDULE_KIND_COUNT]; // the first whose prices are the same
    struct cached_prices **entries;       // by hash, of the current degrees; NULL: free
    int count;
    struct layout degrees;
    struct product_memo *memo;
    struct priced patched;
    struct arena *arena; // of the prices
    struct arena_mark empty;
};
void price_cache_open(struct price_cache *c, const struct problem *problem, struct arena *prices,
                      struct arena *arena);
// Valid until the next call. NULL: *why is the error's text.
const struct priced *price_cached(struct price_cache *c, const struct layout *layout,
                                  const char **why);
// The same of its sketch.
const struct layout_sketch *sketch_cached(struct price_cache *c, const struct layout *layout,
                                          struct kept_cache *kept, const char **why);

// ---- compare.c
// Every plan of b is also a plan of a, and takes no longer there.
bool layout_no_worse(const struct priced *a, const struct priced *b);

// ---- task.c; known NULL is accepted
enum status layouts_check_known(const struct layouts *known, int64_t count, struct error *err);
// A plan was found that takes less than the layout's known bound. BAD_INPUT.
enum status layouts_refuse_known(const struct layouts *known, int64_t number, struct error *err);

// ---- settle.c: the end of a search, on a cluster with or without places

struct layouts_end {
    const struct problem *problem;
    const struct solve_settings *settings;
    struct plan best; // stage_count 0: none
    int64_t best_number;
    struct plan_effort effort;
    int64_t closing_ns;        // the bound at which a layout is closed
    int64_t reported_ns;       // the bound reported so far
    struct space_part part;    // the part that was searched
    struct layouts_work *work; // in any order; of a layout's entries the later one counts
    int work_count;
};
// The document of a problem's space, still without its layouts.
struct layouts layouts_of(const struct problem *problem, double gap);
// Determines the fates in r->layouts and the answer, r->solved.
void layouts_end(struct layouts_result *r, const struct layouts_end *e, struct arena *arena);
// Up to here the plan's time is the value by which layouts are compared.
enum status layouts_state_objective(struct plan *plan, const struct problem *problem,
                                    struct arena *arena, struct error *err);

// ---- layouts that wait

enum candidate_level { LEVEL_SCANNED, LEVEL_SHARPENED, LEVEL_ROOTED, LEVEL_SOLVED };
struct candidate {
    int64_t number, bound_ns;
    enum candidate_level level;
    int solves;
    struct layout layout;
};

// ---- first.c: the layouts looked at before the space is scanned, so that there is a plan soon

enum { FIRST_TIERS = 8 };
struct first_tier {
    struct candidate *layouts;
    int count, checks;
};
// The most common layout of each schedule, stages of a rank and micro-batch, unchecked.
struct first_kind {
    struct candidate layout;
    int points;
};
struct first_degrees {
    struct first_kind *kinds; // ascending by number
    int count, capacity;
};
struct layouts_first {
    const struct problem *problem;
    struct first_tier
        tiers[FIRST_TIERS]; // the most common layouts first; all pass problem_check_layout
    struct first_degrees *degrees;
    int degrees_count, degrees_capacity;
    struct arena *arena;
};
void layouts_first_open(struct layouts_first *f, const struct problem *problem,
                        struct arena *arena);
// Called with ascending numbers; keeps the layout if its tier has room.
void layouts_first_offer(struct layouts_first *f, int64_t number, const struct layout *layout);

static inline bool same_degrees(const struct layout *a, const struct layout *b)
{
    return a->tensor == b->tensor && a->context == b->context && a->data == b->data &&
           a->pipeline == b->pipeline && a->expert_tensor == b->expert_tensor &&
           a->expert == b->expert;
}
