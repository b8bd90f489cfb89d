#!/bin/sh
# What tests/gpu/run.sh costs in device time, without a device: the limits of its parts, and for
# each part that measures its operations and seconds on a simulated device of an H100's rates.
# usage: minutes.sh MEASURE; exit code 1 if the limits together reach ten minutes
measure=${1:-bin/plumbline-measure}
here=$(dirname "$0")
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
# The settings of shapes, and the parts on one line each.
sed -n '/^gpt=/,/^ *llama=/p' "$here/run.sh" | sed 's/\\$//' > "$folder/shapes.sh"
. "$folder/shapes.sh"
sed -e ':a' -e '/\\$/N; s/\\\n//; ta' "$here/run.sh" | grep '^part ' > "$folder/parts"
all=0
while read -r _ name limit words; do
    all=$((all + limit))
    case $words in *'"$cpu" compute'* | *'"$cpu" memory'* | *'"$cpu" compress'*)
        words=$(echo "$words" | sed -e 's/^\$with "\$cpu" //' -e 's/-o "[^"]*"//' \
            -e 's/--backend cuda//')
        eval "\"$measure\" $words --backend simulated \
            --simulate gemm=6e14,memory=2.4e12,link=5e10,call=6e-6,bytes=8e10 \
            -o \"$folder/$name.json\"" > /dev/null 2> "$folder/log"
        found=$(grep -h '^measured' "$folder/log" | sed -n \
            -e 's/^measured \([0-9]* operations\) .* in \([0-9.]* s\);.*/\1, \2/p' \
            -e 's/^measured \([0-9]* passes\) .* in \([0-9.]* s\)$/\1 without a rest, \2/p')
        [ "$found" ] || found=$(tail -1 "$folder/log")
        echo "$name: at most $limit s;" $found ;;
    *) echo "$name: at most $limit s" ;;
    esac
done < "$folder/parts"
echo "all: at most $all s of device time"
[ "$all" -lt 600 ]
