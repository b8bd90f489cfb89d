// Imports of measured tables: bandwidth matrices (direction, unit) and layers, and errors in them.
#include "data/inputs/costs.h"
#include "data/places/places.h"
#include "data/import/import.h"
#include "tests/support/folder.h"
#include "tests/support/check.h"

static char input[FOLDER_SIZE + 20], output[FOLDER_SIZE + 20];

static int open_all(void **state)
{
    (void)state;
    if (folder_open(state)) return 1;
    snprintf(input, sizeof input, "%s/in.json", own_folder);
    snprintf(output, sizeof output, "%s/out.json", own_folder);
    return 0;
}

static void write_input(const char *text, size_t size)
{
    FILE *file = fopen(input, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

// Runs the import of `path`, "-o output" and the words given (separated by blanks).
static enum status import(const struct command *command, const char *path, const char *words)
{
    char *argv[40] = {"import", (char *)(uintptr_t)path, "-o", output};
    int argc = 4, exit_code = 0;
    char *copy = arena_copy_text(&own_arena, words);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
    own_err = (struct error){OK, ""};
    remove(output);
    return command_call(command, argc, argv, &exit_code, &own_arena, &own_err);
}

// Refused in one line that has `word` in it, with nothing written.
static void assert_refused(const struct command *command, const char *text, size_t size,
                           const char *words, const char *word)
{
    write_input(text, size);
    assert_int_equal(import(command, input, words), BAD_INPUT);
    if (!strstr(own_err.text, word)) print_error("'%s' is not in: %s\n", word, own_err.text);
    assert_non_null(strstr(own_err.text, word));
    assert_null(strchr(own_err.text, '\n'));
    assert_null(fopen(output, "r"));
}

// ---- matrices

#define NODES "--gpu g --gpus-per-node 4 --memory-gb 40 --intra-gb-s 200 "

static const struct link *link_of(const struct cluster *c, const char *from, const char *to)
{
    int a = places_find(&c->places, from), b = places_find(&c->places, to);
    assert_true(a >= 0 && b >= 0);
    return &c->places.measured[a * c->places.node_count + b];
}

static void assert_rate(const struct cluster *c, const char *from, const char *to, double expected)
{
    double found = link_of(c, from, to)->bytes_per_s;
    assert_true(fabs(found - expected) <= 1e-12 * expected);
}

static const char one_table[] = "{\"gpus\": [\"a\", \"b\", \"c\"], \"bandwidth\": [[9, 1, 2], [3, "
                                "9, 4], [5, 6, -1]], \"date\": null}";
static const char two_tables[] =
    "{\"0\": {\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[7, 1000], [2000, 7]]}, \"1\": {\"gpus\": "
    "[\"a\", \"b\"], \"bandwidth\": [[7, 2100], [1100, 7]]}}";

static void load_matrix(struct cluster *c, const char *text, const char *words)
{
    write_input(text, strlen(text));
    assert_int_equal(import(&import_matrix, input, words), OK);
    MUST(cluster_load(c, output, &own_arena, &own_err));
}

TEST(test_directions_and_units)
{
    struct cluster c;
    load_matrix(&c, one_table, NODES "--latency-us 2.5 --name three");
    assert_string_equal(c.name, "three");
    assert_int_equal(c.groups[0].nodes, 3);
    assert_int_equal(c.groups[0].gpus_per_node, 4);
    assert_true(c.groups[0].memory_bytes == 40000000000 && c.groups[0].intra.bytes_per_s == 200e9);
    assert_rate(&c, "b", "a", 1 * 1.048576e9); // row a, column b: a received from b
    assert_rate(&c, "a", "b", 3 * 1.048576e9);
    assert_rate(&c, "c", "b", 4 * 1.048576e9);
    assert_rate(&c, "b", "c", 6 * 1.048576e9);
    assert_true(fabs(link_of(&c, "a", "b")->latency_s - 2.5e-6) < 1e-18);
    load_matrix(&c, one_table, NODES "--rows sender --unit gb");
    assert_rate(&c, "a", "b", 1e9);
    assert_rate(&c, "c", "a", 5e9);
    load_matrix(&c, two_tables, NODES); // MiB/s, Recv
    assert_rate(&c, "b", "a", 1000 * 1048576.0);
    assert_rate(&c, "a", "b", 2000 * 1048576.0);
    load_matrix(&c, two_tables, NODES "--table send");
    assert_rate(&c, "a", "b", 2100 * 1048576.0);
    assert_rate(&c, "b", "a", 1100 * 1048576.0);
    // Pipette's planner reads numbers as texts, too.
    load_matrix(&c,
                "{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[\"9\", \"1.5\"], [\"2.5\", \"9\"]]}",
                NODES "--unit gb");
    assert_rate(&c, "b", "a", 1.5e9);
    load_matrix(&c, one_table, "--like a100-16x8 --memory-gb 40");
    assert_string_equal(c.groups[0].gpu, "a100-80gb");
    assert_true(link_of(&c, "a", "b")->latency_s == c.groups[0].nics[0].link.latency_s);
    assert_true(c.groups[0].memory_bytes == 40000000000 && c.groups[0].gpus_per_node == 8);
}

TEST(test_wrong_matrices)
{
    static const struct {
        const char *text, *words, *word;
    } cases[] = {
        {one_table, "--gpu g", "--gpus-per-node is missing"},
        {one_table, "--like nothere", "nothere"},
        {one_table, NODES "--table send", "--table"},
        {one_table, NODES "--rows both", "--rows"},
        {"{\"gpus\": [\"a\", \"b\"]}", NODES, "bandwidth"},
        {"{\"bandwidth\": [[1]]}", NODES, "gpus"},
        {"{\"1\": {\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[0, 1], [1, 0]]}}", NODES, "Recv"},
        {"{\"gpus\": [\"a\"], \"bandwidth\": [[1]]}", NODES, "expected 2 to"},
        {"{\"gpus\": [\"a\", \"a\"], \"bandwidth\": [[0, 1], [1, 0]]}", NODES,
         "\"a\" appears twice"},
        {"{\"gpus\": [\"a\", \"\"], \"bandwidth\": [[0, 1], [1, 0]]}", NODES, "empty"},
        {"{\"gpus\": [\"a\", 5], \"bandwidth\": [[0, 1], [1, 0]]}", NODES, "gpus[1]"},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[0, 1]]}", NODES, "expected 2 rows"},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[0, 1], [1]]}", NODES,
         "bandwidth[1]: expected 2 numbers"},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[0, 1], []]}", NODES,
         "bandwidth[1]: expected 2 numbers"},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[0, 0], [1, 0]]}", NODES,
         "\"b\" to \"a\": expected a bandwidth of 1 to 1e+18 bytes/s"},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[0, 1], [-2, 0]]}", NODES,
         "\"a\" to \"b\": expected a bandwidth of 1 to 1e+18 bytes/s, or null where nothing was "
         "measured, found -2"},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[0, NaN], [1, 0]]}", NODES, "in.json"},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[0, 1e999], [1, 0]]}", NODES, "in.json"},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[0, 1e300], [1, 0]]}", NODES, "found 1e+300"},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[0, null], [1, 0]]}", NODES,
         "\"b\" to \"a\": expected a measured bandwidth"},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[\"0\", \"nan\"], [\"1\", \"0\"]]}", NODES,
         "expected a number, found \"nan\""},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [[\"0\", \"1x\"], [\"1\", \"0\"]]}", NODES,
         "1x"},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": [5, 6]}", NODES, "bandwidth[0]"},
        {"{\"gpus\": [\"a\", \"b\"], \"bandwidth\": {}}", NODES, "bandwidth"},
        {"[]", NODES, "in.json"},
        {"", NODES, "in.json"},
        {"\x1f\x8b\x08\x01\x02\x03", NODES, "in.json"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(&import_matrix, cases[i].text, strlen(cases[i].text), cases[i].words,
                       cases[i].word);
    for (size_t n = 0; n < strlen(one_table); n++)
        assert_refused(&import_matrix, one_table, n, NODES, "in.json");
}

