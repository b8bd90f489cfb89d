// The problems of placements.h: a few nodes, each link different.
#include "tests/support/oracle/placements.h"

#include <string.h>

enum { GROUPS = 3, NODES = 6, PLACES = 6 };

// Network cards of any kinds, one entry each.
static void put_cards(struct node_group *g, struct random *rng, struct arena *arena)
{
    g->nics = TAKE(arena, NIC_KIND_COUNT, struct nic);
    g->nic_count = 0;
    for (int kind = 0; kind < NIC_KIND_COUNT; kind++)
        if (random_chance(rng, kind == NIC_ETHERNET ? 80 : 60))
            g->nics[g->nic_count++] = (struct nic){
                (enum nic_kind)kind,
                (int)random_between(rng, 1, 2),
                {(double)random_between(rng, 1, 20) * (kind == NIC_ETHERNET ? 1e8 : 3e8),
                 (double)random_between(rng, 1, 9) * 1e-6}};
}

// What is not measured follows from cards and levels.
static void forget_links(struct problem *p, struct random *rng, struct arena *arena)
{
    struct cluster *c = &p->cluster;
    struct places *x = &c->places;
    int measured = (int)random_between(rng, 0, 1) * 40;
    c->link_count = 0;
    p->job.placement.homogeneous_groups = random_chance(rng, 30);
    for (int g = 0; g < c->group_count; g++) put_cards(&c->groups[g], rng, arena);
    for (int i = 0; i < NODES * NODES; i++)
        if (!random_chance(rng, measured)) x->measured[i] = (struct link){0, 0};
    if (random_chance(rng, 50)) return;
    x->levels = TAKE(arena, 1, struct network_level);
    x->levels[0] = (struct network_level){
        "rack",
        {(double)random_between(rng, 1, 40) * 1e8, (double)random_between(rng, 1, 5) * 1e-6}};
    x->level_count = 1;
    for (int i = 0; i < NODES; i++) x->nodes[i].switches[0] = (int)random_between(rng, -1, 1);
}

static void put_places(struct problem *p, struct random *rng, struct arena *arena)
{
    static const char *const names[NODES] = {"n0", "n1", "n2", "n3", "n4", "n5"};
    struct cluster *c = &p->cluster;
    struct places *x = &c->places;
    int left = NODES;
    x->nodes = TAKE(arena, NODES, struct cluster_node);
    for (int g = 0; g < c->group_count; g++) {
        int most = left - (c->group_count - 1 - g);
        c->groups[g].nodes = g == c->group_count - 1 ? most : (int)random_between(rng, 1, most);
        left -= c->groups[g].nodes;
        c->groups[g].gpus_per_node = p->job.layout.tensor *
                                     p->job.layout.context; // a device group a node
        for (int i = 0; i < c->groups[g].nodes; i++) {
            x->nodes[x->node_count] = (struct cluster_node){
                .name = names[x->node_count], .group = g, .switches = TAKE(arena, 1, int)};
            x->node_count++;
        }
    }
    p->job.placement.homogeneous_groups = false;
    // Without any latency the graph may have no delays, whatever the nodes' cards would add.
    static const struct nic slow = {NIC_ETHERNET, 1, {1e9, 1e-3}};
    int64_t latency_most = random_chance(rng, 30) ? 0 : 5;
    for (int g = 0; g < c->group_count && !latency_most; g++) {
        c->groups[g].nics = TAKE_COPY(arena, &slow, 1);
        c->groups[g].nic_count = 1;
        c->link_count = 0;
        memset(p->costs.transfer_share, 0, sizeof p->costs.transfer_share);
        p->costs.transfer_share[PART_LINK] = 1;
    }
    x->measured = TAKE(arena, NODES * NODES, struct link);
    for (int i = 0; i < NODES * NODES; i++)
        if (i / NODES != i % NODES)
            x->measured[i] = (struct link){(double)random_between(rng, 1, 40) * 1e8,
                                           (double)random_between(rng, 0, latency_most) * 1e-6};
    if (latency_most && random_chance(rng, 60)) forget_links(p, rng, arena);
}

