// plumbline import matrix: files that are not a matrix, each with one line that names the file and
// the place; links that were not measured; which node a row belongs to.
#include "data/places/cluster.h"
#include "data/import/import.h"
#include "tests/support/folder.h"
#include "tests/support/check.h"

enum { OPTIONS = 8 };
static const char *const by_hand[OPTIONS] = {"--gpu",       "G",  "--gpus-per-node", "8",
                                             "--memory-gb", "80", "--intra-gb-s",    "300"};
static const char *const like[OPTIONS] = {"--like", "data/clusters/a100-16x8.json"};

static enum status import(struct cluster *c, const char *text, const char *const *options,
                          struct arena *arena, struct error *err)
{
    const char *path = own_path("matrix.json"), *output = own_path("cluster.json");
    char *arguments[6 + OPTIONS] = {arena_copy_text(arena, "matrix"), arena_copy_text(arena, path),
                                    arena_copy_text(arena, "-o"), arena_copy_text(arena, output)};
    int count = 4, exit_code = 0;
    for (int i = 0; i < OPTIONS && options[i]; i++)
        arguments[count++] = arena_copy_text(arena, options[i]);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    *err = (struct error){OK, ""};
    TRY(command_call(&import_matrix, count, arguments, &exit_code, arena, err));
    return cluster_load(c, output, arena, err);
}

TEST(test_wrong_files)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"", "found neither"},
        {"[1, 2]", "expected an object, found an array"},
        {"{\"bandwidth\": [[0, 1], [1, 0]]}", "key \"gpus\" is missing"},
        {"{\"gpus\": [\"a\", \"b\"]}", "key \"bandwidth\" is missing"},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": \"x\"}",
         "bandwidth: expected an array, found \"x\""},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [0, 1]}",
         "bandwidth[0]: expected an array, found 0"},
        {"{\"gpus\": [1, 2], \"bandwidth\": [[0, 1], [1, 0]]}",
         "gpus[0]: expected a string, found 1"},
        {"{\"gpus\": [\"a\"], \"bandwidth\": [[0]]}", "gpus: expected 2 to 4096 names, found 1"},
        {"{\"gpus\": [\"a\", \"a\"], \"bandwidth\": [[0, 1], [1, 0]]}",
         "gpus: [1]: \"a\" appears twice"},
        {"{\"gpus\": [\"a\", \"\"], \"bandwidth\": [[0, 1], [1, 0]]}",
         "gpus: [1]: expected a name, found an empty one"},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[0, 1]]}",
         "bandwidth: expected 2 rows, one for each of \"gpus\", found 1"},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[0, 1], [1, 0], [1, 1]]}",
         "expected 2 rows, one for each of \"gpus\", found 3"},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[0, 1], [1]]}",
         "bandwidth[1]: expected 2 numbers, one for each of \"gpus\", found 1"},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[0, 1, 2], [1, 0]]}",
         "bandwidth[0]: expected 2 numbers, one for each of \"gpus\", found 3"},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[0, NaN], [1, 0]]}",
         "expected a measured bandwidth"}, // as null
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[0, Infinity], [1, 0]]}",
         "expected a measured bandwidth"},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[0, -Infinity], [1, 0]]}",
         "expected a measured bandwidth"},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[0, 1e999], [1, 0]]}",
         "bandwidth[0][1]: expected a finite number, or null, found inf"},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[0, 1e300], [1, 0]]}",
         "bandwidth[0]: [1]: \"b\" to \"a\": expected a bandwidth of 1 to 1e+18 bytes/s"},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[0, 1], [0, 0]]}",
         "bandwidth[1]: [0]: \"a\" to \"b\": expected a bandwidth of 1 to 1e+18 bytes/s, or null "
         "where nothing was measured, found 0"},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[0, -2], [1, 0]]}", "found -2"},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[0, true], [1, 0]]}",
         "bandwidth[0][1]: expected a finite number, or null, found true"},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[0, \"9\"], [1, 0]]}",
         "bandwidth[0][1]: expected a finite number, or null, found \"9\""},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[\"0\", \"nan\"], [\"1\", \"0\"]]}",
         "bandwidth[0]: [1]: expected a number, found \"nan\""},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[\"0\", \"0x10\"], [\"1\", \"0\"]]}",
         "bandwidth[0]: [1]: expected a number, found \"0x10\""},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[\"0\", \"7 \"], [\"1\", \"0\"]]}",
         "expected a number, found \"7 \""},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[\"0\", \"\"], [\"1\", \"0\"]]}",
         "expected a number, found \"\""},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[0, null], [1, 0]]}",
         "places: \"b\" to \"a\": expected a measured bandwidth, or a link, a level or network "
         "cards"},
        {"{\"1\": {\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[0, 1], [1, 0]]}}",
         "expected key \"0\", the Recv table"},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[0, 1], [1, 0]]} x", "found 'x'"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++) {
        err = (struct error){OK, ""};
        struct cluster c;
        assert_int_equal(import(&c, wrong[i].text, by_hand, arena, &err), BAD_INPUT);
        if (!strstr(err.text, wrong[i].says) || !strstr(err.text, "json: ") ||
            strchr(err.text, '\n'))
            fail_msg("%s: %s", wrong[i].text, err.text);
    }
}

// Links that were not measured follow from the nodes' cards.
TEST(test_missing_links)
{
    struct cluster c;
    CHECK_OK(
        import(&c,
               "{\"gpus\": [\"a\", \"b\", \"c\"], \"bandwidth\": [[7, null, 2], [3, 7, 4], [null, "
               "5, 7]]}",
               like, arena, &err));
    static const double units[9] = {0, 3, 0, 0, 0,
                                    5, 2, 4, 0}; // [from][to]: a row is the receiver's
    assert_int_equal(c.places.node_count, 3);
    for (int i = 0; i < 9; i++) {
        double found = c.places.measured[i].bytes_per_s, expected = units[i] * 1048576000.0;
        if (found > expected || found < expected)
            fail_msg("%d: %g, expected %g", i, found, expected);
    }
}

AROUND_EACH(folder_open, folder_close)
