// A row's model: a shipped one by its name, or what the row's columns say (docs/FORMATS.md, runs).
#include <ctype.h>

#include "data/base/names.h"
#include "formulate/predict/internal.h"

// ---- by name

// Equal but for case and signs between words: "DeepSeekV3", "deepseek-v3".
static bool same_name(struct cell a, const char *b)
{
    const char *at = a.text, *end = a.text + a.length;
    for (;;) {
        while (at < end && !isalnum((unsigned char)*at)) at++;
        while (*b && !isalnum((unsigned char)*b)) b++;
        if (at == end || !*b) return at == end && !*b;
        if (tolower((unsigned char)*at++) != tolower((unsigned char)*b++)) return false;
    }
}

// Reads the shipped models' names once.
static bool list_models(struct predictor *p, struct prediction *prediction)
{
    struct error err = {OK, ""};
    if (p->model_count) return true;
    if (shipped_list(&p->model_names, &p->model_count, "models", p->arena, &err) != OK)
        return predict_refuse(prediction, "%s", err.text);
    p->models = TAKE(p->arena, p->model_count, struct model *);
    return true;
}

// *found NULL: no shipped model has the name.
static bool find_model(struct predictor *p, struct cell name, const struct model **found,
                       struct prediction *prediction)
{
    struct error err = {OK, ""};
    const char *path;
    *found = NULL;
    if (!list_models(p, prediction)) return false;
    for (int i = 0; i < p->model_count; i++) {
        if (!same_name(name, p->model_names[i])) continue;
        if (!p->models[i]) {
            struct model *model = TAKE(p->arena, 1, struct model);
            if (shipped_find(&path, "models", p->model_names[i], p->arena, &err) != OK ||
                model_load(model, path, p->arena, &err) != OK)
                return predict_refuse(prediction, "%s", err.text);
            p->models[i] = model;
        }
        *found = p->models[i];
        return true;
    }
    return true;
}

static bool refuse_name(struct predictor *p, struct cell name, struct prediction *prediction)
{
    char text[80];
    snprintf(text, sizeof text, "%.*s", name.length, name.text);
    int nearest = name_nearest(text, p->model_names, p->model_count);
    return predict_refuse(
        prediction,
        "model: '%s' is not a shipped model (nearest: %s), and layers, hidden are not stated", text,
        nearest < 0 ? "none" : p->model_names[nearest]);
}

bool model_has_experts(const struct model *m) { return model_first_run(m, LAYER_MOE) != NULL; }

const struct model *predict_named_model(struct predictor *p, struct cell name)
{
    struct prediction ignored = {.reason = ""};
    const struct model *found = NULL;
    return name.length && find_model(p, name, &found, &ignored) ? found : NULL;
}

// A cell of the row's that contradicts the named model.
static bool check_cell(const char *column, int64_t cell, int64_t model, const char *name,
                       struct prediction *prediction)
{
    if (cell == NOT_STATED || cell == model) return true;
    return predict_refuse(prediction, "%s %lld: the model %s has %lld", column, (long long)cell,
                          name, (long long)model);
}

static bool check_cells(const struct run_row *row, const struct model *m,
                        struct prediction *prediction)
{
    static const struct expert_shape none = {0};
    const struct shape *s = &m->shape;
    const struct layer_run *mixture = model_first_run(m, LAYER_MOE);
    const struct expert_shape *e = mixture ? &mixture->experts : &none;
    int blocks = m->layer_count - 2;
    return check_cell("layers", row->layers, blocks, m->name, prediction) &&
           check_cell("hidden", row->hidden, s->hidden, m->name, prediction) &&
           check_cell("heads", row->heads, s->heads, m->name, prediction) &&
           check_cell("kv_heads", row->kv_heads, s->kv_heads, m->name, prediction) &&
           check_cell("experts", row->experts, e->experts, m->name, prediction) &&
           check_cell("top_k", row->top_k, e->top_k, m->name, prediction) &&
           check_cell("expert_ffn", row->expert_ffn, e->ffn, m->name, prediction) &&
           check_cell("shared_ffn", row->shared_ffn, e->shared_ffn, m->name, prediction);
}

