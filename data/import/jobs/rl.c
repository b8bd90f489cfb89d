// The training of a policy by reinforcement learning, or its tuning by the same programs: veRL's
// and ChatLearn's overrides, NeMo RL's YAML. Rollouts and other models are no part of a job.
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/base/file.h"
#include "data/base/grow.h"
#include "data/import/jobs/core.h"
#include "data/import/jobs/importer.h"
#include "data/import/jobs/launch.h"

static bool is(const char *text, const char *word) { return text && !strcasecmp(text, word); }

static bool is_below(const char *key, const char *section)
{
    return !strncmp(key, section, strlen(section));
}

static bool holds(const struct settings *s, const char *section)
{
    for (int i = 0; i < s->count; i++)
        if (is_below(s->items[i].key, section)) return true;
    return false;
}

// ---- the files

// Sets of NeMo RL's two trainers the one that is on; without values that others decide.
static void drop_unused(struct settings *s)
{
    const struct setting *on = setting_of(s, "policy.megatron_cfg.enabled");
    const char *unused = on && is(on->text, "true") ? "policy.dtensor_cfg."
                                                    : "policy.megatron_cfg.";
    int kept = 0;
    for (int i = 0; i < s->count; i++) {
        const struct setting *at = &s->items[i];
        bool open = at->text && strstr(at->text, "${");
        if (!open && (!is_below(at->key, unused) || strstr(at->key, ".enabled")))
            s->items[kept++] = *at;
    }
    s->count = kept;
}

static enum status read_settings(struct settings *s, const struct asked *asked, struct error *err)
{
    const char *path = asked->import.path;
    const struct launch_asked of = {.set = asked->set,
                                    .arguments = asked->arguments,
                                    .launch = asked->launch,
                                    .rollouts = true};
    if (!path_ends_with(path, ".yaml") && !path_ends_with(path, ".yml"))
        return launch_read_overrides(s, path, &of, asked->import.arena, err);
    TRY(settings_read_yaml_based(s, path, asked->import.arena, err));
    drop_unused(s);
    return OK;
}

// ---- what the settings mean

// What an update takes at once: `global_batch` prompts with all their answers.
static enum status set_batch(struct run *r, struct settings *s, const struct asked *asked,
                             struct error *err)
{
    struct job *j = &r->job;
    struct layout *l = &j->layout;
    bool verl = holds(s, "actor_rollout_ref.");
    if (r->rollout.prompt && r->rollout.answer) j->sequence = r->rollout.prompt + r->rollout.answer;
    if (asked->sequence) j->sequence = asked->sequence;
    if (verl && !r->global_batch) r->global_batch = 256;
    j->global_batch = verl ? r->global_batch * (r->rollout.answers ? r->rollout.answers : 1)
                      : r->global_batch ? r->global_batch
                                        : r->rollout.batch;
    if (asked->micro_batch) r->micro_batch = asked->micro_batch, r->rollout.packs = false;
    if (j->sequence && r->rollout.packs && r->rollout.packed) {
        r->micro_batch = r->rollout.packed * (l->context > 0 ? l->context : 1) / j->sequence;
        if (r->micro_batch < 1) r->micro_batch = 1;
        said_assume(&s->said, "micro-batches of %lld whole sequences, of %lld tokens",
                    (long long)r->micro_batch, (long long)r->rollout.packed);
    }
    if (!j->sequence || !r->micro_batch)
        return fail(err, BAD_INPUT, "%s: the %s missing: give it with %s", r->file,
                    j->sequence ? "micro-batch is" : "sequence length is",
                    j->sequence ? "--micro-batch" : "--sequence");
    if (r->micro_batch > 1 << 20 || j->global_batch > INT64_C(1) << 40)
        return fail(err, BAD_INPUT, "%s: expected smaller batches", r->file);
    l->micro_batch = (int)r->micro_batch;
    return OK;
}

static enum status read_run(struct run *r, struct settings *s, const struct asked *asked,
                            struct error *err)
{
    struct layout *l = &r->job.layout;
    const struct setting *on = setting_of(s, "policy.megatron_cfg.enabled");
    bool megatron = is(r->sharding, "megatron") || holds(s, "models.policy_trainer.") ||
                    holds(s, "actor_rollout_ref.actor.megatron.") || (on && is(on->text, "true"));
    static const char *const sharded[] = {
        "actor_rollout_ref.actor.megatron.use_distributed_optimizer",
        "policy.megatron_cfg.distributed_data_parallel_config.use_distributed_optimizer",
        "models.policy_trainer.use_distributed_optimizer"};
    bool stated = false;
    for (size_t i = 0; i < ARRAY_LENGTH(sharded); i++) stated |= setting_of(s, sharded[i]) != NULL;
    if (!stated) l->zero = 1; // as the programs have it
    if (megatron && holds(s, "actor_rollout_ref.") &&
        !setting_of(s, "actor_rollout_ref.actor.megatron.sequence_parallel"))
        l->sequence_parallel = true;
    if (r->ulysses > 1) l->context = r->ulysses, r->job.context_kind = CONTEXT_ALL_TO_ALL;
    TRY(set_batch(r, s, asked, err));
    core_fit_micro_batch(r, s);
    r->fp16 = is(r->dtype, "float16"), r->bf16 = !r->fp16 && !is(r->dtype, "float32");
    if (megatron) {
        bool nemo = holds(s, "policy.megatron_cfg.");
        if (nemo && r->checkpointed && !r->granularity) r->granularity = "full";
        if (nemo && !r->checkpointed) r->granularity = NULL;
    } else {
        r->job.trainer = TRAINER_OTHER;
        l->zero = 3, l->gradient_sync = SYNC_OVERLAPPED;
        r->granularity = r->checkpointed ? "full" : NULL;
    }
    if (is(r->granularity, "full") && !r->method) r->method = "uniform";
    settings_take_offload(r, s);
    said_assume(&s->said,
                "an update of the policy alone, as %s: rollouts and other models are no "
                "part of the job, and every sequence is full",
                megatron ? "Megatron trains it" : "FSDP trains it");
    if (r->model)
        said_assume(&s->said, "the model is %.80s: from its config.json (plumbline import hf)",
                    r->model);
    return core_check(r, err);
}

static enum status make_job(struct run *r, struct error *err)
{
    enum trainer trainer = r->job.trainer;
    bool whole = r->job.layout.zero == 3;
    TRY(core_job(r, err));
    r->job.trainer = trainer;
    if (whole) r->job.gradient_bytes_per_value = trainer_gradient_bytes(trainer, r->job.precision);
    return job_check(&r->job, err);
}

static const struct run defaults = {
    .checkpointed = true, .position_type = "rope", .optimizer = "adam", .backend = "auto"};
static const struct importer importer = {.name = "rl",
                                         .framework = FRAMEWORK_ANY,
                                         .defaults = &defaults,
                                         .read = read_settings,
                                         .rows = &rl_rows,
                                         .run = read_run,
                                         .job = make_job};

static const struct option_row option_rows[] = {
    ASK_GPUS, ASK_IGNORE, ASK_SEQUENCE, ASK_MICRO_BATCH, ASK_SET, ASK_ARGUMENTS, ASK_LAUNCH,
};
static const struct asked defaults_asked = ASKED(importer);
const struct command import_rl = {
    .name = "rl",
    .text = "veRL's, NeMo RL's or ChatLearn's settings -> job of the policy's update",
    .usage = "plumbline import rl FILE.sh|CONFIG.yaml [--gpus N] [-o job.json]",
    READER(option_rows, struct asked, defaults_asked),
};
