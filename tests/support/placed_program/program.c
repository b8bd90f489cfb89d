// Columns and rows of the program of placements except links and rings: options of stages, choices
// of replicas, ranks on nodes, cover of the layers, budgets, durations of passes.
#include "tests/support/placed_program/program.h"

#include <string.h>

#include "formulate/program/formulate.h"
#include "tests/support/placed_program/internal.h"

static bool same_option(const struct choice *a, const struct choice *b)
{
    return a->first_layer == b->first_layer && a->layer_count == b->layer_count &&
           a->gradient_option == b->gradient_option && a->boundary_option == b->boundary_option;
}

// The first choice of the stage with the same layers and options.
static int option_of(const struct choices *c, int stage, int index)
{
    const struct stage_choices *all = &c->stages[stage];
    for (int i = 0; i < index; i++)
        if (same_option(&all->items[i], &all->items[index])) return i;
    return index;
}

static int option_size(const struct choices *c, int stage, int option)
{
    int count = 0;
    for (int i = option; i < c->stages[stage].count; i++) count += option_of(c, stage, i) == option;
    return count;
}

// ---- columns

static void add_option_columns(struct placing *x, int stage)
{
    int count = x->c->stages[stage].count,
        *columns = x->f->option_column[stage] = TAKE(x->arena, count, int);
    for (int i = 0; i < count; i++) {
        int option = option_of(x->c, stage, i);
        columns[i] = option < i
                         ? columns[option]
                         : milp_add_column(&x->f->milp, (struct milp_column){.role = COLUMN_OTHER,
                                                                             .a = stage,
                                                                             .b = i,
                                                                             .upper = 1,
                                                                             .integer = true});
    }
}

static void add_choice_columns(struct placing *x, int replica, int stage)
{
    int count = x->c->stages[stage].count,
        *columns = x->f->choice_column[placing_stage(x, replica, stage)] =
            TAKE(x->arena, count, int);
    for (int i = 0; i < count; i++) {
        columns[i] = x->f->option_column[stage][i];
        if (option_size(x->c, stage, option_of(x->c, stage, i)) == 1) continue;
        columns[i] = milp_add_column(
            &x->f->milp,
            (struct milp_column){
                .role = COLUMN_CHOICE, .a = stage, .b = i, .upper = 1, .integer = true});
    }
}

static bool has_group(const struct choices *c, int stage, int group)
{
    for (int i = 0; i < c->stages[stage].count; i++)
        if (c->stages[stage].items[i].group == group) return true;
    return false;
}

static void add_node_columns(struct placing *x, int replica, int rank)
{
    for (int node = 0; node < x->f->nodes; node++) {
        const struct priced_node *n = &x->places->nodes[node];
        bool possible = n->slots > 0 && has_group(x->c, rank, n->group);
        x->f->node_column[(replica * x->f->ranks + rank) * x->f->nodes + node] =
            !possible
                ? -1
                : milp_add_column(
                      &x->f->milp,
                      (struct milp_column){
                          .role = COLUMN_OTHER, .a = rank, .b = node, .upper = 1, .integer = true});
    }
}

int placing_symbol(struct placing *x, int replica, int symbol, int64_t least, int64_t greatest)
{
    int column = greatest == 0
                     ? -1
                     : milp_add_column(&x->f->milp, (struct milp_column){.role = COLUMN_SYMBOL,
                                                                         .a = symbol,
                                                                         .lower = least,
                                                                         .upper = greatest,
                                                                         .time = true});
    for (int r = 0; r < x->f->replicas; r++)
        if (replica < 0 || r == replica) x->f->symbol_column[r][symbol] = column;
    return column;
}

// ---- rows

static void add_choose_one(struct placing *x, int stage)
{
    const struct stage_choices *all = &x->c->stages[stage];
    struct milp *m = &x->f->milp;
    for (int i = 0; i < all->count; i++)
        if (option_of(x->c, stage, i) == i) milp_add_entry(m, x->f->option_column[stage][i], 1);
    milp_add_row(m, ROW_CHOOSE_ONE, ROW_EQUAL, 1);
}

