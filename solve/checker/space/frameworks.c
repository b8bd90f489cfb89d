// What the frameworks run, as docs/FORMATS.md (job) tells it: one question a framework, each asked
// of a layout as it stands. The planner's table is data/inputs/framework.c.
#include "solve/checker/space/space.h"

#include <string.h>

const char *const check_framework_names[] = {"any", "megatron", "torchtitan", "deepspeed", NULL};

static bool is_scheduled(const struct check_layout *l, const char *name)
{
    return strcmp(check_schedule_names[l->value[KEY_SCHEDULE]], name) == 0;
}

// None of them splits a product by more than one axis, learns from local losses, joins the ends'
// embedding syncs, or goes on before all ranks are done. (The walk has seen to an only rank's
// schedule and sequence parallelism.)
static bool is_common(const struct check_layout *l)
{
    const int *v = l->value;
    return !l->grid[0] && v[KEY_LOCAL] == 0 && !v[KEY_FUSED_EMBEDDING] && v[KEY_BARRIER];
}

// 1F1B, or interleaved over equal stages, where the first and the last layer may be counted or not;
// the distributed optimizer or none, in host memory the distributed one alone.
static bool megatron_runs(const struct check_space *s, const struct check_layout *l)
{
    const int *v = l->value;
    int stages = v[KEY_PIPELINE] * v[KEY_TURNS];
    bool even = v[KEY_TURNS] == 1 || (stages <= s->layers && s->layers % stages <= 2);
    if (v[KEY_ZERO] > 1 || (v[KEY_OFFLOAD] && v[KEY_ZERO] != 1)) return false;
    return is_scheduled(l, "1f1b") || (is_scheduled(l, "interleaved") && even);
}

// FSDP2, kept whole between forward and backward or not, its syncs beside the backward; or weights
// that are whole, where nothing would share them or only replicas do (DDP).
static bool torchtitan_runs(const struct check_layout *l)
{
    static const char *const schedules[] = {"1f1b", "gpipe", "interleaved", "looped-bfs", "zb-v"};
    const int *v = l->value;
    bool known = false, alone = v[KEY_DATA] == 1 && v[KEY_CONTEXT] == 1,
         replicas = v[KEY_TENSOR] == 1 && v[KEY_CONTEXT] == 1 && v[KEY_PIPELINE] == 1;
    for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++)
        known = known || is_scheduled(l, schedules[i]);
    if (!known || v[KEY_OFFLOAD] || !v[KEY_OVERLAPPED]) return false;
    return v[KEY_ZERO] == 0 ? alone || replicas : v[KEY_ZERO] != 1;
}

// Its pipeline: 1F1B, ZeRO 1 at most, gradients behind the backward. Without: every stage of ZeRO,
// of which those that shard something may sync beside the backward. Those may offload.
static bool deepspeed_runs(const struct check_layout *l)
{
    const int *v = l->value;
    bool piped = v[KEY_PIPELINE] > 1, shards = v[KEY_ZERO] > 0;
    if (v[KEY_CONTEXT] != 1 || !is_scheduled(l, "1f1b")) return false;
    if (piped && (v[KEY_ZERO] > 1 || v[KEY_OVERLAPPED])) return false;
    return shards || !(v[KEY_OVERLAPPED] || v[KEY_OFFLOAD]);
}

bool check_is_run(const struct check_space *s, const struct check_layout *l)
{
    switch (s->framework) {
    case RUN_BY_ANY: return true;
    case RUN_BY_MEGATRON: return is_common(l) && megatron_runs(s, l);
    case RUN_BY_TORCHTITAN: return is_common(l) && torchtitan_runs(l);
    case RUN_BY_DEEPSPEED: return is_common(l) && deepspeed_runs(l);
    }
    return false;
}
