// The training of a policy by reinforcement learning, or its tuning by the same programs: veRL's,
// EasyR1's and ChatLearn's overrides, NeMo RL's, ROLL's and AReaL's YAML, prime-rl's TOML. Rollouts
// and other models are no part of a job.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/import/jobs/core.h"
#include "data/import/jobs/importer.h"
#include "data/import/jobs/launch.h"

static bool is(const char *text, const char *word) { return text && !strcasecmp(text, word); }

static bool is_below(const char *key, const char *section)
{
    return !strncmp(key, section, strlen(section));
}

static bool ends(const char *key, const char *end)
{
    size_t length = strlen(key), last = strlen(end);
    return length >= last && !strcmp(key + length - last, end);
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
        bool open = at->text && strstr(at->text, "${") && !ends(at->key, ".strategy_config");
        if (!open && (!is_below(at->key, unused) || !strcmp(at->key + strlen(unused), "enabled")))
            s->items[kept++] = *at;
    }
    s->count = kept;
}

// EasyR1's file, which a script names as seen from a folder above it. NULL: none is named; *found
// says whether it is there.
static const char *named_config(const struct settings *s, const char *path, struct settings *below,
                                bool *found)
{
    enum { FOLDERS_MOST = 5 };
    const struct setting *config = setting_of(s, "config");
    const char *slash = strrchr(path, '/');
    const char *from = slash ? arena_print(s->arena, "%.*s/", (int)(slash - path), path) : "";
    *found = false;
    if (!config || !config->text || *config->text == '/' || !holds(s, "worker.")) return NULL;
    for (int up = 0; up < FOLDERS_MOST; up++, from = arena_print(s->arena, "%s../", from)) {
        struct error ignored = {OK, ""};
        const char *file = arena_print(s->arena, "%s%s", from, config->text);
        *found = settings_read_yaml_based(below, file, s->arena, &ignored) == OK;
        if (*found) return file;
    }
    return config->text;
}

static void take_config(struct settings *s, const char *path)
{
    struct settings below;
    bool found;
    const char *file = named_config(s, path, &below, &found);
    for (int i = 0; found && i < below.count; i++)
        if (!setting_of(s, below.items[i].key))
            settings_replace(s, below.items[i].key, below.items[i].text, 0);
    if (file)
        said_assume(&s->said, found ? "%s, as the script says" : "%s is not there: nothing of it",
                    file);
}

static enum status read_settings(struct settings *s, const struct asked *asked, struct error *err)
{
    const char *path = asked->import.path;
    const struct launch_asked of = {.set = asked->set,
                                    .arguments = asked->arguments,
                                    .launch = asked->launch,
                                    .rollouts = true};
    if (path_ends_with(path, ".toml")) return settings_read_toml(s, path, asked->import.arena, err);
    if (!path_is_yaml(path)) {
        TRY(launch_read_overrides(s, path, &of, asked->import.arena, err));
        take_config(s, path);
        return OK;
    }
    TRY(settings_read_yaml_based(s, path, asked->import.arena, err));
    drop_unused(s);
    return OK;
}

// ---- ranks as texts

// ROLL's list of devices: "list(range(0,16))", "[0, 1]", and sums of them. 0: it is another text.
static int64_t count_devices(const char *text)
{
    int64_t all = 0;
    while (text && (text = strpbrk(text, "r["))) {
        long from = 0, to = 0;
        int read = 0;
        if (*text == '[') {
            const char *end = strchr(text, ']');
            if (!end || !isdigit((unsigned char)text[1])) return 0;
            for (all++; text < end; text++) all += *text == ',';
        } else {
            if (sscanf(text, "range(%ld ,%ld%n", &from, &to, &read) < 2 || text[read] != ')')
                return 0;
            if (from < 0 || to < from || to > 1 << 24) return 0;
            all += to - from, text += read;
        }
    }
    return all;
}

// AReaL's letters: d4p2t1, c for context, e for experts. False: it is another text.
static bool take_letters(struct run *r, const char *text, const char *end, bool experts)
{
    struct layout *l = &r->job.layout;
    int64_t gpus = 1;
    while (text < end) {
        char letter = *text++, *behind;
        long count = strtol(text, &behind, 10);
        if (behind == text || count < 1 || count > 1 << 20) return false;
        if (letter == 't' && experts) r->expert_tensor = count;
        else if (letter == 't') l->tensor = (int)count;
        else if (letter == 'p') l->pipeline = (int)count;
        else if (letter == 'c') l->context = (int)count;
        else if (letter == 'e') l->expert = (int)count;
        else if (letter != 'd') return false;
        if (letter != 'e' || experts) gpus *= count;
        if (gpus > 1 << 24) return false;
        text = behind;
    }
    if (!experts && !r->gpus) r->gpus = gpus;
    return true;
}

