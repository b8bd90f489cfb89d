// Costs: load, check, save. Every number is an object that states its origin; a missing number gets
// a default of origin "assumed" (docs/FORMATS.md).
#include "data/inputs/costs.h"

#include <assert.h>
#include <string.h>

#include "data/inputs/costs_internal.h"
#include "data/kinds/schedules.h"

const char *const origin_names[] = {"measured", "fitted", "published", "assumed", NULL};

#define SECONDS_MAX 1e6
#define SHARE_TOLERANCE 1e-9
enum { GPUS_MAX = 64, LAYER_TIMES_MAX = 65536 };

#define ASSUMED(number)                                                                            \
    {                                                                                              \
        .value = number, .low = number, .high = number, .origin = ORIGIN_ASSUMED                   \
    }

// ---- estimates

GET_MEMBER(finish_estimate)
{
    struct estimate *e = to;
    if (!json_has(value, "low")) e->low = e->value;
    if (!json_has(value, "high")) e->high = e->value;
    e->stated = true;
    return OK;
}

// Both ends of the range of the fit.
PUT_MEMBER(put_valid)
{
    const double *range = from;
    if (range[0] == 0 && range[1] == 0) return;
    json_put_number(w, "valid_low", range[0]);
    json_put_number(w, "valid_high", range[1]);
}

static const struct member estimate_rows[] = {
    KEY_NUMBER(estimate, value, REQUIRED, ALWAYS_WRITTEN, 0, HUGE_VAL), // in the row's range
    KEY_NUMBER(estimate, low, OPTIONAL, ALWAYS_WRITTEN, 0, HUGE_VAL),
    KEY_NUMBER(estimate, high, OPTIONAL, ALWAYS_WRITTEN, 0, HUGE_VAL),
    KEY_NAME(estimate, origin, REQUIRED, ALWAYS_WRITTEN, origin_names),
    KEY_TEXT(estimate, source, OPTIONAL),
    KEY_OF("valid_low", JSON_NUMBER, OPTIONAL, 0, offsetof(struct estimate, valid_low), 0, HUGE_VAL,
           NULL, NULL, put_valid),
    KEY_NUMBER(estimate, valid_high, OPTIONAL, NOT_BY_TABLE, 0, HUGE_VAL),
};
MEMBERS(estimate, struct estimate, NULL, true, finish_estimate);

PUT_MEMBER(put_stated)
{
    if (estimate_is_stated(from)) members_write(w, key, &estimate_members, from, context);
}

// ---- GPUs

#define OF_PRECISION(member, group, sense, need, low, high)                                        \
    ESTIMATE_##need(precision_costs, #member, member, low, high),
#define OF_GPU(member, group, sense, need, low, high)                                              \
    ESTIMATE_##need(gpu_costs, #member, member, low, high),
#define OF_ALL(member, group, sense, need, low, high)                                              \
    ESTIMATE_##need(costs, #member, member, low, high),
#define OF_OBJECT(object, key, member, group, sense, need, low, high)                              \
    ESTIMATE_##need(costs, #key, member, low, high),

GET_MEMBER(finish_precision)
{
    struct precision_costs *p = to;
    double gemm = p->gemm_flop_per_s.value;
    if (!estimate_is_stated(&p->low_rank_flop_per_s))
        p->low_rank_flop_per_s = (struct estimate)ASSUMED(gemm);
    return OK;
}

static const struct member precision_rows[] = {
    KEY_NAME(precision_costs, precision, REQUIRED, ALWAYS_WRITTEN, precision_names),
    PRECISION_ESTIMATES(OF_PRECISION)
        ESTIMATE_STATED(precision_costs, "peak_flop_per_s", peak_flop_per_s, 0, 1e21),
};
static MEMBERS(precision, struct precision_costs, NULL, false, finish_precision);

