// Compares the output of the commands with the truth.
#include "tests/support/claims/printed.h"

#include <sys/wait.h>

#include "data/base/file.h"
#include "data/results/layouts.h"
#include "data/results/plan.h"
#include "tests/support/claims/climb.h"
#include "tests/support/check.h"

static int run(const char *command)
{
    int status = system(command);
    return status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const char *text_of(const char *path, struct arena *arena)
{
    struct error err = {OK, ""};
    const char *text;
    size_t size;
    return file_read(path, &text, &size, arena, &err) == OK ? text : NULL;
}

// "bound 0.064900000 s", wherever it occurs.
static void audit_log(struct claims *c, const struct space_truth *t, const char *text)
{
    for (const char *at = text; (at = strstr(at, "bound ")); at++) {
        char *end;
        double seconds = strtod(at + strlen("bound "), &end);
        if (end == at + strlen("bound ") || strncmp(end, " s", 2)) continue;
        claims_note(c, CLAIM_LOGGED, -1, -1, (int64_t)(seconds * 1e9 + 0.5), t->value_ns);
    }
}

static void audit_documents(struct claims *c, const struct space_truth *t, const char *plan_path,
                            const char *layouts_path)
{
    struct plan plan;
    struct layouts layouts;
    MUST(plan_load(&plan, plan_path, t->arena, &own_err));
    MUST(layouts_load(&layouts, layouts_path, t->arena, &own_err));
    claims_note(c, CLAIM_SAVED, -1, -1,
                plan.outcome == OUTCOME_INFEASIBLE ? INT64_MAX : plan.bound_ns, t->value_ns);
    for (int64_t i = 0; i < layouts.count; i++) {
        enum layout_fate fate = layouts_fate(&layouts, i);
        bool none = fate == FATE_REFUSED || fate == FATE_MEMORY || fate == FATE_INFEASIBLE;
        claims_note(c, CLAIM_SAVED, i, -1, none ? INT64_MAX : layouts.value[i],
                    t->layouts[i].value_ns);
    }
}

// "... takes less than 68000000 ns", "... takes less: 64900000 ns"; that there is none.
static void audit_answer(struct claims *c, const struct space_truth *t, const char *text)
{
    if (strstr(text, "no layout of the space has a plan") ||
        strstr(text, "No layout of the space has a plan"))
        claims_note(c, CLAIM_SAID, -1, -1, INT64_MAX, t->time_ns);
    for (const char *at = text; (at = strstr(at, "less")); at++) {
        const char *number = at + strcspn(at, "0123456789.\n");
        char *end;
        long long ns = strtoll(number, &end, 10);
        if (end != number && !strncmp(end, " ns", 3))
            claims_note(c, CLAIM_SAID, -1, -1, ns, t->time_ns);
    }
}

bool claims_printed(struct claims *c, const struct space_truth *t, const char *folder)
{
    const char *bin = getenv("BIN") ? getenv("BIN") : "bin";
    struct arena *a = t->arena;
    if (t->unknown || t->problem->job.objective != OBJECTIVE_ITERATION_TIME ||
        !claims_save(t->problem, folder, a))
        return false;
    int code = run(
        arena_print(a,
                    "%s/plumbline solve %s/problem.json -o %s/plan.json --layouts %s/layouts.json "
                    "--certificate %s/proof.json --progress --threads 1 2> %s/log",
                    bin, folder, folder, folder, folder, folder));
    const char *log = text_of(arena_print(a, "%s/log", folder), a);
    if (log && strstr(log, "no bound could be certified")) return true; // no claim is left
    if (!log || (code != 0 && code != 11)) {
        print_message("solve: exit code %d: %s\n", code, log ? log : "");
        return false;
    }
    audit_log(c, t, log);
    audit_documents(c, t, arena_print(a, "%s/plan.json", folder),
                    arena_print(a, "%s/layouts.json", folder));
    code = run(arena_print(a,
                           "%s/plumbline check %s/proof.json %s/problem.json --statement "
                           "%s/statement > %s/answer 2>&1",
                           bin, folder, folder, folder, folder));
    const char *answer = text_of(arena_print(a, "%s/answer", folder), a),
               *statement = text_of(arena_print(a, "%s/statement", folder), a);
    if (code == 1 && answer && strstr(answer, "cannot tell how it rounds"))
        return true; // refused: nothing is claimed
    if (code != 0 || !answer || !statement) {
        print_message("check: exit code %d: %s\n", code, answer ? answer : "");
        return false;
    }
    audit_answer(c, t, answer);
    audit_answer(c, t, statement);
    return true;
}
