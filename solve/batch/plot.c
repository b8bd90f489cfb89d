// Drawings of a batch: time and throughput by GPUs, time by price, gaps over time.
#include <stdlib.h>
#include <string.h>

#include "data/base/grow.h"
#include "solve/batch/table.h"
#include "solve/report/html/html.h"

const char *const plot_names[] = {"time", "pareto", "gap", "scaling", NULL};

enum { LEFT = 84, TOP = 20, WIDTH = 560, HEIGHT = 320, RIGHT = 280, BELOW = 56, SERIES_SHOWN = 15 };

struct point_drawn {
    double x, y;
    const char *name;
};

// A series: one colour and shape.
struct series {
    const char *label;
    struct point_drawn *points;
    int count, capacity;
};

struct axis_drawn {
    double low, high;
    enum {
        EVEN,
        IN_LOGS,
        DOUBLING
    } scale;     // ticks: equal steps; 1, 2, 5, 10 ...; each twice the previous one
    double step; // for equal steps
    const char *title;
};

struct frame {
    struct text svg;
    struct axis_drawn x, y;
    struct series *series;
    int series_count, series_capacity;
    struct arena *arena;
};

// ---- axes

static double share_of(const struct axis_drawn *a, double value)
{
    return a->scale != EVEN ? log(value / a->low) / log(a->high / a->low)
                            : (value - a->low) / (a->high - a->low);
}
static double x_of(const struct frame *f, double value)
{
    return LEFT + WIDTH * share_of(&f->x, value);
}
static double y_of(const struct frame *f, double value)
{
    return TOP + HEIGHT * (1 - share_of(&f->y, value));
}

// 1, 2 or 5 times a power of ten: the greatest that is at most `value`, and the one after `step`.
static double round_below(double value)
{
    double power = pow(10, floor(log10(value) + 1e-9)), times = value / power * (1 + 1e-9);
    return power * (times >= 5 ? 5 : times >= 2 ? 2 : 1);
}
static double round_behind(double step) { return round_below(step * 2.6); }

static void widen(struct axis_drawn *a, double value)
{
    a->low = fmin(a->low, value);
    a->high = fmax(a->high, value);
}

// Extends the ends to round numbers, so that they have ticks.
static void round_ends(struct axis_drawn *a)
{
    double high = a->high * (1 - 1e-9);
    if (a->scale == DOUBLING) {
        double end = a->low * 2;
        while (end < high) end *= 2;
        a->high = end;
    } else if (a->scale == IN_LOGS) {
        a->low = a->high = round_below(a->low);
        while (a->high < high || a->high <= a->low) a->high = round_behind(a->high);
    } else {
        if (!(a->high > a->low)) a->high = a->low + (a->low > 0 ? a->low / 10 : 1);
        a->step = round_behind(round_below((a->high - a->low) / 6));
        a->low = floor(a->low / a->step) * a->step;
        a->high = ceil(a->high / a->step) * a->step;
    }
}

static double tick_behind(const struct axis_drawn *a, double tick)
{
    return a->scale == DOUBLING  ? 2 * tick
           : a->scale == IN_LOGS ? round_behind(tick)
                                 : tick + a->step;
}

static void draw_axes(struct frame *f)
{
    for (double v = f->y.low; v <= f->y.high * (1 + 1e-9) + 1e-9 * f->y.step;
         v = tick_behind(&f->y, v)) {
        svg_line(&f->svg, LEFT, y_of(f, v), LEFT + WIDTH, y_of(f, v), SVG_FAINT, 1);
        svg_text(&f->svg, LEFT - 8, y_of(f, v) + 4, SVG_END, 11, SVG_INK,
                 arena_print(f->arena, "%.8g", v));
    }
    for (double v = f->x.low; v <= f->x.high * (1 + 1e-9) + 1e-9 * f->x.step;
         v = tick_behind(&f->x, v)) {
        svg_line(&f->svg, x_of(f, v), TOP + HEIGHT, x_of(f, v), TOP + HEIGHT + 5, SVG_MUTED, 1);
        svg_text(&f->svg, x_of(f, v), TOP + HEIGHT + 19, SVG_MIDDLE, 11, SVG_INK,
                 arena_print(f->arena, "%.8g", v));
    }
    svg_line(&f->svg, LEFT, TOP + HEIGHT, LEFT + WIDTH, TOP + HEIGHT, SVG_MUTED, 1);
    svg_text(&f->svg, LEFT + WIDTH / 2.0, TOP + HEIGHT + 42, SVG_MIDDLE, 12, SVG_INK, f->x.title);
    svg_text_upwards(&f->svg, 16, TOP + HEIGHT / 2.0, SVG_MIDDLE, 12, SVG_INK, f->y.title);
}

