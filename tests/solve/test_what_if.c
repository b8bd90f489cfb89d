// What if: clusters that lose nodes and bandwidth; replicas matched against every way to name them;
// answers that are never slower than the plan they begin from, whose own time is worked out a
// second time by the oracle of schedules; the command, with its documents heard by the judge.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/places/cluster_change.h"
#include "data/places/places.h"
#include "formulate/choices/choices.h"
#include "formulate/example/example.h"
#include "formulate/price/price.h"
#include "solve/commands/commands.h"
#include "solve/places/placed.h"
#include "solve/layout/solve.h"
#include "solve/judge/verify.h"
#include "tests/support/folder.h"
#include "tests/support/oracle/pipeline.h"
#include "tests/support/problems.h"

#include "tests/support/check.h" // last: its macro `fail` hides data/base/status.h's

enum { NODES = 7, PLACES = 6 };

static int trials = 12;

// ---- clusters

static void put_group(struct node_group *g, const char *name, int nodes, int gpus)
{
    static struct nic ethernet = {NIC_ETHERNET, 1, {1e9, 1e-3}};
    *g = (struct node_group){.name = name,
                             .gpu = "g",
                             .nodes = nodes,
                             .gpus_per_node = gpus,
                             .memory_bytes = 1000000,
                             .intra = {1e11, 0},
                             .nics = &ethernet,
                             .nic_count = 1};
}

// Nodes a0 a1 a:2 of group a, b0 of group b; a0 and a1 below one switch; a0 to a1 and b0 to a0
// measured.
static struct cluster small_cluster(struct arena *arena)
{
    static const char *const names[] = {"a0", "a1", "a:2", "b0"};
    struct cluster c = {.name = "c",
                        .groups = TAKE(arena, 2, struct node_group),
                        .group_count = 2,
                        .links = TAKE(arena, 2, struct group_link),
                        .link_count = 2};
    put_group(&c.groups[0], "a", 3, 4);
    put_group(&c.groups[1], "b", 1, 4);
    c.links[0] = (struct group_link){0, 1, {5e8, 1e-4}};
    c.links[1] = (struct group_link){0, 0, {7e8, 1e-4}};
    c.link_count = 1;
    struct places *p = &c.places;
    *p = (struct places){.nodes = TAKE(arena, 4, struct cluster_node),
                         .node_count = 4,
                         .levels = TAKE(arena, 1, struct network_level),
                         .level_count = 1,
                         .switches = TAKE(arena, 1, const char *),
                         .switch_count = 1,
                         .measured = TAKE(arena, 16, struct link)};
    p->levels[0] = (struct network_level){"rack", {4e8, 1e-6}};
    p->switches[0] = "r";
    for (int i = 0; i < 4; i++) {
        p->nodes[i] = (struct cluster_node){
            .name = names[i], .group = i == 3, .switches = TAKE(arena, 1, int)};
        p->nodes[i].switches[0] = i == 1 || i == 2 ? 0 : -1;
    }
    p->measured[0 * 4 + 1] = (struct link){3e9, 1e-5};
    p->measured[3 * 4 + 0] = (struct link){2e9, 2e-5};
    return c;
}

// `words` with blanks between: "-x" is without x, the others degrade.
static struct cluster_change change_of(const char *words, struct arena *arena)
{
    enum { MOST = 9 };
    struct cluster_change x = {{TAKE(arena, MOST, const char *), 0, MOST},
                               {TAKE(arena, MOST, const char *), 0, MOST}};
    char *copy = arena_copy_text(arena, words), *rest = NULL;
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (*word == '-') x.without.items[x.without.count++] = word + 1;
        else x.degrade.items[x.degrade.count++] = word;
    }
    return x;
}

static double rate_of(const struct cluster *c, const char *from, const char *to)
{
    static const double whole[NIC_KIND_COUNT] = {1, 1, 1};
    const struct place_traffic traffic = {{1, 1}, false};
    struct place_link link;
    int a = places_find(&c->places, from), b = places_find(&c->places, to);
    assert_true(a >= 0 && b >= 0);
    return places_link(&link, c, a, b, &traffic, whole) ? link.link.bytes_per_s : 0;
}

static void assert_rate(const struct cluster *c, const char *from, const char *to, double wanted)
{
    double found = rate_of(c, from, to);
    if (found < wanted * (1 - 1e-12) || found > wanted * (1 + 1e-12))
        fail_msg("%s to %s: %g instead of %g", from, to, found, wanted);
}

static struct cluster changed_cluster(const struct cluster *c, const char *words,
                                      struct arena *arena)
{
    struct cluster to;
    struct error err = {OK, ""};
    struct cluster_change x = change_of(words, arena);
    if (cluster_make_change(&to, c, &x, arena, &err) != OK || cluster_check(&to, &err) != OK)
        fail_msg("%s: %s", words, err.text);
    return to;
}

