// Random layouts of any schedule.
#include "data/kinds/schedules.h"
#include "tests/support/draws/layouts.h"

// Any schedule, with its requirements, as far as the problem is compatible.
void random_layout(struct problem *p, struct random *rng)
{
    struct job *j = &p->job;
    struct layout *l = &j->layout, plain = *l;
    struct error err = {OK, ""};
    l->schedule = (int)random_between(rng, 0, SCHEDULE_KIND_COUNT - 1);
    if (schedule_kinds[l->schedule].virtual_stages != 1) {
        l->pipeline = l->virtual_stages = 2;
        if (schedule_kinds[l->schedule].in_groups && job_micro_batches(j) < 2) j->global_batch *= 2;
        if (random_chance(rng, 70)) j->boundary_option_count = j->gradient_option_count = 0;
    }
    if (schedule_kinds[l->schedule].slices) {
        l->slice_count = 2;
        if (j->sequence < 2) j->sequence = 2;
        l->slices[0] = (int)(j->sequence / 3 + 1);
        l->slices[1] = (int)j->sequence - l->slices[0];
        j->boundary_option_count = j->gradient_option_count = j->tier_option_count = 0;
    }
    l->barrier = random_chance(rng, 70);
    l->local_loss_every = random_chance(rng, 30) ? (int)random_between(rng, 1, 2) : 0;
    j->local_loss = (struct local_loss){(double)random_between(rng, 0, 900) * 1e-9,
                                        (double)random_between(rng, 0, 900) * 1e-9,
                                        random_between(rng, 0, 900),
                                        {0, 0}};
    if (problem_check(p, &err) != OK || layout_stage_count(l) > 6) *l = plain;
}

bool random_breadth_first(struct problem *p, struct random *rng)
{
    struct job *j = &p->job;
    struct layout *l = &j->layout;
    struct error err = {OK, ""};
    l->schedule = SCHEDULE_LOOPED_BFS;
    l->pipeline = (int)random_between(rng, 1, 3);
    l->virtual_stages =
        (int)random_between(rng, l->pipeline == 1 ? 2 : 1, l->pipeline == 3 ? 1 : 3);
    l->zero = (int)random_between(rng, 0, 3);
    l->barrier = random_chance(rng, 70);
    if (random_chance(rng, 70)) j->boundary_option_count = j->gradient_option_count = 0;
    return layout_stage_count(l) <= p->model.layer_count && problem_check(p, &err) == OK;
}
