// A plan as a TOML file of torchtitan 0.2.2, or as a Python function for torchtitan 0.3, with
// their names of sections, keys and modules (torchtitan/config/job_config.py, config/configs.py,
// distributed/pipeline_parallel.py of these releases).
#include <inttypes.h>
#include <string.h>

#include "data/kinds/schedules.h"
#include "solve/report/export/internal.h"

// The class of torch.distributed.pipelining, by kind. Where it has none for the order, this class
// places the stages (in a loop or a V), and the order comes from a table. LoopedBFS runs backwards
// from the last micro-batch to the first; our order starts with the first.
static const struct {
    const char *name;
    bool from_table;
} schedules[SCHEDULE_KIND_COUNT] = {[SCHEDULE_GPIPE] = {"GPipe", false},
                                    [SCHEDULE_1F1B] = {"1F1B", false},
                                    [SCHEDULE_INTERLEAVED] = {"Interleaved1F1B", false},
                                    [SCHEDULE_LOOPED_BFS] = {"LoopedBFS", true},
                                    [SCHEDULE_ZB_V] = {"ZBVZeroBubble", false},
                                    [SCHEDULE_ZB_H1] = {"1F1B", true},
                                    [SCHEDULE_ZB_H2] = {"1F1B", true},
                                    [SCHEDULE_V_HALF] = {"ZBVZeroBubble", true},
                                    [SCHEDULE_V_MIN] = {"ZBVZeroBubble", true},
                                    [SCHEDULE_TOKEN_SLICED] = {"GPipe", false}};

// How a key is written: as a line of TOML, an argument of a call, or an assignment.
struct writer {
    struct export *e;
    bool python;
    const char *before, *between, *behind;
};
static const struct writer toml = {.between = " = ", .before = "", .behind = "\n"},
                           argument = {.python = true,
                                       .before = "        ",
                                       .between = "=",
                                       .behind = ",\n"},
                           assignment = {.python = true,
                                         .before = "    config.training.",
                                         .between = " = ",
                                         .behind = "\n"};

static struct writer writer_of(const struct writer *form, struct export *e)
{
    struct writer w = *form;
    w.e = e;
    return w;
}

static void put_word(const struct writer *w, const char *key, const char *word)
{
    report_print(w->e->out, "%s%s%s%s%s", w->before, key, w->between, word, w->behind);
}
static void put_truth(const struct writer *w, const char *key, bool value)
{
    put_word(w, key, w->python ? (value ? "True" : "False") : value ? "true" : "false");
}
static void put_text(const struct writer *w, const char *key, const char *text)
{
    put_word(w, key, arena_print(w->e->out->arena, "\"%s\"", text));
}
static void put_count(const struct writer *w, const char *key, int64_t value)
{
    put_word(w, key, arena_print(w->e->out->arena, "%" PRId64, value));
}

// ---- the model

// Models that torchtitan has; any other must be named by the user. recipe: the function of 0.3
// with its data and learning rate.
static const struct flavor {
    const char *model, *name, *recipe;
    int64_t hidden, ffn, heads, vocabulary, latent, experts;
    int blocks;
} flavors[] = {{"llama3", "8B", "llama3_8b", 4096, 14336, 32, 128256, 0, 0, 32},
               {"llama3", "70B", "llama3_70b", 8192, 28672, 64, 128256, 0, 0, 80},
               {"llama3", "405B", "llama3_405b", 16384, 53248, 128, 128256, 0, 0, 126},
               {"deepseek_v3", "671B", "deepseek_v3_671b", 7168, 18432, 128, 129280, 512, 256, 61}};

static const struct flavor *flavor_of(const struct model *model)
{
    const struct shape *m = &model->shape;
    int64_t experts = 0;
    for (int i = 0; i < model->run_count; i++)
        if (model->runs[i].kind == LAYER_MOE) experts = model->runs[i].experts.experts;
    bool like = model->has_shape && !m->tied_embeddings && m->gated_ffn && m->rms_norm &&
                !m->qkv_bias && !m->linear_bias && !m->qk_norm && !m->positions;
    for (size_t i = 0; like && i < ARRAY_LENGTH(flavors); i++) {
        const struct flavor *f = &flavors[i];
        if (m->hidden == f->hidden && m->ffn == f->ffn && m->heads == f->heads &&
            m->vocabulary == f->vocabulary && m->kv_rank == f->latent && experts == f->experts &&
            (f->latent || m->kv_heads == 8) &&
            model->layer_count == f->blocks + 2 + model_mtp_depth(model))
            return f;
    }
    return NULL;
}

