// See models.h. Flags and keys are those of the newest sources (docs/FORMATS.md, job).
#include "data/frameworks/models.h"

#include <string.h>

#include "data/base/shipped.h"

struct gap {
    bool there;
    const char *text;
};

struct gaps {
    const char **texts;
    int count;
};

static void add_gaps(struct gaps *to, const struct gap *gaps, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (gaps[i].there && to->count < GAPS_MAX) to->texts[to->count++] = gaps[i].text;
}

// ---- layers

// What some layer has.
struct features {
    bool cross, both, more, own, frozen, other, decays, windows, experts, unlike;
    bool states, parts, beside;
};

static struct features features_of(const struct model *m)
{
    struct features f = {.decays = m->shape.linear.decay_rank || m->shape.linear.gate_rank};
    const struct expert_shape *found = NULL;
    int64_t window = 0;
    for (int i = 0; i < m->run_count; i++) {
        const struct layer_run *run = &m->runs[i];
        const struct expert_shape *x = &run->experts;
        f.cross |= run->cross_attention, f.both |= run->bidirectional;
        f.more |= run->more_values > 0, f.own |= run->shape || run->tokens;
        f.frozen |= run->frozen;
        f.states |= run_has_linear(run) && run_shape(m, run)->linear.rule != LINEAR_DELTA;
        f.parts |= !run_is_whole(run), f.beside |= run->linear_beside;
        f.other |= run->kind == LAYER_MEMORY || run->kind == LAYER_PROJECTOR;
        f.windows |= run->window && window && run->window != window;
        f.unlike |= run->mtp && run->kind != m->runs[i - 1].kind;
        if (run->window) window = run->window;
        if (run->kind != LAYER_MOE) continue;
        if (!found) found = x;
        f.experts |= x->experts != found->experts || x->top_k != found->top_k ||
                     x->ffn != found->ffn || x->shared_ffn != found->shared_ffn;
    }
    return f;
}

static int64_t model_first_chunk(const struct model *m)
{
    int i = 0;
    while (i < m->run_count && !m->runs[i].chunk) i++;
    return i < m->run_count ? m->runs[i].chunk : 0;
}

// ---- Megatron Core

// Flags name three activations, two of them without a gate and one with it; keys name more.
static const char *unnamed_activation(const struct shape *s, bool flags, struct arena *arena)
{
    static const char *const plain[] = {"gelu", "gelu_new", "gelu_pytorch_tanh", "relu2", NULL};
    const char *name = s->activation ? s->activation : s->gated_ffn ? "silu" : "gelu";
    int k = 0;
    if (flags && s->gated_ffn)
        return !strcmp(name, "silu")
                   ? NULL
                   : arena_print(arena, "a gated feed-forward part with %.40s", name);
    for (; flags && plain[k]; k++)
        if (!strcmp(plain[k], name)) return NULL;
    for (k = 0; !flags && nemo_activations[k].name; k++)
        if (!strcmp(nemo_activations[k].activation, name)) return NULL;
    return arena_print(arena, "the activation %.40s", name);
}

static bool repeats_norms(const struct job *j)
{
    bool any = false;
    for (int mode = 0; mode < RECOMPUTE_COUNT; mode++)
        any |= j->recompute[mode] && recompute_repeats((enum recompute)mode, MODULE_LAYERNORM);
    return any;
}

