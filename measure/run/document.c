// What the ranks noted, gathered at the first one: the document.
#include <string.h>

#include "data/numbers/intervals.h"
#include "measure/run/running.h"
#include "measure/sampling/rounds.h"

void *run_gather(struct running *r, int from, const void *own, int *count, size_t each)
{
    if (r->self == from && !from) return TAKE_COPY(r->arena, (const char *)own, *count * (int)each);
    if (r->self == from) {
        ranks_send(r->ranks, count, (int)sizeof *count, 0);
        ranks_send(r->ranks, own, (int)(each * (size_t)*count), 0);
        return NULL;
    }
    if (r->self) return NULL;
    ranks_receive(r->ranks, count, (int)sizeof *count, from);
    void *to = arena_take(r->arena, (size_t)*count, each);
    ranks_receive(r->ranks, to, (int)(each * (size_t)*count), from);
    return to;
}

static void gather_events(struct running *r, struct plan_run *to)
{
    for (int from = 0; from < ranks_count(r->ranks); from++) {
        int count = r->self == from ? r->carried.count : 0;
        struct run_event *events =
            run_gather(r, from, r->carried.events, &count, sizeof *r->carried.events);
        if (r->self) continue;
        to->events = arena_grow(r->arena, to->events, (size_t)to->event_count,
                                (size_t)(to->event_count + count), sizeof *to->events);
        memcpy(to->events + to->event_count, events, (size_t)count * sizeof *events);
        to->event_count += count;
    }
}

static void gather_cells(struct running *r, struct samples *to)
{
    for (int c = 0; c < r->cell_count; c++) {
        if (c == r->yardstick) continue;
        struct sample *s = &r->cells[c].sample;
        double *all = NULL;
        int sum = 0;
        for (int from = 0; from < ranks_count(r->ranks); from++) {
            int count = r->self == from ? r->times[c].count : 0;
            double *seconds = run_gather(r, from, r->times[c].seconds, &count, sizeof *seconds);
            if (r->self) continue;
            all = arena_grow(r->arena, all, (size_t)sum, (size_t)(sum + count), sizeof *all);
            memcpy(all + sum, seconds, (size_t)count * sizeof *all);
            sum += count;
        }
        if (!sum) continue;
        s->seconds = all, s->repetitions = sum, s->stopped_by = "count";
        s->warm_ups = 1;
        to->samples[to->sample_count++] = *s;
    }
}

static void add_lanes(struct running *r, struct samples *to)
{
    to->samples = arena_grow(r->arena, to->samples, (size_t)to->sample_count,
                             (size_t)(to->sample_count + 2 * r->lanes.count), sizeof *to->samples);
    for (int i = 0; i < r->lanes.count; i++)
        for (int full = 0; full < 2; full++) {
            struct lane *l = &r->lanes.items[i];
            bool seen = false;
            for (int k = 0; k < i && !full; k++)
                seen |= r->lanes.items[k].from == l->from && r->lanes.items[k].to == l->to;
            if (seen) continue;
            to->samples[to->sample_count++] =
                (struct sample){.kind = SAMPLE_LINK,
                                .operation = "send",
                                .dimensions = {full ? l->bytes : 0},
                                .dimension_count = 1,
                                .precision = FP32,
                                .bytes = full ? (double)l->bytes : 0,
                                .from = l->from,
                                .to = l->to,
                                .alone = true,
                                .shared = true, // what others use can only lengthen it
                                .in_a_row = 1,
                                .busy_devices = 1,
                                .seconds = full ? l->seconds : l->empty_s,
                                .repetitions = LANE_REPETITIONS,
                                .stopped_by = "count"};
        }
}

// From the start of each iteration.
static void shift_events(struct plan_run *to, struct arena *arena)
{
    int64_t *first = TAKE(arena, to->iteration_count, int64_t);
    for (int i = 0; i < to->iteration_count; i++) first[i] = INT64_MAX;
    for (int i = 0; i < to->event_count; i++) {
        struct run_event *e = &to->events[i];
        first[e->iteration] = smaller(first[e->iteration], e->start_ns);
    }
    for (int i = 0; i < to->event_count; i++) {
        to->events[i].start_ns -= first[to->events[i].iteration];
        to->events[i].end_ns -= first[to->events[i].iteration];
    }
}

static void take_ranks(const struct running *r, const int64_t *peaks, struct plan_run *to)
{
    int of_replica = r->rank_count * r->tensor_count;
    to->rank_count = run_process_count(r);
    to->ranks = TAKE(r->arena, to->rank_count, struct run_rank);
    for (int i = 0; i < to->rank_count; i++)
        to->ranks[i] = (struct run_rank){i / of_replica, i % of_replica / r->tensor_count,
                                         i % r->tensor_count, r->roster.endpoints[i].host,
                                         peaks[i]};
}

static void describe(struct running *r, struct samples *s, const struct run_words *words)
{
    r->backend->describe(r->session, &s->machine, r->arena);
    if (words->name) s->machine.gpu = words->name;
    s->machine.taken_at = record_time(r->arena);
    s->machine.library =
        arena_print(r->arena, "%s; %s", s->machine.library, ranks_library(r->arena));
    s->endpoints = r->roster.endpoints, s->endpoint_count = r->roster.count;
    record_launch(s, words->seed, words->command, r->arena);
}

enum status run_save(struct running *r, const struct run_iteration *iterations, int count,
                     const struct run_words *words, struct error *err)
{
    struct plan_run to = {.name = r->plan->name,
                          .with = RUNNER_OWN,
                          .clock = CLOCK_VIRTUAL,
                          .end = words->interrupted ? RUN_INTERRUPTED : RUN_FINISHED,
                          .yardstick_ns = iterations[count - 1].yardstick_ns,
                          .iteration_count = count};
    to.samples.samples = TAKE(r->arena, r->cell_count, struct sample);
    int64_t *peaks = TAKE(r->arena, run_process_count(r), int64_t), own = run_peak_bytes(r);
    ranks_tell_all(r->ranks, &own, (int)sizeof own, peaks);
    gather_events(r, &to);
    gather_cells(r, &to.samples);
    run_gather_rings(r, &to.samples);
    if (r->self) return OK;
    to.iterations = TAKE_COPY(r->arena, iterations, count);
    add_lanes(r, &to.samples);
    shift_events(&to, r->arena);
    take_ranks(r, peaks, &to);
    describe(r, &to.samples, words);
    for (int i = 0; i < to.samples.sample_count; i++)
        sample_flag_outliers(&to.samples.samples[i], r->arena);
    struct source source = source_of("plan", &r->plan->document, words->output, r->arena);
    to.document.sources = &source, to.document.source_count = 1;
    return plan_run_save(&to, words->output, r->arena, err);
}