// The option of all replicas is one of the replica's own choices.
static void add_own_choices(struct placing *x, int replica, int stage)
{
    const struct stage_choices *all = &x->c->stages[stage];
    const int *own = x->f->choice_column[placing_stage(x, replica, stage)];
    struct milp *m = &x->f->milp;
    for (int option = 0; option < all->count; option++) {
        if (option_of(x->c, stage, option) != option ||
            own[option] == x->f->option_column[stage][option])
            continue;
        for (int i = option; i < all->count; i++)
            if (option_of(x->c, stage, i) == option) milp_add_entry(m, own[i], 1);
        milp_add_entry(m, x->f->option_column[stage][option], -1);
        milp_add_row(m, ROW_LINK_STATE, ROW_EQUAL, 0);
    }
}

// The rank is on a node of its choice's group.
static void add_stands(struct placing *x, int replica, int rank)
{
    const struct stage_choices *all = &x->c->stages[rank];
    const int *own = x->f->choice_column[placing_stage(x, replica, rank)];
    struct milp *m = &x->f->milp;
    for (int group = 0; group < x->p->group_count; group++) {
        int before = m->entry_count;
        for (int node = 0; node < x->f->nodes; node++)
            if (x->places->nodes[node].group == group &&
                placing_node_column(x, replica, rank, node) >= 0)
                milp_add_entry(m, placing_node_column(x, replica, rank, node), 1);
        for (int i = 0; i < all->count; i++)
            if (all->items[i].group == group) milp_add_entry(m, own[i], -1);
        if (m->entry_count > before) milp_add_row(m, ROW_OTHER, ROW_EQUAL, 0);
    }
}

static void add_room(struct placing *x)
{
    for (int node = 0; node < x->f->nodes; node++) {
        int count = 0;
        for (int place = 0; place < x->f->replicas * x->f->ranks; place++) {
            int column = x->f->node_column[place * x->f->nodes + node];
            if (column < 0) continue;
            milp_add_entry(&x->f->milp, column, 1);
            count++;
        }
        if (count) milp_add_row(&x->f->milp, ROW_SLOTS, ROW_AT_MOST, x->places->nodes[node].slots);
    }
}

static void add_cover(struct placing *x)
{
    struct milp *m = &x->f->milp;
    for (int s = 0; s < x->f->ranks; s++)
        for (int i = 0; i < x->c->stages[s].count; i++)
            if (option_of(x->c, s, i) == i)
                milp_add_entry(m, x->f->option_column[s][i], x->c->stages[s].items[i].layer_count);
    milp_add_row(m, ROW_COVER, ROW_EQUAL, x->p->layer_count);
}

static void add_positions(struct placing *x, int boundary)
{
    const struct stage_choices *left = &x->c->stages[boundary], *right = left + 1;
    struct milp *m = &x->f->milp;
    for (int position = 1; position < x->p->layer_count; position++) {
        int before = m->entry_count;
        for (int i = 0; i < left->count; i++)
            if (option_of(x->c, boundary, i) == i &&
                left->items[i].first_layer + left->items[i].layer_count == position)
                milp_add_entry(m, x->f->option_column[boundary][i], 1);
        for (int i = 0; i < right->count; i++)
            if (option_of(x->c, boundary + 1, i) == i && right->items[i].first_layer == position)
                milp_add_entry(m, x->f->option_column[boundary + 1][i], -1);
        if (m->entry_count > before) milp_add_row(m, ROW_POSITION, ROW_EQUAL, 0);
    }
}

enum { BUDGET_BOUNDARIES, BUDGET_STAGES, BUDGET_COST };

static void add_budget(struct placing *x, int kind, int64_t limit)
{
    if (limit < 0) return;
    for (int s = 0; s < x->f->ranks; s++)
        for (int i = 0; i < x->c->stages[s].count; i++) {
            const struct choice *choice = &x->c->stages[s].items[i];
            if (option_of(x->c, s, i) != i) continue;
            int64_t use = kind == BUDGET_COST ? choice->quality_cost
                          : kind == BUDGET_BOUNDARIES
                              ? x->p->boundary_options[choice->boundary_option].form.amount > 0
                              : x->p->gradient_options[choice->gradient_option].form.amount > 0;
            milp_add_entry(&x->f->milp, x->f->option_column[s][i], use);
        }
    milp_add_row(&x->f->milp, ROW_BUDGET, ROW_AT_MOST, limit);
}

