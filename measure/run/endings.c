// What follows the passes of a stage: its gradient sync, packed where the plan chose so, and its
// optimizer step; and what it sends over its boundary. docs/FORMULAS.md sections 4, 6 and 7.
#include "data/base/grow.h"
#include "measure/run/running.h"

// Packed bytes of so many values, as docs/FORMULAS.md section 6 counts them; 0: not smaller.
static int64_t packed_bytes(struct compression_form form, int64_t values, int value_bytes)
{
    double each = form.method == COMPRESS_TOP_K ? form.amount / 1000.0 * (value_bytes + 4)
                                                : form.amount / 8.0 + 4.0 / QUANTISE_RUN;
    double bytes = (double)values * each;
    return bytes < (double)values * value_bytes ? (int64_t)(bytes + 0.5) : 0;
}

// The kernel that packs, or unpacks, `values`, of which `kept` are the largest.
static int form_cell(struct catalogue *c, struct compression_form form, int64_t values,
                     int64_t kept, bool unpacks)
{
    bool top = form.method == COMPRESS_TOP_K;
    double value_bytes = precision_bytes(c->chooser.request->precision),
           wire = top ? (double)kept * (value_bytes + 4)
                      : (double)values * (form.amount / 8.0 + 4.0 / QUANTISE_RUN);
    enum work work = top ? (unpacks ? WORK_TOP_K_DECOMPRESS : WORK_TOP_K_COMPRESS)
                         : (unpacks ? WORK_DEQUANTISE : WORK_QUANTISE);
    return run_cell(c, work, top ? SAMPLE_TOP_K : SAMPLE_QUANTISE,
                    unpacks ? "decompress" : "compress", SIZE(values, top ? kept : form.amount), 0,
                    value_bytes * (double)values + wire);
}

static int low_rank_cell(struct catalogue *c, int64_t rows, int64_t columns, int64_t rank,
                         bool unpacks)
{
    double value_bytes = precision_bytes(c->chooser.request->precision),
           product = (double)rows * (double)columns * (double)rank,
           bytes = value_bytes *
                   ((double)rows * (double)columns + (double)(rows + columns) * (double)rank);
    return run_cell(c, unpacks ? WORK_DECOMPRESS : WORK_COMPRESS, SAMPLE_LOW_RANK,
                    unpacks ? "decompress" : "compress", SIZE(rows, columns, rank),
                    unpacks ? 2 * product
                            : 4 * product + 2.0 * (double)rows * (double)rank * (double)rank,
                    bytes);
}

// ---- the sync

// What layers send, and the kernels before and after it.
struct sent {
    struct running *r;
    struct catalogue *c;
    struct compression_option option;
    struct actions pack, unpack;
    int64_t gradient, weight, gathered; // bytes; gathered: packed gradients of every rank
    int64_t expert_gradient, expert_weight;
    int64_t feedback;
};

static void factorise(struct sent *s, const struct layer_run *layers, int64_t *gradient)
{
    int64_t matrices[BLOCK_MATRICES_MAX][2], rank = s->option.form.amount;
    int bytes = s->r->problem->job.gradient_bytes_per_value;
    for (int i = 0, count = run_matrices(s->r, layers, matrices); i < count; i++) {
        int64_t rows = matrices[i][0], columns = matrices[i][1], sent = rank * (rows + columns);
        if (sent >= rows * columns) continue;
        run_add_cell(s->r, &s->pack, low_rank_cell(s->c, rows, columns, rank, false));
        run_add_cell(s->r, &s->unpack, low_rank_cell(s->c, rows, columns, rank, true));
        *gradient -= bytes * (rows * columns - sent);
        s->feedback += bytes * rows * columns;
    }
}

// The largest values of different ranks are at different places, so all of them are gathered. Of
// few bits each rank unpacks, adds and packs again what it owns.
static void pack(struct sent *s, int64_t *gradient)
{
    struct compression_form form = s->option.form;
    int bytes = s->r->problem->job.gradient_bytes_per_value;
    int64_t values = *gradient / bytes, ranks = s->r->replicas,
            packed = packed_bytes(form, values, bytes), kept = values * form.amount / 1000;
    bool top = form.method == COMPRESS_TOP_K, whole = s->c->zero == 0;
    if (!packed || (top && whole && packed * ranks / 2 >= *gradient)) return;
    s->feedback += *gradient;
    run_add_cell(s->r, &s->pack, form_cell(s->c, form, values, kept, false));
    if (top) {
        int64_t of_all = smaller(values, ranks * kept);
        run_add_cell(s->r, &s->unpack,
                     form_cell(s->c, form, whole ? values : values / ranks,
                               whole ? of_all : of_all / ranks, true));
    } else {
        run_add_cell(s->r, &s->unpack, form_cell(s->c, form, values, kept, true));
        if (whole) {
            run_add_cell(s->r, &s->unpack, form_cell(s->c, form, values / ranks, kept, false));
            run_add_cell(s->r, &s->unpack, form_cell(s->c, form, values, kept, true));
        }
    }
    *gradient = packed;
    if (!top || !whole) return;
    s->gathered += packed * ranks;
    *gradient = 0;
}

