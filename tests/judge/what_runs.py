"""A space is what runs: no run that a framework can do is faster than the bound of its space.

what_runs.py PLUMBLINE drawn SEED COUNT        layouts and switches drawn here, from what the
                                               frameworks' own checks allow, COUNT for each space
what_runs.py PLUMBLINE rows SECONDS FILE ...   rows of published runs (docs/FORMATS.md, runs),
                                               each against a space of its own
                                               degrees; WHOLE: so many of them, drawn, against
                                               the space of all layouts

The runs are priced by `plumbline predict`, the bound is that of `solve` on the problem that
`example gpt --layouts all` makes of the same model, cluster, batch, numerics and costs. Runs that
the plan's own memory rule refuses are counted apart.
"""
import csv, json, os, pathlib, random, subprocess, sys, tempfile

plumbline, mode = sys.argv[1:3]
KEYS = ("gpu num_gpus layers hidden ffn heads kv_heads vocab positions gated rms_norm tied bias "
        "dropout seq tp cp pp dp vpp micro_batch global_batch recompute sp zero flash overlap "
        "precision gradient_bytes overlap_messages overlap_tensor scattered_messages fused_loss "
        "compiled schedule trainer model lora_rank ep etp graphs dispatcher loss_in_place "
        "experts top_k expert_ffn overlap_dispatch").split()


def call(*words, code=(0,)):
    done = subprocess.run([plumbline, *map(str, words)], capture_output=True, text=True)
    if WHOLE and "no plan found within the limit" in done.stderr: return "no plan"
    if done.returncode == 2 and 2 in code and any(
            words in done.stderr for words in ("runs no layout of the space", "has nodes of",
                                           "cannot express this model")):
        return "no layout"
    if done.returncode not in code or done.returncode == 2:
        raise SystemExit(f"what_runs: {' '.join(map(str, words))}: {done.stderr or done.stdout}")
    return done.stdout


# ---- runs and spaces


def model_of(x):
    runs = [{"name": "embedding", "kind": "embedding", "count": 1},
            {"name": "block", "kind": "block", "count": int(x["layers"]), "recomputable": True},
            {"name": "head", "kind": "head", "count": 1}]
    if int(x.get("experts") or 0):
        runs[1].update(kind="moe", moe={"experts": int(x["experts"]), "top_k": int(x["top_k"]),
                                        "ffn": int(x["expert_ffn"])})
    hidden, heads, llama = int(x["hidden"]), int(x["heads"]), bool(int(x["rms_norm"]))
    return {"kind": "plumbline.model", "version": 1, "name": "a model",
            "shape": {"hidden": hidden, "ffn": int(x["ffn"]), "heads": heads,
                      "kv_heads": int(x["kv_heads"]), "head_width": hidden // heads,
                      "vocabulary": int(x["vocab"]), "positions": int(x["positions"]),
                      "gated_ffn": bool(int(x["gated"])), "rms_norm": llama,
                      "tied_embeddings": bool(int(x["tied"])),
                      "dropout": bool(int(x["dropout"])), "linear_bias": bool(int(x["bias"])),
                      "qkv_bias": bool(int(x["bias"]))},
            "runs": runs}


def predicted(rows, folder):
    with open(folder / "rows.csv", "w", newline="") as out:
        table = csv.DictWriter(out, ["id", "source", *KEYS, "metric", "value", "unit", "notes"])
        table.writeheader()
        for i, x in enumerate(rows):
            table.writerow({"id": i, "source": "here", "metric": "iteration_time", "value": 1,
                            "unit": "s", **{key: x[key] for key in KEYS if key in x}})
    done = subprocess.run([plumbline, "predict", folder / "rows.csv", "--no-ranges", "--json"],
                          capture_output=True, text=True) # a row without a time says why
    if not done.stdout: raise SystemExit(f"what_runs: {done.stderr}")
    return json.loads(done.stdout)


# torchtitan trains models of its own alone.
OWN_MODELS = {(32, 4096): "llama-3.1-8b", (80, 8192): "llama-3.1-70b",
              (126, 16384): "llama-3.1-405b"}
