// A training log, or a post with parts of one: what the run was told and what was measured, each
// with the line that says so. Nothing is assumed here: what the text does not state is missing.
#pragma once

#include "data/inputs/job.h"

// The program whose log it is, by what its lines look like.
enum log_format {
    LOG_UNKNOWN,
    LOG_TRANSFORMERS,
    LOG_LLAMA_FACTORY,
    LOG_DEEPSPEED,
    LOG_TORCHTITAN,
    LOG_MEGATRON,
    LOG_MEGATRON_DEEPSPEED,
    LOG_NEMO,
    LOG_BRIDGE,
    LOG_MLPERF,
    LOG_FORMAT_COUNT
};
extern const char *const log_format_names[]; // [LOG_FORMAT_COUNT]

// What a run can be told: first the columns of runs (docs/FORMATS.md), with their names and values.
#define TOLD_AS_COLUMNS(TOLD)                                                                      \
    TOLD(NUM_GPUS, "num_gpus")                                                                     \
    TOLD(GPUS_PER_NODE, "gpus_per_node")                                                           \
    TOLD(LAYERS, "layers")                                                                         \
    TOLD(HIDDEN, "hidden")                                                                         \
    TOLD(FFN, "ffn")                                                                               \
    TOLD(HEADS, "heads")                                                                           \
    TOLD(KV_HEADS, "kv_heads")                                                                     \
    TOLD(HEAD_WIDTH, "head_width")                                                                 \
    TOLD(VOCAB, "vocab")                                                                           \
    TOLD(POSITIONS, "positions")                                                                   \
    TOLD(SEQ, "seq")                                                                               \
    TOLD(EXPERTS, "experts")                                                                       \
    TOLD(TOP_K, "top_k")                                                                           \
    TOLD(EXPERT_FFN, "expert_ffn")                                                                 \
    TOLD(SHARED_FFN, "shared_ffn")                                                                 \
    TOLD(QUERY_RANK, "query_rank")                                                                 \
    TOLD(KV_RANK, "kv_rank")                                                                       \
    TOLD(ROTARY_WIDTH, "rotary_width")                                                             \
    TOLD(VALUE_WIDTH, "value_width")                                                               \
    TOLD(TP, "tp")                                                                                 \
    TOLD(PP, "pp")                                                                                 \
    TOLD(CP, "cp")                                                                                 \
    TOLD(DP, "dp")                                                                                 \
    TOLD(EP, "ep")                                                                                 \
    TOLD(ETP, "etp")                                                                               \
    TOLD(VPP, "vpp")                                                                               \
    TOLD(MICRO_BATCH, "micro_batch")                                                               \
    TOLD(GLOBAL_BATCH, "global_batch")                                                             \
    TOLD(SP, "sp")                                                                                 \
    TOLD(ZERO, "zero")                                                                             \
    TOLD(GATED, "gated")                                                                           \
    TOLD(RMS_NORM, "rms_norm")                                                                     \
    TOLD(TIED, "tied")                                                                             \
    TOLD(DROPOUT, "dropout")                                                                       \
    TOLD(BIAS, "bias")                                                                             \
    TOLD(GRADIENT_BYTES, "gradient_bytes")                                                         \
    TOLD(ADAM, "adam")                                                                             \
    TOLD(STATE_BYTES, "state_bytes")                                                               \
    TOLD(OVERLAP, "overlap")                                                                       \
    TOLD(OVERLAP_MESSAGES, "overlap_messages")                                                     \
    TOLD(OVERLAP_TENSOR, "overlap_tensor")                                                         \
    TOLD(FUSED_LOSS, "fused_loss")                                                                 \
    TOLD(COMPILED, "compiled")                                                                     \
    TOLD(FLASH, "flash")                                                                           \
    TOLD(RECOMPUTE, "recompute")                                                                   \
    TOLD(PRECISION, "precision")                                                                   \
    TOLD(SPLIT, "split")                                                                           \
    TOLD(DISPATCHER, "dispatcher")                                                                 \
    TOLD(OVERLAP_DISPATCH, "overlap_dispatch")                                                     \
    TOLD(FIXED_CAPACITY, "fixed_capacity")                                                         \
    TOLD(GRAPHS, "graphs")                                                                         \
    TOLD(FP8_ACTIVATION, "fp8_activation_input")                                                   \
    TOLD(MODEL, "model") /* a shipped one */                                                       \
    TOLD(GPU, "gpu")
