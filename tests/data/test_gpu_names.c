// Names of GPUs as programs print them, against shipped ones.
#include <string.h>

#include "data/base/names.h"
#include "tests/support/check.h"

static const char *const gpus[] = {
    "a100-80gb",    "a100-40gb",  "h100-80gb",  "h200-141gb",  "v100-32gb",
    "v100-16gb",    "t4-16gb",    "b200-180gb", "gb200-186gb", "mi300x-192gb",
    "rtx4090-24gb", "a6000-48gb", "a40-48gb",   "l40s-48gb",   NULL};

// The first of them that the name means; NULL: none.
static const char *meant(const char *name)
{
    for (const char *const *gpu = gpus; *gpu; gpu++)
        if (name_is_gpu(name, strlen(name), *gpu)) return *gpu;
    return NULL;
}

// A card of a known model is nearest to that model, whatever words and letters it has besides.
TEST(cards_are_nearest_to_their_model)
{
    (void)arena;
    static const struct {
        const char *name, *gpu;
    } names[] = {{"H100 NVL", "h100-80gb"},
                 {"NVIDIA H100 NVL", "h100-80gb"},
                 {"NVIDIA H100 PCIe", "h100-80gb"},
                 {"NVIDIA A100-PCIE-40GB", "a100-80gb"},
                 {"Tesla V100-PCIE-16GB", "v100-32gb"},
                 {"h100-81gb", "h100-80gb"},
                 {"NVIDIA Q4711", NULL}};
    int count = ARRAY_LENGTH(gpus) - 1;
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        int at = name_related_gpu(names[i].name, gpus, count);
        const char *found = at < 0 ? "none" : gpus[at];
        assert_string_equal(found, names[i].gpu ? names[i].gpu : "none");
    }
}

TEST(names_of_gpus)
{
    (void)arena;
    static const struct {
        const char *name, *gpu;
    } names[] = {{"NVIDIA H100 80GB HBM3", "h100-80gb"},
                 {"NVIDIA A100-SXM4-80GB", "a100-80gb"},
                 {"NVIDIA A100-SXM4-40GB", "a100-40gb"},
                 {"A100", "a100-80gb"},
                 {"A100(DGX-A100)", "a100-80gb"},
                 {"gpu:nvidia_h200:8", "h200-141gb"},
                 {"Tesla V100-SXM2-16GB", "v100-16gb"},
                 {"Tesla T4", "t4-16gb"},
                 {"NVIDIA GB200", "gb200-186gb"},
                 {"NVIDIA B200", "b200-180gb"},
                 {"AMD Instinct MI300X", "mi300x-192gb"},
                 {"NVIDIA GeForce RTX 4090", "rtx4090-24gb"},
                 {"4090", "rtx4090-24gb"},
                 {"NVIDIA RTX A6000", "a6000-48gb"},
                 {"NVIDIA L40S", "l40s-48gb"},
                 {"mi300x-192gb", "mi300x-192gb"},
                 {"A100-20GB", NULL},
                 {"NVIDIA H100 PCIe", NULL},
                 {"NVIDIA H100 NVL", NULL},
                 {"A10", NULL},
                 {"TPU", NULL},
                 {"A4000", NULL},
                 {"RTX", NULL},
                 {"", NULL}};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        const char *gpu = meant(names[i].name), *expected = names[i].gpu;
        if (!gpu != !expected || (gpu && strcmp(gpu, expected)))
            fail_msg("%s: %s instead of %s", names[i].name, gpu ? gpu : "none",
                     expected ? expected : "none");
    }
}
