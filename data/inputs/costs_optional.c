// The numbers of a costs document that need not be stated. One that is not is 0, and what 0 means
// is the formula's matter (docs/FORMULAS.md); it is not written either.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/inputs/costs_internal.h"

#define SHARE_TOLERANCE 1e-9

const struct optional_cost optional_precision_costs[OPTIONAL_PRECISION_COSTS] = {
    {"misaligned_gemm_share", offsetof(struct precision_costs, misaligned_gemm_share), 1},
    {"data_gradient_flop_per_s", offsetof(struct precision_costs, data_gradient_flop_per_s), 1e21},
    {"weight_gradient_flop_per_s", offsetof(struct precision_costs, weight_gradient_flop_per_s),
     1e21},
    {"operand_bytes_per_s", offsetof(struct precision_costs, operand_bytes_per_s), 1e21},
    {"low_rank_bytes_per_s", offsetof(struct precision_costs, low_rank_bytes_per_s), 1e21},
    {"backward_attention_flop_per_s",
     offsetof(struct precision_costs, backward_attention_flop_per_s), 1e21},
    {"product_flop_per_s", offsetof(struct precision_costs, product_flop_per_s), 1e21},
    {"product_tile_flop_per_s", offsetof(struct precision_costs, product_tile_flop_per_s), 1e21},
    {"product_bytes_per_s", offsetof(struct precision_costs, product_bytes_per_s), 1e21},
    {"peak_flop_per_s", offsetof(struct precision_costs, peak_flop_per_s), 1e21},
};

const struct optional_cost optional_gpu_costs[OPTIONAL_GPU_COSTS] = {
    {"backward_memory_bytes_per_s", offsetof(struct gpu_costs, backward_memory_bytes_per_s), 1e21},
    {"backward_overhead_s", offsetof(struct gpu_costs, backward_overhead_s), 1e6},
    {"forward_factor", offsetof(struct gpu_costs, forward_factor), 100},
    {"backward_factor", offsetof(struct gpu_costs, backward_factor), 100},
    {"layer_launch_s", offsetof(struct gpu_costs, layer_launch_s), 1e6},
    {"embedding_launch_share", offsetof(struct gpu_costs, embedding_launch_share), 100},
    {"collective_launch_s", offsetof(struct gpu_costs, collective_launch_s), 1e6},
    {"step_bytes_per_value", offsetof(struct gpu_costs, step_bytes_per_value), 1e6},
    {"host_memory_bytes_per_s", offsetof(struct gpu_costs, host_memory_bytes_per_s), 1e21},
    {"host_link_bytes_per_s", offsetof(struct gpu_costs, host_link_bytes_per_s), 1e21},
    {"host_update_values_per_s", offsetof(struct gpu_costs, host_update_values_per_s), 1e21},
    {"communicator_bytes", offsetof(struct gpu_costs, communicator_bytes), 1125899906842624.0},
    {"library_bytes", offsetof(struct gpu_costs, library_bytes), 1125899906842624.0},
    {"processors", offsetof(struct gpu_costs, processors), 1e6},
    {"product_launch_s", offsetof(struct gpu_costs, product_launch_s), 1e6},
    {"elementwise_launch_s", offsetof(struct gpu_costs, elementwise_launch_s), 1e6},
    {"score_cells_per_s", offsetof(struct gpu_costs, score_cells_per_s), 1e21},
    {"open_attention_share", offsetof(struct gpu_costs, open_attention_share), 1},
    {"triton_attention_share", offsetof(struct gpu_costs, triton_attention_share), 1},
    {"megatron_step_factor", offsetof(struct gpu_costs, megatron_step_factor), 100},
    {"deepspeed_step_factor", offsetof(struct gpu_costs, deepspeed_step_factor), 100},
    {"other_step_factor", offsetof(struct gpu_costs, other_step_factor), 100},
    {"sharded_step_factor", offsetof(struct gpu_costs, sharded_step_factor), 100},
    {"copy_bytes_per_s", offsetof(struct gpu_costs, copy_bytes_per_s), 1e21},
    {"top_k_values_per_s", offsetof(struct gpu_costs, top_k_values_per_s), 1e21},
    {"top_k_back_values_per_s", offsetof(struct gpu_costs, top_k_back_values_per_s), 1e21},
    {"quantise_values_per_s", offsetof(struct gpu_costs, quantise_values_per_s), 1e21},
    {"quantise_back_values_per_s", offsetof(struct gpu_costs, quantise_back_values_per_s), 1e21},
};

