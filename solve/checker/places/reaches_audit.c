// Audits a certificate by reaches: one proof for each case, in the order of check_list_cases.
#include "solve/checker/places/internal.h"

struct case_audit {
    const struct check_places *x;
    struct check_relaxation how;
    struct check_result *result; // claims; counts are sums
    uint64_t *work;
    struct arena *scratch;
};

// One case: a proof about the plans with so many ranks of each reach.
static enum status audit_case(const struct case_audit *h, const cJSON *proof,
                              const struct reader *r)
{
    struct check_result part = {.iteration_ns = -1, .bound_ns = -1}, *all = h->result;
    struct check_problem p;
    TRY(check_read_claims(r, proof, &part));
    if (part.iteration_ns >= 0) return check_refuse(r, "proof", "expected only a bound");
    TRY(check_relax_places(&p, h->x, &h->how, r, h->work, h->scratch));
    TRY(check_one_proof(r, proof, &p, &part, h->work, h->scratch));
    if (!part.infeasible && (all->infeasible || part.bound_ns < all->bound_ns))
        return fail(r->err, (enum status)NOT_PROVEN, "proves less than is claimed of all parts");
    all->parts++;
    all->boxes += part.boxes, all->splits += part.splits, all->leaves += part.leaves;
    all->rounds += part.rounds, all->choices += part.choices, all->paths += part.paths;
    all->operations = part.operations;
    return OK;
}

static enum status audit_cases(struct case_audit *h, const cJSON *parts, const struct reader *r,
                               struct arena *arena)
{
    struct check_cases *cases = TAKE(arena, 1, struct check_cases);
    const char *names[MOST_GROUPS + 1];
    const cJSON *v = parts->child, *proof;
    const struct value_field fields[] = {
        {"?shared", .small = &h->how.shared, .names = check_group_names(h->x->problem, names)},
        {"proof", .value = &proof, .type = cJSON_Object},
        {NULL},
    };
    TRY(check_list_cases(cases, h->x, r, h->work));
    for (int i = 0; i < cases->count; i++, v = v->next) {
        struct error why = {OK, ""};
        const struct reader own = {r->file, &why};
        struct arena_mark mark = arena_set_mark(h->scratch);
        if (!v)
            return fail(r->err, (enum status)NOT_PROVEN,
                        "places.parts: a part is missing: they do not cover all placements");
        h->how.ranks = cases->ranks[i];
        h->how.crossing = cases->crossing[i];
        h->how.shared = -1;
        enum status status = value_fields(&own, v, "part", fields, NULL);
        if (status == OK) status = audit_case(h, proof, &own);
        if (status != OK) return fail(r->err, status, "places.parts[%d]: %s", i, why.text);
        arena_reset(h->scratch, mark);
    }
    return v ? check_refuse(r, "places.parts", "parts continue after the last one") : OK;
}

enum status check_audit_reaches(struct check_result *result, const struct reader *r,
                                const cJSON *places, const struct check_places *x, uint64_t *work,
                                struct arena *arena)
{
    struct case_audit h = {x, {.by = RELAX_BY_REACHES}, result, work, arena_open_within(arena)};
    const cJSON *parts;
    const struct value_field fields[] = {
        {.key = "by"},
        {"?infeasible", .flag = &result->infeasible},
        {"?bound_ns", 0, MOST_SUM, .large = &result->bound_ns},
        {"parts", .value = &parts, .type = cJSON_Array},
        {NULL},
    };
    TRY(value_fields(r, places, "places", fields, NULL));
    if (result->infeasible == (result->bound_ns >= 0))
        return check_refuse(r, "places", "expected either infeasible or bound_ns");
    result->problem = x->problem;
    return audit_cases(&h, parts, r, arena);
}
