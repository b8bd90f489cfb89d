// Priced documents: the problem in integers. Everything after them relies on what priced_check
// guarantees: sizes of all arrays, indices in range, and no sum of times, bytes or quality costs of
// any plan above 2^52.
#include "data/kinds/schedules.h"
#include "data/priced/priced.h"

#include "data/places/cluster.h"
#include "data/inputs/job_fields.h"
#include "data/inputs/model/model.h"
#include "data/priced/fields.h"

#define PRICE_MAX 4503599627370496.0 // 2^52
enum { RUNS_MAX = LAYERS_MAX };

const char *priced_file(const struct priced *p)
{
    return document_name(&p->document, "priced document");
}

// ---- arrays

enum status priced_prices_get(const struct json *array, int expected, double low, int64_t **values,
                              struct arena *arena, struct error *err)
{
    int count;
    if (!json_is_present(array)) {
        *values = TAKE(arena, expected, int64_t);
        return OK;
    }
    TRY(json_expect_count(array, expected, "entries", err));
    return json_counts(array, low, PRICE_MAX, values, &count, arena, err);
}

enum status priced_tables_get(const struct json *array, int tables, int expected, double low,
                              int64_t ***values, struct arena *arena, struct error *err)
{
    TRY(json_expect_count(array, tables, "entries", err));
    *values = TAKE(arena, tables, int64_t *);
    for (int i = 0; i < tables; i++) {
        struct json table = json_element(array, i, arena);
        TRY(json_expect(&table, JSON_ARRAY, err));
        TRY(priced_prices_get(&table, expected, low, &(*values)[i], arena, err));
    }
    return OK;
}

void priced_tables_put(struct json_writer *w, const char *key, int64_t *const *tables,
                       int table_count, int count)
{
    json_open_array(w, key);
    for (int i = 0; i < table_count; i++) json_put_counts(w, NULL, tables[i], count);
    json_close_array(w);
}

static int pass_count(const struct priced *p) { return p->slice_count * p->group_count; }

static int link_count(const struct priced *p)
{
    return pass_count(p) * p->group_count * PART_COUNT;
}

PRICES(of_gradients, p->gradient_option_count, 0)
PRICES(of_boundaries, p->boundary_option_count, 0)
PRICES(constants, p->gradient_option_count, PRICE_NONE)
PRICES(passes, pass_count(p), PRICE_NONE)
PRICES(groups, p->group_count, PRICE_NONE)
PRICES(links, link_count(p), PRICE_NONE)
TABLES(syncs, p->gradient_option_count, p->group_count)
TABLES(feedbacks, p->boundary_option_count, link_count(p))

// Modes in which a layer runs: none, selective, full, and the offered sets of modules. Returns how
// many there are.
static int layer_modes(const struct priced *p, int *modes)
{
    int count = 0;
    for (int mode = 0; mode < RECOMPUTE_COUNT; mode++)
        if (mode <= RECOMPUTE_FULL || (mode >= RECOMPUTE_SETS && p->recompute[mode]))
            modes[count++] = mode;
    return count;
}

enum status priced_modes_get(const struct json *value, void *to, const void *context,
                             struct arena *arena, struct error *err)
{
    int64_t *values, *bytes = to;
    int modes[RECOMPUTE_COUNT], count = layer_modes(context, modes);
    TRY(priced_prices_get(value, count, 0, &values, arena, err));
    for (int i = 0; i < count; i++) bytes[modes[i]] = values[i];
    return OK;
}

void priced_modes_put(struct json_writer *w, const char *key, const void *from, const void *context)
{
    int64_t values[RECOMPUTE_COUNT];
    int modes[RECOMPUTE_COUNT], count = layer_modes(context, modes);
    for (int i = 0; i < count; i++) values[i] = ((const int64_t *)from)[modes[i]];
    json_put_counts(w, key, values, count);
}

