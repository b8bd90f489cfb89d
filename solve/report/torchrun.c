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

// The nodes as launched: given at run time, or the plan's own.
static void put_hosts(struct text *out, const struct script *b)
{
    bool named = b->plan->placement;
    text_put(out,
             "# The nodes in the order of their ranks: HOSTS (names between blanks or commas), "
             "else HOSTFILE (a name a line,\n# each as often as one likes)%s, else %s.\n"
             "here=$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\n"
             "file=${HOSTFILE:-}\n"
             "[ -z \"$file\" ] || [ -e \"$file\" ] || file=$here/$file\n"
             "if [ -n \"${HOSTS:-}\" ]; then\n"
             "    read -r -d '' -a hosts <<<\"${HOSTS//,/ }\" || true\n",
             b->slurm ? ", else those of Slurm's job" : "",
             named                 ? "the plan's"
             : b->nodes.count == 1 ? "this one"
                                   : "the hostfile next to this script");
    if (b->slurm)
        text_put(out, "elif [ -z \"$file\" ] && [ -n \"${SLURM_JOB_NODELIST:-}\" ]; then\n"
                      "    mapfile -t hosts < <(scontrol show hostnames "
                      "\"$SLURM_JOB_NODELIST\")\n");
    if (named) {
        text_put(out, "elif [ -z \"$file\" ]; then\n    hosts=(");
        for (int64_t i = 0; i < b->nodes.count; i++)
            text_put(out, "%s%s", i ? " " : "", b->nodes.items[i].host);
        text_put(out, ")\n");
    } else if (b->nodes.count == 1) {
        text_put(out, "elif [ -z \"$file\" ]; then\n    hosts=(\"$(hostname)\")\n");
    }
    text_put(out,
             "else\n"
             "    mapfile -t hosts < <(awk 'NF && $1 !~ /^#/ && !seen[$1]++ { print $1 }' "
             "\"${file:-$here/hostfile}\")\n"
             "fi\n"
             "if [ ${#hosts[@]} -ne $nodes ]; then\n"
             "    echo \"torchrun.sh: the plan is for $nodes nodes, found ${#hosts[@]}"
             "${hosts[*]:+: ${hosts[*]}} (HOSTS, HOSTFILE%s)\" >&2\n"
             "    exit 2\nfi\n",
             b->slurm ? ", SLURM_JOB_NODELIST" : "");
}

static void put_own_number(struct text *out)
{
    text_put(out, "rank=${NODE_RANK:-}\n"
                  "own=$(hostname)\n"
                  "for ((i = 0; i < nodes; i++)); do\n"
                  "    for name in \"$own\" \"${own%%%%.*}\" \"${SLURMD_NODENAME:-}\"; do\n"
                  "        if [ -z \"$rank\" ] && { [ \"${hosts[i]}\" = \"$name\" ] || "
                  "[ \"${hosts[i]%%%%.*}\" = \"$name\" ]; }; then rank=$i; fi\n"
                  "    done\n"
                  "done\n"
                  "if [ -z \"$rank\" ]; then\n"
                  "    echo \"torchrun.sh: ${SLURMD_NODENAME:-$own} is not in ${hosts[*]} (or set "
                  "NODE_RANK)\" >&2\n"
                  "    exit 2\nfi\n");
}

