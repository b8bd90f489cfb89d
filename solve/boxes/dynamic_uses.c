// What couples the stages of the dynamic programme besides the layers: slots of groups and the
// quality budget. As many of them as the table has room for are counted exactly, in an index of
// uses with one digit each; the others are priced.
#include <string.h>

#include "solve/boxes/dynamic_table.h"

int dynamic_resource_count(const struct dynamic *d) { return d->group_count + BUDGET_COUNT; }

int64_t dynamic_resource_limit(const struct dynamic *d, int resource)
{
    assert(resource >= 0 && resource < dynamic_resource_count(d));
    return d->stride[resource] || d->implied == resource ? INT64_MAX : d->limit[resource];
}

bool dynamic_counts(const struct dynamic *d, int resource)
{
    return d->stride[resource] || d->implied == resource;
}

int64_t dynamic_choice_use(const struct dynamic *d, int stage, int resource, const struct choice *c)
{
    if (resource < d->group_count)
        return stage < d->c->rank_count ? priced_slots_taken(d->c->priced, resource, c->group) : 0;
    switch (resource - d->group_count) {
    case RESOURCE_BOUNDARIES: return c->boundary_option != 0;
    case RESOURCE_STAGES: return priced_compresses_sync(d->c->priced, c->gradient_option);
    case RESOURCE_COST: return c->quality_cost;
    default: return c->energy_uj;
    }
}

int64_t dynamic_resource_use(const struct dynamic *d, int resource, const int *chosen)
{
    int64_t use = 0;
    for (int s = 0; s < d->stage_count; s++)
        use += dynamic_choice_use(d, s, resource, &d->c->stages[s].items[chosen[s]]);
    return use;
}

// Keeps the limits that can bind; the stages' greatest uses together stay within the others.
static void find_limits(struct dynamic *d, int *used_groups)
{
    const struct quality_budget *b = &d->c->priced->budget;
    int64_t budget[BUDGET_COUNT] = {b->boundaries_max, b->stages_max, b->cost_max,
                                    b->energy_max_uj ? b->energy_max_uj : -1};
    *used_groups = 0;
    for (int r = 0; r < dynamic_resource_count(d); r++) {
        int64_t most = 0, limit = r < d->group_count ? d->c->priced->groups[r].slots
                                                     : budget[r - d->group_count];
        for (int s = 0; s < d->stage_count; s++) {
            int64_t stage_most = 0;
            for (int i = 0; i < d->c->stages[s].count; i++) {
                int64_t use = dynamic_choice_use(d, s, r, &d->c->stages[s].items[i]);
                stage_most = use > stage_most ? use : stage_most;
            }
            most += stage_most;
        }
        *used_groups += r < d->group_count && most > 0;
        d->limit[r] = limit < 0 || most <= limit ? INT64_MAX : limit;
    }
}

static bool is_group(const struct dynamic *d, int resource) { return resource < d->group_count; }

// The scarcest first. If all used groups but one are counted, that one's count follows from the
// number of stages, unless these have widths of their own.
static void choose_counted(struct dynamic *d, int64_t cells_max, int64_t cells_per_use,
                           int used_groups)
{
    int counted_groups = 0;
    d->implied = -1;
    d->use_count = 1;
    for (;;) {
        int next = -1;
        for (int r = 0; r < dynamic_resource_count(d); r++)
            if (!d->stride[r] && r != d->implied && d->limit[r] < INT64_MAX &&
                (next < 0 || d->limit[r] < d->limit[next]))
                next = r;
        if (next < 0) return;
        if (is_group(d, next) && counted_groups == used_groups - 1 &&
            !priced_has_widths(d->c->priced) && !d->c->priced->groups[next].takes) {
            d->implied = next;
            continue;
        }
        if (d->limit[next] >= cells_max ||
            d->use_count * (d->limit[next] + 1) > cells_max / cells_per_use)
            return;
        d->stride[next] = d->use_count;
        d->use_count *= (int)d->limit[next] + 1;
        assert(d->use_count <= cells_max / cells_per_use);
        counted_groups += is_group(d, next);
    }
}

static int64_t held(const struct dynamic *d, int resource, int uses)
{
    return d->stride[resource] ? uses / d->stride[resource] % (d->limit[resource] + 1) : 0;
}

