#!/bin/sh
# Stages with widths of their own on named nodes, from documents: names alone make no plan slower,
# a slow node costs less than staying where the first plan was; the judge accepts, and refuses
# another node, too many replicas on a node, and nodes that a plan may not state; what is not
# offered is refused by name.
set -u
plumbline=${BIN:-bin}/plumbline
folder=build/test_named_widths.$$
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
says() { grep -q -- "$1" "$folder/err" "$folder/out" || complain "expected \"$1\""; }
value() { sed -n "s/^ *\"$1\": \([0-9]*\),\{0,1\}$/\1/p" "$2" | head -1; }

run 0 example mixed -o "$folder"

# cluster NAME PLACES: the example's with its nodes by name
nodes=$(for group in a100 v100; do
    for i in 0 1 2 3; do echo "{\"name\": \"$group-$i\", \"group\": \"$group\"},"; done
done | sed '$ s/,$//')
cluster() {
    tr -d '\n' < "$folder/cluster.json" |
        sed -e 's/}[[:space:]]*$//' > "$folder/$1.cluster.json"
    echo ", \"places\": {\"nodes\": [$nodes]${2:+, $2}}}" >> "$folder/$1.cluster.json"
}
# job NAME CLUSTER WIDTHS [SED]: its job with these lists, and the problem
job() {
    sed -e 's/"tensor": 4,/"tensor": 1,/' -e 's/"data": 2,/"data": 1,/' \
        -e 's/"micro_batch": 1,/"micro_batch": 2,/' \
        -e "s|^  \"recompute\":|  \"stage_degrees\": \"per_stage\", \"widths\": [$3],\n&|" \
        ${4:+-e "$4"} "$folder/job.json" > "$folder/$1.job.json"
    sed -e "s|job.json|$1.job.json|" -e "s|cluster.json|$2.json|" "$folder/problem.json" \
        > "$folder/$1.json"
}
solve() { run 0 solve "$folder/$1.json" -o "$folder/$1.plan.json" --quiet --gap 0.005; }
forged() { # forged WHAT SED
    sed -e "$2" "$folder/named.plan.json" > "$folder/forged.json"
    cmp -s "$folder/forged.json" "$folder/named.plan.json" && complain "nothing to forge: $1"
    run 20 verify "$folder/forged.json"
    says "$1"
}

lists='{"tensor": [4], "data": [1, 2]}'
cluster named ""
cluster slow '"degraded": [{"from": "a100-0", "to": "a100-1", "factor": 0.001},
    {"from": "a100-1", "to": "a100-0", "factor": 0.001},
    {"from": "a100-0", "to": "v100-0", "factor": 0.001}]'
job plain cluster "$lists"
job named named.cluster "$lists"
job slow slow.cluster "$lists"
for name in plain named slow; do solve $name; done
plain=$(value iteration_ns "$folder/plain.plan.json")
named=$(value iteration_ns "$folder/named.plan.json")
slow=$(value iteration_ns "$folder/slow.plan.json")
[ $((named * 995)) -le $((plain * 1000)) ] || complain "names alone: $named ns, without $plain"
[ $((slow * 99)) -le $((named * 100)) ] || complain "three slow links: $slow ns, $named before"
run 0 verify "$folder/named.plan.json"
run 0 report "$folder/named.plan.json"
says "a100:4x1x2 on a100-"
echo "without names $plain ns, with names $named, three slow links $slow"

forged "GPUs of node 'v100-0' are taken, it has 8" 's/"v100-1"/"v100-0"/g'
forged "is not of its width's node group" 's/"v100-1"/"a100-1"/'
forged "'v100-9' is not in the cluster" 's/"v100-1"/"v100-9"/'
forged "states 0 nodes" 's/^ *"nodes": .*"v100-.*$//'
sed 's|^ *"devices": 8,|"nodes": ["a100-0"],\n&|' "$folder/plain.plan.json" > "$folder/forged.json"
run 20 verify "$folder/forged.json"
says "nodes: expected where stages have widths of their own"

# A certificate is accepted; with its parts changed, another problem or another bound it is not.
proof=$folder/named.proof.json
run 0 solve "$folder/named.json" -o "$folder/proven.plan.json" --quiet --gap 0.01 \
    --certificate "$proof"
run 0 check "$proof" "$folder/named.json"
says "certified: no plan on the nodes"
run 0 check "$proof" "$folder/named.json" --statement "$folder/text"
run 0 verify "$folder/proven.plan.json" --certificate "$proof"
bound=$(value bound_ns "$proof")
[ "$bound" = "$(value bound_ns "$folder/proven.plan.json")" ] ||
    complain "another bound than the plan's"
[ $((bound * 100)) -ge $(($(value iteration_ns "$folder/proven.plan.json") * 99)) ] ||
    complain "the certificate proves less than asked"
run 2 check "$proof" "$folder/plain.json"
run 1 check "$proof" "$folder/slow.json"
for forgery in 's/"by": "stands"/"by": "nodes"/' 's/"by": "stands"/"by": "tree"/' \
    "s/: $bound/: $((bound * 2))/" 's/"parts": \[/&{"branch": true}, /'; do
    sed -e "$forgery" "$proof" > "$folder/forged.json"
    cmp -s "$folder/forged.json" "$proof" && complain "nothing to forge: $forgery"
    "$plumbline" check "$folder/forged.json" "$folder/named.json" > "$folder/out" 2> "$folder/err"
    code=$?
    [ $code = 1 ] || [ $code = 2 ] || complain "accepted: $forgery"
done

refused() { # refused TEXT CLUSTER WIDTHS [SED]
    job refused "$2" "$3" "${4:-}"
    run 2 solve "$folder/refused.json" -o "$folder/x.json"
    says "$1"
}
refused "one number of tensor x context" named.cluster '{"tensor": [2, 4]}'
refused "data degrees of 1 to 4" named.cluster '{"tensor": [4], "data": [8]}' \
    's/"micro_batch": 2/"micro_batch": 8/'
refused "at most a node's 8 GPUs" named.cluster '{"tensor": [16]}'
refused "expects per_stage" named.cluster "$lists" 's/"per_stage"/"per_group"/'
refused "expects replicas split" named.cluster "$lists" 's/"per_stage"/&, "replicas": "in_turn"/'
refused "objective iteration_time" named.cluster "$lists" \
    's/"stage_degrees"/"objective": "max_load", &/'
refused "expects one layout" named.cluster "$lists" \
    's/"stage_degrees"/"space": {"pipeline": [4, 8]}, &/'
for option in "--start $folder/named.plan.json" "--alternatives 2" \
    "--priced $folder/x" "--without v100-0"; do
    run 2 solve "$folder/named.json" -o "$folder/x.json" $option
done
run 2 price "$folder/named.json"
says "what each stage's nodes decide is in no priced document"
[ $failures = 0 ] && echo "named widths: passed" || exit 1
