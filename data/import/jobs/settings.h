// A configuration of another program (TOML, YAML, JSON) as settings: one value each, under its keys
// joined by dots; elements of a list have their index at the end, "parts[0][2]". A table defines
// what happens to each key; keys that no table knows are reported, never ignored silently.
#ifndef PLUMBLINE_DATA_IMPORT_JOBS_SETTINGS_H
#define PLUMBLINE_DATA_IMPORT_JOBS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/inputs/job.h"
#include "data/text/document.h"

struct setting {
    const char *key;
    const char *text; // NULL: no value (null, "auto", an empty list)
    int line;
};

struct settings {
    struct document document;
    const char *begin;     // of its text
    struct setting *items; // in order
    int count, capacity;
    const char *left, *notes; // printed at the end
    int unknown, left_count;
    struct arena *arena;
};

// BAD_INPUT with the line: wrong syntax, a duplicate key, more than 16,384 settings, deeper than
// 64. YAML without anchors, aliases and tags; OmegaConf's ${key} and ${.key} are resolved.
enum status settings_read_toml(struct settings *s, const char *path, struct arena *arena,
                               struct error *err);
enum status settings_read_yaml(struct settings *s, const char *path, struct arena *arena,
                               struct error *err);
enum status settings_read_json(struct settings *s, const char *path, struct arena *arena,
                               struct error *err); // allows comments, and a comma before ] or }

const struct setting *setting_of(const struct settings *s, const char *key); // NULL: none
// Whether the list `key` contains the text, case-insensitively.
bool setting_lists(const struct settings *s, const char *key, const char *text);
int setting_list_length(const struct settings *s, const char *key); // elements, 0: no such list

enum setting_kind {
    TAKE_FLAG,   // to: bool; true, false
    TAKE_COUNT,  // to: int64_t; 0 and more
    TAKE_WHOLE,  // the same, or -1
    TAKE_NUMBER, // to: double
    TAKE_TEXT,   // to: const char *
    TAKE_LATER,  // read by the caller: a list, or a value of several possible kinds
    TAKE_NOT,    // nothing for a job: left out, with a message. "section.*": everything below; "*":
                 // everything that is not within two letters of a known key
};
struct setting_known {
    const char *key;
    enum setting_kind kind;
    size_t offset;
};
// Stores the values in *to, at each key's offset; a setting without value leaves it unchanged. Keys
// that are not in the table are noted with the nearest one. BAD_INPUT: a value of another kind.
enum status settings_take(struct settings *s, const struct setting_known *table, int count,
                          void *to, struct error *err);

// A line on stderr, after the result is written: what the job does not contain, or what was
// changed.
void settings_note(struct settings *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void settings_tell(const struct settings *s);
// BAD_INPUT: "FILE: line N: key: " and the given text; without the line if the key is absent.
enum status settings_refuse(const struct settings *s, const char *key, struct error *err,
                            const char *format, ...) __attribute__((format(printf, 4, 5)));

// ---- the job made from settings

// The start of every imported job: no budget, 4-byte gradients, Adam.
struct job job_imported(const char *name, const struct settings *s);
// all / by, which must be an integer and at least 1. `what`: in words, for the message.
enum status settings_divide(const struct settings *s, const char *what, int64_t all, int64_t by,
                            int *to, struct error *err);
// Checks and writes the job, then prints the notes.
enum status settings_save_job(struct settings *s, struct job *j, const char *output,
                              struct error *err);

// ---- for the readers of the three syntaxes

struct settings_source {
    struct settings *s;
    const char *at, *end;
    char *scratch; // as long as the file
    int line, depth;
    char equals;   // between a key and its value: '=' or ':'
    bool doubling; // '' inside single quotes stands for one quote
};
enum status source_open(struct settings_source *r, struct settings *s, const char *path,
                        struct arena *arena, struct error *err);
enum status source_refuse(const struct settings_source *r, struct error *err, const char *format,
                          ...) __attribute__((format(printf, 3, 4)));
void source_skip_blanks(struct settings_source *r); // within the line
void source_skip_lines(struct settings_source *r);  // also over comments and line ends
enum status source_string(struct settings_source *r, const char **text, struct error *err);
// A string, list, table in braces or bare word, added under the key.
enum status source_value(struct settings_source *r, const char *key, struct error *err);
enum status source_add(struct settings_source *r, const char *key, const char *text,
                       struct error *err);
const char *source_join(const struct settings_source *r, const char *before, const char *part);

#endif
