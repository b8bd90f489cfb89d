// A plan as a Python function for torchtitan 0.3, with its names of modules, classes and arguments
// (torchtitan/config/configs.py, distributed/pipeline_parallel.py).
#include <inttypes.h>
#include <string.h>

#include "solve/report/export/torchtitan.h"

static void put_imports(struct export *e, const struct torchtitan_flavor *recipe, bool own,
                        const struct run *r)
{
    bool further = model_mtp_depth(&e->problem->model) > 0,
         eight = e->problem->job.precision == FP8;
    text_put(e->out, "%sfrom torchtitan.config import CompileConfig, ParallelismConfig\n",
             further ? "" : "from torchtitan.components.loss import CrossEntropyLoss\n");
    if (eight)
        text_put(e->out, "from torchtitan.components.quantization import "
                         "Float8LinearConverter\n");
    text_put(e->out,
             "from torchtitan.distributed.activation_checkpoint import FullAC, SelectiveAC\n"
             "from torchtitan.models.common import RoPE\n"
             "from torchtitan.models.common.config_utils import decoder_vocab_size\n"
             "from torchtitan.models.%s import model_registry\n"
             "from torchtitan.models.%s.config_registry import %s as recipe\n",
             r->model, r->model, recipe ? recipe->recipe : r->flavor);
    if (own)
        text_put(e->out,
                 "from torchtitan.models import %s as family\n"
                 "from torchtitan.models.common import RMSNorm\n",
                 r->model);
    text_put(e->out, "from torchtitan.models.llama3.config_registry import llama3_debugmodel\n");
    if (further) text_put(e->out, "from torchtitan.models.deepseek_v3.mtp import MTPLoss\n");
    text_put(e->out, "from torchtitan.trainer import Trainer\n");
}

// A model that is no flavor becomes one: the base's function builds its layers (a private one that
// is the same at 0.3.0 and at b5bcd76c).
static void put_own_flavor(const struct export *e, const struct torchtitan_flavor *base,
                           const struct run *r)
{
    const struct shape *m = &e->problem->model.shape;
    bool heads = m->qk_norm == QK_NORM_HEAD; // llama3's are of the model's width over their number
    long long hidden = m->hidden, vocabulary = m->vocabulary, width = m->head_width;
    text_put(e->out,
             "\n\ndef own_model(**backends):  # layers of %s in the dimensions of %s\n"
             "    model = family.%s_configs[\"%s\"](**backends)\n"
             "    rope = model.layers[0].attention.rope\n"
             "    rope.dim = %lld\n"
             "    model.dim = model.tok_embeddings.embedding_dim = %lld\n"
             "    model.norm.normalized_shape = model.lm_head.in_features = %lld\n"
             "    model.vocab_size = model.tok_embeddings.num_embeddings = %lld\n"
             "    model.lm_head.out_features = %lld\n",
             r->model, r->flavor, r->model, base->name, width, hidden, hidden, vocabulary,
             vocabulary);
    if (!heads)
        text_put(e->out, "    model.lm_head.param_init = family._output_linear_init(%lld)\n",
                 hidden);
    text_put(e->out,
             "    model.layers = family._build_%s_layers(\n"
             "        n_layers=%d, dim=%lld, n_heads=%lld, n_kv_heads=%lld, hidden_dim=%lld,\n"
             "        rope=rope, ",
             r->model, e->problem->model.layer_count - 2, hidden, (long long)m->heads,
             (long long)m->kv_heads, (long long)m->ffn);
    if (heads) text_put(e->out, "head_dim=%lld, ", width);
    text_put(e->out, "**backends)\n");
    if (m->norm_epsilon > 0)
        text_put(e->out,
                 "    for _, norm, _, _ in model.traverse(RMSNorm.Config):\n"
                 "        norm.eps = %.9g\n",
                 m->norm_epsilon);
    text_put(e->out, "    return model\n\n\nfamily.%s_configs[\"%s\"] = own_model\n", r->model,
             r->flavor);
}

static void put_rope_number(const struct export *e, const char *key, double value)
{
    if (value > 0) text_put(e->out, "        rope.%s = %.9g\n", key, value);
}

