// Reads solution files line by line. Each form has a function for its lines; the first lines say
// which form it is.
#include "data/program/solution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/base/file.h"
#include "data/base/grow.h"
#include "data/base/names.h"

enum { WORDS_MOST = 8, FIRST_LINES = 4 };

struct line {
    char *words[WORDS_MOST];
    int count;
    const char *whole; // as written
};

struct reader {
    struct solution *s;
    struct arena *arena;
    struct error *err;
    struct line *lines;
    int line_count, at, capacity, value_capacity;
};

// ---- lines and numbers

static void add_line(struct reader *r, const char *begin, size_t length)
{
    struct line line = {.count = 0};
    char *copy = TAKE(r->arena, length + 1, char), *whole = TAKE(r->arena, length + 1, char);
    memcpy(copy, begin, length);
    memcpy(whole, begin, length);
    if (length && whole[length - 1] == '\r') whole[length - 1] = copy[length - 1] = 0;
    line.whole = whole;
    for (char *at = copy; line.count < WORDS_MOST;) {
        at += strspn(at, " \t");
        if (!*at) break;
        line.words[line.count++] = at;
        at += strcspn(at, " \t");
        if (*at) *at++ = 0;
    }
    *GROWN(r->arena, r->lines, r->line_count, r->capacity, 256) = line;
}

static void split_lines(struct reader *r, const char *text, size_t size)
{
    for (const char *end = text + size; text < end;) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t length = newline ? (size_t)(newline - text) : (size_t)(end - text);
        add_line(r, text, length);
        text += length + 1;
    }
}

static bool number_of(const char *word, double *value)
{
    char *end;
    *value = strtod(word, &end);
    return *word && !*end && isfinite(*value);
}

static bool whole_of(const char *word, int *value)
{
    char *end;
    long number = strtol(word, &end, 10);
    *value = (int)number;
    return *word && !*end && number >= 0 && number < 1 << 30;
}

static enum status refuse_line(const struct reader *r, const char *expected)
{
    const char *found = r->at < r->line_count ? r->lines[r->at].whole : "its end";
    return refuse(r->err, "%s:%d: expected %s, as %s writes it, found '%.60s'", r->s->path,
                  r->at + 1, expected, r->s->writer, found);
}

static void put(struct reader *r, const char *name, int number, double value)
{
    struct solution *s = r->s;
    GROW(r->arena, s->values, s->count, r->value_capacity, 256);
    s->values[s->count++] = (struct solution_value){name, number, value, r->at + 1};
}

static bool begins(const struct line *l, const char *text)
{
    return !strncmp(l->whole, text, strlen(text));
}

// What follows `text` in the line; NULL: it is not there.
static const char *after(const struct line *l, const char *text)
{
    const char *found = strstr(l->whole, text);
    return found ? found + strlen(text) + strspn(found + strlen(text), " \t") : NULL;
}

static void take_objective(struct reader *r, const char *text)
{
    char *end;
    if (!text) return;
    r->s->objective = strtod(text, &end);
    r->s->has_objective = end > text && isfinite(r->s->objective);
}

// ---- NAME VALUE: SCIP, Gurobi, MIPLIB, HiGHS

static enum status read_pair(struct reader *r)
{
    const struct line *l = &r->lines[r->at];
    double value;
    if (l->count < 2 || !number_of(l->words[1], &value)) return refuse_line(r, "NAME VALUE");
    put(r, l->words[0], 0, value);
    return OK;
}

static enum status read_pairs(struct reader *r)
{
    for (; r->at < r->line_count; r->at++) {
        const struct line *l = &r->lines[r->at];
        if (!l->count) continue;
        if (begins(l, "# Objective value =")) take_objective(r, after(l, "="));
        else if (begins(l, "=obj=") || begins(l, "objective value:"))
            take_objective(r, after(l, begins(l, "=obj=") ? "=obj=" : ":"));
        else if (begins(l, "solution status:")) r->s->status = after(l, ":");
        else if (l->whole[0] != '#' && !begins(l, "no solution")) TRY(read_pair(r));
    }
    return OK;
}

static enum status read_highs(struct reader *r)
{
    struct solution *s = r->s;
    bool columns = false;
    for (; r->at < r->line_count; r->at++) {
        const struct line *l = &r->lines[r->at];
        if (begins(l, "Model status") && r->at + 1 < r->line_count)
            s->status = r->lines[++r->at].whole;
        else if (begins(l, "# Columns ")) {
            columns = true;
            s->complete = !(l->count > 3 && !strcmp(l->words[3], "sparse"));
        } else if (l->whole[0] == '#') {
            if (columns) return OK;
        } else if (begins(l, "Objective ")) take_objective(r, after(l, "Objective"));
        else if (columns && l->count) TRY(read_pair(r));
    }
    return OK;
}

// ---- CBC: "Optimal - objective value V", then INDEX NAME VALUE REDUCED_COST; ** before a line:
// not feasible within the tolerances

static enum status read_cbc(struct reader *r)
{
    const struct line *first = &r->lines[r->at];
    const char *dash = strstr(first->whole, " - objective value");
    r->s->status = arena_print(r->arena, "%.*s", (int)(dash - first->whole), first->whole);
    take_objective(r, after(first, "objective value"));
    for (r->at++; r->at < r->line_count; r->at++) {
        const struct line *l = &r->lines[r->at];
        int skip = l->count && !strcmp(l->words[0], "**"), index;
        double value;
        if (!l->count) continue;
        if (l->count < skip + 3 || !whole_of(l->words[skip], &index) ||
            !number_of(l->words[skip + 2], &value))
            return refuse_line(r, "INDEX NAME VALUE");
        put(r, l->words[skip + 1], 0, value);
    }
    return OK;
}

