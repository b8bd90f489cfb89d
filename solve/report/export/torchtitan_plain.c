// Layers of torchtitan 0.3 in classes of their own, beside torchtitan_layers.c's: feed-forward
// parts without a gate, norms that take the mean off, biases behind rows' products, both parts
// beside one another, positions that are learned or slopes of scores.
#include <string.h>

#include "solve/report/export/internal.h"

bool titan_is_plain(const struct model *m) { return !m->shape.gated_ffn; }

static bool has_layer_norms(const struct model *m, const struct known_model *known)
{
    return titan_is_plain(m) && (!m->shape.rms_norm || known->layer_norms);
}

static bool has_head_bias(const struct model *m)
{
    return titan_is_plain(m) && m->runs[m->run_count - 1].more_values > 0;
}

static bool has_norm_bias(const struct model *m) { return !m->shape.rms_norm; }

void titan_put_plain_imports(const struct export *e)
{
    text_put(e->out,
             "from torch.distributed.tensor import DTensor\n"
             "from torchtitan.models.common.decoder_sharding import dense_activation_placement\n"
             "from torchtitan.models.common.linear import ScaledBiasRowwiseLinear\n"
             "from torchtitan.protocols.sharding import LocalMapConfig, ShardingConfig\n"
             "import spmd_types as spmd\n");
}

// ---- classes

static void put_norm(const struct export *e)
{
    bool bias = has_norm_bias(&e->problem->model);
    titan_put_class(e, "MeanNorm", "RMSNorm",
                    bias ? "takes the mean off and has a bias" : "takes the mean off", "pass");
    if (bias)
        text_put(e->out, "\n    def __init__(self, config):\n        super().__init__(config)\n"
                         "        self.bias = torch.nn.Parameter(torch.empty_like(self.weight))\n");
    text_put(e->out,
             "\n    def forward(self, input):\n"
             "        return torch.nn.functional.layer_norm(\n"
             "            input, self.normalized_shape, self.weight, %s, self.eps)\n",
             bias ? "self.bias" : "None");
}

static void put_feed_forward(const struct export *e)
{
    const char *name = e->problem->model.shape.activation;
    bool relu = name && !strcmp(name, "relu"), near = name && !relu && strcmp(name, "gelu") != 0;
    titan_put_class(e, "PlainFeedForward", "FeedForward", "no gate", "pass");
    text_put(e->out,
             "\n    def __init__(self, config):\n        super().__init__(config)\n        del "
             "self.w3\n\n"
             "    def forward(self, x):\n"
             "        return self.w2(torch.nn.functional.%s(self.w1(x)%s))\n",
             relu ? "relu" : "gelu", near ? ", approximate=\"tanh\"" : "");
}

static void put_places(const struct export *e)
{
    titan_put_class(e, "Places", "Embedding", "learned positions, whole in each rank", "pass");
    text_put(e->out, "\n    def parallelize(self, parallel_dims):\n"
                     "        super(Embedding, self).parallelize(parallel_dims)\n\n"
                     "    def forward(self, input):\n        weight = self.weight\n"
                     "        if isinstance(weight, DTensor):\n"
                     "            weight = weight.to_local()\n"
                     "        return torch.nn.functional.embedding(input, weight)\n");
}

