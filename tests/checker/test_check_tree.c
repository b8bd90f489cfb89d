// Trees over placements: the bound of a part is compared with all decisions on the part's
// placements, the leaves with all placements, and the highest possible trees with the least time.
//
//   test_check_tree [PROBLEMS] [SEED]
#include "solve/checker/proof.h"
#include "solve/checker/places/tree.h"
#include "tests/support/check.h"
#include "tests/support/trials/place_trials.h"

enum {
    DEFAULT_PROBLEMS = 100,
    PLACEMENTS_MOST = 40000,
    LEAVES_MOST = 60,
    DESCENTS = 3,
    COMPLETIONS = 40,
    PLACES = 6
};

static int problem_count = DEFAULT_PROBLEMS;
static uint64_t first_seed = 1;
static struct {
    int problems, fused, parts, tight, none, covered, leaves, trees, at_best, infeasible, whole,
        split, audited;
    int64_t rings;
} seen;

static void open_tree(struct check_tree **tree, const struct place_trial *t)
{
    struct error err = {OK, ""};
    const struct reader r = {"prices", &err};
    uint64_t work = UINT64_MAX / 2;
    CHECK_OK(check_open_tree(tree, &t->places, &r, &work, t->arena));
}

// ---- one part

static void hold(int *held, const struct place_trial *t, const struct check_part *part)
{
    int replicas = t->places.replicas, ranks = t->places.problem->ranks;
    for (int k = 0; k < replicas * ranks; k++)
        held[k % replicas * ranks + k / replicas] = k < part->depth ? part->node[k] : -1;
}

// The least time of all placements of the part.
static int64_t least_time(const struct place_trial *t, const struct check_part *part)
{
    int held[TREE_PLACES_MOST], own = t->priced.rule_count;
    struct priced priced = t->priced;
    hold(held, t, part);
    priced.rules = arena_grow(t->arena, priced.rules, (size_t)own,
                              (size_t)(own + part->range_count), sizeof *priced.rules);
    for (int i = 0; i < part->range_count; i++) {
        struct rule *rule = &priced.rules[priced.rule_count++];
        *rule = rule_empty;
        rule->stage = part->ranges[i].stage;
        rule->layers_min = part->ranges[i].least;
        rule->layers_max = part->ranges[i].most;
    }
    return best_placement_held(&t->problem, &priced, held, PLACEMENTS_MOST, t->arena);
}

// The greatest bound that any proof about the replica can claim.
static int64_t greatest_claim(const struct place_trial *t, const struct check_tree *tree,
                              const struct check_part *part, int replica)
{
    struct error err = {OK, ""};
    const struct reader r = {"prices", &err};
    uint64_t work = UINT64_MAX / 2;
    struct check_problem p;
    struct priced priced;
    struct solve_result result;
    CHECK_OK(check_part_problem(&p, tree, part, replica, &r, &work, t->arena));
    certificate_places_priced(&priced, &t->priced, &p, t->arena);
    place_trial_solve(&result, t, &priced, 0);
    return result.plan.outcome == OUTCOME_INFEASIBLE ? INT64_MAX : result.plan.bound_ns;
}

static void try_part(const struct place_trial *t, const struct check_tree *tree,
                     const struct check_part *part)
{
    struct arena_mark mark = arena_set_mark(t->arena);
    int64_t least_ns = least_time(t, part), most_ns = 0;
    for (int replica = 0; replica < t->places.replicas; replica++) {
        int64_t claim_ns = greatest_claim(t, tree, part, replica);
        if (claim_ns > least_ns)
            fail_msg("problem %llu, %d places, %d ranges: %lld ns can be claimed of replica %d, "
                     "a plan takes %lld",
                     t->seed, part->depth, part->range_count, (long long)claim_ns, replica,
                     (long long)least_ns);
        if (claim_ns > most_ns) most_ns = claim_ns;
    }
    seen.parts++;
    seen.tight += most_ns == least_ns && least_ns < INT64_MAX;
    seen.none += most_ns == INT64_MAX;
    arena_reset(t->arena, mark);
}

