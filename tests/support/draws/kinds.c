// Random priced documents whose layers are of a few kinds.
#include "tests/support/draws/kinds.h"

#include <string.h>

#include "data/base/least.h"

#include "tests/support/random_priced.h"

enum { KINDS = 3, SEGMENTS = 6 };

static int below(uint64_t *state, int n) { return (int)random_less(state, n); }

// ---- kinds of layers

// Prices of a slice or a group are mostly the same, so that what a plan may choose leaves no room.
static int64_t *passes(const struct priced *p, int64_t most, uint64_t *state, struct arena *arena)
{
    int count = p->slice_count * p->group_count;
    int64_t *values = TAKE(arena, count, int64_t);
    for (int i = 0; i < count; i++) {
        values[i] = random_less(state, most + 1);
        if (i && below(state, 4)) values[i] = values[i % p->group_count ? i - 1 : 0];
    }
    return values;
}

static int64_t some(uint64_t *state, int64_t most)
{
    return below(state, 3) ? random_less(state, most + 1) : 0;
}

// heavy: the kind of few layers, with much to keep and much to recompute.
static void draw_kind(struct priced *p, struct priced_run *run, bool heavy, uint64_t *state,
                      struct arena *arena)
{
    int64_t weight = heavy ? 1 + below(state, 30) : 1 + below(state, 3);
    run->recomputable = heavy ? below(state, 8) > 0 : below(state, 2);
    run->weight_bytes = some(state, 4), run->gradient_bytes = some(state, 3);
    run->stash_bytes[0] = heavy ? 10 + below(state, 20) : some(state, below(state, 3) ? 3 : 20);
    run->stash_bytes[1] = below(state, 2) ? run->stash_bytes[0]
                                          : random_less(state, run->stash_bytes[0] + 1);
    run->stash_bytes[2] = random_less(state, run->stash_bytes[1] / (heavy ? 8 : 1) + 1);
    for (int mode = 0; mode < 3; mode++) run->working_bytes[mode] = some(state, heavy ? 6 : 2);
    run->forward_ns = passes(p, weight, state, arena);
    run->backward_ns = passes(p, 2 * weight, state, arena);
    run->full_ns = passes(p, (below(state, 2) ? 1 : 8) * weight, state, arena);
    run->selective_ns = below(state, 2) ? run->full_ns : passes(p, weight, state, arena);
}

// Equal in the sum of slices, and not in each.
static void turn_slices(struct priced *p, struct priced_run *run, struct arena *arena)
{
    int64_t **prices[] = {&run->forward_ns, &run->backward_ns, &run->full_ns, &run->selective_ns};
    for (size_t i = 0; i < ARRAY_LENGTH(prices); i++) {
        int64_t *values = TAKE(arena, p->slice_count * p->group_count, int64_t);
        for (int slice = 0; slice < p->slice_count; slice++)
            memcpy(values + slice * p->group_count,
                   *prices[i] + (slice + 1) % p->slice_count * p->group_count,
                   (size_t)p->group_count * sizeof *values);
        *prices[i] = values;
    }
}

// ---- layers

struct segments {
    int kind[SEGMENTS], count[SEGMENTS], used;
};

// A few layers of the first kind among the others; as many layers as the stages need, and some.
static void draw_segments(struct segments *s, int kinds, int layers, uint64_t *state)
{
    int main = 1 + below(state, below(state, 2) ? 2 : layers);
    *s = (struct segments){.used = 0};
    for (int left = layers; left > 0 && s->used < SEGMENTS; s->used++) {
        int kind = below(state, kinds), count = 1 + below(state, kind ? left : 2);
        if (s->used == SEGMENTS - 1) count = left;
        if (kind == 0 && (main < 1 || kinds == 1)) kind = kinds - 1;
        if (kind == 0 && count > main) count = main;
        if (count > left) count = left;
        if (kind == 0) main -= count;
        s->kind[s->used] = kind, s->count[s->used] = count, left -= count;
    }
}

static void draw_layers(struct priced *p, uint64_t *state, struct arena *arena)
{
    struct segments s;
    struct priced_run kinds[KINDS], *base = p->runs;
    int bases = p->run_count, count = 2 + (below(state, 3) == 0), at = 0;
    int layers = p->stage_count + below(state, p->stage_count > 4 ? 2 : 4);
    for (int k = 0; k < KINDS; k++) {
        kinds[k] = base[k % bases];
        draw_kind(p, &kinds[k], k == 0, state, arena);
    }
    draw_segments(&s, count, layers, state);
    p->runs = TAKE(arena, SEGMENTS + 2, struct priced_run);
    if (below(state, 2)) p->runs[at] = base[0], p->runs[at++].count = 1;
    for (int i = 0; i < s.used; i++) {
        struct priced_run *run = &p->runs[at++];
        *run = kinds[s.kind[i]];
        run->count = s.count[i];
        if (p->slice_count > 1 && below(state, 3) == 0) turn_slices(p, run, arena);
    }
    if (below(state, 2)) p->runs[at] = base[bases - 1], p->runs[at++].count = 1;
    p->run_count = at, p->layer_count = 0;
    for (int r = 0; r < at; r++) {
        p->runs[r].name = arena_print(arena, "run%d", r);
        p->runs[r].cut = 0;
        p->layer_count += p->runs[r].count;
    }
}

