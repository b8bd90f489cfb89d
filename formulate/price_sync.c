// Gradient synchronisation: bytes and time of one layer by compression option, the latency of a stage, and the sync of
// tied embeddings between the end stages. docs/FORMULAS.md section 7.
#include <math.h>

#include "formulate/pricing.h"

enum { MATRICES_MAX = 5 };
struct matrix { double rows, columns; };

// The weight matrices of a run that low-rank compression applies to.
static int matrices_of(const struct pricing *x, const struct layer_run *run, struct matrix *matrices)
{
    int count = 0;
    if (run->kind == LAYER_BLOCK) {
        matrices[count++] = (struct matrix){x->h, (x->q + 2 * x->kv) / x->t};
        matrices[count++] = (struct matrix){x->q / x->t, x->h};
        for (int i = 1; i < (int)x->g; i++) matrices[count++] = (struct matrix){x->h, x->f / x->t};
        matrices[count++] = (struct matrix){x->f / x->t, x->h};
    } else if (run->kind == LAYER_MEASURED && run->measured.matrix_rows > 0 && run->measured.matrix_columns > 0) {
        matrices[count++] = (struct matrix){(double)run->measured.matrix_rows, (double)run->measured.matrix_columns};
    }
    return count;
}

// What an option does to the sync of one layer.
struct compression { double saved_bytes, flop, feedback_bytes; int matrix_count; };

static struct compression compress(const struct pricing *x, const struct layer_run *run, double rank)
{
    struct matrix matrices[MATRICES_MAX];
    struct compression all = {0, 0, 0, 0};
    int count = rank > 0 ? matrices_of(x, run, matrices) : 0;
    for (int i = 0; i < count; i++) {
        double rows = matrices[i].rows, columns = matrices[i].columns, values = rows * columns,
               sent = rank * (rows + columns);
        if (sent >= values) continue;
        all.saved_bytes += x->e_g * (values - sent);
        all.feedback_bytes += x->e_g * values;
        all.flop += 6 * rows * columns * rank + 2 * rows * rank * rank;
        all.matrix_count++;
    }
    return all;
}

// The part of a layer's gradient that its own sync carries: with fused embedding sync the shared matrix goes elsewhere.
static double gradient_synced(const struct pricing *x, const struct layer_run *run, double gradient_bytes)
{
    const struct model *model = &x->problem->model;
    bool shared = run->kind == LAYER_EMBEDDING || run->kind == LAYER_HEAD;
    if (!shared || !model->shape.tied_embeddings || x->p == 1 || !x->problem->job.layout.fused_embedding_sync)
        return gradient_bytes;
    return fmax(0, gradient_bytes - x->e_g * x->v * x->h / x->t);
}

static double sync_s(const struct pricing *x, const struct layer_run *run, const struct compression *compression, int group)
{
    if (x->R <= 1) return 0;
    struct link_price link = link_of_gradient_sync(x, group);
    struct layer_bytes bytes = bytes_of_layer(x, run);
    double gradient = fmax(0, gradient_synced(x, run, bytes.gradient) - compression->saved_bytes),
           share = (x->R - 1) / x->R / link.bytes_per_s;
    double seconds = x->problem->job.layout.zero ? share * gradient + share * bytes.weight : 2 * share * gradient;
    if (!compression->matrix_count) return seconds;
    const struct gpu_costs *gpu = costs_find_gpu(&x->problem->costs, x->problem->cluster.groups[group].gpu);
    const struct precision_costs *rates = costs_find_precision(gpu, x->problem->job.precision);
    return seconds + compression->flop / rates->low_rank_flop_per_s.value +
           2 * compression->matrix_count * gpu->compression_overhead_s.value;
}

enum status price_gradient_syncs(struct pricing *x, int run, struct error *err)
{
    struct priced *priced = x->priced;
    const struct layer_run *layers = &x->problem->model.runs[run];
    for (int option = 0; option < priced->gradient_option_count; option++) {
        struct compression compression = compress(x, layers, priced->gradient_options[option].rank);
        TRY(round_bytes(&priced->runs[run].feedback_bytes[option], compression.feedback_bytes, "gradient feedback",
                        layers->name, err));
        for (int group = 0; group < priced->group_count; group++) {
            if (priced->groups[group].excluded) continue;
            TRY(round_time(&priced->runs[run].sync_ns[option][group], sync_s(x, layers, &compression, group),
                           "gradient sync time", layers->name, err));
        }
    }
    return OK;
}

enum status price_sync_constants(struct pricing *x, struct error *err)
{
    struct priced *priced = x->priced;
    for (int group = 0; group < priced->group_count; group++) {
        struct priced_group *to = &priced->groups[group];
        if (to->excluded || x->R <= 1) continue;
        double latency = 2 * (x->R - 1) * link_of_gradient_sync(x, group).latency_s;
        for (int option = 0; option < priced->gradient_option_count; option++)
            TRY(round_time(&to->sync_constant_ns[option], latency, "gradient sync latency", to->name, err));
    }
    return OK;
}

enum status price_embedding_sync(struct pricing *x, struct error *err)
{
    struct priced *priced = x->priced;
    priced->has_embedding_sync = x->problem->model.has_shape && x->problem->model.shape.tied_embeddings && x->p > 1;
    priced->embedding_sync_ns = TAKE(x->arena, priced->group_count * priced->group_count, int64_t);
    double bytes = x->e_g * x->v * x->h / x->t, ranks = x->problem->job.layout.fused_embedding_sync ? 2 * x->R : 2;
    for (int from = 0; from < priced->group_count; from++)
        for (int to = 0; to < priced->group_count; to++) {
            int64_t *ns = &priced->embedding_sync_ns[from * priced->group_count + to];
            struct link_price there = link_of_stages(x, from, to), back = link_of_stages(x, to, from);
            *ns = there.joined ? 0 : PRICE_NONE;
            if (!there.joined || !priced->has_embedding_sync) continue;
            double seconds = fmax(all_reduce_price_s(&there, bytes, ranks), all_reduce_price_s(&back, bytes, ranks));
            TRY(round_time(ns, seconds, "embedding sync time", priced->groups[from].name, err));
        }
    return OK;
}
