// Shared by the two files behind fused.h: the only header that includes cudnn.h.
#pragma once

#include <cudnn.h>

#include "measure/cuda/fused.h"

typedef cudnnBackendDescriptor_t descriptor;

// Tensors outside the graph; those between operations are numbered from BETWEEN on.
enum id {
    ID_QUERY = 1,
    ID_KEY,
    ID_VALUE,
    ID_CONTEXT,
    ID_KEPT,
    ID_D_CONTEXT,
    ID_D_QUERY,
    ID_D_KEY,
    ID_D_VALUE,
    ID_SCALE,
    ID_MASKED,
    ID_ONE,
    ID_ROW_SUMS,
    ID_D_QUERY_SUM,
    BETWEEN = 100
};

// Everything made is kept until the end, because plans refer to it.
struct descriptors {
    struct arena *arena;
    descriptor *made;
    int count, capacity;
};

enum status cudnn_fail(struct error *err, cudnnStatus_t code, const char *call);

#define CUDNN_TRY(call)                                                                            \
    do {                                                                                           \
        cudnnStatus_t cudnn_code = (call);                                                         \
        if (cudnn_code != CUDNN_STATUS_SUCCESS) return cudnn_fail(err, cudnn_code, #call);         \
    } while (0)

enum status descriptor_make(struct descriptors *all, cudnnBackendDescriptorType_t type,
                            descriptor *made, struct error *err);
enum status descriptor_set(descriptor of, cudnnBackendAttributeName_t name,
                           cudnnBackendAttributeType_t type, int64_t count, const void *values,
                           struct error *err);
// NULL is not set.
enum status descriptor_link(descriptor of, cudnnBackendAttributeName_t name, descriptor value,
                            struct error *err);
enum status descriptor_finish(descriptor of, struct error *err);

// The operations of an attention, as a finished graph.
enum status graph_of_attention(descriptor *graph, struct descriptors *all,
                               const struct attention *attention, struct error *err);
