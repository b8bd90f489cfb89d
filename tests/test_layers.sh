#!/bin/sh
# make layers finds a wrong include of every kind, the use of a symbol that no include shows,
# circles of folders, and a schedule that judge or checker name: each is planted in a copy of the
# sources, and must be named, once, and nothing else. Each folder and each library that
# tests/layers.sh has a rule for needs a plant here.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
tree=$root/build/test_layers.$$
failures=0 count=0
rm -rf "$tree" && mkdir -p "$tree/tests" || exit 1
trap 'rm -rf "$tree"' EXIT
complain() { echo "FAILED: $*"; failures=$((failures + 1)); }

# folder | what no file of it may include
plants='
data/base            | "data/text/json.h"
data/text            | "data/inputs/job.h"
data/places          | "data/inputs/job.h"
data/kinds           | "data/base/status.h"
data/inputs          | "data/priced/priced.h"
data/inputs          | "data/schedule/schedule.h"
data/inputs/model    | "data/inputs/job.h"
data/hardware        | "data/priced/priced.h"
data/numbers         | "data/priced/priced.h"
data/priced          | "data/results/plan.h"
data/program         | "data/text/json.h"
data/schedule        | "data/results/plan.h"
data/results         | "formulate/price/price.h"
data/frameworks      | "data/places/cluster.h"
data/import          | "formulate/price/price.h"
data/import/hf       | "data/places/cluster.h"
data/import/jobs     | "data/places/cluster.h"
data/import/trainers | "data/places/cluster.h"
data/import/trace    | "data/places/cluster.h"
data/import/logs     | "data/places/cluster.h"
data/import/nodes    | "formulate/price/price.h"
data/import/script   | "data/inputs/job.h"
measure              | "formulate/price/price.h"
measure/sampling     | "measure/cpu/core.h"
measure/cpu          | "measure/cuda/session.h"
measure/cuda         | "measure/cpu/core.h"
measure/cuda/kernels | "data/base/status.h"
measure/links        | "measure/cpu/core.h"
measure/run          | "measure/cpu/core.h"
calibrate            | "solve/layout/solve.h"
calibrate/fit        | "formulate/predict/predict.h"
calibrate/runs       | "formulate/price/price.h"
formulate            | "solve/layout/solve.h"
formulate/choices    | "formulate/graph/longest.h"
formulate/graph      | "formulate/price/price.h"
formulate/price      | "formulate/choices/choices.h"
formulate/program    | "formulate/price/price.h"
formulate/example    | "formulate/price/price.h"
formulate/predict    | "solve/judge/verify.h"
solve/process        | "data/text/json.h"
solve/questions      | "solve/commands/verbs.h"
solve/explain        | "solve/commands/verbs.h"
solve/chains         | "data/text/json.h"
solve/boxes          | "solve/layout/solve.h"
solve/boxes/simplex  | "data/inputs/job.h"
solve/incumbent      | "solve/layout/solve.h"
solve/tree           | "solve/layout/solve.h"
solve/layout         | "solve/layouts/layouts.h"
solve/layouts        | "solve/places/placed.h"
solve/places         | "solve/judge/verify.h"
solve/places/reaches | "solve/judge/verify.h"
solve/places/space   | "solve/judge/verify.h"
solve/judge          | "formulate/graph/longest.h"
solve/judge          | "formulate/price/price.h"
solve/judge          | "solve/checker/check.h"
solve/judge          | "solve/layout/solve.h"
solve/judge/kinds    | "formulate/price/price.h"
solve/judge/price    | "formulate/price/price.h"
solve/judge/price    | "solve/judge/verify.h"
solve/checker        | "data/text/json.h"
solve/checker        | "formulate/graph/longest.h"
solve/checker        | "solve/judge/verify.h"
solve/checker        | "solve/checker/prices/prices.h"
solve/checker        | <math.h>
solve/checker/boxes  | "solve/boxes/dynamic.h"
solve/checker/boxes  | "solve/checker/prices/prices.h"
solve/checker/boxes  | <math.h>
solve/checker/boxes  | "solve/checker/proof.h"
solve/checker/layout | "data/text/json.h"
solve/checker/layout | "solve/checker/boxes/mix.h"
solve/checker/layout | "solve/checker/prices/prices.h"
solve/checker/layout | <math.h>
solve/checker/read   | "data/text/json.h"
solve/checker/read   | "solve/checker/check.h"
solve/checker/read   | "solve/checker/prices/prices.h"
solve/checker/read   | <math.h>
solve/checker/space  | "solve/layouts/layouts.h"
solve/checker/space  | "solve/checker/prices/prices.h"
solve/checker/space  | <math.h>
solve/checker/places | "solve/judge/places.h"
solve/checker/places | "solve/checker/prices/prices.h"
solve/checker/places | <math.h>
solve/checker/prices | "formulate/price/price.h"
solve/certificate    | "measure/commands.h"
solve/certificate    | "solve/commands/verbs.h"
solve/report         | "formulate/graph/longest.h"
solve/report/html    | "formulate/price/price.h"
data/import/hosts    | "data/inputs/job.h"
solve/report/compare | "formulate/price/price.h"
solve/report/against | "formulate/price/price.h"
solve/report/export  | "formulate/price/price.h"
solve/commands       | "calibrate/commands.h"
solve/batch          | "solve/layouts/layouts.h"
library              | "formulate/price/price.h"
solve/layout         | "solve/incumbent/internal.h"
measure              | "measure/cpu/internal.h"
solve/layout         | <glpk.h>
data/inputs          | <cjson/cJSON.h>
calibrate/runs       | <lapacke.h>
solve/judge          | <nettle/sha2.h>
measure/links        | <mpi.h>
measure/cuda         | <cuda_runtime_api.h>
measure/cuda         | <cublasLt.h>
measure/cuda         | <cudnn.h>
measure/links        | <nccl.h>
formulate/graph      | <gmp.h>
measure/sampling     | <cblas.h>
solve/report         | <cmocka.h>
solve/unruled        | "data/base/arena.h"
'

