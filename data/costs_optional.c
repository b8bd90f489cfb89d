// The numbers of a costs document that need not be stated. One that is not is 0, and what 0 means is the formula's matter
// (docs/FORMULAS.md); it is not written either.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/costs_parts.h"

enum { COLLECTIVES_MAX = 4096, POINTS_MAX = 256 };
#define SHARE_TOLERANCE 1e-9

const struct optional_cost optional_gpu_costs[OPTIONAL_GPU_COSTS] = {
    {"layer_launch_s", offsetof(struct gpu_costs, layer_launch_s), 1e6},
    {"embedding_launch_share", offsetof(struct gpu_costs, embedding_launch_share), 100},
    {"collective_launch_s", offsetof(struct gpu_costs, collective_launch_s), 1e6},
    {"step_bytes_per_value", offsetof(struct gpu_costs, step_bytes_per_value), 1e6},
    {"host_memory_bytes_per_s", offsetof(struct gpu_costs, host_memory_bytes_per_s), 1e21},
    {"host_link_bytes_per_s", offsetof(struct gpu_costs, host_link_bytes_per_s), 1e21},
    {"communicator_bytes", offsetof(struct gpu_costs, communicator_bytes), 1125899906842624.0},
    {"library_bytes", offsetof(struct gpu_costs, library_bytes), 1125899906842624.0},
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
    {"allocator_factor", offsetof(struct costs, allocator_factor), 10},
};

static const struct estimate *estimate_at(const void *base, const struct optional_cost *cost)
{
    return (const struct estimate *)((const char *)base + cost->offset);
}

static bool is_stated(const struct estimate *e) { return e->value > 0 || e->high > 0; }

// ---- estimates

void optional_fields(struct json_field *fields, struct json *objects, const struct optional_cost *costs, int count)
{
    for (int i = 0; i < count; i++) fields[i] = (struct json_field)FIELD_OBJECT(costs[i].key, OPTIONAL, &objects[i]);
}

enum status optional_get(void *base, const struct json *objects, const struct optional_cost *costs, int count, struct arena *arena, struct error *err)
{
    for (int i = 0; i < count; i++)
        TRY(estimate_get_optional(&objects[i], (struct estimate *)((char *)base + costs[i].offset), 0, costs[i].high, arena, err));
    return OK;
}

enum status optional_check(const struct costs *c, const char *where, const void *base, const struct optional_cost *costs, int count, struct error *err)
{
    for (int i = 0; i < count; i++) TRY(estimate_check(c, where, costs[i].key, estimate_at(base, &costs[i]), 0, costs[i].high, err));
    return OK;
}

void optional_put(struct json_writer *w, const void *base, const struct optional_cost *costs, int count)
{
    for (int i = 0; i < count; i++)
        if (is_stated(estimate_at(base, &costs[i]))) estimate_put(w, costs[i].key, estimate_at(base, &costs[i]));
}

enum status transfer_efficiency_get(const struct json *object, struct costs *c, struct arena *arena, struct error *err)
{
    struct json objects[OPTIONAL_TRANSFER_COSTS] = {{0}};
    struct json_field fields[OPTIONAL_TRANSFER_COSTS];
    if (!json_is_present(object)) return OK;
    optional_fields(fields, objects, optional_transfer_costs, OPTIONAL_TRANSFER_COSTS);
    TRY(JSON_FIELDS(object, fields, arena, err));
    return optional_get(c, objects, optional_transfer_costs, OPTIONAL_TRANSFER_COSTS, arena, err);
}

// ---- shares of a transfer by schedule

enum status schedule_shares_get(const struct json *object, struct costs *c, struct arena *arena, struct error *err)
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
            parts[part] = (struct json_field)FIELD_NUMBER(transfer_part_names[part], OPTIONAL, &c->schedule_share[i][part], 0, part == PART_OVERHEAD ? 0.5 : 1);
        TRY(JSON_FIELDS(&schedules[i], parts, arena, err));
    }
    return OK;
}

double transfer_share_sum(const double share[PART_COUNT])
{
    double sum = 0;
    for (int part = 0; part < PART_COUNT; part++) sum += share[part] >= 0 ? share[part] * (part == PART_OVERHEAD ? 2 : 1) : NAN;
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
        for (int part = 0; part < PART_COUNT; part++) json_put_number(w, transfer_part_names[part], c->schedule_share[i][part]);
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
            return fail(err, BAD_INPUT, "%s: schedule_transfer_share.%s: expected parts (overhead twice) that sum to 1, found %.12g", file, schedule_names[i], sum);
    }
    return OK;
}

// ---- tables of collectives

