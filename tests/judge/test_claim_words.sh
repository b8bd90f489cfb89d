#!/bin/sh
# What stands behind a bound, in the same words by every printer: certified after an audit alone,
# "proven, not yet audited" where a certificate can be written, "stated by solve, not audited" where
# none can or none is known, "taken over from FILE" where a file of an earlier search is believed.
name=test_claim_words
. tests/script.sh

proven='proven, not yet audited' stated='stated by solve, not audited'
hears() { cat out err | grep -q -- "$1" || complain "'$1' is not said"; }
hears_not() { cat out err | grep -qi -- "$1" && complain "says '$1'"; }
# printers PLAN WORDS: every printer of a plan, with the words and without a stronger one
printers() {
    for format in text html csv megatron; do
        gives 0 report "$1" --format $format
        hears "$2"
        hears_not certified
        [ "$2" = "$proven" ] || hears_not "proven"
    done
    for format in text html csv latex; do
        gives 0 compare "$1" "$1" --format $format
        hears "$2"
        hears_not certified
    done
    gives 0 verify "$1"
    hears "$2"
    hears_not certified
    grep -q "\"claim\": \"${2%% from *}\"" "$1" || complain "$1: its claim is not '$2'"
}

gives 0 example gpt --model llama-3.2-1b --gpu h100-80gb --nodes 1 --global-batch 64 --tensor 1 \
    --pipeline 4 -o one
gives 0 example gpt --model llama-3.2-3b --gpu h100-80gb --nodes 1 --global-batch 64 \
    --layouts degrees -o many

# ---- proven, then certified
answers 0 "$proven" solve one/problem.json -o plan.json --certificate proof.json
printers plan.json "$proven"
answers 0 "^certified: the plan takes" check proof.json one/problem.json -o checked.json
answers 0 ": certified by proof.json" verify plan.json --certificate proof.json -o verdict.json
hears_not "$proven"
for format in text html megatron; do
    answers 0 certified report plan.json --verdict verdict.json --format $format
    hears_not "$proven"
done
answers 0 ',certified' report plan.json checked.json --format csv
answers 0 ",\"$proven\"" report plan.json --format csv
answers 0 "$proven" solve many/problem.json -o best.json
answers 0 "$proven" report --layouts best.layouts.json

# ---- stated: for another objective there is no certificate, and the word is not to be had
python3 - << 'P'
import json
c = json.load(open('one/cluster.json'))
g = c['groups'][0]
g['nodes'], g['gpus_per_node'] = 4, 2
c['places'] = {'nodes': [{'name': 'n%d' % i, 'group': g['name']} for i in range(4)]}
import os, shutil
shutil.copytree('one', 'nodes')
json.dump(c, open('nodes/cluster.json', 'w'))
P
cp -r nodes load
sed -i 's/"adam": true,/"adam": true, "objective": "max_load",/' load/job.json
gives 0 solve load/problem.json -o load.json
hears "$stated"
printers load.json "$stated"
# Of this kind of problem there is none: the word is not to be had.
python3 - << 'P'
import json
n = 32
links = [[1.0] * n for i in range(n)]
json.dump({'gpus': ['n%d' % i for i in range(n)], 'bandwidth': links},
          open('matrix.json', 'w'))
P
gives 0 example pipette --matrix matrix.json --stages 2 -o rows
sed "s/\"claim\": \"$stated\"/\"claim\": \"$proven\"/" load.json > forged.json
answers 20 'claim: states "proven, not yet audited", but no certificate' verify forged.json \
    --problem rows/problem.json
for word in certified proven optimal ""; do
    sed "s/\"claim\": \"[^\"]*\"/\"claim\": \"$word\"/" plan.json > forged.json
    answers 2 claim verify forged.json
    answers 2 claim report forged.json
done
sed "s/\"claim\": \"$proven\"/\"claim\": \"taken over\"/" plan.json > forged.json
answers 2 taken_over verify forged.json

# ---- on named nodes: stated, until a certificate shows what can be certified
gives 0 solve nodes/problem.json -o nodes.json
hears "$stated"
printers nodes.json "$stated"
answers 0 "$stated" report nodes.json --format heatmap
"$plumbline" solve nodes/problem.json -o nodes.json --certificate nodes-proof.json > out 2> err
code=$? # 10 where less can be certified than is found
hears "$proven"
grep -q '"outcome": "optimal"' nodes.json && expected=0 || expected=10
[ $code = $expected ] || complain "exit code $code, the plan's outcome means $expected"
printers nodes.json "$proven"
answers 0 ": certified by" verify nodes.json --certificate nodes-proof.json

# ---- taken over: a layouts document with bounds that nothing proves
cp best.json forged.json
python3 - << 'P'
import json
l = json.load(open('best.layouts.json'))
l['value_runs'][::2] = [max(v, l['iteration_ns']) if v else v for v in l['value_runs'][::2]]
json.dump(l, open('forged.layouts.json', 'w'))
P
gives 0 solve many/problem.json -o resumed.json --resume forged.json
hears "taken over from forged.layouts.json, not audited"
hears_not proven
printers resumed.json "taken over from forged.layouts.json"
answers 0 "taken over from forged.layouts.json" report --layouts resumed.layouts.json
grep -q "\"sha256\": \"$(sha256sum < forged.layouts.json | cut -c1-64)\"" resumed.json ||
    complain "resumed.json: not the hash of what it was taken over from"
# A certificate proves again what was taken over; and what cheap bounds show is not taken over.
gives 0 solve many/problem.json -o resumed.json --resume forged.json --certificate again.json
tail -1 err | grep -q "$proven" || complain "the last word is not '$proven'"
grep -q "taken over" resumed.json resumed.layouts.json && complain "still taken over"
[ "$("$plumbline" solve one/problem.json --certificate again.json 2> /dev/null |
    grep -c plumbline.plan)" = 1 ] || complain "not one plan on standard output"
gives 0 solve many/problem.json -o resumed.json --resume forged.json --certificate again.json
answers 0 ": certified by" verify resumed.json --certificate again.json
gives 0 solve many/problem.json -o loose.json --gap 0.6
gives 0 solve many/problem.json -o resumed.json --gap 0.6 --resume loose.json
if grep -q '"claim": "taken over"' resumed.json; then hears "taken over from loose.layouts.json"
else hears "$proven"; fi
gives 0 solve one/problem.json -o resumed.json --resume plan.json
if grep -q '"claim": "taken over"' resumed.json; then hears "taken over from plan.json"
else hears "$proven"; fi

# ---- without a plan; what if; which machine
cp -r one none
sed -i 's/"memory_fraction": [0-9.]*/"memory_fraction": 0.001/' none/job.json
answers 11 "infeasible ($proven)" solve none/problem.json -o none.json
answers 0 "infeasible ($proven)" report none.json
gives 0 solve nodes/problem.json --degrade n0=0.5
hears "bound .* ($stated)"
gives 0 offers --model llama-3.2-1b --offer h100-80gb:1:2.5 --offer a100-80gb:1:99 --tokens 1e9 \
    --global-batch 64 --gap 0.5 -o hire
hears "no better ($proven)"
hears "below; $proven)"
grep -q "\"$proven\"" hire/offers.csv || complain "offers.csv: $(cat hire/offers.csv)"

ended
