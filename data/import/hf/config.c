// A Hugging Face config as a model: the defaults of its class, the keys of the file, and the model
// built from them.
#include "data/import/hf/config.h"

#include <string.h>

#include "data/import/hf/internal.h"
#include "data/import/import.h"
#include "data/import/text.h"

// ---- what cannot be imported

static enum status refuse_experts(const struct hf_model *x, struct error *err)
{
    static const char *const keys[] = {"num_local_experts", "num_experts",
                                       "n_routed_experts",  "moe_intermediate_size",
                                       "moe_num_experts",   "num_experts_per_tok"};
    for (size_t i = 0; i < ARRAY_LENGTH(keys) && !x->class->experts.experts; i++) {
        int64_t experts = 0;
        TRY(hf_count(x, keys[i], &experts, err));
        if (experts > 0)
            return json_refuse(x->root, err, "key \"%s\": a %s with experts cannot be imported",
                               keys[i], x->class->name);
    }
    return OK;
}

// In a model of several modalities, the text has its own config.
static enum status refuse_modalities(const struct hf_model *x, const char *type, struct error *err)
{
    static const char *const keys[] = {"vision_config", "audio_config"};
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++)
        if (hf_has(x, keys[i]) && !hf_has_tower(type) && !x->class->flat)
            return json_refuse(
                x->root, err,
                "key \"%s\": multimodal models cannot be imported, except for their text_config",
                keys[i]);
    return OK;
}

static enum status refuse_encoders(const struct hf_model *x, struct error *err)
{
    bool both = x->class->both, encoder_decoder = both, cross_attention = false;
    TRY(hf_flag(x, "is_encoder_decoder", &encoder_decoder, err));
    TRY(hf_flag(x, "add_cross_attention", &cross_attention, err));
    if (cross_attention || encoder_decoder != both)
        return json_refuse(x->root, err, "a %s %s cannot be imported", x->class->name,
                           both ? "without its decoder" : "with an encoder beside it");
    return OK;
}

// ---- keys of the file

static enum status read_sizes(struct hf_model *x, struct error *err)
{
    const struct hf_model whole = {.root = x->whole, .arena = x->arena, .asked = x->asked};
    struct shape *s = &x->shape;
    const char *const keys[] = {
        "hidden_size",         "intermediate_size", "num_hidden_layers", "num_attention_heads",
        "num_key_value_heads", "vocab_size",        "head_dim",          "sliding_window"};
    int64_t *const to[] = {&s->hidden,   &s->ffn,        &x->layer_count, &s->heads,
                           &s->kv_heads, &s->vocabulary, &s->head_width,  &x->window};
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++)
        if (!hf_is_list(x, keys[i])) TRY(hf_count(x, keys[i], to[i], err));
    if (x->class->fixed_head_width) s->head_width = 0;
    if (x->class->experts_as_ffn) x->experts.ffn = s->ffn;
    TRY(hf_read_ties(x, &whole, err));
    return HF_DROPOUT(x, err, {"attention_dropout", 0});
}

// Of classes whose defaults say how experts are chosen; one group is none.
static enum status read_router(struct hf_model *x, struct error *err)
{
    struct expert_shape *e = &x->experts;
    bool normed = !e->router_all;
    struct json_field fields[] = {
        FIELD_NUMBER("routed_scaling_factor", OPTIONAL, &e->router_scale, 0, 1e6)};
    if (e->router_score != ROUTER_SIGMOID && !e->router_all) return OK;
    TRY(hf_flag(x, "norm_topk_prob", &normed, err));
    TRY(hf_count(x, "n_group", &e->router_groups, err));
    TRY(hf_count(x, "topk_group", &e->router_top_groups, err));
    TRY(HF_FIELDS(x, fields, err));
    if (e->router_score == ROUTER_SOFTMAX) e->router_all = !normed;
    if (e->router_groups < 2 || router_fault(e)) e->router_groups = e->router_top_groups = 0;
    if (e->router_scale == 1) e->router_scale = 0;
    return OK;
}

static enum status read_experts(struct hf_model *x, struct error *err)
{
    struct expert_shape *e = &x->experts;
    const char *const keys[] = {"num_local_experts", "num_experts", "n_routed_experts",
                                "num_experts_per_tok", "moe_intermediate_size"};
    int64_t *const to[] = {&e->experts, &e->experts, &e->experts, &e->top_k, &e->ffn};
    if (!e->experts) return OK;
    e->imbalance = 1;
    for (size_t i = 0; i < ARRAY_LENGTH(keys) - x->class->experts_as_ffn; i++)
        TRY(hf_count(x, keys[i], to[i], err));
    if (!e->experts && x->class->maybe_dense) return OK;
    if (e->top_k < 1 || e->experts < 1)
        return json_refuse(x->root, err,
                           "key \"%s\": expected at least 1: this class has no default",
                           e->top_k < 1 ? "num_experts_per_tok" : "num_experts");
    return read_router(x, err);
}

