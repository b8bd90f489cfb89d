"""Rates of plumbline's samples beside PyTorch's matmul, beside the best of 8 cuBLASLt algorithms
timed by gemm_heuristics, and copies beside plain ones, all in the same run. usage: rates.py
SAMPLES_COMPUTE SAMPLES_MEMORY GEMM_HEURISTICS Prints a table; exit code 1 if a product or a copy of
enough
size is more than 3 % from the one that runs as it did, by the samples' algorithm."""
import json
import os
import statistics
import subprocess
import sys

import torch

RUNS, SETS, TOLERANCE, ENOUGH_S = 15, 4, 0.03, 1e-4


def environment():
    """For programs that are not PyTorch's: run.sh names their libraries."""
    return {
        **os.environ,
        "LD_LIBRARY_PATH": os.environ.get("GPU_LIBRARIES", os.environ.get("LD_LIBRARY_PATH", "")),
    }


def median_of(sample):
    return statistics.median(sample["seconds"])


def timed(function):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    times = []
    for i in range(RUNS + 2):
        begin.record()
        function(i % SETS)
        end.record()
        end.synchronize()
        if i >= 2:
            times.append(1e-3 * begin.elapsed_time(end))
    return statistics.median(times)


def product_by_torch(m, n, k):
    x = [torch.rand(m, k, device="cuda").mul_(2).sub_(1).bfloat16() for _ in range(SETS)]
    w = [torch.rand(n, k, device="cuda").mul_(2).sub_(1).div_(32).bfloat16() for _ in range(SETS)]
    y = [torch.empty(m, n, device="cuda", dtype=torch.bfloat16) for _ in range(SETS)]
    return timed(lambda i: torch.matmul(x[i], w[i].t(), out=y[i]))


def copy_by_torch(size):
    x = [torch.rand(size // 4, device="cuda").bfloat16() for _ in range(SETS)]
    y = [torch.empty_like(x[0]) for _ in range(SETS)]
    return timed(lambda i: y[i].copy_(x[i]))


def cells(path, kind, wanted):
    found = {}
    for sample in json.load(open(path))["samples"]:
        if sample["kind"] == kind and wanted(sample["operation"]):
            found.setdefault(tuple(sample["dimensions"]), sample)
    return found


def main(compute, memory, program):
    products = cells(compute, "gemm", lambda name: "," not in name)
    products = dict(sorted(products.items(), key=lambda item: -item[1]["flop"])[:12])
    copies = cells(memory, "memory", lambda name: name == "copy")
    words = [",".join(map(str, d)) for d in products] + ["copy,%d" % d for d in copies]
    lines = subprocess.run(
        [program] + words, check=True, capture_output=True, text=True, env=environment()
    ).stdout.split("\n")
    separate = {line.split()[0]: float(line.split()[1]) for line in lines if line}
    failures = 0
    print(
        "%-28s %11s %11s %11s %8s %8s"
        % ("operation", "plumbline", "PyTorch", "best of 8", "/PyTorch", "/best")
    )
    for d, sample in list(products.items()) + list(copies.items()):
        word = ",".join(map(str, d)) if len(d) == 3 else "copy,%d" % d
        ours, torchs, best = median_of(sample), None, separate[word]
        torchs = product_by_torch(*d) if len(d) == 3 else copy_by_torch(d[0])
        # The library's first proposal is what PyTorch runs; the fastest is the separate program's.
        ran = sample.get("algorithm", "unknown")
        bad = ours >= ENOUGH_S and (
            (ran != "best" and abs(ours / torchs - 1) > TOLERANCE)
            or (ran != "first" and abs(ours / best - 1) > TOLERANCE)
        )
        failures += bad
        print(
            "%-28s %9.1f us %9.1f us %9.1f us %8.3f %8.3f%s"
            % (
                word,
                1e6 * ours,
                1e6 * torchs,
                1e6 * best,
                ours / torchs,
                ours / best,
                "  more than 3 %" if bad else "",
            )
        )
    print(
        "rates: %d of %d more than 3 %% from PyTorch or from the separate program "
        "(of those that take 0.1 ms or more)"
        % (failures, len(words))
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