// Of the offered sets of modules.
GET_MEMBER(get_module_times)
{
    const struct priced *p = context;
    int64_t **tables = NULL, **again = to;
    int modes[RECOMPUTE_COUNT], count = layer_modes(p, modes), sets = count - RECOMPUTE_FULL - 1;
    if (!sets && !json_is_present(value)) return OK;
    TRY(priced_tables_get(value, sets, pass_count(p), PRICE_NONE, &tables, arena, err));
    for (int i = 0; i < sets; i++) again[modes[RECOMPUTE_FULL + 1 + i]] = tables[i];
    return OK;
}

PUT_MEMBER(put_module_times)
{
    const struct priced *p = context;
    int64_t *tables[RECOMPUTE_COUNT], *const *again = from;
    int modes[RECOMPUTE_COUNT], count = layer_modes(p, modes), sets = count - RECOMPUTE_FULL - 1;
    for (int i = 0; i < sets; i++) tables[i] = again[modes[RECOMPUTE_FULL + 1 + i]];
    if (sets) priced_tables_put(w, key, tables, sets, pass_count(p));
}

PUT_MEMBER(put_weights)
{
    if (schedule_splits_backward(((const struct priced *)context)->layout.schedule))
        put_groups(w, key, from, context);
}

#define AGAIN(mode) offsetof(struct priced_run, again_ns[RECOMPUTE_##mode])
static const struct member run_rows[] = {
    KEY_TEXT(priced_run, name, REQUIRED),
    KEY_INT(priced_run, count, REQUIRED, ALWAYS_WRITTEN, 1, LAYERS_MAX),
    KEY_BOOL(priced_run, recomputable, REQUIRED, ALWAYS_WRITTEN),
    KEY_INT(priced_run, tensor, OPTIONAL, IF_SET, 1, DEGREE_MAX),
    KEY_COUNT(priced_run, weight_bytes, REQUIRED, ALWAYS_WRITTEN, 0, PRICE_MAX),
    KEY_COUNT(priced_run, gradient_bytes, REQUIRED, ALWAYS_WRITTEN, 0, PRICE_MAX),
    KEY_COUNT(priced_run, optimizer_bytes, REQUIRED, ALWAYS_WRITTEN, 0, PRICE_MAX),
    KEY_PART("stash_bytes", JSON_ARRAY, REQUIRED, offsetof(struct priced_run, stash_bytes),
             priced_modes_get, priced_modes_put),
    KEY_PART("working_bytes", JSON_ARRAY, REQUIRED, offsetof(struct priced_run, working_bytes),
             priced_modes_get, priced_modes_put),
    KEY_COUNT(priced_run, unsharded_bytes, OPTIONAL, IF_SET, 0, PRICE_MAX),
    KEY_PRICES(priced_run, feedback_bytes, REQUIRED, of_gradients),
    KEY_INT(priced_run, cut, REQUIRED, ALWAYS_WRITTEN, 0, RUNS_MAX),
    KEY_PRICES(priced_run, forward_ns, REQUIRED, passes),
    KEY_PRICES(priced_run, backward_ns, REQUIRED, passes),
    KEY_PART("weight_ns", JSON_ARRAY, OPTIONAL, offsetof(struct priced_run, weight_ns), get_groups,
             put_weights),
    KEY_PART("selective_ns", JSON_ARRAY, REQUIRED, AGAIN(SELECTIVE), get_passes, put_passes),
    KEY_PART("full_ns", JSON_ARRAY, REQUIRED, AGAIN(FULL), get_passes, put_passes),
    KEY_PART("module_sets_ns", JSON_ARRAY, OPTIONAL, AGAIN(NONE), get_module_times,
             put_module_times),
    KEY_PRICES(priced_run, optimizer_ns, REQUIRED, groups),
    KEY_PRICES(priced_run, sync_ns, REQUIRED, syncs),
    KEY_PART("entry_ns", JSON_ARRAY, OPTIONAL, offsetof(struct priced_run, entry_ns),
             priced_entries_get, priced_entries_put),
    KEY_EACH("seats", OPTIONAL, 0, &priced_seat_members, priced_seats_get, priced_seats_put),
    KEY_LIST(priced_run, tiered, tiered_count, OPTIONAL, IF_SET, OPTIONS_MAX + 1,
             &priced_tiered_members),
};
static MEMBERS(run, struct priced_run, NULL, false, NULL);

