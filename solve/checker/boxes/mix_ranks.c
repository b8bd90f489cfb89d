// A round by ranks, for ranks with several stages. Where a box allows one node group and all its
// boundaries look alike, the layers only need to add up, and the stages can be taken rank by rank:
// how many layers a rank holds is then a number of the table. It can be bounded (spans), and the
// memory of the rank can be priced: at one moment of the schedule, with the working memory of one
// stage, its bytes are a sum over its stages and within the limit for every plan, so that price x
// (bytes - limit) may be added for any price >= 0. The checker tries some prices of its own choice;
// the greatest cost that one of them gives counts, for each number of layers by itself.
#include <stdlib.h>
#include <string.h>

#include "solve/checker/boxes/internal.h"

enum { TRIES_MOST = 18 };

struct
try {
    int64_t price,
        charge;     // of a byte, of 2^-byte_shift of the cost's unit; price x limit, rounded up
    int64_t *least; // [turn * row + layers]: of the choices with so many layers
    int64_t *before, *behind; // likewise: of all stages before the turn; from the turn on
};

struct rank {
    int *stages;              // by turn
    struct check_span *turns; // [turn], layers
    struct check_span span;
    struct try tries[TRIES_MOST];
    int try_count;
    const int *held;  // micro-batches at the moment that counts, by turn
    int working_turn; // whose working memory counts
    int64_t limit;    // bytes
    int byte_shift;   // so many bits that no price of use passes 2^62
    int64_t *bytes;   // [layers]: the least
    int64_t *cost, *ahead,
        *after; // [layers]: of this rank; least of the ranks before it; behind it
};

struct walk {
    struct check_mixer *m;
    struct check_box *box;
    const struct check_problem *p;
    int row; // layers + 1
    int group;
    struct rank *ranks;
};

static int64_t *take_row(const struct walk *w, int rows)
{
    size_t count = (size_t)rows * (size_t)w->row;
    int64_t *row = TAKE(w->m->arena, count, int64_t);
    for (size_t i = 0; i < count; i++) row[i] = UNREACHED;
    return row;
}

static const struct check_choice *choice_at(const struct walk *w, int stage, int i)
{
    return &w->m->c->items[stage][w->box->left[stage][i]];
}

static int64_t cost_at(const struct walk *w, int stage, int i)
{
    return w->m->stages[stage].cost[i];
}

// ---- whether the box allows it; what a receiver's option makes of the boundary before it belongs
// to its choice

static enum status fold_boundaries(struct walk *w)
{
    const struct check_problem *p = w->p;
    bool alike = w->m->c->free_places;
    w->group = choice_at(w, 0, 0)->group;
    for (int s = 0; s < p->stages; s++) {
        struct mix_stage *t = &w->m->stages[s];
        int before = s ? w->m->stages[s - 1].left_of[w->box->left[s - 1][0]] : 0;
        for (int i = 0; i < w->box->count[s]; i++) {
            int number = w->box->left[s][i];
            alike = alike && choice_at(w, s, i)->group == w->group &&
                    (s == p->stages - 1 || t->left_of[number] == t->left_of[w->box->left[s][0]]);
        }
        for (int i = 0; i < w->box->count[s] && s > 0; i++) {
            int64_t boundary =
                t->boundary[before * t->right_count + t->right_of[w->box->left[s][i]]];
            t->cost[i] = t->cost[i] >= UNREACHED || boundary >= UNREACHED ? UNREACHED
                                                                          : t->cost[i] + boundary;
        }
    }
    return alike ? OK
                 : fail(p->reader.err, (enum status)NOT_PROVEN,
                        "a round by ranks, where groups or boundaries differ");
}

// ---- spans

