#!/bin/sh
# Damaged files at each reader of measurements and nodes (hostile.py). HOSTILE=1000: more of them.
name=test_hostile
. tests/script.sh
python3 "$root/tests/imports/hostile.py" "$plumbline" "$here/files" "${HOSTILE:-25}" \
    "${HOSTILE_SEED:-1}" > out 2> err || complain "hostile: $(cat err)"
cat out
ended
