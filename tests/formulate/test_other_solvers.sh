#!/bin/sh
# Programs given to other solvers: glpsol (or GLPK's library, where it is not installed), CBC and
# HiGHS (BENCH_PYTHON=python3, one that has highspy) solve what `solve --program` writes of ten
# problems, with their gaps at 0. What they state is solve's optimum, and their binaries, judged by
# `verify --solution`, are a plan of it, to the nanosecond. They share nothing with our search. With
# `long`: programs without elimination, path by path, slower schedules, and the textbook form in the
# loop of tests/bench/separate.c.
name=test_other_solvers
long=${1:-}
. tests/script.sh
library=${LOGS:=build/release/tests}/glpsol
case $library in /*) ;; *) library=$root/$library ;; esac
python=${BENCH_PYTHON:-python3}

solvers=cbc
command -v cbc > /dev/null || { echo "cbc: not installed, skipped"; solvers=; }
solvers="glpsol $solvers"
command -v glpsol > /dev/null || echo "glpsol: not installed, GLPK's library instead"
if "$python" -c "import highspy" 2> /dev/null; then solvers="$solvers highs"
else echo "highspy: not installed, HiGHS skipped"; fi
cat > highs.py << 'END'
import sys
import highspy
highs = highspy.Highs()
highs.setOptionValue("output_flag", False)
highs.setOptionValue("mip_rel_gap", 0.0)
highs.setOptionValue("mip_abs_gap", 0.0)
highs.readModel(sys.argv[1])
highs.run()
highs.writeSolution(sys.argv[2], 0)
END

# asks SOLVER PROGRAM SOLUTION
asks() {
    rm -f "$3"
    case $1 in
    glpsol)
        if command -v glpsol > /dev/null; then glpsol --freemps "$2" --mipgap 0 -o "$3"
        else "$library" "$2" "$3"; fi ;;
    cbc) cbc "$2" ratio 0 allowable 0 solve solution "$3" ;;
    highs) "$python" highs.py "$2" "$3" ;;
    esac > log 2>&1
}

# The value that a plan is best in, and what the solver states, in ns.
value_of() { value=$(number "$1" objective_ns); echo "${value:-$(number "$1" iteration_ns)}"; }
stated() { sed -n 's/.*it states \([0-9]*\) ns.*/\1/p' out; }
near() { awk -v a="${1:-0}" -v b="$2" 'BEGIN { d = a - b; exit !(d * d <= 1e-12 * b * b) }'; }

# agree FOLDER PROGRAM: all solvers of FOLDER/PROGRAM.mps
agree() {
    optimum=$(value_of "$1/plan.json")
    for solver in $solvers; do
        asks $solver "$1/$2.mps" "$1/solution" || complain "$1: $solver failed"
        gives 0 verify --solution "$1/solution" --map "$1/$2.map.json" -o "$1/theirs.json"
        [ "$(value_of "$1/theirs.json")" = "$optimum" ] ||
            complain "$1: $solver's plan takes another time than $optimum ns"
        near "$(stated)" "$optimum" || complain "$1: $solver states another optimum than $optimum"
        answered=$((answered + 1))
    done
}

# problem FOLDER EXAMPLE OPTION ...
answered=0 problems=0
problem() {
    folder=$1; shift
    gives 0 example "$@" -o "$folder" --quiet
    gives 0 solve "$folder/problem.json" -o "$folder/plan.json" --program "$folder/program.mps" \
        --map "$folder/program.map.json"
    problems=$((problems + 1))
}

each() { problem "$@"; agree "$1" program; }

each chain-1 chain --layers 24 --stages 4 --types 1 --micro-batches 16
each chain-2 chain --layers 24 --stages 4 --types 2 --micro-batches 16
each chain-8 chain
each gpt gpt
each mixed mixed
each gpipe mixed --schedule gpipe
each exposed gpt --gradient-sync exposed --pipeline 4
each ranks gpt --boundary-rank 64 --gradient-rank 64 --quality-budget 3
each load mixed --objective max_load
each turns gpt --model gpt2-xl --tensor 1 --data 16 --pipeline 2 --global-batch 64 \
    --schedule interleaved --virtual-stages 2 --framework any

# Named nodes, two replicas of two ranks on four of two kinds: the program over groups is a bound.
gives 0 example clusters --layers 10 --nodes 2 --gpus-per-node 4 --micro-batches 8 -o nodes --quiet
gives 0 solve nodes/problem.json -o nodes/plan.json
gives 0 formulate nodes/problem.json -o nodes/program.mps --map nodes/program.map.json
optimum=$(value_of nodes/plan.json)
for solver in $solvers; do
    asks $solver nodes/program.mps nodes/solution || complain "nodes: $solver failed"
    gives 0 verify --solution nodes/solution --map nodes/program.map.json -o nodes/theirs.json
    [ "$(value_of nodes/theirs.json)" -ge "$optimum" ] && [ "$(stated)" -le "$optimum" ] ||
        complain "nodes: $solver's program is no bound of $optimum ns"
    grep -q 'not the best ones between its groups' out || complain 'nodes: no word about links'
done
asks glpsol nodes/program.mps nodes/solution # it lists every column
grep -v ' choice_0_0_[0-9]* ' nodes/solution > bad
answers 2 'is missing' verify --solution bad --map nodes/program.map.json

