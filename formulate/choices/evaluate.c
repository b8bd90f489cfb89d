// One choice: its durations, its memory, the rules it must satisfy, and what makes it unnecessary.
// Everything here is a sum, over the layers of the stage, of integers of the priced document
// (docs/FORMULAS.md, sections 7 and 8).
#include <string.h>

#include "data/base/least.h"
#include "data/kinds/schedules.h"
#include "formulate/choices/choice.h"

int choice_first_layer(const struct choices *c, int stage, const struct choice *choice)
{
    if (choice->first_layer >= 0) return choice->first_layer;
    // Each stage before a middle stage holds at least one layer, so this place is possible.
    return stage == c->priced->stage_count - 1
               ? c->priced->layer_count - choice->layer_count
               : larger_int(stage, place_least(choice->first_layer));
}

// Layers of the run within [first, first + count).
static int span_of_run(const struct priced *p, int run, int first, int count)
{
    int start = priced_first_layer(p, run),
        end = smaller_int(start + p->runs[run].count, first + count);
    if (start < first) start = first;
    return end > start ? end - start : 0;
}

int span_recomputable(const struct priced *p, int first_layer, int layer_count)
{
    int sum = 0;
    for (int r = 0; r < p->run_count; r++)
        if (p->runs[r].recomputable) sum += span_of_run(p, r, first_layer, layer_count);
    return sum;
}

// Some layer of the choice has the vocabulary, which has more degrees than the layout's.
static bool has_vocabulary(const struct choices *c, int stage, const struct choice *x)
{
    const struct priced *p = c->priced;
    bool found = false;
    for (int r = 0; r < p->run_count && p->vocabulary_run_count; r++)
        found = found || (priced_at_vocabulary(p, r, p->vocabulary_runs->tensor) &&
                          span_of_run(p, r, choice_first_layer(c, stage, x), x->layer_count) > 0);
    return found;
}

int choice_next_degree(const struct choices *c, int stage, const struct choice *x)
{
    const struct priced *p = c->priced;
    int i = 0;
    if (!has_vocabulary(c, stage, x)) return -1;
    while (i < p->vocabulary_run_count && p->vocabulary_runs[i].tensor <= x->vocabulary_tensor)
        i = priced_next_degree(p, i);
    return i < p->vocabulary_run_count ? p->vocabulary_runs[i].tensor : -1;
}

bool choice_may_have_degree(const struct choices *c, int stage, const struct choice *x)
{
    struct choice before = *x;
    before.vocabulary_tensor--; // degrees are whole numbers, and rise
    return !x->vocabulary_tensor || choice_next_degree(c, stage, &before) == x->vocabulary_tensor;
}

// Sums while walking the stage's layers from the first to the last. The backward passes end in the
// reverse order, the last layer's first.
struct walk {
    int64_t *forward_ns, *backward_ns; // [slice]
    int64_t backward_behind_ns; // of the layers walked so far: they end after the current layer
    int64_t sync_ns;            // of the layers walked so far
    int64_t tail_ns;            // exposed part of the overlapped syncs
    int64_t unsharded_bytes;    // of the layers walked so far
    const struct priced_places
        *places; // NULL, or syncs are those over a ring whose links are all like this one
    size_t link;
    int64_t *tier_bytes;       // [tier]; NULL: they are not needed
    int in_flight;             // micro-batches, at most
    struct swap_piece *pieces; // for a stage that swaps, if they are needed
    int piece_count;
};

static struct walk open_walk(const struct choices *c)
{
    int64_t *ns = TAKE(c->arena, 2 * c->priced->slice_count, int64_t);
    return (struct walk){.forward_ns = ns, .backward_ns = ns + c->priced->slice_count};
}

static int64_t layer_sync_ns(const struct choices *c, const struct walk *w,
                             const struct priced_run *run, const struct choice *x)
{
    return w->places ? w->places->ring_ns[run - c->priced->runs][x->gradient_option][w->link]
                     : run->sync_ns[x->gradient_option][x->group];
}

