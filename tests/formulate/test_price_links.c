// Prices against values computed by hand (with the computation next to each): link sharing, the
// fall-back to a common NIC kind, exclusions, synchronisation, compression.
#include "tests/support/draws/fabric.h"
#include "tests/support/price_bench.h"
#include "tests/support/check.h"

static const int64_t *forward_parts(const struct bench *b, int from, int to)
{
    return &b->priced.cuts[b->priced.runs[BLOCK].cut]
                .forward_ns[(from * b->priced.group_count + to) * PART_COUNT];
}

static const int64_t *backward_parts(const struct bench *b, int option, int from, int to)
{
    return &b->priced.cuts[b->priced.runs[BLOCK].cut]
                .backward_ns[option][(from * b->priced.group_count + to) * PART_COUNT];
}

// ---- links

TEST(messages_share_nics)
{
    struct bench *b = bench_dense();
    price(b);
    assert_int_equal(b->priced.cuts[b->priced.runs[BLOCK].cut].message_bytes, 2097152);
    // two stages fit into a node of 4: intra, 2 097 152 / 100e9 = 20.97152 us on the link, 1 us of
    // delay
    assert_int_equal(forward_parts(b, 0, 0)[PART_BLOCKING], 0);
    assert_int_equal(forward_parts(b, 0, 0)[PART_LINK], 20972);
    assert_int_equal(forward_parts(b, 0, 0)[PART_DELAY], 1000);
    // between groups: one stream on one NIC of 10e9: 209.7152 us, 5 us
    assert_int_equal(forward_parts(b, 0, 1)[PART_LINK], 209715);
    assert_int_equal(forward_parts(b, 0, 1)[PART_DELAY], 5000);
    // four ranks of a stage send at once through one NIC: a quarter each
    b->problem.job.layout.tensor = 4;
    price(b);
    assert_int_equal(forward_parts(b, 0, 1)[PART_LINK], 838861);
    // two NICs at one end do not help, at both ends they do; one message alone never uses two
    b->nics[0][0].count = 2;
    price(b);
    assert_int_equal(forward_parts(b, 0, 1)[PART_LINK], 838861);
    b->nics[1][0].count = 2;
    price(b);
    assert_int_equal(forward_parts(b, 0, 1)[PART_LINK], 419430);
    b->problem.job.layout.tensor = 1;
    price(b);
    assert_int_equal(forward_parts(b, 0, 1)[PART_LINK], 209715);
    // sequence parallelism sends a share of the message
    b->problem.job.layout.tensor = 4;
    b->problem.job.layout.sequence_parallel = true;
    price(b);
    assert_int_equal(b->priced.cuts[b->priced.runs[BLOCK].cut].message_bytes, 524288);
    assert_int_equal(forward_parts(b, 0, 1)[PART_LINK], 104858);
}

TEST(unlike_nics_meet_on_ethernet)
{
    struct bench *b = bench_dense();
    b->nics[1][0].kind = NIC_ROCE;
    b->problem.costs.network_efficiency[NIC_ETHERNET] = exactly(0.5);
    price(b);
    for (int part = 0; part < PART_COUNT; part++) {
        assert_int_equal(forward_parts(b, 0, 1)[part], PRICE_NONE);
        assert_int_equal(backward_parts(b, 0, 1, 0)[part], PRICE_NONE);
    }
    for (int i = 0; i < 2; i++) {
        b->nics[i][1] = (struct nic){NIC_ETHERNET, 1, {(i + 1) * 1e9, (2 - i) * 1e-5}};
        b->groups[i].nic_count = 2;
    }
    b->problem.job.layout.tensor = 4;
    price(b);
    // half of the slower end's 1e9, shared by 4: 2 097 152 / 0.125e9 = 16.777216 ms; the larger
    // latency, 20 us
    assert_int_equal(forward_parts(b, 0, 1)[PART_LINK], 16777216);
    assert_int_equal(forward_parts(b, 0, 1)[PART_DELAY], 20000);
    // within the first group InfiniBand is faster: four streams on 10e9
    assert_int_equal(forward_parts(b, 0, 0)[PART_LINK], 838861);
}

