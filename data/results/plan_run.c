// The document of a run.
#include "data/results/plan_run.h"

#include <string.h>

const char *const runner_names[] = {"own", "torch", NULL};
const char *const run_clock_names[] = {"virtual", "wall", NULL};
const char *const run_event_names[] = {"forward",        "backward",      "weight",
                                       "send_forward",   "send_backward", "sync",
                                       "embedding_sync", "optimizer",     NULL};
#define TIME_MAX JSON_COUNT_MAX
static const char *const end_names[] = {"finished", "interrupted", NULL};

enum { RANKS_MAX = 65536, ITERATIONS_MAX = 100000, EVENTS_MAX = 1 << 22 };

static const struct member iteration_rows[] = {
    KEY_COUNT(run_iteration, ns, REQUIRED, ALWAYS_WRITTEN, 0, TIME_MAX),
    KEY_COUNT(run_iteration, wall_ns, REQUIRED, ALWAYS_WRITTEN, 0, TIME_MAX),
    KEY_COUNT(run_iteration, yardstick_ns, OPTIONAL, IF_SET, 0, TIME_MAX),
};
static MEMBERS(iteration, struct run_iteration, NULL, true, NULL);

static const struct member rank_rows[] = {
    KEY_INT(run_rank, replica, OPTIONAL, IF_SET, 0, RANKS_MAX),
    KEY_INT(run_rank, rank, REQUIRED, ALWAYS_WRITTEN, 0, STAGES_MAX - 1),
    KEY_INT(run_rank, tensor, OPTIONAL, IF_SET, 0, RANKS_MAX),
    KEY_TEXT(run_rank, host, OPTIONAL),
    KEY_COUNT(run_rank, peak_bytes, OPTIONAL, IF_SET, 0, JSON_COUNT_MAX),
};
static MEMBERS(rank, struct run_rank, NULL, true, NULL);

static const struct run_event event_initial = {.micro_batch = -1};
static const struct member event_rows[] = {
    KEY_NAME(run_event, kind, REQUIRED, ALWAYS_WRITTEN, run_event_names),
    KEY_INT(run_event, iteration, REQUIRED, ALWAYS_WRITTEN, 0, ITERATIONS_MAX),
    KEY_INT(run_event, replica, OPTIONAL, IF_SET, 0, RANKS_MAX),
    KEY_INT(run_event, rank, REQUIRED, ALWAYS_WRITTEN, 0, STAGES_MAX - 1),
    KEY_INT(run_event, tensor, OPTIONAL, IF_SET, 0, RANKS_MAX),
    KEY_INT(run_event, stage, REQUIRED, ALWAYS_WRITTEN, 0, STAGES_MAX - 1),
    KEY_INT(run_event, micro_batch, OPTIONAL, IF_STATED, 0, MICRO_BATCHES_MAX - 1),
    KEY_INT(run_event, slice, OPTIONAL, IF_SET, 0, SLICES_MAX - 1),
    KEY_COUNT(run_event, start_ns, REQUIRED, ALWAYS_WRITTEN, 0, TIME_MAX),
    KEY_COUNT(run_event, end_ns, REQUIRED, ALWAYS_WRITTEN, 0, TIME_MAX),
    KEY_COUNT(run_event, wall_start_ns, OPTIONAL, IF_SET, 0, TIME_MAX),
    KEY_COUNT(run_event, wall_end_ns, OPTIONAL, IF_SET, 0, TIME_MAX),
};

GET_MEMBER(finish_event)
{
    const struct run_event *e = to;
    const struct plan_run *r = context;
    if (e->end_ns < e->start_ns || e->wall_end_ns < e->wall_start_ns)
        return json_refuse(value, err, "expected an end that is not before the start");
    if (e->iteration >= r->iteration_count)
        return json_refuse(value, err, "iteration: expected one of the %d iterations, found %d",
                           r->iteration_count, e->iteration);
    if ((e->micro_batch < 0) != (e->kind >= EVENT_SYNC && e->kind <= EVENT_OPTIMIZER))
        return json_refuse(value, err,
                           "micro_batch: expected for passes and messages, and only there");
    for (int i = 0; i < r->rank_count; i++)
        if (r->ranks[i].rank == e->rank && r->ranks[i].replica == e->replica &&
            r->ranks[i].tensor == e->tensor)
            return OK;
    return json_refuse(value, err, "rank: expected one of the %d ranks, found %d", r->rank_count,
                       e->rank);
}
static MEMBERS(event, struct run_event, &event_initial, true, finish_event);

// The samples' own checks refer to the samples.
GET_MEMBER(get_samples)
{
    return json_is_present(value) ? members_read(value, &samples_within_members, to, to, arena, err)
                                  : OK;
}

