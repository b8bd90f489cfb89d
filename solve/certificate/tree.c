// Part by part in preorder. A part is proven by the replica placed last; otherwise its next place
// is tried on every node. Once all ranks are placed, it is proven by any replica; otherwise the
// layers of a stage are split.
#include "solve/certificate/internal.h"

#include "solve/checker/places/tree.h"

#include <assert.h>

enum { PARTS_MOST = 1500, BOXES_OF_PART = 30, BOXES_OF_WHOLE = 400 };

struct tree_maker {
    struct check_tree *tree;
    const struct priced *base;
    struct json_writer *w;
    struct certificate_tree_result *result;
    struct check_part part;
    int64_t bound_ns;
    int threads, places, replicas;
    struct error why; // of the checker's functions
    uint64_t work;
    struct arena *scratch;
};

// The result of examining one replica under the part.
struct look {
    bool proven, has_plan;
    struct plan plan;
};

static enum status search(struct solve_result *r, const struct tree_maker *m,
                          const struct priced *priced, struct error *err)
{
    int boxes = m->part.depth == m->places ? BOXES_OF_WHOLE : BOXES_OF_PART;
    return certificate_search_part(r, priced, m->bound_ns, boxes, m->threads, m->scratch, err);
}

static enum status put_proof(bool *proven, struct tree_maker *m, const struct check_problem *p,
                             const struct priced *priced, const struct solve_result *r, int replica,
                             struct error *err)
{
    const struct part_proof part = {p, priced, r, m->bound_ns, replica};
    return certificate_put_part(proven, m->w, &part, m->result, m->scratch, err);
}

static enum status look_at(struct look *look, struct tree_maker *m, int replica, struct error *err)
{
    struct check_problem p;
    struct priced *priced = TAKE(m->scratch, 1, struct priced);
    struct solve_result r;
    *look = (struct look){.proven = false};
    m->why = (struct error){OK, ""};
    const struct reader reader = {"prices", &m->why};
    if (check_part_problem(&p, m->tree, &m->part, replica, &reader, &m->work, m->scratch) != OK)
        return fail(err, SOLVER, "%s", m->why.text);
    certificate_places_priced(priced, m->base, &p, m->scratch);
    TRY(search(&r, m, priced, err));
    bool none = r.plan.outcome == OUTCOME_INFEASIBLE && !r.cut_off;
    look->plan = r.plan;
    look->has_plan = r.plan.stage_count > 0;
    if (!none && (m->bound_ns < 0 || r.plan.bound_ns < m->bound_ns)) return OK;
    return put_proof(&look->proven, m, &p, priced, &r, replica, err);
}

static enum status put_part(struct tree_maker *m, bool *proven, struct error *err);

static enum status put_children(struct tree_maker *m, bool *proven, struct error *err)
{
    int children[MOST_GROUPS], count = check_list_children(m->tree, &m->part, children);
    json_open_object(m->w, NULL);
    json_put_bool(m->w, "branch", true);
    json_close_object(m->w);
    m->result->parts++;
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
    json_open_object(m->w, NULL);
    json_put_count(m->w, "stage", stage);
    json_put_count(m->w, "layers_below", below);
    json_close_object(m->w);
    m->result->parts++;
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
    struct look *looks = TAKE(m->scratch, m->replicas, struct look);
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
    struct arena_mark mark = arena_set_mark(m->scratch);
    struct look look = {.proven = false};
    bool whole = m->part.depth == m->places;
    *proven = m->result->parts < PARTS_MOST;
    if (*proven && !whole)
        TRY(look_at(&look, m, m->part.depth ? (m->part.depth - 1) % m->replicas : 0, err));
    if (*proven && whole) TRY(put_whole(m, proven, err));
    else if (*proven && !look.proven) TRY(put_children(m, proven, err));
    arena_reset(m->scratch, mark);
    return OK;
}