FIXED = {"tensor": "tp", "context": "cp", "pipeline": "pp", "data": "dp", "zero": "zero",
         "micro_batch": "micro_batch", "sequence_parallel": "sp"}
EXPERTS = {"expert": "ep", "expert_tensor": "etp"}
MODELS = pathlib.Path(__file__).parents[2] / "data/models"


def setting_of(column):
    """As a job names it: first_layers, or modules in the order of the schema's."""
    name, layers, _ = column.partition(":")
    schema = MODELS.parents[1] / "docs/schemas/recompute_setting.schema.json"
    if layers: return "first_layers"
    return next(own for own in json.loads(schema.read_text())["enum"]
                if set(own.split("+")) == set(name.split("+")))


def fix(job, x):
    """Of the job's space only the run's own layout is left, with whatever switches and also its
    own recomputation."""
    space = {key: job["space"][key] for key in ("framework", "switches") if key in job["space"]}
    keys = {**FIXED, **(EXPERTS if int(x.get("ep") or 1) > 1 else {})}
    space.update({key: [int(x[column])] for key, column in keys.items()})
    space["schedule"] = [x["schedule"]]
    space["uneven_stages"] = True
    space["gradient_sync"] = ["overlapped" if int(x["overlap"]) else "exposed"]
    if int(x["vpp"]) > 1: space["virtual_stages"] = [int(x["vpp"])]
    if int(x.get("ep") or 1) > 1: space["overlapped_dispatch"] = [0, 1]
    mode = setting_of(x["recompute"])
    if mode not in job["recompute"]: job["recompute"].append(mode)
    job["space"] = space
    job["layout"]["fused_attention"] = str(x["flash"]) != "0"


def own_model(x, framework, folder):
    """The run's model: by name, with adapters on frozen blocks, or by its shape."""
    if x.get("model") and not x["lora_rank"]: return x["model"]
    if x.get("model"):
        model = json.loads(next(MODELS.rglob(x["model"] + ".json")).read_text())
        for run in model["runs"]:
            run["frozen"] = True
            run["adapter_rank"] = int(x["lora_rank"]) if run["kind"] == "block" else 0
    elif framework.startswith("torchtitan"): return OWN_MODELS[int(x["layers"]), int(x["hidden"])]
    else: model = model_of(x)
    (folder / "a-model.json").write_text(json.dumps(model))
    return folder / "a-model.json"


def bound(x, framework, seconds, folder, fixed=False):
    """(bound, plan's time) of the space, in seconds; None: it has no layout."""
    own = own_model(x, framework, folder)
    more = ["--graphs", x["graphs"]] if x.get("graphs") else []
    if int(x.get("ep") or 1) > 1: more += ["--dispatcher", x["dispatcher"]]
    made = call("example", "gpt", "--model", own, "--gpu", x["gpu"].lower(), "--gpus",
                x["num_gpus"], "--sequence", x["seq"], "--global-batch", x["global_batch"],
                "--precision", x["precision"], "--gradient-bytes", x["gradient_bytes"], "--costs",
                "kernels", "--framework", framework, "--layouts", "all", "--force", *more, "-o",
                folder / "problem", code=(0, 2))
    if made == "no layout": return None # of nodes that are sold
    if fixed:
        job = json.loads((folder / "problem/job.json").read_text())
        fix(job, x)
        (folder / "problem/job.json").write_text(json.dumps(job))
    (folder / "plan.json").unlink(missing_ok=True)
    said = call("solve", folder / "problem/problem.json", "--time-limit-s", seconds, "--gap", 0.01,
                "--quiet", "-o", folder / "plan.json", code=(0, 2, 10, 11))
    if "no layout" in said: return None
    if said == "no plan": return 0, 0
    plan = json.loads((folder / "plan.json").read_text())
    return plan["bound_ns"] / 1e9, plan.get("iteration_ns", 0) / 1e9


def rounding(x):
    """A message's parts are rounded one by one (docs/PROOFS.md 8)."""
    return 12e-9 * int(x["pp"]) * int(x["vpp"])


