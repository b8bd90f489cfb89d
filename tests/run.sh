#!/bin/sh
# Runs the test programs named on the command line, each by itself, and counts them: the last line is "N passed, N failed".
# What a program prints is shown when it fails; all of it is kept beside the program, as NAME.log.
passed=0 failed=0
for program in "$@"; do
    name=${program##*/}
    case $program in
    *.sh) log=${LOGS:-build}/$name.log; mkdir -p "${log%/*}"; set -- sh "$program" ;;
    *) log=$program.log; set -- "$program" ;;
    esac
    started=$(date +%s)
    "$@" > "$log" 2>&1
    code=$?
    if [ $code = 0 ]; then
        passed=$((passed + 1))
        echo "passed  $name  ($(($(date +%s) - started)) s)"
        sed -n 's/^skipped: /        skipped: /p' "$log"
    else
        failed=$((failed + 1))
        cat "$log"
        echo "FAILED  $name  (exit $code, $(($(date +%s) - started)) s)"
    fi
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
