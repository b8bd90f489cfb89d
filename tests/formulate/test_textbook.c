// The textbook rows in integer arithmetic: every raw decision of every stage, allowed or not, is
// set in the binaries; the least values of the continuous columns follow; then all rows hold
// exactly when the decision is a plan, and the symbols' least values are its durations. With the
// same path rows the optimum then equals that of the choices.
#include "data/kinds/schedules.h"
#include "formulate/choices/choice.h"
#include "tests/support/textbook/textbook.h"
#include "tests/support/random_priced.h"
#include "tests/support/check.h"

struct checked {
    struct arena arena;
    struct priced p;
    struct schedule schedule;
    struct choices c, raw; // raw: everything that can be written down, unfiltered
    bool *valid[8];
    struct graph *graph;
    struct formulation f;
    int64_t *values;
    int chosen[8];
};

static void add_raw(struct checked *k, int stage, struct choice x)
{
    struct stage_choices *list = &k->raw.stages[stage];
    choice_evaluate(&k->raw, stage, &x);
    const struct priced *p = &k->p;
    const struct compression_form of_sync = p->gradient_options[x.gradient_option].form,
                                  of_send = p->boundary_options[x.boundary_option].form;
    int rank = of_sync.method == COMPRESS_LOW_RANK ? of_sync.amount : 0,
        other = of_send.method == COMPRESS_LOW_RANK ? of_send.amount : 0;
    k->valid[stage][list->count] = p->recompute[x.recompute] && !p->groups[x.group].excluded &&
                                   choice_broken_rule(&k->raw, stage, &x) < 0 &&
                                   choice_excess_bytes(&k->raw, stage, &x) <= 0 &&
                                   (!rank || rank >= p->budget.rank_min) &&
                                   (!other || other >= p->budget.rank_min);
    list->items[list->count++] = x;
}

static void enumerate(struct checked *k)
{
    const struct priced *p = &k->p;
    k->raw = k->c;
    k->raw.free_from = p->layer_count;
    k->raw.stages = TAKE(&k->arena, p->stage_count, struct stage_choices);
    for (int s = 0; s < p->stage_count; s++) {
        k->raw.stages[s].items = TAKE(&k->arena, 8000, struct choice);
        k->valid[s] = TAKE(&k->arena, 8000, bool);
        struct choice x = {0};
        for (x.first_layer = s; x.first_layer <= (s ? p->layer_count - p->stage_count + s : 0);
             x.first_layer++)
            for (x.layer_count = 1;
                 x.first_layer + x.layer_count <= p->layer_count - p->stage_count + s + 1;
                 x.layer_count++) {
                if (s == p->stage_count - 1 && x.first_layer + x.layer_count < p->layer_count)
                    continue;
                int most = span_recomputable(p, x.first_layer, x.layer_count);
                for (x.group = 0; x.group < p->group_count; x.group++)
                    for (x.gradient_option = 0; x.gradient_option < p->gradient_option_count;
                         x.gradient_option++)
                        for (x.boundary_option = 0;
                             x.boundary_option <
                             (choice_sends_backward(&k->raw, s) ? p->boundary_option_count : 1);
                             x.boundary_option++)
                            for (int mode = 0; mode < RECOMPUTE_SWAP; mode++)
                                for (int n = mode == RECOMPUTE_FIRST_LAYERS;
                                     n <= (mode == RECOMPUTE_FIRST_LAYERS ? most : 0); n++) {
                                    x.recompute = (enum recompute)mode;
                                    x.recomputed_layers = n;
                                    add_raw(k, s, x);
                                }
            }
    }
}

static bool is_one(const struct checked *k, const struct milp_column *column)
{
    const struct priced *p = &k->p;
    const struct choice *x = &k->raw.stages[column->b].items[k->chosen[column->b]];
    int before = 0;
    bool inside = column->c >= x->first_layer && column->c < x->first_layer + x->layer_count;
    switch (column->a) {
    case TEXTBOOK_HOLDS: return inside;
    case TEXTBOOK_FULL:
        for (int l = x->first_layer; l < column->c; l++)
            before += p->runs[priced_run_of(p, l)].recomputable;
        return inside &&
               (x->recompute == RECOMPUTE_FULL ||
                (x->recompute == RECOMPUTE_FIRST_LAYERS && before < x->recomputed_layers));
    case TEXTBOOK_SELECTIVE: return inside && x->recompute == RECOMPUTE_SELECTIVE;
    case TEXTBOOK_GROUP: return column->c == x->group;
    case TEXTBOOK_MODE: return column->c == (int)x->recompute;
    case TEXTBOOK_GRADIENT: return column->c == x->gradient_option;
    case TEXTBOOK_BOUNDARY: return column->c == x->boundary_option;
    case TEXTBOOK_CUT: return column->c == x->cut;
    default: return false;
    }
}

static bool row_holds(const struct milp *m, const struct milp_row *row, const int64_t *values)
{
    int64_t left = 0;
    for (int e = row->first; e < row->first + row->count; e++)
        left += m->entry_value[e] * values[m->entry_column[e]];
    return row->sense == ROW_EQUAL     ? left == row->right
           : row->sense == ROW_AT_MOST ? left <= row->right
                                       : left >= row->right;
}