static void test_nodes_leave(void **state)
{
    struct cluster c = small_cluster(*state);
    struct cluster one = changed_cluster(&c, "-a1", *state);
    assert_int_equal(one.places.node_count, 3);
    assert_int_equal(one.groups[0].nodes, 2);
    assert_int_equal(one.group_count, 2);
    assert_int_equal(places_find(&one.places, "a1"), -1);
    assert_rate(&one, "b0", "a0", 2e9);
    assert_rate(&one, "a0", "b0", 5e8);
    assert_rate(&one, "a0", "a:2", 1e9);
    // A group goes with its last node, and the links of the others know their new numbers.
    struct cluster two = changed_cluster(&c, "-b0", *state);
    assert_int_equal(two.group_count, 1);
    assert_int_equal(two.link_count, 0);
    assert_rate(&two, "a0", "a1", 3e9);
    struct cluster last = changed_cluster(&c, "-a0 -a1 -a:2", *state);
    assert_int_equal(last.group_count, 1);
    assert_string_equal(last.groups[0].name, "b");
    assert_int_equal(last.places.nodes[0].group, 0);
    assert_string_equal(last.name, "c, without a0, a1, a:2");
    assert_int_equal(c.places.node_count, 4);
}

static void test_links_change(void **state)
{
    struct cluster c = small_cluster(*state);
    // measured, from NICs, the level, stated; one direction each
    static const struct {
        const char *words, *from, *to;
    } each[] = {{"a0:a1=0.5", "a0", "a1"},
                {"a1:a0=0.5", "a1", "a0"},
                {"a1:a:2=0.5", "a1", "a:2"},
                {"a0:b0=0.5", "a0", "b0"}};
    for (size_t i = 0; i < ARRAY_LENGTH(each); i++) {
        struct cluster x = changed_cluster(&c, each[i].words, *state);
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++) {
                const char *from = c.places.nodes[a].name, *to = c.places.nodes[b].name;
                bool asked = !strcmp(from, each[i].from) && !strcmp(to, each[i].to);
                if (a != b) assert_rate(&x, from, to, rate_of(&c, from, to) * (asked ? 0.5 : 1));
            }
    }
    // The least factor holds; a second change comes on top; nodes leave with their factors.
    struct cluster x = changed_cluster(&c, "a0=0.5 a0:a1=0.25 b0=0.75", *state);
    assert_rate(&x, "a0", "a1", 3e9 * 0.25);
    assert_rate(&x, "a1", "a0", 1e9 * 0.5);
    assert_rate(&x, "b0", "a0", 2e9 * 0.5);
    assert_rate(&x, "a1", "b0", 5e8 * 0.75);
    assert_rate(&x, "a1", "a:2", 4e8);
    struct cluster y = changed_cluster(&x, "-a1 b0:a0=0.5", *state);
    assert_rate(&y, "b0", "a0", 2e9 * 0.25);
    assert_rate(&y, "a0", "a:2", 1e9 * 0.5);
    assert_rate(&y, "b0", "a:2", rate_of(&c, "b0", "a:2") * 0.75);
    assert_rate(&c, "a0", "a1", 3e9);
}

