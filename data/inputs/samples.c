// Samples: load and save. Raw repetitions in the order taken, with where they come from.
#include "data/inputs/samples.h"

const char *const sample_kind_names[] = {"gemm",  "attention", "memory",   "low_rank", "overhead",
                                         "layer", "optimizer", "transfer", "link",     "collective",
                                         "top_k", "quantise",  NULL};

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
    QUANTITIES_MAX = 256
};

static enum status read_machine(const struct json *object, struct machine *m, struct arena *arena,
                                struct error *err)
{
    struct json_field fields[] = {
        FIELD_TEXT("host", OPTIONAL, &m->host),
        FIELD_TEXT("processor", OPTIONAL, &m->processor),
        FIELD_TEXT("gpu", REQUIRED, &m->gpu),
        FIELD_COUNT("memory_bytes", REQUIRED, &m->memory_bytes, 0, JSON_COUNT_MAX),
        FIELD_INT("threads", REQUIRED, &m->threads, 1, THREADS_MAX),
        FIELD_TEXT("library", OPTIONAL, &m->library),
        FIELD_TEXT("driver", OPTIONAL, &m->driver),
        FIELD_TEXT("taken_at", OPTIONAL, &m->taken_at),
    };
    return JSON_FIELDS(object, fields, arena, err);
}

// Whole numbers in [0, limit).
static enum status read_indices(const struct json *array, int limit, int **values, int *count,
                                struct arena *arena, struct error *err)
{
    int64_t *read;
    TRY(json_counts(array, 0, limit - 1, &read, count, arena, err));
    *values = TAKE(arena, *count, int);
    for (int i = 0; i < *count; i++) (*values)[i] = (int)read[i];
    return OK;
}

static enum status read_conditions(const struct json *array, struct sample *s, struct arena *arena,
                                   struct error *err)
{
    s->condition_count = json_length(array);
    s->conditions = TAKE(arena, s->condition_count, struct condition);
    for (int i = 0; i < s->condition_count; i++) {
        struct json element = json_element(array, i, arena);
        struct condition *c = &s->conditions[i];
        struct json_field fields[] = {
            FIELD_INT("first", REQUIRED, &c->first, i ? s->conditions[i - 1].first + 1 : 0,
                      s->repetitions - 1),
            FIELD_NUMBER("clock_hz", OPTIONAL, &c->clock_hz, 0, 1e12),
            FIELD_NUMBER("memory_clock_hz", OPTIONAL, &c->memory_clock_hz, 0, 1e12),
            FIELD_NUMBER("temperature_c", OPTIONAL, &c->temperature_c, -273, 1000),
            FIELD_NUMBER("power_w", OPTIONAL, &c->power_w, 0, 1e6),
            FIELD_COUNT("slowdown", OPTIONAL, &c->slowdown, 0, JSON_COUNT_MAX),
        };
        TRY(JSON_FIELDS(&element, fields, arena, err));
    }
    return OK;
}

// Where the repetitions belong: launches, outliers, conditions, all by index.
static enum status read_marks(const struct json *launches, const struct json *outliers,
                              const struct json *conditions, struct sample *s, int launch_count,
                              struct arena *arena, struct error *err)
{
    int count;
    if (json_is_present(launches)) {
        TRY(read_indices(launches, REPETITIONS_MAX, &s->launch_repetitions, &count, arena, err));
        int64_t sum = 0;
        for (int i = 0; i < count; i++) sum += s->launch_repetitions[i];
        if (count != launch_count || sum != s->repetitions)
            return json_refuse(
                launches, err,
                "expected one number for each of %d launches, %d in all, found %d, %lld in all",
                launch_count, s->repetitions, count, (long long)sum);
    }
    TRY(read_indices(outliers, s->repetitions, &s->outliers, &s->outlier_count, arena, err));
    for (int i = 1; i < s->outlier_count; i++)
        if (s->outliers[i] <= s->outliers[i - 1])
            return json_refuse(outliers, err,
                               "expected ascending numbers of repetitions, found %d behind %d",
                               s->outliers[i], s->outliers[i - 1]);
    return read_conditions(conditions, s, arena, err);
}

