// Figures of a run: docs/FORMULAS.md, Figures of a run.
#include "data/inputs/figures.h"

#include "data/inputs/model/size.h"

static struct layer_flop times(struct layer_flop f, double by)
{
    return (struct layer_flop){f.products * by, f.attention * by, f.scores * by, f.masked * by};
}

// For all pieces of a sequence.
static struct layer_flop forward_of_sequence(const struct model *m, const struct layer_run *run,
                                             int64_t sequence)
{
    return times(layer_flop_of(m, run, sequence), (double)run_pieces(run));
}

static double adapter_flop(const struct model *m, const struct layer_run *run, int64_t sequence)
{
    return 2 * (double)run_tokens_out(run, sequence) *
           (double)adapter_values(run_shape(m, run), run);
}

// Backward: once more for gradients of inputs, if any are needed, and once more for those of
// weights.
static double flop_of(const struct model *m, int64_t sequence, bool masked)
{
    double sum = 0;
    for (int r = 0; r < m->run_count; r++) {
        const struct layer_run *run = &m->runs[r];
        if (run->kind == LAYER_MEASURED) return 0;
        struct layer_flop forward = forward_of_sequence(m, run, sequence);
        double back = model_has_gradient(m, r) ? 1 : 0;
        sum += run->count * (forward.products * (1 + back + (run->frozen ? 0 : 1)) +
                             (masked ? forward.masked : forward.attention) * (1 + 2 * back) +
                             3 * (run->adapter_rank ? adapter_flop(m, run, sequence) : 0));
    }
    return sum;
}

double model_flop(const struct model *m, int64_t sequence) { return flop_of(m, sequence, false); }

double model_flop_masked(const struct model *m, int64_t sequence)
{
    return flop_of(m, sequence, true);
}

static double layer_recomputed(const struct model *m, const struct layer_run *run,
                               enum recompute mode, const struct job *job)
{
    int64_t sequence = job->sequence;
    struct layer_flop forward = forward_of_sequence(m, run, sequence);
    if (mode == RECOMPUTE_SELECTIVE)
        return job->trainer == TRAINER_TORCHTITAN
                   ? 2 * (double)run_tokens_out(run, sequence) *
                             (double)repeated_weights(run_shape(m, run), run) +
                         forward.attention - (job->layout.fused_attention ? forward.scores : 0)
                   : forward.scores;
    return forward.products + forward.attention +
           (run->adapter_rank ? adapter_flop(m, run, sequence) : 0);
}

double recomputed_flop(const struct model *m, int first, int count, enum recompute mode,
                       int recomputed, const struct job *job)
{
    double sum = 0;
    int left = mode == RECOMPUTE_FIRST_LAYERS ? recomputed : count;
    for (int i = first; i < first + count && mode != RECOMPUTE_NONE; i++) {
        const struct layer_run *run = &m->runs[model_run_of(m, i)];
        if (run->recomputable && left-- > 0) sum += layer_recomputed(m, run, mode, job);
    }
    return sum;
}

double gpu_peak_flop_per_s(const struct problem *p, const struct node_group *g)
{
    const struct gpu_costs *gpu = costs_find_gpu(&p->costs, g->gpu);
    const struct precision_costs *rates = gpu ? costs_find_precision(gpu, p->job.precision) : NULL;
    return rates ? rates->peak_flop_per_s.value : 0;
}

static void add_group(struct figures *f, const struct problem *p, const struct node_group *g)
{
    double gpus = (double)g->nodes * g->gpus_per_node, peak = gpu_peak_flop_per_s(p, g);
    f->gpus += (int64_t)g->nodes * g->gpus_per_node;
    f->peak_flop_per_s += gpus * peak;
    f->price_per_hour += gpus * g->gpu_hour_price;
    if (!(peak > 0)) f->gpu_without_peak = g->gpu;
    if (!(g->gpu_hour_price > 0)) f->group_without_price = g->name;
}

void figures_find(struct figures *f, const struct problem *p, int64_t iteration_ns,
                  double recomputed)
{
    double seconds = (double)iteration_ns * 1e-9, sequences = (double)p->job.global_batch,
           flop = model_flop(&p->model, p->job.sequence);
    *f = (struct figures){.tokens_per_s = sequences * (double)p->job.sequence / seconds};
    for (int i = 0; i < p->cluster.group_count; i++) add_group(f, p, &p->cluster.groups[i]);
    if (f->gpu_without_peak) f->peak_flop_per_s = 0;
    if (f->group_without_price) f->price_per_hour = 0;
    f->tokens_per_gpu_hour = f->tokens_per_s * 3600 / (double)f->gpus;
    f->model_flop_per_s = sequences * flop / seconds;
    f->tflops_per_gpu = f->model_flop_per_s / (double)f->gpus / 1e12;
    double masked = sequences * model_flop_masked(&p->model, p->job.sequence) / seconds;
    f->causal_tflops_per_gpu = masked / (double)f->gpus / 1e12;
    if (f->peak_flop_per_s > 0) {
        f->mfu_percent = 100 * f->model_flop_per_s / f->peak_flop_per_s;
        f->causal_mfu_percent = 100 * masked / f->peak_flop_per_s;
    }
    if (flop > 0) f->hardware_flop_per_s = sequences * (flop + recomputed) / seconds;
    f->price_per_million_tokens = f->price_per_hour / (f->tokens_per_s * 3600) * 1e6;
    f->run_hours = (double)p->job.run_tokens / f->tokens_per_s / 3600;
    f->run_price = f->run_hours * f->price_per_hour;
}