static void test_counts_of_groups(void **state)
{
    struct cluster c = small_cluster(*state);
    c.places = (struct places){0};
    struct cluster x = changed_cluster(&c, "-a=2", *state);
    assert_int_equal(x.groups[0].nodes, 1);
    assert_int_equal(changed_cluster(&c, "-b=1", *state).group_count, 1);
    static const struct {
        const char *words, *text;
    } wrong[] = {
        {"-a", "GROUP=N"},
        {"-x=1", "GROUP=N"},
        {"-a=0", "1 to 3 nodes"},
        {"-a=4", "1 to 3 nodes"},
        {"-a=-1", "1 to 3"},
        {"-a=1x", "GROUP=N"},
        {"-a=", "GROUP=N"},
        {"-a=1 -a=1", "twice"},
        {"-a=3 -b=1", "none of the 4 nodes"},
        {"a:b=0.5", "names no nodes"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++) {
        struct error err = {OK, ""};
        struct cluster_change change = change_of(wrong[i].words, *state);
        assert_int_equal(cluster_make_change(&x, &c, &change, *state, &err), BAD_INPUT);
        if (!strstr(err.text, wrong[i].text)) fail_msg("%s: %s", wrong[i].words, err.text);
    }
}

static void test_wrong_words(void **state)
{
    static const struct {
        const char *words, *text;
    } wrong[] = {
        {"-a9", "'a9'"},
        {"-a", "'a'"},
        {"-a0 -a0", "twice"},
        {"-a0 -a1 -a:2 -b0", "no node"},
        {"a0", "A:B=X"},
        {"a0=", "A:B=X"},
        {"a0=0", "factor"},
        {"a0=-1", "factor"},
        {"a0=nan", "factor"},
        {"a0=inf", "factor"},
        {"a0=1e7", "factor"},
        {"a0=1e-7", "factor"},
        {"a0=0.5x", "factor"},
        {"a0:a0=0.5", "two different"},
        {"a0:a9=0.5", "names of nodes"},
        {"a9:a0=0.5", "names of nodes"},
        {":a0=0.5", "names of nodes"},
        {"=0.5", "names of nodes"},
        {"a0=0.5 a0=0.7", "twice"},
        {"a0:a1=0.5 a0:a1=0.7", "twice"},
        {"-a0 a0:a1=0.5", "taken away"},
        {"-a0 a1:a0=0.5", "taken away"},
        {"-a0 a0=0.5", "taken away"},
    };
    struct cluster c = small_cluster(*state), to;
    for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++) {
        struct error err = {OK, ""};
        struct cluster_change x = change_of(wrong[i].words, *state);
        assert_int_equal(cluster_make_change(&to, &c, &x, *state, &err), BAD_INPUT);
        if (!strstr(err.text, wrong[i].text)) fail_msg("%s: %s", wrong[i].words, err.text);
    }
    // Nothing to make slower; too slow after all.
    struct error err = {OK, ""};
    c.groups[1].nics = NULL;
    c.groups[1].nic_count = 0;
    struct cluster_change x = change_of("b0:a1=0.5", *state);
    assert_int_equal(cluster_make_change(&to, &c, &x, *state, &err), BAD_INPUT);
    if (!strstr(err.text, "nothing joins")) fail_msg("%s", err.text);
    struct cluster slow = changed_cluster(&c, "a0=1e-6", *state);
    err = (struct error){OK, ""};
    x = change_of("a0=1e-6", *state);
    assert_int_equal(cluster_make_change(&to, &slow, &x, *state, &err), BAD_INPUT);
    if (!strstr(err.text, "in all")) fail_msg("%s", err.text);
}

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

static void test_matching(void **state)
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
        placed_match(number, before, after, replicas, ranks, *state);
        for (int r = 0; r < replicas; r++) {
            assert_in_range(number[r], 0, replicas - 1);
            assert_int_equal(seen[number[r]]++, 0);
        }
        assert_int_equal(moved(before, after, number, replicas, ranks),
                         least_moved(before, after, all, 0, replicas, ranks));
        placed_match(number, after, after, replicas, ranks, *state);
        assert_int_equal(moved(after, after, number, replicas, ranks), 0);
    }
}

// ---- random problems, with nodes to spare

static void put_places(struct problem *p, struct random *rng, int slots, struct arena *arena)
{
    struct cluster *c = &p->cluster;
    struct places *x = &c->places;
    int left = NODES, unmeasured = random_chance(rng, 50) ? 0 : 40;
    *x = (struct places){.nodes = TAKE(arena, NODES, struct cluster_node),
                         .measured = TAKE(arena, NODES * NODES, struct link)};
    for (int g = 0; g < c->group_count; g++) {
        c->groups[g].nodes = g == c->group_count - 1
                                 ? left
                                 : (int)random_between(rng, 1, left - (c->group_count - 1 - g));
        left -= c->groups[g].nodes;
        c->groups[g].gpus_per_node = p->job.layout.tensor * p->job.layout.context * slots;
        for (int i = 0; i < c->groups[g].nodes; i++, x->node_count++)
            x->nodes[x->node_count] =
                (struct cluster_node){.name = arena_print(arena, "n%d", x->node_count),
                                      .group = g,
                                      .switches = TAKE(arena, 1, int)};
    }
    for (int i = 0; i < NODES * NODES; i++)
        if (i / NODES != i % NODES && !random_chance(rng, unmeasured))
            x->measured[i] = (struct link){(double)random_between(rng, 1, 40) * 1e8,
                                           (double)random_between(rng, 1, 5) * 1e-6};
}

static void random_placed_problem(struct problem *p, struct random *rng, struct arena *arena)
{
    struct random_limits limits = random_limits_small();
    struct error err = {OK, ""};
    limits.layers_max = 7;
    limits.stages_max = 3;
    limits.groups_max = 2;
    do {
        random_problem(p, rng, &limits, arena);
        struct layout *l = &p->job.layout;
        l->zero = l->zero > 1 ? 1 : l->zero;
        l->barrier = true;
        l->fused_embedding_sync = false;
        int slots = random_chance(rng, 30) ? 2 : 1,
            data = random_chance(rng, 40) ? PLACES / l->pipeline
                                          : (int)random_between(rng, 1, PLACES / l->pipeline);
        p->job.global_batch = p->job.global_batch / l->data * data;
        l->data = data;
        put_places(p, rng, slots, arena);
        err = (struct error){OK, ""};
    } while (p->job.space.given || p->job.layout.pipeline < 2 || problem_check(p, &err) != OK ||
             problem_check_places(p, &err) != OK);
}

