// The rows and columns of a table, and their order.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/base/names.h"
#include "solve/batch/table.h"

static enum status find_column(int *column, const struct batch_table *t, const char *key,
                               struct error *err)
{
    const char **names = TAKE(t->arena, t->column_count, const char *);
    for (int c = 0; c < t->column_count; c++) {
        names[c] = t->columns[c].key;
        if (!strcmp(names[c], key)) return *column = c, OK;
    }
    return refuse(err, "'%.60s': no such column, the nearest is %s", key,
                  names[name_nearest(key, names, t->column_count)]);
}

static const char *trimmed(const char *text, size_t length, struct arena *arena)
{
    while (length && *text == ' ') text++, length--;
    while (length && text[length - 1] == ' ') length--;
    return arena_print(arena, "%.*s", (int)length, text);
}

// ---- where

static const char *const operators[] = {"!=", "<=", ">=", "=", "<", ">", "~"};

// The first operator in the expression; NULL: none.
static const char *find_operator(const char *expression, const char **at)
{
    *at = strpbrk(expression, "!<>=~");
    for (size_t i = 0; *at && i < ARRAY_LENGTH(operators); i++)
        if (!strncmp(*at, operators[i], strlen(operators[i]))) return operators[i];
    return NULL;
}

// Numbers as numbers, everything else as text.
static int compare(const struct value *a, const struct value *b)
{
    if (!isnan(a->number) && !isnan(b->number))
        return (a->number > b->number) - (a->number < b->number);
    return strcmp(a->text, b->text);
}

static struct value value_of(const char *text)
{
    char *end;
    double number = strtod(text, &end);
    return (struct value){text, *text && !*end ? number : NAN};
}

// An unknown value matches only "is not".
static bool holds(const struct value *v, const char *sign, const struct value *than)
{
    if (!v->text) return !strcmp(sign, "!=");
    if (*sign == '~') return strstr(v->text, than->text);
    int order = compare(v, than);
    switch (*sign) {
    case '!': return order != 0;
    case '=': return order == 0;
    case '<': return sign[1] ? order <= 0 : order < 0;
    default: return sign[1] ? order >= 0 : order > 0;
    }
}

enum status table_where(struct batch_table *t, const char *expression, struct error *err)
{
    const char *at, *sign = find_operator(expression, &at);
    int column, kept = 0;
    if (!sign)
        return refuse(
            err,
            "--where: expected KEY, one of = != < <= > >= ~ (contains) and a value, found "
            "'%.80s'",
            expression);
    const char *key = trimmed(expression, (size_t)(at - expression), t->arena);
    at += strlen(sign);
    struct value than = value_of(trimmed(at, strlen(at), t->arena));
    TRY(find_column(&column, t, key, err));
    for (int i = 0; i < t->row_count; i++)
        if (holds(&t->rows[i].values[column], sign, &than)) t->rows[kept++] = t->rows[i];
    t->row_count = kept;
    return OK;
}

// ---- order

static int by_sorting(const void *a, const void *b)
{
    const struct batch_row *x = a, *y = b;
    const struct sorting *s = x->sorting;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    for (int i = 0; i < s->count; i++) {
        const struct value *v = &x->values[s->columns[i]], *w = &y->values[s->columns[i]];
        if (!v->text != !w->text) return v->text ? -1 : 1; // unknown values come last
        int order = v->text ? compare(v, w) : 0;
        if (order) return s->falling[i] ? -order : order;
    }
    return x->place < y->place ? -1 : 1;
}

static void arrange(struct batch_table *t)
{
    for (int i = 0; i < t->row_count; i++) t->rows[i].sorting = &t->sorting;
    qsort(t->rows, (size_t)t->row_count, sizeof *t->rows, by_sorting);
}

enum status table_sort(struct batch_table *t, const char *keys, struct error *err)
{
    struct sorting *s = &t->sorting;
    for (size_t length; *keys; keys += length + (keys[length] == ',')) {
        length = strcspn(keys, ",");
        const char *key = trimmed(keys, length, t->arena);
        if (s->count == (int)ARRAY_LENGTH(s->columns))
            return refuse(err, "--sort: expected at most %d keys", s->count);
        s->falling[s->count] = *key == '-';
        TRY(find_column(&s->columns[s->count], t, key + (*key == '-'), err));
        s->count++;
    }
    arrange(t);
    return OK;
}

// What a group's heading states need not be repeated in its names.
static void shorten_names(struct batch_table *t)
{
    const char *const *all = batch_varying(t->batch, t->arena), **others;
    int count = 0, kept = 0;
    while (all[count]) count++;
    others = TAKE(t->arena, count + 1, const char *);
    for (int k = 0; k < count; k++)
        if (strcmp(all[k], t->columns[t->group].key)) others[kept++] = all[k];
    if (!kept) return;
    for (int i = 0; i < t->row_count; i++)
        t->rows[i].values[COLUMN_NAME].text = instance_label(t->rows[i].instance, others, t->arena);
}

enum status table_group(struct batch_table *t, const char *key, struct error *err)
{
    TRY(find_column(&t->group, t, key, err));
    shorten_names(t);
    t->groups = TAKE(t->arena, t->row_count + 1, const char *);
    for (int i = 0; i < t->row_count; i++) {
        const char *text = t->rows[i].values[t->group].text;
        int g = 0;
        if (!text) text = "";
        while (g < t->group_count && strcmp(t->groups[g], text)) g++;
        if (g == t->group_count) t->groups[t->group_count++] = text;
        t->rows[i].group = g;
    }
    arrange(t);
    return OK;
}

// ---- columns

// Times and bounds are whole nanoseconds and written in full; gaps, sizes and seconds are rounded
// up.
const char *value_shown(const struct batch_table *t, const struct batch_row *row, int column)
{
    const struct value *v = &row->values[column];
    const struct batch_column *c = &t->columns[column];
    if (!v->text) return NULL;
    if (c->places < 0 || isnan(v->number)) return v->text;
    if (column == COLUMN_GAP && v->number == 0) return "0";
    double unit = pow(10, -c->places);
    bool up = column == COLUMN_GAP || column == COLUMN_SOLVE_S || column == COLUMN_CHECK_S ||
              column == COLUMN_CERTIFICATE;
    return arena_print(t->arena, "%.*f", c->places,
                       up ? ceil(v->number / unit - 1e-6) * unit : v->number);
}

static bool says_something(const struct batch_table *t, int column)
{
    bool known = false, varies = false, is_one = true;
    const char *first = NULL;
    for (int i = 0; i < t->row_count; i++) {
        const struct value *v = &t->rows[i].values[column];
        if (!v->text) continue;
        varies |= first && strcmp(first, v->text);
        first = v->text;
        known = true;
        is_one &= v->number == 1;
    }
    switch (t->columns[column].show) {
    case SHOW_ALWAYS: return true;
    case SHOW_KNOWN: return known;
    case SHOW_NOT_ONE: return known && !is_one;
    case SHOW_VARYING: return varies;
    default: return false;
    }
}

enum status table_columns(const struct batch_table *t, const char *keys, int **columns, int *count,
                          struct error *err)
{
    *columns = TAKE(t->arena, (size_t)t->column_count + (keys ? strlen(keys) : 0), int);
    *count = 0;
    for (int c = 0; c < t->column_count && !keys; c++)
        if (c != t->group && says_something(t, c)) (*columns)[(*count)++] = c;
    for (size_t length; keys && *keys; keys += length + (keys[length] == ',')) {
        length = strcspn(keys, ",");
        TRY(find_column(&(*columns)[(*count)++], t, trimmed(keys, length, t->arena), err));
    }
    return OK;
}
