// DeepSpeed's JSON as a run. What the model's code decides and the keys do not state is asked for;
// in our own exports it is under the key "plumbline".
#include <string.h>
#include <strings.h>

#include "data/import/jobs/importer.h"

// ---- degrees and batch

// One of the three numbers may be missing, or two (then there is one step).
static enum status set_batch(struct run *r, struct settings *s, struct error *err)
{
    struct job *j = &r->job;
    struct layout *l = &j->layout;
    int64_t others = (int64_t)l->tensor * l->pipeline * l->context;
    int data = 0, micro = (int)r->micro_batch, steps = (int)(r->steps ? r->steps : 1);
    if (r->gpus)
        TRY(settings_divide(s->document.path, "--gpus over tensor x pipeline x context", r->gpus,
                            others, &data, err));
    if (!r->global_batch && !r->micro_batch)
        return refuse(err,
                      "%s: expected train_batch_size or train_micro_batch_size_per_gpu, found "
                      "neither%s: give --global-batch and --micro-batch",
                      s->document.path,
                      setting_of(s, "train_batch_size")
                          ? " except as \"auto\", which the script fills in"
                          : "");
    if (!data && (!r->global_batch || !r->micro_batch || !r->steps))
        return refuse(err,
                      "%s: the number of replicas does not follow from the batch sizes: give the "
                      "number of GPUs with --gpus",
                      s->document.path);
    if (r->micro_batch > 1 << 20 || r->steps > 1 << 20)
        return refuse(err, "%s: expected batch sizes of at most 2^20 a GPU", s->document.path);
    if (!data)
        TRY(settings_divide(s->document.path, "train_batch_size over micro-batch x steps",
                            r->global_batch, r->micro_batch * r->steps, &data, err));
    if (data > 65536)
        return refuse(err, "%s: expected at most 65536 replicas, found %d", s->document.path, data);
    if (!micro)
        TRY(settings_divide(s->document.path,
                            "train_batch_size over data ranks x gradient_accumulation_steps",
                            r->global_batch, (int64_t)data * steps, &micro, err));
    if (r->global_batch && !r->steps)
        TRY(settings_divide(s->document.path,
                            "train_batch_size over data ranks x train_micro_batch_size_per_gpu",
                            r->global_batch, (int64_t)data * micro, &steps, err));
    j->global_batch = (int64_t)data * micro * steps;
    if (r->global_batch && r->global_batch != j->global_batch)
        return settings_refuse(
            s, "train_batch_size", err,
            "expected micro-batch %d x steps %d x replicas %d = %lld, found %lld", micro, steps,
            data, (long long)j->global_batch, (long long)r->global_batch);
    l->micro_batch = micro, l->data = data;
    return OK;
}

static enum status check_layout(struct run *r, struct settings *s, struct error *err)
{
    struct layout *l = &r->job.layout;
    const int degrees[] = {l->tensor, l->pipeline, l->context, l->expert, l->virtual_stages};
    for (size_t i = 0; i < ARRAY_LENGTH(degrees); i++)
        if (degrees[i] < 1 || degrees[i] > 65536)
            return refuse(err, "%s: expected degrees of 1 to 65536, found %d", s->document.path,
                          degrees[i]);
    l->sequence_parallel &= l->tensor > 1;
    if (l->context > 1 && setting_of(s, "sequence_parallel_size"))
        said_assume(&s->said, "sequence_parallel_size: read as context parallelism, which passes "
                              "keys around a ring; DeepSpeed's (Ulysses) exchanges heads");
    return set_batch(r, s, err);
}

// ---- ZeRO

// MiCS: ranks one behind the other, of all that have the same layers.
static enum status set_groups(struct run *r, struct settings *s, struct error *err)
{
    struct layout *l = &r->job.layout;
    int64_t ranks = (int64_t)l->data * l->context;
    if (l->zero != 3 || l->tensor > 1 || ranks % r->shards || r->shards % l->context)
        return settings_refuse(s, "zero_optimization.mics_shard_size", err,
                               "expected a divisor of %lld ranks, at stage 3 without tensor ranks, "
                               "found %lld",
                               (long long)ranks, (long long)r->shards);
    l->data_shard = (int)(r->shards / l->context);
    return OK;
}

