// A model from a Hugging Face config.json. docs/FORMATS.md lists the classes.
#pragma once

#include "data/import/said.h"
#include "data/inputs/model/model.h"

// name NULL: the last part of the config's _name_or_path, else its model_type. mtp: the number of
// layers that predict further tokens; -1: as in the config. output
// is the path at which the model will be saved (its made_from names the config relative to it).
// BAD_INPUT: other model types, experts, several modalities.
enum status model_import_hf(struct model *m, const char *path, const char *name, int mtp,
                            const char *output, struct said *said, struct arena *arena,
                            struct error *err);
