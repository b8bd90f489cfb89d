// See internal.h. Tables by pairs of nodes become the priced document's tables by pairs of groups;
// each node has the other values of its group. With so many groups the proof comes from the
// relaxations of the tree.

#include "solve/places/internal.h"

bool placed_is_single(const struct placed *p)
{
    return p->replicas == 1 && !p->uneven && p->nodes <= GROUPS_MAX;
}

// rows x groups -> rows x nodes
static int64_t *spread(const struct priced *p, const int64_t *of_groups, int rows,
                       struct arena *arena)
{
    int nodes = p->places->node_count;
    int64_t *of_nodes = TAKE(arena, rows * nodes, int64_t);
    for (int i = 0; i < rows * nodes; i++)
        of_nodes[i] = of_groups[i / nodes * p->group_count + p->places->nodes[i % nodes].group];
    return of_nodes;
}

// The ring of a single replica is on one node.
static int64_t *on_node(const struct priced *p, const int64_t *of_pairs, struct arena *arena)
{
    int nodes = p->places->node_count;
    int64_t *of_nodes = TAKE(arena, nodes, int64_t);
    for (int i = 0; i < nodes; i++)
        of_nodes[i] = of_pairs[i * nodes + i] == PRICE_NONE ? 0 : of_pairs[i * nodes + i];
    return of_nodes;
}

static void put_runs(struct priced *to, const struct priced *p, struct arena *arena)
{
    to->runs = TAKE_COPY(arena, p->runs, p->run_count);
    for (int i = 0; i < p->run_count; i++) {
        const struct priced_run *from = &p->runs[i];
        struct priced_run *run = &to->runs[i];
        run->forward_ns = spread(p, from->forward_ns, p->slice_count, arena);
        run->backward_ns = spread(p, from->backward_ns, p->slice_count, arena);
        for (int mode = 0; mode < RECOMPUTE_COUNT; mode++)
            if (from->again_ns[mode])
                run->again_ns[mode] = spread(p, from->again_ns[mode], p->slice_count, arena);
        run->weight_ns = spread(p, from->weight_ns, 1, arena);
        run->optimizer_ns = spread(p, from->optimizer_ns, 1, arena);
        if (from->tiered) run->tiered = TAKE_COPY(arena, from->tiered, from->tiered_count);
        for (int o = 0; o < from->tiered_count; o++)
            run->tiered[o].optimizer_ns = spread(p, from->tiered[o].optimizer_ns, 1, arena);
        run->sync_ns = TAKE(arena, p->gradient_option_count, int64_t *);
        for (int o = 0; o < p->gradient_option_count; o++)
            run->sync_ns[o] = on_node(p, p->places->ring_ns[i][o], arena);
    }
}

static void put_groups(struct priced *to, const struct priced *p, struct arena *arena)
{
    to->group_count = p->places->node_count;
    to->groups = TAKE(arena, to->group_count, struct priced_group);
    for (int i = 0; i < to->group_count; i++) {
        to->groups[i] = p->groups[p->places->nodes[i].group];
        to->groups[i].slots = p->places->nodes[i].slots;
        to->groups[i].sync_constant_ns = TAKE(arena, p->gradient_option_count, int64_t);
    }
    for (int o = 0; o < p->gradient_option_count; o++) {
        const int64_t *constant = on_node(p, p->places->ring_constant_ns[o], arena);
        for (int i = 0; i < to->group_count; i++) to->groups[i].sync_constant_ns[o] = constant[i];
    }
}

// First and last stage on one rank: the group's value.
static int64_t *embedding_of(const struct priced *p, bool one_rank, struct arena *arena)
{
    int nodes = p->places->node_count;
    int64_t *ns = TAKE_COPY(arena, p->places->embedding_sync_ns, nodes * nodes);
    for (int i = 0; i < nodes && one_rank; i++)
        ns[i * nodes + i] = p->embedding_sync_ns[p->places->nodes[i].group * p->group_count +
                                                 p->places->nodes[i].group];
    return ns;
}

static void put_nodes(struct priced *to, const struct placed *p, struct arena *arena)
{
    const struct priced *from = p->priced;
    *to = *from;
    to->places = NULL;
    put_runs(to, from, arena);
    put_groups(to, from, arena);
    to->cuts = TAKE_COPY(arena, from->cuts, from->cut_count);
    for (int cut = 0; cut < from->cut_count; cut++) {
        to->cuts[cut].forward_ns = from->places->cuts[cut].forward_ns;
        to->cuts[cut].backward_ns = from->places->cuts[cut].backward_ns;
    }
    bool one_rank = choices_rank_of(p->c, 0) == choices_rank_of(p->c, p->stages - 1);
    if (from->has_embedding_sync) to->embedding_sync_ns = embedding_of(from, one_rank, arena);
}

// Translates the plan into the problem's own choices. false: it has none of them.
static bool take_plan(struct placed *p, struct placed_plan *to, const struct plan *plan)
{
    for (int s = 0; s < p->stages; s++) {
        const struct plan_stage *x = &plan->stages[s];
        const struct choice like = {.gradient_option = x->gradient_option,
                                    .boundary_option = x->boundary_option};
        to->node[choices_rank_of(p->c, s)] = x->group;
        to->chosen[s] = placed_find_choice(p->own, s, x->first_layer, x->layer_count,
                                           p->priced->places->nodes[x->group].group, &like);
        if (to->chosen[s] < 0) return false;
    }
    if (!placed_fits_ranks(p, to)) return false;
    to->slowest = 0;
    placed_evaluate(p, to, INT64_MAX);
    return to->time_ns < INT64_MAX;
}

enum status placed_single(struct placed *p, struct placed_plan *best, int64_t *bound_ns,
                          struct solve_evidence **evidence, const struct solve_settings *settings,
                          const volatile int *stop, struct arena *arena, struct error *err)
{
    struct priced *nodes = TAKE(arena, 1, struct priced);
    struct solve_settings own;
    struct solve_result r;
    struct placed_plan plan = placed_plan_empty(p, arena);
    solve_defaults(&own);
    own.gap = settings->gap;
    own.time_limit_s = settings->time_limit_s;
    own.threads = settings->threads;
    own.seed = settings->seed;
    own.progress = settings->progress;
    own.tell = settings->tell;
    own.tell_argument = settings->tell_argument;
    own.boxes_max = settings->boxes_max;
    own.memory_limit_bytes = settings->memory_limit_bytes;
    own.whole_batch = settings->whole_batch;
    own.cutoff_ns = settings->cutoff_ns;
    own.evidence = settings->evidence;
    int64_t before_ns = *bound_ns;
    if (best->time_ns < INT64_MAX && (!own.cutoff_ns || best->time_ns < own.cutoff_ns))
        own.cutoff_ns = best->time_ns;
    put_nodes(nodes, p, arena);
    TRY(solve_run(&r, nodes, &own, NULL, stop, arena, err));
    if (r.plan.stage_count && take_plan(p, &plan, &r.plan) && plan.time_ns < best->time_ns)
        placed_plan_copy(p, best, &plan);
    if (r.plan.outcome == OUTCOME_INFEASIBLE && !r.cut_off) *bound_ns = best->time_ns;
    else if (r.plan.bound_ns > *bound_ns)
        *bound_ns = r.plan.bound_ns < best->time_ns ? r.plan.bound_ns : best->time_ns;
    assert(*bound_ns >= before_ns && *bound_ns <= best->time_ns);
    if (own.evidence && *bound_ns > before_ns) *evidence = r.evidence;
    return OK;
}
