// A run written by the rows of a framework.
#include <stdlib.h>
#include <string.h>

#include "solve/report/export/internal.h"

static size_t section_length(const char *key)
{
    const char *dot = strrchr(key, '.');
    return dot ? (size_t)(dot - key) : 0;
}

void export_rows(const struct export *e, const struct setting_rows *table, const struct run *run,
                 const struct export_form *form, const char *only)
{
    struct setting_rows rows = setting_rows_of(table, e->out->arena);
    const char *section = "";
    size_t length = 0;
    for (int i = 0; i < rows.count; i++) {
        const char *key = rows.rows[i].key,
                   *text = setting_text(&rows.rows[i], run, &form->values, e->out->arena);
        size_t own = section_length(key);
        if (!text || (only && (own != strlen(only) || strncmp(key, only, own)))) continue;
        if (form->open && !only && (own != length || strncmp(key, section, own)))
            text_put(e->out, own ? "\n%s%.*s%s\n" : "\n%.0s", form->open, (int)own, key,
                     form->close);
        section = key, length = own;
        text_put(e->out, "%s%s%s%s%s", own || !form->top_bare ? form->before : "",
                 own ? key + own + 1 : key, *text ? form->between : "", text, form->behind);
    }
}

static void put_value(struct json_writer *w, const char *key, const char *text)
{
    if (!strcmp(text, "true") || !strcmp(text, "false")) json_put_bool(w, key, *text == 't');
    else if (strspn(text, "0123456789") == strlen(text))
        json_put_count(w, key, strtoll(text, NULL, 10));
    else json_put_text(w, key, text);
}

static void put_notes(const struct export *e, struct json_writer *w)
{
    json_open_array(w, "not_expressed");
    for (const char *note = e->notes.text, *end; *note; note = end + 1) {
        end = strchr(note, '\n');
        note += strlen(NOTE_MARK);
        json_put_text(w, NULL, arena_print(e->out->arena, "%.*s", (int)(end - note), note));
    }
    json_close_array(w);
}

// Closes what the key is not in and opens what it is in; returns the key in its object.
static const char *enter(struct json_writer *w, const char **in, const char *key,
                         struct arena *arena)
{
    size_t same = 0, length;
    for (size_t i = 0; (*in)[i] && (*in)[i] == key[i]; i++)
        if (key[i] == '.') same = i + 1;
    for (const char *c = *in + same; (c = strchr(c, '.')); c++) json_close_object(w);
    *in = key;
    for (key += same; key[length = strcspn(key, ".")]; key += length + 1)
        json_open_object(w, arena_print(arena, "%.*s", (int)length, key));
    return key;
}

void export_json(const struct export *e, const struct setting_rows *rows, const struct run *run)
{
    static const struct setting_form form = {.yes = "true", .no = "false", .quote = ""};
    struct json_writer w;
    const char *in = "";
    json_begin(&w, e->out->arena);
    json_open_object(&w, NULL);
    for (int i = 0; i < rows->count; i++) {
        const char *text = setting_text(&rows->rows[i], run, &form, e->out->arena);
        if (text) put_value(&w, enter(&w, &in, rows->rows[i].key, e->out->arena), text);
    }
    put_notes(e, &w);
    enter(&w, &in, "", e->out->arena);
    json_close_object(&w);
    json_end_text(&w, e->out);
}
