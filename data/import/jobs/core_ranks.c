// What the number of GPUs leaves: data ranks, ranks of experts, micro-batches; sharded states.
#include "data/import/jobs/core.h"

#include <stdlib.h>
#include <string.h>

#include "data/base/shipped.h"
#include "data/import/jobs/settings.h"

static enum status divide_gpus(struct run *r, int64_t gpus, struct error *err)
{
    struct layout *l = &r->job.layout;
    int64_t by = (int64_t)l->tensor * l->pipeline * l->context;
    if (by > 0 && gpus % by == 0)
        return settings_divide(r->file, "GPUs over tensor x pipeline x context", gpus, by, &l->data,
                               err);
    return refuse(err,
                  "%s: GPUs over tensor x pipeline x context: expected a multiple of %lld, found "
                  "%lld: give the run's number with --gpus",
                  r->file, (long long)by, (long long)gpus);
}

static enum status check_expert_ranks(const struct run *r, int64_t gpus, struct error *err)
{
    const struct layout *l = &r->job.layout;
    int64_t ranks = layout_expert_ranks(l);
    if (l->expert < 2) return OK;
    if (ranks % l->expert == 0) return OK;
    return refuse(err,
                  "%s: --expert-model-parallel-size %d: expected a divisor of the %lld ranks that "
                  "%lld GPUs leave it (over the pipeline%s): give the run's number with --gpus",
                  r->file, l->expert, (long long)ranks, (long long)gpus,
                  l->expert_tensor ? "" : " and tensor");
}

// Parts of the data ranks one behind the other, each with all states: their number is stated, or
// how many ranks are one.
enum status core_set_groups(struct run *r, struct error *err)
{
    struct layout *l = &r->job.layout;
    bool counted = r->shards <= 0;
    int64_t ranks = counted ? l->data : (int64_t)l->data * l->context,
            stated = counted ? r->instances : r->shards;
    if (stated <= 1 && counted) return OK;
    if (!l->zero)
        return refuse(err,
                      "%s: groups of data ranks that share states: expected a sharded optimizer "
                      "next to them (--use-distributed-optimizer, ZeRO)",
                      r->file);
    bool mics = !counted && l->zero == 3; // without tensor ranks
    if (stated > ranks || ranks % stated || (!counted && stated % l->context) ||
        (mics && l->tensor > 1))
        return refuse(err,
                      "%s: %lld %s: expected a divisor of the %lld data ranks: give the run's "
                      "number of GPUs with --gpus",
                      r->file, (long long)stated,
                      counted ? "groups of ranks that share states (Megatron's "
                                "--num-distributed-optimizer-instances)"
                      : mics  ? "ranks in a group that shares states, without tensor ranks"
                              : "ranks in a group that shares states",
                      (long long)ranks);
    if (stated < ranks || counted)
        l->data_shard = (int)(counted ? ranks / stated : stated / l->context);
    return OK;
}

enum status core_ask(const struct run *r, bool made, struct error *err)
{
    bool sequence = r->wants_job && !r->job.sequence,
         batch = r->wants_job && !r->job.layout.micro_batch, words = made && !r->shape.vocabulary,
         gpus = r->wants_job && !r->gpus && !r->processes && (sequence || batch || words);
    const struct settings_lack of[] = {{words, "--vocab-size (the tokenizer's)", "--vocabulary"},
                                       {sequence, "--seq-length", "--sequence"},
                                       {batch, "--micro-batch-size", "--micro-batch"},
                                       {gpus, "the number of GPUs", "--gpus"}};
    return settings_ask(r->file, of, ARRAY_LENGTH(of), err);
}

enum status core_ranks(struct run *r, struct error *err)
{
    struct layout *l = &r->job.layout;
    int64_t gpus = r->gpus ? r->gpus : r->processes * (r->nodes ? r->nodes : 1);
    if (!gpus)
        return refuse(
            err,
            "%s: the number of GPUs is missing (--nproc_per_node, --nnodes): give it with --gpus",
            r->file);
    bool experts = r->experts.experts || (!r->wants_model && l->expert > 1);
    TRY(divide_gpus(r, gpus, err));
    l->expert_tensor = experts && r->expert_tensor != l->tensor ? (int)r->expert_tensor : 0;
    if (l->expert_tensor && l->tensor % l->expert_tensor)
        return refuse(err,
                      "%s: --expert-tensor-parallel-size %d: expected a divisor of "
                      "--tensor-model-parallel-size, %d: experts over more ranks are not planned: "
                      "write only the model (-o, without --job)",
                      r->file, l->expert_tensor, l->tensor);
    TRY(core_set_groups(r, err));
    return check_expert_ranks(r, gpus, err);
}

