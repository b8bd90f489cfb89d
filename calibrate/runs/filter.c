// Conditions on rows: numbers are compared as numbers where both sides are, else as texts.
#include "calibrate/runs/runs.h"

#include <stdlib.h>
#include <string.h>

enum comparison { EQUAL, DIFFERS, BELOW, AT_MOST, ABOVE, AT_LEAST, CONTAINS, LACKS };

struct condition {
    const char *column; // NULL: the row's number
    int64_t modulus;    // of the row's number
    enum comparison comparison;
    struct cell value;
};

// Longer operators first.
static const struct {
    const char *text;
    enum comparison comparison;
} operators[] = {
    {"!=", DIFFERS}, {"<=", AT_MOST}, {">=", AT_LEAST}, {"!~", LACKS},
    {"=", EQUAL},    {"<", BELOW},    {">", ABOVE},     {"~", CONTAINS},
};

static enum status read_condition(struct condition *c, const char *what, const char *at, int length,
                                  struct arena *arena, struct error *err)
{
    int name = 0;
    while (name < length && !strchr("!<>=~", at[name])) name++;
    for (size_t i = 0; i < ARRAY_LENGTH(operators) && name > 0; i++) {
        int n = (int)strlen(operators[i].text);
        if (name + n > length || strncmp(at + name, operators[i].text, (size_t)n)) continue;
        *c = (struct condition){.column = arena_print(arena, "%.*s", name, at),
                                .comparison = operators[i].comparison};
        c->value = (struct cell){arena_print(arena, "%.*s", length - name - n, at + name + n),
                                 length - name - n};
        if (strncmp(c->column, "row%", 4)) return OK;
        c->modulus = strtoll(c->column + 4, NULL, 10);
        c->column = NULL;
        if (c->modulus > 0) return OK;
        break;
    }
    return refuse(err, "%s: expected column=value, !=, <, <=, >, >=, ~ or row%%N=K, found '%.*s'",
                  what, length, at);
}

enum status filter_read(struct filter *f, const char *what, const char *text, struct arena *arena,
                        struct error *err)
{
    int capacity = 1;
    for (const char *at = text; *at; at++) capacity += *at == ',';
    struct condition *conditions = TAKE(arena, capacity, struct condition);
    *f = (struct filter){text, conditions, 0};
    for (const char *at = text; *at;) {
        int length = (int)strcspn(at, ",");
        TRY(read_condition(&conditions[f->count++], what, at, length, arena, err));
        at += length + (at[length] == ',');
    }
    return OK;
}

static bool is_number(struct cell cell, double *value)
{
    char text[40], *end;
    if (cell.length == 0 || (size_t)cell.length >= sizeof text) return false;
    memcpy(text, cell.text, (size_t)cell.length);
    text[cell.length] = '\0';
    *value = strtod(text, &end);
    return *end == '\0';
}

static bool compare(enum comparison comparison, double order)
{
    switch (comparison) {
    case EQUAL: return order == 0;
    case DIFFERS: return order != 0;
    case BELOW: return order < 0;
    case AT_MOST: return order <= 0;
    case ABOVE: return order > 0;
    case AT_LEAST: return order >= 0;
    case CONTAINS:
    case LACKS: break;
    }
    return false;
}

static double order_of(struct cell a, struct cell b)
{
    double x, y;
    if (is_number(a, &x) && is_number(b, &y)) return x - y;
    int order = memcmp(a.text, b.text, (size_t)(a.length < b.length ? a.length : b.length));
    return order ? order : a.length - b.length;
}

static bool holds_for(const struct condition *c, struct cell cell)
{
    if (c->comparison == CONTAINS) return cell_contains(cell, c->value.text);
    if (c->comparison == LACKS) return !cell_contains(cell, c->value.text);
    // An empty cell is neither more nor less than anything.
    if (cell.length == 0 && c->comparison != EQUAL && c->comparison != DIFFERS) return false;
    return compare(c->comparison, order_of(cell, c->value));
}

enum status filter_holds(const struct filter *f, const struct table *t, bool *holds,
                         struct error *err)
{
    *holds = true;
    for (int i = 0; i < f->count && *holds; i++) {
        const struct condition *c = &f->conditions[i];
        double value;
        if (!c->column) {
            *holds = is_number(c->value, &value) &&
                     compare(c->comparison, (double)(t->row % c->modulus) - value);
            continue;
        }
        int column = table_column(t, c->column);
        if (column < 0)
            return refuse(err, "%s: there is no column %s, which '%s' refers to", t->path,
                          c->column, f->text);
        *holds = holds_for(c, t->cells[column]);
    }
    return OK;
}
