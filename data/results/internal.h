// What the files of plans share.
#ifndef PLUMBLINE_DATA_RESULTS_INTERNAL_H
#define PLUMBLINE_DATA_RESULTS_INTERNAL_H

#include "data/text/json.h"
#include "data/results/plan.h"

enum status plan_placement_get(const struct json *object, struct plan *p, struct arena *arena,
                               struct error *err);
void plan_placement_put(struct json_writer *w, const struct plan *p);
enum status plan_extrapolations_get(const struct json *array, struct plan *p, struct arena *arena,
                                    struct error *err);
void plan_extrapolations_put(struct json_writer *w, const struct plan *p);

#endif