# ---- drawn

GPT = dict(layers=24, hidden=2048, ffn=8192, heads=16, kv_heads=16, vocab=51200, positions=2048,
           gated=0, rms_norm=0, tied=1, bias=1, dropout=1, seq=2048)
LLAMA = dict(layers=32, hidden=4096, ffn=14336, heads=32, kv_heads=8, vocab=128256, positions=0,
             gated=1, rms_norm=1, tied=0, bias=0, dropout=0, seq=8192)
WIDE = dict(LLAMA, layers=48, hidden=8192, ffn=28672, heads=64)
SPACES = [  # framework, model, GPU, GPUs, batch, precision
    ("megatron", GPT, "A100-80GB", 16, 64, "bf16"),
    ("megatron", LLAMA, "H100-80GB", 32, 128, "fp8"),
    ("nemo", WIDE, "H100-80GB", 128, 128, "bf16"),
    ("torchtitan", LLAMA, "H100-80GB", 32, 64, "bf16"),
    ("torchtitan-0.2", LLAMA, "A100-80GB", 16, 64, "bf16"),
    ("deepspeed", GPT, "V100-16GB", 16, 64, "fp16"),
    ("deepspeed", LLAMA, "A100-80GB", 32, 64, "bf16")]


def divisors(n):
    return [i for i in range(1, n + 1) if n % i == 0]


def core_switches(x, rng):
    """Megatron-LM's arguments.py: messages only of several stages a rank, and always of two ranks;
    tensor collectives only with sequence parallelism."""
    x["overlap_messages"] = int(x["vpp"] > 1 and (x["pp"] == 2 or rng.random() < 0.5))
    x["overlap_tensor"] = int(x["sp"] and rng.random() < 0.5)
    x["fused_loss"] = rng.choice((0, 1))
    x["trainer"] = "megatron"


