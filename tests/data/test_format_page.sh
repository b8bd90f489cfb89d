#!/bin/sh
# docs/FORMATS.md names every key that a document may have, in the document's own section, in one
# that the section links to (`[job](#job)`) or in that of the envelope; and the tables of a
# document's section name no key that its schema does not have. The schemas are held against what
# the program reads and writes by test_schemas.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
page=${1:-$root/docs/FORMATS.md} schemas=${2:-$root/docs/schemas}
failures=0
complain() { echo "FAILED: $*"; failures=$((failures + 1)); }

# The names of all properties of a schema, sorted.
keys_of() {
    awk '{ text = text $0 "\n" }
        END {
            for (i = 1; i <= length(text); i++) {
                c = substr(text, i, 1)
                if (c == "\"") {
                    for (end = i + 1; substr(text, end, 1) != "\""; end++)
                        if (substr(text, end, 1) == "\\") end++
                    string = substr(text, i + 1, end - i - 1)
                    i = end
                    if (substr(text, i + 1) ~ /^[ \n]*:/) {
                        key = string
                        if (of[depth] == "properties") print key
                    }
                } else if (c == "{" || c == "[") of[++depth] = key
                else if (c == "}" || c == "]") depth--
                else if (c == ",") key = ""
            }
        }' "$1" | sort -u
}

# Those of a schema and of the schemas that it refers to.
all_keys_of() {
    keys_of "$1"
    for part in $(grep -o '"[a-z]*\.schema\.json"' "$1" | tr -d '"' | sort -u); do all_keys_of \
        "$schemas/$part"; done
}

# The text of a section, from its heading to the next one of its level.
section() { awk -v name="$1" '/^## / { on = $0 == "## " name } on' "$page"; }

for schema in "$schemas"/*.schema.json; do
    name=$(basename "$schema" .schema.json)
    grep -q '"const": "plumbline\.' "$schema" || continue # part of other documents
    keys=$(all_keys_of "$schema" | sort -u)
    own=$(section "$name")
    [ -n "$own" ] || { complain "no section ## $name"; continue; }
    text=$(echo "$own"; section "The envelope"
        for other in $(echo "$own" | grep -o '](#[a-z]*)' | tr -d ']()#' | sort -u); do section \
            "$other"; done)
    for key in $keys; do
        echo "$text" | grep -qE "[\`\".]$key(\\[\\])?[\`\"]" ||
            complain "$name: the key $key is not described"
    done
    # First cells of the section's tables of keys: | `a.b[]` `c`, `d` *p* | ...
    for key in $(echo "$own" | awk '/^\| key/ { on = 1 } !/^\|/ { on = 0 } on' |
        sed -n 's/^| \(`[^|]*\) |.*/\1/p' | grep -o '`[^`]*`' | tr -d '`' | tr '.' '\n' |
        tr -d '[]' | sort -u); do
        echo "$keys" | grep -qx -- "$key" ||
            complain "$name: the table names $key, which the schema has not"
    done
done
[ $failures = 0 ] && echo "every key is described"
[ $failures = 0 ]
