#!/bin/sh
# What a framework runs is what search, judge and checker of proofs take: a plan of each one's
# space, proven over all of it; plans and certificates of the whole space are refused where a
# framework is named, and settings it lacks with a line that says so.
name=test_frameworks
. tests/script.sh

example="example gpt --model gpt2-xl --cluster a100-16x8 --gpus 8 --global-batch 16 --sequence 1024"

for framework in any megatron torchtitan deepspeed nemo torchtitan-0.2 axonn; do
    case $framework in
    torchtitan*) it=$(echo "$example" | sed s/gpt2-xl/llama-3.1-8b/) ;;
    *) it=$example ;;
    esac
    answers 0 "" $it --layouts all --framework $framework -o $framework
    [ $framework = any ] &&
        sed -i \
        's/"all": \[.*\]/"all": ["tensor", "pipeline", "data", "schedule", "virtual_stages"]/' \
        any/job.json
    answers 0 "optimal\|within the gap" solve $framework/problem.json -o $framework.json \
        --gap 0.01 --threads 1 --certificate $framework.proof.json
    answers 0 "no plan of any layout takes less" check $framework.proof.json $framework/problem.json
    answers 0 accepted verify $framework.json
    answers 0 "" report --layouts $framework.layouts.json --top 0
    case $framework in
    any) [ "$(grep -c 'zb-h1\|v-half' out)" -gt 10 ] ||
        complain "any: no zb-h1 among the layouts" ;;
    *) grep -q "layouts of the space for $framework" out || complain "$framework is not named" ;;
    esac
done
# The shipped default; documents without the key mean any.
answers 0 "" $example --layouts all -o default
cmp -s default/job.json megatron/job.json || complain "the default is another than megatron"
grep -q '"framework": "megatron"' megatron/job.json || complain "megatron is not written"
grep -q framework any/job.json && complain "any is written"

# ---- a plan and a proof of the whole space, where Megatron is to run it
frame() { sed 's/"fewer_devices": false/"fewer_devices": false, "framework": "megatron"/' "$1"; }
answers 0 "" $example --tensor 1 --pipeline 4 --schedule zb-h1 --layouts degrees --framework any \
    -o zb
sed -i 's/"all": \[.*\]/"all": ["data"]/' zb/job.json
answers 0 optimal solve zb/problem.json -o zb.json --quiet
cp -r any framed && frame any/job.json > framed/job.json
grep -q megatron framed/job.json || complain "no framework to put in"
answers 20 "layout: the plan's layout is not in the job's space" verify zb.json \
    --problem framed/problem.json
