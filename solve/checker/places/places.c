// Audits the certificate of a plan on nodes: see places.h. The file says by which problem of
// one replica, and holds one proof about that.
#include "solve/checker/places/places.h"

#include <stdio.h>
#include <string.h>

#include "solve/checker/places/internal.h"

static const char *const ways[] = {"groups", "nodes", "tree", NULL};

static enum status read_relaxation(const struct reader *r, const struct value *v,
                                   const struct check_problem *p, struct check_relaxation *how)
{
    const char *names[MOST_GROUPS + 1] = {NULL};
    TRY(value_bool(r, v, "places", "chained", &how->chained));
    if (how->chained && how->by_nodes)
        return check_refuse(r, "places.chained", "expected with by groups alone");
    if (!value_get(v, "shared")) return OK;
    if (how->by_nodes) return check_refuse(r, "places.shared", "expected with by groups alone");
    for (int g = 0; g < p->group_count; g++) names[g] = p->groups[g].name;
    return value_name(r, value_get(v, "shared"), "places.shared", names, &how->shared);
}

// By one problem of one replica.
static enum status audit_relaxed(struct check_result *result, const struct reader *r,
                                 const struct value *places, const struct check_places *x,
                                 bool by_nodes, uint64_t *work, struct arena *arena)
{
    struct check_problem *p = TAKE(arena, 1, struct check_problem);
    struct check_relaxation how = {by_nodes, -1, false};
    TRY(read_relaxation(r, places, x->problem, &how));
    TRY(check_read_claims(r, value_get(places, "proof"), result));
    if (result->iteration_ns >= 0)
        return check_refuse(
            r, "places.proof",
            "expected a bound alone: plans on nodes are audited by plumbline verify");
    TRY(check_relax_places(p, x, &how, r, work, arena));
    result->problem = p;
    return check_one_proof(r, value_get(places, "proof"), p, result, work, arena);
}

static enum status audit(struct check_result *result, const struct reader *r,
                         const struct check_text *certificate, const struct check_input *sources,
                         int source_count, const struct check_places *x, uint64_t *work,
                         struct arena *arena)
{
    static const char *const keys[] = {"by", "?shared", "?chained", "proof", NULL};
    static const char *const tree_keys[] = {"by", "?bound_ns", "?infeasible", "parts", NULL};
    struct value *root;
    int by;
    TRY(check_read_envelope(r, certificate, &root, arena));
    const struct value *places = value_get(root, "places");
    if (!places) return check_refuse(r, "", "is not about placements: expected places");
    TRY(check_same_sources(r, value_get(root, "made_from"), NULL, sources, source_count));
    TRY(value_expect(r, places, "places", VALUE_OBJECT));
    if (!value_get(places, "by")) TRY(value_keys(r, places, "places", keys));
    TRY(value_name(r, value_get(places, "by"), "places.by", ways, &by));
    TRY(value_keys(r, places, "places", by == 2 ? tree_keys : keys));
    if (by == 2) TRY(check_audit_tree(result, r, places, x, work, arena));
    else TRY(audit_relaxed(result, r, places, x, by == 1, work, arena));
    result->doubtful = *x->doubtful_prices;
    if (*x->doubtful_sizes)
        return fail(r->err, (enum status)NOT_PROVEN,
                    "a size lies so near to where a price changes that the judge cannot tell on "
                    "which side");
    return OK;
}

enum status check_places_certificate(struct check_result *result,
                                     const struct check_text *certificate,
                                     const struct check_input *sources, int source_count,
                                     const struct check_places *places, uint64_t work_limit,
                                     struct arena *arena, struct error *err)
{
    struct error why = {OK, ""};
    const struct reader r = {certificate->file, &why};
    uint64_t left = work_limit;
    *result = (struct check_result){.iteration_ns = -1, .bound_ns = -1};
    enum status status =
        audit(result, &r, certificate, sources, source_count, places, &left, arena);
    result->work = work_limit - left;
    result->accepted = status == OK;
    if (status == OK) return OK;
    if (status != (enum status)NOT_PROVEN) return fail(err, status, "%s", why.text);
    snprintf(result->reason, sizeof result->reason, "%.*s", CHECK_REASON_MAX - 1, why.text);
    return OK;
}
