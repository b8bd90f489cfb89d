# Hosts made of network namespaces, for sourcing: hosts_make, hosts_record, hosts_remove.
# Host k = 1, 2 ... (four; $hosts_count where that is set before, at most 8) has the namespace
# $PLUMBLINE_HOSTS-k, in it eth0 with the address 10.77.0.k: one end of a veth pair whose other end
# is in a switch's namespace. tc at eth0 gives each ordered pair a rate of its own (htb, a class for
# each destination) and a delay (netem in that class, the switch a bridge). Where the kernel has no
# netem, the switch is tests/links/relay.c, which delays. RATES and DELAYS: a square of numbers, row
# by row from the sender's: Mbit/s of whole frames, microseconds.
export PLUMBLINE_HOSTS=plumb$$
switch=$PLUMBLINE_HOSTS-switch
relay_id=
hosts_all=$(seq 1 "${hosts_count:-4}")
mtu=9000            # long frames: headers take 0.7 % of the rate
burst=20000         # bytes that a class may send at once after a pause

# entry TABLE ROW COLUMN
entry() {
    wanted=$((($2 - 1) * ${hosts_count:-4} + $3))
    set -- $1; shift $((wanted - 1)); echo "$1"
}

# why_no_hosts FOLDER: what is missing here, in words; nothing if hosts can be made. Sets delay_by
# to netem or relay.
why_no_hosts() {
    [ "$(uname)" = Linux ] || { echo "network namespaces are Linux's"; return; }
    [ "$(id -u)" = 0 ] || { echo "not root"; return; }
    for tool in ip tc unshare; do command -v $tool > /dev/null ||
        { echo "no $tool (Debian: iproute2, util-linux)"; return; }; done
    ip netns add "$switch" 2> /dev/null ||
        { echo "network namespaces cannot be made here"; return; }
    ip -n "$switch" link add name probe type veth peer name other 2> /dev/null ||
        { echo "the kernel has no veth"; return; }
    inside="ip netns exec $switch tc"
    { $inside qdisc add dev probe root handle 1: htb &&
        $inside class add dev probe parent 1: classid 1:1 htb rate 1mbit &&
        $inside filter add dev probe parent 1: protocol ip u32 match ip dst 10.77.0.1 \
            flowid 1:1; } 2> /dev/null ||
        { echo "the kernel has no htb or no u32 for tc"; return; }
    if $inside qdisc add dev probe parent 1:1 netem delay 1ms 2> /dev/null &&
        ip -n "$switch" link add name bridge type bridge 2> /dev/null
    then echo netem > "$1/delay_by"
    elif ${CC:-cc} -O2 -Wall -Wextra -o "$1/relay" tests/links/relay.c 2> "$1/err"; then echo \
        relay > "$1/delay_by"
    else echo "no netem in the kernel, and tests/links/relay.c cannot be compiled here"
    fi
    ip -n "$switch" link del probe
}

# hosts_make FOLDER RATES DELAYS, after why_no_hosts FOLDER had nothing to say.
hosts_make() {
    hosts_folder=$1 rates=$2 delays=$3
    delay_by=$(cat "$hosts_folder/delay_by")
    for k in $hosts_all; do
        host=$PLUMBLINE_HOSTS-$k
        ip netns add "$host" || return 1
        ip -n "$host" link add name eth0 mtu $mtu type veth peer name port$k mtu $mtu netns \
            "$switch" &&
            ip -n "$host" link set dev eth0 address 02:00:00:00:00:0$k gso_max_segs 1 &&
            ip -n "$host" link set lo up && ip -n "$host" addr add 10.77.0.$k/24 dev eth0 &&
            ip -n "$host" link set eth0 up &&
            ip -n "$switch" link set port$k up || return 1
        ip netns exec "$host" sh -c 'echo 0 > /proc/sys/net/ipv4/tcp_slow_start_after_idle'
        ip netns exec "$host" tc qdisc add dev eth0 root handle 1: htb || return 1
        for j in $hosts_all; do
            [ $j = $k ] && continue
            ip -n "$host" neigh add 10.77.0.$j lladdr 02:00:00:00:00:0$j dev eth0 nud permanent
            ip netns exec "$host" tc class add dev eth0 parent 1: classid 1:$j htb \
                rate "$(entry "$rates" $k $j)mbit" burst $burst cburst $burst quantum 10000 &&
                ip netns exec "$host" tc filter add dev eth0 parent 1: protocol ip u32 match ip \
                dst 10.77.0.$j flowid 1:$j || return 1
            [ "$delay_by" = relay ] ||
                ip netns exec "$host" tc qdisc add dev eth0 parent 1:$j netem delay \
                "$(entry "$delays" $k $j)us" limit 20000 || return 1
        done
    done
    if [ "$delay_by" = netem ]; then
        ip -n "$switch" link set bridge up
        for k in $hosts_all; do ip -n "$switch" link set port$k master bridge || return 1; done
    else
        ip netns exec "$switch" "$hosts_folder/relay" "${hosts_count:-4}" \
            $(seq -f port%g 1 "${hosts_count:-4}") $delays > "$hosts_folder/relay.log" 2>&1 &
        relay_id=$!
        until grep -q ready "$hosts_folder/relay.log"; do
            kill -0 $relay_id 2> /dev/null || { cat "$hosts_folder/relay.log"; return 1; }
            sleep 0.05
        done
    fi
}

# Prints where relay.c's record of all frames so far stands; "-" where no relay delays.
hosts_record() {
    [ "$delay_by" = relay ] || { echo -; return; }
    before=$(grep -c '^so far' "$hosts_folder/relay.log")
    kill -USR1 $relay_id
    until [ "$(grep -c '^so far' "$hosts_folder/relay.log")" -gt "$before" ]; do
        kill -0 $relay_id 2> /dev/null || return 1
        sleep 0.05
    done
    echo "$hosts_folder/relay.log"
}

hosts_remove() {
    [ -z "$relay_id" ] || kill "$relay_id" 2> /dev/null
    for k in $hosts_all; do ip netns del "$PLUMBLINE_HOSTS-$k" 2> /dev/null; done
    ip netns del "$switch" 2> /dev/null
    return 0
}
