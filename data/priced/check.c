// Everything after a priced document relies on these checks: indices are in range, prices are
// present where a group can hold a stage, and sums are exact. Bounds of sums are computed in
// doubles and compared with 2^52, half of what a double holds exactly.
#include <assert.h>
#include <string.h>

#include "data/base/least.h"
#include "data/kinds/schedules.h"
#include "data/places/cluster.h"
#include "data/inputs/job_fields.h"
#include "data/inputs/model/model.h"
#include "data/priced/fields.h"

#define SUM_MAX 4503599627370496.0 // 2^52

// ---- pure accessors

int priced_run_of(const struct priced *p, int layer)
{
    int run = 0;
    assert(layer >= 0 && layer < p->layer_count);
    while (layer >= p->runs[run].count) layer -= p->runs[run++].count;
    return run;
}

int priced_micro_batches_most(const struct priced *p)
{
    if (!p->places || !p->places->micro_batches_together) return p->micro_batches;
    return (int)(p->places->micro_batches_together -
                 (int64_t)(p->layout.data - 1) * layout_micro_batch_unit(&p->layout));
}

int priced_first_layer(const struct priced *p, int run)
{
    int first = 0;
    for (int i = 0; i < run; i++) first += p->runs[i].count;
    return first;
}

// For a class's transfers, by pairs of groups or of nodes.
static bool table_uses_part(const struct priced *p, const int64_t *forward_ns,
                            int64_t *const *backward_ns, size_t pairs, enum transfer_part part)
{
    for (size_t at = part; at < pairs * PART_COUNT; at += PART_COUNT) {
        if (forward_ns[at] > 0) return true;
        for (int o = 0; o < p->boundary_option_count; o++)
            if (backward_ns[o][at] > 0) return true;
    }
    return false;
}

static bool seats_use_part(const struct priced *p, enum transfer_part part)
{
    const struct priced_seat_nodes *x = p->seat_nodes;
    for (int i = 0; i < x->seat_count * x->seat_count; i++)
        for (int c = 0; c < p->cut_count; c++) {
            size_t nodes = (size_t)x->of[0]->places->node_count;
            const struct priced_hops *hops = &x->cuts[i][c];
            if (table_uses_part(p, hops->forward_ns, hops->backward_ns, nodes * nodes, part))
                return true;
        }
    return false;
}

bool priced_uses_part(const struct priced *p, enum transfer_part part)
{
    size_t pairs = (size_t)(p->slice_count * p->group_count * p->group_count);
    if (p->seat_nodes && seats_use_part(p, part)) return true;
    size_t nodes = p->places ? (size_t)p->places->node_count : 0;
    for (int c = 0; c < p->cut_count; c++) {
        if (table_uses_part(p, p->cuts[c].forward_ns, p->cuts[c].backward_ns, pairs, part))
            return true;
        if (nodes &&
            table_uses_part(p, p->places->cuts[c].forward_ns, p->places->cuts[c].backward_ns,
                            (size_t)p->slice_count * nodes * nodes, part))
            return true;
    }
    return false;
}

bool priced_uses_epilogue(const struct priced *p)
{
    for (int o = 0; o < p->boundary_option_count; o++)
        if (p->boundary_options[o].epilogue_only) return true;
    return false;
}

static bool any_ring(const struct priced *p)
{
    const struct priced_places *x = p->places;
    size_t links = (size_t)x->ring_level_count * priced_ring_links(x);
    for (int o = 0; o < p->gradient_option_count; o++)
        for (size_t pair = 0; pair < links; pair++) {
            if (x->ring_constant_ns[o][pair] > 0) return true;
            for (int r = 0; r < p->run_count; r++)
                if (x->ring_ns[r][o][pair] > 0) return true;
        }
    return false;
}

bool priced_uses_sync(const struct priced *p)
{
    struct priced alone;
    for (int list = 0; priced_list_alone(p, list, &alone); list++)
        if (priced_uses_sync(&alone)) return true;
    if (p->places && any_ring(p)) return true;
    for (int i = 0; p->seat_nodes && i < p->seat_nodes->seat_count; i++)
        if (any_ring(p->seat_nodes->of[i])) return true;
    for (int g = 0; g < p->group_count; g++)
        for (int o = 0; o < p->gradient_option_count && !p->groups[g].excluded; o++) {
            if (p->groups[g].sync_constant_ns[o] > 0) return true;
            for (int r = 0; r < p->run_count; r++)
                if (p->runs[r].sync_ns[o][g] > 0) return true;
        }
    return false;
}