// ---- series

static enum svg_colour colour_of(int series)
{
    static const enum svg_colour colours[] = {SVG_FIRST, SVG_SECOND, SVG_THIRD, SVG_RING,
                                              SVG_ALARM};
    return series < SERIES_SHOWN ? colours[series % (int)ARRAY_LENGTH(colours)] : SVG_MUTED;
}
static enum svg_shape shape_of(int series) { return (enum svg_shape)(series / 5 % 3); }

static struct series *find_series(struct frame *f, const char *label)
{
    for (int s = 0; s < f->series_count; s++)
        if (!strcmp(f->series[s].label, label)) return &f->series[s];
    GROW(f->arena, f->series, f->series_count, f->series_capacity, 16);
    f->series[f->series_count] = (struct series){.label = label};
    return &f->series[f->series_count++];
}

static void add_point(struct frame *f, const char *label, double x, double y, const char *name)
{
    struct series *s = find_series(f, label);
    *GROWN(f->arena, s->points, s->count, s->capacity, 8) = (struct point_drawn){x, y, name};
    widen(&f->x, x);
    widen(&f->y, y);
}

static int by_x(const void *a, const void *b)
{
    const struct point_drawn *p = a, *q = b;
    return p->x != q->x ? (p->x > q->x) - (p->x < q->x) : (p->y > q->y) - (p->y < q->y);
}

static void draw_marks(struct frame *f, int series)
{
    const struct series *s = &f->series[series];
    for (int i = 0; i < s->count; i++) {
        svg_open(&f->svg, s->points[i].name);
        svg_mark(&f->svg, shape_of(series), x_of(f, s->points[i].x), y_of(f, s->points[i].y), 4.5,
                 colour_of(series), SVG_PAPER, 1);
        svg_close(&f->svg);
    }
}

static void draw_path(struct frame *f, const struct point_drawn *p, int count, bool steps,
                      enum svg_colour colour, double width)
{
    for (int i = 1; i < count; i++) {
        double x = x_of(f, p[i - 1].x), y = y_of(f, p[i - 1].y), to = x_of(f, p[i].x);
        if (!steps) svg_line(&f->svg, x, y, to, y_of(f, p[i].y), colour, width);
        if (steps) svg_line(&f->svg, x, y, to, y, colour, width);
        if (steps) svg_line(&f->svg, to, y, to, y_of(f, p[i].y), colour, width);
    }
}

static void draw_legend(struct frame *f)
{
    enum { LINE = 19, LETTERS = 38 };
    double x = LEFT + WIDTH + 24, y = TOP + 8;
    int shown = f->series_count < SERIES_SHOWN ? f->series_count : SERIES_SHOWN;
    if (f->series_count == 1 && !*f->series[0].label) return;
    for (int s = 0; s < shown; s++, y += LINE) {
        const char *label = f->series[s].label;
        svg_mark(&f->svg, shape_of(s), x, y, 4.5, colour_of(s), SVG_PAPER, 1);
        size_t length = strlen(label);
        if (length > LETTERS) // the distinguishing part is mostly at the end
            label = arena_print(f->arena, "...%s", label + length - LETTERS + 3);
        svg_text(&f->svg, x + 12, y + 4, SVG_START, 11, SVG_INK, label);
    }
    if (f->series_count > shown)
        svg_text(&f->svg, x + 12, y + 4, SVG_START, 11, SVG_MUTED,
                 arena_print(f->arena, "%d more in grey", f->series_count - shown));
}

