// Best-first search over a space of layouts, in rounds: what a round asks of the workers depends on
// what was known before it, never on their number or speed. A bound only rises; the least of all
// layouts' bounds is the answer's.
#define _DEFAULT_SOURCE // MAP_ANONYMOUS
#include "data/base/grow.h"
#include "solve/layouts/layouts.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "data/results/bound.h"
#include "formulate/graph/objective.h"
#include "formulate/price/price.h"
#include "solve/layouts/parts.h"
#include "solve/layout/parts.h"

enum {
    SCAN_CHUNK = 1 << 15,
    SHARPEN_ROUND = 4096,
    SHARPEN_PIECE = 256,
    ROOT_ROUND = 16,
    SOLVE_ROUND = 4,
    WINDOW = 1 << 16
};
static const double grace_s = 3; // for workers to hand in what they have when told to stop

// A layout that a worker has solved, for comparing others with it.
struct looked_at {
    struct candidate *candidate;
    const struct priced *priced;
};
// A layout that is no better than another one: its bound is the other's.
struct follower {
    int64_t number, other;
};

struct search {
    const struct problem *problem;
    const struct solve_settings *settings;
    struct watch watch;
    volatile int *told; // shared with the workers
    double told_s, shown_s;
    int64_t shown_bound_ns; // the best bound that was told so far
    struct layouts *layouts;
    struct space_limits limits;
    struct worker_pool *pool;
    struct layouts_context context;
    int64_t *order; // open layouts by scanned bound, ties by number
    int64_t order_count, order_next;
    struct queue queue;
    struct plan best; // stage_count 0: none
    int64_t best_number;
    // The first plan, from before the scan. The search does not know it, so that it takes the
    // course it would take without: it is for whoever stops the search, and for the end.
    struct layouts_first sensible;
    struct plan first;
    int64_t first_number;
    struct looked_at *looked_at;
    int looked_at_count, looked_at_capacity;
    struct follower *followers;
    int follower_count, follower_capacity;
    struct layouts_work *work;
    int work_count, work_capacity;
    struct plan_effort effort;
    const char *sidelined;
    struct arena *arena;
};

static bool should_stop(const struct search *s) { return watch_is_over(&s->watch); }

// Asked by the pool: the workers are told first, and given a while.
static bool pool_should_stop(void *search)
{
    struct search *s = search;
    if (!should_stop(s)) return false;
    if (!*s->told) *s->told = 1, s->told_s = clock_s();
    return clock_s() - s->told_s > grace_s;
}

// Layouts whose bound reaches this cannot hold a plan that is better by more than the gap.
static int64_t closing_ns(const struct search *s)
{
    int64_t best = s->best.iteration_ns;
    return s->best.stage_count ? best - (int64_t)(s->settings->gap * (double)best) : INT64_MAX;
}

// ---- progress

static int64_t best_known_ns(const struct search *s)
{
    int64_t best = s->best.stage_count ? s->best.iteration_ns : 0;
    bool first = s->first.stage_count && (!best || s->first.iteration_ns < best);
    return first ? s->first.iteration_ns : best;
}

// What is proven for all layouts: of those in line and behind it the first one's bound; the others
// are closed at a bound that the best plan's time less the gap does not exceed.
static int64_t bound_so_far_ns(const struct search *s)
{
    const struct candidate *first = queue_first(&s->queue);
    int64_t bound = s->best.stage_count ? closing_ns(s) : INT64_MAX;
    if (first && first->bound_ns < bound) bound = first->bound_ns;
    if (s->order_next < s->order_count && s->layouts->value[s->order[s->order_next]] < bound)
        bound = s->layouts->value[s->order[s->order_next]];
    if (bound == INT64_MAX) bound = 0;
    return bound > s->shown_bound_ns ? bound : s->shown_bound_ns;
}

static void report_now(struct search *s)
{
    char plan[32] = "none";
    int64_t bound_ns = bound_so_far_ns(s);
    s->shown_s = clock_s();
    s->shown_bound_ns = bound_stated(bound_ns, best_known_ns(s), s->shown_bound_ns);
    if (best_known_ns(s)) snprintf(plan, sizeof plan, "%.9f s", (double)best_known_ns(s) / 1e9);
    fprintf(stderr, "%8.1f s  plan %s  bound %.9f s  layouts %d solved, %d in line, %lld behind\n",
            s->shown_s - s->watch.begin_s, plan, (double)s->shown_bound_ns / 1e9,
            s->looked_at_count, s->queue.count, (long long)(s->order_count - s->order_next));
}

