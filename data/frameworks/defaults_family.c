// What models of a family have: the family by the model's name, else by its shape.
#include "data/frameworks/defaults.h"

enum family { FAMILY_GPT, FAMILY_LLAMA, FAMILY_NEMOTRON, FAMILY_GEMMA };
static const int families[][TRAIT_LEARNED_POSITIONS + 1] = {
    [FAMILY_GPT] = {0, 0, 1, 1, 1, 1},
    [FAMILY_LLAMA] = {1, 1, 0, 0, 0, 0}, // and Mistral, Qwen, DeepSeek
    [FAMILY_NEMOTRON] = {0, 0, 0, 0, 0, 0},
    [FAMILY_GEMMA] = {1, 1, 1, 0, 0, 0},
};
static const struct {
    const char *word;
    enum family family;
} family_words[] = {{"nemotron4", FAMILY_NEMOTRON},
                    {"nemotron-4", FAMILY_NEMOTRON},
                    {"llama", FAMILY_LLAMA},
                    {"mistral", FAMILY_LLAMA},
                    {"mixtral", FAMILY_LLAMA},
                    {"qwen", FAMILY_LLAMA},
                    {"deepseek", FAMILY_LLAMA},
                    {"gemma", FAMILY_GEMMA},
                    {"gpt", FAMILY_GPT},
                    {"opt-", FAMILY_GPT},
                    {"mpt", FAMILY_GPT}};

// A FFN of experts or of another width than 4 h is gated; of 4 h with Nemotron's vocabulary it is
// Nemotron's.
static enum family family_of(const struct run_facts *f, const char **why)
{
    for (size_t i = 0; i < ARRAY_LENGTH(family_words) && f->model.length; i++)
        if (cell_contains(f->model, family_words[i].word))
            return *why = "the model's name", family_words[i].family;
    bool plain = f->ffn == NOT_STATED || f->ffn == 4 * f->hidden, nemotron = f->vocab == 256000;
    plain = plain && !f->mixture;
    *why = plain && !nemotron ? "" : "its shape";
    return !plain ? FAMILY_LLAMA : nemotron ? FAMILY_NEMOTRON : FAMILY_GPT;
}

const int *family_traits(const struct run_facts *f, const char **why)
{
    return families[family_of(f, why)];
}
