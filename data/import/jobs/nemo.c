// A configuration of NeMo 1, of NeMo 2's command line or of Megatron Bridge (run_config.yaml,
// overrides) as a run: what differs from Megatron's flags.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/base/shipped.h"
#include "data/frameworks/models.h"
#include "data/import/jobs/core.h"
#include "data/import/jobs/importer.h"
#include "data/import/jobs/launch.h"

static enum status set_activation(struct run *r, struct settings *s, struct error *err)
{
    const char *name = r->activation, *dot = r->target ? strrchr(r->target, '.') : NULL;
    if (r->target) name = dot ? dot + 1 : r->target;
    if (!name) name = "gelu";
    if (!strncmp(name, "fast-", 5)) name += 5;
    r->quick_geglu = !strcasecmp(name, "quick_gelu") && r->shape.gated_ffn;
    r->unfused_gelu = r->quick_geglu && r->job.unfused[UNFUSED_ACTIVATION];
    if (r->quick_geglu) return r->shape.activation = "silu", OK; // with clamps, of gpt-oss
    for (const struct activation_name *a = nemo_activations; a->name; a++) {
        if (strcasecmp(name, a->name)) continue;
        r->shape.activation = a->activation, r->shape.gated_ffn |= a->gated;
        // As with Megatron's --swiglu, where the width has another default if it is not stated.
        r->swiglu = r->shape.gated_ffn && !strcmp(a->activation, "silu");
        return OK;
    }
    return settings_refuse(s, r->target ? "model.activation_func" : "model.activation", err,
                           "there is no activation \"%.60s\"", name);
}

static void set_precision(struct run *r)
{
    const char *words = r->precision ? r->precision : "", *reduced = r->gradients;
    bool eight = r->fp8 && strcasecmp(r->fp8, "false") && strcasecmp(r->fp8, "none");
    bool neuron = !strncmp(words, "mixed_precision", 15) || !strcmp(words, "autocast");
    r->bf16 = r->bf16 || strstr(words, "bf16") || neuron;
    r->fp16 = !r->bf16 && (r->fp16 || strstr(words, "fp16") || !strncmp(words, "16", 2));
    r->fp8 = eight || strstr(words, "fp8") ? "hybrid" : NULL;
    if (strstr(words, "mxfp8")) r->fp8_recipe = "mxfp8";
    if (strstr(words, "subchannel")) r->fp8_recipe = "blockwise";
    if (strstr(words, "nvfp4")) r->fp4 = "e2m1";
    // The recipes fp16_mixed reduce gradients in fp16, those of bf16 in fp32.
    bool narrow = reduced ? !strcasecmp(reduced, "false") || strstr(reduced, "16") : r->fp16;
    r->gradients_in_bf16 = r->bf16 && narrow;
    r->gradients_in_fp32 = !narrow;
}

static void set_optimizer(struct run *r, struct settings *s)
{
    const char *name = r->optimizer;
    if (strstr(name, "distributed") || r->distributed) r->job.layout.zero = 1;
    if (strstr(name, "adam") || !strcmp(name, "mcore_distributed_optim")) r->optimizer = "adam";
    if (!strcmp(name, "sgd") && !r->momentum) r->momentum = "0"; // torch's, as exports write it
    core_say_optimizer(r, s);
}

enum { ELEMENT_MAX = 20 }; // characters

// A list in the model's section as Python writes it; a number stays.
static void set_list(const char **to, const struct settings *s, const char *name)
{
    for (int k = 0; nemo_rows.sections[k]; k++) {
        const char *key = arena_print(s->arena, "%s.%s", nemo_rows.sections[k], name);
        int count = setting_list_length(s, key);
        char *list = TAKE(s->arena, (size_t)count * (ELEMENT_MAX + 1) + 2, char), *end = list;
        for (int i = 0; i < count; i++) {
            const struct setting *at = setting_of(s, arena_print(s->arena, "%s[%d]", key, i));
            end +=
                sprintf(end, "%c%.*s", i ? ',' : '[', ELEMENT_MAX, at && at->text ? at->text : "");
        }
        if (count) *end = ']', *to = list;
    }
}

static bool is_set(const char *text)
{
    return text && *text && strcasecmp(text, "null") != 0 && strcasecmp(text, "none") != 0;
}

// Which layers have what.
static void set_layers(struct run *r, const struct settings *s)
{
    set_list(&r->frequencies, s, "moe_layer_freq");
    set_list(&r->window, s, "window_size");
    set_list(&r->windowed, s, "window_attn_skip_freq");
    set_list(&r->linear_layers, s, "linear_attention_freq");
    if (!is_set(r->window)) r->window = NULL;
    if (!is_set(r->windowed)) r->windowed = NULL;
    if (!is_set(r->variant)) r->variant = NULL;
}

