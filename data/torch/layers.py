"""Layers of a model's shape, as run.py runs them."""


def make_layers(torch, task):
    """The classes of layers, whose passes are timed by `clock`, in seconds of this thread."""
    nn, functional = torch.nn, torch.nn.functional
    s, batch, sequence = task["shape"], task["micro_batch"], task["sequence"]
    query, key = s["heads"] * s["head_width"], s["kv_heads"] * s["head_width"]
    norm = nn.RMSNorm if s["rms_norm"] and hasattr(nn, "RMSNorm") else nn.LayerNorm

    class Embedding(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(s["vocabulary"], s["hidden"])
            if s["positions"]:
                self.positions = nn.Parameter(torch.randn(sequence, s["hidden"]) * 0.02)

        def forward(self, tokens):
            x = self.table(tokens)
            return x + self.positions if s["positions"] else x

    class Block(nn.Module):
        def __init__(self, recompute):
            super().__init__()
            self.recompute = recompute
            self.norm1, self.norm2 = norm(s["hidden"]), norm(s["hidden"])
            self.qkv = nn.Linear(s["hidden"], query + 2 * key, bias=s["qkv_bias"])
            self.out = nn.Linear(query, s["hidden"], bias=s["linear_bias"])
            self.up = nn.Linear(s["hidden"], (2 if s["gated_ffn"] else 1) * s["ffn"],
                                bias=s["linear_bias"])
            self.down = nn.Linear(s["ffn"], s["hidden"], bias=s["linear_bias"])
            if not task["fused"]:
                mask = torch.ones(sequence, sequence, dtype=torch.bool).triu(1)
                self.register_buffer("mask", mask, persistent=False)

        def attend(self, q, k, v):
            if task["fused"]:
                return functional.scaled_dot_product_attention(q, k, v, is_causal=True,
                                                               enable_gqa=query != key)
            if query != key:
                k = k.repeat_interleave(query // key, 1)
                v = v.repeat_interleave(query // key, 1)
            scores = q @ k.transpose(2, 3) / s["head_width"] ** 0.5
            return scores.masked_fill(self.mask, float("-inf")).softmax(-1) @ v

        def whole(self, x):
            q, k, v = (part.view(batch, sequence, -1, s["head_width"]).transpose(1, 2)
                       for part in self.qkv(self.norm1(x)).split([query, key, key], -1))
            if self.recompute == "selective" and torch.is_grad_enabled():
                context = torch.utils.checkpoint.checkpoint(self.attend, q, k, v,
                                                            use_reentrant=False)
            else:
                context = self.attend(q, k, v)
            x = x + self.out(context.transpose(1, 2).reshape(batch, sequence, query))
            up = self.up(self.norm2(x))
            if s["gated_ffn"]:
                gate, up = up.chunk(2, -1)
                active = functional.silu(gate) * up
            else:
                active = functional.gelu(up, approximate="tanh")
            return x + self.down(active)

        def forward(self, x):
            if self.recompute == "full" and torch.is_grad_enabled():
                return torch.utils.checkpoint.checkpoint(self.whole, x, use_reentrant=False)
            return self.whole(x)

    class Head(nn.Module):
        """Norm, logits and the loss of random targets."""

        def __init__(self):
            super().__init__()
            self.norm = norm(s["hidden"])
            self.logits = nn.Linear(s["hidden"], s["vocabulary"], bias=False)
            self.register_buffer("targets", torch.randint(s["vocabulary"], (batch * sequence,)))

        def forward(self, x):
            logits = self.logits(self.norm(x)).view(-1, s["vocabulary"])
            # not a view, which a split backward pass could not detach
            return torch.stack([functional.cross_entropy(logits, self.targets)])

    return {"embedding": lambda _: Embedding(), "block": Block, "head": lambda _: Head()}