// `count` like layers: the tail's candidates are linear in the layer, so only the first and the
// last layer matter.
static void walk_sync(struct walk *w, int64_t sync_ns, int64_t backward_ns, int count)
{
    w->tail_ns = larger(w->tail_ns, w->sync_ns + sync_ns - w->backward_behind_ns);
    w->sync_ns += count * sync_ns;
    w->tail_ns = larger(w->tail_ns, w->sync_ns - w->backward_behind_ns - (count - 1) * backward_ns);
    w->backward_behind_ns += count * backward_ns;
}

// Backward of one layer and one slice, in a mode in which a layer runs.
static int64_t layer_backward_ns(const struct priced_run *run, int option, int price,
                                 enum recompute mode)
{
    return priced_backward_ns(run, option)[price] +
           (mode == RECOMPUTE_NONE ? 0 : run->again_ns[mode][price]);
}

// The last pass over a layer in a micro-batch
// makes its gradient final.
static void add_layers(const struct choices *c, struct choice *x, struct walk *w,
                       const struct swap_piece *of)
{
    const struct priced_run *run = of->run, *at = priced_run_at(run, x->group);
    enum recompute mode = of->mode;
    int count = of->count;
    int g = x->group, groups = c->priced->group_count;
    int64_t backward = layer_backward_ns(run, x->gradient_option, g, mode);
    const int64_t *forward = priced_forward_ns(run, x->gradient_option);
    bool splits = schedule_splits_backward(c->priced->layout.schedule);
    for (int i = 0; i < c->priced->slice_count; i++) {
        w->forward_ns[i] += count * forward[i * groups + g];
        w->backward_ns[i] += count *
                             layer_backward_ns(run, x->gradient_option, i * groups + g, mode);
    }
    x->weight_ns += count * run->weight_ns[g];
    x->optimizer_ns += count * priced_optimizer_ns(run, x->gradient_option, g);
    walk_sync(w, layer_sync_ns(c, w, run, x), splits ? run->weight_ns[g] : backward, count);
    x->memory.weight_bytes += count * priced_weight_bytes(at, x->gradient_option);
    x->memory.gradient_bytes += count * at->gradient_bytes;
    x->memory.optimizer_bytes += count * priced_optimizer_bytes(at, x->gradient_option);
    x->stash_bytes += of->swapped ? 0 : count * at->stash_bytes[mode];
    x->memory.working_bytes =
        larger(x->memory.working_bytes,
               at->working_bytes[mode] + priced_buffer_bytes(run, x->gradient_option));
    for (int i = 0; w->tier_bytes && i < c->priced->tier_count; i++) {
        w->tier_bytes[i] += count * run->tiered[x->gradient_option].tier_bytes[i];
        if (of->swapped &&
            !strcmp(c->priced->tiers[i], priced_swap_tier(c->priced, x->gradient_option)))
            w->tier_bytes[i] += count * run->stash_bytes[mode] * w->in_flight;
    }
    const struct priced_tiered *t = run->tiered_count ? &run->tiered[x->gradient_option] : NULL;
    if (t && t->energy_uj)
        x->energy_uj += count * (t->energy_uj[g] + (mode == RECOMPUTE_FULL ? t->again_uj[g] : 0) +
                                 (of->swapped ? t->swap_uj[g] : 0));
    w->unsharded_bytes += count * at->unsharded_bytes;
    x->memory.feedback_bytes += count * run->feedback_bytes[x->gradient_option];
}

// Of the recomputable layers of a stage that are still to come, how many are swapped, recomputed or
// sharded; the next ones are, in this order.
struct counted {
    int swapped, recomputed, sharded;
};

// How the next layers of a run are executed: as many of them as are treated alike, at most
// `of->count`.
static void take_mode(const struct choices *c, int layer, struct swap_piece *of,
                      const struct choice *x, struct counted *left)
{
    enum recompute mode = of->run->recomputable ? x->recompute : RECOMPUTE_NONE;
    of->mode = mode;
    of->swapped = false;
    if (c->recomputed && mode == RECOMPUTE_FULL) {
        of->count = 1;
        if (!c->recomputed[layer]) of->mode = RECOMPUTE_NONE;
    }
    if (!recompute_counts_layers(mode)) return;
    int *more = left->swapped > 0 ? &left->swapped : &left->recomputed;
    of->swapped = left->swapped > 0;
    of->mode = *more > 0 && !of->swapped ? RECOMPUTE_FULL : RECOMPUTE_NONE;
    if (*more > 0) of->count = smaller_int(of->count, *more);
}

