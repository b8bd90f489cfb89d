// The checker's bounds on rings against all rings: the bound on the heaviest link is never above
// the least over all rings, and mostly equal to it; and the least time of a stage's sync on each
// group of nodes, on randomly drawn places; and whether rings must share nodes where no replica
// crosses from one group to another, against all placements.
//
//   test_check_rings [TRIALS] [SEED]
#include "solve/checker/places/relaxing.h"
#include "solve/places/reaches/cases.h"
#include "tests/support/check.h"
#include "tests/support/problems.h"

enum { DEFAULT_TRIALS = 3000, NODES = 7, MANY_NODES = 18, SLOTS = 2 * MANY_NODES };

static int trial_count = DEFAULT_TRIALS;
static uint64_t first_seed = 1;

struct brute {
    const int64_t *weights;
    int count, size, places, node[SLOTS], ring[SLOTS]; // places: device groups
    bool used[SLOTS];
    int64_t least;
};

// Within a node nothing, but for a ring that is all there.
static int64_t weight_of(const struct brute *x, int from, int to)
{
    return x->node[from] == x->node[to] ? 0 : x->weights[x->node[from] * x->count + x->node[to]];
}

// The node that all of the ring is on; -1: there are several.
static int only_node(const struct brute *x)
{
    for (int i = 1; i < x->size; i++)
        if (x->node[x->ring[i]] != x->node[x->ring[0]]) return -1;
    return x->node[x->ring[0]];
}

static void take_ring(struct brute *x, int64_t heaviest)
{
    int64_t last = weight_of(x, x->ring[x->size - 1], x->ring[0]);
    int node = only_node(x);
    if (last > heaviest) heaviest = last;
    if (node >= 0) last = heaviest = x->weights[node * x->count + node];
    if (last >= 0 && heaviest < x->least) x->least = heaviest;
}

// Enumerates rings; the first place of each has its lowest number.
static void all_rings(struct brute *x, int at, int64_t heaviest)
{
    if (at == x->size) {
        take_ring(x, heaviest);
        return;
    }
    for (int i = at ? x->ring[0] + 1 : 0; i < x->places; i++) {
        int64_t weight = at ? weight_of(x, x->ring[at - 1], i) : 0;
        if (x->used[i] || weight < 0 || (weight > heaviest ? weight : heaviest) >= x->least)
            continue;
        x->used[i] = true;
        x->ring[at] = i;
        all_rings(x, at + 1, weight > heaviest ? weight : heaviest);
        x->used[i] = false;
    }
}

struct drawn {
    int64_t weights[MANY_NODES * MANY_NODES];
    int slots[MANY_NODES], count, size;
};

// many: more device groups than are enumerated as sets.
static void draw(struct drawn *d, struct random *rng, bool many)
{
    int kinds = (int)random_between(rng, 1, 12), missing = (int)random_between(rng, 0, 3) * 15;
    bool racks = random_chance(rng, 40);
    d->count = many ? MANY_NODES : (int)random_between(rng, 2, NODES);
    d->size = (int)random_between(rng, 2, many ? 4 : 6);
    for (int i = 0; i < d->count; i++)
        d->slots[i] = random_chance(rng, 20) ? (int)random_between(rng, many, 2) : 1;
    for (int i = 0; i < d->count * d->count; i++) {
        bool apart = racks && i / d->count % 2 != i % d->count % 2;
        d->weights[i] = random_chance(rng, missing)
                            ? -1
                            : random_between(rng, 0, many ? 200 * kinds : kinds) + (apart ? 5 : 0);
        if (i / d->count == i % d->count && d->slots[i / d->count] < d->size) d->weights[i] = -1;
    }
}

static int64_t least_of_all(const struct drawn *d)
{
    struct brute x = {
        .weights = d->weights, .count = d->count, .size = d->size, .least = INT64_MAX};
    for (int i = 0; i < d->count; i++)
        for (int k = 0; k < d->slots[i]; k++) x.node[x.places++] = i;
    all_rings(&x, 0, -1);
    return x.least;
}

static bool holds_ring(const struct drawn *d)
{
    for (int i = 0; i < d->count; i++)
        if (d->slots[i] >= d->size) return true;
    return false;
}

