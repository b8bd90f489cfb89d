// A cluster's links as a map: a cell for each ordered pair of nodes, rows send to columns, with
// the plan's traffic marked. The colour is the rate that one message between stages gets over the
// link, as used in pricing.
#include "solve/report/heatmap.h"

#include "solve/report/report.h"

static const double plot_most = 760, cell_most = 40, cell_least = 4;
static const double logarithmic_from = 6; // ratio of greatest to least bandwidth
enum { LONG_TITLES_MOST = 128 };          // nodes: with more, cells have short titles

double heatmap_share(const struct heatmap *m, double bytes_per_s)
{
    if (!(m->most > m->least)) return 1;
    return m->logarithmic ? log(bytes_per_s / m->least) / log(m->most / m->least)
                          : (bytes_per_s - m->least) / (m->most - m->least);
}

const char *heatmap_link_text(const struct heatmap *m, int from, int to,
                              const struct place_link *link)
{
    const struct places *p = &m->links->problem.cluster.places;
    const char *ends = arena_print(m->arena, "%s > %s", p->nodes[from].name, p->nodes[to].name);
    if (!(link->link.bytes_per_s > 0))
        return arena_print(m->arena, "%s: %s", ends, from == to ? "the node itself" : "not linked");
    if (m->count > LONG_TITLES_MOST)
        return arena_print(m->arena, "%s: %.4g GB/s", ends, link->link.bytes_per_s / 1e9);
    return arena_print(m->arena, "%s: %.4g GB/s, %.3g us, %s", ends, link->link.bytes_per_s / 1e9,
                       link->link.latency_s * 1e6, place_origin_text(link, p, m->arena));
}

static void find_links(struct heatmap *m)
{
    m->link = TAKE(m->arena, m->count * m->count, struct place_link);
    m->least = INFINITY;
    for (int from = 0; from < m->count; from++)
        for (int to = 0; to < m->count; to++) {
            struct place_link *link = &m->link[from * m->count + to];
            bool has = from != to || places_slots(&m->links->problem, from) > 1;
            if (!has || !places_used_link(link, &m->links->problem, from, to, false)) {
                *link = (struct place_link){.link = {0, 0}};
                continue;
            }
            if (from == to) continue;
            m->least = fmin(m->least, link->link.bytes_per_s);
            m->most = fmax(m->most, link->link.bytes_per_s);
        }
    if (!(m->most > 0)) m->least = 0;
    m->logarithmic = m->most > logarithmic_from * m->least;
}

// More nodes give smaller gaps between cells; dividing lines need a gap.
static void set_sizes(struct heatmap *m)
{
    m->cell = fmin(fmax(floor(plot_most / m->count), cell_least), cell_most);
    m->at = TAKE(m->arena, m->count + 1, double);
    for (int i = 0; i < m->count; i++) {
        double gap = i && m->breaks[i] ? (m->cell >= 8 ? 2 : 1) * (m->breaks[i] + (m->cell >= 8))
                                       : 0;
        m->at[i] += gap;
        m->at[i + 1] = m->at[i] + m->cell;
    }
    m->side = m->at[m->count];
}

// Pairs that were not measured although others were, and pairs without a link.
static bool is_derived(const struct heatmap *m, const struct place_link *link)
{
    return m->links->problem.cluster.places.measured && link->link.bytes_per_s > 0 &&
           link->origin != PLACE_MEASURED && link->origin != PLACE_INSIDE;
}

