// States that groups of data ranks share, alike in each group (the layout's data_shard): laws, and
// sums by hand, a ring's step at a time. A job in groups costs a layer what the job of one of its
// groups costs, and the sum between the groups.
#include "tests/support/check.h"
#include "tests/support/price_bench.h"

enum { NODE = 4, GROUPS = 4 }; // GPUs; groups of a node each

static struct bench *bench_of(enum trainer trainer, int zero, int data, int shard)
{
    struct bench *b = bench_gated();
    struct layout *l = &b->problem.job.layout;
    b->problem.job.trainer = trainer;
    l->tensor = l->context = l->pipeline = 1;
    l->data = data, l->data_shard = shard, l->zero = zero;
    b->problem.job.global_batch = 2 * (int64_t)data * l->micro_batch;
    return b;
}

static void expect_alike(struct bench *x, struct bench *y)
{
    const struct priced *a = price(x), *b = price(y);
    assert_int_equal(a->groups[0].constant_bytes, b->groups[0].constant_bytes);
    assert_int_equal(a->groups[0].sync_constant_ns[0], b->groups[0].sync_constant_ns[0]);
    for (int r = 0; r < a->run_count; r++) {
        const struct priced_run *p = &a->runs[r], *q = &b->runs[r];
        const int64_t terms[][2] = {
            {p->weight_bytes, q->weight_bytes},       {p->gradient_bytes, q->gradient_bytes},
            {p->optimizer_bytes, q->optimizer_bytes}, {p->working_bytes[0], q->working_bytes[0]},
            {p->forward_ns[0], q->forward_ns[0]},     {p->backward_ns[0], q->backward_ns[0]},
            {p->optimizer_ns[0], q->optimizer_ns[0]}, {p->sync_ns[0][0], q->sync_ns[0][0]}};
        for (size_t i = 0; i < ARRAY_LENGTH(terms); i++) assert_int_equal(terms[i][0], terms[i][1]);
    }
}

TEST(one_group_of_all_is_none)
{
    for (int trainer = 0; trainer <= TRAINER_OTHER; trainer++)
        for (int zero = 1; zero <= 3; zero++)
            for (int data = 2; data <= 32; data *= 2)
                expect_alike(bench_of(trainer, zero, data, data), bench_of(trainer, zero, data, 0));
}

TEST(groups_of_one_rank_are_replicas)
{
    for (int trainer = 0; trainer <= TRAINER_OTHER; trainer++)
        for (int zero = 1; zero <= 3; zero++)
            for (int data = 2; data <= 32; data *= 2)
                expect_alike(bench_of(trainer, zero, data, 1), bench_of(trainer, 0, data, 0));
}

// In every step each rank of a ring sends one part to the next.
static double ring_s(int ranks, int rounds, double bytes, double bytes_per_s, double latency)
{
    double seconds = 0;
    for (int step = 0; step < rounds * (ranks - 1); step++)
        seconds += bytes / ranks / bytes_per_s + latency;
    return seconds;
}

static void near_to(double a, int64_t b)
{
    if (fabs(a - (double)b) > 2) fail_msg("%.0f and %lld", a, (long long)b);
}

// All GPUs of a node share its one card, each with a ring over the nodes.
static double between_groups_s(const struct bench *b, double bytes)
{
    const struct link *card = &b->nics[0][0].link;
    double shard = bytes / NODE, rate = card->bytes_per_s * b->nics[0][0].count / NODE;
    return ring_s(GROUPS, 2, shard, rate, card->latency_s);
}