static bool reports(const struct search *s)
{
    int wanted = s->settings->progress;
    return wanted > 0 || (wanted < 0 && isatty(STDERR_FILENO));
}

static void report(struct search *s)
{
    if (reports(s) && clock_s() - s->shown_s >= 0.5) report_now(s);
}

static void report_scan(struct search *s, const char *text)
{
    char plan[64] = "no plan yet";
    if (!reports(s)) return;
    if (best_known_ns(s))
        snprintf(plan, sizeof plan, "plan %.9f s", (double)best_known_ns(s) / 1e9);
    fprintf(stderr, "%8.1f s  %s  no bound yet  %s\n", watch_elapsed_s(&s->watch), plan, text);
}

// ---- scanning

static bool count_visit(void *search, int64_t number, const struct layout *layout)
{
    struct search *s = search;
    layouts_first_offer(&s->sensible, number, layout);
    return number < SPACE_COUNT_MAX;
}

static enum status prepare_scan(struct search *s, struct error *err)
{
    struct layouts *l = s->layouts;
    layouts_first_open(&s->sensible, s->problem, s->arena);
    l->count = space_each(&s->problem->job.space, &s->limits, count_visit, s);
    assert(l->count >= 0);
    if (l->count > SPACE_COUNT_MAX)
        return fail(err, BAD_INPUT, "%s: space: more than %d layouts; fix some of its keys",
                    s->problem->job.document.path ? s->problem->job.document.path : "job",
                    SPACE_COUNT_MAX);
    l->reason = TAKE(s->arena, l->count, uint16_t);
    l->value = TAKE(s->arena, l->count, int64_t);
    int unseen = layouts_reason(l, FATE_OPEN, "not looked at", s->arena);
    for (int64_t i = 0; i < l->count; i++) l->reason[i] = (uint16_t)unseen;
    return OK;
}

static bool ask(struct search *s, struct message *requests, int count, struct message *answers)
{
    const char *why = NULL;
    bool whole =
        worker_pool_run(s->pool, requests, count, answers, pool_should_stop, s, &why, s->arena);
    if (why) s->sidelined = why;
    return whole;
}

static bool scan(struct search *s)
{
    struct layouts *l = s->layouts;
    int64_t chunk = l->count / 64 > SCAN_CHUNK ? l->count / 64 : SCAN_CHUNK;
    int count = (int)((l->count + chunk - 1) / chunk);
    struct message *requests = TAKE(s->arena, count, struct message),
                   *answers = TAKE(s->arena, count, struct message);
    for (int i = 0; i < count; i++) {
        message_begin(&requests[i], s->arena);
        request_scan(&requests[i], i * chunk,
                     (i + 1) * chunk < l->count ? (i + 1) * chunk : l->count);
    }
    if (!ask(s, requests, count, answers) || *s->told) return false;
    for (int i = 0; i < count; i++)
        if (!answers[i].broken)
            answer_scan(&answers[i], l, i * chunk,
                        (i + 1) * chunk < l->count ? (i + 1) * chunk : l->count, s->arena);
    return true;
}

struct place {
    int64_t bound_ns, number;
};

static int by_bound(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->bound_ns != y->bound_ns) return x->bound_ns < y->bound_ns ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void sort_open(struct search *s)
{
    const struct layouts *l = s->layouts;
    struct place *places = TAKE(s->arena, l->count, struct place);
    for (int64_t i = 0; i < l->count; i++)
        if (layouts_fate(l, i) == FATE_OPEN)
            places[s->order_count++] = (struct place){l->value[i], i};
    qsort(places, (size_t)s->order_count, sizeof *places, by_bound);
    s->order = TAKE(s->arena, s->order_count, int64_t);
    for (int64_t i = 0; i < s->order_count; i++) {
        assert(i == 0 || places[i - 1].bound_ns <= places[i].bound_ns);
        s->order[i] = places[i].number;
    }
}

// ---- the window: the next layouts in line, with their degrees at hand

static int by_number(const void *a, const void *b)
{
    const struct candidate *const *x = a, *const *y = b;
    return (*x)->number < (*y)->number ? -1 : (*x)->number > (*y)->number;
}

struct filling {
    struct candidate **next, **end;
};

static bool fill_visit(void *argument, int64_t number, const struct layout *layout)
{
    struct filling *f = argument;
    if (f->next < f->end && (*f->next)->number == number) (*f->next++)->layout = *layout;
    return f->next < f->end;
}

