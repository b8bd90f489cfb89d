// What of a layer is in tiers besides the GPU's own memory, as the judge counts it
// (docs/FORMULAS.md, section 4, Shares and Tiers): bytes in each of them, and what the passes and
// the optimizer's step take with it.
#include <string.h>

#include "solve/judge/price/passes.h"

// ---- ways

int tiering_of(const struct job *j, const struct compression_option *o)
{
    int way = o->tier_option ? j->tier_option_count : 0;
    while (way > 0 && strcmp(j->tier_options[way - 1].name, o->tier_option)) way--;
    return way || !o->tier_option ? way : -1;
}

// ---- tiers

static bool is_host(const char *tier) { return !strcmp(tier, TIER_HOST); }

static const struct tier *tier_of(const struct price_audit *a, int group, const char *name)
{
    const struct node_group *g = &a->problem->cluster.groups[group];
    for (const struct tier *t = g->tiers; t < g->tiers + g->tier_count; t++)
        if (!strcmp(t->name, name)) return t;
    return NULL;
}

const char *judged_lack(const struct price_audit *a, int group)
{
    const struct job *j = &a->problem->job;
    for (int i = 0; i < 2 * j->tier_option_count; i++) {
        const char *name = j->tier_options[i / 2].parts[i % 2 ? TIER_TRAINED : TIER_FROZEN].tier;
        if (!name || tier_of(a, group, name)) continue;
        if (!is_host(name)) return "it lacks a tier that holds weights in a tier option";
    }
    for (int i = 0; i < 2 * j->tier_option_count; i++) {
        const char *name = j->tier_options[i / 2].parts[i % 2 ? TIER_TRAINED : TIER_FROZEN].tier;
        if (name && is_host(name) && !(gpu_of(a, group)->host_link_bytes_per_s.value > 0))
            return "the costs have no rate of its link to the host, where weights may be";
    }
    return NULL;
}

int64_t judged_tier_limit(const struct price_audit *a, int group, const char *tier)
{
    const struct tier *t = tier_of(a, group, tier);
    if (!t || t->bytes == 0) return -1;
    int64_t of_gpu = t->bytes / t->gpus;
    return of_gpu * a->pipeline / a->stage_count;
}

// ---- weights

// Bytes of each part of the weights that leave the GPU: {frozen, trained}.
static void leaving(const struct price_audit *a, int run, struct tier_option where,
                    long double bytes[2])
{
    const struct layer_run *r = run_of(a, run);
    struct held_weights held = {0, 0};
    bool rows = r->kind == LAYER_EMBEDDING || r->kind == LAYER_MEMORY; // a pass reads some of it
    if (!rows && tier_option_moves_weights(&where)) held = held_weights_of(a, run);
    bytes[0] = where.parts[TIER_FROZEN].percent * held.frozen / 100;
    bytes[1] = where.parts[TIER_TRAINED].percent * held.trained / 100;
}

static const char *goes_to(struct tier_option where, int part)
{
    return where.parts[part ? TIER_TRAINED : TIER_FROZEN].tier;
}

static bool in_place(const struct price_audit *a, const char *name)
{
    for (int g = 0; g < a->problem->cluster.group_count; g++)
        if (tier_of(a, g, name)) return tier_of(a, g, name)->in_place;
    return false;
}

struct tiered_weights tiered_weights_of(const struct price_audit *a, int run,
                                        struct tier_option where)
{
    struct held_weights all = held_weights_of(a, run);
    long double away[2], copied = 0;
    leaving(a, run, where, away);
    for (int part = 0; part < 2; part++)
        if (away[part] > 0 && !in_place(a, goes_to(where, part))) copied += away[part];
    return (struct tiered_weights){
        .kept = judged_whole(a, (all.frozen - away[0]) + (all.trained - away[1])),
        .buffers = judged_whole(a, 2 * copied)}; // the layer that runs, and the next one
}

int64_t tier_held_bytes(const struct price_audit *a, int run, struct tier_option where,
                        const char *tier)
{
    struct judged_state state = judged_state_of(a, run, 0);
    const struct tier_share *its = &where.parts[TIER_OPTIMIZER];
    long double away[2], sum = 0;
    leaving(a, run, where, away);
    for (int part = 0; part < 2; part++)
        if (away[part] > 0 && !strcmp(goes_to(where, part), tier)) sum += away[part];
    // A host that updates by itself copies nothing.
    if (is_host(tier))
        sum += its->percent * (state.bytes + (its->in_turn ? 0 : state.copies)) / 100;
    return judged_whole(a, sum);
}

