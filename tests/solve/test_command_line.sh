#!/bin/sh
# bin/plumbline as a user drives it: exit codes, one line on stderr that names the file (and the
# place in it) where the input is bad, nothing on stdout then, and no file half-written or changed.
# What the commands compute is other tests' concern; here it is that they say so, stop when told,
# and agree with the judge.
name=test_command_line
. tests/script.sh
vipr_check=${LOGS:=build/release/tests}/vipr_check
case $LOGS in /*) ;; *) vipr_check=$root/$vipr_check ;; esac
documents=$root/tests/documents

# vipr_gives CODE FILE: what the tests' reader of VIPR finds of a file.
vipr_gives() {
    "$vipr_check" "$2" > "$here/out" 2> "$here/err"
    code=$?
    [ $code = "$1" ] || complain "vipr_check $2: expected exit code $1, found $code"
}

# What lies in the folder, outputs of this script aside, by name and content.
contents() { find . -type f ! -name out ! -name err ! -name before -exec cksum {} + | sort; }

# refuses TEXT ARGUMENT ...: bad input; the one line has TEXT in it, and no file has come, gone or
# changed.
refuses() {
    text=$1; shift
    contents > before
    gives 2 "$@"
    [ "$(wc -l < err)" = 1 ] || complain "plumbline $*: expected one line on stderr"
    grep -qF -- "$text" err || complain "plumbline $*: '$text' is not in what it says"
    [ ! -s out ] || complain "plumbline $*: something on stdout"
    contents | cmp -s - before || complain "plumbline $*: files changed"
}

says() { grep -q -- "$1" "$2" || complain "'$1' is not in $2"; }

without_effort() { grep -v '"effort"' "$1"; }

# ---- predictions
{ printf 'id,gpu,layers,hidden,seq,pp,colour\na,A100,24,1024,1024,2,red\n'
  printf '"b, too",TPU,24,1024,1024,2,red\n'; } > rows.csv
printf 'id,gpu,layers\na,A100\n' > short.csv
printf 'id,tp\na,two\n' > word.csv
gives 0 predict rows.csv
[ "$(wc -l < out)" = 3 ] || complain "predict: expected a header and two rows"
says '^"b, too",,*no cluster has a GPU like .TPU. (nearest: t4-16gb)$' out
says "columns not read: colour" err
gives 0 predict rows.csv --json
[ "$(grep -c '{"id": ' out)" = 2 ] || complain "predict --json: expected two objects"
printf "GPUs,gpu,layers,hidden,seq,tensr\n,A100,24,1024,1024,2\n" > n.csv && gives 0 predict n.csv
says "not read: GPUs (the nearest is num_gpus), tensr (the nearest is tp)" err
refuses "short.csv: line 2: expected 3 cells, found 2" predict short.csv
refuses "there is no column colour; the nearest is " predict gpu=A100 colour=red
refuses "there is no column tensr; the nearest is tp" predict gpu=A100 tensr=4
printf 'id,gpu,layers,hidden,seq,num_gpus\na,A100,4,1024,128,eight\nb,A100,4,1024,128,8\n' > odd.csv
gives 0 predict odd.csv
says '^a,.*column num_gpus: expected a whole number from 1 to 16777216, found .eight.' out
says '^b,0' out
gives 2 validate odd.csv
grep -qi nan out && complain "validate: nan"
head -1 odd.csv > header.csv
refuses "header.csv: expected rows after the header, found none" predict header.csv
refuses "header.csv: expected rows after the header, found none" validate header.csv
refuses "seq not stated" predict gpu=A100
refuses "missing.csv" predict missing.csv
refuses "--set: expected a number of the costs, found 'speed'" predict rows.csv --set speed=2
gives 2 predict word.csv
says "column tp: expected a whole number" out
printf 'id,gpu,layers,hidden,seq,dp,metric,value,unit\n' > runs.csv
for i in 1 2 3 4 5 6 7 8; do
    echo "$i,A100,$((8 * i)),1024,1024,$i,iteration_time,0.$i,s"; done >> runs.csv
gives 0 validate runs.csv
says "^runs  *iteration_time  *8 " out
gives 0 validate runs.csv --json
says '"kendall_tau": ' out
gives 0 validate runs.csv --fit gemm --folds 2 --list
[ "$(wc -l < out)" = 9 ] || complain "validate --list: expected a header and eight rows"
refuses "--fit: requires --folds or --fit-rows" validate runs.csv --fit gemm
refuses "--folds: requires --fit" validate runs.csv --folds 5
refuses "there is no column colour" validate runs.csv --rows colour=red
refuses "--fit is missing" calibrate --iterations runs.csv
gives 0 calibrate --iterations runs.csv --fit gemm -o fitted.json
says '"role": "runs", "path": "runs.csv"' fitted.json
gives 0 validate runs.csv --costs ./fitted.json
gives 0 validate --help; gives 0 calibrate --iterations --help
rm -f near.csv rows.csv short.csv word.csv runs.csv fitted.json

# ---- words and numbers of the command line
gives 2
[ ! -s out ] || complain "usage of a wrong call on stdout"
gives 0 --help; gives 0 --version; gives 0 help; gives 0 help solve
refuses "'foo'" foo
refuses "unknown command 'sovle', did you mean solve?" sovle
refuses "unknown option '--time-limit', did you mean --time-limit-s?" solve x --time-limit 3
refuses "unknown option '--gpa=1', did you mean --gap?" solve x --gpa=1
refuses "unknown option '--sequnce', the nearest is --set;" explain x --sequnce 4
gives 0 solve -h
gives 0 -h
gives 0 --version --json
gives 0 -V; gives 0 version; gives 0 help import hf
says '^usage: plumbline import hf' out
refuses "expected --json or nothing" --version --jsn
refuses "unknown format 'hff', did you mean hf?" help import hff
refuses "a kind is missing" example
refuses "'cube'" example cube -o x
refuses "unknown measurement 'x'" measure x
refuses "'--bogus'" measure compute --bogus
refuses "--budget-s" measure compute --budget-s nan
refuses "--cluster-out: requires --cluster" calibrate samples.json --cluster-out c.json
for command in calibrate import price formulate solve verify report; do
    gives 0 $command --help
    case $command in report) missing="expected a PLAN, or --layouts FILE" ;;
    import | verify) missing=" is missing" ;; *) missing="missing operand" ;; esac
    refuses "$missing" $command
    refuses "unknown option '--bogus'" $command --bogus
    [ $command = calibrate ] || refuses "unexpected operand" $command hf b c
    case $command in import) format=hf ;; *) format= ;; esac
    refuses "-o: expected a value" $command $format x -o
done 2> /dev/null
for value in 65 -1 1.5 x '' 99999999999999999999; do refuses "--threads: expected a whole number" \
    solve x --threads "$value"; done
for value in -1e-9 2 nan inf x ''; do refuses "--gap: expected a number" \
    solve x --gap "$value"; done
refuses "--engine: expected one of" solve x --engine quick
refuses "--format: expected one of" report x --format pdf
refuses "--quiet takes no value" solve x --quiet=1
refuses "--map" solve x --map y
refuses "--alternatives" solve x --alternatives 2
refuses "--layers" example chain --layers 0 -o x

# ---- an example to work on; it replaces nothing unless told
gives 0 example chain --layers 8 --stages 3 --micro-batches 6 -o small
says small/problem.json out
# the same again is no change
gives 0 example chain --layers 8 --stages 3 --micro-batches 6 -o small
refuses "small/" example chain --layers 9 --stages 3 -o small
gives 0 example chain --layers 9 --stages 3 --micro-batches 6 -o small --force
gives 0 solve small/problem.json -o small/plan.json
gives 0 verify small/plan.json
gives 0 price small/problem.json -o small/priced.json
# folders of documents
gives 0 solve small -o small/plan.json; gives 0 verify small/; gives 0 report small
gives 0 price small; gives 0 formulate small
refuses 'kind: expected "plumbline.certificate", found "plumbline.plan"' check small/plan.json

# ---- bad documents, to each command that reads one
long=$(printf '%0400d' 0 | tr 0 9)
deep=$(printf '%0200d' 0 | tr 0 '[')
mkdir bad
spoil() {   # KIND SOURCE: bad/KIND-*.json out of a good document
    bytes=$(wc -c < "$2")
    head -c $((bytes / 2)) "$2" > "bad/$1-truncated.json"
    : > "bad/$1-empty.json"
    printf '\000\377\376' > "bad/$1-binary.json"
    sed 's/"kind": "plumbline\.[a-z]*"/"kind": "plumbline.recipe"/' "$2" > "bad/$1-kind.json"
    sed 's/"version": 1/"version": 2/' "$2" > "bad/$1-version.json"
    for fault in "unknown_key:1" "version:1" "x:NaN" "x:$long" "x:1e999" "x:$deep"; do
        key=${fault%%:*}; value=${fault#*:}
        name=$key-$(printf %.4s "$value" | tr '[' d)
        sed "s/\"version\": 1/\"version\": 1, \"$key\": $value/" "$2" > "bad/$1-$name.json"
    done
    (cat "$2"; echo '{}') > "bad/$1-tail.json"
}
spoil problem small/problem.json
spoil plan small/plan.json
spoil samples "$documents/samples.json"
spoil model small/model.json; spoil cluster small/cluster.json; spoil costs small/costs.json
spoil job small/job.json
read_by() { case $1 in problem) echo "solve price formulate" ;; plan) echo "verify report" ;;
    samples) echo calibrate ;; esac; }
mkdir empty
for kind in problem plan samples; do
    for command in $(read_by $kind); do
        refuses "nothere.json: cannot be read" $command nothere.json
        case $kind in samples) refused="empty: expected a file, found a directory" ;;
        *) refused="empty/$kind.json: cannot be read" ;; esac
        refuses "$refused" $command empty
        # good, and of the wrong kind
        refuses "small/model.json" $command small/model.json
        for file in bad/$kind-*.json; do refuses "$file: " $command "$file"; done
    done
done
for file in bad/plan-truncated.json bad/plan-kind.json nothere.json; do refuses "$file: " solve \
    small/problem.json --start "$file" -o new.json; done
refuses "empty/plan.json: cannot be read" solve small/problem.json --start empty -o new.json
for file in bad/problem-truncated.json nothere.json; do refuses "$file: " verify small/plan.json \
    --problem "$file"; done
cp -r small inner
for kind in model cluster costs job; do         # one file further in
    for file in bad/$kind-*.json; do
        cp "$file" inner/$kind.json
        refuses "inner/$kind.json: " price inner/problem.json -o new.json
    done
    rm inner/$kind.json
    refuses "inner/$kind.json: cannot be read" solve inner/problem.json -o new.json
    cp small/$kind.json inner/$kind.json
done
sed 's/"memory_fraction": [0-9.]*/"memory_fraction": 1.5/' small/job.json > inner/job.json
refuses "inner/job.json: memory_fraction: " solve inner/problem.json -o new.json
# ---- places that cannot be written, root's own included; what was there stays
echo kept > kept.json
solves="solve small/problem.json"
measures="measure compute --quiet --shape hidden=64,heads=2,vocabulary=64,positions=64
    --sequence 64 --budget-s=0.1"
