// The arguments of each evaluation are those of docs/FORMULAS.md sections 2, 3 and 6. A fit's own
// argument is one kernel's work, so the products of a pass are looked at one by one.
#include "formulate/price/range.h"

#include <string.h>

#include "data/base/grow.h"
#include "formulate/price/pricing.h"

// Rounding, or a last size that is off by a byte, is no reason for a report.
static const double tolerance = 1.01;

struct finder {
    const struct pricing *x;
    struct plan *plan;
    int capacity;
};

static struct plan_extrapolation *find_or_add(struct finder *f, const char *cost, const char *gpu)
{
    struct plan *p = f->plan;
    for (int i = 0; i < p->extrapolated_count; i++)
        if (!strcmp(p->extrapolated[i].cost, cost) && !strcmp(p->extrapolated[i].gpu, gpu))
            return &p->extrapolated[i];
    GROW(f->x->arena, p->extrapolated, p->extrapolated_count, f->capacity, 8);
    struct plan_extrapolation *e = &p->extrapolated[p->extrapolated_count++];
    *e = (struct plan_extrapolation){.cost = cost, .gpu = gpu, .least = INFINITY};
    return e;
}

static void note_range(struct finder *f, const char *cost, const char *gpu, const char *run,
                       const char *what, real argument, double low, double high)
{
    if (!(argument > 0) || !(high > 0) ||
        (argument * tolerance >= low && argument <= high * tolerance))
        return;
    struct plan_extrapolation *e = find_or_add(f, cost, gpu);
    double before = e->of ? plan_extrapolation_times(e) : 0;
    e->valid_low = low, e->valid_high = high;
    e->least = fmin(e->least, (double)argument);
    e->greatest = fmax(e->greatest, (double)argument);
    if (!(plan_extrapolation_times(e) > before)) return;
    e->of = arena_print(f->x->arena, "%s, %s", run, what);
}

static void note(struct finder *f, const char *cost, const char *gpu, const struct estimate *e,
                 const char *run, const char *what, real argument)
{
    if (e->value > 0) note_range(f, cost, gpu, run, what, argument, e->valid_low, e->valid_high);
}

// ---- layers

static void note_layer(struct finder *f, const struct layer_run *run, int group, int slice)
{
    struct pricing own;
    const struct pricing *x = pricing_of_run(f->x, run, &own);
    const char *gpu = x->problem->cluster.groups[group].gpu;
    const struct gpu_costs *g = x->gpus[group];
    const struct precision_costs *rates = rates_of_run(x, run, group);
    struct slice part = slice_of(x, slice);
    struct layer_work work = work_of_layer(x, run, &part);
    struct product products[PRODUCTS_MAX];
    bool learns = run_has_gradient(x, run);
    for (int i = 0, count = products_of(x, run, part.tokens, products); i < count; i++) {
        real flop = 2 * products[i].rows * products[i].columns * products[i].depth;
        if (!strcmp(products[i].what, "router")) continue;
        note(f, "gemm_flop_per_s", gpu, &rates->gemm_flop_per_s, run->name, products[i].what, flop);
        if (learns)
            note(f, "data_gradient_flop_per_s", gpu, &rates->data_gradient_flop_per_s, run->name,
                 products[i].what, flop);
        if (learns && !run->frozen)
            note(f, "weight_gradient_flop_per_s", gpu, &rates->weight_gradient_flop_per_s,
                 run->name, products[i].what, flop);
    }
    real again = x->problem->job.layout.fused_attention ? 2.5 : 2,
         elementwise = work.memory - work.scores;
    note(f, "attention_flop_per_s", gpu, &rates->attention_flop_per_s, run->name,
         "scores and context", work.attention);
    note(f, "memory_bytes_per_s", gpu, &g->memory_bytes_per_s, run->name, "norms and activations",
         elementwise);
    if (!learns) return;
    note(f, "backward_attention_flop_per_s", gpu, &rates->backward_attention_flop_per_s, run->name,
         "scores and context, backward", again * work.attention);
    note(f, "backward_memory_bytes_per_s", gpu, &g->backward_memory_bytes_per_s, run->name,
         "norms and activations, backward", 2 * elementwise);
}