// "megatron:d4p1t2", "megatron:(attn:d4p4t2|ffn:d2p4e4)"; older: "sglang:d4+fsdp:d4", of which the
// last part trains.
static enum status take_backend(struct run *r, struct settings *s, struct error *err)
{
    const struct setting *own = setting_of(s, "actor.backend"),
                         *at = own ? own : setting_of(s, "allocation_mode");
    if (!at || !at->text) return OK;
    const char *plus = strrchr(at->text, '+'), *text = plus ? plus + 1 : at->text,
               *colon = strchr(text, ':'), *letters = colon ? colon + 1 : text,
               *attention = strstr(text, "(attn:"), *bar = strchr(text, '|'),
               *close = strchr(text, ')');
    r->sharding = colon ? arena_print(r->arena, "%.*s", (int)(colon - text), text) : "fsdp";
    bool read = false;
    if (!attention) read = take_letters(r, letters, text + strlen(text), false);
    else if (bar && close && bar < close && !strncmp(bar, "|ffn:", 5))
        r->expert_tensor = 1,
        read = take_letters(r, attention + 6, bar, false) && take_letters(r, bar + 5, close, true);
    if (!read)
        return settings_refuse(
            s, at->key, err,
            "expected an engine with its degrees (megatron:d4p2t1), found \"%.60s\"", at->text);
    return OK;
}

// ROLL's ZeRO, by the name of the section that its strategy takes: ${deepspeed_zero3}.
static enum status take_zero(struct run *r, struct settings *s, struct error *err)
{
    const char *zero = r->about ? strstr(r->about, "zero") : NULL;
    if (!is(r->sharding, "deepspeed_train")) return OK;
    if (!zero || zero[4] == '_')
        return settings_refuse(s, "actor_train.strategy_args.strategy_name", err,
                               "which ZeRO stage it is: expected strategy_config: "
                               "${deepspeed_zero2} or another stage");
    r->job.layout.zero = zero[4] >= '1' && zero[4] <= '3' ? zero[4] - '0' : 1;
    r->job.layout.offload_optimizer = strstr(zero, "offload") != NULL;
    r->job.trainer = TRAINER_DEEPSPEED;
    return OK;
}

// ROLL's ranks, and its batch: micro-batches on each replica.
static enum status take_devices(struct run *r, struct settings *s, const char *key,
                                struct error *err)
{
    const struct layout *l = &r->job.layout;
    const struct setting *at = setting_of(s, key);
    if (at && at->text && !r->gpus) r->gpus = count_devices(at->text);
    if (!r->gpus)
        return settings_refuse(s, key, err, "the number of GPUs is not here: give it with --gpus");
    int64_t ranks = (int64_t)l->tensor * l->pipeline * (l->context > 0 ? l->context : 1);
    int replicas;
    TRY(settings_divide(r->file, "GPUs over a replica's", r->gpus, ranks, &replicas, err));
    r->rollout.batch = replicas * r->micro_batch * (r->steps ? r->steps : 1);
    return OK;
}

// prime-rl's defaults, and what its keys mean together.
static void take_prime(struct run *r, struct settings *s)
{
    static const char *const sections[] = {"model", "trainer.model"};
    struct job *j = &r->job;
    const struct setting *own = setting_of(s, "deployment.gpus_per_node");
    const char *offload =
        "the optimizer's state is on the host, as optim_cpu_offload is unless told";
    if (!r->processes || (own && !r->nodes)) r->processes = r->nodes ? 8 : 1;
    if (!r->micro_batch) r->micro_batch = 1;
    if (!j->sequence) j->sequence = holds(s, "data.") ? 128 : 2048;
    if (!r->rollout.batch && r->rollout.packed) r->rollout.batch = r->rollout.packed / j->sequence;
    if (!r->rollout.batch) r->rollout.batch = 128;
    r->rollout.packed = 0;
    if (!setting_of(s, "model.optim_cpu_offload") &&
        !setting_of(s, "trainer.model.optim_cpu_offload"))
        j->layout.offload_optimizer = true;
    for (size_t i = 0; i < ARRAY_LENGTH(sections); i++) {
        const struct setting *style =
                                 setting_of(s, arena_print(r->arena, "%s.cp_style", sections[i])),
                             *kept = setting_of(s, arena_print(r->arena, "%s.ac", sections[i])),
                             *mode =
                                 setting_of(s, arena_print(r->arena, "%s.ac.mode", sections[i])),
                             *every =
                                 setting_of(s, arena_print(r->arena, "%s.ac.freq", sections[i]));
        if (style && is(style->text, "ulysses")) j->context_kind = CONTEXT_ALL_TO_ALL;
        if (kept && (is(kept->text, "None") || is(kept->text, "false"))) r->checkpointed = false;
        if ((mode && !is(mode->text, "full")) || (every && !is(every->text, "1")))
            said_assume(&s->said, "%s.ac: every layer is recomputed whole", sections[i]);
    }
    if (j->layout.offload_optimizer) said_assume(&s->said, "%s", offload);
    if (j->layout.expert < 2)
        said_assume(&s->said, "ep is not stated: a mixture's experts are not spread over ranks");
}

