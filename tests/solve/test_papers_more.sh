#!/bin/sh
# docs/examples/papers: what docs/PAPERS.md says of decisions that papers are about: they change as
# the paper says when what they depend on is moved: compression of interleaved schedules, swapping,
# tensor grids, pools, few bits, shared weights, the fused embedding sync, towers. Others:
# test_papers.sh. Rows that take long are left to `test_papers_more.sh all`, of make test-papers.
all=${1:-}
BIN=${BIN:-bin} work=build/test_papers_more.$$ failed=0
mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
PLUMBLINE=$BIN/plumbline
export PLUMBLINE

wrong() { echo "papers: $*" >&2; failed=1; }
command -v python3 >/dev/null || { echo "skipped: python3 is not there"; exit 0; }

# Interleaved with compression ends at the gap asked; the slower the cards, the more it gains.
if [ -n "$all" ]; then
    sh docs/examples/papers/interleaved.sh "$work/interleaved" 25 1 >"$work/interleaved.txt" ||
        wrong "interleaved.sh fails"
    awk '$6 != "True" || $4 > $5 || $2 + $3 == 0 { bad = 1 }
         $1 == 1 && ($3 < 2 || $4 * 1.04 > $5) { bad = 1 } END { exit bad || NR != 2 }' \
        "$work/interleaved.txt" || wrong "interleaved: $(cat "$work/interleaved.txt")"
fi

# A transformer that does not fit 128 V100: the faster the link to the host, the more is swapped and
# the less recomputed; all recomputed is slower, and so is either alone where both are chosen.
sh docs/examples/papers/karma.sh "$work/karma" 0.5 8 48 >"$work/karma.txt" || wrong "karma.sh fails"
awk 'NR > 1 && ($2 <= swapped || $3 >= again) { bad = 1 }
     { swapped = $2; again = $3 }
     $5 >= $6 || $5 > $7 || $5 > $8 || ($1 == 8 && ($5 >= $7 || $5 * 1.52 > $8)) { bad = 1 }
     ($1 < 1 && $2 != 0) || ($1 == 48 && $3 != 0) { bad = 1 }
     END { exit bad || NR != 3 }' "$work/karma.txt" || wrong "karma: $(cat "$work/karma.txt")"
"$PLUMBLINE" check "$work/karma/8/all.certificate.json" "$work/karma/8/all.problem.json" \
    >"$work/log" 2>&1 ||
    wrong "karma: $(cat "$work/log")"
# In a pipeline transfers across passes are worth it at rates at which passes would wait.
PIPELINE=16 sh docs/examples/papers/karma.sh "$work/across" 3 12 >"$work/across.txt" ||
    wrong "karma.sh fails"
awk '$3 > $2 || $4 > $3 || ($1 == 3 && $4 != $2) || ($1 == 12 && $4 * 1.05 > $3) { bad = 1 }
     END { exit bad || NR != 2 }' "$work/across.txt" || wrong "across: $(cat "$work/across.txt")"

# GPTs on A100: small ones want one dimension in a node, or none; of 77 10^9 parameters AxoNN's grid
# takes a third less time than one dimension over nodes of four, but a pipeline is the best of all.
# With a sequence a GPU a grid of another order is, in such nodes, and not in nodes of sixteen.
sh docs/examples/papers/grids.sh "$work/grids" 24,4096,64,512 42,12288,1024,8192 \
    >"$work/grids.txt" || wrong "grids.sh fails"
[ -z "$all" ] || CARD=100 sh docs/examples/papers/grids.sh "$work/fastcard" 42,12288,1024,8192 \
    >>"$work/grids.txt" || wrong "grids.sh fails"
for node in ${all:+4 16}; do
    NODE=$node sh docs/examples/papers/grids.sh "$work/nodes$node" 42,12288,1024,1024 \
        >>"$work/grids.txt" || wrong "grids.sh fails"
