// Tables: comma-separated values with a header line, after RFC 4180, read row by row. Strict: every
// row has the header's number of cells, a quote stands at a cell's start or not at all, names of
// columns are there once. Cells are slices of the file's text, so that a table of a hundred
// thousand rows is read at the speed of its bytes. An error names the file, the line, the column,
// what was expected and what was found.
#ifndef PLUMBLINE_DATA_TEXT_TABLE_H
#define PLUMBLINE_DATA_TEXT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "data/base/arena.h"
#include "data/base/file.h"
#include "data/base/status.h"

// Not ended by '\0'; what follows is a comma, a quote, a line end or the file's end, none of which
// a number goes on with.
struct cell {
    const char *text;
    int length;
};

enum { TABLE_COLUMNS_MAX = 256, TABLE_CELL_MAX = 1 << 16 };

struct table {
    const char *path;
    const char *text; // the file's bytes
    size_t size;
    struct cell *columns; // their names
    int column_count;
    struct cell *cells; // [column_count]: the row at hand
    int line;           // where the row at hand begins, from 1
    int row;            // the row at hand, from 0; -1 before the first
    // the reader's own
    const char *at, *end;
    int next_line;
    struct arena *arena; // cells with doubled quotes are copied to it
};

// Reads the header. BAD_INPUT: unreadable, no header, a name twice or empty.
enum status table_open(struct table *t, const char *path, struct arena *arena, struct error *err);
// The same on text in memory; text[size] is '\0'.
enum status table_open_text(struct table *t, const char *path, const char *text, size_t size,
                            struct arena *arena, struct error *err);
// The next row into cells; *more false at the end. Empty lines at the end are no rows, elsewhere
// they are errors.
enum status table_next(struct table *t, bool *more, struct error *err);

int table_column(const struct table *t, const char *name); // -1: there is none
bool cell_is(struct cell cell, const char *text);
bool cell_contains(struct cell cell, const char *text); // letters' case does not matter
const char *cell_copy(struct cell cell, struct arena *arena);

// An empty cell leaves *value as it was.
enum status table_whole(const struct table *t, int column, int64_t low, int64_t high,
                        int64_t *value, struct error *err);
enum status table_number(const struct table *t, int column, double low, double high, double *value,
                         struct error *err);
enum status table_name(const struct table *t, int column, const char *const *names, int *value,
                       struct error *err);
// BAD_INPUT at this cell: "FILE: line N, column NAME: " and the given text.
enum status table_refuse(const struct table *t, int column, struct error *err, const char *format,
                         ...) __attribute__((format(printf, 4, 5)));

#endif
