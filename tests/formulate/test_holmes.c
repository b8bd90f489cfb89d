// Two clusters with network cards of different kinds, Ethernet between them: the transport of mixed
// rings, which rings a job may forbid, and that a plan by itself keeps rings within a kind and
// distributes layers by speed (Holmes, 2312.03549).
#include <unistd.h>

#include "data/places/places.h"
#include "formulate/choices/choices.h"
#include "formulate/example/example.h"
#include "formulate/price/price.h"
#include "solve/places/placed.h"
#include "solve/layout/solve.h"
#include "solve/judge/verify.h"
#include "tests/support/oracle/pipeline.h"
#include "tests/support/check.h"

static struct clusters_request small_request(void)
{
    return (struct clusters_request){.costs = "data/costs/published.json",
                                     .share = 0.55,
                                     .layers = 30,
                                     .hidden = 3072,
                                     .heads = 32,
                                     .nodes = 1,
                                     .gpus_per_node = 2,
                                     .tensor = 1,
                                     .pipeline = 2,
                                     .micro_batch = 2,
                                     .micro_batches = 32,
                                     .sequence = 2048};
}

// Its costs are no file's any more.
static enum status build(struct problem *p, const struct clusters_request *r, struct arena *arena,
                         struct error *err)
{
    TRY(example_clusters(p, r, arena, err));
    p->costs.document = (struct document){0};
    return OK;
}

static void make_problem(struct problem *p, const struct clusters_request *r, struct arena *arena)
{
    if (build(p, r, arena, &own_err) != OK || problem_check(p, &own_err) != OK ||
        problem_check_places(p, &own_err) != OK)
        fail_msg("%s", own_err.text);
}

static void solve(struct plan *plan, const struct problem *p, struct arena *arena)
{
    struct priced *priced = TAKE(arena, 1, struct priced);
    struct solve_result result;
    struct solve_settings settings;
    solve_defaults(&settings);
    settings.progress = 0;
    if (price_problem(priced, p, arena, &own_err) != OK ||
        placed_solve(&result, priced, &settings, NULL, NULL, arena, &own_err) != OK)
        fail_msg("%s", own_err.text);
    *plan = result.plan;
}

static struct verdict judge(const struct plan *plan, const struct problem *p, struct arena *arena)
{
    struct verdict v;
    MUST(verify_plan(&v, plan, p, arena, &own_err));
    return v;
}

static void assert_accepted(const struct plan *plan, const struct problem *p, struct arena *arena)
{
    struct verdict v = judge(plan, p, arena);
    if (!v.accepted) fail_msg("%s: %s", v.violations[0].rule, v.violations[0].text);
}

// ---- what a ring talks over

enum { IB = 1 << NIC_INFINIBAND, ROCE = 1 << NIC_ROCE, ETHERNET = 1 << NIC_ETHERNET };

// One stage on as many nodes as there are kinds, a node group each; the cards of a kind are the
// same everywhere.
static void ring_problem(struct problem *p, const unsigned *kinds, int count, struct arena *arena)
{
    static const struct link links[NIC_KIND_COUNT] = {{25e9, 2e-6}, {20e9, 3e-6}, {1e9, 5e-5}};
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    struct clusters_request r = small_request();
    r.layers = 4, r.hidden = 256, r.heads = 4, r.pipeline = 1, r.gpus_per_node = 1, r.nodes = count;
    assert_int_equal(build(p, &r, arena, &(struct error){OK, ""}), OK);
    p->job.layout.data = count;
    p->job.global_batch = count * 64;
    struct node_group like = p->cluster.groups[0];
    p->cluster.groups = TAKE(arena, count, struct node_group);
    p->cluster.group_count = count;
    p->cluster.places =
        (struct places){.nodes = TAKE(arena, count, struct cluster_node), .node_count = count};
    for (int i = 0; i < count; i++) {
        struct node_group *g = &p->cluster.groups[i];
        *g = like;
        g->name = names[i];
        g->nodes = 1;
        g->nics = TAKE(arena, NIC_KIND_COUNT, struct nic);
        g->nic_count = 0;
        for (int kind = 0; kind < NIC_KIND_COUNT; kind++)
            if (kinds[i] >> kind & 1)
                g->nics[g->nic_count++] = (struct nic){(enum nic_kind)kind, 1, links[kind]};
        p->cluster.places.nodes[i] =
            (struct cluster_node){.name = names[i], .group = i, .switches = TAKE(arena, 1, int)};
    }
    MUST(problem_check(p, &own_err));
}

