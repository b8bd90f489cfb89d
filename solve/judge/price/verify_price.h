// The judge's own prices: the time or bytes of one layer, message or sync of a problem, worked out
// from docs/FORMULAS.md alone without the solver's code. Nothing is tabulated. Each function gives
// one priced term, rounded once, halves up, to whole nanoseconds or bytes. Computed in long double
// with an error bound (docs/PROOFS.md 13): a price is the one whole number that the formula gives,
// or it is counted as doubtful.
#pragma once

#include "data/inputs/problem.h"
#include "data/schedule/schedule.h"

// Prices whose error reaches across a rounding point, and sizes whose error reaches across a point
// where a formula changes.
struct doubts {
    int64_t prices, sizes;
};

// The problem and what section 1 of the formulas derives from it.
struct price_audit {
    const struct problem *problem;
    long double error;     // of any computed value, relative to value + lost
    struct doubts *doubts; // where doubts are counted; NULL: nowhere
    int direction;         // of a doubtful price: -1 the lower value (of a limit the upper), 1 the
                           // opposite, 0 the nearest
    int stage_count, pipeline, micro_batches; // pipeline: ranks
    int64_t ranks, expert_ranks;     // of a gradient sync: data x context; of one of experts
    int64_t sharing, expert_sharing; // of these, the ranks that divide states among them
    int64_t alike;                   // groups of such ranks, each of which has all states
    int64_t expert_parts;            // ranks that an expert's width is split over
    int64_t collective;              // tensor x context
    int64_t devices;                 // of a stage
    bool gridded;                    // tensor ranks form a grid: in sections 3 to 6, one GPU has
    long double outer, inner;        // one of so many parts of heads and FFN; of a token's values
    long double sequences;           // of the micro-batch
    int zero;                        // ZeRO stage; 2 counts as 1 where gradients add up whole
    bool comes_and_stays;            // a backward pass leaves gathered weights as they are
    bool by_stages;                  // sharded values are gathered and scattered once for all
    long double tokens;              // of a micro-batch on one GPU
    long double share;               // of the unsharded activations on one GPU
    long double value_bytes;
    long double query, key; // widths: heads and KV heads x head width
    long double held;   // of keys on the tensor ranks together, each with whole heads of its own
    long double summed; // width of all heads' weighted sums of values
    long double gates;  // matrices of the feed-forward part
    long double row;    // of the vocabulary's matrix
    int carried;        // tensors of a message between layers
    long double vocabulary; // padded
    bool overlapped;        // gradient syncs and gathers
    int asked;              // tokens that the head predicts: one, plus further ones
    bool two_tables;        // the head has a second copy of the embedding's matrix
    bool embedding_sync;    // both copies are trained
    bool embedding_ring;    // a judge of placements gives its time, if fused:
    int64_t embedding_ring_ns;
    // [link that the cluster states] the link it stands for, where a judge of placements states
    // links; NULL: they are the cluster's own.
    const struct joint *joints;
    // [group] how gradients are summed, where such a judge determined it; NULL: as the group's own
    // links imply.
    const struct summed_by {
        long double trees, trees_of_experts; // share of a ring's bandwidth; 0: not by trees
    } * summed_by;
    const struct price_audit *whole; // of the problem, in a run's own audit; else NULL
};
struct price_audit price_audit_of(const struct problem *problem);
long double width_held(const struct shape *s, const struct layout *l); // price_audit.held
// as: gives error (as a minimum), doubts and direction.
struct price_audit price_audit_over(const struct problem *problem, const struct price_audit *as);

// A run with a shape or tokens of its own is judged in a problem of its own: a model of its shape,
// whose sequences are its pieces (section 21). For any other run this is the problem's audit.
struct own_audit {
    struct problem problem;
    struct price_audit audit;
};
const struct price_audit *audit_of_run(const struct price_audit *a, int run, struct own_audit *own);

// Result of a computation that includes a difference: |error| <= price_audit.error x (value +
// lost).
struct computed {
    long double value, lost;
};

