// Clusters that lose nodes and bandwidth: the remaining cluster, and what is refused.
#include "data/places/places.h"
#include "tests/support/placed.h"
#include "tests/support/check.h"

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

static double rate_of(const struct cluster *c, const char *from, const char *to)
{
    static const double whole[NIC_KIND_COUNT] = {1, 1, 1};
    const struct place_traffic traffic = {{1, 1}, {0, 0}};
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
    struct cluster_change x = cluster_change_of(words, arena);
    if (cluster_make_change(&to, c, &x, arena, &own_err) != OK ||
        cluster_check(&to, &own_err) != OK)
        fail_msg("%s: %s", words, own_err.text);
    return to;
}

TEST(test_nodes_leave)
{
    struct cluster c = small_cluster(arena);
    struct cluster one = changed_cluster(&c, "-a1", arena);
    assert_int_equal(one.places.node_count, 3);
    assert_int_equal(one.groups[0].nodes, 2);
    assert_int_equal(one.group_count, 2);
    assert_int_equal(places_find(&one.places, "a1"), -1);
    assert_rate(&one, "b0", "a0", 2e9);
    assert_rate(&one, "a0", "b0", 5e8);
    assert_rate(&one, "a0", "a:2", 1e9);
    // A group is removed with its last node, and the links of the others use their new numbers.
    struct cluster two = changed_cluster(&c, "-b0", arena);
    assert_int_equal(two.group_count, 1);
    assert_int_equal(two.link_count, 0);
    assert_rate(&two, "a0", "a1", 3e9);
    struct cluster last = changed_cluster(&c, "-a0 -a1 -a:2", arena);
    assert_int_equal(last.group_count, 1);
    assert_string_equal(last.groups[0].name, "b");
    assert_int_equal(last.places.nodes[0].group, 0);
    assert_string_equal(last.name, "c, without a0, a1, a:2");
    assert_int_equal(c.places.node_count, 4);
}

TEST(test_links_change)
{
    struct cluster c = small_cluster(arena);
    // measured, from NICs, the level, stated; one direction each
    static const struct {
        const char *words, *from, *to;
    } each[] = {{"a0:a1=0.5", "a0", "a1"},
                {"a1:a0=0.5", "a1", "a0"},
                {"a1:a:2=0.5", "a1", "a:2"},
                {"a0:b0=0.5", "a0", "b0"}};
    for (size_t i = 0; i < ARRAY_LENGTH(each); i++) {
        struct cluster x = changed_cluster(&c, each[i].words, arena);
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++) {
                const char *from = c.places.nodes[a].name, *to = c.places.nodes[b].name;
                bool asked = !strcmp(from, each[i].from) && !strcmp(to, each[i].to);
                if (a != b) assert_rate(&x, from, to, rate_of(&c, from, to) * (asked ? 0.5 : 1));
            }
    }
    // The least factor applies; a second change is added to the first; nodes are removed with their
    // factors.
    struct cluster x = changed_cluster(&c, "a0=0.5 a0:a1=0.25 b0=0.75", arena);
    assert_rate(&x, "a0", "a1", 3e9 * 0.25);
    assert_rate(&x, "a1", "a0", 1e9 * 0.5);
    assert_rate(&x, "b0", "a0", 2e9 * 0.5);
    assert_rate(&x, "a1", "b0", 5e8 * 0.75);
    assert_rate(&x, "a1", "a:2", 4e8);
    struct cluster y = changed_cluster(&x, "-a1 b0:a0=0.5", arena);
    assert_rate(&y, "b0", "a0", 2e9 * 0.25);
    assert_rate(&y, "a0", "a:2", 1e9 * 0.5);
    assert_rate(&y, "b0", "a:2", rate_of(&c, "b0", "a:2") * 0.75);
    assert_rate(&c, "a0", "a1", 3e9);
}

TEST(test_counts_of_groups)
{
    struct cluster c = small_cluster(arena);
    c.places = (struct places){0};
    struct cluster x = changed_cluster(&c, "-a=2", arena);
    assert_int_equal(x.groups[0].nodes, 1);
    assert_int_equal(changed_cluster(&c, "-b=1", arena).group_count, 1);
    // As a hostfile names them.
    assert_int_equal(changed_cluster(&c, "-a-2 -a-0", arena).groups[0].nodes, 1);
    assert_int_equal(changed_cluster(&c, "-b-0", arena).group_count, 1);
    // A whole group.
    assert_int_equal(changed_cluster(&c, "-a", arena).group_count, 1);
    assert_string_equal(changed_cluster(&c, "-a", arena).groups[0].name, "b");
    static const struct {
        const char *words, *text;
    } wrong[] = {
        {"-x", "GROUP=N"},
        {"-a -b", "none of the 4 nodes"},
        {"-a -a-1", "twice"},
        {"-x=1", "GROUP=N"},
        {"-a=0", "1 to 3 nodes"},
        {"-a=4", "1 to 3 nodes"},
        {"-a=-1", "1 to 3"},
        {"-a=1x", "GROUP=N"},
        {"-a=", "GROUP=N"},
        {"-a=1 -a=1", "twice"},
        {"-a-1 -a-1", "twice"},
        {"-a-1 -a=1", "twice"},
        {"-a-3", "a-0 to a-2"},
        {"-a-x", "GROUP=N"},
        {"-x-0", "GROUP=N"},
        {"-a=3 -b=1", "none of the 4 nodes"},
        {"-a-0 -a-1 -a-2 -b-0", "none of the 4 nodes"},
        {"a:b=0.5", "names no nodes"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++) {
        struct cluster_change change = cluster_change_of(wrong[i].words, arena);
        CHECK_REFUSED(cluster_make_change(&x, &c, &change, arena, &err), wrong[i].text);
    }
}

TEST(test_wrong_words)
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
    struct cluster c = small_cluster(arena), to;
    for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++) {
        struct cluster_change x = cluster_change_of(wrong[i].words, arena);
        CHECK_REFUSED(cluster_make_change(&to, &c, &x, arena, &err), wrong[i].text);
    }
    // Nothing to make slower; too slow after all.
    c.groups[1].nics = NULL;
    c.groups[1].nic_count = 0;
    struct cluster_change x = cluster_change_of("b0:a1=0.5", arena);
    CHECK_REFUSED(cluster_make_change(&to, &c, &x, arena, &err), "no link connects");
    struct cluster slow = changed_cluster(&c, "a0=1e-6", arena);
    x = cluster_change_of("a0=1e-6", arena);
    CHECK_REFUSED(cluster_make_change(&to, &slow, &x, arena, &err), "in all");
}