bool priced_uses_optimizer(const struct priced *p)
{
    struct priced alone;
    for (int list = 0; priced_list_alone(p, list, &alone); list++)
        if (priced_uses_optimizer(&alone)) return true;
    for (int g = 0; g < p->group_count; g++)
        for (int r = 0; r < p->run_count && !p->groups[g].excluded; r++)
            for (int o = 0; o < p->gradient_option_count; o++)
                if (priced_optimizer_ns(&p->runs[r], o, g) > 0) return true;
    return false;
}

bool priced_compresses_sync(const struct priced *p, int gradient_option)
{
    return p->gradient_options[gradient_option].form.amount > 0;
}

bool priced_may_recompute(const struct priced *p, enum recompute mode)
{
    return p->recompute[mode] &&
           (!layout_recomputes_alike(&p->layout) || layout_recompute(&p->layout) == mode);
}

bool priced_sets_mode(const struct priced *p)
{
    return layout_recomputes_alike(&p->layout) && recompute_of_layer(layout_recompute(&p->layout));
}

bool priced_keeps_part(const struct priced *p, const struct priced_run *run, enum recompute mode)
{
    return run->recomputable && recompute_in_part(mode) && priced_may_recompute(p, mode);
}

// ---- checks

static int64_t least_again_ns(const struct priced_run *r, int pass)
{
    int64_t least = 0;
    for (int mode = 0; mode < RECOMPUTE_COUNT; mode++)
        if (r->again_ns[mode]) least = smaller(least, r->again_ns[mode][pass]);
    return least;
}

enum status priced_check_run(const struct priced *p, int i, struct error *err)
{
    const struct priced_run *r = &p->runs[i];
    TRY(priced_tiered_check(p, i, err));
    if (r->cut < 0 || r->cut >= p->cut_count)
        return refuse(err, "runs[%d].cut: expected a class below %d, found %d", i, p->cut_count,
                      r->cut);
    if (r->count < 1)
        return refuse(err, "runs[%d].count: expected at least 1, found %d", i, r->count);
    for (int k = 0; k < i; k++)
        if (!strcmp(p->runs[k].name, r->name))
            return refuse(err, "runs[%d].name: \"%s\" names two runs", i, r->name);
    for (int g = 0; g < p->group_count; g++) {
        if (r->weight_ns[g] > 0 && !schedule_splits_backward(p->layout.schedule))
            return refuse(err,
                          "runs[%d].weight_ns: expected 0 of schedule %s, which does not split it "
                          "off backward_ns",
                          i, schedule_names[p->layout.schedule]);
        bool missing = r->weight_ns[g] < 0 || r->optimizer_ns[g] < 0;
        for (int pass = g; pass < p->slice_count * p->group_count; pass += p->group_count)
            missing = missing || r->forward_ns[pass] < 0 || r->backward_ns[pass] < 0 ||
                      least_again_ns(r, pass) < 0;
        for (int o = 0; o < p->gradient_option_count; o++)
            missing = missing || r->sync_ns[o][g] < 0 || priced_optimizer_ns(r, o, g) < 0;
        if (missing && !p->groups[g].excluded)
            return refuse(err, "runs[%d]: a price on group \"%s\" is negative", i,
                          p->groups[g].name);
    }
    return OK;
}

static enum status check_group(const struct priced *p, int i, struct error *err)
{
    const struct priced_group *g = &p->groups[i];
    if (!g->name || !*g->name)
        return refuse(err, "groups[%d].name: expected a name, found nothing", i);
    if (g->slots < 0 || g->memory_limit_bytes < 0 || g->constant_bytes < 0)
        return refuse(
            err, "groups[%d]: slots, memory_limit_bytes, constant_bytes: expected at least 0", i);
    for (int k = 0; k < i; k++)
        if (!strcmp(p->groups[k].name, g->name))
            return refuse(err, "groups[%d].name: \"%s\" names two groups", i, g->name);
    for (int o = 0; o < p->gradient_option_count; o++)
        if (g->sync_constant_ns[o] < 0 && !g->excluded)
            return refuse(err, "groups[%d].sync_constant_ns[%d]: expected at least 0, found %lld",
                          i, o, (long long)g->sync_constant_ns[o]);
    return OK;
}

