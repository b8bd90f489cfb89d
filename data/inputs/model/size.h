// How many parameters a model has, on all devices together: what people call its size.
#ifndef PLUMBLINE_DATA_INPUTS_MODEL_SIZE_H
#define PLUMBLINE_DATA_INPUTS_MODEL_SIZE_H

#include "data/inputs/model/model.h"

// all: every value, adapters among them, a matrix that embedding and head share once; active: those
// that one token meets (of experts top_k and the shared ones, of a pool what it reads). measured:
// some layers' bytes are stated instead, and are not in it. Vocabularies as they are, not padded.
struct model_size {
    int64_t all, active;
    bool measured;
};
struct model_size model_size_of(const struct model *m);

#endif
