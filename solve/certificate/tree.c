// Part by part in preorder. A part is proven by the replica placed last; otherwise its next place
// is tried on every node. Once all ranks are placed, it is proven by any replica; otherwise the
// layers of a stage are split.
#include "solve/certificate/internal.h"

#include "solve/checker/places/tree.h"

enum { PARTS_MOST = 1500, BOXES_OF_PART = 30, BOXES_OF_WHOLE = 400 };

struct tree_maker {
    struct parts_maker *parts;
    struct check_tree *tree;
    struct check_part part;
    int places, replicas;
};

// The result of examining one replica under the part.
struct look {
    bool proven, has_plan;
    struct plan plan;
};

static enum status look_at(struct look *look, struct tree_maker *m, int replica, struct error *err)
{
    struct parts_maker *x = m->parts;
    struct check_problem p;
    struct priced *priced = TAKE(x->scratch, 1, struct priced);
    struct solve_result r;
    int boxes = m->part.depth == m->places ? BOXES_OF_WHOLE : BOXES_OF_PART;
    *look = (struct look){.proven = false};
    x->why = (struct error){OK, ""};
    const struct reader reader = {"prices", &x->why};
    if (check_part_problem(&p, m->tree, &m->part, replica, &reader, &x->work, x->scratch) != OK)
        return fail(err, SOLVER, "%s", x->why.text);
    certificate_places_priced(priced, x->base, &p, x->scratch);
    TRY(certificate_prove_part(&look->proven, &r, x, &p, priced, boxes, replica, err));
    look->plan = r.plan;
    look->has_plan = r.plan.stage_count > 0;
    return OK;
}

static enum status put_part(struct tree_maker *m, bool *proven, struct error *err);

static enum status put_children(struct tree_maker *m, bool *proven, struct error *err)
{
    int children[MOST_GROUPS], count = check_list_children(m->tree, &m->part, children);
    certificate_put_branch(m->parts);
    assert(m->part.depth < m->places);
    for (int i = 0; i < count && *proven; i++) {
        m->part.node[m->part.depth++] = children[i];
        TRY(put_part(m, proven, err));
        m->part.depth--;
    }
    return OK;
}

// Splits in two: a stage's layers below a number, and from it on.
static enum status put_halves(struct tree_maker *m, int stage, int below, bool *proven,
                              struct error *err)
{
    struct json_writer *w = m->parts->w;
    json_open_object(w, NULL);
    json_put_count(w, "stage", stage);
    json_put_count(w, "layers_below", below);
    json_close_object(w);
    m->parts->count++;
    assert(m->part.range_count < TREE_RANGES_MOST && below > 0);
    struct check_layer_range *range = &m->part.ranges[m->part.range_count++];
    for (int half = 0; half < 2 && *proven; half++) {
        *range = half ? (struct check_layer_range){stage, below, MOST_LAYERS}
                      : (struct check_layer_range){stage, 0, below - 1};
        TRY(put_part(m, proven, err));
    }
    m->part.range_count--;
    return OK;
}

// A stage at which the best decisions of two replicas hold different numbers of layers. false:
// there is none.
static bool find_split(const struct tree_maker *m, const struct look *looks, int *stage, int *below)
{
    int most = 0;
    for (int a = 0; a < m->replicas; a++)
        for (int b = 0; b < m->replicas; b++)
            for (int s = 0; looks[a].has_plan && looks[b].has_plan && s < looks[a].plan.stage_count;
                 s++) {
                int apart = looks[b].plan.stages[s].layer_count -
                            looks[a].plan.stages[s].layer_count;
                if (apart <= most) continue;
                most = apart;
                *stage = s;
                *below = looks[b].plan.stages[s].layer_count - apart / 2;
            }
    return most > 0;
}

static enum status put_whole(struct tree_maker *m, bool *proven, struct error *err)
{
    struct look *looks = TAKE(m->parts->scratch, m->replicas, struct look);
    int stage, below;
    for (int replica = 0; replica < m->replicas; replica++) {
        TRY(look_at(&looks[replica], m, replica, err));
        if (looks[replica].proven) return OK;
    }
    *proven = m->part.range_count < TREE_RANGES_MOST && find_split(m, looks, &stage, &below);
    return *proven ? put_halves(m, stage, below, proven, err) : OK;
}

