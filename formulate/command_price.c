// plumbline price: a problem -> the priced document, whose hash is the stated problem of plans and proofs.
#include <string.h>

#include "formulate/commands.h"
#include "formulate/price.h"

// Named relative to the priced document; on standard output, to the folder the command runs in.
static void name_sources(struct priced *priced, const struct problem *problem, const char *output, struct arena *arena)
{
    const char *maker = strcmp(output, "-") ? output : "priced.json";
    struct source *sources = TAKE(arena, 5, struct source);
    sources[0] = source_of("problem", &problem->document, maker, arena);
    sources[1] = source_of("model", &problem->model.document, maker, arena);
    sources[2] = source_of("cluster", &problem->cluster.document, maker, arena);
    sources[3] = source_of("costs", &problem->costs.document, maker, arena);
    sources[4] = source_of("job", &problem->job.document, maker, arena);
    priced->document.sources = sources;
    priced->document.source_count = 5;
}

enum status command_price(int argc, char **argv, int *exit_code, struct arena *arena, struct error *err)
{
    const char *path, *output = "-";
    bool helped;
    struct option options[] = {
        {"-o", OPTION_TEXT, &output, 0, 0, NULL, "where the priced document goes (default: standard output)"},
    };
    (void)exit_code;
    TRY(options_read(argc, argv, "plumbline price PROBLEM [-o FILE]", options, ARRAY_LENGTH(options), &path, 1, 1, NULL,
                     &helped, err));
    if (helped) return OK;
    struct problem problem;
    struct priced priced;
    TRY(problem_load(&problem, path, arena, err));
    TRY(price_problem(&priced, &problem, arena, err));
    name_sources(&priced, &problem, output, arena);
    return priced_save(&priced, output, arena, err);
}
