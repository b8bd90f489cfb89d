// plumbline example chain|gpt|mixed|four|pipette ...: complete problems as five documents in a
// folder.

#include "data/frameworks/models.h"
#include "data/kinds/schedules.h"
#include "formulate/commands.h"
#include "formulate/example/example.h"

// Where the example is written; shared by all kinds.
struct destination {
    const char *folder;
    bool force, quiet;
};
#define AT(member) offsetof(struct destination, member)
static const struct option_row destination_rows[] = {
    {"-o", OPTION_PATH, AT(folder), "output folder for the five files, created if missing"},
    {"--force", OPTION_FLAG, AT(force), "overwrite files whose content differs"},
    {"--quiet", OPTION_FLAG, AT(quiet), "do not print the problem's path"},
};
#undef AT
static const struct option_table destination_options = OPTION_TABLE(destination_rows);

static enum status deliver(struct problem *problem, const struct destination *to,
                           struct arena *arena, struct error *err)
{
    TRY(example_write(problem, to->folder, to->force, arena, err));
    if (!to->quiet) printf("%s\n", problem->document.path);
    return OK;
}

struct chain_options {
    struct chain_request request;
    struct destination to;
};
#define AT(member) offsetof(struct chain_options, member)
static const struct option_row chain_rows[] = {
    {"--layers", OPTION_COUNT, AT(request.layers), "number of identical blocks (default: 48)", 1,
     LAYERS_MAX - 2},
    {"--stages", OPTION_COUNT, AT(request.stages), "pipeline stages, one GPU each (8)", 1,
     STAGES_MAX},
    {"--types", OPTION_COUNT, AT(request.types), "GPU types (2)", 1, CHAIN_TYPES_MAX},
    {"--micro-batches", OPTION_COUNT, AT(request.micro_batches), "micro-batches (32)", 1,
     MICRO_BATCHES_MAX},
};
#undef AT

COMMAND_RUN(run_chain)
{
    struct chain_options *o = options;
    struct problem problem;
    TRY(example_chain(&problem, &o->request, arena, err));
    return deliver(&problem, &o->to, arena, err);
}

static const struct command chain = {
    .name = "chain",
    .text = "identical measured blocks on GPU types of different speeds",
    .usage = "plumbline example chain [OPTION ...] -o FOLDER",
    READS(struct chain_options, chain_rows,
          {.request = {.layers = 48, .stages = 8, .types = 2, .micro_batches = 32}}),
    SHARES(destination_options, struct chain_options, to),
    .needs = "-o",
    .run = run_chain,
};

// ---- transformers

struct transformer_options {
    struct transformer_request request;
    struct destination to;
    int layouts;
    bool unfused_attention;
    struct unfused_gpu unfused; // in what the framework has no fused attention
};
#define AT(member) offsetof(struct transformer_options, member)

// "degrees": those of the layout and the micro-batch; "all": every key but local losses, which
// change the training result.
enum { LAYOUTS_ONE, LAYOUTS_DEGREES, LAYOUTS_ALL };
static const char *const layouts_names[] = {"one", "degrees", "all", NULL};

