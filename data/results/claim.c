// Claims: which kinds have certificates.
#include "data/results/claim.h"

const char *claim_has_no_certificate(const struct problem *p)
{
    static const char *const by_objective[] = {
        [OBJECTIVE_ITERATION_TIME] = NULL,
        [OBJECTIVE_PIPETTE] = "its objective is pipette, and certificates are about the time",
        [OBJECTIVE_COST] = "its objective is cost, and certificates are about the time",
    };
    const struct job *job = &p->job;
    bool places = p->cluster.places.node_count;
    if (job->objective == OBJECTIVE_MAX_LOAD && (places || job->space.given))
        return "its objective is max_load, and certificates of that are about one layout on a "
               "cluster without places";
    if (by_objective[job->objective]) return by_objective[job->objective];
    if (job->iteration_limit_s > 0 || job->price_limit > 0)
        return "it has a limit of time or price, and certificates are about all plans";
    if (job->space.given && places) return "it has a space of layouts on a cluster with places";
    return NULL;
}
