// Communication between the ranks of a stage during one layer's pass, as the judge prices it
// (docs/FORMULAS.md, section 3): all-reduces of tensor ranks, the ring of context ranks, exchanges
// between experts and of a pool's values.
#include "data/base/least.h"
#include "data/kinds/schedules.h"
#include "solve/judge/price/passes.h"

// What tensor ranks do with values: scatter and gather them, gather only, or sum them, possibly by
// trees.
enum exchange { BOTH_WAYS, GATHERED, SUMMED };

void judged_hold(struct on_links *held, struct joint link, long double seconds)
{
    *(link.inside ? &held->inside : &held->across) += seconds;
}

// Of what tensor ranks say, the share that a pass waits for.
static long double tensor_shown(const struct price_audit *a)
{
    return 1 - (long double)a->problem->costs.tensor_overlap.value;
}

static struct computed shown_part(const struct price_audit *a, struct computed whole)
{
    return (struct computed){tensor_shown(a) * whole.value, tensor_shown(a) * whole.lost};
}

// A pass waits for the shown share and has the link for all of it.
static void say_ahead(const struct price_audit *a, struct talk *talk, struct joint link,
                      long double seconds)
{
    talk->forward_s += tensor_shown(a) * seconds;
    judged_hold(&talk->ahead, link, seconds);
}

static void say_back(const struct price_audit *a, struct talk *talk, struct joint link,
                     long double seconds)
{
    talk->backward_s += tensor_shown(a) * seconds;
    judged_hold(&talk->back, link, seconds);
}

// From the table where there is one.
static struct computed part_s(const struct price_audit *a, int group, int64_t ranks,
                              struct joint link, long double bytes, enum exchange exchange)
{
    if (ranks == 1) return (struct computed){0, 0};
    const struct collective_times *table = judged_table(a, group, link, ranks, false);
    struct computed seconds = {exchange == SUMMED ? judged_sum_s(a, link, bytes, ranks)
                                                  : judged_all_reduce_s(link, bytes, ranks),
                               0};
    long double part = exchange == GATHERED ? 0.5L : 1;
    if (table && bytes > 0) seconds = judged_table_s(a, table, bytes);
    else if (!table && judged_by_nodes(a, group, link))
        seconds = judged_nodes_s(a, group, link, bytes, ranks);
    return (struct computed){seconds.value * part + gpu_of(a, group)->collective_launch_s.value,
                             seconds.lost};
}

static struct computed tensor_part_s(const struct price_audit *a, int group, long double bytes,
                                     enum exchange exchange)
{
    return part_s(a, group, layout_of(a)->tensor, judged_tensor_link(a, group), bytes, exchange);
}

// Full recomputation whose inputs are elsewhere: on all tensor ranks, unless those have them in
// parts anyway; on the host, there and back. Megatron's engine copies on another stream, during the
// layer.
struct computed judged_fetched_s(const struct price_audit *a, int run, int group, struct piece p,
                                 long double forward)
{
    const struct job *j = &a->problem->job;
    long double whole = judged_checkpoint_bytes(a, run_of(a, run), p.tokens);
    if (j->checkpoints == CHECKPOINTS_DEVICE) return (struct computed){0, 0};
    if (j->checkpoints == CHECKPOINTS_PARTITIONED)
        return layout_of(a)->sequence_parallel
                   ? (struct computed){0, 0}
                   : shown_part(a, tensor_part_s(a, group, whole, GATHERED));
    long double there = whole * a->share / gpu_of(a, group)->host_link_bytes_per_s.value, shown;
    shown = j->trainer != TRAINER_MEGATRON ? there : greatest(0, there - forward);
    return (struct computed){shown + shown, 2 * (there + forward)};
}

// Of activations, which sequence parallelism scatters and gathers.
static struct computed tensor_reduce_s(const struct price_audit *a, int group, long double bytes)
{
    return tensor_part_s(a, group, bytes, layout_of(a)->sequence_parallel ? BOTH_WAYS : SUMMED);
}

