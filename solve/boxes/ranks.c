// Boxes where a rank has several stages: constraints between the stages of a rank, and the starting
// paths.
#include <string.h>

#include "data/base/least.h"
#include "solve/boxes/box_internal.h"

// The least needs of a stage over its choices in the box; a bit for each group that it may be on.
struct stage_needs {
    int64_t resident, stash, working;
    unsigned groups;
};

static struct stage_needs needs_of(const struct choices *c, bool *const *allowed, int stage)
{
    struct stage_needs n = {INT64_MAX / 8, INT64_MAX / 8, INT64_MAX / 8, 0};
    for (int i = 0; i < c->stages[stage].count; i++) {
        const struct choice *x = &c->stages[stage].items[i];
        if (!allowed[stage][i]) continue;
        n.resident = smaller(n.resident, box_resident_bytes(x));
        n.stash = x->stash_bytes < n.stash ? x->stash_bytes : n.stash;
        n.working = x->memory.working_bytes < n.working ? x->memory.working_bytes : n.working;
        n.groups |= 1u << x->group;
    }
    return n;
}

// The least needs of the rank's other stages besides the stage of one turn; activations by moment.
struct others {
    int64_t resident, working, *activations;
};

static void sum_others(struct others *o, const struct choices *c, int rank, int turn,
                       const struct stage_needs *needs)
{
    const struct rank_peaks *peaks = &c->peaks[rank];
    o->resident = o->working = 0;
    for (int t = 0; t < c->virtual_stages; t++)
        if (t != turn) {
            o->resident += needs[t].resident;
            o->working = larger(o->working, needs[t].working);
        }
    for (int k = 0; k < peaks->count; k++) {
        o->activations[k] = 0;
        for (int t = 0; t < c->virtual_stages; t++)
            o->activations[k] += t == turn ? 0 : peaks->in_flight[k][t] * needs[t].stash;
    }
}

static bool fits_beside(const struct choices *c, int rank, int turn, const struct choice *x,
                        const struct others *o)
{
    const struct rank_peaks *peaks = &c->peaks[rank];
    int64_t activations = 0;
    for (int k = 0; k < peaks->count; k++)
        activations =
            larger(activations, o->activations[k] + peaks->in_flight[k][turn] * x->stash_bytes);
    return box_resident_bytes(x) + o->resident + larger(x->memory.working_bytes, o->working) +
               activations <=
           c->priced->groups[x->group].memory_limit_bytes;
}

static void couple_rank(const struct choices *c, bool *const *allowed, int rank, struct others *o)
{
    struct stage_needs needs[STAGES_MAX];
    unsigned groups = ~0u;
    assert(c->virtual_stages <= STAGES_MAX && c->priced->group_count <= (int)(8 * sizeof groups));
    for (int t = 0; t < c->virtual_stages; t++) {
        needs[t] = needs_of(c, allowed, choices_stage_of(c, rank, t));
        groups &= needs[t].groups;
        if (!needs[t].groups) return; // an empty box already
    }
    for (int t = 0; t < c->virtual_stages; t++) {
        int stage = choices_stage_of(c, rank, t);
        sum_others(o, c, rank, t, needs);
        for (int i = 0; i < c->stages[stage].count; i++) {
            const struct choice *x = &c->stages[stage].items[i];
            if (allowed[stage][i] && (!(groups >> x->group & 1) || !fits_beside(c, rank, t, x, o)))
                allowed[stage][i] = false;
        }
    }
}

// Removes choices that start where no stage before them can end, or end where none behind them can
// start. All layers from free_from on count as one place.
static void couple_places(const struct choices *c, bool *const *allowed)
{
    int stages = c->priced->stage_count, row = c->free_from + 1;
    bool *ends = TAKE(c->arena, (stages + 1) * row, bool), // [stage][layers before it]
        *starts = TAKE(c->arena, (stages + 1) * row, bool);
    ends[0] = starts[stages * row + c->free_from] = true;
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < stages; k++) {
            int s = pass ? stages - 1 - k : k;
            for (int i = 0; i < c->stages[s].count; i++) {
                const struct choice *x = &c->stages[s].items[i];
                int from = place_least(x->first_layer),
                    to = smaller_int(from + x->layer_count, c->free_from);
                bool *before = (pass ? starts : ends) + s * row + from,
                     *behind = (pass ? starts : ends) + (s + 1) * row + to;
                allowed[s][i] = allowed[s][i] && *(pass ? behind : before);
                if (allowed[s][i]) *(pass ? before : behind) = true;
            }
        }
}