# ---- a solution's file, for better or worse
plan=chain-1/theirs.json map=chain-1/program.map.json
gives 0 verify $plan
grep -q '"role": "problem"' $plan || complain "a plan from a solution does not say its problem"
cat > gurobi.sol << 'END'
# Solution for model plumbline
# Objective value = 1
END
cp gurobi.sol scip.sol
gives 0 verify $plan
# refused WORDS FILE: bad input, in one line.
refused() {
    answers 2 "$1" verify --solution "$2" --map $map
    [ "$(wc -l < err)" = 1 ] || complain "$2: expected one line"
}
# The plan's own choices, written as Gurobi and SCIP do.
binaries() {
    for stage in 0 1 2 3; do
        layers=$(sed -n 's/.*"layer_count": \([0-9]*\),.*/\1/p' chain-1/plan.json |
            sed -n "$((stage + 1))p")
        grep "\"stage\": $stage, \"layers\": $layers," $map |
            sed -n 's/.*"name": "\(choice_[0-9_]*\)".*/\1/p' | head -1
    done
}
for column in $(binaries); do echo "$column 1.0000001"; done >> gurobi.sol
answers 0 'accepted: iteration 389100000 ns' verify --solution gurobi.sol --map $map -o again.json
answers 0 'the plan takes' verify --solution gurobi.sol --map $map
{ printf 'solution status: optimal solution found\nobjective value:     389.1\n'
  for column in $(binaries); do printf '%s    1 \t(obj:0)\n' "$column"; done; } > scip.sol
answers 0 'which the plan takes' verify --solution scip.sol --map $map
answers 0 'accepted' verify --solution scip.sol --map $map --problem chain-1/problem.json
one=$(binaries | sed -n 2p)
other=$(sed -n 's/.*"name": "\(choice_1_[0-9_]*\)".*/\1/p' $map | grep -v "$one" | head -1)
sed "s/$one/${one}x/" scip.sol > bad
refused "expected a column of $map, found '${one}x'; the nearest is '$one'" bad
sed "s/$one  *1/$one 0.4/" scip.sol > bad; refused "$one: expected 0 or 1, found 0.4" bad
grep -v "$one" scip.sol > bad; refused 'decides nothing for stage 1' bad
{ cat scip.sol; echo "$one 1"; } > bad; refused "column $one is already in line" bad
{ cat scip.sol; echo "$other 1"; } > bad
refused 'stage 1 has choice_1_[_0-9]* already, and now choice_1_' bad
echo 'solution status: infeasible' > bad; refused 'holds no solution' bad
echo 'no such thing' > bad; refused 'expected a solution as glpsol' bad
printf 'Optimal - objective value 1\n 0 T\n' > bad; refused 'expected INDEX NAME VALUE, as CBC' bad
answers 2 'requires --map' verify --solution scip.sol
answers 2 'requires --solution' verify --map $map
answers 2 'cannot be combined with PLAN.json' verify $plan --solution scip.sol --map $map
answers 2 'PLAN.json or --solution is missing' verify
answers 2 'expected a plan of this problem' formulate chain-2/problem.json \
    --path-of chain-8/plan.json
[ -e bad.json ] && complain "a refused solution left a plan"
# Another choice of a stage is another plan: the comparison above can fail, and the judge says so.
sed "s/$one/$other/" scip.sol > bad
gives 20 verify --solution bad --map $map -o bad.json
[ -e bad.json ] && complain "a rejected plan was written"
# Another problem than the one that the map was made from.
sed 's/"name": "/"name": "other /' chain-1/job.json > job.json && cp job.json chain-1/job.json
answers 20 hash verify --solution scip.sol --map $map

# ---- programs with starting rows alone: row by row, until no path is missing
rounds() {
    arguments=
    for round in 1 2 3 4 5 6 7 8 9; do
        # shellcheck disable=SC2086 # the plans' names have no blanks
        gives 0 formulate "$1/problem.json" -o "$1/rows.mps" --map "$1/rows.map.json" $arguments
        asks "$2" "$1/rows.mps" "$1/solution"
        gives 0 verify --solution "$1/solution" --map "$1/rows.map.json" -o "$1/round$round.json"
        grep -q 'which the plan takes' out && break
        arguments="$arguments --path-of $1/round$round.json"
    done
    [ "$(value_of "$1/round$round.json")" = "$(value_of "$1/plan.json")" ] ||
        complain "$1: $2, row by row: another optimum"
}
rounds chain-2 glpsol
if [ "$long" = long ]; then
    for folder in chain-8 gpt; do
        for solver in $solvers; do rounds $folder $solver; done
    done
    rounds mixed glpsol
    each zb mixed --schedule zb-h1
    each text chain --layers 6 --stages 2 --types 2 --micro-batches 4
    for form in $(command -v cbc > /dev/null && echo textbook choices); do
        best=$("$root/build/release/bench-separate" text/problem.json $form 60 0 \
            "sh $root/tests/bench/cbc.sh" | awk '{ printf "%.0f", 1e6 * $2 }')
        [ "$best" = "$(value_of text/plan.json)" ] || complain "text: $form by CBC: $best ns"
    done
fi

echo "$answered answers to $problems problems are the optimum, to the nanosecond"
[ $answered -ge $((problems)) ] || complain "fewer answers than problems"
ended