static enum status set_zero(struct run *r, struct settings *s, struct error *err)
{
    struct layout *l = &r->job.layout;
    const struct setting *old = setting_of(s, "zero_optimization");
    int stage = old && old->text && !strcasecmp(old->text, "true") ? 1 : l->zero;
    bool nvme = r->offload && !strcasecmp(r->offload, "nvme");
    if (stage > 3)
        return settings_refuse(s, "zero_optimization.stage", err, "expected 0 to 3, found %d",
                               stage);
    l->zero = stage;
    l->offload_optimizer = stage > 0 && ((r->offload && strcasecmp(r->offload, "none")) ||
                                         (r->old_offload && !strcasecmp(r->old_offload, "true")));
    settings_take_offload(r, s);
    if (r->shards > 0) TRY(set_groups(r, s, err));
    bool overlapped = r->overlap ? !strcasecmp(r->overlap, "true") : stage == 3;
    l->gradient_sync = stage && overlapped ? SYNC_OVERLAPPED : SYNC_EXPOSED;
    if (nvme) said_assume(&s->said, "offload_optimizer to nvme: read as host memory");
    if (r->parameters && strcasecmp(r->parameters, "none"))
        said_assume(&s->said, "offload_param: a job's weights stay on the GPU");
    if (stage >= 2 && l->pipeline > 1)
        said_assume(&s->said,
                    "ZeRO %d with a pipeline: DeepSpeed refuses it (\"ZeRO-2 and ZeRO-3 are "
                    "incompatible with pipeline parallelism\")",
                    stage);
    return OK;
}

// ---- the rest

static enum status set_precision(struct run *r, struct settings *s, struct error *err)
{
    struct job *j = &r->job;
    bool bf16 = r->bf16 || r->old_bf16, wide = r->gradients && !strcasecmp(r->gradients, "fp32");
    if (bf16 && r->fp16)
        return refuse(err, "%s: bf16 and fp16 are enabled: expected one of them", s->document.path);
    j->precision = r->fp8_model ? FP8 : bf16 ? BF16 : r->fp16 || r->amp ? FP16 : FP32;
    j->gradient_bytes_per_value = wide ? 4
                                       : trainer_gradient_bytes(TRAINER_DEEPSPEED, j->precision);
    if (!r->gradients && bf16 && j->layout.zero == 0)
        said_assume(&s->said,
                    "no data_types.grad_accum_dtype: gradients are summed in bf16, as DeepSpeed "
                    "does from 0.17.6 on; without ZeRO, 0.7.6 to 0.17.5 sum them in fp32");
    if (r->sums && !strcasecmp(r->sums, "fp32") && j->layout.zero >= 2 && j->precision != FP32)
        said_assume(&s->said, "communication_data_type fp32: at ZeRO 2 and 3 gradients are assumed "
                              "to be sent in 16 bits");
    if (r->amp) said_assume(&s->said, "amp: read as fp16");
    if (r->autocast)
        said_assume(&s->said, "torch_autocast: products in 16 bits over fp32 weights; ignored");
    return OK;
}

static void set_optimizer(struct run *r, struct settings *s)
{
    bool moves = settings_number(s, "optimizer.params.momentum") > 0;
    const char *keeps = optimizer_set(&r->job, r->optimizer ? r->optimizer : "adam",
                                      &(struct optimizer_way){moves, true, 0});
    if (keeps)
        said_assume(&s->said, "optimizer %.40s: %s, next to weights in fp32", r->optimizer, keeps);
    if (!r->optimizer) said_assume(&s->said, "the script sets the optimizer: Adam is assumed");
}