// Either all parts of a link's prices are present or none is, and the same in all options.
static enum status check_cut(const struct priced *p, int i, struct error *err)
{
    const struct priced_cut *c = &p->cuts[i];
    int groups = p->group_count, links = p->slice_count * groups * groups;
    for (int link = 0; link < links; link++) {
        bool joined = c->forward_ns[link % (groups * groups) * PART_COUNT] >= 0;
        for (int part = 0; part < PART_COUNT; part++) {
            int at = link * PART_COUNT + part;
            bool differs = (c->forward_ns[at] >= 0) != joined;
            for (int o = 0; o < p->boundary_option_count; o++)
                differs = differs || (c->backward_ns[o][at] >= 0) != joined;
            if (differs)
                return refuse(
                    err,
                    "cuts[%d]: \"%s\" to \"%s\": expected all parts of all prices or none (-1)", i,
                    p->groups[link / groups % groups].name, p->groups[link % groups].name);
        }
    }
    return OK;
}

// The first of the options is to do nothing.
static enum status check_first(const char *list, const struct compression_option *options,
                               int count, struct error *err)
{
    if (count && !options->form.amount && !options->epilogue_only && !options->quality_cost &&
        !options->forgets && !options->tier_option && !options->activations)
        return OK;
    return refuse(err,
                  "%s[0]: expected rank 0 (none) at no quality cost, with error_feedback, and "
                  "nothing in tiers",
                  list);
}

static enum status check_options(const struct priced *p, struct error *err)
{
    double boundary = 0, gradient = 0;
    TRY(check_first("boundary_options", p->boundary_options, p->boundary_option_count, err));
    TRY(check_first("gradient_options", p->gradient_options, p->gradient_option_count, err));
    for (int o = 1; o < p->boundary_option_count; o++) {
        if (p->boundary_options[o].form.amount < 1 || p->boundary_options[o].quality_cost < 0)
            return refuse(err, "boundary_options[%d]: expected a compression", o);
        boundary = larger_double(boundary, (double)p->boundary_options[o].quality_cost);
    }
    for (int o = 0; o < p->gradient_option_count; o++) {
        const struct compression_option *x = &p->gradient_options[o];
        if ((o && x->form.amount < 1 && !x->tier_option) || x->quality_cost < 0 ||
            (x->activations && !x->tier_option))
            return refuse(err,
                          "gradient_options[%d]: expected a compression or a tier_option, which "
                          "activations belong to",
                          o);
        if (x->across_passes &&
            (!x->activations || !p->layout.barrier || p->layout.virtual_stages > 1 ||
             p->layout.local_loss_every || p->objective == OBJECTIVE_MAX_LOAD))
            return refuse(
                err,
                "gradient_options[%d].across_passes: expected a tier of activations, a barrier, "
                "one stage a rank, no local losses, and not the objective max_load",
                o);
        gradient = larger_double(gradient, (double)p->gradient_options[o].quality_cost);
    }
    if (p->stage_count * (boundary + gradient) > SUM_MAX)
        return refuse(err, "quality costs of all stages sum to more than 2^52");
    bool of_energy = p->objective == OBJECTIVE_ENERGY;
    if (of_energy != (p->iteration_limit_ns > 0) || (of_energy && !priced_states_energy(p)))
        return refuse(err, "iteration_limit_ns: expected with the objective energy, and energies "
                           "in runs[].tiered, and with no other");
    if (p->budget.energy_max_uj && !priced_states_energy(p))
        return refuse(err, "budget.energy_max_uj: expected energies in runs[].tiered");
    return members_check(&budget_members, &p->budget, "budget.", err);
}

