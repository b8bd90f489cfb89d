// The sections of a VIPR file before the derivations: variables, objective, constraints, the
// relation to prove, and the solutions, each of which is tried on every constraint and for
// integrality.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/vipr/internal.h"

// How many items of at least `least` bytes each the rest of the file can contain: limits a count
// before room is allocated for it.
static int room_for(const struct vipr *v, int least)
{
    int64_t left = (v->end - v->at) / least;
    return left > INT_MAX / 2 ? INT_MAX / 2 : (int)left;
}

// ---- rows

struct pair {
    int column;
    struct vipr_value value;
};

static int by_column(const void *a, const void *b)
{
    int x = ((const struct pair *)a)->column, y = ((const struct pair *)b)->column;
    return (x > y) - (x < y);
}

static void sort_terms(struct vipr_terms *t, struct arena *arena)
{
    bool ascending = true;
    for (int i = 1; i < t->count; i++) ascending = ascending && t->columns[i - 1] < t->columns[i];
    if (ascending) return;
    struct arena_mark mark = arena_set_mark(arena);
    struct pair *pairs = TAKE(arena, t->count, struct pair);
    for (int i = 0; i < t->count; i++) pairs[i] = (struct pair){t->columns[i], t->values[i]};
    qsort(pairs, (size_t)t->count, sizeof *pairs, by_column);
    for (int i = 0; i < t->count; i++)
        t->columns[i] = pairs[i].column, t->values[i] = pairs[i].value;
    arena_reset(arena, mark);
}

static bool is_zero(struct vipr_value value) { return value.word == 1; }

// A variable may occur once; zero coefficients are dropped.
static enum status put_in_order(struct vipr *v, struct vipr_terms *t)
{
    int kept = 0;
    sort_terms(t, v->arena);
    for (int i = 1; i < t->count; i++)
        if (t->columns[i] == t->columns[i - 1])
            return vipr_refuse(v, "variable %d stands twice", t->columns[i]);
    for (int i = 0; i < t->count; i++) {
        if (is_zero(t->values[i])) continue;
        t->columns[kept] = t->columns[i];
        t->values[kept++] = t->values[i];
    }
    t->count = kept;
    return OK;
}

static enum status count_terms(struct vipr *v, int *count)
{
    int64_t number = 0;
    for (const char *c = v->token; *c; c++) {
        if (*c < '0' || *c > '9' || v->length > 9)
            return vipr_refuse(v, "expected how many terms, found '%.40s'", v->token);
        number = 10 * number + (*c - '0');
    }
    int most = room_for(v, 4);
    if (number > v->variables || number > most)
        return vipr_refuse(v, "%lld terms: more than variables, or than the file has room for",
                           (long long)number);
    *count = (int)number;
    return OK;
}

// The count, then pairs.
static enum status read_terms(struct vipr *v, const struct vipr_terms **to)
{
    static const struct vipr_terms none = {0};
    int count = 0;
    *to = &none;
    TRY(count_terms(v, &count));
    if (!count) return OK;
    struct vipr_terms *t = arena_take(
        v->arena, sizeof *t + (size_t)count * (sizeof *t->values + sizeof *t->columns), 1);
    t->count = count;
    t->columns = (int *)(t->values + count);
    *to = t;
    for (int i = 0; i < count; i++) {
        TRY(vipr_integer(v, "variable", 0, v->variables - 1, &t->columns[i]));
        TRY(vipr_next(v));
        TRY(vipr_number(v, v->read));
        t->values[i] = vipr_keep(v->read, v->arena);
    }
    return put_in_order(v, t);
}

const struct vipr_row *vipr_row_at(const struct vipr *v, int number)
{
    return number < v->constraint_count ? &v->constraints[number]
                                        : &v->derived[number - v->constraint_count];
}

enum status vipr_read_row(struct vipr *v, struct vipr_row *row)
{
    *row = (struct vipr_row){.last_use = -1};
    TRY(vipr_next(v)); // its name
    TRY(vipr_next(v));
    if (strcmp(v->token, "E") && strcmp(v->token, "L") && strcmp(v->token, "G"))
        return vipr_refuse(v, "expected E, L or G, found '%.40s'", v->token);
    row->sense = *v->token == 'E' ? 0 : *v->token == 'L' ? -1 : 1;
    TRY(vipr_next(v));
    TRY(vipr_number(v, v->read));
    row->right = vipr_keep(v->read, v->arena);
    TRY(vipr_next(v));
    if (strcmp(v->token, "OBJ")) return read_terms(v, &row->terms);
    row->terms = v->objective;
    return OK;
}

