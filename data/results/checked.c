// Reads the document that plumbline check writes.
#include "data/results/checked.h"

#include "data/inputs/job.h"
#include "data/text/members.h"

static enum status check_claims(const struct checked *c, struct error *err)
{
    const struct json *root = &c->document.root;
    int64_t value_ns = checked_value_ns(c);
    bool claims = c->infeasible || c->objective || value_ns >= 0 || c->bound_ns >= 0;
    if ((c->objective ? c->iteration_ns : c->objective_ns) >= 0)
        return json_refuse(root, err,
                           "objective_ns: expected beside an objective other than iteration_time, "
                           "in place of iteration_ns");
    if (!c->accepted && claims)
        return json_refuse(root, err,
                           "iteration_ns, objective, objective_ns, bound_ns and infeasible are "
                           "stated only of what was accepted");
    if (c->accepted == (c->reason != NULL))
        return json_refuse(root, err,
                           "reason: expected one where accepted is false, and only there");
    if (!c->accepted) return OK;
    if (c->infeasible == (c->bound_ns >= 0))
        return json_refuse(root, err, "expected either infeasible or bound_ns");
    const char *key = c->objective ? "objective_ns" : "iteration_ns";
    if (c->infeasible && value_ns >= 0)
        return json_refuse(root, err, "%s: infeasible is stated, but there is a plan", key);
    if (value_ns >= 0 && c->bound_ns > value_ns)
        return json_refuse(root, err, "bound_ns is above %s", key);
    return OK;
}

#define COUNT(member, need, low)                                                                   \
    KEY_COUNT(checked, member, need, ALWAYS_WRITTEN, low, JSON_COUNT_MAX)
static const struct member checked_rows[] = {
    KEY_TEXT(checked, name, REQUIRED),
    KEY_BOOL(checked, accepted, REQUIRED, ALWAYS_WRITTEN),
    KEY_TEXT(checked, reason, OPTIONAL),
    KEY_BOOL(checked, infeasible, OPTIONAL, IF_SET),
    KEY_NAME(checked, objective, OPTIONAL, IF_SET, objective_names),
    COUNT(iteration_ns, OPTIONAL, 0),
    COUNT(objective_ns, OPTIONAL, 0),
    COUNT(bound_ns, OPTIONAL, 0),
    COUNT(certificate_bytes, REQUIRED, 1),
    COUNT(boxes, REQUIRED, 0),
    COUNT(splits, REQUIRED, 0),
    COUNT(leaves, REQUIRED, 0),
    COUNT(rounds, REQUIRED, 0),
    COUNT(choices, REQUIRED, 0),
    COUNT(paths, REQUIRED, 0),
    COUNT(operations, REQUIRED, 0),
    COUNT(work, REQUIRED, 0),
    COUNT(microseconds, REQUIRED, 0),
};
MEMBERS(checked, struct checked, NULL, false, NULL);

enum status checked_load(struct checked *c, const char *path, struct arena *arena,
                         struct error *err)
{
    *c = (struct checked){.iteration_ns = -1, .objective_ns = -1, .bound_ns = -1};
    TRY(document_load(&c->document, path, "plumbline.checked", &checked_members, c, c, arena, err));
    if (!source_hash(&c->document, "certificate") || !source_hash(&c->document, "priced"))
        return json_refuse(&c->document.root, err,
                           "made_from: expected a certificate and a priced document");
    return check_claims(c, err);
}
