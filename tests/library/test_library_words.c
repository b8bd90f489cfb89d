// The functions of plumbline.h that take a command's words: what they return is what the command
// prints, byte for byte; what is wrong is a status and a line; nothing is printed.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "library/plumbline.h"
#include "tests/support/check.h"

static char folder[] = "/tmp/plumbline-words.XXXXXX";
static const char *bin;

static const char *in_folder(const char *name)
{
    static char paths[4][256];
    static int last;
    char *path = paths[last++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

// What a command prints on its standard output.
static const char *printed(const char *format, ...)
{
    static char text[1 << 18];
    char command[1024], line[1200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    snprintf(line, sizeof line, "%s/plumbline %s 2> /dev/null", bin, command);
    FILE *from = popen(line, "r");
    assert_non_null(from);
    text[fread(text, 1, sizeof text - 1, from)] = '\0';
    pclose(from);
    return text;
}

static int begin(void **state)
{
    (void)state;
    bin = getenv("BIN") ? getenv("BIN") : "bin";
    assert_non_null(mkdtemp(folder));
    return 0;
}

static int end(void **state)
{
    char command[300];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

// ---- a problem is made

TEST(test_make)
{
    plumbline_problem *problem;
    plumbline_error error;
    const char *to = in_folder("made");
    const char *const *words = WORDS("--model", "gpt2-xl", "--gpu", "a100-80gb", "--nodes", "1",
                                     "--tensor", "1", "--pipeline", "2", "--global-batch", "32"),
                      *const *other = WORDS("--model", "gpt2-xl", "--gpu", "a100-80gb", "--nodes",
                                            "1", "--tensor", "1", "--pipeline", "4");
    if (plumbline_problem_make(&problem, to, words, 0, &error)) fail_msg("%s", error.text);
    plumbline_problem_close(problem);
    if (plumbline_problem_make(&problem, to, words, 0, &error)) fail_msg("%s", error.text);
    plumbline_problem_close(problem);
    assert_int_equal(plumbline_problem_make(&problem, to, other, 0, &error), PLUMBLINE_BAD_INPUT);
    assert_null(problem);
    if (plumbline_problem_make(&problem, to, other, 1, &error)) fail_msg("%s", error.text);
    plumbline_problem_close(problem);
    assert_int_equal(plumbline_problem_make(&problem, NULL, other, 1, NULL), PLUMBLINE_BAD_INPUT);
    assert_int_equal(plumbline_problem_make(&problem, to, WORDS("--modell", "x"), 1, &error),
                     PLUMBLINE_BAD_INPUT);
    assert_non_null(strstr(error.text, "--model"));
    assert_int_equal(plumbline_problem_make(&problem, to, WORDS("--help"), 1, &error),
                     PLUMBLINE_BAD_INPUT);
}

// ---- predictions

static const char table[] = "id,model,gpu,num_gpus,tp,seq,micro_batch,global_batch,colour\n"
                            "a,llama-3.1-8b,h100-80gb,8,2,4096,1,64,red\n"
                            "b,llama-3.1-8b,h100-80gb,8,3,4096,1,64,red\n";

static void write_table(void)
{
    FILE *to = fopen(in_folder("rows.csv"), "w");
    assert_non_null(to);
    fputs(table, to);
    fclose(to);
}

TEST(test_predict)
{
    plumbline_error error;
    char *text, *notes;
    write_table();
    for (int json = 0; json <= 1; json++) {
        const char *const *words = WORDS("rows", "--no-ranges", json ? "--json" : NULL);
        if (plumbline_predict(table, words, &text, &notes, &error)) fail_msg("%s", error.text);
        assert_string_equal(text, printed("predict %s --no-ranges %s", in_folder("rows.csv"),
                                          json ? "--json" : ""));
        assert_non_null(strstr(notes, "1 rows predicted, 1 not"));
        assert_non_null(strstr(notes, "colour"));
        plumbline_free(text), plumbline_free(notes);
        if (plumbline_predict(NULL, WORDS(in_folder("rows.csv"), "--no-ranges"), &text, NULL,
                              &error))
            fail_msg("%s", error.text);
        plumbline_free(text);
    }
    const char *const *one = WORDS("model=llama-3.1-8b", "gpu=h100-80gb", "num_gpus=8", "tp=2",
                                   "seq=4096", "global_batch=64");
    if (plumbline_predict(NULL, one, &text, &notes, &error)) fail_msg("%s", error.text);
    assert_string_equal(text, printed("predict model=llama-3.1-8b gpu=h100-80gb num_gpus=8 tp=2 "
                                      "seq=4096 global_batch=64"));
    assert_string_equal(notes, "");
    plumbline_free(text), plumbline_free(notes);
    assert_int_equal(plumbline_predict("a,b\n1\n", WORDS("rows"), &text, &notes, &error),
                     PLUMBLINE_BAD_INPUT);
    assert_null(text), assert_null(notes);
    assert_int_equal(strncmp(error.text, "rows: line 2", 12), 0);
    assert_int_equal(plumbline_predict(table, NULL, &text, NULL, NULL), PLUMBLINE_BAD_INPUT);
}

// ---- a log explained

TEST(test_explain)
{
    static const char log[] = "tests/explain/logs/megatron.log";
    plumbline_error error;
    plumbline_problem *problem;
    plumbline_plan *plan;
    char *text, *json;
    if (plumbline_explain(WORDS(log), &text, &json, &error)) fail_msg("%s", error.text);
    assert_string_equal(text, printed("explain %s", log));
    assert_string_equal(json, printed("explain %s --json", log));
    plumbline_free(text), plumbline_free(json);
    if (plumbline_explain(WORDS(log, "-o", in_folder("run")), NULL, NULL, &error))
        fail_msg("%s", error.text);
    if (plumbline_problem_open(&problem, in_folder("run/problem.json"), &error))
        fail_msg("%s", error.text);
    if (plumbline_plan_open(&plan, in_folder("run/run.json"), &error)) fail_msg("%s", error.text);
    plumbline_plan_close(plan);
    plumbline_problem_close(problem);
    assert_int_equal(plumbline_explain(WORDS(log, "-o", in_folder("run"), "--then", "plan"), &text,
                                       NULL, &error),
                     PLUMBLINE_BAD_INPUT);
    assert_null(text);
    assert_int_equal(plumbline_explain(WORDS("/nowhere.log"), NULL, &json, &error),
                     PLUMBLINE_BAD_INPUT);
    assert_null(json);
    assert_non_null(strstr(error.text, "/nowhere.log"));
}

// ---- plans: side by side, carried out, beside their run

static void solve_chain(const char *name, int stages)
{
    printed("example chain --layers 12 --stages %d --types 1 --micro-batches 4 -o %s", stages,
            in_folder(name));
    printed("solve %s/problem.json -o %s/plan.json", in_folder(name), in_folder(name));
}

TEST(test_compare)
{
    plumbline_error error;
    char *text;
    size_t length;
    solve_chain("two", 2), solve_chain("three", 3);
    const char *two = in_folder("two/plan.json"), *three = in_folder("three/plan.json");
    if (plumbline_compare(WORDS(two, three, "--uniform"), &text, &length, &error))
        fail_msg("%s", error.text);
    assert_string_equal(text, printed("compare %s %s --uniform", two, three));
    assert_int_equal(length, strlen(text));
    plumbline_free(text);
    assert_int_equal(plumbline_compare(WORDS(two, "-o", in_folder("x")), &text, NULL, &error),
                     PLUMBLINE_BAD_INPUT);
    assert_null(text);
}

struct heard {
    int lines;
    volatile int stop;
    char last[256];
};

static void hear(void *argument, const plumbline_progress *progress)
{
    struct heard *h = argument;
    h->lines += progress->text[0] && progress->seconds >= 0;
    snprintf(h->last, sizeof h->last, "%s", progress->text);
    h->stop = 1;
}

// Simulated kernels on two ranks; the first line that is heard asks for the end.
static void carry_out(const char *plan)
{
    plumbline_error error;
    plumbline_plan *opened;
    plumbline_options options;
    struct heard heard = {0};
    char *text, *page;
    const char *run = in_folder("run.json");
    PLUMBLINE_OPTIONS_INIT(&options);
    options.progress = hear, options.argument = &heard, options.stop = &heard.stop;
    const char *const *words =
        WORDS(plan, "--backend", "simulated", "--iterations", "200000", "-o", run);
    assert_int_equal(plumbline_run(words, &options, &error), PLUMBLINE_BAD_INPUT);
    assert_non_null(strstr(error.text, "--iterations"));
    words = WORDS(plan, "--backend", "simulated", "--iterations", "20000", "-o", run);
    if (plumbline_run(words, &options, &error)) fail_msg("%s", error.text);
    assert_true(heard.lines > 0);
    assert_non_null(strstr(heard.last, "; interrupted"));
    if (plumbline_plan_open(&opened, plan, &error)) fail_msg("%s", error.text);
    if (plumbline_report_against(opened, run, PLUMBLINE_TEXT, &text, NULL, &error))
        fail_msg("%s", error.text);
    assert_string_equal(text, printed("report %s --against %s", plan, run));
    if (plumbline_report_against(opened, run, PLUMBLINE_HTML, &page, NULL, &error))
        fail_msg("%s", error.text);
    assert_non_null(strstr(page, "</html>"));
    plumbline_free(text), plumbline_free(page);
    assert_int_equal(plumbline_report_against(opened, run, PLUMBLINE_JSON, &text, NULL, NULL),
                     PLUMBLINE_BAD_INPUT);
    assert_int_equal(plumbline_report_against(opened, plan, PLUMBLINE_TEXT, &text, NULL, NULL),
                     PLUMBLINE_BAD_INPUT);
    plumbline_plan_close(opened);
}

TEST(test_run)
{
    char path[4096];
    snprintf(path, sizeof path, "%s:%s", bin, getenv("PATH"));
    setenv("PATH", path, 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1), setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    if (system("mpirun --version > /dev/null 2>&1")) {
        fprintf(stderr, "skipped: no mpirun here\n");
        skip();
    }
    snprintf(path, sizeof path, "sh tests/library/small_problem.sh %s 2> /dev/null",
             in_folder("small"));
    assert_int_equal(system(path), 0);
    printed("solve %s -o %s", in_folder("small/problem.json"), in_folder("small/plan.json"));
    carry_out(in_folder("small/plan.json"));
}

AROUND_ALL(begin, end)
