// Local search: threshold accepting over moves of layers, swaps of groups and changes of single
// choices. A neighbour is first compared with the pool of critical paths seen so far: each gives a
// lower bound on its time, and the sum over the few changed symbols costs far less than a replay.
// Only a neighbour that passes the whole pool is replayed, and its path is added to the pool.
#include <string.h>

#include "solve/incumbent/internal.h"

enum { POOL_MAX = 256, POOL_STRIP = 32, MOVE_KINDS = 19 };

// A hash table from attributes to a stage's choice: open addressing, size a power of two. `next`
// chains those that differ only in recomputation, the lightest first.
struct lookup {
    int *slots, *next;
    uint32_t mask;
};

struct local {
    struct search *s;
    struct lookup *lookups; // [stage]
    int pool_count, pool_next;
    double *counts;          // [symbol * POOL_MAX + path]
    double *lengths, *moved; // [path], of the current decision and of its neighbour
    int64_t *durations, *neighbour_durations;
    int *path, *neighbour, *changed;
    int **next, *heads; // of the lookups, by stage; of the neighbour's choices
};

static uint32_t hash_of(const struct choice *c)
{
    uint64_t key = (uint64_t)(c->first_layer + 1);
    key = key * 4099 + (uint64_t)c->layer_count;
    key = key * 17 + (uint64_t)c->group;
    key = key * 67 + (uint64_t)c->boundary_option;
    key = key * 67 + (uint64_t)c->gradient_option;
    return (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32);
}

static bool same_place(const struct choice *a, const struct choice *b)
{
    return a->layer_count == b->layer_count && a->group == b->group &&
           a->boundary_option == b->boundary_option && a->gradient_option == b->gradient_option &&
           a->first_layer == b->first_layer;
}

// The choice with the attributes of *like, or -1.
static int look_up(const struct local *l, int stage, const struct choice *like)
{
    const struct lookup *t = &l->lookups[stage];
    uint32_t at = hash_of(like) & t->mask;
    for (; t->slots[at] >= 0; at = (at + 1) & t->mask)
        if (same_place(&l->s->c->stages[stage].items[t->slots[at]], like)) return t->slots[at];
    return -1;
}

// Puts a choice into the chain that starts in this slot.
static void chain(struct lookup *t, uint32_t at, const struct choice *items, int choice)
{
    int *link = &t->slots[at];
    while (*link >= 0 && items[*link].load_ns <= items[choice].load_ns) link = &t->next[*link];
    t->next[choice] = *link;
    *link = choice;
}

static void fill_lookup(struct local *l, int stage)
{
    const struct stage_choices *choices = &l->s->c->stages[stage];
    struct lookup *t = &l->lookups[stage];
    uint32_t size = 16;
    while (size < 2 * (uint32_t)choices->count) size *= 2;
    t->mask = size - 1;
    t->slots = TAKE(l->s->arena, size, int);
    memset(t->slots, -1, size * sizeof *t->slots);
    t->next = TAKE(l->s->arena, choices->count, int);
    for (int i = 0; i < choices->count; i++) {
        const struct choice *c = &choices->items[i];
        uint32_t at = hash_of(c) & t->mask;
        while (t->slots[at] >= 0 && !same_place(&choices->items[t->slots[at]], c))
            at = (at + 1) & t->mask;
        chain(t, at, choices->items, i);
    }
}

struct local *local_open(struct search *s)
{
    struct local *l = TAKE(s->arena, 1, struct local);
    *l = (struct local){.s = s};
    l->lookups = TAKE(s->arena, s->stage_count, struct lookup);
    for (int i = 0; i < s->stage_count; i++) fill_lookup(l, i);
    l->counts = TAKE(s->arena, s->symbols * POOL_MAX, double);
    l->lengths = TAKE(s->arena, POOL_MAX, double);
    l->moved = TAKE(s->arena, POOL_MAX, double);
    l->durations = TAKE(s->arena, s->symbols, int64_t);
    l->neighbour_durations = TAKE(s->arena, s->symbols, int64_t);
    l->path = TAKE(s->arena, s->symbols + 1, int);
    l->changed = TAKE(s->arena, s->symbols, int);
    l->neighbour = TAKE(s->arena, s->stage_count, int);
    l->heads = TAKE(s->arena, s->stage_count, int);
    l->next = TAKE(s->arena, s->stage_count, int *);
    for (int i = 0; i < s->stage_count; i++) l->next[i] = l->lookups[i].next;
    return l;
}

// ---- the pool

