"""usage: lint.py FILE ...: each name in a launch file is one that its framework's source takes (the
records next to this script), Megatron's flags with as many words and with such values; and no name
is left to fill in. The file's name tells the framework."""
import ast
import re
import subprocess
import sys
from pathlib import Path


def record(name):
    text = (Path(__file__).parent / f"{name}.txt").read_text()
    return text[text.index("\n") :].split()


def flags_of(names):
    flags = {}
    for name in names:
        if name.startswith("--"):
            last, words = name.split("=")
            flags[last] = (words, [])
        else:
            flags[last][1].append(name[1:])
    return flags


def lint_flags(words, flags):
    wrong, i = [], 0
    while i < len(words):
        flag, i = words[i], i + 1
        values = []
        while i < len(words) and not re.match("--[a-z]", words[i]):
            values.append(words[i])
            i += 1
        if flag not in flags:
            wrong.append(f"no flag {flag}")
            continue
        count, choices = flags[flag]
        if count in "01" and len(values) != int(count) or count == "+" and not values:
            wrong.append(f"{flag} takes {count} words, not {values}")
        wrong += [f"{flag} does not take {v}" for v in values if choices and v not in choices]
    return wrong


def lint_megatron(path):
    lists = subprocess.run(
        ["bash", "-c", 'source "$1"; printf "%s\\n" "${MEGATRON_ARGS[@]}"; '
         'for own in "${MEGATRON_RECOMPUTE[@]}"; do echo ==; '
         'printf "%s\\n" $own; done', "lint", path],
        capture_output=True, text=True, check=True).stdout.split("\n==\n")
    flags = flags_of(record("megatron-lm"))
    return [w for words in lists for w in lint_flags([w for w in words.split("\n") if w], flags)]


def lint_mock(path):
    words = re.search(r"mock=\((--mock-data[^)]*)\)", Path(path).read_text())[1].split()
    return lint_flags(words, flags_of(record("megatron-lm")))


def lint_python(path):
    names = {*record("torchtitan-0.3"), *record("torchtitan")}
    wrong = []
    for node in ast.walk(ast.parse(Path(path).read_text())):
        if isinstance(node, ast.Attribute) and ast.unparse(node).startswith("config."):
            key = ast.unparse(node).split(".", 1)[1]
            wrong += [] if key in names or key.startswith("model_spec.") else [f"no key {key}"]
        if isinstance(node, ast.Call):
            section = re.match("([A-Z][a-z]+)Config$", ast.unparse(node.func))
            of = section and section[1].lower().replace(
                "sharding", "model_spec.model.sharding_config")
            for k in node.keywords if section else []:
                key = f"{of}.{k.arg}"
                wrong += [] if key in names else [f"no key {key}"]
        if isinstance(node, ast.ImportFrom) and node.module.endswith("config_registry"):
            name = f"recipe={node.module.split('.')[2]}.{node.names[0].name}"
            own = "a package of your own" in Path(path).read_text()
            wrong += [] if name in names or own else [f"no {name}"]
    return wrong


def lint_sections(path, name, pattern):
    names, section, wrong = record(name), "", []
    for line in Path(path).read_text().splitlines():
        if heading := re.match(pattern, line):
            section = heading[1] + "."
        elif key := re.match(r"( *)([a-z]\w*) *[:=] ", line):
            section = "" if name == "megatron-bridge" and not key[1] else section
            wrong += [] if section + key[2] in names else [f"no key {section}{key[2]}"]
    return wrong


def lint_json(path):
    import json

    names = record("deepspeed")

    def walk(of):
        for key, value in of.items():
            if key != "plumbline":
                yield from [] if key in names else [f"no key {key}"]
                yield from walk(value) if isinstance(value, dict) else []

    return [*walk(json.loads(Path(path).read_text()))]


LINTS = {
    "megatron.sh": lint_megatron,
    "torchrun.sh": lint_mock,
    "torchtitan_plan.py": lint_python,
    "torchtitan.toml": lambda path: lint_sections(path, "torchtitan-0.2", r"\[([\w.]+)\]"),
    "nemo.yaml": lambda path: lint_sections(path, "megatron-bridge", r"([a-z_]+):$"),
    "deepspeed.json": lint_json,
}
failed = 0
for path in sys.argv[1:]:
    text, name = Path(path).read_text(), Path(path).name
    wrong = LINTS[name](path) if name in LINTS else []
    if name.endswith((".sh", ".sbatch")):
        wrong += filter(None, [subprocess.run(["bash", "-n", path], capture_output=True,
                                              text=True).stderr])
    wrong += [f"a name to fill in: {w}" for w in re.findall(r"NAME[-_][A-Z_-]+|THIS-FOLDER", text)]
    for line in wrong:
        print(f"{path}: {line}")
        failed = 1
sys.exit(failed)
