// What a training step takes over its kernels, where no run was seen: docs/FORMULAS.md 12.
#include "calibrate/calibrate.h"

#include <string.h>

// One more team's trainer, by the factors of fourteen (docs/FORMULAS.md 10, An unknown trainer).
static const struct estimate unknown_trainer = {
    .value = 1.16,
    .low = 0.94,
    .high = 1.42,
    .origin = ORIGIN_ASSUMED,
    .source =
        "no training step was seen: the spread of fourteen teams' factors; calibrate --iterations "
        "fits it to a run"};

// PyTorch 2.15 on one processor, a block of 256 (docs/VALIDATION.md 11): its graph is walked again
// for the weights, in Python, whatever its sizes are.
static const struct estimate unknown_split = {
    .value = 1.3e-3,
    .low = 0.6e-3,
    .high = 2e-3,
    .origin = ORIGIN_ASSUMED,
    .source = "no split backward pass was seen: PyTorch's on one processor"};

bool calibration_of_processor(const struct calibration *c)
{
    const struct machine *m = &c->inputs->all.machine;
    return m->library && !m->driver && strstr(m->library, "OpenBLAS");
}

// PyTorch's kernels over these, on processors: 1.2 in a trial on one machine; 1.1 to 1.4, 1.55 and
// 1.2 to 1.5 in those of docs/VALIDATION.md 11.
static const struct estimate torch_on_processors = {
    .value = 1.25,
    .low = 0.95,
    .high = 1.6,
    .origin = ORIGIN_ASSUMED,
    .source = "no training step was seen: PyTorch's on two processors; calibrate RUN fits it"};

// A trace of a run has its layers as they are in a step.
static bool has_seen_steps(const struct samples *all)
{
    for (int i = 0; i < all->sample_count; i++)
        if (all->samples[i].kind == SAMPLE_LAYER && all->samples[i].stopped_by &&
            !strcmp(all->samples[i].stopped_by, "imported"))
            return true;
    return false;
}

bool calibration_assume_trainer(struct calibration *c)
{
    struct gpu_costs *g = (struct gpu_costs *)costs_find_gpu(&c->costs, c->gpu);
    if (!g || has_seen_steps(&c->inputs->all)) return false;
    struct estimate *factors[] = {&g->megatron_step_factor, &g->deepspeed_step_factor,
                                  &g->other_step_factor, &g->sharded_step_factor};
    for (size_t i = 0; i < ARRAY_LENGTH(factors); i++)
        if (factors[i]->value > 0) return false;
    bool processor = calibration_of_processor(c);
    for (size_t i = 0; i < ARRAY_LENGTH(factors); i++) *factors[i] = unknown_trainer;
    if (processor) g->other_step_factor = torch_on_processors;
    if (processor && !(g->split_overhead_s.value > 0)) g->split_overhead_s = unknown_split;
    return true;
}
