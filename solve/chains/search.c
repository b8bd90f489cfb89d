// Simulated annealing for a good order of nodes. Moves: exchanges of nodes and of parts of chains,
// near nodes brought together. Only the chains that a move touches are summed anew. The annealed
// value is the value plus a share of the mean link of the ring and a power mean of all chains
// besides the most expensive one, because that alone does not show how the others could help. Every
// other start begins with a cheap ring and keeps it cheap.
#include <assert.h>
#include <math.h>
#include <string.h>

#include "data/base/least.h"
#include "data/base/random.h"
#include "solve/chains/internal.h"

enum { PART_MAX = 8, NEAR = 8 };

static const double link_share = 0.25; // of the ring's mean link in the annealed value
static const double smooth_shares[] = {0.2, 0.2, 0.7}; // of the mean of powers, start by start
static const double first_temperature = 0.03,
                    last_temperature = 1e-5; // of typical costs of chains and rings

struct search {
    const struct chains *c;
    int n, k, length;
    int *now, *next;       // orders of all nodes, those in no chain last
    int *place;            // [node] its position in next[]
    int *near, near_count; // [node * near_count + i] cheapest nodes after it
    int64_t *chains, *chains_next;
    double energy;
    bool *touched;
    double smooth;    // share of the power mean in the annealed value, in addition to the most
                      // expensive chain
    int64_t ring_max; // moves to slower rings are rejected
    uint64_t state;
};

// ---- moves, on `next`; they mark the chains they touch

static void touch(struct search *s, int at)
{
    if (at / s->length < s->k) s->touched[at / s->length] = true;
}

static void swap(struct search *s, int a, int b)
{
    int kept = s->next[a];
    s->next[a] = s->next[b];
    s->next[b] = kept;
    s->place[kept] = b;
    s->place[s->next[a]] = a;
    touch(s, a);
    touch(s, b);
}

static void turn_part(struct search *s, int a, int b)
{
    for (; a < b; a++, b--) swap(s, a, b);
}

static int below(struct search *s, int bound) { return random_below(&s->state, bound); }

static void swap_nodes(struct search *s)
{
    int a = below(s, s->k * s->length);
    swap(s, a, below(s, s->n));
}

// Exchanges parts of equal length of two chains, sometimes all the rest from one position on;
// sometimes reversed.
static void swap_parts(struct search *s)
{
    int a = below(s, s->k), b = below(s, s->k),
        size = 1 + below(s, s->length < PART_MAX ? s->length : PART_MAX);
    int at = below(s, s->length), to = below(s, s->length), turned = below(s, 4);
    if (below(s, 3) == 0) {
        to = at;
        size = s->length - at;
    }
    if (at + size > s->length) at = s->length - size;
    if (to + size > s->length) to = s->length - size;
    if (a == b) return;
    for (int i = 0; i < size; i++) swap(s, a * s->length + at + i, b * s->length + to + i);
    if (turned & 1) turn_part(s, a * s->length + at, a * s->length + at + size - 1);
    if (turned & 2) turn_part(s, b * s->length + to, b * s->length + to + size - 1);
}

// Puts after a node one that is near it: instead of the one that was there, or with all that
// follows.
static void bring_near(struct search *s)
{
    int at = below(s, s->k) * s->length, place = below(s, s->length), behind = at + place + 1;
    if (place + 1 == s->length || !s->near_count) return;
    int from = s->place[s->near[s->next[at + place] * s->near_count + below(s, s->near_count)]],
        kind = below(s, 3), size = 1;
    int chain = from / s->length, left = s->length - place - 1;
    if (kind == 1 && chain < s->k && chain != at / s->length) { // as many as both have
        size = s->length - from % s->length;
        size = size < left ? size : left;
    }
    if (kind == 2 && from % s->length > 0 &&
        chain < s->k) { // put the node before the near one instead
        swap(s, at + place, from - 1);
        return;
    }
    for (int i = 0; i < size; i++) swap(s, behind + i, from + i);
}

static void move_at_random(struct search *s)
{
    int kind = below(s, 24);
    if (kind < 6) swap_nodes(s);
    else if (kind < 16) swap_parts(s);
    else bring_near(s);
}

// ---- values

// The eighth root of the mean of eighth powers: near the maximum, and every expensive chain counts.
static double power_mean(double sum, int count) { return sqrt(sqrt(sqrt(sum / count))); }

static double eighth_power(double x)
{
    double square = x * x, fourth = square * square;
    return fourth * fourth;
}