// ---- VER to CON

static void skip_comments(struct vipr *v)
{
    for (;;) {
        for (; v->at < v->end &&
               (*v->at == ' ' || *v->at == '\t' || *v->at == '\n' || *v->at == '\r');
             v->at++)
            v->line += *v->at == '\n';
        if (v->at == v->end || *v->at != '%') return;
        while (v->at < v->end && *v->at != '\n') v->at++;
    }
}

static enum status read_variables(struct vipr *v)
{
    int count;
    TRY(vipr_keyword(v, "VAR"));
    int most = room_for(v, 2);
    TRY(vipr_integer(v, "VAR", 0, most < VIPR_VARIABLES_MOST ? most : VIPR_VARIABLES_MOST,
                     &v->variables));
    for (int i = 0; i < v->variables; i++) TRY(vipr_next(v));
    v->integer = TAKE(v->arena, v->variables, bool);
    TRY(vipr_keyword(v, "INT"));
    TRY(vipr_integer(v, "INT", 0, v->variables, &count));
    for (int i = 0; i < count; i++) {
        int index;
        TRY(vipr_integer(v, "INT", 0, v->variables - 1, &index));
        if (v->integer[index]) return vipr_refuse(v, "INT: variable %d stands twice", index);
        v->integer[index] = true;
    }
    v->result->variables = v->variables;
    v->result->integers = count;
    return OK;
}

static enum status read_objective(struct vipr *v)
{
    TRY(vipr_keyword(v, "OBJ"));
    TRY(vipr_next(v));
    if (strcmp(v->token, "min") && strcmp(v->token, "max"))
        return vipr_refuse(v, "OBJ: expected min or max, found '%.40s'", v->token);
    v->minimises = v->result->minimises = !strcmp(v->token, "min");
    TRY(vipr_next(v));
    return read_terms(v, &v->objective);
}

enum status vipr_read_problem(struct vipr *v)
{
    int bounds;
    vipr_count_memory();
    vipr_init(v->read, v->arena);
    skip_comments(v);
    TRY(vipr_keyword(v, "VER"));
    TRY(vipr_next(v));
    if (strcmp(v->token, "1.0") && strcmp(v->token, "1.1"))
        return vipr_refuse(v, "VER: expected 1.0 or 1.1, found '%.40s'", v->token);
    TRY(read_variables(v));
    TRY(read_objective(v));
    TRY(vipr_keyword(v, "CON"));
    TRY(vipr_integer(v, "CON", 0, room_for(v, 8), &v->constraint_count));
    TRY(vipr_integer(v, "CON: bounds", 0, v->constraint_count, &bounds));
    v->constraints = TAKE(v->arena, v->constraint_count, struct vipr_row);
    for (; v->row_count < v->constraint_count; v->row_count++) {
        struct vipr_row *row = &v->constraints[v->row_count];
        TRY(vipr_read_row(v, row));
        if (v->row_count < bounds && row->terms->count != 1)
            return vipr_refuse(v, "CON: constraint %d counts as a bound, and is none",
                               v->row_count);
    }
    v->result->constraints = v->constraint_count;
    return OK;
}

// ---- RTP and SOL

static enum status read_limit(struct vipr *v, const char *none, bool *has, mpq_t limit,
                              const char **text)
{
    TRY(vipr_next(v));
    *text = arena_copy_text(v->arena, v->token);
    *has = strcmp(v->token, none) != 0;
    vipr_init(limit, v->arena);
    return *has ? vipr_number(v, limit) : OK;
}

