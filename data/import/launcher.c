// See launcher.h.
#include "data/import/launcher.h"

#include <stdlib.h>
#include <string.h>

#include "data/base/file.h"

static const struct {
    const char *name;
    int launcher;
} names[] = {
    {"mpirun", LAUNCHER_MPI},
    {"mpiexec", LAUNCHER_MPI},
    {"orterun", LAUNCHER_MPI},
    {"prun", LAUNCHER_MPI},
    {"aprun", LAUNCHER_MPI},
    {"srun", LAUNCHER_SLURM},
    {"flux", LAUNCHER_SLURM},
    {"torchrun", LAUNCHER_TORCH},
    {"torch.distributed.run", LAUNCHER_TORCH},
    {"torch.distributed.launch", LAUNCHER_TORCH},
    {"deepspeed", LAUNCHER_DEEPSPEED},
    {"accelerate", LAUNCHER_ACCELERATE},
};

static const struct {
    const char *name;
    int of;
    enum launcher_states states;
} options[] = {
    {"-n", LAUNCHER_MPI | LAUNCHER_SLURM, LAUNCHER_PROCESSES},
    {"-np", LAUNCHER_MPI, LAUNCHER_PROCESSES},
    {"--np", LAUNCHER_MPI, LAUNCHER_PROCESSES},
    {"--ntasks", LAUNCHER_SLURM, LAUNCHER_PROCESSES},
    {"--num-processes", LAUNCHER_ACCELERATE, LAUNCHER_PROCESSES},
    {"-N", LAUNCHER_SLURM, LAUNCHER_NODES},
    {"--nodes", LAUNCHER_SLURM, LAUNCHER_NODES},
    {"--nnodes", LAUNCHER_TORCH, LAUNCHER_NODES},
    {"--num-nodes", LAUNCHER_DEEPSPEED, LAUNCHER_NODES},
    {"--num-machines", LAUNCHER_ACCELERATE, LAUNCHER_NODES},
    {"-N", LAUNCHER_MPI, LAUNCHER_PER_NODE},
    {"-npernode", LAUNCHER_MPI, LAUNCHER_PER_NODE},
    {"--npernode", LAUNCHER_MPI, LAUNCHER_PER_NODE},
    {"-ppn", LAUNCHER_MPI, LAUNCHER_PER_NODE},
    {"--map-by", LAUNCHER_MPI, LAUNCHER_PER_NODE},
    {"-map-by", LAUNCHER_MPI, LAUNCHER_PER_NODE},
    {"--ntasks-per-node", LAUNCHER_SLURM, LAUNCHER_PER_NODE},
    {"--nproc-per-node", LAUNCHER_TORCH, LAUNCHER_PER_NODE},
    {"--num-gpus", LAUNCHER_DEEPSPEED, LAUNCHER_PER_NODE},
    {"--gpus-per-node", LAUNCHER_SLURM, LAUNCHER_GPUS},
    {"--gres", LAUNCHER_SLURM, LAUNCHER_GPUS},
    {"-H", LAUNCHER_MPI, LAUNCHER_HOSTS},
    {"-host", LAUNCHER_MPI, LAUNCHER_HOSTS},
    {"--host", LAUNCHER_MPI, LAUNCHER_HOSTS},
    {"-w", LAUNCHER_SLURM, LAUNCHER_HOSTS},
    {"--nodelist", LAUNCHER_SLURM, LAUNCHER_HOSTS},
    {"-hostfile", LAUNCHER_MPI, LAUNCHER_HOSTS},
    {"--hostfile", LAUNCHER_MPI, LAUNCHER_HOSTS},
    {"-machinefile", LAUNCHER_MPI, LAUNCHER_HOSTS},
    {"-f", LAUNCHER_MPI, LAUNCHER_HOSTS},
};

int launcher_of(const char *word)
{
    const char *name = path_name(word);
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        if (!strcmp(name, names[i].name)) return names[i].launcher;
    return 0;
}

const char *launcher_value(const char *word, const char *option, const char *next)
{
    size_t length = 0;
    for (; option[length]; length++)
        if (word[length] != option[length] && !(word[length] == '_' && option[length] == '-'))
            return NULL;
    if (!word[length]) return next;
    if (word[length] == '=') return word + length + 1;
    return length == 2 && word[length] >= '0' && word[length] <= '9' ? word + length : NULL;
}

bool launcher_option(int of, const char *word, const char *next, enum launcher_states *states,
                     const char **value)
{
    for (size_t i = 0; i < ARRAY_LENGTH(options) && *word == '-'; i++) {
        const char *text = options[i].of & of ? launcher_value(word, options[i].name, next) : NULL;
        if (!text) continue;
        *value = text, *states = options[i].states;
        return true;
    }
    return false;
}

int64_t launcher_number(const char *value)
{
    enum { MOST = 1 << 24 };
    const char *at = value, *colon = strchr(value, ':');
    if (!strncmp(value, "ppr:", 4)) at = value + 4;
    else if (*value < '0' || *value > '9') {
        size_t length = strcspn(value, "(");
        for (; colon && colon < value + length; colon = strchr(at, ':')) at = colon + 1;
    }
    char *end;
    long long number = strtoll(at, &end, 10);
    bool whole = end > at && (!*end || strchr(":( \t", *end));
    return whole && number > 0 && number <= MOST ? number : 0;
}

int64_t launcher_hosts(const char *option, const char *value, int64_t *slots)
{
    int64_t count = 0, stated = 0;
    *slots = 0;
    if (strstr(option, "file") || !strncmp(option, "-f", 2) || strchr(value, '[')) return 0;
    for (const char *at = value; *at; at += *at == ',') {
        size_t length = strcspn(at, ",");
        const char *colon = memchr(at, ':', length);
        long long own = colon ? strtoll(colon + 1, NULL, 10) : 0;
        if (own > 0 && own < 1 << 16) *slots += own, stated++;
        count++, at += length;
    }
    if (stated != count) *slots = 0;
    return count;
}
