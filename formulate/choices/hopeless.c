// Explains in words why there is no plan at all, as far as one stage or a simple count shows it.
// Anything more subtle is left to the tree.
#include <inttypes.h>

#include "formulate/choices/choice.h"

static double gigabytes(int64_t bytes) { return (double)bytes / 1e9; }

static const char *without_slots(const struct choices *c)
{
    const struct priced *p = c->priced;
    const char *ranks = c->virtual_stages > 1 ? "ranks" : "stages";
    for (int g = 0; g < p->group_count; g++)
        if (p->groups[g].excluded)
            return arena_print(c->arena,
                               "slots: the groups have room for %" PRId64 " of %d %s of %" PRId64
                               " devices; group %s is excluded: %s",
                               priced_all_seats(p), c->rank_count, ranks, p->devices_per_stage,
                               p->groups[g].name, p->groups[g].excluded);
    return arena_print(
        c->arena, "slots: the groups have room for %" PRId64 " of %d %s of %" PRId64 " devices",
        priced_all_seats(p), c->rank_count, ranks, p->devices_per_stage);
}

static const char *memory_reason(const struct choices *c, int stage,
                                 const struct removed_choice *removed)
{
    const struct priced *p = c->priced;
    const struct choice *least = &removed->choice;
    int64_t limit = p->groups[least->group].memory_limit_bytes;
    bool some = priced_may_recompute(p, RECOMPUTE_FIRST_LAYERS);
    for (int mode = 0; mode < RECOMPUTE_COUNT; mode++)
        some = some || (recompute_in_part((enum recompute)mode) &&
                        priced_may_recompute(p, (enum recompute)mode));
    const char *recomputation = priced_may_recompute(p, RECOMPUTE_FULL)
                                    ? "even with full recomputation"
                                : some ? "even with the recomputation that is allowed"
                                       : "without recomputation";
    return arena_print(
        c->arena,
        "stage %d: memory on every group %s: nearest is %d layer%s on %s, %.6f GB of %.6f GB%s",
        stage, recomputation, least->layer_count, least->layer_count == 1 ? "" : "s",
        p->groups[least->group].name, gigabytes(limit + removed->amount), gigabytes(limit),
        c->virtual_stages > 1 ? ", including the least of the rank's other stages" : "");
}

static const char *empty_stage(const struct choices *c, int stage)
{
    const struct removed_choice *by_memory = NULL, *by_rule = NULL;
    for (int i = 0; i < c->removed_count; i++) {
        const struct removed_choice *r = &c->removed[i];
        if (r->stage != stage) continue;
        if (r->removal == REMOVED_BY_BOUND)
            return arena_print(c->arena, "stage %d: no choice can be part of a better plan", stage);
        if (r->removal == REMOVED_BY_MEMORY && (!by_memory || r->amount < by_memory->amount))
            by_memory = r;
        if (r->removal == REMOVED_BY_RULE && !by_rule) by_rule = r;
    }
    if (by_memory) {
        const char *memory = memory_reason(c, stage, by_memory);
        return by_rule ? arena_print(c->arena, "%s (rules leave out others)", memory) : memory;
    }
    if (by_rule)
        return arena_print(c->arena,
                           "stage %d: rule %" PRId64 " excludes every choice that is left", stage,
                           by_rule->amount);
    return without_slots(c);
}

// Whether one group has a choice for every stage of the rank.
static bool rank_has_group(const struct choices *c, int rank)
{
    for (int g = 0; g < c->priced->group_count; g++) {
        int turn = 0;
        for (; turn < c->virtual_stages; turn++) {
            const struct stage_choices *stage = &c->stages[choices_stage_of(c, rank, turn)];
            int i = 0;
            while (i < stage->count && stage->items[i].group != g) i++;
            if (i == stage->count) break;
        }
        if (turn == c->virtual_stages) return true;
    }
    return false;
}

// An upper bound of the layers that the stages hold together, with one stage per rank.
static int64_t most_layers(const struct choices *c)
{
    int64_t sum = 0;
    for (int s = 0; s < c->priced->stage_count; s++) {
        int most = 0;
        for (int i = 0; i < c->stages[s].count; i++)
            if (c->stages[s].items[i].layer_count > most) most = c->stages[s].items[i].layer_count;
        sum += most;
    }
    return sum;
}

// The same for ranks with several stages; returns the first stage of a rank that fits nowhere, else
// -1.
static int most_layers_of_ranks(const struct choices *c, int64_t *sum, const char **why)
{
    *sum = 0;
    for (int rank = 0; rank < c->rank_count; rank++) {
        if (!rank_has_group(c, rank)) {
            *why = arena_print(
                c->arena, "rank %d: memory and rules leave no node group for all its stages", rank);
            return choices_stage_of(c, rank, 0);
        }
        int most = choices_rank_most_layers(c, rank, c->arena);
        if (most < 0) {
            *why = arena_print(c->arena,
                               "rank %d: memory: its stages do not fit together on any node group",
                               rank);
            return choices_stage_of(c, rank, 0);
        }
        *sum += most;
    }
    return -1;
}

// "; a device of A may hold 64.0 GB, of B ..."
static const char *limits_of(const struct choices *c)
{
    const struct priced *p = c->priced;
    const char *text = "";
    for (int g = 0; g < p->group_count; g++)
        if (!p->groups[g].excluded)
            text = arena_print(c->arena, "%s%s of %s may hold %.6f GB", text,
                               *text ? "," : "; a device", p->groups[g].name,
                               gigabytes(p->groups[g].memory_limit_bytes));
    return text;
}

int choices_hopeless_stage(const struct choices *c, const char **why)
{
    const struct priced *p = c->priced;
    *why = NULL;
    if (p->layer_count < p->stage_count) {
        *why = arena_print(c->arena, "layers: %d for %d stages, and every stage needs at least one",
                           p->layer_count, p->stage_count);
        return 0;
    }
    if (priced_all_seats(p) < c->rank_count) {
        *why = without_slots(c);
        return 0;
    }
    for (int s = 0; s < p->stage_count; s++)
        if (!c->stages[s].count) {
            *why = empty_stage(c, s);
            return s;
        }
    int64_t most;
    if (c->virtual_stages > 1) {
        int stage = most_layers_of_ranks(c, &most, why);
        if (stage >= 0) return stage;
    } else {
        most = most_layers(c);
    }
    if (most < p->layer_count) {
        *why = arena_print(c->arena,
                           "memory and rules: all stages together hold at most %" PRId64
                           " of %d layers, even with the recomputation that is allowed%s",
                           most, p->layer_count, limits_of(c));
        return 0;
    }
    return -1;
}
