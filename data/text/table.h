// Tables: comma-separated values with a header line, after RFC 4180, read row by row. Strict: every
// row has as many cells as the header, a quote occurs only at the start of a cell, column names are
// unique, and cells are plain (data/base/plain.h), where tabs and line ends count as blanks. Cells
// are slices of the file's text, so reading a table of a hundred thousand rows is as fast as its
// bytes. An error names the file, the line, the column, what was expected and what was found.
#pragma once

#include <stdint.h>

#include "data/base/file.h"

// Not ended by '\0'. What follows is a comma, a quote, a line end or the end of the file, none of
// which can continue a number.
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
    struct cell *cells; // [column_count]: the current row
    int line;           // where the current row begins, from 1
    int row;            // the current row, from 0; -1 before the first
    // the reader's own
    const char *at, *end;
    int next_line;
    struct arena *arena; // cells with doubled quotes are copied to it
};

// Reads the header. BAD_INPUT: unreadable, no header, a duplicate or empty name.
enum status table_open(struct table *t, const char *path, struct arena *arena, struct error *err);
// The same on text in memory; text[size] is '\0'.
enum status table_open_text(struct table *t, const char *path, const char *text, size_t size,
                            struct arena *arena, struct error *err);
// Reads the next row into cells; *more false at the end. Empty lines are ignored at the end and
// errors elsewhere.
enum status table_next(struct table *t, bool *more, struct error *err);

int table_column(const struct table *t, const char *name); // -1: there is none
bool cell_is(struct cell cell, const char *text);
bool cell_contains(struct cell cell, const char *text); // case-insensitive
const char *cell_copy(struct cell cell, struct arena *arena);

// An empty cell leaves *value unchanged.
enum status table_whole(const struct table *t, int column, int64_t low, int64_t high,
                        int64_t *value, struct error *err);
enum status table_number(const struct table *t, int column, double low, double high, double *value,
                         struct error *err);
enum status table_name(const struct table *t, int column, const char *const *names, int *value,
                       struct error *err);
// BAD_INPUT at this cell: "FILE: line N, column NAME: " and the given text.
enum status table_refuse(const struct table *t, int column, struct error *err, const char *format,
                         ...) __attribute__((format(printf, 4, 5)));

// Cells of comma-separated values (RFC 4180), as every writer of tables writes them.

// The text as a cell: in quotes, with quotes doubled, where it has a comma, a quote, a line end or
// a blank at either end. Spreadsheets compute a text that begins with = + - @ or a tab, so it gets
// an apostrophe in front of it, as does one that begins with an apostrophe: whoever takes one
// leading apostrophe away has the text back. Numbers, also with a unit ("-0.5 %"), and dashes are
// as they are. May return the text itself.
const char *csv_cell(const char *text, struct arena *arena);
