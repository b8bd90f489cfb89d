// The layouts document: the result of a search over a space of layouts, for each layout. A layout
// is identified by its number in the space's fixed order (data/inputs/space.h), so a line of the
// list is a number and a fate, whatever the size of the space.
#pragma once

#include "data/results/claim.h"

enum layout_fate {
    FATE_SOLVED, // its best plan is known to the requested gap
    FATE_BOUND,  // closed: none of its plans is better than the chosen plan by more than the gap
    FATE_SAME, // closed: it has the prices of another one, or is in nothing better than it, so that
               // the other's bound holds for it
    FATE_MEMORY,     // closed: none of its plans fits
    FATE_INFEASIBLE, // closed: solved, and it has no plan
    FATE_REFUSED,    // does not fit model, job or cluster
    FATE_OPEN,       // may hold a better plan
    FATE_COUNT,
};
extern const char *const
    layout_fate_names[]; // "solved", "bound", "same", "memory", "infeasible", "refused", "open"

// A fate with its argument; every layout has one of these.
struct layouts_reason {
    enum layout_fate fate;
    const char *text;
    int64_t count;
};

// Details of a layout that was examined beyond its prices.
struct layouts_work {
    int64_t number;
    int64_t iteration_ns; // of the best known plan, 0: none
    int64_t other;        // the layout it was compared with, -1
    int64_t boxes;
};

enum { LAYOUTS_REASONS_MAX = 4096 };

struct layouts {
    struct document document;
    const char *name;
    struct layout base; // what is fixed
    struct space space;
    int64_t devices, global_batch, sequence, experts, key_heads; // as in struct space_limits
    int layers;
    enum pool_span pools;
    enum precision precision;
    enum context_kind context_kind;
    bool sinks, windows, hybrid, latent, tied;
    int mtp_depth;
    bool recompute[RECOMPUTE_COUNT]; // modes that the job offers
    double gap_asked;
    enum objective objective;
    int64_t iteration_ns, bound_ns; // of the plan; bound_ns holds for all layouts. With max_load,
                                    // all times are micro-batches x load
    enum bound_claim claim;         // of bound_ns
    struct taken_over *taken_over;  // [taken_over_count]
    int taken_over_count;
    int64_t chosen; // the plan's layout, -1 without a plan
    struct layouts_reason *reasons;
    int reason_count;
    int64_t count;    // of the space
    uint16_t *reason; // [count]
    int64_t *
        value; // [count]: proven bound in ns; bytes over the limit for FATE_MEMORY; 0 where refused
    struct layouts_work *work; // ascending numbers
    int64_t work_count;
};

enum layout_fate layouts_fate(const struct layouts *l, int64_t number);
struct space_limits layouts_limits(const struct layouts *l);
// " of the space for" its framework, and what of it is not searched; "": for any.
const char *layouts_space_words(const struct layouts *l, struct arena *arena);
// The reason's index; adds the reason if it is new, with a copy of the text.
int layouts_reason(struct layouts *l, enum layout_fate fate, const char *text, struct arena *arena);
// Whether it is closed without a bound, because it has no plan at all.
bool layout_fate_has_no_plan(enum layout_fate fate);
// Takes over what another search over the same space found out: the fate of a layout without a
// plan, the greater bound of the others. The others are open again, whatever was concluded from the
// plan known then.
void layouts_take(struct layouts *l, const struct layouts *known, struct arena *arena);
bool layouts_reason_known(const struct layouts *l, enum layout_fate fate, const char *text);
void layouts_count(struct layouts *l); // sets reasons[].count

extern const struct members layouts_members; // its keys (data/text/members.h)
enum status layouts_load(struct layouts *l, const char *path, struct arena *arena,
                         struct error *err);
enum status layouts_save(const struct layouts *l, const char *path, struct arena *arena,
                         struct error *err);
