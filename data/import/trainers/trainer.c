// Programs built on Hugging Face's Trainer (LLaMA-Factory, ms-swift, axolotl, DeepSpeedExamples),
// OpenRLHF, torchtune, litgpt and LLM-Foundry: YAML or a launch script. The model is its
// checkpoint's, hence not read.
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "data/base/file.h"
#include "data/base/names.h"
#include "data/import/jobs/importer.h"
#include "data/import/jobs/launch.h"
#include "data/import/trainers/internal.h"

enum { ANSWER_DEFAULT = 512 }; // TRL's and ms-swift's max_completion_length

// Weights that are loaded in 16 bits are trained so, unless DeepSpeed or (with mixed precision)
// Accelerate's FSDP keeps fp32 ones; LLaMA-Factory's and adapters are made fp32 (pure_bf16: not).
static void set_narrow(struct run *r, struct settings *s)
{
    bool half = r->job.precision == BF16 || r->job.precision == FP16,
         loaded = find_in_any_case(r->dtype, "float16") || find_in_any_case(r->dtype, "bf16"),
         axolotl = setting_of(s, "base-model") && half,
         others = r->job.layout.zero && (r->bf16 || r->fp16 || r->number_format);
    r->narrow |= (loaded || axolotl) && !setting_of(s, "finetuning-type") && !run_has_adapters(r) &&
                 !others;
    r->narrow &= half && r->job.trainer != TRAINER_DEEPSPEED;
    if (r->narrow) said_assume(&s->said, "weights, gradients and states in 16 bits alone");
}

static void set_precision(struct run *r, struct settings *s)
{
    if (!r->bf16 && !r->fp16 && r->number_format && strcasecmp(r->number_format, "no") != 0)
        r->dtype = strcmp(r->number_format, "fp16") ? "bf16" : "float16";
    bool narrow = find_in_any_case(r->dtype, "bfloat16") || find_in_any_case(r->dtype, "bf16");
    if (!r->bf16 && !r->fp16 && (narrow || !r->dtype)) r->bf16 = true;
    if (!narrow && !setting_of(s, "bf16") && !setting_of(s, "fp16") && !r->dtype)
        said_assume(&s->said, "the precision is not stated: bf16");
    r->job.precision = r->bf16                                            ? BF16
                       : r->fp16 || find_in_any_case(r->dtype, "float16") ? FP16
                                                                          : FP32;
    set_narrow(r, s);
    r->job.gradient_bytes_per_value =
        r->narrow ? 2 : trainer_gradient_bytes(r->job.trainer, r->job.precision);
}

static void set_recompute(struct run *r, struct settings *s)
{
    bool factory = setting_of(s, "finetuning-type") || setting_of(s, "cutoff-len") ||
                   setting_of(s, "tuner-type") || setting_of(s, "train-type");
    bool stated = setting_of(s, "gradient-checkpointing") ||
                  setting_of(s, "disable-gradient-checkpointing");
    bool full = r->checkpointed || (factory && !stated) || (!r->checkpointed && stated && r->waits);
    if (r->waits) full = false;
    if (factory && !stated)
        said_assume(&s->said, "layers are recomputed, the default of LLaMA-Factory and ms-swift");
    if (full) r->job.recompute[RECOMPUTE_FULL] = true;
    r->job.layout.recompute = 1 + (full ? RECOMPUTE_FULL : RECOMPUTE_NONE);
}

static enum status check_program(const struct run *r, const struct settings *s, struct error *err)
{
    static const char *const others[] = {"reward", "dpo",  "ppo", "grpo",
                                         "rlhf",   "orpo", "kto", "train_rm"};
    const char *name = s->program ? s->program : "";
    if (!strcmp(name, "megatron"))
        return refuse(
            err, "%s: megatron: ms-swift's launch of Megatron: plumbline import megatron reads it",
            r->file);
    const char *module = strstr(name, "openrlhf.");
    if (s->openrlhf && module) name = module + strlen("openrlhf."); // "rlhf" of no task
    for (size_t i = 0; !s->policy_alone && i < ARRAY_LENGTH(others); i++)
        if (find_in_any_case(name, others[i]))
            return refuse(err, "%s: %.80s is not read: " SETTING_OF_OTHERS, r->file, s->program);
    return OK;
}

