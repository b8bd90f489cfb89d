// The space of layouts that a job lets a search choose from: every tuple of degrees, micro-batch,
// schedule and switches whose device count is that of the cluster. Enumerated in one fixed order,
// before any filter: a layout's number in it names it.
#ifndef PLUMBLINE_DATA_INPUTS_SPACE_H
#define PLUMBLINE_DATA_INPUTS_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "data/inputs/job.h"
#include "data/text/members.h"

// What bounds the space.
struct space_limits {
    const struct layout *layout; // what is fixed
    int64_t devices;             // of the cluster
    int64_t global_batch, sequence;
    int layers; // of the model
};

// Calls visit for every layout, numbers ascending from 0; it returns false to stop. Returns how
// many it was called for. "All" means: degrees, every divisor of the devices; data, what is left of
// them (with fewer_devices, every divisor of that); schedules, every one; virtual_stages, for the
// schedules that have several a rank every divisor above 1 of the layers per rank, rounded down or
// up; micro_batch, every divisor of global_batch / data; zero 0 to 3; switches off and on; slices
// 2, 4, 8. With slice_tokens a sequence is cut at any of its multiples: of so many slices, or of
// any number of them, every choice of lengths is a layout. With a framework only what it runs
// (data/inputs/framework.h); on one rank the schedule is 1F1B then, and sequence parallelism is off
// without tensor parallelism, whatever is listed. With tensor_grids each tensor degree is taken as
// its grids, one after the other: t3 rising outside, t2 inside, [t, 1, 1] first; sequence
// parallelism is off in a grid. A tuple of degrees whose data degree does not
// divide the batch counts once, with the layout's micro_batch.
enum { SPACE_COUNT_MAX = 20 * 1000 * 1000 }; // what a search takes on
typedef bool space_visitor(void *argument, int64_t number, const struct layout *layout);
int64_t space_each(const struct space *space, const struct space_limits *limits,
                   space_visitor *visit, void *argument);

// The layouts of part `index`, from 0, of `count` parts: pieces of the space in turn, several of
// them a part, so that parts take about as long. count 0: all layouts.
struct space_part {
    int index, count;
};
enum { SPACE_PARTS_MAX = 1000 };
bool space_part_has(const struct space_part *part, int64_t number, int64_t layouts);

// Whether the layout is one of the space; *number is its place, if not NULL.
bool space_contains(const struct space *space, const struct space_limits *limits,
                    const struct layout *layout, int64_t *number);
bool layout_equal(const struct layout *a, const struct layout *b);

// A key of an object (data/text/members.h), which is written where the space is given.
extern const struct members space_members;
member_put space_put;
#define KEY_SPACE(s, member, need)                                                                 \
    KEY_ROW(#member, JSON_OBJECT, need, ALWAYS_WRITTEN, offsetof(struct s, member), 0, 0, NULL,    \
            &space_members, 0, 0, JSON_SKIP, NULL, space_put)

#endif
