// Starting rows: the critical paths when a window of neighbouring stages, or the transfers inside
// it, are made heavy. They are the cycles F_a..F_b B_b..B_a whose mean is the period of 1F1B
// (docs/ARCHITECTURE.md 2). Without them, a solver has to find each one by a violated row.
#include <string.h>

#include "data/kinds/schedules.h"
#include "formulate/graph/longest_graph.h"
#include "formulate/graph/pool.h"

// Durations in any unit; only their proportions matter. A light transfer inside the window still
// counts against the stages outside it; a heavy one outweighs any stage.
enum {
    FAINT_STAGE = 1,
    LIGHT_STAGE = 50,
    HEAVY_STAGE = 100,
    OUTER_TRANSFER = 1,
    INNER_TRANSFER = 70,
    HEAVY_TRANSFER = 800,
    LIGHT_ENDING = 1,
    HEAVY_ENDING = 100000
};

// Limits on the walks, in nodes, and on ranks: beyond either, only windows whose length is a power
// of two are tried. Limit on the counts kept: beyond it, only every n-th is kept.
static const int64_t node_budget = (int64_t)1 << 30, count_budget = (int64_t)1 << 25;
enum { RANKS_OF_ALL = 32 };

static void set_transfer(int64_t *durations, const struct schedule_request *r, int boundary,
                         int part, int64_t value)
{
    const int kinds[] = {SYMBOL_SEND_FORWARD, SYMBOL_SEND_BACKWARD, SYMBOL_SEND_EPILOGUE};
    for (int slice = 0; slice < r->slice_count; slice++)
        for (int i = 0; i < 3; i++)
            durations[symbol_index(r->stage_count, symbol_of_slice(slice, kinds[i] + part),
                                   boundary)] = value;
}

static void set_passes(int64_t *durations, const struct schedule_request *r, int stage,
                       int64_t forward)
{
    int stages = r->stage_count;
    bool splits = schedule_splits_backward(r->kind);
    durations[symbol_index(stages, SYMBOL_WEIGHT, stage)] = splits ? forward : 0;
    for (int slice = 0; slice < r->slice_count; slice++) {
        durations[symbol_index(stages, symbol_of_slice(slice, SYMBOL_FORWARD), stage)] = forward;
        durations[symbol_index(stages, symbol_of_slice(slice, SYMBOL_BACKWARD), stage)] =
            splits ? forward : 2 * forward;
    }
}

// The window: ranks a..b, or one stage, are heavy; the others get `outside`. heavy_part -1: the
// window's transfers are light; otherwise this part of them is heavy.
struct window {
    int a, b, stage, outside, heavy_part;
};

static bool is_inside(const struct window *w, const struct schedule_request *r, int stage)
{
    int rank = schedule_rank_of(r, stage);
    return w->stage >= 0 ? stage == w->stage : rank >= w->a && rank <= w->b;
}

static void weigh_window(int64_t *durations, const struct schedule_request *r, struct window w)
{
    int stages = r->stage_count, part_total = 0;
    assert(w.stage < stages && w.a >= 0 && w.a <= w.b && w.b < r->rank_count);
    for (int part = 0; part < PART_COUNT; part++)
        part_total += r->parts[part] * (part == PART_OVERHEAD ? 2 : 1);
    for (int s = 0; s < stages; s++) {
        bool inside = is_inside(&w, r, s),
             inner = inside && s + 1 < stages && is_inside(&w, r, s + 1);
        set_passes(durations, r, s, inside ? HEAVY_STAGE : w.outside);
        durations[symbol_index(stages, SYMBOL_SYNC, s)] =
            durations[symbol_index(stages, SYMBOL_QUEUED_SYNC, s)] =
                durations[symbol_index(stages, SYMBOL_OPTIMIZER, s)] = LIGHT_ENDING;
        for (int part = 0; part < PART_COUNT; part++) {
            int64_t light = inner && w.heavy_part < 0 && part_total > 0
                                ? INNER_TRANSFER / part_total
                                : OUTER_TRANSFER;
            set_transfer(durations, r, s, part,
                         !r->parts[part]                 ? 0
                         : inner && part == w.heavy_part ? HEAVY_TRANSFER
                                                         : light);
        }
    }
    durations[symbol_index(stages, SYMBOL_EMBEDDING_SYNC, 0)] = LIGHT_ENDING;
}

static bool is_tried(int length, int p, bool all)
{
    return all || length == p || (length & (length - 1)) == 0;
}

