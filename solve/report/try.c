// A script that runs iterations of the plan on mock data and prints what the framework's own log
// measured beside what was predicted.
#include <inttypes.h>

#include "solve/report/report.h"

extern const char try_reading[]; // try.awk

enum status report_try(struct text *out, const struct plan *plan, const struct problem *problem,
                       struct error *err)
{
    int64_t room = 0, sequences = plan_micro_batches_together(plan) * plan->layout.micro_batch;
    TRY(report_expect_stages(plan, err));
    if (!problem)
        return refuse(err, "%s: its problem is missing or has changed since: it gives the sequence",
                      plan->document.path);
    for (int i = 0; i < plan_memory_count(plan); i++) {
        int64_t limit, own = memory_total(plan_memory(plan, i, &limit));
        if (own > room) room = own;
    }
    text_put(out,
             "#!/bin/bash\n"
             "# Iterations of the plan %s on mock data: bash try.sh OPTION ... on each node, "
             "options as for torchrun.sh.\n"
             "# Prints what was measured beside what was predicted. STEPS: how many, else 20. LOG: "
             "where all that is printed goes. By plumbline %s.\n",
             plan->name ? plan->name : "", PLUMBLINE_VERSION);
    report_put_in_flight(out, &plan->layout);
    text_put(out, "set -u\nset -o pipefail\n"
                  "here=$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\n"
                  "log=${LOG:-$here/try.log}\n"
                  "MOCK=${STEPS:-20} bash \"$here/torchrun.sh\" \"$@\" 2>&1 | tee \"$log\"\n"
                  "status=$?\n");
    text_put(out,
             "awk -v predicted=%.9f -v low=%.9f -v high=%.9f -v room=%" PRId64 " \\\n"
             "    -v tokens=%" PRId64 " -v batch=%" PRId64 " -v gpus=%" PRId64
             " -v ended=$status '\n",
             (double)plan->iteration_ns / 1e9, (double)plan->iteration_low_ns / 1e9,
             (double)plan->iteration_high_ns / 1e9, room, sequences * problem->job.sequence,
             sequences, plan->layout.pipeline * plan->devices_per_stage);
    text_put(out, "%s' \"$log\"\nexit $status\n", try_reading);
    return OK;
}
