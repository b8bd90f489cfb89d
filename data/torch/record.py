"""What the ranks of run.py did: on the virtual clock, and as a document."""
import json
import os
import platform


# ---- the virtual clock

def lower_tenth(values):
    return sorted(values)[(len(values) + 9) // 10 - 1]


class Undisturbed:
    """What takes a rank's time, in all iterations: each layer of a pass, the rest of it, the time
    before it. Of all times of one of these the lower tenth counts, since other programs on the
    machine only lengthen them."""

    def __init__(self):
        self.seen = {}

    def note(self, events, begin):
        def note_one(key, ns):
            self.seen.setdefault(key, []).append(ns)

        before = begin
        for kind, stage, _, start, end, _, _, pieces in events:
            note_one(("before", kind, stage), start - before)
            for name, ns in pieces:
                note_one(name, ns)
            note_one((kind, stage), end - start - sum(ns for _, ns in pieces))
            before = end

    def times(self, events):
        """(time since the event before, duration) of each of an iteration's events."""
        lower = {key: lower_tenth(values) for key, values in self.seen.items()}
        return [(lower[("before", kind, stage)],
                 lower[(kind, stage)] + sum(lower[name] for name, _ in pieces))
                for kind, stage, *_, pieces in events]


def as_measured(events, begin):
    befores = [begin] + [e[4] for e in events]
    return [(e[3] - before, e[4] - e[3]) for e, before in zip(events, befores)]


def virtual_clock(task, told, lanes, undisturbed):
    """Walks what every rank did, in its order: its own time goes on by its processor time; what it
    needs arrives when its sender had it, plus what such a message takes alone, after those before
    it."""
    ranks, last_stage = task["ranks"], len(task["stages"]) - 1
    process = [list(events) for events, *_ in told]
    times = [rank.times(t[0]) if task["backend"] == "cpu" else as_measured(t[0], t[1])
             for rank, t in zip(undisturbed, told)]
    now, at = [0] * len(told), [0] * len(told)
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
        occupied, latency, *_ = lanes[(sender, p, task["message_bytes"])]
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
                kind, stage, micro_batch, _, _, wall_begin, wall_end, _ = done[at[p]]
                rest, took = times[p][at[p]]
                start = now[p] + rest
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
                now[p] = start + took
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
    if passed == "backward, of inputs":
        flop, count = flop - linear, count / 2
    if passed == "backward, of weights":
        flop, count = linear, moved
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
    shared = task["backend"] == "cpu"
    for name, seconds in layers.items():
        flop, count = work_of(task, name)
        samples.append({"shared": shared,"kind": "layer", "operation": name,
                        "dimensions": [task["micro_batch"], task["sequence"], 1, 1],
                        "shape": {k: v for k, v in task["shape"].items()
                                  if k not in ("qkv_bias", "linear_bias")},
                        "precision": "fp32", "flop": flop, "bytes": count, "seconds": seconds,
                        "warm_ups": task["warm_ups"], "stopped_by": "count"})
    for (sender, receiver, count), (_, _, *both) in lanes.items():
        for size, seconds in zip((0, count), both):
            samples.append({"kind": "link", "operation": "send", "dimensions": [size],
                            "precision": "fp32", "flop": 0, "bytes": size, "from": sender,
                            "to": receiver, "alone": True, "shared": shared, "seconds": seconds,
                            "stopped_by": "count"})
    for members, sizes in about[0][3].items():
        for size, seconds in sizes.items():
            samples.append({"kind": "collective", "operation": "all_reduce",
                            "dimensions": [size, len(members)], "precision": "fp32", "flop": 0,
                            "bytes": size, "members": list(members), "alone": True,
                            "shared": shared, "seconds": seconds, "stopped_by": "count"})
    name = task["name"] or (torch.cuda.get_device_name() if task["backend"] != "cpu" else "cpu")
    pages = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    backend = "gloo" if task["backend"] == "cpu" else "nccl"
    return {"machine": {"host": platform.node(), "gpu": name, "memory_bytes": pages,
                        "threads": task["threads"],
                        "library": f"torch {torch.__version__}, {backend}"},
            "endpoints": [{"name": f"{host}:{i}", "host": host}
                          for i, (_, _, host, _) in enumerate(about)],
            "samples": samples}


class Record:
    """What all ranks told of each iteration. The times of an iteration follow from all of them."""

    def __init__(self, task, lanes):
        self.task, self.lanes, self.told, self.undisturbed = task, lanes, [], []

    def iteration(self, told):
        """One more. Returns it as far as is known by now."""
        self.told.append(told)
        self.undisturbed = self.undisturbed or [Undisturbed() for _ in told]
        for rank, (events, begin, *_) in zip(self.undisturbed, told):
            rank.note(events, begin)
        return self.clock(told)

    def clock(self, told):
        return virtual_clock(self.task, told, self.lanes, self.undisturbed)

    def write(self, torch, about, halted):
        write(torch, self.task, [(self.clock(told), yardstick([told])) for told in self.told],
              yardstick(self.told), self.lanes, about, halted)


def yardstick(iterations):
    """Of each rank the lower tenth in these iterations; the mean of all ranks."""
    of_ranks = [sum((list(t[6]) for t in ranks), []) for ranks in zip(*iterations)]
    if not all(of_ranks):
        return 0
    return round(sum(map(lower_tenth, of_ranks)) / len(of_ranks))


def write(torch, task, iterations, of_all, lanes, about, halted):
    events = []
    for k, (iteration, _) in enumerate(iterations):
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
        "iterations": [{"ns": i["ns"], "wall_ns": i["wall_ns"], "yardstick_ns": took}
                       for i, took in iterations],
        "yardstick_ns": of_all,
        "ranks": [{"replica": i // task["ranks"], "rank": i % task["ranks"], "host": host,
                   "peak_bytes": peak} for i, (_, peak, host, _) in enumerate(about)],
        "events": events, "samples": samples_of(torch, task, lanes, about)}
    with open(task["output"], "w", encoding="utf-8") as to:
        json.dump(document, to)
        to.write("\n")