for place in nodir/x.json small /proc/x.json /dev/full; do
    for command in "$solves" "$solves -o new.json --priced" "$solves -o new.json --program" \
        "verify small/plan.json" "report small/plan.json" "price small/problem.json" \
        "formulate small/problem.json --map" "import hf $documents/config.json" "$measures"; do
        case $command in *--program | *--priced | *--map) to= ;; *) to=-o ;; esac
        case "$place $command" in /dev/full\ *--program | "/dev/full solve"*.json | \
            "/dev/full measure"*) continue ;; esac
        refuses "$place: cannot be written" $command $to $place
    done
done
refuses "nodir/x.mps: cannot be written" formulate small/problem.json -o nodir/x.mps
refuses "cannot be created" example chain -o /proc/x/y
refuses "kept.json" example chain -o kept.json
for command in --help --version "measure --help" "example --help" "solve --help" "$solves" \
    "verify small/plan.json" "report small/plan.json" "report --format trace small/plan.json" \
    "formulate small/problem.json" "price small/problem.json" "import hf $documents/config.json"; do
    "$plumbline" $command > /dev/full 2> err
    [ $? = 2 ] || complain "plumbline $command > /dev/full: expected exit code 2"
done
# Files may have a block: the same, in words, and not by a signal.
"$plumbline" solve small/problem.json -o limited-plan.json --certificate limited-proof.json \
    2> /dev/null
