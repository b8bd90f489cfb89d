// plumbline import torchtitan CONFIG.toml: a job from a configuration of torchtitan 0.2
// (torchtitan/config/job_config.py, distributed/, models/*/infra/parallelize.py of that release).
#include <string.h>
#include <strings.h>

#include "data/base/names.h"
#include "data/import/import.h"
#include "data/import/jobs/settings.h"
#include "data/kinds/schedules.h"

struct titan {
    int64_t local_batch, global_batch, sequence;
    int64_t replicas, shards, tensor, pipeline, context, expert, micro_batch, layers_of_stage,
        first_less, last_less, micro_batches;
    const char *model, *flavor, *optimizer, *dtype, *precision, *reshard, *schedule, *csv, *mode,
        *selective;
    bool gathered, cpu_offload, compile, early_step;
    int64_t gpus, blocks; // from the command line
};

#define AT(key, kind, field)                                                                       \
    {                                                                                              \
        key, kind, offsetof(struct titan, field)                                                   \
    }
#define LEFT(key)                                                                                  \
    {                                                                                              \
        key, TAKE_NOT, 0                                                                           \
    }
static const struct setting_known known[] = {
    AT("model.name", TAKE_TEXT, model),
    AT("model.flavor", TAKE_TEXT, flavor),
    {"model.converters", TAKE_LATER, 0},
    LEFT("model.hf_assets_path"),
    LEFT("model.tokenizer_path"),
    LEFT("model.print_after_conversion"),
    AT("optimizer.name", TAKE_TEXT, optimizer),
    AT("optimizer.early_step_in_backward", TAKE_FLAG, early_step),
    LEFT("optimizer.lr"),
    LEFT("optimizer.beta1"),
    LEFT("optimizer.beta2"),
    LEFT("optimizer.eps"),
    LEFT("optimizer.weight_decay"),
    LEFT("optimizer.implementation"),
    AT("training.local_batch_size", TAKE_COUNT, local_batch),
    AT("training.global_batch_size", TAKE_WHOLE, global_batch),
    AT("training.seq_len", TAKE_COUNT, sequence),
    AT("training.enable_cpu_offload", TAKE_FLAG, cpu_offload),
    AT("training.dtype", TAKE_TEXT, dtype),
    AT("training.mixed_precision_param", TAKE_TEXT, precision),
    LEFT("training.mixed_precision_reduce"),
    LEFT("training.dataset"),
    LEFT("training.dataset_path"),
    LEFT("training.max_norm"),
    LEFT("training.steps"),
    LEFT("training.gc_freq"),
    LEFT("training.gc_debug"),
    LEFT("training.dataloader.*"),
    AT("parallelism.data_parallel_replicate_degree", TAKE_COUNT, replicas),
    AT("parallelism.data_parallel_shard_degree", TAKE_WHOLE, shards),
    AT("parallelism.fsdp_reshard_after_forward", TAKE_TEXT, reshard),
    AT("parallelism.tensor_parallel_degree", TAKE_COUNT, tensor),
    AT("parallelism.disable_loss_parallel", TAKE_FLAG, gathered),
    LEFT("parallelism.enable_async_tensor_parallel"),
    AT("parallelism.pipeline_parallel_degree", TAKE_COUNT, pipeline),
    {"parallelism.module_fqns_per_model_part", TAKE_LATER, 0},
    AT("parallelism.pipeline_parallel_first_stage_less_layers", TAKE_COUNT, first_less),
    AT("parallelism.pipeline_parallel_last_stage_less_layers", TAKE_COUNT, last_less),
    AT("parallelism.pipeline_parallel_layers_per_stage", TAKE_COUNT, layers_of_stage),
    AT("parallelism.pipeline_parallel_schedule", TAKE_TEXT, schedule),
    AT("parallelism.pipeline_parallel_schedule_csv", TAKE_TEXT, csv),
    AT("parallelism.pipeline_parallel_microbatch_size", TAKE_COUNT, micro_batch),
    LEFT("parallelism.pipeline_parallel_expert_parallel_overlap"),
    AT("parallelism.context_parallel_degree", TAKE_COUNT, context),
    LEFT("parallelism.context_parallel_load_balancer"),
    LEFT("parallelism.context_parallel_rotate_method"),
    AT("parallelism.expert_parallel_degree", TAKE_COUNT, expert),
    LEFT("parallelism.expert_tensor_parallel_degree"),
    LEFT("parallelism.expert_parallel_comm_backend"),
    AT("activation_checkpoint.mode", TAKE_TEXT, mode),
    AT("activation_checkpoint.selective_ac_option", TAKE_TEXT, selective),
    LEFT("activation_checkpoint.per_op_sac_force_recompute_mm_shapes_by_fqns"),
    LEFT("activation_checkpoint.early_stop"),
    LEFT("activation_checkpoint.memory_budget"),
    LEFT("activation_checkpoint.visualize_memory_budget_pareto"),
    LEFT("activation_checkpoint.preserve_rng_state"),
    LEFT("activation_checkpoint.determinism_check"),
    LEFT("activation_checkpoint.debug"),
    AT("compile.enable", TAKE_FLAG, compile),
    {"compile.components", TAKE_LATER, 0},
    LEFT("compile.backend"),
    // names in releases before 0.2
    AT("training.batch_size", TAKE_COUNT, local_batch),
    AT("training.tensor_parallel_degree", TAKE_COUNT, tensor),
    AT("training.data_parallel_replicate_degree", TAKE_COUNT, replicas),
    AT("training.data_parallel_shard_degree", TAKE_WHOLE, shards),
    AT("training.compile", TAKE_FLAG, compile),
    AT("experimental.context_parallel_degree", TAKE_COUNT, context),
    AT("experimental.pipeline_parallel_degree", TAKE_COUNT, pipeline),
    AT("experimental.pipeline_parallel_schedule", TAKE_TEXT, schedule),
    AT("experimental.pipeline_parallel_microbatches", TAKE_COUNT, micro_batches),
    AT("parallelism.pipeline_parallel_microbatches", TAKE_COUNT, micro_batches),
    {"experimental.pipeline_parallel_split_points", TAKE_LATER, 0},
    {"parallelism.pipeline_parallel_split_points", TAKE_LATER, 0},
    LEFT("quantize.*"),
    LEFT("job.*"),
    LEFT("profiling.*"),
    LEFT("metrics.*"),
    LEFT("lr_scheduler.*"),
    LEFT("checkpoint.*"),
    LEFT("comm.*"),
    LEFT("memory_estimation.*"),
    LEFT("fault_tolerance.*"),
    LEFT("experimental.*"),
    LEFT("validation.*"),
    LEFT("debug.*"),
};
static const struct titan defaults = {.local_batch = 8,
                                      .global_batch = -1,
                                      .sequence = 2048,
                                      .replicas = 1,
                                      .shards = -1,
                                      .tensor = 1,
                                      .pipeline = 1,
                                      .context = 1,
                                      .expert = 1,
                                      .micro_batch = 1,
                                      .first_less = 1,
                                      .last_less = 1,
                                      .optimizer = "AdamW",
                                      .dtype = "float32",
                                      .precision = "bfloat16",
                                      .reshard = "default",
                                      .schedule = "1F1B",
                                      .mode = "selective",
                                      .selective = "2"};