// ---- what is drawn

// A series has the rows that differ only in nodes and GPUs, unless they are grouped.
static const char *label_of(const struct batch_table *t, const struct batch_row *row,
                            const char *const *varying)
{
    const char **kept = TAKE(t->arena, COLUMN_COUNT + t->column_count, const char *);
    int count = 0;
    if (t->group >= 0)
        return *t->groups[row->group] ? arena_print(t->arena, "%s %s", t->columns[t->group].heading,
                                                    t->groups[row->group])
                                      : "others";
    for (int k = 0; varying[k]; k++)
        if (strcmp(varying[k], "nodes") && strcmp(varying[k], "gpus")) kept[count++] = varying[k];
    return count ? instance_label(row->instance, kept, t->arena) : "";
}

static void add_rows(struct frame *f, const struct batch_table *t, int x, int y, double x_times)
{
    const char *const *varying = batch_varying(t->batch, t->arena);
    for (int i = 0; i < t->row_count; i++) {
        const struct batch_row *row = &t->rows[i];
        double a = row->values[x].number, b = row->values[y].number;
        if (!(a > 0) || !(b > 0)) continue;
        add_point(f, label_of(t, row, varying), x_times > 0 ? x_times / a : a, b,
                  row->values[COLUMN_NAME].text);
    }
}

static void draw_time(struct frame *f)
{
    for (int s = 0; s < f->series_count; s++) {
        draw_path(f, f->series[s].points, f->series[s].count, false, colour_of(s), 1.5);
        draw_marks(f, s);
    }
}

// Ideal scaling from the fewest GPUs of a series.
static void draw_scaling(struct frame *f)
{
    for (int s = 0; s < f->series_count; s++) {
        const struct point_drawn *first = &f->series[s].points[0],
                                 *last = &f->series[s].points[f->series[s].count - 1];
        const struct point_drawn ideal[] = {*first, {last->x, first->y * last->x / first->x, ""}};
        draw_path(f, ideal, 2, false, SVG_FAINT, 5);
    }
    draw_time(f);
    svg_line(&f->svg, LEFT + 12, TOP + 12, LEFT + 36, TOP + 12, SVG_FAINT, 5);
    svg_text(&f->svg, LEFT + 42, TOP + 16, SVG_START, 11, SVG_INK, "ideal");
}

static void draw_pareto(struct frame *f)
{
    struct point_drawn *all = NULL;
    int count = 0, capacity = 0, front = 0;
    for (int s = 0; s < f->series_count; s++)
        for (int i = 0; i < f->series[s].count; i++)
            *GROWN(f->arena, all, count, capacity, 16) = f->series[s].points[i];
    qsort(all, (size_t)count, sizeof *all, by_x);
    for (int i = 0; i < count; i++)
        if (!front || all[i].y < all[front - 1].y) all[front++] = all[i];
    draw_path(f, all, front, true, SVG_INK, 1.2);
    for (int s = 0; s < f->series_count; s++) draw_marks(f, s);
}

static void draw_gaps(struct frame *f)
{
    for (int s = 0; s < f->series_count; s++) {
        const struct series *of = &f->series[s];
        svg_open(&f->svg, of->points[0].name);
        draw_path(f, of->points, of->count, true, colour_of(s), 1.5);
        svg_close(&f->svg);
        const struct point_drawn *end = &of->points[of->count - 1];
        svg_mark(&f->svg, shape_of(s), x_of(f, end->x), y_of(f, end->y), 4.5, colour_of(s),
                 SVG_PAPER, 1);
    }
}

