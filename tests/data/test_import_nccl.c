// Imports of nccl-tests, nvbandwidth and nvidia-smi topo -m: the imported values against those
// written into the examples, every example cut at every byte, single damages that must be named,
// and random ones that must not crash.
#include <unistd.h>

#include "data/places/cluster.h"
#include "data/numbers/samples.h"
#include "data/import/import.h"
#include "tests/support/folder.h"
#include "tests/support/check.h"

// Thousands of files: in memory, where there is such a place.
static int open_all(void **state)
{
    (void)state;
    if (!access("/dev/shm", W_OK)) setenv("TMPDIR", "/dev/shm", 0);
    return folder_open(state);
}

static const char *example(const char *name, size_t *size)
{
    const char *read;
    MUST(file_read(arena_print(&own_arena, "tests/imports/%s", name), &read, size, &own_arena,
                   &own_err));
    return arena_copy_text(&own_arena, read);
}

// stdout and stderr of the import go to a file "log" in the folder.
static enum status import(const struct command *command, const char *path, const char *options)
{
    char *argv[40] = {"import", (char *)(uintptr_t)path};
    int argc = 2, exit_code = 0;
    char *copy = arena_copy_text(&own_arena, options);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
    own_err = (struct error){OK, ""};
    fflush(stdout);
    fflush(stderr);
    int out = dup(1), log = dup(2);
    assert_non_null(freopen(own_path("log"), "w", stderr));
    assert_true(dup2(2, 1) == 1);
    enum status status = command_call(command, argc, argv, &exit_code, &own_arena, &own_err);
    fflush(stdout);
    fflush(stderr);
    assert_true(dup2(out, 1) == 1 && dup2(log, 2) == 2);
    close(out);
    close(log);
    return status;
}

static enum status import_text(const struct command *command, const char *text, size_t size,
                               const char *options)
{
    const char *path = own_path("in");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
    return import(command, path, options);
}

static bool logged(const char *text)
{
    const char *log;
    size_t size;
    struct error ignored = {OK, ""};
    return file_read(own_path("log"), &log, &size, &own_arena, &ignored) == OK && strstr(log, text);
}

static void import_samples(struct samples *s, const struct command *command, const char *name,
                           const char *options)
{
    const char *output = own_path("out.json");
    if (import(command, arena_print(&own_arena, "tests/imports/%s", name),
               arena_print(&own_arena, "-o %s %s", output, options)) != OK)
        fail_msg("%s", own_err.text);
    MUST(samples_load(s, output, &own_arena, &own_err));
    assert_int_equal(s->document.source_count, 1);
}

static void expect_collective(const struct sample *s, const char *operation, int64_t bytes,
                              int ranks, enum precision precision, bool alone)
{
    assert_int_equal(s->kind, SAMPLE_COLLECTIVE);
    assert_string_equal(s->operation, operation);
    assert_int_equal(s->dimensions[0], bytes);
    assert_int_equal(s->dimensions[1], ranks);
    assert_int_equal(s->member_count, ranks);
    assert_int_equal(s->precision, precision);
    assert_int_equal(s->alone, alone);
    assert_string_equal(s->stopped_by, "imported");
}

static void expect_seconds(const struct sample *s, const double *us, int count)
{
    assert_int_equal(s->repetitions, count);
    for (int i = 0; i < count; i++)
        if (fabs(s->seconds[i] - us[i] * 1e-6) > 1e-15)
            fail_msg("repetition %d: %.9g s, not %g us", i, s->seconds[i], us[i]);
}

// ---- nccl-tests

TEST(test_nccl_text)
{
    static const double out_of_place[] = {21.5, 61.2, 4012.5, 123456},
                        in_place[] = {20.9, 60.8, 4001, 123400};
    static const int64_t bytes[] = {1024, 1048576, 268435456, 8589934592};
    struct samples s;
    for (int side = 0; side < 2; side++) {
        import_samples(&s, &import_nccl, "nccl_all_reduce.txt", side ? "--in-place" : "");
        assert_int_equal(s.sample_count, 4);
        for (int i = 0; i < 4; i++) {
            expect_collective(&s.samples[i], "all_reduce", bytes[i], 4, FP32, true);
            expect_seconds(&s.samples[i], side ? &in_place[i] : &out_of_place[i], 1);
        }
        assert_true(logged("1 row of 0 bytes skipped"));
    }
    assert_int_equal(s.endpoint_count, 4);
    assert_string_equal(s.endpoints[3].name, "node-2:1");
    assert_string_equal(s.endpoints[3].host, "node-2");
    assert_string_equal(s.machine.gpu, "NVIDIA H100 80GB HBM3");
}

