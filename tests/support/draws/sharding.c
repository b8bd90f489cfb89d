// Random jobs with sharded_zero, vocabulary_tensor or both, from problems without.
#include "tests/support/draws/sharding.h"

#include "data/kinds/schedules.h"

static void take_away(struct problem *p)
{
    struct job *j = &p->job;
    struct layout *l = &j->layout;
    const enum space_key keys[] = {SPACE_ZERO, SPACE_VIRTUAL_STAGES, SPACE_OFFLOAD_OPTIMIZER};
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) j->space.axes[keys[i]].kind = AXIS_FIXED;
    j->space.framework = FRAMEWORK_ANY, j->space.tensor_grids = false;
    j->gradient_option_count = j->tier_option_count = 0;
    j->recompute[RECOMPUTE_SWAP] = l->offload_optimizer = false;
    j->local_loss.head = (struct local_head){0, 0};
    j->rule_count = 0;
    if (schedule_kinds[l->schedule].virtual_stages != 1) l->schedule = SCHEDULE_1F1B;
    l->virtual_stages = 1;
    for (int g = 0; g < p->cluster.group_count; g++) p->cluster.groups[g].tier_count = 0;
}

// One time more for each time that is there, by chance, before those that it takes the place of.
static void add_times(struct problem *p, struct random *own, struct arena *arena)
{
    struct costs *c = &p->costs;
    struct layer_time *to = TAKE(arena, 2 * c->layer_time_count, struct layer_time);
    int count = 0;
    for (int i = 0; i < c->layer_time_count; i++) {
        struct layer_time t = c->layer_times[i];
        if (!t.zero && random_chance(own, 60)) {
            t.zero = p->job.sharded_zero;
            t.forward_s *= 1 + (double)random_between(own, -1, 4) / 4;
            t.backward_s *= 1 + (double)random_between(own, 0, 4) / 4;
            to[count++] = t;
        }
        to[count++] = c->layer_times[i];
    }
    c->layer_times = to, c->layer_time_count = count;
}

// Times of the measured layers with the vocabulary at other degrees, mostly at all of them.
static void add_degrees(struct problem *p, struct random *own, struct arena *arena)
{
    struct costs *c = &p->costs;
    const struct job *j = &p->job;
    int more = c->layer_time_count * j->vocabulary_tensor_count, count = 0;
    struct layer_time *to = TAKE(arena, c->layer_time_count + more, struct layer_time);
    for (int i = 0; i < c->layer_time_count; i++)
        for (int k = 0; k < j->vocabulary_tensor_count; k++) {
            struct layer_time t = c->layer_times[i];
            if (t.tensor == j->vocabulary_tensor[k] || random_chance(own, 10)) continue;
            t.tensor = j->vocabulary_tensor[k], t.data = t.micro_batch = 0;
            t.forward_s *= 1 + (double)random_between(own, -2, 3) / 4;
            t.backward_s *= 1 + (double)random_between(own, -2, 3) / 4;
            if (t.tensor != j->layout.tensor) to[count++] = t;
        }
    for (int i = 0; i < c->layer_time_count; i++) to[count++] = c->layer_times[i];
    c->layer_times = to, c->layer_time_count = count;
}

// Measured layers at the ends may be an embedding or a head.
static void spread_vocabulary(struct problem *p, struct random *own, struct arena *arena)
{
    static const int degrees[] = {1, 2, 3, 4, 8, 16};
    struct job *j = &p->job;
    struct model *m = &p->model;
    j->vocabulary_tensor = TAKE_COPY(arena, degrees, ARRAY_LENGTH(degrees));
    j->vocabulary_tensor_count = (int)random_between(own, 3, ARRAY_LENGTH(degrees));
    m->runs = TAKE_COPY(arena, m->runs, m->run_count);
    for (int i = 0; i < m->run_count; i++)
        if (m->runs[i].kind == LAYER_MEASURED && (i == 0 || i == m->run_count - 1)) {
            m->runs[i].vocabulary = true;
            m->runs[i].recomputable = false;
        }
    if (p->job.layout.pipeline > 1) m->shape.tied_embeddings = false;
    j->space.axes[SPACE_PIPELINE].kind =
        m->shape.tied_embeddings ? AXIS_FIXED : j->space.axes[SPACE_PIPELINE].kind;
    if (random_chance(own, 80)) add_degrees(p, own, arena);
}

bool random_sharding(struct problem *p, uint64_t seed, struct arena *arena)
{
    struct random own = {seed ^ UINT64_C(0x736861726473)};
    struct job *j = &p->job;
    int what = (int)random_between(&own, 0, 3); // 0, 1: sharded layers; 2: degrees; 3: both
    take_away(p);
    if (what != 2) j->sharded_zero = (int)random_between(&own, 2, 3);
    j->layout.zero = (int)random_between(&own, 0, what == 2 ? 3 : j->sharded_zero - 1);
    if (what > 1) spread_vocabulary(p, &own, arena);
    if (random_chance(&own, 50)) j->recompute[RECOMPUTE_FIRST_LAYERS] = true;
    for (int g = 0; g < p->cluster.group_count; g++)
        p->cluster.groups[g].memory_bytes -= p->cluster.groups[g].memory_bytes *
                                             random_between(&own, 0, 6) / 12;
    struct problem without = *p;
    if (j->sharded_zero && random_chance(&own, 60)) add_times(p, &own, arena);
    if (problem_check(p, &(struct error){0}) == OK) return true;
    *p = without; // two times for the same
    return problem_check(p, &(struct error){0}) == OK;
}
