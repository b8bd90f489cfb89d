// A plan as a Python function for torchtitan 0.3, with its names of modules, classes and arguments
// (torchtitan/config/configs.py, distributed/pipeline_parallel.py).
#include <inttypes.h>
#include <string.h>

#include "solve/report/export/internal.h"

static bool has_part(const struct shape *m)
{
    return !m->kv_rank && titan_rotated(m) != m->head_width;
}

static void put_imports(struct export *e, const struct torchtitan_flavor *recipe, bool own,
                        const struct run *r)
{
    bool further = model_mtp_depth(&e->problem->model) > 0,
         eight = e->problem->job.precision == FP8;
    bool classes = own && titan_needs_classes(e->problem, e->out->arena),
         part = own && has_part(&e->problem->model.shape);
    if (classes)
        text_put(e->out, "from dataclasses import dataclass, fields, replace\n\nimport torch\n");
    else if (part) text_put(e->out, "from dataclasses import dataclass, fields\n\nimport torch\n");
    text_put(e->out, "%sfrom torchtitan.config import CompileConfig, ParallelismConfig\n",
             further ? "" : "from torchtitan.components.loss import CrossEntropyLoss\n");
    if (eight)
        text_put(e->out, "from torchtitan.components.quantization import Float8LinearConverter\n");
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
    if (part || classes) text_put(e->out, "from torchtitan.models.common.rope import CosSinRoPE\n");
    if (classes) titan_put_class_imports(e);
    text_put(e->out, "from torchtitan.models.llama3.config_registry import llama3_debugmodel\n");
    if (further) text_put(e->out, "from torchtitan.models.deepseek_v3.mtp import MTPLoss\n");
    text_put(e->out, "from torchtitan.trainer import Trainer\n");
}

// Arguments of the functions of layers, private ones that are the same at 0.3.0 and at b5bcd76c.
static void put_heads(const struct export *e, bool width)
{
    const struct shape *m = &e->problem->model.shape;
    text_put(e->out, "n_kv_heads=%" PRId64 ", ", m->kv_heads);
    if (width) text_put(e->out, "head_dim=%" PRId64 ", ", m->head_width);
}

static void put_latents(const struct export *e)
{
    const struct shape *m = &e->problem->model.shape;
    double scale = m->rotary_scaling.mscale_all_dim;
    text_put(
        e->out,
        "q_lora_rank=%" PRId64 ", kv_lora_rank=%" PRId64 ",\n"
        "        qk_nope_head_dim=%" PRId64 ", qk_rope_head_dim=%" PRId64 ", v_head_dim=%" PRId64
        ",\n        mscale=%.9g, n_dense_layers=%d, dense_hidden_dim=%" PRId64 ",\n        ",
        m->query_rank, m->kv_rank, m->head_width - m->rotary_width, m->rotary_width,
        m->value_width ? m->value_width : m->head_width, scale > 0 ? scale : 1.0,
        e->problem->model.layer_count - 2 - model_first_run(&e->problem->model, LAYER_MOE)->count,
        m->ffn);
}

static const char *score_of(const struct expert_shape *x)
{
    return x->router_score == ROUTER_SIGMOID ? "sigmoid" : "softmax";
}

static double scale_of(const struct expert_shape *x)
{
    return x->router_scale > 0 ? x->router_scale : 1;
}

// A softmax over the chosen experts is one over all, made to sum to 1.
static const char *is_normed(const struct expert_shape *x)
{
    return x->router_score == ROUTER_SIGMOID || !x->router_all ? "True" : "False";
}

static void put_groups(const struct export *e, const char *key, int64_t count)
{
    if (count) text_put(e->out, "%s=%" PRId64 ", ", key, count);
}

static void put_latent_experts(const struct export *e, const struct expert_shape *x)
{
    text_put(e->out,
             "num_shared_experts=%" PRId64 ", router_top_k=%" PRId64
             ", router_score_func=\"%s\",\n        router_route_norm=%s, router_route_scale=%.9g, ",
             x->shared_ffn / x->ffn, x->top_k, score_of(x), is_normed(x), scale_of(x));
    put_groups(e, "router_num_expert_groups", x->router_groups);
    put_groups(e, "router_num_limited_groups", x->router_top_groups);
}

// What the functions of qwen3's layers take for granted.
static void put_differences(const struct export *e, const struct expert_shape *x)
{
    const struct shape *m = &e->problem->model.shape;
    bool router = x && (x->router_score == ROUTER_SIGMOID || x->router_all || x->router_scale > 0 ||
                        x->router_groups);
    if (m->qk_norm == QK_NORM_NONE)
        text_put(e->out,
                 "    for layer in model.layers:\n        layer.attention.qk_norm = None\n");
    if (m->qkv_bias)
        text_put(e->out, "    for layer in model.layers:\n"
                         "        layer.attention.qkv_linear.wqkv.bias = True\n");
    if (x && x->shared_ffn)
        text_put(e->out,
                 "    for moe in filter(None, (layer.moe for layer in model.layers)):\n"
                 "        moe.shared_experts = family.make_ffn_config(\n"
                 "            dim=%" PRId64 ", hidden_dim=%" PRId64
                 ", w1_param_init=family._LINEAR_INIT,\n"
                 "            w2w3_param_init=family._LINEAR_INIT)\n",
                 m->hidden, x->shared_ffn);
    if (!router) return;
    text_put(e->out,
             "    for moe in filter(None, (layer.moe for layer in model.layers)):\n"
             "        router = moe.router\n"
             "        router.score_func = \"%s\"\n        router.route_norm = %s\n"
             "        router.route_scale = %.9g\n",
             score_of(x), is_normed(x), scale_of(x));
    if (x->router_groups)
        text_put(e->out,
                 "        router.num_expert_groups = %" PRId64 "\n"
                 "        router.num_limited_groups = %" PRId64 "\n",
                 x->router_groups, x->router_top_groups);
}

