#!/bin/sh
# Tables of runs hold what runs are: prose in notes is read where it is asked for alone; memory of
# other devices than the fullest, margins in bytes, messages beside the passes, compression have
# columns and options of their own.
name=test_runs
. tests/script.sh

run() { "$plumbline" "$@" > out 2> err < /dev/null || complain "plumbline $*: exit code $?"; }
# seconds, bytes WORDS ...: of one configuration
seconds() { "$plumbline" predict $base "$@" 2> err | sed -n 's/^iteration_s *//p'; }
bytes() { "$plumbline" predict $base "$@" 2> err | sed -n 's/^memory_bytes *\([0-9]*\).*/\1/p'; }
less() { awk "BEGIN { exit !($1 < $2) }" || complain "$3: expected $1 below $2"; }
same() { [ "$1" = "$2" ] || complain "$3: expected $1 and $2 to be the same"; }
base="gpu=A100-80GB layers=32 hidden=4096 heads=32 vocab=51200 seq=2048 tp=2 pp=4 dp=4
    micro_batch=1 global_batch=64 sp=0"

# ---- notes are notes
plain=$(seconds) prose=$(seconds notes="fp32 DeepSpeed llama zb-h1")
same "$plain" "$prose" "notes without --read-notes"
grep -q "name settings; --read-notes reads them" err || complain "unread notes are not told of"
less "$plain" "$(seconds notes=fp32 --read-notes)" "fp32 in notes with --read-notes"
same "$(seconds precision=fp32)" "$(seconds notes=fp32 --read-notes)" \
    "fp32 as a column and in notes"
seconds notes="the third run of a Monday" > out; grep -q "read-notes" err &&
    complain "plain prose is told of"
cat > rows.csv <<'T'
id,gpu,layers,hidden,heads,vocab,seq,tp,pp,dp,micro_batch,global_batch,memory_of,metric,value,unit,notes
a,A100-80GB,32,4096,32,51200,2048,2,4,4,1,64,,peak_memory,40,GB,nvidia-smi of the first/last nodes
b,A100-80GB,32,4096,32,51200,2048,2,4,4,1,64,ends,peak_memory,40,GiB,
c,A100-80GB,32,4096,32,51200,2048,2,4,4,1,64,last,peak_memory,40,GB,
d,A100-80GB,32,4096,32,51200,2048,2,4,4,1,64,fullest,peak_memory,40,GB,
T
value() { sed -n "s/^rows,$1,peak_memory,\\([^,]*\\),\\([^,]*\\),.*/\\$2/p" out; }
run validate rows.csv --list
same 4e+10 "$(value a 1)" "GB of nvidia-smi in notes that are not read"
same "$(value d 2)" "$(value a 2)" "first/last nodes in notes that are not read"
less "$(value c 2)" "$(value d 2)" "the last stage as the allocator counts"
grep -q "read-notes" err && complain "a memory's notes are no settings"
run validate rows.csv --list --read-notes
same "$(value b 1)" "$(value a 1)" "GB of nvidia-smi, GiB"
same "$(value b 2)" "$(value a 2)" "first/last nodes, ends"
sed 's/,ends,/,middle,/' rows.csv > wrong.csv
run validate wrong.csv --list
grep -q "^wrong,b,.*memory_of.*expected" out || complain "memory_of: middle is taken"

# ---- what a table does not state: said, and which columns would explain its runs
(cd "$root" && python3 tests/calibrate/unstated_tables.py "$OLDPWD" none none) ||
    complain "no plain tables"
mv plain-bridge-nosource.csv plain.csv
awk -F, 'NR == 1 || $1 == "nm-31"' plain-nemo-nosource.csv > full.csv
run validate plain.csv --suggest
grep -q "assumed (rows), as programs of 2024-01: .*overlap_tensor 1 (8; unknown: 0 to" out ||
    complain "what was assumed is not said"