// Present only if there are tiers.
PRICES(tiers, p->tier_count, PRICE_NONE)
GET_MEMBER(get_limits)
{
    const struct priced *p = context;
    bool stated = json_is_present(value);
    if (p->tier_count && !stated)
        return json_refuse(value, err, "expected one for each of %d tiers, found nothing",
                           p->tier_count);
    return stated ? get_tiers(value, to, context, arena, err) : OK;
}

PUT_MEMBER(put_limits)
{
    if (((const struct priced *)context)->tier_count) put_tiers(w, key, from, context);
}

static const struct member group_rows[] = {
    KEY_TEXT(priced_group, name, REQUIRED),
    KEY_TEXT(priced_group, gpu, REQUIRED),
    KEY_TEXT(priced_group, node_group, OPTIONAL),
    KEY_INT(priced_group, tensor, OPTIONAL, IF_SET, 1, DEGREE_MAX),
    KEY_INT(priced_group, context, OPTIONAL, IF_SET, 1, DEGREE_MAX),
    KEY_INT(priced_group, data, OPTIONAL, IF_SET, 1, DEGREE_MAX),
    KEY_INT(priced_group, seat_slots, OPTIONAL, IF_SET, 1, 1 << 20),
    KEY_INT(priced_group, slots, REQUIRED, ALWAYS_WRITTEN, 0, 2147483647.0),
    KEY_COUNT(priced_group, memory_limit_bytes, REQUIRED, ALWAYS_WRITTEN, 0, PRICE_MAX),
    KEY_COUNT(priced_group, constant_bytes, REQUIRED, ALWAYS_WRITTEN, 0, PRICE_MAX),
    KEY_TEXT(priced_group, excluded, OPTIONAL),
    KEY_PRICES(priced_group, sync_constant_ns, REQUIRED, constants),
    KEY_PART("tier_limit_bytes", JSON_ARRAY, OPTIONAL,
             offsetof(struct priced_group, tier_limit_bytes), get_limits, put_limits),
};
static MEMBERS(group, struct priced_group, NULL, false, NULL);

static const struct member cut_rows[] = {
    KEY_COUNT(priced_cut, message_bytes, REQUIRED, ALWAYS_WRITTEN, 0, PRICE_MAX),
    KEY_PART("seat_bytes", JSON_ARRAY, OPTIONAL, offsetof(struct priced_cut, seat_bytes),
             priced_seat_bytes_get, priced_seat_bytes_put),
    KEY_PRICES(priced_cut, feedback_bytes, REQUIRED, of_boundaries),
    KEY_PRICES(priced_cut, forward_ns, REQUIRED, links),
    KEY_PRICES(priced_cut, backward_ns, REQUIRED, feedbacks),
};
static MEMBERS(cut, struct priced_cut, NULL, false, NULL);

// Together with what follows from it.
GET_MEMBER(get_layout)
{
    struct priced *p = to;
    TRY(members_read(value, &layout_members, &p->layout, context, arena, err));
    p->rank_count = p->layout.pipeline;
    p->slice_count = p->layout.slice_count;
    return OK;
}

PUT_MEMBER(put_layout)
{
    members_write(w, key, &layout_members, &((const struct priced *)from)->layout, context);
}

GET_MEMBER(get_embedding)
{
    struct priced *p = to;
    p->has_embedding_sync = json_is_present(value);
    return priced_prices_get(value, p->group_count * p->group_count, PRICE_NONE,
                             &p->embedding_sync_ns, arena, err);
}

PUT_MEMBER(put_embedding)
{
    const struct priced *p = from;
    if (p->has_embedding_sync)
        json_put_counts(w, key, p->embedding_sync_ns, p->group_count * p->group_count);
}

PUT_MEMBER(put_local)
{
    if (((const struct priced *)context)->layout.local_loss_every)
        json_put_count(w, key, *(const int64_t *)from);
}

