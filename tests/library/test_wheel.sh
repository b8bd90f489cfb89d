#!/bin/sh
# make wheel, put into a clean environment without a network: what it holds is what it says, it
# needs nothing but the C library of its tag, its functions do what they promise, and the session of
# docs/PYTHON.md runs, with PyTorch where TORCH_PYTHON has it. usage: test_wheel.sh (BIN: the folder
# of the programs; WHEEL_PYTHONS: other versions to try)
root=$(pwd) BIN=${BIN:-bin}
case $BIN in */build/*/bin | build/*/bin) echo \
    "test_wheel.sh: skipped: wheels are made of a release" >&2; exit 0 ;; esac
for tool in python3 ldd objdump strip; do
    command -v $tool > /dev/null || { echo "test_wheel.sh: skipped: no $tool here" >&2; exit 0; }
done
case $BIN in /*) ;; *) BIN=$root/$BIN ;; esac
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
failed=0
complain() { echo "test_wheel.sh: $*" >&2; failed=1; }
unset PYTHONPATH PLUMBLINE_LIBRARY PLUMBLINE_DATA
export PYTHONDONTWRITEBYTECODE=1
BIN='' make --no-print-directory -C "$root" -o all wheel "WHEEL=$folder" > "$folder/made" 2>&1 ||
    { complain "make wheel: $(cat "$folder/made")"; exit 1; }
wheel=$(echo "$folder"/plumbline-*.whl)

# ---- an environment of its own; pip of this Python reaches into it, else it has its own
# install PYTHON FOLDER
install() {
    if "$1" -m pip --python "$1" --version > /dev/null 2>&1; then
        "$1" -m venv --without-pip "$2" && "$1" -m pip --python "$2/bin/python" install -q \
            --no-index --no-compile --disable-pip-version-check "$wheel"
    else
        "$1" -m venv "$2" && "$2/bin/python" -m pip install -q --no-index "$wheel"
    fi > "$folder/out" 2>&1
}
if ! install python3 "$folder/environment"; then
    grep -qiE 'ensurepip|No module named (pip|venv)' "$folder/out" ||
        { complain "pip install: $(cat "$folder/out")"; exit 1; }
    echo "test_wheel.sh: skipped: python3 has no venv or no pip" >&2
    exit 0
fi
python=$folder/environment/bin/python
package=$(cd "$folder" && "$python" -c 'import plumbline; print(plumbline.__path__[0])') ||
    complain "it cannot be imported"

# ---- what it holds
tag=${wheel##*manylinux_}
for library in "$package"/lib/*.so*; do
    asked=$(objdump -T "$library" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -1)
    newest=$(printf '%s\n%s\n' "${asked#GLIBC_}" \
        "$(echo "$tag" | cut -d _ -f 1,2 | tr _ .)" | sort -V | tail -1)
    [ "$newest" = "$(echo "$tag" | cut -d _ -f 1,2 | tr _ .)" ] ||
        complain "$library asks for $asked, the tag says $tag"
done
LD_LIBRARY_PATH='' ldd "$package/lib/libplumbline.so.0" | grep '=> /' |
    grep -v " => $package/lib/" |
    grep -vE '^[[:space:]]*lib(c|m|dl|rt|pthread)\.so' > "$folder/out" &&
    complain "it needs of the system: $(cat "$folder/out")"
for file in LICENSE NOTICE.md; do
    cmp -s "$root/$file" "$package"-*.dist-info/licenses/$file || complain "it has no $file"
done
[ -s "$package/data/torch/run.py" ] && [ -e "$package/py.typed" ] || complain "files are missing"
[ "$("$python" -c 'import plumbline; print(plumbline.__version__)')" \
    = "$("$BIN/plumbline" --version | cut -d ' ' -f 2)" ] || complain "its version"

# ---- what it does
sh "$root/tests/library/small_problem.sh" "$folder/small" 2> "$folder/out" ||
    complain "no small problem: $(cat "$folder/out")"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
cp "$root/tests/library/python_checks.py" "$folder"
cd "$folder" || exit 2
for other in "$python" ${WHEEL_PYTHONS:-}; do
    PYTHONPATH=$([ "$other" = "$python" ] || dirname "$package") PATH="$BIN:$PATH" "$other" \
        -W error python_checks.py "$folder/small" "$root/tests/explain/logs/megatron.log" \
        > out 2>&1 || complain "python_checks.py with $other: $(tail -15 out)"
    grep "^skipped: " out
done

# ---- the session of the manual, as a script
sed -n '/^```python$/,/^```$/p' "$root/docs/PYTHON.md" | grep -v '^```' > session.py
[ "$(wc -l < session.py)" -le 14 ] && grep -q 'runner="torch"' session.py ||
    complain "the session has more than 14 lines, or no run with torch"
sed -i '1i def display(item): print(item._repr_html_())' session.py
if "${TORCH_PYTHON:-python3}" -c 'import torch.distributed.pipelining' 2> /dev/null; then
    sed -i "s,runner=\"torch\",&\\, python='${TORCH_PYTHON:-python3}'," session.py
elif command -v mpirun > /dev/null && [ -x "$BIN/plumbline-measure-mpi" ]; then
    echo "test_wheel.sh: the session has own kernels: no torch with pipelining here" >&2
    sed -i 's,runner="torch",runner="own",' session.py
else
    echo "test_wheel.sh: skipped: the session: neither torch nor MPI here" >&2
    exit $failed
fi
PATH="$BIN:$PATH" "$python" session.py > out 2>&1 || complain "the session: $(tail -5 out)"
grep -q 'no plan takes less than' out && grep -q '^accepted: ' out && grep -q ': measured ' out &&
    [ "$(grep -c ' True$\| False$' out)" = 4 ] || complain "the session says: $(cat out)"
exit $failed
