// Naming the nodes of a cluster changes no price by itself: if every link is as the groups state, a
// plan whose ranks are in the framework's order (replicas of a stage next to each other, stage
// after stage) takes the same time on named nodes as without names, except for messages that stay
// within a node; and the best plan on named nodes is no slower than the best without.
//
//   test_natural [TRIALS] [SEED]
#include "formulate/price/price.h"
#include "solve/places/internal.h"
#include "tests/support/draws/fabric.h"
#include "tests/support/folder.h"
#include "tests/support/placed.h"
#include "tests/support/check.h"

enum { TRIALS_OF_CI = 2000, BEST_PLACES = 5 };

static int trials = TRIALS_OF_CI;
static uint64_t first_seed = 1;
static struct {
    int compared, rings, leaving, equal, shared, solved, trees, fused, fused_apart, fused_several;
    int inside; // all ranks on one node of a group with a link stated to itself
} seen;

// ---- drawing

static void draw_groups(struct problem *p, struct random *rng, struct arena *arena)
{
    static const int sizes[] = {1, 2, 4, 8, 3, 6};
    struct cluster *c = &p->cluster;
    bool stated = random_chance(rng, 15), slow = random_chance(rng, 20);
    c->links = NULL, c->link_count = 0;
    for (int g = 0; g < c->group_count; g++) {
        struct node_group *to = &c->groups[g];
        int kinds = (int)random_between(rng, 1, 2), per = sizes[random_between(rng, 0, 5)];
        to->gpus_per_node = p->job.layout.tensor * p->job.layout.context * per;
        to->nodes = (int)random_between(rng, 1, 4);
        to->intra = (struct link){(double)random_between(rng, 60, 300) * 1e9,
                                  (double)random_between(rng, 0, 9) * 1e-6};
        to->nics = TAKE(arena, 2, struct nic);
        to->nic_count = kinds;
        for (int k = 0; k < kinds; k++)
            to->nics[k] = (struct nic){k ? NIC_ETHERNET : NIC_INFINIBAND,
                                       (int)random_between(rng, 1, 8),
                                       {(double)random_between(rng, 1, 50) * 1e9,
                                        (double)random_between(rng, slow ? 0 : 9, 20) * 1e-6}};
    }
    if (!stated) return;
    c->links = TAKE(arena, 1, struct group_link);
    c->links[c->link_count++] =
        (struct group_link){0, 0, {(double)random_between(rng, 1, 40) * 1e9, 1e-5}};
}

// Measured collectives of a GPU among the ranks of a sync, and messages: between nodes, then
// inside, where they take less.
static void draw_tables(struct problem *p, struct random *rng, struct arena *arena)
{
    struct costs *c = &p->costs;
    const struct layout *l = &p->job.layout;
    c->collectives = TAKE(arena, 4 * p->cluster.group_count, struct collective_times);
    c->collective_count = 0;
    for (int i = 0; i < 2 * p->cluster.group_count; i++) {
        double first_s = (double)random_between(rng, 10, 40) * 1e-6,
               last_s = first_s * (double)random_between(rng, 1, 20);
        if (random_chance(rng, 30) || l->data * l->context < 2) continue;
        for (int inside = 0; inside < 2; inside++) {
            struct collective_times *to = &c->collectives[c->collective_count++];
            *to = (struct collective_times){.gpu = p->cluster.groups[i / 2].gpu,
                                            .send = i % 2,
                                            .between_nodes = !inside,
                                            .ranks = i % 2 ? 2 : l->data * l->context,
                                            .point_count = 2,
                                            .bytes = TAKE(arena, 2, double),
                                            .seconds = TAKE(arena, 2, double)};
            to->bytes[0] = 1e3, to->bytes[1] = 1e6;
            to->seconds[0] = inside ? first_s / 5 : first_s;
            to->seconds[1] = inside ? last_s / 5 : last_s;
        }
    }
}

// One group whose nodes can each hold the whole pipeline; a node's link to itself is stated.
static void gather(struct problem *p, struct random *rng, struct arena *arena)
{
    const struct layout *l = &p->job.layout;
    struct cluster *c = &p->cluster;
    c->group_count = c->link_count = 1;
    c->groups[0].gpus_per_node = l->tensor * l->context * l->data * l->pipeline;
    c->links = TAKE(arena, 1, struct group_link);
    c->links[0] = (struct group_link){.link = {(double)random_between(rng, 1, 400) * 1e9, 1e-5}};
}

