"""What a run with own kernels sent, and how long its passes took, by the run alone.

walked.py RUN RULE...
  OPERATION=0-1,2-3   the groups of processes that took part in such collectives
  bytes=N             some all_to_all was of so many bytes
  exchanges=N         all_to_all by a process, layer and micro-batch of four layers and three
  link=N              some message had so many bytes
  passes              a forward pass takes as long as its kernels, and messages between the fastest
                      and the slowest of its lanes
"""
import collections
import json
import sys

LAYERS, MICRO_BATCHES = 4, 3
run = json.load(open(sys.argv[1]))
samples, faults = run["samples"]["samples"], []


def of(kind, operation):
    return [s for s in samples if s["kind"] == kind and s["operation"] == operation]


def groups(operation):
    return sorted({tuple(s["members"]) for s in of("collective", operation)})


def median(values):
    return sorted(values)[len(values) // 2]


def lane_seconds(size):
    """The least and the most that a message of so many bytes took in any direction."""
    full = [min(s["seconds"]) for s in of("link", "send") if s["dimensions"] == [size]]
    return min(full), max(full)


def kernel_seconds():
    """Of a forward pass: each kernel as often as it ran in one."""
    events = [e for e in run["events"] if e["kind"] == "forward"]
    total = 0
    for s in samples:
        if s["kind"] in ("link", "collective", "context_attention", "optimizer"):
            continue
        if "backward" in s["operation"] or "gradient" in s["operation"]:
            continue
        total += sum(s["seconds"])
    return total / len(events)


def copies_apart():
    """Copies of a backward pass have the same name: twice the bytes of the largest of forward's."""
    sizes = sorted({s["dimensions"][0] for s in of("memory", "copy")})
    return sum(sum(s["seconds"]) for s in of("memory", "copy") if s["dimensions"][0] == sizes[-1])


def check_passes():
    events = [e for e in run["events"] if e["kind"] == "forward"]
    kernels = kernel_seconds() - copies_apart() / len(events)
    chunks = collections.defaultdict(list)  # of an operation: how often each group sent them
    for s in of("collective", "all_to_all") + of("collective", "all_gather"):
        chunks[s["operation"], s["dimensions"][0] // s["dimensions"][1]].append(len(s["seconds"]))
    sent = of("link", "send")
    took = sum((e["end_ns"] - e["start_ns"]) * 1e-9 for e in events) / len(events)
    hidden = [min(s["seconds"]) for s in of("context_attention", "step of a ring")]
    if hidden:  # keys and values are the smaller ones of two lanes, one step a layer
        low, high = lane_seconds(min(s["dimensions"][0] for s in sent if s["dimensions"][0]))
        low, high = max(0, low - hidden[0]) * LAYERS, max(0, high - hidden[0]) * LAYERS
    else:
        low = high = 0
        for (_, chunk), counts in chunks.items():
            least, most = lane_seconds(chunk)
            # half of the exchanges are those of the forward pass; a process notes each once
            share = 0.5 * sum(counts) / len(counts) / (MICRO_BATCHES * len(run["iterations"]))
            low, high = low + share * least, high + share * most
    if not kernels + low - 2e-6 * LAYERS <= took <= kernels + high + 2e-6 * LAYERS + 0.02 * high:
        faults.append(f"a forward pass takes {took:.9f} s, its kernels {kernels:.9f}, its messages "
                      f"{low:.9f} to {high:.9f}")


for rule in sys.argv[2:]:
    key, _, value = rule.partition("=")
    if key == "passes":
        check_passes()
    elif key == "bytes":
        sizes = [s["dimensions"][0] for s in of("collective", "all_to_all")]
        if int(value) not in sizes:
            faults.append(f"all_to_all of {sizes} bytes, expected {value}")
    elif key == "link":
        sizes = [s["dimensions"][0] for s in of("link", "send")]
        if int(value) not in sizes:
            faults.append(f"messages of {sizes} bytes, expected {value}")
    elif key == "exchanges":
        every = len(run["iterations"]) * LAYERS * MICRO_BATCHES
        counts = [len(s["seconds"]) / every for s in of("collective", "all_to_all")]
        if any(c != int(value) for c in counts):
            faults.append(f"{counts} exchanges a layer and micro-batch, expected {value}")
    else:
        want = [] if value == "none" else [tuple(map(int, g.split("-"))) for g in value.split(",")]
        if groups(key) != want:
            faults.append(f"{key} of {groups(key)}, expected {want}")
print("\n".join(faults))
sys.exit(bool(faults))
