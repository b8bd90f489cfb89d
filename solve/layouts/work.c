// The work of the worker processes of a search over layouts: scan a range of the space, sharpen
// bounds, solve one layout. An answer is a function of its request alone, so it does not matter
// which worker gives it.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "data/results/bound.h"
#include "solve/layouts/group.h"
#include "solve/layouts/work.h"

enum status layout_price(struct priced *priced, const struct problem *problem,
                         const struct layout *layout, struct arena *arena, struct error *err)
{
    struct problem one = problem_with_layout(problem, layout);
    return price_terms(priced, &one, arena, err);
}

// ---- how layouts compare

static const char too_slow[] = "no plan of it satisfies the job's limits of time and price";

static int64_t value_of(const struct layout_worth *w, int64_t ns)
{
    if (ns == INT64_MAX) return ns;
    return ns > (LAYOUT_TOO_SLOW - 1) / w->weight ? LAYOUT_TOO_SLOW - 1 : ns * w->weight;
}

// The least time whose value is no less.
static int64_t cutoff_of(const struct layout_worth *w, int64_t value)
{
    int64_t ns = value / w->weight + (value % w->weight > 0);
    if (w->cap_ns == INT64_MAX) return ns;
    return value > 0 && ns <= w->cap_ns ? ns : w->cap_ns + 1;
}

// A plan beyond the cap does not count, and a bound beyond it proves that there is none. Returns
// whether the answer leaves open which of the two is the case.
static bool keep_limits(struct layout_answer *a, const struct layout_worth *w, int64_t cutoff_ns)
{
    if (w->cap_ns == INT64_MAX || a->infeasible) return false;
    if (a->plan.stage_count && a->plan.iteration_ns > w->cap_ns) a->plan.stage_count = 0;
    if (a->bound_ns > w->cap_ns) a->finished = a->infeasible = true, a->reason = too_slow;
    return a->finished && !a->infeasible && !a->plan.stage_count && cutoff_ns > w->cap_ns;
}

static void state_values(struct layout_answer *a, const struct layout_worth *w)
{
    a->bound_ns = value_of(w, a->bound_ns);
    a->plan.bound_ns = value_of(w, a->plan.bound_ns);
    if (a->plan.stage_count) a->plan.iteration_ns = value_of(w, a->plan.iteration_ns);
}

// ---- scanning

static bool is_part_of_word(const char *c)
{
    return isalnum((unsigned char)*c) || *c == '_' || *c == '-' ||
           (*c == '.' && isdigit((unsigned char)c[1]));
}

// Removes standalone numbers; those in names (v100-32gb, bf16) stay.
static const char *without_figures(const char *text, struct arena *arena)
{
    char *copy = TAKE(arena, 3 * strlen(text) + 1, char), *to = copy;
    while (*text) {
        const char *end = text;
        bool digits = false, letters = false;
        for (; is_part_of_word(end); end++) {
            digits = digits || isdigit((unsigned char)*end);
            letters = letters || isalpha((unsigned char)*end);
        }
        if (end == text) end++;
        bool figure = digits && !letters;
        size_t length = figure ? 3 : (size_t)(end - text);
        memcpy(to, figure ? "..." : text, length);
        to += length;
        text = end;
    }
    *to = '\0';
    return copy;
}

// A reason without its figures and the file's name, so that equal ones are counted together.
const char *layouts_plain_reason(const char *text, const struct problem *problem,
                                 struct arena *arena)
{
    const char *files[] = {document_name(&problem->job.document, "job"),
                           document_name(&problem->model.document, "model")};
    for (size_t i = 0; i < ARRAY_LENGTH(files); i++) {
        size_t length = strlen(files[i]);
        if (!strncmp(text, files[i], length) && !strncmp(text + length, ": ", 2))
            text += length + 2;
    }
    return without_figures(text, arena);
}

struct scan {
    const struct problem *problem;
    struct layouts found; // reasons only
    struct message *values;
    struct price_cache cache;
    struct kept_cache kept;
    struct layout refused; // the last refused one, and why
    int refusal;           // -1: none yet
    const struct layouts_context *context;
    struct arena *arena;
};

