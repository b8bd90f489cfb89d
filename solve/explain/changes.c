// Every change of one flag and of one degree, priced: the best of them is proven, because all are
// here. The run's own layout and switches are kept otherwise.
#include <string.h>

#include "solve/explain/internal.h"

static const struct {
    const char *column, *values; // between blanks
} flags[] = {{"overlap", "0 1"},        {"overlap_messages", "0 1"},
             {"overlap_tensor", "0 1"}, {"sp", "0 1"},
             {"zero", "0 1 2 3"},       {"recompute", "none selective full"},
             {"fused_loss", "0 1"},     {"compiled", "0 1"},
             {"flash", "te 0"},         {"scattered_messages", "1"},
             {"gathered_logits", "0"}};
static const char *const degrees[] = {"tp", "pp", "cp", "ep", "vpp", "micro_batch"};

static int64_t *degree_cell(struct run_row *r, const char *name)
{
    int64_t *const cells[] = {&r->tp, &r->pp, &r->cp, &r->ep, &r->vpp, &r->micro_batch};
    for (size_t i = 0; i < ARRAY_LENGTH(degrees); i++)
        if (!strcmp(degrees[i], name)) return cells[i];
    return NULL;
}

enum framework explained_framework(const struct explained *x)
{
    switch (x->log.format) {
    case LOG_MEGATRON: return FRAMEWORK_MEGATRON;
    case LOG_NEMO:
    case LOG_BRIDGE:
    case LOG_MLPERF: return FRAMEWORK_NEMO;
    case LOG_TORCHTITAN: return FRAMEWORK_TORCHTITAN;
    case LOG_DEEPSPEED:
    case LOG_TRANSFORMERS:
    case LOG_LLAMA_FACTORY: return FRAMEWORK_DEEPSPEED;
    default: return FRAMEWORK_ANY;
    }
}

static bool runs(enum framework f, const struct problem *p, const struct placement *placed)
{
    struct layout l = p->job.layout; // with one setting, as a run has
    l.recompute = (int)placed->recompute + 1;
    l.overlapped_dispatch = p->job.overlapped_dispatch && l.expert > 1;
    struct space_limits limits = problem_space_limits(p);
    struct framework_of of = space_framework_of(&limits, &l);
    of.uneven_stages = true;
    return f == FRAMEWORK_ANY || !framework_refusal(f, &l, &of);
}

enum framework explained_runs_in(const struct explained *x)
{
    enum framework f = explained_framework(x);
    return runs(f, &x->problem, &x->placement) ? f : FRAMEWORK_ANY;
}

bool explain_is_run(struct explained *x)
{
    struct problem p;
    struct placement placement;
    struct arena_mark mark = arena_set_mark(x->arena);
    predictor_problem(x->predictor, &p, &placement, x->arena);
    bool run = runs(explained_runs_in(x), &p, &placement);
    arena_reset(x->arena, mark);
    return run;
}

int64_t explain_room(const struct explained *x)
{
    int64_t limit = x->own.limit_bytes;
    bool ran = !x->log.failure.out_of_memory && x->own.device_bytes > limit;
    return ran ? x->own.device_bytes : limit;
}

static void try_change(struct explained *x, int kind, const char *column, const char *value)
{
    struct run_row row = x->row;
    struct error err = {OK, ""};
    struct prediction p;
    if (x->change_count == CHANGES_MOST ||
        row_set_columns(&row, "", arena_print(x->arena, "%s=%s", column, value), x->arena, &err) !=
            OK)
        return;
    if (!memcmp(&row, &x->row, sizeof row)) return; // it has this value
    if (kind == CHANGE_DEGREE) {
        row.dp = NOT_STATED, row.num_gpus = (int64_t)x->own.gpus;
        if (!strcmp(column, "pp") || !strcmp(column, "vpp")) row.split = (struct cell){"", 0};
        if (!strcmp(column, "pp") && row.pp == 1) row.vpp = NOT_STATED;
        if (!strcmp(column, "tp") && row.tp == 1) row.sp = 0;
    }
    if (!explain_try(x, &row, &p) || p.device_bytes > explain_room(x) || !explain_is_run(x)) return;
    x->changes[x->change_count++] =
        (struct change){.kind = kind == CHANGE_DEGREE ? CHANGE_DEGREE : CHANGE_FLAG,
                        .column = column,
                        .value = value,
                        .iteration_ns = p.iteration_ns,
                        .device_bytes = p.device_bytes};
}

static void try_flags(struct explained *x)
{
    for (size_t i = 0; i < ARRAY_LENGTH(flags); i++)
        for (const char *at = flags[i].values; *at;) {
            size_t length = strcspn(at, " ");
            const char *value = arena_print(x->arena, "%.*s", (int)length, at);
            try_change(x, CHANGE_FLAG, flags[i].column, value);
            at += length + (at[length] == ' ');
        }
}

static void try_degrees(struct explained *x)
{
    for (size_t i = 0; i < ARRAY_LENGTH(degrees); i++) {
        struct run_row row = x->row;
        int64_t now = *degree_cell(&row, degrees[i]);
        if (now == NOT_STATED) now = 1;
        for (int64_t value = 1; value <= 64; value *= 2)
            if (value != now)
                try_change(x, CHANGE_DEGREE, degrees[i],
                           arena_print(x->arena, "%lld", (long long)value));
    }
}

void explain_changes(struct explained *x)
{
    if (*x->own.reason) return;
    try_flags(x);
    try_degrees(x);
}

