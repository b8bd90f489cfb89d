// Which host gets which rank. A framework numbers its ranks by its own rule and knows nothing of links, so a placement is
// carried out by which host gets which global rank (rank orders of Megatron-LM, S: parallel_state).
#include <string.h>

#include "solve/report.h"

const char *const rank_order_names[] = {"tp-cp-ep-dp-pp", "tp-pp-dp", NULL};

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
