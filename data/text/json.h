// Strict JSON documents: read with one table of fields per object, written with a fixed order of
// keys. An error names the file, the path inside it, what was expected and what was found.
#pragma once

#include <stdint.h>

#include "data/base/arena.h"
#include "data/base/plain.h"

#define JSON_COUNT_MAX 9007199254740992.0 // 2^53: above it, a double cannot hold every integer

struct cJSON;
struct json_cursor;
struct text;

// One value inside a document. A plain struct that can be copied freely, valid as long as its
// arena.
struct json {
    const struct cJSON *node;   // NULL: not present
    const char *file;           // for messages
    const char *path;           // "layers[3].count", "" for the root
    struct json_cursor *cursor; // of an array
};

enum json_type {
    JSON_TEXT,   // to: const char *; plain (data/base/plain.h)
    JSON_INT,    // to: int, within [low, high]
    JSON_COUNT,  // to: int64_t, within [low, high], |value| <= 2^53
    JSON_NUMBER, // to: double, finite, within [low, high]
    JSON_BOOL,   // to: bool
    JSON_NAME,   // to: int, the index in names[] (ended by NULL)
    JSON_FLAG,   // to: int, 1 for true and 0 for false
    JSON_UNLESS, // to: bool, the opposite
    JSON_OBJECT, // to: struct json
    JSON_ARRAY,  // to: struct json
    JSON_VALUE,  // any value; to: struct json
    JSON_SKIP,   // any value, ignored
};

// A missing OPTIONAL field leaves *to as it was; an object, an array or a value is then one that is
// not present, of length 0, and knows its file and path, so that it can be refused like any other.
enum json_need { REQUIRED, OPTIONAL };

struct json_field {
    const char *key;
    enum json_type type;
    enum json_need need;
    void *to;
    double low, high;
    const char *const *names;
};

#define FIELD(key, type, need, to, low, high, names)                                               \
    {                                                                                              \
        key, type, need, to, low, high, names                                                      \
    }
#define FIELD_TEXT(key, need, to) FIELD(key, JSON_TEXT, need, to, 0, 0, NULL)
#define FIELD_INT(key, need, to, low, high) FIELD(key, JSON_INT, need, to, low, high, NULL)
#define FIELD_COUNT(key, need, to, low, high)                                                      \
    FIELD(key, JSON_COUNT, need, to, (double)(low), (double)(high), NULL)
#define FIELD_NUMBER(key, need, to, low, high) FIELD(key, JSON_NUMBER, need, to, low, high, NULL)
#define FIELD_BOOL(key, need, to) FIELD(key, JSON_BOOL, need, to, 0, 0, NULL)
#define FIELD_NAME(key, need, to, names) FIELD(key, JSON_NAME, need, to, 0, 0, names)
#define FIELD_OBJECT(key, need, to) FIELD(key, JSON_OBJECT, need, to, 0, 0, NULL)
#define FIELD_ARRAY(key, need, to) FIELD(key, JSON_ARRAY, need, to, 0, 0, NULL)

enum json_strictness {
    JSON_STRICT,   // an unknown key is an error
    JSON_ENVELOPE, // unknown keys are allowed: they belong to the body, read later
    JSON_LENIENT,  // foreign formats: unknown keys are allowed, null counts as absent
};

// Parses the whole text (no trailing text, no duplicate keys anywhere, nesting at most 64) into
// *root. What its tree takes, some 100 bytes a value, is counted against the limit of memory before
// there is one.
enum status json_parse(struct json *root, const char *file, const char *text, size_t size,
                       struct arena *arena, struct error *err);

// Reads the fields of one object.
enum status json_fields(const struct json *object, const struct json_field *fields,
                        size_t field_count, enum json_strictness strictness, struct arena *arena,
                        struct error *err);
#define JSON_FIELDS(object, fields, arena, err)                                                    \
    json_fields(object, fields, ARRAY_LENGTH(fields), JSON_STRICT, arena, err)
#define json_lenient(object, fields, count, arena, err)                                            \
    json_fields(object, fields, count, JSON_LENIENT, arena, err)

int json_length(const struct json *array); // elements, 0 if absent
struct json json_element(const struct json *array, int index,
                         struct arena *arena); // 0 <= index < length
