// The layouts of a space to try first on named nodes: those that are best with unnamed nodes.
#include <stdlib.h>

#include "data/base/least.h"
#include "data/places/places.h"
#include "data/results/bound.h"
#include "solve/places/space/space.h"

enum { PROMISING_MAX = 64 };
#define LIKELY_GAP 0.02
// Share of a time limit, and the most seconds in any case.
static const double time_share = 0.25, time_most_s = 10;

// The PROMISING_MAX layouts with the least values, in order.
struct promising_best {
    const struct layouts *layouts;
    struct placed_promising *items;
    int count;
};

static bool take(void *argument, int64_t number, const struct layout *layout)
{
    struct promising_best *x = argument;
    int64_t value = x->layouts->value[number];
    int at = x->count;
    if (layout_fate_has_no_plan(layouts_fate(x->layouts, number)) || value <= 0) return true;
    if (at == PROMISING_MAX && value >= x->items[at - 1].value_ns) return true;
    if (at < PROMISING_MAX) x->count++;
    else at--;
    for (; at > 0 && x->items[at - 1].value_ns > value; at--) x->items[at] = x->items[at - 1];
    x->items[at] = (struct placed_promising){number, value, *layout};
    return true;
}

// Settings of an auxiliary search.
static struct solve_settings quick(const struct solve_settings *settings)
{
    struct solve_settings s = *settings;
    s.progress = 0;
    s.tell = NULL;
    s.alternatives = 0;
    s.evidence = s.recheck = false;
    s.program_path = s.map_path = NULL;
    s.known_bound_ns = s.cutoff_ns = 0;
    s.gap = fmax(s.gap, LIKELY_GAP);
    s.time_limit_s = s.time_limit_s > 0 ? fmin(time_share * s.time_limit_s, time_most_s)
                                        : time_most_s;
    return s;
}

// Layouts with a known plan come before those of which only a bound is known: a bound says little
// about how good a layout is.
static void put_plans_first(struct layouts *l)
{
    for (int64_t i = 0; i < l->count; i++)
        if (!layout_fate_has_no_plan(layouts_fate(l, i)) && l->value[i] > 0)
            l->value[i] = smaller(NEVER_NS + l->value[i], INT64_MAX / 2);
    for (int64_t i = 0; i < l->work_count; i++)
        if (l->work[i].iteration_ns) l->value[l->work[i].number] = l->work[i].iteration_ns;
}

// ---- links between groups, as the nodes' links are

enum { SAMPLED_NODES = 32 }; // of a group

static int by_bandwidth(const void *a, const void *b)
{
    double x = ((const struct place_link *)a)->link.bytes_per_s,
           y = ((const struct place_link *)b)->link.bytes_per_s;
    return x < y ? -1 : x > y;
}

static int sample_nodes(int *nodes, const struct cluster *c, int group)
{
    const struct places *p = &c->places;
    int count = 0, seen = 0, step = (c->groups[group].nodes + SAMPLED_NODES - 1) / SAMPLED_NODES;
    for (int i = 0; i < p->node_count && count < SAMPLED_NODES; i++)
        if (p->nodes[i].group == group && seen++ % step == 0) nodes[count++] = i;
    return count;
}

// Of the links from one group's nodes to another's the one that a quarter is slower than: slow
// links hold rings and pipelines up. false: no link connects them.
static bool usual_link(struct place_link *usual, const struct cluster *c, int from, int to)
{
    static const struct place_traffic alone = {{1, 1}, {0, 0}};
    struct place_link links[SAMPLED_NODES * SAMPLED_NODES];
    double efficiency[NIC_KIND_COUNT];
    int starts[SAMPLED_NODES], ends[SAMPLED_NODES], count = 0;
    int start_count = sample_nodes(starts, c, from), end_count = sample_nodes(ends, c, to);
    for (int kind = 0; kind < NIC_KIND_COUNT; kind++) efficiency[kind] = 1;
    for (int i = 0; i < start_count; i++)
        for (int k = 0; k < end_count; k++)
            if (starts[i] != ends[k])
                count += places_link(&links[count], c, starts[i], ends[k], &alone, efficiency);
    if (!count) return false;
    qsort(links, (size_t)count, sizeof *links, by_bandwidth);
    *usual = links[count / 4];
    return true;
}

// Nodes' own links say more than those stated for groups; cards stay, for what shares them.
static void state_links(struct cluster *bare, const struct cluster *named, struct arena *arena)
{
    int groups = named->group_count;
    bare->links = TAKE(arena, groups * groups, struct group_link);
    bare->link_count = 0;
    for (int from = 0; from < groups; from++)
        for (int to = 0; to < groups; to++) {
            struct place_link usual;
            if (!usual_link(&usual, named, from, to) || usual.origin == PLACE_CARDS) continue;
            bare->links[bare->link_count++] = (struct group_link){from, to, usual.link};
        }
}

enum status placed_find_promising(struct placed_promising **promising, int *count,
                                  const struct problem *problem,
                                  const struct solve_settings *settings, const volatile int *stop,
                                  struct arena *arena, struct error *err)
{
    struct problem *bare = TAKE(arena, 1, struct problem);
    struct solve_settings own = quick(settings);
    struct layouts_result r;
    struct space_limits limits = problem_space_limits(problem);
    struct promising_best x = {&r.layouts, TAKE(arena, PROMISING_MAX, struct placed_promising), 0};
    *bare = *problem;
    state_links(&bare->cluster, &problem->cluster, arena);
    bare->cluster.places = (struct places){0};
    bare->job.placement = (struct placement_wishes){0};
    *promising = x.items, *count = 0;
    if (problem_check(bare, &(struct error){0}) != OK) return OK;
    enum status status = layouts_search(&r, bare, &own, NULL, stop, arena, err);
    if (status == BAD_INPUT) return OK;
    TRY(status);
    put_plans_first(&r.layouts);
    space_each(&problem->job.space, &limits, take, &x);
    *count = x.count;
    return OK;
}
