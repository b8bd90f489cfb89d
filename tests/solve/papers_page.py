#!/usr/bin/env python3
"""Whether docs/PAPERS.md has the figures that docs/examples/papers/all.sh prints:
all.sh FOLDER [SCRIPT ...] | papers_page.py PAPERS.md. Each number with a decimal point in a line
of a script must be in a table of a section that names the script, rounded as there.
Exit 1: a number is missing; each is named."""
import re, sys

# Columns that the page leaves out: GB of the fullest stage; processor seconds.
LEFT_OUT = {"llava": -1, "piper": -1}
NUMBER = re.compile(r"(?<![\w.,])-?\d[\d,]*(?:\.\d+)?(?![\w.]*\d)")


def number(text):
    return float(text.replace(",", ""))


def sections(page):
    """script: the numbers of all tables of sections that name it, as (text, value)."""
    found = {}
    for part in re.split(r"(?m)^## ", page)[1:]:
        cells = [cell for line in part.split("\n") if line.startswith("|")
                 for cell in line.strip("|").split("|")]
        texts = [text for cell in cells for text in NUMBER.findall(cell)]
        for script in set(re.findall(r"`(?:docs/examples/papers/)?(?:\w+=\S+ )*(\w+)\.sh", part)):
            found.setdefault(script, []).extend((text, number(text)) for text in texts)
    return found


def decimals(text):
    return len(text.partition(".")[2])


def stands(text, stated):
    """Whether the printed number is on the page, rounded to as many places as it has there."""
    value = number(text)
    for own, there in stated:
        if decimals(own) == 0 and len(own) < 4:
            continue  # a count
        if decimals(own) <= decimals(text) and abs(value - there) <= 0.5000001 * 10**-decimals(own):
            return True
    return False


def main():
    page = sections(open(sys.argv[1]).read())
    script, missing, seen, lines = None, [], 0, set()
    for line in sys.stdin:
        title = re.match(r"(\w+)\.sh\b", line)
        if title:
            script = title[1]
            continue
        if not line.strip() or line.startswith("  ") or script is None:
            continue
        lines.add(script)
        words = line.split()
        left_out = words[LEFT_OUT[script]] if script in LEFT_OUT else None
        for text in NUMBER.findall(line):
            if "." not in text or text == left_out:
                continue
            seen += 1
            if not stands(text, page.get(script, [])):
                missing.append("%s: %s is not on the page: %s" % (script, text, line.strip()))
    print("%d numbers of %d scripts, %d not on the page" % (seen, len(lines), len(missing)))
    print(*missing, sep="\n")
    sys.exit(1 if missing or not seen else 0)


main()