// The measured matrix that we may not ship, if it is next to the repository.
TEST(test_published_matrix)
{
    static const char path[] = "../shared/validation/cluster16_t0.json";
    struct cluster c;
    FILE *file = fopen(path, "r");
    if (!file) skip();
    fclose(file);
    assert_int_equal(import(&import_matrix, path, "--like a100-16x8"), OK);
    MUST(cluster_load(&c, output, &own_arena, &own_err));
    assert_int_equal(c.places.node_count, 16);
    assert_rate(&c, "agpu1478", "agpu1475", 19.635358500000002 * 1.048576e9);
    assert_rate(&c, "agpu1475", "agpu1478", 17.3468233125 * 1.048576e9);
}

// ---- layers

static const char layers_text[] =
    "{\"unit\": \"milliseconds\", \"shape\": \"as measured\", \"profiles\": {\"m\": {\n"
    "\"G\": {\"2\": {\"1\": {\"0\": [1, 2, 3], \"2\": [30, 50, 7], \"1\": [10, 30, 5], \"3\": [4, "
    "5, 6]}},\n"
    "        \"1\": {\"2\": {\"0\": [1, 1, 0], \"1\": [5, 9, 0], \"2\": [5, 9, 0], \"3\": [2, 3, "
    "0]},\n"
    "                \"1\": {\"0\": [1, 1, 0], \"1\": [6, 11, 0], \"2\": [6, 11, 0], \"3\": [2, 4, "
    "0]}}},\n"
    "\"H\": {\"1\": {\"1\": {\"0\": [9, 9], \"1\": [60, 110], \"2\": [60, 110], \"3\": [20, "
    "40]}}}}}}";

