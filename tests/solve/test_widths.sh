#!/bin/sh
# Stages with widths of their own, from documents: one width for all stages is the uniform layout to
# the nanosecond; lists that contain it are never slower; the judge accepts, certificates are
# accepted about the priced document; a width that the plan does not have is refused, and by name
# what widths exclude.
set -u
plumbline=${BIN:-bin}/plumbline
folder=build/test_widths.$$
failures=0
mkdir -p "$folder" || exit 1
trap 'rm -rf "$folder"' EXIT

complain() { echo "FAILED: $*"; sed 's/^/    /' "$folder/err" | tail -5
    failures=$((failures + 1)); }
run() {         # run CODE ARGUMENT ...
    expected=$1; shift
    "$plumbline" "$@" > "$folder/out" 2> "$folder/err" < /dev/null
    code=$?
    [ $code = "$expected" ] || complain "plumbline $*: expected exit code $expected, found $code"
}
says() { grep -q -- "$1" "$folder/err" || complain "expected \"$1\""; }
value() { sed -n "s/^ *\"$1\": \([0-9]*\),\{0,1\}$/\1/p" "$2" | head -1; }

run 0 example mixed -o "$folder"

# job NAME WIDTHS [SED]: the example's job with these lists, and its problem
job() {
    sed -e 's/"tensor": 4,/"tensor": 1,/' -e 's/"data": 2,/"data": 1,/' \
        -e 's/"micro_batch": 1,/"micro_batch": 2,/' \
        -e "s|^  \"recompute\":|  \"stage_degrees\": \"per_stage\", \"widths\": [$2],\n&|" \
        ${3:+-e "$3"} "$folder/job.json" > "$folder/$1.job.json"
    sed -e "s|job.json|$1.job.json|" "$folder/problem.json" > "$folder/$1.json"
}
solve() { run 0 solve "$folder/$1.json" -o "$folder/$1.plan.json" --quiet --gap 0.005 \
    --time-limit-s 60 --certificate "$folder/$1.proof.json"; cp "$folder/err" "$folder/$1.err"; }

run 0 solve "$folder/problem.json" -o "$folder/uniform.plan.json" --quiet --gap 0.005
uniform=$(value iteration_ns "$folder/uniform.plan.json")
job one '{"tensor": [4], "data": [2]}'
solve one
[ "$(value iteration_ns "$folder/one.plan.json")" = "$uniform" ] ||
    complain "one width takes other than the uniform layout's $uniform ns"
new='{"groups": ["a100"], "tensor": [2, 4, 8], "data": [1, 2]}'
job many "$new, {\"groups\": [\"v100\"], \"tensor\": [4, 8], \"data\": [1, 2]}"
solve many
many=$(value iteration_ns "$folder/many.plan.json")
[ "$many" -lt "$uniform" ] || complain "widths take $many ns, the uniform layout $uniform"
run 0 verify "$folder/many.plan.json"
run 0 check "$folder/many.proof.json" "$folder/many.proof.priced.json"
run 0 compare "$folder/many.plan.json"
grep -q "8, each stage its own" "$folder/out" || complain "compare states one width for all"
grep -q 'uniform: .* s (+[0-9.]* %), with 4 x 1 x 2 for all' "$folder/many.err" ||
    complain "the nearest uniform plan is not stated"
run 2 predict "$folder/many.json"
says "stage_degrees: expected uniform"
run 0 check "$folder/many.proof.json" "$folder/many.json"
grep -q "confirmed  by the judge's own prices" "$folder/out" || complain "no price is confirmed"
echo "uniform $uniform ns, widths $many ns"

# One width for each node group: between the two; the judge refuses a second width there.
job group "$new, {\"groups\": [\"v100\"], \"tensor\": [4, 8], \"data\": [1, 2]}" \
    's/"per_stage"/"per_group"/'
run 0 solve "$folder/group.json" -o "$folder/group.plan.json" --quiet --gap 0.005
group=$(value iteration_ns "$folder/group.plan.json")
[ $((group * 995)) -le $((uniform * 1000)) ] && [ $((many * 995)) -le $((group * 1000)) ] ||
    complain "per group $group ns, per stage $many, uniform $uniform"
