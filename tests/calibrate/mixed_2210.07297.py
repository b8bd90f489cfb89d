#!/usr/bin/env python3
# The runs on a cluster of two kinds of GPU published with AMP, arXiv 2210.07297 (DachengLi1/AMP,
# src/results/ het_cluster_results.txt; no licence stated: not shipped here) as a table of runs on
# stdout: three nodes of four V100 (16 GB, p3.8xlarge, 10 Gb/s), then one of four T4 (g4dn.12xlarge,
# 50 Gb/s), GPT-2 of 24 layers, DeepSpeed in fp16, a batch of 32, gradients summed in fp32
# (fp32_allreduce in its ds_config.json). Runs that did not end (r_cost inf) are failed_or_oom.
# mixed_2210.07297.py FILE
import re, sys

print(
    "id,source,gpu,num_gpus,layers,hidden,vocab,seq,tp,pp,dp,micro_batch,global_batch,zero,"
    "precision,gradient_bytes,whole_gradient_sums,trainer,metric,value,unit,notes"
)
count = 0
for line in open(sys.argv[1]):
    run = re.match(
        r"Simulating result: None, (\[.*?\]), (\d+), \{'mp_deg': tensor\(\[(\d+)\.\]\), "
        r"'dp_deg': tensor\(\[(\d+)\.\]\), 'pp_deg': tensor\(\[(\d+)\.\]\)\}.*r_cost: (\S+)",
        line,
    )
    if not run:
        continue
    count += 1
    bounds, micro_batch, tensor, data, pipeline, seconds = run.groups()
    failed = seconds == "inf"
    print(
        f"mx-{count:02},DachengLi1/AMP src/results/het_cluster_results.txt,"
        f"V100-16GB*12 T4-16GB*4,16,24,1024,52256,1024,{tensor},{pipeline},{data},"
        f"{micro_batch},32,0,fp16,2,1,deepspeed,"
        f"{'failed_or_oom' if failed else 'iteration_time'},{1 if failed else seconds},"
        f"{'flag' if failed else 's'},\"pseudo-layers={bounds.replace(',', ' ')}\""
    )