// What is stated of the layout: formulate/example/stated.c.
static const struct option_row transformer_rows[] = {
    {"--model", OPTION_MODEL, AT(request.model), "shipped name or file"},
    {"--cluster", OPTION_CLUSTER, AT(request.cluster), "shipped name or file"},
    {"--gpu", OPTION_GPU, AT(request.gpu),
     "instead of --cluster: use the shipped one whose nodes have this GPU"},
    {"--gpu-like", OPTION_GPU, AT(request.likeness.known),
     "shipped GPU in whose nodes and with whose costs --gpu is taken, as an assumption",
     .needs = "--gpu"},
    LIKENESS_ROWS(AT(request.likeness)),
    {"--costs", OPTION_COSTS, AT(request.costs), "shipped name or file"},
    {"--gpus", OPTION_COUNT, AT(request.gpus),
     "GPUs in the cluster's first group (default: as in the cluster)", 0, 1 << 20},
    {"--nodes", OPTION_COUNT, AT(request.nodes), "or its number of nodes", 0, 1 << 20},
    {"--gpu-hour-price", OPTION_NUMBER, AT(request.gpu_hour_price),
     "price of one GPU hour (default: as in the cluster)", 0, 1e6},
    {"--global-batch", OPTION_INT, AT(request.global_batch),
     "sequences per iteration (default: 64 micro-batches per replica)", 0, 1 << 30},
    {"--sequence", OPTION_INT, AT(request.sequence), "tokens per sequence", 1, 1 << 30},
    {"--precision", OPTION_NAME, AT(request.precision), "precision of weights and activations",
     .names = precision_names},
    {"--gradient-bytes", OPTION_COUNT, AT(request.gradient_bytes),
     "bytes of an accumulated gradient value: 2 or 4 (default: 4; with DeepSpeed in 16 bits 2)", 2,
     4},
    {"--layouts", OPTION_NAME, AT(layouts),
     "what solve may choose, but for what is stated: nothing, the degrees and the micro-batch, or "
     "the whole layout",
     .names = layouts_names},
    {"--framework", OPTION_NAME, AT(request.space.framework),
     "target framework (default: megatron); with --layouts, solve chooses among what it can run",
     .names = framework_names},
    {"--trainer", OPTION_NAME, AT(request.trainer),
     "program whose overheads are priced (default: the framework's; any: megatron)",
     .names = trainer_names},
    {"--fewer-devices", OPTION_FLAG, AT(request.space.fewer_devices),
     "with --layouts: allow layouts that leave devices idle"},
    {"--objective", OPTION_NAME, AT(request.objective),
     "what to minimise (default: iteration_time)", .names = objective_names},
    {"--memory-fraction", OPTION_NUMBER, AT(request.memory_fraction),
     "share of each GPU's memory that a plan may use", 0.01, 1},
    {"--unfused-attention", OPTION_FLAG, AT(unfused_attention),
     "use attention that stores its scores"},
    {"--boundary-rank", OPTION_COUNT, AT(request.boundary_rank),
     "offer backward transfers of rank N in the drain (0: none)", 0, 1 << 16},
    {"--gradient-rank", OPTION_COUNT, AT(request.gradient_rank),
     "offer gradient syncs of rank N (0: none)", 0, 1 << 16},
    {"--quality-budget", OPTION_INT, AT(request.quality_budget),
     "maximum number of compressed boundaries and stages together (-1: no limit)", -1, 1 << 20},
};

// What nobody stated is set as in the framework: ZeRO, and when gradients are synced.
static void follow_framework(struct layout *l, enum framework framework)
{
    bool titan = framework_trainer(framework) == TRAINER_TORCHTITAN,
         axonn = framework == FRAMEWORK_AXONN,
         after = axonn || (framework == FRAMEWORK_DEEPSPEED && l->pipeline > 1);
    if (l->zero == UNSTATED) l->zero = axonn ? 0 : titan ? 2 : 1;
    if ((int)l->gradient_sync == UNSTATED)
        l->gradient_sync = after ? SYNC_EXPOSED : SYNC_OVERLAPPED;
}

static void choose_space(struct space *space, int layouts)
{
    static const enum space_key degrees[] = {SPACE_TENSOR, SPACE_CONTEXT, SPACE_PIPELINE,
                                             SPACE_DATA,   SPACE_EXPERT,  SPACE_MICRO_BATCH};
    space->given = layouts != LAYOUTS_ONE;
    if (space->given) switches_list(space);
    space->tensor_grids = space->given && framework_runs_grids(space->framework);
    for (size_t i = 0; i < ARRAY_LENGTH(degrees) && layouts == LAYOUTS_DEGREES; i++)
        space->axes[degrees[i]].kind = AXIS_ALL;
    for (int key = 0; key < SPACE_KEY_COUNT && layouts == LAYOUTS_ALL; key++)
        if (key != SPACE_LOCAL_LOSS_EVERY && key != SPACE_RECOMPUTE)
            space->axes[key].kind = AXIS_ALL;
}

// Where the framework has one setting of recomputation for all stages, that is what a solve
// chooses, from a space of the layout's settings; unless it runs none of them, which an export
// says.
static void settle_recomputation(struct problem *p, enum framework framework)
{
    struct job *j = &p->job;
    struct layout one = j->layout;
    if (j->space.given || j->boundary_option_count || j->gradient_option_count ||
        !framework_recomputes_alike(framework, &one))
        return;
    one.recompute = 1 + RECOMPUTE_NONE;
    const struct space_limits limits = problem_space_limits(p);
    const struct framework_of of = space_framework_of(&limits, &one);
    j->space.given = !framework_refusal(framework, &one, &of);
    j->space.uneven_stages = framework_is_uneven(framework, &one, limits.layers);
}