// Networks on which trees of few ranks are faster for a long message: now and then.
static void draw_far(struct cluster *c, const struct random *rng)
{
    struct random own = {rng->state ^ UINT64_C(0x666172)};
    if (!random_chance(&own, 70)) return;
    for (int g = 0; g < c->group_count; g++)
        for (int i = 0; i < c->groups[g].nic_count; i++) c->groups[g].nics[i].link.latency_s += 0.5;
}

enum flavour { PLAIN, FUSED, INSIDE };

static void draw(struct problem *p, struct random *rng, enum flavour flavour, struct arena *arena)
{
    struct random_limits limits = random_limits_small();
    struct error err;
    limits.layers_max = 6;
    limits.stages_max = 4;
    limits.groups_max = 2;
    limits.keeps = true;
    if (flavour == FUSED) limits.flavour = FLAVOUR_SHAPE;
    do {
        random_problem(p, rng, &limits, arena);
        struct layout *l = &p->job.layout;
        err = (struct error){OK, ""};
        l->zero = l->zero > 1 ? 1 : l->zero;
        l->barrier = true;
        if (flavour == FUSED) l->fused_embedding_sync = p->model.shape.tied_embeddings = true;
        int data = (int)random_between(rng, 1, 12);
        p->job.global_batch = p->job.global_batch / l->data * data;
        l->data = data;
        p->job.rules = NULL, p->job.rule_count = 0;
        draw_groups(p, rng, arena);
        if (flavour == INSIDE) gather(p, rng, arena);
        if (random_chance(rng, 40)) draw_tables(p, rng, arena);
        random_fabric(&p->costs, rng, arena);
        if (flavour == PLAIN) draw_far(&p->cluster, rng);
    } while (p->job.space.given || problem_check(p, &err) != OK);
}

// Whether a message may be later by staying within a node, where names let it stay.
static bool is_slow_inside(const struct problem *p)
{
    const struct costs *c = &p->costs;
    double within = c->transfer_intra_efficiency.value > 0 ? c->transfer_intra_efficiency.value
                                                           : c->intra_efficiency.value;
    bool slow = c->collective_count && p->cluster.link_count; // tables are no match for the stated
    for (int g = 0; g < p->cluster.group_count; g++) {
        const struct node_group *from = &p->cluster.groups[g];
        for (int k = 0; k < from->nic_count; k++) {
            const struct link *to = &from->nics[k].link;
            slow = slow || to->latency_s < from->intra.latency_s ||
                   to->bytes_per_s > from->intra.bytes_per_s * within;
        }
        for (int i = 0; i < p->cluster.link_count; i++) {
            const struct link *to = &p->cluster.links[i].link;
            slow = slow || to->latency_s < from->intra.latency_s ||
                   to->bytes_per_s > from->intra.bytes_per_s * within;
        }
    }
    return slow;
}

// The same problem with a name for each node.
static bool name_nodes(struct problem *to, const struct problem *from, struct arena *arena)
{
    struct error err = {OK, ""};
    struct cluster *c = &to->cluster;
    int count = 0;
    *to = *from;
    for (int g = 0; g < c->group_count; g++) count += c->groups[g].nodes;
    c->places = (struct places){.nodes = TAKE(arena, count, struct cluster_node)};
    for (int g = 0; g < c->group_count; g++)
        for (int i = 0; i < c->groups[g].nodes; i++)
            c->places.nodes[c->places.node_count++] =
                (struct cluster_node){arena_print(arena, "%d-%d", g, i), g, TAKE(arena, 1, int)};
    return problem_check(to, &err) == OK && problem_check_places(to, &err) == OK;
}

// ---- the framework's order

// Device groups of the group's nodes, one after the other. If every stage has room within a node,
// or in nodes of its own, it is placed so.
static void stand_in_order(struct placed_plan *plan, const struct placed *p, const int *chosen)
{
    const struct priced_places *x = p->priced->places;
    int used[GROUPS_MAX] = {0}, d = p->replicas;
    for (int rank = 0; rank < p->ranks; rank++) {
        int stage = choices_stage_of(p->c, rank, 0),
            group = p->c->stages[stage].items[chosen[stage]].group, first = 0, nodes = 0;
        while (x->nodes[first].group != group) first++;
        for (int i = 0; i < x->node_count; i++) nodes += x->nodes[i].group == group;
        int slots = x->nodes[first].slots, left = slots - used[group] % slots;
        bool within = d <= slots && p->ranks <= nodes * (slots / d),
             alone = d > slots && p->ranks * ((d + slots - 1) / slots) <= nodes;
        if (left < slots && ((within && left < d) || alone)) used[group] += left;
        for (int r = 0; r < d; r++) plan->node[r * p->ranks + rank] = first + used[group]++ / slots;
    }
}

