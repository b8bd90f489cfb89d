// The decisions of a stage, besides which layers it has and where it stands: one row each. What a
// choice decides, a plan states, documents name and certificates record follows these rows. A new
// decision is a member and a row here, and its price; the judge (solve/judge/decision.c) and the
// checker (solve/checker/layout/decision.h) have rows of their own.
#ifndef PLUMBLINE_DATA_RESULTS_DECISION_H
#define PLUMBLINE_DATA_RESULTS_DECISION_H

#include "data/base/units.h"
#include "data/inputs/job_fields.h"
#include "data/inputs/model/model.h"
#include "data/text/members.h"

// The members of a decision; ints and enums only.
#define DECISION_MEMBERS                                                                           \
    int first_layer; /* of a choice also -1: anywhere among like layers */                         \
    int layer_count;                                                                               \
    int group; /* the stage's seat: index in the priced document's groups */                       \
    enum recompute recompute;                                                                      \
    int recomputed_layers; /* of the recomputable layers the first ones, RECOMPUTE_FIRST_LAYERS;   \
                            */                                                                     \
                           /* RECOMPUTE_SWAP: the first ones after the swapped ones; */            \
                           /* RECOMPUTE_FULL: any set of so many (struct plan_stage); 0: all */    \
    int swapped_layers;    /* of the recomputable layers the first ones, RECOMPUTE_SWAP */         \
    int sharded_layers;    /* of the recomputable layers the first ones (struct priced) */         \
    int vocabulary_tensor; /* degree of its embedding and head; 0: the layout's */                 \
    int gradient_option;   /* index in gradient_options: compression, and share on the host */     \
    int boundary_option;   /* of what the stage sends backward, over boundary stage - 1; 0 for */  \
                           /* stage 0 */

struct decision {
    DECISION_MEMBERS
};
// For a structure that adds something to a decision: the members, and all of them as `decision`.
#define DECISION                                                                                   \
    union {                                                                                        \
        struct decision decision;                                                                  \
        struct {                                                                                   \
            DECISION_MEMBERS                                                                       \
        };                                                                                         \
    }

// The rows, as keys of the structure s: those that are not required are written only if set.
#define DECISION_KEYS(s)                                                                           \
    KEY_NAME(s, recompute, REQUIRED, ALWAYS_WRITTEN, recompute_names),                             \
        KEY_INT(s, recomputed_layers, REQUIRED, ALWAYS_WRITTEN, 0, LAYERS_MAX),                    \
        KEY_INT(s, swapped_layers, OPTIONAL, IF_SET, 0, LAYERS_MAX),                               \
        KEY_INT(s, sharded_layers, OPTIONAL, IF_SET, 0, LAYERS_MAX),                               \
        KEY_INT(s, vocabulary_tensor, OPTIONAL, IF_SET, 0, DEGREE_MAX),                            \
        KEY_INT(s, gradient_option, REQUIRED, ALWAYS_WRITTEN, 0, OPTIONS_MAX),                     \
        KEY_INT(s, boundary_option, REQUIRED, ALWAYS_WRITTEN, 0, OPTIONS_MAX)

enum { DECISION_ROWS_MAX = 16 };
extern const struct member decision_rows[]; // of struct decision
extern const int decision_row_count;
static inline int decision_value(const struct decision *d, const struct member *row)
{
    return *(const int *)((const char *)d + row->at);
}

// The decision with 0 for counts of layers that its mode of recomputation does not use.
struct decision decision_tidy(const struct decision *d);
// The rows as keys of an object that is open; zeros: also counts of layers that are 0.
void decision_put(struct json_writer *w, const struct decision *d, bool zeros);
// Reads the rows of an object that has other keys as well; counts of layers may be missing.
// BAD_INPUT: a value is out of range; options are indices below these counts.
enum status decision_get(struct decision *d, const struct json *object, int gradient_options,
                         int boundary_options, struct arena *arena, struct error *err);
// The recomputation in words: "none", "full", "first 3 layers", "swap 2, full 1".
const char *decision_recompute_text(const struct decision *d, struct arena *arena);

#endif
