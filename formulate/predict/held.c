// What a device needs at once, where a program's code says that it is not the sum of the parts, and
// what PyTorch's caching allocator holds for it, which programs report. docs/FORMULAS.md 8.
#include "data/base/least.h"
#include "formulate/predict/internal.h"

// For each byte that is requested, where the costs have no factor of it.
#define HELD_FOR_REQUESTED 1.083

// Layers whose kernels wait for the device: a queue of 1,024 launches, some 40 a layer.
enum { LAYERS_AHEAD = 25 };

// Of 16-bit gradients that one pass makes as large as the weights, and that are added to fp32 sums:
// they appear as what the pass reads of its micro-batch goes, in its place.
static int64_t in_place_of_activations(const struct job *job, const struct memory_parts *m,
                                       int in_flight)
{
    bool apart = job->gradient_bytes_per_value > 2 && job->precision != FP32 &&
                 job->layout.zero < 2;
    int64_t once = m->activation_bytes / in_flight;
    return !apart ? 0 : once < m->weight_bytes ? once : m->weight_bytes;
}

// What tensor ranks send on another stream stays until the device has sent it. Without a pipeline,
// whose messages the host waits for, the host is that far ahead.
static int64_t not_sent_yet(const struct problem *problem)
{
    const struct job *job = &problem->job;
    const struct layout *l = &job->layout;
    int layers = problem->model.layer_count - 2;
    if (l->tensor == 1 || !l->sequence_parallel || l->pipeline > 1) return 0;
    int64_t whole = (job->precision == FP32 ? 4 : 2) * l->micro_batch * job->sequence / l->context *
                    problem->model.shape.hidden;
    return 2 * whole * (layers < LAYERS_AHEAD ? layers : LAYERS_AHEAD);
}

int64_t predict_requested_bytes(const struct predictor *p, const struct memory_parts *m,
                                int in_flight)
{
    const struct job *job = &p->problem.job;
    bool alone = job->layout.data * job->layout.context == 1;
    // Autocast: the sums are the fp32 weights' own gradients. Of replicas, DDP's fp32 buckets take
    // as much as the copies and buckets in 16 bits that are counted. Of 6 gradient bytes of a value
    // that is trained 2 are such a copy's; frozen weights are what they were loaded as.
    if (p->origin->origin.program == PROGRAM_TRANSFORMERS && job->trainer == TRAINER_OTHER &&
        alone && job->gradient_bytes_per_value > 2 && job->precision != FP32)
        return memory_total(m) - smaller(m->weight_bytes, m->gradient_bytes / 3);
    if (p->origin->origin.program != PROGRAM_NANOTRON) return memory_total(m);
    // ZeRO 1 gathers weights after the step into one piece, for which no freed one is large enough.
    bool gathers = job->layout.zero == 1 && !alone;
    return memory_total(m) - in_place_of_activations(job, m, in_flight) +
           (gathers ? m->weight_bytes : 0);
}

int64_t predict_held_bytes(const struct predictor *p, int64_t requested, double outside)
{
    double factor = p->problem.costs.allocator_factor.value;
    return round_half_up((factor > 1 ? factor : HELD_FOR_REQUESTED) *
                         ((double)requested - outside)) +
           (p->origin->origin.program == PROGRAM_NANOTRON ? not_sent_yet(&p->problem) : 0);
}