static inline const struct layout *layout_of(const struct price_audit *a)
{
    return &a->problem->job.layout;
}
static inline const struct layer_run *run_of(const struct price_audit *a, int run)
{
    return &a->problem->model.runs[run];
}
static inline bool has_shape(const struct price_audit *a, int run)
{
    return run_of(a, run)->kind != LAYER_MEASURED;
}
static inline bool is_layered(const struct price_audit *a, int run) // a block or a moe
{
    return run_of(a, run)->kind == LAYER_BLOCK || run_of(a, run)->kind == LAYER_MOE;
}
// The width of the feed-forward part that every token passes.
static inline long double shared_width(const struct price_audit *a, const struct layer_run *r)
{
    if (r->kind == LAYER_MOE) return r->experts.shared_ffn;
    return r->no_feed_forward ? 0 : a->problem->model.shape.ffn;
}
static inline bool is_end(const struct layer_run *r)
{
    return r->kind == LAYER_EMBEDDING || r->kind == LAYER_HEAD;
}
// Gate and up are two separate products.
static inline bool has_split_gate(const struct price_audit *a, const struct layer_run *r)
{
    return a->problem->job.split_gate && a->gates > 2 && r->kind == LAYER_BLOCK &&
           !r->no_feed_forward;
}
static inline bool is_projector(const struct price_audit *a, int run)
{
    return run_of(a, run)->kind == LAYER_PROJECTOR;
}
bool shards_fully(const struct price_audit *a);             // FSDP2, as in torchtitan
bool passes_gradient(const struct price_audit *a, int run); // it is trained, or one before it
const struct gpu_costs *gpu_of(const struct price_audit *a, int group);
const struct precision_costs *rates_of(const struct price_audit *a, int group); // NULL: it has none
const struct layer_time *stated_time(const struct price_audit *a, int run, int group); // or NULL
// A measured run's bytes at the layout's degrees.
const struct measured_bytes *stated_bytes(const struct price_audit *a, const struct layer_run *r);

// ---- links (section 2)
struct joint {
    bool joined, inside, stated; // inside: within a node; stated: no table refines it
    long double bytes_per_s, latency_s;
    int64_t rings; // of gradient syncs that share it: a table's time is for one ring
    // Over nodes of so many GPUs (0: of the group's), where a judge of placements states links.
    // Then of a collective whose times may be measured by their number: its nodes, and its rings
    // side by side on each; 0: none.
    int64_t per_node, nodes, side_by_side;
    double in_switches; // bus bandwidth of sums in the node's switches; 0: these do not add up
};
// Ranks that exchange data, and how far apart they are in the order of ranks; no ranks: a message.
struct form {
    int64_t ranks, apart;
};
struct joint judged_inside(const struct price_audit *a, int group, struct form form);
// A ring that leaves a node over its cards also passes inside the node, and is no faster than
// that.
struct joint judged_pass_inside(const struct price_audit *a, int group, struct joint link);
struct joint judged_stated(const struct price_audit *a, int from, int to); // between two groups
// What uses the cards at the same time: messages between stages or collectives, so many streams at
// either end, each through one NIC or over all of a kind.
struct passing {
    bool message, one_nic;
    int64_t streams[2];
};
// The rate of one stream over a node's NICs of a kind; 0: it has none.
long double judged_card_rate(const struct price_audit *a, int group, int kind, int64_t streams,
                             bool message, bool one_nic);
struct joint judged_cards(const struct price_audit *a, int from, int to, const struct passing *what,
                          int kind);
enum { NO_KIND = NIC_KIND_COUNT, OWN_KIND };
// Among the kinds that both groups have; NO_KIND: there is none.
int judged_fastest_kind(const struct price_audit *a, int from, int to, const struct passing *what);
struct joint judged_tensor_link(const struct price_audit *a, int group); // all-reduces of a layer
// Rings over `ranks` ranks that are `apart` from each other in the order of the tensor ranks.
struct joint judged_axis_link(const struct price_audit *a, int group, int64_t apart, int64_t ranks);
struct joint judged_heads_link(const struct price_audit *a, int group); // exchanged by context
struct joint judged_ring_link(const struct price_audit *a, int group);  // keys and values
struct joint judged_gradient_link(const struct price_audit *a, int group);
struct joint judged_expert_gradient_link(const struct price_audit *a, int group);
// Within a group that divides states, of experts' or of the rest; from one of these to the next.
struct joint judged_sharing_link(const struct price_audit *a, int group, bool of_experts);
struct joint judged_alike_link(const struct price_audit *a, int group);
struct joint judged_parts_link(const struct price_audit *a, int group); // of an expert
struct joint judged_expert_link(const struct price_audit *a, int group);
// Devices that hold a memory layer's values once; how often all of its devices hold them.
int64_t judged_pool_group(const struct price_audit *a, const struct layer_run *r);
int64_t judged_pool_copies(const struct price_audit *a, const struct layer_run *r);
struct joint judged_pool_link(const struct price_audit *a, const struct layer_run *r, int group);
struct joint judged_pool_ring(const struct price_audit *a, const struct layer_run *r, int group);
struct joint judged_copies_link(const struct price_audit *a, int group); // of all the pipeline
struct joint judged_stage_link(const struct price_audit *a, int from, int to);
long double judged_all_reduce_s(struct joint link, long double bytes, int64_t ranks);
// Sums across nodes use trees where those are faster.
long double judged_switches_s(struct joint link, long double bytes, int64_t ranks);
long double judged_sum_s(const struct price_audit *a, struct joint link, long double bytes,
                         int64_t ranks);
