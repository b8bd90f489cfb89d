// Messages between stages as the judge prices them (docs/FORMULAS.md, section 6).
#include "data/base/least.h"
#include "solve/judge/price/verify_price.h"

#include <string.h>

static long double low_rank_rate(const struct price_audit *a, int group)
{
    const struct precision_costs *rates = rates_of(a, group);
    assert(rates);
    return rates->low_rank_flop_per_s.value;
}

struct message {
    long double bytes, rows, columns;
};

static struct message message_behind(const struct price_audit *of_all, int run)
{
    struct own_audit own;
    const struct price_audit *a = audit_of_run(of_all, run, &own);
    const struct layer_run *r = run_of(a, run);
    if (r->kind == LAYER_MEASURED)
        return (struct message){stated_bytes(a, r)->boundary_bytes, stated_bytes(a, r)->matrix_rows,
                                stated_bytes(a, r)->matrix_columns};
    long double rows = a->carried * a->tokens * a->share, columns = a->problem->model.shape.hidden;
    if (r->kind == LAYER_PROJECTOR) columns = r->projector.outputs;
    return (struct message){a->value_bytes * rows * columns, rows, columns};
}

long double judged_packed_bytes(struct compression_form form, long double values,
                                long double value_bytes)
{
    // A value and its position of four bytes; or the bits of 256 values and their scale of four
    // bytes.
    if (form.method == COMPRESS_TOP_K) return form.amount * values * (4 + value_bytes) / 1000;
    return values / 256 * (32 * form.amount + 4);
}

long double judged_packing_s(const struct gpu_costs *gpu, struct compression_form form,
                             long double packed, long double unpacked)
{
    bool largest = form.method == COMPRESS_TOP_K;
    const struct estimate *there = largest ? &gpu->top_k_values_per_s : &gpu->quantise_values_per_s,
                          *back = largest ? &gpu->top_k_back_values_per_s
                                          : &gpu->quantise_back_values_per_s;
    return (packed > 0 ? packed / there->value : 0) + (unpacked > 0 ? unpacked / back->value : 0);
}

// Bytes of the message in this form; false where compression would not make it smaller or there is
// nothing to compress.
static bool compressed_bytes(const struct price_audit *a, struct message m,
                             struct compression_form form, long double *bytes)
{
    *bytes = form.method == COMPRESS_LOW_RANK
                 ? a->value_bytes * form.amount * (m.rows + m.columns)
                 : judged_packed_bytes(form, m.bytes / a->value_bytes, a->value_bytes);
    bool has_matrix = m.rows > 0 && m.columns > 0;
    return form.amount > 0 && (has_matrix || form.method != COMPRESS_LOW_RANK) &&
           !judged_reaches(a, *bytes, m.bytes);
}

// Seconds per byte of the matrix or of its factors, in addition to the FLOP.
static long double traffic_share(const struct price_audit *a, int group)
{
    long double rate = rates_of(a, group)->low_rank_bytes_per_s.value;
    return rate > 0 ? 1 / rate : 0;
}

// The receiver's: a rate of its own for the FLOP brings its own for the bytes, or none.
long double judged_unfactor_s(const struct precision_costs *rates, long double flop,
                              long double bytes)
{
    const struct estimate *of_flop = &rates->low_rank_flop_per_s,
                          *of_bytes = &rates->low_rank_bytes_per_s;
    if (rates->low_rank_back_flop_per_s.value > 0) {
        of_flop = &rates->low_rank_back_flop_per_s;
        of_bytes = &rates->low_rank_back_bytes_per_s;
    }
    return flop / of_flop->value + (of_bytes->value > 0 ? bytes / of_bytes->value : 0);
}

// Compressing, orthogonalising, decompressing.
static long double compression_s(const struct price_audit *a, struct message m, struct sending s)
{
    long double r = s.form.amount, values = m.rows * m.columns,
                overheads = (long double)gpu_of(a, s.sender)->compression_overhead_s.value +
                            (long double)gpu_of(a, s.receiver)->compression_overhead_s.value;
    if (s.form.method != COMPRESS_LOW_RANK) {
        values = m.bytes / a->value_bytes;
        return judged_packing_s(gpu_of(a, s.sender), s.form, values, 0) +
               judged_packing_s(gpu_of(a, s.receiver), s.form, 0, values) + overheads;
    }
    long double bytes = a->value_bytes * (values + r * (m.rows + m.columns));
    return overheads + (4 * values * r + 2 * m.rows * r * r) / low_rank_rate(a, s.sender) +
           bytes * traffic_share(a, s.sender) +
           judged_unfactor_s(rates_of(a, s.receiver), 2 * values * r, bytes);
}

// Tensor ranks that have the same values to send; each sends one part of them.
static int sharing_ranks(const struct price_audit *a, struct sending s)
{
    const struct job *j = &a->problem->job;
    bool scattered = j->scattered_messages && !j->layout.sequence_parallel && has_shape(a, s.run);
    return scattered ? (int)a->outer : 1;
}