// Iteration of a plan that the judge accepts; 0: there is none.
static int64_t ring_time(struct problem *p, struct arena *arena)
{
    struct plan plan;
    solve(&plan, p, arena);
    if (plan.outcome == OUTCOME_INFEASIBLE) return 0;
    assert_int_equal(plan.outcome, OUTCOME_OPTIMAL);
    assert_accepted(&plan, p, arena);
    return plan.iteration_ns;
}

static int64_t time_of_kinds(const unsigned *kinds, int count, struct arena *arena)
{
    struct problem p;
    ring_problem(&p, kinds, count, arena);
    return ring_time(&p, arena);
}

// Around a, b, c, b no two neighbours need Ethernet, but all four have nothing else in common.
TEST(test_one_transport)
{
    static const struct {
        unsigned kinds[4], as[4];
        int count;
    } cases[] = {
        {{IB | ETHERNET, IB | ROCE | ETHERNET, ROCE | ETHERNET, IB | ROCE | ETHERNET},
         {ETHERNET, ETHERNET, ETHERNET, ETHERNET},
         4},
        {{IB | ETHERNET, IB | ETHERNET, ROCE | ETHERNET}, {ETHERNET, ETHERNET, ETHERNET}, 3},
        {{IB | ETHERNET, ROCE | ETHERNET, ETHERNET}, {ETHERNET, ETHERNET, ETHERNET}, 3},
        {{IB | ETHERNET, IB | ROCE | ETHERNET, IB}, {IB, IB, IB}, 3},
        {{ROCE | ETHERNET, IB | ROCE | ETHERNET, ROCE, IB | ROCE}, {ROCE, ROCE, ROCE, ROCE}, 4},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        int64_t mixed = time_of_kinds(cases[i].kinds, cases[i].count, arena),
                alone = time_of_kinds(cases[i].as, cases[i].count, arena);
        if (mixed != alone || !mixed)
            fail_msg("case %zu: %lld and %lld ns", i, (long long)mixed, (long long)alone);
    }
    static const unsigned ethernet[] = {ETHERNET, ETHERNET, ETHERNET, ETHERNET},
                          ib[] = {IB, IB, IB, IB}, none[] = {IB, IB | ROCE, ROCE, IB | ROCE};
    assert_true(time_of_kinds(ethernet, 4, arena) > time_of_kinds(ib, 4, arena));
    assert_true(time_of_kinds(none, 4, arena) == 0);
}

static void measure(struct problem *p, double bytes_per_s, struct arena *arena)
{
    struct places *x = &p->cluster.places;
    x->measured = TAKE(arena, x->node_count * x->node_count, struct link);
    for (int i = 0; i < x->node_count * x->node_count; i++)
        if (i / x->node_count != i % x->node_count)
            x->measured[i] = (struct link){bytes_per_s, 2e-6};
}

// A measured link is one over the best that the two have in common: a ring that talks over less
// does not reach it, and one that was measured slower than the cards stays so. Where cards have
// nothing in common, what was measured is all there is.
TEST(test_measured_links)
{
    static const unsigned mixed[] = {IB | ETHERNET, IB | ROCE | ETHERNET, ROCE | ETHERNET,
                                     IB | ROCE | ETHERNET},
                          ethernet[] = {ETHERNET, ETHERNET, ETHERNET, ETHERNET};
    static const unsigned alike[] = {IB | ETHERNET, IB | ETHERNET, IB, IB},
                          apart[] = {IB, IB, ROCE, ROCE}, none[] = {0, 0, 0, 0};
    static const double rates[] = {20e9, 0.5e9};
    int64_t times[2][5];
    for (int i = 0; i < 2; i++) {
        const unsigned *const kinds[] = {mixed, ethernet, alike, apart, none};
        for (int k = 0; k < 5; k++) {
            struct problem p;
            ring_problem(&p, kinds[k], 4, arena);
            measure(&p, rates[i], arena);
            times[i][k] = ring_time(&p, arena);
        }
    }
    assert_true(times[0][0] == time_of_kinds(ethernet, 4, arena)); // the cards' rate and latency
    assert_true(times[0][1] < times[0][0]); // measured over Ethernet: taken as it is
    for (int k = 2; k < 5; k++)
        assert_true(times[0][k] == times[0][1] && times[1][k] == times[1][1]);
    assert_true(times[1][0] > times[0][0] && times[1][0] >= times[1][1]);
}