long double judged_tree_climb_s(struct joint link, int64_t ranks); // up, with empty messages
// Share of a ring's bandwidth, by a message's bytes.
long double judged_tree_share(const struct price_audit *a, long double bytes);
struct summed_by judged_sums(const struct price_audit *a, int group); // for gradients
// The measurement for this many ranks of a GPU over such a link, of all-reduces or messages; NULL:
// none.
const struct collective_times *judged_table(const struct price_audit *a, int group,
                                            struct joint link, int64_t ranks, bool send);
// Over the nodes of the link, by what was measured on as many or on others: whether there is such a
// measurement, and the time of an all-reduce.
bool judged_by_nodes(const struct price_audit *a, int group, struct joint link);
struct computed judged_nodes_s(const struct price_audit *a, int group, struct joint link,
                               long double bytes, int64_t ranks);
extern const long double judged_long_bytes; // of a long message
// What the trainer sends at once, of a layer of so many bytes: DeepSpeed's bucket, Megatron's where
// gradients go out during the backward passes, a layer of FSDP2's; a long message elsewhere.
long double judged_sent_at_once(const struct price_audit *a, long double layer);
// Half of an all-reduce, where such were measured. Without bytes: what it takes whatever it sends,
// on no more nodes than any was measured on; nothing where each layer is sent for itself.
bool judged_half_measured(const struct price_audit *a, int group, struct joint link, int64_t ranks,
                          long double bytes, struct computed *half);
// What a collective over these ranks, so far apart from each other, makes of a link. One channel
// has no measured times; rings that share their node's cards have no tables of exactly so many
// ranks.
enum spread { SPREAD_OVER_ALL, SPREAD_ONE_CHANNEL, SPREAD_WITHOUT_TABLE };
struct joint judged_spread(const struct price_audit *a, int group, struct joint link, int64_t ranks,
                           int64_t apart, enum spread spread);
struct computed judged_table_s(const struct price_audit *a, const struct collective_times *table,
                               long double bytes);
// x >= y, or less by no more than the binary error of decimal fractions.
bool judged_reaches(const struct price_audit *a, long double x, long double y);

// ---- node groups
const char *exclusion_of(const struct price_audit *a, int group); // NULL: it can hold a stage
int64_t slots_of(const struct price_audit *a, int group);
int64_t memory_limit_of(const struct price_audit *a, int group);
int64_t constant_bytes_of(const struct price_audit *a, int group);

// ---- slices
struct piece {
    long double tokens, length, behind;
}; // tokens on one GPU; length of the sequence; tokens before it in the sequence
struct piece piece_of(const struct price_audit *a, int slice);

// ---- a layer of a run (sections 3 to 5)
struct layer_duration {
    int64_t forward_ns, backward_ns, weight_ns, optimizer_ns;
    int64_t again_ns[RECOMPUTE_COUNT]; // by the layer's mode: recomputation before backward
};
struct layer_duration layer_duration_of(const struct price_audit *a, int run, int group, int slice,
                                        struct tier_option where); // group: not excluded

// Whether the vocabulary's layers can have the layout of `spread` beside that of `own`: their times
// and links are known on every group that can hold a stage. And, in whole nanoseconds, what the
// ranks of both layouts exchange in a pass over such a layer.
bool can_spread_vocabulary(const struct price_audit *own, const struct price_audit *spread);
int64_t vocabulary_exchange_ns(const struct price_audit *own, const struct price_audit *spread,
                               int run, int group, int slice, bool backward);