// One GPU's share of the rate.
static long double rate_of(const struct price_audit *a, int group, const char *name, bool write)
{
    const struct tier *t = tier_of(a, group, name);
    if (is_host(name)) return gpu_of(a, group)->host_link_bytes_per_s.value;
    if (!t) return 0;
    return (write ? t->write_bytes_per_s : t->read_bytes_per_s) / (long double)t->gpus;
}

int64_t swap_ns_of(const struct price_audit *a, int run, int group, struct tier_option where,
                   bool back)
{
    const char *tier = where.parts[TIER_ACTIVATIONS].tier;
    long double rate = tier ? rate_of(a, group, tier, !back) : 0;
    if (!(rate > 0)) return -1;
    return judged_nanoseconds(a, (struct computed){judged_kept_bytes(a, run) / rate, 0});
}

// Tiers deliver side by side, what is in one of them one after another.
long double tier_read_s(const struct price_audit *a, int run, int group, struct tier_option where)
{
    long double away[2], seconds[2] = {0, 0};
    leaving(a, run, where, away);
    for (int part = 0; part < 2; part++)
        if (away[part] > 0)
            seconds[part] = away[part] / rate_of(a, group, goes_to(where, part), false);
    bool one = away[0] > 0 && away[1] > 0 && !strcmp(goes_to(where, 0), goes_to(where, 1));
    return one ? seconds[0] + seconds[1] : greatest(seconds[0], seconds[1]);
}

// ---- energy

// Picojoules a byte of one memory: {read, written}.
static const double *byte_pj(const struct price_audit *a, int group, const char *name, double of[2])
{
    const struct node_group *g = &a->problem->cluster.groups[group];
    const struct tier *t = name ? tier_of(a, group, name) : NULL;
    of[0] = !name ? g->memory_read_pj_per_byte : t ? t->read_pj_per_byte : 0;
    of[1] = !name ? g->memory_write_pj_per_byte : t ? t->write_pj_per_byte : 0;
    return of;
}

// A pass takes each byte of the weights from where it is: of a tier that is not read in place by a
// copy on the GPU.
struct judged_energy energy_of_layer(const struct price_audit *a, int run, int group,
                                     struct tier_option where, bool may_swap)
{
    const struct layer_run *r = run_of(a, run);
    struct judged_state state = judged_state_of(a, run, group);
    struct held_weights held = {0, 0};
    double gpu[2], tier[2], host[2];
    long double away[2], read = 0, step = 0, kept = judged_kept_bytes(a, run),
                         to_host = where.parts[TIER_OPTIMIZER].percent / 100.0L,
                         scale = (long double)a->devices / 1000000;
    byte_pj(a, group, NULL, gpu), byte_pj(a, group, TIER_HOST, host);
    if (r->kind != LAYER_EMBEDDING && r->kind != LAYER_MEMORY) held = held_weights_of(a, run);
    leaving(a, run, where, away);
    for (int part = 0; part < 2; part++) {
        const char *name = goes_to(where, part);
        long double stays = (part ? held.trained : held.frozen) - away[part];
        byte_pj(a, group, name, tier);
        read += stays * gpu[0] + away[part] * tier[0];
        if (away[part] > 0 && !in_place(a, name)) read += away[part] * (gpu[1] + gpu[0]);
        if (part) step += stays * gpu[1] + away[part] * tier[1];
    }
    step += (state.bytes + state.copies) *
            ((1 - to_host) * (gpu[0] + gpu[1]) + to_host * (host[0] + host[1]));
    step +=
        to_host * state.values *
        (a->problem->job.gradient_bytes_per_value * (gpu[0] + host[1]) + a->value_bytes * host[0]);
    read *= a->micro_batches * layout_of(a)->slice_count * scale;
    const char *swapped = where.parts[TIER_ACTIVATIONS].tier;
    byte_pj(a, group, swapped, tier);
    if (!may_swap || swap_ns_of(a, run, group, where, false) < 0) kept = 0;
    return (struct judged_energy){
        .always_uj = judged_whole(a, read * (passes_gradient(a, run) ? 2 : 1) + scale * step),
        .again_uj = judged_whole(a, read),
        .swapped_uj = judged_whole(a, scale * a->micro_batches * kept *
                                          (gpu[0] + tier[1] + tier[0] + gpu[1]))};
}

// ---- a layer

static int64_t step_ns(const struct price_audit *a, int run, int group, struct tier_option where);