// Three transports, on file and back.
TEST(test_priced_document)
{
    struct clusters_request r = small_request();
    struct problem p;
    struct priced priced, again;
    char path[] = "/tmp/plumbline_holmes_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    make_problem(&p, &r, arena);
    CHECK_OK(price_problem(&priced, &p, arena, &err));
    if (priced_save(&priced, path, arena, &err) != OK ||
        priced_load(&again, path, arena, &err) != OK || priced_check(&again, &err) != OK)
        fail_msg("%s", err.text);
    remove(path);
    const struct priced_places *a = priced.places, *b = again.places;
    assert_int_equal(a->transport_count, 3);
    assert_int_equal(b->transport_count, 3);
    for (int t = 0; t < 3; t++) {
        assert_string_equal(a->transports[t].name, nic_kind_names[t]);
        assert_string_equal(b->transports[t].name, nic_kind_names[t]);
        assert_memory_equal(a->transports[t].bytes_per_s, b->transports[t].bytes_per_s,
                            2 * sizeof(int64_t));
    }
    for (int run = 0; run < priced.run_count; run++)
        assert_memory_equal(a->ring_ns[run][0], b->ring_ns[run][0],
                            priced_ring_links(a) * sizeof(int64_t));
    static const int rings[][2] = {{0, 0}, {1, 1}, {0, 1}};
    for (size_t i = 0; i < ARRAY_LENGTH(rings); i++)
        assert_int_equal(priced_ring_offset(b, rings[i], 2), i * 4);
}

// ---- rings that a job forbids

TEST(test_homogeneous_groups)
{
    static const struct {
        unsigned kinds[4];
        bool possible;
    } cases[] = {
        {{IB | ETHERNET, ETHERNET | IB, IB | ETHERNET, IB | ETHERNET}, true},
        {{IB | ETHERNET, IB | ETHERNET, IB, IB | ETHERNET}, false},
        {{ROCE, ROCE, ROCE, ROCE}, true},
        {{0, 0, 0, 0}, false}, // none stated: every group is like itself alone
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct problem p;
        ring_problem(&p, cases[i].kinds, 4, arena);
        measure(&p, 1e9, arena);
        struct plan plan;
        solve(&plan, &p, arena);
        assert_int_equal(plan.outcome, OUTCOME_OPTIMAL);
        p.job.placement.homogeneous_groups = true;
        struct verdict v = judge(&plan, &p, arena);
        assert_int_equal(v.accepted, cases[i].possible);
        if (!v.accepted) assert_string_equal(v.violations[0].rule, "homogeneous");
        assert_int_equal(ring_time(&p, arena) > 0, cases[i].possible);
    }
}

// ---- the split

static const char *kind_of_stage(const struct plan *plan, int stage, int replica)
{
    return strncmp(plan->placement->nodes[replica * plan->placement->rank_count + stage], "ib", 2)
               ? "roce"
               : "ib";
}

// Blocks by cluster; every stage's replicas are in one cluster.
static void count_blocks(const struct plan *plan, int layers, int blocks[2])
{
    int first = 0;
    blocks[0] = blocks[1] = 0;
    for (int s = 0; s < plan->stage_count; s++) {
        const char *kind = kind_of_stage(plan, s, 0);
        for (int r = 1; r < plan->placement->replica_count; r++)
            if (strcmp(kind, kind_of_stage(plan, s, r)))
                fail_msg("stage %d stands in both clusters", s);
        blocks[strcmp(kind, "ib") != 0] += plan->stages[s].layer_count - (s == 0) -
                                           (s == plan->stage_count - 1);
        first += plan->stages[s].layer_count;
    }
    assert_int_equal(first, layers + 2);
}

static void split_of(int blocks[2], const struct clusters_request *r, struct arena *arena)
{
    struct problem p;
    struct plan plan;
    make_problem(&p, r, arena);
    solve(&plan, &p, arena);
    assert_int_equal(plan.outcome, OUTCOME_OPTIMAL);
    assert_accepted(&plan, &p, arena);
    count_blocks(&plan, r->layers, blocks);
}

