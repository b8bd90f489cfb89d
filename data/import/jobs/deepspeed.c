// plumbline import deepspeed CONFIG.json: a job from DeepSpeed's configuration (runtime/config.py,
// runtime/zero/config.py, runtime/constants.py). What the model's code decides and the keys do not
// state is an option; in our own exports it is under the key "plumbline".
#include <string.h>
#include <strings.h>

#include "data/import/import.h"
#include "data/import/jobs/settings.h"
#include "data/kinds/schedules.h"

struct deep {
    int64_t train_batch, micro_batch, steps, stage, sequence, tensor, pipeline, context, expert,
        stages_of_rank, gpus;
    const char *offload, *old_offload, *parameters, *overlap, *gradients, *optimizer, *schedule,
        *recompute, *kernel, *sums;
    bool fp16, bf16, old_bf16, amp, autocast, fp8, sequence_parallel, unfused, fused_loss, compiled,
        compile, gathered, scattered, norms, rotary, activation, wide_sums;
};

#define AT(key, kind, field)                                                                       \
    {                                                                                              \
        key, kind, offsetof(struct deep, field)                                                    \
    }
#define LEFT(key)                                                                                  \
    {                                                                                              \
        key, TAKE_NOT, 0                                                                           \
    }
static const struct setting_known known[] = {
    AT("train_batch_size", TAKE_COUNT, train_batch),
    AT("train_micro_batch_size_per_gpu", TAKE_COUNT, micro_batch),
    AT("gradient_accumulation_steps", TAKE_COUNT, steps),
    AT("fp16.enabled", TAKE_FLAG, fp16),
    LEFT("fp16.*"),
    AT("bf16.enabled", TAKE_FLAG, bf16),
    LEFT("bf16.*"),
    AT("bfloat16.enabled", TAKE_FLAG, old_bf16),
    LEFT("bfloat16.*"),
    AT("amp.enabled", TAKE_FLAG, amp),
    LEFT("amp.*"),
    AT("torch_autocast.enabled", TAKE_FLAG, autocast),
    LEFT("torch_autocast.*"),
    AT("data_types.grad_accum_dtype", TAKE_TEXT, gradients),
    LEFT("data_types.*"),
    AT("communication_data_type", TAKE_TEXT, sums),
    AT("fp32_allreduce", TAKE_FLAG, wide_sums), // of older releases
    LEFT("seq_parallel_communication_data_type"),
    AT("zero_optimization.stage", TAKE_COUNT, stage),
    AT("zero_optimization.overlap_comm", TAKE_TEXT, overlap),
    AT("zero_optimization.offload_optimizer.device", TAKE_TEXT, offload),
    LEFT("zero_optimization.offload_optimizer.*"),
    AT("zero_optimization.cpu_offload", TAKE_TEXT, old_offload),
    AT("zero_optimization.offload_param.device", TAKE_TEXT, parameters),
    LEFT("zero_optimization.offload_param.*"),
    {"zero_optimization", TAKE_LATER, 0},
    LEFT("zero_optimization.*"),
    LEFT("zero_allow_untested_optimizer"),
    LEFT("zero_force_ds_cpu_optimizer"),
    AT("optimizer.type", TAKE_TEXT, optimizer),
    LEFT("optimizer.*"),
    LEFT("scheduler.*"),
    AT("tensor_parallel.autotp_size", TAKE_COUNT, tensor),
    LEFT("tensor_parallel.*"),
    AT("sequence_parallel_size", TAKE_COUNT, context),
    LEFT("data_parallel_size"),
    AT("expert_parallel.autoep_size", TAKE_COUNT, expert),
    LEFT("expert_parallel.*"),
    AT("pipeline.stages", TAKE_COUNT, pipeline),
    LEFT("pipeline.*"),
    {"activation_checkpointing.*", TAKE_LATER, 0},
    AT("compile.deepcompile", TAKE_FLAG, compile),
    LEFT("compile.*"),
    LEFT("gradient_clipping"),
    LEFT("steps_per_print"),
    LEFT("wall_clock_breakdown"),
    LEFT("memory_breakdown"),
    LEFT("dump_state"),
    LEFT("prescale_gradients"),
    LEFT("gradient_predivide_factor"),
    LEFT("gradient_allreduce_op"),
    LEFT("sparse_gradients"),
    LEFT("disable_allgather"),
    LEFT("disable_python_gc"),
    LEFT("managed_gradient_accumulation"),
    LEFT("use_data_before_expert_parallelism"),
    LEFT("dataloader_drop_last"),
    LEFT("log_level"),
    LEFT("vocabulary_size"),
    LEFT("seed"),
    LEFT("comms_logger.*"),
    LEFT("tensorboard.*"),
    LEFT("wandb.*"),
    LEFT("csv_monitor.*"),
    LEFT("comet.*"),
    LEFT("monitor_config.*"),
    LEFT("flops_profiler.*"),
    LEFT("autotuning.*"),
    LEFT("elasticity.*"),
    LEFT("hybrid_engine.*"),
    LEFT("data_efficiency.*"),
    LEFT("curriculum_learning.*"),
    LEFT("compression_training.*"),
    LEFT("progressive_layer_drop.*"),
    LEFT("eigenvalue.*"),
    LEFT("quantize_training.*"),
    LEFT("sparse_attention.*"),
    LEFT("checkpoint.*"),
    LEFT("nebula.*"),
    LEFT("aio.*"),
    LEFT("datastates.*"),
    LEFT("timers.*"),
    LEFT("weight_quantization.*"),
    LEFT("mesh_param.*"),
    // in plumbline's own exports: what the model's code must do
    AT("plumbline.sequence", TAKE_COUNT, sequence),
    AT("plumbline.tensor", TAKE_COUNT, tensor),
    AT("plumbline.context", TAKE_COUNT, context),
    AT("plumbline.pipeline", TAKE_COUNT, pipeline),
    AT("plumbline.expert", TAKE_COUNT, expert),
    AT("plumbline.virtual_stages", TAKE_COUNT, stages_of_rank),
    AT("plumbline.schedule", TAKE_TEXT, schedule),
    AT("plumbline.sequence_parallel", TAKE_FLAG, sequence_parallel),
    AT("plumbline.unfused_attention", TAKE_FLAG, unfused),
    AT("plumbline.attention_kernel", TAKE_TEXT, kernel),
    AT("plumbline.recompute", TAKE_TEXT, recompute),
    AT("plumbline.fp8", TAKE_FLAG, fp8),
    AT("plumbline.fused_loss", TAKE_FLAG, fused_loss),
    AT("plumbline.compiled", TAKE_FLAG, compiled),
    AT("plumbline.unfused_norms", TAKE_FLAG, norms),
    AT("plumbline.unfused_rotary", TAKE_FLAG, rotary),
    AT("plumbline.unfused_activation", TAKE_FLAG, activation),
    AT("plumbline.gathered_logits", TAKE_FLAG, gathered),
    AT("plumbline.scattered_messages", TAKE_FLAG, scattered),
    {"plumbline.about", TAKE_LATER, 0},
    {"plumbline.not_expressed", TAKE_LATER, 0},
};