// The named model, with the row's imbalance in place of its own.
static bool take_model(struct predictor *p, const struct run_row *row, const struct model *m,
                       struct prediction *prediction)
{
    if (!check_cells(row, m, prediction)) return false;
    int last = m->run_count - 1;
    if (!m->has_shape || last < 2 || m->runs[0].kind != LAYER_EMBEDDING ||
        m->runs[last].kind != LAYER_HEAD || model_has_towers(m))
        return predict_refuse(
            prediction, "model: %s does not lead from an embedding through its layers to a head",
            m->name);
    p->problem.model = *m;
    if (isnan(row->imbalance) || !model_has_experts(m)) return true;
    p->problem.model.runs = TAKE_COPY(p->scratch, m->runs, m->run_count);
    for (int i = 0; i < m->run_count; i++)
        p->problem.model.runs[i].experts.imbalance = row->imbalance;
    return true;
}

// ---- by columns

// A GPT's layers from its number of parameters, 12 h^2 + 13 h each, with the same whole number of
// layers on each stage.
static int64_t layers_of_size(const struct predictor *p, const struct run_row *row)
{
    double h = (double)row->hidden, pp = (double)stated(row->pp, 1);
    if (p->words.parameters <= 0 || row->hidden == NOT_STATED || row->seq == NOT_STATED ||
        row->vocab == NOT_STATED)
        return NOT_STATED;
    double layers = (p->words.parameters - (double)(row->vocab + row->seq) * h) /
                    (12 * h * h + 13 * h);
    double even = floor(layers / pp + 0.5) * pp;
    return even >= 1 && even <= 4000 ? (int64_t)even : NOT_STATED;
}

static void set_attention(struct shape *s, const struct run_row *row)
{
    s->query_rank = stated(row->query_rank, 0);
    s->kv_rank = stated(row->kv_rank, 0);
    s->rotary_width = stated(row->rotary_width, 0);
    s->value_width = stated(row->value_width, 0);
}

static void set_plain_shape(struct predictor *p, const struct run_row *row)
{
    int64_t heads = stated(row->heads, row->hidden >= 64 ? row->hidden / 64 : 1);
    p->problem.model.shape = (struct shape){
        .hidden = row->hidden,
        .ffn = stated(row->ffn, 4 * row->hidden),
        .heads = heads,
        .kv_heads = stated(row->kv_heads, heads),
        .head_width = stated(row->head_width, row->hidden >= heads ? row->hidden / heads : 1),
        .vocabulary = stated(row->vocab, 50257),
        .vocabulary_multiple = row->vocab == NOT_STATED || row->tp > 1
                                   ? 128
                                   : 0, // as Megatron pads it for tensor ranks
        .positions = row->positions,
        .gated_ffn = row->gated,
        .rms_norm = row->rms_norm,
        .qkv_bias = row->bias,
        .linear_bias = row->bias,
        .dropout = row->dropout,
        .tied_embeddings = row->tied,
    };
    set_attention(&p->problem.model.shape, row);
}

// Blocks, or dense blocks followed by mixtures of experts.
static bool set_runs(struct predictor *p, const struct run_row *row, int64_t layers,
                     struct prediction *prediction)
{
    int64_t dense = row->experts == NOT_STATED ? layers : stated(row->dense_layers, 0);
    int count = 1;
    if (row->experts != NOT_STATED && (row->top_k == NOT_STATED || row->expert_ffn == NOT_STATED))
        return predict_refuse(prediction, "experts %lld: %s not stated", (long long)row->experts,
                              row->top_k == NOT_STATED ? "top_k" : "expert_ffn");
    if (dense > layers)
        return predict_refuse(prediction, "dense_layers %lld: the model has %lld layers",
                              (long long)dense, (long long)layers);
    p->runs[0] = (struct layer_run){.name = "embedding", .kind = LAYER_EMBEDDING, .count = 1};
    if (dense)
        p->runs[count++] = (struct layer_run){
            .name = "block", .kind = LAYER_BLOCK, .count = (int)dense, .recomputable = true};
    if (dense < layers)
        p->runs[count++] = (struct layer_run){
            .name = "mixture",
            .kind = LAYER_MOE,
            .count = (int)(layers - dense),
            .recomputable = true,
            .experts = {.experts = row->experts,
                        .top_k = row->top_k,
                        .ffn = row->expert_ffn,
                        .shared_ffn = stated(row->shared_ffn, 0),
                        .imbalance = isnan(row->imbalance) ? 1 : row->imbalance}};
    p->runs[count++] = (struct layer_run){.name = "head", .kind = LAYER_HEAD, .count = 1};
    p->problem.model.run_count = count;
    p->problem.model.layer_count = (int)layers + 2;
    return true;
}

