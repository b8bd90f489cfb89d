// A stage lies between two looks at the data. Before each stage, the cells that are not narrow
// enough are taken by the width of their intervals, widest first, as long as the remaining time
// should bring them to their next look; the others stop. So the budget, which depends on the
// measured times, ends a cell at a look, as the width does. Only a signal, or a machine so much
// slower than expected that the budget is exceeded by a tenth, stops within a stage. Before the
// first look the budget itself stops: one round is always taken, after warm-ups for half of it.
#include "measure/sampling/rounds.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "data/base/grow.h"
#include "data/numbers/intervals.h"
#include "data/base/random.h"

static const double progress_every_s = 0.2, condition_every_s = 0.02, overrun = 1.1,
                    clock_change = 0.02, warm_up_share = 0.5;

struct run {
    const struct backend *backend;
    void *session;
    struct cell *cells;
    int cell_count;
    const struct rounds_settings *settings;
    struct rounds_result *result;
    struct arena *arena;
    int *order;
    uint64_t seed;
    double printed_s, condition_s; // when last
    struct condition condition;
    bool has_condition;
};

static void look_at_clock(struct run *r)
{
    r->result->elapsed_s = backend_seconds(r->backend, r->session) - r->settings->begin_s;
}

static double cell_cost_s(const struct cell *cell)
{
    int calls = cell->sample.repetitions + cell->sample.warm_ups;
    return calls ? cell->spent_s / calls : 0;
}

// ---- one repetition

static void read_condition(struct run *r)
{
    double now = r->result->elapsed_s;
    if (!r->backend->condition || (r->has_condition && now - r->condition_s < condition_every_s))
        return;
    r->condition = (struct condition){0};
    r->has_condition = r->backend->condition(r->session, &r->condition);
    r->condition_s = now;
}

static bool is_same_condition(const struct condition *a, const struct condition *b)
{
    return a->slowdown == b->slowdown &&
           fabs(a->clock_hz - b->clock_hz) <= clock_change * a->clock_hz;
}

// At the first repetition of a stage, and at every change.
static void note_condition(struct run *r, struct sample *s, bool first_of_stage)
{
    if (!r->has_condition) return;
    int n = s->condition_count;
    if (n && !first_of_stage && is_same_condition(&s->conditions[n - 1], &r->condition)) return;
    if (!(n & (n - 1)))
        s->conditions = arena_grow(r->arena, s->conditions, (size_t)n, n ? 2 * (size_t)n : 1,
                                   sizeof *s->conditions);
    s->conditions[n] = r->condition;
    s->conditions[n].first = s->repetitions;
    s->condition_count++;
}

static void make_room(struct cell *cell, struct arena *arena)
{
    struct sample *s = &cell->sample;
    if (cell->target <= cell->capacity) return;
    s->seconds = arena_grow(arena, s->seconds, (size_t)cell->capacity, (size_t)cell->target,
                            sizeof *s->seconds);
    cell->capacity = cell->target;
}

static void repeat(struct run *r, struct cell *cell, bool first_of_stage)
{
    struct sample *s = &cell->sample;
    read_condition(r);
    note_condition(r, s, first_of_stage);
    double begin_s = r->result->elapsed_s;
    assert(s->repetitions < cell->target && cell->target <= cell->capacity);
    s->seconds[s->repetitions] = r->backend->repeat(r->session, cell);
    assert(isfinite(s->seconds[s->repetitions]) && s->seconds[s->repetitions] >= 0);
    s->repetitions++;
    look_at_clock(r);
    assert(r->result->elapsed_s >= begin_s); // a clock that never goes back
    cell->spent_s += r->result->elapsed_s - begin_s;
    r->result->repetitions++;
}

