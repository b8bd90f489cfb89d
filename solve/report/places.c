// Where a placed plan's ranks are, for people: nodes by replica, rings by stage, and the links
// that they use compared with the best available.
#include <stdlib.h>

#include "solve/report/report.h"

static const char *gigabytes_per_s(double bytes_per_s, struct arena *arena)
{
    return arena_print(arena, "%.4g", bytes_per_s / 1e9);
}
static const char *percent(double share, struct arena *arena)
{
    return arena_print(arena, "%.0f %%", 100 * share);
}

static const char *link_text(const struct report_links *l, int from, int to, struct arena *arena)
{
    const struct cluster_node *nodes = l->problem.cluster.places.nodes;
    return arena_print(arena, "%s > %s", nodes[from].name, nodes[to].name);
}

static void print_nodes(struct text *out, const struct plan *plan)
{
    static const char *const headings[] = {"replica", "takes", "micro-batches",
                                           "nodes, rank by rank"};
    const struct plan_placement *x = plan->placement;
    struct report_table t;
    report_table_begin(&t, headings, "rrrl", out->arena);
    for (int replica = 0; replica < x->replica_count; replica++) {
        const char *nodes = x->nodes[replica * x->rank_count];
        for (int rank = 1; rank < x->rank_count; rank++)
            nodes =
                arena_print(out->arena, "%s %s", nodes, x->nodes[replica * x->rank_count + rank]);
        report_cell(&t, arena_print(out->arena, "%d%s", replica, replica == x->slowest ? "*" : ""));
        report_cell(&t, report_time(x->iteration_ns[replica], out->arena));
        report_cell(&t, x->micro_batches ? arena_print(out->arena, "%d", x->micro_batches[replica])
                                         : "-");
        report_cell(&t, nodes);
    }
    text_put(out, "\nNodes (the iteration waits for *, whose stages are shown here)\n");
    report_table_print(out, &t);
}

// ---- rings

// NCCL joins the nodes of a ring in the order of their ranks, and all stages share that order.
static void print_launched(struct text *out, const struct plan *plan,
                           const struct report_links *links)
{
    const int *replicas = report_data_ranks(plan, out->arena);
    const char *order = "";
    struct report_link bottleneck, worst = {.stage = -1};
    int alike = 0, slower = 0;
    for (int at = 0; at < plan->placement->replica_count; at++)
        order = arena_print(out->arena, "%s%s%d", order, at ? " " : "", replicas[at]);
    for (int stage = 0; stage < plan->stage_count; stage++) {
        if (report_ring_is_launched(plan, stage, replicas)) {
            alike++;
        } else if (links &&
                   report_bottleneck_in_order(links, stage, replicas, &bottleneck, out->arena) &&
                   report_ring_excess(links, &bottleneck) > 1) {
            slower++;
            if (worst.stage < 0 ||
                report_ring_excess(links, &bottleneck) > report_ring_excess(links, &worst))
                worst = bottleneck;
        }
    }
    text_put(out,
             "  as launched (hostfile, rankfile, hosts): data-parallel ranks are replicas %s; "
             "rings in that order, as NCCL joins them,\n",
             order);
    text_put(out, "  are these rings in %d of %d stages", alike, plan->stage_count);
    if (worst.stage >= 0)
        text_put(
            out,
            ", slower in %d: at worst stage %d over %s with %s GB/s, about %.3g times its sync",
            slower, worst.stage, link_text(links, worst.from, worst.to, out->arena),
            gigabytes_per_s(worst.link.link.bytes_per_s, out->arena),
            report_ring_excess(links, &worst));
    else if (links && alike < plan->stage_count) text_put(out, ", and no slower in the others");
    text_put(out, "\n");
}

