// Causal attention by cuDNN's graph interface: makes plans from graphs and executes them. Plans
// are made for a description of the device, not for a handle, so they can be made without a
// device.
#include <float.h>
#include <string.h>

#include "data/base/grow.h"
#include "measure/cuda/fused_cudnn_graph.h"

// Before CLEARING_SINCE the library expects the sum of the queries' gradient to be zero.
enum { CONFIGS_MAX = 8, CLEARING_SINCE = 90600 };

struct plan {
    struct attention attention;
    descriptor plan;
    int64_t workspace_bytes, row_sums_at, query_sum_at, all_bytes;
    bool refused;
    struct error why;
};

struct fused {
    struct descriptors all;
    cudnnHandle_t handle; // NULL: plans only
    cudaStream_t stream;
    descriptor device;
    struct plan *plans;
    int plan_count, plan_capacity;
};

// ---- plans

static enum status ask_for_configs(struct fused *f, descriptor graph,
                                   descriptor configs[CONFIGS_MAX], int64_t *count,
                                   struct error *err)
{
    descriptor heuristics;
    cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
    TRY(descriptor_make(&f->all, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, &heuristics, err));
    TRY(descriptor_link(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph, err));
    TRY(descriptor_set(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode,
                       err));
    TRY(descriptor_link(heuristics, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, f->device, err));
    TRY(descriptor_finish(heuristics, err));
    for (int i = 0; i < CONFIGS_MAX; i++)
        TRY(descriptor_make(&f->all, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, &configs[i], err));
    CUDNN_TRY(cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                       CUDNN_TYPE_BACKEND_DESCRIPTOR, CONFIGS_MAX, count, configs));
    if (*count > CONFIGS_MAX) *count = CONFIGS_MAX;
    return *count > 0 ? OK : fail(err, UNAVAILABLE, "cuda: cuDNN has no kernel for this attention");
}

static enum status make_plan(struct fused *f, descriptor config, struct plan *p, struct error *err)
{
    int64_t count = 0;
    TRY(descriptor_make(&f->all, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, &p->plan, err));
    TRY(descriptor_link(p->plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config, err));
    TRY(descriptor_link(p->plan, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, f->device, err));
    TRY(descriptor_finish(p->plan, err));
    CUDNN_TRY(cudnnBackendGetAttribute(p->plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                       CUDNN_TYPE_INT64, 1, &count, &p->workspace_bytes));
    return OK;
}

static int64_t whole(int64_t bytes)
{
    return (bytes + AREA_ALIGNMENT - 1) / AREA_ALIGNMENT * AREA_ALIGNMENT;
}

// After the plan's own workspace comes what a backward pass keeps between its kernels.
static void place_workspace(struct plan *p)
{
    const struct attention *a = &p->attention;
    int64_t rows = a->batch * a->heads * a->sequence * (int64_t)sizeof(float);
    p->row_sums_at = whole(p->workspace_bytes);
    p->query_sum_at = p->row_sums_at + whole(rows);
    p->all_bytes = a->backward ? p->query_sum_at + whole(rows * a->width) : p->row_sums_at;
}

static enum status plan_attention(struct fused *f, struct plan *p, struct error *err)
{
    descriptor graph, configs[CONFIGS_MAX];
    int64_t count = 0;
    TRY(graph_of_attention(&graph, &f->all, &p->attention, err));
    TRY(ask_for_configs(f, graph, configs, &count, err));
    struct error why = {OK, ""};
    for (int i = 0; i < count; i++) {
        why = (struct error){OK, ""};
        if (make_plan(f, configs[i], p, &why) != OK) continue;
        place_workspace(p);
        return OK;
    }
    return fail(err, UNAVAILABLE, "%s", why.text);
}

static bool same(const struct attention *x, const struct attention *y)
{
    return x->batch == y->batch && x->heads == y->heads && x->kv_heads == y->kv_heads &&
           x->sequence == y->sequence && x->keys == y->keys && x->width == y->width &&
           x->type == y->type && x->backward == y->backward;
}

enum status fused_plan(struct fused *f, const struct attention *attention, int *plan,
                       struct error *err)
{
    for (*plan = 0; *plan < f->plan_count; ++*plan)
        if (same(&f->plans[*plan].attention, attention)) break;
    if (*plan == f->plan_count) {
        struct plan *p = GROWN(f->all.arena, f->plans, f->plan_count, f->plan_capacity, 16);
        *p = (struct plan){.attention = *attention};
        p->refused = plan_attention(f, p, &p->why) != OK;
    }
    const struct plan *p = &f->plans[*plan];
    return p->refused ? fail(err, UNAVAILABLE, "%s", p->why.text) : OK;
}

int64_t fused_workspace_bytes(const struct fused *f)
{
    int64_t most = 0;
    for (int i = 0; i < f->plan_count; i++)
        if (f->plans[i].all_bytes > most) most = f->plans[i].all_bytes;
    return most;
}

// ---- opening and running

