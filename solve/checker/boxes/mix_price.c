// The costs of a round: for every choice and boundary of a box the sum of coefficient x duration
// and of the prices, in one unit in which all sums stay below 2^58, rounded down.
#include "solve/checker/boxes/internal.h"
#include "solve/checker/layout/plan.h"

// Both in 2^-40 ns.
static wide choice_value(const struct check_problem *p, int s, const struct check_choice *c,
                         const struct check_round *round)
{
    const int64_t *w = round->coefficients;
    wide value = (wide)w[check_symbol(p, KIND_WEIGHT, s, 0)] * c->weight +
                 (wide)w[check_symbol(p, KIND_SYNC, s, 0)] * c->sync +
                 (wide)w[check_symbol(p, KIND_QUEUED_SYNC, s, 0)] * c->queued_sync +
                 (wide)w[check_symbol(p, KIND_OPTIMIZER, s, 0)] * c->optimizer +
                 (wide)w[check_symbol(p, KIND_AWAY, s, 0)] * c->rest +
                 (wide)w[check_symbol(p, KIND_BACK, s, 0)] * c->start;
    for (int slice = 0; slice < p->slices; slice++)
        value += (wide)w[check_symbol(p, KIND_FORWARD, s, slice)] * c->forward[slice] +
                 (wide)w[check_symbol(p, KIND_BACKWARD, s, slice)] * c->backward[slice];
    for (int r = 0; r < check_resource_count(p); r++)
        if (round->prices[r])
            value += ((wide)round->prices[r] << (WEIGHT_SHIFT - PRICE_SHIFT)) *
                     check_use(p, s, r, c);
    return value;
}

static wide boundary_value(const struct check_problem *p, int boundary,
                           const struct check_choice *from, const struct check_choice *to,
                           const struct check_round *round)
{
    wide value = 0;
    if (!check_is_joined(p, boundary, from->group, from->cut, to->group)) return -1;
    for (int slice = 0; slice < p->slices; slice++)
        for (int kind = KIND_SEND_FORWARD;
             kind < (slice ? KIND_SEND_EPILOGUE : KIND_EMBEDDING_SYNC); kind++) {
            int64_t w = round->coefficients[check_symbol(p, kind, boundary, slice)];
            if (w) value += (wide)w * check_transfer_ns(p, boundary, kind, slice, from, to);
        }
    return value;
}

// The least embedding sync for a last stage on this group, over the possible groups of the first
// stage; -1: none is joined.
static int64_t least_embedding(const struct check_mixer *m, const struct check_box *box,
                               int last_group)
{
    const struct check_problem *p = m->p;
    int64_t least = -1;
    for (int i = 0; i < box->count[0]; i++) {
        int64_t ns =
            p->embedding[m->c->items[0][box->left[0][i]].group * p->group_count + last_group];
        if (ns >= 0 && (least < 0 || ns < least)) least = ns;
    }
    return least;
}

// ---- memory of ranks, stage by stage

// What a choice of a stage adds to the price of its rank's bytes.
static wide memory_value(const struct check_mixer *m, int s, const struct check_choice *c,
                         const struct check_round *round)
{
    int rank = check_rank_of(m->p, s), turns = m->p->turns;
    wide value = 0;
    for (int i = 0; i < round->memory_count; i++) {
        const struct check_memory_price *price = &round->memory[i];
        if (price->rank != rank) continue;
        const int *held = m->c->g->peaks[rank].held + price->moment * turns;
        for (int turn = 0; turn < turns; turn++)
            if (check_stage_of(m->p, rank, turn) == s)
                value += (wide)price->price * (c->resident + held[turn] * c->stash +
                                               (turn == price->turn ? c->working : 0));
    }
    return value;
}

// The most that a rank may hold on any usable group.
static int64_t greatest_room(const struct check_problem *p)
{
    int64_t most = 0;
    for (int g = 0; g < p->group_count; g++) {
        int64_t room = p->groups[g].memory_limit - p->groups[g].constant_bytes;
        if (!p->groups[g].excluded && p->groups[g].slots > 0 && room > most) most = room;
    }
    return most;
}

// ---- layers of a kind on a rank

// What a choice of a stage adds, never less than 0: for a price below the least, what each of its
// rank's stages has less of the kind than all of the model's layers.
static wide layers_value(const struct check_mixer *m, int s, const struct check_choice *c,
                         const struct check_round *round)
{
    wide value = 0, unit = (wide)1 << (WEIGHT_SHIFT - PRICE_SHIFT);
    for (int i = 0; i < round->layer_price_count; i++) {
        const struct check_layer_price *x = &round->layers[i];
        if (x->rank != check_rank_of(m->p, s)) continue;
        int layers = check_layers_of(m->c, s, c, x->kind);
        value += x->price > 0 ? x->price * unit * layers
                              : -x->price * unit * (m->p->layers - layers);
    }
    return value;
}

