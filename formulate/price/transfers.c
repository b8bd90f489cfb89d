// Transfers between stages. Messages are divided into classes, each priced for every ordered pair
// of node groups and every compression option. docs/FORMULAS.md section 6.

#include "formulate/price/pricing.h"

// Classes differ in what is sent and in what compression could make of it.
static int find_class(const struct message *messages, int count, const struct message *m)
{
    for (int i = 0; i < count; i++)
        if (messages[i].bytes == m->bytes && messages[i].rows == m->rows &&
            messages[i].columns == m->columns && messages[i].returns == m->returns &&
            messages[i].scattered == m->scattered)
            return i;
    return -1;
}

real form_bytes(const struct compression_form *form, real values, real value_bytes)
{
    real amount = form->amount;
    return form->method == COMPRESS_TOP_K ? values * amount / 1000 * (value_bytes + 4)
                                          : values * (amount / 8 + 4 / 256.0L);
}

// Bytes of the message in this form; 0 if it would not be smaller and is therefore not compressed.
static real compressed_bytes(const struct pricing *x, const struct message *m,
                             const struct compression_form *form)
{
    bool factors = form->method == COMPRESS_LOW_RANK;
    if (!form->amount || !m->returns || (factors && (m->rows <= 0 || m->columns <= 0))) return 0;
    real bytes = factors ? x->e * form->amount * (m->rows + m->columns)
                         : form_bytes(form, m->bytes / x->e, x->e);
    return reaches(bytes, m->bytes) ? 0 : bytes;
}

// What one device sends. If tensor ranks hold the same message, each may send only its part, of the
// message or of its compressed form.
static real sent_bytes(const struct pricing *x, const struct message *m,
                       const struct compression_form *form)
{
    real compressed = compressed_bytes(x, m, form);
    real bytes = compressed > 0 ? compressed : m->bytes;
    return m->scattered ? bytes / x->t1 : bytes;
}

real low_rank_traffic_s(const struct pricing *x, int group, real bytes)
{
    real rate = x->rates[group]->low_rank_bytes_per_s.value;
    return rate > 0 ? bytes / rate : 0;
}

struct form_rates form_rates(const struct gpu_costs *gpu, enum compression_method method)
{
    return method == COMPRESS_TOP_K ? (struct form_rates){gpu->top_k_values_per_s.value,
                                                          gpu->top_k_back_values_per_s.value}
                                    : (struct form_rates){gpu->quantise_values_per_s.value,
                                                          gpu->quantise_back_values_per_s.value};
}

// Rates of decompression: its own, or those of compression.
struct back_rates low_rank_back(const struct precision_costs *r)
{
    bool own = r->low_rank_back_flop_per_s.value > 0;
    return own ? (struct back_rates){r->low_rank_back_flop_per_s.value,
                                     r->low_rank_back_bytes_per_s.value}
               : (struct back_rates){r->low_rank_flop_per_s.value, r->low_rank_bytes_per_s.value};
}

// Compress and orthogonalise on the sender, decompress on the receiver.
static real low_rank_s(const struct pricing *x, const struct message *m, real rank, int sender,
                       int receiver)
{
    real sends_rate = x->rates[sender]->low_rank_flop_per_s.value;
    struct back_rates back = low_rank_back(x->rates[receiver]);
    real bytes = x->e * (m->rows * m->columns + rank * (m->rows + m->columns));
    return low_rank_traffic_s(x, sender, bytes) +
           (back.bytes_per_s > 0 ? bytes / back.bytes_per_s : 0) +
           (4 * m->rows * m->columns * rank + 2 * m->rows * rank * rank) / sends_rate +
           2 * m->rows * m->columns * rank / back.flop_per_s;
}

static real compression_s(const struct pricing *x, const struct message *m,
                          const struct compression_form *form, int sender, int receiver)
{
    const struct gpu_costs *sends = x->gpus[sender], *receives = x->gpus[receiver];
    real values = m->bytes / x->e, overheads = (real)sends->compression_overhead_s.value +
                                               (real)receives->compression_overhead_s.value;
    if (form->method == COMPRESS_LOW_RANK)
        return low_rank_s(x, m, form->amount, sender, receiver) + overheads;
    return values / form_rates(sends, form->method).there +
           values / form_rates(receives, form->method).back + overheads;
}

// The parts of one transfer of `bytes`; `extra_s` is work that delays only this message.
static enum status price_parts(const struct pricing *x, int64_t *parts,
                               const struct link_price *link, real bytes, real extra_s,
                               struct error *err)
{
    static const double beside[PART_COUNT] = {[PART_DELAY] = 1};
    const struct job *job = &x->problem->job;
    const double *share = job->overlapped_messages
                              ? beside
                              : costs_transfer_share(&x->problem->costs, job->layout.schedule);
    real size_s = link->table ? table_price_s(link->table, bytes) : bytes / link->bytes_per_s;
    size_s += x->problem->costs.transfer_launch_s.value; // an empty message is sent, too
    for (int part = 0; part < PART_COUNT; part++) {
        real seconds = share[part] * size_s + (part == PART_DELAY ? link->latency_s + extra_s : 0);
        TRY(round_time(&parts[part], seconds, "transfer time", transfer_part_names[part], err));
    }
    return OK;
}

