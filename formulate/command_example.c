// plumbline example chain|gpt|mixed|four|pipette ...: complete problems as five documents in a
// folder.
#include <stdio.h>
#include <string.h>

#include "data/base/commands.h"
#include "data/kinds/schedules.h"
#include "formulate/commands.h"
#include "formulate/example/example.h"
#include "data/base/file.h"

// Where the example is written; shared by all kinds.
struct destination {
    const char *folder;
    bool force, quiet;
};
#define OPTION_FOLDER(to)                                                                          \
    {                                                                                              \
        "-o", OPTION_PATH, &(to)->folder, 0, 0, NULL,                                              \
            "output folder for the five files, created if missing"                                 \
    }
#define OPTION_FORCE(to)                                                                           \
    {                                                                                              \
        "--force", OPTION_FLAG, &(to)->force, 0, 0, NULL, "overwrite files whose content differs"  \
    }

#define OPTION_QUIET(to)                                                                           \
    {                                                                                              \
        "--quiet", OPTION_FLAG, &(to)->quiet, 0, 0, NULL, "do not print the problem's path"        \
    }

static enum status deliver(struct problem *problem, const struct destination *to,
                           struct arena *arena, struct error *err)
{
    if (!to->folder) return fail(err, BAD_INPUT, "-o FOLDER is missing");
    TRY(example_write(problem, to->folder, to->force, arena, err));
    if (!to->quiet) printf("%s\n", problem->document.path);
    return OK;
}

static enum status run_chain(int argc, char **argv, int *exit_code, struct arena *arena,
                             struct error *err)
{
    (void)exit_code;
    struct destination to = {NULL, false, false};
    int64_t layers = 48, stages = 8, types = 2, micro_batches = 32;
    bool helped;
    struct option options[] = {
        {"--layers", OPTION_INT, &layers, 1, LAYERS_MAX - 2, NULL,
         "number of identical blocks (default: 48)"},
        {"--stages", OPTION_INT, &stages, 1, STAGES_MAX, NULL, "pipeline stages, one GPU each (8)"},
        {"--types", OPTION_INT, &types, 1, CHAIN_TYPES_MAX, NULL, "GPU types (2)"},
        {"--micro-batches", OPTION_INT, &micro_batches, 1, MICRO_BATCHES_MAX, NULL,
         "micro-batches (32)"},
        OPTION_FOLDER(&to),
        OPTION_FORCE(&to),
        OPTION_QUIET(&to),
    };
    TRY(options_read(argc, argv, "plumbline example chain [OPTION ...] -o FOLDER", options,
                     ARRAY_LENGTH(options), NULL, 0, 0, NULL, &helped, err));
    if (helped) return OK;
    struct chain_request request = {(int)layers, (int)stages, (int)types, (int)micro_batches};
    struct problem problem;
    TRY(example_chain(&problem, &request, arena, err));
    return deliver(&problem, &to, arena, err);
}

enum { AS_ITS_FRAMEWORK = -1 }; // not stated

// Options are 64 bits wide, the layout's fields are not; negatively named switches keep the
// defaults readable.
struct transformer_options {
    int64_t tensor, context, data, pipeline, micro_batch, zero, expert, virtual_stages, gpus, nodes,
        boundary_rank, gradient_rank;
    int precision, schedule, gradient_sync, layouts, framework, objective;
    bool offload_optimizer, fewer_devices, whole_activations, unfused_attention,
        fused_embedding_sync;
};

static struct layout layout_of(const struct transformer_options *o)
{
    return (struct layout){.tensor = (int)o->tensor,
                           .context = (int)o->context,
                           .data = (int)o->data,
                           .expert = (int)o->expert,
                           .pipeline = (int)o->pipeline,
                           .virtual_stages = (int)o->virtual_stages,
                           .slice_count = 1,
                           .barrier = true,
                           .micro_batch = (int)o->micro_batch,
                           .schedule = o->schedule,
                           .sequence_parallel = !o->whole_activations && o->tensor > 1,
                           .fused_attention = !o->unfused_attention,
                           .gradient_sync = (enum gradient_sync)o->gradient_sync,
                           .fused_embedding_sync = o->fused_embedding_sync,
                           .zero = (int)o->zero,
                           .offload_optimizer = o->offload_optimizer};
}

