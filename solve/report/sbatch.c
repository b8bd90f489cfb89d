// Scripts that start a plan, one torchrun per node: as a Slurm job, or by any means that starts a
// program on each node. They use what is next to them: flags or a configuration.
#include <inttypes.h>
#include <string.h>

#include "data/base/least.h"
#include "solve/report/report.h"

struct batch {
    const struct plan *plan;
    const struct cluster *cluster;
    int64_t gpus, each, nodes; // in total, per node
    const char *hosts; // of a placement: a line per node in the order of ranks, name and slots
};

static const struct node_group *group_of_rank(const struct batch *b, int64_t rank)
{
    struct schedule_request request = plan_request(b->plan);
    int pipeline_rank = (int)(rank / b->plan->devices_per_stage);
    int stage = schedule_stage_of(&request, pipeline_rank, 0);
    return &b->cluster->groups[b->plan->stages[stage].group];
}

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end + 1 : line + strlen(line);
}

static int name_length(const char *line) { return (int)strcspn(line, " \n"); }

// Nodes of a placement have names, whatever their groups; all must hold the same number of ranks.
static enum status find_named_nodes(struct batch *b, struct arena *arena, struct error *err)
{
    const struct launch_request request = {.format = LAUNCH_HOSTS, .order = 0};
    size_t length;
    TRY(report_launch(b->plan, &request, &b->hosts, &length, arena, err));
    b->gpus = b->plan->layout.pipeline * b->plan->devices_per_stage;
    const char *shape = b->hosts + name_length(b->hosts);
    size_t width = strcspn(shape, "\n");
    for (const char *line = b->hosts; *line; line = next_line(line)) {
        if (strncmp(line + name_length(line), shape, width + 1))
            return fail(err, BAD_INPUT,
                        "its nodes hold different numbers of ranks: use the formats hostfile, "
                        "rankfile and hosts");
        b->nodes++;
    }
    b->each = b->gpus / b->nodes;
    return OK;
}