static void widen(struct search *s)
{
    int64_t left = s->order_count - s->order_next, count = left < WINDOW ? left : WINDOW;
    assert(left > 0);
    struct candidate *all = TAKE(s->arena, count, struct candidate),
                     **sorted = TAKE(s->arena, count, struct candidate *);
    for (int64_t i = 0; i < count; i++) {
        int64_t number = s->order[s->order_next++];
        all[i] = (struct candidate){.number = number, .bound_ns = s->layouts->value[number]};
        sorted[i] = &all[i];
    }
    qsort(sorted, (size_t)count, sizeof(struct candidate *), by_number);
    struct filling f = {sorted, sorted + count};
    space_each(&s->problem->job.space, &s->limits, fill_visit, &f);
    assert(f.next == f.end); // the space has every number
    for (int64_t i = 0; i < count; i++) queue_push(&s->queue, &all[i]);
}

// The first in line, or NULL. Layouts outside the window come in as soon as one of them may be
// first.
static struct candidate *first_in_line(struct search *s)
{
    for (;;) {
        struct candidate *first = queue_first(&s->queue);
        if (s->order_next == s->order_count) return first;
        int64_t outside_ns = s->layouts->value[s->order[s->order_next]];
        if (first && first->bound_ns < outside_ns) return first;
        if (outside_ns >= closing_ns(s)) return first;
        widen(s);
    }
}

static void set_fate(struct search *s, const struct candidate *c, enum layout_fate fate,
                     const char *text)
{
    s->layouts->reason[c->number] = (uint16_t)layouts_reason(s->layouts, fate, text, s->arena);
    assert(c->number >= 0 && c->number < s->layouts->count);
    assert(c->bound_ns >= s->layouts->value[c->number]); // no layout's bound falls
    s->layouts->value[c->number] = c->bound_ns;
}

// ---- one round of sharper bounds

// Raises their bounds; INT64_MAX where nothing fits.
static bool sharpen(struct search *s, struct candidate **round, int count)
{
    int pieces = (count + SHARPEN_PIECE - 1) / SHARPEN_PIECE;
    struct message *requests = TAKE(s->arena, pieces, struct message),
                   *answers = TAKE(s->arena, pieces, struct message);
    const struct layout **layouts = TAKE(s->arena, count, const struct layout *);
    int64_t *bounds = TAKE(s->arena, SHARPEN_PIECE, int64_t);
    for (int i = 0; i < count; i++) layouts[i] = &round[i]->layout;
    for (int p = 0; p < pieces; p++) {
        int first = p * SHARPEN_PIECE;
        message_begin(&requests[p], s->arena);
        request_sharpen(&requests[p], layouts + first,
                        count - first < SHARPEN_PIECE ? count - first : SHARPEN_PIECE);
    }
    bool whole = ask(s, requests, pieces, answers);
    for (int p = 0; p < pieces && whole; p++) {
        int first = p * SHARPEN_PIECE,
            end = first + SHARPEN_PIECE < count ? first + SHARPEN_PIECE : count;
        if (answers[p].broken || !answer_sharpen(&answers[p], bounds, end - first)) continue;
        for (int i = first; i < end; i++)
            if (bounds[i - first] > round[i]->bound_ns) round[i]->bound_ns = bounds[i - first];
    }
    return whole;
}

static bool sharpen_round(struct search *s)
{
    struct candidate **round = TAKE(s->arena, SHARPEN_ROUND, struct candidate *);
    int count = 0;
    for (struct candidate *c; count < SHARPEN_ROUND && (c = first_in_line(s)) &&
                              c->level == LEVEL_SCANNED && c->bound_ns < closing_ns(s);)
        round[count++] = queue_pop(&s->queue);
    bool whole = sharpen(s, round, count);
    for (int i = 0; i < count; i++) {
        if (round[i]->bound_ns == INT64_MAX) {
            set_fate(s, round[i], FATE_INFEASIBLE,
                     "memory: no recomputation that is allowed lets its layers fit");
            continue;
        }
        if (whole) round[i]->level = LEVEL_SHARPENED;
        set_fate(s, round[i], FATE_OPEN, "its bound leaves room for a better plan");
        queue_push(&s->queue, round[i]);
    }
    return whole;
}

// ---- one round of solves