// "degrees": tensor, context, pipeline, data and micro-batch; "all": every key but local losses,
// which change the training result.
enum { LAYOUTS_ONE, LAYOUTS_DEGREES, LAYOUTS_ALL };
static const char *const layouts_names[] = {"one", "degrees", "all", NULL};

// What nobody stated is set as in the framework: ZeRO, and when gradients are synced.
static void follow_framework(struct transformer_options *o)
{
    bool titan = o->framework == FRAMEWORK_TORCHTITAN,
         deep = o->framework == FRAMEWORK_DEEPSPEED && o->pipeline > 1;
    if (o->zero == AS_ITS_FRAMEWORK) o->zero = titan ? 2 : 1;
    if (o->gradient_sync == AS_ITS_FRAMEWORK)
        o->gradient_sync = deep ? SYNC_EXPOSED : SYNC_OVERLAPPED;
}

static void choose_space(struct transformer_request *r, int layouts, bool fewer_devices,
                         int framework)
{
    static const enum space_key degrees[] = {SPACE_TENSOR, SPACE_CONTEXT, SPACE_PIPELINE,
                                             SPACE_DATA, SPACE_MICRO_BATCH};
    r->space = (struct space){.given = layouts != LAYOUTS_ONE,
                              .fewer_devices = fewer_devices,
                              .framework = (enum framework)framework};
    for (size_t i = 0; i < ARRAY_LENGTH(degrees) && layouts == LAYOUTS_DEGREES; i++)
        r->space.axes[degrees[i]].kind = AXIS_ALL;
    for (int key = 0; key < SPACE_KEY_COUNT && layouts == LAYOUTS_ALL; key++)
        if (key != SPACE_LOCAL_LOSS_EVERY) r->space.axes[key].kind = AXIS_ALL;
}