static void draw_cell(struct heatmap *m, int row, int column)
{
    static const struct svg_rgb none = {0xff, 0xff, 0xff}, self = {0xe3, 0xe7, 0xec};
    int from = m->order[row], to = m->order[column];
    const struct place_link *link = &m->link[from * m->count + to];
    double x = m->left + m->at[column], y = m->top + m->at[row], gap = m->cell >= 8 ? 1 : 0,
           size = m->cell - gap;
    bool joined = link->link.bytes_per_s > 0;
    svg_shade(&m->svg, x, y, size, size,
              from == to ? self
              : joined   ? svg_ramp(heatmap_share(m, link->link.bytes_per_s))
                         : none,
              heatmap_link_text(m, from, to, link));
    if (from == to) return;
    if (!joined) {
        svg_frame(&m->svg, x + 0.5, y + 0.5, size - 1, size - 1, SVG_FAINT, 0.5);
        svg_line(&m->svg, x, y + size, x + size, y, SVG_FAINT, 0.6);
        svg_line(&m->svg, x, y, x + size, y + size, SVG_FAINT, 0.6);
    } else if (is_derived(m, link)) {
        svg_line(&m->svg, x, y + size / 2, x + size / 2, y, SVG_FAINT, 0.6);
        svg_line(&m->svg, x, y + size, x + size, y, SVG_FAINT, 0.6);
        svg_line(&m->svg, x + size / 2, y + size, x + size, y + size / 2, SVG_FAINT, 0.6);
    }
}

static void put_headings(struct heatmap *m)
{
    const struct plan *plan = m->links->plan;
    const struct plan_placement *x = plan->placement;
    const char *title = plan->name ? plan->name : "plan";
    svg_text(&m->svg, 24, 34, SVG_START, 20, SVG_INK,
             arena_print(m->arena, "%s: %s per iteration", title,
                         report_time(plan->iteration_ns, m->arena)));
    svg_text(&m->svg, 24, 56, SVG_START, 12, SVG_INK,
             arena_print(
                 m->arena,
                 "%d replica%s of %d pipeline ranks on %d nodes, %s%s. Rows send to columns; %s%s.",
                 x->replica_count, x->replica_count == 1 ? "" : "s", x->rank_count, m->count,
                 plan->bound_ns == plan_value_ns(plan)
                     ? plan_outcome_words(plan, m->arena)
                     : arena_print(m->arena, "gap %.3g %% (%s)", 100 * plan_gap(plan),
                                   plan_claim_words(plan, m->arena)),
                 plan->objective == OBJECTIVE_ITERATION_TIME
                     ? ""
                     : arena_print(m->arena, " for %s", objective_names[plan->objective]),
                 m->by_plan ? "nodes in the plan's order, replica after replica"
                            : "nodes in the cluster's order",
                 m->cell >= 20 ? "; next to the names: replica:rank" : ""));
}

void report_heatmap(struct text *out, const struct report_links *links, bool by_plan)
{
    enum { LEGEND_WIDTH = 300, HEADINGS = 76, MARGIN = 24, LEGEND_HEIGHT = 600 };
    struct heatmap m = {.links = links,
                        .arena = out->arena,
                        .count = links->problem.cluster.places.node_count,
                        .by_plan = by_plan};
    find_links(&m);
    heatmap_order(&m, by_plan);
    set_sizes(&m);
    double labels = heatmap_label_width(&m);
    m.left = MARGIN + labels;
    m.top = HEADINGS + labels;
    m.width = m.left + m.side + 36 + LEGEND_WIDTH;
    m.height = fmax(m.top + m.side + MARGIN, HEADINGS + LEGEND_HEIGHT);
    svg_begin(&m.svg, m.width, m.height,
              arena_print(out->arena, "Links between the nodes of %s, and those that %s uses",
                          links->problem.cluster.name,
                          links->plan->name ? links->plan->name : "the plan"),
              out->arena);
    put_headings(&m);
    heatmap_axes(&m);
    svg_open_map(&m.svg, "links");
    for (int row = 0; row < m.count; row++)
        for (int column = 0; column < m.count; column++) draw_cell(&m, row, column);
    svg_close(&m.svg);
    heatmap_marks(&m);
    heatmap_legend(&m, m.left + m.side + 36, HEADINGS + 14);
    svg_end(&m.svg);
    *out = m.svg;
}
