// Verdicts: collecting violations and saving them. A verdict is written for people and scripts; nothing loads it again.
#include "data/verdict.h"

#include <stdarg.h>
#include <stdio.h>

void verdict_add(struct verdict *v, struct arena *arena, const char *rule, int stage, const char *format, ...)
{
    char text[ERROR_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (v->violation_count == v->violation_capacity) {
        int capacity = 2 * v->violation_capacity + 8;
        v->violations = arena_grow(arena, v->violations, (size_t)v->violation_count, (size_t)capacity, sizeof *v->violations);
        v->violation_capacity = capacity;
    }
    v->violations[v->violation_count++] = (struct violation){.rule = rule, .stage = stage, .text = arena_copy_text(arena, text)};
    v->accepted = false;
}

enum status verdict_save(const struct verdict *v, const char *path, const struct source *sources, int source_count, struct arena *arena, struct error *err)
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
    if (v->doubtful) json_put_count(&w, "doubtful_terms", v->doubtful);
    if (v->memory_bytes >= 0) json_put_count(&w, "memory_bytes", v->memory_bytes);
    if (v->memory_bytes >= 0 && v->published_bytes >= 0) {
        json_put_count(&w, "published_memory_bytes", v->published_bytes);
        json_put_number(&w, "published_memory_ratio", (double)v->published_bytes / (double)v->memory_bytes);
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
