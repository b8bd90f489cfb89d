// Layers of torchtitan 0.3 in classes of their own, beside torchtitan_python.c's: on its layers of
// Qwen3. What names modules' arguments differently at 0.3.0 and b5bcd76c is not overridden; their
// forward functions are.
#include <inttypes.h>

#include "solve/report/export/torchtitan_layers.h"

static bool has_masks(const struct model *m)
{
    bool any = false;
    for (int i = 0; i < m->run_count; i++) any |= m->runs[i].window || m->runs[i].chunk;
    return any;
}

static bool is_whole(const struct model *m) { return m->shape.qk_norm == QK_NORM_WHOLE; }

void titan_put_class_imports(const struct export *e)
{
    const struct model *m = &e->problem->model;
    text_put(e->out,
             "from torchtitan.models.common.attention import (\n    FlexAttention, GQAttention, "
             "get_causal_mask_mod,\n    get_efficient_causal_mask_mod_for_packed_document, "
             "get_fixed_block_mask_mod,\n    get_sliding_window_mask_mod)\n"
             "from torchtitan.models.common.embedding import Embedding\n"
             "from torchtitan.models.common.feed_forward import FeedForward\n"
             "from torchtitan.models.common.linear import Linear\n"
             "from torchtitan.models.common.moe import RoutedExperts\n"
             "from torchtitan.models.common.rope import ComplexRoPE\n");
    if (titan_is_plain(m)) titan_put_plain_imports(e);
    if (is_whole(m))
        text_put(e->out,
                 "from torch.distributed.tensor import DTensor, Partial, Replicate\n"
                 "from torchtitan.models.common.decoder_sharding import dense_param_placement\n"
                 "from torchtitan.protocols.sharding import LocalMapConfig\n"
                 "import spmd_types as spmd\n");
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

static void put_whole_norm(const struct export *e)
{
    titan_put_class(e, "WholeNorm", "RMSNorm", "over the heads of all tensor ranks", "pass");
    text_put(e->out,
             "\n    mesh = None\n\n    def parallelize(self, parallel_dims):\n"
             "        self.mesh = parallel_dims.get_optional_mesh(\"tp\")\n"
             "        super().parallelize(parallel_dims)\n\n"
             "    def forward(self, input):\n"
             "        weight = self.weight\n"
             "        if isinstance(weight, DTensor):\n            weight = weight.to_local()\n"
             "        x = input.float()\n"
             "        squares = x.pow(2).sum((-2, -1), keepdim=True)\n"
             "        if self.mesh is not None:\n"
             "            squares = DTensor.from_local(squares, self.mesh, [Partial()], "
             "run_check=False)\n"
             "            squares = squares.redistribute(placements=[Replicate()])\n"
             "            squares = squares.to_local(grad_placements=[Partial()])\n"
             "        mean = squares / (self.normalized_shape[0] * self.normalized_shape[1])\n"
             "        return (x * torch.rsqrt(mean + self.eps) * weight).type_as(input)\n");
}

static void put_gemma(const struct export *e, const struct known_model *known)
{
    titan_put_class(e, "OneNorm", "RMSNorm", "its weights are beside 1", "pass");
    text_put(e->out, "\n    def forward(self, input):\n"
                     "        weight = 1 + self.weight.float()\n"
                     "        return torch.nn.functional.rms_norm(\n"
                     "            input.float(), self.normalized_shape, weight, self.eps"
                     ").type_as(input)\n");
    titan_put_class(e, "GeluFeedForward", "FeedForward", "GELU for SiLU", "pass");
    text_put(e->out, "\n    def forward(self, x):\n"
                     "        gate = torch.nn.functional.gelu(self.w1(x), approximate=\"tanh\")\n"
                     "        return self.w2(gate * self.w3(x))\n");
    titan_put_class(e, "WideEmbedding", "Embedding", "times the root of its width", "pass");
    text_put(e->out, "\n    def forward(self, input):\n"
                     "        return super().forward(input) * self.embedding_dim**0.5\n");
    if (known->logit_cap > 0) {
        titan_put_class(e, "CappedLinear", "Linear", "bounded logits", "pass");
        text_put(e->out,
                 "\n    def forward(self, input):\n"
                 "        return torch.tanh(super().forward(input) / %.9g) * %.9g\n",
                 known->logit_cap, known->logit_cap);
    }
    if (known->score_cap > 0) {
        text_put(e->out,
                 "\n\ndef capped(score, batch, head, query, key):\n"
                 "    return torch.tanh(score / %.9g) * %.9g\n",
                 known->score_cap, known->score_cap);
        titan_put_class(e, "CappedAttention", "FlexAttention", "bounded scores", "pass");
        text_put(e->out, "\n    def __init__(self, config):\n        super().__init__(config)\n"
                         "        self.forward = self.bounded\n\n"
                         "    def bounded(self, *args, **further):\n"
                         "        return super().forward(*args, score_mod=capped, **further)\n");
    }
    if (known->window_base > 0) {
        titan_put_class(e, "SlowRoPE", "CosSinRoPE", "positions divided by a number",
                        "slower: float = 1.0");
        text_put(e->out,
                 "\n    def _precompute_cache(self):\n        of = self.config\n"
                 "        length = getattr(of, \"max_seq_len\", 0) or "
                 "of.max_context_length\n"
                 "        turns = of.theta ** (-torch.arange(0, of.dim, 2).float() / of.dim)\n"
                 "        angles = torch.outer(torch.arange(length) / of.slower, turns)\n"
                 "        angles = angles.repeat(1, 2)\n"
                 "        return torch.cat((angles.cos(), angles.sin()), -1)\n");
    }
}

static void put_llama4(const struct export *e, const struct known_model *known)
{
    if (known->unit_norms) {
        titan_put_class(e, "UnitRoPE", "ComplexRoPE",
                        "turns, then makes heads as long as their width", "pass");
        text_put(e->out,
                 "\n    @staticmethod\n    def apply_rotary_emb(query, key, rope_cache):\n"
                 "        both = ComplexRoPE.apply_rotary_emb(query, key, rope_cache)\n"
                 "        return tuple(x * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + "
                 "%.9g).type_as(x)\n                     for x in both)\n",
                 e->problem->model.shape.norm_epsilon);
    }
    titan_put_class(e, "FarRoPE", "ComplexRoPE",
                    "turns nothing; queries of far positions are longer", "pass");
    text_put(e->out, "\n    def _precompute_cache(self):\n        of = self.config\n"
                     "        length = getattr(of, \"max_seq_len\", 0) or of.max_context_length\n"
                     "        far = torch.floor((torch.arange(length) + 1) / 8192)\n"
                     "        far = 1 + 0.1 * torch.log(far + 1)\n"
                     "        return far[:, None].repeat(1, of.dim // 2).to(torch.complex64)\n\n"
                     "    @staticmethod\n    def apply_rotary_emb(query, key, rope_cache):\n"
                     "        return (query * rope_cache.real[..., :1]).type_as(query), key\n");
    titan_put_class(e, "EarlyExperts", "RoutedExperts",
                    "an expert's weight multiplies what it takes", "pass");
    text_put(e->out, "\n    def __init__(self, config):\n        super().__init__(config)\n"
                     "        self.forward = self.weighted\n\n"
                     "    def weighted(self, x, scores, *rest):\n"
                     "        x = x * scores.type_as(x)  # one expert of each token\n"
                     "        return super().forward(x, torch.ones_like(scores), *rest)\n");
}

static void put_attention(const struct export *e)
{
    bool whole = is_whole(&e->problem->model);
    titan_put_class(e, "OwnAttention", "GQAttention",
                    whole ? "norms of two widths" : "its own scale",
                    whole ? "key_norm: RMSNorm.Config" : "scale: float");
    text_put(e->out,
             "\n    def __init__(self, config):\n        super().__init__(config)\n        of = "
             "config\n        %s\n",
             whole ? "self.k_norm = of.key_norm.build()" : "self.scaling = of.scale");
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
    titan_put_class(e, "OwnModel", "family.Qwen3Model", "the model",
                    "def update_from_config(self, *, config, **further):\n"
                    "            family.Qwen3Model.Config.update_from_config(self, config=config, "
                    "**further)\n"
                    "            for layer in self.layers:\n                share(layer)");
    if (titan_is_plain(&e->problem->model)) {
        text_put(e->out, "\n");
        titan_put_plain_ends(e);
    }
    text_put(e->out,
             "\n    def get_attention_masks(self, positions):\n"
             "        first = self.config.first_attention\n"
             "        causal = [get_causal_mask_mod(),\n"
             "                  get_efficient_causal_mask_mod_for_packed_document(positions)]\n"
             "        kinds = {\"window\": get_sliding_window_mask_mod, "
             "\"chunk\": get_fixed_block_mask_mod}\n"
             "        return {mask: self._create_flex_attention_mask(\n"
             "                    positions, first, causal + [kinds[mask[0]](mask[1])] if mask "
             "else causal)\n"
             "                for mask in {layer.mask for layer in self.config.layers}}\n"
             "\n\ndef share(layer):  # what each rank has of the parts that torchtitan's lack\n");
    if (is_whole(&e->problem->model))
        text_put(e->out,
                 "    attention = layer.attention\n    each = attention.qk_norm.sharding_config\n"
                 "    attention.qk_norm.sharding_config = attention.key_norm.sharding_config = "
                 "replace(\n"
                 "        each, state_shardings={\"weight\": dense_param_placement(tp=spmd.S(0))},"
                 "\n        local_map=LocalMapConfig(in_grad_placements="
                 "(each.in_dst_shardings[\"input\"],)))\n");
    if (norms == NORMS_AROUND)
        text_put(e->out, "    layer.behind_attention.sharding_config = "
                         "layer.attention_norm.sharding_config\n"
                         "    layer.behind_ffn.sharding_config = layer.ffn_norm.sharding_config\n");
    if (titan_is_plain(&e->problem->model)) titan_put_plain_shares(e);
    else if (norms != NORMS_AROUND && !is_whole(&e->problem->model)) text_put(e->out, "    pass\n");
    text_put(e->out,
             "\n\ndef own(config, kind, **more):  # what torchtitan's class has, in one of ours\n"
             "    return kind.Config(**{x.name: getattr(config, x.name) for x in fields(config)} "
             "| more)\n");
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
    if (whole) put_whole_norm(e);
    if (known->gemma) put_gemma(e, known);
    if (known->llama4) put_llama4(e, known);
    if (whole || known->query_width > 0) put_attention(e);
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
        text_put(e->out, "        attention.inner_attention = own("
                         "attention.inner_attention, CappedAttention)\n");
    if (known->window_base > 0)
        text_put(e->out,
                 "        attention.rope = own(attention.rope, SlowRoPE, "
                 "slower=1 if mask else %.9g)\n"
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
        text_put(e->out,
                 "\n    def one(norm):\n"
                 "        return own(norm, OneNorm, param_init={\"weight\": torch.nn.init.zeros_})"
                 "\n\n    model.norm = one(model.norm)\n"
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