const struct optional_cost optional_transfer_costs[OPTIONAL_TRANSFER_COSTS] = {
    {"intra", offsetof(struct costs, transfer_intra_efficiency), 1},
    {"infiniband", offsetof(struct costs, transfer_network_efficiency[NIC_INFINIBAND]), 1},
    {"roce", offsetof(struct costs, transfer_network_efficiency[NIC_ROCE]), 1},
    {"ethernet", offsetof(struct costs, transfer_network_efficiency[NIC_ETHERNET]), 1},
};

const struct optional_cost optional_costs[OPTIONAL_COSTS] = {
    {"transfer_launch_s", offsetof(struct costs, transfer_launch_s), 1e6},
    {"overlap_slowdown", offsetof(struct costs, overlap_slowdown), 1},
    {"tensor_overlap", offsetof(struct costs, tensor_overlap), 1},
    {"context_overlap", offsetof(struct costs, context_overlap), 1},
    {"tree_bandwidth_share", offsetof(struct costs, tree_bandwidth_share), 1},
    {"allocator_factor", offsetof(struct costs, allocator_factor), 10},
    {"iteration_spread", offsetof(struct costs, iteration_spread), 1},
};

static const struct estimate *estimate_at(const void *base, const struct optional_cost *cost)
{
    return (const struct estimate *)((const char *)base + cost->offset);
}

static bool is_stated(const struct estimate *e) { return e->value > 0 || e->high > 0; }

// ---- estimates

void optional_fields(struct json_field *fields, struct json *objects,
                     const struct optional_cost *costs, int count)
{
    for (int i = 0; i < count; i++)
        fields[i] = (struct json_field)FIELD_OBJECT(costs[i].key, OPTIONAL, &objects[i]);
}

enum status optional_get(void *base, const struct json *objects, const struct optional_cost *costs,
                         int count, struct arena *arena, struct error *err)
{
    for (int i = 0; i < count; i++)
        TRY(estimate_get_optional(&objects[i], (struct estimate *)((char *)base + costs[i].offset),
                                  0, costs[i].high, arena, err));
    return OK;
}

enum status optional_check(const struct costs *c, const char *where, const void *base,
                           const struct optional_cost *costs, int count, struct error *err)
{
    for (int i = 0; i < count; i++)
        TRY(estimate_check(c, where, costs[i].key, estimate_at(base, &costs[i]), 0, costs[i].high,
                           err));
    return OK;
}

void optional_put(struct json_writer *w, const void *base, const struct optional_cost *costs,
                  int count)
{
    for (int i = 0; i < count; i++)
        if (is_stated(estimate_at(base, &costs[i])))
            estimate_put(w, costs[i].key, estimate_at(base, &costs[i]));
}

enum status transfer_efficiency_get(const struct json *object, struct costs *c, struct arena *arena,
                                    struct error *err)
{
    struct json objects[OPTIONAL_TRANSFER_COSTS] = {{0}};
    struct json_field fields[OPTIONAL_TRANSFER_COSTS];
    if (!json_is_present(object)) return OK;
    optional_fields(fields, objects, optional_transfer_costs, OPTIONAL_TRANSFER_COSTS);
    TRY(JSON_FIELDS(object, fields, arena, err));
    return optional_get(c, objects, optional_transfer_costs, OPTIONAL_TRANSFER_COSTS, arena, err);
}

// ---- shares of a transfer by schedule