double priced_longest_transfer(const struct priced *p, const int64_t *forward_ns,
                               int64_t *const *backward_ns, size_t links)
{
    double longest = 0;
    for (size_t at = 0; at < links * PART_COUNT; at += PART_COUNT)
        for (int o = 0; o < p->boundary_option_count; o++) {
            double both = 0;
            for (size_t part = 0; part < PART_COUNT; part++)
                both += (part == PART_OVERHEAD ? 2 : 1) *
                        ((double)forward_ns[at + part] + (double)backward_ns[o][at + part]);
            longest = larger_double(longest, both);
        }
    return longest;
}

// An upper bound of the time of any plan: all its operations one after another, each with its
// highest price.
static double longest_iteration(const struct priced *p)
{
    double total = 0, constant = 0, transfer = 0, embedding = 0, m = priced_micro_batches_most(p);
    int links = p->group_count * p->group_count;
    for (int r = 0; r < p->run_count; r++) {
        const struct priced_run *run = &p->runs[r];
        double worst = 0;
        for (int g = 0; g < p->group_count; g++) {
            double sync = 0;
            for (int o = 0; o < p->gradient_option_count; o++)
                sync = larger_double(sync, (double)run->sync_ns[o][g] +
                                               (double)priced_optimizer_ns(run, o, g));
            double passes = (double)run->forward_ns[g] + (double)run->backward_ns[g] +
                            priced_longest_tiered(run, g);
            for (int mode = 0; mode < RECOMPUTE_COUNT; mode++)
                if (run->again_ns[mode]) passes += (double)run->again_ns[mode][g];
            worst = larger_double(worst, m * passes + sync);
        }
        total += run->count * worst;
    }
    for (int g = 0; g < p->group_count; g++)
        for (int o = 0; o < p->gradient_option_count; o++)
            constant = larger_double(constant, (double)p->groups[g].sync_constant_ns[o]);
    for (int c = 0; c < p->cut_count; c++)
        transfer =
            larger_double(transfer, priced_longest_transfer(p, p->cuts[c].forward_ns,
                                                            p->cuts[c].backward_ns, (size_t)links));
    for (int link = 0; p->has_embedding_sync && link < links; link++)
        embedding = larger_double(embedding, (double)p->embedding_sync_ns[link]);
    return total + p->stage_count * (constant + m * 2 * transfer) + embedding;
}

// An upper bound of the bytes of all layers on one device, with the largest of the groups'
// constants.
static double largest_memory(const struct priced *p)
{
    double total = 0, working = 0, message = 0, constant = 0, m = priced_micro_batches_most(p);
    for (int r = 0; r < p->run_count; r++) {
        const struct priced_run *run = &p->runs[r];
        double stash = 0, feedback = 0, tiered = priced_largest_tiered(p, run);
        for (int mode = 0; mode < RECOMPUTE_COUNT; mode++) {
            stash = larger_double(stash, (double)run->stash_bytes[mode]);
            working = larger_double(working, (double)run->working_bytes[mode]);
        }
        for (int o = 0; o < p->gradient_option_count; o++)
            feedback = larger_double(feedback, (double)run->feedback_bytes[o]);
        total += run->count * ((double)run->weight_bytes + (double)run->gradient_bytes +
                               (double)run->optimizer_bytes + (double)run->unsharded_bytes +
                               (m + 2 * priced_swaps_across(p)) * stash + feedback + tiered);
    }
    for (int c = 0; c < p->cut_count; c++) {
        double feedback = 0;
        for (int o = 0; o < p->boundary_option_count; o++)
            feedback = larger_double(feedback, (double)p->cuts[c].feedback_bytes[o]);
        message = larger_double(message, 4 * (double)p->cuts[c].message_bytes + feedback);
    }
    for (int g = 0; g < p->group_count; g++)
        constant = larger_double(constant, (double)p->groups[g].constant_bytes);
    return total + working + message + constant;
}

static enum status check_rule_names(const struct priced *p, struct error *err)
{
    for (int i = 0; i < p->rule_count; i++) {
        const struct rule *r = &p->rules[i];
        for (int n = 0; n < r->group_count; n++) {
            int g = 0;
            while (g < p->group_count && strcmp(p->groups[g].name, r->groups[n])) g++;
            if (g == p->group_count)
                return refuse(err,
                              "rules[%d].groups[%d]: expected the name of a group, found \"%s\"", i,
                              n, r->groups[n]);
        }
        int run = 0;
        while (r->run && run < p->run_count && strcmp(p->runs[run].name, r->run)) run++;
        if (r->run && run == p->run_count)
            return refuse(err, "rules[%d].run: expected the name of a run, found \"%s\"", i,
                          r->run);
    }
    return OK;
}

