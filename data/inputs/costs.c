// Costs: load, check, save. Every number is an object that says where it comes from; what a
// document leaves out gets a default of origin "assumed" (docs/FORMATS.md).
#include "data/inputs/costs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/inputs/costs_internal.h"

const char *const origin_names[] = {"measured", "fitted", "published", "assumed", NULL};

#define RATE_MAX 1e21 // FLOP/s, bytes/s
#define SECONDS_MAX 1e6
#define BYTES_MAX 1125899906842624.0 // 2^50
#define EFFICIENCY_MIN 1e-6
#define SHARE_TOLERANCE 1e-9
enum { GPUS_MAX = 64, LAYER_TIMES_MAX = 65536 };

static const char *name_of(const struct costs *c)
{
    return c->document.path ? c->document.path : "costs";
}

static struct estimate assumed(double value)
{
    return (struct estimate){.value = value, .low = value, .high = value, .origin = ORIGIN_ASSUMED};
}

// ---- reading

enum status estimate_get(const struct json *object, struct estimate *e, double low, double high,
                         struct arena *arena, struct error *err)
{
    *e = (struct estimate){.low = NAN, .high = NAN};
    struct json_field fields[] = {
        FIELD_NUMBER("value", REQUIRED, &e->value, low, high),
        FIELD_NUMBER("low", OPTIONAL, &e->low, 0, HUGE_VAL),
        FIELD_NUMBER("high", OPTIONAL, &e->high, 0, HUGE_VAL),
        FIELD_NAME("origin", REQUIRED, &e->origin, origin_names),
        FIELD_TEXT("source", OPTIONAL, &e->source),
        FIELD_NUMBER("valid_low", OPTIONAL, &e->valid_low, 0, HUGE_VAL),
        FIELD_NUMBER("valid_high", OPTIONAL, &e->valid_high, 0, HUGE_VAL),
    };
    TRY(JSON_FIELDS(object, fields, arena, err));
    if (isnan(e->low)) e->low = e->value;
    if (isnan(e->high)) e->high = e->value;
    return OK;
}

// An estimate that may be left out keeps what *e holds.
enum status estimate_get_optional(const struct json *object, struct estimate *e, double low,
                                  double high, struct arena *arena, struct error *err)
{
    return json_is_present(object) ? estimate_get(object, e, low, high, arena, err) : OK;
}

static enum status read_precision(const struct json *object, struct precision_costs *p,
                                  struct arena *arena, struct error *err)
{
    struct json gemm = {0}, attention = {0}, low_rank = {0},
                optional[OPTIONAL_PRECISION_COSTS] = {{0}};
    struct json_field fields[4 + OPTIONAL_PRECISION_COSTS] = {
        FIELD_NAME("precision", REQUIRED, &p->precision, precision_names),
        FIELD_OBJECT("gemm_flop_per_s", REQUIRED, &gemm),
        FIELD_OBJECT("attention_flop_per_s", REQUIRED, &attention),
        FIELD_OBJECT("low_rank_flop_per_s", OPTIONAL, &low_rank),
    };
    optional_fields(fields + 4, optional, optional_precision_costs, OPTIONAL_PRECISION_COSTS);
    TRY(JSON_FIELDS(object, fields, arena, err));
    TRY(estimate_get(&gemm, &p->gemm_flop_per_s, 1, RATE_MAX, arena, err));
    TRY(estimate_get(&attention, &p->attention_flop_per_s, 1, RATE_MAX, arena, err));
    p->low_rank_flop_per_s = assumed(p->gemm_flop_per_s.value);
    TRY(estimate_get_optional(&low_rank, &p->low_rank_flop_per_s, 1, RATE_MAX, arena, err));
    return optional_get(p, optional, optional_precision_costs, OPTIONAL_PRECISION_COSTS, arena,
                        err);
}

