#!/bin/sh
# The include rule of docs/ARCHITECTURE.md: which room may include which, and one file per foreign library.
status=0
complain() { echo "layers: $*" >&2; status=1; }

allowed() {     # allowed FILE -> the rooms it may include
    case $1 in
    solve/verify_command.c) echo "data solve/verify solve/check_claim.h" ;;    # hears a certificate beside the plan
    solve/verify*) echo "data solve/verify" ;;
    solve/check_command.c) echo "data/status.h data/arena.h data/options.h solve/check solve/space_open.h" ;;    # the prices of a space's layouts
    solve/space_*) echo "data solve/verify_price.h solve/verify_places.h solve/check solve/space_" ;;     # from the judge's prices to the checker's tables
    solve/check*) echo "data/status.h data/arena.h data/options.h solve/check" ;;    # it reads no document of ours by our code
    solve/report*) echo "data solve/report" ;;
    data/*) echo "data" ;;
    measure/*) echo "data measure" ;;
    calibrate/*) echo "data calibrate formulate" ;;   # costs are fitted so that formulate predicts what was measured
    formulate/*) echo "data formulate" ;;
    solve/*) echo "data formulate solve" ;;
    esac
}

for file in $(find data measure calibrate formulate solve -name '*.[ch]' -o -name '*.cu' | sort); do
    rooms=$(allowed "$file")
    for include in $(sed -n 's/^#include "\([^"]*\)".*/\1/p' "$file"); do
        fits=no
        for room in $rooms; do case $include in "$room"*) fits=yes ;; esac; done
        [ $fits = yes ] || complain "$file includes $include; it may include: $rooms"
    done
done

# The checker of proofs uses the C library and nothing else.
for include in $(sed -n 's/^#include <\([^>]*\)>.*/\1/p' solve/check*.[ch] | sort -u); do
    case $include in
    gmp.h) ;;       # for VIPR's rationals, by one header: see below
    errno.h|limits.h|stdarg.h|stdbool.h|stddef.h|stdint.h|stdio.h|stdlib.h|string.h|time.h) ;;
    *) complain "solve/check* includes $include; it may use the C library alone" ;;
    esac
done

# A foreign library's header stands in exactly one file.
for pair in glpk.h=solve/glpk.c cJSON.h=none lapacke.h=calibrate/least_squares.c nettle=data/file.c mpi.h=measure/mpi.c \
    cuda_runtime_api.h=measure/cuda_kernels.h cublasLt.h=measure/cuda_session.h cudnn.h=measure/cuda_fused_cudnn_graph.h nccl.h=measure/nccl.c gmp.h=solve/check_vipr_parts.h; do
    header=${pair%%=*} home=${pair#*=}
    for file in $(grep -rlE "^#include [<\"].*$header" data measure calibrate formulate solve plumbline.c 2>/dev/null); do
        [ "$file" = "$home" ] || complain "$file includes $header; only $home may"
    done
done
[ $status = 0 ] && echo "layers: the include rule holds" >&2
exit $status
