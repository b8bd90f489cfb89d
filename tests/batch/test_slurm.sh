#!/bin/sh
# Arrays of a real Slurm, where one can be started: the tables of this machine's processes, and a
# space in parts. make test-slurm also kills and drains.
exec sh "$(dirname "$0")/slurm.sh" short