// ---- durations of passes

static void add_pass(struct placing *x, int replica, int stage, int symbol,
                     const int64_t *const *durations)
{
    const struct stage_choices *all = &x->c->stages[stage];
    const int *own = x->f->choice_column[placing_stage(x, replica < 0 ? 0 : replica, stage)];
    int64_t least = INT64_MAX, greatest = 0;
    if (!x->used[symbol] || !all->count) return;
    for (int i = 0; i < all->count; i++) {
        least = durations[i][symbol] < least ? durations[i][symbol] : least;
        greatest = durations[i][symbol] > greatest ? durations[i][symbol] : greatest;
    }
    int column = placing_symbol(x, replica, symbol, least, greatest);
    if (least == greatest) return;
    for (int i = 0; i < all->count; i++) milp_add_entry(&x->f->milp, own[i], -durations[i][symbol]);
    milp_add_entry(&x->f->milp, column, 1);
    milp_add_row(&x->f->milp, ROW_SYMBOL, ROW_EQUAL, 0);
}

static void add_passes(struct placing *x, int stage)
{
    static const int kinds[] = {SYMBOL_FORWARD, SYMBOL_BACKWARD, SYMBOL_WEIGHT, SYMBOL_OPTIMIZER};
    int count = x->c->stages[stage].count, slices = x->p->slice_count;
    int64_t **durations = TAKE(x->arena, count + 1, int64_t *);
    bool alike = true;
    for (int i = 0; i < count; i++) {
        durations[i] = TAKE(x->arena, x->f->symbols, int64_t);
        choices_stage_durations(x->c, stage, &x->c->stages[stage].items[i], durations[i]);
        alike = alike && x->f->choice_column[stage][i] == x->f->option_column[stage][i];
    }
    for (int replica = alike ? -1 : 0; replica < (alike ? 0 : x->f->replicas); replica++) {
        for (int slice = 0; slice < slices; slice++)
            for (size_t k = 0; k < ARRAY_LENGTH(kinds); k++)
                add_pass(x, replica, stage,
                         symbol_index(x->f->ranks, symbol_of_slice(slice, kinds[k]), stage),
                         (const int64_t *const *)durations);
    }
}

// ---- the whole program

static void begin(struct placed_program *f, const struct choices *c, struct arena *arena)
{
    const struct priced *p = c->priced;
    *f = (struct placed_program){.choices = c,
                                 .replicas = p->layout.data,
                                 .ranks = c->rank_count,
                                 .nodes = p->places->node_count,
                                 .symbols = symbol_count(p->stage_count, p->slice_count)};
    milp_begin(&f->milp, arena);
    milp_add_column(&f->milp, (struct milp_column){.role = COLUMN_TIME, .time = true});
    f->symbol_column = TAKE(arena, f->replicas, int *);
    for (int r = 0; r < f->replicas; r++) {
        f->symbol_column[r] = TAKE(arena, f->symbols, int);
        for (int i = 0; i < f->symbols; i++) f->symbol_column[r][i] = -1;
    }
    f->option_column = TAKE(arena, f->ranks, int *);
    f->choice_column = TAKE(arena, f->replicas * f->ranks, int *);
    f->node_column = TAKE(arena, f->replicas * f->ranks * f->nodes, int);
}

static void add_columns(struct placing *x)
{
    for (int node = 0; node < x->f->nodes; node++)
        x->crowded = x->crowded || x->places->nodes[node].slots > 1;
    for (int s = 0; s < x->f->ranks; s++) add_option_columns(x, s);
    for (int r = 0; r < x->f->replicas; r++)
        for (int s = 0; s < x->f->ranks; s++) {
            add_choice_columns(x, r, s);
            add_node_columns(x, r, s);
        }
}

