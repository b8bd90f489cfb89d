// What a run does where nobody says: by its program, the version's date and the GPU. Facts are rows
// of one table (defaults.c, each with its source); what they leave open is listed, so that it can
// be priced and told (docs/FORMULAS.md 19).
#pragma once

#include "data/inputs/job.h"
#include "data/text/table.h"

// Training programs by name. Several have the prices of one trainer.
enum program {
    PROGRAM_UNKNOWN,
    PROGRAM_MEGATRON,
    PROGRAM_NEMO,
    PROGRAM_BRIDGE,
    PROGRAM_MLPERF, // NVIDIA's submissions: NeMo with everything on
    PROGRAM_MEGATRON_DEEPSPEED,
    PROGRAM_DEEPSPEED,
    PROGRAM_TORCHTITAN,
    PROGRAM_AUTOMODEL, // NVIDIA's, of PyTorch's FSDP2
    PROGRAM_FOUNDRY,
    PROGRAM_NANOTRON,
    PROGRAM_TRANSFORMERS,
    PROGRAM_INTERNEVO,
    PROGRAM_OTHER, // someone's own
    PROGRAM_COUNT
};
extern const char *const program_names[]; // [PROGRAM_COUNT], NULL

// Traits that tables and logs leave out, in an order in which each depends on earlier ones only.
// TRAIT(constant after TRAIT_, its column in tables of runs)
#define TRAITS(TRAIT)                                                                              \
    TRAIT(GATED, "gated")                                                                          \
    TRAIT(RMS_NORM, "rms_norm")                                                                    \
    TRAIT(TIED, "tied")                                                                            \
    TRAIT(DROPOUT, "dropout")                                                                      \
    TRAIT(BIAS, "bias")                                                                            \
    TRAIT(LEARNED_POSITIONS, "positions")                                                          \
    TRAIT(PRECISION, "precision") /* enum precision */                                             \
    TRAIT(ATTENTION, "flash")     /* enum attention_stated */                                      \
    TRAIT(SEQUENCE_PARALLEL, "sp")                                                                 \
    TRAIT(ZERO, "zero")                                                                            \
    TRAIT(FIXED_CAPACITY, "fixed_capacity")                                                        \
    TRAIT(EXPERT_PRODUCTS, "expert_products") /* enum expert_products */                           \
    TRAIT(GRAPHS, "graphs")                   /* enum graphs */                                    \
    TRAIT(RECOMPUTE, "recompute")             /* enum recompute */                                 \
    TRAIT(GRADIENT_BYTES, "gradient_bytes")                                                        \
    TRAIT(OVERLAP, "overlap")                                                                      \
    TRAIT(OVERLAP_MESSAGES, "overlap_messages")                                                    \
    TRAIT(OVERLAP_TENSOR, "overlap_tensor")                                                        \
    TRAIT(OVERLAP_INPUT_GRADIENTS, "overlap_input_gradients")                                      \
    TRAIT(COMPILED, "compiled")                                                                    \
    TRAIT(WHOLE_SUMS, "whole_gradient_sums")                                                       \
    TRAIT(OWNER_BROADCASTS, "owner_broadcasts")                                                    \
    TRAIT(UNFUSED, "unfused")       /* bits of enum unfused */                                     \
    TRAIT(DISPATCHER, "dispatcher") /* enum dispatcher */                                          \
    TRAIT(OVERLAP_DISPATCH, "overlap_dispatch")                                                    \
    TRAIT(FUSED_LOSS, "fused_loss")                                                                \
    TRAIT(KEPT_LOGITS, "kept_logits")                                                              \
    TRAIT(LOSS_IN_PLACE, "loss_in_place")                                                          \
    TRAIT(STOPPED_RECOMPUTE, "stopped_recompute")                                                  \
    TRAIT(CONTEXT_KIND, "context_kind") /* enum context_kind */
