// A model: a sequence of layers, given as runs of identical ones. It is either a transformer shape,
// from which (or from a run's own shape) FLOPs, bytes and activations follow (docs/FORMULAS.md), or
// measured layers whose bytes are stated here and whose times are in the costs.
#pragma once

#include "data/base/units.h"
#include "data/text/document.h"

enum layer_kind {
    LAYER_EMBEDDING,
    LAYER_BLOCK,
    LAYER_HEAD,
    LAYER_MEASURED,
    LAYER_MOE,
    LAYER_MEMORY,
    LAYER_PROJECTOR
};
// "embedding", "block", "head", "measured", "moe", "memory", "projector"
extern const char *const layer_kind_names[];

// The norms that queries and keys pass: none, one over each head, one over all heads.
enum qk_norm { QK_NORM_NONE, QK_NORM_HEAD, QK_NORM_WHOLE };

// How rotary positions are stretched, with Hugging Face's names; 0 means the default of the method.
// The factor is the shape's rotary_factor.
struct rotary_scaling {
    const char *type; // llama3, yarn, linear ...; NULL: not stated
    double low_freq_factor, high_freq_factor, beta_fast, beta_slow, mscale, mscale_all_dim;
    int64_t original_positions; // original_max_position_embeddings
};

// How linear attention's state takes a token: by the delta rule and with a decay (Gated DeltaNet;
// with latents, Kimi Delta Attention); as a state space with one learned decay for each value head
// (Mamba 2: keys, queries and values are its B, C and x); with decays for each value of a state
// (Mamba 1's selective scan); with fixed decays (lightning attention). Or there is no state, just
// gates around a convolution of the values (LFM2).
enum linear_rule {
    LINEAR_DELTA,
    LINEAR_STATE_SPACE,
    LINEAR_SCAN,
    LINEAR_LIGHTNING,
    LINEAR_CONVOLUTION
};

// Linear attention: keys and values go into a state of each value head. 0 value heads: no run has
// it.
struct linear_shape {
    int64_t key_heads, value_heads, key_width, value_width; // widths of a head's
    int64_t
        convolution; // tokens under the convolution of queries, keys and values; 0: there is none
    int64_t decay_rank; // width of the latent that decays come out of, one for each value of a key;
                        // 0: one for each value head
    int64_t gate_rank;  // width of the latent that the output's gate comes out of; 0: no latent
    enum linear_rule rule;
    bool no_norm; // no norm of the output before its product
};

// 0 is the default of every number that has one: the functions below define what it means.
struct shape {
    int64_t hidden, ffn, heads, kv_heads, head_width, vocabulary;
    int64_t query_rank, kv_rank; // latent attention: widths to which queries (0: no), keys and
                                 // values are projected first; kv_rank 0: attention is not latent
    int64_t rotary_width;        // of a head's key, shared by all heads; not from the latents
    int64_t value_width;         // of a head's value; 0: head_width
    // Sparse attention, of latents: with so many heads so wide a token finds the keys to attend to.
    int64_t index_heads, index_width, index_top_k; // 0: to all
    bool keys_as_values;                           // values come out of the keys' product (Gemma 4)
    bool keys_reused; // keys and values are those of a layer before it: none are computed here
    int64_t embedding_width; // columns of the vocabulary's matrix; 0: hidden, otherwise projected
    int norms;               // of a block of two parts; 0: 2. One part alone has half of them
    enum qk_norm qk_norm;
    bool plain_norms, no_final_norm; // norms have no parameters; none before the logits
    bool parallel_residual;          // attention and feed-forward part have the same input
    bool gated_attention; // attention's output is multiplied by a gate, from a product of its own
    int output_bias;      // of attention's output: 0 as linear_bias, 1 yes, -1 no
    int64_t positions;    // rows of a learned position embedding, 0 if there is none
    struct linear_shape linear;  // of the runs with linear attention
    int64_t vocabulary_multiple; // the vocabulary is padded to a multiple of this x tensor degree;
                                 // 0, 1: it is not padded
    bool gated_ffn;              // three matrices instead of two
    bool rms_norm;               // h parameters per norm instead of 2h
    bool qkv_bias, linear_bias;  // on the query, key and value projections (latent: on those down
                                 // to the latents); on those of the feed-forward part
    bool dropout;                // masks are kept for backward
    bool tied_embeddings;        // head and embedding share one matrix
    // Needed for a launch, but no price depends on it; NULL, 0: not stated.
    const char *activation; // as Hugging Face names it
    double norm_epsilon;
    double score_width;    // scores are divided by its root; 0: the head's width, or not stated
    double mtp_loss_scale; // weight of the mean of the further tokens' losses
    double rotary_base, rotary_share, rotary_factor; // share of a head's width; factor by which
                                                     // positions are stretched
    struct rotary_scaling rotary_scaling;
};

