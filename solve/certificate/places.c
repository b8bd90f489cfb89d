// The certificate of a bound on placements. The records of the planner's search are tried first;
// where the checker's prices are lower than the planner's, the same search is repeated on those.

#include "solve/certificate/internal.h"
#include "solve/checker/boxes/chain.h"
#include "solve/checker/prices/prices.h"

enum { BOXES_ANEW = 4000 };

// One way to bound, and its result.
struct attempt {
    struct check_relaxation how;
    struct check_problem p;
    struct certificate_places_result made;
};

// ---- the checker's problem as a priced document

static int64_t *copy_parts(const int64_t *of, int count, struct arena *arena)
{
    static const int part_of[PART_COUNT] = {[PART_BLOCKING] = PART_BLOCKS,
                                            [PART_LINK] = PART_LINKS,
                                            [PART_DELAY] = PART_DELAYS,
                                            [PART_OVERHEAD] = PART_WORKS};
    int64_t *to = TAKE(arena, count, int64_t);
    for (int i = 0; i < count; i++) to[i] = of[i - i % PARTS + part_of[i % PARTS]];
    return to;
}

static bool has_seats(const struct check_problem *p) { return p->runs[0].seats != NULL; }

static void put_groups(struct priced *to, const struct check_problem *p, struct arena *arena)
{
    const struct priced_group *seats = to->groups; // with widths: the same
    to->group_count = p->group_count;
    to->groups = TAKE(arena, p->group_count, struct priced_group);
    for (int g = 0; g < p->group_count; g++) {
        const struct check_group *from = &p->groups[g];
        struct priced_group *own = &to->groups[g];
        if (has_seats(p)) *own = seats[g];
        own->name = from->name, own->gpu = from->gpu, own->slots = from->slots;
        own->takes = from->takes;
        own->memory_limit_bytes = from->memory_limit, own->constant_bytes = from->constant_bytes;
        own->excluded = from->excluded ? "it can hold no rank" : NULL;
        own->sync_constant_ns = TAKE_COPY(arena, from->sync_constant, p->gradient_count);
    }
}

static void put_runs(struct priced *to, const struct check_problem *p, struct arena *arena)
{
    int groups = p->group_count, passes = p->slices * groups;
    to->runs = TAKE_COPY(arena, to->runs, to->run_count);
    for (int i = 0; i < to->run_count; i++) {
        const struct check_run *from = &p->runs[i];
        struct priced_run *r = &to->runs[i];
        r->cut = from->cut;
        r->forward_ns = TAKE_COPY(arena, from->forward, passes),
        r->backward_ns = TAKE_COPY(arena, from->backward, passes);
        for (int mode = 0; mode < RECOMPUTE_COUNT; mode++)
            if (from->again[mode]) r->again_ns[mode] = TAKE_COPY(arena, from->again[mode], passes);
        r->weight_ns = TAKE_COPY(arena, from->weight, groups),
        r->optimizer_ns = TAKE_COPY(arena, from->optimizer[0], groups);
        if (r->tiered) r->tiered = TAKE_COPY(arena, r->tiered, r->tiered_count);
        for (int o = 0; o < r->tiered_count; o++)
            r->tiered[o].optimizer_ns = TAKE_COPY(arena, from->optimizer[o], groups);
        r->sync_ns = TAKE(arena, p->gradient_count, int64_t *);
        for (int o = 0; o < p->gradient_count; o++)
            r->sync_ns[o] = TAKE_COPY(arena, from->sync[o], groups);
    }
}

static void put_cuts(struct priced *to, const struct check_problem *p, struct arena *arena)
{
    int prices = p->slices * p->group_count * p->group_count * PARTS;
    const struct priced_cut *seats = to->cuts;
    to->cut_count = p->cut_count;
    to->cuts = TAKE(arena, p->cut_count, struct priced_cut);
    for (int c = 0; c < p->cut_count; c++) {
        const struct check_cut *from = &p->cuts[c];
        to->cuts[c] = (struct priced_cut){
            from->message_bytes, TAKE_COPY(arena, from->feedback, p->boundary_count),
            copy_parts(from->forward, prices, arena), TAKE(arena, p->boundary_count, int64_t *),
            has_seats(p) ? seats[c].seat_bytes : NULL};
        for (int o = 0; o < p->boundary_count; o++)
            to->cuts[c].backward_ns[o] = copy_parts(from->backward[o], prices, arena);
    }
}

