"""The slopes of scores of a launch file's class, over context ranks, which PyTorch's balancer gives
a sequence in pieces: titan_slopes.py FILE TENSOR CONTEXT. Every query has the slope of ALiBi by its
own place and the key's."""
import importlib.util
import sys

import torch
from torch.distributed.tensor.experimental._context_parallel._load_balancer import (
    _HeadTailLoadBalancer,
)

TOKENS, HEADS = 48, 8
path, tensor, context = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
spec = importlib.util.spec_from_file_location("torchtitan_plan", path)
plan = importlib.util.module_from_spec(spec)
spec.loader.exec_module(plan)
seen = {}
plan.FlexAttention.forward = lambda self, *args, score_mod, **more: seen.update(slope=score_mod)
places = _HeadTailLoadBalancer(TOKENS, context, "cpu")._generate_indices()[0]
for rank in range(2 * tensor * context):
    torch.distributed.get_rank = lambda: rank
    part = rank // tensor % context
    attention = plan.SlopedAttention(plan.SlopedAttention.Config(heads=HEADS))
    own = TOKENS // context
    attention.forward(torch.zeros(1, own, HEADS, 4), *[torch.zeros(1, TOKENS, HEADS, 4)] * 2)
    queries, keys = torch.meshgrid(torch.arange(own), torch.arange(TOKENS), indexing="ij")
    for head in range(HEADS):
        scores = seen["slope"](torch.zeros(()), 0, torch.tensor(head), queries, keys)
        here, there = places[part * own + queries], places[keys]
        assert torch.allclose(scores, 2.0 ** -(head + 1) * (there - here)), (rank, head)