// Groups at once, int32 among the types, columns of single iterations, a timestamp; two runs of one
// size.
TEST(test_nccl_groups)
{
    struct samples s;
    import_samples(&s, &import_nccl, "nccl_groups.txt", "--name h100");
    assert_int_equal(s.sample_count, 1);
    expect_collective(&s.samples[0], "send_recv", 4194304, 2, BF16, false);
    expect_seconds(&s.samples[0], (const double[]){110, 112}, 2);
    assert_int_equal(s.samples[0].members[0], 0);
    assert_int_equal(s.samples[0].members[1], 2);
    assert_string_equal(s.machine.gpu, "h100");
    assert_true(logged("1 row of other types (int32) skipped") &&
                logged("several groups ran at once"));
}

TEST(test_nccl_old)
{
    struct samples s;
    import_samples(&s, &import_nccl, "nccl_old.txt", "--operation all_to_all");
    assert_int_equal(s.sample_count, 2);
    expect_collective(&s.samples[1], "all_to_all", 4194304, 8, FP32, true);
    expect_seconds(&s.samples[1], (const double[]){80.2}, 1);
    assert_int_equal(import(&import_nccl, "tests/imports/nccl_old.txt", ""), BAD_INPUT);
    assert_non_null(strstr(own_err.text, "--operation"));
    // What the file's own bandwidths contradict.
    assert_int_equal(import(&import_nccl, "tests/imports/nccl_old.txt", "--operation all_reduce"),
                     BAD_INPUT);
    assert_non_null(strstr(own_err.text, "nccl_old.txt: line 16: busbw / algbw"));
}

// Several tests in one file: one document, the ranks are the same endpoints.
TEST(test_nccl_several)
{
    size_t size, more;
    const char *first = example("nccl_all_reduce.txt", &size),
               *second = example("nccl_groups.txt", &more), *output = own_path("out.json");
    struct samples s;
    char *both = arena_print(&own_arena, "%s%s%s", first, second, first);
    assert_int_equal(
        import_text(&import_nccl, both, strlen(both), arena_print(&own_arena, "-o %s", output)),
        OK);
    MUST(samples_load(&s, output, &own_arena, &own_err));
    assert_int_equal(s.sample_count, 5);
    assert_int_equal(s.endpoint_count, 6);
    expect_collective(&s.samples[0], "all_reduce", 1024, 4, FP32, true);
    expect_seconds(&s.samples[0], (const double[]){21.5, 21.5}, 2);
    assert_int_equal(s.samples[0].members[1], 1);
    expect_collective(&s.samples[4], "send_recv", 4194304, 2, BF16, false);
    assert_int_equal(s.samples[4].members[1], 4);
}

TEST(test_nccl_json)
{
    const char *text;
    size_t size;
    struct samples s;
    import_samples(&s, &import_nccl, "nccl_reduce_scatter.json", "");
    assert_int_equal(s.sample_count, 2);
    expect_collective(&s.samples[0], "reduce_scatter", 1048576, 8, FP32, true);
    expect_seconds(&s.samples[0], (const double[]){61.5, 60.25, 62, 60.75}, 4);
    assert_int_equal(s.samples[0].warm_ups, 1);
    expect_collective(&s.samples[1], "reduce_scatter", 4194304, 8, BF16, true);
    expect_seconds(&s.samples[1], (const double[]){140.5}, 1);
    assert_true(logged("1 row without a time"));
    // One device of each process is listed, of four.
    assert_int_equal(s.endpoint_count, 8);
    assert_string_equal(s.endpoints[3].name, "node-1:3");
    assert_string_equal(s.endpoints[5].name, "node-2:1");
    assert_string_equal(s.machine.library, "NCCL 2.28.7");
    // The environment and the command line's words stay outside.
    MUST(file_read(own_path("out.json"), &text, &size, &own_arena, &own_err));
    assert_null(strstr(text, "do-not-copy"));
    assert_null(strstr(text, "API_TOKEN"));
    assert_null(strstr(text, "/opt/tests"));
    import_samples(&s, &import_nccl, "nccl_reduce_scatter.json", "--in-place");
    assert_int_equal(s.sample_count, 3);
}

// ---- nvbandwidth

