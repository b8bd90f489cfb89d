"""Random offers against enumeration: plumbline offers, which searches one machine after the other
and asks each only for what would be better than the best so far, must answer what the searches of
all machines, each by itself with nothing asked, say together. Usage: offers_drawn.py PLUMBLINE
FOLDER COUNT [SEED]"""
import csv
import json
import pathlib
import random
import subprocess
import sys

plumbline, folder, count = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
draw = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
machines = {"t4-16gb": [1, 2, 3], "v100-16gb": [1, 2], "a100-40gb": [1, 2], "h100-80gb": [1]}
sequence = 512
alone = (
    {}
)  # (model, machine, nodes, sequences of an iteration) -> seconds of an iteration, None: no plan
seen = {"answers": 0, "nothing within": 0, "machines": set()}


def run(*words):
    return subprocess.run([plumbline, *map(str, words)], capture_output=True, text=True)


def model(layers, hidden):
    path = folder / f"model-{layers}-{hidden}.json"
    path.write_text(
        json.dumps(
            {
                "kind": "plumbline.model",
                "version": 1,
                "name": f"small-{layers}-{hidden}",
                "shape": {
                    "hidden": hidden,
                    "ffn": 4 * hidden,
                    "heads": 8,
                    "kv_heads": 8,
                    "head_width": hidden // 8,
                    "vocabulary": 32000,
                },
                "runs": [
                    {"name": "embedding", "kind": "embedding"},
                    {"name": "block", "kind": "block", "count": layers, "recomputable": True},
                    {"name": "head", "kind": "head"},
                ],
            }
        )
    )
    return path


def seconds_alone(key, problem):
    if key not in alone:
        plan = folder / "alone.json"
        plan.unlink(missing_ok=True)
        told = run("solve", problem, "-o", plan, "--gap", 0, "--quiet")
        if told.returncode not in (0, 11):
            sys.exit(f"{problem}: {told.stderr}")
        alone[key] = (
            json.loads(plan.read_text())["iteration_ns"] / 1e9 if told.returncode == 0 else None
        )
    return alone[key]


def close(a, b):
    return abs(a - b) <= 1e-7 * max(abs(a), abs(b))


def one(number):
    # The largest fits on none of the lesser machines: 18 10^9 parameters.
    layers, hidden = draw.choice([(2, 512), (4, 1024), (6, 2048), (22, 8192)])
    batch, tokens = draw.choice([8, 12, 16]), 10 ** draw.uniform(6, 9)
    offers = {}
    for machine in draw.sample(sorted(machines), draw.randint(2, 3)):
        offers[machine] = (
            draw.sample(machines[machine], draw.randint(1, len(machines[machine]))),
            round(draw.uniform(0.2, 6), 3),
        )
    work = folder / f"draw-{number}"
    words = [
        "offers",
        "--model",
        model(layers, hidden),
        "--sequence",
        sequence,
        "--global-batch",
        batch,
        "--precision",
        "fp16",
        "--tokens",
        tokens,
        "--gap",
        0,
        "--time-limit-s",
        0,
        "--force",
        "-o",
        work,
    ]
    for machine, (nodes, price) in offers.items():
        words += ["--offer", f"{machine}:{','.join(map(str, nodes))}:{price}"]
    run(*words, "--within-hours", 1e-9)  # the documents of all machines; nothing is within
    rows = list(csv.DictReader(open(work / "offers.csv")))
    truth = {}
    for row in rows:
        name = f"{row['machine']}-{row['nodes']}"
        s = seconds_alone(
            (layers, hidden, row["machine"], row["nodes"], batch), work / name / "problem.json"
        )
        hours = s and tokens / (sequence * batch) * s / 3600
        truth[name] = hours and (hours, hours * int(row["gpus"]) * float(row["gpu_hour_price"]))
    plans = [t for t in truth.values() if t]
    within = budget = float("inf")
    if plans and draw.random() < 0.6:
        within = draw.choice(plans)[0] * draw.uniform(0.8, 1.3)
    if plans and draw.random() < 0.5:
        budget = draw.choice(plans)[1] * draw.uniform(0.8, 1.3)
    told = run(
        *words,
        *(["--within-hours", within] if within < 1e30 else []),
        *(["--budget", budget] if budget < 1e30 else []),
    )
    rows = list(csv.DictReader(open(work / "offers.csv")))
    counted = 0 if budget < 1e30 else 1  # hours, or the price
    good = {n: t for n, t in truth.items() if t and t[0] <= within and t[1] <= budget}
    best = [r for r in rows if r["best"] == "1"]
    if not good:
        seen["nothing within"] += 1
        if best or told.returncode != 11:
            return f"nothing is within, but {best or told.stderr}"
    else:
        seen["answers"] += 1
        if told.returncode != 0 or len(best) != 1:
            return f"no answer: {told.stderr}"
        least = min(t[counted] for t in good.values())
        mine = float(best[0]["price" if counted else "hours"])
        if not close(mine, least):
            return (f"{mine} of {best[0]['machine']}-{best[0]['nodes']}, "
                    f"but {least} is the least of {good}")
        seen["machines"].add(best[0]["machine"] + best[0]["nodes"])
        stated = float(told.stdout.split(" less than ")[1].split()[0])
        if stated > least * (1 + 1e-5):
            return f"bound {stated}, but {least} is had"
    for row in rows:
        t = truth[f"{row['machine']}-{row['nodes']}"]
        if row["state"] == "plan" and not (
            t and close(float(row["hours"]), t[0]) and t[0] <= within and t[1] <= budget
        ):
            return f"{row}: alone {t}"
        if row["state"].startswith("none found") or (row["state"] == "no plan" and t):
            return f"{row}: alone {t}"
        if row["state"].startswith("not within") and t and t[0] <= within and t[1] <= budget:
            return f"{row}: alone {t}"
        if (
            row["state"].startswith("no better")
            and t
            and (not good or t[counted] < least * (1 - 1e-7))
        ):
            return f"{row}: alone {t}"
        if t and row["hours_at_least"] and float(row["hours_at_least"]) > t[0] * (1 + 1e-7):
            return f"{row}: at least, but alone {t}"
    return None


for number in range(count):
    wrong = one(number)
    if wrong:
        sys.exit(f"offers {number}: {wrong}")
kinds = seen["machines"]
print(
    f"{count} draws of offers: {seen['answers']} answered as enumeration does, "
    f"by {len(kinds)} machines; {seen['nothing within']} have none"
)
if count >= 20 and (seen["answers"] * 2 < count or not seen["nothing within"] or len(kinds) < 3):
    sys.exit("the draws are too much alike")
