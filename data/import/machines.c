// See machines.h. EFA and RoCE pass the system's kernel by, TCP over several cards (A3) does not.
#include "data/import/machines.h"

#include "data/base/names.h"
#include "data/places/cluster.h"

static const struct cloud_machine machines[] = {
    {"p3dn.24xlarge", "v100-32gb", 8, 1, 100, NIC_ETHERNET},
    {"p3.16xlarge", "v100-16gb", 8, 1, 25, NIC_ETHERNET},
    {"p3.8xlarge", "v100-16gb", 4, 1, 10, NIC_ETHERNET},
    {"p4d.24xlarge", "a100-40gb", 8, 4, 100, NIC_ROCE},
    {"p4de.24xlarge", "a100-80gb", 8, 4, 100, NIC_ROCE},
    {"p5.48xlarge", "h100-80gb", 8, 32, 100, NIC_ROCE},
    {"p5e.48xlarge", "h200-141gb", 8, 32, 100, NIC_ROCE},
    {"p5en.48xlarge", "h200-141gb", 8, 16, 200, NIC_ROCE},
    {"p6-b200.48xlarge", "b200", 8, 8, 400, NIC_ROCE},
    {"g5.48xlarge", "a10g-24gb", 8, 1, 100, NIC_ETHERNET},
    {"g5.12xlarge", "a10g-24gb", 4, 1, 40, NIC_ETHERNET},
    {"g5.24xlarge", "a10g-24gb", 4, 1, 50, NIC_ETHERNET},
    {"g5.xlarge", "a10g-24gb", 1, 1, 10, NIC_ETHERNET},
    {"g5.2xlarge", "a10g-24gb", 1, 1, 10, NIC_ETHERNET},
    {"g5.4xlarge", "a10g-24gb", 1, 1, 25, NIC_ETHERNET},
    {"g5.8xlarge", "a10g-24gb", 1, 1, 25, NIC_ETHERNET},
    {"g5.16xlarge", "a10g-24gb", 1, 1, 25, NIC_ETHERNET},
    {"p3.2xlarge", "v100-16gb", 1, 1, 10, NIC_ETHERNET},
    {"g4dn.xlarge", "t4-16gb", 1, 1, 25, NIC_ETHERNET},
    {"g4dn.12xlarge", "t4-16gb", 4, 1, 50, NIC_ETHERNET},
    {"g4dn.metal", "t4-16gb", 8, 1, 100, NIC_ETHERNET},
    {"g6e.48xlarge", "l40s", 8, 4, 100, NIC_ETHERNET},
    {"g6e.24xlarge", "l40s", 4, 2, 100, NIC_ETHERNET},
    {"g6e.12xlarge", "l40s", 4, 1, 100, NIC_ETHERNET},
    {"a2-highgpu-8g", "a100-40gb", 8, 1, 100, NIC_ETHERNET},
    {"a2-megagpu-16g", "a100-40gb", 16, 1, 100, NIC_ETHERNET},
    {"a2-ultragpu-8g", "a100-80gb", 8, 1, 100, NIC_ETHERNET},
    {"a3-highgpu-8g", "h100-80gb", 8, 4, 200, NIC_ETHERNET},
    {"a3-megagpu-8g", "h100-80gb", 8, 8, 200, NIC_ETHERNET},
    {"a3-ultragpu-8g", "h200-141gb", 8, 8, 400, NIC_ROCE},
    {"a4-highgpu-8g", "b200", 8, 8, 400, NIC_ROCE},
    {"ND96asr_v4", "a100-40gb", 8, 8, 200, NIC_INFINIBAND},
    {"ND96amsr_A100_v4", "a100-80gb", 8, 8, 200, NIC_INFINIBAND},
    {"ND96isr_H100_v5", "h100-80gb", 8, 8, 400, NIC_INFINIBAND},
    {"ND96isr_H200_v5", "h200-141gb", 8, 8, 400, NIC_INFINIBAND},
    {"ND40rs_v2", "v100-32gb", 8, 1, 100, NIC_INFINIBAND},
};

const struct cloud_machine *cloud_machine_in(const char *text, const char **at, int *found)
{
    const struct cloud_machine *named = NULL;
    *found = 0;
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        const char *s = find_in_any_case(text, machines[i].name);
        if (s) *at = s, named = &machines[i], ++*found;
    }
    return *found == 1 ? named : NULL;
}
