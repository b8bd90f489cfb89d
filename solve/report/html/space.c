// Layouts: the outcome for the whole space, and the best layouts with the times of their best
// plans.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "data/kinds/schedules.h"
#include "solve/report/html/html.h"

static const char *count_of(int64_t count, int64_t nothing, struct arena *arena)
{
    return count == nothing ? "-" : arena_print(arena, "%" PRId64, count);
}

static const char *yes(bool is) { return is ? "yes" : "-"; }

static void put_degrees(struct report_table *t, const struct layout *x)
{
    struct arena *arena = t->arena;
    report_cell(t, layout_tensor_text(x, arena));
    report_cell(t, layout_context_text(x, arena));
    report_cell(t, count_of(x->pipeline, -1, arena));
    report_cell(t, count_of(x->data, -1, arena));
    const char *experts = layout_experts_text(x, arena);
    report_cell(t, *experts ? experts + strlen(", expert ") : "-");
    report_cell(t, count_of(x->virtual_stages, 1, arena));
    report_cell(t, count_of(x->micro_batch, -1, arena));
    report_cell(t, x->in_flight[0] ? arena_print(arena, "%s %s", schedule_names[x->schedule],
                                                 report_in_flight(x, arena))
                                   : schedule_names[x->schedule]);
    report_cell(t, count_of(x->zero, -1, arena));
    report_cell(t, gradient_sync_names[x->gradient_sync]);
    report_cell(t, yes(x->sequence_parallel));
    report_cell(t, yes(x->offload_optimizer));
    report_cell(t, yes(!x->barrier));
    report_cell(t, yes(x->fused_embedding_sync));
    report_cell(t, count_of(x->local_loss_every, 0, arena));
    report_cell(t, count_of(x->slice_count, 1, arena));
}

static void put_line(struct report_table *t, const struct layouts *l,
                     const struct report_layout *line)
{
    struct arena *arena = t->arena;
    enum layout_fate fate = layouts_fate(l, line->number);
    int64_t ns = line->work ? line->work->iteration_ns : 0, value = l->value[line->number];
    report_cell(t, arena_print(arena, "%" PRId64, line->number));
    report_cell(t, arena_print(arena, "%s%s", layout_fate_names[fate],
                               line->number == l->chosen ? ", chosen" : ""));
    report_cell(t, report_seconds(ns, arena));
    report_cell(t, ns > 0 && l->iteration_ns > 0
                       ? arena_print(arena, "%+.2f %%",
                                     100 * (double)(ns - l->iteration_ns) / (double)l->iteration_ns)
                       : "-");
    report_cell(t, report_seconds(report_has_time(fate) ? value : 0, arena));
    report_cell(t, fate == FATE_MEMORY ? report_gigabytes(value, arena) : "-");
    put_degrees(t, &line->layout);
}

static int by_count(const void *a, const void *b)
{
    const struct layouts_reason *x = a, *y = b;
    if (x->fate != y->fate) return x->fate < y->fate ? -1 : 1;
    return x->count < y->count ? 1 : x->count > y->count ? -1 : 0;
}

// For each fate, the reasons with most layouts.
static void put_counts(struct text *out, const struct layouts *l)
{
    enum { REASONS_MOST = 8 };
    static const char *const headings[] = {"fate", "layouts", "why"};
    struct report_table t;
    struct layouts_reason *sorted = TAKE(out->arena, l->reason_count, struct layouts_reason);
    report_table_begin(&t, headings, "lrl", out->arena);
    for (int i = 0; i < l->reason_count; i++) sorted[i] = l->reasons[i];
    qsort(sorted, (size_t)l->reason_count, sizeof *sorted, by_count);
    for (int i = 0, first = 0; i < l->reason_count; i++) {
        bool last = i + 1 == l->reason_count || sorted[i + 1].fate != sorted[i].fate;
        if (i - first >= REASONS_MOST && !last)
            sorted[i + 1].count += sorted[i].count, sorted[i + 1].text = "for other reasons";
        else if (sorted[i].count) {
            report_cell(&t, layout_fate_names[sorted[i].fate]);
            report_cell(&t, arena_print(out->arena, "%" PRId64, sorted[i].count));
            report_cell(&t, *sorted[i].text ? sorted[i].text : "-");
        }
        if (last) first = i + 1;
    }
    html_table(out, &t, "fates");
}

void html_layouts(struct text *out, const struct layouts *l, int64_t top)
{
    static const char *const headings[] = {
        "layout",      "fate",       "plan, s",      "behind chosen", "bound, s",  "GB too large",
        "tensor",      "context",    "pipeline",     "data",          "expert",    "stages/rank",
        "micro-batch", "schedule",   "ZeRO",         "sync",          "seq. par.", "offload",
        "no barrier",  "fused emb.", "local losses", "slices"};
    struct report_table t;
    int64_t count = top;
    const struct report_layout *lines = report_layouts_sorted(l, true, &count, out->arena);
    report_table_begin(&t, headings, "rlrrrrrrrrrrrlrllllllr", out->arena);
    for (int64_t i = 0; i < count; i++) put_line(&t, l, &lines[i]);
    text_put(out, "<p>%" PRId64 " layouts%s; those with a plan first, then by bound%s.%s</p>\n",
             l->count, layouts_space_words(l, out->arena),
             count < l->count ? arena_print(out->arena, "; the first %" PRId64 " are shown", count)
                              : "",
             l->objective == OBJECTIVE_ITERATION_TIME
                 ? ""
                 : arena_print(out->arena, " Times are of the objective %s.",
                               objective_names[l->objective]));
    html_table(out, &t, "layouts-table");
    put_counts(out, l);
}