static enum status transformer_problem(struct problem *problem, struct transformer_options *o,
                                       struct arena *arena, struct error *err)
{
    struct transformer_request *r = &o->request;
    r->layout.fused_attention = !o->unfused_attention;
    choose_space(&r->space, o->layouts);
    bool axonn = r->space.framework == FRAMEWORK_AXONN;
    if (axonn) r->layout.pipeline = 1;
    layout_state(&r->layout, &r->space, &r->stated);
    r->layout.sequence_parallel = !r->stated.whole_activations && r->layout.tensor > 1 && !axonn;
    follow_framework(&r->layout, r->space.framework);
    r->name = arena_print(arena, "%s on %s", r->model, r->gpu ? r->gpu : r->cluster);
    TRY(example_transformer(problem, r, arena, err));
    TRY(framework_check_model(problem, arena, err));
    struct unfused_gpu none = framework_unfused_gpu(r->space.framework, problem->job.precision,
                                                    &problem->model, &problem->cluster,
                                                    &problem->costs);
    if (problem->job.layout.fused_attention) o->unfused = none;
    if (none.gpu) problem->job.layout.fused_attention = false;
    settle_recomputation(problem, r->space.framework);
    return OK;
}

// Groups that can hold no stage for want of the precision that others have.
static void tell_precision(const struct problem *p, struct arena *arena)
{
    for (int g = 0; g < p->cluster.group_count; g++) {
        const struct node_group *group = &p->cluster.groups[g];
        const struct gpu_costs *gpu = costs_find_gpu(&p->costs, group->gpu);
        bool apart = p->cluster.group_count > 1 && !p->cluster.places.node_count;
        if (costs_lack_precision(&p->costs, group->gpu, p->job.precision))
            fprintf(stderr, "no stage on %s: %s lacks %s; it has %s (--precision%s)\n", group->name,
                    gpu->gpu, precision_names[p->job.precision], costs_precisions(gpu, arena),
                    apart ? arena_print(arena, "; --without %s=%d: not these nodes", group->name,
                                        group->nodes)
                          : "");
    }
}

COMMAND_RUN(run_transformer)
{
    struct transformer_options *o = options;
    struct problem problem;
    TRY(transformer_problem(&problem, o, arena, err));
    if (o->unfused.gpu && !o->to.quiet)
        fprintf(
            stderr,
            "attention keeps its scores: %s has no fused attention in %s for %s (it needs %s)\n",
            framework_names[o->request.space.framework], precision_names[problem.job.precision],
            o->unfused.gpu, o->unfused.needs);
    if (!o->to.quiet) tell_precision(&problem, arena);
    return deliver(&problem, &o->to, arena, err);
}

// A large transformer, as commonly trained.
#define COMMON_REQUEST                                                                             \
    .costs = "published", .memory_fraction = MEMORY_FRACTION_DEFAULT, .quality_budget = -1,        \
    .space.framework = FRAMEWORK_MEGATRON, .stated = {LAYOUT_UNSTATED}, .trainer = UNSTATED
#define COMMON_LAYOUT                                                                              \
    .context = 1, LAYOUT_PLAIN(8), .micro_batch = 1, .schedule = SCHEDULE_1F1B, .zero = UNSTATED,  \
    .gradient_sync = (enum gradient_sync)UNSTATED

// Half precision in the format that both GPU types have. Four GPUs share a layer, so that a replica
// spans both types.
#undef AT

static const struct command gpt = {
    .name = "gpt",
    .text = "GPT-3 175B, or another shipped model, on a shipped cluster",
    .usage = "plumbline example gpt [OPTION ...] -o FOLDER",
    READS(struct transformer_options, transformer_rows,
          {.request = {COMMON_REQUEST, .model = "gpt3-175b", .cluster = "a100-16x8",
                       .precision = BF16, .layout = {.tensor = 8, COMMON_LAYOUT}}}),
    SHARES(stated_layout_options, struct transformer_options, request.stated),
    SHARES_ALSO(destination_options, struct transformer_options, to),
    .needs = "-o",
    .run = run_transformer,
};

static const struct command mixed = {
    .name = "mixed",
    .text = "Llama-3.1 70B in fp16 on A100 and V100 nodes",
    .usage = "plumbline example mixed [OPTION ...] -o FOLDER",
    READS(
        struct transformer_options, transformer_rows,
        {.request = {COMMON_REQUEST, .model = "llama-3.1-70b", .cluster = "mixed-a100-v100",
                     .sequence = 4096, .precision = FP16, .layout = {.tensor = 4, COMMON_LAYOUT}}}),
    SHARES(stated_layout_options, struct transformer_options, request.stated),
    SHARES_ALSO(destination_options, struct transformer_options, to),
    .needs = "-o",
    .run = run_transformer,
};

