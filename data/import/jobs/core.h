// Runs of Megatron-LM, and of frameworks built on Megatron Core, as a model and a job.
#pragma once

#include "data/frameworks/run.h"

// BAD_INPUT, in the words of Megatron's flags: sizes are missing, or one flag contradicts another.
enum status core_check(const struct run *r, struct error *err);
// BAD_INPUT: all that must be given, in one line; the number of GPUs alone is asked for by
// core_ranks. `made`: the model, from the run's sizes.
enum status core_ask(const struct run *r, bool made, struct error *err);
enum status core_model(struct model *m, const struct run *r, struct arena *arena,
                       struct error *err);
// The data ranks, and whether experts fit them; the micro-batches of a replica.
enum status core_ranks(struct run *r, struct error *err);
enum status core_batch(struct run *r, int *micro_batches, struct error *err);
enum status core_job(struct run *r, struct error *err); // r->job
// A run's experts, with the products to a latent and back.
void core_set_experts(struct layer_run *run, const struct expert_shape *e, const struct shape *s);
// Allows the job the mode of recomputation that these name; granularity NULL: none.
enum status core_recompute(struct run *r, const char *granularity, const char *method,
                           const char *modules, struct error *err);

struct settings;
struct setting_rows;
// The largest micro-batch up to the stated one that divides a replica's sequences.
void core_fit_micro_batch(struct run *r, struct settings *s);
// All modules of the list that a file states in one of the rows' sections.
void core_module_list(struct run *r, const struct settings *s, const struct setting_rows *rows);
// Leaves out modules of selective recomputation that a job has no name for: what they keep is kept.
void core_modules(struct run *r, struct settings *s);

// The model whose name on the hub is s->model, as r->known, where it is shipped and the settings do
// not change it.
void core_find_known(struct run *r, struct settings *s);
// The same, of a model without sizes that flags state by its checkpoint's name alone.
void core_find_model(struct run *r, struct settings *s);
// The vocabulary that the tokenizer's name means, where a model is made and none is stated.
void core_vocabulary(struct run *r, struct settings *s);

// neox.c: GPT-NeoX's settings (s->neox), InternEvo's (by the program's name); nothing of others.
enum status core_neox(struct run *r, struct settings *s, struct error *err);
void core_internevo(struct run *r, const struct settings *s);

// Says what an optimizer other than Adam keeps of each value.
void core_say_optimizer(const struct run *r, struct settings *s);

// ZeRO's stage where Megatron's or PyTorch's FSDP shards the states.
enum status core_sharding(struct run *r, struct settings *s, struct error *err);

// The layout's data_shard, where groups of its data ranks are stated; its degrees are known.
enum status core_set_groups(struct run *r, struct error *err);

// The stage that DeepSpeed's own file states, beside the one that is read or in a folder above it;
// -1: there is none. Sets whether the optimizer's states are on the host, and MiCS's shards.
int core_stage(struct run *r, struct settings *s, const char *name);

// patterns.c: which decoder layers a flag means; a number n: each n-th from the first on, or all
// but each n-th.
enum core_every { CORE_EVERY_NTH, CORE_ALL_BUT_NTH };
enum status core_pattern(bool *to, const struct run *r, const char *flag, const char *text,
                         enum core_every every, struct error *err);

// What each decoder layer has.
struct core_kinds {
    bool *mixture, *window, *linear;
    bool *no_attention, *no_feed_forward; // one part alone
};
// Those letters by the shares of attention and of feed-forward parts, of which an older Megatron-LM
// makes them.
enum status core_allocate(struct run *r, struct arena *arena, struct error *err);
// The kinds that --hybrid-layer-pattern's letters state; k NULL: only their number, as r->layers.
enum status core_hybrid(struct core_kinds *k, struct run *r, struct error *err);
