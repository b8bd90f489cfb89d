// One rank of the dynamic programme by ranks: its convolutions under a price per byte, the prices
// worth trying, decisions that fit into its memory; and where all of these are few, a list of them,
// whose least cost for N layers is the least of those with N layers (docs/PROOFS.md 5).
#include <stdlib.h>
#include <string.h>

#include "data/base/least.h"
#include "solve/boxes/dynamic_table.h"

static int turns_of(const struct dynamic *d) { return d->c->virtual_stages; }
static struct rank_table *table_of(const struct dynamic *d, int rank) { return &d->ranks[rank]; }
static double cost_of(const struct dynamic *d, int stage, int choice)
{
    return d->stages[stage].cost[choice];
}

// ---- bytes

static int64_t rank_choice_bytes(const struct dynamic *d, const struct rank_table *k, int turn,
                                 int choice)
{
    const struct choice *c = &d->c->stages[k->stages[turn]].items[choice];
    return d->stages[k->stages[turn]].resident[choice] + k->in_flight[turn] * c->stash_bytes +
           (turn == k->working_turn ? c->memory.working_bytes : 0);
}

// The stage whose least working memory is the greatest.
static int find_working_turn(const struct dynamic *d, const struct rank_table *k)
{
    int64_t most = -1;
    int at = 0;
    for (int t = 0; t < turns_of(d); t++) {
        const struct stage_choices *stage = &d->c->stages[k->stages[t]];
        const struct stage_table *table = &d->stages[k->stages[t]];
        int64_t least = INT64_MAX;
        for (int j = 0; j < table->active_count; j++) {
            int i = table->active[j];
            if (table->cost[i] < NOT_REACHED && stage->items[i].memory.working_bytes < least)
                least = stage->items[i].memory.working_bytes;
        }
        if (least > most) most = least, at = t;
    }
    return at;
}

static int64_t most_bytes(const struct dynamic *d, const struct rank_table *k, int64_t *working)
{
    int64_t sum = 0;
    *working = 0;
    for (int t = 0; t < turns_of(d); t++) {
        const struct stage_choices *stage = &d->c->stages[k->stages[t]];
        const struct stage_table *table = &d->stages[k->stages[t]];
        int64_t most = 0;
        for (int j = 0; j < table->active_count; j++) {
            int i = table->active[j];
            if (table->cost[i] >= NOT_REACHED) continue;
            int64_t bytes = table->resident[i] + k->in_flight[t] * stage->items[i].stash_bytes;
            most = bytes > most ? bytes : most;
            if (stage->items[i].memory.working_bytes > *working)
                *working = stage->items[i].memory.working_bytes;
        }
        sum += most;
    }
    return sum;
}

// A quick test: whether not even the most of each part, over all choices, exceeds the limit.
static bool is_roomy(const struct dynamic *d, const struct rank_table *k,
                     const struct rank_peaks *peaks)
{
    int64_t resident = 0, working = 0, stash[STAGES_MAX];
    for (int t = 0; t < turns_of(d); t++) {
        const struct stage_table *table = &d->stages[k->stages[t]];
        int64_t most = 0;
        stash[t] = 0;
        for (int j = 0; j < table->active_count; j++) {
            const struct choice *c = &d->c->stages[k->stages[t]].items[table->active[j]];
            if (table->cost[table->active[j]] >= NOT_REACHED) continue;
            most = larger(most, table->resident[table->active[j]]);
            stash[t] = larger(stash[t], c->stash_bytes);
            working = larger(working, c->memory.working_bytes);
        }
        resident += most;
    }
    for (int i = 0; i < peaks->count; i++) {
        int64_t sum = resident + working;
        for (int t = 0; t < turns_of(d); t++) sum += peaks->in_flight[i][t] * stash[t];
        if (sum > k->limit) return false;
    }
    return true;
}

bool rank_can_overflow(const struct dynamic *d, int rank)
{
    struct rank_table *k = table_of(d, rank);
    if (!d->c->peaks) return false; // one stage per rank: its choices fit
    const struct rank_peaks *peaks = &d->c->peaks[rank];
    k->in_flight = NULL;
    if (is_roomy(d, k, peaks)) return false;
    const int *fullest = NULL;
    int64_t most = k->limit, working;
    for (int i = 0; i < peaks->count; i++) {
        k->in_flight = peaks->in_flight[i];
        int64_t bytes = most_bytes(d, k, &working) + working;
        if (bytes > most) most = bytes, fullest = peaks->in_flight[i];
    }
    k->in_flight = fullest;
    if (!fullest) return false;
    k->working_turn = find_working_turn(d, k);
    return true;
}

