#!/bin/bash
# One setting of recomputation for all stages: no setting's best plan takes less than that of stages
# that choose for themselves; a space of a framework with one setting has the best of them, by a
# certificate; the judge and the checker refuse a plan in which one stage differs.
name=test_settings
. tests/script.sh

time_of() { sed -n 's/^  "iteration_ns": \([0-9]*\),.*/\1/p' "$1"; }

machine="--gpu h100-80gb --nodes 4 --sequence 8192 --global-batch 64 --pipeline 4 --framework any"
for degrees in "llama-3.1-70b --tensor 4 --data 2" \
    "llama-3.1-8b --tensor 2 --data 4 --micro-batch 2"; do
    answers 0 "" example gpt --model $degrees $machine --zero 1 --force -o p
    answers 0 "optimal" solve p/problem.json --gap 0 -o each.json
    each=$(time_of each.json) best=
    cp p/job.json job.json
    for setting in none selective full; do
        sed "s|\"local_loss_every\": 0|&, \"recompute\": \"$setting\"|" job.json > p/job.json
        "$plumbline" solve p/problem.json --quiet --gap 0 --certificate p/c.json -o p/one.json \
            2> err
        code=$?
        [ $code = 11 ] && continue # no room for it
        [ $code = 0 ] || complain "$degrees, $setting: $code"
        answers 0 "certified" check p/c.json p/problem.json
        [ "$(time_of p/one.json)" -ge "$each" ] || complain "$degrees: $setting below each"
        [ -n "$best" ] && [ "$best" -le "$(time_of p/one.json)" ] || best=$(time_of p/one.json)
        other=full
        [ $setting = full ] && other=none
        sed "0,/\"first_layer\"/! s|\"recompute\": \"$setting\"|\"recompute\": \"$other\"|" \
            p/one.json > p/forged.json
        answers 20 "the layout's setting for all stages is '$setting'" verify p/forged.json
        sed "0,/\"recompute\": \"$setting\"/ s||\"recompute\": \"$other\"|" p/c.json > p/false.json
        cmp -s p/c.json p/false.json || answers 1 "" check p/false.json p/problem.json
    done
    sed 's|"recompute": \["none", |"space": {"recompute": ["none", "selective", "full"]}, &|' \
        job.json > p/job.json
    answers 0 "optimal" solve p/problem.json --gap 0 --certificate p/c.json -o p/all.json
    [ "$(time_of p/all.json)" = "$best" ] || complain "$degrees: a space misses $best"
    answers 0 "certified" check p/c.json p/problem.json
done
ended
