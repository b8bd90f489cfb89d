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
            document_name(&problem->job.document, "job"));
    const struct layout *l = &problem->job.layout;
    fprintf(stderr, "tensor %d, context %d, data %d, pipeline %d, micro-batch %d, %s\n", l->tensor,
            l->context, l->data, l->pipeline, l->micro_batch, schedule_names[l->schedule]);
}

struct options {
    const char *problem, *out;
};
static const struct option_row rows[] = {
    {"PROBLEM", OPTION_PATH, OPT(problem), .low = 1},
    {"-o", OPTION_PATH, OPT(out), "output file (default: standard output)"},
};

static enum status run(void *options, int *exit_code, struct arena *arena, struct error *err)
{
    const struct options *o = options;
    (void)exit_code;
    struct problem problem;
    struct priced priced;
    TRY(problem_load(&problem, o->problem, arena, err));
    const char *doubt = cluster_doubt(&problem.cluster, arena);
    if (doubt) fprintf(stderr, "warning: %s\n", doubt);
    say_space(&problem);
    TRY(price_problem(&priced, &problem, arena, err));
    problem_made(&priced.document, &problem, o->out, arena);
    return priced_save(&priced, o->out, arena, err);
}

const struct command command_price = {
    .name = "price",
    .text = "problem -> priced document (integer ns and bytes)",
    .about = "Writes the cost of each layer, transfer and synchronisation in whole nanoseconds and "
             "bytes: "
             "the numbers that solve uses.",
    .usage = "plumbline price PROBLEM [-o FILE]",
    READS(struct options, rows, {.out = "-"}),
    .run = run,
};