static void core_gaps(struct gaps *to, const struct problem *p, bool flags, struct arena *arena)
{
    const struct model *m = &p->model;
    const struct shape *s = &m->shape;
    struct features f = features_of(m);
    struct core_rotary way;
    const char *rotary = core_rotary_of(s, !flags, &way, arena),
               *activation = unnamed_activation(s, flags, arena),
               *layer = flags ? core_layer(m, arena) : NULL;
    int64_t chunk = model_first_chunk(m);
    const struct known_model *known = known_model(m, arena);
    bool gemma = !flags && known && known->provider,
         llama4 = known && known->llama4 && (flags || !known->unit_norms),
         sinks = model_has_sinks(m), hybrid = flags && model_is_hybrid(m);
    const struct gap gaps[] = {
        {f.cross, "cross attention"},
        {f.both, "attention without a causal mask"},
        {f.decays, "linear attention whose decays and gates come out of latents"},
        {f.states && !hybrid, "state spaces, fixed decays and convolutions in attention's place"},
        {f.parts && !hybrid, "layers that are attention or a feed-forward part alone"},
        {f.beside, "linear attention beside attention"},
        {s->value_width && !s->kv_rank, "values of another width than keys"},
        {s->keys_as_values, "values that are keys"},
        {s->keys_reused, "keys of a layer before"},
        {s->index_heads > 0 && !flags, "sparse attention"},
        {s->positions > 0 && s->positions != p->job.sequence && !flags,
         "learned positions that are more or fewer than a sequence's tokens"},
        {f.windows, "windows of several widths"},
        {chunk && !llama4, "attention within chunks"},
        {llama4 && chunk < p->job.sequence, "chunks of attention shorter than the sequence"},
        {f.own, "layers of a shape or of tokens of their own"},
        {f.other, "layers that are neither embedding, decoder layer nor head"},
        {f.more && !sinks, "parameters besides those of its layers' shape"},
        {f.experts, "experts whose shape differs between layers"},
        {f.frozen, "frozen layers and their adapters"},
        {s->norms > 0 && !gemma && !layer, arena_print(arena, "%d norms in a layer", s->norms)},
        {s->qk_norm == QK_NORM_WHOLE && !layer, "norms over all heads of queries and keys"},
        {(layer || gemma) && known && known->norms && repeats_norms(&p->job),
         "repeated norms (recompute: layernorm) that stand behind"},
        {s->plain_norms, "norms without parameters"},
        {s->no_final_norm, "no norm before the logits"},
        {s->parallel_residual, "attention and feed-forward part in parallel"},
        {s->output_bias != 0 && !sinks, "a bias on attention's output unlike the other layers'"},
        {s->embedding_width > 0, "an embedding narrower than the model"},
        {s->linear_bias && !s->qkv_bias, "no bias on queries, keys and values alone"},
        {activation && !layer, activation},
        {f.unlike, "multi-token prediction layers unlike the last decoder layer"},
        {rotary != NULL, rotary}};
    add_gaps(to, gaps, ARRAY_LENGTH(gaps));
}

// ---- torchtitan

// What decides parameters and prices, as text. Without the layers that predict further tokens,
// which flavors take as a number.
static const char *described(const struct model *model, struct arena *arena)
{
    struct model m = *model;
    struct json_writer w;
    size_t length;
    m.name = "", m.runs = TAKE(arena, model->run_count, struct layer_run), m.run_count = 0;
    m.shape.norm_epsilon = m.shape.mtp_loss_scale = m.shape.rotary_base = 0;
    m.shape.rotary_share = m.shape.rotary_factor = m.shape.score_width = 0,
    m.shape.vocabulary_multiple = 0;
    m.shape.rotary_scaling = (struct rotary_scaling){.type = NULL};
    for (int i = 0; i < model->run_count; i++) {
        if (model->runs[i].mtp) continue;
        struct layer_run *run = &m.runs[m.run_count++];
        *run = model->runs[i];
        run->name = arena_print(arena, "%d", m.run_count), run->experts.imbalance = 1;
        router_forget(&run->experts);
    }
    json_begin(&w, arena);
    json_open_object(&w, NULL);
    members_put(&w, &model_members, &m, &m);
    json_close_object(&w);
    return json_end(&w, &length);
}