// Bytes of a measured layer on one device, as measured. Stash and boundary are per micro-batch.
struct measured_bytes {
    int64_t weight_bytes, gradient_bytes, optimizer_bytes;
    int64_t stash_bytes[3];   // by enum recompute: none, selective, full
    int64_t working_bytes[3]; // by enum recompute: while the layer runs, in addition to the stash
    int64_t boundary_bytes;   // its output, one message
    int64_t entry_bytes; // its input, as a stage that begins with it pays for it, with replicas in
                         // turn; 0: boundary_bytes of the layer before
    int64_t matrix_rows, matrix_columns; // matrix for low-rank compression; 0: not compressible
    // Of an entry of by_degrees: where it holds; 0: at any.
    int tensor, context, data, micro_batch, zero;
    const struct measured_bytes *by_degrees; // the first that holds counts in place of all this
    int by_degrees_count;
};

// A block whose feed-forward part is a mixture of experts.
enum { EXPERTS_MAX = 65536, ROUTER_GROUPS_MAX = 1024 };
enum router_score { ROUTER_SOFTMAX, ROUTER_SIGMOID };
extern const char *const router_score_names[];
struct expert_shape {
    int64_t experts, top_k; // a token uses top_k of the experts
    int64_t ffn;            // width of one expert
    int64_t latent;         // width that experts read and write instead of a token's; 0: a token's
    int64_t shared_ffn;     // of all experts that every token uses, together; 0: none
    bool shared_gate;       // the shared experts' output has a weight, one number per token
    double imbalance;       // tokens of the fullest GPU over the mean, >= 1; 0 counts as 1
    // How experts are chosen, which launch files state; of these only groups have a price.
    enum router_score router_score;
    bool router_all;  // the softmax is over all experts, not those that are chosen
    bool router_bias; // scores have a number for each expert added, which balances them
    int64_t router_groups, router_top_groups; // experts of this many groups; 0: of all
    double router_scale;                      // of the chosen ones' output; 0: 1
};

// A table of values that are found by product keys (a memory layer): huge, with hardly any FLOP.
struct pool_shape {
    int64_t values, width; // a square number of values: each is addressed by a pair of half keys
    int64_t heads, key_width;
    int64_t top_k; // values read per head and token
    bool gated;
    bool shared; // all runs with this flag share one table of values
};

// One matrix, or two with an activation between them: from pieces of an image or of sound to a
// tower's width, or from a tower's output to the language model's.
struct projector_shape {
    int64_t inputs, inner, outputs; // widths; inner 0: one matrix
    bool bias;                      // of each matrix
};

// Products of a frozen block that may have an adapter; the last two are one product with one
// adapter in place of several (Megatron's linear_qkv and linear_fc1).
enum adapter_module {
    ADAPTER_QUERY,
    ADAPTER_KEY,
    ADAPTER_VALUE,
    ADAPTER_OUTPUT,
    ADAPTER_GATE,
    ADAPTER_UP,
    ADAPTER_DOWN,
    ADAPTER_QKV,
    ADAPTER_GATE_UP,
    ADAPTER_MODULE_COUNT
};
extern const char *const adapter_module_names[]; // "query", ..., "gate_up", NULL

struct layer_run {
    const char *name; // unique in the model
    enum layer_kind kind;
    int count;         // >= 1
    bool recomputable; // full and first_layers apply; true for blocks, false for embedding and head
    bool frozen;       // not trained: no gradient, no optimizer state, no sync
    int adapter_rank;  // low-rank adapters, trained, on matrices of a frozen block or moe; 0: none
    bool adapter_modules[ADAPTER_MODULE_COUNT]; // on which; none stated: on every matrix of a block
    bool adapter_dropout;                       // on what each reads
    int weight_bits;    // of a frozen run's matrices, experts, vocabulary or pool; 0: as in the
                        // job's precision
    int64_t window;     // tokens that a token looks back over, including itself; 0: all
    int64_t chunk;      // or the tokens of a chunk, within which a token looks back; 0: all
    bool linear;        // attention is the shape's linear one
    bool linear_beside; // or both kinds read the same input and are summed (Falcon-H1)
    bool no_attention, no_feed_forward; // the layer is the other part alone (Nemotron-H)
    bool bidirectional;                 // attention without a causal mask
    bool cross_attention;               // a second attention, over the encoder's output
    bool shared_weights;                // all its layers have the parameters of one layer
    bool mtp; // each of its layers predicts one more token (multi-token prediction); they are after
              // the main layers and before the head, on the same stage as the head
    bool vocabulary; // LAYER_MEASURED: it is an embedding or a head, as the job's vocabulary_tensor
                     // asks
    int64_t more_products; // of more_values, those of matrices that every token is multiplied with
    int64_t more_values;   // parameters in addition to those that follow from the shape, on every
                           // tensor rank
    struct measured_bytes measured;   // LAYER_MEASURED only
    struct expert_shape experts;      // LAYER_MOE only
    struct pool_shape pool;           // LAYER_MEMORY only
    struct projector_shape projector; // LAYER_PROJECTOR only
    const struct shape *shape;        // the run's own, of a block or moe; NULL: the model's
    int64_t tokens, pieces; // the run's own: each sequence brings `pieces` (0: one) pieces of
                            // `tokens` tokens, which see only their own piece; 0: the job's
                            // sequence
};

