// Samples: load and save. Raw repetitions in the order in which they were taken, with their origin.
#include "data/numbers/samples.h"

#include <string.h>

#include "data/inputs/model/model.h"
#include "data/text/members.h"

const char *const sample_kind_names[] = {
    "gemm",      "attention",         "memory", "low_rank",   "overhead", "layer",
    "optimizer", "transfer",          "link",   "collective", "top_k",    "quantise",
    "grouped",   "context_attention", "rotary", "dropout",    "cast",     NULL};

const char *const before_names[] = {"unknown", "rest", "same", "load", NULL};
const char *const algorithm_names[] = {"unknown", "first", "best", NULL};
const char *const recipe_names[] = {"none", "tensor", "block", "mx", NULL};

static const char *const stop_names[] = {"width",       "budget",   "count",
                                         "interrupted", "imported", NULL};

#define SIZE_MAX_EACH 9007199254740992.0
#define SECONDS_MAX 1e6
#define SEED_MAX 9007199254740992.0
enum {
    SAMPLES_MAX = 1 << 20,
    REPETITIONS_MAX = 1000000,
    THREADS_MAX = 65536,
    LAUNCHES_MAX = 1024,
    ENDPOINTS_MAX = 65536,
    QUANTITIES_MAX = 256,
    OBSERVATIONS_MAX = 1 << 24
};

static const struct member machine_rows[] = {
    KEY_TEXT(machine, host, OPTIONAL),
    KEY_TEXT(machine, processor, OPTIONAL),
    KEY_TEXT(machine, gpu, REQUIRED),
    KEY_COUNT(machine, memory_bytes, REQUIRED, ALWAYS_WRITTEN, 0, JSON_COUNT_MAX),
    KEY_INT(machine, threads, REQUIRED, ALWAYS_WRITTEN, 1, THREADS_MAX),
    KEY_TEXT(machine, library, OPTIONAL),
    KEY_TEXT(machine, driver, OPTIONAL),
    KEY_TEXT(machine, taken_at, OPTIONAL),
};
static MEMBERS(machine, struct machine, NULL, false, NULL);

static const struct member condition_rows[] = {
    KEY_INT(condition, first, REQUIRED, ALWAYS_WRITTEN, 0, REPETITIONS_MAX - 1),
    KEY_NUMBER(condition, clock_hz, OPTIONAL, ALWAYS_WRITTEN, 0, 1e12),
    KEY_NUMBER(condition, memory_clock_hz, OPTIONAL, ALWAYS_WRITTEN, 0, 1e12),
    KEY_NUMBER(condition, temperature_c, OPTIONAL, ALWAYS_WRITTEN, -273, 1000),
    KEY_NUMBER(condition, power_w, OPTIONAL, ALWAYS_WRITTEN, 0, 1e6),
    KEY_COUNT(condition, slowdown, OPTIONAL, ALWAYS_WRITTEN, 0, JSON_COUNT_MAX),
};
static MEMBERS(condition, struct condition, NULL, true, NULL);

static const struct member launch_rows[] = {
    KEY_TEXT(launch, host, OPTIONAL),
    KEY_TEXT(launch, taken_at, OPTIONAL),
    KEY_COUNT(launch, seed, OPTIONAL, ALWAYS_WRITTEN, 0, SEED_MAX),
    KEY_TEXT(launch, command, OPTIONAL),
};
static MEMBERS(launch, struct launch, NULL, true, NULL);

static const struct endpoint endpoint_initial = {.device = -1, .clock = -1};
static const struct member endpoint_rows[] = {
    KEY_TEXT(endpoint, name, REQUIRED),
    KEY_TEXT(endpoint, host, OPTIONAL),
    KEY_INT(endpoint, device, OPTIONAL, IF_STATED, 0, ENDPOINTS_MAX),
    KEY_INT(endpoint, clock, OPTIONAL, IF_STATED, 0, ENDPOINTS_MAX),
};
static MEMBERS(endpoint, struct endpoint, &endpoint_initial, true, NULL);

GET_MEMBER(finish_quantity)
{
    struct json values = json_member(value, "values", arena);
    if (((const struct quantity *)to)->value_count) return OK;
    return json_refuse(&values, err, "expected at least one observation, found none");
}

static const struct member quantity_rows[] = {
    KEY_TEXT(quantity, name, REQUIRED),
    KEY_ARRAY(quantity, values, value_count, JSON_NUMBER, REQUIRED, ALWAYS_WRITTEN, 0, 1e30,
              OBSERVATIONS_MAX),
};
static MEMBERS(quantity, struct quantity, NULL, true, finish_quantity);