static bool solve_within(struct solve_result *r, const struct priced *priced,
                         struct placed_start *start, double gap, bool stopped, struct arena *arena)
{
    static const volatile int stop = 1;
    struct solve_settings settings;
    struct error err = {OK, ""};
    solve_defaults(&settings);
    settings.progress = 0;
    settings.gap = gap;
    enum status status =
        placed_solve(r, priced, &settings, start, stopped ? &stop : NULL, arena, &err);
    if (status != OK) fail_msg("%s", err.text);
    return r->plan.stage_count > 0;
}

static bool solve_from(struct solve_result *r, const struct priced *priced,
                       struct placed_start *start, bool stopped, struct arena *arena)
{
    return solve_within(r, priced, start, 0, stopped, arena);
}

static void assert_accepted(const struct plan *plan, const struct problem *problem,
                            struct arena *arena)
{
    struct verdict verdict;
    struct error err = {OK, ""};
    assert_int_equal(verify_plan(&verdict, plan, problem, arena, &err), OK);
    if (!verdict.accepted)
        fail_msg("%s: %s", verdict.violations[0].rule, verdict.violations[0].text);
}

// ---- the oracle: a plan's decision on the nodes and rings given, played event by event

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static int choice_on(const struct choices *c, int stage, const struct plan_stage *s, int group)
{
    int best = -1;
    for (int i = 0; i < c->stages[stage].count; i++) {
        const struct choice *x = &c->stages[stage].items[i];
        if (x->group != group || x->layer_count != s->layer_count ||
            (c->by_position && x->first_layer != s->first_layer) ||
            x->gradient_option != s->gradient_option || x->boundary_option != s->boundary_option)
            continue;
        if (best < 0 || x->load_ns < c->stages[stage].items[best].load_ns) best = i;
    }
    return best;
}

// nodes[replica * ranks + rank]; INT64_MAX: does not stand.
static int64_t played_time(const struct problem *problem, const struct plan *plan,
                           const char *const *nodes, struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    struct priced priced;
    struct schedule schedule;
    struct choices c;
    struct error err = {OK, ""};
    assert_int_equal(price_problem(&priced, problem, arena, &err), OK);
    struct schedule_request request = schedule_request_of(&priced);
    assert_int_equal(schedule_build(&schedule, &request, arena, &err), OK);
    assert_int_equal(choices_build(&c, &priced, &schedule, arena, &err), OK);
    const struct plan_placement *x = plan->placement;
    int stages = plan->stage_count, ranks = x->rank_count, node[PLACES * 2];
    int64_t slowest = 0;
    for (int i = 0; i < x->replica_count * ranks; i++) {
        node[i] = places_find(&problem->cluster.places, nodes[i]);
        if (node[i] < 0) slowest = INT64_MAX;
    }
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
            int64_t sync = 0;
            for (int i = 0; i < x->replica_count; i++) around[i] = node[i * ranks + rank];
            size_t transport = priced_ring_offset(priced.places, around, x->replica_count);
            if ((stands = at >= 0) == false) break;
            chosen[s] = &c.stages[s].items[at];
            choices_stage_durations(&c, s, chosen[s], durations);
            for (int i = 0; i < x->replica_count; i++) {
                const int *ring = x->rings + s * x->replica_count;
                int from = node[ring[i] * ranks + rank],
                    to = node[ring[(i + 1) % x->replica_count] * ranks + rank];
                size_t pair = transport + (size_t)from * (size_t)priced.places->node_count +
                              (size_t)to;
                stands = stands && priced.places->ring_constant_ns[0][pair] != PRICE_NONE;
                if (stands) sync = larger(sync, choice_ring_sync_ns(&c, s, chosen[s], pair));
            }
            durations[symbol_index(stages, SYMBOL_SYNC, s)] = sync;
        }
        if (stands && choices_node_transfers(&c, chosen, node + r * ranks, durations))
            time_ns = pipeline_time(&schedule, durations, arena);
        slowest = larger(slowest, time_ns);
    }
    arena_reset(arena, mark);
    return slowest;
}

// ---- from an earlier plan

static bool stands_on(const struct plan_placement *x, const char *name)
{
    for (int i = 0; i < x->replica_count * x->rank_count; i++)
        if (!strcmp(x->nodes[i], name)) return true;
    return false;
}

