// The certificate of a space: fates, dominated layouts, proofs.

#include "data/base/grow.h"
#include "data/base/least.h"
#include "solve/certificate/internal.h"
#include "solve/layouts/work.h"
#include "solve/checker/prices/prices.h"

// A layout that none of its own arguments closes.
struct open_layout {
    int64_t number, other; // other: the layout that dominates it, -1: none
    struct check_layout layout;
    struct json proof; // from a part's certificate
};

struct space_maker {
    const struct certificate_space_request *request;
    struct certificate_space_result *result;
    struct check_space space;
    struct check_pricer pricers[2];
    struct joined_parts joined;
    int64_t joined_next;
    unsigned char *fates; // joined ones first, finally all
    int64_t count;
    struct open_layout *open;
    int64_t open_count, open_capacity;
    int64_t bound_ns;             // on values (solve/checker/space/worth.c); -1: there is no plan
    int64_t chosen, iteration_ns; // the plan, or its load, at the checker's prices; -1: none
    int64_t weight;               // of the plan's layout
    struct error why;             // of the checker's functions
    uint64_t work;
    struct arena *arena, *scratch;
};

// ---- fates

// Called with ascending numbers.
static const struct joined_layout *find_joined(struct space_maker *m, int64_t number)
{
    const struct joined_parts *j = &m->joined;
    while (m->joined_next < j->layout_count && j->layouts[m->joined_next].number < number)
        m->joined_next++;
    bool there = m->joined_next < j->layout_count && j->layouts[m->joined_next].number == number;
    return there ? &j->layouts[m->joined_next] : NULL;
}

static bool keep_open(void *argument, int64_t number, const struct check_layout *layout)
{
    struct space_maker *m = argument;
    if (number >= m->count) return false;
    if (m->fates[number] != FATE_IS_PROVEN && m->fates[number] != FATE_IS_DOMINATED) return true;
    struct open_layout *o = GROWN(m->arena, m->open, m->open_count, m->open_capacity, 64);
    *o = (struct open_layout){.number = number, .other = -1, .layout = *layout};
    const struct joined_layout *j = number == m->chosen ? NULL : find_joined(m, number);
    if (j) o->other = j->other, o->proof = j->proof;
    return true;
}

// All tables of a layout that is not refused.
static bool price(struct space_maker *m, int which, const struct check_layout *layout,
                  struct check_problem **p)
{
    const struct check_pricer *pricer = &m->pricers[which];
    if (!pricer->bytes(pricer->context, layout, p)) return false;
    (*p)->reader = (struct reader){"prices", &m->why};
    return pricer->times(pricer->context) && check_problem_bytes(*p) == OK &&
           check_problem_times(*p) == OK;
}

// What must be equal in two comparable layouts.
static bool may_compare(const struct check_layout *a, const struct check_layout *b)
{
    static const enum check_key same[] = {KEY_PIPELINE, KEY_SCHEDULE, KEY_TURNS,
                                          KEY_LOCAL,    KEY_SLICES,   KEY_RECOMPUTE};
    for (size_t i = 0; i < ARRAY_LENGTH(same); i++)
        if (a->value[same[i]] != b->value[same[i]]) return false;
    return (int64_t)a->value[KEY_DATA] * a->value[KEY_MICRO_BATCH] ==
           (int64_t)b->value[KEY_DATA] * b->value[KEY_MICRO_BATCH];
}

// Whether closing a, at whatever bound, might leave plans of b that are no slower.
static bool is_worth_less(const struct space_maker *m, const struct check_layout *a,
                          const struct check_layout *b)
{
    return check_weight(&m->space, a) > check_weight(&m->space, b) ||
           check_cap_ns(&m->space, a) < check_cap_ns(&m->space, b);
}

