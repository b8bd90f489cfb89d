"""A transformer block forward and backward in PyTorch beside what plumbline predicts for it from
calibrated costs, for six shapes and two micro-batches that were not measured. usage: block_check.py
COSTS PLUMBLINE FOLDER Prints a table; exit code 1 if forward + backward of any is more than 5 %
off."""
import json
import os
import statistics
import subprocess
import sys

import torch
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

RUNS, WARM_UPS, TOLERANCE = 12, 4, 0.05
MICRO_BATCHES = (2, 4)
SHAPES = (  # hidden, heads, kv heads, ffn, gated, sequence
    (2560, 20, 20, 10240, False, 2048),
    (3072, 24, 24, 12288, False, 2048),
    (5120, 40, 40, 20480, False, 2048),
    (3072, 24, 8, 8192, True, 2048),
    (5120, 40, 8, 13824, True, 4096),
    (6144, 48, 8, 16384, True, 2048),
)


class Block(torch.nn.Module):
    def __init__(self, hidden, heads, kv_heads, ffn, gated):
        super().__init__()
        self.heads, self.kv_heads, self.width, self.gated = heads, kv_heads, hidden // heads, gated
        norm = torch.nn.RMSNorm if gated else torch.nn.LayerNorm
        self.norm1, self.norm2 = norm(hidden), norm(hidden)
        self.qkv = torch.nn.Linear(hidden, (heads + 2 * kv_heads) * self.width, bias=False)
        self.out = torch.nn.Linear(hidden, hidden, bias=False)
        self.up = torch.nn.Linear(hidden, (2 if gated else 1) * ffn, bias=False)
        self.down = torch.nn.Linear(ffn, hidden, bias=False)

    def forward(self, x):
        batch, sequence, hidden = x.shape
        rows = (
            self.qkv(self.norm1(x))
            .view(batch, sequence, self.heads + 2 * self.kv_heads, self.width)
            .transpose(1, 2)
        )
        query, key, value = rows.split((self.heads, self.kv_heads, self.kv_heads), 1)
        context = F.scaled_dot_product_attention(
            query, key, value, is_causal=True, enable_gqa=self.heads != self.kv_heads
        )
        x = x + self.out(context.transpose(1, 2).reshape(batch, sequence, hidden))
        up = self.up(self.norm2(x))
        if self.gated:
            gate, up = up.chunk(2, -1)
            up = F.silu(gate) * up
        else:
            up = F.gelu(up, approximate="tanh")
        return x + self.down(up)


def time_block(block, batch, sequence, hidden):
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(3)]
    times = []
    for i in range(WARM_UPS + RUNS):
        x = torch.randn(
            batch, sequence, hidden, device="cuda", dtype=torch.bfloat16, requires_grad=True
        )
        dy = torch.randn_like(x)
        block.zero_grad(set_to_none=True)
        torch.cuda.synchronize()
        with sdpa_kernel(
            [SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION], set_priority=True
        ):
            marks[0].record()
            y = block(x)
            marks[1].record()
            y.backward(dy)
            marks[2].record()
        marks[2].synchronize()
        if i >= WARM_UPS:
            times.append(
                (1e-3 * marks[0].elapsed_time(marks[1]), 1e-3 * marks[1].elapsed_time(marks[2]))
            )
    return statistics.median(t[0] for t in times), statistics.median(t[1] for t in times)


def write(folder, name, value):
    with open(os.path.join(folder, name + ".json"), "w") as file:
        json.dump({"kind": "plumbline." + name, "version": 1, **value}, file)


def predict(costs, plumbline, folder, shape, batch):
    hidden, heads, kv_heads, ffn, gated, sequence = shape
    gpu = json.load(open(costs))["gpus"][0]["gpu"]
    os.makedirs(folder, exist_ok=True)
    write(
        folder,
        "model",
        {
            "name": "block",
            "shape": {
                "hidden": hidden,
                "ffn": ffn,
                "heads": heads,
                "kv_heads": kv_heads,
                "head_width": hidden // heads,
                "vocabulary": 1024,
                "positions": 0,
                "gated_ffn": gated,
                "rms_norm": gated,
                "qkv_bias": False,
                "linear_bias": False,
                "dropout": False,
                "tied_embeddings": False,
            },
            "runs": [
                {"name": "embedding", "kind": "embedding", "count": 1, "recomputable": False},
                {"name": "block", "kind": "block", "count": 1, "recomputable": True},
                {"name": "head", "kind": "head", "count": 1, "recomputable": False},
            ],
        },
    )
    link = {"bytes_per_s": 1e11, "latency_s": 1e-5}
    write(
        folder,
        "cluster",
        {
            "name": "one",
            "groups": [
                {
                    "name": "one",
                    "gpu": gpu,
                    "nodes": 1,
                    "gpus_per_node": 1,
                    "memory_bytes": 80000000000,
                    "intra": link,
                    "nics": [],
                }
            ],
            "links": [],
        },
    )
    write(
        folder,
        "job",
        {
            "name": "block",
            "sequence": sequence,
            "global_batch": batch,
            "precision": "bf16",
            "memory_fraction": 1,
            "layout": {"pipeline": 1, "micro_batch": batch, "fused_attention": True},
        },
    )
    write(
        folder,
        "problem",
        {
            "name": "block",
            "model": "model.json",
            "cluster": "cluster.json",
            "job": "job.json",
            "costs": os.path.relpath(costs, folder),
        },
    )
    priced = os.path.join(folder, "priced.json")
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": os.environ.get("GPU_LIBRARIES", os.environ.get("LD_LIBRARY_PATH", "")),
    }
    subprocess.run(
        [plumbline, "price", os.path.join(folder, "problem.json"), "-o", priced],
        check=True,
        env=environment,
    )
    run = next(r for r in json.load(open(priced))["runs"] if r["name"] == "block")
    return 1e-9 * run["forward_ns"][0], 1e-9 * run["backward_ns"][0]


def main(costs, plumbline, folder):
    failures = 0
    print(
        "%-36s %17s %17s %17s %7s"
        % ("hidden heads kv ffn gated seq  batch", "forward", "backward", "sum", "ratio")
    )
    for shape in SHAPES:
        torch.manual_seed(1)
        block = Block(*shape[:5]).to("cuda", torch.bfloat16)
        for batch in MICRO_BATCHES:
            measured = time_block(block, batch, shape[5], shape[0])
            predicted = predict(
                costs,
                plumbline,
                os.path.join(folder, "block_%d_%d_%d" % (shape[0], shape[3], batch)),
                shape,
                batch,
            )
            ratio = sum(predicted) / sum(measured)
            bad = abs(ratio - 1) > TOLERANCE
            failures += bad
            pairs = (*zip(predicted, measured), (sum(predicted), sum(measured)))
            columns = ["%7.3f (%7.3f)" % (1e3 * p, 1e3 * m) for p, m in pairs]
            name = " ".join(map(str, shape)) + "  %d" % batch
            print(
                "%-36s %17s %17s %17s %7.3f%s"
                % (name, *columns, ratio, "  more than 5 %" if bad else "")
            )
        del block
        torch.cuda.empty_cache()
    print(
        "blocks: ms predicted (measured); %d of %d more than 5 %% off"
        % (failures, len(SHAPES) * len(MICRO_BATCHES))
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