enum status core_batch(struct run *r, int *micro_batches, struct error *err)
{
    struct job *j = &r->job;
    const struct layout *l = &j->layout;
    int64_t together = (int64_t)l->micro_batch * l->data;
    if (!j->global_batch) j->global_batch = together;
    if (together > 0 && j->global_batch % together)
        return refuse(err,
                      "%s: --global-batch-size: expected a multiple of %lld, found %lld: %d data "
                      "ranks with micro-batches of %d; give the run's number of GPUs with --gpus",
                      r->file, (long long)together, (long long)j->global_batch, l->data,
                      l->micro_batch);
    return settings_divide(r->file, "--global-batch-size", j->global_batch, together, micro_batches,
                           err);
}

void core_module_list(struct run *r, const struct settings *s, const struct setting_rows *rows)
{
    for (int k = 0; rows->sections[k] && r->module_list; k++) {
        const char *key = arena_print(s->arena, "%s.recompute_modules", rows->sections[k]);
        for (int i = 0; i < setting_list_length(s, key); i++) {
            const struct setting *at = setting_of(s, arena_print(s->arena, "%s[%d]", key, i));
            r->module_list = i ? arena_print(s->arena, "%s, %s", r->module_list, at->text)
                               : at->text;
        }
    }
}

void core_modules(struct run *r, struct settings *s)
{
    static const char *const unknown[] = {"shared_experts", "mhc"};
    const char **all = r->modules ? &r->modules : &r->module_list, *at;
    for (size_t i = 0; i < ARRAY_LENGTH(unknown); i++) {
        size_t length = strlen(unknown[i]);
        if (!*all || !(at = strstr(*all, unknown[i]))) continue;
        *all = arena_print(r->arena, "%.*s%s", (int)(at - *all), *all, at + length);
        said_assume(&s->said, "recompute_modules %s: what it would make again is kept", unknown[i]);
    }
}

enum status core_sharding(struct run *r, struct settings *s, struct error *err)
{
    static const char *const strategies[] = {"no_shard", "optim", "optim_grads",
                                             "optim_grads_params"};
    size_t stage = 0;
    while (stage < ARRAY_LENGTH(strategies) &&
           strcmp(r->sharding ? r->sharding : "", strategies[stage]) != 0)
        stage++;
    if (r->sharding && stage == ARRAY_LENGTH(strategies))
        return refuse(
            err,
            "%s: data-parallel-sharding-strategy: expected no_shard, optim, optim_grads or "
            "optim_grads_params, found \"%.40s\"",
            r->file, r->sharding);
    if (r->torch_fsdp) r->job.layout.zero = 3;
    else if (r->fsdp && r->sharding) r->job.layout.zero = (int)stage;
    else if (r->fsdp)
        said_assume(&s->said,
                    "Megatron-FSDP without data-parallel-sharding-strategy shards nothing more");
    return OK;
}

// Micro-batches as stated, or the largest smaller ones that divide a replica's sequences.
void core_fit_micro_batch(struct run *r, struct settings *s)
{
    struct layout *l = &r->job.layout;
    int64_t ranks = (int64_t)l->tensor * l->pipeline * l->context,
            gpus = r->gpus ? r->gpus : r->processes * (r->nodes ? r->nodes : 1);
    if (ranks < 1 || gpus < ranks || gpus % ranks || r->job.global_batch % (gpus / ranks)) return;
    int64_t own = r->job.global_batch / (gpus / ranks);
    int stated = l->micro_batch;
    while (own > 0 && l->micro_batch > 1 && own % l->micro_batch) l->micro_batch--;
    if (l->micro_batch != stated)
        said_assume(&s->said, "micro-batches of %d sequences, not %d: %lld are a replica's",
                    l->micro_batch, stated, (long long)own);
}

void core_find_known(struct run *r, struct settings *s)
{
    struct error ignored = {OK, ""};
    const char *path;
    struct model *m = TAKE(s->arena, 1, struct model);
    if (!s->model || r->shape.hidden || r->shape.heads ||
        shipped_find(&path, "models", s->model, s->arena, &ignored) != OK ||
        model_load(m, path, s->arena, &ignored) != OK)
        return;
    int64_t layers = 0;
    for (int i = 0; i < m->run_count; i++) {
        const struct layer_run *run = &m->runs[i];
        if (run->kind != LAYER_EMBEDDING && run->kind != LAYER_HEAD && !run->mtp)
            layers += run->count;
        if (run->kind == LAYER_MOE && !r->experts.experts) r->experts = run->experts;
    }
    if (r->layers && r->layers != layers) return;
    r->layers = layers, r->known = m;
}