run 0 verify "$folder/group.plan.json"
used=$(sed -n 's/^ *"group": "\(v100:[0-9x]*\)",$/\1/p' "$folder/group.plan.json" | head -1)
other=v100:8x1x1; [ "$used" = "$other" ] && other=v100:4x1x1
sed "0,/\"group\": \"$used\"/s//\"group\": \"$other\"/" "$folder/group.plan.json" \
    > "$folder/two.json"
run 20 verify "$folder/two.json"
grep -q 'another width than stage' "$folder/out" "$folder/err" || complain "two widths on a group"
run 0 solve "$folder/group.json" -o "$folder/group.plan.json" --quiet --gap 0.005 \
    --priced "$folder/group.priced.json" --certificate "$folder/group.proof.json"
run 0 check "$folder/group.proof.json" "$folder/group.json" --statement "$folder/group.txt"
grep -q "confirmed  by the judge's own prices" "$folder/out" ||
    complain "per group: no price is confirmed"
grep -q "all stages on them have one width" "$folder/group.txt" || complain "per group: not stated"
run 2 vipr "$folder/group.proof.json" -o "$folder/x.vipr"
says "one width for each node group"
run 2 check "$folder/group.proof.json" "$folder/group.priced.json" --elaborate "$folder/x.txt"
says "no width_per_group"
run 2 solve "$folder/group.json" -o "$folder/x.json" --alternatives 2
says "expected stage_degrees uniform or per_stage"
echo "one width for each group $group ns"

# A wider seat than the plan's: its claims are not that width's.
sed 's/"group": "v100:[0-9x]*"/"group": "v100:8x1x2"/' "$folder/many.plan.json" \
    > "$folder/wide.json"
cmp -s "$folder/wide.json" "$folder/many.plan.json" && complain "no stage on V100"
run 20 verify "$folder/wide.json"
grep -q 'GPUs, it has' "$folder/out" "$folder/err" || complain "devices are not counted"
sed '/"name": "v100:4x1x1"/s/"tensor": 4/"tensor": 2/' \
    "$folder/many.plan.json" > "$folder/told.json"
cmp -s "$folder/told.json" "$folder/many.plan.json" && complain "no width to change"
run 20 verify "$folder/told.json"

for format in hostfile "launch -o $folder/launch" megatron; do
    run 2 report "$folder/many.plan.json" --format $format
done
[ ! -e "$folder/launch" ] || complain "a folder of launch files is begun"
says "no trainer that launch files are made for"
run 0 report "$folder/many.plan.json"
job odd '{"tensor": [4], "data": [3]}'
run 2 solve "$folder/odd.json" -o "$folder/x.json"
says "each replica takes whole samples"
job packed '{"tensor": [4], "context": [1, 3], "data": [1]}'
run 2 solve "$folder/packed.json" -o "$folder/x.json"
says "of which one divides the other"
job misspelt '{"groups": ["a1000"], "tensor": [4]}'
run 2 solve "$folder/misspelt.json" -o "$folder/x.json"
says "expected a group of the cluster"
job part '{"groups": ["a100"], "tensor": [4]}'
run 2 solve "$folder/part.json" -o "$folder/x.json"
says "expected a list of group v100"
job expert '{"tensor": [4]}' 's/"fused_embedding_sync": false/"fused_embedding_sync": true/'
run 2 solve "$folder/expert.json" -o "$folder/x.json"
says "per_stage expects no fused_embedding_sync"
job turns '{"tensor": [4]}' 's/"per_stage"/"per_stage", "replicas": "in_turn"/'
run 2 solve "$folder/turns.json" -o "$folder/x.json"
says "in_turn expects objective max_load"
job bare ''
run 2 solve "$folder/bare.json" -o "$folder/x.json"
says "expected lists of degrees"
[ $failures = 0 ] && echo "widths: passed" || exit 1