TEST(stated_links_have_a_direction)
{
    struct bench *b = bench_dense();
    b->links[0] = (struct group_link){0, 1, {1e9, 1e-3}};
    b->links[1] = (struct group_link){0, 0, {2e9, 0}};
    b->problem.cluster.links = b->links;
    b->problem.cluster.link_count = 2;
    b->problem.costs.intra_efficiency = exactly(0.5);
    b->problem.costs.network_efficiency[NIC_INFINIBAND] = exactly(0.5);
    b->problem.costs.transfer_share[PART_BLOCKING] = b->problem.costs.transfer_share[PART_LINK] =
        0.25;
    b->problem.costs.transfer_share[PART_DELAY] = 0.25,
    b->problem.costs.transfer_share[PART_OVERHEAD] = 0.125;
    price(b);
    // 2.097152 ms by its parts, the latency plus the delay's
    assert_int_equal(forward_parts(b, 0, 1)[PART_BLOCKING], 524288);
    assert_int_equal(forward_parts(b, 0, 1)[PART_LINK], 524288);
    assert_int_equal(forward_parts(b, 0, 1)[PART_DELAY], 1524288);
    assert_int_equal(forward_parts(b, 0, 1)[PART_OVERHEAD], 262144); // at each end
    // the way back is the network: 2 097 152 / 5e9 = 419.4304 us
    assert_int_equal(backward_parts(b, 0, 0, 1)[PART_LINK], 104858);
    assert_int_equal(backward_parts(b, 0, 0, 1)[PART_OVERHEAD], 52429);
    assert_int_equal(forward_parts(b, 1, 0)[PART_LINK], 104858);
    // Within a node: 2 097 152 / 50e9, a quarter of it on the link.
    assert_int_equal(forward_parts(b, 0, 0)[PART_LINK], 10486);
    assert_int_equal(forward_parts(b, 1, 1)[PART_LINK], 10486);
    assert_int_equal(forward_parts(b, 1, 1)[PART_OVERHEAD], 5243);
    b->groups[0].gpus_per_node = 1;
    price(b);
    assert_int_equal(forward_parts(b, 0, 0)[PART_LINK], 262144);
    // Ranks that compute during their messages: all of it only delays the message.
    b->problem.job.overlapped_messages = true;
    price(b);
    assert_int_equal(forward_parts(b, 0, 1)[PART_DELAY], 3097152);
    assert_int_equal(forward_parts(b, 0, 1)[PART_BLOCKING] + forward_parts(b, 0, 1)[PART_LINK] +
                         forward_parts(b, 0, 1)[PART_OVERHEAD],
                     0);
}

TEST(slots_and_limits)
{
    struct bench *b = bench_dense();
    b->groups[1].gpus_per_node = 3;
    b->problem.job.memory_fraction = 0.8;
    b->problem.job.memory_margin_bytes = 500;
    const struct priced *p = price(b);
    assert_int_equal(p->groups[0].slots, 16);
    assert_int_equal(p->groups[1].slots, 12);
    assert_int_equal(p->groups[0].memory_limit_bytes, 64000000000 - 500);
    assert_int_equal(p->groups[0].constant_bytes, 1000000000);
    b->problem.job.layout.tensor = 2;
    b->problem.job.layout.data = 2;
    b->problem.job.global_batch = 32;
    p = price(b);
    assert_int_equal(p->groups[0].slots, 4); // 4 x floor(4/2) / 2
    assert_int_equal(p->groups[1].slots, 2); // 4 x floor(3/2) / 2
    assert_int_equal(p->devices_per_stage, 4);
    b->problem.job.layout.tensor = 8;
    p = price(b);
    assert_int_equal(p->groups[0].slots, 1); // floor(4 / 2) / 2
    assert_int_equal(p->groups[1].slots, 0); // floor(4 / 3) / 2
}

TEST(exclusions_say_why)
{
    struct bench *b = bench_dense();
    b->precisions[1].precision = BF16;
    const struct priced *p = price(b);
    assert_null(p->groups[0].excluded);
    assert_string_equal(p->groups[1].excluded, "H lacks fp16 (it has bf16)");
    assert_int_equal(forward_parts(b, 0, 1)[PART_LINK], PRICE_NONE);
    b->precisions[1].precision = FP16;
    b->problem.job.layout.tensor = 8;
    b->groups[1].nic_count = 0;
    p = price(b);
    assert_null(p->groups[0].excluded);
    assert_non_null(strstr(p->groups[1].excluded, "no NIC"));
    b->groups[1].gpus_per_node = 8;
    assert_null(price(b)->groups[1].excluded);
    b->groups[1].gpu = "unknown";
    assert_non_null(strstr(price(b)->groups[1].excluded, "unknown"));
    b->groups[1].gpu = "H";
    b->runs[HEAD].kind = LAYER_MEASURED;
    b->times[0] = (struct layer_time){"head", "G", 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0};
    b->problem.costs.layer_times = b->times;
    b->problem.costs.layer_time_count = 1;
    p = price(b);
    assert_null(p->groups[0].excluded);
    assert_non_null(strstr(p->groups[1].excluded, "no measured time of run head on H"));
}

