// Values of settings as a framework's file writes them.
#include "data/frameworks/setting.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { ROWS_MAX = 768 };

static const char *count_text(int64_t value, struct arena *arena)
{
    return value ? arena_print(arena, "%" PRId64, value) : NULL;
}

static const char *number_text(double value, bool pointed, struct arena *arena)
{
    const char *text = arena_print(arena, "%.9g", value);
    int whole = (int)strcspn(text, ".e");
    if (!pointed || text[whole] == '.') return text;
    return arena_print(arena, "%.*s.0%s", whole, text, text + whole);
}

static const char *quoted(const char *text, const struct setting_form *form, struct arena *arena)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    if (!text || (form->bare && !text[strspn(text, plain)])) return text;
    return arena_print(arena, "%s%s%s", form->quote, text, form->quote);
}

static const char *value_text(const struct setting_row *row, const void *at,
                              const struct setting_form *form, struct arena *arena)
{
    double number = 0;
    switch (row->kind) {
    case SETTING_FLAG: return *(const bool *)at ? form->yes : form->no;
    case SETTING_TRUE: return *(const bool *)at ? form->yes : NULL;
    case SETTING_UNLESS: return *(const bool *)at ? NULL : form->yes;
    case SETTING_SWITCH: return *(const int *)at ? form->yes : form->no;
    case SETTING_NAMED: return quoted(row->names[*(const bool *)at], form, arena);
    case SETTING_NAME: return quoted(row->names[*(const int *)at], form, arena);
    case SETTING_INT: return arena_print(arena, "%d", *(const int *)at);
    case SETTING_COUNT:
    case SETTING_WHOLE: return count_text(*(const int64_t *)at, arena);
    case SETTING_NUMBER:
    case SETTING_SHARE:
        number = *(const double *)at;
        return number > 0 || row->kind == SETTING_SHARE ? number_text(number, form->pointed, arena)
                                                        : NULL;
    case SETTING_ROUND: return count_text(llround(*(const double *)at), arena);
    case SETTING_TEXT: return quoted(*(const char *const *)at, form, arena);
    case SETTING_RAW: return *(const char *const *)at;
    case SETTING_LATER:
    case SETTING_LEFT: break;
    }
    return NULL;
}

const char *setting_text(const struct setting_row *row, const struct run *run,
                         const struct setting_form *form, struct arena *arena)
{
    const char *members = (const char *)run;
    if (row->use == ONLY_READ || (row->when && !*(const bool *)(members + row->when))) return NULL;
    const char *text = value_text(row, members + row->at, form, arena);
    return text || !row->null ? text : "null";
}

// Adds a row for each of the words: the row's own for the first.
static void add_rows(struct setting_rows *to, const struct setting_row *row, const char *section,
                     const char *words, struct arena *arena)
{
    struct setting_row *rows = (struct setting_row *)to->rows;
    for (bool first = true; words && *words; first = false) {
        size_t length = strcspn(words, " ");
        assert(to->count < ROWS_MAX);
        struct setting_row *new = &rows[to->count++];
        *new = *row;
        new->key = arena_print(arena, "%s%s%.*s", section, *section ? "." : "", (int)length, words);
        if (!first && row->use == READ_AND_WRITTEN) new->use = ONLY_READ;
        words += length + (words[length] == ' ');
    }
}

struct setting_rows setting_rows_of(const struct setting_rows *rows, struct arena *arena)
{
    static const struct setting_row left = {.kind = SETTING_LEFT, .use = ONLY_READ};
    struct setting_rows all = *rows;
    int of_sections = 0;
    while (rows->beyond && strcmp(rows->rows[of_sections].key, rows->beyond) != 0) {
        of_sections++;
        assert(of_sections < rows->count);
    }
    all.rows = TAKE(arena, ROWS_MAX, struct setting_row), all.count = 0;
    for (int k = 0; rows->sections && rows->sections[k]; k++)
        for (int i = 0; i < of_sections; i++) {
            struct setting_row row = rows->rows[i];
            if (k) row.use = ONLY_READ;
            add_rows(&all, &row, rows->sections[k], row.key, arena);
        }
    for (int i = of_sections; i < rows->count; i++)
        add_rows(&all, &rows->rows[i], "", rows->rows[i].key, arena);
    add_rows(&all, &left, "", rows->left, arena);
    return all;
}
