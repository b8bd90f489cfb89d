#!/bin/sh
# Debian packages out of FOLDER/whole, an installed tree (make deb): plumbline, libplumbline0,
# libplumbline-dev, and plumbline-mpi where the build has it. DEBFULLNAME and DEBEMAIL name who
# answers for them. usage: deb.sh FOLDER VERSION
set -eu
folder=$1 version=$2
maintainer=${DEBFULLNAME:-plumbline}" <${DEBEMAIL:-plumbline@localhost}>"
cd "$folder"
multiarch=$(dpkg-architecture -qDEB_HOST_MULTIARCH) \
    architecture=$(dpkg-architecture -qDEB_HOST_ARCH)
date=$(date -R -d "@${SOURCE_DATE_EPOCH:-$(stat -c %Y whole/usr/share/plumbline/LICENSE)}")
libraries=usr/lib/$multiarch
rm whole/usr/share/plumbline/installed

# take PACKAGE PATH ...: these files are its own.
take() {
    package=$1; shift
    for path in "$@"; do
        mkdir -p "$package/$(dirname "$path")"
        mv "whole/$path" "$package/$(dirname "$path")/"
    done
}
strip --strip-unneeded whole/usr/bin/* "whole/$libraries"/libplumbline.so.*.*
strip --strip-debug "whole/$libraries/libplumbline.a"
find whole/usr/share/man -type f -exec gzip -9n {} +
packages='plumbline libplumbline0 libplumbline-dev'
if [ -e whole/usr/bin/plumbline-measure-mpi ]; then
    packages="$packages plumbline-mpi"
    take plumbline-mpi usr/bin/plumbline-measure-mpi usr/share/man/man1/plumbline-measure-mpi.1.gz
fi
take libplumbline-dev usr/include "$libraries/libplumbline.a" "$libraries/libplumbline.so" \
    "$libraries/pkgconfig" \
    usr/share/doc/plumbline/docs/examples
take libplumbline0 $(cd whole && echo "$libraries"/libplumbline.so.*)
rm -f whole/usr/share/plumbline/LICENSE       # Debian has the GPL
find whole -type d -empty -delete
mkdir plumbline && mv whole/usr plumbline/usr && rmdir whole
mkdir -p plumbline/usr/share/zsh/vendor-completions
mv plumbline/usr/share/zsh/site-functions/_plumbline plumbline/usr/share/zsh/vendor-completions/ &&
    rmdir plumbline/usr/share/zsh/site-functions
mkdir -p libplumbline-dev/usr/share/doc/libplumbline-dev
mv libplumbline-dev/usr/share/doc/plumbline/docs/examples \
    libplumbline-dev/usr/share/doc/libplumbline-dev/examples
rm -r libplumbline-dev/usr/share/doc/plumbline

short='planner of large-model training with proven bounds'
long=' plumbline plans how the training of a large model is laid out on many GPUs:
 stages, schedules, recomputation and placement, with a bound on the time of
 an iteration that no plan can beat, an independent judge of plans and an
 independent checker of proofs.'
# Sets section, what, needs, and the last lines of the description.
describe() {
    section=utils what= needs= more=
    case $1 in
    plumbline-mpi) what=' - links between nodes' needs="plumbline (= $version)" more=' .
 This package measures messages and collectives under mpirun or srun.' ;;
    libplumbline0) section=libs what=' - library' more=' .
 This package has the shared library.' needs= ;;
    libplumbline-dev) section=libdevel what=' - development' \
        needs="libplumbline0 (= $version), libglpk-dev, libcjson-dev, nettle-dev" more=' .
 This package has the header, the static library and examples.' ;;
    esac
}
depends_of() {
    files=$(find "$1/usr/bin" "$1/$libraries" -type f ! -name '*.a' ! -name '*.pc' 2> /dev/null) ||
        true
    [ -n "$files" ] || return 0
    mkdir -p work/debian && printf 'Source: plumbline\n\nPackage: %s\nArchitecture: any\n' "$1" \
        > work/debian/control
    (cd work && dpkg-shlibdeps -O $(printf ' ../%s' $files) 2> /dev/null) |
        sed 's/^shlibs:Depends=//'
}

for package in $packages; do
    describe "$package"
    doc=$package/usr/share/doc/$package
    mkdir -p "$package/DEBIAN" "$doc"
    { printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n'
      printf 'Upstream-Name: plumbline\n\n'
      printf 'Files: *\nCopyright: 2026 the authors of plumbline\nLicense: GPL-3.0-or-later\n'
      printf ' On Debian systems the text of this license is in '
      printf '/usr/share/common-licenses/GPL-3.\n'; } > "$doc/copyright"
    { printf 'plumbline (%s) unstable; urgency=medium\n\n  * make deb of this version.\n\n' \
        "$version"
      printf ' -- %s  %s\n' "$maintainer" "$date"; } |
        gzip -9n > "$doc/changelog.gz"
    depends=$(depends_of "$package")
    depends=$(printf '%s' "$depends${depends:+${needs:+, }}$needs")
    { printf 'Package: %s\nSource: plumbline\nVersion: %s\nArchitecture: %s\nMaintainer: %s\n' \
        "$package" "$version" "$architecture" "$maintainer"
      printf 'Installed-Size: %s\n' "$(du -k -s "$package" | cut -f 1)"
      [ -z "$depends" ] || printf 'Depends: %s\n' "$depends"
      [ "$package" != plumbline ] || printf 'Suggests: plumbline-mpi, libplumbline-dev\n'
      [ "$package" != libplumbline0 ] || printf 'Recommends: plumbline\n'
      case $package in lib*) printf 'Multi-Arch: same\n' ;; esac
      printf 'Section: %s\nPriority: optional\nDescription: %s%s\n%s%s\n' "$section" "$short" \
          "$what" "$long" "${more:+
$more}"; } > "$package/DEBIAN/control"
    if [ "$package" = libplumbline0 ]; then
        echo "libplumbline 0 libplumbline0 (>= $version)" > "$package/DEBIAN/shlibs"
        echo 'activate-noawait ldconfig' > "$package/DEBIAN/triggers"
    fi
    (cd "$package" && find usr -type f -exec md5sum {} + | sort -k 2 > DEBIAN/md5sums)
    find "$package" -type d -exec chmod 755 {} +
    find "$package" -type f ! -path '*/bin/*' -exec chmod 644 {} +
    dpkg-deb --root-owner-group -Zxz --build "$package" "${package}_${version}_$architecture.deb" \
        > /dev/null
    rm -rf "$package" work
    echo "$folder/${package}_${version}_$architecture.deb"
done