PUT_MEMBER(put_samples)
{
    if (((const struct samples *)from)->sample_count)
        members_write(w, key, &samples_within_members, from, from);
}

GET_MEMBER(finish_run)
{
    const struct plan_run *r = to;
    if (!r->iteration_count || !r->rank_count) {
        struct json at = json_member(value, r->rank_count ? "iterations" : "ranks", arena);
        return json_refuse(&at, err, "expected at least one, found none");
    }
    return OK;
}

static const struct member plan_run_rows[] = {
    KEY_TEXT(plan_run, name, REQUIRED),
    KEY_NAME(plan_run, with, REQUIRED, ALWAYS_WRITTEN, runner_names),
    KEY_NAME(plan_run, clock, REQUIRED, ALWAYS_WRITTEN, run_clock_names),
    KEY_NAME(plan_run, end, OPTIONAL, IF_SET, end_names),
    KEY_LIST(plan_run, iterations, iteration_count, REQUIRED, ALWAYS_WRITTEN, ITERATIONS_MAX,
             &iteration_members),
    KEY_LIST(plan_run, ranks, rank_count, REQUIRED, ALWAYS_WRITTEN, RANKS_MAX, &rank_members),
    KEY_LIST(plan_run, events, event_count, REQUIRED, ALWAYS_WRITTEN, EVENTS_MAX, &event_members),
    KEY_COUNT(plan_run, yardstick_ns, OPTIONAL, IF_SET, 0, TIME_MAX),
    KEY_OBJECT_PART("samples", offsetof(struct plan_run, samples), &samples_within_members,
                    get_samples, put_samples),
};
MEMBERS(plan_run, struct plan_run, NULL, false, finish_run);

enum status plan_run_load(struct plan_run *r, const char *path, struct arena *arena,
                          struct error *err)
{
    *r = (struct plan_run){0};
    path = path_of_document(path, "run.json", arena);
    return document_load(&r->document, path, "plumbline.run", &plan_run_members, r, r, arena, err);
}

enum status plan_run_save(const struct plan_run *r, const char *path, struct arena *arena,
                          struct error *err)
{
    (void)arena;
    return document_save(&r->document, "plumbline.run", &plan_run_members, r, r, path, arena, err);
}

int plan_run_typical(const struct plan_run *r, struct arena *arena)
{
    int *order = TAKE(arena, r->iteration_count, int);
    for (int i = 0; i < r->iteration_count; i++) {
        int at = i;
        for (; at > 0 && r->iterations[order[at - 1]].ns > r->iterations[i].ns; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return order[(r->iteration_count - 1) / 2];
}

int64_t plan_run_median_ns(const struct plan_run *r, struct arena *arena)
{
    return r->iterations[plan_run_typical(r, arena)].ns;
}

static int64_t scaled(int64_t ns, double by) { return (int64_t)((double)ns * by + 0.5); }

void plan_run_at_speed(struct plan_run *r, double yardstick_s)
{
    if (!r->yardstick_ns || yardstick_s <= 0 || r->clock != CLOCK_VIRTUAL) return;
    double by = 1e9 * yardstick_s / (double)r->yardstick_ns;
    for (int i = 0; i < r->iteration_count; i++)
        r->iterations[i].ns = scaled(r->iterations[i].ns, by);
    for (int i = 0; i < r->event_count; i++) {
        r->events[i].start_ns = scaled(r->events[i].start_ns, by);
        r->events[i].end_ns = scaled(r->events[i].end_ns, by);
    }
    for (int i = 0; i < r->samples.sample_count; i++) {
        struct sample *s = &r->samples.samples[i];
        for (int k = 0; k < s->repetitions && s->kind == SAMPLE_LAYER; k++) s->seconds[k] *= by;
    }
    r->speed = by;
}

enum status plan_run_check(const struct plan_run *r, const struct plan *plan, struct error *err)
{
    const char *hash = source_hash(&r->document, "plan");
    if (!hash || strcmp(hash, plan->document.sha256))
        return refuse(err, "%s: made_from: expected the plan %s (%.12s...), found %s%.12s...",
                      r->document.path, plan->document.path, plan->document.sha256,
                      hash ? "" : "no plan", hash ? hash : "");
    for (int i = 0; i < r->event_count; i++)
        if (r->events[i].stage >= plan->stage_count ||
            r->events[i].micro_batch >= plan->micro_batches ||
            r->events[i].slice >= plan->layout.slice_count)
            return refuse(err, "%s: events[%d]: expected a stage, micro-batch and slice of %s",
                          r->document.path, i, plan->document.path);
    return OK;
}
