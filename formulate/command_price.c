// plumbline price: turns a problem into the priced document, whose hash identifies the problem in
// plans and proofs.
#include <stdio.h>

#include "data/kinds/schedules.h"
#include "formulate/commands.h"
#include "formulate/price/price.h"

// A job with a space is one of many layouts; commands that price or write one say which.
void say_space(const struct problem *problem)
{
    if (!problem->job.space.given) return;
    fprintf(stderr,
            "plumbline: %s: has a space of layouts, which plumbline solve searches; only its "
            "layout is priced: ",
            problem->job.document.path ? problem->job.document.path : "job");
    const struct layout *l = &problem->job.layout;
    fprintf(stderr, "tensor %d, context %d, data %d, pipeline %d, micro-batch %d, %s\n", l->tensor,
            l->context, l->data, l->pipeline, l->micro_batch, schedule_names[l->schedule]);
}

enum status command_price(int argc, char **argv, int *exit_code, struct arena *arena,
                          struct error *err)
{
    const char *path, *output = "-";
    bool helped;
    struct option options[] = {
        {"-o", OPTION_PATH, &output, 0, 0, NULL, "output file (default: standard output)"},
    };
    (void)exit_code;
    TRY(options_read(argc, argv, "plumbline price PROBLEM [-o FILE]", options,
                     ARRAY_LENGTH(options), &path, 1, 1, NULL, &helped, err));
    if (helped) return OK;
    struct problem problem;
    struct priced priced;
    TRY(problem_load(&problem, path, arena, err));
    const char *doubt = cluster_doubt(&problem.cluster, arena);
    if (doubt) fprintf(stderr, "warning: %s\n", doubt);
    say_space(&problem);
    TRY(price_problem(&priced, &problem, arena, err));
    priced.document.sources = TAKE(arena, PROBLEM_SOURCES, struct source);
    priced.document.source_count =
        problem_sources(&problem, output, priced.document.sources, arena);
    return priced_save(&priced, output, arena, err);
}
