// What the search by boxes proves of one layout of a space; and the proof of a layout on named
// nodes (docs/PROOFS.md 15.4): of its problem as if no link took time, or else of its placements.
#include "formulate/graph/objective.h"
#include "formulate/price/price.h"
#include "solve/boxes/search.h"
#include "solve/certificate/internal.h"
#include "solve/checker/prices/prices.h"

static bool never(void *argument) { return (void)argument, false; }

enum status certificate_search_boxes(struct solve_evidence *e, const struct priced *priced,
                                     int64_t target_ns, int boxes_max,
                                     const struct joint_transfers *joint, struct arena *arena,
                                     struct error *err)
{
    struct schedule *schedule = TAKE(arena, 1, struct schedule);
    struct choices *choices = TAKE(arena, 1, struct choices);
    const struct box_search_settings settings = {
        .target_ns = target_ns, .boxes_max = boxes_max, .should_stop = never};
    struct box_search_result r;
    const char *why;
    *e = (struct solve_evidence){.schedule = schedule};
    TRY(schedule_build_priced(schedule, priced, arena, err));
    TRY(choices_build(choices, priced, schedule, arena, err));
    TRY(objective_graph(&e->graph, priced, schedule, arena, err));
    graph_keep_paths(e->graph, arena);
    choices->joint = joint;
    for (int s = 0; s < priced->stage_count; s++)
        if (!choices->stages[s].count) return OK;
    if (choices_hopeless_stage(choices, &why) >= 0) return OK;
    box_search(&r, choices, e->graph, &settings, arena);
    e->proof = r.proof;
    e->proof_bound_ns = r.bound_ns;
    return OK;
}

enum status space_search_boxes(struct solve_evidence *e, int64_t goal_ns,
                               const struct priced *priced, struct arena *arena, struct error *err)
{
    enum { BOXES_MOST = 400 };
    return certificate_search_boxes(e, priced, goal_ns < 0 ? INT64_MAX : goal_ns, BOXES_MOST, NULL,
                                    arena, err);
}

struct nodes_maker {
    const struct layout_on_nodes *of;
    struct problem one;
    struct nodes_proof *best;
    struct arena *arena;
};

// A proof that there is no plan holds for every bound.
static void take(struct nodes_maker *m, const char *key, const struct json *value, int64_t bound_ns)
{
    int64_t proven_ns = bound_ns < 0 ? INT64_MAX : bound_ns;
    if (m->best->key && proven_ns <= m->best->bound_ns) return;
    *m->best = (struct nodes_proof){key, *value, proven_ns};
}

static bool is_enough(const struct nodes_maker *m)
{
    int64_t goal_ns = m->of->goal_ns;
    return m->best->key && m->best->bound_ns >= (goal_ns < 0 ? INT64_MAX : goal_ns);
}

static struct plan aim_of(const struct nodes_maker *m)
{
    return (struct plan){.outcome = m->of->goal_ns < 0 ? OUTCOME_INFEASIBLE : OUTCOME_OPEN,
                         .bound_ns = m->of->goal_ns};
}

static enum status get_object(struct json *to, const char *key, const char *text, size_t size,
                              struct arena *arena, struct error *err)
{
    struct json root;
    const struct json_field fields[] = {FIELD_OBJECT(key, REQUIRED, to)};
    TRY(json_parse(&root, "certificate", text, size, arena, err));
    return json_fields(&root, fields, 1, JSON_ENVELOPE, arena, err);
}

// Whether the checker accepts the text, which is about the problem of free links.
static bool is_audited(const struct nodes_maker *m, const char *text, size_t size)
{
    struct error why = {OK, ""};
    const struct reader r = {"proof", &why};
    struct check_result result = {.iteration_ns = -1, .bound_ns = -1};
    cJSON *root;
    uint64_t work = CHECK_WORK_DEFAULT;
    if (check_parse(&r, text, size, &root, m->arena) != OK) return false;
    const cJSON *proof = value_get(root, "proof");
    return check_read_claims(&r, proof, &result) == OK &&
           check_one_proof(&r, proof, m->of->free, &result, &work, m->arena) == OK;
}

static enum status prove_free(struct nodes_maker *m, struct error *err)
{
    struct priced base, *priced = TAKE(m->arena, 1, struct priced);
    struct solve_evidence evidence;
    struct plan plan = aim_of(m);
    struct certificate_result made;
    struct json proof = {0};
    TRY(price_terms_of_free_links(&base, &m->one, m->arena, err));
    certificate_places_priced(priced, &base, m->of->free, m->arena);
    TRY(space_search_boxes(&evidence, m->of->goal_ns, priced, m->arena, err));
    struct certificate_request request = {
        .priced = priced, .plan = &plan, .evidence = &evidence, .problem = m->of->free};
    for (int anew = 0; anew < 2 && !is_enough(m); anew++) {
        struct json_writer w;
        size_t size;
        json_begin(&w, m->arena);
        json_open_object(&w, NULL);
        request.into = &w, request.anew = anew;
        TRY(certificate_make(&made, &request, m->arena, err));
        json_close_object(&w);
        const char *text = json_end(&w, &size);
        if (!made.text || !is_audited(m, text, size)) continue;
        TRY(get_object(&proof, "proof", text, size, m->arena, err));
        take(m, "proof", &proof, made.bound_ns);
    }
    return OK;
}

static enum status prove_placements(struct nodes_maker *m, struct error *err)
{
    struct priced *priced = TAKE(m->arena, 1, struct priced);
    const struct solve_result aim = {.plan = aim_of(m)};
    struct certificate_places_result made;
    struct json places = {0};
    if (!m->of->goal_ns) return OK;
    TRY(price_problem(priced, &m->one, m->arena, err));
    const struct certificate_places_request request = {
        .problem = &m->one, .priced = priced, .solved = &aim, .settings = m->of->settings};
    TRY(certificate_places_make(&made, &request, m->arena, err));
    if (!made.text) return OK;
    TRY(get_object(&places, "places", made.text, made.size, m->arena, err));
    take(m, "places", &places, made.bound_ns);
    return OK;
}

enum status certificate_prove_on_nodes(struct nodes_proof *proof, const struct layout_on_nodes *of,
                                       struct arena *arena, struct error *err)
{
    const struct layout layout = space_layout_back(of->layout, &of->problem->job.layout);
    struct nodes_maker *m = TAKE(arena, 1, struct nodes_maker);
    *proof = (struct nodes_proof){.key = NULL};
    *m = (struct nodes_maker){of, problem_with_layout(of->problem, &layout), proof, arena};
    TRY(prove_free(m, err));
    return is_enough(m) ? OK : prove_placements(m, err);
}
