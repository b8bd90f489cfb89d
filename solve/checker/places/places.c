// Audits the certificate of a plan on nodes: see places.h. The file names the problem of one
// replica that it uses, and holds one proof about it.
#include "solve/checker/places/places.h"

#include "solve/checker/places/internal.h"
#include "solve/checker/places/named.h"

// The first are those of enum check_relaxed_by.
enum { BY_REACHES = RELAX_BY_REACHES, BY_TREE, BY_ROWS, BY_STANDS };
static const char *const ways[] = {"groups", "nodes", "reaches", "tree", "rows", "stands", NULL};

// By one problem of one replica.
static enum status audit_relaxed(struct check_result *result, const struct reader *r,
                                 const cJSON *places, const struct check_places *x, uint64_t *work,
                                 struct arena *arena)
{
    const char *names[MOST_SEATS + 1];
    struct check_problem *p = TAKE(arena, 1, struct check_problem);
    struct check_relaxation how = {.shared = -1};
    int by;
    const struct value_field fields[] = {
        {"by", .small = &by, .names = ways},
        {"?shared", .small = &how.shared, .names = check_group_names(x->problem, names)},
        {"?chained", .flag = &how.chained},
        {.key = "proof"},
        {NULL},
    };
    TRY(value_fields(r, places, "places", fields, NULL));
    how.by = (enum check_relaxed_by)by;
    if (how.chained && how.by != RELAX_BY_GROUPS)
        return check_refuse(r, "places.chained", "expected only with by groups");
    if (how.shared >= 0 && how.by == RELAX_BY_NODES)
        return check_refuse(r, "places.shared", "expected only with by groups or reaches");
    TRY(check_read_claims(r, value_get(places, "proof"), result));
    if (result->iteration_ns >= 0)
        return check_refuse(
            r, "places.proof",
            "expected only a bound: plans on nodes are audited by plumbline verify");
    TRY(check_relax_places(p, x, &how, r, work, arena));
    result->problem = p;
    return check_one_proof(r, value_get(places, "proof"), p, result, work, arena);
}

enum status check_audit_places(struct check_result *result, const struct reader *r,
                               const cJSON *places, const struct check_places *x, uint64_t *work,
                               struct arena *arena)
{
    int by;
    TRY(value_expect(r, places, "places", cJSON_Object));
    if (!value_get(places, "by")) return check_refuse(r, "places", "the key \"by\" is missing");
    TRY(value_name(r, value_get(places, "by"), "places.by", ways, &by));
    if (by != BY_ROWS && x->rows)
        return fail(r->err, (enum status)NOT_PROVEN, "is about %s, the job minimises pipette",
                    check_objective_names[MINIMISE_TIME]);
    if ((by == BY_STANDS) != (x->named != NULL))
        return check_refuse(r, "places.by", "expected %s", x->named ? "stands" : "another way");
    if (by == BY_STANDS) TRY(check_audit_named(result, r, places, x, work, arena));
    else if (by == BY_ROWS) TRY(check_audit_rows(result, r, places, x, work, arena));
    else if (by == BY_REACHES) TRY(check_audit_reaches(result, r, places, x, work, arena));
    else if (by == BY_TREE) TRY(check_audit_tree(result, r, places, x, work, arena));
    else TRY(audit_relaxed(result, r, places, x, work, arena));
    if (by == BY_TREE || by == BY_REACHES || by == BY_STANDS)
        result->objective = (int)x->problem->objective;
    result->doubtful = *x->doubtful_prices;
    if (*x->doubtful_sizes)
        return fail(r->err, (enum status)NOT_PROVEN,
                    "a size is so close to a step of a price that the judge cannot tell on which "
                    "side it is");
    return OK;
}

static enum status audit(struct check_result *result, const struct reader *r,
                         const struct check_text *certificate, const struct check_input *sources,
                         int source_count, const struct check_places *x, uint64_t *work,
                         struct arena *arena)
{
    cJSON *root;
    TRY(check_read_envelope(r, certificate, &root, arena));
    const cJSON *places = value_get(root, "places");
    if (!places) return check_refuse(r, "", "is not about placements: expected places");
    TRY(check_same_sources(r, value_get(root, "made_from"), NULL, sources, source_count));
    return check_audit_places(result, r, places, x, work, arena);
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
    return check_conclude(result, status, &why, err);
}
