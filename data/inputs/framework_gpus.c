// What GPUs have, by compute capability, and from which on frameworks use it (docs/FORMATS.md,
// job).
#include <string.h>

#include "data/inputs/framework.h"

// Compute capabilities times 10, by the beginning of the GPU's name. Others are not judged.
static const struct {
    const char *begins;
    int capability;
} gpus[] = {{"v100", 70},  {"t4", 75},     {"a100", 80},  {"a800", 80},  {"a10", 86}, {"a40", 86},
            {"l4", 89},    {"h100", 90},   {"h800", 90},  {"h20", 90},   {"gh", 90},  {"b100", 100},
            {"b200", 100}, {"gb200", 100}, {"b300", 103}, {"gb300", 103}};

int gpu_capability(const char *gpu)
{
    int found = 0;
    size_t longest = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(gpus); i++) {
        size_t length = strlen(gpus[i].begins);
        if (length > longest && !strncmp(gpu, gpus[i].begins, length))
            found = gpus[i].capability, longest = length;
    }
    return found;
}

// Causal attention that keeps no scores: Transformer Engine calls FlashAttention 2 and cuDNN's,
// torchtitan PyTorch's calls of both, and otherwise plain products; the code of a DeepSpeed model
// may call PyTorch's memory-efficient kernel.
static int fuses_from(enum framework framework)
{
    return framework == FRAMEWORK_ANY ? 0 : framework == FRAMEWORK_DEEPSPEED ? 60 : 80;
}

const char *framework_unfused_gpu(enum framework framework, const struct cluster *cluster)
{
    for (int g = 0; g < cluster->group_count; g++) {
        int capability = gpu_capability(cluster->groups[g].gpu);
        if (capability && capability < fuses_from(framework)) return cluster->groups[g].gpu;
    }
    return NULL;
}

// Products of 8 bits and fewer: Transformer Engine (pytorch/quantization.py), torchtitan
// (components/quantization). Scales of 128 values are Hopper's; Blackwell takes them, too.
int precision_capability(enum precision precision)
{
    switch (precision) {
    case FP8: return 89;
    case FP8_BLOCK: return 90;
    case MXFP8:
    case NVFP4: return 100;
    default: return 0;
    }
}

// Where no GPU of the cluster has them. Costs that list them nevertheless were measured.
static enum status check_precision(const struct job *j, const struct cluster *cluster,
                                   const struct costs *costs, const char *file, struct error *err)
{
    int needs = precision_capability(j->precision);
    for (int g = 0; g < cluster->group_count; g++) {
        const char *gpu = cluster->groups[g].gpu;
        const struct gpu_costs *known = costs_find_gpu(costs, gpu);
        int has = gpu_capability(gpu);
        if (!has || has >= needs || (known && costs_find_precision(known, j->precision))) return OK;
    }
    return fail(
        err, BAD_INPUT,
        "%s: precision: expected one that %s has (compute capability %.1f), found %s, which "
        "needs %.1f",
        file, cluster->groups[0].gpu, gpu_capability(cluster->groups[0].gpu) / 10.0,
        precision_names[j->precision], needs / 10.0);
}

enum status framework_check_gpus(const struct job *j, const struct cluster *cluster,
                                 const struct costs *costs, const char *file, struct error *err)
{
    TRY(check_precision(j, cluster, costs, file, err));
    enum framework framework = j->space.given ? j->space.framework : FRAMEWORK_ANY;
    const char *gpu = j->layout.fused_attention ? framework_unfused_gpu(framework, cluster) : NULL;
    if (!gpu) return OK;
    return fail(err, BAD_INPUT,
                "%s: layout.fused_attention: expected false, as %s has no fused attention for %s "
                "(it needs compute capability 8.0), found true",
                file, framework_names[framework], gpu);
}