// ---- degrees and batch

// One of the three numbers may be missing, or two (then there is one step).
static enum status set_batch(struct job *j, struct deep *d, struct settings *s, struct error *err)
{
    struct layout *l = &j->layout;
    int64_t others = d->tensor * d->pipeline * d->context;
    int data = 0, micro = (int)d->micro_batch, steps = (int)(d->steps ? d->steps : 1);
    if (d->gpus)
        TRY(settings_divide(s, "--gpus over tensor x pipeline x context", d->gpus, others, &data,
                            err));
    if (!d->train_batch && !d->micro_batch)
        return fail(
            err, BAD_INPUT,
            "%s: expected train_batch_size or train_micro_batch_size_per_gpu, found neither%s: "
            "give --global-batch and --micro-batch",
            s->document.path,
            setting_of(s, "train_batch_size") ? " except as \"auto\", which the script fills in"
                                              : "");
    if (!data && (!d->train_batch || !d->micro_batch || !d->steps))
        return fail(err, BAD_INPUT,
                    "%s: the number of replicas does not follow from the batch sizes: give the "
                    "number of GPUs with --gpus",
                    s->document.path);
    if (d->micro_batch > 1 << 20 || d->steps > 1 << 20)
        return fail(err, BAD_INPUT, "%s: expected batch sizes of at most 2^20 a GPU",
                    s->document.path);
    if (!data)
        TRY(settings_divide(s, "train_batch_size over micro-batch x steps", d->train_batch,
                            d->micro_batch * d->steps, &data, err));
    if (data > 65536)
        return fail(err, BAD_INPUT, "%s: expected at most 65536 replicas, found %d",
                    s->document.path, data);
    if (!micro)
        TRY(settings_divide(s, "train_batch_size over data ranks x gradient_accumulation_steps",
                            d->train_batch, (int64_t)data * steps, &micro, err));
    if (d->train_batch && !d->steps)
        TRY(settings_divide(s, "train_batch_size over data ranks x train_micro_batch_size_per_gpu",
                            d->train_batch, (int64_t)data * micro, &steps, err));
    j->global_batch = (int64_t)data * micro * steps;
    if (d->train_batch && d->train_batch != j->global_batch)
        return settings_refuse(
            s, "train_batch_size", err,
            "expected micro-batch %d x steps %d x replicas %d = %lld, found %lld", micro, steps,
            data, (long long)j->global_batch, (long long)d->train_batch);
    l->micro_batch = micro, l->data = data;
    return OK;
}

