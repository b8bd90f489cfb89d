#!/usr/bin/env python3
"""Whether docs/PAPERS.md has the figures that docs/examples/papers/all.sh prints:
all.sh FOLDER [SCRIPT ...] | papers_page.py PAPERS.md. A line of a script must be a row of a table
in a section that names the script: all its numbers stand there, rounded as there, counts as they
are. Exit 1: a line is none; each is named, with what the row that is most like it lacks."""
import re, sys

# Words of a line that its row leaves out: GB of the fullest stage, processor seconds, layers of a
# whole model, how many slices (a column's head).
LEFT_OUT = {"llava": (-1,), "offload": (-1,), "piper": (-1,), "reaches": (-1,), "terapipe": (3,)}
# Words that are in a table of their own, or not in each table: parameters, AxoNN's own plan.
APART = {"grids": (1, -1)}
# Their counts are in words, or elsewhere.
FIGURES_ALONE = {"grids", "llava", "offers"}
NUMBER = re.compile(r"(?<![\w.,])-?\d[\d,]*(?:\.\d+)?(?![\w.]*\d)")


def number(text):
    return float(text.replace(",", ""))


def numbers(text, between="x"):
    """Also those of 4x2x128, as of 4 x 2 x 128."""
    return NUMBER.findall(re.sub(r"(?<=\d)[%s](?=\d)" % between, " ", text))


def sections(page):
    """script: the rows of all tables of sections that name it, each its numbers."""
    found = {}
    for part in re.split(r"(?m)^## ", page)[1:]:
        rows = [numbers(line) for line in part.split("\n") if line.startswith("|")]
        for script in set(re.findall(r"`(?:docs/examples/papers/)?(?:\w+=\S+ )*(\w+)\.sh", part)):
            found.setdefault(script, []).extend(row for row in rows if row)
    return found


def decimals(text):
    return len(text.partition(".")[2])


def stands(text, row):
    """Whether the row has the printed number, rounded to as many places as it has there."""
    value = number(text)
    return any(abs(value - number(own)) <= 0.5000001 * 10**-decimals(own)
               for own in row
               if decimals(own) <= decimals(text) and (decimals(own) or len(own) > 3 or
                                                       decimals(text) == 0))


def lacking(line, script, rows):
    """What of the line is not in the row that has most of it, and not in any where it may be."""
    words = line.split()
    apart = [text for at in APART.get(script, ()) for text in numbers(words[at], "x:,")]
    skipped = {at % len(words) for at in LEFT_OUT.get(script, ()) + APART.get(script, ())
               if -len(words) <= at < len(words)}
    own = numbers(" ".join(word for at, word in enumerate(words) if at not in skipped), "x:,")
    if script in FIGURES_ALONE:
        own = [text for text in own if "." in text]
    missing = min(([text for text in own if not stands(text, row)] for row in rows or [[]]),
                  key=len)
    return missing + [text for text in apart
                      if "." in text and not any(stands(text, row) for row in rows)], len(own)


def main():
    page = sections(open(sys.argv[1]).read())
    script, wrong, seen, scripts = None, [], 0, set()
    for line in sys.stdin:
        title = re.match(r"(\w+)\.sh\b", line)
        if title:
            script = title[1]
            continue
        if not line.strip() or line.startswith("  ") or script is None:
            continue
        scripts.add(script)
        missing, count = lacking(line, script, page.get(script, []))
        seen += count
        if missing:
            wrong.append("%s: %s not in a row of the page: %s"
                         % (script, ", ".join(missing), line.strip()))
    print("%d numbers of %d scripts, %d lines not on the page" % (seen, len(scripts), len(wrong)))
    print(*wrong, sep="\n")
    sys.exit(1 if wrong or not seen else 0)


main()