// exact: counts bounds that equal the least, or, if a node holds a ring, are at most the least.
static void find_bottlenecks(bool many, int count, int *exact, int *rings, struct arena *arena)
{
    *exact = *rings = 0;
    for (int i = 0; i < count; i++) {
        struct random rng = {first_seed + (uint64_t)i};
        struct drawn d;
        draw(&d, &rng, many);
        int64_t least = least_of_all(&d),
                found = check_least_bottleneck(d.weights, d.slots, d.count, d.size, arena);
        if (found > least)
            fail_msg("trial %d: a ring of %d has links of %lld, %lld is said to be the least", i,
                     d.size, (long long)least, (long long)found);
        *exact += found == least || holds_ring(&d);
        *rings += least < INT64_MAX;
    }
    printf("%d of %d found exactly, %d with a ring\n", *exact, count, *rings);
}

TEST(test_few)
{
    int exact, rings;
    find_bottlenecks(false, trial_count, &exact, &rings, arena);
    assert_true(exact == trial_count && rings * 2 > trial_count);
}

TEST(test_many)
{
    int exact, rings, count = trial_count / 4;
    find_bottlenecks(true, count, &exact, &rings, arena);
    assert_true(exact * 2 > count && rings * 2 > count);
}

// ---- syncs

enum { GROUPS = 3, CARDS = 3, RUNS = 2, OPTIONS = 2 };

struct synced_places {
    struct check_node nodes[NODES];
    struct check_group groups[GROUPS];
    struct check_run runs[RUNS];
    struct check_problem problem;
    struct check_places places;
    unsigned char kind_of[1 << GROUPS];
    bool may_ring[GROUPS * GROUPS];
    int64_t constant[CARDS][NODES][NODES][OPTIONS],
        layer[CARDS][NODES][NODES][RUNS][OPTIONS]; // constant -1: not joined
    int64_t nothing[GROUPS], *steps[OPTIONS], counts[RUNS];
};

static bool tell_link(void *context, int kind, int from, int to, const int64_t rings[2],
                      bool *joined, struct check_ring_link *prices)
{
    const struct synced_places *x = context;
    (void)rings;
    *joined = x->constant[kind][from][to][0] >= 0;
    memcpy(prices->constant, x->constant[kind][from][to], sizeof x->constant[kind][from][to]);
    memcpy(prices->layer, x->layer[kind][from][to], sizeof x->layer[kind][from][to]);
    return true;
}

static void draw_links(struct synced_places *x, struct random *rng, int missing)
{
    for (int i = 0; i < CARDS * NODES * NODES; i++) {
        int64_t(*layer)[OPTIONS] = x->layer[i / NODES / NODES][i / NODES % NODES][i % NODES],
        *constant = x->constant[i / NODES / NODES][i / NODES % NODES][i % NODES];
        bool joined = !random_chance(rng, missing);
        int64_t speed = random_between(rng, 1, 5);
        for (int o = 0; o < OPTIONS; o++) {
            constant[o] = joined ? random_between(rng, 0, 3) : -1;
            for (int run = 0; run < RUNS; run++)
                layer[run][o] = 10 * speed + random_between(rng, 0, 4);
        }
    }
}

static void draw_synced(struct synced_places *x, struct random *rng, struct arena *arena)
{
    *x = (struct synced_places){0};
    struct check_problem *p = &x->problem;
    bool apart = random_chance(rng, 30);
    *p = (struct check_problem){.kind = check_schedule_default,
                                .barrier = true,
                                .stages = 1,
                                .ranks = 1,
                                .turns = 1,
                                .slices = 1,
                                .micro_batches = 1,
                                .layers = RUNS,
                                .group_count = GROUPS,
                                .run_count = RUNS,
                                .boundary_count = 1,
                                .gradient_count = OPTIONS,
                                .groups = x->groups,
                                .runs = x->runs};
    p->boundary = TAKE(arena, 1, struct check_option),
    p->gradient = TAKE(arena, OPTIONS, struct check_option);
    for (int g = 0; g < GROUPS; g++)
        x->groups[g] = (struct check_group){.name = "group", .excluded = random_chance(rng, 10)};
    for (int r = 0; r < RUNS; r++) {
        int64_t *none = x->nothing;
        for (int o = 0; o < OPTIONS; o++) x->steps[o] = none;
        x->counts[r] = random_between(rng, 0, 3);
        x->runs[r] = (struct check_run){"run",
                                        .count = (int)random_between(rng, 1, 3),
                                        .forward = none,
                                        .backward = none,
                                        .again[MODE_SELECTIVE] = none,
                                        .again[MODE_FULL] = none,
                                        .weight = none,
                                        .optimizer_bytes = none,
                                        .optimizer = x->steps,
                                        .stash = TAKE(arena, 3, int64_t),
                                        .working = TAKE(arena, 3, int64_t),
                                        .feedback = TAKE(arena, OPTIONS, int64_t)};
    }
    for (int set = 0; set < 1 << GROUPS; set++)
        x->kind_of[set] = (unsigned char)random_between(rng, 0, CARDS - 1);
    for (int i = 0; i < GROUPS * GROUPS; i++)
        x->may_ring[i] = !apart || (i / GROUPS == 2) == (i % GROUPS == 2);
    for (int i = 0; i < NODES; i++)
        x->nodes[i] =
            (struct check_node){"node", (int)random_between(rng, 0, GROUPS - 1),
                                random_chance(rng, 25) ? (int)random_between(rng, 0, 2) : 1};
    draw_links(x, rng, (int)random_between(rng, 0, 2) * 20);
    x->places = (struct check_places){.problem = p,
                                      .nodes = x->nodes,
                                      .node_count = NODES,
                                      .replicas = (int)random_between(rng, 2, 4),
                                      .kinds = CARDS,
                                      .kind_of = x->kind_of,
                                      .may_ring = x->may_ring,
                                      .micro_batches = 1,
                                      .unit = 1,
                                      .link = tell_link,
                                      .context = x};
}

