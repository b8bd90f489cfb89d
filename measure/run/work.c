// Which kernels a pass of a stage consists of, and what the stages send each other.
#include <string.h>

#include "data/base/least.h"
#include "data/kinds/schedules.h"
#include "measure/run/running.h"
#include "measure/sampling/cells_take.h"

struct catalogue {
    struct chooser chooser;
    int layers[LAYER_KINDS][PASS_COUNT][GRADIENTS]; // cell + 1; 0: none yet
};

static enum status refuse(const struct plan *p, const char *what, struct error *err)
{
    return fail(err, BAD_INPUT,
                "%s: %s: not carried out with own kernels, which run embeddings, blocks and heads "
                "on pipeline and data ranks",
                p->document.path, what);
}

static enum status check_layout(const struct running *r, struct error *err)
{
    const struct plan *p = r->plan;
    const struct layout *l = &p->layout;
    if (l->tensor > 1 || l->context > 1 || l->expert > 1)
        return refuse(p, "layout: tensor, context and expert degrees above 1", err);
    if (l->slice_count > 1) return refuse(p, "layout: slices of a sequence", err);
    if (l->local_loss_every) return refuse(p, "layout: local losses", err);
    if (l->zero > 1) return refuse(p, "layout.zero above 1", err);
    if (l->offload_optimizer) return refuse(p, "layout.offload_optimizer", err);
    if (l->fused_embedding_sync) return refuse(p, "layout.fused_embedding_sync", err);
    for (int s = 0; s < p->stage_count; s++) {
        const struct plan_stage *x = &p->stages[s];
        if (x->recompute > RECOMPUTE_FIRST_LAYERS)
            return refuse(p, arena_print(r->arena, "stages[%d].recompute", s), err);
        if (p->gradient_options[x->gradient_option].form.amount ||
            p->gradient_options[x->gradient_option].offloaded_percent ||
            p->boundary_options[x->boundary_option].form.amount)
            return refuse(p, arena_print(r->arena, "stages[%d]: compression or offloading", s),
                          err);
    }
    return OK;
}

static enum status check_model(const struct running *r, struct error *err)
{
    const struct model *m = &r->problem->model;
    const char *what = m->has_shape ? model_peculiarity(m, false) : "layers without a shape";
    for (int i = 0; i < m->run_count && !what; i++)
        if (m->runs[i].kind > LAYER_HEAD || m->runs[i].frozen)
            what = arena_print(r->arena, "run %s", m->runs[i].name);
    return what ? fail(err, BAD_INPUT, "%s: %s: own kernels run plain transformers",
                       m->document.path, what)
                : OK;
}

static int cell_of(struct catalogue *c, const struct problem *p, const struct layout *l,
                   enum layer_kind kind, enum pass pass, enum gradients gradients)
{
    int *at = &c->layers[kind][pass][gradients];
    if (*at) return *at - 1;
    const struct layer_cell what = {.kind = kind, .pass = pass, .gradients = gradients};
    cells_add_pass(&c->chooser, &what, l->micro_batch, p->job.sequence);
    *at = c->chooser.count;
    return *at - 1;
}

// How a layer of a stage goes back, the stage's recomputable layers counted by *recomputable.
static enum pass backward_of(const struct plan_stage *x, const struct layer_run *run,
                             int *recomputable)
{
    int at = *recomputable;
    *recomputable += run->recomputable;
    if (!run->recomputable) return PASS_BACKWARD;
    if (x->recompute == RECOMPUTE_FIRST_LAYERS)
        return at < x->recomputed_layers ? PASS_BACKWARD_FULL : PASS_BACKWARD;
    return x->recompute == RECOMPUTE_FULL ? PASS_BACKWARD_FULL
           : x->recompute == RECOMPUTE_SELECTIVE && run->kind == LAYER_BLOCK
               ? PASS_BACKWARD_SELECTIVE
               : PASS_BACKWARD;
}