// ---- convolutions

static void fill_row(double *row, int count)
{
    for (int n = 0; n < count; n++) row[n] = NOT_REACHED;
}

// to[N + n] = least of from[N] + step[n].
static void convolve(const struct dynamic *d, double *to, const double *from, int from_least,
                     int from_most, const double *step, int least, int most)
{
    fill_row(to, d->row);
    for (int n = least; n <= most && n < d->row; n++) {
        int last = from_most < d->row - 1 - n ? from_most : d->row - 1 - n;
        if (step[n] < NOT_REACHED && last >= from_least)
            dynamic_lower_row(to + from_least + n, from + from_least, step[n],
                              last - from_least + 1);
    }
    for (int n = 0; n < d->row; n++)
        if (to[n] > NOT_REACHED) to[n] = NOT_REACHED;
}

void rank_fill_bytes(const struct dynamic *d, int rank)
{
    struct rank_table *k = table_of(d, rank);
    double *scratch = k->tries[1].before, *sum = k->bytes_least, *step = k->tries[1].least;
    int least = 0, most = 0;
    fill_row(sum, d->row);
    sum[0] = 0;
    for (int t = 0; t < turns_of(d); t++) {
        const struct stage_choices *stage = &d->c->stages[k->stages[t]];
        fill_row(step, d->row);
        const struct stage_table *table = &d->stages[k->stages[t]];
        for (int j = 0; j < table->active_count; j++) {
            int i = table->active[j];
            if (table->cost[i] >= NOT_REACHED) continue;
            double bytes = (double)rank_choice_bytes(d, k, t, i);
            int n = stage->items[i].layer_count;
            step[n] = bytes < step[n] ? bytes : step[n];
        }
        convolve(d, scratch, sum, least, most, step, k->turn_least[t], k->turn_most[t]);
        memcpy(sum, scratch, (size_t)d->row * sizeof *sum);
        least += k->turn_least[t];
        most = most + k->turn_most[t] < d->layers ? most + k->turn_most[t] : d->layers;
    }
}

double rank_priced_bytes(const struct dynamic *d, const struct rank_table *k, int64_t price,
                         int turn, int choice)
{
    wide ceiling = ((wide)1 << COST_BITS) / d->stage_count;
    wide value = (wide)price * rank_choice_bytes(d, k, turn, choice) >> BYTE_PRICE_BITS;
    return (double)(value < ceiling ? value : ceiling);
}

static void fill_least(const struct dynamic *d, const struct rank_table *k, struct rank_try *try)
{
    for (int t = 0; t < turns_of(d); t++) {
        const struct stage_choices *stage = &d->c->stages[k->stages[t]];
        double *least = try->least + t * d->row;
        fill_row(least, d->row);
        const struct stage_table *table = &d->stages[k->stages[t]];
        for (int j = 0; j < table->active_count; j++) {
            int i = table->active[j];
            double cost = table->cost[i];
            if (cost >= NOT_REACHED) continue;
            if (try->price) cost += rank_priced_bytes(d, k, try->price, t, i);
            int n = stage->items[i].layer_count;
            if (cost < least[n]) least[n] = cost, try->best[t * d->row + n] = i;
        }
    }
}

void rank_fill_try(const struct dynamic *d, int rank, int number)
{
    struct rank_table *k = table_of(d, rank);
    struct rank_try *try = &k->tries[number];
    int turns = turns_of(d), row = d->row, least = 0, most = 0;
    wide unit = (wide)1 << BYTE_PRICE_BITS;
    try->charge = try->price ? (double)(((wide)try->price * k->limit + unit - 1) / unit) : 0;
    fill_least(d, k, try);
    fill_row(try->before, row);
    try->before[0] = 0;
    for (int t = 0; t < turns; t++) {
        convolve(d, try->before + (t + 1) * row, try->before + t * row, least, most,
                 try->least + t * row, k->turn_least[t], k->turn_most[t]);
        least += k->turn_least[t];
        most = most + k->turn_most[t] < d->layers ? most + k->turn_most[t] : d->layers;
    }
}

