// Shared by the files of pricing: the quantities of docs/FORMULAS.md section 1, under the names
// they have there, and rounding to priced terms. Except for the code that fills the priced
// document, all are pure functions of struct pricing, for thousands of configurations a second.
#pragma once

#include "data/inputs/places_use.h"
#include "formulate/price/price.h"

// Of a link: a ring that leaves its node holds links of both levels.
enum level { LEVEL_ANY, LEVEL_WITHIN, LEVEL_BETWEEN, LEVEL_COUNT };

// The type of every intermediate value. With double, one price in a hundred thousand would be
// rounded the wrong way.
typedef long double real;

struct pricing {
    const struct problem *problem;
    struct priced *priced;
    struct arena *arena;
    bool links_free; // links between nodes take no time (price_terms_of_free_links)
    // Collectives inside a layer are priced for the time that they hold the links of this level,
    // under whatever they hide. LEVEL_ANY: for what they add to a pass.
    enum level level;
    real b, s, c, t, d, p,
        x;           // micro-batch, sequence; context, tensor, data, pipeline, expert degrees
    real t_e;        // tensor degree of an expert
    bool grid;       // the tensor ranks form a grid with these axes:
    real t1, t2, t3; // t, 1, 1 without a grid; split columns, depth, rows of every other product
    real n;          // tokens of one micro-batch on one GPU
    const struct shape *shape;    // source of these numbers: the run's own shape or the model's
    int64_t tokens, pieces;       // of a run with its own, else 0
    real h, f, a, w, q, kv, v, g; // the shape; 0 if there is none
    real ctx, h_e;                // width of all heads' values; of the vocabulary's matrix
    real held;           // width of all tensor ranks' KV heads, those that several share as often
    real streams;        // messages at a boundary: two if there is an encoder's output
    real predicted;      // tokens that the head predicts: one, and one for each `mtp` layer
    real e, e_g, e_w;    // bytes per value; of an accumulated gradient; of one scattered by a pass
    real u, R, R_e, D;   // share of the unsharded; sync ranks; devices
    real R_S, R_Se, R_C; // of R and R_e, those that share states once; groups that have them alike
    int zero;     // of one step's gradients: 1 for the layout's 2 if whole gradients accumulate
    bool layered; // sharded values are gathered and scattered once for all `m` micro-batches
    real m;       // micro-batches of a replica
    bool overlapped, has_pool, has_trained_experts, has_experts, regathers; // in passes, at zero 1
    bool on_nodes; // while rings over nodes are priced: their links go from node_from to node_to
    int node_from, node_to;
    int rings[2];  // rings that leave each of the two
    int transport; // of the ring: a kind of card, or TRANSPORT_NONE (data/places/places.h)
    struct message *messages;  // [cut_count], transfers.c
    struct kept_layer *kept;   // [(run * group_count + group) * slice_count + slice]; NULL: nothing
    struct product_memo *memo; // NULL: none
    // Layers' bytes are not asked for; what was priced with other costs since (price_times).
    bool times_alone, syncs_moved, messages_moved;
    int modes; // of recomputation: up to the last that is offered; later ones have no price
    struct kept_links *links;          // by group; NULL: not kept
    struct kept_attention *attentions; // of the problem's runs, once asked for; NULL: not kept
    // By group; NULL where the costs lack them.
    const struct gpu_costs *gpus[GROUPS_MAX];
    const struct precision_costs *rates[GROUPS_MAX],
        *head_rates[GROUPS_MAX]; // of the head: those of BF16 if the job's are FP8
};

// A class of messages before pricing. returns: a gradient is sent back over the boundary;
// scattered: each tensor rank sends its part.
struct message {
    real bytes, rows, columns;
    bool returns, scattered;
};