static void draw_ranges(struct check_part *part, const struct check_problem *p, struct random *rng)
{
    int count = (int)random_between(rng, 0, 2);
    for (int i = 0; i < count; i++) {
        int below = (int)random_between(rng, 1, 3);
        struct check_layer_range *range = &part->ranges[part->range_count++];
        *range =
            (struct check_layer_range){(int)random_between(rng, 0, p->stages - 1), 0, below - 1};
        if (random_chance(rng, 60)) range->least = below, range->most = MOST_LAYERS;
    }
}

static void try_descent(const struct place_trial *t, const struct check_tree *tree,
                        struct random *rng)
{
    struct check_part part = {.depth = 0};
    int children[MOST_GROUPS], count;
    while (part.depth < check_tree_places(tree)) {
        count = check_list_children(tree, &part, children);
        if (!count) return;
        part.node[part.depth++] = children[random_between(rng, 0, count - 1)];
        if (part.depth < check_tree_places(tree) && !random_chance(rng, 50)) continue;
        if (random_chance(rng, 40)) draw_ranges(&part, t->places.problem, rng);
        try_part(t, tree, &part);
        part.range_count = 0;
    }
}

// ---- syncs of a part compared with every ring of a placement of it

struct rings {
    const struct place_trial *t;
    const struct check_problem *p; // the part's
    int members[PLACES], count, kind, node;
    struct check_ring_link link;
    bool some, empty; // empty: the part has no plan, and its syncs mean nothing
};

// Whether one of the ring's links takes no less than the part's sync on the node, number by number.
static bool is_below(const struct rings *x, const int *order)
{
    const struct check_places *places = &x->t->places;
    const struct check_problem *p = x->p;
    bool found = false, leaves = false;
    for (int i = 1; i < x->count; i++) leaves = leaves || order[i] != order[0];
    for (int i = 0; i < x->count && !found; i++) {
        bool joined;
        if (leaves && order[i] == order[(i + 1) % x->count]) continue;
        assert_true(places->link(places->context, x->kind, order[i], order[(i + 1) % x->count],
                                 (const int64_t[2]){1, 1}, &joined,
                                 (struct check_ring_link *)&x->link));
        found = true;
        for (int o = 0; o < p->gradient_count; o++) {
            found = found && x->link.constant[o] >= p->groups[x->node].sync_constant[o];
            for (int run = 0; run < p->run_count; run++)
                found = found &&
                        x->link.layer[run * p->gradient_count + o] >= p->runs[run].sync[o][x->node];
        }
    }
    return found;
}

static bool is_ring(struct rings *x, const int *order)
{
    const struct check_places *places = &x->t->places;
    for (int i = 0; i < x->count; i++) {
        int from = order[i], to = order[(i + 1) % x->count];
        int pair = places->nodes[from].group * places->problem->group_count +
                   places->nodes[to].group;
        bool joined = places->may_ring[pair];
        if (joined)
            places->link(places->context, x->kind, from, to, (const int64_t[2]){1, 1}, &joined,
                         &x->link);
        if (!joined) return false;
    }
    return true;
}

static void try_rings(struct rings *x, int *order, int at)
{
    for (int i = at; i < x->count; i++) {
        int kept = order[at];
        order[at] = order[i], order[i] = kept;
        try_rings(x, order, at + 1);
        order[i] = order[at], order[at] = kept;
    }
    if (at < x->count || !is_ring(x, order)) return;
    x->some = true;
    seen.rings++;
    if (!x->empty && !is_below(x, order))
        fail_msg("problem %llu: a ring takes less than node %d's sync", x->t->seed, x->node);
}

