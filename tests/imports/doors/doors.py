"""One run said at every door: columns of `predict`, documents, Megatron-LM's flags or DeepSpeed's
configuration, and what `report` exports of its plan. All doors agree whether it runs, and on bytes,
time and FLOP, or name what differs.

usage: doors.py PLUMBLINE DATA FOLDER COUNT SEED
"""
import json
import os
import random
import re
import subprocess
import sys

plumbline, data, folder, count, seed = sys.argv[1:4] + [int(x) for x in sys.argv[4:6]]
os.makedirs(folder, exist_ok=True)
tally = {}


def note(what):
    tally[what] = tally.get(what, 0) + 1


def run(*words):
    done = subprocess.run([plumbline, *words], cwd=folder, capture_output=True, text=True)
    if done.returncode < 0:
        sys.exit(f"doors: {' '.join(words)}: signal {-done.returncode}")
    return done.returncode, done.stdout, done.stderr


def write(name, document):
    with open(os.path.join(folder, name), "w") as file:
        json.dump(document, file, indent=1)


def read(name):
    with open(os.path.join(folder, name)) as file:
        return json.load(file)


def draw(rng):
    """A run as people state it; some of them do not run."""
    tensor, pipeline, context = rng.choice([1, 1, 2, 4]), rng.choice([1, 2, 2, 3, 4]), 1
    if rng.random() < 0.15:
        context = 2
    data_degree, turns = rng.choice([1, 2, 3]), rng.choice([1, 1, 2, 3]) if pipeline > 1 else 1
    heads, width = rng.choice([4, 8, 12, 16]), rng.choice([32, 64, 128])
    llama = rng.random() < 0.5
    micro_batch, each = rng.choice([1, 1, 2]), rng.randint(1, 14)
    batch = micro_batch * data_degree * each + (rng.random() < 0.05)
    x = {
        "trainer": "megatron", "gpus": tensor * pipeline * context * data_degree,
        "layers": turns * pipeline * rng.choice([1, 2, 2, 3]),
        "hidden": heads * width, "heads": heads,
        "kv_heads": rng.choice([heads, heads // 2, heads // 4]) if llama else heads,
        "ffn": 4 * heads * width if not llama else 256 * rng.choice([3, 5, 8]),
        "vocab": rng.choice([32000, 50257]), "seq": rng.choice([512, 1024, 2048]), "llama": llama,
        "tp": tensor, "pp": pipeline, "cp": context, "dp": data_degree, "vpp": turns,
        "micro_batch": micro_batch, "global_batch": batch,
        "precision": rng.choice(["bf16", "fp16"]),
        "gradient_bytes": rng.choice([2, 4]), "zero": rng.choice([0, 1]),
        "sp": int(tensor > 1 and rng.random() < 0.5), "flash": int(rng.random() < 0.7),
        "recompute": rng.choice(["none", "none", "full", "selective"]),
        "overlap": rng.choice([0, 1]), "fused_loss": rng.choice([0, 1])}
    if context == 1 and data_degree > 1 and rng.random() < 0.3:
        return draw_torchtitan(rng, x)
    return draw_deepspeed(rng, x) if turns == 1 and context == 1 and rng.random() < 0.4 else x


def draw_torchtitan(rng, x):
    """The same with what torchtitan's configuration says; there is none by hand here."""
    return x | {"trainer": "torchtitan", "zero": rng.choice([2, 3]), "sp": int(x["tp"] > 1),
                "flash": 1, "overlap": 1, "gradient_bytes": 4, "fused_loss": 0,
                "precision": "bf16", "recompute": rng.choice(["none", "full"])}


def draw_deepspeed(rng, x):
    """The same with what DeepSpeed's configuration says."""
    x |= {"trainer": "deepspeed", "zero": rng.choice([0, 1] if x["pp"] > 1 else [0, 1, 2, 3]),
          "sp": 0, "flash": 1, "recompute": "none", "fused_loss": 0}
    if x["zero"] == 0:
        x |= {"gradient_bytes": 2, "overlap": 0}
    return x


# ---- the doors


def multiple_of(x):
    """A stated vocabulary is padded for tensor ranks (docs/FORMATS.md, runs)."""
    return 128 if x["tp"] > 1 else 1


def overlaps(x):
    """torchtitan's pipeline never waits for its messages; Megatron is told to."""
    return x["trainer"] == "torchtitan" and x["pp"] > 1


def columns(x):
    """As predict's columns, each of them stated."""
    words = {"gpu": "h100-80gb", "num_gpus": x["gpus"], "positions": 0 if x["llama"] else x["seq"],
             "gated": int(x["llama"]), "rms_norm": int(x["llama"]), "tied": int(not x["llama"]),
             "dropout": 0, "bias": int(not x["llama"]), "trainer": x["trainer"], "adam": 1,
             "version": "2025-06",
             "schedule": "interleaved" if x["vpp"] > 1 else "1f1b", "scattered_messages": 0,
             "overlap_messages": int(overlaps(x)), "kept_logits": 0, "loss_in_place": 0,
             "chunked_loss": 0, "stopped_recompute": 0,
             "overlap_input_gradients": int(not x["exposed"])}
    for key in ("layers", "hidden", "heads", "kv_heads", "ffn", "vocab", "seq", "tp", "pp", "cp",
                "dp", "vpp", "micro_batch", "global_batch", "precision", "gradient_bytes", "zero",
                "sp", "recompute", "overlap", "fused_loss"):
        words[key] = x[key]
    words["flash"] = "te" if x["flash"] else 0
    return [f"{key}={value}" for key, value in words.items()]


def documents(x):
    """As model and job, written by hand."""
    model = {"kind": "plumbline.model", "version": 1, "name": "drawn",
             "shape": {"hidden": x["hidden"], "ffn": x["ffn"], "heads": x["heads"],
                       "kv_heads": x["kv_heads"], "head_width": x["hidden"] // x["heads"],
                       "vocabulary": x["vocab"], "vocabulary_multiple": multiple_of(x),
                       "positions": 0 if x["llama"] else x["seq"], "gated_ffn": x["llama"],
                       "rms_norm": x["llama"], "tied_embeddings": not x["llama"],
                       "dropout": False, "linear_bias": not x["llama"],
                       "qkv_bias": not x["llama"]},
             "runs": [{"name": "embedding", "kind": "embedding", "count": 1},
                        {"name": "block", "kind": "block", "count": x["layers"],
                         "recomputable": True},
                        {"name": "head", "kind": "head", "count": 1}]}
    job = {"kind": "plumbline.job", "version": 1, "name": "drawn", "sequence": x["seq"],
           "global_batch": x["global_batch"], "precision": x["precision"],
           "gradient_bytes_per_value": x["gradient_bytes"], "trainer": x["trainer"],
           "fused_loss": bool(x["fused_loss"]), "scattered_messages": False,
           "overlapped_messages": overlaps(x),
           "recompute": [x["recompute"]],
           "layout": {"tensor": x["tp"], "context": x["cp"], "data": x["dp"],
                      "pipeline": x["pp"], "virtual_stages": x["vpp"],
                      "micro_batch": x["micro_batch"],
                      "schedule": "interleaved" if x["vpp"] > 1 else "1f1b",
                      "sequence_parallel": bool(x["sp"]), "fused_attention": bool(x["flash"]),
                      "gradient_sync": "overlapped" if x["overlap"] else "exposed",
                      "zero": x["zero"]}}
    if x["exposed"]:
        job["exposed_input_gradients"] = True
    if x["trainer"] == "torchtitan":
        job["unfused"] = ["norms", "rotary", "activation"]
    return model, job


def flags(x):
    """As the words of a launch of Megatron-LM."""
    words = ["torchrun", f"--nproc_per_node {x['gpus']}", "--nnodes 1", "pretrain_gpt.py"]
    for name, key in (("num-layers", "layers"), ("hidden-size", "hidden"),
                      ("ffn-hidden-size", "ffn"), ("num-attention-heads", "heads"),
                      ("seq-length", "seq"), ("max-position-embeddings", "seq"),
                      ("vocab-size", "vocab"), ("micro-batch-size", "micro_batch"),
                      ("global-batch-size", "global_batch"),
                      ("tensor-model-parallel-size", "tp"), ("context-parallel-size", "cp"),
                      ("pipeline-model-parallel-size", "pp")):
        words.append(f"--{name} {x[key]}")
    if x["llama"]:
        words += ["--swiglu", "--normalization RMSNorm", "--position-embedding-type rope",
                  "--disable-bias-linear", "--untie-embeddings-and-output-weights"]
        if x["kv_heads"] != x["heads"]:
            words += ["--group-query-attention", f"--num-query-groups {x['kv_heads']}"]
    if x["vpp"] > 1:
        words.append(f"--num-virtual-stages-per-pipeline-rank {x['vpp']}")
        words.append("--no-overlap-p2p-communication")
        words.append(f"--microbatch-group-size-per-virtual-pipeline-stage {group_of(x)}")
    words.append(f"--make-vocab-size-divisible-by {multiple_of(x)}")
    words += ["--attention-dropout 0", "--hidden-dropout 0", "--" + x["precision"]]
    if x["precision"] == "fp16" and x["gradient_bytes"] == 4:
        words.append("--accumulate-allreduce-grads-in-fp32")
    if x["precision"] == "bf16" and x["gradient_bytes"] == 2:
        words.append("--grad-reduce-in-bf16")
    for flag, key in (("use-distributed-optimizer", "zero"), ("sequence-parallel", "sp"),
                      ("overlap-grad-reduce", "overlap"),
                      ("cross-entropy-loss-fusion", "fused_loss")):
        words += ["--" + flag] if x[key] else []
    words.append("--attention-backend " + ("flash" if x["flash"] else "unfused"))
    if x["recompute"] == "full":
        words += ["--recompute-granularity full", "--recompute-method uniform",
                  "--recompute-num-layers 1"]
    if x["recompute"] == "selective":
        words.append("--recompute-granularity selective")
    return " ".join(words)


def configuration(x):
    """As DeepSpeed's JSON."""
    width = "fp32" if x["gradient_bytes"] == 4 else x["precision"]
    return {"train_batch_size": x["global_batch"],
            "train_micro_batch_size_per_gpu": x["micro_batch"],
            x["precision"]: {"enabled": True}, "data_types": {"grad_accum_dtype": width},
            "zero_optimization": {"stage": x["zero"], "overlap_comm": bool(x["overlap"])},
            "optimizer": {"type": "AdamW"}}


def import_framework(x):
    """The run in the framework's own words, imported; the exit code and what was said."""
    if x["trainer"] == "torchtitan":
        model, job = documents(x)
        write("flags.model.json", model)
        write("flags.job.json", job)
        return 0, "", ""
    if x["trainer"] == "deepspeed":
        write("launch.json", configuration(x))
        write("flags.model.json", documents(x)[0])
        return run("import", "deepspeed", "launch.json", "--sequence", str(x["seq"]), "--gpus",
                   str(x["gpus"]), "--tensor", str(x["tp"]), "--pipeline", str(x["pp"]), "-o",
                   "flags.job.json")
    with open(os.path.join(folder, "launch.sh"), "w") as file:
        file.write(flags(x) + "\n")
    answer = run("import", "megatron", "launch.sh", "-o", "flags.model.json", "--job",
                 "flags.job.json")
    if x["exposed"] and not answer[0]:  # no version of today has words for it
        write("flags.job.json", read("flags.job.json") | {"exposed_input_gradients": True})
    return answer


def group_of(x):
    each = x["global_batch"] // (x["dp"] * x["micro_batch"])
    return next((g for g in range(x["pp"], each + 1) if each % g == 0), x["pp"])


# ---- what they answer


def predicted(words, what):
    code, out, err = run("predict", "--json", "--no-ranges", *words)
    if code == 2:
        if err.count("\n") != 1:
            sys.exit(f"doors: {what}: expected one line, found:\n{err}")
        return None, err
    if code:
        sys.exit(f"doors: predict of {what}: exit {code}\n{err}")
    return json.loads(out)[0], err


same_keys = ("iteration_s", "memory_bytes", "memory_limit_bytes", "fits", "weight_bytes",
             "gradient_bytes", "optimizer_bytes", "activation_bytes", "working_bytes",
             "model_tflops_per_gpu", "mfu", "tokens_per_s")


def prices(name):
    """A priced document's numbers: without names, hashes, and what a job merely offers."""
    code, _, err = run("price", name, "-o", "priced.json")
    if code:
        sys.exit(f"doors: price {name}: exit {code}\n{err}")
    document = read("priced.json")
    for key in ("made_by", "made_from", "name"):
        document.pop(key, None)
    for key in ("recompute", "recomputed_layers"):  # a framework's one setting changes no price
        document["layout"].pop(key, None)
    if document["layout"]["pipeline"] == 1:  # no message crosses a cut
        document.pop("cuts")
    return document


def differences(a, b, path=""):
    if isinstance(a, dict) and isinstance(b, dict):
        return [d for key in sorted(a.keys() | b.keys())
                for d in differences(a.get(key), b.get(key), f"{path}.{key}")]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [d for i in range(len(a)) for d in differences(a[i], b[i], f"{path}[{i}]")]
    return [] if a == b else [f"{path}: {a} and {b}"]


def compare(a, b, what):
    found = differences(a, b)
    if found:
        sys.exit(f"doors: {what} differ, nothing names it: {'; '.join(found[:4])}\n{now}")


def problem(name, model, job):
    write(f"{name}.problem.json", {"kind": "plumbline.problem", "version": 1, "name": "drawn",
                                   "model": f"{name}.model.json", "cluster": "cluster.json",
                                   "costs": os.path.join(data, "costs/kernels.json"),
                                   "job": f"{name}.job.json"})
    if model:
        write(f"{name}.model.json", model)
        write(f"{name}.job.json", job)
    return f"{name}.problem.json"


def set_up(x):
    with open(os.path.join(data, "clusters/h100-128x8.json")) as file:
        cluster = json.load(file)
    for group in cluster["groups"]:
        group["nodes"], group["gpus_per_node"] = 1, x["gpus"]
    cluster.pop("made_by", None)
    write("cluster.json", cluster)


def check_solved(x, name, by_column):
    """A plan of the one layout is no slower than the equal split, if that fits; it is judged."""
    code, _, err = run("solve", name, "-o", "plan.json", "--quiet")
    if code == 11:
        if by_column["fits"]:
            sys.exit(f"doors: proven infeasible, but the equal split fits\n{x}")
        note("no plan")
        return False
    if code:
        sys.exit(f"doors: solve: exit {code}\n{err}")
    plan = read("plan.json")
    if by_column["fits"] and plan["iteration_ns"] > round(by_column["iteration_s"] * 1e9):
        sys.exit(f"doors: solved {plan['iteration_ns']} ns, predicted {by_column['iteration_s']}")
    if run("verify", "plan.json")[0]:
        sys.exit("doors: verify rejects the plan")
    return True


def take_notes(kind):
    """What the file says that it cannot express is done by hand, as its reader would."""
    with open(os.path.join(folder, f"{kind}.out")) as file:
        text = file.read()
    job = read("again.job.json")
    width = re.search(r"- gradients of (\d) bytes", text)
    if width:
        job["gradient_bytes_per_value"] = int(width.group(1))
    if "- attention that keeps its scores" in text:
        job["layout"]["fused_attention"] = False
    if "- sums of input gradients that nothing hides" in text:
        job["exposed_input_gradients"] = True
    write("again.job.json", job)


def check_exported(x, priced):
    """What is exported of the plan, imported again, has the prices of the plan's own problem."""
    for kind in ("megatron", "nemo") if x["trainer"] == "megatron" else (x["trainer"],):
        code, out, err = run("report", "--format", kind, "plan.json", "-o", f"{kind}.out")
        if code == 2 and "recomputation differs between" in err:  # it has one setting for all
            note(f"{kind} has one setting")
            continue
        if code:
            sys.exit(f"doors: export {kind}: exit {code}\n{err}")
        words = ["import", kind, f"{kind}.out", "--gpus", str(x["gpus"])]
        if kind == "deepspeed":  # which has no model
            write("again.model.json", documents(x)[0])
            words += ["-o", "again.job.json", "--sequence", str(x["seq"])]
        elif kind == "torchtitan":
            write("again.model.json", documents(x)[0])
            words += ["-o", "again.job.json", "--layers", str(x["layers"])]
        else:  # a launch leaves the vocabulary to the tokenizer
            words += ["-o", "again.model.json", "--job", "again.job.json", "--vocabulary",
                      str(x["vocab"])]
        code, _, err = run(*words)
        if code:
            sys.exit(f"doors: import of the exported {kind}: exit {code}\n{err}\n{x}")
        take_notes(kind)
        again = prices(problem("again", None, None))
        own = dict(priced)
        for side in (own, again):  # the plan has taken one of the modes
            side.pop("recompute", None)
        compare(own, again, f"the plan's problem and the re-imported {kind}")
        note(f"{kind} exported and imported")


def public(trainer, size, degrees, batch, **more):
    """A published run: layers, hidden, FFN, heads, KV heads, words, sequence; tp, pp, dp, vpp."""
    x = dict(zip(("layers", "hidden", "ffn", "heads", "kv_heads", "vocab", "seq"), size))
    x |= dict(zip(("tp", "pp", "dp", "vpp"), degrees))
    x |= {"trainer": trainer, "cp": 1, "gpus": x["tp"] * x["pp"] * x["dp"], "micro_batch": batch[0],
          "global_batch": batch[1], "precision": "bf16", "gradient_bytes": 4, "zero": 1,
          "sp": int(x["tp"] > 1 and trainer == "megatron"), "flash": 1, "recompute": "none",
          "overlap": 1, "fused_loss": 0, "llama": x["ffn"] != 4 * x["hidden"]}
    return x | more


# Shapes and degrees as published: LLaVA 1.5 (7B, DeepSpeed ZeRO 3), Megatron-LM's table of SC21
# (18B and 39B, here with fewer replicas), Llama 3.1 8B; and seven micro-batches over four ranks of
# two stages, which Megatron-LM runs in one group.
runs = [public("deepspeed", (32, 4096, 11008, 32, 32, 32000, 2048), (1, 1, 8, 1), (16, 128),
               zero=3, gradient_bytes=2),
        public("megatron", (40, 6144, 24576, 48, 48, 51200, 2048), (8, 1, 2, 1), (4, 64),
               precision="fp16", zero=0, flash=0, recompute="full", overlap=0),
        public("megatron", (48, 8192, 32768, 64, 64, 51200, 2048), (8, 2, 1, 1), (4, 32),
               precision="fp16", zero=0, flash=0, recompute="full", overlap=0),
        public("megatron", (32, 4096, 14336, 32, 8, 128256, 8192), (1, 2, 4, 1), (1, 128)),
        public("megatron", (32, 4096, 16384, 32, 32, 51200, 2048), (2, 4, 1, 2), (1, 7)),
        public("megatron", (36, 4096, 16384, 32, 32, 51200, 4096), (8, 6, 1, 2), (1, 3))]
rng = random.Random(seed)
runs += [draw(rng) for _ in range(count)]
old = random.Random(seed + 1)  # versions that sum input gradients beside nothing
for x in runs:
    x["exposed"] = x["trainer"] == "megatron" and old.random() < 0.3
    now = x
    set_up(x)
    by_column, why = predicted(columns(x) + ["--cluster", "cluster.json"], "columns")
    name = problem("own", *documents(x))
    by_document, why_not = predicted([name, "--recompute", x["recompute"]], "documents")
    if (by_column is None) != (by_document is None):
        sys.exit(f"doors: one door refuses, the other does not: {why or why_not}\n{x}")
    code, _, err = import_framework(x)
    if by_column is None:
        solved = run("solve", name, "-o", "plan.json", "--quiet")[0]
        if solved != 2:
            sys.exit(f"doors: predict refuses, solve answers {solved}: {why}\n{x}")
        by_flag = code or run("price", problem("flags", None, None), "-o", "priced.json")[0]
        if by_flag != 2:
            sys.exit(f"doors: predict refuses, import and price answer {by_flag}: {why}\n{x}")
        note("refused by all")
        continue
    compare({k: by_column[k] for k in same_keys}, {k: by_document[k] for k in same_keys},
            "columns and documents")
    if code:
        sys.exit(f"doors: import of the launch: exit {code}\n{err}\n{x}")
    priced = prices(name)
    compare(priced, prices(problem("flags", None, None)), "documents and the launch")
    note("same at three doors")
    if check_solved(x, name, by_column):
        check_exported(x, priced)
print("doors: " + ", ".join(f"{what} {n}" for what, n in sorted(tally.items())))
