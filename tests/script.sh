# What test scripts share: name=NAME; . tests/script.sh, from the project's root. The script
# goes on in an empty folder $here, which is removed at its end; its last line is `ended`.
set -u
root=$(pwd)
case ${BIN:=bin} in /*) plumbline=$BIN/plumbline ;; *) plumbline=$root/$BIN/plumbline ;; esac
here=$root/build/$name.$$
failures=0
rm -rf "$here" && mkdir -p "$here" && cd "$here" || exit 1
trap 'cd "$root"; rm -rf "$here"' EXIT

# complain WORDS ...: one failure, with the head of what was said last.
complain() {
    echo "FAILED: $*"
    cat "$here/out" "$here/err" 2> /dev/null | sed 's/^/    /' | head -8
    failures=$((failures + 1))
}

# gives CODE ARGUMENT ...: the exit code alone; stdout and stderr stay in out and err.
gives() {
    expected=$1; shift
    "$plumbline" "$@" > "$here/out" 2> "$here/err" < /dev/null
    code=$?
    [ $code = "$expected" ] || complain "plumbline $*: expected exit code $expected, found $code"
}

# answers CODE WORDS ARGUMENT ...: the exit code, and WORDS in what it says ("": any).
answers() {
    code_asked=$1 words=$2; shift 2
    gives "$code_asked" "$@"
    [ -z "$words" ] || cat "$here/out" "$here/err" | grep -q -- "$words" ||
        complain "plumbline $*: '$words' is not in what it says"
}

# number FILE KEY: the first number with that key in a document, a line a key.
number() { sed -n "s/^ *\"$2\": \\([0-9]*\\),*\$/\\1/p" "$1" | head -1; }

ended() {
    [ $failures = 0 ] && echo "$name: all as expected"
    exit $((failures > 0))
}
