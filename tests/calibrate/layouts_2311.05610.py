#!/usr/bin/env python3
# The runs published with arXiv 2311.05610
# (Aleph-Alpha/NeurIPS-WANT-submission-efficient-parallelization-layouts, folder data, CC BY-NC-SA
# 4.0: not shipped here) as a table of runs on stdout. Llama shapes on A100-80GB nodes of eight,
# bf16, ZeRO 1, 2,048 sequences of 2,048 tokens or 512 of 8,192 an iteration. A vocabulary of
# 128,000 and gradients of 2 bytes are assumed: the first gives its FLOP/s to half a per cent, with
# 4 bytes runs that ran could not have. What its trainer does is taken from the library that its
# authors published later (Aleph-Alpha/scaling 2024): logits of the whole vocabulary on each tensor
# rank (lm_head.py; without them runs whose layers recompute all could have run), gradients summed
# whole and in fp32 at ZeRO 1 (optimizer/allreduce.py), the gate a product of its own (nn/mlp.py),
# messages between stages not cut into parts (nn/parallel_module/communicator.py). Stages of equally
# many layers are assumed (that library counts embedding, norm and head as layers; stated so, times
# are 8.4 instead of 8.1 % off, their order is better).
# layouts_2311.05610.py FOLDER
import csv, pathlib, re, sys, xml.etree.ElementTree as tree, zipfile

SHAPES = {"13B": (40, 5120, 13824, 40), "30B": (60, 6656, 17920, 52), "65B": (80, 8192, 22016, 64)}
COLUMNS = (
    "id,source,gpu,num_gpus,layers,hidden,ffn,heads,vocab,positions,gated,rms_norm,tied,bias,"
    "dropout,seq,tp,pp,dp,micro_batch,global_batch,recompute,sp,zero,flash,precision,"
    "gradient_bytes,unfused,trainer,gathered_logits,whole_gradient_sums,split_gate,"
    "scattered_messages,split,metric,value,unit,notes"
)
NAMESPACE = {"s": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}


def rows(path):
    """Texts of the first sheet's rows, by the letters of their columns."""
    with zipfile.ZipFile(path) as book:
        strings = []
        if "xl/sharedStrings.xml" in book.namelist():
            for item in tree.fromstring(book.read("xl/sharedStrings.xml")).findall(
                "s:si", NAMESPACE
            ):
                strings.append("".join(t.text or "" for t in item.iter("{%s}t" % NAMESPACE["s"])))
        sheet = sorted(name for name in book.namelist() if name.startswith("xl/worksheets/sheet"))[
            0
        ]
        for row in tree.fromstring(book.read(sheet)).iter("{%s}row" % NAMESPACE["s"]):
            cells = {}
            for cell in row.findall("s:c", NAMESPACE):
                value = cell.find("s:v", NAMESPACE)
                text = (
                    value.text
                    if value is not None
                    else "".join(t.text or "" for t in cell.iter("{%s}t" % NAMESPACE["s"]))
                )
                if cell.get("t") == "s" and value is not None:
                    text = strings[int(text)]
                cells[re.match("[A-Z]+", cell.get("r")).group()] = text
            yield cells


def runs(path):
    table = rows(path)
    next(table)
    names = next(table)
    for cells in table:
        yield {names[letter]: text for letter, text in cells.items() if letter in names}


def split(layers, stages):
    """Layers on each stage."""
    return " ".join(str(layers // stages + (s < layers % stages)) for s in range(stages))


out = csv.writer(sys.stdout, lineterminator="\n")
out.writerow(COLUMNS.split(","))
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.xlsx")):
    layers, hidden, ffn, heads = SHAPES[re.search(r"\d+B", path.name).group()]
    sequence = 8192 if "8k" in path.name else 2048
    for run in runs(path):
        time, gpus, kernel = run["Average Step Time"], int(float(run["World Size"])), run["kernel"]
        tensor, pipeline = int(float(run["model_parallel_size"])), int(
            float(run["pipe_parallel_size"])
        )
        failed = "OOM" in time
        if not failed and not time[0].isdigit():
            continue  # no kernel, another error
        flash = "1" if "attention2" in kernel else "triton" if "flash" in kernel else "0"
        common = [
            "l" + path.name[6:9] + run["Trial ID"].split(".")[0],
            "arXiv 2311.05610 " + path.name,
            "A100-80GB",
            gpus,
            layers,
            hidden,
            ffn,
            heads,
            128000,
            0,
            1,
            1,
            0,
            0,
            0,
            sequence,
            tensor,
            pipeline,
            gpus // tensor // pipeline,
            int(float(run["micro_batch_size"])),
            2048 * 2048 // sequence,
            "full" if run["activation_checkpointing_type"] == "every_layer" else "none",
            int(run.get("sequence_parallel", "0") in ("1", "True", "TRUE")),
            1,
            flash,
            "bf16",
            2,
            "" if "RMS" in kernel else "norms",
            "other",
            1,
            1,
            1,
            0,
            split(layers, pipeline),
        ]
        if not failed:
            out.writerow(common + ["iteration_time", time, "s", kernel])
        out.writerow(common + ["oom", int(failed), "flag", kernel])