TEST(terms_beyond_counting)
{
    struct bench *b = bench_dense();
    b->precisions[0].gemm_flop_per_s = exactly(1); // 25 769 803 776 s are 2.6e19 ns
    MUST_REFUSE(price_problem(&b->priced, &b->problem, arena, &own_err),
                "forward time of run block on group first");
}

// ---- synchronisation and compression

// The run's layers have one layer's states, on every rank, and one sync of them all.
TEST(layers_share_weights)
{
    struct bench *b = bench_dense();
    b->problem.cluster.group_count = 1;
    b->problem.job.layout.data = 4;
    b->problem.job.global_batch = 32;
    const struct priced *p = price(b);
    struct priced_run apart = p->runs[BLOCK];
    int64_t constant = p->groups[0].constant_bytes, step = apart.optimizer_ns[0],
            own = apart.weight_bytes + apart.gradient_bytes + apart.optimizer_bytes;
    b->runs[BLOCK].shared_weights = true;
    p = price(b);
    assert_int_equal(p->groups[0].constant_bytes - constant, own);
    assert_int_equal(p->runs[BLOCK].weight_bytes + p->runs[BLOCK].gradient_bytes +
                         p->runs[BLOCK].optimizer_bytes,
                     0);
    assert_int_equal(p->runs[BLOCK].sync_ns[0][0] + p->runs[BLOCK].optimizer_ns[0], 0);
    assert_int_equal(p->runs[BLOCK].forward_ns[0], apart.forward_ns[0]);
    // 6 us round the ranks as before; the sum over 4 x 2 ranks, of two nodes: 2 x 7/8 x 50 348 032
    // / 10e9 = 8.8109056 ms, 2 x 7 x 5 us
    int64_t sum = p->groups[0].sync_constant_ns[0] - step;
    assert_in_range(sum, 6000 + 8810905 + 70000, 6000 + 8810907 + 70000);
    b->problem.job.layout.zero = 1;
    MUST_REFUSE(price_problem(&b->priced, &b->problem, arena, &own_err), "layout.zero");
}

TEST(gradient_sync_by_hand)
{
    struct bench *b = bench_dense();
    b->problem.job.layout.data = 4;
    b->problem.job.global_batch = 32;
    const struct priced *p = price(b);
    // 4 x 12 587 008 B over 4 ranks in a node: 2 x 3/4 x 50 348 032 / 100e9 = 755.22048 us; 2 x 3 x
    // 1 us
    assert_int_equal(p->runs[BLOCK].sync_ns[0][0], 755220);
    assert_int_equal(p->groups[0].sync_constant_ns[0], 6000);
    b->problem.job.layout.zero = 1;
    p = price(b);
    // 3/4 x (50 348 032 + 25 174 016) / 100e9 = 566.41536 us; states shrink to a quarter
    assert_int_equal(p->runs[BLOCK].sync_ns[0][0], 566415);
    assert_int_equal(p->runs[BLOCK].optimizer_bytes, 3 * 12587008);
    b->problem.job.layout.zero = 0;
    b->problem.job.layout.data = 8;
    b->problem.job.layout.tensor = 2;
    p = price(b);
    // 16 devices: network, 2 rings share 10e9; P = 6 291 456 + 4096 = 6 295 552; 2 x 7/8 x 25 182
    // 208 / 5e9 = 8.8137728 ms
    assert_int_equal(p->runs[BLOCK].sync_ns[0][0], 8813773);
    assert_int_equal(p->groups[0].sync_constant_ns[0], 70000);
    b->nics[0][0].link.bytes_per_s = 1e12;
    assert_int_equal(price(b)->runs[BLOCK].sync_ns[0][0],
                     440689); // not faster than intra: / 100e9 = 440.68864 us
}

