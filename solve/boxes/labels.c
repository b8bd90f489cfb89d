// The dynamic programme with the slots of one or two node groups counted exactly, where stages have
// widths of their own and the table would be too large: labels in place of cells. A label is a
// beginning of a plan: its state, layers, slots in use and cost. One that costs no less and uses no
// fewer slots than another with the same state and layers is left out, and so is one from which the
// priced table, whose costs behind each stage are known, shows that no plan is below the target; or
// one from which a coarse table shows it, which counts slots in whole units and knows no states.

#include "data/base/grow.h"
#include "data/base/least.h"
#include "solve/boxes/dynamic_table.h"

enum { POOLS_MOST = 2, LIMIT_MOST = 1 << 13, LABELS_MOST = 1 << 18 };
enum { WORK_OF_A_CELL = 16 }; // choices tried at one, if all cells are used

// Choices of a stage alike in what the coarse table knows of them.
struct room_choice {
    int use[POOLS_MOST], layers, first, last; // from first to last layers before the stage
    double cost;                              // the least, with the least crossing, without prices
};

// rest[stage][(a * rooms[1] + b) * row + layers]: the least cost of the stages after this one with
// at most a and b units of slots.
struct label_rooms {
    int unit[POOLS_MOST], rooms[POOLS_MOST];
    double **rest;
    int64_t bound_ns; // DYNAMIC_NOTHING: the box has no plan
};

struct label {
    double cost; // without prices
    int use[POOLS_MOST], before, choice, next;
};

struct labels {
    struct dynamic *d;
    const struct dynamic_box *box;
    int pools[POOLS_MOST], pool_count, limit[POOLS_MOST];
    double price[POOLS_MOST], keep; // most of a plan's cost with prices
    double plain;                   // and without them
    const struct label_rooms *rooms;
    struct label *items;
    int count, capacity;
    int *heads;    // [state * row + layers]: labels before the current stage
    int **choices; // of the current stage, by state
    int *choice_count;
    int *order, order_count, order_capacity, *stair; // least use of the second by use of the first
    struct arena *arena;
};

bool dynamic_has_labels(const struct dynamic *d)
{
    int pools = 0;
    bool fit = !d->ranks && d->use_count == 1 && priced_has_widths(d->c->priced);
    for (int r = 0; r < d->group_count && fit; r++) {
        if (dynamic_resource_limit(d, r) == INT64_MAX) continue;
        pools++;
        fit = dynamic_resource_limit(d, r) <= LIMIT_MOST;
    }
    return fit && pools >= 1 && pools <= POOLS_MOST;
}

static double with_prices(const struct labels *l, const struct label *x)
{
    double cost = x->cost;
    for (int k = 0; k < l->pool_count; k++) cost += l->price[k] * x->use[k];
    return cost;
}

static size_t cell_of(const struct labels *l, int state, int layers)
{
    return (size_t)state * (size_t)l->d->row + (size_t)layers;
}

// ---- one list: those of a state and number of layers, by cost, none worse than another

static int compare(const struct label *a, const struct label *b)
{
    if (a->cost != b->cost) return a->cost < b->cost ? -1 : 1;
    if (a->use[0] != b->use[0]) return a->use[0] < b->use[0] ? -1 : 1;
    return a->use[1] != b->use[1] ? (a->use[1] < b->use[1] ? -1 : 1) : 0;
}

// A heap sort: its work does not depend on the order, and it needs no state beside the labels.
static void sift(const struct labels *l, int at, int count)
{
    for (;;) {
        int child = 2 * at + 1;
        if (child >= count) return;
        if (child + 1 < count &&
            compare(&l->items[l->order[child]], &l->items[l->order[child + 1]]) < 0)
            child++;
        if (compare(&l->items[l->order[at]], &l->items[l->order[child]]) >= 0) return;
        int kept = l->order[at];
        l->order[at] = l->order[child], l->order[child] = kept;
        at = child;
    }
}

static void sort_order(const struct labels *l)
{
    for (int i = l->order_count / 2; i-- > 0;) sift(l, i, l->order_count);
    for (int last = l->order_count - 1; last > 0; last--) {
        int kept = l->order[0];
        l->order[0] = l->order[last], l->order[last] = kept;
        sift(l, 0, last);
    }
}

