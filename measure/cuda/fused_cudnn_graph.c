// An attention as a graph of operations, in the order and with the types by which the library
// recognises a fused causal attention (its documentation of the flash attention patterns). It then
// uses one kernel for all of them. Scores are never written; for each row of scores, the logarithm
// of its sum of exponentials is kept.
#include "measure/cuda/fused_cudnn_graph.h"

#include "data/base/grow.h"

#include <string.h>

enum { OPERATIONS_MAX = 40, RANK = 4, ALIGNMENT = 16 };

// ---- descriptors

enum status cudnn_fail(struct error *err, cudnnStatus_t code, const char *call)
{
    char text[256] = "";
    cudnnGetLastErrorString(text, sizeof text);
    int length = (int)strcspn(call, "(");
    return fail(err, UNAVAILABLE, "cuda: %.*s: %s%s%s", length, call, cudnnGetErrorString(code),
                *text ? ": " : "", text);
}

enum status descriptor_make(struct descriptors *all, cudnnBackendDescriptorType_t type,
                            descriptor *made, struct error *err)
{
    GROW(all->arena, all->made, all->count, all->capacity, 256);
    CUDNN_TRY(cudnnBackendCreateDescriptor(type, made));
    all->made[all->count++] = *made;
    return OK;
}

enum status descriptor_set(descriptor of, cudnnBackendAttributeName_t name,
                           cudnnBackendAttributeType_t type, int64_t count, const void *values,
                           struct error *err)
{
    CUDNN_TRY(cudnnBackendSetAttribute(of, name, type, count, values));
    return OK;
}

enum status descriptor_link(descriptor of, cudnnBackendAttributeName_t name, descriptor value,
                            struct error *err)
{
    return value ? descriptor_set(of, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value, err) : OK;
}

enum status descriptor_finish(descriptor of, struct error *err)
{
    CUDNN_TRY(cudnnBackendFinalize(of));
    return OK;
}

// ---- a graph under construction; the first failure ends it, and later calls do nothing

typedef descriptor tensor;

struct graph_writer {
    struct descriptors *all;
    const struct attention *a;
    descriptor operations[OPERATIONS_MAX];
    int operation_count;
    int64_t next_between;
    cudnnDataType_t type; // of queries and so on
    enum status status;
    struct error *err;
};

static const int64_t *dimensions(int64_t to[RANK], int64_t a, int64_t b, int64_t c, int64_t d)
{
    to[0] = a, to[1] = b, to[2] = c, to[3] = d;
    return to;
}

static enum status make_tensor(struct graph_writer *g, int64_t id, cudnnDataType_t type,
                               const int64_t *size, const int64_t *stride, bool by_value, tensor *t)
{
    struct error *err = g->err;
    int64_t alignment = ALIGNMENT, number = id ? id : g->next_between++;
    bool between = id == 0;
    TRY(descriptor_make(g->all, CUDNN_BACKEND_TENSOR_DESCRIPTOR, t, err));
    TRY(descriptor_set(*t, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &number, err));
    TRY(descriptor_set(*t, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type, err));
    TRY(descriptor_set(*t, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment, err));
    TRY(descriptor_set(*t, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, RANK, size, err));
    TRY(descriptor_set(*t, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, RANK, stride, err));
    TRY(descriptor_set(*t, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &between, err));
    if (by_value)
        TRY(descriptor_set(*t, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &by_value,
                           err));
    return descriptor_finish(*t, err);
}

static tensor add_tensor(struct graph_writer *g, int64_t id, cudnnDataType_t type,
                         const int64_t *size, const int64_t *stride, bool by_value)
{
    tensor t = NULL;
    if (g->status == OK) g->status = make_tensor(g, id, type, size, stride, by_value, &t);
    return t;
}

static tensor add_number(struct graph_writer *g, int64_t id)
{
    int64_t one[RANK];
    return add_tensor(g, id, CUDNN_DATA_FLOAT, dimensions(one, 1, 1, 1, 1),
                      dimensions(one, 1, 1, 1, 1), true);
}

// [batch][heads][rows][columns], dense.
static tensor add_dense(struct graph_writer *g, int64_t id, cudnnDataType_t type, int64_t heads,
                        int64_t rows, int64_t columns)
{
    int64_t size[RANK], stride[RANK];
    return add_tensor(g, id, type, dimensions(size, g->a->batch, heads, rows, columns),
                      dimensions(stride, heads * rows * columns, rows * columns, columns, 1),
                      false);
}