TEST(embedding_sync_by_hand)
{
    struct bench *b = bench_dense();
    assert_false(price(b)->has_embedding_sync);
    b->problem.model.shape.tied_embeddings = true;
    const struct priced *p = price(b);
    assert_true(p->has_embedding_sync);
    // 4 x 32000 x 1024 = 131 072 000 B over 2: / 10e9 = 13.1072 ms, 2 x 5 us
    assert_int_equal(p->embedding_sync_ns[1], 13117200);
    assert_int_equal(p->embedding_sync_ns[0], 1312720); // intra: 1.31072 ms + 2 us
    b->links[0] = (struct group_link){1, 0, {1e9, 0}};
    b->problem.cluster.links = b->links;
    b->problem.cluster.link_count = 1;
    assert_int_equal(price(b)->embedding_sync_ns[1], 131072000); // the slower direction
    b->problem.cluster.link_count = 0;
    b->problem.job.layout.data = 2;
    int64_t apart = price(b)->runs[EMBEDDING].sync_ns[0][0];
    assert_int_equal(apart, 1310720); // all-reduce over 2 ranks at 100e9
    b->problem.job.layout.fused_embedding_sync = true;
    p = price(b);
    assert_int_equal(p->runs[EMBEDDING].sync_ns[0][0], 0);
    assert_int_equal(p->runs[HEAD].sync_ns[0][0],
                     82); // the norm stays: 4 x 2048 / 100e9 = 81.92 ns
    // over 4 ranks, two streams on one NIC: 2 x 3/4 x 131 072 000 / 5e9 = 39.3216 ms, 6 x 5 us
    assert_int_equal(p->embedding_sync_ns[1], 39351600);
}

TEST(compressed_messages)
{
    struct bench *b = bench_dense();
    b->boundary[0] =
        (struct compression_option){.form.amount = 16, .epilogue_only = true, .quality_cost = 3};
    b->boundary[1] = (struct compression_option){.form.amount = 512};
    b->problem.job.boundary_options = b->boundary;
    b->problem.job.boundary_option_count = 2;
    const struct priced *p = price(b);
    assert_int_equal(p->boundary_option_count, 3);
    assert_int_equal(p->boundary_options[1].form.amount, 16);
    assert_true(p->boundary_options[1].epilogue_only);
    const struct priced_cut *cut = &p->cuts[p->runs[BLOCK].cut];
    // 1024 x 1024 values become 16 x 2048: 65 536 B / 10e9 = 6.5536 us
    assert_int_equal(backward_parts(b, 1, 0, 1)[PART_LINK], 6554);
    // (4 x 2^20 x 16 + 2 x 1024 x 256 + 2 x 2^20 x 16) / 10e12 = 10.1187584 us, 2 x 20 us, latency
    // 5 us
    assert_int_equal(backward_parts(b, 1, 0, 1)[PART_DELAY], 55119);
    assert_int_equal(cut->feedback_bytes[1], 2097152);
    // rank 512 sends as much as it saves: the message stays
    assert_int_equal(backward_parts(b, 2, 0, 1)[PART_LINK], 209715);
    assert_int_equal(backward_parts(b, 2, 0, 1)[PART_DELAY], 5000);
    assert_int_equal(cut->feedback_bytes[2], 0);
    b->problem.job.budget.rank_min = 17;
    assert_int_equal(price(b)->boundary_option_count, 2);
    assert_int_equal(b->priced.boundary_options[1].form.amount, 512);
}

TEST(packed_messages)
{
    struct bench *b = bench_dense();
    for (int i = 0; i < 2; i++) {
        b->gpus[i].top_k_values_per_s = exactly(1e12);
        b->gpus[i].top_k_back_values_per_s = exactly(2e12);
        b->gpus[i].quantise_values_per_s = exactly(4e12);
    }
    b->boundary[0] = (struct compression_option){.form = {COMPRESS_TOP_K, 10}};
    b->boundary[1] = (struct compression_option){.form = {COMPRESS_QUANTISE, 1}, .forgets = true};
    b->problem.job.boundary_options = b->boundary;
    b->problem.job.boundary_option_count = 2;
    b->problem.job.budget.rank_min = 17; // of ranks alone
    assert_non_null(price(b)->groups[0].excluded);
    for (int i = 0; i < 2; i++) b->gpus[i].quantise_back_values_per_s = exactly(8e12);
    const struct priced *p = price(b);
    assert_int_equal(p->boundary_option_count, 3);
    const struct priced_cut *cut = &p->cuts[p->runs[BLOCK].cut];
    // of 2^20 values a hundredth, with their places 6 B each: 62 914.56 B / 10e9 = 6.291456 us;
    // 2^20 / 1e12 + 2^20 / 2e12 = 1.572864 us, 2 x 20 us, latency 5 us
    assert_int_equal(backward_parts(b, 1, 0, 1)[PART_LINK], 6291);
    assert_int_equal(backward_parts(b, 1, 0, 1)[PART_DELAY], 46573);
    assert_int_equal(cut->feedback_bytes[1], 2097152);
    // 131 072 B of bits and 4096 scales: 147 456 B; 2^20 / 4e12 + 2^20 / 8e12 = 0.393216 us
    assert_int_equal(backward_parts(b, 2, 0, 1)[PART_LINK], 14746);
    assert_int_equal(backward_parts(b, 2, 0, 1)[PART_DELAY], 45393);
    assert_int_equal(cut->feedback_bytes[2], 0);
}

