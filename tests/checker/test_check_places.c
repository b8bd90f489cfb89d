// Certificates about placements: random problems on a few nodes, with enumeration as the oracle.
// For every way to bound all placements by one replica, the greatest bound that any proof can claim
// is the least time of that replica's problem, which is solved here: it is never above the best
// placement's time. What solve writes is accepted; every other accepted claim about it is at most
// that time.
//
//   test_check_places [PROBLEMS] [SEED] [fused|any] [TESTS]: fused: all have a fused embedding sync
#include "data/base/random.h"
#include "solve/checker/proof.h"
#include "tests/support/check.h"
#include "tests/support/trials/place_trials.h"

enum { DEFAULT_PROBLEMS = 150 };

static int problem_count = DEFAULT_PROBLEMS;
static uint64_t first_seed = 1;
static const char *rings = ""; // "fused": all
static struct {
    int problems, plans, several, fused, uneven, ways, reached, infeasible, certificates, whole,
        by_nodes, by_reaches, of_reaches, placements, within, across, chained, trees, claims, most,
        most_reached, loads, halved, raised;
    int64_t terms;
} seen;

// ---- the judge's prices compared with the planner's, which enumeration uses

static void same_price(const struct place_trial *t, const char *what, int64_t price, int64_t own)
{
    seen.terms++;
    if (price != own)
        fail_msg("problem %llu: %s: the planner has %lld, the judge %lld", t->seed, what,
                 (long long)price, (long long)own);
}

static void same_parts(const struct place_trial *t, const int64_t *prices, const int64_t *own)
{
    static const int ours[PART_COUNT] = {[PART_BLOCKING] = PART_BLOCKS,
                                         [PART_LINK] = PART_LINKS,
                                         [PART_DELAY] = PART_DELAYS,
                                         [PART_OVERHEAD] = PART_WORKS};
    for (int part = 0; part < PART_COUNT; part++)
        same_price(t, "a message", prices[part], own ? own[ours[part]] : PRICE_NONE);
}

static void same_pair(const struct place_trial *t, int from, int to, bool joined,
                      const struct check_pair *own)
{
    const struct check_problem *p = t->places.problem;
    const struct priced_places *x = t->priced.places;
    for (int run = 0; run < p->run_count; run++)
        for (int slice = 0; slice < p->slices; slice++) {
            size_t at = (size_t)((slice * x->node_count + from) * x->node_count + to) * PART_COUNT;
            int cut = p->runs[run].cut, planned = t->priced.runs[run].cut;
            same_parts(t, x->cuts[planned].forward_ns + at,
                       joined ? own->forward + (cut * p->slices + slice) * PARTS : NULL);
            for (int o = 0; o < p->boundary_count; o++)
                same_parts(t, x->cuts[planned].backward_ns[o] + at,
                           joined ? own->backward +
                                        ((cut * p->boundary_count + o) * p->slices + slice) * PARTS
                                  : NULL);
        }
    if (p->embedding && !t->places.embedding)
        same_price(t, "embedding sync", x->embedding_sync_ns[from * x->node_count + to],
                   joined ? own->embedding : PRICE_NONE);
}

// A link of the fused embedding sync's ring.
static void same_embedding(const struct place_trial *t, int from, int to, bool both)
{
    const struct check_places *x = &t->places;
    bool joined = false;
    int64_t ns = PRICE_NONE;
    if (!x->embedding) return;
    if (both && (from != to || x->nodes[from].slots > 1))
        assert_true(x->embedding(x->context, from, to, &joined, &ns));
    same_price(t, "a link of the fused embedding sync",
               t->priced.places->embedding_ring_ns[from * x->node_count + to],
               joined ? ns : PRICE_NONE);
}