static const struct member arrays_rows[] = {
    KEY_NUMBER(matrix_arrays, units, REQUIRED, IF_SET, 1, 1e6),
    KEY_NUMBER(matrix_arrays, rows, REQUIRED, IF_SET, 1, 1e6),
    KEY_NUMBER(matrix_arrays, columns, REQUIRED, IF_SET, 1, 1e6),
    KEY_NUMBER(matrix_arrays, clock_hz, REQUIRED, IF_SET, 1, 1e12),
    KEY_NUMBER(matrix_arrays, buffer_bytes, OPTIONAL, IF_SET, 0, 1e15),
};
static MEMBERS(arrays, struct matrix_arrays, NULL, true, NULL);

static const struct gpu_costs gpu_initial = {.layer_overhead_s = ASSUMED(0),
                                             .compression_overhead_s = ASSUMED(0)};
static const struct member gpu_rows[] = {
    KEY_TEXT(gpu_costs, gpu, REQUIRED),
    KEY_LIST(gpu_costs, precisions, precision_count, REQUIRED, ALWAYS_WRITTEN, PRECISION_COUNT,
             &precision_members),
    KEY_OBJECT("arrays", gpu_costs, arrays, OPTIONAL, IF_SET, &arrays_members),
    GPU_ESTIMATES(OF_GPU)};
static MEMBERS(gpu, struct gpu_costs, &gpu_initial, false, NULL);

// Those that are stated.
PUT_MEMBER(put_gpus)
{
    const struct costs *c = context;
    json_open_array(w, key);
    for (int i = 0; i < c->gpu_count; i++)
        if (!c->gpus[i].like) members_write(w, NULL, &gpu_members, &c->gpus[i], context);
    json_close_array(w);
}

// Recomputing everything costs one more forward; recomputing a part costs no more than that.
GET_MEMBER(finish_time)
{
    struct layer_time *t = to;
    if (t->full_s < 0) t->full_s = t->forward_s;
    if (t->selective_s < 0) t->selective_s = t->full_s;
    return OK;
}

static const struct layer_time time_initial = {.selective_s = -1, .full_s = -1};
static const struct member time_rows[] = {
    KEY_TEXT(layer_time, run, REQUIRED),
    KEY_TEXT(layer_time, gpu, REQUIRED),
    KEY_COUNT(layer_time, tensor, OPTIONAL, ALWAYS_WRITTEN, 0, 1 << 20),
    KEY_COUNT(layer_time, micro_batch, OPTIONAL, ALWAYS_WRITTEN, 0, 1 << 20),
    KEY_COUNT(layer_time, context, OPTIONAL, IF_SET, 0, 1 << 20),
    KEY_COUNT(layer_time, data, OPTIONAL, IF_SET, 0, 1 << 20),
    KEY_COUNT(layer_time, zero, OPTIONAL, IF_SET, 0, 3),
    KEY_NUMBER(layer_time, forward_s, REQUIRED, ALWAYS_WRITTEN, 0, SECONDS_MAX),
    KEY_NUMBER(layer_time, backward_s, REQUIRED, ALWAYS_WRITTEN, 0, SECONDS_MAX),
    KEY_NUMBER(layer_time, weight_s, OPTIONAL, IF_SET, 0, SECONDS_MAX),
    KEY_NUMBER(layer_time, selective_s, OPTIONAL, ALWAYS_WRITTEN, 0, SECONDS_MAX),
    KEY_NUMBER(layer_time, full_s, OPTIONAL, ALWAYS_WRITTEN, 0, SECONDS_MAX),
    KEY_NUMBER(layer_time, optimizer_s, OPTIONAL, ALWAYS_WRITTEN, 0, SECONDS_MAX),
};
static MEMBERS(time, struct layer_time, &time_initial, true, finish_time);

// ---- links

static const struct member network_rows[] = {NETWORK_ESTIMATES(OF_OBJECT)};
static MEMBERS(network, struct costs, NULL, false, NULL);

static const struct member transfer_rows[] = {TRANSFER_ESTIMATES(OF_OBJECT)};
static MEMBERS(transfer, struct costs, NULL, false, NULL);

PUT_MEMBER(put_transfer)
{
    bool any = false;
    for (size_t i = 0; i < ARRAY_LENGTH(transfer_rows); i++)
        any |= estimate_is_stated((const void *)((const char *)from + transfer_rows[i].at));
    if (any) members_write(w, key, &transfer_members, from, context);
}

