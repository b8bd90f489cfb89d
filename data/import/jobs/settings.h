// A configuration of another program (TOML, YAML, JSON) as settings: a value each, under its keys
// joined by dots; what stands in a list has its number behind it, "parts[0][2]". A table says what
// becomes of which key; what no table knows is told, never passed over in silence.
#ifndef PLUMBLINE_DATA_IMPORT_JOBS_SETTINGS_H
#define PLUMBLINE_DATA_IMPORT_JOBS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/inputs/job.h"
#include "data/text/document.h"

struct setting {
    const char *key;
    const char *text; // NULL: nothing (null, "auto", an empty list)
    int line;
};

struct settings {
    struct document document;
    const char *begin;     // of its text
    struct setting *items; // in their order
    int count, capacity;
    const char *left, *notes; // what is told at the end
    int unknown, left_count;
    struct arena *arena;
};

// BAD_INPUT with the line: not of this syntax, a key twice, more than 16,384 settings, deeper than
// 64. YAML without anchors, aliases and tags; ${key} and ${.key} of OmegaConf are followed.
enum status settings_read_toml(struct settings *s, const char *path, struct arena *arena,
                               struct error *err);
enum status settings_read_yaml(struct settings *s, const char *path, struct arena *arena,
                               struct error *err);
enum status settings_read_json(struct settings *s, const char *path, struct arena *arena,
                               struct error *err); // comments and a comma before ] or } may stand

const struct setting *setting_of(const struct settings *s, const char *key); // NULL: none
// Whether the list `key` has the text, upper and lower case alike.
bool setting_lists(const struct settings *s, const char *key, const char *text);
int setting_list_length(const struct settings *s, const char *key); // elements, 0: no such list

enum setting_kind {
    TAKE_FLAG,   // to: bool; true, false
    TAKE_COUNT,  // to: int64_t; 0 and more
    TAKE_WHOLE,  // the same, -1 too
    TAKE_NUMBER, // to: double
    TAKE_TEXT,   // to: const char *
    TAKE_LATER,  // read by the caller, a list or what has several kinds
    TAKE_NOT,    // nothing of a job: left out and told so. "section.*": all below; "*": whatever
                 // is not within two letters of a known key
};
struct setting_known {
    const char *key;
    enum setting_kind kind;
    size_t offset;
};
// Puts what stands there into *to, at each key's offset; nothing leaves it as it was. Keys that the
// table does not know are noted with the nearest one. BAD_INPUT: a value of another kind.
enum status settings_take(struct settings *s, const struct setting_known *table, int count,
                          void *to, struct error *err);

// A line on stderr, once the result is written: what the job does not hold, or was taken otherwise.
void settings_note(struct settings *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void settings_tell(const struct settings *s);
// BAD_INPUT: "FILE: line N: key: " and the given text; key not there: without the line.
enum status settings_refuse(const struct settings *s, const char *key, struct error *err,
                            const char *format, ...) __attribute__((format(printf, 4, 5)));

// ---- the job that is made of them

// What every imported job begins with: no budget, 4-byte gradients, Adam.
struct job job_imported(const char *name, const struct settings *s);
// all / by, which must be whole and at least 1. `what`: in words, for the message.
enum status settings_divide(const struct settings *s, const char *what, int64_t all, int64_t by,
                            int *to, struct error *err);
// Checks and writes it, and tells the notes.
enum status settings_save_job(struct settings *s, struct job *j, const char *output,
                              struct error *err);

// ---- for the readers of the three syntaxes

struct settings_source {
    struct settings *s;
    const char *at, *end;
    char *scratch; // as long as the file
    int line, depth;
    char equals;   // between a key and its value: '=' or ':'
    bool doubling; // '' in quotes of one stroke is one of them
};
enum status source_open(struct settings_source *r, struct settings *s, const char *path,
                        struct arena *arena, struct error *err);
enum status source_refuse(const struct settings_source *r, struct error *err, const char *format,
                          ...) __attribute__((format(printf, 3, 4)));
void source_skip_blanks(struct settings_source *r); // within the line
void source_skip_lines(struct settings_source *r);  // and over comments and ends of lines
enum status source_string(struct settings_source *r, const char **text, struct error *err);
// A string, list, table in braces or bare word, added under the key.
enum status source_value(struct settings_source *r, const char *key, struct error *err);
enum status source_add(struct settings_source *r, const char *key, const char *text,
                       struct error *err);
const char *source_join(const struct settings_source *r, const char *before, const char *part);

#endif
