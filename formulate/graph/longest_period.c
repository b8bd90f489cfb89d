// The period of a graph that is repeated for ever: the greatest length per lap over its cycles,
// where each lap is one iteration. It is exact. A cycle's ratio length / laps is a candidate. With
// all inputs' times reduced by this ratio once per lap, the longest paths between inputs are
// relaxed until nothing rises any more, which proves that no cycle has a greater ratio, or until
// they close a cycle that has one: the next candidate. (This is Lawler's test with the ratio of a
// cycle instead of a bisection.)
#include <assert.h>
#include <string.h>

#include "formulate/graph/longest_graph.h"

__extension__ typedef __int128 wide; // times are multiplied by the laps of the candidate

static const wide never = -((wide)1 << 120);

struct period {
    wide *end;   // [node]
    int *origin; // [node]: the input that its longest path comes from
    wide *input; // [input]: how much a path from any start exceeds the candidate when it gets there
    int *from;   // [input]: from which input it got there; -1: nothing has raised it yet
    int64_t *length;                // [input]: of that lap
    int *seen, *cycle, *best_cycle; // [input]
};

struct ratio {
    int64_t length;
    int laps;
};

struct period *period_open(const struct graph *g, struct arena *arena)
{
    struct period *p = TAKE(arena, 1, struct period);
    *p = (struct period){TAKE(arena, g->node_count, wide),     TAKE(arena, g->node_count, int),
                         TAKE(arena, g->input_count, wide),    TAKE(arena, g->input_count, int),
                         TAKE(arena, g->input_count, int64_t), TAKE(arena, g->input_count, int),
                         TAKE(arena, g->input_count, int),     TAKE(arena, g->input_count, int)};
    return p;
}

// One iteration, starting from the inputs' times, with all times multiplied by `scale`.
static void walk_wide(struct graph *g, int scale)
{
    struct period *p = g->period;
    p->end[0] = never;
    for (int i = 0; i < g->input_count; i++) {
        p->end[1 + i] = p->input[i];
        p->origin[1 + i] = i;
    }
    for (int i = 1 + g->input_count; i < g->node_count; i++) {
        const struct node *n = &g->nodes[i];
        wide plain = p->end[n->plain],
             weighted = p->end[n->weighted] + (wide)g->durations[n->weight] * scale;
        bool over = weighted > plain;
        p->end[i] = (over ? weighted : plain) + (wide)g->durations[n->symbol] * scale;
        p->origin[i] = p->origin[over ? n->weighted : n->plain];
    }
}

// Finds a cycle in from[]: stores its inputs, in reverse, in cycle[]. Returns its laps, or 0 if
// there is none.
static int find_cycle(const struct graph *g)
{
    struct period *p = g->period;
    memset(p->seen, 0, (size_t)g->input_count * sizeof *p->seen);
    for (int start = 0; start < g->input_count; start++) {
        int at = start, laps = 0;
        while (at >= 0 && !p->seen[at]) {
            p->seen[at] = start + 1;
            at = p->from[at];
        }
        if (at < 0 || p->seen[at] != start + 1) continue;
        for (int i = at; laps == 0 || i != at; i = p->from[i]) {
            assert(laps < g->input_count && p->from[i] >= 0);
            p->cycle[laps++] = i;
        }
        return laps;
    }
    return 0;
}

// Relaxes once: raises the inputs that a lap above the candidate's ratio would raise. Returns
// whether any rose.
static bool relax(struct graph *g, struct ratio r)
{
    struct period *p = g->period;
    bool rose = false;
    walk_wide(g, r.laps);
    wide *next = p->end; // of the inputs: their nodes have been walked
    for (int i = 0; i < g->input_count; i++) next[1 + i] = p->input[i];
    for (int i = 0; i < g->carried_count; i++) {
        struct carried c = g->carried[i];
        wide end = p->end[c.node] - r.length;
        if (end <= next[1 + c.input] || end < never / 2)
            continue; // in the latter case, nothing leads there
        int origin = p->origin[c.node];
        next[1 + c.input] = end;
        p->from[c.input] = origin;
        p->length[c.input] = (int64_t)((p->end[c.node] - p->input[origin]) / r.laps);
        rose = true;
    }
    for (int i = 0; i < g->input_count; i++) p->input[i] = next[1 + i];
    return rose;
}

static struct ratio ratio_of_cycle(const struct period *p, int laps)
{
    assert(laps > 0);
    struct ratio r = {0, laps};
    for (int i = 0; i < laps; i++) r.length += p->length[p->cycle[i]];
    return r;
}

// The counts of one lap's longest path from an input to another.
static void count_lap(struct graph *g, int from, int to, int *counts)
{
    struct period *p = g->period;
    for (int i = 0; i < g->input_count; i++) p->input[i] = i == from ? 0 : never;
    walk_wide(g, 1);
    int at = -1;
    for (int i = 0; i < g->carried_count; i++)
        if (g->carried[i].input == to && (at < 0 || p->end[g->carried[i].node] > p->end[at]))
            at = g->carried[i].node;
    assert(at > g->input_count || at == 1 + from);
    while (at != 1 + from) {
        assert(at > g->input_count); // no other input leads here
        const struct node *n = &g->nodes[at];
        bool over = p->end[n->weighted] + (wide)g->durations[n->weight] > p->end[n->plain];
        path_memory_note(g, at, over);
        counts[n->symbol]++;
        if (over) counts[n->weight]++;
        at = over ? n->weighted : n->plain;
    }
}

// Any start times will do. Those of the previous candidate are close to the result if its laps are
// the same.
static void start_over(const struct graph *g, bool afresh)
{
    for (int i = 0; i < g->input_count; i++) {
        if (afresh) g->period->input[i] = 0;
        g->period->from[i] = -1;
    }
}

// The greatest ratio; stores the inputs of its cycle, in reverse, in best_cycle[].
static struct ratio greatest_ratio(struct graph *g)
{
    struct period *p = g->period;
    struct ratio best = {-1, 1}; // below every cycle's
    start_over(g, true);
    for (int laps = 1; laps > 0;) {
        laps = 0;
        while (laps == 0 && relax(g, best)) laps = find_cycle(g);
        start_over(g, laps != best.laps);
        if (laps > 0) {
            struct ratio next = ratio_of_cycle(p, laps);
            assert((wide)next.length * best.laps >
                   (wide)best.length * laps); // each candidate is greater
            best = next;
        }
        memcpy(p->best_cycle, p->cycle, (size_t)laps * sizeof *p->cycle);
    }
    assert(best.length >= 0);
    return best;
}

// Counts x durations of the current cycle: its length.
static int64_t counted_ns(const struct graph *g)
{
    int64_t sum = 0;
    for (int k = 0; k < g->symbol_count; k++) sum += g->counts[k] * g->durations[k];
    return sum;
}

int64_t graph_period(struct graph *g, const int64_t *durations, int *counts)
{
    memcpy(g->durations, durations, (size_t)g->symbol_count * sizeof *durations);
    struct ratio r = greatest_ratio(g);
    if (counts) {
        memset(g->counts, 0, ((size_t)g->symbol_count + 1) * sizeof *g->counts);
        path_memory_begin(g);
        for (int i = 0; i < r.laps; i++)
            count_lap(g, g->period->best_cycle[(i + 1) % r.laps], g->period->best_cycle[i],
                      g->counts);
        assert(counted_ns(g) == r.length);
        memcpy(counts, g->counts, (size_t)g->symbol_count * sizeof *counts);
        counts[g->symbol_count] = r.laps;
        path_memory_end(g, counts);
    }
    return r.length / r.laps + (r.length % r.laps > 0);
}