done
awk 'NR == 1 && ($4 != $6 || $4 != $10) { bad = 1 }
     NR == 2 && ($3 !~ /x[0-9]*[2-9],2-1-3:/ || $4 > 0.7 * $6 || $4 < $8 || $10 != $8) { bad = 1 }
     NR == 3 && ($9 !~ /^1x2x1x16:/ || $10 >= $8) { bad = 1 }
     NR == 4 && ($9 !~ /^1x8x1x16,micro_batch:.*sp/ || $10 > 0.9 * $8 || $4 < $8) { bad = 1 }
     NR == 5 && $10 != $8 { bad = 1 }
     $12 < $4 || $11 !~ /x[0-9]*[1-9][0-9](,|:)/ { bad = 1 }
     END { exit bad || NR != (all ? 5 : 2) }' all="$all" "$work/grids.txt" ||
    wrong "grids: $(cat "$work/grids.txt")"
for here in grids/42,12288,1024,8192 ${all:+nodes4/42,12288,1024,1024}; do
    "$PLUMBLINE" check "$work/$here/all.certificate.json" "$work/$here/all.problem.json" \
        >"$work/log" 2>&1 || wrong "grids: $(cat "$work/log")"
done

# A pool for all memory layers: slower than one each while those fit, then faster, then alone.
sh docs/examples/papers/pools.sh "$work/pools" 1024 3072 4096 >"$work/pools.txt" ||
    wrong "pools.sh fails"
awk 'NR == 1 && $3 <= $6 { bad = 1 } NR == 2 && ($3 * 1.3 > $6 || $5 == "9,8,8,7") { bad = 1 }
     NR == 3 && ($3 == "-" || $6 != "-") { bad = 1 } END { exit bad || NR != 3 }' \
         "$work/pools.txt" ||
    wrong "pools: $(cat "$work/pools.txt")"
for way in shared apart; do
    "$PLUMBLINE" check "$work/pools/4096/$way.certificate.json" \
        "$work/pools/4096/$way.problem.json" \
        >"$work/log" 2>&1 || wrong "pools $way: $(cat "$work/log")"
done

# The group that holds a pool once grows with the pool, and never costs what all GPUs do.
sh docs/examples/papers/poolgroups.sh "$work/groups" 8,256 8,1024 8,8192 >"$work/groups.txt" ||
    wrong "poolgroups.sh fails"
awk '$4 != (NR == 1 ? 1 : NR == 2 ? 2 : 32) || ($7 != "-" && $5 > $7) || $5 > $11 { bad = 1 }
     NR < 3 && $5 * 2 > $11 { bad = 1 } NR == 3 && ($7 != "-" || $9 != "-") { bad = 1 }
     END { exit bad || NR != 3 }' "$work/groups.txt" || wrong "groups: $(cat "$work/groups.txt")"
"$PLUMBLINE" check "$work/groups/8,1024/free.certificate.json" \
    "$work/groups/8,1024/free.problem.json" >"$work/log" 2>&1 ||
    wrong "groups: $(cat "$work/log")"

# LLaMA 65B with adapters on GPUs of 48 GB: four of them, two, one as its frozen weights take fewer
# bits.
sh docs/examples/papers/bits.sh "$work/bits" 16 8 4 >"$work/bits.txt" || wrong "bits.sh fails"
awk '{ gpus = gpus " " $2 } $5 > 48 { bad = 1 } END { exit bad || gpus != " 4 2 1" }' \
    "$work/bits.txt" ||
    wrong "bits: $(cat "$work/bits.txt")"
"$PLUMBLINE" check "$work/bits/4.1/certificate.json" "$work/bits/4.1/problem.json" >"$work/log" \
    2>&1 ||
    wrong "bits: $(cat "$work/log")"

# Frozen weights go to a dense tier as the fast memory shrinks, adapters only at the very end; where
# the tier is slow, layers are recomputed instead.
sh docs/examples/papers/tiers.sh "$work/tiers" 8,200 5.4,200 3.1,200 3.5,800 4.3,50 \
    >"$work/tiers.txt" || wrong "tiers.sh fails"
