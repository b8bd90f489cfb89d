// A configuration of torchtitan from 0.3 on, in Python (torchtitan/trainer.py, config/configs.py at
// b5bcd76c), in the keys of 0.2's TOML, by which both are read.
#include <stdlib.h>
#include <string.h>

#include "data/import/jobs/settings.h"

static enum status set_model(struct settings *s, struct error *err)
{
    static const struct {
        const char *class, *converter;
    } known[] = {{"Float8LinearConverter", "float8"},
                 {"MXFP8LinearConverter", "mx"},
                 {"Float8GroupedExpertsConverter", "float8"},
                 {"MXFP8GroupedExpertsConverter", "mx"}};
    settings_rename(s, "model_spec[0]", "model.flavor");
    const char *flavor = settings_text(s, "model.flavor");
    if (flavor && *flavor == PYTHON_UNKNOWN) settings_replace(s, "model.flavor", NULL, 0);
    for (int i = 0; i < setting_list_length(s, "model_spec.converters"); i++) {
        const char *key = arena_print(s->arena, "model_spec.converters[%d]", i),
                   *class = settings_text(s, key);
        size_t k = 0;
        while (class && k < ARRAY_LENGTH(known) && strcmp(known[k].class, class)) k++;
        if (!class || k == ARRAY_LENGTH(known))
            return settings_refuse(s, key, err,
                                   "%.60s: expected Float8LinearConverter or another to 8 bits: a "
                                   "job has no precision for it",
                                   class ? class : "not known");
        settings_replace(s, arena_print(s->arena, "model.converters[%d]", i), known[k].converter,
                         0);
    }
    return OK;
}

// The policy's class; torchtitan's own, if nothing is stated, is of single operators.
static void set_checkpointing(struct settings *s)
{
    const struct setting *at = setting_of(s, "activation_checkpoint");
    const char *class = at ? at->text : "SelectiveAC";
    bool full = class && !strcmp(class, "FullAC"), budget = class && strstr(class, "Budget");
    settings_replace(s, "activation_checkpoint.mode",
                     !class   ? "none"
                     : full   ? "full"
                     : budget ? "memory_budget"
                              : "selective",
                     0);
    if (class && !full && !budget)
        settings_replace(s, "activation_checkpoint.selective_ac_option", "op", 0);
}

static int64_t count_of(const struct settings *s, const char *key)
{
    const char *text = settings_text(s, key);
    return text ? strtoll(text, NULL, 10) : 0;
}

static void put_count(struct settings *s, const char *key, int64_t count)
{
    settings_replace(s, key, arena_print(s->arena, "%lld", (long long)count), 0);
}

// Later sources count tokens: of a micro-batch, and of a step.
static enum status set_tokens(struct settings *s, struct error *err)
{
    static const char each[] = "training.num_tokens_per_microbatch_per_dp_rank",
                      step[] = "training.num_tokens_per_train_step";
    int64_t tokens = count_of(s, each), of_step = count_of(s, step), steps,
            sequence = count_of(s, "training.max_context_length");
    if (!tokens || setting_of(s, "training.local_batch_size")) return OK;
    if (sequence < 1) sequence = 2048; // TrainingConfig's
    if (tokens % sequence || of_step % sequence)
        return settings_refuse(s, tokens % sequence ? each : step, err,
                               "expected a multiple of max_context_length %lld (packed shorter "
                               "sequences: state the sequence that they make up)",
                               (long long)sequence);
    steps = count_of(s, "parallelism.num_pp_microbatches");
    put_count(s, "training.seq_len", sequence);
    put_count(s, "training.local_batch_size", tokens / sequence * (steps > 1 ? steps : 1));
    put_count(s, "parallelism.pipeline_parallel_microbatch_size", tokens / sequence);
    if (of_step > 0) put_count(s, "training.global_batch_size", of_step / sequence);
    return OK;
}

// A class on top of torchtitan's trainer.
static enum status check_trainer(struct settings *s, struct error *err)
{
    const char *name = s->program;
    if (!name) return OK;
    if (strstr(name, "Flux") || strstr(name, "Diffusion"))
        return refuse(err,
                      "%s: %.60s trains a diffusion model; those that are read are of language",
                      s->document.path, name);
    said_assume(&s->said, "%.60s: what it does beyond torchtitan's Trainer is left out", name);
    return OK;
}

