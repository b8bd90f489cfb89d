// Designs of a device and its machine: each parameter in a list or in steps, every choice of one
// value of each, with its area, power and price by terms, and limits of area and power. What a
// choice is as costs and as a cluster. docs/FORMULAS.md 24.
#pragma once

#include "data/inputs/costs.h"
#include "data/text/members.h"

// AXIS(constant after DESIGN_, key)
#define DESIGN_PARAMETERS(AXIS)                                                                    \
    AXIS(MATRIX_UNITS, "matrix_units")                                                             \
    AXIS(ROWS, "rows")                                                                             \
    AXIS(COLUMNS, "columns") /* not stated: as many as rows */                                     \
    AXIS(VECTOR_UNITS, "vector_units")                                                             \
    AXIS(LANES, "lanes") /* not stated: as many as columns */                                      \
    AXIS(BUFFER_BYTES, "buffer_bytes")                                                             \
    AXIS(CLOCK_HZ, "clock_hz")                                                                     \
    AXIS(MEMORY_BYTES, "memory_bytes")                                                             \
    AXIS(MEMORY_BYTES_PER_S, "memory_bytes_per_s")                                                 \
    AXIS(LINK_BYTES_PER_S, "link_bytes_per_s")       /* of a device, within a node */              \
    AXIS(NETWORK_BYTES_PER_S, "network_bytes_per_s") /* of a device, out of the node */            \
    AXIS(DEVICES, "devices")                         /* of a node */                               \
    AXIS(NODES, "nodes")
#define DESIGN_CONSTANT(constant, name) DESIGN_##constant,
enum design_axis { DESIGN_PARAMETERS(DESIGN_CONSTANT) DESIGN_AXES };
#undef DESIGN_CONSTANT
extern const char *const design_axis_names[]; // as keys

struct design_values {
    double *values; // rising
    int value_count;
    double from, to, times, plus; // or these steps
};

// One value of each.
struct design {
    double of[DESIGN_AXES];
};

// A sum of so much each.
enum design_term {
    TERM_FIXED,
    TERM_MULTIPLIER,
    TERM_MATRIX_UNIT,
    TERM_LANE,
    TERM_VECTOR_UNIT,
    TERM_BUFFER_BYTE,
    TERM_MEMORY_BYTE,
    TERM_MEMORY_BYTE_PER_S,
    TERM_LINK_BYTE_PER_S, // within a node and out of it
    TERM_AREA,            // per mm2; not of the area itself
    DESIGN_TERMS
};

struct designs {
    struct document document;
    const char *name;
    struct design_values axes[DESIGN_AXES];
    double link_latency_s, network_latency_s;
    double area[DESIGN_TERMS];          // mm2 of a device
    double power[DESIGN_TERMS];         // W of a device
    double hour_price[DESIGN_TERMS];    // of a device
    double area_most_mm2, power_most_w; // of a device; of all together; 0: no limit
};

extern const struct members designs_members;
enum { DESIGN_CHOICES_MAX = 1 << 20 };

enum status designs_load(struct designs *d, const char *path, struct arena *arena,
                         struct error *err);
int64_t designs_count(const struct designs *d); // all choices, within the limits or not
struct design design_at(const struct designs *d, int64_t choice);

int64_t design_devices(const struct design *x);
double design_area_mm2(const struct designs *d, const struct design *x);
double design_power_w(const struct designs *d, const struct design *x); // of one device
double design_hour_price(const struct designs *d, const struct design *x);
bool design_is_within(const struct designs *d, const struct design *x);
// The values of those parameters that have several: "m8-r128-b64M".
const char *design_words(const struct designs *d, const struct design *x, struct arena *arena);

// Its devices alone, in 16 bits.
struct costs design_costs(const struct designs *d, const struct design *x, struct arena *arena);
struct cluster design_cluster(const struct designs *d, const struct design *x, struct arena *arena);