awk '{ frozen = frozen " " $3; adapters = adapters " " $4 }
     NR < 3 && ($5 != "none" || $NF != 0.431676) { bad = 1 }
     END { exit bad || frozen != " 0 50 100 100 50" || adapters != " 0 0 0 100 0" }' \
    "$work/tiers.txt" || wrong "tiers: $(cat "$work/tiers.txt")"
sed -i 's/"tier": "dense"/"tier": "dens"/' "$work/tiers/8,200/job.json"
"$PLUMBLINE" solve "$work/tiers/8,200/problem.json" -o "$work/no.json" 2>"$work/err" &&
    wrong "tiers: a name that no group has is taken"
grep -q 'found "dens"; nearest: dense' "$work/err" || wrong "tiers: $(cat "$work/err")"

# The more is trained, the more of the frozen weights the same limit of energy sends to the dense
# tier, until nothing is enough; what is trained follows only where writing is cheap.
sh docs/examples/papers/energy.sh "$work/energy" 16,100 16,50 256,60 1024,60 0,80 16,x1.1 16,x2 \
    >"$work/energy.txt" || wrong "energy.sh fails"
WRITE=100 sh docs/examples/papers/energy.sh "$work/energy" 0,80 >>"$work/energy.txt" ||
    wrong "energy.sh fails"
awk '{ frozen = frozen " " $4; trained = trained " " $5 }
     NR == 2 && $7 >= joules { bad = 1 }
     NR == 1 { joules = $7 }
     END { exit bad || frozen != " 75 100 100 - - 75 100 0" || trained != " 0 0 0 - - 0 0 100" }' \
    "$work/energy.txt" || wrong "energy: $(cat "$work/energy.txt")"
job=$work/energy/16,50/job.json
was=$(sha256sum <"$job" | cut -d' ' -f1)
sed -i 's/"energy_max_uj": [0-9]*/"energy_max_uj": 1/' "$job"
sed -i "s/$was/$(sha256sum <"$job" | cut -d' ' -f1)/" "$work/energy/16,50/plan.json"
"$PLUMBLINE" verify "$work/energy/16,50/plan.json" \
    >"$work/log" 2>&1 && wrong "energy: a plan above the limit is accepted"
grep -q 'microjoules of memories: [0-9]*, the budget allows 1' "$work/log" ||
    wrong "energy: $(cat "$work/log")"

# ALBERT needs no pipeline whatever the network; BERT on a slow one does, and is far slower.
sh docs/examples/papers/albert.sh "$work/albert" 1.25 50 >"$work/albert.txt" ||
    wrong "albert.sh fails"
awk '$2 != 1 || $6 <= 1 || ($1 < 2 && ($4 != 4 || $6 < 4)) { bad = 1 }
     $1 == 50 && ($4 != 1 || $6 > 2) { bad = 1 }
     END { exit bad || NR != 2 }' "$work/albert.txt" || wrong "albert: $(cat "$work/albert.txt")"
"$PLUMBLINE" check "$work/albert/1.25/albert.certificate.json" \
    "$work/albert/1.25/albert.problem.json" \
    >"$work/log" 2>&1 || wrong "albert: $(cat "$work/log")"

# One sync of the embeddings instead of two gains with the replicas; names of nodes change nothing.
sh docs/examples/papers/fused.sh "$work/fused" 1 8 >"$work/fused.txt" || wrong "fused.sh fails"
awk '$3 != $5 || $4 != $6 || ($1 == 1 && $3 != $4) { bad = 1 }
     $1 == 8 && ($2 != "fused" || $3 * 1.01 > $4) { bad = 1 }
     END { exit bad || NR != 2 }' "$work/fused.txt" || wrong "fused: $(cat "$work/fused.txt")"