// A Slurm job has one kind of node: all must be alike, and none may have stages of two groups.
static enum status find_nodes(struct batch *b, struct arena *arena, struct error *err)
{
    if (b->plan->placement) return find_named_nodes(b, arena, err);
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

// The names, separated by this character.
static void put_names(struct text *out, const char *hosts, char apart)
{
    for (const char *line = hosts; *line; line = next_line(line)) {
        if (line > hosts) text_put(out, "%c", apart);
        text_put(out, "%.*s", name_length(line), line);
    }
}

static void put_node_groups(struct text *out, const struct batch *b)
{
    if (b->hosts) return;
    for (int64_t node = 0, next; node < b->nodes; node = next) {
        const struct node_group *g = group_of_rank(b, node * b->each);
        for (next = node; next < b->nodes && group_of_rank(b, next * b->each) == g;) next++;
        text_put(out, "# Nodes %" PRId64 " to %" PRId64 " of the job: %s (%s)\n", node, next - 1,
                 g->name, g->gpu);
    }
}

static enum status begin(struct batch *b, struct text *out, const struct plan *plan,
                         const struct problem *problem, struct arena *arena, struct error *err)
{
    *b = (struct batch){.plan = plan, .cluster = problem ? &problem->cluster : NULL};
    TRY(report_expect_stages(plan, err));
    if (!problem)
        return fail(err, BAD_INPUT,
                    "the plan's problem is missing or has changed since: it gives the number of "
                    "GPUs per node");
    TRY(find_nodes(b, arena, err));
    text_begin(out, arena);
    return OK;
}

// Slurm numbers nodes by name; a placement has its own order.
static void put_master(struct text *out, const struct batch *b)
{
    text_put(out, "# The nodes in the order of their ranks%s.\nexport PLAN_HOSTS=\"",
             b->hosts ? "" : ": Slurm's own, or set PLAN_HOSTS");
    if (b->hosts) put_names(out, b->hosts, ' ');
    else
        text_put(out, "${PLAN_HOSTS:-$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | paste "
                      "-sd ' ')}");
    text_put(out, "\"\nMASTER_ADDR=${PLAN_HOSTS%%%% *}\n");
}

enum status report_sbatch(const struct plan *plan, const struct plan *uniform,
                          const struct problem *problem, const char **text, size_t *length,
                          struct arena *arena, struct error *err)
{
    (void)uniform;
    struct text out;
    struct batch b;
    TRY(begin(&b, &out, plan, problem, arena, err));
    text_put(&out,
             "#!/bin/bash\n"
             "# The plan %s under Slurm: sbatch job.sbatch DATA-OPTION ..., in the folder of "
             "megatron.sh (or PLAN_DIR=FOLDER). By plumbline %s.\n",
             plan->name ? plan->name : "", PLUMBLINE_VERSION);
    text_put(&out,
             "#SBATCH --nodes=%" PRId64 "\n#SBATCH --ntasks-per-node=1\n"
             "#SBATCH --gpus-per-node=%" PRId64 "\n#SBATCH --exclusive\n",
             b.nodes, b.each);
    if (b.hosts) {
        text_put(&out, "#SBATCH --nodelist=");
        put_names(&out, b.hosts, ',');
        text_put(&out, "\n");
    }
    put_node_groups(&out, &b);
    text_put(&out, "set -eu\n"
                   "# shellcheck source=/dev/null\n"
                   "source \"${PLAN_DIR:-${SLURM_SUBMIT_DIR:-.}}/megatron.sh\"\n");
    put_master(&out, &b);
    text_put(&out, "MASTER_PORT=${MASTER_PORT:-29500}\n"
                   "export MASTER_ADDR MASTER_PORT CUDA_DEVICE_MAX_CONNECTIONS=1\n");
    text_put(&out,
             "# shellcheck disable=SC2016\n"
             "srun --kill-on-bad-exit=1 bash -c 'rank=0\n"
             "for host in $PLAN_HOSTS; do\n"
             "    [ \"$host\" != \"$SLURMD_NODENAME\" ] || break\n"
             "    rank=$((rank + 1))\n"
             "done\n"
             "[ \"$rank\" -lt %" PRId64
             " ] || { echo \"job.sbatch: $SLURMD_NODENAME is not in $PLAN_HOSTS\" >&2; exit 2; "
             "}\n"
             "exec torchrun --nnodes %" PRId64 " --nproc-per-node %" PRId64
             " --node-rank \"$rank\" \\\n"
             "    --master-addr \"$MASTER_ADDR\" --master-port \"$MASTER_PORT\" \"$@\"' "
             "torchrun \\\n"
             "    \"${MEGATRON_RUN[@]}\" \"${PRETRAIN:-pretrain_gpt.py}\" "
             "\"${MEGATRON_ARGS[@]}\" \"$@\"\n",
             b.nodes, b.nodes, b.each);
    return text_end(&out, text, length);
}

// ---- torchrun

// The nodes as launched: given at run time, or the plan's own.
static void put_hosts(struct text *out, const struct batch *b)
{
    const char *own = b->hosts ? b->hosts : "";
    text_put(out,
             "# The nodes in the order of their ranks: HOSTS (names between blanks or commas), "
             "else HOSTFILE (a name a line),\n# else those of Slurm's job%s.\n"
             "if [ -n \"${HOSTS:-}\" ]; then\n"
             "    read -r -d '' -a hosts <<<\"${HOSTS//,/ }\" || true\n"
             "elif [ -n \"${HOSTFILE:-}\" ]; then\n"
             "    mapfile -t hosts < <(awk 'NF && $1 !~ /^#/ { print $1 }' \"$HOSTFILE\")\n",
             *own ? ", where they are the plan's" : "");
    if (!*own)
        text_put(out, "elif [ -n \"${SLURM_JOB_NODELIST:-}\" ]; then\n"
                      "    mapfile -t hosts < <(scontrol show hostnames "
                      "\"$SLURM_JOB_NODELIST\")\n");
    text_put(out, "else\n    hosts=(");
    if (!*own && b->nodes == 1) text_put(out, "\"$(hostname)\"");
    put_names(out, own, ' ');
    text_put(out,
             ")\nfi\n"
             "if [ ${#hosts[@]} -ne $nodes ]; then\n"
             "    echo \"torchrun.sh: the plan is for $nodes nodes, found ${#hosts[@]}"
             "${hosts[*]:+: ${hosts[*]}} (HOSTS, HOSTFILE%s)\" >&2\n"
             "    exit 2\nfi\n",
             *own ? "" : ", SLURM_JOB_NODELIST");
}

// The file next to the script determines which program is run.
static void put_program(struct text *out)
{
    text_put(out,
             "if [ -e \"$here/megatron.sh\" ]; then\n"
             "    # shellcheck source=/dev/null\n"
             "    source \"$here/megatron.sh\"\n"
             "    program=(\"${MEGATRON_RUN[@]}\" \"${PRETRAIN:-pretrain_gpt.py}\" "
             "\"${MEGATRON_ARGS[@]}\")\n"
             "elif [ -e \"$here/torchtitan_plan.py\" ] && ! { [ -e "
             "\"$here/torchtitan.toml\" ] &&\n"
             "    python3 -c 'import torchtitan.config.job_config' 2>/dev/null; }; then "
             "# 0.3: no TOML\n"
             "    cd \"$here\"\n"
             "    export PYTHONPATH=\"$here${PYTHONPATH:+:$PYTHONPATH}\"\n"
             "    program=(-m torchtitan.train --module torchtitan_plan --config plan)\n"
             "elif [ -e \"$here/torchtitan.toml\" ]; then\n"
             "    cd \"$here\"\n"
             "    program=(-m torchtitan.train --job.config_file torchtitan.toml)\n"
             "elif [ -e \"$here/nemo.yaml\" ] && [ -n \"${PRETRAIN:-}\" ]; then\n"
             "    program=(\"$PRETRAIN\" --config-file \"$here/nemo.yaml\")\n"
             "elif [ -e \"$here/deepspeed.json\" ] && [ -n \"${PRETRAIN:-}\" ]; then\n"
             "    program=(\"$PRETRAIN\" --deepspeed_config \"$here/deepspeed.json\")\n"
             "else\n"
             "    echo \"torchrun.sh: expected megatron.sh, torchtitan.toml or torchtitan_plan.py "
             "next to it, or deepspeed.json or nemo.yaml and PRETRAIN=SCRIPT\" >&2\n"
             "    exit 2\nfi\n");
}

enum status report_torchrun(const struct plan *plan, const struct plan *uniform,
                            const struct problem *problem, const char **text, size_t *length,
                            struct arena *arena, struct error *err)
{
    (void)uniform;
    struct text out;
    struct batch b;
    TRY(begin(&b, &out, plan, problem, arena, err));
    text_put(&out,
             "#!/bin/bash\n"
             "# The plan %s by torchrun: bash torchrun.sh OPTION ... on each node, options for "
             "the training program. By plumbline %s.\n"
             "# Under Slurm: sbatch --nodes=%" PRId64
             " --ntasks-per-node=1 --gpus-per-node=%" PRId64
             " --exclusive --wrap 'srun bash torchrun.sh OPTION ...'\n",
             plan->name ? plan->name : "", PLUMBLINE_VERSION, b.nodes, b.each);
    put_node_groups(&out, &b);
    text_put(&out,
             "set -eu\nnodes=%" PRId64 "\neach=%" PRId64 "\n"
             "here=$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\n",
             b.nodes, b.each);
    put_hosts(&out, &b);
    text_put(&out, "rank=${NODE_RANK:-}\n"
                   "for ((i = 0; i < nodes; i++)); do\n"
                   "    own=$(hostname)\n"
                   "    for name in \"$own\" \"${own%%%%.*}\" \"${SLURMD_NODENAME:-}\"; do\n"
                   "        if [ -z \"$rank\" ] && { [ \"${hosts[i]}\" = \"$name\" ] || "
                   "[ \"${hosts[i]%%%%.*}\" = \"$name\" ]; }; then rank=$i; fi\n"
                   "    done\n"
                   "done\n"
                   "if [ -z \"$rank\" ]; then\n"
                   "    echo \"torchrun.sh: $(hostname) is not in ${hosts[*]} (or set NODE_RANK)\" "
                   ">&2\n"
                   "    exit 2\nfi\n");
    put_program(&out);
    text_put(&out, "export CUDA_DEVICE_MAX_CONNECTIONS=\"${CUDA_DEVICE_MAX_CONNECTIONS:-1}\"\n"
                   "exec torchrun --nnodes \"$nodes\" --nproc-per-node \"$each\" --node-rank "
                   "\"$rank\" \\\n"
                   "    --master-addr \"${MASTER_ADDR:-${hosts[0]}}\" --master-port "
                   "\"${MASTER_PORT:-29500}\" \\\n"
                   "    \"${program[@]}\" \"$@\"\n");
    return text_end(&out, text, length);
}