const struct change *explained_best(const struct explained *x, int kind)
{
    const struct change *best = NULL;
    bool failed = x->log.failure.out_of_memory;
    for (int i = 0; i < x->change_count; i++) {
        const struct change *c = &x->changes[i];
        if ((int)c->kind != kind || (best && c->iteration_ns >= best->iteration_ns)) continue;
        // By less than a thousandth nobody changes a run; one that failed wants to fit.
        if (!failed && c->iteration_ns > x->own.iteration_ns - x->own.iteration_ns / 1000) continue;
        best = c;
    }
    return best;
}

// ---- in the framework's words

static const struct {
    const char *column, *value; // value NULL: any, put in place of %s
    const char *megatron, *nemo, *titan, *deepspeed;
} words[] = {
    {"overlap", "1", "--overlap-grad-reduce --overlap-param-gather",
     "ddp.overlap_grad_reduce=true ddp.overlap_param_gather=true", NULL, "\"overlap_comm\": true"},
    {"overlap", "0", "without --overlap-grad-reduce", "ddp.overlap_grad_reduce=false", NULL,
     "\"overlap_comm\": false"},
    {"overlap_messages", "1", "without --no-overlap-p2p-communication",
     "comm_overlap.overlap_p2p_comm=true", NULL, NULL},
    {"overlap_messages", "0", "--no-overlap-p2p-communication",
     "comm_overlap.overlap_p2p_comm=false", NULL, NULL},
    {"overlap_tensor", "1", "--tp-comm-overlap", "comm_overlap.tp_comm_overlap=true",
     "--parallelism.enable_async_tensor_parallel", NULL},
    {"overlap_tensor", "0", "without --tp-comm-overlap", "comm_overlap.tp_comm_overlap=false",
     "without --parallelism.enable_async_tensor_parallel", NULL},
    {"sp", "1", "--sequence-parallel", "model.sequence_parallel=true", NULL, NULL},
    {"sp", "0", "without --sequence-parallel", "model.sequence_parallel=false", NULL, NULL},
    {"zero", "0", "without --use-distributed-optimizer", "ddp.use_distributed_optimizer=false",
     NULL, "\"zero_optimization\": {\"stage\": 0}"},
    {"zero", "1", "--use-distributed-optimizer", "ddp.use_distributed_optimizer=true", NULL,
     "\"zero_optimization\": {\"stage\": 1}"},
    {"zero", "2", NULL, NULL, "--parallelism.fsdp_reshard_after_forward=never",
     "\"zero_optimization\": {\"stage\": 2}"},
    {"zero", "3", NULL, NULL, "--parallelism.fsdp_reshard_after_forward=always",
     "\"zero_optimization\": {\"stage\": 3}"},
    {"recompute", "none", "without --recompute-granularity", "model.recompute_granularity=null",
     "--activation_checkpoint.mode=none", "gradient_checkpointing=False"},
    {"recompute", "selective", "--recompute-granularity selective",
     "model.recompute_granularity=selective", "--activation_checkpoint.mode=selective", NULL},
    {"recompute", "full",
     "--recompute-granularity full --recompute-method uniform --recompute-num-layers 1",
     "model.recompute_granularity=full model.recompute_method=uniform model.recompute_num_layers=1",
     "--activation_checkpoint.mode=full", "gradient_checkpointing=True"},
    {"fused_loss", "1", "--cross-entropy-loss-fusion", "model.cross_entropy_loss_fusion=true",
     "--compile.components=loss", NULL},
    {"compiled", "1", NULL, NULL, "--compile.enable", NULL},
    {"flash", "te", "--attention-backend auto", "model.attention_backend=auto", NULL,
     "attn_implementation=flash_attention_2"},
    {"tp", NULL, "--tensor-model-parallel-size %s", "model.tensor_model_parallel_size=%s",
     "--parallelism.tensor_parallel_degree=%s", "\"tensor_parallel\": {\"autotp_size\": %s}"},
    {"pp", NULL, "--pipeline-model-parallel-size %s", "model.pipeline_model_parallel_size=%s",
     "--parallelism.pipeline_parallel_degree=%s", "\"pipeline\": {\"stages\": %s}"},
    {"cp", NULL, "--context-parallel-size %s", "model.context_parallel_size=%s",
     "--parallelism.context_parallel_degree=%s", "\"sequence_parallel_size\": %s"},
    {"ep", NULL, "--expert-model-parallel-size %s", "model.expert_model_parallel_size=%s",
     "--parallelism.expert_parallel_degree=%s", NULL},
    {"vpp", NULL, "--num-virtual-stages-per-pipeline-rank %s",
     "model.virtual_pipeline_model_parallel_size=%s", NULL, NULL},
    {"micro_batch", NULL, "--micro-batch-size %s", "train.micro_batch_size=%s",
     "--training.local_batch_size=%s", "\"train_micro_batch_size_per_gpu\": %s"}};

const char *change_words(const struct explained *x, const struct change *c)
{
    enum framework f = explained_framework(x);
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++) {
        const char *form = f == FRAMEWORK_NEMO         ? words[i].nemo
                           : f == FRAMEWORK_TORCHTITAN ? words[i].titan
                           : f == FRAMEWORK_DEEPSPEED  ? words[i].deepspeed
                                                       : words[i].megatron;
        if (strcmp(words[i].column, c->column) || !form ||
            (words[i].value && strcmp(words[i].value, c->value)))
            continue;
        const char *hole = strstr(form, "%s");
        if (!hole) return form;
        return arena_print(x->arena, "%.*s%s%s", (int)(hole - form), form, c->value, hole + 2);
    }
    return NULL;
}
