// Tables: one pass over the bytes, with a slice for every cell. A cell is interpreted only where it
// is used.
#include "data/text/table.h"

#include "data/base/plain.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FOUND_SHOWN = 60 }; // bytes of a bad cell that an error repeats

static enum status refuse_line(const struct table *t, struct error *err, const char *what, int cell)
{
    return refuse(err, "%s: line %d, cell %d: %s", t->path, t->next_line, cell + 1, what);
}

// ---- cells

// Tabs and line ends within a cell count as blanks: a name is on one line.
static char blank_of(char c) { return c == '\t' || c == '\n' || c == '\r' ? ' ' : c; }

// The cell as others see it: of doubled quotes one, and nothing that must not be printed.
static enum status take_cell(struct table *t, struct cell *cell, const char *start, int length,
                             bool quoted, int number, struct error *err)
{
    char what[PLAIN_FOUND_MAX], text[PLAIN_FOUND_MAX + 40];
    if (length > TABLE_CELL_MAX)
        return refuse_line(t, err, "expected a cell of at most 65536 bytes", number);
    *cell = (struct cell){start, length};
    bool doubled = quoted && length && memchr(start, '"', (size_t)length);
    if (!doubled && text_is_plain(start, (size_t)length, what)) return OK;
    char *copy = TAKE(t->arena, length + 1, char);
    int copied = 0;
    for (int i = 0; i < length; i++) {
        copy[copied++] = blank_of(start[i]);
        if (quoted && start[i] == '"') i++;
    }
    *cell = (struct cell){copy, copied};
    if (text_is_plain(copy, (size_t)copied, what)) return OK;
    snprintf(text, sizeof text, "expected text, found a %s", what);
    return refuse_line(t, err, text, number);
}

// A quoted cell; t->at is after its opening quote, and afterwards after the closing one.
static enum status read_quoted(struct table *t, struct cell *cell, int number, struct error *err)
{
    const char *start = t->at, *close = start, *line = start;
    for (;; close += 2) {
        close = memchr(close, '"', (size_t)(t->end - close));
        if (!close)
            return refuse_line(t, err, "expected a closing quote before the end of the file",
                               number);
        if (close + 1 == t->end || close[1] != '"') break;
    }
    TRY(take_cell(t, cell, start, (int)(close - start), true, number, err));
    while ((line = memchr(line, '\n', (size_t)(close - line)))) t->next_line++, line++;
    t->at = close + 1;
    return OK;
}

static enum status read_plain(struct table *t, struct cell *cell, int number, struct error *err)
{
    const char *start = t->at, *at = start;
    for (; at < t->end && *at != ',' && *at != '\n' && *at != '\r'; at++)
        if (*at == '"')
            return refuse_line(t, err, "expected quotes around the whole cell, found one inside it",
                               number);
    TRY(take_cell(t, cell, start, (int)(at - start), false, number, err));
    t->at = at;
    return OK;
}

// After a cell: a comma, the line's end, or the file's. *ended: the line has no more cells.
static enum status read_separator(struct table *t, bool *ended, int number, struct error *err)
{
    *ended = true;
    if (t->at == t->end) return OK;
    if (*t->at == ',') {
        t->at++;
        *ended = false;
        return OK;
    }
    if (*t->at == '\r') t->at++;
    if (t->at == t->end || *t->at != '\n')
        return refuse_line(t, err, "expected a comma or the end of the line", number);
    t->at++;
    return OK;
}

// Reads one line's cells into cells[0..max); *count is their number.
static enum status read_line(struct table *t, struct cell *cells, int max, int *count,
                             struct error *err)
{
    bool ended = false;
    t->line = t->next_line;
    for (*count = 0; !ended; ++*count) {
        if (*count == max)
            return refuse(err, "%s: line %d: expected %d cells, found more", t->path, t->line, max);
        if (t->at < t->end && *t->at == '"') {
            t->at++;
            TRY(read_quoted(t, &cells[*count], *count, err));
        } else {
            TRY(read_plain(t, &cells[*count], *count, err));
        }
        TRY(read_separator(t, &ended, *count, err));
    }
    t->next_line++;
    return OK;
}

// ---- tables

static enum status check_header(const struct table *t, struct error *err)
{
    for (int i = 0; i < t->column_count; i++) {
        if (t->columns[i].length == 0)
            return refuse(err, "%s: line 1: column %d has no name", t->path, i + 1);
        for (int k = 0; k < i; k++)
            if (t->columns[k].length == t->columns[i].length &&
                !memcmp(t->columns[k].text, t->columns[i].text, (size_t)t->columns[i].length))
                return refuse(
                    err, "%s: line 1: column %d: \"%.*s\" names two columns", t->path, i + 1,
                    t->columns[i].length < FOUND_SHOWN ? t->columns[i].length : FOUND_SHOWN,
                    t->columns[i].text);
    }
    return OK;
}