static bool find_layers(struct predictor *p, const struct run_row *row,
                        struct prediction *prediction)
{
    const struct model *named = NULL;
    p->problem.model = (struct model){.name = "row", .has_shape = true, .runs = p->runs};
    if (row->model.length && !find_model(p, row->model, &named, prediction)) return false;
    if (row->seq == NOT_STATED) return predict_refuse(prediction, "seq not stated");
    if (named) return take_model(p, row, named, prediction);
    int64_t layers = row->layers == NOT_STATED ? layers_of_size(p, row) : row->layers;
    bool missing = layers == NOT_STATED || row->hidden == NOT_STATED;
    if (missing && row->model.length) return refuse_name(p, row->model, prediction);
    if (missing)
        return predict_refuse(prediction, "%s not stated",
                              layers == NOT_STATED ? "layers" : "hidden");
    set_plain_shape(p, row);
    return set_runs(p, row, layers, prediction);
}

// Documents that are packed into a sequence: a token looks back within its own. Of lengths that
// differ, the mean over tokens has the same score cells.
static void pack_documents(struct layer_run *run, int64_t tokens)
{
    if (run->linear || run->no_attention || run->bidirectional ||
        (run->window && run->window <= tokens))
        return;
    run->window = 0;
    if (!run->chunk || run->chunk > tokens) run->chunk = tokens;
}

// Adapters on matrices of frozen blocks, between a frozen embedding and a frozen head.
static bool adapt(struct layer_run *run, const struct shape *shape, const struct run_row *row,
                  struct prediction *prediction, struct arena *arena)
{
    bool ends = run->kind == LAYER_EMBEDDING || run->kind == LAYER_HEAD;
    if (!ends && run->kind != LAYER_BLOCK && run->kind != LAYER_MOE)
        return predict_refuse(prediction, "lora_rank: expected a model of blocks and mixtures");
    run->frozen = true;
    if (ends) return true;
    run->adapter_rank = (int)row->lora_rank;
    run->adapter_dropout = stated(row->lora_dropout, 0);
    run->weight_bits = (int)stated(row->frozen_bits, 0);
    const char *words = cell_copy(row->lora_modules, arena), *nearest;
    const char *unknown = adapters_unknown_word(words, &nearest, arena);
    if (unknown)
        return predict_refuse(
            prediction,
            "lora_modules: expected names of products, found '%.40s'; the nearest is %s", unknown,
            nearest);
    adapters_by_words(words, shape, run->adapter_modules);
    if (run->kind == LAYER_MOE && !adapters_spare_ffn(run->adapter_modules))
        return predict_refuse(prediction, "lora_modules: expected products of attention alone "
                                          "(q_proj v_proj) of a mixture of experts");
    return true;
}

bool predict_set_model(struct predictor *p, const struct run_row *row,
                       struct prediction *prediction)
{
    struct model *m = &p->problem.model;
    int64_t packed = row->document_tokens, rank = stated(row->lora_rank, 0);
    bool shorter = packed != NOT_STATED && packed < row->seq;
    if (!find_layers(p, row, prediction)) return false;
    if ((row->lora_modules.length || stated(row->lora_dropout, 0)) && rank == 0)
        return predict_refuse(prediction, "%s: expected a lora_rank above 0 with it",
                              row->lora_modules.length ? "lora_modules" : "lora_dropout");
    if (!shorter && rank == 0) return true;
    if (m->runs != p->runs) m->runs = TAKE_COPY(p->scratch, m->runs, m->run_count);
    for (int i = 0; i < m->run_count; i++) {
        bool ends = m->runs[i].kind == LAYER_EMBEDDING || m->runs[i].kind == LAYER_HEAD;
        if (shorter && !ends) pack_documents(&m->runs[i], packed);
        if (rank > 0 && !adapt(&m->runs[i], &m->shape, row, prediction, p->scratch)) return false;
    }
    return true;
}