// A view of rows of `row` values per token: [batch][heads][sequence][width], or with the last two
// exchanged.
static tensor add_rows(struct graph_writer *g, int64_t id, int64_t heads, int64_t tokens,
                       int64_t row, bool transposed)
{
    const struct attention *a = g->a;
    int64_t size[RANK], stride[RANK];
    dimensions(size, a->batch, heads, transposed ? a->width : tokens,
               transposed ? tokens : a->width);
    dimensions(stride, tokens * row, a->width, transposed ? 1 : row, transposed ? row : 1);
    return add_tensor(g, id, g->type, size, stride, false);
}

static tensor add_scores(struct graph_writer *g, cudnnDataType_t type)
{
    return add_dense(g, 0, type, g->a->heads, g->a->sequence, attention_keys(g->a));
}

static tensor add_column(struct graph_writer *g, int64_t id)
{
    return add_dense(g, id, CUDNN_DATA_FLOAT, g->a->heads, g->a->sequence, 1);
}

static enum status keep(struct graph_writer *g, descriptor operation)
{
    struct error *err = g->err;
    TRY(descriptor_finish(operation, err));
    if (g->operation_count == OPERATIONS_MAX)
        return fail(err, SYSTEM, "cuda: an attention of too many operations");
    g->operations[g->operation_count++] = operation;
    return OK;
}

struct pointwise {
    cudnnPointwiseMode_t mode;
    cudnnDataType_t math;
    int64_t axis;
};

static enum status make_pointwise(struct graph_writer *g, const struct pointwise *p, tensor x,
                                  tensor b, tensor choice, tensor y)
{
    struct error *err = g->err;
    descriptor how, operation;
    TRY(descriptor_make(g->all, CUDNN_BACKEND_POINTWISE_DESCRIPTOR, &how, err));
    TRY(descriptor_set(how, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &p->mode,
                       err));
    TRY(descriptor_set(how, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &p->math,
                       err));
    if (p->mode == CUDNN_POINTWISE_GEN_INDEX)
        TRY(descriptor_set(how, CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, 1, &p->axis, err));
    TRY(descriptor_finish(how, err));
    TRY(descriptor_make(g->all, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, &operation, err));
    TRY(descriptor_link(operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how, err));
    TRY(descriptor_link(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x, err));
    TRY(descriptor_link(operation, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b, err));
    TRY(descriptor_link(operation, CUDNN_ATTR_OPERATION_POINTWISE_TDESC, choice, err));
    TRY(descriptor_link(operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y, err));
    return keep(g, operation);
}

// y = x (mode) b, in float; returns y.
static tensor combine(struct graph_writer *g, cudnnPointwiseMode_t mode, tensor x, tensor b,
                      tensor y)
{
    const struct pointwise p = {mode, CUDNN_DATA_FLOAT, 0};
    if (g->status == OK) g->status = make_pointwise(g, &p, x, b, NULL, y);
    return y;
}

static enum status make_product(struct graph_writer *g, tensor a, tensor b, tensor c)
{
    struct error *err = g->err;
    descriptor how, operation;
    cudnnDataType_t math = CUDNN_DATA_FLOAT;
    TRY(descriptor_make(g->all, CUDNN_BACKEND_MATMUL_DESCRIPTOR, &how, err));
    TRY(descriptor_set(how, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &math, err));
    TRY(descriptor_finish(how, err));
    TRY(descriptor_make(g->all, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, &operation, err));
    TRY(descriptor_link(operation, CUDNN_ATTR_OPERATION_MATMUL_DESC, how, err));
    TRY(descriptor_link(operation, CUDNN_ATTR_OPERATION_MATMUL_ADESC, a, err));
    TRY(descriptor_link(operation, CUDNN_ATTR_OPERATION_MATMUL_BDESC, b, err));
    TRY(descriptor_link(operation, CUDNN_ATTR_OPERATION_MATMUL_CDESC, c, err));
    return keep(g, operation);
}

static tensor multiply(struct graph_writer *g, tensor a, tensor b, tensor c)
{
    if (g->status == OK) g->status = make_product(g, a, b, c);
    return c;
}

static enum status make_reduction(struct graph_writer *g, cudnnReduceTensorOp_t what, tensor x,
                                  tensor y)
{
    struct error *err = g->err;
    descriptor how, operation;
    cudnnDataType_t math = CUDNN_DATA_FLOAT;
    TRY(descriptor_make(g->all, CUDNN_BACKEND_REDUCTION_DESCRIPTOR, &how, err));
    TRY(descriptor_set(how, CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1,
                       &what, err));
    TRY(descriptor_set(how, CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &math, err));
    TRY(descriptor_finish(how, err));
    TRY(descriptor_make(g->all, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, &operation, err));
    TRY(descriptor_link(operation, CUDNN_ATTR_OPERATION_REDUCTION_DESC, how, err));
    TRY(descriptor_link(operation, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x, err));
    TRY(descriptor_link(operation, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y, err));
    return keep(g, operation);
}

