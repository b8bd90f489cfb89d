// The bound of a design that needs no search (docs/FORMULAS.md 24): for random arrays, shapes and
// layouts the passes that are priced take all devices together no less, and with one rank and long
// rows hardly more.
#include "data/kinds/schedules.h"
#include "tests/support/price_bench.h"
#include "tests/support/check.h"

static struct bench *random_bench(struct random *rng)
{
    static const double sides[] = {8, 16, 48, 64, 100, 128, 256};
    struct bench *b = bench_gated();
    struct shape *s = &b->problem.model.shape;
    struct gpu_costs *g = &b->gpus[0];
    s->heads = (int64_t)1 << random_between(rng, 1, 4);
    s->kv_heads = s->heads >> random_between(rng, 0, 1);
    s->head_width = 16 * random_between(rng, 1, 12);
    s->hidden = 64 * random_between(rng, 1, 20);
    s->ffn = s->heads * random_between(rng, 1, 300);
    s->gated_ffn = random_chance(rng, 50);
    g->layer_overhead_s = exactly(0);
    g->score_cells_per_s = exactly(random_chance(rng, 50) ? 1e12 : 0);
    g->memory_bytes_per_s = exactly(1e10 * (double)random_between(rng, 1, 200));
    g->arrays = (struct matrix_arrays){
        (double)random_between(rng, 1, 64), sides[random_between(rng, 0, 6)],
        sides[random_between(rng, 0, 6)], 1e7 * (double)random_between(rng, 10, 200),
        random_chance(rng, 70) ? (double)random_between(rng, 1 << 12, 1 << 24) : 0};
    double peak = 2 * g->arrays.units * g->arrays.rows * g->arrays.columns * g->arrays.clock_hz;
    b->precisions[0].product_flop_per_s = b->precisions[0].attention_flop_per_s = exactly(peak);
    b->precisions[0].product_bytes_per_s = exactly(1e10 * (double)random_between(rng, 1, 300));
    b->problem.model.runs[BLOCK].frozen = random_chance(rng, 20);
    return b;
}

// Nanoseconds of all devices together for all passes of an iteration.
static double devices_ns(struct bench *b)
{
    const struct priced *p = price(b);
    const struct layout *l = &b->problem.job.layout;
    double sum = 0,
           passes = (double)b->problem.job.global_batch * l->tensor * l->context / l->micro_batch;
    for (int i = 0; i < p->run_count; i++)
        sum += (double)p->runs[i].count *
               (double)(p->runs[i].forward_ns[0] + p->runs[i].backward_ns[0]);
    return sum * passes;
}

TEST(no_layout_computes_less)
{
    struct random rng = {11};
    double nearest = 0;
    for (int i = 0; i < 1500; i++) {
        struct bench *b = random_bench(&rng);
        struct layout *l = &b->problem.job.layout;
        int ranks = 1 << random_between(&rng, 0, 4);
        l->tensor = ranks > b->problem.model.shape.kv_heads ? 1 : ranks;
        l->context = 1 << random_between(&rng, 0, 1);
        l->sequence_parallel = l->tensor > 1 && random_chance(&rng, 50);
        l->data = 1 << random_between(&rng, 0, 1);
        l->micro_batch = 1 << random_between(&rng, 0, 2);
        b->problem.job.sequence = 512 * random_between(&rng, 1, 4);
        b->problem.job.global_batch = (int64_t)l->data * l->micro_batch *
                                      random_between(&rng, 1, 4);
        const struct least_work *work = price_least_work(&b->problem, &own_arena);
        int64_t devices = (int64_t)l->tensor * l->context * l->data;
        double least = 1e9 * price_least_s(work, &b->gpus[0], devices) * (double)devices,
               take = devices_ns(b);
        if (!(least <= take))
            fail_msg("%d: tensor %d, context %d: %.9g ns at least, but %.9g", i, l->tensor,
                     l->context, least, take);
        if (least > nearest * take) nearest = least / take;
    }
    assert_true(nearest > 0.9 && nearest <= 1);
}