struct shares {
    double blocking, link, delay, overhead; // by enum transfer_part
};
static_assert(sizeof(struct shares) == PART_COUNT * sizeof(double), "parts of a transfer");

static const struct member share_rows[] = {
    KEY_NUMBER(shares, blocking, OPTIONAL, ALWAYS_WRITTEN, 0, 1),
    KEY_NUMBER(shares, link, OPTIONAL, ALWAYS_WRITTEN, 0, 1),
    KEY_NUMBER(shares, delay, OPTIONAL, ALWAYS_WRITTEN, 0, 1),
    KEY_NUMBER(shares, overhead, OPTIONAL, ALWAYS_WRITTEN, 0, 0.5),
};
static MEMBERS(share, struct shares, NULL, true, NULL);

GET_MEMBER(get_share)
{
    if (json_is_present(value)) return members_read(value, &share_members, to, NULL, arena, err);
    ((double *)to)[PART_DELAY] = 1;
    return OK;
}

PUT_MEMBER(put_share) { members_write(w, key, &share_members, from, context); }

GET_MEMBER(get_schedule_shares)
{
    struct costs *c = to;
    struct json schedules[SCHEDULE_KIND_COUNT] = {{0}};
    struct json_field fields[SCHEDULE_KIND_COUNT];
    if (!json_is_present(value)) return OK;
    for (int i = 0; i < SCHEDULE_KIND_COUNT; i++)
        fields[i] = (struct json_field)FIELD_OBJECT(schedule_names[i], OPTIONAL, &schedules[i]);
    TRY(JSON_FIELDS(value, fields, arena, err));
    for (int i = 0; i < SCHEDULE_KIND_COUNT; i++) {
        c->schedule_share_stated[i] = json_is_present(&schedules[i]);
        if (c->schedule_share_stated[i])
            TRY(members_read(&schedules[i], &share_members, c->schedule_share[i], c, arena, err));
    }
    return OK;
}

PUT_MEMBER(put_schedule_shares)
{
    const struct costs *c = from;
    bool any = false;
    for (int i = 0; i < SCHEDULE_KIND_COUNT; i++) any |= c->schedule_share_stated[i];
    if (!any) return;
    json_open_object(w, key);
    for (int i = 0; i < SCHEDULE_KIND_COUNT; i++)
        if (c->schedule_share_stated[i]) put_share(w, schedule_names[i], c->schedule_share[i], c);
    json_close_object(w);
}

const double *costs_transfer_share(const struct costs *c, int schedule)
{
    return c->schedule_share_stated[schedule] ? c->schedule_share[schedule] : c->transfer_share;
}

// ---- the document

static const struct costs costs_initial = {
    .intra_efficiency = ASSUMED(1), .network_efficiency = {ASSUMED(1), ASSUMED(1), ASSUMED(1)}};
static_assert((int)SCHEDULE_KIND_COUNT <= (int)SCHEDULES_MAX, "shares of every schedule");
static_assert(NIC_KIND_COUNT == 3, "kinds of networks");

static const struct member costs_rows[] = {
    KEY_TEXT(costs, name, REQUIRED),
    KEY_ROW("gpus", JSON_ARRAY, REQUIRED, ALWAYS_WRITTEN, offsetof(struct costs, gpus), 0, 0, NULL,
            &gpu_members, offsetof(struct costs, gpu_count), GPUS_MAX, JSON_SKIP, NULL, put_gpus),
    KEY_LIST(costs, data_sheets, data_sheet_count, OPTIONAL, IF_SET, GPUS_MAX, &data_sheet_members),
    KEY_LIST(costs, layer_times, layer_time_count, OPTIONAL, ALWAYS_WRITTEN, LAYER_TIMES_MAX,
             &time_members),
    INTRA_ESTIMATES(OF_ALL) KEY_ROW("network_efficiency", JSON_OBJECT, OPTIONAL, ALWAYS_WRITTEN, 0,
                                    0, 0, NULL, &network_members, 0, 0, JSON_SKIP, NULL, NULL),
    KEY_ROW("transfer_share", JSON_OBJECT, OPTIONAL, 0, offsetof(struct costs, transfer_share), 0,
            0, NULL, &share_members, 0, 0, JSON_SKIP, get_share, put_share),
    KEY_ROW("transfer_efficiency", JSON_OBJECT, OPTIONAL, 0, 0, 0, 0, NULL, &transfer_members, 0, 0,
            JSON_SKIP, NULL, put_transfer),
    KEY_PART("schedule_transfer_share", JSON_OBJECT, OPTIONAL, 0, get_schedule_shares,
             put_schedule_shares),
    KEY_LIST(costs, collectives, collective_count, OPTIONAL, IF_SET, COLLECTIVES_MAX,
             &collective_members),
    COSTS_ESTIMATES(OF_ALL)
        ESTIMATE_STATED(costs, "iteration_spread", iteration_spread, 0, ITERATION_SPREAD_MAX),
};
MEMBERS(costs, struct costs, NULL, false, NULL);

