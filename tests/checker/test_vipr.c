// Proofs in the format of VIPR: for random problems of every schedule the written proof is accepted
// and claims what enumeration finds; the program in the file is the layout's problem (its points
// are exactly the decisions; its minimum is the best plan's time); false claims cannot be written,
// and random damage to the proof never makes one pass.
//
//   test_vipr [PROBLEMS] [SEED]
#include "data/kinds/schedules.h"
#include "formulate/program/formulate.h"
#include "tests/support/vipr/internal.h"
#include "solve/tree/lp.h"
#include "solve/certificate/vipr/vipr.h"
#include "tests/support/trials/check_trials.h"
#include "tests/support/random_priced.h"
#include "tests/support/check.h"

enum { DEFAULT_PROBLEMS = 90, DECISIONS_MOST = 1500 };

static int problem_count = DEFAULT_PROBLEMS;
static uint64_t first_seed = 1;
static struct {
    int64_t plans, infeasible, weaker, enumerated, decisions, misfits, lies, bytes, leaves;
    bool kinds[SCHEDULE_KIND_COUNT];
} seen;

// ---- writing

static enum status write_claim(struct vipr_result *made, const struct check_trial *t,
                               bool infeasible, int64_t bound_ns, struct arena *arena,
                               struct error *err)
{
    struct plan plan = {.group_count = t->priced.group_count,
                        .stage_count = t->priced.stage_count,
                        .stages = (struct plan_stage *)t->best,
                        .boundary_options = t->priced.boundary_options,
                        .boundary_option_count = t->priced.boundary_option_count,
                        .gradient_options = t->priced.gradient_options,
                        .gradient_option_count = t->priced.gradient_option_count};
    struct vipr_request request = {.priced = &t->priced,
                                   .plan = t->best && !infeasible ? &plan : NULL,
                                   .infeasible = infeasible,
                                   .bound_ns = bound_ns,
                                   .threads = 1};
    plan.group_names = TAKE(arena, t->priced.group_count, const char *);
    for (int g = 0; g < t->priced.group_count; g++) plan.group_names[g] = t->priced.groups[g].name;
    return vipr_make(made, &request, arena, err);
}

static struct check_vipr_result audit(const struct vipr_result *made, uint64_t seed,
                                      struct arena *arena)
{
    struct check_vipr_result r;
    struct check_text text = {"proof.vipr", made->text, made->size};
    if (check_vipr(&r, &text, CHECK_WORK_DEFAULT, arena, &own_err) != OK)
        fail_msg("seed %llu: %s", (unsigned long long)seed, own_err.text);
    return r;
}

static void write_true(struct vipr_result *made, const struct check_trial *t, int64_t bound_ns,
                       struct arena *arena)
{
    bool infeasible = t->best_ns == INT64_MAX;
    if (write_claim(made, t, infeasible, bound_ns, arena, &own_err) != OK)
        fail_msg("seed %llu: %s", (unsigned long long)t->seed, own_err.text);
    struct check_vipr_result r = audit(made, t->seed, arena);
    if (!r.accepted) fail_msg("seed %llu: refused: %s", (unsigned long long)t->seed, r.reason);
    assert_int_equal(r.infeasible, infeasible);
    if (infeasible) return;
    assert_int_equal(strtoll(r.lower, NULL, 10), bound_ns);
    assert_int_equal(strtoll(r.upper, NULL, 10), t->best_ns);
}

static void refuse_lies(const struct check_trial *t, struct arena *arena)
{
    struct error err = {OK, ""}, again = {OK, ""};
    struct vipr_result made;
    if (t->best_ns == INT64_MAX) return;
    assert_int_not_equal(write_claim(&made, t, false, t->best_ns + 1, arena, &err), OK);
    assert_int_not_equal(write_claim(&made, t, true, -1, arena, &again), OK);
    seen.lies += 2;
}

// ---- the program in the file against enumeration