enum status titan_read_python(struct settings *s, const char *path, const char *config,
                              struct arena *arena, struct error *err)
{
    // read: of other keys it does not matter that they are not known
    static const char *const read[] = {"**",
                                       "parallelism",
                                       "activation_checkpoint",
                                       "compile",
                                       "training.local_batch_size",
                                       "training.global_batch_size",
                                       "training.seq_len",
                                       "training.max_context_length",
                                       "training.dtype",
                                       "training.mixed_precision_param",
                                       "training.mixed_precision_reduce",
                                       "training.enable_cpu_offload",
                                       "training.num_tokens_per_microbatch_per_dp_rank",
                                       "training.num_tokens_per_train_step"};
    TRY(settings_read_python(s, path, config, arena, err));
    for (size_t i = 0; i < ARRAY_LENGTH(read); i++) TRY(python_check_known(s, read[i], err));
    TRY(check_trainer(s, err));
    TRY(set_model(s, err));
    set_checkpointing(s);
    TRY(set_tokens(s, err));
    const char *optimizer = settings_text(s, "optimizer");
    if (optimizer && !strstr(optimizer, "adam") && !strstr(optimizer, "OptimizersContainer"))
        settings_replace(s, "optimizer.name", optimizer, 0);
    const char *loss = settings_text(s, "loss"),
               *graphs = settings_text(s, "training.disable_cuda_graphs");
    if (loss && !strncmp(loss, "Chunked", strlen("Chunked")))
        settings_replace(s, "loss.chunked", "true", 0);
    if (!graphs || strcmp(graphs, "true"))
        said_assume(&s->said, "training.disable_cuda_graphs is not set: what its graphs replay is "
                              "launched by the host here");
    return OK;
}

// ---- Primus's YAML with modules.pre_trainer.framework torchtitan: the keys of TOML's are behind
// "overrides"; the model and its converters are in a file of their own

static const char module[] = "modules.pre_trainer.";
static const char overrides[] = "modules.pre_trainer.overrides.";

static const char *stated(const struct settings *yaml, const char *key)
{
    const struct setting *at = setting_of(yaml, arena_print(yaml->arena, "%s%s", module, key));
    return at ? at->text : NULL;
}

static enum status note_model_file(struct settings *s, const char *model, struct error *err)
{
    struct settings_source end = {.s = s};
    if (!model) return OK;
    said_assume(&s->said, "the model is in %.80s, another file: use plumbline models or import hf",
                model);
    if (!strstr(model, "-fp8") || setting_list_length(s, "model.converters")) return OK;
    said_assume(&s->said, "%.80s converts linear layers to fp8, as its name says", model);
    return source_add(&end, "model.converters[0]", "quantize.linear.float8", err);
}

enum status titan_read_primus(struct settings *s, const char *path, struct arena *arena,
                              struct error *err)
{
    static const char kernels[] = "primus_turbo.";
    struct settings yaml;
    TRY(settings_read_yaml_raw(&yaml, path, arena, err));
    const char *framework = stated(&yaml, "framework"), *model = stated(&yaml, "model"),
               *turbo = NULL;
    if (!framework || strcmp(framework, "torchtitan"))
        return refuse(
            err,
            "%s: expected torchtitan's TOML or Python, or Primus's YAML with %sframework "
            "torchtitan: other YAML is read by import megatron, nemo, nanotron or trainer",
            path, module);
    *s = yaml, s->count = 0;
    for (int i = 0; i < yaml.count; i++) {
        struct setting at = yaml.items[i];
        if (strncmp(at.key, overrides, sizeof overrides - 1)) continue;
        if (at.text && strstr(at.text, "${"))
            return refuse(
                err, "%s: line %d: %.80s: is set by the environment, \"%.60s\": write its value",
                path, at.line, at.key, at.text);
        at.key += sizeof overrides - 1;
        if (strncmp(at.key, kernels, sizeof kernels - 1)) s->items[s->count++] = at;
        else if (at.text && !strcmp(at.text, "true")) turbo = at.key;
    }
    if (turbo) said_assume(&s->said, "%s: kernels are torchtitan's own, not Primus-Turbo's", turbo);
    return note_model_file(s, model, err);
}