static void print_rings(struct text *out, const struct plan *plan, const struct report_links *links)
{
    static const char *const headings[] = {"stage", "sync in ms", "bottleneck link",
                                           "GB/s",  "of best",    "ring of nodes"};
    const struct plan_placement *x = plan->placement;
    struct schedule_request request = plan_request(plan);
    struct report_table t;
    report_table_begin(&t, headings, "rrlrrl", out->arena);
    for (int stage = 0; stage < plan->stage_count; stage++) {
        const struct report_link *bottleneck = links ? report_bottleneck(links, stage) : NULL;
        int rank = schedule_rank_of(&request, stage);
        const char *nodes = "";
        for (int at = 0; at < x->replica_count; at++)
            nodes = arena_print(
                out->arena, "%s%s%s", nodes, at ? " > " : "",
                x->nodes[x->rings[stage * x->replica_count + at] * x->rank_count + rank]);
        report_cell(&t, arena_print(out->arena, "%d%s", stage,
                                    bottleneck && bottleneck->critical_ns ? "!" : ""));
        report_cell(&t, report_milliseconds(plan->stages[stage].sync_ns, out->arena));
        report_cell(&t, bottleneck ? link_text(links, bottleneck->from, bottleneck->to, out->arena)
                                   : "-");
        report_cell(&t, bottleneck ? gigabytes_per_s(bottleneck->link.link.bytes_per_s, out->arena)
                                   : "-");
        report_cell(&t, bottleneck ? percent(report_share(bottleneck), out->arena) : "-");
        report_cell(&t, nodes);
    }
    text_put(out, "\nRings of gradient syncs (each sends to the next, the last to the first%s)\n",
             links ? "; ! on the critical path" : "");
    report_table_print(out, &t);
    if (links && links->best_ring_bytes_per_s > 0)
        text_put(out, "  no ring of %d device groups has all its links faster than %s GB/s\n",
                 x->replica_count, gigabytes_per_s(links->best_ring_bytes_per_s, out->arena));
    if (x->embedding_ring) {
        const char *nodes = "";
        for (int at = 0; at < 2 * x->replica_count; at++) {
            int member = x->embedding_ring[at],
                rank = member < x->replica_count ? 0 : x->rank_count - 1;
            nodes = arena_print(out->arena, "%s%s%s", nodes, at ? " > " : "",
                                x->nodes[member % x->replica_count * x->rank_count + rank]);
        }
        text_put(out, "  the fused embedding sync, %s ms: %s\n",
                 report_milliseconds(plan->embedding_sync_ns, out->arena), nodes);
    }
    if (x->replica_count > 2) print_launched(out, plan, links);
}

// ---- links

static int by_rate(const void *a, const void *b)
{
    const struct report_link *x = *(const struct report_link *const *)a,
                             *y = *(const struct report_link *const *)b;
    return x->link.link.bytes_per_s < y->link.link.bytes_per_s
               ? -1
               : x->link.link.bytes_per_s > y->link.link.bytes_per_s;
}

static void print_summary(struct text *out, const struct report_links *links,
                          const struct report_link **sorted)
{
    static const char *const headings[] = {
        "for", "links", "GB/s", "median", "to", "worst share of best", "best available"};
    struct report_table t;
    report_table_begin(&t, headings, "lrrrrrl", out->arena);
    for (int use = 0; use < LINK_USE_COUNT; use++) {
        int count = report_links_sorted(links, (enum link_use)use, (enum link_use)use, sorted);
        if (!count) continue;
        const struct report_link *worst = sorted[0];
        for (int i = 1; i < count; i++)
            if (report_share(sorted[i]) < report_share(worst)) worst = sorted[i];
        qsort(sorted, (size_t)count, sizeof *sorted, by_rate);
        report_cell(&t, link_use_names[use]);
        report_cell(&t, arena_print(out->arena, "%d", count));
        report_cell(&t, gigabytes_per_s(sorted[0]->link.link.bytes_per_s, out->arena));
        report_cell(&t, gigabytes_per_s(sorted[count / 2]->link.link.bytes_per_s, out->arena));
        report_cell(&t, gigabytes_per_s(sorted[count - 1]->link.link.bytes_per_s, out->arena));
        report_cell(&t, percent(report_share(worst), out->arena));
        report_cell(&t,
                    arena_print(out->arena, "%s (%s)",
                                gigabytes_per_s(worst->best->bytes_per_s, out->arena),
                                link_text(links, worst->best->from, worst->best->to, out->arena)));
    }
    text_put(out,
             "\nLinks in use (best: of all between nodes of these groups, for the same use)\n");
    report_table_print(out, &t);
}

