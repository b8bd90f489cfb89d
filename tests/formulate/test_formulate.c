// The formulation row by row in integer arithmetic: for every combination of choices the binaries
// are fixed and the other columns follow from their defining rows; then all rows hold exactly when
// the combination is a plan, and the symbol columns are its durations. No LP solver is trusted
// here.
#include "data/kinds/schedules.h"
#include "formulate/program/formulate.h"
#include "tests/support/random_priced.h"
#include "tests/support/check.h"

struct checked {
    struct arena arena;
    struct priced p;
    struct schedule schedule;
    struct choices c;
    struct graph *graph;
    struct formulation f;
    int64_t values[20000];
    int64_t durations[8 * SLICES_MAX * SYMBOL_KIND_COUNT];
    int chosen[8];
};

static int64_t row_value(const struct milp *m, const struct milp_row *row, const int64_t *values,
                         int without)
{
    int64_t sum = 0;
    for (int e = row->first; e < row->first + row->count; e++)
        if (m->entry_column[e] != without) sum += m->entry_value[e] * values[m->entry_column[e]];
    return sum;
}

static bool row_holds(const struct milp *m, const struct milp_row *row, const int64_t *values)
{
    int64_t left = row_value(m, row, values, -1);
    return row->sense == ROW_EQUAL     ? left == row->right
           : row->sense == ROW_AT_MOST ? left <= row->right
                                       : left >= row->right;
}

// The first column of the role with coefficient `value`, or -1.
static int entry_of_role(const struct milp *m, const struct milp_row *row, enum column_role role,
                         int64_t value)
{
    for (int e = row->first; e < row->first + row->count; e++)
        if (m->columns[m->entry_column[e]].role == role && m->entry_value[e] == value)
            return m->entry_column[e];
    return -1;
}

// A flow is one when both its rows require one, which follows from the rest of each row, its
// states.
static void set_flows(const struct milp *m, int64_t *values)
{
    for (int j = 0; j < m->column_count; j++)
        if (m->columns[j].role == COLUMN_FLOW) values[j] = 1;
    for (int i = 0; i < m->row_count; i++) {
        const struct milp_row *row = &m->rows[i];
        if (row->role != ROW_FLOW) continue;
        int64_t wanted = row->right;
        for (int e = row->first; e < row->first + row->count; e++)
            if (m->columns[m->entry_column[e]].role != COLUMN_FLOW)
                wanted -= m->entry_value[e] * values[m->entry_column[e]];
        for (int e = row->first; e < row->first + row->count && !wanted; e++)
            if (m->columns[m->entry_column[e]].role == COLUMN_FLOW) values[m->entry_column[e]] = 0;
    }
}

// A rank's working memory reaches a level where the choices of one of its stages do.
static void raise_working(const struct milp *m, const struct milp_row *row, int64_t *values)
{
    int column = entry_of_role(m, row, COLUMN_WORKING, 1);
    int64_t least = row->right - row_value(m, row, values, column);
    if (values[column] < least) values[column] = least;
}

static void set_values(const struct formulation *f, const int *chosen, int64_t *values)
{
    const struct milp *m = &f->milp;
    for (int j = 0; j < m->column_count; j++)
        values[j] = m->columns[j].lower == m->columns[j].upper ? m->columns[j].lower : 0;
    values[0] = m->columns[0].upper;
    for (int s = 0; s < f->choices->priced->stage_count; s++)
        values[f->choice_column[s][chosen[s]]] = 1;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < m->row_count; i++) {
            const struct milp_row *row = &m->rows[i];
            if (row->role == ROW_WORKING) raise_working(m, row, values);
            int column = row->role == ROW_LINK_STATE       ? entry_of_role(m, row, COLUMN_STATE, -1)
                         : row->role == ROW_LEVEL          ? entry_of_role(m, row, COLUMN_LEVEL, 1)
                         : row->role == ROW_SYMBOL && pass ? entry_of_role(m, row, COLUMN_SYMBOL, 1)
                                                           : -1;
            if (column < 0) continue;
            int64_t rest = row_value(m, row, values, column);
            values[column] = row->role == ROW_LINK_STATE ? rest - row->right : row->right - rest;
        }
        if (!pass) set_flows(m, values);
    }
}

