// Enumerates the ways of a stage: each layer, mode and option.
#include "data/kinds/schedules.h"
#include "tests/support/check.h"
#include "tests/support/oracle/ways.h"

#include <string.h>

// What the option makes of a layer of the run; NULL: nothing.
static const struct priced_tiered *tiered_of(const struct priced_run *r, const struct plan_stage *d)
{
    return r->tiered_count ? r->tiered + d->gradient_option : NULL;
}

static int64_t forward_of_layer(const struct priced *p, const struct plan_stage *d, int layer,
                                int slice)
{
    const struct priced_run *r = &p->runs[priced_run_of(p, layer)];
    const struct priced_tiered *t = tiered_of(r, d);
    return (t && t->forward_ns ? t->forward_ns : r->forward_ns)[slice * p->group_count + d->group];
}

static enum recompute mode_of_layer(const struct priced *p, const struct plan_stage *d, int layer)
{
    if (!p->runs[priced_run_of(p, layer)].recomputable) return RECOMPUTE_NONE;
    if (d->recompute != RECOMPUTE_FIRST_LAYERS && d->recompute != RECOMPUTE_SWAP)
        return d->recompute;
    int before = 0, swapped = d->recompute == RECOMPUTE_SWAP ? d->swapped_layers : 0;
    for (int l = d->first_layer; l < layer; l++)
        before += p->runs[priced_run_of(p, l)].recomputable;
    if (before < swapped) return RECOMPUTE_SWAP;
    return before < swapped + d->recomputed_layers ? RECOMPUTE_FULL : RECOMPUTE_NONE;
}

static int64_t backward_of_layer(const struct priced *p, const struct plan_stage *d, int layer,
                                 int slice)
{
    const struct priced_run *r = &p->runs[priced_run_of(p, layer)];
    enum recompute mode = mode_of_layer(p, d, layer);
    int at = slice * p->group_count + d->group;
    const struct priced_tiered *t = tiered_of(r, d);
    return (t && t->backward_ns ? t->backward_ns : r->backward_ns)[at] +
           (r->again_ns[mode] ? r->again_ns[mode][at] : 0);
}

static int64_t pass_of_layer(const struct priced *p, const struct plan_stage *d, int layer,
                             bool backward)
{
    return backward ? backward_of_layer(p, d, layer, 0) : forward_of_layer(p, d, layer, 0);
}

static int64_t way_of_layer(const struct priced *p, const struct plan_stage *d, int layer,
                            bool backward)
{
    const struct priced_run *r = &p->runs[priced_run_of(p, layer)];
    const struct priced_tiered *t = tiered_of(r, d);
    if (mode_of_layer(p, d, layer) != RECOMPUTE_SWAP) return 0;
    return (backward ? t->back_ns : t->away_ns)[d->group];
}

static int64_t stash_of_layer(const struct priced *p, const struct plan_stage *d, int layer)
{
    enum recompute mode = mode_of_layer(p, d, layer);
    return p->runs[priced_run_of(p, layer)]
        .stash_bytes[mode == RECOMPUTE_SWAP ? RECOMPUTE_NONE : mode];
}

static bool goes(const struct priced *p, const struct plan_stage *d, int layer)
{
    return mode_of_layer(p, d, layer) == RECOMPUTE_SWAP;
}

static bool crosses(const struct priced *p, const struct plan_stage *d)
{
    return p->gradient_options[d->gradient_option].across_passes;
}

static int64_t swap_buffers(const struct priced *p, const struct plan_stage *d)
{
    int64_t most = 0, all = 0;
    for (int l = d->first_layer; l < d->first_layer + d->layer_count; l++)
        if (goes(p, d, l)) all += 2 * stash_of_layer(p, d, l);
    if (crosses(p, d)) return all;
    for (int l = d->first_layer; l < d->first_layer + d->layer_count; l++) {
        const struct priced_run *r = &p->runs[priced_run_of(p, l)];
        if (r->recomputable && r->stash_bytes[0] > most) most = r->stash_bytes[0];
    }
    return 2 * most;
}