TEST(compressed_gradients)
{
    struct bench *b = bench_dense();
    b->gradient[0] = (struct compression_option){.form.amount = 128, .quality_cost = 1};
    b->problem.job.gradient_options = b->gradient;
    b->problem.job.gradient_option_count = 1;
    b->problem.job.layout.data = 4;
    b->problem.job.global_batch = 32;
    const struct priced_run *block = &price(b)->runs[BLOCK];
    // matrices 1024 x 3072, 1024 x 1024, 1024 x 4096, 4096 x 1024: 12 582 912 values become 128 x
    // (4096 + 2048 + 5120 + 5120) = 2 097 152; with the norms' 4096: 4 x 2 101 248 x 2 x 3/4 /
    // 100e9 = 126.07488 us. work: 6 x 12 582 912 x 128 + 2 x (1024 + 1024 + 1024 + 4096) x 16 384 =
    // 9 898 557 440; / 10e12 = 989.855744 us; 8 x 20 us
    assert_int_equal(block->sync_ns[1][0], 1275931); // 1275.930624
    assert_int_equal(block->feedback_bytes[1], 4 * 12582912);
    assert_int_equal(block->feedback_bytes[0], 0);
    assert_int_equal(b->priced.runs[EMBEDDING].sync_ns[1][0],
                     b->priced.runs[EMBEDDING].sync_ns[0][0]);
    assert_int_equal(b->priced.gradient_options[1].quality_cost, 1);
}

TEST(classes_of_messages)
{
    struct bench *b = bench_dense();
    const struct priced *p = price(b);
    assert_int_equal(p->cut_count, 1); // embedding, blocks and head send the same
    b->runs[BLOCK].kind = b->runs[HEAD].kind = LAYER_MEASURED;
    b->runs[BLOCK].measured.boundary_bytes = 100, b->runs[HEAD].measured.boundary_bytes = 100;
    b->runs[HEAD].measured.matrix_rows = b->runs[HEAD].measured.matrix_columns = 4;
    for (int i = 0; i < 2; i++)
        b->times[i] =
            (struct layer_time){i ? "head" : "block", "G", 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0};
    b->problem.costs.layer_times = b->times;
    b->problem.costs.layer_time_count = 2;
    p = price(b);
    assert_int_equal(p->cut_count, 3); // equal bytes, but only one of them can be compressed
    assert_int_equal(p->runs[EMBEDDING].cut, 0);
    assert_int_equal(p->runs[BLOCK].cut, 1);
    assert_int_equal(p->runs[HEAD].cut, 2);
    assert_int_equal(p->cuts[1].message_bytes, 100);
}

// ---- trees

static struct priced_run run_of(struct bench *b, int run, double tree_share)
{
    b->problem.costs.tree_bandwidth_share = exactly(tree_share);
    return price(b)->runs[run];
}

