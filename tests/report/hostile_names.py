"""Names that would be commands, formulas, elements or ends of texts, in every document of a
problem; then each thing that plumbline writes of it is read by a parser of its kind (bash runs the
scripts, with stand-ins for what they start) and gives the names back, and no name does anything.
usage: hostile_names.py PLUMBLINE FOLDER [ROUNDS]"""

import ast
import csv
import html.parser
import io
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as tree

try:
    import tomllib
except ImportError:
    tomllib = None
try:
    import yaml
except ImportError:
    yaml = None

PLUMBLINE, FOLDER = os.path.abspath(sys.argv[1]), sys.argv[2]
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 4
HOSTILE = [
    "=1+1|cmd '/c touch PWNED'!A0",
    "$(touch PWNED)`touch PWNED`",
    "-2+3;touch PWNED && touch PWNED #",
    "+%s%n%d %1$n 100% [a]{b}",
    "</script><script>alert(1)</script><img src=x onerror=alert(2)>&amp;",
    "@'; touch PWNED; '\"; touch PWNED; \"",
    "\"\"\"\nimport os".replace("\n", ";") + "; os.system('touch PWNED')\\",
    "\\end{tabular}\\input{x} $x^2$ ~_%&#",
    "ünï 日本語 עברית العربية 🙂",
    "]]> --> {{7*7}} ${HOME} ~root !! \\n\\x41 a,b;c\"d\"\"e'f",
    "long " + 400 * "n",
    " leading and trailing ",
    "'=SUM(A1)",
]
failures = []


def complain(text):
    failures.append(text)
    print("FAILED:", text[:600])


def run(*words, code=0, folder=None, env=None):
    found = subprocess.run(words, cwd=folder or FOLDER, capture_output=True, text=True, env=env,
                           timeout=120, check=False)
    if code is not None and found.returncode != code:
        complain(f"{words[:6]}: exit {found.returncode}: {found.stderr[:300]}")
    return found


def plumbline(*words, code=0, folder=None):
    return run(PLUMBLINE, *words, code=code, folder=folder).stdout


