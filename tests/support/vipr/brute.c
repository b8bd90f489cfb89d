// Enumerates the points of a tiny integer program.
#include "tests/support/vipr/brute.h"

#include "tests/support/vipr/internal.h"

enum { REACH = 4, VARIABLES_MOST = 4 };

struct trial_point {
    struct vipr *v;
    bool infeasible;
    int x[VARIABLES_MOST];
    mpq_t *sum, *term;
};

static void value_at(const struct trial_point *p, const struct vipr_terms *t)
{
    struct vipr_view view;
    mpq_set_ui(*p->sum, 0, 1);
    for (int i = 0; i < t->count; i++) {
        mpq_set_si(*p->term, p->x[t->columns[i]], 1);
        mpq_mul(*p->term, *p->term, vipr_see(&view, t->values[i]));
        mpq_add(*p->sum, *p->sum, *p->term);
    }
}

static bool is_feasible(const struct trial_point *p)
{
    for (int i = 0; i < p->v->constraint_count; i++) {
        struct vipr_view view;
        const struct vipr_row *row = vipr_row_at(p->v, i);
        value_at(p, row->terms);
        int sign = mpq_cmp(*p->sum, vipr_see(&view, row->right));
        if ((row->sense <= 0 && sign > 0) || (row->sense >= 0 && sign < 0)) return false;
    }
    return true;
}

static const char *judge(const struct trial_point *p)
{
    const struct vipr *v = p->v;
    if (!is_feasible(p)) return NULL;
    if (p->infeasible) return "a solution of what is proven to have none";
    value_at(p, v->objective);
    if (v->minimises && v->has_lower && mpq_cmp(*p->sum, v->lower) < 0)
        return "a solution below the proven limit";
    if (!v->minimises && v->has_upper && mpq_cmp(*p->sum, v->upper) > 0)
        return "a solution above the proven limit";
    return NULL;
}

const char *vipr_contradiction(const struct check_text *file, bool infeasible, struct arena *arena)
{
    struct error err = {OK, ""};
    struct check_vipr_result result = {0};
    struct vipr *v = TAKE(arena, 1, struct vipr);
    struct trial_point p = {.v = v,
                            .infeasible = infeasible,
                            .sum = TAKE(arena, 1, mpq_t),
                            .term = TAKE(arena, 1, mpq_t)};
    int points = 1;
    *v = (struct vipr){.file = file,
                       .at = file->text,
                       .end = file->text + file->size,
                       .line = 1,
                       .err = &err,
                       .result = &result,
                       .work = UINT64_MAX / 2,
                       .arena = arena,
                       .copy = TAKE(arena, file->size + 1, char)};
    if (vipr_read_problem(v) != OK || v->variables > VARIABLES_MOST || v->constraint_count > 100)
        return NULL;
    for (int j = 0; j < v->variables; j++) {
        if (!v->integer[j]) return NULL;
        points *= 2 * REACH + 1;
    }
    vipr_open_sums(v);
    vipr_init(*p.sum, arena);
    vipr_init(*p.term, arena);
    if (vipr_read_claim(v) != OK) return NULL;
    for (int i = 0; i < points; i++) {
        for (int j = 0, rest = i; j < v->variables; j++, rest /= 2 * REACH + 1)
            p.x[j] = rest % (2 * REACH + 1) - REACH;
        const char *why = judge(&p);
        if (why) return why;
    }
    return NULL;
}