static int index_of(const char *const *names, const char *name)
{
    int i = 0;
    while (names[i] && strcasecmp(names[i], name)) i++;
    return names[i] ? i : -1;
}

static enum status set_layout(struct job *j, struct deep *d, struct settings *s, struct error *err)
{
    struct layout *l = &j->layout;
    const int64_t degrees[] = {d->tensor, d->pipeline, d->context, d->expert, d->stages_of_rank};
    int schedule = d->schedule ? index_of(schedule_names, d->schedule) : SCHEDULE_1F1B;
    for (size_t i = 0; i < ARRAY_LENGTH(degrees); i++)
        if (degrees[i] < 1 || degrees[i] > 65536)
            return fail(err, BAD_INPUT, "%s: expected degrees of 1 to 65536, found %lld",
                        s->document.path, (long long)degrees[i]);
    if (schedule < 0)
        return settings_refuse(s, "plumbline.schedule", err, "there is no schedule \"%.60s\"",
                               d->schedule);
    TRY(set_batch(j, d, s, err));
    l->tensor = (int)d->tensor, l->pipeline = (int)d->pipeline, l->context = (int)d->context;
    l->expert = (int)d->expert, l->virtual_stages = (int)d->stages_of_rank;
    l->schedule = schedule;
    l->sequence_parallel = d->sequence_parallel && l->tensor > 1;
    l->fused_attention = !d->unfused;
    if (l->context > 1 && setting_of(s, "sequence_parallel_size"))
        settings_note(s, "sequence_parallel_size: taken as context ranks, whose keys go round a "
                         "ring; DeepSpeed's (Ulysses) exchanges heads");
    return OK;
}

// ---- ZeRO

static enum status set_zero(struct layout *l, const struct deep *d, struct settings *s,
                            struct error *err)
{
    const struct setting *old = setting_of(s, "zero_optimization");
    int64_t stage = old && old->text && !strcasecmp(old->text, "true") ? 1 : d->stage;
    bool nvme = d->offload && !strcasecmp(d->offload, "nvme");
    if (stage > 3)
        return settings_refuse(s, "zero_optimization.stage", err, "expected 0 to 3, found %lld",
                               (long long)stage);
    l->zero = (int)stage;
    l->offload_optimizer = stage > 0 && ((d->offload && strcasecmp(d->offload, "none")) ||
                                         (d->old_offload && !strcasecmp(d->old_offload, "true")));
    bool overlapped = d->overlap ? !strcasecmp(d->overlap, "true") : stage == 3;
    l->gradient_sync = stage && overlapped ? SYNC_OVERLAPPED : SYNC_EXPOSED;
    if (nvme) settings_note(s, "offload_optimizer to nvme: taken as host memory");
    if (d->parameters && strcasecmp(d->parameters, "none"))
        settings_note(s, "offload_param: a job's weights stay on the GPU");
    if (stage >= 2 && l->pipeline > 1)
        settings_note(s,
                      "ZeRO %lld with a pipeline: DeepSpeed refuses it (\"ZeRO-2 and ZeRO-3 are "
                      "incompatible with pipeline parallelism\")",
                      (long long)stage);
    return OK;
}

