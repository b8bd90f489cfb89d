// A command: a struct with its texts, a row for each option, and the function that runs it. Reading
// the command line, range checks, help, manual page and completion follow from it.
#pragma once

#include "data/base/arena.h"

enum option_type {
    OPTION_FLAG,    // bool
    OPTION_TEXT,    // const char *
    OPTION_PATH,    // the same: a file or folder
    OPTION_MODEL,   // the same: a shipped document of that name, or a file
    OPTION_CLUSTER, // the same
    OPTION_COSTS,   // the same
    OPTION_GPU,     // the same; a GPU of the shipped clusters, or another
    OPTION_INT,     // int64_t, within [low, high]
    OPTION_COUNT,   // int, within [low, high]
    OPTION_NUMBER,  // double, within [low, high]
    OPTION_NAME,    // int or an enum, the index in names[]
};

// The values of an option or operand that may be given several times, in order.
struct option_texts {
    const char **items;
    int count;
};

enum { OPTION_ANY_NUMBER = 1 << 30 };

// An option, or, without a dash, an operand: in the order of the rows.
struct option_row {
    const char *name; // "--time-limit-s", or "-o"; values are the next word or follow after '='
    enum option_type type;
    size_t at;        // offset of its value in the command's options
    const char *help; // NULL: not listed
    double low, high; // of a number; low: of operands the fewest
    const char *const *names;
    int many; // 0: one value, else up to so many, in a struct option_texts
    // What it needs, and what it cannot be combined with: terms separated by spaces, such as
    // "--map --format=csv|latex". A term is options with '|' between them, any of which counts;
    // after '=' any of these values counts. "-" (standard output) is no file that could be needed.
    const char *needs, *excludes;
};

// Rows that several commands have, with offsets in a struct that each has as a member.
struct option_table {
    const struct option_row *rows;
    int count;
};
#define OPTION_TABLE(of)                                                                           \
    {                                                                                              \
        of, ARRAY_LENGTH(of)                                                                       \
    }

// argv[0] is its name. *exit_code is set when it returns OK (0 unless the answer is a "no"). stdout
// is the result, stderr the log.
typedef enum status command_function(int argc, char **argv, int *exit_code, struct arena *arena,
                                     struct error *err);

struct exit_meaning {
    const char *code, *text;
};

struct command {
    const char *name;
    const char *text;  // a line
    const char *about; // sentences for its manual page
    const char *usage; // lines, the first without "usage: "
    struct option_table options;
    struct {
        const struct option_table *table; // NULL: none
        size_t at;                        // offset of their struct
    } shared[2];                          // listed after them
    const char *needs;                    // terms of what must be given, as in a row
    size_t size;                          // of its options
    const void *defaults;                 // NULL: zeros
    // An option counts as given if its value is not the default.
    enum status (*run)(void *options, int *exit_code, struct arena *arena, struct error *err);
    size_t line; // unless 0: offset of a struct command_line, which becomes the words given
    bool audits; // untrusted files: each is read once, and a memory limit that it sets ends with it

    // Instead of options: commands under this one, selected by the next word.
    const char *program; // "plumbline", "plumbline import"
    const char *what;    // what their names are: "command", "format"
    const struct command *const *kinds;
    int kind_count;
    const char *executable; // of a program's own command, whose `text` is about all of it
    const struct exit_meaning *exits;
    int exit_count;
    // In addition to options: commands in its place, selected by a word such as "--products".
    const struct command *const *variants;
    int variant_count;
    command_function *words; // or reads its words itself
};
// The options that a command reads: their struct, their rows, its usual values ({...}).
#define READS(type, of, ...)                                                                       \
    .options = OPTION_TABLE(of), .size = sizeof(type), .defaults = &(const type)__VA_ARGS__
#define SHARES(options, type, member) .shared[0] = {&options, offsetof(type, member)}
#define SHARES_ALSO(options, type, member) .shared[1] = {&options, offsetof(type, member)}
#define OPT(member) offsetof(struct options, member) // for a file with one such struct
// The head of what a command runs; its parameters are options, exit_code, arena and err.
#define COMMAND_RUN(name)                                                                          \
    static enum status name(                                                                       \
        void *options __attribute__((unused)), int *exit_code __attribute__((unused)),             \
        struct arena *arena __attribute__((unused)), struct error *err __attribute__((unused)))
#define COMMAND_KINDS(of) .kinds = of, .kind_count = ARRAY_LENGTH(of)

struct command_line {
    int argc;
    char **argv;
};

// Sets *options from the defaults and the words: options anywhere among the operands; "--" ends
// them. BAD_INPUT names the word. "--help" prints usage and rows to stdout and sets *helped, as do
// the words of command_text.h.
enum status command_read(const struct command *c, void *options, int argc, char **argv,
                         bool *helped, struct arena *arena, struct error *err);

// The same for a caller to whom nothing is printed: "--help" is BAD_INPUT.
enum status command_read_options(const struct command *c, void *options, int argc, char **argv,
                                 struct arena *arena, struct error *err);

// Reads the words and runs it.
enum status command_call(const struct command *c, int argc, char **argv, int *exit_code,
                         struct arena *arena, struct error *err);

// Adds the words that give these options, where they differ from the usual ones, to words[count];
// returns the new count. Both are structs of the table's rows.
int command_words(const char **words, int count, const struct option_table *table,
                  const void *options, const void *usual, struct arena *arena);

// Runs one command as a front door: gives it an arena and closes it, prints one line on stderr
// about any failure ("PROGRAM NAME: why"; name NULL: "PROGRAM: why"), and returns the exit code.
int command_run(const char *program, const char *name, const struct command *c, int argc,
                char **argv);

// For a command that audits untrusted files: the offset of its memory limit in MiB, int64_t.
#define MEMORY_ROW(offset, usual)                                                                  \
    {                                                                                              \
        "--memory-limit-mib", OPTION_INT, offset,                                                  \
            "memory limit in MiB, plus 24 bytes for each byte of the input files (default: " usual \
            ")",                                                                                   \
            1, 1e7                                                                                 \
    }

// Whether all of standard output has been written; false on a full disk.
bool command_flushed(void);

// Exit codes besides those of struct error (2 bad input or usage, 1 anything else).
enum { EXIT_OPEN = 10, EXIT_INFEASIBLE = 11, EXIT_NO_PLAN = 12, EXIT_REJECTED = 20 };
