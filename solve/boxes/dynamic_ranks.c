// The dynamic programme by ranks: see dynamic_table.h. The step from one rank to the next is the
// number of layers on the rank; within a rank they are distributed among its stages. The bound
// through a choice takes all other ranks at their least for the layers that this one leaves, and
// all other stages of the rank likewise.
#include "solve/boxes/dynamic_table.h"

static int turns_of(const struct dynamic *d) { return d->c->virtual_stages; }

// One group, one message class, boundaries that only the receiver's option can change, and few
// places to split by: how many layers a rank holds does not say which.
bool dynamic_ranks_possible(const struct dynamic *d)
{
    const struct choices *c = d->c;
    const struct choice *any = c->stages[0].items;
    if (c->free_from > PLACES_BY_RANKS || c->boundary_cuts) return false;
    for (int s = 0; s < d->stage_count; s++)
        for (int i = 0; i < c->stages[s].count; i++)
            if (c->stages[s].items[i].group != any->group ||
                (s < d->stage_count - 1 && c->stages[s].items[i].cut != any->cut))
                return false;
    return c->stages[0].count > 0 && priced_seats(c->priced, any->group) >= c->rank_count;
}

static void open_try(const struct dynamic *d, struct rank_try *try, struct arena *arena)
{
    size_t cells = (size_t)turns_of(d) * (size_t)d->row;
    try->least = TAKE(arena, cells, double);
    try->best = TAKE(arena, cells, int);
    try->before = TAKE(arena, cells + (size_t)d->row, double);
    try->behind = TAKE(arena, cells + (size_t)d->row, double);
}

void dynamic_ranks_open(struct dynamic *d, struct arena *arena)
{
    assert(d->c->rank_count * turns_of(d) == d->stage_count && (turns_of(d) == 1 || d->c->peaks));
    d->arena = arena_open_within(arena);
    d->ranks = TAKE(arena, d->c->rank_count, struct rank_table);
    int *chosen = TAKE(arena, d->stage_count, int);
    d->entry = TAKE(arena, 3 * d->row, double);
    for (int r = 0; r < d->c->rank_count; r++) {
        struct rank_table *k = &d->ranks[r];
        *k = (struct rank_table){
            .limit = d->c->priced->groups[d->c->stages[0].items[0].group].memory_limit_bytes,
            .too_many = INT_MAX,
            .chosen = chosen};
        k->stages = TAKE(arena, turns_of(d), int);
        k->turn_least = TAKE(arena, turns_of(d), int);
        k->turn_most = TAKE(arena, turns_of(d), int);
        for (int t = 0; t < turns_of(d); t++) k->stages[t] = choices_stage_of(d->c, r, t);
        k->tries = TAKE(arena, TRIES_MAX, struct rank_try);
        for (int j = 0; j < TRIES_MAX; j++) open_try(d, &k->tries[j], arena);
        double **rows[] = {&k->bytes_least, &k->cost, &k->ahead, &k->after};
        for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) *rows[i] = TAKE(arena, d->row, double);
        k->by = TAKE(arena, d->row, int);
    }
}

// ---- the box

// The cost of the boundary before a stage, which depends on the receiver's option, is added to its
// choice.
static void add_boundaries(struct dynamic *d)
{
    for (int s = 1; s < d->stage_count; s++)
        for (int k = 0; k < d->stages[s].active_count; k++) {
            struct stage_table *t = &d->stages[s];
            int i = t->active[k];
            double boundary = d->stages[s - 1].state_count ? t->boundary[t->state_of[i]]
                                                           : NOT_REACHED;
            t->cost[i] = t->cost[i] >= NOT_REACHED || boundary >= NOT_REACHED
                             ? NOT_REACHED
                             : t->cost[i] + boundary;
        }
}