bool model_is_shipped(const struct model *model, const char *shipped, struct arena *arena)
{
    struct error unread = {OK, ""};
    const char *path;
    struct model m;
    return shipped_find(&path, "models", shipped, arena, &unread) == OK &&
           model_load(&m, path, arena, &unread) == OK &&
           !strcmp(described(model, arena), described(&m, arena));
}

// gelu's names, NULL as gelu, and OPT's.
static bool is_plain_activation(const char *name)
{
    return !name || !strcmp(name, "gelu") || !strcmp(name, "gelu_new") ||
           !strcmp(name, "gelu_pytorch_tanh") || !strcmp(name, "relu");
}

bool model_is_gpt2(const struct model *model, struct arena *arena)
{
    struct error unread = {OK, ""};
    const char *path;
    struct model m;
    const struct shape *s = &model->shape;
    if (!model->has_shape || s->dropout || s->positions <= 0 ||
        !is_plain_activation(s->activation) || model->run_count != 3 ||
        shipped_find(&path, "models", "gpt2-xl", arena, &unread) != OK ||
        model_load(&m, path, arena, &unread) != OK)
        return false;
    struct shape *to = &m.shape;
    to->hidden = s->hidden, to->ffn = s->ffn, to->vocabulary = s->vocabulary;
    to->heads = s->heads, to->kv_heads = s->kv_heads, to->head_width = s->head_width;
    to->positions = s->positions, to->qkv_bias = s->qkv_bias, to->linear_bias = s->linear_bias;
    to->tied_embeddings = s->tied_embeddings, to->activation = s->activation;
    to->dropout = false;
    m.runs[1].count = model->runs[1].count, m.layer_count = model->layer_count;
    return !strcmp(described(model, arena), described(&m, arena));
}

// Every layer but each last of a pattern has the window.
static bool has_gemma_windows(const struct model *m)
{
    int every = m->run_count > 2 ? m->runs[1].count + 1 : 1, layer = 0;
    for (int i = 1; i < m->run_count - 1; i++)
        for (int k = 0; k < m->runs[i].count; k++) {
            bool windowed = ++layer % every != 0;
            if (m->runs[i].window != (windowed ? m->runs[1].window : 0)) return false;
        }
    return every > 1 && m->runs[1].window > 0;
}

bool model_is_gemma3(const struct model *model, struct arena *arena)
{
    struct error unread = {OK, ""};
    const char *path;
    struct model m;
    const struct shape *s = &model->shape;
    if (!model->has_shape || !(s->score_width > 0) || s->score_width != floor(s->score_width) ||
        !has_gemma_windows(model) ||
        shipped_find(&path, "models", "gemma-3-27b", arena, &unread) != OK ||
        model_load(&m, path, arena, &unread) != OK)
        return false;
    struct layer_run *runs = TAKE_COPY(arena, model->runs, model->run_count);
    for (int i = 0; i < model->run_count; i++) {
        bool layers = runs[i].kind == LAYER_BLOCK;
        runs[i] = m.runs[layers ? 1 : i ? m.run_count - 1 : 0];
        runs[i].count = model->runs[i].count, runs[i].window = model->runs[i].window;
    }
    struct shape *to = &m.shape;
    to->hidden = s->hidden, to->ffn = s->ffn, to->vocabulary = s->vocabulary;
    to->heads = s->heads, to->kv_heads = s->kv_heads, to->head_width = s->head_width;
    to->tied_embeddings = s->tied_embeddings;
    m.runs = runs, m.run_count = model->run_count, m.layer_count = model->layer_count;
    return !strcmp(described(model, arena), described(&m, arena));
}

static bool has_part_rotary(const struct shape *s)
{
    return s->rotary_share > 0 && s->rotary_share < 1;
}

const struct torchtitan_flavor *titan_flavor(const struct model *model, bool toml,
                                             struct arena *arena)
{
    int blocks = model->layer_count - 2 - model_mtp_depth(model);
    for (const struct torchtitan_flavor *f = torchtitan_flavors; f->model; f++)
        if (model->has_shape && f->shipped && f->blocks == blocks &&
            !has_part_rotary(&model->shape) && (!f->only || !strcmp(f->only, "0.2") == toml) &&
            model_is_shipped(model, f->shipped, arena))
            return f;
    return NULL;
}

