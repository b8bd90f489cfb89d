// See internal.h: by DeepSpeed's stage, FSDP's words, or the name of a file that has them.
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "data/base/names.h"
#include "data/import/jobs/core.h"
#include "data/import/trainers/internal.h"

// The stage in a name such as ds_z3_offload_config.json, zero2, stage3.json; -1: none.
static int stage_in(const char *text)
{
    static const char *const before[] = {"zero", "stage", "z"};
    for (const char *at = text; *at; at++)
        for (size_t i = 0; i < ARRAY_LENGTH(before); i++) {
            size_t length = strlen(before[i]);
            if (strncasecmp(at, before[i], length)) continue;
            const char *digit = at + length + strspn(at + length, "_-");
            if (*digit >= '0' && *digit <= '3' && !isdigit((unsigned char)digit[1]))
                return *digit - '0';
        }
    return -1;
}

// Replicas of what groups of data ranks shard, as stated, or with a hybrid strategy the nodes,
// whose GPUs are what the launch says, or eight.
static enum status set_groups(struct run *r, struct settings *s, bool hybrid, struct error *err)
{
    enum { USUAL_GPUS = 8 };
    struct layout *l = &r->job.layout;
    int64_t stated = !setting_of(s, "num-processes") && r->processes > 0 ? r->processes : 0,
            node = (stated ? stated : USUAL_GPUS) / ((int64_t)l->tensor * l->context);
    if (r->replicas <= 1 && (!hybrid || r->shards || node < 1 || node >= l->data)) return OK;
    if (r->replicas > 1 ? l->data % r->replicas : l->data % node)
        return settings_refuse(s, r->replicas > 1 ? "dp-replicate-size" : "fsdp", err,
                               "expected replicas of shards that divide %d data ranks, found %lld",
                               l->data, (long long)(r->replicas > 1 ? r->replicas : node));
    l->data_shard = (int)(r->replicas > 1 ? l->data / r->replicas : node);
    if (r->replicas <= 1)
        said_assume(&s->said, "hybrid_shard: states are sharded over the %d data ranks of a node",
                    l->data_shard);
    return OK;
}

// FSDP's words, Accelerate's numbers of them, ms-swift's preset.
static enum status set_fsdp(struct run *r, struct settings *s, struct error *err)
{
    static const struct {
        const char *word;
        int zero;
    } words[] = {{"full_shard", 3},
                 {"shard_grad_op", 2},
                 {"hybrid_shard_zero2", 2},
                 {"hybrid_shard", 3},
                 {"no_shard", 0},
                 {"fsdp2", 3},
                 {"1", 3},
                 {"2", 2},
                 {"3", 0},
                 {"4", 3},
                 {"5", 2}};
    struct layout *l = &r->job.layout;
    const char *text = r->sharding;
    size_t i = 0;
    if (!text || !*text || !strcasecmp(text, "false")) return OK;
    while (i < ARRAY_LENGTH(words) && !find_in_any_case(text, words[i].word)) i++;
    if (strchr(text, '.') || i == ARRAY_LENGTH(words))
        return settings_refuse(
            s, "fsdp", err,
            "expected full_shard, shard_grad_op, hybrid_shard or no_shard, found \"%.60s\"", text);
    l->zero = words[i].zero;
    l->offload_optimizer |= r->cpu_offload || find_in_any_case(text, "offload");
    if (l->offload_optimizer)
        said_assume(&s->said, "offload: the optimizer on the host; weights and gradients stay");
    return l->zero ? set_groups(r, s,
                                find_in_any_case(text, "hybrid") || !strcmp(text, "4") ||
                                    !strcmp(text, "5"),
                                err)
                   : OK;
}

// By the name of Accelerate's configuration, where nothing else says how states are sharded.
static enum status set_accelerate(struct run *r, struct settings *s, struct error *err)
{
    const char *name = r->accelerate;
    bool fsdp = find_in_any_case(name, "fsdp");
    if (!name || r->about || r->sharding || setting_of(s, "zero-stage")) return OK;
    if (stage_in(name) >= 0) return r->about = name, OK;
    if (!fsdp && !find_in_any_case(name, "ddp") && !find_in_any_case(name, "multi_gpu") &&
        !find_in_any_case(name, "single"))
        return settings_refuse(s, "config-file", err,
                               "how states are sharded is stated in %.80s: add --zero_stage, or "
                               "--fsdp_sharding_strategy, to the launch",
                               name);
    r->sharding = fsdp ? "full_shard" : "no_shard";
    said_assume(&s->said, "%s, as the name %.80s says", r->sharding, name);
    return OK;
}

// "zero3_offload" does, "stage3_no_offloading" does not.
static bool offloads(const char *name)
{
    return find_in_any_case(name, "offload") && !find_in_any_case(name, "no_offload") &&
           !find_in_any_case(name, "no-offload") && !find_in_any_case(name, "without_offload");
}

enum status trainer_sharding(struct run *r, struct settings *s, struct error *err)
{
    struct layout *l = &r->job.layout;
    TRY(set_accelerate(r, s, err));
    if (!r->about && !r->sharding && !setting_of(s, "zero-stage")) { // Accelerate's, unless told
        if (r->fsdp) r->sharding = "full_shard";
        else if (r->deepspeed) r->about = "zero2";
    }
    l->offload_optimizer |= r->offload && strcasecmp(r->offload, "none") != 0;
    bool deepspeed = r->about && *r->about && strcasecmp(r->about, "none") != 0;
    bool stated = setting_of(s, "zero-stage") != NULL;
    int stage = deepspeed && !stated ? core_stage(r, s, r->about) : -1;
    bool read = stage >= 0;
    if (deepspeed && !stated && !read) stage = stage_in(r->about);
    if (stated) stage = r->zero_stage, deepspeed = true;
    r->job.trainer = deepspeed ? TRAINER_DEEPSPEED : TRAINER_OTHER;
    if (deepspeed && stage < 0)
        return settings_refuse(s, "deepspeed", err,
                               "the ZeRO stage is stated in %.80s: add zero_stage to the file",
                               r->about);
    if (stage > 3) return settings_refuse(s, "zero-stage", err, "expected 0 to 3");
    if (deepspeed && stage && l->offload_optimizer && !read)
        said_assume(&s->said, "--offload: the optimizer on the host; weights stay on the GPU");
    if (deepspeed)
        l->zero = stage,
        l->offload_optimizer = stage && (l->offload_optimizer || (!read && offloads(r->about)));
    else TRY(set_fsdp(r, s, err));
    if (read && r->shards > 0) TRY(core_set_groups(r, err));
    if (!deepspeed && !(r->sharding && *r->sharding))
        said_assume(&s->said, "states are not sharded, as neither --deepspeed nor --fsdp is here");
    bool beside = l->zero == 3 || !deepspeed || setting_of(s, "overlap-comm") ||
                  setting_of(s, "ds.overlap-comm");
    l->gradient_sync = beside ? SYNC_OVERLAPPED : SYNC_EXPOSED;
    if (deepspeed && !read && !setting_of(s, "zero-stage") && strcmp(r->about, "z0") != 0)
        said_assume(&s->said, "ZeRO %d%s, as the name %.80s says", stage,
                    l->offload_optimizer ? " with the optimizer on the host" : "", r->about);
    return OK;
}