static void follow(struct search *s, const struct candidate *c, const struct candidate *other)
{
    GROW(s->arena, s->followers, s->follower_count, s->follower_capacity, 256);
    assert(c->number != other->number);
    assert(other->number >= 0 &&
           layouts_fate(s->layouts, other->number) != FATE_SAME); // the other was looked at itself
    s->followers[s->follower_count++] = (struct follower){c->number, other->number};
}

// A layout looked at before that this one is no better than.
static const struct candidate *better_known(struct search *s, const struct priced *priced)
{
    for (int i = 0; i < s->looked_at_count; i++)
        if (layout_no_worse(s->looked_at[i].priced, priced)) return s->looked_at[i].candidate;
    return NULL;
}

static void note_looked_at(struct search *s, struct candidate *c, const struct priced *priced)
{
    GROW(s->arena, s->looked_at, s->looked_at_count, s->looked_at_capacity, 256);
    assert(priced->stage_count > 0);
    s->looked_at[s->looked_at_count++] = (struct looked_at){c, priced};
}

static void note_work(struct search *s, int64_t number, int64_t iteration_ns, int64_t other,
                      int64_t boxes)
{
    GROW(s->arena, s->work, s->work_count, s->work_capacity, 256);
    assert(number >= 0 && number < s->layouts->count && other != number);
    s->work[s->work_count++] = (struct layouts_work){number, iteration_ns, other, boxes};
}

// A layout that is no better than one looked at before follows it; others are looked at from now
// on.
static enum status goes_on(struct search *s, struct candidate *c, bool *on, struct error *err)
{
    struct arena_mark mark = arena_set_mark(s->arena);
    struct priced *priced = TAKE(s->arena, 1, struct priced);
    TRY(layout_price(priced, s->problem, &c->layout, s->arena, err));
    const struct candidate *other = better_known(s, priced);
    *on = !other;
    if (*on) {
        note_looked_at(s, c, priced);
        return OK;
    }
    arena_reset(s->arena, mark);
    set_fate(s, c, FATE_SAME, "in nothing better than another layout");
    follow(s, c, other);
    note_work(s, c->number, 0, other->number, 0);
    return OK;
}

// Takes the next layouts at this level out of the line.
static enum status choose_round(struct search *s, enum candidate_level level,
                                struct candidate **round, int *count, struct error *err)
{
    int most = level == LEVEL_SHARPENED ? ROOT_ROUND : SOLVE_ROUND;
    *count = 0;
    for (struct candidate *c; *count < most && (c = first_in_line(s)) && c->level == level &&
                              c->bound_ns < closing_ns(s);) {
        bool on = true;
        queue_pop(&s->queue);
        if (level == LEVEL_SHARPENED) TRY(goes_on(s, c, &on, err));
        if (on) round[(*count)++] = c;
    }
    return OK;
}

static void take_plan(struct search *s, const struct plan *plan, int64_t number)
{
    if (!plan->stage_count) return;
    bool better = !s->best.stage_count || plan->iteration_ns < s->best.iteration_ns ||
                  (plan->iteration_ns == s->best.iteration_ns && number < s->best_number);
    assert(plan->iteration_ns >= 0 && number >= 0 && number < s->layouts->count);
    if (better) s->best = *plan, s->best_number = number;
}

static void take_answer(struct search *s, struct candidate *c, const struct layout_answer *a,
                        enum layouts_request request)
{
    if (a->sidelined) s->sidelined = a->sidelined;
    s->effort.boxes += a->plan.effort.boxes;
    s->effort.relaxations += a->plan.effort.relaxations;
    s->effort.path_rows += a->plan.effort.path_rows;
    if (a->infeasible) {
        set_fate(s, c, FATE_INFEASIBLE,
                 a->reason && *a->reason ? a->reason : "no plan satisfies its limits");
        return;
    }
    take_plan(s, &a->plan, c->number);
    assert(!a->plan.stage_count ||
           c->bound_ns <= a->plan.iteration_ns); // no plan takes less than its layout's bound
    if (a->bound_ns > c->bound_ns) c->bound_ns = a->bound_ns;
    note_work(s, c->number, a->plan.stage_count ? a->plan.iteration_ns : 0, -1,
              a->plan.effort.boxes);
    c->level = request == REQUEST_ROOT ? LEVEL_ROOTED : LEVEL_SOLVED;
    set_fate(s, c, a->finished ? FATE_SOLVED : FATE_OPEN,
             a->finished ? "solved to the asked gap" : "its bound leaves room for a better plan");
    if (!a->finished) queue_push(&s->queue, c);
}