enum status example_gpt(struct problem *problem, int argc, char **argv, struct arena *arena,
                        struct error *err)
{
    struct transformer_options o;
    struct command without_folder = gpt;
    without_folder.needs = NULL;
    TRY(command_read_options(&without_folder, &o, argc, argv, arena, err));
    return transformer_problem(problem, &o, arena, err);
}

// ---- on machines of one kind, on measured nodes, on two clusters

struct four_options {
    const char *costs;
    double memory_gb;
    struct destination to;
};
#define AT(member) offsetof(struct four_options, member)
static const struct option_row four_rows[] = {
    {"--costs", OPTION_COSTS, AT(costs), "costs of the machine, from plumbline calibrate"},
    {"--memory-gb", OPTION_NUMBER, AT(memory_gb),
     "memory of the machine in GB; at least 32 is assumed", 0, 1e6},
};
#undef AT

COMMAND_RUN(run_four)
{
    struct four_options *o = options;
    struct problem problem;
    TRY(example_four(&problem, o->costs, o->memory_gb, arena, err));
    fprintf(stderr, "cluster: %s\n", problem.cluster.name);
    return deliver(&problem, &o->to, arena, err);
}

static const struct command four = {
    .name = "four",
    .text = "GPT-2 XL on four machines of a calibrated kind",
    .usage = "plumbline example four --costs FILE [--memory-gb X] -o FOLDER",
    READS(struct four_options, four_rows, {0}),
    SHARES(destination_options, struct four_options, to),
    .needs = "--costs -o",
    .run = run_four,
};

struct pipette_options {
    struct pipette_request request;
    struct destination to;
};
#define AT(member) offsetof(struct pipette_options, member)
static const struct option_row pipette_rows[] = {
    {"--matrix", OPTION_PATH, AT(request.matrix),
     "file of measured bandwidths that import matrix reads"},
    {"--stages", OPTION_INT, AT(request.stages),
     "pipeline stages, a divisor of the number of nodes", 1, STAGES_MAX},
    {"--objective", OPTION_NAME, AT(request.objective), "what to minimise (default: pipette)",
     .names = objective_names},
    {"--rows", OPTION_NAME, AT(request.nodes.rows),
     "what a row represents (default: sender, as in Pipette's program)", .names = matrix_row_names},
    {"--unit", OPTION_NAME, AT(request.nodes.unit),
     "unit: 1e9 bytes/s, 1000 x 2^20, 2^20, 1e6 (default as in Pipette's program: gb, with "
     "mpiGraph's two tables mb)",
     .names = matrix_unit_names},
    {"--table", OPTION_NAME, AT(request.nodes.table),
     "which of mpiGraph's two tables to read (default: recv)", .names = matrix_table_names},
    {"--like", OPTION_CLUSTER, AT(request.nodes.like),
     "cluster with such nodes: shipped name or file (default: a100-16x8)"},
    {"--costs", OPTION_COSTS, AT(request.costs), "shipped name or file (default: published)"},
    {"--tensor", OPTION_INT, AT(request.tensor), "tensor degree (8)", 1, 1 << 10},
    {"--layers", OPTION_INT, AT(request.layers), "number of blocks (default: 64)", 1,
     LAYERS_MAX - 2},
    {"--hidden", OPTION_INT, AT(request.hidden), "hidden size (default: 3072)", 1, 1 << 20},
    {"--heads", OPTION_INT, AT(request.heads), "attention heads (32)", 1, 1 << 16},
    {"--vocabulary", OPTION_INT, AT(request.vocabulary), "vocabulary size (default: 50256)", 1,
     1 << 24},
    {"--sequence", OPTION_INT, AT(request.sequence), "tokens per sequence (default: 1024)", 1,
     1 << 30},
    {"--micro-batch", OPTION_INT, AT(request.micro_batch), "sequences per micro-batch (default: 4)",
     1, 1 << 16},
    {"--global-batch", OPTION_INT, AT(request.global_batch),
     "sequences per iteration (default: 128)", 1, 1 << 30},
    {"--precision", OPTION_NAME, AT(request.precision),
     "precision of weights and activations (default: fp32)", .names = precision_names},
};
#undef AT

