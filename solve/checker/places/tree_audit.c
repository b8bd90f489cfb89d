// Audits a tree over placements, part by part in preorder. A part is closed by a proof about one
// replica, or continues with each node that its next place can be on, or is split in two by the
// number of layers of a stage.
#include "solve/checker/places/internal.h"
#include "solve/checker/places/tree.h"

// Upper bounds: for a part, besides its proof; for building the graph.
enum { WORK_OF_PART = 1024, WORK_OF_OPERATION = 100 };

struct tree_audit {
    const struct check_tree *tree;
    const struct reader *r;
    const cJSON *next;           // of the parts
    struct check_result *result; // claims; counts are sums
    struct check_part part;      // the current part
    int64_t number;
    char where[CHECK_PATH_MAX];
    uint64_t *work;
    struct arena *scratch;
};

static enum status audit_proof(struct tree_audit *h, const cJSON *proof, int replica)
{
    struct arena_mark mark = arena_set_mark(h->scratch);
    struct check_result own = {.iteration_ns = -1, .bound_ns = -1};
    struct error why = {OK, ""};
    const struct reader r = {h->r->file, &why};
    struct check_problem p;
    enum status status = check_read_claims(&r, proof, &own);
    if (status == OK && own.iteration_ns >= 0)
        status = check_refuse(&r, "proof", "expected only a bound");
    if (status == OK && h->result->infeasible && !own.infeasible)
        status = fail(&why, (enum status)NOT_PROVEN, "proves a bound, not that there is no plan");
    if (status == OK && !own.infeasible && own.bound_ns < h->result->bound_ns)
        status = fail(&why, (enum status)NOT_PROVEN, "proves %lld ns, less than bound_ns",
                      (long long)own.bound_ns);
    if (status == OK)
        status = check_part_problem(&p, h->tree, &h->part, replica, &r, h->work, h->scratch);
    if (status == OK) status = check_one_proof(&r, proof, &p, &own, h->work, h->scratch);
    if (status == OK)
        status = check_spend(&p, h->work, WORK_OF_OPERATION * (uint64_t)own.operations);
    check_add_counts(h->result, &own);
    arena_reset(h->scratch, mark);
    return status == OK ? OK : fail(h->r->err, status, "%s: %s", h->where, why.text);
}

static enum status audit_part(struct tree_audit *h);

static enum status audit_children(struct tree_audit *h)
{
    int children[MOST_GROUPS], count = check_list_children(h->tree, &h->part, children);
    if (h->part.depth == check_tree_places(h->tree))
        return check_refuse(h->r, h->where, "all places have a node");
    for (int i = 0; i < count; i++) {
        h->part.node[h->part.depth++] = children[i];
        TRY(audit_part(h));
        h->part.depth--;
    }
    return OK;
}

static enum status audit_halves(struct tree_audit *h, int stage, int below)
{
    if (h->part.range_count == TREE_RANGES_MOST)
        return check_refuse(h->r, h->where, "more than %d ranges", TREE_RANGES_MOST);
    struct check_layer_range *range = &h->part.ranges[h->part.range_count++];
    *range = (struct check_layer_range){stage, 0, below - 1};
    TRY(audit_part(h));
    *range = (struct check_layer_range){stage, below, MOST_LAYERS};
    TRY(audit_part(h));
    h->part.range_count--;
    return OK;
}

static enum status audit_part(struct tree_audit *h)
{
    const struct check_problem *p = check_tree_problem(h->tree);
    const cJSON *v = h->next, *proof = NULL;
    int replica = -1, stage = -1, below = -1, replicas = check_tree_places(h->tree) / p->ranks;
    bool branches = false;
    const struct value_field fields[] = {
        {"?branch", .flag = &branches},
        {"?stage", 0, p->stages - 1, .small = &stage},
        {"?layers_below", 1, MOST_LAYERS, .small = &below},
        {"?replica", 0, replicas - 1, .small = &replica},
        {"?proof", .value = &proof},
        {NULL},
    };
    if (!v)
        return fail(h->r->err, (enum status)NOT_PROVEN,
                    "places.parts: a part is missing: they do not cover all placements");
    snprintf(h->where, sizeof h->where, "places.parts[%lld]", (long long)h->number++);
    h->next = v->next;
    TRY(check_spend(p, h->work, WORK_OF_PART));
    TRY(value_fields(h->r, v, h->where, fields, NULL));
    bool splits = stage >= 0 && below >= 0, proves = replica >= 0 && proof;
    if (branches + splits + proves != 1 || cJSON_GetArraySize(v) != (branches ? 1 : 2))
        return check_refuse(h->r, h->where,
                            "expected branch, or stage and layers_below, or replica and proof");
    return branches ? audit_children(h)
           : splits ? audit_halves(h, stage, below)
                    : audit_proof(h, proof, replica);
}

enum status check_audit_tree(struct check_result *result, const struct reader *r,
                             const cJSON *places, const struct check_places *x, uint64_t *work,
                             struct arena *arena)
{
    struct arena *scratch = arena_open_within(arena);
    struct tree_audit *h = TAKE(arena, 1, struct tree_audit);
    struct check_tree *tree;
    const cJSON *parts;
    TRY(check_read_parts(result, &parts, places, r));
    TRY(check_open_tree(&tree, x, r, work, arena));
    *h = (struct tree_audit){.tree = tree,
                             .r = r,
                             .next = parts->child,
                             .result = result,
                             .work = work,
                             .scratch = scratch};
    TRY(audit_part(h));
    result->problem = check_tree_problem(tree);
    result->parts = h->number;
    return h->next ? check_refuse(r, "places.parts", "parts continue after the last one") : OK;
}
