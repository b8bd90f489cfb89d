// Audits a certificate about stages with widths of their own on named nodes, part by part in
// preorder: a part has a proof of its own, or the next stage stands in every way that it can.
#include "solve/checker/places/internal.h"
#include "solve/checker/places/named.h"

// Upper bounds: for a part, besides its proof; for building the graph.
enum { WORK_OF_PART = 1024, WORK_OF_OPERATION = 100 };

struct named_audit {
    const struct check_named_tree *tree;
    const struct reader *r;
    const cJSON *next;           // of the parts
    struct check_result *result; // claims; counts are sums
    struct check_named_part part;
    uint64_t *work;
    struct arena *arena, *scratch; // ways, and what a proof needs
};

static enum status audit_proof(struct named_audit *h, const cJSON *proof, const struct reader *r)
{
    struct check_result own = {.iteration_ns = -1, .bound_ns = -1}, *all = h->result;
    struct check_problem p;
    TRY(check_read_claims(r, proof, &own));
    if (own.iteration_ns >= 0) return check_refuse(r, "proof", "expected only a bound");
    if (!own.infeasible && (all->infeasible || own.bound_ns < all->bound_ns))
        return fail(r->err, (enum status)NOT_PROVEN, "proves less than is claimed of all parts");
    TRY(check_named_part_problem(&p, h->tree, &h->part, r, h->work, h->scratch));
    TRY(check_one_proof(r, proof, &p, &own, h->work, h->scratch));
    check_add_counts(all, &own);
    return check_spend(&p, h->work, WORK_OF_OPERATION * (uint64_t)own.operations);
}

static enum status audit_part(struct named_audit *h);

static enum status audit_ways(struct named_audit *h, const struct reader *r)
{
    struct arena_mark mark = arena_set_mark(h->arena);
    struct check_stand *ways;
    int count;
    if (h->part.stands == check_named_problem(h->tree)->stages)
        return check_refuse(r, "branch", "all stages stand");
    TRY(check_named_ways(&ways, &count, h->tree, &h->part, r, h->work, h->arena));
    for (int i = 0; i < count; i++) {
        h->part.at[h->part.stands++] = ways[i];
        TRY(audit_part(h));
        h->part.stands--;
    }
    arena_reset(h->arena, mark);
    return OK;
}

static enum status audit_part(struct named_audit *h)
{
    const cJSON *v = h->next, *proof = NULL;
    bool branches = false;
    struct error why = {OK, ""};
    const struct reader own = {h->r->file, &why};
    char where[CHECK_PATH_MAX];
    const struct value_field fields[] = {
        {"?branch", .flag = &branches},
        {"?proof", .value = &proof, .type = cJSON_Object},
        {NULL},
    };
    if (!v)
        return fail(h->r->err, (enum status)NOT_PROVEN,
                    "places.parts: a part is missing: they do not cover all placements");
    snprintf(where, sizeof where, "places.parts[%lld]", (long long)h->result->parts++);
    h->next = v->next;
    TRY(check_spend(check_named_problem(h->tree), h->work, WORK_OF_PART));
    TRY(value_fields(h->r, v, where, fields, NULL));
    if (branches == (proof != NULL) || cJSON_GetArraySize(v) != 1)
        return check_refuse(h->r, where, "expected branch or proof");
    if (branches) return audit_ways(h, h->r);
    struct arena_mark mark = arena_set_mark(h->scratch);
    enum status status = audit_proof(h, proof, &own);
    arena_reset(h->scratch, mark);
    return status == OK ? OK : fail(h->r->err, status, "%s: %s", where, why.text);
}

enum status check_audit_named(struct check_result *result, const struct reader *r,
                              const cJSON *places, const struct check_places *x, uint64_t *work,
                              struct arena *arena)
{
    struct named_audit *h = TAKE(arena, 1, struct named_audit);
    struct check_named_tree *tree;
    const cJSON *parts;
    TRY(check_read_parts(result, &parts, places, r));
    TRY(check_open_named(&tree, x, r, work, arena));
    *h = (struct named_audit){.tree = tree,
                              .r = r,
                              .next = parts->child,
                              .result = result,
                              .work = work,
                              .arena = arena,
                              .scratch = arena_open_within(arena)};
    result->parts = 0;
    TRY(audit_part(h));
    result->problem = check_named_problem(tree);
    return h->next ? check_refuse(r, "places.parts", "parts continue after the last one") : OK;
}
