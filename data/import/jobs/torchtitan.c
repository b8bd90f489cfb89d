// A configuration of torchtitan as a run: of 0.2 in TOML (torchtitan/config/job_config.py,
// distributed/, models/*/infra/parallelize.py of that release), of later ones in Python.
#include <string.h>
#include <strings.h>

#include "data/base/names.h"
#include "data/import/jobs/importer.h"
#include "data/import/jobs/settings.h"
#include "data/kinds/schedules.h"

static const struct run defaults = {.local_batch = 8,
                                    .global_batch = -1,
                                    .job.sequence = 2048,
                                    .replicas = 1,
                                    .shards = -1,
                                    .micro_batch = 1,
                                    .first_less = 1,
                                    .last_less = 1,
                                    .optimizer = "AdamW",
                                    .dtype = "float32",
                                    .precision = "bfloat16",
                                    .reshard = "default",
                                    .schedule = "1F1B",
                                    .rotate = "allgather",
                                    .granularity = "selective",
                                    .method = "2"};

// The endings of flavors that differ in the kernel of their attention alone.
static bool is_of_kernel(const char *ending)
{
    static const char *const endings[] = {"", "_flex", "_flex_attn", "_varlen", "_varlen_attn"};
    size_t i = 0;
    while (i < ARRAY_LENGTH(endings) && strcmp(endings[i], ending) != 0) i++;
    return i < ARRAY_LENGTH(endings);
}

static const struct torchtitan_flavor *flavor_of(const struct run *r)
{
    for (const struct torchtitan_flavor *f = torchtitan_flavors; r->flavor && r->model && f->model;
         f++) {
        size_t length = strlen(f->name);
        if (!strcmp(f->model, r->model) && !strncmp(f->name, r->flavor, length) &&
            is_of_kernel(r->flavor + length))
            return f;
    }
    return NULL;
}

static void note_model(struct settings *s, const struct run *r)
{
    const struct torchtitan_flavor *flavor = flavor_of(r);
    if (flavor && flavor->shipped)
        said_assume(&s->said, "the model %s %s is shipped as %s (plumbline models)", r->model,
                    r->flavor, flavor->shipped);
    else if (r->model)
        said_assume(&s->said, "the model %s %s is not shipped: use plumbline import hf", r->model,
                    r->flavor ? r->flavor : "");
}

// ---- degrees and batch

static enum status set_degrees(struct run *r, const struct settings *s, struct error *err)
{
    struct layout *l = &r->job.layout;
    const int64_t part = l->expert > 1 && !r->expert_tensor ? 1 : r->expert_tensor, // its default
        degrees[] = {l->tensor, l->pipeline, l->context, r->replicas, l->expert, part ? part : 1};
    int64_t others = 1;
    for (size_t i = 0; i < ARRAY_LENGTH(degrees); i++) {
        if (degrees[i] < 1 || degrees[i] > 65536)
            return refuse(err, "%s: parallelism: expected degrees of 1 to 65536, found %lld",
                          s->document.path, (long long)degrees[i]);
        if (i < 4) others *= degrees[i];
        if (others > 1 << 30) others = 1 << 30;
    }
    int shards = (int)r->shards;
    if (r->shards == 0 || r->shards > 65536)
        return settings_refuse(s, "parallelism.data_parallel_shard_degree", err,
                               "expected 1 to 65536, or -1 for what is left");
    if (r->shards < 0 && !r->gpus)
        return settings_refuse(s, "parallelism.data_parallel_shard_degree", err,
                               "is what is left of the GPUs: give their number with --gpus");
    if (r->shards < 0 || r->gpus)
        TRY(settings_divide(s->document.path, "--gpus over replicas x tensor x pipeline x context",
                            r->gpus, others, &shards, err));
    if (r->shards > 0 && shards != r->shards)
        return refuse(err, "%s: parallelism: the degrees together are %lld, --gpus %lld",
                      s->document.path, (long long)(others * r->shards), (long long)r->gpus);
    l->data = (int)r->replicas * shards;
    l->expert_tensor = l->expert > 1 && part != l->tensor ? (int)part : 0;
    return OK;
}

// Sharded over the ranks that have different data or parts of it; whole on each replica if only
// that is requested.
static enum status set_sharding(struct run *r, struct settings *s, struct error *err)
{
    struct layout *l = &r->job.layout;
    static const char *const words[] = {"default", "always", "never"};
    int policy = 0;
    while (policy < 3 && strcmp(words[policy], r->reshard)) policy++;
    if (policy == 3)
        return settings_refuse(s, "parallelism.fsdp_reshard_after_forward", err,
                               "expected default, always or never, found \"%.60s\"", r->reshard);
    if (l->data / r->replicas == 1 && l->context == 1) return OK;
    l->zero = policy == 1 || (policy == 0 && l->pipeline == 1) ? 3 : 2;
    if (r->replicas > 1) l->data_shard = l->data / (int)r->replicas;
    return OK;
}

