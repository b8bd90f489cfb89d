// Samples: load and save. Raw repetitions in the order taken, with where they come from.
#include "data/samples.h"

const char *const sample_kind_names[] = {"gemm", "attention", "memory", "low_rank", "overhead", NULL};

static const char *const stop_names[] = {"width", "budget", NULL};

#define SIZE_MAX_EACH 9007199254740992.0
#define SECONDS_MAX 1e6
enum { SAMPLES_MAX = 65536, REPETITIONS_MAX = 1000000, THREADS_MAX = 65536 };

static enum status read_machine(const struct json *object, struct machine *m, struct arena *arena, struct error *err)
{
    struct json_field fields[] = {
        FIELD_TEXT("host", OPTIONAL, &m->host),
        FIELD_TEXT("processor", OPTIONAL, &m->processor),
        FIELD_TEXT("gpu", REQUIRED, &m->gpu),
        FIELD_COUNT("memory_bytes", REQUIRED, &m->memory_bytes, 0, JSON_COUNT_MAX),
        FIELD_INT("threads", REQUIRED, &m->threads, 1, THREADS_MAX),
        FIELD_TEXT("library", OPTIONAL, &m->library),
        FIELD_TEXT("taken_at", OPTIONAL, &m->taken_at),
    };
    return JSON_FIELDS(object, fields, arena, err);
}

static enum status read_sample(const struct json *object, struct sample *s, struct arena *arena, struct error *err)
{
    struct json dimensions = {0}, seconds = {0};
    int64_t *sizes;
    int stop = 0;
    struct json_field fields[] = {
        FIELD_NAME("kind", REQUIRED, &s->kind, sample_kind_names),
        FIELD_TEXT("operation", REQUIRED, &s->operation),
        FIELD_ARRAY("dimensions", REQUIRED, &dimensions),
        FIELD_NAME("precision", REQUIRED, &s->precision, precision_names),
        FIELD_NUMBER("flop", REQUIRED, &s->flop, 0, 1e30),
        FIELD_NUMBER("bytes", REQUIRED, &s->bytes, 0, 1e30),
        FIELD_ARRAY("seconds", REQUIRED, &seconds),
        FIELD_INT("warm_ups", OPTIONAL, &s->warm_ups, 0, REPETITIONS_MAX),
        FIELD_NAME("stopped_by", REQUIRED, &stop, stop_names),
    };
    TRY(JSON_FIELDS(object, fields, arena, err));
    s->stopped_by = stop_names[stop];
    if (json_length(&dimensions) > (int)ARRAY_LENGTH(s->dimensions))
        return json_refuse(&dimensions, err, "expected at most %d sizes, found %d", (int)ARRAY_LENGTH(s->dimensions), json_length(&dimensions));
    TRY(json_counts(&dimensions, 0, SIZE_MAX_EACH, &sizes, &s->dimension_count, arena, err));
    for (int i = 0; i < s->dimension_count; i++) s->dimensions[i] = sizes[i];
    if (json_length(&seconds) < 1 || json_length(&seconds) > REPETITIONS_MAX)
        return json_refuse(&seconds, err, "expected 1 to %d repetitions, found %d", REPETITIONS_MAX, json_length(&seconds));
    return json_numbers(&seconds, 0, SECONDS_MAX, &s->seconds, &s->repetitions, arena, err);
}

enum status samples_load(struct samples *s, const char *path, struct arena *arena, struct error *err)
{
    struct json machine = {0}, samples = {0};
    *s = (struct samples){0};
    TRY(document_read(&s->document, path, "plumbline.samples", arena, err));
    struct json_field fields[] = {
        FIELD_OBJECT("machine", REQUIRED, &machine),
        FIELD_ARRAY("samples", REQUIRED, &samples),
    };
    TRY(document_fields(&s->document, fields, ARRAY_LENGTH(fields), arena, err));
    TRY(read_machine(&machine, &s->machine, arena, err));
    if (json_length(&samples) > SAMPLES_MAX) return json_refuse(&samples, err, "expected at most %d samples, found %d", SAMPLES_MAX, json_length(&samples));
    s->sample_count = json_length(&samples);
    s->samples = TAKE(arena, s->sample_count, struct sample);
    for (int i = 0; i < s->sample_count; i++) {
        struct json element = json_element(&samples, i, arena);
        TRY(read_sample(&element, &s->samples[i], arena, err));
    }
    return OK;
}

static void put_text(struct json_writer *w, const char *key, const char *text)
{
    if (text) json_put_text(w, key, text);
}

static void put_sample(struct json_writer *w, const struct sample *s)
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
    json_open_flat_array(w, "seconds");
    for (int i = 0; i < s->repetitions; i++) json_put_number(w, NULL, s->seconds[i]);
    json_close_array(w);
    json_put_count(w, "warm_ups", s->warm_ups);
    json_put_text(w, "stopped_by", s->stopped_by);
    json_close_object(w);
}

enum status samples_save(const struct samples *s, const char *path, struct arena *arena, struct error *err)
{
    struct json_writer w;
    document_begin(&w, "plumbline.samples", s->document.sources, s->document.source_count, arena);
    json_open_object(&w, "machine");
    put_text(&w, "host", s->machine.host);
    put_text(&w, "processor", s->machine.processor);
    json_put_text(&w, "gpu", s->machine.gpu);
    json_put_count(&w, "memory_bytes", s->machine.memory_bytes);
    json_put_count(&w, "threads", s->machine.threads);
    put_text(&w, "library", s->machine.library);
    put_text(&w, "taken_at", s->machine.taken_at);
    json_close_object(&w);
    json_open_array(&w, "samples");
    for (int i = 0; i < s->sample_count; i++) put_sample(&w, &s->samples[i]);
    json_close_array(&w);
    return document_write(&w, path, err);
}
