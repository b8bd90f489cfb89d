"""usage: record.py FRAMEWORK CHECKOUT SOURCE >FRAMEWORK.txt: the names that a framework's newest
source takes in its configuration, read from its syntax alone; SOURCE is repository and commit.

The file begins with the source; names follow between blanks. megatron-lm: --flag=WORDS, how many
words follow it (0, 1, + for several), then :CHOICE of each that it takes, as the parser of
megatron/training/arguments.py has them. megatron-bridge (CHECKOUT SOURCE MEGATRON-LM), torchtitan,
torchtitan-toml: section.key of the classes that a configuration consists of; also recipe=MODEL.NAME
and flavor=MODEL.NAME. deepspeed: each word of the JSON's keys."""
import ast
import re
import sys
import textwrap
from pathlib import Path

framework, checkout, source = sys.argv[1], Path(sys.argv[2]), sys.argv[3]


def tree_of(path):
    return ast.parse(Path(path).read_text())


def constant(node, otherwise=None):
    try:
        return ast.literal_eval(node)
    except ValueError:
        return otherwise


class Classes:
    """All classes below some folders, by name, a nested one as Outer.Inner. Those of one name count
    as one: a package's class often extends another's of the same name."""

    def __init__(self, *folders):
        self.found = {}
        for folder in folders:
            for path in sorted((checkout / folder).rglob("*.py")):
                self.take(tree_of(path).body, "")

    def take(self, body, outer):
        for node in body:
            if isinstance(node, ast.ClassDef):
                self.found.setdefault(outer + node.name, []).append(node)
                self.take(node.body, f"{outer}{node.name}.")
            elif isinstance(node, (ast.If, ast.Try)):
                self.take(node.body, outer)

    def fields(self, name, inside=()):
        """{name: (annotation, value)} of a class and those it is made from."""
        fields = {}
        for node in self.found.get(name, []) if name not in inside else []:
            for base in map(ast.unparse, node.bases):
                found = self.fields(base, (*inside, name))
                fields.update(found or self.fields(base.rsplit(".", 1)[-1], (*inside, name)))
            for s in node.body:
                if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name):
                    fields[s.target.id] = (ast.unparse(s.annotation), s.value)
        return fields


def keywords(call):
    return {k.arg: k.value for k in call.keywords}


# ---- Megatron-LM


def field_meta(value):
    """argparse_meta of a field's metadata, its default."""
    if not isinstance(value, ast.Call):
        return {}, value
    given = keywords(value)
    meta = given.get("metadata")
    entry = {}
    if isinstance(meta, ast.Dict):
        for key, of in zip(meta.keys, meta.values):
            if constant(key) == "argparse_meta" and isinstance(of, ast.Dict):
                entry = {constant(k): v for k, v in zip(of.keys, of.values)}
    return entry, given.get("default")


def words_of(given, annotation=""):
    action = constant(given["action"]) if "action" in given else None
    if action in ("store_true", "store_false", "store_const"):
        return "0"
    if "nargs" in given:
        nargs = constant(given["nargs"])
        return "?" if nargs == "?" else "+"
    return "+" if annotation.replace("Optional[", "").lower().startswith("list[") else "1"


def choices_of(given, annotation="", classes=None):
    for node in classes.found.get(annotation, []) if classes else []:
        if "Enum" in str([ast.unparse(base) for base in node.bases]):
            names = [ast.unparse(s.targets[0]) for s in node.body if isinstance(s, ast.Assign)]
            return ",".join(names)
    if "choices" in given:
        found = constant(given["choices"])
        return ",".join(map(str, found)) if found else ""
    if "Literal[" in annotation and not annotation.replace("Optional[", "").startswith("list"):
        inner = annotation[annotation.index("Literal[") + 8 : annotation.index("]")]
        return ",".join(str(x) for x in constant(ast.parse(f"[{inner}]").body[0].value))
    return ""