TEST(a_layer_costs_what_it_costs_in_one_group_and_a_sum)
{
    for (int trainer = 0; trainer <= TRAINER_OTHER; trainer++)
        for (int zero = 1; zero <= 3; zero++) {
            struct bench *b = bench_of(trainer, zero, NODE * GROUPS, NODE);
            struct priced_run all = block_of(b), one = block_of(bench_of(trainer, zero, NODE, 0)),
                              whole = block_of(bench_of(TRAINER_MEGATRON, 0, 1, 0));
            // Of a gradient; scattered ones of DeepSpeed are of the weights' 2 bytes.
            double width = b->problem.job.gradient_bytes_per_value,
                   bytes = (double)whole.gradient_bytes, sum = 1e9 * between_groups_s(b, bytes);
            bool each = zero > 1 && trainer != TRAINER_MEGATRON && trainer != TRAINER_DEEPSPEED;
            assert_true(width == 4 || width == 2);
            assert_int_equal(all.weight_bytes, one.weight_bytes);
            assert_int_equal(all.gradient_bytes, one.gradient_bytes);
            assert_int_equal(all.optimizer_bytes, one.optimizer_bytes);
            assert_int_equal(all.working_bytes[0], one.working_bytes[0]);
            assert_int_equal(all.optimizer_ns[0], one.optimizer_ns[0]);
            assert_int_equal(all.forward_ns[0], one.forward_ns[0]);
            near_to(each ? sum : 0, all.backward_ns[0] - one.backward_ns[0]);
            near_to(each ? 0 : sum, all.sync_ns[0][0] - one.sync_ns[0][0]);
        }
}

TEST(owners_sum_over_all_and_send_within_their_group)
{
    struct bench *all = bench_of(TRAINER_OTHER, 1, NODE * GROUPS, NODE),
                 *none = bench_of(TRAINER_OTHER, 0, NODE * GROUPS, 0),
                 *one = bench_of(TRAINER_MEGATRON, 1, NODE, 0);
    all->problem.job.owner_broadcasts = true;
    int64_t sums = block_of(none).sync_ns[0][0], both = block_of(one).sync_ns[0][0],
            scatter = block_of(bench_of(TRAINER_MEGATRON, 0, NODE, 0)).sync_ns[0][0] / 2;
    near_to((double)(sums + both - scatter), block_of(all).sync_ns[0][0]);
}

// The more ranks share them, the less of the states each has; all of this is within and between
// whole nodes.
TEST(larger_groups_hold_less)
{
    for (int trainer = 0; trainer <= TRAINER_OTHER; trainer++)
        for (int zero = 1; zero <= 3; zero++) {
            int64_t before = INT64_MAX;
            for (int shard = 2; shard <= 64; shard *= 2) {
                struct bench *b = bench_of(trainer, zero, 64, shard);
                const struct priced *p = price(b);
                int64_t bytes = p->groups[0].constant_bytes;
                for (int r = 0; r < p->run_count; r++)
                    bytes += p->runs[r].count *
                                 (p->runs[r].weight_bytes + p->runs[r].gradient_bytes +
                                  p->runs[r].optimizer_bytes) +
                             p->runs[r].working_bytes[0];
                assert_true(bytes <= before);
                before = bytes;
            }
        }
}

TEST(what_groups_exclude)
{
    struct bench *b = bench_of(TRAINER_MEGATRON, 1, 8, 3);
    CHECK_REFUSED(problem_check(&b->problem, &err), "data_shard: expected a divisor of data 8");
    b = bench_of(TRAINER_MEGATRON, 0, 8, 4);
    CHECK_REFUSED(problem_check(&b->problem, &err), "data_shard: expected zero 1 to 3");
    b = bench_of(TRAINER_OTHER, 1, 8, 4);
    b->problem.job.whole_gradient_sums = true;
    CHECK_REFUSED(problem_check(&b->problem, &err), "expected whole_gradient_sums false");
    b = bench_of(TRAINER_MEGATRON, 1, 8, 4);
    b->runs[BLOCK].kind = LAYER_MOE;
    b->runs[BLOCK].experts = (struct expert_shape){.experts = 16, .top_k = 2, .ffn = 512};
    b->problem.job.layout.expert = 4;
    err = (struct error){OK, ""};
    CHECK_OK(problem_check(&b->problem, &err));
    b->problem.job.layout.expert = 8;
    CHECK_REFUSED(problem_check(&b->problem, &err), "that divides the 1 copies");
}
