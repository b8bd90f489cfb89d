// A mixture's layer, beyond attention and shared experts: its router, rows that go to their experts
// on other ranks and back, the experts' products. docs/FORMULAS.md sections 3, 5 and 22.
#include <string.h>

#include "measure/run/running.h"

static enum status refuse_plan(const struct running *r, const char *what, struct error *err)
{
    return refuse(err,
                  "%s: %s: not carried out with own kernels, which send rows to experts by an "
                  "all-to-all, before their products",
                  r->plan->document.path, what);
}

enum status run_check_experts(const struct running *r, struct error *err)
{
    const struct job *job = &r->problem->job;
    const struct model *m = &r->problem->model;
    for (int i = 0; i < m->run_count; i++) {
        const struct expert_shape *e = &m->runs[i].experts;
        if (m->runs[i].kind != LAYER_MOE) continue;
        if (!strcmp(r->backend->name, "cuda")) return refuse_plan(r, "a mixture on cuda", err);
        if (e->latent) return refuse_plan(r, "experts of latents", err);
        if (r->plan->placement) return refuse_plan(r, "placement: of a mixture's replicas", err);
        if (e->experts % run_expert_degree(r) || e->ffn % run_expert_parts(r) ||
            e->shared_ffn % r->tensor_count)
            return refuse_plan(r, "layout: degrees that do not divide experts and their widths",
                               err);
        if (run_expert_degree(r) == 1) continue;
        if (job->dispatcher != DISPATCH_ALL_TO_ALL)
            return refuse_plan(r, "job.dispatcher other than all_to_all", err);
        if (job->overlapped_dispatch) return refuse_plan(r, "job.overlapped_dispatch", err);
    }
    return OK;
}

// ---- how many rows

struct rows {
    int64_t tokens, sent, taken, each; // that this rank routes; its rows; those that its experts
                                       // take, all and each
    int64_t experts, width, wide;      // experts here; width of a row, of an expert's part
    int gates;                         // matrices before the activation
};

// Every rank takes what the fullest one does.
static struct rows rows_of(const struct running *r, const struct layer_run *layers, int64_t tokens)
{
    const struct expert_shape *e = &layers->experts;
    double fullest = e->imbalance > 1 ? e->imbalance : 1;
    struct rows x = {.tokens = larger(1, tokens / r->tensor_count),
                     .experts = e->experts / run_expert_degree(r),
                     .width = r->problem->model.shape.hidden,
                     .wide = e->ffn / run_expert_parts(r),
                     .gates = r->problem->model.shape.gated_ffn ? 2 : 1};
    x.sent = (int64_t)((double)(tokens * e->top_k) * fullest / r->tensor_count + 0.5);
    x.each = larger(1, (x.sent * run_expert_parts(r) + x.experts / 2) / x.experts);
    x.taken = x.each * x.experts;
    return x;
}

int64_t run_experts_keep(const struct running *r, const struct layer_run *layers, int64_t tokens,
                         enum pass backward, int64_t *working)
{
    const struct rows x = rows_of(r, layers, tokens);
    const struct expert_shape *e = &layers->experts;
    int64_t bytes = precision_bytes(r->problem->job.precision),
            wide = (x.gates + 1) * x.wide, // before and after the activation
        kept = bytes * (x.taken * (2 * x.width + wide) + x.tokens * e->experts + 2 * x.sent);
    bool again = backward == PASS_BACKWARD_FULL;
    *working = bytes * x.taken * (2 * x.width + wide) + (again ? kept : 0);
    return again ? 0 : kept;
}

// ---- kernels

struct mixture {
    struct running *r;
    struct catalogue *c;
    struct actions *to;
    struct rows x;
    int64_t experts; // of the layer
    int copies;      // rows are also sorted by expert, after they came
};

static void put_product(struct mixture *m, enum work work, const char *operation, int64_t rows,
                        int64_t columns, int64_t depth, int64_t count)
{
    double bytes = precision_bytes(m->r->problem->job.precision), n = (double)rows,
           k = (double)columns, d = (double)depth, times = (double)larger(1, count);
    enum sample_kind kind = count ? SAMPLE_GROUPED : SAMPLE_GEMM;
    run_add_cell(m->r, m->to,
                 run_cell(m->c, work, kind, operation, SIZE(rows, columns, depth, count),
                          2 * times * n * k * d, times * bytes * (n * d + k * d + n * k)));
}

