// Random tiers. Their sizes and rates are drawn around what the problem's own layers have and take.
#include "tests/support/draws/tiers.h"

#include "data/kinds/schedules.h"
#include "formulate/price/price.h"
#include "tests/support/check.h"

enum { OPTIONS_MOST = 3 };

static void give_rates(struct problem *p, struct random *own)
{
    for (int g = 0; g < p->costs.gpu_count; g++) {
        double unit = random_chance(own, 50) ? 1e8 : 1e11;
        p->costs.gpus[g].host_memory_bytes_per_s =
            exactly((double)random_between(own, 1, 40) * unit);
        p->costs.gpus[g].host_link_bytes_per_s = exactly((double)random_between(own, 1, 40) * unit);
    }
}

// A share of one part of the weights or of the state, or of several.
static struct tier_option random_option(int number, bool weights, struct random *own)
{
    static const char *const names[OPTIONS_MOST] = {"a", "b", "c"}, *const tiers[] = {
                                                                        "dense", "slow", TIER_HOST};
    struct tier_option t = {.name = names[number]};
    for (int part = weights ? TIER_FROZEN : TIER_OPTIMIZER; part <= TIER_OPTIMIZER; part++) {
        if (part < TIER_OPTIMIZER ? random_chance(own, 40) : weights && random_chance(own, 60))
            continue;
        t.parts[part].tier = part == TIER_OPTIMIZER ? TIER_HOST : tiers[random_between(own, 0, 2)];
        t.parts[part].percent = random_chance(own, 50) ? 100 : (int)random_between(own, 1, 99);
    }
    if (!t.parts[0].tier && !t.parts[1].tier && !t.parts[2].tier)
        t.parts[weights ? TIER_TRAINED : TIER_OPTIMIZER] = (struct tier_share){TIER_HOST, 50};
    return t;
}

// Activations in a tier that has none of the option's weights, from numbers of their own.
static void move_activations(struct tier_option *t, uint64_t state)
{
    static const char *const tiers[] = {"dense", "slow", TIER_HOST};
    struct random own = {state * 0x9e3779b97f4a7c15u + 77};
    const char *tier = tiers[random_between(&own, 0, 2)];
    for (int part = TIER_FROZEN; part <= TIER_TRAINED; part++)
        if (t->parts[part].tier && !strcmp(t->parts[part].tier, tier)) return;
    if (random_chance(&own, 60)) t->parts[TIER_ACTIVATIONS].tier = tier;
}

// Some activations are in transfer under other passes, where the job may have that; from numbers of
// their own. A stage then has choices with and without.
static void cross_passes(const struct job *j, struct tier_option *options, int count,
                         uint64_t state)
{
    const struct layout *l = &j->layout;
    struct random own = {state * 0x9e3779b97f4a7c15u + 89};
    bool may = l->barrier && l->virtual_stages == 1 && !l->local_loss_every && !j->space.given &&
               !schedule_kinds[l->schedule].splits_backward && j->objective != OBJECTIVE_MAX_LOAD;
    for (int i = 0; i < count && may; i++)
        options[i].parts[TIER_ACTIVATIONS].across_passes =
            options[i].parts[TIER_ACTIVATIONS].tier && random_chance(&own, 60);
}

// Some of the states on the host are updated there behind the device's step, from numbers of their
// own.
static void take_turns(struct tier_option *t, uint64_t state)
{
    struct random own = {state * 0x9e3779b97f4a7c15u + 83};
    t->parts[TIER_OPTIMIZER].in_turn = t->parts[TIER_OPTIMIZER].tier && random_chance(&own, 30);
}

// Reads the weights of a layer in about the time that the layer takes.
static double random_rate(const struct priced *priced, struct random *own)
{
    const struct priced_run *r = &priced->runs[priced->run_count / 2];
    double ns = 1;
    for (int g = 0; g < priced->group_count; g++)
        if (!priced->groups[g].excluded) ns = (double)r->forward_ns[g] + 1;
    return ((double)r->weight_bytes + 1) / ns * 1e9 * (double)random_between(own, 2, 40) / 10;
}

static void give_tiers(struct problem *p, const struct priced *priced, struct random *own,
                       struct arena *arena)
{
    for (int g = 0; g < p->cluster.group_count; g++) {
        struct tier *tiers = TAKE(arena, 3, struct tier);
        int gpus = (int)random_between(own, 1, 3);
        tiers[0] = (struct tier){.name = "dense", .gpus = 1, .in_place = true};
        tiers[1] = (struct tier){.name = "slow", .gpus = gpus};
        tiers[2] = (struct tier){.name = TIER_HOST, .gpus = gpus};
        for (int i = 0; i < 2; i++) {
            tiers[i].read_bytes_per_s = random_rate(priced, own) * tiers[i].gpus;
            tiers[i].write_bytes_per_s = random_rate(priced, own) * tiers[i].gpus;
        }
        p->cluster.groups[g].tiers = tiers, p->cluster.groups[g].tier_count = 3;
    }
}

