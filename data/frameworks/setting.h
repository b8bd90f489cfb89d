// A framework's keys: which member of a run each one states. One row serves both ways.
#pragma once

#include "data/frameworks/run.h"

enum setting_kind {
    SETTING_FLAG,   // member: bool
    SETTING_TRUE,   // the same, written only if true
    SETTING_UNLESS, // the opposite, written only if that is true
    SETTING_SWITCH, // int, 0 or 1
    SETTING_NAMED,  // bool, by two names
    SETTING_NAME,   // int, the index in names
    SETTING_INT,    // int, 0 and more
    SETTING_COUNT,  // int64_t, 0 and more; from here on, 0 is not stated
    SETTING_WHOLE,  // the same, or -1
    SETTING_NUMBER, // double
    SETTING_ROUND,  // double, written as a whole number
    SETTING_SHARE,  // double, of which 0 is stated too
    SETTING_TEXT,   // const char *
    SETTING_RAW,    // the same: a list, or another value that is written as it is
    SETTING_LATER,  // read by the framework's reader: a list, or a value of several kinds
    SETTING_LEFT,   // nothing for a job: left out, with a message. "section.*": everything below;
                    // "*": everything that is not within two letters of a known key
};
struct setting_row {
    const char *key; // its sections and its name, joined by dots; behind a blank, other names of
                     // it, which are only read
    enum setting_kind kind;
    size_t at; // of the member of struct run
    // ONLY_READ: what no plan decides. ONLY_WRITTEN: reading it is like
    // SETTING_LEFT.
    enum { READ_AND_WRITTEN, ONLY_READ, ONLY_WRITTEN } use;
    size_t when; // of a bool in struct run without which it is not written; 0: always
    const char *const *names;
    bool null; // written as null where it is not stated
};
// What a key changes that no member can state (effects/*.txt).
struct setting_effect {
    const char *keys; // between blanks; a "section.*" is everything below
    // ON_OTHERS: on the job, unless that is an update of the policy alone.
    enum { EFFECT_ON_MODEL, EFFECT_ON_JOB, EFFECT_ON_OTHERS, EFFECT_ASSUMED } kind;
    const char *harmless; // values with which it changes nothing, between blanks
    const char *text;     // what it changes and what to do; of ASSUMED, what is assumed instead
};

#define SETTING_OF_OTHERS "pairs, rewards or another model beside it: a job has one"

// Keys of a program, by the version that first has them (names/*.txt); ended by a row of NULLs.
struct setting_names {
    const char *version, *commit;
    const char *names; // between blanks
};

struct setting_rows {
    const struct setting_row *rows;
    int count;
    const struct setting_effect *effects; // ended by keys NULL; NULL: none
    const struct setting_effect *within; // of keys in the sections, by their last parts; NULL: none
    const struct setting_names *names[3]; // every key that the programs have; ended by NULL
    bool last_parts;                      // they are the last parts of keys
    // The rows before the one of key `beyond` are in a section that has several names, of which the
    // first is written. NULL: all are keys as they are.
    const char *const *sections;
    const char *beyond;
    const char *left; // keys that are nothing for a job, between blanks; looked at last
};
// A row for each name of a section and a key, and for what is left out.
struct setting_rows setting_rows_of(const struct setting_rows *rows, struct arena *arena);

// How a file writes values. NULL: such a key is left out.
struct setting_form {
    const char *yes, *no;
    const char *quote; // around texts
    bool bare;         // texts of letters and digits need none
    bool pointed;      // numbers have a decimal point (YAML 1.1 reads others as texts)
};
// The value as text; NULL: it is not written.
const char *setting_text(const struct setting_row *row, const struct run *run,
                         const struct setting_form *form, struct arena *arena);

// ---- the frameworks' rows

extern const struct setting_names megatron_names[], megatron_fork_names[], nemo_names[],
    nemo_older_names[], deepspeed_names[], nanotron_names[], hf_trainer_names[],
    hf_trainer_fork_names[], maxtext_names[];
extern const struct setting_effect megatron_effects[], deepspeed_effects[], nemo_effects[],
    nanotron_effects[], hf_trainer_effects[], maxtext_effects[], rl_effects[];