// What the checker requires of a stage's group or layers beyond the job's rules.
static struct rule rule_of(const struct check_rule *from)
{
    struct rule rule = rule_empty;
    rule.stage = from->stage;
    rule.group_count = from->groups != 0;
    rule.layers_min = from->layers_min;
    rule.layers_max = from->layers_max;
    return rule;
}

// Groups are identified by the problem's names. A rule about none of them gets a name that none
// has.
static void put_rules(struct priced *to, const struct check_problem *p, struct arena *arena)
{
    int own = to->rule_count;
    to->rules = arena_grow(arena, to->rules, (size_t)own, (size_t)p->rule_count, sizeof *to->rules);
    to->rule_count = p->rule_count;
    for (int i = 0; i < to->rule_count; i++) {
        struct rule *r = &to->rules[i];
        if (i >= own) *r = rule_of(&p->rules[i]);
        if (!r->group_count) continue;
        r->groups = TAKE(arena, p->group_count + 1, const char *);
        r->group_count = 0;
        for (int g = 0; g < p->group_count; g++)
            if (p->rules[i].groups >> g & 1) r->groups[r->group_count++] = p->groups[g].name;
        if (!r->group_count) r->groups[r->group_count++] = "";
    }
}

void certificate_places_priced(struct priced *to, const struct priced *base,
                               const struct check_problem *p, struct arena *arena)
{
    *to = *base;
    to->places = NULL;
    to->micro_batches = p->micro_batches;
    put_groups(to, p, arena);
    put_runs(to, p, arena);
    put_cuts(to, p, arena);
    put_rules(to, p, arena);
    if (p->embedding)
        to->embedding_sync_ns = TAKE_COPY(arena, p->embedding, p->group_count * p->group_count);
}

// ---- one proof

static const char *const way_names[] = {"groups", "nodes", "reaches"};

static enum status write(struct attempt *a, const struct places_maker *m,
                         const struct certificate_request *proof, struct error *err)
{
    struct json_writer w;
    struct certificate_request request = *proof;
    struct certificate_result made;
    document_begin(&w, "plumbline.certificate", m->request->sources, m->request->source_count,
                   m->arena);
    json_open_object(&w, "places");
    json_put_text(&w, "by", way_names[a->how.by]);
    if (a->how.shared >= 0)
        json_put_text(&w, "shared", m->places.problem->groups[a->how.shared].name);
    if (a->how.chained) json_put_bool(&w, "chained", true);
    request.into = &w;
    TRY(certificate_make(&made, &request, m->arena, err));
    json_close_object(&w);
    json_close_object(&w);
    if (!made.text) return OK;
    a->made = (struct certificate_places_result){.bound_ns = made.bound_ns,
                                                 .how = a->how.chained ? "groups, chained"
                                                                       : way_names[a->how.by],
                                                 .boxes = made.boxes,
                                                 .weights = made.weights};
    a->made.text = json_end(&w, &a->made.size);
    return OK;
}

// By the checker, on the current problem.
static bool is_audited(struct places_maker *m, const struct attempt *a)
{
    struct arena_mark mark = arena_set_mark(m->arena);
    struct check_result result = {.iteration_ns = -1, .bound_ns = -1};
    const struct reader r = {"certificate", &m->why};
    cJSON *root;
    m->why = (struct error){OK, ""};
    bool audited = a->made.text &&
                   check_parse(&r, a->made.text, a->made.size, &root, m->arena) == OK;
    const cJSON *proof = audited ? value_get(value_get(root, "places"), "proof") : NULL;
    audited = audited && check_read_claims(&r, proof, &result) == OK &&
              check_one_proof(&r, proof, &a->p, &result, &m->work, m->arena) == OK;
    arena_reset(m->arena, mark);
    return audited;
}

// The records of a search as they are, otherwise a new proof. The text is NULL if none is audited.
static enum status prove(struct attempt *a, struct places_maker *m, const struct priced *priced,
                         const struct solve_evidence *evidence, int64_t bound_ns, bool anew,
                         struct error *err)
{
    struct plan plan = {.outcome = bound_ns < 0 ? OUTCOME_INFEASIBLE : OUTCOME_OPEN,
                        .bound_ns = bound_ns};
    struct certificate_request request = {
        .priced = priced, .plan = &plan, .evidence = evidence, .problem = &a->p, .anew = anew};
    a->made.text = NULL;
    TRY(write(a, m, &request, err));
    if (!is_audited(m, a)) a->made.text = NULL;
    return OK;
}

