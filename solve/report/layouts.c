// The list of layouts: the outcome for the space in counts that add up, then the layouts by time,
// the best first. Layouts without a plan yet are sorted by their bound; those refused or too large
// come last.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "data/kinds/schedules.h"
#include "solve/report/report.h"

bool report_has_time(enum layout_fate fate)
{
    return fate != FATE_REFUSED && fate != FATE_MEMORY && fate != FATE_INFEASIBLE;
}

// What orders a layout's line; the line ends with its degrees.
struct ranked {
    int64_t number, key_ns;
    const struct layouts_work *work;
    const char *degrees;
};

static int by_time(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->key_ns != y->key_ns) return x->key_ns < y->key_ns ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static int by_number(const void *a, const void *b)
{
    const struct ranked *x = *(const struct ranked *const *)a,
                        *y = *(const struct ranked *const *)b;
    return x->number < y->number ? -1 : x->number > y->number;
}

static int by_plan(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    bool has = x->work && x->work->iteration_ns > 0, other = y->work && y->work->iteration_ns > 0;
    return has != other ? other - has : by_time(a, b);
}

// The first lines in an order: once there are as many as wanted, as a heap whose root is the last.
struct first_lines {
    struct ranked *lines;
    int64_t count, most;
    int (*order)(const void *a, const void *b);
    bool heap;
};

static void sink(struct first_lines *f, int64_t at)
{
    for (int64_t below = 2 * at + 1; below < f->most; at = below, below = 2 * at + 1) {
        struct ranked line = f->lines[at];
        if (below + 1 < f->most && f->order(&f->lines[below + 1], &f->lines[below]) > 0) below++;
        if (f->order(&f->lines[below], &line) <= 0) return;
        f->lines[at] = f->lines[below];
        f->lines[below] = line;
    }
}

static void add_line(struct first_lines *f, const struct ranked *line)
{
    if (f->count < f->most) {
        f->lines[f->count++] = *line;
        return;
    }
    for (int64_t i = f->heap ? 0 : f->most / 2; i > 0; i--) sink(f, i - 1);
    f->heap = true;
    if (f->order(line, f->lines) < 0) {
        f->lines[0] = *line;
        sink(f, 0);
    }
}

static struct ranked *sort_lines(const struct layouts *l, bool planned_first, int64_t count,
                                 struct arena *arena)
{
    struct first_lines first = {TAKE(arena, count, struct ranked), 0, count,
                                planned_first ? by_plan : by_time};
    for (int64_t i = 0, k = 0; i < l->count; i++) {
        while (k < l->work_count && l->work[k].number < i) k++;
        const struct layouts_work *work = k < l->work_count && l->work[k].number == i ? &l->work[k]
                                                                                      : NULL;
        struct ranked line = {.number = i,
                              .work = work,
                              .key_ns = report_has_time(layouts_fate(l, i)) ? l->value[i]
                                                                            : INT64_MAX};
        if (work && work->iteration_ns > 0) line.key_ns = work->iteration_ns;
        add_line(&first, &line);
    }
    qsort(first.lines, (size_t)count, sizeof *first.lines, first.order);
    return first.lines;
}

// ---- their degrees, from one walk through the space

struct filling {
    struct ranked **next, **end, *first;
    void (*take)(void *argument, struct ranked *line, int64_t at, const struct layout *layout);
    void *argument;
};

static bool fill(void *argument, int64_t number, const struct layout *layout)
{
    struct filling *f = argument;
    if (f->next < f->end && (*f->next)->number == number) {
        f->take(f->argument, *f->next, *f->next - f->first, layout);
        f->next++;
    }
    return f->next < f->end;
}

// Calls take for each line, in the order of the space.
static void fill_lines(const struct layouts *l, struct ranked *lines, int64_t count,
                       struct filling *f, struct arena *scratch)
{
    struct ranked **sorted = TAKE(scratch, count, struct ranked *);
    struct space_limits limits = layouts_limits(l);
    for (int64_t i = 0; i < count; i++) sorted[i] = &lines[i];
    qsort(sorted, (size_t)count, sizeof(struct ranked *), by_number);
    f->next = sorted, f->end = sorted + count, f->first = lines;
    space_each(&l->space, &limits, fill, f);
}

