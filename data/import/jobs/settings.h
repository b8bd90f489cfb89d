// A configuration of another program (TOML, YAML, JSON, flags) as settings: one value each, under
// its keys joined by dots; elements of a list have their index at the end, "parts[0][2]". A
// framework's rows define what each key states; keys that no row has are reported, never ignored
// silently.
#pragma once

#include "data/base/command.h"
#include "data/frameworks/setting.h"
#include "data/import/said.h"
#include "data/import/text.h"

struct script_command;

struct setting {
    const char *key;
    const char *text; // NULL: no value (null, "auto", an empty list)
    int line;
};

struct settings {
    struct document document;
    const char *begin;     // of its text
    struct setting *items; // in order
    int count, capacity;
    struct said said;
    bool flags;         // of a command line: keys have two dashes, and no line
    const char *open;   // values that nobody has set
    const char **names; // all keys that the program has, once they are needed
    int name_count;
    // Of launches: their program; flags that stand twice; unset variables that are taken as
    // empty; what decides which settings; files that it reads in and that are not here; the list of
    // arguments that a run printed.
    const char *program, *twice, *empty, *hints, *elsewhere;
    const char
        *seen; // in place of a launch with settings: the last one, what is not set; NULL: none
    int twice_count;
    // NPROC_PER_NODE and NNODES of a script; its nodes and their processes by #SBATCH.
    const char *processes, *machines, *nodes, *of_node;
    const char *world, *visible;         // WORLD_SIZE, CUDA_VISIBLE_DEVICES
    const char *accelerate;              // where Accelerate's configuration is; NULL: not here
    const struct script_command *launch; // that names a file of settings; NULL: none
    bool by_slurm;                       // srun starts the processes, on all nodes of #SBATCH
    const char *model; // of the recipe of overrides, by the hub's name; NULL: unknown
    bool neox;         // names and defaults are GPT-NeoX's
    bool openrlhf;     // the program is OpenRLHF's
    bool saved;        // by a run, with other keys than its arguments, as those of its model
    bool dump, last_wins, presets;     // presets: most settings are in files that are not here
    bool policy_alone;                 // what is said of rollouts and other models does not matter
    bool gpus_asked, vocabulary_asked; // what the file says of them does not matter
    const struct option_texts *leave;  // --ignore; NULL: none
    const char *weighty;               // unknown keys whose names are of what is made
    int weighty_count;
    struct arena *arena;
};

struct settings settings_empty(struct arena *arena);
// BAD_INPUT with the line: wrong syntax, a duplicate key, more than 16,384 settings, deeper than
// 64. YAML without tags; OmegaConf's ${key} and ${.key} are resolved.
enum status settings_read_toml(struct settings *s, const char *path, struct arena *arena,
                               struct error *err);
enum status settings_read_yaml(struct settings *s, const char *path, struct arena *arena,
                               struct error *err);
enum status settings_read_json(struct settings *s, const char *path, struct arena *arena,
                               struct error *err); // allows comments, and a comma before ] or }
// What the function `name` of a Python file makes, NULL: the only one that returns torchtitan's
// Trainer.Config, or "plan". A call's text is what is called (without .Config), its arguments are
// below its key; "model.name": whose model_registry it calls. BAD_INPUT also: no such function.
enum status settings_read_python(struct settings *s, const char *path, const char *name,
                                 struct arena *arena, struct error *err);
// The values that a file in Python assigns to names, and those that it makes of them by arithmetic;
// dict(a=1) and {"a": 1} are tables. Blocks (if, def, with) are passed over.
enum status settings_read_python_file(struct settings *s, const char *path, struct arena *arena,
                                      struct error *err);
#define SETTINGS_OF_RANK "of-some-ranks" // several flags that only some ranks have, as one text
// YAML whose references stay as they are, and whose last of two equal keys counts.
enum status settings_read_yaml_raw(struct settings *s, const char *path, struct arena *arena,
                                   struct error *err);
// The same over the file next to it that `defaults` names, as settings_read_yaml does it, too.
enum status settings_read_yaml_based(struct settings *s, const char *path, struct arena *arena,
                                     struct error *err);
// Sets a key, whether it stands already or not.
void settings_replace(struct settings *s, const char *key, const char *text, int line);
void settings_rename(struct settings *s, const char *from, const char *to); // nothing, if absent

const struct setting *setting_of(const struct settings *s, const char *key); // NULL: none
const char *settings_text(const struct settings *s, const char *key);        // NULL: none
double settings_number(const struct settings *s, const char *key);           // 0: none
// Whether the list `key` contains the text, case-insensitively.
bool setting_lists(const struct settings *s, const char *key, const char *text);
int setting_list_length(const struct settings *s, const char *key); // elements, 0: no such list

// Whether what the key changes is asked for, with this value.
bool setting_has_effect(const struct setting_effect *e, const struct setting *at);
// Stores the values in *run; a setting without value leaves it unchanged. Keys that no row has are
// noted with the nearest one. BAD_INPUT: a value of another kind.
enum status settings_take(struct settings *s, const struct setting_rows *rows, struct run *run,
                          struct error *err);

// A part of the optimizer's state on the host, where `offload_optimizer` is set.
void settings_take_offload(struct run *r, struct settings *s);
// Processes and nodes of a launcher that takes them from its environment alone. BAD_INPUT: nobody
// has set the nodes.
enum status settings_take_environment(struct run *r, const struct settings *s, struct error *err);
// Nodes and processes as #SBATCH says, where no launcher says them.
void settings_take_slurm(struct run *r, struct settings *s);