static void put_slopes(const struct export *e)
{
    titan_put_class(e, "SlopedAttention", "FlexAttention", "scores fall with distance",
                    "heads: int");
    text_put(e->out, "\n    def __init__(self, config):\n        super().__init__(config)\n"
                     "        of = config\n        self.heads, self.first, self.forward = "
                     "of.heads, 0, self.sloped\n\n"
                     "    def parallelize(self, parallel_dims):\n"
                     "        mesh = parallel_dims.get_optional_mesh(\"tp\")\n"
                     "        if mesh is not None:\n"
                     "            self.first = mesh.get_local_rank() * self.heads // mesh.size()\n"
                     "        super().parallelize(parallel_dims)\n\n"
                     "    def sloped(self, q, k, *args, **further):\n");
    if (e->plan->layout.context > 1)
        text_put(
            e->out,
            "        parts, piece = k.shape[1] // q.shape[1], q.shape[1] // 2\n"
            "        part = torch.distributed.get_rank() // %d %% parts\n\n"
            "        def place(i):  # a context rank has one of the first and of the last pieces\n"
            "            rank, here = i // (2 * piece), i %% (2 * piece)\n"
            "            late = (2 * parts - 2 - rank) * piece + here\n"
            "            return torch.where(here < piece, rank * piece + here, late)\n\n",
            e->plan->layout.tensor);
    text_put(e->out,
             "        def slope(score, batch, head, query, key):\n"
             "%s"
             "            each = torch.exp2((head + self.first + 1) * (-8.0 / self.heads))\n"
             "            return score + each * (key - query)\n\n"
             "        return super().forward(q, k, *args, score_mod=slope, **further)\n",
             e->plan->layout.context > 1
                 ? "            query, key = place(query + part * 2 * piece), place(key)\n"
                 : "");
}

static void put_no_rope(const struct export *e)
{
    titan_put_class(e, "NoRoPE", "CosSinRoPE", "turns nothing", "pass");
    text_put(e->out, "\n    def forward(self, query, key, *_, **__):\n"
                     "        return query, key\n");
}

static bool has_no_rope(const struct model *m, const struct known_model *known)
{
    return titan_is_plain(m) && (m->shape.positions > 0 || known->slopes);
}

static void put_block(const struct export *e)
{
    const struct shape *s = &e->problem->model.shape;
    bool learned = s->positions > 0, one = s->norms == 1;
    titan_put_class(e, "OwnBlock", "family.Qwen3TransformerBlock", "a layer",
                    learned ? "mask: tuple | None\n        places: Embedding.Config | None"
                            : "mask: tuple | None");
    text_put(e->out,
             "\n    def __init__(self, config):\n        super().__init__(config)\n"
             "        of = config\n        self.mask = of.mask\n%s%s\n"
             "    def forward(self, x, attention_masks, positions=None):\n"
             "        masks = attention_masks[self.mask]\n%s%s",
             learned ? "        self.places = of.places.build() if of.places else None\n" : "",
             one ? "        del self.ffn_norm\n" : "",
             learned ? "        if self.places is not None:  # the first layer\n"
                       "            x = x + self.places(positions)\n"
                     : "",
             s->parallel_residual
                 ? "        both = self.attention_norm(x)\n"
                   "        own = self.attention(both, masks, positions)\n"
                 : "        x = x + self.attention(self.attention_norm(x), masks, positions)\n");
    text_put(e->out, "        return x + %sself.feed_forward(%s)\n",
             s->parallel_residual ? "own + " : "", one ? "both" : "self.ffn_norm(x)");
}

void titan_put_plain_classes(const struct export *e, const struct known_model *known)
{
    const struct model *m = &e->problem->model;
    put_feed_forward(e);
    if (has_layer_norms(m, known)) put_norm(e);
    if (m->shape.positions > 0) put_places(e);
    if (known->slopes) put_slopes(e);
    if (has_no_rope(m, known)) put_no_rope(e);
    put_block(e);
}