enum status places_search_anew(struct solve_result *r, int64_t *bound_ns, struct places_maker *m,
                               const struct priced *priced, struct error *err)
{
    const struct solve_settings *given = m->request->settings;
    bool none;
    struct solve_settings settings;
    solve_defaults(&settings);
    settings.time_limit_s = given->time_limit_s;
    settings.threads = given->threads;
    settings.seed = given->seed;
    settings.memory_limit_bytes = given->memory_limit_bytes;
    settings.boxes_max = BOXES_ANEW;
    TRY(certificate_search(r, &none, settings, priced, m->bound_ns, m->arena, err));
    *bound_ns = none ? -1 : m->bound_ns < 0 ? 0 : r->plan.bound_ns;
    if (m->bound_ns > 0 && *bound_ns > m->bound_ns) *bound_ns = m->bound_ns;
    if (*bound_ns < -1) *bound_ns = 0;
    return OK;
}

static enum status search(struct attempt *a, struct places_maker *m, const struct priced *priced,
                          struct error *err)
{
    struct solve_result r;
    int64_t bound_ns;
    TRY(places_search_anew(&r, &bound_ns, m, priced, err));
    if (!bound_ns) return OK;
    if (bound_ns < 0) bound_ns = m->bound_ns;
    TRY(prove(a, m, priced, r.evidence, bound_ns, false, err));
    return a->made.text ? OK : prove(a, m, priced, r.evidence, bound_ns, true, err);
}

// The search by boxes only, which supports chains.
static enum status search_chained(struct attempt *a, struct places_maker *m,
                                  const struct priced *priced, struct error *err)
{
    struct solve_evidence *evidence = TAKE(m->arena, 1, struct solve_evidence);
    TRY(certificate_search_chained(evidence, &a->p, priced, m->bound_ns, m->arena, err));
    return evidence->proof_bound_ns > 0
               ? prove(a, m, priced, evidence, evidence->proof_bound_ns, false, err)
               : OK;
}

static bool is_enough(const struct places_maker *m, const struct attempt *a)
{
    return a->made.text && (m->bound_ns < 0 || a->made.bound_ns >= m->bound_ns);
}

static enum status try_way(struct attempt *a, struct places_maker *m, struct check_relaxation how,
                           struct error *err)
{
    const struct solve_result *solved = m->request->solved;
    const struct reader r = {"prices", &m->why};
    struct priced *priced = TAKE(m->arena, 1, struct priced);
    *a = (struct attempt){.how = how};
    m->why = (struct error){OK, ""};
    if (check_relax_places(&a->p, &m->places, &how, &r, &m->work, m->arena) != OK)
        return fail(err, SOLVER, "the checker refuses the problem: %s", m->why.text);
    certificate_places_priced(priced, m->request->priced, &a->p, m->arena);
    if (how.chained) return search_chained(a, m, priced, err);
    if (solved->evidence && (int)solved->evidence_of == (int)how.by)
        TRY(prove(a, m, priced, solved->evidence, m->bound_ns, false, err));
    if (is_enough(m, a)) return OK;
    const struct certificate_places_result kept = a->made;
    TRY(search(a, m, priced, err));
    if (kept.text && (!a->made.text || a->made.bound_ns < kept.bound_ns)) a->made = kept;
    return OK;
}

// ---- which way

int places_group_to_share(const struct places_maker *m)
{
    const struct check_problem *p = m->places.problem;
    int best = -1;
    double least = 0;
    for (int g = 0; g < p->group_count && !m->places.together; g++) {
        double load = 0;
        if (p->groups[g].excluded) continue;
        for (int run = 0; run < p->run_count; run++)
            load += p->runs[run].count *
                    ((double)p->runs[run].forward[g] + (double)p->runs[run].backward[g]);
        if (best < 0 || load < least) best = g, least = load;
    }
    return best;
}

// The available ways, that of the evidence first, then in the search's order.
enum { WAYS_MOST = 3 };
static int list_ways(const struct places_maker *m, struct check_relaxation ways[WAYS_MOST])
{
    const struct check_relaxation by_groups = {RELAX_BY_GROUPS, places_group_to_share(m), false},
                                  by_nodes = {RELAX_BY_NODES, -1, false};
    int first = (int)m->request->solved->evidence_of, count = 0;
    if (first == EVIDENCE_NODES) ways[count++] = by_nodes;
    ways[count++] = by_groups;
    if (m->bound_ns > 0 && check_chain_suits(m->places.problem, m->places.node_count)) {
        ways[count] = by_groups;
        ways[count++].chained = true;
    }
    if (first != EVIDENCE_NODES && m->places.node_count <= MOST_GROUPS) ways[count++] = by_nodes;
    return count;
}

