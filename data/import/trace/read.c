// Events of a Chrome trace as written by PyTorch's profiler (Kineto): complete events (ph "X") with
// ts and dur in microseconds. Only what attribution needs is kept of each: ranges (user_annotation,
// gpu_user_annotation), work on the device (kernel, gpu_memcpy, gpu_memset) and its launches by the
// host (cuda_runtime, cuda_driver), joined by args.correlation. Times are read as decimal text into
// whole nanoseconds, because a double can hold the microseconds of an epoch only to a quarter.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/base/grow.h"
#include "data/import/trace/ranges.h"

#define TIME_MOST                                                                                  \
    9000000000000000 // microseconds: an epoch's and its longest event's end fit 64 bits of
                     // nanoseconds
#define LAST_MOST_NS 100000000000000000
enum { CAT_NONE, CAT_RANGE, CAT_DEVICE_RANGE, CAT_WORK, CAT_COPY, CAT_LAUNCH, CAT_OPERATOR };
enum { NAME_MAX_BYTES = STREAM_TEXT_MAX, ID_MAX = 64 };

static const struct {
    const char *name;
    int category;
} categories[] = {
    {"user_annotation", CAT_RANGE}, {"gpu_user_annotation", CAT_DEVICE_RANGE},
    {"kernel", CAT_WORK},           {"concurrent_kernel", CAT_WORK},
    {"gpu_memcpy", CAT_COPY},       {"gpu_memset", CAT_WORK},
    {"memcpy", CAT_COPY},           {"memset", CAT_WORK},
    {"cuda_runtime", CAT_LAUNCH},   {"cuda_driver", CAT_LAUNCH},
    {"runtime", CAT_LAUNCH},        {"hip_runtime", CAT_LAUNCH},
    {"cpu_op", CAT_OPERATOR},
};

struct event {
    char name[NAME_MAX_BYTES], process[ID_MAX], thread[ID_MAX];
    bool complete, timed, lasting;
    int category;
    int64_t start_ns, duration_ns, correlation;
    bool whole_lists; // sizes of inputs are requested
    struct trace_arguments arguments;
};

// ---- one event

// Converts microseconds in text to nanoseconds; without an exponent, digit by digit.
static enum status read_time(const struct json_stream *s, enum stream_token token, const char *key,
                             int64_t *ns, struct error *err)
{
    const char *p = s->text + (s->text[0] == '-');
    size_t whole = strspn(p, "0123456789");
    if (token != STREAM_NUMBER && token != STREAM_TEXT)
        return stream_refuse(s, err, "%s: expected microseconds", key);
    if (token == STREAM_TEXT && !*p)
        return stream_refuse(s, err, "%s: expected microseconds, found an empty text", key);
    const char *end = p + whole + (p[whole] == '.') +
                      (p[whole] == '.' ? strspn(p + whole + 1, "0123456789") : 0);
    if (whole && whole <= 16 && !*end && strtoll(p, NULL, 10) < TIME_MOST) {
        int64_t value = strtoll(p, NULL, 10) * 1000, digit = 100;
        for (const char *f = p + whole + 1; p[whole] && *f && digit; f++, digit /= 10)
            value += (*f - '0') * digit;
        *ns = s->text[0] == '-' ? -value : value;
        return OK;
    }
    char *stop;
    double x = strtod(s->text, &stop);
    if (*stop || !(fabs(x) < TIME_MOST))
        return stream_refuse(s, err, "%s: expected microseconds below 9e15, found '%.40s'", key,
                             s->text);
    *ns = (int64_t)(x * 1000);
    return OK;
}

static enum status read_member(struct json_stream *s, const char *key, enum stream_token token,
                               struct event *e, struct error *err)
{
    bool scalar = token == STREAM_TEXT || token == STREAM_NUMBER;
    if (!strcmp(key, "args") && token == STREAM_OBJECT)
        return trace_arguments_read(s, &e->correlation, e->whole_lists, &e->arguments, err);
    if (!strcmp(key, "ts")) {
        e->timed = true;
        return read_time(s, token, "ts", &e->start_ns, err);
    }
    if (!strcmp(key, "dur")) {
        e->lasting = true;
        TRY(read_time(s, token, "dur", &e->duration_ns, err));
        return e->duration_ns < 0 || e->duration_ns > LAST_MOST_NS
                   ? stream_refuse(s, err, "dur: expected 0 to 1e14, found %.40s", s->text)
                   : OK;
    }
    if (!scalar) return stream_skip(s, token, err);
    if (!strcmp(key, "ph")) e->complete = !strcmp(s->text, "X");
    if (!strcmp(key, "name")) stream_copy(e->name, sizeof e->name, s);
    if (!strcmp(key, "pid")) stream_copy(e->process, sizeof e->process, s);
    if (!strcmp(key, "tid")) stream_copy(e->thread, sizeof e->thread, s);
    if (!strcmp(key, "cat"))
        for (size_t i = 0; i < ARRAY_LENGTH(categories); i++)
            if (!strcasecmp(s->text, categories[i].name)) e->category = categories[i].category;
    return OK;
}

