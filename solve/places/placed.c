// The time of a placed plan: rings, durations of each replica, the slowest one's longest path.
#include "solve/places/placed.h"

#include <string.h>

#include "data/base/least.h"
#include "solve/places/internal.h"

// ---- time

bool placed_durations(struct placed *p, const struct placed_plan *plan, int replica,
                      int64_t *durations)
{
    struct arena_mark mark = arena_set_mark(p->arena);
    const struct choice **stages = TAKE(p->arena, p->stages, const struct choice *);
    memset(durations, 0, (size_t)p->symbols * sizeof *durations);
    assert(replica >= 0 && replica < p->replicas);
    for (int s = 0; s < p->stages; s++) {
        stages[s] = placed_choice_of(p, plan, replica, s);
        assert(p->syncs[replica * p->stages + s] >= 0);
        choices_stage_durations(p->c, s, stages[s], durations);
        durations[symbol_index(p->stages, SYMBOL_SYNC, s)] = p->syncs[replica * p->stages + s];
        durations[symbol_index(p->stages, SYMBOL_QUEUED_SYNC, s)] =
            p->queued_syncs[replica * p->stages + s];
    }
    bool joined = choices_node_transfers(p->c, stages, plan->node + replica * p->ranks, durations);
    if (placed_fuses_embeddings(p))
        durations[symbol_index(p->stages, SYMBOL_EMBEDDING_SYNC, 0)] = p->embedding_ns;
    arena_reset(p->arena, mark);
    return joined;
}

bool placed_sync_kept(struct placed *p, const struct placed_plan *plan)
{
    struct placed_plan same = *plan;
    bool kept = p->keep_rings;
    p->keep_rings = true;
    bool joined = placed_sync_all(p, &same);
    p->keep_rings = kept;
    return joined;
}

static bool is_of_links(int kind)
{
    int base = symbol_base_kind(kind);
    return base == SYMBOL_SYNC || base >= SYMBOL_EMBEDDING_SYNC ||
           (base >= SYMBOL_SEND_FORWARD && base < SYMBOL_SEND_EPILOGUE + PART_COUNT);
}

int64_t placed_free_links_ns(struct placed *p, const struct placed_plan *plan)
{
    int64_t slowest = 0;
    if (!placed_sync_kept(p, plan)) return 0;
    for (int replica = 0; replica < p->replicas; replica++) {
        if (!placed_durations(p, plan, replica, p->durations)) return 0;
        for (int symbol = 0; symbol < p->symbols; symbol++)
            if (is_of_links(symbol / p->stages)) p->durations[symbol] = 0;
        slowest =
            larger(slowest, graph_longest(placed_variant(p, plan->micro_batches[replica])->graph,
                                          p->durations, NULL));
    }
    return slowest;
}

static int64_t longest_row(const struct placed_variant *v, const int64_t *durations)
{
    int64_t longest = 0;
    for (int i = 0; i < v->row_count; i++) {
        const struct placed_row *row = &v->rows[i];
        int64_t length = 0;
        for (int k = 0; k < row->count; k++) length += row->counts[k] * durations[row->symbols[k]];
        longest = larger(longest, length);
    }
    return longest;
}

static void keep_row(const struct placed *p, struct placed_variant *v, const int *counts)
{
    struct placed_row *row = &v->rows[v->row_next];
    assert(v->row_next < v->rows_max && v->row_count <= v->rows_max);
    row->count = 0;
    for (int symbol = 0; symbol < p->symbols; symbol++) {
        if (!counts[symbol]) continue;
        row->symbols[row->count] = symbol;
        row->counts[row->count++] = counts[symbol];
    }
    v->row_next = (v->row_next + 1) % v->rows_max;
    if (v->row_count < v->rows_max) v->row_count++;
}

static int64_t replica_ns(struct placed *p, struct placed_variant *v, int64_t at_least)
{
    int64_t longest = longest_row(v, p->durations);
    if (longest >= at_least) return longest;
    int64_t time_ns = graph_longest(v->graph, p->durations, p->counts);
    assert(time_ns >= longest); // every row is a path of this graph
    if (time_ns > longest) keep_row(p, v, p->counts);
    return time_ns;
}

int64_t placed_replica_ns(struct placed *p, const struct placed_plan *plan, int replica,
                          int64_t at_least)
{
    if (!placed_durations(p, plan, replica, p->durations)) return INT64_MAX;
    return replica_ns(p, placed_variant(p, plan->micro_batches[replica]), at_least);
}

static bool all_are_given(const struct placed *p, const struct placed_plan *plan)
{
    int64_t sum = 0;
    for (int r = 0; r < p->replicas; r++) sum += plan->micro_batches[r];
    return sum == p->together;
}

void placed_evaluate(struct placed *p, struct placed_plan *plan, int64_t at_least)
{
    int first = plan->slowest; // it is probably still the slowest
    plan->time_ns = INT64_MAX;
    assert(first >= 0 && first < p->replicas && all_are_given(p, plan));
    for (int i = 0; i < p->replicas; i++) placed_variant(p, plan->micro_batches[i]);
    if (!placed_sync_all(p, plan)) return;
    int64_t slowest = -1;
    for (int i = 0; i < p->replicas; i++) {
        int replica = (first + i) % p->replicas;
        if (!placed_durations(p, plan, replica, p->durations)) return;
        int64_t time_ns = replica_ns(p, placed_variant(p, plan->micro_batches[replica]), at_least);
        if (time_ns > slowest || (time_ns == slowest && replica < plan->slowest)) {
            slowest = time_ns;
            plan->slowest = replica;
        }
        if (slowest >= at_least) break;
    }
    plan->time_ns = slowest;
}