// Whether the layer has room once the swapped layers before `gone` have left.
static bool has_room(const struct priced *p, const struct plan_stage *d, int layer, int gone)
{
    int64_t room = swap_buffers(p, d), there = 0;
    for (int l = d->first_layer; l < d->first_layer + d->layer_count; l++) {
        if (!goes(p, d, l)) room += stash_of_layer(p, d, l);
        if (l <= layer && !(goes(p, d, l) && l < gone)) there += stash_of_layer(p, d, l);
    }
    return there <= room;
}

// The pass of a stage that swaps, forward, or backward with the time turned round: all ends by the
// formula.
static int64_t swapped_pass(const struct priced *p, const struct plan_stage *d, bool backward)
{
    int64_t ran[64] = {0}, sent[64] = {0}, now = 0, link = 0;
    for (int l = d->first_layer; l < d->first_layer + d->layer_count; l++) {
        int gone = d->first_layer;
        while (gone < l && !has_room(p, d, l, gone)) gone++;
        for (int k = d->first_layer; k < gone; k++)
            if (goes(p, d, k) && sent[k] > now) now = sent[k];
        ran[l] = now += pass_of_layer(p, d, l, backward);
        if (goes(p, d, l))
            sent[l] = link = (ran[l] > link ? ran[l] : link) + way_of_layer(p, d, l, backward);
    }
    return now > link ? now : link;
}

// What makes the layer's gradient final.
static int64_t last_pass_of_layer(const struct priced *p, const struct plan_stage *d, int layer)
{
    bool splits = schedule_kinds[p->layout.schedule].splits_backward;
    return splits ? p->runs[priced_run_of(p, layer)].weight_ns[d->group]
                  : backward_of_layer(p, d, layer, 0);
}

static int64_t sync_of(const struct priced *p, const struct plan_stage *d)
{
    int last = d->first_layer + d->layer_count - 1;
    int64_t constant = p->groups[d->group].sync_constant_ns[d->gradient_option];
    if (p->layout.gradient_sync == SYNC_EXPOSED) {
        int64_t sum = constant;
        for (int l = d->first_layer; l <= last; l++)
            sum += p->runs[priced_run_of(p, l)].sync_ns[d->gradient_option][d->group];
        return sum;
    }
    // Simulated: backward runs from the last layer to the first, each layer's sync starts when both
    // it and the link are ready.
    int64_t clock = 0, link = 0;
    for (int l = last; l >= d->first_layer; l--) {
        clock += last_pass_of_layer(p, d, l);
        link = (link > clock ? link : clock) +
               p->runs[priced_run_of(p, l)].sync_ns[d->gradient_option][d->group];
    }
    return constant + link - clock;
}

// The link is given away so late that no gradient is waited for.
static int64_t queued_sync_of(const struct priced *p, const struct plan_stage *d)
{
    int64_t link = p->groups[d->group].sync_constant_ns[d->gradient_option];
    if (p->layout.gradient_sync == SYNC_EXPOSED || p->stage_count == p->rank_count) return 0;
    for (int l = d->first_layer; l < d->first_layer + d->layer_count; l++)
        link += p->runs[priced_run_of(p, l)].sync_ns[d->gradient_option][d->group];
    return link;
}

bool way_boundary_is_inner(const struct priced *p, int boundary)
{
    return p->rank_count == 1 ||
           (schedule_kinds[p->layout.schedule].folds && boundary == p->rank_count - 1);
}

bool way_boundary_is_local(const struct priced *p, int boundary)
{
    return p->layout.local_loss_every && (boundary + 1) % p->layout.local_loss_every == 0;
}

int way_rank_of(const struct priced *p, int stage)
{
    if (stage >= p->rank_count && schedule_kinds[p->layout.schedule].folds)
        return 2 * p->rank_count - 1 - stage;
    return stage % p->rank_count;
}

static int64_t message_of(const struct priced_cut *c, const struct plan_stage *d)
{
    return c->seat_bytes ? c->seat_bytes[d->group] : c->message_bytes;
}

