// Widths of stages for random priced documents, from numbers of their own.
#include "tests/support/random_priced.h"

#include <string.h>

static int below(uint64_t *state, int n) { return (int)random_less(state, n); }

// None above the run's own, often far below.
static int64_t part_of(uint64_t *state, int64_t bytes)
{
    return below(state, 3) ? random_less(state, bytes + 1) : bytes / (1 + below(state, 3));
}

static void draw_seats(struct priced *p, struct priced_run *run, uint64_t *state,
                       struct arena *arena)
{
    struct priced_run *bytes = TAKE(arena, p->group_count, struct priced_run);
    for (int g = 0; g < p->group_count; g++) {
        bytes[g].weight_bytes = part_of(state, run->weight_bytes);
        bytes[g].gradient_bytes = part_of(state, run->gradient_bytes);
        bytes[g].optimizer_bytes = part_of(state, run->optimizer_bytes);
        bytes[g].unsharded_bytes = part_of(state, run->unsharded_bytes);
        for (int mode = 0; mode < RECOMPUTE_COUNT; mode++) {
            bytes[g].stash_bytes[mode] = part_of(state, run->stash_bytes[mode]);
            bytes[g].working_bytes[mode] = part_of(state, run->working_bytes[mode]);
        }
        if (below(state, 4)) continue; // senseless, but allowed: recomputation keeps more
        bytes[g].stash_bytes[RECOMPUTE_FULL] = run->stash_bytes[RECOMPUTE_FULL];
        bytes[g].stash_bytes[RECOMPUTE_NONE] /= 4;
    }
    priced_put_seats(run, bytes, p->group_count, arena);
}

static void draw_groups(struct priced *p, uint64_t *state)
{
    static const int widths[][3] = {{1, 1, 1}, {2, 1, 1}, {1, 1, 2},
                                    {2, 1, 2}, {4, 1, 1}, {1, 2, 1}};
    static const char *const names[] = {"left", "right"};
    int groups = 1 + below(state, 2), slots[2];
    for (int k = 0; k < 2; k++) slots[k] = 1 + below(state, 2 * p->stage_count + 2);
    for (int g = 0; g < p->group_count; g++) {
        struct priced_group *x = &p->groups[g];
        const int *width = widths[below(state, (int)(sizeof widths / sizeof *widths))];
        int where = below(state, groups);
        x->node_group = names[where];
        x->tensor = width[0], x->context = width[1], x->data = width[2];
        x->seat_slots = 1 + below(state, 4);
        x->slots = slots[where];
        if (below(state, 3)) x->excluded = NULL;
    }
}

void priced_draw_widths(struct priced *p, uint64_t state, struct arena *arena)
{
    uint64_t own = state * 0x9e3779b97f4a7c15u + 11;
    p->boundary_option_count = p->gradient_option_count = 1;
    p->budget = (struct quality_budget){-1, -1, -1, 0};
    p->recompute[RECOMPUTE_SWAP] = false;
    if (p->layout.recompute == 1 + RECOMPUTE_SWAP) priced_without_setting(p);
    draw_groups(p, &own);
    priced_find_pools(p);
    for (int r = 0; r < p->run_count; r++) {
        p->runs[r].tiered = NULL, p->runs[r].tiered_count = 0;
        draw_seats(p, &p->runs[r], &own, arena);
    }
    for (int c = 0; c < p->cut_count; c++) {
        int64_t *bytes = TAKE(arena, p->group_count, int64_t);
        for (int g = 0; g < p->group_count; g++) bytes[g] = part_of(&own, p->cuts[c].message_bytes);
        p->cuts[c].seat_bytes = bytes;
    }
    for (int r = 0; r < p->rule_count; r++)
        p->rules[r].compresses_gradient = p->rules[r].compresses_boundary = -1;
    int kept = 0; // rules that state something yet
    for (int r = 0; r < p->rule_count; r++) {
        const struct rule *x = &p->rules[r];
        if (x->group_count || x->holds_first >= 0 || x->layers_min >= 0 || x->layers_max >= 0 ||
            x->recompute_stated)
            p->rules[kept++] = *x;
    }
    p->rule_count = kept;
}
