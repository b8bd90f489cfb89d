"""Random documents of designs against enumeration: plumbline offers --designs, which orders
machines by bounds and dismisses most of them without a search, must answer what each choice
searched by itself says, and no bound may be above what a machine reaches. Area, power, price and
the documents of a choice are computed again here. Usage: designs_drawn.py PLUMBLINE FOLDER COUNT
[SEED]"""
import csv
import itertools
import json
import math
import pathlib
import random
import subprocess
import sys

plumbline, folder, count = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
draw = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
sequence = 256
axes = {"matrix_units": [1, 2, 4, 7, 16], "rows": [8, 16, 64, 100, 128], "columns": [8, 64, 128],
        "vector_units": [1, 2, 8], "lanes": [16, 128], "buffer_bytes": [1 << 16, 1 << 20, 1 << 25],
        "clock_hz": [1e9, 1.3e9], "memory_bytes": [5e8, 4e9, 16e9],
        "memory_bytes_per_s": [1e11, 1.2e12], "link_bytes_per_s": [1e10, 1e11],
        "network_bytes_per_s": [4e9, 25e9], "devices": [1, 2, 4], "nodes": [1, 2]}
alone = {}
seen = {"answers": 0, "nothing within": 0, "dismissed": 0, "searched": 0, "near": 0.0}


def run(*words):
    return subprocess.run([plumbline, *map(str, words)], capture_output=True, text=True)