bool way_tiers_hold(const struct priced *p, const struct way *w, int in_flight)
{
    const struct plan_stage *d = &w->decision;
    for (int i = 0; i < p->tier_count; i++) {
        const char *activations = p->gradient_options[d->gradient_option].activations;
        int64_t there = strcmp(p->tiers[i], activations ? activations : "host")
                            ? 0
                            : in_flight * w->swapped,
                limit = p->groups[d->group].tier_limit_bytes[i];
        for (int l = d->first_layer; l < d->first_layer + d->layer_count; l++)
            there += tiered_of(&p->runs[priced_run_of(p, l)], d)->tier_bytes[i];
        if (limit >= 0 && there > limit) return false;
    }
    return true;
}

enum { RUNS_MOST = 30 };

// The problem in which the head of a stage before a local boundary stands among the model's layers
// as the stage's last one; its layers then count as many as before and one more.
static const struct priced *with_head(const struct priced *p, struct plan_stage *d, int stage,
                                      struct priced *to, struct priced_run *runs)
{
    int behind = d->first_layer + d->layer_count, layer = 0;
    assert_true(p->run_count <= RUNS_MOST);
    if (!p->local_head_count || stage == p->stage_count - 1 || !way_boundary_is_local(p, stage))
        return p;
    *to = *p;
    to->runs = runs, to->run_count = 0, to->layer_count++;
    for (int r = 0; r < p->run_count; layer += p->runs[r++].count) {
        int before = behind - layer < p->runs[r].count ? behind - layer : p->runs[r].count;
        for (int part = 0; part < 2; part++) {
            struct priced_run *run = &runs[to->run_count];
            *run = p->runs[r];
            run->count = part ? p->runs[r].count - (before > 0 ? before : 0) : before;
            to->run_count += run->count > 0;
            if (part || before <= 0 || layer + before != behind) continue;
            runs[to->run_count] = *p->local_heads;
            runs[to->run_count++].cut = p->runs[r].cut; // the message is that of the layer before
        }
    }
    d->layer_count++;
    return to;
}

// A layer at a degree of the vocabulary; NULL: it has no such price.
static const struct priced_run *at_degree(const struct priced *p, int run, int degree)
{
    for (int i = 0; i < p->vocabulary_run_count; i++)
        if (degree && p->vocabulary_runs[i].tensor == degree &&
            !strcmp(p->vocabulary_runs[i].name, p->runs[run].name))
            return &p->vocabulary_runs[i];
    return NULL;
}

// The problem in which each layer is a run of its own, the first ones of the stage that can be
// recomputed those of the further sharding, and its vocabulary's those of its degree.
static const struct priced *with_shards(const struct priced *p, struct plan_stage *d,
                                        struct priced *to, struct priced_run *runs)
{
    int left = d->sharded_layers;
    if (!left && !d->vocabulary_tensor) return p;
    assert_true(p->layer_count <= RUNS_MOST);
    *to = *p;
    to->runs = runs, to->run_count = p->layer_count;
    for (int l = 0; l < p->layer_count; l++) {
        int r = priced_run_of(p, l);
        bool own = l >= d->first_layer && p->runs[r].recomputable && left-- > 0;
        const struct priced_run *spread = at_degree(p, r, d->vocabulary_tensor);
        runs[l] = own ? p->sharded_runs[r] : p->runs[r];
        if (spread && l >= d->first_layer && l < d->first_layer + d->layer_count) runs[l] = *spread;
        runs[l].count = 1;
    }
    d->sharded_layers = d->vocabulary_tensor = 0;
    return to;
}

// The problem whose layers are the stage's as it has them.
static const struct priced *as_treated(const struct priced *p, struct plan_stage *d, int stage,
                                       struct priced *to, struct priced_run *runs)
{
    const struct priced *sharded = with_shards(p, d, to, runs);
    return sharded == p ? with_head(p, d, stage, to, runs) : sharded;
}

