// Memory runs out at the N-th allocation, for every N of one small run of each command: each ends
// in one clean error, nothing leaks (under ASan), no output is left half-written, and a run with
// enough memory succeeds again.
#include <sys/stat.h>
#include <unistd.h>

#include "solve/commands/commands.h"
#include "formulate/commands.h"
#include "tests/support/check.h"

static char folder[64] = "build/memory-XXXXXX";

static char *in_folder(struct arena *arena, const char *name)
{
    return arena_print(arena, "%s/%s", folder, name);
}

// As the front door runs a command; *exit_code receives what the shell would see.
static enum status run(const struct command *command, int argc, char **argv, int *exit_code,
                       struct error *err)
{
    struct arena arena;
    jmp_buf exhausted;
    *err = (struct error){OK, ""};
    arena_open(&arena, &exhausted);
    if (setjmp(exhausted)) (fail)(err, SYSTEM, "out of memory");
    else command_call(command, argc, argv, exit_code, &arena, err);
    arena_close(&arena);
    return err->status;
}

static void sweep(const struct command *command, int argc, char **argv, const char *output)
{
    struct error err;
    int exit_code = 0;
    long n = 1, refused = 0;
    for (;; n++) {
        unlink(output);
        memory_fail_at(n);
        exit_code = 0;
        enum status status = run(command, argc, argv, &exit_code, &err);
        long taken = memory_taken();
        memory_fail_at(0);
        if (status == OK && taken < n) break; // the whole run takes fewer than n
        if (status == OK) continue;           // a worker's failure that was recovered from
        refused++;
        if (status != SYSTEM)
            fail_msg("%s, taking %ld: status %d, '%s'", argv[0], n, status, err.text);
        assert_non_null(strstr(err.text, "memory"));
        assert_int_equal(access(output, F_OK), -1);
    }
    assert_int_equal(access(output, F_OK), 0);
    assert_true(refused > 3);
    printf("memory: %s: %ld takings, %ld clean refusals\n", argv[0], n - 1, refused);
}

TEST(every_taking_may_fail)
{
    int exit_code = 0;
    assert_non_null(mkdtemp(folder));
    char *example[] = {"example", "chain", "--layers",        "6", "--stages", "2",
                       "--types", "2",     "--micro-batches", "4", "-o",       folder};
    CHECK_OK(run(&command_example, ARRAY_LENGTH(example), example, &exit_code, &err));
    char *problem = in_folder(arena, "problem.json"), *plan = in_folder(arena, "plan.json"),
         *out = in_folder(arena, "out");
    char *solve[] = {"solve", problem, "-o", plan, "--threads", "1", "--time-limit-s", "60"};
    sweep(&command_solve, ARRAY_LENGTH(solve), solve, plan);
    char *verify[] = {"verify", plan, "-o", out};
    sweep(&command_verify, ARRAY_LENGTH(verify), verify, out);
    char *report[] = {"report", plan, "-o", out};
    sweep(&command_report, ARRAY_LENGTH(report), report, out);
    char *trace[] = {"report", plan, "--format", "trace", "-o", out};
    sweep(&command_report, ARRAY_LENGTH(trace), trace, out);
    char *formulate[] = {"formulate", problem, "-o", in_folder(arena, "f.lp")};
    sweep(&command_formulate, ARRAY_LENGTH(formulate), formulate, formulate[3]);
    static const char *const left[] = {"problem.json", "model.json", "cluster.json", "costs.json",
                                       "job.json",     "plan.json",  "out",          "f.lp"};
    for (size_t i = 0; i < ARRAY_LENGTH(left); i++) unlink(in_folder(arena, left[i]));
    assert_int_equal(rmdir(folder), 0); // nothing else is left
}
