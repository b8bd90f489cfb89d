// A trace for chrome://tracing and Perfetto: one process per rank, one thread per stream, complete
// events in microseconds. Messages are arrows, pure delays are asynchronous events (they may
// overlap), activation bytes are a counter. Without a barrier it shows one iteration of many.

#include "data/kinds/schedules.h"
#include "solve/report/report.h"

enum track { TRACK_COMPUTE, TRACK_LINK_FORWARD, TRACK_LINK_BACKWARD, TRACK_SYNC, TRACK_COUNT };
enum { TRACE_OPERATIONS_MAX = 4 << 20 };

struct tracer {
    struct json_writer json;
    const struct plan *plan;
    const struct report_replay *replay;
    bool *critical;    // [operation]
    bool *in_stream;   // [operation]
    int first_process; // of the measured one's: after the plan's
    int *compute; // [((backward x stages + stage) x micro-batches + micro-batch) x slices + slice]:
                  // operation
};

static double microseconds(int64_t ns) { return (double)ns / 1000; }

static void open_event(struct tracer *t, const char *phase, const char *name, int64_t at_ns,
                       int rank, enum track track)
{
    json_open_flat_object(&t->json, NULL);
    json_put_text(&t->json, "ph", phase);
    json_put_text(&t->json, "name", name);
    json_put_number(&t->json, "ts", microseconds(at_ns));
    json_put_count(&t->json, "pid", t->first_process + rank);
    json_put_count(&t->json, "tid", track);
}

static void put_metadata(struct tracer *t, const char *what, int rank, int track, const char *key,
                         const char *text, int64_t count)
{
    json_open_flat_object(&t->json, NULL);
    json_put_text(&t->json, "ph", "M");
    json_put_text(&t->json, "name", what);
    json_put_count(&t->json, "pid", t->first_process + rank);
    json_put_count(&t->json, "tid", track);
    json_open_flat_object(&t->json, "args");
    if (text) json_put_text(&t->json, key, text);
    else json_put_count(&t->json, key, count);
    json_close_object(&t->json);
    json_close_object(&t->json);
}

// "stage 3: layers 9-11 on h100", "rank 1: layers 3-5, 15-17 on h100".
static const char *name_of_rank(const struct tracer *t, int rank, struct arena *arena)
{
    const struct schedule_request *q = &t->replay->schedule.request;
    const char *name =
        arena_print(arena, "%s %d: layers", q->virtual_stages > 1 ? "rank" : "stage", rank);
    for (int k = 0; k < q->virtual_stages; k++) {
        const struct plan_stage *stage = &t->plan->stages[schedule_stage_of(q, rank, k)];
        name = arena_print(arena, "%s%s %d-%d", name, k ? "," : "", stage->first_layer,
                           stage->first_layer + stage->layer_count - 1);
    }
    return arena_print(arena, "%s on %s", name, t->plan->group_names[t->plan->stages[rank].group]);
}

static void put_names(struct tracer *t, struct arena *arena)
{
    static const char *const tracks[TRACK_COUNT] = {"compute", "link forward", "link backward",
                                                    "sync"};
    for (int s = 0; s < t->replay->schedule.request.rank_count; s++) {
        const char *name = arena_print(arena, "%s%s", t->first_process ? "measured, " : "",
                                       name_of_rank(t, s, arena));
        put_metadata(t, "process_name", s, 0, "name", name, 0);
        put_metadata(t, "process_sort_index", s, 0, "sort_index", NULL, t->first_process + s);
        for (int track = 0; track < TRACK_COUNT; track++) {
            put_metadata(t, "thread_name", s, track, "name", tracks[track], 0);
            put_metadata(t, "thread_sort_index", s, track, "sort_index", NULL, track);
        }
    }
}

static const char *category_of(int symbol_kind)
{
    int kind = symbol_base_kind(symbol_kind);
    if (kind >= SYMBOL_SEND_FORWARD && kind < SYMBOL_EMBEDDING_SYNC) return "transfer";
    if (kind >= SYMBOL_AWAY) return "swap";
    return kind >= SYMBOL_EMBEDDING_SYNC ? "sync" : symbol_kind_name(kind);
}

enum { NAME_MAX_BYTES = 64 };

static const char *name_of(const struct report_replay *r, int operation, char name[NAME_MAX_BYTES])
{
    const struct schedule_request *q = &r->schedule.request;
    int symbol_kind = report_kind_of(r, operation), kind = symbol_base_kind(symbol_kind),
        micro_batch = r->schedule.operations[operation].micro_batch;
    if (micro_batch < 0) return symbol_kind_name(kind);
    if (kind > SYMBOL_WEIGHT)
        snprintf(name, NAME_MAX_BYTES, "%s %d", symbol_kind_name(symbol_kind), micro_batch);
    else if (q->virtual_stages > 1)
        snprintf(name, NAME_MAX_BYTES, "%c%d stage %d", "FBW"[kind], micro_batch,
                 report_place_of(r, operation));
    else if (q->slice_count > 1)
        snprintf(name, NAME_MAX_BYTES, "%c%d slice %d", "FBW"[kind], micro_batch,
                 symbol_slice(symbol_kind));
    else snprintf(name, NAME_MAX_BYTES, "%c%d", "FBW"[kind], micro_batch);
    return name;
}

