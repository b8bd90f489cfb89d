// One panel for each fit, two in a row, both axes logarithmic: work on the horizontal, seconds on
// the vertical axis. Faint lines are decades.
#include "calibrate/calibrate.h"

#include "data/text/svg.h"

enum {
    PANEL_WIDTH = 560,
    PANEL_HEIGHT = 340,
    LEFT = 70,
    RIGHT = 20,
    TOP = 62,
    BOTTOM = 44,
    COLUMNS = 2,
    CURVE_STEPS = 96,
    CHANNELS_DRAWN = 64
};

struct panel {
    struct text *svg;
    double x, y;                                           // of its upper left corner
    double work_low, work_high, seconds_low, seconds_high; // logarithms to base 10
};

static double across(const struct panel *p, double work)
{
    double share = (log10(fmax(work, 1e-300)) - p->work_low) / (p->work_high - p->work_low);
    return p->x + LEFT + share * (PANEL_WIDTH - LEFT - RIGHT);
}

static double down(const struct panel *p, double seconds)
{
    double share = (log10(fmax(seconds, 1e-300)) - p->seconds_low) /
                   (p->seconds_high - p->seconds_low);
    return p->y + PANEL_HEIGHT - BOTTOM - fmin(fmax(share, 0), 1) * (PANEL_HEIGHT - TOP - BOTTOM);
}

static const char *time_text(double seconds, struct arena *arena)
{
    return seconds < 0.9e-3 ? arena_print(arena, "%.3g us", 1e6 * seconds)
           : seconds < 0.9  ? arena_print(arena, "%.3g ms", 1e3 * seconds)
                            : arena_print(arena, "%.3g s", seconds);
}

static const char *size_text(double work, const char *unit, struct arena *arena)
{
    static const struct {
        double size;
        const char *prefix;
    } prefixes[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {0, ""}};
    int i = 0;
    while (work < 0.9 * prefixes[i].size) i++;
    return arena_print(arena, "%.3g %s%s", prefixes[i].size > 0 ? work / prefixes[i].size : work,
                       prefixes[i].prefix, unit);
}

// ---- a panel's frame

static void widen(double *low, double *high, double value)
{
    if (!(value > 0)) return;
    *low = fmin(*low, log10(value));
    *high = fmax(*high, log10(value));
}

static void take_ranges(struct panel *p, const struct fit_point *points, int count)
{
    for (int i = 0; i < count; i++) {
        widen(&p->work_low, &p->work_high, points[i].work);
        widen(&p->seconds_low, &p->seconds_high, points[i].low);
        widen(&p->seconds_low, &p->seconds_high, points[i].high);
    }
}

// Adds margins around the outermost points; a range of one point gets a width.
static void finish_ranges(struct panel *p)
{
    double work = fmax(0.05 * (p->work_high - p->work_low), 0.05),
           seconds = fmax(0.06 * (p->seconds_high - p->seconds_low), 0.05);
    p->work_low -= work, p->work_high += work;
    p->seconds_low -= seconds, p->seconds_high += seconds;
}

static void draw_time(const struct panel *p, double seconds, struct arena *arena)
{
    if (log10(seconds) < p->seconds_low || log10(seconds) > p->seconds_high) return;
    svg_line(p->svg, p->x + LEFT, down(p, seconds), p->x + PANEL_WIDTH - RIGHT, down(p, seconds),
             SVG_FAINT, 0.6);
    svg_text(p->svg, p->x + LEFT - 6, down(p, seconds) + 4, SVG_END, 11, SVG_INK,
             time_text(seconds, arena));
}

static void draw_frame(const struct panel *p, const char *unit, struct arena *arena)
{
    double left = p->x + LEFT, right = p->x + PANEL_WIDTH - RIGHT, top = p->y + TOP,
           bottom = p->y + PANEL_HEIGHT - BOTTOM;
    double decades = p->work_high - p->work_low;
    int step = decades > 6 ? 2 : 1;
    for (double d = ceil(p->work_low); d <= p->work_high; d += step) {
        svg_line(p->svg, across(p, pow(10, d)), top, across(p, pow(10, d)), bottom, SVG_FAINT, 0.6);
        svg_text(p->svg, across(p, pow(10, d)), bottom + 16, SVG_MIDDLE, 11, SVG_INK,
                 size_text(pow(10, d), unit, arena));
    }
    bool close = p->seconds_high - p->seconds_low < 1.5; // decades alone leave the axis bare
    for (double d = floor(p->seconds_low); d <= p->seconds_high; d++) {
        draw_time(p, pow(10, d), arena);
        if (!close) continue;
        draw_time(p, 2 * pow(10, d), arena);
        draw_time(p, 5 * pow(10, d), arena);
    }
    // The ends of the axes, if no decade line is near.
    svg_text(p->svg, left, bottom + 32, SVG_START, 10, SVG_INK,
             size_text(pow(10, p->work_low), unit, arena));
    svg_text(p->svg, right, bottom + 32, SVG_END, 10, SVG_INK,
             size_text(pow(10, p->work_high), unit, arena));
    svg_line(p->svg, left, top, left, bottom, SVG_INK, 1);
    svg_line(p->svg, left, bottom, right, bottom, SVG_INK, 1);
}