void way_put_memory(struct way *w, const struct priced *p, int stage)
{
    struct plan_stage with = w->decision, *d = &with;
    struct priced other;
    struct priced_run runs[RUNS_MOST + 2];
    p = as_treated(p, d, stage, &other, runs);
    int behind = d->first_layer + d->layer_count;
    int64_t whole = 0; // what sharding sends away, of all the stage's layers
    for (int l = d->first_layer; l < behind; l++) {
        const struct priced_run *r = &p->runs[priced_run_of(p, l)];
        enum recompute mode = mode_of_layer(p, d, l);
        if (r->seats) r = &r->seats[d->group];
        const struct priced_tiered *t = tiered_of(r, d);
        if (t && t->energy_uj) w->energy += t->energy_uj[d->group];
        if (t && t->energy_uj && mode == RECOMPUTE_FULL) w->energy += t->again_uj[d->group];
        if (t && t->energy_uj && mode == RECOMPUTE_SWAP) w->energy += t->swap_uj[d->group];
        w->resident += t ? t->weight_bytes : r->weight_bytes;
        w->resident += r->gradient_bytes + r->feedback_bytes[d->gradient_option];
        w->resident += t ? t->optimizer_bytes : r->optimizer_bytes;
        if (mode != RECOMPUTE_SWAP) w->stash += r->stash_bytes[mode];
        else w->swapped += r->stash_bytes[mode = RECOMPUTE_NONE];
        int64_t working = r->working_bytes[mode] + (t ? t->buffer_bytes : 0);
        if (working > w->working) w->working = working;
        whole += r->unsharded_bytes;
    }
    w->working += whole;
    if (d->recompute == RECOMPUTE_SWAP) w->working += swap_buffers(p, d);
    if (stage > 0 && !way_boundary_is_inner(p, stage - 1)) {
        const struct priced_cut *c = &p->cuts[p->runs[priced_run_of(p, d->first_layer - 1)].cut];
        w->resident += 2 * message_of(c, d) + c->feedback_bytes[d->boundary_option];
    }
    if (stage == p->stage_count - 1) return;
    if (!way_boundary_is_inner(p, stage) &&
        !(p->layout.stored_inputs && way_boundary_is_local(p, stage)))
        w->resident += 2 * message_of(&p->cuts[p->runs[priced_run_of(p, behind - 1)].cut], d);
    if (way_boundary_is_local(p, stage)) w->resident += p->local_bytes;
}

static bool condition_holds(const struct priced *p, const struct rule *r,
                            const struct plan_stage *d, bool *stated, int which)
{
    *stated = true;
    int behind = d->first_layer + d->layer_count, count = 0;
    switch (which) {
    case 0:
        *stated = r->group_count > 0;
        for (int i = 0; i < r->group_count; i++)
            if (!strcmp(r->groups[i], p->groups[d->group].name)) return true;
        return false;
    case 1:
        *stated = r->holds_first >= 0;
        return d->first_layer <= r->holds_first && r->holds_last < behind;
    case 2:
        *stated = r->layers_min >= 0 || r->layers_max >= 0;
        for (int l = d->first_layer; l < behind; l++)
            count += !r->run || !strcmp(p->runs[priced_run_of(p, l)].name, r->run);
        return (r->layers_min < 0 || count >= r->layers_min) &&
               (r->layers_max < 0 || count <= r->layers_max);
    case 3: *stated = r->recompute_stated; return r->recompute[d->recompute];
    case 4:
        *stated = r->compresses_gradient >= 0;
        return r->compresses_gradient == (p->gradient_options[d->gradient_option].form.amount > 0);
    default:
        *stated = r->compresses_boundary >= 0;
        return r->compresses_boundary == (d->boundary_option > 0);
    }
}

static bool rules_hold(const struct priced *p, const struct plan_stage *d, int stage)
{
    for (const struct rule *r = p->rules; r < p->rules + p->rule_count; r++) {
        if (r->stage >= 0 && r->stage != stage) continue;
        bool all = true;
        for (int which = 0; which < 6; which++) {
            bool stated, holds = condition_holds(p, r, d, &stated, which);
            if (stated && !holds) all = false;
        }
        if (r->action == RULE_REQUIRE ? !all : all) return false;
    }
    return true;
}