static void put_slice(struct tracer *t, int operation, int rank, enum track track)
{
    const struct report_replay *r = t->replay;
    char name[NAME_MAX_BYTES];
    open_event(t, "X", name_of(r, operation, name), r->start_ns[operation], rank, track);
    json_put_number(&t->json, "dur", microseconds(r->end_ns[operation] - r->start_ns[operation]));
    json_put_text(&t->json, "cat", category_of(report_kind_of(r, operation)));
    json_open_flat_object(&t->json, "args");
    if (r->schedule.operations[operation].micro_batch >= 0)
        json_put_count(&t->json, "micro_batch", r->schedule.operations[operation].micro_batch);
    json_put_bool(&t->json, "critical", t->critical[operation]);
    json_close_object(&t->json);
    json_close_object(&t->json);
}

static void put_streams(struct tracer *t)
{
    const struct schedule *s = &t->replay->schedule;
    for (int i = 0; i < s->stream_count; i++) {
        const struct stream *stream = &s->streams[i];
        int p = s->request.rank_count;
        bool onward = p > 2 ? stream->to_rank == (stream->rank + 1) % p
                            : stream->to_rank > stream->rank;
        enum track track = stream->kind == STREAM_COMPUTE ? TRACK_COMPUTE
                           : stream->kind == STREAM_SYNC  ? TRACK_SYNC
                           : onward                       ? TRACK_LINK_FORWARD
                                                          : TRACK_LINK_BACKWARD;
        for (int k = 0; k < stream->count; k++) {
            t->in_stream[stream->operations[k]] = true;
            put_slice(t, stream->operations[k], stream->rank, track);
        }
    }
}

// Operations on no stream: delays, and syncs beside those in the stream, each with an id of its
// own, and the embedding sync, shown at its first stage.
static void put_others(struct tracer *t)
{
    const struct report_replay *r = t->replay;
    for (int i = 0; i < r->schedule.operation_count; i++) {
        if (t->in_stream[i]) continue;
        int rank = schedule_rank_of(&r->schedule.request, r->schedule.operations[i].stage);
        bool syncs = report_kind_of(r, i) == SYMBOL_SYNC,
             swaps = report_kind_of(r, i) >= SYMBOL_AWAY && r->schedule.request.across_passes;
        if (report_kind_of(r, i) == SYMBOL_EMBEDDING_SYNC) {
            put_slice(t, i, rank, TRACK_SYNC);
            continue;
        }
        for (int end = 0; end < 2; end++) {
            char name[NAME_MAX_BYTES];
            open_event(t, end ? "e" : "b", name_of(r, i, name), end ? r->end_ns[i] : r->start_ns[i],
                       rank, syncs ? TRACK_SYNC : TRACK_COMPUTE);
            json_put_text(&t->json, "cat", syncs ? "sync" : swaps ? "swap" : "delay");
            json_put_count(&t->json, "id", i);
            json_close_object(&t->json);
        }
    }
}

static int *compute_of(const struct tracer *t, int backward, int stage, int micro_batch, int slice)
{
    const struct schedule_request *q = &t->replay->schedule.request;
    size_t place = ((size_t)backward * (size_t)q->stage_count + (size_t)stage) *
                       (size_t)q->micro_batches +
                   (size_t)micro_batch;
    return &t->compute[place * (size_t)q->slice_count + (size_t)slice];
}

// Arrows bind to the slice at their time: the middle of both ends' computation.
static void put_arrow(struct tracer *t, int from, int to, int64_t id)
{
    const struct report_replay *r = t->replay;
    const int ends[] = {from, to};
    for (int i = 0; i < 2; i++) {
        open_event(t, i ? "f" : "s", "message", (r->start_ns[ends[i]] + r->end_ns[ends[i]]) / 2,
                   schedule_rank_of(&r->schedule.request, r->schedule.operations[ends[i]].stage),
                   TRACK_COMPUTE);
        json_put_text(&t->json, "cat", "message");
        json_put_count(&t->json, "id", id);
        if (i) json_put_text(&t->json, "bp", "e");
        json_close_object(&t->json);
    }
}