// ---- the rest

static enum status set_precision(struct job *j, const struct deep *d, struct settings *s,
                                 struct error *err)
{
    bool bf16 = d->bf16 || d->old_bf16, wide = d->gradients && !strcasecmp(d->gradients, "fp32");
    if (bf16 && d->fp16)
        return fail(err, BAD_INPUT, "%s: bf16 and fp16 are enabled: expected one of them",
                    s->document.path);
    j->precision = d->fp8 ? FP8 : bf16 ? BF16 : d->fp16 || d->amp ? FP16 : FP32;
    j->gradient_bytes_per_value = wide ? 4
                                       : trainer_gradient_bytes(TRAINER_DEEPSPEED, j->precision);
    if (!d->gradients && bf16 && j->layout.zero == 0)
        settings_note(s,
                      "no data_types.grad_accum_dtype: gradients are summed in bf16, as DeepSpeed "
                      "does from 0.17.6 on; without ZeRO, 0.7.6 to 0.17.5 sum them in fp32");
    if (d->sums && !strcasecmp(d->sums, "fp32") && j->layout.zero >= 2 && j->precision != FP32)
        settings_note(s,
                      "communication_data_type fp32: at ZeRO 2 and 3 gradients are taken to travel "
                      "in 16 bits");
    if (d->amp) settings_note(s, "amp: taken as fp16");
    if (d->autocast)
        settings_note(s, "torch_autocast: products in 16 bits over fp32 weights; "
                         "taken as if it were off");
    return OK;
}

static void set_optimizer(struct job *j, const struct deep *d, struct settings *s)
{
    static const char *const two_states[] = {"adam",       "adamw",       "fusedadam",  "lamb",
                                             "onebitadam", "zerooneadam", "onebitlamb", NULL};
    j->adam = !d->optimizer || index_of(two_states, d->optimizer) >= 0;
    if (!j->adam)
        settings_note(s, "optimizer %s: a job has Adam's two states or none; none is assumed",
                      d->optimizer);
    if (!d->optimizer) settings_note(s, "the script sets the optimizer: Adam is assumed");
}

static enum status set_recompute(struct job *j, const struct deep *d, struct settings *s,
                                 struct error *err)
{
    int mode = d->recompute ? index_of(recompute_names, d->recompute) : RECOMPUTE_NONE;
    bool section = false;
    for (int i = 0; i < s->count; i++)
        section |= !strncmp(s->items[i].key, "activation_checkpointing", 24);
    if (mode < 0)
        return settings_refuse(s, "plumbline.recompute", err, "there is no mode \"%.60s\"",
                               d->recompute);
    j->recompute[mode] = true;
    if (!section) return OK;
    j->recompute[RECOMPUTE_FULL] = true;
    settings_note(s, "activation_checkpointing: full recomputation may be chosen; where "
                     "checkpoints are kept (partitioned, in host memory) a job has not");
    return OK;
}

static enum status make_job(struct job *j, struct deep *d, struct settings *s, struct error *err)
{
    int kernel = d->kernel ? index_of(attention_kernel_names, d->kernel) : ATTENTION_MAKER;
    if (!d->sequence)
        return fail(err, BAD_INPUT,
                    "%s: the script sets the sequence length: give it with --sequence",
                    s->document.path);
    if (kernel < 0)
        return settings_refuse(s, "plumbline.attention_kernel", err, "there is no kernel \"%.60s\"",
                               d->kernel);
    j->sequence = d->sequence, j->trainer = TRAINER_DEEPSPEED, j->attention_kernel = kernel;
    TRY(set_layout(j, d, s, err));
    TRY(set_zero(&j->layout, d, s, err));
    TRY(set_precision(j, d, s, err));
    set_optimizer(j, d, s);
    j->fused_loss = d->fused_loss, j->compiled = d->compiled, j->gathered_logits = d->gathered;
    // With ZeRO, sums have the precision in which gradients accumulate.
    j->whole_gradient_sums = !j->layout.zero && j->gradient_bytes_per_value == 2 &&
                             (d->wide_sums || (d->sums && !strcasecmp(d->sums, "fp32")));
    j->scattered_messages = d->scattered;
    j->unfused[UNFUSED_NORMS] = d->norms, j->unfused[UNFUSED_ROTARY] = d->rotary;
    j->unfused[UNFUSED_ACTIVATION] = d->activation;
    if (d->compile) settings_note(s, "compile.deepcompile: a job's blocks are not compiled");
    return set_recompute(j, d, s, err);
}

