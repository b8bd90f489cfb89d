// The parts of a job that the priced document repeats: layout, rules, budget, recomputation modes.
// Reading, writing and the checks that hold for both.
#include "data/inputs/job_fields.h"

#include <stdio.h>
#include <string.h>

const char *const gradient_sync_names[] = {"exposed", "overlapped", NULL};
const char *const unfused_names[] = {"norms", "rotary", "activation", NULL};
const char *const attention_kernel_names[] = {"maker", "flash-attention-2", "triton", NULL};
const char *const trainer_names[] = {"megatron", "deepspeed", "torchtitan", "other", NULL};
const char *const objective_names[] = {"iteration_time", "pipette", "max_load", "cost", NULL};
const char *const framework_names[] = {"any", "megatron", "torchtitan", "deepspeed", NULL};
const char *const rule_action_names[] = {"require", "forbid", NULL};

// ---- layout

const char *layout_tensor_text(const struct layout *l, struct arena *arena)
{
    if (!layout_has_grid(l)) return arena_print(arena, "%d", l->tensor);
    return arena_print(arena, "%dx%dx%d", layout_tensor_axis(l, 0), layout_tensor_axis(l, 1),
                       layout_tensor_axis(l, 2));
}

void layout_put(struct json_writer *w, const char *key, const struct layout *l)
{
    json_open_object(w, key);
    json_put_count(w, "tensor", l->tensor);
    if (layout_has_grid(l)) {
        json_open_flat_array(w, "tensor_grid");
        for (int axis = 0; axis < 3; axis++) json_put_count(w, NULL, layout_tensor_axis(l, axis));
        json_close_array(w);
    }
    json_put_count(w, "context", l->context);
    json_put_count(w, "data", l->data);
    json_put_count(w, "pipeline", l->pipeline);
    json_put_count(w, "expert", l->expert);
    json_put_count(w, "virtual_stages", l->virtual_stages);
    json_put_count(w, "micro_batch", l->micro_batch);
    json_put_text(w, "schedule", schedule_names[l->schedule]);
    json_put_bool(w, "sequence_parallel", l->sequence_parallel);
    json_put_bool(w, "fused_attention", l->fused_attention);
    json_put_text(w, "gradient_sync", gradient_sync_names[l->gradient_sync]);
    json_put_bool(w, "fused_embedding_sync", l->fused_embedding_sync);
    json_put_count(w, "zero", l->zero);
    json_put_bool(w, "offload_optimizer", l->offload_optimizer);
    json_put_bool(w, "barrier", l->barrier);
    json_put_count(w, "local_loss_every", l->local_loss_every);
    if (l->slice_count > 1) {
        json_open_flat_array(w, "slices");
        for (int i = 0; i < l->slice_count; i++) json_put_count(w, NULL, l->slices[i]);
        json_close_array(w);
    }
    json_close_object(w);
}

// Lengths in tokens; an absent list is the whole sequence in one.
static enum status get_slices(const struct json *array, struct layout *l, struct arena *arena,
                              struct error *err)
{
    l->slice_count = 1;
    if (!json_is_present(array)) return OK;
    int count = json_length(array);
    if (count < 2 || count > SLICES_MAX)
        return json_refuse(array, err, "expected 2 to %d lengths, found %d", SLICES_MAX, count);
    int64_t *lengths;
    TRY(json_counts(array, 1, SLICE_TOKENS_MAX, &lengths, &count, arena, err));
    l->slice_count = count;
    for (int i = 0; i < count; i++) l->slices[i] = (int)lengths[i];
    return OK;
}

// Three axes whose product is the tensor degree; all of it on the first is no grid.
static enum status get_grid(const struct json *array, struct layout *l, struct arena *arena,
                            struct error *err)
{
    int64_t *axes;
    int count = json_length(array);
    if (!json_is_present(array)) return OK;
    if (count != 3) return json_refuse(array, err, "expected 3 axes, found %d", count);
    TRY(json_counts(array, 1, DEGREE_MAX, &axes, &count, arena, err));
    if (axes[0] * axes[1] * axes[2] != l->tensor)
        return json_refuse(array, err, "expected axes whose product is tensor %d, found %lld",
                           l->tensor, (long long)(axes[0] * axes[1] * axes[2]));
    if (axes[0] < l->tensor) l->grid_depth = (int)axes[1], l->grid_rows = (int)axes[2];
    return OK;
}