static enum status read_transformer(int argc, char **argv, const char *usage,
                                    struct transformer_request *r, struct destination *to,
                                    bool *helped, struct error *err)
{
    struct layout *l = &r->layout;
    struct transformer_options o = {.tensor = l->tensor,
                                    .context = l->context,
                                    .data = l->data,
                                    .pipeline = l->pipeline,
                                    .micro_batch = l->micro_batch,
                                    .zero = AS_ITS_FRAMEWORK,
                                    .expert = l->expert,
                                    .virtual_stages = l->virtual_stages,
                                    .precision = (int)r->precision,
                                    .schedule = (int)l->schedule,
                                    .framework = FRAMEWORK_MEGATRON,
                                    .gradient_sync = AS_ITS_FRAMEWORK};
    struct option options[] = {
        {"--model", OPTION_MODEL, &r->model, 0, 0, NULL, "shipped name or file"},
        {"--cluster", OPTION_CLUSTER, &r->cluster, 0, 0, NULL, "shipped name or file"},
        {"--gpu", OPTION_GPU, &r->gpu, 0, 0, NULL,
         "instead of --cluster: use the shipped one whose nodes have this GPU"},
        {"--costs", OPTION_COSTS, &r->costs, 0, 0, NULL, "shipped name or file"},
        {"--gpus", OPTION_INT, &o.gpus, 0, 1 << 20, NULL,
         "GPUs in the cluster's first group (default: as in the cluster)"},
        {"--nodes", OPTION_INT, &o.nodes, 0, 1 << 20, NULL, "or its number of nodes"},
        {"--gpu-hour-price", OPTION_NUMBER, &r->gpu_hour_price, 0, 1e6, NULL,
         "price of one GPU hour (default: as in the cluster)"},
        {"--tensor", OPTION_INT, &o.tensor, 1, 1 << 10, NULL, "tensor degree"},
        {"--context", OPTION_INT, &o.context, 1, 1 << 10, NULL, "context degree"},
        {"--data", OPTION_INT, &o.data, 0, 1 << 16, NULL,
         "data degree (default: as high as the GPUs allow)"},
        {"--pipeline", OPTION_INT, &o.pipeline, 1, STAGES_MAX, NULL, "pipeline degree"},
        {"--micro-batch", OPTION_INT, &o.micro_batch, 1, 1 << 16, NULL,
         "sequences per micro-batch"},
        {"--global-batch", OPTION_INT, &r->global_batch, 0, 1 << 30, NULL,
         "sequences per iteration (default: 64 micro-batches per replica)"},
        {"--sequence", OPTION_INT, &r->sequence, 1, 1 << 30, NULL, "tokens per sequence"},
        {"--precision", OPTION_NAME, &o.precision, 0, 0, precision_names,
         "precision of weights and activations"},
        {"--schedule", OPTION_NAME, &o.schedule, 0, 0, schedule_names, "pipeline schedule"},
        {"--gradient-sync", OPTION_NAME, &o.gradient_sync, 0, 0, gradient_sync_names,
         "sync gradients after the last backward pass or overlapped with it (default: overlapped; "
         "with DeepSpeed's pipeline: exposed)"},
        {"--zero", OPTION_INT, &o.zero, 0, 3, NULL,
         "ZeRO stage: shard optimizer state (1), also gradients (2), also weights (3) (default: 1; "
         "torchtitan: 2)"},
        {"--offload-optimizer", OPTION_FLAG, &o.offload_optimizer, 0, 0, NULL,
         "keep optimizer state in host memory and update it there"},
        {"--expert", OPTION_INT, &o.expert, 1, 1 << 16, NULL, "expert-parallel degree"},
        {"--virtual-stages", OPTION_INT, &o.virtual_stages, 1, STAGES_MAX, NULL,
         "stages per pipeline rank"},
        {"--layouts", OPTION_NAME, &o.layouts, 0, 0, layouts_names,
         "what solve may choose: nothing, the degrees and the micro-batch, or the whole layout"},
        {"--framework", OPTION_NAME, &o.framework, 0, 0, framework_names,
         "target framework (default: megatron); with --layouts, solve chooses among what it can "
         "run"},
        {"--fewer-devices", OPTION_FLAG, &o.fewer_devices, 0, 0, NULL,
         "with --layouts: allow layouts that leave devices idle"},
        {"--objective", OPTION_NAME, &o.objective, 0, 0, objective_names,
         "what to minimise (default: iteration_time)"},
        {"--memory-fraction", OPTION_NUMBER, &r->memory_fraction, 0.01, 1, NULL,
         "share of each GPU's memory that a plan may use"},
        {"--no-sequence-parallel", OPTION_FLAG, &o.whole_activations, 0, 0, NULL,
         "do not shard activations between layers over tensor ranks"},
        {"--unfused-attention", OPTION_FLAG, &o.unfused_attention, 0, 0, NULL,
         "use attention that stores its scores"},
        {"--fused-embedding-sync", OPTION_FLAG, &o.fused_embedding_sync, 0, 0, NULL,
         "use a single all-reduce for tied embeddings"},
        {"--boundary-rank", OPTION_INT, &o.boundary_rank, 0, 1 << 16, NULL,
         "offer backward transfers of rank N in the drain (0: none)"},
        {"--gradient-rank", OPTION_INT, &o.gradient_rank, 0, 1 << 16, NULL,
         "offer gradient syncs of rank N (0: none)"},
        {"--quality-budget", OPTION_INT, &r->quality_budget, -1, 1 << 20, NULL,
         "maximum number of compressed boundaries and stages together (-1: no limit)"},
        OPTION_FOLDER(to),
        OPTION_FORCE(to),
        OPTION_QUIET(to),
    };
    TRY(options_read(argc, argv, usage, options, ARRAY_LENGTH(options), NULL, 0, 0, NULL, helped,
                     err));
    r->gpus = (int)o.gpus, r->nodes = (int)o.nodes;
    r->boundary_rank = (int)o.boundary_rank;
    r->gradient_rank = (int)o.gradient_rank;
    r->precision = (enum precision)o.precision;
    r->objective = (enum objective)o.objective;
    follow_framework(&o);
    *l = layout_of(&o);
    choose_space(r, o.layouts, o.fewer_devices, o.framework);
    return OK;
}

