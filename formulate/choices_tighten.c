// What follows from choices being gone, on ranks with several stages: where little is left of the other stages, more is
// known of the room that they leave. A choice goes that no longer fits beside the least of what is left; and memory has no
// say in dominance between two choices of which the better one fits beside the greatest of what is left.
#include "formulate/choices_parts.h"

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

// Least and greatest of a stage's choices on one group, each part by itself; count 0: none is left.
struct reach { struct stage_least least, greatest; int count; };

struct tightening {
    struct choices *c;
    struct reach *reach;        // [stage * group_count + group]
    bool **keep;
    int64_t **amount;
    int removed;
};

static struct stage_least parts_of(const struct choice *x)
{
    const struct memory_parts *m = &x->memory;
    return (struct stage_least){memory_total(m) - m->activation_bytes - m->working_bytes, x->stash_bytes, m->working_bytes};
}

static void widen(struct reach *r, struct stage_least x)
{
    if (!r->count++) {
        r->least = r->greatest = x;
        return;
    }
    if (x.resident_bytes < r->least.resident_bytes) r->least.resident_bytes = x.resident_bytes;
    if (x.stash_bytes < r->least.stash_bytes) r->least.stash_bytes = x.stash_bytes;
    if (x.working_bytes < r->least.working_bytes) r->least.working_bytes = x.working_bytes;
    r->greatest.resident_bytes = larger(r->greatest.resident_bytes, x.resident_bytes);
    r->greatest.stash_bytes = larger(r->greatest.stash_bytes, x.stash_bytes);
    r->greatest.working_bytes = larger(r->greatest.working_bytes, x.working_bytes);
}

static void find_reach(struct tightening *t)
{
    int groups = t->c->priced->group_count;
    for (int s = 0; s < t->c->priced->stage_count; s++) {
        for (int g = 0; g < groups; g++) t->reach[s * groups + g].count = 0;
        for (int i = 0; i < t->c->stages[s].count; i++)
            widen(&t->reach[s * groups + t->c->stages[s].items[i].group], parts_of(&t->c->stages[s].items[i]));
    }
}

// Bytes over the limit beside the least, or the greatest, of the rank's other stages.
static int64_t excess_beside(const struct tightening *t, int stage, const struct choice *x, bool greatest)
{
    const struct choices *c = t->c;
    const struct priced_group *group = &c->priced->groups[x->group];
    int rank = choices_rank_of(c, stage);
    int64_t resident = 0, working = 0, most = 0;
    struct stage_least parts[STAGES_MAX];
    for (int turn = 0; turn < c->virtual_stages; turn++) {
        int other = choices_stage_of(c, rank, turn);
        const struct reach *r = &t->reach[other * c->priced->group_count + x->group];
        parts[turn] = other == stage ? parts_of(x) : greatest ? r->greatest : r->least;
        resident += parts[turn].resident_bytes;         // the constant with the rank's first stage
        working = larger(working, parts[turn].working_bytes);
    }
    for (int i = 0; i < c->peaks[rank].count; i++) {
        int64_t stash = 0;
        for (int turn = 0; turn < c->virtual_stages; turn++)
            stash += c->peaks[rank].in_flight[i][turn] * parts[turn].stash_bytes;
        most = larger(most, stash);
    }
    return resident + working + most - group->memory_limit_bytes;
}

// Whether the rank's other stages have choices on the group at all.
static bool has_company(const struct tightening *t, int stage, int group)
{
    int rank = choices_rank_of(t->c, stage);
    for (int turn = 0; turn < t->c->virtual_stages; turn++)
        if (!t->reach[choices_stage_of(t->c, rank, turn) * t->c->priced->group_count + group].count) return false;
    return true;
}

static void drop(struct tightening *t, int stage, int i, int64_t amount)
{
    t->keep[stage][i] = false;
    t->amount[stage][i] = amount;
    t->removed++;
}

static void drop_too_large(struct tightening *t, int stage)
{
    const struct stage_choices *list = &t->c->stages[stage];
    for (int i = 0; i < list->count; i++) {
        if (!has_company(t, stage, list->items[i].group)) continue;
        int64_t excess = excess_beside(t, stage, &list->items[i], false);
        if (excess > 0) drop(t, stage, i, excess);
    }
}

static bool same_place(const struct choice *a, const struct choice *b)
{
    return a->first_layer == b->first_layer && a->layer_count == b->layer_count && a->group == b->group
        && a->boundary_option == b->boundary_option;
}

// Choices that stand at one place follow each other.
static void drop_needless(struct tightening *t, int stage)
{
    const struct stage_choices *list = &t->c->stages[stage];
    for (int first = 0, end; first < list->count; first = end) {
        for (end = first + 1; end < list->count && same_place(&list->items[first], &list->items[end]); end++) continue;
        for (int a = first; a < end && end - first > 1; a++) {
            if (!t->keep[stage][a] || excess_beside(t, stage, &list->items[a], true) > 0) continue;
            for (int b = first; b < end; b++)
                if (b != a && t->keep[stage][b] && choice_is_no_slower(t->c, &list->items[a], &list->items[b])) drop(t, stage, b, 0);
        }
    }
}

static int sweep(struct tightening *t, void (*step)(struct tightening *, int), enum removal removal)
{
    struct choices *c = t->c;
    t->removed = 0;
    find_reach(t);
    for (int s = 0; s < c->priced->stage_count; s++)
        for (int i = 0; i < c->stages[s].count; i++) t->keep[s][i] = true;
    for (int s = 0; s < c->priced->stage_count; s++) step(t, s);
    if (t->removed) choices_remove(c, t->keep, t->amount, removal);
    return t->removed;
}

int choices_tighten(struct choices *c, struct arena *scratch)
{
    int stages = c->priced->stage_count, total = 0, removed;
    if (c->virtual_stages == 1) return 0;
    struct tightening t = {.c = c, .reach = TAKE(scratch, stages * c->priced->group_count, struct reach),
        .keep = TAKE(scratch, stages, bool *), .amount = TAKE(scratch, stages, int64_t *)};
    for (int s = 0; s < stages; s++) {
        t.keep[s] = TAKE(scratch, c->stages[s].count, bool);
        t.amount[s] = TAKE(scratch, c->stages[s].count, int64_t);
    }
    do {
        removed = sweep(&t, drop_too_large, REMOVED_BY_MEMORY) + sweep(&t, drop_needless, REMOVED_BY_DOMINANCE);
        total += removed;
    } while (removed);
    return total;
}
