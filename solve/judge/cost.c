// The cost of a plan: its iteration time multiplied by the devices of its layout and their rental
// price. The iteration time is judged elsewhere.
#include "solve/judge/internal.h"

void audit_cost(struct audit *h)
{
    const struct job *j = &h->problem->job;
    const struct layout *l = &h->plan->layout;
    long double devices = (long double)l->pipeline * l->data * l->context * l->tensor,
                seconds = (long double)h->plan->iteration_ns / 1e9L, rounding = 1 + 1e-12L;
    if (j->objective == OBJECTIVE_COST) {
        long double own = devices * (long double)h->plan->iteration_ns,
                    claimed = (long double)h->plan->objective_ns;
        h->verdict->terms_checked++;
        if (claimed < own || claimed > own)
            REJECT(h, "objective", -1,
                   "claimed a cost of %lld ns of a device, the judge finds %.0Lf devices x %lld ns",
                   (long long)h->plan->objective_ns, devices, (long long)h->plan->iteration_ns);
    }
    if (j->iteration_limit_s > 0 && seconds > j->iteration_limit_s * rounding)
        REJECT(h, "limit", -1, "an iteration takes %.9Lf s, the job's limit is %.9g s", seconds,
               j->iteration_limit_s);
    if (j->price_limit <= 0) return;
    long double hour = h->problem->cluster.groups[0].gpu_hour_price,
                tokens = (long double)j->sequence * j->global_batch,
                million = hour * devices * seconds / 3600 / tokens * 1e6L;
    if (million > j->price_limit * rounding)
        REJECT(h, "limit", -1, "a million tokens cost %.9Lg, the job's limit is %.9g", million,
               j->price_limit);
}