// Finds the first remaining layout that is no worse; the chosen one is tried first.
static void compare_open(struct space_maker *m)
{
    for (int64_t i = 0; i < m->open_count; i++) {
        struct open_layout *o = &m->open[i];
        struct check_problem *a, *b;
        if (o->number == m->chosen || o->other >= 0 || json_is_present(&o->proof) ||
            !price(m, 0, &o->layout, &b))
            continue;
        for (int64_t k = 0; k < m->open_count && o->other < 0; k++) {
            const struct open_layout *other = &m->open[k];
            if ((k >= i && other->number != m->chosen) || k == i || other->other >= 0 ||
                !may_compare(&other->layout, &o->layout))
                continue;
            if (!is_worth_less(m, &other->layout, &o->layout) && price(m, 1, &other->layout, &a) &&
                check_no_worse(a, b))
                o->other = other->number;
        }
        if (o->other >= 0) m->fates[o->number] = FATE_IS_DOMINATED;
    }
}

// ---- the plan

static bool read_stage(const struct check_problem *p, const struct plan_stage *x, int stage,
                       struct check_choice *c, struct arena *arena)
{
    struct decision tidy = decision_tidy(&x->decision);
    *c = (struct check_choice){.decision = proof_decision(&tidy)};
    c->forward = TAKE(arena, p->slices, int64_t), c->backward = TAKE(arena, p->slices, int64_t);
    if (!check_offers(p, stage, c) || !check_obeys_rules(p, stage, c, c->first)) return false;
    check_evaluate(p, stage, c->first, c);
    return true;
}

// The least time at which the replay ends, near the known one; -1: it ends at none.
static enum status find_time(struct check_replay *r, int64_t known_ns, int64_t *t_ns)
{
    static const int64_t most_ns = (int64_t)1 << 58;
    int64_t low = known_ns, high = known_ns; // low: not within
    bool within;
    for (int64_t step = 1;; step *= 4) {
        TRY(check_takes_at_most(r, high, &within));
        if (within) break;
        if (step > most_ns) return *t_ns = -1, OK;
        low = high, high += step;
    }
    for (int64_t step = 1; low == high || low > high; step *= 4) {
        low = high > step ? high - step : -1;
        if (low >= 0) TRY(check_takes_at_most(r, low, &within));
        else within = false;
        if (within) high = low, low = high;
    }
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        TRY(check_takes_at_most(r, middle, &within));
        *(within ? &high : &low) = middle;
    }
    *t_ns = high;
    return OK;
}

// The plan's time at the checker's prices; -1 where the plan is invalid there.
static enum status time_plan(struct space_maker *m, const struct check_layout *layout)
{
    const struct plan *plan = &m->request->found->solved.plan;
    const struct check_choice *chosen[MOST_STAGES];
    struct check_graph g;
    struct check_replay replay;
    struct check_problem *p;
    m->iteration_ns = -1;
    if (m->space.in_turn) { // the proof has the plan judged
        m->weight = check_weight(&m->space, layout), m->iteration_ns = plan->objective_ns;
        return OK;
    }
    if (check_space_refusal(&m->space, layout) || !price(m, 0, layout, &p) ||
        check_build_graph(&g, p, m->scratch) != OK)
        return OK;
    struct check_choice *own = TAKE(m->scratch, p->stages, struct check_choice);
    for (int s = 0; s < p->stages; s++) {
        if (!read_stage(p, &plan->stages[s], s, &own[s], m->scratch)) return OK;
        chosen[s] = &own[s];
    }
    if (check_misfit(&g, chosen)) return OK;
    check_open_replay(&replay, &g, &m->work, m->scratch);
    check_take_durations(&replay, chosen);
    m->weight = check_weight(&m->space, layout);
    int64_t known_ns = m->space.objective == MINIMISE_LOAD ? plan->objective_ns
                                                           : plan->iteration_ns;
    TRY(find_time(&replay, known_ns, &m->iteration_ns));
    if (m->iteration_ns > check_cap_ns(&m->space, layout)) m->iteration_ns = -1;
    return OK;
}

// ---- proofs