// Adds l->path, in place of the oldest path if the pool is full.
static void add_to_pool(struct local *l, int64_t neighbour_length)
{
    int at = l->pool_next;
    assert(at == l->pool_count % POOL_MAX || l->pool_count == POOL_MAX);
    l->pool_next = (l->pool_next + 1) % POOL_MAX;
    l->pool_count += l->pool_count < POOL_MAX;
    double length = 0, laps = path_laps(l->path, l->s->symbols);
    for (int k = 0; k < l->s->symbols; k++) {
        double count = l->path[k] / laps;
        l->counts[k * POOL_MAX + at] = count;
        length += count * (double)l->durations[k];
    }
    l->lengths[at] = length;
    l->moved[at] = (double)neighbour_length;
}

static void measure_pool(struct local *l)
{
    memset(l->lengths, 0, POOL_MAX * sizeof *l->lengths);
    for (int k = 0; k < l->s->symbols; k++)
        for (int p = 0; p < l->pool_count && l->durations[k]; p++)
            l->lengths[p] += l->counts[k * POOL_MAX + p] * (double)l->durations[k];
}

// Whether no path of the pool exceeds the limit with the neighbour's durations; fills moved[] if
// so.
static bool pool_passes(struct local *l, double limit)
{
    int changed_count = 0;
    for (int k = 0; k < l->s->symbols; k++)
        if (l->durations[k] != l->neighbour_durations[k]) l->changed[changed_count++] = k;
    for (int strip = 0; strip < l->pool_count; strip += POOL_STRIP) {
        double *restrict moved = l->moved + strip, longest = 0;
        memcpy(moved, l->lengths + strip, POOL_STRIP * sizeof *moved);
        for (int i = 0; i < changed_count; i++) {
            const double *restrict counts = l->counts + l->changed[i] * POOL_MAX + strip;
            double by =
                (double)(l->neighbour_durations[l->changed[i]] - l->durations[l->changed[i]]);
            for (int p = 0; p < POOL_STRIP; p++) moved[p] += counts[p] * by;
        }
        for (int p = 0; p < POOL_STRIP; p++) longest = moved[p] > longest ? moved[p] : longest;
        if (longest > limit) return false;
    }
    return true;
}

// ---- moves: l->neighbour is made from now[]; false: there is no such decision

// Gives every stage the layers and everything else of `like`; where position matters, the positions
// between are shifted.
static bool place(struct local *l, const struct choice *like)
{
    const struct choices *c = l->s->c;
    int covered = 0;
    for (int i = 0; i < l->s->stage_count; i++) {
        struct choice wanted = like[i];
        wanted.first_layer = choices_place(c, covered);
        covered += wanted.layer_count;
        if (same_place(&wanted, &c->stages[i].items[l->neighbour[i]])) continue;
        l->neighbour[i] = look_up(l, i, &wanted);
        if (l->neighbour[i] < 0) return false;
    }
    return true;
}

// With several stages per rank: sets the recomputation of the ranks of changed stages. false:
// memory is too small.
static bool refit(struct local *l, const int *now)
{
    const struct choices *c = l->s->c;
    for (int r = 0; r < c->rank_count; r++) {
        bool changed = false;
        for (int t = 0; t < c->virtual_stages; t++) {
            int stage = choices_stage_of(c, r, t);
            changed = changed || l->neighbour[stage] != now[stage];
        }
        for (int t = 0; t < c->virtual_stages && changed; t++) {
            int stage = choices_stage_of(c, r, t);
            l->heads[stage] = look_up(l, stage, &c->stages[stage].items[l->neighbour[stage]]);
        }
        if (changed && !search_refit_rank(c, r, l->next, l->heads, l->neighbour)) return false;
    }
    return true;
}

// A stage's group is its rank's: it follows that of the rank's first stage.
static void carry_groups(const struct choices *c, struct choice *like, const int *now)
{
    for (int r = 0; r < c->rank_count; r++) {
        int group = -1;
        for (int t = 0; t < c->virtual_stages; t++) {
            int stage = choices_stage_of(c, r, t);
            if (group < 0 && like[stage].group != c->stages[stage].items[now[stage]].group)
                group = like[stage].group;
        }
        for (int t = 0; t < c->virtual_stages && group >= 0; t++)
            like[choices_stage_of(c, r, t)].group = group;
    }
}

static bool place_ranks(struct local *l, struct choice *like, const int *now)
{
    if (l->s->c->virtual_stages == 1) return place(l, like);
    carry_groups(l->s->c, like, now);
    return place(l, like) && refit(l, now);
}

static void swap_int(int *a, int *b)
{
    int kept = *a;
    *a = *b;
    *b = kept;
}

