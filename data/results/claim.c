// Claims: which kinds have certificates.
#include "data/results/claim.h"

const char *claim_has_no_certificate(const struct problem *p)
{
    const struct job *job = &p->job;
    bool places = p->cluster.places.node_count;
    if (job->objective == OBJECTIVE_PIPETTE && p->cluster.places.node_count > 16)
        return "its objective is pipette, and certificates of that are about 16 nodes at most";
    if (job->objective == OBJECTIVE_MAX_LOAD && places)
        return "its objective is max_load, and certificates of that are about clusters without "
               "places";
    return NULL;
}
