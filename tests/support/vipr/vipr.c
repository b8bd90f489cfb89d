// The derivations of a VIPR file, and the verdict: see vipr.h. A row rests on a set of assumptions;
// the last row must rest on none and state what is to be proven.
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/vipr/internal.h"

enum {
    SETS_LEAST = 1 << 20
}; // members of all sets of assumptions together: at most this many, plus one for each byte of the
   // file

// ---- sets of assumptions, shared where they are equal

static enum status join_sets(struct vipr *v, const int **set, int *count, const int *other,
                             int other_count)
{
    int *all, n = 0, i = 0, k = 0;
    if (!other_count || (*set == other && *count == other_count)) return OK;
    if (!*count) {
        *set = other, *count = other_count;
        return OK;
    }
    if (v->work < (uint64_t)(*count + other_count))
        return VIPR_NOT_PROVEN(v, "the work limit is reached");
    v->work -= (uint64_t)(*count + other_count);
    int missing = 0; // of other, in *set
    for (i = 0, k = 0; k < other_count; k++) {
        while (i < *count && (*set)[i] < other[k]) i++;
        missing += i == *count || (*set)[i] != other[k];
    }
    if (!missing) return OK;
    if ((v->set_room -= *count + missing) < 0)
        return VIPR_NOT_PROVEN(v, "line %d: larger sets of assumptions than are checked", v->line);
    all = TAKE(v->arena, *count + missing, int);
    for (i = k = 0; i < *count || k < other_count;) {
        int x = i < *count ? (*set)[i] : INT_MAX, y = k < other_count ? other[k] : INT_MAX;
        all[n++] = x < y ? x : y;
        i += x <= y;
        k += y <= x;
    }
    *set = all, *count = n;
    return OK;
}

static enum status join_without(struct vipr *v, struct vipr_row *row, const struct vipr_row *of,
                                int without)
{
    int *rest, n = 0;
    bool has = false;
    for (int i = 0; i < of->set_count; i++) has = has || of->set[i] == without;
    if (!has) return join_sets(v, &row->set, &row->set_count, of->set, of->set_count);
    if ((v->set_room -= of->set_count) < 0)
        return VIPR_NOT_PROVEN(v, "line %d: larger sets of assumptions than are checked", v->line);
    rest = TAKE(v->arena, of->set_count, int);
    for (int i = 0; i < of->set_count; i++)
        if (of->set[i] != without) rest[n++] = of->set[i];
    return join_sets(v, &row->set, &row->set_count, rest, n);
}

// ---- one row over another

static bool same_terms(const struct vipr_terms *a, const struct vipr_terms *b)
{
    if (a == b) return true;
    if (a->count != b->count) return false;
    for (int i = 0; i < a->count; i++)
        if (a->columns[i] != b->columns[i] || !vipr_same(a->values[i], b->values[i])) return false;
    return true;
}

static bool is_absurd(int sense, const mpq_t right)
{
    int sign = mpq_sgn(right);
    return (sense <= 0 && sign < 0) || (sense >= 0 && sign > 0);
}

static bool is_absurd_row(const struct vipr_row *row)
{
    struct vipr_view view;
    return row->terms->count == 0 && is_absurd(row->sense, vipr_see(&view, row->right));
}

// Of equal left-hand sides.
static bool is_as_strong(int sense, const mpq_t right, int other_sense, const mpq_t other)
{
    int sign = mpq_cmp(right, other);
    if (other_sense == 0) return sense == 0 && sign == 0;
    return sense * other_sense >= 0 && other_sense * sign >= 0;
}

static bool dominates(const struct vipr_row *a, const struct vipr_row *b)
{
    struct vipr_view x, y;
    if (is_absurd_row(a)) return true;
    return same_terms(a->terms, b->terms) &&
           is_as_strong(a->sense, vipr_see(&x, a->right), b->sense, vipr_see(&y, b->right));
}

// ---- combinations

