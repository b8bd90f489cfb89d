"""What the ranks of run.py did: on the virtual clock, and as a document."""
import json
import os
import platform


# ---- the virtual clock

def virtual_clock(task, told, lanes):
    """Walks what every rank did, in its order: its own time goes on by its processor time; what it
    needs arrives when its sender had it, plus what such a message takes alone, after those before
    it."""
    ranks, last_stage = task["ranks"], len(task["stages"]) - 1
    process = [list(events) for events, *_ in told]
    now, clock, at = [0] * len(told), [t[1] for t in told], [0] * len(told)
    free, ready, events, meeting = {}, {}, [], {}

    def needs(kind, stage):
        other = stage - 1 if kind == "forward" else stage + 1
        inside = 0 <= other <= last_stage and kind in ("forward", "backward")
        if not inside or task["stage_ranks"][other] == task["stage_ranks"][stage]:
            return None
        return other

    def arrival(p, kind, stage, micro_batch, other):
        sent = ready.get((p // ranks, kind, other, micro_batch))
        if sent is None:
            return None
        sender = p // ranks * ranks + task["stage_ranks"][other]
        occupied, latency, _ = lanes[(sender, p, task["message_bytes"])]
        start = max(sent[0], free.get((sender, p), 0))
        free[(sender, p)] = start + occupied
        note("send_" + kind, p, min(stage, other), micro_batch, start, start + occupied + latency,
             sent[1], max(sent[1], told[p][0][at[p]][5]))
        return start + occupied + latency

    def note(kind, p, stage, micro_batch, start, end, wall_start, wall_end):
        event = {"kind": kind, "replica": p // ranks, "rank": p % ranks, "stage": stage}
        if micro_batch is not None:
            event["micro_batch"] = micro_batch
        origin = min(t[2] for t in told)
        event.update(start_ns=start, end_ns=end, wall_start_ns=max(0, wall_start - origin),
                     wall_end_ns=max(0, wall_end - origin))
        events.append(event)

    moved = True
    while moved:
        moved = False
        for p, done in enumerate(process):
            while at[p] < len(done):
                kind, stage, micro_batch, begin, end, wall_begin, wall_end = done[at[p]]
                start, took = now[p] + begin - clock[p], end - begin
                other = needs(kind, stage)
                if kind == "sync":
                    meeting.setdefault((stage, p % ranks), {})[p // ranks] = start
                    if len(meeting[(stage, p % ranks)]) < task["replicas"]:
                        break
                    start, took = max(meeting[(stage, p % ranks)].values()), told[p][5][stage]
                elif other is not None:
                    there = arrival(p, kind, stage, micro_batch, other)
                    if there is None:
                        break
                    start = max(start, there)
                now[p], clock[p] = start + took, end
                note(kind, p, stage, micro_batch, start, now[p], wall_begin, wall_end)
                ready[(p // ranks, kind, stage, micro_batch)] = (now[p], wall_end)
                at[p] += 1
                moved = True
    wall = max(t[3] for t in told) - min(t[2] for t in told)
    return {"ns": max(now), "wall_ns": wall, "events": events}


# ---- the document

def work_of(task, name):
    """FLOP and bytes of a layer's pass, as plumbline measure states them (FORMULAS 3)."""
    s, n = task["shape"], task["micro_batch"] * task["sequence"]
    kind, passed = name.split(" ", 1)
    h, e, gates = s["hidden"], 4, 3 if s["gated_ffn"] else 2
    query, key = s["heads"] * s["head_width"], s["kv_heads"] * s["head_width"]
    linear = attention = scores = 0
    moved = 2 * n * h * e
    if kind == "head":
        linear = 2 * n * h * s["vocabulary"]
        moved += 12 * n * s["vocabulary"]
    elif kind == "block":
        cells = n * task["sequence"] * s["heads"]
        linear = 2 * n * (h * (query + 2 * key) + query * h + gates * h * s["ffn"])
        attention = 4 * cells * s["head_width"] * (0.5 if task["fused"] else 1)
        scores = 0 if task["fused"] else 6 * cells * e
        moved = 10 * n * h * e + gates * n * s["ffn"] * e + scores
    flop, count = linear + attention, moved
    if passed != "forward":
        flop, count = 2 * linear + (2.5 if task["fused"] else 2) * attention, 2 * moved
    if passed == "backward selective":
        flop, count = flop + attention, count + scores
    if passed == "backward full":
        flop, count = flop + linear + attention, count + moved
    return flop, count


def samples_of(torch, task, lanes, about):
    layers = {}
    for found, *_ in about:
        for name, seconds in found.items():
            layers.setdefault(name, []).extend(seconds)
    samples = []
    for name, seconds in layers.items():
        flop, count = work_of(task, name)
        samples.append({"kind": "layer", "operation": name,
                        "dimensions": [task["micro_batch"], task["sequence"], 1, 1],
                        "shape": {k: v for k, v in task["shape"].items()
                                  if k not in ("qkv_bias", "linear_bias")},
                        "precision": "fp32", "flop": flop, "bytes": count, "seconds": seconds,
                        "warm_ups": task["warm_ups"], "stopped_by": "count"})
    for (sender, receiver, count), (_, _, seconds) in lanes.items():
        samples.append({"kind": "link", "operation": "send", "dimensions": [count],
                        "precision": "fp32", "flop": 0, "bytes": count, "from": sender,
                        "to": receiver, "alone": True, "seconds": seconds, "stopped_by": "count"})
    name = task["name"] or (torch.cuda.get_device_name() if task["backend"] != "cpu" else "cpu")
    pages = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    backend = "gloo" if task["backend"] == "cpu" else "nccl"
    return {"machine": {"host": platform.node(), "gpu": name, "memory_bytes": pages,
                        "threads": task["threads"],
                        "library": f"torch {torch.__version__}, {backend}"},
            "endpoints": [{"name": f"{host}:{i}", "host": host}
                          for i, (_, _, host) in enumerate(about)],
            "samples": samples}


def write(torch, task, iterations, lanes, about, halted):
    events = []
    for k, iteration in enumerate(iterations):
        first = min(e["start_ns"] for e in iteration["events"])
        for e in iteration["events"]:
            e["start_ns"] -= first
            e["end_ns"] -= first
            events.append({"kind": e.pop("kind"), "iteration": k, **e})
    document = {
        "kind": "plumbline.run", "version": 1,
        "made_by": task["made_by"],
        "made_from": [{"role": "plan", "path": task["plan"], "sha256": task["sha256"]}],
        "name": task["plan_name"], "with": "torch", "clock": "virtual",
        "end": "interrupted" if halted else "finished",
        "iterations": [{"ns": i["ns"], "wall_ns": i["wall_ns"]} for i in iterations],
        "ranks": [{"replica": i // task["ranks"], "rank": i % task["ranks"], "host": host,
                   "peak_bytes": peak} for i, (_, peak, host) in enumerate(about)],
        "events": events, "samples": samples_of(torch, task, lanes, about)}
    with open(task["output"], "w", encoding="utf-8") as to:
        json.dump(document, to)
        to.write("\n")
