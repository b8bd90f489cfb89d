// Random jobs with sharded_zero, from problems without.
#include "tests/support/draws/sharding.h"

#include "data/kinds/schedules.h"

static void take_away(struct problem *p)
{
    struct job *j = &p->job;
    struct layout *l = &j->layout;
    const enum space_key keys[] = {SPACE_ZERO, SPACE_VIRTUAL_STAGES, SPACE_OFFLOAD_OPTIMIZER};
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) j->space.axes[keys[i]].kind = AXIS_FIXED;
    j->space.framework = FRAMEWORK_ANY, j->space.tensor_grids = false;
    j->gradient_option_count = j->offload_percent_count = j->tier_option_count = 0;
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

bool random_sharding(struct problem *p, uint64_t seed, struct arena *arena)
{
    struct random own = {seed ^ UINT64_C(0x736861726473)};
    struct job *j = &p->job;
    take_away(p);
    j->sharded_zero = (int)random_between(&own, 2, 3);
    j->layout.zero = (int)random_between(&own, 0, j->sharded_zero - 1);
    if (random_chance(&own, 50)) j->recompute[RECOMPUTE_FIRST_LAYERS] = true;
    for (int g = 0; g < p->cluster.group_count; g++)
        p->cluster.groups[g].memory_bytes -= p->cluster.groups[g].memory_bytes *
                                             random_between(&own, 0, 6) / 12;
    struct problem without = *p;
    if (random_chance(&own, 60)) add_times(p, &own, arena);
    if (problem_check(p, &(struct error){0}) == OK) return true;
    *p = without; // two times for the same
    return problem_check(p, &(struct error){0}) == OK;
}
