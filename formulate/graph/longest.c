// The solver's walk of a schedule: its graph compiled into flat arrays, the longest path for given
// durations, and the counts of its symbols (docs/ARCHITECTURE.md 2). This is the innermost loop of
// the whole solver, so every node holds exactly two predecessors and the walk has no branches. An
// operation that is on no stream (a pure delay) becomes the weight of its edge, and a node with
// more predecessors takes them through joins of duration zero.
#include "formulate/graph/longest.h"

#include <string.h>

#include "formulate/graph/longest_graph.h"

// ---- compiling

struct edge {
    int from, weight;
}; // weight: the operation on this edge, or -1

struct compiler {
    const struct schedule *schedule;
    struct graph *graph;
    int *order;
    int *first, *before; // predecessors of an operation: before[first[i] .. first[i + 1])
    bool *in_stream, *is_weight, *is_followed, *is_carried;
    int *input; // [operation]: the node with the time at which the previous iteration lets it
                // start; 0: none
    int *level, *node_of; // [operation]
    struct edge *edges;   // scratch: those of one operation
};

static void count_or_place(struct compiler *c, bool place, int before, int after)
{
    if (place) c->before[c->first[after + 1]++] = before;
    else c->first[after + 2]++;
}

static void each_edge(struct compiler *c, bool place)
{
    const struct schedule *s = c->schedule;
    for (int i = 0; i < s->stream_count; i++)
        for (int k = 1; k < s->streams[i].count; k++)
            count_or_place(c, place, s->streams[i].operations[k - 1], s->streams[i].operations[k]);
    for (int i = 0; i < s->dependence_count; i++)
        count_or_place(c, place, s->dependences[i].before, s->dependences[i].after);
}

static void find_predecessors(struct compiler *c, struct arena *arena)
{
    const struct schedule *s = c->schedule;
    int n = s->operation_count;
    c->first = TAKE(arena, n + 2, int);
    each_edge(c, false);
    for (int i = 2; i <= n; i++) c->first[i + 1] += c->first[i];
    c->before = TAKE(arena, c->first[n + 1], int);
    each_edge(c, true);
    for (int i = 0; i < s->stream_count; i++)
        for (int k = 0; k < s->streams[i].count; k++)
            c->in_stream[s->streams[i].operations[k]] = true;
    for (int i = 0; i < c->first[n]; i++) c->is_followed[c->before[i]] = true;
    for (int i = 0; i < s->carried_count; i++)
        c->is_carried[s->carried[i].before] = c->is_carried[s->carried[i].after] = true;
}

static bool has_only_chains(const struct compiler *c)
{
    bool chains = c->schedule->request.barrier;
    for (int i = 0; i < c->schedule->operation_count && chains; i++)
        chains = c->in_stream[i] && c->first[i + 1] - c->first[i] <= 1;
    return chains;
}

// Delays between two operations that have their own nodes.
static void find_weights(struct compiler *c)
{
    for (int k = 0; k < c->schedule->operation_count; k++) {
        int i = c->order[k];
        if (c->in_stream[i] || !c->is_followed[i] || c->is_carried[i] ||
            c->first[i + 1] - c->first[i] != 1)
            continue;
        c->is_weight[i] = !c->is_weight[c->before[c->first[i]]];
    }
}

// The distinct predecessors of an operation, with delays folded into edges; plain ones first, in
// the order of the tables.
static int find_edges(struct compiler *c, int operation)
{
    int count = 0;
    for (int weighted = 0; weighted < 2; weighted++)
        for (int k = c->first[operation]; k < c->first[operation + 1]; k++) {
            int before = c->before[k];
            if (c->is_weight[before] != (bool)weighted) continue;
            struct edge e = weighted ? (struct edge){c->before[c->first[before]], before}
                                     : (struct edge){before, -1};
            int i = 0;
            while (i < count && (c->edges[i].from != e.from || c->edges[i].weight != e.weight)) i++;
            if (i == count) c->edges[count++] = e;
        }
    return count;
}

