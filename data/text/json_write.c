// The writer of documents: see json.h. Whole numbers and fractions are written here, as cJSON's
// need not read back: it takes 15 digits for any number close to theirs.
#include "data/text/json.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/base/grow.h"
#include "data/text/pieces.h"

static char *reserve(struct json_writer *w, size_t bytes)
{
    GROW_BYTES(w->arena, w->text, w->length, bytes, w->capacity);
    return w->text + w->length;
}

static void append(struct json_writer *w, const char *text, size_t length)
{
    memcpy(reserve(w, length), text, length);
    w->length += length;
    w->text[w->length] = '\0';
}

static void append_text(struct json_writer *w, const char *text) { append(w, text, strlen(text)); }

static void new_line(struct json_writer *w)
{
    if (w->flat) {
        if (!w->empty) append_text(w, " ");
        return;
    }
    append_text(w, "\n");
    for (int i = 0; i < w->depth; i++) append_text(w, "  ");
}

// What could not be read again is noted; a document with it is not written.
static void note_fault(struct json_writer *w, const char *text)
{
    if (!*w->found) text_is_plain(text, strlen(text), w->found);
}

static void append_quoted(struct json_writer *w, const char *text)
{
    note_fault(w, text);
    size_t room = 6 * strlen(text) + 8; // "\u0001" for a byte
    w->length += json_quote(text, reserve(w, room), room);
}

static void begin_value(struct json_writer *w, const char *key)
{
    if (w->depth > 0) {
        if (!w->empty) append_text(w, ",");
        new_line(w);
    }
    w->empty = false;
    if (!key) return;
    append_quoted(w, key);
    append_text(w, ": ");
}

void json_begin(struct json_writer *w, struct arena *arena)
{
    *w = (struct json_writer){.arena = arena, .empty = true};
}

const char *json_end(struct json_writer *w, size_t *length)
{
    assert(w->depth == 0);
    append_text(w, "\n");
    if (length) *length = w->length;
    return w->text;
}

void json_end_text(struct json_writer *w, struct text *whole)
{
    json_end(w, NULL);
    *whole = (struct text){w->arena, w->text, w->length, w->capacity};
}

static void open_value(struct json_writer *w, const char *key, const char *bracket, bool flat)
{
    begin_value(w, key);
    append_text(w, bracket);
    w->depth++;
    w->empty = true;
    if (flat && !w->flat) {
        w->flat = true;
        w->flat_depth = w->depth;
    }
}

static void close_value(struct json_writer *w, const char *bracket)
{
    bool was_flat = w->flat;
    if (w->flat && w->flat_depth == w->depth) w->flat = false;
    w->depth--;
    assert(w->depth >= 0);
    if (!w->empty && !was_flat) new_line(w);
    append_text(w, bracket);
    w->empty = false;
}

void json_open_object(struct json_writer *w, const char *key) { open_value(w, key, "{", false); }
void json_open_array(struct json_writer *w, const char *key) { open_value(w, key, "[", false); }
void json_open_flat_object(struct json_writer *w, const char *key)
{
    open_value(w, key, "{", true);
}
void json_open_flat_array(struct json_writer *w, const char *key) { open_value(w, key, "[", true); }
void json_close_object(struct json_writer *w) { close_value(w, "}"); }
void json_close_array(struct json_writer *w) { close_value(w, "]"); }

void json_put_text(struct json_writer *w, const char *key, const char *text)
{
    begin_value(w, key);
    append_quoted(w, text);
}

void json_put_count(struct json_writer *w, const char *key, int64_t value)
{
    char text[32], *end = text + sizeof text, *digit = end;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    begin_value(w, key);
    do *--digit = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (value < 0) *--digit = '-';
    append(w, digit, (size_t)(end - digit));
}

void json_put_counts(struct json_writer *w, const char *key, const int64_t *values, int count)
{
    json_open_flat_array(w, key);
    for (int i = 0; i < count; i++) json_put_count(w, NULL, values[i]);
    json_close_array(w);
}

void json_put_ints(struct json_writer *w, const char *key, const int *values, int count)
{
    json_open_flat_array(w, key);
    for (int i = 0; i < count; i++) json_put_count(w, NULL, values[i]);
    json_close_array(w);
}

void json_put_number(struct json_writer *w, const char *key, double value)
{
    char text[40];
    assert(isfinite(value));
    begin_value(w, key);
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    append_text(w, text);
}

void json_put_bool(struct json_writer *w, const char *key, bool value)
{
    begin_value(w, key);
    append_text(w, value ? "true" : "false");
}

void json_put_null(struct json_writer *w, const char *key)
{
    begin_value(w, key);
    append_text(w, "null");
}
