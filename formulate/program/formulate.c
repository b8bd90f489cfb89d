// The choices formulation: one binary per choice; state columns (sums of choices that look alike to
// the neighbours), which carry slots, links and budgets; level columns, on which the tree branches.
// Level rows form a chain (reached level j = reached level j+1 or has a load of exactly level j),
// so every choice is in only one of them.
#include "formulate/program/formulate.h"

#include <stdlib.h>

#include "data/base/least.h"

// What occupies a stream once per micro-batch. If there are few micro-batches and all are in the
// drain, what they would send outside the drain still counts as a load. -1: none.
static int load_kind(int kind)
{
    int base = symbol_base_kind(kind);
    if (base == SYMBOL_SYNC || base == SYMBOL_OPTIMIZER || base >= SYMBOL_EMBEDDING_SYNC) return -1;
    if (base >= SYMBOL_SEND_FORWARD && (base - SYMBOL_SEND_FORWARD) % PART_COUNT == PART_DELAY)
        return -1;
    return base >= SYMBOL_SEND_EPILOGUE ? kind - SYMBOL_SEND_EPILOGUE + SYMBOL_SEND_BACKWARD : kind;
}

bool *symbols_used(const struct choices *c, struct arena *arena)
{
    const struct schedule *schedule = c->schedule;
    int stages = schedule->request.stage_count;
    bool all = c->priced->objective != OBJECTIVE_MAX_LOAD,
         *used = TAKE(arena, symbol_count(stages, schedule->request.slice_count), bool);
    for (int i = 0; i < schedule->operation_count; i++) {
        int symbol = schedule->operations[i].symbol,
            kind = all ? symbol / stages : load_kind(symbol / stages);
        if (kind >= 0) used[symbol_index(stages, kind, symbol % stages)] = true;
    }
    return used;
}

int add_symbol_column(struct formulation *f, int symbol, int64_t least, int64_t greatest)
{
    if (greatest == 0) return -1;
    struct milp_column column = {
        .role = COLUMN_SYMBOL, .a = symbol, .lower = least, .upper = greatest, .time = true};
    return f->symbol_column[symbol] = milp_add_column(&f->milp, column);
}

// ---- columns

static struct stage_states states_of_stage(const struct stage_choices *stage, struct arena *arena)
{
    struct stage_states s = {TAKE(arena, stage->count, struct state), 0,
                             TAKE(arena, stage->count, int)};
    for (int i = 0; i < stage->count; i++) {
        const struct choice *x = &stage->items[i];
        int k = 0;
        while (k < s.count &&
               (s.items[k].group != x->group || s.items[k].boundary_option != x->boundary_option ||
                s.items[k].cut != x->cut))
            k++;
        if (k == s.count)
            s.items[s.count++] = (struct state){x->group, x->boundary_option, x->cut, -1};
        s.of_choice[i] = k;
    }
    return s;
}

static void add_choice_columns(struct builder *b, int stage)
{
    struct stage_states *states = &b->states[stage];
    struct milp *m = &b->f->milp;
    *states = states_of_stage(&b->c->stages[stage], b->arena);
    for (int k = 0; k < states->count && states->count > 1; k++)
        states->items[k].column = milp_add_column(
            m, (struct milp_column){.role = COLUMN_STATE, .a = stage, .b = k, .upper = 1});
    b->f->choice_column[stage] = TAKE(b->arena, b->c->stages[stage].count, int);
    for (int i = 0; i < b->c->stages[stage].count; i++)
        b->f->choice_column[stage][i] = milp_add_column(
            m, (struct milp_column){
                   .role = COLUMN_CHOICE, .a = stage, .b = i, .upper = 1, .integer = true});
}

// ---- rows of one stage

static void add_choose_one(struct builder *b, int stage)
{
    const struct stage_states *states = &b->states[stage];
    const int *column = b->f->choice_column[stage];
    int count = b->c->stages[stage].count;
    struct milp *m = &b->f->milp;
    if (states->count <= 1) {
        for (int i = 0; i < count; i++) milp_add_entry(m, column[i], 1);
        milp_add_row(m, ROW_CHOOSE_ONE, ROW_EQUAL, 1);
        return;
    }
    for (int k = 0; k < states->count; k++) milp_add_entry(m, states->items[k].column, 1);
    milp_add_row(m, ROW_CHOOSE_ONE, ROW_EQUAL, 1);
    for (int k = 0; k < states->count; k++) {
        for (int i = 0; i < count; i++)
            if (states->of_choice[i] == k) milp_add_entry(m, column[i], 1);
        milp_add_entry(m, states->items[k].column, -1);
        milp_add_row(m, ROW_LINK_STATE, ROW_EQUAL, 0);
    }
}