static bool find_turns(const struct dynamic *d, struct rank_table *k, const struct layer_span *span)
{
    int least_sum = 0, most_sum = 0;
    for (int t = 0; t < turns_of(d); t++) {
        int least = d->layers + 1, most = 0;
        const struct stage_choices *stage = &d->c->stages[k->stages[t]];
        const struct stage_table *table = &d->stages[k->stages[t]];
        for (int j = 0; j < table->active_count; j++) {
            int i = table->active[j], n = stage->items[i].layer_count;
            if (table->cost[i] >= NOT_REACHED) continue;
            least = n < least ? n : least;
            most = n > most ? n : most;
        }
        k->turn_least[t] = least;
        k->turn_most[t] = most;
        least_sum += least;
        most_sum += most;
        if (least > most) return false;
    }
    k->least = span && span->least > least_sum ? span->least : least_sum;
    k->most = span && span->most < most_sum ? span->most : most_sum;
    return k->least <= k->most;
}

// Finds the numbers of layers of each rank that the others can complete. false: there are none.
static bool find_spans(struct dynamic *d, const struct layer_span *spans)
{
    int ranks = d->c->rank_count, least = 0, most = 0;
    for (int r = 0; r < ranks; r++) {
        if (!find_turns(d, &d->ranks[r], spans ? &spans[r] : NULL)) return false;
        least += d->ranks[r].least;
        most += d->ranks[r].most;
    }
    if (least > d->layers || most < d->layers) return false;
    for (int r = 0; r < ranks; r++) {
        struct rank_table *k = &d->ranks[r];
        int others_least = least - k->least, others_most = most - k->most;
        if (k->most > d->layers - others_least) k->most = d->layers - others_least;
        if (k->least < d->layers - others_most) k->least = d->layers - others_most;
        least = others_least + k->least;
        most = others_most + k->most;
        if (k->least > k->most) return false;
    }
    assert(least <= d->layers && most >= d->layers);
    return true;
}

// cost[N]: the greatest of the tries so far.
static void take_costs(const struct dynamic *d, struct rank_table *k)
{
    for (int n = 0; n < d->row; n++) {
        k->cost[n] = NOT_REACHED;
        k->by[n] = 0;
        if (n < k->least || n > k->most ||
            k->tries[0].before[turns_of(d) * d->row + n] >= NOT_REACHED)
            continue;
        if (k->in_flight && k->bytes_least[n] > (double)k->limit) continue;
        k->cost[n] = k->tries[0].before[turns_of(d) * d->row + n];
        for (int j = 1; j < k->try_count; j++) {
            double cost = k->tries[j].before[turns_of(d) * d->row + n] - k->tries[j].charge;
            if (cost > k->cost[n]) k->cost[n] = cost, k->by[n] = j;
        }
    }
}

// The costs beyond the rank, from those up to it.
static void walk_rank(const struct dynamic *d, const struct rank_table *k, const double *from,
                      double *to)
{
    for (int n = 0; n < d->row; n++) to[n] = NOT_REACHED;
    for (int n = k->least; n <= k->most; n++)
        if (k->cost[n] < NOT_REACHED) dynamic_lower_row(to + n, from, k->cost[n], d->row - n);
    for (int n = 0; n < d->row; n++) to[n] = to[n] > 0.5 * NOT_REACHED ? NOT_REACHED : to[n];
}

static void walk_ahead(const struct dynamic *d)
{
    struct rank_table *k = d->ranks;
    for (int n = 0; n < d->row; n++) k->ahead[n] = n ? NOT_REACHED : 0;
    for (int r = 1; r < d->c->rank_count; r++, k++) walk_rank(d, k, k->ahead, k[1].ahead);
}

static void walk_after(const struct dynamic *d)
{
    struct rank_table *k = &d->ranks[d->c->rank_count - 1];
    for (int n = 0; n < d->row; n++) k->after[n] = n ? NOT_REACHED : 0;
    for (; k > d->ranks; k--) walk_rank(d, k, k->after, k[-1].after);
}

// The least over the last rank's cells, and the layers of every rank there. NOT_REACHED: there is
// none.
static double find_least(const struct dynamic *d, int *layers_of)
{
    double least = NOT_REACHED;
    int last = d->c->rank_count - 1, left = d->layers;
    const struct rank_table *k = &d->ranks[last];
    for (int n = k->least; n <= k->most; n++)
        if (k->ahead[d->layers - n] < NOT_REACHED && k->cost[n] < NOT_REACHED &&
            k->ahead[d->layers - n] + k->cost[n] < least)
            least = k->ahead[d->layers - n] + k->cost[n], layers_of[last] = n;
    if (least >= NOT_REACHED) return NOT_REACHED;
    for (int r = last; r > 0; r--) {
        left -= layers_of[r];
        k = &d->ranks[r - 1];
        double cost = d->ranks[r].ahead[left];
        int n = k->least;
        while (k->cost[n] >= NOT_REACHED || n > left || k->ahead[left - n] + k->cost[n] != cost)
            n++;
        assert(n <= k->most);
        layers_of[r - 1] = n;
    }
    assert(layers_of[0] == left); // together the ranks hold all layers
    return least;
}