static void take_layout(void *argument, struct ranked *line, int64_t at,
                        const struct layout *layout)
{
    struct report_layout *lines = argument;
    lines[at] = (struct report_layout){line->number, line->work, *layout};
}

struct report_layout *report_layouts_sorted(const struct layouts *l, bool planned_first,
                                            int64_t *count, struct arena *arena)
{
    if (*count <= 0 || *count > l->count) *count = l->count;
    struct report_layout *lines = TAKE(arena, *count, struct report_layout);
    struct filling f = {.take = take_layout, .argument = lines};
    fill_lines(l, sort_lines(l, planned_first, *count, arena), *count, &f, arena);
    return lines;
}

// ---- text

const char *report_layout_words(const struct layout *l, struct arena *arena)
{
    return arena_print(arena, "t%s c%s p%d d%d%s b%d %s%s%s zero %d%s",
                       layout_tensor_text(l, arena), layout_context_text(l, arena), l->pipeline,
                       l->data,
                       l->expert > 1 ? arena_print(arena, " e%d%s", l->expert,
                                                   l->overlapped_dispatch ? " overlapped" : "")
                                     : "",
                       l->micro_batch, schedule_names[l->schedule], l->in_flight[0] ? " " : "",
                       l->in_flight[0] ? report_in_flight(l, arena) : "", l->zero,
                       l->offload_optimizer ? " offload" : "");
}

static void print_counts(struct text *out, const struct layouts *l)
{
    int64_t counts[FATE_COUNT] = {0};
    for (int i = 0; i < l->reason_count; i++) counts[l->reasons[i].fate] += l->reasons[i].count;
    text_put(out, "%s: %" PRId64 " layouts%s\n", l->name, l->count,
             layouts_space_words(l, out->arena));
    for (int f = 0; f < FATE_COUNT; f++) {
        if (!counts[f]) continue;
        text_put(out, "  %10" PRId64 "  %s\n", counts[f], layout_fate_names[f]);
        for (int i = 0; i < l->reason_count; i++)
            if ((int)l->reasons[i].fate == f && l->reasons[i].count)
                text_put(out, "  %10s    %10" PRId64 "  %s\n", "", l->reasons[i].count,
                         l->reasons[i].text);
    }
}

static void print_verdict(struct text *out, const struct layouts *l)
{
    if (l->chosen < 0) {
        text_put(out, "no plan is known\n");
        return;
    }
    if (l->objective == OBJECTIVE_MAX_LOAD)
        text_put(out, "times are of max_load: micro-batches x the greatest load\n");
    if (l->objective == OBJECTIVE_COST)
        text_put(out, "times are of cost: devices x iteration time\n");
    text_put(
        out,
        "chosen: layout %" PRId64 ", %s per iteration; any plan of any layout takes at least %s "
        "(%s), gap %.4g %% (requested %.4g %%)\n",
        l->chosen, report_time(l->iteration_ns, out->arena), report_time(l->bound_ns, out->arena),
        claim_words(l->claim, l->taken_over, l->taken_over_count, out->arena),
        l->iteration_ns ? 100 * (double)(l->iteration_ns - l->bound_ns) / (double)l->iteration_ns
                        : 0,
        100 * l->gap_asked);
}

const char *report_seconds(int64_t ns, struct arena *arena)
{
    return ns > 0 ? arena_print(arena, "%.6f", (double)ns / 1e9) : "-";
}

static void print_line(struct text *out, const struct layouts *l, const struct ranked *line)
{
    enum layout_fate fate = layouts_fate(l, line->number);
    struct arena_mark mark = arena_set_mark(out->arena);
    const char *time = report_seconds(line->work ? line->work->iteration_ns : 0, out->arena);
    const char *bound = fate == FATE_MEMORY     ? arena_print(out->arena, "+%.3f GB",
                                                              (double)l->value[line->number] / 1e9)
                        : report_has_time(fate) ? report_seconds(l->value[line->number], out->arena)
                                                : "-";
    char text[64];
    snprintf(text, sizeof text, "%9" PRId64 " %-10s %14s %14s ", line->number,
             layout_fate_names[fate], time, bound);
    arena_reset(out->arena, mark);
    text_put(out, "%s%s\n", text, line->degrees);
}

