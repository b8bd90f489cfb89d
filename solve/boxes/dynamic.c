// The tables of the dynamic programme: the states of each stage, and the cost of every choice and
// boundary for a box. A cost is the sum of coefficient x duration, rounded down to 2^-20 ns
// (coarser where sums would not be exact), so every bound computed from them is valid. The walk
// over the tables is in solve/boxes/dynamic_walk.c.
#include "solve/boxes/dynamic.h"

#include "solve/boxes/dynamic_table.h"

static void list_boundary_kinds(struct dynamic *d, struct arena *arena)
{
    int slices = d->c->priced->slice_count,
        *kinds = TAKE(arena, (2 * slices + 1) * PART_COUNT, int), count = 0;
    for (int part = 0; part < PART_COUNT; part++) kinds[count++] = SYMBOL_SEND_EPILOGUE + part;
    for (int slice = 0; slice < slices; slice++)
        for (int kind = SYMBOL_SEND_FORWARD; kind < SYMBOL_SEND_EPILOGUE; kind++)
            kinds[count++] = symbol_of_slice(slice, kind);
    assert(count == (2 * slices + 1) * PART_COUNT); // the allocated room
    d->boundary_kinds = kinds;
    d->boundary_kind_count = count;
}

// In the order of the kinds. false: not joined.
static bool price_boundary(const struct choices *c, int boundary, const struct choice *from,
                           const struct choice *to, int64_t *parts)
{
    bool joined = choices_send_backward(c, boundary, 0, from, to, true, parts);
    for (int slice = 0; slice < c->priced->slice_count && joined; slice++) {
        parts += PART_COUNT;
        joined = choices_send_forward(c, boundary, slice, from, to, parts);
        parts += PART_COUNT;
        joined = choices_send_backward(c, boundary, slice, from, to, false, parts) && joined;
    }
    return joined;
}

static void find_states(struct dynamic *d, int s, struct arena *arena)
{
    const struct stage_choices *stage = &d->c->stages[s];
    struct stage_table *t = &d->stages[s];
    t->states = TAKE(arena, stage->count, struct state);
    t->state_of = TAKE(arena, stage->count, int);
    t->same_before = TAKE(arena, stage->count, int);
    t->same_after = TAKE(arena, stage->count, int);
    t->cost = TAKE(arena, stage->count, double);
    t->active = TAKE(arena, stage->count, int);
    t->active_count = stage->count;
    t->value = TAKE(arena, stage->count, wide);
    t->resident = TAKE(arena, stage->count, int64_t);
    for (int i = 0; i < stage->count; i++) {
        const struct memory_parts *m = &stage->items[i].memory;
        t->active[i] = i;
        t->cost[i] = NOT_REACHED;
        t->resident[i] = memory_total(m) - m->activation_bytes - m->working_bytes;
    }
    for (int i = 0; i < stage->count; i++) {
        const struct choice *c = &stage->items[i];
        int q = 0;
        while (q < t->state_count &&
               (t->states[q].group != c->group || t->states[q].cut != c->cut ||
                t->states[q].option != c->boundary_option))
            q++;
        if (q == t->state_count)
            t->states[t->state_count++] = (struct state){c->group, c->cut, c->boundary_option, i};
        t->state_of[i] = q;
    }
}

static void find_boundary_parts(struct dynamic *d, int s, struct arena *arena)
{
    const struct stage_table *before = &d->stages[s - 1];
    struct stage_table *t = &d->stages[s];
    t->boundary = TAKE(arena, before->state_count * t->state_count, double);
    t->parts = TAKE(arena, before->state_count * t->state_count * d->boundary_kind_count, int64_t);
    for (int p = 0; p < before->state_count; p++)
        for (int q = 0; q < t->state_count; q++) {
            const struct choice *from = &d->c->stages[s - 1].items[before->states[p].choice];
            const struct choice *to = &d->c->stages[s].items[t->states[q].choice];
            int64_t *parts = t->parts + (p * t->state_count + q) * d->boundary_kind_count;
            if (!price_boundary(d->c, s - 1, from, to, parts)) parts[0] = PRICE_NONE;
        }
}

// Which indices of uses the choices of each state leave and reach.
static void find_passages(struct dynamic *d, int s, struct arena *arena)
{
    struct stage_table *t = &d->stages[s];
    bool *seen = TAKE(arena, t->state_count * t->class_count, bool);
    t->enters = TAKE(arena, t->state_count * d->use_count, bool);
    t->leaves = TAKE(arena, t->state_count * d->use_count, bool);
    for (int i = 0; i < d->c->stages[s].count; i++) {
        const struct use_class *k = &t->classes[t->class_of[i]];
        bool *known = &seen[t->state_of[i] * t->class_count + t->class_of[i]];
        for (int r = 0; r < k->row_count && !*known; r++) {
            t->enters[t->state_of[i] * d->use_count + k->rows[r]] = true;
            t->leaves[t->state_of[i] * d->use_count + k->rows[r] + k->shift] = true;
        }
        *known = true;
    }
}