static void put_activation(struct mixture *m, bool back)
{
    const struct rows *x = &m->x;
    int64_t bytes = (back ? 2 : 1) * (x->gates + 1) * x->taken * x->wide *
                    precision_bytes(m->r->problem->job.precision);
    run_add_cell(m->r, m->to,
                 run_cell(m->c, back ? WORK_ACTIVATION_BACKWARD : WORK_ACTIVATION, SAMPLE_MEMORY,
                          back ? "activation, backward" : "activation",
                          SIZE(bytes, x->taken, x->wide, x->gates > 1), 0, (double)bytes));
}

// Rows that are put in another order, each read and written.
static void put_copies(struct mixture *m, int64_t rows, int times)
{
    int64_t bytes = 2 * times * rows * m->x.width * precision_bytes(m->r->problem->job.precision) /
                    8 * 8;
    run_add_cell(m->r, m->to,
                 run_cell(m->c, WORK_COPY, SAMPLE_MEMORY, "copy", SIZE(bytes), 0, (double)bytes));
}

static void put_ring(struct mixture *m, enum ring_of of, enum ring_rounds rounds, int64_t rows)
{
    run_add_ring(m->r, m->to,
                 (struct action){.of = of,
                                 .rounds = rounds,
                                 .bytes = rows * m->x.width *
                                          precision_bytes(m->r->problem->job.precision)});
}

// To the experts, whose parts all get the rows of one another; forward rows, backward gradients.
static void put_there(struct mixture *m, int times)
{
    put_copies(m, m->x.sent, times);
    put_ring(m, RING_OF_EXPERTS, RING_EXCHANGE, m->x.sent);
    put_ring(m, RING_OF_PARTS, RING_GATHER, m->x.taken);
    if (m->copies > 1) put_copies(m, m->x.taken, times);
}

static void put_back(struct mixture *m, int times)
{
    if (m->copies > 1) put_copies(m, m->x.taken, times);
    put_ring(m, RING_OF_PARTS, RING_SCATTER, m->x.taken);
    put_ring(m, RING_OF_EXPERTS, RING_EXCHANGE, m->x.sent);
    put_copies(m, m->x.sent, times);
}

static void put_router(struct mixture *m, enum work work, const char *operation)
{
    put_product(m, work, operation, m->x.tokens, m->experts, m->x.width, 0);
}

static void put_forward(struct mixture *m)
{
    const struct rows *x = &m->x;
    put_router(m, WORK_GEMM, "router");
    put_there(m, 1);
    put_product(m, WORK_GROUPED, x->gates > 1 ? "experts' gate and up" : "experts' up", x->each,
                x->gates * x->wide, x->width, x->experts);
    put_activation(m, false);
    put_product(m, WORK_GROUPED, "experts' down", x->each, x->width, x->wide, x->experts);
    put_back(m, 1);
}

static void put_weights(struct mixture *m)
{
    const struct rows *x = &m->x;
    put_product(m, WORK_GROUPED_WEIGHT, "experts' down, weight gradient", x->each, x->width,
                x->wide, x->experts);
    put_product(m, WORK_GROUPED_WEIGHT,
                x->gates > 1 ? "experts' gate and up, weight gradient"
                             : "experts' up, weight gradient",
                x->each, x->gates * x->wide, x->width, x->experts);
    put_router(m, WORK_GEMM_WEIGHT, "router, weight gradient");
}

static void put_inputs(struct mixture *m)
{
    const struct rows *x = &m->x;
    put_there(m, 2);
    put_product(m, WORK_GROUPED_DATA, "experts' down, data gradient", x->each, x->width, x->wide,
                x->experts);
    put_activation(m, true);
    put_product(m, WORK_GROUPED_DATA,
                x->gates > 1 ? "experts' gate and up, data gradient" : "experts' up, data gradient",
                x->each, x->gates * x->wide, x->width, x->experts);
    put_back(m, 2);
    put_router(m, WORK_GEMM_DATA, "router, data gradient");
}

void run_add_experts(struct running *r, struct catalogue *c, const struct layer_run *layers,
                     int64_t tokens, enum pass pass, enum gradients gradients, struct actions *to)
{
    struct mixture m = {.r = r,
                        .c = c,
                        .to = to,
                        .x = rows_of(r, layers, tokens),
                        .experts = layers->experts.experts};
    m.copies = run_expert_degree(r) > 1 && m.x.experts > 1 ? 2 : 1;
    bool back = pass != PASS_FORWARD;
    if (!back || (pass == PASS_BACKWARD_FULL && gradients != GRADIENTS_OF_WEIGHTS)) put_forward(&m);
    if (back && gradients != GRADIENTS_OF_WEIGHTS) put_inputs(&m);
    if (back && gradients != GRADIENTS_OF_INPUT) put_weights(&m);
}