static void load_costs(struct costs *c, const char *text, const char *words)
{
    write_input(text, strlen(text));
    assert_int_equal(import(&import_layers, input, words), OK);
    MUST(costs_load(c, output, &own_arena, &own_err));
}

static void assert_time(const struct layer_time *t, const char *run, const char *gpu, int tensor,
                        int micro_batch, double forward_ms, double backward_ms, double optimizer_ms)
{
    assert_string_equal(t->run, run);
    assert_string_equal(t->gpu, gpu);
    assert_true(t->tensor == tensor && t->micro_batch == micro_batch);
    assert_true(fabs(t->forward_s - forward_ms * 1e-3) < 1e-12 &&
                fabs(t->backward_s - backward_ms * 1e-3) < 1e-12);
    assert_true(fabs(t->optimizer_s - optimizer_ms * 1e-3) < 1e-12 &&
                fabs(t->full_s - forward_ms * 1e-3) < 1e-12);
}

TEST(test_layers)
{
    struct costs c;
    load_costs(&c, layers_text, "");
    assert_string_equal(c.name, "m");
    assert_int_equal(c.gpu_count, 2);
    assert_int_equal(c.gpus[0].memory_bytes_per_s.origin, ORIGIN_ASSUMED);
    assert_int_equal(c.layer_time_count, 12);
    assert_time(&c.layer_times[0], "embedding", "G", 1, 1, 1, 1, 0);
    assert_time(&c.layer_times[1], "block", "G", 1, 1, 6, 11, 0);
    assert_time(&c.layer_times[3], "embedding", "G", 1, 2, 1, 2, 3);
    assert_time(&c.layer_times[4], "block", "G", 1, 2, 20, 40, 6); // the mean
    assert_time(&c.layer_times[5], "head", "G", 1, 2, 4, 5, 6);
    assert_time(&c.layer_times[7], "block", "G", 2, 1, 5, 9, 0);
    assert_time(&c.layer_times[10], "block", "H", 1, 1, 60, 110, 0);
    load_costs(&c, layers_text, "--gpu G --as fast --micro-batch 2 --head-layers 2 --name n");
    assert_int_equal(c.layer_time_count, 3);
    assert_time(&c.layer_times[1], "block", "fast", 1, 2, 10, 30, 5);
    assert_time(&c.layer_times[2], "head", "fast", 1, 2, 34, 55, 13); // the sum
    load_costs(&c, layers_text, "--gpu H --as a100-80gb --into datasheet");
    assert_int_equal(c.layer_time_count, 3);
    assert_true(c.gpu_count > 1 && costs_find_gpu(&c, "a100-80gb"));
    assert_int_equal(c.document.source_count, 2);
    char again[FOLDER_SIZE + 40], words[FOLDER_SIZE + 100];
    snprintf(again, sizeof again, "%s/first.json", own_folder);
    assert_int_equal(rename(output, again), 0);
    snprintf(words, sizeof words, "--gpu G --as a100-80gb --tensor 2 --into %s", again);
    load_costs(&c, layers_text, words);
    assert_int_equal(c.layer_time_count, 6);
    assert_time(&c.layer_times[1], "block", "a100-80gb", 2, 1, 5, 9, 0); // new entries come first
    assert_time(&c.layer_times[4], "block", "a100-80gb", 1, 1, 60, 110, 0);
}

