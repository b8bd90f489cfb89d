// What if: the matching of replicas against every numbering; answers that are never slower than the
// plan they start from, whose own time is computed a second time by the oracle of schedules.
// Clusters that change: tests/places/test_cluster_change.c; the command: test_what_if_command.c.
#include "data/inputs/places_use.h"
#include "data/places/places.h"
#include "formulate/choices/choices.h"
#include "formulate/price/price.h"
#include "tests/support/oracle/pipeline.h"
#include "tests/support/placed.h"
#include "tests/support/check.h"

static int trials = 12;

// ---- replicas and their names

static int moved(const int *before, const int *after, const int *number, int replicas, int ranks)
{
    int count = 0;
    for (int r = 0; r < replicas; r++)
        for (int k = 0; k < ranks; k++)
            count += before[number[r] * ranks + k] != after[r * ranks + k];
    return count;
}

static int least_moved(const int *before, const int *after, int *number, int at, int replicas,
                       int ranks)
{
    int least = replicas * ranks + 1;
    if (at == replicas) return moved(before, after, number, replicas, ranks);
    for (int i = at; i < replicas; i++) {
        int kept = number[at];
        number[at] = number[i], number[i] = kept;
        int count = least_moved(before, after, number, at + 1, replicas, ranks);
        if (count < least) least = count;
        number[i] = number[at], number[at] = kept;
    }
    return least;
}

TEST(test_matching)
{
    struct random rng = {5};
    for (int trial = 0; trial < 400; trial++) {
        enum { MOST = 6 };
        int replicas = (int)random_between(&rng, 1, MOST), ranks = (int)random_between(&rng, 1, 4),
            nodes = (int)random_between(&rng, 1, replicas * ranks + 2);
        int before[MOST * 4], after[MOST * 4], number[MOST], all[MOST] = {0, 1, 2, 3, 4, 5},
                                                             seen[MOST] = {0};
        for (int i = 0; i < replicas * ranks; i++)
            before[i] = random_chance(&rng, 15) ? -1 : (int)random_between(&rng, 0, nodes);
        for (int i = 0; i < replicas * ranks; i++)
            after[i] = random_chance(&rng, 60) ? before[(i + ranks) % (replicas * ranks)]
                                               : (int)random_between(&rng, 0, nodes);
        for (int i = 0; i < replicas * ranks; i++) after[i] = after[i] < 0 ? 0 : after[i];
        placed_match(number, before, after, replicas, ranks, arena);
        for (int r = 0; r < replicas; r++) {
            assert_in_range(number[r], 0, replicas - 1);
            assert_int_equal(seen[number[r]]++, 0);
        }
        assert_int_equal(moved(before, after, number, replicas, ranks),
                         least_moved(before, after, all, 0, replicas, ranks));
        placed_match(number, after, after, replicas, ranks, arena);
        assert_int_equal(moved(after, after, number, replicas, ranks), 0);
    }
}

// ---- the oracle: a plan's decision on the nodes and rings given, played event by event

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static int choice_on(const struct choices *c, int stage, const struct plan_stage *s, int group)
{
    int best = -1;
    for (int i = 0; i < c->stages[stage].count; i++) {
        const struct choice *x = &c->stages[stage].items[i];
        if (x->group != group || x->layer_count != s->layer_count ||
            x->first_layer != choices_place(c, s->first_layer) ||
            x->gradient_option != s->gradient_option || x->boundary_option != s->boundary_option)
            continue;
        if (best < 0 || x->load_ns < c->stages[stage].items[best].load_ns) best = i;
    }
    return best;
}