// The context of these functions is all samples.
GET_MEMBER(get_dimensions)
{
    struct sample *s = to;
    int64_t *sizes;
    if (json_length(value) > (int)ARRAY_LENGTH(s->dimensions))
        return json_refuse(value, err, "expected at most %d sizes, found %d",
                           (int)ARRAY_LENGTH(s->dimensions), json_length(value));
    TRY(json_counts(value, 0, SIZE_MAX_EACH, &sizes, &s->dimension_count, arena, err));
    for (int i = 0; i < s->dimension_count; i++) s->dimensions[i] = sizes[i];
    return OK;
}

PUT_MEMBER(put_dimensions)
{
    const struct sample *s = from;
    json_put_counts(w, key, s->dimensions, s->dimension_count);
}

PUT_MEMBER(put_alone)
{
    const struct sample *s =
        (const struct sample *)((const char *)from - offsetof(struct sample, alone));
    if (s->kind == SAMPLE_LINK || s->kind == SAMPLE_COLLECTIVE) json_put_bool(w, key, s->alone);
}

// The parts of a model's shape on which a layer's time depends.
enum { WIDTH_MAX = 1 << 26 };
static const struct member shape_rows[] = {
    KEY_COUNT(shape, hidden, REQUIRED, ALWAYS_WRITTEN, 1, WIDTH_MAX),
    KEY_COUNT(shape, ffn, REQUIRED, ALWAYS_WRITTEN, 1, WIDTH_MAX),
    KEY_COUNT(shape, heads, REQUIRED, ALWAYS_WRITTEN, 1, WIDTH_MAX),
    KEY_COUNT(shape, kv_heads, REQUIRED, ALWAYS_WRITTEN, 1, WIDTH_MAX),
    KEY_COUNT(shape, head_width, REQUIRED, ALWAYS_WRITTEN, 1, WIDTH_MAX),
    KEY_COUNT(shape, vocabulary, REQUIRED, ALWAYS_WRITTEN, 1, WIDTH_MAX),
    KEY_COUNT(shape, positions, OPTIONAL, IF_SET, 0, WIDTH_MAX),
    KEY_BOOL(shape, gated_ffn, OPTIONAL, IF_SET),
    KEY_BOOL(shape, rms_norm, OPTIONAL, IF_SET),
};
static MEMBERS(shape, struct shape, NULL, true, NULL);

int sample_compare_manner(const struct sample *a, const struct sample *b)
{
    const int of_both[][2] = {{(int)a->before, (int)b->before},
                              {a->in_a_row, b->in_a_row},
                              {a->busy_devices, b->busy_devices},
                              {(int)a->algorithm, (int)b->algorithm},
                              {a->sequence_parallel, b->sequence_parallel},
                              {a->fp32_gradients, b->fp32_gradients},
                              {(int)a->recipe, (int)b->recipe},
                              {a->shared, b->shared}};
    for (size_t i = 0; i < ARRAY_LENGTH(of_both); i++)
        if (of_both[i][0] != of_both[i][1]) return of_both[i][0] > of_both[i][1] ? 1 : -1;
    return 0;
}

int sample_compare_shapes(const struct shape *a, const struct shape *b)
{
    if (!a || !b) return (a != NULL) - (b != NULL);
    const int64_t of_both[][2] = {{a->hidden, b->hidden},         {a->ffn, b->ffn},
                                  {a->heads, b->heads},           {a->kv_heads, b->kv_heads},
                                  {a->head_width, b->head_width}, {a->vocabulary, b->vocabulary},
                                  {a->positions, b->positions},   {a->gated_ffn, b->gated_ffn},
                                  {a->rms_norm, b->rms_norm}};
    for (size_t i = 0; i < ARRAY_LENGTH(of_both); i++)
        if (of_both[i][0] != of_both[i][1]) return of_both[i][0] > of_both[i][1] ? 1 : -1;
    return 0;
}

GET_MEMBER(get_shape)
{
    struct sample *s = to;
    if (!json_is_present(value)) return OK;
    TRY(json_expect(value, JSON_OBJECT, err));
    if (s->kind != SAMPLE_LAYER)
        return json_refuse(value, err, "expected a shape only for whole layers");
    struct shape *shape = TAKE(arena, 1, struct shape);
    s->shape = shape;
    TRY(members_read(value, &shape_members, shape, NULL, arena, err));
    if (shape->heads % shape->kv_heads == 0) return OK;
    return json_refuse(value, err, "expected kv_heads to divide heads, found %lld and %lld",
                       (long long)shape->kv_heads, (long long)shape->heads);
}

PUT_MEMBER(put_shape)
{
    const struct sample *s = from;
    if (s->shape) members_write(w, key, &shape_members, s->shape, NULL);
}