// Its member by the number, as Bridge writes it, or by its name.
static void set_backend(struct run *r, const struct settings *s)
{
    static const char *const names[] = {"auto", "flash", "fused", "unfused", "local"};
    static const char own[] = "AttnBackend.";
    for (int k = 0; nemo_rows.sections[k]; k++) {
        const struct setting *at = setting_of(
            s, arena_print(s->arena, "%s.attention_backend._args_[0]", nemo_rows.sections[k]));
        int number = at && at->text ? atoi(at->text) : 0;
        if (number > 0 && number < (int)ARRAY_LENGTH(names)) r->backend = names[number];
    }
    if (r->backend && !strncmp(r->backend, own, sizeof own - 1)) r->backend += sizeof own - 1;
}

// As in trainer.precision.
static const char *const precision_words[] = {[FP32] = "32",
                                              [FP16] = "16",
                                              [BF16] = "bf16",
                                              [FP8] = "bf16 fp8",
                                              [FP8_BLOCK] = "bf16 fp8 subchannel",
                                              [MXFP8] = "bf16 mxfp8",
                                              [NVFP4] = "bf16 nvfp4"};

// The length used in training; the model may be made for more.
static void set_sequence(struct run *r, struct settings *s, int64_t asked)
{
    int64_t data = asked ? asked : r->data_sequence, *to = &r->job.sequence;
    if (!r->positions) r->positions = *to;
    if (data && *to && data != *to)
        said_assume(
            &s->said,
            "sequences of %lld tokens in the data, of %lld in the model: the data's are used",
            (long long)data, (long long)*to);
    if (data) *to = data;
}

// The model whose layers Megatron Bridge has in a class of their own. Others of the class have
// such layers in other dimensions, which nothing here reads.
static enum status find_provided(struct run *r, struct settings *s, const struct asked *asked,
                                 struct error *err)
{
    struct error ignored = {OK, ""};
    const struct known_model *known = known_provided(r->provider, r->layers, r->shape.hidden),
                             *other = known_provider(r->provider);
    const char *path;
    struct model *m = TAKE(s->arena, 1, struct model);
    if (!other || (!known && !asked->model_path)) return OK;
    if (!known)
        return refuse(err,
                      "%s: model._target_: %s has layers of its own, which are read as %s's alone: "
                      "expected num_layers %d and hidden_size %lld, found %lld and %lld",
                      r->file, r->provider, other->shipped, other->blocks, (long long)other->hidden,
                      (long long)r->layers, (long long)r->shape.hidden);
    if (shipped_find(&path, "models", known->shipped, s->arena, &ignored) == OK &&
        model_load(m, path, s->arena, &ignored) == OK)
        r->known = m;
    return OK;
}

static enum status set_run(struct run *r, struct settings *s, const struct asked *asked,
                           struct error *err)
{
    core_find_known(r, s);
    if (!r->known) TRY(find_provided(r, s, asked, err));
    settings_take_slurm(r, s);
    if (asked->vocabulary) r->shape.vocabulary = asked->vocabulary;
    if (!r->known) core_vocabulary(r, s);
    if (asked->micro_batch) r->job.layout.micro_batch = (int)asked->micro_batch;
    if (asked->precision >= 0)
        r->precision = precision_words[asked->precision], r->bf16 = r->fp16 = false;
    r->grouped = r->groups > 0 && !r->latent;
    if (r->latent || r->groups == r->shape.heads) r->groups = 0, r->grouped = false;
    if (r->stages_of_rank == 1) r->stages_of_rank = 0;
    if (!r->padded) r->padding = 1;
    set_sequence(r, s, asked->sequence);
    set_layers(r, s);
    set_backend(r, s);
    if (!r->experts.experts) r->experts.shared_ffn = 0, r->frequencies = NULL;
    if (!r->granularity || !strcasecmp(r->granularity, "none"))
        r->granularity = NULL, r->recomputed = 0;
    core_module_list(r, s, &nemo_rows);
    core_modules(r, s);
    if (r->precision && !strcasecmp(r->precision, "manual"))
        return settings_refuse(s, "precision.type", err,
                               "manual is not read: expected mixed_precision, autocast or bf16SR");
    set_precision(r);
    set_optimizer(r, s);
    settings_take_offload(r, s);
    if (r->fsdp && !r->sharding) {
        r->sharding = "optim_grads_params";
        said_assume(&s->said, "Megatron-FSDP shards all states, as most recipes have it");
    }
    TRY(core_sharding(r, s, err));
    return set_activation(r, s, err);
}

// ---- what is missing