// Without a node in use, or with links in use slower: of a ring, or from a rank to the next.
static struct cluster_change random_change(const struct plan_placement *x, bool without,
                                           struct random *rng, struct arena *arena)
{
    const char *first = x->nodes[x->rings[0] * x->rank_count],
               *next = x->nodes[x->rings[x->replica_count > 1] * x->rank_count];
    if (!without && x->replica_count > 2 && strcmp(first, next))
        return change_of(arena_print(arena, "%s:%s=0.01", first, next), arena);
    int replica = (int)random_between(rng, 0, x->replica_count - 1),
        rank = (int)random_between(rng, 0, x->rank_count - 2);
    const char *from = x->nodes[replica * x->rank_count + rank],
               *to = x->nodes[replica * x->rank_count + rank + 1];
    if (without) return change_of(arena_print(arena, "-%s", from), arena);
    if (!strcmp(from, to)) return change_of(arena_print(arena, "%s=0.2", to), arena);
    return change_of(arena_print(arena, "%s:%s=0.%d%s", from, to, (int)random_between(rng, 1, 9),
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
        if (!gone) assert_string_equal(start->mended_nodes[i], x->nodes[i]);
        if (gone) lost++, last = i;
        assert_true(places_find(p, start->mended_nodes[i]) >= 0);
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
        if (time_ns < start->mended_ns)
            fail_msg("%s would be better: %lld, not %lld", p->nodes[i].name, (long long)time_ns,
                     (long long)start->mended_ns);
    }
}

// With a wide gap nobody moves but who must; with a narrow one the plan keeps to it.
static void check_gap(const struct problem *changed, const struct priced *priced,
                      const struct plan *earlier, struct arena *arena)
{
    static const double gaps[] = {0.9, 0.05};
    for (size_t i = 0; i < ARRAY_LENGTH(gaps); i++) {
        struct solve_result r;
        struct placed_start start = {.plan = earlier};
        if (!solve_within(&r, priced, &start, gaps[i], false, arena)) continue;
        assert_accepted(&r.plan, changed, arena);
        assert_true(r.plan.outcome == OUTCOME_OPTIMAL ? plan_gap(&r.plan) <= gaps[i]
                                                      : plan_gap(&r.plan) > gaps[i]);
        bool enough = start.mended_ns && (double)(start.mended_ns - r.plan.bound_ns) <=
                                             gaps[i] * (double)start.mended_ns;
        if (i == 0 && start.mended_ns) assert_true(enough);
        for (int k = 0;
             enough && k < earlier->placement->replica_count * earlier->placement->rank_count; k++)
            assert_string_equal(r.plan.placement->nodes[k], start.mended_nodes[k]);
    }
}

static void test_never_worse(void **state)
{
    int compared = 0, stood = 0, mended = 0, turned = 0;
    for (int trial = 0; trial < trials; trial++) {
        struct arena_mark mark = arena_set_mark(*state);
        struct random rng = {(uint64_t)trial + 1};
        struct problem problem, changed;
        struct priced priced, again;
        struct solve_result first, same, stopped, warm, cold;
        struct error err = {OK, ""};
        random_placed_problem(&problem, &rng, *state);
        assert_int_equal(price_problem(&priced, &problem, *state, &err), OK);
        if (!solve_from(&first, &priced, NULL, false, *state)) {
            arena_reset(*state, mark);
            continue;
        }
        const struct plan_placement *x = first.plan.placement;
        int places = x->replica_count * x->rank_count;
        // The same problem again: as fast, and then nobody moves.
        struct placed_start start = {.plan = &first.plan};
        assert_true(solve_from(&same, &priced, &start, trial % 3, *state));
        assert_int_equal(start.standing_ns, first.plan.iteration_ns);
        assert_int_equal(start.standing_ns, played_time(&problem, &first.plan, x->nodes, *state));
        assert_true(same.plan.iteration_ns <= first.plan.iteration_ns);
        for (int i = 0; i < places && same.plan.iteration_ns == first.plan.iteration_ns; i++)
            assert_string_equal(same.plan.placement->nodes[i], x->nodes[i]);

        struct cluster_change change = random_change(x, trial % 2, &rng, *state);
        changed = problem;
        assert_int_equal(
            cluster_make_change(&changed.cluster, &problem.cluster, &change, *state, &err), OK);
        err = (struct error){OK, ""};
        if (problem_check(&changed, &err) == OK) {
            assert_int_equal(price_problem(&again, &changed, *state, &err), OK);
            start = (struct placed_start){.plan = &first.plan};
            if (solve_from(&stopped, &again, &start, true, *state)) {
                int64_t played = played_time(&changed, &first.plan, x->nodes, *state);
                assert_int_equal(start.standing_ns, played < INT64_MAX ? played : 0);
                if (start.standing_ns)
                    assert_true(start.mended_ns && start.mended_ns <= start.standing_ns &&
                                stopped.plan.iteration_ns <= start.standing_ns);
                if (start.mended_ns) {
                    assert_true(stopped.plan.iteration_ns <= start.mended_ns);
                    check_mended(&changed, &first.plan, &start, *state);
                }
                assert_accepted(&stopped.plan, &changed, *state);
                for (int i = 0; i < change.without.count; i++)
                    assert_false(stands_on(stopped.plan.placement, change.without.items[i]));
                stood += start.standing_ns > 0;
                turned += start.mended_ns < start.standing_ns; // other rings alone make it faster
                mended += !start.standing_ns && start.mended_ns > 0;
            } else {
                assert_int_equal(start.mended_ns, 0);
            }
            check_gap(&changed, &again, &first.plan, *state);
            if (trial % 3 && solve_from(&cold, &again, NULL, false, *state)) {
                assert_true(solve_from(&warm, &again, &start, false, *state));
                assert_accepted(&warm.plan, &changed, *state);
                assert_true(warm.plan.iteration_ns <= cold.plan.iteration_ns &&
                            (!start.mended_ns || warm.plan.iteration_ns <= start.mended_ns));
                compared++;
            }
        }
        arena_reset(*state, mark);
    }
    printf("%d compared, %d earlier plans stood, of which other rings make %d faster, %d were "
           "mended\n",
           compared, stood, turned, mended);
    if (trials >= 12)
        assert_true(compared * 4 > trials && stood * 8 > trials && mended * 8 > trials && turned);
}

// ---- the command

struct told {
    int exit_code;
    char text[4000];
    struct error err;
};

// Runs `solve` with these words, "" between; what it says on standard output goes to told->text.
static enum status run_solve(struct told *told, const char *folder, const char *const *words,
                             int count, struct arena *arena)
{
    char *argv[16] = {"solve"};
    const char *out = arena_print(arena, "%s/out", folder);
    for (int i = 0; i < count; i++) argv[i + 1] = arena_copy_text(arena, words[i]);
    *told = (struct told){0};
    fflush(stdout);
    int kept = dup(1), log = dup(2), file = open(out, O_CREAT | O_TRUNC | O_WRONLY, 0600),
        nothing = open("/dev/null", O_WRONLY);
    assert_true(kept >= 0 && log >= 0 && file >= 0 && nothing >= 0);
    dup2(file, 1);
    dup2(nothing, 2);
    enum status status = command_solve(count + 1, argv, &told->exit_code, arena, &told->err);
    fflush(stdout);
    dup2(kept, 1);
    dup2(log, 2);
    close(kept), close(log), close(file), close(nothing);
    FILE *f = fopen(out, "r");
    assert_non_null(f);
    told->text[fread(told->text, 1, sizeof told->text - 1, f)] = '\0';
    fclose(f);
    remove(out);
    return status;
}
#define RUN(told, ...)                                                                             \
    run_solve(told, folder, (const char *const[]){__VA_ARGS__},                                    \
              (int)ARRAY_LENGTH(((const char *const[]){__VA_ARGS__})), *state)

static char folder[FOLDER_SIZE];
static const char *problem_path, *plan_path, *used, *other,
    *spare; // of the problem written by write_problem; names of nodes

static const char *in_folder(const char *name, struct arena *arena)
{
    return arena_print(arena, "%s/%s", folder, name);
}

// A problem with several replicas and a spare node, as five files, with its plan.
static int write_problem(void **state)
{
    struct problem problem;
    struct priced priced;
    struct solve_result result;
    struct told told;
    struct error err = {OK, ""};
    if (folder_make(folder)) return 1;
    for (uint64_t seed = 1; !plan_path; seed++) {
        struct random rng = {seed};
        random_placed_problem(&problem, &rng, *state);
        const struct layout *l = &problem.job.layout;
        if (l->data < 2 || l->data * l->pipeline >= NODES ||
            problem.cluster.groups[0].gpus_per_node > l->tensor * l->context)
            continue;
        if (price_problem(&priced, &problem, *state, &err) != OK ||
            !solve_from(&result, &priced, NULL, false, *state))
            continue;
        if (example_write(&problem, folder, true, *state, &err) != OK) return 1;
        problem_path = problem.document.path;
        plan_path = in_folder("plan.json", *state);
        if (RUN(&told, problem_path, "-o", plan_path, "--quiet") != OK || told.exit_code) return 1;
    }
    struct plan plan;
    if (plan_load(&plan, plan_path, *state, &err) != OK) return 1;
    used = plan.placement->nodes[0];
    other = plan.placement->nodes[1];
    for (int i = 0; i < problem.cluster.places.node_count; i++)
        if (!stands_on(plan.placement, problem.cluster.places.nodes[i].name))
            spare = problem.cluster.places.nodes[i].name;
    return !spare;
}

static int open_commands(void **state) { return check_open_arena(state) || write_problem(state); }

static int close_commands(void **state)
{
    return folder_remove(folder) || check_close_arena(state);
}

static void hear_written(const char *plan_name, const char *problem_name, struct arena *arena)
{
    struct plan plan;
    struct problem problem;
    struct error err = {OK, ""};
    if (plan_load(&plan, in_folder(plan_name, arena), arena, &err) != OK ||
        problem_load(&problem, in_folder(problem_name, arena), arena, &err) != OK)
        fail_msg("%s", err.text);
    assert_true(plan.stage_count > 0);
    assert_accepted(&plan, &problem, arena);
}

static void assert_says(const struct told *t, const char *text)
{
    if (!strstr(t->text, text)) fail_msg("expected '%s' in:\n%s", text, t->text);
}

static void test_command(void **state)
{
    struct told t, again;
    const char *without = in_folder("w.json", *state);
    assert_int_equal(RUN(&t, problem_path, "--start", plan_path, "--without", used, "-o", without),
                     OK);
    assert_says(&t, arena_print(*state, "without %s\n  earlier plan ", used));
    assert_says(&t, arena_print(*state, "not any more: %s is gone\n  only what must move ", used));
    assert_says(&t, arena_print(*state, "    replica 0 rank 0: %s -> ", used));
    assert_says(&t, "\n  new plan ");
    hear_written("w.json", "w.problem.json", *state);
    // The same again is no harm, another change is refused, and nothing is left behind or changed.
    assert_int_equal(
        RUN(&again, problem_path, "--start", plan_path, "--without", used, "-o", without), OK);
    assert_string_equal(again.text, t.text);
    assert_int_equal(RUN(&t, problem_path, "--without", other, "-o", without), BAD_INPUT);
    assert_non_null(strstr(t.err.text, "w.cluster.json: exists with other content"));
    assert_int_not_equal(access(in_folder("w.cluster.json.draft", *state), F_OK), 0);
    hear_written("w.json", "w.problem.json", *state);
    // From there on to the next question; made from the earlier documents.
    const char *degrade = arena_print(*state, "%s=0.5", spare);
    assert_int_equal(RUN(&t, in_folder("w.problem.json", *state), "--start", without, "--degrade",
                         degrade, "-o", in_folder("d.json", *state)),
                     OK);
    assert_says(&t, arena_print(*state, "%s x 0.5\n", spare));
    hear_written("d.json", "d.problem.json", *state);
    struct cluster c;
    struct problem p;
    struct error err = {OK, ""};
    assert_int_equal(problem_load(&p, in_folder("d.problem.json", *state), *state, &err), OK);
    assert_int_equal(cluster_load(&c, in_folder("w.cluster.json", *state), *state, &err), OK);
    assert_string_equal(p.cluster.document.sources[0].sha256, c.document.sha256);
    assert_int_equal(p.cluster.places.node_count, NODES - 1);
}

// A spare node is not missed: nobody moves, and the loss is none.
static void test_spare(void **state)
{
    struct told t;
    const char *factor = arena_print(*state, "%s=0.5", spare);
    const char *const options[][2] = {{"--without", spare}, {"--degrade", factor}};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(RUN(&t, problem_path, "--start", plan_path, options[i][0], options[i][1]),
                         OK);
        assert_int_equal(t.exit_code, 0);
        assert_says(&t, "+0.000 %\n  new plan ");
        assert_says(&t, "\n  0 of ");
        assert_says(&t, "layers as before\n  options as before\n");
    }
    assert_int_not_equal(access("-.cluster.json", F_OK), 0);
}

