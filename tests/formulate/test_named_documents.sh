#!/bin/sh
# problem.json: model, cluster and costs may be shipped names. The plan is that of the files; a file
# beside the problem comes first; an unknown name is answered with the nearest.
BIN=${BIN:-bin} work=build/test_named_documents.$$ failed=0
mkdir -p "$work/a" "$work/b" && trap 'rm -rf "$work"' EXIT
plumbline=$BIN/plumbline

wrong() { echo "named documents: $*" >&2; failed=1; }
problem() {
    cat >"$work/$1/problem.json" <<END
{"kind": "plumbline.problem", "version": 1, "name": "x", "model": "$2", "cluster": "$3",
 "costs": "$4", "job": "job.json"}
END
}
solve() { "$plumbline" solve "$work/$1/problem.json" --gap 0.2 --quiet -o "$work/$1/plan.json" \
    2>"$work/err"; }

"$plumbline" example gpt --model llama-3.1-8b --cluster h100-128x8 --costs kernels --tensor 2 \
    --pipeline 4 --data 128 --zero 1 --global-batch 1024 --sequence 4096 -o "$work/a" >/dev/null \
    2>&1 || wrong "example"
cp "$work/a/job.json" "$work/b"
problem b llama-3.1-8b h100-128x8 kernels
solve a && solve b || wrong "$(cat "$work/err")"
time_of() { grep -m1 '"iteration_ns"' "$work/$1/plan.json"; }
[ "$(time_of a)" = "$(time_of b)" ] || wrong "another plan by names: $(time_of a), $(time_of b)"
"$plumbline" verify "$work/b/plan.json" >"$work/out" 2>&1 || wrong "verify: $(cat "$work/out")"

problem b llama-3.1-8b h100-128x8 h100-dgx
solve b; [ $? -eq 2 ] || wrong "not refused"
[ "$(wc -l <"$work/err")" -eq 1 ] && grep \
    -q 'problem.json: costs: h100-dgx: .*the nearest is "h100-dgxc"' "$work/err" ||
    wrong "$(cat "$work/err")"
echo '{}' >"$work/b/kernels"
problem b llama-3.1-8b h100-128x8 kernels
solve b; grep -q 'b/kernels: key "kind" is missing\|b/kernels:' "$work/err" ||
    wrong "the file beside the problem does not come first: $(cat "$work/err")"
rm "$work/b/kernels"
echo '{"model_type": "qwen2", "vocab_size": 100}' >"$work/b/config.json"
problem b config.json h100-128x8 kernels
solve b; grep -q 'b/config.json: key "kind" is missing; plumbline import hf makes' "$work/err" ||
    wrong "a config.json is not told from a document: $(cat "$work/err")"
rm "$work/b/config.json"
problem b llama-3.1-8b h100-128x8 kernels.json
solve b; grep -q 'b/kernels.json: cannot be read' "$work/err" ||
    wrong "a path is taken for a name: $(cat "$work/err")"
[ $failed -eq 0 ] && echo "named documents: all as expected"
exit $failed