static void set_recompute(struct run *r, struct settings *s)
{
    bool section = false;
    for (int i = 0; i < s->count; i++)
        section |= !strncmp(s->items[i].key, "activation_checkpointing", 24);
    r->job.recompute[r->mode] = true;
    if (!section) return;
    r->job.recompute[RECOMPUTE_FULL] = true;
    said_assume(&s->said,
                "activation_checkpointing: full recomputation may be chosen; a job cannot state "
                "where checkpoints are stored (partitioned, in host memory)");
}

static void take_asked(struct run *r, const struct asked *a)
{
    struct layout *l = &r->job.layout;
    r->gpus = a->gpus;
    if (a->sequence) r->job.sequence = a->sequence;
    if (a->tensor) l->tensor = (int)a->tensor;
    if (a->pipeline) l->pipeline = (int)a->pipeline;
    if (a->expert) l->expert = (int)a->expert;
    if (a->global_batch) r->global_batch = a->global_batch;
    if (a->micro_batch) r->micro_batch = a->micro_batch;
    if (a->global_batch || a->micro_batch) r->steps = 0;
    if (a->precision < 0) return;
    r->fp8_model = precision_is_narrow((enum precision)a->precision);
    r->bf16 = a->precision == BF16 || r->fp8_model;
    r->old_bf16 = r->amp = false, r->fp16 = a->precision == FP16;
}

static bool is_auto(const struct settings *s, const char *key)
{
    const struct setting *at = setting_of(s, key);
    return at && at->text && !strcmp(at->text, "auto");
}

static enum status read_run(struct run *r, struct settings *s, const struct asked *asked,
                            struct error *err)
{
    struct job *j = &r->job;
    take_asked(r, asked);
    if (asked->precision < 0 && !r->bf16 && !r->fp16 &&
        (is_auto(s, "bf16.enabled") || is_auto(s, "fp16.enabled")))
        said_assume(&s->said, "the precision is \"auto\", which the script fills in: fp32 is "
                              "assumed (--precision bf16)");
    if (!j->sequence)
        return refuse(err, "%s: the script sets the sequence length: give it with --sequence",
                      s->document.path);
    j->trainer = TRAINER_DEEPSPEED;
    TRY(check_layout(r, s, err));
    TRY(set_zero(r, s, err));
    TRY(set_precision(r, s, err));
    set_optimizer(r, s);
    // With ZeRO, sums have the precision in which gradients accumulate.
    j->whole_gradient_sums = !j->layout.zero && j->gradient_bytes_per_value == 2 &&
                             (r->wide_sums || (r->sums && !strcasecmp(r->sums, "fp32")));
    if (r->deep_compile)
        said_assume(&s->said, "compile.deepcompile: a job's blocks are not compiled");
    set_recompute(r, s);
    return OK;
}

static const struct run defaults = {.mode = RECOMPUTE_NONE};

static const struct importer importer = {.name = "deepspeed",
                                         .framework = FRAMEWORK_DEEPSPEED,
                                         .recompute_key = "plumbline.recompute",
                                         .defaults = &defaults,
                                         .settings = settings_read_json,
                                         .rows = &deepspeed_rows,
                                         .run = read_run};

static const struct option_row option_rows[] = {
    ASK_GPUS,
    ASK_IGNORE,
    ASK_SEQUENCE,
    ASK_MICRO_BATCH,
    ASK_PRECISION,
    {"--global-batch", OPTION_INT, ASK(global_batch),
     "sequences per iteration, instead of train_batch_size", 1, 1 << 30},
    {"--tensor", OPTION_INT, ASK(tensor), "tensor degree of the model's code (default: 1)", 1,
     65536},
    {"--pipeline", OPTION_INT, ASK(pipeline), "stages of its PipelineModule (default: 1)", 1, 256},
    {"--expert", OPTION_INT, ASK(expert), "ep_size of its MoE layers (default: 1)", 1, 65536},
};
static const struct asked defaults_asked = ASKED(importer);
const struct command import_deepspeed = {
    .name = "deepspeed",
    .text = "DeepSpeed JSON -> job",
    .usage = "plumbline import deepspeed CONFIG.json --sequence N [--gpus N] [-o job.json]",
    READER(option_rows, struct asked, defaults_asked),
};