// What one stream gets of a link, with efficiencies and sharing applied. joined false: no link.
// table: measured all-reduces between exactly the requested number of ranks; NULL: there are none.
struct link_price {
    bool joined, intra;
    real bytes_per_s, latency_s;
    const struct collective_times *table;
    int rings; // gradient syncs that share it, each of which takes the time in the table; 0: one
    real tree_share; // of its bandwidth, for gradient syncs that are sums by trees; 0: they are not
    bool by_cards;   // over the cards, or within a node: tables may apply
    real sums_bytes_per_s; // of sums in a node's switches; 0: these do not add up
    // Where all-reduces were measured by their number of nodes: of this GPU, over so many nodes,
    // each with as many rings side by side.
    const struct costs *by_nodes; // NULL: none
    const char *gpu;
    real nodes, side_by_side;
};

// The two groups, which compress, and the links from one to the other and back.
struct message_ends {
    int from, to;
    struct link_price there, back;
};

// Values of one layer on one device (section 4). Trained values, divided by the ranks that share
// them; frozen values in bytes.
struct layer_parameters {
    real dense, experts, pool, frozen_bytes;
    real copies; // of each part of the pool
};

// What one layer of a run occupies, before rounding (sections 4 and 5).
struct layer_bytes {
    real weight, gradient, stash[RECOMPUTE_COUNT], working[RECOMPUTE_COUNT], unsharded, message;
    real frozen, trained; // of the weights that may be in a tier
    real values, state;   // that a step updates; Adam's state, wherever it is; 0: there is none
    real movable, fixed;  // it and copies of the step; what stays on the device whatever moves
    real matrix_rows, matrix_columns; // that low-rank compression of messages works on; 0: none
};

// A slice of a micro-batch: its tokens on one GPU, and its score cells, rows x columns: all of
// them, those that a causal kernel needs, and those that its blocks of 128 compute in addition.
struct slice {
    real tokens, score_cells, causal_cells, wasted_cells, share, length, before;
    int index;
};

// Values split over the tensor ranks, summed over all of them, and values that every rank has.
struct split {
    real sharded, whole;
};

// What sections 1 and 3 to 5 need to know of the attention of a layer; nothing else asks how it is
// made. matrices, vectors: values of its weights, and of its biases and norms. For each token: kept
// until the backward pass, other than inputs with all its values; read by products, other than
// those inputs; moved by its own norms; rotated; one byte less kept for each with 8 bits; kept and
// run again by recomputation of single operators (outputs of products; columns and depth of two);
// sent on by context ranks. kernels: elementwise ones. moved_back: split, beyond twice of moved.
struct attention {
    real count, scores; // how many; how many with scores
    struct split matrices, vectors, kept, read, moved;
    real shared; // gathered over the tensor ranks, where several share a KV head
    real rotated, narrowed, chosen, again_columns, again_depth, sent, kernels, moved_back;
};

// One pass of one slice over one layer, before rounding (section 3).
struct layer_seconds {
    real forward, backward, weight, again[RECOMPUTE_COUNT]; // again: added; of the priced modes
    real idle[LEVEL_COUNT]; // of the forward pass, while the links of a level are free
};

// Work of a forward pass on a device: FLOP of matrices, adapters, attention; bytes, those of scores
// and a pool among them; FLOP without weights; bytes cast to 8 bits, the same in both passes; bytes
// of matrices that a pass of products reads and writes.
enum reading_part { READS_ATTENTION, READS_FFN, READING_PARTS }; // the head's: READS_FFN
struct layer_work {
    real linear, adapters, attention, memory, scores, gathered, weightless, casts, operands;
    real adapters_read, adapters_made, adapted; // bytes of their inputs and outputs; how many
    // Of linear: experts', and what reads tokens. Of the backward pass: FLOP; bytes beyond twice.
    real routed, reading[READING_PARTS], attention_back, states, states_back, memory_back;
    real cells, wasted; // scores that fused attention computes; FLOP of those computed in vain
    bool fused;         // attention is one kernel
};