// The flavors of torchtitan's own models, with the document shipped with the program.
static const struct flavor {
    const char *model, *name, *shipped;
    int blocks;
} flavors[] = {
    {"llama3", "debugmodel", NULL, 6},          {"llama3", "8B", "llama-3.1-8b", 32},
    {"llama3", "70B", "llama-3.1-70b", 80},     {"llama3", "405B", "llama-3.1-405b", 126},
    {"deepseek_v3", "debugmodel", NULL, 6},     {"deepseek_v3", "16B", "deepseek-v2-lite", 27},
    {"deepseek_v3", "236B", "deepseek-v2", 60}, {"deepseek_v3", "671B", "deepseek-v3", 61}};

static const struct flavor *flavor_of(const struct titan *t)
{
    for (size_t i = 0; t->model && t->flavor && i < ARRAY_LENGTH(flavors); i++) {
        size_t length = strlen(flavors[i].name);
        if (!strcmp(flavors[i].model, t->model) && !strncmp(flavors[i].name, t->flavor, length) &&
            (!t->flavor[length] || t->flavor[length] == '_'))
            return &flavors[i];
    }
    return NULL;
}

static void note_model(struct settings *s, const struct titan *t)
{
    const struct flavor *flavor = flavor_of(t);
    if (flavor && flavor->shipped)
        settings_note(s, "the model %s %s is shipped as %s (plumbline models)", t->model, t->flavor,
                      flavor->shipped);
    else if (t->model)
        settings_note(s, "the model %s %s is not shipped: use plumbline import hf", t->model,
                      t->flavor ? t->flavor : "");
}