static int64_t stage_value(const struct choice *x, int kind)
{
    switch (symbol_base_kind(kind)) {
    case SYMBOL_FORWARD: return x->forward_ns[symbol_slice(kind)];
    case SYMBOL_BACKWARD: return x->backward_ns[symbol_slice(kind)];
    case SYMBOL_WEIGHT: return x->weight_ns;
    case SYMBOL_SYNC: return x->sync_ns;
    case SYMBOL_QUEUED_SYNC: return x->queued_sync_ns;
    case SYMBOL_AWAY: return x->away_ns;
    case SYMBOL_BACK: return x->back_ns;
    default: assert(kind == SYMBOL_OPTIMIZER); return x->optimizer_ns;
    }
}

static void add_stage_symbol(struct builder *b, int kind, int stage)
{
    const struct stage_choices *choices = &b->c->stages[stage];
    int symbol = symbol_index(b->p->stage_count, kind, stage);
    if (!b->used[symbol] || !choices->count) return;
    int64_t least = INT64_MAX, greatest = 0;
    for (int i = 0; i < choices->count; i++) {
        int64_t value = stage_value(&choices->items[i], kind);
        if (value < least) least = value;
        if (value > greatest) greatest = value;
    }
    int column = add_symbol_column(b->f, symbol, least, greatest);
    if (least == greatest) return;
    for (int i = 0; i < choices->count; i++)
        milp_add_entry(&b->f->milp, b->f->choice_column[stage][i],
                       -stage_value(&choices->items[i], kind));
    milp_add_entry(&b->f->milp, column, 1);
    milp_add_row(&b->f->milp, ROW_SYMBOL, ROW_EQUAL, 0);
}

static void add_stage_symbols(struct builder *b, int stage)
{
    for (int slice = 0; slice < b->p->slice_count; slice++)
        for (int kind = SYMBOL_FORWARD; kind <= SYMBOL_OPTIMIZER; kind++)
            add_stage_symbol(b, symbol_of_slice(slice, kind), stage);
    for (int kind = SYMBOL_QUEUED_SYNC; kind <= SYMBOL_BACK; kind++)
        add_stage_symbol(b, kind, stage);
}

struct loaded {
    int64_t load_ns;
    int index;
};