// Eight tensor ranks on two nodes, one ring over a NIC of 10e9 and 100 us; trees at all of it,
// short messages at half. 2 097 152 B: 367.0016 us + 14 x 100 us, by trees 838.8608 us + 2 x 3 x
// 100 us: 328.1408 us less.
TEST(tensor_sums_by_trees)
{
    struct bench *b = bench_dense();
    b->problem.job.layout.tensor = 8;
    b->nics[0][0].link.latency_s = 100e-6;
    for (int sharded = 0; sharded < 2; sharded++) {
        b->problem.job.layout.sequence_parallel = sharded;
        struct priced_run ring = run_of(b, BLOCK, 0), tree = run_of(b, BLOCK, 1);
        int64_t saved = sharded ? 0 : 656282; // two sums forward, two backward
        assert_in_range(ring.forward_ns[0] - tree.forward_ns[0], saved - !sharded, saved);
        assert_in_range(ring.backward_ns[0] - tree.backward_ns[0], saved - !sharded, saved);
        // three of 4096 B: 1400.7168 us, by trees 601.6384 us: sums in any case
        ring = run_of(b, HEAD, 0), tree = run_of(b, HEAD, 1);
        assert_in_range(ring.forward_ns[0] - tree.forward_ns[0], 2397235, 2397236);
        ring = run_of(b, EMBEDDING, 0), tree = run_of(b, EMBEDDING, 1);
        assert_in_range(ring.forward_ns[0] - tree.forward_ns[0], saved / 2, saved / 2 + !sharded);
    }
    b->problem.job.layout.sequence_parallel = false;
    b->nics[0][0].link.latency_s = 50e-6; // 1067.0016 us, by trees 1138.8608 us
    assert_int_equal(run_of(b, BLOCK, 1).forward_ns[0], run_of(b, BLOCK, 0).forward_ns[0]);
    b->problem.job.layout.tensor = 4; // within a node
    b->nics[0][0].link.latency_s = 1;
    assert_int_equal(run_of(b, BLOCK, 1).forward_ns[0], run_of(b, BLOCK, 0).forward_ns[0]);
}

// ---- sums in switches

// Four tensor ranks in a node of four, 100e9 and 1 us: 2 097 152 B take 1.5 x 20.97152 us + 6 us by
// a ring, half of the first in switches at 200e9 from three GPUs on.
TEST(sums_in_switches)
{
    struct bench *b = bench_dense();
    struct ring_rate rates[] = {{3, 0, 200e9}, {8, 0, 1e9}};
    struct node_group *g = b->problem.cluster.groups;
    b->problem.job.layout.tensor = 4;
    for (int scattered = 0; scattered < 2; scattered++) {
        b->problem.job.layout.sequence_parallel = scattered;
        g->switch_sum_count = 0;
        struct priced_run ring = run_of(b, BLOCK, 0);
        g->switch_sums = rates, g->switch_sum_count = 2;
        struct priced_run sums = run_of(b, BLOCK, 0);
        int64_t saved = scattered ? 0 : 31457; // two sums forward, two backward
        assert_in_range(ring.forward_ns[0] - sums.forward_ns[0], saved - !scattered,
                        saved + !scattered);
        assert_in_range(ring.backward_ns[0] - sums.backward_ns[0], saved - !scattered,
                        saved + !scattered);
    }
    rates[0].bytes_per_s = 50e9; // slower than a ring
    b->problem.job.layout.sequence_parallel = false;
    struct priced_run slow = run_of(b, BLOCK, 0);
    g->switch_sum_count = 0;
    assert_int_equal(run_of(b, BLOCK, 0).forward_ns[0], slow.forward_ns[0]);
}

// Four replicas within a node: P of both halves of the sum at twice the rate, with as many steps;
// only where gradients are summed.
TEST(gradient_sums_in_switches)
{
    struct bench *b = bench_dense();
    struct ring_rate rate = {4, 0, 200e9};
    struct node_group *g = b->problem.cluster.groups;
    b->problem.job.layout.data = 4;
    for (int zero = 0; zero < 2; zero++) {
        b->problem.job.layout.zero = zero;
        g->switch_sum_count = 0;
        int64_t ring = run_of(b, BLOCK, 0).sync_ns[0][0],
                steps = b->priced.groups[0].sync_constant_ns[0];
        g->switch_sums = &rate, g->switch_sum_count = 1;
        int64_t sums = run_of(b, BLOCK, 0).sync_ns[0][0];
        assert_in_range(sums * (zero ? 1 : 2), ring - 2, ring + 2);
        assert_int_equal(b->priced.groups[0].sync_constant_ns[0], steps);
    }
}

