#!/bin/sh
# The include rule of docs/ARCHITECTURE.md: which folder may include which, or use symbols of which;
# no folders that use each other in a circle; a folder's internal.h (or X_internal.h) only from
# within it; each foreign library where the table of docs/ARCHITECTURE.md says, linked as it says;
# and schedules are named only in the tables of judge and checker. Symbols are those of the objects.
# usage: layers.sh [TREE [OBJECTS]]
cd "${1:-.}" || exit 2
objects=${2:-build/release}
status=0

# folder | what its files may include, and use, beside the folder's own: folders with all that is in
# them, files, or FOLDER/*: the files of the folder itself, none of the folders inside it
rules='
data/base            |
data/text            | data/base
data/places          | data/base data/text
data/kinds           |
data/inputs          | data/base data/text data/places data/inputs/model data/kinds
data/inputs/model    | data/base data/text
data/numbers         | data/base data/text data/inputs/model
data/hardware        | data/base data/text data/places data/inputs data/kinds
data/priced          | data/base data/text data/places data/inputs data/kinds
data/program         | data/base
data/schedule        | data/base data/inputs data/priced data/kinds
data/results         | data/base data/text data/places data/inputs data/numbers data/priced data/schedule data/kinds
data/import          | data/base data/text data/places data/inputs data/numbers data/kinds
data/import/hosts    | data/base data/text data/places data/import/*
data/frameworks      | data/base data/text data/inputs data/kinds
data/import/nodes    | data/base data/text data/places data/import/*
data/import/jobs     | data/base data/text data/inputs data/kinds data/frameworks data/import/* data/import/script
data/import/trainers | data/base data/text data/inputs data/kinds data/frameworks data/import/* data/import/jobs data/import/script
data/import/script   | data/base data/text data/import/*
data/import/logs     | data/base data/text data/inputs data/kinds data/numbers data/frameworks data/import/*
data/import/trace    | data/base data/text data/inputs data/numbers data/import/*
data/import/hf       | data/base data/text data/inputs data/import/*
measure              | data measure
measure/sampling     | data/base data/inputs data/numbers
measure/cpu          | data/base data/inputs data/numbers measure/sampling
measure/cuda         | data/base data/inputs data/numbers measure/sampling measure/cuda/kernels
measure/cuda/kernels |
measure/links        | data/base data/inputs data/numbers measure/sampling measure/cuda
measure/run          | data measure/sampling measure/links
calibrate            | data formulate calibrate
calibrate/fit        | data formulate/price
calibrate/runs       | data formulate/predict calibrate/fit
formulate            | data formulate
formulate/choices    | data
formulate/graph      | data formulate/choices
formulate/price      | data formulate/graph
formulate/program    | data formulate/choices formulate/graph
formulate/example    | data formulate/commands.h
formulate/predict    | data formulate/choices formulate/graph formulate/price formulate/example
solve/process        | data/base
solve/chains         | data/base
solve/boxes          | data formulate solve/boxes/simplex
solve/boxes/simplex  | data/base
solve/incumbent      | data formulate solve/boxes
solve/tree           | data formulate solve/boxes solve/process
solve/layout         | data formulate solve/boxes solve/incumbent solve/tree solve/process
solve/layouts        | data formulate solve/layout solve/boxes solve/incumbent solve/tree solve/process
solve/places         | data formulate solve/places/reaches solve/layouts solve/layout solve/boxes solve/incumbent solve/tree solve/process solve/chains
solve/places/reaches | data
solve/places/space   | data formulate solve/places solve/layouts solve/layout solve/boxes solve/incumbent solve/tree solve/process
solve/judge          | data solve/judge/kinds solve/judge/price
solve/judge/kinds    | data
solve/judge/price    | data solve/judge/kinds
solve/checker        | data/base/status.h data/base/arena.h data/base/least.h data/base/grow.h solve/checker/read solve/checker/layout solve/checker/boxes
solve/checker/boxes  | data/base/status.h data/base/arena.h data/base/least.h data/base/grow.h solve/checker/read solve/checker/layout
solve/checker/layout | data/base/status.h data/base/arena.h data/base/least.h data/base/grow.h solve/checker/read
solve/checker/read   | data/base/status.h data/base/arena.h data/base/least.h data/base/grow.h
solve/checker/space  | data/base/status.h data/base/arena.h data/base/least.h data/base/grow.h solve/checker/* solve/checker/read solve/checker/layout
solve/checker/places | data/base/status.h data/base/arena.h data/base/least.h data/base/grow.h solve/checker/* solve/checker/read solve/checker/layout solve/checker/boxes solve/checker/space
solve/checker/prices | data solve/checker solve/judge
solve/certificate    | data formulate solve/boxes solve/tree solve/layout solve/layouts solve/places solve/process solve/checker
solve/report         | data
solve/report/html    | data solve/report
solve/report/against | data solve/report solve/report/html
solve/report/export  | data solve/report
solve/report/compare | data solve/report solve/report/html
solve/explain        | data formulate solve/report
solve/questions      | data formulate solve/layout solve/layouts solve/places solve/process solve/judge solve/report
solve/commands       | data formulate solve
solve/batch          | data formulate/commands.h formulate/example solve/report solve/commands
library              | data formulate/commands.h formulate/example solve/commands solve/questions solve/explain solve/layout solve/checker/check.h
'
# header | the files, or folder/, that include it: from the table of libraries
architecture=docs/ARCHITECTURE.md
table=$(sed -n '/^| library | header /,/^$/p' $architecture | sed '1,2d' | tr -d '`')
libraries=$(printf '%s\n' "$table" | awk -F'|' 'NF == 6 { print $3 "|" $5 }')
# The files of judge and checker that may name a schedule.
schedule_tables='solve/judge/kinds/kinds.h solve/checker/read/orders.c'
# The checker of proofs uses these of the C library and nothing else.
checker_headers='errno.h limits.h stdarg.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h
time.h'

# Which symbols an object uses of another, as lines SOURCE:"OTHER SOURCE" SYMBOL. Stale objects, of
# no source, are left out.
symbols() {
    find "$objects" -name '*.o' -not -path "$objects/tests/*" | sort | while read -r object; do
        source=${object#"$objects/"} source=${source%.o}
        [ -f "$source.c" ] || [ -f "$source.cu" ] || [ -f "$objects/$source.c" ] && echo "$object"
    done | xargs nm -A -P -g | awk -v objects="$objects/" '
        { source = substr($1, length(objects) + 1); sub(/\.o:$/, ".c", source) }
        $3 == "U" || $3 == "w" { users[$2] = users[$2] " " source; next }
        { homes[$2] = homes[$2] " " source }
        END {
            for (symbol in users) if (symbol in homes) {
                n = split(users[symbol], user, " "); m = split(homes[symbol], home, " ")
                for (i = 1; i <= n; i++)
                    for (k = 1; k <= m; k++) print user[i] ":\"" home[k] "\" " symbol
            }
        }' | sort
}

{
    find data measure calibrate formulate solve library plumbline.c -name '*.[ch]' -o -name '*.cu' \
        -o -name '*.cuh' | sort |
        xargs grep -HE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]'
    [ ! -d "$objects" ] || symbols
} |
RULES=$rules LIBRARIES=$libraries CHECKER=$checker_headers awk '
function folder(path) { sub("/[^/]*$", "", path); return path }
function within(path, room) { return path == room || index(path, room "/") == 1 }
function complain(text) { print "layers: " text > "/dev/stderr"; bad = 1 }
function trim(s) { gsub(/^ +| +$/, "", s); return s }
BEGIN {
    n = split(ENVIRON["RULES"], lines, "\n")
    for (i = 1; i <= n; i++) if (split(lines[i], f, "|") == 2) may[trim(f[1])] = trim(f[2]) " "
    n = split(ENVIRON["LIBRARIES"], lines, "\n")
    for (i = 1; i <= n; i++) if (split(lines[i], f, "|") == 2) home[trim(f[1])] = trim(f[2])
    n = split(ENVIRON["CHECKER"], names, " ")
    for (i = 1; i <= n; i++) plain[names[i]] = 1
}
{
    at = index($0, ":"); file = substr($0, 1, at - 1); rest = substr($0, at + 1)
    match(rest, /[<"][^>"]*[>"]/)
    included = substr(rest, RSTART + 1, RLENGTH - 2); ours = substr(rest, RSTART, 1) == "\""
    symbol = RSTART == 1 ? substr(rest, RLENGTH + 2) : ""
    does = symbol ? "uses " symbol " of" : "includes"
    from = folder(file); to = folder(included)
    for (header in home) if (!ours && index(included, header)) {
        k = split(home[header], homes, " ")
        while (k && file != homes[k] && !(homes[k] ~ /\/$/ && index(file, homes[k]) == 1)) k--
        if (k) has[header, homes[k]] = 1
        else complain(file " includes " included "; only " home[header] " may")
    }
    if (file == "plumbline.c") next
    if (!ours) {
        if (within(from, "solve/checker") && from != "solve/checker/prices" &&
            !(included in plain) && !(file == "solve/checker/read/json.h" && included ~ /cJSON/))
            complain(file " includes <" included ">; it may use the C library alone")
        next
    }
    if (to == from) next
    if (symbol) symbols++
    if (!((from, to) in edge)) {
        edge[from, to] = file " " does " " included
        uses[from] = uses[from] " " to
    }
    if (!(from in may) && !(parent_rule(from) in may)) { complain(from " has no rule"); next }
    rooms = (from in may) ? may[from] : may[parent_rule(from)]
    fits = 0
    m = split(rooms, room, " ")
    for (k = 1; k <= m; k++)
        if (within(included, room[k]) || room[k] == to "/*" ||
            (symbol && room[k] ~ /\.h$/ && folder(room[k]) == to)) fits = 1
    if (!fits) complain(file " " does " " included "; beside its own folder it may include: " rooms)
    else if (included ~ /[\/_]internal\.h$/ && !within(from, to))
        complain(file " includes " included ", which is for " to " alone")
}
function parent_rule(path) { return folder(path) }
# Folders that use none which may be in a circle are struck out, again and again; of those that are
# left each leads into a circle.
function find_circle(    round, room, to, n, i, at, place, way) {
    for (round = 1; round; ) {
        round = 0
        for (room in uses) if (!(room in struck)) {
            n = split(uses[room], to, " ")
            for (i = 1; i <= n; i++) if (to[i] in uses && !(to[i] in struck)) break
            if (i > n) { struck[room] = 1; round = 1 }
        }
    }
    for (at in uses) if (!(at in struck)) break
    if (at in struck || at == "") return
    for (n = 1; !(at in place); n++) {
        place[at] = n; way[n] = at
        split(uses[at], to, " ")
        for (i = 1; !(to[i] in uses) || to[i] in struck; i++) ;
        at = to[i]
    }
    way[n] = at
    for (i = place[at]; i < n; i++) complain("a circle of folders: " edge[way[i], way[i + 1]])
}
END {
    for (header in home) {
        k = split(home[header], homes, " ")
        for (; k; k--) if (!((header, homes[k]) in has) && index(homes[k], "tests/") != 1)
            complain(homes[k] " does not include " header ", as docs/ARCHITECTURE.md says")
    }
    if (!bad) find_circle()
    if (!bad) print "layers: the include rule holds; no folders in a circle; " symbols + 0 \
        " symbols used of other folders" > "/dev/stderr"
    exit bad
}' || status=1

# ---- the link lines, as the table of libraries has them
makefile=$(sed -e ':a' -e '/\\$/{' -e 'N' -e 's/\\\n//' -e 'ba' -e '}' Makefile)
of_c='-lm -lpthread -ldl -lrt -lstdc++'       # the compiler's own
flags() { printf '%s\n' "$1" | grep -oE -- '(^|[[:space:](,])-l[A-Za-z0-9_+]+' |
    tr -d '(, \t' | sort -u; }
complain() { echo "layers: $architecture, libraries: $*" >&2; status=1; }
linked=$(printf '%s\n' "$table" | awk -F'|' 'NF == 6 { print $4 }')
for flag in $(flags "$makefile") '$(MPI_LIBS)'; do
    case " $of_c " in *" $flag "*) continue ;; esac
    printf '%s\n' "$linked" | grep -qF -- "$flag:" || complain "$flag is linked, and has no row"
done
while IFS=: read -r flag into; do
    flag=${flag# }
    printf '%s\n' "$makefile" | grep -qwF -- "$flag" || complain "$flag is not linked"
    case "$into," in
    *" plan,"*) grep -qF -- "|$flag|" tests/setup.sh ||
        complain "$flag: tests/setup.sh does not fetch it" ;;
    esac
    for name in plan library measure cuda; do
        case "$into," in *" $name,"*) says=yes ;; *) says=no ;; esac
        line=$(flags "$(printf '%s\n' "$makefile" | sed -n "s/^LIBS_$name *=//p")")
        printf '%s\n' "$line" | grep -qxF -- "$flag" && does=yes || does=no
        [ $says = $does ] || complain "$flag in LIBS_$name: the table says $says, the Makefile $does"
    done
done <<EOF
$(printf '%s\n' "$linked" | sed 's/ *$//')
EOF

# ---- names of schedules, as constants and as words
words=$(sed -n 's/^ *ROW([^,]*, "\([^"]*\)".*/\1/p' data/kinds/schedules.h | paste -sd'|' -)
[ -n "$words" ] || { echo "layers: data/kinds/schedules.h: no rows of schedules" >&2; status=1; }
find solve/judge solve/checker -name '*.[ch]' | sort |
    grep -vxF "$(printf '%s\n' $schedule_tables)" |
    xargs grep -HnwE "SCHEDULE_[A-Z0-9_]+|\"($words)\"" |
    sed 's/^\([^:]*:[0-9]*\):.*/layers: \1 names a schedule; only a table of schedules may/' |
    grep . >&2 && status=1
exit $status