bool layouts_should_stop(void *context)
{
    const struct layouts_context *c = context;
    return *c->stop || (c->watch && watch_is_over(c->watch));
}

static bool should_stop(const struct layouts_context *c)
{
    return layouts_should_stop((void *)(uintptr_t)c);
}

// A refusal by model and job does not depend on these switches; on the barrier and ZeRO it does if
// layers share a pool or weights, and on the setting of recomputation if that is not offered.
static bool refused_alike(const struct problem *p, const struct layout *a, const struct layout *b)
{
    const struct model *m = &p->model;
    struct layout x = *a;
    if (!layout_recomputes_alike(a) || p->job.recompute[layout_recompute(a)])
        x.recompute = b->recompute, x.recomputed_layers = b->recomputed_layers;
    x.gradient_sync = b->gradient_sync, x.offload_optimizer = b->offload_optimizer;
    x.fused_embedding_sync = b->fused_embedding_sync;
    x.overlapped_dispatch = b->overlapped_dispatch;
    if (!model_shared_pool(m) && !model_shares_weights(m)) x.zero = b->zero, x.barrier = b->barrier;
    return layout_equal(&x, b);
}

static int refuse_layout(struct scan *s, const struct layout *layout, const char *text)
{
    struct arena_mark mark = arena_set_mark(s->arena);
    const char *plain = layouts_plain_reason(text, s->problem, s->arena);
    bool known = layouts_reason_known(&s->found, FATE_REFUSED, plain);
    int reason = layouts_reason(&s->found, FATE_REFUSED, plain, s->arena);
    if (known) arena_reset(s->arena, mark);
    if (layout) s->refused = *layout, s->refusal = reason;
    return reason;
}

static int scan_layout(struct scan *s, const struct layout *layout, int64_t *value)
{
    struct error err = {0};
    const char *why = NULL;
    struct problem one;
    *value = 0;
    if (s->refusal >= 0 && refused_alike(s->problem, &s->refused, layout)) return s->refusal;
    one = problem_with_layout(s->problem, layout);
    if (problem_check_layout(&one, &err) != OK) return refuse_layout(s, layout, err.text);
    if (job_mixes_layouts(&one.job))
        return layouts_reason(&s->found, FATE_OPEN, "not looked at", s->arena);
    const struct layout_sketch *sketch = sketch_cached(&s->cache, layout, &s->kept, &why);
    if (!sketch) return refuse_layout(s, NULL, why);
    *value = layout_missing_bytes(sketch);
    if (*value > 0)
        return layouts_reason(&s->found, FATE_MEMORY,
                              "its layers do not fit on the devices, whatever is recomputed",
                              s->arena);
    *value = layout_average_bound(sketch);
    assert(*value >= 0);
    struct layout_worth worth = problem_layout_worth(s->problem, layout);
    if (*value > worth.cap_ns)
        return layouts_reason(&s->found, FATE_INFEASIBLE, too_slow, s->arena);
    *value = value_of(&worth, *value);
    return layouts_reason(&s->found, FATE_OPEN, "not looked at", s->arena);
}

static bool scan_visit(void *argument, int64_t number, const struct layout *layout)
{
    struct scan *s = argument;
    int64_t value;
    (void)number;
    if (should_stop(s->context)) return false; // a partial scan is no answer
    int reason = scan_layout(s, layout, &value);
    message_put_count(s->values, reason);
    message_put_count(s->values, value);
    return true;
}

static void each_of_ranges(const struct layouts_context *c, struct message *in,
                           space_visitor *visit, void *argument, struct arena *arena)
{
    struct space_limits limits = problem_space_limits(c->problem);
    int count = message_get_length(in, sizeof(struct space_range));
    struct space_range *ranges = TAKE(arena, count, struct space_range);
    message_get(in, ranges, (size_t)count * sizeof *ranges);
    space_each_of(&c->problem->job.space, &limits, c->index, ranges, count, visit, argument);
}

