#!/bin/sh
# The programs of docs/examples/library: the one in C, built against the shared library and against
# the static one, and the one in Python; what they save is what the commands read. And what the
# libraries show of themselves: the header's functions alone. usage: test_library_examples.sh (BIN:
# the folder of the programs)
root=$(pwd) BIN=${BIN:-bin}
case $BIN in /*) ;; *) BIN=$root/$BIN ;; esac
lib=$root/build/release/lib
case $BIN in */build/*/bin) lib=${BIN%/bin}/lib ;; esac
compiler=${CC:-cc}
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 2
failed=0
complain() { echo "test_library_examples.sh: $*" >&2; failed=1; }
case $lib in */asan/*) sanitize=-fsanitize=address,undefined ;; *) sanitize= ;; esac

# ---- names
functions=$(sed -n 's/^PLUMBLINE_API .*\(plumbline_[a-z_]*\)(.*/\1/p' "$root/library/plumbline.h" |
    sort)
[ "$(echo "$functions" | wc -l)" -ge 15 ] || complain "the header has too few functions: $functions"
for library in libplumbline.so libplumbline.a; do
    dynamic=; case $library in *.so) dynamic=-D ;; esac
    shown=$(nm $dynamic -g --defined-only "$lib/$library" | awk 'NF == 3 { print $3 }' |
        grep -v '^__\(a\|ub\|odr\)san' | sort)
    [ -n "$sanitize" ] || [ "$shown" = "$functions" ] ||
        complain \
        "$library shows $(echo "$shown" "$functions" | tr ' ' '\n' | sort | uniq -u | tr '\n' ' ')"
done
objdump -p "$lib/libplumbline.so" | grep -q 'SONAME  *libplumbline.so.0$' ||
    complain "soname: $(objdump -p "$lib/libplumbline.so" | grep SONAME)"

# ---- C, and the header by itself as C99 and C++
"$BIN/plumbline" example chain --layers 12 --stages 3 --micro-batches 4 -o chain > /dev/null ||
    complain "no example"
[ "$(wc -l < "$root/docs/examples/library/plan.c")" -le 60 ] ||
    complain "plan.c is longer than 60 lines"
flags="-std=c99 -Wall -Wextra -Wpedantic -Werror -I$root/library $sanitize"
$compiler $flags -o shared "$root/docs/examples/library/plan.c" -L"$lib" \
    -lplumbline -Wl,-rpath,"$lib" || complain "plan.c, shared"
$compiler $flags -o static "$root/docs/examples/library/plan.c" "$lib/libplumbline.a" ${LDFLAGS:-} \
    -lglpk -lcjson -lnettle -lm -lpthread || complain "plan.c, static"
if c++ --version > /dev/null 2>&1; then
    echo '#include <plumbline.h>' > header.cpp
    c++ -Wall -Wextra -Wpedantic -Werror -I"$root/library" -fsyntax-only header.cpp ||
        complain "plumbline.h in C++"
fi
for program in shared static; do
    ./$program chain/problem.json $program.json > out 2> err ||
        complain "$program: exit $?: $(cat err)"
    grep -q '^accepted: ' out && grep -q '^Placement' out || complain "$program: $(cat out)"
    "$BIN/plumbline" verify $program.json > out || complain "verify $program.json: $(cat out)"
done
# The same program eight times at once, each a thread: under the address sanitizer, which also finds
# what is never freed (with the library's own code under it in test-asan); all save the same plan.
cat > threads.c <<'THREADS'
#define main plan
#include "plan.c"
#undef main
#include <pthread.h>
static void *run(void *path)
{
    char *words[] = {"plan", "chain/problem.json", path, NULL};
    return plan(3, words) ? path : NULL;
}
int main(void)
{
    static char paths[8][16];
    pthread_t threads[8];
    void *wrong = NULL, *all = NULL;
    for (int i = 0; i < 8; i++) {
        snprintf(paths[i], sizeof paths[i], "eight-%d.json", i);
        if (pthread_create(&threads[i], NULL, run, paths[i])) return 2;
    }
    for (int i = 0; i < 8; i++) pthread_join(threads[i], &wrong), all = wrong ? wrong : all;
    return all != NULL;
}
THREADS
$compiler $flags -Wno-error -I"$root/docs/examples/library" -fsanitize=address -g -o threads \
    threads.c "$lib/libplumbline.a" ${LDFLAGS:-} -lglpk -lcjson -lnettle -lm -lpthread 2> err ||
    complain "threads.c: $(cat err)"
ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1 ./threads > out 2> err ||
    complain "eight threads: exit $?: $(tail -5 err)"
