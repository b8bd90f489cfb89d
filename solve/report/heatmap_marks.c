// The plan on the map: a mark in each cell whose link carries forward messages, backward messages,
// a ring of gradient syncs, or the sync of the embeddings, and a frame round the slowest in use.
// Next to the map, the legend, with the distribution over the scale of all links and of those in
// use.

#include "solve/report/report.h"

static const struct {
    enum svg_shape shape;
    enum svg_colour fill, edge;
    const char *means;
} marks[LINK_USE_COUNT] = {
    [USE_FORWARD] = {SVG_DISC, SVG_PAPER, SVG_INK, "messages forward"},
    [USE_BACKWARD] = {SVG_DISC, SVG_INK, SVG_PAPER, "messages back"},
    [USE_RING] = {SVG_DIAMOND, SVG_RING, SVG_PAPER, "ring of gradient syncs"},
    [USE_EMBEDDING] = {SVG_TRIANGLE, SVG_THIRD, SVG_PAPER, "embedding sync"},
};

// ---- the slowest

// The slowest of these uses, of a ring its slowest link; NULL: none.
static const struct report_link *bottleneck_of(const struct heatmap *m, enum link_use first,
                                               enum link_use last)
{
    const struct report_link *bottleneck = NULL;
    for (int i = 0; i < m->links->count; i++) {
        const struct report_link *x = &m->links->items[i];
        if (x->use < first || x->use > last || (x->use == USE_RING && !x->bottleneck)) continue;
        if (!bottleneck || x->ns > bottleneck->ns ||
            (x->ns == bottleneck->ns &&
             x->link.link.bytes_per_s < bottleneck->link.link.bytes_per_s))
            bottleneck = x;
    }
    return bottleneck;
}

// ---- marks

static const char *use_text(const struct report_link *x, struct arena *arena)
{
    if (x->use == USE_RING)
        return arena_print(arena, "ring of stage %d, replica %d > %d", x->stage, x->replica,
                           x->to_replica);
    if (x->use == USE_EMBEDDING)
        return arena_print(arena, "embedding sync of replica %d", x->replica);
    return arena_print(arena, "%s, replica %d, stage %d > %d",
                       x->use == USE_FORWARD ? "forward" : "back", x->replica,
                       x->stage + (x->use == USE_BACKWARD), x->stage + (x->use == USE_FORWARD));
}

static const char *time_text(const struct report_link *x, struct arena *arena)
{
    if (x->ns < 0) return "";
    return arena_print(arena, " takes %s%s", report_time(x->ns, arena),
                       x->critical_ns ? arena_print(arena, " (%s on the critical path)",
                                                    report_time(x->critical_ns, arena))
                                      : "");
}

// Everything of this kind that the link carries, and how it compares.
static const char *mark_title(const struct heatmap *m, const struct report_link *first)
{
    const char *text = "";
    for (int i = 0; i < m->links->count; i++) {
        const struct report_link *x = &m->links->items[i];
        if (x->use != first->use || x->from != first->from || x->to != first->to) continue;
        text = arena_print(m->arena, "%s%s%s%s", text, *text ? "; " : "", use_text(x, m->arena),
                           time_text(x, m->arena));
    }
    return arena_print(m->arena, "%s. %s, %.0f %% of the best", text,
                       heatmap_link_text(m, first->from, first->to, &first->link),
                       100 * report_share(first));
}

// Which kinds the link carries.
static unsigned kinds_on(const struct heatmap *m, int from, int to)
{
    unsigned kinds = 0;
    for (int i = 0; i < m->links->count; i++)
        if (m->links->items[i].from == from && m->links->items[i].to == to)
            kinds |= 1u << m->links->items[i].use;
    return kinds;
}

// A single mark is in the middle, two are on a diagonal, more are in the corners.
static void draw_mark(struct heatmap *m, const struct report_link *x)
{
    static const double offsets[3][4][2] = {
        {{0, 0}},
        {{-0.22, -0.22}, {0.22, 0.22}},
        {{-0.23, -0.23}, {0.23, 0.23}, {0.23, -0.23}, {-0.23, 0.23}}};
    unsigned kinds = kinds_on(m, x->from, x->to);
    int together = __builtin_popcount(kinds),
        before = __builtin_popcount(kinds & ((1u << x->use) - 1)),
        number = x->use == USE_RING ? x->stage : x->replica;
    const double *offset = offsets[together > 2 ? 2 : together - 1][before];
    double size = m->cell >= 8 ? m->cell - 1 : m->cell,
           radius = size * (together == 1 ? 0.36 : 0.24);
    double px = m->left + m->at[m->place[x->to]] + size * (0.5 + offset[0]),
           py = m->top + m->at[m->place[x->from]] + size * (0.5 + offset[1]);
    if (marks[x->use].shape == SVG_DIAMOND) radius *= 1.2;
    svg_open(&m->svg, mark_title(m, x));
    svg_mark(&m->svg, marks[x->use].shape, px, py, fmax(radius, 2.1), marks[x->use].fill,
             marks[x->use].edge,
             m->cell >= 20  ? 1.4
             : m->cell >= 8 ? 0.9
                            : 0.6);
    if (radius >= 6.5)
        svg_text(&m->svg, px, py + radius * 0.36, SVG_MIDDLE, fmin(radius * 1.05, 12),
                 marks[x->use].edge, arena_print(m->arena, "%d", number));
    svg_close(&m->svg);
}

