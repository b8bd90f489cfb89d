// How many micro-batches a rank keeps at least, taken from the turns of the first few
// micro-batches: with more of them no moment of a schedule holds less. If all micro-batches go
// forward before any backward, all of them are kept.
#include <stdlib.h>
#include <string.h>

#include "data/base/grow.h"
#include "data/schedule/builder.h"
#include "solve/layouts/bound.h"

struct kept_entry {
    int kind;
    int ranks, turns, micro_batches, slices;
    int segment; // ranks of one that reads its inputs from a file; 0: there are none
    unsigned char in_flight[LISTED_STAGES_MAX]; // as the layout
    struct kept *kept;
};

enum { ROUNDS = 3 }; // micro-batches examined, in multiples of the ranks or of a group

// At least as many as are ever in flight: from then on each further one adds one of each pass
// before the last forward. Of a schedule in groups, as many groups as have the size that all of
// them have.
static int looked_at(const struct priced *p)
{
    bool in_groups = schedule_kinds[p->layout.schedule].in_groups;
    int round = in_groups ? schedule_group(p->micro_batches, p->rank_count) : p->rank_count;
    int64_t enough = (int64_t)ROUNDS * round;
    if (enough < p->layout.in_flight[0]) enough = p->layout.in_flight[0];
    while (in_groups && enough < p->micro_batches &&
           schedule_group((int)enough, p->rank_count) != round)
        enough += round;
    return p->micro_batches < enough ? p->micro_batches : (int)enough;
}

static int last_pass(int kind)
{
    return schedule_splits_backward(kind) ? PASS_WEIGHT : PASS_BACKWARD;
}

// The micro-batches that the rank's stages hold at the moment when together they hold the most.
static void hold_most(const struct turn_list *list, const struct schedule_request *r, int *held,
                      int *fullest)
{
    int sum = 0, most = 0;
    for (int k = 0; k < r->virtual_stages; k++) held[k] = fullest[k] = 0;
    for (int i = 0; i < list->count; i++) {
        const struct turn *t = &list->turns[i];
        int change = t->slice                             ? 0
                     : t->pass == PASS_FORWARD            ? 1
                     : (int)t->pass == last_pass(r->kind) ? -1
                                                          : 0;
        held[t->turn] += change;
        sum += change;
        if (sum <= most) continue;
        most = sum;
        memcpy(fullest, held, (size_t)r->virtual_stages * sizeof *held);
    }
    assert(list->count == list->capacity &&
           sum == 0); // all turns are there, and release what they took
}

// Passes before the rank's last forward, of the stage that has done the fewest. In steady state
// each further micro-batch adds one of each; not used if the pipeline folds.
static void count_before_last_forward(struct kept *kept, const struct turn_list *list,
                                      const struct schedule_request *r, int *done)
{
    int last = list->count - 1;
    if (schedule_kinds[r->kind].folds) return;
    while (list->turns[last].pass != PASS_FORWARD) last--;
    assert(last >= r->micro_batches * r->virtual_stages - 1);
    for (int pass = PASS_BACKWARD; pass <= PASS_WEIGHT; pass++) {
        int least = r->micro_batches;
        for (int k = 0; k < r->virtual_stages; k++) done[k] = 0;
        for (int i = 0; i < last; i++)
            done[list->turns[i].turn] += (int)list->turns[i].pass == pass;
        for (int k = 0; k < r->virtual_stages; k++) least = done[k] < least ? done[k] : least;
        *(pass == PASS_BACKWARD ? &kept->backwards : &kept->weights) = least;
    }
}

static int falling(const void *a, const void *b) { return *(const int *)b - *(const int *)a; }

static void sum_up(struct kept *kept, int turns, struct arena *arena)
{
    int *sorted = TAKE_COPY(arena, kept->by_turn, turns);
    qsort(sorted, (size_t)turns, sizeof *sorted, falling);
    kept->least = sorted[turns - 1];
    kept->most = TAKE(arena, turns + 1, int);
    for (int k = 0; k < turns; k++) kept->most[k + 1] = kept->most[k] + sorted[k];
    assert(kept->least >= 0 && kept->most[turns] >= turns * kept->least);
}

static bool keeps_all(int kind) { return schedule_kinds[kind].holds_all; }

static void count_kept(struct kept_entry *e, const struct priced *p, struct arena *arena)
{
    struct schedule_request r = {.kind = e->kind,
                                 .stage_count = p->stage_count,
                                 .rank_count = p->rank_count,
                                 .virtual_stages = e->turns,
                                 .slice_count = e->slices,
                                 .micro_batches = e->micro_batches,
                                 .local_loss_every = e->segment,
                                 .stored_inputs = e->segment > 0,
                                 .barrier = true};
    memcpy(r.in_flight, e->in_flight, sizeof r.in_flight);
    e->kept = TAKE(arena, p->rank_count, struct kept);
    for (int rank = 0; rank < p->rank_count; rank++) {
        e->kept[rank].by_turn = TAKE(arena, e->turns, int);
        for (int k = 0; k < e->turns; k++) e->kept[rank].by_turn[k] = p->micro_batches;
        if (keeps_all(e->kind)) sum_up(&e->kept[rank], e->turns, arena);
    }
    if (keeps_all(e->kind)) return;
    struct arena_mark mark = arena_set_mark(arena);
    int *held = TAKE(arena, e->turns, int),
        capacity = (last_pass(e->kind) + 1) * e->micro_batches * e->turns * e->slices;
    struct turn *turns = TAKE(arena, capacity, struct turn);
    for (int rank = 0; rank < p->rank_count; rank++) {
        struct turn_list list = {turns, 0, capacity, e->micro_batches};
        schedule_generators[e->kind](&list, &r, rank);
        hold_most(&list, &r, held, e->kept[rank].by_turn);
        count_before_last_forward(&e->kept[rank], &list, &r, held);
    }
    arena_reset(arena, mark);
    for (int rank = 0; rank < p->rank_count; rank++) sum_up(&e->kept[rank], e->turns, arena);
}

int kept_further_rounds(const struct priced *p)
{
    const struct schedule_properties *kind = &schedule_kinds[p->layout.schedule];
    return kind->folds || kind->holds_all ? 0 : p->micro_batches - looked_at(p);
}

static int segment_of(const struct layout *l) { return l->stored_inputs ? l->local_loss_every : 0; }

const struct kept *kept_by_ranks(struct kept_cache *c, const struct priced *p)
{
    bool all = keeps_all(p->layout.schedule);
    struct kept_entry want = {all ? SCHEDULE_GPIPE : p->layout.schedule,
                              p->rank_count,
                              p->layout.virtual_stages,
                              all ? p->micro_batches : looked_at(p),
                              all ? 1 : p->slice_count,
                              all ? 0 : segment_of(&p->layout),
                              {0},
                              NULL};
    memcpy(want.in_flight, p->layout.in_flight, sizeof want.in_flight);
    for (int i = c->count - 1; i >= 0; i--) {
        struct kept_entry *e = &c->entries[i];
        if (e->kind == want.kind && e->ranks == want.ranks && e->turns == want.turns &&
            e->micro_batches == want.micro_batches && e->slices == want.slices &&
            e->segment == want.segment &&
            !memcmp(e->in_flight, want.in_flight, sizeof e->in_flight))
            return e->kept;
    }
    GROW(c->arena, c->entries, c->count, c->capacity, 256);
    c->entries[c->count] = want;
    count_kept(&c->entries[c->count], p, c->arena);
    return c->entries[c->count++].kept;
}