// Takes the layers off the counts.
static void take_off(struct counted *left, const struct swap_piece *of)
{
    if (!of->run->recomputable) return;
    if (of->swapped) left->swapped -= of->count;
    else if (left->recomputed > 0) left->recomputed -= of->count;
    if (left->sharded > 0) left->sharded -= of->count;
}

// Behind a stage's layers its own head, before a local boundary.
static void add_local_head(const struct choices *c, int stage, struct choice *x, struct walk *w)
{
    const struct priced *p = c->priced;
    struct swap_piece head = {.run = p->local_heads, .count = 1, .mode = RECOMPUTE_NONE};
    if (p->local_head_count && stage < p->stage_count - 1 &&
        schedule_is_local(&c->schedule->request, stage))
        add_layers(c, x, w, &head);
}

// Returns the run of the last layer.
static int walk_layers(const struct choices *c, int stage, struct choice *x, struct walk *w)
{
    const struct priced *p = c->priced;
    int layer = choice_first_layer(c, stage, x), end = layer + x->layer_count;
    struct counted left = {x->swapped_layers, x->recomputed_layers, x->sharded_layers};
    int run = priced_run_of(p, layer), run_end = priced_first_layer(p, run) + p->runs[run].count;
    for (;;) {
        struct swap_piece of = {.run = &p->runs[run], .count = smaller_int(run_end, end) - layer};
        take_mode(c, layer, &of, x, &left);
        bool sharded = of.run->recomputable && left.sharded > 0;
        if (sharded) of.count = smaller_int(of.count, left.sharded);
        take_off(&left, &of);
        if (sharded) of.run = &p->sharded_runs[run];
        const struct priced_run *apart =
            x->vocabulary_tensor ? priced_at_vocabulary(p, run, x->vocabulary_tensor) : NULL;
        if (apart) of.run = apart;
        add_layers(c, x, w, &of);
        if (w->pieces) w->pieces[w->piece_count++] = of;
        layer += of.count;
        if (layer == end) {
            add_local_head(c, stage, x, w);
            return run;
        }
        if (layer == run_end) run_end += p->runs[++run].count;
    }
}

// The work of a stage before a local boundary in addition to its layers.
static void add_local_loss(const struct priced *p, struct choice *x, struct walk *w)
{
    w->forward_ns[0] += p->local_forward_ns;
    w->backward_ns[0] += p->local_backward_ns;
    x->memory.weight_bytes += p->local_bytes;
}

static void add_buffers(const struct choices *c, int stage, struct choice *x)
{
    const struct priced *p = c->priced;
    const struct schedule_request *r = &c->schedule->request;
    if (stage > 0 && !schedule_is_inner(r, stage - 1)) {
        const struct priced_cut *before =
            &p->cuts[p->runs[priced_run_of(p, choice_first_layer(c, stage, x) - 1)].cut];
        x->memory.buffer_bytes += 2 * priced_message_bytes(before, x->group);
        x->memory.feedback_bytes += before->feedback_bytes[x->boundary_option];
    }
    if (stage < p->stage_count - 1 && schedule_sends(r, stage))
        x->memory.buffer_bytes += 2 * priced_message_bytes(&p->cuts[x->cut], x->group);
}

static void add_loads(struct choice *x, int slice_count)
{
    x->load_ns = x->weight_ns;
    for (int i = 0; i < slice_count; i++) x->load_ns += x->forward_ns[i] + x->backward_ns[i];
}