GET_MEMBER(get_launch_repetitions)
{
    struct sample *s = to;
    int count, launches = ((const struct samples *)context)->launch_count;
    int64_t sum = 0;
    if (!json_is_present(value)) return OK;
    TRY(json_ints(value, 0, REPETITIONS_MAX, &s->launch_repetitions, &count, arena, err));
    for (int i = 0; i < count; i++) sum += s->launch_repetitions[i];
    if (count == launches && sum == s->repetitions) return OK;
    return json_refuse(
        value, err, "expected one number for each of %d launches, %d in all, found %d, %lld in all",
        launches, s->repetitions, count, (long long)sum);
}

PUT_MEMBER(put_launch_repetitions)
{
    const struct sample *s = from;
    int launches = ((const struct samples *)context)->launch_count;
    if (!s->launch_repetitions) return;
    json_put_ints(w, key, s->launch_repetitions, launches);
}

static enum status check_stop(const struct json *at, const struct sample *s, struct error *err)
{
    for (int i = 0; stop_names[i]; i++)
        if (!strcmp(stop_names[i], s->stopped_by)) return OK;
    return json_refuse(at, err,
                       "expected \"width\", \"budget\", \"count\", \"interrupted\" or "
                       "\"imported\", found \"%.40s\"",
                       s->stopped_by);
}

// Checks that value `at` of this key is the number of a repetition, above the previous value.
static enum status check_ascending(const struct json *sample, const char *key, int at,
                                   const int last_and_this[2], int repetitions, struct arena *arena,
                                   struct error *err)
{
    if (last_and_this[1] > last_and_this[0] && last_and_this[1] < repetitions) return OK;
    struct json place = json_member(sample, arena_print(arena, key, at), arena);
    return json_refuse(&place, err, "expected ascending numbers of repetitions below %d, found %d",
                       repetitions, last_and_this[1]);
}

static enum status check_marks(const struct json *object, const struct sample *s,
                               struct arena *arena, struct error *err)
{
    for (int i = 0, pair[2] = {-1, -1}; i < s->outlier_count; i++) {
        pair[0] = pair[1], pair[1] = s->outliers[i];
        TRY(check_ascending(object, "outliers[%d]", i, pair, s->repetitions, arena, err));
    }
    for (int i = 0, pair[2] = {-1, -1}; i < s->condition_count; i++) {
        pair[0] = pair[1], pair[1] = s->conditions[i].first;
        TRY(check_ascending(object, "conditions[%d].first", i, pair, s->repetitions, arena, err));
    }
    return OK;
}

static enum status check_endpoint(const struct json *sample, const char *key, int endpoint,
                                  int count, struct arena *arena, struct error *err)
{
    struct json at = json_member(sample, key, arena);
    return endpoint < count
               ? OK
               : json_refuse(&at, err, "expected a whole number from 0 to %d, found %d", count - 1,
                             endpoint);
}

static enum status check_ends(const struct json *object, const struct sample *s, int endpoints,
                              struct arena *arena, struct error *err)
{
    for (int i = 0; i < s->member_count; i++)
        TRY(check_endpoint(object, "members", s->members[i], endpoints, arena, err));
    TRY(check_endpoint(object, "from", s->from, endpoints, arena, err));
    TRY(check_endpoint(object, "to", s->to, endpoints, arena, err));
    if (s->kind == SAMPLE_LINK ? s->from < 0 || s->to < 0 || s->from == s->to
                               : s->from >= 0 || s->to >= 0)
        return json_refuse(
            object, err,
            "expected two different endpoints, from and to, for a link and only there");
    if ((s->kind == SAMPLE_COLLECTIVE) != (s->member_count > 0))
        return json_refuse(object, err, "expected members for a collective, and only there");
    return OK;
}

GET_MEMBER(finish_sample)
{
    const struct sample *s = to;
    struct json seconds = json_member(value, "seconds", arena),
                stop = json_member(value, "stopped_by", arena);
    if (!s->repetitions)
        return json_refuse(&seconds, err, "expected at least one repetition, found none");
    TRY(check_stop(&stop, s, err));
    TRY(check_marks(value, s, arena, err));
    return check_ends(value, s, ((const struct samples *)context)->endpoint_count, arena, err);
}

static const struct sample sample_initial = {
    .from = -1, .to = -1, .in_a_row = 1, .busy_devices = 1};
