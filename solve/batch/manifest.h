// Lines of a manifest, and what they expand to.
#ifndef PLUMBLINE_SOLVE_BATCH_MANIFEST_H
#define PLUMBLINE_SOLVE_BATCH_MANIFEST_H

#include "data/text/json.h"
#include "solve/batch/batch.h"

// What a key of a line may be: one value, or one after the other.
struct axis {
    const char *key;
    struct json *values;
    int count;
    bool is_option;
};

struct line {
    const char *manifest, *file; // file: with the line, for messages
    const char *name;            // NULL: none is given
    struct axis *axes;
    int axis_count;
};

// A value for each axis.
struct point {
    const struct line *line;
    int *at;               // [axis_count]
    struct arena *scratch; // for what this point alone needs
};

// NULL: the line has no such axis.
const struct json *point_value(const struct point *c, const char *key);
const char *value_text(const struct json *value, struct arena *arena); // as it stands in a table

// settings.c: "--key value", where the value is no switch; room for two words is the caller's.
void add_words(const char **words, int *count, const char *key, const char *value,
               struct arena *arena);
// The options of plumbline solve that the line states.
enum status point_options(struct instance *i, const struct point *c, struct arena *arena,
                          struct error *err);
// Whether solve takes them for this problem; sets what follows from both.
enum status point_suits(struct instance *i, const struct point *c, const char *problem_path,
                        struct arena *arena, struct error *err);

// documents.c: the instance's folder, with its documents; sets its id.
// BAD_INPUT: it does not fit. UNAVAILABLE: it cannot be written.
enum status point_place(const struct batch *b, struct instance *i, const struct point *c,
                        struct error *err);

#endif
