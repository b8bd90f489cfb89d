// Exact bounds on programs small enough to enumerate: whatever the multipliers, the bound is not
// above the least value of a whole point; good multipliers reach it; wrong signs, overflow and
// damaged rows are detected.
#include "solve/tree/job.h"
#include "solve/tree/lp.h"
#include "tests/support/problems.h"
#include "tests/support/check.h"

enum { STAGES = 3, OPTIONS = 4, UNIT = 20 };

// Three stages, four options each (layers 1..4 with random times), layers add up to 7, T >= a few
// random sums.
struct small {
    struct milp milp;
    int column[STAGES][OPTIONS], symbol[STAGES], first_path;
    int64_t time[STAGES][OPTIONS];
    int64_t path[3][STAGES];
};

static void build(struct small *p, struct random *rng, struct arena *arena)
{
    milp_begin(&p->milp, arena);
    milp_add_column(&p->milp, (struct milp_column){
                                  .role = COLUMN_TIME, .upper = (int64_t)1 << 40, .time = true});
    for (int s = 0; s < STAGES; s++) {
        for (int i = 0; i < OPTIONS; i++) {
            p->time[s][i] = random_between(rng, 1, 40000000) * (i + 1);
            p->column[s][i] = milp_add_column(
                &p->milp, (struct milp_column){
                              .role = COLUMN_CHOICE, .a = s, .b = i, .upper = 1, .integer = true});
        }
        p->symbol[s] = milp_add_column(
            &p->milp,
            (struct milp_column){.role = COLUMN_SYMBOL, .a = s, .upper = 160000000, .time = true});
        for (int i = 0; i < OPTIONS; i++) milp_add_entry(&p->milp, p->column[s][i], 1);
        milp_add_row(&p->milp, ROW_CHOOSE_ONE, ROW_EQUAL, 1);
        for (int i = 0; i < OPTIONS; i++) milp_add_entry(&p->milp, p->column[s][i], -p->time[s][i]);
        milp_add_entry(&p->milp, p->symbol[s], 1);
        milp_add_row(&p->milp, ROW_SYMBOL, ROW_EQUAL, 0);
    }
    for (int s = 0; s < STAGES; s++)
        for (int i = 0; i < OPTIONS; i++) milp_add_entry(&p->milp, p->column[s][i], i + 1);
    p->first_path = milp_add_row(&p->milp, ROW_COVER, ROW_EQUAL, 7) + 1;
    for (int k = 0; k < 3; k++) {
        milp_add_entry(&p->milp, 0, 1);
        for (int s = 0; s < STAGES; s++) {
            p->path[k][s] = random_between(rng, 0, 9);
            milp_add_entry(&p->milp, p->symbol[s], -p->path[k][s]);
        }
        milp_add_row(&p->milp, ROW_PATH, ROW_AT_LEAST, 0);
    }
}

// Least T over the whole points that closed[] allows; INT64_MAX: there are none.
static int64_t least(const struct small *p, const bool *closed)
{
    int64_t best = INT64_MAX;
    for (int code = 0; code < 64; code++) {
        int chosen[STAGES] = {code % 4, code / 4 % 4, code / 16}, layers = 3;
        bool open = true;
        int64_t time = 0;
        for (int s = 0; s < STAGES; s++)
            layers += chosen[s], open &= !closed[p->column[s][chosen[s]]];
        if (!open || layers != 7) continue;
        for (int k = 0; k < 3; k++) {
            int64_t sum = 0;
            for (int s = 0; s < STAGES; s++) sum += p->path[k][s] * p->time[s][chosen[s]];
            if (sum > time) time = sum;
        }
        if (time < best) best = time;
    }
    return best;
}

TEST(test_any_multipliers)
{
    struct random rng = {5};
    struct arena_mark mark = arena_set_mark(arena);
    for (int run = 0; run < 400; run++, arena_reset(arena, mark)) {
        struct small p = {0};
        struct bound_scratch scratch;
        struct multipliers y;
        int64_t bound_ns;
        build(&p, &rng, arena);
        bound_prepare(&scratch, &p.milp, arena);
        bool closed[64] = {false};
        for (int s = 0; s < STAGES; s++)
            closed[p.column[s][random_between(&rng, 0, 3)]] = random_chance(&rng, 50);
        int rows[32], n = p.milp.row_count;
        double values[32];
        for (int i = 0; i < n; i++)
            rows[i] = i, values[i] = (double)random_between(&rng, -1000, 1000) / 300;
        bound_round(&y, &scratch, rows, values, n, UNIT, arena);
        if (bound_evaluate(&bound_ns, NULL, &p.milp, closed, &y, &scratch))
            assert_true(bound_ns <= least(&p, closed));
    }
}

