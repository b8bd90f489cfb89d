// Flags of Megatron-LM and of programs built on it as a run.
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/base/names.h"
#include "data/import/jobs/core.h"
#include "data/import/jobs/importer.h"
#include "data/import/jobs/launch.h"

// The words behind a flag up to the next flag; NULL: it is not in the text.
static const char *words_of(const char *text, const char *flag, struct arena *arena)
{
    const char *at = strstr(text, flag), *end;
    if (!at) return NULL;
    at += strlen(flag), at += strspn(at, " ");
    end = strstr(at, " --");
    return arena_print(arena, "%.*s", (int)(end ? end - at : (long)strlen(at)), at);
}

// ---- names of older versions and of forks

static bool is(const char *text, const char *word) { return text && !strcmp(text, word); }

static enum status set_positions(struct run *r, struct settings *s, struct error *err)
{
    static const char *const known[] = {"learned_absolute", "rope", "yarn", "none", NULL};
    const char *type = r->position_type;
    int i = 0;
    if (r->rotary_flag || is(type, "mrope") || is(type, "rotary")) r->position_type = "rope";
    else if (is(type, "alibi")) r->position_type = "none";
    else if (r->no_positions && is(type, "learned_absolute")) r->position_type = "none";
    if (is(type, "alibi")) said_assume(&s->said, "ALiBi's biases of scores take no time");
    while (known[i] && strcmp(known[i], r->position_type) != 0) i++;
    if (known[i] || !r->wants_model) return OK;
    return settings_refuse(
        s, "position-embedding-type", err,
        "expected learned_absolute, rope, yarn, mrope, alibi or none, found \"%.40s\"", type);
}

// As the programs built on it state which layers have experts: the last of every few
// (Megatron-DeepSpeed: 2 unless told), or all but the first.
static void set_frequencies(struct run *r)
{
    int64_t every = r->expert_interval ? r->expert_interval : r->deepspeed ? 2 : 1;
    if (is(r->frequencies, "-1")) r->frequencies = NULL;
    if (r->dense_first > 0 && r->dense_first < r->layers &&
        (!r->frequencies || is(r->frequencies, "1")))
        r->frequencies = arena_print(r->arena, "[0]*%lld+[1]*%lld", (long long)r->dense_first,
                                     (long long)(r->layers - r->dense_first));
    else if (every > 1 && every <= r->layers && !r->frequencies)
        r->frequencies = arena_print(
            r->arena, "([0]*%lld+[1]*1)*%lld%s", (long long)every - 1,
            (long long)(r->layers / every),
            r->layers % every ? arena_print(r->arena, "+[0]*%lld", (long long)(r->layers % every))
                              : "");
    if (!r->experts.shared_ffn)
        r->experts.shared_ffn = r->shared_experts *
                                (r->experts.ffn ? r->experts.ffn : r->shape.ffn);
}

// FlagScale at da4935ec, arguments.py.patch: where the width itself is not stated.
static void set_multiple(struct run *r)
{
    if (!r->ffn_multiple || r->shape.ffn || !r->swiglu || r->shape.hidden > 1 << 24) return;
    int64_t width = 8 * r->shape.hidden / 3;
    if (r->ffn_factor > 0 && r->ffn_factor < 1e3) width = (int64_t)((double)width * r->ffn_factor);
    r->shape.ffn = (width + r->ffn_multiple - 1) / r->ffn_multiple * r->ffn_multiple;
}

static enum status set_shape(struct run *r, struct settings *s, struct error *err)
{
    TRY(set_positions(r, s, err));
    if (r->padded_vocabulary) r->shape.vocabulary = r->padded_vocabulary, r->padding = 1;
    if (r->unpadded) r->padding = 1;
    if (is(r->head_type, "multiquery") && !r->key_value_heads) r->key_value_heads = 1;
    if (r->key_value_heads && r->key_value_heads != r->shape.heads)
        r->groups = r->key_value_heads, r->grouped = true;
    if (r->glu && !is(r->glu, "swiglu") && !is(r->glu, "geglu") && !is(r->glu, "reglu"))
        return settings_refuse(s, "glu-activation", err,
                               "expected swiglu, geglu or reglu, found \"%.40s\"", r->glu);
    r->swiglu |= is(r->glu, "swiglu");
    set_multiple(r);
    if (r->geglu && !r->glu) r->glu = "geglu";
    if (r->glu && !r->swiglu)
        r->shape.gated_ffn = true, r->shape.activation = is(r->glu, "geglu") ? "gelu" : "relu";
    if (r->experts.experts == 1) r->experts = megatron_defaults.experts; // dense
    if (r->experts.experts) set_frequencies(r);
    return OK;
}