// Queries, keys and values of the heads that others take, and the sums that come back; so do their
// gradients. Each of the four is an exchange among the context ranks of a device group.
static long double heads_s(const struct price_audit *a, int run, int group, struct piece p)
{
    const struct layout *l = layout_of(a);
    struct joint link = judged_heads_link(a, group);
    int64_t node = a->problem->cluster.groups[group].gpus_per_node,
            near = link.inside || node < l->tensor ? 1 : node / l->tensor;
    long double far = (long double)(l->context - near) / l->context, exchanges = 4,
                bytes = judged_exchanged(a, run) * p.tokens * a->value_bytes;
    return bytes * far / link.bytes_per_s +
           exchanges * attentions_of(run_of(a, run)) * (l->context - 1) * link.latency_s;
}

// Keys and values travel round step by step, each overlapped with a share of the step's attention;
// gathered before attention, and there again in the backward pass, their gradients scattered; but
// torchtitan still has what was gathered then, unless it runs that again.
static void add_context(const struct price_audit *a, int run, int group, struct piece p,
                        long double attention_s, struct talk *talk)
{
    const struct layout *l = layout_of(a);
    enum context_kind kind = a->problem->job.context_kind;
    const struct layer_run *r = run_of(a, run);
    bool linear = r->linear, states = linear || r->linear_beside;
    long double c = l->context,
                hiding = (long double)a->problem->costs.context_overlap.value / c * attention_s;
    if (l->context == 1 || r->no_attention) return;
    if (states) kind = CONTEXT_RING;
    if (kind == CONTEXT_ALL_TO_ALL) {
        long double heads = heads_s(a, run, group, p);
        talk->forward_s += heads, talk->backward_s += heads;
        judged_hold(&talk->ahead, judged_heads_link(a, group), heads);
        judged_hold(&talk->back, judged_heads_link(a, group), heads);
        return;
    }
    struct joint link = judged_ring_link(a, group);
    long double step = judged_ring_bytes(a, run, p.tokens) / link.bytes_per_s + link.latency_s;
    if (linear || kind == CONTEXT_ALL_GATHER) hiding = 0;
    if (judged_keys_kept(a, run)) {
        judged_hold(&talk->ahead, link, (c - 1) * step);
        judged_hold(&talk->back, link, (c - 1) * step);
        talk->keys_s = (c - 1) * step;
        talk->forward_s += talk->keys_s, talk->backward_s += talk->keys_s;
        talk->lost_s += 2 * talk->keys_s;
        return;
    }
    judged_hold(&talk->ahead, link, (c - 1) * step);
    judged_hold(&talk->back, link, (c - 1) * 2 * step);
    talk->forward_s += (c - 1) * greatest(0, step - hiding);
    talk->backward_s += (c - 1) * greatest(0, 2 * step - hiding * (l->fused_attention ? 2.5L : 2));
    talk->lost_s += (c - 1) * (2 * step + hiding * 2.5L);
}

// The chance that all of a token's experts miss a share of the places of its groups.
static long double missing(long double share, int64_t experts)
{
    long double missed = 1;
    for (int64_t i = 0; i < experts; i++) missed *= 1 - share;
    return missed;
}

// Copies of a token that leave its place, if each of its experts is anywhere in its groups and a
// place gets one copy: the expected number of places that it takes, less its own chance. One by one
// the groups at a place are the token's or not, last the one of which only a part is there.
static long double leaving(long double places, const struct expert_shape *e)
{
    long double of_token[ROUTER_GROUPS_MAX + 1] = {1}, missed = 0,
                                             groups = (long double)larger(1, e->router_groups),
                                             top = (long double)larger(1, e->router_top_groups);
    if (places <= 1) return 0;
    int whole = (int)(groups / places);
    for (int met = 0; met < whole; met++)
        for (int i = met + 1; i >= 0; i--) {
            long double more = i ? of_token[i - 1] * (top - i + 1) / (groups - met) : 0;
            of_token[i] = of_token[i] * (1 - (top - i) / (groups - met)) + more;
        }
    for (int i = 0; i <= whole && i <= top; i++) {
        long double partly = (top - i) / (groups - whole), here = groups / places - whole;
        missed += of_token[i] * (partly * missing((i + here) / top, e->top_k) +
                                 (1 - partly) * missing(i / top, e->top_k));
    }
    return (places - 1) * (1 - missed);
}