// What no single problem proves, part by part.
static enum status put_tree(struct certificate_places_result *to, struct places_maker *m,
                            struct error *err)
{
    bool stands = m->places.named != NULL;
    const struct certificate_places_request *request = m->request;
    struct json_writer w;
    struct parts_maker made = {.places = &m->places,
                               .base = request->priced,
                               .w = &w,
                               .bound_ns = m->bound_ns,
                               .threads = request->settings->threads,
                               .arena = m->arena,
                               .scratch = arena_open_within(m->arena),
                               .work = UINT64_MAX / 2};
    document_begin(&w, "plumbline.certificate", request->sources, request->source_count, m->arena);
    json_open_object(&w, "places");
    json_put_text(&w, "by", stands ? "stands" : "tree");
    if (m->bound_ns < 0) json_put_bool(&w, "infeasible", true);
    else json_put_count(&w, "bound_ns", m->bound_ns);
    json_open_array(&w, "parts");
    TRY((stands ? certificate_put_stands : certificate_put_tree)(&made, err));
    json_close_array(&w);
    json_close_object(&w);
    json_close_object(&w);
    if (!made.proven) return OK;
    *to = (struct certificate_places_result){.bound_ns = m->bound_ns,
                                             .how = stands ? "stages that stand"
                                                           : "a tree over placements",
                                             .boxes = made.boxes,
                                             .weights = made.weights};
    to->text = json_end(&w, &to->size);
    return OK;
}

// Of Pipette's objective: the bound, which the checker proves by itself.
static enum status put_rows(struct certificate_places_result *to, struct places_maker *m,
                            struct error *err)
{
    const struct certificate_places_request *request = m->request;
    struct check_result result = {.iteration_ns = -1, .bound_ns = -1};
    const struct reader r = {"certificate", &m->why};
    struct json_writer w;
    cJSON *root;
    document_begin(&w, "plumbline.certificate", request->sources, request->source_count, m->arena);
    json_open_flat_object(&w, "places");
    json_put_text(&w, "by", "rows");
    json_put_text(&w, "objective", check_objective_names[MINIMISE_PIPETTE]);
    if (m->bound_ns < 0) json_put_bool(&w, "infeasible", true);
    else json_put_count(&w, "bound_ns", m->bound_ns);
    json_close_object(&w);
    json_close_object(&w);
    *to = (struct certificate_places_result){.bound_ns = m->bound_ns, .how = "rows"};
    to->text = json_end(&w, &to->size);
    if (check_parse(&r, to->text, to->size, &root, m->arena) == OK &&
        check_audit_rows(&result, &r, value_get(root, "places"), &m->places, &m->work, m->arena) ==
            OK)
        return OK;
    return fail(err, SOLVER, "the checker refuses the bound: %s", m->why.text);
}

// Takes the way that proves more.
enum status certificate_places_make(struct certificate_places_result *result,
                                    const struct certificate_places_request *request,
                                    struct arena *arena, struct error *err)
{
    struct places_maker *m = TAKE(arena, 1, struct places_maker);
    const struct plan *plan = &request->solved->plan;
    struct check_relaxation ways[WAYS_MOST];
    *result = (struct certificate_places_result){.bound_ns = 0};
    *m = (struct places_maker){.request = request, .work = UINT64_MAX / 2, .arena = arena};
    m->bound_ns = plan->outcome == OUTCOME_INFEASIBLE ? -1 : plan->bound_ns;
    if (!m->bound_ns && request->problem->job.objective != OBJECTIVE_PIPETTE) return OK;
    TRY(space_places(&m->places, request->problem, arena, err));
    if (m->places.rows) return put_rows(result, m, err);
    if (m->places.named) return put_tree(result, m, err);
    if (request->solved->evidence_of == EVIDENCE_REACHES) {
        TRY(places_put_reaches(result, m, err));
        if (result->text && (m->bound_ns < 0 || result->bound_ns >= m->bound_ns)) return OK;
    }
    int count = list_ways(m, ways);
    for (int i = 0; i < count; i++) {
        struct attempt a;
        TRY(try_way(&a, m, ways[i], err));
        if (a.made.text && (!result->text || a.made.bound_ns > result->bound_ns)) *result = a.made;
        if (is_enough(m, &a)) return OK;
    }
    bool few = m->places.node_count <= MOST_GROUPS && !m->places.together;
    return few ? put_tree(result, m, err) : OK;
}