// l->order: the labels of the list that no other one is as good as.
static void take_list(struct labels *l, int head)
{
    int kept = 0, most = l->limit[0];
    l->order_count = 0;
    for (int i = head; i >= 0; i = l->items[i].next) {
        *GROWN(l->arena, l->order, l->order_count, l->order_capacity, 256) = i;
    }
    sort_order(l);
    for (int a = 0; a <= most; a++) l->stair[a] = INT32_MAX;
    for (int i = 0; i < l->order_count; i++) {
        const struct label *x = &l->items[l->order[i]];
        if (l->stair[x->use[0]] <= x->use[1]) continue;
        for (int a = x->use[0]; a <= most && l->stair[a] > x->use[1]; a++) l->stair[a] = x->use[1];
        l->order[kept++] = l->order[i];
    }
    l->order_count = kept;
}

// ---- a stage

static void list_choices(struct labels *l, int s)
{
    const struct stage_choices *stage = &l->d->c->stages[s];
    const struct stage_table *t = &l->d->stages[s];
    l->choices = TAKE(l->arena, t->state_count, int *);
    l->choice_count = TAKE(l->arena, t->state_count, int);
    for (int i = 0; i < stage->count; i++)
        if (t->cost[i] < NOT_REACHED) l->choice_count[t->state_of[i]]++;
    for (int q = 0; q < t->state_count; q++) {
        l->choices[q] = TAKE(l->arena, l->choice_count[q], int);
        l->choice_count[q] = 0;
    }
    for (int i = 0; i < stage->count; i++)
        if (t->cost[i] < NOT_REACHED)
            l->choices[t->state_of[i]][l->choice_count[t->state_of[i]]++] = i;
}

// What any end behind stage s costs at least, by the coarse table.
static double rest_of(const struct labels *l, int s, const int *use, int layers)
{
    const struct label_rooms *r = l->rooms;
    int a = (l->limit[0] - use[0]) / r->unit[0], b = (l->limit[1] - use[1]) / r->unit[1];
    return r->rest[s][((size_t)a * (size_t)r->rooms[1] + (size_t)b) * (size_t)l->d->row +
                      (size_t)layers];
}

// Each label of l->order (before: < 0, the beginning) with this choice, where a plan may follow.
static bool add_choice(struct labels *l, int s, int i, int layers, double crossing, int *heads)
{
    const struct stage_table *t = &l->d->stages[s];
    const struct choice *x = &l->d->c->stages[s].items[i];
    int to = layers + x->layer_count, q = t->state_of[i], use[POOLS_MOST] = {0}, first, last;
    if (!dynamic_span_of(l->d, s, i, &first, &last) || layers < first || layers > last) return true;
    double own = crossing + t->cost[i], most = l->keep - t->backward[cell_of(l, q, to)] - own;
    for (int k = 0; k < l->pool_count; k++) {
        use[k] = (int)dynamic_choice_use(l->d, s, l->pools[k], x);
        own -= l->price[k] * use[k];
    }
    for (int n = 0; n < l->order_count; n++) {
        struct label y = {.before = l->order[n], .choice = i};
        if (y.before >= 0) {
            const struct label *from = &l->items[y.before];
            if (with_prices(l, from) > most) continue;
            y.cost = from->cost, y.use[0] = from->use[0], y.use[1] = from->use[1];
        } else if (most < 0) continue;
        y.cost += own, y.use[0] += use[0], y.use[1] += use[1];
        if (y.use[0] > l->limit[0] || y.use[1] > l->limit[1]) continue;
        if (y.cost + rest_of(l, s, y.use, to) > l->plain) continue;
        int *head = &heads[cell_of(l, t->same_after[q], to)];
        y.next = *head, *head = l->count;
        *GROWN(l->arena, l->items, l->count, l->capacity, 4096) = y;
        if (l->count >= LABELS_MOST) return false;
    }
    return true;
}

// From the labels of a state before the stage with so many layers. false: there are too many.
static bool go_on(struct labels *l, int s, int state, int layers, int *heads)
{
    const struct stage_table *t = &l->d->stages[s];
    for (int q = 0; q < t->state_count; q++) {
        double crossing = s ? t->boundary[state * t->state_count + q] : 0;
        if (crossing >= NOT_REACHED) continue;
        for (int k = 0; k < l->choice_count[q]; k++)
            if (!add_choice(l, s, l->choices[q][k], layers, crossing, heads)) return false;
    }
    return true;
}

static bool pass_stage(struct labels *l, int s)
{
    int states = l->d->stages[s].state_count, cells = states * l->d->row;
    int *heads = TAKE(l->arena, cells, int);
    bool whole = true;
    for (int i = 0; i < cells; i++) heads[i] = -1;
    list_choices(l, s);
    if (!s) {
        l->order_count = 1, l->order[0] = -1;
        whole = go_on(l, s, 0, 0, heads);
    }
    for (int q = 0; s && q < l->d->stages[s - 1].state_count && whole; q++)
        for (int n = 0; n < l->d->row && whole; n++) {
            if (l->heads[cell_of(l, q, n)] < 0) continue;
            take_list(l, l->heads[cell_of(l, q, n)]);
            whole = go_on(l, s, q, n, heads);
        }
    l->heads = heads;
    return whole;
}

