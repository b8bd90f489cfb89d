#!/bin/sh
# Every planted error of thought still has its place in the sources (make test-planted finds them
# all, in half an hour).
cd "$(dirname "$0")/.." || exit 1
python3 tests/planted.py --apply && echo "test_planted: ok"
