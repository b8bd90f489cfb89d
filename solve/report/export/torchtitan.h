// Shared by the two forms of torchtitan's configurations.
#ifndef PLUMBLINE_SOLVE_REPORT_EXPORT_TORCHTITAN_H
#define PLUMBLINE_SOLVE_REPORT_EXPORT_TORCHTITAN_H

#include "solve/report/export/internal.h"

// The run, with all notes.
enum status titan_begin(struct export *e, struct text *out, struct run *r, bool python,
                        const struct plan *plan, const struct problem *problem, struct arena *arena,
                        struct error *err);
// Layers in classes of their own (titan_needs_classes): what they need of torchtitan, the classes,
// and what makes layers of Qwen3 in own_model theirs. Positions may be theirs, too.
void titan_put(const struct export *e, const char *part); // of torchtitan_layers.py
void titan_put_class_imports(const struct export *e);
void titan_put_classes(const struct export *e);
void titan_put_own_layers(const struct export *e);
bool titan_has_own_positions(const struct export *e);
void titan_print_table(const struct export *e); // where the order of the passes is, if in a table

#endif