// `count` products of rows x columns values, launched together, or, of experts, one by one.
struct product {
    const char *what;
    real rows, columns, depth, count;
    bool of_experts;
    int reads; // 1 + enum reading_part, of what reads the tokens of all tensor ranks; 0: others
    enum module_products { OF_NONE, OF_LATENTS, OF_FFN, OF_COUNT } part;
};
enum { PRODUCTS_MAX = 17 };

// The products of one pass: forward, for the gradients of inputs, and for those of weights.
struct product_seconds {
    real forward, data, weight;
    real read_data[READING_PARTS], read_weight[READING_PARTS]; // of data and weight
};

// What limits products on one device.
struct product_limits {
    real launch, expert_start, flop_per_s, tile_flop_per_s, square_share, bytes_per_s, processors,
        operand_bytes;
    const struct matrix_arrays *arrays; // NULL: processors
    real array_share;                   // of the arrays' clock
    bool grouped;                       // one kernel for all experts
};

// Kept for a slice of a layer, for times with other costs (price_times): what does not depend on
// costs, and the products, which depend on only some of them.
struct kept_layer {
    bool has_parameters; // at group and slice 0
    struct layer_parameters parameters;
    struct kept_products { // already priced, with these limits
        bool known;
        struct product_limits limits;
        struct product_seconds seconds;
    } matrices, scores;
    const struct gpu_costs *gpu; // whose compute it is; NULL: there is neither work nor compute
    struct layer_work work;
    struct compute { // alone; backward: of inputs and weights
        real forward, backward, weight, attention;
        real read_data[READING_PARTS], read_weight[READING_PARTS]; // parts of backward
    } compute;
};

// Rounds a term in seconds to nanoseconds, or one in bytes to bytes, halves up. BAD_INPUT names the
// term if it is 2^53 or more.
enum status round_time(int64_t *ns, real seconds, const char *term, const char *of,
                       struct error *err);
enum status round_bytes(int64_t *bytes, real value, const char *term, const char *of,
                        struct error *err);

// ---- pricing.c (section 1)
const struct estimate *step_factor_of(const struct pricing *x, int group); // value 0: 1
struct pricing pricing_of(const struct problem *problem, struct priced *priced,
                          struct arena *arena);
// With the run's own shape and tokens in place of the model's and the job's. *own: for the result.
const struct pricing *pricing_of_run(const struct pricing *x, const struct layer_run *run,
                                     struct pricing *own);
// Finds the GPUs' costs in the problem's costs; call again when those have changed.
void pricing_find_costs(struct pricing *x);
// NULL: nothing is kept.
struct kept_layer *kept_of(const struct pricing *x, const struct layer_run *run, int group,
                           int slice);

// The width of the feed-forward part that every token passes.
static inline real ffn_of(const struct pricing *x, const struct layer_run *run)
{
    return run->kind == LAYER_MOE ? (real)run->experts.shared_ffn : run->no_feed_forward ? 0 : x->f;
}
static inline bool is_layered(const struct layer_run *run) // attention, and a feed-forward part
{
    return run->kind == LAYER_BLOCK || run->kind == LAYER_MOE;
}
// Whether any gradient or sharded value travels over ranks that have the same layers.
static inline bool has_replicas(const struct pricing *x) { return x->R > 1 || x->R_e > 1; }
static inline bool is_at_level(const struct pricing *x, const struct link_price *link)
{
    return x->level == LEVEL_ANY || link->intra == (x->level == LEVEL_WITHIN);
}
static inline real exposed_share(const struct pricing *x) // of tensor ranks' collectives
{
    return x->level == LEVEL_ANY ? 1 - (real)x->problem->costs.tensor_overlap.value : 1;
}
static inline bool is_end(const struct layer_run *run)
{
    return run->kind == LAYER_EMBEDDING || run->kind == LAYER_HEAD;
}
// ---- price.c
bool run_has_gradient(const struct pricing *x, const struct layer_run *run); // or one before it
enum status price_run(struct pricing *x, int run, struct error *err);
// ---- terms.c: runs besides the model's own
enum status price_other_runs(const struct pricing *x, struct error *err);