// The multipliers of a relaxation stopped by the time limit are as valid as any.
TEST(test_stopped)
{
    struct random rng = {8};
    const struct watch over = {NULL, 1e-9, 0};
    struct arena_mark mark = arena_set_mark(arena);
    for (int run = 0; run < 50; run++, arena_reset(arena, mark)) {
        struct small p = {0};
        struct multipliers y;
        struct bound_scratch scratch;
        bool closed[64] = {false};
        int64_t bound_ns;
        int rows[32];
        double values[32];
        build(&p, &rng, arena);
        bound_prepare(&scratch, &p.milp, arena);
        struct lp_request request = {.milp = &p.milp,
                                     .first_path_row = p.first_path,
                                     .unit_log2 = UNIT,
                                     .elastic_price = 1e5,
                                     .closed = closed,
                                     .watch = &over};
        struct lp *lp = lp_open(&request, arena);
        assert_int_not_equal(lp_solve(lp, LP_DUAL, 1e300), LP_FAILED);
        for (int i = 0; i < lp_row_count(lp); i++)
            rows[i] = lp_row_of(lp, i), values[i] = lp_multiplier(lp, i);
        bound_round(&y, &scratch, rows, values, lp_row_count(lp), UNIT, arena);
        if (bound_evaluate(&bound_ns, NULL, &p.milp, closed, &y, &scratch))
            assert_true(bound_ns <= least(&p, closed));
    }
}

static int64_t relaxed_bound(const struct small *p, const bool *closed, struct multipliers *y,
                             struct arena *arena)
{
    struct bound_scratch scratch;
    struct lp_request request = {.milp = &p->milp,
                                 .first_path_row = p->first_path,
                                 .unit_log2 = UNIT,
                                 .elastic_price = 1e5,
                                 .closed = closed};
    int64_t bound_ns = 0;
    int rows[32];
    double values[32];
    bound_prepare(&scratch, &p->milp, arena);
    struct lp *lp = lp_open(&request, arena);
    for (int k = 0; k < 3; k++) lp_add_row(lp, p->first_path + k);
    assert_int_equal(lp_solve(lp, LP_DUAL, 1e300), LP_OPTIMAL);
    for (int i = 0; i < lp_row_count(lp); i++)
        rows[i] = lp_row_of(lp, i), values[i] = lp_multiplier(lp, i);
    bound_round(y, &scratch, rows, values, lp_row_count(lp), UNIT, arena);
    assert_true(bound_evaluate(&bound_ns, NULL, &p->milp, closed, y, &scratch));
    // The relaxation's own value, to a nanosecond: nothing is lost by the rounding.
    assert_true((double)bound_ns >= lp_objective_ns(lp) - 1 - 1e-12 * lp_objective_ns(lp));
    return bound_ns;
}

TEST(test_relaxation)
{
    struct random rng = {6};
    int exact = 0, hopeless = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int run = 0; run < 200; run++, arena_reset(arena, mark)) {
        struct small p = {0};
        struct multipliers y;
        bool closed[64] = {false};
        build(&p, &rng, arena);
        assert_true(relaxed_bound(&p, closed, &y, arena) <= least(&p, closed));
        for (int s = 0; s < STAGES; s++) // a single decision: the bound is its time, or beyond any
            for (int i = 0, kept = (int)random_between(&rng, 0, 3); i < OPTIONS; i++)
                closed[p.column[s][i]] = i != kept;
        int64_t bound_ns = relaxed_bound(&p, closed, &y, arena), time_ns = least(&p, closed);
        if (time_ns == INT64_MAX) assert_true(bound_ns > 9 * 3 * (int64_t)160000000), hopeless++;
        else assert_int_equal(bound_ns, time_ns), exact++;
    }
    assert_true(exact > 10 && hopeless > 10);
}

TEST(test_refusals)
{
    struct random rng = {7};
    struct small p = {0};
    struct bound_scratch scratch;
    bool closed[64] = {false};
    int64_t bound_ns;
    build(&p, &rng, arena);
    bound_prepare(&scratch, &p.milp, arena);
    int row = p.first_path;
    int64_t value = -1;
    struct multipliers y = {&row, &value, 1, UNIT};
    assert_false(bound_evaluate(&bound_ns, NULL, &p.milp, closed, &y, &scratch)); // >= wants y >= 0
    value = 1;
    assert_true(bound_evaluate(&bound_ns, NULL, &p.milp, closed, &y, &scratch));
    row = p.first_path - 1; // cover: times 2^unit, far too much
    value = INT64_MAX;
    y.unit_log2 = 62;
    assert_false(bound_evaluate(&bound_ns, NULL, &p.milp, closed, &y, &scratch));
}

// A planted fault: a path row that counts a stage once too often proves too much, and enumeration
// sees it.
TEST(test_planted_coefficient)
{
    struct random rng = {8};
    int seen = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int run = 0; run < 50; run++, arena_reset(arena, mark)) {
        struct small p = {0};
        struct multipliers y;
        bool closed[64] = {false};
        build(&p, &rng, arena);
        for (int s = 0; s < STAGES; s++)
            for (int i = 0; i < OPTIONS; i++) closed[p.column[s][i]] = i != (s == 0 ? 2 : 1);
        for (int e = p.milp.rows[p.first_path].first; e < p.milp.entry_count; e++)
            if (p.milp.entry_column[e] == p.symbol[1]) p.milp.entry_value[e]--;
        seen += relaxed_bound(&p, closed, &y, arena) > least(&p, closed);
    }
    assert_true(seen >= 45);
}