void choice_evaluate(const struct choices *c, int stage, struct choice *x)
{
    const struct priced *p = c->priced;
    const struct priced_group *group = &p->groups[x->group];
    const struct schedule_request *r = &c->schedule->request;
    bool swaps = x->recompute == RECOMPUTE_SWAP;
    struct walk walk = open_walk(c);
    if (swaps) walk.pieces = TAKE(c->arena, p->run_count + 2, struct swap_piece);
    if (p->tier_count) walk.tier_bytes = TAKE(c->arena, p->tier_count, int64_t);
    walk.in_flight = c->schedule->in_flight[stage];
    assert(x->layer_count > 0 && (choice_sends_backward(c, stage) || x->boundary_option == 0));
    x->forward_ns = walk.forward_ns, x->backward_ns = walk.backward_ns;
    x->weight_ns = x->optimizer_ns = x->stash_bytes = x->energy_uj = x->away_ns = x->back_ns = 0;
    x->memory =
        (struct memory_parts){.constant_bytes = stage < c->rank_count ? group->constant_bytes : 0};
    x->cut = p->runs[walk_layers(c, stage, x, &walk)].cut;
    x->memory.working_bytes += walk.unsharded_bytes;
    x->tier_excess_bytes = 0;
    for (int i = 0; i < p->tier_count; i++)
        if (group->tier_limit_bytes[i] >= 0)
            x->tier_excess_bytes =
                larger(x->tier_excess_bytes, walk.tier_bytes[i] - group->tier_limit_bytes[i]);
    if (swaps)
        choice_add_swaps(x, p->gradient_options[x->gradient_option].across_passes, walk.forward_ns,
                         walk.backward_ns, walk.pieces, walk.piece_count, c->arena);
    if (stage < p->stage_count - 1 && schedule_is_local(r, stage)) add_local_loss(p, x, &walk);
    add_loads(x, p->slice_count);
    x->memory.activation_bytes = c->schedule->in_flight[stage] * x->stash_bytes;
    x->sync_ns = group->sync_constant_ns[x->gradient_option] +
                 (p->layout.gradient_sync == SYNC_OVERLAPPED ? walk.tail_ns : walk.sync_ns);
    x->queued_sync_ns =
        choices_queue_syncs(c) ? group->sync_constant_ns[x->gradient_option] + walk.sync_ns : 0;
    x->quality_cost = p->gradient_options[x->gradient_option].quality_cost +
                      p->boundary_options[x->boundary_option].quality_cost;
    add_buffers(c, stage, x);
}

bool choices_queue_syncs(const struct choices *c)
{
    return c->virtual_stages > 1 && c->priced->layout.gradient_sync == SYNC_OVERLAPPED;
}

int64_t choice_ring_sync_ns(const struct choices *c, int stage, const struct choice *choice,
                            size_t link, bool queued)
{
    const struct priced *p = c->priced;
    struct arena_mark mark = arena_set_mark(c->arena);
    struct choice x = *choice;
    struct walk walk = open_walk(c);
    walk.places = p->places, walk.link = link;
    walk_layers(c, stage, &x, &walk);
    arena_reset(c->arena, mark);
    bool tail = p->layout.gradient_sync == SYNC_OVERLAPPED && !queued;
    return p->places->ring_constant_ns[x.gradient_option][link] +
           (tail ? walk.tail_ns : walk.sync_ns);
}

bool choice_sends_backward(const struct choices *c, int stage)
{
    const struct schedule_request *r = &c->schedule->request;
    return stage > 0 && !schedule_is_inner(r, stage - 1) && !schedule_is_local(r, stage - 1);
}

// ---- rules

static int counted_layers(const struct priced *p, const struct rule *rule, int first, int count)
{
    if (!rule->run) return count;
    for (int r = 0; r < p->run_count; r++)
        if (!strcmp(p->runs[r].name, rule->run)) return span_of_run(p, r, first, count);
    return 0;
}