static enum status check_sizes(const struct run *r, const struct asked *asked, struct error *err)
{
    const struct shape *s = &r->shape;
    if (asked->model_path && !r->known && (!r->layers || !s->hidden || !s->heads))
        return refuse(
            err,
            "%s: model: expected num_layers, hidden_size and num_attention_heads, found no "
            "%s: write only the job (--job, without -o), and use a model from plumbline "
            "models",
            r->file,
            !r->layers   ? "num_layers"
            : !s->hidden ? "hidden_size"
                         : "num_attention_heads");
    const struct settings_lack of[] = {
        {asked->model_path && !r->known && !s->vocabulary, "vocab_size (the tokenizer's)",
         "--vocabulary"},
        {!r->job.sequence, "the sequence length (seq_length)", "--sequence"},
        {!r->job.layout.micro_batch, "micro_batch_size", "--micro-batch"},
        {asked->job_path && !asked->gpus && !r->processes,
         "the number of GPUs (trainer.devices, num_nodes)", "--gpus"}};
    return settings_ask(r->file, of, ARRAY_LENGTH(of), err);
}

// Errors of Megatron's flags, with the names used in the file; "with --gpus" is an option.
static enum status in_own_names(enum status status, const char *file, struct error *err)
{
    size_t length = strlen(file);
    char *to = err->text + (status != OK && !strncmp(err->text, file, length) ? length : 0);
    if (status == OK) return OK;
    for (const char *from = to; *from;) {
        bool flag = !strncmp(from, "--", 2) && islower((unsigned char)from[2]) &&
                    (to < err->text + 5 || strncmp(to - 5, "with ", 5) != 0);
        from += flag ? 2 : 0;
        for (; flag && (islower((unsigned char)*from) || *from == '-'); from++)
            *to++ = *from == '-' ? '_' : *from;
        if (!flag) *to++ = *from++;
    }
    *to = '\0';
    return status;
}

static enum status make_job(struct run *r, struct error *err)
{
    return in_own_names(core_job(r, err), r->file, err);
}

static enum status make_model(struct model *m, const struct run *r, struct arena *arena,
                              struct error *err)
{
    if (!r->known) TRY(in_own_names(core_check(r, err), r->file, err));
    return in_own_names(core_model(m, r, arena, err), r->file, err);
}

static enum status read_run(struct run *r, struct settings *s, const struct asked *asked,
                            struct error *err)
{
    const char *way = r->adapters.way;
    TRY(set_run(r, s, asked, err));
    if (!r->precision && !r->bf16 && !r->fp16)
        said_assume(
            &s->said,
            "the precision is missing: fp32 is assumed; recipes use bf16 (--precision bf16)");
    if (asked->job_path && !asked->gpus && r->processes && !r->nodes)
        said_assume(&s->said, "one node of %lld GPUs, as num_nodes is not stated (--gpus)",
                    (long long)r->processes);
    // NeMo 1's sections of schemes stand whether one is taken or not.
    r->adapters.on = !setting_of(s, "model.peft.lora_tuning.adapter_dim") && r->adapters.rank > 0;
    adapters_default(r, s, 32, way && strstr(way, "canonical") ? "all" : ADAPTED_BY_CORE);
    return check_sizes(r, asked, err);
}

static enum status read_settings(struct settings *s, const struct asked *asked, struct error *err)
{
    const char *path = asked->import.path, *dot = strrchr(path, '.');
    const struct launch_asked of = {
        .set = asked->set, .arguments = asked->arguments, .launch = asked->launch};
    if (dot && (!strcmp(dot, ".sh") || !strcmp(dot, ".slurm") || !strcmp(dot, ".sbatch")))
        return launch_read_overrides(s, path, &of, asked->import.arena, err);
    TRY(settings_read_yaml(s, path, asked->import.arena, err));
    launch_take_recipe(s);
    return OK;
}

static const struct importer importer = {
    .name = "nemo",
    .framework = FRAMEWORK_NEMO,
    .defaults = &megatron_defaults,
    .not_python = "recipes in Python are not read; write theirs as YAML (config.to_yaml(...), or "
                  "run_config.yaml of a checkpoint)",
    .read = read_settings,
    .rows = &nemo_rows,
    .run = read_run,
    .job = make_job,
    .model = make_model};

static const struct option_row option_rows[] = {
    ASK_JOB,         ASK_GPUS,      ASK_IGNORE, ASK_VOCABULARY, ASK_SEQUENCE,
    ASK_MICRO_BATCH, ASK_PRECISION, ASK_SET,    ASK_ARGUMENTS,  ASK_LAUNCH,
};
static const struct asked defaults_asked = ASKED(importer);
const struct command import_nemo = {
    .name = "nemo",
    .text = "NeMo or Megatron Bridge YAML, or overrides in a script -> model and job",
    .usage = "plumbline import nemo CONFIG.yaml [-o model.json] [--job job.json]",
    READER(option_rows, struct asked, defaults_asked),
};