int64_t titan_rotated(const struct shape *s)
{
    return has_part_rotary(s) ? llround(s->rotary_share * (double)s->head_width) : s->head_width;
}

static bool is_cut_off(const struct layer_run *run, const struct problem *p)
{
    return run->window && run->window < p->job.sequence;
}

// Latent attention's function takes experts that all tokens use, of as many widths of one expert.
static bool has_base_experts(const struct model *m, const struct expert_shape *x)
{
    return m->shape.kv_rank ? x->shared_ffn > 0 && x->shared_ffn % x->ffn == 0 : !x->shared_gate;
}

// Qwen3's layers take biases of queries, keys and values; their positions are cosines and sines,
// which turn a part of a head as well as the whole, but have no way to scale them like Llama 3's.
static bool resize_attention(struct shape *to, const struct shape *s)
{
    const char *scaling = s->rotary_scaling.type;
    bool qwen = to->qk_norm == QK_NORM_HEAD;
    if (!to->kv_rank != !s->kv_rank) return false;
    if (qwen) to->qkv_bias = s->qkv_bias;
    if (qwen && s->qk_norm == QK_NORM_NONE) to->qk_norm = QK_NORM_NONE;
    if (qwen) return titan_rotated(s) % 2 == 0 && (!scaling || strcmp(scaling, "llama3") != 0);
    return !has_part_rotary(s) && (to->kv_rank || s->heads * s->head_width == s->hidden);
}

// The base's layers in the order and the dimensions of the problem's. False: it has none such.
// Latent attention's function has dense layers beside mixtures before them; Qwen3's layers are
// made by two functions, of any order, and take windows (titan_needs_classes).
static bool resize(struct model *base, const struct model *m, struct arena *arena)
{
    struct shape *to = &base->shape;
    const struct shape *s = &m->shape;
    struct layer_run *runs = TAKE(arena, m->run_count, struct layer_run);
    const struct layer_run *mixture = model_first_run(base, LAYER_MOE);
    bool windows = to->qk_norm == QK_NORM_HEAD; // as Qwen3's
    if (!resize_attention(to, s) || !mixture != !model_first_run(m, LAYER_MOE)) return false;
    for (int i = 0; i < m->run_count; i++) {
        const struct layer_run *own = &m->runs[i], *run = model_first_run(base, own->kind);
        bool dense = own->kind == LAYER_BLOCK;
        if (!run && dense) run = mixture;
        if (!run || (dense && to->kv_rank && i != 1)) return false;
        runs[i] = *run, runs[i].count = own->count, runs[i].kind = own->kind;
        if (dense) runs[i].experts = own->experts;
        if (windows) runs[i].window = own->window;
        if (own->kind != LAYER_MOE) continue;
        if (!has_base_experts(m, &own->experts)) return false;
        runs[i].experts.experts = own->experts.experts, runs[i].experts.ffn = own->experts.ffn;
        runs[i].experts.top_k = own->experts.top_k;
        runs[i].experts.shared_ffn = own->experts.shared_ffn;
    }
    to->hidden = s->hidden, to->ffn = s->ffn, to->vocabulary = s->vocabulary;
    to->heads = s->heads, to->kv_heads = s->kv_heads, to->head_width = s->head_width;
    to->query_rank = s->query_rank, to->kv_rank = s->kv_rank;
    to->rotary_width = s->rotary_width, to->value_width = s->value_width;
    if (!to->kv_rank) to->tied_embeddings = s->tied_embeddings;
    if (!s->activation) to->activation = NULL;
    base->runs = runs, base->run_count = m->run_count, base->layer_count = m->layer_count;
    return true;
}