void box_couple_ranks(const struct choices *c, bool *const *allowed)
{
    if (c->virtual_stages == 1) return;
    assert(c->peaks);
    struct arena_mark mark = arena_set_mark(c->arena);
    if (c->free_from) couple_places(c, allowed);
    int most = 0;
    for (int r = 0; r < c->rank_count; r++)
        most = c->peaks[r].count > most ? c->peaks[r].count : most;
    struct others o = {.activations = TAKE(c->arena, most, int64_t)};
    for (int r = 0; r < c->rank_count; r++) couple_rank(c, allowed, r, &o);
    arena_reset(c->arena, mark);
}

// ---- starting paths

// The choice whose number of layers is nearest to an equal share; of several the lightest.
static const struct choice *middling(const struct choices *c, int stage)
{
    const struct stage_choices *list = &c->stages[stage];
    int share = (c->priced->layer_count + c->priced->stage_count / 2) / c->priced->stage_count;
    const struct choice *best = &list->items[0];
    for (int i = 1; i < list->count; i++) {
        const struct choice *x = &list->items[i];
        int far = x->layer_count > share ? x->layer_count - share : share - x->layer_count;
        int best_far = best->layer_count > share ? best->layer_count - share
                                                 : share - best->layer_count;
        if (far < best_far || (far == best_far && x->load_ns < best->load_ns)) best = x;
    }
    return best;
}

static void put_middling(const struct box_closer *b, int64_t *durations)
{
    int *chosen = TAKE(b->arena, b->stages, int);
    for (int s = 0; s < b->stages; s++)
        chosen[s] = (int)(middling(b->c, s) - b->c->stages[s].items);
    choices_durations(b->c, chosen, durations); // what is not joined stays 0
    for (int i = 0; i < b->symbols; i++)        // of groups that no link connects: -1
        if (durations[i] < 0) durations[i] = 0;
}

// All symbols of the rank's stages times numerator / 16.
static void weigh_rank(const struct box_closer *b, int rank, const int64_t *middle,
                       int64_t numerator)
{
    memcpy(b->work.durations, middle, (size_t)b->symbols * sizeof *middle);
    for (int t = 0; t < b->c->virtual_stages; t++) {
        int stage = choices_stage_of(b->c, rank, t);
        const int kinds[] = {SYMBOL_FORWARD, SYMBOL_BACKWARD, SYMBOL_WEIGHT};
        for (int slice = 0; slice < b->c->priced->slice_count; slice++)
            for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++) {
                int symbol = symbol_index(b->stages, symbol_of_slice(slice, kinds[i]), stage);
                b->work.durations[symbol] = middle[symbol] * numerator / 16;
            }
    }
}

int box_rank_paths(struct box_closer *b, const int **paths)
{
    static const int64_t numerators[] = {1600, 17};
    int ranks = b->c->rank_count, total = 1 + (int)ARRAY_LENGTH(numerators) * ranks, count = 0;
    int64_t *middle = TAKE(b->arena, b->symbols, int64_t);
    put_middling(b, middle);
    int known = graph_recall_paths(b->g, middle, paths);
    if (known) return known;
    int *found = TAKE(b->arena, total * b->paths.size, int);
    *paths = found;
    graph_longest(b->g, middle, found + count++ * b->paths.size);
    for (; count < total && !box_is_stopped(b); count++) {
        weigh_rank(b, (count - 1) % ranks, middle, numerators[(count - 1) / ranks]);
        graph_longest(b->g, b->work.durations, found + count * b->paths.size);
    }
    if (count == total) graph_note_paths(b->g, middle, found, count);
    return count;
}