// DeepSpeed's configuration decides, whatever --zero-stage says to the model.
static enum status find_stage(struct run *r, struct settings *s, struct error *err)
{
    int stage = r->about ? core_stage(r, s, r->about) : -1;
    if (stage >= 0) r->zero_stage = stage;
    else if (r->about && !setting_of(s, "zero-stage"))
        said_assume(&s->said, "ZeRO %d: DeepSpeed's configuration, %.80s, is not there",
                    r->zero_stage, r->about);
    if (r->zero_stage <= 3) return OK;
    return settings_refuse(s, "zero-stage", err, "expected 0 to 3, found %d", r->zero_stage);
}

// Which states are sharded.
static enum status set_sharding(struct run *r, struct settings *s, struct error *err)
{
    struct layout *l = &r->job.layout;
    TRY(core_sharding(r, s, err));
    if (!r->deepspeed) return OK;
    TRY(find_stage(r, s, err));
    r->job.trainer = TRAINER_DEEPSPEED, l->zero = r->zero_stage;
    if (r->no_pipeline) l->pipeline = 1;
    if (r->ulysses > 1) l->context = r->ulysses, r->job.context_kind = CONTEXT_ALL_TO_ALL;
    return OK;
}

// Whether one of the names came when attention was Transformer Engine's by default already.
static bool is_recent(const struct settings *s)
{
    const struct setting_names *n = megatron_names;
    while (n->names && !strstr(n->version, "core_v0.7")) n++;
    for (; n->names; n++)
        for (int i = 0; i < s->count; i++)
            if (name_is_listed(n->names, s->items[i].key, settings_base_length(s->items[i].key)))
                return true;
    return setting_of(s, "use-mcore-models") || setting_of(s, "transformer-impl");
}

// Programs without Transformer Engine fuse attention where a flag says so alone.
static void say_attention(struct run *r, struct settings *s)
{
    static const char *const gone[] = {"DDP-impl",
                                       "checkpoint-activations",
                                       "checkpoint-num-layers",
                                       "activations-checkpoint-method",
                                       "activations-checkpoint-num-layers",
                                       "distribute-checkpointed-activations"};
    const struct setting *kernels = setting_of(s, "transformer-impl");
    bool older = (r->deepspeed && !s->neox) || r->head_type ||
                 (kernels && kernels->text && !strcmp(kernels->text, "local"));
    for (size_t i = 0; i < ARRAY_LENGTH(gone) && !s->neox; i++)
        older |= setting_of(s, gone[i]) != NULL;
    if (r->flash || strcmp(r->backend, megatron_defaults.backend) != 0) return;
    if (older) r->backend = "unfused";
    if (older)
        said_assume(&s->said, "attention is not fused, as without --use-flash-attn in a program "
                              "without Transformer Engine");
    else if (r->wants_job && !s->neox && !is_recent(s))
        said_assume(&s->said, "attention is fused, as by Transformer Engine, the default since "
                              "2024; before, state transformer-impl local");
}

// An update of slime's or miles' policy: whole answers, as many at once as their tokens allow.
static void set_update(struct run *r, struct settings *s)
{
    struct job *j = &r->job;
    struct layout *l = &j->layout;
    if (!setting_of(s, "actor-num-gpus-per-node") && !setting_of(s, "actor-num-nodes")) return;
    if (!r->nodes) r->nodes = 1;
    if (r->rollout.answer) j->sequence = r->rollout.prompt + r->rollout.answer;
    int64_t samples = r->rollout.batch * r->rollout.answers;
    if (!j->global_batch) j->global_batch = samples / (r->steps ? r->steps : 1);
    if (j->sequence && r->rollout.packs && r->rollout.packed) {
        int64_t all = r->rollout.packed * (l->context > 0 ? l->context : 1) / j->sequence;
        l->micro_batch = all < 1 ? 1 : all > 1 << 20 ? 1 << 20 : (int)all;
    }
    if (!l->micro_batch) l->micro_batch = 1;
    core_fit_micro_batch(r, s);
    l->zero = 1, r->bf16 = !r->fp16; // as both set them
    said_assume(&s->said,
                "an update of the policy alone, as Megatron trains it: rollouts are no part of the "
                "job; every sequence is of %lld tokens, %s, %d in a micro-batch",
                (long long)j->sequence,
                r->rollout.prompt ? "a prompt and its answer" : "an answer of full length",
                l->micro_batch);
}