static enum status read_reference(struct vipr *v, const char *what, const struct vipr_row **row,
                                  int *number)
{
    TRY(vipr_integer(v, what, INT_MIN / 2, INT_MAX / 2, number));
    if (*number < 0 || *number >= v->row_count)
        return VIPR_NOT_PROVEN(v, "line %d: row %d refers to row %d, which is not there yet",
                               v->line, v->row_count, *number);
    *row = vipr_row_at(v, *number);
    if ((*row)->last_use >= 0 && (*row)->last_use < v->row_count)
        return VIPR_NOT_PROVEN(v, "line %d: row %d refers to row %d, which was let go at row %d",
                               v->line, v->row_count, *number, (*row)->last_use);
    return OK;
}

static enum status add_product(struct vipr *v, mpq_t sum, const mpq_t factor, const mpq_t value)
{
    TRY(vipr_spend(v, factor, value));
    mpq_mul(v->scratch, factor, value);
    TRY(vipr_spend(v, sum, v->scratch));
    mpq_add(sum, sum, v->scratch);
    return OK;
}

static enum status add_row(struct vipr *v, const struct vipr_row *row, const mpq_t factor)
{
    struct vipr_view view;
    for (int i = 0; i < row->terms->count; i++)
        TRY(add_product(v, *vipr_sum(v, row->terms->columns[i]), factor,
                        vipr_see(&view, row->terms->values[i])));
    return add_product(v, v->sum_right, factor, vipr_see(&view, row->right));
}

static enum status read_combination(struct vipr *v, struct vipr_row *row, mpq_t factor, bool *used)
{
    int count;
    vipr_clear_sums(v);
    TRY(vipr_next(v));
    if (!strcmp(v->token, "weak") || !strcmp(v->token, "incomplete"))
        return vipr_refuse(v, "'%s': the proof is not complete", v->token);
    v->at -= v->length; // it is the count
    TRY(vipr_integer(v, "multipliers", 0, v->row_count, &count));
    for (int i = 0; i < count; i++) {
        const struct vipr_row *of;
        int number;
        TRY(read_reference(v, "row", &of, &number));
        if (used[number])
            return VIPR_NOT_PROVEN(v, "line %d: row %d refers to row %d twice", v->line,
                                   v->row_count, number);
        used[number] = true;
        TRY(vipr_next(v));
        TRY(vipr_number(v, factor));
        int sense = of->sense * mpq_sgn(factor);
        if (sense && v->sum_sense && sense != v->sum_sense)
            return VIPR_NOT_PROVEN(v,
                                   "line %d: row %d: the multiplier of row %d has the wrong sign",
                                   v->line, v->row_count, number);
        if (sense) v->sum_sense = sense;
        TRY(join_sets(v, &row->set, &row->set_count, of->set, of->set_count));
        if (mpq_sgn(factor)) TRY(add_row(v, of, factor));
    }
    return OK;
}

// used[] is cleared by reading the same numbers again.
static enum status combine(struct vipr *v, struct vipr_row *row, mpq_t factor, bool *used)
{
    const char *from = v->at;
    int line = v->line, count;
    TRY(read_combination(v, row, factor, used));
    v->at = from, v->line = line;
    TRY(vipr_integer(v, "multipliers", 0, v->row_count, &count));
    for (int i = 0, number; i < count; i++) {
        TRY(vipr_integer(v, "row", 0, v->row_count, &number));
        used[number] = false;
        TRY(vipr_next(v));
    }
    return OK;
}

static enum status round_sum(struct vipr *v)
{
    if (!v->sum_sense)
        return VIPR_NOT_PROVEN(v, "line %d: row %d rounds an equation", v->line, v->row_count);
    for (int i = 0; i < v->touched_count; i++) {
        int column = v->touched_columns[i];
        mpq_srcptr sum = *vipr_sum(v, column);
        if (mpq_sgn(sum) == 0) continue;
        if (!v->integer[column])
            return VIPR_NOT_PROVEN(v,
                                   "line %d: row %d rounds with variable %d, which is continuous",
                                   v->line, v->row_count, column);
        if (!vipr_is_whole(sum))
            return VIPR_NOT_PROVEN(
                v, "line %d: row %d rounds with a coefficient of variable %d that is not whole",
                v->line, v->row_count, column);
    }
    mpz_t whole;
    mpz_init(whole);
    if (v->sum_sense < 0) mpz_fdiv_q(whole, mpq_numref(v->sum_right), mpq_denref(v->sum_right));
    else mpz_cdiv_q(whole, mpq_numref(v->sum_right), mpq_denref(v->sum_right));
    mpq_set_z(v->sum_right, whole);
    mpz_clear(whole);
    return OK;
}