static const struct member sample_rows[] = {
    KEY_NAME(sample, kind, REQUIRED, ALWAYS_WRITTEN, sample_kind_names),
    KEY_TEXT(sample, operation, REQUIRED),
    KEY_PART("dimensions", JSON_ARRAY, REQUIRED, 0, get_dimensions, put_dimensions),
    KEY_ROW("shape", JSON_OBJECT, OPTIONAL, ALWAYS_WRITTEN, 0, 0, 0, NULL, &shape_members, 0, 0,
            JSON_SKIP, get_shape, put_shape),
    KEY_NAME(sample, precision, REQUIRED, ALWAYS_WRITTEN, precision_names),
    KEY_NUMBER(sample, flop, REQUIRED, ALWAYS_WRITTEN, 0, 1e30),
    KEY_NUMBER(sample, bytes, REQUIRED, ALWAYS_WRITTEN, 0, 1e30),
    KEY_INT(sample, from, OPTIONAL, IF_STATED, 0, ENDPOINTS_MAX),
    KEY_INT(sample, to, OPTIONAL, IF_STATED, 0, ENDPOINTS_MAX),
    KEY_ARRAY(sample, members, member_count, JSON_INT, OPTIONAL, IF_SET, 0, ENDPOINTS_MAX,
              ENDPOINTS_MAX),
    KEY_OF("alone", JSON_BOOL, OPTIONAL, 0, offsetof(struct sample, alone), 0, 0, NULL, NULL,
           put_alone),
    KEY_NAME(sample, before, OPTIONAL, IF_SET, before_names),
    KEY_INT(sample, in_a_row, OPTIONAL, 1.0, 1, REPETITIONS_MAX),
    KEY_INT(sample, busy_devices, OPTIONAL, 1.0, 1, ENDPOINTS_MAX),
    KEY_NAME(sample, algorithm, OPTIONAL, IF_SET, algorithm_names),
    KEY_BOOL(sample, sequence_parallel, OPTIONAL, IF_SET),
    KEY_BOOL(sample, fp32_gradients, OPTIONAL, IF_SET),
    KEY_NAME(sample, recipe, OPTIONAL, IF_SET, recipe_names),
    KEY_BOOL(sample, shared, OPTIONAL, IF_SET),
    KEY_ARRAY(sample, seconds, repetitions, JSON_NUMBER, REQUIRED, ALWAYS_WRITTEN, 0, SECONDS_MAX,
              REPETITIONS_MAX),
    KEY_PART("launch_repetitions", JSON_ARRAY, OPTIONAL, 0, get_launch_repetitions,
             put_launch_repetitions),
    KEY_ARRAY(sample, outliers, outlier_count, JSON_INT, OPTIONAL, ALWAYS_WRITTEN, 0,
              REPETITIONS_MAX, REPETITIONS_MAX),
    KEY_LIST(sample, conditions, condition_count, OPTIONAL, ALWAYS_WRITTEN, REPETITIONS_MAX,
             &condition_members),
    KEY_INT(sample, warm_ups, OPTIONAL, ALWAYS_WRITTEN, 0, REPETITIONS_MAX),
    KEY_TEXT(sample, stopped_by, REQUIRED),
};
static MEMBERS(sample, struct sample, &sample_initial, false, finish_sample);

static const struct member samples_rows[] = {
    KEY_OBJECT("machine", samples, machine, REQUIRED, ALWAYS_WRITTEN, &machine_members),
    KEY_LIST(samples, launches, launch_count, OPTIONAL, ALWAYS_WRITTEN, LAUNCHES_MAX,
             &launch_members),
    KEY_LIST(samples, endpoints, endpoint_count, OPTIONAL, ALWAYS_WRITTEN, ENDPOINTS_MAX,
             &endpoint_members),
    KEY_LIST(samples, quantities, quantity_count, OPTIONAL, ALWAYS_WRITTEN, QUANTITIES_MAX,
             &quantity_members),
    KEY_LIST(samples, samples, sample_count, REQUIRED, ALWAYS_WRITTEN, SAMPLES_MAX,
             &sample_members),
};
MEMBERS(samples, struct samples, NULL, false, NULL);
const struct members samples_within_members = {
    samples_rows, ARRAY_LENGTH(samples_rows), sizeof(struct samples), NULL, false, NULL};

enum status samples_load(struct samples *s, const char *path, struct arena *arena,
                         struct error *err)
{
    *s = (struct samples){0};
    return document_load(&s->document, path, "plumbline.samples", &samples_members, s, s, arena,
                         err);
}

enum status samples_save(const struct samples *s, const char *path, struct arena *arena,
                         struct error *err)
{
    struct json_writer w;
    document_begin(&w, "plumbline.samples", s->document.sources, s->document.source_count, arena);
    members_put(&w, &samples_members, s, s);
    return document_keep(&w, path, err);
}

bool sample_is_throttled(const struct sample *s, int repetition)
{
    int64_t slowdown = 0;
    for (int i = 0; i < s->condition_count && s->conditions[i].first <= repetition; i++)
        slowdown = s->conditions[i].slowdown;
    return (slowdown & SLOWDOWN_FLAGGED) != 0;
}