static enum status put_part(struct tree_maker *m, bool *proven, struct error *err)
{
    struct arena_mark mark = arena_set_mark(m->parts->scratch);
    struct look look = {.proven = false};
    bool whole = m->part.depth == m->places;
    *proven = m->parts->count < PARTS_MOST;
    if (*proven && !whole)
        TRY(look_at(&look, m, m->part.depth ? (m->part.depth - 1) % m->replicas : 0, err));
    if (*proven && whole) TRY(put_whole(m, proven, err));
    else if (*proven && !look.proven) TRY(put_children(m, proven, err));
    arena_reset(m->parts->scratch, mark);
    return OK;
}

enum status certificate_put_tree(struct parts_maker *x, struct error *err)
{
    struct tree_maker *m = TAKE(x->arena, 1, struct tree_maker);
    const struct reader r = {"prices", &x->why};
    *m = (struct tree_maker){.parts = x, .replicas = x->places->replicas};
    if (check_open_tree(&m->tree, x->places, &r, &x->work, x->arena) != OK) return OK;
    m->places = check_tree_places(m->tree);
    return put_part(m, &x->proven, err);
}

// ---- a part of any tree: the search on its own problem, and what it proves

void certificate_put_branch(struct parts_maker *m)
{
    json_open_object(m->w, NULL);
    json_put_bool(m->w, "branch", true);
    json_close_object(m->w);
    m->count++;
}

static bool is_audited(const struct certificate_request *request, int64_t bound_ns,
                       const char *text, size_t size, struct arena *arena)
{
    struct check_result result = {.iteration_ns = -1, .bound_ns = -1};
    struct error why = {OK, ""};
    const struct reader r = {"proof", &why};
    uint64_t work = UINT64_MAX / 2;
    cJSON *root;
    return check_parse(&r, text, size, &root, arena) == OK &&
           check_read_claims(&r, value_get(root, "proof"), &result) == OK &&
           (result.infeasible || (bound_ns >= 0 && result.bound_ns >= bound_ns)) &&
           check_one_proof(&r, value_get(root, "proof"), request->problem, &result, &work, arena) ==
               OK;
}

// Into a separate writer, from the records or anew; true: the checker accepts it.
static enum status try_proof(bool *audited, int64_t bound_ns, struct certificate_request *request,
                             struct arena *arena, struct error *err)
{
    struct certificate_result made;
    struct json_writer w;
    size_t size;
    request->into = &w;
    json_begin(&w, arena);
    json_open_object(&w, NULL);
    TRY(certificate_make(&made, request, arena, err));
    json_close_object(&w);
    const char *text = json_end(&w, &size);
    *audited = made.text && is_audited(request, bound_ns, text, size, arena);
    return OK;
}

enum status certificate_prove_part(bool *proven, struct solve_result *found, struct parts_maker *m,
                                   const struct check_problem *problem, const struct priced *priced,
                                   int boxes, int replica, struct error *err)
{
    bool none;
    struct solve_settings settings;
    solve_defaults(&settings);
    settings.threads = m->threads;
    settings.boxes_max = boxes;
    TRY(certificate_search(found, &none, settings, priced, m->bound_ns, m->scratch, err));
    struct plan plan = {.outcome = none ? OUTCOME_INFEASIBLE : OUTCOME_OPEN,
                        .bound_ns = none ? 0 : m->bound_ns};
    struct certificate_request request = {
        .priced = priced, .plan = &plan, .evidence = found->evidence, .problem = problem};
    struct certificate_result made;
    *proven = none || (m->bound_ns >= 0 && found->plan.bound_ns >= m->bound_ns);
    if (!*proven) return OK;
    TRY(try_proof(proven, m->bound_ns, &request, m->scratch, err));
    if (!*proven) request.anew = true;
    if (!*proven) TRY(try_proof(proven, m->bound_ns, &request, m->scratch, err));
    if (!*proven) return OK;
    request.into = m->w;
    json_open_object(m->w, NULL);
    if (replica >= 0) json_put_count(m->w, "replica", replica);
    TRY(certificate_make(&made, &request, m->scratch, err));
    json_close_object(m->w);
    m->count++, m->boxes += made.boxes, m->weights += made.weights;
    return OK;
}
