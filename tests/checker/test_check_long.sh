#!/bin/sh
# A long schedule, some 440,000 operations, is checked within the memory that check takes by
# default: what the graph of a layout needs for an operation shows here. The certificate is cut down
# to one path and a claim of 1 ns, so that nearly all is the graph's.
set -u
root=$(pwd)
case ${BIN:=bin} in /*) plumbline=$BIN/plumbline ;; *) plumbline=$root/$BIN/plumbline ;; esac
here=$root/build/test_check_long.$$
rm -rf "$here" && mkdir -p "$here" && cd "$here" || exit 1
trap 'cd "$root"; rm -rf "$here"' EXIT
die() { echo "FAILED: $*"; cat out err | sed 's/^/    /' | head -8; exit 1; }

"$plumbline" example gpt --model gpt2-xl --cluster a100-16x8 --gpus 16 --sequence 1024 \
    --pipeline 2 --micro-batch 1 \
    --global-batch 4800 --layouts degrees -o . > out 2> err || die "example"
sed -i -e 's/"tensor": 8/"tensor": 1/; s/"pipeline": 2/"pipeline": 16/' \
    -e 's/"all": \[.*\]/"all": ["data"]/' job.json
"$plumbline" solve problem.json -o plan.json --gap 0.3 --certificate proof.json > out 2> err ||
    die "solve"
grep -q '"1f1b"' job.json && grep -q '1 with a proof' out err ||
    die "one layout, 1f1b, with a proof was expected"

awk '/"paths": \[/ { print; getline; sub(/,$/, ""); print; skip = 1; next }
     skip && /^ *\],?$/ { skip = 0 }
     skip { next }
     /"rounds"/ {
         print "{\"rounds\": [{\"weights\": [[0, 1099511627776]]}], \"closed\": true}"
         next
     }
     { gsub(/"bound_ns": [0-9]+/, "\"bound_ns\": 1"); print }' proof.json > small.json
"$plumbline" check small.json problem.json > out 2> err || die "check, within the default"
grep -q 'no plan of any layout takes less than 1 ns' out || die "the claim of 1 ns"

# Halted for 5 s as soon as it takes SIGALRM (bit 13 of those it catches).
"$plumbline" check small.json problem.json > out 2> err &
until grep -qs '^SigCgt:.*[2367abef][0-9a-f][0-9a-f][0-9a-f]$' /proc/$!/status; do
    kill -0 $! 2> err || die "check without progress"
done
kill -STOP $! && sleep 5.2 && kill -CONT $! && wait $! || die "check, halted for 5 s"
grep -qx 'plumbline check: at work for *5 s' err || die "progress after 5 s"

"$plumbline" check small.json problem.json --memory-limit-mib 20 > out 2> err &&
    die "20 MiB should not suffice"
grep -q 'needs more memory than' err || die "check with 20 MiB: expected a refusal"
echo "a schedule of 16 stages, 4,800 micro-batches: checked in the default memory, with progress"