enum status costs_load(struct costs *c, const char *path, struct arena *arena, struct error *err)
{
    *c = costs_initial;
    TRY(document_load(&c->document, path, "plumbline.costs", &costs_members, c, c, arena, err));
    TRY(data_sheets_apply(c, arena, err));
    return costs_check(c, err);
}

enum status costs_save(const struct costs *c, const char *path, struct arena *arena,
                       struct error *err)
{
    return document_save(&c->document, "plumbline.costs", &costs_members, c, c, path, arena, err);
}

// ---- checking

static enum status check_estimate(const struct member *row, const struct estimate *e,
                                  const char *where, struct error *err)
{
    const char *key = row->key;
    bool absent = !estimate_is_stated(e) && e->value == 0;
    if (!absent && !(e->value >= row->low && e->value <= row->high))
        return refuse(err, "%s%s.value: expected a number from %g to %g, found %g", where, key,
                      row->low, row->high, e->value);
    if (!(e->low >= 0 && e->low <= e->value && e->value <= e->high && isfinite(e->high)))
        return refuse(err, "%s%s: expected low <= value <= high, found %g, %g, %g", where, key,
                      e->low, e->value, e->high);
    if (!(e->valid_low >= 0 && e->valid_low <= e->valid_high && isfinite(e->valid_high)))
        return refuse(err, "%s%s: expected valid_low <= valid_high, found %g and %g", where, key,
                      e->valid_low, e->valid_high);
    return OK;
}

enum status estimates_check(const struct members *m, const void *of, const char *where,
                            struct error *err)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->rows[i].of == &estimate_members)
            TRY(check_estimate(&m->rows[i], (const void *)((const char *)of + m->rows[i].at), where,
                               err));
    return OK;
}

static enum status check_gpu(const struct costs *c, int i, struct error *err)
{
    const struct gpu_costs *g = &c->gpus[i];
    char where[60];
    if (!g->gpu || !*g->gpu) return refuse(err, "gpus[%d].gpu: expected a name, found nothing", i);
    for (int k = 0; k < i; k++)
        if (!strcmp(c->gpus[k].gpu, g->gpu))
            return refuse(err, "gpus[%d].gpu: \"%s\" appears twice", i, g->gpu);
    snprintf(where, sizeof where, "gpus[%d].", i);
    TRY(estimates_check(&gpu_members, g, where, err));
    for (int k = 0; k < g->precision_count; k++) {
        const struct precision_costs *p = &g->precisions[k];
        snprintf(where, sizeof where, "gpus[%d].precisions[%d].", i, k);
        TRY(estimates_check(&precision_members, p, where, err));
        for (int n = 0; n < k; n++)
            if (g->precisions[n].precision == p->precision)
                return refuse(err, "%sprecision: \"%s\" appears twice", where,
                              precision_names[p->precision]);
    }
    return OK;
}