// ---- links.c (section 2)
void keep_links(struct pricing *x); // from now on, while costs are the same
struct link_price price_of_link(const struct place_link *l);
// Uses measured messages between two GPUs of the same kind, where there are any.
void find_sends(const struct pricing *x, struct link_price *price, int from, int to);
struct link_price link_of_tensor_ranks(const struct pricing *x, int group);
struct link_price link_of_tensor_axis(const struct pricing *x, int group, int axis); // from 0
struct link_price link_of_context_ring(const struct pricing *x, int group);
struct link_price link_of_context_exchange(const struct pricing *x, int group);
struct link_price link_of_gradient_sync(const struct pricing *x, int group);
struct link_price link_of_expert_sync(const struct pricing *x, int group);          // of one expert
struct link_price link_of_shards(const struct pricing *x, int group, bool experts); // R_S, R_Se
struct link_price link_of_groups(const struct pricing *x, int group);               // R_C
struct link_price link_of_experts(const struct pricing *x, int group);
struct link_price link_of_near_experts(const struct pricing *x, int group); // of those in a node
struct link_price link_of_node(const struct pricing *x, int group);         // of all its GPUs
struct link_price link_of_expert_parts(const struct pricing *x, int group); // of one expert
// Devices that hold a run's pool once, each a part, and the copies of each part.
struct pool_spread {
    real parts, copies;
};
struct pool_spread spread_of_pool(const struct pricing *x, const struct layer_run *run);
struct link_price link_of_pool(const struct pricing *x, const struct layer_run *run, int group);
struct link_price link_of_pool_copies(const struct pricing *x, const struct layer_run *run,
                                      int group);
struct message_ends ends_of_stages(const struct pricing *x, int from, int to); // groups
struct link_price link_of_copies(const struct pricing *x, int group);          // shared weights
int64_t group_slots(const struct pricing *x, const struct node_group *group);

// ---- seats.c (section 23)
enum status price_seats(struct priced *priced, const struct problem *problem, struct arena *arena,
                        struct error *err);

// ---- nodes.c (section 15)
struct link_price link_of_nodes(const struct pricing *x, int from, int to, bool ring);
int node_slots(const struct pricing *x, int group);
struct message_ends ends_of_nodes(const struct pricing *x, int from, int to); // nodes
enum status price_nodes(struct pricing *x, struct error *err);
enum status price_pipette(struct pricing *x, struct error *err); // pipette.c (16), called after it

// ---- collectives.c (section 2)
const struct collective_times *find_collective(const struct pricing *x, int group, real ranks,
                                               bool between_nodes, bool send);
real table_price_s(const struct collective_times *table, real bytes);
real sum_price_s(const struct pricing *x, const struct link_price *link, real bytes, real ranks);
bool syncs_are_sums(const struct pricing *x); // of gradients: one all-reduce of whole values
// The share of a link's bandwidth that trees reach for such a sum, where they are faster for a long
// message on the ranks' own link; 0: rings.
real sync_tree_share(const struct pricing *x, const struct link_price *own, real ranks);
real all_reduce_price_s(const struct link_price *link, real bytes, real ranks);
// What is left of a bandwidth over the nodes of ranks so far apart, or times measured by nodes.
void spread_over_nodes(const struct pricing *x, struct link_price *link, int group, real ranks,
                       real apart, bool one_channel);
// Reduce-scatter or all-gather of a layer, by its own bytes alone, and the part of its time that
// does not depend on them.
real scatter_s(const struct pricing *x, const struct link_price *link, real bytes, real ranks);
real scatter_latency_s(const struct pricing *x, const struct link_price *link, real ranks);

