#!/bin/bash
# import megatron of launch scripts: what a script launches is what bash launches, whose own reading
# of the same files is the oracle (the programs are functions here that print their words); what is
# not set is asked for by name, and what it decides is said; logs and YAML are read alike, as the
# same model and job.
set -u
BIN=${BIN:-bin} work=build/test_import_script.$$ failures=0
mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
plumbline=$BIN/plumbline
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
says() { grep -q -e "$1" "$work/err" || fail "$2: not said: $1: $(cat "$work/err")"; }

read_file() { # FILE TO OPTION ...
    file=$1 to=$2; shift 2
    "$plumbline" import megatron "$file" --name x --gpus 64 -o "$work/$to.model" --job \
        "$work/$to.job" "$@" 2>"$work/err"
}
documents() { # without what they were made from
    python3 -c 'import json, sys
for name in sys.argv[1:]:
    d = json.load(open(name)); d.pop("made_from", None); print(json.dumps(d, sort_keys=True))' \
        "$work/$1.model" "$work/$1.job"
}
same() { # what two readings made
    documents "$1" >"$work/a" && documents "$2" >"$work/b" && cmp -s "$work/a" "$work/b" ||
        fail "$3: $(diff "$work/a" "$work/b" | cut -c 1-600)"
}
cat >"$work/programs" <<'END'
torchrun() { printf '%q ' "$@" >"$OUT"; }
srun() { while [ $# -gt 0 ] && [ "$1" != bash ]; do shift; done; eval "$3"; }
deepspeed() { torchrun "$@"; }
sbatch() { eval "$(cat)"; }
export -f torchrun srun deepspeed sbatch
END
# bash and plumbline read the same: NAME OPTION ... ; the script is standard input
as_bash() {
    name=$1; shift
    cat >"$work/$name.sh"
    BASH_ENV=$work/programs OUT=$work/list bash "$work/$name.sh" >/dev/null 2>&1
    [ -s "$work/list" ] || { fail "$name: bash launches nothing"; return; }
    sed 's/^[^-]*\.py //' "$work/list" >"$work/list.txt"; rm "$work/list"
    read_file "$work/list.txt" bash || fail "$name: of bash: $(cat "$work/err")"
    read_file "$work/$name.sh" own "$@" || fail "$name: $(cat "$work/err")"
    same bash own "$name"
}
plain='--num-layers 8 --hidden-size 1024 --num-attention-heads 16 --seq-length 2048'
plain="$plain --micro-batch-size 2 --vocab-size 1000"

as_bash branches <<END
VP=\${VP:-} ; SIZE=\${SIZE:-"7B"}
if [ -z \${VP} ]; then
    vp_options=""
else
    vp_options=" --num-layers-per-virtual-pipeline-stage \${VP}"
fi
if [ \$SIZE = 1B ]; then LAYERS=16; HIDDEN=512
elif [ \$SIZE = 7B ]; then LAYERS=32; HIDDEN=2048
else LAYERS=80; HIDDEN=4096; fi
case "\$SIZE-\$LAYERS" in
    1B-*) EXTRA=--fp16 ;;
    7[A-C]-32 | x) EXTRA="--bf16 --swiglu" ;;
    *) exit 1 ;;
esac
torchrun --nproc_per_node 8 x.py $plain --num-layers \$LAYERS --hidden-size \$HIDDEN \$EXTRA \
    \$vp_options
END
as_bash lists <<END
NLAYERS=8 FIRST=2 arr=()
for ((i = 0; i < NLAYERS; i++)); do
    if (( i < FIRST )); then arr+=(0); else arr+=(1); fi