struct all_syncs {
    const struct synced_places *x;
    int places, node[2 * NODES], ring[4];
    bool used[2 * NODES];
    int option;
    int64_t least[GROUPS]; // of a ring with a node of the group; INT64_MAX: there is none
};

static int64_t sync_over(const struct all_syncs *a, int kind, int from, int to)
{
    const struct synced_places *x = a->x;
    int64_t sum = x->constant[kind][from][to][a->option];
    if (sum < 0 || !x->may_ring[x->nodes[from].group * GROUPS + x->nodes[to].group]) return -1;
    for (int run = 0; run < RUNS; run++)
        sum += x->counts[run] * x->layer[kind][from][to][run][a->option];
    return sum;
}

static void time_ring(struct all_syncs *a)
{
    int size = a->x->places.replicas, set = 0;
    int64_t longest = 0;
    bool leaves = false;
    for (int i = 0; i < size; i++) {
        set |= 1 << a->x->nodes[a->node[a->ring[i]]].group;
        leaves = leaves || a->node[a->ring[i]] != a->node[a->ring[0]];
    }
    for (int i = 0; i < size; i++) {
        if (leaves && a->node[a->ring[i]] == a->node[a->ring[(i + 1) % size]]) continue;
        int64_t sync =
            sync_over(a, a->x->kind_of[set], a->node[a->ring[i]], a->node[a->ring[(i + 1) % size]]);
        if (sync < 0) return;
        longest = sync > longest ? sync : longest;
    }
    for (int g = 0; g < GROUPS; g++)
        if (set >> g & 1 && longest < a->least[g]) a->least[g] = longest;
}

static void all_orders(struct all_syncs *a, int at)
{
    if (at == a->x->places.replicas) {
        time_ring(a);
        return;
    }
    for (int i = at ? a->ring[0] + 1 : 0; i < a->places; i++) {
        if (a->used[i]) continue;
        a->used[i] = true;
        a->ring[at] = i;
        all_orders(a, at + 1);
        a->used[i] = false;
    }
}

// Of the stage that is drawn, on each group, with each option.
static void compare_syncs(int trial, const struct synced_places *x,
                          const struct check_problem *relaxed, int *reached, int *rings)
{
    struct all_syncs a = {.x = x};
    for (int i = 0; i < NODES; i++)
        for (int k = 0; k < x->nodes[i].slots && !x->groups[x->nodes[i].group].excluded; k++)
            a.node[a.places++] = i;
    for (a.option = 0; a.option < OPTIONS; a.option++) {
        for (int g = 0; g < GROUPS; g++) a.least[g] = INT64_MAX;
        all_orders(&a, 0);
        for (int g = 0; g < GROUPS; g++) {
            int64_t sum = relaxed->groups[g].sync_constant[a.option];
            for (int run = 0; run < RUNS; run++)
                sum += x->counts[run] * relaxed->runs[run].sync[a.option][g];
            if (sum > a.least[g])
                fail_msg(
                    "trial %d: group %d, option %d: a sync takes %lld at least, one takes %lld",
                    trial, g, a.option, (long long)sum, (long long)a.least[g]);
            *rings += a.least[g] < INT64_MAX;
            *reached += a.least[g] < INT64_MAX && 10 * sum >= 8 * a.least[g];
        }
    }
}

