// The judge: takes a plan and the problem's documents, and goes through everything the plan says. What is compared with
// what stands in verify_parts.h; the prices are the judge's own (verify_price.h), the formulas those of docs/FORMULAS.md.
#include "solve/verify.h"

#include <string.h>

#include "solve/verify_parts.h"

// ---- hashes: the plan was made from the very documents that it is judged by

static const struct source *source_with_role(const struct document *d, const char *role)
{
    for (int i = 0; i < d->source_count; i++)
        if (!strcmp(d->sources[i].role, role)) return &d->sources[i];
    return NULL;
}

void hear_hashes(struct hearing *h)
{
    const struct problem *p = h->problem;
    const struct { const char *role; const struct document *document; } inputs[] = {
        {"problem", &p->document}, {"model", &p->model.document}, {"cluster", &p->cluster.document},
        {"costs", &p->costs.document}, {"job", &p->job.document},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(inputs); i++) {
        const struct source *source = source_with_role(&h->plan->document, inputs[i].role);
        const struct document *d = inputs[i].document;
        const char *path = d->path && *d->path ? d->path : inputs[i].role;
        if (!source) {
            // A problem that was made in memory has no hash, nor has a plan of it any source.
            if (d->sha256[0])
                verdict_add(h->verdict, h->arena, "hash", -1, "%s: the plan does not name the %s it was made from",
                            path, inputs[i].role);
        } else if (strcmp(source->sha256, d->sha256)) {
            verdict_add(h->verdict, h->arena, "hash", -1, "%s: SHA-256 is %.12s..., the plan was made from %.12s...",
                        path, d->sha256[0] ? d->sha256 : "unknown", source->sha256);
        }
    }
}

// ---- layout

static bool same_number(struct hearing *h, const char *what, int64_t found, int64_t wanted)
{
    if (found != wanted)
        verdict_add(h->verdict, h->arena, "layout", -1, "%s is %lld, the job's is %lld", what, (long long)found,
                    (long long)wanted);
    return found == wanted;
}

bool hear_layout(struct hearing *h)
{
    const struct layout *x = &h->plan->layout, *y = &h->problem->job.layout;
    bool same = same_number(h, "tensor degree", x->tensor, y->tensor);
    same &= same_number(h, "context degree", x->context, y->context);
    same &= same_number(h, "data degree", x->data, y->data);
    same &= same_number(h, "pipeline degree", x->pipeline, y->pipeline);
    same &= same_number(h, "expert degree", x->expert, y->expert);
    same &= same_number(h, "micro-batch", x->micro_batch, y->micro_batch);
    same &= same_number(h, "schedule", (int)x->schedule, (int)y->schedule);
    same &= same_number(h, "sequence_parallel", x->sequence_parallel, y->sequence_parallel);
    same &= same_number(h, "fused_attention", x->fused_attention, y->fused_attention);
    same &= same_number(h, "gradient_sync", (int)x->gradient_sync, (int)y->gradient_sync);
    same &= same_number(h, "fused_embedding_sync", x->fused_embedding_sync, y->fused_embedding_sync);
    same &= same_number(h, "zero", x->zero, y->zero);
    same &= same_number(h, "number of micro-batches", h->plan->micro_batches, h->assay.micro_batches);
    same &= same_number(h, "number of devices per stage", h->plan->devices_per_stage, h->assay.devices);
    same &= same_number(h, "number of stages", h->plan->stage_count, h->assay.stage_count);
    return same;
}

// ---- bound

void hear_bound(struct hearing *h)
{
    const struct plan *p = h->plan;
    if (p->bound_ns < 0)
        verdict_add(h->verdict, h->arena, "bound", -1, "bound is %lld ns, below 0", (long long)p->bound_ns);
    if (p->bound_ns > p->iteration_ns)
        verdict_add(h->verdict, h->arena, "bound", -1, "bound %lld ns is above the iteration time %lld ns by %lld ns",
                    (long long)p->bound_ns, (long long)p->iteration_ns, (long long)(p->bound_ns - p->iteration_ns));
    if (p->outcome == OUTCOME_INFEASIBLE || p->outcome == OUTCOME_NO_PLAN)
        verdict_add(h->verdict, h->arena, "bound", -1, "outcome says that there is no plan, yet here is one");
    // In long double, which holds these integers exactly; only the product is rounded.
    long double open = (long double)p->iteration_ns - (long double)p->bound_ns;
    long double allowed = (long double)p->gap_asked * (long double)p->iteration_ns;
    if (p->outcome == OUTCOME_OPTIMAL && open > allowed * (1 + 1e-12L))
        verdict_add(h->verdict, h->arena, "bound", -1,
                    "outcome says optimal, but %lld ns are open and the gap asked allows %.17g",
                    (long long)(p->iteration_ns - p->bound_ns), (double)allowed);
}

// ---- the hearing

static void match_groups(struct hearing *h)
{
    const struct cluster *c = &h->problem->cluster;
    h->group = TAKE(h->arena, h->plan->group_count, int);
    for (int i = 0; i < h->plan->group_count; i++) {
        h->group[i] = -1;
        for (int g = 0; g < c->group_count; g++)
            if (!strcmp(c->groups[g].name, h->plan->group_names[i])) h->group[i] = g;
    }
}

static enum status judge(struct hearing *h, struct error *err)
{
    struct schedule schedule;
    h->sound = TAKE(h->arena, h->plan->stage_count, bool);
    for (int s = 0; s < h->plan->stage_count; s++) h->sound[s] = true;
    hear_layers(h);
    hear_groups(h);
    hear_options(h);
    hear_budget(h);
    hear_rules(h);
    hear_graph(h);
    hear_prices(h);
    hear_memory(h);
    hear_bound(h);
    TRY(schedule_build(&schedule, &h->request, h->arena, err));
    hear_schedule(h->verdict, &schedule, &h->request, h->arena);
    hear_time(h, &schedule);
    return OK;
}

enum status verify_plan(struct verdict *v, const struct plan *plan, const struct problem *problem, struct arena *arena,
                        struct error *err)
{
    struct hearing h = {.verdict = v, .plan = plan, .problem = problem, .assay = assay_of(problem), .arena = arena};
    *v = (struct verdict){.closed_form_ns = -1};
    hear_hashes(&h);
    if (plan->stage_count == 0) {
        verdict_add(v, arena, "plan", -1, "there is no plan here to verify (outcome %s)", outcome_names[plan->outcome]);
    } else if (hear_layout(&h)) {
        h.request = plan_request(plan);
        match_groups(&h);
        TRY(judge(&h, err));
    }
    v->accepted = v->violation_count == 0;
    return OK;
}