struct layer_duration layer_duration_of(const struct price_audit *a, int run, int group, int slice,
                                        struct tier_option where)
{
    struct passes s = passes_of(a, run, group, slice);
    long double read_s = tier_read_s(a, run, group, where);
    s.forward_s = greatest(s.forward_s, read_s);
    if (passes_gradient(a, run)) s.backward_s = greatest(s.backward_s, read_s);
    struct layer_duration d = {
        .forward_ns = judged_nanoseconds(a, (struct computed){s.forward_s, s.lost_s}),
        .backward_ns = judged_nanoseconds(a, (struct computed){s.backward_s, s.lost_s}),
        .weight_ns = judged_nanoseconds(a, (struct computed){s.weight_s, s.lost_s}),
        .optimizer_ns = shared_step_ns(a, run, group, where),
    };
    if (problem_steps_each(a->problem)) d.backward_ns += step_ns(a, run, group, where);
    for (int mode = 0; mode < RECOMPUTE_COUNT; mode++)
        d.again_ns[mode] = judged_nanoseconds(a, s.again[mode]);
    return d;
}

// ---- the state

int64_t device_state_bytes(const struct price_audit *a, int run, struct tier_option where)
{
    struct judged_state x = judged_state_of(a, run, 0);
    int stays = 100 - where.parts[TIER_OPTIMIZER].percent;
    return judged_whole(a, stays * (x.bytes + x.copies) / 100 + x.table);
}

// The least time in which two parallel workers are both done, as a part grows from 0 to 1: the
// first gets more work, the second less or more. x, y: seconds at both ends.
static long double both_done(const long double x[2], const long double y[2])
{
    long double first = greatest(x[0], y[0]), last = greatest(x[1], y[1]), ahead = x[0] - y[0],
                behind = y[1] - x[1], sum = ahead + behind;
    if ((ahead > 0) != (behind > 0) || ahead == 0 || behind == 0) return least(first, last);
    return least(least(first, last), (behind * x[0] + ahead * x[1]) / sum);
}

// The GPU's part, then the host's: gradients down, the update, weights up.
static long double in_turn_s(const struct price_audit *a, const struct judged_state *all, int group,
                             int percent, long double step)
{
    const struct gpu_costs *gpu = gpu_of(a, group);
    long double values = percent * all->values / 100, rate = gpu->host_update_values_per_s.value,
                sent = values * (a->problem->job.gradient_bytes_per_value + a->value_bytes),
                update = (percent * all->bytes / 50 + sent) / gpu->host_memory_bytes_per_s.value;
    if (rate > 0) update = greatest(update, values / rate);
    update += (100 - percent) * step / 100 + sent / gpu->host_link_bytes_per_s.value;
    return all->timed ? greatest(step, update) : update;
}

// The minimum over an interval of the maximum of straight lines is that of the worst pair (Helly).
long double judged_state_step_s(const struct price_audit *a, const struct judged_state *all,
                                int group, struct tier_option where, long double step)
{
    const struct job *j = &a->problem->job;
    const struct gpu_costs *gpu = gpu_of(a, group);
    int percent = where.parts[TIER_OPTIMIZER].percent;
    if (where.parts[TIER_OPTIMIZER].in_turn) return in_turn_s(a, all, group, percent, step);
    if (percent == 0 || all->bytes == 0) return step;
    long double away = percent * all->bytes / 100, values = away / judged_state_width(a),
                gradient = values * j->gradient_bytes_per_value, weight = values * a->value_bytes,
                link = gpu->host_link_bytes_per_s.value, rate = gpu->host_update_values_per_s.value,
                memory = gpu->host_memory_bytes_per_s.value, worst = 0;
    // [worker][none of the host's share is updated on the device, all of it]
    const long double done[4][2] = {
        {(100 - percent) * step / 100, step},
        {greatest(gradient, weight) / link, away / link},
        {(2 * away + gradient + weight) / memory, 2 * away / memory},
        {rate > 0 ? values / rate : 0, 0},
    };
    for (int x = 0; x < 4; x++)
        for (int y = 0; y <= x; y++) worst = greatest(worst, both_done(done[x], done[y]));
    return worst;
}

// Trained weights that are in a tier are written there when they are new.
static int64_t step_ns(const struct price_audit *a, int run, int group, struct tier_option where)
{
    struct judged_state state = judged_state_of(a, run, group);
    long double step = judged_state_step_s(a, &state, group, where, judged_step_s(a, run, group)),
                away[2];
    leaving(a, run, where, away);
    if (away[1] > 0) step += away[1] / rate_of(a, group, goes_to(where, 1), true);
    struct computed all = gathered_after_step(a, run, group);
    all.value += step;
    return judged_nanoseconds(a, all);
}

// What is left of it for the end of the iteration.
int64_t shared_step_ns(const struct price_audit *a, int run, int group, struct tier_option where)
{
    return problem_steps_each(a->problem) ? 0 : step_ns(a, run, group, where);
}