static enum status set_batch(struct run *r, struct settings *s, struct error *err)
{
    struct job *j = &r->job;
    struct layout *l = &j->layout;
    int64_t together;
    int steps;
    if (r->local_batch < 1 || r->local_batch > 1 << 20 || r->micro_batch < 1 ||
        (l->pipeline > 1 && r->micro_batch > r->local_batch))
        return settings_refuse(s, "training.local_batch_size", err,
                               "expected 1 to 2^20, and no less than a micro-batch, found %lld",
                               (long long)r->local_batch);
    together = r->local_batch * l->data;
    j->global_batch = r->global_batch < 0 ? together : r->global_batch;
    l->micro_batch = (int)(l->pipeline > 1 ? r->micro_batch : r->local_batch);
    TRY(settings_divide(s->document.path,
                        "training.global_batch_size over local_batch_size x data ranks",
                        j->global_batch, together, &steps, err));
    if (l->pipeline > 1 && r->local_batch % r->micro_batch)
        return settings_refuse(s, "training.local_batch_size", err,
                               "expected a multiple of the pipeline's micro-batch %lld, found %lld",
                               (long long)r->micro_batch, (long long)r->local_batch);
    if (l->pipeline > 1 && steps > 1)
        said_assume(&s->said,
                    "the pipeline is drained %d times per iteration (global_batch_size over "
                    "local_batch_size x data ranks): a job fills it once",
                    steps);
    return OK;
}

// ---- the pipeline

static enum status set_schedule(struct run *r, struct settings *s, int asked, struct error *err)
{
    const struct torchtitan_schedule *all = torchtitan_schedules, *found = NULL;
    int count = 0;
    while (all[count].name) count++;
    const char **names = TAKE(s->arena, count, const char *);
    for (int i = count - 1; i >= 0; i--) {
        names[i] = all[i].name;
        if (!strcasecmp(names[i], r->schedule)) found = &all[i];
    }
    if (!found)
        return settings_refuse(s, "parallelism.pipeline_parallel_schedule", err,
                               "\"%.60s\" is not a schedule of torch; did you mean %s?",
                               r->schedule, names[name_nearest(r->schedule, names, count)]);
    if (r->csv && *r->csv && asked < 0)
        return settings_refuse(
            s, "parallelism.pipeline_parallel_schedule_csv", err,
            "the order of passes is in \"%.200s\": name the schedule with --schedule", r->csv);
    if (found->use != WRITTEN_BY_NAME && asked < 0)
        said_assume(&s->said, "the schedule %s: the nearest that a job supports is %s", r->schedule,
                    schedule_names[found->kind]);
    r->job.layout.schedule = asked < 0 ? found->kind : asked;
    return OK;
}

static int split_points(const struct settings *s)
{
    return setting_list_length(s, "parallelism.pipeline_parallel_split_points") +
           setting_list_length(s, "experimental.pipeline_parallel_split_points");
}

static enum status set_stages(struct run *r, struct settings *s, struct error *err)
{
    struct layout *l = &r->job.layout;
    const char *parts = "parallelism.module_fqns_per_model_part";
    const struct torchtitan_flavor *flavor = flavor_of(r);
    int64_t blocks = r->layers ? r->layers
                     : flavor  ? flavor->blocks
                               : 0,
            stages = setting_list_length(s, parts), points = split_points(s),
            of_rank = schedule_kinds[l->schedule].virtual_stages;
    if (!stages && points) stages = points + 1;
    if (stages)
        said_assume(&s->said, "the cut into %lld stages is left to the plan", (long long)stages);
    else if (r->layers_of_stage && !blocks)
        return settings_refuse(s, "parallelism.pipeline_parallel_layers_per_stage", err,
                               "counts the model's layers: give their number with --layers");
    else if (r->layers_of_stage)
        stages = (blocks + r->first_less + r->last_less + r->layers_of_stage - 1) /
                 r->layers_of_stage;
    else stages = l->pipeline * (of_rank == 1 ? 1 : 2);
    TRY(settings_divide(s->document.path,
                        "stages (module_fqns_per_model_part, pipeline_parallel_layers_per_stage)",
                        stages, l->pipeline, &l->virtual_stages, err));
    if (of_rank ? l->virtual_stages != of_rank : l->virtual_stages < 2)
        return settings_refuse(s, "parallelism.pipeline_parallel_schedule", err,
                               "%s has %d stages on a rank, found %d", r->schedule,
                               of_rank ? (int)of_rank : 2, l->virtual_stages);
    return OK;
}

