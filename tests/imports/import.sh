# What tests of imports share: a folder of their own, complaints, what is said and what is refused.
# Read in with `name` set to the test's.
BIN=${BIN:-bin} work=build/$name.$$
mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
plumbline=$BIN/plumbline

wrong() { echo "$name: $*" >&2; : >"$work/failed"; } # behind a pipe, too
told() { grep -q -- "$1" "$work/err" || wrong "not said: $1: $(cat "$work/err")"; }
# refused FORMAT WORDS [OPTION ...]: standard input, in one line
refused() {
    format=$1 words=$2; shift 2
    cat >"$work/in"
    "$plumbline" import "$format" "$work/in" "$@" -o "$work/no.json" 2>"$work/err"
    [ $? -eq 2 ] && [ "$(wc -l <"$work/err")" -eq 1 ] || wrong "not refused: $words"
    told "$words"
}