// Of one token of each rank, `bytes` long. DeepEP and HybridEP send a copy to each node and hand it
// on to the devices there, both at once; an all-to-all sends one for each expert, of which those
// inside the node are not counted. There and back.
static long double exchange_s(const struct price_audit *a, const struct expert_shape *e, int group,
                              long double bytes, struct on_links *held)
{
    const struct layout *l = layout_of(a);
    struct joint link = judged_expert_link(a, group);
    long double near = 1, x = l->expert;
    if (l->expert == 1) return 0;
    if (!link.inside)
        near = (long double)(a->problem->cluster.groups[group].gpus_per_node / a->expert_parts);
    if (near < 1) near = 1;
    if (a->problem->job.dispatcher != DISPATCH_ALL_TO_ALL) {
        int64_t gpus = a->problem->cluster.groups[group].gpus_per_node,
                here = larger(1, smaller(l->expert, gpus / a->expert_parts));
        long double handed =
            bytes * leaving(x, e) /
            judged_inside(a, group, (struct form){here, a->expert_parts}).bytes_per_s;
        held->inside += 2 * handed;
        judged_hold(held, link, 2 * link.latency_s);
        if (!link.inside) {
            long double sent = bytes * leaving(x / near, e) / link.bytes_per_s;
            held->across += 2 * sent;
            handed = greatest(handed, sent);
        }
        return 2 * (handed + link.latency_s);
    }
    long double both_ways =
        2 * (bytes * (long double)e->top_k * greatest(0, x - near) / x / link.bytes_per_s +
             (x - 1) * link.latency_s);
    judged_hold(held, link, both_ways);
    return both_ways;
}

// The host reads how many tokens each expert got, unless the number is fixed or nothing depends on
// the host.
static long double counting_s(const struct price_audit *a, int group)
{
    const struct job *j = &a->problem->job;
    const struct gpu_costs *gpu = gpu_of(a, group);
    if (j->graphs == GRAPHS_STEP || j->fixed_capacity) return 0;
    long double fused = gpu->dispatch_wait_s.value;
    return j->dispatcher == DISPATCH_ALL_TO_ALL ? stated_or(&gpu->all_to_all_wait_s, fused) : fused;
}

// Beside another micro-batch's passes: a share of what both take is hidden.
long double judged_routing_s(const struct price_audit *a, long double routed, long double compute)
{
    const struct job *j = &a->problem->job;
    const struct costs *c = &a->problem->costs;
    long double share = c->dispatch_overlap.value;
    if (j->dispatcher == DISPATCH_ALL_TO_ALL) share = stated_or(&c->all_to_all_overlap, share);
    if (!j->overlapped_dispatch || layout_of(a)->expert == 1) return routed;
    return greatest((1 - share) * routed, routed - share * compute);
}

// Gathered in the order of ranks and put back; after an all-to-all with several experts on a device
// also into their order and back.
int judged_row_copies(const struct price_audit *a, const struct expert_shape *e)
{
    const struct layout *l = layout_of(a);
    if (a->problem->job.dispatcher != DISPATCH_ALL_TO_ALL || l->expert == 1) return 4;
    return e->experts == l->expert ? 4 : 8;
}

// Both halves of the gate are read and written clamped, and again side by side. The bias is scaled
// by each row's weight in fp32, added, gathered from all experts, and narrowed again.
struct judged_biases judged_biases_of(const struct price_audit *a, const struct layer_run *r)
{
    const struct job *j = &a->problem->job;
    const struct shape *s = &a->problem->model.shape;
    long double e = a->value_bytes, wide = r->experts.ffn / (long double)a->expert_parts;
    if (!run_has_expert_biases(s, r) || !job_like_megatron(j)) return (struct judged_biases){0, 0};
    return (struct judged_biases){2 * (2 * wide * 2 * e),
                                  s->hidden * (4 + (e + 4 + 4) + (4 + 4) + (4 + e))};
}

// A further token's embedding, looked up by tensor ranks, and its projection, whose columns they
// share, so that its output is gathered. With sequence parallelism its input is gathered in both
// passes; in the backward pass its input gradient is scattered and its output gradient gathered.
// Without, the input gradient is summed.
static void add_further_token(const struct price_audit *a, int group, long double unsharded,
                              struct computed looked_up, struct talk *talk)
{
    struct computed made = tensor_part_s(a, group, unsharded, GATHERED),
                    read = tensor_part_s(a, group, 2 * unsharded, GATHERED),
                    summed = tensor_part_s(a, group, 2 * unsharded, SUMMED);
    bool scattered = layout_of(a)->sequence_parallel;
    struct joint link = judged_tensor_link(a, group);
    say_ahead(a, talk, link, looked_up.value + made.value + (scattered ? read.value : 0));
    say_back(a, talk, link, scattered ? made.value + 2 * read.value : summed.value);
    talk->lost_s += looked_up.lost + 2 * made.lost + 3 * read.lost + summed.lost;
}