static enum status finish_heads(struct hf_model *x, struct error *err)
{
    struct shape *s = &x->shape;
    if (!s->kv_heads) s->kv_heads = s->heads;
    if (s->head_width) return OK;
    if (!s->heads || (s->hidden % s->heads && !x->class->floored_heads))
        return json_refuse(x->root, err,
                           "hidden size: expected a multiple of the %lld heads, found %lld",
                           (long long)s->heads, (long long)s->hidden);
    s->head_width = s->hidden / s->heads;
    return OK;
}

// intermediate_size of each layer.
static enum status read_widths(struct hf_model *x, struct error *err)
{
    int64_t *widths;
    if (!hf_is_list(x, "intermediate_size")) return OK;
    TRY(hf_first_numbers(x, "intermediate_size", HF_SIZE_MAX, &widths, err));
    x->shape.ffn = widths[0];
    for (int64_t i = 1; i < x->layer_count; i++)
        x->layers[i].ffn = widths[i] == widths[0] ? 0 : widths[i];
    return OK;
}

enum status hf_read_class(struct hf_model *x, struct error *err)
{
    const struct hf_class *class = x->class;
    x->shape = class->shape;
    x->experts = class->experts;
    x->layer_count = class->layers, x->window = class->window, x->front = class->front;
    TRY(read_sizes(x, err));
    TRY(read_experts(x, err));
    if (class->shared_width) TRY(hf_count(x, class->shared_width, &x->experts.shared_ffn, err));
    if (class->read) TRY(class->read(x, err));
    if (class->then) TRY(class->then(x, err));
    if (class->shared.key) TRY(hf_read_shared(x, class->shared.key, class->shared.usual, err));
    if (class->sinks) x->layer_values = x->shape.heads;
    TRY(finish_heads(x, err));
    TRY(hf_read_facts(x, err));
    if (x->layer_count < 1 || x->layer_count > LAYERS_MAX - 2)
        return json_refuse(x->root, err, "expected 1 to %d layers, found %lld", LAYERS_MAX - 2,
                           (long long)x->layer_count);
    x->layers = TAKE(x->arena, x->layer_count, struct hf_layer);
    if (class->arrange) TRY(class->arrange(x, err));
    return read_widths(x, err);
}

// ---- the model

static bool same_layer(const struct hf_layer *a, const struct hf_layer *b)
{
    return a->mixture == b->mixture && a->cross == b->cross &&
           a->bidirectional == b->bidirectional && a->linear == b->linear &&
           a->window == b->window && a->chunked == b->chunked && a->beside == b->beside &&
           a->no_attention == b->no_attention && a->ffn == b->ffn && a->kv_heads == b->kv_heads &&
           a->heads == b->heads && a->head_width == b->head_width &&
           a->value_width == b->value_width && a->keys_as_values == b->keys_as_values &&
           a->keys_reused == b->keys_reused && a->choice_reused == b->choice_reused &&
           a->unrotated == b->unrotated && a->products == b->products && a->values == b->values &&
           a->no_feed_forward == b->no_feed_forward;
}

// What distinguishes layers of this model.
struct differences {
    bool any, windows, mixtures;
};

static struct differences differences_of(const struct hf_model *x)
{
    struct differences d = {false, false, false};
    for (int64_t i = 1; i < x->layer_count; i++) {
        d.any = d.any || !same_layer(&x->layers[i], &x->layers[0]);
        d.windows = d.windows || x->layers[i].window != x->layers[0].window ||
                    x->layers[i].linear != x->layers[0].linear;
        d.mixtures = d.mixtures || x->layers[i].mixture != x->layers[0].mixture;
    }
    return d;
}

static const char *kind_of(const struct hf_model *x, const struct hf_layer *l)
{
    struct differences d = differences_of(x);
    if (!d.any) return "block";
    if (l->cross) return "decoder";
    if (l->no_attention) return l->mixture ? "mixture" : "ffn";
    if (l->no_feed_forward) return l->linear ? "linear" : "attention";
    if (l->bidirectional && !d.windows) return "encoder";
    const char *part = l->mixture ? "mixture" : "dense", *reach = l->linear   ? "linear"
                                                                  : l->window ? "local"
                                                                              : "global";
    if (!d.windows) return part;
    return d.mixtures ? arena_print(x->arena, "%s-%s", reach, part) : reach;
}