// Layers of one run, or, with latent attention, all. x: their experts.
static void put_run(const struct export *e, const struct torchtitan_flavor *base, int count,
                    const struct expert_shape *x, const char *assign, const char *backends)
{
    const struct shape *m = &e->problem->model.shape;
    bool latent = m->kv_rank > 0;
    text_put(e->out,
             "    model.layers %s family._build_%s%s_layers(\n"
             "        n_layers=%d, dim=%" PRId64 ", n_heads=%" PRId64 ", ",
             assign, latent ? "dsv3" : base->model, x && !latent ? "_moe" : "", count, m->hidden,
             m->heads);
    if (latent) put_latents(e);
    else put_heads(e, !strcmp(base->model, "qwen3"));
    if (x)
        text_put(e->out, "moe_hidden_dim=%" PRId64 ", num_experts=%" PRId64 ",\n        ", x->ffn,
                 x->experts);
    else text_put(e->out, "hidden_dim=%" PRId64 ",\n        ", m->ffn);
    if (latent) put_latent_experts(e, x);
    else if (x) text_put(e->out, "top_k=%" PRId64 ", ", x->top_k);
    text_put(e->out, "rope=rope, %s)\n", backends);
}

static void put_layers(const struct export *e, const struct torchtitan_flavor *base,
                       const struct expert_shape *x)
{
    const struct model *model = &e->problem->model;
    bool latent = model->shape.kv_rank > 0, first = true;
    if (latent) {
        text_put(e->out, "    backends.pop(\"num_mtp_layers\", None)\n");
        put_run(e, base, model->layer_count - 2, x, "=", "**backends");
        return;
    }
    if (x) text_put(e->out, "    backends.setdefault(\"moe_comm_backend\", \"standard\")\n");
    for (int i = 0, next; i < model->run_count; i = next) {
        const struct layer_run *run = &model->runs[i];
        bool mixture = run->kind == LAYER_MOE;
        int count = 0;
        for (next = i; next < model->run_count && model->runs[next].kind == run->kind; next++)
            count += model->runs[next].count;
        if (!mixture && run->kind != LAYER_BLOCK) continue;
        put_run(e, base, count, mixture ? &run->experts : NULL, first ? "=" : "+=",
                x && !mixture ? "attn_backend=backends[\"attn_backend\"]" : "**backends");
        first = false;
    }
    if (!strcmp(base->model, "qwen3")) put_differences(e, x);
}

// A model that is no flavor becomes one: the base's function builds its layers.
static void put_own_flavor(const struct export *e, const struct torchtitan_flavor *base,
                           const struct run *r)
{
    const struct shape *m = &e->problem->model.shape;
    const struct layer_run *mixture = model_first_run(&e->problem->model, LAYER_MOE);
    const char *configs = m->kv_rank ? "deepseekv3" : r->model;
    static const char part[] =
        "    rope = PartRoPE.Config(**{x.name: getattr(rope, x.name) for x in fields(rope)})\n";
    bool classes = titan_needs_classes(e->problem, e->out->arena);
    const struct known_model *known = known_model(&e->problem->model, e->out->arena);
    if (has_part(m)) titan_put(e, known && known->pairs ? "part_of_pairs" : "part");
    if (classes) titan_put_classes(e);
    text_put(e->out,
             "\n\ndef own_model(**backends):  # layers of %s in the dimensions of %s\n"
             "    model = family.%s_configs[\"%s\"](**backends)\n"
             "    rope = model.layers[0].attention.rope\n"
             "%s"
             "    rope.dim = %" PRId64 "\n"
             "    model.dim = model.tok_embeddings.embedding_dim = %" PRId64 "\n"
             "    model.norm.normalized_shape = model.lm_head.in_features = %" PRId64 "\n"
             "    model.vocab_size = model.tok_embeddings.num_embeddings = %" PRId64 "\n"
             "    model.lm_head.out_features = %" PRId64 "\n",
             r->model, r->flavor, configs, base->name, has_part(m) ? part : "",
             m->kv_rank ? m->rotary_width : titan_rotated(m), m->hidden, m->hidden, m->vocabulary,
             m->vocabulary);
    if (strcmp(base->model, "qwen3") != 0)
        text_put(e->out, "    model.lm_head.param_init = family._output_linear_init(%" PRId64 ")\n",
                 m->hidden);
    if (m->tied_embeddings)
        text_put(e->out, "    model.enable_weight_tying = True\n"
                         "    model.tok_embeddings.param_init = family._EMBEDDING_SKIP_INIT\n");
    put_layers(e, base, mixture ? &mixture->experts : NULL);
    if (classes) titan_put_own_layers(e);
    double epsilon = m->norm_epsilon > 0 || m->rms_norm ? m->norm_epsilon : 1e-5; // as PyTorch's
    if (epsilon > 0)
        text_put(e->out,
                 "    for _, norm, _, _ in model.traverse(RMSNorm.Config):\n"
                 "        norm.eps = %.9g\n",
                 epsilon);
    text_put(e->out, "    return model\n\n\nfamily.%s_configs[\"%s\"] = own_model\n", configs,
             r->flavor);
}

