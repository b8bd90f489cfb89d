// See certificate.h. A price is the cost of needing a byte less: from the cheapest choice of a
// stage with so many layers to those that need less.
#include "solve/certificate/certificate.h"

#include <stdlib.h>

#include "data/numbers/intervals.h"

enum { TRIES_MOST = 16, SLOPES_MOST = 4096 };
#define PRICE_MOST 1e17

struct search {
    const struct check_choices *c;
    const struct check_problem *p;
    const struct check_box *box;
    const struct check_round *round;
    struct check_memory_price at; // the rank, its fullest moment and the turn running then
    double *slopes, whole;        // whole: approximate cost of the rank
    int slope_count;
    struct arena *arena;
};

static const struct check_choice *choice_at(const struct search *x, int stage, int i)
{
    return &x->c->items[stage][x->box->left[stage][i]];
}

// In 2^-40 ns. Transfers with the previous stages are those of the first choice in the box there.
static double cost_of(const struct search *x, int s, const struct check_choice *c)
{
    const struct check_problem *p = x->p;
    const int64_t *w = x->round->coefficients;
    double cost = (double)w[check_symbol(p, KIND_WEIGHT, s, 0)] * (double)c->weight +
                  (double)w[check_symbol(p, KIND_SYNC, s, 0)] * (double)c->sync +
                  (double)w[check_symbol(p, KIND_QUEUED_SYNC, s, 0)] * (double)c->queued_sync +
                  (double)w[check_symbol(p, KIND_OPTIMIZER, s, 0)] * (double)c->optimizer +
                  (double)w[check_symbol(p, KIND_AWAY, s, 0)] * (double)c->rest +
                  (double)w[check_symbol(p, KIND_BACK, s, 0)] * (double)c->start;
    for (int slice = 0; slice < p->slices; slice++) {
        cost += (double)w[check_symbol(p, KIND_FORWARD, s, slice)] * (double)c->forward[slice] +
                (double)w[check_symbol(p, KIND_BACKWARD, s, slice)] * (double)c->backward[slice];
        for (int kind = KIND_SEND_FORWARD; kind < KIND_EMBEDDING_SYNC && s > 0; kind++)
            if (w[check_symbol(p, kind, s - 1, slice)])
                cost += (double)w[check_symbol(p, kind, s - 1, slice)] *
                        (double)check_transfer_ns(p, s - 1, kind, slice, choice_at(x, s - 1, 0), c);
    }
    cost += (double)((wide)x->round->prices[p->group_count + BUDGET_COST] * c->cost << 20);
    cost += (double)((wide)x->round->prices[p->group_count + BUDGET_ENERGY] * c->energy << 20);
    if (c->boundary)
        cost += (double)((wide)x->round->prices[p->group_count + BUDGET_BOUNDARIES] << 20);
    if (p->gradient[c->gradient].amount)
        cost += (double)((wide)x->round->prices[p->group_count + BUDGET_STAGES] << 20);
    return cost;
}

static int64_t bytes_at(const struct search *x, int moment, int turn, const struct check_choice *c)
{
    return c->resident + x->c->g->peaks[x->at.rank].held[moment * x->p->turns + turn] * c->stash;
}

static int64_t bytes_of(const struct search *x, int turn, const struct check_choice *c)
{
    return bytes_at(x, x->at.moment, turn, c) + (turn == x->at.turn ? c->working : 0);
}

// The stage with the greatest minimum of working memory.
static int find_working_turn(const struct search *x)
{
    int64_t most = -1;
    int at = 0;
    for (int turn = 0; turn < x->p->turns; turn++) {
        int stage = check_stage_of(x->p, x->at.rank, turn);
        int64_t least = INT64_MAX;
        for (int i = 0; i < x->box->count[stage]; i++)
            if (choice_at(x, stage, i)->working < least) least = choice_at(x, stage, i)->working;
        if (least > most) most = least, at = turn;
    }
    return at;
}

// The moment at which the largest choices of the box need most. false: they fit.
static bool find_moment(struct search *x, int64_t limit)
{
    int64_t most = limit;
    for (int q = 0; q < x->c->g->peaks[x->at.rank].count; q++) {
        int64_t sum = 0, working = 0;
        for (int turn = 0; turn < x->p->turns; turn++) {
            int stage = check_stage_of(x->p, x->at.rank, turn);
            int64_t largest = 0;
            for (int i = 0; i < x->box->count[stage]; i++) {
                const struct check_choice *c = choice_at(x, stage, i);
                int64_t bytes = bytes_at(x, q, turn, c);
                if (bytes > largest) largest = bytes;
                if (c->working > working) working = c->working;
            }
            sum += largest;
        }
        if (sum + working <= most) continue;
        most = sum + working;
        x->at.moment = q;
    }
    x->at.turn = find_working_turn(x);
    return most > limit;
}

