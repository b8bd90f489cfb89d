#!/bin/sh
# Writes what tests start as python3, thousands of times: itself, not a script that first looks for
# its version, and with the folders of its packages, but not what packages run at each start. None
# is written where there is no python3. usage: path.sh FILE
rm -rf "$(dirname "$1")" && mkdir -p "$(dirname "$1")" || exit 1
python3 - > "$1" 2> /dev/null << 'END' && chmod +x "$1" || rm -f "$1"
import os, sys
print('#!/bin/sh\n'
      'case ${1:-} in -m*) exec "%s" "$@" ;; esac\n'
      'PYTHONPATH="${PYTHONPATH:+$PYTHONPATH:}%s" exec "%s" -S "$@"' %
      (sys.executable, os.pathsep.join(sys.path[1:]), sys.executable))
END
