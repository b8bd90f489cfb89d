#!/bin/sh
# Manual pages and completion, both out of the tables of options: every command has a page that
# mandoc and man read without a word, with all options of its help on it; bash, zsh and fish
# complete a command, an option, a name of a choice and a shipped name. usage: test_manual.sh (BIN:
# the folder of the programs)
BIN=${BIN:-bin}
case $BIN in /*) ;; *) BIN=$(pwd)/$BIN ;; esac
export PATH="$BIN:$PATH"
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 2
failed=0
complain() { echo "test_manual.sh: $*" >&2; failed=1; }
skip() { echo "test_manual.sh: no $1 here: $2 not tested" >&2; }

# ---- manual pages
commands=$(plumbline --help | sed -n '/^usage/,/^exit codes/s/^  \([a-z][a-z]*\) .*/\1/p')
[ "$(echo "$commands" | wc -l)" -ge 18 ] || complain "help lists too few commands: $commands"
for command in '' $commands; do
    page=plumbline${command:+-$command}.1
    plumbline help --man $command > "$page" || complain "help --man $command: exit $?"
    if command -v mandoc > /dev/null; then mandoc -Tlint "$page" > lint ||
        complain "$page: $(cat lint)"; fi
    if man --version 2> /dev/null | grep -q '^man '; then man --warnings -E UTF-8 -l "$page" 2>&1 \
        > /dev/null | grep . > lint && complain "$page: $(cat lint)"; fi
    [ -n "$command" ] || continue
    plumbline "$command" --help 2> /dev/null | sed -n 's/^  \(-[a-z-]*\) .*/\1/p' |
        sed 's/-/\\-/g' > options
    while IFS= read -r option; do grep -qF "\\fB$option\\fR" "$page" ||
        complain "$page: no $option"; done < options
done
command -v mandoc > /dev/null || skip mandoc "its view of the pages"
grep -qF '\-\-backend' plumbline-measure.1 ||
    complain "plumbline-measure.1 has none of plumbline-measure's options"
for part in '--iterations' '--products'; do
    grep -q "^.SH \"Options with $part\"" plumbline-calibrate.1 ||
        complain "plumbline-calibrate.1: no options with $part"
done
plumbline help --man sovle 2> err && complain "help --man sovle: exit 0"
grep -q 'did you mean solve' err || complain "help --man sovle: $(cat err)"

# ---- what the program answers
answers() {    # answers EXPECTED WORD ...: a line that begins with that word
    expected=$1; shift
    plumbline completion words "$@" > words 2> err || complain "completion words $*: exit $?"
    grep -q "^$expected$(printf '\t')" words ||
        complain "completion words $*: no $expected in: $(cat words err)"
}
answers solve so
answers --engine solve --en
answers --engine=tree solve --engine=
answers glpk solve x.json --engine ''
answers gpt2-xl models gpt
answers h100-128x8 plan --cluster ''
answers h200-141gb plan --gpu h2
answers --gpu=mi300x-192gb example gpt --gpu=
answers published predict --costs p
answers hf import ''
answers --name import hf --na
answers gpt example g
answers compute measure ''
answers --budget-s measure compute --b
answers --fit calibrate --iterations --f
answers solve help so
plumbline completion words solve '' > words
[ "$(cat words)" = :files ] || complain "an operand: $(cat words)"
plumbline completion words nonsense --x > words || complain "an unknown command: exit $?"
[ -s words ] && complain "an unknown command: $(cat words)"

# ---- shells: each is asked the same, the first word of the answer is compared
questions='plumbline sol|solve
plumbline solve --eng|--engine
plumbline report --format ht|html
plumbline plan --model gpt3|gpt3-175b
plumbline plan --model=gpt3|--model=gpt3-175b
plumbline check cert|certificate file.json'
: > 'certificate file.json'

ask_bash() {    # bash puts in place only what stands behind '='
    bash --norc -c 'eval "$(plumbline completion bash)"; complete -p plumbline > /dev/null || exit
        COMP_LINE=$1 COMP_POINT=${#1}; _plumbline
        case $1 in *=*) printf "%s=" "$(set -- $1; shift $(($# - 1)); echo "${1%%=*}")" ;; esac
        echo "${COMPREPLY[0]}"' bash "$1"
}
ask_fish() { fish --no-config -c 'plumbline completion fish | source; complete -C $argv[1]' \
    -- "$1" | head -1 | cut -f 1 | sed 's/\\ / /g'; }
# The completion system of zsh works at a terminal alone: what the script hands to it is looked at.
ask_zsh() {
    zsh -f -c 'autoload -Uz compinit; compinit -u -D; eval "$(plumbline completion zsh)"
        [[ $_comps[plumbline] == _plumbline ]] || exit
        _describe() { local -a given; given=("${(@P)4}"); print -r -- "${given[1]%%:*}"; exit }
        _files() { local -a all; all=(${words[CURRENT]}*); print -r -- $all[1]; exit }
        words=("${(@s: :)1}"); CURRENT=$#words; PREFIX=$words[CURRENT]; _plumbline' zsh "$1"
}
for shell in bash fish zsh; do
    command -v $shell > /dev/null || { skip $shell "its completion"; continue; }
    while IFS='|' read -r line expected; do
        found=$(HOME=$folder ask_$shell "$line" < /dev/null 2> err)
        [ "$found" = "$expected" ] ||
            complain "$shell: '$line': expected '$expected', found '$found' $(cat err)"
    done <<LIST
$questions
LIST
done
exit $failed