static double seconds_left(const struct search *s)
{
    double limit = s->settings->time_limit_s;
    if (limit <= 0) return 0;
    double left = limit - watch_elapsed_s(&s->watch);
    return left > 0.05 ? left : 0.05;
}

static bool look_round(struct search *s, enum layouts_request request, struct candidate **round,
                       int count)
{
    struct message requests[ROOT_ROUND], answers[ROOT_ROUND] = {{0}};
    assert(count > 0 && count <= ROOT_ROUND);
    for (int i = 0; i < count; i++) {
        message_begin(&requests[i], s->arena);
        request_look(&requests[i], request, &round[i]->layout,
                     s->best.stage_count ? s->best.iteration_ns : 0, seconds_left(s));
    }
    bool whole = ask(s, requests, count, answers);
    for (int i = 0; i < count; i++) {
        struct layout_answer answer;
        if (answers[i].used && !answers[i].broken &&
            answer_look(&answers[i], &answer, s->problem, s->arena)) {
            take_answer(s, round[i], &answer, request);
            continue;
        }
        // What brought a first look down may not bring a solve down; what brought that down is not
        // asked again.
        round[i]->level = request == REQUEST_ROOT ? LEVEL_ROOTED : LEVEL_SOLVED;
        set_fate(s, round[i], FATE_OPEN,
                 whole ? "a worker process failed on it" : "stopped while it was looked at");
        queue_push(&s->queue, round[i]);
    }
    return whole;
}

// ---- scouts: before the line is followed, plans of some layouts that are unlike each other, so
// that bounds close the rest

enum { SCOUTS_MAX = 1 << 16, SCOUTS_LOOKED_AT = 32, SCOUTS_PER_DEGREES = 4 };
// Passes of a graph times the square of its ranks (paths begin and end at any two) that a scout may
// have: larger ones take longer to look at than a first plan is worth.
enum { SCOUTS_COST_MAX = 5 * 1000 * 1000 };
struct scouts {
    const struct layouts *layouts;
    struct candidate *all;
    int count;
};

static bool same_degrees(const struct layout *a, const struct layout *b)
{
    return a->tensor == b->tensor && a->context == b->context && a->data == b->data &&
           a->pipeline == b->pipeline;
}

static bool same_kind(const struct layout *a, const struct layout *b)
{
    return same_degrees(a, b) && a->schedule == b->schedule &&
           a->virtual_stages == b->virtual_stages && a->micro_batch == b->micro_batch &&
           a->sequence_parallel == b->sequence_parallel && a->zero == b->zero;
}

// The space keeps layouts of one kind together, those that differ in the inner switches: the first
// of each with the least bound.
static bool scout_visit(void *argument, int64_t number, const struct layout *layout)
{
    struct scouts *x = argument;
    if (layouts_fate(x->layouts, number) != FATE_OPEN) return true;
    int64_t micro_batches = x->layouts->global_batch / layout->data / layout->micro_batch;
    int64_t passes = micro_batches * layout_stage_count(layout) * layout->slice_count;
    if (passes * layout->pipeline * layout->pipeline > SCOUTS_COST_MAX) return true;
    struct candidate *last = x->count ? &x->all[x->count - 1] : NULL;
    int64_t bound_ns = x->layouts->value[number];
    if (last && same_kind(&last->layout, layout)) {
        if (bound_ns < last->bound_ns)
            *last = (struct candidate){.number = number, .bound_ns = bound_ns, .layout = *layout};
        return true;
    }
    if (x->count < SCOUTS_MAX)
        x->all[x->count++] =
            (struct candidate){.number = number, .bound_ns = bound_ns, .layout = *layout};
    return true;
}

static int candidates_by_bound(const void *a, const void *b)
{
    const struct candidate *const *x = a, *const *y = b;
    if ((*x)->bound_ns != (*y)->bound_ns) return (*x)->bound_ns < (*y)->bound_ns ? -1 : 1;
    return by_number(a, b);
}

// Moves the best to the front, at most a few of each tuple of degrees; returns how many.
static int spread(struct candidate **round, int count)
{
    int chosen = 0;
    for (int i = 0; i < count && chosen < SCOUTS_LOOKED_AT; i++) {
        int alike = 0;
        for (int k = 0; k < chosen; k++)
            alike += same_degrees(&round[k]->layout, &round[i]->layout);
        if (alike < SCOUTS_PER_DEGREES && round[i]->bound_ns != INT64_MAX)
            round[chosen++] = round[i];
    }
    return chosen;
}

