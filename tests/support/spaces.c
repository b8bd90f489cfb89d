// Draws random small problems with a space, and solves each layout by itself.
#include "data/kinds/schedules.h"
#include "tests/support/spaces.h"

#include "formulate/price/price.h"
#include "tests/support/check.h"
#include "tests/support/draws/grids.h"
#include "tests/support/draws/kinds.h"
#include "tests/support/draws/models.h"
#include "tests/support/draws/towers.h"

enum { LAYOUTS_MOST_DRAWN = 60 };

static bool counts(void *argument, int64_t number, const struct layout *layout)
{
    (void)layout;
    return number < *(int64_t *)argument;
}

int64_t spaces_count(const struct problem *p)
{
    struct space_limits limits = problem_space_limits(p);
    int64_t most = 4000;
    return space_each(&p->job.space, &limits, counts, &most);
}

// Some keys of the layout set free; all degrees of a small cluster mostly among them.
static bool give_space(struct problem *p, struct random *rng)
{
    struct space *space = &p->job.space;
    bool shares = model_shared_pool(&p->model) || model_shares_weights(&p->model);
    *space = (struct space){.given = true, .fewer_devices = random_chance(rng, 30)};
    for (int key = 0; key < SPACE_CONTEXT_KIND; key++)
        if (key != SPACE_EXPERT && key != SPACE_EXPERT_TENSOR &&
            random_chance(rng, key <= SPACE_DATA                                       ? 75
                               : key == SPACE_SCHEDULE                                 ? 60
                               : shares && (key == SPACE_BARRIER || key == SPACE_ZERO) ? 50
                                                                                       : 25))
            space->axes[key].kind = AXIS_ALL;
    struct random own = {rng->state}; // what follows is drawn as without it
    if (random_chance(&own, 15)) space->axes[SPACE_RECOMPUTE].kind = AXIS_ALL;
    for (int key = SPACE_CONTEXT_KIND; key <= SPACE_OVERLAPPED_DISPATCH; key++)
        if (random_chance(&own, 40)) space->axes[key].kind = AXIS_ALL;
    int64_t count = spaces_count(p);
    if (random_chance(&own, 40)) space->in_flight_max = (int)random_between(&own, 1, 4);
    if (space->in_flight_max && spaces_count(p) > LAYOUTS_MOST_DRAWN) space->in_flight_max = 0;
    return count > 1 && count <= LAYOUTS_MOST_DRAWN;
}

// Pools or weights that layers share: what a barrier or ZeRO is refused for then.
static void draw_sharing(struct problem *p, uint64_t seed, struct arena *arena)
{
    if (!random_pools(p, seed, arena)) share_weights(p);
}

void spaces_draw(struct problem *p, struct random *rng, struct arena *arena)
{
    struct random_limits limits = random_limits_small();
    limits.layers_max = 7, limits.stages_max = 3, limits.groups_max = 2,
    limits.micro_batches_max = 4;
    struct error err = {OK, ""};
    do {
        if (random_chance(rng, 25)) {
            random_kinds_problem(p, rng, arena);
            continue;
        }
        random_problem(p, rng, &limits, arena);
        p->job.rule_count = 0;
        // Steps that outweigh passes: then the end of an iteration is decisive.
        for (int i = 0; i < p->costs.layer_time_count && random_chance(rng, 40); i++)
            p->costs.layer_times[i].optimizer_s *= 30;
        if (rng->state % 2) random_small_tower(p, rng->state, arena);
        else if (rng->state % 8 < 4) draw_sharing(p, rng->state, arena);
    } while (!give_space(p, rng) || problem_check(p, &err) != OK);
}