static void same_link(const struct place_trial *t, int transport, int from, int to,
                      const int64_t leave[2], bool joined, const struct check_ring_link *own)
{
    const struct check_problem *p = t->places.problem;
    const struct priced_places *x = t->priced.places;
    size_t nodes = (size_t)x->node_count;
    int *leaving = TAKE(t->arena, x->node_count, int);
    leaving[from] = (int)leave[0], leaving[to] = (int)leave[1];
    size_t link = priced_ring_link(x, (size_t)transport * nodes * nodes, from, to, leaving);
    for (int o = 0; o < p->gradient_count; o++) {
        same_price(t, "a ring's constant", x->ring_constant_ns[o][link],
                   joined ? own->constant[o] : PRICE_NONE);
        for (int run = 0; run < p->run_count; run++)
            same_price(t, "a layer's sync", x->ring_ns[run][o][link],
                       joined ? own->layer[run * p->gradient_count + o] : PRICE_NONE);
    }
}

static int kind_of(const char *transport)
{
    int kind = 0;
    while (kind < NIC_KIND_COUNT && strcmp(nic_kind_names[kind], transport)) kind++;
    return kind;
}

static bool may_ring(const struct place_trial *t, int from, int to)
{
    const struct check_places *x = &t->places;
    bool several = x->replicas > 1 ? from != to || x->nodes[from].slots > 1 : from == to;
    return several &&
           x->may_ring[x->nodes[from].group * x->problem->group_count + x->nodes[to].group];
}

static bool is_usable(const struct place_trial *t, int node)
{
    return t->places.nodes[node].slots &&
           !t->places.problem->groups[t->places.nodes[node].group].excluded;
}

static void same_links(const struct place_trial *t)
{
    static const int64_t counts[][2] = {{1, 1}, {2, 1}, {1, 2}}; // rings that leave the ends
    const struct check_places *x = &t->places;
    const struct check_problem *p = x->problem;
    int prices = p->cut_count * p->slices * PARTS;
    struct check_pair pair = {TAKE(t->arena, prices, int64_t),
                              TAKE(t->arena, prices * p->boundary_count, int64_t), 0};
    struct check_ring_link link = {TAKE(t->arena, p->gradient_count, int64_t),
                                   TAKE(t->arena, p->gradient_count * p->run_count, int64_t)};
    for (int from = 0; from < x->node_count; from++)
        for (int to = 0; to < x->node_count; to++) {
            bool both = is_usable(t, from) && is_usable(t, to), joined = false;
            if (both && (from != to || x->nodes[from].slots > 1))
                assert_true(x->pair(x->context, from, to, &joined, &pair));
            same_pair(t, from, to, joined, &pair);
            same_embedding(t, from, to, both);
            for (int k = 0; k < 3 * t->priced.places->transport_count; k++) {
                int kind = kind_of(t->priced.places->transports[k / 3].name);
                int crowded = x->nodes[k % 3 == 1 ? from : to].slots;
                const int64_t *leave =
                    counts[from == to || p->ranks < 2 || crowded < 2 ? 0 : k % 3];
                joined = false;
                if (both && may_ring(t, from, to))
                    assert_true(x->link(x->context, kind, from, to, leave, &joined, &link));
                same_link(t, k / 3, from, to, leave, joined, &link);
            }
        }
}

static void same_passes(const struct place_trial *t)
{
    const struct check_problem *p = t->places.problem;
    for (int run = 0; run < p->run_count; run++)
        for (int i = 0; i < p->slices * p->group_count; i++) {
            const struct check_run *own = &p->runs[run];
            const struct priced_run *r = &t->priced.runs[run];
            if (p->groups[i % p->group_count].excluded) continue;
            same_price(t, "forward", r->forward_ns[i], own->forward[i]);
            same_price(t, "backward", r->backward_ns[i], own->backward[i]);
            for (int mode = 0; mode < MODES; mode++)
                if (r->again_ns[mode])
                    same_price(t, check_mode_names[mode], r->again_ns[mode][i],
                               own->again[mode][i]);
            if (i >= p->group_count) continue;
            same_price(t, "weight gradient", r->weight_ns[i], own->weight[i]);
            same_price(t, "optimizer", r->optimizer_ns[i], own->optimizer[0][i]);
        }
}