for command in "$solves -o limited/x" "$solves -o limited/x --certificate limited/y" \
    "price small/problem.json -o limited/x" "formulate small/problem.json -o limited/x.mps" \
    "report small/plan.json --format html -o limited/x" \
    "check limited-proof.json --statement limited/x" \
    "vipr limited-proof.json -o limited/x.vipr" "example gpt --layouts all -o limited/x" \
    "plan --model gpt2-xl --gpu a100-80gb --nodes 1 -o limited/x" "price small/problem.json"; do
    mkdir -p limited
    (ulimit -f 1; exec "$plumbline" $command > limited-out 2> err)
    [ $? = 2 ] || complain "plumbline $command, files of a block: expected exit code 2: $(cat err)"
    grep -q 'cannot be written' err || complain "plumbline $command, files of a block: $(cat err)"
    [ "$(find limited -type f)" = "" ] ||
        complain "plumbline $command, files of a block: left is $(find limited -type f)"
    rm -rf limited
done
[ "$(find . -name '*.tmp-*')" = "" ] ||
    complain "temporary files are left: $(find . -name '*.tmp-*')"

# ---- solve: open, infeasible, no plan, told to stop
gives 0 example chain --layers 126 --stages 32 --types 4 --micro-batches 64 -o hard
accepts() {     # a plan whose gap is open: bound <= iteration, and the judge agrees
    [ "$(number "$1" bound_ns)" -le "$(number "$1" iteration_ns)" ] ||
        complain "$1: bound above the iteration"
    [ "$(number "$1" iteration_ns)" -gt 0 ] || complain "$1: no iteration time"
    gives 0 verify "$1"
}
# The limit ends it. How long a first plan takes is the machine's affair: before, there is none
# (12).
for limit_s in 1 4 16 64; do
    "$plumbline" solve hard/problem.json -o hard/plan.json --time-limit-s $limit_s > out 2> err
    code=$?
    [ $code = 12 ] || break
