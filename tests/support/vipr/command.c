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

static enum status check_file(int argc, char **argv, int *exit_code, struct arena *arena,
                              struct error *err)
{
    const char *path;
    int count;
    bool helped;
    int64_t work_limit = CHECK_WORK_DEFAULT;
    const struct option options[] = {
        {"--work-limit", OPTION_INT, &work_limit, 1, 1e18, NULL,
         "maximum number of steps; beyond it nothing counts as proven (default: 10^11)"},
    };
    struct check_text file;
    struct check_vipr_result result;
    TRY(options_read(argc, argv, "vipr_check FILE.vipr", options, ARRAY_LENGTH(options), &path, 1,
                     1, &count, &helped, err));
    if (helped) return OK;
    memory_limit((size_t)MEMORY_BASE_MIB << 20);
    file.file = path;
    TRY(file_read(path, &file.text, &file.size, arena, err));
    TRY(check_vipr(&result, &file, (uint64_t)work_limit, arena, err));
    print_result(&result, arena);
    *exit_code = result.accepted ? 0 : 1;
    return OK;
}

enum status command_vipr_check(int argc, char **argv, int *exit_code, struct arena *arena,
                               struct error *err)
{
    return command_audit(check_file, argc, argv, exit_code, arena, err);
}