static enum status read_ends(const struct json *object, const struct json *members,
                             struct sample *s, int endpoint_count, struct arena *arena,
                             struct error *err)
{
    TRY(read_indices(members, endpoint_count, &s->members, &s->member_count, arena, err));
    if (s->kind == SAMPLE_LINK ? s->from < 0 || s->to < 0 || s->from == s->to
                               : s->from >= 0 || s->to >= 0)
        return json_refuse(
            object, err,
            "expected two different endpoints, from and to, of a link and of nothing else");
    if ((s->kind == SAMPLE_COLLECTIVE) != (s->member_count > 0))
        return json_refuse(object, err, "expected members of a collective, and of nothing else");
    return OK;
}

static enum status read_sample(const struct json *object, struct sample *s,
                               const struct samples *all, struct arena *arena, struct error *err)
{
    struct json dimensions = {0}, seconds = {0}, members = {0}, launches = {0}, outliers = {0},
                conditions = {0};
    int64_t *sizes;
    int stop = 0;
    s->from = s->to = -1;
    struct json_field fields[] = {
        FIELD_NAME("kind", REQUIRED, &s->kind, sample_kind_names),
        FIELD_TEXT("operation", REQUIRED, &s->operation),
        FIELD_ARRAY("dimensions", REQUIRED, &dimensions),
        FIELD_NAME("precision", REQUIRED, &s->precision, precision_names),
        FIELD_NUMBER("flop", REQUIRED, &s->flop, 0, 1e30),
        FIELD_NUMBER("bytes", REQUIRED, &s->bytes, 0, 1e30),
        FIELD_INT("from", OPTIONAL, &s->from, 0, all->endpoint_count - 1),
        FIELD_INT("to", OPTIONAL, &s->to, 0, all->endpoint_count - 1),
        FIELD_ARRAY("members", OPTIONAL, &members),
        FIELD_BOOL("alone", OPTIONAL, &s->alone),
        FIELD_ARRAY("seconds", REQUIRED, &seconds),
        FIELD_ARRAY("launch_repetitions", OPTIONAL, &launches),
        FIELD_ARRAY("outliers", OPTIONAL, &outliers),
        FIELD_ARRAY("conditions", OPTIONAL, &conditions),
        FIELD_INT("warm_ups", OPTIONAL, &s->warm_ups, 0, REPETITIONS_MAX),
        FIELD_NAME("stopped_by", REQUIRED, &stop, stop_names),
    };
    TRY(JSON_FIELDS(object, fields, arena, err));
    s->stopped_by = stop_names[stop];
    if (json_length(&dimensions) > (int)ARRAY_LENGTH(s->dimensions))
        return json_refuse(&dimensions, err, "expected at most %d sizes, found %d",
                           (int)ARRAY_LENGTH(s->dimensions), json_length(&dimensions));
    TRY(json_counts(&dimensions, 0, SIZE_MAX_EACH, &sizes, &s->dimension_count, arena, err));
    for (int i = 0; i < s->dimension_count; i++) s->dimensions[i] = sizes[i];
    if (json_length(&seconds) < 1 || json_length(&seconds) > REPETITIONS_MAX)
        return json_refuse(&seconds, err, "expected 1 to %d repetitions, found %d", REPETITIONS_MAX,
                           json_length(&seconds));
    TRY(json_numbers(&seconds, 0, SECONDS_MAX, &s->seconds, &s->repetitions, arena, err));
    TRY(read_marks(&launches, &outliers, &conditions, s, all->launch_count, arena, err));
    return read_ends(object, &members, s, all->endpoint_count, arena, err);
}

static enum status expect_at_most(const struct json *array, int most, const char *what,
                                  struct error *err)
{
    int count = json_length(array);
    return count <= most
               ? OK
               : json_refuse(array, err, "expected at most %d %s, found %d", most, what, count);
}

static enum status read_launches(const struct json *array, struct samples *s, struct arena *arena,
                                 struct error *err)
{
    TRY(expect_at_most(array, LAUNCHES_MAX, "launches", err));
    s->launch_count = json_length(array);
    s->launches = TAKE(arena, s->launch_count, struct launch);
    for (int i = 0; i < s->launch_count; i++) {
        struct json element = json_element(array, i, arena);
        struct launch *l = &s->launches[i];
        struct json_field fields[] = {
            FIELD_TEXT("host", OPTIONAL, &l->host),
            FIELD_TEXT("taken_at", OPTIONAL, &l->taken_at),
            FIELD_COUNT("seed", OPTIONAL, &l->seed, 0, SEED_MAX),
            FIELD_TEXT("command", OPTIONAL, &l->command),
        };
        TRY(JSON_FIELDS(&element, fields, arena, err));
    }
    return OK;
}