static bool sum_dominates(struct vipr *v, const struct vipr_row *row)
{
    struct vipr_view view;
    int count = 0;
    for (int i = 0; i < v->touched_count; i++)
        count += mpq_sgn(*vipr_sum(v, v->touched_columns[i])) != 0;
    if (!count && is_absurd(v->sum_sense, v->sum_right))
        return v->absurd = v->absurd || !row->set_count, true;
    if (count != row->terms->count) return false;
    for (int i = 0; i < count; i++) {
        int column = row->terms->columns[i];
        if (!v->place[column] ||
            !mpq_equal(*vipr_sum(v, column), vipr_see(&view, row->terms->values[i])))
            return false;
    }
    return is_as_strong(v->sum_sense, v->sum_right, row->sense, vipr_see(&view, row->right));
}

static enum status derive_sum(struct vipr *v, struct vipr_row *row, bool rounds, mpq_t factor,
                              bool *used)
{
    TRY(combine(v, row, factor, used));
    if (rounds) TRY(round_sum(v));
    v->result->combinations += !rounds;
    v->result->roundings += rounds;
    return sum_dominates(v, row)
               ? OK
               : VIPR_NOT_PROVEN(v, "line %d: row %d does not follow from its combination", v->line,
                                 v->row_count);
}

// ---- disjunctions

static enum status check_sides(struct vipr *v, const struct vipr_row *below,
                               const struct vipr_row *above, mpq_t scratch)
{
    struct vipr_view x, y;
    if (!below->is_assumption || !above->is_assumption)
        return VIPR_NOT_PROVEN(v, "line %d: row %d: a side of its disjunction is no assumption",
                               v->line, v->row_count);
    if (below->sense * above->sense != -1 || !same_terms(below->terms, above->terms))
        return VIPR_NOT_PROVEN(v,
                               "line %d: row %d: the sides of its disjunction do not go together",
                               v->line, v->row_count);
    for (int i = 0; i < below->terms->count; i++)
        if (!v->integer[below->terms->columns[i]] ||
            !vipr_is_whole(vipr_see(&x, below->terms->values[i])))
            return VIPR_NOT_PROVEN(v,
                                   "line %d: row %d: its disjunction is not one of whole numbers",
                                   v->line, v->row_count);
    mpq_srcptr left = vipr_see(&x, below->right), right = vipr_see(&y, above->right);
    TRY(vipr_spend(v, left, right));
    mpq_sub(scratch, right, left);
    if (!vipr_is_whole(left) || mpq_cmp_si(scratch, above->sense, 1) != 0)
        return VIPR_NOT_PROVEN(
            v, "line %d: row %d: its disjunction leaves something between the sides", v->line,
            v->row_count);
    return OK;
}

static enum status derive_disjunction(struct vipr *v, struct vipr_row *row, mpq_t scratch)
{
    const struct vipr_row *of[2], *side[2];
    int number, side_number[2];
    for (int i = 0; i < 2; i++) {
        TRY(read_reference(v, "row", &of[i], &number));
        TRY(read_reference(v, "assumption", &side[i], &side_number[i]));
        if (!dominates(of[i], row))
            return VIPR_NOT_PROVEN(v, "line %d: row %d does not follow from row %d", v->line,
                                   v->row_count, number);
    }
    TRY(check_sides(v, side[0], side[1], scratch));
    for (int i = 0; i < 2; i++) TRY(join_without(v, row, of[i], side_number[i]));
    v->result->disjunctions++;
    return OK;
}