// ---- degrees and batch

static enum status set_degrees(struct layout *l, const struct titan *t, const struct settings *s,
                               struct error *err)
{
    const int64_t degrees[] = {t->tensor, t->pipeline, t->context, t->expert, t->replicas};
    int64_t others = 1;
    for (size_t i = 0; i < ARRAY_LENGTH(degrees); i++) {
        if (degrees[i] < 1 || degrees[i] > 65536)
            return fail(err, BAD_INPUT,
                        "%s: parallelism: expected degrees of 1 to 65536, found %lld",
                        s->document.path, (long long)degrees[i]);
        if (i != 3) others *= degrees[i];
        if (others > 1 << 30) others = 1 << 30;
    }
    int shards = (int)t->shards;
    if (t->shards == 0 || t->shards > 65536)
        return settings_refuse(s, "parallelism.data_parallel_shard_degree", err,
                               "expected 1 to 65536, or -1 for what is left");
    if (t->shards < 0 && !t->gpus)
        return settings_refuse(s, "parallelism.data_parallel_shard_degree", err,
                               "is what is left of the GPUs: give their number with --gpus");
    if (t->shards < 0 || t->gpus)
        TRY(settings_divide(s, "--gpus over replicas x tensor x pipeline x context", t->gpus,
                            others, &shards, err));
    if (t->shards > 0 && shards != t->shards)
        return fail(err, BAD_INPUT, "%s: parallelism: the degrees together are %lld, --gpus %lld",
                    s->document.path, (long long)(others * t->shards), (long long)t->gpus);
    l->tensor = (int)t->tensor, l->context = (int)t->context, l->expert = (int)t->expert;
    l->pipeline = (int)t->pipeline, l->data = (int)t->replicas * shards;
    return OK;
}

// Sharded over the ranks that have different data or parts of it; whole on each replica if only
// that is requested.
static enum status set_sharding(struct layout *l, const struct titan *t, struct settings *s,
                                struct error *err)
{
    static const char *const words[] = {"default", "always", "never"};
    int policy = 0;
    while (policy < 3 && strcmp(words[policy], t->reshard)) policy++;
    if (policy == 3)
        return settings_refuse(s, "parallelism.fsdp_reshard_after_forward", err,
                               "expected default, always or never, found \"%.60s\"", t->reshard);
    if (l->data / t->replicas == 1 && l->context == 1) return OK;
    l->zero = policy == 1 || (policy == 0 && t->pipeline == 1) ? 3 : 2;
    if (t->replicas > 1)
        settings_note(
            s,
            "data_parallel_replicate_degree %lld together with shards: a job shards over all "
            "data x context ranks, which takes less memory and moves more",
            (long long)t->replicas);
    return OK;
}

