#!/bin/sh
# What plumbline needs beside git, a C compiler and make: looks for each thing, and with "install"
# fetches what is missing through apt where that is possible. usage: setup.sh check|install
# build|test
#   check    names what is missing, exit 2
#   install  the same, after trying apt-get (as root, or with a sudo that asks nothing)
# What is there already is left alone: nothing is upgraded and nothing is asked.
action=${1:-check} for_what=${2:-build}
CC=${CC:-cc}

# name | headers, none for a tool | library, or the command that finds the tool | Debian and Ubuntu
# package
needs_of_build='
glpk.h|glpk.h|-lglpk|libglpk-dev
cblas.h|cblas.h|-lopenblas|libopenblas-dev
lapacke.h|lapacke.h|-llapacke|liblapacke-dev
cJSON.h|cjson/cJSON.h|-lcjson|libcjson-dev
nettle/sha2.h|nettle/sha2.h|-lnettle|nettle-dev'
needs_of_test='
cmocka.h|stdarg.h stddef.h setjmp.h stdint.h cmocka.h|-lcmocka|libcmocka-dev
gmp.h|gmp.h|-lgmp|libgmp-dev
cbc||command -v cbc|coinor-cbc
ip and tc||PATH=$PATH:/usr/sbin:/sbin; command -v ip && command -v tc|iproute2
mpi.h and mpirun||command -v mpicc && command -v mpirun|libopenmpi-dev openmpi-bin
jsonschema (Python 3)||python3 -c "import jsonschema"|python3-jsonschema'
# Tests do without these, and say so.
wanted_of_test='
mandoc||command -v mandoc|mandoc
glpsol||command -v glpsol|glpk-utils
proofs||command -v coqc && ocamlfind query zarith|coq ocaml-findlib libzarith-ocaml-dev
yaml (Python 3)||python3 -c "import yaml"|python3-yaml
slurmd and munged||PATH=$PATH:/usr/sbin; command -v slurmd && command -v munged|slurm-wlm munge'

folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT

is_there() {    # is_there HEADERS LIBRARY, or is_there '' COMMAND
    if [ -z "$1" ]; then
        sh -c "$2" > /dev/null 2>&1
    else
        { for header in $1; do echo "#include <$header>"; done
          echo 'int main(void) { return 0; }'; } > "$folder/probe.c"
        $CC ${CFLAGS:-} "$folder/probe.c" -o "$folder/probe" ${LDFLAGS:-} "$2" > /dev/null 2>&1
    fi
}

look() {        # look needed|wanted: sets names and packages to what is missing
    names= packages=
    needs=$needs_of_build
    [ "$for_what" = test ] && needs="$needs$needs_of_test"
    [ "$1" = wanted ] && needs=$wanted_of_test
    while IFS='|' read -r name headers how package; do
        [ -n "$name" ] || continue
        is_there "$headers" "$how" && continue
        names="$names $name," packages="$packages $package"
    done <<LIST
$needs
LIST
    names=${names%,}
}

command -v "${CC%% *}" > /dev/null 2>&1 || {
    echo "plumbline: no C compiler: '$CC' is not there; on Debian and Ubuntu:" \
        "apt-get install gcc libc6-dev" >&2
    exit 2
}
look needed
optional=
if [ "$for_what" = test ] && [ "$action" = install ]; then
    missing=$packages missing_names=$names
    look wanted
    optional=$packages packages=$missing names=$missing_names
fi
[ -z "$packages$optional" ] && exit 0

if [ "$action" = install ] && command -v apt-get > /dev/null 2>&1; then
    as_root=
    [ "$(id -u)" = 0 ] || as_root="sudo -n"
    if $as_root true > /dev/null 2>&1; then
        echo "plumbline: missing:$names; installing:$packages$optional" >&2
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q update >&2 &&
            for these in "$packages" "$optional"; do
                [ -z "$these" ] || $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q install \
                    -y --no-install-recommends $these >&2
            done
        look needed
        [ -z "$packages" ] && exit 0
    fi
fi
[ -n "$packages" ] || exit 0
echo "plumbline: missing:$names" >&2
echo "plumbline: on Debian and Ubuntu, as root: apt-get install$packages" >&2
echo "plumbline: elsewhere: install those libraries with their headers," \
    "and name their folders by CFLAGS=-I... LDFLAGS=-L..." >&2
[ "$action" = install ] || echo "plumbline: 'make setup' does this where it can" >&2
exit 2
