#!/bin/sh
# make deb, in a temporary folder: what the packages hold and need, that dpkg puts them into an
# empty root and takes them out again (as root), and that lintian finds no error. usage: test_deb.sh
# (BIN: the folder of the programs)
root=$(pwd) BIN=${BIN:-bin}
case $BIN in */build/*/bin | build/*/bin) echo \
    "test_deb.sh: skipped: packages are made of a release" >&2; exit 0 ;; esac
for tool in dpkg-deb dpkg-shlibdeps dpkg-architecture strip; do
    command -v $tool > /dev/null || { echo "test_deb.sh: skipped: no $tool here" >&2; exit 0; }
done
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
failed=0
complain() { echo "test_deb.sh: $*" >&2; failed=1; }
unset BIN
export DEBFULLNAME='The builder' DEBEMAIL=builder@packages.debian.org
make --no-print-directory -C "$root" -o all -o man deb "DEB=$folder/deb files" > "$folder/made" \
    2>&1 || { complain "make deb: $(cat "$folder/made")"; exit 1; }
cd "$folder/deb files" || exit 2
for package in plumbline libplumbline0 libplumbline-dev; do
    [ -s "$(echo ${package}_*.deb)" ] || complain "no package $package: $(ls)"
    dpkg-deb --info ${package}_*.deb > info || complain "$package: --info"
    dpkg-deb --contents ${package}_*.deb | sed 's/^[^.]*//; s/ -> .*//' > $package.files ||
        complain "$package: --contents"
    dpkg-deb --contents ${package}_*.deb | grep -v ' root/root ' &&
        complain "$package: files of others than root"
done
multiarch=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
has() { grep -qxF "./$2" $1.files || complain "$1 has no $2"; }
has plumbline usr/bin/plumbline
has plumbline usr/bin/plumbline-measure
has plumbline usr/share/man/man1/plumbline-solve.1.gz
has plumbline usr/share/plumbline/data/models/openai/gpt2-xl.json
has plumbline usr/share/bash-completion/completions/plumbline
has plumbline usr/share/zsh/vendor-completions/_plumbline
has plumbline usr/share/doc/plumbline/copyright
has libplumbline0 usr/lib/$multiarch/libplumbline.so.0
has libplumbline-dev usr/include/plumbline.h
has libplumbline-dev usr/lib/$multiarch/libplumbline.so
has libplumbline-dev usr/lib/$multiarch/pkgconfig/plumbline.pc
sort plumbline.files libplumbline0.files libplumbline-dev.files | grep -v '/$' | uniq -d |
    grep . && complain "two packages have these files"
grep -q cuda plumbline.files && complain "plumbline has what needs CUDA"
dpkg-deb --field plumbline_*.deb Depends | grep -q libglpk ||
    complain "plumbline needs no libglpk? $(dpkg-deb --field plumbline_*.deb Depends)"
# what the static library is linked with: pkg-config --static says it
for package in libglpk-dev libcjson-dev nettle-dev; do
    dpkg-deb --field libplumbline-dev_*.deb Depends | grep -q "$package" ||
        complain "libplumbline-dev needs no $package"
done
dpkg-deb --fsys-tarfile libplumbline-dev_*.deb |
    tar -xO "./usr/lib/$multiarch/pkgconfig/plumbline.pc" | grep -qx 'prefix=/usr' ||
    complain "plumbline.pc: prefix"

if [ "$(id -u)" = 0 ]; then
    mkdir -p root/var/lib/dpkg/info root/var/lib/dpkg/updates root/var/lib/dpkg/triggers &&
        : > root/var/lib/dpkg/status
    dpkg_in_root() { dpkg --root="$PWD/root" --force-depends --log=/dev/null "$@" > out 2>&1 ||
        complain "dpkg $1: $(cat out)"; }
    dpkg_in_root -i plumbline_*.deb libplumbline0_*.deb libplumbline-dev_*.deb
    root/usr/bin/plumbline models gpt2-xl > out || complain "plumbline models, as installed by dpkg"
    (cd root && md5sum --quiet -c var/lib/dpkg/info/plumbline.md5sums) || complain "md5sums"
    dpkg_in_root --purge plumbline libplumbline-dev libplumbline0
    [ -z "$(find root/usr 2> /dev/null)" ] || complain "after removal: $(find root/usr)"
else
    echo "test_deb.sh: not root: packages are not installed and removed" >&2
fi
if command -v lintian > /dev/null; then
    lintian --allow-root *.deb > lint 2>&1
    grep '^[EW]:' lint && complain "lintian complains"
else
    echo "test_deb.sh: no lintian here: not asked" >&2
fi
exit $failed