// ---- better than the best solution

static bool objective_is_whole(const struct vipr *v)
{
    struct vipr_view view;
    for (int i = 0; i < v->objective->count; i++)
        if (!v->integer[v->objective->columns[i]] ||
            !vipr_is_whole(vipr_see(&view, v->objective->values[i])))
            return false;
    return true;
}

static enum status derive_cut_off(struct vipr *v, const struct vipr_row *row, mpq_t scratch)
{
    struct vipr_view view;
    int better = v->minimises ? -1 : 1;
    if (!v->solution_count)
        return VIPR_NOT_PROVEN(v, "line %d: row %d: there is no solution to be better than",
                               v->line, v->row_count);
    if (row->sense != better || !same_terms(row->terms, v->objective))
        return VIPR_NOT_PROVEN(v, "line %d: row %d says nothing of the objective", v->line,
                               v->row_count);
    mpq_set(scratch, v->best);
    if (is_as_strong(better, scratch, better, vipr_see(&view, row->right))) return OK;
    // Only values better by one: then nothing is proven about the solution itself, and the range
    // must include it.
    mpz_t one;
    mpz_init_set_si(one, better);
    if (objective_is_whole(v)) mpz_addmul(mpq_numref(scratch), one, mpq_denref(scratch));
    mpz_clear(one);
    v->cut_off = true;
    return is_as_strong(better, scratch, better, vipr_see(&view, row->right))
               ? OK
               : VIPR_NOT_PROVEN(v, "line %d: row %d: no solution is so good", v->line,
                                 v->row_count);
}

// ---- all of them

static enum status assume(struct vipr *v, struct vipr_row *row)
{
    int *self = TAKE(v->arena, 1, int);
    *self = v->row_count;
    row->is_assumption = true;
    row->set = self;
    row->set_count = 1;
    v->result->assumptions++;
    return OK;
}

static enum status derive_row(struct vipr *v, struct vipr_row *row, int last, mpq_t factor,
                              bool *used)
{
    TRY(vipr_read_row(v, row));
    TRY(vipr_keyword(v, "{"));
    TRY(vipr_next(v));
    if (!strcmp(v->token, "asm")) TRY(assume(v, row));
    else if (!strcmp(v->token, "lin")) TRY(derive_sum(v, row, false, factor, used));
    else if (!strcmp(v->token, "rnd")) TRY(derive_sum(v, row, true, factor, used));
    else if (!strcmp(v->token, "uns")) TRY(derive_disjunction(v, row, factor));
    else if (!strcmp(v->token, "sol")) TRY(derive_cut_off(v, row, factor));
    else return vipr_refuse(v, "expected asm, lin, rnd, uns or sol, found '%.40s'", v->token);
    TRY(vipr_keyword(v, "}"));
    return vipr_integer(v, "last use", -1, last, &row->last_use);
}

static enum status check_last(struct vipr *v)
{
    struct vipr_row goal = {.sense = v->minimises ? 1 : -1, .terms = v->objective};
    bool needed = v->minimises ? v->has_lower : v->has_upper;
    if (!v->infeasible && !needed) return OK;
    if (v->row_count == v->constraint_count) return VIPR_NOT_PROVEN(v, "DER: nothing is derived");
    const struct vipr_row *row = vipr_row_at(v, v->row_count - 1);
    if (row->set_count)
        return VIPR_NOT_PROVEN(v, "DER: the last row rests on assumption %d", row->set[0]);
    v->absurd = v->absurd || is_absurd_row(row);
    if (v->infeasible)
        return is_absurd_row(row) ? OK : VIPR_NOT_PROVEN(v, "DER: the last row is no absurdity");
    mpq_t *limit = v->minimises ? &v->lower : &v->upper;
    if (v->cut_off && (v->minimises ? mpq_cmp(v->best, *limit) < 0 : mpq_cmp(v->best, *limit) > 0))
        return VIPR_NOT_PROVEN(v, "RTP: a solution lies outside of the range");
    goal.right = vipr_keep(*limit, v->arena);
    return dominates(row, &goal) ? OK
                                 : VIPR_NOT_PROVEN(v, "DER: the last row does not prove the range");
}

