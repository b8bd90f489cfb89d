// A problem with everything it points to, for tests of prices, which change fields before pricing.
#pragma once

#include "formulate/price/price.h"
#include "tests/support/problems.h"

enum { EMBEDDING, BLOCK, HEAD };

struct bench {
    struct problem problem;
    struct layer_run runs[3];
    struct node_group groups[2];
    struct nic nics[2][2];
    struct gpu_costs gpus[2];
    struct precision_costs precisions[2];
    struct group_link links[2];
    struct layer_time times[3];
    struct collective_times table;
    struct compression_option boundary[2];
    struct compression_option gradient[2];
    struct priced priced;
};

// GPT-like: h 1024, f 4096, 16 heads of 64, v 32000, 4 blocks; sequences of 512 in micro-batches of
// 2: n = 1024 tokens. FP16 on two groups of 4 nodes of 4 GPUs, "G" and "H".
struct bench *bench_dense(void);
// The same with 8 KV heads, gated, RMS norms, 6 blocks and fused attention, in BF16 (or FP8) on one
// group of 64 nodes.
struct bench *bench_gated(void);

const struct priced *price(struct bench *b); // fails the test if there is no price
struct priced_run block_of(struct bench *b); // after pricing
