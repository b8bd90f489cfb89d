// A strict reader of JSON for files that nobody vouches for. Numbers are whole numbers of at most
// 18 digits, keys of an object differ, nesting and the number of values are bounded, text is UTF-8.
// Nothing is converted and nothing is guessed.
#ifndef PLUMBLINE_SOLVE_CHECKER_READ_JSON_H
#define PLUMBLINE_SOLVE_CHECKER_READ_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/base/arena.h"
#include "data/base/status.h"

enum value_type { VALUE_NULL, VALUE_BOOL, VALUE_NUMBER, VALUE_TEXT, VALUE_ARRAY, VALUE_OBJECT };

struct value {
    const char *key;    // within an object, else NULL
    struct value *next; // the element behind it
    union {
        int64_t number; // also of a bool
        const char *text;
        struct value *first;
    };
    int count; // elements
    enum value_type type;
};

// Where a value stands, for messages: file and path inside it.
struct reader {
    const char *file;
    struct error *err;
};

enum { CHECK_PATH_MAX = 96 };

enum status check_parse(const struct reader *r, const char *text, size_t size, struct value **root,
                        struct arena *arena);

// BAD_INPUT: "FILE: WHERE: ...".
enum status check_refuse(const struct reader *r, const char *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

const struct value *value_get(const struct value *object, const char *key); // NULL: absent
// The object has these keys and no others; those that start with '?' may be absent.
enum status value_keys(const struct reader *r, const struct value *object, const char *where,
                       const char *const *keys);
enum status value_expect(const struct reader *r, const struct value *v, const char *where,
                         enum value_type type);
// An integer under this key; `to` keeps what it holds where the key is absent.
enum status value_integer(const struct reader *r, const struct value *object, const char *where,
                          const char *key, int64_t low, int64_t high, int64_t *to);
enum status value_int(const struct reader *r, const struct value *object, const char *where,
                      const char *key, int low, int high, int *to);
enum status value_bool(const struct reader *r, const struct value *object, const char *where,
                       const char *key, bool *to);
// One of the names, ended by NULL; *to is its index.
enum status value_name(const struct reader *r, const struct value *v, const char *where,
                       const char *const *names, int *to);
// A short array of numbers, of what the words say.
enum status value_row(const struct reader *r, const struct value *v, const char *where,
                      const char *words, int count, int64_t *to);
// An array of exactly count integers.
enum status value_integers(const struct reader *r, const struct value *v, const char *where,
                           int count, int64_t low, int64_t high, int64_t **to, struct arena *arena);

#endif