// Independent of the flavor's.
static void put_rope(struct export *e)
{
    const struct shape *m = &e->problem->model.shape;
    const struct rotary_scaling *x = &m->rotary_scaling;
    bool llama = x->type && !strcmp(x->type, "llama3"), yarn = x->type && !strcmp(x->type, "yarn");
    if (m->positions) return;
    text_put(e->out,
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

static void put_model_spec(struct export *e, const char *flavor)
{
    const struct job *job = &e->problem->job;
    int further = model_mtp_depth(&e->problem->model);
    double scale = e->problem->model.shape.mtp_loss_scale;
    text_put(e->out, "    config.model_spec = model_registry(\"%s\"", flavor);
    if (further) text_put(e->out, ", num_mtp_layers=%d", further);
    if (job->precision == FP8)
        text_put(e->out,
                 ", converters=[\n        Float8LinearConverter.Config(filter_fqns="
                 "[\"lm_head\"], model_compile_enabled=%s)]",
                 job->compiled ? "True" : "False");
    text_put(e->out, ")\n");
    put_rope(e);
    text_put(e->out, "    config.loss = %s.Config(", further ? "MTPLoss" : "CrossEntropyLoss");
    if (further && scale > 0) text_put(e->out, "mtp_scale=%.9g, ", scale);
    text_put(e->out, "global_vocab_size=decoder_vocab_size(config.model_spec))\n");
}

// 0.3 counts sequences, later sources tokens.
static void put_batch(const struct export *e, const struct run *r)
{
    const struct layout *l = &r->job.layout;
    long long sequence = r->job.sequence;
    text_put(e->out,
             "    if hasattr(config.training, \"seq_len\"):  # 0.3\n"
             "        config.training.seq_len = %lld\n"
             "        config.training.local_batch_size = %lld\n"
             "        config.training.global_batch_size = %lld\n",
             sequence, (long long)r->local_batch, (long long)r->global_batch);
    if (l->pipeline > 1)
        text_put(e->out, "        config.parallelism.pipeline_parallel_microbatch_size = %lld\n",
                 (long long)r->micro_batch);
    text_put(e->out,
             "    else:  # counts tokens\n"
             "        config.training.max_context_length = %lld\n"
             "        config.training.num_tokens_per_microbatch_per_dp_rank = %d * %lld\n"
             "        config.training.num_tokens_per_train_step = %lld * %lld\n",
             sequence, l->micro_batch, sequence, (long long)r->global_batch, sequence);
    if (l->pipeline > 1)
        text_put(e->out, "        config.parallelism.num_pp_microbatches = %lld\n",
                 (long long)r->steps);
}

enum status report_torchtitan_python(const struct plan *plan, const struct problem *problem,
                                     const char **text, size_t *length, struct arena *arena,
                                     struct error *err)
{
    static const struct export_form arguments = {
        .values = {.yes = "True", .no = "False", .quote = "\""},
        .before = "        ",
        .between = "=",
        .behind = ",\n"};
    static const struct export_form assignments = {
        .values = {.yes = "True", .no = "False", .quote = "\""},
        .before = "    config.training.",
        .between = " = ",
        .behind = "\n"};
    static const char *const policies[] = {[RECOMPUTE_NONE] = "None",
                                           [RECOMPUTE_SELECTIVE] = "SelectiveAC.Config()",
                                           [RECOMPUTE_FULL] = "FullAC.Config()"};
    struct text out;
    struct export e;
    struct run run;
    TRY(titan_begin(&e, &out, &run, true, plan, problem, arena, err));
    const struct torchtitan_flavor *flavor = titan_flavor(&problem->model, false, arena),
                                   *base = flavor ? NULL : titan_base(problem, arena);
    text_put(
        &out,
        "# %s\n# Of torchtitan 0.3.0 and its sources of August 2026; data, tokenizer and learning "
        "rate are the recipe's:\n"
        "#   torchrun ... -m torchtitan.train --module torchtitan_plan --config plan\n"
        "# where this file is called torchtitan_plan.py and its folder is in PYTHONPATH.\n",
        export_headline(&e));
    titan_print_table(&e);
    put_imports(&e, base ? base : flavor, base != NULL, &run);
    if (base) put_own_flavor(&e, base, &run);
    struct run rest = run; // but for the batch
    rest.job.sequence = rest.local_batch = rest.global_batch = rest.micro_batch = 0;
    text_put(&out, "\n\ndef plan() -> Trainer.Config:\n    config = recipe()\n"
                   "    config.parallelism = ParallelismConfig(\n");
    export_rows(&e, &torchtitan_rows, &rest, &arguments, "parallelism");
    text_put(&out, "    )\n");
    put_model_spec(&e, run.flavor);
    export_rows(&e, &torchtitan_rows, &rest, &assignments, "training");
    put_batch(&e, &run);
    // What the plan's times include: the host starts kernels one by one; a pipeline requires it.
    text_put(&out,
             "    config.training.disable_cuda_graphs = True\n"
             "    config.compile = CompileConfig(enable=%s, components=%s%s)\n"
             "    config.activation_checkpoint = %s\n    return config\n"
             "\n\ndef mock() -> Trainer.Config:  # on the text of torchtitan's tests\n"
             "    config, test = plan(), llama3_debugmodel()\n"
             "    config.hf_assets_path, config.dataloader = test.hf_assets_path, "
             "test.dataloader\n"
             "    return config\n",
             run.compile ? "True" : "False", run.components,
             run.job.overlapped_tensor ? ", enable_async_tensor_parallel=True" : "",
             policies[run.mode]);
    export_print_notes(&e);
    return text_end(&out, text, length);
}
