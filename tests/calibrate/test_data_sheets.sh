#!/bin/sh
# GPUs that are priced by their data sheets: the same sheet gives the other GPU's very times; half
# of every rate takes no less time, and up to twice as long; more power takes less time, and less
# than as much time less; better products take less, whatever the power; what is measured comes
# first; bad sheets are refused; and every GPU of the shipped sheets has a cluster and a price.
BIN=${BIN:-bin} work=build/test_data_sheets.$$ failed=0
mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
plumbline=$BIN/plumbline
wrong() { echo "data sheets: $*" >&2; failed=1; }

"$plumbline" example gpt --gpu h100-80gb --gpus 8 --model llama-3.1-8b --tensor 1 --pipeline 1 \
    --costs kernels -o "$work/base" >/dev/null 2>&1 || wrong "no base"

# with SHEET ...: the shipped costs with these data sheets, and h100's
with() {
    python3 - "$work/costs.json" "$@" <<'END'
import json, sys
shipped = json.load(open("data/costs/kernels.json"))
own = [s for s in shipped["data_sheets"] if s["gpu"] == "h100-80gb"]
shipped["data_sheets"] = own + [dict(own[0], **json.loads(s)) for s in sys.argv[2:]]
json.dump(shipped, open(sys.argv[1], "w"))
END
}
# refused WORDS SHEET ...
refused() {
    words=$1; shift; with "$@"
    "$plumbline" costs "$work/costs.json" >"$work/out" 2>&1; code=$?
    [ $code = 2 ] && grep -q "$words" "$work/out" || wrong "$words: $code: $(cat "$work/out")"
}

like='"like": "h100-80gb"'
with "{\"gpu\": \"twin\", $like}" "{\"gpu\": \"half\", $like, \"fp32\": 3.3e13, \"fp16\": 4.9e14,
    \"bf16\": 4.947e14, \"fp8\": 9.8e14, \"memory_bytes_per_s\": 1.675e12, \"processors\": 66}" \
    "{\"gpu\": \"weak\", $like, \"power_w\": 500}" \
    "{\"gpu\": \"strong\", $like, \"power_w\": 900}" \
    "{\"gpu\": \"products\", $like, \"power_w\": 500, \"best_product_flop_per_s\": 1.2e15}"
for gpu in h100-80gb twin half weak strong products; do
    sed "s/h100-80gb/$gpu/" "$work/base/cluster.json" >"$work/$gpu.json"
    "$plumbline" predict gpu=$gpu num_gpus=8 layers=32 hidden=4096 heads=32 ffn=14336 vocab=128256 \
        seq=4096 tp=2 micro_batch=1 global_batch=32 precision=bf16 \
        --costs "$work/costs.json" --cluster "$work/$gpu.json" >"$work/$gpu.txt" 2>&1 ||
        wrong "$gpu: $(cat "$work/$gpu.txt")"
    sed -n 's/^iteration_s *//p' "$work/$gpu.txt" >"$work/$gpu.s"
done
[ -s "$work/twin.s" ] && cmp -s "$work/h100-80gb.s" "$work/twin.s" ||
    wrong "the same sheet: $(cat "$work/h100-80gb.s" "$work/twin.s")"
awk '{ t[n++] = $1 } END { exit !(n == 2 && t[1] > 1.3 * t[0] && t[1] <= 2.02 * t[0]) }' \
    "$work/h100-80gb.s" "$work/half.s" ||
    wrong "half of every rate: $(cat "$work/h100-80gb.s" "$work/half.s")"

[ "$(cat "$work/strong.s" "$work/twin.s" "$work/weak.s" | sort -n | tr '\n' ' ')" = \
    "$(cat "$work/strong.s" "$work/twin.s" "$work/weak.s" | tr '\n' ' ')" ] &&
    awk '{ t[n++] = $1 } END { exit !(t[1] < t[0] * 9 / 7) }' "$work/strong.s" "$work/twin.s" ||
    wrong "power: $(cat "$work/strong.s" "$work/twin.s" "$work/weak.s")"
# twin's sheet says no best product, so power decides of `products`; with one on both, products do
cmp -s "$work/products.s" "$work/weak.s" || wrong "best product of one: $(cat "$work/products.s")"
python3 - "$work/costs.json" "$work/both.json" <<'END' || wrong "no best product on both"
import json, sys
costs = json.load(open(sys.argv[1]))
costs["data_sheets"][0]["best_product_flop_per_s"] = 8e14
json.dump(costs, open(sys.argv[2], "w"))
END
"$plumbline" predict gpu=products num_gpus=8 layers=32 hidden=4096 heads=32 ffn=14336 vocab=128256 \
    seq=4096 tp=2 micro_batch=1 global_batch=32 precision=bf16 --costs "$work/both.json" \
    --cluster "$work/products.json" >"$work/both.txt" 2>&1 || wrong "both: $(cat "$work/both.txt")"
sed -n 's/^iteration_s *//p' "$work/both.txt" | cat - "$work/twin.s" |
    awk '{ t[n++] = $1 } END { exit !(n == 2 && t[0] < t[1] && t[0] > t[1] / 1.5) }' ||
    wrong "best products: $(cat "$work/both.txt")"

refused 'expected one of the gpus\|expected a GPU with a data sheet' '{"gpu": "x", "like": "y"}'
refused 'appears twice' "{\"gpu\": \"x\", $like}" "{\"gpu\": \"x\", $like}"
refused 'not like' "{\"gpu\": \"x\", $like}" '{"gpu": "z", "like": "x"}'
refused 'memory_bytes_per_s' "{\"gpu\": \"x\", $like, \"memory_bytes_per_s\": 0}"

count=0
for gpu in $(sed -n 's/.*{"gpu": "\([^"]*\)".*/\1/p' data/costs/kernels.json); do
    count=$((count + 1))
    "$plumbline" example gpt --gpu "$gpu" --model gpt2-xl --gpus 4 --tensor 1 --pipeline 1 \
        --precision fp16 --costs kernels -o "$work/$gpu" >"$work/out" 2>&1 &&
        "$plumbline" price "$work/$gpu/problem.json" -o "$work/priced.json" >"$work/out" 2>&1 ||
        wrong "$gpu: $(cat "$work/out")"
    grep -q '"data_sheets"' "$work/$gpu/costs.json" || wrong "$gpu: sheets are lost"
done
[ $count -ge 18 ] || wrong "only $count shipped sheets"
exit $failed