TEST(test_wrong_layers)
{
    static const struct {
        const char *text, *words, *word;
    } cases[] = {
        {layers_text, "--model x", "expected one of m, found 'x'"},
        {layers_text, "--gpu x", "expected one of G, H, found 'x'"},
        {layers_text, "--as x", "--as: requires --gpu"},
        {layers_text, "--tensor 8", "no table"},
        {layers_text, "--head-layers 3", "found 4 layers"},
        {layers_text, "--into nothere", "nothere"},
        {layers_text, "--into datasheet", "no GPU \"G\""},
        {"{\"unit\": \"years\", \"profiles\": {}}", "", "unit"},
        {"{\"profiles\": {}}", "", "none"},
        {"{\"profiles\": {\"a\": {}, \"b\": {}}}", "", "one of a, b"},
        {"{\"profiles\": {\"a\": {}}}", "", "no table"},
        {"{\"a\": 5}", "", "expected"},
        {"{\"a\": {\"g\": []}}", "", "a.g"},
        {"{\"a\": {\"g\": {\"x\": {}}}}", "", "expected a micro-batch as key, found \"x\""},
        {"{\"a\": {\"g\": {\"0\": {}}}}", "", "at least 1"},
        {"{\"a\": {\"g\": {\"1\": {\"1.5\": {}}}}}", "", "tensor degree as key"},
        {"{\"a\": {\"g\": {\"99999999999999999999\": {}}}}", "", "micro-batch as key"},
        {"{\"a\": {\"g\": {\"1\": {\"1\": {}}}}}", "", "found 0 layers"},
        {"{\"a\": {\"g\": {\"1\": {\"1\": {\"0\": [1, 1, 1], \"1\": [1, 1, 1], \"3\": [1, 1, "
         "1]}}}}}",
         "", "expected layers 0 to 2"},
        {"{\"a\": {\"g\": {\"1\": {\"1\": {\"0\": [1, 1, 1], \"01\": [1, 1, 1], \"1\": [1, 1, "
         "1]}}}}}",
         "", "each once"},
        {"{\"a\": {\"g\": {\"1\": {\"1\": {\"0\": [1, 1, 1], \"1\": [1], \"2\": [1, 1, 1]}}}}}", "",
         "found 1 numbers"},
        {"{\"a\": {\"g\": {\"1\": {\"1\": {\"0\": [1, 1, 1], \"1\": [-1, 1, 1], \"2\": [1, 1, "
         "1]}}}}}",
         "", "a.g.1.1.1[0]"},
        {"{\"a\": {\"g\": {\"1\": {\"1\": {\"0\": [1, 1, 1], \"1\": [1e999, 1, 1], \"2\": [1, 1, "
         "1]}}}}}",
         "", "in.json"},
        {"{\"a\": {\"g\": {\"1\": {\"1\": {\"0\": [1, 1], \"1\": [5, 1], \"2\": [5, 1], \"3\": "
         "[0.1, 1], \"4\": [1, 1]}}}}}",
         "", "layer 3 takes 0.1 forward"},
        {"{\"a\": {\"g\": {\"1\": {\"1\": {\"0\": [1, 1], \"1\": [5, 1], \"2\": [5, 1]}, \"2\": "
         "{\"0\": [1, 1], \"1\": [5, 1], \"2\": [5, 1], \"3\": [5, 1]}}}}}",
         "", "4 layers, but 3 in a.g.1.1"},
        {"[1]", "", "in.json"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(&import_layers, cases[i].text, strlen(cases[i].text), cases[i].words,
                       cases[i].word);
    for (size_t n = 0; n < strlen(layers_text); n++)
        assert_refused(&import_layers, layers_text, n, "", "in.json");
    char deep[4000];
    memset(deep, '[', sizeof deep);
    assert_refused(&import_layers, deep, sizeof deep, "", "nested deeper");
}

// The published table, if it is next to the repository; the shipped costs of GH200 are made from it
// (tests/calibrate/test_shipped_costs.sh).
TEST(test_published_layers)
{
    static const char path[] = "../shared/validation/sailor/layer_profiles.json";
    FILE *file = fopen(path, "r");
    if (!file) skip();
    fclose(file);
    // A table under another model's name, a norm that is no block.
    assert_int_equal(import(&import_layers, path, "--model GPT-Neo-2.7"), BAD_INPUT);
    assert_non_null(strstr(own_err.text, "26 layers, but 34"));
    assert_int_equal(import(&import_layers, path, "--model LLAMA-3-8"), BAD_INPUT);
    assert_non_null(strstr(own_err.text, "--head-layers"));
    assert_int_equal(import(&import_layers, path, "--model LLAMA-3-8 --head-layers 2"), OK);
}

AROUND_ALL(open_all, folder_close)
