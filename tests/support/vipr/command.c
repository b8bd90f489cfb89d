// vipr_check: reads a VIPR file of any origin and reports what it proves, within plumbline check's
// own limits of work and memory.
#include <stdio.h>

#include "data/base/file.h"
#include "tests/support/vipr/command.h"
#include "tests/support/vipr/vipr.h"

static void print_result(const struct check_vipr_result *r, struct arena *arena)
{
    if (!r->accepted) {
        printf("not proven: %s\n", r->reason);
        return;
    }
    printf("proven: %s\n", check_vipr_words(r, arena));
    printf("  verified   %d solutions on %d constraints over %d variables (%d integer); %d rows "
           "derived: %d assumptions, %d combinations, %d roundings, %d disjunctions\n"
           "  assumed    that the program is the one that is meant\n",
           r->solutions, r->constraints, r->variables, r->integers, r->derivations, r->assumptions,
           r->combinations, r->roundings, r->disjunctions);
}

struct options {
    const char *path;
    int64_t work_limit;
};

static const struct option_row rows[] = {
    {"FILE.vipr", OPTION_PATH, OPT(path), .low = 1},
    {"--work-limit", OPTION_INT, OPT(work_limit),
     "maximum number of steps; beyond it nothing counts as proven (default: 10^11)", 1, 1e18},
};

static enum status run(void *options, int *exit_code, struct arena *arena, struct error *err)
{
    const struct options *o = options;
    struct check_text file = {.file = o->path};
    struct check_vipr_result result;
    memory_limit((size_t)MEMORY_BASE_MIB << 20);
    TRY(file_read(o->path, &file.text, &file.size, arena, err));
    TRY(check_vipr(&result, &file, (uint64_t)o->work_limit, arena, err));
    print_result(&result, arena);
    *exit_code = result.accepted ? 0 : 1;
    return OK;
}

const struct command command_vipr_check = {
    .name = "vipr_check",
    .usage = "vipr_check FILE.vipr",
    READS(struct options, rows, {.work_limit = CHECK_WORK_DEFAULT}),
    .audits = true,
    .run = run,
};
