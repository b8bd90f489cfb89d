// The tables of the dynamic programme: the states of each stage, which slots are counted exactly and which are priced, and
// the cost of every choice and boundary for a box: sum of coefficient x duration, rounded down to 2^-20 ns (coarser where
// sums would overflow), so that every bound made of them is one. The walk over the tables is in solve/dynamic_walk.c.
#include "solve/dynamic_table.h"

#include <string.h>

static int64_t slots_of(const struct dynamic *d, int group) { return d->c->priced->groups[group].slots; }

static void find_states(struct dynamic *d, int s, struct arena *arena)
{
    const struct stage_choices *stage = &d->c->stages[s];
    struct stage_table *t = &d->stages[s];
    t->states = TAKE(arena, stage->count, struct state);
    t->state_of = TAKE(arena, stage->count, int);
    t->cost = TAKE(arena, stage->count, int64_t);
    for (int i = 0; i < stage->count; i++) {
        const struct choice *c = &stage->items[i];
        int q = 0;
        while (q < t->state_count && (t->states[q].group != c->group || t->states[q].cut != c->cut || t->states[q].option != c->boundary_option))
            q++;
        if (q == t->state_count)
            t->states[t->state_count++] = (struct state){c->group, c->cut, c->boundary_option, i};
        t->state_of[i] = q;
    }
}

// Groups whose slots can run out are counted exactly as far as the table allows, the scarcest first. Where every used group
// is one of them, the count of one follows from the number of stages.
static void count_slots(struct dynamic *d, int64_t cells_max, int64_t cells_per_slot_state)
{
    bool used[GROUPS_MAX] = {false}, binding[GROUPS_MAX];
    int used_count = 0, binding_count = 0;
    for (int s = 0; s < d->stage_count; s++)
        for (int q = 0; q < d->stages[s].state_count; q++)
            used[d->stages[s].states[q].group] = true;
    for (int g = 0; g < d->group_count; g++) {
        used_count += used[g];
        binding[g] = used[g] && slots_of(d, g) < d->stage_count;
        binding_count += binding[g];
    }
    d->implied = -1;
    d->slot_states = 1;
    int counted = 0;
    while (counted < binding_count) {
        int next = -1;
        for (int g = 0; g < d->group_count; g++)
            if (binding[g] && (next < 0 || slots_of(d, g) < slots_of(d, next)))
                next = g;
        if (counted == used_count - 1) {
            d->implied = next;
            break;
        }
        if (d->slot_states * (slots_of(d, next) + 1) * cells_per_slot_state > cells_max)
            break;
        d->stride[next] = d->slot_states;
        d->slot_states *= (int)slots_of(d, next) + 1;
        binding[next] = false;
        counted++;
    }
}

static void index_slots(struct dynamic *d, struct arena *arena)
{
    d->slots_used = TAKE(arena, d->slot_states, int);
    for (int g = 0; g < d->group_count; g++) {
        d->can_take[g] = TAKE(arena, d->slot_states, bool);
        for (int v = 0; v < d->slot_states; v++) {
            int64_t held = d->stride[g] ? v / d->stride[g] % (slots_of(d, g) + 1) : 0;
            d->can_take[g][v] = !d->stride[g] || held < slots_of(d, g);
            d->slots_used[v] += (int)held;
        }
    }
}

