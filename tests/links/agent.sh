#!/bin/sh
# Starts a command on a "host" that is a network namespace, as mpirun's remote shell would: agent.sh
# ADDRESS COMMAND... Host k has the address 10.77.0.k, the namespace $PLUMBLINE_HOSTS-k and the name
# plumb-k; with PLUMBLINE_CLOCKS=own a clock that is k thousand seconds ahead.
while [ "${1#-}" != "$1" ]; do shift; done
k=${1##*.}
shift
clock=
[ "${PLUMBLINE_CLOCKS:-}" != own ] || clock="-f -T --monotonic ${k}000"
exec ip netns exec "$PLUMBLINE_HOSTS-$k" unshare -u $clock \
    sh -c "echo plumb-$k > /proc/sys/kernel/hostname; $*"
