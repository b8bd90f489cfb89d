// Numbers with units: their exact values; what is not one; which keys take which; and in documents,
// with the error line of a wrong one.
#include "data/places/cluster.h"
#include "data/text/json.h"
#include "tests/support/check.h"

TEST(texts)
{
    static const struct {
        const char *text;
        enum key_unit kind;
        double value;
    } right[] = {
        {"80 GB", KEY_BYTES, 80e9},
        {"80GiB", KEY_BYTES, 85899345920.0},
        {"0.5 kB", KEY_BYTES, 500},
        {"17 B", KEY_BYTES, 17},
        {"1.5 TiB", KEY_BYTES, 1649267441664.0},
        {"400 Gb/s", KEY_BYTES_PER_S, 50e9},
        {"400 Gbit/s", KEY_BYTES_PER_S, 50e9},
        {"400Gbps", KEY_BYTES_PER_S, 50e9},
        {"21.5 GB/s", KEY_BYTES_PER_S, 21.5e9},
        {"900 GB/s", KEY_BYTES_PER_S, 900e9},
        {"24 GiB/s", KEY_BYTES_PER_S, 25769803776.0},
        {"989.4 TFLOP/s", KEY_FLOP_PER_S, 989.4e12},
        {"1.979 PFLOPS", KEY_FLOP_PER_S, 1.979e15},
        {"3.4 us", KEY_SECONDS, 3.4e-6},
        {"3.4 \xc2\xb5s", KEY_SECONDS, 3.4e-6},
        {"14 ns", KEY_SECONDS, 14e-9},
        {"0.1 ms", KEY_SECONDS, 0.1e-3},
        {"2 s", KEY_SECONDS, 2},
    };
    static const struct {
        const char *text;
        enum key_unit kind;
    } wrong[] = {
        {"", KEY_BYTES},
        {"80", KEY_BYTES},
        {"GB", KEY_BYTES},
        {"80 Gb", KEY_BYTES},
        {"80 GB/s", KEY_BYTES},
        {"-1 GB", KEY_BYTES},
        {"8.0.1 GB", KEY_BYTES},
        {".5 GB", KEY_BYTES},
        {"80 GBs", KEY_BYTES},
        {"80 gb", KEY_BYTES},
        {"1e3 GB", KEY_BYTES},
        {"80 GB ", KEY_BYTES},
        {"400 Gb", KEY_BYTES_PER_S},
        {"3.4 us", KEY_BYTES_PER_S},
        {"3.4 m", KEY_SECONDS},
        {"3 min", KEY_SECONDS},
        {"989 TFLOP", KEY_FLOP_PER_S},
        {"80 GB", KEY_UNITLESS},
        {"00000000000000000000000000000000000000000001 GB", KEY_BYTES},
    };
    double value;
    for (size_t i = 0; i < ARRAY_LENGTH(right); i++)
        if (!unit_read(right[i].text, right[i].kind, &value) || value != right[i].value)
            fail_msg("%s: %.17g, not %.17g", right[i].text, value, right[i].value);
    for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++)
        if (unit_read(wrong[i].text, wrong[i].kind, &value))
            fail_msg("\"%s\" was read as %.17g", wrong[i].text, value);
    for (int kind = KEY_BYTES; kind <= KEY_SECONDS; kind++)
        assert_true(unit_read(unit_example((enum key_unit)kind), (enum key_unit)kind, &value));
}

TEST(keys)
{
    static const struct {
        const char *path;
        enum key_unit kind;
    } all[] = {
        {"groups[0].memory_bytes", KEY_BYTES},
        {"groups[0].intra.bytes_per_s", KEY_BYTES_PER_S},
        {"groups[0].intra.latency_s", KEY_SECONDS},
        {"gpus[1].gemm_flop_per_s.value", KEY_FLOP_PER_S},
        {"gpus[1].memory_bytes_per_s.low", KEY_BYTES_PER_S},
        {"gpus[1].layer_launch_s.high", KEY_SECONDS},
        {"iteration_limit_s", KEY_SECONDS},
        {"layers[3].count", KEY_UNITLESS},
        {"shape.heads", KEY_UNITLESS},
        {"groups", KEY_UNITLESS},
        {"value", KEY_UNITLESS},
        {"tokens_per_s", KEY_UNITLESS},
        {"gradient_bytes_per_value", KEY_UNITLESS},
        {"", KEY_UNITLESS},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(all); i++)
        if (unit_of_path(all[i].path) != all[i].kind)
            fail_msg("%s: %d", all[i].path, unit_of_path(all[i].path));
}

