"""A CSV of passes, read by the rules that torch.distributed.pipelining documents: schedule_check.py
PLAN.json SCHEDULE.csv. Each stage has each micro-batch forward once and backward once (whole, or in
its two halves) on the rank that holds it; the ranks' orders and the messages between stages can all
be kept, run one after another. Where torch is installed its own reader takes the file too, and what
it calls by name (Interleaved1F1B, ZBVZeroBubble) is in the same order."""
import csv, json, re, sys

plan, path = json.load(open(sys.argv[1])), sys.argv[2]
layout = plan["layout"]
ranks = layout["pipeline"]
stages, batches = len(plan["stages"]), plan["micro_batches"]
rows = [
    [re.fullmatch(r"(\d+)([FIBW])(\d+)", cell.strip()).groups() for cell in row]
    for row in csv.reader(open(path))
]
rows = [[(int(s), kind, int(m)) for s, kind, m in row] for row in rows]
assert len(rows) == ranks, f"{len(rows)} lines, not {ranks}"

folds = layout.get("schedule") in ("zb-v", "v-half", "v-min")
for rank, row in enumerate(rows):
    held = {rank, 2 * ranks - 1 - rank} if folds else set(range(rank, stages, ranks))
    assert {s for s, _, _ in row} == held, f"rank {rank} holds {held}"
all_passes = [p for row in rows for p in row]
assert len(set(all_passes)) == len(all_passes), "a pass stands twice"
done = set(all_passes)
for s in range(stages):
    for m in range(batches):
        assert (s, "F", m) in done, f"no {s}F{m}"
        halves = (s, "I", m) in done, (s, "W", m) in done
        assert (
            halves == (False, False) if (s, "B", m) in done else all(halves)
        ), f"no backward of {s}, {m}"
assert len(done) == stages * batches * (3 if any(k == "I" for _, k, _ in done) else 2)

at, ran = [0] * ranks, set()


def ready(s, kind, m):
    back = lambda stage: (stage, "B", m) in ran or (stage, "I", m) in ran
    if kind == "F":
        return s == 0 or (s - 1, "F", m) in ran
    if kind == "W":
        return (s, "I", m) in ran
    return (s, "F", m) in ran and (s == stages - 1 or back(s + 1))


while len(ran) < len(all_passes):
    before = len(ran)
    for rank, row in enumerate(rows):
        while at[rank] < len(row) and ready(*row[at[rank]]):
            ran.add(row[at[rank]])
            at[rank] += 1
    assert len(ran) > before, f"a deadlock: {[row[i] for row, i in zip(rows, at) if i < len(row)]}"

try:
    import torch.distributed.pipelining.schedules as torch_schedules
except ImportError:
    print("torch is not installed: its reader was not asked")
    sys.exit()
from unittest import mock

order = {}
with open(path) as file:
    for rank, row in enumerate(csv.reader(file)):
        order[rank] = [torch_schedules._Action.from_str(cell) for cell in row]
torch_schedules._validate_schedule(order, ranks, stages, batches)
mapping = {
    s: (s if s < ranks else 2 * ranks - 1 - s) if folds else s % ranks for s in range(stages)
}
torch_schedules._add_send_recv({r: list(a) for r, a in order.items()}, lambda s: mapping[s], stages)
names = {"interleaved": "ScheduleInterleaved1F1B", "zb-v": "ScheduleZBVZeroBubble"}
name = names.get(layout.get("schedule"))
if name:
    for rank in range(ranks):
        stand_ins = [
            mock.Mock(
                group_size=ranks,
                group_rank=rank,
                num_stages=stages,
                stage_index=s,
                is_last=s == stages - 1,
                has_backward=True,
                is_first=s == 0,
            )
            for s in sorted(s for s in mapping if mapping[s] == rank)
        ]
        own = getattr(torch_schedules, name)(stand_ins, batches, loss_fn=lambda a, b: 0)
        its = [str(a) for a in own.pipeline_order[rank] if a is not None]
        assert its == [
            str(a) for a in order[rank]
        ], f"rank {rank} of {name}: {its[:40]} is not {[str(a) for a in order[rank]][:40]}"
print(
    "read by torch",
    torch_schedules.torch.__version__,
    "and in the order of",
    name or "no class of its own",
)
