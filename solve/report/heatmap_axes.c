// The axes of the heat map: by switches, outermost first, or by the plan, replica after replica;
// with nodes' names where there is room, and brackets for what belongs together.
#include <string.h>

#include "solve/report/heatmap.h"

enum { BRACKETS_MOST = 2, NAME_MOST = 18 };
static const double bracket_width = 18, letter = 0.62; // width / font size

static const struct places *places_of(const struct heatmap *m)
{
    return &m->links->problem.cluster.places;
}

// ---- order

// The first rank of the plan on the node; -1: none.
static int seat_of(const struct heatmap *m, int node)
{
    const struct plan_placement *x = m->links->plan->placement;
    for (int i = 0; i < x->replica_count * x->rank_count; i++)
        if (m->links->node[i] == node) return i;
    return -1;
}

// Switches are numbered in the order in which the cluster names them; nodes without a switch come
// last.
static bool stands_before(const struct places *p, int a, int b)
{
    for (int level = p->level_count - 1; level >= 0; level--) {
        unsigned x = (unsigned)p->nodes[a].switches[level],
                 y = (unsigned)p->nodes[b].switches[level];
        if (x != y) return x < y;
    }
    return a < b;
}

// Nodes of one switch are adjacent; the outermost level decides first.
static void order_by_switches(struct heatmap *m)
{
    const struct places *p = places_of(m);
    for (int i = 1; i < m->count; i++)
        for (int k = i; k > 0 && stands_before(p, m->order[k], m->order[k - 1]); k--) {
            int kept = m->order[k];
            m->order[k] = m->order[k - 1], m->order[k - 1] = kept;
        }
    for (int i = 1; i < m->count; i++)
        for (int level = 0; level < p->level_count; level++)
            if (p->nodes[m->order[i]].switches[level] != p->nodes[m->order[i - 1]].switches[level])
                m->breaks[i] = level + 1;
    for (int i = 1; i < m->count && !p->level_count; i++)
        m->breaks[i] = p->nodes[m->order[i]].group != p->nodes[m->order[i - 1]].group;
}

// Nodes are in the order in which the plan needs them; unused nodes come after all replicas.
static void order_by_plan(struct heatmap *m)
{
    const struct plan_placement *x = m->links->plan->placement;
    bool *taken = TAKE(m->arena, m->count, bool);
    int filled = 0;
    for (int i = 0; i < x->replica_count * x->rank_count; i++) {
        int node = m->links->node[i];
        if (taken[node]) continue;
        taken[node] = true;
        m->breaks[filled] = filled &&
                            seat_of(m, m->order[filled - 1]) / x->rank_count != i / x->rank_count;
        m->order[filled++] = node;
    }
    for (int node = 0, used = filled; node < m->count; node++) {
        if (taken[node]) continue;
        m->breaks[filled] = filled && filled == used;
        m->order[filled++] = node;
    }
}

void heatmap_order(struct heatmap *m, bool by_plan)
{
    m->order = TAKE(m->arena, m->count, int);
    m->place = TAKE(m->arena, m->count, int);
    m->breaks = TAKE(m->arena, m->count, int);
    for (int i = 0; i < m->count; i++) m->order[i] = i;
    if (by_plan) order_by_plan(m);
    else order_by_switches(m);
    for (int i = 0; i < m->count; i++) m->place[m->order[i]] = i;
}

// ---- names

static double name_size(const struct heatmap *m) { return m->cell < 9 ? 0 : fmin(m->cell - 1, 12); }

static const char *short_name(const struct heatmap *m, const char *name)
{
    int length = (int)strlen(name);
    return length <= NAME_MOST ? name
                               : arena_print(m->arena, "%.*s..%s", NAME_MOST / 2 - 1, name,
                                             name + length - NAME_MOST / 2 + 1);
}

// If there is room: which rank of which replica is there, "+" where there are more.
static const char *label_of(const struct heatmap *m, int node)
{
    const struct plan_placement *x = m->links->plan->placement;
    const char *name = short_name(m, places_of(m)->nodes[node].name);
    int seat = seat_of(m, node), more = 0;
    for (int i = seat + 1; seat >= 0 && i < x->replica_count * x->rank_count; i++)
        more += m->links->node[i] == node;
    if (m->cell < 20 || seat < 0) return name;
    return arena_print(m->arena, "%s %d:%d%s", name, seat / x->rank_count, seat % x->rank_count,
                       more ? "+" : "");
}

