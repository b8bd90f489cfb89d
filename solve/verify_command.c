// plumbline verify: finds the documents that a plan was made from, hears it, and says what is wrong with it.
#include <stdio.h>
#include <string.h>

#include "data/options.h"
#include "solve/verify.h"

command_function command_verify;

static const char usage[] = "plumbline verify PLAN.json [--problem FILE] [-o VERDICT.json]";

static const struct source *source_with_role(const struct plan *plan, const char *role)
{
    for (int i = 0; i < plan->document.source_count; i++)
        if (!strcmp(plan->document.sources[i].role, role)) return &plan->document.sources[i];
    return NULL;
}

// The plan's own list of inputs: each file is there and has the hash it had. With a problem named by the user only what the
// loaded documents say counts, which verify_plan compares.
static void check_sources(struct verdict *v, const struct plan *plan, struct arena *arena)
{
    for (int i = 0; i < plan->document.source_count; i++) {
        const struct source *s = &plan->document.sources[i];
        const char *path = path_beside(plan->document.path, s->path, arena), *text;
        char found[SHA256_TEXT];
        size_t size;
        struct error unread = {OK, ""};
        if (file_read(path, &text, &size, arena, &unread) != OK) {
            verdict_add(v, arena, "hash", -1, "the plan was made from the %s %s", s->role, unread.text);
            continue;
        }
        sha256_text(text, size, found);
        if (strcmp(found, s->sha256))
            verdict_add(v, arena, "hash", -1, "%s: SHA-256 is %.12s..., the plan was made from %.12s...", path, found,
                        s->sha256);
    }
}

// Memory of the first rank beside the published formula's, which knows neither recomputation nor what lies outside of the
// allocator.
static void print_memory(const struct verdict *v)
{
    if (v->memory_bytes < 0) return;
    printf("memory of the first rank: %.3f GB a device", (double)v->memory_bytes / 1e9);
    if (v->published_bytes >= 0)
        printf("; by the formula of Fujii et al. (2411.06465), without recomputation: %.3f GB, %.2f times that",
               (double)v->published_bytes / 1e9, (double)v->published_bytes / (double)v->memory_bytes);
    printf("\n");
}

static void print_verdict(const struct verdict *v, const struct plan *plan)
{
    if (v->accepted) {
        printf("accepted: iteration %lld ns by replay, ", (long long)v->replayed_ns);
        if (plan->objective != OBJECTIVE_ITERATION_TIME) printf("%s %lld ns, its ", objective_names[plan->objective], (long long)plan->objective_ns);
        printf("bound %lld ns, gap %.3g, %lld priced terms checked", (long long)plan->bound_ns, plan_gap(plan), (long long)v->terms_checked);
        if (v->doubtful) printf(" (%lld of them may be one more or less)", (long long)v->doubtful);
        if (v->closed_form) printf("; closed form agrees (%s)", v->closed_form);
        printf("\n");
        print_memory(v);
        return;
    }
    printf("rejected: %d violation%s\n", v->violation_count, v->violation_count == 1 ? "" : "s");
    for (int i = 0; i < v->violation_count; i++) {
        printf("  %s", v->violations[i].rule);
        if (v->violations[i].stage >= 0) printf(", stage %d", v->violations[i].stage);
        printf(": %s\n", v->violations[i].text);
    }
}

// Judges, unless an input is not the one the plan was made from.
static enum status hear(struct verdict *v, const struct plan *plan, const char *problem_path, struct problem *problem,
                        struct arena *arena, struct error *err)
{
    *v = (struct verdict){.closed_form_ns = -1, .memory_bytes = -1, .published_bytes = -1};
    if (plan->stage_count == 0) {
        verdict_add(v, arena, "plan", -1,
                    "there is no plan here to verify: its outcome is %s, a claim that cannot be judged from this file",
                    outcome_names[plan->outcome]);
        return OK;
    }
    if (!problem_path) {
        const struct source *source = source_with_role(plan, "problem");
        check_sources(v, plan, arena);
        if (!source)
            verdict_add(v, arena, "hash", -1, "%s: made_from names no problem; --problem FILE does",
                        plan->document.path);
        if (v->violation_count) return OK;
        problem_path = path_beside(plan->document.path, source->path, arena);
    }
    TRY(problem_load(problem, problem_path, arena, err));
    return verify_plan(v, plan, problem, arena, err);
}

static enum status write_verdict(const struct verdict *v, const struct plan *plan, const struct problem *problem,
                                 const char *path, struct arena *arena, struct error *err)
{
    struct source sources[2];
    int count = 0;
    sources[count++] = source_of("plan", &plan->document, path, arena);
    if (problem->document.path) sources[count++] = source_of("problem", &problem->document, path, arena);
    return verdict_save(v, path, sources, count, arena, err);
}

enum status command_verify(int argc, char **argv, int *exit_code, struct arena *arena, struct error *err)
{
    const char *plan_path, *problem_path = NULL, *verdict_path = NULL;
    bool helped;
    const struct option options[] = {
        {"--problem", OPTION_TEXT, &problem_path, 0, 0, NULL,
         "judge by this problem instead of the one the plan names"},
        {"-o", OPTION_TEXT, &verdict_path, 0, 0, NULL, "also write the verdict as a document"},
    };
    TRY(options_read(argc, argv, usage, options, ARRAY_LENGTH(options), &plan_path, 1, 1, NULL, &helped, err));
    if (helped) return OK;
    struct plan plan;
    struct problem problem = {0};
    struct verdict verdict;
    TRY(plan_load(&plan, plan_path, arena, err));
    TRY(hear(&verdict, &plan, problem_path, &problem, arena, err));
    verdict.accepted = verdict.violation_count == 0;
    if (verdict_path) TRY(write_verdict(&verdict, &plan, &problem, verdict_path, arena, err));
    if (!verdict_path || strcmp(verdict_path, "-")) print_verdict(&verdict, &plan);
    *exit_code = verdict.accepted ? 0 : EXIT_REJECTED;
    return OK;
}