// In other words than a column's, or none of a row.
#define TOLD_OTHERWISE(TOLD)                                                                       \
    TOLD(NODES, "nodes")                                                                           \
    TOLD(ACCUMULATION, "accumulation")       /* micro-batches of a replica */                      \
    TOLD(LAYERS_OF_STAGE, "layers_of_stage") /* with several stages on a rank */                   \
    TOLD(FIRST_LAYERS, "first_layers")       /* of the first stage, and the last one */            \
    TOLD(LAST_LAYERS, "last_layers")                                                               \
    TOLD(EMBEDDING_COUNTS, "embedding_counts") /* as a layer of its stage; likewise the head */    \
    TOLD(HEAD_COUNTS, "head_counts")                                                               \
    TOLD(STAGES, "stages")              /* which layers each has */                                \
    TOLD(PIECE, "pipeline_micro_batch") /* of a replica's batch, torchtitan's */                   \
    TOLD(FP8, "fp8")                                                                               \
    TOLD(FP8_SWITCH, "fp8_switch") /* whether its format counts */                                 \
    TOLD(FP8_RECIPE, "fp8_recipe")                                                                 \
    TOLD(FP4, "fp4")                                                                               \
    TOLD(GRANULARITY, "granularity") /* of recomputation */                                        \
    TOLD(METHOD, "method")                                                                         \
    TOLD(RECOMPUTED, "recomputed_layers")                                                          \
    TOLD(MODULES, "modules")                                                                       \
    TOLD(IMPLEMENTATION, "implementation") /* of the layers */                                     \
    TOLD(FLASH_SWITCH, "flash_switch")                                                             \
    TOLD(BACKEND, "attention_backend") /* of attention */                                          \
    TOLD(GROUPED, "grouped_queries")                                                               \
    TOLD(OFFLOAD, "offload")                                                                       \
    TOLD(OFFLOAD_WEIGHTS, "offload_param")                                                         \
    TOLD(PRECISION_AWARE, "precision_aware") /* optimizer; types of weights, moments, gradients */ \
    TOLD(MAIN_TYPE, "main_params_dtype")                                                           \
    TOLD(MEAN_TYPE, "exp_avg_dtype")                                                               \
    TOLD(SQUARE_TYPE, "exp_avg_sq_dtype")                                                          \
    TOLD(GRADIENT_TYPE, "main_grads_dtype")                                                        \
    TOLD(OFFLOAD_SHARE, "offload_share") /* of the optimizer's state, where it is on the host */   \
    TOLD(PADDED, "padded_vocab")         /* vocabulary */                                          \
    TOLD(ADAPTERS, "adapters")           /* low-rank: their rank, or 1 */                          \
    TOLD(ADAPTED, "adapter_modules")     /* names of the products that have one */                 \
    TOLD(ADAPTER_DROPOUT, "adapter_dropout")                                                       \
    TOLD(WEIGHT_BITS, "weight_bits")     /* of what is frozen beside them */                       \
    TOLD(NARROW_SCALES, "narrow_scales") /* whether their scales are quantised, too */             \
    TOLD(LATENT, "latent")               /* attention */                                           \
    TOLD(DEEPSPEED, "deepspeed")                                                                   \
    TOLD(PACKED, "packed") /* several documents in a sequence */                                   \
    TOLD(TOKENIZER, "tokenizer")                                                                   \
    TOLD(POSITION_TYPE, "position_type")                                                           \
    TOLD(MOST_POSITIONS, "most_positions")                                                         \
    TOLD(SOURCE, "max_source_length") /* tokens of a prompt, of an answer: a sequence is both */   \
    TOLD(TARGET, "max_target_length")                                                              \
    TOLD(ENGINE_SHARE, "engine_share") /* of the card, for the engine that writes answers */       \
    TOLD(ENGINE_RANKS, "engine_ranks") /* its tensor ranks */                                      \
    TOLD(ROLLOUT, "rollout_batch")     /* sequences of a forward pass between updates */           \
    TOLD(EVAL_BATCH, "eval_batch")     /* sequences of an evaluation's forward pass */             \
    TOLD(ANSWERS, "answers")           /* to each prompt */                                        \
    TOLD(GROUP, "group")               /* sequences of each sample */                              \
    TOLD(COMPRESSION, "compression")   /* of gradients, or of what ZeRO gathers */                 \
    TOLD(VERSION, "version")
