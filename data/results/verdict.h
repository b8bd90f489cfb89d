// The judge's verdict on a plan: every violated rule by name, with the amount.
#pragma once

#include "data/text/document.h"

struct violation {
    const char *rule; // "layers", "count", "memory", "budget", "rules", "price", "iteration",
                      // "hash", "bound", ...
    int stage;        // -1: the whole plan
    const char *text; // one line with the amount
};

struct verdict {
    bool accepted;
    struct violation *violations;
    int violation_count, violation_capacity;
    int64_t replayed_ns;     // iteration time by the judge's own replay
    int64_t closed_form_ns;  // -1: none exists for this plan
    const char *closed_form; // its name
    int64_t terms_checked;   // priced terms that are equal to the judge's
    int64_t doubtful;  // of the judge's prices: so close to a rounding limit that one more or one
                       // less would be equally right
    bool bound_judged; // an available certificate proves the bound that the plan states
    int64_t proven_ns; // what it proves: no plan takes less; -1: that there is no plan, or no
                       // certificate was given
    // Of a device of the first rank: by the judge's own sums, and by a published formula (Fujii et
    // al.). -1: not known, or not defined for this model.
    int64_t memory_bytes, published_bytes;
    int64_t energy_uj; // of an iteration's weights, states and swaps on all GPUs; -1: not stated
    double published_ratio; // in a verdict that was read: published_bytes / memory_bytes
};

void verdict_add(struct verdict *v, struct arena *arena, const char *rule, int stage,
                 const char *format, ...) __attribute__((format(printf, 5, 6)));
extern const struct members verdict_members; // its keys (data/text/members.h)
enum status verdict_save(const struct verdict *v, const char *path, const struct source *sources,
                         int source_count, struct arena *arena, struct error *err);

// Whether a document of this kind says that the plan was accepted and that this bound of it is
// proven; bound_ns -1: that the problem has no plan. BAD_INPUT: it is not a verdict, or is about
// another plan.
enum status verdict_covers(bool *covers, const char *path, const struct document *plan,
                           int64_t bound_ns, struct arena *arena, struct error *err);
