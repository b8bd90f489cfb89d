// Messages between stages and gradient syncs as the judge prices them (docs/FORMULAS.md, sections 6 and 7).
#include "solve/verify_price.h"

#include <assert.h>

static const struct gpu_costs *gpu_of(const struct assay *a, int group)
{
    return costs_find_gpu(&a->problem->costs, a->problem->cluster.groups[group].gpu);
}

static long double low_rank_rate(const struct assay *a, int group)
{
    const struct precision_costs *rates = costs_find_precision(gpu_of(a, group), a->problem->job.precision);
    assert(rates);
    return rates->low_rank_flop_per_s.value;
}

// ---- messages

struct message { long double bytes, rows, columns; };

static struct message message_behind(const struct assay *a, int run)
{
    const struct layer_run *r = &a->problem->model.runs[run];
    if (r->kind == LAYER_MEASURED)
        return (struct message){r->measured.boundary_bytes, r->measured.matrix_rows, r->measured.matrix_columns};
    long double rows = a->tokens * a->share, columns = a->problem->model.shape.hidden;
    return (struct message){a->value_bytes * rows * columns, rows, columns};
}

// Bytes of the message at this rank; false where compression would not make it smaller, or there is nothing to compress.
static bool compressed_bytes(const struct assay *a, struct message m, int rank, long double *bytes)
{
    *bytes = a->value_bytes * rank * (m.rows + m.columns);
    return rank > 0 && m.rows > 0 && m.columns > 0 && *bytes < m.bytes;
}

bool transfer_unrounded_ns(const struct assay *a, struct sending sending, long double parts[PART_COUNT])
{
    int run = sending.run, sender = sending.sender, receiver = sending.receiver, rank = sending.rank;
    const double *share = a->problem->costs.transfer_share;
    struct joint link = judged_stage_link(a, sender, receiver);
    struct message m = message_behind(a, run);
    long double bytes, work = 0, r = rank;
    if (!link.joined) return false;
    if (compressed_bytes(a, m, rank, &bytes)) {
        work = (4 * m.rows * m.columns * r + 2 * m.rows * r * r) / low_rank_rate(a, sender) +
               gpu_of(a, sender)->compression_overhead_s.value +
               2 * m.rows * m.columns * r / low_rank_rate(a, receiver) +
               gpu_of(a, receiver)->compression_overhead_s.value;
    } else {
        bytes = m.bytes;
    }
    long double size = bytes / link.bytes_per_s;
    parts[PART_BLOCKING] = share[PART_BLOCKING] * size * 1e9L;
    parts[PART_LINK] = share[PART_LINK] * size * 1e9L;
    parts[PART_DELAY] = (share[PART_DELAY] * size + link.latency_s + work) * 1e9L;
    return true;
}

bool transfer_price(const struct assay *a, struct sending m, int64_t parts[PART_COUNT])
{
    long double unrounded[PART_COUNT];
    if (!transfer_unrounded_ns(a, m, unrounded)) return false;
    for (int k = 0; k < PART_COUNT; k++) parts[k] = judged_whole(unrounded[k]);
    return true;
}

int64_t boundary_feedback_of(const struct assay *a, int run, int rank)
{
    long double bytes;
    struct message m = message_behind(a, run);
    return compressed_bytes(a, m, rank, &bytes) ? judged_whole(m.bytes) : 0;
}

// ---- gradient syncs

struct matrix { long double rows, columns; };
enum { MATRICES_MAX = 5 };

static int matrices_of(const struct assay *a, int run, struct matrix m[MATRICES_MAX])
{
    const struct layer_run *r = &a->problem->model.runs[run];
    int count = 0;
    if (r->kind == LAYER_MEASURED && r->measured.matrix_rows > 0 && r->measured.matrix_columns > 0)
        m[count++] = (struct matrix){r->measured.matrix_rows, r->measured.matrix_columns};
    if (r->kind != LAYER_BLOCK) return count;
    const struct shape *s = &a->problem->model.shape;
    long double h = s->hidden, f = s->ffn, t = a->problem->job.layout.tensor;
    long double q = (long double)s->heads * s->head_width, kv = (long double)s->kv_heads * s->head_width;
    m[count++] = (struct matrix){h, (q + 2 * kv) / t};
    m[count++] = (struct matrix){q / t, h};
    for (int i = s->gated_ffn ? 2 : 1; i > 0; i--) m[count++] = (struct matrix){h, f / t};
    m[count++] = (struct matrix){f / t, h};
    return count;
}

