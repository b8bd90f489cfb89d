// Which problems a certificate can be about; for any other, the bound rests on the planner's word.
#include "solve/checker/prices/open.h"
#include "solve/checker/prices/prices.h"

enum status space_check_kind(const struct problem *p, enum check_certificate_kind kind,
                             struct error *err)
{
    const char *file = p->document.path ? p->document.path : "problem";
    bool places = p->cluster.places.node_count;
    if (p->job.objective != OBJECTIVE_ITERATION_TIME)
        return fail(err, BAD_INPUT,
                    "%s: the job's objective is %s, and certificates are about iteration_time: its "
                    "bound is the planner's word",
                    file, objective_names[p->job.objective]);
    if (p->job.iteration_limit_s > 0 || p->job.price_limit > 0)
        return fail(
            err, BAD_INPUT,
            "%s: the job has a limit of time or price, and certificates are about all plans: "
            "its bound is the planner's word",
            file);
    if (places && p->job.space.given)
        return fail(err, BAD_INPUT,
                    "%s: no certificate is about a space of layouts on a cluster with places: its "
                    "bound is the planner's word",
                    file);
    if (p->job.space.given && kind != CERTIFICATE_OF_SPACE)
        return fail(err, BAD_INPUT,
                    "%s: its job has a space of layouts: expected a certificate of all of them",
                    file);
    if (places && kind != CERTIFICATE_OF_PLACES)
        return fail(err, BAD_INPUT,
                    "%s: its cluster has places: expected a certificate about placements", file);
    return OK;
}

enum status space_check_kind_of(const char *path, struct arena *arena, struct error *err)
{
    struct problem *p = TAKE(arena, 1, struct problem);
    struct error unread = {OK, ""};
    return problem_load(p, path, arena, &unread) == OK
               ? space_check_kind(p, CERTIFICATE_OF_LAYOUT, err)
               : OK;
}

enum status space_read_file(struct check_text *to, const char *path, struct arena *arena,
                            struct error *err)
{
    *to = (struct check_text){.file = path};
    return file_read(path, &to->text, &to->size, arena, err);
}