// Memory: only ranks that can overflow go by their decisions that fit, or are priced, at prices
// that suit the layers they get without prices.
static void price_memory(struct dynamic *d, const int *layers_of, bool fit_ranks)
{
    for (int r = 0; r < d->c->rank_count; r++) {
        struct rank_table *k = &d->ranks[r];
        if (!rank_can_overflow(d, r)) continue;
        if (!fit_ranks && rank_use_decisions(d, r)) continue;
        rank_fill_bytes(d, r);
        rank_choose_prices(d, r, layers_of[r]);
        for (int j = 1; j < k->try_count; j++) rank_fill_try(d, r, j);
        take_costs(d, k);
    }
}

// ---- bounds through choices

// others[N] = the least of all other ranks if rank r holds N.
static void find_others(const struct dynamic *d, int r, double *others)
{
    const struct rank_table *k = &d->ranks[r];
    for (int n = 0; n < d->row; n++) others[n] = NOT_REACHED;
    for (int n = k->least; n <= k->most; n++)
        for (int before = 0; before <= d->layers - n; before++) {
            double cost = k->ahead[before] + k->after[d->layers - n - before];
            others[n] = cost < others[n] ? cost : others[n];
        }
}

static void fill_behind(const struct dynamic *d, const struct rank_table *k, struct rank_try *try)
{
    int turns = turns_of(d), row = d->row;
    for (int n = 0; n < row; n++) try->behind[turns * row + n] = n ? NOT_REACHED : 0;
    for (int t = turns - 1; t >= 0; t--) {
        double *to = try->behind + t * row;
        const double *from = to + row, *least = try->least + t * row;
        for (int n = 0; n < row; n++) to[n] = NOT_REACHED;
        for (int n = k->turn_least[t]; n <= k->turn_most[t] && n < row; n++)
            if (least[n] < NOT_REACHED) dynamic_lower_row(to + n, from, least[n], row - n);
        for (int n = 0; n < row; n++) to[n] = to[n] > 0.5 * NOT_REACHED ? NOT_REACHED : to[n];
    }
}

// without[M] = the least of the rank's other stages if they hold M layers together.
static void find_without(const struct dynamic *d, const struct rank_table *k,
                         const struct rank_try *try, int turn, double *without)
{
    const double *before = try->before + turn * d->row, *behind = try->behind + (turn + 1) * d->row;
    for (int n = 0; n < d->row; n++) without[n] = NOT_REACHED;
    for (int n = 0; n <= k->most; n++)
        if (behind[n] < NOT_REACHED)
            dynamic_lower_row(without + n, before, behind[n], k->most - n + 1);
}

// rest[n]: the least, over all N, of the other ranks and the other stages if this stage holds n.
static void find_rest(const struct rank_table *k, int turn, const double *others,
                      const double *without, double *rest)
{
    for (int n = k->turn_least[turn]; n <= k->turn_most[turn]; n++) {
        rest[n] = NOT_REACHED;
        for (int all = k->least > n ? k->least : n; all <= k->most; all++) {
            if (k->cost[all] >= NOT_REACHED) continue;
            double cost = others[all] + without[all - n];
            rest[n] = cost < rest[n] ? cost : rest[n];
        }
    }
}

