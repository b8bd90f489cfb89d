// Layers whose parts are in tiers besides the GPU's own memory: docs/FORMULAS.md section 4, Shares
// and Tiers.
#include <string.h>

#include "formulate/price/pricing.h"

// Seconds of one of several concurrent activities, linear in the part of the host's share that the
// device updates: if it updates none of it, and all of it.
struct work {
    real none, all;
};

static real at(const struct work *w, real part) { return w->none + part * (w->all - w->none); }

// The longest of all activities at this part.
static real longest_at(const struct work *works, int count, real part)
{
    real longest = 0;
    for (int i = 0; i < count; i++) longest = fmaxl(longest, at(&works[i], part));
    return longest;
}

// The minimum over all parts: at an end, or where two activities take equally long.
static real least_of_longest(const struct work *works, int count)
{
    real least = fminl(longest_at(works, count, 0), longest_at(works, count, 1));
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++) {
            real none = works[i].none - works[k].none, all = works[i].all - works[k].all;
            if (none * all < 0) least = fminl(least, longest_at(works, count, none / (none - all)));
        }
    return least;
}

// With `share` of its state on the host, which updates it side by side with the device.
static real shared_step_s(const struct pricing *x, const struct layer_bytes *bytes, int group,
                          real share, real device_s)
{
    const struct gpu_costs *gpu = x->gpus[group];
    real width = job_state_bytes(&x->problem->job), values = share * bytes->state / width,
         link = gpu->host_link_bytes_per_s.value, memory = gpu->host_memory_bytes_per_s.value,
         rate = gpu->host_update_values_per_s.value;
    if (values == 0) return device_s;
    const struct work works[] = {
        {(1 - share) * device_s, device_s},
        {values * fmaxl(x->e_g, x->e) / link, values * width / link},
        {values * (2 * width + x->e_g + x->e) / memory, values * 2 * width / memory},
        {rate > 0 ? values / rate : 0, 0},
    };
    return least_of_longest(works, ARRAY_LENGTH(works));
}

// The host's part by itself: gradients down, update, weights up.
static real host_step_s(const struct pricing *x, const struct layer_bytes *bytes, int group,
                        real share)
{
    const struct gpu_costs *gpu = x->gpus[group];
    real values = share * bytes->values, moved = (x->e_g + x->e) * values,
         rate = gpu->host_update_values_per_s.value;
    return moved / gpu->host_link_bytes_per_s.value +
           fmaxl((2 * share * bytes->state + moved) / gpu->host_memory_bytes_per_s.value,
                 rate > 0 ? values / rate : 0);
}

// ---- tiers

// Options are ordered by compression (price.c).
static struct tier_option option_of(const struct pricing *x, int option)
{
    return job_tiering(&x->problem->job, option % job_tier_ways(&x->problem->job));
}

static real share_of(const struct tier_option *t)
{
    return t->parts[TIER_OPTIMIZER].percent / 100.0L;
}

real state_that_stays(const struct pricing *x, const struct layer_bytes *bytes, int option)
{
    const struct tier_option t = option_of(x, option);
    return bytes->fixed + (1 - share_of(&t)) * bytes->movable;
}

real state_step_s(const struct pricing *x, const struct layer_bytes *bytes, int group, int option,
                  real device_s, bool timed)
{
    const struct tier_option t = option_of(x, option);
    real share = share_of(&t);
    if (!t.parts[TIER_OPTIMIZER].in_turn) return shared_step_s(x, bytes, group, share, device_s);
    real both = (1 - share) * device_s + host_step_s(x, bytes, group, share);
    return timed ? fmaxl(device_s, both) : both;
}

// What the option moves of a part.
static real moved(const struct layer_bytes *bytes, const struct tier_option *t, enum tier_part part)
{
    const real all[] = {bytes->frozen, bytes->trained, bytes->movable};
    return all[part] * t->parts[part].percent / 100;
}

// Of both parts of the weights, into this tier.
static real moved_into(const struct layer_bytes *bytes, const struct tier_option *t,
                       const char *tier)
{
    real sum = 0;
    for (int part = TIER_FROZEN; part <= TIER_TRAINED; part++)
        if (t->parts[part].tier && !strcmp(t->parts[part].tier, tier))
            sum += moved(bytes, t, (enum tier_part)part);
    return sum;
}

// One GPU's share; 0: its group lacks the tier.
static real rate_of(const struct pricing *x, int group, const char *name, bool write)
{
    const struct tier *t = group_tier(&x->problem->cluster.groups[group], name);
    if (!strcmp(name, TIER_HOST)) return x->gpus[group]->host_link_bytes_per_s.value;
    return t ? (real)(write ? t->write_bytes_per_s : t->read_bytes_per_s) / t->gpus : 0;
}

static enum status price_way(const struct pricing *x, int run, int group, const char *tier,
                             bool away, const char *of, int64_t *to, struct error *err)
{
    real rate = tier ? rate_of(x, group, tier, away) : 0;
    *to = PRICE_NONE;
    if (!(rate > 0)) return OK;
    return round_time(to, bytes_of_layer(x, &x->problem->model.runs[run]).stash[0] / rate,
                      "swap time", of, err);
}