enum status collectives_get(const struct json *array, struct costs *c, struct arena *arena, struct error *err)
{
    int count = json_length(array);
    if (count > COLLECTIVES_MAX) return json_refuse(array, err, "expected at most %d entries, found %d", COLLECTIVES_MAX, count);
    c->collective_count = count;
    c->collectives = TAKE(arena, count, struct collective_times);
    for (int i = 0; i < count; i++) {
        struct json entry = json_element(array, i, arena), bytes = {0}, seconds = {0};
        struct collective_times *to = &c->collectives[i];
        int points;
        struct json_field fields[] = {
            FIELD_TEXT("gpu", REQUIRED, &to->gpu),
            FIELD_BOOL("send", OPTIONAL, &to->send),
            FIELD_BOOL("between_nodes", OPTIONAL, &to->between_nodes),
            FIELD_COUNT("ranks", REQUIRED, &to->ranks, 2, 1 << 20),
            FIELD_ARRAY("bytes", REQUIRED, &bytes),
            FIELD_ARRAY("seconds", REQUIRED, &seconds),
        };
        TRY(JSON_FIELDS(&entry, fields, arena, err));
        TRY(json_numbers(&bytes, 1, 1e18, &to->bytes, &to->point_count, arena, err));
        TRY(json_numbers(&seconds, 1e-12, 1e6, &to->seconds, &points, arena, err));
        if (points != to->point_count) return json_refuse(&seconds, err, "expected %d numbers, as many as bytes, found %d", to->point_count, points);
    }
    return OK;
}

static enum status check_collectives(const struct costs *c, struct error *err)
{
    const char *file = c->document.path ? c->document.path : "costs";
    for (int i = 0; i < c->collective_count; i++) {
        const struct collective_times *t = &c->collectives[i];
        if (t->send && t->ranks != 2) return fail(err, BAD_INPUT, "%s: collectives[%d].ranks: a send is between 2, found %lld", file, i, (long long)t->ranks);
        if (!t->gpu || !*t->gpu || t->ranks < 2 || t->point_count < 1 || t->point_count > POINTS_MAX)
            return fail(err, BAD_INPUT, "%s: collectives[%d]: expected a gpu, at least 2 ranks and 1 to %d points", file, i, POINTS_MAX);
        for (int k = 0; k < t->point_count; k++)
            if (!(t->bytes[k] > (k ? t->bytes[k - 1] : 0)) || !(t->seconds[k] > 0))
                return fail(err, BAD_INPUT, "%s: collectives[%d]: expected ascending bytes and seconds above 0, found %g bytes, %g s at point %d", file, i, t->bytes[k], t->seconds[k], k);
    }
    return OK;
}

static void put_collectives(struct json_writer *w, const struct costs *c)
{
    if (!c->collective_count) return;
    json_open_array(w, "collectives");
    for (int i = 0; i < c->collective_count; i++) {
        const struct collective_times *t = &c->collectives[i];
        json_open_object(w, NULL);
        json_put_text(w, "gpu", t->gpu);
        json_put_bool(w, "send", t->send);
        json_put_bool(w, "between_nodes", t->between_nodes);
        json_put_count(w, "ranks", t->ranks);
        json_open_flat_array(w, "bytes");
        for (int k = 0; k < t->point_count; k++) json_put_number(w, NULL, t->bytes[k]);
        json_close_array(w);
        json_open_flat_array(w, "seconds");
        for (int k = 0; k < t->point_count; k++) json_put_number(w, NULL, t->seconds[k]);
        json_close_array(w);
        json_close_object(w);
    }
    json_close_array(w);
}

// ---- the document

enum status costs_check_optional(const struct costs *c, struct error *err)
{
    TRY(optional_check(c, "", c, optional_costs, OPTIONAL_COSTS, err));
    TRY(optional_check(c, "transfer_efficiency.", c, optional_transfer_costs, OPTIONAL_TRANSFER_COSTS, err));
    if (c->allocator_factor.value > 0 && c->allocator_factor.value < 1)
        return fail(err, BAD_INPUT, "%s: allocator_factor.value: expected at least 1, found %g", c->document.path ? c->document.path : "costs", c->allocator_factor.value);
    TRY(check_schedule_shares(c, err));
    return check_collectives(c, err);
}

void costs_put_optional(struct json_writer *w, const struct costs *c)
{
    bool transfers = false;
    for (int i = 0; i < OPTIONAL_TRANSFER_COSTS; i++) transfers = transfers || is_stated(estimate_at(c, &optional_transfer_costs[i]));
    if (transfers) {
        json_open_object(w, "transfer_efficiency");
        optional_put(w, c, optional_transfer_costs, OPTIONAL_TRANSFER_COSTS);
        json_close_object(w);
    }
    put_schedule_shares(w, c);
    put_collectives(w, c);
    optional_put(w, c, optional_costs, OPTIONAL_COSTS);
}
