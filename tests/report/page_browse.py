#!/usr/bin/env python3
"""page_browse.py FOLDER: the pages of test_report_html.sh in Chromium, wide and as on a phone, by
mouse and by keys."""
import json
import os
import re
import sys

import browser

PAGES = ("mixed", "deep512", "wound", "placed", "space", "tight")
ON_A_PHONE = ("mixed", "placed", "space")
MARGIN, AXIS = 58, 24  # of the chart


def expect(found, expected, what):
    if found != expected:
        sys.exit("FAILED: %s: expected %r, found %r" % (what, expected, found))


def view(page):
    return [
        float(page.ask("document.getElementById('chart').dataset.%s" % end))
        for end in ("from", "to")
    ]


def length(page):
    return view(page)[1] - view(page)[0]


def near(a, b, what):
    if not abs(a - b) <= 1e-9 * max(abs(a), abs(b)) + 1e-6:
        sys.exit("FAILED: %s: expected %r, found %r" % (what, b, a))


def painted(page):
    return page.ask(
        "(() => { const c = document.getElementById('chart'), p = c.getContext('2d')"
        ".getImageData(0, 0, c.width, c.height).data; let n = 0;"
        " for (let i = 0; i < p.length; i += 4) n += p[i] < 200; return n; })()"
    )


def column(page, table, title):
    return page.ask(
        "(() => { const t = document.getElementById(%s), at = Array.from(t.tHead.rows[0].cells)"
        ".findIndex((c) => c.textContent === %s); return Array.from(t.tBodies[0].rows, (r) => "
        "r.cells[at].textContent); })()" % (json.dumps(table), json.dumps(title))
    )


def check_chart(page, plan):
    whole = plan["iteration_ns"]
    near(length(page), whole, "the whole iteration")
    expect(painted(page) > 5000, True, "operations are drawn")
    page.click("#zoom-in")
    near(length(page), whole / 2, "the button +")
    page.click("#zoom-out")
    near(length(page), whole, "the button -")
    page.click("#zoom-in")
    page.click("#pan-left")
    near(view(page)[0], 0, "the button to the left")
    page.ask("document.getElementById('chart').focus()")
    page.key("+")
    near(length(page), whole / 4, "the key +")
    page.key("-")
    page.key("-")
    near(length(page), whole, "the key -")
    for _ in range(6):
        page.key("+")
    page.key("Home")
    near(view(page)[0], 0, "the key Home")
    page.key("ArrowRight")
    near(view(page)[0], length(page) * 0.2, "the arrow to the right")
    page.key("ArrowLeft")

    # The first forward of the first stage, by the pointer, then by keys.
    first = plan["stages"][0]["forward_ns"]
    x, y, width, _ = page.box("#chart")
    page.until("document.elementFromPoint(%g, %g).id === 'chart'" % (x + MARGIN + 3, y + AXIS + 10))
    page.mouse("mouseMoved", x + MARGIN + 3, y + AXIS + 10)
    said = page.text("#chart-status")
    where = "at %s of a chart at %s, %s" % (page.ask("window.lastPointed"), (x, y), view(page))
    expect(
        said.startswith("forward, micro-batch 0, stage 0"), True, "pointing %s: %r" % (where, said)
    )
    takes = "takes %.3f ms" % (first / 1e6) if first < 1e9 else "takes %.6f s" % (first / 1e9)
    expect(takes in said and "starts 0.000" in said, True, "its times: " + said)
    expect(
        page.ask("document.getElementById('chart-tip').hidden"),
        False,
        "the text beside the pointer",
    )
    page.key(".")
    expect(
        "micro-batch" in page.text("#chart-status") and page.text("#chart-status") != said,
        True,
        "the next operation",
    )
    page.key(",")
    expect(page.text("#chart-status"), said, "the operation before")
    page.key("ArrowDown")
    expect("transfer" in page.text("#chart-status"), True, "the track below")

    before = view(page)
    page.mouse("mouseWheel", x + MARGIN + 50, y + AXIS + 10, deltaX=0, deltaY=100)
    near(length(page), (before[1] - before[0]) * 1.25, "the wheel")
    page.mouse("mousePressed", x + 400, y + AXIS + 10, button="left", buttons=1, clickCount=1)
    page.mouse("mouseMoved", x + 300, y + AXIS + 10, button="left", buttons=1)
    page.mouse("mouseReleased", x + 300, y + AXIS + 10, button="left", clickCount=1)
    near(view(page)[0], length(page) * 100 / (width - MARGIN), "dragged by 100 pixels")
    page.ask("document.getElementById('chart').focus()")
    for _ in range(12):
        page.key("+")
    page.key("End")
    near(view(page)[1], whole, "the key End")
    page.mouse("mouseMoved", x + width - 2, y + AXIS + 10)
    said = page.text("#chart-status")
    found = re.search(r"stage 0: starts ([\d.]+) s, takes ([\d.]+) (s|ms|us)", said)
    expect(bool(found), True, "the end of the first stage: " + said)
    ends = float(found[1]) + float(found[2]) * {"s": 1, "ms": 1e-3, "us": 1e-6}[found[3]]
    expect(
        abs(ends - whole / 1e9) < 2e-6, True, "the last operation ends with the iteration: " + said
    )
    page.click("#whole")
    near(length(page), whole, "the whole again")
    high = page.ask("document.getElementById('chart').height")
    page.click("#transfers")
    expect(
        page.ask("document.getElementById('chart').height") < high,
        True,
        "without transfers it is lower",
    )
    page.click("#transfers")
    page.click("#critical")
    expect(painted(page) > 100, True, "the critical path alone")