// Whether no stage can be priced with more other rings than it shares its nodes' cards with.
static bool is_regular(const struct placed *p, int group)
{
    const struct priced_places *x = p->priced->places;
    int slots = 0, nodes = 0, d = p->replicas;
    for (int i = 0; i < x->node_count; i++)
        if (x->nodes[i].group == group) slots = x->nodes[i].slots, nodes++;
    return d % slots == 0 || (d <= slots && p->ranks <= nodes * (slots / d)) ||
           (d > slots && p->ranks * ((d + slots - 1) / slots) <= nodes);
}

// ---- comparing

static int like_of(const struct choices *c, int stage, const struct plan_stage *s)
{
    for (int i = 0; i < c->stages[stage].count; i++) {
        const struct choice *x = &c->stages[stage].items[i];
        if (x->first_layer == choices_place(c, s->first_layer) &&
            x->layer_count == s->layer_count && x->group == s->group &&
            x->gradient_option == s->gradient_option && x->recompute == s->recompute &&
            x->recomputed_layers == s->recomputed_layers &&
            x->boundary_option == s->boundary_option)
            return i;
    }
    return -1;
}

static void compare_stages(const struct placed *p, const struct plan *without,
                           const struct placed_plan *plan, uint64_t seed)
{
    for (int s = 0; s < p->stages; s++) {
        int rank = choices_rank_of(p->c, s);
        bool leaves = false, regular = is_regular(p, without->stages[s].group);
        for (int r = 1; r < p->replicas; r++)
            leaves = leaves || plan->node[r * p->ranks + rank] != plan->node[rank];
        int64_t named = p->syncs[s], plain = without->stages[s].sync_ns;
        if (named > plain || (regular && named != plain))
            fail_msg("problem %llu, stage %d: a sync of %lld ns, %lld ns on named nodes",
                     (unsigned long long)seed, s, (long long)plain, (long long)named);
        seen.rings += p->replicas > 1 && plain > 0;
        seen.leaving += leaves && plain > 0;
        seen.shared += leaves && !regular && named == plain && plain > 0;
    }
}

// Whether any rank is on its neighbour's node: messages stay there then.
static bool stays_within(const struct placed *p, const struct placed_plan *plan)
{
    for (int i = 0; i < p->replicas * p->ranks; i++)
        if (i % p->ranks && plan->node[i] == plan->node[i - 1]) return true;
    return plan->node[0] == plan->node[p->ranks - 1];
}

// Whether one node has all ranks.
static bool stays_on_one(const struct placed *p, const struct placed_plan *plan)
{
    for (int i = 1; i < p->replicas * p->ranks; i++)
        if (plan->node[i] != plan->node[0]) return false;
    return true;
}

// Whether the ring of both ends is on one node.
static bool stays(const struct placed *p, const struct placed_plan *plan)
{
    bool one = true;
    for (int i = 0; i < p->replicas; i++)
        one = one && plan->node[i * p->ranks] == plan->node[0] &&
              plan->node[i * p->ranks + p->ranks - 1] == plan->node[0];
    return one;
}

// Links between nodes are all equal for one group. With two groups the ring has those between them,
// and those within each group whose stage has no room on one node, as priced without names.
static void compare_embedding(const struct placed *p, const struct plan *without,
                              const struct placed_plan *plan, const struct problem *named,
                              uint64_t seed)
{
    int last = p->stages - 1;
    bool regular = is_regular(p, without->stages[0].group) &&
                   is_regular(p, without->stages[last].group),
         one_group = without->stages[0].group == without->stages[last].group;
    if (!placed_fuses_embeddings(p)) return;
    int64_t plain = without->embedding_sync_ns, own = p->embedding_ns;
    bool inside = stays(p, plan);
    if ((own > plain && !is_slow_inside(named)) || (!inside && own > plain) ||
        (!inside && (regular || one_group) && own != plain))
        fail_msg("problem %llu: a fused embedding sync of %lld ns, %lld ns on named nodes",
                 (unsigned long long)seed, (long long)plain, (long long)own);
    seen.fused += !inside && own == plain && plain > 0;
    seen.fused_apart += !inside && own == plain && !one_group;
    seen.fused_several += !inside && own == plain && p->replicas > 1;
}