def model(layers, hidden, heads, experts):
    name = f"small-{layers}-{hidden}-{heads}-{experts}"
    block = {"name": "block", "kind": "block", "count": layers, "recomputable": True}
    if experts:
        block.update(kind="moe", moe={"experts": experts, "top_k": 2, "ffn": hidden})
    shape = {"hidden": hidden, "ffn": 4 * hidden, "heads": heads, "kv_heads": heads,
             "head_width": hidden // heads, "vocabulary": 5000}
    path = folder / f"{name}.json"
    path.write_text(json.dumps({
        "kind": "plumbline.model", "version": 1, "name": name, "shape": shape,
        "runs": [{"name": "embedding", "kind": "embedding"}, block,
                 {"name": "head", "kind": "head"}]}))
    return path


def amounts(x, area=0):
    return {"fixed": 1, "multiplier": x["matrix_units"] * x["rows"] * x["columns"],
            "matrix_unit": x["matrix_units"], "lane": x["vector_units"] * x["lanes"],
            "vector_unit": x["vector_units"], "buffer_byte": x["buffer_bytes"],
            "memory_byte": x["memory_bytes"], "memory_byte_per_s": x["memory_bytes_per_s"],
            "link_byte_per_s": x["link_bytes_per_s"] + x["network_bytes_per_s"], "area_mm2": area}


def summed(terms, x, area=0):
    return sum(each * amounts(x, area)[term] for term, each in terms.items())


def close(a, b, by=1e-7):
    return abs(a - b) <= by * max(abs(a), abs(b))


def check_documents(at, x, price):
    gpu = json.loads((at / "costs.json").read_text())["gpus"][0]
    group = json.loads((at / "cluster.json").read_text())["groups"][0]
    lanes = x["vector_units"] * x["lanes"] * x["clock_hz"]
    peak = 2 * x["matrix_units"] * x["rows"] * x["columns"] * x["clock_hz"]
    rates = {r["precision"]: r for r in gpu["precisions"]}["bf16"]
    pairs = [(rates["product_flop_per_s"]["value"], peak),
             (rates["attention_flop_per_s"]["value"], peak),
             (rates["product_bytes_per_s"]["value"], x["memory_bytes_per_s"]),
             (gpu["memory_bytes_per_s"]["value"], min(x["memory_bytes_per_s"], 2 * lanes)),
             (gpu["score_cells_per_s"]["value"], lanes / 4),
             (group["memory_bytes"], x["memory_bytes"]), (group["nodes"], x["nodes"]),
             (group["gpus_per_node"], x["devices"]),
             (group["intra"]["bytes_per_s"], x["link_bytes_per_s"]),
             (group["nics"][0]["link"]["bytes_per_s"], x["network_bytes_per_s"]),
             (group["nics"][0]["count"], x["devices"]), (group.get("gpu_hour_price", 0), price)]
    pairs += [(gpu["arrays"][key], x[of]) for key, of in (
        ("units", "matrix_units"), ("rows", "rows"), ("columns", "columns"),
        ("clock_hz", "clock_hz"), ("buffer_bytes", "buffer_bytes"))]
    return next((f"{at}: {a}, not {b}" for a, b in pairs if not close(a, b)), None)


def hours_alone(common, x, tokens):
    key = (tuple(map(str, common)), tuple(sorted(x.items())))
    if key not in alone:
        document, at = folder / "one.json", folder / "one"
        document.write_text(json.dumps({"kind": "plumbline.designs", "version": 1, "name": "one",
                                        **{k: {"values": [v]} for k, v in x.items()}}))
        told = run("offers", *common, "--designs", document, "--fastest", "--tokens", 1e9,
                   "--gap", 0, "--time-limit-s", 0, "--force", "-o", at)
        if told.returncode not in (0, 11):
            sys.exit(f"{x}: {told.stderr}")
        row = list(csv.DictReader(open(at / "offers.csv")))[0]
        alone[key] = float(row["hours"]) / 1e9 if told.returncode == 0 else None
        wrong = check_documents(at / "one", x, 0)
        if wrong:
            sys.exit(wrong)
    return alone[key] and alone[key] * tokens


def one(number):
    layers, hidden, heads = draw.choice([(2, 128, 2), (4, 256, 4), (3, 512, 8), (2, 256, 1)])
    common = ["--model", model(layers, hidden, heads, draw.choice([0, 0, 0, 4])), "--sequence",
              sequence, "--global-batch", draw.choice([4, 8, 12]), "--for", "any", "--schedule",
              "1f1b"]
    several = draw.sample(sorted(axes), draw.randint(1, 3))
    lists = {a: sorted(draw.sample(v, min(len(v), draw.randint(2, 3)))) if a in several
             else [draw.choice(v)] for a, v in axes.items()}
    while math.prod(map(len, lists.values())) > 9:
        max(lists.values(), key=len).pop()
    tokens = 10 ** draw.uniform(6, 9)
    document = {"kind": "plumbline.designs", "version": 1, "name": "drawn",
                **{a: {"values": v} for a, v in lists.items()}}
    if draw.random() < 0.3 and "columns" not in several:
        del document["columns"], lists["columns"]
    if draw.random() < 0.3 and "lanes" not in several:
        del document["lanes"], lists["lanes"]
    if draw.random() < 0.3 and len(several) == 1:
        document["rows"] = {"from": 8, "to": 32, "times": 2}
        lists["rows"] = [8, 16, 32]
    area = {"fixed": 1, "multiplier": 1e-3, "lane": 1e-3, "buffer_byte": 1e-6}
    power = {"fixed": 20, "area_mm2": draw.uniform(0, 1), "memory_byte_per_s": 1e-10}
    price = {"fixed": 0.1, "area_mm2": draw.uniform(0, 0.05), "memory_byte": 1e-10,
             "link_byte_per_s": 1e-12}
    choices = []
    for values in itertools.product(*lists.values()):
        x = dict(zip(lists, values))
        x.setdefault("columns", x["rows"])
        x.setdefault("lanes", x["columns"])
        a = summed(area, x)
        choices.append((x, a, summed(power, x, a), summed(price, x, a)))
    document.update(area=area, power=power, hour_price=price)
    if draw.random() < 0.4:
        document["area_most_mm2"] = draw.choice(choices)[1] * 1.0001
    if draw.random() < 0.3:
        x = draw.choice(choices)
        document["power_most_w"] = x[2] * x[0]["devices"] * x[0]["nodes"] * 1.0001
    within = [c for c in choices
              if c[1] <= document.get("area_most_mm2", 1e30) and
              c[2] * c[0]["devices"] * c[0]["nodes"] <= document.get("power_most_w", 1e30)]
    truth = [(hours_alone(common, c[0], tokens), c) for c in within]
    priced = [(h, h * c[0]["devices"] * c[0]["nodes"] * c[3], c) for h, c in truth if h]
    words, limit_hours, limit_price = [], 1e30, 1e30
    by_hours = draw.random() < 0.5
    if priced and draw.random() < 0.4:
        limit_hours = draw.choice(priced)[0] * draw.uniform(0.9, 1.2)
        words += ["--within-hours", repr(limit_hours)]
    if by_hours and priced and draw.random() < 0.5:
        limit_price = draw.choice(priced)[1] * draw.uniform(0.9, 1.2)
        words += ["--budget", repr(limit_price)]
    elif by_hours:
        words += ["--fastest"]
    gap = draw.choice([0, 0, 0.03])
    path, work = folder / "drawn.json", folder / f"draw-{number}"
    path.write_text(json.dumps(document))
    told = run("offers", *common, "--designs", path, "--tokens", tokens, "--gap", gap,
               "--time-limit-s", 0, *words,
               "--force", "-o", work)
    good = [p for p in priced if p[0] <= limit_hours and p[1] <= limit_price]
    if told.returncode not in (0, 11):
        return told.stderr
    rows = list(csv.DictReader(open(work / "offers.csv")))
    if len(rows) != len(within):
        return f"{len(rows)} machines, but {len(within)} within the limits"
    best = [r for r in rows if r["best"] == "1"]
    if not good:
        seen["nothing within"] += 1
        return None if not best and told.returncode == 11 else f"nothing is within, but {best}"
    seen["answers"] += 1
    least = min(p[0 if by_hours else 1] for p in good)
    if len(best) != 1:
        return f"no answer: {told.stdout}{told.stderr}"
    mine = float(best[0]["hours" if by_hours else "price"])
    if not (mine <= least / (1 - gap) ** 2 * (1 + 1e-7) and mine >= least * (1 - 1e-7)):
        return f"{mine} of {best[0]}, but {least} is the least"
    stated = float(told.stdout.split(" less than ")[1].split()[0])
    if stated > least * (1 + 1e-5) or (gap == 0 and not close(stated, least, 1e-5)):
        return f"bound {stated}, but {least} is had"
    for row in rows:
        x = {a: float(row[a]) for a in axes}
        of = [(h, c) for h, c in truth if all(close(c[0][a], x[a], 1e-9) for a in axes)]
        if len(of) != 1:
            return f"{row}: {len(of)} such choices"
        hours, c = of[0]
        if not (close(float(row["area_mm2"]), c[1]) and close(float(row["power_w"]), c[2]) and
                close(float(row["gpu_hour_price"]), c[3])):
            return f"{row}: {c}"
        dismissed = row["state"].startswith("dismissed")
        seen["dismissed" if dismissed else "searched"] += 1
        if dismissed and hours:
            seen["near"] += float(row["hours_at_least"]) / hours
        # What is not better than the best by the gap is only known not to be so.
        if hours and row["hours_at_least"] and dismissed and float(
                row["hours_at_least"]) > hours * (1 + 1e-7):
            return f"{row}: at least, but alone {hours}"
        if row["state"].startswith("not within") and hours and \
                hours < limit_hours * (1 - 1e-7) and \
                hours * c[0]["devices"] * c[0]["nodes"] * c[3] < limit_price * (1 - 1e-7):
            return f"{row}: alone {hours}"
    return None


for number in range(count):
    wrong = one(number)
    if wrong:
        sys.exit(f"designs {number}: {wrong}")
print(f"{count} draws of designs: {seen['answers']} answered as enumeration does, "
      f"{seen['nothing within']} have none; {seen['searched']} machines searched, "
      f"{seen['dismissed']} dismissed, by bounds of "
      f"{100 * seen['near'] / max(1, seen['dismissed']):.0f} % of what they take")
if count >= 20 and (seen["answers"] * 2 < count or seen["dismissed"] < seen["searched"] / 20):
    sys.exit("the draws are too much alike")
