// Clusters whose nodes have places: which link joins two of them, and wrong matrices.
#include "data/places/places.h"
#include "tests/support/check.h"

static const char head[] =
    "{\"kind\": \"plumbline.cluster\", \"version\": 1, \"name\": \"c\", \"groups\": ["
    "{\"name\": \"ib\", \"gpu\": \"g\", \"nodes\": 2, \"gpus_per_node\": 8, \"memory_bytes\": "
    "1000, \"intra\": {\"bytes_per_s\": 1e11, \"latency_s\": 0},"
    " \"nics\": [{\"kind\": \"infiniband\", \"count\": 4, \"link\": {\"bytes_per_s\": 2e10, "
    "\"latency_s\": 2e-6}},"
    "            {\"kind\": \"ethernet\", \"link\": {\"bytes_per_s\": 1e9, \"latency_s\": 3e-5}}]},"
    "{\"name\": \"roce\", \"gpu\": \"g\", \"nodes\": 2, \"gpus_per_node\": 8, \"memory_bytes\": "
    "1000, \"intra\": {\"bytes_per_s\": 1e11, \"latency_s\": 0},"
    " \"nics\": [{\"kind\": \"roce\", \"count\": 2, \"link\": {\"bytes_per_s\": 1e10, "
    "\"latency_s\": 4e-6}},"
    "            {\"kind\": \"ethernet\", \"link\": {\"bytes_per_s\": 2e9, \"latency_s\": "
    "2e-5}}]}], \"places\": {";

static const char nodes[] =
    "\"levels\": [{\"name\": \"rack\", \"link\": {\"bytes_per_s\": 1.5e10, \"latency_s\": 1e-6}}, "
    "{\"name\": \"pod\", \"link\": {\"bytes_per_s\": 5e8, \"latency_s\": 9e-6}}],"
    "\"nodes\": [{\"name\": \"a\", \"switches\": [\"r0\", \"p\"]}, {\"name\": \"b\", \"switches\": "
    "[\"r0\", \"p\"]},"
    " {\"name\": \"c\", \"group\": \"roce\", \"switches\": [\"r1\", \"p\"]}, {\"name\": \"d\", "
    "\"group\": \"roce\"}]";

static const double plain[NIC_KIND_COUNT] = {1, 1, 1};

static enum status load_nodes(struct cluster *c, const char *of_nodes, const char *tail,
                              struct arena *arena, struct error *err)
{
    char path[] = "/tmp/plumbline_places_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    FILE *to = fdopen(file, "w");
    fprintf(to, "%s%s%s}}", head, of_nodes, tail);
    fclose(to);
    enum status status = cluster_load(c, path, arena, err);
    remove(path);
    return status;
}

static enum status load(struct cluster *c, const char *tail, struct arena *arena, struct error *err)
{
    return load_nodes(c, nodes, tail, arena, err);
}

static void assert_link(const struct cluster *c, int a, int b, const struct place_traffic *traffic,
                        double bytes_per_s, double latency_s, enum place_origin origin)
{
    struct place_link link;
    assert_true(places_link(&link, c, a, b, traffic, plain));
    assert_true(link.link.bytes_per_s == bytes_per_s && link.link.latency_s == latency_s);
    assert_int_equal(link.origin, origin);
}

TEST(test_what_joins_two_nodes)
{
    struct cluster c;
    const struct place_traffic one = {{1, 1}, {0, 0}}, all = {{8, 8}, {0, 0}},
                               ring = {{1, 1}, {1, 1}};
    CHECK_OK(load(&c,
                  ", \"links\": [{\"from\": \"b\", \"to\": \"a\", \"link\": "
                  "{\"bytes_per_s\": 7e4, \"latency_s\": 1}}]",
                  arena, &err));
    assert_link(&c, 0, 1, &one, 1.5e10, 1e-6, PLACE_LEVEL); // InfiniBand gives 2e10, the rack less
    assert_link(&c, 0, 1, &all, 1e10, 2e-6, PLACE_CARDS);   // eight messages through four cards
    assert_link(&c, 1, 0, &one, 7e4, 1, PLACE_MEASURED);    // this direction was measured
    assert_link(&c, 0, 2, &one, 5e8, 9e-6,
                PLACE_LEVEL); // Ethernet in common, the pod is slower still
    assert_link(&c, 0, 3, &one, 1e9, 3e-5, PLACE_CARDS);   // Ethernet in common, no switch
    assert_link(&c, 2, 3, &one, 1e10, 4e-6, PLACE_CARDS);  // RoCE
    assert_link(&c, 2, 3, &ring, 2e10, 4e-6, PLACE_CARDS); // over both cards
    assert_int_equal(places_find(&c.places, "d"), 3);
    assert_int_equal(places_find(&c.places, "e"), -1);
}