done
printf -v FREQ "[%s]" "\$(IFS=', '; echo "\${arr[*]}")"
MODEL=(
    $plain # as usual
    # --num-layers 99
    --moe-layer-freq "\$FREQ"
    --num-experts 8 --moe-ffn-hidden-size \$(( (NLAYERS + 2) * 2 ** 4 - 1 % 3 ))
)
declare -A DEGREE=([tp]=2 [pp]=4)
MODEL+=(--tensor-model-parallel-size "\${DEGREE[tp]}")
for key in pp; do MODEL+=(--pipeline-model-parallel-size \${DEGREE[\$key]}); done
[[ \${#MODEL[@]} -gt 4 && "\${MODEL[*]}" =~ num-experts ]] && MODEL+=(--sequence-parallel)
torchrun x.py "\${MODEL[@]}" --swiglu
END
as_bash functions <<END
size() { local tokens=\$1; shift; echo "\${tokens%%k}\${1:+024}"; }
LENGTH=\$(size 1k yes)
NAME=gpt-tp2-pp4 ; rest=\${NAME#*-tp} ; TP=\${rest%%-*} ; PP=\${NAME: -1}
BATCH=\`expr 4 + 4\`; BATCH=\$(echo "4 * 16" | bc)
read -r -d '' ARGS <<'EOF'
$plain --tensor-model-parallel-size @TP
EOF
CMD="torchrun --nnodes 2 x.py \${ARGS/@TP/\$TP} --pipeline-model-parallel-size=\$PP"
CMD+=" --seq-length \$LENGTH --global-batch-size \$BATCH"
eval \$CMD
END
as_bash nested <<END
export LAUNCHER="torchrun --nnodes 2" ARGS="$plain --bf16"
while [ "\${N:-0}" -lt 3 ]; do N=\$((N + 1)); [ \$N -eq 2 ] && break; done
export N
srun -N 2 bash -c '\$LAUNCHER x.py \$ARGS --tensor-model-parallel-size '"\$N"
END
as_bash itself <<END
A=($plain)
A=(--bf16 "\${A[@]}" --swiglu) ; A=(torchrun --nnodes 2 x.py "\${A[@]}")
"\${A[@]}"
END
as_bash document <<END
TP=4
sbatch <<EOF
#!/bin/bash
#SBATCH --nodes=2
torchrun x.py $plain --tensor-model-parallel-size \${TP} \\
    --global-batch-size 128
EOF
END
as_bash defaults <<END
LAYERS=16 HIDDEN=2048 TP=16 ; HEADS=1
export TP=\${TP:-4} ; unset HEADS
torchrun x.py $plain --num-layers \${LAYERS:-8} --hidden-size \${HIDDEN-1} \
    --num-attention-heads \${HEADS:-32} --tensor-model-parallel-size \${TP:-1} \
    --global-batch-size \$(echo "a-96-c" | cut -d- -f2) --swiglu
END
mkdir -p "$work/conf" && cat >"$work/conf/sizes.sh" <<'END'
SIZE_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
declare -A SIZES=([small]=" 8 1024 " [large]="16 2048")
pick() { local -n of=$1; local sizes=(${of[$2]}); [[ -v of[$2] ]] || return 1
    LAYERS=${LAYERS:-${sizes[0]}}; HIDDEN=${sizes[1]}; }
END
cat >"$work/conf/run.sh" <<'END'
source "$(dirname "$0")/sizes.sh"
pick SIZES $1
NAME=$(echo "$SIZE_DIR" | sed 's/  */ /g' | tr 'a-z' 'A-Z' | xargs basename)
torchrun x.py --num-layers $LAYERS --hidden-size $HIDDEN --num-attention-heads 16 \
    --seq-length 2048 --micro-batch-size ${MBS:-2} --vocab-size 1000 ${@:2}
END
as_bash called <<END
export MBS=4 LAYERS=3
HERE=\$(dirname "\$(readlink -f "\$0")") ; unset LAYERS
OTHER=1 LAYERS=24 bash \$HERE/conf/run.sh large --swiglu --bf16
END
as_bash given --set TP=2 --set 'MODE=b c' <<END
: "\${TP:=2}" ; MODE=\${MODE-'b c'}
[ "\$MODE" == "b c" ] && A="--bf16" || A="--fp16"
torchrun x.py $plain \$A --tensor-model-parallel-size \$TP
END

# what nobody has set: asked for by name, with what it decides
rest="${plain#--num-layers 8 } --bf16"
cat >"$work/open.sh" <<END
EXTRA=
SIZE=\$1; TP=\$2
if [ \$SIZE = small ]; then LAYERS=8; elif [ \$SIZE = large ]; then LAYERS=48; fi
GPUS=\$(nvidia-smi -L | wc -l)
[ "\$FP8" = 1 ] && EXTRA="--fp8-format hybrid"
torchrun --nproc_per_node \$GPUS x.py $rest --num-layers \$LAYERS \
    --use-mcore-models --tensor-model-parallel-size \$TP \$EXTRA
END
read_file "$work/open.sh" own && fail "open: read"
says 'not set in the file: LAYERS (--num-layers), TP (--tensor-model-parallel-size): give each' open
says 'SIZE (small or large): with small --num-layers 8' open
read_file "$work/open.sh" own --set SIZE=large --set TP=2 || fail "set: $(cat "$work/err")"
says 'FP8: with 1 --fp8-format hybrid' set
grep -q '"count": 48' "$work/own.model" || fail "set: not 48 layers"
read_file "$work/open.sh" other --arguments 'large 2' || fail "arguments: $(cat "$work/err")"
same own other arguments
read_file "$work/open.sh" own --arguments 'large 2' --strict && fail "strict: read"
says '\--strict: would be assumed: .*FP8' strict
read_file "$work/open.sh" own --arguments 'large 2' --set FP8= --strict ||
    fail "strict, all said: $(cat "$work/err")"
"$plumbline" import megatron "$work/open.sh" --arguments 'small 1' --job "$work/no.job" \
    2>"$work/err" && fail "gpus: read"
says 'GPUS (--nproc-per-node): give each with --set NAME=value, the number of GPUs with --gpus' gpus

# a configuration that the script writes; a file that it reads in
cat >"$work/zero.sh" <<END
ZERO=2
cat <<EOT > ds.json
{"train_batch_size": 8, "zero_optimization": {
  "stage": \$ZERO
}}
EOT
deepspeed x.py $plain --deepspeed --deepspeed_config ds.json --fp16
END
read_file "$work/zero.sh" own || fail "zero: $(cat "$work/err")"
grep -q '"zero": 2' "$work/own.job" && grep -q '"trainer": "deepspeed"' "$work/own.job" ||
    fail "zero: another job"
echo 'source "$HERE/models/small.sh"; torchrun x.py ${MODEL[@]} --seq-length 8 --bf16 --lr 1
torchrun y.py --micro-batch-size 1 --bf16 --seq-length 8' >"$work/source.sh"
read_file "$work/source.sh" own && fail "source: read"
says "the model's sizes are not here .* may be in small.sh, which it reads in or runs" source

# launches that differ, and the one that is chosen
for tp in 1 2; do echo "torchrun x.py $plain --tensor-model-parallel-size $tp"; done >"$work/two.sh"
read_file "$work/two.sh" own && fail "two: read"
says '2 launches that differ; 1 (line 1): --tensor-model-parallel-size 1; 2 (line 2)' two
read_file "$work/two.sh" own --launch 2 || fail "launch: $(cat "$work/err")"
grep -q '"tensor": 2' "$work/own.job" || fail "launch: another one"

# the same settings as flags, in a log, in YAML
flags="--num-layers 8 --hidden-size 1024 --num-attention-heads 16 --seq-length 2048 --swiglu
    --micro-batch-size 2 --vocab-size 1024 --make-vocab-size-divisible-by 1 --bf16
    --disable-bias-linear --attention-dropout 0.0"
echo "$flags" >"$work/flags"
read_file "$work/flags" flags || fail "flags: $(cat "$work/err")"
{ echo "12: ------------------- arguments -------------------"
  for line in 'num_layers 8' 'hidden_size 1024' 'num_attention_heads 16' 'seq_length 2048' \
      'swiglu True' 'micro_batch_size 2' 'padded_vocab_size 1024' 'bf16 True' 'fp16 False' \
      'add_bias_linear False' 'attention_dropout 0.0' 'num_query_groups 1' 'moe_router_topk 2' \
      'recompute_granularity None' 'group_query_attention False' 'dsa_indexer_topk None' \
      'mamba_head_dim 64' 'hybrid_attention_ratio 0.0' 'lr 0.0001' "cp_comm_type ['p2p']" \
      'mhc_num_residual_streams 4' 'dsa_indexer_rotate_activation True' \
      'num_layers_at_end_in_bf16 1' 'grpo_prompts_per_step 32'; do
      echo "12:   ${line% *} ........................ ${line#* }"
  done; echo "12: ---------------- end of arguments ---------------"; } >"$work/log"
read_file "$work/log" log || fail "log: $(cat "$work/err")"
same flags log log
grep "assumed\|unknown" "$work/err" && fail "log: what is as it always is was assumed or unknown"
{ echo "ENV_VARS:"; echo "  A: 1"; echo "MODEL_ARGS:"
  echo "$flags" | tr '\n' ' ' | sed 's/ --/\n--/g' | sed -E 's/^--([^ ]+) *$/  --\1: true/;
      s/^--([^ ]+) +([^ ]+) *$/  --\1: \2/' | sed 's/hidden-size: 1024/hidden-size: ${HIDDEN}/'
  echo "  --fp16: false"; echo "  --seq-length: 2048"; } >"$work/args.yaml"
read_file "$work/args.yaml" yaml && fail "yaml: read"
says 'not set in the file: HIDDEN (--hidden-size)' yaml
read_file "$work/args.yaml" yaml --set HIDDEN=1024 || fail "yaml: $(cat "$work/err")"
same flags yaml yaml
# words without merges: BERT's and T5's settings look alike
echo "  --vocab-file: vocab.txt" >>"$work/args.yaml"
read_file "$work/args.yaml" words --set HIDDEN=1024 || fail "words: $(cat "$work/err")"
says 'assumed: a decoder, as no program is named' words

# settings that change the model, the layout or the memory: stated, or refused by name
# who starts the processes says how many there are: GPUS COMMAND, under #SBATCH of two nodes of four
started() {
    gpus=$1; shift
    printf '#!/bin/bash\n#SBATCH -N 2 --gres=gpu:a100:4\n%s pretrain_gpt.py %s %s\n' "$*" "$plain" \
        "--max-position-embeddings 2048 --global-batch-size 256" >"$work/in.sh"
    "$plumbline" import megatron "$work/in.sh" -o "$work/own.model" --job "$work/own.job" \
        2>"$work/err" || { fail "$*: $(cat "$work/err")"; return; }
    grep -q "\"data\": $gpus," "$work/own.job" || fail "$*: not $gpus GPUs"
}
started 32 srun -N 4 --ntasks-per-node=8 python
started 32 srun -n32 python -u
started 32 srun --ntasks 32 -N 4 python
started 32 srun -N 4 --gres=gpu:h100:8 --ntasks-per-node=1 python
started 16 srun --ntasks-per-node 8 python
started 8 srun --gpus-per-node=h100:4 python
started 8 srun python
started 32 srun -N 4 -n 4 torchrun --nproc_per_node 8 --nnodes 4
started 32 srun -N 4 -n 4 python -m torch.distributed.run --nproc-per-node=8
started 64 mpirun -np 64 -npernode 8 python
started 16 mpiexec -n 16 -ppn 8 python
started 16 mpirun -H a:8,b:8 python
started 16 mpirun -H a,b --map-by ppr:8:node python
started 8 torchrun --nproc_per_node=8
sed -i 's/^#SBATCH.*/export WORLD_SIZE=$((4 * 8))/
    s/torchrun --nproc_per_node=8/numactl -m 0 python/' "$work/in.sh"
"$plumbline" import megatron "$work/in.sh" --job "$work/own.job" 2>"$work/err" ||
    fail "WORLD_SIZE: $(cat "$work/err")"
says 'assumed: .*32 GPUs, as WORLD_SIZE says' WORLD_SIZE

refuse() { # WORDS FLAGS
    echo "$plain $2" >"$work/refused"
    read_file "$work/refused" no && fail "$2: read"
    says "$1" "$2"
    [ "$(wc -l <"$work/err")" = 1 ] || fail "$2: more than a line"
}
refuse 'hybrid-layer-pattern: expected layers M, \*, - and E, found "G"' \
    '--hybrid-override-pattern M-MG'
refuse 'num-layers 8, but --hybrid-layer-pattern has 4' '--hybrid-override-pattern M-M*'
refuse 'is-hybrid-model: expected --hybrid-layer-pattern' '--is-hybrid-model'
# a launcher's line in one word; what is missing may be given
printf "bcprun -p 8 -c 'python main.py %s'\n" "$(echo "$plain" | sed 's/--seq-length 2048//')" \
    >"$work/line.sh"
read_file "$work/line.sh" own && fail "line: read without a length"
says 'seq-length is missing: give it with --sequence' line
printf 'x.py --num-layers 2 --hidden-size 64 --num-attention-heads 4\n' \
    >"$work/bare.sh"
read_file "$work/bare.sh" own && fail "bare: read without sizes"
says 'tokenizer.s), --seq-length and --micro-batch-size are missing: give them with' bare
read_file "$work/line.sh" own --sequence 2048 --micro-batch 4 || fail "line: $(cat "$work/err")"
grep -q '"micro_batch": 4' "$work/own.job" || fail "line: another micro-batch"
# sparse attention: as many parameters as transformers' deepseek_v32 of this shape has
echo x.py --multi-latent-attention --q-lora-rank 192 --kv-lora-rank 64 --qk-head-dim 16 \
    --qk-pos-emb-head-dim 8 --v-head-dim 16 --experimental-attention-variant dsa --num-layers 4 \
    --dsa-indexer-n-heads 4 --dsa-indexer-head-dim 16 --dsa-indexer-topk 64 --hidden-size 512 \
    --ffn-hidden-size 1024 --num-attention-heads 8 --num-experts 8 --moe-ffn-hidden-size 128 \
    --moe-shared-expert-intermediate-size 128 --moe-layer-freq "'([0]*1+[1]*3)'" --swiglu \
    --normalization RMSNorm --disable-bias-linear --untie-embeddings-and-output-weights \
    --position-embedding-type rope --qk-layernorm --vocab-size 1024 --seq-length 256 \
    --micro-batch-size 1 --bf16 >"$work/sparse.txt"
read_file "$work/sparse.txt" own || fail "sparse: $(cat "$work/err")"
says "9053824 parameters" sparse
sed 's/--dsa-indexer-topk 64//' "$work/sparse.txt" >"$work/less.txt"
read_file "$work/less.txt" own && fail "sparse: read without its number of keys"
says 'variant dsa: expected latents with --q-lora-rank, and --dsa-indexer-n-heads' sparse
# Nemotron-H 8B: as many parameters as transformers' class has of its config
echo pretrain_hybrid.py --hybrid-layer-pattern \
    "M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-" --hidden-size 4096 \
    --num-attention-heads 32 --group-query-attention --num-query-groups 8 --kv-channels 128 \
    --ffn-hidden-size 21504 --squared-relu --disable-bias-linear --normalization RMSNorm \
    --position-embedding-type none --untie-embeddings-and-output-weights --vocab-size 131072 \
    --seq-length 8192 --micro-batch-size 1 --bf16 >"$work/hybrid.txt"
read_file "$work/hybrid.txt" own || fail "hybrid: $(cat "$work/err")"
says "8100852736 parameters" hybrid
refuse '\--fp32-residual-connection' '--fp32-residual-connection'
refuse '\--cpu-offloading-num-layers' '--cpu-offloading-num-layers 3'
refuse 'expected the other 5 of 8 layers to divide over the other ranks of a pipeline of 4' \
    '--pipeline-model-parallel-size 4 --decoder-first-pipeline-num-layers 3'
echo "$plain --hidden-szie 3 --cpu-offloading-num-layers 0 --lr 1 --use-rotary-position-embeddings
    --pipeline-model-parallel-size 4 --decoder-first-pipeline-num-layers 1
    --decoder-last-pipeline-num-layers 3" >"$work/uneven"
read_file "$work/uneven" own && fail "uneven: an unknown size is read"
says 'states: --hidden-szie (did you mean --hidden-size?): --ignore NAME' unknown
read_file "$work/uneven" own --ignore --hidden-szie || fail "uneven: $(cat "$work/err")"
says '\--hidden-szie changes nothing, as --ignore says' ignored
says 'ignored (harmless): --cpu-offloading-num-layers, --lr$' harmless
python3 -c 'import json, sys
j = json.load(open(sys.argv[1])); m = json.load(open(sys.argv[2]))
assert [(r["stage"], r["layers_min"], r["layers_max"]) for r in j["rules"]] == \
    [(0, 2, 2), (1, 2, 2), (2, 2, 2), (3, 4, 4)], j["rules"]
assert "positions" not in m["shape"] or not m["shape"]["positions"], m["shape"]' \
    "$work/own.job" "$work/own.model" || fail "uneven: other rules, or learned positions"
sed -i 's/--hidden-szie 3/--logg-interval 3/' "$work/uneven"
"$plumbline" import megatron "$work/uneven" --gpus 8 --strict >"$work/out" 2>"$work/err" &&
    fail "strict: an unknown name is read"
says '\--strict: .*--logg-interval is unknown\|would be assumed' strict

# which layers have experts, as programs built on Megatron-LM state it
layers_are() { # KINDS FLAGS
    echo "$plain $2" >"$work/experts"
    read_file "$work/experts" own || fail "$2: $(cat "$work/err")"
    kinds=$(python3 -c 'import json, sys
print("".join(("M" if r["kind"] == "moe" else "d") * r["count"]
              for r in json.load(open(sys.argv[1]))["runs"][1:-1]))' "$work/own.model")
    [ "$kinds" = "$1" ] || fail "$2: layers $kinds, not $1"
}
layers_are dMdMdMdM '--deepspeed --num-experts 4 --moe-expert-parallel-size 1'
layers_are ddMddMdd '--num-experts 4 --expert-interval 3'
layers_are MMMMMMMM '--num-experts 4 --moe-layer-freq -1'
layers_are dddMMMMM '--num-experts 4 --moe-layer-freq 1 --first-k-dense-replace 3
    --n-shared-experts 2 --moe-intermediate-size 64'
grep -q '"shared_ffn": 128' "$work/own.model" || fail "shared experts: not 2 x 64"
refuse '\--noop-layers: is not read: layers that do nothing' '--noop-layers 7'

# GPT-NeoX's names and defaults: Pythia's published parameters, its vocabulary padded
pythia() { # LAYERS HIDDEN HEADS PARAMETERS
    cat >"$work/neox.yml" <<END
{
  "pipe-parallel-size": 0,
  "num-layers": $1, "hidden_size": $2,
  "num-attention-heads": $3,
  "seq-length": 2048, "max-position-embeddings": 2048,
  "pos-emb": "rotary", "rotary-pct": 0.25, "no-weight-tying": true, "gpt-j-residual": true,
  "attention-config": [[["flash"], $1]],
  "optimizer": {"type": "Adam", "params": {"lr": 0.0002}},
  "zero_optimization": {"stage": 1, "cpu_offload": false},
  "train_micro_batch_size_per_gpu": 4, "gas": 2,
  "checkpoint-activations": true,
  "fp16": {"enabled": true, "loss_scale": 0},
  "tokenizer_type": "HFTokenizer",
}
END
    read_file "$work/neox.yml" own --gpus 16 --vocabulary 50304 || fail "neox: $(cat "$work/err")"
    says "$4 parameters" neox
    grep -q '"global_batch": 128' "$work/own.job" && grep -q '"zero": 1' "$work/own.job" &&
        grep -q '"trainer": "deepspeed"' "$work/own.job" || fail "neox: another job"
}
pythia 6 512 8 70426624
pythia 24 1024 16 405334016
pythia 16 2048 8 1011781632
pythia 32 2560 32 2775208960
sed 's/"flash"/"mamba"/' "$work/neox.yml" >"$work/mamba.yml"
read_file "$work/mamba.yml" own --gpus 16 && fail 'neox: state spaces are read'
says 'attention-config: expected flash or global in all layers' mamba
# a gated part in GPT-NeoX's own measure, without biases: Llama 2 7B's
cat >"$work/gated.yml" <<END
{"pipe_parallel_size": 1, "num_layers": 32, "hidden_size": 4096, "intermediate_size": 32768,
 "num_attention_heads": 32, "seq_length": 4096, "pos_emb": "rotary", "no_weight_tying": true,
 "norm": "rmsnorm", "use_bias_in_attn_linear": false, "use_bias_in_mlp": false,
 "activation": "swiglu", "mlp_multiple_of": 256, "train_micro_batch_size_per_gpu": 1}
END
read_file "$work/gated.yml" own --gpus 8 --vocabulary 32000 || fail "gated: $(cat "$work/err")"
says "6738415616 parameters" gated
says "assumed: a gated part a third of 32768 wide" gated

# Mamba2-Hybrid 8B (arXiv 2406.07887) by its shares and by its published letters
echo 'torchrun --nproc_per_node 8 pretrain_mamba.py --num-layers 56 --hidden-size 4096 --bf16
    --num-attention-heads 32 --group-query-attention --num-query-groups 8 --seq-length 4096
    --micro-batch-size 4 --vocab-size 256000 --untie-embeddings-and-output-weights
    --position-embedding-type none --normalization RMSNorm --disable-bias-linear
    --hybrid-attention-ratio 0.08 --hybrid-mlp-ratio 0.5' | tr '\n' ' ' >"$work/shares.sh"
letters=M-M-M--M-M*-M-M-M-M--M*-M-M-M-M-M*--M-M-M-M-M*-M--M-M-M-
sed "s/--hybrid.*/--hybrid-override-pattern $letters/" "$work/shares.sh" >"$work/letters.sh"
for name in shares letters; do
    read_file "$work/$name.sh" $name || fail "$name: $(cat "$work/err")"
    says '8654517248 parameters' $name
done
[ "$(documents shares)" = "$(documents letters)" ] ||
    fail 'shares: other layers than the published ones'

# the tokenizer of a program that is told none
echo 'torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 12 --hidden-size 768
    --seq-length 1024 --num-attention-heads 12 --max-position-embeddings 1024
    --micro-batch-size 1' |
    tr '\n' ' ' >"$work/untold.sh"
read_file "$work/untold.sh" own || fail "untold: $(cat "$work/err")"
says '124439808 parameters' untold
says 'assumed: .*50257, as pretrain_gpt.py has it without tokenizer-type' untold
sed -i 's/--seq/--tokenizer-type TokenizerFromFile &/' "$work/untold.sh"
read_file "$work/untold.sh" own && fail 'a tokenizer of a file has a vocabulary'
says 'the tokenizer.s) is missing: give it with --vocabulary' untold

# a file of another machine's path is that of the same end in the repository
repo=$work/repo
mkdir -p "$repo/.git" "$repo/models" "$repo/run"
echo 'MODEL_ARGS=(--num-layers 3 --hidden-size 64 --num-attention-heads 4)' >"$repo/models/tiny.sh"
echo 'source "/root/elsewhere/models/tiny.sh"
torchrun pretrain_gpt.py ${MODEL_ARGS[@]} --vocab-size 128' >"$repo/run/run.sh"
"$plumbline" import megatron "$repo/run/run.sh" -o "$work/model.json" 2>"$work/err" ||
    fail "another machine's path: $(cat "$work/err")"
grep -q '"count": 3' "$work/model.json" || fail "another machine's path: another model"
sed -i 's|elsewhere/models/tiny|tiny|' "$repo/run/run.sh"
cp "$repo/models/tiny.sh" "$repo/run/tiny.sh"
"$plumbline" import megatron "$repo/run/run.sh" -o "$work/model.json" 2>"$work/err" &&
    fail "a file is taken by its name alone"

# ---- nodes that launchers take from NNODES alone; experts whole on tensor ranks

printf 'NNODES=2 NPROC_PER_NODE=4 swift sft --model x --tuner_type full --max_length 2048 \\
    --per_device_train_batch_size 1 --torch_dtype bfloat16 --deepspeed zero3 \\
    --gradient_accumulation_steps 2 --gradient_checkpointing false\n' >"$work/in.sh"
"$plumbline" import trainer "$work/in.sh" -o "$work/job.json" 2>"$work/err" &&
    grep -q '"data": 8,' "$work/job.json" || fail "NNODES: $(cat "$work/err")"
printf 'NNODES=%s NPROC_PER_NODE=8 megatron sft --model Qwen/Qwen3-30B-A3B --max_length 4096 \
    --tensor_model_parallel_size 2 --expert_model_parallel_size 8 --micro_batch_size 1 \
    --global_batch_size 16 --sequence_parallel true --max_epochs 1 \\
    --megatron_extra_kwargs "{}"\n' '$RACK_SIZE' >"$work/in.sh"
"$plumbline" import megatron "$work/in.sh" --job "$work/job.json" >"$work/out" 2>"$work/err" &&
    fail "nobody has set NNODES"
says 'not set in the file: RACK_SIZE (NNODES): give it with --set NAME=value, or' NNODES
for more in '--set RACK_SIZE=2' '--gpus 16'; do
    # shellcheck disable=SC2086
    "$plumbline" import megatron "$work/in.sh" $more --job "$work/job.json" 2>"$work/err" ||
        fail "NNODES, $more: $(cat "$work/err")"
    says 'assumed: .*experts are whole on tensor ranks, as ms-swift has them since 3.9' NNODES
    says 'assumed: .*--megatron-extra-kwargs: what it states is not read' NNODES
    grep -q unknown "$work/err" && fail "ms-swift's own options: $(cat "$work/err")"
    python3 -c 'import json, sys
l = json.load(open(sys.argv[1]))["layout"]
assert (l["data"], l["tensor"], l["expert"], l["expert_tensor"]) == (8, 2, 8, 1), l' \
        "$work/job.json" || fail "NNODES, $more: another job"
done
"$plumbline" import megatron "$work/in.sh" --set RACK_SIZE=some --job "$work/job.json" \
    >"$work/out" 2>"$work/err" && fail "a number of nodes"
says 'NNODES: expected a number of nodes, found "some"' NNODES

# ---- bytes of gradients and of the optimizer's state, by the types that an optimizer is given
bytes_of() { # GRADIENT STATE OPTION ...
    wanted="$1 $2"; shift 2
    echo "pretrain_gpt.py $plain --global-batch-size 128 --bf16 --use-distributed-optimizer $*" \
        >"$work/types.txt"
    read_file "$work/types.txt" types || { fail "$*: $(cat "$work/err")"; return; }
    found=$(python3 -c 'import json, sys
j = json.load(open(sys.argv[1]))
print(j["gradient_bytes_per_value"], j.get("state_bytes_per_value", "-"))' "$work/types.job")
    [ "$found" = "$wanted" ] || fail "$*: $found, expected $wanted"
}
aware=--use-precision-aware-optimizer
bytes_of 4 - ''
bytes_of 4 10 $aware
bytes_of 4 6 $aware --exp-avg-dtype bf16 --exp-avg-sq-dtype bf16
bytes_of 2 6 $aware --exp-avg-dtype bf16 --exp-avg-sq-dtype bf16 --main-grads-dtype bf16
bytes_of 4 10 $aware --main-grads-dtype fp32
echo "pretrain_gpt.py $plain --global-batch-size 128 --bf16 $aware --main-grads-dtype bf16" \
    --accumulate-allreduce-grads-in-fp32 --use-distributed-optimizer >"$work/types.txt"
read_file "$work/types.txt" types && fail "gradients of two widths were read"
says 'expected one of them' "gradients of two widths"

[ $failures = 0 ] && echo "test_import_script: all as expected"
exit $((failures > 0))