// Too few nodes are left.
static void test_no_room(void **state)
{
    struct told t;
    const char *words[12] = {problem_path, "-o", in_folder("none.json", *state)};
    struct problem p;
    struct plan plan;
    struct error err = {OK, ""};
    assert_int_equal(problem_load(&p, problem_path, *state, &err), OK);
    const struct layout *l = &p.job.layout;
    int count = 3;
    for (int i = 0; NODES - i >= l->data * l->pipeline; i++) {
        words[count++] = "--without";
        words[count++] = p.cluster.places.nodes[i].name;
    }
    assert_int_equal(run_solve(&t, folder, words, count, *state), OK);
    assert_int_equal(t.exit_code, EXIT_INFEASIBLE);
    assert_says(&t, "new plan             infeasible");
    assert_says(&t, arena_print(*state, "\n    data %d", l->data - 1));
    assert_int_equal(plan_load(&plan, in_folder("none.json", *state), *state, &err), OK);
    assert_int_equal(plan.outcome, OUTCOME_INFEASIBLE);
}

static void test_refused(void **state)
{
    struct told t;
    const char *foreign = in_folder("w.json", *state), *edited = in_folder("edited.json", *state);
    const char *text;
    size_t size;
    struct error err = {OK, ""};
    assert_int_equal(RUN(&t, problem_path, "--without", used, "-o", "-"), BAD_INPUT);
    assert_int_equal(RUN(&t, problem_path, "--without", "nobody"), BAD_INPUT);
    assert_int_equal(RUN(&t, problem_path, "--without", used, "--priced", in_folder("p", *state)),
                     BAD_INPUT);
    assert_int_equal(
        RUN(&t, problem_path, "--without", used, "--certificate", in_folder("p", *state)),
        BAD_INPUT);
    assert_int_equal(RUN(&t, problem_path, "--without", used, "-o",
                         in_folder("refused.json", *state), "--alternatives", "2"),
                     BAD_INPUT);
    assert_int_equal(access(in_folder("refused.cluster.json", *state), F_OK), -1);
    assert_int_equal(access(in_folder("refused.problem.json", *state), F_OK), -1);
    assert_int_equal(
        RUN(&t, problem_path, "--without", used, "--start", in_folder("nothing", *state)),
        BAD_INPUT);
    assert_int_equal(RUN(&t, problem_path, "--without", used, "--start", problem_path), BAD_INPUT);
    assert_int_equal(RUN(&t, problem_path, "--without", other, "--start", foreign), BAD_INPUT);
    assert_non_null(strstr(t.err.text, "expected a plan of"));
    // A plan of this problem whose time is no longer what was found.
    assert_int_equal(file_read(plan_path, &text, &size, *state, &err), OK);
    char *copy = arena_copy_text(*state, text),
         *digit = strstr(copy, "\"iteration_ns\": ") + strlen("\"iteration_ns\": ");
    *digit = *digit == '9' ? '8' : (char)(*digit + 1);
    assert_int_equal(file_write(edited, copy, size, &err), OK);
    assert_int_equal(RUN(&t, problem_path, "--without", other, "--start", edited), BAD_INPUT);
    assert_non_null(strstr(t.err.text, "expected a plan of"));
    // As a mere beginning any plan of as many stages will do.
    assert_int_equal(
        RUN(&t, problem_path, "--start", foreign, "-o", in_folder("again.json", *state)), OK);
    hear_written("again.json", "problem.json", *state);
}