static const struct sample *link_between(const struct samples *s, int from, int to)
{
    for (int i = 0; i < s->sample_count; i++)
        if (s->samples[i].kind == SAMPLE_LINK && s->samples[i].from == from &&
            s->samples[i].to == to)
            return &s->samples[i];
    fail_msg("no link from %d to %d", from, to);
    return NULL;
}

static void expect_rate(const struct sample *s, int repetition, double gb_per_s)
{
    assert_true(fabs((double)s->dimensions[0] / s->seconds[repetition] / (gb_per_s * 1e9) - 1) <
                1e-12);
}

TEST(test_nvbandwidth)
{
    struct samples s;
    import_samples(&s, &import_nvbandwidth, "nvbandwidth.json", "");
    assert_int_equal(s.sample_count, 2 + 6);
    assert_int_equal(s.samples[0].kind, SAMPLE_TRANSFER);
    assert_string_equal(s.samples[0].operation, "host to device, pinned");
    assert_int_equal(s.samples[0].dimensions[0], 512 << 20);
    assert_int_equal(s.samples[0].repetitions, 3);
    expect_rate(&s.samples[0], 2, 54.75);
    assert_string_equal(s.samples[1].operation, "device to host, pinned");
    assert_int_equal(s.samples[1].repetitions, 2);
    expect_rate(&s.samples[1], 1, 53);
    // "row <- column": the row is the destination.
    expect_rate(link_between(&s, 2, 0), 0, 120.25);
    expect_rate(link_between(&s, 0, 2), 0, 389);
    assert_string_equal(s.endpoints[2].name, "node-1:2");
    assert_string_equal(s.machine.gpu, "NVIDIA H100 80GB HBM3");
    assert_true(logged("--against-arrow") && logged("1 test skipped") &&
                logged("1 test did not pass"));
    import_samples(&s, &import_nvbandwidth, "nvbandwidth.json",
                   "--against-arrow --buffer-mib 64 --name h100");
    expect_rate(link_between(&s, 0, 2), 0, 120.25);
    assert_int_equal(s.samples[0].dimensions[0], 64 << 20);
    assert_string_equal(s.machine.gpu, "h100");
}

// ---- topo

TEST(test_topo)
{
    struct cluster c;
    const char *output = own_path("out.json"), *path = "tests/imports/topo.txt";
    assert_int_equal(import(&import_topo, path, ""), OK);
    assert_true(logged("4 GPUs, 3 NICs") && logged("NV12              2") &&
                logged("SYS               4"));
    assert_true(logged("GPU1   NIC0 (PXB)") && logged("GPU2   NIC1 (PXB)") &&
                logged("has no bandwidth"));
    assert_int_equal(import(&import_topo, path, arena_print(&own_arena, "-o %s", output)),
                     BAD_INPUT);
    assert_non_null(strstr(own_err.text, "--like CLUSTER"));
    const char *numbers = arena_print(&own_arena,
                                      "-o %s --gpu h100 --memory-bytes 80000000000 "
                                      "--intra-bytes-per-s 4e11 --nodes 3 --name east",
                                      output);
    assert_int_equal(import(&import_topo, path, numbers), BAD_INPUT);
    assert_non_null(strstr(own_err.text, "--nic-bytes-per-s"));
    assert_int_equal(
        import(&import_topo, path,
               arena_print(&own_arena, "%s --nic-bytes-per-s 5e10 --nic-kind roce", numbers)),
        OK);
    assert_true(logged("several kinds of path") && logged("2 of 3 NICs"));
    MUST(cluster_load(&c, output, &own_arena, &own_err));
    assert_string_equal(c.groups[0].name, "east");
    assert_int_equal(c.groups[0].nodes, 3);
    assert_int_equal(c.groups[0].gpus_per_node, 4);
    assert_int_equal(c.groups[0].nics[0].count, 2);
    assert_int_equal(c.groups[0].nics[0].kind, NIC_ROCE);
}

// ---- damages

struct damage {
    const char *file, *from, *to, *where;
};

