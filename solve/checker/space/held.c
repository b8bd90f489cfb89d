// What the ranks hold, derived from the order of their passes (solve/checker/read/orders.c) and
// cached: it depends only on schedule, ranks, stages of a rank and micro-batches. If all
// micro-batches run forward before any runs backward, all of them are held.
#include <stdlib.h>
#include <string.h>

#include "data/base/grow.h"
#include "solve/checker/space/arguments.h"

enum { TURNS_LISTED = 1 << 22 };

struct held_entry {
    int kind, ranks, turns, micro_batches;
    int segment; // ranks that pass messages on among themselves alone; 0: all do
    uint8_t in_flight[MOST_LISTED];
    struct check_held *held;
};

static bool holds_all(int kind) { return check_schedules[kind].holds_all; }

static int falling(const void *a, const void *b) { return *(const int *)b - *(const int *)a; }

static void take_fullest(struct check_held *h, int *fullest, int turns, struct arena *arena)
{
    qsort(fullest, (size_t)turns, sizeof *fullest, falling);
    h->least = fullest[turns - 1];
    h->most = TAKE(arena, turns + 1, int);
    for (int k = 0; k < turns; k++) h->most[k + 1] = h->most[k] + fullest[k];
}

// A micro-batch is held from its forward to its last backward, or to its weight gradient where
// that is split off.
static void find_fullest(const struct check_problem *p, const struct check_turn *order, int count,
                         int *fullest)
{
    int held[MOST_STAGES] = {0}, sum = 0, most = 0;
    enum check_pass last = p->splits_backward ? PASS_W : PASS_B;
    for (int i = 0; i < count; i++) {
        const struct check_turn *t = &order[i];
        int change = t->pass == PASS_F ? 1 : t->pass == last ? -1 : 0;
        held[t->turn] += change;
        sum += change;
        if (sum <= most) continue;
        most = sum;
        memcpy(fullest, held, (size_t)p->turns * sizeof *held);
    }
}

static void find_ways(struct check_held *h, const struct check_problem *p,
                      const struct check_turn *order, int count)
{
    int done[PASS_W + 1][MOST_STAGES] = {{0}}, last = count - 1;
    h->returns = order[last].pass == PASS_B && order[last].turn == 0;
    while (order[last].pass != PASS_F) last--;
    for (int i = 0; i < last; i++) done[order[i].pass][order[i].turn]++;
    h->backwards = h->weights = p->micro_batches;
    for (int k = 0; k < p->turns; k++) {
        if (done[PASS_B][k] < h->backwards) h->backwards = done[PASS_B][k];
        if (done[PASS_W][k] < h->weights) h->weights = done[PASS_W][k];
    }
}

static enum status read_order(struct check_held_cache *c, const struct check_problem *p,
                              struct check_held *held)
{
    struct arena_mark mark = arena_set_mark(c->scratch);
    struct check_turn *order = TAKE(c->scratch, check_turn_count(p), struct check_turn);
    for (int rank = 0; rank < p->ranks; rank++) {
        int *fullest = TAKE(c->arena, p->turns, int);
        TRY(check_spend(p, c->work, (uint64_t)check_turn_count(p)));
        TRY(check_order_turns(p, rank, order));
        find_fullest(p, order, check_turn_count(p), fullest);
        find_ways(&held[rank], p, order, check_turn_count(p));
        take_fullest(&held[rank], fullest, p->turns, c->arena);
    }
    arena_reset(c->scratch, mark);
    return OK;
}

static int count_sides(const struct check_problem *p, int rank)
{
    int sides = 0;
    for (int turn = 0; turn < p->turns; turn++) {
        int stage = check_stage_of(p, rank, turn);
        sides += check_sends_forward(p, stage - 1) + check_sends_forward(p, stage);
    }
    return sides;
}

static enum status fill_entry(struct check_held_cache *c, const struct check_problem *p,
                              struct held_entry *e)
{
    int64_t listed = 3 * (int64_t)p->turns * p->micro_batches;
    e->held = TAKE(c->arena, p->ranks, struct check_held);
    if (!holds_all(p->kind) && listed <= TURNS_LISTED) return read_order(c, p, e->held);
    // All of them; an order too long to list gives no information.
    bool all = holds_all(p->kind);
    for (int rank = 0; rank < p->ranks; rank++) {
        int *fullest = TAKE(c->arena, p->turns, int);
        for (int k = 0; k < p->turns; k++) fullest[k] = all ? p->micro_batches : 0;
        e->held[rank] = (struct check_held){.returns = all};
        take_fullest(&e->held[rank], fullest, p->turns, c->arena);
    }
    return OK;
}

static int segment_of(const struct check_problem *p) { return p->stored ? p->local_every : 0; }

static bool is_of(const struct held_entry *e, const struct check_problem *p)
{
    bool alike = e->kind == p->kind || (holds_all(e->kind) && holds_all(p->kind));
    return alike && e->ranks == p->ranks && e->turns == p->turns &&
           e->micro_batches == p->micro_batches && e->segment == segment_of(p) &&
           !memcmp(e->in_flight, p->layout.in_flight, sizeof e->in_flight);
}

enum status check_find_held(struct check_held_cache *c, const struct check_problem *p,
                            const struct check_held **held)
{
    if (c->count && is_of(&c->entries[c->last], p)) return *held = c->entries[c->last].held, OK;
    for (c->last = 0; c->last < c->count && !is_of(&c->entries[c->last], p);) c->last++;
    TRY(check_spend(p, c->work, (uint64_t)c->last));
    if (c->last < c->count) return *held = c->entries[c->last].held, OK;
    GROW(c->arena, c->entries, c->count, c->capacity, 256);
    struct held_entry *e = &c->entries[c->count];
    *e = (struct held_entry){p->kind,       p->ranks, p->turns, p->micro_batches,
                             segment_of(p), {0},      NULL};
    memcpy(e->in_flight, p->layout.in_flight, sizeof e->in_flight);
    TRY(fill_entry(c, p, e));
    c->count++;
    for (int rank = 0; rank < p->ranks; rank++) e->held[rank].sides = count_sides(p, rank);
    *held = e->held;
    return OK;
}
