"""Carries a plan out with torch.distributed.pipelining: plumbline run PLAN --with torch.

usage: run.py TASK.json   on one host: starts a process for each rank
       torchrun --nproc-per-node RANKS run.py TASK.json
       run.py --memory    prints the bytes of a rank itself
The task is written by plumbline. The split is the plan's, the order of passes is its exported
schedule; layers are plain transformer blocks of the model's shape. Writes the document
docs/FORMATS.md, run.
"""
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time

from layers import make_layers
from record import Record

LANE_REPETITIONS, REDUCTIONS, SPLITS = 48, 8, 12
YARDSTICK = 128, 256, 1024  # rows, columns, and those between: of both of its products
CACHE_VALUES = 1 << 24  # 64 MiB: more than the caches of most processors
REDUCED_VALUES = (1 << 10, 1 << 16, 1 << 19, 1 << 22)
stop = False


def on_signal(*_):
    global stop
    stop = True


# ---- the processes of one host

def start_all(task_path, ranks):
    """Starts a process for each rank; one that dies ends all."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    children = []
    for rank in range(ranks):
        env = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(ranks), LOCAL_RANK=str(rank),
                   MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
        children.append(subprocess.Popen([sys.executable, __file__, task_path], env=env))

    def pass_on(*_):
        for child in children:
            if child.poll() is None:
                child.send_signal(signal.SIGUSR1)

    def end_all(*_):
        for child in children:
            if child.poll() is None:
                child.kill()
        sys.exit(1)

    signal.signal(signal.SIGUSR1, pass_on)
    signal.signal(signal.SIGTERM, end_all)
    while any(child.poll() is None for child in children):
        for rank, child in enumerate(children):
            code = child.poll()
            if code is None or code == 0:
                continue
            for other in children:
                if other.poll() is None:
                    other.kill()
            if code < 0:
                why = f"rank {rank} with PID {child.pid} on node {socket.gethostname()} " \
                      f"exited on signal {-code}"
                print(why, file=sys.stderr, flush=True)
            return 2 if code == 2 else 1
        time.sleep(0.05)
    return next((child.returncode for child in children if child.returncode), 0)


# ---- what a rank does, and when

class Watch:
    """The times of layers, passes and steps on this rank."""

    def __init__(self, torch, task):
        self.torch, self.task = torch, task
        self.device = task["backend"] != "cpu"
        self.events, self.layers = [], {}
        self.counting = self.backward = False
        self.arrived, self.pieces = [], []
        self.spoil = None if self.device else torch.zeros(CACHE_VALUES)
        self.spoilt_ns = 0
        rows, columns, between = YARDSTICK
        self.reference = [torch.randn(size, requires_grad=True) for size in
                          ((rows, columns), (columns, between), (between, columns))]
        self.yardsticks = []

    def now(self):
        """Processor time of this thread; on a device, the time when it has done all."""
        if self.device:
            self.torch.cuda.synchronize()
            return time.perf_counter_ns()
        return time.thread_time_ns() - self.spoilt_ns

    def empty_caches(self):
        """Every pass starts with what no cache holds, as own kernels do: what caches hold depends
        on who else uses the processors. Not part of any time."""
        if self.spoil is not None:
            begin = time.thread_time_ns()
            self.spoil.sum()
            self.spoilt_ns += time.thread_time_ns() - begin

    def take_yardstick(self):
        """What the same small layer takes now, forward and backward: processors are faster at one
        minute than at another, with what their neighbours do."""
        if self.device:
            return
        x, up, down = self.reference
        begin = time.thread_time_ns()
        y = self.torch.nn.functional.gelu(x @ up) @ down
        self.torch.autograd.grad(y.sum(), self.reference)
        took = time.thread_time_ns() - begin
        self.spoilt_ns += took
        self.yardsticks.append(took)

    def timed(self, kind, stage, micro_batch, function, *args, **kwargs):
        self.take_yardstick()
        self.empty_caches()
        begin, wall = self.now(), time.monotonic_ns()
        self.backward = kind == "backward"
        self.arrived, self.pieces = [], []
        result = function(*args, **kwargs)
        end = self.now()
        if self.backward:
            self.close_layers(end)
        self.backward = False
        if self.counting:
            self.events.append((kind, stage, micro_batch, begin, end, wall, time.monotonic_ns(),
                                self.pieces))
        return result

    def add_layer(self, name, recompute, ns):
        """A layer of the pass that is running. Recomputed ones keep less forward."""
        self.pieces.append((f"{name} {recompute}", ns))
        if self.counting:
            again = recompute != "none" and name.endswith("backward")
            self.layers.setdefault(f"{name} {recompute}" if again else name, []).append(ns / 1e9)

    def watch_layer(self, layer, kind, recompute):
        def before(*_):
            layer.begin = self.now()

        def after(_, __, output):
            if not self.backward:
                self.add_layer(f"{kind} forward", recompute, self.now() - layer.begin)
                if output.requires_grad and not self.task["splits"]:
                    output.register_hook(lambda _: self.arrived.append((kind, recompute,
                                                                        self.now())))

        layer.register_forward_pre_hook(before)
        layer.register_forward_hook(after)

    def close_layers(self, end):
        """A layer's backward lasts from its output's gradient to that of the layer before."""
        for i, (kind, recompute, begin) in enumerate(self.arrived):
            until = self.arrived[i + 1][2] if i + 1 < len(self.arrived) else end
            self.add_layer(f"{kind} backward", recompute, until - begin)


# ---- a rank

def time_lanes(torch, dist, task, rank, lanes):
    """The fastest time of a message of each lane, and of an empty one; all ranks, one at a time."""
    device = "cuda" if task["backend"] != "cpu" else "cpu"
    found = {}
    for lane in lanes:
        sender, receiver, count = lane
        seconds = [[], []]
        dist.barrier()
        for i in range(2 * LANE_REPETITIONS if rank in (sender, receiver) else 0):
            data = torch.zeros(count // 4 if i % 2 else 1, device=device)
            stamp, ready = torch.zeros(1, dtype=torch.int64), torch.zeros(1)
            if device == "cuda":
                stamp, ready = stamp.cuda(), ready.cuda()
            if rank == sender:
                dist.recv(ready, receiver)
                stamp[0] = time.monotonic_ns()
                dist.send(data, receiver)
                dist.send(stamp, receiver)
            else:
                work = dist.irecv(data, sender)
                dist.send(ready, sender)
                work.wait()
                if device == "cuda":
                    torch.cuda.synchronize()
                end = time.monotonic_ns()
                dist.recv(stamp, sender)
                seconds[i % 2].append(max(0, end - int(stamp[0])) / 1e9)
        told = [seconds if rank == receiver else None]
        dist.broadcast_object_list(told, receiver)
        empty, whole = min(told[0][0]), min(told[0][1])
        empty = min(empty, whole)
        found[lane] = (round(1e9 * (whole - empty)), round(1e9 * empty), *told[0])
    return found


def lanes_of(task):
    ranks, lanes = task["ranks"], []
    for replica in range(task["replicas"]):
        for boundary in range(len(task["stages"]) - 1):
            a, b = (replica * ranks + task["stage_ranks"][boundary + i] for i in (0, 1))
            for lane in ((a, b, task["message_bytes"]), (b, a, task["message_bytes"])):
                if a != b and lane not in lanes:
                    lanes.append(lane)
    return lanes


def time_reduce(torch, dist, group, values, device):
    """Seconds of all-reduces of so many values, by a member of the group."""
    data, seconds = torch.zeros(values, device=device), []
    for _ in range(REDUCTIONS):
        dist.barrier(group)
        begin = time.monotonic_ns()
        dist.all_reduce(data, group=group)
        if data.is_cuda:
            torch.cuda.synchronize()
        seconds.append((time.monotonic_ns() - begin) / 1e9)
    return seconds


def time_syncs(torch, dist, stages, group):
    """Nanoseconds of an all-reduce of each own stage's gradients, the fastest of some."""
    found = {}
    for index, module, _ in stages:
        values = sum(p.numel() for p in module.parameters())
        seconds = time_reduce(torch, dist, group, values, next(module.parameters()).device)
        found[index] = round(1e9 * min(seconds))
    return found