static enum status transformer_problem(struct problem *problem, struct transformer_request *request,
                                       struct arena *arena, struct error *err)
{
    request->name = arena_print(arena, "%s on %s", request->model,
                                request->gpu ? request->gpu : request->cluster);
    return example_transformer(problem, request, arena, err);
}

static enum status run_transformer(int argc, char **argv, const char *usage,
                                   struct transformer_request *request, struct arena *arena,
                                   struct error *err)
{
    struct destination to = {NULL, false, false};
    bool helped;
    TRY(read_transformer(argc, argv, usage, request, &to, &helped, err));
    if (helped) return OK;
    struct problem problem;
    TRY(transformer_problem(&problem, request, arena, err));
    return deliver(&problem, &to, arena, err);
}

// A large transformer on eight stages, as commonly trained.
static struct transformer_request common_request(void)
{
    return (struct transformer_request){.costs = "published",
                                        .precision = BF16,
                                        .layout = {.tensor = 8,
                                                   .context = 1,
                                                   LAYOUT_PLAIN(8),
                                                   .micro_batch = 1,
                                                   .schedule = SCHEDULE_1F1B},
                                        .memory_fraction = MEMORY_FRACTION_DEFAULT,
                                        .quality_budget = -1};
}

static const char gpt_usage[] = "plumbline example gpt [OPTION ...] -o FOLDER";

static struct transformer_request gpt_request(void)
{
    struct transformer_request request = common_request();
    request.model = "gpt3-175b";
    request.cluster = "a100-16x8";
    return request;
}

static enum status run_gpt(int argc, char **argv, int *exit_code, struct arena *arena,
                           struct error *err)
{
    (void)exit_code;
    struct transformer_request request = gpt_request();
    return run_transformer(argc, argv, gpt_usage, &request, arena, err);
}

enum status example_gpt(struct problem *problem, int argc, char **argv, struct arena *arena,
                        struct error *err)
{
    struct transformer_request request = gpt_request();
    struct destination unused = {NULL, false, false};
    bool helped;
    TRY(read_transformer(argc, argv, gpt_usage, &request, &unused, &helped, err));
    if (helped) return fail(err, BAD_INPUT, "--help: expected an option of example gpt");
    return transformer_problem(problem, &request, arena, err);
}

// Half precision in the format that both GPU types have. Four GPUs share a layer, so that a replica
// spans both types.
static enum status run_mixed(int argc, char **argv, int *exit_code, struct arena *arena,
                             struct error *err)
{
    (void)exit_code;
    struct transformer_request request = common_request();
    request.model = "llama-3.1-70b";
    request.cluster = "mixed-a100-v100";
    request.sequence = 4096;
    request.precision = FP16;
    request.layout.tensor = 4;
    return run_transformer(argc, argv, "plumbline example mixed [OPTION ...] -o FOLDER", &request,
                           arena, err);
}

static enum status run_four(int argc, char **argv, int *exit_code, struct arena *arena,
                            struct error *err)
{
    (void)exit_code;
    struct destination to = {NULL, false, false};
    const char *costs = NULL;
    double memory_gb = 0;
    bool helped;
    struct option options[] = {
        {"--costs", OPTION_COSTS, &costs, 0, 0, NULL,
         "costs of the machine, from plumbline calibrate"},
        {"--memory-gb", OPTION_NUMBER, &memory_gb, 0, 1e6, NULL,
         "memory of the machine in GB; at least 32 is assumed"},
        OPTION_FOLDER(&to),
        OPTION_FORCE(&to),
        OPTION_QUIET(&to),
    };
    TRY(options_read(argc, argv, "plumbline example four --costs FILE [--memory-gb X] -o FOLDER",
                     options, ARRAY_LENGTH(options), NULL, 0, 0, NULL, &helped, err));
    if (helped) return OK;
    if (!costs) return fail(err, BAD_INPUT, "--costs FILE is missing");
    struct problem problem;
    TRY(example_four(&problem, costs, memory_gb, arena, err));
    fprintf(stderr, "cluster: %s\n", problem.cluster.name);
    return deliver(&problem, &to, arena, err);
}