// ---- the rest

static enum status set_precision(struct run *r, struct settings *s, struct error *err)
{
    struct job *j = &r->job;
    const struct layout *l = &j->layout;
    const struct setting *text = setting_of(s, "model.converters"); // before 0.2, no list
    const char *words = text ? text->text : NULL;
    bool narrow = !strcmp(r->precision, "bfloat16"), half = !strcmp(r->dtype, "bfloat16"),
         sharded = l->zero > 0, others = l->tensor > 1 || l->pipeline > 1,
         eight = r->fp8_flag || find_in_any_case(words, "float8") ||
                 setting_lists(s, "model.converters", "float8") ||
                 setting_lists(s, "model.converters", "quantize.linear.float8"),
         mx = find_in_any_case(words, "mx") || setting_lists(s, "model.converters", "mx") ||
              setting_lists(s, "model.converters", "quantize.linear.mx");
    if ((!narrow && strcmp(r->precision, "float32")) || (!half && strcmp(r->dtype, "float32")))
        return refuse(err,
                      "%s: training: dtype, mixed_precision_param: expected bfloat16 or float32",
                      s->document.path);
    if (half) j->gradient_bytes_per_value = 2, j->state_bytes_per_value = 4; // both moments'
    others = others && !r->python; // from 0.3 on it is FSDP's, which a single shard has, too
    if (narrow && !half && !sharded && others)
        said_assume(&s->said, "mixed precision: without sharded data or context ranks torchtitan "
                              "disables it with tensor or pipeline parallelism and trains in fp32");
    narrow = half || (narrow && (sharded || !others));
    j->precision = mx ? MXFP8 : eight ? FP8 : narrow ? BF16 : FP32;
    return OK;
}

static enum status set_recompute(struct run *r, struct settings *s, struct error *err)
{
    struct job *j = &r->job;
    bool selective = !strcmp(r->granularity, "selective"), operators = !strcmp(r->method, "op");
    if (!strcmp(r->granularity, "full") || (selective && !operators))
        j->recompute[RECOMPUTE_FULL] = true;
    else if (selective || !strcmp(r->granularity, "memory_budget"))
        j->recompute[RECOMPUTE_SELECTIVE] = true;
    else if (strcmp(r->granularity, "none"))
        return settings_refuse(s, "activation_checkpoint.mode", err,
                               "expected none, selective, full or memory_budget, found \"%.60s\"",
                               r->granularity);
    if (selective && !operators && strcmp(r->method, "1"))
        said_assume(&s->said,
                    "selective_ac_option \"%.40s\": recomputes every N-th layer whole; a stage of "
                    "a plan has none or all of its layers recomputed",
                    r->method);
    if (!strcmp(r->granularity, "memory_budget"))
        said_assume(&s->said, "memory_budget: read as selective recomputation of operators");
    return OK;
}

// Attention that is compiled takes all keys and values of context ranks at once; PyTorch's own, of
// 0.2.2's Llama 3 and Qwen3, also step by step, and in fp32 it is plain products.
static enum status set_attention(struct run *r, struct settings *s, struct error *err)
{
    bool compiled =
             r->python ||
             (r->model && (!strcmp(r->model, "deepseek_v3") || !strcmp(r->model, "gpt_oss"))) ||
             (r->flavor && (strstr(r->flavor, "flex") || strstr(r->flavor, "irope"))),
         round = !compiled && !strcmp(r->rotate, "alltoall");
    if (!round && strcmp(r->rotate, "allgather") && strcmp(r->rotate, "alltoall"))
        return settings_refuse(s, "parallelism.context_parallel_rotate_method", err,
                               "expected allgather or alltoall, found \"%.60s\"", r->rotate);
    if (r->job.layout.context > 1) r->job.context_kind = round ? CONTEXT_RING : CONTEXT_ALL_GATHER;
    r->job.layout.fused_attention = compiled || r->job.precision != FP32;
    return OK;
}

static bool compiles(const struct run *r, const struct settings *s, const char *component)
{
    bool listed = setting_of(s, "compile.components") || setting_of(s, "compile.components[0]");
    return r->compile && (!listed || setting_lists(s, "compile.components", component));
}

static void note_rest(struct settings *s, const struct run *r)
{
    if (r->cpu_offload)
        said_assume(&s->said, "training.enable_cpu_offload: also moves weights and gradients, "
                              "which a job cannot; left out");
    if (r->early_step)
        said_assume(&s->said, "optimizer.early_step_in_backward: gradients that are freed layer by "
                              "layer are counted in full");
    note_model(s, r);
}

