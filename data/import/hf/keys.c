// Keys of a Hugging Face config: null is different from absent, aliases, lists of layers.
#include <string.h>

#include "data/base/names.h"
#include "data/import/hf/internal.h"

bool hf_has(const struct hf_model *x, const char *key)
{
    struct error ignored = {OK, ""};
    hf_asks(x, key);
    struct json_field required[] = {{.key = key, .type = JSON_SKIP, .need = REQUIRED}};
    return json_fields(x->root, required, 1, JSON_ENVELOPE, x->arena, &ignored) == OK;
}

bool hf_is_list(const struct hf_model *x, const char *key)
{
    struct json array = {0};
    struct error ignored = {OK, ""};
    struct json_field fields[] = {FIELD_ARRAY(key, OPTIONAL, &array)};
    return json_lenient(x->root, fields, 1, x->arena, &ignored) == OK && json_is_present(&array);
}

enum status hf_fields(const struct hf_model *x, const struct json_field *fields, size_t count,
                      struct error *err)
{
    for (size_t i = 0; i < count; i++) hf_asks(x, fields[i].key);
    return json_lenient(x->root, fields, count, x->arena, err);
}

enum status hf_count(const struct hf_model *x, const char *key, int64_t *to, struct error *err)
{
    int64_t value = hf_has(x, key) ? 0 : *to;
    struct json_field fields[] = {FIELD_COUNT(key, OPTIONAL, &value, 0, HF_SIZE_MAX)};
    TRY(HF_FIELDS(x, fields, err));
    *to = value;
    return OK;
}

enum status hf_flag(const struct hf_model *x, const char *key, bool *to, struct error *err)
{
    struct json_field fields[] = {FIELD_BOOL(key, OPTIONAL, to)};
    return HF_FIELDS(x, fields, err);
}

enum status hf_text(const struct hf_model *x, const char *key, const char **to, struct error *err)
{
    struct json_field fields[] = {FIELD_TEXT(key, OPTIONAL, to)};
    return HF_FIELDS(x, fields, err);
}

enum status hf_dropout(struct hf_model *x, const struct hf_share *shares, size_t count,
                       struct error *err)
{
    x->shape.dropout = false;
    for (size_t i = 0; i < count; i++) {
        double share = shares[i].absent;
        struct json_field fields[] = {FIELD_NUMBER(shares[i].key, OPTIONAL, &share, 0, 1)};
        TRY(HF_FIELDS(x, fields, err));
        x->shape.dropout = x->shape.dropout || share > 0;
    }
    return OK;
}

static enum status list_of(const struct hf_model *x, const char *key, struct json *array,
                           struct error *err)
{
    struct json_field fields[] = {FIELD_ARRAY(key, OPTIONAL, array)};
    *array = (struct json){0};
    return HF_FIELDS(x, fields, err);
}

enum status hf_layer_list(const struct hf_model *x, const char *key, bool **listed,
                          struct error *err)
{
    struct json array;
    int64_t *numbers = NULL;
    int count = 0;
    *listed = TAKE(x->arena, x->layer_count, bool);
    TRY(list_of(x, key, &array, err));
    if (!json_is_present(&array)) return OK;
    TRY(json_counts(&array, 0, LAYERS_MAX, &numbers, &count, x->arena, err));
    int beyond = 0;
    for (int i = 0; i < count; i++)
        if (numbers[i] < x->layer_count) (*listed)[numbers[i]] = true;
        else beyond++;
    if (beyond && x->asked)
        said_line(x->asked->said, "%s: %d of its %d numbers name none of the %lld layers: left out",
                  key, beyond, count, (long long)x->layer_count);
    return OK;
}

static enum status refuse_count(const struct hf_model *x, const struct json *array, int count,
                                struct error *err)
{
    return json_refuse(array, err, "expected one of each of %lld layers, found %d",
                       (long long)x->layer_count, count);
}

static enum status read_words(const struct hf_model *x, const char *key, bool more,
                              const char ***words, struct error *err)
{
    struct json array;
    int count = 0;
    *words = NULL;
    TRY(list_of(x, key, &array, err));
    if (!json_is_present(&array)) return OK;
    TRY(json_texts(&array, words, &count, x->arena, err));
    bool right = count == x->layer_count || (more && count > x->layer_count);
    return right ? OK : refuse_count(x, &array, count, err);
}

enum status hf_layer_types(const struct hf_model *x, const char *key, const char ***types,
                           struct error *err)
{
    return read_words(x, key, false, types, err);
}

enum status hf_first_types(const struct hf_model *x, const char *key, const char ***types,
                           struct error *err)
{
    return read_words(x, key, true, types, err);
}

enum status hf_first_numbers(const struct hf_model *x, const char *key, double most,
                             int64_t **numbers, struct error *err)
{
    struct json array;
    int count = 0;
    *numbers = NULL;
    TRY(list_of(x, key, &array, err));
    if (!json_is_present(&array)) return OK;
    TRY(json_counts(&array, 0, most, numbers, &count, x->arena, err));
    return count >= x->layer_count ? OK : refuse_count(x, &array, count, err);
}

enum status hf_rotated_layers(const struct hf_model *x, bool **rotated, struct error *err)
{
    int64_t every = 4, *marks = NULL;
    int count = 0;
    struct json array = {0};
    struct json_field fields[] = {FIELD_ARRAY("no_rope_layers", OPTIONAL, &array)};
    TRY(hf_count(x, "no_rope_layer_interval", &every, err));
    TRY(HF_FIELDS(x, fields, err));
    if (every < 1)
        return json_refuse(x->root, err, "key \"no_rope_layer_interval\": expected at least 1");
    if (json_is_present(&array)) TRY(json_counts(&array, 0, 1, &marks, &count, x->arena, err));
    if (count && count != x->layer_count)
        return json_refuse(&array, err, "expected one of each of %lld layers, found %d",
                           (long long)x->layer_count, count);
    *rotated = TAKE(x->arena, x->layer_count, bool);
    for (int64_t i = 0; i < x->layer_count; i++)
        (*rotated)[i] = count ? marks[i] > 0 : (i + 1) % every != 0;
    return OK;
}

enum status hf_expect_words(const struct hf_model *x, const char **types, const char *words,
                            struct error *err)
{
    for (int64_t i = 0; types && i < x->layer_count; i++)
        if (!name_is_listed(words, types[i], strlen(types[i])))
            return json_refuse(x->root, err,
                               "key \"layer_types\": expected one of %s, found \"%s\"", words,
                               types[i]);
    return OK;
}

enum status hf_windows(struct hf_model *x, int64_t pattern, struct error *err)
{
    const char **types;
    TRY(hf_layer_types(x, "layer_types", &types, err));
    for (int64_t i = 0; i < x->layer_count; i++) {
        bool near = types ? !strcmp(types[i], "sliding_attention")
                          : pattern > 0 && (i + 1) % pattern != 0;
        if (near) x->layers[i].window = x->window;
    }
    return OK;
}