// false: the rank has no ring on this placement.
static bool try_rank(const struct place_trial *t, const struct check_problem *p,
                     const struct check_part *all, int rank, int replica)
{
    int replicas = t->places.replicas, numbers = p->gradient_count * p->run_count;
    struct rings x = {.t = t, .p = p, .count = replicas, .empty = true};
    for (int node = 0; node < p->group_count; node++) x.empty = x.empty && !p->groups[node].slots;
    unsigned groups = 0;
    x.link = (struct check_ring_link){TAKE(t->arena, p->gradient_count, int64_t),
                                      TAKE(t->arena, numbers, int64_t)};
    for (int i = 0; i < replicas; i++) {
        x.members[i] = all->node[rank * replicas + i];
        groups |= 1u << t->places.nodes[x.members[i]].group;
    }
    x.kind = t->places.kind_of[groups];
    x.node = x.members[replica];
    try_rings(&x, x.members, 1);
    return x.some;
}

// The part, and the rest of a placement of it on any nodes that are free.
static void complete(struct check_part *all, const struct place_trial *t,
                     const struct check_tree *tree, struct random *rng)
{
    int left[MOST_GROUPS];
    for (int i = 0; i < t->places.node_count; i++) {
        bool out = t->places.problem->groups[t->places.nodes[i].group].excluded;
        left[i] = out ? 0 : t->places.nodes[i].slots;
    }
    for (int k = 0; k < all->depth; k++) left[all->node[k]]--;
    while (all->depth < check_tree_places(tree)) {
        int free[MOST_GROUPS], count = 0;
        for (int i = 0; i < t->places.node_count; i++)
            if (left[i]) free[count++] = i;
        if (!count) return;
        // Nodes that the part has are preferred: ranks that share one are few else.
        int node = free[random_between(rng, 0, count - 1)];
        int known = all->depth ? all->node[random_between(rng, 0, all->depth - 1)] : node;
        if (left[known] && random_chance(rng, 50)) node = known;
        left[node]--;
        all->node[all->depth++] = node;
    }
}

static void try_syncs(const struct place_trial *t, const struct check_tree *tree,
                      const struct check_part *part, struct random *rng)
{
    struct arena_mark mark = arena_set_mark(t->arena);
    struct error err = {OK, ""};
    const struct reader r = {"prices", &err};
    struct check_part all = *part;
    uint64_t work = UINT64_MAX / 2;
    int replicas = t->places.replicas, ranks = t->places.problem->ranks;
    complete(&all, t, tree, rng);
    for (int i = 0; all.depth == check_tree_places(tree) && i < replicas; i++) {
        struct check_problem p;
        int on[MOST_GROUPS] = {0};
        bool some = true;
        CHECK_OK(check_part_problem(&p, tree, part, i, &r, &work, t->arena));
        for (int rank = 0; rank < ranks; rank++) {
            some = try_rank(t, &p, &all, rank, i) && some;
            on[all.node[rank * replicas + i]]++;
        }
        for (int node = 0; some && node < p.group_count; node++)
            assert_true(on[node] <= p.groups[node].slots);
    }
    arena_reset(t->arena, mark);
}

static void try_completions(const struct place_trial *t, const struct check_tree *tree,
                            struct random *rng)
{
    for (int i = 0; i < COMPLETIONS && t->places.replicas > 1; i++) {
        struct check_part part = {.depth = 0};
        int depth = (int)random_between(rng, 1, check_tree_places(tree)), children[MOST_GROUPS];
        while (part.depth < depth) {
            int count = check_list_children(tree, &part, children);
            if (!count) break;
            part.node[part.depth++] = children[random_between(rng, 0, count - 1)];
        }
        if (part.depth == depth) try_syncs(t, tree, &part, rng);
    }
}

// ---- all leaves