#define TOLD_ENUM(told, name) TOLD_##told,
#define TOLD_NAME(told, name) name,
enum told {
    TOLD_AS_COLUMNS(TOLD_ENUM) TOLD_COLUMNS,
    TOLD_BEFORE_OTHERS = TOLD_COLUMNS - 1,
    TOLD_OTHERWISE(TOLD_ENUM) TOLD_COUNT
};
extern const char *const told_names[]; // [TOLD_COUNT]

#define OF_ABSENCE "no such argument" // among all that the program printed

// How a value is known: in words or a name of the run; in a configuration that another one
// replaces; in a configuration or a launch line; in what the program printed about itself; from
// other values that are stated.
enum told_by { BY_NONE, BY_WORDS, BY_COMMON, BY_SETTING, BY_PROGRAM, BY_OTHERS };
enum { TOLD_TEXT = 256, TOLD_KEY = 48 };
struct told_value {
    enum told_by by;
    char text[TOLD_TEXT]; // as a column has it
    char key[TOLD_KEY];   // the log's own name of it; of BY_OTHERS: what it follows from
    int line;
};

// A measured quantity, one value for each line that has it: all of them, or every so many-th.
enum { SERIES_MOST = 4096 };
struct log_point {
    int64_t step;
    double value;
};
struct log_series {
    struct log_point points[SERIES_MOST];
    int count, stride, waits;
    int64_t seen;
};
enum measured {
    MEASURED_ITERATION_S,
    MEASURED_TFLOPS,  // of a GPU
    MEASURED_TOKENS,  // of a GPU, a second
    MEASURED_SAMPLES, // of all, a second
    MEASURED_TIMER,   // the same, without what is outside DeepSpeed's timer
    MEASURED_MFU,     // percent
    MEASURED_CLOCK_S, // between lines, by the clock: with whatever is between iterations
    MEASURED_COUNT
};

// What is left of a series: the median behind the first lines, which are slower.
struct log_rate {
    double value, least, most; // value 0: there is none
    double first;              // of the first line
    int count, dropped;        // lines that it is of, and that were left out before them
    bool only_first;           // there is nothing behind the first lines
    bool moves;                // it is not the same quantity from beginning to end
    double early, late;        // then: its medians in the first and the last third
};
struct log_rate log_rate_of(const struct log_series *s, bool falls, struct arena *arena);

// Of the rank with most; 0: not stated.
struct log_memory {
    int64_t allocated_bytes; // by PyTorch's allocator, at most
    int64_t reserved_bytes;  // by PyTorch's allocator, at most
    int64_t device_bytes;    // that the device shows as used
    int64_t card_bytes;      // of the device
    int rank;                // -1: not stated
};

// What the program did when it failed; the later, the further out in a traceback.
enum failure_phase {
    PHASE_UNKNOWN,
    PHASE_FORWARD,
    PHASE_LOSS,
    PHASE_GATHER,
    PHASE_SYNC,
    PHASE_BACKWARD,
    PHASE_STEP,
    PHASE_STATES,
    PHASE_PLACING,
    PHASE_WRAPPING,
    PHASE_ANSWERS, // sequences that the model writes
    PHASE_EVALUATION,
    PHASE_SAVING,
    PHASE_LOADING,
    PHASE_RESUMING,
    PHASE_ENGINE,
    PHASE_COUNT
};
extern const char *const failure_phase_names[]; // [PHASE_COUNT]: with their preposition

struct log_failure {
    bool out_of_memory;
    bool raised; // by an exception's own line
    // 0: not stated
    int64_t tried_bytes, allocated_bytes, reserved_bytes, card_bytes, free_bytes, process_bytes;
    int64_t other_bytes; // that other processes hold
    bool listed;         // all processes of the card are
    bool killed;         // a process, by the host's system, as where its memory is full
    bool host_full;      // by an allocation there
    bool host_in_title;  // the title says that it lacked
    bool grows;          // memory came to lack after steps that ran, in words
    int64_t host_bytes;  // memory of a host, in words; 0: not stated
    enum failure_phase phase;
};

// A program that is run as it is, and what it does unless told. 0, NULL: it leaves it open.
struct log_script {
    const char *word, *name;
    int micro_batch, seq;
    int rank, bits;      // of adapters, and of the weights below them
    const char *adapted; // products that have one
    const char *precision;
    int zero;
    bool narrow; // weights, gradients and moments of 2 bytes, and none wider
};