static enum status read_event(struct json_stream *s, struct event *e, struct error *err)
{
    enum stream_token token;
    char key[16];
    e->name[0] = e->process[0] = e->thread[0] = '\0';
    e->complete = e->timed = e->lasting = false;
    e->category = CAT_NONE;
    e->start_ns = e->duration_ns = e->correlation = 0;
    trace_arguments_clear(&e->arguments, e->whole_lists);
    for (;;) {
        TRY(stream_next(s, &token, err));
        if (token == STREAM_OBJECT_END) return OK;
        stream_copy(key, sizeof key, s);
        TRY(stream_next(s, &token, err));
        TRY(read_member(s, key, token, e, err));
    }
}

// ---- what is kept of an event

// The number of a step is not part of its name.
static void fold_name(char *name)
{
    static const char step[] = "ProfilerStep#";
    if (!strncmp(name, step, sizeof step - 1)) name[sizeof step - 2] = '\0';
}

static enum status keep_op(struct trace *t, const struct json_stream *s, const struct event *e,
                           struct arena *arena, struct error *err)
{
    enum trace_category category = e->category == CAT_OPERATOR ? TRACE_OPERATOR
                                   : e->category == CAT_COPY   ? TRACE_COPY
                                                               : TRACE_KERNEL;
    return !t->ops.wanted || trace_ops_take(&t->ops, e->name, category, &e->arguments,
                                            1e-9 * (double)e->duration_ns, arena)
               ? OK
               : stream_refuse(s, err, "more than %d operators: profile fewer steps",
                               TRACE_OPS_MAX);
}

static enum status keep(struct trace *t, const struct json_stream *s, struct event *e,
                        struct arena *arena, struct error *err)
{
    char both[2 * ID_MAX];
    int device = e->category == CAT_DEVICE_RANGE;
    bool copied = e->category == CAT_COPY; // it is an operator itself
    if (!e->complete || !e->category || (e->category == CAT_OPERATOR && !t->ops.wanted)) return OK;
    if (!e->timed || (!e->lasting && e->category != CAT_LAUNCH))
        return stream_refuse(s, err, "\"%.60s\": expected ts and dur of a complete event", e->name);
    if (e->category == CAT_LAUNCH && !e->correlation) return OK;
    if (e->category == CAT_OPERATOR) return keep_op(t, s, e, arena, err);
    snprintf(both, sizeof both, "%s\n%s", e->process, e->thread);
    int process = trace_name(&t->processes, e->process, arena),
        thread = trace_name(&t->threads, both, arena);
    if (process < 0 || thread < 0)
        return stream_refuse(s, err, "more than %d threads", TRACE_NAMES_MAX);
    if (e->category == CAT_WORK || e->category == CAT_COPY) {
        TRY(keep_op(t, s, e, arena, err));
        if (t->work_count == TRACE_WORK_MAX)
            return stream_refuse(s, err, "more than %d kernels: profile fewer steps",
                                 TRACE_WORK_MAX);
        GROW(arena, t->work, t->work_count, t->work_room, 1024);
        t->work[t->work_count++] =
            (struct trace_work){e->correlation, copied ? 0 : e->arguments.external, e->start_ns,
                                1e-9 * (double)e->duration_ns, thread};
    } else if (e->category == CAT_LAUNCH) {
        if (t->launch_count == TRACE_WORK_MAX)
            return stream_refuse(s, err, "more than %d calls of the runtime: profile fewer steps",
                                 TRACE_WORK_MAX);
        GROW(arena, t->launches, t->launch_count, t->launch_room, 1024);
        t->launches[t->launch_count++] =
            (struct trace_launch){e->correlation, e->start_ns, thread, process};
    } else {
        fold_name(e->name);
        int name = trace_name(&t->names, e->name, arena);
        if (name < 0 || t->range_count[device] == TRACE_RANGES_MAX)
            return stream_refuse(s, err, "more than %d ranges, or %d names of them",
                                 TRACE_RANGES_MAX, TRACE_NAMES_MAX);
        GROW(arena, t->ranges[device], t->range_count[device], t->range_room[device], 1024);
        t->ranges[device][t->range_count[device]++] = (struct trace_range){
            e->start_ns, e->start_ns + e->duration_ns, name, thread, process, 0, 0};
    }
    return OK;
}