struct dynamic *dynamic_open(const struct choices *c, int64_t cells_max, struct arena *arena)
{
    struct dynamic *d = TAKE(arena, 1, struct dynamic);
    *d = (struct dynamic){.c = c, .stage_count = c->priced->stage_count, .layers = c->priced->layer_count,
                          .group_count = c->priced->group_count};
    d->stages = TAKE(arena, d->stage_count, struct stage_table);
    d->row = d->layers + 1;
    int64_t states = 0, states_most = 0;
    for (int s = 0; s < d->stage_count; s++) {
        find_states(d, s, arena);
        states += d->stages[s].state_count;
        if (d->stages[s].state_count > states_most)
            states_most = d->stages[s].state_count;
    }
    count_slots(d, cells_max, 2 * states * d->row);
    index_slots(d, arena);
    int64_t cells = (int64_t)d->slot_states * d->row;
    for (int s = 0; s < d->stage_count; s++) {
        struct stage_table *t = &d->stages[s];
        t->boundary = TAKE(arena, s ? d->stages[s - 1].state_count * t->state_count : 0, int64_t);
        t->forward = TAKE(arena, t->state_count * cells, int64_t);
        t->backward = TAKE(arena, t->state_count * cells, int64_t);
    }
    d->entry = TAKE(arena, states_most * cells, int64_t);
    return d;
}

// ---- resources: slots that are not counted, and the quality budget

int dynamic_resource_count(const struct dynamic *d) { return d->group_count + BUDGET_COUNT; }

int64_t dynamic_resource_limit(const struct dynamic *d, int resource)
{
    if (resource < d->group_count)
        return d->stride[resource] || d->implied == resource || slots_of(d, resource) >= d->stage_count ? INT64_MAX : slots_of(d, resource);
    const struct quality_budget *b = &d->c->priced->budget;
    int64_t limits[BUDGET_COUNT] = {b->boundaries_max, b->stages_max, b->cost_max};
    int64_t limit = limits[resource - d->group_count];
    return limit < 0 ? INT64_MAX : limit;
}

static int64_t choice_use(const struct dynamic *d, int resource, const struct choice *c)
{
    if (resource < d->group_count)
        return c->group == resource;
    int64_t uses[BUDGET_COUNT] = {c->boundary_option != 0, c->gradient_option != 0, c->quality_cost};
    return uses[resource - d->group_count];
}

int64_t dynamic_resource_use(const struct dynamic *d, int resource, const int *chosen)
{
    int64_t use = 0;
    for (int s = 0; s < d->stage_count; s++)
        use += choice_use(d, resource, &d->c->stages[s].items[chosen[s]]);
    return use;
}

// ---- costs of a box

static wide coefficient(const struct dynamic *d, const struct dynamic_box *box, int kind, int stage)
{
    return box->coefficients[symbol_index(d->stage_count, kind, stage)];
}

// In 2^-40 ns, without prices.
static wide choice_value(const struct dynamic *d, const struct dynamic_box *box, int s, const struct choice *c)
{
    return coefficient(d, box, SYMBOL_FORWARD, s) * c->forward_ns + coefficient(d, box, SYMBOL_BACKWARD, s) * c->backward_ns +
           coefficient(d, box, SYMBOL_SYNC, s) * c->sync_ns + coefficient(d, box, SYMBOL_OPTIMIZER, s) * c->optimizer_ns;
}

// The least embedding sync that the last stage can have on this group: over the first stage's groups. -1: none is joined.
static int64_t least_embedding_sync(const struct dynamic *d, int last_group)
{
    const struct priced *p = d->c->priced;
    int64_t least = -1;
    for (int q = 0; q < d->stages[0].state_count; q++) {
        int64_t t = p->embedding_sync_ns[d->stages[0].states[q].group * p->group_count + last_group];
        if (t != PRICE_NONE && (least < 0 || t < least))
            least = t;
    }
    return least;
}

// Bits that the costs keep below the nanosecond, such that no sum overflows.
static int choose_fraction(const struct dynamic *d, const struct dynamic_box *box)
{
    wide most = 0;
    for (int s = 0; s < d->stage_count; s++) {
        wide stage_most = 0;
        for (int i = 0; i < d->c->stages[s].count; i++) {
            wide value = choice_value(d, box, s, &d->c->stages[s].items[i]);
            if (value > stage_most)
                stage_most = value;
        }
        most += stage_most;
    }
    int bits = PRICE_BITS;
    while (bits > 0 && most >> (WEIGHT_BITS - bits) >= (wide)1 << 57)
        bits--;
    return bits;
}