// With a fused sync of embeddings the shared matrix is synchronised there.
static int64_t shared_values(const struct running *r, const struct layer_run *layers)
{
    const struct layout *l = &r->plan->layout;
    const struct shape *s = &r->problem->model.shape;
    bool shares = layers->kind != LAYER_BLOCK && s->tied_embeddings && l->pipeline > 1;
    return shares && l->fused_embedding_sync ? run_vocabulary(r) * s->hidden : 0;
}

static void add_sent(struct sent *s, const struct layer_run *layers)
{
    struct running *r = s->r;
    const struct job *job = &r->problem->job;
    int64_t values = run_values(r, layers),
            gradient = job->gradient_bytes_per_value * (values - shared_values(r, layers));
    if (s->option.form.amount && s->c->zero < 2 && r->replicas > 1) {
        if (s->option.form.method != COMPRESS_LOW_RANK) pack(s, &gradient);
        else if (layers->kind == LAYER_BLOCK || layers->kind == LAYER_MOE)
            factorise(s, layers, &gradient);
    }
    int64_t experts = run_expert_values(r, layers);
    s->expert_gradient += job->gradient_bytes_per_value * experts;
    s->expert_weight += precision_bytes(job->precision) * experts;
    s->gradient += gradient;
    s->weight += precision_bytes(job->precision) * values;
}

static void put_ring(struct sent *s, struct actions *to, enum ring_of of, enum ring_rounds rounds,
                     int64_t bytes)
{
    run_add_ring(s->r, to, (struct action){.of = of, .rounds = rounds, .bytes = bytes});
}

static void put_sync(struct sent *s, struct actions *to, bool in_sync)
{
    static const enum ring_rounds by_zero[] = {RING_SUM, RING_SCATTER};
    struct running *r = s->r;
    int zero = s->c->zero, first = to->count;
    for (int i = 0; i < s->pack.count; i++) run_add_cell(r, to, s->pack.items[i].cell);
    if (zero < 2) put_ring(s, to, RING_OF_DATA, by_zero[zero], s->gradient);
    put_ring(s, to, RING_OF_DATA, RING_GATHER, s->gathered);
    for (int i = 0; i < s->unpack.count; i++) run_add_cell(r, to, s->unpack.items[i].cell);
    if (zero < 2) put_ring(s, to, RING_OF_COPIES, by_zero[zero], s->expert_gradient);
    if (zero == 1 || zero == 2) {
        put_ring(s, to, RING_OF_DATA, RING_GATHER, s->weight);
        put_ring(s, to, RING_OF_COPIES, RING_GATHER, s->expert_weight);
    }
    for (int i = first; i < to->count; i++) to->items[i].in_sync = in_sync;
}

static struct sent sent_of(struct running *r, struct catalogue *c, int stage)
{
    const struct plan *p = r->plan;
    return (struct sent){
        .r = r, .c = c, .option = p->gradient_options[p->stages[stage].gradient_option]};
}

void run_add_layer_sync(struct running *r, struct catalogue *c, int stage,
                        const struct layer_run *layers, struct actions *to)
{
    struct sent s = sent_of(r, c, stage);
    add_sent(&s, layers);
    put_sync(&s, to, true);
}

// ---- the step, and what a rank holds of a stage throughout

// What a rank has of values that as many have: its share of them, if those shard it.
static int64_t share_of(const struct running *r, int64_t values, enum ring_of of, bool sharded)
{
    int ranks = run_ring_size(r, of);
    return sharded ? (values + ranks - 1) / ranks : values;
}

static int64_t shares_of(const struct running *r, int64_t values, int64_t experts, bool sharded)
{
    return share_of(r, values, RING_OF_DATA, sharded) +
           share_of(r, experts, RING_OF_COPIES, sharded);
}

static void hold_states(struct running *r, const struct catalogue *c, int stage, int64_t values,
                        int64_t experts, int64_t feedback)
{
    const struct job *job = &r->problem->job;
    const struct layout *l = &r->plan->layout;
    r->stages[stage].state_bytes =
        precision_bytes(job->precision) * shares_of(r, values, experts, l->zero >= 3) +
        job->gradient_bytes_per_value * shares_of(r, values, experts, c->zero >= 2) +
        (job->adam ? job_state_bytes(job) : 0) * shares_of(r, values, experts, l->zero >= 1) +
        feedback;
}