static bool find_turns(struct walk *w, int r)
{
    struct rank *k = &w->ranks[r];
    int least = 0, most = 0;
    k->stages = TAKE(w->m->arena, w->p->turns, int);
    k->turns = TAKE(w->m->arena, w->p->turns, struct check_span);
    for (int t = 0; t < w->p->turns; t++) {
        int stage = k->stages[t] = check_stage_of(w->p, r, t);
        struct check_span *turn = &k->turns[t];
        *turn = (struct check_span){w->row, 0};
        for (int i = 0; i < w->box->count[stage]; i++) {
            int n = choice_at(w, stage, i)->layers;
            if (cost_at(w, stage, i) >= UNREACHED) continue;
            if (n < turn->least) turn->least = n;
            if (n > turn->most) turn->most = n;
        }
        if (turn->least > turn->most) return false;
        least += turn->least;
        most += turn->most;
    }
    k->span = w->box->spans[r];
    if (k->span.least < least) k->span.least = least;
    if (k->span.most > most) k->span.most = most;
    return k->span.least <= k->span.most;
}

static bool find_spans(struct walk *w)
{
    int least = 0, most = 0;
    for (int r = 0; r < w->p->ranks; r++) {
        if (!find_turns(w, r)) return false;
        least += w->ranks[r].span.least;
        most += w->ranks[r].span.most;
    }
    for (int r = 0; r < w->p->ranks; r++) {
        struct check_span *span = &w->ranks[r].span;
        int others_least = least - span->least, others_most = most - span->most;
        if (span->most > w->p->layers - others_least) span->most = w->p->layers - others_least;
        if (span->least < w->p->layers - others_most) span->least = w->p->layers - others_most;
        least = others_least + span->least;
        most = others_most + span->most;
        if (span->least > span->most) return false;
    }
    return least <= w->p->layers && most >= w->p->layers;
}

// ---- bytes

static int64_t bytes_of(const struct rank *k, int turn, const struct check_choice *c)
{
    return c->resident + k->held[turn] * c->stash + (turn == k->working_turn ? c->working : 0);
}

// The stage that cannot do without the most working memory.
static int find_working_turn(const struct walk *w, const struct rank *k)
{
    int64_t most = -1;
    int at = 0;
    for (int t = 0; t < w->p->turns; t++) {
        int64_t least = INT64_MAX;
        for (int i = 0; i < w->box->count[k->stages[t]]; i++)
            if (choice_at(w, k->stages[t], i)->working < least)
                least = choice_at(w, k->stages[t], i)->working;
        if (least > most) most = least, at = t;
    }
    return at;
}

// The moment at which the box's largest choices need most. false: they fit.
static bool can_overflow(const struct walk *w, int r)
{
    struct rank *k = &w->ranks[r];
    const struct check_peaks *peaks = &w->m->c->g->peaks[r];
    int64_t most = k->limit = w->p->groups[w->group].memory_limit -
                              w->p->groups[w->group].constant_bytes;
    k->held = NULL;
    for (int q = 0; q < peaks->count; q++) {
        int64_t sum = 0, working = 0;
        for (int t = 0; t < w->p->turns; t++) {
            int64_t largest = 0;
            for (int i = 0; i < w->box->count[k->stages[t]]; i++) {
                const struct check_choice *c = choice_at(w, k->stages[t], i);
                int64_t bytes = c->resident + peaks->held[q * w->p->turns + t] * c->stash;
                if (bytes > largest) largest = bytes;
                if (c->working > working) working = c->working;
            }
            sum += largest;
        }
        if (sum + working <= most) continue;
        most = sum + working;
        k->held = peaks->held + q * w->p->turns;
    }
    if (k->held) k->working_turn = find_working_turn(w, k);
    return k->held != NULL;
}

// ---- one rank under one price

static void convolve(const struct walk *w, int64_t *to, const int64_t *from, const int64_t *step,
                     struct check_span turn, int most)
{
    for (int n = 0; n < w->row; n++) to[n] = UNREACHED;
    for (int n = turn.least; n <= turn.most && n <= most; n++)
        if (step[n] < UNREACHED) mix_lower(to + n, from, step[n], most + 1 - n);
}

static int64_t priced_bytes(const struct walk *w, const struct rank *k, int64_t price, int turn,
                            const struct check_choice *c)
{
    wide most = ((wide)1 << COST_BITS) / w->p->stages,
         value = (wide)price * bytes_of(k, turn, c) >> k->byte_shift;
    return (int64_t)(value < most ? value : most); // less is a lower bound too
}

