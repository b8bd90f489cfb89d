// Audits a certificate by reaches: for each case, in the order of check_list_cases, one proof, or a
// step that halves it and both halves, each in the same way.
#include "solve/checker/places/internal.h"

struct case_audit {
    const struct check_places *x;
    struct check_relaxation how;
    struct check_result *result; // claims; counts are sums
    uint64_t *work;
    struct arena *scratch;
    const cJSON *next; // of the parts
    int64_t number;
    int stage, below, reach; // of the present part; -1: not stated
    bool begins;             // the next part is of new cases, and may be of several
    int left;                // cases from those of the present part on
    const cJSON *proof;
    struct check_half halves[HALVES_MOST];
};

enum { WORK_OF_PART = 1024 }; // at most, besides its proof

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
    check_add_counts(all, &part);
    return OK;
}

// The next part's members.
static enum status read_part(struct case_audit *h, const struct reader *r)
{
    const char *names[MOST_GROUPS + 1];
    const cJSON *v = h->next;
    int cases = 1;
    const struct value_field fields[] = {
        {"?cases", 2, CASES_MOST, .small = &cases},
        {"?shared", .small = &h->how.shared, .names = check_group_names(h->x->problem, names)},
        {"?stage", 0, h->x->problem->stages - 1, .small = &h->stage},
        {"?layers_below", 1, MOST_LAYERS, .small = &h->below},
        {"?reach", 1, (1 << h->x->problem->group_count) - 1, .small = &h->reach},
        {"?proof", .value = &h->proof, .type = cJSON_Object},
        {NULL},
    };
    h->how.shared = h->stage = h->below = h->reach = -1;
    h->proof = NULL;
    h->next = v->next;
    TRY(value_fields(r, v, "part", fields, NULL));
    if (cases > 1 && !h->begins)
        return check_refuse(r, "part.cases", "expected none: the cases are those of the whole");
    if (cases > h->left) return check_refuse(r, "part.cases", "only %d cases are left", h->left);
    if (h->begins) h->how.cases = cases;
    if (cases > 1) h->how.crossing = CROSS_ANY;
    h->begins = false;
    bool halves = h->stage >= 0 && (h->below > 0) != (h->reach > 0) && h->how.shared < 0,
         proves = h->stage < 0 && h->below < 0 && h->reach < 0;
    if (h->proof ? !proves : !halves)
        return check_refuse(r, "part",
                            "expected a proof, or stage with either layers_below or reach");
    return h->proof || h->how.half_count < HALVES_MOST
               ? OK
               : check_refuse(r, "part", "more than %d halves", HALVES_MOST);
}

static enum status audit_part(struct case_audit *h, const struct reader *r);

// All replicas have the stage's number of layers and its rank's reach, so each plan is in one half.
static enum status audit_halves(struct case_audit *h, const struct reader *r)
{
    struct check_half *half = &h->halves[h->how.half_count++];
    const struct check_half by_reach = {.stage = h->stage, .reach = (unsigned)h->reach},
                            by_layers = {.stage = h->stage, .most = h->below - 1};
    *half = h->reach > 0 ? by_reach : by_layers;
    TRY(audit_part(h, r));
    if (half->reach) half->other = true;
    else half->least = half->most + 1, half->most = MOST_LAYERS;
    TRY(audit_part(h, r));
    h->how.half_count--;
    return OK;
}

static enum status audit_part(struct case_audit *h, const struct reader *r)
{
    struct error why = {OK, ""};
    const struct reader own = {r->file, &why};
    struct arena_mark mark = arena_set_mark(h->scratch);
    int64_t number = h->number++;
    if (!h->next)
        return fail(r->err, (enum status)NOT_PROVEN,
                    "places.parts: a part is missing: they do not cover all placements");
    TRY(check_spend(h->x->problem, h->work, WORK_OF_PART));
    enum status status = read_part(h, &own);
    if (status == OK && !h->proof) return audit_halves(h, r);
    if (status == OK) status = audit_case(h, h->proof, &own);
    if (status != OK)
        return fail(r->err, status, "places.parts[%lld]: %s", (long long)number, why.text);
    arena_reset(h->scratch, mark);
    return OK;
}

static enum status audit_cases(struct case_audit *h, const struct reader *r, struct arena *arena)
{
    struct check_cases *cases = TAKE(arena, 1, struct check_cases);
    TRY(check_list_cases(cases, h->x, r, h->work));
    h->how.halves = h->halves;
    for (int i = 0; i < cases->count; i += h->how.cases) {
        h->how.ranks = (const int(*)[MOST_GROUPS])cases->ranks + i;
        h->how.crossing = cases->crossing[i];
        h->begins = true;
        h->left = cases->count - i;
        TRY(audit_part(h, r));
    }
    return h->next ? check_refuse(r, "places.parts", "parts continue after the last one") : OK;
}

enum status check_audit_reaches(struct check_result *result, const struct reader *r,
                                const cJSON *places, const struct check_places *x, uint64_t *work,
                                struct arena *arena)
{
    struct case_audit h = {x, {.by = RELAX_BY_REACHES}, result, work, arena_open_within(arena)};
    const cJSON *parts;
    TRY(check_read_parts(result, &parts, places, r));
    result->problem = x->problem;
    h.next = parts->child;
    return audit_cases(&h, r, arena);
}
