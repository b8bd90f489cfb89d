// Merging launches: what belongs together, what is refused, and the whole chain on a simulated
// machine, from measuring twice to costs that are close to the truth; signals while the program
// measures.
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "data/inputs/costs.h"
#include "data/inputs/model/model.h"
#include "data/numbers/intervals.h"
#include "measure/take.h"
#include "tests/support/folder.h"
#include "tests/support/check.h"

static const char *programs;

// ---- documents made here

static struct sample make_sample(const char *operation, int64_t size, double first, int count,
                                 struct arena *arena)
{
    struct sample s = {.kind = SAMPLE_GEMM,
                       .operation = operation,
                       .dimensions = {size},
                       .dimension_count = 1,
                       .from = -1,
                       .to = -1,
                       .seconds = TAKE(arena, count, double),
                       .repetitions = count,
                       .stopped_by = "width",
                       .warm_ups = 1};
    for (int i = 0; i < count; i++) s.seconds[i] = first + i;
    return s;
}

static struct samples make_document(const char *path, struct sample *samples, int count)
{
    return (struct samples){.document = {.path = path},
                            .machine = {.gpu = "G", .processor = "P", .threads = 2, .host = path},
                            .samples = samples,
                            .sample_count = count};
}

TEST(test_what_belongs_together)
{
    struct sample a[] = {make_sample("x", 1, 1, 8, arena), make_sample("y", 1, 100, 8, arena),
                         make_sample("x", 2, 200, 8, arena), make_sample("x", 1, 300, 8, arena)};
    struct sample b[] = {make_sample("x", 2, 250, 16, arena), make_sample("x", 1, 11, 11, arena),
                         make_sample("x", 1, 350, 8, arena), make_sample("y", 1, 150, 8, arena)};
    b[0].stopped_by = "budget";
    a[0].seconds[2] = 1e6;
    struct condition hot = {.first = 3, .slowdown = 4};
    a[2].conditions = &hot, a[2].condition_count = 1;
    struct quantity context = {"context_bytes", (double[]){5}, 1},
                    others[] = {{"library_bytes", (double[]){7}, 1},
                                {"context_bytes", (double[]){6, 8}, 2}};
    struct samples documents[] = {make_document("a", a, 4), make_document("b", b, 4)}, merged;
    documents[0].quantities = &context, documents[0].quantity_count = 1,
    documents[1].quantities = others, documents[1].quantity_count = 2;
    struct launch launches[] = {{.host = "h1", .seed = 3}, {.host = "h2", .seed = 4}};
    documents[1].launches = launches, documents[1].launch_count = 2;
    int split[4][2] = {{8, 8}, {11, 0}, {4, 4}, {0, 8}};
    for (int i = 0; i < 4; i++) b[i].launch_repetitions = split[i];
    CHECK_OK(samples_merge(&merged, documents, 2, false, arena, &err));
    assert_int_equal(merged.launch_count, 3);
    assert_string_equal(merged.launches[0].host, "a");
    assert_int_equal(merged.launches[2].seed, 4);
    assert_int_equal(merged.sample_count, 4);
    static const struct {
        double first, other;
        int counts[3];
        const char *stopped_by;
    } expected[] = {
        {1, 11, {8, 11, 0}, "width"},
        {100, 150, {8, 0, 8}, "width"},
        {200, 250, {8, 8, 8}, "budget"},
        {300, 350, {8, 4, 4}, "width"},
    };
    for (int i = 0; i < 4; i++) {
        const struct sample *s = &merged.samples[i];
        assert_true(s->seconds[0] == expected[i].first && s->seconds[8] == expected[i].other);
        for (int l = 0; l < 3; l++)
            assert_int_equal(s->launch_repetitions[l], expected[i].counts[l]);
        assert_string_equal(s->stopped_by, expected[i].stopped_by);
        assert_int_equal(s->repetitions,
                         expected[i].counts[0] + expected[i].counts[1] + expected[i].counts[2]);
        assert_int_equal(s->warm_ups, 2);
    }
    assert_int_equal(merged.samples[0].outlier_count, 1); // marked anew
    assert_int_equal(merged.samples[0].outliers[0], 2);
    assert_false(sample_is_throttled(&merged.samples[2], 2));
    assert_true(sample_is_throttled(&merged.samples[2], 7));
    assert_false(sample_is_throttled(&merged.samples[2], 8)); // the other launch does not mark it
    assert_int_equal(merged.quantity_count, 2);
    assert_int_equal(merged.quantities[0].value_count, 3);
    assert_true(merged.quantities[0].values[2] == 8);
}