static void fill_try(struct walk *w, struct rank *k, struct try *j)
{
    int turns = w->p->turns, row = w->row, most = k->span.most;
    wide unit = (wide)1 << k->byte_shift;
    j->charge = j->price ? (int64_t)(((wide)j->price * k->limit + unit - 1) / unit) : 0;
    j->least = take_row(w, turns);
    j->before = take_row(w, turns + 1);
    j->behind = take_row(w, turns + 1);
    for (int t = 0; t < turns; t++)
        for (int i = 0; i < w->box->count[k->stages[t]]; i++) {
            const struct check_choice *c = choice_at(w, k->stages[t], i);
            int64_t cost = cost_at(w, k->stages[t], i), *least = &j->least[t * row + c->layers];
            if (cost >= UNREACHED) continue;
            if (j->price) cost += priced_bytes(w, k, j->price, t, c);
            if (cost < *least) *least = cost;
        }
    j->before[0] = j->behind[turns * row] = 0;
    for (int t = 0; t < turns; t++)
        convolve(w, j->before + (t + 1) * row, j->before + t * row, j->least + t * row, k->turns[t],
                 most);
    for (int t = turns - 1; t >= 0; t--)
        convolve(w, j->behind + t * row, j->behind + (t + 1) * row, j->least + t * row, k->turns[t],
                 most);
}

static void fill_bytes(struct walk *w, struct rank *k)
{
    int64_t *step = take_row(w, 1), *sum = take_row(w, 1), *next = take_row(w, 1);
    sum[0] = 0;
    for (int t = 0; t < w->p->turns; t++) {
        for (int n = 0; n < w->row; n++) step[n] = UNREACHED;
        for (int i = 0; i < w->box->count[k->stages[t]]; i++) {
            const struct check_choice *c = choice_at(w, k->stages[t], i);
            int64_t bytes = bytes_of(k, t, c);
            if (cost_at(w, k->stages[t], i) < UNREACHED && bytes < step[c->layers])
                step[c->layers] = bytes;
        }
        convolve(w, next, sum, step, k->turns[t], k->span.most);
        int64_t *swapped = sum;
        sum = next;
        next = swapped;
    }
    k->bytes = sum;
}

// ---- prices: what a byte less costs, from the cheapest choice of a stage with so many layers to
// those that need less

static int compare_prices(const void *one, const void *other)
{
    int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return (a > b) - (a < b);
}

enum { SLOPES_MOST = 4096 };
#define PRICE_MOST ((int64_t)1 << 62)

static int find_slopes(const struct walk *w, const struct rank *k, int64_t *slopes)
{
    int count = 0;
    for (int t = 0; t < w->p->turns; t++) {
        int stage = k->stages[t];
        int64_t *bytes = take_row(w, 1);
        for (int i = 0; i < w->box->count[stage]; i++) {
            const struct check_choice *c = choice_at(w, stage, i);
            if (cost_at(w, stage, i) == k->tries[0].least[t * w->row + c->layers] &&
                bytes_of(k, t, c) < bytes[c->layers])
                bytes[c->layers] = bytes_of(k, t, c);
        }
        for (int i = 0; i < w->box->count[stage] && count < SLOPES_MOST; i++) {
            const struct check_choice *c = choice_at(w, stage, i);
            int64_t saved = bytes[c->layers] - bytes_of(k, t, c),
                    dearer = cost_at(w, stage, i) - k->tries[0].least[t * w->row + c->layers];
            if (cost_at(w, stage, i) < UNREACHED && saved > 0) {
                wide slope = ((wide)dearer << k->byte_shift) / saved + 1;
                if (slope < PRICE_MOST) slopes[count++] = (int64_t)slope;
            }
        }
    }
    return count;
}