static enum status set_batch(struct job *j, const struct titan *t, struct settings *s,
                             struct error *err)
{
    struct layout *l = &j->layout;
    int64_t together;
    int steps;
    if (t->local_batch < 1 || t->local_batch > 1 << 20 || t->micro_batch < 1 ||
        (l->pipeline > 1 && t->micro_batch > t->local_batch))
        return settings_refuse(s, "training.local_batch_size", err,
                               "expected 1 to 2^20, and no less than a micro-batch, found %lld",
                               (long long)t->local_batch);
    together = t->local_batch * l->data;
    j->sequence = t->sequence;
    j->global_batch = t->global_batch < 0 ? together : t->global_batch;
    l->micro_batch = (int)(l->pipeline > 1 ? t->micro_batch : t->local_batch);
    TRY(settings_divide(s, "training.global_batch_size over local_batch_size x data ranks",
                        j->global_batch, together, &steps, err));
    if (l->pipeline > 1 && t->local_batch % t->micro_batch)
        return settings_refuse(s, "training.local_batch_size", err,
                               "expected a multiple of the pipeline's micro-batch %lld, found %lld",
                               (long long)t->micro_batch, (long long)t->local_batch);
    if (l->pipeline > 1 && steps > 1)
        settings_note(s,
                      "the pipeline is emptied %d times an iteration (global_batch_size over "
                      "local_batch_size x data ranks): a job fills it once",
                      steps);
    return OK;
}

// ---- the pipeline

// From torch.distributed.pipelining: the same schedule, or the nearest of ours if the order
// differs.
static const struct {
    const char *name;
    int kind;
    bool near;
} schedules[] = {{"1F1B", SCHEDULE_1F1B, false},
                 {"GPipe", SCHEDULE_GPIPE, false},
                 {"Interleaved1F1B", SCHEDULE_INTERLEAVED, false},
                 {"LoopedBFS", SCHEDULE_LOOPED_BFS, true},
                 {"ZBVZeroBubble", SCHEDULE_ZB_V, false},
                 {"InterleavedZeroBubble", SCHEDULE_INTERLEAVED, true},
                 {"DualPipeV", SCHEDULE_ZB_V, true}};

static enum status set_schedule(struct layout *l, const struct titan *t, const char *said,
                                struct settings *s, struct error *err)
{
    const char *names[ARRAY_LENGTH(schedules)];
    int found = -1, kind = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(schedules); i++) {
        names[i] = schedules[i].name;
        if (!strcasecmp(names[i], t->schedule)) found = (int)i;
    }
    if (found < 0)
        return settings_refuse(s, "parallelism.pipeline_parallel_schedule", err,
                               "\"%.60s\" is none of torch's; did you mean %s?", t->schedule,
                               names[name_nearest(t->schedule, names, ARRAY_LENGTH(schedules))]);
    l->schedule = schedules[found].kind;
    if (t->csv && *t->csv && !said)
        return settings_refuse(
            s, "parallelism.pipeline_parallel_schedule_csv", err,
            "the order of passes is in \"%.200s\": name the schedule with --schedule", t->csv);
    if (schedules[found].near && !said)
        settings_note(s, "the schedule %s: the nearest that a job has is %s", t->schedule,
                      schedule_names[l->schedule]);
    for (; said && kind < SCHEDULE_KIND_COUNT; kind++)
        if (!strcmp(schedule_names[kind], said)) break;
    if (said) l->schedule = kind;
    return OK;
}

static int split_points(const struct settings *s)
{
    return setting_list_length(s, "parallelism.pipeline_parallel_split_points") +
           setting_list_length(s, "experimental.pipeline_parallel_split_points");
}