static const char *degrees_text(const struct layout *x, struct arena *arena)
{
    return arena_print(
        arena, "%5s %4d %4d %5d %4d %4d %2d %5d %-12s %d %d %-10s %d %d %d %d %d%s%s%s%s%s",
        layout_tensor_text(x, arena), x->context, x->pipeline, x->data, layout_expert_tensor(x),
        x->expert, x->virtual_stages, x->micro_batch, schedule_names[x->schedule],
        x->sequence_parallel, x->zero, gradient_sync_names[x->gradient_sync], x->offload_optimizer,
        x->barrier, x->fused_embedding_sync, x->local_loss_every, x->slice_count,
        x->context_kind ? " " : "", x->context_kind ? layout_context_names[x->context_kind] : "",
        x->overlapped_dispatch ? " overlapped_dispatch" : "",
        x->pool ? arena_print(arena, " pool %d", x->pool) : "",
        x->in_flight[0] ? arena_print(arena, " in flight %s", report_in_flight(x, arena)) : "");
}

static void print_headings(struct text *out)
{
    text_put(
        out,
        "%9s %-10s %14s %14s %5s %4s %4s %5s %4s %4s %2s %5s %-12s %s %s %-10s %s %s %s %s %s\n",
        "layout", "fate", "plan s", "bound s", "tens", "ctx", "pipe", "data", "et", "exp", "v",
        "mb", "schedule", "q", "z", "sync", "o", "b", "f", "l", "slices");
}

static void print_legend(struct text *out)
{
    text_put(out,
             "tens, ctx, pipe, data: degrees; et, exp: of experts, tensor and expert; v: stages of "
             "a rank; mb: sequences of a micro-batch; q: sequence parallel; z: ZeRO; o: optimizer "
             "offloaded;\n"
             "b: barrier; f: fused embedding sync; l: local losses\n");
}

// ---- comma-separated values

// Columns that most spaces do without.
struct columns {
    bool grids, more, pools, lists;
};

static void note_columns(struct columns *c, const struct layout *x)
{
    c->grids |= layout_has_grid(x), c->pools |= x->pool != 0, c->lists |= x->in_flight[0] != 0;
    c->more |= x->context_kind || x->overlapped_dispatch;
}

static void print_csv_headings(struct text *out, const struct columns *c)
{
    text_put(out,
             "layout,fate,iteration_ns,bound_ns,excess_bytes,other,tensor,context,pipeline,data,"
             "expert_tensor,expert,virtual_stages,micro_batch,schedule,sequence_parallel,zero,"
             "gradient_sync,offload_optimizer,barrier,fused_embedding_sync,local_loss_every,"
             "slice_count,%s%s%s%sreason\n",
             c->grids ? "tensor_grid," : "", c->more ? "context_kind,overlapped_dispatch," : "",
             c->pools ? "pool," : "", c->lists ? "in_flight," : "");
}

static void print_csv_line(struct text *out, const struct layouts *l, const struct ranked *k)
{
    enum layout_fate fate = layouts_fate(l, k->number);
    int64_t value = l->value[k->number];
    text_put(out, "%" PRId64 ",%s,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%s%d\n",
             k->number, layout_fate_names[fate], k->work ? k->work->iteration_ns : 0,
             report_has_time(fate) ? value : 0, fate == FATE_MEMORY ? value : 0,
             k->work ? k->work->other : -1, k->degrees, l->reason[k->number]);
}

