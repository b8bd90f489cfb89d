#!/usr/bin/env python3
"""page_check.py PLAN PAGE: whether a page of report --format html is what a browser needs and says
what the plan says.

Without a browser: elements nest and end, nothing is asked of a network, names from documents are
text; the schedule's columns add up to the plan's own times. The last line on standard output: how
many things were looked at. """
import html.parser
import json
import math
import os
import re
import sys

VOID = {"meta", "br", "input", "link", "img", "hr"}
looked = 0


def expect(found, expected, what):
    global looked
    looked += 1
    if found != expected:
        sys.exit("FAILED: %s: expected %r, found %r" % (what, expected, found))


class Page(html.parser.HTMLParser):
    """Text by the id of the element that it is in, rows of cells of each table, and what is
    wrong."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.text, self.tables, self.counts = [], [], {}, {}, {}
        self.rows = self.cell = None
        self.feed(text)
        self.close()
        expect(self.open, [], "elements left open")

    def handle_decl(self, decl):
        expect(decl, "DOCTYPE html", "document type")

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        values = dict(attributes)
        self.counts[tag] = self.counts.get(tag, 0) + 1
        expect(len(names), len(set(names)), "attributes of <%s>, once each" % tag)
        for name, value in attributes:
            if name.startswith("on") or name in ("src", "srcset", "action", "data", "style"):
                sys.exit(
                    "FAILED: <%s %s=%r>: nothing runs or loads from an attribute"
                    % (tag, name, value)
                )
            if name in ("href", "xlink:href"):
                expect(value[:1], "#", "target of a link")
        if "id" in values:
            self.ids.append(values["id"])
        if tag == "table":
            self.rows = self.tables.setdefault(values.get("id", values.get("class")), [])
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self.cell = tag
        if tag not in VOID:
            self.open.append((tag, values.get("id")))

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open[-1][0] != tag:
            sys.exit("FAILED: </%s> where <%s> is open" % (tag, self.open[-1:] or "nothing"))
        self.open.pop()
        if tag in ("td", "th"):
            self.cell = None

    def handle_data(self, data):
        for tag, name in self.open:
            if name or tag in ("title", "h1", "style"):
                self.text[name or tag] = self.text.get(name or tag, "") + data
        if self.cell and not any(tag == "svg" for tag, _ in self.open):
            self.rows[-1][-1] += data


def seconds(text):
    number, unit = text.split()
    return float(number) * {"s": 1, "ms": 1e-3, "us": 1e-6}[unit]


def check_structure(page, text):
    expect(len(page.ids), len(set(page.ids)), "ids, once each")
    expect(text.count("<script"), page.counts.get("script", 0), "scripts, none in a name")
    expect(page.counts["title"] >= 1 and page.counts["h1"], 1, "headings")
    expect(
        "http" in re.sub(r"http-equiv|http://www\.w3\.org/2000/svg", "", text),
        False,
        "addresses of a network",
    )
    expect(re.findall(r"url\((?!#)|@import", text), [], "what a style loads")
    expect(any(ord(c) < 32 and c != "\n" for c in text), False, "control characters")


def check_schedule(plan, page):
    data = json.loads(page.text["schedule-data"])
    stages, slices = plan["stages"], plan["layout"].get("slices", [])
    compute = {}  # (stage, pass): how often, how long
    last = 0
    for track in data["tracks"]:
        end, behind, marks, at = 0, {}, set(), 0
        for step in track["c"]:
            at += step
            marks.add(at)
        expect(all(mark < len(track["s"]) for mark in marks), True, "marks of the critical path")
        expect({len(track[key]) for key in "sgm"}, {len(track["s"])}, "columns of a track")
        for i, (symbol, gap, step) in enumerate(zip(track["s"], track["g"], track["m"])):
            name, place, duration = track["symbols"][symbol]
            if track["kind"] != "delay" and gap < 0:
                sys.exit("FAILED: two operations of a track at a time")
            end = end + gap + duration
            behind[symbol] = behind.get(symbol, -1) + 1 + step
            last = max(last, end)
            if track["kind"] == "compute" and name.split(".")[0] in (
                "forward",
                "backward",
                "weight",
                "optimizer",
            ):
                entry = compute.setdefault((place, name.split(".")[0]), [0, 0, set()])
                entry[0] += 1
                entry[1] += duration
                entry[2].add(behind[symbol])
    expect(last, data["span"], "end of the last operation")
    if plan["layout"].get("barrier", True):
        expect(last, plan["iteration_ns"], "length of the schedule")
    for stage in stages:
        s, batches = stage["stage"], plan["micro_batches"]
        for name in ("forward", "backward"):
            if stage[name + "_ns"] and not slices:
                expect(
                    compute[s, name],
                    [batches, batches * stage[name + "_ns"], set(range(batches))],
                    "%s of stage %d" % (name, s),
                )
        if stage["optimizer_ns"]:
            expect(compute[s, "optimizer"][1], stage["optimizer_ns"], "optimizer of stage %d" % s)


def check_numbers(plan, page):
    expect(
        round(seconds(page.text["iteration"]), 6),
        round(plan["iteration_ns"] / 1e9, 6),
        "iteration time",
    )
    expect(round(seconds(page.text["bound"]), 6), round(plan["bound_ns"] / 1e9, 6), "bound")
    heads, *rows = page.tables["stages"]
    expect(len(rows), len(plan["stages"]), "rows of the placement")
    for row, stage in zip(rows, plan["stages"]):
        cells = dict(zip(heads, row))
        first, count = stage["first_layer"], stage["layer_count"]
        expect(cells["stage"], str(stage["stage"]), "stage")
        expect(cells["count"], str(count), "layers of a stage")
        if count:
            expect(
                cells["layers"],
                "%d-%d" % (first, first + count - 1) if count > 1 else str(first),
                "layers",
            )
        expect(cells["node group"], stage["group"], "group of a stage")
        expect(cells["GPU"], stage["gpu"], "GPU of a stage")
    memories = [x["memory"] for x in plan.get("ranks") or plan["stages"]]
    heads, *rows = page.tables["memory-table"]
    for row, memory in zip(rows, memories):
        cells = dict(zip(heads, row))
        expect(cells["total"], "%.2f" % (memory["total_bytes"] / 1e9), "memory")
        expect(cells["weights"], "%.2f" % (memory["weight_bytes"] / 1e9), "weights")
    expect(len(rows), len(memories), "rows of memory")
    expect(len(page.tables["memory-bars"]) - 1, len(memories), "bars of memory")


# low, high = T / and x exp sqrt(0.75^2 sum of ln(T_end / T)^2 + ln(1 + spread)^2), FORMULAS 19; of
# the trainer's square and the kernels' the smaller is left out; from the page's six decimals.
KERNELS = ("products", "attention", "memory on devices and hosts")


def check_sensitivity(plan, page, folder):
    if "iteration_low_ns" not in plan:
        return
    costs = next(s["path"] for s in plan["made_from"] if s["role"] == "costs")
    with open(os.path.join(folder, costs), encoding="utf-8") as file:
        spread = json.load(file).get("iteration_spread", 0)
    spread = spread.get("value", 0) if isinstance(spread, dict) else spread
    now = plan["iteration_ns"] / 1e9
    heads, *rows = page.tables["sensitivity-table"]
    for column, end, sign in (("fast", "iteration_low_ns", -1), ("slow", "iteration_high_ns", 1)):
        at = heads.index(column)
        doubts = {row[0]: 0.75 * max(0, sign * math.log(seconds(row[at]) / now)) for row in rows}
        trainer = doubts.pop("trainer", 0)
        kernels = [doubts.pop(name, 0) for name in KERNELS]
        joined = max(trainer, math.hypot(*kernels))
        found = now * math.exp(sign * math.hypot(math.log(1 + spread), joined, *doubts.values()))
        expect(
            abs(found - plan[end] / 1e9) < 1e-5 * now,
            True,
            "ends of the costs, %s: %r" % (column, found),
        )


def check_layouts(plan, page, folder):
    if "layouts-table" not in page.tables:
        return
    heads, *rows = page.tables["layouts-table"]
    times = [row[heads.index("plan, s")] for row in rows]
    known = [float(t) for t in times if t != "-"]
    expect(
        times[: len(known)], ["%.6f" % t for t in sorted(known)], "layouts by their plans' times"
    )
    expect(known[0] if known else 0, round(plan["iteration_ns"] / 1e9, 6), "the best layout's time")
    chosen = [row for row in rows if row[heads.index("fate")].endswith("chosen")]
    expect(
        [row[heads.index("pipeline")] for row in chosen],
        [str(plan["layout"]["pipeline"])],
        "the layout chosen",
    )


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        plan = json.load(file)
    with open(sys.argv[2], encoding="utf-8", newline="") as file:
        text = file.read()
    folder = os.path.dirname(sys.argv[1])
    page = Page(text)
    check_structure(page, text)
    expect(page.text["h1"], plan["name"], "name")
    expect(page.text["title"].startswith(plan["name"]), True, "title")
    inputs = {(row[0], row[1], row[2]) for row in page.tables["inputs"][1:]}
    for s in plan["made_from"]:
        expect((s["role"], s["path"], s["sha256"]) in inputs, True, "hash of the %s" % s["role"])
    if plan.get("stages"):
        check_numbers(plan, page)
        check_schedule(plan, page)
        if not plan.get("placement"):
            check_sensitivity(plan, page, folder)
    check_layouts(plan, page, folder)
    print("%s: %d things looked at, %d bytes" % (plan["name"][:40], looked, len(text.encode())))


main()
