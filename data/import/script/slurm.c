// Lines of #SBATCH: what Slurm sets for the script's commands.
#include <ctype.h>
#include <string.h>

#include "data/import/script/internal.h"

enum { NODES, TASKS, GPUS, ALL_TASKS };
static const struct directive {
    const char *option; // with two dashes, or one and a letter
    int what;
} directives[] = {{"--nodes", NODES},        {"-N", NODES},    {"--ntasks-per-node", TASKS},
                  {"--gpus-per-node", GPUS}, {"--gres", GPUS}, {"--gpus-per-task", -1},
                  {"--ntasks", ALL_TASKS},   {"-n", ALL_TASKS}};
static const char *const variables[][4] = {
    [NODES] = {"SLURM_NNODES", "SLURM_JOB_NUM_NODES"},
    [TASKS] = {"SLURM_NTASKS_PER_NODE", "SLURM_TASKS_PER_NODE"},
    [GPUS] = {"SLURM_GPUS_PER_NODE", "SLURM_GPUS_ON_NODE"},
    [ALL_TASKS] = {"SLURM_NTASKS", "SLURM_NPROCS"}};

// "8", "gpu:8", "gpu:h100:8"; NULL: no number.
static const char *number_of(struct follow *f, const char *at, const char *end)
{
    const char *colon = memchr(at, ':', (size_t)(end - at));
    for (const char *next = colon; next; next = memchr(at, ':', (size_t)(end - at))) at = next + 1;
    size_t length = 0;
    while (at + length < end && isdigit((unsigned char)at[length])) length++;
    bool whole = length && length < 8 && (at + length == end || isspace((unsigned char)at[length]));
    return whole ? arena_print(f->arena, "%.*s", (int)length, at) : NULL;
}

static void take(struct follow *f, const char *at, const char *end)
{
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++) {
        const struct directive *d = &directives[i];
        size_t length = strlen(d->option);
        if ((size_t)(end - at) <= length || memcmp(at, d->option, length) != 0 || d->what < 0)
            continue;
        const char *value = at + length + (at[length] == '=' || at[length] == ' ');
        if (value == at + length && (d->option[1] == '-' || !isdigit((unsigned char)*value)))
            continue;
        const char *number = number_of(f, value, end);
        for (int k = 0; number && k < 4 && variables[d->what][k]; k++)
            script_set(f, variables[d->what][k], strlen(variables[d->what][k]), number, false);
        if (number && d->what == NODES)
            f->script->nodes = arena_copy_text(f->script->arena, number);
        // Tasks, unless one starts the others.
        bool several = d->what == GPUS || (d->what == TASKS && strcmp(number ? number : "1", "1"));
        if (number && several && (!f->script->of_node || d->what == TASKS))
            f->script->of_node = arena_copy_text(f->script->arena, number);
    }
}

void script_take_directives(struct follow *f, const char *text)
{
    static const char mark[] = "#SBATCH";
    for (const char *at = text; (at = strstr(at, mark));) {
        const char *end = at + strcspn(at, "\n"), *word = at + sizeof mark - 1;
        bool first = at == text || at[-1] == '\n';
        while (word < end && isspace((unsigned char)*word)) word++;
        const char *comment = memchr(word, '#', (size_t)(end - word));
        if (first && script_step(f)) take(f, word, comment ? comment : end);
        at = end;
    }
}