// Whether the checker accepts the proof from the search's records, at its own prices. New proofs
// were audited when they were made.
static enum status is_audited(struct space_maker *m, const struct certificate_request *proof,
                              bool *audited, struct error *err)
{
    struct json_writer w;
    struct certificate_request request = *proof;
    struct certificate_result made;
    struct check_result result = {.iteration_ns = -1, .bound_ns = -1};
    struct reader reader = {"proof", &m->why};
    cJSON *root;
    size_t size;
    json_begin(&w, m->scratch);
    json_open_object(&w, NULL);
    request.into = &w;
    TRY(certificate_make(&made, &request, m->scratch, err));
    json_close_object(&w);
    const char *text = json_end(&w, &size);
    *audited = made.text && check_parse(&reader, text, size, &root, m->scratch) == OK &&
               check_read_claims(&reader, value_get(root, "proof"), &result) == OK &&
               check_one_proof(&reader, value_get(root, "proof"), proof->problem, &result, &m->work,
                               m->scratch) == OK;
    return OK;
}

static void copy_proof(const struct space_maker *m, struct json_writer *w,
                       const struct open_layout *o)
{
    assert(m->bound_ns <= m->joined.bound_ns);
    json_open_flat_object(w, NULL);
    json_put_count(w, "layout", o->number);
    json_put_value(w, "proof", &o->proof);
    json_close_object(w);
}

// What a proof of this layout leaves of the bound on values.
static int64_t value_of(const struct space_maker *m, const struct check_layout *layout,
                        int64_t goal_ns, int64_t proven_ns)
{
    if (proven_ns < 0 || proven_ns >= goal_ns) return m->bound_ns;
    return m->bound_ns < 0 ? 0 : smaller(m->bound_ns, proven_ns * check_weight(&m->space, layout));
}

static enum status put_on_nodes(struct space_maker *m, struct json_writer *w,
                                const struct open_layout *o, int64_t *bound_ns, struct error *err)
{
    struct check_problem *p;
    struct nodes_proof made;
    int64_t goal_ns = check_goal_ns(&m->space, &o->layout, m->bound_ns);
    *bound_ns = 0;
    if (!price(m, 0, &o->layout, &p)) return OK;
    const struct layout_on_nodes of = {m->request->problem, m->request->settings, &o->layout, p,
                                       goal_ns};
    TRY(certificate_prove_on_nodes(&made, &of, m->scratch, err));
    if (!made.key) return OK;
    json_open_object(w, NULL);
    json_put_count(w, "layout", o->number);
    json_put_value(w, made.key, &made.value);
    json_close_object(w);
    *bound_ns = made.bound_ns == INT64_MAX ? m->bound_ns
                                           : value_of(m, &o->layout, goal_ns, made.bound_ns);
    return OK;
}

// Puts the proof of a layout; *bound_ns is what it leaves of the bound, 0: nothing.
static enum status put_proof(struct space_maker *m, struct json_writer *w,
                             const struct open_layout *o, int64_t *bound_ns, struct error *err)
{
    struct layout layout = space_layout_back(&o->layout, &m->request->problem->job.layout);
    struct priced *priced = TAKE(m->scratch, 1, struct priced);
    struct solve_evidence evidence;
    struct check_problem *p;
    int64_t goal_ns = check_goal_ns(&m->space, &o->layout, m->bound_ns);
    struct plan plan = {.outcome = goal_ns < 0 ? OUTCOME_INFEASIBLE : OUTCOME_OPEN,
                        .bound_ns = goal_ns};
    struct certificate_result made;
    bool audited;
    if (json_is_present(&o->proof)) return copy_proof(m, w, o), *bound_ns = m->bound_ns, OK;
    *bound_ns = 0;
    if (!price(m, 0, &o->layout, &p)) return OK;
    TRY(layout_price(priced, m->request->problem, &layout, m->scratch, err));
    if (!m->space.in_turn && !priced->width_per_group)
        TRY(space_search_boxes(&evidence, goal_ns, priced, m->scratch, err));
    if (o->number == m->chosen) {
        plan = m->request->found->solved.plan;
        plan.outcome = OUTCOME_OPEN, plan.bound_ns = smaller(goal_ns, m->iteration_ns);
        plan.objective = priced->objective;
        plan.iteration_ns = plan.objective_ns = m->iteration_ns;
    }
    struct certificate_request request = {
        .priced = priced, .plan = &plan, .evidence = &evidence, .problem = p};
    TRY(is_audited(m, &request, &audited, err));
    if (m->space.in_turn && !audited) return OK;
    request.anew = !audited;
    request.into = w;
    json_open_object(w, NULL);
    json_put_count(w, "layout", o->number);
    TRY(certificate_make(&made, &request, m->scratch, err));
    json_close_object(w);
    if (made.text) *bound_ns = value_of(m, &o->layout, goal_ns, made.bound_ns);
    m->result->boxes += made.boxes;
    return OK;
}

