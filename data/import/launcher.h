// What starts the processes of a run (mpirun, srun, torchrun, deepspeed, Accelerate), and its
// options that say how many there are and where.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    LAUNCHER_MPI = 1,
    LAUNCHER_SLURM = 2,
    LAUNCHER_TORCH = 4,
    LAUNCHER_DEEPSPEED = 8,
    LAUNCHER_ACCELERATE = 16,
    LAUNCHER_STARTS = LAUNCHER_MPI | LAUNCHER_SLURM, // any program; the others start Python's
    LAUNCHER_PYTHON = LAUNCHER_TORCH | LAUNCHER_DEEPSPEED | LAUNCHER_ACCELERATE
};
enum launcher_states {
    LAUNCHER_PROCESSES, // of all nodes
    LAUNCHER_NODES,
    LAUNCHER_PER_NODE, // processes of each node
    LAUNCHER_GPUS,     // of each node
    LAUNCHER_HOSTS,    // names, or a file of names
    LAUNCHER_STATES
};

int launcher_of(const char *word); // one of the above; 0: it starts nothing
// What stands behind an option in "-n8" or "--np=8", or `next` where the word is the option alone
// ('_' counts as '-'); NULL: the word is another one.
const char *launcher_value(const char *word, const char *option, const char *next);
// Whether the word is such an option of these launchers, and its value.
bool launcher_option(int of, const char *word, const char *next, enum launcher_states *states,
                     const char **value);
// "8", "ppr:8:node", "gpu:8", "gpu:h100:8(S:0-1)"; 0: no such number up to 2^24.
int64_t launcher_number(const char *value);
// Of "a,b" or "a:8,b:8" the hosts, and the sum of their slots (0: not stated); 0 of a file or
// range.
int64_t launcher_hosts(const char *option, const char *value, int64_t *slots);
