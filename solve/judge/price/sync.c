// Gradient syncs and the gathers of sharded weights, as the judge prices them (docs/FORMULAS.md,
// section 7).
#include "data/base/least.h"
#include "solve/judge/price/passes.h"

// ---- over the ranks of the gradient link

static struct joint replicas_link(const struct price_audit *a, int group, bool of_experts)
{
    return of_experts ? judged_expert_gradient_link(a, group) : judged_gradient_link(a, group);
}

// Who takes part in a scatter or a gather: all ranks with the same layers, or, of what is divided,
// those that divide it. With all of them the two are the same.
enum whom { AMONG_ALL, AMONG_SHARING };

static struct joint scatter_link(const struct price_audit *a, int group, bool of_experts,
                                 enum whom whom)
{
    return whom == AMONG_ALL ? replicas_link(a, group, of_experts)
                             : judged_sharing_link(a, group, of_experts);
}

static int64_t scatter_ranks(const struct price_audit *a, bool of_experts, enum whom whom)
{
    if (whom == AMONG_ALL) return of_experts ? a->expert_ranks : a->ranks;
    return of_experts ? a->expert_sharing : a->sharing;
}

// Trees are used where they deliver a message that is long for them to all ranks sooner than the
// ring: for all layers, whatever these have.
static long double trees_reach(const struct price_audit *a, int group, int64_t ranks,
                               bool of_experts)
{
    struct joint link = replicas_link(a, group, of_experts);
    long double share = a->problem->costs.tree_bandwidth_share.value, bytes = judged_long_bytes;
    if (!link.joined || link.inside || ranks <= 1 || judged_table(a, group, link, ranks, false) ||
        judged_by_nodes(a, group, link))
        return 0;
    long double tree = 2 * (bytes / (share * link.bytes_per_s) + judged_tree_climb_s(link, ranks));
    return judged_reaches(a, tree, judged_all_reduce_s(link, bytes, ranks)) ? 0 : share;
}

// Each rank gets all sums of whole gradients in one all-reduce.
static bool gradients_are_summed(const struct price_audit *a)
{
    return a->zero <= 0 && a->problem->job.gradient_option_count == 0;
}

struct summed_by judged_sums(const struct price_audit *a, int group)
{
    if (a->summed_by) return a->summed_by[group];
    if (!(a->problem->costs.tree_bandwidth_share.value > 0) || !gradients_are_summed(a))
        return (struct summed_by){0, 0};
    return (struct summed_by){trees_reach(a, group, a->ranks, false),
                              trees_reach(a, group, a->expert_ranks, true)};
}

// A reduce-scatter or an all-gather, without latency: of a layer, whatever else is sent.
static struct computed scatter_s(const struct price_audit *a, int group, bool of_experts,
                                 enum whom whom, long double bytes, long double trees)
{
    int64_t ranks = scatter_ranks(a, of_experts, whom);
    if (ranks <= 1 || !(bytes > 0)) return (struct computed){0, 0};
    struct joint link = scatter_link(a, group, of_experts, whom);
    struct computed all, first;
    long double sent = judged_sent_at_once(a, bytes), times = bytes / sent;
    if (judged_half_measured(a, group, link, ranks, sent, &all) &&
        judged_half_measured(a, group, link, ranks, 0, &first))
        return (struct computed){times * greatest(0, all.value - first.value),
                                 times * (all.lost + first.lost + all.value + first.value)};
    long double once = trees > 0 ? bytes / trees
                                 : bytes * (long double)(ranks - 1) / (long double)ranks,
                seconds = once / link.bytes_per_s;
    link.latency_s = 0; // counted by the stage
    if (gradients_are_summed(a))
        seconds = least(seconds, judged_switches_s(link, bytes, ranks) / 2);
    return (struct computed){seconds, 0};
}

