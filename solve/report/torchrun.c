// A script that starts the plan on a node, with one torchrun for each run of ranks that follow each
// other there. It uses what is next to it: flags or a configuration, and the hostfile.
#include <inttypes.h>

#include "solve/report/report.h"

struct script {
    const struct plan *plan;
    const struct cluster *cluster;
    struct launch_nodes nodes;
    bool slurm; // its nodes are in the order of Slurm's names
};

static void put_groups(struct text *out, const struct script *b)
{
    const struct launch_nodes *n = &b->nodes;
    for (int64_t i = 0, next; i < n->count && n->items[i].group >= 0; i = next) {
        const struct node_group *g = &b->cluster->groups[n->items[i].group];
        for (next = i + 1; next < n->count && n->items[next].group == n->items[i].group;) next++;
        text_put(out, "# Nodes %" PRId64 " to %" PRId64 ": %s (%s)\n", i, next - 1, g->name,
                 g->gpu);
    }
}

// Equal nodes with a run each need no list.
static void put_runs(struct text *out, const struct launch_nodes *n)
{
    bool alike = n->run_count == n->count;
    for (int64_t i = 0; i < n->run_count; i++) alike &= n->runs[i].count == n->most_ranks;
    text_put(out,
             "nodes=%" PRId64 "\n# Ranks that follow each other on a node: its number, the "
             "first of its GPUs, their number.\nruns=(",
             n->count);
    for (int64_t i = 0; i < n->run_count && !alike; i++)
        text_put(out, "%s'%" PRId64 " %" PRId64 " %" PRId64 "'",
                 i % 8 ? " "
                 : i   ? "\n    "
                       : "",
                 n->runs[i].node, n->runs[i].first, n->runs[i].count);
    text_put(out, ")\n");
    if (alike)
        text_put(out, "for ((i = 0; i < nodes; i++)); do runs+=(\"$i 0 %" PRId64 "\"); done\n",
                 n->most_ranks);
}

extern const char torchrun_parts[]; // of torchrun.bash

// A part of the script, in which `name` stands for the text; NULL: nothing does.
static void put_part(struct text *out, const char *part, const char *name, const char *text)
{
    const char *values[] = {name, text, NULL};
    text_put_part(out, torchrun_parts, part, values);
}

// The nodes as launched: given at run time, or the plan's own.
static void put_hosts(struct text *out, const struct script *b)
{
    bool named = b->plan->placement;
    const char *values[] = {"@slurm@", b->slurm ? ", else those of Slurm's job" : "", "@nodes@",
                            named                 ? "the plan's"
                            : b->nodes.count == 1 ? "this one"
                                                  : "the hostfile next to this script",
                            NULL};
    text_put_part(out, torchrun_parts, "hosts", values);
    if (b->slurm) put_part(out, "hosts_of_slurm", NULL, NULL);
    if (named) {
        text_put(out, "elif [ -z \"$file\" ]; then\n    hosts=(");
        for (int64_t i = 0; i < b->nodes.count; i++)
            text_put(out, "%s%s", i ? " " : "", b->nodes.items[i].host);
        text_put(out, ")\n");
    } else if (b->nodes.count == 1) {
        text_put(out, "elif [ -z \"$file\" ]; then\n    hosts=(\"$(hostname)\")\n");
    }
    put_part(out, "hosts_end", "@slurm@", b->slurm ? ", SLURM_JOB_NODELIST" : "");
}

// The file next to the script determines which program is run.
static void put_program(struct text *out, const struct problem *problem)
{
    // Older releases add a token to the null tokenizer's.
    int64_t tokens = problem && problem->model.has_shape ? problem->model.shape.vocabulary - 1 : 0;
    put_part(out, "program", "@tokens@", arena_print(out->arena, "%" PRId64, tokens));
}

// A node's only torchrun takes the place of the script. Of several each sees its own GPUs, and all
// end with the first that fails.
// Kernels of several streams start in the order of their calls with one connection; dispatch that
// is overlapped wants more (Megatron-LM, megatron/training/arguments.py).
static void put_start(struct text *out, const struct launch_nodes *n, bool overlapped)
{
    text_put(out, "export CUDA_DEVICE_MAX_CONNECTIONS=\"${CUDA_DEVICE_MAX_CONNECTIONS:-%d}\"\n",
             overlapped ? 32 : 1);
    put_part(out, n->run_count == n->count ? "only" : "several", "@last@",
             arena_print(out->arena, "%" PRId64, n->most_ranks - 1));
}

enum status report_torchrun(struct text *out, const struct plan *plan,
                            const struct problem *problem, struct error *err)
{
    struct script b = {.plan = plan, .cluster = problem ? &problem->cluster : NULL};
    TRY(report_expect_stages(plan, err));
    TRY(report_nodes(&b.nodes, plan, problem, out->arena, err));
    b.slurm = !plan->placement;
    for (int64_t i = 1; i < b.nodes.count; i++)
        b.slurm &= b.nodes.items[i].group == b.nodes.items[0].group;
    text_put(out,
             "#!/bin/bash\n"
             "# The plan %s by torchrun: bash torchrun.sh OPTION ... on each node, options for "
             "the training program. By plumbline %s.\n",
             plan->name ? plan->name : "", PLUMBLINE_VERSION);
    report_put_in_flight(out, &plan->layout);
    put_groups(out, &b);
    text_put(out, "set -eu\n");
    put_runs(out, &b.nodes);
    put_hosts(out, &b);
    put_part(out, "own_number", NULL, NULL);
    put_program(out, problem);
    put_start(out, &b.nodes,
              problem && problem_with_layout(problem, &plan->layout).job.overlapped_dispatch);
    return OK;
}
