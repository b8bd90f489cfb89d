// Shared by the exports: the plan as a run in a framework's words, how its rows are written, and
// notes of what they do not express.
#pragma once

#include "data/frameworks/models.h"
#include "solve/report/export/export.h"

struct export
{
    const char *name; // of the framework, as commonly written
    enum framework framework;
    enum trainer trainer; // whose prices match it
    const char *runs;     // its schedule, if the plan's is none of its own; NULL: expressed
    const char *logits, *scattered; // what it does with what is gathered, scattered; NULL: the same
    int state_bytes;                // of a value, where its settings say so; 0: the usual ones
    bool flags;       // says only what Megatron-LM has flags for: fewer activations and factors
    bool places_said; // where ranks stand is said elsewhere

    struct text *out;
    struct text notes; // comment lines: NOTE_MARK, the note
    const struct plan *plan;
    const struct problem *problem; // NULL: not available, or without some of the plan's layers
    bool
        by_rank; // each rank may have its own setting of recomputation; after export_recompute: has
    int layer_count;
    int *blocks, *further; // [stage]: decoder layers, layers that predict further tokens
    bool *holds_embedding, *holds_head; // [stage]
    int unknown_layers;                 // neither embedding, block nor head
};

#define NOTE_MARK "#   - "

// BAD_INPUT: no stages.
enum status export_begin(struct export *e, struct text *out, const struct plan *plan,
                         const struct problem *problem, struct error *err);
enum status export_need_problem(const struct export *e, struct error *err); // BAD_INPUT: none
// BAD_INPUT: the job's precision is narrower than this one.
enum status export_need_precision(const struct export *e, enum precision narrowest,
                                  struct error *err);
const char *export_headline(const struct export *e);
// A layer's kind: E embedding, t decoder layer, m one that predicts a further token, L head; ? none
// of these.
char export_layer(const struct export *e, int layer);

// The job, the layout, the batch; the rest is zero.
struct run export_run(const struct export *e);

// ---- recomputation

// One setting for stages: none, selective, full, or the first layers of each (fewer where a stage
// has fewer).
struct recompute_setting {
    enum recompute mode;
    int layers; // of RECOMPUTE_FIRST_LAYERS
};
// Of stages first, first + step ... of what is exported; false: their settings differ.
bool export_setting(const struct export *e, int first, int step, struct recompute_setting *to);
// Of all stages. If they have none, full recomputation, and a note says so.
struct recompute_setting export_recompute(struct export *e);

// ---- files

// How a line is written: in a section, or as a flag, or as an argument of a call.
struct export_form {
    struct setting_form values; // a `yes` of "" leaves the key alone on its line
    const char *open, *close;   // around a section's name
    const char *before, *between, *behind;
    bool top_bare; // nothing before a key without section
};
// only: the section whose keys are written, without a heading; NULL: all.
void export_rows(const struct export *e, const struct setting_rows *rows, const struct run *run,
                 const struct export_form *form, const char *only);
// The notes at its end.
void export_json(const struct export *e, const struct setting_rows *rows, const struct run *run);

// ---- notes

void export_note(struct export *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
struct export_note {
    bool there;
    const char *text;
};
void export_notes(struct export *e, const struct export_note *notes, size_t count);
#define EXPORT_NOTES(e, notes) export_notes(e, notes, ARRAY_LENGTH(notes))
// What no framework's configuration expresses: compression, slices, barrier ...
void export_common_notes(struct export *e);
// Whether the framework overlaps dispatch in this layout, recomputed as the plan says.
bool export_hides_dispatch(const struct export *e);
void export_unfused_notes(struct export *e);     // where the code of the model decides it
void export_print_notes(const struct export *e); // as comment lines

// ---- Megatron-LM, and frameworks built on Megatron Core

struct run core_run(const struct export *e);
void core_set_recompute(struct run *r, struct recompute_setting setting);
void core_note(struct export *e, const struct run *r);
void core_print_placement(const struct export *e);

// Shared by the two forms of torchtitan's configurations.

// The run, with all notes.
enum status titan_begin(struct export *e, struct text *out, struct run *r, bool python,
                        const struct plan *plan, const struct problem *problem, struct error *err);
// Layers in classes of their own (titan_needs_classes): what they need of torchtitan, the classes,
// and what makes layers of Qwen3 in own_model theirs. Positions may be theirs, too.
void titan_put(const struct export *e, const char *part); // of torchtitan_layers.py
void titan_put_class_imports(const struct export *e);
void titan_put_classes(const struct export *e);
void titan_put_own_layers(const struct export *e);
bool titan_has_own_positions(const struct export *e);
void titan_print_table(const struct export *e); // where the order of the passes is, if in a table

// Between the files of torchtitan's layers in classes of their own.

// A class on one of torchtitan's, with a configuration of its own. more: its further fields.
void titan_put_class(const struct export *e, const char *name, const char *base, const char *does,
                     const char *more);

// Whether feed-forward parts have no gate; then these put what the functions above put:
// classes, what ranks have of a layer and of the model's ends, and the configurations of the model
// and of a layer.
bool titan_is_plain(const struct model *m);
void titan_put_plain_imports(const struct export *e);
void titan_put_plain_classes(const struct export *e, const struct known_model *known);
void titan_put_plain_shares(const struct export *e);
void titan_put_plain_ends(const struct export *e);
void titan_put_plain_model(const struct export *e, const struct known_model *known);
void titan_put_plain_layer(const struct export *e, const struct known_model *known);