// ---- memory.c (sections 4, 5, 8)
struct layer_parameters parameters_of(const struct pricing *x, const struct layer_run *run);
real frozen_value_bytes(const struct pricing *x, const struct layer_run *run); // of one value
// Whether gradients are summed in fp32 apart from those of the backward pass, on every rank.
bool sums_apart(const struct pricing *x);
// The dense gradient of an embedding that one backward pass of DeepSpeed creates; 0 for others.
real table_gradient_bytes(const struct pricing *x, const struct layer_run *run);
struct layer_bytes bytes_of_layer(const struct pricing *x, const struct layer_run *run);
real optimizer_s(const struct pricing *x, const struct layer_run *run, int group);
// ---- tiers.c (section 4, Shares and Tiers)
// What stays on the device of the optimizer's with the option, and its step; device_s: with
// everything on the device, which was timed. And with all parts in tiers.
real state_that_stays(const struct pricing *x, const struct layer_bytes *bytes, int option);
real state_step_s(const struct pricing *x, const struct layer_bytes *bytes, int group, int option,
                  real device_s, bool timed);
real tiered_step_s(const struct pricing *x, const struct layer_run *run, int group, int option,
                   real device_s, bool timed);
// How long the tiers need to deliver a layer's weights to a pass.
real tiered_read_s(const struct pricing *x, const struct layer_run *run, int group, int option);
enum status price_swaps(struct pricing *x, int run, int group, const char *of, struct error *err);
enum status price_energy(struct pricing *x, int run, int group, const char *of, struct error *err);
enum status price_tiered_bytes(const struct pricing *x, int run, const struct layer_bytes *bytes,
                               struct error *err);
void open_tiers(struct pricing *x, int run);
void name_tiers(struct pricing *x);
int64_t tier_limit_bytes(const struct pricing *x, int group, const char *tier); // -1: none
const char *lacks_tier(const struct pricing *x, int group); // that an option needs; NULL: none
real outside_bytes(const struct pricing *x, int group);
real inside_bytes(const struct pricing *x, int group);
// Of the pool that memory layers share, on every device whatever its layers; 0 if there is none.
real shared_pool_bytes(const struct pricing *x);
real shared_pool_step_s(const struct pricing *x, int group); // its update: one stage's part
// The same for layers that share weights; the sum of their gradients is part of the step.
real shared_weight_bytes(const struct pricing *x);
real shared_weight_step_s(const struct pricing *x, int group);

// ---- stash.c (section 5)
// Tensors of the feed-forward width that a trained layer keeps.
real kept_of_ffn(const struct pricing *x);
bool is_fully_sharded(const struct pricing *x); // torchtitan's FSDP2
void stash_of_layer(const struct pricing *x, const struct layer_run *run,
                    const struct layer_parameters *parameters, struct layer_bytes *bytes);

// ---- attention.c (sections 1, 3, 4)
void keep_attentions(struct pricing *x); // from now on
struct attention attention_of(const struct pricing *x, const struct layer_run *run);
real norms_of(const struct pricing *x, const struct layer_run *run); // over a whole token
real parts_of(const struct layer_run *run); // attentions, and the feed-forward part
int attention_products(const struct pricing *x, const struct layer_run *run, real tokens,
                       struct product *to); // these come first in products_of
// FLOP, score cells and bytes of one pass that are not of its products.
void add_attention(const struct pricing *x, const struct layer_run *run, const struct slice *slice,
                   struct layer_work *work);
// What a context rank sends on in one step of the ring; whether it keeps the keys that it gathers.
real ring_bytes(const struct pricing *x, const struct layer_run *run, real tokens);
bool keeps_keys(const struct pricing *x, const struct layer_run *run);
// In addition to what is kept.
real attention_working_bytes(const struct pricing *x, const struct layer_run *run, bool gradient);

// ---- linear.c (1, 3, 5): the same of linear attention alone; states: between chunks, by token
int linear_products(const struct pricing *x, real n, struct product *to);
struct attention linear_attention(const struct pricing *x);
real filled(const struct pricing *x); // the share of a fused kernel's width that heads have
void add_linear(const struct pricing *x, const struct slice *slice, struct layer_work *work);
real linear_ring_bytes(const struct pricing *x);
real linear_states(const struct pricing *x);

