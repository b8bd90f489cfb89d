// What was predicted and measured, as text and for a page.
#include <inttypes.h>

#include "solve/report/against/against.h"
#include "solve/report/html/html.h"

static double percent(double measured, double predicted)
{
    return predicted > 0 ? 100 * (measured / predicted - 1) : 0;
}

static const char *verdict(const struct against *a)
{
    const struct plan *p = a->plan;
    if (!p->iteration_high_ns) return "";
    return a->measured_ns < p->iteration_low_ns || a->measured_ns > p->iteration_high_ns
               ? ", outside the cost uncertainty"
               : ", within the cost uncertainty";
}

// At which speed of the machine the run's times are given, and whether it changed meanwhile.
static void put_speed(struct text *out, const struct plan_run *r)
{
    static const double much = 0.1;
    int moved = 0;
    if (!r->yardstick_ns) return;
    for (int i = 0; i < r->iteration_count; i++)
        moved += fabs((double)r->iterations[i].yardstick_ns / (double)r->yardstick_ns - 1) > much;
    text_put(out, "the reference layer took %s beside it",
             report_time(r->yardstick_ns, out->arena));
    if (r->speed > 0)
        text_put(out,
                 "; measured times are multiplied by %.3f, to the speed at which the costs were "
                 "measured",
                 r->speed);
    if (moved)
        text_put(out, "; in %d of %d iterations it took more than %.0f %% longer", moved,
                 r->iteration_count, 100 * much);
    text_put(out, "\n");
}

static void put_verdict(struct text *out, const struct against *a)
{
    struct arena *arena = out->arena;
    const struct plan_run *r = a->run;
    text_put(
        out,
        "%s: measured %s (%s to %s; %d iterations with %s, %s clock), predicted %s%s, %+.1f %%%s\n",
        a->plan->name ? a->plan->name : "plan", report_time(a->measured_ns, arena),
        report_time(a->low_ns, arena), report_time(a->high_ns, arena), r->iteration_count,
        runner_names[r->with], run_clock_names[r->clock],
        report_time(a->predicted.iteration_ns, arena), report_interval(a->plan, arena),
        percent((double)a->measured_ns, (double)a->predicted.iteration_ns), verdict(a));
    put_speed(out, r);
}

static void rows_table(struct report_table *t, const struct against *a, struct arena *arena)
{
    static const char *const headings[] = {"what",     "stage", "rank", "count", "predicted",
                                           "measured", "from",  "to",   "off %"};
    report_table_begin(t, headings, "lrrrrrrrr", arena);
    for (int i = 0; i < a->row_count; i++) {
        const struct against_row *r = &a->rows[i];
        report_cell(t, a->plan->layout.slice_count > 1 && r->kind < EVENT_SYNC
                           ? arena_print(arena, "%s, slice %d", run_event_names[r->kind], r->slice)
                           : run_event_names[r->kind]);
        report_cell(t, arena_print(arena, "%d", r->stage));
        report_cell(t, arena_print(arena, "%d", r->rank));
        report_cell(t, arena_print(arena, "%d", r->count));
        report_cell(t, report_time(r->predicted_ns, arena));
        report_cell(t, report_time((int64_t)r->measured_ns, arena));
        report_cell(t, report_time((int64_t)r->low_ns, arena));
        report_cell(t, report_time((int64_t)r->high_ns, arena));
        report_cell(
            t, r->predicted_ns
                   ? arena_print(arena, "%+.1f", percent(r->measured_ns, (double)r->predicted_ns))
                   : "-");
    }
}

static void steps_table(struct report_table *t, const struct against *a, struct arena *arena)
{
    static const char *const headings[] = {"what", "added", "of the predicted time %"};
    report_table_begin(t, headings, "lrr", arena);
    for (int i = 0; i < AGAINST_STEPS; i++) {
        int64_t ns = a->steps_ns[i];
        if (!ns && i != AGAINST_MODEL) continue;
        report_cell(t, against_step_names[i]);
        report_cell(t, arena_print(arena, "%s%s", ns < 0 ? "-" : "+",
                                   report_time(ns < 0 ? -ns : ns, arena)));
        report_cell(
            t, arena_print(arena, "%+.2f", 100 * (double)ns / (double)a->predicted.iteration_ns));
    }
}

static void memory_table(struct report_table *t, const struct against *a, struct arena *arena)
{
    static const char *const headings[] = {"rank", "predicted GB", "held GB", "off %"};
    report_table_begin(t, headings, "rrrr", arena);
    for (int i = 0; i < a->run->rank_count; i++) {
        const struct run_rank *k = &a->run->ranks[i];
        int64_t limit, predicted = memory_total(plan_memory(a->plan, k->rank, &limit));
        if (!k->peak_bytes) continue;
        report_cell(t, arena_print(arena, "%d", k->rank));
        report_cell(t, arena_print(arena, "%.3f", (double)predicted / 1e9));
        report_cell(t, arena_print(arena, "%.3f", (double)k->peak_bytes / 1e9));
        report_cell(t,
                    arena_print(arena, "%+.1f", percent((double)k->peak_bytes, (double)predicted)));
    }
}

