// Draws tensor grids into a random problem.
#include "tests/support/draws/grids.h"

void grids_fit(struct problem *p)
{
    struct shape *s = &p->model.shape;
    struct job *j = &p->job;
    for (int i = 0; i < p->model.run_count; i++) {
        struct layer_run *r = &p->model.runs[i], was = *r;
        bool kept = r->kind == LAYER_BLOCK || r->kind == LAYER_EMBEDDING || r->kind == LAYER_HEAD;
        *r = (struct layer_run){.name = was.name, .kind = LAYER_BLOCK, .count = was.count};
        if (!kept) continue;
        r->kind = was.kind, r->recomputable = was.recomputable, r->more_values = was.more_values;
        r->bidirectional = was.bidirectional, r->window = was.window, r->chunk = was.chunk;
    }
    s->query_rank = s->kv_rank = s->rotary_width = s->value_width = s->embedding_width = 0;
    s->qk_norm = QK_NORM_NONE, s->gated_attention = false;
    j->trainer = TRAINER_MEGATRON;
    for (int mode = RECOMPUTE_SETS; mode < RECOMPUTE_COUNT; mode++) j->recompute[mode] = false;
    if (j->layout.recompute >= RECOMPUTE_SETS) j->layout.recompute = 0;
    if (precision_is_narrow(j->precision)) j->precision = BF16;
    j->gathered_logits = j->gathered_inputs = j->kept_logits = false;
    j->boundary_option_count = j->gradient_option_count = 0;
}

void grids_give(struct problem *p, struct random *rng, int axis_max)
{
    struct layout *l = &p->job.layout;
    struct shape *s = &p->model.shape;
    int axes[3];
    do
        for (int i = 0; i < 3; i++) axes[i] = (int)random_between(rng, 1, axis_max);
    while (axes[1] * axes[2] == 1);
    l->tensor = axes[0] * axes[1] * axes[2];
    l->grid_depth = axes[1], l->grid_rows = axes[2];
    l->context = l->expert = 1;
    l->sequence_parallel = false;
    s->heads *= axes[0], s->kv_heads *= axes[0], s->ffn *= axes[0], s->hidden *= axes[1];
    l->micro_batch *= axes[2], p->job.global_batch *= axes[2];
}

void grids_decide(struct problem *p, uint64_t seed)
{
    struct random own = {seed * 0x9e3779b97f4a7c15u + 5};
    struct layout *l = &p->job.layout;
    if (!layout_has_grid(l)) return;
    int first = layout_tensor_axis(l, 0);
    l->sequence_parallel = first > 1 && p->job.sequence % first == 0 && random_chance(&own, 40);
    l->grid_order = random_chance(&own, 60) ? (int)random_between(&own, 0, 5) : 0;
    if (l->grid_rows > 1 && l->zero < 3)
        l->grid_gathers = (enum grid_gathers)random_between(&own, 0, 2);
    p->job.overlapped_tensor = random_chance(&own, 50);
}