def drawn(framework, shape, gpu, gpus, batch, precision, rng):
    """One run of the framework; None: this draw is none."""
    titan, deep = framework.startswith("torchtitan"), framework == "deepspeed"
    tp = rng.choice([t for t in (1, 2, 4, 8) if shape["kv_heads"] % t == 0])
    cp = 1 if deep else rng.choice((1, 1, 2))
    pp = rng.choice([p for p in (1, 2, 4, 8, 16) if p <= shape["layers"]])
    if gpus % (tp * cp * pp): return None
    dp = gpus // (tp * cp * pp)
    if batch % dp: return None
    x = dict(shape, gpu=gpu, num_gpus=gpus, tp=tp, cp=cp, pp=pp, dp=dp, global_batch=batch,
             precision=precision, flash="te", vpp=1, schedule="1f1b", scattered_messages=0,
             compiled=0, micro_batch=rng.choice([b for b in divisors(batch // dp) if b <= 8]),
             recompute=rng.choice(("none", "full") if deep else ("none", "selective", "full")),
             gradient_bytes=2 if deep else 4, sp=int(tp > 1 and (titan or rng.random() < 0.7)))
    steps = batch // dp // x["micro_batch"]
    x["overlap"] = 1 if titan else rng.choice((0, 1))
    x["zero"] = rng.choice((2, 3) if titan else (0, 1))
    if pp > 1 and not deep and rng.random() < 0.6:
        stages = [v for v in (2, 3, 4, 6) if shape["layers"] % (v * pp) == 0]
        if not stages or steps % pp: return None
        x["vpp"], x["schedule"] = rng.choice(stages), "interleaved"
    if titan and pp > 1 and x["vpp"] == 1 and rng.random() < 0.3: x["schedule"] = "gpipe"
    if not titan and not deep: core_switches(x, rng)
    elif titan:
        if framework == "torchtitan-0.2" and dp * cp == 1 and tp * pp > 1: return None
        x.update(trainer="torchtitan", compiled=rng.choice((0, 1)), fused_loss=rng.choice((0, 1)),
                 overlap_messages=rng.choice((0, 1)))
        x["overlap_tensor"] = int(x["sp"] and x["compiled"] and rng.random() < 0.5)
    else:
        if pp == 1: x["zero"] = rng.choice((0, 1, 2, 3))
        if pp > 1 or not x["zero"]: x["overlap"] = 0
        x.update(trainer="deepspeed", overlap_messages=0, overlap_tensor=0, fused_loss=0,
                 scattered_messages=rng.choice((0, 1)))
    return x


def compare(name, x, seconds, answer, folder, fixed):
    """Whether the run is faster than its space's bound; prints it."""
    found = bound(x, name, seconds, folder, fixed)
    if found and 0 < found[0] <= answer + rounding(x): return 0
    print(f"VIOLATION: {answer:.9f} s, {found and found[0]} of {name}'s space: {x}")
    return 1


def compare_drawn(seed, count, folder):
    wrong = 0
    for number, space in enumerate(SPACES):
        rng, rows = random.Random(seed * 1000 + number), []
        while len(rows) < count:
            x = drawn(*space, rng)
            if x: rows.append(x)
        fit = [(a["iteration_s"], x) for a, x in zip(predicted(rows, folder), rows) if a["fits"]]
        if not fit: raise SystemExit(f"what_runs: no run of {space[0]} fits; another seed?")
        least, found = bound(rows[0], space[0], 40, folder)
        above = [(t, x) for t, x in fit if least > t + rounding(x)]
        for t, x in above[:3]:
            print(f"VIOLATION: {t:.9f} s, {least:.9f} of {space[0]}'s space: {x}")
        wrong += len(above) + (not least)
        wrong += sum(compare(space[0], x, 40, t, folder, True) for t, x in fit[:count // 8 + 1])
        print(f"{space[0]} {space[2]} x {space[3]}: bound {least:.6f} s, plan {found:.6f}; "
              f"{len(fit)} runs, the fastest {min(t for t, _ in fit):.6f}, {len(above)} faster "
              f"than the bound; {count - len(fit)} more are above the memory rule")
    return wrong


# ---- published

MOST = int(os.environ.get("GPUS_MOST", 0)) # 0: rows of any size
WHOLE = int(os.environ.get("WHOLE", 0))
DEFAULTS = dict(tp=1, cp=1, pp=1, vpp=1, micro_batch=1, recompute="none", sp=0, zero=0, flash=0,
                overlap=0, precision="fp16", overlap_messages=0, overlap_tensor=0, fused_loss=0,
                compiled=0, trainer="megatron")


def named(x, program):
    """With the switches that the framework turns on where it can."""
    titan = "titan" in program
    x["vpp"] = x["vpp"] or 1
    several, inner = int(x["tp"]) > 1, int(x["vpp"]) > 1
    x["framework"] = "any" if x["lora_rank"] else "torchtitan" if titan else "nemo"
    blank = dict(trainer="torchtitan" if titan else "megatron", recompute="none", flash="te",
                 sp=int(several), zero=2 if titan else 1, overlap=1, compiled=int(titan),
                 overlap_messages=int(inner), overlap_tensor=int(several), fused_loss=int(titan),
                 scattered_messages=0, gradient_bytes=4, loss_in_place=0,
                 schedule="interleaved" if inner else "1f1b")
    if int(x["ep"] or 1) > 1: blank.update(etp=1, dispatcher="all_to_all")
    return {**x, **{key: value for key, value in blank.items() if x[key] == ""}}


def complete(row):
    """The row with what blanks mean, as plan's frameworks run it; None: no run of these."""
    x = {key: row.get(key) or "" for key in KEYS}
    if not next(MODELS.rglob(f"{x['model']}.json"), None): x["model"] = ""
    if x["model"]: return named(x, row["framework"]) if x["global_batch"] else None
    known = all(x[key] for key in ("gpu", "num_gpus", "layers", "hidden", "seq", "global_batch"))
    if not known or row.get("metric") not in ("iteration_time", "throughput",
                                              "model_tflops_per_gpu", "tflops_per_gpu"): return None
    if row.get("framework"): x = named(x, row["framework"])
    x = {**x, **{key: value for key, value in DEFAULTS.items() if x[key] == ""}}
    if x["trainer"] not in ("megatron", "torchtitan", "deepspeed") or "*" in x["gpu"]: return None
    if x["recompute"] not in ("none", "selective", "full"): return None
    if x["gpu"] == "A100": x["gpu"] = "A100-80GB"
    if not row.get("flash") and x["precision"] != "fp16": x["flash"] = "te"
    for key in ("layers", "hidden", "seq", "num_gpus", "tp", "cp", "pp", "vpp", "micro_batch",
                "global_batch", "sp", "zero", "overlap"): x[key] = int(x[key])
    llama = x["rms_norm"] == "1"
    blank = dict(ffn=4 * x["hidden"], heads=x["hidden"] // 64, vocab=50257, gated=0, rms_norm=0,
                 tied=int(not llama), dropout=int(not llama), bias=int(not llama),
                 positions=0 if llama else x["seq"], schedule="interleaved" if x["vpp"] > 1
                 else "1f1b", dp=x["num_gpus"] // (x["tp"] * x["cp"] * x["pp"]),
                 gradient_bytes=2 if x["trainer"] == "deepspeed" else 4, scattered_messages=0)
    x = {**x, **{key: value for key, value in blank.items() if x[key] == ""}}
    if x["kv_heads"] == "": x["kv_heads"] = x["heads"]
    multiple = 128 * x["tp"]
    x["vocab"] = (int(x["vocab"]) + multiple - 1) // multiple * multiple
    return x


def runs_of(files):
    """Each run once, and what its row calls it."""
    seen = {}
    for file in files:
        for row in csv.DictReader(open(file, newline="")):
            x = complete(row)
            if not x or (MOST and int(x["num_gpus"]) > MOST): continue
            seen.setdefault(tuple(x.items()), (row["id"], x))
    runs = list(seen.values())
    if WHOLE: random.Random(37).shuffle(runs)
    return runs


def compare_row(name, x, seconds, folder):
    """What became of the run; one faster than the bound and one without a bound are printed."""
    gpus = int(x["num_gpus"])
    if x["gpu"] in ("GB200", "GB300") and gpus > 72 and gpus % 72:
        return "in parts of domains" # `example` takes these, `predict` not
    answer = predicted([x], folder)[0]
    if not answer.get("iteration_s"):
        print(f"{name}: {answer.get('reason')}: not predicted")
        return "not predicted"
    if not answer["fits"]:
        print(f"{name}: {answer['memory_bytes'] / 1e9:.1f} GB of "
              f"{answer['memory_limit_bytes'] / 1e9:.1f}: above the memory rule")
        return "above the memory rule"
    found = bound(x, x.get("framework") or x["trainer"], seconds, folder, not WHOLE)
    if not found: return "no layout there"
    if WHOLE and not found[0]: return "without a bound yet"
    if WHOLE: print(f"{name}: {answer['iteration_s']:.3f} s, bound {found[0]:.3f}", flush=True)
    if 0 < found[0] <= answer["iteration_s"] + rounding(x): return "compared"
    print(f"VIOLATION: {name}: {answer['iteration_s']:.9f} s, bound {found[0]:.9f}: {x}")
    return "faster than the bound"


def compare_rows(seconds, files, folder):
    counts = {what: 0 for what in ("compared", "above the memory rule", "no layout there",
                                   "not predicted", "in parts of domains",
                                   "without a bound yet", "faster than the bound")}
    for name, x in runs_of(files):
        counts[compare_row(name, x, seconds, folder)] += 1
        if WHOLE and counts["compared"] == WHOLE: break
    print("published runs:", ", ".join(f"{n} {what}" for what, n in counts.items()))
    return counts["faster than the bound"] + (not counts["compared"])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        if mode == "drawn":
            wrong = compare_drawn(int(sys.argv[3]), int(sys.argv[4]), pathlib.Path(name))
        else:
            wrong = compare_rows(float(sys.argv[3]), sys.argv[4:], pathlib.Path(name))
    sys.exit(1 if wrong else 0)
