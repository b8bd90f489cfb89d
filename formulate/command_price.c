// plumbline price: a problem -> the priced document, whose hash is the stated problem of plans and proofs.
#include "formulate/commands.h"
#include "formulate/price.h"

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
    priced.document.sources = TAKE(arena, PROBLEM_SOURCES, struct source);
    priced.document.source_count = problem_sources(&problem, output, priced.document.sources, arena);
    return priced_save(&priced, output, arena, err);
}