// After a layer that takes about as long, so that both are of the same minutes.
static void take_yardstick(struct run *r, const struct cell *after)
{
    struct cell *y = r->settings->yardstick;
    if (!y || !after->layer || after->sample.flop < y->sample.flop / 4) return;
    double begin_s = r->result->elapsed_s;
    struct sample *s = &y->sample;
    GROW(r->arena, s->seconds, s->repetitions, y->capacity, 256);
    s->seconds[s->repetitions++] = r->backend->repeat(r->session, y);
    look_at_clock(r);
    y->spent_s += r->result->elapsed_s - begin_s;
}

// ---- the progress line

// The time for all cells to become narrow, if widths fall with the root of the count; at most the
// rest of the budget.
static double time_left(const struct run *r)
{
    double needed = 0, left = fmax(0, r->settings->budget_s - r->result->elapsed_s), least = 0;
    for (int i = 0; i < r->cell_count; i++) {
        const struct cell *cell = &r->cells[i];
        int n = cell->sample.repetitions, most = r->settings->repetitions_max;
        if (cell->done) continue;
        double ratio = cell->relative_width / r->settings->width, wanted = n * ratio * ratio;
        if (!cell->relative_width || wanted > most) wanted = most;
        if (cell->target > n) least += (cell->target - n) * cell_cost_s(cell);
        needed += fmax(wanted, cell->target) > n
                      ? (fmax(wanted, cell->target) - n) * cell_cost_s(cell)
                      : 0;
    }
    return fmax(least, fmin(needed, left));
}

static void print_progress(struct run *r)
{
    const struct rounds_result *now = r->result;
    if (!r->settings->progress || now->elapsed_s - r->printed_s < progress_every_s) return;
    fprintf(stderr,
            "\r%.1f s of %g s, about %.0f s left; %d repetitions, %d of %d operations narrow "
            "enough \033[K",
            now->elapsed_s, r->settings->budget_s, ceil(time_left(r)), now->repetitions, now->done,
            r->cell_count);
    fflush(stderr);
    r->printed_s = now->elapsed_s;
}

// ---- stages

static void shuffle(struct run *r)
{
    for (int i = r->cell_count - 1; i > 0; i--) {
        int j = random_below(&r->seed, i + 1), kept = r->order[i];
        r->order[i] = r->order[j];
        r->order[j] = kept;
    }
}

static bool may_go_on(struct run *r, double limit_s)
{
    if (r->settings->interrupted && r->settings->interrupted()) r->result->interrupted = true;
    return !r->result->interrupted && r->result->elapsed_s <= limit_s;
}

static void warm_up(struct run *r)
{
    for (int round = 0; round < r->settings->warm_ups; round++) {
        shuffle(r);
        for (int i = 0; i < r->cell_count; i++) {
            struct cell *cell = &r->cells[r->order[i]];
            if (!may_go_on(r, warm_up_share * r->settings->budget_s)) return;
            double begin_s = r->result->elapsed_s;
            r->backend->repeat(r->session, cell);
            look_at_clock(r);
            cell->spent_s += r->result->elapsed_s - begin_s;
            cell->sample.warm_ups++;
            print_progress(r);
        }
    }
}

// Takes every cell to its target, or as far as the limit allows; always to its first repetition.
static void run_stage(struct run *r, double limit_s)
{
    bool open = true, first = true;
    for (int i = 0; i < r->cell_count; i++) make_room(&r->cells[i], r->arena);
    while (open) {
        shuffle(r);
        open = false;
        for (int i = 0; i < r->cell_count; i++) {
            struct cell *cell = &r->cells[r->order[i]];
            if (cell->sample.repetitions >= cell->target) continue;
            if (!may_go_on(r, cell->sample.repetitions ? limit_s : HUGE_VAL)) return;
            repeat(r, cell, first);
            take_yardstick(r, cell);
            print_progress(r);
            open |= cell->sample.repetitions < cell->target;
        }
        first = false;
    }
}