// With every symbol at its maximum.
static int64_t time_upper_ns(const struct placed_program *f, struct graph *g, struct arena *arena)
{
    int64_t *durations = TAKE(arena, f->symbols, int64_t), most = 0;
    for (int r = 0; r < f->replicas; r++) {
        for (int i = 0; i < f->symbols; i++)
            durations[i] =
                f->symbol_column[r][i] < 0 ? 0 : f->milp.columns[f->symbol_column[r][i]].upper;
        int64_t time_ns = graph_longest(g, durations, NULL);
        most = time_ns > most ? time_ns : most;
    }
    return most;
}

enum status formulate_placed(struct placed_program *f, const struct choices *c, struct graph *g,
                             int64_t time_upper, struct arena *arena, struct error *err)
{
    if (c->virtual_stages > 1)
        return refuse(err, "the program of placements knows one stage a rank, found %d",
                      c->virtual_stages);
    if (c->priced->places->micro_batches_together)
        return refuse(err,
                      "the program of placements knows replicas with equally many micro-batches, "
                      "found uneven_micro_batches");
    if (c->priced->places->embedding_ring_ns && c->priced->layout.data > 1)
        return refuse(err,
                      "the program of placements knows embedding syncs of two ranks, found "
                      "fused_embedding_sync with %d replicas",
                      c->priced->layout.data);
    begin(f, c, arena);
    struct placing x = {.f = f,
                        .c = c,
                        .p = c->priced,
                        .places = c->priced->places,
                        .arena = arena,
                        .used = symbols_used(c, arena)};
    add_columns(&x);
    for (int s = 0; s < f->ranks; s++) {
        add_choose_one(&x, s);
        add_passes(&x, s);
    }
    if (!c->free_from) add_cover(&x);
    for (int s = 0; c->free_from && s + 1 < f->ranks; s++) add_positions(&x, s);
    add_budget(&x, BUDGET_BOUNDARIES, c->priced->budget.boundaries_max);
    add_budget(&x, BUDGET_STAGES, c->priced->budget.stages_max);
    add_budget(&x, BUDGET_COST, c->priced->budget.cost_max);
    for (int r = 0; r < f->replicas; r++)
        for (int s = 0; s < f->ranks; s++) {
            add_own_choices(&x, r, s);
            add_stands(&x, r, s);
            if (s + 1 < f->ranks) placing_add_hops(&x, r, s);
        }
    add_room(&x);
    for (int r = 0; c->priced->has_embedding_sync && r < f->replicas; r++)
        placing_add_embedding(&x, r);
    placing_add_sharing(&x);
    for (int s = 0; s < f->ranks; s++) TRY(placing_add_ring(&x, s, err));
    placing_add_order(&x);
    f->milp.columns[0].upper = time_upper > 0 ? time_upper : time_upper_ns(f, g, arena);
    return OK;
}

int placed_program_add_path(struct placed_program *f, const int *counts, int replica)
{
    struct milp *m = &f->milp;
    milp_add_entry(m, 0, counts[f->symbols]);
    for (int symbol = 0; symbol < f->symbols; symbol++) {
        int column = f->symbol_column[replica][symbol];
        if (column < 0 || m->columns[column].a != symbol) continue;
        int64_t count = 0;
        for (int other = 0; other < f->symbols; other++)
            if (f->symbol_column[replica][other] == column) count += counts[other];
        milp_add_entry(m, column, -count);
    }
    f->path_row_count++;
    return milp_add_row(m, ROW_PATH, ROW_AT_LEAST, 0);
}

bool placed_program_decode(const struct placed_program *f, const double *values, int *chosen,
                           int *node)
{
    for (int place = 0; place < f->replicas * f->ranks; place++) {
        const struct stage_choices *all = &f->choices->stages[place % f->ranks];
        chosen[place] = node[place] = -1;
        for (int n = 0; n < f->nodes; n++)
            if (f->node_column[place * f->nodes + n] >= 0 &&
                values[f->node_column[place * f->nodes + n]] > 0.5)
                node[place] = n;
        for (int i = 0; i < all->count; i++)
            if (values[f->choice_column[place][i]] > 0.5) chosen[place] = i;
        if (node[place] < 0 || chosen[place] < 0) return false;
        if (all->items[chosen[place]].group != f->choices->priced->places->nodes[node[place]].group)
            return false;
    }
    return true;
}