// Dense values over all ranks, experts' over their own.
static struct computed scatter_both_s(const struct price_audit *a, int group, enum whom whom,
                                      long double bytes, long double expert_bytes)
{
    struct summed_by by = judged_sums(a, group);
    struct computed dense = scatter_s(a, group, false, whom, bytes, by.trees),
                    experts = scatter_s(a, group, true, whom, expert_bytes, by.trees_of_experts);
    return (struct computed){dense.value + experts.value, dense.lost + experts.lost};
}

static long double scatter_latency_s(const struct price_audit *a, int group, bool of_experts,
                                     enum whom whom, bool trees)
{
    int64_t ranks = scatter_ranks(a, of_experts, whom);
    if (ranks <= 1) return 0;
    struct joint link = scatter_link(a, group, of_experts, whom);
    struct computed first;
    if (judged_half_measured(a, group, link, ranks, 0, &first)) return first.value;
    if (trees) return judged_tree_climb_s(link, ranks);
    return (long double)(ranks - 1) * link.latency_s;
}

// Layers with stated times were measured whole: their weights are never gathered, and their
// gradients are never scattered midway.
static int zero_of(const struct price_audit *a, int run, int group)
{
    int zero = a->zero;
    bool whole = !has_shape(a, run) || stated_time(a, run, group);
    return whole && zero > 1 ? 1 : zero;
}

// Of dense layers, or of experts on tensor ranks that share none of the rest.
static bool has_copies(const struct price_audit *a) { return a->ranks > 1 || a->expert_ranks > 1; }

// For as long as the ring takes on its own link. One that leaves nodes in which several of its
// ranks are passes its bytes on inside them, too.
static struct on_links rings_on_links(const struct price_audit *a, int group, bool of_experts,
                                      long double bytes, long double latency)
{
    struct on_links held = {0, 0};
    int64_t ranks = scatter_ranks(a, of_experts, AMONG_SHARING),
            node = a->problem->cluster.groups[group].gpus_per_node,
            beside = of_experts ? a->expert_parts * layout_of(a)->expert : layout_of(a)->tensor;
    struct joint link = scatter_link(a, group, of_experts, AMONG_SHARING);
    judged_hold(&held, link,
                scatter_s(a, group, of_experts, AMONG_SHARING, bytes, 0).value + latency);
    if (!link.inside && ranks > 1 && node > beside)
        held.inside += bytes * (long double)(ranks - 1) / (long double)ranks /
                       judged_inside(a, group, (struct form){node, 1}).bytes_per_s;
    return held;
}

static struct on_links gathers_on_links(const struct price_audit *a, int group, long double dense,
                                        long double experts, const long double latencies[2],
                                        long double shares)
{
    struct on_links x = rings_on_links(a, group, false, dense, latencies[0]),
                    y = rings_on_links(a, group, true, experts, latencies[1]);
    return (struct on_links){(x.inside + y.inside) / shares, (x.across + y.across) / shares};
}

// ---- between groups that have the same states

// FSDP sums what it has scattered at the end of each backward pass; other engines do so once.
static bool sums_at_each_pass(const struct price_audit *a)
{
    switch (a->problem->job.trainer) {
    case TRAINER_TORCHTITAN:
    case TRAINER_OTHER: return a->zero > 1;
    default: return false;
    }
}

// A layer's own shard of so many bytes of gradients, in one message over every group.
static struct computed alike_sum_s(const struct price_audit *a, int group, long double dense,
                                   long double experts, struct on_links *held)
{
    struct computed s = {0, 0};
    long double shard = dense / (long double)a->sharing + experts / (long double)a->expert_sharing;
    int64_t node = a->problem->cluster.groups[group].gpus_per_node;
    if (a->alike == 1 || !(shard > 0)) return s;
    struct joint link = judged_alike_link(a, group);
    const struct collective_times *table = judged_table(a, group, link, a->alike, false);
    if (table) s = judged_table_s(a, table, shard);
    else if (judged_by_nodes(a, group, link)) s = judged_nodes_s(a, group, link, shard, a->alike);
    else s.value = judged_sum_s(a, link, shard, a->alike);
    if (!held) return s;
    judged_hold(held, link, s.value);
    if (!link.inside && node > a->devices / a->alike)
        held->inside += 2 * shard * (long double)(a->alike - 1) / (long double)a->alike /
                        judged_inside(a, group, (struct form){node, 1}).bytes_per_s;
    return s;
}

