#!/bin/sh
# Megatron's recompute modules: what each frees against numbers worked out here from the model's
# widths, laws of sets (bytes and times add up, more is never less), a plan that recomputes by sets
# is verified and certified, and its flags come back by import as the same sets.
BIN=${BIN:-bin} work=build/test_modules.$$ failed=0
mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
plumbline=$BIN/plumbline

wrong() { echo "modules: $*" >&2; failed=1; }
command -v python3 >/dev/null || { echo "skipped: python3 is not there"; exit 0; }

"$plumbline" example gpt --model deepseek-v2-lite --gpu h100-80gb --nodes 2 --sequence 4096 \
    --global-batch 64 --framework megatron --tensor 1 --pipeline 4 --data 4 -o "$work/p" \
    >"$work/log" 2>&1 || wrong "example: $(cat "$work/log")"
cat >"$work/offer.py" <<'END'
import json, sys
job = json.load(open(sys.argv[1]))
job["recompute"] = ["none", "full"] + sys.argv[3].split()
job["recompute_modules"] = sys.argv[2].split()
job["memory_fraction"] = float(sys.argv[4])
job["trainer"] = sys.argv[5]
json.dump(job, open(sys.argv[1], "w"))
END
offer() { python3 "$work/offer.py" "$work/p/job.json" "$@"; }

offer "core_attn mla_up_proj moe_act layernorm mlp moe" "" 0.5 megatron
"$plumbline" price "$work/p/problem.json" -o "$work/priced.json" 2>"$work/log" ||
    wrong "price: $(cat "$work/log")"
cat >"$work/laws.py" <<'END'
import itertools, json, sys
priced = json.load(open(sys.argv[1]))
config = json.load(open(sys.argv[2]))
sets = [m.split("+") for m in priced["recompute"] if m not in ("none", "selective", "full")]
assert len(sets) == 47, len(sets)
n, e = 4096, 2
runs = {r["name"]: r for r in priced["runs"] if r["recomputable"]}
experts = [r for r in config["runs"] if r["kind"] == "moe"][0]
def numbers(run, names):
    if not names: return run["stash_bytes"][0], 0, run["working_bytes"][0]
    k = sets.index(names)
    return run["stash_bytes"][3 + k], run["module_sets_ns"][k][0], run["working_bytes"][3 + k]
s = config["shape"]
heads, head, value, turned, latent = 16, 192, 128, 64, 512
for name, run in runs.items():
    moe = name == experts["name"]
    freed = {m: run["stash_bytes"][0] - numbers(run, [m])[0]
             for m in ("core_attn", "mla_up_proj", "moe_act", "layernorm", "mlp", "moe")}
    assert freed["core_attn"] == 0, freed  # fused attention
    assert freed["mla_up_proj"] == e * n * heads * (2 * head + value), freed
    assert freed["layernorm"] == 2 * e * n * 2048, freed
    routed, wide, shared = 6 * n, 1408, 2 * 1408
    assert freed["moe_act"] == (e * routed * wide if moe else 0), freed
    assert freed["mlp"] == (0 if moe else 3 * e * n * 10944), freed
    assert freed["moe"] == (3 * e * n * shared + e * routed * (2 * 2048 + 3 * wide)
                            + 8 * n * (64 + 6) if moe else 0), freed
    for names in sets:
        stash, ns, working = numbers(run, names)
        assert stash == run["stash_bytes"][0] - sum(freed[m] for m in names), names
        assert abs(ns - sum(numbers(run, [m])[1] for m in names)) <= len(names), names
        assert working == run["working_bytes"][0] + max(freed[m] for m in names), names
        assert run["stash_bytes"][2] <= stash and ns <= run["full_ns"][0], names
    # The two products up, of the FLOP of all; a layer's forward pass is the bound of each module.
    assert 0 < numbers(run, ["mla_up_proj"])[1] < run["forward_ns"][0] / 4
END
python3 "$work/laws.py" "$work/priced.json" "$work/p/model.json" || wrong "laws"

"$plumbline" solve "$work/p/problem.json" --gap 0 --quiet -o "$work/p/plan.json" \
    --certificate "$work/proof.json" 2>"$work/log" || wrong "solve: $(cat "$work/log")"
"$plumbline" verify "$work/p/plan.json" >"$work/log" 2>&1 || wrong "verify: $(cat "$work/log")"
"$plumbline" check "$work/proof.json" "$work/p/problem.json" >"$work/log" 2>&1 ||
    wrong "check: $(cat "$work/log")"
grep -q '"recompute": "[a-z_]*+[a-z_+]*"' "$work/p/plan.json" || wrong "no stage recomputes a set"

# One set is offered: flags state it for all stages, and import reads it.
offer "" "mla_up_proj+moe_act+layernorm" 0.9 megatron
sed 's/"none", "full"/"none"/' "$work/p/job.json" >"$work/job" && cp "$work/job" "$work/p/job.json"
rm -f "$work/p/plan.json"
cat >"$work/rule.py" <<'END'
import json, sys
job = json.load(open(sys.argv[1]))
job["rules"] = [{"action": "require", "recompute": ["mla_up_proj+moe_act+layernorm"]}]
json.dump(job, open(sys.argv[1], "w"))
END
python3 "$work/rule.py" "$work/p/job.json"
"$plumbline" solve "$work/p/problem.json" --quiet -o "$work/p/plan.json" 2>"$work/log" ||
    wrong "one set: $(cat "$work/log")"
for format in megatron nemo; do
    file=$work/$format.$([ $format = nemo ] && echo yaml || echo sh)
    "$plumbline" report --format $format "$work/p/plan.json" -o "$file" 2>"$work/log" ||
        wrong "$format: $(cat "$work/log")"
    grep -q 'recompute.modules.*mla_up_proj' "$file" || wrong "$format: no modules"
    "$plumbline" import $format "$file" --gpus 16 --vocabulary 102400 -o "$work/model.json" \
        --job "$work/$format.json" >"$work/log" 2>&1 || wrong "import $format: $(cat "$work/log")"
    grep -q 'mla_up_proj+moe_act+layernorm' "$work/$format.json" ||
        wrong "import $format: $(grep -A3 recompute "$work/$format.json")"
done

# Refused in one line: modules that do not exist, and another trainer.
refused() {
    words=$1; shift
    offer "$@"
    "$plumbline" price "$work/p/problem.json" -o "$work/none" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] && [ "$(wc -l <"$work/err")" -eq 1 ] && grep -q -- "$words" "$work/err" ||
        wrong "$words: $(cat "$work/err")"
}
refused "mla_up_proj" "mla_up_prj" "" 0.5 megatron
refused "trainer megatron" "mlp" "" 0.5 torchtitan
exit $failed
