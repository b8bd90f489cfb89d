// A script that runs iterations of the plan on mock data and prints what the framework's own log
// measured beside what was predicted.
#include <inttypes.h>

#include "solve/report/report.h"

// The log's lines, by framework. Colours between the words are removed first.
static const char reading[] =
    "{ gsub(/\\033\\[[0-9;]*m/, \"\"); seconds = 0 }\n"
    "# Megatron-LM, Megatron Bridge; torchtitan; DeepSpeed\n"
    "/elapsed time per iteration \\(ms\\): / { seconds = after(\"iteration (ms): \") / 1000 }\n"
    "/step: +[0-9]+ .* tps: / { if (tps = after(\"tps: \")) seconds = tokens / tps / gpus }\n"
    "/CurrSamplesPerSec=/ { if (sps = after(\"CurrSamplesPerSec=\")) seconds = batch / sps }\n"
    "/max allocated: / { memory(after(\"max allocated: \") * 1048576) }\n"
    "/memory: +[0-9.]+GiB/ { memory(after(\"memory: \") * 1073741824) }\n"
    "/MaxMemAllocated=[0-9.]+GB/ { memory(after(\"MaxMemAllocated=\") * 1073741824) }\n"
    "seconds > 0 { took[++count] = seconds }\n"
    "function after(words,    rest) {\n"
    "    rest = substr($0, index($0, words) + length(words))\n"
    "    sub(/^ +/, \"\", rest)\n"
    "    gsub(/,/, \"\", rest)\n"
    "    return rest + 0\n"
    "}\n"
    "function memory(bytes) { if (bytes > most) most = bytes }\n"
    "function line(name, measured, predicted, unit) {\n"
    "    printf \"%-10s %12.3f %12.3f %-3s %+8.1f %%\\n\", name, measured, predicted, unit,\n"
    "        100 * (measured / predicted - 1)\n"
    "}\n"
    "END {\n"
    "    first = int(count / 4) + 1 # the first quarter warms up\n"
    "    for (i = first; i <= count; i++) { # in order\n"
    "        for (k = i; k > first && took[k - 1] > took[k]; k--) {\n"
    "            keep = took[k]; took[k] = took[k - 1]; took[k - 1] = keep\n"
    "        }\n"
    "    }\n"
    "    if (!count) {\n"
    "        print \"no times of iterations in the log: the last node prints them (Megatron, \" "
    "\\\n"
    "            \"torchtitan), or the first (DeepSpeed)\"\n"
    "        exit\n"
    "    }\n"
    "    middle = took[int((first + count) / 2)]\n"
    "    printf \"\\nmedian of %d of %d iterations\\n\", count - first + 1, count\n"
    "    printf \"%-10s %12s %12s %-3s %10s\\n\", \"\", \"measured\", \"predicted\", \"\", "
    "\"measured\"\n"
    "    line(\"iteration\", middle, predicted, \"s\")\n"
    "    line(\"tokens/s\", tokens / middle, tokens / predicted, \"\")\n"
    "    if (most) line(\"memory\", most / 1e9, room / 1e9, \"GB\")\n"
    "    if (high) printf \"%s the range of the costs, %.3f to %.3f s\\n\",\n"
    "        (middle < low ? \"below\" : (middle > high ? \"above\" : \"within\")), low, high\n"
    "}\n";

enum status report_try(const struct plan *plan, const struct problem *problem, const char **text,
                       size_t *length, struct arena *arena, struct error *err)
{
    struct text out;
    int64_t room = 0, sequences = plan_micro_batches_together(plan) * plan->layout.micro_batch;
    TRY(report_expect_stages(plan, err));
    if (!problem)
        return fail(err, BAD_INPUT,
                    "%s: its problem is missing or has changed since: it gives the sequence",
                    plan->document.path);
    for (int i = 0; i < plan_memory_count(plan); i++) {
        int64_t limit, own = memory_total(plan_memory(plan, i, &limit));
        if (own > room) room = own;
    }
    text_begin(&out, arena);
    text_put(
        &out,
        "#!/bin/bash\n"
        "# Iterations of the plan %s on mock data: bash try.sh OPTION ... on each node, options "
        "as for torchrun.sh.\n"
        "# Prints what was measured beside what was predicted. STEPS: how many, else 20. LOG: "
        "where all that is printed goes. By plumbline %s.\n"
        "set -u\nset -o pipefail\n"
        "here=$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\n"
        "log=${LOG:-$here/try.log}\n"
        "MOCK=${STEPS:-20} bash \"$here/torchrun.sh\" \"$@\" 2>&1 | tee \"$log\"\n"
        "status=$?\n",
        plan->name ? plan->name : "", PLUMBLINE_VERSION);
    text_put(&out,
             "awk -v predicted=%.9f -v low=%.9f -v high=%.9f -v room=%" PRId64 " \\\n"
             "    -v tokens=%" PRId64 " -v batch=%" PRId64 " -v gpus=%" PRId64 " '\n",
             (double)plan->iteration_ns / 1e9, (double)plan->iteration_low_ns / 1e9,
             (double)plan->iteration_high_ns / 1e9, room, sequences * problem->job.sequence,
             sequences, plan->layout.pipeline * plan->devices_per_stage);
    text_put(&out, "%s' \"$log\"\nexit $status\n", reading);
    return text_end(&out, text, length);
}