static tensor reduce(struct graph_writer *g, cudnnReduceTensorOp_t what, tensor x, tensor y)
{
    if (g->status == OK) g->status = make_reduction(g, what, x, y);
    return y;
}

static enum status make_reshape(struct graph_writer *g, tensor x, tensor y)
{
    struct error *err = g->err;
    descriptor operation;
    TRY(descriptor_make(g->all, CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR, &operation, err));
    TRY(descriptor_link(operation, CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x, err));
    TRY(descriptor_link(operation, CUDNN_ATTR_OPERATION_RESHAPE_YDESC, y, err));
    return keep(g, operation);
}

static tensor reshape(struct graph_writer *g, tensor x, tensor y)
{
    if (g->status == OK) g->status = make_reshape(g, x, y);
    return y;
}

// ---- attention

// A row sees the columns up to its own number; the others become the least number there is.
static tensor mask(struct graph_writer *g, tensor scores)
{
    const struct pointwise row = {CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_INT32, 2};
    const struct pointwise column = {CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_INT32, 3};
    const struct pointwise seen = {CUDNN_POINTWISE_CMP_GE, CUDNN_DATA_BOOLEAN, 0};
    const struct pointwise choose = {CUDNN_POINTWISE_BINARY_SELECT, CUDNN_DATA_FLOAT, 0};
    tensor rows = add_scores(g, CUDNN_DATA_INT32), columns = add_scores(g, CUDNN_DATA_INT32);
    tensor is_seen = add_scores(g, CUDNN_DATA_BOOLEAN);
    tensor masked = add_number(g, ID_MASKED), y = add_scores(g, CUDNN_DATA_FLOAT);
    if (g->status == OK) g->status = make_pointwise(g, &row, scores, NULL, NULL, rows);
    if (g->status == OK) g->status = make_pointwise(g, &column, scores, NULL, NULL, columns);
    if (g->status == OK) g->status = make_pointwise(g, &seen, rows, columns, NULL, is_seen);
    if (g->status == OK) g->status = make_pointwise(g, &choose, scores, masked, is_seen, y);
    return y;
}

static void write_forward(struct graph_writer *g)
{
    const struct attention *a = g->a;
    int64_t s = a->sequence, keys = attention_keys(a), row = key_row(a);
    tensor query = add_rows(g, ID_QUERY, a->heads, s, query_row(a), false);
    tensor key = add_rows(g, ID_KEY, a->kv_heads, keys, row, true);
    tensor value = add_rows(g, ID_VALUE, a->kv_heads, keys, row, false);
    tensor context = add_rows(g, ID_CONTEXT, a->heads, s, a->heads * a->width, false);
    tensor scores = multiply(g, query, key, add_scores(g, CUDNN_DATA_FLOAT));
    scores = combine(g, CUDNN_POINTWISE_MUL, scores, add_number(g, ID_SCALE),
                     add_scores(g, CUDNN_DATA_FLOAT));
    if (!a->keys) scores = mask(g, scores);
    tensor largest = reduce(g, CUDNN_REDUCE_TENSOR_MAX, scores, add_column(g, 0));
    tensor below =
        combine(g, CUDNN_POINTWISE_SUB, scores, largest, add_scores(g, CUDNN_DATA_FLOAT));
    tensor power = combine(g, CUDNN_POINTWISE_EXP, below, NULL, add_scores(g, CUDNN_DATA_FLOAT));
    tensor sum = reduce(g, CUDNN_REDUCE_TENSOR_ADD, power, add_column(g, 0));
    tensor logarithm = combine(g, CUDNN_POINTWISE_LOG, sum, NULL, add_column(g, 0));
    combine(g, CUDNN_POINTWISE_ADD, largest, logarithm, add_column(g, ID_KEPT));
    tensor share = combine(g, CUDNN_POINTWISE_DIV, power, sum, add_scores(g, g->type));
    multiply(g, share, value, context);
}

// The transpose of scores as a view, in the type that products take.
static tensor transpose_scores(struct graph_writer *g, tensor scores)
{
    const struct attention *a = g->a;
    int64_t size[RANK], stride[RANK], s = a->sequence, keys = attention_keys(a);
    dimensions(size, a->batch, a->heads, keys, s);
    dimensions(stride, a->heads * s * keys, s * keys, 1, keys);
    return reshape(g, scores, add_tensor(g, 0, g->type, size, stride, false));
}

// Gradients of keys or values: for every query head, then summed over those that share one.
static void add_up(struct graph_writer *g, tensor scores, tensor x, tensor gradient)
{
    const struct attention *a = g->a;
    if (a->heads == a->kv_heads) {
        multiply(g, scores, x, gradient);
        return;
    }
    tensor every =
        multiply(g, scores, x, add_dense(g, 0, g->type, a->heads, attention_keys(a), a->width));
    reduce(g, CUDNN_REDUCE_TENSOR_ADD, every, gradient);
}