// The annealed value; *value as from chains_value.
static double sum_up(const struct search *s, const int *order, int64_t *chains, bool all,
                     int64_t *value)
{
    int64_t slowest = 0, ring = 0;
    double powers = 0, links = 0;
    for (int chain = 0; chain < s->k; chain++) {
        const int *nodes = order + chain * s->length;
        if (all || s->touched[chain]) chains[chain] = chain_value(s->c, nodes);
        slowest = larger(slowest, chains[chain]);
        powers += eighth_power((double)chains[chain]);
        if (!chains_have_ring(s->c)) continue;
        const int *following = chain + 1 < s->k ? nodes + s->length : order;
        int64_t link = s->c->ring[nodes[0] * s->n + following[0]];
        ring = larger(ring, link);
        links += (double)link;
    }
    *value = slowest + ring;
    if (ring > s->ring_max) return INFINITY;
    return (double)ring + link_share * links / s->k + (1 - s->smooth) * (double)slowest +
           s->smooth * power_mean(powers, s->k);
}

// Copies the touched chains, and the nodes in no chain, from one order to the other.
static void copy_touched(struct search *s, int *to, const int *from, int64_t *chains_to,
                         const int64_t *chains_from)
{
    for (int chain = 0; chain < s->k; chain++) {
        if (!s->touched[chain]) continue;
        memcpy(to + chain * s->length, from + chain * s->length, (size_t)s->length * sizeof *to);
        chains_to[chain] = chains_from[chain];
        for (int i = chain * s->length; i < (chain + 1) * s->length; i++) s->place[to[i]] = i;
    }
    for (int i = s->k * s->length; i < s->n; i++) {
        to[i] = from[i];
        s->place[to[i]] = i;
    }
}

// The mean cost of links, without those that join nothing.
static double mean_of(const int64_t *prices, size_t count)
{
    double sum = 0, joined = 0;
    for (size_t i = 0; i < count; i++)
        if (prices[i] < CHAIN_NONE) sum += (double)prices[i], joined++;
    return joined > 0 ? sum / joined : 0;
}

static double scale_of(const struct chains *c)
{
    size_t pairs = (size_t)c->node_count * (size_t)c->node_count;
    double scale =
        c->length > 1 ? mean_of(c->hop, (size_t)(c->length - 1) * pairs) * (c->length - 1) : 0;
    return scale + (chains_have_ring(c) ? mean_of(c->ring, pairs) : 0) + 1;
}

static bool is_over(const struct chains_settings *settings)
{
    return settings->should_stop && settings->should_stop(settings->stop_argument);
}

// Sets best[] to the best order seen if it is below *best_value.
static void anneal(struct search *s, const struct chains_settings *settings, int *best,
                   int64_t *best_value)
{
    enum { LOOK_UP_EVERY = 1024 };
    int64_t value;
    double temperature = first_temperature * scale_of(s->c),
           cooling = exp(log(last_temperature / first_temperature) /
                         (settings->moves > 1 ? settings->moves : 1));
    s->energy = sum_up(s, s->now, s->chains, true, &value);
    memcpy(s->next, s->now, (size_t)s->n * sizeof *s->next);
    for (int i = 0; i < s->n; i++) s->place[s->next[i]] = i;
    memcpy(s->chains_next, s->chains, (size_t)s->k * sizeof *s->chains);
    for (int moves = 0; moves < settings->moves; moves++, temperature *= cooling) {
        if (moves % LOOK_UP_EVERY == 0 && is_over(settings)) break;
        memset(s->touched, 0, (size_t)s->k * sizeof *s->touched);
        move_at_random(s);
        double energy = sum_up(s, s->next, s->chains_next, false, &value);
        double chance = ((double)below(s, 1 << 30) + 0.5) / (1 << 30);
        if (energy > s->energy && chance >= exp((s->energy - energy) / temperature)) {
            copy_touched(s, s->next, s->now, s->chains_next, s->chains);
            continue;
        }
        copy_touched(s, s->now, s->next, s->chains, s->chains_next);
        s->energy = energy;
        if (value >= *best_value) continue;
        *best_value = value;
        memcpy(best, s->now, (size_t)s->n * sizeof *best);
    }
}

static void shuffle(struct search *s)
{
    for (int i = s->n - 1; i > 0; i--) {
        int with = below(s, i + 1), kept = s->now[i];
        s->now[i] = s->now[with];
        s->now[with] = kept;
    }
}

static int64_t hop_sum(const struct chains *c, int from, int to)
{
    int64_t sum = 0;
    for (int position = 0; position + 1 < c->length; position++)
        sum += chains_hop(c, position, from, to) / c->length;
    return sum;
}