// Weights that are gathered in passes though their gradients wait for the last: of layers whose
// passes are not given whole.
static bool gathers_between(const struct price_audit *a, int run, int group)
{
    return a->comes_and_stays && has_shape(a, run) && !stated_time(a, run, group);
}

struct gathers gathers_of(const struct price_audit *a, int run, int group)
{
    struct gathers g = {0};
    int zero = zero_of(a, run, group);
    bool stays = gathers_between(a, run, group);
    if ((zero < 2 && !stays) || !has_copies(a)) return g;
    struct layer_weight w = layer_weight_of(a, run);
    long double gradient = scattered_gradient_bytes(a);
    const enum whom sharing = AMONG_SHARING;
    long double latency[] = {w.dense > 0 ? scatter_latency_s(a, group, false, sharing, false) : 0,
                             w.experts > 0 ? scatter_latency_s(a, group, true, sharing, false) : 0};
    struct computed scatter =
                        scatter_both_s(a, group, sharing, gradient * w.dense, gradient * w.experts),
                    sum = {0, 0};
    struct on_links summed = {0, 0};
    long double shares = a->by_stages ? a->micro_batches : 1;
    if (sums_at_each_pass(a))
        sum = alike_sum_s(a, group, gradient * w.dense, gradient * w.experts, &summed);
    if (!stays) {
        g.gradients_s = (scatter.value + latency[0] + latency[1] + sum.value) / shares;
        g.lost_s = (scatter.lost + sum.lost) / shares;
        g.gradients =
            gathers_on_links(a, group, gradient * w.dense, gradient * w.experts, latency, shares);
        g.gradients.inside += summed.inside / shares, g.gradients.across += summed.across / shares;
    }
    if (zero < 3 && !stays) return g;
    // Of a step's passes, forward and back, the first gathers, and each whose pass before went
    // forward: one more than there are micro-batches.
    if (stays && passes_gradient(a, run))
        shares = 2 * (long double)a->micro_batches / (a->micro_batches + 1);
    if (w.frozen_bytes > 0) latency[0] = scatter_latency_s(a, group, false, sharing, false);
    long double dense = a->value_bytes * w.dense + w.frozen_bytes,
                experts = a->value_bytes * w.experts;
    struct computed gather = scatter_both_s(a, group, sharing, dense, experts);
    g.weights = gathers_on_links(a, group, dense, experts, latency, shares);
    g.weights_s = (gather.value + latency[0] + latency[1]) / shares;
    g.lost_s += gather.lost / shares;
    return g;
}

// ---- what compression makes of a layer's gradients

struct matrix {
    long double rows, columns;
};
enum { MATRICES_MAX = ATTENTION_MATRICES_MAX + 3 };

static int matrices_of(const struct price_audit *of_all, int run, struct matrix m[MATRICES_MAX])
{
    struct own_audit own;
    const struct price_audit *a = audit_of_run(of_all, run, &own);
    const struct layer_run *r = run_of(a, run);
    int count = 0;
    const struct measured_bytes *stated = stated_bytes(a, r);
    if (r->kind == LAYER_MEASURED && stated->matrix_rows > 0)
        m[count++] = (struct matrix){stated->matrix_rows, stated->matrix_columns};
    if (!is_layered(a, run) || r->frozen || r->shared_weights) return count;
    const struct shape *s = &a->problem->model.shape;
    long double h = s->hidden, t = layout_of(a)->tensor, f = shared_width(a, r);
    struct judged_matrix attention[ATTENTION_MATRICES_MAX];
    for (int i = 0, all = judged_matrices(a, run, attention); i < all; i++)
        m[count++] = (struct matrix){attention[i].inputs, attention[i].outputs};
    if (f <= 0) return count;
    for (int i = s->gated_ffn ? 2 : 1; i > 0; i--) m[count++] = (struct matrix){h, f / t};
    m[count++] = (struct matrix){f / t, h};
    return count;
}