static enum status read_endpoints(const struct json *array, struct samples *s, struct arena *arena,
                                  struct error *err)
{
    TRY(expect_at_most(array, ENDPOINTS_MAX, "endpoints", err));
    s->endpoint_count = json_length(array);
    s->endpoints = TAKE(arena, s->endpoint_count, struct endpoint);
    for (int i = 0; i < s->endpoint_count; i++) {
        struct json element = json_element(array, i, arena);
        struct endpoint *e = &s->endpoints[i];
        e->device = e->clock = -1;
        struct json_field fields[] = {
            FIELD_TEXT("name", REQUIRED, &e->name),
            FIELD_TEXT("host", OPTIONAL, &e->host),
            FIELD_INT("device", OPTIONAL, &e->device, 0, ENDPOINTS_MAX),
            FIELD_INT("clock", OPTIONAL, &e->clock, 0, ENDPOINTS_MAX),
        };
        TRY(JSON_FIELDS(&element, fields, arena, err));
    }
    return OK;
}

static enum status read_quantities(const struct json *array, struct samples *s, struct arena *arena,
                                   struct error *err)
{
    TRY(expect_at_most(array, QUANTITIES_MAX, "quantities", err));
    s->quantity_count = json_length(array);
    s->quantities = TAKE(arena, s->quantity_count, struct quantity);
    for (int i = 0; i < s->quantity_count; i++) {
        struct json element = json_element(array, i, arena), values = {0};
        struct quantity *q = &s->quantities[i];
        struct json_field fields[] = {
            FIELD_TEXT("name", REQUIRED, &q->name),
            FIELD_ARRAY("values", REQUIRED, &values),
        };
        TRY(JSON_FIELDS(&element, fields, arena, err));
        TRY(json_numbers(&values, 0, 1e30, &q->values, &q->value_count, arena, err));
        if (!q->value_count)
            return json_refuse(&values, err, "expected at least one observation, found none");
    }
    return OK;
}

enum status samples_load(struct samples *s, const char *path, struct arena *arena,
                         struct error *err)
{
    struct json machine = {0}, launches = {0}, endpoints = {0}, quantities = {0}, samples = {0};
    *s = (struct samples){0};
    TRY(document_read(&s->document, path, "plumbline.samples", arena, err));
    struct json_field fields[] = {
        FIELD_OBJECT("machine", REQUIRED, &machine),
        FIELD_ARRAY("launches", OPTIONAL, &launches),
        FIELD_ARRAY("endpoints", OPTIONAL, &endpoints),
        FIELD_ARRAY("quantities", OPTIONAL, &quantities),
        FIELD_ARRAY("samples", REQUIRED, &samples),
    };
    TRY(document_fields(&s->document, fields, ARRAY_LENGTH(fields), arena, err));
    TRY(read_machine(&machine, &s->machine, arena, err));
    TRY(read_launches(&launches, s, arena, err));
    TRY(read_endpoints(&endpoints, s, arena, err));
    TRY(read_quantities(&quantities, s, arena, err));
    TRY(expect_at_most(&samples, SAMPLES_MAX, "samples", err));
    s->sample_count = json_length(&samples);
    s->samples = TAKE(arena, s->sample_count, struct sample);
    for (int i = 0; i < s->sample_count; i++) {
        struct json element = json_element(&samples, i, arena);
        TRY(read_sample(&element, &s->samples[i], s, arena, err));
    }
    return OK;
}

bool sample_is_throttled(const struct sample *s, int repetition)
{
    int64_t slowdown = 0;
    for (int i = 0; i < s->condition_count && s->conditions[i].first <= repetition; i++)
        slowdown = s->conditions[i].slowdown;
    return (slowdown & SLOWDOWN_FLAGGED) != 0;
}

static void put_text(struct json_writer *w, const char *key, const char *text)
{
    if (text) json_put_text(w, key, text);
}

static void put_indices(struct json_writer *w, const char *key, const int *values, int count)
{
    json_open_flat_array(w, key);
    for (int i = 0; i < count; i++) json_put_count(w, NULL, values[i]);
    json_close_array(w);
}

