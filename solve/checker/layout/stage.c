// One stage's decision: times, bytes and quality cost, as sums of the document's integers over its
// layers (docs/FORMULAS.md 7, 8 and 13).
#include <string.h>

#include "data/base/least.h"
#include "solve/checker/layout/choices.h"

int check_recomputable(const struct check_problem *p, int first, int count)
{
    int sum = 0;
    for (int layer = first; layer < first + count; layer++)
        sum += p->runs[p->run_of[layer]].recomputable;
    return sum;
}

// The run at a degree of the vocabulary; itself, if it has none.
static const struct check_run *at_degree(const struct check_run *r, int tensor)
{
    for (const struct check_run *other = r; other; other = other->next)
        if (other->tensor == tensor) return other;
    return r;
}

bool check_may_spread(const struct check_problem *p, int first, int count, int tensor)
{
    for (int layer = first; layer < first + count; layer++)
        if (at_degree(&p->runs[p->run_of[layer]], tensor)->tensor == tensor) return true;
    return tensor == 0;
}

void check_take_setting(const struct check_problem *p, struct check_choice *c, int recomputable)
{
    int set = check_set_mode(p);
    c->swapped = c->recomputed = 0;
    c->mode = set >= 0 ? set : MODE_NONE;
    if (set >= 0 || recomputable == 0) return;
    c->mode = MODE_FIRST_LAYERS;
    c->recomputed = recomputable < p->layout.recomputed ? recomputable : p->layout.recomputed;
}

bool check_has_setting(const struct check_problem *p, const struct check_choice *c, int first)
{
    struct check_choice own = *c;
    if (!p->layout.value[KEY_RECOMPUTE]) return true;
    check_take_setting(p, &own, check_recomputable(p, first, c->layers));
    return c->mode == own.mode && c->recomputed == own.recomputed && c->swapped == own.swapped;
}

// rank_min limits only factors.
static bool is_allowed(const struct check_problem *p, const struct check_option *o)
{
    return !o->amount || o->form != FORM_RANK || o->amount >= p->rank_min;
}

bool check_offers(const struct check_problem *p, int stage, const struct check_choice *c)
{
    const struct check_option *gradient = &p->gradient[c->gradient],
                              *boundary = &p->boundary[c->boundary];
    if (p->groups[c->group].excluded || check_seats(p, c->group) < 1 || !p->modes[c->mode])
        return false;
    if (c->boundary > 0 && !check_sends_backward(p, stage - 1)) return false;
    if (c->mode == MODE_SWAP && check_swap(&p->runs[0], c->gradient, false)[c->group] < 0)
        return false;
    return is_allowed(p, gradient) && is_allowed(p, boundary);
}

// How long the syncs continue after the stage's last gradient, where each layer's sync starts as
// soon as its gradient is there: from the first layer, whose gradient comes last, to the last
// layer.
struct tail {
    int64_t gradients, syncs, longest;
};

// Among equal layers the first or the last decides, since the candidates rise or fall evenly.
static void extend_tail(struct tail *t, int64_t gradient, int64_t sync, int64_t count)
{
    t->longest = larger(t->longest, t->syncs + sync - t->gradients);
    t->syncs += count * sync;
    t->gradients += count * gradient;
    t->longest = larger(t->longest, t->syncs - (t->gradients - gradient));
}

static int64_t backward_of(const struct check_run *r, int option, int price, int mode)
{
    return check_backward(r, option)[price] + (mode == MODE_NONE ? 0 : r->again[mode][price]);
}

static void add_layers(const struct check_problem *p, struct check_choice *c, struct tail *t,
                       const struct check_run *r, int mode, int64_t count)
{
    int g = c->group;
    const struct check_run *at = check_run_at(r, g);
    for (int slice = 0; slice < p->slices; slice++) {
        int price = slice * p->group_count + g;
        c->forward[slice] += count * check_forward(r, c->gradient)[price];
        c->backward[slice] += count * backward_of(r, c->gradient, price, mode);
    }
    c->weight += count * r->weight[g];
    c->optimizer += count * r->optimizer[c->gradient][g];
    extend_tail(t, p->splits_backward ? r->weight[g] : backward_of(r, c->gradient, g, mode),
                r->sync[c->gradient][g], count);
    c->resident += count * (check_weights(at, c->gradient) + at->gradient_bytes +
                            at->optimizer_bytes[c->gradient] + at->feedback[c->gradient]);
    c->stash += count * at->stash[mode];
    c->working = larger(c->working,
                        at->working[mode] + (r->tiered ? r->tiered[c->gradient].buffer_bytes : 0));
}

// What the stage's layers leave of its part of each tier.
static void measure_tiers(const struct check_problem *p, int first, struct check_choice *c)
{
    const char *swaps = p->gradient[c->gradient].away;
    c->tier_room = c->away_room = MOST_SUM;
    for (int i = 0; i < p->tier_count; i++) {
        int64_t room = p->groups[c->group].tier_limit[i];
        bool here = !strcmp(p->tiers[i], swaps ? swaps : "host");
        int64_t *least = here ? &c->away_room : &c->tier_room;
        if (room < 0) continue;
        for (int layer = first; layer < first + c->layers; layer++)
            room -= p->runs[p->run_of[layer]].tiered[c->gradient].tier_bytes[i];
        *least = smaller(*least, room);
    }
}