// The file next to the script determines which program is run.
static void put_program(struct text *out, const struct problem *problem)
{
    // Older releases add a token to the null tokenizer's.
    int64_t tokens = problem && problem->model.has_shape ? problem->model.shape.vocabulary - 1 : 0;
    text_put(
        out,
        "steps=${MOCK:-} mock=() # MOCK: this many iterations, on mock data\n"
        "if [ -e \"$here/megatron.sh\" ]; then\n"
        "    # shellcheck source=/dev/null\n"
        "    source \"$here/megatron.sh\"\n"
        "    program=(\"${MEGATRON_RUN[@]}\" \"${PRETRAIN:-pretrain_gpt.py}\" "
        "\"${MEGATRON_ARGS[@]}\")\n"
        "    mock=(--mock-data --tokenizer-type NullTokenizer --vocab-size %" PRId64
        "\n        --train-iters \"$steps\" --log-interval 1 --eval-iters 0 --lr 1e-5)\n"
        "elif [ -e \"$here/torchtitan_plan.py\" ] && ! { [ -e "
        "\"$here/torchtitan.toml\" ] &&\n"
        "    python3 -c 'import torchtitan.config.job_config' 2>/dev/null; }; then "
        "# 0.3: no TOML\n"
        "    export PYTHONPATH=\"$here${PYTHONPATH:+:$PYTHONPATH}\"\n"
        "    program=(-m torchtitan.train --module torchtitan_plan --config plan)\n"
        "    mock=(--config mock --training.steps \"$steps\" --metrics.log_freq 1)\n"
        "elif [ -e \"$here/torchtitan.toml\" ]; then\n"
        "    program=(-m torchtitan.train --job.config_file \"$here/torchtitan.toml\")\n"
        "    mock=(--training.steps \"$steps\" --metrics.log_freq 1 --training.dataset "
        "c4_test\n        --model.hf_assets_path ./tests/assets/tokenizer)\n"
        "elif [ -e \"$here/nemo.yaml\" ] && [ -n \"${PRETRAIN:-}\" ]; then\n"
        "    program=(\"$PRETRAIN\" --config-file \"$here/nemo.yaml\")\n"
        "    mock=(\"train.train_iters=$steps\" logger.log_interval=1)\n"
        "elif [ -e \"$here/deepspeed.json\" ] && [ -n \"${PRETRAIN:-}\" ]; then\n"
        "    program=(\"$PRETRAIN\" --deepspeed_config \"$here/deepspeed.json\")\n"
        "elif [ -e \"$here/axonn.json\" ] && [ -n \"${PRETRAIN:-}\" ]; then\n"
        "    program=(\"$PRETRAIN\" \"$here/axonn.json\")\n"
        "else\n"
        "    echo \"torchrun.sh: expected megatron.sh, torchtitan.toml or torchtitan_plan.py "
        "next to it, or deepspeed.json, nemo.yaml or axonn.json and PRETRAIN=SCRIPT\" >&2\n"
        "    exit 2\nfi\n"
        "# torchtitan: run this in its checkout, in which its recipes find tokenizer and data\n"
        "[[ ${program[1]} != torchtitan* ]] || [ ! -e \"$here/schedule.csv\" ] ||\n"
        "    program+=(--parallelism.pipeline_parallel_schedule_csv "
        "\"$here/schedule.csv\")\n"
        "[ -z \"$steps\" ] || program+=(\"${mock[@]}\")\n",
        tokens);
}

// A node's only torchrun takes the place of the script. Of several each sees its own GPUs, and all
// end with the first that fails.
// Kernels of several streams start in the order of their calls with one connection; dispatch that
// is overlapped wants more (Megatron-LM, megatron/training/arguments.py).
static void put_start(struct text *out, const struct launch_nodes *n, bool overlapped)
{
    static const char launch[] =
        "torchrun --nnodes ${#runs[@]} --nproc-per-node \"$count\" --node-rank \"$run\" \\\n"
        "    --master-addr \"${MASTER_ADDR:-${hosts[0]}}\" --master-port "
        "\"${MASTER_PORT:-29500}\" \\\n"
        "    \"${program[@]}\" \"$@\"";
    text_put(out, "export CUDA_DEVICE_MAX_CONNECTIONS=\"${CUDA_DEVICE_MAX_CONNECTIONS:-%d}\"\n",
             overlapped ? 32 : 1);
    if (n->run_count == n->count) {
        text_put(out, "run=$rank\nread -r _ _ count <<<\"${runs[run]}\"\nexec %s\n", launch);
        return;
    }
    text_put(out,
             "IFS=, read -r -a gpus <<<\"${CUDA_VISIBLE_DEVICES:-$(seq -s , 0 %" PRId64 ")}\"\n"
             "for ((run = 0; run < ${#runs[@]}; run++)); do\n"
             "    read -r node first count <<<\"${runs[run]}\"\n"
             "    [ \"$node\" -eq \"$rank\" ] || continue\n"
             "    CUDA_VISIBLE_DEVICES=$(IFS=, && echo \"${gpus[*]:first:count}\") \\\n"
             "    %s &\n"
             "done\n"
             "failed=0\n"
             "while [ -n \"$(jobs -p)\" ]; do\n"
             "    wait -n || { failed=$?; jobs -p | xargs -r kill 2>/dev/null || true; wait || "
             "true; }\n"
             "done\nexit $failed\n",
             n->most_ranks - 1, launch);
}

enum status report_torchrun(const struct plan *plan, const struct problem *problem,
                            const char **text, size_t *length, struct arena *arena,
                            struct error *err)
{
    struct text out;
    struct script b = {.plan = plan, .cluster = problem ? &problem->cluster : NULL};
    TRY(report_expect_stages(plan, err));
    TRY(report_nodes(&b.nodes, plan, problem, arena, err));
    b.slurm = !plan->placement;
    for (int64_t i = 1; i < b.nodes.count; i++)
        b.slurm &= b.nodes.items[i].group == b.nodes.items[0].group;
    text_begin(&out, arena);
    text_put(&out,
             "#!/bin/bash\n"
             "# The plan %s by torchrun: bash torchrun.sh OPTION ... on each node, options for "
             "the training program. By plumbline %s.\n",
             plan->name ? plan->name : "", PLUMBLINE_VERSION);
    put_groups(&out, &b);
    text_put(&out, "set -eu\n");
    put_runs(&out, &b.nodes);
    put_hosts(&out, &b);
    put_own_number(&out);
    put_program(&out, problem);
    put_start(&out, &b.nodes,
              problem && problem_with_layout(problem, &plan->layout).job.overlapped_dispatch);
    return text_end(&out, text, length);
}