[ "$(grep -c '^accepted: ' out)" = 8 ] ||
    complain "eight threads: $(grep -c '^accepted: ' out) plans accepted"
for i in 0 1 2 3 4 5 6 7; do
    python3 -c 'import json, sys
a, b = (json.load(open(p)) for p in sys.argv[1:])
sys.exit(any(a[k] != b[k] for k in ("stages", "iteration_ns", "bound_ns")))' static.json \
    eight-$i.json || complain "eight-$i.json is another plan"
done
./shared chain/job.json > out 2> err
[ $? = 2 ] && grep -q 'chain/job.json: kind' err && [ ! -s out ] ||
    complain "plan chain/job.json: $(cat out err)"
cp -r chain broken && sed -i 's/"pipeline": 3/"pipeline": 99/' broken/job.json
./shared broken/problem.json > out 2> err
[ $? = 2 ] && [ "$(wc -l < err)" = 1 ] || complain "plan broken/problem.json: $(cat out err)"

# ---- Python
command -v python3 > /dev/null || { echo "test_library_examples.sh: skipped: no python3 here" >&2
    exit $failed; }
[ -z "$sanitize" ] || exit $failed
export PYTHONPATH=$root/library/python PLUMBLINE_LIBRARY=$lib/libplumbline.so.0 \
    PYTHONDONTWRITEBYTECODE=1
"$BIN/plumbline" example gpt --model gpt2-xl --gpu a100-80gb --nodes 2 --layouts all \
    --global-batch 64 -o space > /dev/null
python3 "$root/docs/examples/library/plan.py" > out 2>&1 &&
    complain "plan.py without a folder: exit 0"
grep -q '^usage: ' out || complain "plan.py without a folder: $(cat out)"
PLUMBLINE_LIBRARY=libplumbline.so.none python3 "$root/docs/examples/library/plan.py" space > out \
    2>&1 && complain "plan.py without a library: exit 0"
grep -q 'PLUMBLINE_LIBRARY=PREFIX' out || complain "plan.py without a library: $(cat out)"
python3 "$root/docs/examples/library/plan.py" space > out 2> err || complain "plan.py: $(cat err)"
grep -q '^optimal: ' out && grep -q '^accepted: ' out && grep -q 'times as long' out ||
    complain "plan.py: $(cat out)"
grep -q '</html>' space/report.html || complain "plan.py: no page"
cat > more.py <<'PYTHON'
import json, threading
import plumbline
try:
    plumbline.Problem("missing.json")
    raise SystemExit("a problem that is not there")
except plumbline.Error as error:
    assert isinstance(error, (plumbline.BadInput, ValueError)) and error.status == 1, error
    assert "missing.json" in str(error) and "\n" not in str(error), error
problem = plumbline.Problem("space/problem.json")
outcome = problem.solve(gap=1, progress=lambda told: True).facts.outcome
assert outcome in ("open", "no_plan", "optimal")
def raises(told):
    raise KeyError("mine")
try:
    problem.solve(progress=raises)
    raise SystemExit("an exception was lost")
except KeyError:
    pass
plans = []
threads = [threading.Thread(target=lambda: plans.append(problem.solve().facts.iteration_s))
           for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len(plans) == 4 and len(set(plans)) == 1, plans
with plumbline.Plan("shared.json") as plan:
    assert plan.verify().accepted and json.loads(plan.report("json"))["kind"] == "plumbline.plan"
named = plumbline.Problem(model="gpt2-xl", cluster="a100-16x8", costs="kernels",
                          job="space/job.json")
named.save("named.json")
named.solve(gap=1).save("named-plan.json")
assert plumbline.version().count(".") == 2
PYTHON
python3 more.py > out 2> err || complain "more.py: $(cat out err)"
"$BIN/plumbline" verify named-plan.json > out || complain "verify named-plan.json: $(cat out)"
exit $failed