// nodes[replica * ranks + rank]; INT64_MAX: not a valid placement.
static int64_t played_time(const struct problem *problem, const struct plan *plan,
                           const char *const *nodes, struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    struct priced priced;
    struct schedule schedule;
    struct choices c;
    MUST(price_problem(&priced, problem, arena, &own_err));
    struct schedule_request request = schedule_request_of(&priced);
    MUST(schedule_build(&schedule, &request, arena, &own_err));
    MUST(choices_build(&c, &priced, &schedule, arena, &own_err));
    const struct plan_placement *x = plan->placement;
    int stages = plan->stage_count, ranks = x->rank_count, node[PLACES * 2];
    int64_t slowest = 0;
    for (int i = 0; i < x->replica_count * ranks; i++) {
        node[i] = places_find(&problem->cluster.places, nodes[i]);
        if (node[i] < 0) slowest = INT64_MAX;
    }
    int *leaving = TAKE(arena, problem->cluster.places.node_count, int);
    if (slowest < INT64_MAX)
        places_leaving_rings(leaving, problem->cluster.places.node_count, node, x->replica_count,
                             ranks);
    for (int r = 0; r < x->replica_count && slowest < INT64_MAX; r++) {
        const struct choice *chosen[16];
        int64_t *durations = TAKE(arena, symbol_count(stages, priced.slice_count), int64_t),
                time_ns = INT64_MAX;
        bool stands = true;
        for (int s = 0; s < stages && stands; s++) {
            int rank = schedule_rank_of(&request, s),
                at = choice_on(&c, s, &plan->stages[s],
                               priced.places->nodes[node[r * ranks + rank]].group);
            int around[PLACES];
            int64_t sync = 0, queued = 0;
            bool leaves = false;
            for (int i = 0; i < x->replica_count; i++) {
                around[i] = node[i * ranks + rank];
                leaves = leaves || around[i] != around[0];
            }
            size_t transport = priced_ring_offset(priced.places, around, x->replica_count);
            if ((stands = at >= 0) == false) break;
            chosen[s] = &c.stages[s].items[at];
            choices_stage_durations(&c, s, chosen[s], durations);
            for (int i = 0; i < x->replica_count; i++) {
                const int *ring = x->rings + s * x->replica_count;
                int from = node[ring[i] * ranks + rank],
                    to = node[ring[(i + 1) % x->replica_count] * ranks + rank];
                size_t pair = priced_ring_link(priced.places, transport, from, to, leaving);
                if (from == to && leaves) continue;
                stands = stands && priced.places->ring_constant_ns[0][pair] != PRICE_NONE;
                if (!stands) continue;
                sync = larger(sync, choice_ring_sync_ns(&c, s, chosen[s], pair, false));
                if (choices_queue_syncs(&c))
                    queued = larger(queued, choice_ring_sync_ns(&c, s, chosen[s], pair, true));
            }
            durations[symbol_index(stages, SYMBOL_SYNC, s)] = sync;
            durations[symbol_index(stages, SYMBOL_QUEUED_SYNC, s)] = queued;
        }
        if (stands && choices_node_transfers(&c, chosen, node + r * ranks, durations))
            time_ns = pipeline_time(&schedule, durations, arena);
        slowest = larger(slowest, time_ns);
    }
    arena_reset(arena, mark);
    return slowest;
}

// ---- from an earlier plan

// Without a node in use, or with links in use slower: of a ring, or from a rank to the next.
static struct cluster_change random_change(const struct plan_placement *x, bool without,
                                           struct random *rng, struct arena *arena)
{
    const char *first = x->nodes[x->rings[0] * x->rank_count],
               *next = x->nodes[x->rings[x->replica_count > 1] * x->rank_count];
    if (!without && x->replica_count > 2 && strcmp(first, next))
        return cluster_change_of(arena_print(arena, "%s:%s=0.01", first, next), arena);
    int replica = (int)random_between(rng, 0, x->replica_count - 1),
        rank = (int)random_between(rng, 0, x->rank_count - 2);
    const char *from = x->nodes[replica * x->rank_count + rank],
               *to = x->nodes[replica * x->rank_count + rank + 1];
    if (without) return cluster_change_of(arena_print(arena, "-%s", from), arena);
    if (!strcmp(from, to)) return cluster_change_of(arena_print(arena, "%s=0.2", to), arena);
    return cluster_change_of(
        arena_print(arena, "%s:%s=0.%d%s", from, to, (int)random_between(rng, 1, 9),
                    random_chance(rng, 50) ? "" : arena_print(arena, " %s=0.5", to)),
        arena);
}

static int count_on(const char *const *nodes, int count, const char *name)
{
    int on = 0;
    for (int i = 0; i < count; i++) on += !strcmp(nodes[i], name);
    return on;
}