static enum status read_gpu(const struct json *object, struct gpu_costs *g, struct arena *arena,
                            struct error *err)
{
    struct json precisions = {0}, memory = {0}, layer = {0}, compression = {0}, constant = {0},
                optional[OPTIONAL_GPU_COSTS] = {{0}};
    struct json_field fields[6 + OPTIONAL_GPU_COSTS] = {
        FIELD_TEXT("gpu", REQUIRED, &g->gpu),
        FIELD_ARRAY("precisions", REQUIRED, &precisions),
        FIELD_OBJECT("memory_bytes_per_s", REQUIRED, &memory),
        FIELD_OBJECT("layer_overhead_s", OPTIONAL, &layer),
        FIELD_OBJECT("compression_overhead_s", OPTIONAL, &compression),
        FIELD_OBJECT("constant_bytes", REQUIRED, &constant),
    };
    optional_fields(fields + 6, optional, optional_gpu_costs, OPTIONAL_GPU_COSTS);
    TRY(JSON_FIELDS(object, fields, arena, err));
    g->layer_overhead_s = g->compression_overhead_s = assumed(0);
    TRY(estimate_get(&memory, &g->memory_bytes_per_s, 1, RATE_MAX, arena, err));
    TRY(estimate_get_optional(&layer, &g->layer_overhead_s, 0, SECONDS_MAX, arena, err));
    TRY(estimate_get_optional(&compression, &g->compression_overhead_s, 0, SECONDS_MAX, arena,
                              err));
    TRY(estimate_get(&constant, &g->constant_bytes, 0, BYTES_MAX, arena, err));
    TRY(optional_get(g, optional, optional_gpu_costs, OPTIONAL_GPU_COSTS, arena, err));
    if (json_length(&precisions) > PRECISION_COUNT)
        return json_refuse(&precisions, err, "expected at most %d entries, found %d",
                           PRECISION_COUNT, json_length(&precisions));
    g->precision_count = json_length(&precisions);
    g->precisions = TAKE(arena, g->precision_count, struct precision_costs);
    for (int i = 0; i < g->precision_count; i++) {
        struct json precision = json_element(&precisions, i, arena);
        TRY(read_precision(&precision, &g->precisions[i], arena, err));
    }
    return OK;
}

static enum status read_layer_time(const struct json *object, struct layer_time *t,
                                   struct arena *arena, struct error *err)
{
    struct json_field fields[] = {
        FIELD_TEXT("run", REQUIRED, &t->run),
        FIELD_TEXT("gpu", REQUIRED, &t->gpu),
        FIELD_COUNT("tensor", OPTIONAL, &t->tensor, 0, 1 << 20),
        FIELD_COUNT("micro_batch", OPTIONAL, &t->micro_batch, 0, 1 << 20),
        FIELD_NUMBER("forward_s", REQUIRED, &t->forward_s, 0, SECONDS_MAX),
        FIELD_NUMBER("backward_s", REQUIRED, &t->backward_s, 0, SECONDS_MAX),
        FIELD_NUMBER("weight_s", OPTIONAL, &t->weight_s, 0, SECONDS_MAX),
        FIELD_NUMBER("selective_s", OPTIONAL, &t->selective_s, 0, SECONDS_MAX),
        FIELD_NUMBER("full_s", OPTIONAL, &t->full_s, 0, SECONDS_MAX),
        FIELD_NUMBER("optimizer_s", OPTIONAL, &t->optimizer_s, 0, SECONDS_MAX),
    };
    t->selective_s = t->full_s = -1;
    TRY(JSON_FIELDS(object, fields, arena, err));
    // Recomputing everything is one more forward; recomputing a part costs no more than that.
    if (t->full_s < 0) t->full_s = t->forward_s;
    if (t->selective_s < 0) t->selective_s = t->full_s;
    return OK;
}

static enum status read_network(const struct json *object, struct costs *c, struct arena *arena,
                                struct error *err)
{
    struct json kinds[NIC_KIND_COUNT] = {{0}};
    struct json_field fields[NIC_KIND_COUNT];
    for (int kind = 0; kind < NIC_KIND_COUNT; kind++)
        fields[kind] =
            (struct json_field)FIELD_OBJECT(nic_kind_names[kind], OPTIONAL, &kinds[kind]);
    if (json_is_present(object)) TRY(JSON_FIELDS(object, fields, arena, err));
    for (int kind = 0; kind < NIC_KIND_COUNT; kind++) {
        c->network_efficiency[kind] = assumed(1);
        TRY(estimate_get_optional(&kinds[kind], &c->network_efficiency[kind], EFFICIENCY_MIN, 1,
                                  arena, err));
    }
    return OK;
}