// ---- what the settings mean

// What an update takes at once: `global_batch` prompts with all their answers.
static enum status set_batch(struct run *r, struct settings *s, const struct asked *asked,
                             struct error *err)
{
    struct job *j = &r->job;
    struct layout *l = &j->layout;
    const struct setting *strategy = setting_of(s, "actor_rollout_ref.actor.strategy");
    const char *by = strategy ? strategy->text : NULL;
    if (by && !is(by, "fsdp") && !is(by, "fsdp2") && !is(by, "megatron"))
        return settings_refuse(s, strategy->key, err,
                               "expected fsdp, fsdp2 or megatron, found \"%.40s\"", by);
    bool verl = holds(s, "actor_rollout_ref.") || holds(s, "worker.actor."),
         areal = setting_of(s, "train_dataset.batch_size");
    if (r->rollout.prompt && r->rollout.answer && !j->sequence)
        j->sequence = r->rollout.prompt + r->rollout.answer;
    if (areal && !holds(s, "gconfig.")) j->sequence = r->rollout.prompt;
    if (areal) r->rollout.packs = true;
    if (areal && r->rollout.answers) r->rollout.batch *= r->rollout.answers;
    if (areal && r->micro_batches > 1) r->rollout.batch /= r->micro_batches;
    if (areal && !verl) r->global_batch = r->rollout.batch;
    if (asked->sequence) j->sequence = asked->sequence;
    if (verl && !r->global_batch) r->global_batch = 256;
    if (holds(s, "actor_rollout_ref.") && r->rollout.packs && !r->rollout.packed)
        r->rollout.packed = 16384; // veRL's own
    j->global_batch = verl ? r->global_batch * (r->rollout.answers ? r->rollout.answers : 1)
                      : r->global_batch ? r->global_batch
                                        : r->rollout.batch;
    if (asked->micro_batch) r->micro_batch = asked->micro_batch, r->rollout.packs = false;
    if (j->sequence && r->rollout.packs && r->rollout.packed) {
        int together = l->context > 0 && !areal ? l->context : 1;
        r->micro_batch = r->rollout.packed * together / j->sequence;
        if (r->micro_batch < 1) r->micro_batch = 1;
        said_assume(&s->said, "micro-batches of %lld whole sequences, of %lld tokens",
                    (long long)r->micro_batch, (long long)r->rollout.packed);
    }
    int64_t gpus = r->gpus ? r->gpus : r->processes * (r->nodes ? r->nodes : 1);
    if (!r->micro_batch && r->rollout.at_once && gpus) {
        int64_t of_one = r->rollout.at_once * (l->context > 0 ? l->context : 1) / gpus;
        r->micro_batch = of_one > 1 ? of_one : 1;
        said_assume(&s->said, "micro-batches of %lld: ppo_micro_batch_size is of all GPUs",
                    (long long)r->micro_batch);
    }
    bool asks = !j->sequence || !r->micro_batch;
    const struct settings_lack of[] = {
        {!j->sequence, "the sequence length", "--sequence"},
        {!r->micro_batch && !r->rollout.packs, "the micro-batch", "--micro-batch"},
        {asks && !r->gpus && !r->processes, "the number of GPUs", "--gpus"}};
    struct settings below;
    bool found;
    const char *config = named_config(s, r->file, &below, &found);
    const char *asker =
        config && !found
            ? arena_print(s->arena, "%s: without %s, which is not there", r->file, config)
            : r->file;
    TRY(settings_ask(asker, of, ARRAY_LENGTH(of), err));
    if (r->micro_batch > 1 << 20 || j->global_batch > INT64_C(1) << 40)
        return refuse(err, "%s: expected smaller batches", r->file);
    l->micro_batch = (int)r->micro_batch;
    return OK;
}

// Whether FSDP keeps what it has gathered until the backward pass.
static bool keeps_weights(const struct settings *s)
{
    static const char *const keys[] = {"worker.actor.fsdp.enable_full_shard",
                                       "actor_rollout_ref.actor.fsdp_config.reshard_after_forward",
                                       "engine.reshard_after_forward"};
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) {
        const struct setting *at = setting_of(s, keys[i]);
        if (at && is(at->text, "false")) return true;
    }
    return false;
}

