// A strict JSON reader for untrusted files. Numbers are whole numbers of at most 18 digits, keys
// of an object differ, nesting and the number of values are bounded, text is UTF-8. Nothing is
// converted or guessed.
#pragma once

#include <cjson/cJSON.h>
#include <stdint.h>

#include "data/base/arena.h"

// Types are cJSON's, as a set.
enum { VALUE_BOOL = cJSON_True | cJSON_False, VALUE_ANY = 0 };

// Position of a value, for messages: file and path inside it.
struct reader {
    const char *file;
    struct error *err;
};

enum { CHECK_PATH_MAX = 96 };

enum status check_parse(const struct reader *r, const char *text, size_t size, cJSON **root,
                        struct arena *arena);

// BAD_INPUT: "FILE: WHERE: ...".
enum status check_refuse(const struct reader *r, const char *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

int64_t value_number(const cJSON *v);                         // exactly
const cJSON *value_get(const cJSON *object, const char *key); // NULL: absent
enum status value_expect(const struct reader *r, const cJSON *v, const char *where, int type);
// One of the names, which end with NULL; *to is its index.
enum status value_name(const struct reader *r, const cJSON *v, const char *where,
                       const char *const *names, int *to);
// A short array of numbers; the words describe it.
enum status value_row(const struct reader *r, const cJSON *v, const char *where, const char *words,
                      int count, int64_t *to);
// An array of exactly count integers.
enum status value_integers(const struct reader *r, const cJSON *v, const char *where, int count,
                           int64_t low, int64_t high, int64_t **to, struct arena *arena);

// A key of an object and where its value is stored: one of the pointers, or none if only its
// presence is checked. An absent key leaves its target unchanged.
struct value_field {
    const char *key;          // '?' before it: may be absent
    int64_t low, high;        // of numbers
    int *small;               // a number, or the index of a name
    int64_t *large;           // a number
    const char *const *names; // ended by NULL
    int64_t **numbers;        // an array of `count` numbers
    int count;
    bool *flag;
    const char **text;
    const cJSON **value; // of this type; VALUE_ANY: any
    int type;
};
// The object has exactly these keys; the last field's key is NULL. arena: for arrays of numbers.
enum status value_fields(const struct reader *r, const cJSON *object, const char *where,
                         const struct value_field *fields, struct arena *arena);

// ---- text.c, hash.c: the text of a document: what it holds, and its hash.

struct check_text {
    const char *file, *text;
    size_t size;
};

enum { CHECK_HASH = 65 };
void check_hash(const char *text, size_t size, char hex[CHECK_HASH]); // SHA-256

// The parsed text; a text that the arena holds is parsed only once.
enum status check_parse_text(const struct reader *r, const struct check_text *text, cJSON **root,
                             struct arena *arena);