static void serve_scan(const struct layouts_context *c, struct message *in, struct message *out,
                       struct arena *arena)
{
    struct message values;
    message_begin(&values, arena);
    struct scan s = {.problem = c->problem,
                     .values = &values,
                     .refusal = -1,
                     .kept = {.arena = arena},
                     .context = c,
                     .arena = arena};
    struct arena prices;
    arena_open(&prices, arena->exit);
    price_cache_open(&s.cache, c->problem, &prices, arena);
    s.found.reasons = TAKE(arena, LAYOUTS_REASONS_MAX, struct layouts_reason);
    each_of_ranges(c, in, scan_visit, &s, arena);
    message_put_count(out, s.found.reason_count);
    for (int i = 0; i < s.found.reason_count; i++) {
        message_put_count(out, s.found.reasons[i].fate);
        message_put_text(out, s.found.reasons[i].text);
    }
    message_put(out, values.bytes, values.used);
    arena_close(&prices);
}

void request_ranges(struct message *m, enum layouts_request request,
                    const struct space_range *ranges, int count)
{
    message_put_count(m, request);
    message_put_count(m, count);
    message_put(m, ranges, (size_t)count * sizeof *ranges);
}

bool answer_scan(struct message *m, struct layouts *l, struct scanned *to, int64_t count,
                 struct arena *arena)
{
    int known[LAYOUTS_REASONS_MAX], reasons = (int)message_get_count(m);
    if (m->broken || reasons < 0 || reasons > LAYOUTS_REASONS_MAX) return false;
    for (int i = 0; i < reasons; i++) {
        enum layout_fate fate = (enum layout_fate)message_get_count(m);
        known[i] = layouts_reason(l, fate, message_get_text(m, arena), arena);
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t reason = message_get_count(m), value = message_get_count(m);
        if (m->broken || reason < 0 || reason >= reasons) return false;
        to[i] = (struct scanned){(uint16_t)known[reason], value};
    }
    return true;
}

// ---- groups

struct grouping {
    const struct layouts_context *context;
    struct group_bounds bounds;
    struct message *runs; // of layouts with one value: how many, and the value
    int64_t value, count;
};

static void put_run(struct grouping *x)
{
    if (!x->count) return;
    message_put_count(x->runs, x->count);
    message_put_count(x->runs, x->value);
    x->count = 0;
}

static bool group_visit(void *argument, int64_t number, const struct layout *layout)
{
    struct grouping *x = argument;
    (void)number;
    if (should_stop(x->context)) return false;
    struct layout_worth worth = problem_layout_worth(x->context->problem, layout);
    int64_t value = value_of(&worth, group_bound_ns(&x->bounds, layout));
    if (value != x->value) put_run(x);
    x->value = value, x->count++;
    return true;
}

static void serve_groups(const struct layouts_context *c, struct message *in, struct message *out,
                         struct arena *arena)
{
    struct grouping x = {.context = c, .runs = out};
    group_bounds_open(&x.bounds, c->problem, arena);
    each_of_ranges(c, in, group_visit, &x, arena);
    put_run(&x);
    group_bounds_close(&x.bounds);
}

bool answer_groups(struct message *m, int64_t *values, int64_t count)
{
    for (int64_t at = 0; at < count;) {
        int64_t alike = message_get_count(m), value = message_get_count(m);
        if (m->broken || alike < 1 || alike > count - at) return false;
        for (int64_t end = at + alike; at < end; at++) values[at] = value;
    }
    return true;
}

// ---- sharpening

void request_sharpen(struct message *m, int64_t enough, const struct layout *const *layouts,
                     int count)
{
    message_put_count(m, REQUEST_SHARPEN);
    message_put_count(m, enough);
    message_put_count(m, count);
    for (int i = 0; i < count; i++) message_put(m, layouts[i], sizeof *layouts[i]);
}

static int64_t sharpened(const struct layouts_context *c, struct price_cache *prices,
                         struct kept_cache *kept, const struct layout *layout, int64_t enough)
{
    const char *why;
    if (job_mixes_layouts(&c->problem->job)) return 0; // sketches are of one layout for all
    const struct layout_sketch *sketch = sketch_cached(prices, layout, kept, &why);
    struct layout_worth worth = problem_layout_worth(c->problem, layout);
    int64_t enough_ns = enough < INT64_MAX ? cutoff_of(&worth, enough) : INT64_MAX,
            bound_ns = sketch ? layout_filling_bound(sketch, enough_ns) : 0;
    assert(!sketch || bound_ns >= layout_average_bound(sketch)); // sharper, never blunter
    bool slow = bound_ns > worth.cap_ns && bound_ns < INT64_MAX;
    return slow ? LAYOUT_TOO_SLOW : value_of(&worth, bound_ns);
}