static void scout(struct search *s)
{
    struct scouts x = {s->layouts, TAKE(s->arena, SCOUTS_MAX, struct candidate), 0};
    struct candidate **round = TAKE(s->arena, SCOUTS_MAX, struct candidate *);
    struct message requests[SCOUTS_LOOKED_AT], answers[SCOUTS_LOOKED_AT] = {{0}};
    space_each(&s->problem->job.space, &s->limits, scout_visit, &x);
    for (int i = 0; i < x.count; i++) round[i] = &x.all[i];
    if (!sharpen(s, round, x.count)) return;
    qsort(round, (size_t)x.count, sizeof *round, candidates_by_bound);
    int count = spread(round, x.count);
    assert(count <= SCOUTS_LOOKED_AT);
    for (int i = 0; i < count; i++) {
        message_begin(&requests[i], s->arena);
        request_look(&requests[i], REQUEST_SCOUT, &round[i]->layout, 0, 0);
    }
    ask(s, requests, count, answers);
    for (int i = 0; i < count; i++) {
        struct layout_answer a;
        if (!answers[i].used || answers[i].broken ||
            !answer_look(&answers[i], &a, s->problem, s->arena) || !a.plan.stage_count)
            continue;
        take_plan(s, &a.plan, round[i]->number);
        note_work(s, round[i]->number, a.plan.iteration_ns, -1, a.plan.effort.boxes);
    }
}

// ---- the first plan, before the space is scanned

enum { FIRST_LOOKS = 6 };

// Layouts without a price or room have no bound; those of one tuple of degrees mostly fail alike.
static bool worth_a_look(const struct candidate *c, struct candidate *const *looked, int count)
{
    for (int i = 0; i < count; i++)
        if (same_degrees(&looked[i]->layout, &c->layout)) return false;
    return c->bound_ns > 0 && c->bound_ns != INT64_MAX;
}

static void look_first(struct search *s, struct candidate *c)
{
    struct message request, answer = {0};
    struct layout_answer a;
    message_begin(&request, s->arena);
    request_look(&request, REQUEST_FIRST, &c->layout, 0, 0);
    if (!ask(s, &request, 1, &answer) || answer.broken ||
        !answer_look(&answer, &a, s->problem, s->arena) || !a.plan.stage_count)
        return;
    if (s->first.stage_count && a.plan.iteration_ns >= s->first.iteration_ns) return;
    s->first = a.plan, s->first_number = c->number;
    report_scan(s, "a first plan, before the layouts are priced");
}

// One after the other: whoever waits has the first as soon as it is there. true: there is one.
static bool look_at_tier(struct search *s, struct candidate **round, int count)
{
    struct candidate *looked[FIRST_LOOKS];
    int looks = 0;
    for (int i = 0; i < count && looks < FIRST_LOOKS && !should_stop(s); i++)
        if (worth_a_look(round[i], looked, looks)) look_first(s, looked[looks++] = round[i]);
    return s->first.stage_count != 0;
}

static void find_first(struct search *s)
{
    for (int t = 0; t < FIRST_TIERS && !should_stop(s); t++) {
        struct first_tier *tier = &s->sensible.tiers[t];
        struct candidate **round = TAKE(s->arena, tier->count, struct candidate *);
        for (int i = 0; i < tier->count; i++) round[i] = &tier->layouts[i];
        if (!sharpen(s, round, tier->count)) return;
        if (tier->count) qsort(round, (size_t)tier->count, sizeof *round, candidates_by_bound);
        if (look_at_tier(s, round, tier->count)) return;
    }
}

// At the end it is a plan like any other, if it is better than all that the search met.
static void take_first(struct search *s)
{
    const struct plan *first = &s->first;
    if (!first->stage_count || (s->best.stage_count && first->iteration_ns >= s->best.iteration_ns))
        return;
    assert(s->first_number >= 0 && s->first_number < s->layouts->count);
    s->best = *first, s->best_number = s->first_number;
    for (int i = 0; i < s->work_count; i++)
        if (s->work[i].number == s->first_number) {
            s->work[i].iteration_ns = first->iteration_ns;
            return;
        }
    note_work(s, s->first_number, first->iteration_ns, -1, first->effort.boxes);
}

// ---- the whole