static bool all_hold(const struct milp *m, const int64_t *values)
{
    for (int i = 0; i < m->row_count; i++)
        if (!row_holds(m, &m->rows[i], values)) return false;
    for (int j = 0; j < m->column_count; j++)
        if (values[j] < m->columns[j].lower || values[j] > m->columns[j].upper) return false;
    return true;
}

static void check_levels(const struct checked *k)
{
    for (int s = 0; s < k->p.stage_count; s++) {
        int64_t load = k->c.stages[s].items[k->chosen[s]].load_ns;
        for (int j = 0; j < k->f.level_count[s]; j++) {
            if (j) assert_true(k->f.level_load_ns[s][j] > k->f.level_load_ns[s][j - 1]);
            if (j)
                assert_int_equal(k->values[k->f.level_column[s][j]],
                                 load >= k->f.level_load_ns[s][j]);
        }
    }
}

static bool *used_symbols(const struct schedule *s, struct arena *arena)
{
    bool *used = TAKE(arena, symbol_count(s->request.stage_count, s->request.slice_count), bool);
    for (int i = 0; i < s->operation_count; i++) used[s->operations[i].symbol] = true;
    return used;
}

static void check_combination(struct checked *k, const bool *used)
{
    const struct milp *m = &k->f.milp;
    bool fits = choices_fit_together(&k->c, k->chosen);
    set_values(&k->f, k->chosen, k->values);
    assert_int_equal(all_hold(m, k->values), fits);
    if (!fits) return;
    assert_true(choices_durations(&k->c, k->chosen, k->durations));
    for (int i = 0; i < symbol_count(k->p.stage_count, k->p.slice_count); i++)
        if (used[i])
            assert_int_equal(k->f.symbol_column[i] < 0 ? 0 : k->values[k->f.symbol_column[i]],
                             k->durations[i]);
    check_levels(k);
}

// One of every schedule in turn.
static bool draw(struct checked *k, int turn, uint64_t *seed, double combinations_max)
{
    const char *why;
    double product = 1;
    random_priced_of(&k->p, (int)(turn % SCHEDULE_KIND_COUNT), seed, &k->arena);
    priced_schedule(&k->schedule, &k->p, &k->arena);
    MUST(graph_compile(&k->graph, &k->schedule, &k->arena, &own_err));
    MUST(choices_build(&k->c, &k->p, &k->schedule, &k->arena, &own_err));
    for (int s = 0; s < k->p.stage_count; s++) product *= k->c.stages[s].count;
    if (product > combinations_max || choices_hopeless_stage(&k->c, &why) >= 0) return false;
    MUST(formulate_choices(&k->f, &k->c, 1000000, &k->arena, &own_err));
    assert_true(k->f.milp.column_count < 20000);
    return true;
}

// The next combination, like an odometer; false after the last.
static bool advance(struct checked *k)
{
    for (int s = 0; s < k->p.stage_count; s++) {
        if (++k->chosen[s] < k->c.stages[s].count) return true;
        k->chosen[s] = 0;
    }
    return false;
}

static struct checked checked;