static struct dynamic *open_tables(const struct choices *c, int64_t cells_max, bool by_ranks,
                                   struct arena *arena)
{
    struct dynamic *d = TAKE(arena, 1, struct dynamic);
    *d = (struct dynamic){.c = c,
                          .stage_count = c->priced->stage_count,
                          .layers = c->priced->layer_count,
                          .group_count = c->priced->group_count};
    assert(d->stage_count >= 1 && d->stage_count <= STAGES_MAX && d->layers >= d->stage_count);
    assert(d->group_count >= 1 && d->group_count <= SEATS_MAX);
    d->stages = TAKE(arena, d->stage_count, struct stage_table);
    d->row = d->layers + 1;
    list_boundary_kinds(d, arena);
    int64_t states = 0, states_most = 0;
    for (int s = 0; s < d->stage_count; s++) {
        find_states(d, s, arena);
        if (s > 0) find_boundary_parts(d, s, arena);
        states += d->stages[s].state_count;
        if (d->stages[s].state_count > states_most) states_most = d->stages[s].state_count;
    }
    if (by_ranks && dynamic_ranks_possible(d)) {
        dynamic_count_uses(d, 0, 1, arena);
        dynamic_ranks_open(d, arena);
        return d;
    }
    dynamic_count_uses(d, cells_max, 2 * states * d->row + 1, arena);
    int64_t cells = (int64_t)d->use_count * d->row;
    for (int s = 0; s < d->stage_count; s++) {
        d->stages[s].forward = TAKE(arena, d->stages[s].state_count * cells, double);
        d->stages[s].backward = TAKE(arena, d->stages[s].state_count * cells, double);
        if (d->use_count == 1) continue;
        find_passages(d, s, arena);
        // Rows that no choice leads to are never written.
        for (int64_t i = 0; i < d->stages[s].state_count * cells; i++)
            d->stages[s].forward[i] = NOT_REACHED;
    }
    d->entry = TAKE(arena, states_most * cells, double);
    d->merged = TAKE(arena, cells, double);
    d->blank = TAKE(arena, d->row, double);
    for (int n = 0; n < d->row; n++) d->blank[n] = NOT_REACHED;
    d->reached = TAKE(arena, d->use_count, struct reached);
    d->wanted = TAKE(arena, states_most * d->use_count, bool);
    return d;
}

struct dynamic *dynamic_open(const struct choices *c, int64_t cells_max, struct arena *arena)
{
    return open_tables(c, cells_max, c->virtual_stages > 1, arena);
}

struct dynamic *dynamic_open_by_stages(const struct choices *c, int64_t cells_max,
                                       struct arena *arena)
{
    return open_tables(c, cells_max, false, arena);
}

struct dynamic *dynamic_open_by_ranks(const struct choices *c, struct arena *arena)
{
    return open_tables(c, 1 << 22, true, arena);
}

// ---- costs of a box

static wide coefficient(const struct dynamic *d, const struct dynamic_box *box, int kind, int stage)
{
    return box->coefficients[symbol_index(d->stage_count, kind, stage)];
}

// In 2^-40 ns, without prices.
static wide choice_value(const struct dynamic *d, const struct dynamic_box *box, int s,
                         const struct choice *c)
{
    wide value = coefficient(d, box, SYMBOL_SYNC, s) * c->sync_ns +
                 coefficient(d, box, SYMBOL_QUEUED_SYNC, s) * c->queued_sync_ns +
                 coefficient(d, box, SYMBOL_OPTIMIZER, s) * c->optimizer_ns +
                 coefficient(d, box, SYMBOL_AWAY, s) * c->away_ns +
                 coefficient(d, box, SYMBOL_BACK, s) * c->back_ns;
    if (c->weight_ns) value += coefficient(d, box, SYMBOL_WEIGHT, s) * c->weight_ns;
    for (int i = 0; i < d->c->priced->slice_count; i++)
        value += coefficient(d, box, symbol_of_slice(i, SYMBOL_FORWARD), s) * c->forward_ns[i] +
                 coefficient(d, box, symbol_of_slice(i, SYMBOL_BACKWARD), s) * c->backward_ns[i];
    return value;
}