enum status layout_get(const struct json *object, struct layout *l, struct arena *arena,
                       struct error *err)
{
    struct json slices = {0}, grid = {0};
    *l = (struct layout){.tensor = 1,
                         .context = 1,
                         .data = 1,
                         .expert = 1,
                         .virtual_stages = 1,
                         .micro_batch = 1,
                         .schedule = SCHEDULE_1F1B,
                         .gradient_sync = SYNC_EXPOSED,
                         .barrier = true};
    struct json_field fields[] = {
        FIELD_INT("tensor", OPTIONAL, &l->tensor, 1, DEGREE_MAX),
        FIELD_INT("context", OPTIONAL, &l->context, 1, DEGREE_MAX),
        FIELD_INT("data", OPTIONAL, &l->data, 1, DEGREE_MAX),
        FIELD_INT("pipeline", REQUIRED, &l->pipeline, 1, STAGES_MAX),
        FIELD_INT("expert", OPTIONAL, &l->expert, 1, DEGREE_MAX),
        FIELD_INT("virtual_stages", OPTIONAL, &l->virtual_stages, 1, STAGES_MAX),
        FIELD_INT("micro_batch", OPTIONAL, &l->micro_batch, 1, RANK_MAX),
        FIELD_NAME("schedule", OPTIONAL, &l->schedule, schedule_names),
        FIELD_BOOL("sequence_parallel", OPTIONAL, &l->sequence_parallel),
        FIELD_BOOL("fused_attention", OPTIONAL, &l->fused_attention),
        FIELD_NAME("gradient_sync", OPTIONAL, &l->gradient_sync, gradient_sync_names),
        FIELD_BOOL("fused_embedding_sync", OPTIONAL, &l->fused_embedding_sync),
        FIELD_INT("zero", OPTIONAL, &l->zero, 0, 3),
        FIELD_BOOL("offload_optimizer", OPTIONAL, &l->offload_optimizer),
        FIELD_BOOL("barrier", OPTIONAL, &l->barrier),
        FIELD_INT("local_loss_every", OPTIONAL, &l->local_loss_every, 0, STAGES_MAX),
        FIELD_ARRAY("slices", OPTIONAL, &slices),
        FIELD_ARRAY("tensor_grid", OPTIONAL, &grid),
    };
    TRY(JSON_FIELDS(object, fields, arena, err));
    TRY(get_grid(&grid, l, arena, err));
    return get_slices(&slices, l, arena, err);
}

// How many stages a rank has, and slices a sequence, is the schedule's own.
static enum status check_stages(const struct layout *l, const char *file, struct error *err)
{
    const char *name = schedule_names[l->schedule];
    int wanted = schedule_kinds[l->schedule].virtual_stages;
    bool sliced = schedule_kinds[l->schedule].slices;
    if (layout_stage_count(l) > STAGES_MAX)
        return fail(err, BAD_INPUT,
                    "%s: layout: pipeline x virtual_stages: expected at most %d stages, found %d",
                    file, STAGES_MAX, layout_stage_count(l));
    if (wanted ? l->virtual_stages != wanted : l->virtual_stages < 2)
        return fail(err, BAD_INPUT, "%s: layout.virtual_stages: %s expects %s, found %d", file,
                    name,
                    wanted == 1   ? "1"
                    : wanted == 2 ? "2"
                                  : "at least 2",
                    l->virtual_stages);
    if (l->virtual_stages > 1 && l->pipeline < 2 && !schedule_kinds[l->schedule].layered)
        return fail(err, BAD_INPUT, "%s: layout.pipeline: %s expects at least 2, found %d", file,
                    name, l->pipeline);
    if (sliced ? l->slice_count < 2 : l->slice_count != 1)
        return fail(err, BAD_INPUT, "%s: layout.slices: %s expects %s, found %d", file, name,
                    sliced ? "2 to 32 lengths" : "none", l->slice_count);
    if (l->slice_count < 1 || l->slice_count > SLICES_MAX || l->local_loss_every < 0)
        return fail(err, BAD_INPUT, "%s: layout: slices or local_loss_every is out of range", file);
    return OK;
}