// What these sums are at most in a plan of the box.
static wide layers_limit(const struct check_mixer *m, const struct check_box *box,
                         const struct check_layer_price *x)
{
    const struct check_span *span = &box->spans[(x->kind + 1) * m->p->ranks + x->rank];
    wide unit = (wide)1 << (WEIGHT_SHIFT - PRICE_SHIFT);
    return x->price > 0 ? x->price * unit * span->most
                        : -x->price * unit * (m->p->turns * m->p->layers - span->least);
}

static bool prices_memory(const struct check_round *round)
{
    return round->memory_count && !round->by_ranks; // by ranks: mix_ranks.c
}

static wide larger(wide a, wide b) { return a > b ? a : b; }

// Values of the allowed choices of a stage, -1: impossible. Returns the greatest.
static wide value_choices(const struct check_mixer *m, const struct check_box *box,
                          const struct check_round *round, int s, wide *values)
{
    const struct check_problem *p = m->p;
    bool ends = p->embedding && s == p->stages - 1;
    wide most = 0;
    for (int i = 0; i < box->count[s]; i++) {
        const struct check_choice *c = &m->c->items[s][box->left[s][i]];
        int64_t embedding = ends ? least_embedding(m, box, c->group) : 0;
        values[i] = choice_value(p, s, c, round);
        if (ends)
            values[i] += (wide)round->coefficients[check_symbol(p, KIND_EMBEDDING_SYNC, 0, 0)] *
                         embedding;
        if (prices_memory(round)) values[i] += memory_value(m, s, c, round);
        values[i] += layers_value(m, s, c, round);
        if (embedding < 0) values[i] = -1;
        most = larger(most, values[i]);
    }
    return most;
}

static wide value_boundaries(const struct check_mixer *m, const struct check_round *round, int s,
                             wide *values)
{
    const struct mix_stage *before = &m->stages[s - 1], *t = &m->stages[s];
    wide most = 0;
    for (int l = 0; l < before->left_count; l++)
        for (int r = 0; r < t->right_count; r++) {
            wide *value = &values[l * t->right_count + r];
            *value = boundary_value(m->p, s - 1, &m->c->items[s - 1][before->left[l].choice],
                                    &m->c->items[s][t->right[r].choice], round);
            most = larger(most, *value);
        }
    return most;
}

static int64_t scaled(const struct check_mixer *m, wide value)
{
    return value < 0 ? UNREACHED : (int64_t)(value >> m->shift);
}

enum status mix_price(struct check_mixer *m, const struct check_box *box,
                      const struct check_round *round)
{
    const struct check_problem *p = m->p;
    wide **choices = TAKE(m->arena, p->stages, wide *),
         **boundaries = TAKE(m->arena, p->stages, wide *), most = 0;
    for (int s = 0; s < p->stages; s++) {
        int pairs = s ? m->stages[s - 1].left_count * m->stages[s].right_count : 0;
        TRY(check_spend(p, m->c->work,
                        (uint64_t)(box->count[s] + pairs) * (uint64_t)(4 + 16 * p->slices)));
        if (prices_memory(round))
            TRY(check_spend(p, m->c->work,
                            (uint64_t)box->count[s] * (uint64_t)(round->memory_count + p->turns)));
        TRY(check_spend(p, m->c->work,
                        (uint64_t)box->count[s] * (uint64_t)round->layer_price_count));
        choices[s] = TAKE(m->arena, box->count[s], wide);
        boundaries[s] = TAKE(m->arena, pairs, wide);
        most += value_choices(m, box, round, s, choices[s]);
        if (s > 0) most += value_boundaries(m, round, s, boundaries[s]);
    }
    m->shift = 0;
    while (most >> m->shift >= (wide)1 << COST_BITS) m->shift++;
    m->priced_limits = 0;
    for (int r = 0; r < check_resource_count(p); r++) {
        // Prices of stages and slots are below 2^59, of costs 2^50.
        int64_t limit = check_resource_limit(p, r), beyond = check_most_use(p, r);
        if (round->prices[r])
            m->priced_limits += ((wide)round->prices[r] << (WEIGHT_SHIFT - PRICE_SHIFT)) *
                                (limit < beyond ? limit : beyond);
    }
    for (int i = 0; i < round->memory_count && prices_memory(round); i++)
        m->priced_limits += (wide)round->memory[i].price * greatest_room(p);
    for (int i = 0; i < round->layer_price_count; i++)
        m->priced_limits += layers_limit(m, box, &round->layers[i]);
    for (int s = 0; s < p->stages; s++) {
        int pairs = s ? m->stages[s - 1].left_count * m->stages[s].right_count : 0;
        m->stages[s].cost = TAKE(m->arena, box->count[s], int64_t);
        m->stages[s].boundary = TAKE(m->arena, pairs, int64_t);
        for (int i = 0; i < box->count[s]; i++) m->stages[s].cost[i] = scaled(m, choices[s][i]);
        for (int i = 0; i < pairs; i++) m->stages[s].boundary[i] = scaled(m, boundaries[s][i]);
    }
    return OK;
}