// The matrices of a layer's attention in the order of its forward pass, with one GPU's part of
// each. whole: every tensor rank has all of it.
struct judged_matrix {
    long double inputs, outputs;
    bool whole;
};
enum { ATTENTION_MATRICES_MAX = 10 };
int judged_matrices(const struct price_audit *a, int run,
                    struct judged_matrix m[ATTENTION_MATRICES_MAX]);
// What else a layer's attention is. Of a token, split over the tensor ranks and on each of them:
// values kept for the backward pass, those that products read other than inputs of all its values,
// and those that its own norms move. passed: keys and values round the ring. narrowed: bytes less
// kept in 8-bit training. held: what single operators keep; second: the products that they repeat.
struct judged_attention {
    int scored; // attentions by scores
    long double vectors_split, vectors_whole;
    long double kept_split, kept_whole, read_split, read_whole, moved_split, moved_whole;
    long double rotated, passed, narrowed, held_split, held_rows, second_outputs, second_inputs;
    long double together;   // of all heads, gathered where tensor ranks have the same KV head
    long double kernels;    // elementwise ones
    long double back_split; // moved by the backward pass, less twice what the forward one moves
};
struct judged_attention judged_attention(const struct price_audit *a, int run);
long double judged_ring_bytes(const struct price_audit *a, int run, long double tokens); // a step
bool judged_keys_kept(const struct price_audit *a, int run);
// Values of each token whose heads context ranks exchange.
long double judged_exchanged(const struct price_audit *a, int run);
// What it needs while it runs: gradients of scores, buffers of the ring.
long double judged_attention_working(const struct price_audit *a, int run, bool learns);
int attentions_of(const struct layer_run *r); // two in a decoder that follows an encoder
int judged_parts(const struct layer_run *r);  // attentions, and the feed-forward part
// Norms over all values of a token in one layer.
int judged_norms(const struct price_audit *a, const struct layer_run *r);
// What it does in one pass on one GPU, other than products. fused: in one kernel.
struct attending {
    bool fused;
    long double cells, flop, flop_back, score_bytes;
    long double states, states_back; // of the FLOP, those of linear attention beside the scores
};
struct attending judged_attending(const struct price_audit *a, int run, struct piece p);
// The same of linear attention alone (linear.c). Bytes of the states that a context rank passes on;
// values by token of those held between chunks.
int judged_linear_matrices(const struct price_audit *a, struct judged_matrix *m);
struct judged_attention judged_linear(const struct price_audit *a);
struct attending judged_linear_attending(const struct price_audit *a, struct piece p);
long double judged_states_passed(const struct price_audit *a);
long double judged_states_held(const struct price_audit *a);
void judged_put(struct judged_matrix *m, int *count, long double inputs, long double outputs,
                bool whole);

// Values on one GPU before ZeRO shards them, for a run with a shape.
struct layer_weight {
    long double dense, experts, pool; // trained
    long double frozen_bytes;
    long double apart; // trained ones other than the matrix that embedding and head share
    long double table; // of embedding and head: the shared matrix
    int64_t pool_copies;
};
struct layer_weight layer_weight_of(const struct price_audit *a, int run);
// Whether fp32 sums of all gradients are kept next to 16-bit ones, as DeepSpeed does below ZeRO 2;
// bytes per value of a gradient that is scattered (docs/FORMULAS.md 4, 7).
bool keeps_two_gradients(const struct price_audit *a);
int scattered_gradient_bytes(const struct price_audit *a);
// The gradient that one backward pass of DeepSpeed makes for a table of embeddings, in addition to
// the accumulated one.
long double dense_table_bytes(const struct price_audit *a, const struct layer_run *r,
                              const struct layer_weight *w);
// Per value of a frozen run, which may be held in few bits: these bits, plus 1/128 of a two-byte
// scale.
long double kept_bytes(const struct price_audit *a, const struct layer_run *r);
// Bytes on each device of the pool that layers share; its update and its copies' sum in a stage.
long double judged_pool_bytes(const struct price_audit *a);
long double judged_pool_update_s(const struct price_audit *a, int group);
// Of the copies of a pool's part, in an iteration.
long double judged_pool_sum_s(const struct price_audit *a, const struct layer_run *r,
                              long double values, int group);