static void draw_points(const struct panel *p, const struct fit_point *points, int count,
                        struct arena *arena)
{
    for (int i = 0; i < count; i++) {
        const struct fit_point *at = &points[i];
        double x = across(p, at->work);
        svg_open(p->svg, arena_print(arena, "%s: %s, 95 %% %s to %s", at->operation,
                                     time_text(at->seconds, arena), time_text(at->low, arena),
                                     time_text(at->high, arena)));
        svg_line(p->svg, x, down(p, at->low), x, down(p, at->high), SVG_SECOND, 1.2);
        svg_circle(p->svg, x, down(p, at->seconds), 2.6, SVG_SECOND);
        svg_close(p->svg);
    }
}

static struct panel begin_panel(struct text *svg, int index)
{
    return (struct panel){svg,
                          index % COLUMNS * PANEL_WIDTH,
                          (double)(index / COLUMNS * PANEL_HEIGHT),
                          INFINITY,
                          -INFINITY,
                          INFINITY,
                          -INFINITY};
}

static void draw_titles(const struct panel *p, const char *title, const char *line)
{
    svg_text(p->svg, p->x + LEFT, p->y + 26, SVG_START, 14, SVG_INK, title);
    svg_text(p->svg, p->x + LEFT, p->y + 46, SVG_START, 11, SVG_FIRST, line);
}

// ---- fits

// The fit's prediction for each sample as a mark: with an operand or an explained part it is no
// line over the work alone.
static void draw_predictions(const struct panel *p, const struct fit *f)
{
    for (int i = 0; i < f->point_count; i++) {
        double x = across(p, f->points[i].work), y = down(p, fit_seconds(f, &f->points[i]));
        svg_line(p->svg, x - 5, y, x + 5, y, SVG_FIRST, 1.6);
    }
}

static void draw_curve(const struct panel *p, const struct fit *f)
{
    double low = f->points[0].work, high = f->points[f->point_count - 1].work;
    for (int i = 0; i < CURVE_STEPS; i++) {
        struct fit_point a = {.work = low * pow(high / low, i / (double)CURVE_STEPS)},
                         b = {.work = low * pow(high / low, (i + 1) / (double)CURVE_STEPS)};
        svg_line(p->svg, across(p, a.work), down(p, fit_seconds(f, &a)), across(p, b.work),
                 down(p, fit_seconds(f, &b)), SVG_FIRST, 1.4);
    }
}

static void draw_fit(struct text *svg, int index, const char *title, const char *unit,
                     const struct fit *f, struct arena *arena)
{
    struct panel p = begin_panel(svg, index);
    bool plain = !(f->traffic_rate.value > 0);
    for (int i = 0; i < f->point_count; i++) plain = plain && !(f->points[i].explained_s > 0);
    take_ranges(&p, f->points, f->point_count);
    for (int i = 0; i < f->point_count; i++)
        widen(&p.seconds_low, &p.seconds_high, fit_seconds(f, &f->points[i]));
    finish_ranges(&p);
    draw_frame(&p, unit, arena);
    if (plain) draw_curve(&p, f);
    else draw_predictions(&p, f);
    draw_points(&p, f->points, f->point_count, arena);
    draw_titles(&p, title,
                arena_print(arena, "%s/s (%s to %s), overhead %s; median off by %.1f %%",
                            size_text(f->rate.value, unit, arena),
                            size_text(f->rate.low, unit, arena),
                            size_text(f->rate.high, unit, arena),
                            time_text(f->overhead_s.value, arena), 100 * f->residual));
}

// ---- links