// All conditions that the rule states.
static bool meets_conditions(const struct choices *c, int stage, const struct choice *x,
                             const struct rule *rule)
{
    const struct priced *p = c->priced;
    int first = choice_first_layer(c, stage, x), last = first + x->layer_count - 1;
    if (rule->group_count && !rule_names_group(rule, p->groups[x->group].name)) return false;
    if (rule->holds_first >= 0 && rule->holds_first < first) return false;
    if (rule->holds_last >= 0 && rule->holds_last > last) return false;
    if (rule->holds_first >= 0 && rule->holds_first > last) return false;
    if (rule->layers_min >= 0 || rule->layers_max >= 0) {
        int count = counted_layers(p, rule, first, x->layer_count);
        if (rule->layers_min >= 0 && count < rule->layers_min) return false;
        if (rule->layers_max >= 0 && count > rule->layers_max) return false;
    }
    if (rule->recompute_stated && !rule->recompute[x->recompute]) return false;
    if (rule->compresses_gradient >= 0 &&
        priced_compresses_sync(p, x->gradient_option) != rule->compresses_gradient)
        return false;
    if (rule->compresses_boundary >= 0 &&
        (p->boundary_options[x->boundary_option].form.amount > 0) != rule->compresses_boundary)
        return false;
    return true;
}

int choice_broken_rule(const struct choices *c, int stage, const struct choice *choice)
{
    const struct priced *p = c->priced;
    for (int i = 0; i < p->rule_count; i++) {
        if (p->rules[i].stage >= 0 && p->rules[i].stage != stage) continue;
        bool met = meets_conditions(c, stage, choice, &p->rules[i]);
        if (met != (p->rules[i].action == RULE_REQUIRE)) return i;
    }
    return -1;
}

// ---- dominance

// The longest path grows with every symbol. A stage's sync is done once; if every path to it passes
// the stage's last backward, the sum of both matters, not the sync alone. That makes a difference
// if the sync is overlapped: recomputation hides a part of the sync, but never more than it adds to
// the backward. Exposed syncs of a rank with several stages follow each other, and the queued sync
// follows another stage's: these are compared by themselves.
static bool no_slower(const struct choices *c, const struct choice *a, const struct choice *b)
{
    if (c->priced->objective == OBJECTIVE_MAX_LOAD) return a->load_ns <= b->load_ns;
    if (a->weight_ns > b->weight_ns || a->optimizer_ns > b->optimizer_ns) return false;
    for (int i = 0; i < c->priced->slice_count; i++)
        if (a->forward_ns[i] > b->forward_ns[i] || a->backward_ns[i] > b->backward_ns[i])
            return false;
    // What goes away follows its forward pass alone, and what comes back leads to its backward
    // pass alone.
    int64_t back_a = a->backward_ns[0] + a->back_ns, back_b = b->backward_ns[0] + b->back_ns;
    if (a->forward_ns[0] + a->away_ns > b->forward_ns[0] + b->away_ns || back_a > back_b ||
        ((a->back_ns || b->back_ns) && back_a + a->sync_ns > back_b + b->sync_ns))
        return false;
    bool queues = choices_queue_syncs(c);
    if (a->queued_sync_ns > b->queued_sync_ns) return false;
    if ((c->virtual_stages > 1 && !queues) || schedule_splits_backward(c->priced->layout.schedule))
        return a->sync_ns <= b->sync_ns;
    return a->backward_ns[0] + a->sync_ns <= b->backward_ns[0] + b->sync_ns;
}

// If a rank has one stage, both choices fit and nothing else needs the room.
static bool leaves_as_much_room(const struct choices *c, const struct choice *a,
                                const struct choice *b)
{
    if (c->virtual_stages == 1) return true;
    return resident_bytes(&a->memory) <= resident_bytes(&b->memory) &&
           a->stash_bytes <= b->stash_bytes && a->memory.working_bytes <= b->memory.working_bytes;
}

bool choice_dominates(const struct choices *c, const struct choice *a, const struct choice *b)
{
    // If ranks are on nodes, the benefit of a compressed sync depends on the ring.
    if (c->priced->places && a->gradient_option != b->gradient_option) return false;
    return a->first_layer == b->first_layer && a->layer_count == b->layer_count &&
           a->group == b->group && a->boundary_option == b->boundary_option && a->cut == b->cut &&
           a->quality_cost <= b->quality_cost && a->energy_uj <= b->energy_uj &&
           priced_compresses_sync(c->priced, a->gradient_option) <=
               priced_compresses_sync(c->priced, b->gradient_option) &&
           no_slower(c, a, b) && leaves_as_much_room(c, a, b);
}