static enum status read_share(const struct json *object, struct costs *c, struct arena *arena,
                              struct error *err)
{
    struct json_field fields[PART_COUNT];
    for (int part = 0; part < PART_COUNT; part++)
        fields[part] = (struct json_field)FIELD_NUMBER(transfer_part_names[part], OPTIONAL,
                                                       &c->transfer_share[part], 0,
                                                       part == PART_OVERHEAD ? 0.5 : 1);
    if (json_is_present(object)) return JSON_FIELDS(object, fields, arena, err);
    c->transfer_share[PART_DELAY] = 1;
    return OK;
}

enum status costs_load(struct costs *c, const char *path, struct arena *arena, struct error *err)
{
    struct json gpus = {0}, times = {0}, intra = {0}, network = {0}, share = {0}, transfer = {0},
                schedule = {0}, collectives = {0}, optional[OPTIONAL_COSTS] = {{0}};
    *c = (struct costs){.intra_efficiency = assumed(1)};
    TRY(document_read(&c->document, path, "plumbline.costs", arena, err));
    struct json_field fields[9 + OPTIONAL_COSTS] = {
        FIELD_TEXT("name", REQUIRED, &c->name),
        FIELD_ARRAY("gpus", REQUIRED, &gpus),
        FIELD_ARRAY("layer_times", OPTIONAL, &times),
        FIELD_OBJECT("intra_efficiency", OPTIONAL, &intra),
        FIELD_OBJECT("network_efficiency", OPTIONAL, &network),
        FIELD_OBJECT("transfer_share", OPTIONAL, &share),
        FIELD_OBJECT("transfer_efficiency", OPTIONAL, &transfer),
        FIELD_OBJECT("schedule_transfer_share", OPTIONAL, &schedule),
        FIELD_ARRAY("collectives", OPTIONAL, &collectives),
    };
    optional_fields(fields + 9, optional, optional_costs, OPTIONAL_COSTS);
    TRY(document_fields(&c->document, fields, ARRAY_LENGTH(fields), arena, err));
    if (json_length(&gpus) > GPUS_MAX)
        return json_refuse(&gpus, err, "expected at most %d GPUs, found %d", GPUS_MAX,
                           json_length(&gpus));
    if (json_length(&times) > LAYER_TIMES_MAX)
        return json_refuse(&times, err, "expected at most %d entries, found %d", LAYER_TIMES_MAX,
                           json_length(&times));
    c->gpu_count = json_length(&gpus);
    c->gpus = TAKE(arena, c->gpu_count, struct gpu_costs);
    for (int i = 0; i < c->gpu_count; i++) {
        struct json gpu = json_element(&gpus, i, arena);
        TRY(read_gpu(&gpu, &c->gpus[i], arena, err));
    }
    c->layer_time_count = json_length(&times);
    c->layer_times = TAKE(arena, c->layer_time_count, struct layer_time);
    for (int i = 0; i < c->layer_time_count; i++) {
        struct json time = json_element(&times, i, arena);
        TRY(read_layer_time(&time, &c->layer_times[i], arena, err));
    }
    TRY(estimate_get_optional(&intra, &c->intra_efficiency, EFFICIENCY_MIN, 1, arena, err));
    TRY(read_network(&network, c, arena, err));
    TRY(read_share(&share, c, arena, err));
    TRY(transfer_efficiency_get(&transfer, c, arena, err));
    TRY(schedule_shares_get(&schedule, c, arena, err));
    TRY(collectives_get(&collectives, c, arena, err));
    TRY(optional_get(c, optional, optional_costs, OPTIONAL_COSTS, arena, err));
    return costs_check(c, err);
}

// ---- checking

enum status estimate_check(const struct costs *c, const char *where, const char *key,
                           const struct estimate *e, double low, double high, struct error *err)
{
    if (!(e->value >= low && e->value <= high))
        return fail(err, BAD_INPUT, "%s: %s%s.value: expected a number from %g to %g, found %g",
                    name_of(c), where, key, low, high, e->value);
    if (!(e->low >= 0 && e->low <= e->value && e->value <= e->high && isfinite(e->high)))
        return fail(err, BAD_INPUT, "%s: %s%s: expected low <= value <= high, found %g, %g, %g",
                    name_of(c), where, key, e->low, e->value, e->high);
    if (!(e->valid_low >= 0 && e->valid_low <= e->valid_high && isfinite(e->valid_high)))
        return fail(err, BAD_INPUT, "%s: %s%s: expected valid_low <= valid_high, found %g and %g",
                    name_of(c), where, key, e->valid_low, e->valid_high);
    return OK;
}