static enum status check_layer_time(const struct costs *c, int i, struct error *err)
{
    const struct layer_time *t = &c->layer_times[i];
    const double seconds[] = {t->forward_s, t->backward_s,  t->selective_s,
                              t->full_s,    t->optimizer_s, t->weight_s};
    for (size_t k = 0; k < ARRAY_LENGTH(seconds); k++)
        if (!(seconds[k] >= 0 && seconds[k] <= SECONDS_MAX))
            return refuse(err, "layer_times[%d]: expected seconds from 0 to 1e6, found %g", i,
                          seconds[k]);
    if (t->weight_s > t->backward_s)
        return refuse(err, "layer_times[%d].weight_s: expected at most backward_s %g, found %g", i,
                      t->backward_s, t->weight_s);
    if (!t->run || !*t->run || !t->gpu || !*t->gpu)
        return refuse(err, "layer_times[%d]: expected a run and a gpu, found an empty one", i);
    if (t->tensor < 0 || t->micro_batch < 0)
        return refuse(err, "layer_times[%d]: tensor and micro_batch: expected at least 0", i);
    return OK;
}

// Overhead counts at both ends; NAN if a share is below 0.
static double share_sum(const double share[PART_COUNT])
{
    double sum = 0;
    for (int part = 0; part < PART_COUNT; part++)
        sum += share[part] >= 0 ? share[part] * (part == PART_OVERHEAD ? 2 : 1) : NAN;
    return sum;
}

static enum status check_shares(const struct costs *c, struct error *err)
{
    for (int part = 0; part < PART_COUNT; part++)
        if (!(c->transfer_share[part] >= 0))
            return refuse(err, "transfer_share.%s: expected 0 to 1, found %g",
                          transfer_part_names[part], c->transfer_share[part]);
    for (int i = -1; i < SCHEDULE_KIND_COUNT; i++) {
        double sum = share_sum(i < 0 ? c->transfer_share : c->schedule_share[i]);
        if ((i >= 0 && !c->schedule_share_stated[i]) || fabs(sum - 1) <= SHARE_TOLERANCE) continue;
        return refuse(
            err, "%stransfer_share%s%s: expected parts (overhead twice) that sum to 1, found %.12g",
            i < 0 ? "" : "schedule_", i < 0 ? "" : ".", i < 0 ? "" : schedule_names[i], sum);
    }
    return OK;
}

static enum status check(const struct costs *c, struct error *err)
{
    for (int i = 0; i < c->gpu_count; i++) TRY(check_gpu(c, i, err));
    for (int i = 0; i < c->layer_time_count; i++) TRY(check_layer_time(c, i, err));
    TRY(estimates_check(&costs_members, c, "", err));
    TRY(estimates_check(&network_members, c, "network_efficiency.", err));
    TRY(estimates_check(&transfer_members, c, "transfer_efficiency.", err));
    TRY(check_shares(c, err));
    if (c->allocator_factor.value > 0 && c->allocator_factor.value < 1)
        return refuse(err, "allocator_factor.value: expected at least 1, found %g",
                      c->allocator_factor.value);
    return collectives_check(c, err);
}

enum status costs_check(const struct costs *c, struct error *err)
{
    return fail_within(err, check(c, err), "%s: ", name_of(c));
}

// ---- looking up

const struct gpu_costs *costs_find_gpu(const struct costs *c, const char *gpu)
{
    for (int i = 0; i < c->gpu_count; i++)
        if (!strcmp(c->gpus[i].gpu, gpu)) return &c->gpus[i];
    return NULL;
}

const struct precision_costs *costs_find_precision(const struct gpu_costs *g,
                                                   enum precision precision)
{
    for (int i = 0; i < g->precision_count; i++)
        if (g->precisions[i].precision == precision) return &g->precisions[i];
    return NULL;
}

bool costs_lack_precision(const struct costs *c, const char *gpu, enum precision precision)
{
    const struct gpu_costs *g = c->layer_time_count ? NULL : costs_find_gpu(c, gpu);
    return g && !costs_find_precision(g, precision);
}

const char *costs_precisions(const struct gpu_costs *g, struct arena *arena)
{
    const char *text = "";
    for (int i = 0; i < g->precision_count; i++)
        text = arena_print(arena, "%s%s%s", text, i ? ", " : "",
                           precision_names[g->precisions[i].precision]);
    return text;
}