// Rows with one continuous column of coefficient +1 and sense >= raise it; a counting row lets its
// OUTSIDE binary be one.
static void set_derived(struct checked *k, int row_index)
{
    const struct milp *m = &k->f.milp;
    const struct milp_row *row = &m->rows[row_index];
    int continuous = -1, outside = -1, others = 0;
    int64_t rest = 0;
    for (int e = row->first; e < row->first + row->count; e++) {
        const struct milp_column *column = &m->columns[m->entry_column[e]];
        if (!column->integer) continuous = m->entry_column[e], others++;
        else rest += m->entry_value[e] * k->values[m->entry_column[e]];
        if (column->role == COLUMN_OTHER && column->a == TEXTBOOK_OUTSIDE &&
            m->entry_value[e] != -1)
            outside = m->entry_column[e];
        // max + 1 may be 1: the row of the forbidding sum is distinguished by its sense.
        if (column->role == COLUMN_OTHER && column->a == TEXTBOOK_OUTSIDE &&
            row->sense == ROW_AT_LEAST)
            outside = m->entry_column[e];
    }
    if (others == 1 && row->sense == ROW_AT_LEAST && row->right - rest > k->values[continuous])
        k->values[continuous] = row->right - rest;
    if (outside < 0) return;
    k->values[outside] = 1;
    if (!row_holds(m, row, k->values)) k->values[outside] = 0;
}

static void set_values(struct checked *k)
{
    const struct milp *m = &k->f.milp;
    for (int j = 0; j < m->column_count; j++)
        k->values[j] = m->columns[j].role == COLUMN_OTHER && m->columns[j].integer
                           ? is_one(k, &m->columns[j])
                           : 0;
    for (int i = 0; i < m->row_count; i++) set_derived(k, i);
}

// A raw decision may use a binary that does not exist (mode not allowed, group excluded): then it
// is not representable.
static bool all_hold(struct checked *k)
{
    const struct milp *m = &k->f.milp;
    for (int i = 0; i < m->row_count; i++)
        if (!row_holds(m, &m->rows[i], k->values)) return false;
    for (int j = 0; j < m->column_count; j++)
        if (k->values[j] < m->columns[j].lower || k->values[j] > m->columns[j].upper) return false;
    return true;
}

static struct checked checked;

static void check_combination(struct checked *k, const bool *used, long *plans)
{
    int64_t durations[8 * SLICES_MAX * SYMBOL_KIND_COUNT];
    bool fits = choices_fit_together(&k->raw, k->chosen);
    for (int s = 0; s < k->p.stage_count; s++) fits = fits && k->valid[s][k->chosen[s]];
    set_values(k);
    assert_int_equal(all_hold(k), fits);
    if (!fits) return;
    int decoded[8];
    int64_t found[8 * SLICES_MAX * SYMBOL_KIND_COUNT];
    double *floating = TAKE(&k->arena, k->f.milp.column_count, double);
    choices_durations(&k->raw, k->chosen, durations);
    for (int i = 0; i < symbol_count(k->p.stage_count, k->p.slice_count); i++)
        if (used[i])
            assert_int_equal(k->f.symbol_column[i] < 0 ? 0 : k->values[k->f.symbol_column[i]],
                             durations[i]);
    for (int j = 0; j < k->f.milp.column_count; j++) floating[j] = (double)k->values[j];
    assert_true(textbook_decode(&k->f, floating, decoded));
    assert_true(choices_fit_together(&k->c, decoded));
    choices_durations(&k->c, decoded, found);
    assert_true(graph_longest(k->graph, found, NULL) <= graph_longest(k->graph, durations, NULL));
    ++*plans;
}

TEST(rows_hold_exactly_for_plans)
{
    uint64_t seed = 5;
    long plans = 0, tried = 0, of_schedule[SCHEDULE_KIND_COUNT] = {0};
    struct checked *k = &checked;
    for (int i = 0; i < 240; i++) {
        long before = plans;
        arena_open(&k->arena, NULL);
        random_priced_of(&k->p, (int)(i % SCHEDULE_KIND_COUNT), &seed, &k->arena);
        priced_without_swaps(&k->p);
        priced_without_setting(&k->p);
        if (k->p.stage_count <= k->p.layer_count) {
            priced_schedule(&k->schedule, &k->p, &k->arena);
            CHECK_OK(choices_build(&k->c, &k->p, &k->schedule, &k->arena, &err));
            CHECK_OK(graph_compile(&k->graph, &k->schedule, &k->arena, &err));
            CHECK_OK(formulate_textbook(&k->f, &k->c, 1000000, &k->arena, &err));
            k->values = TAKE(&k->arena, k->f.milp.column_count, int64_t);
            enumerate(k);
            bool *used = TAKE(&k->arena, symbol_count(k->p.stage_count, k->p.slice_count), bool);
            for (int o = 0; o < k->schedule.operation_count; o++)
                used[k->schedule.operations[o].symbol] = true;
            // Stages are drawn so that the layers mostly connect, and mostly from decisions that
            // are valid by themselves.
            for (int sample = 0; sample < 400 && plans < before + 40; sample++) {
                for (int s = 0, layer = 0; s < k->p.stage_count; s++) {
                    const struct stage_choices *list = &k->raw.stages[s];
                    for (int attempt = 0; attempt < 200; attempt++) {
                        k->chosen[s] = (int)random_less(&seed, list->count);
                        bool odd = random_less(&seed, 60) == 0;
                        if (odd || (list->items[k->chosen[s]].first_layer == layer &&
                                    k->valid[s][k->chosen[s]]))
                            break;
                    }
                    layer = list->items[k->chosen[s]].first_layer +
                            list->items[k->chosen[s]].layer_count;
                }
                check_combination(k, used, &plans);
                tried++;
            }
        }
        of_schedule[i % SCHEDULE_KIND_COUNT] += plans - before;
        arena_close(&k->arena);
    }
    print_message("%ld decisions, %ld of them plans\n", tried, plans);
    for (int kind = 0; kind < SCHEDULE_KIND_COUNT; kind++) {
        print_message("%s %ld\n", schedule_names[kind], of_schedule[kind]);
        assert_true(of_schedule[kind] > 30);
    }
    assert_true(plans > 1000 && tried - plans > 2000);
}
