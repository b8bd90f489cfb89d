// Figures of a run: docs/FORMULAS.md, Figures of a run.
#include "data/inputs/figures.h"

#include <math.h>

static double gate_matrices(const struct shape *s) { return s->gated_ffn ? 3 : 2; }

// Weights of one attention.
static double attention_weights(const struct shape *s)
{
    double h = (double)s->hidden, heads = (double)s->heads, q = heads * (double)s->head_width,
           kv = (double)(s->kv_heads * s->head_width),
           values = heads * (double)shape_value_width(s), down = (double)s->query_rank,
           latent = (double)s->kv_rank, turned = (double)s->rotary_width;
    if (!s->kv_rank) return h * (q + 2 * kv) + q * h;
    return h * (down + latent + turned) + (down > 0 ? down : h) * q +
           latent * (q - heads * turned + values) + values * h;
}

// Weights of a block that one token uses: attention, and its feed-forward part or the experts used.
static double block_weights(const struct shape *s, const struct layer_run *run)
{
    double h = (double)s->hidden, ffn = (double)s->ffn, router = 0;
    if (run->kind == LAYER_MOE) {
        const struct expert_shape *e = &run->experts;
        ffn = (double)e->shared_ffn + (double)e->top_k * (double)e->ffn;
        router = h * (double)e->experts;
    }
    return (run->cross_attention ? 2 : 1) * attention_weights(s) + gate_matrices(s) * h * ffn +
           router + (run->mtp ? 2 * h * h : 0);
}

static double pool_weights(const struct shape *s, const struct pool_shape *p)
{
    double h = (double)s->hidden, heads = (double)p->heads, key = (double)p->key_width,
           width = (double)p->width;
    return h * heads * key + heads * sqrt((double)p->values) * key +
           heads * (double)p->top_k * width + width * h + (p->gated ? h * width : 0);
}

// All score cells within a window, or within chunks.
static double attention_flop(const struct shape *s, const struct layer_run *run, double tokens)
{
    double reach = (double)(run->window ? run->window : run->chunk),
           seen = reach > 0 && reach < tokens ? reach : tokens, rest = fmod(tokens, seen),
           widths = (double)(s->heads * (s->head_width + shape_value_width(s)));
    if (run->chunk) seen = ((tokens - rest) * seen + rest * rest) / tokens;
    return 2 * tokens * (seen + (run->cross_attention ? tokens : 0)) * widths;
}

static struct layer_flop layer_flop_forward(const struct model *m, const struct layer_run *run,
                                            int64_t sequence)
{
    const struct shape *s = run_shape(m, run);
    const struct projector_shape *p = &run->projector;
    double tokens = (double)(run->tokens ? run->tokens : sequence);
    switch (run->kind) {
    case LAYER_BLOCK:
    case LAYER_MOE:
        return (struct layer_flop){2 * tokens * block_weights(s, run),
                                   attention_flop(s, run, tokens)};
    case LAYER_MEMORY: return (struct layer_flop){2 * tokens * pool_weights(s, &run->pool), 0};
    case LAYER_HEAD:
        return (struct layer_flop){
            2 * tokens * (1 + model_mtp_depth(m)) * (double)shape_embedding_width(s) *
                (double)(s->vocabulary + (s->embedding_width ? s->hidden : 0)),
            0};
    case LAYER_PROJECTOR:
        return (struct layer_flop){
            2 * tokens *
                (double)(p->inner ? p->inner * (p->inputs + p->outputs) : p->inputs * p->outputs),
            0};
    case LAYER_EMBEDDING:
    case LAYER_MEASURED: break;
    }
    return (struct layer_flop){0, 0};
}

static struct layer_flop times(struct layer_flop f, double by)
{
    return (struct layer_flop){f.products * by, f.attention * by};
}

// For all pieces of a sequence.
static struct layer_flop forward_of_sequence(const struct model *m, const struct layer_run *run,
                                             int64_t sequence)
{
    return times(layer_flop_forward(m, run, sequence), (double)run_pieces(run));
}

// Input and output widths of the block's matrices, each times the adapters' rank.
static double adapter_flop(const struct model *m, const struct layer_run *run, int64_t sequence)
{
    const struct shape *s = run_shape(m, run);
    double h = (double)s->hidden, q = (double)(s->heads * s->head_width),
           kv = (double)(s->kv_heads * s->head_width), ffn = (double)s->ffn;
    return 2 * (double)run_tokens_out(run, sequence) * run->adapter_rank *
           (2 * (h + q) + 2 * (h + kv) + gate_matrices(s) * (h + ffn));
}

// Backward: once more for gradients of inputs, if any are needed, and once more for those of
// weights.
double model_flop(const struct model *m, int64_t sequence)
{
    double sum = 0;
    for (int r = 0; r < m->run_count; r++) {
        const struct layer_run *run = &m->runs[r];
        if (run->kind == LAYER_MEASURED) return 0;
        struct layer_flop forward = forward_of_sequence(m, run, sequence);
        double back = model_has_gradient(m, r) ? 1 : 0;
        sum += run->count * (forward.products * (1 + back + (run->frozen ? 0 : 1)) +
                             forward.attention * (1 + 2 * back) +
                             3 * (run->adapter_rank ? adapter_flop(m, run, sequence) : 0));
    }
    return sum;
}

// Weights of every second product: keys, attention's output, the second product of a gated layer.
static double repeated_weights(const struct shape *s, const struct layer_run *run)
{
    double ffn = (double)(run->kind == LAYER_MOE ? run->experts.shared_ffn : s->ffn),
           heads = (double)(s->heads + s->kv_heads);
    return (double)s->hidden * (heads * (double)s->head_width + (s->gated_ffn ? ffn : 0));
}

static double layer_recomputed(const struct model *m, const struct layer_run *run,
                               enum recompute mode, const struct job *job)
{
    int64_t sequence = job->sequence;
    struct layer_flop forward = forward_of_sequence(m, run, sequence);
    if (mode == RECOMPUTE_SELECTIVE)
        return job->trainer == TRAINER_TORCHTITAN
                   ? 2 * (double)run_tokens_out(run, sequence) *
                             repeated_weights(run_shape(m, run), run) +
                         (job->layout.fused_attention ? 0 : forward.attention)
                   : forward.attention;
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
    if (flop > 0) f->hardware_flop_per_s = sequences * (flop + recomputed) / seconds;
    f->price_per_million_tokens = f->price_per_hour / (f->tokens_per_s * 3600) * 1e6;
    f->run_hours = (double)p->job.run_tokens / f->tokens_per_s / 3600;
    f->run_price = f->run_hours * f->price_per_hour;
}