// About as much as a stage needs with all of its layers' bytes on the GPU, so that it may be worth
// it to move some.
static void leave_little_room(struct problem *p, const struct priced *priced, struct random *own)
{
    const struct job *j = &p->job;
    int stages = priced->rank_count, flight = priced->micro_batches;
    int64_t resident = 0, working = 0, message = 0;
    if (flight > stages) flight = stages;
    for (int r = 0; r < priced->run_count; r++) {
        const struct priced_run *run = &priced->runs[r];
        int64_t passing = run->working_bytes[0] + run->unsharded_bytes * run->count;
        resident += run->count * (run->weight_bytes + run->gradient_bytes + run->optimizer_bytes +
                                  flight * run->stash_bytes[0]);
        if (passing > working) working = passing;
    }
    for (int c = 0; c < priced->cut_count; c++) message += 4 * priced->cuts[c].message_bytes;
    for (int g = 0; g < p->cluster.group_count; g++) {
        int64_t need = resident / stages * random_between(own, 50, 130) / 100 + working + message +
                       priced->groups[g].constant_bytes + j->memory_margin_bytes;
        p->cluster.groups[g].memory_bytes = 1 + (int64_t)((double)need / j->memory_fraction);
    }
}

// Some tiers have a limit, around an even share of the most that an option puts there.
static bool limit_tiers(struct problem *p, struct random *own, struct arena *arena)
{
    struct priced priced;
    struct error err = {OK, ""};
    if (problem_check(p, &err) != OK) return false;
    CHECK_OK(price_problem(&priced, p, arena, &err));
    for (int i = 0; i < 3; i++) {
        int64_t most = 0;
        for (int o = 0; o < priced.gradient_option_count; o++) {
            int64_t sum = 0;
            for (int r = 0; r < priced.run_count; r++) {
                sum += priced.runs[r].count * priced.runs[r].tiered[o].tier_bytes[i];
                if (priced.recompute[RECOMPUTE_SWAP] &&
                    !strcmp(priced_swap_tier(&priced, o), priced.tiers[i]))
                    sum += priced.runs[r].count * priced.runs[r].stash_bytes[RECOMPUTE_NONE];
            }
            if (sum > most) most = sum;
        }
        for (int g = 0; g < p->cluster.group_count; g++) {
            struct tier *t = &p->cluster.groups[g].tiers[i];
            if (random_chance(own, 40)) continue;
            t->bytes = 1 + most * random_between(own, 20, 130) / 100 * t->gpus / priced.rank_count;
        }
    }
    return true;
}

bool random_tiers(struct problem *p, uint64_t seed, struct arena *arena)
{
    struct random own = {seed * 0x9e3779b97f4a7c15u + 31};
    struct priced priced;
    struct error err = {OK, ""};
    struct job *j = &p->job;
    bool weights = !j->recompute[RECOMPUTE_SWAP];
    if (j->layout.slice_count > 1 || problem_check(p, &err) != OK) return false;
    const struct tier_option *shares = j->tier_options; // ahead of the others
    int shared = weights ? 0 : j->tier_option_count;
    j->tier_option_count = shared;
    give_rates(p, &own);
    if (price_problem(&priced, p, arena, &err) != OK) return false; // a space's own layout
    give_tiers(p, &priced, &own, arena);
    int count = (int)random_between(&own, weights, 2);
    struct tier_option *options = TAKE(arena, shared + OPTIONS_MOST, struct tier_option) + shared;
    for (int i = 0; i < shared; i++) options[i - shared] = shares[i];
    for (int i = 0; i < count; i++) options[i] = random_option(i, weights, &own);
    for (int i = 0; i < count; i++) take_turns(&options[i], own.state + (uint64_t)i);
    for (int i = 0; i < count && !schedule_splits_backward(j->layout.schedule); i++)
        move_activations(&options[i], own.state + (uint64_t)i);
    cross_passes(j, options, count, own.state);
    j->tier_options = options - shared, j->tier_option_count = shared + count;
    if (weights || random_chance(&own, 70)) leave_little_room(p, &priced, &own);
    return limit_tiers(p, &own, arena);
}

// ---- energy

static double random_pj(struct random *own) { return (double)random_between(own, 0, 40) * 5000; }

// The least and the most that the layers can take, wherever they are.
static void energy_range(const struct priced *p, int64_t *least, int64_t *most)
{
    *least = *most = 0;
    for (int r = 0; r < p->run_count; r++) {
        int64_t low = INT64_MAX, high = 0;
        for (int o = 0; o < p->gradient_option_count; o++)
            for (int g = 0; g < p->group_count; g++) {
                if (p->groups[g].excluded) continue;
                const struct priced_tiered *t = &p->runs[r].tiered[o];
                int64_t all = t->energy_uj[g] + t->again_uj[g];
                if (!p->tier_count) all += t->swap_uj[g];
                if (t->energy_uj[g] < low) low = t->energy_uj[g];
                if (all > high) high = all;
            }
        if (low == INT64_MAX) continue;
        *least += p->runs[r].count * low, *most += p->runs[r].count * high;
    }
}

bool random_energy(struct problem *p, uint64_t seed, struct arena *arena)
{
    struct random own = {seed * 0x9e3779b97f4a7c15u + 101};
    struct priced priced;
    struct error err = {OK, ""};
    int64_t least, most;
    for (int g = 0; g < p->cluster.group_count; g++) {
        struct node_group *group = &p->cluster.groups[g];
        group->memory_read_pj_per_byte = random_pj(&own);
        group->memory_write_pj_per_byte = random_pj(&own);
        for (int i = 0; i < group->tier_count; i++) {
            group->tiers[i].read_pj_per_byte = random_pj(&own);
            group->tiers[i].write_pj_per_byte = random_pj(&own);
        }
    }
    if (problem_check(p, &err) != OK || !problem_states_energy(p)) return false;
    CHECK_OK(price_problem(&priced, p, arena, &err));
    energy_range(&priced, &least, &most);
    p->job.budget.energy_max_uj = 1 + least + (most - least) * random_between(&own, 0, 60) / 100;
    return true;
}