// false: nothing that is looked at here.
static bool open_trial(struct place_trial *t, uint64_t seed, int asked, struct arena *arena)
{
    bool of_load = seed % 4 == 1 && !(asked & PLACED_UNEVEN);
    if (!place_trial_open_for(t, of_load ? OBJECTIVE_MAX_LOAD : OBJECTIVE_ITERATION_TIME, seed,
                              asked, arena))
        return false;
    same_links(t);
    same_passes(t);
    if (t->best_ns < 0) return false;
    seen.problems++;
    seen.plans += t->best_ns < INT64_MAX;
    seen.loads += of_load && t->best_ns < INT64_MAX;
    seen.several += t->places.replicas > 1;
    seen.fused += t->places.embedding && t->best_ns < INT64_MAX;
    seen.uneven += t->places.together > 0;
    return true;
}

// What a fused embedding sync takes at least with a replica's ends on two nodes.
static void same_ends(const struct place_trial *t, const struct check_problem *by_nodes)
{
    int n = t->places.node_count;
    for (int i = 0; i < n * n; i++)
        if (is_usable(t, i / n) && is_usable(t, i % n) &&
            (i / n != i % n || t->places.nodes[i / n].slots > 1))
            same_price(t, "a fused embedding sync's least", t->priced.places->embedding_sync_ns[i],
                       by_nodes->embedding[i]);
}

static const char *const way_names[] = {"groups", "nodes", "reaches"};

// The greatest bound that can be claimed; INT64_MAX: that there is no plan.
static int64_t claim_by(const struct place_trial *t, const struct check_relaxation *how)
{
    struct arena_mark mark = arena_set_mark(t->arena);
    struct error err = {OK, ""};
    const struct reader r = {"prices", &err};
    struct check_problem p;
    struct priced priced;
    struct solve_result result;
    uint64_t work = UINT64_MAX / 2;
    CHECK_OK(check_relax_places(&p, &t->places, how, &r, &work, t->arena));
    if (how->by == RELAX_BY_NODES && t->places.embedding) same_ends(t, &p);
    certificate_places_priced(&priced, &t->priced, &p, t->arena);
    place_trial_solve(&result, t, &priced, 0);
    arena_reset(t->arena, mark);
    return result.plan.outcome == OUTCOME_INFEASIBLE ? INT64_MAX : result.plan.bound_ns;
}

static void see_claim(const struct place_trial *t, const struct check_relaxation *how,
                      int64_t claim_ns)
{
    if (claim_ns > t->best_ns)
        fail_msg("problem %llu by %s, shared %d: %lld ns can be claimed, a plan takes %lld",
                 t->seed, way_names[how->by], how->shared, (long long)claim_ns,
                 (long long)t->best_ns);
    seen.ways++;
    seen.by_reaches += how->by == RELAX_BY_REACHES;
    seen.reached += claim_ns == t->best_ns && claim_ns < INT64_MAX;
    seen.infeasible += claim_ns == INT64_MAX;
}

static void try_way(const struct place_trial *t, struct check_relaxation how)
{
    see_claim(t, &how, claim_by(t, &how));
}

static int64_t claim_shared(const struct place_trial *t, struct check_relaxation how)
{
    int groups = t->places.together ? 0 : t->places.problem->group_count;
    int64_t most_ns = 0;
    for (how.shared = -1; how.shared < groups; how.shared++) {
        int64_t own_ns = claim_by(t, &how);
        if (own_ns > most_ns) most_ns = own_ns;
    }
    return most_ns;
}