static const struct damage damages[] = {
    {"nccl_all_reduce.txt", "    0    60.80", "    7    60.80",
     "line 17: #wrong: expected 0 or N/A, found '7'"},
    {"nccl_all_reduce.txt", "   61.20   17.13", "   61.20   71.13",
     "line 17: 1048576 bytes in 61.2 us are 17.1 GB/s, but algbw is 71.13"},
    {"nccl_all_reduce.txt", "   61.20   17.13", "   0x6120   17.13",
     "line 17: time: expected microseconds, found '0x6120'"},
    {"nccl_all_reduce.txt", "   61.20   17.13", "   -61.20   17.13", "line 17: time: "},
    {"nccl_all_reduce.txt", "   61.20   17.13", "   61.20",
     "line 17: expected 13 columns, as the header has, found 12"},
    {"nccl_all_reduce.txt", "#  Rank  1 ", "#  Rank  0 ", "line 7: rank 0 appears twice"},
    {"nccl_all_reduce.txt", "#  Rank  1 ", "#  Rank  2 ", "line 7: expected rank 1, found 2"},
    {"nccl_all_reduce.txt", "#  Rank  1 ", "#  Rank  x ", "line 7: expected \"# Rank R"},
    {"nccl_all_reduce.txt", "device  1", "device", "line 7: expected \"# Rank R"},
    {"nccl_all_reduce.txt", "Group  0 Pid   9102", "Group  1 Pid   9102",
     "line 14: expected groups of equal size, found 3 and 1"},
    {"nccl_all_reduce.txt", "starting: all_reduce_perf", "starting: broadcast_perf",
     "line 2: expected all_reduce, "},
    {"nccl_all_reduce.txt", "busbw  #wrong     time   algbw", "busbw  #wrong  cputime   algbw",
     "line 12: cputime"},
    {"nccl_all_reduce.txt", "type", "kind", "line 12: expected columns"},
    {"nccl_all_reduce.txt", ": 0 OK", ": 3 FAILED", "line 20: the test failed"},
    {"nccl_reduce_scatter.json", "\"size\": 1048576", "\"size\": -5", "results[0].size"},
    {"nccl_reduce_scatter.json", "\"time\": 61.1", "\"time\": \"fast\"",
     "results[0].out_of_place.time"},
    {"nccl_reduce_scatter.json", "\"nwrong\": 0.0", "\"nwrong\": 4",
     "results[0].out_of_place: nwrong: expected 0, found 4"},
    {"nccl_reduce_scatter.json", "\"time\": 61.1", "\"cpu_time\": 61.1",
     "results[0].out_of_place: cpu_time"},
    {"nccl_reduce_scatter.json", "\"skipped_iterations\": 1", "\"skipped_iterations\": 5",
     "results[0].out_of_place_per_iter: skipped_iterations"},
    {"nccl_reduce_scatter.json", "     60.25,\n     62", "     \"60.25\",\n     62",
     "results[0].out_of_place_per_iter.times_us"},
    {"nccl_reduce_scatter.json", "\"rank\": 4", "\"rank\": 9", "expected rank"},
    {"nccl_reduce_scatter.json", "\"devices\"", "\"gadgets\"", "expected devices"},
    {"nccl_reduce_scatter.json", "\"results\"", "\"outcomes\"", "results"},
    {"nccl_reduce_scatter.json", "\"out_of_bounds\"", "\"in_bounds\"", "the test did not end"},
    {"nccl_reduce_scatter.json", "reduce_scatter_perf", "gather_perf",
     "args: expected all_reduce, "},
    {"nvbandwidth.json", "\"120.25\"", "\"fast\"",
     "testcases[4].bandwidth_matrix[0]: [2]: expected GB/s as text, or N/A, found \"fast\""},
    {"nvbandwidth.json", "\"120.25\"", "120.25", "testcases[4].bandwidth_matrix[0][2]"},
    {"nvbandwidth.json", "\"120.25\"", "\"nan\"", "testcases[4].bandwidth_matrix[0]: [2]"},
    {"nvbandwidth.json", "\"120.25\"", "\"1\", \"2\"",
     "testcases[4].bandwidth_matrix[0]: expected 3 cells, found 4"},
    {"nvbandwidth.json", "GPU(row) <- GPU", "GPU(row) <-> GPU",
     "testcases[4].bandwidth_matrix: expected a description"},
    {"nvbandwidth.json", "\"nvbandwidth\"", "\"otherbandwidth\"", "nvbandwidth"},
    {"nvbandwidth.json", "\"testcases\"", "\"cases\"", "testcases"},
    {"topo.txt", "GPU1\tNV12", "GPU1\tNV13",
     "line 3: GPU1, GPU0: expected NV12 as the other way round, found NV13"},
    {"topo.txt", "GPU1\tNV12", "GPU1\tNVX", "line 3: GPU1, GPU0: expected NV1 to NV64"},
    {"topo.txt", "GPU0\t X ", "GPU0\tSYS", "line 2: GPU0, GPU0: expected X, found 'SYS'"},
    {"topo.txt", "\nGPU2\t", "\nGPU3\t", "line 4: expected the row of GPU2, found 'GPU3'"},
    {"topo.txt", "\tGPU1\tGPU2", "\tGPU1\tGPU1", "line 1: GPU1 appears twice"},
};

