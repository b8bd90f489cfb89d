// Priced documents: the stated problem in integers. Everything behind it relies on what
// priced_check promises: sizes of all arrays, indices in range, and no sum of times, bytes or
// quality costs of any plan beyond 2^52.
#include "data/priced/priced.h"

#include <string.h>

#include "data/places/cluster.h"
#include "data/inputs/job_fields.h"
#include "data/inputs/model/model.h"
#include "data/priced/fields.h"

#define PRICE_MAX 4503599627370496.0 // 2^52
enum { RUNS_MAX = LAYERS_MAX };

// ---- reading

enum status priced_prices_get(const struct json *array, int expected, double low, int64_t **values,
                              struct arena *arena, struct error *err)
{
    int count;
    if (!json_is_present(array)) {
        *values = TAKE(arena, expected, int64_t);
        return OK;
    }
    if (json_length(array) != expected)
        return json_refuse(array, err, "expected %d entries, found %d", expected,
                           json_length(array));
    return json_counts(array, low, PRICE_MAX, values, &count, arena, err);
}

enum status priced_tables_get(const struct json *array, int tables, int expected, double low,
                              int64_t ***values, struct arena *arena, struct error *err)
{
    if (json_length(array) != tables)
        return json_refuse(array, err, "expected %d entries, found %d", tables, json_length(array));
    *values = TAKE(arena, tables, int64_t *);
    for (int i = 0; i < tables; i++) {
        struct json table = json_element(array, i, arena);
        TRY(json_expect(&table, JSON_ARRAY, err));
        TRY(priced_prices_get(&table, expected, low, &(*values)[i], arena, err));
    }
    return OK;
}

static enum status read_three(const struct json *array, int64_t to[3], struct arena *arena,
                              struct error *err)
{
    int64_t *values;
    TRY(priced_prices_get(array, 3, 0, &values, arena, err));
    memcpy(to, values, 3 * sizeof *to);
    return OK;
}