void rank_trace(const struct dynamic *d, int rank, int number, int layers, int *chosen)
{
    const struct rank_table *k = table_of(d, rank);
    for (int t = 0; t < turns_of(d) && k->by_decisions; t++)
        chosen[k->stages[t]] = k->decisions.choices[number * turns_of(d) + t];
    if (k->by_decisions) return;
    const struct rank_try *try = &k->tries[number];
    for (int t = turns_of(d) - 1; t >= 0; t--) {
        const double *before = try->before + t * d->row, *least = try->least + t * d->row;
        double cost = try->before[(t + 1) * d->row + layers];
        int n = k->turn_least[t];
        while (n < layers && (least[n] >= NOT_REACHED || before[layers - n] + least[n] != cost))
            n++;
        assert(n <= layers && least[n] < NOT_REACHED);
        chosen[k->stages[t]] = try->best[t * d->row + n];
        layers -= n;
    }
    assert(layers == 0); // the stages hold all layers of the rank
}

// ---- prices

enum { SLOPES_MAX = 64 };

// Clamped to 0 .. 2^60, which no price in use reaches.
static int64_t byte_price(double price)
{
    if (!(price < 0x1p60)) return (int64_t)1 << 60;
    return price > 0 ? (int64_t)price : 0;
}

// The cost of saving a byte at a stage with n layers: from the cheapest choice to every other that
// needs less.
static int slopes_of(const struct dynamic *d, const struct rank_table *k, int turn, int n,
                     int64_t *slopes, int count)
{
    int stage = k->stages[turn], cheapest = k->tries[0].best[turn * d->row + n];
    int64_t most = rank_choice_bytes(d, k, turn, cheapest);
    double steepest = 0, flattest = 0x1p62;
    for (int j = 0; j < d->stages[stage].active_count; j++) {
        int i = d->stages[stage].active[j];
        if (d->c->stages[stage].items[i].layer_count != n || cost_of(d, stage, i) >= NOT_REACHED)
            continue;
        int64_t saved = most - rank_choice_bytes(d, k, turn, i);
        if (saved <= 0) continue;
        double slope = (cost_of(d, stage, i) - cost_of(d, stage, cheapest)) / (double)saved;
        steepest = slope > steepest ? slope : steepest;
        flattest = slope < flattest ? slope : flattest;
    }
    for (int i = 0; i < 2 && flattest < 0x1p62 && count < SLOPES_MAX; i++)
        slopes[count++] =
            byte_price((i ? steepest : flattest) * (double)((int64_t)1 << BYTE_PRICE_BITS)) + 1;
    return count;
}

void rank_choose_prices(const struct dynamic *d, int rank, int layers)
{
    struct rank_table *k = table_of(d, rank);
    int64_t slopes[SLOPES_MAX],
        most = byte_price((double)((wide)1 << (COST_BITS - 1 + BYTE_PRICE_BITS)) /
                          (double)(k->limit + 1));
    int count = 0;
    assert(k->in_flight && layers >= k->least && layers <= k->most);
    for (int t = 0, left = layers; t < turns_of(d); t++) {
        int n = left / (turns_of(d) - t);
        n = n < k->turn_least[t] ? k->turn_least[t] : n > k->turn_most[t] ? k->turn_most[t] : n;
        left -= n;
        if (k->tries[0].least[t * d->row + n] < NOT_REACHED)
            count = slopes_of(d, k, t, n, slopes, count);
    }
    // Where memory can be saved only by moving layers: fractions of the rank's cost.
    double whole = k->tries[0].before[turns_of(d) * d->row + layers];
    for (int i = 0; count < 3 && whole < NOT_REACHED; i++)
        slopes[count++] = byte_price(whole / (double)k->limit *
                                     (double)((int64_t)1 << (BYTE_PRICE_BITS - 2 - 4 * i))) +
                          1;
    qsort(slopes, (size_t)count, sizeof *slopes, int64_ascending);
    int distinct = 0;
    for (int i = 0; i < count; i++)
        if (slopes[i] > 0 && slopes[i] < most &&
            (!distinct || slopes[i] > slopes[distinct - 1] + slopes[distinct - 1] / 64))
            slopes[distinct++] = slopes[i];
    int used = distinct < TRIES_MAX - 2 ? distinct : TRIES_MAX - 2;
    k->try_count = 1;
    for (int i = 0; i < used; i++)
        k->tries[k->try_count++].price = slopes[used > 1 ? i * (distinct - 1) / (used - 1) : 0];
    if (used && slopes[distinct - 1] < most / 8) // so high that bytes alone count
        k->tries[k->try_count++].price = 8 * slopes[distinct - 1];
    assert(k->try_count >= 1 && k->try_count <= TRIES_MAX && k->tries[0].price == 0);
    for (int i = 1; i < k->try_count; i++) // rising prices; no bound holds at a price below 0
        assert(k->tries[i].price > k->tries[i - 1].price);
}