stated=$(sed -n 's/^plain: state --default \([^ ]*\) if.*/\1/p' out)
mean() { awk '$1 == "plain" && $2 == "throughput" { print $6 }' "$1"; }
before=$(mean out)
run validate plain.csv --default "$stated"
less "$(mean out)" "$before" "$stated: the suggestion"
less "$(mean out)" 12 "$stated: the suggestion"
"$plumbline" predict gpu=A100-80GB num_gpus=8 layers=96 hidden=12288 seq=2048 recompute=full tp=2 \
    trainer=megatron dp=4 | grep -q "^assumed .*zero 1 (unknown: " || complain "zero is not open"
run validate full.csv
sed -n 1p out | grep -q "1 runs that ran are predicted not to fit: nm-31 (.* GB of 84.9)" ||
    complain "a run that ran and does not fit is not said first"

# ---- margins, in shares and bytes
need=$(bytes)
limit() { "$plumbline" predict $base "$@" | sed -n 's/.* the limit \([0-9]*\).*/\1/p'; }
same "$(limit --margin 1)" 84990000000 "the whole memory"
same "$(limit --margin 1 --margin-bytes 1000000000)" 83990000000 "a margin of 1e9 bytes"
"$plumbline" predict $base --margin 1 --margin-bytes $((84990000000 - need + 1)) |
    grep -q ": over the limit" || complain "a byte too few fits"

# ---- what messages and syncs take
less "$(seconds overlap_messages=1)" "$plain" "messages beside the passes"
less "$(seconds gradient_rank=4)" "$plain" "syncs of rank 4"
less "$(seconds boundary_rank=4)" "$(seconds boundary_rank=4 boundary_drain=1)" \
    "all messages compressed and those of the drain"
same "$plain" "$(seconds boundary_rank=0 gradient_rank=0)" "rank 0"
less "$plain" "$(seconds scattered_messages=0)" "messages in parts and whole"
same "$(seconds state_bytes=12)" "$plain" "Adam's bytes, stated"
less "$(seconds state_bytes=6)" "$plain" "the step of a narrower state"
own="trainer=other zero=1"
less "$(seconds $own)" "$(seconds $own whole_gradient_sums=1)" \
    "gradients scattered and summed whole"
less "$(seconds $own gated=1)" "$(seconds $own gated=1 split_gate=1)" "gate and up joint and apart"
same "$(seconds $own gated=0)" "$(seconds $own gated=0 split_gate=1)" "no gate to be apart"
for words in "zero=1 whole_gradient_sums=1" split_gate=1 owner_broadcasts=1 \
    "$own whole_gradient_sums=1 owner_broadcasts=1" \
    "$own whole_gradient_sums=1 gradient_rank=4"; do
    seconds $words > /dev/null
    grep -q "whole_gradient_sums, owner_broadcasts, split_gate, gathered_inputs: not of" err ||
        complain "$words: not refused"
done

# FlashAttention-2 lags behind the maker's library on H100 alone.
on() { "$plumbline" predict gpu=$1 num_gpus=8 layers=8 hidden=2048 seq=16384 global_batch=8 \
    precision=bf16 "flash=$2" | sed -n 's/^iteration_s *//p'; }
less "$(on H100-80GB te)" "$(on H100-80GB flash)" "the maker's attention"
same "$(on A100-80GB te)" "$(on A100-80GB flash)" "A100's attention"

# ---- GPUs that no cluster need be given for, each with its memory and its peak
for gpu in A100:8499 A100-40GB:4228 H100:8493 H200:15011 B200:19150 V100-32GB:3408 \
    V100-16GB:1693; do
    "$plumbline" predict gpu=${gpu%:*} num_gpus=8 layers=8 hidden=1024 seq=1024 global_batch=8 \
        > out 2> err || complain "$gpu"
    grep -q "(capacity ${gpu#*:}0000000)" out && grep -q "MFU" out || complain "$gpu"
done

