// See gpus.h.
#include "data/import/gpus.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "data/base/status.h"

static const struct {
    const char *word, *gpu;
} gpus[] = {{"A100", "a100"},
            {"A800", "a800"},
            {"H100", "h100"},
            {"H800", "h800"},
            {"H200", "h200"},
            {"H20", "h20"},
            {"GB200", "gb200"},
            {"GB300", "gb300"},
            {"B200", "b200"},
            {"B300", "b300"},
            {"V100", "v100"},
            {"MI300X", "mi300x"},
            {"MI325X", "mi325x"},
            {"MI355X", "mi355x"},
            {"L40S", "l40s"},
            {"L20", "l20"},
            {"A40", "a40"},
            {"A6000", "a6000"},
            {"3090", "rtx3090"},
            {"4090", "rtx4090"},
            {"RTX3090", "rtx3090"},
            {"RTX4090", "rtx4090"},
            {"T4", "t4"},
            {"GH200", "gh"},
            {"910A", "ascend-910a"},
            {"910B", "ascend-910b"},
            {"A10G", "a10g"},
            {"A10", "a10"},
            {"A5000", "a5000"},
            {"A4000", "a4000"},
            {"A4500", "a4500"},
            {"L40", "l40"},
            {"MI250X", "mi250"},
            {"MI250", "mi250"},
            {"MI300", "mi300x"},
            {"MI210", "mi210"},
            {"910B2", "ascend-910b"},
            {"910B3", "ascend-910b"},
            {"910B4", "ascend-910b4"},
            {"910C", "ascend-910c"},
            {"3080", "rtx3080"},
            {"3060", "rtx3060"},
            {"3070", "rtx3070"},
            {"4080", "rtx4080"},
            {"4070", "rtx4070"},
            {"5090", "rtx5090"},
            {"RTX5090", "rtx5090"},
            {"2080Ti", "rtx2080ti"},
            {"RTX6000", "rtx6000"},
            {"RTX8000", "rtx8000"},
            {"W7900", "w7900"},
            {"W6800", "w6800"},
            {"7900XTX", "rx7900xtx"},
            {"GB10", "gb10"},
            {"L4", "l4"},
            {"A30", "a30"},
            {"P100", "p100"},
            {"P40", "p40"},
            {"M40", "m40"},
            {"MI100", "mi100"}};

int gpu_at(const char *s, size_t length)
{
    for (size_t i = 0; i < ARRAY_LENGTH(gpus); i++) {
        size_t n = strlen(gpus[i].word);
        if (length == n + 1 && s[n] == 's' && !strncasecmp(s, gpus[i].word, n)) return (int)i;
        if (n == length && !strncasecmp(s, gpus[i].word, n)) return (int)i;
        bool card = !strncmp(s, "RTX", 3) && isdigit((unsigned char)gpus[i].word[0]);
        if (length == n + 3 && (card || !strncmp(s, "DGX", 3) || !strncmp(s, "HGX", 3)) &&
            !strncasecmp(s + 3, gpus[i].word, n))
            return (int)i;
    }
    return -1;
}

const char *gpu_name(int index) { return gpus[index].gpu; }

int count_word(const char *s, size_t length)
{
    static const struct {
        const char *word;
        int value;
    } numbers[] = {{"dual", 2}, {"two", 2},     {"three", 3},   {"four", 4},  {"quad", 4},
                   {"five", 5}, {"six", 6},     {"seven", 7},   {"eight", 8}, {"single", 1},
                   {"one", 1},  {"twelve", 12}, {"sixteen", 16}};
    for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++)
        if (strlen(numbers[i].word) == length && !strncasecmp(s, numbers[i].word, length))
            return numbers[i].value;
    return 0;
}
