// See gpus.h.
#include "data/import/gpus.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "data/base/status.h"

// "l40s" before "l40", of which it could be the plural.
static const char *const gpus[] = {
    "a100",    "a800",        "h100",        "h800",      "h200",         "h20",         "gb200",
    "gb300",   "b200",        "b300",        "v100",      "mi300x",       "mi325x",      "mi355x",
    "l40s",    "l20",         "a40",         "a6000",     "rtx3090",      "rtx4090",     "t4",
    "gh",      "ascend-910a", "ascend-910b", "a10g",      "a10",          "a5000",       "a4000",
    "a4500",   "l40",         "mi250",       "mi210",     "ascend-910b4", "ascend-910c", "rtx3080",
    "rtx3060", "rtx3070",     "rtx4080",     "rtx4070",   "rtx5090",      "rtx2080ti",   "rtx6000",
    "rtx8000", "w7900",       "w6800",       "rx7900xtx", "gb10",         "l4",          "a30",
    "p100",    "p40",         "m40",         "mi100"};
static const struct {
    const char *word, *gpu;
} also[] = {{"gh200", "gh"},           {"3090", "rtx3090"},      {"4090", "rtx4090"},
            {"mi300", "mi300x"},       {"mi250x", "mi250"},      {"910a", "ascend-910a"},
            {"910b", "ascend-910b"},   {"910b2", "ascend-910b"}, {"910b3", "ascend-910b"},
            {"910b4", "ascend-910b4"}, {"910c", "ascend-910c"},  {"3080", "rtx3080"},
            {"3060", "rtx3060"},       {"3070", "rtx3070"},      {"4080", "rtx4080"},
            {"4070", "rtx4070"},       {"5090", "rtx5090"},      {"2080ti", "rtx2080ti"},
            {"7900xtx", "rx7900xtx"}};

static bool is_called(const char *s, size_t length, const char *word)
{
    size_t n = strlen(word);
    bool plural = length == n + 1 && s[n] == 's',
         maker = length == n + 3 && (!strncmp(s, "DGX", 3) || !strncmp(s, "HGX", 3));
    return (length == n || plural || maker) && !strncasecmp(s + (maker ? 3 : 0), word, n);
}

int gpu_at(const char *s, size_t length)
{
    int found = 0;
    bool digit = false; // each name has one
    for (size_t i = 0; i < length; i++) digit |= s[i] >= '0' && s[i] <= '9';
    if (!digit) return -1;
    for (size_t i = 0; i < ARRAY_LENGTH(gpus); i++) // "gh" alone is a program
        if (strcmp(gpus[i], "gh") && is_called(s, length, gpus[i])) return (int)i;
    for (size_t i = 0; i < ARRAY_LENGTH(also); i++) {
        if (!is_called(s, length, also[i].word)) continue;
        while (strcmp(gpus[found], also[i].gpu)) found++;
        return found;
    }
    return -1;
}

const char *gpu_name(int index) { return gpus[index]; }

int count_word(const char *s, size_t length)
{
    static const struct {
        const char *word;
        int value;
    } numbers[] = {{"dual", 2},     {"two", 2},     {"pair", 2},    {"couple", 2},    {"three", 3},
                   {"four", 4},     {"quad", 4},    {"five", 5},    {"six", 6},       {"seven", 7},
                   {"eight", 8},    {"nine", 9},    {"ten", 10},    {"twelve", 12},   {"dozen", 12},
                   {"sixteen", 16}, {"twenty", 20}, {"thirty", 30}, {"hundred", 100}, {"single", 1},
                   {"one", 1}};
    for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++)
        if (*numbers[i].word == (*s | 32) && strlen(numbers[i].word) == length &&
            !strncasecmp(s, numbers[i].word, length))
            return numbers[i].value;
    return 0;
}