static bool matrix_shrinks(const struct price_audit *a, struct matrix m, int rank)
{
    return rank > 0 && !judged_reaches(a, rank * (m.rows + m.columns), m.rows * m.columns);
}

struct squeeze {
    long double saved_values, kept_values, work_s;
}; // kept: for all compressed matrices

static struct squeeze factors_of(const struct price_audit *a, int run, int group, int rank)
{
    struct matrix matrices[MATRICES_MAX];
    struct squeeze s = {0, 0, 0};
    long double r = rank;
    for (int i = matrices_of(a, run, matrices) - 1; i >= 0; i--) {
        struct matrix m = matrices[i];
        if (!matrix_shrinks(a, m, rank)) continue;
        s.kept_values += m.rows * m.columns;
        s.saved_values += m.rows * m.columns - r * (m.rows + m.columns);
        const struct precision_costs *rates = group >= 0 ? rates_of(a, group) : NULL;
        if (!rates) continue;
        long double bytes = a->problem->job.gradient_bytes_per_value *
                            (m.rows * m.columns + r * (m.rows + m.columns));
        if (rates->low_rank_bytes_per_s.value > 0)
            s.work_s += bytes / rates->low_rank_bytes_per_s.value;
        s.work_s += (4 * m.rows * m.columns * r + 2 * m.rows * r * r) /
                        rates->low_rank_flop_per_s.value +
                    judged_unfactor_s(rates, 2 * m.rows * m.columns * r, bytes) +
                    2 * (long double)gpu_of(a, group)->compression_overhead_s.value;
    }
    return s;
}

// ---- the sync of a layer

struct synced {
    long double gradient, weight, expert_gradient, expert_weight;
};

// Bytes of a layer that are synced. Where the shared matrix has a fused sync, its gradient is left
// out and its weights are not.
static struct synced synced_bytes(const struct price_audit *a, int run)
{
    const struct layer_run *r = run_of(a, run);
    const struct job *j = &a->problem->job;
    if (r->kind == LAYER_MEASURED)
        return (struct synced){stated_bytes(a, r)->gradient_bytes, stated_bytes(a, r)->weight_bytes,
                               0, 0};
    struct layer_weight w = layer_weight_of(a, run);
    bool leaves = a->two_tables && j->layout.fused_embedding_sync;
    long double dense = leaves ? w.apart : w.dense, gradient = j->gradient_bytes_per_value;
    return (struct synced){gradient * dense, a->value_bytes * w.dense, gradient * w.experts,
                           a->value_bytes * w.experts};
}

// All dense gradients as their largest values, or in few bits. Over n ranks, each rank's largest
// values go to every rank, or, where gradients are sharded, one n-th of them to each. Few bits are
// scattered, unpacked and added, then packed again if all ranks need the sum.
static struct squeeze packed_of(const struct price_audit *a, int run, int group,
                                struct compression_form form)
{
    struct squeeze s = {0, 0, 0};
    long double e = a->problem->job.gradient_bytes_per_value, n = (long double)a->ranks,
                values = synced_bytes(a, run).gradient / e, others = (n - 1) * form.amount / 1000,
                bytes = judged_packed_bytes(form, values, e), packed = values, unpacked = values;
    bool whole = a->zero == 0;
    if (form.method == COMPRESS_TOP_K) {
        // In terms of an all-reduce, which sends 2 (n - 1) / n of its bytes.
        if (whole) bytes = bytes * n / 2;
        unpacked = whole ? values * (1 + others) : values * (1 + others) / n;
    } else if (whole) {
        packed = values * (n + 1) / n, unpacked = 2 * values;
    }
    if (values <= 0 || judged_reaches(a, bytes, values * e)) return s;
    s.saved_values = values - bytes / e, s.kept_values = values;
    if (group >= 0)
        s.work_s = judged_packing_s(gpu_of(a, group), form, packed, unpacked) +
                   2 * (long double)gpu_of(a, group)->compression_overhead_s.value;
    return s;
}