static void put_conditions(struct json_writer *w, const struct sample *s)
{
    json_open_array(w, "conditions");
    for (int i = 0; i < s->condition_count; i++) {
        const struct condition *c = &s->conditions[i];
        json_open_flat_object(w, NULL);
        json_put_count(w, "first", c->first);
        json_put_number(w, "clock_hz", c->clock_hz);
        json_put_number(w, "memory_clock_hz", c->memory_clock_hz);
        json_put_number(w, "temperature_c", c->temperature_c);
        json_put_number(w, "power_w", c->power_w);
        json_put_count(w, "slowdown", c->slowdown);
        json_close_object(w);
    }
    json_close_array(w);
}

static void put_sample(struct json_writer *w, const struct sample *s, int launch_count)
{
    json_open_object(w, NULL);
    json_put_text(w, "kind", sample_kind_names[s->kind]);
    json_put_text(w, "operation", s->operation);
    json_open_flat_array(w, "dimensions");
    for (int i = 0; i < s->dimension_count; i++) json_put_count(w, NULL, s->dimensions[i]);
    json_close_array(w);
    json_put_text(w, "precision", precision_names[s->precision]);
    json_put_number(w, "flop", s->flop);
    json_put_number(w, "bytes", s->bytes);
    if (s->kind == SAMPLE_LINK) {
        json_put_count(w, "from", s->from);
        json_put_count(w, "to", s->to);
    }
    if (s->kind == SAMPLE_COLLECTIVE) put_indices(w, "members", s->members, s->member_count);
    if (s->kind == SAMPLE_LINK || s->kind == SAMPLE_COLLECTIVE) json_put_bool(w, "alone", s->alone);
    json_open_flat_array(w, "seconds");
    for (int i = 0; i < s->repetitions; i++) json_put_number(w, NULL, s->seconds[i]);
    json_close_array(w);
    if (s->launch_repetitions)
        put_indices(w, "launch_repetitions", s->launch_repetitions, launch_count);
    put_indices(w, "outliers", s->outliers, s->outlier_count);
    put_conditions(w, s);
    json_put_count(w, "warm_ups", s->warm_ups);
    json_put_text(w, "stopped_by", s->stopped_by);
    json_close_object(w);
}

static void put_machine(struct json_writer *w, const struct machine *m)
{
    json_open_object(w, "machine");
    put_text(w, "host", m->host);
    put_text(w, "processor", m->processor);
    json_put_text(w, "gpu", m->gpu);
    json_put_count(w, "memory_bytes", m->memory_bytes);
    json_put_count(w, "threads", m->threads);
    put_text(w, "library", m->library);
    put_text(w, "driver", m->driver);
    put_text(w, "taken_at", m->taken_at);
    json_close_object(w);
}

static void put_origins(struct json_writer *w, const struct samples *s)
{
    json_open_array(w, "launches");
    for (int i = 0; i < s->launch_count; i++) {
        json_open_flat_object(w, NULL);
        put_text(w, "host", s->launches[i].host);
        put_text(w, "taken_at", s->launches[i].taken_at);
        json_put_count(w, "seed", s->launches[i].seed);
        put_text(w, "command", s->launches[i].command);
        json_close_object(w);
    }
    json_close_array(w);
    json_open_array(w, "endpoints");
    for (int i = 0; i < s->endpoint_count; i++) {
        json_open_flat_object(w, NULL);
        json_put_text(w, "name", s->endpoints[i].name);
        put_text(w, "host", s->endpoints[i].host);
        if (s->endpoints[i].device >= 0) json_put_count(w, "device", s->endpoints[i].device);
        if (s->endpoints[i].clock >= 0) json_put_count(w, "clock", s->endpoints[i].clock);
        json_close_object(w);
    }
    json_close_array(w);
    json_open_array(w, "quantities");
    for (int i = 0; i < s->quantity_count; i++) {
        json_open_flat_object(w, NULL);
        json_put_text(w, "name", s->quantities[i].name);
        json_open_flat_array(w, "values");
        for (int j = 0; j < s->quantities[i].value_count; j++)
            json_put_number(w, NULL, s->quantities[i].values[j]);
        json_close_array(w);
        json_close_object(w);
    }
    json_close_array(w);
}

enum status samples_save(const struct samples *s, const char *path, struct arena *arena,
                         struct error *err)
{
    struct json_writer w;
    document_begin(&w, "plumbline.samples", s->document.sources, s->document.source_count, arena);
    put_machine(&w, &s->machine);
    put_origins(&w, s);
    json_open_array(&w, "samples");
    for (int i = 0; i < s->sample_count; i++) put_sample(&w, &s->samples[i], s->launch_count);
    json_close_array(&w);
    return document_write(&w, path, err);
}