// ---- work.c, layers.c (section 3)
struct slice slice_of(const struct pricing *x, int slice);
real times_of(const struct pricing *x, const struct layer_run *run); // of passes
// Rows that the fullest device's experts multiply, over the mean that is sent; whether all at once.
real rows_multiplied(const struct pricing *x, const struct layer_run *run);
bool groups_experts(const struct pricing *x, const struct layer_run *run);
real mixture_launch_s(const struct pricing *x, const struct layer_run *run, int group, real rest);
// How often a forward pass reads or writes a row of an expert besides its products.
real row_copies(const struct pricing *x, const struct layer_run *run);
// What Megatron moves for a row's values before and behind its activation if experts have biases.
real clamp_bytes(const struct pricing *x, const struct layer_run *run);
real bias_bytes(const struct pricing *x, const struct layer_run *run);
struct layer_work work_of_layer(const struct pricing *x, const struct layer_run *run,
                                const struct slice *slice);
struct layer_seconds seconds_of_layer(const struct pricing *x, const struct layer_run *run,
                                      int group, int slice);
enum status price_layer_times(struct pricing *x, int run, int group, struct error *err); // terms.c
const struct layer_time *find_layer_time(const struct pricing *x, const char *run, const char *gpu);
const struct measured_bytes *find_measured(const struct pricing *x, const struct layer_run *run);

// ---- products.c (section 3)
int products_of(const struct pricing *x, const struct layer_run *run, real tokens,
                struct product *to); // [PRODUCTS_MAX]
// The rates of its products: those of BF16 for what is not multiplied in 8 bits.
const struct precision_costs *rates_of_run(const struct pricing *x, const struct layer_run *run,
                                           int group);
// False: not priced by shape, or no products. share: of its rates that a misaligned head reaches.
bool product_times(const struct pricing *x, const struct layer_run *run, const struct slice *slice,
                   int group, real share, struct product_seconds *to);
// Whether gate and up are two products (the job's split_gate).
bool splits_gate(const struct pricing *x, const struct layer_run *run);
// The last product, whose output no gradient needs, where recomputation stops before it; else 0.
real unneeded_product_s(const struct pricing *x, const struct layer_run *run, real n, int group);
// A block's forward products that recomputation of single operators repeats.
real repeated_products_s(const struct pricing *x, const struct layer_run *run, real n, int group);
// Of a module's forward products, each by itself: to[enum module_products].
void module_parts_s(const struct pricing *x, const struct layer_run *run, real n, int g, real *to);
// Products of unfused attention; weight: those that compute the gradients of keys and values.
bool score_times(const struct pricing *x, const struct layer_run *run, const struct slice *slice,
                 int group, struct product_seconds *to);
// x / y rounded up, except for the error that decimal fractions can cause.
real pieces(real x, real y);
// ---- arrays.c (section 3, Arrays)
real array_product_s(const struct product_limits *l, const struct product *p, real output_bytes);
// The share of the arrays that attention's products fill; 1: no arrays.
real array_attention_share(const struct pricing *x, int group, bool back);

// ---- communication.c (section 3)
// beside_s: overlaps with products, in each direction; dispatch: of experts, in addition, which may
// run beside another micro-batch; keys: of forward, a gather that is kept.
struct layer_talk {
    real forward_s, backward_s, beside_s, dispatch_s, dispatch_back_s, keys_s;
    real gathered_s, summed_s; // of backward_s, for each part that `reads`: beside its products
    bool reads[READING_PARTS];
};
void communication_of_layer(const struct pricing *x, const struct layer_run *run, int group,
                            const struct slice *slice, real attention_s, struct layer_talk *talk);
// Known at once: none of a layer's collectives and gathers is on this level's links.
bool leaves_level(const struct pricing *x, const struct layer_run *run, int group, enum level at);
// Of the feed-forward part in a forward pass, not overlapped.
real ffn_communication_s(const struct pricing *x, const struct layer_run *run, int group,
                         const struct slice *slice);