static void write_backward(struct graph_writer *g)
{
    const struct attention *a = g->a;
    int64_t s = a->sequence, w = a->width, keys = attention_keys(a), row = key_row(a),
            own = query_row(a), context_row = a->heads * w;
    tensor query = add_rows(g, ID_QUERY, a->heads, s, own, false);
    tensor key = add_rows(g, ID_KEY, a->kv_heads, keys, row, true);
    tensor value = add_rows(g, ID_VALUE, a->kv_heads, keys, row, true);
    tensor context = add_rows(g, ID_CONTEXT, a->heads, s, context_row, false);
    tensor d_context = add_rows(g, ID_D_CONTEXT, a->heads, s, context_row, false);
    tensor kept = add_column(g, ID_KEPT), scale = add_number(g, ID_SCALE);
    tensor d_query = add_rows(g, ID_D_QUERY, a->heads, s, own, false);
    tensor d_key = add_rows(g, ID_D_KEY, a->kv_heads, keys, row, false);
    tensor d_value = add_rows(g, ID_D_VALUE, a->kv_heads, keys, row, false);
    // The sums of context times its gradient.
    int64_t size[RANK], stride[RANK];
    dimensions(size, a->batch, a->heads, s, w);
    dimensions(stride, a->heads * s * w, s * w, a->heads * w, 1);
    tensor both = add_tensor(g, 0, CUDNN_DATA_FLOAT, size, stride, false);
    combine(g, CUDNN_POINTWISE_MUL, d_context, context, both);
    tensor sums = reduce(g, CUDNN_REDUCE_TENSOR_ADD, both, add_column(g, 0));
    sums = combine(g, CUDNN_POINTWISE_MUL, sums, add_number(g, ID_ONE), add_column(g, ID_ROW_SUMS));
    // Recomputes the weights from the scores and what was kept; the values' gradient.
    tensor scores = multiply(g, query, key, add_scores(g, CUDNN_DATA_FLOAT));
    scores = combine(g, CUDNN_POINTWISE_MUL, scores, scale, add_scores(g, CUDNN_DATA_FLOAT));
    scores = combine(g, CUDNN_POINTWISE_SUB, scores, kept, add_scores(g, CUDNN_DATA_FLOAT));
    if (!a->keys) scores = mask(g, scores);
    tensor share = combine(g, CUDNN_POINTWISE_EXP, scores, NULL, add_scores(g, CUDNN_DATA_FLOAT));
    add_up(g, transpose_scores(g, share), d_context, d_value);
    // The scores' gradient, the keys', the queries'.
    tensor d_scores = multiply(g, d_context, value, add_scores(g, CUDNN_DATA_FLOAT));
    d_scores = combine(g, CUDNN_POINTWISE_SUB, d_scores, sums, add_scores(g, CUDNN_DATA_FLOAT));
    d_scores = combine(g, CUDNN_POINTWISE_MUL, d_scores, share, add_scores(g, CUDNN_DATA_FLOAT));
    d_scores = combine(g, CUDNN_POINTWISE_MUL, d_scores, scale, add_scores(g, CUDNN_DATA_FLOAT));
    add_up(g, transpose_scores(g, d_scores), query, d_key);
    tensor turned = reshape(g, key, add_rows(g, 0, a->kv_heads, keys, row, false));
    tensor sum = multiply(g, d_scores, turned,
                          add_dense(g, ID_D_QUERY_SUM, CUDNN_DATA_FLOAT, a->heads, s, w));
    combine(g, CUDNN_POINTWISE_IDENTITY, sum, NULL, d_query);
}

enum status graph_of_attention(descriptor *graph, struct descriptors *all,
                               const struct attention *a, struct error *err)
{
    struct graph_writer g = {.all = all,
                             .a = a,
                             .next_between = BETWEEN,
                             .status = OK,
                             .err = err,
                             .type = a->type == ELEMENT_HALF ? CUDNN_DATA_HALF
                                                             : CUDNN_DATA_BFLOAT16};
    if (a->type != ELEMENT_HALF && a->type != ELEMENT_BFLOAT)
        return fail(err, UNAVAILABLE, "cuda: cuDNN has fused attention in 16 bits only");
    if (a->backward) write_backward(&g);
    else write_forward(&g);
    TRY(g.status);
    TRY(descriptor_make(all, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, graph, err));
    TRY(descriptor_set(*graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                       g.operation_count, g.operations, err));
    return descriptor_finish(*graph, err);
}
