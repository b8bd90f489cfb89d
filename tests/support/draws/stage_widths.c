// Widths of stages, drawn: see stage_widths.h.
#include "tests/support/draws/stage_widths.h"

#include "data/kinds/schedules.h"

static int *list_of(struct random *rng, int *count, const int *from, int most, struct arena *arena)
{
    int *to = TAKE(arena, most, int);
    *count = 0;
    for (int i = 0; i < most; i++)
        if (random_chance(rng, 60)) to[(*count)++] = from[i];
    return to;
}

// Measured layers, some for one tensor degree or micro-batch alone, from numbers of their own.
static void draw_times(struct problem *p, struct random own, struct arena *arena)
{
    enum { TIMES = 24 };
    struct costs *c = &p->costs;
    const struct model *m = &p->model;
    if (random_chance(&own, 50)) return;
    c->layer_times = TAKE(arena, TIMES, struct layer_time);
    c->layer_time_count = (int)random_between(&own, 1, TIMES);
    for (int i = 0; i < c->layer_time_count; i++) {
        int64_t group = random_between(&own, 0, p->cluster.group_count - 1);
        double forward = 1e-9 * (double)random_between(&own, 50, 2000);
        c->layer_times[i] =
            (struct layer_time){.run = m->runs[random_between(&own, 0, m->run_count - 1)].name,
                                .gpu = p->cluster.groups[group].gpu,
                                .tensor = random_between(&own, 0, 2),
                                .micro_batch = random_between(&own, 0, 4),
                                .data = random_between(&own, 0, 7) / 5,
                                .context = random_between(&own, 0, 9) / 8,
                                .forward_s = forward,
                                .backward_s = 2 * forward,
                                .selective_s = forward / 4,
                                .full_s = forward,
                                .optimizer_s = 1e-9 * (double)random_between(&own, 0, 500)};
    }
}

static struct measured_bytes draw_bytes(struct random *own)
{
    struct measured_bytes b = {.weight_bytes = random_between(own, 0, 20000),
                               .gradient_bytes = random_between(own, 0, 20000),
                               .optimizer_bytes = random_between(own, 0, 40000),
                               .boundary_bytes = random_between(own, 1, 10000)};
    for (int mode = 0; mode < 3; mode++) {
        b.stash_bytes[mode] = random_between(own, 0, 10000);
        b.working_bytes[mode] = random_between(own, 0, 10000);
    }
    return b;
}

// Of some problems the blocks state their bytes, most of them by degrees, and their times.
static void measure_blocks(struct problem *p, struct random own, struct arena *arena)
{
    enum { ENTRIES = 5 };
    struct costs *c = &p->costs;
    struct model *m = &p->model;
    int times = c->layer_time_count, all = times + m->run_count * p->cluster.group_count;
    if (random_chance(&own, 40)) return;
    struct layer_time *to = TAKE(arena, all, struct layer_time);
    for (int i = 0; i < times; i++) to[i] = c->layer_times[i];
    m->runs = TAKE_COPY(arena, m->runs, m->run_count);
    for (int r = 0; r < m->run_count; r++) {
        struct layer_run *run = &m->runs[r];
        if (run->kind != LAYER_BLOCK) continue;
        struct measured_bytes *entries = TAKE(arena, ENTRIES, struct measured_bytes);
        *run = (struct layer_run){.name = run->name,
                                  .kind = LAYER_MEASURED,
                                  .count = run->count,
                                  .recomputable = run->recomputable,
                                  .measured = draw_bytes(&own)};
        run->measured.by_degrees = entries;
        run->measured.by_degrees_count = (int)random_between(&own, 0, ENTRIES);
        for (int i = 0; i < ENTRIES; i++) {
            entries[i] = draw_bytes(&own);
            int *when[] = {&entries[i].data, &entries[i].tensor, &entries[i].micro_batch,
                           &entries[i].context};
            *when[random_between(&own, 0, 7) % 5 % 4] = (int)random_between(&own, 1, 2);
        }
        for (int g = 0; g < p->cluster.group_count; g++)
            to[times++] = (struct layer_time){.run = run->name,
                                              .gpu = p->cluster.groups[g].gpu,
                                              .forward_s = 1e-6,
                                              .backward_s = 2e-6,
                                              .selective_s = 1e-7,
                                              .full_s = 1e-6};
    }
    c->layer_times = to, c->layer_time_count = times;
}

bool random_stage_widths(struct problem *p, struct random *rng, struct arena *arena)
{
    static const int degrees[] = {1, 2, 4};
    struct job *j = &p->job;
    struct layout *l = &j->layout;
    struct width_list *lists = TAKE(arena, p->cluster.group_count, struct width_list);
    j->boundary_option_count = j->gradient_option_count = j->tier_option_count = 0;
    j->recompute[RECOMPUTE_SWAP] = false;
    l->tensor = l->context = l->data = l->expert = 1, l->expert_tensor = 0;
    l->grid_depth = l->grid_rows = 0;
    l->fused_embedding_sync = false;
    l->micro_batch = 1 << random_between(rng, 0, 2);
    j->global_batch = (int64_t)l->micro_batch * random_between(rng, 1, 6);
    j->rule_count = 0;
    for (int g = 0; g < p->cluster.group_count; g++) {
        struct width_list *w = &lists[g];
        w->groups = TAKE(arena, 1, const char *);
        w->groups[0] = p->cluster.groups[g].name, w->group_count = 1;
        p->cluster.groups[g].gpus_per_node = 1 << random_between(rng, 0, 3);
        w->tensor = list_of(rng, &w->tensor_count, degrees, 2, arena);
        w->context = list_of(rng, &w->context_count, degrees, 1, arena);
        w->data = list_of(rng, &w->data_count, degrees, 3, arena);
    }
    j->widths = lists, j->width_list_count = p->cluster.group_count;
    j->stage_degrees = DEGREES_PER_STAGE;
    draw_times(p, (struct random){rng->state ^ UINT64_C(0x74696d6573)}, arena);
    measure_blocks(p, (struct random){rng->state ^ UINT64_C(0x6279746573)}, arena);
    return problem_check(p, &(struct error){0}) == OK;
}

static void state_entries(struct problem *p, struct random own, struct arena *arena)
{
    for (int r = 0; r < p->model.run_count; r++) {
        struct measured_bytes *m = &p->model.runs[r].measured, *entries;
        if (p->model.runs[r].kind != LAYER_MEASURED || random_chance(&own, 30)) continue;
        m->by_degrees = entries = TAKE_COPY(arena, m->by_degrees, m->by_degrees_count);
        m->entry_bytes = random_between(&own, 1, 100000);
        for (int i = 0; i < m->by_degrees_count; i++)
            entries[i].entry_bytes = random_between(&own, 1, 100000);
    }
}

void random_turns(struct problem *p, bool any_sets, uint64_t seed, struct arena *arena)
{
    struct job *j = &p->job;
    j->replicas = REPLICAS_IN_TURN, j->objective = OBJECTIVE_MAX_LOAD;
    j->layout.schedule = SCHEDULE_1F1B, j->layout.micro_batch = 1;
    j->global_batch = 8, j->layout.sequence_parallel = true;
    if (any_sets) j->recompute_any = j->recompute[RECOMPUTE_FULL] = true;
    state_entries(p, (struct random){seed ^ UINT64_C(0x656e747279)}, arena);
}