static void draw_batch(struct job *j, struct random *rng, bool uneven, bool several)
{
    struct layout *l = &j->layout;
    int data = (int)random_between(rng, several && l->pipeline <= PLACES / 2 ? 2 : 1,
                                   PLACES / l->pipeline);
    int64_t together = data + (data > 2 ? random_between(rng, 0, 2) : random_between(rng, 1, 4));
    j->global_batch = uneven ? together * l->micro_batch : j->global_batch / l->data * data;
    l->data = data;
    j->placement.uneven_micro_batches = uneven;
}

// One rank on one of the nodes, which no link connects: what starts a transfer has a cost, and none
// is ever sent.
static void draw_alone(struct problem *p)
{
    struct cluster *c = &p->cluster;
    p->job.global_batch /= p->job.layout.data;
    p->job.layout.data = 1;
    p->costs.transfer_launch_s = exactly(1e-5);
    memset(c->places.measured, 0, NODES * NODES * sizeof *c->places.measured);
    c->places.level_count = c->link_count = 0;
    for (int g = 0; g < c->group_count; g++) c->groups[g].nic_count = 0;
}

// A matrix that is nothing, or most of an iteration. Most would have no plan, or a great many.
static void draw_fused(struct problem *p, struct random *rng)
{
    bool roomy = random_chance(rng, 80);
    for (int g = 0; g < p->cluster.group_count && roomy; g++)
        p->cluster.groups[g].memory_bytes *= 1000;
    if (random_chance(rng, 70)) p->job.rule_count = 0;
    p->job.boundary_option_count = p->job.boundary_option_count > 0 && random_chance(rng, 20);
    p->job.gradient_option_count = p->job.gradient_option_count > 0 && random_chance(rng, 20);
    p->job.layout.fused_embedding_sync = p->model.shape.tied_embeddings = true;
    p->model.shape.vocabulary *= random_chance(rng, 50) ? random_between(rng, 10, 400) : 1;
}

void random_placed_problem(struct problem *p, struct random *rng, int asked, struct arena *arena)
{
    struct random_limits limits = random_limits_small();
    struct error err = {OK, ""};
    bool uneven = asked & PLACED_UNEVEN, fused = asked & PLACED_FUSED;
    if (fused) limits.flavour = FLAVOUR_SHAPE;
    limits.layers_max = uneven || fused ? 4 : 7;
    limits.stages_max = 3;
    limits.groups_max = GROUPS;
    limits.plans_max = 3000;
    limits.keeps = true;
    do {
        random_problem(p, rng, &limits, arena);
        struct layout *l = &p->job.layout;
        l->zero = l->zero > 1 ? 1 : l->zero;
        l->barrier = true;
        if (fused) draw_fused(p, rng);
        draw_batch(&p->job, rng, uneven, uneven || (fused && random_chance(rng, 80)));
        p->cluster.places = (struct places){0};
        put_places(p, rng, arena);
        if (!asked && l->pipeline == 1 && random_chance(rng, 20)) draw_alone(p);
    } while (p->job.space.given || p->job.layout.virtual_stages > 1 ||
             (fused && p->job.layout.pipeline < 2) || problem_check(p, &err) != OK ||
             problem_check_places(p, &err) != OK);
}