done
[ $code = 10 ] || complain "a limit of $limit_s s: expected exit code 10, found $code"
says '"outcome": "open"' hard/plan.json
accepts hard/plan.json
# No time at all: what the search met before it looked at the clock, if anything.
"$plumbline" solve hard/problem.json -o hard/none.json --time-limit-s 1e-9 > out 2> err
case $? in
12) says '"outcome": "no_plan"' hard/none.json
    says '"reason"' hard/none.json
    gives 20 verify hard/none.json ;;
10) says '"outcome": "open"' hard/none.json
    accepts hard/none.json ;;
*) complain "no time: expected exit code 10 or 12" ;;
esac
gives 0 report hard/none.json
cp -r small tight
sed 's/"memory_bytes": [0-9]*/"memory_bytes": 1000000/' small/cluster.json > tight/cluster.json
gives 11 solve tight/problem.json -o tight/plan.json
says memory err
[ "$(wc -l < err)" = 1 ] || complain "infeasible: expected one line"
says '"outcome": "infeasible"' tight/plan.json
says '"reason": ".*memory' tight/plan.json
says memory tight/plan.json

# A process of this script's own, its workers found by their parent, where they are waited for. A
# signal before there is a plan (12), or before anybody listens (above 128), is given again later.
stop_with() {   # SIGNAL FOLDER at-once|with-workers [OPTION ...]
    signal=$1 folder=$2 when=$3
    shift 3
    for wait_s in 0.5 1 2 4 8 16 32 64; do
        "$plumbline" solve $folder/problem.json -o $folder/$signal.json --threads 2 "$@" \
            > out 2> err &
        solving=$!
        sleep $wait_s
        workers=$(ps -o pid= --ppid $solving 2> /dev/null)
        while [ $when = with-workers ] && [ -z "$workers" ] && command -v ps > /dev/null &&
              kill -0 $solving 2> /dev/null; do
            sleep 0.1
            workers=$(ps -o pid= --ppid $solving)
        done
        kill -$signal $solving
        wait $solving
        code=$?
        [ $code = 12 ] || [ $code -gt 128 ] || break
    done
    [ $code = 10 ] || complain "SIG$signal: expected exit code 10, found $code"
    accepts $folder/$signal.json
    for worker in $workers; do ! kill -0 "$worker" 2> /dev/null ||
        complain "SIG$signal: worker $worker is still there"; done
}
gives 0 example mixed -o mixed
stop_with INT hard at-once     # while its incumbent is sought and choices are ruled out
stop_with TERM mixed with-workers --alternatives 1000   # in the midst of the tree
[ -n "$workers" ] || ! command -v ps > /dev/null || complain "no worker was seen"