TEST(test_matrix)
{
    struct cluster c;
    const struct place_traffic one = {{1, 1}, {0, 0}};
    static const char matrix[] =
        ", \"matrix\": {\"nodes\": [\"d\", \"c\", \"b\", \"a\"], \"bytes_per_s\": [[0, 1, 2, 3], "
        "[4, 0, 5, 6], [7, 8, 0, 9], [10, 11, 12, 0]], \"latency_s\": 0.5}";
    CHECK_OK(load(&c, matrix, arena, &err));
    assert_link(&c, 0, 3, &one, 10, 0.5, PLACE_MEASURED); // a to d: the last row's first number
    assert_link(&c, 3, 0, &one, 3, 0.5, PLACE_MEASURED);
    char path[] = "/tmp/plumbline_places_XXXXXX";
    assert_true(mkstemp(path) >= 0);
    CHECK_OK(cluster_save(&c, path, arena, &err));
    struct cluster again;
    CHECK_OK(cluster_load(&again, path, arena, &err));
    remove(path);
    assert_memory_equal(again.places.measured, c.places.measured, 16 * sizeof(struct link));
}

TEST(test_wrong_matrices)
{
    static const struct {
        const char *tail, *text;
    } wrong[] = {
        {"\"nodes\": [\"a\", \"b\", \"c\"], \"bytes_per_s\": []", "all 4 nodes"},
        {"\"nodes\": [\"a\", \"b\", \"c\", \"e\"], \"bytes_per_s\": []", "\"e\""},
        {"\"nodes\": [\"a\", \"b\", \"c\", \"a\"], \"bytes_per_s\": []", "appears twice"},
        {"\"nodes\": [\"a\", \"b\", \"c\", \"d\"], \"bytes_per_s\": [[0, 1, 1, 1]]",
         "expected 4 rows"},
        {"\"nodes\": [\"a\", \"b\", \"c\", \"d\"], \"bytes_per_s\": [[0, 1, 1, 1], [1, 0, 1, 1], "
         "[1, 1, 0, 1], [1, 1, 1]]",
         "bytes_per_s[3]: expected 4 numbers"},
        {"\"nodes\": [\"a\", \"b\", \"c\", \"d\"], \"bytes_per_s\": [[0, 1, 1, 1], [1, 0, 1, 0], "
         "[1, 1, 0, 1], [1, 1, 1, 0]]",
         "bytes_per_s[1]: [3]: \"b\" to \"d\": expected 1 to 1e+18, or null where nothing was "
         "measured, found 0"},
        {"\"nodes\": [\"a\", \"b\", \"c\", \"d\"], \"bytes_per_s\": [[0, 1, 1, 1], [1, 2, 1, 1], "
         "[1, 1, 0, 1], [1, 1, 1, 0]]",
         "bytes_per_s[1]: [1]: expected 0"},
        {"\"nodes\": [\"a\", \"b\", \"c\", \"d\"], \"bytes_per_s\": [[0, NaN, 1, 1], [1, 0, 1, 1], "
         "[1, 1, 0, 1], [1, 1, 1, 0]]",
         "line 1: expected a finite number, found 'NaN'"},
        {"\"nodes\": [\"a\", \"b\", \"c\", \"d\"], \"bytes_per_s\": [[0, -1, 1, 1], [1, 0, 1, 1], "
         "[1, 1, 0, 1], [1, 1, 1, 0]]",
         "bytes_per_s[0]: [1]: \"a\" to \"b\": expected 1 to 1e+18"},
        {"\"nodes\": [\"a\", \"b\", \"c\", \"d\"], \"bytes_per_s\": [[0, Infinity, 1, 1], [1, 0, "
         "1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]",
         "expected a finite number, found 'Infinity'"},
        {"\"nodes\": [\"a\", \"b\", \"c\", \"d\"], \"bytes_per_s\": [[0, 1e400, 1, 1], [1, 0, 1, "
         "1], [1, 1, 0, 1], [1, 1, 1, 0]]",
         "bytes_per_s[0][1]: expected a finite number, or null, found inf"},
        {"\"nodes\": [\"a\", \"b\", \"c\", \"d\"], \"bytes_per_s\": [[0, 2e18, 1, 1], [1, 0, 1, "
         "1], [1, 1, 0, 1], [1, 1, 1, 0]]",
         "bytes_per_s[0]: [1]: \"a\" to \"b\": expected 1 to 1e+18"},
        {"\"nodes\": [\"a\", \"b\", \"c\", \"d\"], \"bytes_per_s\": [[0, \"1\", 1, 1], [1, 0, 1, "
         "1], [1, 1, 0, 1], [1, 1, 1, 0]]",
         "bytes_per_s[0][1]: expected a finite number, or null, found \"1\""},
        {"\"nodes\": [\"a\", \"b\", \"c\", \"d\"], \"bytes_per_s\": [[0, 1, 1, 1], 5, [1, 1, 0, "
         "1], [1, 1, 1, 0]]",
         "bytes_per_s[1]: expected an array, found 5"},
        {"\"nodes\": [\"a\", \"b\", \"c\", \"d\"], \"bytes_per_s\": [[0, 1, 1, 1], [1, 0, 1, 1], "
         "[1, 1, 0, 1], [1, 1, 1, 0], [1, 1, 1, 1]]",
         "expected 4 rows, one for each node, found 5"},
        {"\"nodes\": [\"a\", \"b\", \"c\", 4], \"bytes_per_s\": []",
         "nodes[3]: expected a string, found 4"},
        {"\"bytes_per_s\": []", "key \"nodes\" is missing"},
        {"\"nodes\": [\"a\", \"b\", \"c\", \"d\"], \"bytes_per_s\": [[0, 1, 1, 1], [1, 0, 1, 1], "
         "[1, 1, 0, 1], [1, 1, 1, 0]], \"latencies_s\": [[0, 1, 1, 1], [1, 0, 1, null], [1, 1, 0, "
         "1], [1, 1, 1, 0]]",
         "latencies_s: [1][3]: \"b\" to \"d\": expected a latency for this bandwidth, found "
         "null"},
        {"\"nodes\": [\"a\", \"b\", \"c\", \"d\"], \"bytes_per_s\": [[0, 1, 1, 1], [1, 0, 1, 1], "
         "[1, 1, 0, 1], [1, 1, 1, 0]], \"latency_s\": -1",
         "latency_s: expected a number from 0"},
        {"\"nodes\": [\"a\", \"b\", \"c\", \"d\"], \"bytes_per_s\": [[0, 1, 1, 1], [1, 0, 1, 1], "
         "[1, 1, 0, 1], [1, 1, 1, 0]], \"latency_s\": 1, \"latencies_s\": [[0, 1, 1, 1], [1, 0, 1, "
         "1], [1, 1, 0, 1], [1, 1, 1, 0]]",
         "expected it or latencies_s, found both"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++) {
        err = (struct error){OK, ""};
        struct cluster c;
        assert_int_equal(
            load(&c, arena_print(arena, ", \"matrix\": {%s}", wrong[i].tail), arena, &err),
            BAD_INPUT);
        if (!strstr(err.text, wrong[i].text)) fail_msg("%s: %s", wrong[i].text, err.text);
    }
}

// Two nodes of one name, and names that would break a host file, are reported with their place,
// with a matrix too.
TEST(test_wrong_names)
{
    static const struct {
        const char *name, *text;
    } wrong[] = {
        {"a", "names two nodes"},
        {"", "found an empty one"},
        {"x y", "found \"x y\" with white space"},
        {"x\\ny", "control character U+000A"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++) {
        struct cluster c;
        char *changed = arena_print(arena, "%s", nodes), *at = strstr(changed, "\"name\": \"b\"");
        assert_non_null(at);
        const char *whole = arena_print(
            arena, "%.*s\"name\": \"%s\"%s, \"matrix\": {\"nodes\": [], \"bytes_per_s\": []}",
            (int)(at - changed), changed, wrong[i].name, at + strlen("\"name\": \"b\""));
        CHECK_REFUSED(load_nodes(&c, whole, "", arena, &err), wrong[i].text);
        assert_non_null(strstr(err.text, "places.nodes[1]"));
    }
}

// A null cell of a matrix takes the value of the nodes' class; a separate link has precedence; if
// no class gives a value, the error names the pair.
TEST(test_missing_cells)
{
    struct cluster c;
    const struct place_traffic one = {{1, 1}, {0, 0}};
    static const char matrix[] =
        ", \"matrix\": {\"nodes\": [\"a\", \"b\", \"c\", \"d\"], \"latencies_s\": [[0, null, 1, "
        "1], [1, 0, 1, 1], [1, 1, 0, 0.5], [1, 1, 1, 0]],"
        " \"bytes_per_s\": [[0, null, null, null], [5e4, 0, 6e4, 7e4], [8e4, 9e4, 0, null], [1e5, "
        "11e4, null, 0]]}, \"links\": [{\"from\": \"a\", \"to\": \"d\", \"link\": "
        "{\"bytes_per_s\": 3e4, "
        "\"latency_s\": 0.2}}]";
    CHECK_OK(load(&c, matrix, arena, &err));
    for (int round = 0; round < 2; round++) {
        assert_link(&c, 0, 1, &one, 1.5e10, 1e-6, PLACE_LEVEL);
        assert_link(&c, 1, 0, &one, 5e4, 1, PLACE_MEASURED);
        assert_link(&c, 0, 2, &one, 5e8, 9e-6, PLACE_LEVEL);
        assert_link(&c, 0, 3, &one, 3e4, 0.2, PLACE_MEASURED);
        assert_link(&c, 2, 3, &one, 1e10, 4e-6, PLACE_CARDS);
        char path[] = "/tmp/plumbline_places_XXXXXX";
        assert_true(mkstemp(path) >= 0);
        CHECK_OK(cluster_save(&c, path, arena, &err));
        CHECK_OK(cluster_load(&c, path, arena, &err));
        remove(path);
    }
    // The same without cards at nodes c and d: their level joins c and a, no link connects c and d.
    CHECK_OK(load(&c, matrix, arena, &err));
    c.groups[1].nic_count = 0;
    CHECK_REFUSED(cluster_check(&c, &err), "places: \"c\" to \"d\": expected a measured bandwidth");
    struct group_link stated = {1, 1, {4, 0}};
    c.links = &stated;
    c.link_count = 1;
    CHECK_OK(cluster_check(&c, &err));
}
