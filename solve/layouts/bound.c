// Bounds of a layout from its priced integers; each is the length of a path of the schedule's graph
// (docs/PROOFS.md 8). For a rank with k main layers, and `before` of them on the ranks before it:
//   its compute stream     one micro-batch comes forward to it, it does all its passes and
//                          messages, then its optimizer steps
//   its sync               the same up to its last pass, without the message that this one sends;
//                          then its sync and steps
//   drain                  its compute stream, then that last message and the backwards of the
//                          stages before, where joint
//   turning round          its passes up to its last forward, that micro-batch to the end of the
//                          pipeline and back
//   crossing (crossing.c)  of slices: one of them through all ranks and back, its passes between
// The layers are given to the ranks in order, as many to each as T allows: if there is not room for
// all, T is too small. Taking as many as possible is best: each length rises with k, and none rises
// when a layer moves to an earlier rank. If there are others besides the main layers, both are
// counted (fill.c). For objective max_load only the rank's passes and messages are bounded.
#include "solve/layouts/bound.h"

#include <assert.h>
#include "data/base/least.h"
#include "data/kinds/schedules.h"

static int64_t pass_ns(const struct layer_terms *t)
{
    return t->forward_ns + t->backward_ns + t->weight_ns;
}

// ---- time

// Load of one micro-batch with k, without recomputation.
static int64_t bare_load_ns(const struct layout_sketch *s, const struct group_terms *g, int rank,
                            struct layer_share k)
{
    int64_t load = k.main * pass_ns(&g->main) + k.other * pass_ns(&g->other);
    if (sketch_holds_first(s, rank)) load += pass_ns(&g->first);
    if (sketch_holds_last(s, rank)) load += pass_ns(&g->last);
    return load + sketch_boundaries(s, rank) *
                      (s->block_forward_ns + (s->local ? 0 : s->block_backward_ns));
}

// Load of one micro-batch with k, -1 if they do not fit.
static int64_t find_load_ns(const struct layout_sketch *s, const struct group_terms *g, int rank,
                            struct layer_share k)
{
    int64_t extra = sketch_recomputation_ns(s, g, rank, k);
    if (extra < 0) return -1;
    return bare_load_ns(s, g, rank, k) + extra;
}

enum { LOAD_UNKNOWN = -2 };

// With one group the loads are cached: a bound needs the same ones again and again.
static int64_t load_ns(const struct layout_sketch *s, const struct group_terms *g, int rank,
                       struct layer_share k)
{
    if (s->group_count > 1) return find_load_ns(s, g, rank, k);
    assert(rank >= 0 && rank < s->ranks && k.main >= 0 && k.main <= s->main_count);
    assert(k.other >= 0 && k.other <= s->others);
    int64_t *load = &s->loads[(rank * (s->main_count + 1) + k.main) * (s->others + 1) + k.other];
    if (*load == LOAD_UNKNOWN) *load = find_load_ns(s, g, rank, k);
    return *load;
}

// ---- after the rank's last pass

// What is left of syncs that overlap with the gradients, from the last layer to the first, when the
// last gradient is ready: at least the sync of the first layer, and of as many main layers before
// it as add to that.
static int64_t exposed_layers_ns(const struct layout_sketch *s, const struct group_terms *g,
                                 int rank, struct layer_share share)
{
    const struct layer_terms *main = &g->main, *first = &g->first;
    bool starts = sketch_holds_first(s, rank);
    int64_t k = share.main;
    if (k < 1 || !s->only_ends) return starts ? first->sync_ns : 0;
    int64_t gradient = s->joint ? main->backward_ns + main->most_again_ns + main->most_read_ns
                                : main->weight_ns;
    int64_t tail = main->sync_ns + (k - 1) * larger(main->sync_ns - gradient, 0);
    if (!starts) return tail;
    int64_t of_first = s->joint ? first->backward_ns + first->most_again_ns + first->most_read_ns
                                : first->weight_ns;
    return first->sync_ns + larger(tail - of_first, 0);
}

struct ending {
    int64_t sync_ns, optimizer_ns;
};

// The rank's syncs and optimizer steps, each kind in series.
static struct ending ending_of(const struct layout_sketch *s, const struct group_terms *g, int rank,
                               struct layer_share k)
{
    struct ending e = {s->turns * g->sync_constant_ns + k.main * g->main.sync_ns +
                           k.other * g->other.sync_ns,
                       k.main * g->main.optimizer_ns + k.other * g->other.optimizer_ns};
    if (sketch_holds_first(s, rank))
        e.optimizer_ns += g->first.optimizer_ns, e.sync_ns += g->first.sync_ns;
    if (sketch_holds_last(s, rank))
        e.optimizer_ns += g->last.optimizer_ns, e.sync_ns += g->last.sync_ns;
    if (!s->overlapped) return e;
    // Of several stages, only the last one's gradient is known to be the rank's last.
    e.sync_ns = s->turns > 1 ? 0 : g->sync_constant_ns + exposed_layers_ns(s, g, rank, k);
    return e;
}