// Of a case that is halved by a stage's layers or by its reach, and one half once more: what all
// parts claim, each with the group to share that is best for it.
static int64_t claim_halves(const struct place_trial *t, struct check_relaxation how,
                            const struct check_cases *cases, uint64_t *state)
{
    struct random rng = {*state};
    struct check_half halves[2];
    int64_t least_ns = INT64_MAX;
    how.halves = halves, how.half_count = 2;
    int layers[2], stage[2], reach = (int)random_between(&rng, 0, cases->reach_count - 1);
    for (int i = 0; i < 2; i++) {
        stage[i] = (int)random_between(&rng, 0, t->places.problem->stages - 1);
        layers[i] = (int)random_between(&rng, 1, 4);
    }
    bool by_reach = random_chance(&rng, 50);
    for (int part = 0; part < 3; part++) {
        bool second = part > 0;
        halves[0] = by_reach ? (struct check_half){.stage = stage[0],
                                                   .reach = cases->reaches[reach],
                                                   .other = second}
                             : (struct check_half){stage[0], second ? layers[0] : 0,
                                                   second ? MOST_LAYERS : layers[0] - 1, 0, false};
        how.half_count = 1 + second;
        halves[1] = (struct check_half){stage[1], part == 2 ? layers[1] : 0,
                                        part == 2 ? MOST_LAYERS : layers[1] - 1, 0, false};
        int64_t own_ns = claim_shared(t, how);
        if (own_ns < least_ns) least_ns = own_ns;
    }
    *state = rng.state;
    seen.halved++;
    return least_ns;
}

// The least of all cases, each with the group to share by which it claims most, whole or halved:
// the greatest claim that a certificate can make.
static void try_reaches(const struct place_trial *t)
{
    struct error err = {OK, ""};
    const struct reader r = {"prices", &err};
    struct check_cases *cases = TAKE(t->arena, 1, struct check_cases);
    struct check_relaxation how = {RELAX_BY_REACHES, -1, false, NULL};
    int64_t claim_ns = INT64_MAX;
    uint64_t work = UINT64_MAX / 2, state = t->seed + 77;
    if (check_list_cases(cases, &t->places, &r, &work) != OK) return;
    for (int i = 0; i < cases->count; i++) {
        how.ranks = (const int(*)[MOST_GROUPS])cases->ranks + i;
        how.crossing = cases->crossing[i];
        int64_t most_ns = claim_shared(t, how);
        int64_t halves_ns = claim_halves(t, how, cases, &state);
        seen.raised += halves_ns > most_ns;
        if (halves_ns > most_ns) most_ns = halves_ns;
        if (most_ns < claim_ns) claim_ns = most_ns;
    }
    see_claim(t, &how, claim_ns);
}

// ---- any placement is in one of the cases, and has room there

enum { PLACEMENTS_EACH = 12, PLACES_MOST = 64 };

// Puts every rank of every replica on some group, as if each had a node with room; false: there is
// none.
static bool draw_groups(const struct place_trial *t, uint64_t *state, int *group_of)
{
    int left[MOST_GROUPS] = {0}, places = t->places.replicas * t->places.problem->ranks, all = 0;
    for (int i = 0; i < t->places.node_count; i++)
        if (is_usable(t, i)) left[t->places.nodes[i].group] += t->places.nodes[i].slots;
    for (int g = 0; g < t->places.problem->group_count; g++) all += left[g];
    if (places > all || places > PLACES_MOST) return false;
    for (int i = 0; i < places; i++) {
        int g = i % t->places.replicas && random_below(state, 3) ? group_of[i - 1] : -1;
        while (g < 0 || !left[g]) g = random_below(state, t->places.problem->group_count);
        left[g]--;
        group_of[i] = g;
    }
    return true;
}

// group_of[rank * replicas + replica]. No replica has more of a target than its slots; with a
// shared group this is about the replica that has the fewest of it.
static void fits_slots(const struct place_trial *t, const struct check_cases *c,
                       const struct check_problem *p, const int *group_of, const unsigned *reach,
                       int replica)
{
    int d = t->places.replicas, target = 0;
    for (int i = 0; i < c->reach_count; i++)
        for (int g = 0; g < t->places.problem->group_count; g++) {
            int used = 0;
            if (!(c->reaches[i] >> g & 1)) continue;
            for (int rank = 0; rank < p->ranks; rank++)
                used += reach[rank] == c->reaches[i] && group_of[rank * d + replica] == g;
            if (used > p->groups[target].slots)
                fail_msg("problem %llu: a replica has %d ranks on a target of %d", t->seed, used,
                         p->groups[target].slots);
            target++;
        }
}

