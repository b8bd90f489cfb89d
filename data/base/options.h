// Command lines: one table of options per command gives parsing, range checks and help text.
#ifndef PLUMBLINE_DATA_BASE_OPTIONS_H
#define PLUMBLINE_DATA_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "data/base/arena.h"
#include "data/base/status.h"

enum option_type {
    OPTION_FLAG,    // to: bool
    OPTION_TEXT,    // to: const char *
    OPTION_PATH,    // the same: a file or folder
    OPTION_MODEL,   // the same: a shipped document of that name, or a file
    OPTION_CLUSTER, // the same
    OPTION_COSTS,   // the same
    OPTION_GPU,     // to: const char *; a GPU of the shipped clusters, or another
    OPTION_TEXTS,   // to: struct option_texts; may be given several times
    OPTION_INT,     // to: int64_t, within [low, high]
    OPTION_NUMBER,  // to: double, within [low, high]
    OPTION_NAME,    // to: int, the index in names[]
};

// The values of an option that is given several times, in order.
struct option_texts {
    const char **items; // given by the caller, with room for `most`
    int count, most;
};

struct option {
    const char
        *name; // "--time-limit-s", or "-o"; values are the next word or follow after '='.
               // "PLAN", without a dash: describes an operand, only for the help; comes first
    enum option_type type;
    void *to;
    double low, high;
    const char *const *names;
    const char *help;
};

// For commands that audit untrusted files: the argument of memory_limit.
#define MEMORY_OPTION(mib, usual)                                                                  \
    {                                                                                              \
        "--memory-limit-mib", OPTION_INT, mib, 1, 1e7, NULL,                                       \
            "memory limit in MiB, plus 24 bytes for each byte of the input files (default: " usual \
            ")"                                                                                    \
    }

// Reads options anywhere among the operands; "--" ends them. operands[] has room for operand_max; a
// number outside operand_min..operand_max is an error. `usage` is the first line of the help.
// BAD_INPUT names the word. "--help" prints the usage and the table to stdout and sets *helped, as
// do the words of options_text.h: the command then returns at once.
enum status options_read(int argc, char **argv, const char *usage, const struct option *options,
                         size_t option_count, const char **operands, int operand_min,
                         int operand_max, int *operand_count, bool *helped, struct error *err);

// A command: argv[0] is its name. *exit_code is set by the command when it returns OK (0 unless the
// answer is a "no"). stdout is the result, stderr the log.
typedef enum status command_function(int argc, char **argv, int *exit_code, struct arena *arena,
                                     struct error *err);

// For a command that audits untrusted files: each file is read only once, however often it is
// requested, and a memory limit that the command sets ends with it.
enum status command_audit(command_function *function, int argc, char **argv, int *exit_code,
                          struct arena *arena, struct error *err);

// Runs one command as a front door: gives it an arena and closes it, prints one line on stderr
// about any failure ("PROGRAM NAME: why"; name NULL: "PROGRAM: why"), and returns the exit code.
int command_run(const char *program, const char *name, command_function *function, int argc,
                char **argv);

// Whether all of standard output has been written; false on a full disk.
bool command_flushed(void);

// Exit codes besides those of struct error (2 bad input or usage, 1 anything else).
enum { EXIT_OPEN = 10, EXIT_INFEASIBLE = 11, EXIT_NO_PLAN = 12, EXIT_REJECTED = 20 };

#endif
