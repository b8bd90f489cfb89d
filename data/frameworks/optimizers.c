// What optimizers keep of each value that they train, by their names.
#include <string.h>

#include "data/base/names.h"
#include "data/frameworks/run.h"

// Moments in fp32. What a part of another name is comes first.
static const struct {
    const char *word, *keeps;
    int bytes, with_momentum;
} optimizers[] = {
    {"ademamix", "three moments", 12, 12},
    {"adafactor", "sums of rows and columns alone", 0, 0},
    {"adagrad", "one moment", 4, 4},
    {"adam", NULL, 8, 8},
    {"lamb", NULL, 8, 8},
    {"rmsprop", "one moment", 4, 8},
    {"lion", "one moment", 4, 4},
    {"muon", "one moment, of embeddings and vectors, too", 4, 4},
    {"sgd", NULL, 0, 4},
};

const char *optimizer_set(struct job *j, const char *name, const struct optimizer_way *way)
{
    const char *keeps = "no moment is known";
    int bytes = 0;
    size_t i = 0;
    while (i < ARRAY_LENGTH(optimizers) && !find_in_any_case(name, optimizers[i].word)) i++;
    if (i < ARRAY_LENGTH(optimizers)) {
        keeps = optimizers[i].keeps;
        bytes = way->momentum ? optimizers[i].with_momentum : optimizers[i].bytes;
        if (!keeps && bytes < 8) keeps = bytes ? "one moment" : "no moment";
    }
    if (way->moment_bytes) bytes = bytes * way->moment_bytes / 4;
    const struct job usual = {.precision = j->precision};
    int all = bytes + (way->weights && j->precision != FP32 ? 4 : 0);
    j->adam = all > 0;
    j->state_bytes_per_value = j->adam && all != job_state_bytes(&usual) ? all : 0;
    return keeps;
}

// In the order of enum narrow_optimizer.
static const char *const narrow[] = {"galore", "apollo", "lomo", "4bit", "8bit", NULL};

enum narrow_optimizer optimizer_narrow(const char *name)
{
    int i = 0;
    while (narrow[i] && !find_in_any_case(name, narrow[i])) i++;
    return (enum narrow_optimizer)i;
}

int eight_bit_state_bytes(const char *optimizer, enum precision precision)
{
    bool adam = optimizer_narrow(optimizer) == NARROW_EIGHT_BITS &&
                find_in_any_case(optimizer, "adam");
    return adam ? (precision == FP32 ? 0 : 4) + 2 : 0;
}