// Only ranks of lost nodes have moved; and if it is one, no spare node is better for it, with the
// rings as they were.
static void check_mended(const struct problem *changed, const struct plan *earlier,
                         const struct placed_start *start, struct arena *arena)
{
    const struct plan_placement *x = earlier->placement;
    const struct places *p = &changed->cluster.places;
    int places = x->replica_count * x->rank_count, lost = 0, last = -1;
    for (int i = 0; i < places; i++) {
        bool gone = places_find(p, x->nodes[i]) < 0;
        if (!gone) assert_string_equal(start->repaired_nodes[i], x->nodes[i]);
        if (gone) lost++, last = i;
        assert_true(places_find(p, start->repaired_nodes[i]) >= 0);
    }
    if (lost != 1) return;
    const char **nodes = TAKE(arena, places, const char *);
    memcpy(nodes, x->nodes, (size_t)places * sizeof *nodes);
    for (int i = 0; i < p->node_count; i++) {
        int slots = changed->cluster.groups[p->nodes[i].group].gpus_per_node /
                    (earlier->layout.tensor * earlier->layout.context);
        if (count_on(x->nodes, places, p->nodes[i].name) >= slots) continue;
        nodes[last] = p->nodes[i].name;
        int64_t time_ns = played_time(changed, earlier, nodes, arena);
        if (time_ns < start->repaired_ns)
            fail_msg("%s would be better: %lld, not %lld", p->nodes[i].name, (long long)time_ns,
                     (long long)start->repaired_ns);
    }
}

// If the mended plan is within the gap, only ranks that must move do (true: with the wide gap it
// is).
static bool check_gap(const struct problem *changed, const struct priced *priced,
                      const struct plan *earlier, struct arena *arena)
{
    static const double gaps[] = {0.9, 0.05};
    bool within = false;
    for (size_t i = 0; i < ARRAY_LENGTH(gaps); i++) {
        struct solve_result r;
        struct placed_start start = {.plan = earlier};
        if (!placed_solve_within(&r, priced, &start, gaps[i], false, arena)) continue;
        assert_accepted(&r.plan, changed, arena);
        assert_true(r.plan.outcome == OUTCOME_OPTIMAL ? plan_gap(&r.plan) <= gaps[i]
                                                      : plan_gap(&r.plan) > gaps[i]);
        bool enough = start.repaired_ns && (double)(start.repaired_ns - r.plan.bound_ns) <=
                                               gaps[i] * (double)start.repaired_ns;
        if (i == 0) within = enough;
        for (int k = 0;
             enough && k < earlier->placement->replica_count * earlier->placement->rank_count; k++)
            assert_string_equal(r.plan.placement->nodes[k], start.repaired_nodes[k]);
    }
    return within;
}

