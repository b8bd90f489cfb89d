// How many micro-batches a rank keeps at least. The turns of the first few micro-batches tell: with more of them no moment
// of a schedule holds less. Where all micro-batches go forward before any comes back, all of them are kept.
#include "data/schedule.h"
#include "data/schedules/turns.h"
#include "solve/layouts_bound.h"

struct kept_entry { enum schedule_kind kind; int ranks, turns, micro_batches, slices, *kept; };

enum { ROUNDS = 3 };        // micro-batches looked at, in multiples of the ranks

static int looked_at(const struct priced *p)
{
    int64_t enough = (int64_t)ROUNDS * p->rank_count;
    return p->micro_batches < enough ? p->micro_batches : (int)enough;
}

static int last_pass(enum schedule_kind kind) { return schedule_splits_backward(kind) ? PASS_WEIGHT : PASS_BACKWARD; }

// The greatest, over all moments, of the fewest that any stage of the rank then holds.
static int most_held_by_all(const struct turn_list *list, const struct schedule_request *r, int *held)
{
    int most = 0;
    for (int k = 0; k < r->virtual_stages; k++) held[k] = 0;
    for (int i = 0; i < list->count; i++) {
        const struct turn *t = &list->turns[i];
        if (t->slice) continue;
        if (t->pass == PASS_FORWARD) held[t->turn]++;
        else if ((int)t->pass == last_pass(r->kind)) held[t->turn]--;
        int fewest = held[0];
        for (int k = 1; k < r->virtual_stages; k++) fewest = held[k] < fewest ? held[k] : fewest;
        most = fewest > most ? fewest : most;
    }
    return most;
}

static bool keeps_all(enum schedule_kind kind)
{
    return kind == SCHEDULE_GPIPE || kind == SCHEDULE_LOOPED_BFS || kind == SCHEDULE_TOKEN_SLICED;
}

static void count_kept(struct kept_entry *e, const struct priced *p, struct arena *arena)
{
    struct schedule_request r = {.kind = e->kind, .stage_count = p->stage_count, .rank_count = p->rank_count, .virtual_stages = e->turns,
                                 .slice_count = e->slices, .micro_batches = e->micro_batches, .barrier = true};
    e->kept = TAKE(arena, p->rank_count, int);
    for (int rank = 0; rank < p->rank_count; rank++) e->kept[rank] = p->micro_batches;
    if (keeps_all(e->kind)) return;
    struct arena_mark mark = arena_set_mark(arena);
    int *held = TAKE(arena, e->turns, int), capacity = (last_pass(e->kind) + 1) * e->micro_batches * e->turns * e->slices;
    struct turn *turns = TAKE(arena, capacity, struct turn);
    for (int rank = 0; rank < p->rank_count; rank++) {
        struct turn_list list = {turns, 0, capacity, e->micro_batches};
        generator_of((int)e->kind)(&list, &r, rank);
        e->kept[rank] = most_held_by_all(&list, &r, held);
    }
    arena_reset(arena, mark);
}

const int *kept_by_ranks(struct kept_cache *c, const struct priced *p)
{
    bool all = keeps_all(p->layout.schedule);
    struct kept_entry want = {all ? SCHEDULE_GPIPE : p->layout.schedule, p->rank_count, all ? 1 : p->layout.virtual_stages,
                              all ? p->micro_batches : looked_at(p), all ? 1 : p->slice_count, NULL};
    for (int i = c->count - 1; i >= 0; i--) {
        struct kept_entry *e = &c->entries[i];
        if (e->kind == want.kind && e->ranks == want.ranks && e->turns == want.turns && e->micro_batches == want.micro_batches
            && e->slices == want.slices) return e->kept;
    }
    if (c->count == c->capacity) {
        int capacity = 2 * c->capacity + 256;
        c->entries = arena_grow(c->arena, c->entries, (size_t)c->count, (size_t)capacity, sizeof *c->entries);
        c->capacity = capacity;
    }
    c->entries[c->count] = want;
    count_kept(&c->entries[c->count], p, c->arena);
    return c->entries[c->count++].kept;
}