// false: nothing can be proven of some layout.
static enum status put_proofs(struct space_maker *m, struct json_writer *w, bool *proven,
                              struct error *err)
{
    int64_t least_ns = m->bound_ns;
    *proven = true;
    json_open_array(w, "proofs");
    for (int64_t i = 0; i < m->open_count && *proven; i++) {
        struct arena_mark mark = arena_set_mark(m->scratch);
        int64_t bound_ns;
        if (m->open[i].other >= 0) continue;
        TRY((m->space.of_nodes ? put_on_nodes : put_proof)(m, w, &m->open[i], &bound_ns, err));
        arena_reset(m->scratch, mark);
        *proven = bound_ns != 0;
        if (bound_ns < least_ns) least_ns = bound_ns;
    }
    json_close_array(w);
    m->bound_ns = least_ns;
    return OK;
}

// ---- the file

static void put_fates(struct space_maker *m, struct json_writer *w)
{
    char *text = TAKE(m->arena, 12 * m->count + 1, char);
    size_t used = 0;
    int64_t *const counts[FATES] = {&m->result->refused,   &m->result->memory, &m->result->bounded,
                                    &m->result->dominated, &m->result->proven, &m->result->grouped};
    for (int64_t i = 0, run = 0; i < m->count; i++) {
        bool elsewhere = m->fates[i] == FATE_IS_ELSEWHERE;
        if (!elsewhere) ++*counts[m->fates[i]];
        run++;
        if (i + 1 < m->count && m->fates[i + 1] == m->fates[i]) continue;
        used += (size_t)snprintf(
            text + used, 16, "%s%c%lld", used ? " " : "",
            elsewhere ? FATE_ELSEWHERE_LETTER : check_fate_letters[m->fates[i]], (long long)run);
        run = 0;
    }
    json_put_text(w, "fates", text);
}

static void put_dominated(struct space_maker *m, struct json_writer *w)
{
    json_open_flat_array(w, "dominated");
    for (int64_t i = 0; i < m->open_count; i++) {
        if (m->open[i].other < 0) continue;
        json_put_count(w, NULL, m->open[i].number);
        json_put_count(w, NULL, m->open[i].other);
    }
    json_close_array(w);
}

static enum status write(struct space_maker *m, struct error *err)
{
    struct json_writer w;
    bool proven;
    const struct space_part *part = &m->request->part;
    document_begin(&w, part->count ? CERTIFICATE_PART : "plumbline.certificate",
                   m->request->sources, m->request->source_count, m->arena);
    json_open_object(&w, "space");
    if (part->count)
        json_put_text(&w, "part", arena_print(m->arena, "%d/%d", part->index + 1, part->count));
    json_put_count(&w, "layouts", m->count);
    put_fates(m, &w);
    put_dominated(m, &w);
    TRY(put_proofs(m, &w, &proven, err));
    if (m->bound_ns < 0) json_put_bool(&w, "infeasible", true);
    else json_put_count(&w, "bound_ns", m->bound_ns);
    bool of_time = m->space.objective == MINIMISE_TIME;
    if (!of_time) json_put_text(&w, "objective", check_objective_names[m->space.objective]);
    if (m->chosen >= 0)
        json_put_count(&w, of_time ? "iteration_ns" : "objective_ns", m->weight * m->iteration_ns);
    if (m->chosen >= 0) json_put_count(&w, "chosen", m->chosen);
    json_close_object(&w);
    json_close_object(&w);
    if (!proven) return OK;
    m->result->text = json_end(&w, &m->result->size);
    m->result->bound_ns = m->bound_ns;
    return OK;
}