static enum status read_run(struct run *r, struct settings *s, const struct asked *asked,
                            struct error *err)
{
    struct layout *l = &r->job.layout;
    const struct setting *on = setting_of(s, "policy.megatron_cfg.enabled");
    const char *devices = holds(s, "actor_train.") ? "actor_train.device_mapping"
                          : holds(s, "sft_train.") ? "sft_train.device_mapping"
                                                   : NULL;
    TRY(take_backend(r, s, err));
    if (path_ends_with(r->file, ".toml")) take_prime(r, s);
    bool areal = is_below(r->sharding ? r->sharding : "", "megatron") && holds(s, "actor.");
    bool megatron = is_below(r->sharding ? r->sharding : "", "megatron") ||
                    holds(s, "models.policy_trainer.") ||
                    holds(s, "actor_rollout_ref.actor.megatron.") || (on && is(on->text, "true"));
    static const char *const sharded[] = {
        "actor_rollout_ref.actor.megatron.use_distributed_optimizer",
        "policy.megatron_cfg.distributed_data_parallel_config.use_distributed_optimizer",
        "models.policy_trainer.use_distributed_optimizer",
        "actor_train.strategy_args.strategy_config.use_distributed_optimizer",
        "sft_train.strategy_args.strategy_config.use_distributed_optimizer",
        "actor.megatron.ddp.use_distributed_optimizer"};
    bool stated = false;
    for (size_t i = 0; i < ARRAY_LENGTH(sharded); i++) stated |= setting_of(s, sharded[i]) != NULL;
    if (!stated) l->zero = !devices; // as the programs have it
    if (areal) l->sequence_parallel = l->tensor > 1;
    if (megatron && holds(s, "actor_rollout_ref.") &&
        !setting_of(s, "actor_rollout_ref.actor.megatron.sequence_parallel"))
        l->sequence_parallel = true;
    if (r->ulysses > 1) l->context = r->ulysses, r->job.context_kind = CONTEXT_ALL_TO_ALL;
    if (devices) TRY(take_devices(r, s, devices, err));
    TRY(set_batch(r, s, asked, err));
    core_fit_micro_batch(r, s);
    r->fp16 = is(r->dtype, "float16") || is(r->dtype, "fp16");
    r->bf16 = !r->fp16 && !is(r->dtype, "float32") && !is(r->dtype, "fp32");
    if (megatron) {
        bool nemo = holds(s, "policy.megatron_cfg.") || areal;
        if (nemo && r->checkpointed && !r->granularity) r->granularity = "full";
        if (nemo && !r->checkpointed) r->granularity = NULL;
    } else {
        r->job.trainer = TRAINER_OTHER;
        l->zero = keeps_weights(s) ? 2 : 3, l->gradient_sync = SYNC_OVERLAPPED;
        TRY(take_zero(r, s, err));
        r->granularity = r->checkpointed ? "full" : NULL;
    }
    if (is(r->granularity, "full") && !r->method) r->method = "uniform";
    if (is(r->fp8, "false") || is(r->fp8, "none")) r->fp8 = NULL;
    core_module_list(r, s, &rl_rows);
    core_modules(r, s);
    settings_take_offload(r, s);
    said_assume(&s->said,
                "an update of the policy alone, as %s: rollouts and other models are no part of "
                "the job, and every sequence is full",
                megatron                              ? "Megatron trains it"
                : r->job.trainer == TRAINER_DEEPSPEED ? "DeepSpeed trains it"
                                                      : "FSDP trains it");
    if (r->model)
        said_assume(&s->said, "the model is %.80s: from its config.json (plumbline import hf)",
                    r->model);
    bool core = holds(s, "actor_rollout_ref.model.lora.") || holds(s, "policy.megatron_cfg.peft.");
    adapters_default(r, s,
                     holds(s, "actor.")                 ? 32
                     : path_ends_with(r->file, ".toml") ? 16
                                                        : 8,
                     core ? ADAPTED_BY_CORE : "all");
    return core_check(r, err);
}

static enum status make_job(struct run *r, struct error *err)
{
    enum trainer trainer = r->job.trainer;
    bool whole = r->job.layout.zero == 3 || trainer == TRAINER_DEEPSPEED;
    TRY(core_job(r, err));
    r->job.trainer = trainer;
    if (whole) r->job.gradient_bytes_per_value = trainer_gradient_bytes(trainer, r->job.precision);
    return job_check(&r->job, err);
}

static const struct run defaults = {.checkpointed = true,
                                    .position_type = "rope",
                                    .optimizer = "adam",
                                    .backend = "auto",
                                    .adapters.on = -1};
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
    .text = "veRL's, NeMo RL's, ROLL's, AReaL's, prime-rl's, ChatLearn's ... -> job of the update",
    .usage = "plumbline import rl FILE.sh|CONFIG.yaml|CONFIG.toml [--gpus N] [-o job.json]",
    READER(option_rows, struct asked, defaults_asked),
};