static const char *degrees_csv(const struct columns *c, const struct layout *x, struct arena *arena)
{
    return arena_print(arena, "%d,%d,%d,%d,%d,%d,%d,%d,%s,%d,%d,%s,%d,%d,%d,%d,%d,%s%s%s%s%s",
                       x->tensor, x->context, x->pipeline, x->data, layout_expert_tensor(x),
                       x->expert, x->virtual_stages, x->micro_batch, schedule_names[x->schedule],
                       x->sequence_parallel, x->zero, gradient_sync_names[x->gradient_sync],
                       x->offload_optimizer, x->barrier, x->fused_embedding_sync,
                       x->local_loss_every, x->slice_count,
                       c->grids ? layout_tensor_text(x, arena) : "", c->grids ? "," : "",
                       c->more ? arena_print(arena, "%s,%d,", layout_context_names[x->context_kind],
                                             x->overlapped_dispatch)
                               : "",
                       c->pools ? arena_print(arena, "%d,", x->pool) : "",
                       c->lists ? arena_print(arena, "%s,", report_in_flight(x, arena)) : "");
}

// ---- a table in parts, so that no more than one of them is held

enum { PART = 16384 }; // lines

struct table {
    const struct layouts *l;
    struct ranked *lines;
    int64_t count, at;
    bool csv;
    struct columns columns;
    struct layout like; // as the last one, but for recomputation: neighbours often are
    const char *last;   // its degrees
    struct arena *arena, *scratch;
    struct arena_mark mark;
};

static void take_columns(void *argument, struct ranked *line, int64_t at,
                         const struct layout *layout)
{
    struct table *t = argument;
    (void)at;
    (void)line;
    note_columns(&t->columns, layout);
}

static void take_degrees(void *argument, struct ranked *line, int64_t at,
                         const struct layout *layout)
{
    struct table *t = argument;
    struct layout like = *layout;
    (void)at;
    like.recompute = like.recomputed_layers = 0; // no column
    if (!t->last || !layout_equal(&like, &t->like)) {
        struct arena_mark mark = arena_set_mark(t->scratch);
        const char *own = t->csv ? degrees_csv(&t->columns, layout, t->scratch)
                                 : degrees_text(layout, t->scratch);
        t->last = TAKE_COPY(t->arena, own, strlen(own) + 1);
        t->like = like;
        arena_reset(t->scratch, mark);
    }
    line->degrees = t->last;
}

static void print_head(struct text *out, struct table *t)
{
    if (t->csv) {
        print_csv_headings(out, &t->columns);
        return;
    }
    print_counts(out, t->l);
    print_verdict(out, t->l);
    report_why(out, t->l);
    if (t->l->chosen >= 0) text_put(out, "\n");
    print_headings(out);
}

static bool next_part(void *argument, const char **text, size_t *length)
{
    struct table *t = argument;
    struct text out;
    int64_t end = t->count - t->at < PART ? t->count : t->at + PART;
    if (t->at == t->count) return false;
    arena_reset(t->arena, t->mark);
    text_begin(&out, t->arena);
    if (!t->at) print_head(&out, t);
    for (; t->at < end; t->at++)
        if (t->csv) print_csv_line(&out, t->l, &t->lines[t->at]);
        else print_line(&out, t->l, &t->lines[t->at]);
    if (t->at == t->count && !t->csv) print_legend(&out);
    return text_end(&out, text, length) == OK;
}

enum status report_layouts(const struct layouts *l, int64_t top, bool csv, const char *to,
                           struct arena *arena, struct error *err)
{
    struct table t = {.l = l, .count = top, .csv = csv, .arena = arena};
    struct filling columns = {.take = take_columns, .argument = &t},
                   degrees = {.take = take_degrees, .argument = &t};
    if (top <= 0 || top > l->count) t.count = l->count;
    t.lines = sort_lines(l, false, t.count, arena);
    t.scratch = arena_open_within(arena);
    if (csv) fill_lines(l, t.lines, t.count, &columns, t.scratch);
    fill_lines(l, t.lines, t.count, &degrees, t.scratch);
    arena_close(t.scratch);
    arena_open(t.scratch, arena->exit);
    t.mark = arena_set_mark(arena);
    return file_write_parts(to, next_part, &t, err);
}
