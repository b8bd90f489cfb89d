// Internals of the search over layouts: its state, and the steps that search.c runs in order.
#pragma once

#include "solve/boxes/frontier.h"
#include "solve/layouts/work.h"
#include "solve/process/stop.h"

enum { ROOT_ROUND = 16 }; // most layouts in a round of looks

// A layout that a worker has solved, to compare others with.
struct looked_at {
    struct candidate *candidate;
    const struct priced *priced;
};
// The fastest plans that scouts found, each with other degrees (context and data aside); ascending.
enum { PROMISING_MAX = 3 };
struct promising {
    struct layout layout;
    int64_t iteration_ns;
};
// A layout that is no better than another one, whose bound it has.
struct follower {
    int64_t number, other;
};

struct search {
    const struct problem *problem;
    const struct solve_settings *settings;
    struct layouts_task task;
    int64_t false_bound; // a layout whose known bound exceeds the time of a plan of it, or -1
    struct watch watch;
    struct shared_stop stop;
    double shown_s;
    struct layouts *layouts;
    int64_t *own_ns; // [count]: bounds that no known one had a part in; NULL: nothing is known
    struct space_limits limits;
    struct space_index index;
    unsigned char *scanned; // [count]: priced; the others have the bound of their group
    struct worker_pool *pool;
    struct layouts_context context;
    int64_t *order; // open layouts by scanned bound, ties by number
    int64_t order_count, order_next;
    struct frontier frontier; // of struct candidate, ties by number
    struct plan best;         // stage_count 0: none; frontier.best_ns is its time
    int64_t best_number;
    // The first plan, from before the scan. The search does not use it, so its course is the same
    // as without: it is for a user who stops the search, and for the end.
    struct layouts_first sensible;
    struct plan first;
    int64_t first_number;
    struct promising promising[PROMISING_MAX];
    int promising_count;
    struct looked_at *looked_at;
    int looked_at_count, looked_at_capacity;
    struct follower *followers;
    int follower_count, follower_capacity;
    struct layouts_work *work;
    int work_count, work_capacity;
    struct plan_effort effort;
    int64_t one_width_ns; // the least of any layout
    int one_width_group;
    const char *sidelined;
    struct arena *arena;
};
// ---- search.c
bool layouts_is_over(const struct search *s); // out of time, or stopped
void layouts_put_in_line(struct search *s, struct candidate *c);
// Layouts whose bound reaches this cannot have a plan that is better by more than the gap.
int64_t layouts_closing_ns(const struct search *s);
// The same for the best plan known at all, also the first one. It only falls.
int64_t layouts_closing_anyway_ns(const struct search *s);
void layouts_report_scan(struct search *s, const char *text);
void layouts_report_groups(struct search *s, const char *text);    // their least bound
void layouts_keep_plan(struct search *s, const struct plan *plan); // hands it to settings->keep
// Gets the workers' answers to all requests; false: stopped before all arrived.
bool layouts_ask(struct search *s, struct message *requests, int count, struct message *answers);

// ---- task.c
bool layouts_is_here(const struct search *s, int64_t number); // in the part that is searched
enum status layouts_take_known(struct search *s, struct error *err);
void layouts_exchange_plans(struct search *s);
enum status layouts_refuse_false(const struct search *s, struct error *err); // a false bound

// ---- line.c: the layouts by number, then the open ones by bound
enum status layouts_prepare_scan(struct search *s, struct error *err);
// Bounds the groups, then prices the layouts of those that leave room for a better plan than the
// one that is known. false: stopped.
bool layouts_scan(struct search *s);
// Prices these, ascending, which the queue does next.
bool layouts_scan_ranges(struct search *s, const struct space_range *ranges, int64_t count);
void layouts_sort_open(struct search *s);
// The first in the queue, or NULL. Layouts outside the window enter it as soon as one of them may
// be first.
struct candidate *layouts_first_in_line(struct search *s);
void layouts_set_fate(struct search *s, const struct candidate *c, enum layout_fate fate,
                      const char *text);
int candidates_by_number(const void *a, const void *b); // of struct candidate *

// A layout to be looked at, the one with the least bound first; of equal ones in the space's order.
struct waiting {
    int64_t bound_ns, number;
};
int waiting_by_bound(const void *a, const void *b); // of struct waiting
void layouts_fill_in(const struct search *s, struct candidate **sorted, int64_t count); // layouts

// ---- again.c: what is derived again of what was taken over
void layouts_open_own(struct search *s);
// INT64_MAX: it has no plan.
void layouts_note_own(struct search *s, int64_t number, int64_t bound_ns);
void layouts_derive_again(struct search *s);
bool layouts_rest_on_known(const struct search *s); // the answer, once fates are settled

// ---- rounds.c; false: stopped
// Raises their bounds; to INT64_MAX if nothing fits.
bool layouts_sharpen(struct search *s, int64_t enough, struct candidate **round, int count);
bool layouts_sharpen_round(struct search *s);
// Takes the next layouts at this level out of the queue.
enum status layouts_choose_round(struct search *s, enum candidate_level level,
                                 struct candidate **round, int *count, struct error *err);
bool layouts_look_round(struct search *s, enum layouts_request request, struct candidate **round,
                        int count);
void layouts_take_plan(struct search *s, const struct plan *plan, int64_t number);
// iteration_ns 0: no plan. other: the layout that it follows, or -1.
void layouts_note_work(struct search *s, int64_t number, int64_t iteration_ns, int64_t other,
                       int64_t boxes);
// At the end: gives followers the bound of the layout they follow.
void layouts_settle_followers(struct search *s);

// ---- scouts.c
void layouts_find_first(struct search *s);     // a plan before the space is scanned
void layouts_take_first(struct search *s);     // at the end: treated like any other plan
bool layouts_is_large(const struct search *s); // scouts are sent in the next two ways instead
void layouts_scout(struct search *s);          // to the layouts with the least bounds
// With every choice of degrees, before any layout is bounded.
void layouts_scout_degrees(struct search *s);
// To the layouts with the degrees of the best plans, which are scanned for it.
void layouts_scout_around_best(struct search *s);