static enum status run(struct search *s, struct error *err)
{
    struct candidate *round[ROOT_ROUND];
    for (struct candidate *c;
         (c = first_in_line(s)) && c->bound_ns < closing_ns(s) && !should_stop(s); report(s)) {
        int count;
        enum candidate_level level = c->level;
        if (level == LEVEL_SOLVED) break; // a layout that cannot be closed
        if (level == LEVEL_SCANNED) {
            if (!sharpen_round(s)) break;
            continue;
        }
        TRY(choose_round(s, level, round, &count, err));
        if (count &&
            !look_round(s, level == LEVEL_SHARPENED ? REQUEST_ROOT : REQUEST_SOLVE, round, count))
            break;
    }
    return OK;
}

// Followers have the bound of the one they follow, which comes before them in work.
static void settle_followers(struct search *s)
{
    struct layouts *l = s->layouts;
    for (int i = 0; i < s->follower_count; i++) {
        const struct follower *f = &s->followers[i];
        enum layout_fate fate = layouts_fate(l, f->other);
        assert(fate != FATE_REFUSED && fate != FATE_MEMORY);
        if (fate == FATE_INFEASIBLE) {
            l->reason[f->number] = (uint16_t)layouts_reason(
                l, FATE_INFEASIBLE, "so is a layout that it is in nothing better than", s->arena);
            continue;
        }
        if (l->value[f->other] > l->value[f->number]) l->value[f->number] = l->value[f->other];
    }
}

// What is left in line, inside the window and outside: closed by its bound, or open. Returns the
// least bound of all.
static int64_t settle(struct search *s)
{
    struct layouts *l = s->layouts;
    int64_t closing = closing_ns(s), least = INT64_MAX;
    settle_followers(s);
    int closed =
        layouts_reason(l, FATE_BOUND, "no plan of it is better by more than the gap", s->arena);
    int open = layouts_reason(l, FATE_OPEN, "its bound leaves room for a better plan", s->arena);
    for (int64_t i = 0; i < l->count; i++) {
        enum layout_fate fate = layouts_fate(l, i);
        if (fate == FATE_REFUSED || fate == FATE_MEMORY || fate == FATE_INFEASIBLE) continue;
        if (l->value[i] < least) least = l->value[i];
        if (fate == FATE_OPEN && l->value[i] >= closing) l->reason[i] = (uint16_t)closed;
        if (fate == FATE_SAME && l->value[i] < closing) l->reason[i] = (uint16_t)open;
    }
    return least;
}

