#!/bin/sh
# Every planted error of thought still has its place in the sources (make test-planted finds them
# all, in half an hour), and the tables of hypotheses in PROOFS are about what is there.
cd "$(dirname "$0")/.." || exit 1
python3 tests/planted.py --apply && python3 tests/proof_tables.py && echo "test_planted: ok"
