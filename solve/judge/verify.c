// The judge: takes a plan and the problem's documents, and checks everything that the plan states.
// internal.h lists what is compared with what. The prices are the judge's own (verify_price.h),
// the formulas those of docs/FORMULAS.md.
#include "solve/judge/verify.h"

#include <string.h>

#include "solve/judge/internal.h"

// ---- hashes: the plan was made from the same documents that it is judged by

// Rule "claim": a bound is called proven only if a certificate can be about it.
static void audit_bound_claim(struct verdict *v, const struct plan *plan, const struct problem *p,
                              struct arena *arena)
{
    const char *none = claim_has_no_certificate(p);
    if (plan->claim == CLAIM_PROVEN && none)
        verdict_add(v, arena, "claim", -1,
                    "states \"%s\", but no certificate can be made for its job: %s",
                    bound_claim_names[CLAIM_PROVEN], none);
}

static void audit_sources(struct verdict *v, const struct plan *plan, const struct problem *p,
                          struct arena *arena)
{
    for (const char *const *role = problem_roles; *role; role++) {
        const struct source *source = source_with_role(&plan->document, *role);
        const struct document *d = problem_document(p, *role);
        const char *path = d->path && *d->path ? d->path : *role;
        if (!source) {
            // A problem made in memory has no hash, and a plan of it has no sources.
            if (d->sha256[0])
                verdict_add(v, arena, "hash", -1,
                            "%s: made_from: expected a document of role %s, found none", path,
                            *role);
        } else if (strcmp(source->sha256, d->sha256)) {
            verdict_add(v, arena, "hash", -1,
                        "%s: SHA-256 is %.12s..., the plan was made from %.12s...", path,
                        d->sha256[0] ? d->sha256 : "unknown", source->sha256);
        }
    }
}

// Every document that the plan names is one that plans are made from, and named once.
static void audit_roles(struct verdict *v, const struct document *d, struct arena *arena)
{
    static const char *const roles[] = {"problem", "model", "cluster", "costs", "job", "priced"};
    for (int i = 0; i < d->source_count; i++) {
        size_t known = 0;
        while (known < ARRAY_LENGTH(roles) && strcmp(d->sources[i].role, roles[known])) known++;
        if (known == ARRAY_LENGTH(roles))
            verdict_add(v, arena, "hash", -1,
                        "made_from[%d].role: no plan is made from a document of role \"%.60s\"", i,
                        d->sources[i].role);
        else if (source_with_role(d, roles[known]) != &d->sources[i])
            verdict_add(v, arena, "hash", -1, "made_from[%d].role: a second document of role %s", i,
                        roles[known]);
    }
}

void verify_stated(struct verdict *v, const struct plan *plan, const struct problem *problem,
                   struct arena *arena)
{
    audit_roles(v, &plan->document, arena);
    audit_sources(v, plan, problem, arena);
    audit_bound_claim(v, plan, problem, arena);
    audit_statement(v, plan, problem, arena);
}

// ---- layout

static bool same_number(struct audit *h, const char *what, int64_t found, int64_t wanted)
{
    if (found != wanted)
        REJECT(h, "layout", -1, "%s is %lld, the job's is %lld", what, (long long)found,
               (long long)wanted);
    return found == wanted;
}

// What the job states itself, its layout and the plan's may state or not.
static struct layout without_jobs_own(const struct layout *l, const struct job *j)
{
    struct layout own = *l;
    own.overlapped_dispatch = l->overlapped_dispatch && !j->overlapped_dispatch;
    if (own.context_kind == 1 + (int)j->context_kind) own.context_kind = 0;
    return own;
}

