// One order of everything that means the same plan. Replicas: their first nodes ascend. Of two
// nodes with the same prices, the earlier one is on a rank that is not after the other's. Both
// rules hold together: the second can be reached by renaming such nodes rank by rank; then the
// replicas are put in order, which changes no node's rank.
#include <string.h>

#include "tests/support/placed_program/internal.h"

static void order_replicas(struct placing *x, int replica)
{
    struct milp *m = &x->f->milp;
    for (int node = 0; node < x->f->nodes; node++) {
        if (placing_node_column(x, replica, 0, node) < 0) continue;
        for (int n = 0; n <= node; n++) {
            bool later = n < node || x->crowded;
            if (placing_node_column(x, replica, 0, n) >= 0)
                milp_add_entry(m, placing_node_column(x, replica, 0, n), 1);
            if (later && placing_node_column(x, replica - 1, 0, n) >= 0)
                milp_add_entry(m, placing_node_column(x, replica - 1, 0, n), -1);
        }
        milp_add_row(m, ROW_OTHER, ROW_AT_MOST, 0);
    }
}

// Whether a table over pairs stays the same when a and b are exchanged.
static bool is_symmetric(const struct placing *x, const int64_t *table, int slices, int parts,
                         int a, int b)
{
    size_t nodes = (size_t)x->f->nodes, stride = (size_t)parts;
    for (int slice = 0; slice < slices; slice++, table += nodes * nodes * stride)
        for (size_t from = 0; from < nodes; from++)
            for (size_t to = 0; to < nodes; to++) {
                size_t f = from == (size_t)a ? (size_t)b : from == (size_t)b ? (size_t)a : from;
                size_t t = to == (size_t)a ? (size_t)b : to == (size_t)b ? (size_t)a : to;
                if (memcmp(table + (from * nodes + to) * stride, table + (f * nodes + t) * stride,
                           stride * sizeof *table))
                    return false;
            }
    return true;
}

static bool are_alike(const struct placing *x, int a, int b)
{
    const struct priced *p = x->p;
    const struct priced_places *n = x->places;
    if (n->nodes[a].group != n->nodes[b].group || n->nodes[a].slots != 1 || n->nodes[b].slots != 1)
        return false;
    for (int cut = 0; cut < p->cut_count; cut++) {
        if (!is_symmetric(x, n->cuts[cut].forward_ns, p->slice_count, PART_COUNT, a, b))
            return false;
        for (int o = 0; o < p->boundary_option_count; o++)
            if (!is_symmetric(x, n->cuts[cut].backward_ns[o], p->slice_count, PART_COUNT, a, b))
                return false;
    }
    int tables = n->ring_level_count * n->transport_count;
    for (int o = 0; o < p->gradient_option_count; o++) {
        if (!is_symmetric(x, n->ring_constant_ns[o], tables, 1, a, b)) return false;
        for (int run = 0; run < p->run_count; run++)
            if (!is_symmetric(x, n->ring_ns[run][o], tables, 1, a, b)) return false;
    }
    return !n->embedding_sync_ns || is_symmetric(x, n->embedding_sync_ns, 1, 1, a, b);
}

static void order_nodes(struct placing *x, int earlier, int later)
{
    struct milp *m = &x->f->milp;
    for (int rank = 0; rank < x->f->ranks; rank++) {
        int before = m->entry_count;
        for (int replica = 0; replica < x->f->replicas; replica++)
            for (int k = 0; k <= rank; k++) {
                if (placing_node_column(x, replica, k, later) >= 0)
                    milp_add_entry(m, placing_node_column(x, replica, k, later), 1);
                if (placing_node_column(x, replica, k, earlier) >= 0)
                    milp_add_entry(m, placing_node_column(x, replica, k, earlier), -1);
            }
        if (m->entry_count > before) milp_add_row(m, ROW_OTHER, ROW_AT_MOST, 0);
    }
}

void placing_add_order(struct placing *x)
{
    for (int replica = 1; replica < x->f->replicas; replica++) order_replicas(x, replica);
    for (int node = 1; node < x->f->nodes; node++)
        for (int earlier = node - 1; earlier >= 0; earlier--)
            if (are_alike(x, earlier, node)) {
                order_nodes(x, earlier, node);
                break;
            }
}