// From the second run of its kind on, with a number.
static const char *name_run(const struct hf_model *x, const struct hf_layer *l, int64_t named[64])
{
    const char *kind = kind_of(x, l);
    int64_t number =
        ++named[(l->no_attention ? 32 : 0) + (l->no_feed_forward ? 16 : 0) + (l->linear ? 8 : 0) +
                (l->cross ? 4 : 0) + (l->mixture ? 2 : 0) + (l->window ? 1 : 0)];
    return number == 1 ? kind : arena_print(x->arena, "%s-%lld", kind, (long long)number);
}

// The model's shape with a layer's own widths, without what only the two ends have.
static const struct shape *own_shape(const struct hf_model *x, const struct hf_layer *l)
{
    struct shape *own = TAKE(x->arena, 1, struct shape);
    *own = x->shape;
    if (l->ffn) own->ffn = l->ffn;
    if (l->kv_heads) own->kv_heads = l->kv_heads;
    if (l->heads) own->heads = l->heads;
    if (l->head_width) own->head_width = l->head_width;
    if (l->value_width) own->value_width = l->value_width;
    if (own->value_width == own->head_width && !own->kv_rank) own->value_width = 0;
    own->keys_as_values = l->keys_as_values, own->keys_reused = l->keys_reused;
    if (l->unrotated) own->rotary_width = 0;
    if (l->choice_reused) own->index_heads = own->index_width = own->index_top_k = 0;
    own->vocabulary = own->embedding_width = own->vocabulary_multiple = 0;
    own->tied_embeddings = own->no_final_norm = false;
    return own;
}

static struct layer_run run_of_layer(const struct hf_model *x, const struct hf_layer *l)
{
    struct layer_run r = {.kind = l->mixture ? LAYER_MOE : LAYER_BLOCK, .recomputable = true};
    if (l->mixture) r.experts = x->experts;
    *(l->chunked ? &r.chunk : &r.window) = l->window;
    r.shared_weights = x->class->shared_layers;
    r.linear = l->linear, r.bidirectional = l->bidirectional, r.cross_attention = l->cross;
    if (l->ffn || l->kv_heads || l->heads || l->head_width || l->value_width || l->keys_as_values ||
        l->keys_reused || l->choice_reused || l->unrotated)
        r.shape = own_shape(x, l);
    r.linear_beside = l->beside;
    r.no_attention = l->no_attention, r.no_feed_forward = l->no_feed_forward;
    r.more_products = x->layer_products + l->products +
                      (l->linear || l->beside ? x->linear_products : 0) +
                      (l->mixture ? x->mixture_products : 0);
    r.more_values = r.more_products + x->layer_values + l->values +
                    (l->mixture ? x->mixture_values : 0) +
                    (l->linear || l->beside ? x->linear_values : 0);
    return r;
}

struct layer_run hf_mtp_run(const struct hf_model *x, int64_t depth)
{
    struct hf_layer last = x->layers[x->layer_count - 1];
    if (last.choice_reused) last.choice_reused = false, last.window = 0; // it finds its own keys
    if (x->mtp_whole) last = (struct hf_layer){.mixture = true};
    struct layer_run r = run_of_layer(x, &last);
    r.name = "mtp", r.mtp = true, r.count = (int)depth;
    r.more_values = r.more_products = x->mtp_whole ? x->mixture_products : 0; // others have none
    return r;
}

static void set_runs(struct model *m, const struct hf_model *x, const struct hf_tower *tower)
{
    int64_t named[64] = {0};
    m->runs = TAKE(x->arena, x->layer_count + 3 + tower->count, struct layer_run);
    for (int i = 0; i < tower->count; i++) {
        m->runs[m->run_count++] = tower->runs[i];
        m->layer_count += tower->runs[i].count;
    }
    m->runs[m->run_count++] = (struct layer_run){.name = "embedding",
                                                 .kind = LAYER_EMBEDDING,
                                                 .count = 1,
                                                 .more_values = x->embedding_values};
    for (int64_t i = 0, end; i < x->layer_count; i = end) {
        struct layer_run *run = &m->runs[m->run_count++];
        for (end = i; end < x->layer_count && same_layer(&x->layers[i], &x->layers[end]);) end++;
        *run = run_of_layer(x, &x->layers[i]);
        run->name = name_run(x, &x->layers[i], named), run->count = (int)(end - i);
    }
    if (x->depth > 0) m->runs[m->run_count++] = hf_mtp_run(x, x->depth);
    if (!x->built)
        m->runs[m->run_count++] = (struct layer_run){
            .name = "head", .kind = LAYER_HEAD, .count = 1, .more_values = x->head_values};
    m->layer_count += (int)(x->layer_count + x->depth) + 1 + !x->built;
    m->shape = x->shape;
    if (x->built) m->shape.tied_embeddings = false, m->shape.no_final_norm = true;
    if (x->depth > 0) m->shape.mtp_loss_scale = HF_MTP_LOSS_SCALE;
}