enum status price_swaps(struct pricing *x, int run, int group, const char *of, struct error *err)
{
    const struct priced_run *to = &x->priced->runs[run];
    for (int o = 0; x->priced->recompute[RECOMPUTE_SWAP] && o < to->tiered_count; o++) {
        const struct priced_tiered *own = &to->tiered[o];
        const char *tier = option_of(x, o).parts[TIER_ACTIVATIONS].tier;
        TRY(price_way(x, run, group, tier, true, of, &own->away_ns[group], err));
        TRY(price_way(x, run, group, tier, false, of, &own->back_ns[group], err));
    }
    return OK;
}

// The same for every group that has the tier.
static bool is_read_in_place(const struct pricing *x, const char *tier)
{
    for (int g = 0; g < x->problem->cluster.group_count; g++) {
        const struct tier *t = group_tier(&x->problem->cluster.groups[g], tier);
        if (t) return t->in_place;
    }
    return false;
}

// ---- energy, in microjoules of all GPUs of a stage

struct byte_energy {
    real read, write;
};

static struct byte_energy energy_of(const struct pricing *x, int group, const char *tier)
{
    const struct node_group *g = &x->problem->cluster.groups[group];
    const struct tier *t = tier ? group_tier(g, tier) : NULL;
    if (!tier) return (struct byte_energy){g->memory_read_pj_per_byte, g->memory_write_pj_per_byte};
    return t ? (struct byte_energy){t->read_pj_per_byte, t->write_pj_per_byte}
             : (struct byte_energy){0, 0};
}

// Of reading a layer's weights once; *write: of writing the trained ones.
static real weights_pj(const struct pricing *x, const struct layer_bytes *bytes, int group,
                       const struct tier_option *t, real *write)
{
    struct byte_energy own = energy_of(x, group, NULL);
    real sum = (bytes->frozen + bytes->trained) * own.read;
    *write = bytes->trained * own.write;
    for (int part = TIER_FROZEN; part <= TIER_TRAINED; part++) {
        const char *tier = t->parts[part].tier;
        real away = moved(bytes, t, (enum tier_part)part);
        if (!tier) continue;
        struct byte_energy there = energy_of(x, group, tier);
        sum += away * (there.read + (is_read_in_place(x, tier) ? -own.read : own.write));
        if (part == TIER_TRAINED) *write += away * (there.write - own.write);
    }
    return sum;
}

// Of a step's state and of what it sends to the host and back.
static real state_pj(const struct pricing *x, const struct layer_bytes *bytes, int group,
                     const struct tier_option *t)
{
    struct byte_energy own = energy_of(x, group, NULL), host = energy_of(x, group, TIER_HOST);
    real share = share_of(t);
    return bytes->movable * ((1 - share) * (own.read + own.write)) +
           share * (bytes->movable * (host.read + host.write) +
                    bytes->values * (x->e_g * (own.read + host.write) + x->e * host.read));
}

enum status price_energy(struct pricing *x, int run, int group, const char *of, struct error *err)
{
    const struct layer_run *layers = &x->problem->model.runs[run];
    const struct priced_run *to = &x->priced->runs[run];
    for (int o = 0; o < to->tiered_count && to->tiered[o].energy_uj; o++) {
        const struct priced_tiered *own = &to->tiered[o];
        const struct tier_option t = option_of(x, o);
        struct layer_bytes bytes = bytes_of_layer(x, layers);
        struct byte_energy here = energy_of(x, group, NULL),
                           away = energy_of(x, group, t.parts[TIER_ACTIVATIONS].tier);
        real write, read = x->priced->slice_count * x->m * weights_pj(x, &bytes, group, &t, &write),
                    pass = run_has_gradient(x, layers) ? 2 : 1;
        real all = pass * read + write + state_pj(x, &bytes, group, &t);
        real both = here.read + away.write + away.read + here.write;
        bool swaps = own->away_ns && own->away_ns[group] >= 0;
        TRY(round_bytes(&own->energy_uj[group], x->D * all / 1e6L, "energy", of, err));
        TRY(round_bytes(&own->again_uj[group], x->D * read / 1e6L, "energy", of, err));
        TRY(round_bytes(&own->swap_uj[group],
                        swaps ? x->D * x->m * bytes.stash[0] * both / 1e6L : 0, "energy", of, err));
    }
    return OK;
}

real tiered_read_s(const struct pricing *x, const struct layer_run *run, int group, int option)
{
    const struct tier_option t = option_of(x, option);
    real longest = 0;
    if (!tier_option_moves_weights(&t)) return 0;
    struct layer_bytes bytes = bytes_of_layer(x, run);
    for (int part = TIER_FROZEN; part <= TIER_TRAINED; part++) {
        const char *tier = t.parts[part].tier;
        if (tier)
            longest = fmaxl(longest, moved_into(&bytes, &t, tier) / rate_of(x, group, tier, false));
    }
    return longest;
}

