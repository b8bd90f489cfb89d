#!/bin/sh
# A vision tower and a projector before a language model (LLaVA-1.5, arXiv 2304.08485 and
# 2310.03744): what is trained, and how many images a sequence brings, decides where the pipeline is
# cut.
# llava.sh FOLDER [IMAGES ...] MODEL (llava-1.5-7b, qwen2-vl-7b) on eight A100, four stages and
# two replicas, sequences of so many images and 448 tokens of text.
#                                    Lines of: what is trained (projector: LLaVA's first stage;
# language: its second; all), images, layers of the stages, layers
# that they recompute, the iteration's time, GB of the fullest GPU
# llava.sh FOLDER paper LLaVA's own settings, DeepSpeed's ZeRO over eight GPUs. Lines of:
# model, stage of its training, layers, recomputed, the iteration's
#                                    time, GB, hours of its 558,000 or 665,000 pairs
set -eu
plumbline=${PLUMBLINE:-plumbline} folder=$1
shift
mkdir -p "$folder"

# problem NAME IMAGES TRAINED OPTIONS ...: those of the example that it is made of
problem() {
    here=$folder/$1 images=$2 trained=$3
    shift 3
    "$plumbline" example gpt --memory-fraction 0.8 --nodes 1 --tensor 1 --schedule 1f1b "$@" \
        --force -o "$here" > "$here.log" 2>&1
    python3 - "$here" "$images" "$trained" << 'END2'
import json, sys
folder, images, trained = sys.argv[1], int(sys.argv[2]), sys.argv[3]
problem = json.load(open(folder + "/problem.json"))
model = json.load(open(folder + "/" + problem["model"]))
for run in model["runs"]:
    tower = run["name"] in ("patches", "vision")
    if "tokens" in run:
        run["pieces"] = images
    run["frozen"] = trained != "all" and (tower or (trained == "projector" and run["kind"] \
        != "projector"))
problem["model"] = "model.json"
job = json.load(open(folder + "/job.json"))
if job["trainer"] == "deepspeed":
    # Of transformers' own operations each is a kernel; FlashAttention-2.
    job.update(gradient_bytes_per_value=2, unfused=["norms", "rotary", "activation"], \
        attention_kernel="flash-attention-2")
json.dump(job, open(folder + "/job.json", "w"))
json.dump(model, open(folder + "/model.json", "w"))
json.dump(problem, open(folder + "/problem.json", "w"))
END2
    "$plumbline" solve "$here/problem.json" -o "$here/plan.json" \
        --certificate "$here/certificate.json" --quiet >> "$here.log" 2>&1
}

figures() { # of the plan in $here; PAIRS and BATCH: hours of so many pairs, so many an iteration
    python3 - "$here" "${1:-0}" "${2:-1}" << 'END2'
import json, sys
plan, pairs, batch = json.load(open(sys.argv[1] + "/plan.json")), int(sys.argv[2]), int(sys.argv[3])
seconds = plan["iteration_ns"] / 1e9
hours = ["%.2f" % (seconds * pairs / batch / 3600)] if pairs else []
modes = ["%d" % s["recomputed_layers"] if s["recompute"] == "first_layers" else s["recompute"] for \
    s in plan["stages"]]
print(",".join(str(s["layer_count"]) for s in plan["stages"]), ",".join(modes), "%.6f" % seconds,
      "%.1f" % max(s["memory"]["total_bytes"] / 1e9 for s in plan["stages"]), *hours)
END2
}

if [ "${1:-}" = paper ]; then
    # How long its texts are is not published: 64 tokens of a caption, 448 of a conversation here.
    for model in 7b 13b; do
        gpu=a100-80gb
        set -- --framework deepspeed --model llava-1.5-$model --pipeline 1
        problem $model.pretrain 1 projector "$@" --gpu $gpu --zero 2 --micro-batch 32 \
            --global-batch 256 --sequence 640
        echo "$model pretrain $(figures 558000 256)"
        [ $model = 13b ] || gpu=a100-40gb
        problem $model.finetune 1 language "$@" --gpu $gpu --zero 3 --micro-batch 16 \
            --global-batch 128 --sequence 1024
        echo "$model finetune $(figures 665000 128)"
    done
    exit
fi
model=${MODEL:-llava-1.5-7b} tokens=576
[ "$model" != qwen2-vl-7b ] || tokens=256
for images in ${*:-1 4 16}; do
    for trained in projector language all; do
        problem $trained.$images "$images" $trained --framework any --model "$model" \
            --gpu a100-80gb --pipeline 4 \
            --zero 1 --micro-batch 1 --global-batch 64 --sequence $((tokens * images + 448))
        echo "$trained $images $(figures)"
    done
done