// Eight replicas on two nodes: 14 hops of a ring, 2 x 3 of trees, whatever is sent.
TEST(gradient_sums_by_trees)
{
    struct bench *b = bench_dense();
    b->problem.job.layout.data = 8;
    b->problem.job.global_batch = 64;
    b->nics[0][0].link.latency_s = 20e-3;
    int64_t ring = run_of(b, BLOCK, 0).sync_ns[0][0];
    assert_int_equal(b->priced.groups[0].sync_constant_ns[0], 280000000);
    assert_in_range(run_of(b, BLOCK, 1).sync_ns[0][0], ring * 8 / 7 - 2, ring * 8 / 7 + 2);
    assert_int_equal(b->priced.groups[0].sync_constant_ns[0], 120000000);
    assert_int_equal(b->priced.groups[1].sync_constant_ns[0], 14 * 5000); // 5 us: rings
    b->runs[BLOCK].count = 40, b->problem.model.layer_count = 42;         // nor how much
    assert_in_range(run_of(b, BLOCK, 1).sync_ns[0][0], ring * 8 / 7 - 2, ring * 8 / 7 + 2);
    b->problem.job.layout.zero = 1; // a scatter and a gather
    run_of(b, BLOCK, 1);
    assert_int_equal(b->priced.groups[0].sync_constant_ns[0], 280000000);
    b->problem.job.layout.zero = 0;
    b->gradient[0] = (struct compression_option){.form.amount = 8};
    b->problem.job.gradient_options = b->gradient;
    b->problem.job.gradient_option_count = 1;
    run_of(b, BLOCK, 1);
    assert_int_equal(b->priced.groups[0].sync_constant_ns[0], 280000000);
}

// ---- by nodes

static void near_to(int64_t found, double expected)
{
    assert_true(fabs((double)found - expected) <= 2 + 1e-12 * expected);
}

static struct priced_run block_over(struct bench *b, int data)
{
    b->problem.job.layout.data = data;
    b->problem.job.global_batch = 8 * data;
    return price(b)->runs[BLOCK];
}

// 4 x 12 587 008 B on nodes of 4 GPUs with a NIC of 10e9 B/s: 2 (R - 1)/R x 50 348 032 / 10e9.
TEST(bandwidth_by_nodes)
{
    struct bench *b = bench_gated();
    b->problem.costs.node_doubling_share = exactly(0.5);
    b->groups[0].gpus_per_node = 4;
    struct priced_run two = block_over(b, 8), three = block_over(b, 12), eight = block_over(b, 32);
    b->problem.costs.node_doubling_share = exactly(0);
    assert_int_equal(block_over(b, 8).sync_ns[0][0], two.sync_ns[0][0]); // two nodes keep all of it
    // 3 nodes: 2^-log2(1.5), 8 nodes: a quarter
    near_to(three.sync_ns[0][0], (1.5 * (double)block_over(b, 12).sync_ns[0][0]));
    near_to(eight.sync_ns[0][0], 4 * (double)block_over(b, 32).sync_ns[0][0]);
}

// One ring of 4 GPUs a node. On 2 and 8 nodes an all-reduce of 10 MB over all of them takes 1 and 5
// ms: on a bus 8/14 and 32/62 x as long, with a rate that stays. A run's block has 12 587 008
// gradients x 2 B.
TEST(all_reduces_by_nodes)
{
    static double bytes[] = {1e7}, fast[] = {1e-3}, slow[] = {5e-3};
    struct bench *b = bench_gated();
    struct collective_times tables[] = {
        {.gpu = "G", .between_nodes = true, .ranks = 8, .nodes = 2},
        {.gpu = "G", .between_nodes = true, .ranks = 32, .nodes = 8}};
    for (int i = 0; i < 2; i++)
        tables[i].point_count = 1, tables[i].bytes = bytes, tables[i].seconds = i ? slow : fast;
    b->groups[0].gpus_per_node = 4;
    b->problem.job.trainer = TRAINER_TORCHTITAN; // a layer is a message
    block_over(b, 8);
    double gradient = 2.0 * (double)b->priced.runs[BLOCK].gradient_bytes / 2, on_bus[2];
    for (int i = 0; i < 2; i++)
        on_bus[i] = gradient / 1e7 * tables[i].seconds[0] * (double)tables[i].ranks /
                    (2 * ((double)tables[i].ranks - 1)) * 1e9;
    b->problem.costs.collectives = tables, b->problem.costs.collective_count = 2;
    near_to(block_over(b, 8).sync_ns[0][0], (2 * 7 / 8.0 * on_bus[0]));
    assert_int_equal(b->priced.groups[0].sync_constant_ns[0], 0); // no latency besides
    near_to(block_over(b, 32).sync_ns[0][0], (2 * 31 / 32.0 * on_bus[1]));
    // 4 nodes are halfway, in logarithms; 16 nodes as 8, or by what a doubling leaves
    near_to(block_over(b, 16).sync_ns[0][0], (2 * 15 / 16.0 * sqrt(on_bus[0] * on_bus[1])));
    near_to(block_over(b, 64).sync_ns[0][0], (2 * 63 / 64.0 * on_bus[1]));
    b->problem.costs.node_doubling_share = exactly(0.8);
    near_to(block_over(b, 64).sync_ns[0][0], (2 * 63 / 64.0 * on_bus[1] / 0.8));
    // a faster time on more nodes is noise
    tables[1].seconds = fast, b->problem.costs.node_doubling_share = exactly(0);
    near_to(block_over(b, 32).sync_ns[0][0], (2 * 31 / 32.0 * on_bus[0]));
    // fewer nodes than any that was measured: as the fewest
    tables[0].nodes = 4, tables[0].ranks = 16;
    near_to(block_over(b, 8).sync_ns[0][0], 2 * 7 / 8.0 * on_bus[0] * 14 / 8.0 * 16 / 30.0);
    // a part of a long message, and what its first byte takes once a stage
    tables[0].nodes = 2, tables[0].ranks = 8, b->problem.job.trainer = TRAINER_MEGATRON;
    near_to(block_over(b, 8).sync_ns[0][0], gradient * 1e6 * (1 / 1e7 - 1 / 0x1p29));
    assert_int_equal(b->priced.groups[0].sync_constant_ns[0], 1000000);
}