real tiered_step_s(const struct pricing *x, const struct layer_run *run, int group, int option,
                   real device_s, bool timed)
{
    const struct tier_option t = option_of(x, option);
    if (!t.parts[TIER_OPTIMIZER].tier && !t.parts[TIER_TRAINED].tier) return device_s;
    struct layer_bytes bytes = bytes_of_layer(x, run);
    real step = state_step_s(x, &bytes, group, option, device_s, timed);
    if (!t.parts[TIER_TRAINED].tier) return step;
    return step +
           moved(&bytes, &t, TIER_TRAINED) / rate_of(x, group, t.parts[TIER_TRAINED].tier, true);
}

void name_tiers(struct pricing *x)
{
    x->priced->tiers = cluster_tiers(&x->problem->cluster, &x->priced->tier_count, x->arena);
}

int64_t tier_limit_bytes(const struct pricing *x, int group, const char *tier)
{
    const struct tier *t = group_tier(&x->problem->cluster.groups[group], tier);
    return t && t->bytes ? t->bytes / t->gpus / x->problem->job.layout.virtual_stages : -1;
}

const char *lacks_tier(const struct pricing *x, int group)
{
    const struct job *job = &x->problem->job;
    for (int i = 0; i < job->tier_option_count; i++)
        for (int part = TIER_FROZEN; part <= TIER_TRAINED; part++) {
            const char *tier = job->tier_options[i].parts[part].tier;
            bool has = !tier || (strcmp(tier, TIER_HOST)
                                     ? group_tier(&x->problem->cluster.groups[group], tier) != NULL
                                     : x->gpus[group]->host_link_bytes_per_s.value > 0);
            if (!has) return tier;
        }
    return NULL;
}

void open_tiers(struct pricing *x, int run)
{
    struct priced *priced = x->priced;
    struct priced_run *to = &priced->runs[run];
    int passes = priced->slice_count * priced->group_count;
    if (!priced->tier_count && !priced->recompute[RECOMPUTE_SWAP] &&
        job_tier_ways(&x->problem->job) <= 1)
        return;
    to->tiered_count = priced->gradient_option_count;
    to->tiered = TAKE(x->arena, to->tiered_count, struct priced_tiered);
    for (int o = 0; o < to->tiered_count; o++) {
        to->tiered[o].tier_bytes = TAKE(x->arena, priced->tier_count, int64_t);
        to->tiered[o].optimizer_ns = TAKE(x->arena, priced->group_count, int64_t);
        const struct tier_option t = option_of(x, o);
        if (tier_option_moves_weights(&t)) {
            to->tiered[o].forward_ns = TAKE(x->arena, passes, int64_t);
            to->tiered[o].backward_ns = TAKE(x->arena, passes, int64_t);
        }
        int64_t **of_groups[] = {&to->tiered[o].away_ns, &to->tiered[o].back_ns,
                                 &to->tiered[o].energy_uj, &to->tiered[o].again_uj,
                                 &to->tiered[o].swap_uj};
        for (int i = 0; i < (int)ARRAY_LENGTH(of_groups); i++)
            if (i < 2 ? priced->recompute[RECOMPUTE_SWAP] : problem_states_energy(x->problem))
                *of_groups[i] = TAKE(x->arena, priced->group_count, int64_t);
    }
}

// What is in the tier for the whole iteration. Of the state, the host has all or the option's
// share.
static real held(const struct pricing *x, const struct layer_bytes *bytes, int option,
                 const char *tier)
{
    const struct tier_option t = option_of(x, option);
    real sum = moved_into(bytes, &t, tier);
    if (strcmp(tier, TIER_HOST)) return sum;
    bool bare = t.parts[TIER_OPTIMIZER].in_turn; // without copies of the device's step
    return sum + share_of(&t) * (bare ? bytes->state : bytes->movable);
}

enum status price_tiered_bytes(const struct pricing *x, int run, const struct layer_bytes *bytes,
                               struct error *err)
{
    const struct layer_run *layers = &x->problem->model.runs[run];
    struct priced_run *to = &x->priced->runs[run];
    for (int o = 0; o < to->tiered_count; o++) {
        const struct tier_option t = option_of(x, o);
        struct priced_tiered *own = &to->tiered[o];
        real kept = bytes->weight, buffers = 0;
        for (int part = TIER_FROZEN; part <= TIER_TRAINED; part++) {
            real away = moved(bytes, &t, (enum tier_part)part);
            kept -= away;
            if (away > 0 && !is_read_in_place(x, t.parts[part].tier)) buffers += 2 * away;
        }
        TRY(round_bytes(&own->weight_bytes, kept, "weights", layers->name, err));
        TRY(round_bytes(&own->buffer_bytes, buffers, "buffers", layers->name, err));
        TRY(round_bytes(&own->optimizer_bytes, state_that_stays(x, bytes, o), "optimizer state",
                        layers->name, err));
        for (int i = 0; i < x->priced->tier_count; i++)
            TRY(round_bytes(&own->tier_bytes[i], held(x, bytes, o, x->priced->tiers[i]),
                            "bytes in a tier", layers->name, err));
    }
    return OK;
}