static const struct member priced_rows[] = {
    KEY_TEXT(priced, name, REQUIRED),
    KEY_NAME(priced, objective, OPTIONAL, IF_SET, objective_names),
    KEY_COUNT(priced, iteration_limit_ns, OPTIONAL, IF_SET, 0, PRICE_MAX),
    KEY_PART("layout", JSON_OBJECT, REQUIRED, 0, get_layout, put_layout),
    KEY_INT(priced, stage_count, REQUIRED, ALWAYS_WRITTEN, 1, STAGES_MAX),
    KEY_INT(priced, micro_batches, REQUIRED, ALWAYS_WRITTEN, 1, MICRO_BATCHES_MAX),
    KEY_INT(priced, layer_count, REQUIRED, ALWAYS_WRITTEN, 1, LAYERS_MAX),
    KEY_COUNT(priced, devices_per_stage, REQUIRED, ALWAYS_WRITTEN, 1, 1e9),
    KEY_SET(priced, recompute, REQUIRED, ALWAYS_WRITTEN, recompute_names),
    KEY_LIST(priced, boundary_options, boundary_option_count, REQUIRED, ALWAYS_WRITTEN,
             OPTIONS_MAX + 1, &boundary_option_members),
    KEY_LIST(priced, gradient_options, gradient_option_count, REQUIRED, ALWAYS_WRITTEN,
             OPTIONS_MAX + 1, &gradient_option_members),
    KEY_TEXTS(priced, tiers, tier_count, OPTIONAL, 0, GROUPS_MAX *TIERS_MAX),
    KEY_LIST(priced, groups, group_count, REQUIRED, ALWAYS_WRITTEN, SEATS_MAX, &group_members),
    KEY_LIST(priced, runs, run_count, REQUIRED, ALWAYS_WRITTEN, RUNS_MAX, &run_members),
    KEY_LIST(priced, cuts, cut_count, REQUIRED, ALWAYS_WRITTEN, RUNS_MAX, &cut_members),
    KEY_PART("embedding_sync_ns", JSON_ARRAY, OPTIONAL, 0, get_embedding, put_embedding),
    KEY_COUNT_PUT(priced, local_forward_ns, OPTIONAL, 0, PRICE_MAX, put_local),
    KEY_COUNT_PUT(priced, local_backward_ns, OPTIONAL, 0, PRICE_MAX, put_local),
    KEY_COUNT_PUT(priced, local_bytes, OPTIONAL, 0, PRICE_MAX, put_local),
    KEY_BOOL(priced, in_turn, OPTIONAL, IF_SET),
    KEY_BOOL(priced, recompute_any, OPTIONAL, IF_SET),
    KEY_BOOL(priced, width_per_group, OPTIONAL, IF_SET),
    KEY_LIST(priced, local_heads, local_head_count, OPTIONAL, IF_SET, 1, &run_members),
    KEY_LIST(priced, sharded_runs, sharded_run_count, OPTIONAL, IF_SET, RUNS_MAX, &run_members),
    KEY_LIST(priced, vocabulary_runs, vocabulary_run_count, OPTIONAL, IF_SET,
             VOCABULARY_DEGREES_MAX *RUNS_MAX, &run_members),
    KEY_OBJECT("budget", priced, budget, OPTIONAL, ALWAYS_WRITTEN, &budget_members),
    KEY_LIST(priced, rules, rule_count, OPTIONAL, ALWAYS_WRITTEN, RULES_MAX, &rule_members),
    KEY_OBJECT_PART("places", 0, &priced_places_members, priced_places_get, priced_places_put),
};
MEMBERS(priced, struct priced, NULL, false, NULL);

enum status priced_load(struct priced *p, const char *path, struct arena *arena, struct error *err)
{
    *p = (struct priced){0};
    TRY(document_load(&p->document, path, "plumbline.priced", &priced_members, p, p, arena, err));
    priced_find_pools(p);
    return priced_check(p, err);
}

enum status priced_save(const struct priced *p, const char *path, struct arena *arena,
                        struct error *err)
{
    return document_save(&p->document, "plumbline.priced", &priced_members, p, p, path, arena, err);
}