// The file's program as the checker reads it.
static void read_program(struct vipr *v, const struct vipr_result *made, struct error *err,
                         struct arena *arena)
{
    struct check_text *text = TAKE(arena, 1, struct check_text);
    *text = (struct check_text){"proof.vipr", made->text, made->size};
    *v = (struct vipr){.file = text,
                       .at = text->text,
                       .end = text->text + text->size,
                       .line = 1,
                       .err = err,
                       .result = TAKE(arena, 1, struct check_vipr_result),
                       .work = UINT64_MAX / 2,
                       .arena = arena,
                       .copy = TAKE(arena, made->size + 1, char)};
    if (vipr_read_problem(v) != OK) fail_msg("%s", err->text);
}

static int64_t whole(struct vipr_value value)
{
    struct vipr_view view;
    mpq_srcptr q = vipr_see(&view, value);
    assert_true(vipr_is_whole(q) && mpz_fits_slong_p(mpq_numref(q)));
    return mpz_get_si(mpq_numref(q));
}

// As a linear program of rows without meaning; the columns' meaning is that of the formulation,
// which has the same ones.
static void rebuild(struct milp *to, const struct vipr *v, const struct milp *columns,
                    struct arena *arena)
{
    milp_begin(to, arena);
    assert_int_equal(v->variables, columns->column_count);
    for (int j = 0; j < v->variables; j++) {
        const struct vipr_row *low = vipr_row_at(v, 2 * j), *high = vipr_row_at(v, 2 * j + 1);
        assert_true(low->sense > 0 && high->sense < 0 && low->terms->columns[0] == j &&
                    high->terms->columns[0] == j);
        struct milp_column c = {.role = COLUMN_OTHER,
                                .a = j,
                                .time = columns->columns[j].time,
                                .lower = whole(low->right),
                                .upper = whole(high->right)};
        assert_int_equal(v->integer[j], j == 0 || columns->columns[j].integer);
        milp_add_column(to, c);
    }
    for (int i = 2 * v->variables; i < v->constraint_count; i++) {
        const struct vipr_row *r = vipr_row_at(v, i);
        for (int k = 0; k < r->terms->count; k++)
            milp_add_entry(to, r->terms->columns[k], whole(r->terms->values[k]));
        milp_add_row(to, ROW_OTHER,
                     r->sense < 0 ? ROW_AT_MOST
                     : r->sense   ? ROW_AT_LEAST
                                  : ROW_EQUAL,
                     whole(r->right));
    }
}

// The rows but the path rows are the formulation's, one by one.
static void compare_rows(const struct milp *file, const struct milp *ours)
{
    for (int i = 0; i < ours->row_count; i++) {
        const struct milp_row *a = &file->rows[i], *b = &ours->rows[i];
        assert_true(a->sense == b->sense && a->right == b->right);
        int64_t *sum = calloc((size_t)ours->column_count, sizeof *sum);
        for (int e = a->first; e < a->first + a->count; e++)
            sum[file->entry_column[e]] += file->entry_value[e];
        for (int e = b->first; e < b->first + b->count; e++)
            sum[ours->entry_column[e]] -= ours->entry_value[e];
        for (int j = 0; j < ours->column_count; j++) assert_int_equal(sum[j], 0);
        free(sum);
    }
}

struct least {
    double time_ns;
    bool fits;
};

static struct least solve_decision(const struct milp *m, const struct formulation *f,
                                   const int *chosen, int stages, struct arena *arena)
{
    bool *closed = TAKE(arena, m->column_count, bool);
    for (int s = 0; s < stages; s++)
        for (int i = 0; i < f->choices->stages[s].count; i++)
            closed[f->choice_column[s][i]] = i != chosen[s];
    struct lp_request request = {.milp = m,
                                 .first_path_row = m->row_count,
                                 .unit_log2 = 4,
                                 .elastic_price = 1e7,
                                 .closed = closed};
    for (int method = LP_DUAL_FROM_SCRATCH; method < LP_METHOD_COUNT; method++) {
        struct lp *lp = lp_open(&request, arena); // where one method gave up, the next starts anew
        if (lp_solve(lp, (enum lp_method)method, 1e300) == LP_OPTIMAL)
            return (struct least){lp_value(lp, 0), lp_elastic_use(lp) < 1e-6};
    }
    return (struct least){0, false}; // rows without an elastic column: it ends without an optimum
}

