// What targets take from their groups in the program over groups: all but syncs and slots.
#include <string.h>

#include "solve/places/reaches/cases.h"

static int64_t *spread(const struct placed_reaches *m, const int64_t *of_groups, int rows)
{
    int targets = m->priced->group_count, groups = m->p->group_count;
    int64_t *to = TAKE(m->arena, rows * targets, int64_t);
    for (int i = 0; i < rows * targets; i++)
        to[i] = of_groups[i / targets * groups + m->group_of[i % targets]];
    return to;
}

static int64_t *spread_pairs(const struct placed_reaches *m, const int64_t *of_groups, int slices,
                             int parts)
{
    int targets = m->priced->group_count, groups = m->p->group_count, pairs = targets * targets;
    int64_t *to = TAKE(m->arena, slices * pairs * parts, int64_t);
    for (int i = 0; i < slices * pairs * parts; i++) {
        int part = i % parts, pair = i / parts % pairs, slice = i / parts / pairs;
        int from = m->group_of[pair / targets], end = m->group_of[pair % targets];
        to[i] = of_groups[((slice * groups + from) * groups + end) * parts + part];
    }
    return to;
}

static void put_runs(struct placed_reaches *m)
{
    struct priced *to = m->priced;
    to->runs = TAKE_COPY(m->arena, m->relaxed->runs, to->run_count);
    for (int i = 0; i < to->run_count; i++) {
        struct priced_run *r = &to->runs[i];
        r->forward_ns = spread(m, r->forward_ns, to->slice_count);
        r->backward_ns = spread(m, r->backward_ns, to->slice_count);
        for (int mode = 0; mode < RECOMPUTE_COUNT; mode++)
            if (r->again_ns[mode])
                r->again_ns[mode] = spread(m, r->again_ns[mode], to->slice_count);
        r->weight_ns = spread(m, r->weight_ns, 1);
        r->optimizer_ns = spread(m, r->optimizer_ns, 1);
        r->sync_ns = TAKE(m->arena, to->gradient_option_count, int64_t *);
        if (r->tiered) r->tiered = TAKE_COPY(m->arena, r->tiered, r->tiered_count);
        for (int o = 0; o < to->gradient_option_count; o++) {
            r->sync_ns[o] = TAKE(m->arena, to->group_count, int64_t);
            if (r->tiered) r->tiered[o].optimizer_ns = spread(m, r->tiered[o].optimizer_ns, 1);
        }
    }
}

static void put_links(struct placed_reaches *m)
{
    struct priced *to = m->priced;
    to->cuts = TAKE_COPY(m->arena, m->relaxed->cuts, to->cut_count);
    for (int i = 0; i < to->cut_count; i++) {
        struct priced_cut *cut = &to->cuts[i];
        int64_t **backward = TAKE(m->arena, to->boundary_option_count, int64_t *);
        cut->forward_ns = spread_pairs(m, cut->forward_ns, to->slice_count, PART_COUNT);
        for (int o = 0; o < to->boundary_option_count; o++)
            backward[o] = spread_pairs(m, cut->backward_ns[o], to->slice_count, PART_COUNT);
        cut->backward_ns = backward;
    }
    if (to->has_embedding_sync)
        to->embedding_sync_ns = spread_pairs(m, m->relaxed->embedding_sync_ns, 1, 1);
}

static bool is_taken(const struct priced *p, const char *name, int end)
{
    for (int g = 0; g < end; g++)
        if (!strcmp(p->groups[g].name, name)) return true;
    return false;
}

// Rules find groups by their names, which the cluster's may have been given, too.
static const char *name_target(const struct placed_reaches *m, int target)
{
    const struct priced *p = m->priced;
    const char *name = arena_print(m->arena, "%s in rings of reach %u", p->groups[target].name,
                                   m->reach_of[target]);
    while (is_taken(p, name, target)) name = arena_print(m->arena, "%s'", name);
    return name;
}

static void put_groups(struct placed_reaches *m)
{
    struct priced *to = m->priced;
    to->groups = TAKE(m->arena, to->group_count, struct priced_group);
    for (int t = 0; t < to->group_count; t++) {
        to->groups[t] = m->relaxed->groups[m->group_of[t]];
        to->groups[t].sync_constant_ns = TAKE(m->arena, to->gradient_option_count, int64_t);
        if (t >= m->p->group_count) to->groups[t].name = name_target(m, t);
    }
    placed_spread_rules(m);
}

void placed_spread_values(struct placed_reaches *m)
{
    put_groups(m);
    put_runs(m);
    put_links(m);
}