// What ranks have of a layer's parts: behind share(layer):, and of the model's.
void titan_put_plain_shares(const struct export *e)
{
    const struct shape *s = &e->problem->model.shape;
    bool output = shape_output_bias(s), norms = has_norm_bias(&e->problem->model);
    if (output || s->linear_bias)
        text_put(e->out,
                 "    part = dense_activation_placement(tp=spmd.S(2))\n"
                 "    for rows in (%s%s):\n"
                 "        rows.sharding_config = replace(\n"
                 "            rows.sharding_config, in_src_shardings={\"input\": part},\n"
                 "            in_dst_shardings={\"input\": part},\n"
                 "            local_map=LocalMapConfig(in_grad_placements=(part,)))\n",
                 output ? "layer.attention.wo, " : "",
                 s->linear_bias ? "layer.feed_forward.w2," : "");
    if (norms)
        text_put(e->out, "    share_bias(layer.attention_norm)\n"
                         "    share_bias(layer.ffn_norm)\n");
    if (s->positions > 0)
        text_put(e->out,
                 "    norm = layer.attention_norm.sharding_config\n"
                 "    stream = norm.in_src_shardings[\"input\"]\n"
                 "    whole = dense_activation_placement(tp=spmd.R)\n"
                 "    if layer.places is not None:\n"
                 "        layer.places.sharding_config = ShardingConfig(\n"
                 "            state_shardings={\"weight\": norm.state_shardings[\"weight\"]},\n"
                 "            in_src_shardings={\"input\": whole},\n"
                 "            in_dst_shardings={\"input\": whole},\n"
                 "            out_src_shardings=whole, out_dst_shardings=stream,\n"
                 "            local_map=LocalMapConfig(in_grad_placements=None))\n");
    if (!output && !s->linear_bias && !norms && !s->positions) text_put(e->out, "    pass\n");
    if (norms || has_head_bias(&e->problem->model))
        text_put(e->out,
                 "\n\ndef share_bias(of):  # as weights are\n"
                 "    shares = of.sharding_config.state_shardings\n"
                 "    of.sharding_config = replace(of.sharding_config, state_shardings={\n"
                 "        \"weight\": shares[\"weight\"], \"bias\": shares[\"weight\"]})\n");
}

void titan_put_plain_ends(const struct export *e)
{
    if (has_norm_bias(&e->problem->model)) text_put(e->out, "            share_bias(self.norm)\n");
    if (has_head_bias(&e->problem->model))
        text_put(e->out, "            share_bias(self.lm_head)\n");
}

// ---- their configurations

void titan_put_plain_model(const struct export *e, const struct known_model *known)
{
    const struct model *m = &e->problem->model;
    if (has_layer_norms(m, known))
        text_put(e->out,
                 "\n    def mean(norm):\n        return own(norm, MeanNorm, param_init={\n"
                 "            \"weight\": torch.nn.init.ones_%s})\n\n"
                 "    model.norm = mean(model.norm)\n",
                 has_norm_bias(m) ? ", \"bias\": torch.nn.init.zeros_" : "");
    if (has_head_bias(m)) text_put(e->out, "    model.lm_head.bias = True\n");
    if (m->shape.positions > 0)
        text_put(e->out,
                 "    places = Places.Config(\n"
                 "        num_embeddings=%lld, embedding_dim=%lld,\n"
                 "        param_init=family._EMBEDDING_INIT)\n",
                 (long long)m->shape.positions, (long long)m->shape.hidden);
}

void titan_put_plain_layer(const struct export *e, const struct known_model *known)
{
    const struct model *m = &e->problem->model;
    const struct shape *s = &m->shape;
    text_put(e->out, "        layer.feed_forward = own(layer.feed_forward, PlainFeedForward)\n");
    if (s->linear_bias)
        text_put(e->out,
                 "        layer.feed_forward.w1.bias = True\n"
                 "        layer.feed_forward.w2 = own(\n"
                 "            layer.feed_forward.w2, ScaledBiasRowwiseLinear, bias=True)\n");
    if (shape_output_bias(s))
        text_put(e->out,
                 "        attention.wo = own(attention.wo, ScaledBiasRowwiseLinear, bias=True)\n");
    if (has_layer_norms(m, known))
        text_put(e->out, "        layer.attention_norm = mean(layer.attention_norm)\n"
                         "        layer.ffn_norm = mean(layer.ffn_norm)\n");
    if (known->slopes)
        text_put(e->out,
                 "        attention.inner_attention = own(\n"
                 "            attention.inner_attention, SlopedAttention, heads=%lld)\n",
                 (long long)s->heads);
    if (has_no_rope(m, known))
        text_put(e->out, "        attention.rope = own(attention.rope, NoRoPE)\n");
    if (s->positions > 0) text_put(e->out, "        more = {\"places\": None if i else places}\n");
}