// Whether the policy is updated by pairs of answers; *refers: next to a model that stays as it was.
static bool takes_pairs(const struct settings *s, bool *refers)
{
    static const char *const keys[] = {"rlhf-type", "stage", "rl"}, *const ways[] = {
                                                                        "dpo", "ipo", "orpo",
                                                                        "simpo", "cpo"};
    const char *program = s->program ? path_name(s->program) : "";
    for (size_t i = 0; i < ARRAY_LENGTH(ways); i++) {
        bool is = find_in_any_case(program, ways[i]) != NULL;
        for (size_t k = 0; k < ARRAY_LENGTH(keys); k++) {
            const struct setting *at = setting_of(s, keys[k]);
            is |= at && at->text && !strcasecmp(at->text, ways[i]);
        }
        if (is) return *refers = i < 2, true;
    }
    return false;
}

// A pair is two sequences of a micro-batch.
static void take_pairs_of(struct run *r, struct settings *s)
{
    bool refers;
    if (!takes_pairs(s, &refers)) return;
    if (r->micro_batch < 1 << 20) r->micro_batch *= 2;
    if (r->global_batch < INT64_C(1) << 40) r->global_batch *= 2;
    said_assume(&s->said,
                "pairs of answers: two sequences each, both full, and logits of every token%s",
                !refers ? ""
                : run_has_adapters(r)
                    ? "; what the frozen weights alone say of them is no part of the job"
                    : "; the reference model, its weights on the GPUs and its forward pass, is no "
                      "part of the job");
}

// GRPO's sequences: a prompt and its answer, each of full length.
static void take_answers(struct run *r, struct settings *s)
{
    struct job *j = &r->job;
    int64_t prompt = r->rollout.prompt ? r->rollout.prompt : j->sequence,
            answer = r->rollout.answer ? r->rollout.answer : ANSWER_DEFAULT;
    bool refers;
    if (!s->policy_alone || takes_pairs(s, &refers)) return;
    if (!s->openrlhf || r->rollout.answer) j->sequence = prompt ? prompt + answer : 0;
    said_assume(&s->said,
                "an update of the policy alone: rollouts and other models are no part of the job, "
                "and every sequence is full");
}

// LLaMA-Factory and ms-swift adapt every matrix unless told; peft's own are those of Llama.
static void set_adapters(struct run *r, struct settings *s)
{
    bool every = setting_of(s, "finetuning-type") || setting_of(s, "tuner-type") ||
                 setting_of(s, "train-type") || setting_of(s, "lora-module-name") ||
                 setting_of(s, "lora-dim"); // DeepSpeed-Chat's
    adapters_default(r, s, 8, every ? "all" : "q_proj, v_proj");
}

// bitsandbytes' optimizers in 8 bits (51294d90 optim/optimizer.py: moments of tensors of 4096
// values and more in uint8) are taken with fp32 weights beside 16-bit ones, as Adam in fp32 is.
static enum status set_optimizer(struct run *r, struct settings *s, struct error *err)
{
    const char *name = r->optimizer ? r->optimizer : "adam";
    bool eight = find_in_any_case(name, "8bit"), wide = r->job.precision != FP32 && !r->narrow;
    const char *keeps = optimizer_set(
        &r->job, name,
        &(struct optimizer_way){settings_number(s, "optimizer.momentum") > 0, !r->narrow,
                                eight       ? 1
                                : r->narrow ? 2
                                            : 0});
    enum narrow_optimizer narrow = optimizer_narrow(name);
    if (narrow >= NARROW_EIGHT_BITS) {
        if (keeps || eight)
            said_assume(&s->said, "optimizer %.40s: %s%s%s", name, keeps ? keeps : "moments",
                        eight ? " of one byte" : "", wide ? ", next to weights in fp32" : "");
        return OK;
    }
    if (narrow != NARROW_FOUR_BITS || keeps || !run_has_adapters(r))
        return settings_refuse(s, setting_of(s, "optim") ? "optim" : "optimizer", err,
                               "%.40s has other states than Adam's: leave it out", r->optimizer);
    said_assume(&s->said, "optimizer %.40s: Adam's states in fp32, of the adapters alone",
                r->optimizer);
    return OK;
}