static void frame_bottleneck(struct heatmap *m, const struct report_link *x)
{
    if (!x) return;
    double size = m->cell >= 8 ? m->cell - 1 : m->cell, line = fmax(m->cell / 9, 1.6),
           out = line / 2 + 0.5;
    double left = m->left + m->at[m->place[x->to]], top = m->top + m->at[m->place[x->from]];
    svg_frame(&m->svg, left - out, top - out, size + 2 * out, size + 2 * out, SVG_PAPER,
              line + 1.6);
    svg_frame(&m->svg, left - out, top - out, size + 2 * out, size + 2 * out, SVG_ALARM, line);
}

void heatmap_marks(struct heatmap *m)
{
    unsigned char *drawn = TAKE(m->arena, m->count * m->count, unsigned char);
    frame_bottleneck(m, bottleneck_of(m, USE_FORWARD, USE_BACKWARD));
    frame_bottleneck(m, bottleneck_of(m, USE_RING, USE_RING));
    svg_open(&m->svg, "what the plan sends");
    for (int use = LINK_USE_COUNT - 1; use >= 0; use--)
        for (int i = 0; i < m->links->count; i++) {
            const struct report_link *x = &m->links->items[i];
            unsigned char *there = &drawn[x->from * m->count + x->to];
            if ((int)x->use != use || (*there & 1u << use)) continue;
            *there = (unsigned char)(*there | 1u << use);
            draw_mark(m, x);
        }
    svg_close(&m->svg);
}

// ---- the scale

enum { BINS = 30 };
static const double scale_height = 240, scale_width = 16, bars_width = 62;

// How many of all links, and of those in use, have a rate in each part of the scale.
static void count_bins(const struct heatmap *m, int all[BINS], int used[BINS])
{
    for (int from = 0; from < m->count; from++)
        for (int to = 0; to < m->count; to++) {
            double rate = m->link[from * m->count + to].link.bytes_per_s;
            if (from == to || !(rate > 0)) continue;
            int bin = (int)fmin(heatmap_share(m, rate) * BINS, BINS - 1);
            all[bin]++;
            used[bin] += kinds_on(m, from, to) != 0;
        }
}

static void draw_bars(struct heatmap *m, double x, double y, const int bins[BINS], double direction,
                      enum svg_colour colour)
{
    int most = 1;
    for (int i = 0; i < BINS; i++) most = bins[i] > most ? bins[i] : most;
    for (int i = 0; i < BINS; i++) {
        double length = bars_width * bins[i] / most, height = scale_height / BINS;
        if (bins[i])
            svg_rectangle(&m->svg, direction < 0 ? x - length : x,
                          y + scale_height - (i + 1) * height, fmax(length, 1), height - 1, colour);
    }
}

static void draw_tick(struct heatmap *m, double x, double y, double rate)
{
    double up = y + scale_height * (1 - heatmap_share(m, rate));
    if (rate < m->least || rate > m->most) return;
    svg_line(&m->svg, x, up, x + 4, up, SVG_INK, 1);
    svg_text(&m->svg, x + 7, up + 4, SVG_START, 11, SVG_INK,
             arena_print(m->arena, "%g", rate / 1e9));
}

// Round values 1, 2 or 5 times a power of ten apart; on a logarithmic scale, these values
// themselves.
static void draw_ticks(struct heatmap *m, double x, double y)
{
    double span = m->most - m->least, power = span > 0 ? pow(10, floor(log10(span / 4))) : 0,
           step = power;
    if (span / step > 10) step = span / (2 * power) > 8 ? 5 * power : 2 * power;
    for (double power_of_ten = pow(10, floor(log10(fmax(m->least, 1))));
         m->logarithmic && power_of_ten <= m->most; power_of_ten *= 10)
        for (int digit = 1; digit <= 5; digit += digit == 1 ? 1 : 3)
            draw_tick(m, x, y, digit * power_of_ten);
    for (double rate = step > 0 ? ceil(m->least / step) * step : 0;
         !m->logarithmic && step > 0 && rate <= m->most; rate += step)
        draw_tick(m, x, y, rate);
}