COMMAND_RUN(run_pipette)
{
    struct pipette_options *o = options;
    struct problem problem;
    o->request.nodes.name = path_name(o->request.matrix);
    TRY(example_pipette(&problem, &o->request, arena, err));
    return deliver(&problem, &o->to, arena, err);
}

static const struct command pipette = {
    .name = "pipette",
    .text = "a GPT on the nodes of a measured matrix, with the objective of the published planner",
    .usage = "plumbline example pipette --matrix FILE --stages P [OPTION ...] -o FOLDER",
    READS(struct pipette_options, pipette_rows,
          {.request = {.costs = "published",
                       .precision = FP32,
                       .objective = OBJECTIVE_PIPETTE,
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
                                 .published = true}}}),
    SHARES(destination_options, struct pipette_options, to),
    .needs = "--matrix --stages -o",
    .run = run_pipette,
};

struct clusters_options {
    struct clusters_request request;
    struct destination to;
};
#define AT(member) offsetof(struct clusters_options, member)
static const struct option_row clusters_rows[] = {
    {"--layers", OPTION_COUNT, AT(request.layers), "number of blocks (default: 30)", 2,
     LAYERS_MAX - 2},
    {"--hidden", OPTION_COUNT, AT(request.hidden), "hidden size (3072)", 1, 1 << 20},
    {"--heads", OPTION_COUNT, AT(request.heads), "attention heads (32)", 1, 1 << 16},
    {"--share", OPTION_NUMBER, AT(request.share),
     "first cluster's share of the GPU speed of both (default: 0.55)", 0.05, 0.95},
    {"--costs", OPTION_COSTS, AT(request.costs),
     "shipped name or file, with a100-80gb (default: published)"},
    {"--nodes", OPTION_COUNT, AT(request.nodes), "nodes per cluster (default: 4)", 1, 256},
    {"--gpus-per-node", OPTION_COUNT, AT(request.gpus_per_node),
     "GPUs per node, and as many network cards for the cluster's own network (default: 8)", 1, 64},
    {"--tensor", OPTION_COUNT, AT(request.tensor), "tensor degree (4)", 1, 64},
    {"--pipeline", OPTION_COUNT, AT(request.pipeline), "pipeline degree (2)", 1, STAGES_MAX},
    {"--micro-batch", OPTION_COUNT, AT(request.micro_batch),
     "sequences per micro-batch (default: 2)", 1, 1 << 16},
    {"--micro-batches", OPTION_COUNT, AT(request.micro_batches),
     "micro-batches per replica (default: 32)", 1, MICRO_BATCHES_MAX},
    {"--sequence", OPTION_COUNT, AT(request.sequence), "tokens per sequence (default: 2048)", 1,
     1 << 24},
    {"--homogeneous-groups", OPTION_FLAG, AT(request.homogeneous_groups),
     "keep all replicas of a stage in one cluster"},
};
#undef AT

COMMAND_RUN(run_clusters)
{
    struct clusters_options *o = options;
    struct problem problem;
    TRY(example_clusters(&problem, &o->request, arena, err));
    return deliver(&problem, &o->to, arena, err);
}

static const struct command clusters = {
    .name = "clusters",
    .text = "a GPT on an InfiniBand and a RoCE cluster with Ethernet between them",
    .usage = "plumbline example clusters [OPTION ...] -o FOLDER",
    READS(struct clusters_options, clusters_rows,
          {.request = {.costs = "published",
                       .share = 0.55,
                       .layers = 30,
                       .hidden = 3072,
                       .heads = 32,
                       .nodes = 4,
                       .gpus_per_node = 8,
                       .tensor = 4,
                       .pipeline = 2,
                       .micro_batch = 2,
                       .micro_batches = 32,
                       .sequence = 2048}}),
    SHARES(destination_options, struct clusters_options, to),
    .needs = "-o",
    .run = run_clusters,
};

static const struct command *const kinds[] = {&chain, &gpt, &mixed, &four, &clusters, &pipette};

const struct command command_example = {
    .name = "example",
    .text = "write a ready-made problem: chain, gpt, mixed, four, clusters, pipette",
    .about = "Writes model, cluster, costs, job and problem.json to a folder, ready for solve. "
             "Existing files whose content differs are overwritten only with --force.",
    .program = "plumbline example",
    .what = "kind",
    .usage = "plumbline example KIND [OPTION ...] -o FOLDER",
    COMMAND_KINDS(kinds),
};