// The same for weights that layers share, including the sum of their gradients.
long double shared_copy_bytes(const struct price_audit *a);
long double shared_copy_s(const struct price_audit *a, int group);
long double half_keys(const struct pool_shape *p); // the number whose pairs name every value
// One product of a block with an adapter: whether what it reads has a token's whole width (else
// what it makes has), and its other width, over all tensor ranks.
struct adapted {
    bool reads_token, in_ffn;
    long double other;
};
// [ADAPTER_MODULE_COUNT]; how many.
int judged_adapters(const struct price_audit *a, const struct layer_run *r, struct adapted *to);
long double matrix_values(const struct price_audit *a, long double ffn); // of a block, unsharded

// Bytes of weights that one GPU holds, by what is trained.
struct held_weights {
    long double trained, frozen;
};
struct held_weights held_weights_of(const struct price_audit *a, int run);

struct layer_bytes {
    int64_t weight, gradient, optimizer;
    int64_t stash[RECOMPUTE_COUNT], working[RECOMPUTE_COUNT]; // by the layer's mode
    int64_t unsharded; // while the stage runs, for each of its layers
    int64_t message;   // after the layer
};
struct layer_bytes layer_bytes_of(const struct price_audit *a, int run);
// What a micro-batch keeps of it in mode none.
long double judged_kept_bytes(const struct price_audit *a, int run);
void activations_of(const struct price_audit *a, int run, struct layer_bytes *b);

// ---- rates.c
// For what is not computed in 8 bits: logits, scores.
const struct precision_costs *judged_wide_rates(const struct price_audit *a, int group);
// Of the layout's kernel and of its ring, forward or back; by the share of arrays that heads fill.
long double judged_filled_arrays(const struct price_audit *a, int group, bool back);
long double judged_attention_rate(const struct price_audit *a, int group, bool back);
// Of dispatch and combine, what is not hidden.
long double judged_routing_s(const struct price_audit *a, long double routed, long double compute);
// Kernels of a product of so many experts on a device.
long double judged_expert_kernels(const struct price_audit *a, long double experts);
// How often a forward pass reads or writes a row of an expert beside its products.
int judged_row_copies(const struct price_audit *a, const struct expert_shape *e);
// Bytes a row that Megatron moves where experts have biases: to clamp what it activates, to add
// the last bias.
struct judged_biases {
    long double clamped, added;
};
struct judged_biases judged_biases_of(const struct price_audit *a, const struct layer_run *r);
// Rows of the fullest device's experts over the mean: that they multiply, padded; that are sent,
// which are padded if the capacity is fixed.
enum rows_of { MULTIPLIED, SENT };
long double judged_rows(const struct price_audit *a, const struct layer_run *r, enum rows_of of);
long double routed_tokens(const struct price_audit *a, const struct layer_run *r);
int activation_inputs(const struct price_audit *a);
int inner_tensors(const struct price_audit *a); // of the feed-forward width, kept by a trained one
// 0 or 1: whether the last product's input is kept. Of a frozen block: inputs of a token's whole
// width that adapters read.
int last_input_kept(const struct price_audit *a, const struct layer_run *r);
int adapted_inputs(const struct price_audit *a, const struct layer_run *r);
long double score_stash(const struct price_audit *a, int run);
// Values of a token that one of its experts reads, and gives back.
long double judged_expert_reads(const struct price_audit *a, const struct layer_run *r);
// Of the tokens that all tensor ranks route, those that one of them multiplies.
long double gathered_tokens(const struct price_audit *a, const struct layer_run *r);
long double expert_stash(const struct price_audit *a, const struct layer_run *r);

// An option of this form is allowed, whatever it compresses: rank_min limits factors only.
bool is_allowed(const struct job *j, struct compression_form form);

// ---- transfers (section 6)
struct sending {
    int run, sender, receiver, slice;
    struct compression_form form;
    bool backward;
    long double copies;       // that a device sends, if it serves several others; 0: one
    long double stated_bytes; // in place of the message's; 0: the message's
};
bool transfer_price(const struct price_audit *a, struct sending m, int64_t parts[PART_COUNT]);
// Between two stages, each with the prices of its own width (docs/FORMULAS.md 23).
bool resharded_price(const struct price_audit *sender, const struct price_audit *receiver,
                     struct sending m, int64_t parts[PART_COUNT]);
