#!/bin/sh
# One CBC run for bench-separate: cbc.sh program.mps answer.txt seconds gap. One thread, wall-clock
# limit, relative gap.
folder=$(dirname "$2")
timeout "$(awk "BEGIN { print int($3 + 5) }")" cbc "$1" -timem elapsed -sec "$3" -ratio "$4" \
    -threads 0 -solve -solu "$folder/cbc.sol" > "$folder/cbc.log" 2>&1
# "Lower bound" stands in the log where the run ended with a gap; else the objective is the bound.
bound=$(sed -n 's/^Lower bound: *//p' "$folder/cbc.log" | tail -1)
if [ -z "$bound" ] && grep -q "^Result - Optimal solution found" "$folder/cbc.log"; then
    bound=$(sed -n 's/^Objective value: *//p' "$folder/cbc.log" | tail -1)
fi
: > "$2"
[ -z "$bound" ] || echo "bound $bound" >> "$2"
if [ -s "$folder/cbc.sol" ] && ! head -1 "$folder/cbc.sol" |
    grep -qi "infeasible\|no feasible"; then
    awk 'NR > 1 { if ($1 == "**") print $3, $4; else print $2, $3 }' "$folder/cbc.sol" >> "$2"
fi
rm -f "$folder/cbc.sol" "$folder/cbc.log"