// Whether the replica has ranks on two groups.
static bool crosses(const struct place_trial *t, const int *group_of, int replica)
{
    int d = t->places.replicas;
    for (int rank = 1; rank < t->places.problem->ranks; rank++)
        if (group_of[rank * d + replica] != group_of[replica]) return true;
    return false;
}

// The case of so many ranks of each reach in which some replica crosses, or none.
static int find_case(const struct check_cases *c, const int *counts, bool some_cross)
{
    for (int at = 0; at < c->count; at++) {
        enum check_crossing crossing = c->crossing[at];
        if (!memcmp(c->ranks[at], counts, (size_t)c->reach_count * sizeof *counts) &&
            (crossing == CROSS_ANY || (crossing == CROSS_SOME) == some_cross))
            return at;
    }
    return c->count;
}

// Whether the claim of a case is about this replica.
static bool is_about(const struct place_trial *t, const struct check_relaxation *how,
                     const int *group_of, const unsigned *reach, int replica, int with_fewest)
{
    if (how->crossing == CROSS_SOME && how->shared < 0)
        return t->places.together || crosses(t, group_of, replica);
    if (how->crossing == CROSS_NONE && how->shared >= 0 && reach[0] >> how->shared & 1)
        return group_of[replica] == how->shared;
    return how->shared < 0 || replica == with_fewest;
}

static void try_placement(const struct place_trial *t, const struct check_cases *c, uint64_t *state)
{
    struct error err = {OK, ""};
    const struct reader r = {"prices", &err};
    int group_of[PLACES_MOST], d = t->places.replicas, ranks = t->places.problem->ranks, at;
    unsigned reach[PLACES_MOST] = {0};
    int counts[MOST_GROUPS] = {0};
    uint64_t work = UINT64_MAX / 2;
    if (!draw_groups(t, state, group_of)) return;
    for (int i = 0; i < ranks * d; i++) reach[i / d] |= 1u << group_of[i];
    for (int i = 0; i < ranks * d; i++) // groups that keep rings to themselves are not mixed
        for (int g = 0; g < t->places.problem->group_count; g++)
            if (reach[i / d] >> g & 1 && g != group_of[i] &&
                !t->places.may_ring[group_of[i] * t->places.problem->group_count + g])
                return;
    for (int i = 0; i < c->reach_count; i++)
        for (int rank = 0; rank < ranks; rank++) counts[i] += reach[rank] == c->reaches[i];
    bool some_cross = false;
    for (int replica = 0; replica < d; replica++)
        some_cross = some_cross || crosses(t, group_of, replica);
    at = find_case(c, counts, some_cross);
    if (at == c->count) fail_msg("problem %llu: a placement is in no case", t->seed);
    for (int shared = -1; shared < (t->places.together ? 0 : t->places.problem->group_count);
         shared++) {
        const struct check_relaxation how = {.by = RELAX_BY_REACHES,
                                             .shared = shared,
                                             .ranks = (const int(*)[MOST_GROUPS])c->ranks + at,
                                             .crossing = c->crossing[at]};
        struct check_problem p;
        int fewest = INT32_MAX, first = 0;
        CHECK_OK(check_relax_places(&p, &t->places, &how, &r, &work, t->arena));
        for (int replica = 0; replica < d; replica++) {
            int used = 0;
            for (int rank = 0; rank < ranks; rank++) used += group_of[rank * d + replica] == shared;
            if (used < fewest) fewest = used, first = replica;
        }
        for (int replica = 0; replica < d; replica++)
            if (is_about(t, &how, group_of, reach, replica, first))
                fits_slots(t, c, &p, group_of, reach, replica);
    }
    seen.placements++;
    seen.within += c->crossing[at] == CROSS_NONE, seen.across += c->crossing[at] == CROSS_SOME;
}

