// The space of layouts from which a job lets a search choose: every tuple of degrees, micro-batch,
// schedule and switches whose device count is that of the cluster, or at most that. It is
// enumerated in one fixed order, before any filter, so a layout is identified by its number.
#pragma once

#include "data/inputs/framework.h"
#include "data/text/members.h"

// The limits of the space.
struct space_limits {
    const struct layout *layout; // what is fixed
    int64_t devices;             // of the cluster
    int64_t global_batch, sequence;
    int layers;           // of the model
    int64_t experts;      // which expert degrees divide: of all its mixtures; 0: it has none
    enum pool_span pools; // model_pool_span
    enum precision precision;
    enum context_kind context_kind;
    bool sinks, windows;   // model_has_sinks; some layer has a window
    bool hybrid;           // model_is_hybrid
    bool latent;           // attention with latents
    bool tied;             // head and embedding share one matrix
    int mtp_depth;         // model_mtp_depth
    int64_t key_heads;     // that divide every layer's KV heads; 0: there are none
    const bool *recompute; // [RECOMPUTE_COUNT]: that the job offers; NULL: none
    bool uneven_stages;    // that a framework can be told
};

// Calls visit for every layout, with numbers ascending from 0; visit returns false to stop. Returns
// the number of calls. "All" means: degrees, every divisor of the devices; data, what is left of
// them (with fewer_devices, every divisor of that, rounded down); expert_tensor,
// 1 and tensor's own (without mixtures its own); pool, every divisor of the devices that a pool has
// (without memory layers none); expert, every divisor of the ranks that hold
// one part of each expert that divides the experts of every mixture (1 without any); schedules,
// every one; virtual_stages, for schedules with several stages per rank, every divisor above 1 of
// the layers per rank, rounded down or up; micro_batch, every divisor of global_batch / data; zero,
// 0 to 3; switches, off and on; context_kind, with context ranks what can be the fastest: the ring,
// or where the framework has none all_gather, and all_to_all where tensor x context divides the KV
// heads; slices, 2, 4, 8. With slice_tokens, a sequence may be cut at any
// multiple of it: every choice of lengths, with the given number of slices or with any number, is a
// layout. With a framework, only what it runs (data/inputs/framework.h); then the schedule is 1F1B
// on one rank, and sequence parallelism is off without tensor parallelism, whatever is listed. With
// tensor_grids, each tensor degree is replaced by its grids in order: t3 rising in the outer loop,
// t2 in the inner, [t, 1, 1] first; sequence parallelism is off in a grid of one along the first
// axis; grid_order, each that places an axis above 1 elsewhere. With in_flight_max, a layout of
// 1f1b without local losses is taken with every list of data/kinds/in_flight.h up to it, innermost
// and in their order, none above the number of micro-batches. A tuple of degrees whose data degree
// does not divide the batch counts once, with the layout's micro_batch.
enum { SPACE_COUNT_MAX = 20 * 1000 * 1000 }; // the most that a search accepts
// visit NULL: they are counted.
typedef bool space_visitor(void *argument, int64_t number, const struct layout *layout);
int64_t space_each(const struct space *space, const struct space_limits *limits,
                   space_visitor *visit, void *argument);

// Where in the space each tuple of values of the outer keys begins (and of tensor's grid), so that
// a walk over a few of its layouts passes over the others.
enum { SPACE_TUPLE_KEYS = SPACE_MICRO_BATCH + 1 };
struct space_index {
    struct space_tuple {
        int64_t first;
        int values[SPACE_TUPLE_KEYS], grid[2];
    } * tuples; // ascending
    int tuple_count, capacity;
    int keys;      // of which a tuple has values
    int64_t count; // of layouts
    struct arena *arena;
};
// To be called with ascending numbers from 0.
void space_index_add(struct space_index *x, int64_t number, const struct layout *layout);

// Numbers from first to end - 1.
struct space_range {
    int64_t first, end;
};
// Calls visit for every layout of the ascending ranges, with its number; false stops.
void space_each_of(const struct space *space, const struct space_limits *limits,
                   const struct space_index *index, const struct space_range *ranges,
                   int64_t range_count, space_visitor *visit, void *argument);

// What besides the layout decides whether a framework runs it.
struct framework_of space_framework_of(const struct space_limits *limits, const struct layout *l);

// Whether it is one layout, but for the setting of recomputation that all stages have.
bool space_is_of_settings(const struct space *space);

// Why the space has no layout; NULL: it has one.
const char *space_why_empty(const struct space *space, const struct space_limits *limits);

// The layouts of part `index`, from 0, of `count` parts. The space is cut into pieces that are
// dealt to the parts in turn, several per part, so that all parts take about the same time. count
// 0: all layouts.
struct space_part {
    int index, count;
};
enum { SPACE_PARTS_MAX = 1000 };
bool space_part_has(const struct space_part *part, int64_t number, int64_t layouts);

// Whether the layout is in the space; *number is its number, if not NULL.
bool space_contains(const struct space *space, const struct space_limits *limits,
                    const struct layout *layout, int64_t *number);
// What the layout states that the limits have anyway, or that has no meaning in it, as in the walk.
void space_settle(const struct space_limits *limits, struct layout *layout);
bool layout_equal(const struct layout *a, const struct layout *b);
// Of every key of a space, by which layouts differ; equal layouts have equal hashes.
uint64_t layout_hash(const struct layout *l);

// A layout's value of a key, as in a list of the space: switches are 0 and 1, names their index.
int layout_value(const struct layout *l, enum space_key key);
void layout_set_value(struct layout *l, enum space_key key, int value); // but slices' lengths

// A key of an object (data/text/members.h), written if the space is given.
extern const struct members space_members;
member_put space_put;
#define KEY_SPACE(s, member, need)                                                                 \
    KEY_ROW(#member, JSON_OBJECT, need, ALWAYS_WRITTEN, offsetof(struct s, member), 0, 0, NULL,    \
            &space_members, 0, 0, JSON_SKIP, NULL, space_put)