static bool holds_memory(const struct against *a)
{
    bool any = false;
    for (int i = 0; i < a->run->rank_count; i++) any = any || a->run->ranks[i].peak_bytes;
    return any;
}

static void put_steps(struct text *out, const struct against *a)
{
    struct report_table t;
    text_put(out,
             "\nWhat the difference is made of (the plan's graph, replayed with measured times)\n");
    steps_table(&t, a, out->arena);
    report_table_print(out, &t);
}

void against_summary(struct text *out, const struct against *a)
{
    put_verdict(out, a);
    put_steps(out, a);
}

void against_text(struct text *out, const struct against *a)
{
    struct report_table t;
    put_verdict(out, a);
    text_put(out, "\nPasses, messages and syncs (median of all, with its 95 %% interval)\n");
    rows_table(&t, a, out->arena);
    report_table_print(out, &t);
    put_steps(out, a);
    if (against_kernels_table(&t, a, out->arena)) {
        text_put(out, "\nKernels and rings (what each added to a rank's iteration, where the "
                      "plan's costs have a rate for it)\n");
        report_table_print(out, &t);
    }
    if (holds_memory(a)) {
        text_put(out, "\nMemory\n");
        memory_table(&t, a, out->arena);
        report_table_print(out, &t);
    }
    text_put(out, "\nAs predicted\n");
    report_gantt(out, &a->predicted);
    text_put(out, "\nAs measured, iteration %d\n", plan_run_typical(a->run, out->arena) + 1);
    report_gantt(out, &a->measured);
}

// ---- for a page

enum { CHART_WIDTH = 1000, ROW_HEIGHT = 18 };

static void draw_rank(struct text *out, const struct report_replay *r, const struct stream *stream,
                      int top, int64_t span_ns)
{
    static const char *const fills[] = {"#4878a8", "#d08048", "#70a050"};
    for (int i = 0; i < stream->count; i++) {
        int operation = stream->operations[i],
            kind = symbol_base_kind(report_kind_of(r, operation));
        int64_t start = r->start_ns[operation], length = r->end_ns[operation] - start;
        const char *fill = kind <= SYMBOL_WEIGHT      ? fills[kind]
                           : kind == SYMBOL_OPTIMIZER ? "#805090"
                                                      : "#b0b0b0";
        if (length <= 0) continue;
        text_put(out,
                 "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"%s\"><title>%s of "
                 "stage %d, micro-batch %d: %" PRId64 " ns</title></rect>\n",
                 (double)CHART_WIDTH * (double)start / (double)span_ns, top,
                 (double)CHART_WIDTH * (double)length / (double)span_ns, ROW_HEIGHT - 2, fill,
                 symbol_kind_name(kind), r->schedule.operations[operation].stage,
                 r->schedule.operations[operation].micro_batch, length);
    }
}

static int draw(struct text *out, const struct report_replay *r, const char *title, int top,
                int64_t span_ns)
{
    text_put(out, "<text x=\"0\" y=\"%d\" font-size=\"13\">%s</text>\n", top + 13, title);
    top += ROW_HEIGHT;
    for (int i = 0; i < r->schedule.stream_count; i++) {
        const struct stream *stream = &r->schedule.streams[i];
        if (stream->kind != STREAM_COMPUTE) continue;
        draw_rank(out, r, stream, top, span_ns);
        top += ROW_HEIGHT;
    }
    return top + ROW_HEIGHT / 2;
}

// Both charts on one scale, one above the other (SVG), for a page.
static void against_chart(struct text *out, const struct against *a)
{
    int64_t span = a->predicted.span_ns > a->measured.span_ns ? a->predicted.span_ns
                                                              : a->measured.span_ns;
    int ranks = a->predicted.schedule.request.rank_count, height = 2 * (ranks + 2) * ROW_HEIGHT,
        top;
    if (span <= 0) return;
    text_put(out,
             "<svg id=\"against-chart\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"the "
             "schedule as predicted and as measured\">\n",
             CHART_WIDTH, height);
    top = draw(out, &a->predicted, "predicted", 0, span);
    draw(out, &a->measured, "measured", top, span);
    text_put(out, "</svg>\n");
}

void against_page(struct text *out, const struct against *a)
{
    struct report_table t;
    struct text words;
    text_begin(&words, out->arena);
    put_verdict(&words, a);
    text_put(out, "<p>%s</p>\n", html_escape(words.text, out->arena));
    against_chart(out, a);
    steps_table(&t, a, out->arena);
    html_table(out, &t, "what the difference is made of");
    rows_table(&t, a, out->arena);
    html_table(out, &t, "passes, messages and syncs");
    if (against_kernels_table(&t, a, out->arena)) html_table(out, &t, "kernels and rings");
    if (!holds_memory(a)) return;
    memory_table(&t, a, out->arena);
    html_table(out, &t, "memory held");
}