// Sorts the order by level (the number of edges from the start at most) so that neighbours do not
// wait for each other: the walk then overlaps them. The sort is stable, so the result is still a
// topological order.
static void sort_by_level(struct compiler *c, struct arena *arena)
{
    int n = c->schedule->operation_count, highest = 0, *sorted = TAKE(arena, n, int);
    for (int k = 0; k < n; k++) {
        int i = c->order[k];
        for (int e = c->first[i]; e < c->first[i + 1]; e++) {
            int level = c->level[c->before[e]] + !c->is_weight[c->before[e]];
            if (level > c->level[i]) c->level[i] = level;
        }
        if (c->level[i] > highest) highest = c->level[i];
    }
    int *place = TAKE(arena, highest + 2, int);
    for (int i = 0; i < n; i++) place[c->level[i] + 1]++;
    for (int i = 0; i <= highest; i++) place[i + 1] += place[i];
    assert(place[highest + 1] == n);
    for (int k = 0; k < n; k++) sorted[place[c->level[c->order[k]]]++] = c->order[k];
    c->order = sorted;
}

static int add_node(struct graph *g, int symbol, int plain, struct edge edge, int weighted,
                    int weight, int operation)
{
    int i = g->node_count++;
    // predecessors come first
    assert((unsigned)plain < (unsigned)i && (unsigned)weighted < (unsigned)i);
    g->nodes[i] = (struct node){plain, weighted, symbol, weight};
    g->operation[i] = operation;
    g->edge_operation[i] = edge.weight;
    return i;
}

// The node of one operation, after the joins of all predecessors but two.
static void make_node(struct compiler *c, int operation)
{
    struct graph *g = c->graph;
    const struct operation *operations = c->schedule->operations;
    int count = find_edges(c, operation), zero = g->symbol_count, plain = c->input[operation],
        next = 0;
    if (!plain && count > 0 && c->edges[0].weight < 0) plain = c->node_of[c->edges[next++].from];
    if (next == count) c->edges[count++] = (struct edge){-1, -1};
    for (; next < count; next++) {
        struct edge e = c->edges[next];
        bool last = next == count - 1;
        int weighted = e.from < 0 ? plain : c->node_of[e.from],
            weight = e.weight < 0 ? zero : operations[e.weight].symbol;
        plain = add_node(g, last ? operations[operation].symbol : zero, plain, e, weighted, weight,
                         last ? operation : -1);
    }
    c->node_of[operation] = plain;
}

// Without a barrier: one node for each operation that waits for the previous iteration.
static void make_inputs(struct compiler *c, struct arena *arena)
{
    const struct schedule *s = c->schedule;
    struct graph *g = c->graph;
    for (int i = 0; i < s->carried_count; i++) {
        int after = s->carried[i].after;
        if (c->input[after]) continue;
        c->input[after] = g->node_count;
        add_node(g, g->symbol_count, 0, (struct edge){-1, -1}, 0, g->symbol_count, -1);
        g->input_count++;
    }
    g->carried = TAKE(arena, s->carried_count, struct carried);
}

static void connect_inputs(struct compiler *c)
{
    const struct schedule *s = c->schedule;
    struct graph *g = c->graph;
    assert(g->input_count <= s->carried_count && (g->request.barrier || g->input_count > 0));
    g->carried_count = s->carried_count;
    for (int i = 0; i < s->carried_count; i++)
        g->carried[i] =
            (struct carried){c->node_of[s->carried[i].before], c->input[s->carried[i].after] - 1};
}

static void make_nodes(struct compiler *c, struct arena *arena)
{
    struct graph *g = c->graph;
    int n = c->schedule->operation_count, edge_count = c->first[n],
        node_max = 1 + 2 * n + edge_count;
    g->nodes = TAKE(arena, node_max, struct node);
    g->operation = TAKE(arena, node_max, int);
    g->edge_operation = TAKE(arena, node_max, int);
    g->node_count = 1;
    g->operation[0] = g->edge_operation[0] = -1;
    g->nodes[0] = (struct node){0, 0, g->symbol_count, g->symbol_count};
    make_inputs(c, arena);
    for (int k = 0; k < n; k++)
        if (!c->is_weight[c->order[k]]) make_node(c, c->order[k]);
    connect_inputs(c);
    assert(g->node_count <= node_max);
    g->last = TAKE(arena, n, int);
    for (int i = 0; i < n; i++)
        if (!c->is_followed[i]) g->last[g->last_count++] = c->node_of[i];
    assert(g->last_count > 0);
}