static void list_near(struct search *s, struct arena *arena)
{
    s->near_count = s->n - 1 < NEAR ? s->n - 1 : NEAR;
    s->near = TAKE(arena, s->n * s->near_count + 1, int);
    int64_t *sums = TAKE(arena, s->n, int64_t);
    for (int a = 0; a < s->n; a++) {
        for (int b = 0; b < s->n; b++) sums[b] = a == b ? INT64_MAX : hop_sum(s->c, a, b);
        for (int i = 0; i < s->near_count; i++) {
            int best = a ? 0 : 1;
            for (int b = 0; b < s->n; b++)
                if (sums[b] < sums[best]) best = b;
            s->near[a * s->near_count + i] = best;
            sums[best] = INT64_MAX;
        }
    }
}

static struct search open_search(const struct chains *c, uint64_t seed, struct arena *arena)
{
    int n = c->node_count, k = c->chain_count;
    struct search s = {.c = c,
                       .n = n,
                       .k = k,
                       .length = c->length,
                       .now = TAKE(arena, n, int),
                       .next = TAKE(arena, n, int),
                       .place = TAKE(arena, n, int),
                       .chains = TAKE(arena, k, int64_t),
                       .chains_next = TAKE(arena, k, int64_t),
                       .touched = TAKE(arena, k, bool),
                       .ring_max = INT64_MAX,
                       .state = seed};
    for (int i = 0; i < n; i++) s.now[i] = i;
    return s;
}

// Nodes that may be on a ring as cheap as the cheapest, or costlier by up to `more`, from one
// randomly chosen part.
static int list_part(struct search *s, int *nodes, double more, struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    bool *in = TAKE(arena, s->n, bool);
    int *part = TAKE(arena, s->n, int), count = 0;
    memset(in, true, (size_t)s->n * sizeof *in);
    int64_t limit = ring_bound(s->c->ring, s->n, s->k, in, arena);
    if (limit < CHAIN_NONE) {
        int parts = rings_within(s->c->ring, s->n, s->k,
                                 limit + 1 + (int64_t)((double)limit * more), in, part, arena);
        int picked = below(s, parts);
        for (int i = 0; i < s->n; i++)
            if (in[i] && part[i] == picked) nodes[count++] = i;
    }
    arena_reset(arena, mark);
    return count;
}

// Anneals chains of one node: a ring of k among these nodes, into best[]; returns its slowest link.
static int64_t anneal_ring(struct search *s, const int *nodes, int count,
                           const struct chains_settings *settings, int *best, struct arena *arena)
{
    assert(count >= s->k);
    int64_t *link = TAKE(arena, count * count, int64_t);
    for (int i = 0; i < count * count; i++)
        link[i] = s->c->ring[nodes[i / count] * s->n + nodes[i % count]];
    const struct chains alone = {
        .node_count = count, .chain_count = s->k, .length = 1, .ring = link};
    struct search ring = open_search(&alone, random_next(&s->state), arena);
    shuffle(&ring);
    int64_t value = INT64_MAX;
    anneal(&ring, settings, best, &value);
    value = chains_value(&alone, best);
    for (int i = 0; i < s->k; i++) best[i] = nodes[best[i]];
    return value;
}

// First finds a cheap ring, whose nodes begin the chains; no much slower ring is accepted while
// they are annealed.
static void begin_with_ring(struct search *s, const struct chains_settings *settings,
                            struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    int *nodes = TAKE(arena, s->n, int), *best = TAKE(arena, s->n, int),
        *place = TAKE(arena, s->n, int);
    int count = list_part(s, nodes, below(s, 64) / 1024.0, arena);
    if (count >= s->k) {
        int64_t value = anneal_ring(s, nodes, count, settings, best, arena);
        for (int i = 0; i < s->n; i++) place[s->now[i]] = i;
        for (int chain = 0; chain < s->k; chain++) {
            int at = chain * s->length, from = place[best[chain]], kept = s->now[at];
            assert(s->now[from] == best[chain]);
            s->now[at] = best[chain];
            s->now[from] = kept;
            place[kept] = from;
            place[best[chain]] = at;
        }
        s->ring_max = value + value / 64;
    }
    arena_reset(arena, mark);
}

void chains_search(struct chains_result *r, const struct chains *c,
                   const struct chains_settings *settings, struct arena *arena)
{
    struct search s = open_search(c, settings->seed, arena);
    if (c->length > 1) list_near(&s, arena);
    int *best = TAKE_COPY(arena, s.now, c->node_count);
    r->value = chains_value(c, best);
    for (int start = 0; start < settings->starts && !is_over(settings); start++) {
        if (start) shuffle(&s);
        s.ring_max = INT64_MAX;
        if (chains_have_ring(c) && start % 2) begin_with_ring(&s, settings, arena);
        s.smooth = smooth_shares[start % (int)ARRAY_LENGTH(smooth_shares)];
        anneal(&s, settings, best, &r->value);
    }
    memcpy(r->order, best, (size_t)(c->chain_count * c->length) * sizeof *best);
}