// Of Megatron's parts that begin with a product of whole tokens: what follows that product's
// gradients leaves the pass, to be shown beside them (passes.c). Scattered tokens come a second
// time.
static void set_apart(const struct price_audit *a, int run, int group, long double unsharded,
                      struct computed reduce, struct talk *talk)
{
    const struct layer_run *r = run_of(a, run);
    const struct shape *s = &a->problem->model.shape;
    const struct job *j = &a->problem->job;
    bool head = r->kind == LAYER_HEAD, scattered = layout_of(a)->sequence_parallel;
    if (j->exposed_input_gradients || j->trainer != TRAINER_MEGATRON || r->frozen ||
        s->parallel_residual || layout_of(a)->tensor == 1 || layout_has_grid(layout_of(a)) ||
        talk->chunked_s > 0 || schedule_splits_backward(layout_of(a)->schedule))
        return;
    bool plain = !head && !s->kv_rank && !r->no_attention && !r->linear && !r->linear_beside;
    struct computed whole = shown_part(a, reduce),
                    tokens = tensor_part_s(a, group, unsharded, GATHERED),
                    again = shown_part(a, tokens);
    talk->beside_first[0] = plain, talk->beside_first[1] = head || shared_width(a, r) > 0;
    talk->goes_s = scattered ? whole.value / 2 : whole.value;
    talk->comes_s = !scattered ? 0 : head ? whole.value / 2 : again.value;
    for (int part = 0; part < 2; part++) {
        if (!talk->beside_first[part]) continue;
        talk->backward_s -= head ? whole.value : talk->goes_s;
        talk->lost_s += 3 * whole.lost + 2 * again.lost;
        if (scattered && !head)
            judged_hold(&talk->back, judged_tensor_link(a, group), tokens.value);
    }
}

static struct talk layered_talk(const struct price_audit *a, int run, int group, struct piece p,
                                long double attention_s)
{
    const struct layer_run *r = run_of(a, run);
    long double unsharded = p.tokens * a->problem->model.shape.hidden * a->value_bytes;
    struct computed reduce = tensor_reduce_s(a, group, unsharded),
                    gathered = tensor_part_s(a, group, unsharded, BOTH_WAYS);
    // After attention and after the feed-forward part, or one for both; one more after a second
    // attention. A mixture's is after its shared experts, if there are any.
    int sums = judged_parts(r) - (a->problem->model.shape.parallel_residual ? 1 : 0);
    if (r->kind == LAYER_MOE) sums = attentions_of(r) + (r->experts.shared_ffn ? 1 : 0);
    struct joint link = judged_tensor_link(a, group);
    struct talk talk = {.lost_s = (sums + 2) * reduce.lost,
                        .reduce_s = tensor_shown(a) * gathered.value,
                        .reduce_lost_s = gathered.lost,
                        .ffn = shown_part(a, reduce)};
    say_ahead(a, &talk, link, sums * reduce.value);
    say_back(a, &talk, link, sums * reduce.value);
    if (a->problem->job.overlapped_tensor && layout_of(a)->sequence_parallel &&
        layout_of(a)->tensor > 1 && link.inside && r->kind == LAYER_BLOCK) {
        talk.chunked_s = talk.forward_s;
        talk.forward_s = talk.backward_s = 0;
        talk.lost_s += 2 * talk.chunked_s;
    }
    set_apart(a, run, group, unsharded, reduce, &talk);
    if (r->kind == LAYER_MOE) {
        long double busiest = judged_rows(a, r, SENT);
        long double sent = p.tokens * judged_expert_reads(a, r) * a->value_bytes,
                    rows = sent * r->experts.top_k * busiest * (long double)a->expert_parts /
                           layout_of(a)->tensor;
        struct computed dispatched =
            part_s(a, group, a->expert_parts, judged_parts_link(a, group), rows, BOTH_WAYS);
        say_ahead(a, &talk, judged_parts_link(a, group), dispatched.value);
        say_back(a, &talk, judged_parts_link(a, group), dispatched.value);
        struct on_links routed = {0, 0};
        talk.routed_back_s =
            exchange_s(a, &r->experts, group, sent * busiest / layout_of(a)->tensor, &routed);
        talk.routed_s = talk.routed_back_s + counting_s(a, group);
        talk.ahead.inside += routed.inside, talk.ahead.across += routed.across;
        talk.back.inside += routed.inside, talk.back.across += routed.across;
        talk.lost_s += dispatched.lost;
        talk.ffn = shown_part(a, dispatched);
        talk.ffn.value += talk.routed_s;
        if (r->experts.shared_ffn) talk.ffn.value += tensor_shown(a) * reduce.value;
        if (r->experts.shared_ffn) talk.ffn.lost += reduce.lost;
    }
    // The input gradients of a gate's two products are summed separately.
    if (has_split_gate(a, r) && !layout_of(a)->sequence_parallel) {
        say_back(a, &talk, link, reduce.value);
        talk.lost_s += reduce.lost;
    }
    long double together = judged_attention(a, run).together;
    if (together > 0) { // there a gather, back a scatter
        struct computed heads =
            tensor_part_s(a, group, p.tokens * together * a->value_bytes, GATHERED);
        say_ahead(a, &talk, link, heads.value);
        say_back(a, &talk, link, heads.value);
        talk.lost_s += 2 * heads.lost;
    }
    if (r->mtp) add_further_token(a, group, unsharded, reduce, &talk);
    add_context(a, run, group, p, attention_s, &talk);
    return talk;
}