static const char *last_part(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

// A refusal after the class is found says which, and which keys it does not have: readers that the
// refusal kept from theirs look them up in a config of defaults.
static enum status say_class(const struct hf_model *x, enum status status, struct error *err)
{
    const char *strange = NULL;
    size_t length = strlen(err->text);
    struct error ignored = {OK, ""};
    struct json none;
    struct hf_model usual = *x;
    if (status != BAD_INPUT || !x->class || strstr(err->text, "--strict")) return status;
    usual.root = usual.whole = &none;
    if (json_parse(&none, "", "{}", 2, x->arena, &ignored) == OK) hf_read_class(&usual, &ignored);
    if (hf_strange_keys(x, &strange, &ignored) != OK) strange = NULL;
    snprintf(err->text + length, sizeof err->text - length, " (read as %s%s%.200s)", x->class->name,
             strange ? ", which has no key " : "", strange ? strange : "");
    return status;
}

static enum status build(struct model *m, struct hf_model *x, struct hf_model *whole,
                         const char *model_type, int mtp, struct error *err)
{
    struct hf_tower tower;
    TRY(refuse_modalities(x, model_type, err));
    TRY(refuse_experts(x, err));
    TRY(refuse_encoders(x, err));
    TRY(hf_read_class(x, err));
    if (mtp >= 0) x->depth = mtp;
    if (x->depth && x->words && !x->mtp_whole)
        return refuse(err,
                      "--mtp: expected 0, found %lld: further tokens of layers of one part are "
                      "read of nemotron_h alone, with mtp_hybrid_override_pattern *E",
                      (long long)x->depth);
    if (x->built) TRY(hf_read_other_head(x, err));
    if (x->sorts_too) x->head_values += (x->shape.hidden + 1) * (x->shape.hidden + 2);
    // A text of its own code beside a tower has no text_config.
    if (x->by_architecture && x->root == x->whole) model_type = x->class->name;
    TRY(hf_read_tower(whole, model_type, x->shape.hidden, &tower, err));
    set_runs(m, x, &tower);
    TRY(hf_say_keys(x, m->document.path, err));
    hf_tell_left_out(x, x->whole, &tower, m);
    return model_check(m, err);
}

enum status model_import_hf(struct model *m, const char *path, const char *name, int mtp,
                            const char *output, struct said *said, struct arena *arena,
                            struct error *err)
{
    const char *text, *model_type = NULL, *name_or_path = NULL, *last;
    size_t size;
    struct json root, part = {0};
    struct document config;
    struct hf_asked *asked = TAKE(arena, 1, struct hf_asked);
    struct hf_model x = {.root = &root, .whole = &root, .arena = arena, .asked = asked}, whole = x;
    asked->said = said;
    TRY(import_check_size(path, err));
    TRY(import_read(&config, path, &text, &size, arena, err));
    *m = (struct model){.document.path = config.path, .has_shape = true};
    TRY(hf_find_printed(&text, &size, config.path, said, err));
    TRY(text_json(&root, config.path, text, size, arena, err));
    TRY(hf_text(&x, "_name_or_path", &name_or_path, err));
    TRY(hf_text(&x, "model_type", &model_type, err));
    bool images = hf_is_of_images(model_type), sound = hf_is_of_sound(model_type);
    if (!images && !sound) TRY(hf_choose_class(&x, &part, &model_type, err));
    last = last_part(name_or_path);
    m->name = name ? name : last && *last ? last : model_type;
    TRY(images  ? hf_build_images(m, &x, model_type, err)
        : sound ? hf_build_sound(m, &x, model_type, err)
                : say_class(&x, build(m, &x, &whole, model_type, mtp, err), err));
    m->document.sources = TAKE(arena, 1, struct source);
    m->document.sources[0] = source_of("config", &config, output, arena);
    m->document.source_count = 1;
    return OK;
}