enum status layout_check(const struct layout *l, const char *file, struct error *err)
{
    const struct {
        const char *key;
        int value, high;
    } degrees[] = {
        {"tensor", l->tensor, DEGREE_MAX},
        {"context", l->context, DEGREE_MAX},
        {"data", l->data, DEGREE_MAX},
        {"pipeline", l->pipeline, STAGES_MAX},
        {"expert", l->expert, DEGREE_MAX},
        {"virtual_stages", l->virtual_stages, STAGES_MAX},
        {"micro_batch", l->micro_batch, RANK_MAX},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(degrees); i++)
        if (degrees[i].value < 1 || degrees[i].value > degrees[i].high)
            return fail(err, BAD_INPUT, "%s: layout.%s: expected 1 to %d, found %d", file,
                        degrees[i].key, degrees[i].high, degrees[i].value);
    if ((int64_t)l->data * l->context % l->expert)
        return fail(err, BAD_INPUT,
                    "%s: layout.expert: expected a divisor of data x context %lld, found %d", file,
                    (long long)l->data * l->context, l->expert);
    if (l->zero < 0 || l->zero > 3)
        return fail(err, BAD_INPUT, "%s: layout.zero: expected 0 to 3, found %d", file, l->zero);
    int64_t inner = (int64_t)l->grid_depth * l->grid_rows;
    if (inner < 0 || inner == 1 || l->grid_depth < 0 || (inner > 1 && l->tensor % inner) ||
        (inner == 0 && (l->grid_depth || l->grid_rows)))
        return fail(err, BAD_INPUT,
                    "%s: layout.tensor_grid: expected axes whose product is tensor %d", file,
                    l->tensor);
    TRY(check_stages(l, file, err));
    double devices = (double)l->tensor * l->context * l->data;
    if (devices > 1e9)
        return fail(err, BAD_INPUT,
                    "%s: layout: tensor x context x data: expected at most 1e9 devices per stage, "
                    "found %.0f",
                    file, devices);
    return OK;
}

// ---- budget

void budget_put(struct json_writer *w, const char *key, const struct quality_budget *b)
{
    json_open_flat_object(w, key);
    if (b->boundaries_max >= 0) json_put_count(w, "boundaries_max", b->boundaries_max);
    if (b->stages_max >= 0) json_put_count(w, "stages_max", b->stages_max);
    if (b->cost_max >= 0) json_put_count(w, "cost_max", b->cost_max);
    json_put_count(w, "rank_min", b->rank_min);
    json_close_object(w);
}

// An absent object is a budget without limits, and so is an absent key.
enum status budget_get(const struct json *object, struct quality_budget *b, struct arena *arena,
                       struct error *err)
{
    *b = (struct quality_budget){.boundaries_max = -1, .stages_max = -1, .cost_max = -1};
    if (!json_is_present(object)) return OK;
    struct json_field fields[] = {
        FIELD_COUNT("boundaries_max", OPTIONAL, &b->boundaries_max, 0, STAGES_MAX),
        FIELD_COUNT("stages_max", OPTIONAL, &b->stages_max, 0, STAGES_MAX),
        FIELD_COUNT("cost_max", OPTIONAL, &b->cost_max, 0, (double)QUALITY_MAX * 1024),
        FIELD_INT("rank_min", OPTIONAL, &b->rank_min, 0, RANK_MAX),
    };
    return JSON_FIELDS(object, fields, arena, err);
}

enum status budget_check(const struct quality_budget *b, const char *file, struct error *err)
{
    if (b->boundaries_max < -1 || b->stages_max < -1 || b->cost_max < -1 || b->rank_min < 0 ||
        b->rank_min > RANK_MAX || b->boundaries_max > STAGES_MAX || b->stages_max > STAGES_MAX ||
        b->cost_max > QUALITY_MAX * 1024)
        return fail(err, BAD_INPUT, "%s: budget: a limit is out of range", file);
    return OK;
}

// ---- compression

const char *const compression_keys[] = {"rank", "kept_per_thousand", "bits", NULL};

