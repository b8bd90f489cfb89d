// Members of structures as keys of objects: one table reads and writes them, and checks the ranges
// of those built in memory.
#pragma once

#include <limits.h>
#include <math.h>

#include "data/text/document.h"

enum { MEMBERS_MAX = 64 };

// Reading and writing that no table can express. `to`, `from`: the member; `context`: as passed to
// members_read and members_write. Absent values are passed, too.
typedef enum status member_get(const struct json *value, void *to, const void *context,
                               struct arena *arena, struct error *err);
typedef void member_put(struct json_writer *w, const char *key, const void *from,
                        const void *context);

// The heads of such functions.
#define GET_MEMBER(name)                                                                           \
    static enum status name(                                                                       \
        const struct json *value __attribute__((unused)), void *to __attribute__((unused)),        \
        const void *context __attribute__((unused)), struct arena *arena __attribute__((unused)),  \
        struct error *err __attribute__((unused)))
#define PUT_MEMBER(name)                                                                           \
    static void name(struct json_writer *w, const char *key __attribute__((unused)),               \
                     const void *from __attribute__((unused)),                                     \
                     const void *context __attribute__((unused)))

// The value for which a key is omitted when written.
#define ALWAYS_WRITTEN (-HUGE_VAL) // never omitted, except a text that is NULL
#define IF_SET 0.0 // 0, false, the first of the names; an object without any member set
#define IF_STATED (-1.0)
#define NOT_BY_TABLE HUGE_VAL

struct member {
    const char *key;
    enum json_type type;
    enum json_need need;
    double above; // one of the above, or a number: the key is written if the value is greater
    size_t at;
    // The member is in the structure that a pointer at `at` points to, which must exist before
    // reading.
    bool pointed;
    size_t inside;
    double low, high; // of an object, unless both are 0: of its first member
    const char *const *names;
    const struct members *of; // of an object, or of each element of a list
    size_t count_at;          // for a list or array: its int count
    int most;                 // maximum count
    // Of an array: JSON_INT, _COUNT, _NUMBER, _NAME, _TEXT; JSON_FLAG: a set of `names`, as a bool
    // for each; else JSON_SKIP.
    enum json_type element;
    member_get *get; // instead of all the above
    member_put *put;
};

struct members {
    const struct member *rows;
    size_t count, size;  // size of the structure
    const void *initial; // value of a structure before it is read; NULL: unchanged
    bool flat;           // written on one line
    member_get *finish;  // after reading, with the object and the structure; may be NULL
};

// Makes NAME_members from NAME_rows; put `static` before it if no other file needs it.
#define MEMBERS(name, type, initial, flat, finish)                                                 \
    const struct members name##_members = {                                                        \
        name##_rows, ARRAY_LENGTH(name##_rows), sizeof(type), initial, flat, finish}

#define KEY_ROW(key, type, need, above, at, low, high, names, of, count_at, most, element, get,    \
                put)                                                                               \
    {                                                                                              \
        key, type, need, above, at, false, 0, low, high, names, of, count_at, most, element, get,  \
            put                                                                                    \
    }
#define KEY_OF(key, type, need, above, at, low, high, names, get, put)                             \
    KEY_ROW(key, type, need, above, at, low, high, names, NULL, 0, 0, JSON_SKIP, get, put)