frame zb/job.json > job.json && mv job.json zb/job.json
none='megatron runs no layout of the space with pipeline 4 and schedule zb-h1 (.*), but some with'
answers 2 "zb/job.json: space.framework: $none" solve zb/problem.json -o no.json
answers 1 "" check any.proof.json framed/problem.json
# The certificate says that it is about those bytes: the space is walked all the same.
for file in framed/job.json framed/problem.json; do sha256sum $file any/${file#framed/}; done > sums
sed "$(awk 'NR % 2 { new = $1; next } { printf "s/%s/%s/;", $1, new }' sums)" any.proof.json \
    > forged.json
answers 1 "layouts\|stated as" check forged.json framed/problem.json

# ---- fused attention, where a framework has it for the GPU, the precision and the model
attention() { # FRAMEWORK GPU PRECISION MODEL WHAT: what is said, or nothing
    answers 0 "" example gpt --model "$4" --gpu "$2" --nodes 2 --precision "$3" --layouts all \
        --framework "$1" -o fused --force
    [ "$(sed -n 's/.*(it needs \(.*\))$/\1/p' err)" = "$5" ] || complain "$*: $(cat err)"
    grep -q "\"fused_attention\": $([ "$5" ] && echo false || echo true)" fused/job.json ||
        complain "$*: the job's attention"
}
attention megatron v100-32gb fp16 gpt2-xl "compute capability 8.0"
attention nemo a100-80gb fp32 llama-3.1-8b "16 bits"
attention megatron a100-80gb bf16 gpt2-xl ""
attention deepspeed v100-32gb fp32 gpt2-xl ""
attention torchtitan v100-32gb fp32 llama-3.1-8b ""
attention torchtitan-0.2 v100-32gb fp32 llama-3.1-8b "16 bits"
attention torchtitan-0.2 v100-32gb fp32 deepseek-v2-lite ""
attention torchtitan-0.2 a100-80gb bf16 qwen3-8b ""
answers 0 "" example gpt --model qwen3-8b --gpu h100-80gb --nodes 2 --sequence 8192 --tensor 2 \
    --context 4 --layouts all --framework torchtitan -o keys
sed -i 's/"all": \[.*\]/"all": ["data", "zero"]/' keys/job.json
grep -q '"context_kind": "all_gather"' keys/job.json || complain "torchtitan gathers no keys"
answers 0 "" solve keys/problem.json --quiet -o keys.json --certificate keys.proof.json
answers 0 accepted verify keys.json
answers 0 "no plan of any layout takes less" check keys.proof.json keys/problem.json
sed -i 's/"context_kind": "all_gather"/"context_kind": "ring"/' keys/job.json
answers 2 "torchtitan runs no layout of the space" solve keys/problem.json -o no.json

# ---- names and settings
known='any, megatron, torchtitan, deepspeed, nemo, torchtitan-0.2, axonn'
answers 2 "expected one of $known, found 'megatorn'" $example \
    --layouts all --framework megatorn -o no
answers 2 "the space's framework megatron does not compress" $example --layouts all \
    --boundary-rank 4 -o no
answers 0 "" $example --layouts all --framework any --boundary-rank 4 -o compressed
sed 's/"recompute": \["none", "full"\]/"recompute": ["none", "selective"]/' deepspeed/job.json \
    > job.json && mv job.json deepspeed/job.json
answers 2 "deepspeed can do, found selective" solve deepspeed/problem.json -o no.json
sed -i 's/"framework": "deepspeed"/"framework": "deepsped"/' deepspeed/job.json
answers 2 "job.json: space.framework: expected one of" solve deepspeed/problem.json -o no.json

# ---- interleaved stages whose number does not divide the layers: 12 of 34
wound="example gpt --model llama-3.1-8b --gpu h100-80gb --nodes 1 --tensor 2 --data 1 --context 1 \
    --pipeline 4 --schedule interleaved --global-batch 16 --quiet"
answers 0 "" $wound --layouts all -o even
answers 0 "" $wound --layouts all --uneven-stages -o uneven
answers 0 "" $wound --virtual-stages 3 -o twelve
answers 0 \
    "megatron, interleaved stages in numbers that divide the layers (--uneven-stages: in any): " \
    solve even/problem.json -o even.json --certificate even.proof.json
answers 0 "megatron, interleaved stages in any number: " solve uneven/problem.json -o uneven.json \
    --certificate uneven.proof.json
answers 0 "" solve twelve/problem.json -o twelve.json
answers 0 "no plan of any layout takes less" check uneven.proof.json uneven/problem.json
answers 2 \
    "space, whose interleaved stages are of numbers that divide the layers (space.uneven_stages," \
    solve even/problem.json --known twelve.json -o no.json
answers 0 "its layout has a plan of" solve uneven/problem.json --known twelve.json -o known.json
wide=${wound#example gpt}
wide=${wide% --quiet}
# plan starts from the plan of equal stages, where there is one.
answers 0 "--known both/equal/plan.json -o both/plan.json" plan $wide \
    --uneven-stages -o both
answers 0 "--time-limit-s 45 -o sole/plan.json" plan $wide \
    --uneven-stages --virtual-stages 3 -o sole
# DeepSpeed has no interleaved stages: there is one space, and one search.
answers 0 "" plan --model gpt2-xl --gpu h100-80gb --gpus 8 --for deepspeed --uneven-stages -o deep
[ -e deep/equal ] && complain "plan --for deepspeed searches twice"
python3 - << 'END' || complain "not the best of both"
import json
ns = lambda name: json.load(open(name + ".json"))["iteration_ns"]
assert ns("uneven") <= min(ns("even"), ns("twelve")), (ns("uneven"), ns("even"), ns("twelve"))
assert ns("known") <= ns("twelve"), (ns("known"), ns("twelve"))
assert ns("both/plan") <= ns("both/equal/plan"), (ns("both/plan"), ns("both/equal/plan"))
END
# Without the key, or with it where none was searched, there is no proof, whatever a file says it is
# of.
for pair in "uneven even" "even uneven"; do
    set -- $pair
    for file in job.json problem.json; do
        sha256sum $1/$file $2/$file
    done | awk 'NR % 2 { was = $1; next } { printf "s/%s/%s/;", was, $1 }' > names.sed
    sed -f names.sed $1.proof.json > forged.json
    answers 1 "not certified" check forged.json $2/problem.json
done

# ---- one layout: solve chooses what all of its stages recompute, and the launch file says it
for framework in torchtitan nemo deepspeed; do
    answers 0 "" example gpt --model llama-3.1-8b --gpu h100-80gb --nodes 2 --tensor 1 --data 2 \
        --pipeline 8 --micro-batch 4 --costs kernels --framework $framework --sequence 4096 \
        --global-batch 256 -o one-$framework
    answers 0 "layouts of the space for $framework" solve one-$framework/problem.json -o one.json
    [ "$(grep -c '"recompute": "[a-z_]*"' one.json)" -gt 8 ] || complain "$framework: no setting"
    answers 0 "" report one.json --format $framework -o one.$framework
    answers 0 "" predict one-$framework/problem.json
done

# ---- what a GPU has: FlashAttention on no V100
answers 0 "attention keeps its scores: megatron has no fused attention in fp16 for v100-32gb" \
    example mixed --layouts degrees -o mixed
grep -q '"fused_attention": false' mixed/job.json || complain "mixed: fused attention on V100"
sed -i 's/"fused_attention": false/"fused_attention": true/' mixed/job.json
answers 2 "mixed/job.json: layout.fused_attention: expected false, as megatron has no fused" \
    solve mixed/problem.json -o no.json
# A group without the precision holds no stage, so what it has not is no matter.
answers 0 "(--precision; --without v100=4: not these nodes)" example gpt --model llama-2-13b \
    --cluster mixed-a100-v100 --precision bf16 --layouts degrees -o mixed3
grep -q '"fused_attention": true' mixed3/job.json || complain "mixed: A100 keeps scores in bf16"
grep -q "keeps its scores" "$here/err" && complain "mixed: scores of GPUs without a stage"
answers 0 "" example mixed --framework deepspeed -o mixed2
grep -q '"fused_attention": true' mixed2/job.json || complain "mixed: PyTorch's own runs on V100"

answers 2 "precision: expected bf16 or fp32, as the space's framework torchtitan has no other" \
    example gpt --model llama-3.1-8b --gpu v100-32gb --precision fp16 --layouts all \
    --framework torchtitan -o no
answers 2 "gradient_bytes_per_value: expected 4, as the space's framework torchtitan has no other" \
    example gpt --model llama-3.1-8b --gpu h100-80gb --gradient-bytes 2 --layouts all \
    --framework torchtitan -o no

# DeepSpeed sums gradients of 4 bytes beside 16-bit weights only in shards: no plan without them.
answers 2 "layout.zero: expected 1 to 3, as the space's framework deepspeed sums gradients of 4" \
    example gpt --model gpt2-xl --gpu h100-80gb --gpus 1 --gradient-bytes 4 --layouts all \
    --zero 0 --framework deepspeed -o no
answers 0 "" plan --model gpt2-xl --gpu h100-80gb --gpus 1 --gradient-bytes 4 --global-batch 8 \
    --for deepspeed -o wide
grep -q '"grad_accum_dtype": "fp32"' wide/launch/deepspeed.json || complain "deepspeed: narrow sums"
sed -i 's/"zero": \[1, 2, 3\]/"zero": [0, 1]/' wide/job.json
answers 2 "space.zero: expected 1 to 3, .* next to weights in bf16 .* found 0" \
    solve wide/problem.json -o no.json

# ---- models: what a framework cannot express is named, and what can
refused() { # FRAMEWORK MODEL WORDS
    answers 2 "$2.json: $1 cannot express this model: $3" example gpt --model $2 --layouts all \
        --framework $1 -o no
}
refused megatron gemma-2-27b "4 norms in a layer, a gated feed-forward part with gelu_pytorch_tanh"
refused nemo gemma-2-27b "4 norms in a layer; expected torchtitan, deepspeed, axonn, or any"
refused nemo llama-4-scout "attention within chunks"
refused nemo kimi-linear-48b-a3b "linear attention whose decays"
refused torchtitan gpt3-175b "dropout, which its flexible attention has not (\"dropout\": false in"
refused torchtitan opt-66b "dropout, which its flexible attention has not"
refused nemo opt-66b "learned positions that are more or fewer than a sequence's tokens"
refused torchtitan bloom-176b "it has none like it, a feed-forward part that is not gated by silu"
refused torchtitan qwen3-next-80b-a3b "it has none like it, experts unlike its flavors', "
refused torchtitan-0.2 phi-4 "it has none like it; expected megatron, torchtitan, deepspeed"
refused axonn qwen3-30b-a3b "mixtures of experts; expected megatron, torchtitan, deepspeed, nemo,"
refused axonn deepseek-v3 "mixtures of experts; expected"
refused axonn nemotron-h-8b "linear attention; expected megatron, deepspeed, or any"
refused torchtitan-0.2 deepseek-v3-mtp "multi-token prediction layers; expected megatron"
# Chunks count where a sequence is longer; Qwen3's positions, which biases bring along, are not
# scaled as Llama 3's.
for framework in megatron nemo; do
    answers 2 "$framework cannot express this model: chunks of attention shorter than the seq" \
        example gpt --model llama-4-maverick --sequence 16384 --layouts all \
        --framework $framework -o no
    answers 0 "" example gpt --model llama-4-maverick --sequence 8192 --layouts all \
        --framework $framework -o maverick-$framework
done
answers 2 "megatron cannot express this model: chunks of attention shorter than the seq" \
    example gpt --model llama-4-scout --sequence 16384 --layouts all --framework megatron -o no
# Norms behind a layer are in a file of its own, which repeats none.
answers 0 "" example gpt --model olmo-3-7b --layouts all --framework megatron -o olmo
sed -i 's/"none", "selective"/"none", "layernorm", "selective"/' olmo/job.json
answers 2 "repeated norms (recompute: layernorm) that stand behind" solve olmo/problem.json -o no
# The reason of most layouts is told where none has a plan.
answers 11 "says why, of most: shape.kv_heads: expected a multiple" plan --model phi-4 \
    --gpu h100-80gb --gpus 32 --tensor 4 --time-limit-s 60 -o none
scaled='"rotary_factor": 8, "rotary_scaling": {"type": "llama3"}'
sed "s/\"rotary_base\": 1000000/&, $scaled/" "$root"/data/models/*/qwen2.5-7b.json > own.json
answers 2 "it has none like it, positions scaled as Llama 3's in attention unlike" example gpt \
    --model own.json --layouts all --framework torchtitan -o no
# What layers of whole norms do beside is known of shipped models alone.
sed 's/"heads": 32/"heads": 16/; s/"kv_heads": 32/"kv_heads": 16/' \
    "$root"/data/models/*/olmo-3-7b.json > own.json
answers 2 "it has none like it, norms over all heads of queries and keys" example gpt \
    --model own.json --layouts all --framework torchtitan -o no
for model in qwen2.5-7b glm-4.5 glm-4.5-air phi-3-mini olmo-3-7b minimax-m2 gemma-2-9b \
    gemma-3-27b llama-4-scout llama-4-maverick starcoder2-15b mpt-7b mpt-30b falcon-40b \
    gpt-neox-20b gpt-j-6b phi-2; do
    answers 0 "" example gpt --model $model --layouts all --framework torchtitan -o $model
done
# GPT-2's layers in any dimensions, where they drop nothing out.
sed 's/"dropout": true/"dropout": false/; s/"heads": 96/"heads": 48/
    s/"kv_heads": 96/"kv_heads": 48/; s/"head_width": 128/"head_width": 256/
    s/"count": 96/"count": 20/' \
    "$root"/data/models/*/gpt3-175b.json > own.json
answers 0 "" example gpt --model own.json --layouts all --framework torchtitan -o gpt
for model in qwen3-next-80b-a3b mistral-7b; do
    answers 0 "" example gpt --model $model --layouts all -o $model
done
answers 0 "" example gpt --model qwen3-30b-a3b --layouts all --framework torchtitan -o titan
for framework in megatron nemo; do
    answers 0 "" example gpt --model gemma-3-27b --layouts all --framework $framework \
        -o gemma3-$framework
done
answers 0 "" example gpt --model gemma-2-9b --layouts degrees --framework any -o gemma
frame gemma/job.json > job.json && mv job.json gemma/job.json
sed -i 's/, "swap"//' gemma/job.json
answers 2 "megatron cannot express this model: 4 norms" solve gemma/problem.json -o no.json

ended
