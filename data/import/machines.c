// See machines.h. EFA, RoCE and A3 Mega's TCPXO, a datapath of its own in user space, pass the
// system's kernel by, TCP over several cards (A3 High) does not. AWS's rates are the sustained
// ones, not "up to" (S aws/karpenter-provider-aws 1d927085dd81, zz_generated.bandwidth.go, from
// AWS's tables), Azure's NC those of its pages (S MicrosoftDocs/azure-compute-docs,
// gpu-accelerated: nca100v4, ncadsh100v5, ncast4v3).
#include "data/import/machines.h"

#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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
    {"p6-b300.48xlarge", "b300", 8, 16, 400, NIC_ROCE},
    {"g5.48xlarge", "a10g-24gb", 8, 1, 100, NIC_ETHERNET},
    {"g5.12xlarge", "a10g-24gb", 4, 1, 40, NIC_ETHERNET},
    {"g5.24xlarge", "a10g-24gb", 4, 1, 50, NIC_ETHERNET},
    {"g5.xlarge", "a10g-24gb", 1, 1, 2.5, NIC_ETHERNET},
    {"g5.2xlarge", "a10g-24gb", 1, 1, 5, NIC_ETHERNET},
    {"g5.4xlarge", "a10g-24gb", 1, 1, 10, NIC_ETHERNET},
    {"g5.8xlarge", "a10g-24gb", 1, 1, 25, NIC_ETHERNET},
    {"g5.16xlarge", "a10g-24gb", 1, 1, 25, NIC_ETHERNET},
    {"p3.2xlarge", "v100-16gb", 1, 1, 2.5, NIC_ETHERNET},
    {"g4dn.xlarge", "t4-16gb", 1, 1, 5, NIC_ETHERNET},
    {"g4dn.2xlarge", "t4-16gb", 1, 1, 10, NIC_ETHERNET},
    {"g4dn.4xlarge", "t4-16gb", 1, 1, 20, NIC_ETHERNET},
    {"g4dn.8xlarge", "t4-16gb", 1, 1, 50, NIC_ETHERNET},
    {"g4dn.16xlarge", "t4-16gb", 1, 1, 50, NIC_ETHERNET},
    {"g4dn.12xlarge", "t4-16gb", 4, 1, 50, NIC_ETHERNET},
    {"g4dn.metal", "t4-16gb", 8, 1, 100, NIC_ETHERNET},
    {"g6e.48xlarge", "l40s", 8, 4, 100, NIC_ETHERNET},
    {"g6e.24xlarge", "l40s", 4, 2, 100, NIC_ETHERNET},
    {"g6e.12xlarge", "l40s", 4, 1, 100, NIC_ETHERNET},
    {"g6e.xlarge", "l40s", 1, 1, 2.5, NIC_ETHERNET},
    {"g6e.2xlarge", "l40s", 1, 1, 5, NIC_ETHERNET},
    {"g6e.4xlarge", "l40s", 1, 1, 20, NIC_ETHERNET},
    {"g6e.8xlarge", "l40s", 1, 1, 25, NIC_ETHERNET},
    {"g6e.16xlarge", "l40s", 1, 1, 35, NIC_ETHERNET},
    {"g6.xlarge", "l4-24gb", 1, 1, 2.5, NIC_ETHERNET},
    {"g6.2xlarge", "l4-24gb", 1, 1, 5, NIC_ETHERNET},
    {"g6.4xlarge", "l4-24gb", 1, 1, 10, NIC_ETHERNET},
    {"g6.8xlarge", "l4-24gb", 1, 1, 25, NIC_ETHERNET},
    {"g6.16xlarge", "l4-24gb", 1, 1, 25, NIC_ETHERNET},
    {"g6.12xlarge", "l4-24gb", 4, 1, 40, NIC_ETHERNET},
    {"g6.24xlarge", "l4-24gb", 4, 1, 50, NIC_ETHERNET},
    {"g6.48xlarge", "l4-24gb", 8, 1, 100, NIC_ETHERNET},
    {"p5.4xlarge", "h100-80gb", 1, 1, 100, NIC_ROCE},
    {"a2-highgpu-1g", "a100-40gb", 1, 1, 24, NIC_ETHERNET},
    {"a2-highgpu-2g", "a100-40gb", 2, 1, 32, NIC_ETHERNET},
    {"a2-highgpu-4g", "a100-40gb", 4, 1, 50, NIC_ETHERNET},
    {"a2-ultragpu-1g", "a100-80gb", 1, 1, 24, NIC_ETHERNET},
    {"a2-ultragpu-2g", "a100-80gb", 2, 1, 32, NIC_ETHERNET},
    {"a2-ultragpu-4g", "a100-80gb", 4, 1, 50, NIC_ETHERNET},
    {"a3-highgpu-1g", "h100-80gb", 1, 1, 25, NIC_ETHERNET},
    {"a3-highgpu-2g", "h100-80gb", 2, 1, 50, NIC_ETHERNET},
    {"a3-highgpu-4g", "h100-80gb", 4, 1, 100, NIC_ETHERNET},
    {"g2-standard-24", "l4-24gb", 2, 1, 32, NIC_ETHERNET},
    {"g2-standard-48", "l4-24gb", 4, 1, 50, NIC_ETHERNET},
    {"g2-standard-96", "l4-24gb", 8, 1, 100, NIC_ETHERNET},
    {"a2-highgpu-8g", "a100-40gb", 8, 1, 100, NIC_ETHERNET},
    {"a2-megagpu-16g", "a100-40gb", 16, 1, 100, NIC_ETHERNET},
    {"a2-ultragpu-8g", "a100-80gb", 8, 1, 100, NIC_ETHERNET},
    {"a3-highgpu-8g", "h100-80gb", 8, 4, 200, NIC_ETHERNET},
    {"a3-megagpu-8g", "h100-80gb", 8, 8, 200, NIC_ROCE},
    {"a3-ultragpu-8g", "h200-141gb", 8, 8, 400, NIC_ROCE},
    {"a4-highgpu-8g", "b200", 8, 8, 400, NIC_ROCE},
    {"ND96asr_v4", "a100-40gb", 8, 8, 200, NIC_INFINIBAND},
    {"ND96amsr_A100_v4", "a100-80gb", 8, 8, 200, NIC_INFINIBAND},
    {"ND96isr_H100_v5", "h100-80gb", 8, 8, 400, NIC_INFINIBAND},
    {"ND96isr_H200_v5", "h200-141gb", 8, 8, 400, NIC_INFINIBAND},
    {"ND96isr_MI300X_v5", "mi300x-192gb", 8, 8, 400, NIC_INFINIBAND},
    {"NC24ads_A100_v4", "a100-pcie-80gb", 1, 1, 20, NIC_ETHERNET},
    {"NC48ads_A100_v4", "a100-pcie-80gb", 2, 1, 40, NIC_ETHERNET},
    {"NC96ads_A100_v4", "a100-pcie-80gb", 4, 1, 80, NIC_ETHERNET},
    {"NC40ads_H100_v5", "h100-nvl-94gb", 1, 1, 40, NIC_ETHERNET},
    {"NC80adis_H100_v5", "h100-nvl-94gb", 2, 1, 80, NIC_ETHERNET},
    {"NC4as_T4_v3", "t4-16gb", 1, 1, 8, NIC_ETHERNET},
    {"NC8as_T4_v3", "t4-16gb", 1, 1, 8, NIC_ETHERNET},
    {"NC16as_T4_v3", "t4-16gb", 1, 1, 8, NIC_ETHERNET},
    {"NC64as_T4_v3", "t4-16gb", 4, 1, 32, NIC_ETHERNET},
    {"BM.GPU4.8", "a100-40gb", 8, 8, 200, NIC_ROCE},
    {"BM.GPU.A100-v2.8", "a100-80gb", 8, 16, 100, NIC_ROCE},
    {"BM.GPU.H100.8", "h100-80gb", 8, 8, 400, NIC_ROCE},
    {"BM.GPU.H200.8", "h200-141gb", 8, 8, 400, NIC_ROCE},
    {"BM.GPU.B200.8", "b200", 8, 8, 400, NIC_ROCE},
    {"BM.GPU.MI300X.8", "mi300x-192gb", 8, 8, 400, NIC_ROCE},
    {"BM.GPU.A10.4", "a10-24gb", 4, 1, 100, NIC_ETHERNET},
    {"VM.GPU.A10.1", "a10-24gb", 1, 1, 24, NIC_ETHERNET},
    {"VM.GPU.A10.2", "a10-24gb", 2, 1, 48, NIC_ETHERNET},
    {"BM.GPU3.8", "v100-16gb", 8, 1, 25, NIC_ETHERNET},
    {"ND40rs_v2", "v100-32gb", 8, 1, 100, NIC_INFINIBAND},
};

