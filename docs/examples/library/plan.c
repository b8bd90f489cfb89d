// Plans a problem with libplumbline, verifies the plan, and prints both.
// cc plan.c $(pkg-config --cflags --libs plumbline) -o plan && ./plan problem.json [plan.json]
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <plumbline.h>

static volatile int stop;
static void ask_to_stop(int signal) { (void)signal, stop = 1; }

static void tell(void *argument, const plumbline_progress *progress)
{
    fprintf((FILE *)argument, "%s\n", progress->text);
}

static void expect(plumbline_status status, const plumbline_error *error)
{
    if (status == PLUMBLINE_OK) return;
    fprintf(stderr, "plan: %s\n", error->text);
    exit(status == PLUMBLINE_BAD_INPUT ? 2 : 1);
}

int main(int argc, char **argv)
{
    plumbline_error error;
    plumbline_problem *problem;
    plumbline_plan *plan;
    plumbline_options options;
    plumbline_facts facts = {.size = sizeof facts};
    int accepted = 0;
    char *text;
    if (argc < 2) return fprintf(stderr, "usage: plan PROBLEM.json [PLAN.json]\n"), 2;
    signal(SIGINT, ask_to_stop);

    PLUMBLINE_OPTIONS_INIT(&options);
    options.gap = 0.01;
    options.stop = &stop;
    options.progress = tell;
    options.argument = stderr;
    expect(plumbline_problem_open(&problem, argv[1], &error), &error);
    expect(plumbline_solve(&plan, problem, &options, &error), &error);
    expect(plumbline_plan_facts(plan, &facts, &error), &error);

    if (facts.stages) {
        expect(plumbline_verify(plan, NULL, NULL, &accepted, &text, &error), &error);
        printf("%s\n", text);
        plumbline_free(text);
    }
    expect(plumbline_report(plan, PLUMBLINE_TEXT, &text, NULL, &error), &error);
    printf("%s", text);
    plumbline_free(text);
    if (argc > 2) expect(plumbline_plan_save(plan, argv[2], &error), &error);
    plumbline_plan_close(plan);
    plumbline_problem_close(problem);
    return accepted ? 0 : 1;
}