static const char *seat_text(const struct heatmap *m, int node)
{
    int seat = seat_of(m, node), ranks = m->links->plan->placement->rank_count;
    return seat < 0 ? "nothing"
                    : arena_print(m->arena, "replica %d, rank %d", seat / ranks, seat % ranks);
}

static void draw_names(struct heatmap *m)
{
    double size = name_size(m);
    for (int i = 0; i < m->count && size > 0; i++) {
        const char *name = places_of(m)->nodes[m->order[i]].name;
        double middle = m->at[i] + m->cell / 2 + size * 0.33;
        enum svg_colour colour = seat_of(m, m->order[i]) < 0 ? SVG_MUTED : SVG_INK;
        svg_open(&m->svg, arena_print(m->arena, "%s: %s", name, seat_text(m, m->order[i])));
        svg_text(&m->svg, m->left - 5, m->top + middle, SVG_END, size, colour,
                 label_of(m, m->order[i]));
        svg_text_upwards(&m->svg, m->left + middle, m->top - 5, SVG_START, size, colour,
                         label_of(m, m->order[i]));
        svg_close(&m->svg);
    }
}

// ---- brackets

// The bracket that a node belongs to and its text; -1: none.
static int bracket_of(const struct heatmap *m, int row, int node, const char **name)
{
    const struct places *p = places_of(m);
    if (m->by_plan) {
        const struct plan_placement *x = m->links->plan->placement;
        int seat = seat_of(m, node), replica = seat / x->rank_count;
        *name = seat < 0 ? "not used"
                         : arena_print(m->arena, "replica %d%s", replica,
                                       replica == x->slowest ? "*" : "");
        return seat < 0 ? x->replica_count : replica;
    }
    if (p->level_count) {
        int number = p->nodes[node].switches[row];
        *name = number < 0 ? "" : p->switches[number];
        return number;
    }
    *name = m->links->problem.cluster.groups[p->nodes[node].group].name;
    return p->nodes[node].group;
}

static int bracket_rows(const struct heatmap *m)
{
    int levels = places_of(m)->level_count;
    if (m->by_plan) return 1;
    if (levels) return levels < BRACKETS_MOST ? levels : BRACKETS_MOST;
    return m->links->problem.cluster.group_count > 1;
}

static double names_width(const struct heatmap *m)
{
    size_t longest = 0;
    for (int i = 0; i < m->count && name_size(m) > 0; i++) {
        size_t length = strlen(label_of(m, i));
        longest = length > longest ? length : longest;
    }
    return 8 + ceil((double)longest * name_size(m) * letter);
}

static void draw_bracket(struct heatmap *m, int row, int first, int last, const char *name)
{
    const char *last_word = strrchr(name, ' '), *shown = name;
    double size = 11, out = names_width(m) + 2 + bracket_width * row, from = m->at[first],
           to = m->at[last + 1] - 1, middle = (from + to) / 2;
    if ((double)strlen(shown) * size * letter > to - from && last_word) shown = last_word + 1;
    bool fits = (double)strlen(shown) * size * letter <= to - from;
    svg_open(&m->svg, name);
    svg_line(&m->svg, m->left - out, m->top + from, m->left - out, m->top + to, SVG_FAINT, 2);
    svg_line(&m->svg, m->left + from, m->top - out, m->left + to, m->top - out, SVG_FAINT, 2);
    if (fits) {
        svg_text_upwards(&m->svg, m->left - out - 4, m->top + middle, SVG_MIDDLE, size, SVG_INK,
                         shown);
        svg_text(&m->svg, m->left + middle, m->top - out - 4, SVG_MIDDLE, size, SVG_INK, shown);
    }
    svg_close(&m->svg);
}

double heatmap_label_width(const struct heatmap *m)
{
    return names_width(m) + 4 + bracket_width * bracket_rows(m);
}

void heatmap_axes(struct heatmap *m)
{
    draw_names(m);
    for (int row = 0; row < bracket_rows(m); row++)
        for (int first = 0, last; first < m->count; first = last + 1) {
            const char *name, *unused;
            int number = bracket_of(m, row, m->order[first], &name);
            for (last = first;
                 last + 1 < m->count && bracket_of(m, row, m->order[last + 1], &unused) == number;)
                last++;
            if (number >= 0) draw_bracket(m, row, first, last, name);
        }
}