static void look(struct run *r)
{
    for (int i = 0; i < r->cell_count; i++) {
        struct cell *cell = &r->cells[i];
        if (cell->done || !look_is_at(cell->sample.repetitions)) continue;
        struct arena_mark mark = arena_set_mark(r->arena);
        struct median m = sample_median(&cell->sample, r->arena);
        arena_reset(r->arena, mark);
        cell->relative_width = m.value > 0 ? (m.high - m.low) / m.value : 0;
        cell->done = sample_is_narrow(&cell->sample, r->settings->width, r->arena);
        r->result->done += cell->done;
    }
}

// The widest first; equal ones in the given order.
static int compare_cells(const void *a, const void *b)
{
    const struct cell *const *x = a, *const *y = b;
    double difference = (*y)->relative_width - (*x)->relative_width;
    return difference > 0 ? 1 : difference < 0 ? -1 : (*x > *y) - (*x < *y);
}

// Sets the targets of the next stage; false: no cell continues.
static bool plan_stage(struct run *r)
{
    struct arena_mark mark = arena_set_mark(r->arena);
    struct cell **widest = TAKE(r->arena, r->cell_count, struct cell *);
    double left_s = r->settings->budget_s - r->result->elapsed_s;
    bool open = false;
    for (int i = 0; i < r->cell_count; i++) widest[i] = &r->cells[i];
    qsort(widest, (size_t)r->cell_count, sizeof *widest, compare_cells);
    for (int i = 0; i < r->cell_count; i++) {
        struct cell *cell = widest[i];
        int next = look_after(cell->sample.repetitions);
        double cost_s = (next - cell->sample.repetitions) * cell_cost_s(cell);
        if (cell->done || !next || next > r->settings->repetitions_max || left_s <= 0 ||
            cost_s > left_s)
            continue;
        assert(next > cell->sample.repetitions && cost_s >= 0);
        cell->target = next;
        left_s -= cost_s;
        open = true;
    }
    arena_reset(r->arena, mark);
    return open;
}

static void run_stages(struct run *r)
{
    int most = r->settings->repetitions_max, first = look_after(r->settings->repetitions_min - 1);
    if (!first || first > most) first = look_after(0) > most ? most : look_after(0);
    for (int i = 0; i < r->cell_count; i++) r->cells[i].target = first;
    warm_up(r);
    run_stage(r, r->settings->budget_s);
    look(r);
    double limit_s = overrun * r->settings->budget_s;
    while (may_go_on(r, limit_s) && plan_stage(r)) {
        run_stage(r, limit_s);
        look(r);
    }
}

static void finish(struct run *r)
{
    for (int i = 0; i < r->cell_count; i++) {
        struct sample *s = &r->cells[i].sample;
        bool all = s->repetitions == r->settings->repetitions_max && s->repetitions < LOOK_FIRST;
        s->stopped_by = r->cells[i].done         ? "width"
                        : all                    ? "count"
                        : r->result->interrupted ? "interrupted"
                                                 : "budget";
        sample_flag_outliers(s, r->arena);
        r->result->outliers += s->outlier_count;
        assert(s->outlier_count <= s->repetitions);
        for (int k = 0; k < s->repetitions; k++) r->result->throttled += sample_is_throttled(s, k);
    }
    look_at_clock(r);
    if (r->settings->progress) fputs("\r\033[K", stderr);
}

void rounds_run(struct rounds_result *result, const struct backend *backend, void *session,
                struct cell *cells, int cell_count, const struct rounds_settings *settings,
                struct arena *arena)
{
    *result = (struct rounds_result){0};
    struct run r = {.backend = backend,
                    .session = session,
                    .cells = cells,
                    .cell_count = cell_count,
                    .settings = settings,
                    .result = result,
                    .arena = arena,
                    .order = TAKE(arena, cell_count, int),
                    .seed = settings->seed};
    for (int i = 0; i < cell_count; i++) r.order[i] = i;
    look_at_clock(&r);
    run_stages(&r);
    finish(&r);
}