// ---- everything else

static void clear(int64_t *prices, int count) { memset(prices, 0, (size_t)count * sizeof *prices); }

// What is not there leaves the rest alone on its paths.
static void clear_some(struct priced *p, uint64_t *state)
{
    int which = below(state, 1 << 5) | below(state, 1 << 5),
        links = p->slice_count * p->group_count * p->group_count * PART_COUNT;
    for (int r = 0; r < p->run_count; r++) {
        struct priced_run *run = &p->runs[r];
        if (which & 1) clear(run->optimizer_ns, p->group_count);
        if (which & 2)
            for (int o = 0; o < p->gradient_option_count; o++)
                clear(run->sync_ns[o], p->group_count);
        if (which & 4) clear(run->weight_ns, p->group_count);
    }
    for (int g = 0; g < p->group_count; g++) {
        p->groups[g].excluded = NULL, p->groups[g].slots = p->rank_count;
        if (which & 2) clear(p->groups[g].sync_constant_ns, p->gradient_option_count);
    }
    for (int c = 0; c < p->cut_count; c++)
        for (int i = 0; i < links; i++) {
            int64_t *forward = &p->cuts[c].forward_ns[i];
            if (*forward == PRICE_NONE || which & 8) *forward = 0;
            for (int o = 0; o < p->boundary_option_count; o++) {
                int64_t *backward = &p->cuts[c].backward_ns[o][i];
                if (*backward == PRICE_NONE || which & 8) *backward = 0;
            }
        }
    for (int i = 0; i < p->group_count * p->group_count; i++)
        if (p->embedding_sync_ns[i] == PRICE_NONE || which & 16) p->embedding_sync_ns[i] = 0;
}

// Between what one layer of the heaviest kind needs recomputed, and what a few need kept.
static void draw_memory(struct priced *p, uint64_t *state)
{
    int64_t held = p->micro_batches, low = INT64_MAX, high = 0;
    if (!schedule_kinds[p->layout.schedule].holds_all && held > p->rank_count) held = p->rank_count;
    for (int r = 0; r < p->run_count; r++) {
        const struct priced_run *run = &p->runs[r];
        int64_t fixed = run->weight_bytes + run->gradient_bytes + run->optimizer_bytes,
                kept = fixed + held * run->stash_bytes[0] + run->working_bytes[0],
                least = fixed + held * run->stash_bytes[2];
        if (kept > high) high = kept, low = least;
    }
    for (int g = 0; g < p->group_count; g++) {
        int64_t room = low + random_less(state, larger(high - low, 0) + 2);
        if (below(state, 3) == 0) room += random_less(state, high + 1);
        if (below(state, 8) == 0) room = 1 << 20;
        p->groups[g].memory_limit_bytes = room + p->groups[g].constant_bytes +
                                          4 * p->layout.virtual_stages * p->cuts[0].message_bytes;
        if (g && below(state, 2)) p->groups[g].memory_limit_bytes = p->groups[0].memory_limit_bytes;
    }
}

// Up to six ranks of one stage.
static void draw_ranks(struct priced *p, uint64_t *state)
{
    if (p->layout.virtual_stages > 1) return;
    p->stage_count = p->rank_count = p->layout.pipeline = 1 + below(state, 6);
    if (schedule_kinds[p->layout.schedule].in_groups) p->micro_batches = p->rank_count;
}

void random_kinds(struct priced *p, enum schedule_kind schedule, uint64_t *state,
                  struct arena *arena)
{
    do random_priced_of(p, schedule, state, arena);
    while (p->groups[0].memory_limit_bytes > 1 << 20); // bytes as in life
    if (below(state, 3)) p->group_count = 1;
    p->rule_count = 0;
    p->budget = (struct quality_budget){-1, -1, -1, 0};
    draw_ranks(p, state);
    if (below(state, 2)) p->micro_batches = 1;
    if (schedule_kinds[schedule].in_groups) p->micro_batches = p->rank_count;
    for (int mode = 1; mode < RECOMPUTE_SWAP; mode++) p->recompute[mode] = below(state, 3) == 0;
    p->recompute[RECOMPUTE_FULL] = below(state, 4) > 0;
    if (below(state, 4)) priced_without_swaps(p);
    draw_layers(p, state, arena);
    clear_some(p, state);
    draw_memory(p, state);
}