static enum status set_stages(struct layout *l, const struct titan *t, struct settings *s,
                              struct error *err)
{
    const char *parts = "parallelism.module_fqns_per_model_part";
    const struct flavor *flavor = flavor_of(t);
    int64_t blocks = t->blocks ? t->blocks
                     : flavor  ? flavor->blocks
                               : 0,
            stages = setting_list_length(s, parts), points = split_points(s),
            of_rank = schedule_kinds[l->schedule].virtual_stages;
    if (!stages && points) stages = points + 1;
    if (stages)
        settings_note(s, "the cut into %lld stages is the plan's to decide", (long long)stages);
    else if (t->layers_of_stage && !blocks)
        return settings_refuse(s, "parallelism.pipeline_parallel_layers_per_stage", err,
                               "counts the model's layers: give their number with --layers");
    else if (t->layers_of_stage)
        stages = (blocks + t->first_less + t->last_less + t->layers_of_stage - 1) /
                 t->layers_of_stage;
    else stages = l->pipeline * (of_rank == 1 ? 1 : 2);
    TRY(settings_divide(s,
                        "stages (module_fqns_per_model_part, pipeline_parallel_layers_per_stage)",
                        stages, l->pipeline, &l->virtual_stages, err));
    if (of_rank ? l->virtual_stages != of_rank : l->virtual_stages < 2)
        return settings_refuse(s, "parallelism.pipeline_parallel_schedule", err,
                               "%s has %d stages on a rank, found %d", t->schedule,
                               of_rank ? (int)of_rank : 2, l->virtual_stages);
    return OK;
}

// ---- the rest

static enum status set_precision(struct job *j, const struct titan *t, struct settings *s,
                                 struct error *err)
{
    const struct layout *l = &j->layout;
    bool narrow = !strcmp(t->precision, "bfloat16"), half = !strcmp(t->dtype, "bfloat16"),
         sharded = l->zero > 0, others = l->tensor > 1 || l->pipeline > 1,
         eight = setting_lists(s, "model.converters", "float8") ||
                 setting_lists(s, "model.converters", "quantize.linear.float8"),
         mx = setting_lists(s, "model.converters", "mx") ||
              setting_lists(s, "model.converters", "quantize.linear.mx");
    if ((!narrow && strcmp(t->precision, "float32")) || (!half && strcmp(t->dtype, "float32")))
        return fail(err, BAD_INPUT,
                    "%s: training: dtype, mixed_precision_param: expected bfloat16 or float32",
                    s->document.path);
    if (half) settings_note(s, "training.dtype bfloat16: states of 2 bytes; a job's are of 4");
    if (narrow && !half && !sharded && others)
        settings_note(s, "mixed precision: without sharded data or context ranks torchtitan "
                         "disables it with tensor or pipeline parallelism and trains in fp32");
    narrow = half || (narrow && (sharded || !others));
    j->precision = eight || mx ? FP8 : narrow ? BF16 : FP32;
    if (mx) settings_note(s, "mxfp8: taken as fp8");
    return OK;
}

static enum status set_recompute(struct job *j, const struct titan *t, struct settings *s,
                                 struct error *err)
{
    bool selective = !strcmp(t->mode, "selective"), operators = !strcmp(t->selective, "op");
    if (!strcmp(t->mode, "full") || (selective && !operators)) j->recompute[RECOMPUTE_FULL] = true;
    else if (selective || !strcmp(t->mode, "memory_budget"))
        j->recompute[RECOMPUTE_SELECTIVE] = true;
    else if (strcmp(t->mode, "none"))
        return settings_refuse(s, "activation_checkpoint.mode", err,
                               "expected none, selective, full or memory_budget, found \"%.60s\"",
                               t->mode);
    if (selective && !operators && strcmp(t->selective, "1"))
        settings_note(s,
                      "selective_ac_option \"%.40s\": recomputes every N-th layer whole; a stage "
                      "of a plan has none or all of its layers recomputed",
                      t->selective);
    if (!strcmp(t->mode, "memory_budget"))
        settings_note(s, "memory_budget: taken as selective recomputation of operators");
    return OK;
}

static bool compiles(const struct titan *t, const struct settings *s, const char *component)
{
    bool listed = setting_of(s, "compile.components") || setting_of(s, "compile.components[0]");
    return t->compile && (!listed || setting_lists(s, "compile.components", component));
}