// Whole layers of several shapes have the same names and sizes: each shape's are joined, whatever
// the order in which a launch measured them.
TEST(test_shapes)
{
    const struct shape narrow = {.hidden = 64, .heads = 2, .ffn = 256},
                       wide = {.hidden = 64, .heads = 4, .ffn = 256}, of_other = narrow;
    struct sample a[] = {make_sample("x", 1, 1, 8, arena), make_sample("x", 1, 100, 8, arena)};
    struct sample b[] = {make_sample("x", 1, 150, 8, arena), make_sample("x", 1, 11, 8, arena)};
    a[0].shape = &narrow, a[1].shape = &wide, b[0].shape = &wide, b[1].shape = &of_other;
    for (int i = 0; i < 2; i++) a[i].kind = b[i].kind = SAMPLE_LAYER;
    struct samples documents[] = {make_document("a", a, 2), make_document("b", b, 2)}, merged;
    CHECK_OK(samples_merge(&merged, documents, 2, false, arena, &err));
    assert_int_equal(merged.sample_count, 2);
    for (int i = 0; i < 2; i++) {
        assert_true(merged.samples[i].seconds[0] == (i ? 100 : 1));
        assert_true(merged.samples[i].seconds[8] == (i ? 150 : 11));
        assert_int_equal(merged.samples[i].shape->heads, i ? 4 : 2);
    }
    b[1].shape = &wide;
    CHECK_REFUSED(samples_merge(&merged, documents, 2, false, arena, &err), "of hidden 64");
}

// Each difference by itself is refused by name; --partial keeps what only some have.
TEST(test_refused)
{
    static const char *const named[] = {"machine.gpu",     "machine.processor",  "machine.threads",
                                        "machine.library", "machine.driver",     "'x' 1 fp32",
                                        "endpoints",       "not another launch", "is not in it"};
    for (size_t i = 0; i < ARRAY_LENGTH(named); i++) {
        err = (struct error){OK, ""};
        struct sample a[] = {make_sample("x", 1, 1, 8, arena), make_sample("z", 1, 1, 8, arena)},
                      b[] = {make_sample("x", 1, 2, 8, arena), make_sample("z", 1, 1, 8, arena)};
        struct samples documents[] = {make_document("a", a, 2), make_document("b", b, 2),
                                      make_document("c", b, 2)},
                       merged;
        struct machine *m = &documents[2].machine;
        struct endpoint end = {.name = "e"};
        CHECK_OK(samples_merge(&merged, documents, 3, false, arena, &err));
        switch (i) {
        case 0: m->gpu = "H"; break;
        case 1: m->processor = NULL; break;
        case 2: m->threads = 3; break;
        case 3: m->library = "L"; break;
        case 4: m->driver = "D"; break;
        case 5: b[0].dimensions[0] = 7; break;
        case 6: documents[2].endpoints = &end, documents[2].endpoint_count = 1; break;
        case 7:
            strcpy(documents[0].document.sha256, "aa"), strcpy(documents[2].document.sha256, "aa");
            break;
        default: documents[2].sample_count = 1; break;
        }
        assert_int_equal(samples_merge(&merged, documents, 3, false, arena, &err), BAD_INPUT);
        if (!strstr(err.text, named[i]) || err.text[1] != ':') fail_msg("%zu: %s", i, err.text);
        struct error none = {OK, ""};
        bool partly = i == 5 || i == 8;
        assert_int_equal(samples_merge(&merged, documents, 3, true, arena, &none),
                         partly ? OK : BAD_INPUT);
        if (i != 8) continue;
        assert_int_equal(merged.sample_count, 2);
        assert_int_equal(merged.samples[1].launch_repetitions[2], 0);
        assert_int_equal(sample_median(&merged.samples[1], arena).launches, 2);
    }
}

// ---- the programs