static void compare(const struct problem *named, const struct plan *without, uint64_t seed,
                    struct arena *arena)
{
    struct priced priced;
    struct placed *p;
    int like[16];
    MUST(price_problem(&priced, named, arena, &own_err));
    MUST(placed_open(&p, &priced, arena, &own_err));
    for (int s = 0; s < p->stages; s++) {
        struct plan_stage stage = without->stages[s];
        for (int g = 0; g < priced.group_count; g++)
            if (!strcmp(priced.groups[g].name, without->group_names[stage.group])) stage.group = g;
        without->stages[s].group = stage.group;
        like[s] = like_of(p->c, s, &stage);
        if (like[s] < 0) return;
    }
    struct placed_plan plan = placed_plan_empty(p, arena);
    stand_in_order(&plan, p, like);
    for (int i = 0; i < p->replicas * p->stages; i++) plan.chosen[i] = like[i % p->stages];
    placed_evaluate(p, &plan, INT64_MAX);
    compare_stages(p, without, &plan, seed);
    compare_embedding(p, without, &plan, named, seed);
    if (plan.time_ns > without->iteration_ns && !is_slow_inside(named))
        fail_msg("problem %llu: %lld ns, on named nodes %lld ns", (unsigned long long)seed,
                 (long long)without->iteration_ns, (long long)plan.time_ns);
    seen.compared++;
    bool regular = true;
    for (int s = 0; s < p->stages; s++)
        regular = regular && is_regular(p, without->stages[s].group);
    bool on_one = stays_on_one(p, &plan),
         whole = priced.group_count == 1 && (on_one || !stays_within(p, &plan)) && regular;
    seen.inside += whole && on_one && p->ranks > 1 && named->cluster.link_count;
    if (whole && p->ranks > 1 && plan.time_ns != without->iteration_ns)
        fail_msg("problem %llu: %lld ns, on named nodes %lld ns", (unsigned long long)seed,
                 (long long)without->iteration_ns, (long long)plan.time_ns);
    seen.equal += plan.time_ns == without->iteration_ns;
}

// The best with names is no slower than the best without.
static void compare_best(const struct problem *named, const struct plan *without, uint64_t seed,
                         struct arena *arena)
{
    struct priced priced;
    struct solve_result r;
    MUST(price_problem(&priced, named, arena, &own_err));
    if (!placed_solve_from(&r, &priced, NULL, false, arena) ||
        r.plan.iteration_ns > without->iteration_ns)
        fail_msg("problem %llu: the best takes %lld ns without names, %lld ns with them",
                 (unsigned long long)seed, (long long)without->iteration_ns,
                 (long long)r.plan.iteration_ns);
    assert_accepted(&r.plan, named, arena);
    seen.solved++;
}

// Where a part of a message rounds to nothing on every link that the plain problem has, its graph
// has no operation for it, and another order follows.
static bool same_parts(const struct priced *plain, const struct problem *named, struct arena *arena)
{
    struct priced priced;
    bool same = true;
    MUST(price_problem(&priced, named, arena, &own_err));
    for (int part = 0; part < PART_COUNT; part++)
        same = same && priced_uses_part(plain, (enum transfer_part)part) ==
                           priced_uses_part(&priced, (enum transfer_part)part);
    return same;
}

static bool sums_by_trees(const struct problem *p, const struct priced *with, struct arena *arena)
{
    struct problem rings = *p;
    struct priced priced;
    bool other = false;
    rings.costs.tree_bandwidth_share = exactly(0);
    MUST(price_problem(&priced, &rings, arena, &own_err));
    for (int g = 0; g < priced.group_count; g++)
        other = other || (!priced.groups[g].excluded && priced.groups[g].sync_constant_ns[0] !=
                                                            with->groups[g].sync_constant_ns[0]);
    return other;
}

