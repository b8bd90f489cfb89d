// Samples that this program measured on real machines (data/recorded/), replayed: each file keeps
// its provenance and loads unchanged; the files of each machine become costs, price a job, and the
// plan solved from them passes the judge. Files with several shapes predict each of them from the
// others.
#include <dirent.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "calibrate/calibrate.h"
#include "calibrate/fit/fit.h"
#include "formulate/example/example.h"
#include "tests/heldback/predict.h"
#include "tests/support/check.h"
#include "tests/support/folder.h"

static const char recorded[] = "data/recorded";
enum { FILES_MAX = 256, BYTES_MAX = 300000 };

struct files {
    const char *paths[FILES_MAX];
    struct samples samples[FILES_MAX];
    int count;
};

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static struct files *load_all(struct arena *arena)
{
    struct files *f = TAKE(arena, 1, struct files);
    struct error err = {OK, ""};
    DIR *folder = opendir(recorded);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        size_t length = strlen(entry->d_name);
        if (length < 6 || strcmp(entry->d_name + length - 5, ".json")) continue;
        assert_true(f->count < FILES_MAX);
        f->paths[f->count++] = arena_print(arena, "%s/%s", recorded, entry->d_name);
    }
    closedir(folder);
    qsort(f->paths, (size_t)f->count, sizeof *f->paths, compare_paths);
    for (int i = 0; i < f->count; i++)
        CHECK_OK(samples_load(&f->samples[i], f->paths[i], arena, &err));
    assert_true(f->count > 0);
    return f;
}

static const char *read_text(const char *path, size_t *size, struct arena *arena)
{
    const char *text;
    MUST(file_read(path, &text, size, arena, &own_err));
    return text;
}

TEST(test_provenance)
{
    struct files *f = load_all(arena);
    for (int i = 0; i < f->count; i++) {
        const struct samples *s = &f->samples[i];
        struct stat file;
        assert_int_equal(stat(f->paths[i], &file), 0);
        if (file.st_size > BYTES_MAX)
            fail_msg("%s: %lld bytes", f->paths[i], (long long)file.st_size);
        if (!s->document.made_by || strncmp(s->document.made_by, "plumbline", 9))
            fail_msg("%s: not made by this program", f->paths[i]);
        if (!s->machine.processor || !s->machine.library || !s->machine.taken_at)
            fail_msg("%s: machine: something is missing", f->paths[i]);
        if (s->launch_count < 1 || !s->launches[0].command ||
            !strstr(s->launches[0].command, "plumbline measure"))
            fail_msg("%s: launches: no command", f->paths[i]);
        if (strchr(s->launches[0].command, '/'))
            fail_msg("%s: launches[0].command: names a place on the machine", f->paths[i]);
        for (int k = 0; k < s->sample_count; k++) assert_true(s->samples[k].repetitions >= 8);
    }
}

TEST(test_round_trip)
{
    struct files *f = load_all(arena);
    char folder[FOLDER_SIZE];
    assert_int_equal(folder_make(folder), 0);
    const char *again = arena_print(arena, "%s/again.json", folder);
    for (int i = 0; i < f->count; i++) {
        size_t size, size_again;
        CHECK_OK(samples_save(&f->samples[i], again, arena, &err));
        const char *text = read_text(f->paths[i], &size, arena),
                   *text_again = read_text(again, &size_again, arena);
        assert_int_equal(size, size_again);
        assert_memory_equal(text, text_again, size);
    }
    assert_int_equal(folder_remove(folder), 0);
}

// The files of the same machine as file `first`, if that one is its first; false otherwise.
static bool files_of_machine(const struct files *f, int first, const char **paths, int *count)
{
    *count = 0;
    for (int i = 0; i < f->count; i++) {
        if (strcmp(f->samples[i].machine.gpu, f->samples[first].machine.gpu)) continue;
        if (i < first) return false;
        paths[(*count)++] = f->paths[i];
    }
    return true;
}

