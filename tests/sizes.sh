#!/bin/sh
# Limits of size: files of a folder, lines of a file, columns (except in scripts with rows of data
# that are read line by line), the median function, and a first line that says what a file is.
# usage: sizes.sh [TREE] (this one, of which git's files count)
rows_in="data/instances/make.sh tests/layers.sh tests/trusted.sh tests/calibrate/test_new_gpu.sh
    tests/data/test_import_collectives.sh tests/formulate/test_runs.sh
    tests/imports/test_import_jobs.sh"
cd "${1:-.}" || exit 2
if [ $# = 0 ] && git ls-files > /dev/null 2>&1; then
    list='git ls-files'
else
    list='find * -type f -not -path build/* -not -path bin/*'
fi
$list | while IFS= read -r file; do
    [ -f "$file" ] && printf '%s\n' "$file"
done | awk -v rows_in="$(echo $rows_in)" '
BEGIN { count = split(rows_in, names, " "); for (i = 1; i <= count; i++) has_rows[names[i]] }
function complain(text) { print "sizes: " text > "/dev/stderr"; bad = 1 }
function median(of, count,    i, below) {
    for (i = 0; below * 2 < count; i++) below += of[i]
    return i - 1
}
function read_file(file,    text, lines, limit, begin) {
    while ((getline text < file) > 0) {
        lines++
        if (length(text) > 100 && !(file in has_rows))
            complain(file ":" lines ": " length(text) " columns; at most 100")
        if (lines == 1 && file ~ /\.c$/ && text !~ /^(\/\/|\/\*)/)
            complain(file ": its first line does not say what it is")
        if (file !~ /\.c$/ || file ~ /^tests\//) continue
        if (text == "{") begin = lines
        if (text == "}" && begin) { functions++; lengths[lines - begin - 1]++; begin = 0 }
    }
    close(file)
    limit = file ~ /^tests\// ? 600 : 500
    if (lines > limit) complain(file ": " lines " lines; at most " limit)
}
{
    folder = $0
    if (sub("/[^/]*$", "", folder)) files[folder]++
    if ($0 ~ /\.(c|h|cu|cuh|cpp|py|sh|js|css)$|(^|\/)Makefile$|\.mk$/) read_file($0)
}
END {
    for (folder in files) if (files[folder] > 30)
        complain(folder ": " files[folder] " files; at most 30")
    middle = median(lengths, functions)
    if (functions && middle > 12) complain("the median function has " middle " lines; at most 12")
    if (!bad) print "sizes: the median of " functions " functions has " middle \
        " lines; no folder, no file is too large" > "/dev/stderr"
    exit bad
}'