static void draw_segments(const struct panel *p, const struct segmented *f, enum svg_colour colour,
                          double width)
{
    double least = f->points[0].work, most = f->points[f->point_count - 1].work;
    for (int k = 0; k < f->segment_count; k++) {
        double low = fmax(fmax(f->segments[k].from_bytes, least), 1),
               high = k + 1 < f->segment_count ? f->segments[k + 1].from_bytes - 1 : most;
        int steps = f->segment_count > 1 ? CURVE_STEPS / 4 : CURVE_STEPS;
        for (int i = 0; i < steps && high > low; i++) {
            double a = low * pow(high / low, i / (double)steps),
                   b = low * pow(high / low, (i + 1) / (double)steps);
            svg_line(p->svg, across(p, a), down(p, segmented_seconds(f, a)), across(p, b),
                     down(p, segmented_seconds(f, fmin(b, high))), colour, width);
        }
    }
}

static void draw_class(struct text *svg, int index, const struct link_fits *links,
                       const struct channel_class *k, struct arena *arena)
{
    struct panel p = begin_panel(svg, index);
    struct interval rate = segmented_rate(&k->fit), latency = segmented_latency(&k->fit);
    for (int i = 0; i < k->channel_count; i++)
        take_ranges(&p, links->channels[k->channels[i]].fit.points,
                    links->channels[k->channels[i]].fit.point_count);
    finish_ranges(&p);
    draw_frame(&p, "B", arena);
    for (int i = 0; i < k->channel_count; i++) {
        const struct channel *c = &links->channels[k->channels[i]];
        bool alarm = c->slow || c->late || c->asymmetric;
        if (!alarm && i >= CHANNELS_DRAWN) continue;
        svg_open(svg, arena_print(arena, "%s%s%s%s", c->fit.name, c->slow ? ", slow" : "",
                                  c->late ? ", late" : "", c->asymmetric ? ", asymmetric" : ""));
        draw_segments(&p, &c->fit, alarm ? SVG_ALARM : SVG_FAINT, alarm ? 1.2 : 0.8);
        svg_close(svg);
    }
    draw_segments(&p, &k->fit, SVG_FIRST, 1.8);
    draw_points(&p, k->fit.points, k->fit.point_count, arena);
    draw_titles(&p,
                arena_print(arena, "%s, %d ranks, %s", k->operation, k->ranks,
                            k->between_nodes ? "between nodes" : "in a node"),
                arena_print(arena, "%s/s (%s to %s), latency %s; %d of %d, %d segment%s",
                            size_text(rate.value, "B", arena), size_text(rate.low, "B", arena),
                            size_text(rate.high, "B", arena), time_text(latency.value, arena),
                            k->channel_count, k->channel_count, k->fit.segment_count,
                            k->fit.segment_count == 1 ? "" : "s"));
}

// ---- the drawing

int drawn_collect(struct drawn *to, const struct calibration *c, struct arena *arena)
{
    static const char *const names[] = {[UNIT_FLOP] = "FLOP",
                                        [UNIT_BYTES] = "B",
                                        [UNIT_VALUES] = "values",
                                        [UNIT_CALLS] = "blocks"};
    int count = 0;
    for (int i = 0; i < c->precision_count; i++)
        for (int k = 0; k < KERNELS_OF_PRECISION; k++)
            if (c->precisions[i].kernels[k])
                to[count++] =
                    (struct drawn){arena_print(arena, "%s, %s", kernel_kinds[k].title,
                                               precision_names[c->precisions[i].precision]),
                                   names[kernel_kinds[k].unit], c->precisions[i].kernels[k]};
    for (int k = KERNELS_OF_PRECISION; k < KERNEL_COUNT; k++)
        if (c->kernels[k] && (k == KERNEL_COPY || c->kernels[k] != c->kernels[KERNEL_COPY]))
            to[count++] =
                (struct drawn){kernel_kinds[k].title, names[kernel_kinds[k].unit], c->kernels[k]};
    return count;
}

enum status calibration_draw(const struct calibration *c, const char *path, struct arena *arena,
                             struct error *err)
{
    struct drawn *fits = TAKE(arena, DRAWN_MOST, struct drawn);
    int fit_count = drawn_collect(fits, c, arena), count = fit_count + c->links.class_count,
        rows = (count + COLUMNS - 1) / COLUMNS;
    struct text svg;
    svg_begin(&svg, COLUMNS * PANEL_WIDTH, rows * PANEL_HEIGHT,
              arena_print(arena, "Costs of %s: fits against their samples", c->gpu), arena);
    for (int i = 0; i < fit_count; i++)
        draw_fit(&svg, i, fits[i].title, fits[i].unit, fits[i].fit, arena);
    for (int k = 0; k < c->links.class_count; k++)
        draw_class(&svg, fit_count + k, &c->links, &c->links.classes[k], arena);
    return svg_write(&svg, path, err);
}
