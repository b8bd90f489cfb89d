// libplumbline through its header alone: eight threads that plan, verify, report and fail
// concurrently; an error is a status and a line; nothing is printed.
#include <locale.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "library/plumbline.h"
#include "tests/support/check.h"

enum { THREADS = 8, TIMES = 3 };

static char folder[] = "/tmp/plumbline-library.XXXXXX";

static const char *in_folder(const char *name)
{
    static _Thread_local char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void shell(const char *format, ...)
{
    char command[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    if (system(command)) fail_msg("%s", command);
}

static int make_examples(void **state)
{
    (void)state;
    const char *bin = getenv("BIN");
    assert_non_null(mkdtemp(folder));
    shell("%s/plumbline example chain --layers 20 --stages 5 --micro-batches 8 -o %s/chain "
          "> /dev/null",
          bin ? bin : "bin", folder);
    shell("%s/plumbline example gpt --model gpt2-xl --gpu a100-80gb --nodes 1 --layouts all "
          "--global-batch 32 -o %s/space > /dev/null",
          bin ? bin : "bin", folder);
    shell("%s/plumbline solve %s/chain/problem.json -o %s/chain/plan.json --certificate "
          "%s/chain/proof.json 2> /dev/null",
          bin ? bin : "bin", folder, folder, folder);
    return 0;
}

static plumbline_problem *open_problem(const char *name)
{
    plumbline_problem *problem;
    plumbline_error error;
    if (plumbline_problem_open(&problem, in_folder(name), &error)) fail_msg("%s", error.text);
    return problem;
}

// What is printed meanwhile: nothing.

static int usual_output;

static void catch_output(void)
{
    fflush(stdout);
    usual_output = dup(STDOUT_FILENO);
    FILE *to = fopen(in_folder("stdout"), "w");
    assert_non_null(to);
    assert_true(dup2(fileno(to), STDOUT_FILENO) >= 0);
    fclose(to);
}

static void expect_no_output(void)
{
    struct stat printed;
    fflush(stdout);
    assert_true(dup2(usual_output, STDOUT_FILENO) >= 0);
    close(usual_output);
    assert_int_equal(stat(in_folder("stdout"), &printed), 0);
    assert_int_equal(printed.st_size, 0);
}

// ---- threads: no assertion of cmocka, which is for one thread

struct job {
    plumbline_problem *shared;
    const char *wrong; // the first thing that was not as expected
    char plan[1 << 16];
};

#define EXPECT(job, what)                                                                          \
    do {                                                                                           \
        if (what) break;                                                                           \
        (job)->wrong = #what;                                                                      \
        return;                                                                                    \
    } while (0)

static void count(void *argument, const plumbline_progress *progress)
{
    *(int *)argument += progress->seconds >= 0 && progress->text[0];
}

static void fail_on_purpose(struct job *j)
{
    plumbline_problem *none;
    plumbline_error error;
    EXPECT(j, plumbline_problem_open(&none, "/nowhere.json", &error) == PLUMBLINE_BAD_INPUT);
    EXPECT(j, !none && strstr(error.text, "/nowhere.json"));
}

static void plan_once(struct job *j, plumbline_problem *problem)
{
    plumbline_options options;
    plumbline_error error;
    plumbline_plan *plan;
    plumbline_facts facts = {.size = sizeof facts};
    int accepted = 0, told = 0;
    char *text, *page, *document;
    size_t length;
    PLUMBLINE_OPTIONS_INIT(&options);
    options.progress = count;
    options.argument = &told;
    EXPECT(j, plumbline_solve(&plan, problem, &options, &error) == PLUMBLINE_OK);
    EXPECT(j, plumbline_plan_facts(plan, &facts, NULL) == PLUMBLINE_OK);
    EXPECT(j, facts.outcome == PLUMBLINE_OPTIMAL && facts.gap == 0 && facts.iteration_s > 0);
    EXPECT(j, plumbline_verify(plan, NULL, NULL, &accepted, &text, &error) == PLUMBLINE_OK);
    EXPECT(j, accepted == 1 && !strncmp(text, "accepted: ", 10));
    EXPECT(j, plumbline_report(plan, PLUMBLINE_HTML, &page, &length, &error) == PLUMBLINE_OK);
    EXPECT(j, length == strlen(page) && strstr(page, "</html>"));
    EXPECT(j, plumbline_report(plan, PLUMBLINE_JSON, &document, NULL, &error) == PLUMBLINE_OK);
    char *end = strstr(document, "\"effort\""); // seconds are never the same
    EXPECT(j, end && end < document + sizeof j->plan);
    *end = '\0';
    EXPECT(j, !*j->plan || !strcmp(j->plan, document));
    memcpy(j->plan, document, strlen(document) + 1);
    plumbline_free(text), plumbline_free(page), plumbline_free(document);
    plumbline_plan_close(plan);
}

static void *work(void *argument)
{
    struct job *j = argument;
    for (int i = 0; i < TIMES && !j->wrong; i++) {
        plumbline_problem *own;
        plumbline_error error;
        fail_on_purpose(j);
        if (plumbline_problem_open(&own, in_folder("chain/problem.json"), &error)) {
            j->wrong = "no problem";
            break;
        }
        if (!j->wrong) plan_once(j, own);
        if (!j->wrong) plan_once(j, j->shared);
        plumbline_problem_close(own);
    }
    return NULL;
}

static void run_threads(const char *problem)
{
    pthread_t threads[THREADS];
    struct job *jobs = calloc(THREADS, sizeof *jobs);
    plumbline_problem *shared = open_problem(problem);
    for (int i = 0; i < THREADS; i++) {
        jobs[i].shared = shared;
        assert_int_equal(pthread_create(&threads[i], NULL, work, &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        if (jobs[i].wrong) fail_msg("thread %d: %s", i, jobs[i].wrong);
        assert_string_equal(jobs[i].plan, jobs[0].plan);
    }
    plumbline_problem_close(shared);
    free(jobs);
}

TEST(test_threads)
{
    catch_output();
    run_threads("chain/problem.json");
    expect_no_output();
}

// ---- a space of layouts; with processes and without; a plan outlives its problem

static double best_of(plumbline_problem *problem, int processes, char **page)
{
    plumbline_options options;
    plumbline_error error;
    plumbline_plan *plan;
    plumbline_facts facts = {.size = sizeof facts};
    PLUMBLINE_OPTIONS_INIT(&options);
    options.processes = processes;
    if (plumbline_solve(&plan, problem, &options, &error)) fail_msg("%s", error.text);
    plumbline_problem_close(problem);
    assert_int_equal(plumbline_plan_facts(plan, &facts, &error), PLUMBLINE_OK);
    assert_int_equal(facts.outcome, PLUMBLINE_OPTIMAL);
    if (plumbline_report(plan, PLUMBLINE_HTML, page, NULL, &error)) fail_msg("%s", error.text);
    plumbline_plan_close(plan);
    return facts.iteration_s;
}

TEST(test_space)
{
    char *page, *other;
    catch_output();
    double here = best_of(open_problem("space/problem.json"), 0, &page);
    double there = best_of(open_problem("space/problem.json"), 2, &other);
    expect_no_output();
    assert_true(here == there);
    assert_non_null(strstr(page, "layouts")); // their table is there without a file of them
    plumbline_free(page), plumbline_free(other);
}

// ---- files: the commands read what is saved

TEST(test_files)
{
    plumbline_problem *problem;
    plumbline_plan *plan;
    plumbline_error error;
    int accepted = 0, proven = 0;
    char *text, *document, job[256], path[256];
    snprintf(job, sizeof job, "%s/space/job.json", folder);
    if (plumbline_problem_compose(&problem, "gpt2-xl", "a100-16x8", "kernels", job, &error))
        fail_msg("%s", error.text);
    plumbline_options options;
    PLUMBLINE_OPTIONS_INIT(&options);
    options.gap = 1;
    if (plumbline_solve(&plan, problem, &options, &error)) fail_msg("%s", error.text);
    assert_int_equal(plumbline_verify(plan, NULL, NULL, &accepted, NULL, &error), PLUMBLINE_OK);
    assert_int_equal(accepted, 1);
    assert_int_equal(plumbline_verify(plan, NULL, "proof.json", &accepted, NULL, &error),
                     PLUMBLINE_BAD_INPUT);
    assert_int_equal(plumbline_problem_save(problem, in_folder("problem.json"), &error),
                     PLUMBLINE_OK);
    assert_int_equal(plumbline_plan_save(plan, in_folder("plan.json"), &error), PLUMBLINE_OK);
    plumbline_plan_close(plan);
    plumbline_problem_close(problem);
    if (plumbline_plan_open(&plan, in_folder("plan.json"), &error)) fail_msg("%s", error.text);
    if (plumbline_verify(plan, NULL, NULL, &accepted, &text, &error)) fail_msg("%s", error.text);
    if (!accepted) fail_msg("%s", text);
    assert_int_equal(plumbline_report(plan, PLUMBLINE_TEXT, &document, NULL, &error), PLUMBLINE_OK);
    assert_non_null(strstr(document, "a GPU-hour")); // the problem was found next to it
    plumbline_free(text), plumbline_free(document);
    plumbline_plan_close(plan);

    snprintf(path, sizeof path, "%s/chain/proof.json", folder);
    if (plumbline_check(path, NULL, &proven, &text, &error)) fail_msg("%s", error.text);
    assert_int_equal(proven, 1);
    assert_int_equal(strncmp(text, "certified: ", 11), 0);
    plumbline_free(text);
    if (plumbline_plan_open(&plan, in_folder("chain/plan.json"), &error))
        fail_msg("%s", error.text);
    assert_int_equal(plumbline_verify(plan, NULL, path, &accepted, &text, &error), PLUMBLINE_OK);
    assert_non_null(strstr(text, "certified by"));
    plumbline_free(text);
    plumbline_plan_close(plan);
}

// ---- what is wrong

TEST(test_wrong)
{
    plumbline_problem *problem;
    plumbline_plan *plan;
    plumbline_error error;
    plumbline_options options;
    int answer;
    char *text;
    assert_int_equal(plumbline_problem_open(&problem, NULL, NULL), PLUMBLINE_BAD_INPUT);
    assert_null(problem);
    assert_int_equal(plumbline_solve(&plan, NULL, NULL, &error), PLUMBLINE_BAD_INPUT);
    assert_null(plan);
    assert_int_equal(plumbline_plan_open(&plan, in_folder("chain/job.json"), &error),
                     PLUMBLINE_BAD_INPUT);
    assert_non_null(strstr(error.text, "plumbline.plan"));
    assert_int_equal(
        plumbline_problem_compose(&problem, "gpt2-xxl", "a100-16x8", "kernels", "job.json", &error),
        PLUMBLINE_BAD_INPUT);
    assert_non_null(strstr(error.text, "the nearest is \"gpt2-xl\""));
    assert_int_equal(plumbline_check(in_folder("chain/job.json"), NULL, &answer, &text, &error),
                     PLUMBLINE_BAD_INPUT);
    assert_null(text);
    assert_int_equal(plumbline_report(NULL, PLUMBLINE_TEXT, &text, NULL, &error),
                     PLUMBLINE_BAD_INPUT);
    problem = open_problem("chain/problem.json");
    PLUMBLINE_OPTIONS_INIT(&options);
    options.gap = -1;
    assert_int_equal(plumbline_solve(&plan, problem, &options, &error), PLUMBLINE_BAD_INPUT);
    PLUMBLINE_OPTIONS_INIT(&options);
    assert_int_equal(plumbline_solve(&plan, problem, &options, &error), PLUMBLINE_OK);
    assert_int_equal(plumbline_plan_save(plan, in_folder("missing/plan.json"), &error),
                     PLUMBLINE_BAD_INPUT);
    assert_int_equal(plumbline_plan_save(plan, "/dev/full", &error), PLUMBLINE_BAD_INPUT);
    assert_int_equal(plumbline_report(plan, (plumbline_format)7, &text, NULL, &error),
                     PLUMBLINE_BAD_INPUT);
    plumbline_plan_close(plan);
    plumbline_problem_close(problem);
    plumbline_problem_close(NULL);
    plumbline_plan_close(NULL);
}

// ---- a search that is stopped

static void stop_it(void *argument, const plumbline_progress *progress)
{
    (void)progress;
    *(volatile int *)argument = 1;
}

TEST(test_stop)
{
    plumbline_problem *problem = open_problem("space/problem.json");
    plumbline_plan *plan;
    plumbline_facts facts = {.size = sizeof facts};
    plumbline_options options;
    volatile int stop = 0;
    PLUMBLINE_OPTIONS_INIT(&options);
    options.stop = &stop;
    options.progress = stop_it;
    options.argument = (void *)(uintptr_t)&stop;
    assert_int_equal(plumbline_solve(&plan, problem, &options, NULL), PLUMBLINE_OK);
    assert_int_equal(plumbline_plan_facts(plan, &facts, NULL), PLUMBLINE_OK);
    assert_int_equal(stop, 1);
    assert_true(facts.outcome == PLUMBLINE_OPEN || facts.outcome == PLUMBLINE_NO_PLAN);
    plumbline_plan_close(plan);
    plumbline_problem_close(problem);
}

// ---- a program with a decimal comma

TEST(test_locale)
{
    plumbline_problem *problem;
    plumbline_plan *plan;
    char *text;
    shell("localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 > /dev/null 2>&1 || true", folder);
    setenv("LOCPATH", folder, 1);
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) {
        fprintf(stderr, "skipped: no de_DE.UTF-8 here, and none can be made\n");
        skip();
    }
    problem = open_problem("chain/problem.json");
    assert_int_equal(plumbline_solve(&plan, problem, NULL, NULL), PLUMBLINE_OK);
    assert_int_equal(plumbline_report(plan, PLUMBLINE_JSON, &text, NULL, NULL), PLUMBLINE_OK);
    assert_non_null(strstr(text, "\"iteration_s\": 0."));
    plumbline_free(text);
    plumbline_plan_close(plan);
    plumbline_problem_close(problem);
    setlocale(LC_ALL, "C");
}

static int remove_examples(void **state)
{
    (void)state;
    shell("rm -rf %s", folder);
    return 0;
}

AROUND_ALL(make_examples, remove_examples)