def check_sorting(page):
    numbers = [int(cell) for cell in column(page, "stages", "count")]
    page.click("#stages th:nth-child(3) button")
    expect([int(cell) for cell in column(page, "stages", "count")], sorted(numbers), "sorted up")
    page.key("Enter")
    page.ask("document.querySelector('#stages th:nth-child(3) button').focus()")
    page.call(
        "Input.dispatchKeyEvent",
        type="keyDown",
        key=" ",
        code="Space",
        windowsVirtualKeyCode=32,
        text=" ",
    )
    page.call(
        "Input.dispatchKeyEvent", type="keyUp", key=" ", code="Space", windowsVirtualKeyCode=32
    )
    expect(
        [int(cell) for cell in column(page, "stages", "count")],
        sorted(numbers, reverse=True),
        "sorted down, by a key",
    )
    expect(
        page.ask("document.querySelector('#stages th:nth-child(3)').getAttribute('aria-sort')"),
        "descending",
        "said to readers",
    )


def check_layouts(page):
    def known():
        return [float(cell) for cell in column(page, "layouts-table", "bound, s") if cell != "-"]

    before = known()
    at = page.ask(
        "Array.from(document.querySelectorAll('#layouts-table th'))"
        ".findIndex((c) => c.textContent === 'bound, s') + 1"
    )
    page.click("#layouts-table th:nth-child(%d) button" % at)
    expect(known(), sorted(before), "layouts by bound")
    expect(len(before) > 3 and before != sorted(before), True, "layouts to sort")


def check_page(page, name, plan, width):
    expect(page.errors, [], "%s at %d: what the console says" % (name, width))
    expect(
        page.ask("document.documentElement.scrollWidth"),
        width,
        "%s at %d: its width" % (name, width),
    )
    expect(page.text("h1"), plan["name"], "%s: name" % name)
    expect(page.ask("document.title"), " ".join(plan["name"].split()), "%s: title" % name)
    if plan.get("stages"):
        near(length(page), plan["iteration_ns"], "%s: length" % name)


def main():
    if not browser.find():
        print("skipped: pages in a browser: no chromium is installed")
        return
    with browser.Browser() as chromium:
        for name in PAGES:
            path = os.path.join(sys.argv[1], name, "report.html")
            with open(os.path.join(sys.argv[1], name, "plan.json"), encoding="utf-8") as file:
                plan = json.load(file)
            if name in ON_A_PHONE:
                check_page(chromium.open(path, 390, 844, phone=True), name, plan, 390)
            page = chromium.open(path, 1200, 900)
            check_page(page, name, plan, 1200)
            if name == "deep512":
                check_chart(page, plan)
            if name == "mixed":
                check_sorting(page)
            if name == "space":
                check_layouts(page)
            expect(page.errors, [], "%s: what the console says in the end" % name)
    print("in Chromium: %d pages load, zoom and sort" % len(PAGES))


main()
