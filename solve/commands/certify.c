// plumbline solve --certificate: the proof of the bound, written and then believed more than the
// search: where it proves less than the search states, the plan states what it proves.

#include "data/results/bound.h"
#include "solve/commands/solve_request.h"

enum { SAYS_MAX = 256 };

// What was written, for any kind of certificate.
struct written {
    const char *text; // NULL: nothing could be proven
    size_t size;
    int64_t bound_ns; // what it proves; -1: that there is no plan
    char says[SAYS_MAX];
};

static enum status of_space(struct written *w, const struct certify_request *c, struct arena *arena,
                            struct error *err)
{
    struct source sources[PROBLEM_SOURCES];
    struct certificate_space_request request = {.problem = c->solved->problem,
                                                .found = c->solved->space,
                                                .settings = &c->asked->settings,
                                                .sources = sources,
                                                .part = c->asked->part,
                                                .parts = c->parts,
                                                .part_count = c->asked->join.count};
    struct certificate_space_result r;
    request.source_count =
        problem_sources(c->solved->problem, c->asked->certificate_path, sources, arena);
    TRY(certificate_space_make(&r, &request, arena, err));
    if (c->asked->join.count)
        fprintf(stderr, "certificate: the arguments of %lld layouts come from the parts\n",
                (long long)r.joined);
    *w = (struct written){.text = r.text, .size = r.size, .bound_ns = r.bound_ns};
    snprintf(w->says, sizeof w->says,
             "%lld layouts: %lld by a bound of their groups, %lld refused, %lld without room, %lld "
             "by a bound, %lld dominated, %lld with a proof; %lld boxes",
             (long long)r.layouts, (long long)r.grouped, (long long)r.refused, (long long)r.memory,
             (long long)r.bounded, (long long)r.dominated, (long long)r.proven, (long long)r.boxes);
    return OK;
}

static enum status of_places(struct written *w, const struct certify_request *c,
                             struct arena *arena, struct error *err)
{
    struct source sources[PROBLEM_SOURCES];
    struct certificate_places_request request = {.problem = c->solved->problem,
                                                 .priced = c->solved->priced,
                                                 .solved = c->solved->result,
                                                 .settings = &c->asked->settings,
                                                 .sources = sources};
    struct certificate_places_result r;
    request.source_count =
        problem_sources(c->solved->problem, c->asked->certificate_path, sources, arena);
    TRY(certificate_places_make(&r, &request, arena, err));
    *w = (struct written){.text = r.text, .size = r.size, .bound_ns = r.bound_ns};
    snprintf(w->says, sizeof w->says, "by %s, %lld boxes, %lld weights", r.text ? r.how : "",
             (long long)r.boxes, (long long)r.weights);
    return OK;
}

// For the priced document as written.
static enum status of_layout(struct written *w, const struct certify_request *c,
                             struct arena *arena, struct error *err)
{
    const struct solve_request *asked = c->asked;
    struct certificate_request request = {.priced = c->solved->priced,
                                          .plan = &c->solved->result->plan,
                                          .evidence = c->solved->result->evidence,
                                          .shrink = asked->shrink};
    struct certificate_result r;
    TRY(file_read(asked->priced_path, &request.priced_text.text, &request.priced_text.size, arena,
                  err));
    request.priced_text.file = path_relative(asked->certificate_path, asked->priced_path, arena);
    TRY((request.priced->objective == OBJECTIVE_ENERGY ? certificate_of_energy : certificate_make)(
        &r, &request, arena, err));
    *w = (struct written){.text = r.text, .size = r.size, .bound_ns = r.bound_ns};
    if (request.priced->in_turn) {
        snprintf(w->says, sizeof w->says, "bound and plan alone: the checker searches by itself");
        return OK;
    }
    snprintf(w->says, sizeof w->says,
             "%lld boxes, %lld rounds, %lld weights, %lld paths, %lld boxes closed anew",
             (long long)r.boxes, (long long)r.rounds, (long long)r.weights, (long long)r.paths,
             (long long)r.mended);
    return OK;
}

static void lower(struct plan *plan, int64_t bound_ns)
{
    if (bound_ns >= plan->bound_ns) return;
    plan->bound_ns = bound_ns;
    if (plan->stage_count) plan->outcome = plan_outcome(plan);
}

// A space's certificate is about values, by which layouts are compared; a plan states the load of
// one micro-batch.
static int64_t plan_unit_of(const struct solved *s, int64_t bound_ns)
{
    const struct plan *p = &s->result->plan;
    bool of_load = s->space && p->objective == OBJECTIVE_MAX_LOAD;
    return of_load && bound_ns > 0 ? bound_ns / p->micro_batches : bound_ns;
}

// The results state what the certificate proves, and no more.
static void state_proven(struct solved *s, int64_t bound_ns)
{
    struct solve_result *r = s->result;
    solve_claim(s, CLAIM_PROVEN, NULL, 0);
    if (bound_ns < 0) return;
    if (s->space && bound_ns < s->space->layouts.bound_ns) s->space->layouts.bound_ns = bound_ns;
    bound_ns = plan_unit_of(s, bound_ns);
    if (bound_ns < r->plan.bound_ns)
        fprintf(stderr,
                "certificate: it proves %.9f s, less than the search's %.9f s: the plan states "
                "what it proves\n",
                (double)bound_stated(bound_ns, 0, 0) / 1e9, (double)r->plan.bound_ns / 1e9);
    lower(&r->plan, bound_ns);
    for (int i = 0; i < r->alternative_count; i++) lower(&r->alternatives[i], bound_ns);
}

// A search that was stopped before it had a bound has nothing to prove.
static bool has_claim(const struct certify_request *c)
{
    const struct plan *plan = &c->solved->result->plan;
    const struct layouts_result *space = c->solved->space;
    if (c->asked->part.count) return space->searched_bound_ns > 0;
    return plan->outcome == OUTCOME_INFEASIBLE || plan->bound_ns > 0 ||
           (space && space->layouts.bound_ns > 0);
}

enum status solve_certify(const struct certify_request *c, struct arena *arena, struct error *err)
{
    struct solved *s = c->solved;
    struct written w = {0};
    double begin_s = clock_s();
    if (has_claim(c))
        TRY((s->space                                ? of_space
             : s->problem->cluster.places.node_count ? of_places
                                                     : of_layout)(&w, c, arena, err));
    if (!w.text) {
        solve_claim(s, CLAIM_STATED, NULL, 0);
        return fail(err, SOLVER, "--certificate: no bound could be certified, so none is written");
    }
    TRY(file_write(c->asked->certificate_path, w.text, w.size, err));
    if (!c->asked->part.count) state_proven(s, w.bound_ns);
    fprintf(stderr, "certificate: %s, %zu bytes; %.2f s\n", w.says, w.size, clock_s() - begin_s);
    return OK;
}