// The least of a row with the choices of a decision, in integers: `at` has the columns' least
// values.
static int64_t least_of_row(const struct milp *m, const struct milp_row *row, const int64_t *at)
{
    int64_t sum = 0;
    for (int k = row->first; k < row->first + row->count; k++) {
        if (m->entry_value[k] < 0) return INT64_MIN;
        sum += m->entry_value[k] * at[m->entry_column[k]];
    }
    return sum;
}

// A row that a decision violates by a few of 10^11 bytes seems satisfied in floating point: tests
// in integers whether one is violated. Columns other than the choices are at least the choices that
// they cover.
static bool breaks_row(const struct milp *m, const struct formulation *f, const int *chosen,
                       int stages, struct arena *arena)
{
    int64_t *at = TAKE(arena, m->column_count, int64_t);
    for (int s = 0; s < stages; s++) at[f->choice_column[s][chosen[s]]] = 1;
    for (int i = 0; i < m->row_count; i++) {
        const struct milp_row *row = &m->rows[i];
        int64_t positive = 0;
        int covering = -1, chosen_ones = 0;
        for (int k = row->first; k < row->first + row->count; k++) {
            if (m->entry_value[k] > 0) positive += m->entry_value[k], covering = m->entry_column[k];
            else chosen_ones += m->entry_value[k] == -1 && at[m->entry_column[k]];
        }
        if (row->sense == ROW_AT_LEAST && !row->right && positive == 1 && chosen_ones)
            at[covering] = 1;
    }
    for (int i = 0; i < m->row_count; i++)
        if (m->rows[i].sense == ROW_AT_MOST && least_of_row(m, &m->rows[i], at) > m->rows[i].right)
            return true;
    return false;
}

static bool next_decision(int *chosen, const struct choices *c, int stages)
{
    for (int s = 0; s < stages; s++) {
        if (++chosen[s] < c->stages[s].count) return true;
        chosen[s] = 0;
    }
    return false;
}

static void compare_program(const struct check_trial *t, const struct vipr_result *made,
                            struct arena *arena)
{
    struct error err = {OK, ""};
    struct vipr *v = TAKE(arena, 1, struct vipr);
    struct formulation f;
    struct milp m;
    struct graph *g;
    int stages = t->priced.stage_count, *chosen = TAKE(arena, stages, int);
    int64_t decisions = 1, least_ns = INT64_MAX;
    for (int s = 0; s < stages; s++) decisions *= t->choices.stages[s].count;
    if (decisions > DECISIONS_MOST || decisions == 0) return;
    CHECK_OK(formulate_choices(&f, &t->choices, 1 << 20, arena, &err));
    CHECK_OK(graph_compile(&g, &t->schedule, arena, &err));
    read_program(v, made, &err, arena);
    rebuild(&m, v, &f.milp, arena);
    compare_rows(&m, &f.milp);
    int64_t *durations = TAKE(arena, graph_symbol_count(g), int64_t);
    do {
        struct arena_mark mark = arena_set_mark(arena);
        struct least least = solve_decision(&m, &f, chosen, stages, arena);
        bool fits = choices_fit_together(&t->choices, chosen);
        if (fits != least.fits && (fits || !breaks_row(&m, &f, chosen, stages, arena)))
            fail_msg("seed %llu: a decision that %s is %s point of the program",
                     (unsigned long long)t->seed, fits ? "fits" : "does not fit",
                     least.fits ? "a" : "no");
        if (fits) {
            assert_true(choices_durations(&t->choices, chosen, durations));
            int64_t time_ns = graph_longest(g, durations, NULL),
                    at_least = (int64_t)ceil(least.time_ns - 1e-3);
            if (at_least > time_ns)
                fail_msg("seed %llu: the program asks for %lld ns of a plan of %lld ns",
                         (unsigned long long)t->seed, (long long)at_least, (long long)time_ns);
            if (at_least < least_ns) least_ns = at_least;
        }
        seen.decisions++;
        seen.misfits += !fits;
        arena_reset(arena, mark);
    } while (next_decision(chosen, &t->choices, stages));
    assert_int_equal(least_ns, t->best_ns);
    seen.enumerated++;
}

