#!/bin/sh
# A disk that is full at the end of a search: the plan is on standard output, stderr says so, what
# was in the files before is still there, and the exit code is 2. Each document by itself, by a
# limit on the size of files; all of them on a disk that is full, where root can mount one.
name=test_full_disk
. tests/script.sh

# printed FILE FOLDER: the plan of the problem in FOLDER is out's, and the file is as it was.
printed() {
    cp err said
    grep -q '"kind": "plumbline.plan"' out || complain "$1: no plan on standard output"
    grep -q "$1: cannot be written: .*; the plan is on standard output" err ||
        complain "$1: not said"
    [ "$(cat "$1")" = before ] || complain "$1: what it held is gone"
    [ "$(find . -name '*.json.*' | wc -l)" = 0 ] || complain "$1: something is left behind"
    sed "s|\"path\": \"[^\"]*/|\"path\": \"$2/|" out > again.json
    gives 0 verify again.json
}

gives 0 example mixed -o m
gives 0 example gpt --model gpt2-xl --gpus 8 --layouts degrees -o s
gives 0 solve m/problem.json --gap 0.6 -o fits.json --quiet
limit=$(($(wc -c < fits.json) / 512 - 1)) # blocks of 512 bytes
# Standard output is a pipe, which has no such limit.
limited() {
    (ulimit -f $limit; "$plumbline" "$@" 2> err; echo $? > code) | cat > out
    code=$(cat code)
}

echo before > plan.json
limited solve m/problem.json --gap 0.6 -o plan.json --quiet
[ "$code" = 2 ] || complain "solve: exit code $code"
printed plan.json m

# A program that is too large: the plan is where it belongs.
limited solve m/problem.json --gap 0.6 -o small.json --quiet --program large.lp
[ "$code" = 2 ] && grep -q "large.lp: cannot be written" err ||
    complain "a program that is too large: exit code $code"

# A device that takes nothing; samples, too.
for command in "solve m/problem.json --gap 0.6 --quiet" "measure compute --quiet --sequence 64
    --shape hidden=64,heads=2,vocabulary=64,positions=64 --budget-s=0.1"; do
    # shellcheck disable=SC2086
    answers 2 '/dev/full: cannot be written: .* is on standard output$' $command -o /dev/full
    grep -q '"kind": "plumbline' out || complain "$command: nothing on standard output"
done

# Everything on a disk that is full.
mkdir disk
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=64k plumbline disk 2> /dev/null; then
    trap 'cd "$root"; umount "$here/disk"; rm -rf "$here"' EXIT
    echo before > disk/plan.json
    dd if=/dev/zero of=disk/fill bs=1024 2> /dev/null
    gives 2 solve s/problem.json --gap 0.1 -o disk/plan.json --quiet --certificate disk/proof.json
    printed disk/plan.json s
    for file in plan.layouts.json proof.json; do
        grep -q "disk/$file: cannot be written" said || complain "$file: not said"
        [ ! -e "disk/$file" ] || complain "$file: there is a part of it"
    done
    "$plumbline" solve s/problem.json --gap 0.1 -o disk/plan.json --quiet > /dev/full 2> err
    [ $? = 2 ] || complain "nowhere to write to: not 2"
    grep -q "disk/plan.json: cannot be written" err || complain "nowhere to write to: not said"
else
    echo "skipped: a disk that is full: mounting one needs root"
fi
ended