for what in named0 named1 plain1; do
    "$PLUMBLINE" check "$work/fused/8/$what.certificate.json" "$work/fused/8/$what.problem.json" \
        >"$work/log" 2>&1 || wrong "fused: $(cat "$work/log")"
done

# Qwen2-VL's tower is 34 of 62 layers. Frozen it goes forward alone: its stage takes layers of the
# language model, too. All trained the first boundary is inside of it, and earlier the more images a
# sequence brings.
MODEL=qwen2-vl-7b sh docs/examples/papers/llava.sh "$work/llava" 1 4 >"$work/llava.txt" ||
    wrong "llava.sh fails"
awk '{ split($3, layers, ","); first[$1 $2] = layers[1]; s[$1 $2] = $5 }
     END { exit !(NR == 6 && first["projector4"] > 34 && first["language4"] > 34 &&
                  first["all4"] < 34 && first["all4"] < first["all1"] &&
                  s["projector4"] < s["language4"] && s["language4"] < s["all4"]) }' \
    "$work/llava.txt" || wrong "llava: $(cat "$work/llava.txt")"
"$PLUMBLINE" check "$work/llava/all.4/certificate.json" "$work/llava/all.4/problem.json" \
    >"$work/log" 2>&1 ||
    wrong "llava: $(cat "$work/log")"
# The published hours are no less than ours, nor twice them; 7B in its second stage fits GPUs of 40
# GB.
cp "$work/llava.txt" "$work/images.txt"
sh docs/examples/papers/llava.sh "$work/llava" paper >"$work/llava.txt" ||
    wrong "llava.sh paper fails"
awk 'BEGIN { h["7bpretrain"] = 3.5; h["7bfinetune"] = 10
             h["13bpretrain"] = 5.5; h["13bfinetune"] = 20 }
     $7 > h[$1 $2] || 2 * $7 < h[$1 $2] { bad = 1 } END { exit bad || NR != 4 }' "$work/llava.txt" \
         ||
    wrong "llava: $(cat "$work/llava.txt")"
[ "$failed" = 0 ] && echo "papers: decisions change as they say"
# The command that runs them all: published splits by speed, an objective's least, memory that
# freezing and 4 bits save, a formula beside our count, how wide a stage's own head may be.
sh docs/examples/papers/all.sh "$work/all" holmes pipette adapters memory local updates stored \
    alone piper >"$work/all.txt" ||
    wrong "all.sh fails: $(cat "$work/all.txt")"
[ -n "$all" ] && rows= || rows="25,0 25,1600"
sh docs/examples/papers/segments.sh "$work/segments" $rows >"$work/segments.txt" ||
    wrong "segments.sh fails"
grep -q '^30 14 roce, 16 infiniband' "$work/all.txt" &&
    grep -q '^48 22 roce, 26 infiniband' "$work/all.txt" || wrong "holmes: $(cat "$work/all.txt")"
# Rings within a cluster, proven; a pipeline of many micro-batches within one instead.
sh docs/examples/papers/reaches.sh "$work/reaches" 1,12 3.125,12 >"$work/reaches.txt" ||
    wrong "reaches.sh fails"
awk '$3 != 32 || $6 < 0.99 * $5 { bad = 1 } END { exit bad || NR != 2 }' "$work/reaches.txt" ||
    wrong "reaches: $(cat "$work/reaches.txt")"
awk '$1 == "drawn.json" { n++; if ($4 > $3) bad = 1 } $1 == "all" { all = $3 }
     $1 == "adapters" { few = $3 } $1 == "4-bit" { least = $3 }
     $1 ~ /^llama/ && NF == 11 { m++; if ($11 < 0.5 || $11 > 2) bad = 1 }
     END { exit bad || n != 4 || m != 5 || few * 3 > all || least >= few }' "$work/all.txt" ||
    wrong "all: $(cat "$work/all.txt")"