// Runs that rows of the text's tables give rates of.
enum { RUNS_NAMED = 12 };
struct log_runs {
    int count, line; // line: of the first
    bool chosen;     // the one that was asked for is among them
    bool several;    // and another one has the same name
    char names[RUNS_NAMED * (TOLD_KEY + 8)];
};

// Runs that stand one after the other in a text: the first begins at its line, too, and what is
// before that is of all.
enum { PARTS_MOST = 24 };
struct log_part {
    int line; // where the one before ends, or what is of all
    int from;
    bool heading;
    char name[TOLD_KEY]; // a heading's words, or its line
};
struct log_parts {
    struct log_part at[PARTS_MOST];
    int count; // of the second and later ones, while they are read; then of all, 0: one run
    int chosen;
    bool differ; // in what they were told, or in steps that begin again
    bool items;  // of a card: those between them that measured nothing are of none
};

// A flag that no program is known to have, but for one mistyped letter.
struct unknown_flag {
    char flag[TOLD_KEY];
    const char *nearest; // that is known
    int line;
};
enum { UNKNOWN_MOST = 4 };

struct log {
    const char *path;
    const char *run; // that was asked for, of several; NULL: none
    struct log_runs runs;
    struct log_parts parts;
    enum log_format format;
    int seen[LOG_FORMAT_COUNT]; // lines that only it has
    struct told_value told[TOLD_COUNT];
    struct unknown_flag unknown[UNKNOWN_MOST];
    int unknown_count;
    char other_gpu[TOLD_KEY]; // that is named too; "": none
    struct log_series series[MEASURED_COUNT];
    struct log_memory memory;
    struct log_failure failure;
    int64_t retries;      // of the allocator, as reported last
    double size_in_words; // parameters of a model that is not named: "20B"; 0: none
    const char *family;   // the smallest model of one that is named without a size; NULL: none
    int64_t parameters;   // of the whole model, or of one rank
    int64_t rank_parameters;
    double peak_flop;               // by which the program computes utilisation; 0: not stated
    int64_t batch;                  // of the last iteration line; the series are of it alone
    int64_t replica_batch;          // after which torchtitan's pipeline is empty; 0: not stated
    double block_s, block_samples;  // MLPerf: training without evaluation
    double average_s;               // of the last steps, stated as such
    double total_flop, runtime_s;   // of the whole run, as transformers counts them; 0: not stated
    bool has_tower;                 // its model is of images or sound, too
    bool has_pairs;                 // DPO: each sample is two, and a reference model is there
    bool has_engine, engine_sleeps; // on the same GPUs; sleeps: while the model is trained
    bool has_critic;                // PPO: trained, too; with a reference and a reward model
    bool has_init;                  // ZeRO 3 shares weights as they are made: it is stated
    bool trains_all;                // all parameters, in words
    bool shows_reading;             // of weights, by transformers, in code
    bool typed_weights;             // they are read in a type that is stated, narrow
    bool in_code;  // a trainer's arguments are quoted as code, from bracket to bracket
    bool cut_code; // some of them are left out
    const struct log_script *script; // whose own values hold unless told; NULL: not known
    const char *optimizer;           // as it is named; NULL: not stated
    bool recomputes, says_recompute; // its program does unless told; never does unless told
    bool dumped;                     // the program printed its arguments, of which none are cut
    bool dumped_whole;               // as many as every version has
    const char *arguments;           // these, "name ... value", one a line
    bool mentions_failure;           // of memory, in words
    int64_t lines;
    struct arena *arena;
    struct log_reader *reader; // while it is read
};

// run: the one of the text's tables that is meant, by its first cell or its number; NULL: none.
// BAD_INPUT: it cannot be read, is not text, or says nothing about a training run, or of several;
// there is no such run.
enum status log_read(struct log *log, const char *path, const char *run, struct arena *arena,
                     struct error *err);

// What a model has that the log did not state: what else follows then.
void log_take_layers(struct log *log, int64_t layers);

static inline bool told(const struct log *l, enum told what) { return l->told[what].by != BY_NONE; }
// Whether a value is shown as stated: those of columns, adapters, bits, what is on the host.
bool told_is_shown(const struct log *l, enum told what);
// 0: not stated.
int64_t told_count(const struct log *l, enum told what);
