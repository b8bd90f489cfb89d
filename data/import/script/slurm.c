// Lines of #SBATCH: what Slurm sets for the script's commands.
#include <ctype.h>
#include <string.h>

#include "data/import/launcher.h"
#include "data/import/script/internal.h"

static const char *const variables[][4] = {
    [LAUNCHER_NODES] = {"SLURM_NNODES", "SLURM_JOB_NUM_NODES"},
    [LAUNCHER_PER_NODE] = {"SLURM_NTASKS_PER_NODE", "SLURM_TASKS_PER_NODE"},
    [LAUNCHER_GPUS] = {"SLURM_GPUS_PER_NODE", "SLURM_GPUS_ON_NODE"},
    [LAUNCHER_PROCESSES] = {"SLURM_NTASKS", "SLURM_NPROCS"}};

static void take(struct follow *f, const char *word, const char *next)
{
    enum launcher_states states;
    const char *value, *number;
    if (!launcher_option(LAUNCHER_SLURM, word, next, &states, &value) || states == LAUNCHER_HOSTS ||
        !launcher_number(value))
        return;
    number = arena_print(f->arena, "%lld", (long long)launcher_number(value));
    for (int k = 0; k < 4 && variables[states][k]; k++)
        script_set(f, variables[states][k], strlen(variables[states][k]), number, false);
    if (states == LAUNCHER_NODES) f->script->nodes = arena_copy_text(f->script->arena, number);
    // Tasks, unless one starts the others.
    bool tasks = states == LAUNCHER_PER_NODE && strcmp(number, "1") != 0;
    if (tasks || (states == LAUNCHER_GPUS && !f->script->of_node))
        f->script->of_node = arena_copy_text(f->script->arena, number);
}

static const char *word_at(struct follow *f, const char **at, const char *end)
{
    while (*at < end && isspace((unsigned char)**at)) ++*at;
    const char *begin = *at;
    while (*at < end && !isspace((unsigned char)**at)) ++*at;
    return arena_print(f->arena, "%.*s", (int)(*at - begin), begin);
}

void script_take_directives(struct follow *f, const char *text)
{
    static const char mark[] = "#SBATCH";
    for (const char *at = text; (at = strstr(at, mark));) {
        const char *end = at + strcspn(at, "\n"), *word = at + sizeof mark - 1;
        bool first = at == text || at[-1] == '\n';
        const char *comment = memchr(word, '#', (size_t)(end - word)), *next;
        if (comment) end = comment;
        if (first && script_step(f))
            for (const char *this = word_at(f, &word, end); *this; this = next) {
                next = word_at(f, &word, end);
                take(f, this, next);
            }
        at = end;
    }
}