TEST(test_syncs)
{
    int reached = 0, rings = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < trial_count / 4; i++, arena_reset(arena, mark)) {
        struct random rng = {first_seed + (uint64_t)i};
        struct synced_places x;
        struct check_problem relaxed;
        const struct reader r = {"places", &err};
        const struct check_relaxation by_groups = {false, -1, false};
        uint64_t work = UINT64_MAX / 2;
        draw_synced(&x, &rng, arena);
        CHECK_OK(check_relax_places(&relaxed, &x.places, &by_groups, &r, &work, arena));
        compare_syncs(i, &x, &relaxed, &reached, &rings);
    }
    printf("%d syncs, %d of them within a fifth of the least\n", rings, reached);
    assert_true(rings > trial_count / 4 && reached * 2 > rings);
}

// ---- rings that share a node

enum { CROWD_NODES = 5, CROWD_PLACES = 6 };

struct crowd {
    const struct check_places *x;
    int ranks, left[CROWD_NODES], node[CROWD_PLACES]; // [rank * replicas + replica]
    bool found;                                       // a placement with a rank alone on its nodes
};

static bool is_alone(const struct crowd *c, int rank)
{
    int d = c->x->replicas;
    for (int i = 0; i < c->ranks * d; i++)
        for (int k = rank * d; k < (rank + 1) * d; k++)
            if (i / d != rank && c->node[i] == c->node[k]) return false;
    return true;
}

static void end_placement(struct crowd *c)
{
    bool on[GROUPS] = {false};
    for (int replica = 0; replica < c->x->replicas; replica++)
        on[c->x->nodes[c->node[replica]].group] = true;
    for (int rank = 0; rank < c->ranks && on[0] && on[1]; rank++)
        c->found = c->found || is_alone(c, rank);
}

// Every placement in which each replica is within the group of its first rank.
static void place_all(struct crowd *c, int at)
{
    int d = c->x->replicas;
    if (at == c->ranks * d) {
        end_placement(c);
        return;
    }
    for (int i = 0; i < CROWD_NODES && !c->found; i++) {
        if (!c->left[i] || (at >= d && c->x->nodes[i].group != c->x->nodes[c->node[at % d]].group))
            continue;
        c->left[i]--;
        c->node[at] = i;
        place_all(c, at + 1);
        c->left[i]++;
    }
}

// The planner's answer.
static bool planner_crowds(const struct crowd *c, struct arena *arena)
{
    struct priced_node nodes[CROWD_NODES];
    struct priced_places places = {.nodes = nodes, .node_count = CROWD_NODES};
    struct priced p = {.group_count = 2, .rank_count = c->ranks, .places = &places};
    const struct placed_reaches m = {.p = &p, .arena = arena};
    p.layout.data = c->x->replicas;
    for (int i = 0; i < CROWD_NODES; i++)
        nodes[i] =
            (struct priced_node){.group = c->x->nodes[i].group, .slots = c->x->nodes[i].slots};
    return placed_must_share_nodes(&m, 3);
}

TEST(test_crowds)
{
    int seen[2] = {0};
    struct arena_mark mark = arena_set_mark(arena);
    for (int trial = 0; trial < trial_count / 4; trial++, arena_reset(arena, mark)) {
        struct random rng = {first_seed + (uint64_t)trial};
        struct check_node nodes[CROWD_NODES];
        struct check_group groups[2] = {{.name = "a"}, {.name = "b"}};
        int ranks = (int)random_between(&rng, 2, 3);
        struct check_problem p = {.group_count = 2, .groups = groups, .ranks = ranks};
        struct check_places x = {.problem = &p,
                                 .nodes = nodes,
                                 .node_count = CROWD_NODES,
                                 .replicas = (int)random_between(&rng, 2, CROWD_PLACES / ranks)};
        struct crowd c = {.x = &x, .ranks = ranks};
        for (int i = 0; i < CROWD_NODES; i++) {
            nodes[i] = (struct check_node){"node", (int)random_between(&rng, 0, 1),
                                           (int)random_between(&rng, 0, 4)};
            c.left[i] = nodes[i].slots;
        }
        uint64_t work = UINT64_MAX / 2;
        struct relaxing m = {.to = &p, .x = &x, .p = &p, .work = &work, .arena = arena};
        bool crowds;
        CHECK_OK(check_crowds(&crowds, &m, 3));
        place_all(&c, 0);
        if (crowds == c.found || planner_crowds(&c, arena) == c.found)
            fail_msg("trial %d: a rank can be alone on its nodes: %d, by the checker %d, by the "
                     "planner %d",
                     trial, c.found, !crowds, !planner_crowds(&c, arena));
        seen[crowds]++;
    }
    printf("%d times a rank can be alone on its nodes, %d times none can\n", seen[0], seen[1]);
    assert_true(seen[0] * 5 > seen[1] && seen[1] * 5 > seen[0]);
}

ARGUMENT(trial_count)
ARGUMENT(first_seed)