const char *compression_text(struct compression_form form, struct arena *arena)
{
    if (!form.amount) return "none";
    if (form.method == COMPRESS_LOW_RANK) return arena_print(arena, "rank %d", form.amount);
    if (form.method == COMPRESS_QUANTISE)
        return arena_print(arena, form.amount > 1 ? "%d bits" : "%d bit", form.amount);
    return arena_print(arena, "the largest %g %%", form.amount / 10.0);
}

void compressions_put(struct json_writer *w, const char *key, bool of_boundaries,
                      const struct compression_option *options, int count)
{
    json_open_array(w, key);
    for (int i = 0; i < count; i++) {
        json_open_flat_object(w, NULL);
        json_put_count(w, compression_keys[options[i].form.method], options[i].form.amount);
        if (of_boundaries) json_put_bool(w, "epilogue_only", options[i].epilogue_only);
        json_put_count(w, "quality_cost", options[i].quality_cost);
        if (options[i].forgets) json_put_bool(w, "error_feedback", false);
        if (options[i].offloaded_percent)
            json_put_count(w, "offloaded_percent", options[i].offloaded_percent);
        json_close_object(w);
    }
    json_close_array(w);
}

static enum status form_get(const struct json *element, const int amounts[],
                            struct compression_form *to, struct error *err)
{
    int found = 0;
    for (int i = 0; i < COMPRESSION_METHOD_COUNT; i++)
        if (amounts[i] >= 0) *to = (struct compression_form){i, amounts[i]}, found++;
    if (found != 1)
        return json_refuse(element, err, "expected one of rank, kept_per_thousand and bits");
    if (to->method == COMPRESS_QUANTISE && to->amount != 8 && to->amount != 4 && to->amount != 1)
        return json_refuse(element, err, "bits: expected 1, 4 or 8, found %d", to->amount);
    return OK;
}

enum status compressions_get(const struct json *array, bool of_boundaries, int rank_min,
                             struct compression_option **options, int *count, struct arena *arena,
                             struct error *err)
{
    int most = OPTIONS_MAX + (rank_min == 0);
    *count = json_length(array);
    if (*count > most)
        return json_refuse(array, err, "expected at most %d options, found %d", most, *count);
    *options = TAKE(arena, *count, struct compression_option);
    for (int i = 0; i < *count; i++) {
        struct json element = json_element(array, i, arena);
        struct compression_option *o = &(*options)[i];
        bool feedback = true;
        int amounts[COMPRESSION_METHOD_COUNT] = {-1, -1, -1};
        struct json_field fields[] = {
            FIELD_INT("rank", OPTIONAL, &amounts[COMPRESS_LOW_RANK], rank_min, RANK_MAX),
            FIELD_INT("kept_per_thousand", OPTIONAL, &amounts[COMPRESS_TOP_K], 1, 999),
            FIELD_INT("bits", OPTIONAL, &amounts[COMPRESS_QUANTISE], 1, 8),
            FIELD_COUNT("quality_cost", OPTIONAL, &o->quality_cost, 0, QUALITY_MAX),
            FIELD_BOOL("error_feedback", OPTIONAL, &feedback),
            FIELD_BOOL("epilogue_only", OPTIONAL, &o->epilogue_only),
        };
        if (!of_boundaries)
            fields[5] = (struct json_field)FIELD_INT("offloaded_percent", OPTIONAL,
                                                     &o->offloaded_percent, 0, 100);
        TRY(json_fields(&element, fields, of_boundaries || !rank_min ? 6 : 5, JSON_STRICT, arena,
                        err));
        TRY(form_get(&element, amounts, &o->form, err));
        o->forgets = !feedback;
    }
    return OK;
}

// ---- sets of names

void set_put(struct json_writer *w, const char *key, const char *const *names, const bool *set)
{
    json_open_flat_array(w, key);
    for (int i = 0; names[i]; i++)
        if (set[i]) json_put_text(w, NULL, names[i]);
    json_close_array(w);
}

// "a", "b" or "c".
static const char *alternatives(const char *const *names, struct arena *arena)
{
    const char *text = arena_print(arena, "\"%s\"", names[0]);
    for (int i = 1; names[i]; i++)
        text = arena_print(arena, "%s%s\"%s\"", text, names[i + 1] ? ", " : " or ", names[i]);
    return text;
}

