// Reads the document that plumbline check writes.
#include "data/results/checked.h"

static enum status check_claims(const struct checked *c, struct error *err)
{
    const struct json *root = &c->document.root;
    bool claims = c->infeasible || c->iteration_ns >= 0 || c->bound_ns >= 0;
    if (!c->accepted && claims)
        return json_refuse(root, err,
                           "iteration_ns, bound_ns and infeasible are of what was accepted");
    if (c->accepted == (c->reason != NULL))
        return json_refuse(root, err,
                           "reason: expected one where accepted is false, and only there");
    if (!c->accepted) return OK;
    if (c->infeasible == (c->bound_ns >= 0))
        return json_refuse(root, err, "expected either infeasible or bound_ns");
    if (c->infeasible && c->iteration_ns >= 0)
        return json_refuse(root, err,
                           "iteration_ns: there is a plan, and infeasible says there is none");
    if (c->iteration_ns >= 0 && c->bound_ns > c->iteration_ns)
        return json_refuse(root, err, "bound_ns is above iteration_ns");
    return OK;
}

enum status checked_load(struct checked *c, const char *path, struct arena *arena,
                         struct error *err)
{
    *c = (struct checked){.iteration_ns = -1, .bound_ns = -1};
    const struct json_field fields[] = {
        FIELD_TEXT("name", REQUIRED, &c->name),
        FIELD_BOOL("accepted", REQUIRED, &c->accepted),
        FIELD_TEXT("reason", OPTIONAL, &c->reason),
        FIELD_BOOL("infeasible", OPTIONAL, &c->infeasible),
        FIELD_COUNT("iteration_ns", OPTIONAL, &c->iteration_ns, 0, JSON_COUNT_MAX),
        FIELD_COUNT("bound_ns", OPTIONAL, &c->bound_ns, 0, JSON_COUNT_MAX),
        FIELD_COUNT("certificate_bytes", REQUIRED, &c->certificate_bytes, 1, JSON_COUNT_MAX),
        FIELD_COUNT("boxes", REQUIRED, &c->boxes, 0, JSON_COUNT_MAX),
        FIELD_COUNT("splits", REQUIRED, &c->splits, 0, JSON_COUNT_MAX),
        FIELD_COUNT("leaves", REQUIRED, &c->leaves, 0, JSON_COUNT_MAX),
        FIELD_COUNT("rounds", REQUIRED, &c->rounds, 0, JSON_COUNT_MAX),
        FIELD_COUNT("choices", REQUIRED, &c->choices, 0, JSON_COUNT_MAX),
        FIELD_COUNT("paths", REQUIRED, &c->paths, 0, JSON_COUNT_MAX),
        FIELD_COUNT("operations", REQUIRED, &c->operations, 0, JSON_COUNT_MAX),
        FIELD_COUNT("work", REQUIRED, &c->work, 0, JSON_COUNT_MAX),
        FIELD_COUNT("microseconds", REQUIRED, &c->microseconds, 0, JSON_COUNT_MAX),
    };
    TRY(document_read(&c->document, path, "plumbline.checked", arena, err));
    TRY(document_fields(&c->document, fields, ARRAY_LENGTH(fields), arena, err));
    if (!source_hash(&c->document, "certificate") || !source_hash(&c->document, "priced"))
        return json_refuse(&c->document.root, err,
                           "made_from: expected a certificate and a priced document");
    return check_claims(c, err);
}
