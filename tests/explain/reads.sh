# For the tests of `plumbline explain`: what is read of a log.

# reads LOG KEY=VALUE ...: what is stated, and measured, in the answer as JSON
reads() {
    "$plumbline" explain "$1" --json > out 2> err || complain "explain $1"
    cp out "explained-$1.json"
    python3 - "$@" << 'END' || complain "$1: not as read"
import json, sys
answer = json.load(open("out"))
said = {key: told["value"] for key, told in answer["stated"].items()}
said.update({key: value for key, value in answer["measured"].items()})
said["verdict"] = answer["verdict"]
said["reading"] = answer["reading"]["outcome"]
# any layout is no slower than one change, where all were priced
times = [answer[key]["iteration_s"] for key in ("one_flag", "one_degree") if key in answer]
layout = answer.get("any_layout")
if layout:
    assert not layout["all"] or all(layout["iteration_s"] <= time * 1.001 for time in times)
    assert layout["iteration_s"] < answer["predicted"]["iteration_s"] and layout["values"]
for word in sys.argv[2:]:
    key, value = word.split("=")
    found = said.get(key)
    near = isinstance(found, float) and abs(found / float(value) - 1) < 1e-3
    if value == "-":
        assert found is None, word + ": found " + str(found)
    else:
        assert near or str(found) == value, word + ": found " + str(found)
END
}