// What memory prices add for a choice, in 2^-40 ns.
static wide memory_value(const struct dynamic *d, const struct dynamic_box *box, int s, int i)
{
    const struct choices *c = d->c;
    const struct choice *x = &c->stages[s].items[i];
    int rank = choices_rank_of(c, s);
    wide value = 0;
    for (int k = 0; k < box->memory_count; k++) {
        const struct memory_price *m = &box->memory[k];
        if (m->rank != rank || !m->price) continue;
        int turn = 0;
        while (choices_stage_of(c, rank, turn) != s) turn++;
        int64_t bytes = d->stages[s].resident[i] - x->memory.constant_bytes +
                        c->peaks[rank].in_flight[m->moment][turn] * x->stash_bytes +
                        (turn == m->turn ? x->memory.working_bytes : 0);
        value += (wide)m->price * bytes;
    }
    return value;
}

// The priced limits, with the greatest limit that a rank may have, and what is granted, rounded up
// to the costs' unit.
static wide memory_limits(const struct dynamic *d, const struct dynamic_box *box)
{
    int shift = WEIGHT_BITS - d->fraction_bits;
    wide limit = 0, sum = 0;
    for (int g = 0; g < d->group_count; g++) {
        const struct priced_group *group = &d->c->priced->groups[g];
        int64_t room = group->memory_limit_bytes - group->constant_bytes;
        if (priced_seats(d->c->priced, g) > 0 && room > limit) limit = room;
    }
    for (int k = 0; k < box->memory_count; k++) sum += box->memory[k].price * limit;
    if (box->added) sum += box->granted;
    return (sum + (((wide)1 << shift) - 1)) >> shift;
}

// Of the boundary before stage s. -1: not joined.
static wide boundary_value(const struct dynamic *d, const struct dynamic_box *box, int s, int pair)
{
    const int64_t *parts = d->stages[s].parts + pair * d->boundary_kind_count;
    wide value = 0;
    for (int k = 0; k < d->boundary_kind_count && parts[0] != PRICE_NONE; k++)
        if (parts[k]) value += coefficient(d, box, d->boundary_kinds[k], s - 1) * parts[k];
    return parts[0] == PRICE_NONE ? -1 : value;
}

static int pair_count(const struct dynamic *d, int s)
{
    return s ? d->stages[s - 1].state_count * d->stages[s].state_count : 0;
}

static bool is_allowed(const struct dynamic_box *box, int s, int i)
{
    return !box->allowed || box->allowed[s][i];
}

// The least embedding sync that the last stage can have on this group, over the groups that the
// first stage may be on. -1: none is joined.
static int64_t least_embedding_sync(const struct dynamic *d, const struct dynamic_box *box,
                                    int last_group)
{
    const struct priced *p = d->c->priced;
    int64_t least = -1;
    for (int i = 0; i < d->c->stages[0].count; i++) {
        int64_t t =
            p->embedding_sync_ns[d->c->stages[0].items[i].group * p->group_count + last_group];
        if (is_allowed(box, 0, i) && t != PRICE_NONE && (least < 0 || t < least)) least = t;
    }
    return least;
}

// Fraction bits of the costs below the nanosecond, such that sums stay exact.
static int choose_fraction(const struct dynamic *d, const struct dynamic_box *box)
{
    wide most = 0;
    for (int s = 0; s < d->stage_count; s++) {
        const struct stage_table *t = &d->stages[s];
        wide stage_most = 0, boundary_most = 0;
        for (int k = 0; k < t->active_count; k++) {
            int i = t->active[k];
            if (!is_allowed(box, s, i)) continue;
            t->value[i] = choice_value(d, box, s, &d->c->stages[s].items[i]);
            if (box->memory_count) t->value[i] += memory_value(d, box, s, i);
            if (box->added) t->value[i] += box->added[s][i];
            stage_most = t->value[i] > stage_most ? t->value[i] : stage_most;
        }
        for (int i = 0; i < pair_count(d, s); i++) {
            wide value = boundary_value(d, box, s, i);
            boundary_most = value > boundary_most ? value : boundary_most;
        }
        most += stage_most + boundary_most;
    }
    for (int i = 0; d->c->priced->has_embedding_sync && i < d->group_count * d->group_count; i++)
        if (d->c->priced->embedding_sync_ns[i] > 0)
            most += coefficient(d, box, SYMBOL_EMBEDDING_SYNC, 0) *
                    d->c->priced->embedding_sync_ns[i];
    int bits = PRICE_BITS;
    while (bits > 0 && most >> (WEIGHT_BITS - bits) >= (wide)1 << COST_BITS) bits--;
    // Without spare bits an iteration has at most 2^52 ns (priced_check); prices add less than
    // 2^51: sums stay exact.
    assert(most >= 0 && most >> (WEIGHT_BITS - bits) < (wide)3 << (COST_BITS + 1));
    return bits;
}

static int64_t price_in(const struct dynamic *d, const int64_t *prices, int resource)
{
    if (!prices || prices[resource] < 0 || dynamic_resource_limit(d, resource) == INT64_MAX)
        return 0;
    return prices[resource] >> (PRICE_BITS - d->fraction_bits);
}

