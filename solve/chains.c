// Chains: value, search by chance, and the frame of the proof (chains_exact.c, chains_bound.c).
#include "solve/chains.h"

#include <math.h>
#include <string.h>

#include "data/random.h"
#include "solve/chains_parts.h"

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

int64_t chains_hop(const struct chains *c, int position, int from, int to)
{
    return c->hop[((size_t)position * (size_t)c->node_count + (size_t)from) * (size_t)c->node_count + (size_t)to];
}

static int64_t chain_value(const struct chains *c, const int *chain)
{
    int64_t sum = 0;
    for (int position = 0; position + 1 < c->length; position++) sum += chains_hop(c, position, chain[position], chain[position + 1]);
    return sum;
}

static int64_t ring_value(const struct chains *c, const int *order)
{
    int64_t dearest = 0;
    for (int chain = 0; chain < c->chain_count && chains_have_ring(c); chain++) {
        int next = (chain + 1) % c->chain_count;
        dearest = larger(dearest, c->ring[order[chain * c->length] * c->node_count + order[next * c->length]]);
    }
    return dearest;
}

int64_t chains_value(const struct chains *c, const int *order)
{
    int64_t dearest = 0;
    for (int chain = 0; chain < c->chain_count; chain++) dearest = larger(dearest, chain_value(c, order + chain * c->length));
    return dearest + ring_value(c, order);
}

// ---- search by chance: swaps, reversals and moves of a node, accepted while the temperature falls

static void swap(int *order, int a, int b)
{
    int kept = order[a];
    order[a] = order[b];
    order[b] = kept;
}

static void reverse(int *order, int a, int b)
{
    for (; a < b; a++, b--) swap(order, a, b);
}

// The node at `a` goes to `b`, what stands between moves up.
static void insert(int *order, int a, int b)
{
    int node = order[a];
    if (a < b) memmove(order + a, order + a + 1, (size_t)(b - a) * sizeof *order);
    else memmove(order + b + 1, order + b, (size_t)(a - b) * sizeof *order);
    order[b] = node;
}

static void move_at_random(int *order, int node_count, uint64_t *state)
{
    int a = random_below(state, node_count), b = random_below(state, node_count), kind = random_below(state, 4);
    if (kind < 2) swap(order, a, b);
    else if (kind == 2) reverse(order, a < b ? a : b, a < b ? b : a);
    else insert(order, a, b);
}

static void shuffle(int *order, int count, uint64_t *state)
{
    for (int i = count - 1; i > 0; i--) swap(order, i, random_below(state, i + 1));
}

static const double first_temperature = 0.03, last_temperature = 1e-5;      // of the value

// order[] becomes the best that was seen, and its value is returned.
static int64_t anneal(const struct chains *c, int *order, int moves, uint64_t *state, struct arena *arena)
{
    int n = c->node_count;
    size_t size = (size_t)n * sizeof *order;
    int *now = TAKE(arena, n, int), *next = TAKE(arena, n, int);
    memcpy(now, order, size);
    int64_t value = chains_value(c, now), best = value;
    double cooling = exp(log(last_temperature / first_temperature) / (moves > 1 ? moves : 1));
    double temperature = first_temperature * (double)value;
    for (int i = 0; i < moves; i++, temperature *= cooling) {
        memcpy(next, now, size);
        move_at_random(next, n, state);
        int64_t moved = chains_value(c, next);
        double chance = (random_below(state, 1 << 30) + 0.5) / (1 << 30);
        if (moved > value && chance >= exp((double)(value - moved) / temperature)) continue;
        memcpy(now, next, size);
        value = moved;
        if (value >= best) continue;
        best = value;
        memcpy(order, now, size);
    }
    return best;
}

static void search_by_chance(struct chains_result *r, const struct chains *c, const struct chains_settings *settings, struct arena *arena)
{
    uint64_t state = settings->seed;
    int *order = TAKE(arena, c->node_count, int), *best = TAKE(arena, c->node_count, int);
    for (int i = 0; i < c->node_count; i++) order[i] = best[i] = i;
    r->value = chains_value(c, best);
    for (int start = 0; start < settings->starts; start++) {
        struct arena_mark mark = arena_set_mark(arena);
        if (start) shuffle(order, c->node_count, &state);
        int64_t value = anneal(c, order, settings->moves, &state, arena);
        arena_reset(arena, mark);
        r->effort.moves += settings->moves;
        if (value >= r->value) continue;
        r->value = value;
        memcpy(best, order, (size_t)c->node_count * sizeof *best);
    }
    memcpy(r->order, best, (size_t)(c->chain_count * c->length) * sizeof *best);
}

void chains_solve(struct chains_result *r, const struct chains *c, const struct chains_settings *settings, struct arena *arena)
{
    *r = (struct chains_result){.order = TAKE(arena, c->chain_count * c->length, int)};
    search_by_chance(r, c, settings, arena);
    if (c->node_count <= CHAINS_EXACT_MAX) {
        chains_prove(r, c, arena);
    } else {
        r->bound = chains_bound(c, arena);
        chains_close_ring(c, r->order, arena);
        r->value = chains_value(c, r->order);
    }
}