int64_t boundary_feedback_of(const struct price_audit *a, int run, struct compression_form form);
// Bytes of so many values as their largest with positions, or in few bits; and the time to pack
// and unpack arrays of so many.
long double judged_packed_bytes(struct compression_form form, long double values,
                                long double value_bytes);
// Decompressing factors: so many FLOP, and bytes of the matrix and its factors.
long double judged_unfactor_s(const struct precision_costs *, long double flop, long double bytes);
long double judged_packing_s(const struct gpu_costs *gpu, struct compression_form form,
                             long double packed, long double unpacked);

// ---- syncs, and what sharded weights and gradients add to a pass (section 7)
int64_t layer_sync_ns(const struct price_audit *a, int run, int group,
                      struct compression_form form);
// The same with all that its stream has to do for it, whatever of it is hidden elsewhere.
int64_t layer_sync_work_ns(const struct price_audit *a, int run, int group,
                           struct compression_form form);
int64_t sync_constant_ns(const struct price_audit *a, int group);
int64_t gradient_feedback_of(const struct price_audit *a, int run, struct compression_form form);
bool embedding_sync_price(const struct price_audit *a, int first, int last, int64_t *ns);
int64_t embedding_link_price(const struct price_audit *a,
                             struct joint link); // over links like this one

// Of a layer: Adam's state wherever it is, what its step on a GPU copies, a table's gradient that
// stays, and how many values are updated; the time of a step with nothing in tiers.
struct judged_state {
    long double bytes, copies, table, values;
    bool timed; // its step was
};
long double judged_state_width(const struct price_audit *a); // bytes of the state for each of these
struct judged_state judged_state_of(const struct price_audit *a, int run, int group);
long double judged_step_s(const struct price_audit *a, int run, int group);

// ---- tiers.c (section 4, Shares and Tiers)
// The job's way that an option of a plan states (job_tiering); -1: it has no such way.
int tiering_of(const struct job *j, const struct compression_option *o);
int64_t device_state_bytes(const struct price_audit *a, int run, struct tier_option where);
// A step of the state with the option, if it would take `step` seconds on the GPU.
long double judged_state_step_s(const struct price_audit *a, const struct judged_state *all,
                                int group, struct tier_option where, long double step);
int64_t shared_step_ns(const struct price_audit *a, int run, int group, struct tier_option where);
struct tiered_weights {
    int64_t kept, buffers; // on the GPU
};
struct tiered_weights tiered_weights_of(const struct price_audit *a, int run,
                                        struct tier_option where);
// Bytes of a layer in the tier of this name; how long a pass waits for what tiers deliver.
int64_t tier_held_bytes(const struct price_audit *a, int run, struct tier_option where,
                        const char *tier);
// Of its activations, to their tier or back; -1: the group has none for them.
int64_t swap_ns_of(const struct price_audit *a, int run, int group, struct tier_option where,
                   bool back);
// Of an iteration, on all GPUs of a stage, and what more if it is recomputed in full, or swapped.
struct judged_energy {
    int64_t always_uj, again_uj, swapped_uj;
};
struct judged_energy energy_of_layer(const struct price_audit *a, int run, int group,
                                     struct tier_option where, bool may_swap);
long double tier_read_s(const struct price_audit *a, int run, int group, struct tier_option where);
int64_t judged_tier_limit(const struct price_audit *a, int group,
                          const char *tier);                     // of a stage; -1: none
const char *judged_lack(const struct price_audit *a, int group); // why it lacks a tier; NULL: none

// The largest price of each kind anywhere in the problem: what never takes time is not in the
// schedule's graph.
struct largest_prices {
    int64_t parts_ns[PART_COUNT], sync_ns, optimizer_ns;
};
struct largest_prices largest_prices_of(const struct price_audit *a);
bool offers_epilogue(const struct price_audit *a); // an option that compresses only in the drain

// To the nearest integer, halves up; below 0: 0. Values that pricing refuses as too large give the
// maximum, which no plan claims.
#define WHOLE_MAX 9007199254740992 // 2^53
int64_t judged_whole(const struct price_audit *a, long double x);
int64_t judged_nanoseconds(const struct price_audit *a, struct computed seconds);

static inline long double least(long double x, long double y) { return x < y ? x : y; }
static inline long double greatest(long double x, long double y) { return x > y ? x : y; }