static bool give_slices(struct problem *p, struct random *rng)
{
    struct space *space = &p->job.space;
    struct layout *l = &p->job.layout;
    int unit = (int)random_between(rng, 1, 3), parts = (int)random_between(rng, 3, 5);
    p->job.sequence = (int64_t)unit * parts;
    l->schedule = SCHEDULE_TOKEN_SLICED, l->virtual_stages = 1, l->local_loss_every = 0;
    l->slice_count = 2, l->slices[0] = unit, l->slices[1] = unit * (parts - 1);
    p->job.boundary_option_count = p->job.gradient_option_count = 0;
    p->job.tier_option_count = 0;
    *space = (struct space){.given = true, .slice_tokens = unit};
    space->axes[SPACE_SLICE_COUNT].kind = AXIS_ALL;
    const enum space_key others[] = {SPACE_MICRO_BATCH, SPACE_GRADIENT_SYNC, SPACE_BARRIER};
    for (size_t i = 0; i < ARRAY_LENGTH(others); i++)
        if (random_chance(rng, 25)) space->axes[others[i]].kind = AXIS_ALL;
    int64_t count = spaces_count(p);
    return count > 1 && count <= LAYOUTS_MOST_DRAWN;
}

void spaces_draw_slices(struct problem *p, struct random *rng, struct arena *arena)
{
    struct random_limits limits = random_limits_small();
    limits.layers_max = 7, limits.groups_max = 2, limits.micro_batches_max = 4;
    struct error err = {OK, ""};
    do {
        random_problem(p, rng, &limits, arena);
        p->job.rule_count = 0;
    } while (!give_slices(p, rng) || problem_check(p, &err) != OK);
}

// The number of tensor ranks and their grid, and what the third axis requires of the micro-batch.
static bool give_grids(struct problem *p, struct random *rng)
{
    struct space *space = &p->job.space;
    struct shape *s = &p->model.shape;
    int times = 1 << random_between(rng, 0, 2);
    s->heads *= times, s->kv_heads *= times, s->ffn *= times, s->hidden *= times;
    p->job.global_batch *= random_between(rng, 1, 2);
    for (int g = 0; g < p->cluster.group_count && random_chance(rng, 70); g++)
        p->cluster.groups[g].memory_bytes *= 4;
    grids_fit(p);
    *space = (struct space){
        .given = true, .tensor_grids = true, .fewer_devices = random_chance(rng, 30)};
    space->axes[SPACE_TENSOR].kind = AXIS_ALL;
    if (random_chance(rng, 60)) space->axes[SPACE_PIPELINE].kind = AXIS_ALL;
    if (random_chance(rng, 30)) space->axes[SPACE_DATA].kind = AXIS_ALL;
    if (random_chance(rng, 60)) space->axes[SPACE_MICRO_BATCH].kind = AXIS_ALL;
    const enum space_key others[] = {SPACE_SEQUENCE_PARALLEL, SPACE_ZERO,     SPACE_GRADIENT_SYNC,
                                     SPACE_CONTEXT,           SPACE_SCHEDULE, SPACE_BARRIER};
    for (size_t i = 0; i < ARRAY_LENGTH(others); i++)
        if (random_chance(rng, 20)) space->axes[others[i]].kind = AXIS_ALL;
    struct random own = {rng->state}; // what follows is drawn as without it
    p->job.overlapped_tensor = random_chance(&own, 50);
    for (int key = SPACE_GRID_ORDER; key <= SPACE_GRID_GATHERS; key++)
        if (random_chance(&own, 50)) {
            space->axes[key].kind = AXIS_ALL;
            if (spaces_count(p) > LAYOUTS_MOST_DRAWN) space->axes[key].kind = AXIS_FIXED;
        }
    int64_t count = spaces_count(p);
    return count > 3 && count <= LAYOUTS_MOST_DRAWN;
}

static struct random_limits limits_of_shapes(void)
{
    struct random_limits limits = random_limits_small();
    limits.layers_max = 6, limits.stages_max = 3, limits.groups_max = 2,
    limits.micro_batches_max = 4, limits.flavour = FLAVOUR_SHAPE;
    return limits;
}

void spaces_draw_grids(struct problem *p, struct random *rng, struct arena *arena)
{
    struct random_limits limits = limits_of_shapes();
    struct error err = {OK, ""};
    do {
        random_problem(p, rng, &limits, arena);
        p->job.rule_count = 0;
        // A first axis within the node, others over links that are slow or fast.
        for (int g = 0; g < p->cluster.group_count; g++)
            if (random_chance(rng, 60)) p->cluster.groups[g].intra.bytes_per_s *= 8;
    } while (!give_grids(p, rng) || problem_check(p, &err) != OK);
}