def time_pair(torch, dist, task, rank, device):
    """All-reduces of two ranks, as replicas would need them, by size; all ranks."""
    other = task["ranks"] if task["replicas"] > 1 else 1
    if dist.get_world_size() < 2:
        return {}
    group, sizes = dist.new_group([0, other]), {}
    for values in REDUCED_VALUES if rank in (0, other) else ():
        sizes[4 * values] = time_reduce(torch, dist, group, values, device)
    return {(0, other): sizes}


def time_split(torch, watch, task, stages, device):
    """A stage's own blocks backward in one pass, and in two, as the runtime takes them apart."""
    from torch.distributed.pipelining import _backward as back
    blocks = next(([b for b in module if hasattr(b, "qkv")] for _, module, _ in stages
                   if any(hasattr(b, "qkv") for b in module)), [])[:2]
    if not blocks or any(b.recompute != "none" for b in blocks):
        return
    chain = torch.nn.Sequential(*blocks)
    weights = list(chain.parameters())
    for _ in range(SPLITS):
        ins = [torch.randn(task["micro_batch"], task["sequence"], task["shape"]["hidden"],
                           device=device, requires_grad=True) for _ in range(2)]
        outs = [chain(x) for x in ins]
        ones = [torch.randn_like(y) for y in outs]
        groups = []
        parts = {
            "backward, whole": lambda: back.stage_backward((outs[0],), (ones[0],), [ins[0]]),
            "backward, of inputs": lambda: groups.extend(
                back.stage_backward_input([outs[1]], [ones[1]], [ins[1]], iter(weights))[1]),
            "backward, of weights": lambda: back.stage_backward_weight(iter(weights), groups)}
        for name, part in parts.items():
            watch.empty_caches()
            begin = watch.now()
            part()
            watch.layers.setdefault(f"block {name}", []).append(
                (watch.now() - begin) / 1e9 / len(blocks))
    watch.arrived = []
    chain.zero_grad()