extern const struct setting_rows megatron_rows, nemo_rows, deepspeed_rows, torchtitan_rows,
    nanotron_rows, hf_trainer_rows, rl_rows, axonn_rows;
extern const char *const core_context_names[]; // of Megatron Core, of enum context_kind
extern const struct run megatron_defaults;     // Megatron-LM's own; NeMo has the same

// A recipe of Megatron Bridge: names between blanks; the hub's name of its model, or ""; what it
// sets, as CODE=value between blanks, beside what is usual.
struct bridge_recipe {
    const char *names, *model, *settings;
};
extern const struct bridge_recipe bridge_recipes[]; // of recipes.txt, ended by NULLs
struct recipe_key {
    const char *code, *key;
};
extern const struct recipe_key bridge_recipe_keys[]; // of their codes, ended by NULLs
extern const char bridge_recipe_usual[];

// The vocabulary of the tokenizer of that name, or of the checkpoint it is in; 0: unknown.
int64_t tokenizer_vocabulary(const char *name);

// How Megatron names the modes of recomputation. The first row of a mode is written; in reading,
// the first that fits counts.
struct megatron_mode {
    enum recompute mode;
    const char *granularity, *method; // NULL: not stated
};
extern const struct megatron_mode megatron_modes[]; // ended by RECOMPUTE_COUNT
// For each value, of the run's precision, with its state_types if the optimizer is precision_aware.
int megatron_state_bytes(const struct run *r);
// Sets the job's states. BAD_INPUT: their types are none that Megatron takes.
enum status megatron_set_states(struct run *r, struct error *err);
// Of one accumulated gradient: 2 or 4, by the flags of gradients and the optimizer's gradient_type.
int megatron_gradient_bytes(const struct run *r);

// NeMo's names of activations. The first row of an activation is written.
struct activation_name {
    const char *name, *activation; // ours: as Hugging Face names it
    bool gated;                    // by the name itself
};
extern const struct activation_name nemo_activations[]; // ended by NULL

// A flavor of torchtitan's own models.
struct torchtitan_flavor {
    const char *model, *name;
    const char *shipped; // the document of it that is shipped; NULL: none
    const char *recipe;  // 0.3's function with its data and learning rate; NULL: not written
    int blocks;
    const char *only; // in this form alone: 0.2 (TOML), 0.3 (Python); NULL: in both
    bool base;        // 0.3's function of its layers takes other dimensions
};
extern const struct torchtitan_flavor torchtitan_flavors[]; // ended by NULL

// A schedule of torch.distributed.pipelining.
struct torchtitan_schedule {
    const char *name;
    int kind; // ours
    // WRITTEN_BY_TABLE: the class places the stages, the order comes from a table. READ_AS_NEAREST:
    // is only read, and ours is the nearest to it.
    enum { WRITTEN_BY_NAME, WRITTEN_BY_TABLE, READ_AS_NEAREST } use;
};
extern const struct torchtitan_schedule torchtitan_schedules[]; // ended by NULL

// ---- rows of the tables: what is said and read, and what is only read

#define ROW(key, kind, member, use, when, names, null)                                             \
    {                                                                                              \
        key, SETTING_##kind, offsetof(struct run, member), use, when, names, null                  \
    }
#define SAYS(key, kind, member) ROW(key, kind, member, READ_AND_WRITTEN, 0, NULL, false)
#define SAYS_OR_NULL(key, kind, member) ROW(key, kind, member, READ_AND_WRITTEN, 0, NULL, true)
#define SAYS_IF(when, key, kind, member)                                                           \
    ROW(key, kind, member, READ_AND_WRITTEN, offsetof(struct run, when), NULL, false)
#define SAYS_NAME(key, kind, member, names)                                                        \
    ROW(key, kind, member, READ_AND_WRITTEN, 0, names, false)
#define TAKES(key, kind, member) ROW(key, kind, member, ONLY_READ, 0, NULL, false)
#define WRITES(key, kind, member) ROW(key, kind, member, ONLY_WRITTEN, 0, NULL, false)
#define LATER(key) ROW(key, LATER, job, ONLY_READ, 0, NULL, false)