static enum status read_run(const struct priced *p, const struct json *object, struct priced_run *r,
                            struct arena *arena, struct error *err)
{
    struct json stash = {0}, working = {0}, feedback = {0}, forward = {0}, backward = {0},
                weight = {0}, selective = {0}, full = {0}, optimizer = {0}, sync = {0}, left = {0},
                offloaded = {0}, swap = {0};
    int passes = p->slice_count * p->group_count;
    struct json_field fields[] = {
        FIELD_TEXT("name", REQUIRED, &r->name),
        FIELD_INT("count", REQUIRED, &r->count, 1, LAYERS_MAX),
        FIELD_BOOL("recomputable", REQUIRED, &r->recomputable),
        FIELD_COUNT("weight_bytes", REQUIRED, &r->weight_bytes, 0, PRICE_MAX),
        FIELD_COUNT("gradient_bytes", REQUIRED, &r->gradient_bytes, 0, PRICE_MAX),
        FIELD_COUNT("optimizer_bytes", REQUIRED, &r->optimizer_bytes, 0, PRICE_MAX),
        FIELD_ARRAY("stash_bytes", REQUIRED, &stash),
        FIELD_ARRAY("working_bytes", REQUIRED, &working),
        FIELD_COUNT("unsharded_bytes", OPTIONAL, &r->unsharded_bytes, 0, PRICE_MAX),
        FIELD_ARRAY("feedback_bytes", REQUIRED, &feedback),
        FIELD_INT("cut", REQUIRED, &r->cut, 0, RUNS_MAX),
        FIELD_ARRAY("forward_ns", REQUIRED, &forward),
        FIELD_ARRAY("backward_ns", REQUIRED, &backward),
        FIELD_ARRAY("weight_ns", OPTIONAL, &weight),
        FIELD_ARRAY("selective_ns", REQUIRED, &selective),
        FIELD_ARRAY("full_ns", REQUIRED, &full),
        FIELD_ARRAY("swap_ns", OPTIONAL, &swap),
        FIELD_ARRAY("optimizer_ns", REQUIRED, &optimizer),
        FIELD_ARRAY("sync_ns", REQUIRED, &sync),
        FIELD_ARRAY("offloaded_bytes", OPTIONAL, &left),
        FIELD_ARRAY("offloaded_ns", OPTIONAL, &offloaded),
    };
    TRY(JSON_FIELDS(object, fields, arena, err));
    TRY(read_three(&stash, r->stash_bytes, arena, err));
    TRY(read_three(&working, r->working_bytes, arena, err));
    TRY(priced_prices_get(&feedback, p->gradient_option_count, 0, &r->feedback_bytes, arena, err));
    TRY(priced_prices_get(&forward, passes, PRICE_NONE, &r->forward_ns, arena, err));
    TRY(priced_prices_get(&backward, passes, PRICE_NONE, &r->backward_ns, arena, err));
    TRY(priced_prices_get(&weight, p->group_count, PRICE_NONE, &r->weight_ns, arena, err));
    TRY(priced_prices_get(&selective, passes, PRICE_NONE, &r->selective_ns, arena, err));
    TRY(priced_prices_get(&full, passes, PRICE_NONE, &r->full_ns, arena, err));
    if (json_is_present(&swap) != p->recompute[RECOMPUTE_SWAP])
        return json_refuse(object, err, "swap_ns: expected it where \"swap\" is offered alone");
    if (p->recompute[RECOMPUTE_SWAP])
        TRY(priced_prices_get(&swap, p->group_count, PRICE_NONE, &r->swap_ns, arena, err));
    TRY(priced_prices_get(&optimizer, p->group_count, PRICE_NONE, &r->optimizer_ns, arena, err));
    if (priced_offloads(p)) {
        TRY(priced_prices_get(&left, p->gradient_option_count, 0, &r->offloaded_bytes, arena, err));
        TRY(priced_tables_get(&offloaded, p->gradient_option_count, p->group_count, PRICE_NONE,
                              &r->offloaded_ns, arena, err));
    } else if (json_is_present(&left) || json_is_present(&offloaded)) {
        return json_refuse(object, err, "offloaded_bytes, offloaded_ns: no option offloads");
    }
    return priced_tables_get(&sync, p->gradient_option_count, p->group_count, PRICE_NONE,
                             &r->sync_ns, arena, err);
}

static enum status read_group(const struct priced *p, const struct json *object,
                              struct priced_group *g, struct arena *arena, struct error *err)
{
    struct json constant = {0};
    struct json_field fields[] = {
        FIELD_TEXT("name", REQUIRED, &g->name),
        FIELD_TEXT("gpu", REQUIRED, &g->gpu),
        FIELD_INT("slots", REQUIRED, &g->slots, 0, 2147483647.0),
        FIELD_COUNT("memory_limit_bytes", REQUIRED, &g->memory_limit_bytes, 0, PRICE_MAX),
        FIELD_COUNT("constant_bytes", REQUIRED, &g->constant_bytes, 0, PRICE_MAX),
        FIELD_TEXT("excluded", OPTIONAL, &g->excluded),
        FIELD_ARRAY("sync_constant_ns", REQUIRED, &constant),
    };
    TRY(JSON_FIELDS(object, fields, arena, err));
    return priced_prices_get(&constant, p->gradient_option_count, PRICE_NONE, &g->sync_constant_ns,
                             arena, err);
}