# Workers without room to work: the plan comes all the same, from the parent.
for limit in 1 30; do
    gives 0 solve small/problem.json -o small/limited.json --memory-limit-mib $limit
    gives 0 verify small/limited.json
    [ "$(number small/limited.json iteration_ns)" = "$(number small/plan.json iteration_ns)" ] ||
        complain "another optimum under a memory limit"
    "$plumbline" solve hard/problem.json -o hard/limited.json --memory-limit-mib $limit \
        --time-limit-s 2 > out 2> err
    code=$?
    [ $code = 10 ] || [ $code = 12 ] ||
        complain "--memory-limit-mib $limit: expected exit code 10 or 12, found $code"
done

# ---- the same plan for any number of threads, and twice; other ways to it agree
for run in "one --threads 1" "two --threads 2" "again --threads 2 --seed 0"; do
    set -- $run; name=$1; shift
    gives 0 solve mixed/problem.json -o mixed/$name.json "$@"
    without_effort mixed/$name.json > mixed/$name.text
done
for name in two again; do cmp -s mixed/one.text mixed/$name.text ||
    complain "plan $name differs from plan one"; done
[ "$(wc -l < mixed/one.text)" -lt "$(wc -l < mixed/one.json)" ] ||
    complain "the effort's line was not found"
optimum=$(number mixed/one.json iteration_ns)
gives 0 solve mixed/problem.json -o mixed/started.json --start mixed/one.json
[ "$(number mixed/started.json iteration_ns)" = "$optimum" ] || complain "--start: another optimum"
gives 0 solve mixed/problem.json -o mixed/checked.json --recheck
gives 0 solve mixed/problem.json -o mixed/kept.json --priced mixed/priced.json \
    --program mixed/program.mps --map mixed/map.json
for file in priced.json program.mps map.json; do [ -s mixed/$file ] ||
    complain "mixed/$file was not written"; done
says '"role": "priced"' mixed/kept.json
gives 0 verify mixed/kept.json
gives 0 solve small/problem.json --quiet
[ ! -s err ] || says "optimal" err
cmp -s out /dev/null && complain "solve: no plan on standard output"

gives 0 solve mixed/problem.json -o mixed/best.json --alternatives 3
before_ns=0
for file in mixed/best.json mixed/best-2.json mixed/best-3.json; do
    gives 0 verify $file
    [ "$(number $file iteration_ns)" -ge $before_ns ] || complain "$file: not in ascending order"
    before_ns=$(number $file iteration_ns)
done
[ "$(number mixed/best.json iteration_ns)" = "$optimum" ] ||
    complain "--alternatives: the first is not the best"
different=$(for file in mixed/best*.json; do sed -n '/"stages"/,$p' $file | grep -v '"effort"' |
    cksum; done | sort -u | wc -l)
[ "$different" = 3 ] || complain "--alternatives: $different distinct plans of 3"

gives 0 solve small/problem.json -o small/glpk.json --engine glpk --certificate small/glpk.cert
gives 0 verify small/glpk.json --certificate small/glpk.cert
refuses "--engine: expected one of tree, glpk" solve small/problem.json --engine intopt
[ "$(number small/glpk.json iteration_ns)" = "$(number small/plan.json iteration_ns)" ] ||
    complain "--engine glpk: another optimum"
for command in solve formulate; do
    refuses "unknown option '--formulation'" $command small/problem.json --formulation choices
done

# ---- verify: what was changed is named
time_ns=$(number small/plan.json iteration_ns)
sed "s/\"iteration_ns\": $time_ns/\"iteration_ns\": $((time_ns - 1))/" small/plan.json \
    > small/edited.json