// One run of mixtures, the rest of the blocks as they are; degrees of tensor, context and data
// ranks that experts may be spread over, within nodes and over them.
static void give_mixtures(struct problem *p, struct random *rng)
{
    struct model *m = &p->model;
    struct layer_run *blocks = &m->runs[1];
    int times = 1 << random_between(rng, 0, 2), unit = (int)random_between(rng, 1, 3);
    m->shape.heads *= times, m->shape.kv_heads *= times, m->shape.ffn *= times;
    blocks->kind = LAYER_MOE;
    blocks->experts = (struct expert_shape){.experts = 4 * unit,
                                            .top_k = random_between(rng, 1, 2),
                                            .ffn = m->shape.ffn,
                                            .shared_ffn = random_chance(rng, 30) ? m->shape.ffn : 0,
                                            .imbalance = random_chance(rng, 50) ? 1 : 1.5};
    if (random_chance(rng, 40)) p->costs.layer_time_count = 0;
    for (int g = 0; g < p->cluster.group_count; g++) {
        struct node_group *group = &p->cluster.groups[g];
        if (random_chance(rng, 60)) group->intra.bytes_per_s *= 8;
        group->memory_bytes *= (int64_t)unit * (random_chance(rng, 80) ? 4 : 2);
    }
    for (int mode = RECOMPUTE_SETS; mode < RECOMPUTE_COUNT; mode++) p->job.recompute[mode] = false;
}

static bool give_degrees(struct problem *p, struct random *rng)
{
    struct space *space = &p->job.space;
    give_mixtures(p, rng);
    p->job.global_batch *= random_between(rng, 1, 2);
    *space = (struct space){.given = true, .fewer_devices = random_chance(rng, 30)};
    space->axes[SPACE_EXPERT].kind = space->axes[SPACE_DATA].kind = AXIS_ALL;
    const struct {
        enum space_key key;
        int percent;
    } others[] = {{SPACE_EXPERT_TENSOR, 60},     {SPACE_TENSOR, 70},
                  {SPACE_CONTEXT, 50},           {SPACE_PIPELINE, 60},
                  {SPACE_MICRO_BATCH, 40},       {SPACE_ZERO, 30},
                  {SPACE_SEQUENCE_PARALLEL, 60}, {SPACE_SCHEDULE, 20},
                  {SPACE_GRADIENT_SYNC, 20},     {SPACE_BARRIER, 10}};
    for (size_t i = 0; i < ARRAY_LENGTH(others); i++)
        if (random_chance(rng, others[i].percent)) space->axes[others[i].key].kind = AXIS_ALL;
    struct random own = {rng->state}; // what follows is drawn as without it
    p->costs.dispatch_overlap = exactly((double)random_between(&own, 0, 4) / 4);
    for (int key = SPACE_CONTEXT_KIND; key <= SPACE_OVERLAPPED_DISPATCH; key++)
        if (random_chance(&own, 60)) space->axes[key].kind = AXIS_ALL;
    p->job.layout.overlapped_dispatch = random_chance(&own, 10);
    if (random_chance(&own, 30)) space->framework = FRAMEWORK_MEGATRON;
    int64_t count = spaces_count(p);
    return count > 3 && count <= LAYOUTS_MOST_DRAWN;
}

void spaces_draw_experts(struct problem *p, struct random *rng, struct arena *arena)
{
    struct random_limits limits = limits_of_shapes();
    struct error err = {OK, ""};
    do {
        random_problem(p, rng, &limits, arena);
        p->job.rule_count = 0;
    } while (!give_degrees(p, rng) || problem_check(p, &err) != OK);
}