static void bound_stage(const struct dynamic *d, const struct rank_table *k, int turn,
                        const double *others, double *scratch, wide priced_limits,
                        int64_t *through_ns)
{
    int stage = k->stages[turn];
    double *without = scratch, *rest = scratch + d->row;
    for (int j = 0; j < k->try_count; j++) {
        const struct rank_try *try = &k->tries[j];
        find_without(d, k, try, turn, without);
        find_rest(k, turn, others, without, rest);
        for (int a = 0; a < d->stages[stage].active_count; a++) {
            int i = d->stages[stage].active[a];
            double cost = d->stages[stage].cost[i];
            if (cost >= NOT_REACHED) continue;
            double other = rest[d->c->stages[stage].items[i].layer_count];
            if (other < NOT_REACHED)
                cost += other +
                        (j ? rank_priced_bytes(d, k, try->price, turn, i) - try->charge : 0);
            int64_t ns =
                dynamic_cost_to_ns(d, other < NOT_REACHED ? cost : NOT_REACHED, priced_limits);
            if (j == 0 || ns > through_ns[i]) through_ns[i] = ns;
        }
    }
}

static void bound_all(struct dynamic *d, wide priced_limits, struct dynamic_answer *answer)
{
    double *others = d->entry, *scratch = others + d->row;
    walk_after(d);
    for (int r = 0; r < d->c->rank_count; r++) {
        struct rank_table *k = &d->ranks[r];
        find_others(d, r, others);
        for (int j = 0; j < k->try_count; j++) fill_behind(d, k, &k->tries[j]);
        if (k->by_decisions) rank_bound_decisions(d, r, others, priced_limits, answer->through_ns);
        for (int t = 0; t < turns_of(d) && !k->by_decisions; t++)
            bound_stage(d, k, t, others, scratch, priced_limits, answer->through_ns[k->stages[t]]);
        // A rank's cost is the greatest of its tries for each number of layers; a stage's bound
        // uses one try for all numbers.
        for (int t = 0; t < turns_of(d); t++)
            for (int a = 0; a < d->stages[k->stages[t]].active_count; a++) {
                int i = d->stages[k->stages[t]].active[a];
                int64_t *ns = &answer->through_ns[k->stages[t]][i];
                *ns = *ns < answer->bound_ns ? answer->bound_ns : *ns;
            }
        for (int n = k->least; n <= k->most && answer->spans_ns; n++)
            answer->spans_ns[r][n] = dynamic_cost_to_ns(
                d,
                others[n] < NOT_REACHED && k->cost[n] < NOT_REACHED ? others[n] + k->cost[n]
                                                                    : NOT_REACHED,
                priced_limits);
    }
}

void dynamic_ranks_solve(struct dynamic *d, const struct dynamic_box *box, wide priced_limits,
                         struct dynamic_answer *answer)
{
    int layers_of[STAGES_MAX], ranks = d->c->rank_count;
    for (int r = 0; r < ranks && answer->spans_ns; r++)
        for (int n = 0; n < d->row; n++) answer->spans_ns[r][n] = DYNAMIC_NOTHING;
    add_boundaries(d);
    if (!find_spans(d, box->spans)) return;
    for (int r = 0; r < ranks; r++) {
        d->ranks[r].try_count = 1;
        d->ranks[r].in_flight = NULL;
        d->ranks[r].by_decisions = false;
        rank_fill_try(d, r, 0);
        take_costs(d, &d->ranks[r]);
    }
    walk_ahead(d);
    double least = find_least(d, layers_of);
    if (least >= NOT_REACHED) return;
    price_memory(d, layers_of, box->fit_ranks);
    for (int r = 0; r < ranks && box->fit_ranks; r++)
        if (d->ranks[r].in_flight) rank_fit(d, r);
    walk_ahead(d);
    double without_memory = least;
    least = find_least(d, layers_of);
    assert(least >= without_memory); // memory prices only add
    answer->bound_ns = dynamic_cost_to_ns(d, least, priced_limits);
    if (least >= NOT_REACHED) return;
    for (int r = 0; r < ranks && answer->chosen; r++) {
        if (box->fit_ranks)
            rank_trace_fitting(d, r, d->ranks[r].by[layers_of[r]], layers_of[r], answer->chosen);
        else rank_trace(d, r, d->ranks[r].by[layers_of[r]], layers_of[r], answer->chosen);
    }
    if (answer->through_ns) bound_all(d, priced_limits, answer);
    for (int r = 0; r < ranks && answer->through_ns && answer->spans_ns; r++)
        assert(answer->spans_ns[r][layers_of[r]] == answer->bound_ns); // forward and backward agree
}
