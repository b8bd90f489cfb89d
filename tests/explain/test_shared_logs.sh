#!/bin/sh
# The logs of a folder with an index of what an expert reads out of them: nothing is read wrongly.
name=test_shared_logs
. tests/script.sh
logs=${LOGS_FOLDER:-$root/../shared/logs}
[ -d "$logs" ] || { echo "$name: no $logs: skipped"; exit 0; }
python3 "$root/tests/explain/shared_logs.py" "$plumbline" "$logs" > out 2> err ||
    complain "a value is read wrongly"
tail -1 out
ended