// ---- the file

static enum status read_events(struct trace *t, struct json_stream *s, struct arena *arena,
                               struct error *err)
{
    enum stream_token token;
    struct event *e = TAKE(arena, 1, struct event);
    e->whole_lists = t->ops.wanted;
    for (;;) {
        TRY(stream_next(s, &token, err));
        if (token == STREAM_ARRAY_END) return OK;
        if (token != STREAM_OBJECT) return stream_refuse(s, err, "traceEvents: expected objects");
        TRY(read_event(s, e, err));
        TRY(keep(t, s, e, arena, err));
    }
}

// "deviceProperties": name and memory of the first.
static enum status read_devices(struct trace *t, struct json_stream *s, struct error *err)
{
    enum stream_token token;
    char key[16];
    for (int depth = 1; depth;) {
        TRY(stream_next(s, &token, err));
        depth += (token == STREAM_OBJECT || token == STREAM_ARRAY) -
                 (token == STREAM_OBJECT_END || token == STREAM_ARRAY_END);
        if (token != STREAM_KEY) continue;
        stream_copy(key, sizeof key, s);
        TRY(stream_next(s, &token, err));
        bool scalar = token == STREAM_TEXT || token == STREAM_NUMBER;
        if (scalar && !strcmp(key, "name") && !t->ops.device[0])
            stream_copy(t->ops.device, sizeof t->ops.device, s);
        if (scalar && !strcmp(key, "totalGlobalMem") && !t->ops.device_bytes)
            t->ops.device_bytes = strtoll(s->text, NULL, 10);
        TRY(stream_skip(s, token, err));
    }
    return OK;
}

static enum status read_root(struct trace *t, struct json_stream *s, struct arena *arena,
                             struct error *err)
{
    enum stream_token token;
    bool found = false;
    for (;;) {
        TRY(stream_next(s, &token, err));
        if (token == STREAM_OBJECT_END) break;
        bool events = !strcmp(s->text, "traceEvents"),
             devices = !strcmp(s->text, "deviceProperties");
        TRY(stream_next(s, &token, err));
        if (devices && token == STREAM_ARRAY) {
            TRY(read_devices(t, s, err));
            continue;
        }
        if (!events) {
            TRY(stream_skip(s, token, err));
            continue;
        }
        if (token != STREAM_ARRAY || found)
            return stream_refuse(s, err, "traceEvents: expected one array");
        found = true;
        TRY(read_events(t, s, arena, err));
    }
    return found ? OK : stream_refuse(s, err, "expected key \"traceEvents\" of a profiler's trace");
}

enum status trace_read(struct trace *t, const char *name, FILE *from, bool ops, struct arena *arena,
                       struct error *err)
{
    struct json_stream *s = TAKE(arena, 1, struct json_stream);
    enum stream_token token;
    int c = getc(from);
    if (c == 0x1f)
        return refuse(err, "%s: is compressed: gunzip -c FILE | plumbline import trace -", name);
    if (c == 'S') // for a file that is not JSON, the first letter
        return refuse(
            err,
            "%s: expected the JSON of PyTorch's profiler (export_chrome_trace), or CSV of "
            "nsys stats --report nvtx_gpu_proj_trace --format csv, which takes this SQLite "
            "export",
            name);
    if (c != EOF) ungetc(c, from);
    trace_begin(t);
    t->ops.wanted = ops;
    stream_begin(s, name, from);
    s->python = true;
    TRY(stream_next(s, &token, err));
    if (token == STREAM_ARRAY) TRY(read_events(t, s, arena, err));
    else if (token == STREAM_OBJECT) TRY(read_root(t, s, arena, err));
    else
        return stream_refuse(s, err,
                             "expected an object with \"traceEvents\", or an array of events");
    return stream_next(s, &token, err);
}
