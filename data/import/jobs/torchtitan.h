// Both forms of torchtitan's configuration.
#pragma once

#include "data/import/jobs/settings.h"

// Python's, in the keys of TOML's; config: its function, NULL: as settings_read_python chooses.
enum status titan_read_python(struct settings *s, const char *path, const char *config,
                              struct arena *arena, struct error *err);
// Primus's YAML for torchtitan, in the keys of TOML's.
enum status titan_read_primus(struct settings *s, const char *path, struct arena *arena,
                              struct error *err);
