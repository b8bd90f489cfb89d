"""Validates documents against docs/schemas. Usage: check_schemas.py good|bad FILE ...; FILE's
schema follows from its "kind", or where that is damaged from its name (KIND-anything.json). Exit 0:
all good files pass, all bad ones fail."""
import functools
import json
import pathlib
import sys

from jsonschema import Draft202012Validator

SCHEMAS = pathlib.Path(__file__).resolve().parent.parent / "docs" / "schemas"


def inlined(schema):
    """The schema with each other file that it refers to in its place."""
    if isinstance(schema, list):
        return [inlined(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    if str(schema.get("$ref", "#")).startswith("#"):
        return {key: inlined(s) for key, s in schema.items()}
    return inlined(json.loads((SCHEMAS / schema["$ref"]).read_text()))


@functools.cache
def validator_of(kind):
    path = SCHEMAS / f"{kind}.schema.json"
    if not path.exists():
        return None
    schema = inlined(json.loads(path.read_text()))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def errors_of(path, document):
    kind = str(document.get("kind", "")).removeprefix("plumbline.")
    named = path.name.split("-")[0]
    for candidate in [named, kind] if sys.argv[1] == "bad" else [kind]:
        validator = validator_of(candidate)
        if validator:
            return sorted(validator.iter_errors(document), key=lambda e: list(map(str, e.path)))
    sys.exit(f"{path}: no schema for kind {kind!r}")


wrong = 0
for argument in sys.argv[2:]:
    path = pathlib.Path(argument)
    document = json.loads(path.read_text())
    errors = errors_of(path, document)
    if sys.argv[1] == "good" and errors:
        wrong += 1
        print(f"{path}: refused: {'.'.join(map(str, errors[0].path))}: {errors[0].message[:300]}")
    if sys.argv[1] == "bad" and not errors:
        wrong += 1
        print(f"{path}: accepted")
print(f"{len(sys.argv) - 2} documents, {wrong} wrong")
sys.exit(wrong > 0)