// ---- links

static void note_table(struct finder *f, const struct collective_times *t, const char *run,
                       const char *what, real bytes)
{
    if (!t) return;
    const char *cost = arena_print(f->x->arena, "collectives: %s of %lld %s",
                                   t->send ? "messages" : "all-reduces", (long long)t->ranks,
                                   t->between_nodes ? "between nodes" : "in a node");
    int last = t->segment_count - 1;
    double low = t->segment_count ? t->segments[0].seconds.valid_low : t->bytes[0];
    double high = t->segment_count ? t->segments[last].bytes_per_s.valid_high
                                   : t->bytes[t->point_count - 1];
    note_range(f, cost, t->gpu, run, what, bytes, low, high);
}

// Messages that leave a stage of the run, forward; those back have the same size, or are
// compressed.
static void note_messages(struct finder *f, const struct layer_run *run, int from, int to)
{
    const struct pricing *x = f->x;
    struct link_price link = ends_of_stages(x, from, to).there;
    real bytes = bytes_of_layer(x, run).message;
    bool scattered = x->problem->job.scattered_messages && run->kind != LAYER_MEASURED &&
                     !x->problem->job.layout.sequence_parallel;
    for (int slice = 0; slice < x->priced->slice_count && link.table; slice++)
        note_table(f, link.table, run->name, "a message to the next stage",
                   slice_of(x, slice).share * bytes / (scattered ? x->t1 : 1));
}

static void note_reductions(struct finder *f, const struct layer_run *run, int group, int slice)
{
    struct pricing own;
    const struct pricing *x = pricing_of_run(f->x, run, &own);
    bool projector = run->kind == LAYER_PROJECTOR;
    if (x->t <= 1 || x->grid || run->kind == LAYER_MEASURED || (projector && !run->projector.inner))
        return;
    struct link_price link = link_of_tensor_ranks(x, group);
    note_table(f, link.table, run->name, "an all-reduce of tensor ranks",
               slice_of(x, slice).tokens * x->e *
                   (projector ? (real)run->projector.outputs : x->h));
}

// ---- the plan

static const struct layer_run *run_at(const struct pricing *x, int layer)
{
    const struct layer_run *run = x->problem->model.runs;
    while (layer >= run->count) layer -= run++->count;
    return run;
}

static void note_stage(struct finder *f, int stage)
{
    const struct pricing *x = f->x;
    const struct plan_stage *s = &f->plan->stages[stage];
    const char *gpu = x->problem->cluster.groups[s->group].gpu;
    const struct layer_run *before = NULL;
    for (int layer = s->first_layer; layer < s->first_layer + s->layer_count; layer++) {
        const struct layer_run *run = run_at(x, layer);
        if (run == before) continue;
        before = run;
        for (int slice = 0; slice < x->priced->slice_count; slice++) {
            if (find_layer_time(x, run->name, gpu) || !x->rates[s->group]) continue;
            note_layer(f, run, s->group, slice);
            note_reductions(f, run, s->group, slice);
        }
    }
    if (before && stage + 1 < f->plan->stage_count && f->plan->stages[stage + 1].group >= 0)
        note_messages(f, before, s->group, f->plan->stages[stage + 1].group);
}

enum status extrapolation_of_plan(struct plan *plan, const struct problem *problem,
                                  struct arena *arena, struct error *err)
{
    struct priced priced;
    plan->extrapolated = NULL;
    plan->extrapolated_count = 0;
    if (!plan->stage_count || plan->widths) return OK;
    TRY(price_problem(&priced, problem, arena, err));
    struct pricing x = pricing_of(problem, &priced, arena);
    struct finder f = {&x, plan, 0};
    for (int stage = 0; stage < plan->stage_count; stage++) note_stage(&f, stage);
    return OK;
}