// The index after stage s when a choice of this class is taken, or -1.
static int take(const struct dynamic *d, int s, const struct use_class *k, int uses)
{
    int64_t seated = 0; // ranks
    for (int r = 0; r < dynamic_resource_count(d); r++) {
        if (d->stride[r] && held(d, r, uses) + k->uses[r] > d->limit[r]) return -1;
        if (d->stride[r] && is_group(d, r))
            seated += (held(d, r, uses) + k->uses[r]) / priced_seat_slots(d->c->priced, r);
    }
    int ranks = s < d->c->rank_count ? s + 1 : d->c->rank_count;
    if (d->implied < 0) return uses + k->shift;
    int64_t rest = (ranks - seated) * priced_seat_slots(d->c->priced, d->implied);
    return rest > d->limit[d->implied] ? -1 : uses + k->shift;
}

static void find_classes(struct dynamic *d, int s, struct arena *arena)
{
    const struct stage_choices *stage = &d->c->stages[s];
    struct stage_table *t = &d->stages[s];
    t->class_of = TAKE(arena, stage->count, int);
    t->classes = TAKE(arena, stage->count, struct use_class);
    for (int i = 0; i < stage->count; i++) {
        struct use_class k = {.shift = 0};
        for (int r = 0; r < dynamic_resource_count(d); r++)
            if (d->stride[r]) {
                k.uses[r] = dynamic_choice_use(d, s, r, &stage->items[i]);
                k.shift += (int)(d->stride[r] * (k.uses[r] <= d->limit[r] ? k.uses[r] : 0));
            }
        int at = 0;
        while (at < t->class_count && memcmp(t->classes[at].uses, k.uses, sizeof k.uses)) at++;
        if (at == t->class_count) t->classes[t->class_count++] = k;
        t->class_of[i] = at;
    }
}

static int *list_rows(const bool *alive, int use_count, int *count, struct arena *arena)
{
    int *rows = TAKE(arena, use_count, int);
    *count = 0;
    for (int v = 0; v < use_count; v++)
        if (alive[v]) rows[(*count)++] = v;
    return rows;
}

// alive[s]: indices before stage s that can be reached from no uses, and completed.
static void find_rows(struct dynamic *d, struct arena *arena)
{
    bool **alive = TAKE(arena, d->stage_count + 1, bool *);
    for (int s = 0; s <= d->stage_count; s++) alive[s] = TAKE(arena, d->use_count, bool);
    alive[0][0] = true;
    for (int s = 0; s < d->stage_count; s++)
        for (int v = 0; v < d->use_count; v++)
            for (int k = 0; alive[s][v] && k < d->stages[s].class_count; k++) {
                int to = take(d, s, &d->stages[s].classes[k], v);
                assert(to < d->use_count);
                if (to >= 0) alive[s + 1][to] = true;
            }
    d->last_rows = list_rows(alive[d->stage_count], d->use_count, &d->last_row_count, arena);
    for (int s = d->stage_count - 1; s >= 0; s--) {
        struct stage_table *t = &d->stages[s];
        for (int v = 0; v < d->use_count; v++) {
            bool leads = false;
            for (int k = 0; alive[s][v] && k < t->class_count; k++) {
                int to = take(d, s, &t->classes[k], v);
                leads = leads || (to >= 0 && alive[s + 1][to]);
            }
            alive[s][v] = leads;
        }
        t->rows = list_rows(alive[s], d->use_count, &t->row_count, arena);
        for (int k = 0; k < t->class_count; k++) {
            struct use_class *class = &t->classes[k];
            class->rows = TAKE(arena, t->row_count, int);
            for (int i = 0; i < t->row_count; i++) {
                int to = take(d, s, class, t->rows[i]);
                if (to >= 0 && alive[s + 1][to]) class->rows[class->row_count++] = t->rows[i];
            }
        }
    }
    assert(d->stages[0].row_count <= 1); // nothing is used before the first stage
}

void dynamic_count_uses(struct dynamic *d, int64_t cells_max, int64_t cells_per_use,
                        struct arena *arena)
{
    int used_groups;
    find_limits(d, &used_groups);
    choose_counted(d, cells_max, cells_per_use, used_groups);
    for (int s = 0; s < d->stage_count; s++) find_classes(d, s, arena);
    find_rows(d, arena);
}