void core_find_model(struct run *r, struct settings *s)
{
    static const char *const keys[] = {"hf-checkpoint", "model", "hf-model-path", "load"};
    for (size_t i = 0; i < ARRAY_LENGTH(keys) && !r->layers && r->wants_model && !r->known; i++) {
        const struct setting *at = setting_of(s, keys[i]);
        size_t length = at && at->text ? strlen(at->text) : 0;
        while (length && at->text[length - 1] == '/') length--;
        const char *name = length ? arena_print(s->arena, "%.*s", (int)length, at->text) : "",
                   *slash = strrchr(name, '/');
        s->model = arena_print(s->arena, "hub/%s", slash ? slash + 1 : name);
        core_find_known(r, s);
        if (r->known)
            said_assume(&s->said, "the model is the shipped %s, as --%s %.80s says", r->known->name,
                        keys[i], name);
    }
}

void core_vocabulary(struct run *r, struct settings *s)
{
    static const char *const keys[] = {
        "tokenizer-model",      "tokenizer-name-or-path",    "hf-checkpoint",
        "tokenizer-type",       "tokenizer.tokenizer_model", "tokenizer.tokenizer_type",
        "patch-tokenizer-type", "model.tokenizer.type"};
    bool unnamed = true;
    for (size_t i = 0; r->wants_model && !r->shape.vocabulary && i < ARRAY_LENGTH(keys); i++) {
        const struct setting *at = setting_of(s, keys[i]);
        r->shape.vocabulary = at && at->text ? tokenizer_vocabulary(at->text) : 0;
        if (r->shape.vocabulary)
            said_assume(&s->said, "a vocabulary of %lld, as %s %.80s has it (--vocabulary)",
                        (long long)r->shape.vocabulary, keys[i], at->text);
        if (at) unnamed = false;
    }
    // NVIDIA/Megatron-LM d98e8a64 and before, args_defaults of these programs.
    static const char *const programs[] = {"pretrain_gpt", "finetune_gpt", "pretrain_hybrid"};
    for (size_t i = 0; i < ARRAY_LENGTH(programs) && unnamed && r->wants_model; i++) {
        if (r->shape.vocabulary || !s->program || !strstr(s->program, programs[i])) continue;
        r->shape.vocabulary = tokenizer_vocabulary("GPT2BPETokenizer");
        said_assume(&s->said,
                    "a vocabulary of %lld, as %.80s has it without tokenizer-type (--vocabulary)",
                    (long long)r->shape.vocabulary, s->program);
    }
}

int core_stage(struct run *r, struct settings *s, const char *name)
{
    enum { FOLDERS_MOST = 4 };
    const char *slash = strrchr(r->file, '/'),
               *from = slash ? arena_print(r->arena, "%.*s/", (int)(slash - r->file), r->file) : "";
    if (!strstr(name, ".json") || *name == '/') return -1;
    for (int up = 0; up < FOLDERS_MOST; up++, from = arena_print(r->arena, "%s../", from)) {
        struct settings own;
        struct error ignored = {OK, ""};
        const char *path = arena_print(r->arena, "%s%s", from, name);
        if (settings_read_json(&own, path, r->arena, &ignored) != OK) continue;
        const struct setting *stage = setting_of(&own, "zero_optimization.stage"),
                             *place =
                                 setting_of(&own, "zero_optimization.offload_optimizer.device");
        const struct setting *weights = setting_of(&own, "zero_optimization.offload_param.device");
        if (weights && weights->text && strcmp(weights->text, "none") != 0)
            said_assume(&s->said, "offload_param: weights stay on the GPU");
        const char *text = stage && stage->text ? stage->text : "0";
        double mics = settings_number(&own, "zero_optimization.mics_shard_size");
        if (mics > 1 && mics < 1e6 && *text == '3') r->shards = (int64_t)mics;
        if (settings_number(&own, "zero_optimization.zero_hpz_partition_size") > 1)
            said_assume(&s->said, "zero_hpz_partition_size: no second copy of the weights is kept");
        if (setting_of(&own, "zero_optimization") || *text < '0' || *text > '3' || text[1])
            return -1;
        r->job.layout.offload_optimizer |= place && place->text && strcmp(place->text, "none") != 0;
        said_assume(&s->said, "ZeRO %s%s, as %.80s says", text,
                    r->job.layout.offload_optimizer ? " with the optimizer on the host" : "", path);
        return *text - '0';
    }
    return -1;
}

void core_say_optimizer(const struct run *r, struct settings *s)
{
    struct job any = r->job;
    bool rests = r->momentum && atof(r->momentum) == 0;
    const char *keeps =
        optimizer_set(&any, r->optimizer, &(struct optimizer_way){.momentum = !rests});
    if (keeps && any.adam) said_assume(&s->said, "the optimizer %.40s: %s", r->optimizer, keeps);
}