static enum status run_pipette(int argc, char **argv, int *exit_code, struct arena *arena,
                               struct error *err)
{
    (void)exit_code;
    struct destination to = {NULL, false, false};
    struct pipette_request r = {.costs = "published",
                                .tensor = 8,
                                .layers = 64,
                                .hidden = 3072,
                                .heads = 32,
                                .vocabulary = 50256,
                                .sequence = 1024,
                                .micro_batch = 4,
                                .global_batch = 128,
                                .nodes = {.like = "a100-16x8",
                                          .intra_latency_us = -1,
                                          .latency_us = -1,
                                          .rows = ROWS_BY_TABLE,
                                          .table = TABLE_ONLY,
                                          .unit = MATRIX_BY_FORM,
                                          .published = true}};
    int precision = FP32, objective = OBJECTIVE_PIPETTE;
    bool helped;
    struct option options[] = {
        {"--matrix", OPTION_PATH, &r.matrix, 0, 0, NULL,
         "file of measured bandwidths that import matrix reads"},
        {"--stages", OPTION_INT, &r.stages, 1, STAGES_MAX, NULL,
         "pipeline stages, a divisor of the number of nodes"},
        {"--objective", OPTION_NAME, &objective, 0, 0, objective_names,
         "what to minimise (default: pipette)"},
        {"--rows", OPTION_NAME, &r.nodes.rows, 0, 0, matrix_row_names,
         "what a row stands for (default: sender, as in Pipette's program)"},
        {"--unit", OPTION_NAME, &r.nodes.unit, 0, 0, matrix_unit_names,
         "unit: 1e9 bytes/s, 1000 x 2^20, 2^20, 1e6 (default as in Pipette's program: gb, with "
         "mpiGraph's two tables mb)"},
        {"--table", OPTION_NAME, &r.nodes.table, 0, 0, matrix_table_names,
         "which of mpiGraph's two tables to read (default: recv)"},
        {"--like", OPTION_CLUSTER, &r.nodes.like, 0, 0, NULL,
         "cluster with such nodes: shipped name or file (default: a100-16x8)"},
        {"--costs", OPTION_COSTS, &r.costs, 0, 0, NULL,
         "shipped name or file (default: published)"},
        {"--tensor", OPTION_INT, &r.tensor, 1, 1 << 10, NULL, "tensor degree (8)"},
        {"--layers", OPTION_INT, &r.layers, 1, LAYERS_MAX - 2, NULL,
         "number of blocks (default: 64)"},
        {"--hidden", OPTION_INT, &r.hidden, 1, 1 << 20, NULL, "hidden size (default: 3072)"},
        {"--heads", OPTION_INT, &r.heads, 1, 1 << 16, NULL, "attention heads (32)"},
        {"--vocabulary", OPTION_INT, &r.vocabulary, 1, 1 << 24, NULL,
         "vocabulary size (default: 50256)"},
        {"--sequence", OPTION_INT, &r.sequence, 1, 1 << 30, NULL,
         "tokens per sequence (default: 1024)"},
        {"--micro-batch", OPTION_INT, &r.micro_batch, 1, 1 << 16, NULL,
         "sequences per micro-batch (default: 4)"},
        {"--global-batch", OPTION_INT, &r.global_batch, 1, 1 << 30, NULL,
         "sequences per iteration (default: 128)"},
        {"--precision", OPTION_NAME, &precision, 0, 0, precision_names,
         "precision of weights and activations (default: fp32)"},
        OPTION_FOLDER(&to),
        OPTION_FORCE(&to),
        OPTION_QUIET(&to),
    };
    TRY(options_read(argc, argv,
                     "plumbline example pipette --matrix FILE --stages P [OPTION ...] -o FOLDER",
                     options, ARRAY_LENGTH(options), NULL, 0, 0, NULL, &helped, err));
    if (helped) return OK;
    if (!r.matrix) return fail(err, BAD_INPUT, "--matrix FILE is missing");
    if (!r.stages) return fail(err, BAD_INPUT, "--stages P is missing");
    r.precision = (enum precision)precision;
    r.objective = (enum objective)objective;
    r.nodes.name = path_name(r.matrix);
    struct problem problem;
    TRY(example_pipette(&problem, &r, arena, err));
    return deliver(&problem, &to, arena, err);
}

