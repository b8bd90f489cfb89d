// A launch script, followed as a shell would run it: assignments, branches, loops, functions,
// arrays, arithmetic. No command is executed; of other files, only scripts and settings beside it
// are read. What only
// the machine or the caller knows (an unset variable, $(nvidia-smi ...), the script's own
// arguments) stays in texts as an open name, between two control characters; tests see it as empty.
#pragma once

#include "data/base/arena.h"

enum { SCRIPT_OPEN = 1, SCRIPT_CLOSE = 2 }; // around an open name

// A variable that the caller sets: assignments to it in the script have no effect. A test of the
// machine, "[ -f x ]", may be given, too: value "true" or "false".
struct script_given {
    const char *name, *value;
};

// A command with its words, or a text that holds flags, as a variable's.
struct script_command {
    const char **words;
    int count, line;
    const char *variable; // whose value it is; NULL: a command that is run
    // The YAML file that a launch of Python names, as it stands there, and where it is; NULL: none.
    const char *config, *config_path;
    bool large;             // it is too large to be read
    const char *accelerate; // where Accelerate's own is; NULL: it is not here
};

// An open name that the script compares, with what it compares it to.
enum { SCRIPT_VALUES_MAX = 16 };
struct script_choice {
    const char *name;
    const char *values[SCRIPT_VALUES_MAX];
    int count, line;
    bool presence; // only whether it is set is asked
};

struct script_file { // that a here-document writes
    const char *name, *text;
    int line;
};

struct script {
    const char *path;
    struct arena *arena;
    struct script_command *commands; // in order: what is run, with at least one flag
    struct script_command *values;   // variables that hold flags, by their last assignment
    struct script_choice *choices;
    struct script_file *files;
    int command_count, value_count, choice_count, file_count;
    int command_capacity, value_capacity, choice_capacity, file_capacity;
    const char *sourced; // files that it reads in or runs and that are not here, as they are named
    const char *read_in; // files that were followed, too; ""
    bool searched;       // one of them was found by the end of its path
    // NPROC_PER_NODE and NNODES, which launchers of their own read; nodes and processes of a node
    // by #SBATCH. NULL: unset
    const char *processes, *machines, *nodes, *of_node;
    const char *world, *visible; // WORLD_SIZE, CUDA_VISIBLE_DEVICES
    const char *notes;           // lines: where it was not understood
};

// Follows the text (of `size` bytes). BAD_INPUT: more work than SCRIPT_STEPS_MAX commands, or texts
// of more than SCRIPT_BYTES_MAX bytes. arguments: the script's own, NULL: none.
enum { SCRIPT_STEPS_MAX = 20000, SCRIPT_BYTES_MAX = 1 << 23, SCRIPT_WORD_MAX = 1 << 16 };
enum status script_follow(struct script *s, const char *path, const char *text, size_t size,
                          const struct script_given *given, int given_count, const char *arguments,
                          struct arena *arena, struct error *err);

bool script_is_name(const char *word); // of a file of a shell's commands
// The first open name in a text, NULL: none.
const char *script_open_name(const char *text, struct arena *arena);
// The text with its open names as ${NAME}, for messages.
const char *script_shown(const char *text, struct arena *arena);
