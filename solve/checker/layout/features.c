// What the graph of a layout has: kinds of operations that take time with some choice, and their
// numbers.
#include "solve/checker/layout/graph.h"

enum { OPERATIONS_MOST = 1 << 23 };

static bool any_above_zero(const int64_t *prices, int count, int step)
{
    for (int i = 0; i < count; i += step)
        if (prices[i] > 0) return true;
    return false;
}

static void find_ending(struct check_graph *g, const struct check_run *r, int group)
{
    for (int o = 0; o < g->p->gradient_count; o++) {
        g->sync = g->sync || r->sync[o][group] > 0;
        g->optimizer = g->optimizer || r->optimizer[o][group] > 0;
    }
}

static void find_features(struct check_graph *g)
{
    const struct check_problem *p = g->p;
    int prices = p->slices * p->group_count * p->group_count * PARTS;
    for (int part = 0; part < PARTS; part++)
        for (int c = 0; c < p->cut_count; c++) {
            g->parts[part] = g->parts[part] ||
                             any_above_zero(p->cuts[c].forward + part, prices - part, PARTS);
            for (int o = 0; o < p->boundary_count; o++)
                g->parts[part] = g->parts[part] || any_above_zero(p->cuts[c].backward[o] + part,
                                                                  prices - part, PARTS);
        }
    for (int o = 0; o < p->boundary_count; o++)
        g->epilogue = g->epilogue || p->boundary[o].epilogue_only;
    for (int k = 0; k < p->group_count; k++) {
        if (p->groups[k].excluded) continue;
        g->sync = g->sync || any_above_zero(p->groups[k].sync_constant, p->gradient_count, 1);
        for (int i = 0; i < p->run_count; i++)
            for (const struct check_run *r = &p->runs[i]; r; r = r->next) find_ending(g, r, k);
        if (p->head) find_ending(g, p->head, k);
    }
}

bool check_has_kind(const struct check_graph *g, int kind)
{
    if (kind < KIND_WEIGHT) return true;
    if (kind == KIND_WEIGHT) return g->p->splits_backward;
    if (kind == KIND_SYNC) return g->sync;
    if (kind == KIND_QUEUED_SYNC) return g->sync && check_syncs_queue(g->p);
    if (kind == KIND_OPTIMIZER) return g->optimizer;
    if (kind >= KIND_AWAY) return g->p->across;
    if (kind == KIND_EMBEDDING_SYNC) return g->p->embedding != NULL;
    return g->parts[(kind - KIND_SEND_FORWARD) % PARTS] &&
           (kind < KIND_SEND_EPILOGUE || g->epilogue);
}

// The receiver's overheads follow the sender's, numbered as further micro-batches.
static int micro_batches_of(const struct check_problem *p, int kind)
{
    bool works = kind >= KIND_SEND_FORWARD && kind < KIND_EMBEDDING_SYNC &&
                 (kind - KIND_SEND_FORWARD) % PARTS == PART_WORKS;
    return works ? 2 * p->micro_batches : p->micro_batches;
}

enum status check_number_operations(struct check_graph *g)
{
    const struct check_problem *p = g->p;
    find_features(g);
    int64_t count = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        bool once = kind == KIND_SYNC || kind == KIND_OPTIMIZER || kind == KIND_EMBEDDING_SYNC ||
                    kind == KIND_QUEUED_SYNC,
             first_slice = once || kind == KIND_WEIGHT || kind >= KIND_SEND_EPILOGUE;
        g->offset[kind] = (int)count;
        g->micro_batches[kind] = once ? 1 : micro_batches_of(p, kind);
        g->slices[kind] = first_slice ? 1 : p->slices;
        if (check_has_kind(g, kind))
            count += (int64_t)p->stages * g->micro_batches[kind] * g->slices[kind];
        if (count > OPERATIONS_MOST)
            return check_refuse(&p->reader, "",
                                "the schedule has more operations than are checked");
    }
    g->offset[KINDS] = (int)count;
    return OK;
}