static void try_placements(const struct place_trial *t)
{
    struct error err = {OK, ""};
    const struct reader r = {"prices", &err};
    struct arena_mark mark = arena_set_mark(t->arena);
    struct check_cases *cases = TAKE(t->arena, 1, struct check_cases);
    uint64_t work = UINT64_MAX / 2, state = t->seed;
    if (check_list_cases(cases, &t->places, &r, &work) == OK)
        for (int i = 0; i < PLACEMENTS_EACH; i++) try_placement(t, cases, &state);
    arena_reset(t->arena, mark);
}

static void try_ways(const struct place_trial *t)
{
    int groups = t->places.together ? 0 : t->places.problem->group_count;
    try_way(t, (struct check_relaxation){RELAX_BY_NODES, -1, false, NULL});
    for (int shared = -1; shared < groups; shared++)
        try_way(t, (struct check_relaxation){RELAX_BY_GROUPS, shared, false, NULL});
    try_reaches(t);
}

// ---- what is written

static bool is_accepted(const struct place_trial *t, const char *text, size_t size,
                        struct check_result *audited, const char **why)
{
    return place_trial_audit(audited, t, text, size, why) == OK && audited->accepted;
}

// The same proof, or all of a tree's, with another bound.
static bool claims(const struct place_trial *t, const char *text, int64_t bound_ns)
{
    struct arena_mark mark = arena_set_mark(t->arena);
    struct check_result audited;
    const char *forged = place_trial_with_bounds(t, text, bound_ns), *why;
    bool accepted = is_accepted(t, forged, strlen(forged), &audited, &why);
    arena_reset(t->arena, mark);
    seen.claims++;
    return accepted;
}

static void bisect_claims(const struct place_trial *t, const struct certificate_places_result *made)
{
    int64_t low = made->bound_ns, high = 2 * made->bound_ns + 2;
    if (claims(t, made->text, high)) fail_msg("problem %llu: twice the bound is accepted", t->seed);
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        *(claims(t, made->text, middle) ? &low : &high) = middle;
    }
    if (low > t->best_ns)
        fail_msg("problem %llu: %lld ns is accepted, a plan takes %lld", t->seed, (long long)low,
                 (long long)t->best_ns);
}

static void try_certificate(const struct place_trial *t, double gap)
{
    struct solve_result solved;
    struct certificate_places_result made;
    struct check_result audited;
    const char *why;
    place_trial_solve(&solved, t, &t->priced, gap);
    place_trial_write(&made, t, &solved);
    if (!made.text) return;
    if (!is_accepted(t, made.text, made.size, &audited, &why))
        fail_msg("problem %llu: its certificate is not accepted: %s", t->seed, why);
    assert_int_equal(audited.infeasible, made.bound_ns < 0);
    if (audited.infeasible && t->best_ns < INT64_MAX)
        fail_msg("problem %llu: proven to have no plan, one takes %lld ns", t->seed,
                 (long long)t->best_ns);
    seen.certificates++;
    seen.by_nodes += !strcmp(made.how, "nodes");
    seen.of_reaches += !strcmp(made.how, "reaches");
    seen.trees += !strcmp(made.how, "a tree over placements");
    seen.chained += !strcmp(made.how, "groups, chained");
    seen.whole += audited.infeasible || made.bound_ns >= solved.plan.bound_ns;
    if (audited.infeasible) return;
    assert_true(made.bound_ns <= solved.plan.bound_ns && audited.bound_ns == made.bound_ns &&
                made.bound_ns <= t->best_ns);
    bisect_claims(t, &made);
}

