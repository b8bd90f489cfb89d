// The period of a graph that is repeated for ever: the greatest length per lap over its cycles,
// where each lap is one iteration. It is exact. A cycle's ratio length / laps is a candidate. With
// all inputs' times reduced by this ratio once per lap, the longest paths between inputs are
// relaxed until nothing rises any more, which proves that no cycle has a greater ratio, or until
// they close a cycle that has one: the next candidate. (This is Lawler's test with the ratio of a
// cycle instead of a bisection.)
#include <string.h>

#include "data/base/least.h"
#include "formulate/graph/longest_graph.h"

__extension__ typedef __int128 wide; // times are multiplied by the laps of the candidate

// When a node's longest path ends, and the input that it comes from: in 64 bits where no time of a
// walk can exceed near_max.
struct near {
    int64_t end;
    int origin;
};
struct far {
    wide end;
    int origin;
};
static const int64_t near_max = (int64_t)1 << 59, near_never = -((int64_t)1 << 61);
static const wide never = -((wide)1 << 120);

struct period {
    // Of the last walk.
    struct near *near; // [node]
    struct far *far;   // [node]; NULL: no walk needed it yet
    bool is_far;
    int scale;
    int64_t *scaled;    // [symbol]: durations times the scale, if near
    int depth;          // durations on a path through one lap, at most
    int64_t largest;    // of the durations
    wide *input, *next; // [input]: how much a path from any start exceeds the candidate when it
                        // gets there; negative: none gets there
    int *from;          // [input]: from which input it got there; -1: nothing has raised it yet
    int64_t *length;    // [input]: of that lap
    int *seen, *cycle, *best_cycle; // [input]
};

struct ratio {
    int64_t length;
    int laps;
};

static int depth_of(const struct graph *g, struct arena *arena)
{
    int *depth = TAKE(arena, g->node_count, int), deepest = 0;
    for (int i = 1; i < g->node_count; i++) {
        const struct node *n = &g->nodes[i];
        int weighted = depth[n->weighted] + (n->weight < g->symbol_count);
        depth[i] = larger_int(depth[n->plain], weighted) + (n->symbol < g->symbol_count);
        deepest = larger_int(deepest, depth[i]);
    }
    return deepest;
}

struct period *period_open(const struct graph *g, struct arena *arena)
{
    struct period *p = TAKE(arena, 1, struct period);
    int inputs = g->input_count;
    *p = (struct period){.near = TAKE(arena, g->node_count, struct near),
                         .scaled = TAKE(arena, g->symbol_count + 1, int64_t),
                         .depth = depth_of(g, arena),
                         .input = TAKE(arena, inputs, wide),
                         .next = TAKE(arena, inputs, wide),
                         .from = TAKE(arena, inputs, int),
                         .length = TAKE(arena, inputs, int64_t),
                         .seen = TAKE(arena, inputs, int),
                         .cycle = TAKE(arena, inputs, int),
                         .best_cycle = TAKE(arena, inputs, int)};
    return p;
}

static wide end_of(const struct period *p, int node)
{
    return p->is_far ? p->far[node].end : p->near[node].end;
}

static int origin_of(const struct period *p, int node)
{
    return p->is_far ? p->far[node].origin : p->near[node].origin;
}

// Whether an input of the last walk leads there.
static bool is_reached(const struct period *p, int node)
{
    return end_of(p, node) >= (p->is_far ? never : near_never) / 2;
}

static bool comes_weighted(const struct graph *g, int node)
{
    const struct period *p = g->period;
    const struct node *n = &g->nodes[node];
    wide weight = (wide)g->durations[n->weight] * p->scale;
    return end_of(p, n->weighted) + weight > end_of(p, n->plain);
}