gives 20 verify small/edited.json
says rejected out
send_ns=$(sed -n 's/.*"forward_ns": \([0-9]*\),.*/\1/p' small/plan.json | head -1)
sed "0,/\"forward_ns\": $send_ns/s//\"forward_ns\": $((send_ns + 1))/" small/plan.json \
    > small/edited.json
gives 20 verify small/edited.json -o small/verdict.json
says '"accepted": false' small/verdict.json
sed 's/"bound_ns": [0-9]*/"bound_ns": 9007199254740000/' small/plan.json > small/edited.json
gives 20 verify small/edited.json
cp -r small moved
gives 0 verify moved/plan.json
echo >> moved/cluster.json
gives 20 verify moved/plan.json
says moved/cluster.json out
rm moved/job.json
gives 2 verify moved/plan.json
says moved/job.json err

# ---- report, import, formulate
for format in text trace megatron html; do
    gives 0 report --format $format mixed/one.json
    [ -s out ] || complain "report --format $format: nothing"
    cp out reported
    gives 0 report --format $format mixed/one.json -o reported.$format
    cmp -s reported reported.$format ||
        complain "report --format $format: file and standard output differ"
done
says traceEvents reported.trace
says '--pipeline-model-parallel-size' reported.megatron
# A job with a space: the plan's layout, the fates of all layouts.
gives 0 example gpt --model gpt2-xl --gpus 16 --layouts degrees \
    --global-batch 32 --sequence 1024 -o space
gives 0 solve space/problem.json -o space/plan.json --layouts space/layouts.json \
    --quiet --gap 0.05 --certificate space/certificate.json
gives 0 check space/certificate.json space/problem.json
says 'no plan of any layout takes less' out
gives 0 check space/certificate.json space/problem.json --statement space/proven.txt
says 'No plan of any layout takes less than' space/proven.txt
says "$(sha256sum space/job.json | cut -d' ' -f1)" space/proven.txt
rm space/proven.txt
refuses "space of layouts" check space/certificate.json
sed 's/"global_batch": 32/"global_batch": 64/' space/job.json > job.json &&
    mv space/job.json job.old && mv job.json space/job.json
gives 1 check space/certificate.json space/problem.json
says 'job.json: its SHA-256' out
mv job.old space/job.json
gives 0 verify space/plan.json
says '"kind": "plumbline.layouts"' space/layouts.json
for layouts in space/layouts.json "$documents/layouts.json"; do
    gives 0 report --layouts $layouts
    [ -s out ] || complain "report --layouts $layouts: nothing"
    gives 0 report --layouts $layouts --format csv
    [ "$(wc -l < out)" = $(($(number $layouts count) + 1)) ] ||
        complain "report --layouts $layouts: expected a header and a row a layout"
done
refuses "--layouts" report --top 3 space/plan.json
refuses "--format" report --layouts space/layouts.json --format trace
refuses "plumbline.layouts" report --layouts space/plan.json
gives 0 import hf "$documents/config.json" -o model.json
says '"kind": "plumbline.model"' model.json
printf '{"gpus": ["a", "b"], "bandwidth": [[9, 1], [2, 9]]}' > matrix.json
gives 0 import matrix matrix.json --like a100-16x8 -o matrix.cluster.json
says '"kind": "plumbline.cluster"' matrix.cluster.json
printf '{"gpus": ["a", "b"], "bandwidth": [[9, 0], [2, 9]]}' > matrix.json
refuses "\"b\" to \"a\"" import matrix matrix.json --like a100-16x8 -o new.json
printf '[{"ph": "X", "cat": "user_annotation", "name": "r", "pid": 1, "tid": 1, "ts": 0,
    "dur": 5}]' > trace.json
gives 0 import trace trace.json
"$plumbline" import trace - < trace.json 2> err | cmp -s - out ||
    complain "import trace: standard input and file differ"