static void try_names(int count, enum flavour flavour, struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < count; i++, arena_reset(arena, mark)) {
        struct random rng = {first_seed + (uint64_t)i};
        struct problem problem, named;
        struct priced priced;
        struct solve_result r;
        struct solve_settings settings;
        struct error err = {OK, ""};
        draw(&problem, &rng, flavour, arena);
        solve_defaults(&settings);
        settings.progress = 0;
        settings.gap = 0;
        if (price_problem(&priced, &problem, arena, &err) == OK &&
            name_nodes(&named, &problem, arena)) {
            CHECK_OK(solve_run(&r, &priced, &settings, NULL, NULL, arena, &err));
            if (r.plan.stage_count && same_parts(&priced, &named, arena)) {
                compare(&named, &r.plan, first_seed + (uint64_t)i, arena);
                seen.trees += sums_by_trees(&problem, &priced, arena);
                int places = problem.job.layout.data * problem.job.layout.pipeline;
                if (places <= BEST_PLACES && !is_slow_inside(&problem))
                    compare_best(&named, &r.plan, first_seed + (uint64_t)i, arena);
            }
        }
    }
}

TEST(test_names)
{
    try_names(trials, PLAIN, arena);
    printf("%d plans, %d as long with names; %d rings, %d of them over several nodes, %d beside "
           "another; %d best plans; %d with sums by trees\n",
           seen.compared, seen.equal, seen.rings, seen.leaving, seen.shared, seen.solved,
           seen.trees);
    assert_true(seen.compared * 4 > trials && seen.leaving * 8 > trials &&
                seen.solved * 16 > trials && seen.trees * 200 > trials);
}

// What is stated for a group joins its nodes, named or not: within one nothing meets it.
TEST(test_inside)
{
    memset(&seen, 0, sizeof seen);
    try_names(trials / 4, INSIDE, arena);
    printf("%d plans, %d on one node beside a stated link\n", seen.compared, seen.inside);
    assert_true(seen.inside * 16 > trials);
}

TEST(test_fused)
{
    memset(&seen, 0, sizeof seen);
    try_names(trials / 2, FUSED, arena);
    printf("%d plans, %d best plans; %d fused embedding syncs over several nodes as long with "
           "names, %d of several replicas, %d between two groups\n",
           seen.compared, seen.solved, seen.fused, seen.fused_several, seen.fused_apart);
    assert_true(seen.fused * 16 > trials && seen.fused_several * 20 > trials &&
                seen.fused_apart * 100 > trials && seen.solved * 50 > trials);
}

// ---- priced documents whose rings share cards

// The first draw whose prices have several levels.
static void draw_shared(struct priced *priced, struct arena *arena)
{
    for (uint64_t seed = 1;; seed++) {
        struct random rng = {seed};
        struct problem problem, named;
        draw(&problem, &rng, PLAIN, arena);
        if (!name_nodes(&named, &problem, arena)) continue;
        MUST(price_problem(priced, &named, arena, &own_err));
        if (priced->places->ring_level_count > 1 && priced->places->transport_count == 1) return;
    }
}

TEST(test_documents)
{
    char folder[FOLDER_SIZE];
    struct priced priced, again;
    assert_int_equal(folder_make(folder), 0);
    const char *path = arena_print(arena, "%s/priced.json", folder);
    draw_shared(&priced, arena);
    struct priced_places *x = priced.places;
    size_t links = priced_ring_links(x), prices = (size_t)x->ring_level_count * links, at = links;
    int levels = priced.group_count * x->rings_most;
    CHECK_OK(priced_save(&priced, path, arena, &err));
    CHECK_OK(priced_load(&again, path, arena, &err));
    assert_int_equal(again.places->rings_most, x->rings_most);
    assert_int_equal(again.places->ring_level_count, x->ring_level_count);
    assert_memory_equal(again.places->ring_level[0], x->ring_level[0],
                        (size_t)levels * sizeof **x->ring_level);
    assert_memory_equal(again.places->ring_ns[0][0], x->ring_ns[0][0], prices * sizeof(int64_t));
    while (x->ring_constant_ns[0][at] <= 0) at++;
    x->ring_constant_ns[0][at] = x->ring_constant_ns[0][at % links] - 1;
    CHECK_REFUSED(priced_check(&priced, &err), "least at level 0");
    CHECK_OK(priced_save(&priced, path, arena, &err));
    assert_int_not_equal(priced_load(&again, path, arena, &err), OK);
    folder_remove(folder);
}

ARGUMENT(trials)
ARGUMENT(first_seed)
