// Which problems a certificate can be about: of the others a bound is the planner's word.
#include "solve/space_open.h"
#include "solve/space_prices.h"

enum status space_check_kind(const struct problem *p, bool of_space, struct error *err)
{
    const char *file = p->document.path ? p->document.path : "problem";
    if (p->job.objective != OBJECTIVE_ITERATION_TIME)
        return fail(err, BAD_INPUT, "%s: the job's objective is %s, and certificates are about iteration_time: its bound is the planner's word", file,
                    objective_names[p->job.objective]);
    if (p->job.space.given && !of_space)
        return fail(err, BAD_INPUT, "%s: its job has a space of layouts: expected a certificate of all of them", file);
    if (p->cluster.places.node_count)
        return fail(err, BAD_INPUT, "%s: the cluster has places, and no certificate is about placements%s: the bound is the planner's word", file,
                    of_space ? " in a space of layouts" : "");
    return OK;
}

enum status space_check_kind_of(const char *path, struct arena *arena, struct error *err)
{
    struct problem *p = TAKE(arena, 1, struct problem);
    struct error unread = {OK, ""};
    return problem_load(p, path, arena, &unread) == OK ? space_check_kind(p, false, err) : OK;
}