gzip -c trace.json > trace.json.gz
refuses "gunzip -c" import trace trace.json.gz
refuses "unknown format 'onnx': expected one of hf" import onnx "$documents/config.json"
refuses "nothere.json" import hf nothere.json -o new.json
sed 's/"model_type": "[a-z0-9_]*"/"model_type": "xlstm"/' "$documents/config.json" > config.json
refuses "config.json: " import hf config.json -o new.json
says xlstm err
head -c 40 "$documents/config.json" > config.json
refuses "config.json: " import hf config.json -o new.json
gives 0 formulate small/problem.json -o program.mps --map map.json
gives 0 formulate small/problem.json -o program.lp
says ENDATA program.mps
refuses "program.txt" formulate small/problem.json -o program.txt
refuses "program.txt" solve small/problem.json -o never.json --program program.txt

# Proofs: of the priced document that the certificate names, or of the one given.
cp "$documents/certificate.json" "$documents/priced.json" .
gives 0 check certificate.json
says "no plan takes less" out
says "assumed" out
# made from a problem with them, it says
refuses "has places" check certificate.json "$documents/priced.json"
# here that problem is not there
gives 0 check certificate.json priced.json
gives 1 check certificate.json --work-limit 10
says "not certified: .*work limit" out
sed 's/"iteration_ns": [0-9]*\([0-9]\)/"iteration_ns": 9999999\1/' certificate.json > forged.json
gives 1 check forged.json priced.json
says "not certified: .*incumbent" out
sed 's/"layer_count": 8/"layer_count": 9/' priced.json > other.json
gives 1 check certificate.json other.json
says "SHA-256" out
refuses "forged.json: kind" check certificate.json forged.json
head -c 500 certificate.json > short.json
refuses "short.json: line" check short.json priced.json
refuses "nothere.json" check nothere.json
refuses "nothere.json" check certificate.json nothere.json
refuses "kind" check priced.json
# The verdict as a document, the statement, and the table of both.
gives 0 check certificate.json -o checked.json --statement proven.txt
says "no plan takes less" out
says "No plan of the priced document takes less than" proven.txt
says "$(sha256sum certificate.json | cut -d' ' -f1)" proven.txt
gives 1 check forged.json priced.json -o rejected.json --statement never.txt
says "no statement" err
[ ! -e never.txt ] || complain "check: a statement of what is not proven"
gives 0 report --format latex checked.json
says "toprule" out
gives 0 report --format csv checked.json "$documents/plan.json"
[ "$(wc -l < out)" = 3 ] || complain "report --format csv: expected a header and two lines"
refuses "not accepted" report --format latex checked.json rejected.json
refuses "checked.json: kind" report checked.json
refuses "certificate.json: kind" report --format csv certificate.json
refuses "more than one plan requires --format latex or csv" report checked.json checked.json
refuses "nowhere" check certificate.json -o nowhere/checked.json
refuses "nowhere" check certificate.json --statement nowhere/proven.txt
refuses "already used by -o" check certificate.json -o - --statement -
# Written by solve, with the priced document beside it, and audited.
gives 0 solve small/problem.json -o small.plan.json --certificate proof.json --shrink-certificate
says "certificate: " err
gives 0 check proof.json
says "and no plan takes less" out
gives 0 solve small/problem.json -o small.plan.json --certificate proof.json --priced for-proof.json
gives 0 check proof.json for-proof.json
gives 0 check proof.json small/problem.json -o checked.json --statement whole.txt
judged="the judge's own prices of small/problem.json"
says "confirmed  by $judged: all [0-9]* numbers of for-proof.json" out
says "that all [0-9]* numbers of that document are those of the problem" whole.txt
says "$(sha256sum small/problem.json | cut -d' ' -f1)" whole.txt
gives 0 check proof.json small/problem.json -o - --statement whole.txt
says '"accepted": true' out
says "and no plan takes less" err
gives 0 report --format latex small.plan.json checked.json
[ "$(grep -c ' & ' out)" = 2 ] ||
    complain "report --format latex: expected the verdict in its plan's line"