// ---- decisions that fit

static double true_cost(const struct dynamic *d, const struct rank_table *k, const int *chosen)
{
    double cost = 0;
    for (int t = 0; t < turns_of(d); t++) cost += cost_of(d, k->stages[t], chosen[k->stages[t]]);
    return cost;
}

// Each stage in turn takes the cheapest choice with the same number of layers that still fits.
static void cheapen(const struct dynamic *d, const struct rank_table *k, int rank, int *chosen)
{
    for (int t = 0; t < turns_of(d); t++) {
        int stage = k->stages[t], best = chosen[stage];
        const struct choice *items = d->c->stages[stage].items;
        for (int j = 0; j < d->stages[stage].active_count; j++) {
            int i = d->stages[stage].active[j];
            if (items[i].layer_count != items[best].layer_count ||
                cost_of(d, stage, i) >= cost_of(d, stage, best))
                continue;
            chosen[stage] = i;
            if (choices_rank_fits(d->c, chosen, rank)) best = i;
        }
        chosen[stage] = best;
    }
}

void rank_trace_fitting(const struct dynamic *d, int rank, int number, int layers, int *chosen)
{
    const struct rank_table *k = table_of(d, rank);
    rank_trace(d, rank, number, layers, chosen);
    if (number > 0 && choices_rank_fits(d->c, chosen, rank)) cheapen(d, k, rank, chosen);
}

void rank_fit(const struct dynamic *d, int rank)
{
    struct rank_table *k = table_of(d, rank);
    int turns = turns_of(d);
    for (int n = k->least; n <= k->most; n++) {
        double least = NOT_REACHED;
        for (int j = 0; j < k->try_count; j++) {
            if (k->tries[j].before[turns * d->row + n] >= NOT_REACHED) continue;
            rank_trace_fitting(d, rank, j, n, k->chosen);
            if (!choices_rank_fits(d->c, k->chosen, rank)) continue;
            double cost = true_cost(d, k, k->chosen);
            if (cost < least) least = cost, k->by[n] = j;
        }
        k->cost[n] = least;
    }
}

// ---- all decisions that fit, at every moment of the schedule

struct listing {
    const struct dynamic *d;
    const struct rank_table *k;
    int rank, most, *chosen, visits, capacity;
    struct rank_decisions *to;
    int64_t ahead[STAGES_MAX + 1];    // [turn]: the least bytes of this turn and those after it
    int layers_ahead[STAGES_MAX + 1]; // likewise
};

static const struct stage_choices *stage_at(const struct listing *x, int turn)
{
    return &x->d->c->stages[x->k->stages[turn]];
}

// At the rank's first moment, without working memory: never more than the rank's memory.
static int64_t bytes_of(const struct listing *x, int turn, int choice)
{
    return x->d->stages[x->k->stages[turn]].resident[choice] +
           x->d->c->peaks[x->rank].in_flight[0][turn] *
               stage_at(x, turn)->items[choice].stash_bytes;
}

static void add_decision(struct listing *x, int layers)
{
    int turns = x->d->c->virtual_stages, n = x->to->count;
    if (n == x->capacity) {
        int capacity = n ? 2 * n : 64;
        int *choices = TAKE(x->d->arena, capacity * turns, int),
            *of = TAKE(x->d->arena, capacity, int);
        if (n) memcpy(choices, x->to->choices, (size_t)(n * turns) * sizeof *choices);
        if (n) memcpy(of, x->to->layers, (size_t)n * sizeof *of);
        x->to->choices = choices, x->to->layers = of, x->capacity = capacity;
    }
    for (int t = 0; t < turns; t++) x->to->choices[n * turns + t] = x->chosen[x->k->stages[t]];
    x->to->layers[x->to->count++] = layers;
}