# ---- columns that change what runs, under names that no column has
for words in "mbs=2:under the name micro_batch" "window=8:no column states this"; do
    printf 'id,gpu,layers,hidden,seq,%s,metric,value,unit\na,A100,4,1024,1024,%s,iteration_time,1,s\n' \
        "${words%%=*}" "$(echo "$words" | sed 's/.*=\(.*\):.*/\1/')" > foreign.csv
    "$plumbline" validate foreign.csv > out 2> err && complain "$words: a table without a score"
    grep -q "not scored, column ${words%%=*}: .*${words#*:}.*: 1 row: a" out ||
        complain "$words is not refused"
done
sed 's/,8,iter/,,iter/' foreign.csv > blank.csv
run validate blank.csv
grep -q "not scored" out && complain "a blank cell of an unknown column is refused"

# ---- several kinds of GPU, in the order of the ranks
shape="overlap_input_gradients=1 layers=32 hidden=4096 ffn=14336 heads=32 kv_heads=8 vocab=128256
    positions=0 gated=1 rms_norm=1 tied=0 dropout=0 bias=0 seq=4096 micro_batch=1 global_batch=64
    precision=fp16 recompute=full sp=1 flash=1 zero=1 overlap=1"
kinds() { gpus=$1; shift; "$plumbline" predict "gpu=$gpus" $shape "$@" > out 2> err; }
kinds_seconds() { kinds "$@"; sed -n 's/^iteration_s *//p' out; }
refused() { words=$1; shift; kinds "$@"; grep -q -- "$words" err ||
    complain "$*: '$words' is not said"; }
pure=$(kinds_seconds V100-32GB tp=2 pp=4 dp=4)
same "$pure" "$(kinds_seconds "V100-32GB*8 V100-32GB*24" tp=2 pp=4 dp=4)" "one kind in two parts"
less "$(kinds_seconds A100-80GB tp=2 pp=4 dp=4)" \
    "$(kinds_seconds "A100-80GB*16 V100-32GB*16" tp=2 pp=4 dp=4)" "faster GPUs under all stages"
less "$(kinds_seconds "A100-80GB*16 V100-32GB*16" tp=2 pp=4 dp=4)" "$pure" \
    "faster GPUs under half of the stages"
less "$(kinds_seconds "A100-80GB*16 V100-32GB*16" tp=2 pp=4 dp=4 split="12 11 5 4")" \
    "$(kinds_seconds "A100-80GB*16 V100-32GB*16" tp=2 pp=4 dp=4)" \
    "more layers on the faster stages"
# The slower replicas decide, and they wait for nobody; the order of the nodes is another pipeline's
# end.
same "$(kinds_seconds V100-32GB tp=2 pp=1 dp=8)" \
    "$(kinds_seconds "A100-80GB*8 V100-32GB*8" tp=2 pp=1 dp=8)" "replicas of two kinds"
[ "$(kinds_seconds "A100-80GB*16 V100-32GB*16" tp=2 pp=4 dp=4)" \
    != "$(kinds_seconds "V100-32GB*16 A100-80GB*16" tp=2 pp=4 dp=4)" ] ||
    complain "the order of the nodes does not count"
kinds "A100-80GB*16 V100-32GB*16" tp=2 pp=4 dp=4
grep -q "within the limit 30672000000 (capacity 34080000000)" out ||
    complain "the V100s have the least room"
# As the problem on the shipped cluster that has both; V100s have no fused attention.
run example mixed --model llama-3.1-8b --tensor 2 --pipeline 4 --data 8 --sequence 4096 \
    --global-batch 64 -o mixed