static struct squeeze squeeze_of(const struct price_audit *a, int run, int group,
                                 struct compression_form form)
{
    if (a->zero >= 2 || form.amount == 0) return (struct squeeze){0, 0, 0};
    return form.method == COMPRESS_LOW_RANK ? factors_of(a, run, group, form.amount)
                                            : packed_of(a, run, group, form);
}

int64_t gradient_feedback_of(const struct price_audit *a, int run, struct compression_form form)
{
    return judged_whole(a, a->problem->job.gradient_bytes_per_value *
                               squeeze_of(a, run, -1, form).kept_values);
}

// Without a barrier and with overlap, weights are gathered during the forward passes of the next
// iteration.
static bool gathers_ahead(const struct price_audit *a)
{
    return !layout_of(a)->barrier && a->overlapped;
}

static struct computed shown_s(const struct price_audit *a, int run, int group,
                               struct computed gather)
{
    struct computed behind = {0, 0};
    for (int slice = 0; slice < layout_of(a)->slice_count; slice++) {
        struct passes s = passes_of(a, run, group, slice);
        // While its own collectives leave the link of the replicas to it.
        bool inside = judged_sharing_link(a, group, false).inside;
        long double held = inside ? s.ahead.inside : s.ahead.across;
        behind.value += s.forward_s - held, behind.lost += s.lost_s + held;
    }
    return (struct computed){greatest(0, gather.value - behind.value),
                             gather.value + gather.lost + behind.value + behind.lost};
}

// In fp32: each value's four bytes travel twice. In DeepSpeed only without ZeRO.
static bool wholly_summed(const struct price_audit *a, int zero)
{
    const struct job *j = &a->problem->job;
    return j->whole_gradient_sums && (zero == 0 || (zero == 1 && j->trainer != TRAINER_DEEPSPEED));
}

// What of a layer has an optimizer state: its matrices and its norms, both factors of each adapter
// of a frozen one, any other trained layer as one.
static long double owned_of(const struct price_audit *of_all, int run)
{
    struct own_audit own;
    struct matrix matrices[MATRICES_MAX];
    struct adapted adapters[ADAPTER_MODULE_COUNT];
    const struct price_audit *a = audit_of_run(of_all, run, &own);
    const struct layer_run *r = run_of(a, run);
    if (!run_is_trained(r)) return 0;
    if (!is_layered(a, run)) return 1;
    if (r->frozen) return judged_adapters(a, r, adapters) * 2;
    return matrices_of(a, run, matrices) + judged_norms(a, r);
}