static struct talk memory_talk(const struct price_audit *a, int run, int group, struct piece p)
{
    const struct pool_shape *x = &run_of(a, run)->pool;
    struct computed reduce =
        tensor_reduce_s(a, group, p.tokens * a->problem->model.shape.hidden * a->value_bytes);
    struct talk talk = {.lost_s = reduce.lost};
    say_ahead(a, &talk, judged_tensor_link(a, group), reduce.value);
    say_back(a, &talk, judged_tensor_link(a, group), reduce.value);
    int64_t devices = judged_pool_group(a, run_of(a, run));
    if (devices == 1) return talk;
    struct joint link = judged_pool_link(a, run_of(a, run), group);
    long double others = (long double)(devices - 1), n = p.tokens / layout_of(a)->tensor;
    long double asked = others * 8 * n * x->heads * x->top_k,
                answered = others / (long double)devices * a->value_bytes * n * x->width;
    long double exchanged = (asked + answered) / link.bytes_per_s + 2 * others * link.latency_s;
    talk.forward_s += exchanged, talk.backward_s += exchanged;
    judged_hold(&talk.ahead, link, exchanged);
    judged_hold(&talk.back, link, exchanged);
    return talk;
}

static struct talk embedding_talk(const struct price_audit *a, int group, long double unsharded)
{
    struct computed forward = tensor_reduce_s(a, group, unsharded);
    struct talk talk = {.lost_s = forward.lost};
    say_ahead(a, &talk, judged_tensor_link(a, group), forward.value);
    return talk;
}

// With two matrices the outputs are sums over tensor ranks, and so are the input gradients.
static struct talk projector_talk(const struct price_audit *a, int group,
                                  const struct projector_shape *p, long double value_bytes)
{
    if (p->inner == 0) return (struct talk){0};
    struct computed there = tensor_reduce_s(a, group, value_bytes * p->outputs),
                    back = tensor_reduce_s(a, group, value_bytes * p->inputs);
    struct talk talk = {.lost_s = there.lost + back.lost};
    say_ahead(a, &talk, judged_tensor_link(a, group), there.value);
    say_back(a, &talk, judged_tensor_link(a, group), back.value);
    return talk;
}

static struct talk head_talk(const struct price_audit *a, int run, int group, long double unsharded,
                             struct piece slice)
{
    struct computed loss = tensor_part_s(a, group, 4 * slice.tokens, SUMMED),
                    back = tensor_reduce_s(a, group, unsharded);
    int times = 3;
    if (a->problem->job.gathered_logits) {
        // Gathers all ranks' logits, which sends half of what an all-reduce of them sends.
        loss = tensor_part_s(a, group, a->value_bytes * slice.tokens * a->vocabulary, GATHERED);
        times = 1;
    }
    struct talk talk = {.lost_s = a->asked * (times * loss.lost + back.lost)};
    say_ahead(a, &talk, judged_tensor_link(a, group), a->asked * times * loss.value);
    say_back(a, &talk, judged_tensor_link(a, group), a->asked * back.value);
    back.value *= a->asked, back.lost *= a->asked;
    set_apart(a, run, group, unsharded, back, &talk);
    return talk;
}