// Time after the rank's last pass. A step waits for its own stage's sync; of several stages one may
// step while another syncs.
static int64_t after_passes_ns(const struct layout_sketch *s, struct ending e)
{
    return s->turns > 1 ? larger(e.sync_ns, e.optimizer_ns) : e.sync_ns + e.optimizer_ns;
}

// The message of the rank's last pass keeps its compute stream busy, and does not delay its sync.
static int64_t last_send_ns(const struct layout_sketch *s, int rank)
{
    return s->joint && !s->local && rank > 0 ? s->block_backward_ns : 0;
}

// Time after the compute stream's passes and messages.
static int64_t tail_ns(const struct layout_sketch *s, const struct group_terms *g, int rank,
                       struct layer_share k)
{
    struct ending e = ending_of(s, g, rank, k);
    return larger(e.optimizer_ns, after_passes_ns(s, e) - last_send_ns(s, rank));
}

// Sync and optimizer step of the first stage, counting only its first layer, and between them the
// embedding sync: they follow its last backward, which sends nothing.
static int64_t first_ending_ns(const struct layout_sketch *s)
{
    int64_t least = INT64_MAX;
    for (int g = 0; g < s->group_count; g++) {
        const struct layer_terms *t = s->has_first ? &s->groups[g].first : &s->groups[g].main;
        least = smaller(least, s->groups[g].sync_constant_ns + t->sync_ns + t->optimizer_ns);
    }
    return least + s->embedding_sync_ns;
}

// ---- before its first pass, after its last message

struct ends {
    int64_t fill_ns, drain_ns;
};

// before: on the ranks before.
static struct ends ends_of(const struct layout_sketch *s, int rank, struct layer_share before)
{
    struct ends e = {0, 0};
    if (rank == 0 || s->segment) return e; // a segment waits for none before it
    int64_t others = rank - s->has_first;  // every stage before holds at least one layer
    bool many = s->turns == 1;
    e.fill_ns = s->fill_first_ns +
                larger(others * s->fill_ns,
                       many ? before.main * s->fill_main_ns + before.other * s->fill_other_ns : 0) +
                rank * s->send_forward_ns -
                s->block_forward_ns; // what blocks the rank itself is in its load
    if (!s->joint || s->local) return e;
    e.drain_ns =
        s->drain_first_ns +
        larger(others * s->drain_ns,
               many ? before.main * s->drain_main_ns + before.other * s->drain_other_ns : 0) +
        rank * s->send_backward_ns - s->block_backward_ns + first_ending_ns(s);
    return e;
}

// ---- lengths of paths

// Path through the rank's compute stream. With a barrier every path starts at the first stage;
// without one the cycle closes at the rank itself, or where the drain ends.
static int64_t streaming_ns(const struct layout_sketch *s, const struct group_terms *g, int rank,
                            struct layer_share before, struct layer_share k, int64_t load)
{
    struct ends ends = ends_of(s, rank, before);
    int64_t passes = s->micro_batches * load, own = passes + tail_ns(s, g, rank, k);
    bool drains = rank > 0 && s->joint && !s->local;
    if (s->barrier) own += ends.fill_ns;
    return drains ? larger(own, ends.fill_ns + passes + ends.drain_ns) : own;
}

// Passes of a rank, one of each over its k layers and the ends that it holds.
struct passes {
    int64_t forward_ns, backward_ns, weight_ns;
};

static struct passes passes_of(const struct layout_sketch *s, const struct group_terms *g, int rank,
                               struct layer_share k)
{
    struct passes p = {k.main * g->main.forward_ns + k.other * g->other.forward_ns,
                       k.main * g->main.backward_ns + k.other * g->other.backward_ns,
                       k.main * g->main.weight_ns + k.other * g->other.weight_ns};
    if (sketch_holds_first(s, rank))
        p.forward_ns += g->first.forward_ns, p.backward_ns += g->first.backward_ns,
            p.weight_ns += g->first.weight_ns;
    if (sketch_holds_last(s, rank))
        p.forward_ns += g->last.forward_ns, p.backward_ns += g->last.backward_ns,
            p.weight_ns += g->last.weight_ns;
    p.backward_ns += load_ns(s, g, rank, k) - bare_load_ns(s, g, rank, k);
    return p;
}

// One micro-batch forward and backward.
static int64_t through_ns(const struct layout_sketch *s, struct layer_share k)
{
    return k.main * (s->fill_main_ns + s->drain_main_ns) +
           k.other * (s->fill_other_ns + s->drain_other_ns);
}

// What follows the first stage's last backward on a path through the rank.
static int64_t after_first_ns(const struct layout_sketch *s, const struct group_terms *g, int rank,
                              struct layer_share k)
{
    return rank > 0 ? first_ending_ns(s)
                    : after_passes_ns(s, ending_of(s, g, rank, k)) + s->embedding_sync_ns;
}