// Pools that are a large or small part of a device's memory, over slow or fast links.
static bool give_pool_groups(struct problem *p, struct random *rng, struct arena *arena)
{
    struct space *space = &p->job.space;
    if (!random_pool_groups(p, rng->state, arena)) return false;
    int64_t wider = 1 << random_between(rng, 0, 6);
    for (int i = 0; i < p->model.run_count; i++) p->model.runs[i].pool.width *= wider;
    for (int g = 0; g < p->cluster.group_count; g++)
        if (random_chance(rng, 60)) p->cluster.groups[g].intra.bytes_per_s *= 8;
    p->job.layout.pool = 0;
    *space = (struct space){.given = true, .fewer_devices = random_chance(rng, 30)};
    space->axes[SPACE_POOL].kind = space->axes[SPACE_DATA].kind = AXIS_ALL;
    const struct {
        enum space_key key;
        int percent;
    } others[] = {{SPACE_TENSOR, 50},        {SPACE_CONTEXT, 30}, {SPACE_PIPELINE, 60},
                  {SPACE_MICRO_BATCH, 30},   {SPACE_ZERO, 40},    {SPACE_SCHEDULE, 15},
                  {SPACE_GRADIENT_SYNC, 20}, {SPACE_BARRIER, 20}, {SPACE_RECOMPUTE, 10}};
    for (size_t i = 0; i < ARRAY_LENGTH(others); i++)
        if (random_chance(rng, others[i].percent)) space->axes[others[i].key].kind = AXIS_ALL;
    int64_t count = spaces_count(p);
    return count > 3 && count <= LAYOUTS_MOST_DRAWN;
}

void spaces_draw_pools(struct problem *p, struct random *rng, struct arena *arena)
{
    struct random_limits limits = limits_of_shapes();
    struct error err = {OK, ""};
    do {
        random_problem(p, rng, &limits, arena);
        p->job.rule_count = 0;
    } while (!give_pool_groups(p, rng, arena) || problem_check(p, &err) != OK);
}

// Losses after each stage, each two or none; often with heads, small or large.
static bool give_segments(struct problem *p, struct random *rng)
{
    static const int every[] = {0, 1, 2, 3}, kinds[] = {SCHEDULE_GPIPE, SCHEDULE_1F1B};
    struct space *space = &p->job.space;
    struct layout *l = &p->job.layout;
    struct local_loss *loss = &p->job.local_loss;
    p->job.boundary_option_count = 0;
    p->job.global_batch *= random_between(rng, 1, 3);
    l->schedule = kinds[random_between(rng, 0, 1)], l->virtual_stages = 1, l->slice_count = 1;
    l->local_loss_every = 1, l->stored_inputs = random_chance(rng, 60);
    *loss = (struct local_loss){0};
    if (random_chance(rng, 70)) loss->head.vocabulary = random_between(rng, 1, 3000);
    if (random_chance(rng, 40)) loss->head.embedding_width = random_between(rng, 1, 8);
    if (!loss->head.vocabulary) loss->head.embedding_width = 0;
    if (random_chance(rng, 40)) loss->forward_s = 1e-7, loss->bytes = 100;
    *space = (struct space){.given = true, .fewer_devices = random_chance(rng, 30)};
    space->axes[SPACE_LOCAL_LOSS_EVERY] =
        (struct space_axis){.kind = AXIS_LIST, .count = 4, .values = (int *)every};
    space->axes[SPACE_SCHEDULE] =
        (struct space_axis){.kind = AXIS_LIST, .count = 2, .values = (int *)kinds};
    space->axes[SPACE_PIPELINE].kind = AXIS_ALL;
    const struct {
        enum space_key key;
        int percent;
    } others[] = {{SPACE_DATA, 70},   {SPACE_MICRO_BATCH, 50},   {SPACE_ZERO, 30},
                  {SPACE_TENSOR, 20}, {SPACE_GRADIENT_SYNC, 20}, {SPACE_BARRIER, 30}};
    for (size_t i = 0; i < ARRAY_LENGTH(others); i++)
        if (random_chance(rng, others[i].percent)) space->axes[others[i].key].kind = AXIS_ALL;
    int64_t count = spaces_count(p);
    return count > 3 && count <= 2 * LAYOUTS_MOST_DRAWN;
}

void spaces_draw_segments(struct problem *p, struct random *rng, struct arena *arena)
{
    struct random_limits limits = limits_of_shapes();
    struct error err = {OK, ""};
    limits.layers_max = 7, limits.stages_max = 4;
    do {
        random_problem(p, rng, &limits, arena);
        p->job.rule_count = 0;
    } while (!give_segments(p, rng) || problem_check(p, &err) != OK);
}