// For each number of layers of one stage, from its cheapest choice; among choices of equal cost,
// the one that needs least.
static void add_slopes(struct search *x, int turn)
{
    int stage = check_stage_of(x->p, x->at.rank, turn), count = x->box->count[stage];
    double *costs = TAKE(x->arena, count, double), least = 0, most = 0;
    int *cheapest = TAKE(x->arena, x->p->layers + 1, int); // 1 + index in the box
    for (int i = 0; i < count; i++) {
        const struct check_choice *c = choice_at(x, stage, i);
        int *best = &cheapest[c->layers];
        costs[i] = cost_of(x, stage, c);
        if (!i || costs[i] < least) least = costs[i];
        if (!i || costs[i] > most) most = costs[i];
        if (!*best || costs[i] < costs[*best - 1] ||
            (costs[i] <= costs[*best - 1] &&
             bytes_of(x, turn, c) < bytes_of(x, turn, choice_at(x, stage, *best - 1))))
            *best = i + 1;
    }
    x->whole += (least + most) / 2;
    for (int i = 0; i < count && x->slope_count < SLOPES_MOST; i++) {
        const struct check_choice *c = choice_at(x, stage, i);
        int best = cheapest[c->layers] - 1;
        assert(best >= 0 && costs[best] <= costs[i]);
        int64_t saved = bytes_of(x, turn, choice_at(x, stage, best)) - bytes_of(x, turn, c);
        if (saved > 0) x->slopes[x->slope_count++] = (costs[i] - costs[best]) / (double)saved + 1;
    }
}

// Picks distinct slopes at even distances; returns how many.
static int choose_slopes(struct search *x, int64_t limit, double *to)
{
    int distinct = 0;
    x->slope_count = 0;
    x->whole = 0;
    for (int turn = 0; turn < x->p->turns; turn++) add_slopes(x, turn);
    // Shares of the rank's cost, which help where only other numbers of layers do.
    for (int i = 0; i < 3; i++)
        x->slopes[x->slope_count++] = x->whole / (double)(4 << 4 * i) / (double)limit + 1;
    qsort(x->slopes, (size_t)x->slope_count, sizeof *x->slopes, compare_numbers);
    for (int i = 0; i < x->slope_count; i++)
        if (x->slopes[i] < PRICE_MOST &&
            (!distinct || x->slopes[i] > x->slopes[distinct - 1] * (1 + 1.0 / 64)))
            x->slopes[distinct++] = x->slopes[i];
    int used = distinct < TRIES_MOST ? distinct : TRIES_MOST;
    for (int i = 0; i < used; i++)
        to[i] = x->slopes[used > 1 ? i * (distinct - 1) / (used - 1) : 0];
    if (used) to[used] = 8 * x->slopes[distinct - 1]; // greater than all of them
    return used ? used + 1 : 0;
}

int memory_price(struct check_memory_price **prices, const struct check_choices *choices,
                 const struct check_box *box, const struct check_round *round, struct arena *arena)
{
    const struct check_problem *p = choices->p;
    struct search x = {.c = choices, .p = p, .box = box, .round = round, .arena = arena};
    int count = 0;
    *prices = TAKE(arena, p->ranks * (TRIES_MOST + 2), struct check_memory_price);
    x.slopes = TAKE(arena, SLOPES_MOST + 3, double);
    for (int rank = 0; rank < p->ranks; rank++) {
        assert(box->count[0] > 0);
        const struct check_group *group = &p->groups[choice_at(&x, 0, 0)->group];
        int64_t limit = group->memory_limit - group->constant_bytes;
        double slopes[TRIES_MOST + 1];
        x.at = (struct check_memory_price){.rank = rank};
        if (!find_moment(&x, limit)) continue;
        (*prices)[count++] = x.at;
        int slope_count = choose_slopes(&x, limit > 0 ? limit : 1, slopes);
        for (int i = 0; i < slope_count; i++) {
            (*prices)[count] = x.at;
            (*prices)[count++].price = (int64_t)slopes[i];
        }
    }
    return count;
}