static enum status check_counts(const struct priced *p, struct error *err)
{
    int64_t layers = 0;
    for (int i = 0; i < p->run_count; i++) layers += p->runs[i].count;
    int64_t devices = (int64_t)p->layout.tensor * p->layout.context * p->layout.data;
    if (p->run_count < 1 || layers != p->layer_count || layers > LAYERS_MAX)
        return refuse(
            err, "layer_count: expected the sum of the runs' counts (%lld, at most %d), found %d",
            (long long)layers, LAYERS_MAX, p->layer_count);
    if (p->group_count < 1 || p->group_count > SEATS_MAX)
        return refuse(err, "groups: expected 1 to %d, found %d", SEATS_MAX, p->group_count);
    if (p->stage_count != layout_stage_count(&p->layout) || p->rank_count != p->layout.pipeline ||
        p->slice_count != p->layout.slice_count)
        return refuse(err, "stage_count: expected the layout's %d stages, found %d",
                      layout_stage_count(&p->layout), p->stage_count);
    if (p->stage_count > p->layer_count)
        return refuse(err, "stage_count: expected at most %d layers, found %d", p->layer_count,
                      p->stage_count);
    if (p->devices_per_stage != devices)
        return refuse(err, "devices_per_stage: expected tensor x context x data %lld, found %lld",
                      (long long)devices, (long long)p->devices_per_stage);
    if (p->micro_batches < 1 || p->micro_batches > MICRO_BATCHES_MAX)
        return refuse(err, "micro_batches: expected 1 to %d, found %d", MICRO_BATCHES_MAX,
                      p->micro_batches);
    if (p->recompute[RECOMPUTE_SWAP] &&
        (schedule_splits_backward(p->layout.schedule) || p->slice_count > 1))
        return refuse(err, "recompute: expected no \"swap\" with schedules that split the backward "
                           "or slice tokens");
    if (layout_recomputes_alike(&p->layout) && !p->recompute[layout_recompute(&p->layout)])
        return refuse(err, "layout.recompute: expected each or a mode of recompute, found %s",
                      recompute_setting_names[p->layout.recompute]);
    if (!p->recompute[RECOMPUTE_NONE])
        return refuse(err, "recompute: expected \"none\" among the modes");
    return OK;
}

static enum status check(const struct priced *p, struct error *err)
{
    TRY(layout_check(&p->layout, err));
    TRY(check_counts(p, err));
    TRY(check_options(p, err));
    for (int i = 0; i < p->group_count; i++) TRY(check_group(p, i, err));
    for (int i = 0; i < p->run_count; i++) TRY(priced_check_run(p, i, err));
    for (int i = 0; i < p->cut_count; i++) TRY(check_cut(p, i, err));
    TRY(rules_check(p->rules, p->rule_count, p->stage_count, p->layer_count, err));
    TRY(check_rule_names(p, err));
    TRY(priced_check_widths(p, err));
    TRY(priced_check_lists(p, err));
    double longest = longest_iteration(p), largest = largest_memory(p);
    struct priced alone;
    for (int list = 0; priced_list_alone(p, list, &alone); list++) {
        longest += p->stage_count * longest_iteration(&alone);
        largest += p->stage_count * largest_memory(&alone);
    }
    if (!(longest <= SUM_MAX))
        return refuse(err,
                      "an iteration could take %.3g ns; sums must stay within 2^52 ns (52 days)",
                      longest);
    TRY(priced_places_check(p, longest, SUM_MAX, err));
    if (!(largest <= SUM_MAX))
        return refuse(err, "a device could need %.3g bytes; sums must stay within 2^52 bytes",
                      largest);
    return OK;
}

enum status priced_check(const struct priced *p, struct error *err)
{
    return fail_within(err, check(p, err), "%s: ", priced_file(p));
}