static bool matrix_shrinks(struct matrix m, int rank)
{
    return rank > 0 && rank * (m.rows + m.columns) < m.rows * m.columns;
}

// Bytes that a layer hands to the sync: the shared matrix's gradient leaves where its sync is fused, its weights stay.
static void synced_bytes(const struct assay *a, int run, long double *gradient, long double *weight)
{
    const struct layer_run *r = &a->problem->model.runs[run];
    const struct job *j = &a->problem->job;
    if (r->kind == LAYER_MEASURED) {
        *gradient = r->measured.gradient_bytes;
        *weight = r->measured.weight_bytes;
        return;
    }
    struct layer_weight w = layer_weight_of(a, run);
    bool leaves = r->kind != LAYER_BLOCK && a->embedding_sync && j->layout.fused_embedding_sync;
    *gradient = j->gradient_bytes_per_value * (w.whole + (leaves ? 0 : w.sharded));
    *weight = a->value_bytes * (w.whole + w.sharded);
}

long double layer_sync_unrounded_ns(const struct assay *a, int run, int group, int rank)
{
    if (a->ranks <= 1) return 0;
    const struct job *j = &a->problem->job;
    struct matrix matrices[MATRICES_MAX];
    long double gradient, weight, work = 0, r = rank, ring = (long double)(a->ranks - 1) / (long double)a->ranks;
    long double rate = judged_gradient_link(a, group).bytes_per_s;
    synced_bytes(a, run, &gradient, &weight);
    for (int i = matrices_of(a, run, matrices) - 1; i >= 0; i--) {
        struct matrix m = matrices[i];
        if (!matrix_shrinks(m, rank)) continue;
        gradient -= j->gradient_bytes_per_value * (m.rows * m.columns - r * (m.rows + m.columns));
        work += (6 * m.rows * m.columns * r + 2 * m.rows * r * r) / low_rank_rate(a, group) +
                2 * (long double)gpu_of(a, group)->compression_overhead_s.value;
    }
    if (gradient < 0) gradient = 0;
    long double sent = j->layout.zero == 1 ? ring * gradient + ring * weight : 2 * ring * gradient;
    return (sent / rate + work) * 1e9L;
}

int64_t layer_sync_ns(const struct assay *a, int run, int group, int rank)
{
    return judged_whole(layer_sync_unrounded_ns(a, run, group, rank));
}

long double sync_constant_unrounded_ns(const struct assay *a, int group)
{
    if (a->ranks <= 1) return 0;
    return 2.0L * (long double)(a->ranks - 1) * judged_gradient_link(a, group).latency_s * 1e9L;
}

int64_t sync_constant_ns(const struct assay *a, int group) { return judged_whole(sync_constant_unrounded_ns(a, group)); }

int64_t gradient_feedback_of(const struct assay *a, int run, int rank)
{
    struct matrix matrices[MATRICES_MAX];
    long double values = 0;
    for (int i = matrices_of(a, run, matrices) - 1; i >= 0; i--)
        if (matrix_shrinks(matrices[i], rank)) values += matrices[i].rows * matrices[i].columns;
    return judged_whole(a->problem->job.gradient_bytes_per_value * values);
}

bool embedding_sync_price(const struct assay *a, int first, int last, int64_t *ns)
{
    *ns = 0;
    if (!a->embedding_sync) return true;
    const struct job *j = &a->problem->job;
    const struct shape *s = &a->problem->model.shape;
    struct joint there = judged_stage_link(a, first, last), back = judged_stage_link(a, last, first);
    if (!there.joined || !back.joined) return false;
    long double bytes = j->gradient_bytes_per_value * (long double)s->vocabulary * s->hidden / j->layout.tensor;
    int64_t ranks = j->layout.fused_embedding_sync ? 2 * a->ranks : 2;
    long double x = judged_all_reduce_s(there, bytes, ranks), y = judged_all_reduce_s(back, bytes, ranks);
    *ns = judged_nanoseconds(x > y ? x : y);
    return true;
}