static void note_rest(struct settings *s, const struct titan *t)
{
    if (t->cpu_offload)
        settings_note(s, "training.enable_cpu_offload: also moves weights and gradients, which a "
                         "job cannot; left out");
    if (t->early_step)
        settings_note(s, "optimizer.early_step_in_backward: gradients that are freed layer by "
                         "layer are counted as kept");
    note_model(s, t);
}

static enum status make_job(struct job *j, const struct titan *t, const char *schedule,
                            struct settings *s, struct error *err)
{
    if (strcmp(t->optimizer, "Adam") && strcmp(t->optimizer, "AdamW"))
        return settings_refuse(s, "optimizer.name", err, "expected Adam or AdamW, found \"%.60s\"",
                               t->optimizer);
    TRY(set_degrees(&j->layout, t, s, err));
    TRY(set_sharding(&j->layout, t, s, err));
    TRY(set_batch(j, t, s, err));
    if (t->pipeline > 1) TRY(set_schedule(&j->layout, t, schedule, s, err));
    if (t->pipeline > 1) TRY(set_stages(&j->layout, t, s, err));
    TRY(set_precision(j, t, s, err));
    TRY(set_recompute(j, t, s, err));
    j->trainer = TRAINER_TORCHTITAN;
    j->compiled = compiles(t, s, "model"), j->fused_loss = compiles(t, s, "loss");
    j->gathered_logits = t->gathered && t->tensor > 1;
    j->layout.sequence_parallel = t->tensor > 1;
    j->layout.fused_attention = true;
    j->layout.gradient_sync = SYNC_OVERLAPPED;
    note_rest(s, t);
    return OK;
}

enum status import_torchtitan(int argc, char **argv, int *exit_code, struct arena *arena,
                              struct error *err)
{
    const char *output = "-", *name = "torchtitan", *path;
    struct titan t = defaults;
    int schedule = -1;
    bool helped;
    struct settings s;
    const struct option options[] = {
        {"-o", OPTION_PATH, &output, 0, 0, NULL,
         "output file for the job (default: -, standard output)"},
        {"--name", OPTION_TEXT, &name, 0, 0, NULL, "name of the job (default: torchtitan)"},
        {"--gpus", OPTION_INT, &t.gpus, 1, 1e9, NULL,
         "GPUs of the run, if data_parallel_shard_degree is -1"},
        {"--layers", OPTION_INT, &t.blocks, 1, 1e6, NULL,
         "blocks of the model, if pipeline_parallel_layers_per_stage is set (default: the "
         "flavor's)"},
        {"--schedule", OPTION_NAME, &schedule, 0, 0, schedule_names,
         "schedule that the order in pipeline_parallel_schedule_csv belongs to"},
    };
    (void)exit_code;
    TRY(options_read(argc, argv, "plumbline import torchtitan CONFIG.toml [--gpus N] [-o job.json]",
                     options, ARRAY_LENGTH(options), &path, 1, 1, NULL, &helped, err));
    if (helped) return OK;
    if (path_ends_with(path, ".py"))
        return fail(err, BAD_INPUT,
                    "%s: configurations in Python (torchtitan since 0.3) are not read, TOML of 0.2 "
                    "is",
                    path);
    TRY(settings_read_toml(&s, path, arena, err));
    TRY(settings_take(&s, known, ARRAY_LENGTH(known), &t, err));
    if (t.micro_batches) {
        int size;
        TRY(settings_divide(&s, "training.batch_size over pipeline_parallel_microbatches",
                            t.local_batch, t.micro_batches, &size, err));
        t.micro_batch = size;
    }
    struct job job = job_imported(name, &s);
    TRY(make_job(&job, &t, schedule < 0 ? NULL : schedule_names[schedule], &s, err));
    return settings_save_job(&s, &job, output, err);
}