// As measured between two GPUs of this kind, else by the link's bandwidth.
static struct computed size_s(const struct price_audit *a, struct sending s, struct joint link,
                              long double bytes)
{
    const struct node_group *groups = a->problem->cluster.groups;
    const struct collective_times *table = NULL;
    if (!strcmp(groups[s.sender].gpu, groups[s.receiver].gpu))
        table = judged_table(a, s.sender, link, 2, true);
    struct computed size = {bytes / link.bytes_per_s, 0};
    if (table && bytes > 0) size = judged_table_s(a, table, bytes);
    size.value += a->problem->costs.transfer_launch_s.value;
    return size;
}

bool transfer_price(const struct price_audit *a, struct sending s, int64_t parts[PART_COUNT])
{
    const double *shares = costs_transfer_share(&a->problem->costs, layout_of(a)->schedule);
    struct joint link = judged_stage_link(a, s.sender, s.receiver);
    struct message m = message_behind(a, s.run);
    long double bytes, work = 0;
    if (!link.joined) return false;
    for (int k = 0; k < PART_COUNT; k++) parts[k] = 0;
    if (s.backward && !passes_gradient(a, s.run)) return true;
    if (compressed_bytes(a, m, s.form, &bytes)) work = compression_s(a, m, s);
    else bytes = m.bytes * piece_of(a, s.slice).length / (long double)a->problem->job.sequence;
    if (s.stated_bytes > 0) bytes = s.stated_bytes;
    if (s.copies > 1) bytes *= s.copies;
    struct computed size = size_s(a, s, link, bytes / sharing_ranks(a, s));
    for (int k = 0; k < PART_COUNT; k++) { // the overhead at each end
        // Where ranks compute during their messages, a message is only a delay.
        double share = a->problem->job.overlapped_messages ? k == PART_DELAY : shares[k];
        struct computed part = {share * size.value, share * size.lost};
        if (k == PART_DELAY) part.value += link.latency_s + work;
        parts[k] = judged_nanoseconds(a, part);
    }
    return true;
}

static bool same_width(const struct price_audit *a, const struct price_audit *b)
{
    const struct layout *x = layout_of(a), *y = layout_of(b);
    return x->tensor == y->tensor && x->context == y->context && x->data == y->data;
}

// The whole of every receiver's part travels: where tensor ranks hold the same values, fewer
// senders send theirs again.
bool resharded_price(const struct price_audit *sender, const struct price_audit *receiver,
                     struct sending s, int64_t parts[PART_COUNT])
{
    const struct job *j = &sender->problem->job;
    int64_t taken[PART_COUNT];
    bool split = j->layout.sequence_parallel || (j->scattered_messages && has_shape(sender, s.run));
    struct sending sent = s;
    if (same_width(sender, receiver)) return transfer_price(sender, s, parts);
    if (!split) sent.copies = (long double)layout_of(receiver)->tensor / layout_of(sender)->tensor;
    if (!transfer_price(sender, sent, parts) || !transfer_price(receiver, s, taken)) return false;
    for (int k = 0; k < PART_COUNT; k++)
        if (taken[k] > parts[k]) parts[k] = taken[k];
    return true;
}

int64_t boundary_feedback_of(const struct price_audit *a, int run, struct compression_form form)
{
    long double bytes;
    struct message m = message_behind(a, run);
    return passes_gradient(a, run) && compressed_bytes(a, m, form, &bytes)
               ? judged_whole(a, m.bytes)
               : 0;
}

// ---- the sync of tied embeddings (section 7)

int64_t embedding_link_price(const struct price_audit *a, struct joint link)
{
    const struct layout *l = layout_of(a);
    int64_t ranks = l->fused_embedding_sync ? 2 * a->ranks : 2;
    long double bytes = a->problem->job.gradient_bytes_per_value * a->vocabulary * a->row /
                        l->tensor;
    return judged_nanoseconds(a, (struct computed){judged_sum_s(a, link, bytes, ranks), 0});
}

// Where all ranks of both ends take part, the links between an end's own replicas count too, if no
// node holds them all.
bool embedding_sync_price(const struct price_audit *a, int first, int last, int64_t *ns)
{
    *ns = a->embedding_sync ? a->embedding_ring_ns : 0;
    if (!a->embedding_sync || a->embedding_ring) return true;
    struct joint there = judged_stage_link(a, first, last),
                 back = judged_stage_link(a, last, first);
    if (!there.joined || !back.joined) return false;
    *ns = larger(embedding_link_price(a, there), embedding_link_price(a, back));
    for (int end = 0; end < 2 && layout_of(a)->fused_embedding_sync; end++) {
        int group = end ? last : first;
        struct joint own = judged_stage_link(a, group, group);
        if (!judged_gradient_link(a, group).inside && own.joined)
            *ns = larger(*ns, embedding_link_price(a, own));
    }
    return true;
}