enum status graph_compile(struct graph **graph, const struct schedule *schedule,
                          struct arena *arena, struct error *err)
{
    int n = schedule->operation_count,
        symbols = symbol_count(schedule->request.stage_count, schedule->request.slice_count);
    struct graph *g = TAKE(arena, 1, struct graph);
    g->symbol_count = symbols;
    g->own = arena_open_within(arena);
    g->request = schedule->request;
    struct compiler c = {
        .schedule = schedule,
        .graph = g,
        .order = TAKE(arena, n, int),
        .in_stream = TAKE(arena, n, bool),
        .is_weight = TAKE(arena, n, bool),
        .is_followed = TAKE(arena, n, bool),
        .is_carried = TAKE(arena, n, bool),
        .input = TAKE(arena, n, int),
        .level = TAKE(arena, n, int),
        .node_of = TAKE(arena, n, int),
    };
    TRY(schedule_order(schedule, c.order, arena, err));
    assert(n > 0);
    find_predecessors(&c, arena);
    c.edges = TAKE(arena, c.first[n] + 2, struct edge);
    g->is_chains = has_only_chains(&c);
    find_weights(&c);
    sort_by_level(&c, arena);
    make_nodes(&c, arena);
    g->end = TAKE(arena, g->node_count, int64_t);
    g->durations = TAKE(arena, symbols + 1, int64_t);
    g->counts = TAKE(arena, symbols + 1, int);
    if (!g->request.barrier) g->period = period_open(g, arena);
    *graph = g;
    return OK;
}

int graph_symbol_count(const struct graph *g) { return g->symbol_count; }
int graph_node_count(const struct graph *g) { return g->node_count; }
bool graph_is_chains(const struct graph *g) { return g->is_chains; }
const struct schedule_request *graph_request(const struct graph *g) { return &g->request; }

// ---- walking

// Fills end[] and returns the node that the longest path ends at.
static int walk(struct graph *g, const int64_t *durations)
{
    const struct node *restrict nodes = g->nodes;
    int64_t *restrict end = g->end;
    const int64_t *restrict d = g->durations;
    memcpy(g->durations, durations, (size_t)g->symbol_count * sizeof *durations);
    for (int i = 1, count = g->node_count; i < count; i++) {
        struct node n = nodes[i];
        int64_t a = end[n.plain], b = end[n.weighted] + d[n.weight];
        end[i] = (a > b ? a : b) + d[n.symbol];
    }
    int at = g->last[0];
    for (int i = 1; i < g->last_count; i++)
        if (end[g->last[i]] > end[at]) at = g->last[i];
    return at;
}

// Whether the longest path into the node comes over its weighted edge. Ties go to the plain edge,
// which is the stream's order.
static bool comes_weighted(const struct graph *g, int node)
{
    const struct node *n = &g->nodes[node];
    return g->end[n->weighted] + g->durations[n->weight] > g->end[n->plain];
}

int64_t graph_longest(struct graph *g, const int64_t *durations, int *counts)
{
    if (!g->request.barrier) return graph_period(g, durations, counts);
    int at = walk(g, durations);
    int64_t length = g->end[at];
    assert(length >= 0); // no duration is negative and no sum overflows
    if (!counts) return length;
    memset(g->counts, 0, (size_t)g->symbol_count * sizeof *g->counts);
    path_memory_begin(g);
    while (at > 0) {
        const struct node *n = &g->nodes[at];
        bool weighted = comes_weighted(g, at);
        path_memory_note(g, at, weighted);
        g->counts[n->symbol]++;
        if (weighted) g->counts[n->weight]++;
        at = weighted ? n->weighted : n->plain;
    }
    memcpy(counts, g->counts, (size_t)g->symbol_count * sizeof *counts);
    counts[g->symbol_count] = 1;
    path_memory_end(g, counts);
    return length;
}
