// Which of the layout-specific arguments closes each layout of a space: worker processes take a
// range of layouts each. The result does not depend on their number.
#include <string.h>

#include "solve/certificate/internal.h"
#include "solve/process/worker.h"

enum { RANGES_PER_WORKER = 3, RANGE_LEAST = 1 << 16 };

struct range {
    const struct space_fates_request *request;
    struct check_layouts layouts;
    int64_t first, end;
    const unsigned char *known; // [layouts]
    unsigned char *fates;       // [end - first]
    enum status status;
};

// The chosen layout needs a proof, because of its plan.
static bool visit(void *argument, int64_t number, const struct check_layout *layout)
{
    struct range *r = argument;
    enum check_fate fate = FATE_IS_PROVEN;
    if (number >= r->end) return false;
    if (number < r->first) return true;
    if (r->known[number] != FATE_IS_UNKNOWN) return true;
    if (number != r->request->chosen) r->status = check_find_fate(&r->layouts, layout, &fate);
    r->fates[number - r->first] = (unsigned char)fate;
    return r->status == OK;
}

struct work {
    const struct space_fates_request *request;
    unsigned char *fates;
};

static void serve(void *context, struct message *in, struct message *out, struct arena *arena)
{
    const struct work *x = context;
    const struct space_fates_request *request = x->request;
    struct arena *scratch = arena_open_within(arena);
    struct error why = {OK, ""};
    uint64_t work = UINT64_MAX / 2;
    struct range r = {
        .request = request, .first = message_get_count(in), .end = message_get_count(in)};
    assert(r.first >= 0 && r.first < r.end && r.end <= request->count);
    r.known = x->fates;
    r.fates = TAKE_COPY(arena, r.known + r.first, r.end - r.first);
    r.layouts = (struct check_layouts){.space = request->space,
                                       .pricer = request->pricer,
                                       .reader = {"prices", &why},
                                       .bound_ns = request->bound_ns,
                                       .held = {.work = &work, .arena = arena, .scratch = scratch}};
    check_space_walk(request->space, visit, &r);
    message_put_count(out, r.status == OK);
    if (r.status == OK) message_put(out, r.fates, (size_t)(r.end - r.first));
    else message_put(out, why.text, strlen(why.text) + 1);
}

static bool never(void *argument) { return (void)argument, false; }

enum status space_find_fates(unsigned char *fates, const struct space_fates_request *request,
                             struct arena *arena, struct error *err)
{
    struct work work = {request, fates};
    struct worker_pool *pool;
    struct worker_settings settings = {.count = request->threads, .run = serve, .context = &work};
    const char *why = NULL;
    int64_t each =
        request->count / (RANGES_PER_WORKER * (request->threads ? request->threads : 1)) + 1;
    if (each < RANGE_LEAST) each = RANGE_LEAST;
    int count = (int)((request->count + each - 1) / each);
    if (settings.count > count) settings.count = count;
    if (!count || !memchr(fates, FATE_IS_UNKNOWN, (size_t)request->count)) return OK;
    struct message *requests = TAKE(arena, count, struct message),
                   *answers = TAKE(arena, count, struct message);
    TRY(worker_pool_open(&pool, &settings, arena, err));
    for (int i = 0; i < count; i++) {
        message_begin(&requests[i], arena);
        message_put_count(&requests[i], i * each);
        message_put_count(&requests[i],
                          (i + 1) * each < request->count ? (i + 1) * each : request->count);
    }
    worker_pool_run(pool, requests, count, answers, never, NULL, &why, arena);
    worker_pool_close(pool);
    for (int i = 0; i < count; i++) {
        int64_t first = i * each,
                end = first + each < request->count ? first + each : request->count;
        if (answers[i].broken || !answers[i].used)
            return fail(err, SOLVER, "--certificate: a worker failed on layouts %lld to %lld%s%s",
                        (long long)first, (long long)end - 1, why ? ": " : "", why ? why : "");
        if (!message_get_count(&answers[i]))
            return fail(err, SOLVER, "the checker refuses a layout: %s",
                        answers[i].bytes + answers[i].read);
        message_get(&answers[i], fates + first, (size_t)(end - first));
        if (answers[i].broken)
            return fail(err, SOLVER, "--certificate: a worker's answer is too short");
    }
    return OK;
}