static int cheapest(const struct labels *l)
{
    int least = -1;
    for (int q = 0; q < l->d->stages[l->d->stage_count - 1].state_count; q++)
        for (int i = l->heads[cell_of(l, q, l->d->layers)]; i >= 0; i = l->items[i].next)
            if (least < 0 || l->items[i].cost < l->items[least].cost) least = i;
    return least;
}

static void open_labels(struct labels *l)
{
    const struct dynamic *d = l->d;
    int below = PRICE_BITS - d->fraction_bits;
    for (int r = 0; r < d->group_count; r++) {
        if (dynamic_resource_limit(d, r) == INT64_MAX) continue;
        int64_t price = dynamic_used_price(d, r, l->box->prices) >> below;
        l->pools[l->pool_count] = r;
        l->limit[l->pool_count] = (int)dynamic_resource_limit(d, r);
        l->price[l->pool_count] = (double)price;
        l->pool_count++;
    }
}

static void aim(struct labels *l, int64_t target_ns)
{
    l->plain = (double)(target_ns - 1) * (double)((int64_t)1 << l->d->fraction_bits);
    l->keep = l->plain;
    for (int k = 0; k < l->pool_count; k++) l->keep += l->price[k] * l->limit[k];
    l->stair = TAKE(l->arena, l->limit[0] + 1, int);
    GROW(l->arena, l->order, l->order_count, l->order_capacity, 256);
}

// ---- the coarse table

// The least crossing into each state of a stage; nothing before the first. NOT_REACHED: none.
static double *least_crossings(const struct labels *l, int s)
{
    const struct stage_table *t = &l->d->stages[s];
    double *least = TAKE(l->arena, t->state_count, double);
    for (int q = 0; q < t->state_count; q++) {
        least[q] = s ? NOT_REACHED : 0;
        for (int p = 0; s && p < l->d->stages[s - 1].state_count; p++) {
            double crossing = t->boundary[p * t->state_count + q];
            least[q] = crossing < least[q] ? crossing : least[q];
        }
    }
    return least;
}

static void join_choice(struct room_choice *items, int *count, const struct room_choice *x)
{
    struct room_choice *at = items;
    while (at < items + *count &&
           (at->use[0] != x->use[0] || at->use[1] != x->use[1] || at->layers != x->layers))
        at++;
    if (at == items + *count) {
        items[(*count)++] = *x;
        return;
    }
    at->first = smaller_int(at->first, x->first), at->last = larger_int(at->last, x->last);
    at->cost = x->cost < at->cost ? x->cost : at->cost;
}

static struct room_choice *list_room_choices(const struct labels *l, int s, int *count)
{
    const struct stage_table *t = &l->d->stages[s];
    const double *crossings = least_crossings(l, s);
    struct room_choice *items = TAKE(l->arena, l->d->c->stages[s].count, struct room_choice);
    *count = 0;
    for (int i = 0; i < l->d->c->stages[s].count; i++) {
        const struct choice *c = &l->d->c->stages[s].items[i];
        struct room_choice x = {.layers = c->layer_count};
        double crossing = crossings[t->state_of[i]];
        if (!dynamic_span_of(l->d, s, i, &x.first, &x.last) || crossing >= NOT_REACHED) continue;
        x.cost = crossing + t->cost[i];
        for (int k = 0; k < l->pool_count; k++) {
            x.use[k] = (int)dynamic_choice_use(l->d, s, l->pools[k], c);
            x.cost -= l->price[k] * x.use[k];
        }
        join_choice(items, count, &x);
    }
    return items;
}

// Behind stage s - 1, from the one behind stage s.
static void fill_rest(const struct label_rooms *r, const struct dynamic *d, int s,
                      const struct room_choice *items, int count)
{
    size_t row = (size_t)d->row;
    for (int a = 0; a < r->rooms[0]; a++)
        for (int b = 0; b < r->rooms[1]; b++) {
            double *to = r->rest[s - 1] + ((size_t)a * (size_t)r->rooms[1] + (size_t)b) * row;
            for (size_t n = 0; n < row; n++) to[n] = NOT_REACHED;
            for (const struct room_choice *x = items; x < items + count; x++) {
                int left = a - x->use[0] / r->unit[0], other = b - x->use[1] / r->unit[1];
                if (left < 0 || other < 0) continue;
                const double *from = r->rest[s] +
                                     ((size_t)left * (size_t)r->rooms[1] + (size_t)other) * row;
                dynamic_lower_row(to + x->first, from + x->first + x->layers, x->cost,
                                  x->last - x->first + 1);
            }
        }
}

