// Prices of an optimizer's state, on the device and on the host, against closed forms and laws.
#include "tests/support/price_bench.h"
#include "tests/support/check.h"

static void near_to(int64_t a, int64_t b)
{
    if (llabs(a - b) > 1) fail_msg("%lld and %lld", (long long)a, (long long)b);
}

TEST(states_leave_for_the_host)
{
    struct bench *b = bench_gated();
    b->problem.job.layout.offload_optimizer = true;
    assert_non_null(strstr(price(b)->groups[0].excluded, "host_link_bytes_per_s"));
    b->gpus[0].host_link_bytes_per_s = exactly(10e9);
    b->gpus[0].host_memory_bytes_per_s = exactly(20e9);
    struct priced_run block = block_of(b);
    assert_int_equal(block.optimizer_bytes, 0);
    // 4 P over the link, (24 + 4) P in host memory, P = 15 730 688
    near_to(block.optimizer_ns[0], llround(15730688 * (4 / 10.0 + 28 / 20.0)));
    // of 5 bytes a value: (10 + 4) P there
    b->problem.job.state_bytes_per_value = 5;
    near_to(block_of(b).optimizer_ns[0], llround(15730688 * (4 / 10.0 + 14 / 20.0)));
    b->problem.job.state_bytes_per_value = 0;
    // A time taken on a device makes it neither cheaper nor free, but may be longer.
    b->times[0] = (struct layer_time){"block", "G", 0, 0, 0, 0, 0, 1e-3, 2e-3, 0, 0, 1e-6, 0};
    b->problem.costs.layer_times = b->times, b->problem.costs.layer_time_count = 1;
    near_to(block_of(b).optimizer_ns[0], block.optimizer_ns[0]);
    b->times[0].optimizer_s = 1;
    near_to(block_of(b).optimizer_ns[0], 1000000000);
    // The same bytes, stated: 12 B a value.
    b->runs[BLOCK].kind = LAYER_MEASURED;
    b->runs[BLOCK].measured.optimizer_bytes = 12L * 15730688;
    b->times[0].optimizer_s = 1e-6;
    assert_int_equal(block_of(b).optimizer_bytes, 0);
    near_to(block_of(b).optimizer_ns[0], block.optimizer_ns[0]);
    b->problem.job.layout.offload_optimizer = false;
    near_to(block_of(b).optimizer_ns[0], 1000);
}

// Of y bytes a value: on the device, and half of it side by side with the host. The same said twice
// takes the same; fewer bytes never take longer.
TEST(states_of_other_widths)
{
    const double p = 15730688;
    struct bench *b = bench_gated();
    struct job *j = &b->problem.job;
    int half = 50;
    struct priced_run plain = block_of(b);
    int64_t shared_ns = INT64_MAX;
    j->state_bytes_per_value = 12;
    near_to(plain.optimizer_bytes, llround(12 * p));
    assert_int_equal(block_of(b).optimizer_bytes, plain.optimizer_bytes);
    assert_int_equal(block_of(b).optimizer_ns[0], plain.optimizer_ns[0]);
    for (int y = 16; y >= 1; y--) {
        j->state_bytes_per_value = y;
        struct priced_run block = block_of(b);
        near_to(block.optimizer_bytes, llround(y * p));
        near_to(block.optimizer_ns[0], llround((2 * y + 4) * p / 1e3));
        assert_int_equal(block.weight_bytes, plain.weight_bytes);
        assert_int_equal(block.gradient_bytes, plain.gradient_bytes);
    }
    j->precision = FP32, j->gradient_bytes_per_value = 4, j->state_bytes_per_value = 0;
    near_to(block_of(b).optimizer_bytes, llround(8 * p));
    j->precision = BF16, j->gradient_bytes_per_value = 2;
    b->gpus[0].host_link_bytes_per_s = exactly(10e9);
    b->gpus[0].host_memory_bytes_per_s = exactly(20e9);
    job_offer_shares(j, &half, 1, arena);
    for (int y = 16; y >= 1; y--) {
        j->state_bytes_per_value = y;
        const struct priced_tiered *shared = &block_of(b).tiered[1];
        // Tried part by part: that of the host's half that the device updates.
        double least = INFINITY;
        for (int i = 0; i <= 1000; i++) {
            double g = i / 1000., n = p / 2,
                   device = (1 + g) / 2 * (double)plain.optimizer_ns[0] * (2 * y + 4) / 28,
                   link = n * ((1 - g) * 2 + g * y) / 10,
                   memory = n * ((1 - g) * (2 * y + 4) + g * 2 * y) / 20;
            least = fmin(least, fmax(device, fmax(link, memory)));
        }
        near_to(shared->optimizer_bytes, llround(y * p / 2));
        if (!((double)shared->optimizer_ns[0] <= least + 1 &&
              (double)shared->optimizer_ns[0] >= least * 0.99))
            fail_msg("%d bytes: %lld ns, tried %g", y, (long long)shared->optimizer_ns[0], least);
        assert_true(shared->optimizer_ns[0] <= shared_ns);
        shared_ns = shared->optimizer_ns[0];
    }
}

static void refused_as(const struct job *j, const char *words)
{
    struct error err = {OK, ""};
    CHECK_REFUSED(job_check(j, &err), words);
}

TEST(states_that_are_none)
{
    struct job *j = &bench_gated()->problem.job;
    j->state_bytes_per_value = 16;
    MUST(job_check(j, &own_err));
    j->state_bytes_per_value = 17;
    refused_as(j, "state_bytes_per_value: expected ");
    j->state_bytes_per_value = 6, j->adam = false;
    refused_as(j, "state_bytes_per_value: expected none without adam, found 6");
}
