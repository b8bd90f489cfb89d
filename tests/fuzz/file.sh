#!/bin/sh
# Puts the files of a corpus into folders by the last letter of their names: file.sh FOLDER
set -eu
cd "$1"
for file in *; do
    [ -f "$file" ] || continue
    to=${file#"${file%?}"}
    mkdir -p "$to" && mv "$file" "$to/"
done
