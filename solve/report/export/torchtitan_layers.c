// Layers of torchtitan 0.3 in classes of their own, beside torchtitan_python.c's: on its layers of
// Qwen3. What names modules' arguments differently at 0.3.0 and b5bcd76c is not overridden; their
// forward functions are.
#include <inttypes.h>

#include "solve/report/export/internal.h"

static bool has_masks(const struct model *m)
{
    bool any = false;
    for (int i = 0; i < m->run_count; i++) any |= m->runs[i].window || m->runs[i].chunk;
    return any;
}

static bool is_whole(const struct model *m) { return m->shape.qk_norm == QK_NORM_WHOLE; }

// A part of torchtitan_layers.py; NAME, where it is not NULL, stands for a number in it.
extern const char titan_layers[];
static void put_part(const struct export *e, const char *part, const char *name, double number)
{
    const char *values[] = {name, arena_print(e->out->arena, "%.9g", number), NULL};
    text_put_part(e->out, titan_layers, part, values);
}

void titan_put(const struct export *e, const char *part) { put_part(e, part, NULL, 0); }

void titan_put_class_imports(const struct export *e)
{
    const struct model *m = &e->problem->model;
    titan_put(e, "imports");
    if (titan_is_plain(m)) titan_put_plain_imports(e);
    if (is_whole(m)) titan_put(e, "whole_imports");
}

// ---- classes

void titan_put_class(const struct export *e, const char *name, const char *base, const char *does,
                     const char *more)
{
    text_put(e->out,
             "\n\nclass %s(%s):  # %s\n    @dataclass(kw_only=True, slots=True)\n"
             "    class Config(%s.Config):\n        %s\n",
             name, base, does, base, more);
}

static void put_block(const struct export *e, enum norms_place norms)
{
    static const char *const sums[] = {
        [NORMS_BEFORE] =
            "        x = x + self.attention(self.attention_norm(x), masks, positions)\n"
            "        return x + part(self.ffn_norm(x))\n",
        [NORMS_BEHIND] =
            "        x = x + self.attention_norm(self.attention(x, masks, positions))\n"
            "        return x + self.ffn_norm(part(x))\n",
        [NORMS_AROUND] = "        own = self.attention(self.attention_norm(x), masks, positions)\n"
                         "        x = x + self.behind_attention(own)\n"
                         "        return x + self.behind_ffn(part(self.ffn_norm(x)))\n"};
    bool around = norms == NORMS_AROUND;
    titan_put_class(e, "OwnBlock", "family.Qwen3TransformerBlock", "a layer",
                    around ? "mask: tuple | None\n        behind_attention: RMSNorm.Config\n"
                             "        behind_ffn: RMSNorm.Config"
                           : "mask: tuple | None");
    text_put(e->out,
             "\n    def __init__(self, config):\n        super().__init__(config)\n"
             "        of = config\n        self.mask = of.mask\n%s\n"
             "    def forward(self, x, attention_masks, positions=None):\n"
             "        masks = attention_masks[self.mask]\n"
             "        part = self.moe if self.moe_enabled else self.feed_forward\n%s",
             around ? "        self.behind_attention = of.behind_attention.build()\n"
                      "        self.behind_ffn = of.behind_ffn.build()\n"
                    : "",
             sums[norms]);
}

static void put_model_class(const struct export *e, enum norms_place norms)
{
    bool plain = titan_is_plain(&e->problem->model), whole = is_whole(&e->problem->model);
    titan_put(e, "model");
    if (plain) text_put(e->out, "\n");
    if (plain) titan_put_plain_ends(e);
    titan_put(e, "masks");
    if (whole) titan_put(e, "whole_share");
    if (norms == NORMS_AROUND) titan_put(e, "around_share");
    if (plain) titan_put_plain_shares(e);
    else if (norms != NORMS_AROUND && !whole) text_put(e->out, "    pass\n");
    titan_put(e, "own");
}

static const struct known_model nothing = {.shipped = NULL};

static const struct known_model *known_of(const struct export *e)
{
    const struct known_model *known = known_model(&e->problem->model, e->out->arena);
    return known ? known : &nothing;
}

void titan_put_classes(const struct export *e)
{
    const struct known_model *known = known_of(e);
    bool whole = is_whole(&e->problem->model);
    if (whole) titan_put(e, "whole_norm");
    if (known->gemma) titan_put(e, "gemma");
    if (known->gemma && known->logit_cap > 0)
        put_part(e, "logit_cap", "LOGIT_CAP", known->logit_cap);
    if (known->gemma && known->score_cap > 0)
        put_part(e, "score_cap", "SCORE_CAP", known->score_cap);
    if (known->gemma && known->window_base > 0) titan_put(e, "window_base");
    if (known->llama4 && known->unit_norms)
        put_part(e, "unit_norms", "EPSILON", e->problem->model.shape.norm_epsilon);
    if (known->llama4) titan_put(e, "llama4");
    if (whole || known->query_width > 0)
        titan_put(e, whole ? "whole_attention" : "scaled_attention");
    if (titan_is_plain(&e->problem->model)) titan_put_plain_classes(e, known);
    else put_block(e, known->norms);
    put_model_class(e, known->norms);
}

// ---- their configurations