// More time of a layer that is fully recomputed, whose forward pass takes so long.
real checkpoint_s(const struct pricing *x, const struct layer_run *run, int group,
                  const struct slice *slice, real forward);
real tensor_all_reduce_s(const struct pricing *x, int group, const struct slice *slice);

// ---- modules.c (section 5, Recompute modules)
// stash, again [mode]: of mode none to those of the offered sets. scores: bytes core_attn frees.
void module_bytes(const struct pricing *x, const struct layer_run *run, real scores, real *stash,
                  real *again);
// Of the offered sets. factor: of kernels in sequence over kernels alone; again: selective is
// known.
void module_seconds(const struct pricing *x, const struct layer_run *run, int group,
                    const struct slice *slice, real factor, real *again);

// ---- grid.c (section 20)
// Collectives of a pass over a layer whose tensor ranks form a grid: all-reduces, backward apart
// from those of the products' inputs' gradients; gathers of its matrices, scatters of their
// gradients.
struct grid_collectives {
    real forward_s, backward_s, products_s, gather_s, gather_back_s, scatter_s;
};
struct grid_collectives collectives_of_grid(const struct pricing *x, const struct layer_run *run,
                                            int group, const struct slice *slice);
// Values of a layer's matrices on one device after the gather; whether they are kept beyond a pass;
// the gather after a step.
real grid_matrices(const struct pricing *x, const struct layer_run *run);
bool grid_keeps(const struct pricing *x, const struct layer_run *run);
real grid_step_s(const struct pricing *x, const struct layer_run *run, int group);

// ---- sync.c (section 7)
// In seconds: a layer's sync with a compression option, a stage's apart from its layers'.
// The sum of the copies of a pool's parts: once, and then, with sharded states, a gather.
real pool_sum_s(const struct pricing *x, const struct layer_run *run,
                const struct layer_parameters *p, int group);
real layer_sync_s(const struct pricing *x, const struct layer_run *run, int option, int group);
real stage_sync_s(const struct pricing *x, int group);
// Gathers and scatters of a pass over a layer whose weights or gradients are sharded (ZeRO 2, 3).
struct layer_gathers {
    real weights_s, gradients_s;
};
struct layer_gathers gathers_of_layer(const struct pricing *x, const struct layer_run *run,
                                      int group);
enum status price_gradient_syncs(struct pricing *x, int run, struct error *err);
enum status price_sync_constants(struct pricing *x, struct error *err);
enum status price_embedding_sync(struct pricing *x, struct error *err);
bool sums_fused_embeddings(const struct pricing *x); // over all ranks of both end stages
// A sum over two ranks of the tied matrix's gradient, or the fused sum, if its links are like this.
real embedding_sum_s(const struct pricing *x, struct link_price link);

// ---- transfers.c (section 6)
// Bytes of `values` values, sent as the largest ones or in fewer bits.
real form_bytes(const struct compression_form *form, real values, real value_bytes);
struct form_rates {
    real there, back;
}; // values of the whole array per second, packed and unpacked
struct form_rates form_rates(const struct gpu_costs *gpu, enum compression_method method);
struct back_rates {
    real flop_per_s, bytes_per_s; // bytes_per_s 0: they cost nothing
};
struct back_rates low_rank_back(const struct precision_costs *r); // of decompression
// Time that compression needs to move them; 0 where no rate is stated.
real low_rank_traffic_s(const struct pricing *x, int group, real bytes);
void find_message(const struct pricing *x, int run, const struct layer_bytes *bytes); // its class
enum status price_transfers(struct pricing *x, struct error *err);
enum status price_transfers_again(struct pricing *x, struct error *err); // with other costs
// One slice of message `m`, sent there and back between these ends, into the PART_COUNT prices from
// forward_ns[at] and backward_ns[option][at] on.
enum status price_message(const struct pricing *x, const struct message *m,
                          const struct message_ends *ends, int slice, int64_t *forward_ns,
                          int64_t **backward_ns, size_t at, struct error *err);