static void choose_prices(struct walk *w, struct rank *k)
{
    int64_t *slopes = TAKE(w->m->arena, SLOPES_MOST + 4, int64_t),
            room = k->limit > 0 ? k->limit : 1, beyond;
    while (room >> k->byte_shift) k->byte_shift++;
    k->byte_shift += 4;
    beyond = (int64_t)(((wide)1 << (COST_BITS - 1 + k->byte_shift)) /
                       (room + 1)); // charges stay below 2^57, prices below 2^62
    int count = find_slopes(w, k, slopes), distinct = 0;
    // Shares of what the rank costs: they tell where only other numbers of layers help.
    int64_t whole = k->tries[0].before[w->p->turns * w->row + (k->span.least + k->span.most) / 2];
    for (int i = 0; i < 3 && whole < UNREACHED; i++) {
        wide price = ((wide)whole << k->byte_shift >> (2 + 4 * i)) / room + 1;
        if (price < beyond) slopes[count++] = (int64_t)price;
    }
    qsort(slopes, (size_t)count, sizeof *slopes, compare_prices);
    for (int i = 0; i < count; i++)
        if (slopes[i] < beyond &&
            (!distinct || slopes[i] > slopes[distinct - 1] + slopes[distinct - 1] / 64))
            slopes[distinct++] = slopes[i];
    int used = distinct < TRIES_MOST - 2 ? distinct : TRIES_MOST - 2;
    for (int i = 0; i < used; i++)
        k->tries[k->try_count++].price = slopes[used > 1 ? i * (distinct - 1) / (used - 1) : 0];
    if (used && (wide)8 * slopes[distinct - 1] < beyond)
        k->tries[k->try_count++].price = 8 * slopes[distinct - 1];
}

static void open_rank(struct walk *w, int r)
{
    struct rank *k = &w->ranks[r];
    k->try_count = 1;
    fill_try(w, k, &k->tries[0]);
    if (can_overflow(w, r)) {
        fill_bytes(w, k);
        choose_prices(w, k);
        for (int j = 1; j < k->try_count; j++) fill_try(w, k, &k->tries[j]);
    }
    k->cost = take_row(w, 1);
    for (int n = k->span.least; n <= k->span.most; n++) {
        int64_t plain = k->tries[0].before[w->p->turns * w->row + n];
        if (plain >= UNREACHED || (k->held && k->bytes[n] > k->limit)) continue;
        k->cost[n] = plain;
        for (int j = 1; j < k->try_count; j++) {
            int64_t cost = k->tries[j].before[w->p->turns * w->row + n] - k->tries[j].charge;
            if (cost > k->cost[n]) k->cost[n] = cost;
        }
    }
}

// ---- all ranks

static void join_ranks(struct walk *w)
{
    int last = w->p->ranks - 1;
    for (int r = 0; r <= last; r++) {
        w->ranks[r].ahead = take_row(w, 1);
        w->ranks[r].after = take_row(w, 1);
    }
    w->ranks[0].ahead[0] = w->ranks[last].after[0] = 0;
    for (int r = 0; r < last; r++)
        convolve(w, w->ranks[r + 1].ahead, w->ranks[r].ahead, w->ranks[r].cost, w->ranks[r].span,
                 w->p->layers);
    for (int r = last; r > 0; r--)
        convolve(w, w->ranks[r - 1].after, w->ranks[r].after, w->ranks[r].cost, w->ranks[r].span,
                 w->p->layers);
}

// others[n]: the least of all other ranks where this one holds n layers.
static void find_others(const struct walk *w, const struct rank *k, int64_t *others)
{
    for (int n = k->span.least; n <= k->span.most; n++) {
        others[n] = UNREACHED;
        for (int before = 0; before <= w->p->layers - n; before++) {
            int64_t cost = k->ahead[before] + k->after[w->p->layers - n - before];
            if (cost < others[n]) others[n] = cost;
        }
    }
}

// rest[n]: the least of the other ranks and, under one price, the rank's other stages, where the
// stage of `turn` holds n.
static void find_rest(const struct walk *w, const struct rank *k, const struct try *j, int turn,
                      const int64_t *others, int64_t *rest)
{
    int64_t *without = take_row(w, 1);
    const int64_t *before = j->before + turn * w->row, *behind = j->behind + (turn + 1) * w->row;
    for (int n = 0; n <= k->span.most; n++)
        if (behind[n] < UNREACHED) mix_lower(without + n, before, behind[n], k->span.most - n + 1);
    for (int n = k->turns[turn].least; n <= k->turns[turn].most; n++) {
        rest[n] = UNREACHED;
        for (int all = k->span.least > n ? k->span.least : n; all <= k->span.most; all++) {
            int64_t cost = k->cost[all] < UNREACHED ? others[all] + without[all - n] : UNREACHED;
            if (cost < rest[n]) rest[n] = cost;
        }
    }
}