const struct cloud_machine *cloud_machine_in(const char *text, const char **at, int *found)
{
    const struct cloud_machine *named = NULL;
    *found = 0;
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        const char *s = find_in_any_case(text, machines[i].name);
        size_t length = strlen(machines[i].name);
        while (s &&
               (isalnum((unsigned char)s[length]) || (s > text && isalnum((unsigned char)s[-1]))))
            s = find_in_any_case(s + 1, machines[i].name);
        if (s) *at = s, named = &machines[i], ++*found;
    }
    return *found == 1 ? named : NULL;
}

// "4 x p5.48xlarge", "32 bare metal BM.GPU.H100.8 nodes": a sign, or what it is of, makes it a
// number.
int cloud_machines_before(const char *text, const char *at)
{
    static const char *const of[] = {" node", " instance", " machine", " server",
                                     " vm",   " host",     NULL};
    char behind[48] = "";
    const char *name = at;
    int64_t number = 0, digit = 1;
    size_t length = strcspn(at, " \n");
    memcpy(behind, at + length, strnlen(at + length, sizeof behind - 1));
    behind[strcspn(behind, "\n,.;")] = '\0';
    while (at > text && strchr(" xX*`\"", at[-1])) at--;
    bool sign = at < name && memchr(at, 'x', (size_t)(name - at)),
         counted = has_one_in_any_case(behind, of);
    sign |= at < name &&
            (memchr(at, 'X', (size_t)(name - at)) || memchr(at, '*', (size_t)(name - at)));
    if (counted && at - text > 10 && !strncmp(at - 10, "bare metal", 10))
        for (at -= 10; at > text && at[-1] == ' ';) at--;
    if (at == name || (!sign && !counted)) return 0;
    for (; at > text && isdigit((unsigned char)at[-1]) && digit < 100000; digit *= 10)
        number += (*--at - '0') * digit;
    return at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '.') ? 0 : (int)number;
}