struct talk talk_of(const struct price_audit *a, int run, int group, struct piece slice,
                    long double attention_s)
{
    if (a->gridded) return grid_talk_of(a, run, group, slice).pass;
    long double unsharded = slice.tokens * a->problem->model.shape.hidden * a->value_bytes;
    switch (run_of(a, run)->kind) {
    case LAYER_BLOCK:
    case LAYER_MOE: return layered_talk(a, run, group, slice, attention_s);
    case LAYER_MEMORY: return memory_talk(a, run, group, slice);
    case LAYER_EMBEDDING: return embedding_talk(a, group, unsharded);
    case LAYER_HEAD: return head_talk(a, run, group, unsharded, slice);
    case LAYER_PROJECTOR:
        return projector_talk(a, group, &run_of(a, run)->projector, slice.tokens * a->value_bytes);
    case LAYER_MEASURED: break;
    }
    return (struct talk){0};
}

// Chunked communication is exposed where it outlasts the products it overlaps, which are all but
// one chunk's; one chunk is always exposed.
long double chunks_shown_s(const struct price_audit *a, int group, const struct talk *talk,
                           long double compute)
{
    long double t = layout_of(a)->tensor,
                least = greatest(talk->chunked_s / t, talk->chunked_s - compute * (t - 1) / t);
    if (layout_of(a)->context == 1) return least;
    // Of what context ranks let it hide, a share is shown.
    return least +
           (talk->chunked_s - least) * (long double)gpu_of(a, group)->context_tensor_loss.value;
}

// ---- between the ranks of a layout and those that the vocabulary is spread over

bool can_spread_vocabulary(const struct price_audit *own, const struct price_audit *spread)
{
    const struct model *m = &own->problem->model;
    for (int g = 0; g < own->problem->cluster.group_count; g++) {
        bool syncs = spread->ranks > 1 || spread->expert_ranks > 1;
        if (exclusion_of(own, g)) continue;
        if (!judged_tensor_link(spread, g).joined) return false;
        if (syncs && !judged_gradient_link(spread, g).joined) return false;
        for (int run = 0; run < m->run_count; run++) {
            if (!run_has_vocabulary(&m->runs[run]) || stated_time(spread, run, g)) continue;
            if (m->runs[run].kind == LAYER_MEASURED || !rates_of(own, g)) return false;
        }
    }
    return true;
}

// A device of the layout with the higher tensor degree has f times the samples that one of the
// other has, f the ratio of the degrees. Where every tensor rank has all values of its samples,
// whoever changes to more samples lacks (f - 1)/f of them, and f devices gather them; whoever
// changes to fewer lacks none. Where each has its part of the tokens alone, f devices give each
// other (f - 1)/f of that part.
int64_t vocabulary_exchange_ns(const struct price_audit *own, const struct price_audit *spread,
                               int run, int group, int slice, bool backward)
{
    const struct price_audit *wide = own, *thin = spread;
    if (layout_of(spread)->tensor > layout_of(own)->tensor) wide = spread, thin = own;
    const struct layer_run *r = run_of(own, run);
    // Forward an embedding hands over to the stage's layers, and a head takes over from them.
    bool ends_at_wide = ((r->kind == LAYER_EMBEDDING) != backward) == (wide == own);
    if (r->kind == LAYER_MEASURED || (backward && !passes_gradient(own, run))) return 0;
    long double f = (long double)layout_of(wide)->tensor / layout_of(thin)->tensor,
                held = piece_of(wide, slice).tokens * own->problem->model.shape.hidden *
                       own->value_bytes;
    if (layout_of(own)->sequence_parallel) held /= layout_of(wide)->tensor;
    else if (!ends_at_wide) return 0;
    struct joint link = judged_tensor_link(wide, group);
    long double seconds = held * (f - 1) / f / link.bytes_per_s + (f - 1) * link.latency_s +
                          gpu_of(own, group)->collective_launch_s.value;
    return judged_nanoseconds(own, (struct computed){seconds, 0});
}