static enum status read_cut(const struct priced *p, const struct json *object, struct priced_cut *c,
                            struct arena *arena, struct error *err)
{
    struct json feedback = {0}, forward = {0}, backward = {0};
    int links = p->slice_count * p->group_count * p->group_count * PART_COUNT;
    struct json_field fields[] = {
        FIELD_COUNT("message_bytes", REQUIRED, &c->message_bytes, 0, PRICE_MAX),
        FIELD_ARRAY("feedback_bytes", REQUIRED, &feedback),
        FIELD_ARRAY("forward_ns", REQUIRED, &forward),
        FIELD_ARRAY("backward_ns", REQUIRED, &backward),
    };
    TRY(JSON_FIELDS(object, fields, arena, err));
    TRY(priced_prices_get(&feedback, p->boundary_option_count, 0, &c->feedback_bytes, arena, err));
    TRY(priced_prices_get(&forward, links, PRICE_NONE, &c->forward_ns, arena, err));
    return priced_tables_get(&backward, p->boundary_option_count, links, PRICE_NONE,
                             &c->backward_ns, arena, err);
}

struct priced_arrays {
    struct json groups, runs, cuts, boundary, gradient, embedding;
};

static enum status read_arrays(struct priced *p, const struct priced_arrays *a, struct arena *arena,
                               struct error *err)
{
    TRY(compressions_get(&a->boundary, true, 0, &p->boundary_options, &p->boundary_option_count,
                         arena, err));
    TRY(compressions_get(&a->gradient, false, 0, &p->gradient_options, &p->gradient_option_count,
                         arena, err));
    if (json_length(&a->groups) > GROUPS_MAX)
        return json_refuse(&a->groups, err, "expected at most %d groups, found %d", GROUPS_MAX,
                           json_length(&a->groups));
    if (json_length(&a->runs) > RUNS_MAX)
        return json_refuse(&a->runs, err, "expected at most %d runs, found %d", RUNS_MAX,
                           json_length(&a->runs));
    if (json_length(&a->cuts) > RUNS_MAX)
        return json_refuse(&a->cuts, err, "expected at most %d classes, found %d", RUNS_MAX,
                           json_length(&a->cuts));
    p->group_count = json_length(&a->groups);
    p->groups = TAKE(arena, p->group_count, struct priced_group);
    for (int i = 0; i < p->group_count; i++) {
        struct json element = json_element(&a->groups, i, arena);
        TRY(read_group(p, &element, &p->groups[i], arena, err));
    }
    p->run_count = json_length(&a->runs);
    p->runs = TAKE(arena, p->run_count, struct priced_run);
    for (int i = 0; i < p->run_count; i++) {
        struct json element = json_element(&a->runs, i, arena);
        TRY(read_run(p, &element, &p->runs[i], arena, err));
    }
    p->cut_count = json_length(&a->cuts);
    p->cuts = TAKE(arena, p->cut_count, struct priced_cut);
    for (int i = 0; i < p->cut_count; i++) {
        struct json element = json_element(&a->cuts, i, arena);
        TRY(read_cut(p, &element, &p->cuts[i], arena, err));
    }
    p->has_embedding_sync = json_is_present(&a->embedding);
    return priced_prices_get(&a->embedding, p->group_count * p->group_count, PRICE_NONE,
                             &p->embedding_sync_ns, arena, err);
}