def megatron():
    tree = tree_of(checkout / "megatron/training/arguments.py")
    classes = Classes("megatron")
    names = {}

    def add(flags, words, choices):
        for flag in flags:
            names[flag] = " :".join([f"{flag}={words}", *filter(None, choices.split(","))])

    for function in tree.body:
        if not isinstance(function, ast.FunctionDef):
            continue
        lists = {
            ast.unparse(s.targets[0]): constant(s.value, [])
            for s in function.body
            if isinstance(s, ast.Assign)
        }
        for call in ast.walk(function):
            if not isinstance(call, ast.Call):
                continue
            called, given = ast.unparse(call.func), keywords(call)
            if called.endswith(".add_argument"):
                flags = [constant(a) for a in call.args]
                if "BooleanOptionalAction" in ast.unparse(call):
                    given["action"] = ast.Constant("store_true")
                    flags += ["--no-" + flag[2:] for flag in flags]
                add(flags, words_of(given), choices_of(given))
            if called != "ArgumentGroupFactory":
                continue
            left = given.get("exclude")
            left = constant(left) or lists.get(ast.unparse(left), []) if left is not None else []
            for name, (annotation, value) in classes.fields(ast.unparse(call.args[0])).items():
                meta, default = field_meta(value)
                flags = constant(meta["arg_names"]) if "arg_names" in meta else None
                is_switch = "type" not in meta and annotation in ("bool", "Optional[bool]")
                off = is_switch and constant(default, False) in (True, None)
                if name in left or "ClassVar" in annotation:
                    continue
                if not flags:
                    prefixes = ["no-", "disable-"] if off else [""]
                    flags = [f"--{p}{name.replace('_', '-')}" for p in prefixes]
                words = "0" if is_switch and "action" not in meta else words_of(meta, annotation)
                add(flags, words, choices_of(meta, annotation, classes))
    return names.values()


# ---- classes of sections


def sections(classes, top, names, depth, before=""):
    """Keys of nested classes."""
    for key, (annotation, _) in classes.fields(top).items():
        names.append(before + key)
        for word in annotation.replace("[", " ").replace("]", " ").replace("|", " ").split():
            word = word.strip(",'\"")
            inner = word if classes.found.get(word) else word.rsplit(".", 1)[-1]
            if classes.fields(inner) and word != top and depth:
                sections(classes, inner, names, depth - 1, f"{before}{key}.")
    return names


def bridge():
    classes = Classes("src/megatron/bridge/training", "src/megatron/bridge/models")
    core = Path(sys.argv[4])
    for path in [*(core / "megatron/core").rglob("*config*.py"),
                 *(core / "megatron/training/config").rglob("*.py")]:
        classes.take(tree_of(path).body, "")
    names = [n for n in sections(classes, "ConfigContainer", [], 1) if not n.startswith("model.")]
    for name in ("GPTModelProvider", "MLATransformerConfig"):
        names += [f"model.{key}" for key in classes.fields(name)]
    for path in (checkout / "src/megatron/bridge/training").glob("mixed_precision.py"):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef) and "register" in str(
                [ast.unparse(d) for d in node.decorator_list]
            ):
                names.append(f"mixed_precision={node.name}")
    return names


# ---- DeepSpeed


def deepspeed():
    """Constants of keys; fields of the classes of sections and their other names."""
    names = []
    folder = checkout / "deepspeed"
    for path in folder.rglob("*.py"):
        for node in tree_of(path).body:
            name = constant(node.value) if isinstance(node, ast.Assign) else None
            if isinstance(name, str) and re.fullmatch("[a-z][a-z0-9_]*", name):
                names.append(name)
    classes = Classes("deepspeed")
    for name in list(classes.found):
        if not name.endswith("Config"):
            continue
        for key, (_, value) in classes.fields(name).items():
            names.append(key)
            if isinstance(value, ast.Call) and "alias" in keywords(value):
                names.append(constant(keywords(value)["alias"]))
    return names


# ---- torchtitan


def recipes():
    """Functions of config_registry.py and flavors of model_registry, by model."""
    names = []
    for path in sorted((checkout / "torchtitan/models").glob("*/__init__.py")):
        model, registry = path.parent.name, path.parent / "config_registry.py"
        for node in tree_of(registry).body if registry.exists() else []:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                names.append(f"recipe={model}.{node.name}")
        for node in ast.walk(tree_of(path)):
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Dict):
                of = node.targets[0] if isinstance(node, ast.Assign) else node.target
                if ast.unparse(of).endswith(("configs", "_args")):
                    names += [f"flavor={model}.{constant(k)}" for k in node.value.keys]
    return names


def torchtitan():
    classes = Classes("torchtitan")
    return sections(classes, "Trainer.Config", [], 3) + recipes()


def torchtitan_toml():
    classes = Classes("torchtitan/config")
    return sections(classes, "JobConfig", [], 3) + recipes()


readers = {
    "megatron-lm": megatron,
    "megatron-bridge": bridge,
    "deepspeed": deepspeed,
    "torchtitan": torchtitan,
    "torchtitan-toml": torchtitan_toml,
}
print(f"# {source}")
print(textwrap.fill(" ".join(sorted(set(filter(None, readers[framework]())))), 99,
                    break_long_words=False, break_on_hyphens=False))