// The shortest of the flavors' positions; a longer sequence is refused.
enum { FEWEST_POSITIONS = 16384 };

static void put_positions(const struct export *e)
{
    long long sequence = e->problem->job.sequence;
    if (sequence <= FEWEST_POSITIONS) return;
    text_put(e->out,
             "    for _, rope, _, _ in config.model_spec.model.traverse(RoPE.Config):\n"
             "        longest = \"max_seq_len\" if hasattr(rope, \"max_seq_len\") else "
             "\"max_context_length\"\n"
             "        setattr(rope, longest, max(getattr(rope, longest), %lld))\n",
             sequence);
}

static void put_rope_number(const struct export *e, const char *key, double value)
{
    if (value > 0) text_put(e->out, "        rope.%s = %.9g\n", key, value);
}

// Independent of the flavor's.
static void put_rope(struct export *e, bool own)
{
    const struct shape *m = &e->problem->model.shape;
    const struct rotary_scaling *x = &m->rotary_scaling;
    bool llama = x->type && !strcmp(x->type, "llama3"), yarn = x->type && !strcmp(x->type, "yarn");
    if (m->positions || (own && titan_has_own_positions(e))) return;
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

static void put_model_spec(struct export *e, const char *flavor, bool own)
{
    const struct job *job = &e->problem->job;
    int further = model_mtp_depth(&e->problem->model);
    double scale = e->problem->model.shape.mtp_loss_scale;
    text_put(e->out, "    config.model_spec = model_registry(\"%s\"", flavor);
    if (further) text_put(e->out, ", num_mtp_layers=%d", further);
    if (job->precision == FP8)
        text_put(e->out,
                 ", converters=[\n        Float8LinearConverter.Config(filter_fqns=[\"lm_head\"], "
                 "model_compile_enabled=%s)]",
                 job->compiled ? "True" : "False");
    text_put(e->out, ")\n");
    put_positions(e);
    put_rope(e, own);
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

enum status report_torchtitan_python(struct text *out, const struct plan *plan,
                                     const struct problem *problem, struct error *err)
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
    struct export e;
    struct run run;
    TRY(titan_begin(&e, out, &run, true, plan, problem, err));
    const struct torchtitan_flavor *flavor = titan_flavor(&problem->model, false, out->arena),
                                   *base = flavor ? NULL : titan_base(problem, out->arena);
    text_put(out,
             "# %s\n"
             "# Of torchtitan 0.3.0 and its sources of August 2026; data, tokenizer and learning "
             "rate are the recipe's:\n"
             "#   torchrun ... -m torchtitan.train --module torchtitan_plan --config plan\n"
             "# where this file is called torchtitan_plan.py and its folder is in PYTHONPATH.\n",
             export_headline(&e));
    titan_print_table(&e);
    put_imports(&e, base ? base : flavor, base != NULL, &run);
    if (base) put_own_flavor(&e, base, &run);
    struct run rest = run; // but for the batch
    rest.job.sequence = rest.local_batch = rest.global_batch = rest.micro_batch = 0;
    text_put(out, "\n\ndef plan() -> Trainer.Config:\n    config = recipe()\n"
                  "    config.parallelism = ParallelismConfig(\n");
    export_rows(&e, &torchtitan_rows, &rest, &arguments, "parallelism");
    text_put(out, "    )\n");
    put_model_spec(&e, run.flavor, base != NULL);
    export_rows(&e, &torchtitan_rows, &rest, &assignments, "training");
    put_batch(&e, &run);
    // What the plan's times include: the host starts kernels one by one; a pipeline requires it.
    text_put(out,
             "    config.training.disable_cuda_graphs = True\n"
             "    config.compile = CompileConfig(enable=%s, components=%s%s)\n"
             "    config.activation_checkpoint = %s\n    return config\n"
             "\n\ndef mock() -> Trainer.Config:  # on the text of torchtitan's tests\n"
             "    config, test = plan(), llama3_debugmodel()\n"
             "    config.hf_assets_path, config.dataloader = test.hf_assets_path, test.dataloader\n"
             "    return config\n",
             run.compile ? "True" : "False", run.components,
             run.job.overlapped_tensor ? ", enable_async_tensor_parallel=True" : "",
             policies[run.mode]);
    export_print_notes(&e);
    return OK;
}