// ---- glpsol -w: "s mip ROWS COLUMNS STATUS OBJECTIVE", "j COLUMN VALUE", "e o f"

static enum status read_glpk_raw(struct reader *r)
{
    static const struct {
        const char *letter, *status;
    } known[] = {{"o", "optimal"}, {"f", "feasible"}, {"u", "undefined"}, {"n", "no solution"}};
    int rows, number;
    double value;
    r->s->complete = true;
    for (; r->at < r->line_count; r->at++) {
        const struct line *l = &r->lines[r->at];
        if (!l->count || !strcmp(l->words[0], "c") || !strcmp(l->words[0], "i")) continue;
        if (!strcmp(l->words[0], "e")) return OK;
        if (!strcmp(l->words[0], "s")) {
            if (l->count < 6 || strcmp(l->words[1], "mip") || !whole_of(l->words[2], &rows))
                return refuse_line(r,
                                   "'s mip ROWS COLUMNS STATUS OBJECTIVE', of an integer program");
            for (size_t i = 0; i < ARRAY_LENGTH(known); i++)
                if (!strcmp(l->words[4], known[i].letter)) r->s->status = known[i].status;
            take_objective(r, l->words[5]);
        } else if (!strcmp(l->words[0], "j") && l->count >= 3 && whole_of(l->words[1], &number) &&
                   number > 0 && number_of(l->words[2], &value))
            put(r, NULL, number, value);
        else return refuse_line(r, "'j COLUMN VALUE'");
    }
    return refuse_line(r, "'e o f'");
}

// ---- glpsol -o: a table whose long names have a line of their own

static bool is_mark(const char *word)
{
    return name_is_listed("* B NL NU NF NS", word, strlen(word));
}

static enum status read_glpk_row(struct reader *r)
{
    const struct line *l = &r->lines[r->at];
    const char *name = l->count > 1 ? l->words[1] : NULL;
    int at = 2, number;
    double value;
    if (!name || !whole_of(l->words[0], &number)) return refuse_line(r, "a line of columns");
    if (at == l->count && r->at + 1 < r->line_count) l = &r->lines[++r->at], at = 0;
    if (at < l->count && is_mark(l->words[at])) at++;
    if (at >= l->count || !number_of(l->words[at], &value))
        return refuse_line(r, "a column's activity");
    put(r, name, 0, value);
    return OK;
}

static enum status read_glpk_table(struct reader *r)
{
    bool columns = false;
    r->s->complete = true;
    for (; r->at < r->line_count; r->at++) {
        const struct line *l = &r->lines[r->at];
        if (begins(l, "Status:")) r->s->status = after(l, ":");
        else if (begins(l, "Objective:")) take_objective(r, after(l, "="));
        else if (after(l, "No. Column name")) columns = true, r->at++;
        else if (columns && !l->count) return OK;
        else if (columns) TRY(read_glpk_row(r));
    }
    return columns ? OK : refuse_line(r, "'No. Column name'");
}

// ---- which form it is

static const struct form {
    const char *writer, *mark;
    bool anywhere; // in the line, not only at its beginning
    enum status (*read)(struct reader *r);
} forms[] = {
    {"glpsol -o", "Problem:", false, read_glpk_table},
    {"glpsol -w", "c Problem:", false, read_glpk_raw},
    {"glpsol -w", "s mip ", false, read_glpk_raw},
    {"CBC", " - objective value", true, read_cbc},
    {"HiGHS", "Model status", false, read_highs},
    {"SCIP", "solution status:", false, read_pairs},
    {"Gurobi", "# Solution for model", false, read_pairs},
    {"Gurobi", "# Objective value =", false, read_pairs},
    {"MIPLIB", "=obj=", false, read_pairs},
};

static const struct form *form_of(const struct reader *r)
{
    for (int i = 0; i < r->line_count && i < FIRST_LINES; i++)
        for (size_t k = 0; k < ARRAY_LENGTH(forms); k++)
            if (forms[k].anywhere ? after(&r->lines[i], forms[k].mark) != NULL
                                  : begins(&r->lines[i], forms[k].mark))
                return &forms[k];
    return NULL;
}

static bool says_none(const char *status)
{
    static const char *const words[] = {"nfeasible",   "NFEASIBLE", "UNDEFINED",
                                        "ndefined",    "EMPTY",     "nbounded",
                                        "no solution", "unknown",   NULL};
    return has_one_of(status, words);
}

enum status solution_read(struct solution *s, const char *path, struct arena *arena,
                          struct error *err)
{
    struct reader r = {.s = s, .arena = arena, .err = err};
    const char *text;
    size_t size;
    *s = (struct solution){.path = path, .status = ""};
    TRY(file_read(path, &text, &size, arena, err));
    split_lines(&r, text, size);
    const struct form *form = form_of(&r);
    if (!form)
        return refuse(err,
                      "%s: expected a solution as glpsol (-o, -w), CBC, HiGHS, SCIP, Gurobi or "
                      "MIPLIB write it, found '%.60s'",
                      path, r.line_count ? r.lines[0].whole : "");
    s->writer = form->writer;
    while (form->read == read_cbc && !after(&r.lines[r.at], form->mark)) r.at++;
    TRY(form->read(&r));
    if (!s->count || says_none(s->status))
        return refuse(err, "%s: holds no solution: its status is '%s'", path, s->status);
    return OK;
}