enum status certificate_put_tree(struct certificate_tree_result *result, struct json_writer *w,
                                 const struct check_places *x, const struct priced *base,
                                 int64_t bound_ns, int threads, struct arena *arena,
                                 struct error *err)
{
    struct arena *scratch = arena_open_within(arena);
    struct tree_maker *m = TAKE(arena, 1, struct tree_maker);
    const struct reader r = {"prices", &m->why};
    *result = (struct certificate_tree_result){.proven = false};
    *m = (struct tree_maker){.base = base,
                             .w = w,
                             .result = result,
                             .bound_ns = bound_ns,
                             .threads = threads,
                             .replicas = x->replicas,
                             .work = UINT64_MAX / 2,
                             .scratch = scratch};
    if (check_open_tree(&m->tree, x, &r, &m->work, arena) != OK) return OK;
    m->places = check_tree_places(m->tree);
    json_open_array(w, "parts");
    TRY(put_part(m, &result->proven, err));
    json_close_array(w);
    return OK;
}

// ---- a part of any tree: the search on its own problem, and what it proves

enum status certificate_search_part(struct solve_result *r, const struct priced *priced,
                                    int64_t bound_ns, int boxes, int threads, struct arena *arena,
                                    struct error *err)
{
    struct solve_settings settings;
    solve_defaults(&settings);
    settings.threads = threads;
    settings.progress = 0;
    settings.boxes_max = boxes;
    settings.evidence = true;
    if (bound_ns > 0) settings.cutoff_ns = bound_ns;
    return solve_run(r, priced, &settings, NULL, NULL, arena, err);
}

static bool is_audited(const struct part_proof *part, const char *text, size_t size,
                       struct arena *arena)
{
    struct check_result result = {.iteration_ns = -1, .bound_ns = -1};
    struct error why = {OK, ""};
    const struct reader r = {"proof", &why};
    uint64_t work = UINT64_MAX / 2;
    cJSON *root;
    return check_parse(&r, text, size, &root, arena) == OK &&
           check_read_claims(&r, value_get(root, "proof"), &result) == OK &&
           (result.infeasible || (part->bound_ns >= 0 && result.bound_ns >= part->bound_ns)) &&
           check_one_proof(&r, value_get(root, "proof"), part->problem, &result, &work, arena) ==
               OK;
}

// Into a separate writer, from the records or anew; true: the checker accepts it.
static enum status try_proof(bool *audited, const struct part_proof *part,
                             struct certificate_request *request, struct arena *arena,
                             struct error *err)
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
    *audited = made.text && is_audited(part, text, size, arena);
    return OK;
}

enum status certificate_put_part(bool *proven, struct json_writer *w, const struct part_proof *part,
                                 struct certificate_tree_result *counts, struct arena *arena,
                                 struct error *err)
{
    bool none = part->found->plan.outcome == OUTCOME_INFEASIBLE && !part->found->cut_off;
    struct plan plan = {.outcome = none ? OUTCOME_INFEASIBLE : OUTCOME_OPEN,
                        .bound_ns = none ? 0 : part->bound_ns};
    struct certificate_request request = {.priced = part->priced,
                                          .plan = &plan,
                                          .evidence = part->found->evidence,
                                          .problem = part->problem};
    struct certificate_result made;
    *proven = none || (part->bound_ns >= 0 && part->found->plan.bound_ns >= part->bound_ns);
    if (!*proven) return OK;
    TRY(try_proof(proven, part, &request, arena, err));
    if (!*proven) request.anew = true;
    if (!*proven) TRY(try_proof(proven, part, &request, arena, err));
    if (!*proven) return OK;
    request.into = w;
    json_open_object(w, NULL);
    if (part->replica >= 0) json_put_count(w, "replica", part->replica);
    TRY(certificate_make(&made, &request, arena, err));
    json_close_object(w);
    counts->parts++, counts->boxes += made.boxes, counts->weights += made.weights;
    return OK;
}