static int work_by_number(const void *a, const void *b)
{
    const struct layouts_work *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

// What is proven for a layout does not exceed a plan of it, nor is one without a plan called so.
static bool work_holds(const struct layouts *l, const struct layouts_work *w)
{
    enum layout_fate fate = layouts_fate(l, w->number);
    if (!w->iteration_ns) return true;
    return fate != FATE_REFUSED && fate != FATE_MEMORY && fate != FATE_INFEASIBLE &&
           l->value[w->number] <= w->iteration_ns;
}

static void settle_work(struct search *s)
{
    struct layouts *l = s->layouts;
    if (s->work_count) qsort(s->work, (size_t)s->work_count, sizeof *s->work, work_by_number);
    int kept = 0;
    for (int i = 0; i < s->work_count;
         i++) { // a layout worked on twice: the later entry stands behind
        if (kept && s->work[kept - 1].number == s->work[i].number) kept--;
        s->work[kept++] = s->work[i];
    }
    for (int i = 0; i < kept; i++) assert(work_holds(l, &s->work[i]));
    l->work = s->work, l->work_count = kept;
}

static void finish(struct search *s, struct layouts_result *r, int64_t least_ns)
{
    struct plan *plan = &r->solved.plan;
    struct layouts *l = s->layouts;
    *plan = s->best;
    plan->name = s->problem->name;
    plan->seed = s->settings->seed;
    plan->gap_asked = s->settings->gap;
    plan->effort = s->effort;
    plan->effort.seconds = watch_elapsed_s(&s->watch);
    plan->bound_ns = least_ns == INT64_MAX ? 0 : least_ns;
    r->solved.sidelined = s->sidelined;
    r->solved.finished = least_ns >= closing_ns(s);
    if (plan->stage_count) {
        plan->outcome = plan_gap(plan) <= s->settings->gap ? OUTCOME_OPTIMAL : OUTCOME_OPEN;
    } else {
        plan->outcome = least_ns == INT64_MAX ? OUTCOME_INFEASIBLE : OUTCOME_NO_PLAN;
        plan->reason = least_ns == INT64_MAX
                           ? "no layout of the space has a plan; the layouts document says why"
                           : "the search was stopped before it met a plan";
        plan->layout = s->problem->job.layout;
        plan->micro_batches =
            job_micro_batches(&s->problem->job) > 0 ? job_micro_batches(&s->problem->job) : 1;
        plan->devices_per_stage = (int64_t)plan->layout.tensor * plan->layout.context *
                                  plan->layout.data;
        plan->bound_ns = plan->outcome == OUTCOME_INFEASIBLE ? 0 : plan->bound_ns;
    }
    for (int i = 0; i < s->work_count && plan->stage_count &&
                    s->problem->job.objective == OBJECTIVE_ITERATION_TIME;
         i++) {
        int64_t other_ns = s->work[i].number == s->best_number ? 0 : s->work[i].iteration_ns;
        if (other_ns > 0 && (!plan->runner_up_ns || other_ns < plan->runner_up_ns))
            plan->runner_up_ns = other_ns;
    }
    plan->bound_ns =
        bound_stated(plan->bound_ns, plan->iteration_ns, plan->stage_count ? s->shown_bound_ns : 0);
    l->iteration_ns = plan->iteration_ns, l->bound_ns = plan->bound_ns;
    l->chosen = plan->stage_count ? s->best_number : -1;
    assert(l->chosen >= -1 && l->chosen < l->count);
    assert(!plan->stage_count || layouts_fate(l, l->chosen) != FATE_REFUSED);
    settle_work(s);
    layouts_count(l);
}

// Until here the plan's time is the value that layouts are compared by.
static enum status state_objective(const struct search *s, struct plan *plan, struct error *err)
{
    struct schedule schedule;
    struct priced *priced = TAKE(s->arena, 1, struct priced);
    struct problem *one = TAKE(s->arena, 1, struct problem);
    plan->objective = s->problem->job.objective;
    if (plan->objective == OBJECTIVE_ITERATION_TIME) return OK;
    if (!plan->stage_count) plan->bound_ns = 0; // of whose micro-batch?
    if (!plan->stage_count) return OK;
    *one = problem_with_layout(s->problem, &plan->layout);
    TRY(price_problem(priced, one, s->arena, err));
    struct schedule_request request = schedule_request_of(priced);
    TRY(schedule_build(&schedule, &request, s->arena, err));
    TRY(objective_state_batch(plan, priced, &schedule, s->arena, err));
    plan->outcome = plan_gap(plan) <= s->settings->gap ? OUTCOME_OPTIMAL : OUTCOME_OPEN;
    return OK;
}

static void release_shared(void *shared) { munmap(shared, sizeof(int)); }

static enum status begin(struct search *s, struct layouts_result *r, struct error *err)
{
    const struct problem *p = s->problem;
    void *shared =
        mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return fail(err, SYSTEM, "no memory to share with worker processes");
    arena_defer(s->arena, release_shared, shared);
    s->told = shared;
    s->limits = problem_space_limits(p);
    s->layouts = &r->layouts;
    s->queue.arena = s->arena;
    r->layouts = (struct layouts){.name = p->name,
                                  .base = p->job.layout,
                                  .space = p->job.space,
                                  .devices = s->limits.devices,
                                  .global_batch = p->job.global_batch,
                                  .sequence = p->job.sequence,
                                  .layers = p->model.layer_count,
                                  .gap_asked = s->settings->gap,
                                  .objective = p->job.objective,
                                  .chosen = -1};
    TRY(prepare_scan(s, err));
    s->context = (struct layouts_context){p, s->settings, s->told};
    struct worker_settings workers = {.count = s->settings->threads,
                                      .memory_limit_bytes = s->settings->memory_limit_bytes,
                                      .run = layouts_serve,
                                      .context = &s->context};
    return worker_pool_open(&s->pool, &workers, s->arena, err);
}

enum status layouts_search(struct layouts_result *r, const struct problem *problem,
                           const struct solve_settings *settings, const volatile int *stop,
                           struct arena *arena, struct error *err)
{
    struct search s = {.problem = problem,
                       .settings = settings,
                       .watch = watch_begin(stop, settings->time_limit_s),
                       .best_number = -1,
                       .arena = arena};
    *r = (struct layouts_result){0};
    TRY(problem_check(problem, err));
    TRY(begin(&s, r, err));
    find_first(&s);
    report_scan(&s, "every layout is priced");
    if (!should_stop(&s) && scan(&s)) {
        sort_open(&s);
        scout(&s);
        TRY(run(&s, err));
    }
    worker_pool_close(s.pool);
    take_first(&s);
    finish(&s, r, settle(&s));
    return state_objective(&s, &r->solved.plan, err);
}
