// From choices to a plan, with every claim filled in, and the reverse.
#include <string.h>

#include "formulate/choices/choice.h"

// Over the boundary after the stage.
static void put_transfers(struct plan_stage *out, const struct choices *c, int stage,
                          const struct choice *x, const struct choice *next)
{
    choices_send_backward(c, stage, 0, x, next, true, out->send_epilogue_ns);
    for (int slice = 0; slice < c->priced->slice_count; slice++) {
        struct plan_slice *to = &out->slices[slice];
        choices_send_forward(c, stage, slice, x, next, to->send_forward_ns);
        choices_send_backward(c, stage, slice, x, next, false, to->send_backward_ns);
    }
}

// Where not all layers of a stage that RECOMPUTE_FULL is for are recomputed: those that are.
static void put_set(struct plan_stage *out, const struct choices *c, struct arena *arena)
{
    if (!c->recomputed || out->recompute != RECOMPUTE_FULL || !out->recomputed_layers) return;
    out->recomputed = TAKE(arena, out->layer_count, int);
    for (int i = out->first_layer; i < out->first_layer + out->layer_count; i++)
        if (c->recomputed[i]) out->recomputed[out->recomputed_count++] = i;
}

static void put_stage(struct plan_stage *out, const struct choices *c, const int *chosen, int stage,
                      int first_layer, struct arena *arena)
{
    const struct priced *p = c->priced;
    const struct choice *x = &c->stages[stage].items[chosen[stage]];
    struct plan_slice *slices = TAKE(arena, p->slice_count, struct plan_slice);
    for (int i = 0; i < p->slice_count; i++)
        slices[i].forward_ns = x->forward_ns[i], slices[i].backward_ns = x->backward_ns[i];
    *out = (struct plan_stage){
        .decision = x->decision,
        .sync_ns = x->sync_ns,
        .queued_sync_ns = x->queued_sync_ns,
        .away_ns = x->away_ns,
        .back_ns = x->back_ns,
        .optimizer_ns = x->optimizer_ns,
        .weight_ns = x->weight_ns,
        .slices = slices,
        .memory = x->memory,
        .memory_limit_bytes = p->groups[x->group].memory_limit_bytes,
    };
    out->first_layer = first_layer;
    put_set(out, c, arena);
    if (stage < p->stage_count - 1)
        put_transfers(out, c, stage, x, &c->stages[stage + 1].items[chosen[stage + 1]]);
}

static void put_names(struct plan *plan, const struct priced *p, struct arena *arena)
{
    plan->group_count = p->group_count;
    plan->group_names = TAKE(arena, p->group_count, const char *);
    plan->group_gpus = TAKE(arena, p->group_count, const char *);
    for (int g = 0; g < p->group_count; g++) {
        plan->group_names[g] = arena_copy_text(arena, p->groups[g].name);
        plan->group_gpus[g] = arena_copy_text(arena, p->groups[g].gpu);
    }
    if (priced_has_widths(p)) plan->widths = TAKE(arena, p->group_count, struct plan_width);
    for (int g = 0; g < p->group_count && plan->widths; g++)
        plan->widths[g] = (struct plan_width){arena_copy_text(arena, p->groups[g].node_group),
                                              p->groups[g].tensor, p->groups[g].context,
                                              p->groups[g].data};
    plan->boundary_option_count = p->boundary_option_count;
    plan->boundary_options = TAKE_COPY(arena, p->boundary_options, p->boundary_option_count);
    plan->gradient_option_count = p->gradient_option_count;
    plan->gradient_options = TAKE_COPY(arena, p->gradient_options, p->gradient_option_count);
}