static int run_plumbline(const char *words)
{
    int status = system(arena_print(&own_arena, "cd %s && %s/plumbline %s > out 2> log", own_folder,
                                    programs, words));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void expect(int code, const char *words)
{
    const char *text = "";
    size_t size;
    struct error err = {OK, ""};
    int found = run_plumbline(words);
    file_read(own_path("log"), &text, &size, &own_arena, &err);
    if (found != code) fail_msg("'%s': %d: %s", words, found, text);
}

static void expect_named(const char *words, const char *named)
{
    const char *text;
    size_t size;
    expect(2, words);
    MUST(file_read(own_path("log"), &text, &size, &own_arena, &own_err));
    if (!strstr(text, named) || strchr(text, '\n') != text + size - 1)
        fail_msg("'%s' does not name %s in one line: %s", words, named, text);
}

#define SIMULATED                                                                                  \
    "measure compute --backend simulated --quick --simulate "                                      \
    "gemm=2e12,memory=3e11,call=1e-5,noise=student,spread=0.02"

static struct median rate(const struct estimate *e)
{
    return (struct median){.value = e->value, .low = e->low, .high = e->high};
}

static void expect_near(const char *what, struct median m, double truth, double share)
{
    print_message("%s: %.4g in %.4g .. %.4g, truth %.4g\n", what, m.value, m.low, m.high, truth);
    assert_true(fabs(m.value / truth - 1) <= share);
    assert_true(m.low <= truth && truth <= m.high);
}

// Three launches that differ by 1 %: costs near the truth, with intervals that contain the truth;
// byte for byte the same when repeated.
TEST(test_chain)
{
    expect(0, SIMULATED ",launch=0.01 -o a.json");
    expect(0, SIMULATED ",launch=0.01 --seed 2 --like a.json -o b.json");
    expect(0, SIMULATED ",launch=0.01 --seed 3 --like a.json -o c.json");
    expect(0, "measure merge a.json b.json c.json -o merged.json");
    expect(0, "calibrate merged.json -o costs.json");
    struct costs costs;
    struct samples samples;
    CHECK_OK(samples_load(&samples, own_path("merged.json"), &own_arena, &err));
    assert_int_equal(samples.launch_count, 3);
    assert_int_equal(samples.launches[2].seed, 3);
    assert_int_equal(samples.document.source_count, 3);
    CHECK_OK(costs_load(&costs, own_path("costs.json"), &own_arena, &err));
    expect_near("gemm", rate(&costs.gpus[0].precisions[0].gemm_flop_per_s), 2e12, 0.03);
    expect_near("memory", rate(&costs.gpus[0].memory_bytes_per_s), 3e11, 0.1);

    expect(0, SIMULATED ",launch=0.01 -o again.json && cmp a.json again.json || sed "
                        "'s/again.json/a.json/' again.json | cmp - a.json");
    expect_named("measure merge a.json b.json a.json -o no.json", "not another launch");
    expect(0,
           SIMULATED ",launch=0.5 --seed 9 -o d.json"); // guesses otherwise, so has other sizes
    expect_named("measure merge a.json d.json -o no.json", "--like a.json");
    expect(0, "measure merge a.json d.json --partial -o partly.json");
    expect_named("measure merge a.json", "operand");
    expect_named("measure merge a.json none.json", "none.json");
    expect_named("measure merge a.json costs.json", "costs.json");
    expect_named("measure merge a.json b.json --partly", "--partly");
    expect_named(SIMULATED " --like costs.json -o no.json", "costs.json");
    expect(0, "measure memory --backend simulated --largest-mib 1 -o m.json");
    expect_named(SIMULATED " --like m.json -o no.json", "guessed_flop_per_s");
    assert_int_not_equal(access(own_path("no.json"), F_OK), 0);
}

TEST(test_words)
{
    static const struct {
        const char *words, *named;
    } table[] = {
        {"noise=loud", "loud"}, {"gemm", "'gemm'"},           {"gemm=", "gemm"},
        {"gemm=0", "gemm"},     {"gemm=nan", "gemm"},         {"spread=2", "spread"},
        {"colour=1", "colour"}, {"slowdown=0.5", "slowdown"}, {"throttle=1x", "throttle"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(table); i++)
        expect_named(arena_print(&own_arena,
                                 "measure compute --backend simulated --simulate %s -o no.json",
                                 table[i].words),
                     table[i].named);
    expect_named("measure compute --simulate noise=none -o no.json", "--backend simulated");
    expect_named("measure compute --backend imaginary -o no.json", "simulated");
}

// The status of a measurement that gets a signal after so long.
static int interrupt_after(const char *path, unsigned seconds)
{
    const char *program = arena_print(&own_arena, "%s/plumbline-measure", programs);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        execl(program, program, "compute", "--quiet", "--shape", "hidden=64,heads=4", "--sequence",
              "64", "--threads", "1", "--budget-s", "600", "--width", "1e-6", "-o", path,
              (char *)NULL);
        _exit(99);
    }
    int status;
    sleep(seconds);
    assert_int_equal(kill(child, SIGTERM), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

// A signal after the warm-ups: exit code 10, a document with the samples taken, marked interrupted.
// Before the handler is installed the signal ends the program, and before the first repetition
// there is nothing to keep: then it is sent later.
TEST(test_signal)
{
    const char *path = own_path("cut.json");
    int status = 0;
    for (unsigned seconds = 2; seconds <= 64; seconds *= 2) {
        status = interrupt_after(path, seconds);
        if (WIFEXITED(status) && WEXITSTATUS(status) != 1) break;
        assert_int_not_equal(access(path, F_OK), 0);
    }
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 1) skip(); // not even the warm-ups were through
    assert_int_equal(WEXITSTATUS(status), 10);
    struct samples samples;
    CHECK_OK(samples_load(&samples, path, &own_arena, &err));
    assert_true(samples.sample_count > 0);
    for (int i = 0; i < samples.sample_count; i++)
        assert_string_equal(samples.samples[i].stopped_by, "interrupted");
}

static int open_programs(void **state)
{
    static char folder[4096];
    char here[2048];
    const char *bin = getenv("BIN");
    if (!bin) bin = "bin";
    assert_non_null(getcwd(here, sizeof here));
    snprintf(folder, sizeof folder, "%s%s%s", *bin == '/' ? "" : here, *bin == '/' ? "" : "/", bin);
    programs = folder;
    return folder_open(state);
}

AROUND_ALL(open_programs, folder_close)
