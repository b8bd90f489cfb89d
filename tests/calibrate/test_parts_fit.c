// Parts that only some models have become costs of their own: planted rates are recovered, and no
// other number changes by them.
#include "calibrate/calibrate.h"
#include "tests/support/check.h"
#include "tests/support/draws/samples.h"

enum { CELLS = 80 };

static struct sample *add(struct samples *samples, enum sample_kind kind, const char *operation,
                          double seconds, struct arena *arena)
{
    return sample_add(samples, BF16, kind, operation, seconds, arena);
}

static const struct {
    enum sample_kind kind;
    const char *operation;
    bool flop; // the work; else bytes
    double rate;
    size_t precision_at, gpu_at; // 0: the other
} parts[] = {
#define OF_PRECISION(member) offsetof(struct precision_costs, member), 0
#define OF_GPU(member) 0, offsetof(struct gpu_costs, member)
    {SAMPLE_GROUPED, "experts' up", true, 3e14, OF_PRECISION(grouped_flop_per_s)},
    {SAMPLE_GROUPED, "experts' up, data gradient", true, 2e14,
     OF_PRECISION(backward_grouped_flop_per_s)},
    {SAMPLE_CONTEXT, "step of a ring", true, 1.5e14, OF_PRECISION(ring_attention_flop_per_s)},
    {SAMPLE_CONTEXT, "step of a ring, fused, backward", true, 1.1e14,
     OF_PRECISION(backward_ring_attention_flop_per_s)},
    {SAMPLE_CAST, "cast", false, 2.1e12, OF_PRECISION(cast_bytes_per_s)},
    {SAMPLE_ROTARY, "rotary positions", false, 1.9e12, OF_GPU(rotary_bytes_per_s)},
    {SAMPLE_DROPOUT, "dropout", false, 1.3e12, OF_GPU(dropout_bytes_per_s)},
    {SAMPLE_DROPOUT, "dropout, backward", false, 1.7e12, OF_GPU(backward_dropout_bytes_per_s)},
};

// Adam's step over as many values at this rate, of 24 bytes each; 0: not measured.
static double step_rate;

static struct gpu_costs calibrate_with(bool with_parts, struct arena *arena)
{
    struct inputs in;
    struct calibration c;
    struct samples samples = {.samples = TAKE(arena, CELLS, struct sample),
                              .machine = {.gpu = "planted"},
                              .document = {.path = "samples.json"}};
    memcpy(samples.document.sha256, "aabbccddeeff", 13);
    for (int i = 1; i <= 4; i++) {
        add(&samples, SAMPLE_GEMM, "up", 1e12 * i / 6e14, arena)->flop = 1e12 * i;
        add(&samples, SAMPLE_MEMORY, "norms", 1e9 * i / 2.5e12, arena)->bytes = 1e9 * i;
        if (step_rate > 0) {
            struct sample *s = add(&samples, SAMPLE_OPTIMIZER, "adam", 24e8 * i / step_rate, arena);
            s->dimensions[0] = 100000000 * (int64_t)i, s->dimension_count = 1;
        }
        add(&samples, SAMPLE_ATTENTION, "fused", 1e11 * i / 4e14, arena)->flop = 1e11 * i;
        for (size_t p = 0; p < ARRAY_LENGTH(parts) && with_parts; p++) {
            double work = (parts[p].flop ? 1e12 : 1e9) * i;
            struct sample *s =
                add(&samples, parts[p].kind, parts[p].operation, work / parts[p].rate, arena);
            if (parts[p].flop) s->flop = work;
            else s->bytes = work;
        }
    }
    const struct calibrate_settings settings = {.output = "costs.json"};
    MUST(inputs_join(&in, &samples, 1, NULL, arena, &own_err));
    MUST(calibrate(&c, &in, &settings, arena, &own_err));
    MUST(costs_check(&c.costs, &own_err));
    return c.costs.gpus[0];
}

// Two documents whose products ran by different algorithms are no one fit.
TEST(test_alike)
{
    struct samples documents[2];
    struct inputs in;
    struct calibration c;
    for (int d = 0; d < 2; d++) {
        documents[d] = (struct samples){.samples = TAKE(arena, CELLS, struct sample),
                                        .machine = {.gpu = "planted"},
                                        .document = {.path = d ? "best.json" : "first.json"}};
        snprintf(documents[d].document.sha256, 13, "%dabbccddeeff", d);
        for (int i = 1; i <= 4; i++) {
            struct sample *s = add(&documents[d], SAMPLE_GEMM, "up", 1e12 * i / 6e14, arena);
            s->flop = 1e12 * i;
            s->algorithm = d ? ALGORITHM_BEST : ALGORITHM_FIRST;
        }
    }
    const struct calibrate_settings settings = {.output = "costs.json"};
    CHECK_OK(inputs_join(&in, documents, 2, NULL, arena, &err));
    CHECK_REFUSED(calibrate(&c, &in, &settings, arena, &err),
                  "best.json: gemm 'up': expected the same algorithm as in first.json");
}

TEST(test_parts)
{
    struct gpu_costs with = calibrate_with(true, arena), without = calibrate_with(false, arena);
    for (size_t p = 0; p < ARRAY_LENGTH(parts); p++) {
        size_t at = parts[p].precision_at ? parts[p].precision_at : parts[p].gpu_at;
        const char *of[] = {parts[p].precision_at ? (char *)&with.precisions[0] : (char *)&with,
                            parts[p].precision_at ? (char *)&without.precisions[0]
                                                  : (char *)&without};
        const struct estimate *e = (const struct estimate *)(of[0] + at),
                              *none = (const struct estimate *)(of[1] + at);
        if (!(fabs(e->value / parts[p].rate - 1) < 1e-6))
            fail_msg("%s: %g, not %g", parts[p].operation, e->value, parts[p].rate);
        assert_true(e->low <= e->value && e->high >= e->value && e->origin == ORIGIN_FITTED);
        assert_true(!(none->value > 0));
    }
    assert_true(!(fabs(with.memory_bytes_per_s.value - without.memory_bytes_per_s.value) > 0));
    const struct precision_costs *p = &with.precisions[0], *q = &without.precisions[0];
    assert_true(!(fabs(p->gemm_flop_per_s.value - q->gemm_flop_per_s.value) > 0));
    assert_true(!(fabs(p->attention_flop_per_s.value - q->attention_flop_per_s.value) > 0));
}

// A step that is slower than the memory rate moves more, one that is faster has a rate of its own.
TEST(test_step)
{
    static const double rates[] = {1.6e12, 2.4e12, 2.6e12, 9e12}, memory = 2.5e12;
    for (size_t i = 0; i < ARRAY_LENGTH(rates); i++) {
        step_rate = rates[i];
        struct gpu_costs g = calibrate_with(false, arena);
        double bytes = 24 + g.step_bytes_per_value.value,
               rate = g.step_bytes_per_s.value > 0 ? g.step_bytes_per_s.value : memory;
        if (!(fabs(rate / bytes / (rates[i] / 24) - 1) < 1e-6))
            fail_msg("%g values/s, not %g", rate / bytes, rates[i] / 24);
        assert_true((g.step_bytes_per_s.value > 0) == (rates[i] > memory));
    }
    step_rate = 0;
}