struct model {
    struct document document;
    const char *name;
    bool has_shape;
    struct shape shape; // required when a run is an embedding, block or head
    struct layer_run *runs;
    int run_count;
    int layer_count; // sum of counts, at most LAYERS_MAX
};

enum { LAYERS_MAX = 4096 };

static inline int64_t expert_width(const struct shape *s, const struct expert_shape *e)
{
    return e->latent ? e->latent : s->hidden;
}
static inline int64_t shape_value_width(const struct shape *s)
{
    return s->value_width ? s->value_width : s->head_width;
}
static inline int64_t shape_embedding_width(const struct shape *s)
{
    return s->embedding_width ? s->embedding_width : s->hidden;
}
static inline int shape_norms(const struct shape *s) { return s->norms ? s->norms : 2; }
static inline bool run_has_linear(const struct layer_run *r)
{
    return r->linear || r->linear_beside;
}
static inline bool run_is_whole(const struct layer_run *r) // attention, and a feed-forward part
{
    return !r->no_attention && !r->no_feed_forward;
}
static inline bool shape_output_bias(const struct shape *s)
{
    return s->output_bias ? s->output_bias > 0 : s->linear_bias;
}
static inline const struct shape *run_shape(const struct model *m, const struct layer_run *r)
{
    return r->shape ? r->shape : &m->shape;
}
// The layers whose tensor degree may be the stage's own choice.
static inline bool run_has_vocabulary(const struct layer_run *r)
{
    return r->kind == LAYER_EMBEDDING || r->kind == LAYER_HEAD || r->vocabulary;
}
static inline int64_t run_pieces(const struct layer_run *r) { return r->pieces ? r->pieces : 1; }
// The output of a run that is not measured: tokens per sequence, values per token.
int64_t run_tokens_out(const struct layer_run *r, int64_t sequence);
int64_t run_width_out(const struct model *m, const struct layer_run *r);
bool model_has_towers(const struct model *m); // some run has tokens of its own
// Embedding and head share a trained matrix, and the embedding is after a tower.
bool model_ties_behind_tower(const struct model *m);
// The first run of the kind; NULL: there is none.
const struct layer_run *model_first_run(const struct model *m, enum layer_kind kind);
int model_mtp_depth(const struct model *m);       // layers that predict further tokens
bool model_crosses(const struct model *m);        // some run attends to an encoder's output
bool model_shares_weights(const struct model *m); // the layers of some run do
// The first run of the memory layers that share one pool; NULL: none do.
const struct layer_run *model_shared_pool(const struct model *m);
enum pool_span model_pool_span(const struct model *m);
// The attention of some run is not causal, or not over the job's sequence: no slices are possible.
bool model_looks_ahead(const struct model *m);
// more_values of gpt-oss: biases of a mixture's router and experts, and for each head a number that
// attention's softmax adds to its scores (a sink). model_has_sinks: every decoder layer has just
// these values, attention has all its biases, and the experts are gated by SiLU.
int64_t sink_values(const struct shape *s, const struct expert_shape *e);
// The key of experts whose choice is not one, and what was expected; NULL: none.
const char *router_fault(const struct expert_shape *e);
static inline void router_forget(struct expert_shape *e)
{
    e->router_score = ROUTER_SOFTMAX, e->router_all = e->router_bias = false;
    e->router_groups = e->router_top_groups = 0, e->router_scale = 0;
}
// Whether a mixture's experts have biases: its more_values are those of gpt-oss.
bool run_has_expert_biases(const struct shape *s, const struct layer_run *r);
bool model_has_sinks(const struct model *m);
// Layers of one part each, those of state spaces as Megatron Core's mixer has them: its HybridModel
// (--hybrid-layer-pattern).
bool model_is_hybrid(const struct model *m);
// The first feature of a model that a plain transformer block (two norms, attention without windows
// or latents, one residual) does not have, or that grids of tensor ranks do not cover; NULL: there
// is none.
const char *model_peculiarity(const struct model *m, bool of_grids);

extern const struct members model_members; // its keys (data/text/members.h)
enum status model_load(struct model *m, const char *path, struct arena *arena, struct error *err);
enum status model_check(
    const struct model *m,
    struct error *err); // what load checks besides types; for models built in memory
enum status model_save(const struct model *m, const char *path, struct arena *arena,
                       struct error *err);
int model_run_of(const struct model *m,
                 int layer); // index of the run that holds layer 0..layer_count-1
static inline bool run_is_trained(const struct layer_run *r)
{
    return !r->frozen || r->adapter_rank > 0;
}
// Whether this product of the block has an adapter.
bool run_adapts(const struct layer_run *run, const struct shape *s, enum adapter_module module);
// Whether some are named, all of them attention's, which is all that a moe's adapters are priced
// on.
bool adapters_spare_ffn(const bool *modules);
// Which ones the words of a list name, by the names of peft, Megatron-Bridge and NeMo, in `set`,
// which has none yet; false: no word is known.
bool adapters_by_words(const char *text, const struct shape *s, bool *set);
// The first word that names none, with the nearest that does; NULL: all do.
const char *adapters_unknown_word(const char *text, const char **nearest, struct arena *arena);
bool model_has_gradient(const struct model *m, int run); // this run is trained, or one before it is
