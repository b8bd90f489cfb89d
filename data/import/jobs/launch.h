// The flags of a launch, wherever they stand: in a script, an argument list, a YAML file with
// MODEL_ARGS, or the arguments that a run prints into its log.
#pragma once

#include "data/import/jobs/settings.h"
#include "data/import/script/script.h"

#define LAUNCH_OF_FMS "main_training" // in the names of fms-fsdp's programs
#define LAUNCH_OF_TITAN "torchtitan.train"
#define LAUNCH_OF_INTERNEVO "InternEvo" // a program's name, of its file's flags

// What the command line says of the file.
struct launch_asked {
    const struct setting_rows *rows;
    struct option_texts set; // NAME=value
    const char *arguments;   // of the script; NULL: none
    int64_t launch;          // which one, from 1; 0: the only one
    bool configs;            // a launch may name a file of settings in place of flags
    bool named;              // without a launch's flags, the YAML that one names is read
    bool rollouts;           // overrides of reinforcement learning are read
    const char *text;        // of the file; NULL: it is read
};

// As settings with the names of flags. What the machine or the caller decides stays open in their
// texts; s->hints says what decides which settings.
enum status launch_read(struct settings *s, const char *path, const struct launch_asked *asked,
                        struct arena *arena, struct error *err);

// The file of settings that the launch of a script names, and how many GPUs it starts (0: not
// said); of torchtitan's module and configuration the file in Python that has the function.
// BAD_INPUT: no launch names one, or it is not here.
struct launched {
    struct settings flags;
    const char *path, *function; // function: NULL: none
    int64_t gpus;
};
enum status launch_find_file(struct launched *to, const char *path, struct launch_asked asked,
                             struct arena *arena, struct error *err);
// Puts flags with the names of a file's keys, "--training.seq_len 4096", over its settings.
void launch_override(struct settings *s, const struct settings *flags);
// BAD_INPUT: the file that s->launch names is not here.
enum status launch_check_file(const struct settings *s, const char *path, struct error *err);

// The overrides of a recipe in a script's launch, as settings with the names of its file.
enum status launch_read_overrides(struct settings *s, const char *path,
                                  const struct launch_asked *asked, struct arena *arena,
                                  struct error *err);

// Puts what the recipe that a YAML file names sets under the file's settings.
void launch_take_recipe(struct settings *s);

// Gives the flags of OpenRLHF's programs, before and since they have sections, the names that rows
// have.
enum status launch_take_openrlhf(struct settings *s, struct error *err);

// ---- for its files

// given[set->count] of NAME=value.
enum status launch_given(struct script_given *given, const struct option_texts *set,
                         struct arena *arena, struct error *err);

// Adds the flags among words, as argparse reads them: the last of two counts. `program`: the words
// begin with a launcher, whose own flags end with the program's name.
enum status launch_take_words(struct settings *s, const struct setting_rows *rows,
                              const char *const *words, int count, bool program, struct error *err);
// Sets one; a value of NULL has no text.
enum status launch_set(struct settings *s, const char *key, const char *text, struct error *err);
// A value as YAML or a log states it: true is the flag alone, false none, None nothing.
enum status launch_set_value(struct settings *s, const char *key, const char *text,
                             struct error *err);
bool launch_is_read(const struct setting_rows *rows, const char *key);

// launch_log.c: whether the text holds a list of arguments that a run printed.
bool launch_is_log(const char *text, size_t size);
enum status launch_read_log(struct settings *s, const char *text, size_t size, struct error *err);
// neox.c: whether the file's values are InternEvo's; as flags.
bool launch_is_internevo(const struct settings *py);
enum status launch_take_internevo(struct settings *s, const struct settings *py, struct error *err);
// launch_yaml.c: whether the settings hold MODEL_ARGS.
enum status launch_read_yaml(struct settings *s, const char *path, const struct launch_asked *asked,
                             struct error *err);