bool titan_needs_classes(const struct problem *p, struct arena *arena)
{
    bool cut = false;
    for (int i = 0; i < p->model.run_count; i++) cut |= is_cut_off(&p->model.runs[i], p);
    return cut || known_model(&p->model, arena);
}

// Qwen3's layers, made by the function of mixtures where there are some.
static const struct torchtitan_flavor *base_of_known(const struct model *m)
{
    const struct torchtitan_flavor *f = torchtitan_flavors;
    bool mixtures = model_first_run(m, LAYER_MOE) != NULL;
    while (!f->base || strcmp(f->model, "qwen3") || !strchr(f->name, '-') == mixtures) f++;
    return f;
}

const struct torchtitan_flavor *titan_base(const struct problem *p, struct arena *arena)
{
    struct error unread = {OK, ""};
    struct model own = p->model, m;
    const char *path, *text;
    if (!own.has_shape || model_mtp_depth(&own)) return NULL;
    if (known_model(&own, arena)) return base_of_known(&own);
    own.runs = TAKE(arena, own.run_count, struct layer_run);
    for (int i = 0; i < own.run_count; i++) {
        own.runs[i] = p->model.runs[i];
        if (!is_cut_off(&own.runs[i], p)) own.runs[i].window = 0;
    }
    text = described(&own, arena);
    for (const struct torchtitan_flavor *f = torchtitan_flavors; f->model; f++) {
        if (!f->base || shipped_find(&path, "models", f->shipped, arena, &unread) != OK ||
            model_load(&m, path, arena, &unread) != OK || !resize(&m, &own, arena))
            continue;
        if (!strcmp(text, described(&m, arena))) return f;
    }
    return NULL;
}

// What keeps a model from being one of a base's layers.
static void base_gaps(struct gaps *to, const struct problem *p, struct arena *arena)
{
    const struct model *m = &p->model;
    const struct shape *s = &m->shape;
    bool experts = false, cut = false, dense = false, mixtures = false, linear = false;
    for (int i = 0; i < m->run_count; i++) {
        bool mixture = m->runs[i].kind == LAYER_MOE;
        dense |= m->runs[i].kind == LAYER_BLOCK;
        experts |= mixture && !has_base_experts(m, &m->runs[i].experts);
        mixtures |= mixture;
        cut |= is_cut_off(&m->runs[i], p);
        linear |= run_has_linear(&m->runs[i]);
    }
    const struct gap gaps[] = {
        {experts, "experts unlike its flavors'"},
        {cut, "windows of attention shorter than the sequence"},
        {(dense || !mixtures) &&
             (!s->gated_ffn || (s->activation && strcmp(s->activation, "silu"))),
         "a feed-forward part that is not gated by silu"},
        {linear, "linear attention and state spaces"},
        {s->index_heads > 0, "sparse attention"},
        {s->dropout, "dropout"},
        {model_first_chunk(m) > 0, "attention within chunks"},
        {s->norms > 0, arena_print(arena, "%d norms in a layer", s->norms)},
        {!s->rms_norm, "norms that are not RMS norms"},
        {(s->qkv_bias && s->kv_rank) || s->linear_bias || s->output_bias > 0, "biases"},
        {s->rotary_scaling.type && !strcmp(s->rotary_scaling.type, "llama3") &&
             (s->qkv_bias || s->qk_norm != QK_NORM_NONE || has_part_rotary(s)),
         "positions scaled as Llama 3's in attention unlike Llama 3's"},
        {s->tied_embeddings && s->kv_rank, "an embedding and a head that share a matrix"},
        {s->qk_norm == QK_NORM_WHOLE, "norms over all heads of queries and keys"},
        {has_part_rotary(s) && s->kv_rank, "rotary positions of a part of each head"},
        {model_mtp_depth(m) > 0, "multi-token prediction layers"}};
    add_gaps(to, gaps, ARRAY_LENGTH(gaps));
}