static void add_layers(struct running *r, struct catalogue *c, int stage)
{
    const struct plan_stage *x = &r->plan->stages[stage];
    const struct model *m = &r->problem->model;
    bool splits = schedule_splits_backward(r->plan->layout.schedule);
    struct pass_work *passes = r->stages[stage].passes;
    int recomputable = 0;
    for (int k = 0; k <= EVENT_WEIGHT; k++)
        passes[k] = (struct pass_work){TAKE(r->arena, x->layer_count, int), 0};
    for (int i = 0; i < x->layer_count; i++) {
        const struct layer_run *run = &m->runs[model_run_of(m, x->first_layer + i)];
        enum pass back = backward_of(x, run, &recomputable);
        bool input = run->kind != LAYER_EMBEDDING;
        int forward =
                cell_of(c, r->problem, &r->plan->layout, run->kind, PASS_FORWARD, GRADIENTS_BOTH),
            at = x->layer_count - 1 - i;
        passes[EVENT_FORWARD].cells[i] = forward;
        passes[EVENT_BACKWARD].cells[at] = passes[EVENT_WEIGHT].cells[at] = -1;
        if (!splits || !input) // an embedding has no input gradient to hurry for
            passes[EVENT_BACKWARD].cells[at] =
                cell_of(c, r->problem, &r->plan->layout, run->kind, back, GRADIENTS_BOTH);
        else {
            passes[EVENT_BACKWARD].cells[at] =
                cell_of(c, r->problem, &r->plan->layout, run->kind, back, GRADIENTS_OF_INPUT);
            passes[EVENT_WEIGHT].cells[at] = cell_of(c, r->problem, &r->plan->layout, run->kind,
                                                     PASS_BACKWARD, GRADIENTS_OF_WEIGHTS);
        }
    }
    for (int k = 0; k <= EVENT_WEIGHT; k++) passes[k].count = x->layer_count;
}

static void add_ending(struct running *r, struct catalogue *c, int stage)
{
    const struct plan *p = r->plan;
    const struct plan_stage *x = &p->stages[stage];
    const struct job *job = &r->problem->job;
    const struct model *m = &r->problem->model;
    struct stage_work *work = &r->stages[stage];
    const struct layer_run *last = &m->runs[model_run_of(m, x->first_layer + x->layer_count - 1)];
    int64_t values = x->memory.gradient_bytes / job->gradient_bytes_per_value;
    if (p->layout.zero) values = (values + r->replicas - 1) / r->replicas;
    work->gradient_bytes = x->memory.gradient_bytes;
    work->message_bytes = p->layout.micro_batch * run_tokens_out(last, job->sequence) *
                          run_width_out(m, last) * precision_bytes(job->precision);
    work->optimizer = -1;
    if (!p->graph.optimizer || !values) return;
    work->optimizer = c->chooser.count;
    cells_add(&c->chooser, WORK_OPTIMIZER, SAMPLE_OPTIMIZER, "adam", 0, 24 * (double)values,
              SIZE(values));
}

enum status run_make_work(struct running *r, struct arena *arena, struct error *err)
{
    const struct layout *l = &r->plan->layout;
    TRY(check_layout(r, err));
    TRY(check_model(r, err));
    struct cells_request *request = TAKE(arena, 1, struct cells_request);
    *request =
        (struct cells_request){.precision = r->problem->job.precision,
                               .fused = l->fused_attention,
                               .fp32_gradients = r->problem->job.gradient_bytes_per_value == 4};
    struct catalogue c = {.chooser = {.request = request,
                                      .shape = &r->problem->model.shape,
                                      .tensor = 1,
                                      .context = 1,
                                      .arena = arena}};
    r->stages = TAKE(arena, r->plan->stage_count, struct stage_work);
    for (int s = 0; s < r->plan->stage_count; s++) {
        add_layers(r, &c, s);
        add_ending(r, &c, s);
    }
    r->cells = c.chooser.cells;
    r->cell_count = c.chooser.count;
    r->times = TAKE(arena, r->cell_count, struct cell_times);
    for (int i = 0; i < r->cell_count && r->backend->state; i++)
        r->backend->state(r->session, &r->cells[i], &r->cells[i].sample);
    return OK;
}
