// One input of the reader of tables: either refused in one line, or equal after being written and
// read again.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/text/table.h"
#include "tests/fuzz/fuzz.h"

static void give_up(const char *why, const char *text)
{
    fprintf(stderr, "fuzz: table: %s: %s\n", why, text);
    abort();
}

static void check_refusal(const struct error *err)
{
    if (err->status != BAD_INPUT || !*err->text || strchr(err->text, '\n') ||
        strncmp(err->text, "fuzz.csv: ", 10))
        give_up("not one clear line", err->text);
}

// Every cell quoted, every quote doubled.
static size_t write_row(char *to, const struct cell *cells, int count)
{
    char *at = to;
    for (int i = 0; i < count; i++) {
        *at++ = '"';
        for (int k = 0; k < cells[i].length; k++) {
            if (cells[i].text[k] == '"') *at++ = '"';
            *at++ = cells[i].text[k];
        }
        *at++ = '"';
        *at++ = i + 1 < count ? ',' : '\n';
    }
    return (size_t)(at - to);
}

static bool same_cells(const struct cell *a, const struct cell *b, int count)
{
    for (int i = 0; i < count; i++)
        if (a[i].length != b[i].length || memcmp(a[i].text, b[i].text, (size_t)a[i].length))
            return false;
    return true;
}

// What was read and written again reads the same.
static void check_again(const char *text, size_t length, const char *input, size_t size,
                        struct arena *arena)
{
    struct table a, b;
    struct error err = {OK, ""};
    bool more = true, more_again;
    if (table_open_text(&a, "fuzz.csv", input, size, arena, &err) ||
        table_open_text(&b, "fuzz.csv", text, length, arena, &err))
        give_up("written again, it is refused", err.text);
    if (a.column_count != b.column_count || !same_cells(a.columns, b.columns, a.column_count))
        give_up("written again, other columns", text);
    while (more) {
        if (table_next(&a, &more, &err) || table_next(&b, &more_again, &err))
            give_up("written again, it is refused", err.text);
        if (more != more_again || (more && !same_cells(a.cells, b.cells, a.column_count)))
            give_up("written again, it differs", text);
    }
}

bool fuzz_table(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct table t;
    struct error err = {OK, ""};
    bool more = true;
    arena_open(&arena, NULL);
    char *input = TAKE(&arena, size + 1, char), *text = TAKE(&arena, 8 * size + 1024, char);
    memcpy(input, data, size);
    enum status status = table_open_text(&t, "fuzz.csv", input, size, &arena, &err);
    size_t length = status == OK ? write_row(text, t.columns, t.column_count) : 0;
    while (status == OK && more) {
        status = table_next(&t, &more, &err);
        // A row of one empty cell would read as no row.
        if (status == OK && more) length += write_row(text + length, t.cells, t.column_count);
    }
    if (status == OK) check_again(text, length, input, size, &arena);
    else check_refusal(&err);
    arena_close(&arena);
    return status == OK;
}
