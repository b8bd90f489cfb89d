# For sourcing by the tests of links: where results go, what MPI has to be here, and how complaints
# are made. Needs name, the test's.
root=$(pwd)
case ${BIN:=bin} in /*) ;; *) BIN=$root/$BIN ;; esac
measure=$BIN/plumbline-measure
folder=$root/build/$name.$$
failures=0
patience_s=900      # only what hangs takes longer
. tests/links/hosts.sh
rm -rf "$folder" && mkdir -p "$folder" || exit 1
trap 'hosts_remove; rm -rf "$folder"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# The library keeps what it took until the end of the process.
export ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0

complain() { echo "FAILED: $*"; sed 's/^/    /' "$folder/err" | tail -20
    failures=$((failures + 1)); }

if [ ! -x "$measure-mpi" ]; then
    "$measure" links > "$folder/out" 2> "$folder/err"
    [ $? = 2 ] && grep -q "no MPI" "$folder/err" ||
        complain "without MPI: expected exit code 2 and why"
    echo "skipped: links: built without MPI"
    exit $failures
fi
command -v mpirun > /dev/null || { echo "skipped: links: no mpirun"; exit 0; }
mpirun --version 2> /dev/null | grep -q 'Open MPI' ||
    { echo "skipped: links: mpirun is not Open MPI's, whose options are used here"; exit 0; }
