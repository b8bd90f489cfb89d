// What the files data/inputs/costs*.c share: estimates, and the numbers that a costs document need
// not state (0 is "not stated").
#ifndef PLUMBLINE_DATA_INPUTS_COSTS_INTERNAL_H
#define PLUMBLINE_DATA_INPUTS_COSTS_INTERNAL_H

#include <stddef.h>

#include "data/inputs/costs.h"

enum status estimate_get(const struct json *object, struct estimate *e, double low, double high,
                         struct arena *arena, struct error *err);
// One that may be left out keeps what *e holds.
enum status estimate_get_optional(const struct json *object, struct estimate *e, double low,
                                  double high, struct arena *arena, struct error *err);
enum status estimate_check(const struct costs *c, const char *where, const char *key,
                           const struct estimate *e, double low, double high, struct error *err);
void estimate_put(struct json_writer *w, const char *key, const struct estimate *e);

// An estimate that need not be stated: its key, its place in the struct, its range.
struct optional_cost {
    const char *key;
    size_t offset;
    double high;
};
enum {
    OPTIONAL_GPU_COSTS = 28,
    OPTIONAL_PRECISION_COSTS = 10,
    OPTIONAL_TRANSFER_COSTS = 1 + NIC_KIND_COUNT,
    OPTIONAL_COSTS = 7
};
extern const struct optional_cost optional_gpu_costs[OPTIONAL_GPU_COSTS],
    optional_precision_costs[OPTIONAL_PRECISION_COSTS],
    optional_transfer_costs[OPTIONAL_TRANSFER_COSTS], optional_costs[OPTIONAL_COSTS];

// objects[i] receives the i-th key's value, if it is there.
void optional_fields(struct json_field *fields, struct json *objects,
                     const struct optional_cost *costs, int count);
enum status optional_get(void *base, const struct json *objects, const struct optional_cost *costs,
                         int count, struct arena *arena, struct error *err);
enum status optional_check(const struct costs *c, const char *where, const void *base,
                           const struct optional_cost *costs, int count, struct error *err);
void optional_put(struct json_writer *w, const void *base, const struct optional_cost *costs,
                  int count);

enum status transfer_efficiency_get(const struct json *object, struct costs *c, struct arena *arena,
                                    struct error *err);
enum status schedule_shares_get(const struct json *object, struct costs *c, struct arena *arena,
                                struct error *err);
double transfer_share_sum(
    const double share[PART_COUNT]); // overhead counts at both ends; NAN where one is below 0
enum status collectives_get(const struct json *array, struct costs *c, struct arena *arena,
                            struct error *err);
enum status collectives_check(const struct costs *c, struct error *err);
void collectives_put(struct json_writer *w, const struct costs *c);
enum status costs_check_optional(
    const struct costs *c, struct error *err); // of the whole document; a GPU's are checked with it
void costs_put_optional(struct json_writer *w, const struct costs *c);

#endif