void run_add_ending(struct running *r, struct catalogue *c, int stage)
{
    const struct plan *p = r->plan;
    const struct plan_stage *x = &p->stages[stage];
    const struct model *m = &r->problem->model;
    struct stage_work *work = &r->stages[stage];
    struct sent all = sent_of(r, c, stage);
    int64_t values = 0, experts = 0, own;
    for (int i = 0; i < x->layer_count; i++) {
        const struct layer_run *run = &m->runs[model_run_of(m, x->first_layer + i)];
        add_sent(&all, run);
        values += run_values(r, run);
        experts += run_expert_values(r, run);
    }
    if (p->layout.gradient_sync != SYNC_OVERLAPPED) put_sync(&all, &work->sync, false);
    if (r->schedule.request.embedding_sync && !stage) {
        GROW(r->arena, work->embedding_sync.items, work->embedding_sync.count,
             work->embedding_sync.capacity, 1);
        work->embedding_sync.items[work->embedding_sync.count++] =
            (struct action){.cell = -1,
                            .rounds = RING_SUM,
                            .bytes = run_vocabulary(r) * m->shape.hidden *
                                     r->problem->job.gradient_bytes_per_value};
    }
    own = shares_of(r, values, experts, p->layout.zero > 0);
    work->optimizer =
        !p->graph.optimizer || !own
            ? -1
            : run_cell(c, WORK_OPTIMIZER, SAMPLE_OPTIMIZER, "adam", SIZE(own), 0, 24 * (double)own);
    hold_states(r, c, stage, values, experts, all.option.forgets ? 0 : all.feedback);
}

// ---- messages

static void find_drains(struct running *r, int stage)
{
    const struct schedule *s = &r->schedule;
    int stages = s->request.stage_count;
    struct message_work *m = &r->stages[stage].message;
    m->drains = TAKE(r->arena, s->request.micro_batches, bool);
    for (int i = 0; i < s->operation_count; i++) {
        const struct operation *o = &s->operations[i];
        int kind = symbol_base_kind(o->symbol / stages);
        if (o->symbol % stages == stage && kind >= SYMBOL_SEND_EPILOGUE &&
            kind < SYMBOL_SEND_EPILOGUE + PART_COUNT)
            m->drains[o->micro_batch] = true;
    }
}

static void pack_message(struct running *r, struct catalogue *c, struct message_work *m,
                         int64_t rows, int64_t columns, struct compression_form form)
{
    int value_bytes = precision_bytes(r->problem->job.precision);
    bool factors = form.method == COMPRESS_LOW_RANK;
    int64_t values = rows * columns, kept = values * form.amount / 1000,
            bytes = factors ? (int64_t)value_bytes * form.amount * (rows + columns)
                            : packed_bytes(form, values, value_bytes);
    if (!bytes || bytes >= value_bytes * values) return;
    m->packed_bytes = bytes;
    m->pack = factors ? low_rank_cell(c, rows, columns, form.amount, false)
                      : form_cell(c, form, values, kept, false);
    m->unpack = factors ? low_rank_cell(c, rows, columns, form.amount, true)
                        : form_cell(c, form, values, kept, true);
}

void run_add_message(struct running *r, struct catalogue *c, int stage)
{
    const struct plan *p = r->plan;
    const struct plan_stage *x = &p->stages[stage];
    const struct layout *l = &p->layout;
    const struct job *job = &r->problem->job;
    const struct model *model = &r->problem->model;
    struct message_work *m = &r->stages[stage].message;
    if (stage + 1 == p->stage_count) return;
    const struct layer_run *last =
        &model->runs[model_run_of(model, x->first_layer + x->layer_count - 1)];
    bool rows = l->sequence_parallel; // of a rank's own tokens
    int64_t width = run_width_out(model, last),
            parts = rows || job->scattered_messages ? l->tensor : 1,
            tokens = l->micro_batch * run_tokens_out(last, job->sequence) / l->context;
    for (int i = 0; i < l->slice_count; i++)
        m->bytes[i] = l->micro_batch *
                      (l->slice_count > 1 ? l->slices[i] : run_tokens_out(last, job->sequence)) *
                      width * precision_bytes(job->precision) / (parts * l->context);
    const struct compression_option *o = &p->boundary_options[p->stages[stage + 1].boundary_option];
    m->drain_only = o->epilogue_only;
    if (!o->form.amount) return;
    find_drains(r, stage);
    pack_message(r, c, m, rows ? tokens / parts : tokens, width, o->form);
    if (!rows) m->packed_bytes /= parts;
    if (m->packed_bytes && !o->forgets) r->stages[stage + 1].feedback_bytes = m->bytes[0];
}
