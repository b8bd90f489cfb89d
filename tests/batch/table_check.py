"""Tables and drawings of a batch against its plans: table_check.py FOLDER TABLE.csv TABLE.tex
PAGE.html DRAWING.svg..."""
import csv
import html.parser
import json
import math
import os
import sys
import xml.etree.ElementTree

folder, table, tex, page, *drawings = sys.argv[1:]
bad = []


def expect(what, found, expected):
    if found != expected:
        bad.append(f"{what}: expected {expected}, found {found}")


def near(what, found, expected):
    if not math.isclose(float(found), expected, rel_tol=1e-6):
        bad.append(f"{what}: expected {expected}, found {found}")


rows = list(csv.DictReader(open(table, newline="")))
ids = [json.loads(line)["id"] for line in open(f"{folder}/instances.jsonl")]
expect("ids", sorted(row["id"] for row in rows), sorted(ids))
expect("names that differ", len({row["name"] for row in rows}), len(rows))
for row in rows:
    result = f"{folder}/{row['id']}/result"
    plan, job = (
        json.load(open(path)) for path in (f"{result}/plan.json", f"{folder}/{row['id']}/job.json")
    )
    verdict = json.load(open(f"{result}/verdict.json"))
    cluster = json.load(open(f"{folder}/{row['id']}/cluster.json"))
    bound, name = verdict.get("proven_bound_ns", plan["bound_ns"]), row["name"]
    expect(
        f"{name}: iteration_s",
        row["iteration_s"],
        "%d.%09d" % divmod(plan["iteration_ns"], 10**9),
    )
    expect(f"{name}: bound_s", row["bound_s"], "%d.%09d" % divmod(bound, 10**9))
    expect(
        f"{name}: claim",
        row["claim"],
        "certified" if "proven_bound_ns" in verdict else plan["claim"],
    )
    gap = -(-(plan["iteration_ns"] - bound) * 10**6 // plan["iteration_ns"]) / 1e4
    near(f"{name}: gap_percent", float(row["gap_percent"]) + 1, gap + 1)
    for key in ("tensor", "pipeline", "data", "context", "expert", "micro_batch", "zero"):
        expect(f"{name}: {key}", row[key], str(plan["layout"][key]))
    expect(
        f"{name}: sequence, precision",
        (row["sequence"], row["precision"]),
        (str(job["sequence"]), job["precision"]),
    )
    near(
        f"{name}: gap_asked_percent",
        float(row["gap_asked_percent"]) + 1,
        100 * plan["gap_asked"] + 1,
    )
    space = job.get("space", {})
    chosen = set(space.get("all", [])) | {
        k
        for k, v in space.items()
        if k not in ("all", "switches") and isinstance(v, list) and len(v) > 1
    }
    expect(f"{name}: searched", set(row["searched"].split(", ")), chosen or {"nothing"})
    expect(
        f"{name}: layouts", row["layouts"], f"{row['id']}/result/plan.layouts.json" if space else ""
    )
    if space:
        layouts = f"{folder}/{row['layouts']}"
        expect(
            f"{name}: a link to its layouts",
            f'href="{layouts}"' in open(page).read() and os.path.exists(layouts),
            True,
        )
    gpus = sum(g["nodes"] * g["gpus_per_node"] for g in cluster["groups"])
    expect(f"{name}: gpus", row["gpus"], str(gpus))
    tokens = job["sequence"] * job["global_batch"] / plan["iteration_ns"] * 1e9
    near(f"{name}: tokens_per_s", row["tokens_per_s"], tokens)
    price = sum(
        g["nodes"] * g["gpus_per_node"] * g.get("gpu_hour_price", 0) for g in cluster["groups"]
    )
    if price:
        near(f"{name}: price", row["price_per_million_tokens"], price / 3600 / tokens * 1e6)
    expect(f"{name}: search_nodes", row["search_nodes"], str(plan["effort"]["boxes"]))
    if row["certificate_kb"]:
        near(
            f"{name}: certificate_kb",
            row["certificate_kb"],
            os.path.getsize(f"{result}/certificate.json") / 1e3,
        )

text = open(tex).read()
lines = [line for line in text.splitlines() if line.endswith("\\\\") and "multicolumn" not in line]
expect("rows of LaTeX", len(lines), len(rows) + 1)
columns = len(text.split("\\begin{tabular}{")[1].split("}")[0])
for line in lines:
    expect("cells of a LaTeX row", len(line.split(" & ")), columns)
    if "<" in line or "_" in line.replace("\\_", "") or "%" in line.replace("\\%", ""):
        bad.append(f"not escaped: {line}")


class Page(html.parser.HTMLParser):
    """Elements nest; a table has as many cells in each row as headings."""

    void = {"meta", "br", "link", "rect", "line", "circle", "path", "img"}

    def __init__(self):
        super().__init__()
        self.open, self.cells, self.rows, self.scripts = [], [], 0, 0

    def handle_starttag(self, tag, attributes):
        self.scripts += tag == "script"
        if tag not in self.void:
            self.open.append(tag)
        if tag == "tr":
            self.cells.append(0)
        if tag in ("td", "th"):
            self.cells[-1] += 1

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            bad.append(f"the page does not nest at </{tag}>")


parsed = Page()
parsed.feed(open(page).read())
expect("what is left open", parsed.open, [])
expect("scripts", parsed.scripts, 1)
expect("kinds of rows", len(set(parsed.cells)), 1)
for drawing in drawings:
    marks = [
        e
        for e in xml.etree.ElementTree.parse(drawing).iter()
        if e.tag.endswith("g") and not e.tag.endswith("svg")
    ]
    if not marks:
        bad.append(f"{drawing}: nothing is drawn")
print("\n".join(bad[:20]))
sys.exit(bool(bad))
