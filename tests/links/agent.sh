#!/bin/sh
# Starts a command on a "host" that is a network namespace, as mpirun's remote shell would: agent.sh ADDRESS COMMAND...
# Host k has the address 10.77.0.k, the namespace $PLUMBLINE_HOSTS-k and the name plumb-k.
while [ "${1#-}" != "$1" ]; do shift; done
k=${1##*.}
shift
exec ip netns exec "$PLUMBLINE_HOSTS-$k" unshare -u sh -c "echo plumb-$k > /proc/sys/kernel/hostname; $*"