// Every list in flight, over links that are slow or fast.
static bool give_in_flight(struct problem *p, struct random *rng)
{
    struct space *space = &p->job.space;
    struct layout *l = &p->job.layout;
    p->job.global_batch *= random_between(rng, 1, 3);
    l->schedule = SCHEDULE_1F1B, l->virtual_stages = 1, l->slice_count = 1;
    l->local_loss_every = 0, l->stored_inputs = false;
    for (int g = 0; g < p->cluster.group_count && random_chance(rng, 60); g++)
        for (int k = 0; k < p->cluster.groups[g].nic_count; k++)
            p->cluster.groups[g].nics[k].link.bytes_per_s /= 30;
    *space = (struct space){.given = true,
                            .fewer_devices = random_chance(rng, 30),
                            .in_flight_max = (int)random_between(rng, 2, 6)};
    const struct {
        enum space_key key;
        int percent;
    } others[] = {{SPACE_PIPELINE, 40}, {SPACE_DATA, 40},     {SPACE_MICRO_BATCH, 30},
                  {SPACE_ZERO, 15},     {SPACE_SCHEDULE, 10}, {SPACE_GRADIENT_SYNC, 15},
                  {SPACE_BARRIER, 20}};
    for (size_t i = 0; i < ARRAY_LENGTH(others); i++)
        if (random_chance(rng, others[i].percent)) space->axes[others[i].key].kind = AXIS_ALL;
    int64_t count = spaces_count(p);
    return count > 3 && count <= 2 * LAYOUTS_MOST_DRAWN;
}

void spaces_draw_in_flight(struct problem *p, struct random *rng, struct arena *arena)
{
    struct random_limits limits = random_limits_small();
    struct error err = {OK, ""};
    limits.layers_max = 6, limits.stages_max = 4, limits.groups_max = 2;
    limits.micro_batches_max = 4;
    do {
        random_problem(p, rng, &limits, arena);
        p->job.rule_count = 0;
    } while (!give_in_flight(p, rng) || problem_check(p, &err) != OK);
}

int64_t spaces_value(const struct plan *plan)
{
    return plan->objective == OBJECTIVE_MAX_LOAD ? plan->micro_batches * plan->objective_ns
                                                 : plan->iteration_ns;
}

static bool solve_alone(void *argument, int64_t number, const struct layout *layout)
{
    struct spaces_alone *a = argument;
    struct error err = {OK, ""};
    struct problem one = problem_with_layout(a->problem, layout);
    struct priced priced;
    struct solve_result r;
    struct solve_settings settings;
    a->refused[number] = problem_check_layout(&one, &err) != OK ||
                         price_problem(&priced, &one, a->arena, &err) != OK;
    if (a->refused[number]) return true;
    solve_defaults(&settings);
    settings.progress = 0;
    CHECK_OK(solve_run(&r, &priced, &settings, NULL, NULL, a->arena, &err));
    assert_true(r.finished);
    a->optimum_ns[number] = spaces_value(&r.plan);
    if (r.plan.stage_count && a->optimum_ns[number] < a->best_ns)
        a->best_ns = a->optimum_ns[number];
    return true;
}

void spaces_solve(struct spaces_alone *a, const struct problem *p, struct arena *arena)
{
    struct space_limits limits = problem_space_limits(p);
    int64_t count = spaces_count(p);
    *a = (struct spaces_alone){p, TAKE(arena, count, int64_t), INT64_MAX, TAKE(arena, count, bool),
                               arena};
    space_each(&p->job.space, &limits, solve_alone, a);
}

void spaces_search(struct layouts_result *r, const struct problem *p, int threads, double gap,
                   double limit_s, const volatile int *stop, struct arena *arena)
{
    struct solve_settings settings;
    solve_defaults(&settings);
    settings.threads = threads, settings.gap = gap, settings.time_limit_s = limit_s,
    settings.progress = 0;
    MUST(layouts_search(r, p, &settings, NULL, stop, arena, &own_err));
}
