// Verdicts: collecting violations, saving them, and what a saved one says of a plan's bound.
#include "data/results/verdict.h"

#include "data/base/grow.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void verdict_add(struct verdict *v, struct arena *arena, const char *rule, int stage,
                 const char *format, ...)
{
    char text[ERROR_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    GROW(arena, v->violations, v->violation_count, v->violation_capacity, 8);
    v->violations[v->violation_count++] =
        (struct violation){.rule = rule, .stage = stage, .text = arena_copy_text(arena, text)};
    v->accepted = false;
}

enum status verdict_save(const struct verdict *v, const char *path, const struct source *sources,
                         int source_count, struct arena *arena, struct error *err)
{
    struct json_writer w;
    document_begin(&w, "plumbline.verdict", sources, source_count, arena);
    json_put_bool(&w, "accepted", v->accepted);
    json_put_count(&w, "replayed_ns", v->replayed_ns);
    if (v->closed_form_ns >= 0 && v->closed_form) {
        json_put_count(&w, "closed_form_ns", v->closed_form_ns);
        json_put_text(&w, "closed_form", v->closed_form);
    }
    json_put_count(&w, "terms_checked", v->terms_checked);
    json_put_bool(&w, "bound_judged", v->bound_judged);
    if (v->proven_ns >= 0) json_put_count(&w, "proven_bound_ns", v->proven_ns);
    if (v->doubtful) json_put_count(&w, "doubtful_terms", v->doubtful);
    if (v->memory_bytes >= 0) json_put_count(&w, "memory_bytes", v->memory_bytes);
    if (v->memory_bytes >= 0 && v->published_bytes >= 0) {
        json_put_count(&w, "published_memory_bytes", v->published_bytes);
        json_put_number(&w, "published_memory_ratio",
                        (double)v->published_bytes / (double)v->memory_bytes);
    }
    json_open_array(&w, "violations");
    for (int i = 0; i < v->violation_count; i++) {
        json_open_flat_object(&w, NULL);
        json_put_text(&w, "rule", v->violations[i].rule);
        if (v->violations[i].stage >= 0) json_put_count(&w, "stage", v->violations[i].stage);
        json_put_text(&w, "text", v->violations[i].text);
        json_close_object(&w);
    }
    json_close_array(&w);
    return document_write(&w, path, err);
}

enum status verdict_covers(bool *covers, const char *path, const struct document *plan,
                           int64_t bound_ns, struct arena *arena, struct error *err)
{
    struct document d;
    struct json violations;
    bool accepted, judged = false;
    int64_t replayed, closed, terms, doubtful, proven = -1, memory, published;
    double ratio;
    const char *form;
    const struct json_field fields[] = {
        FIELD_BOOL("accepted", REQUIRED, &accepted),
        FIELD_COUNT("replayed_ns", REQUIRED, &replayed, 0, JSON_COUNT_MAX),
        FIELD_COUNT("closed_form_ns", OPTIONAL, &closed, 0, JSON_COUNT_MAX),
        FIELD_TEXT("closed_form", OPTIONAL, &form),
        FIELD_COUNT("terms_checked", REQUIRED, &terms, 0, JSON_COUNT_MAX),
        FIELD_BOOL("bound_judged", OPTIONAL, &judged),
        FIELD_COUNT("proven_bound_ns", OPTIONAL, &proven, 0, JSON_COUNT_MAX),
        FIELD_COUNT("doubtful_terms", OPTIONAL, &doubtful, 0, JSON_COUNT_MAX),
        FIELD_COUNT("memory_bytes", OPTIONAL, &memory, 0, JSON_COUNT_MAX),
        FIELD_COUNT("published_memory_bytes", OPTIONAL, &published, 0, JSON_COUNT_MAX),
        FIELD_NUMBER("published_memory_ratio", OPTIONAL, &ratio, 0, 1e300),
        FIELD_ARRAY("violations", REQUIRED, &violations),
    };
    TRY(document_read(&d, path, "plumbline.verdict", arena, err));
    TRY(document_fields(&d, fields, ARRAY_LENGTH(fields), arena, err));
    const char *hash = source_hash(&d, "plan");
    if (!hash) return json_refuse(&d.root, err, "made_from: expected a plan");
    if (strcmp(hash, plan->sha256))
        return json_refuse(&d.root, err,
                           "made_from: is about the plan %.12s..., and %s is %.12s...", hash,
                           plan->path, plan->sha256);
    if (judged && !source_hash(&d, "certificate"))
        return json_refuse(&d.root, err, "bound_judged: expected a certificate in made_from");
    if (judged && (proven < 0) != (bound_ns < 0))
        return json_refuse(&d.root, err, "proven_bound_ns: expected %s: %s is %s",
                           bound_ns < 0 ? "none" : "a bound", plan->path,
                           bound_ns < 0 ? "of a problem without a plan" : "a plan");
    if (judged && proven < bound_ns)
        return json_refuse(&d.root, err, "proven_bound_ns: expected %lld, which %s states, or more",
                           (long long)bound_ns, plan->path);
    *covers = accepted && judged;
    return OK;
}