// What ms-swift's `megatron` has otherwise than Megatron-LM (swift/megatron/arguments, 3602360a).
static enum status set_swift(struct run *r, struct settings *s, struct error *err)
{
    struct layout *l = &r->job.layout;
    if (!r->wants_job || !is(s->program, "megatron")) return OK;
    TRY(settings_take_environment(r, s, err));
    if (l->tensor > 1 && l->expert > 1 && !setting_of(s, "expert-tensor-parallel-size")) {
        r->expert_tensor = 1;
        said_assume(&s->said, "experts are whole on tensor ranks, as ms-swift has them since 3.9 "
                              "(--expert-tensor-parallel-size 1)");
    }
    if (!setting_of(s, "use-distributed-optimizer")) l->zero = 1;
    if (!setting_of(s, "cross-entropy-loss-fusion")) r->job.fused_loss = true;
    if (!setting_of(s, "recompute-granularity") && !r->selective) r->granularity = "selective";
    if (is(r->granularity, "none")) r->granularity = NULL;
    if (!l->micro_batch) l->micro_batch = 1;
    if (!r->job.global_batch) r->job.global_batch = 16;
    if (!s->policy_alone) return OK;
    r->job.sequence += r->rollout.answer ? r->rollout.answer : 512;
    said_assume(&s->said, "an update of the policy alone: rollouts and other models are no part of "
                          "the job; sequences of a prompt and its answer, both full");
    return OK;
}

static void set_recompute(struct run *r)
{
    if (r->checkpointed && !r->granularity) r->granularity = "full";
    if (!r->recomputes_experts) return;
    const char *modules = r->modules ? r->modules : "core_attn";
    if (is(r->granularity, "selective"))
        r->modules = strstr(modules, "moe") ? modules : arena_print(r->arena, "%s moe", modules);
    else if (!r->granularity) r->granularity = "selective", r->modules = "moe";
}

// MindSpeed-LLM's: the layers of each stage as a list; experts whole on tensor ranks, too.
static enum status set_mindspeed(struct run *r, struct settings *s, struct error *err)
{
    struct layout *l = &r->job.layout;
    const char *at = r->layer_list ? r->layer_list : "";
    int64_t rest = r->layers, count = 0, *own = TAKE(r->arena, strlen(at) + 1, int64_t);
    if (r->experts_over_tensor && l->expert <= 1 << 20 && l->tensor <= 1 << 20)
        l->expert *= l->tensor, r->expert_tensor = 1;
    if (!*at || !r->wants_job) return OK;
    for (char *end; *at && rest > 0; at = end + (*end == ',')) {
        rest -= own[count] = strtoll(at, &end, 10);
        if (end == at || own[count++] < 1 || own[count - 1] > LAYERS_MAX || !strchr(",", *end))
            break;
    }
    r->rank_layers = own;
    if (!*at && !rest && count == l->pipeline) return OK;
    return settings_refuse(s, "num-layer-list", err,
                           "expected the layers of each of %d stages, %lld in all, found \"%.60s\"",
                           l->pipeline, (long long)r->layers, r->layer_list);
}

static void set_optimizer(struct run *r, struct settings *s)
{
    if (is(r->optimizer, "hybridadam"))
        r->job.layout.offload_optimizer = true, r->optimizer = "adam";
    core_say_optimizer(r, s);
}

// ---- the program

// What a program trains, by a part of its name.
static enum status check_program(const struct run *r, const struct settings *s, struct error *err)
{
    static const char *const others[][2] = {
        {"pretrain_bert", "an encoder"},
        {"pretrain_t5", "an encoder and a decoder"},
        {"pretrain_ict", "two encoders"},
        {"pretrain_vision", "an encoder of images"},
        {"pretrain_vlm", "a model with a tower for images"},
        {"pretrain_retro", "a decoder that reads retrieved text"},
        {"pretrain_mamba", "layers with state spaces"},
        {"pretrain_hybrid", "layers with state spaces"},
        {"huggingface", "a model of Hugging Face's"}};
    static const char *const tools[] = {
        "text_generation", "inference",    "convert", "preprocess", "generate",
        "quantize",        "export",       "prune",   "mmlu",       "eval",
        "tasks/",          "analyze_data", NULL};
    const char *name = s->program ? s->program : "";
    const struct setting *task = setting_of(s, "task");
    if (strstr(name, "tasks/") && task && task->text && !strstr("WIKITEXT103 LAMBADA", task->text))
        return refuse(err,
                      "%s: %.80s fine-tunes an encoder for a task (%.40s), which flags do not "
                      "describe: describe its layers in a model document (docs/FORMATS.md)",
                      r->file, name, task->text);
    for (size_t i = 0; i < ARRAY_LENGTH(others) && r->wants_model && !r->hybrid; i++)
        if (strstr(name, others[i][0]))
            return refuse(
                err,
                "%s: %.80s trains %s, which flags do not describe: write only the job (--job, "
                "without -o), and take the model from its config.json (plumbline import hf)",
                r->file, name, others[i][1]);
    if (r->wants_job && has_one_of(name, tools) && !strstr(name, "train"))
        return refuse(err, "%s: %.80s does not train: write only the model (-o, without --job)",
                      r->file, name);
    return OK;
}