// Whether the policy is updated by answers to its prompts (GRPO), as ms-swift or TRL say it.
bool settings_take_policy(struct settings *s);
// Assumes what stands twice, is not set, or depends on what is not set.
void settings_conclude(struct settings *s);
// Adds to an error what decides the settings.
void settings_hint(const struct settings *s, struct error *err);
// BAD_INPUT: "FILE: line N: key: " and the given text; without the line if the key is absent.
enum status settings_refuse(const struct settings *s, const char *key, struct error *err,
                            const char *format, ...) __attribute__((format(printf, 4, 5)));

// What a run needs and its file does not say, and the option that gives it.
struct settings_lack {
    bool lacks;
    const char *what, *option;
};
// BAD_INPUT: all that is lacking, in one line.
enum status settings_ask(const char *file, const struct settings_lack *of, int count,
                         struct error *err);

// ---- for settings.c: settings_said.c

#define OPEN_BEGIN '\1' // begins the name of what is open, in a text (data/import/script)
size_t settings_base_length(const char *key); // up to the index of a list's element
bool setting_is_known(const struct setting_row *row, const char *key);
void settings_say_read(struct settings *s, const char *key);
void settings_say_left(struct settings *s, const char *key);
void settings_say_open(struct settings *s, const struct setting *at);
// BAD_INPUT: something is open.
enum status settings_check_open(const struct settings *s, struct error *err);
// A key that no row reads: harmless or unknown.
void settings_leave(struct settings *s, const struct setting_rows *rows, const struct setting *at);
// BAD_INPUT: keys are unknown, and by the words of their names of what is made.
enum status settings_check_weighty(const struct settings *s, struct error *err);
// Whether the key is to be left out (--ignore), which is said.
bool settings_are_left(struct settings *s, const char *key);

// ---- the job made from settings

// The start of every imported job: no budget, 4-byte gradients, Adam.
struct job job_imported(const char *name, const struct settings *s);
// all / by, which must be an integer and at least 1. `what`: in words, for the message.
enum status settings_divide(const char *file, const char *what, int64_t all, int64_t by, int *to,
                            struct error *err);

// ---- for the readers of the three syntaxes

struct settings_source {
    struct settings *s;
    const char *at, *end;
    char *scratch; // as long as the file
    int line, depth;
    char equals; // between a key and its value: '=' or ':'
    struct yaml_anchor *anchors;
    int anchor_count, anchor_capacity;
    bool doubling; // '' inside single quotes stands for one quote
};
enum status source_open(struct settings_source *r, struct settings *s, const char *path,
                        struct arena *arena, struct error *err);
// BAD_INPUT: the file is a script; what was expected, and what else reads it.
enum status source_no_script(const struct settings_source *r, const char *expected,
                             struct error *err);
#define source_refuse(r, err, ...) line_refuse((r)->s->document.path, (r)->line, err, __VA_ARGS__)
void source_skip_blanks(struct settings_source *r); // within the line
void source_skip_lines(struct settings_source *r);  // also over comments and line ends
enum status source_string(struct settings_source *r, const char **text, struct error *err);
// A string, list, table in braces or bare word, added under the key.
enum status source_value(struct settings_source *r, const char *key, struct error *err);
enum status source_add(struct settings_source *r, const char *key, const char *text,
                       struct error *err);
const char *source_join(const struct settings_source *r, const char *before, const char *part);

// ---- for the reader of Python, of which values are read and nothing is run: settings_python.c

enum { CALLS_MOST = 16 }; // within each other

struct variable {
    const char *name, *at; // its expression
    int line;
};

struct python {
    struct settings_source source;
    const char *root; // the variable that is the configuration
    bool module;      // assignments of the file itself are settings, which later ones name
    struct variable *variables;
    int variable_count, variable_capacity, depth, brackets;
    int version_indent; // of the last "if" that asks for a version, until its block ends
};
#define PYTHON_UNKNOWN '\2' // begins the text of a value that is not known

struct settings *python_settings(struct python *p);
bool python_at(const struct python *p, const char *text);
void python_skip_line(struct python *p);
void python_skip_string(struct python *p); // over "a", 'a' or """a"""
// To the comma, the bracket or the line end that ends an expression.
void python_skip_expression(struct python *p, bool in_brackets);
const char *python_name(struct python *p); // a.b.c; "": none
// The same with what stands in brackets behind it: adam["beta"] is adam.beta.
const char *python_key(struct python *p);
// The value here under the key; what is not known is left out. in_brackets: it may go over lines.
enum status python_value(struct python *p, const char *key, bool in_brackets, struct error *err);
// What begins there, as the text of a setting whose value is not known.
const char *python_unknown(const struct python *p, const char *from);
// BAD_INPUT: the key, what it is in or what is in it has a value that is not known.
enum status python_check_known(const struct settings *s, const char *key, struct error *err);
// Arguments up to the bracket that closes them, each under its name or its index.
enum status python_arguments(struct python *p, const char *key, char close, struct error *err);
// The number that an expression here makes; false, and nothing is read: none. Its text.
bool python_number(struct python *p, double *number);
const char *python_number_text(const struct python *p, double number);

// ---- both forms of torchtitan's configuration: torchtitan_python.c

// Python's, in the keys of TOML's; config: its function, NULL: as settings_read_python chooses.
enum status titan_read_python(struct settings *s, const char *path, const char *config,
                              struct arena *arena, struct error *err);
// Primus's YAML for torchtitan, in the keys of TOML's.
enum status titan_read_primus(struct settings *s, const char *path, struct arena *arena,
                              struct error *err);