// A fork for other models has a section of the model without its name.
static enum status check_section(const struct settings *s, struct error *err)
{
    static const char section[] = "model.";
    const char *own = NULL;
    for (int i = 0; i < s->count; i++)
        if (!strncmp(s->items[i].key, section, sizeof section - 1)) own = s->items[i].key;
    if (!own || setting_of(s, "model.name") || setting_of(s, "model.flavor") ||
        setting_of(s, "training.seq_len"))
        return OK;
    return settings_refuse(s, own, err,
                           "expected model.name, model.flavor or training.seq_len, found none: a "
                           "fork of torchtitan's for models that are not of language");
}

static enum status read_run(struct run *r, struct settings *s, const struct asked *asked,
                            struct error *err)
{
    struct job *j = &r->job;
    struct layout *l = &j->layout;
    TRY(check_section(s, err));
    if (r->model && !strcmp(r->model, "flux"))
        return settings_refuse(s, "model.name", err,
                               "trains a diffusion model; those that are read are of language");
    r->layers = asked->layers;
    r->python = path_ends_with(s->document.path, ".py");
    if (r->micro_batches) {
        int size;
        TRY(settings_divide(s->document.path,
                            "training.batch_size over pipeline_parallel_microbatches",
                            r->local_batch, r->micro_batches, &size, err));
        r->micro_batch = size;
    }
    if (strcmp(r->optimizer, "Adam") && strcmp(r->optimizer, "AdamW"))
        return settings_refuse(s, "optimizer.name", err, "expected Adam or AdamW, found \"%.60s\"",
                               r->optimizer);
    TRY(set_degrees(r, s, err));
    TRY(set_sharding(r, s, err));
    TRY(set_batch(r, s, err));
    if (l->pipeline > 1) TRY(set_schedule(r, s, asked->schedule, err));
    if (l->pipeline > 1) TRY(set_stages(r, s, err));
    TRY(set_precision(r, s, err));
    TRY(set_recompute(r, s, err));
    TRY(set_attention(r, s, err));
    j->trainer = TRAINER_TORCHTITAN;
    j->compiled = compiles(r, s, "model"), j->fused_loss = compiles(r, s, "loss");
    j->gathered_logits &= l->tensor > 1;
    bool scattered = l->sequence_parallel || !setting_of(s, "parallelism.enable_sequence_parallel");
    l->sequence_parallel = l->tensor > 1 && scattered;
    j->chunked_loss = setting_of(s, "loss.chunked");
    j->overlapped_tensor &= l->tensor > 1 && j->compiled;
    j->overlapped_messages = true; // sent without waiting
    l->gradient_sync = SYNC_OVERLAPPED;
    note_rest(s, r);
    return OK;
}

static enum status read_settings(struct settings *s, const struct asked *asked, struct error *err)
{
    const char *path = asked->import.path;
    if (path_ends_with(path, ".py"))
        return titan_read_python(s, path, asked->config, asked->import.arena, err);
    if (path_is_yaml(path)) return titan_read_primus(s, path, asked->import.arena, err);
    return settings_read_toml(s, path, asked->import.arena, err);
}

static const struct importer importer = {.name = "torchtitan",
                                         .framework = FRAMEWORK_TORCHTITAN,
                                         .defaults = &defaults,
                                         .launched = true,
                                         .read = read_settings,
                                         .rows = &torchtitan_rows,
                                         .run = read_run};

static const struct option_row option_rows[] = {
    ASK_GPUS,
    ASK_SET,
    ASK_ARGUMENTS,
    ASK_LAUNCH,
    ASK_IGNORE,
    {"--layers", OPTION_INT, ASK(layers),
     "blocks of the model, if pipeline_parallel_layers_per_stage is set (default: the flavor's)", 1,
     1e6},
    {"--schedule", OPTION_NAME, ASK(schedule),
     "schedule that the order in pipeline_parallel_schedule_csv belongs to",
     .names = schedule_names},
    {"--config", OPTION_TEXT, ASK(config),
     "function of a file in Python that makes the configuration (default: plan, or the only one)"},
};
static const struct asked defaults_asked = ASKED(importer);
const struct command import_torchtitan = {
    .name = "torchtitan",
    .text = "torchtitan TOML or Python, or Primus's YAML for it -> job",
    .usage = "plumbline import torchtitan CONFIG.toml|.py|.yaml|FILE.sh [--gpus N] [-o job.json]",
    READER(option_rows, struct asked, defaults_asked),
};
