// What the files of this folder have of each other.
#pragma once

#include "data/import/jobs/settings.h"

// Pairs of names, ended by NULLs: a dialect's key, and the flag of Hugging Face's Trainer.
struct word {
    const char *key, *flag;
};
// How a program's settings are read that has keys of its own.
struct dialect {
    bool (*is)(const struct settings *pairs);
    const struct word *words;
    const char *left;                  // keys that change nothing, between blanks; "*": all others
    const struct setting_names *names; // more of them; NULL: none
    const struct setting_effect *effects; // what others change; NULL: none
    enum status (*take)(struct settings *s, const struct settings *pairs, struct error *err);
};
extern const struct dialect dialect_xtuner, dialect_xtuner_1, dialect_levanter, dialect_maxtext;
bool dialect_is_true(const struct settings *pairs, const char *key);
// All elements of a list, between commas; "": none.
const char *dialect_list(struct settings *s, const struct settings *pairs, const char *key);
// Sets a flag that no key has stated to the program's own value, which is said.
enum status dialect_default(struct settings *s, const char *flag, const char *value,
                            struct error *err);

// What the key states: products in 16 bits next to weights in 32, or all in 32. BAD_INPUT: neither.
enum status dialect_mixed(struct settings *s, const struct settings *pairs, const char *key,
                          struct error *err);

// dialects.c: files of trainers whose keys have sections and other names: torchtune, litgpt,
// LLM-Foundry; dialects_jax.c: Levanter, MaxText; dialects_python.c: XTuner. Whether the settings
// are of one of them.
bool dialect_is(const struct settings *pairs);
// Sets what they state by the names of Hugging Face's Trainer; what is harmless is said, and other
// keys stay as they are. BAD_INPUT: what a job has nothing for, as pairs or another model.
enum status dialect_take(struct settings *s, const struct settings *pairs, struct error *err);
// Adds a program's own values where its flags or file state none; program NULL: unknown.
void dialect_complete(struct settings *pairs, const char *program);
// programs.c: gives the flags of fms-fsdp's programs, of ColossalAI's with a --plugin, and their
// defaults, the same names.
enum status dialect_take_fms(struct settings *s, struct error *err);
enum status dialect_take_colossal(struct settings *s, struct error *err);
// files.c: the settings of a file or of a script's launch.
struct asked;
enum status trainer_files(struct settings *s, const struct asked *asked, struct error *err);

// sharding.c: how a run's states are sharded, and which of them are on the host; the trainer.
// BAD_INPUT: it stands in a file that is not here.
enum status trainer_sharding(struct run *r, struct settings *s, struct error *err);