enum status schedule_shares_get(const struct json *object, struct costs *c, struct arena *arena,
                                struct error *err)
{
    struct json schedules[SCHEDULE_KIND_COUNT] = {{0}};
    struct json_field fields[SCHEDULE_KIND_COUNT], parts[PART_COUNT];
    if (!json_is_present(object)) return OK;
    for (int i = 0; i < SCHEDULE_KIND_COUNT; i++)
        fields[i] = (struct json_field)FIELD_OBJECT(schedule_names[i], OPTIONAL, &schedules[i]);
    TRY(JSON_FIELDS(object, fields, arena, err));
    for (int i = 0; i < SCHEDULE_KIND_COUNT; i++) {
        if (!json_is_present(&schedules[i])) continue;
        c->schedule_share_stated[i] = true;
        for (int part = 0; part < PART_COUNT; part++)
            parts[part] = (struct json_field)FIELD_NUMBER(transfer_part_names[part], OPTIONAL,
                                                          &c->schedule_share[i][part], 0,
                                                          part == PART_OVERHEAD ? 0.5 : 1);
        TRY(JSON_FIELDS(&schedules[i], parts, arena, err));
    }
    return OK;
}

double transfer_share_sum(const double share[PART_COUNT])
{
    double sum = 0;
    for (int part = 0; part < PART_COUNT; part++)
        sum += share[part] >= 0 ? share[part] * (part == PART_OVERHEAD ? 2 : 1) : NAN;
    return sum;
}

const double *costs_transfer_share(const struct costs *c, enum schedule_kind schedule)
{
    return c->schedule_share_stated[schedule] ? c->schedule_share[schedule] : c->transfer_share;
}

static void put_schedule_shares(struct json_writer *w, const struct costs *c)
{
    bool any = false;
    for (int i = 0; i < SCHEDULE_KIND_COUNT; i++) any = any || c->schedule_share_stated[i];
    if (!any) return;
    json_open_object(w, "schedule_transfer_share");
    for (int i = 0; i < SCHEDULE_KIND_COUNT; i++) {
        if (!c->schedule_share_stated[i]) continue;
        json_open_flat_object(w, schedule_names[i]);
        for (int part = 0; part < PART_COUNT; part++)
            json_put_number(w, transfer_part_names[part], c->schedule_share[i][part]);
        json_close_object(w);
    }
    json_close_object(w);
}

static enum status check_schedule_shares(const struct costs *c, struct error *err)
{
    const char *file = c->document.path ? c->document.path : "costs";
    for (int i = 0; i < SCHEDULE_KIND_COUNT; i++) {
        if (!c->schedule_share_stated[i]) continue;
        double sum = transfer_share_sum(c->schedule_share[i]);
        if (!(fabs(sum - 1) <= SHARE_TOLERANCE))
            return fail(err, BAD_INPUT,
                        "%s: schedule_transfer_share.%s: expected parts (overhead twice) that sum "
                        "to 1, found %.12g",
                        file, schedule_names[i], sum);
    }
    return OK;
}

// ---- the document

enum status costs_check_optional(const struct costs *c, struct error *err)
{
    TRY(optional_check(c, "", c, optional_costs, OPTIONAL_COSTS, err));
    TRY(optional_check(c, "transfer_efficiency.", c, optional_transfer_costs,
                       OPTIONAL_TRANSFER_COSTS, err));
    if (c->allocator_factor.value > 0 && c->allocator_factor.value < 1)
        return fail(err, BAD_INPUT, "%s: allocator_factor.value: expected at least 1, found %g",
                    c->document.path ? c->document.path : "costs", c->allocator_factor.value);
    TRY(check_schedule_shares(c, err));
    return collectives_check(c, err);
}

void costs_put_optional(struct json_writer *w, const struct costs *c)
{
    bool transfers = false;
    for (int i = 0; i < OPTIONAL_TRANSFER_COSTS; i++)
        transfers = transfers || is_stated(estimate_at(c, &optional_transfer_costs[i]));
    if (transfers) {
        json_open_object(w, "transfer_efficiency");
        optional_put(w, c, optional_transfer_costs, OPTIONAL_TRANSFER_COSTS);
        json_close_object(w);
    }
    put_schedule_shares(w, c);
    collectives_put(w, c);
    optional_put(w, c, optional_costs, OPTIONAL_COSTS);
}