static const struct command *command_of(const char *file)
{
    return strstr(file, "nvb")    ? &import_nvbandwidth
           : strstr(file, "topo") ? &import_topo
                                  : &import_nccl;
}

static const char *options_of(const char *file)
{
    const char *more = strstr(file, "topo")  ? " --gpu a --memory-bytes 1 --intra-bytes-per-s 1"
                       : strstr(file, "old") ? " --operation all_to_all"
                                             : "";
    return arena_print(&own_arena, "-o %s%s", own_path("hostile.json"), more);
}

static void expect_refused(const char *file, enum status status)
{
    if (status != BAD_INPUT || strncmp(own_err.text, own_folder, strlen(own_folder)) ||
        strpbrk(own_err.text, "\r\n"))
        fail_msg("%s: status %d, \"%s\"", file, status, own_err.text);
    assert_int_not_equal(access(own_path("hostile.json"), F_OK), 0);
}

TEST(test_damages)
{
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        const struct damage *d = &damages[i];
        size_t size;
        const char *text = example(d->file, &size), *found = strstr(text, d->from);
        if (!found) fail_msg("%s has no '%s'", d->file, d->from);
        size_t before = size - strlen(found);
        const char *damaged = arena_print(&own_arena, "%.*s%s%s", (int)before, text, d->to,
                                          text + before + strlen(d->from));
        expect_refused(d->file, import_text(command_of(d->file), damaged, strlen(damaged),
                                            options_of(d->file)));
        if (!strstr(own_err.text, d->where))
            fail_msg("'%s' -> '%s': \"%s\" does not say %s", d->from, d->to, own_err.text,
                     d->where);
    }
}

static const char *const files[] = {"nccl_all_reduce.txt",      "nccl_groups.txt",  "nccl_old.txt",
                                    "nccl_reduce_scatter.json", "nvbandwidth.json", "topo.txt"};
// What must come before a cut so that the rest does not matter; NULL: any part is read, as what it
// is.
static const char *const ends[] = {NULL,  NULL,  NULL,
                                   "}\n", "}\n", "GPU3\tSYS\tSYS\tNV12\t X \tSYS\tPXB\tNODE"};

// A cut file's samples are the first ones of the whole file's.
static void expect_beginning(const char *file, const char *text, size_t size, size_t cut)
{
    struct samples part, whole;
    const char *output = own_path("hostile.json");
    MUST(samples_load(&part, output, &own_arena, &own_err));
    MUST(import_text(command_of(file), text, size, options_of(file)));
    MUST(samples_load(&whole, output, &own_arena, &own_err));
    for (int i = 0; i < part.sample_count; i++) {
        const struct sample *a = &part.samples[i], *b = &whole.samples[i];
        if (a->dimensions[0] != b->dimensions[0] || a->member_count != b->member_count ||
            a->repetitions > b->repetitions || strcmp(a->operation, b->operation))
            fail_msg("%s cut at %zu: sample %d is another", file, cut, i);
        for (int k = 0; k < a->repetitions; k++)
            if (a->seconds[k] != b->seconds[k])
                fail_msg("%s cut at %zu: %.9g s, not %.9g", file, cut, a->seconds[k],
                         b->seconds[k]);
    }
}

// A table cut within its last GPU's row gives the GPUs that the whole one gives: the other rows say
// what the cells that are missing would.
static void expect_same_gpus(const char *text, size_t size)
{
    size_t length;
    const char *whole, *part;
    MUST(file_read(own_path("hostile.json"), &part, &length, &own_arena, &own_err));
    MUST(import_text(&import_topo, text, size, options_of("topo.txt")));
    MUST(file_read(own_path("hostile.json"), &whole, &length, &own_arena, &own_err));
    assert_string_equal(strstr(part, "\"groups\""), strstr(whole, "\"groups\""));
}