// From the progress that solve left in the log; otherwise only the end.
static void add_gaps(struct frame *f, const struct batch_table *t)
{
    struct arena *scratch = arena_open_within(t->arena);
    const struct arena_mark mark = arena_set_mark(scratch);
    for (int i = 0; i < t->row_count; i++) {
        struct error unread = {OK, ""};
        struct plan plan;
        struct report_page page = {.plan = &plan};
        double seconds = 0; // times in the log are rounded, the plan's own are not
        const char *id = t->rows[i].instance->id, *name = t->rows[i].values[COLUMN_NAME].text;
        arena_reset(scratch, mark);
        if (!t->rows[i].values[COLUMN_NODES].text ||
            plan_load(&plan, batch_path(t->batch, id, "result/plan.json", scratch), scratch,
                      &unread) != OK ||
            report_history_read(&page, batch_path(t->batch, id, "result/log", scratch), scratch,
                                &unread) != OK)
            continue;
        for (int k = 0; k < page.moment_count; k++) {
            const struct report_moment *m = &page.moments[k];
            if (!m->plan_ns) continue;
            double gap = 100 * (1 - (double)m->bound_ns / (double)m->plan_ns);
            add_point(f, name, seconds = fmax(seconds, m->seconds), fmax(gap, 0), name);
        }
    }
}

static const char *fill(struct frame *f, const struct batch_table *t, enum plot plot)
{
    switch (plot) {
    case PLOT_TIME:
        f->x = (struct axis_drawn){INFINITY, -INFINITY, DOUBLING, 0, "GPUs"};
        f->y = (struct axis_drawn){INFINITY, -INFINITY, IN_LOGS, 0, "iteration time (s)"};
        add_rows(f, t, COLUMN_GPUS, COLUMN_ITERATION_S, 0);
        return "rows with a time and GPUs";
    case PLOT_SCALING:
        f->x = (struct axis_drawn){INFINITY, -INFINITY, DOUBLING, 0, "GPUs"};
        f->y = (struct axis_drawn){INFINITY, -INFINITY, IN_LOGS, 0, "tokens a second"};
        add_rows(f, t, COLUMN_GPUS, COLUMN_TOKENS, 0);
        return "rows with tokens and GPUs";
    case PLOT_PARETO:
        f->x = (struct axis_drawn){INFINITY, -INFINITY, EVEN, 0, "time of a million tokens (s)"};
        f->y = (struct axis_drawn){INFINITY, -INFINITY, EVEN, 0, "price of a million tokens"};
        add_rows(f, t, COLUMN_TOKENS, COLUMN_PRICE_TOKENS, 1e6);
        return "rows with a price: a cluster with gpu_hour_price";
    default:
        f->x = (struct axis_drawn){0, -INFINITY, EVEN, 0, "time (s)"};
        f->y = (struct axis_drawn){0, -INFINITY, EVEN, 0, "gap (%)"};
        add_gaps(f, t);
        return "logs with progress: solves of some seconds";
    }
}

bool table_plot(struct text *svg, const struct batch_table *t, enum plot plot, const char **lacking)
{
    static void (*const draw[])(struct frame * f) = {draw_time, draw_pareto, draw_gaps,
                                                     draw_scaling};
    struct frame f = {.arena = t->arena};
    *lacking = fill(&f, t, plot);
    if (!f.series_count) return false;
    for (int s = 0; s < f.series_count && plot != PLOT_GAP; s++)
        qsort(f.series[s].points, (size_t)f.series[s].count, sizeof *f.series[s].points, by_x);
    for (int s = 0; s < f.series_count && plot == PLOT_SCALING; s++) {
        const struct series *of = &f.series[s];
        widen(&f.y, of->points[0].y * of->points[of->count - 1].x / of->points[0].x);
    }
    round_ends(&f.x), round_ends(&f.y);
    svg_begin(&f.svg, LEFT + WIDTH + RIGHT, TOP + HEIGHT + BELOW,
              arena_print(f.arena, "%s against %s", f.y.title, f.x.title), f.arena);
    draw_axes(&f);
    draw[plot](&f);
    draw_legend(&f);
    svg_end(&f.svg);
    *svg = f.svg;
    return true;
}