enum status set_get(const struct json *array, const char *const *names, bool *set,
                    struct arena *arena, struct error *err)
{
    const char **found;
    int count;
    TRY(json_texts(array, &found, &count, arena, err));
    for (int i = 0; i < count; i++) {
        int at = 0;
        while (names[at] && strcmp(names[at], found[i])) at++;
        struct json element = json_element(array, i, arena);
        if (!names[at])
            return json_refuse(&element, err, "expected %s, found \"%.40s\"",
                               alternatives(names, arena), found[i]);
        if (set[at]) return json_refuse(&element, err, "\"%s\" stands twice", found[i]);
        set[at] = true;
    }
    return OK;
}

void modes_put(struct json_writer *w, const char *key, const bool modes[RECOMPUTE_COUNT])
{
    set_put(w, key, recompute_names, modes);
}

enum status modes_get(const struct json *array, bool modes[RECOMPUTE_COUNT], struct arena *arena,
                      struct error *err)
{
    return set_get(array, recompute_names, modes, arena, err);
}

// ---- rules

static void put_rule(struct json_writer *w, const struct rule *r)
{
    json_open_flat_object(w, NULL);
    json_put_text(w, "action", rule_action_names[r->action]);
    if (r->stage >= 0) json_put_count(w, "stage", r->stage);
    if (r->group_count) {
        json_open_array(w, "groups");
        for (int i = 0; i < r->group_count; i++) json_put_text(w, NULL, r->groups[i]);
        json_close_array(w);
    }
    if (r->holds_first >= 0) {
        json_put_count(w, "holds_first", r->holds_first);
        json_put_count(w, "holds_last", r->holds_last);
    }
    if (r->run) json_put_text(w, "run", r->run);
    if (r->layers_min >= 0) json_put_count(w, "layers_min", r->layers_min);
    if (r->layers_max >= 0) json_put_count(w, "layers_max", r->layers_max);
    if (r->recompute_stated) modes_put(w, "recompute", r->recompute);
    if (r->compresses_gradient >= 0)
        json_put_bool(w, "compresses_gradient", r->compresses_gradient);
    if (r->compresses_boundary >= 0)
        json_put_bool(w, "compresses_boundary", r->compresses_boundary);
    json_close_object(w);
}

void rules_put(struct json_writer *w, const char *key, const struct rule *rules, int count)
{
    json_open_array(w, key);
    for (int i = 0; i < count; i++) put_rule(w, &rules[i]);
    json_close_array(w);
}

const struct rule rule_empty = {.action = RULE_REQUIRE,
                                .stage = -1,
                                .holds_first = -1,
                                .holds_last = -1,
                                .layers_min = -1,
                                .layers_max = -1,
                                .compresses_gradient = -1,
                                .compresses_boundary = -1};

static enum status read_flag(const struct json *object, const char *key, int *to,
                             struct arena *arena, struct error *err)
{
    bool no = false, yes = true; // a missing key leaves both as they are: they differ
    struct json_field first[] = {FIELD_BOOL(key, OPTIONAL, &no)},
                      second[] = {FIELD_BOOL(key, OPTIONAL, &yes)};
    TRY(json_fields(object, first, 1, JSON_ENVELOPE, arena, err));
    TRY(json_fields(object, second, 1, JSON_ENVELOPE, arena, err));
    *to = no == yes ? yes : -1;
    return OK;
}

