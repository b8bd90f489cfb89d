// The `space` of a job: {"all": [keys], key: [values] ..., "fewer_devices": bool,
// "framework": name, "slice_tokens": count, "tensor_grids": bool}. Switches are
// listed as 0 and 1, schedules and gradient_sync by name.
#include <string.h>

#include "data/inputs/job_fields.h"
#include "data/inputs/space.h"

const char *const space_key_names[] = {"tensor",
                                       "context",
                                       "pipeline",
                                       "data",
                                       "schedule",
                                       "virtual_stages",
                                       "micro_batch",
                                       "sequence_parallel",
                                       "zero",
                                       "gradient_sync",
                                       "offload_optimizer",
                                       "barrier",
                                       "fused_embedding_sync",
                                       "local_loss_every",
                                       "slice_count",
                                       NULL};

static const char *const *names_of(int key)
{
    return key == SPACE_SCHEDULE        ? schedule_names
           : key == SPACE_GRADIENT_SYNC ? gradient_sync_names
                                        : NULL;
}

static int find_name(const char *const *names, const char *name)
{
    for (int i = 0; names[i]; i++)
        if (!strcmp(names[i], name)) return i;
    return -1;
}

static const struct {
    int low, high;
} limits_of[SPACE_KEY_COUNT] = {
    [SPACE_TENSOR] = {1, DEGREE_MAX},         [SPACE_CONTEXT] = {1, DEGREE_MAX},
    [SPACE_PIPELINE] = {1, STAGES_MAX},       [SPACE_DATA] = {1, DEGREE_MAX},
    [SPACE_VIRTUAL_STAGES] = {1, STAGES_MAX}, [SPACE_MICRO_BATCH] = {1, RANK_MAX},
    [SPACE_SEQUENCE_PARALLEL] = {0, 1},       [SPACE_ZERO] = {0, 3},
    [SPACE_OFFLOAD_OPTIMIZER] = {0, 1},       [SPACE_BARRIER] = {0, 1},
    [SPACE_FUSED_EMBEDDING_SYNC] = {0, 1},    [SPACE_LOCAL_LOSS_EVERY] = {0, STAGES_MAX},
    [SPACE_SLICE_COUNT] = {2, SLICES_MAX},
};

enum { AXIS_VALUES_MAX = 256 };

static enum status get_list(const struct json *array, int key, struct space_axis *axis,
                            struct arena *arena, struct error *err)
{
    const char *const *names = names_of(key);
    const char **texts = NULL;
    int64_t *counts = NULL;
    int count = json_length(array);
    if (count < 1 || count > AXIS_VALUES_MAX)
        return json_refuse(array, err, "expected 1 to %d values, found %d", AXIS_VALUES_MAX, count);
    if (names) TRY(json_texts(array, &texts, &count, arena, err));
    else
        TRY(json_counts(array, limits_of[key].low, limits_of[key].high, &counts, &count, arena,
                        err));
    *axis = (struct space_axis){AXIS_LIST, TAKE(arena, count, int), count};
    for (int i = 0; i < count; i++) {
        axis->values[i] = names ? find_name(names, texts[i]) : (int)counts[i];
        if (axis->values[i] < 0) {
            struct json element = json_element(array, i, arena);
            return json_refuse(&element, err, "expected a %s, found \"%.40s\"",
                               space_key_names[key], texts[i]);
        }
        for (int k = 0; k < i; k++)
            if (axis->values[k] == axis->values[i])
                return json_refuse(array, err, "a value stands twice");
    }
    return OK;
}

enum status space_get(const struct json *object, void *to, const void *context, struct arena *arena,
                      struct error *err)
{
    struct space *space = to;
    (void)context;
    struct json lists[SPACE_KEY_COUNT] = {0}, all = {0};
    struct json_field fields[SPACE_KEY_COUNT + 5];
    const char **names;
    int count;
    *space = (struct space){.given = json_is_present(object)};
    if (!space->given) return OK;
    for (int key = 0; key < SPACE_KEY_COUNT; key++)
        fields[key] = (struct json_field)FIELD_ARRAY(space_key_names[key], OPTIONAL, &lists[key]);
    fields[SPACE_KEY_COUNT] = (struct json_field)FIELD_ARRAY("all", OPTIONAL, &all);
    fields[SPACE_KEY_COUNT + 1] =
        (struct json_field)FIELD_BOOL("fewer_devices", OPTIONAL, &space->fewer_devices);
    fields[SPACE_KEY_COUNT + 2] =
        (struct json_field)FIELD_NAME("framework", OPTIONAL, &space->framework, framework_names);
    fields[SPACE_KEY_COUNT + 3] = (struct json_field)FIELD_INT(
        "slice_tokens", OPTIONAL, &space->slice_tokens, 1, SLICE_TOKENS_MAX);
    fields[SPACE_KEY_COUNT + 4] =
        (struct json_field)FIELD_BOOL("tensor_grids", OPTIONAL, &space->tensor_grids);
    TRY(JSON_FIELDS(object, fields, arena, err));
    TRY(json_texts(&all, &names, &count, arena, err));
    for (int i = 0; i < count; i++) {
        int key = find_name(space_key_names, names[i]);
        struct json element = json_element(&all, i, arena);
        if (key < 0)
            return json_refuse(&element, err,
                               "expected a key of the layout that can be chosen, found \"%.40s\"",
                               names[i]);
        if (space->axes[key].kind == AXIS_ALL)
            return json_refuse(&element, err, "\"%s\" stands twice", names[i]);
        space->axes[key].kind = AXIS_ALL;
    }
    for (int key = 0; key < SPACE_KEY_COUNT; key++) {
        if (!json_is_present(&lists[key])) continue;
        if (space->axes[key].kind == AXIS_ALL)
            return json_refuse(&lists[key], err, "is in \"all\" already");
        TRY(get_list(&lists[key], key, &space->axes[key], arena, err));
    }
    return OK;
}

static void put_list(struct json_writer *w, int key, const struct space_axis *axis)
{
    const char *const *names = names_of(key);
    json_open_flat_array(w, space_key_names[key]);
    for (int i = 0; i < axis->count; i++) {
        if (names) json_put_text(w, NULL, names[axis->values[i]]);
        else json_put_count(w, NULL, axis->values[i]);
    }
    json_close_array(w);
}

void space_put(struct json_writer *w, const char *key, const void *from, const void *context)
{
    const struct space *space = from;
    (void)context;
    if (!space->given) return;
    json_open_object(w, key);
    json_open_flat_array(w, "all");
    for (int i = 0; i < SPACE_KEY_COUNT; i++)
        if (space->axes[i].kind == AXIS_ALL) json_put_text(w, NULL, space_key_names[i]);
    json_close_array(w);
    for (int i = 0; i < SPACE_KEY_COUNT; i++)
        if (space->axes[i].kind == AXIS_LIST) put_list(w, i, &space->axes[i]);
    json_put_bool(w, "fewer_devices", space->fewer_devices);
    if (space->framework != FRAMEWORK_ANY)
        json_put_text(w, "framework", framework_names[space->framework]);
    if (space->tensor_grids) json_put_bool(w, "tensor_grids", true);
    if (space->slice_tokens) json_put_count(w, "slice_tokens", space->slice_tokens);
    json_close_object(w);
}
