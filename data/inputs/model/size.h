// The number of parameters of a model, on all devices together: its size in everyday terms.
#ifndef PLUMBLINE_DATA_INPUTS_MODEL_SIZE_H
#define PLUMBLINE_DATA_INPUTS_MODEL_SIZE_H

#include "data/inputs/model/model.h"

// all: every value, including adapters; a matrix shared by embedding and head counts once. active:
// those that one token uses (of experts, top_k and the shared ones; of a pool, what it reads).
// measured: the bytes of some layers are stated instead, and these layers are not included.
// Vocabularies count without padding.
struct model_size {
    int64_t all, active;
    bool measured;
};
struct model_size model_size_of(const struct model *m);

#endif