// A part has no plan of its own: the certificate of the whole has the best of all.
static void aim_at_part(struct space_maker *m)
{
    const struct layouts_result *found = m->request->found;
    int64_t bound_ns = found->searched_bound_ns, best_ns = found->layouts.iteration_ns;
    if (best_ns && best_ns < bound_ns) bound_ns = best_ns;
    m->bound_ns = bound_ns == INT64_MAX ? -1 : bound_ns;
}

// The target: the search's bound, at most the plan's time at the checker's prices.
static enum status aim(struct space_maker *m, struct error *err)
{
    const struct plan *plan = &m->request->found->solved.plan;
    struct check_layout layout = space_layout(&plan->layout);
    m->chosen = m->iteration_ns = -1;
    // A load's bound in the plan is for its own layout.
    m->bound_ns = plan->outcome == OUTCOME_INFEASIBLE   ? -1
                  : m->space.objective == MINIMISE_LOAD ? m->request->found->layouts.bound_ns
                                                        : plan->bound_ns;
    if (m->request->part.count) return aim_at_part(m), OK;
    if (!plan->stage_count || m->space.of_nodes) return OK; // plans on nodes are for the judge
    if (time_plan(m, &layout) != OK)
        return fail(err, SOLVER, "the checker refuses the plan: %s", m->why.text);
    if (m->iteration_ns < 0) return OK;
    m->chosen = m->request->found->layouts.chosen;
    m->bound_ns = smaller(m->bound_ns, m->weight * m->iteration_ns);
    return OK;
}

// Arguments of parts are kept, except for the plan's layout. The whole is proven up to the least
// of their bounds.
static enum status join(struct space_maker *m, struct error *err)
{
    const struct certificate_space_request *r = m->request;
    TRY(joined_read(&m->joined, r->parts, r->part_count, m->count, m->bound_ns >= 0, r->sources,
                    r->source_count, m->arena, err));
    m->fates = m->joined.fates;
    m->result->joined = m->count;
    for (int64_t i = 0; i < m->count; i++) {
        m->result->joined -= m->fates[i] == FATE_IS_UNKNOWN;
        if (!space_part_has(&r->part, i, m->count)) m->fates[i] = FATE_IS_ELSEWHERE;
    }
    if (m->chosen >= 0) m->fates[m->chosen] = FATE_IS_UNKNOWN;
    if (m->bound_ns > m->joined.bound_ns) m->bound_ns = m->joined.bound_ns;
    return OK;
}

enum status certificate_space_make(struct certificate_space_result *result,
                                   const struct certificate_space_request *request,
                                   struct arena *arena, struct error *err)
{
    struct arena *scratch = arena_open_within(arena);
    struct space_maker *m = TAKE(arena, 1, struct space_maker);
    *result = (struct certificate_space_result){.layouts = request->found->layouts.count};
    *m = (struct space_maker){.request = request,
                              .result = result,
                              .work = UINT64_MAX / 2,
                              .count = result->layouts,
                              .arena = arena,
                              .scratch = scratch};
    space_read(&m->space, request->problem, arena);
    TRY(space_pricers_open(m->pricers, request->problem, arena, err));
    TRY(aim(m, err));
    TRY(join(m, err));
    const struct space_fates_request wanted = {
        &m->space, &m->pricers[0], m->count, m->bound_ns, m->chosen, request->settings->threads};
    TRY(space_find_fates(m->fates, &wanted, arena, err));
    int64_t count = check_space_walk(&m->space, keep_open, m);
    if (count != m->count)
        return fail(err, SOLVER, "the checker finds %lld layouts, the search %lld",
                    (long long)count, (long long)m->count);
    if (!m->space.of_nodes && !m->space.width_count) compare_open(m);
    return write(m, err);
}
