// Lines of a manifest, and their expansion.
#ifndef PLUMBLINE_SOLVE_BATCH_MANIFEST_H
#define PLUMBLINE_SOLVE_BATCH_MANIFEST_H

#include "data/text/json.h"
#include "solve/batch/batch.h"

// The value of a key of a line, or several in turn.
struct axis {
    const char *key;
    struct json *values;
    int count;
    bool is_option;
};

struct line {
    const char *manifest, *file; // file: with the line, for messages
    const char *name;            // NULL: none given
    struct axis *axes;
    int axis_count;
};

// A value for each axis.
struct point {
    const struct line *line;
    int *at;               // [axis_count]
    struct arena *scratch; // for this point only
};

// NULL: the line has no such key.
const struct json *point_value(const struct point *c, const char *key);
const char *value_text(const struct json *value, struct arena *arena); // as shown in a table

// settings.c: "--key value", without the value for a switch; the caller provides room for two
// words.
void add_words(const char **words, int *count, const char *key, const char *value,
               struct arena *arena);
// The options of plumbline solve in the line.
enum status point_options(struct instance *i, const struct point *c, struct arena *arena,
                          struct error *err);
// Whether solve accepts them for this problem; sets what follows from both.
enum status point_suits(struct instance *i, const struct point *c, const char *problem_path,
                        struct arena *arena, struct error *err);

// documents.c: the instance's folder with its documents; sets its id. BAD_INPUT: it does not fit.
// UNAVAILABLE: it cannot be written.
enum status point_place(const struct batch *b, struct instance *i, const struct point *c,
                        struct error *err);

#endif
