// Where a placed plan's ranks stand: for people, and for launchers. A framework numbers its ranks by its own rule and knows
// nothing of links, so a placement is carried out by which host gets which global rank (rank orders of Megatron-LM, S:
// parallel_state).
#include <string.h>

#include "solve/report.h"

const char *const rank_order_names[] = {"tp-cp-ep-dp-pp", "tp-pp-dp", NULL};

void report_places(struct report_out *out, const struct plan *plan)
{
    static const char *const headings[] = {"replica", "takes", "nodes, rank by rank"};
    const struct plan_placement *x = plan->placement;
    struct report_table t;
    report_table_begin(&t, headings, "rrl", out->arena);
    for (int replica = 0; replica < x->replica_count; replica++) {
        const char *nodes = x->nodes[replica * x->rank_count];
        for (int rank = 1; rank < x->rank_count; rank++) nodes = arena_print(out->arena, "%s %s", nodes, x->nodes[replica * x->rank_count + rank]);
        report_cell(&t, arena_print(out->arena, "%d%s", replica, replica == x->slowest ? "*" : ""));
        report_cell(&t, report_time(x->iteration_ns[replica], out->arena));
        report_cell(&t, nodes);
    }
    report_print(out, "\nNodes (the iteration waits for *, whose stages are shown here)\n");
    report_table_print(out, &t);
    if (x->replica_count == 1) return;
    static const char *const ring_headings[] = {"stage", "sync in ms", "ring of nodes"};
    report_table_begin(&t, ring_headings, "rrl", out->arena);
    for (int stage = 0; stage < plan->stage_count; stage++) {
        struct schedule_request request = plan_request(plan);
        int rank = schedule_rank_of(&request, stage);
        const char *nodes = "";
        for (int at = 0; at < x->replica_count; at++)
            nodes = arena_print(out->arena, "%s%s%s", nodes, at ? " > " : "", x->nodes[x->rings[stage * x->replica_count + at] * x->rank_count + rank]);
        report_cell(&t, arena_print(out->arena, "%d", stage));
        report_cell(&t, report_milliseconds(plan->stages[stage].sync_ns, out->arena));
        report_cell(&t, nodes);
    }
    report_print(out, "\nRings of gradient syncs (each sends to the next, the last to the first)\n");
    report_table_print(out, &t);
}

// ---- launchers

// The node of a global rank.
static const char *host_of(const struct plan *plan, enum rank_order order, int64_t global)
{
    const struct plan_placement *x = plan->placement;
    int64_t together = (int64_t)plan->layout.tensor * plan->layout.context, group = global / together;
    int64_t replica = order == RANK_ORDER_DATA_FIRST ? group % x->replica_count : group / x->rank_count;
    int64_t rank = order == RANK_ORDER_DATA_FIRST ? group / x->replica_count : group % x->rank_count;
    return x->nodes[replica * x->rank_count + rank];
}

// Hosts, one line each, in the order in which torchrun must number them: all ranks of a host stand together.
static enum status print_hosts(struct report_out *out, const struct plan *plan, enum rank_order order, int64_t ranks, struct error *err)
{
    for (int64_t global = 0; global < ranks; global++) {
        const char *host = host_of(plan, order, global);
        if (global && !strcmp(host, host_of(plan, order, global - 1))) continue;
        for (int64_t before = 0; before + 1 < global; before++)
            if (!strcmp(host, host_of(plan, order, before)))
                return fail(err, BAD_INPUT, "%s: torchrun numbers ranks host by host, and the ranks of '%s' do not stand together in the order %s; expected another --rank-order, or --format rankfile",
                            plan->document.path, host, rank_order_names[order]);
        report_print(out, "%s\n", host);
    }
    return OK;
}

// Ranks of a host take its slots in the order of their numbers.
static int64_t slot_of(const struct plan *plan, enum rank_order order, int64_t global)
{
    int64_t slot = 0;
    for (int64_t before = 0; before < global; before++) slot += !strcmp(host_of(plan, order, before), host_of(plan, order, global));
    return slot;
}

enum status report_launch(const struct plan *plan, enum launch_format format, enum rank_order order, const char **text, size_t *length,
                          struct arena *arena, struct error *err)
{
    struct report_out out;
    if (!plan->placement) return fail(err, BAD_INPUT, "%s: placement: expected a plan for a cluster with places, found one for groups", plan->document.path);
    int64_t ranks = (int64_t)plan->layout.tensor * plan->layout.context * plan->layout.data * plan->layout.pipeline;
    report_out_begin(&out, arena);
    if (format == LAUNCH_HOSTS) TRY(print_hosts(&out, plan, order, ranks, err));
    for (int64_t global = 0; global < ranks && format != LAUNCH_HOSTS; global++) {
        if (format == LAUNCH_HOSTFILE) report_print(&out, "%s\n", host_of(plan, order, global));
        else report_print(&out, "rank %lld=%s slot=%lld\n", (long long)global, host_of(plan, order, global), (long long)slot_of(plan, order, global));
    }
    *text = out.text;
    *length = out.length;
    return OK;
}
