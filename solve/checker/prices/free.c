// Prices of a space's layouts on named nodes as if no link took time (docs/PROOFS.md 15.4): one
// replica, on groups with all their device groups, as solve/checker/prices/places.c has it, with
// transfers and syncs of 0.
#include <string.h>

#include "solve/checker/prices/prices.h"

static const double unlimited = 1e18; // bytes per second

struct free_prices {
    const struct problem *problem;
    struct problem ranks; // each of its groups is one device group of the current layout
    struct node_group *groups;
    struct check_pricer inner;
    struct check_problem *p;
    int *nodes; // [group]
};

static void take_layout(struct free_prices *x, const struct check_layout *l)
{
    for (int g = 0; g < x->ranks.cluster.group_count; g++) {
        x->groups[g] = x->problem->cluster.groups[g];
        x->groups[g].nodes = l->value[KEY_DATA];
        x->groups[g].gpus_per_node = l->value[KEY_TENSOR] * l->value[KEY_CONTEXT];
        x->groups[g].nic_count = 0;
    }
}

// Every replica needs a device group for each rank; else there are no plans.
static void count_slots(struct free_prices *x, const struct check_layout *l)
{
    struct check_problem *p = x->p;
    int64_t all = 0, needed = (int64_t)l->value[KEY_DATA] * l->value[KEY_PIPELINE],
            gpus = (int64_t)l->value[KEY_TENSOR] * l->value[KEY_CONTEXT];
    for (int g = 0; g < p->group_count; g++) {
        int64_t each = x->problem->cluster.groups[g].gpus_per_node / gpus;
        p->groups[g].slots = p->groups[g].excluded ? 0 : (int)(each * x->nodes[g]);
        all += p->groups[g].slots;
    }
    for (int g = 0; g < p->group_count && all < needed; g++) p->groups[g].slots = 0;
}

static bool price_bytes(void *context, const struct check_layout *l, struct check_problem **to)
{
    struct free_prices *x = context;
    take_layout(x, l);
    if (!x->inner.bytes(x->inner.context, l, to)) return false;
    x->p = *to;
    x->p->name = x->problem->name;
    count_slots(x, l);
    return true;
}

static bool price_times(void *context)
{
    struct free_prices *x = context;
    struct check_problem *p = x->p;
    if (!x->inner.times(x->inner.context)) return false;
    size_t prices = (size_t)(p->slices * p->group_count * p->group_count * PARTS);
    for (int c = 0; c < p->cut_count; c++) {
        memset(p->cuts[c].forward, 0, prices * sizeof(int64_t));
        for (int o = 0; o < p->boundary_count; o++)
            memset(p->cuts[c].backward[o], 0, prices * sizeof(int64_t));
    }
    for (int o = 0; o < p->gradient_count; o++) {
        for (int g = 0; g < p->group_count; g++) p->groups[g].sync_constant[o] = 0;
        for (int run = 0; run < p->run_count; run++)
            memset(p->runs[run].sync[o], 0, (size_t)p->group_count * sizeof(int64_t));
    }
    p->embedding = NULL;
    return true;
}

enum status space_free_pricer_open(struct check_pricer *to, const struct problem *problem,
                                   struct arena *arena, struct error *err)
{
    struct free_prices *x = TAKE(arena, 1, struct free_prices);
    const struct cluster *c = &problem->cluster;
    struct group_link *inside = TAKE(arena, c->group_count, struct group_link);
    *x = (struct free_prices){.problem = problem, .ranks = *problem};
    x->groups = TAKE(arena, c->group_count, struct node_group);
    x->nodes = TAKE(arena, c->group_count, int);
    for (int g = 0; g < c->group_count; g++)
        x->groups[g] = c->groups[g], inside[g] = (struct group_link){g, g, {unlimited, 0}};
    for (int i = 0; i < c->places.node_count; i++) x->nodes[c->places.nodes[i].group]++;
    x->ranks.cluster.groups = x->groups;
    x->ranks.cluster.links = inside;
    x->ranks.cluster.link_count = c->group_count;
    x->ranks.cluster.places = (struct places){0};
    TRY(space_pricer_open(&x->inner, &x->ranks, arena, err));
    space_pricer_lean(&x->inner, -1, 0);
    *to = x->inner;
    to->bytes = price_bytes, to->times = price_times, to->context = x;
    return OK;
}
