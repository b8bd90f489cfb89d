// Stopping by the width of an interval looks at the data before deciding to go on, which makes the reached coverage a
// little less than stated; the repetitions are all kept, so that anybody can judge for himself.
#include "measure/rounds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "measure/random.h"

static const double coverage = 0.95;
static const double progress_every_s = 0.2;

double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool is_narrow(const struct sample *s, double width, struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    double *sorted = arena_grow(arena, s->seconds, (size_t)s->repetitions, (size_t)s->repetitions, sizeof *sorted);
    qsort(sorted, (size_t)s->repetitions, sizeof *sorted, compare_numbers);
    double median, low, high;
    double reached = median_interval(sorted, s->repetitions, coverage, &median, &low, &high);
    arena_reset(arena, mark);
    return reached >= coverage && high - low <= width * median;
}

static void repeat(const struct backend *backend, void *session, struct cell *cell,
                   const struct rounds_settings *settings, struct arena *arena)
{
    struct sample *s = &cell->sample;
    if (s->repetitions == cell->capacity) {
        int capacity = cell->capacity ? 2 * cell->capacity : 2 * settings->repetitions_min;
        s->seconds = arena_grow(arena, s->seconds, (size_t)cell->capacity, (size_t)capacity, sizeof *s->seconds);
        cell->capacity = capacity;
    }
    s->seconds[s->repetitions++] = backend->repeat(session, cell);
    if (s->repetitions < settings->repetitions_min) return;
    cell->done = is_narrow(s, settings->width, arena);
}

static void shuffle(int *order, int count, uint64_t *seed)
{
    for (int i = count - 1; i > 0; i--) {
        int j = random_below(seed, i + 1), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

static void print_progress(const struct rounds_result *r, int cell_count, const struct rounds_settings *settings,
                           double *printed_s)
{
    if (!settings->progress || r->elapsed_s - *printed_s < progress_every_s) return;
    fprintf(stderr, "\r%6.1f s of %g s, %d repetitions, %d of %d operations narrow enough ", r->elapsed_s,
            settings->budget_s, r->repetitions, r->done, cell_count);
    fflush(stderr);
    *printed_s = r->elapsed_s;
}

void rounds_run(struct rounds_result *r, const struct backend *backend, void *session, struct cell *cells,
                int cell_count, const struct rounds_settings *settings, struct arena *arena)
{
    int *order = TAKE(arena, cell_count, int);
    for (int i = 0; i < cell_count; i++) order[i] = i;
    uint64_t seed = settings->seed;
    double printed_s = 0;
    *r = (struct rounds_result){0};
    bool open = true;
    for (int round = -settings->warm_ups; open; round++) {
        shuffle(order, cell_count, &seed);
        open = false;
        for (int i = 0; i < cell_count; i++) {
            struct cell *cell = &cells[order[i]];
            r->elapsed_s = clock_seconds() - settings->begin_s;
            print_progress(r, cell_count, settings, &printed_s);
            if (round < 0) {
                backend->repeat(session, cell);
                cell->sample.warm_ups++;
                open = true;
                continue;
            }
            bool wanted = cell->sample.repetitions < settings->repetitions_min || r->elapsed_s < settings->budget_s;
            if (cell->done || !wanted || cell->sample.repetitions == settings->repetitions_max) continue;
            repeat(backend, session, cell, settings, arena);
            r->repetitions++;
            r->done += cell->done;
            open = true;
        }
    }
    for (int i = 0; i < cell_count; i++) cells[i].sample.stopped_by = cells[i].done ? "width" : "budget";
    r->elapsed_s = clock_seconds() - settings->begin_s;
    if (settings->progress) fputs("\r\033[K", stderr);
}
