// A plan as a job of Slurm: one torchrun a node, which source the Megatron-LM flags beside them.
#include <inttypes.h>

#include "data/base/least.h"
#include "solve/report/report.h"

struct batch {
    const struct plan *plan;
    const struct cluster *cluster;
    int64_t gpus, each, nodes; // all of them, of a node
};

static const struct node_group *group_of_rank(const struct batch *b, int64_t rank)
{
    struct schedule_request request = plan_request(b->plan);
    int pipeline_rank = (int)(rank / b->plan->devices_per_stage);
    int stage = schedule_stage_of(&request, pipeline_rank, 0);
    return &b->cluster->groups[b->plan->stages[stage].group];
}

// Slurm has one shape of node in a job: all alike, and none with stages of two groups.
static enum status find_nodes(struct batch *b, struct error *err)
{
    if (b->plan->placement && b->cluster->group_count > 1)
        return fail(err, BAD_INPUT,
                    "a placement on several groups of nodes: its hosts are "
                    "report's hostfile, rankfile and hosts");
    const struct node_group *first = group_of_rank(b, 0);
    b->gpus = b->plan->layout.pipeline * b->plan->devices_per_stage;
    b->each = smaller(first->gpus_per_node, b->gpus);
    b->nodes = b->gpus / b->each;
    if (b->gpus % b->each)
        return fail(err, BAD_INPUT,
                    "%" PRId64 " GPUs do not fill nodes of %" PRId64 ": no job of whole nodes runs "
                    "the plan",
                    b->gpus, b->each);
    for (int64_t rank = 0; rank < b->gpus; rank++) {
        const struct node_group *own = group_of_rank(b, rank),
                                *node = group_of_rank(b, rank / b->each * b->each);
        if (own != node || own->gpus_per_node != first->gpus_per_node)
            return fail(err, BAD_INPUT,
                        "groups %s and %s: their nodes differ or share a job's node: start the "
                        "plan with the hostfile of your own",
                        first->name, own->name);
    }
    return OK;
}

static void put_node_groups(struct report_out *out, const struct batch *b)
{
    for (int64_t node = 0, next; node < b->nodes; node = next) {
        const struct node_group *g = group_of_rank(b, node * b->each);
        for (next = node; next < b->nodes && group_of_rank(b, next * b->each) == g;) next++;
        report_print(out, "# Nodes %" PRId64 " to %" PRId64 " of the job: %s (%s)\n", node,
                     next - 1, g->name, g->gpu);
    }
    if (b->plan->placement)
        report_print(out, "# Which host is which: plumbline report --format hosts PLAN > hosts, "
                          "then SLURM_HOSTFILE=hosts and srun -m arbitrary\n");
}

enum status report_sbatch(const struct plan *plan, const struct problem *problem, const char **text,
                          size_t *length, struct arena *arena, struct error *err)
{
    struct report_out out;
    struct batch b = {.plan = plan, .cluster = problem ? &problem->cluster : NULL};
    if (!plan->stage_count)
        return fail(err, BAD_INPUT, "the plan holds no stages (%s): there is nothing to launch",
                    outcome_names[plan->outcome]);
    if (!problem)
        return fail(err, BAD_INPUT,
                    "the plan's problem is not at hand or has changed since: it tells how many "
                    "GPUs a node has");
    TRY(find_nodes(&b, err));
    report_out_begin(&out, arena);
    report_print(&out,
                 "#!/bin/bash\n"
                 "# The plan %s under Slurm: sbatch job.sbatch DATA-OPTION ..., in the folder of "
                 "megatron.sh (or PLAN_DIR=FOLDER). By plumbline %s.\n",
                 plan->name ? plan->name : "", PLUMBLINE_VERSION);
    report_print(&out,
                 "#SBATCH --nodes=%" PRId64 "\n#SBATCH --ntasks-per-node=1\n"
                 "#SBATCH --gpus-per-node=%" PRId64 "\n#SBATCH --exclusive\n",
                 b.nodes, b.each);
    put_node_groups(&out, &b);
    report_print(&out,
                 "set -eu\n"
                 "source \"${PLAN_DIR:-${SLURM_SUBMIT_DIR:-.}}/megatron.sh\"\n"
                 "MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\n"
                 "MASTER_PORT=${MASTER_PORT:-29500}\n"
                 "export MASTER_ADDR MASTER_PORT CUDA_DEVICE_MAX_CONNECTIONS=1\n");
    report_print(&out,
                 "srun --kill-on-bad-exit=1 bash -c 'exec torchrun --nnodes %" PRId64
                 " --nproc-per-node %" PRId64 " --node-rank \"$SLURM_PROCID\" \\\n"
                 "    --master-addr \"$MASTER_ADDR\" --master-port \"$MASTER_PORT\" \"$@\"' "
                 "torchrun \\\n"
                 "    \"${PRETRAIN:-pretrain_gpt.py}\" \"${MEGATRON_ARGS[@]}\" \"$@\"\n",
                 b.nodes, b.each);
    *text = out.text;
    *length = out.length;
    return OK;
}