static void put_arrows(struct tracer *t)
{
    const struct schedule_request *q = &t->replay->schedule.request;
    int64_t id = 0;
    for (int s = 0; s + 1 < q->stage_count; s++)
        for (int m = 0; m < q->micro_batches && schedule_sends(q, s); m++)
            for (int slice = 0; slice < q->slice_count; slice++) {
                put_arrow(t, *compute_of(t, 0, s, m, slice), *compute_of(t, 0, s + 1, m, slice),
                          id++);
                if (schedule_is_local(q, s)) continue;
                put_arrow(t, *compute_of(t, 1, s + 1, m, slice), *compute_of(t, 1, s, m, slice),
                          id++);
            }
}

static void put_counters(struct tracer *t)
{
    const struct report_replay *r = t->replay;
    int release = schedule_splits_backward(r->schedule.request.kind) ? SYMBOL_WEIGHT
                                                                     : SYMBOL_BACKWARD;
    for (int i = 0; i < r->schedule.stream_count; i++) {
        const struct stream *stream = &r->schedule.streams[i];
        if (stream->kind != STREAM_COMPUTE) continue;
        double bytes = 0;
        for (int k = 0; k < stream->count; k++) {
            int kind = report_kind_of(r, stream->operations[k]),
                stage = report_place_of(r, stream->operations[k]);
            if (kind != SYMBOL_FORWARD && kind != release)
                continue; // of the first slice, which starts and ends the micro-batch
            double each = (double)t->plan->stages[stage].memory.activation_bytes /
                          r->schedule.in_flight[stage];
            bytes += kind == SYMBOL_FORWARD ? each : -each;
            int64_t at = kind == SYMBOL_FORWARD ? r->start_ns[stream->operations[k]]
                                                : r->end_ns[stream->operations[k]];
            open_event(t, "C", "activations", at, stream->rank, TRACK_COMPUTE);
            json_open_flat_object(&t->json, "args");
            json_put_number(&t->json, "GB", bytes > 0 ? bytes / 1e9 : 0);
            json_close_object(&t->json);
            json_close_object(&t->json);
        }
    }
}

static void prepare(struct tracer *t, struct arena *arena)
{
    const struct report_replay *r = t->replay;
    t->critical = TAKE(arena, r->schedule.operation_count, bool);
    t->in_stream = TAKE(arena, r->schedule.operation_count, bool);
    const struct schedule_request *q = &r->schedule.request;
    t->compute =
        TAKE(arena,
             (size_t)2 * (size_t)q->stage_count * (size_t)q->micro_batches * (size_t)q->slice_count,
             int);
    for (int i = 0; i < r->path_length; i++) t->critical[r->path[i]] = true;
    for (int i = 0; i < r->schedule.operation_count; i++) {
        int symbol_kind = report_kind_of(r, i), kind = symbol_base_kind(symbol_kind);
        if (kind <= SYMBOL_BACKWARD)
            *compute_of(t, kind == SYMBOL_BACKWARD, report_place_of(r, i),
                        r->schedule.operations[i].micro_batch, symbol_slice(symbol_kind)) = i;
    }
}

static void put_all(struct tracer *t, struct arena *arena)
{
    put_names(t, arena);
    put_streams(t);
    put_others(t);
    put_arrows(t);
    put_counters(t);
}

enum status report_trace(struct text *out, const struct plan *plan,
                         const struct report_replay *measured, struct error *err)
{
    struct report_replay replay;
    TRY(report_expect_stages(plan, err));
    TRY(report_replay(&replay, plan, out->arena, err));
    if (replay.schedule.operation_count > TRACE_OPERATIONS_MAX)
        return refuse(err, "%d operations are too many for a trace (maximum %d)",
                      replay.schedule.operation_count, TRACE_OPERATIONS_MAX);
    struct tracer t = {.plan = plan, .replay = &replay};
    prepare(&t, out->arena);
    json_begin(&t.json, out->arena);
    json_open_object(&t.json, NULL);
    json_put_text(&t.json, "displayTimeUnit", "ms");
    json_open_flat_object(&t.json, "otherData");
    json_put_text(&t.json, "made_by", "plumbline " PLUMBLINE_VERSION);
    json_put_count(&t.json, "iteration_ns", replay.iteration_ns);
    json_put_count(&t.json, "bound_ns", plan->bound_ns);
    if (plan->objective != OBJECTIVE_ITERATION_TIME) {
        json_put_text(&t.json, "objective", objective_names[plan->objective]);
        json_put_count(&t.json, "objective_ns", plan->objective_ns);
    }
    json_close_object(&t.json);
    json_open_array(&t.json, "traceEvents");
    put_all(&t, out->arena);
    if (measured) {
        t.replay = measured;
        t.first_process = replay.schedule.request.rank_count;
        prepare(&t, out->arena);
        put_all(&t, out->arena);
    }
    json_close_array(&t.json);
    json_close_object(&t.json);
    json_end_text(&t.json, out);
    return OK;
}
