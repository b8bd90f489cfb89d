#!/bin/sh
# Puts the programs and the libraries that a bare GPU machine may lack into build/gpu: what `ldd`
# names, but the C library's own parts, the driver's and CUDA's (too large, and there). usage:
# pack.sh BIN
bin=${1:-bin} to=build/gpu
rm -rf $to
mkdir -p $to/bin $to/lib
for program in plumbline plumbline-measure plumbline-measure-cuda gemm_heuristics; do
    [ -x "$bin/$program" ] || { echo "pack: $bin/$program is not there" >&2; exit 2; }
    cp "$bin/$program" $to/bin
    ldd "$bin/$program" | awk '$3 ~ /^\// {print $1, $3}'
done | sort -u | while read -r name path; do
    case $name in
    libc.so* | libm.so* | libdl.so* | librt.so* | libpthread.so* | ld-linux* | libstdc++.so* | \
        libgcc_s.so* | libcu* | libnv* | libnccl*) ;;
    *) cp -L "$path" "$to/lib/$name" ;;
    esac
done
strip $to/bin/* $to/lib/* 2> /dev/null
du -sh $to