// false: too many.
static bool list_from(struct listing *x, int turn, int layers, int64_t bytes)
{
    const struct stage_choices *stage = stage_at(x, turn);
    bool last = turn == x->d->c->virtual_stages - 1;
    for (int i = 0; i < stage->count; i++) {
        int64_t sum = bytes + bytes_of(x, turn, i);
        int n = layers + stage->items[i].layer_count;
        if (sum + x->ahead[turn + 1] > x->k->limit || n + x->layers_ahead[turn + 1] > x->most)
            continue;
        if (++x->visits > VISITS_MAX) return false;
        x->chosen[x->k->stages[turn]] = i;
        if (!last && !list_from(x, turn + 1, n, sum)) return false;
        if (last && choices_rank_fits(x->d->c, x->chosen, x->rank)) add_decision(x, n);
        if (x->to->count > DECISIONS_MAX) return false;
    }
    return true;
}

// Those with at most so many layers. false: they are too many.
static bool list_decisions(struct dynamic *d, int rank, int most)
{
    struct rank_table *k = &d->ranks[rank];
    struct rank_decisions list = {.most = most};
    struct listing x = {
        .d = d, .k = k, .rank = rank, .most = most, .chosen = k->chosen, .to = &list};
    for (int t = d->c->virtual_stages - 1; t >= 0; t--) {
        int64_t least = INT64_MAX;
        int layers = d->layers;
        for (int i = 0; i < stage_at(&x, t)->count; i++) {
            least = smaller(least, bytes_of(&x, t, i));
            layers = smaller_int(layers, stage_at(&x, t)->items[i].layer_count);
        }
        x.ahead[t] = x.ahead[t + 1] + (least < INT64_MAX ? least : 0);
        x.layers_ahead[t] = x.layers_ahead[t + 1] + layers;
    }
    if (!list_from(&x, 0, 0, 0)) return false;
    k->decisions = list;
    return true;
}

const int *dynamic_rank_decisions(struct dynamic *d, int rank, int most, int *count)
{
    struct rank_table *k = &d->ranks[rank];
    *count = 0;
    if (most >= k->too_many) return NULL;
    if (most > k->decisions.most && !list_decisions(d, rank, most)) {
        k->too_many = most;
        return NULL;
    }
    *count = k->decisions.count;
    return k->decisions.choices;
}

// NOT_REACHED: the box does not allow it.
static double decision_cost(const struct dynamic *d, const struct rank_table *k, int decision)
{
    int turns = d->c->virtual_stages;
    double cost = 0;
    for (int t = 0; t < turns; t++) {
        double step = d->stages[k->stages[t]].cost[k->decisions.choices[decision * turns + t]];
        if (step >= NOT_REACHED) return NOT_REACHED;
        cost += step;
    }
    return cost;
}

bool rank_use_decisions(struct dynamic *d, int rank)
{
    struct rank_table *k = &d->ranks[rank];
    int count;
    dynamic_rank_decisions(d, rank, k->most, &count);
    if (k->most >= k->too_many) return false;
    for (int n = 0; n < d->row; n++) k->cost[n] = NOT_REACHED;
    for (int i = 0; i < k->decisions.count; i++) {
        int n = k->decisions.layers[i];
        if (n < k->least || n > k->most) continue;
        double cost = decision_cost(d, k, i);
        if (cost < k->cost[n]) k->cost[n] = cost, k->by[n] = i;
    }
    return k->by_decisions = true;
}

void rank_bound_decisions(const struct dynamic *d, int rank, const double *others,
                          wide priced_limits, int64_t *const *through_ns)
{
    const struct rank_table *k = &d->ranks[rank];
    int turns = d->c->virtual_stages;
    for (int t = 0; t < turns; t++)
        for (int j = 0; j < d->stages[k->stages[t]].active_count; j++)
            through_ns[k->stages[t]][d->stages[k->stages[t]].active[j]] = DYNAMIC_NOTHING;
    for (int i = 0; i < k->decisions.count; i++) {
        int n = k->decisions.layers[i];
        if (n < k->least || n > k->most || others[n] >= NOT_REACHED) continue;
        double cost = decision_cost(d, k, i);
        if (cost >= NOT_REACHED) continue;
        int64_t ns = dynamic_cost_to_ns(d, cost + others[n], priced_limits);
        for (int t = 0; t < turns; t++) {
            int64_t *to = &through_ns[k->stages[t]][k->decisions.choices[i * turns + t]];
            *to = ns < *to ? ns : *to;
        }
    }
}