def run_rank(task):
    signal.signal(signal.SIGUSR1, on_signal)  # one may come before everything is loaded
    try:
        import torch
        import torch.distributed as dist
        import torch.utils.checkpoint
        from torch.distributed.pipelining import PipelineStage
        from torch.distributed.pipelining.schedules import _PipelineScheduleRuntime
    except ImportError as e:
        print(f"plumbline run: --with torch: {sys.executable} lacks torch.distributed.pipelining "
              f"({e}); --python names another", file=sys.stderr, flush=True)
        return 2
    rank, ranks = int(os.environ["RANK"]), task["ranks"]
    torch.set_num_threads(task["threads"])
    device = torch.device("cpu")
    if task["backend"] != "cpu":
        device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        torch.cuda.set_device(device)
    dist.init_process_group("gloo" if task["backend"] == "cpu" else "nccl")
    torch.manual_seed(task["seed"] + rank)
    pipelines = [dist.new_group([d * ranks + r for r in range(ranks)])
                 for d in range(task["replicas"])]
    rings = [dist.new_group([d * ranks + r for d in range(task["replicas"])])
             for r in range(ranks)]
    watch, stages = Watch(torch, task), []
    make = make_layers(torch, task)
    for index, layers in enumerate(task["stages"]):
        if task["stage_ranks"][index] != rank % ranks:
            continue
        made = [make[layer["kind"]](layer["recompute"]) for layer in layers]
        for layer, module in zip(layers, made):
            watch.watch_layer(module, layer["kind"], layer["recompute"])
        module = torch.nn.Sequential(*made).to(device)
        stage = PipelineStage(module, index, len(task["stages"]), device,
                              group=pipelines[rank // ranks])
        stages.append((index, module, stage))
    for index, _, stage in stages:
        wrap(watch, index, stage)
    steps = {i: make_adam(torch, m) for i, m, _ in stages}
    schedule = _PipelineScheduleRuntime([s for _, _, s in stages], task["micro_batches"],
                                        loss_fn=lambda output, _: output, scale_grads=False)
    schedule._load_csv(task["schedule"])
    lanes = time_lanes(torch, dist, task, rank, lanes_of(task))
    replicated = task["replicas"] > 1
    syncs = time_syncs(torch, dist, stages, rings[rank % ranks]) if replicated else {}
    reduced = time_pair(torch, dist, task, rank, device)
    time_split(torch, watch, task, stages, device)
    flat = {i: flatten_gradients(torch, m) for i, m, _ in stages} if replicated else {}
    count = task["micro_batches"] * task["micro_batch"]
    tokens = torch.randint(task["shape"]["vocabulary"], (count, task["sequence"]), device=device)
    first, last = (any(i == at for i, _, _ in stages) for at in (0, len(task["stages"]) - 1))
    record, halted = Record(task, lanes), False
    for k in range(-task["warm_ups"], task["iterations"]):
        watch.counting, watch.events, watch.yardsticks = k >= 0, [], []
        for index, module, _ in stages:
            if replicated:
                flat[index].zero_()
            else:
                module.zero_grad()
        dist.barrier()
        begin, wall = watch.now(), time.monotonic_ns()
        schedule.step(*((tokens,) if first else ()),
                      **({"target": torch.zeros(count, 1, device=device)} if last else {}))
        for index, module, _ in stages:
            if replicated:
                watch.timed("sync", index, None, dist.all_reduce, flat[index],
                            group=rings[rank % ranks])
        for index, _, _ in stages:
            if task["adam"]:
                watch.timed("optimizer", index, None, steps[index].step)
        flags = [None] * dist.get_world_size()
        dist.all_gather_object(flags, (watch.events, begin, wall, time.monotonic_ns(), stop, syncs,
                                       watch.yardsticks))
        halted = any(f[4] for f in flags)
        if k >= 0 and rank == 0:
            last = record.iteration(flags)
            if not task["quiet"]:
                print(f"iteration {k + 1} of {task['iterations']}: {last['ns'] / 1e6:.3f} ms, "
                      f"{last['wall_ns'] / 1e6:.3f} ms on the wall clock",
                      file=sys.stderr, flush=True)
        if halted:
            break
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    if device.type == "cuda":
        peak = torch.cuda.max_memory_allocated()
    about = [None] * dist.get_world_size()
    dist.all_gather_object(about, (watch.layers, peak, socket.gethostname(), reduced))
    if rank == 0 and record.told:
        record.write(torch, about, halted)
    elif rank == 0:
        print("plumbline run: interrupted before the first iteration; nothing is written",
              file=sys.stderr, flush=True)
    dist.destroy_process_group()
    return 0


def tell_memory():
    """Prints the bytes that a rank holds on processors besides weights and activations: Python,
    PyTorch, the runtime of pipelines, gloo, and this program's own buffers. Layers and messages are
    as small as they can be."""
    import torch
    import torch.distributed as dist
    import torch.utils.checkpoint
    from torch.distributed.pipelining import schedules  # noqa: F401
    torch.set_num_threads(1)
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    shape = {"hidden": 32, "heads": 1, "kv_heads": 1, "head_width": 32, "ffn": 32, "vocabulary": 32,
             "rms_norm": False, "gated_ffn": False, "positions": 0, "qkv_bias": False,
             "linear_bias": False}
    task = {"shape": shape, "micro_batch": 1, "sequence": 8, "fused": False, "backend": "cpu",
            "splits": False}
    watch, make = Watch(torch, task), make_layers(torch, task)
    module = torch.nn.Sequential(*[make[kind]("none") for kind in ("embedding", "block", "head")])
    step, reduced = make_adam(torch, module), torch.zeros(REDUCED_VALUES[-1])
    for _ in range(2):
        watch.take_yardstick()
        watch.empty_caches()
        module(torch.zeros(1, 8, dtype=torch.int64)).backward(torch.ones(1))
        step.step()
        dist.all_reduce(reduced)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
    dist.destroy_process_group()
    return 0


def make_adam(torch, module):
    try:
        return torch.optim.Adam(module.parameters(), fused=True)
    except RuntimeError:  # before 2.4 only on devices
        return torch.optim.Adam(module.parameters(), foreach=True)


def wrap(watch, index, stage):
    forward, backward = stage.forward_one_chunk, stage.backward_one_chunk
    weight = stage.backward_weight_one_chunk

    def forward_chunk(chunk, *args, **kwargs):
        return watch.timed("forward", index, chunk, forward, chunk, *args, **kwargs)

    def backward_chunk(chunk, *args, **kwargs):
        return watch.timed("backward", index, chunk, backward, chunk, *args, **kwargs)

    def weight_chunk(chunk, *args, **kwargs):
        return watch.timed("weight", index, chunk, weight, chunk, *args, **kwargs)

    stage.forward_one_chunk = forward_chunk
    stage.backward_one_chunk = backward_chunk
    stage.backward_weight_one_chunk = weight_chunk


def flatten_gradients(torch, module):
    """Gradients as views of one buffer, as data-parallel wrappers keep them."""
    parameters, at = list(module.parameters()), 0
    flat = torch.zeros(sum(p.numel() for p in parameters), device=parameters[0].device)
    for p in parameters:
        p.grad = flat[at:at + p.numel()].view_as(p)
        at += p.numel()
    return flat


def main():
    if sys.argv[1:] == ["--memory"]:
        return tell_memory()
    with open(sys.argv[1], encoding="utf-8") as at:
        task = json.load(at)
    if "RANK" not in os.environ:
        return start_all(sys.argv[1], task["ranks"] * task["replicas"])
    return run_rank(task)


if __name__ == "__main__":
    sys.exit(main())