static void fused_close(void *of_fused)
{
    struct fused *f = of_fused;
    for (int i = f->all.count - 1; i >= 0; i--) cudnnBackendDestroyDescriptor(f->all.made[i]);
    if (f->handle) cudnnDestroy(f->handle);
}

enum status fused_open_described(struct fused **fused, const char *device, struct arena *arena,
                                 struct error *err)
{
    struct fused *f = *fused = TAKE(arena, 1, struct fused);
    f->all.arena = arena;
    arena_defer(arena, fused_close, f);
    TRY(descriptor_make(&f->all, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &f->device, err));
    if (!device) return OK;
    TRY(descriptor_set(f->device, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                       (int64_t)strlen(device), device, err));
    return descriptor_finish(f->device, err);
}

enum status fused_open(struct fused **fused, cudaStream_t stream, struct arena *arena,
                       struct error *err)
{
    int device = 0;
    TRY(fused_open_described(fused, NULL, arena, err));
    struct fused *f = *fused;
    if (cudaGetDevice(&device) != cudaSuccess)
        return fail(err, UNAVAILABLE, "cuda: no current device");
    int32_t number = device;
    TRY(descriptor_set(f->device, CUDNN_ATTR_DEVICEPROP_DEVICE_ID, CUDNN_TYPE_INT32, 1, &number,
                       err));
    TRY(descriptor_finish(f->device, err));
    CUDNN_TRY(cudnnCreate(&f->handle));
    CUDNN_TRY(cudnnSetStream(f->handle, stream));
    f->stream = stream;
    return OK;
}

const char *fused_library(struct fused *fused, struct arena *arena)
{
    (void)fused;
    size_t version = cudnnGetVersion();
    return arena_print(arena, "cuDNN %zu.%zu.%zu", version / 10000, version % 10000 / 100,
                       version % 100);
}

static enum status execute(struct fused *f, const struct plan *p, const int64_t *ids,
                           void *const *pointers, int64_t count, void *workspace, struct error *err)
{
    const struct {
        cudnnBackendAttributeName_t name;
        cudnnBackendAttributeType_t type;
        int64_t count;
        const void *values;
    } all[] = {
        {CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, ids},
        {CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count, pointers},
        {CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace},
    };
    descriptor pack = NULL;
    CUDNN_TRY(cudnnBackendCreateDescriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &pack));
    cudnnStatus_t code = CUDNN_STATUS_SUCCESS;
    for (size_t i = 0; i < ARRAY_LENGTH(all) && !code; i++)
        code =
            cudnnBackendSetAttribute(pack, all[i].name, all[i].type, all[i].count, all[i].values);
    if (!code) code = cudnnBackendFinalize(pack);
    if (!code) code = cudnnBackendExecute(f->handle, p->plan, pack);
    cudnnBackendDestroyDescriptor(pack);
    return code ? cudnn_fail(err, code, "cudnnBackendExecute") : OK;
}

// Numbers passed by value are read from the host's memory during the call.
enum status fused_run(struct fused *f, int plan, const void *const in[6], void *const out[4],
                      float scale, void *workspace, struct error *err)
{
    const struct plan *p = &f->plans[plan];
    const bool backward = p->attention.backward;
    float masked = -FLT_MAX, one = 1;
    char *behind = workspace;
    const struct {
        int64_t id;
        const void *at;
        bool used;
    } all[] = {
        {ID_QUERY, in[0], true},
        {ID_KEY, in[1], true},
        {ID_VALUE, in[2], true},
        {ID_CONTEXT, backward ? in[3] : out[0], true},
        {ID_KEPT, backward ? in[5] : out[1], true},
        {ID_SCALE, &scale, true},
        {ID_MASKED, &masked, !p->attention.keys},
        {ID_ONE, &one, backward},
        {ID_D_CONTEXT, in[4], backward},
        {ID_D_QUERY, out[0], backward},
        {ID_D_KEY, out[1], backward},
        {ID_D_VALUE, out[2], backward},
        {ID_ROW_SUMS, behind + p->row_sums_at, backward},
        {ID_D_QUERY_SUM, behind + p->query_sum_at, backward},
    };
    int64_t ids[ARRAY_LENGTH(all)], count = 0;
    void *pointers[ARRAY_LENGTH(all)];
    for (size_t i = 0; i < ARRAY_LENGTH(all); i++) {
        if (!all[i].used) continue;
        ids[count] = all[i].id;
        memcpy(&pointers[count++], &all[i].at,
               sizeof *pointers); // the library treats all of them as writable
    }
    if (backward && cudnnGetVersion() < CLEARING_SINCE &&
        cudaMemsetAsync(behind + p->query_sum_at, 0, (size_t)(p->all_bytes - p->query_sum_at),
                        f->stream) != cudaSuccess)
        return fail(err, SYSTEM, "cuda: cudaMemsetAsync: the workspace of cuDNN's attention");
    return execute(f, p, ids, pointers, count, workspace, err);
}
