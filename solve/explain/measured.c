// What an iteration took, from whatever the log states: its own time, a rate, training between
// evaluations.

#include "solve/explain/internal.h"

static void take(struct explained *x, double seconds, const char *by)
{
    if (x->measured_s > 0 || !(seconds > 0) || !(seconds < 1e7)) return;
    x->measured_s = seconds, x->measured_by = by;
}

void explain_measured(struct explained *x)
{
    const struct log *l = &x->log;
    const struct run_row *r = &x->asked;
    double batch = r->global_batch > 0 ? (double)r->global_batch : 0,
           seq = r->seq > 0 ? (double)r->seq : 0, gpus = r->num_gpus > 0 ? (double)r->num_gpus : 0;
    struct log_rate time = log_rate_of(&l->series[MEASURED_ITERATION_S], false, x->arena),
                    tokens = log_rate_of(&l->series[MEASURED_TOKENS], true, x->arena),
                    samples = log_rate_of(&l->series[MEASURED_SAMPLES], true, x->arena),
                    timer = log_rate_of(&l->series[MEASURED_TIMER], true, x->arena);
    x->rate = time.count ? time : tokens.count ? tokens : samples.count ? samples : timer;
    x->measured_s = 0;
    if (time.count) take(x, time.value, "iteration lines");
    take(x, l->average_s, "the log's own average");
    if (l->block_s > 0 && l->block_samples > 0) {
        bool of_tokens = l->block_samples > 1e6 && seq > 0;
        take(x, l->block_s * batch / (of_tokens ? l->block_samples / seq : l->block_samples),
             "training between evaluations");
    }
    struct log_rate clock = log_rate_of(&l->series[MEASURED_CLOCK_S], false, x->arena);
    bool by_clock = clock.count && l->told[TOLD_GLOBAL_BATCH].by == BY_NONE;
    if (samples.count) take(x, batch / samples.value, "samples per second");
    if (by_clock) take(x, clock.value, "the clock of its lines");
    if (tokens.count && gpus > 0) take(x, batch * seq / (tokens.value * gpus), "tokens per second");
    if (timer.count) take(x, batch / timer.value, "DeepSpeed's timer");
}