// false: too many of them.
static bool visit(const struct place_trial *t, const struct check_tree *tree,
                  struct check_part *part, int *leaves, int64_t *least_ns)
{
    int children[MOST_GROUPS], count;
    if (part->depth == check_tree_places(tree)) {
        struct arena_mark mark = arena_set_mark(t->arena);
        int64_t time_ns = least_time(t, part);
        arena_reset(t->arena, mark);
        if (time_ns < *least_ns) *least_ns = time_ns;
        return ++*leaves <= LEAVES_MOST;
    }
    count = check_list_children(tree, part, children);
    for (int i = 0; i < count; i++) {
        part->node[part->depth++] = children[i];
        if (!visit(t, tree, part, leaves, least_ns)) return false;
        part->depth--;
    }
    return true;
}

static void try_cover(const struct place_trial *t, const struct check_tree *tree)
{
    struct check_part part = {.depth = 0};
    int leaves = 0;
    int64_t least_ns = INT64_MAX;
    if (!visit(t, tree, &part, &leaves, &least_ns)) return;
    if (least_ns != t->best_ns)
        fail_msg("problem %llu: the leaves' least is %lld ns, that of all placements %lld", t->seed,
                 (long long)least_ns, (long long)t->best_ns);
    seen.covered++;
    seen.leaves += leaves;
}

// ---- whole trees

static bool is_accepted(const struct place_trial *t, const char *text, const char **why)
{
    struct check_result audited;
    bool accepted = place_trial_audit(&audited, t, text, strlen(text), why) == OK &&
                    audited.accepted;
    seen.audited++;
    if (accepted && (audited.infeasible ? t->best_ns < INT64_MAX : audited.bound_ns > t->best_ns))
        fail_msg("problem %llu: %lld ns is accepted, a plan takes %lld", t->seed,
                 (long long)audited.bound_ns, (long long)t->best_ns);
    return accepted;
}

static void bisect_claims(const struct place_trial *t, const struct certificate_places_result *made)
{
    struct arena_mark mark = arena_set_mark(t->arena);
    const char *why;
    int64_t low = made->bound_ns, high = 2 * t->best_ns + 2;
    if (t->best_ns > INT64_MAX / 4) return;
    for (int step = 0; step < 12 && high - low > 1; step++) {
        int64_t middle = step ? low + (high - low) / 2 : t->best_ns + 1;
        *(is_accepted(t, place_trial_with_bounds(t, made->text, middle), &why) ? &low : &high) =
            middle;
        arena_reset(t->arena, mark);
    }
}

static bool try_tree(const struct place_trial *t, int64_t bound_ns)
{
    struct arena_mark mark = arena_set_mark(t->arena);
    struct certificate_places_result made;
    const char *why;
    place_trial_write_tree(&made, t, bound_ns);
    bool proven = made.text;
    if (proven && !is_accepted(t, made.text, &why))
        fail_msg("problem %llu: its tree is not accepted: %s", t->seed, why);
    seen.trees += proven;
    seen.whole += proven && strstr(made.text, "\"branch\"");
    seen.split += proven && strstr(made.text, "\"layers_below\"");
    if (proven && bound_ns > 0) bisect_claims(t, &made);
    arena_reset(t->arena, mark);
    return proven;
}

static void try_trees(const struct place_trial *t)
{
    bool none = try_tree(t, -1);
    if (t->best_ns == INT64_MAX) {
        seen.infeasible += none;
        return;
    }
    if (t->best_ns < 1 || t->best_ns > INT64_MAX / 4) return;
    try_tree(t, t->best_ns - t->best_ns / 10);
    seen.at_best += try_tree(t, t->best_ns);
    if (try_tree(t, t->best_ns + 1))
        fail_msg("problem %llu: more than the best is proven", t->seed);
}