static bool is_jobs_layout(struct audit *h)
{
    const struct layout own = without_jobs_own(&h->plan->layout, &h->problem->job),
                        jobs = without_jobs_own(&h->problem->job.layout, &h->problem->job),
                        *x = &own, *y = &jobs;
    const struct {
        const char *name;
        int64_t found, wanted;
    } besides[] = {
        {"fused_attention", x->fused_attention, y->fused_attention},
        {"data_shard", x->data_shard, y->data_shard},
        {"stored_inputs", x->stored_inputs, y->stored_inputs},
        {"the second axis of tensor_grid", layout_tensor_axis(x, 1), layout_tensor_axis(y, 1)},
        {"the third axis of tensor_grid", layout_tensor_axis(x, 2), layout_tensor_axis(y, 2)},
    };
    bool same = true;
    for (enum space_key key = 0; key < SPACE_KEY_COUNT; key++)
        same &= same_number(h, space_key_names[key], layout_value(x, key), layout_value(y, key));
    for (size_t i = 0; i < ARRAY_LENGTH(besides); i++)
        same &= same_number(h, besides[i].name, besides[i].found, besides[i].wanted);
    for (int i = 0; same && i < x->slice_count; i++)
        same = same_number(h, "a length in slices", x->slices[i], y->slices[i]);
    for (int s = 0; same && s < LISTED_STAGES_MAX; s++)
        same = same_number(h, "a stage's in_flight", x->in_flight[s], y->in_flight[s]);
    if (same && !layout_equal(x, y)) {
        REJECT(h, "layout", -1, "the plan's layout is not the job's");
        same = false;
    }
    return same;
}

// One that the job's search may choose, and that fits model and batch.
static bool is_member(struct audit *h)
{
    struct space_limits limits = problem_space_limits(h->problem);
    struct error unfit = {OK, ""};
    if (!space_contains(&h->problem->job.space, &limits, &h->plan->layout, NULL)) {
        REJECT(h, "layout", -1, "the plan's layout is not in the job's space");
        return false;
    }
    if (problem_check_layout(&h->judged, &unfit) == OK) return true;
    REJECT(h, "layout", -1, "%s", unfit.text);
    return false;
}

// What a plan of this layout has besides its stages.
static bool has_claims(struct audit *h)
{
    const struct plan *p = h->plan;
    bool slices = true,
         named = h->problem->cluster.places.node_count > 0 && job_has_widths(&h->problem->job);
    for (int s = 0; s < p->stage_count; s++) slices = slices && p->stages[s].slices;
    for (int s = 0; s < p->stage_count && !named; s++)
        if (p->stages[s].node_count)
            REJECT(h, "placement", s,
                   "nodes: expected where stages have widths of their own, on a cluster with "
                   "places");
    if (!slices) REJECT(h, "layout", -1, "claims for the slices are missing");
    if (p->layout.virtual_stages > 1 && !p->ranks)
        REJECT(h, "layout", -1, "claims for the ranks are missing");
    return slices && (p->layout.virtual_stages == 1 || p->ranks);
}

// False: the plan has another shape, so nothing else can be compared.
static bool audit_layout(struct audit *h)
{
    h->judged = judged_problem(h->problem, &h->plan->layout);
    if (!(h->problem->job.space.given ? is_member(h) : is_jobs_layout(h))) return false;
    h->price_audit = price_audit_over(&h->judged, &h->price_audit);
    judge_other_layers(h);
    // For replicas that may have different numbers see places.c.
    bool uneven = h->problem->job.placement.uneven_micro_batches;
    bool same = uneven || same_number(h, "micro_batches", h->plan->micro_batches,
                                      h->price_audit.micro_batches);
    same &= same_number(h, "in_turn", h->plan->in_turn, is_in_turn(h));
    same &= same_number(h, "devices_per_stage", h->plan->devices_per_stage, h->price_audit.devices);
    same &= same_number(h, "number of stages", h->plan->stage_count, h->price_audit.stage_count);
    return same && has_claims(h);
}

// ---- bound