enum status priced_load(struct priced *p, const char *path, struct arena *arena, struct error *err)
{
    struct json layout = {0}, recompute = {0}, budget = {0}, rules = {0}, places = {0};
    struct priced_arrays a = {0};
    *p = (struct priced){0};
    TRY(document_read(&p->document, path, "plumbline.priced", arena, err));
    struct json_field fields[] = {
        FIELD_TEXT("name", REQUIRED, &p->name),
        FIELD_NAME("objective", OPTIONAL, &p->objective, objective_names),
        FIELD_OBJECT("layout", REQUIRED, &layout),
        FIELD_INT("stage_count", REQUIRED, &p->stage_count, 1, STAGES_MAX),
        FIELD_INT("micro_batches", REQUIRED, &p->micro_batches, 1, MICRO_BATCHES_MAX),
        FIELD_INT("layer_count", REQUIRED, &p->layer_count, 1, LAYERS_MAX),
        FIELD_COUNT("devices_per_stage", REQUIRED, &p->devices_per_stage, 1, 1e9),
        FIELD_ARRAY("recompute", REQUIRED, &recompute),
        FIELD_ARRAY("boundary_options", REQUIRED, &a.boundary),
        FIELD_ARRAY("gradient_options", REQUIRED, &a.gradient),
        FIELD_ARRAY("groups", REQUIRED, &a.groups),
        FIELD_ARRAY("runs", REQUIRED, &a.runs),
        FIELD_ARRAY("cuts", REQUIRED, &a.cuts),
        FIELD_ARRAY("embedding_sync_ns", OPTIONAL, &a.embedding),
        FIELD_COUNT("local_forward_ns", OPTIONAL, &p->local_forward_ns, 0, PRICE_MAX),
        FIELD_COUNT("local_backward_ns", OPTIONAL, &p->local_backward_ns, 0, PRICE_MAX),
        FIELD_COUNT("local_bytes", OPTIONAL, &p->local_bytes, 0, PRICE_MAX),
        FIELD_OBJECT("budget", OPTIONAL, &budget),
        FIELD_ARRAY("rules", OPTIONAL, &rules),
        FIELD_OBJECT("places", OPTIONAL, &places),
    };
    TRY(document_fields(&p->document, fields, ARRAY_LENGTH(fields), arena, err));
    TRY(layout_get(&layout, &p->layout, arena, err));
    p->rank_count = p->layout.pipeline;
    p->slice_count = p->layout.slice_count;
    TRY(modes_get(&recompute, p->recompute, arena, err));
    TRY(read_arrays(p, &a, arena, err));
    TRY(budget_get(&budget, &p->budget, arena, err));
    TRY(rules_get(&rules, &p->rules, &p->rule_count, arena, err));
    if (json_is_present(&places)) TRY(priced_places_get(&places, p, arena, err));
    return priced_check(p, err);
}

// ---- writing

void priced_prices_put(struct json_writer *w, const char *key, const int64_t *values, int count)
{
    json_open_flat_array(w, key);
    for (int i = 0; i < count; i++) json_put_count(w, NULL, values[i]);
    json_close_array(w);
}

void priced_tables_put(struct json_writer *w, const char *key, int64_t *const *tables,
                       int table_count, int count)
{
    json_open_array(w, key);
    for (int i = 0; i < table_count; i++) priced_prices_put(w, NULL, tables[i], count);
    json_close_array(w);
}

static void put_run(struct json_writer *w, const struct priced *p, const struct priced_run *r)
{
    json_open_object(w, NULL);
    json_put_text(w, "name", r->name);
    json_put_count(w, "count", r->count);
    json_put_bool(w, "recomputable", r->recomputable);
    json_put_count(w, "weight_bytes", r->weight_bytes);
    json_put_count(w, "gradient_bytes", r->gradient_bytes);
    json_put_count(w, "optimizer_bytes", r->optimizer_bytes);
    priced_prices_put(w, "stash_bytes", r->stash_bytes, 3);
    priced_prices_put(w, "working_bytes", r->working_bytes, 3);
    if (r->unsharded_bytes) json_put_count(w, "unsharded_bytes", r->unsharded_bytes);
    priced_prices_put(w, "feedback_bytes", r->feedback_bytes, p->gradient_option_count);
    json_put_count(w, "cut", r->cut);
    int passes = p->slice_count * p->group_count;
    priced_prices_put(w, "forward_ns", r->forward_ns, passes);
    priced_prices_put(w, "backward_ns", r->backward_ns, passes);
    if (schedule_splits_backward(p->layout.schedule))
        priced_prices_put(w, "weight_ns", r->weight_ns, p->group_count);
    priced_prices_put(w, "selective_ns", r->selective_ns, passes);
    priced_prices_put(w, "full_ns", r->full_ns, passes);
    if (r->swap_ns) priced_prices_put(w, "swap_ns", r->swap_ns, p->group_count);
    priced_prices_put(w, "optimizer_ns", r->optimizer_ns, p->group_count);
    priced_tables_put(w, "sync_ns", r->sync_ns, p->gradient_option_count, p->group_count);
    if (priced_offloads(p)) {
        priced_prices_put(w, "offloaded_bytes", r->offloaded_bytes, p->gradient_option_count);
        priced_tables_put(w, "offloaded_ns", r->offloaded_ns, p->gradient_option_count,
                          p->group_count);
    }
    json_close_object(w);
}