static enum status check_gpu(const struct costs *c, int i, struct error *err)
{
    const struct gpu_costs *g = &c->gpus[i];
    char where[60];
    if (!g->gpu || !*g->gpu)
        return fail(err, BAD_INPUT, "%s: gpus[%d].gpu: expected a name, found nothing", name_of(c),
                    i);
    for (int k = 0; k < i; k++)
        if (!strcmp(c->gpus[k].gpu, g->gpu))
            return fail(err, BAD_INPUT, "%s: gpus[%d].gpu: \"%s\" stands twice", name_of(c), i,
                        g->gpu);
    snprintf(where, sizeof where, "gpus[%d].", i);
    TRY(estimate_check(c, where, "memory_bytes_per_s", &g->memory_bytes_per_s, 1, RATE_MAX, err));
    TRY(estimate_check(c, where, "layer_overhead_s", &g->layer_overhead_s, 0, SECONDS_MAX, err));
    TRY(estimate_check(c, where, "compression_overhead_s", &g->compression_overhead_s, 0,
                       SECONDS_MAX, err));
    TRY(estimate_check(c, where, "constant_bytes", &g->constant_bytes, 0, BYTES_MAX, err));
    TRY(optional_check(c, where, g, optional_gpu_costs, OPTIONAL_GPU_COSTS, err));
    for (int k = 0; k < g->precision_count; k++) {
        const struct precision_costs *p = &g->precisions[k];
        snprintf(where, sizeof where, "gpus[%d].precisions[%d].", i, k);
        TRY(estimate_check(c, where, "gemm_flop_per_s", &p->gemm_flop_per_s, 1, RATE_MAX, err));
        TRY(estimate_check(c, where, "attention_flop_per_s", &p->attention_flop_per_s, 1, RATE_MAX,
                           err));
        TRY(estimate_check(c, where, "low_rank_flop_per_s", &p->low_rank_flop_per_s, 1, RATE_MAX,
                           err));
        TRY(optional_check(c, where, p, optional_precision_costs, OPTIONAL_PRECISION_COSTS, err));
        for (int n = 0; n < k; n++)
            if (g->precisions[n].precision == p->precision)
                return fail(err, BAD_INPUT, "%s: %sprecision: \"%s\" stands twice", name_of(c),
                            where, precision_names[p->precision]);
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
            return fail(err, BAD_INPUT,
                        "%s: layer_times[%d]: expected seconds from 0 to 1e6, found %g", name_of(c),
                        i, seconds[k]);
    if (t->weight_s > t->backward_s)
        return fail(err, BAD_INPUT,
                    "%s: layer_times[%d].weight_s: expected at most backward_s %g, found %g",
                    name_of(c), i, t->backward_s, t->weight_s);
    if (!t->run || !*t->run || !t->gpu || !*t->gpu)
        return fail(err, BAD_INPUT,
                    "%s: layer_times[%d]: expected a run and a gpu, found an empty one", name_of(c),
                    i);
    if (t->tensor < 0 || t->micro_batch < 0)
        return fail(err, BAD_INPUT,
                    "%s: layer_times[%d]: tensor and micro_batch: expected at least 0", name_of(c),
                    i);
    return OK;
}

enum status costs_check(const struct costs *c, struct error *err)
{
    for (int i = 0; i < c->gpu_count; i++) TRY(check_gpu(c, i, err));
    for (int i = 0; i < c->layer_time_count; i++) TRY(check_layer_time(c, i, err));
    TRY(estimate_check(c, "", "intra_efficiency", &c->intra_efficiency, EFFICIENCY_MIN, 1, err));
    for (int kind = 0; kind < NIC_KIND_COUNT; kind++)
        TRY(estimate_check(c, "network_efficiency.", nic_kind_names[kind],
                           &c->network_efficiency[kind], EFFICIENCY_MIN, 1, err));
    for (int part = 0; part < PART_COUNT; part++) {
        if (!(c->transfer_share[part] >= 0))
            return fail(err, BAD_INPUT, "%s: transfer_share.%s: expected 0 to 1, found %g",
                        name_of(c), transfer_part_names[part], c->transfer_share[part]);
    }
    double sum = transfer_share_sum(c->transfer_share);
    if (!(fabs(sum - 1) <= SHARE_TOLERANCE))
        return fail(
            err, BAD_INPUT,
            "%s: transfer_share: expected parts (overhead twice) that sum to 1, found %.12g",
            name_of(c), sum);
    return costs_check_optional(c, err);
}

// ---- writing

void estimate_put(struct json_writer *w, const char *key, const struct estimate *e)
{
    json_open_flat_object(w, key);
    json_put_number(w, "value", e->value);
    json_put_number(w, "low", e->low);
    json_put_number(w, "high", e->high);
    json_put_text(w, "origin", origin_names[e->origin]);
    if (e->source) json_put_text(w, "source", e->source);
    if (e->valid_low != 0 || e->valid_high != 0) {
        json_put_number(w, "valid_low", e->valid_low);
        json_put_number(w, "valid_high", e->valid_high);
    }
    json_close_object(w);
}

static void put_gpu(struct json_writer *w, const struct gpu_costs *g)
{
    json_open_object(w, NULL);
    json_put_text(w, "gpu", g->gpu);
    json_open_array(w, "precisions");
    for (int i = 0; i < g->precision_count; i++) {
        json_open_object(w, NULL);
        json_put_text(w, "precision", precision_names[g->precisions[i].precision]);
        estimate_put(w, "gemm_flop_per_s", &g->precisions[i].gemm_flop_per_s);
        estimate_put(w, "attention_flop_per_s", &g->precisions[i].attention_flop_per_s);
        estimate_put(w, "low_rank_flop_per_s", &g->precisions[i].low_rank_flop_per_s);
        optional_put(w, &g->precisions[i], optional_precision_costs, OPTIONAL_PRECISION_COSTS);
        json_close_object(w);
    }
    json_close_array(w);
    estimate_put(w, "memory_bytes_per_s", &g->memory_bytes_per_s);
    estimate_put(w, "layer_overhead_s", &g->layer_overhead_s);
    estimate_put(w, "compression_overhead_s", &g->compression_overhead_s);
    estimate_put(w, "constant_bytes", &g->constant_bytes);
    optional_put(w, g, optional_gpu_costs, OPTIONAL_GPU_COSTS);
    json_close_object(w);
}

static void put_layer_time(struct json_writer *w, const struct layer_time *t)
{
    json_open_flat_object(w, NULL);
    json_put_text(w, "run", t->run);
    json_put_text(w, "gpu", t->gpu);
    json_put_count(w, "tensor", t->tensor);
    json_put_count(w, "micro_batch", t->micro_batch);
    json_put_number(w, "forward_s", t->forward_s);
    json_put_number(w, "backward_s", t->backward_s);
    if (t->weight_s > 0) json_put_number(w, "weight_s", t->weight_s);
    json_put_number(w, "selective_s", t->selective_s);
    json_put_number(w, "full_s", t->full_s);
    json_put_number(w, "optimizer_s", t->optimizer_s);
    json_close_object(w);
}

enum status costs_save(const struct costs *c, const char *path, struct arena *arena,
                       struct error *err)
{
    struct json_writer w;
    document_begin(&w, "plumbline.costs", c->document.sources, c->document.source_count, arena);
    json_put_text(&w, "name", c->name);
    json_open_array(&w, "gpus");
    for (int i = 0; i < c->gpu_count; i++) put_gpu(&w, &c->gpus[i]);
    json_close_array(&w);
    json_open_array(&w, "layer_times");
    for (int i = 0; i < c->layer_time_count; i++) put_layer_time(&w, &c->layer_times[i]);
    json_close_array(&w);
    estimate_put(&w, "intra_efficiency", &c->intra_efficiency);
    json_open_object(&w, "network_efficiency");
    for (int kind = 0; kind < NIC_KIND_COUNT; kind++)
        estimate_put(&w, nic_kind_names[kind], &c->network_efficiency[kind]);
    json_close_object(&w);
    json_open_flat_object(&w, "transfer_share");
    for (int part = 0; part < PART_COUNT; part++)
        json_put_number(&w, transfer_part_names[part], c->transfer_share[part]);
    json_close_object(&w);
    costs_put_optional(&w, c);
    return document_write(&w, path, err);
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