void choices_to_plan(struct plan *plan, const struct choices *c, const int *chosen,
                     int64_t iteration_ns, struct arena *arena)
{
    const struct priced *p = c->priced;
    struct schedule_request request = schedule_request_of(p);
    *plan = (struct plan){
        .name = p->name ? arena_copy_text(arena, p->name) : NULL,
        .outcome = OUTCOME_OPEN,
        .iteration_ns = iteration_ns,
        .layout = p->layout,
        .micro_batches = p->micro_batches,
        .devices_per_stage = p->devices_per_stage,
        .in_turn = p->in_turn,
        .stage_count = p->stage_count,
        .graph = plan_graph_of(&request),
    };
    put_names(plan, p, arena);
    plan->stages = TAKE(arena, p->stage_count, struct plan_stage);
    for (int s = 0, layer = 0; s < p->stage_count; layer += plan->stages[s++].layer_count)
        put_stage(&plan->stages[s], c, chosen, s, layer, arena);
    plan->ranks = c->virtual_stages > 1 ? TAKE(arena, c->rank_count, struct plan_rank) : NULL;
    for (int rank = 0; rank < c->rank_count && plan->ranks; rank++)
        choices_rank_memory(c, chosen, rank, &plan->ranks[rank].memory);
    if (p->has_embedding_sync)
        plan->embedding_sync_ns = p->embedding_sync_ns[plan->stages[0].group * p->group_count +
                                                       plan->stages[p->stage_count - 1].group];
}

// ---- the reverse

static int group_of_plan(const struct priced *p, const struct plan *plan, int group)
{
    if (group < 0 || group >= plan->group_count) return -1;
    for (int g = 0; g < p->group_count; g++)
        if (!strcmp(p->groups[g].name, plan->group_names[group])) return g;
    return -1;
}

// The option of the priced document that is equal to the plan's; the one at the same index, if that
// is equal.
static int option_of_plan(const struct compression_option *options, int count,
                          const struct compression_option *of_plan, int plan_count, int option)
{
    if (option < 0 || option >= plan_count) return -1;
    if (option < count && compression_same(&options[option], &of_plan[option])) return option;
    for (int i = 0; i < count; i++)
        if (compression_same(&options[i], &of_plan[option])) return i;
    return -1;
}

// The plan's stage as a choice, priced again; false if it could never be enumerated.
static bool choice_of_plan(struct choice *x, const struct choices *c, const struct plan *plan,
                           int stage)
{
    const struct priced *p = c->priced;
    const struct plan_stage *s = &plan->stages[stage];
    if (s->layer_count < 1 || s->first_layer < stage ||
        s->first_layer + s->layer_count > p->layer_count - (p->stage_count - 1 - stage))
        return false;
    if ((stage == 0 && s->first_layer) ||
        (stage == p->stage_count - 1 && s->first_layer + s->layer_count != p->layer_count))
        return false;
    *x = (struct choice){.decision = decision_tidy(&s->decision)};
    if (x->sharded_layers >
        (p->sharded_run_count ? span_recomputable(p, s->first_layer, s->layer_count) : 0))
        return false;
    x->first_layer = choices_place(c, s->first_layer);
    if (!choice_may_have_degree(c, stage, x)) return false;
    x->group = group_of_plan(p, plan, s->group);
    x->gradient_option = option_of_plan(p->gradient_options, p->gradient_option_count,
                                        plan->gradient_options, plan->gradient_option_count,
                                        s->gradient_option);
    x->boundary_option = choice_sends_backward(c, stage)
                             ? option_of_plan(p->boundary_options, p->boundary_option_count,
                                              plan->boundary_options, plan->boundary_option_count,
                                              s->boundary_option)
                             : 0;
    if (x->group < 0 || x->gradient_option < 0 || x->boundary_option < 0 ||
        p->groups[x->group].excluded || !choice_may_swap(c, stage, x))
        return false;
    choice_evaluate(c, stage, x);
    return true;
}

int choice_find(const struct choices *c, int stage, const struct choice *x)
{
    for (int i = 0; i < c->stages[stage].count; i++)
        if (choice_dominates(c, &c->stages[stage].items[i], x)) return i;
    return -1;
}

bool choices_from_plan(int *chosen, const struct choices *c, const struct plan *plan)
{
    if (plan->stage_count != c->priced->stage_count) return false;
    for (int s = 0; s < plan->stage_count; s++) {
        struct choice x;
        if (!choice_of_plan(&x, c, plan, s)) return false;
        chosen[s] = choice_find(c, s, &x);
        if (chosen[s] < 0) return false;
    }
    return true;
}
