// What the files of this folder have of each other.
#pragma once

#include "data/import/jobs/settings.h"

// dialects.c: YAML of trainers whose keys have sections and other names: torchtune, litgpt,
// LLM-Foundry. Whether the settings are of one of them.
bool dialect_is(const struct settings *pairs);
// Sets what they state by the names of Hugging Face's Trainer; what is harmless is said, and other
// keys stay as they are. BAD_INPUT: what a job has nothing for, as pairs or another model.
enum status dialect_take(struct settings *s, const struct settings *pairs, struct error *err);
// Gives the flags of fms-fsdp's programs, and their defaults, the same names.
enum status dialect_take_fms(struct settings *s, struct error *err);

// sharding.c: how a run's states are sharded, and which of them are on the host; the trainer.
// BAD_INPUT: it stands in a file that is not here.
enum status trainer_sharding(struct run *r, struct settings *s, struct error *err);