// The members of an object whose keys are names chosen by the author, as in foreign tables.
// BAD_INPUT: not an object.
enum status json_members(const struct json *object, const char *const **keys, struct json **values,
                         int *count, struct arena *arena, struct error *err);
// An object's member, to be named in a message.
struct json json_member(const struct json *object, const char *key, struct arena *arena);
bool json_has(const struct json *object, const char *key);
bool json_is_present(const struct json *value); // not so: a missing OPTIONAL field
const char *json_text(const struct json *value, struct arena *arena); // of a value that must be a
                                                                      // text
// BAD_INPUT: it is not of that type, or not present.
enum status json_expect(const struct json *value, enum json_type type, struct error *err);
// BAD_INPUT: it has another number of elements; what: "stages".
enum status json_expect_count(const struct json *array, int count, const char *what,
                              struct error *err);
enum status json_name(const struct json *value, const char *const *names, int *to,
                      struct error *err); // as a JSON_NAME field
// A BAD_INPUT error at this value: "FILE: path: " and the given text.
enum status json_refuse(const struct json *value, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Arrays of one scalar type.
enum status json_numbers(const struct json *array, double low, double high, double **values,
                         int *count, struct arena *arena, struct error *err);
enum status json_cells(const struct json *array, double **values, int *count, struct arena *arena,
                       struct error *err); // null: NAN
enum status json_counts(const struct json *array, double low, double high, int64_t **values,
                        int *count, struct arena *arena, struct error *err);
enum status json_ints(const struct json *array, double low, double high, int **values, int *count,
                      struct arena *arena, struct error *err);
enum status json_texts(const struct json *array, const char ***values, int *count,
                       struct arena *arena, struct error *err);

// ---- writing: text grows in the arena; keys in the order of the calls; indented by two blanks

struct json_writer {
    struct arena *arena;
    char *text;
    size_t length, capacity;
    int depth;
    bool empty, flat; // flat: the open array or object is on one line
    int flat_depth;
    char found[PLAIN_FOUND_MAX]; // the first thing in a text that is not plain, "" if all are
};

void json_begin(struct json_writer *w, struct arena *arena);
const char *json_end(struct json_writer *w, size_t *length);   // the text, ended by a newline
void json_end_text(struct json_writer *w, struct text *whole); // it is the whole text then
// key is NULL inside arrays.
void json_open_object(struct json_writer *w, const char *key);
void json_open_array(struct json_writer *w, const char *key);
void json_open_flat_object(struct json_writer *w,
                           const char *key); // on one line, with everything in it
void json_open_flat_array(struct json_writer *w, const char *key);
void json_close_object(struct json_writer *w);
void json_close_array(struct json_writer *w);
void json_put_text(struct json_writer *w, const char *key, const char *text);
void json_put_count(struct json_writer *w, const char *key, int64_t value);
void json_put_number(struct json_writer *w, const char *key,
                     double value); // the shortest of 15..17 digits that reads back; finite
void json_put_bool(struct json_writer *w, const char *key, bool value);
// Flat arrays.
void json_put_counts(struct json_writer *w, const char *key, const int64_t *values, int count);
void json_put_ints(struct json_writer *w, const char *key, const int *values, int count);
void json_put_null(struct json_writer *w, const char *key); // in results; no document has a null
// Writes a value that was read.
void json_put_value(struct json_writer *w, const char *key, const struct json *value);

// The text in quotes, as JSON has it; its length. Only for the writer.
size_t json_quote(const char *text, char *to, size_t room);

// Numbers with a unit, "400 Gb/s", "80 GB", "3.4 us", for keys whose names state a unit.

enum key_unit {
    KEY_UNITLESS, // the key has no unit
    KEY_BYTES,
    KEY_BYTES_PER_S,
    KEY_FLOP_PER_S,
    KEY_SECONDS
};

// From a document's path: by the ending of its last key, or of the key before if the last is value,
// low or high.
enum key_unit unit_of_path(const char *path);
const char *unit_example(enum key_unit kind);
// A decimal number, blanks, a unit of this kind: *value in bytes, bytes/s, FLOP/s or seconds, the
// double nearest to the written number, except for the rounding of a division of bits by 8 or by a
// power of 2. false: the text has another form.
bool unit_read(const char *text, enum key_unit kind, double *value);