static bool options_allowed(const struct priced *p, const struct plan_stage *d)
{
    const struct compression_form both[] = {p->gradient_options[d->gradient_option].form,
                                            p->boundary_options[d->boundary_option].form};
    for (int i = 0; i < 2; i++)
        if (both[i].method == COMPRESS_LOW_RANK && both[i].amount > 0 &&
            both[i].amount < p->budget.rank_min)
            return false;
    return true;
}

void way_put_times(struct way *w, const struct priced *p, int stage)
{
    struct plan_stage with = w->decision, *d = &with;
    struct priced other;
    struct priced_run runs[RUNS_MOST + 2];
    p = as_treated(p, d, stage, &other, runs);
    for (int l = d->first_layer; l < d->first_layer + d->layer_count; l++) {
        const struct priced_run *r = &p->runs[priced_run_of(p, l)];
        for (int i = 0; i < p->slice_count; i++) {
            w->forward[i] += forward_of_layer(p, d, l, i);
            w->backward[i] += backward_of_layer(p, d, l, i);
        }
        w->weight += r->weight_ns[d->group];
        w->optimizer +=
            (tiered_of(r, d) ? tiered_of(r, d)->optimizer_ns : r->optimizer_ns)[d->group];
        w->cut_behind = r->cut;
    }
    w->sync = sync_of(p, d);
    w->queued = queued_sync_of(p, d);
    if (d->recompute == RECOMPUTE_SWAP) {
        w->forward[0] = swapped_pass(p, d, false);
        w->backward[0] = swapped_pass(p, d, true);
    }
    if (d->recompute == RECOMPUTE_SWAP && crosses(p, d)) {
        int64_t both[] = {0, 0};
        for (int l = d->first_layer; l < d->first_layer + d->layer_count; l++)
            for (int i = 0; i < 2; i++) both[i] += pass_of_layer(p, d, l, i);
        w->away = w->forward[0] - both[0], w->back = w->backward[0] - both[1];
        w->forward[0] = both[0], w->backward[0] = both[1];
    }
    if (stage == p->stage_count - 1 || !way_boundary_is_local(p, stage)) return;
    w->forward[0] += p->local_forward_ns;
    w->backward[0] += p->local_backward_ns;
}

// Whether the stage recomputes as all stages have to.
static bool has_setting(const struct priced *p, const struct plan_stage *d)
{
    int able = 0, asked = p->layout.recomputed_layers;
    if (!p->layout.recompute) return true;
    for (int l = d->first_layer; l < d->first_layer + d->layer_count; l++)
        able += p->runs[priced_run_of(p, l)].recomputable;
    if (p->layout.recompute - 1 != RECOMPUTE_FIRST_LAYERS)
        return (int)d->recompute == p->layout.recompute - 1;
    if (!able) return d->recompute == RECOMPUTE_NONE;
    return d->recompute == RECOMPUTE_FIRST_LAYERS &&
           d->recomputed_layers == (able < asked ? able : asked);
}

static bool make_way(struct way *w, const struct priced *p, const struct plan_stage *d, int stage)
{
    if (!has_setting(p, d) || !rules_hold(p, d, stage) || !options_allowed(p, d)) return false;
    *w = (struct way){.decision = *d};
    way_put_times(w, p, stage);
    way_put_memory(w, p, stage);
    return true;
}

static int recomputable_layers(const struct priced *p, const struct plan_stage *d)
{
    int count = 0;
    for (int l = d->first_layer; l < d->first_layer + d->layer_count; l++)
        count += p->runs[priced_run_of(p, l)].recomputable;
    return count;
}

// The next allowed number above k of recomputed layers after this many swapped ones, among those
// that can be recomputed; -1: none.
static int next_recomputed(const struct priced *p, const struct plan_stage *d, int k, int most)
{
    int left = most - d->swapped_layers;
    if (d->recompute == RECOMPUTE_FIRST_LAYERS) return k < most ? k + 1 : -1;
    if (d->recompute != RECOMPUTE_SWAP || k >= left) return -1;
    if (p->recompute[RECOMPUTE_FIRST_LAYERS]) return k + 1;
    return p->recompute[RECOMPUTE_FULL] ? left : -1;
}