// ---- all of it

TEST(test_random_problems)
{
    for (uint64_t seed = first_seed; seed < first_seed + (uint64_t)problem_count; seed++) {
        struct check_trial t;
        struct vipr_result made;
        struct arena_mark mark = arena_set_mark(arena);
        if (check_trial_draw(&t, seed, arena) && check_trial_enumerate(&t, arena)) {
            bool feasible = t.best_ns != INT64_MAX;
            write_true(&made, &t, t.best_ns, arena);
            compare_program(&t, &made, arena);
            seen.plans += feasible;
            seen.infeasible += !feasible;
            seen.bytes += (int64_t)made.size;
            seen.kinds[t.priced.layout.schedule] = true;
            if (feasible && seed % 3 == 0) {
                write_true(&made, &t, t.best_ns - t.best_ns / 7 - 1, arena);
                seen.weaker++;
            }
            if (seed % 4 == 0) refuse_lies(&t, arena);
        }
        arena_reset(arena, mark);
    }
    print_message("%lld optima, %lld infeasible problems, %lld weaker bounds proven in %lld bytes; "
                  "%lld programs enumerated: %lld decisions, %lld that do not fit; "
                  "%lld lies refused\n",
                  (long long)seen.plans, (long long)seen.infeasible, (long long)seen.weaker,
                  (long long)seen.bytes, (long long)seen.enumerated, (long long)seen.decisions,
                  (long long)seen.misfits, (long long)seen.lies);
    assert_true(seen.plans >= problem_count / 5 && seen.infeasible >= problem_count / 20 &&
                seen.enumerated >= problem_count / 6 && seen.lies > 0);
    for (int k = 0; k < SCHEDULE_KIND_COUNT && problem_count >= DEFAULT_PROBLEMS; k++)
        if (!seen.kinds[k]) fail_msg("no problem of schedule %s", schedule_names[k]);
}

// Numbers of the proof changed, after the problem: what is accepted is true of the best plan.
TEST(test_damage)
{
    uint64_t random = 5;
    int accepted = 0, total = 0;
    for (uint64_t seed = 1; seed < 60; seed++) {
        struct check_trial t;
        struct vipr_result made;
        struct arena_mark mark = arena_set_mark(arena);
        if (check_trial_draw(&t, seed, arena) && check_trial_enumerate(&t, arena) &&
            t.best_ns != INT64_MAX) {
            write_true(&made, &t, t.best_ns, arena);
            size_t start = (size_t)(strstr(made.text, "\nRTP") - made.text);
            for (int i = 0; i < 60 && made.size < 40000; i++, total++) {
                err = (struct error){OK, ""};
                struct arena_mark own = arena_set_mark(arena);
                struct check_vipr_result r;
                char *copy = arena_copy_text(arena, made.text);
                for (int k = 0; k < 1 + i % 3; k++) {
                    size_t at = start + (size_t)random_less(&random, (int64_t)(made.size - start));
                    while (copy[at] < '0' || copy[at] > '9')
                        at = start + (at + 1 - start) % (made.size - start);
                    copy[at] = (char)('0' + random_less(&random, 10));
                }
                struct check_text text = {"damaged.vipr", copy, made.size};
                if (check_vipr(&r, &text, CHECK_WORK_DEFAULT, arena, &err) == OK && r.accepted) {
                    if (r.infeasible ||
                        (strcmp(r.lower, "-inf") && strtoll(r.lower, NULL, 10) > t.best_ns) ||
                        strtoll(r.upper, NULL, 10) < t.best_ns)
                        fail_msg("seed %llu: accepted: %s to %s, the best plan takes %lld",
                                 (unsigned long long)seed, r.lower, r.upper, (long long)t.best_ns);
                    accepted++;
                }
                arena_reset(arena, own);
            }
        }
        arena_reset(arena, mark);
    }
    print_message("%d of %d damaged proofs accepted, and true\n", accepted, total);
    assert_true(total > 300);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