# The same proof by rows, for a third party's checker; the tests' own reader finds that it holds.
gives 0 vipr proof.json -o proof.vipr
says "boxes in" err
vipr_gives 0 proof.vipr
least=$(number small.plan.json bound_ns) most=$(number small.plan.json iteration_ns)
says "the minimum of the objective is at least $least and at most $most" out
gives 0 vipr certificate.json "$documents/priced.json"
says "^RTP range 6544144 6544144" out
mv out printed.vipr
vipr_gives 0 printed.vipr
sed 's/^RTP range [0-9]*/RTP range 99/; s/^\(SOL\) 1/\1 1/' proof.vipr > forged.vipr
vipr_gives 0 forged.vipr                                              # a weaker claim
sed 's/{ uns /{ uns 1/' proof.vipr > forged.vipr
vipr_gives 1 forged.vipr
says "not proven: line [0-9]*: " out
head -c 300 proof.vipr > short.vipr
vipr_gives 2 short.vipr
says "short.vipr: line" err
refuses "viprchk" check proof.vipr
refuses "tests/vipr_check" check proof.vipr for-proof.json --statement never.txt
refuses "nothere.json" vipr nothere.json
refuses "nowhere" vipr proof.json -o nowhere/proof.vipr
gives 1 vipr forged.json priced.json -o never.vipr
says "not certified" err
[ ! -e never.vipr ] || complain "vipr: a file of what is not proven"
refuses "--certificate" solve small/problem.json -o never.json --shrink-certificate
refuses "nowhere" solve small/problem.json -o never.json --certificate nowhere/proof.json

# ---- the objective of a published planner, on a measured matrix
cat > matrix.json <<'EOF'
{"gpus": ["a", "b", "c", "d"],
 "bandwidth": [[9, 5, 7, 6], [4, 9, 8, 3], [6, 5, 9, 7], [8, 2, 4, 9]]}
EOF
small="--layers 4 --hidden 256 --heads 8 --sequence 128 --vocabulary 1000
    --global-batch 16 --micro-batch 1"
gives 0 example pipette --matrix matrix.json --stages 2 $small -o pipette
gives 0 solve pipette/problem.json -o pipette/plan.json --priced pipette/priced.json --quiet
says "^optimal: pipette .* gap 0 %" err
gives 0 verify pipette/plan.json
says ", pipette $(number pipette/plan.json objective_ns) ns, its bound" out
gives 0 report pipette/plan.json
says "optimal (stated by solve, not audited) for another objective: pipette" out
says "of which   hops of the slowest pipeline" out
for option in "--engine glpk" "--recheck" "--start pipette/plan.json"; do
    refuses "${option%% *}: expected a job whose objective is iteration_time, found pipette" solve \
        pipette/problem.json -o no.json $option
done
refuses "objective: expected iteration_time: no program is written for pipette" formulate \
    pipette/problem.json
refuses "--stages: expected a divisor of the 4 nodes" example pipette --matrix matrix.json \
    --stages 3 $small -o no
refuses "--matrix is missing" example pipette --stages 2 -o no
refuses "--stages is missing" example pipette --matrix matrix.json -o no
refuses "expected a cluster with places" example gpt --objective pipette -o no
gives 0 example pipette --matrix matrix.json --stages 2 $small --objective iteration_time -o exact
gives 0 solve exact/problem.json -o exact/plan.json --quiet

# ---- the greatest load
for layouts in one degrees; do
    gives 0 example gpt --model gpt2-xl --gpus 16 --tensor 1 --pipeline 4 --layouts $layouts \
        --global-batch 32 --sequence 1024 --objective max_load -o load-$layouts
    gives 0 solve load-$layouts/problem.json -o load-$layouts/plan.json --quiet
    says "^optimal: max_load .* gap 0 %" err
    gives 0 verify load-$layouts/plan.json
    says ", max_load $(number load-$layouts/plan.json objective_ns) ns, its bound" out
    gives 0 report load-$layouts/plan.json
    says "Loads of one micro-batch in ms" out
    says "  busiest    rank" out
done
gives 0 report --layouts load-degrees/plan.layouts.json
says "times are of max_load" out
gives 0 formulate load-one/problem.json -o load-one/program.mps
says "(4 of paths)" err
sed 's/"objective_ns": [0-9]*/"objective_ns": 1/; s/"bound_ns": [0-9]*/"bound_ns": 0/' \
    load-one/plan.json > load-one/wrong.json
gives 20 verify load-one/wrong.json
says "objective: greatest load: claimed 1 ns, the judge finds" out

[ $failures = 0 ] && echo "all as expected" && exit 0
echo "$failures failures"
exit 1
