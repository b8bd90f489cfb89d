"""Damaged files at each reader of measurements and nodes: read, or refused in one line, within a
bound of memory and time; never a crash.

usage: hostile.py PLUMBLINE FOLDER TRIALS SEED
"""
import os
import random
import resource
import subprocess
import sys

plumbline, folder = sys.argv[1:3]
trials, seed = int(sys.argv[3]), int(sys.argv[4])
MEMORY = 512 << 20
os.makedirs(folder, exist_ok=True)

mesh = "".join(
    f'<pci busid="0000:0{i}:00.0" class="0x030200" link_speed="8 GT/s" link_width="16">'
    f'<gpu dev="{i}" sm="70" rank="{i}">' +
    "".join(f'<nvlink target="0000:0{k}:00.0" count="{1 + (i + k) % 2}" tclass="0x030200"/>'
            for k in range(4) if k != i) + "</gpu></pci>\n" for i in range(4))
row = "%12d %12d  float  sum  -1  100.0  %s  %s  0  100.0  %s  %s  0\n"
kinds = {
    ("nccl-tests", ""): "# nThread 1 nGpus 1 minBytes 8\n#\n# Using devices\n" + "".join(
        f"#  Rank  {i} Group  0 Pid 10{i} on node-{i} device  0 [0x1b] H100\n" for i in range(4)) +
        "#  size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n" +
        "".join(row % (n, n // 4, n / 1e5, n * 1.5 / 1e5, n / 1e5, n * 1.5 / 1e5)
                for n in (1000000, 4000000)) + "# Avg bus bandwidth    : 12.5\n",
    ("nvbandwidth", ""): "nvbandwidth Version: v0.8\nDevice 0: H100 (0:18:0)\n\nRunning "
        "device_to_device_memcpy_read_ce.\nmemcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\n"
        "           0         1\n 0       N/A    268.44\n 1    536.87       N/A\n\nSUM x 805.31\n",
    ("links", ""): "  RDMA_Write BW Test\n #bytes #iterations BW peak[MB/sec] BW average[MB/sec] "
        "MsgRate[Mpps]\n 65536 5000 11000.0 10000.0 0.1\n 1048576 5000 11000.0 10000.0 0.1\n"
        "Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)\n   D\\D     0      1\n"
        "     0 1290.00 160.00\n     1  80.00 1290.00\n",
    ("nccl-topology", "--like v100-16gb-16x8"): '<system version="1"><cpu numaid="0">\n' + mesh +
        '<nic><net name="mlx5_0" dev="0" speed="100000" gdr="1"/></nic></cpu></system>\n',
    ("topo", "--like a100-16x8"): "\tGPU0\tGPU1\tGPU2\tNIC0\tCPU Affinity\nGPU0\tX\tNV4\tNV4\tPIX\n"
        "GPU1\tNV4\tX\tNV4\tSYS\nGPU2\tNV4\tNV4\tX\tSYS\nNIC0\tPIX\tSYS\tSYS\tX\n",
    ("topo", "--like mi300x-16x8"): "== Hops between two GPUs ==\n       GPU0  GPU1\n"
        "GPU0   0     1\nGPU1   1     0\n\n== Link Type between two GPUs ==\n"
        "       GPU0  GPU1\nGPU0   0     XGMI\n"
        "GPU1   XGMI  0\n",
    ("slurm", "--like h100-128x8"): "BlockName=a Nodes=n[01-04]\nBlockName=b Nodes=n[05-08]\n"
        "BlockSizes=4,8\n",
    ("slurm", "--like gb200-8x72"): "- topology: t\n  block:\n    block_sizes: [18, 36]\n"
        "    blocks:\n"
        "      - block: a\n        nodes: n[01-18]\n      - block: b\n        nodes: n[19-36]\n",
    ("sinfo", "--like h100-128x8"): '{"sinfo": [{"nodes": {"nodes": ["n1", "n2"]}, "gres": '
        '{"total": "gpu:h100:8"}, "node": {"state": ["IDLE"]}}], "x": NaN}\n',
    ("sinfo", "--like  h100-128x8"): "PartitionName=gpu\n   Nodes=n[1-2] TotalNodes=2\n"
        "   TRES=cpu=384,gres/gpu=16,gres/gpu:h100=16\n",
}
pieces = ["0", "9", "-", ".", ",", '"', "[", "]", "{", "}", "<", ">", "/", "=", "\n", "\t", " ",
          "\x1b[", "\xff", "#", "99999999999999999999", "nan", "1e999", "n[1-4000]", "GPU0 ",
          "NaN", "0: ", "</gpu>", "count=\"1000\""]


def damaged(text, rng):
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(text) + 1)
        end = min(len(text), at + rng.choice([0, 1, 1, 2, 8, 40]))
        chosen = rng.choice(pieces + [text[at:end] * rng.randint(1, 30)])
        text = text[:at] + chosen + text[end:]
    return text[:rng.randrange(len(text) + 1)] if rng.random() < 0.2 else text


def bound():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


counts = {0: 0, 2: 0}
for number, ((kind, options), whole) in enumerate(kinds.items()):
    rng = random.Random(seed * 1000 + number)
    for trial in range(trials):
        text = damaged(whole, rng) if trial else whole
        path = os.path.join(folder, "hostile.txt")
        with open(path, "w", encoding="latin-1") as file:
            file.write(text)
        try:
            done = subprocess.run([plumbline, "import", kind, path, *options.split(), "-o",
                                   os.path.join(folder, "out.json")], capture_output=True,
                                  preexec_fn=bound, timeout=20)
        except subprocess.TimeoutExpired:
            sys.exit(f"hostile: {kind}: no end after 20 s: {text!r}")
        lines = done.stderr.decode("latin-1").splitlines()
        good = done.returncode == 0 or (done.returncode == 2 and len(lines) == 1)
        # what cannot be written is refused behind what was read
        if not good and not (done.returncode == 1 and "not written" in lines[-1]):
            sys.exit(f"hostile: {kind}: exit {done.returncode}, {lines}: {text!r}")
        if not trial and done.returncode:
            sys.exit(f"hostile: {kind}: the whole file is refused: {lines}")
        counts[done.returncode] = counts.get(done.returncode, 0) + 1
print(f"damaged files: {counts[0]} read, {counts[2]} refused")
