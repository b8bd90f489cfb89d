#!/bin/sh
# How many lines must be believed for a claim, by level: trusted.sh OBJECTS [DOCUMENT]. What a level
# consists of is read off what was built: the objects that its roots reach by their symbols, and the
# headers that the compiler read for those (OBJECTS holds *.o and *.d of the folders of the source).
# A file counts for the first level that reaches it. With a document: fails unless the document's
# table of levels has every level, to within 5 %.
set -u
objects=$1 document=${2:-}
table=${TMPDIR:-/tmp}/plumbline-trusted.$$
trap 'rm -f "$table" "$table.files"' EXIT

# level, roots, what it is: in the order in which files are taken.
levels='ground arena_open,fail memory and errors
kernel check_read_claims,check_one_proof a proof, audited on the tables of one problem
document check_certificate_of a certificate and its priced document: sources, hashes, the tables read
readers problem_load the documents of a problem: JSON, hashes, models, clusters, costs, jobs
pricing space_one_prices,check_confirm what a layout costs, by the judge, and the tables that the checker reads
space check_space_certificate,space_open every layout of a space, each with its argument
places check_places_certificate,space_open_places plans on nodes: the least prices of links, found from the places
judge verify_plan,plan_load a plan: its document, decision, prices, memory and time
command command_check,command_verify arguments, files, what is printed'

# claim, the levels that it rests on beside the command: of each what its roots reach, not more.
claims='check CERTIFICATE PRICED: kernel document
check CERTIFICATE PROBLEM, one layout: kernel document readers pricing
check CERTIFICATE PROBLEM, a space: kernel readers pricing space
check CERTIFICATE PROBLEM, on places: kernel readers pricing places
verify PLAN: readers judge'

# Not followed: by these a solver's solution becomes a plan (verify --solution), which is then judged
# as any other, and a certificate that was accepted is written in full; no claim rests on them.
aside=' solution_plan_make solution_print certificate_elaborate '

# Every object's definitions and wants, then its headers.
list() {
    root=$(pwd)
    cd "$objects" || exit 1
    names=
    for object in $(find data solve formulate calibrate -name '*.o'); do
        name=${object%.o}
        [ ! -f "$root/$name.c" ] || names="$names $name"       # no object of a file that is gone
    done
    nm -A $(printf '%s.o ' $names) | awk -v aside="$aside" '{
        split($1, at, ":"); file = at[1]; sub(/o$/, "c", file)
        if ($(NF - 1) == "U" && index(aside, " " $NF " ")) next
        if ($(NF - 1) == "U") print "wants", file, $NF
        else if ($(NF - 1) ~ /^[TDBRVW]$/) print "defines", file, $NF }'
    awk '{ sub(/\\$/, "") }
        /^[^ ]*\.o:/ { file = FILENAME; sub(/d$/, "c", file); open = 1 }
        /^[^ ]*\.h:/ || !NF { open = 0 }
        open {
            for (i = 1; i <= NF; i++)
                if ($i ~ /^(data|solve|formulate|calibrate)\/.*\.h$/) print "includes", file, $i
        }' \
        $(printf '%s.d ' $names)
}

count_lines() { cat $1 | wc -l | tr -d ' '; }
count_code() { cat $1 | grep -cvE '^[[:space:]]*(//.*)?$'; }

(list) > "$table"
# closure ROOTS: the files that these symbols reach, with commas between.
closure() {
    awk -v roots="$1" '
        $1 == "defines" { home[$3] = $2 }
        $1 == "wants" { wants[$2] = wants[$2] " " $3 }
        $1 == "includes" { headers[$2] = headers[$2] " " $3 }
        END {
            count = split(roots, queue, ",")
            for (i = 1; i <= count; i++) if (!(queue[i] in home)) {
                print "trusted: no symbol " queue[i] > "/dev/stderr"
                exit 1
            }
            for (i = 1; i <= count; i++) {
                file = home[queue[i]]
                if (file == "" || file in seen) continue
                seen[file] = 1
                n = split(wants[file], more, " ")
                for (k = 1; k <= n; k++) queue[++count] = more[k]
                n = split(headers[file], more, " ")
                for (k = 1; k <= n; k++) seen[more[k]] = 1
            }
            for (file in seen) print file
        }' "$table" | sort
}

taken= status=0
printf '| level | what it is | files | lines | of code |\n|---|---|---|---|---|\n'
while read -r level roots what; do
    closure "$roots" > "$table.files"
    [ -s "$table.files" ] || exit 1
    files=$(for file in $taken; do echo "$file"; done | sort | comm -13 - "$table.files")
    lines=$(count_lines "$files") code=$(count_code "$files")
    taken="$taken $files"
    eval "roots_of_$level=$roots files_of_$level=\$files"
    printf '| `%s` | %s | %d | %d | %d |\n' "$level" "$what" "$(echo $files | wc -w)" "$lines" \
        "$code"
    [ -z "${VERBOSE:-}" ] || echo "$files" | sed 's/^/    /' >&2
    [ -n "$document" ] || continue
    stated=$(sed -n "s/^| \`$level\` |.*| \([0-9,]*\) | \([0-9,]*\) |\$/\2/p" "$document" | tr -d ,)
    awk -v a="${stated:-0}" -v b="$code" \
        'BEGIN { d = a - b; if (d < 0) d = -d; exit !(d * 100 > b * 5) }' || continue
    echo "trusted: $document states ${stated:-no} lines of code for $level, found $code" >&2
    status=1
done <<EOF
$levels
EOF
printf '\n| claim | levels | lines | of code |\n|---|---|---|---|\n'
while IFS=: read -r claim rest; do
    roots=
    for level in $rest; do eval "roots=$roots,\$roots_of_$level"; done
    files=$(closure "${roots#,}"; echo "$files_of_command")
    printf '| `%s` |%s, command | %d | %d |\n' "$claim" "$rest" "$(count_lines "$files")" \
        "$(count_code "$files")"
done <<EOF
$claims
EOF
exit $status