// Position scaling of the flavors: llama3's by 8 from 8192, deepseek_v3's by 40 from 4096.
static bool stretches_as(const struct flavor *flavor, const struct shape *m)
{
    const struct rotary_scaling *x = &m->rotary_scaling;
    bool latent = flavor->latent > 0,
         same = latent ? m->rotary_factor == 40 : m->rotary_factor == 8;
    return same && x->type && !strcmp(x->type, latent ? "yarn" : "llama3") &&
           x->original_positions == (latent ? 4096 : 8192);
}

static void note_model(struct export *e, const struct flavor *flavor)
{
    const struct shape *m = &e->problem->model.shape;
    if (!flavor && e->problem->model.has_shape)
        export_note(e,
                    "the model: torchtitan's are classes and flavors of its own; name and flavor "
                    "must be those of a hidden width of %" PRId64 ", feed-forward %" PRId64
                    ", %" PRId64 " heads (%" PRId64 " of keys), a vocabulary of %" PRId64,
                    m->hidden, m->ffn, m->heads, m->kv_heads, m->vocabulary);
    if (!e->problem->model.has_shape)
        export_note(e, "the model: its layers were measured, not described");
    if (m->tied_embeddings && e->plan->layout.pipeline > 1)
        export_note(e, "embedding and head that share a matrix: torchtitan's stages each have "
                       "their own");
}

static void put_model(struct export *e)
{
    const struct flavor *flavor = flavor_of(&e->problem->model);
    const struct shape *m = &e->problem->model.shape;
    report_print(e->out, "\n[model]\nname = \"%s\"\nflavor = \"%s\"\n",
                 flavor ? flavor->model : "NAME-THE-MODEL",
                 flavor ? flavor->name : "NAME-THE-FLAVOR");
    note_model(e, flavor);
    if (flavor && !stretches_as(flavor, m))
        export_note(e, "rotary positions: the flavor's are scaled by %s",
                    flavor->latent ? "40, from 4096 positions (yarn)"
                                   : "8, from 8192 positions (llama3)");
    if (model_mtp_depth(&e->problem->model))
        export_note(e, "%d multi-token prediction layers: torchtitan has them from 0.3 on",
                    model_mtp_depth(&e->problem->model));
    if (e->problem->job.precision == FP8)
        report_print(e->out, "converters = [\"quantize.linear.float8\"]\n\n"
                             "[quantize.linear.float8]\nfilter_fqns = [\"output\"]\n");
}

// ---- training

static void note_precision(struct export *e, bool sharded)
{
    const struct job *job = &e->problem->job;
    const struct layout *l = &e->plan->layout;
    if (job->precision == FP16)
        export_note(e, "fp16: torchtitan trains in bfloat16 or float32; float32 is set");
    if (job->precision != FP32 && job->precision != FP16 && !sharded &&
        (l->tensor > 1 || l->pipeline > 1))
        export_note(e, "mixed precision: without sharded data or context parallelism torchtitan "
                       "disables it with tensor or pipeline parallelism and trains in float32");
    if (job->gradient_bytes_per_value == 2)
        export_note(e, "gradients of 2 bytes: mixed_precision_reduce is float32 alone");
    if (!job->adam) export_note(e, "an optimizer without state: torchtitan has Adam and AdamW");
    if (l->offload_optimizer)
        export_note(e, "optimizer state in host memory: training.enable_cpu_offload also moves "
                       "weights and gradients, and is not set");
}

static void put_training(const struct writer *w, bool sharded)
{
    const struct job *job = &w->e->problem->job;
    const struct plan *plan = w->e->plan;
    const struct layout *l = &plan->layout;
    bool narrow = job->precision == BF16 || job->precision == FP8;
    put_count(w, "seq_len", job->sequence);
    put_count(w, "local_batch_size",
              l->pipeline > 1 ? (int64_t)plan->micro_batches * l->micro_batch : l->micro_batch);
    put_count(w, "global_batch_size", plan_micro_batches_together(plan) * l->micro_batch);
    put_text(w, "dtype", "float32");
    put_text(w, "mixed_precision_param", narrow ? "bfloat16" : "float32");
    put_text(w, "mixed_precision_reduce", "float32");
    note_precision(w->e, sharded);
}

static const char *components_of(const struct job *job)
{
    return job->compiled && job->fused_loss ? "[\"model\", \"loss\"]"
           : job->compiled                  ? "[\"model\"]"
           : job->fused_loss                ? "[\"loss\"]"
                                            : "[]";
}

static enum recompute recompute_of(struct export *e)
{
    enum recompute mode;
    export_recompute(e, &mode);
    return mode;
}