static void try_problem(uint64_t seed)
{
    struct place_trial t;
    struct check_tree *tree;
    struct random rng = {seed};
    struct arena_mark mark = arena_set_mark(&own_arena);
    bool opened = place_trial_open(&t, seed, seed % 5 == 1 ? PLACED_FUSED : 0, &own_arena);
    if (opened) open_tree(&tree, &t);
    if (opened) try_completions(&t, tree, &rng);
    if (opened && t.best_ns >= 0) {
        seen.problems++;
        try_part(&t, tree, &(struct check_part){.depth = 0});
        for (int i = 0; i < DESCENTS; i++) try_descent(&t, tree, &rng);
        // Nodes are equivalent by the prices in P, which do not include a fused embedding sync's
        // own links.
        if (!t.places.embedding) try_cover(&t, tree);
        seen.fused += t.places.embedding != NULL;
        try_trees(&t);
    }
    arena_reset(&own_arena, mark);
}

TEST(test_problems)
{
    for (int i = 0; i < problem_count; i++) try_problem(first_seed + (uint64_t)i);
    printf(
        "%d problems, %d with a fused embedding sync, %d parts: %d with a bound that is reached, "
        "%d proven empty; %d problems covered by %d leaves\n",
        seen.problems, seen.fused, seen.parts, seen.tight, seen.none, seen.covered, seen.leaves);
    printf("%lld rings beside the syncs of parts\n", (long long)seen.rings);
    printf("%d trees: %d at the best plan's time, %d without a plan, %d with branches, %d with "
           "split layers; %d certificates audited\n",
           seen.trees, seen.at_best, seen.infeasible, seen.whole, seen.split, seen.audited);
    assert_true(seen.problems * 4 > problem_count && seen.tight * 4 > seen.problems);
    assert_true(seen.covered > 0 && seen.fused > 0 && seen.trees > seen.problems && seen.whole > 0);
}

// ---- nodes that are equivalent except for one direction of one link

static struct {
    const struct check_places *plain;
    int from, to;
    bool of_rings;
} dearer;

static bool price_pair(void *context, int from, int to, bool *joined, struct check_pair *prices)
{
    bool counted = dearer.plain->pair(context, from, to, joined, prices);
    bool other = !dearer.of_rings && from == dearer.from && to == dearer.to;
    for (int part = 0; part < PARTS && other; part++) prices->forward[part]++;
    return counted;
}

static bool price_link(void *context, int kind, int from, int to, const int64_t rings[2],
                       bool *joined, struct check_ring_link *prices)
{
    bool counted = dearer.plain->link(context, kind, from, to, rings, joined, prices);
    if (dearer.of_rings && from == dearer.from && to == dearer.to) prices->layer[0]++;
    return counted;
}

static int count_first(const struct place_trial *t)
{
    struct check_part part = {.depth = 0};
    struct check_tree *tree;
    int children[MOST_GROUPS];
    open_tree(&tree, t);
    return check_list_children(tree, &part, children);
}

// The one end, the other, and the rest.
static void try_directions(struct place_trial *t)
{
    struct check_places plain = t->places;
    int nodes = plain.node_count;
    dearer.plain = &plain;
    t->places.pair = price_pair;
    t->places.link = price_link;
    struct arena_mark mark = arena_set_mark(t->arena);
    for (int i = 0; i < 2 * nodes * nodes; i++, arena_reset(t->arena, mark)) {
        dearer.of_rings = i % 2, dearer.from = i / 2 / nodes, dearer.to = i / 2 % nodes;
        if (dearer.from != dearer.to) assert_int_equal(count_first(t), 3);
    }
    t->places = plain;
}

TEST(test_alike)
{
    int found = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (uint64_t seed = first_seed; found < 2; seed++, arena_reset(arena, mark)) {
        struct place_trial t;
        bool opened = place_trial_open(&t, seed, false, arena) && t.places.replicas > 1 &&
                      t.places.problem->ranks > 1 && t.places.problem->group_count == 1 &&
                      t.best_ns < INT64_MAX && count_first(&t) == 1;
        if (opened) try_directions(&t);
        found += opened;
    }
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
