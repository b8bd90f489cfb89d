#!/bin/sh
# Whether all code has the form of .clang-format, and no line is wider than 100 columns; --write:
# gives it that form. Versions of clang-format differ in what they write: only the one named here is
# asked.
set -u
version=14
format=$(command -v clang-format-$version || command -v clang-format) || format=
files=$(find plumbline.c data measure calibrate formulate solve library docs/examples tests \
        \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.cpp' \) | sort)
if [ -z "$format" ] || ! "$format" --version | grep -q "version $version\."; then
    echo "skipped: form of the code: clang-format $version is not installed" >&2
    [ "${1:-}" != --write ]
    exit
fi
if [ "${1:-}" = --write ]; then
    printf '%s\n' $files | xargs "$format" -i
    exit
fi
status=0
unlike=$(printf '%s\n' $files | xargs "$format" --dry-run -Werror 2>&1 | grep error: | cut -d: -f1 |
    uniq)
[ -z "$unlike" ] || {
    printf '%s\n' "$unlike" | sed 's/$/: not as .clang-format says; make format/' >&2
    status=1
}
wide=$(printf '%s\n' $files |
    xargs awk 'length($0) > 100 { print FILENAME ":" FNR ": wider than 100 columns" }')
[ -z "$wide" ] || { printf '%s\n' "$wide" >&2; status=1; }
[ $status = 1 ] || echo "format: every file has its form" >&2
exit $status