enum status table_open_text(struct table *t, const char *path, const char *text, size_t size,
                            struct arena *arena, struct error *err)
{
    static const char mark[] = "\xEF\xBB\xBF"; // some programs begin UTF-8 with it
    struct cell columns[TABLE_COLUMNS_MAX];
    *t = (struct table){.path = path,
                        .text = text,
                        .size = size,
                        .row = -1,
                        .at = text,
                        .end = text + size,
                        .next_line = 1,
                        .arena = arena};
    if (size >= 3 && !memcmp(text, mark, 3)) t->at += 3;
    if (t->at == t->end)
        return refuse(err, "%s: expected a line with the columns' names, found nothing", path);
    TRY(read_line(t, columns, TABLE_COLUMNS_MAX, &t->column_count, err));
    t->columns = TAKE_COPY(arena, columns, t->column_count);
    t->cells = TAKE(arena, t->column_count, struct cell);
    return check_header(t, err);
}

enum status table_open(struct table *t, const char *path, struct arena *arena, struct error *err)
{
    const char *text;
    size_t size;
    TRY(file_read(path, &text, &size, arena, err));
    return table_open_text(t, path, text, size, arena, err);
}

static bool only_line_ends(const char *at, const char *end)
{
    while (at < end && (*at == '\n' || *at == '\r')) at++;
    return at == end;
}

enum status table_next(struct table *t, bool *more, struct error *err)
{
    int count;
    bool at_line_end = t->at < t->end && (*t->at == '\n' || *t->at == '\r');
    *more = t->at < t->end && !(at_line_end && only_line_ends(t->at, t->end));
    if (!*more) return OK;
    TRY(read_line(t, t->cells, t->column_count, &count, err));
    if (count < t->column_count)
        return refuse(err, "%s: line %d: expected %d cells, found %d", t->path, t->line,
                      t->column_count, count);
    t->row++;
    return OK;
}

int table_column(const struct table *t, const char *name)
{
    for (int i = 0; i < t->column_count; i++)
        if (cell_is(t->columns[i], name)) return i;
    return -1;
}

// ---- values of cells

bool cell_is(struct cell cell, const char *text)
{
    size_t length = strlen(text);
    return (size_t)cell.length == length && !memcmp(cell.text, text, length);
}

bool cell_contains(struct cell cell, const char *text)
{
    int length = (int)strlen(text);
    int first = tolower((unsigned char)text[0]), other = toupper((unsigned char)text[0]);
    for (int i = 0; i + length <= cell.length; i++)
        if ((cell.text[i] == first || cell.text[i] == other) &&
            !strncasecmp(cell.text + i, text, (size_t)length))
            return true;
    return false;
}

const char *cell_copy(struct cell cell, struct arena *arena)
{
    char *copy = TAKE(arena, cell.length + 1, char);
    if (cell.length) memcpy(copy, cell.text, (size_t)cell.length);
    return copy;
}

enum status table_refuse(const struct table *t, int column, struct error *err, const char *format,
                         ...)
{
    char text[ERROR_TEXT_MAX];
    struct cell found = t->cells[column], name = t->columns[column];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    int shown = 0; // a line end inside the cell would break the single line of an error
    while (shown < found.length && shown < FOUND_SHOWN && found.text[shown] != '\n' &&
           found.text[shown] != '\r')
        shown++;
    return refuse(err, "%s: line %d, column %.*s: %s, found '%.*s'", t->path, t->line,
                  name.length < FOUND_SHOWN ? name.length : FOUND_SHOWN, name.text, text, shown,
                  found.text);
}

enum status table_whole(const struct table *t, int column, int64_t low, int64_t high,
                        int64_t *value, struct error *err)
{
    struct cell cell = t->cells[column];
    if (cell.length == 0) return OK;
    bool negative = cell.text[0] == '-';
    int64_t x = 0;
    bool whole = cell.length > negative && cell.length <= 18;
    for (int i = negative; i < cell.length && whole; i++) {
        whole = cell.text[i] >= '0' && cell.text[i] <= '9';
        x = 10 * x + (cell.text[i] - '0');
    }
    if (negative) x = -x;
    if (!whole || x < low || x > high)
        return table_refuse(t, column, err, "expected a whole number from %lld to %lld",
                            (long long)low, (long long)high);
    *value = x;
    return OK;
}

enum status table_number(const struct table *t, int column, double low, double high, double *value,
                         struct error *err)
{
    struct cell cell = t->cells[column];
    char text[64], *end = text;
    if (cell.length == 0) return OK;
    double x = NAN;
    bool plain = (size_t)cell.length <
                 sizeof text; // no names of infinity, no hexadecimal, no blanks
    for (int i = 0; i < cell.length && plain; i++) {
        plain = strchr("0123456789+-.eE", cell.text[i]) != NULL;
        text[i] = cell.text[i];
    }
    if (plain) {
        text[cell.length] = '\0';
        x = strtod(text, &end);
    }
    if (end != text + cell.length || !(x >= low && x <= high))
        return table_refuse(t, column, err, "expected a number from %.9g to %.9g", low, high);
    *value = x;
    return OK;
}

enum status table_name(const struct table *t, int column, const char *const *names, int *value,
                       struct error *err)
{
    char known[300] = "";
    if (t->cells[column].length == 0) return OK;
    for (int i = 0; names[i]; i++) {
        if (!cell_is(t->cells[column], names[i])) continue;
        *value = i;
        return OK;
    }
    for (int i = 0; names[i]; i++) {
        size_t n = strlen(known);
        snprintf(known + n, sizeof known - n, "%s%s", i ? ", " : "", names[i]);
    }
    return table_refuse(t, column, err, "expected one of %s", known);
}