// On links that are all alike it does not matter who stands where: whoever moved goes home,
// whatever the replicas are called.
static void test_going_home(void **state)
{
    int moved_before = 0;
    for (int trial = 0; trial < 10; trial++) {
        struct arena_mark mark = arena_set_mark(*state);
        struct random rng = {(uint64_t)trial + 100};
        struct problem problem;
        struct priced priced;
        struct solve_result result;
        struct placed *p;
        struct error err = {OK, ""};
        do {
            random_placed_problem(&problem, &rng, *state);
            for (int i = 0; i < NODES * NODES; i++)
                problem.cluster.places.measured[i] =
                    (struct link){i / NODES == i % NODES ? 0 : 1e9, 1e-6};
            assert_int_equal(price_problem(&priced, &problem, *state, &err), OK);
        } while (problem.cluster.group_count > 1 ||
                 problem.cluster.groups[0].gpus_per_node >
                     problem.job.layout.tensor * problem.job.layout.context ||
                 priced.layout.data < 2 || !solve_from(&result, &priced, NULL, true, *state));
        int ranks = priced.rank_count, places = ranks * priced.layout.data, home[PLACES],
            like[PLACES * 2], order[NODES];
        assert_int_equal(placed_open(&p, &priced, *state, &err), OK);
        struct placed_plan plan = placed_plan_empty(p, *state);
        struct placed_start start = {.plan = &result.plan};
        assert_true(placed_take_start(p, &start, like, home, &plan, *state));
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
        arena_reset(*state, mark);
    }
    assert_true(moved_before > 20);
}

int main(int argc, char **argv)
{
    if (argc > 1) trials = atoi(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes_leave),      cmocka_unit_test(test_links_change),
        cmocka_unit_test(test_counts_of_groups), cmocka_unit_test(test_wrong_words),
        cmocka_unit_test(test_matching),         cmocka_unit_test(test_going_home),
        cmocka_unit_test(test_never_worse),
    };
    const struct CMUnitTest commands[] = {
        cmocka_unit_test(test_command),
        cmocka_unit_test(test_spare),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_refused),
    };
    int failed = cmocka_run_group_tests(tests, check_open_arena, check_close_arena);
    return failed + cmocka_run_group_tests(commands, open_commands, close_commands);
}