enum status price_message(const struct pricing *x, const struct message *m,
                          const struct message_ends *ends, int slice, int64_t *forward_ns,
                          int64_t **backward_ns, size_t at, struct error *err)
{
    const struct priced *priced = x->priced;
    real share = slice_of(x, slice).share;
    if (!ends->there.joined) {
        for (int part = 0; part < PART_COUNT; part++) {
            forward_ns[at + (size_t)part] = PRICE_NONE;
            for (int option = 0; option < priced->boundary_option_count; option++)
                backward_ns[option][at + (size_t)part] = PRICE_NONE;
        }
        return OK;
    }
    static const struct compression_form none = {COMPRESS_LOW_RANK, 0};
    TRY(price_parts(x, &forward_ns[at], &ends->there, share * sent_bytes(x, m, &none), 0, err));
    for (int option = 0; option < priced->boundary_option_count && m->returns; option++) {
        const struct compression_form *form = &priced->boundary_options[option].form;
        real work_s =
            compressed_bytes(x, m, form) > 0 ? compression_s(x, m, form, ends->to, ends->from) : 0;
        TRY(price_parts(x, &backward_ns[option][at], &ends->back, share * sent_bytes(x, m, form),
                        work_s, err));
    }
    return OK;
}

// One slice of the message between the group of the earlier stage and that of the later stage.
static enum status price_slice(const struct pricing *x, struct priced_cut *cut,
                               const struct message *m, int from, int to, int slice,
                               struct error *err)
{
    int at = ((slice * x->priced->group_count + from) * x->priced->group_count + to) * PART_COUNT;
    struct message_ends ends = ends_of_stages(x, from, to);
    return price_message(x, m, &ends, slice, cut->forward_ns, cut->backward_ns, (size_t)at, err);
}

// Allocates its prices.
static enum status open_class(const struct pricing *x, struct priced_cut *cut,
                              const struct message *m, struct error *err)
{
    const struct priced *priced = x->priced;
    size_t pairs = (size_t)(priced->slice_count * priced->group_count * priced->group_count);
    TRY(round_bytes(&cut->message_bytes, m->bytes, "message", "a boundary", err));
    cut->feedback_bytes = TAKE(x->arena, priced->boundary_option_count, int64_t);
    cut->forward_ns = TAKE(x->arena, pairs * PART_COUNT, int64_t);
    cut->backward_ns = TAKE(x->arena, priced->boundary_option_count, int64_t *);
    for (int option = 0; option < priced->boundary_option_count; option++) {
        cut->backward_ns[option] = TAKE(x->arena, pairs * PART_COUNT, int64_t);
        const struct compression_option *o = &priced->boundary_options[option];
        if (!o->forgets && compressed_bytes(x, m, &o->form) > 0)
            cut->feedback_bytes[option] = cut->message_bytes;
    }
    return OK;
}

enum status price_transfers_again(struct pricing *x, struct error *err)
{
    const struct priced *priced = x->priced;
    for (int class = 0; class < priced->cut_count; class ++)
        for (int from = 0; from < priced->group_count; from++)
            for (int to = 0; to < priced->group_count; to++)
                for (int slice = 0; slice < priced->slice_count; slice++)
                    TRY(price_slice(x, &priced->cuts[class], &x->messages[class], from, to, slice,
                                    err));
    return OK;
}

void find_message(const struct pricing *x, int run, const struct layer_bytes *bytes)
{
    struct priced *priced = x->priced;
    const struct layer_run *layers = &x->problem->model.runs[run];
    struct message m = {bytes->message, bytes->matrix_rows, bytes->matrix_columns,
                        run_has_gradient(x, layers), false};
    if (!x->messages) return; // a head that nothing is sent from
    m.scattered = x->problem->job.scattered_messages && layers->kind != LAYER_MEASURED &&
                  !x->problem->job.layout.sequence_parallel;
    int class = find_class(x->messages, priced->cut_count, &m);
    if (class < 0) x->messages[class = priced->cut_count++] = m;
    priced->runs[run].cut = class;
}

enum status price_transfers(struct pricing *x, struct error *err)
{
    struct priced *priced = x->priced;
    priced->cuts = TAKE(x->arena, priced->cut_count, struct priced_cut);
    for (int class = 0; class < priced->cut_count; class ++)
        TRY(open_class(x, &priced->cuts[class], &x->messages[class], err));
    return price_transfers_again(x, err);
}