// Layers of several kinds whose order is nowhere, or stated by how many there are of each.
static enum status set_hybrid(struct run *r, struct settings *s, struct error *err)
{
    if (!r->hybrid && (r->hybrid_attention > 0 || r->hybrid_mlp > 0))
        TRY(core_allocate(r, s->arena, err));
    if (r->hybrid || !r->wants_model || !setting_of(s, "is-hybrid-model")) return OK;
    return settings_refuse(s, "is-hybrid-model", err,
                           "expected --hybrid-layer-pattern, --hybrid-override-pattern or "
                           "--hybrid-attention-ratio with it");
}

// A launch that states neither the tokens of a sequence nor those of a micro-batch, as Megatron's
// have to, and flags that nobody knows, is another program's; so is one without either of them and
// with more such flags than known ones.
static enum status check_others(const struct run *r, const struct settings *s, struct error *err)
{
    enum { UNKNOWN_LEAST = 3 };
    bool batch = r->micro_batch || r->job.layout.micro_batch,
         degrees = r->job.layout.tensor > 1 || r->job.layout.pipeline > 1,
         none = !r->job.sequence && !batch && !degrees,
         half = (!r->job.sequence || !batch) && s->said.unknown_count > s->said.read_count;
    if (!r->wants_job || s->neox || !(none || half) || s->said.unknown_count < UNKNOWN_LEAST)
        return OK;
    const char *first = strstr(s->said.unknown, "--");
    return refuse(err,
                  "%s: %d of its flags, such as %.*s, are none of Megatron's, and --seq-length or "
                  "--micro-batch-size is missing: is it another program's (plumbline import lists "
                  "the readers)?",
                  r->file, s->said.unknown_count, first ? (int)strcspn(first, " \n") : 0,
                  first ? first : "");
}

// Beside a tower for images --seq-length is the tower's.
static void take_decoder_sequence(struct run *r, struct settings *s)
{
    const struct setting *at = setting_of(s, "decoder-seq-length");
    int64_t length = at && at->text ? strtoll(at->text, NULL, 10) : 0;
    if (!setting_of(s, "language-model-type") || length < 1 || length > 1 << 24) return;
    r->job.sequence = length;
    said_assume(&s->said,
                "a sequence has --decoder-seq-length's %lld tokens, every one is full: "
                "--seq-length is the tower's",
                (long long)length);
}