static enum status read_relation(struct vipr *v)
{
    TRY(vipr_keyword(v, "RTP"));
    TRY(vipr_next(v));
    v->infeasible = v->result->infeasible = !strcmp(v->token, "infeas");
    if (v->infeasible) return OK;
    if (strcmp(v->token, "range"))
        return vipr_refuse(v, "RTP: expected infeas or range, found '%.40s'", v->token);
    TRY(read_limit(v, "-inf", &v->has_lower, v->lower, &v->result->lower));
    TRY(read_limit(v, "inf", &v->has_upper, v->upper, &v->result->upper));
    if (!v->has_lower && !v->has_upper)
        return VIPR_NOT_PROVEN(v, "RTP: a range from -inf to inf claims nothing");
    if (v->has_lower && v->has_upper && mpq_cmp(v->lower, v->upper) > 0)
        return VIPR_NOT_PROVEN(v, "RTP: the range is empty");
    return OK;
}

// The value at a solution, indexed by column.
static enum status value_at(struct vipr *v, const struct vipr_terms *terms,
                            const struct vipr_terms *point, mpq_t value)
{
    struct vipr_view a, b;
    mpq_set_ui(value, 0, 1);
    for (int i = 0; i < terms->count; i++) {
        int place = v->place[terms->columns[i]];
        if (!place) continue;
        mpq_srcptr factor = vipr_see(&a, terms->values[i]),
                   x = vipr_see(&b, point->values[place - 1]);
        TRY(vipr_spend(v, factor, x));
        mpq_mul(v->scratch, factor, x);
        TRY(vipr_spend(v, value, v->scratch));
        mpq_add(value, value, v->scratch);
    }
    return OK;
}

static enum status try_point(struct vipr *v, int number, const struct vipr_terms *point,
                             mpq_t value)
{
    struct vipr_view view;
    for (int i = 0; i < point->count; i++)
        if (v->integer[point->columns[i]] && !vipr_is_whole(vipr_see(&view, point->values[i])))
            return VIPR_NOT_PROVEN(v, "SOL %d: integer variable %d is not whole", number,
                                   point->columns[i]);
    for (int i = 0; i < v->constraint_count; i++) {
        const struct vipr_row *row = &v->constraints[i];
        TRY(value_at(v, row->terms, point, value));
        int sign = mpq_cmp(value, vipr_see(&view, row->right));
        if ((row->sense <= 0 && sign > 0) || (row->sense >= 0 && sign < 0))
            return VIPR_NOT_PROVEN(v, "SOL %d: breaks constraint %d", number, i);
    }
    return value_at(v, v->objective, point, value);
}

static enum status read_solution(struct vipr *v, int number, mpq_t value)
{
    const struct vipr_terms *point;
    TRY(vipr_next(v)); // its name
    TRY(vipr_next(v));
    TRY(read_terms(v, &point));
    for (int i = 0; i < point->count; i++) v->place[point->columns[i]] = i + 1;
    TRY(try_point(v, number, point, value));
    for (int i = 0; i < point->count; i++) v->place[point->columns[i]] = 0;
    int sign = mpq_cmp(value, v->best);
    if (number == 0 || (v->minimises ? sign < 0 : sign > 0)) mpq_set(v->best, value);
    return OK;
}

enum status vipr_read_claim(struct vipr *v)
{
    mpq_t *value = TAKE(v->arena, 1, mpq_t);
    vipr_init(*value, v->arena);
    vipr_init(v->best, v->arena);
    TRY(read_relation(v));
    TRY(vipr_keyword(v, "SOL"));
    TRY(vipr_integer(v, "SOL", 0, room_for(v, 3), &v->solution_count));
    for (int i = 0; i < v->solution_count; i++) TRY(read_solution(v, i, *value));
    v->result->solutions = v->solution_count;
    if (v->infeasible)
        return v->solution_count
                   ? VIPR_NOT_PROVEN(v, "SOL: a solution of what is said to have none")
                   : OK;
    // The side that a solution proves.
    bool needed = v->minimises ? v->has_upper : v->has_lower;
    if (!needed) return OK;
    if (!v->solution_count)
        return VIPR_NOT_PROVEN(v, "SOL: no solution, and RTP says how good one is");
    int sign = mpq_cmp(v->best, v->minimises ? v->upper : v->lower);
    return (v->minimises ? sign > 0 : sign < 0)
               ? VIPR_NOT_PROVEN(v, "SOL: no solution is as good as RTP says")
               : OK;
}