static void put_groups(struct json_writer *w, const struct priced *p)
{
    json_open_array(w, "groups");
    for (int i = 0; i < p->group_count; i++) {
        const struct priced_group *g = &p->groups[i];
        json_open_object(w, NULL);
        json_put_text(w, "name", g->name);
        json_put_text(w, "gpu", g->gpu);
        json_put_count(w, "slots", g->slots);
        json_put_count(w, "memory_limit_bytes", g->memory_limit_bytes);
        json_put_count(w, "constant_bytes", g->constant_bytes);
        if (g->excluded) json_put_text(w, "excluded", g->excluded);
        priced_prices_put(w, "sync_constant_ns", g->sync_constant_ns, p->gradient_option_count);
        json_close_object(w);
    }
    json_close_array(w);
}

static void put_cuts(struct json_writer *w, const struct priced *p)
{
    int links = p->slice_count * p->group_count * p->group_count * PART_COUNT;
    json_open_array(w, "cuts");
    for (int i = 0; i < p->cut_count; i++) {
        const struct priced_cut *c = &p->cuts[i];
        json_open_object(w, NULL);
        json_put_count(w, "message_bytes", c->message_bytes);
        priced_prices_put(w, "feedback_bytes", c->feedback_bytes, p->boundary_option_count);
        priced_prices_put(w, "forward_ns", c->forward_ns, links);
        priced_tables_put(w, "backward_ns", c->backward_ns, p->boundary_option_count, links);
        json_close_object(w);
    }
    json_close_array(w);
}

enum status priced_save(const struct priced *p, const char *path, struct arena *arena,
                        struct error *err)
{
    struct json_writer w;
    document_begin(&w, "plumbline.priced", p->document.sources, p->document.source_count, arena);
    json_put_text(&w, "name", p->name);
    if (p->objective != OBJECTIVE_ITERATION_TIME)
        json_put_text(&w, "objective", objective_names[p->objective]);
    layout_put(&w, "layout", &p->layout);
    json_put_count(&w, "stage_count", p->stage_count);
    json_put_count(&w, "micro_batches", p->micro_batches);
    json_put_count(&w, "layer_count", p->layer_count);
    json_put_count(&w, "devices_per_stage", p->devices_per_stage);
    modes_put(&w, "recompute", p->recompute);
    compressions_put(&w, "boundary_options", true, p->boundary_options, p->boundary_option_count);
    compressions_put(&w, "gradient_options", false, p->gradient_options, p->gradient_option_count);
    put_groups(&w, p);
    json_open_array(&w, "runs");
    for (int i = 0; i < p->run_count; i++) put_run(&w, p, &p->runs[i]);
    json_close_array(&w);
    put_cuts(&w, p);
    if (p->has_embedding_sync)
        priced_prices_put(&w, "embedding_sync_ns", p->embedding_sync_ns,
                          p->group_count * p->group_count);
    if (p->layout.local_loss_every) {
        json_put_count(&w, "local_forward_ns", p->local_forward_ns);
        json_put_count(&w, "local_backward_ns", p->local_backward_ns);
        json_put_count(&w, "local_bytes", p->local_bytes);
    }
    budget_put(&w, "budget", &p->budget);
    rules_put(&w, "rules", p->rules, p->rule_count);
    if (p->places) priced_places_put(&w, p);
    return document_write(&w, path, err);
}