awk '/^local.sh/ { in_local = 1 } !in_local || NF != 8 || $1 !~ /^[0-9]+$/ { next }
     { n++; if ($8 != ($1 < 8 ? 1600 : 400) || $3 >= $2 || $3 > $7 || $7 > $4) bad = 1 }
     END { exit bad || n != 4 }' "$work/all.txt" || wrong "local: $(cat "$work/all.txt")"
awk '/^[a-z]/ { here = /^stored.sh/ } !here || NF != 9 || $1 !~ /^[0-9]+$/ { next }
     { n++; if ($4 >= $3 || $8 >= $7 || ($1 < 8) != ($4 < $5)) bad = 1 }
     END { exit bad || n != 4 }' "$work/all.txt" || wrong "stored: $(cat "$work/all.txt")"
# With one micro-batch a step after each is one step; with more, each of them costs another.
awk '/^[a-z]/ { here = /^updates.sh/ } !here || NF != 5 || $1 !~ /^[0-9]+$/ { next }
     { n++; if (($2 == 1) != ($4 == $5) || ($2 > 1 && $5 <= $3)) bad = 1 }
     END { exit bad || n != 6 }' "$work/all.txt" || wrong "updates: $(cat "$work/all.txt")"
# Segments one after another take longer, by their heads, and little memory at a time.
awk '/^[a-z]/ { here = /^alone.sh/ } !here || NF != 5 || $1 !~ /^[0-9]+$/ { next }
     { n++; if (n > 1 && ($2 <= sum || $3 >= longest || $4 >= fullest)) bad = 1
       sum = $2; longest = $3; fullest = $4 }
     END { exit bad || n != 5 }' "$work/all.txt" || wrong "alone: $(cat "$work/all.txt")"
for claim in updates/4,8/each alone/4/3; do
    "$PLUMBLINE" check "$work/all/$claim.certificate.json" "$work/all/$claim.problem.json" \
        >"$work/log" 2>&1 || wrong "$claim: $(cat "$work/log")"
done
# Dear heads make segments longer; all is proven and certified.
awk '{ if ($2 == 0 ? $4 != 1 : $4 < 2 || $4 < last) bad = 1; last = $2 == 0 ? 0 : $4
       if ($6 != "yes" || $10 != "yes" || $13 != "yes") bad = 1
       if ($9 > $5 || $5 > $12 || $8 != 1 || NF != 13) bad = 1 }
     END { exit bad || NR != (all ? 6 : 2) }' all="$all" "$work/segments.txt" ||
    wrong "segments: $(cat "$work/segments.txt")"
# Its load is Piper's in every row, to the six digits that it is stated with.
awk '/^[a-z]/ { here = /^piper.sh/ } !here || NF != 6 || $1 !~ /^[0-9]+$/ { next }
     { n++; if ($4 > $3 || $5 > $4) bad = 1 }
     END { exit bad || n != 5 }' "$work/all.txt" || wrong "piper: $(cat "$work/all.txt")"
for name in ${all:+interleaved} karma across grids pools groups bits tiers energy albert fused \
    images llava reaches segments; do
    case $name in
    groups) script=poolgroups ;;
    images) script=llava ;;
    across) script=karma ;;
    *) script=$name ;;
    esac
    echo && echo "$script.sh" && cat "$work/$name.txt"
done >>"$work/all.txt"
# The page has the figures that are printed, and a wrong one is noticed.
python3 tests/solve/papers_page.py docs/PAPERS.md <"$work/all.txt" >"$work/page.txt" ||
    wrong "PAPERS.md: $(cat "$work/page.txt")"
sed 's/| 12\.888 s | 12\.888 s |/| 12.889 s | 12.889 s |/' docs/PAPERS.md >"$work/PAPERS.md"
python3 tests/solve/papers_page.py "$work/PAPERS.md" <"$work/all.txt" >/dev/null &&
    wrong "papers_page.py takes another figure for that of the page"
exit $failed
