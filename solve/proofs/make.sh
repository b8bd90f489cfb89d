# Checks the proofs and builds the referee from them: sh solve/proofs/make.sh FOLDER. Needs Debian's
# coq, ocaml-findlib and libzarith-ocaml-dev; without them it says so.
set -eu
mkdir -p "$1"
into=$(cd "$1" && pwd)
cd "$(dirname "$0")"
for tool in coqc ocamlfind; do
    command -v $tool > /dev/null || { echo "proofs: no $tool: skipped" >&2; exit 0; }
done
if ! [ -f "$(ocamlfind query zarith 2> /dev/null)/zarith.cmxa" ]; then
    echo "proofs: no zarith: skipped" >&2
    exit 0
fi
if grep -nE '^[^(]*\b(Admitted|Axiom|Parameter|admit)\b' ./*.v; then
    echo "proofs: something is assumed" >&2
    exit 1
fi
cp ./*.v referee/*.ml "$into"
cd "$into"
# One process reads them all, each as a module: Rocq's library is loaded once.
sed -i 's/^From Plumbline Require Import/Import/; /^From Plumbline Require /d' ./*.v
for file in Schedule Document Mixture Automaton Boxes Ranks Tree Referee Sound Reach Streams \
    Bounds Turns Blocks Strays Filling Layers Sums Settings Room Dominance Space Prices Swap \
    Theorems; do
    echo "Module $file. Load $file. End $file."
done > All.v
echo "Load Extract." >> All.v
coqc -w -abstract-large-number,-require-in-module -Q . Plumbline All.v > said
if [ "$(grep -c 'Closed under the global context' said)" -ne \
    "$(cat ./*.v | grep -c '^Print Assumptions')" ]; then
    cat said >&2
    echo "proofs: a theorem rests on something" >&2
    exit 1
fi
ocamlfind ocamlopt -inline 20 -package zarith -linkpkg -w -a -o plumbline-referee \
    whole.ml verified.mli verified.ml names.ml json.ml sha256.ml priced.ml elaborated.ml starts.ml \
    referee.ml \
    2> ocaml.said || { cat ocaml.said >&2; exit 1; }
