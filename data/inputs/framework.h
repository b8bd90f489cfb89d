// Which of a space's layouts training frameworks can run, according to their documentation
// (docs/FORMATS.md, job). The checker of proofs has its own table
// (solve/checker/space/frameworks.c).
#pragma once

#include "data/inputs/costs.h"
#include "data/inputs/model/model.h"

enum { AXONN_ORDER = 2 }; // of a grid's axes over the ranks: "2-1-3"

// What besides the layout decides it.
struct framework_of {
    int layers;            // of the model
    int64_t micro_batches; // of a replica
    enum precision precision;
    bool sinks;            // model_has_sinks
    bool windows, experts; // some layer has a window; some layer is a mixture
    bool hybrid;           // model_is_hybrid
    bool latent;           // attention with latents
    int64_t sequence;
    int64_t key_heads; // that divide every layer's KV heads; 0: there are none
    int mtp_depth;     // further tokens that it predicts
    bool tied;         // head and embedding share one matrix
    enum context_kind context_kind;
    bool uneven_stages; // of a space
};
// Whether a space has several stages per rank only where their number divides the layers, with or
// without the first and the last one (embedding, loss), unless it has uneven_stages; whether it has
// this layout only then.
bool framework_evens_stages(enum framework framework);
bool framework_is_uneven(enum framework framework, const struct layout *l, int layers);
// The key of the layout that the framework cannot run as it is; NULL: it runs the layout.
const char *framework_refusal(enum framework framework, const struct layout *l,
                              const struct framework_of *of);
// Whether it is the key that the framework cannot run, whatever the keys after it in a space are.
bool framework_excludes(enum framework framework, const struct layout *l, enum space_key key,
                        const struct framework_of *of);
// Whether tokens are dispatched again; a framework then overlaps no dispatch.
bool framework_repeats_dispatch(enum recompute mode);
// Whether it has one setting of recomputation for the layout's several stages.
bool framework_recomputes_alike(enum framework framework, const struct layout *l);
bool framework_recomputes(enum framework framework, enum recompute mode);
enum trainer framework_trainer(enum framework framework); // by whose prices it is planned
bool framework_runs_grids(enum framework framework);
// Whether the grid's axes stand over the ranks as in AxoNN's order.
bool layout_stands_as_in_axonn(const struct layout *l);

// DeepSpeed 0.19 sums gradients that are wider than the weights only from ZeRO 1 on
// (runtime/engine.py, _do_optimizer_sanity_check: "unsupported mix").
static inline bool job_sums_wide_in_shards(const struct job *j)
{
    return j->space.given && j->space.framework == FRAMEWORK_DEEPSPEED && j->precision != FP32 &&
           j->gradient_bytes_per_value == 4;
}
// Then a space of all ZeRO stages becomes one of 1 to 3.
void job_keep_shards(struct job *j, struct arena *arena);

// ---- GPUs

// The first GPU of the cluster that has the precision (else it holds no stage) and for which the
// framework has no fused attention of this model in it, and what it would need; both NULL: none.
struct unfused_gpu {
    const char *gpu, *needs;
};
struct unfused_gpu framework_unfused_gpu(enum framework framework, enum precision precision,
                                         const struct model *model, const struct cluster *cluster,
                                         const struct costs *costs);
// From which on products of this precision are a GPU's own; 0: not judged.
int precision_capability(enum precision precision);
enum status framework_check_gpus(const struct job *j, const struct model *model,
                                 const struct cluster *cluster, const struct costs *costs,
                                 struct error *err);

// A job whose space names a framework must not offer anything that the framework cannot do in any
// layout.
enum status framework_check(const struct job *j, struct error *err);

// ---- which switches of the trainer a layout of a space has: those that the space lists and that
// its framework has in this layout, unless they can cost something there. They are known before the
// layout is priced. Judge and checker have their own tables (solve/judge/switches.c,
// solve/checker/space/frameworks.c).

bool *job_switch(struct job *j, enum trainer_switch s); // the job's key
// Whether the job's layout has it if the space lists it.
bool switches_has(const struct job *j, enum trainer_switch s);
// Sets the job's keys to what its layout has: what is stated, and what the space lists.
void switches_set(struct job *j);
// All of them, for a space whose framework decides.
void switches_list(struct space *space);
