// The plan as a Slurm job, which starts torchrun.sh (torchrun.c) next to it on each node. Nodes of
// several groups are a heterogeneous job with a component for each.
#include <inttypes.h>

#include "solve/report/report.h"

struct batch {
    const struct plan *plan;
    const struct cluster *cluster;
    struct launch_nodes nodes;
    int *groups, group_count; // of the plan, in the order of its nodes
};

static void find_groups(struct batch *b)
{
    for (int64_t i = 0; i < b->nodes.count; i++) {
        int k = 0;
        while (k < b->group_count && b->groups[k] != b->nodes.items[i].group) k++;
        if (k == b->group_count) b->groups[b->group_count++] = b->nodes.items[i].group;
    }
}

static void put_component(struct text *out, const struct batch *b, int group)
{
    int64_t nodes = 0, most = 0;
    for (int64_t i = 0; i < b->nodes.count; i++) {
        const struct launch_node *node = &b->nodes.items[i];
        if (node->group != group) continue;
        nodes++;
        if (node->ranks > most) most = node->ranks;
    }
    if (group >= 0)
        text_put(out, "# %" PRId64 " nodes of %s (%s)\n", nodes, b->cluster->groups[group].name,
                 b->cluster->groups[group].gpu);
    text_put(out,
             "#SBATCH --nodes=%" PRId64 "\n#SBATCH --ntasks-per-node=1\n"
             "#SBATCH --gpus-per-node=%" PRId64 "\n#SBATCH --exclusive\n",
             nodes, most);
    if (group >= 0) return;
    for (int64_t i = 0; i < b->nodes.count; i++)
        text_put(out, "%s%s", i ? "," : "#SBATCH --nodelist=", b->nodes.items[i].host);
    text_put(out, "\n");
}

// Slurm numbers nodes by name, and those of a component together; a plan has its own order.
static void put_hosts(struct text *out, const struct batch *b)
{
    text_put(out, "if [ -z \"${HOSTS:=${PLAN_HOSTS:-}}\" ]; then\n");
    if (b->plan->placement) {
        text_put(out, "    HOSTS=\"");
        for (int64_t i = 0; i < b->nodes.count; i++)
            text_put(out, "%s%s", i ? " " : "", b->nodes.items[i].host);
        text_put(out, "\"\n");
    } else if (b->group_count == 1) {
        text_put(out, "    HOSTS=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | paste -sd ' "
                      "')\n");
    } else {
        text_put(out, "    # the component of each node of the plan\n"
                      "    taken=()\n    for component in");
        for (int64_t i = 0; i < b->nodes.count; i++) {
            int k = 0;
            while (b->groups[k] != b->nodes.items[i].group) k++;
            text_put(out, " %d", k);
        }
        text_put(out, "; do\n"
                      "        list=SLURM_JOB_NODELIST_HET_GROUP_$component\n"
                      "        at=$((${taken[component]:-0} + 1))\n"
                      "        taken[component]=$at\n"
                      "        HOSTS=\"$HOSTS $(scontrol show hostnames \"${!list}\" | sed -n "
                      "\"${at}p\")\"\n"
                      "    done\n");
    }
    text_put(out, "fi\nexport HOSTS\n");
}

enum status report_sbatch(struct text *out, const struct plan *plan, const struct problem *problem,
                          struct error *err)
{
    struct batch b = {.plan = plan, .cluster = problem ? &problem->cluster : NULL};
    TRY(report_expect_stages(plan, err));
    TRY(report_nodes(&b.nodes, plan, problem, out->arena, err));
    b.groups = TAKE(out->arena, b.nodes.count, int);
    find_groups(&b);
    text_put(
        out,
        "#!/bin/bash\n"
        "# The plan %s under Slurm: sbatch job.sbatch OPTION ..., in the folder of torchrun.sh "
        "(or PLAN_DIR=FOLDER). By plumbline %s.\n"
        "# The nodes in the order of their ranks: HOSTS, else the plan's or Slurm's.\n",
        plan->name ? plan->name : "", PLUMBLINE_VERSION);
    report_put_in_flight(out, &plan->layout);
    for (int k = 0; k < b.group_count; k++) {
        if (k) text_put(out, "#SBATCH hetjob\n");
        put_component(out, &b, b.groups[k]);
    }
    text_put(out, "set -eu\n");
    put_hosts(out, &b);
    text_put(out, "srun --kill-on-bad-exit=1");
    if (b.group_count > 1) text_put(out, " --het-group=0-%d", b.group_count - 1);
    text_put(out, " bash \"${PLAN_DIR:-${SLURM_SUBMIT_DIR:-.}}/torchrun.sh\" \"$@\"\n");
    return OK;
}
