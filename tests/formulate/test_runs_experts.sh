#!/bin/sh
# Rows of runs whose layers are mixtures of experts: a model by its name is the model by its
# columns; what a row says twice must be the same.
name=test_runs_experts
. tests/script.sh

seconds() { "$plumbline" predict "$@" 2> err | sed -n 's/^iteration_s *//p'; }
same() { [ -n "$1" ] && [ "$1" = "$2" ] || complain "$3: expected '$1' and '$2' to be the same"; }
less() { awk "BEGIN { exit !($1 < $2) }" || complain "$3: expected $1 below $2"; }
refuses() {
    expected=$1; shift
    "$plumbline" predict "$@" 2>&1 | grep -q -- "$expected" ||
        complain "$*: expected '$expected', found '$("$plumbline" predict "$@" 2>&1 | tail -1)'"
}
run="gpu=H100 num_gpus=64 tp=2 pp=4 ep=8 etp=1 micro_batch=1 global_batch=256 seq=4096 sp=1
    precision=bf16 flash=te"
shape="layers=32 hidden=4096 heads=32 kv_heads=8 head_width=128 vocab=32000 positions=0 gated=1
    rms_norm=1 bias=0 dropout=0 tied=0"
moe="experts=8 top_k=2 expert_ffn=14336"

# ---- by name and by columns
named=$(seconds model=mixtral-8x7b $run)
same "$named" "$(seconds model=Mixtral_8x7B $run)" "case and signs between words"
same "$named" "$(seconds $shape ffn=14336 $moe $run | head -1)" "a name and its columns"
same "$named" "$(seconds model=mixtral-8x7b layers=32 experts=8 top_k=2 $run)" "said twice"
same "$(seconds model=mine $shape ffn=14336 $moe $run)" "$named" "a name that is only a label"
less "$named" "$(seconds model=mixtral-8x7b imbalance=2 $run)" "twice the tokens on one GPU"
same "$(seconds model=mixtral-8x7b imbalance=2 $run)" \
    "$(seconds $shape ffn=14336 $moe imbalance=2 $run)" "imbalance of a name and of columns"

# ---- dense layers first, latent attention, further tokens
v3="layers=61 hidden=7168 heads=128 head_width=192 vocab=129280 positions=0 gated=1 rms_norm=1
    bias=0 dropout=0 tied=0 ffn=18432 query_rank=1536 kv_rank=512 rotary_width=64 value_width=128
    experts=256 top_k=8 expert_ffn=2048 shared_ffn=2048 dense_layers=3"
run3="gpu=H100 num_gpus=128 pp=8 ep=16 micro_batch=1 global_batch=256 seq=4096 precision=bf16
    flash=te"
same "$(seconds model=DeepSeekV3 $run3)" "$(seconds $v3 $run3)" "deepseek-v3"
less "$(seconds model=DeepSeekV3 $run3)" "$(seconds model=deepseek-v3-mtp $run3)" "a further token"
less "$(seconds model=qwen3-8b gpu=H100 num_gpus=8 seq=4096)" 1e6 "a dense model by its name"

# ---- what a program does: only mixtures, and what is stated is not assumed
told() { "$plumbline" predict "$@" 2>&1 | grep '^assumed'; }
bridge="framework=megatron-bridge version=26.04 ep=8 pp=4 num_gpus=64 seq=4096"
told model=qwen3-30b-a3b gpu=GB200 $bridge | grep -q "graphs parts.*dispatcher hybridep" ||
    complain "a recipe of GB200"
told model=qwen3-30b-a3b gpu=GB200 $bridge | grep -q gated && complain "a model's gate is assumed"
old="gpu=H100 framework=megatron-bridge version=25.11 ep=8 num_gpus=64 seq=4096"
told model=mixtral-8x7b $old | grep -q "dispatcher all_to_all (unknown: " ||
    complain "a model that has no recipe"
told model=qwen3-30b-a3b $old | grep -q "dispatcher all_to_all, " || complain "a recipe of 25.11"
told model=qwen3-30b-a3b gpu=GB200 $bridge dispatcher=deepep graphs=none overlap_dispatch=0 |
    grep -q "dispatcher\|graphs" && complain "what is stated is assumed"
told model=qwen3-8b gpu=GB200 framework=megatron-bridge num_gpus=8 seq=4096 |
    grep -q "dispatcher [a-z]*ep\|graphs parts\|overlap_dispatch 1" && complain "a dense model"
less "$(seconds model=qwen3-30b-a3b gpu=GB200 $bridge)" \
    "$(seconds model=qwen3-30b-a3b gpu=GB200 $bridge dispatcher=all_to_all graphs=none)" "recipes"

# ---- what contradicts
refuses "layers 30: the model mixtral-8x7b has 32" model=mixtral-8x7b layers=30 $run
refuses "nearest: mixtral-8x7b" model=mixtral-8x7 $run
refuses "top_k not stated" $shape experts=8 $run
refuses "dense_layers 40: the model has 32" $shape $moe dense_layers=40 $run
refuses "imbalance" model=mixtral-8x7b imbalance=0.5 $run
refuses "without fixed_capacity" model=mixtral-8x7b expert_padding=0.5 $run
less "$(seconds model=mixtral-8x7b fixed_capacity=1 expert_padding=0.5 $run)" \
    "$(seconds model=mixtral-8x7b fixed_capacity=1 $run)" "a capacity that drops half of the rows"
refuses "expert" model=mixtral-8x7b gpu=H100 num_gpus=64 seq=4096 ep=7

# ---- modules that are recomputed, in any order
same "$(seconds model=DeepSeekV3 $run3 recompute=mla_up_proj+mlp)" \
    "$(seconds model=DeepSeekV3 $run3 recompute=mlp+mla_up_proj)" "modules in another order"
less "$(seconds model=DeepSeekV3 $run3 recompute=none)" \
    "$(seconds model=DeepSeekV3 $run3 recompute=moe)" \
    "recomputed experts"
refuses "expected one of none" model=DeepSeekV3 $run3 recompute=mla+mlp
ended
