// What a priced document says of the tiers besides the GPU's own memory: of each run, with each
// option, what stays, what is in which tier, and passes that read it there.
#include "data/base/least.h"
#include "data/inputs/job_fields.h"
#include "data/places/cluster.h"
#include "data/priced/fields.h"

PRICES(tiers, p->tier_count, 0)
PRICES(groups, p->group_count, PRICE_NONE)

// Members of this kind that may be absent.
#define OWN_PRICES(name, count, low)                                                               \
    OF_PRICED(                                                                                     \
        name, json_is_present(value) ? priced_prices_get(value, count, low, to, arena, err) : OK,  \
        if (*(int64_t *const *)from) json_put_counts(w, key, *(int64_t *const *)from, count))
OWN_PRICES(own_passes, p->slice_count * p->group_count, PRICE_NONE)
OWN_PRICES(swaps, p->group_count, PRICE_NONE)
OWN_PRICES(energies, p->group_count, 0)

static const struct member priced_tiered_rows[] = {
    KEY_COUNT(priced_tiered, weight_bytes, REQUIRED, ALWAYS_WRITTEN, 0, JSON_COUNT_MAX),
    KEY_COUNT(priced_tiered, buffer_bytes, OPTIONAL, IF_SET, 0, JSON_COUNT_MAX),
    KEY_PRICES(priced_tiered, tier_bytes, REQUIRED, tiers),
    KEY_PRICES(priced_tiered, forward_ns, OPTIONAL, own_passes),
    KEY_PRICES(priced_tiered, backward_ns, OPTIONAL, own_passes),
    KEY_COUNT(priced_tiered, optimizer_bytes, REQUIRED, ALWAYS_WRITTEN, 0, JSON_COUNT_MAX),
    KEY_PRICES(priced_tiered, optimizer_ns, REQUIRED, groups),
    KEY_PRICES(priced_tiered, away_ns, OPTIONAL, swaps),
    KEY_PRICES(priced_tiered, back_ns, OPTIONAL, swaps),
    KEY_PRICES(priced_tiered, energy_uj, OPTIONAL, energies),
    KEY_PRICES(priced_tiered, again_uj, OPTIONAL, energies),
    KEY_PRICES(priced_tiered, swap_uj, OPTIONAL, energies),
};
MEMBERS(priced_tiered, struct priced_tiered, NULL, false, NULL);

// ---- accessors

int64_t priced_least_resident(const struct priced *p, const struct priced_run *run)
{
    int64_t least = run->weight_bytes + run->optimizer_bytes;
    for (int o = 0; o < p->gradient_option_count; o++)
        least = smaller(least, priced_weight_bytes(run, o) + priced_optimizer_bytes(run, o));
    return least + run->gradient_bytes;
}

bool priced_tiers(const struct priced *p)
{
    bool some = p->tier_count > 0 || p->recompute[RECOMPUTE_SWAP];
    for (int o = 0; o < p->gradient_option_count; o++)
        some = some || p->gradient_options[o].tier_option;
    return some;
}

bool priced_states_energy(const struct priced *p)
{
    return p->run_count && p->runs[0].tiered_count && p->runs[0].tiered[0].energy_uj;
}

bool priced_swaps_on(const struct priced *p, int group, int gradient_option)
{
    return p->recompute[RECOMPUTE_SWAP] && p->run_count &&
           p->runs[0].tiered[gradient_option].away_ns[group] >= 0;
}

const char *priced_swap_tier(const struct priced *p, int gradient_option)
{
    const char *own = p->gradient_options[gradient_option].activations;
    return own ? own : TIER_HOST;
}

bool priced_swaps_across(const struct priced *p)
{
    bool across = false;
    for (int o = 0; o < p->gradient_option_count && p->recompute[RECOMPUTE_SWAP]; o++)
        across = across || p->gradient_options[o].across_passes;
    return across;
}

// An option without a tier option leaves weights and passes as they are, the first the step, too.
static bool is_as_run(const struct priced *p, const struct priced_run *r, int option)
{
    const struct priced_tiered *t = &r->tiered[option];
    bool same = t->weight_bytes == r->weight_bytes && t->buffer_bytes == 0 && !t->forward_ns &&
                !t->backward_ns && t->optimizer_bytes == r->optimizer_bytes;
    for (int g = 0; g < p->group_count && !option; g++)
        same = same && (p->groups[g].excluded || t->optimizer_ns[g] == r->optimizer_ns[g]);
    return same;
}