static void serve_sharpen(const struct layouts_context *c, struct message *in, struct message *out,
                          struct arena *arena)
{
    int64_t enough = message_get_count(in);
    int count = message_get_length(in, sizeof(struct layout)), done = 0;
    int64_t *bounds = TAKE(arena, count, int64_t);
    struct arena turns, prices;
    arena_open(&turns, arena->exit);
    arena_open(&prices, arena->exit);
    struct kept_cache kept = {.arena = &turns};
    struct price_cache cache;
    price_cache_open(&cache, c->problem, &prices, arena);
    for (; done < count && !should_stop(c); done++) {
        struct layout layout;
        message_get(in, &layout, sizeof layout);
        bounds[done] = sharpened(c, &cache, &kept, &layout, enough);
    }
    for (int i = 0; i < count && done == count; i++) message_put_count(out, bounds[i]);
    arena_close(&prices);
    arena_close(&turns);
}

bool answer_sharpen(struct message *m, int64_t *bounds_ns, int count)
{
    for (int i = 0; i < count; i++) bounds_ns[i] = message_get_count(m);
    return !m->broken;
}

// ---- solving

void request_look(struct message *m, enum layouts_request request, const struct layout *layout,
                  int64_t cutoff_ns, double seconds, int solves)
{
    message_put_count(m, request);
    message_put(m, layout, sizeof *layout);
    message_put_count(m, cutoff_ns);
    message_put(m, &seconds, sizeof seconds);
    message_put_count(m, solves);
}

static void tell_again(void *context, const struct solve_progress *of_layout)
{
    const struct layouts_context *c = context;
    (void)of_layout;
    c->tell_again(c->search);
}

static void solve_settings_of(struct solve_settings *settings, const struct layouts_context *c)
{
    *settings = *c->settings;
    settings->threads = c->settings->threads > 0;
    settings->whole_batch = true;
    settings->alternatives = 0;
    if (!c->watch) settings->progress = 0; // the search itself waits for the processes
    settings->tell = tell_again, settings->tell_argument = (void *)(uintptr_t)c;
    settings->program_path = settings->map_path = NULL;
}

// Sets the limit to what is left of the search's.
static void keep_limit(struct solve_settings *settings, const struct watch *w)
{
    double left_s = w ? watch_left_s(w) : 0;
    if (left_s > 0 && (settings->time_limit_s <= 0 || left_s < settings->time_limit_s))
        settings->time_limit_s = left_s;
}