// From the first stage to the rank, all that it computes up to its last forward, then that
// micro-batch forward through the later stages, and back to the first one. Without a barrier the
// cycle closes there.
static int64_t turning_ns(const struct layout_sketch *s, const struct group_terms *g, int rank,
                          struct layer_share k)
{
    const struct kept *kept = &s->kept[rank];
    int64_t further = kept_further_rounds(s->priced);
    struct layer_share elsewhere = {s->main_count - k.main, s->others - k.other};
    if (s->local || sketch_folds(s)) return 0;
    struct passes own = passes_of(s, g, rank, k);
    int64_t way = s->micro_batches * own.forward_ns +
                  (kept->backwards ? kept->backwards + further : 0) * own.backward_ns +
                  (kept->weights ? kept->weights + further : 0) * own.weight_ns;
    if (s->turns > 1)
        return way + (s->ranks - 1 - rank) * (s->fill_ns + s->send_forward_ns) +
               s->main_count * s->drain_main_ns + s->others * s->drain_other_ns +
               ends_of(s, rank, (struct layer_share){0, 0}).fill_ns + first_ending_ns(s);
    if (rank > 0) way += s->fill_first_ns + s->drain_first_ns;
    return way + own.backward_ns + through_ns(s, elsewhere) +
           (s->ranks - 1) * (s->send_forward_ns + s->send_backward_ns) +
           after_first_ns(s, g, rank, k);
}

// One slice through all ranks and back, and all that the rank does from the first such slice to the
// last.
static int64_t crossing_ns(const struct layout_sketch *s, const struct group_terms *g, int rank,
                           struct layer_share k, int64_t load)
{
    if (!s->crossing_count) return 0;
    return layout_crossing_ns(s, g, rank, k, load - bare_load_ns(s, g, rank, k),
                              after_first_ns(s, g, rank, k));
}

// Least time of an iteration (m x the load of the rank, for that objective); -1: k never fit.
static int64_t least_ns(const struct layout_sketch *s, const struct group_terms *g, int rank,
                        struct layer_share before, struct layer_share k)
{
    int64_t load = load_ns(s, g, rank, k);
    if (load < 0) return -1;
    if (s->priced->objective == OBJECTIVE_MAX_LOAD) return s->micro_batches * load;
    return larger(crossing_ns(s, g, rank, k, load),
                  larger(streaming_ns(s, g, rank, before, k, load), turning_ns(s, g, rank, k)));
}

int64_t layout_rank_bound(const struct layout_sketch *s, int group, int rank,
                          struct layer_share before, struct layer_share k)
{
    assert(group >= 0 && group < s->group_count && before.main >= 0 && before.other >= 0);
    return least_ns(s, &s->groups[group], rank, before, k);
}

void layout_forget_loads(const struct layout_sketch *s)
{
    if (s->group_count > 1) return;
    int64_t loads = s->ranks * ((int64_t)s->main_count + 1) * (s->others + 1);
    for (int64_t i = 0; i < loads; i++) s->loads[i] = LOAD_UNKNOWN;
}

// Some rank does at least the mean of all passes and `beside`, and as many whole main layers as the
// mean rank.
static int64_t mean_ns(const struct layout_sketch *s, int64_t ranks, int64_t beside_ns)
{
    int64_t one = INT64_MAX;
    for (int g = 0; g < s->group_count; g++) one = smaller(one, pass_ns(&s->groups[g].main));
    assert(one >= 0 && one < INT64_MAX && s->all_ns >= 0);
    int64_t average = (s->all_ns + beside_ns + ranks - 1) / ranks,
            whole = (s->main_count + ranks - 1) / ranks * one;
    return larger(average, whole);
}

int64_t layout_mean_of_passes(const struct layout_sketch *s, const struct priced *p)
{
    return p->micro_batches * mean_ns(s, p->rank_count, 0);
}

// Of 1f1b: each round trip of a micro-batch after one that the first rank has in flight before it.
static int64_t round_trips_ns(const struct layout_sketch *s)
{
    const struct layout *l = &s->priced->layout;
    int64_t depth = l->in_flight[0] ? l->in_flight[0] : s->ranks;
    if (l->schedule != SCHEDULE_1F1B || s->local || s->priced->objective == OBJECTIVE_MAX_LOAD)
        return 0;
    return (s->micro_batches + depth - 1) / depth *
               (s->all_ns + (s->ranks - 1) * (s->send_forward_ns + s->send_backward_ns)) +
           first_ending_ns(s);
}

int64_t layout_average_bound(const struct layout_sketch *s)
{
    int64_t blocks = s->segment ? 0
                                : (s->ranks - 1) * 2 * (s->turns == 1) *
                                      (s->block_forward_ns + (s->local ? 0 : s->block_backward_ns));
    return larger(s->micro_batches * mean_ns(s, s->ranks, blocks), round_trips_ns(s));
}