static void put_recompute(struct export *e)
{
    static const char *const modes[] = {
        [RECOMPUTE_NONE] = "none", [RECOMPUTE_SELECTIVE] = "selective", [RECOMPUTE_FULL] = "full"};
    enum recompute mode = recompute_of(e);
    report_print(e->out, "\n[activation_checkpoint]\nmode = \"%s\"\n", modes[mode]);
    if (mode == RECOMPUTE_SELECTIVE) report_print(e->out, "selective_ac_option = \"op\"\n");
}

// ---- parallelism

// Returns whether states are sharded (FSDP2).
static bool put_replicas(const struct writer *w)
{
    struct export *e = w->e;
    const struct layout *l = &e->plan->layout;
    bool shards = l->zero > 0, others = l->tensor > 1 || l->pipeline > 1 || l->context > 1;
    put_count(w, "data_parallel_replicate_degree", shards ? 1 : l->data);
    put_count(w, "data_parallel_shard_degree", shards ? l->data : 1);
    put_text(w, "fsdp_reshard_after_forward", l->zero == 3 ? "always" : "never");
    if (!shards && l->data > 1 && others)
        export_note(e, "whole states on every replica together with other parallelism: torchtitan "
                       "refuses it (\"DDP has not supported > 1D parallelism\")");
    if (!shards && l->context > 1)
        export_note(e, "states that are whole on each context rank: torchtitan shards them there");
    if (l->zero == 1 && l->data * l->context > 1)
        export_note(e, "ZeRO 1: torchtitan shards gradients too, as ZeRO 2 does");
    if (l->gradient_sync == SYNC_EXPOSED && l->data * l->context > 1)
        export_note(e, "gradient sync after the backward pass: torchtitan's overlaps with it");
    return (shards && l->data > 1) || l->context > 1;
}

static void put_modules(const struct writer *w, const struct plan_stage *stage, int *block)
{
    const struct export *e = w->e;
    const char *before = "", *head = w->python ? "lm_head" : "output";
    report_print(e->out, "%s    [", w->python ? w->before : "");
    for (int i = 0; i < stage->layer_count; i++) {
        char layer = export_layer(e, stage->first_layer + i);
        if (layer == 'E') report_print(e->out, "%s\"tok_embeddings\"", before);
        if (layer == 't') report_print(e->out, "%s\"layers.%d\"", before, (*block)++);
        if (layer == 'L') report_print(e->out, "%s\"norm\", \"%s\"", before, head);
        if (layer != '?' && layer != 'm') before = ", ";
    }
    report_print(e->out, "],\n");
}

static void put_pipeline(const struct writer *w)
{
    struct export *e = w->e;
    const struct plan *plan = e->plan;
    const struct layout *l = &plan->layout;
    int block = 0;
    put_count(w, "pipeline_parallel_degree", l->pipeline);
    if (l->pipeline == 1 && l->virtual_stages > 1)
        export_note(
            e, "several stages on a single rank: torchtitan has them only with two or more ranks");
    if (l->pipeline == 1) return;
    put_text(w, "pipeline_parallel_schedule", schedules[l->schedule].name);
    if (schedules[l->schedule].from_table) {
        report_print(e->out,
                     "%s# The order of %s: plumbline report --format pytorch-schedule -o "
                     "schedule.csv PLAN, next to this file; run in its folder.\n",
                     w->python ? w->before : "", schedule_names[l->schedule]);
        put_text(w, "pipeline_parallel_schedule_csv", "schedule.csv");
    }
    put_count(w, "pipeline_parallel_microbatch_size", l->micro_batch);
    report_print(e->out, "%smodule_fqns_per_model_part%s[\n", w->before, w->between);
    for (int s = 0; s < plan->stage_count; s++) put_modules(w, &plan->stages[s], &block);
    report_print(e->out, "%s]%s", w->python ? w->before : "", w->behind);
    if (l->slice_count > 1)
        export_note(e, "the %s schedule: %s is set", schedule_names[l->schedule],
                    schedules[l->schedule].name);
}