static void audit_bound(struct audit *h)
{
    const struct plan *p = h->plan;
    if (p->bound_ns < 0)
        REJECT(h, "bound", -1, "bound is %lld ns, below 0", (long long)p->bound_ns);
    int64_t value = plan_value_ns(p);
    if (p->objective != h->problem->job.objective)
        REJECT(h, "objective", -1, "the job asks for the least %s, the plan has the least %s",
               objective_names[h->problem->job.objective], objective_names[p->objective]);
    if (p->bound_ns > value)
        REJECT(h, "bound", -1, "bound %lld ns is above the plan's %s %lld ns by %lld ns",
               (long long)p->bound_ns,
               p->objective == OBJECTIVE_ITERATION_TIME ? "iteration time"
                                                        : objective_names[p->objective],
               (long long)value, (long long)(p->bound_ns - value));
    if (p->outcome == OUTCOME_INFEASIBLE || p->outcome == OUTCOME_NO_PLAN)
        REJECT(h, "bound", -1, "outcome states that there is no plan, but there is one");
    // In long double, which holds these integers exactly; only the product is rounded.
    long double open = (long double)value - (long double)p->bound_ns;
    long double allowed = (long double)p->gap_asked * (long double)value;
    if (p->outcome == OUTCOME_OPTIMAL && open > allowed * (1 + 1e-12L))
        REJECT(h, "bound", -1,
               "outcome is optimal, but %lld ns are open and gap_asked allows %.17g",
               (long long)(value - p->bound_ns), (double)allowed);
    if (p->outcome == OUTCOME_OPEN && open <= allowed * (1 - 1e-12L))
        REJECT(h, "bound", -1, "outcome is open, but only %lld ns are, and gap_asked allows %.17g",
               (long long)(value - p->bound_ns), (double)allowed);
}

// ---- the audit

static void match_groups(struct audit *h)
{
    const struct cluster *c = &h->problem->cluster;
    if (job_has_widths(&h->problem->job)) {
        match_widths(h);
        return;
    }
    h->group = TAKE(h->arena, h->plan->group_count, int);
    for (int i = 0; i < h->plan->group_count; i++) {
        h->group[i] = -1;
        for (int g = 0; g < c->group_count; g++)
            if (!strcmp(c->groups[g].name, h->plan->group_names[i])) h->group[i] = g;
    }
}

enum status audit_plan(struct audit *h, struct error *err)
{
    h->sound = TAKE(h->arena, h->plan->stage_count, bool);
    for (int s = 0; s < h->plan->stage_count; s++) h->sound[s] = true;
    h->sync_work_ns = TAKE(h->arena, h->plan->stage_count, int64_t);
    audit_layers(h);
    audit_groups(h);
    audit_options(h);
    audit_budget(h);
    audit_rules(h);
    audit_graph(h);
    audit_prices(h);
    audit_bound(h);
    if (is_in_turn(h)) audit_load(h, turned_load(h));
    else if (!h->rings) audit_load(h, judged_load(h, h->plan));
    audit_cost(h);
    TRY(schedule_build(&h->schedule, &h->request, h->arena, err));
    int before = h->verdict->violation_count;
    audit_schedule(h->verdict, &h->schedule, &h->request, h->arena);
    if (h->verdict->violation_count == before) audit_memory(h);
    audit_published(h);
    before = h->verdict->violation_count;
    if (is_in_turn(h)) {
        audit_turned_time(h, turned_load(h));
        return OK;
    }
    audit_time(h);
    if (!before) audit_streams(h, h->plan->iteration_ns);
    audit_range(h);
    return OK;
}

enum status verify_plan(struct verdict *v, const struct plan *plan, const struct problem *problem,
                        struct arena *arena, struct error *err)
{
    struct doubts doubts = {0, 0};
    struct audit h = {.verdict = v,
                      .plan = plan,
                      .problem = problem,
                      .price_audit = {.doubts = &doubts},
                      .arena = arena};
    *v = (struct verdict){.closed_form_ns = -1,
                          .memory_bytes = -1,
                          .published_bytes = -1,
                          .proven_ns = -1,
                          .energy_uj = -1};
    if (plan->stage_count == 0) {
        audit_sources(v, plan, problem, arena);
        verdict_add(v, arena, "plan", -1, "there is no plan here to verify (outcome %s)",
                    outcome_names[plan->outcome]);
    } else {
        verify_stated(v, plan, problem, arena);
    }
    if (plan->stage_count && audit_layout(&h)) {
        h.request = plan_request(plan);
        match_groups(&h);
        bool placed = problem->cluster.places.node_count || plan->placement;
        TRY(placed && job_has_widths(&problem->job) ? audit_named(&h, err)
            : placed                                ? audit_placement(&h, err)
                                                    : audit_plan(&h, err));
    }
    v->doubtful = doubts.prices;
    if (doubts.sizes)
        verdict_add(v, arena, "price", -1,
                    "%lld sizes are so close to a step of a price that the judge cannot tell on "
                    "which side they are",
                    (long long)doubts.sizes);
    v->accepted = v->violation_count == 0;
    return OK;
}
