// How far each sample is from its fit: a panel for each fit, for the classes of links, and for
// whole layers. Work, or the layer's kernels, on the horizontal axis, logarithmic; measured over
// fitted on the vertical one, in per cent, on a scale that holds the furthest.
#include <string.h>

#include "calibrate/calibrate.h"
#include "data/text/svg.h"

enum {
    PANEL_WIDTH = 560,
    PANEL_HEIGHT = 260,
    LEFT = 64,
    RIGHT = 20,
    TOP = 62,
    BOTTOM = 34,
    COLUMNS = 2
};

// One sample: its name, work, fitted seconds, the median and its interval.
struct residual {
    const char *name;
    double work, fitted, seconds, low, high;
};

struct panel {
    struct text *svg;
    double x, y, work_low, work_high, most; // logarithms of work; the scale's end, a share
    struct arena *arena;
};

static double share_of(double seconds, double fitted) { return seconds / fitted - 1; }

static double across(const struct panel *p, double work)
{
    double share = (log10(fmax(work, 1e-300)) - p->work_low) / (p->work_high - p->work_low);
    return p->x + LEFT + share * (PANEL_WIDTH - LEFT - RIGHT);
}

static double down(const struct panel *p, double share)
{
    double height = PANEL_HEIGHT - TOP - BOTTOM;
    return p->y + TOP + height / 2 * (1 - fmin(fmax(share / p->most, -1), 1));
}

static void draw_frame(const struct panel *p)
{
    for (int i = -2; i <= 2; i++) {
        double share = p->most * i / 2, y = down(p, share);
        svg_line(p->svg, p->x + LEFT, y, p->x + PANEL_WIDTH - RIGHT, y, i ? SVG_FAINT : SVG_INK,
                 i ? 0.6 : 1);
        svg_text(p->svg, p->x + LEFT - 6, y + 4, SVG_END, 11, SVG_INK,
                 arena_print(p->arena, "%+g %%", 100 * share));
    }
    svg_line(p->svg, p->x + LEFT, p->y + TOP, p->x + LEFT, p->y + PANEL_HEIGHT - BOTTOM, SVG_INK,
             1);
}

// The next of 5, 10, 20, 50, 100 ... per cent.
static double scale_of(double furthest)
{
    static const double steps[] = {0.05, 0.1, 0.2, 0.5, 1, 2, 5};
    size_t i = 0;
    while (i + 1 < ARRAY_LENGTH(steps) && steps[i] < furthest) i++;
    return steps[i];
}

static void draw_one(const struct panel *p, const struct residual *r)
{
    double x = across(p, r->work), off = share_of(r->seconds, r->fitted);
    svg_open(p->svg,
             arena_print(p->arena, "%s: %+.1f %% (%+.1f to %+.1f)", r->name, 100 * off,
                         100 * share_of(r->low, r->fitted), 100 * share_of(r->high, r->fitted)));
    svg_line(p->svg, x, down(p, share_of(r->low, r->fitted)), x,
             down(p, share_of(r->high, r->fitted)), SVG_SECOND, 1.2);
    svg_circle(p->svg, x, down(p, off), 2.6, fabs(off) > 0.1 ? SVG_ALARM : SVG_SECOND);
    svg_close(p->svg);
}

static void draw_panel(struct text *svg, int index, const char *title, const struct residual *all,
                       int count, struct arena *arena)
{
    struct panel p = {.svg = svg,
                      .x = index % COLUMNS * PANEL_WIDTH,
                      .y = (double)(index / COLUMNS * PANEL_HEIGHT),
                      .work_low = INFINITY,
                      .work_high = -INFINITY,
                      .arena = arena};
    const struct residual *worst = all;
    double furthest = 0, *offs = TAKE(arena, count, double);
    for (int i = 0; i < count; i++) {
        p.work_low = fmin(p.work_low, log10(fmax(all[i].work, 1e-300)));
        p.work_high = fmax(p.work_high, log10(fmax(all[i].work, 1e-300)));
        offs[i] = fabs(share_of(all[i].seconds, all[i].fitted));
        if (offs[i] > furthest) worst = &all[i], furthest = offs[i];
    }
    double margin = fmax(0.05 * (p.work_high - p.work_low), 0.05);
    p.work_low -= margin, p.work_high += margin;
    p.most = scale_of(furthest);
    draw_frame(&p);
    for (int i = 0; i < count; i++) draw_one(&p, &all[i]);
    svg_text(svg, p.x + LEFT, p.y + 26, SVG_START, 14, SVG_INK, title);
    svg_text(svg, p.x + LEFT, p.y + 46, SVG_START, 11, SVG_FIRST,
             arena_print(arena, "%d samples, median off by %.1f %%; furthest %+.1f %%: %s", count,
                         100 * median_of(offs, count),
                         100 * share_of(worst->seconds, worst->fitted), worst->name));
}