static enum status read_run(struct run *r, struct settings *s, const struct asked *asked,
                            struct error *err)
{
    struct job *j = &r->job;
    struct layout *l = &j->layout;
    TRY(check_program(r, s, err));
    TRY(settings_take_environment(r, s, err));
    settings_take_slurm(r, s);
    if (setting_of(s, "num-processes") || !r->nodes) r->nodes = 1; // Accelerate's are of all nodes
    int64_t gpus = r->gpus ? r->gpus : r->processes * r->nodes;
    take_answers(r, s);
    if (asked->sequence) j->sequence = asked->sequence;
    take_pairs_of(r, s);
    bool factory = setting_of(s, "finetuning-type") || setting_of(s, "stage");
    if (factory && !j->sequence) {
        j->sequence = 2048;
        said_assume(&s->said, "cutoff_len 2048, LLaMA-Factory's own since 0.9.2 (1024 before)");
    }
    if (asked->micro_batch) r->micro_batch = asked->micro_batch;
    if (!r->micro_batch && !setting_of(s, "micro-batch-size"))
        return refuse(
            err,
            "%s: expected per_device_train_batch_size, found none: this is no training with "
            "Hugging Face's Trainer or OpenRLHF",
            r->file);
    int64_t ranks = l->tensor > 1 ? gpus / l->tensor : gpus;
    const struct setting *least = setting_of(s, "micro-batch-size");
    bool whole = least && !strcmp(least->text, "0");
    if (whole && !r->micro_batch && r->global_batch && ranks > 0) { // all at once
        r->micro_batch = r->global_batch / ranks;
        said_assume(&s->said, "no gradients are accumulated: micro-batches of %lld",
                    (long long)r->micro_batch);
    }
    const struct settings_lack of[] = {
        {!j->sequence, "the sequence length (cutoff_len, max_length)", "--sequence"},
        {!r->micro_batch, "the micro-batch", "--micro-batch"},
        {!gpus, "the number of GPUs", "--gpus"}};
    TRY(settings_ask(r->file, of, ARRAY_LENGTH(of), err));
    if (r->ulysses > 1) l->context = r->ulysses, j->context_kind = CONTEXT_ALL_TO_ALL;
    if (!l->tensor) l->tensor = 1;
    if (!l->context) l->context = 1;
    if (r->micro_batch > 1 << 16 || r->steps > 1 << 16)
        return refuse(err, "%s: expected batch sizes of at most 2^16", r->file);
    TRY(settings_divide(r->file, "GPUs over tensor x context", gpus,
                        (int64_t)l->tensor * l->context, &l->data, err));
    if (r->shards && l->data != r->shards * (r->replicas ? r->replicas : 1))
        return settings_refuse(s, "dp-shard-size", err, "times replicas: expected %d, found %lld",
                               l->data, (long long)(r->shards * (r->replicas ? r->replicas : 1)));
    j->gathered_logits = l->tensor > 1; // as transformers' plans have it
    l->micro_batch = (int)r->micro_batch;
    if (r->global_batch) {
        int steps;
        TRY(settings_divide(r->file, "the batch over data ranks and micro-batches", r->global_batch,
                            (int64_t)l->data * l->micro_batch, &steps, err));
        r->steps = steps;
    }
    j->global_batch = (int64_t)l->data * l->micro_batch * (r->steps ? r->steps : 1);
    TRY(trainer_sharding(r, s, err));
    set_precision(r, s);
    set_recompute(r, s);
    TRY(set_optimizer(r, s, err));
    set_adapters(r, s);
    l->fused_attention = r->backend ? (!find_in_any_case(r->backend, "eager") &&
                                       !find_in_any_case(r->backend, "disab"))
                                    : !s->openrlhf;
    if (r->model)
        said_assume(&s->said, "the model is %.80s: from its config.json (plumbline import hf)",
                    r->model);
    return OK;
}

static enum status read_settings(struct settings *s, const struct asked *asked, struct error *err)
{
    TRY(trainer_files(s, asked, err));
    bool refers;
    struct setting *flash = (struct setting *)setting_of(s, "flash-attn");
    if (flash && flash->text && !*flash->text) flash->text = "fa2"; // a flag alone
    if (!settings_take_policy(s))
        s->policy_alone = takes_pairs(s, &refers) ||
                          (s->openrlhf && s->program && strstr(s->program, "train_ppo"));
    return OK;
}

static const struct run defaults = {.mode = RECOMPUTE_NONE, .adapters.on = -1};

static const struct importer importer = {.name = "trainer",
                                         .framework = FRAMEWORK_ANY,
                                         .defaults = &defaults,
                                         .read = read_settings,
                                         .rows = &hf_trainer_rows,
                                         .run = read_run};

static const struct option_row option_rows[] = {
    ASK_GPUS, ASK_IGNORE, ASK_SEQUENCE, ASK_MICRO_BATCH, ASK_SET, ASK_ARGUMENTS, ASK_LAUNCH,
};
static const struct asked defaults_asked = ASKED(importer);
const struct command import_trainer = {
    .name = "trainer",
    .text = "LLaMA-Factory, axolotl, torchtune ... YAML, HF's Trainer, OpenRLHF -> job",
    .usage = "plumbline import trainer CONFIG.yaml|FILE.sh --gpus N [-o job.json]",
    READER(option_rows, struct asked, defaults_asked),
};
