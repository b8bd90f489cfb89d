// Draws how experts get their tokens, and what that costs.
#include "tests/support/draws/dispatch.h"

// 0, or up to `high`.
static struct estimate up_to(struct random *rng, double high)
{
    double share = (double)random_between(rng, 1, 1000) / 1000;
    return exactly(random_chance(rng, 30) ? 0 : high * share);
}

void dispatch_draw(struct problem *p, uint64_t seed)
{
    struct random own = {seed * 0x9e3779b97f4a7c15u + 9};
    struct job *j = &p->job;
    struct costs *c = &p->costs;
    j->dispatcher = (enum dispatcher)random_between(&own, 0, DISPATCH_HYBRIDEP);
    j->graphs = (enum graphs)random_between(&own, 0, GRAPHS_STEP);
    j->overlapped_dispatch = random_chance(&own, 50);
    j->fixed_capacity = random_chance(&own, 30);
    c->dispatch_overlap = up_to(&own, 1);
    for (int i = 0; i < p->model.run_count; i++) {
        struct layer_run *r = &p->model.runs[i];
        if (r->kind == LAYER_MOE && p->model.has_shape && random_chance(&own, 40))
            r->more_values = sink_values(&p->model.shape, &r->experts);
    }
    for (int g = 0; g < c->gpu_count; g++) {
        struct gpu_costs *gpu = &c->gpus[g];
        gpu->mixture_launch_s = up_to(&own, 3e-3);
        gpu->dispatch_wait_s = up_to(&own, 1e-3);
        gpu->all_to_all_wait_s = up_to(&own, 3e-3);
        gpu->all_to_all_wait_s.stated = seed & 1;
        for (int i = 0; i < gpu->precision_count; i++) {
            struct precision_costs *r = &gpu->precisions[i];
            r->expert_start_s = up_to(&own, 5e-5);
            r->grouped_flop_per_s = up_to(&own, 5e14), r->cast_bytes_per_s = up_to(&own, 2e12);
            r->backward_grouped_flop_per_s = up_to(&own, 5e14);
            r->ring_attention_flop_per_s = up_to(&own, 3e14);
            r->backward_ring_attention_flop_per_s = up_to(&own, 3e14);
        }
    }
    // Drawn last: what came before stays as it was.
    c->all_to_all_overlap = up_to(&own, 1);
    c->all_to_all_overlap.stated = seed & 1; // else 0 is not
    for (int g = 0; g < c->gpu_count; g++) {
        struct gpu_costs *gpu = &c->gpus[g];
        gpu->paired_launch_factor = exactly((double)random_between(&own, 0, 9) / 4);
        for (int i = 0; i < gpu->precision_count; i++)
            gpu->precisions[i].expert_launch_s = up_to(&own, 3e-4);
    }
    j->expert_products = (enum expert_products)random_between(&own, 0, EXPERTS_GROUPED);
    j->expert_padding = random_chance(&own, 50) ? 0 : (double)random_between(&own, 4, 16) / 4;
    if (j->fixed_capacity && random_chance(&own, 30)) j->expert_padding = 0.625; // rows are dropped
    for (int i = 0; i < p->model.run_count; i++) {
        struct expert_shape *e = &p->model.runs[i].experts;
        int64_t groups = p->model.runs[i].kind == LAYER_MOE ? random_between(&own, 2, 9) : 0;
        if (!groups || e->experts % groups) continue;
        int64_t top = random_between(&own, 1, groups);
        e->router_groups = e->router_top_groups = groups;
        if (e->experts / groups * top >= e->top_k) e->router_top_groups = top;
    }
}