TEST(test_cut_at_every_byte)
{
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        size_t size;
        struct arena_mark mark = arena_set_mark(&own_arena);
        const char *text = example(files[f], &size), *last = NULL;
        for (const char *p = text; ends[f] && (p = strstr(p, ends[f])); p++) last = p;
        size_t enough = last ? (size_t)(last - text) + strlen(ends[f]) - (*ends[f] == '}') : 0;
        // Within its last row a table may be cut: the others say what is missing.
        size_t last_row = last && *ends[f] == 'G' ? (size_t)(last - text) + strlen("GPU3") : size;
        for (size_t cut = 0; cut < size; cut++) {
            struct arena_mark each = arena_set_mark(&own_arena);
            enum status status = import_text(command_of(files[f]), text, cut, options_of(files[f]));
            if (!last && status != OK) expect_refused(files[f], status);
            else if (!last) expect_beginning(files[f], text, size, cut);
            else if (cut < enough && status == OK && cut >= last_row) expect_same_gpus(text, size);
            else if (cut < enough) expect_refused(files[f], status);
            else if (cut > enough && status != OK)
                fail_msg("%s cut at %zu: %s", files[f], cut, own_err.text);
            remove(own_path("hostile.json"));
            arena_reset(&own_arena, each);
        }
        arena_reset(&own_arena, mark);
    }
}

TEST(test_random_bytes)
{
    uint64_t seed = 1;
    struct arena_mark mark = arena_set_mark(&own_arena);
    for (size_t f = 0; f < sizeof files / sizeof *files; f++)
        for (int trial = 0; trial < 400; trial++, arena_reset(&own_arena, mark)) {
            size_t size;
            char *text = (char *)(uintptr_t)example(files[f], &size);
            for (int k = 0; k < 1 + trial % 4; k++) {
                static const char put[] = "0123456789-.,\"[]{}#XN \n\t\x1b\x7f\xff\0";
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                text[(seed >> 20) % size] = put[(seed >> 50) % (sizeof put - 1)];
            }
            enum status status =
                import_text(command_of(files[f]), text, size, options_of(files[f]));
            if (status != OK) expect_refused(files[f], status);
            remove(own_path("hostile.json"));
        }
}

// Many of everything: refused in one line, before memory grows with it.
TEST(test_too_much)
{
    struct {
        const char *head, *each, *tail;
        int times;
        const struct command *command;
        const char *where;
    } cases[] = {
        {"# nThread 1\n", "# Rank 0 Pid 1 on a device 0 [0] X\n# nThread 1\n# Avg bus\n", "", 3000,
         &import_nccl, "expected "},
        {"# nThread 1\n# Rank 0 Pid 1 on a device 0 [0] X\n# Rank 1 Pid 1 on a device 1 [0] X\n# "
         "size count type time algbw busbw\n",
         "8 2 float 1 0 0\n", "# Avg bus\n", 20000, &import_nccl, "expected at most 16384 rows"},
        {"", "a ", "\n", 3000, &import_nccl, "line 1: expected at most 1024 words"},
        {"", "aaaaaaaaaa", "\n", 10000, &import_topo,
         "line 1: expected lines of at most 65536 bytes"},
        {"GPU0 ", "GPU1 ", "\n", 300, &import_topo, "line 1: GPU1 appears twice"},
        {"{\"nvbandwidth\": ", "[", "", 3000, &import_nvbandwidth, "in"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t head = strlen(cases[i].head), each = strlen(cases[i].each),
               tail = strlen(cases[i].tail), size = head;
        char *text = TAKE(&own_arena, head + each * (size_t)cases[i].times + tail + 1, char);
        memcpy(text, cases[i].head, head);
        for (int k = 0; k < cases[i].times; k++, size += each)
            memcpy(text + size, cases[i].each, each);
        memcpy(text + size, cases[i].tail, tail);
        const char *operation = cases[i].command == &import_nccl ? " --operation all_reduce" : "";
        expect_refused(
            cases[i].where,
            import_text(cases[i].command, text, size + tail,
                        arena_print(&own_arena, "-o %s%s", own_path("hostile.json"), operation)));
        if (!strstr(own_err.text, cases[i].where))
            fail_msg("\"%s\" does not say %s", own_err.text, cases[i].where);
    }
    const char *names = "";
    for (int i = 0; i < 257; i++) names = arena_print(&own_arena, "%sGPU%d ", names, i);
    expect_refused("names", import_text(&import_topo, names, strlen(names), options_of("topo")));
    assert_non_null(strstr(own_err.text, "line 1: expected at most 256 GPUs and NICs, found more"));
}

AROUND_ALL(open_all, folder_close)
