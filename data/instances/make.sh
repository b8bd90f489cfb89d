#!/bin/sh
# make instances: the public instances, made again by their commands, solved, certified, verified
# and checked, and compared with data/instances/table.csv: no plan worse than the best known, no
# bound above it. With --write the table gets improvements and the certificates of documents that
# have changed since, and docs/INSTANCES.md is made from it. usage: make.sh [--write]
set -eu
case ${BIN:=bin} in /*) plumbline=$BIN/plumbline ;; *) plumbline=$(pwd)/$BIN/plumbline ;; esac
table=$(pwd)/data/instances/table.csv page=$(pwd)/docs/INSTANCES.md
work=$(pwd)/build/instances
rm -rf "$work" && mkdir -p "$work" && cd "$work"

# name | command that makes it | options of solve
while IFS='|' read -r name command options; do
    [ -n "$name" ] || continue
    "$plumbline" example $command -o "$name" > /dev/null
    echo "{\"name\": \"$name\", \"problem\": \"$name/problem.json\", \"options\": {$options}}" \
        >> manifest.jsonl
    echo "$name,plumbline example $command" >> commands
done <<'LIST'
chain-24-4-1-16|chain --layers 24 --stages 4 --types 1 --micro-batches 16|
chain-24-4-2-16|chain --layers 24 --stages 4 --types 2 --micro-batches 16|
chain-48-8-1-32|chain --layers 48 --stages 8 --types 1 --micro-batches 32|
chain-48-8-2-32|chain --layers 48 --stages 8 --types 2 --micro-batches 32|
chain-96-16-1-64|chain --layers 96 --stages 16 --types 1 --micro-batches 64|
chain-96-16-2-64|chain --layers 96 --stages 16 --types 2 --micro-batches 64|
chain-96-16-4-64|chain --layers 96 --stages 16 --types 4 --micro-batches 64|
chain-126-16-2-128|chain --layers 126 --stages 16 --types 2 --micro-batches 128|
chain-126-32-2-128|chain --layers 126 --stages 32 --types 2 --micro-batches 128|
mixed-llama-70b|mixed|
gpt3-175b-pipeline-8|gpt|
two-clusters-gpt|clusters|
layouts-llama-8b-8|gpt --model llama-3.1-8b --gpu h100-80gb --nodes 1 --costs kernels --global-batch 512 --layouts all --context-kind ring|"gap": 0.01
layouts-llama-8b-32|gpt --model llama-3.1-8b --gpu h100-80gb --nodes 4 --costs kernels --global-batch 512 --layouts all --context-kind ring|"gap": 0.01
layouts-llama-70b-64|gpt --model llama-3.1-70b --gpu h100-80gb --nodes 8 --costs kernels --sequence 4096 --global-batch 1024 --layouts all --context-kind ring|"gap": 0.01
layouts-mixtral-8x7b-64|gpt --model mixtral-8x7b --gpu h100-80gb --nodes 8 --costs kernels --sequence 4096 --global-batch 1024 --layouts all --context-kind ring --without overlapped-dispatch|"gap": 0.01
layouts-qwen3-32b-64|gpt --model qwen3-32b --gpu h100-80gb --nodes 8 --costs kernels --sequence 4096 --global-batch 1024 --layouts all --context-kind ring|"gap": 0.01
LIST
"$plumbline" batch run manifest.jsonl -o out
"$plumbline" batch collect out --where claim=certified -o found.csv \
    --columns name,gpus,iteration_s,bound_s,gap_percent,search_nodes,certificate_sha256

# Best known beside what was found: a plan that is worse, or a bound above a plan, is an error.
[ -s "$table" ] ||
    echo "name,gpus,iteration_s,bound_s,gap_percent,search_nodes,certificate_sha256,version,date" \
    > "$table"
"$plumbline" --version | sed 's/ /-/' > version
tr -d '\r' < found.csv | awk -F, -v OFS=, -v table="$table" -v version="$(cat version)" \
    -v date="$(date -u +%Y-%m-%d)" '
    function tell(text) { print "instances: " text > "/dev/stderr" }
    function complain(text) { tell(text); bad = 1 }
    BEGIN {
        while ((getline < table) > 0)
            if (!header) header = $0
            else { line[$1] = $0; time[$1] = $3; bound[$1] = $4; hash[$1] = $7 }
        print header
    }
    NR > 1 {
        seen[$1] = 1
        now = $0 OFS version OFS date
        if ($1 in line) {
            if ($3 > time[$1]) complain($1 ": " $3 " s, the best known is " time[$1])
            if ($4 > time[$1]) complain($1 ": a bound of " $4 " s, above the best known " time[$1])
            if (bound[$1] > $3) complain($1 ": " $3 " s, below the bound that is known, " bound[$1])
            if ($3 == time[$1] && $4 == bound[$1] && $7 != hash[$1])
                tell($1 ": as known, but its certificate is another: " \
                     "documents that it names have changed")
            else if ($3 == time[$1] && $4 <= bound[$1]) now = line[$1]
            else if ($3 <= time[$1])
                tell($1 ": better than what is known: " $3 " s, bound " $4 " s")
        }
        print now
    }
    END {
        for (name in line) if (!(name in seen)) complain(name ": has no checked result")
        exit bad
    }' > new.csv || exit 1
echo "$(($(wc -l < new.csv) - 1)) instances are as known, or better" >&2
[ "${1:-}" = --write ] || exit 0

cat new.csv > "$table"
{
    cat <<'TEXT'
# Instances

Problems for comparing planners and solvers, each with the best known plan and a bound that a
certificate proves. `make instances-write` makes this page from `data/instances/table.csv`.
`make instances` makes every instance again, solves, verifies and checks it, and fails where a plan
is worse or a bound contradicts the table. The commands that make the instances are at the end.

- `chain-L-S-K-M`: L blocks on S stages of K kinds of GPU, M micro-batches; one layout, choices of
  layers, kinds and recomputation.
- `mixed-`, `gpt3-`: a well-known model on a mixed and on a uniform cluster, one layout, with the
  compression and recomputation those examples offer.
- `two-clusters-`: which named node takes which rank, between two clusters.
- `layouts-MODEL-GPUS`: a space of layouts for Megatron-LM: degrees, schedules, micro-batches,
  sharding; solved to a gap of 1 %.

Measured matrices of links may not be shipped; if you have one,
`plumbline example pipette --matrix FILE` makes its instance.

## The rules of a comparison

1. The problem is the priced document (`plumbline price PROBLEM.json`): integer nanoseconds and
   bytes. Its optimum is one number, the same for everyone.
2. A plan counts when `plumbline verify` accepts it: its time is the judge's replay.
3. A bound counts as certified when `plumbline check` accepts a certificate of it, or when another
   program's proof is checked by a program other than the solver; otherwise it is not audited.
4. `plumbline formulate PROBLEM.json -o program.mps --map map.json` writes the integer program of a
   problem with one layout, without named nodes. It starts with a few path rows: a solution is a
   plan's time only after its longest path has been replayed and violated rows have been added until
   none is left. `plumbline solve --program program.mps` writes it with all rows that our search
   found.
5. Report machine, threads, limit, version, seconds of the whole command, and the certified gap, not
   the requested one.

## Best known

TEXT
    printf '| instance | GPUs | best time (s) | certified bound (s) | gap (%%) | nodes '
    printf '| certificate, SHA-256 | by | on |\n'
    echo "|---|---|---|---|---|---|---|---|---|"
    tail -n +2 "$table" |
        awk -F, '{ printf "| `%s` | %s | %s | %s | %s | %s | `%.16s` | %s | %s |\n",
                       $1, $2, $3, $4, $5, $6, $7, $8, $9 }'
    printf '\n## How they are made\n\n'
    awk -F, '{ printf "    %s -o %s\n", $2, $1 }' commands
} > "$page"