static enum status look(struct layout_answer *a, const struct layouts_context *c,
                        enum layouts_request request, struct message *in, struct arena *arena,
                        struct error *err)
{
    struct layout layout;
    struct priced *priced = TAKE(arena, 1, struct priced);
    struct problem *one = TAKE(arena, 1, struct problem);
    struct solve_settings settings;
    struct solve_result r;
    solve_settings_of(&settings, c);
    message_get(in, &layout, sizeof layout);
    struct layout_worth worth = problem_layout_worth(c->problem, &layout);
    int64_t value = message_get_count(in),
            cutoff_ns = value > 0 || worth.cap_ns < INT64_MAX ? cutoff_of(&worth, value) : 0;
    message_get(in, &settings.time_limit_s, sizeof settings.time_limit_s);
    int64_t solves = message_get_count(in);
    keep_limit(&settings, c->watch);
    *one = problem_with_layout(c->problem, &layout);
    TRY(price_problem(priced, one, arena, err));
    // REQUEST_FIRST: any plan. REQUEST_SCOUT: only a search for a plan. REQUEST_ROOT: a short first
    // look. The second look is boxes alone, which finish if the program is small; then comes the
    // whole of solving. That may take long: it gets a limited number of boxes (of the tree; where
    // ranks have several stages, of those that need no program), and twice as many when the
    // layout's turn comes again.
    enum { TREE_BOXES_FIRST = 20, BOXES_FIRST = 400, DOUBLINGS_MAX = 20 };
    static const struct layout_effort efforts[] = {
        [REQUEST_FIRST] = {20, 0},
        [REQUEST_SCOUT] = {200, 0},
        [REQUEST_ROOT] = {200, 1},
        [REQUEST_SOLVE] = {100, 400},
    };
    struct layout_effort effort = efforts[request];
    bool several = layout.virtual_stages > 1, seated = priced_has_widths(priced);
    if (seated && request == REQUEST_ROOT && !priced->in_turn)
        TRY(layout_root_of_widths(a, c, priced, &settings, cutoff_ns, arena, err));
    else if (priced->width_per_group || priced->in_turn)
        *a = (struct layout_answer){.plan = {.layout = layout}};
    else if (request != REQUEST_SOLVE || (!several && !seated && !solves))
        TRY(layout_root(a, c, priced, cutoff_ns, effort, arena, err));
    settings.boxes_max = (int64_t)(several ? BOXES_FIRST : TREE_BOXES_FIRST)
                         << (solves < DOUBLINGS_MAX ? solves : DOUBLINGS_MAX);
    if (priced->width_per_group) settings.boxes_max = 0; // of each combination
    if (seated) settings.start_search = solves > 0;      // the first look searched
    if (keep_limits(a, &worth, cutoff_ns)) a->finished = false, settings.gap = 0;
    bool whole = request == REQUEST_SOLVE && !a->finished && !should_stop(c);
    if (whole) {
        settings.cutoff_ns = cutoff_ns;
        // Boxes of widths are dear: what no longer matters to the answer stays open.
        if (seated && worth.cap_ns == INT64_MAX && cutoff_ns > 0)
            settings.cutoff_ns = bound_closing(cutoff_ns, settings.gap, 0);
        TRY(solve_run(&r, priced, &settings, NULL, c->stop, arena, err));
        *a =
            (struct layout_answer){.finished = r.finished,
                                   .infeasible = r.plan.outcome == OUTCOME_INFEASIBLE && !r.cut_off,
                                   .limited = r.limited,
                                   .reason = r.plan.reason,
                                   .bound_ns = r.plan.bound_ns,
                                   .plan = r.plan,
                                   .sidelined = r.sidelined};
        if (keep_limits(a, &worth, cutoff_ns)) a->finished = false;
    }
    state_values(a, &worth);
    return OK;
}

void layout_answer_put(struct message *m, const struct layout_answer *a)
{
    assert(!a->plan.stage_count || a->infeasible || a->bound_ns <= a->plan.iteration_ns);
    message_put(m, a, sizeof *a);
    message_put_text(m, a->reason);
    message_put_text(m, a->sidelined);
    layouts_put_plan(m, &a->plan);
}

bool layout_answer_get(struct message *m, struct layout_answer *a, const struct problem *problem,
                       struct arena *arena)
{
    message_get(m, a, sizeof *a);
    if (m->broken) return false;
    a->reason = message_get_text(m, arena);
    a->sidelined = message_get_text(m, arena);
    if (!*a->sidelined) a->sidelined = NULL;
    layouts_get_plan(m, &a->plan, problem, arena);
    return !m->broken;
}

static void serve_look(const struct layouts_context *c, enum layouts_request request,
                       struct message *in, struct message *out, struct arena *arena)
{
    struct layout_answer a = {0};
    struct error err = {0};
    enum status status = look(&a, c, request, in, arena, &err);
    if (status != OK) a = (struct layout_answer){.status = status, .reason = err.text};
    layout_answer_put(out, &a);
}

void layouts_serve(void *context, struct message *in, struct message *out, struct arena *arena)
{
    const struct layouts_context *c = context;
    enum layouts_request request = (enum layouts_request)message_get_count(in);
    if (should_stop(c)) return; // an empty answer says nothing
    switch (request) {
    case REQUEST_GROUPS: serve_groups(c, in, out, arena); break;
    case REQUEST_SCAN: serve_scan(c, in, out, arena); break;
    case REQUEST_SHARPEN: serve_sharpen(c, in, out, arena); break;
    case REQUEST_FIRST:
    case REQUEST_SCOUT:
    case REQUEST_ROOT:
    case REQUEST_SOLVE: serve_look(c, request, in, out, arena); break;
    }
}