static int64_t price_of(const struct dynamic *d, const struct dynamic_box *box, int resource)
{
    if (!box->prices || dynamic_resource_limit(d, resource) == INT64_MAX)
        return 0;
    return box->prices[resource] >> (PRICE_BITS - d->fraction_bits);
}

static void cost_choices(struct dynamic *d, const struct dynamic_box *box, int s)
{
    const struct stage_choices *stage = &d->c->stages[s];
    bool embedding = s == d->stage_count - 1 && d->c->priced->has_embedding_sync;
    wide ceiling = ((wide)1 << 60) / d->stage_count;
    int64_t prices[GROUPS_MAX + BUDGET_COUNT];
    for (int r = 0; r < dynamic_resource_count(d); r++)
        prices[r] = price_of(d, box, r);
    for (int i = 0; i < stage->count; i++) {
        const struct choice *c = &stage->items[i];
        int64_t sync = embedding ? least_embedding_sync(d, c->group) : 0;
        d->stages[s].cost[i] = NOT_REACHED;
        if (sync < 0 || (box->allowed && !box->allowed[s][i]))
            continue;
        wide value = choice_value(d, box, s, c) + (embedding ? coefficient(d, box, SYMBOL_EMBEDDING_SYNC, 0) * sync : 0);
        wide cost = (value >> (WEIGHT_BITS - d->fraction_bits)) + prices[c->group];
        for (int r = 0; r < BUDGET_COUNT; r++)
            if (prices[d->group_count + r])
                cost += (wide)prices[d->group_count + r] * choice_use(d, d->group_count + r, c);
        d->stages[s].cost[i] = (int64_t)(cost < ceiling ? cost : ceiling);
    }
}

static void cost_boundary(struct dynamic *d, const struct dynamic_box *box, int s)
{
    const struct stage_table *before = &d->stages[s - 1];
    struct stage_table *t = &d->stages[s];
    for (int p = 0; p < before->state_count; p++)
        for (int q = 0; q < t->state_count; q++) {
            const struct choice *from = &d->c->stages[s - 1].items[before->states[p].choice];
            const struct choice *to = &d->c->stages[s].items[t->states[q].choice];
            int64_t there[PART_COUNT], back[PART_COUNT], drain[PART_COUNT];
            int64_t *cost = &t->boundary[p * t->state_count + q];
            *cost = NOT_REACHED;
            if (!choices_send_forward(d->c, from, to, there) || !choices_send_backward(d->c, from, to, false, back) ||
                !choices_send_backward(d->c, from, to, true, drain))
                continue;
            wide value = 0;
            for (int part = 0; part < PART_COUNT; part++)
                value += coefficient(d, box, SYMBOL_SEND_FORWARD + part, s - 1) * there[part] +
                         coefficient(d, box, SYMBOL_SEND_BACKWARD + part, s - 1) * back[part] +
                         coefficient(d, box, SYMBOL_SEND_EPILOGUE + part, s - 1) * drain[part];
            *cost = (int64_t)(value >> (WEIGHT_BITS - d->fraction_bits));
        }
}

void dynamic_price_box(struct dynamic *d, const struct dynamic_box *box, wide *priced_limits)
{
    *priced_limits = 0;
    d->fraction_bits = choose_fraction(d, box);
    for (int r = 0; r < dynamic_resource_count(d); r++)
        if (price_of(d, box, r))
            *priced_limits += (wide)price_of(d, box, r) * dynamic_resource_limit(d, r);
    for (int s = 0; s < d->stage_count; s++) {
        cost_choices(d, box, s);
        if (s > 0)
            cost_boundary(d, box, s);
    }
}

void dynamic_coefficients(int64_t *coefficients, const int *paths, const int64_t *weights, int path_count, int symbols)
{
    memset(coefficients, 0, (size_t)symbols * sizeof *coefficients);
    for (int i = 0; i < path_count; i++)
        for (int k = 0; k < symbols; k++)
            coefficients[k] += weights[i] * paths[i * symbols + k];
}