static int by_load(const void *a, const void *b)
{
    const struct loaded *x = a, *y = b;
    if (x->load_ns != y->load_ns) return x->load_ns < y->load_ns ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static void add_levels(struct builder *b, int stage)
{
    const struct stage_choices *choices = &b->c->stages[stage];
    struct loaded *order = TAKE(b->arena, choices->count, struct loaded);
    int64_t *loads = TAKE(b->arena, choices->count, int64_t);
    int count = 0;
    for (int i = 0; i < choices->count; i++)
        order[i] = (struct loaded){choices->items[i].load_ns, i};
    qsort(order, (size_t)choices->count, sizeof *order, by_load);
    for (int i = 0; i < choices->count; i++)
        if (!count || order[i].load_ns > loads[count - 1]) loads[count++] = order[i].load_ns;
    int *columns = TAKE(b->arena, count, int);
    for (int j = 0; j < count; j++)
        columns[j] = j ? milp_add_column(&b->f->milp, (struct milp_column){.role = COLUMN_LEVEL,
                                                                           .a = stage,
                                                                           .b = j,
                                                                           .upper = 1,
                                                                           .integer = true})
                       : -1;
    for (int j = count - 1, i = choices->count - 1; j >= 1; j--) {
        for (; order[i].load_ns == loads[j]; i--)
            milp_add_entry(&b->f->milp, b->f->choice_column[stage][order[i].index], -1);
        if (j + 1 < count) milp_add_entry(&b->f->milp, columns[j + 1], -1);
        milp_add_entry(&b->f->milp, columns[j], 1);
        milp_add_row(&b->f->milp, ROW_LEVEL, ROW_EQUAL, 0);
    }
    b->f->level_column[stage] = columns;
    b->f->level_load_ns[stage] = loads;
    b->f->level_count[stage] = count;
}

// ---- rows over all stages

static void add_cover(struct builder *b)
{
    for (int s = 0; s < b->p->stage_count; s++)
        for (int i = 0; i < b->c->stages[s].count; i++)
            milp_add_entry(&b->f->milp, b->f->choice_column[s][i],
                           b->c->stages[s].items[i].layer_count);
    milp_add_row(&b->f->milp, ROW_COVER, ROW_EQUAL, b->p->layer_count);
}

// A unit of flow through the layer boundaries, where choices state them: the stage that ends at a
// position hands over to the stage that starts there.
static void add_positions(struct builder *b, int boundary)
{
    const struct stage_choices *left = &b->c->stages[boundary], *right = left + 1;
    struct milp *m = &b->f->milp;
    for (int position = 1; position < smaller_int(b->p->layer_count, b->c->free_from); position++) {
        int before = m->entry_count;
        for (int i = 0; i < left->count; i++)
            if (left->items[i].first_layer >= 0 &&
                left->items[i].first_layer + left->items[i].layer_count == position)
                milp_add_entry(m, b->f->choice_column[boundary][i], 1);
        for (int i = 0; i < right->count; i++)
            if (right->items[i].first_layer == position)
                milp_add_entry(m, b->f->choice_column[boundary + 1][i], -1);
        if (m->entry_count > before) milp_add_row(m, ROW_POSITION, ROW_EQUAL, 0);
    }
}

// sum of entries <= limit, left out if it always holds. constant: the amount used by stages without
// a choice.
static void add_limit(struct builder *b, int resource, int entries_before, int64_t greatest,
                      int64_t constant, int64_t limit)
{
    struct milp *m = &b->f->milp;
    enum row_role role = resource < b->p->group_count ? ROW_SLOTS : ROW_BUDGET;
    if (greatest + constant > limit)
        b->f->resource_row[resource] = milp_add_row(m, role, ROW_AT_MOST, limit - constant);
    else m->entry_count = entries_before;
}

int64_t put_group(struct builder *b, int stage, int group, int64_t coefficient)
{
    int64_t constant = 0;
    for (int k = 0; k < b->states[stage].count; k++) {
        const struct state *state = &b->states[stage].items[k];
        if (state->group != group) continue;
        if (state->column < 0) constant += coefficient;
        else milp_add_entry(&b->f->milp, state->column, coefficient);
    }
    return constant;
}

// Of the groups that have this one's devices, the most slots that a stage may take; *constant: what
// stages without a choice take.
static int64_t put_pool(struct builder *b, int stage, int pool, int64_t *constant)
{
    int64_t most = 0;
    for (int g = 0; g < b->p->group_count; g++) {
        int earlier = b->f->milp.entry_count, slots = priced_slots_taken(b->p, pool, g);
        if (!slots) continue;
        *constant += put_group(b, stage, g, slots);
        if (b->f->milp.entry_count > earlier) most = larger(most, slots);
    }
    return most;
}

// A rank takes one seat: stages 0 .. rank_count - 1 are on one rank each.
static void add_slots(struct builder *b, int group)
{
    int before = b->f->milp.entry_count;
    int64_t constant = 0, most = 0;
    if (!b->p->groups[group].takes && priced_pool(b->p, group) != group) return;
    for (int s = 0; s < b->c->rank_count; s++) most += put_pool(b, s, group, &constant);
    add_limit(b, group, before, most, constant, b->p->groups[group].slots);
}

static void add_boundary_budget(struct builder *b)
{
    int before = b->f->milp.entry_count, constant = 0, stages = 0;
    for (int s = 1; s < b->p->stage_count; s++) {
        bool possible = false;
        for (int k = 0; k < b->states[s].count; k++) {
            const struct state *state = &b->states[s].items[k];
            if (b->p->boundary_options[state->boundary_option].form.amount == 0) continue;
            if (state->column < 0) constant++;
            else milp_add_entry(&b->f->milp, state->column, 1), possible = true;
        }
        stages += possible;
    }
    add_limit(b, b->p->group_count, before, stages, constant, b->p->budget.boundaries_max);
}

static int64_t gradient_use(const struct priced *p, const struct choice *x)
{
    return priced_compresses_sync(p, x->gradient_option);
}

static int64_t cost_use(const struct priced *p, const struct choice *x)
{
    return (void)p, x->quality_cost;
}

static int64_t energy_use(const struct priced *p, const struct choice *x)
{
    return (void)p, x->energy_uj;
}

static void add_choice_budget(struct builder *b, int resource,
                              int64_t (*use)(const struct priced *, const struct choice *),
                              int64_t limit)
{
    int before = b->f->milp.entry_count;
    int64_t sum = 0;
    for (int s = 0; s < b->p->stage_count; s++) {
        int64_t greatest = 0;
        for (int i = 0; i < b->c->stages[s].count; i++) {
            int64_t value = use(b->p, &b->c->stages[s].items[i]);
            milp_add_entry(&b->f->milp, b->f->choice_column[s][i], value);
            if (value > greatest) greatest = value;
        }
        sum += greatest;
    }
    add_limit(b, resource, before, sum, 0, limit);
}

static void add_budgets(struct builder *b)
{
    const struct quality_budget *budget = &b->p->budget;
    if (budget->boundaries_max >= 0) add_boundary_budget(b);
    if (budget->stages_max >= 0)
        add_choice_budget(b, b->p->group_count + 1, gradient_use, budget->stages_max);
    if (budget->cost_max >= 0)
        add_choice_budget(b, b->p->group_count + 2, cost_use, budget->cost_max);
    if (budget->energy_max_uj)
        add_choice_budget(b, b->p->group_count + 3, energy_use, budget->energy_max_uj);
}

// ---- the whole program

static void begin(struct formulation *f, const struct choices *c, int64_t time_upper_ns,
                  struct arena *arena)
{
    int stages = c->priced->stage_count;
    *f = (struct formulation){.choices = c};
    milp_begin(&f->milp, arena);
    milp_add_column(
        &f->milp, (struct milp_column){.role = COLUMN_TIME, .upper = time_upper_ns, .time = true});
    f->symbol_column = TAKE(arena, symbol_count(stages, c->priced->slice_count), int);
    for (int i = 0; i < symbol_count(stages, c->priced->slice_count); i++) f->symbol_column[i] = -1;
    f->choice_column = TAKE(arena, stages, int *);
    f->level_column = TAKE(arena, stages, int *);
    f->level_load_ns = TAKE(arena, stages, int64_t *);
    f->level_count = TAKE(arena, stages, int);
    f->working_bytes = TAKE(arena, c->rank_count, int64_t *);
    f->resource_row = TAKE(arena, c->priced->group_count + 4, int);
    for (int i = 0; i < c->priced->group_count + 4; i++) f->resource_row[i] = -1;
}

enum status formulate_choices(struct formulation *f, const struct choices *c, int64_t time_upper_ns,
                              struct arena *arena, struct error *err)
{
    const struct priced *p = c->priced;
    if (time_upper_ns < 0 || time_upper_ns > (int64_t)1 << 53)
        return refuse(err, "the iteration time has no bound below 2^53 ns");
    begin(f, c, time_upper_ns, arena);
    struct builder b = {
        f, c, p, arena, symbols_used(c, arena), TAKE(arena, p->stage_count, struct stage_states)};
    for (int s = 0; s < p->stage_count; s++) add_choice_columns(&b, s);
    for (int s = 0; s < p->stage_count; s++) {
        add_choose_one(&b, s);
        add_stage_symbols(&b, s);
        if (c->virtual_stages == 1) add_levels(&b, s);
    }
    if (c->free_from < p->layer_count) add_cover(&b);
    for (int s = 0; s + 1 < p->stage_count; s++) add_positions(&b, s);
    for (int g = 0; g < p->group_count; g++) add_slots(&b, g);
    add_budgets(&b);
    if (c->virtual_stages > 1) add_rank_rows(&b);
    add_joints(&b);
    return OK;
}

// Symbols that are always equal share a column; they belong to one boundary.
int formulate_add_path(struct formulation *f, const int *counts)
{
    int stages = f->choices->priced->stage_count,
        symbols = symbol_count(stages, f->choices->priced->slice_count);
    struct milp *m = &f->milp;
    milp_add_entry(m, 0, counts[symbols]);
    for (int symbol = 0; symbol < symbols; symbol++) {
        int column = f->symbol_column[symbol];
        if (column < 0 || m->columns[column].a != symbol) continue;
        int64_t count = 0;
        for (int other = symbol % stages; other < symbols; other += stages)
            if (f->symbol_column[other] == column) count += counts[other];
        milp_add_entry(m, column, -count);
    }
    f->path_row_count++;
    return milp_add_row(m, ROW_PATH, ROW_AT_LEAST, 0);
}