static int all_chains(struct graph *g, int **paths, struct arena *arena)
{
    struct path_pool pool;
    int symbol_total = graph_symbol_count(g), *counts = TAKE(arena, symbol_total + 1, int);
    path_pool_open(&pool, symbol_total + 1, arena);
    for (int i = 0; i < g->last_count; i++) {
        memset(counts, 0, (size_t)(symbol_total + 1) * sizeof *counts);
        path_memory_begin(g);
        for (int at = g->last[i]; at > 0; at = g->nodes[at].plain) {
            path_memory_note(g, at, false);
            counts[g->nodes[at].symbol]++;
        }
        counts[symbol_total] = 1;
        path_memory_end(g, counts);
        path_pool_add(&pool, counts, NULL);
    }
    *paths = pool.paths;
    return pool.count;
}

struct search {
    struct graph *g;
    const struct schedule_request *request;
    struct path_pool pool;
    int64_t *durations;
    int *counts;
    int64_t tried, every; // only every n-th is walked (n = `every`)
    bool (*should_stop)(void *argument);
    void *argument;
};

// Whether the next one is walked; the first always is.
static bool is_next(struct search *s)
{
    if (s->tried++ % s->every) return false;
    return !s->pool.count || !s->should_stop || !s->should_stop(s->argument);
}

static void add_path(struct search *s)
{
    graph_longest(s->g, s->durations, s->counts);
    path_pool_add(&s->pool, s->counts, NULL);
}

// The number of windows of ranks and their transfers; walks them if `walks`.
static int64_t use_windows(struct search *s, bool all, bool walks)
{
    const struct schedule_request *r = s->request;
    const bool *parts = r->parts;
    bool has_parts = parts[PART_BLOCKING] || parts[PART_LINK] || parts[PART_DELAY] ||
                     parts[PART_OVERHEAD];
    int64_t count = 0;
    for (int a = 0, p = r->rank_count; a < p; a++)
        for (int b = a; b < p; b++)
            for (int part = -1; part < (b > a && has_parts ? PART_COUNT : 0); part++) {
                if (!is_tried(b - a + 1, p, all) || (part >= 0 && !parts[part])) continue;
                count++;
                if (!walks || !is_next(s)) continue;
                weigh_window(s->durations, r, (struct window){a, b, -1, LIGHT_STAGE, part});
                add_path(s);
            }
    return count;
}

// Makes each stage so heavy that all its passes are on the path; then what ends the iteration: its
// sync and optimizer.
static void use_stages(struct search *s)
{
    const struct schedule_request *r = s->request;
    for (int stage = 0; stage < r->stage_count; stage++) {
        if (!is_next(s)) continue;
        weigh_window(s->durations, r, (struct window){0, 0, stage, FAINT_STAGE, -1});
        add_path(s);
        weigh_window(s->durations, r, (struct window){0, 0, stage, LIGHT_STAGE, -1});
        s->durations[symbol_index(r->stage_count, SYMBOL_SYNC, stage)] =
            s->durations[symbol_index(r->stage_count, SYMBOL_QUEUED_SYNC, stage)] =
                s->durations[symbol_index(r->stage_count, SYMBOL_OPTIMIZER, stage)] = HEAVY_ENDING;
        add_path(s);
    }
}

int graph_starting_paths(struct graph *g, int **paths, bool (*should_stop)(void *argument),
                         void *argument, struct arena *arena)
{
    if (graph_is_chains(g)) return all_chains(g, paths, arena);
    int symbol_total = graph_symbol_count(g);
    struct search s = {.g = g,
                       .request = graph_request(g),
                       .durations = TAKE(arena, symbol_total, int64_t),
                       .counts = TAKE(arena, symbol_total + 1, int),
                       .should_stop = should_stop,
                       .argument = argument};
    int64_t p = s.request->rank_count, walks = p * (p + 1) / 2 * (PART_COUNT + 1);
    bool all = p <= RANKS_OF_ALL && walks * graph_node_count(g) <= node_budget;
    int64_t most = use_windows(&s, all, false) + 2 * s.request->stage_count;
    s.every = 1 + most * (symbol_total + 1) / count_budget;
    path_pool_open(&s.pool, symbol_total + 1, arena);
    use_windows(&s, all, true);
    use_stages(&s);
    assert(s.pool.count > 0);
    *paths = s.pool.paths;
    return s.pool.count;
}