static int64_t least_of_all(const struct label_rooms *r, const struct dynamic *d,
                            const struct room_choice *items, int count)
{
    double least = NOT_REACHED;
    for (const struct room_choice *x = items; x < items + count; x++) {
        int a = r->rooms[0] - 1 - x->use[0] / r->unit[0],
            b = r->rooms[1] - 1 - x->use[1] / r->unit[1];
        if (x->first > 0 || a < 0 || b < 0) continue;
        double rest = r->rest[0][((size_t)a * (size_t)r->rooms[1] + (size_t)b) * (size_t)d->row +
                                 (size_t)x->layers];
        least = x->cost + rest < least ? x->cost + rest : least;
    }
    return dynamic_cost_to_ns(d, least, 0);
}

// Units that keep the table small: doubled where there are more rooms.
static void choose_units(struct label_rooms *r, const struct labels *l, int64_t all,
                         int64_t cells_most)
{
    for (int k = 0; k < POOLS_MOST; k++) r->unit[k] = 1;
    for (;;) {
        for (int k = 0; k < POOLS_MOST; k++) r->rooms[k] = l->limit[k] / r->unit[k] + 1;
        int64_t cells = (int64_t)r->rooms[0] * r->rooms[1] * l->d->row;
        if (cells * l->d->stage_count <= cells_most && cells * all <= WORK_OF_A_CELL * cells_most)
            return;
        if (r->rooms[0] == 1 && r->rooms[1] == 1) return;
        r->unit[r->rooms[0] < r->rooms[1]] *= 2;
    }
}

struct label_rooms *dynamic_label_rooms(struct dynamic *d, const struct dynamic_box *box,
                                        int64_t cells_most, struct arena *arena)
{
    struct arena *scratch = arena_open_within(arena);
    struct labels l = {.d = d, .box = box, .arena = scratch};
    struct label_rooms *r = TAKE(arena, 1, struct label_rooms);
    struct room_choice **items = TAKE(scratch, d->stage_count, struct room_choice *);
    int *counts = TAKE(scratch, d->stage_count, int), last = d->stage_count - 1;
    int64_t all = 0;
    assert(dynamic_has_labels(d));
    open_labels(&l);
    for (int s = 0; s <= last; s++) {
        items[s] = list_room_choices(&l, s, &counts[s]);
        all += counts[s];
    }
    choose_units(r, &l, all, cells_most);
    size_t rows = (size_t)r->rooms[0] * (size_t)r->rooms[1];
    r->rest = TAKE(arena, d->stage_count, double *);
    for (int s = 0; s <= last; s++) r->rest[s] = TAKE(arena, rows * (size_t)d->row, double);
    for (size_t i = 0; i < rows * (size_t)d->row; i++)
        r->rest[last][i] = i % (size_t)d->row == (size_t)d->layers ? 0 : NOT_REACHED;
    for (int s = last; s > 0; s--) fill_rest(r, d, s, items[s], counts[s]);
    r->bound_ns = least_of_all(r, d, items[0], counts[0]);
    arena_close(scratch);
    return r;
}

int64_t dynamic_rooms_bound(const struct label_rooms *rooms) { return rooms->bound_ns; }

int64_t dynamic_solve_labels(struct dynamic *d, const struct dynamic_box *box,
                             const struct label_rooms *rooms, int64_t target_ns, int *chosen,
                             struct arena *arena)
{
    struct arena *scratch = arena_open_within(arena);
    struct labels l = {.d = d, .box = box, .rooms = rooms, .arena = scratch};
    int64_t bound_ns = target_ns;
    bool whole = true;
    assert(dynamic_has_labels(d) && target_ns > 0 && target_ns < (int64_t)1 << 50);
    open_labels(&l);
    aim(&l, target_ns);
    for (int s = 0; s < d->stage_count && whole; s++) whole = pass_stage(&l, s);
    int at = whole ? cheapest(&l) : -1;
    if (at >= 0) bound_ns = dynamic_cost_to_ns(d, l.items[at].cost, 0);
    // What was left out takes target_ns or more, whatever this one does.
    if (bound_ns >= target_ns) at = -1, bound_ns = target_ns;
    for (int s = d->stage_count; s-- > 0 && at >= 0; at = l.items[at].before)
        chosen[s] = l.items[at].choice;
    arena_close(scratch);
    return whole ? bound_ns : 0;
}
