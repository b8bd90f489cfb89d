// Claims: which kinds have certificates.
#include "data/results/claim.h"

const char *claim_has_no_certificate(const struct problem *p)
{
    bool many = p->cluster.places.node_count > 16;
    return p->job.objective == OBJECTIVE_PIPETTE && many
               ? "its objective is pipette, and certificates of that are about 16 nodes at most"
               : NULL;
}