TEST(rows_hold_exactly_for_plans)
{
    uint64_t seed = 7;
    int programs = 0, with_flow = 0, with_budget = 0, with_memory = 0, with_working = 0,
        of_schedule[SCHEDULE_KIND_COUNT] = {0};
    long plans = 0;
    struct checked *k = &checked;
    for (int i = 0; i < 1600; i++) {
        arena_open(&k->arena, NULL);
        if (draw(k, i, &seed, 3000)) {
            const bool *used = used_symbols(&k->schedule, &k->arena);
            memset(k->chosen, 0, sizeof k->chosen);
            do {
                check_combination(k, used);
                plans++;
            } while (advance(k));
            programs++;
            bool flow = false, budget = false, memory = false, working = false;
            for (int r = 0; r < k->f.milp.row_count; r++) {
                flow = flow || k->f.milp.rows[r].role == ROW_FLOW;
                budget = budget || k->f.milp.rows[r].role == ROW_BUDGET;
                memory = memory || k->f.milp.rows[r].role == ROW_MEMORY;
                working = working || k->f.milp.rows[r].role == ROW_WORKING;
            }
            of_schedule[k->p.layout.schedule]++;
            with_memory += memory;
            with_working += working;
            with_flow += flow;
            with_budget += budget;
        }
        arena_close(&k->arena);
    }
    print_message("%d programs, %ld combinations, %d programs with flows, %d with budgets, %d with "
                  "memory of ranks, %d of them "
                  "with steps of working memory\n",
                  programs, plans, with_flow, with_budget, with_memory, with_working);
    assert_true(programs > 150 && with_flow > 20 && with_budget > 20 && with_memory > 20 &&
                with_working > 10);
    for (int kind = 0; kind < SCHEDULE_KIND_COUNT; kind++) {
        print_message("%s %d\n", schedule_names[kind], of_schedule[kind]);
        assert_true(of_schedule[kind] >= 15);
    }
}

// A path row of a plan: holds for every plan with its own time, and with equality for the plan it
// was taken from; up to the rounding of the period where iterations overlap.
static bool path_row_is_sound(struct checked *k, int row, int laps)
{
    int source[8];
    const struct milp *m = &k->f.milp;
    bool sound = true, tight = false;
    memcpy(source, k->chosen, sizeof source);
    memset(k->chosen, 0, sizeof k->chosen);
    do {
        if (!choices_fit_together(&k->c, k->chosen)) continue;
        choices_durations(&k->c, k->chosen, k->durations);
        set_values(&k->f, k->chosen, k->values);
        k->values[0] = graph_longest(k->graph, k->durations, NULL);
        sound = sound && row_holds(m, &m->rows[row], k->values);
        if (!memcmp(source, k->chosen, sizeof source))
            tight = row_value(m, &m->rows[row], k->values, -1) < m->rows[row].right + laps;
    } while (advance(k));
    memcpy(k->chosen, source, sizeof source);
    return sound && tight;
}

TEST(wrong_coefficient_in_path_row_is_noticed)
{
    uint64_t seed = 99;
    int rows = 0, planted = 0, periodic = 0;
    struct checked *k = &checked;
    for (int i = 0; i < 500; i++) {
        arena_open(&k->arena, NULL);
        memset(k->chosen, 0, sizeof k->chosen);
        bool found = draw(k, i, &seed, 400);
        while (found && !choices_fit_together(&k->c, k->chosen) && (found = advance(k))) continue;
        if (found) {
            int *counts =
                TAKE(&k->arena, symbol_count(k->p.stage_count, k->p.slice_count) + 1, int);
            choices_durations(&k->c, k->chosen, k->durations);
            graph_longest(k->graph, k->durations, counts);
            struct milp *m = &k->f.milp;
            int row = formulate_add_path(&k->f, counts);
            int laps = counts[graph_symbol_count(k->graph)];
            assert_true(path_row_is_sound(k, row, laps));
            rows++;
            periodic += laps > 0 && !k->p.layout.barrier;
            for (int e = m->rows[row].first + 1; e < m->rows[row].first + m->rows[row].count; e++) {
                set_values(&k->f, k->chosen, k->values);
                if (k->values[m->entry_column[e]] < laps) continue;
                for (int fault = -1; fault <= 1; fault += 2) {
                    m->entry_value[e] += fault;
                    assert_false(path_row_is_sound(k, row, laps));
                    m->entry_value[e] -= fault;
                    planted++;
                }
            }
        }
        arena_close(&k->arena);
    }
    print_message("%d path rows, %d of them cycles, %d planted faults\n", rows, periodic, planted);
    assert_true(rows > 50 && periodic > 10 && planted > 500);
}