"$plumbline" predict mixed/problem.json --recompute full > problem.out
shape=$(echo "$shape" | sed 's/flash=[a-z0-9]*/flash=0/')
kinds "A100-80GB*32 V100-32GB*32" tp=2 pp=4 dp=8 --costs published # as examples have
grep -v "^assumed" out | cmp -s - problem.out || complain "the row and the problem differ"
refused "tensor ranks from GPU 8 on are of two kinds" "A100-80GB*9 V100-32GB*23" tp=2 pp=4 dp=4
refused "so few that they fit a node" "A100-80GB*12 V100-32GB*20" tp=2 pp=4 dp=4
refused "found 'V100'" "A100-80GB*16 V100" tp=2 pp=4 dp=4
refused "gpu names 24 GPUs, tp x cp x pp x dp = 32" "A100-80GB*8 V100-32GB*16" tp=2 pp=4 dp=4
refused "no cluster has a GPU like 'X9'" "A100-80GB*16 X9*16" tp=2 pp=4 dp=4
shape=$(echo $shape | sed "s/fp16/bf16/")
refused "v100-32gb lacks bf16 (it has fp16, fp32)" "A100-80GB*16 V100-32GB*16" tp=2 pp=4 dp=4

# ---- packed documents, adapters
base="gpu=A100-80GB layers=32 hidden=4096 heads=32 vocab=51200 positions=0 tp=2 pp=4 dp=4 sp=0
    flash=te"
same "$(seconds seq=2048 micro_batch=1 global_batch=64 document_tokens=512)" \
    "$(seconds seq=512 micro_batch=4 global_batch=256)" "documents of a sequence, or sequences"
whole=$(seconds seq=2048 micro_batch=1 global_batch=64)
same "$whole" "$(seconds seq=2048 micro_batch=1 global_batch=64 document_tokens=4000)" \
    "one document"
base="$base seq=2048 micro_batch=1 global_batch=64"
less "$(seconds document_tokens=1024)" "$whole" "two documents a sequence"
less "$(seconds document_tokens=512)" "$(seconds document_tokens=1024)" "shorter documents"
less "$(seconds lora_rank=8)" "$whole" "time with adapters"
less "$(bytes lora_rank=8)" "$(bytes)" "memory with adapters"
less "$(bytes lora_rank=8)" "$(bytes lora_rank=64)" "memory by rank"
less "$(seconds lora_rank=8)" "$(seconds lora_rank=64)" "time by rank"
"$plumbline" predict gpu=h100-80gb num_gpus=8 model=qwen3-30b-a3b seq=4096 lora_rank=8 2> err &&
    complain "adapters of experts"
grep -q "products of attention alone" err || complain "adapters of experts: $(cat err)"
mixture="gpu=h100-80gb num_gpus=8 model=qwen3-30b-a3b seq=4096 precision=bf16 zero=1 recompute=none
    flash=te micro_batch=1 global_batch=8"
attention="lora_rank=8 lora_modules=linear_qkv;linear_proj"
base=$mixture
less "$(seconds $attention)" "$(seconds)" "time with adapters on a mixture's attention"
less "$(bytes $attention)" "$(bytes)" "memory with adapters on a mixture's attention"
base="gpu=A100-80GB layers=32 hidden=4096 heads=32 vocab=51200 positions=0 tp=2 pp=4 dp=4 sp=0
    flash=te seq=2048 micro_batch=1 global_batch=64"
while IFS=: read -r words cells; do
    "$plumbline" predict $base $cells 2> err && complain "$cells: predicted"
    grep -q -- "$words" err || complain "$cells: $(cat err)"
done << 'END'
found 'v_porj'; the nearest is v_proj:lora_rank=8 lora_modules=q_proj+v_porj
expected a lora_rank above 0 with it:lora_modules=q_proj
no column target_modules; here it is lora_modules:lora_rank=8 target_modules=q_proj
END

# ---- the shipped tables: every row that holds a time or a memory is scored
for table in mpt-llm-foundry torchtitan-llama3 llama3-2407.21783 nvidia-megatron mt-nlg-2201.11990 \
    megascale-2402.15627 glm-130b-2210.02414 zero-bubble-2401.10241 mlperf-training \
    mlperf-rounds nemo-long-context bridge-gb200-gb300; do
    run validate "$root/data/runs/$table.csv" --list
    sed -n '/^source,id/,$p' out | awk -F, 'NR > 1 && $6 == "" { print $2 }' > left
    [ -s left ] && { complain "$table: rows without a score: $(head -3 left | tr '\n' ' ')"; }
    [ "$(sed -n '/^source,id/,$p' out | tail -n +2 | grep -c .)" \
        = "$(($(grep -c . "$root/data/runs/$table.csv") - 1))" ] ||
        complain "$table: rows are missing"
