// The parts of a model's runs that only some kinds of layers have: reading, checking, writing.
// Internal to data/inputs/model.
#pragma once

#include "data/inputs/model/model.h"
#include "data/text/members.h"

// ---- shape.c
// The keys of a model's shape, and of a run's own shape, which lacks those of embedding and head.
extern const struct members shape_members, own_shape_members;
void shape_put(struct json_writer *w, const char *key, const struct shape *s,
               const struct members *members);
enum status shape_check(const struct shape *s, bool of_run, struct error *err);

// ---- towers.c
extern const struct members projector_members;
// The runs' own shapes and tokens, and the order of runs that they require.
enum status towers_check(const struct model *m, struct error *err);

// ---- adapters.c
enum status adapters_check(const struct layer_run *run, const struct shape *s, struct error *err);

// ---- kinds.c
extern const struct members experts_members, pool_members;
// Also checks what depends on the shape (may be NULL).
enum status run_kind_check(const struct layer_run *run, const struct shape *s, struct error *err);