// The highest bound that any method of the writer proves, whatever the search's result.
static void try_most(const struct place_trial *t)
{
    struct certificate_places_result made;
    struct check_result audited;
    const char *why;
    if (t->best_ns == INT64_MAX || t->best_ns > INT64_MAX / 16) return;
    const struct solve_result believed = {
        .plan = {.outcome = OUTCOME_OPEN, .bound_ns = 4 * t->best_ns + 4}};
    place_trial_write(&made, t, &believed);
    if (!made.text) return;
    if (!is_accepted(t, made.text, made.size, &audited, &why))
        fail_msg("problem %llu: its certificate is not accepted: %s", t->seed, why);
    if (audited.infeasible || audited.bound_ns > t->best_ns)
        fail_msg("problem %llu: %lld ns is proven %s, a plan takes %lld", t->seed,
                 (long long)audited.bound_ns, made.how, (long long)t->best_ns);
    seen.most++;
    seen.most_reached += audited.bound_ns == t->best_ns;
    seen.chained += !strcmp(made.how, "groups, chained");
    bisect_claims(t, &made);
}

static void try_problem(uint64_t seed, int asked)
{
    struct place_trial t;
    struct arena_mark mark = arena_set_mark(&own_arena);
    if (open_trial(&t, seed, asked, &own_arena)) {
        try_ways(&t);
        try_placements(&t);
        try_certificate(&t, seed % 3 ? 0 : 0.05);
        try_most(&t);
    }
    arena_reset(&own_arena, mark);
}

TEST(test_problems)
{
    for (int i = 0; i < problem_count; i++)
        try_problem(first_seed + (uint64_t)i,
                    (i % 4 == 3 ? PLACED_UNEVEN : 0) |
                        (!strcmp(rings, "fused") || i % 5 == 1 ? PLACED_FUSED : 0));
    printf("%d problems, %d of them with a plan, %d with several replicas, %d with numbers of "
           "micro-batches of their own; %d plans with a fused embedding sync, %d of max_load\n",
           seen.problems, seen.plans, seen.several, seen.uneven, seen.fused, seen.loads);
    printf("%d ways to bound: %d reach the best plan's time, %d prove that there is none; %d "
           "certificates, %d at the solver's bound, %d by nodes, "
           "%d by chains, %d by trees; %d claims audited\n",
           seen.ways, seen.reached, seen.infeasible, seen.certificates, seen.whole, seen.by_nodes,
           seen.chained, seen.trees, seen.claims);
    printf("%d of the ways by reaches, %d random placements in their cases, %d of them with every "
           "replica within a group of several, %d with one across; %d certificates; %d "
           "certificates as high as they come: %d "
           "at the best plan's time\n",
           seen.by_reaches, seen.placements, seen.within, seen.across, seen.of_reaches, seen.most,
           seen.most_reached);
    printf("%lld prices of the judge and the planner\n", (long long)seen.terms);
    assert_true(seen.problems * 4 > problem_count && seen.plans * 3 > seen.problems &&
                seen.several * 3 > seen.problems && seen.fused * 30 > problem_count &&
                seen.uneven * 20 > seen.problems && seen.loads * 30 > problem_count);
    assert_true(seen.certificates * 2 > seen.problems && seen.by_nodes > 0 &&
                seen.by_nodes < seen.certificates && seen.by_reaches > 0 &&
                seen.placements > problem_count / 2);
}

// Most plans of these are in a case in which a replica crosses, or none does.
TEST(test_crossing)
{
    int before = seen.placements, by_reaches = seen.by_reaches, of_reaches = seen.of_reaches,
        reached = seen.reached;
    for (int i = 0; i < problem_count; i++) try_problem(first_seed + (uint64_t)i, PLACED_CROSSING);
    printf("%d cases halved, %d of them prove more\n", seen.halved, seen.raised);
    printf("%d ways by reaches, %d certificates by them; of %d random placements %d have every "
           "replica within a group, %d have one across; %d ways reach the best plan's time\n",
           seen.by_reaches - by_reaches, seen.of_reaches - of_reaches, seen.placements - before,
           seen.within, seen.across, seen.reached - reached);
    assert_true(seen.by_reaches > by_reaches && seen.of_reaches > of_reaches &&
                seen.within * 20 > seen.placements - before &&
                seen.across * 20 > seen.placements - before);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
ARGUMENT(rings)
ARGUMENT(tests_only)
