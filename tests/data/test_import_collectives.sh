#!/bin/sh
# import collectives: entries by operation, ranks and ranks a node; noise; what is refused.
root=$(pwd) here=$(pwd)/build/test_import_collectives.$$ failures=0
case ${BIN:=bin} in /*) ;; *) BIN=$root/$BIN ;; esac
mkdir -p "$here" && cd "$here" || exit 1
trap 'rm -rf "$here"' EXIT
complain() { echo "FAILED: $*"; failures=$((failures + 1)); }
import() { "$BIN/plumbline" import collectives "$@" > out 2> err; }
refused() { # what is said, arguments
    what=$1; shift
    import "$@"
    [ $? = 2 ] && grep -q "$what" err && [ "$(wc -l < err)" = 1 ] ||
        { complain "not refused: $what"; cat err; }
}
cat > t.csv << 'END'
cluster,operation,ranks,devices_per_node,bytes,us
a,all_reduce,8,8,2000,30
a,all_reduce,8,8,1000,50
a,all_reduce,8,8,4000,40
a,all_reduce,16,8,1000,90
a,send_recv,2,1,1000,9
b,all_reduce,8,8,1000,7
END
import t.csv --into kernels --gpu a=h100-80gb --gpu b=a100-80gb -o all.json ||
    { complain "refused"; cat err; }
sed '1,/"collectives"/d' all.json | tr -d ' \n' | grep -o '"gpu":[^]]*],"seconds":[^]]*]' > entries
cat > expected << 'END'
"gpu":"a100-80gb","send":false,"between_nodes":false,"ranks":8,"bytes":[1000],"seconds":[7e-06]
"gpu":"h100-80gb","send":false,"between_nodes":false,"ranks":8,"bytes":[1000,2000,4000],"seconds":[3e-05,3e-05,4e-05]
"gpu":"h100-80gb","send":false,"between_nodes":true,"ranks":16,"nodes":2,"bytes":[1000],"seconds":[9e-05]
"gpu":"h100-80gb","send":true,"between_nodes":true,"ranks":2,"bytes":[1000],"seconds":[9e-06]
END
cmp -s entries expected || { complain "other entries"; diff entries expected; }
import t.csv --into kernels --inside --gpu a=h100-80gb -o inside.json
[ "$(grep -c '"seconds": \[' inside.json)" = 1 ] || complain "between nodes, too"
price() { "$BIN/plumbline" predict gpu=h100-80gb num_gpus=8 tp=8 layers=8 hidden=4096 seq=4096 \
    global_batch=8 --costs "$1"; }
[ "$(price inside.json)" != "$(price kernels)" ] || complain "no price changes"
refused "has no GPU\|have no GPU" t.csv --into kernels --gpu a=h1000
refused "found none" t.csv --into kernels --gpu c=h100-80gb
refused "into is missing" t.csv
refused "twice" t.csv --into kernels --gpu h100-80gb
sed 's/,us$/,time/' t.csv > wrong.csv
refused "expected a column us or median_us" wrong.csv --into kernels --gpu h100-80gb
sed 's/send_recv/broadcast/' t.csv > wrong.csv
refused "expected one of all_reduce, send_recv" wrong.csv --into kernels --gpu a=h100-80gb
[ $failures = 0 ] && echo "test_import_collectives: ok"
exit $((failures > 0))
