// Claims: which kinds have certificates.
#include "data/results/claim.h"

const char *claim_has_no_certificate(const struct problem *p)
{
    static const char *const by_objective[] = {
        [OBJECTIVE_ITERATION_TIME] = NULL,
        [OBJECTIVE_MAX_LOAD] = "its objective is max_load, and certificates are about the time",
        [OBJECTIVE_PIPETTE] = "its objective is pipette, and certificates are about the time",
        [OBJECTIVE_COST] = "its objective is cost, and certificates are about the time",
    };
    const struct job *job = &p->job;
    if (by_objective[job->objective]) return by_objective[job->objective];
    if (job->iteration_limit_s > 0 || job->price_limit > 0)
        return "it has a limit of time or price, and certificates are about all plans";
    if (job->space.given && p->cluster.places.node_count)
        return "it has a space of layouts on a cluster with places";
    return NULL;
}
