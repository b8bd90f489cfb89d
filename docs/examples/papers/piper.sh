#!/bin/sh
# Widths per stage, replicas in turn (Piper, NeurIPS 2021): its profile of BERT-32 on A100s, as a
# chain whose recomputation holds nothing more, at 25 GiB/s and 1,920 micro-batches. Lines of: GPUs,
# GiB, load by Piper's own search, load and bound by plumbline, of any set of layers recomputed, and
# the processor seconds of the solve.
#   piper.sh FOLDER [GPUS,GIB,PIPER ...]      GAP: 0, of the load
set -eu
plumbline=${PLUMBLINE:-plumbline} folder=$1
shift
mkdir -p "$folder"
# Times of a micro-batch in us, and bytes below: msr-fiddle/piper d7fc8cf, inputs/bert32a100.json,
# without the three nodes of masks and positions, which take no time. A line is a layer: kept and
# recomputed, with 1, 2, 4 and 8 tensor ranks.
cat > "$folder/times" << 'END'
1116 1413 3278 4851 3786 4745 4097 5120
30492 40685 18696 24891 11928 15604 9396 12056
30474 40657 18721 24887 11886 15600 9333 12285
30479 40680 18733 24776 12048 15549 9427 11855
30452 40668 18727 24752 11990 15568 9383 11865
30484 40651 18728 24744 11886 15587 9457 11728
30372 40675 18702 24727 11997 16281 9393 11753
30345 40636 18725 24760 11927 15575 9461 11695
30307 40553 18678 24824 11943 15567 9495 11716
30394 40568 18698 24789 11880 15551 9477 11764
30361 40829 18699 24757 11968 15633 9327 11711
30290 40829 18717 24812 11992 15567 9342 11748
30285 40801 18691 24875 11921 15557 9414 11697
30307 40873 18702 24768 11943 15560 9363 11757
30304 40784 18666 24780 11904 15579 9349 11775
30324 40744 18696 24789 11914 15559 9393 11713
30288 40884 18679 24792 11913 15561 9344 11704
30474 40636 18743 24763 11894 15561 9329 11752
30479 40553 18679 24793 11975 15563 9402 11699
30452 40568 18715 24821 11899 15551 9384 11695
30484 40829 18701 24767 11928 15552 9348 11713
30372 40829 18680 24795 11927 15563 9354 11753
30345 40801 18730 24801 11924 15560 9347 11687
30307 40873 18682 24791 11937 15567 9318 11716
30394 40784 18701 24743 11936 15555 9325 11725
30361 40744 18696 24771 11930 15548 9319 11725
30290 40884 18713 24764 11953 15567 9333 11697
30285 40636 18713 24772 11946 15571 9330 11743
30307 40553 18672 24777 11932 15564 9355 11748
30304 40568 18690 24797 11907 15561 9367 11745
30324 40829 18684 24807 11926 15560 9373 11753
30288 40829 18731 24781 11916 15576 9317 11881
30324 40801 18678 24779 11896 15556 9328 11725
0 0 0 0 0 0 0 0
END
cat > "$folder/write.py" << 'END'
import json, sys
folder, gpus, gib = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
batch, tensor, sent, inner = 1920, (1, 2, 4, 8), 31457280, 16777216
bandwidth = 25 * 2 ** 30
shrink = 1024  # of messages and the link alike, so that buffers, which Piper has not, are small
data = [d for d in range(1, gpus + 1) if batch % d == 0]
times = [list(map(int, line.split())) for line in open(sys.argv[4])]
last = len(times) - 1
# parameters, and kept bytes of a micro-batch, by tensor ranks
embedding = ((200824320, 104348160, 56110080, 31991040),
             (1982464, 1987072, 2052608, 1987072), 16384)
block = ((176997120, 88510080, 44266560, 22144800),
         (606478336, 341581824, 208543744, 142811136), 48234496)