// whole: with what runs during the next iteration's forward passes.
static struct computed layer_sync_s(const struct price_audit *a, int run, int group,
                                    struct compression_form form, bool whole)
{
    int zero = zero_of(a, run, group);
    long double pool = 0;
    if (run_of(a, run)->kind == LAYER_MEMORY)
        pool = judged_pool_sum_s(a, run_of(a, run), layer_weight_of(a, run).pool, group);
    if (!has_copies(a)) return (struct computed){pool, 0};
    struct synced s = synced_bytes(a, run);
    bool owned = zero == 1 && a->problem->job.owner_broadcasts;
    enum whom whom = owned ? AMONG_ALL : AMONG_SHARING;
    struct computed once = {0, 0};
    if (zero > 0 && !owned && !(zero > 1 && sums_at_each_pass(a)))
        once = alike_sum_s(a, group, s.gradient, s.expert_gradient, NULL);
    if (zero == 3) return (struct computed){pool + once.value, once.lost};
    struct squeeze squeeze = squeeze_of(a, run, group, form);
    long double saved = a->problem->job.gradient_bytes_per_value * squeeze.saved_values;
    struct computed scatter = scatter_both_s(a, group, whom, greatest(0, s.gradient - saved),
                                             s.expert_gradient),
                    shown = {0, 0};
    scatter.lost += saved > 0 ? scatter_both_s(a, group, whom, s.gradient + saved, 0).value : 0;
    if (zero && !gathers_between(a, run, group)) {
        shown = scatter_both_s(a, group, AMONG_SHARING, s.weight, s.expert_weight);
        if (!whole && gathers_ahead(a)) shown = shown_s(a, run, group, shown);
    }
    long double times = zero == 0 ? 2 : zero == 1 ? 1 : 0;
    long double wide = a->problem->job.gradient_bytes_per_value, passes = 0;
    if (owned) times = 2;
    if (wholly_summed(a, zero)) {
        // A copy, to fp32, a division there, and all of it in reverse.
        passes = (2 + 2 + 2 + 4 + 4 + 4 + 4 + 2 + 2 + 2) * (s.gradient + s.expert_gradient) / wide /
                 gpu_of(a, group)->memory_bytes_per_s.value;
        times = 8 / wide;
    }
    return (struct computed){times * scatter.value + shown.value + passes + pool + once.value +
                                 (a->ranks > 1 ? squeeze.work_s : 0),
                             times * scatter.lost + shown.lost + once.lost};
}

int64_t layer_sync_ns(const struct price_audit *a, int run, int group, struct compression_form form)
{
    return judged_nanoseconds(a, layer_sync_s(a, run, group, form, false));
}

int64_t layer_sync_work_ns(const struct price_audit *a, int run, int group,
                           struct compression_form form)
{
    return judged_nanoseconds(a, layer_sync_s(a, run, group, form, true));
}

// ---- the part of a stage's sync that does not depend on its bytes: rounds over its ranks

static long double rounds_of(const struct price_audit *a, int group, bool of_experts)
{
    int most = 0;
    for (int i = 0; i < a->problem->model.run_count; i++) {
        int zero = zero_of(a, i, group), rounds = zero < 2 ? 2 : 3 - zero;
        if (gathers_between(a, i, group)) rounds = 1;
        if (zero == 1 && wholly_summed(a, zero)) rounds = 3;
        const struct layer_run *r = run_of(a, i); // a mixture's adapters are dense
        bool counts = of_experts ? r->kind == LAYER_MOE && !r->frozen : run_is_trained(r);
        if (counts && rounds > most) most = rounds;
    }
    return most;
}

// What owners send one after the other: each of a stage's tensors, with as many in every stage, but
// all that one rank owns at once.
static long double sent_by_owners(const struct price_audit *a, int group)
{
    long double tensors = 0;
    if (!a->problem->job.owner_broadcasts) return 0;
    for (int i = 0; i < a->problem->model.run_count; i++)
        if (zero_of(a, i, group) == 1) tensors += run_of(a, i)->count * owned_of(a, i);
    return least(tensors / a->pipeline, (long double)a->sharing);
}

int64_t sync_constant_ns(const struct price_audit *a, int group)
{
    long double seconds = judged_pool_update_s(a, group) + shared_copy_s(a, group);
    if (has_copies(a)) {
        struct summed_by by = judged_sums(a, group);
        enum whom whom = a->problem->job.owner_broadcasts ? AMONG_ALL : AMONG_SHARING;
        seconds +=
            rounds_of(a, group, false) * scatter_latency_s(a, group, false, whom, by.trees > 0) +
            sent_by_owners(a, group) * scatter_latency_s(a, group, false, AMONG_SHARING, false) +
            rounds_of(a, group, true) *
                scatter_latency_s(a, group, true, whom, by.trees_of_experts > 0);
    }
    return judged_nanoseconds(a, (struct computed){seconds, 0});
}