done

# nanotron reports what the allocator of the first stage holds, here counted once more: 1.083 of the
# parts, of which the pass's 16-bit gradients (as many bytes as the weights) are where its micro-batch
# was, with ZeRO 1 a gathered copy of the weights, and what tensor ranks of two blocks have not sent,
# twice 2 x 4096 x 2048 bytes each.
base="gpu=h100-80gb layers=2 hidden=2048 ffn=8192 heads=32 vocab=8192 seq=4096 tp=4 dp=2 sp=1
    micro_batch=1 global_batch=4 recompute=none"
words() { echo $base $@ | tr ' ' '\n' | sed "$words" | paste -sd,; }
for zero in 0 1; do
    {
        words='s/=.*//'; words id=a framework=nanotron zero=$zero memory_of=allocator \
            metric=peak_memory value=1 unit=GB
        words='s/.*=//'; words id=a framework=nanotron zero=$zero memory_of=allocator \
            metric=peak_memory value=1 unit=GB
    } > held.csv
    run validate held.csv --list
    held=$(awk -F, '$2 == "a" { print $5 }' out)
    run predict held.csv --no-ranges
    awk -F, -v held="$held" -v zero=$zero 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    {
        weight = $at["weight_bytes"]; once = $at["activation_bytes"]
        inside = $at["gradient_bytes"] + $at["optimizer_bytes"] + $at["working_bytes"]
        inside += weight + once + $at["buffer_bytes"] - (once < weight ? once : weight)
        library = (held - 2 * 2 * 2 * 4096 * 2048) / 1.083 - inside - zero * weight
        exit !(once > 0 && library >= 0 && library < 1.1e8)
    }' out || complain "nanotron, ZeRO $zero: $held $(tail -1 out)"
done

# nanotron asserts that a step of 1F1B has one micro-batch fewer than stages at least: a run with fewer
# has failed for certain, one of all forward passes first, or by another program, is priced.
stages="$(echo $base | sed 's/layers=2/layers=8/; s/tp=4/tp=1/; s/sp=1/sp=0/; s/dp=2/dp=1/')"
for case in "nanotron 7 1f1b yes" "nanotron 6 1f1b no" "nanotron 6 gpipe yes" "Megatron-LM 6 1f1b yes"; do
    set -- $case
    row="$(echo $stages | sed "s/global_batch=4/global_batch=$2/") pp=8 id=a framework=$1 schedule=$3
        metric=failed_or_oom value=1"
    for part in 's/=.*//' 's/.*=//'; do echo $row | tr ' ' '\n' | sed "$part" | paste -sd,; done > few.csv
    run validate few.csv
    grep -q "nanotron's 1f1b: 6 micro-batches on 8 stages" out && refused=no || refused=yes
    [ $refused = $4 ] || complain "$case: $(cat out)"
    [ $4 = yes ] || grep -q 'margin 1.00: 1 of 1 predicted' out || complain "$case: not foreseen"
done

# Peak memory of torchtitan with nothing fitted: single operators recomputed, FSDP2, fp32 logits.
run validate "$root/data/runs/torchtitan-llama3.csv" --costs kernels --rows metric=peak_memory \
    --list
sed -n '/^source,id/,$p' out |
    awk -F, 'NR > 1 { e = $6 < 0 ? -$6 : $6; sum += e; n++; if (e > .17) bad = $2 " " $6 }
    END {
        if (n != 20 || sum / n > .08) bad = n " rows, mean " sum / n
        if (bad) print bad
        exit bad != ""
    }' || complain "torchtitan's peak memory"

ended