#define KEY_SCALAR(s, type, member, need, above, low, high)                                        \
    KEY_OF(#member, type, need, above, offsetof(struct s, member), low, high, NULL, NULL, NULL)
#define KEY_TEXT(s, member, need) KEY_SCALAR(s, JSON_TEXT, member, need, ALWAYS_WRITTEN, 0, 0)
#define KEY_INT(s, member, need, above, low, high)                                                 \
    KEY_SCALAR(s, JSON_INT, member, need, above, low, high)
#define KEY_COUNT(s, member, need, above, low, high)                                               \
    KEY_SCALAR(s, JSON_COUNT, member, need, above, (double)(low), (double)(high))
#define KEY_COUNT_PUT(s, member, need, low, high, put)                                             \
    KEY_OF(#member, JSON_COUNT, need, ALWAYS_WRITTEN, offsetof(struct s, member), (double)(low),   \
           (double)(high), NULL, NULL, put)
#define KEY_NUMBER(s, member, need, above, low, high)                                              \
    KEY_SCALAR(s, JSON_NUMBER, member, need, above, low, high)
#define KEY_BOOL(s, member, need, above) KEY_SCALAR(s, JSON_BOOL, member, need, above, 0, 0)
// An int: -1 not stated, otherwise 0 or 1.
#define KEY_FLAG(s, member) KEY_SCALAR(s, JSON_FLAG, member, OPTIONAL, IF_STATED, 0, 0)
// A bool that is true if the key says false.
#define KEY_UNLESS(key, s, member)                                                                 \
    KEY_OF(key, JSON_UNLESS, OPTIONAL, IF_SET, offsetof(struct s, member), 0, 0, NULL, NULL, NULL)
#define KEY_NAME(s, member, need, above, names)                                                    \
    KEY_OF(#member, JSON_NAME, need, above, offsetof(struct s, member), 0, 0, names, NULL, NULL)
#define KEY_OBJECT(key, s, member, need, above, of)                                                \
    KEY_ROW(key, JSON_OBJECT, need, above, offsetof(struct s, member), 0, 0, NULL, of, 0, 0,       \
            JSON_SKIP, NULL, NULL)
// member: a pointer to `count` structures, or numbers from low to high, at most `most` of them.
#define KEY_LIST(s, member, count, need, above, most, of)                                          \
    KEY_ROW(#member, JSON_ARRAY, need, above, offsetof(struct s, member), 0, 0, NULL, of,          \
            offsetof(struct s, count), most, JSON_SKIP, NULL, NULL)
#define KEY_ARRAY(s, member, count, element, need, above, low, high, most)                         \
    KEY_ROW(#member, JSON_ARRAY, need, above, offsetof(struct s, member), low, high, NULL, NULL,   \
            offsetof(struct s, count), most, element, NULL, NULL)
// member: a pointer to `count` texts, `least` to `most` of them where the key is present.
#define KEY_TEXTS(s, member, count, need, least, most)                                             \
    KEY_ARRAY(s, member, count, JSON_TEXT, need, IF_SET, least, 0, most)
// member: a bool for each of the names, of which the array lists those that are true, each once.
#define KEY_SET(s, member, need, above, names)                                                     \
    KEY_ROW(#member, JSON_ARRAY, need, above, offsetof(struct s, member), 0, 0, names, NULL, 0,    \
            INT_MAX, JSON_FLAG, NULL, NULL)
#define KEY_PART(key, type, need, at, get, put)                                                    \
    KEY_OF(key, type, need, ALWAYS_WRITTEN, at, 0, 0, NULL, get, put)
// An array of structures of a table, read and written by functions, which determine the count.
#define KEY_EACH(key, need, at, of, get, put)                                                      \
    KEY_ROW(key, JSON_ARRAY, need, ALWAYS_WRITTEN, at, 0, 0, NULL, of, 0, INT_MAX, JSON_SKIP, get, \
            put)
// An optional object of a table, read and written by functions.
#define KEY_OBJECT_PART(key, at, of, get, put)                                                     \
    KEY_ROW(key, JSON_OBJECT, OPTIONAL, ALWAYS_WRITTEN, at, 0, 0, NULL, of, 0, 0, JSON_SKIP, get,  \
            put)
// Ignored when read: written for people, or read by `finish`.
#define KEY_PUT(key, at, put) KEY_PART(key, JSON_SKIP, OPTIONAL, at, NULL, put)
#define KEY_SKIP(key) KEY_OF(key, JSON_SKIP, OPTIONAL, NOT_BY_TABLE, 0, 0, 0, NULL, NULL, NULL)

enum status members_read(const struct json *object, const struct members *m, void *to,
                         const void *context, struct arena *arena, struct error *err);
// All elements of an array, into as many structures.
enum status members_read_each(const struct json *array, const struct members *m, void *to,
                              const void *context, struct arena *arena, struct error *err);
// A document: its file, envelope and root.
enum status document_load(struct document *d, const char *path, const char *kind,
                          const struct members *m, void *to, const void *context,
                          struct arena *arena, struct error *err);
enum status document_save(const struct document *d, const char *kind, const struct members *m,
                          const void *from, const void *context, const char *path,
                          struct arena *arena, struct error *err);
void members_write(struct json_writer *w, const char *key, const struct members *m,
                   const void *from, const void *context);
void members_write_each(struct json_writer *w, const char *key, const struct members *m,
                        const void *from, int count, const void *context);
// For an object that is already open.
void members_put(struct json_writer *w, const struct members *m, const void *from,
                 const void *context);
// BAD_INPUT: a number to be written is out of range. where: "", "layout."; starts the message.
enum status members_check(const struct members *m, const void *of, const char *where,
                          struct error *err);
// Flags as a list of names, each once, in the order of `names`, which ends with NULL.
void set_put(struct json_writer *w, const char *key, const char *const *names, const bool *set);
enum status set_get(const struct json *array, const char *const *names, bool *set,
                    struct arena *arena, struct error *err);