TEST(test_published_splits)
{
    int blocks[2];
    struct clusters_request r = small_request();
    split_of(blocks, &r, arena);
    assert_int_equal(blocks[0], 16);
    assert_int_equal(blocks[1], 14);
    r.layers = 48, r.hidden = 8192, r.heads = 64, r.tensor = r.gpus_per_node = 8, r.nodes = 2;
    split_of(blocks, &r, arena);
    assert_int_equal(blocks[0], 26);
    assert_int_equal(blocks[1], 22);
    r.pipeline = 4, r.nodes = 4;
    split_of(blocks, &r, arena);
    assert_int_equal(blocks[0], 26);
    assert_int_equal(blocks[1], 22);
}

// The choice of least load for these layers on the group; NULL: there is none.
static const struct choice *choice_of(const struct choices *c, int stage, int layers, int group)
{
    const struct choice *best = NULL;
    for (int i = 0; i < c->stages[stage].count; i++) {
        const struct choice *x = &c->stages[stage].items[i];
        if (x->layer_count == layers && x->group == group && (!best || x->load_ns < best->load_ns))
            best = x;
    }
    return best;
}

// Two stages, one on each cluster's node, two replicas that are neighbours there: every order and
// every split, played.
static int64_t best_apart(const struct problem *p, int blocks, int *in_first, struct arena *arena)
{
    struct priced priced;
    struct schedule schedule;
    struct choices c;
    MUST(price_problem(&priced, p, arena, &own_err));
    MUST(schedule_build_priced(&schedule, &priced, arena, &own_err));
    MUST(choices_build(&c, &priced, &schedule, arena, &own_err));
    int64_t best = INT64_MAX, *durations = TAKE(arena, symbol_count(2, 1), int64_t);
    for (int order = 0; order < 2; order++)
        for (int first = 1; first < blocks; first++) {
            const int nodes[2] = {order, 1 - order};
            const struct choice *stages[2] = {choice_of(&c, 0, first + 1, nodes[0]),
                                              choice_of(&c, 1, blocks - first + 1, nodes[1])};
            if (!stages[0] || !stages[1]) continue;
            memset(durations, 0, (size_t)symbol_count(2, 1) * sizeof *durations);
            for (int s = 0; s < 2; s++) {
                choices_stage_durations(&c, s, stages[s], durations);
                durations[symbol_index(2, SYMBOL_SYNC, s)] =
                    choice_ring_sync_ns(&c, s, stages[s], (size_t)(nodes[s] * 2 + nodes[s]), false);
            }
            assert_true(choices_node_transfers(&c, stages, nodes, durations));
            int64_t ns = pipeline_time(&schedule, durations, arena);
            if (ns >= best) continue;
            best = ns;
            *in_first = order ? blocks - first : first;
        }
    return best;
}

// By enumeration, and by the published rule up to what embedding and head weigh: they are a stage's
// layers as well.
TEST(test_splits_by_speed)
{
    static const double shares[] = {0.52, 0.55, 0.62, 0.7, 0.8};
    static const int layers[] = {10, 30, 48};
    struct arena_mark mark = arena_set_mark(arena);
    for (size_t i = 0; i < ARRAY_LENGTH(shares); i++)
        for (size_t k = 0; k < ARRAY_LENGTH(layers); k++, arena_reset(arena, mark)) {
            struct clusters_request r = small_request();
            struct problem p;
            struct plan plan;
            int blocks[2], enumerated = 0;
            r.share = shares[i], r.layers = layers[k], r.micro_batches = 24;
            make_problem(&p, &r, arena);
            p.job.memory_fraction = 1;
            solve(&plan, &p, arena);
            assert_accepted(&plan, &p, arena);
            int64_t best = best_apart(&p, layers[k], &enumerated, arena);
            count_blocks(&plan, layers[k], blocks);
            if (plan.iteration_ns != best || plan.bound_ns != best || blocks[0] != enumerated ||
                abs(blocks[0] - (int)(shares[i] * layers[k])) > 2)
                fail_msg("%g of %d: %d blocks in %lld ns, enumerated %d in %lld ns", shares[i],
                         layers[k], blocks[0], (long long)plan.iteration_ns, enumerated,
                         (long long)best);
            printf("%g of %d layers: %d + %d\n", shares[i], layers[k], blocks[0], blocks[1]);
        }
}
