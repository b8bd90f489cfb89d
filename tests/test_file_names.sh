#!/bin/sh
# Every file of the source that a comment, a page or a script names is there: by its path, or by its
# name alone.
set -u
cd "${1:-$(dirname "$0")/..}" || exit 1
if git ls-files > /dev/null 2>&1; then list='git ls-files'
else list='find data measure calibrate formulate solve library tests docs -type f'; fi
files=$($list | grep -v '^tests/fuzz/corpus')
echo "$files" | awk '
    FNR == 1 { }
    { all[NR] = $0; n = split($0, part, "/"); path[$0] = 1; base[part[n]] = 1 }
    END {
        # as headers of others: their names are no files of ours
        split("asan_interface assert cblas cJSON cmocka cublasLt cuda_runtime_api cudnn errno " \
              "glpk gmp lapacke limits malloc math mpi nccl setjmp stdarg stdbool stddef stdint " \
              "stdio stdlib string sys time unistd isatty sha2 name probe planted x cuda_bf16 " \
              "cuda_fp16 cuda", known, " ")
        for (i in known) foreign[known[i]] = 1
        for (i in all) {
            file = all[i]
            if (file !~ /\.(c|h|cu|cpp|md|sh)$/ || file ~ /^tests\//) continue
            line = 0
            while ((getline text < file) > 0) {
                line++
                if (text ~ /^#include/) continue
                while (match(text, /[a-zA-Z_][a-zA-Z0-9_\/]*\.(c|h|cu)[^a-zA-Z0-9_(]/)) {
                    word = substr(text, RSTART, RLENGTH - 1)
                    text = substr(text, RSTART + RLENGTH - 1)
                    count = split(word, part, "/"); name = part[count]
                    stem = name; sub(/\..*/, "", stem)
                    if (stem in foreign || stem ~ /^_|^[a-zA-Z]$/) continue
                    if (name in base && count == 1) continue
                    found = 0
                    tail = "/" word
                    if (count > 1) for (p in path)
                        if (p == word || substr(p, length(p) - length(word)) == tail) {
                            found = 1
                            break
                        }
                    if (!found) {
                        print file ":" line ": names " word ", which is not there"
                        bad = 1
                    }
                }
            }
            close(file)
        }
        exit bad
    }' && echo "every file that is named is there"