static enum status read_run(struct run *r, struct settings *s, const struct asked *asked,
                            struct error *err)
{
    if (asked->sequence) r->job.sequence = asked->sequence, r->rollout.answer = 0;
    if (r->wants_job) set_update(r, s);
    TRY(set_swift(r, s, err));
    TRY(check_others(r, s, err));
    for (int i = 0; i < s->count; i++) {
        const char *own = s->items[i].text;
        if (strcmp(s->items[i].key, SETTINGS_OF_RANK) != 0) continue;
        TRY(core_recompute(r, words_of(own, "--recompute-granularity", s->arena),
                           words_of(own, "--recompute-method", s->arena),
                           words_of(own, "--recompute-modules", s->arena), err));
    }
    TRY(set_hybrid(r, s, err));
    TRY(check_program(r, s, err));
    TRY(core_hybrid(NULL, r, err));
    take_decoder_sequence(r, s);
    if (asked->sequence) r->job.sequence = asked->sequence;
    if (asked->micro_batch) r->micro_batch = r->job.layout.micro_batch = (int)asked->micro_batch;
    // Settings without a program may be BERT's or T5's, whose words come without merges.
    if (r->wants_model && !s->program && !s->neox && setting_of(s, "vocab-file") &&
        !setting_of(s, "merge-file") && !setting_of(s, "tokenizer-model"))
        said_assume(&s->said,
                    "a decoder, as no program is named; with a vocab-file and no merge-file it may "
                    "be an encoder (BERT, T5), which flags do not describe");
    TRY(core_neox(r, s, err));
    core_internevo(r, s);
    TRY(set_shape(r, s, err));
    TRY(set_mindspeed(r, s, err));
    TRY(set_sharding(r, s, err));
    if (r->wants_job) say_attention(r, s);
    core_modules(r, s);
    // Until Megatron-LM 2.6 the method alone asks for it.
    if (setting_of(s, "activations-checkpoint-method") && !r->granularity) r->granularity = "full";
    set_recompute(r);
    set_optimizer(r, s);
    if (r->fp8_flag && !r->fp8) r->fp8 = "hybrid";
    bool precise = r->bf16 || r->fp16 || !r->wants_job, swift = is(s->program, "megatron");
    if (!precise && (s->presets || swift)) r->bf16 = true;
    if (!precise)
        said_assume(&s->said, "the precision is not stated: %s",
                    r->bf16 ? "bf16, as in the presets" : "fp32, as without --bf16 and --fp16");
    settings_take_slurm(r, s), settings_take_offload(r, s);
    if (r->experts_over_data && r->wants_job) { // MegaBlocks'
        struct layout *l = &r->job.layout;
        int64_t gpus = r->gpus ? r->gpus : r->processes * (r->nodes ? r->nodes : 1),
                over = gpus / (l->tensor > 0 ? l->tensor : 1) / (l->pipeline > 0 ? l->pipeline : 1);
        l->expert = over > 1 && over <= 1 << 20 ? (int)over : 1;
    }
    r->job.overlapped_messages = !r->waits;
    if (!r->shape.vocabulary) r->shape.vocabulary = asked->vocabulary;
    core_find_model(r, s);
    if (!r->known) core_vocabulary(r, s);
    if (r->latent && r->groups && !r->grouped)
        said_assume(&s->said, "--num-query-groups: latent attention has no groups");
    if (r->experts.experts && !r->experts.ffn && r->shared_experts && r->dense_first > 0)
        said_assume(&s->said,
                    "--moe-ffn-hidden-size is missing: experts as wide as the dense layers (%lld), "
                    "many parameters",
                    (long long)r->shape.ffn);
    adapters_default(r, s, 8, ADAPTED_BY_CORE);
    return core_check(r, err);
}

static enum status make_job(struct run *r, struct error *err)
{
    TRY(core_job(r, err));
    if (r->deepspeed) // as its weights, whatever the flags of Megatron's own copies say
        r->job.gradient_bytes_per_value =
            trainer_gradient_bytes(TRAINER_DEEPSPEED, r->job.precision);
    if (r->other) { // InternEvo's
        r->job.trainer = TRAINER_OTHER;
        r->job.gradient_bytes_per_value = r->bf16 || r->fp16 ? 2 : 4;
        r->job.owner_broadcasts = r->job.layout.zero == 1;
    }
    return job_check(&r->job, err);
}

static enum status read_settings(struct settings *s, const struct asked *asked, struct error *err)
{
    const struct reading *of_file = &asked->import;
    const struct launch_asked of = {.rows = asked->importer->rows,
                                    .set = asked->set,
                                    .arguments = asked->arguments,
                                    .launch = asked->launch,
                                    .named = true,
                                    .text = of_file->text};
    TRY(launch_read(s, of_file->path, &of, of_file->arena, err));
    if (is(s->program, "megatron")) settings_take_policy(s);
    return OK;
}

static const struct importer importer = {.name = "megatron",
                                         .framework = FRAMEWORK_MEGATRON,
                                         .defaults = &megatron_defaults,
                                         .read = read_settings,
                                         .rows = &megatron_rows,
                                         .run = read_run,
                                         .job = make_job,
                                         .model = core_model};

static const struct option_row option_rows[] = {
    ASK_JOB,         ASK_GPUS, ASK_IGNORE,    ASK_VOCABULARY, ASK_SEQUENCE,
    ASK_MICRO_BATCH, ASK_SET,  ASK_ARGUMENTS, ASK_LAUNCH,
};
static const struct asked defaults_asked = ASKED(importer);
const struct command import_megatron = {
    .name = "megatron",
    .text = "Megatron-LM launch script, arguments or log -> model and job",
    .usage =
        "plumbline import megatron FILE.sh|FILE.txt|FILE.yaml [-o model.json] [--job job.json]",
    READER(option_rows, struct asked, defaults_asked),
};