// Runs "$BIN/plumbline WORDS" with its outputs thrown away; the exit code.
static int run_plumbline(const char *words, struct arena *arena)
{
    const char *bin = getenv("BIN");
    int status =
        system(arena_print(arena, "%s/plumbline %s > /dev/null 2>&1", bin ? bin : "bin", words));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Eight blocks of GPT-2 XL in four stages, as deep as the test has time for.
static void solve_and_verify(const struct calibration *c, const char *costs, const char *folder,
                             struct arena *arena)
{
    struct problem problem;
    MUST(example_four(&problem, costs, 64, arena, &own_err));
    problem.model.runs[1].count = 8;
    problem.model.layer_count = 10;
    problem.job.precision = c->precisions[0].precision;
    problem.costs.document.path = costs;
    const char *place = arena_print(arena, "%s/problem", folder);
    MUST(example_write(&problem, place, true, arena, &own_err));
    assert_int_equal(
        run_plumbline(arena_print(arena, "solve %s/problem.json -o %s/plan.json", place, place),
                      arena),
        0);
    assert_int_equal(run_plumbline(arena_print(arena, "verify %s/plan.json", place), arena), 0);
}

TEST(test_chain)
{
    struct files *f = load_all(arena);
    const char *paths[FILES_MAX];
    int count, machines = 0;
    for (int i = 0; i < f->count; i++) {
        if (!files_of_machine(f, i, paths, &count)) continue;
        char folder[FOLDER_SIZE];
        assert_int_equal(folder_make(folder), 0);
        const char *costs_path = arena_print(arena, "%s/costs.json", folder);
        struct inputs *in = TAKE(arena, 1, struct inputs);
        struct calibration *c = TAKE(arena, 1, struct calibration);
        const struct calibrate_settings settings = {.output = costs_path};
        CHECK_OK(inputs_load(in, paths, count, NULL, arena, &err));
        CHECK_OK(calibrate(c, in, &settings, arena, &err));
        CHECK_OK(costs_save(&c->costs, costs_path, arena, &err));
        struct costs costs;
        CHECK_OK(costs_load(&costs, costs_path, arena, &err));
        if (!c->lacking) {
            assert_string_equal(costs.gpus[0].gpu, f->samples[i].machine.gpu);
            solve_and_verify(c, costs_path, folder, arena);
            machines++;
        }
        assert_int_equal(folder_remove(folder), 0);
    }
    assert_true(machines > 0);
}

// Within 4.5 %, the median of whole layers and that of kernels; and no pass of a kind of layer is
// predicted too long, or too short, by more than 6 % in the median.
TEST(test_held_back)
{
    struct files *f = load_all(arena);
    int files = 0;
    for (int i = 0; i < f->count; i++) {
        struct heldback_shapes shapes;
        if (heldback_shapes(&shapes, &f->samples[i], arena, &err) != OK || shapes.count < 3)
            continue;
        rounds_even(&f->samples[i], arena);
        struct heldback_point *all = NULL;
        int all_count = 0;
        for (int held = 0; held < shapes.count; held++) {
            struct heldback_point *points;
            int count;
            CHECK_OK(heldback_predict(&points, &count, &f->samples[i], &shapes, held, arena, &err));
            all =
                arena_grow(arena, all, (size_t)all_count, (size_t)(all_count + count), sizeof *all);
            for (int k = 0; k < count; k++) all[all_count++] = points[k];
        }
        struct heldback_errors e = heldback_errors(all, all_count, arena);
        printf("%s: median error of whole layers %.1f %% (%d), of kernels %.1f %% (%d)\n",
               f->paths[i], 100 * e.layers, e.layer_count, 100 * e.kernels, e.kernel_count);
        assert_true(e.layer_count >= 10 && e.kernel_count >= 10);
        assert_true(e.layers <= 0.045 && e.kernels <= 0.045);
        for (const char *const *pass = heldback_passes; *pass; pass++) {
            double bias = heldback_bias(all, all_count, *pass, arena);
            if (!(fabs(bias) <= 0.06)) fail_msg("%s: %+.1f %%", *pass, 100 * bias);
        }
        files++;
    }
    assert_true(files > 0);
}
