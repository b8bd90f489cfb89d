// Shared by the exports: notes of what a configuration does not express.
#ifndef PLUMBLINE_SOLVE_REPORT_EXPORT_INTERNAL_H
#define PLUMBLINE_SOLVE_REPORT_EXPORT_INTERNAL_H

#include "data/inputs/problem.h"
#include "solve/report/export/export.h"

struct export
{
    struct report_out *out;
    const struct plan *plan;
    const struct problem *problem;
    const char *framework;   // as commonly written
    enum trainer trainer;    // whose prices match it
    const struct plan *told; // with the recomputation that is exported; NULL: the plan
    struct report_out notes; // comment lines: NOTE_MARK, the note
};

#define NOTE_MARK "#   - "

// BAD_INPUT: no stages, no problem, or layers other than the model's.
enum status export_begin(struct export *e, struct report_out *out, const struct plan *plan,
                         const struct problem *problem, struct arena *arena, struct error *err);
void export_note(struct export *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
// What no framework's configuration expresses: compression, slices, barrier ...
void export_common_notes(struct export *e);
void export_print_notes(const struct export *e); // as comment lines
const char *export_headline(const struct export *e);

// The single mode of all stages. false: they differ, or a stage recomputes only some of its
// layers; *mode is then the one exported instead, and a note says so.
bool export_recompute(struct export *e, enum recompute *mode);
char export_layer(const struct export *e, int layer); // report_layer_letter

#endif
