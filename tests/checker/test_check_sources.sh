#!/bin/sh
# What a certificate is about, as plumbline check sees it: the very documents that the priced
# document was made from, and prices that are the judge's own. Every way to leave something of that
# on trust is refused: documents that were edited, listed under another role, twice, not at all or
# by another path; numbers of the priced document that are not the problem's.
name=test_check_sources
. tests/script.sh

hash_of() { sha256sum "$1" | cut -d' ' -f1; }

# A fresh copy of the honest files in try/.
fresh() { rm -rf try && cp -r honest try; }

# forge SCRIPT: edits the priced document, and the certificate names the edited one.
forge() {
    fresh
    before=$(hash_of try/priced.json)
    sed -i "$1" try/priced.json
    [ "$(hash_of try/priced.json)" != "$before" ] || complain "forge $1: nothing changed"
    sed -i "s/$before/$(hash_of try/priced.json)/" try/proof.json
}

# list_times N ROLE: the priced document lists the document of that role so many times.
list_times() {
    fresh
    awk -v times="$1" -v role="\"role\": \"$2\"" '
        index($0, role) {
            line = $0
            sub(/,?$/, ",", line)
            for (i = 0; i < times; i++) lines[++count] = line
            next
        }
        $0 == "  ]," && lines[count] ~ /sha256/ { sub(/,$/, "", lines[count]) }
        { if ($0 ~ /sha256/) sub(/,?$/, ","); lines[++count] = $0 }
        END { for (i = 1; i <= count; i++) print lines[i] }' honest/priced.json > try/priced.json
    sed -i "s/$(hash_of honest/priced.json)/$(hash_of try/priced.json)/" try/proof.json
}

"$plumbline" example chain --layers 8 --stages 3 --micro-batches 6 -o honest > out 2> err ||
    { complain "example"; exit 1; }
"$plumbline" solve honest/problem.json -o honest/plan.json --certificate honest/proof.json \
    --priced honest/priced.json > out 2> err || { complain "solve"; exit 1; }

fresh
answers 0 'confirmed .* all [0-9]* numbers' check try/proof.json try/problem.json
answers 0 'confirmed' check try/proof.json ./try/../try/problem.json
answers 0 'assumed    every price of' check try/proof.json
answers 0 'assumed    every price of' check try/proof.json try/priced.json

# A group that can hold no stage has prices that nobody compares, and the verdict says so.
mkdir partial && cp honest/model.json honest/job.json honest/problem.json partial
sed 's/"nodes": 2/"nodes": 3/' honest/cluster.json > partial/cluster.json
sed 's/"gpu": "type1", "tensor": 1/"gpu": "type1", "tensor": 2/' honest/costs.json \
    > partial/costs.json
"$plumbline" solve partial/problem.json -o partial/plan.json --certificate partial/proof.json \
    > out 2> err || complain "solve: a group without times of layers"
answers 0 'numbers of .* but the prices of groups that can hold no stage' check partial/proof.json \
    partial/problem.json
answers 0 'numbers of try/priced.json$' check try/proof.json try/problem.json

# ---- documents that are others now
for role in problem model cluster costs job; do
    fresh
    echo >> try/$role.json
    answers 1 "$role.json: its SHA-256 is .*($role)" check try/proof.json try/problem.json
    answers 0 'assumed' check try/proof.json                  # nothing is said of the problem then
done
fresh
sed -i 's/\("forward_s": [0-9.]*\)/\15/' try/costs.json
answers 1 'costs.json: its SHA-256' check try/proof.json try/problem.json
# Whatever path is listed: what the problem names counts.
mkdir try/old && cp honest/costs.json try/old/
sed -i 's#"path": "costs.json"#"path": "old/costs.json"#' try/priced.json
sed -i "s/$(hash_of honest/priced.json)/$(hash_of try/priced.json)/" try/proof.json
answers 1 'costs.json: its SHA-256' check try/proof.json try/problem.json
fresh
mv try/costs.json try/edited.json && echo >> try/edited.json && ln -s edited.json try/costs.json
answers 1 'costs.json: its SHA-256' check try/proof.json try/problem.json
fresh
sed -i 's/"costs": "costs.json"/"costs": "other.json"/' try/problem.json &&
    cp try/costs.json try/other.json