static double draw_scale(struct heatmap *m, double x, double y)
{
    enum { STEPS = 60 };
    int all[BINS] = {0}, used[BINS] = {0};
    double bar = x + bars_width + 4, ticks = bar + scale_width;
    int links = 0, in_use = 0;
    count_bins(m, all, used);
    for (int i = 0; i < BINS; i++) links += all[i], in_use += used[i];
    svg_text(
        &m->svg, x, y, SVG_START, 13, SVG_INK,
        arena_print(m->arena, "GB/s of one message%s", m->logarithmic ? " (logarithmic)" : ""));
    svg_text(&m->svg, bar - 6, y + 20, SVG_END, 11, SVG_INK,
             arena_print(m->arena, "all %d", links));
    svg_text(&m->svg, ticks + 44, y + 20, SVG_START, 11, SVG_INK,
             arena_print(m->arena, "%d in use", in_use));
    y += 30;
    for (int i = 0; i < STEPS; i++) {
        double height = scale_height / STEPS;
        svg_shade(&m->svg, bar, y + scale_height - (i + 1) * height, scale_width,
                  height + (i ? 0.4 : 0), svg_ramp((i + 0.5) / STEPS), NULL);
    }
    draw_bars(m, bar - 4, y, all, -1, SVG_FAINT);
    draw_bars(m, ticks + 44, y, used, 1, SVG_INK);
    draw_ticks(m, ticks, y);
    return y + scale_height;
}

// ---- what the marks mean

static double put_line(struct heatmap *m, double x, double y, enum svg_colour colour,
                       const char *text)
{
    svg_text(&m->svg, x, y, SVG_START, 12, colour, text);
    return y + 17;
}

static double put_bottleneck(struct heatmap *m, double x, double y, const struct report_link *l,
                             const char *what)
{
    const struct cluster_node *nodes = m->links->problem.cluster.places.nodes;
    if (!l) return y;
    y = put_line(
        m, x, y, SVG_INK,
        arena_print(m->arena, "%s: %s > %s", what, nodes[l->from].name, nodes[l->to].name));
    return put_line(m, x, y, SVG_INK,
                    arena_print(m->arena, "%.4g GB/s, %.0f %% of the best %.4g",
                                l->link.link.bytes_per_s / 1e9, 100 * report_share(l),
                                l->best->bytes_per_s / 1e9)) +
           5;
}

static bool uses(const struct heatmap *m, int use)
{
    for (int i = 0; i < m->links->count; i++)
        if ((int)m->links->items[i].use == use) return true;
    return false;
}

static bool has_pairs(const struct heatmap *m, bool joined)
{
    for (int from = 0; from < m->count; from++)
        for (int to = 0; to < m->count; to++) {
            const struct place_link *link = &m->link[from * m->count + to];
            if (from == to) continue;
            if (joined ? link->link.bytes_per_s > 0 && link->origin != PLACE_MEASURED &&
                             m->links->problem.cluster.places.measured
                       : !(link->link.bytes_per_s > 0))
                return true;
        }
    return false;
}

void heatmap_legend(struct heatmap *m, double x, double y)
{
    y = draw_scale(m, x, y) + 34;
    for (int use = 0; use < LINK_USE_COUNT; use++) {
        if (!uses(m, use)) continue;
        svg_rectangle(&m->svg, x, y - 13, 18, 18, SVG_FAINT);
        svg_mark(&m->svg, marks[use].shape, x + 9, y - 4, 6, marks[use].fill, marks[use].edge, 1.2);
        svg_text(&m->svg, x + 27, y, SVG_START, 12, SVG_INK,
                 m->cell < 20 ? marks[use].means
                              : arena_print(m->arena, "%s (number: %s)", marks[use].means,
                                            use == USE_RING ? "stage" : "replica"));
        y += 23;
    }
    if (has_pairs(m, true)) {
        svg_rectangle(&m->svg, x, y - 13, 18, 18, SVG_FIRST);
        svg_line(&m->svg, x, y - 4, x + 9, y - 13, SVG_FAINT, 0.8);
        svg_line(&m->svg, x, y + 5, x + 18, y - 13, SVG_FAINT, 0.8);
        svg_line(&m->svg, x + 9, y + 5, x + 18, y - 4, SVG_FAINT, 0.8);
        svg_text(&m->svg, x + 27, y, SVG_START, 12, SVG_INK,
                 "not measured: derived from level, group or cards");
        y += 23;
    }
    if (has_pairs(m, false)) {
        svg_frame(&m->svg, x, y - 13, 18, 18, SVG_FAINT, 0.8);
        svg_line(&m->svg, x, y + 5, x + 18, y - 13, SVG_FAINT, 0.8);
        svg_line(&m->svg, x, y - 13, x + 18, y + 5, SVG_FAINT, 0.8);
        svg_text(&m->svg, x + 27, y, SVG_START, 12, SVG_INK, "not linked");
        y += 23;
    }
    svg_frame(&m->svg, x + 1, y - 12, 16, 16, SVG_ALARM, 2);
    svg_text(&m->svg, x + 27, y, SVG_START, 12, SVG_INK, "the slowest in use");
    y = put_bottleneck(m, x, y + 30, bottleneck_of(m, USE_FORWARD, USE_BACKWARD), "message");
    put_bottleneck(m, x, y, bottleneck_of(m, USE_RING, USE_RING), "ring");
}