static enum status read_rule(const struct json *object, struct rule *r, struct arena *arena,
                             struct error *err)
{
    struct json groups = {0}, recompute = {0};
    *r = (struct rule){
        .stage = -1, .holds_first = -1, .holds_last = -1, .layers_min = -1, .layers_max = -1};
    struct json_field fields[] = {
        FIELD_NAME("action", REQUIRED, &r->action, rule_action_names),
        FIELD_INT("stage", OPTIONAL, &r->stage, 0, STAGES_MAX - 1),
        FIELD_ARRAY("groups", OPTIONAL, &groups),
        FIELD_INT("holds_first", OPTIONAL, &r->holds_first, 0, 1 << 20),
        FIELD_INT("holds_last", OPTIONAL, &r->holds_last, 0, 1 << 20),
        FIELD_TEXT("run", OPTIONAL, &r->run),
        FIELD_INT("layers_min", OPTIONAL, &r->layers_min, 0, 1 << 20),
        FIELD_INT("layers_max", OPTIONAL, &r->layers_max, 0, 1 << 20),
        FIELD_ARRAY("recompute", OPTIONAL, &recompute),
        {.key = "compresses_gradient", .type = JSON_SKIP, .need = OPTIONAL},
        {.key = "compresses_boundary", .type = JSON_SKIP, .need = OPTIONAL},
    };
    TRY(JSON_FIELDS(object, fields, arena, err));
    TRY(read_flag(object, "compresses_gradient", &r->compresses_gradient, arena, err));
    TRY(read_flag(object, "compresses_boundary", &r->compresses_boundary, arena, err));
    if (r->holds_first >= 0 && r->holds_last < 0) r->holds_last = r->holds_first;
    if (json_is_present(&groups)) {
        if (json_length(&groups) < 1 || json_length(&groups) > RULE_GROUPS_MAX)
            return json_refuse(&groups, err, "expected 1 to %d names, found %d", RULE_GROUPS_MAX,
                               json_length(&groups));
        TRY(json_texts(&groups, &r->groups, &r->group_count, arena, err));
    }
    if (!json_is_present(&recompute)) return OK;
    if (json_length(&recompute) < 1)
        return json_refuse(&recompute, err, "expected at least one mode, found none");
    r->recompute_stated = true;
    return modes_get(&recompute, r->recompute, arena, err);
}

enum status rules_get(const struct json *array, struct rule **rules, int *count,
                      struct arena *arena, struct error *err)
{
    if (json_length(array) > RULES_MAX)
        return json_refuse(array, err, "expected at most %d rules, found %d", RULES_MAX,
                           json_length(array));
    *count = json_length(array);
    *rules = TAKE(arena, *count, struct rule);
    for (int i = 0; i < *count; i++) {
        struct json rule = json_element(array, i, arena);
        TRY(read_rule(&rule, &(*rules)[i], arena, err));
    }
    return OK;
}

static enum status check_rule(const struct rule *r, int i, int stage_count, int layer_count,
                              const char *file, struct error *err)
{
    if (r->stage < -1 || r->stage >= stage_count)
        return fail(err, BAD_INPUT, "%s: rules[%d].stage: expected a stage from 0 to %d, found %d",
                    file, i, stage_count - 1, r->stage);
    if ((r->holds_first < 0) != (r->holds_last < 0) || r->holds_first > r->holds_last)
        return fail(err, BAD_INPUT,
                    "%s: rules[%d]: expected holds_first <= holds_last, found %d and %d", file, i,
                    r->holds_first, r->holds_last);
    if (layer_count && r->holds_last >= layer_count)
        return fail(err, BAD_INPUT,
                    "%s: rules[%d].holds_last: expected a layer from 0 to %d, found %d", file, i,
                    layer_count - 1, r->holds_last);
    if (r->layers_min >= 0 && r->layers_max >= 0 && r->layers_min > r->layers_max)
        return fail(err, BAD_INPUT,
                    "%s: rules[%d]: expected layers_min <= layers_max, found %d and %d", file, i,
                    r->layers_min, r->layers_max);
    bool counts = r->layers_min >= 0 || r->layers_max >= 0;
    if (r->run && !counts)
        return fail(err, BAD_INPUT, "%s: rules[%d].run: needs layers_min or layers_max beside it",
                    file, i);
    if (!counts && !r->group_count && r->holds_first < 0 && !r->recompute_stated &&
        r->compresses_gradient < 0 && r->compresses_boundary < 0)
        return fail(err, BAD_INPUT, "%s: rules[%d]: expected at least one condition, found none",
                    file, i);
    return OK;
}

enum status rules_check(const struct rule *rules, int count, int stage_count, int layer_count,
                        const char *file, struct error *err)
{
    for (int i = 0; i < count; i++)
        TRY(check_rule(&rules[i], i, stage_count, layer_count, file, err));
    return OK;
}