answers 1 'problem.json: its SHA-256' check try/proof.json try/problem.json
fresh
rm try/costs.json
answers 2 'costs.json' check try/proof.json try/problem.json
fresh
rm try/priced.json
answers 2 'priced.json' check try/proof.json try/problem.json

# ---- what is listed
for role in problem model cluster costs job; do
    list_times 0 $role
    answers 2 "names no document of role $role" check try/proof.json try/problem.json
    list_times 2 $role
    answers 2 "names two documents of role $role" check try/proof.json try/problem.json
    forge "s/\"role\": \"$role\"/\"role\": \"samples\"/"
    answers 2 "names no document of role $role" check try/proof.json try/problem.json
    forge "s/\(\"role\": \"$role\".*sha256\": \"\)[0-9a-f]\{8\}/\100000000/"
    answers 1 "$role.json: its SHA-256" check try/proof.json try/problem.json
done
forge 's/"role": "model"/"role": "?"/; s/"role": "costs"/"role": "model"/
    s/"role": "?"/"role": "costs"/'
answers 1 'its SHA-256' check try/proof.json try/problem.json
forge '/"made_from"/,/\],/d'
answers 2 'names no document of role problem' check try/proof.json try/problem.json
# The certificate may list them instead, or as well; then rightly.
listed=$(for role in problem model cluster costs job; do
    printf '{"role": "%s", "path": "%s.json", ' $role $role
    printf '"sha256": "%s"}, ' "$(hash_of honest/$role.json)"
done)
sed -i "s#\"made_from\": \[#&$listed#" try/proof.json
answers 0 'confirmed' check try/proof.json try/problem.json
fresh
listed='"role": "costs", "path": "costs.json", "sha256": "'"$(hash_of honest/job.json)"'"'
sed -i "s#\"made_from\": \[#&{$listed}, #" try/proof.json
answers 1 'costs.json: its SHA-256' check try/proof.json try/problem.json
fresh
sed -i '/"role": "priced"/d' try/proof.json
answers 2 'names no priced document' check try/proof.json try/problem.json
fresh
sed -i 's#"path": "priced.json"#"path": "plan.json"#' try/proof.json
answers 1 'plan.json: its SHA-256' check try/proof.json try/problem.json

# ---- numbers of the priced document (all of them: tests/checker/test_check_prices.c)
for script in 's/"stage_count": 3/"stage_count": 2/' 's/"micro_batches": 6/"micro_batches": 7/' \
    's/"slots": \([0-9]\)/"slots": 1\1/' \
    's/\("memory_limit_bytes": \)/\11/' 's/"name": "chain/"name": "brain/' \
    's/"barrier": true/"barrier": false/' \
    's/\("forward_ns": \[\)/\11/' \
    's/"excluded"/"excludes"/; s/\("gpu": .*,\)$/\1 "excluded": "for fun",/'; do
    forge "$script"
    "$plumbline" check try/proof.json try/problem.json > out 2> err
    [ $? -ne 0 ] || complain "forge $script: accepted"
done
forge 's/\("memory_limit_bytes": \)/\11/'
answers 1 'memory_limit_bytes is 1[0-9]*, by the problem it is' check try/proof.json \
    try/problem.json

# ---- problems that this certificate cannot be about
fresh
answers 2 'try/plan.json: ' check try/proof.json try/plan.json
answers 2 'try/job.json: kind' check try/proof.json try/job.json
"$plumbline" example gpt --model gpt2-xl --gpus 16 --tensor 2 --pipeline 2 --layouts degrees \
    --global-batch 32 --sequence 1024 -o space > out 2> err || complain "example gpt"
answers 2 'a space of layouts' check try/proof.json space/problem.json

ended
