// What a priced document says of the tiers besides the GPU's own memory: of each run, with each
// option, what stays, what is in which tier, and passes that read it there.
#include "data/base/least.h"
#include "data/places/cluster.h"
#include "data/priced/fields.h"

PRICES(passes, p->slice_count * p->group_count, PRICE_NONE)
PRICES(tiers, p->tier_count, 0)
PRICES(groups, p->group_count, PRICE_NONE)

GET_MEMBER(get_swaps)
{
    return json_is_present(value) ? get_groups(value, to, context, arena, err) : OK;
}

PUT_MEMBER(put_swaps)
{
    if (*(int64_t *const *)from) put_groups(w, key, from, context);
}

static const struct member priced_tiered_rows[] = {
    KEY_COUNT(priced_tiered, weight_bytes, REQUIRED, ALWAYS_WRITTEN, 0, JSON_COUNT_MAX),
    KEY_COUNT(priced_tiered, buffer_bytes, OPTIONAL, IF_SET, 0, JSON_COUNT_MAX),
    KEY_PRICES(priced_tiered, tier_bytes, REQUIRED, tiers),
    KEY_PRICES(priced_tiered, forward_ns, REQUIRED, passes),
    KEY_PRICES(priced_tiered, backward_ns, REQUIRED, passes),
    KEY_PRICES(priced_tiered, away_ns, OPTIONAL, swaps),
    KEY_PRICES(priced_tiered, back_ns, OPTIONAL, swaps),
};
MEMBERS(priced_tiered, struct priced_tiered, NULL, false, NULL);

// ---- accessors

int64_t priced_optimizer_bytes(const struct priced_run *run, int gradient_option)
{
    return run->offloaded_bytes ? run->offloaded_bytes[gradient_option] : run->optimizer_bytes;
}

int64_t priced_least_resident(const struct priced *p, const struct priced_run *run)
{
    int64_t least = run->weight_bytes + run->optimizer_bytes;
    for (int o = 0; o < p->gradient_option_count; o++)
        least = smaller(least, priced_weight_bytes(run, o) + priced_optimizer_bytes(run, o));
    return least + run->gradient_bytes;
}

int64_t priced_optimizer_ns(const struct priced_run *run, int gradient_option, int group)
{
    return run->offloaded_ns ? run->offloaded_ns[gradient_option][group] : run->optimizer_ns[group];
}

bool priced_offloads(const struct priced *p)
{
    for (int o = 0; o < p->gradient_option_count; o++)
        if (option_uses_tiers(&p->gradient_options[o])) return true;
    return false;
}

bool priced_tiers(const struct priced *p)
{
    bool some = p->tier_count > 0;
    for (int o = 0; o < p->gradient_option_count; o++)
        some = some || p->gradient_options[o].tier_option;
    return some;
}

bool priced_swaps_on(const struct priced *p, int group, int gradient_option)
{
    return p->recompute[RECOMPUTE_SWAP] && p->run_count &&
           priced_away_ns(&p->runs[0], gradient_option)[group] >= 0;
}

const char *priced_swap_tier(const struct priced *p, int gradient_option)
{
    const char *own = p->gradient_options[gradient_option].activations;
    return own ? own : TIER_HOST;
}

// Nothing in a tier: as the run itself.
static bool is_as_run(const struct priced *p, const struct priced_run *r,
                      const struct priced_tiered *t)
{
    bool same = t->weight_bytes == r->weight_bytes && t->buffer_bytes == 0;
    for (int i = 0; i < p->slice_count * p->group_count; i++)
        same = same &&
               (p->groups[i % p->group_count].excluded ||
                (t->forward_ns[i] == r->forward_ns[i] && t->backward_ns[i] == r->backward_ns[i]));
    return same;
}

// Lower bounds from the run's own passes hold for every option.
static bool is_sound(const struct priced *p, const struct priced_run *r,
                     const struct priced_tiered *t)
{
    bool sound = t->weight_bytes >= 0 && t->weight_bytes <= r->weight_bytes && t->buffer_bytes >= 0;
    for (int i = 0; i < p->slice_count * p->group_count; i++)
        sound = sound &&
                (p->groups[i % p->group_count].excluded ||
                 (t->forward_ns[i] >= r->forward_ns[i] && t->backward_ns[i] >= r->backward_ns[i]));
    for (int i = 0; i < p->tier_count; i++) sound = sound && t->tier_bytes[i] >= 0;
    return sound;
}

enum status priced_tiered_check(const struct priced *p, int run, struct error *err)
{
    const struct priced_run *r = &p->runs[run];
    if (!priced_tiers(p) && !r->tiered_count) return OK;
    if (priced_has_widths(p))
        return fail(err, BAD_INPUT, "%s: tiers: expected none where stages have widths",
                    priced_file(p));
    if (!priced_tiers(p) || r->tiered_count != p->gradient_option_count)
        return fail(err, BAD_INPUT,
                    "%s: runs[%d].tiered: expected one entry for each of %d gradient_options where "
                    "there are tiers or tier options, else none, found %d",
                    priced_file(p), run, p->gradient_option_count, r->tiered_count);
    for (int o = 0; o < r->tiered_count; o++) {
        const struct priced_tiered *t = &r->tiered[o];
        bool plain = !p->gradient_options[o].tier_option,
             swaps = p->recompute[RECOMPUTE_SWAP] && p->gradient_options[o].activations;
        if (!t->away_ns != !swaps || !t->back_ns != !swaps)
            return fail(err, BAD_INPUT,
                        "%s: runs[%d].tiered[%d]: expected away_ns and back_ns where \"swap\" is "
                        "offered and the option has activations, and there alone",
                        priced_file(p), run, o);
        if (!(plain ? is_as_run : is_sound)(p, r, t))
            return fail(err, BAD_INPUT, "%s: runs[%d].tiered[%d]: expected %s", priced_file(p), run,
                        o,
                        plain ? "the run's own weights and passes, as no tier option moves any"
                              : "at most the run's own weights, and no shorter passes");
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
        double longer = (double)(t->forward_ns[pass] - run->forward_ns[pass] +
                                 t->backward_ns[pass] - run->backward_ns[pass]);
        if (t->away_ns && t->away_ns[pass] > 0)
            longer += (double)t->away_ns[pass] + (double)t->back_ns[pass];
        most = larger_double(most, longer);
    }
    return most;
}