static enum status run_clusters(int argc, char **argv, int *exit_code, struct arena *arena,
                                struct error *err)
{
    (void)exit_code;
    struct destination to = {NULL, false, false};
    struct clusters_request r = {.costs = "published", .share = 0.55};
    int64_t layers = 30, hidden = 3072, heads = 32, nodes = 4, gpus = 8, tensor = 4, pipeline = 2,
            micro_batch = 2, micro_batches = 32, sequence = 2048;
    bool helped;
    const struct option options[] = {
        {"--layers", OPTION_INT, &layers, 2, LAYERS_MAX - 2, NULL,
         "number of blocks (default: 30)"},
        {"--hidden", OPTION_INT, &hidden, 1, 1 << 20, NULL, "hidden size (3072)"},
        {"--heads", OPTION_INT, &heads, 1, 1 << 16, NULL, "attention heads (32)"},
        {"--share", OPTION_NUMBER, &r.share, 0.05, 0.95, NULL,
         "first cluster's share of the GPU speed of both (default: 0.55)"},
        {"--costs", OPTION_COSTS, &r.costs, 0, 0, NULL,
         "shipped name or file, with a100-80gb (default: published)"},
        {"--nodes", OPTION_INT, &nodes, 1, 256, NULL, "nodes per cluster (default: 4)"},
        {"--gpus-per-node", OPTION_INT, &gpus, 1, 64, NULL,
         "GPUs per node, and as many network cards for the cluster's own network (default: 8)"},
        {"--tensor", OPTION_INT, &tensor, 1, 64, NULL, "tensor degree (4)"},
        {"--pipeline", OPTION_INT, &pipeline, 1, STAGES_MAX, NULL, "pipeline degree (2)"},
        {"--micro-batch", OPTION_INT, &micro_batch, 1, 1 << 16, NULL,
         "sequences per micro-batch (default: 2)"},
        {"--micro-batches", OPTION_INT, &micro_batches, 1, MICRO_BATCHES_MAX, NULL,
         "micro-batches per replica (default: 32)"},
        {"--sequence", OPTION_INT, &sequence, 1, 1 << 24, NULL,
         "tokens per sequence (default: 2048)"},
        {"--homogeneous-groups", OPTION_FLAG, &r.homogeneous_groups, 0, 0, NULL,
         "keep all replicas of a stage in one cluster"},
        OPTION_FOLDER(&to),
        OPTION_FORCE(&to),
        OPTION_QUIET(&to),
    };
    TRY(options_read(argc, argv, "plumbline example clusters [OPTION ...] -o FOLDER", options,
                     ARRAY_LENGTH(options), NULL, 0, 0, NULL, &helped, err));
    if (helped) return OK;
    r.layers = (int)layers, r.hidden = (int)hidden, r.heads = (int)heads, r.nodes = (int)nodes,
    r.gpus_per_node = (int)gpus, r.tensor = (int)tensor;
    r.pipeline = (int)pipeline, r.micro_batch = (int)micro_batch,
    r.micro_batches = (int)micro_batches, r.sequence = (int)sequence;
    struct problem problem;
    TRY(example_clusters(&problem, &r, arena, err));
    return deliver(&problem, &to, arena, err);
}

enum status command_example(int argc, char **argv, int *exit_code, struct arena *arena,
                            struct error *err)
{
    static const struct command kinds[] = {
        {"chain", run_chain, .text = "identical measured blocks on GPU types of different speeds"},
        {"gpt", run_gpt, .text = "GPT-3 175B, or another shipped model, on a shipped cluster"},
        {"mixed", run_mixed, .text = "Llama-3.1 70B in fp16 on A100 and V100 nodes"},
        {"four", run_four, .text = "GPT-2 XL on four machines of a calibrated kind"},
        {"clusters", run_clusters,
         .text = "a GPT on an InfiniBand and a RoCE cluster with Ethernet between them"},
        {"pipette", run_pipette,
         .text = "a GPT on the nodes of a measured matrix, with the objective of the published "
                 "planner"},
    };
    static const struct command_table table = {
        "plumbline example", "kind", "KIND [OPTION ...] -o FOLDER", kinds, ARRAY_LENGTH(kinds)};
    return commands_run(&table, argc, argv, exit_code, arena, err);
}
