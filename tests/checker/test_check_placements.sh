#!/bin/sh
# Certificates about placements on files: solve writes one, check and verify audit it with the
# problem and with nothing less, and every document is the one that it was made from. What no
# certificate is about is refused by name.
name=test_check_placements
. tests/script.sh

hash_of() { sha256sum "$1" | cut -d' ' -f1; }
number() { sed -n "s/.*\"$2\": \([0-9]*\).*/\1/p" "$1" | head -1; }

# Six nodes, every direction of every link of its own.
awk 'BEGIN {
    print "{\"kind\": \"plumbline.cluster\", \"version\": 1, \"name\": \"six\", \"groups\": ["
    print " {\"name\": \"a\", \"gpu\": \"a100-80gb\", \"nodes\": 6, \"gpus_per_node\": 8,"
    print "  \"memory_bytes\": 80000000000,"
    print "  \"intra\": {\"bytes_per_s\": 3e11, \"latency_s\": 3.4e-6}, \"nics\": []}],"
    print " \"places\": {\"nodes\": ["
    for (i = 0; i < 6; i++)
        printf "{\"name\": \"n%d\", \"group\": \"a\"}%s\n", i, i < 5 ? "," : "], \"links\": ["
    for (i = 0; i < 36; i++) if (int(i / 6) != i % 6) {
        printf "{\"from\": \"n%d\", \"to\": \"n%d\", ", i / 6, i % 6
        printf "\"link\": {\"bytes_per_s\": %d00000000, \"latency_s\": 1e-5}}%s\n",
            5 + i * 7 % 11, i < 34 ? "," : ""
    }
    print "]}}" }' > six.json
answers 0 problem.json example gpt --cluster six.json --model gpt2-xl --tensor 1 --pipeline 3 \
    --data 2 --micro-batch 1 --global-batch 12 --sequence 1024 -o honest
answers 0 'certificate: by' solve honest/problem.json -o honest/plan.json \
    --certificate honest/proof.json --quiet --gap 0.02

answers 0 "no plan on the nodes takes less than $(number honest/plan.json bound_ns) ns" check \
    honest/proof.json honest/problem.json
answers 0 'least price of every link' check honest/proof.json ./honest/../honest/problem.json
answers 0 'certified by honest/proof.json' verify honest/plan.json --certificate honest/proof.json
answers 0 'OF ALL PLACEMENTS' check honest/proof.json honest/problem.json --statement -
grep -q "$(hash_of honest/cluster.json)" out ||
    complain "statement: the cluster's hash is not there"
answers 2 'requires its problem as second operand' check honest/proof.json
answers 2 'about placements' check honest/proof.json honest/problem.json -o checked.json
answers 1 'work limit' check honest/proof.json honest/problem.json --work-limit 100
answers 2 '--shrink-certificate: expected a cluster without places' solve honest/problem.json \
    -o no.json --certificate no-proof.json --shrink-certificate
[ ! -e no-proof.json ] || complain "a certificate of what was refused"

# ---- documents that are others now
for role in problem model cluster costs job; do
    rm -rf try && cp -r honest try && echo >> try/$role.json
    answers 1 "$role.json: its SHA-256 is .*($role)" check try/proof.json try/problem.json
done
rm -rf try && cp -r honest try
sed -i 's/[1-9]\(00000000\)/8\1/' try/cluster.json
answers 1 'cluster.json: its SHA-256' check try/proof.json try/problem.json

# ---- claims
rm -rf try && cp -r honest try
sed -i "s/\"bound_ns\": [0-9]*/\"bound_ns\": $(($(number honest/plan.json iteration_ns) + 1))/" \
    try/proof.json
answers 1 'not certified: boxes' check try/proof.json try/problem.json
answers 20 'is not certified' verify try/plan.json --certificate try/proof.json

# ---- another problem's: without places, for another objective, of a space
rm -rf try && cp -r honest try
sed -i '/"places"/,$d' try/cluster.json && sed -i '$s/,$//' try/cluster.json &&
    echo '}' >> try/cluster.json
answers 2 'expected a cluster with places' check try/proof.json try/problem.json
rm -rf try && cp -r honest try
sed -i 's/"adam": true,/"adam": true, "objective": "max_load",/' try/job.json
answers 1 'job.json: its SHA-256' check try/proof.json try/problem.json
answers 0 '^optimal: max_load' solve try/problem.json -o try/plan.json --quiet \
    --certificate try/load.json
load=$(number try/plan.json objective_ns)
answers 0 "no plan on the nodes has a greatest load (max_load) of less than $load ns" \
    check try/load.json try/problem.json --statement try/proven.txt
grep -q "has a greatest load (max_load, .* of less than $load ns" try/proven.txt ||
    complain "the statement says another load"
answers 0 "max_load $load ns, .*certified by try/load.json" verify try/plan.json \
    --certificate try/load.json
rm -rf try && cp -r honest try
space='"space": {"pipeline": [2, 3], "fewer_devices": true}'
sed -i 's/"adam": true,/"adam": true, '"$space,/" try/job.json
answers 2 'expected a certificate of all of them' check try/proof.json try/problem.json
answers 0 '^optimal' solve try/problem.json -o try/plan.json --quiet --certificate try/space.json
bound=$(number try/plan.json bound_ns)
answers 0 "^certified: no plan of any layout takes less than $bound ns" \
    check try/space.json try/problem.json --statement try/proven.txt
grep -q "No plan of any layout takes less than $bound ns" try/proven.txt ||
    complain "the statement says another bound"
grep -q "Not proven by machine: swapping, the order of the space" try/proven.txt ||
    complain "the statement does not say what a machine has proven"
answers 0 'certified by try/space.json' verify try/plan.json --certificate try/space.json
sed "s/\"bound_ns\": $bound/\"bound_ns\": $((bound + 1))/" try/space.json > try/higher.json
answers 1 'not certified: layout [0-9]*: ' check try/higher.json try/problem.json
echo '{"kind": "plumbline.certificate", "version": 1, "made_from": [],
    "space": {"layouts": 1, "fates": "p1", "dominated": [], "proofs": [], "bound_ns": 9}}' \
        > try/space.json
answers 2 'made_from: names no document of role' check try/space.json try/problem.json

# ---- a proof about groups says nothing of nodes
"$plumbline" price honest/problem.json -o honest/priced.json > out 2> err
priced='"role": "priced", "path": "priced.json", "sha256": "'"$(hash_of honest/priced.json)"'"'
echo '{"kind": "plumbline.certificate", "version": 1, "made_from": [{'"$priced"'}],
    "proof": {"bound_ns": 0, "paths": [], "boxes": [{"rounds": [], "closed": true}]}}' \
        > honest/groups.json
answers 2 'expected a certificate about placements' check honest/groups.json honest/problem.json
answers 2 'expected a certificate about' check honest/groups.json honest/priced.json
answers 2 'expected a certificate about' check honest/groups.json

ended