static void put_parallelism(const struct writer *w)
{
    struct export *e = w->e;
    const struct layout *l = &e->plan->layout;
    put_count(w, "tensor_parallel_degree", l->tensor);
    put_count(w, "context_parallel_degree", l->context);
    if (w->python) put_truth(w, "enable_sequence_parallel", l->sequence_parallel);
    else put_truth(w, "disable_loss_parallel", e->problem->job.gathered_logits);
    put_pipeline(w);
    if (w->python && e->problem->job.gathered_logits && l->tensor > 1)
        export_note(e, "logits of the whole vocabulary on each tensor rank: torchtitan keeps its "
                       "parts");
    if (!w->python && l->tensor > 1 && !l->sequence_parallel)
        export_note(e, "tensor parallelism without sequence parallelism: torchtitan's always has "
                       "both");
    if (l->expert == 1) return;
    put_count(w, "expert_parallel_degree", l->expert);
    if (!w->python) put_count(w, "expert_tensor_parallel_degree", l->tensor);
    if (w->python && l->tensor > 1)
        export_note(e, "experts of which each tensor rank has a part: torchtitan's are whole");
    if (l->expert % l->context)
        export_note(e,
                    "experts over %d ranks: torchtitan requires a multiple of the context degree",
                    l->expert);
}

static void note_kernels(struct export *e)
{
    const struct job *job = &e->problem->job;
    const struct layout *l = &e->plan->layout;
    if (!l->fused_attention)
        export_note(e, "attention that keeps its scores: torchtitan's is fused");
    if (l->fused_attention && job->attention_kernel != ATTENTION_MAKER)
        export_note(e, "the kernel of attention, %s: PyTorch chooses among its own",
                    attention_kernel_names[job->attention_kernel]);
    if (job->scattered_messages && l->tensor > 1 && l->pipeline > 1)
        export_note(e, "messages between stages of which each tensor rank sends its part");
}

enum status report_torchtitan(const struct plan *plan, const struct plan *told,
                              const struct problem *problem, const char **text, size_t *length,
                              struct arena *arena, struct error *err)
{
    struct report_out out;
    struct export e = {.framework = "torchtitan", .trainer = TRAINER_TORCHTITAN, .told = told};
    TRY(export_begin(&e, &out, plan, problem, arena, err));
    struct writer w = writer_of(&toml, &e);
    report_print(&out,
                 "# %s\n# Of torchtitan 0.2.2, the last release that reads TOML (0.3: --format "
                 "torchtitan-python); with data, tokenizer and learning rate:\n"
                 "#   torchrun ... -m torchtitan.train --job.config_file torchtitan.toml\n\n"
                 "[parallelism]\n",
                 export_headline(&e));
    bool sharded = put_replicas(&w);
    put_parallelism(&w);
    put_model(&e);
    report_print(&out, "\n[optimizer]\nname = \"AdamW\"\n\n[training]\n");
    put_training(&w, sharded);
    report_print(&out, "\n[compile]\n");
    put_truth(&w, "enable", problem->job.compiled || problem->job.fused_loss);
    put_word(&w, "components", components_of(&problem->job));
    put_recompute(&e);
    note_kernels(&e);
    export_common_notes(&e);
    export_print_notes(&e);
    *text = out.text;
    *length = out.length;
    return OK;
}

// ---- torchtitan 0.3

static void put_imports(struct export *e, const struct flavor *flavor)
{
    const char *model = flavor ? flavor->model : "NAME_THE_MODEL";
    bool further = model_mtp_depth(&e->problem->model) > 0,
         eight = e->problem->job.precision == FP8;
    report_print(e->out, "%sfrom torchtitan.config import CompileConfig, ParallelismConfig\n",
                 further ? "" : "from torchtitan.components.loss import CrossEntropyLoss\n");
    if (eight)
        report_print(e->out, "from torchtitan.components.quantization import "
                             "Float8LinearConverter\n");
    report_print(e->out,
                 "from torchtitan.distributed.activation_checkpoint import FullAC, SelectiveAC\n"
                 "from torchtitan.models.common import RoPE\n"
                 "from torchtitan.models.common.config_utils import decoder_vocab_size\n"
                 "from torchtitan.models.%s import model_registry\n"
                 "from torchtitan.models.%s.config_registry import %s as recipe\n",
                 model, model, flavor ? flavor->recipe : "NAME_THE_RECIPE");
    if (further) report_print(e->out, "from torchtitan.models.deepseek_v3.mtp import MTPLoss\n");
    report_print(e->out, "from torchtitan.trainer import Trainer\n");
}

static void put_rope_number(const struct export *e, const char *key, double value)
{
    if (value > 0) report_print(e->out, "        rope.%s = %.9g\n", key, value);
}

