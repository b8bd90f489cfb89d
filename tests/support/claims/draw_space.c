// Spaces around the layout of a random problem, small enough to enumerate.
#include "data/kinds/schedules.h"
#include "formulate/price/price.h"
#include "tests/support/claims/draw_space.h"

#include "tests/support/claims/draw.h"
#include "tests/support/draws/kinds.h"
#include "tests/support/draws/models.h"
#include "tests/support/draws/tiers.h"
#include "tests/support/spaces.h"

void claims_draw_energy(struct problem *p, uint64_t seed, struct arena *arena)
{
    struct random own = {seed * 0x9e3779b97f4a7c15u + 211};
    struct error err = {OK, ""};
    struct priced priced;
    if (!random_chance(&own, 60) || job_tier_ways(&p->job) < 2 ||
        price_problem(&priced, p, arena, &err) != OK || random_energy(p, own.state, arena))
        return;
    for (int g = 0; g < p->cluster.group_count; g++)
        p->cluster.groups[g].memory_read_pj_per_byte =
            p->cluster.groups[g].memory_write_pj_per_byte = 0;
}

void claims_draw_kind(struct problem *p, uint64_t seed, struct arena *arena)
{
    struct random own = {seed * 0x9e3779b97f4a7c15u + 23};
    int64_t which = random_between(&own, 0, 9);
    bool free = true; // no rule names a group
    for (int i = 0; i < p->job.rule_count; i++) free = free && !p->job.rules[i].group_count;
    if (which < 3) random_pools(p, own.state, arena);
    else if (which < 6 && free) share_weights(p);
    else if (which < 8) random_frozen(p, own.state, arena);
}

static void list_values(const struct space_draw *d, struct space_axis *axis, const int *values,
                        int count)
{
    *axis = (struct space_axis){AXIS_LIST, TAKE(d->arena, count, int), 0};
    for (int i = 0; i < count; i++) {
        bool known = false;
        for (int k = 0; k < axis->count; k++) known = known || axis->values[k] == values[i];
        if (!known) axis->values[axis->count++] = values[i];
    }
}

static void open_axis(const struct space_draw *d, enum space_key key)
{
    struct space_axis *axis = &d->p->job.space.axes[key];
    const struct layout *l = d->layout;
    *axis = (struct space_axis){.kind = AXIS_ALL};
    if (key == SPACE_SCHEDULE && random_chance(d->rng, 85)) {
        int kinds[4] = {(int)l->schedule,
                        random_chance(d->rng, 50) ? SCHEDULE_GPIPE : SCHEDULE_1F1B};
        for (int i = 2; i < 4; i++)
            kinds[i] = (int)random_between(d->rng, 0, SCHEDULE_KIND_COUNT - 1);
        list_values(d, axis, kinds, (int)random_between(d->rng, 2, 4));
    } else if ((key == SPACE_PIPELINE || key == SPACE_DATA || key == SPACE_MICRO_BATCH) &&
               random_chance(d->rng, 50)) {
        list_values(d, axis,
                    (int[]){key == SPACE_PIPELINE ? l->pipeline
                            : key == SPACE_DATA   ? l->data
                                                  : l->micro_batch,
                            1},
                    2);
    }
}

// Any but expert degrees, as no problem drawn here has mixtures, and settings of recomputation.
static enum space_key any_key(struct random *rng)
{
    int key = (int)random_between(rng, 0, SPACE_FUSED_EMBEDDING_SYNC);
    return (enum space_key)(key + (key >= SPACE_EXPERT_TENSOR ? 2 : 0));
}

static bool counts_base(const struct space_draw *d)
{
    struct error err = {OK, ""};
    struct space_limits limits = problem_space_limits(d->p);
    struct problem one = problem_with_layout(d->p, d->layout);
    if (problem_check(d->p, &err) != OK || problem_check_layout(&one, &err) != OK) return false;
    int64_t count = spaces_count(d->p);
    return count >= 1 && count <= CLAIMS_LAYOUTS_MAX &&
           space_contains(&d->p->job.space, &limits, d->layout, NULL);
}

bool claims_draw_space(const struct space_draw *d)
{
    struct space *space = &d->p->job.space;
    for (int attempt = 0; attempt < 12; attempt++) {
        *space = (struct space){.given = true,
                                .fewer_devices = d->spare > 1 || random_chance(d->rng, 30)};
        if (d->themed && random_chance(d->rng, 80)) open_axis(d, SPACE_SCHEDULE);
        for (int left = (int)random_between(d->rng, attempt > 8 ? 0 : 1, d->themed ? 2 : 4);
             left > 0; left--)
            open_axis(d, any_key(d->rng));
        if (space->axes[SPACE_SLICE_COUNT].kind == AXIS_ALL && d->p->job.sequence <= 6)
            space->slice_tokens = 1;
        struct random own = {d->rng->state}; // what follows is drawn as without it
        if (layout_recomputes_alike(d->layout) && random_chance(&own, 50))
            space->axes[SPACE_RECOMPUTE].kind = AXIS_ALL;
        if (counts_base(d)) return true;
    }
    return false;
}

bool claims_draw_kinds(struct problem *p, struct random *rng, struct arena *arena)
{
    struct space_draw space = {p, rng, arena, &p->job.layout, .themed = true, .spare = 1};
    random_kinds_problem(p, rng, arena);
    return claims_draw_space(&space);
}