// Lower bounds from the run's own passes hold for every option.
static bool is_sound(const struct priced *p, const struct priced_run *r, int option)
{
    const struct priced_tiered *t = &r->tiered[option];
    const int64_t *forward = priced_forward_ns(r, option),
                  *backward = priced_backward_ns(r, option);
    bool sound = t->weight_bytes >= 0 && t->weight_bytes <= r->weight_bytes &&
                 t->buffer_bytes >= 0 && t->optimizer_bytes <= r->optimizer_bytes;
    for (int i = 0; i < p->slice_count * p->group_count; i++)
        sound = sound && (p->groups[i % p->group_count].excluded ||
                          (forward[i] >= r->forward_ns[i] && backward[i] >= r->backward_ns[i]));
    for (int i = 0; i < p->tier_count; i++) sound = sound && t->tier_bytes[i] >= 0;
    return sound;
}

// Each group has prices of all runs or of none.
static enum status check_swap(const struct priced *p, int run, int option, struct error *err)
{
    const struct priced_tiered *t = &p->runs[run].tiered[option],
                               *first = &p->runs[0].tiered[option];
    bool swaps = p->recompute[RECOMPUTE_SWAP];
    if (!t->away_ns != !swaps || !t->back_ns != !swaps)
        return refuse(
            err,
            "runs[%d].tiered[%d]: expected away_ns and back_ns where \"swap\" is offered alone",
            run, option);
    for (int g = 0; swaps && g < p->group_count; g++)
        if (((t->away_ns[g] < 0) != (first->away_ns[g] < 0) ||
             (t->back_ns[g] < 0) != (first->away_ns[g] < 0)) &&
            !p->groups[g].excluded)
            return refuse(err,
                          "runs[%d].tiered[%d]: away_ns, back_ns: expected prices of all runs or "
                          "of none on group \"%s\"",
                          run, option, p->groups[g].name);
    return OK;
}

// Either all entries state energies, or none does; together no more than a budget can be.
static enum status check_energy(const struct priced *p, int run, int option, struct error *err)
{
    const struct priced_tiered *t = &p->runs[run].tiered[option];
    bool some = priced_states_energy(p);
    double most = 0;
    if (!t->energy_uj == some || !t->again_uj == some || !t->swap_uj == some)
        return refuse(err,
                      "runs[%d].tiered[%d]: expected energy_uj, again_uj and swap_uj in all "
                      "entries or in none",
                      run, option);
    for (int g = 0; some && g < p->group_count; g++)
        most = larger_double(most, (double)t->energy_uj[g] + (double)t->again_uj[g] +
                                       (double)t->swap_uj[g]);
    if (most * p->layer_count <= (double)ENERGY_MAX) return OK;
    return refuse(err,
                  "runs[%d].tiered[%d]: energies: expected at most 2^50 microjoules of all layers",
                  run, option);
}

enum status priced_tiered_check(const struct priced *p, int run, struct error *err)
{
    const struct priced_run *r = &p->runs[run];
    if (!priced_tiers(p) && !r->tiered_count) return OK;
    if (priced_has_widths(p)) return refuse(err, "tiers: expected none where stages have widths");
    if (!priced_tiers(p) || r->tiered_count != p->gradient_option_count)
        return refuse(
            err,
            "runs[%d].tiered: expected one entry for each of %d gradient_options where there are "
            "tiers, options with parts in them or \"swap\", else none, found %d",
            run, p->gradient_option_count, r->tiered_count);
    for (int o = 0; o < r->tiered_count; o++) {
        bool plain = !p->gradient_options[o].tier_option;
        TRY(check_swap(p, run, o, err));
        TRY(check_energy(p, run, o, err));
        if (!is_sound(p, r, o) || (plain && !is_as_run(p, r, o)))
            return refuse(err, "runs[%d].tiered[%d]: expected %s", run, o,
                          plain
                              ? "the run's own weights, state and passes, as no tier option moves "
                                "any, and of option 0 its step"
                              : "at most the run's own weights and state, and no shorter passes");
    }
    return OK;
}

double priced_largest_tiered(const struct priced *p, const struct priced_run *run)
{
    double most = 0;
    for (int o = 0; o < run->tiered_count; o++) {
        double sum = (double)run->tiered[o].buffer_bytes;
        for (int i = 0; i < p->tier_count; i++) sum += (double)run->tiered[o].tier_bytes[i];
        most = larger_double(most, sum);
    }
    return most;
}

double priced_longest_tiered(const struct priced_run *run, int pass)
{
    double most = 0;
    for (int o = 0; o < run->tiered_count; o++) {
        const struct priced_tiered *t = &run->tiered[o];
        double longer = (double)(priced_forward_ns(run, o)[pass] - run->forward_ns[pass] +
                                 priced_backward_ns(run, o)[pass] - run->backward_ns[pass]);
        if (t->away_ns && t->away_ns[pass] > 0)
            longer += (double)t->away_ns[pass] + (double)t->back_ns[pass];
        most = larger_double(most, longer);
    }
    return most;
}
