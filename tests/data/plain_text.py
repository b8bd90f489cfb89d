"""Every kind of text of every document of a folder with a character that must not be printed: each
document is read by a command that refuses it in one line, exit code 2.
usage: plain_text.py PLUMBLINE FOLDER, with problem.json, its documents and plan.json in FOLDER."""

import json
import os
import re
import subprocess
import sys

BAD = ["\n", "\t", "\x1b", "\x7f", "\u0085", "\u009b", "\u2028", "\u2029", "\u202e", "\u2066"]
PRINTED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
READERS = {"plan.json": ["verify", "plan.json"], "costs.json": ["price", "problem.json", "-o", "x"]}


def texts(value, path=""):
    """Paths of the texts in a document, with the containers and keys to change them."""
    seen = set()
    for here, container, key in all_texts(value, path):
        kind = re.sub(r"\[\d+\]", "[]", here)
        if kind not in seen:
            seen.add(kind)
            yield here, container, key


def all_texts(value, path=""):
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inside in items:
        here = f"{path}[{key}]" if isinstance(value, list) else f"{path}.{key}" if path else key
        if isinstance(inside, str):
            yield here, value, key
        elif isinstance(inside, (dict, list)):
            yield from all_texts(inside, here)


def run(words, folder):
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=60)


def main():
    plumbline, folder = sys.argv[1:]
    tried = failures = 0
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".json"):
            continue
        file = os.path.join(folder, name)
        with open(file, encoding="utf-8") as f:
            before = f.read()
        document = json.loads(before)
        words = [plumbline] + READERS.get(name, ["solve", "problem.json", "-o", "x", "--quiet"])
        for path, container, key in texts(document):
            kept = container[key]
            bad = BAD[tried % len(BAD)]
            container[key] = kept[:1] + bad + kept[1:]
            with open(file, "w", encoding="utf-8") as f:
                json.dump(document, f, ensure_ascii=tried % 3 == 0)
            found = run(words, folder)
            tried += 1
            one_line = found.stderr.count("\n") == 1 and not PRINTED.search(found.stderr)
            if found.returncode != 2 or not one_line:
                failures += 1
                print(f"FAILED: {name}: {path} with U+{ord(bad):04X}: exit {found.returncode}, "
                      f"{found.stderr[:200]!r}")
            container[key] = kept
        with open(file, "w", encoding="utf-8") as f:
            f.write(before)
    print(f"{tried} texts with a character that must not be printed, {failures} not refused")
    sys.exit(failures > 0 or tried < 40)


main()