TEST(test_never_worse)
{
    int compared = 0, stood = 0, mended = 0, turned = 0, kept = 0;
    for (int trial = 0; trial < trials; trial++) {
        err = (struct error){OK, ""};
        struct arena_mark mark = arena_set_mark(arena);
        struct random rng = {(uint64_t)trial + 1};
        struct problem problem, changed;
        struct priced priced, again;
        struct solve_result first, same, stopped, warm, cold;
        placed_problem_random(&problem, &rng, arena);
        CHECK_OK(price_problem(&priced, &problem, arena, &err));
        if (!placed_solve_from(&first, &priced, NULL, false, arena)) {
            arena_reset(arena, mark);
            continue;
        }
        const struct plan_placement *x = first.plan.placement;
        int places = x->replica_count * x->rank_count;
        // The same problem again: equally fast, and then no rank moves.
        struct placed_start start = {.plan = &first.plan};
        assert_true(placed_solve_from(&same, &priced, &start, trial % 3, arena));
        assert_int_equal(start.standing_ns, first.plan.iteration_ns);
        assert_int_equal(start.standing_ns, played_time(&problem, &first.plan, x->nodes, arena));
        assert_true(same.plan.iteration_ns <= first.plan.iteration_ns);
        for (int i = 0; i < places && same.plan.iteration_ns == first.plan.iteration_ns; i++)
            assert_string_equal(same.plan.placement->nodes[i], x->nodes[i]);

        struct cluster_change change = random_change(x, trial % 2, &rng, arena);
        changed = problem;
        CHECK_OK(cluster_make_change(&changed.cluster, &problem.cluster, &change, arena, &err));
        err = (struct error){OK, ""};
        if (problem_check(&changed, &err) == OK) {
            CHECK_OK(price_problem(&again, &changed, arena, &err));
            start = (struct placed_start){.plan = &first.plan};
            if (placed_solve_from(&stopped, &again, &start, true, arena)) {
                int64_t played = played_time(&changed, &first.plan, x->nodes, arena);
                assert_int_equal(start.standing_ns, played < INT64_MAX ? played : 0);
                if (start.standing_ns)
                    assert_true(start.repaired_ns && start.repaired_ns <= start.standing_ns &&
                                stopped.plan.iteration_ns <= start.standing_ns);
                if (start.repaired_ns) {
                    assert_true(stopped.plan.iteration_ns <= start.repaired_ns);
                    check_mended(&changed, &first.plan, &start, arena);
                }
                assert_accepted(&stopped.plan, &changed, arena);
                for (int i = 0; i < change.without.count; i++)
                    assert_false(placed_stands_on(stopped.plan.placement, change.without.items[i]));
                stood += start.standing_ns > 0;
                turned += start.repaired_ns < start.standing_ns; // other rings alone make it faster
                mended += !start.standing_ns && start.repaired_ns > 0;
            } else {
                assert_int_equal(start.repaired_ns, 0);
            }
            kept += check_gap(&changed, &again, &first.plan, arena);
            if (trial % 3 && placed_solve_from(&cold, &again, NULL, false, arena)) {
                assert_true(placed_solve_from(&warm, &again, &start, false, arena));
                assert_accepted(&warm.plan, &changed, arena);
                assert_true(warm.plan.iteration_ns <= cold.plan.iteration_ns &&
                            (!start.repaired_ns || warm.plan.iteration_ns <= start.repaired_ns));
                compared++;
            }
        }
        arena_reset(arena, mark);
    }
    printf("%d compared, %d earlier plans stood, of which other rings make %d faster, %d were "
           "mended; %d kept within a wide gap\n",
           compared, stood, turned, mended, kept);
    if (trials >= 12)
        assert_true(compared * 4 > trials && stood * 8 > trials && mended * 8 > trials && turned &&
                    kept * 3 > trials);
}

// With equal links positions do not matter: every rank that moved returns, whatever the numbering
// of the replicas.
TEST(test_going_home)
{
    int moved_before = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int trial = 0; trial < 10; trial++, arena_reset(arena, mark)) {
        struct random rng = {(uint64_t)trial + 100};
        struct problem problem;
        struct priced priced;
        struct solve_result result;
        struct placed *p;
        do {
            placed_problem_random(&problem, &rng, arena);
            for (int i = 0; i < NODES * NODES; i++)
                problem.cluster.places.measured[i] =
                    (struct link){i / NODES == i % NODES ? 0 : 1e9, 1e-6};
            CHECK_OK(price_problem(&priced, &problem, arena, &err));
        } while (problem.cluster.group_count > 1 ||
                 problem.cluster.groups[0].gpus_per_node >
                     problem.job.layout.tensor * problem.job.layout.context ||
                 priced.layout.data < 2 ||
                 !placed_solve_within(&result, &priced, NULL, 0.9, false, arena));
        int ranks = priced.rank_count, places = ranks * priced.layout.data, home[PLACES],
            like[PLACES * 2], order[NODES];
        CHECK_OK(placed_open(&p, &priced, arena, &err));
        struct placed_plan plan = placed_plan_empty(p, arena);
        struct placed_start start = {.plan = &result.plan};
        assert_true(placed_take_start(p, &start, like, home, &plan, arena));
        for (int i = 0; i < NODES; i++) order[i] = i;
        for (int i = NODES - 1; i > 0; i--) {
            int with = (int)random_between(&rng, 0, i), kept = order[i];
            order[i] = order[with], order[with] = kept;
        }
        int64_t before_ns = plan.time_ns;
        for (int i = 0; i < places; i++) {
            plan.node[i] = order[i];
            moved_before += plan.node[i] != home[i];
        }
        placed_evaluate(p, &plan, INT64_MAX);
        assert_int_equal(plan.time_ns, before_ns);
        placed_settle(p, &plan, like, home, 0);
        assert_int_equal(plan.time_ns, before_ns);
        for (int i = 0; i < places; i++) assert_int_equal(plan.node[i], home[i]);
    }
    assert_true(moved_before > 20);
}

ARGUMENT(trials)
