#!/bin/sh
# make install and make uninstall, into folders with spaces in their names: what is put there, that
# it works there (shipped files, libraries, pkg-config, manual pages), and that all of it and
# nothing else goes again. usage: test_install.sh (BIN: the folder of the programs)
root=$(pwd) BIN=${BIN:-bin}
build=release
case $BIN in */build/*/bin | build/*/bin) build=${BIN%/bin} build=${build##*/} ;; esac
compiler=${CC:-cc}
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
failed=0
complain() { echo "test_install.sh: $*" >&2; failed=1; }
make_it() { env -u PLUMBLINE_DATA make --no-print-directory -C "$root" -o all -o man BUILD=$build \
    "$@" > "$folder/made" 2>&1 || complain "make $1: $(cat "$folder/made")"; }
unset BIN    # make has its own
list() { (cd "$1" && find . ! -type d | sort); }

# ---- a staged tree
stage="$folder/a stage" prefix="/opt/my tools"
there=$stage$prefix
mkdir -p "$there/bin" "$there/share/doc/other"
echo mine > "$there/bin/other" && echo mine > "$there/share/doc/other/page"
make_it install "DESTDIR=$stage" "PREFIX=$prefix"
for file in bin/plumbline bin/plumbline-measure include/plumbline.h lib/libplumbline.so \
    lib/libplumbline.so.0 lib/libplumbline.a lib/pkgconfig/plumbline.pc \
    share/man/man1/plumbline.1 share/man/man1/plumbline-solve.1 \
    share/bash-completion/completions/plumbline share/zsh/site-functions/_plumbline \
    share/fish/vendor_completions.d/plumbline.fish share/plumbline/data/models/openai/gpt2-xl.json \
    share/doc/plumbline/docs/USERGUIDE.md \
    share/doc/plumbline/docs/schemas/plan.schema.json \
    share/doc/plumbline/docs/examples/library/plan.c; do
    [ -s "$there/$file" ] || complain "$file was not installed"
done
[ "$(list "$stage" | wc -l)" = $(($(wc -l < "$there/share/plumbline/installed") + 3)) ] ||
    complain "the list of what was installed is not what is there"
"$there/bin/plumbline" models gpt2-xl > "$folder/out" ||
    complain "models gpt2-xl, as installed: exit $?"
(cd "$folder" && "$there/bin/plumbline" example gpt --model gpt2-xl --gpu a100-80gb --nodes 1 \
    --layouts all -o problem > out) || complain "example gpt, as installed"
# LeakSanitizer, in builds that have it, ends in error where there is no /proc.
if unshare -m sh -c 'umount -l /proc' 2> /dev/null; then
    unshare -m sh -c 'umount -l /proc && PATH=$1:$PATH && cd / && plumbline models gpt2-xl' \
        sh "$there/bin" > "$folder/out" 2>&1 ||
        grep -q "LeakSanitizer has encountered a fatal error" "$folder/out" ||
        complain "models, without /proc: $(cat "$folder/out")"
fi
"$there/bin/plumbline" measure --version > "$folder/out" || complain "measure, as installed"
if command -v man > /dev/null && man --version 2> /dev/null | grep -q '^man '; then
    man -M "$there/share/man" -w plumbline-solve > "$folder/out" 2>&1 ||
        complain "man plumbline-solve: $(cat "$folder/out")"
fi

# ---- the library as a user of it finds it
if command -v pkg-config > /dev/null && [ $build = release ]; then
    export PKG_CONFIG_PATH="$there/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR=
    flags=$(pkg-config --define-prefix --cflags --libs plumbline) ||
        complain "pkg-config: no plumbline"
    eval "$compiler -o '$folder/plan' '$root/docs/examples/library/plan.c' $flags" ||
        complain "plan.c with: $flags"
    (cd "$folder" && LD_LIBRARY_PATH="$there/lib" ./plan problem/problem.json > out 2> err) ||
        complain "plan: $(cat "$folder/err")"
    [ "$(pkg-config --modversion plumbline)" \
        = "$("$there/bin/plumbline" --version | cut -d ' ' -f 2)" ] ||
        complain "pkg-config's version"
    [ "$(pkg-config --variable=prefix plumbline | tr -d '\\')" = "$prefix" ] ||
        complain "prefix: $(pkg-config --variable=prefix plumbline)"
fi

# ---- again: what a former version put and this one does not is gone
echo old > "$there/share/plumbline/old.json" &&
    echo share/plumbline/old.json >> "$there/share/plumbline/installed"
make_it install "DESTDIR=$stage" "PREFIX=$prefix"
[ ! -e "$there/share/plumbline/old.json" ] || complain "what a former version installed stays"

make_it uninstall "DESTDIR=$stage" "PREFIX=$prefix"
[ "$(list "$stage")" = "$(printf './opt/my tools/bin/other\n./opt/my tools/share/doc/other/page')" \
    ] || complain "uninstall leaves: $(list "$stage")"
[ ! -e "$there/share/plumbline" ] && [ ! -e "$there/share/doc/plumbline" ] ||
    complain "uninstall leaves folders"
make --no-print-directory -C "$root" BUILD=$build uninstall "DESTDIR=$stage" "PREFIX=$prefix" \
    > "$folder/out" 2>&1 && complain "uninstall of nothing: exit 0"
grep -q 'nothing was installed there' "$folder/out" ||
    complain "uninstall of nothing: $(cat "$folder/out")"
exit $failed
