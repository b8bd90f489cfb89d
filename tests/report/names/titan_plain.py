"""Models of transformers' without gates, small, with their weights by torchtitan's names."""
import re

PARTS = [  # of a layer, in the order of search
    (r"q_proj", "attention.qkv_linear.wq"),
    (r"k_proj", "attention.qkv_linear.wk"),
    (r"v_proj", "attention.qkv_linear.wv"),
    (r"query_key_value|Wqkv|c_attn", "attention.qkv_linear.all"),
    (r"o_proj|out_proj|attn\.c_proj|(attn|attention)\.dense", "attention.wo"),
    (r"c_fc|fc1|fc_in|dense_h_to_4h|up_proj", "feed_forward.w1"),
    (r"mlp\.c_proj|fc2|fc_out|dense_4h_to_h|down_proj", "feed_forward.w2"),
    (r"input_layernorm|ln_1|ln_attn|norm_1|attn_layer_norm", "attention_norm"),
    (r"post_attention_layernorm|ln_2|ln_mlp|norm_2|final_layer_norm", "ffn_norm"),
]
ENDS = [
    (r"lm_head|embed_out", "lm_head"),
    (r"wpe|embed_positions", "layers.0.places"),
    (r"embed|wte", "tok_embeddings"),
    (r"norm|ln_f", "norm"),
]
WHOLE = {"n_kv_heads": 4}


def smallest(name, layers, vocabulary, cut):
    """transformers' model, and what of its small dimensions are not SMALL's; None: another."""
    import transformers as t

    size = dict(vocab_size=vocabulary, attn_implementation="eager")
    common = size | dict(hidden_size=64, num_attention_heads=4, num_hidden_layers=layers)
    old = size | dict(n_embd=64, n_head=4, n_layer=layers, n_inner=96, resid_pdrop=0.0,
                      embd_pdrop=0.0, attn_pdrop=0.0)
    rope = {"rope_type": "default", "rope_theta": 10000.0}
    if name.startswith("starcoder2"):
        config = t.Starcoder2Config(
            **common, num_key_value_heads=2, intermediate_size=96, sliding_window=cut,
            residual_dropout=0.0, embedding_dropout=0.0, rope_parameters=rope)
        return t.Starcoder2ForCausalLM(config), {}
    if name.startswith("mpt"):
        config = t.MptConfig(**size, d_model=64, n_heads=4, n_layers=layers)
        return t.MptForCausalLM(config), WHOLE | {"hidden_dim": 256}
    if name.startswith("falcon"):
        config = t.FalconConfig(
            **common, num_kv_heads=2, new_decoder_architecture=True, ffn_hidden_size=96,
            rope_parameters=rope)
        return t.FalconForCausalLM(config), {}
    if name.startswith("gpt-neox"):
        config = t.GPTNeoXConfig(
            **common, intermediate_size=96, hidden_dropout=0.0,
            rope_parameters=rope | {"partial_rotary_factor": 0.25})
        return t.GPTNeoXForCausalLM(config), WHOLE | {"rotated": 4}
    if name.startswith("gpt-j"):
        return t.GPTJForCausalLM(t.GPTJConfig(**old, rotary_dim=4)), WHOLE | {"rotated": 4}
    if name.startswith("phi-2"):
        config = t.PhiConfig(
            **common, intermediate_size=96,
            rope_parameters=rope | {"partial_rotary_factor": 0.5})
        return t.PhiForCausalLM(config), WHOLE | {"rotated": 8}
    if name.startswith("opt"):
        config = t.OPTConfig(
            **common, ffn_dim=96, word_embed_proj_dim=64, max_position_embeddings=24, dropout=0.0,
            attention_dropout=0.0, pad_token_id=None)
        return t.OPTForCausalLM(config), WHOLE | {"num_embeddings": 26}
    if name.startswith("gpt"):
        config = t.GPT2Config(**old, n_positions=32, layer_norm_epsilon=1e-5,
                              activation_function="gelu")
        return t.GPT2LMHeadModel(config), WHOLE
    return None


def split(name, x, heads, width):
    """Queries, keys and values of rows that have all of them."""
    if name.startswith(("mpt", "gpt3")):  # one behind another
        return x.chunk(3)
    each = x.reshape(-1, 3 if name.startswith("gpt-neox") else heads // 2 + 2, width, *x.shape[1:])
    parts = each[:, :-2], each[:, -2], each[:, -1]  # of each head, or of each group
    return [part.reshape(-1, *x.shape[1:]) for part in parts]


def plain_weights(name, model, heads, width):
    """transformers' weights by torchtitan's names."""
    found = {}
    for key, x in model.state_dict().items():
        layer, (stem, kind) = re.search(r"\.(\d+)\.", key), key.rsplit(".", 1)
        if kind not in ("weight", "bias"):
            continue
        ours = next(ours for theirs, ours in (PARTS if layer else ENDS) if re.search(theirs, stem))
        if name.startswith("gpt3") and layer and x.dim() == 2:
            x = x.T  # [in, out]
        if name.startswith("opt") and "embed_positions" in stem:
            x = x.roll(-2, 0)  # its first two rows are of no position
        at = f"layers.{layer[1]}." if layer else ""
        if ours.endswith("all"):
            for part, own in zip("qkv", split(name, x, heads, width)):
                found[f"{at}attention.qkv_linear.w{part}.{kind}"] = own
        else:
            found[f"{at}{ours}.{kind}"] = x
    return {key: x.detach().clone() for key, x in found.items()}
