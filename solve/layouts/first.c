// Layouts to look at before anything is scanned: those that an engineer would try. Each deviation
// from that costs a layout a point; those with the same number of points form a tier. A layout's
// tier and its place in it depend only on the space. The scouts of a large space look at the usual
// switches with each choice of degrees, schedule, stages of a rank and micro-batch.

#include "data/base/grow.h"
#include "solve/layouts/work.h"

enum { TIER_LAYOUTS = 512, TIER_CHECKS = 4096 };
// Limits for a layout that can be looked at quickly: passes of its graph times the square of its
// ranks, and passes alone.
enum { FIRST_COST_MAX = 1000 * 1000, FIRST_PASSES_MAX = 20 * 1000 };

static int points_of_degrees(const struct layouts_first *f, const struct layout *l)
{
    const struct cluster *cluster = &f->problem->cluster;
    int node = cluster->groups[0].gpus_per_node;
    for (int g = 1; g < cluster->group_count; g++)
        if (cluster->groups[g].gpus_per_node < node) node = cluster->groups[g].gpus_per_node;
    int64_t micro_batches = f->problem->job.global_batch / l->data / l->micro_batch;
    int64_t passes = micro_batches * layout_stage_count(l) * l->slice_count;
    bool large = passes > FIRST_PASSES_MAX || passes * l->pipeline * l->pipeline > FIRST_COST_MAX;
    return 2 * (l->tensor > node) + (l->context > 1) + (l->micro_batch > 4) + 3 * large;
}

static int points_of_switches(const struct layout *l)
{
    static const int of_zero[] = {0, 0, 1, 2};
    return (l->sequence_parallel != (l->tensor > 1)) + (l->gradient_sync == SYNC_EXPOSED) +
           l->fused_embedding_sync + (l->context_kind != 0) + of_zero[l->zero] +
           2 * l->offload_optimizer + 2 * (l->local_loss_every > 0);
}

static int points_of(const struct layouts_first *f, const struct layout *l)
{
    const struct schedule_properties *kind = &schedule_kinds[l->schedule];
    int schedule = kind->in_megatron ? kind->virtual_stages != 1 : 2;
    return points_of_degrees(f, l) + schedule + points_of_switches(l) + !l->barrier;
}

void layouts_first_open(struct layouts_first *f, const struct problem *problem, struct arena *arena)
{
    *f = (struct layouts_first){.problem = problem, .arena = arena};
    for (int i = 0; i < FIRST_TIERS; i++)
        f->tiers[i].layouts = TAKE(arena, TIER_LAYOUTS, struct candidate);
}

// Those with the same degrees are adjacent in the space, and so are those of one kind.
static void offer_with_degrees(struct layouts_first *f, int64_t number, const struct layout *layout,
                               int points)
{
    struct first_degrees *d = f->degrees_count ? &f->degrees[f->degrees_count - 1] : NULL;
    if (!d || !same_degrees(&d->kinds[0].layout.layout, layout)) {
        d = GROWN(f->arena, f->degrees, f->degrees_count, f->degrees_capacity, 64);
        *d = (struct first_degrees){.count = 0};
    }
    struct first_kind *last = d->count ? &d->kinds[d->count - 1] : NULL;
    bool known = last && last->layout.layout.schedule == layout->schedule &&
                 last->layout.layout.virtual_stages == layout->virtual_stages &&
                 last->layout.layout.micro_batch == layout->micro_batch;
    if (known && last->points <= points) return;
    if (!known) {
        last = GROWN(f->arena, d->kinds, d->count, d->capacity, 8);
    }
    *last = (struct first_kind){{.number = number, .layout = *layout}, points};
}

void layouts_first_offer(struct layouts_first *f, int64_t number, const struct layout *layout)
{
    int points = points_of(f, layout);
    offer_with_degrees(f, number, layout,
                       2 * points_of_switches(layout) + layout->barrier + (layout->zero == 0));
    if (points >= FIRST_TIERS) return;
    struct first_tier *tier = &f->tiers[points];
    if (tier->count == TIER_LAYOUTS || tier->checks == TIER_CHECKS) return;
    assert(!tier->count || tier->layouts[tier->count - 1].number < number);
    struct problem one = problem_with_layout(f->problem, layout);
    struct error err = {0};
    tier->checks++;
    if (problem_check_layout(&one, &err) != OK) return;
    tier->layouts[tier->count++] = (struct candidate){.number = number, .layout = *layout};
}