# rules OF: the first column of one of the tables of layers.sh.
rules() { sed -n "/^$1='\$/,/^'\$/s/^\([^ |]*\) *|.*/\1/p" "$root/tests/layers.sh"; }
for folder in $(rules rules); do
    echo "$plants" | grep -q "^$folder *|" || complain "no wrong include of $folder is planted"
done
libraries=$(sed -n '/^| library |/,/^$/s/^|[^|]*| `\([^`]*\)`.*/\1/p' "$root/docs/ARCHITECTURE.md")
[ "$(echo "$libraries" | wc -l)" -gt 10 ] || complain "docs/ARCHITECTURE.md: libraries: $libraries"
for library in $libraries; do
    echo "$plants" | grep -q "| <.*$library.*>" ||
        complain "no wrong include of $library is planted"
done

(cd "$root" && tar -cf - Makefile packaging/*.mk tests/fuzz/fuzz.mk plumbline.c tests/layers.sh \
    tests/setup.sh docs/ARCHITECTURE.md $(
    find data measure calibrate formulate solve library -name '*.[ch]' -o -name '*.cu' \
        -o -name '*.cuh'
)) | tar -xf - -C "$tree"
sh "$root/tests/layers.sh" "$tree" 2> "$tree/said" ||
    complain "nothing is planted: $(cat "$tree/said")"

# All at once, each in a file of its own: every one is refused by its name, and nothing else is.
plant() {
    count=$((count + 1))
    file=$1/planted$count.c included=$(echo "$2" | tr -d '<>"')
    mkdir -p "$tree/$1"
    echo "#${3:-}include $2" > "$tree/$file"
    echo "$file" >> "$tree/planted"
    echo "$file includes <*$included[>;,]" >> "$tree/expected"
    case $2 in
    \"*) [ -f "$tree/$included" ] || complain "$included: there is no such file" ;;
    esac
}
while IFS='|' read -r folder included; do
    [ -z "$folder" ] || plant ${folder% } $included
done <<EOF
$plants
EOF
plant solve/judge '"formulate/price/price.h"' ' '
sed -i 's/^solve.unruled.*/solve\/unruled has no rule/' "$tree/expected"
sh "$root/tests/layers.sh" "$tree" 2> "$tree/said" && complain "wrong includes: not found"
while read -r words; do
    [ "$(grep -c "^layers: $words" "$tree/said")" = 1 ] || complain "not said once: $words"
done < "$tree/expected"
[ "$(grep -c . "$tree/said")" = $count ] || complain "more is found: $(cat "$tree/said")"
(cd "$tree" && xargs rm < planted)

# use_symbol FOLDER OTHER WORDS: an object in FOLDER uses what an object in OTHER defines, which no
# include says; it is refused, in these words. Without its source it is no part of the program.
use_symbol() {
    user=$1/planted.c home=$2/planted_home.c
    count=$((count + 1))
    mkdir -p "$objects/$1" "$objects/$2"
    echo 'int planted(void); int asks(void); int asks(void) { return planted(); }' > "$tree/$user"
    echo 'int planted(void); int planted(void) { return 1; }' > "$tree/$home"
    for source in "$user" "$home"; do
        ${CC:-cc} -c -o "$objects/${source%.c}.o" "$tree/$source" ||
            complain "$source: not compiled"
    done
    sh "$root/tests/layers.sh" "$tree" 2> "$tree/said" &&
        complain "$user uses $home: not found"
    grep -q "^layers: .*$user uses planted of $home$3" "$tree/said" ||
        complain "$user uses $home: not named: $(cat "$tree/said")"
    rm "$tree/$user"
    sh "$root/tests/layers.sh" "$tree" 2> "$tree/said" ||
        complain "$user is gone: $(cat "$tree/said")"
    rm -r "$tree/$home" "$tree/build"
}
objects=$tree/build/release
use_symbol data/base data/text '; beside its own folder'
use_symbol solve/judge formulate/price '; beside its own folder'
use_symbol solve/checker/boxes solve/checker '; beside its own folder'
# Where the rule permits both directions, the circle.
use_symbol solve/commands solve/batch '$'
echo '#include "solve/batch/batch.h"' > "$tree/solve/commands/planted.c"
sh "$root/tests/layers.sh" "$tree" 2> "$tree/said" && complain "no circle of includes is found"
for way in 'solve/commands/planted.c includes solve/batch/batch.h' \
    'solve/batch/.* includes solve/commands/'; do
    grep -q "^layers: a circle of folders: $way" "$tree/said" ||
        complain "an include: '$way' is not named: $(cat "$tree/said")"
done
rm "$tree/solve/commands/planted.c"

# name_schedule FILE LINE: it is refused, by its place; all at once.
name_schedule() {
    count=$((count + 1))
    printf '// A planted file.\n%s\n' "$2" > "$tree/$1"
    echo "$1" >> "$tree/named"
}
name_schedule solve/judge/planted.c 'static int kind = SCHEDULE_1F1B;'
name_schedule solve/judge/price/planted.h '#define SLICED(kind) ((kind) == SCHEDULE_TOKEN_SLICED)'
name_schedule solve/checker/space/planted.c 'static const char *name = "looped-bfs";'
name_schedule solve/checker/prices/planted.c 'static int kind = SCHEDULE_ZB_V;'
sh "$root/tests/layers.sh" "$tree" 2> "$tree/said" && complain "names of schedules: not found"
sed 's/.*/layers: &:2 names a schedule; only a table of schedules may/' "$tree/named" |
    sort > "$tree/expected"
grep 'names a schedule' "$tree/said" | sort | cmp -s - "$tree/expected" ||
    complain "names of schedules: $(cat "$tree/said")"
(cd "$tree" && xargs rm < named)

# change FILE SED WORDS: the table of libraries and the link lines differ; the words say where.
change() {
    count=$((count + 1))
    sed "$2" "$root/$1" > "$tree/$1"
    cmp -s "$root/$1" "$tree/$1" && complain "$1: '$2' changes nothing"
    sh "$root/tests/layers.sh" "$tree" 2> "$tree/said" && complain "$1: $2: not found"
    grep -qF -- "$3" "$tree/said" || complain "$1: $2: not named: $(cat "$tree/said")"
    cp "$root/$1" "$tree/$1"
}
table=docs/ARCHITECTURE.md
change $table '/^| cJSON |/d' '-lcjson is linked, and has no row'
change $table '/^| MPI |/d' '$(MPI_LIBS) is linked, and has no row'
change $table 's/^| GMP .*/&\n| zlib | `zlib.h` | `-lz`: plan | `data\/base\/file.c` |/' \
    '-lz is not linked'
change $table 's/: plan, library, measure/: plan, measure/' \
    '-lcjson in LIBS_library: the table says no'
change $table 's/`-llapacke`: plan/`-llapacke`: plan, library/' \
    '-llapacke in LIBS_library: the table says'
change $table 's/`data.text.json.c`/`data\/text\/csv.c`/' 'data/text/csv.c does not include cJSON.h'
change $table 's/ `solve.checker.read.json.h`//' 'solve/checker/read/json.h includes cjson/cJSON.h'
change tests/setup.sh '/^cJSON.h|/d' '-lcjson: tests/setup.sh does not fetch it'
change Makefile 's/^LIBS_measure *=/& -lglpk/' '-lglpk in LIBS_measure: the table says no'
change Makefile 's/-lcmocka -lgmp/& -lz/' '-lz is linked, and has no row'

# By make, in the planted tree.
echo '#include "formulate/price/price.h"' > "$tree/solve/judge/planted.c"
MAKEFLAGS= make -s -o all -C "$tree" layers > "$tree/said" 2>&1 &&
    complain "make layers: passes with a wrong include"
grep -q "^layers: solve/judge/planted.c includes formulate/price/price.h" "$tree/said" ||
    complain "make layers: $(cat "$tree/said")"

[ $failures = 0 ] || { echo "$failures failures"; exit 1; }
echo "$count wrong includes, uses, circles, schedules and rows of libraries, each found and named"