static int64_t price_of(const struct dynamic *d, const struct dynamic_box *box, int resource)
{
    return price_in(d, box->prices, resource);
}

int64_t dynamic_used_price(const struct dynamic *d, int resource, const int64_t *prices)
{
    return price_in(d, prices, resource) * ((int64_t)1 << (PRICE_BITS - d->fraction_bits));
}

static void cost_choices(struct dynamic *d, const struct dynamic_box *box, int s)
{
    const struct stage_choices *stage = &d->c->stages[s];
    bool embedding = s == d->stage_count - 1 && d->c->priced->has_embedding_sync;
    wide ceiling = ((wide)1 << (COST_BITS + 1)) / d->stage_count;
    int64_t prices[RESOURCES_MAX];
    for (int r = 0; r < dynamic_resource_count(d); r++) prices[r] = price_of(d, box, r);
    for (int k = 0; k < d->stages[s].active_count; k++) {
        int i = d->stages[s].active[k];
        const struct choice *c = &stage->items[i];
        d->stages[s].cost[i] = NOT_REACHED;
        if (!is_allowed(box, s, i)) continue;
        int64_t sync = embedding ? least_embedding_sync(d, box, c->group) : 0;
        if (sync < 0) continue;
        wide value = d->stages[s].value[i] +
                     (embedding ? coefficient(d, box, SYMBOL_EMBEDDING_SYNC, 0) * sync : 0);
        wide priced = 0;
        for (int r = 0; r < dynamic_resource_count(d); r++)
            if (prices[r]) priced += (wide)prices[r] * dynamic_choice_use(d, s, r, c);
        priced = priced < ceiling ? priced : ceiling; // lowering a cost keeps a bound valid
        d->stages[s].cost[i] = (double)((value >> (WEIGHT_BITS - d->fraction_bits)) + priced);
    }
}

static void cost_boundary(struct dynamic *d, const struct dynamic_box *box, int s)
{
    for (int i = 0; i < pair_count(d, s); i++) {
        wide value = boundary_value(d, box, s, i);
        d->stages[s].boundary[i] = value < 0 ? NOT_REACHED
                                             : (double)(value >> (WEIGHT_BITS - d->fraction_bits));
    }
}

static bool same_column(const struct dynamic *d, int s, int a, int b)
{
    const struct stage_table *t = &d->stages[s];
    for (int p = 0; p < d->stages[s - 1].state_count; p++)
        if (t->boundary[p * t->state_count + a] != t->boundary[p * t->state_count + b])
            return false;
    return true;
}

static bool same_row(const struct dynamic *d, int s, int a, int b)
{
    const struct stage_table *t = &d->stages[s];
    const double *row = t->boundary + a * t->state_count, *other = t->boundary + b * t->state_count;
    for (int q = 0; q < t->state_count; q++)
        if (row[q] != other[q]) return false;
    return true;
}

static void find_same_states(struct dynamic *d, int s)
{
    struct stage_table *t = &d->stages[s], *before = &d->stages[s - 1];
    for (int q = 0; q < t->state_count; q++) {
        t->same_before[q] = 0;
        while (!same_column(d, s, t->same_before[q], q)) t->same_before[q]++;
    }
    for (int p = 0; p < before->state_count; p++) {
        before->same_after[p] = 0;
        while (!same_row(d, s, before->same_after[p], p)) before->same_after[p]++;
    }
}

// With several stages per rank a stage has thousands of choices, of which a box allows few.
static void list_active(struct dynamic *d, const struct dynamic_box *box)
{
    for (int s = 0; s < d->stage_count; s++) {
        struct stage_table *t = &d->stages[s];
        for (int k = 0; k < t->active_count; k++) t->cost[t->active[k]] = NOT_REACHED;
        t->active_count = 0;
        for (int i = 0; i < d->c->stages[s].count; i++)
            if (is_allowed(box, s, i)) t->active[t->active_count++] = i;
    }
}

void dynamic_price_box(struct dynamic *d, const struct dynamic_box *box, wide *priced_limits)
{
    if (d->ranks) list_active(d, box);
    *priced_limits = 0;
    d->fraction_bits = choose_fraction(d, box);
    for (int r = 0; r < dynamic_resource_count(d); r++)
        if (price_of(d, box, r))
            *priced_limits += (wide)price_of(d, box, r) * dynamic_resource_limit(d, r);
    if (box->memory_count || box->added) *priced_limits += memory_limits(d, box);
    if (d->c->joint)
        *priced_limits -= d->c->joint->excess(d->c->joint->of, box->coefficients, d->fraction_bits);
    for (int s = 0; s < d->stage_count; s++) {
        cost_choices(d, box, s);
        cost_boundary(d, box, s);
        if (s > 0) find_same_states(d, s);
    }
}