// Whether the option has a tier for activations that the group reaches.
static bool may_go(const struct priced *p, const struct plan_stage *d)
{
    const struct priced_run *r = &p->runs[0];
    return tiered_of(r, d)->away_ns[d->group] >= 0;
}

// Degrees of the vocabulary for a stage with these layers: 0, and then those that any of its layers
// has. Returns how many; TEST_DEGREES at most.
enum { TEST_DEGREES = 9 };
static int degrees_of(int degrees[TEST_DEGREES], const struct priced *p, const struct plan_stage *d)
{
    int count = 1;
    degrees[0] = 0;
    for (int i = 0; i < p->vocabulary_run_count; i++)
        for (int l = d->first_layer; l < d->first_layer + d->layer_count; l++) {
            int degree = p->vocabulary_runs[i].tensor, known = 0;
            if (!at_degree(p, priced_run_of(p, l), degree)) continue;
            while (known < count && degrees[known] != degree) known++;
            if (known == count) degrees[count++] = degree;
        }
    return count;
}

// As many layers sharded further as can be, at each of the vocabulary's degrees.
static int ways_of_layouts(struct way *to, const struct priced *p, struct plan_stage d, int stage,
                           int recomputable)
{
    int degrees[TEST_DEGREES], count = degrees_of(degrees, p, &d), n = 0;
    struct way scratch;
    for (int i = 0; i < count; i++)
        for (int k = 0; k <= (p->sharded_run_count ? recomputable : 0); k++) {
            d.vocabulary_tensor = degrees[i], d.sharded_layers = k;
            n += make_way(to ? &to[n] : &scratch, p, &d, stage);
        }
    return n;
}

// Calls make_way for every recompute mode and option of an interval on a group; counts, and stores
// if there is room.
static int ways_of_interval(struct way *to, const struct priced *p, struct plan_stage d, int stage)
{
    int n = 0, recomputable = recomputable_layers(p, &d);
    bool compresses = stage > 0 && !way_boundary_is_inner(p, stage - 1) &&
                      !way_boundary_is_local(p, stage - 1);
    for (int mode = 0; mode < RECOMPUTE_COUNT; mode++) {
        if (mode != RECOMPUTE_NONE && !p->recompute[mode]) continue;
        bool swaps = mode == RECOMPUTE_SWAP;
        if ((mode == RECOMPUTE_FIRST_LAYERS || swaps) && !recomputable) continue;
        d.recompute = (enum recompute)mode;
        for (d.swapped_layers = swaps; d.swapped_layers <= (swaps ? recomputable : 0);
             d.swapped_layers++)
            for (int k = mode == RECOMPUTE_FIRST_LAYERS; k >= 0;
                 k = next_recomputed(p, &d, k, recomputable))
                for (int g = 0; g < p->gradient_option_count; g++)
                    for (int o = 0; o < (compresses ? p->boundary_option_count : 1); o++) {
                        d.recomputed_layers = k;
                        d.gradient_option = g;
                        if (swaps && !may_go(p, &d)) continue;
                        d.boundary_option = o;
                        n += ways_of_layouts(to ? to + n : NULL, p, d, stage, recomputable);
                    }
    }
    return n;
}

int ways_of_stage(struct way *to, const struct priced *p, int stage)
{
    int n = 0, S = p->stage_count, L = p->layer_count;
    for (int first = stage; first < L; first++)
        for (int count = 1; first + count <= L - (S - 1 - stage); count++) {
            if ((stage == 0 && first > 0) || (stage == S - 1 && first + count < L)) continue;
            for (int g = 0; g < p->group_count; g++) {
                if (p->groups[g].excluded) continue;
                n += ways_of_interval(
                    to ? to + n : NULL, p,
                    (struct plan_stage){.first_layer = first, .layer_count = count, .group = g},
                    stage);
            }
        }
    return n;
}