static enum status load(struct cluster *c, const char *memory, const char *rate,
                        const char *latency, struct arena *arena, struct error *err)
{
    char path[] = "/tmp/plumbline_unit_XXXXXX";
    int fd = mkstemp(path);
    FILE *f = fdopen(fd, "w");
    fprintf(f,
            "{\"kind\": \"plumbline.cluster\", \"version\": 1, \"name\": \"c\", \"groups\": "
            "[{\"name\": \"a\", "
            "\"gpu\": \"a100-80gb\", \"nodes\": 2, \"gpus_per_node\": 8, \"memory_bytes\": %s, "
            "\"intra\": {\"bytes_per_s\": %s, \"latency_s\": %s}}]}\n",
            memory, rate, latency);
    fclose(f);
    enum status status = cluster_load(c, path, arena, err);
    remove(path);
    return status;
}

TEST(documents)
{
    static const char *const wrong[][4] = {
        {"\"80 Gb\"", "3e11", "0", "or one with its unit as \"80 GB\", found \"80 Gb\""},
        {"\"80.0000000001 GB\"", "3e11", "0", "whole number"},
        {"8e10", "\"300 GB\"", "0", "or one with its unit as \"400 Gb/s\", found \"300 GB\""},
        {"8e10", "3e11", "\"3 h\"", "or one with its unit as \"3.4 us\", found \"3 h\""},
    };
    static const char *const doubtful[][4] = {
        {"80", "3e11", "0",
         "groups[0].memory_bytes: 80 bytes are no GPU's; did you mean \"80 GB\""},
        {"81559", "3e11", "0", "did you mean \"81559 MiB\""},
        {"8e13", "3e11", "0", "80 TB are no GPU's; did you mean \"80 GB\""},
        {"8e10", "400", "0", "groups[0].intra: 400 bytes/s are no link; did you mean \"400 Gb/s\""},
        {"8e10", "4.7e13", "0", "did you mean \"47 GB/s\""},
        {"8e10", "3e11", "3", "did you mean \"3 us\""},
    };
    struct cluster plain, named;
    CHECK_OK(load(&plain, "80000000000", "300e9", "3.4e-6", arena, &err));
    CHECK_OK(load(&named, "\"80 GB\"", "\"2400 Gb/s\"", "\"3.4 us\"", arena, &err));
    assert_true(plain.groups[0].memory_bytes == named.groups[0].memory_bytes &&
                plain.groups[0].intra.bytes_per_s == named.groups[0].intra.bytes_per_s &&
                plain.groups[0].intra.latency_s == named.groups[0].intra.latency_s);
    for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++) {
        struct cluster c;
        struct error no = {OK, ""};
        assert_int_equal(load(&c, wrong[i][0], wrong[i][1], wrong[i][2], arena, &no), BAD_INPUT);
        if (!strstr(no.text, wrong[i][3])) fail_msg("%s: %s", wrong[i][3], no.text);
    }
    for (size_t i = 0; i < ARRAY_LENGTH(doubtful); i++) {
        struct cluster c;
        CHECK_OK(load(&c, doubtful[i][0], doubtful[i][1], doubtful[i][2], arena, &err));
        const char *doubt = cluster_doubt(&c, arena);
        if (!doubt || !strstr(doubt, doubtful[i][3]))
            fail_msg("%s: %s", doubtful[i][3], doubt ? doubt : "nothing");
    }
    assert_null(cluster_doubt(&plain, arena));
}