// Links that are equal, that differ by a factor of a thousand, or that take no time.
static void draw_extremes(struct problem *p, struct random *rng)
{
    static const double rates[] = {1e6, 1e8, 1e9, 1e11, 1e15};
    struct places *x = &p->cluster.places;
    int few = (int)random_between(rng, 1, 3), first = (int)random_between(rng, 0, 2);
    bool free = random_chance(rng, 30);
    for (int i = 0; i < NODES * NODES; i++) {
        if (x->measured[i].bytes_per_s <= 0) continue;
        x->measured[i].bytes_per_s = rates[first + random_between(rng, 0, few - 1)];
        x->measured[i].latency_s = free ? 0 : random_chance(rng, 10) ? 1e-3 : 1e-6;
    }
    if (!random_chance(rng, 60)) return;
    // Parts of transfers that block, keep links busy, and wait.
    double *share = p->costs.transfer_share;
    memset(share, 0, sizeof p->costs.transfer_share);
    share[PART_BLOCKING] = (double)random_between(rng, 0, 4) / 8;
    share[PART_OVERHEAD] = random_chance(rng, 40) ? 0.125 : 0;
    share[PART_LINK] = (double)random_between(rng, 0, 3) / 8;
    share[PART_DELAY] = 1 - share[PART_BLOCKING] - share[PART_LINK] - share[PART_OVERHEAD];
}

// Syncs that are most of an iteration.
static void draw_heavy_gradients(struct problem *p, struct random *rng)
{
    int64_t times = random_between(rng, 10, 1000);
    for (int i = 0; i < p->model.run_count; i++) p->model.runs[i].measured.gradient_bytes *= times;
}

void random_crowded_problem(struct problem *p, struct random *rng, int asked, struct arena *arena)
{
    struct error err = {OK, ""};
    do {
        random_placed_problem(p, rng, asked, arena);
        for (int g = 0; g < p->cluster.group_count; g++)
            p->cluster.groups[g].gpus_per_node *= (int)random_between(rng, 1, 2);
        p->job.placement.homogeneous_groups = random_chance(rng, 30);
        if (random_chance(rng, 60)) draw_extremes(p, rng);
        if (random_chance(rng, 50)) draw_heavy_gradients(p, rng);
    } while (problem_check(p, &err) != OK || problem_check_places(p, &err) != OK);
}

// A first kind of card for each group and slow ones for both.
static void put_two_kinds(struct problem *p, struct random *rng, struct arena *arena)
{
    double slower = random_chance(rng, 50) ? 1e6 : 1e8;
    for (int g = 0; g < 2; g++) {
        struct node_group *to = &p->cluster.groups[g];
        to->nics = TAKE(arena, 2, struct nic);
        to->nic_count = 2;
        to->nics[0] = (struct nic){g ? NIC_ROCE : NIC_INFINIBAND,
                                   (int)random_between(rng, 1, 2),
                                   {(double)random_between(rng, 1, 20) * 1e9, 1e-6}};
        to->nics[1] =
            (struct nic){NIC_ETHERNET, 1, {(double)random_between(rng, 1, 20) * slower, 5e-6}};
    }
}

void random_crossing_problem(struct problem *p, struct random *rng, struct arena *arena)
{
    struct error err = {OK, ""};
    struct cluster *c = &p->cluster;
    struct layout *l = &p->job.layout;
    do {
        random_crowded_problem(p, rng, 0, arena);
        if (l->pipeline != 2 || l->data < 2 || c->group_count < 2) continue;
        struct places *x = &c->places;
        c->group_count = 2;
        c->link_count = x->level_count = 0;
        x->measured = NULL;
        x->node_count = l->data + random_chance(rng, 30);
        p->job.placement.homogeneous_groups = false;
        p->job.rule_count = 0;
        c->groups[0].nodes = (int)random_between(rng, 1, x->node_count - 1);
        c->groups[1].nodes = x->node_count - c->groups[0].nodes;
        for (int i = 0; i < x->node_count; i++) x->nodes[i].group = i >= c->groups[0].nodes;
        for (int g = 0; g < 2; g++) c->groups[g].gpus_per_node = 2 * l->tensor * l->context;
        put_two_kinds(p, rng, arena);
    } while (l->pipeline != 2 || l->data < 2 || c->group_count != 2 || c->places.measured ||
             problem_check(p, &err) != OK || problem_check_places(p, &err) != OK);
}