// The walk in one kind of numbers.
#define WALK(kind, all, type, nothing, duration)                                                   \
    do {                                                                                           \
        struct kind *restrict at = all;                                                            \
        at[0].end = nothing;                                                                       \
        for (int i = 0; i < g->input_count; i++)                                                   \
            at[1 + i] = (struct kind){p->input[i] < 0 ? nothing : (type)p->input[i], i};           \
        for (int i = 1 + g->input_count, count = g->node_count; i < count; i++) {                  \
            struct node n = nodes[i];                                                              \
            type plain = at[n.plain].end, weighted = at[n.weighted].end + duration(n.weight);      \
            bool over = weighted > plain;                                                          \
            at[i].end = (over ? weighted : plain) + duration(n.symbol);                            \
            at[i].origin = at[over ? n.weighted : n.plain].origin;                                 \
        }                                                                                          \
    } while (0)
#define NEAR_DURATION(symbol) scaled[symbol]
#define FAR_DURATION(symbol) (wide) durations[symbol] * scale

// One iteration, starting from the inputs' times, with all times multiplied by `scale`.
static void walk(struct graph *g, int scale)
{
    struct period *p = g->period;
    const struct node *restrict nodes = g->nodes;
    const int64_t *restrict durations = g->durations;
    int64_t *restrict scaled = p->scaled;
    wide latest = (wide)p->largest * scale * p->depth;
    for (int i = 0; i < g->input_count; i++) latest = p->input[i] > latest ? p->input[i] : latest;
    p->scale = scale;
    p->is_far = latest > near_max;
    if (p->is_far) {
        if (!p->far) p->far = TAKE(g->own, g->node_count, struct far);
        WALK(far, p->far, wide, never, FAR_DURATION);
        return;
    }
    for (int k = 0; k <= g->symbol_count; k++) scaled[k] = durations[k] * scale;
    WALK(near, p->near, int64_t, near_never, NEAR_DURATION);
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
    walk(g, r.laps);
    memcpy(p->next, p->input, (size_t)g->input_count * sizeof *p->input);
    for (int i = 0; i < g->carried_count; i++) {
        struct carried c = g->carried[i];
        wide end = end_of(p, c.node) - r.length;
        if (end <= p->next[c.input] || !is_reached(p, c.node)) continue;
        int origin = origin_of(p, c.node);
        p->next[c.input] = end;
        p->from[c.input] = origin;
        p->length[c.input] = (int64_t)((end + r.length - p->input[origin]) / r.laps);
        rose = true;
    }
    memcpy(p->input, p->next, (size_t)g->input_count * sizeof *p->input);
    return rose;
}

static struct ratio ratio_of_cycle(const struct period *p, int laps)
{
    assert(laps > 0);
    struct ratio r = {0, laps};
    for (int i = 0; i < laps; i++) r.length += p->length[p->cycle[i]];
    return r;
}

// Where the last walk's longest path to an input of the next lap ends.
static int end_of_lap(const struct graph *g, int to)
{
    const struct period *p = g->period;
    int at = -1;
    for (int i = 0; i < g->carried_count; i++)
        if (g->carried[i].input == to && (at < 0 || end_of(p, g->carried[i].node) > end_of(p, at)))
            at = g->carried[i].node;
    assert(at > 0);
    return at;
}

// The counts of one lap's longest path from an input to another. The last walk, which showed that
// no cycle exceeds the candidate, has taken one, unless a path from elsewhere is as long.
static void count_lap(struct graph *g, int from, int to, int *counts)
{
    struct period *p = g->period;
    int at = end_of_lap(g, to);
    if (origin_of(p, at) != from || !is_reached(p, at)) {
        for (int i = 0; i < g->input_count; i++) p->input[i] = i == from ? 0 : -1;
        walk(g, 1);
        at = end_of_lap(g, to);
    }
    while (at != 1 + from) {
        assert(at > g->input_count); // no other input leads here
        const struct node *n = &g->nodes[at];
        bool over = comes_weighted(g, at);
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
    g->period->largest = 0;
    for (int k = 0; k < g->symbol_count; k++)
        g->period->largest = larger(g->period->largest, durations[k]);
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