// More nodes never take less, nor do more bytes, whatever was measured.
TEST(laws_of_nodes)
{
    struct random rng = {.state = 38};
    for (int trial = 0; trial < 300; trial++) {
        struct bench *b = bench_gated();
        int64_t before = 0;
        rng.state++;
        b->groups[0].gpus_per_node = 1;
        random_fabric(&b->problem.costs, &rng, &own_arena);
        for (int data = 2; data <= 64; data++) {
            int64_t bus = llround((double)block_over(b, data).sync_ns[0][0] * data / (data - 1));
            assert_true(bus + 2 >= before);
            before = bus;
        }
    }
}

// Layers' parts of a sync are by their own bytes: where others grow they stay, where their own grow
// they do not fall, however uneven the measured times, and whatever the trainer sends at once.
TEST(laws_of_syncs)
{
    struct random rng = {.state = 57};
    for (int trial = 0; trial < 300; trial++) {
        struct bench *b = bench_gated();
        static double sent[12], seconds[12];
        static struct collective_times table;
        struct costs *c = &b->problem.costs;
        b->groups[0].gpus_per_node = 1 << random_between(&rng, 0, 3);
        b->problem.job.layout.zero = (int)random_between(&rng, 0, 1);
        b->problem.job.trainer = (enum trainer)random_between(&rng, 0, TRAINER_OTHER);
        c->tree_bandwidth_share = exactly(random_chance(&rng, 50) ? 0.9 : 0);
        b->nics[0][0].link.latency_s = random_chance(&rng, 50) ? 5e-3 : 5e-6;
        if (random_chance(&rng, 50)) {
            random_fabric(c, &rng, &own_arena);
        } else if (random_chance(&rng, 50)) {
            for (int i = 0; i < 12; i++) {
                sent[i] = 64e3 * (1 << i);
                seconds[i] = 1e-4 * (double)(1 + i + random_between(&rng, 0, 4));
            }
            table = (struct collective_times){.gpu = "G", .bytes = sent, .seconds = seconds};
            table.between_nodes = b->groups[0].gpus_per_node < 8;
            table.ranks = 8, table.point_count = 12;
            c->collectives = &table, c->collective_count = 1;
        }
        for (int grown = 0; grown < 2; grown++) {
            struct shape *shape = &b->problem.model.shape;
            int64_t *width = grown ? &shape->ffn : &shape->vocabulary, before = *width,
                    block = block_over(b, 8).sync_ns[0][0], end = b->priced.runs[0].sync_ns[0][0],
                    constant = b->priced.groups[0].sync_constant_ns[0];
            *width += *width / 8 * (1 + random_between(&rng, 0, 15));
            int64_t block_then = block_over(b, 8).sync_ns[0][0],
                    end_then = b->priced.runs[0].sync_ns[0][0];
            *width = before;
            assert_true(grown ? block_then >= block : block_then == block);
            assert_true(grown ? end_then == end : end_then >= end);
            assert_int_equal(b->priced.groups[0].sync_constant_ns[0], constant);
        }
    }
}