// The first layer whose mask and those after it are the first ones' again; their number, if none.
static int period_of(const int64_t *masks, int count)
{
    int period = 1, i = 1;
    for (; i < count; i++)
        if (masks[i] != masks[i - period]) period = i + 1;
    return period;
}

// Whether a layer has a mask says its sign: a chunk's is negative.
static void put_masks(const struct export *e)
{
    const struct model *m = &e->problem->model;
    int64_t *masks = TAKE(e->out->arena, m->layer_count, int64_t);
    int count = 0;
    for (int i = 0; i < m->run_count; i++)
        for (int k = 0; k < m->runs[i].count; k++)
            if (m->runs[i].kind == LAYER_BLOCK || m->runs[i].kind == LAYER_MOE)
                masks[count++] = m->runs[i].window ? m->runs[i].window : -m->runs[i].chunk;
    int period = period_of(masks, count);
    text_put(e->out, "    masks = [\n");
    for (int i = 0, next; i < period; i = next) {
        for (next = i; next < period && masks[next] == masks[i];) next++;
        if (masks[i])
            text_put(e->out, "        *[(\"%s\", %" PRId64 ")] * %d,\n",
                     masks[i] > 0 ? "window" : "chunk", masks[i] > 0 ? masks[i] : -masks[i],
                     next - i);
        else text_put(e->out, "        *[None] * %d,\n", next - i);
    }
    text_put(e->out, "    ] * %d  # and no more than there are layers\n",
             (count + period - 1) / period);
}

static void put_attention_of_layer(const struct export *e, const struct known_model *known)
{
    const struct shape *s = &e->problem->model.shape;
    if (is_whole(&e->problem->model))
        text_put(e->out,
                 "        norm = attention.qk_norm\n"
                 "        attention.qk_norm = own(norm, WholeNorm, normalized_shape=(%" PRId64
                 ", %" PRId64 "))\n"
                 "        attention = own(attention, OwnAttention, key_norm=own(\n"
                 "            norm, WholeNorm, normalized_shape=(%" PRId64 ", %" PRId64 ")))\n",
                 s->heads, s->head_width, s->kv_heads, s->head_width);
    if (known->query_width > 0)
        text_put(e->out, "        attention = own(attention, OwnAttention, scale=%.9g**-0.5)\n",
                 known->query_width);
    if (known->gemma && s->qk_norm == QK_NORM_HEAD)
        text_put(e->out, "        attention.qk_norm = one(attention.qk_norm)\n");
    if (known->score_cap > 0)
        text_put(e->out, "        attention.inner_attention = own(attention.inner_attention, "
                         "CappedAttention)\n");
    if (known->window_base > 0)
        text_put(
            e->out,
            "        attention.rope = own(attention.rope, SlowRoPE, slower=1 if mask else %.9g)\n"
            "        attention.rope.theta = %.9g if mask else %.9g\n",
            s->rotary_factor > 0 ? s->rotary_factor : 1, known->window_base, s->rotary_base);
    if (known->llama4)
        text_put(e->out,
                 "        attention.rope = own(attention.rope, %s if mask else FarRoPE)\n"
                 "        if layer.moe:\n"
                 "            router, experts = layer.moe.router, layer.moe.routed_experts\n"
                 "            router.score_func, router.route_norm = \"sigmoid\", False\n"
                 "            layer.moe.routed_experts = own(experts, EarlyExperts)\n",
                 known->unit_norms ? "UnitRoPE" : "ComplexRoPE");
}

void titan_put_own_layers(const struct export *e)
{
    const struct known_model *known = known_of(e);
    if (has_masks(&e->problem->model)) put_masks(e);
    else text_put(e->out, "    masks = [None] * len(model.layers)\n");
    if (known->gemma)
        text_put(
            e->out,
            "\n    def one(norm):\n"
            "        return own(norm, OneNorm, param_init={\"weight\": torch.nn.init.zeros_})\n\n"
            "    model.norm = one(model.norm)\n"
            "    model.tok_embeddings = own(model.tok_embeddings, WideEmbedding)\n");
    if (known->logit_cap > 0)
        text_put(e->out, "    model.lm_head = own(model.lm_head, CappedLinear)\n");
    if (titan_is_plain(&e->problem->model)) titan_put_plain_model(e, known);
    text_put(e->out, "    for i, (layer, mask) in enumerate(zip(model.layers, masks)):\n"
                     "        attention, more = layer.attention, {}\n");
    put_attention_of_layer(e, known);
    if (titan_is_plain(&e->problem->model)) titan_put_plain_layer(e, known);
    text_put(e->out, "        layer.attention = attention\n");
    if (known->gemma)
        text_put(e->out, "        layer.feed_forward = own(layer.feed_forward, GeluFeedForward)\n"
                         "        layer.attention_norm = one(layer.attention_norm)\n"
                         "        layer.ffn_norm = one(layer.ffn_norm)\n");
    if (known->norms == NORMS_AROUND)
        text_put(e->out, "        more = {\"behind_attention\": one(layer.attention_norm),\n"
                         "                \"behind_ffn\": one(layer.ffn_norm)}\n");
    text_put(e->out, "        model.layers[i] = own(layer, OwnBlock, mask=mask, **more)\n"
                     "    model = own(model, OwnModel)\n");
}

bool titan_has_own_positions(const struct export *e) { return known_of(e)->window_base > 0; }