static void print_transfers(struct text *out, const struct report_links *links, int64_t top,
                            const struct report_link **sorted)
{
    static const char *const headings[] = {"stages",  "replica", "link",  "GB/s",         "of best",
                                           "latency", "from",    "takes", "critical path"};
    const struct plan_placement *x = links->plan->placement;
    int all = report_links_sorted(links, USE_FORWARD, USE_BACKWARD, sorted),
        count = top && top < all ? (int)top : all;
    struct report_table t;
    report_table_begin(&t, headings, "rrlrrrlrr", out->arena);
    for (int i = 0; i < count; i++) {
        const struct report_link *l = sorted[i];
        bool back = l->use == USE_BACKWARD;
        report_cell(&t, arena_print(out->arena, "%d > %d", l->stage + back, l->stage + !back));
        report_cell(
            &t, arena_print(out->arena, "%d%s", l->replica, l->replica == x->slowest ? "*" : ""));
        report_cell(&t, link_text(links, l->from, l->to, out->arena));
        report_cell(&t, gigabytes_per_s(l->link.link.bytes_per_s, out->arena));
        report_cell(&t, percent(report_share(l), out->arena));
        report_cell(&t, report_time((int64_t)(l->link.link.latency_s * 1e9 + 0.5), out->arena));
        report_cell(&t, place_origin_text(&l->link, &links->problem.cluster.places, out->arena));
        report_cell(&t, l->ns >= 0 ? report_time(l->ns, out->arena) : "-");
        report_cell(&t, l->critical_ns ? report_time(l->critical_ns, out->arena) : "-");
    }
    if (!all) return;
    text_put(out, "\n%s messages between stages (one of the schedule's, from end to end%s)\n",
             count < all ? arena_print(out->arena, "The %d slowest of %d", count, all) : "All",
             count < all ? "; --top 0: all; --format links: as a table" : "");
    report_table_print(out, &t);
}

void report_places(struct text *out, const struct plan *plan, const struct report_links *links,
                   int64_t top)
{
    print_nodes(out, plan);
    if (plan->placement->replica_count > 1) print_rings(out, plan, links);
    if (!links) {
        text_put(out, "  links: not shown, because the problem is not where the plan states or has "
                      "changed since (--problem FILE)\n");
        return;
    }
    const struct report_link **sorted =
        TAKE(out->arena, links->count + 1, const struct report_link *);
    print_summary(out, links, sorted);
    print_transfers(out, links, top, sorted);
}

// ---- all of them

static void put_name(struct text *out, const char *name)
{
    text_put(out, ",");
    report_csv_text(out, name);
}

void report_links_csv(struct text *out, const struct report_links *links)
{
    const struct cluster_node *nodes = links->problem.cluster.places.nodes;
    text_put(out, "use,stage,replica,to_replica,from,to,bytes_per_s,latency_s,origin,time_ns,"
                  "critical_ns,dearest_of_ring,share_of_best,best_bytes_per_s,best_from,best_to\n");
    for (int i = 0; i < links->count; i++) {
        const struct report_link *l = &links->items[i];
        text_put(out, "%s,%d,%d,%d", link_use_names[l->use], l->stage, l->replica, l->to_replica);
        put_name(out, nodes[l->from].name);
        put_name(out, nodes[l->to].name);
        text_put(out, ",%.17g,%.17g", l->link.link.bytes_per_s, l->link.link.latency_s);
        put_name(out, place_origin_text(&l->link, &links->problem.cluster.places, out->arena));
        text_put(out, l->ns >= 0 ? ",%lld" : ",", (long long)l->ns);
        text_put(out, ",%lld,%d,%.6g,%.17g", (long long)l->critical_ns, l->bottleneck,
                 report_share(l), l->best->bytes_per_s);
        put_name(out, nodes[l->best->from].name);
        put_name(out, nodes[l->best->to].name);
        text_put(out, "\n");
    }
}