// ---- what there is to draw

static int of_fit(struct residual *to, const struct fit *f)
{
    int count = 0;
    for (int i = 0; i < f->point_count; i++) {
        const struct fit_point *p = &f->points[i];
        double fitted = fit_seconds(f, p);
        if (fitted > 0)
            to[count++] =
                (struct residual){p->operation, p->work, fitted, p->seconds, p->low, p->high};
    }
    return count;
}

static int of_class(struct residual *to, const struct link_fits *links,
                    const struct channel_class *k, struct arena *arena)
{
    int count = 0;
    for (int i = 0; i < k->channel_count; i++) {
        const struct channel *c = &links->channels[k->channels[i]];
        for (int n = 0; n < c->fit.point_count; n++) {
            const struct fit_point *p = &c->fit.points[n];
            double fitted = segmented_seconds(&c->fit, p->work);
            if (fitted > 0)
                to[count++] = (struct residual){channel_name(links, c, arena),
                                                fmax(p->work, 1),
                                                fitted,
                                                p->seconds,
                                                p->low,
                                                p->high};
        }
    }
    return count;
}

static int of_layers(struct residual *to, const struct layer_fits *f)
{
    int count = 0;
    for (int i = 0; i < f->check_count; i++) {
        const struct layer_check *k = &f->checks[i];
        if (k->predicted_s > 0)
            to[count++] = (struct residual){k->sample->operation, k->point.work, k->predicted_s,
                                            k->point.seconds,     k->point.low,  k->point.high};
    }
    return count;
}

static int points_most(const struct calibration *c, const struct layer_fits *layers)
{
    int most = layers->check_count + 1, links = 0;
    for (int k = 0; k < KERNEL_COUNT; k++)
        if (c->kernels[k]) most = (int)fmax(most, c->kernels[k]->point_count);
    for (int i = 0; i < c->precision_count; i++)
        for (int k = 0; k < KERNELS_OF_PRECISION; k++)
            if (c->precisions[i].kernels[k])
                most = (int)fmax(most, c->precisions[i].kernels[k]->point_count);
    for (int i = 0; i < c->links.channel_count; i++) links += c->links.channels[i].fit.point_count;
    return (int)fmax(most, links);
}

// A page that shows the drawing, where the file is one of HTML.
static enum status write_page(struct text *svg, const char *title, const char *path,
                              struct error *err)
{
    size_t length = strlen(path);
    bool page = length > 5 && !strcmp(path + length - 5, ".html");
    if (!page) return svg_write(svg, path, err);
    svg_end(svg);
    const char *text = arena_print(svg->arena,
                                   "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta "
                                   "charset=\"utf-8\">\n<title>%s</title>\n</head>\n<body>\n%s"
                                   "</body>\n</html>\n",
                                   title, svg->text);
    return file_write(path, text, strlen(text), err);
}

enum status residuals_draw(const struct calibration *c, const struct layer_fits *layers,
                           const char *path, struct arena *arena, struct error *err)
{
    struct residual *all = TAKE(arena, points_most(c, layers), struct residual);
    struct drawn *fits = TAKE(arena, DRAWN_MOST, struct drawn);
    int fit_count = drawn_collect(fits, c, arena), panels = 0,
        most = fit_count + c->links.class_count + 1;
    struct text svg;
    svg_begin(&svg, COLUMNS * PANEL_WIDTH, (most + COLUMNS - 1) / COLUMNS * PANEL_HEIGHT,
              "What was measured over what is fitted", arena);
    for (int i = 0; i < fit_count; i++) {
        int count = of_fit(all, fits[i].fit);
        if (count) draw_panel(&svg, panels++, fits[i].title, all, count, arena);
    }
    for (int k = 0; k < c->links.class_count; k++) {
        const struct channel_class *class = &c->links.classes[k];
        int count = of_class(all, &c->links, class, arena);
        if (count)
            draw_panel(&svg, panels++,
                       arena_print(arena, "%s, %d ranks, %s", class->operation, class->ranks,
                                   class->between_nodes ? "between nodes" : "in a node"),
                       all, count, arena);
    }
    int count = of_layers(all, layers);
    if (count) draw_panel(&svg, panels++, "whole layers", all, count, arena);
    return write_page(&svg, "Residuals of fits", path, err);
}