// Options override the file.
static void take_said(struct deep *d, const struct deep *said, int precision)
{
    if (said->sequence) d->sequence = said->sequence;
    if (said->tensor) d->tensor = said->tensor;
    if (said->pipeline) d->pipeline = said->pipeline;
    if (said->expert) d->expert = said->expert;
    if (said->train_batch) d->train_batch = said->train_batch;
    if (said->micro_batch) d->micro_batch = said->micro_batch;
    if (said->train_batch || said->micro_batch) d->steps = 0;
    if (precision < 0) return;
    d->fp8 = precision == FP8, d->bf16 = precision == BF16 || precision == FP8;
    d->old_bf16 = d->amp = false, d->fp16 = precision == FP16;
}

static bool is_auto(const struct settings *s, const char *key)
{
    const struct setting *at = setting_of(s, key);
    return at && at->text && !strcmp(at->text, "auto");
}

enum status import_deepspeed(int argc, char **argv, int *exit_code, struct arena *arena,
                             struct error *err)
{
    const char *output = "-", *name = "deepspeed", *path;
    struct deep d = {.tensor = 1, .pipeline = 1, .context = 1, .expert = 1, .stages_of_rank = 1},
                said = {0};
    int precision = -1;
    bool helped;
    struct settings s;
    const struct option options[] = {
        {"-o", OPTION_PATH, &output, 0, 0, NULL,
         "output file for the job (default: -, standard output)"},
        {"--name", OPTION_TEXT, &name, 0, 0, NULL, "name of the job (default: deepspeed)"},
        {"--sequence", OPTION_INT, &said.sequence, 1, 1 << 24, NULL, "tokens per sequence"},
        {"--gpus", OPTION_INT, &d.gpus, 1, 1e9, NULL,
         "GPUs of the run (default: derived from the batch sizes)"},
        {"--global-batch", OPTION_INT, &said.train_batch, 1, 1 << 30, NULL,
         "sequences per iteration, instead of train_batch_size"},
        {"--micro-batch", OPTION_INT, &said.micro_batch, 1, 1 << 20, NULL,
         "sequences per micro-batch, instead of train_micro_batch_size_per_gpu"},
        {"--precision", OPTION_NAME, &precision, 0, 0, precision_names,
         "precision, if bf16 and fp16 are \"auto\" (default: as in the file)"},
        {"--tensor", OPTION_INT, &said.tensor, 1, 65536, NULL,
         "tensor degree of the model's code (default: 1)"},
        {"--pipeline", OPTION_INT, &said.pipeline, 1, 256, NULL,
         "stages of its PipelineModule (default: 1)"},
        {"--expert", OPTION_INT, &said.expert, 1, 65536, NULL,
         "ep_size of its MoE layers (default: 1)"},
    };
    (void)exit_code;
    TRY(options_read(argc, argv,
                     "plumbline import deepspeed CONFIG.json --sequence N [--gpus N] [-o job.json]",
                     options, ARRAY_LENGTH(options), &path, 1, 1, NULL, &helped, err));
    if (helped) return OK;
    TRY(settings_read_json(&s, path, arena, err));
    TRY(settings_take(&s, known, ARRAY_LENGTH(known), &d, err));
    take_said(&d, &said, precision);
    struct job job = job_imported(name, &s);
    if (precision < 0 && !d.bf16 && !d.fp16 &&
        (is_auto(&s, "bf16.enabled") || is_auto(&s, "fp16.enabled")))
        settings_note(&s, "the precision is \"auto\", which the script fills in: fp32 is assumed "
                          "(--precision bf16)");
    TRY(make_job(&job, &d, &s, err));
    return settings_save_job(&s, &job, output, err);
}
