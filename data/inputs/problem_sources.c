// The five documents of a problem, and what documents made from it state of them.
#include "data/inputs/problem.h"

#include <string.h>

const char *const problem_roles[PROBLEM_SOURCES + 1] = {"problem", "model", "cluster", "costs",
                                                        "job"};

const struct document *problem_document(const struct problem *p, const char *role)
{
    const struct document *const documents[PROBLEM_SOURCES] = {
        &p->document, &p->model.document, &p->cluster.document, &p->costs.document,
        &p->job.document};
    int i = 0;
    while (problem_roles[i] && strcmp(problem_roles[i], role)) i++;
    return problem_roles[i] ? documents[i] : NULL;
}

int problem_sources(const struct problem *p, const char *maker_path, struct source *sources,
                    struct arena *arena)
{
    const char *maker = strcmp(maker_path, "-") ? maker_path : "standard-output";
    for (int i = 0; i < PROBLEM_SOURCES; i++)
        sources[i] =
            source_of(problem_roles[i], problem_document(p, problem_roles[i]), maker, arena);
    return PROBLEM_SOURCES;
}