bool check_tiers_hold(const struct check_graph *g, int stage, const struct check_choice *c)
{
    const struct check_problem *p = g->p;
    int turn = stage / p->ranks;
    const struct check_peaks *peaks = &g->peaks[check_rank_of(p, stage)];
    int64_t most = 0;
    for (int i = 0; c->away && i < peaks->count; i++)
        most = larger(most, peaks->held[i * p->turns + turn]);
    return c->tier_room >= 0 && c->away_room - most * c->away >= 0;
}

static void add_boundaries(const struct check_problem *p, int stage, int first,
                           struct check_choice *c)
{
    // Stored inputs need the same room as those that arrive.
    if (stage > 0 && !check_is_inner(p, stage - 1)) {
        const struct check_cut *before = &p->cuts[p->runs[p->run_of[first - 1]].cut];
        c->resident += 2 * check_message_at(before, c->group) + before->feedback[c->boundary];
    }
    if (check_sends_forward(p, stage))
        c->resident += 2 * check_message_at(&p->cuts[c->cut], c->group);
    if (stage < p->stages - 1 && check_is_local(p, stage)) {
        c->forward[0] += p->local_forward;
        c->backward[0] += p->local_backward;
        c->resident += p->local_bytes;
    }
}

static int64_t energy_of(const struct check_tiered *t, int group, int mode, bool goes)
{
    return t->energy[group] + (mode == MODE_FULL) * t->again[group] + goes * t->swapped[group];
}

void check_evaluate(const struct check_problem *p, int stage, int first, struct check_choice *c)
{
    struct tail tail = {0};
    int end = first + c->layers, left = c->recomputed, away = c->swapped, sharded = c->sharded;
    for (int slice = 0; slice < p->slices; slice++) c->forward[slice] = c->backward[slice] = 0;
    c->weight = c->optimizer = c->resident = c->stash = c->working = c->load = c->away = 0;
    c->energy = c->rest = c->start = 0;
    int64_t unsharded = 0;
    for (int layer = first, count; layer < end; layer += count) {
        const struct check_run *r = &p->runs[p->run_of[layer]];
        bool able = r->recomputable;
        int mode = able ? c->mode : MODE_NONE;
        bool counted = mode == MODE_FIRST_LAYERS || mode == MODE_SWAP, goes = counted && away > 0;
        int *of = goes ? &away : &left;
        if (counted) mode = !goes && left > 0 ? MODE_FULL : MODE_NONE;
        count =
            (end < p->run_begin[p->run_of[layer] + 1] ? end : p->run_begin[p->run_of[layer] + 1]) -
            layer;
        if (counted && *of > 0 && count > *of) count = *of;
        if (able && sharded > 0) {
            r = r->sharded;
            if (count > sharded) count = sharded;
            sharded -= count;
        }
        if (c->vocabulary && !able) r = at_degree(r, c->vocabulary);
        if (counted && *of > 0) *of -= count;
        add_layers(p, c, &tail, r, mode, count);
        if (goes) c->stash -= count * r->stash[MODE_NONE]; // not kept between the passes
        if (goes) c->away += count * r->stash[MODE_NONE];
        if (r->tiered && r->tiered[c->gradient].energy)
            c->energy += count * energy_of(&r->tiered[c->gradient], c->group, mode, goes);
        unsharded += count * check_run_at(r, c->group)->unsharded_bytes;
    }
    if (p->head && stage < p->stages - 1 && check_is_local(p, stage)) {
        add_layers(p, c, &tail, p->head, MODE_NONE, 1);
        unsharded += p->head->unsharded_bytes;
    }
    c->working += unsharded;
    if (c->mode == MODE_SWAP) check_time_swaps(p, first, c);
    measure_tiers(p, first, c);
    c->cut = p->runs[p->run_of[end - 1]].cut;
    add_boundaries(p, stage, first, c);
    c->sync = p->groups[c->group].sync_constant[c->gradient] +
              (p->overlapped ? tail.longest : tail.syncs);
    c->queued_sync =
        check_syncs_queue(p) ? p->groups[c->group].sync_constant[c->gradient] + tail.syncs : 0;
    c->cost = p->gradient[c->gradient].cost + p->boundary[c->boundary].cost;
    c->load = c->weight;
    for (int slice = 0; slice < p->slices; slice++)
        c->load += c->forward[slice] + c->backward[slice];
}

// Constants once, the sum of permanent bytes, the largest working memory, and activations at the
// fullest moment.
int64_t check_rank_bytes(const struct check_graph *g, int rank,
                         const struct check_choice *const *chosen)
{
    const struct check_problem *p = g->p;
    int64_t sum = p->groups[chosen[0]->group].constant_bytes, working = 0, activations = 0;
    for (int turn = 0; turn < p->turns; turn++) {
        sum += chosen[turn]->resident;
        working = larger(working, chosen[turn]->working);
    }
    for (int i = 0; i < g->peaks[rank].count; i++) {
        int64_t held = 0;
        for (int turn = 0; turn < p->turns; turn++)
            held += g->peaks[rank].held[i * p->turns + turn] * chosen[turn]->stash;
        activations = larger(activations, held);
    }
    return sum + working + activations;
}