pooler = ((14749440,) * 4, (sent,) * 4, sent)
runs, layer_times = [], []
for k, of in enumerate(times):
    name = "layer-%d" % k
    values, kept, again = embedding if k == 0 else pooler if k == last else block
    # c + sync_bw of the layer at a stage's end, c + sync_fw at its start
    behind = 0 if k == last else sent if k in (0, last - 1) else inner
    before = 0 if k == 0 else sent if k in (1, last) else inner
    entries = []
    for i, t in enumerate(tensor):
        taken = 0 if t == 1 else sent if k in (1, last) else inner
        own = {"tensor": t, "weight_bytes": 2 * values[i], "gradient_bytes": 0,
               "optimizer_bytes": 0, "stash_bytes": {"none": kept[i], "full": again},
               "boundary_bytes": (behind + (sent if t > 1 and k < last else 0)) // shrink}
        if k:
            own["entry_bytes"] = (before + taken) // shrink
        entries.append(own)
        for d in data:
            if d * t <= gpus:  # with the gradients' sum, over d as the load is
                sync = 4 * (d - 1) * values[i] / batch / bandwidth
                layer_times.append({
                    "run": name, "gpu": "a100-80gb", "tensor": t, "data": d,
                    "forward_s": of[2 * i] / 3e6 + sync, "backward_s": of[2 * i] / 1.5e6,
                    "full_s": (of[2 * i + 1] - of[2 * i]) / 1e6})
    first_entry = {key: entries[0][key] for key in entries[0] if key != "tensor"}
    runs.append({"name": name, "kind": "measured", "count": 1,
                 "recomputable": k < last,
                 "measured": dict(first_entry, by_degrees=entries[1:])})
link = {"bytes_per_s": bandwidth / shrink, "latency_s": 0}
most = 64 // len(tensor)  # widths are at most 64: of many data degrees some, the greatest first
lists = []
for t in tensor:
    degrees = [d for d in data if d * t <= gpus]
    if gpus > 64 and len(degrees) > most:
        keep = {degrees[-1 - i * (len(degrees) - 1) // (most - 1)] for i in range(most)}
        degrees = [d for d in degrees if d in keep]
    lists.append({"tensor": [t], "data": degrees})
none = {"value": 0, "origin": "assumed"}
costs = json.load(open(folder + "/example/costs.json"))
for key in ("made_by", "schedule_transfer_share", "transfer_efficiency"):
    costs.pop(key, None)
costs.update(layer_times=layer_times, transfer_launch_s=none, network_efficiency={},
             intra_efficiency={"value": 1, "origin": "assumed"},
             transfer_share={"blocking": 1, "link": 0, "delay": 0, "overhead": 0})
for gpu in costs["gpus"]:
    gpu.update(communicator_bytes=none, constant_bytes=none, library_bytes=none)
write = {
    "model": {"name": "bert-32", "runs": runs},
    "cluster": {"name": "a100", "groups": [{
        "name": "a100", "gpu": "a100-80gb", "nodes": gpus, "gpus_per_node": 1,
        "memory_bytes": int(gib * 2 ** 30), "intra": link,
        "nics": [{"kind": "ethernet", "link": link}]}]},
    "costs": costs,
    "job": {"name": "piper", "sequence": 512, "global_batch": batch, "precision": "fp16",
            "recompute": ["full"], "recompute_any": True, "memory_fraction": 1,
            "objective": "max_load",
            "stage_degrees": "per_stage", "replicas": "in_turn", "widths": lists,
            "space": {"pipeline": list(range(1, min(gpus, len(times)) + 1))},
            "layout": {"tensor": 1, "pipeline": 1, "data": 1, "micro_batch": 1,
                       "schedule": "1f1b"}},
    "problem": {"model": "model.json", "cluster": "cluster.json", "costs": "costs.json",
                "job": "job.json"}}
for kind, document in write.items():
    json.dump(dict({"kind": "plumbline." + kind, "version": 1}, **document),
              open("%s/%s.json" % (folder, kind), "w"))
END
for row in ${*:-8,8,0.146530 32,2,0.049550 32,8,0.036758 64,2,0.021597 64,8,0.018425}; do
    gpus=${row%%,*} piper=${row##*,} gib=${row#*,}
    gib=${gib%,*}
    here=$folder/$gpus-$gib
    mkdir -p "$here"
    "$plumbline" example gpt --model gpt2-xl --gpu a100-80gb --nodes 1 --tensor 1 --pipeline 2 \
        --global-batch 64 --framework any --force -o "$here/example" > "$here/log" 2>&1
    python3 "$folder/write.py" "$here" "$gpus" "$gib" "$folder/times"
    python3 - "$plumbline" "$here" "${GAP:-0}" "$gpus $gib $piper" << 'END'
import json, resource, subprocess, sys
plumbline, here, gap, line = sys.argv[1:]
code = subprocess.call([plumbline, "solve", here + "/problem.json", "-o", here + "/plan.json",
                        "--gap", gap, "--quiet"], stderr=open(here + "/log", "a"))
used = resource.getrusage(resource.RUSAGE_CHILDREN)
plan = json.load(open(here + "/plan.json")) if code == 0 else None
print(line, "%.6f %.6f" % (plan["objective_s"], plan["bound_s"]) if plan else "- -",
      "%.2f" % (used.ru_utime + used.ru_stime))
END
done
