// Finds the problem that a plan was made from.
#include "data/results/origin.h"

#include <string.h>

bool origin_matches(const struct plan *plan, const char *role, const struct document *now)
{
    for (int i = 0; i < plan->document.source_count; i++)
        if (!strcmp(plan->document.sources[i].role, role))
            return !strcmp(plan->document.sources[i].sha256, now->sha256);
    return true;
}

bool origin_problem(const struct plan *plan, struct problem *problem, struct arena *arena)
{
    struct error unread = {OK, ""};
    for (int i = 0; i < plan->document.source_count; i++) {
        const struct source *s = &plan->document.sources[i];
        if (strcmp(s->role, "problem")) continue;
        if (problem_load(problem, path_beside(plan->document.path, s->path, arena), arena,
                         &unread) != OK)
            return false;
        return origin_matches(plan, "problem", &problem->document) &&
               origin_matches(plan, "model", &problem->model.document) &&
               origin_matches(plan, "cluster", &problem->cluster.document) &&
               origin_matches(plan, "job", &problem->job.document);
    }
    return false;
}
