#!/bin/sh
# Every table of docs/PAPERS.md, each by its own script with its defaults, in the page's order; what
# the lines are is in each script's first lines, which are printed above them. Stderr says which one
# runs and how long it took. One that fails stops none of the others; the exit status is then 1.
#   all.sh FOLDER [SCRIPT ...]      without .sh; PLUMBLINE: the program (that of PATH, or of bin/)
set -eu
scripts=$(dirname "$0") folder=$1 failed=0
shift
mkdir -p "$folder"
own=$scripts/../../../bin/plumbline
[ -n "${PLUMBLINE:-}" ] || command -v plumbline > /dev/null || PLUMBLINE=$own
export PLUMBLINE="${PLUMBLINE:-plumbline}"

# table SCRIPT ARGUMENT ...: its title and its lines
table() {
    script=$1
    shift
    echo
    echo "$script.sh${*:+ $*}"
    sed -n '2,/^[^#]/s/^# \(.*\)/  \1/p' "$scripts/$script.sh"
    echo "$script.sh${*:+ $*} ..." >&2
    began=$(date +%s)
    sh "$scripts/$script.sh" "$folder/$script${1:+-$1}" "$@" || {
        echo "$script.sh failed" >&2
        failed=1
    }
    echo "$script.sh: $(($(date +%s) - began)) s" >&2
}

for script in ${*:-layered slices terapipe onebit interleaved fused offers designs offload karma \
    grids pools poolgroups bits albert llava pipette holmes reaches memory local updates stored \
    alone segments piper adapters tiers energy}; do
    table "$script"
    case $script in
    designs)
        AREA=0.5 table designs gpt2-xl
        ;;
    karma)
        PIPELINE=16 table karma 3 6 12 24 48
        ;;
    offload)
        HOST=220e9 table offload 80 70 55
        ;;
    energy)
        WRITE=100 table energy 0,80
        ;;
    llava)
        MODEL=qwen2-vl-7b table llava
        table llava paper
        ;;
    grids)
        CARD=6.25 table grids 42,12288,1024,8192
        CARD=100 table grids 42,12288,1024,8192
        for node in 4 8 16; do
            NODE=$node table grids 42,12288,1024,1024
            NODE=$node ZERO=1,2,3 table grids 42,12288,1024,1024
        done
        ;;
    esac
done
exit $failed