// Exchanges one choice for another with the same layers.
static bool change_one(struct local *l, int stage)
{
    const struct stage_choices *choices = &l->s->c->stages[stage];
    const struct choice *had = &choices->items[l->neighbour[stage]];
    for (int tries = 0; tries < 16; tries++) {
        int i = (int)search_random(l->s, (uint64_t)choices->count);
        const struct choice *c = &choices->items[i];
        if (i != l->neighbour[stage] && c->layer_count == had->layer_count &&
            c->first_layer == had->first_layer) {
            l->neighbour[stage] = i;
            return true;
        }
    }
    return false;
}

// Moves stage i to place j with what it carries; those between move up by one. Runs of one group
// stay together.
static void carry(struct choice *like, int i, int j)
{
    struct choice carried = like[i];
    for (int step = i < j ? 1 : -1; i != j; i += step) like[i] = like[i + step];
    like[j] = carried;
}

static void reverse(struct choice *like, int first, int last)
{
    for (; first < last; first++, last--) {
        struct choice kept = like[first];
        like[first] = like[last];
        like[last] = kept;
    }
}

static bool move(struct local *l, const int *now)
{
    struct choice like[STAGES_MAX];
    int stages = l->s->stage_count;
    memcpy(l->neighbour, now, (size_t)stages * sizeof *now);
    int i = (int)search_random(l->s, (uint64_t)stages),
        j = (int)search_random(l->s, (uint64_t)stages);
    int kind = (int)search_random(l->s, MOVE_KINDS);
    if (kind < 2 || stages == 1) return change_one(l, i);
    if (i == j) return false;
    for (int s = 0; s < stages; s++) like[s] = l->s->c->stages[s].items[now[s]];
    if (kind >= 16) {
        if (kind == 16 || kind == 17) carry(like, i, j);
        else reverse(like, i < j ? i : j, i < j ? j : i);
        return place_ranks(l, like, now);
    }
    if (kind < 8) { // groups, with or without what they carry
        swap_int(&like[i].group, &like[j].group);
        swap_int(&like[i].gradient_option, &like[j].gradient_option);
        if (kind < 5) swap_int(&like[i].layer_count, &like[j].layer_count);
        if (kind == 7) swap_int(&like[i].boundary_option, &like[j].boundary_option);
    }
    if (kind >= 6) { // layers
        int by = kind == 15 && like[i].layer_count > 2 ? 2 : 1;
        like[i].layer_count -= by;
        like[j].layer_count += by;
    }
    if (kind == 14) { // and on, to a third stage
        int k = (int)search_random(l->s, (uint64_t)stages);
        like[j].layer_count--;
        like[k].layer_count++;
    }
    return place_ranks(l, like, now);
}

// ---- the search

// The neighbour's time if it is at most limit, else INT64_MAX. Replays only what passes the pool.
static int64_t judge(struct local *l, int64_t limit)
{
    l->s->effort_left--;
    if (!search_resources_hold(l->s, l->neighbour) ||
        !choices_durations(l->s->c, l->neighbour, l->neighbour_durations) ||
        !pool_passes(l, (double)limit))
        return INT64_MAX;
    int64_t time = search_replay(l->s, l->neighbour, l->path);
    if (time == INT64_MAX) return time;
    double known = 0;
    for (int p = 0; p < l->pool_count; p++) known = l->moved[p] > known ? l->moved[p] : known;
    if ((double)time > known) add_to_pool(l, time);
    return time <= limit ? time : INT64_MAX;
}

void local_search(struct local *l, int *now, int64_t steps, int64_t heat_ns)
{
    assert(steps >= 0 && heat_ns >= 0);
    int64_t time = search_replay(l->s, now, l->path);
    if (time == INT64_MAX || !choices_durations(l->s->c, now, l->durations)) return;
    measure_pool(l);
    add_to_pool(l, time);
    for (int64_t step = 0; step < steps; step++) {
        if (step % 128 == 0 && search_is_over(l->s)) return;
        if (!move(l, now)) {
            l->s->effort_left -= step % 8 == 0;
            continue;
        }
        // The limit falls to the current time as the steps run out, and is below half of the heat
        // most of the time.
        int64_t left = steps - step, draw = (int64_t)search_random(l->s, 1024);
        int64_t heat = (int64_t)((double)heat_ns * (double)left / (double)steps * (double)left /
                                 (double)steps);
        int64_t neighbour_time = judge(l, time + heat * draw / 1024 * draw / 1024);
        if (neighbour_time == INT64_MAX) continue;
        time = neighbour_time;
        memcpy(now, l->neighbour, (size_t)l->s->stage_count * sizeof *now);
        memcpy(l->durations, l->neighbour_durations, (size_t)l->s->symbols * sizeof *l->durations);
        memcpy(l->lengths, l->moved, POOL_MAX * sizeof *l->lengths);
    }
}