// Independent of the flavor's.
static void put_rope(struct export *e)
{
    const struct shape *m = &e->problem->model.shape;
    const struct rotary_scaling *x = &m->rotary_scaling;
    bool llama = x->type && !strcmp(x->type, "llama3"), yarn = x->type && !strcmp(x->type, "yarn");
    if (m->positions) return;
    report_print(e->out,
                 "    for _, rope, _, _ in config.model_spec.model.traverse(RoPE.Config):\n"
                 "        rope.scaling = \"%s\"\n",
                 llama  ? "llama"
                 : yarn ? "yarn"
                        : "none");
    put_rope_number(e, "theta", m->rotary_base);
    if (llama || yarn)
        put_rope_number(e, llama ? "scaling_factor" : "rope_factor", m->rotary_factor);
    if (llama) {
        put_rope_number(e, "low_freq_factor", x->low_freq_factor);
        put_rope_number(e, "high_freq_factor", x->high_freq_factor);
        put_rope_number(e, "original_max_position_embeddings", (double)x->original_positions);
    } else if (yarn) {
        put_rope_number(e, "beta_fast", x->beta_fast);
        put_rope_number(e, "beta_slow", x->beta_slow);
        put_rope_number(e, "original_seq_len", (double)x->original_positions);
    } else if (m->rotary_factor > 0) {
        export_note(e, "rotary positions scaled by %.9g (%s)", m->rotary_factor,
                    x->type ? x->type : "the method is not stated");
    }
}

static void put_model_spec(struct export *e, const struct flavor *flavor)
{
    const struct job *job = &e->problem->job;
    int further = model_mtp_depth(&e->problem->model);
    double scale = e->problem->model.shape.mtp_loss_scale;
    report_print(e->out, "    config.model_spec = model_registry(\"%s\"",
                 flavor ? flavor->name : "NAME-THE-FLAVOR");
    if (further) report_print(e->out, ", num_mtp_layers=%d", further);
    if (job->precision == FP8)
        report_print(e->out,
                     ", converters=[\n        Float8LinearConverter.Config(filter_fqns="
                     "[\"lm_head\"], model_compile_enabled=%s)]",
                     job->compiled ? "True" : "False");
    report_print(e->out, ")\n");
    put_rope(e);
    report_print(e->out, "    config.loss = %s.Config(", further ? "MTPLoss" : "CrossEntropyLoss");
    if (further && scale > 0) report_print(e->out, "mtp_scale=%.9g, ", scale);
    report_print(e->out, "global_vocab_size=decoder_vocab_size(config.model_spec))\n");
    if (further && (e->plan->layout.pipeline > 1 || e->plan->layout.context > 1))
        export_note(e, "multi-token prediction layers together with a pipeline or context ranks: "
                       "torchtitan 0.3 refuses them");
}

enum status report_torchtitan_python(const struct plan *plan, const struct plan *told,
                                     const struct problem *problem, const char **text,
                                     size_t *length, struct arena *arena, struct error *err)
{
    static const char *const policies[] = {[RECOMPUTE_NONE] = "None",
                                           [RECOMPUTE_SELECTIVE] = "SelectiveAC.Config()",
                                           [RECOMPUTE_FULL] = "FullAC.Config()"};
    struct report_out out;
    struct export e = {.framework = "torchtitan", .trainer = TRAINER_TORCHTITAN, .told = told};
    TRY(export_begin(&e, &out, plan, problem, arena, err));
    const struct job *job = &problem->job;
    const struct flavor *flavor = flavor_of(&problem->model);
    struct writer arguments = writer_of(&argument, &e), assignments = writer_of(&assignment, &e);
    report_print(&out,
                 "# %s\n# Of torchtitan 0.3.0, whose configurations are functions; data, tokenizer "
                 "and learning rate are the recipe's:\n"
                 "#   PYTHONPATH=THIS-FOLDER torchrun ... -m torchtitan.train --module "
                 "torchtitan_plan --config plan\n"
                 "# where this file is called torchtitan_plan.py.\n",
                 export_headline(&e));
    put_imports(&e, flavor);
    report_print(&out, "\n\ndef plan() -> Trainer.Config:\n    config = recipe()\n"
                       "    config.parallelism = ParallelismConfig(\n");
    bool sharded = put_replicas(&arguments);
    put_parallelism(&arguments);
    report_print(&out, "    )\n");
    note_model(&e, flavor);
    put_model_spec(&e, flavor);
    put_training(&assignments, sharded);
    // What the plan's times include: the host starts kernels one by one; a pipeline requires it.
    put_truth(&assignments, "disable_cuda_graphs", true);
    report_print(&out,
                 "    config.compile = CompileConfig(enable=%s, components=%s)\n"
                 "    config.activation_checkpoint = %s\n    return config\n",
                 job->compiled || job->fused_loss ? "True" : "False", components_of(job),
                 policies[recompute_of(&e)]);
    note_kernels(&e);
    export_common_notes(&e);
    export_print_notes(&e);
    *text = out.text;
    *length = out.length;
    return OK;
}
