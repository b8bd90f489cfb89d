// Which certificate is about a problem.
#include "data/results/claim.h"
#include "solve/checker/prices/open.h"
#include "solve/checker/prices/prices.h"

enum status space_check_kind(const struct problem *p, enum check_certificate_kind kind,
                             struct error *err)
{
    const char *file = p->document.path ? p->document.path : "problem";
    const char *none = claim_has_no_certificate(p);
    bool places = p->cluster.places.node_count;
    if (none)
        return refuse(err,
                      "%s: no certificate can be made for its job (%s): solve states its bound, "
                      "which is not audited",
                      file, none);
    if (p->job.space.given && kind != CERTIFICATE_OF_SPACE)
        return refuse(
            err, "%s: its job has a space of layouts: expected a certificate of all of them", file);
    if (places && kind != CERTIFICATE_OF_PLACES && !p->job.space.given)
        return refuse(err, "%s: its cluster has places: expected a certificate about placements",
                      file);
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