#define TRAIT_CONSTANT(constant, column) TRAIT_##constant,
enum trait { TRAITS(TRAIT_CONSTANT) TRAIT_COUNT };
#undef TRAIT_CONSTANT
extern const char *const trait_columns[]; // [TRAIT_COUNT]
// The cell that states the value ("te", "bf16", "1").
const char *trait_value_text(enum trait trait, int value);

enum attention_stated {
    UNFUSED_ATTENTION,
    FUSED_FASTEST,
    FUSED_OPEN,
    FUSED_TRITON,
    FUSED_EARLIER // as FUSED_FASTEST, before 2025
};
enum { NOT_STATED = -1 };

// Who ran it, with what and when: known before anything of the layout is.
struct run_origin {
    enum program program;
    const char *gpu; // the beginning of its name, of those that facts name; else ""
    int date;        // YYYYMM
    int point;       // of a version, 1 of 26.02.01
    bool fuses;      // the GPU has kernels of fused attention
    bool wide;       // its links join more GPUs than a node's eight
    bool blackwell;  // its kernels are of that generation
    bool tensor_cores_fp8;
    bool seen;      // runs of several programs on it are published (program_shown)
    bool deepspeed; // DeepSpeed's engine trains, whoever calls it
};
// Cells may be empty. `framework`: the program's name, perhaps with its version ("NeMo 25.04");
// another name than those known is someone's own. `version`: with a date (2025-04, 25.04, 2025) in
// it. trainer: whose prices are stated, or NOT_STATED.
struct run_origin run_origin_of(struct cell framework, struct cell version, struct cell source,
                                struct cell gpu, int trainer);
enum trainer program_trainer(enum program program); // whose prices it has
bool gpu_has_years(struct cell gpu);                // whether facts name it

struct run_facts {
    struct run_origin origin;
    bool mixture, spread;       // it has experts; over several ranks
    bool latent;                // its attention is
    struct cell model;          // its name, perhaps empty
    int64_t hidden, ffn, vocab; // NOT_STATED: not stated, like all that follow
    int64_t tensor, context, pipeline, chunks;
    int64_t replicas;        // data x context ranks
    int values[TRAIT_COUNT]; // as stated
};

// Sets of Megatron's modules that recipes recompute, as recompute_repeats numbers them.
enum {
    REPEAT_NORMS_ACT = RECOMPUTE_SETS + 1 + 4, // layernorm, moe_act
    REPEAT_MLA = RECOMPUTE_SETS + 11,          // mla_up_proj
    REPEAT_MLA_MLP_MOE = REPEAT_MLA + 1 + 8,   // mlp, moe, mla_up_proj
};
// What the program's recipe of that model, GPU and release sets, where it is known; `eight`: it
// computes in 8 bits or fewer.
bool recipe_says(const struct run_facts *f, enum trait trait, bool eight, int *value);
// Words of models' names are joined in many ways: "GPT OSS 120B", "gpt_oss".
bool names_model(struct cell name, const char *word);

// Traits [0 to TRAIT_LEARNED_POSITIONS] of models of that family, and how it is known.
const int *family_traits(const struct run_facts *f, const char **why);

// Whether the program has that value at all, whatever its user sets.
bool program_may(enum program program, enum trait trait, int value);

// The logarithm of the factor to either side of a cold prediction within which three to four in
// five published runs by this program are, each set of runs by what the others show
// (docs/VALIDATION.md 6); within a node, of all programs'. 0: too few sets, or none on this GPU.
double program_shown(const struct run_facts *f);
// The part of the interval of a layer's launches that another host leaves open, where the program's
// operations are known and were measured on one; 0: not known.
double program_host(const struct run_origin *o);

struct run_default {
    int value;
    bool assumed;    // it was not stated
    unsigned open;   // bits of the other values that it may have
    bool by_memory;  // the first of value and open (in their order) with which the run fits
    const char *why; // the fact, for people
};
// Of what is stated by name, what each trait is.
void run_defaults(struct run_default traits[TRAIT_COUNT], const struct run_facts *facts);