// Keeps of one stage the choices that no price shows to cost more than `most`.
static void thin_stage(struct walk *w, struct rank *k, int turn, const int64_t *others,
                       int64_t most)
{
    int stage = k->stages[turn], kept = 0;
    bool *stays = TAKE(w->m->arena, w->box->count[stage], bool);
    int64_t *rest = take_row(w, 1);
    memset(stays, 1, (size_t)w->box->count[stage]);
    for (int j = 0; j < k->try_count; j++) {
        const struct try *try = &k->tries[j];
        find_rest(w, k, try, turn, others, rest);
        for (int i = 0; i < w->box->count[stage]; i++) {
            const struct check_choice *c = choice_at(w, stage, i);
            int64_t cost = cost_at(w, stage, i), other = rest[c->layers];
            if (cost < UNREACHED && other < UNREACHED)
                cost += other + (j ? priced_bytes(w, k, try->price, turn, c) - try->charge : 0);
            else cost = UNREACHED;
            stays[i] = stays[i] && cost <= most;
        }
    }
    // The costs stand beside the choices: both close up.
    for (int i = 0; i < w->box->count[stage]; i++)
        if (stays[i]) {
            w->m->stages[stage].cost[kept] = w->m->stages[stage].cost[i];
            w->box->left[stage][kept++] = w->box->left[stage][i];
        }
    w->box->count[stage] = kept;
}

static enum status spend_ranks(const struct walk *w)
{
    uint64_t row = (uint64_t)w->row, turns = (uint64_t)w->p->turns, sum = row * row;
    for (int r = 0; r < w->p->ranks; r++) {
        uint64_t most = (uint64_t)w->ranks[r].span.most + 1;
        sum += row * most + TRIES_MOST * turns * (3 * row + 4 * most * most);
        for (int t = 0; t < w->p->turns; t++)
            sum += (uint64_t)w->box->count[w->ranks[r].stages[t]] *
                   (TRIES_MOST + (uint64_t)w->m->c->g->peaks[r].count) * 4;
    }
    if ((uint64_t)w->p->ranks * TRIES_MOST * (3 * turns + 2) * row > CELLS_MOST)
        return fail(w->p->reader.err, (enum status)NOT_PROVEN,
                    "a box needs a larger table than is checked");
    return check_spend(w->p, w->m->c->work, sum);
}

enum status mix_use_ranks(struct check_mixer *m, struct check_box *box, int64_t most, bool *closed)
{
    struct walk w = {.m = m, .box = box, .p = m->p, .row = m->p->layers + 1};
    w.ranks = TAKE(m->arena, m->p->ranks, struct rank);
    TRY(fold_boundaries(&w));
    *closed = true;
    if (m->p->groups[w.group].slots < m->p->ranks || !find_spans(&w)) return OK;
    TRY(spend_ranks(&w));
    for (int r = 0; r < m->p->ranks; r++) open_rank(&w, r);
    join_ranks(&w);
    int64_t *others = take_row(&w, 1);
    for (int r = 0; r < m->p->ranks; r++) {
        struct rank *k = &w.ranks[r];
        find_others(&w, k, others);
        struct check_span span = {w.row, -1};
        for (int n = k->span.least; n <= k->span.most; n++)
            if (others[n] < UNREACHED && k->cost[n] < UNREACHED && others[n] + k->cost[n] <= most) {
                if (n < span.least) span.least = n;
                span.most = n;
            }
        box->spans[r] = span;
        if (span.most < 0) return OK;
        for (int t = 0; t < m->p->turns; t++) thin_stage(&w, k, t, others, most);
    }
    *closed = false;
    return OK;
}