static void titan_gaps(struct gaps *to, const struct problem *p, bool toml, struct arena *arena)
{
    const struct model *m = &p->model;
    bool none = !titan_flavor(m, toml, arena) && (toml || !titan_base(p, arena));
    struct model dry = *m;
    dry.shape.dropout = false;
    bool drops = none && !toml && m->shape.dropout && model_is_gpt2(&dry, arena);
    const struct gap gaps[] = {{none && !drops, "it has none like it"},
                               {drops, "dropout, which its flexible attention has not "
                                       "(\"dropout\": false in the model's shape leaves it out)"},
                               {features_of(m).frozen, "frozen layers and their adapters"},
                               {toml && model_mtp_depth(m), "multi-token prediction layers"}};
    add_gaps(to, gaps, ARRAY_LENGTH(gaps));
    if (none && !toml && !drops) base_gaps(to, p, arena);
}

// Of the layers of a block, which AxoNN's Linear takes, those that the prices of grids cover.
static void axonn_gaps(struct gaps *to, const struct model *m)
{
    const char *peculiar = model_peculiarity(m, true);
    bool mixtures = false, others = false;
    for (int i = 0; i < m->run_count; i++) {
        enum layer_kind kind = m->runs[i].kind;
        mixtures |= kind == LAYER_MOE;
        others |= kind != LAYER_MOE && kind != LAYER_BLOCK && kind != LAYER_EMBEDDING &&
                  kind != LAYER_HEAD;
    }
    const struct gap gaps[] = {{mixtures, "mixtures of experts"},
                               {others, "layers other than attention with a feed-forward part"},
                               {features_of(m).frozen, "frozen layers and their adapters"},
                               {peculiar && !mixtures && !others, peculiar}};
    add_gaps(to, gaps, ARRAY_LENGTH(gaps));
}

// ---- all

int framework_gaps(const char **texts, enum framework framework, const struct problem *p,
                   struct arena *arena)
{
    const struct model *m = &p->model;
    struct gaps gaps = {texts, 0};
    const struct gap headless = {!model_first_run(m, LAYER_HEAD), "a model without a head"};
    if (!m->has_shape) return 0;
    if (framework != FRAMEWORK_DEEPSPEED && framework != FRAMEWORK_ANY)
        add_gaps(&gaps, &headless, 1);
    switch (framework) {
    case FRAMEWORK_MEGATRON:
    case FRAMEWORK_NEMO: core_gaps(&gaps, p, framework == FRAMEWORK_MEGATRON, arena); break;
    case FRAMEWORK_TORCHTITAN:
    case FRAMEWORK_TORCHTITAN_0_2:
        titan_gaps(&gaps, p, framework == FRAMEWORK_TORCHTITAN_0_2, arena);
        break;
    case FRAMEWORK_AXONN: axonn_gaps(&gaps, m); break;
    case FRAMEWORK_DEEPSPEED:
    case FRAMEWORK_ANY: break;
    }
    return gaps.count;
}

enum status framework_check_model(const struct problem *p, struct arena *arena, struct error *err)
{
    const char *texts[GAPS_MAX], *what = "", *others = "";
    enum framework framework = p->job.space.given ? p->job.space.framework : FRAMEWORK_ANY;
    int count = framework_gaps(texts, framework, p, arena);
    if (!count) return OK;
    for (int i = 0; i < count; i++)
        what = arena_print(arena, "%s%s%s", what, i ? ", " : "", texts[i]);
    for (int f = FRAMEWORK_MEGATRON; framework_names[f]; f++)
        if (!framework_gaps(texts, (enum framework)f, p, arena))
            others = arena_print(arena, "%s%s, ", others, framework_names[f]);
    return refuse(err, "%s: %s cannot express this model: %s; expected %sor any",
                  document_name(&p->model.document, p->model.name ? p->model.name : "the model"),
                  framework_names[framework], what, others);
}