// DER
static enum status derive(struct vipr *v)
{
    int count;
    mpq_t *factor = TAKE(v->arena, 1, mpq_t);
    vipr_init(*factor, v->arena);
    TRY(vipr_keyword(v, "DER"));
    TRY(vipr_integer(v, "DER", 0, (int)((v->end - v->at) / 12), &count));
    v->derived = TAKE(v->arena, count, struct vipr_row);
    bool *used = TAKE(v->arena, v->constraint_count + count, bool);
    int last = v->constraint_count + count - 1;
    for (int i = 0; i < count; i++, v->row_count++)
        TRY(derive_row(v, &v->derived[i], last, *factor, used));
    v->result->derivations = count;
    while (v->at < v->end && strchr(" \t\r\n", *v->at)) v->at++;
    if (v->at < v->end) return vipr_refuse(v, "something stands behind the last row");
    return check_last(v);
}

// ---- the whole

static enum status audit(struct vipr *v)
{
    const char *text = v->file->text;
    size_t longest = 0, length = 0;
    if (v->file->size > VIPR_FILE_MOST)
        return vipr_refuse(v, "larger than %d bytes", VIPR_FILE_MOST);
    for (size_t i = 0; i < v->file->size; i++) {
        length = strchr(" \t\r\n", text[i]) && text[i] ? 0 : length + 1;
        if (length > longest) longest = length;
    }
    v->copy = TAKE(v->arena, longest + 1, char);
    TRY(vipr_read_problem(v));
    vipr_open_sums(v);
    TRY(vipr_read_claim(v));
    return derive(v);
}

enum status check_vipr(struct check_vipr_result *result, const struct check_text *file,
                       uint64_t work_limit, struct arena *arena, struct error *err)
{
    struct error why = {OK, ""};
    struct vipr *v = TAKE(arena, 1, struct vipr); // its numbers are cleared with the arena
    *v = (struct vipr){.file = file,
                       .at = file->text,
                       .end = file->text + file->size,
                       .line = 1,
                       .err = &why,
                       .result = result,
                       .work = work_limit,
                       .set_room = (int64_t)file->size + SETS_LEAST,
                       .arena = arena};
    *result = (struct check_vipr_result){.lower = "-inf", .upper = "inf"};
    enum status status = audit(v);
    result->work = work_limit - v->work;
    result->accepted = status == OK;
    result->infeasible = v->infeasible || (v->absurd && !v->solution_count);
    if (status == OK) return OK;
    if (status != (enum status)NOT_PROVEN) return fail(err, status, "%s", why.text);
    snprintf(result->reason, sizeof result->reason, "%.*s", CHECK_REASON_MAX - 1, why.text);
    return OK;
}

const char *check_vipr_words(const struct check_vipr_result *r, struct arena *arena)
{
    bool min = r->minimises;
    const char *bound = min ? r->lower : r->upper, *reached = min ? r->upper : r->lower;
    bool is_bounded = strcmp(bound, min ? "-inf" : "inf") != 0;
    bool is_reached = strcmp(reached, min ? "inf" : "-inf") != 0;
    const char *best = min ? "minimum" : "maximum", *side = min ? "below" : "above";
    if (r->infeasible) return "the program has no solution";
    if (is_bounded && is_reached)
        return arena_print(arena, "the %s of the objective is at least %s and at most %s", best,
                           r->lower, r->upper);
    if (is_bounded && r->solutions)
        return arena_print(arena, "the %s of the objective is at %s %s", best,
                           min ? "least" : "most", bound);
    if (is_bounded)
        return arena_print(
            arena, "no solution has an objective %s %s; that there is a solution is not said", side,
            bound);
    return arena_print(arena, "there is a solution with an objective of %s or %s", reached,
                       min ? "less" : "more");
}
