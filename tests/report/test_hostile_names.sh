#!/bin/sh
# Names that would be commands, formulas, elements or ends of texts in everything that is written
# (hostile_names.py). HOSTILE_ROUNDS=13: every name in every place.
name=test_hostile_names
. tests/script.sh

command -v python3 > /dev/null || { echo "skipped: hostile names: python3 is not installed"
    exit 0; }
python3 "$root/tests/report/hostile_names.py" "$plumbline" box "${HOSTILE_ROUNDS:-2}" > out \
    2> err || complain "hostile names: $(grep -c FAILED out) failures"
tail -1 out
ended