def load(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as f:
        return json.load(f)


# ---- the problem

def rename(value, names, key=""):
    """Every name of a document, and what refers to it, as the map has it."""
    if isinstance(value, dict):
        return {k: v if k == "made_from" else rename(v, names, k) for k, v in value.items()}
    if isinstance(value, list):
        return [rename(v, names, key) for v in value]
    if key not in ("name", "gpu", "run", "groups", "from", "to", "title", "note", "source"):
        return value
    if not isinstance(value, str):
        return value
    if value not in names:
        names[value] = HOSTILE[(len(names) + names["offset"]) % len(HOSTILE)] + f" {len(names)}"
    return names[value]


def make(offset):
    names = {"offset": offset}
    shutil.rmtree(FOLDER, ignore_errors=True)
    run(PLUMBLINE, "example", "mixed", "-o", FOLDER, folder=".")
    for name in ("model", "cluster", "costs", "job", "problem"):
        document = load(name + ".json")
        with open(os.path.join(FOLDER, name + ".json"), "w", encoding="utf-8") as f:
            json.dump(rename(document, names), f, ensure_ascii=offset % 2 == 0)
    plumbline("solve", "problem.json", "-o", "plan.json", "--quiet", "--gap", "0.6",
              "--certificate", "proof.json", "--layouts", "l.json", code=None)
    plumbline("solve", "problem.json", "-o", "plan.json", "--quiet", "--gap", "0.6",
              "--certificate", "proof.json")
    return {load("problem.json")["name"]}, {g["name"] for g in load("cluster.json")["groups"]}


# ---- parsers

def cells_of(text, what):
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    if len({len(row) for row in rows}) != 1:
        complain(f"{what}: rows of {sorted({len(r) for r in rows})} cells")
    for row in rows:
        for cell in row:
            if re.match(r"[=@\t\r]|[+-](?![0-9.]|-*$)", cell):
                complain(f"{what}: a spreadsheet computes {cell[:60]!r}")
    return {cell[1:] if cell.startswith("'") else cell for row in rows for cell in row}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.said, self.handlers = [], "", []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.said += "".join(f" {value}" for _, value in attrs if value)
        self.handlers += [key for key, _ in attrs if key.startswith("on")]

    def handle_data(self, data):
        self.said += data


def page_of(text, what):
    page = Page()
    page.feed(text)
    page.close()
    if page.handlers or "img" in page.tags:
        complain(f"{what}: an element of a name")
    return page


TEX = [("\\textbackslash{}", "\\"), ("\\textasciicircum{}", "^"), ("\\textasciitilde{}", "~"),
       ("\\textless{}", "<"), ("\\textgreater{}", ">"), ("\\textbar{}", "|"),
       ("\\textquotedbl{}", '"'), ("\\textquotesingle{}", "'"), ("\\{", "{"), ("\\}", "}"),
       ("\\$", "$"), ("\\&", "&"), ("\\#", "#"), ("\\%", "%"), ("\\_", "_"),
       ("{[}", "["), ("{*}", "*")]


def text_of_tex(text, what):
    """The words of a table: the commands that the writer has, and the specials of text."""
    said, text = "", text.replace("$10^6$", "")
    if re.search(r"\\\\\s*[\[*]", text):
        complain(f"{what}: an option of a line's end")
    while text:
        for command, meant in TEX:
            if text.startswith(command):
                said, text = said + meant, text[len(command):]
                break
        else:
            if text[0] == "\\":
                command = re.match(r"\\([a-z]+|\\|.)", text, re.S).group(1)
                if command not in ("\\", "begin", "end", "toprule", "midrule", "bottomrule",
                                   "multicolumn", "emph", "addlinespace", "endhead"):
                    complain(f"{what}: the command {command}")
                text = text[len(command) + 1:]
            elif text[0] == "%":
                text = text.split("\n", 1)[1]
            else:
                if text[0] in "^~_#$":
                    complain(f"{what}: a bare {text[0]}")
                said, text = said + text[0], text[1:]
    return said


def script_runs(text, name, what, arguments=()):
    """bash takes it, and what it starts gets its words; nothing else happens."""
    box = os.path.join(os.path.abspath(FOLDER), "box")
    shutil.rmtree(box, ignore_errors=True)
    os.makedirs(os.path.join(box, "bin"))
    for stand_in in ("torchrun", "srun", "scontrol", "sbatch", "python3", "hostname"):
        path = os.path.join(box, "bin", stand_in)
        with open(path, "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\nprintf '%s\\n' \"$0\" \"$@\" >> started\n"
                    "[ \"${0##*/}\" != scontrol ] || printf '%s\\n' node-a node-b\n")
        os.chmod(path, 0o755)
    for file, contents in (("megatron.sh", plumbline("report", "--format", "megatron",
                                                     "plan.json")), (name, text)):
        with open(os.path.join(box, file), "w", encoding="utf-8") as f:
            f.write(contents)
    run("bash", "-n", name, folder=box)
    env = {"PATH": os.path.join(box, "bin") + ":/usr/bin:/bin", "SLURM_JOB_NODELIST": "x",
           "HOSTS": " ".join(f"h{i}" for i in range(64)), "NODE_RANK": "0", "PLAN_DIR": box,
           "RANK": "0", "WORLD_SIZE": "8"}
    found = run("bash", name, *arguments, code=None, folder=box, env=env)
    if os.path.exists(os.path.join(box, "PWNED")) or "not found" in found.stderr:
        complain(f"{what}: a name ran: {found.stderr[:200]}")


def check_scripts(groups):
    for form in ("megatron", "sbatch", "torchrun"):
        found = run(PLUMBLINE, "report", "--format", form, "plan.json", code=None)
        if found.returncode == 2:
            continue  # nodes that differ: no job of whole nodes
        script_runs(found.stdout, f"{form}.bash", form)
        for name in groups:
            if form == "megatron" and name not in found.stdout:
                complain(f"{form}: {name[:60]!r} is not in it")
    for form in ("hostfile", "rankfile", "hosts"):
        found = run(PLUMBLINE, "report", "--format", form, "plan.json", code=2)
        if "expected names of hosts" not in found.stderr:
            complain(f"{form}: {found.stderr[:200]}")


def check_configurations(problem):
    """Each framework's file, in its own language; those for which the plan fits."""
    parsers = {"torchtitan": tomllib and tomllib.loads, "torchtitan-python": ast.parse,
               "deepspeed": json.loads, "nemo": yaml and yaml.safe_load}
    for form, parse in parsers.items():
        text = run(PLUMBLINE, "report", "--format", form, "plan.json", code=None).stdout
        if not text or not parse:
            continue
        try:
            parse(text)
        except Exception as error:  # whatever a parser has to say
            complain(f"{form}: {error}")
        if not all(name in text or json.dumps(name) in text or
                   json.dumps(name, ensure_ascii=False)[1:-1] in text for name in problem):
            complain(f"{form}: the problem's name is not in it")


def check_reports(problem, groups):
    for form in ("text", "trace", "html"):
        plumbline("report", "--format", form, "plan.json", "-o", form)
    with open(os.path.join(FOLDER, "trace"), encoding="utf-8") as f:
        trace = json.dumps(json.load(f), ensure_ascii=False)
    with open(os.path.join(FOLDER, "html"), encoding="utf-8") as f:
        page = page_of(f.read(), "html")
    with open(os.path.join(FOLDER, "text"), encoding="utf-8") as f:
        text = f.read()
    for name in groups:
        if json.dumps(name, ensure_ascii=False)[1:-1] not in trace:
            complain(f"trace: {name[:60]!r} is not in it")
    for name in problem | groups:
        if name not in page.said:
            complain(f"html: {name[:60]!r} is not in it")
        if name not in text:
            complain(f"text: {name[:60]!r} is not in it")
    return page.tags.count("script")


def check_tables(problem):
    if not problem <= cells_of(plumbline("report", "--format", "csv", "plan.json"), "csv"):
        complain("csv: the name is not in it")
    file = next(iter(problem)).replace("/", "|")[:200] + ".json"
    file = ("./" if file.startswith("-") else "") + file
    shutil.copy(os.path.join(FOLDER, "plan.json"), os.path.join(FOLDER, file))
    title = os.path.basename(file)[:-5]
    words = ["compare", "plan.json", file, "--format"]
    if title not in cells_of(plumbline(*words, "csv"), "compare csv"):
        complain("compare csv: the name is not in it")
    page = page_of(plumbline(*words, "html"), "compare html")
    for what, text, name in (("latex", plumbline("report", "--format", "latex", "plan.json"),
                              next(iter(problem))),
                             ("compare latex", plumbline(*words, "latex"), title)):
        said = text_of_tex(text, what)
        if name not in said:
            complain(f"{what}: {name[:60]!r} is not in it: {said[:300]}")
    if title not in page.said:
        complain("compare html: the name is not in it")


def check_documents(groups):
    plumbline("verify", "plan.json")
    plumbline("price", "problem.json", "-o", "priced.json")
    plumbline("check", "proof.json", "problem.json", "--statement", "statement.txt", code=None)
    found = {g["name"] for g in load("priced.json")["groups"]}
    if found != groups:
        complain(f"priced: groups {found}")
    for file in ("p.mps", "p.lp"):
        plumbline("formulate", "problem.json", "-o", file, "--map", "map.json", code=None)
        if shutil.which("glpsol") and os.path.exists(os.path.join(FOLDER, file)):
            run("glpsol", "--freemps" if file.endswith("mps") else "--lp", file, "--check")
    if not groups <= {c.get("group") for c in load("map.json")["columns"]} | {None} | groups:
        complain("map: groups are not in it")


def check_batch(problem):
    name = next(iter(problem))
    with open(os.path.join(FOLDER, "m.jsonl"), "w", encoding="utf-8") as f:
        for gap, title in ((0.6, HOSTILE[0]), (0.7, HOSTILE[2]), (0.8, name)):
            f.write(json.dumps({"name": title, "problem": "problem.json",
                                "options": {"gap": gap}}) + "\n")
    plumbline("batch", "run", "m.jsonl", "-o", "b$(touch PWNED) %d", "--quiet")
    folder = "b$(touch PWNED) %d"
    cells = cells_of(plumbline("batch", "collect", folder), "batch csv")
    for title in (name, HOSTILE[0], HOSTILE[2]):
        if not any(cell.startswith(title) for cell in cells):
            complain(f"batch csv: {title[:60]!r} is not in it")
    for form, read in (("tex", text_of_tex), ("html", lambda t, w: page_of(t, w).said)):
        plumbline("batch", "collect", folder, "-o", "t." + form)
        with open(os.path.join(FOLDER, "t." + form), encoding="utf-8") as f:
            said = read(f.read(), "batch " + form)
        for title in (name, HOSTILE[0], HOSTILE[2]):
            if title.strip() not in said:
                complain(f"batch {form}: {title[:60]!r} is not in it")
    plumbline("batch", "plot", folder, "--kind", "gap", "-o", "gap.svg", code=None)
    for line in plumbline("batch", "lines", "m.jsonl", "-o", folder + "2").splitlines():
        words = run("bash", "-c", f"printf '%s\\n' {line}").stdout.split("\n")
        if folder + "2" not in words:
            complain(f"batch lines: {line}")


def check_drawings(names):
    for file in os.listdir(FOLDER):
        if file.endswith(".svg"):
            root = tree.parse(os.path.join(FOLDER, file)).getroot()
            if {e.tag.split("}")[1] for e in root.iter()} & {"script", "img"}:
                complain(f"{file}: an element of a name")


def check_nodes():
    """Names of nodes have no blanks, but all else."""
    names = ["n$(touch${IFS}PWNED)", "=1+1", "a,\"b\"", "<b>&amp;", "'x'", "[1-3]", "@;touch#",
             "-9+x"]
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz", "places")
    shutil.rmtree(FOLDER, ignore_errors=True)
    shutil.copytree(source, FOLDER)
    cluster = load("cluster.json")
    given = {}
    for node in cluster["places"]["nodes"]:
        given[node["name"]] = f"{names[len(given) % len(names)]}.{len(given)}"
        node["name"] = given[node["name"]]
    for link in cluster["places"].get("links", []):
        link["from"], link["to"] = given[link["from"]], given[link["to"]]
    with open(os.path.join(FOLDER, "cluster.json"), "w", encoding="utf-8") as f:
        json.dump(cluster, f)
    plumbline("solve", "problem.json", "-o", "plan.json", "--quiet", "--time-limit-s", "1",
              code=None)
    plumbline("verify", "plan.json")
    used = {node for r in load("plan.json")["placement"]["replicas"] for node in r["nodes"]}
    if not used <= cells_of(plumbline("report", "--format", "links", "plan.json"), "links") | used:
        complain("links: nodes are not in it")
    plumbline("report", "--format", "heatmap", "plan.json", "-o", "map.svg")
    plumbline("report", "--format", "html", "plan.json", "-o", "html")
    with open(os.path.join(FOLDER, "html"), encoding="utf-8") as f:
        page = page_of(f.read(), "html of nodes")
    for name in used:
        if name not in page.said:
            complain(f"html: the node {name} is not in it")
    check_scripts(set())
    check_drawings(used)


def check_runs():
    with open(os.path.join(FOLDER, "runs.csv"), "w", encoding="utf-8", newline="") as f:
        rows = csv.writer(f)
        rows.writerow(["id", "gpu", "num_gpus", "layers", "hidden", "heads", "seq", "tp", "pp",
                       "micro_batch", "global_batch", "metric", "value", "unit", "notes"])
        for name in HOSTILE:
            rows.writerow([name, "A100-80GB", 16, 24, 2048, 16, 2048, 2, 2, 1, 64,
                           "iteration_time", 3, "s", name])
            rows.writerow([name, name, 16, 24, 2048, 16, 2048, 2, 2, 1, 64, "iteration_time", 3,
                           "s", name])
    cells = cells_of(plumbline("predict", "runs.csv"), "predict csv")
    if not set(HOSTILE) <= cells:
        complain(f"predict csv: {sorted(set(HOSTILE) - cells)[:2]}")
    found = {row["id"] for row in json.loads(plumbline("predict", "runs.csv", "--json"))}
    if found != set(HOSTILE):
        complain(f"predict json: {sorted(set(HOSTILE) - found)[:2]}")
    cells = cells_of(plumbline("validate", "runs.csv", "--costs", "kernels", "--list"),
                     "validate csv")
    if not set(HOSTILE) <= cells:
        complain(f"validate csv: {sorted(set(HOSTILE) - cells)[:2]}")
    json.loads(plumbline("validate", "runs.csv", "--costs", "kernels", "--json"))


def main():
    scripts = set()
    for offset in range(ROUNDS):
        problem, groups = make(3 * offset)
        check_documents(groups)
        scripts.add(check_reports(problem, groups))
        check_scripts(groups)
        check_configurations(problem)
        check_tables(problem)
        if offset < 2:
            check_batch(problem)
        check_drawings(groups)
        for folder, _, files in os.walk("."):
            if "PWNED" in files:
                complain(f"a name ran: {folder}/PWNED")
    check_runs()
    check_nodes()
    for folder, _, files in os.walk("."):
        if "PWNED" in files:
            complain(f"a name ran: {folder}/PWNED")
    if len(scripts) != 1:
        complain(f"pages of {scripts} scripts")
    print(f"{ROUNDS} rounds of names, {len(failures)} failures")
    sys.exit(len(failures) > 0)


main()
