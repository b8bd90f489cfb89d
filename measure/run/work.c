// Which kernels and rings a pass of a stage consists of.
#include <string.h>

#include "data/kinds/schedules.h"
#include "measure/run/running.h"

static enum status refuse_plan(const struct plan *p, const char *what, struct error *err)
{
    return refuse(
        err,
        "%s: %s: not carried out with own kernels, which run embeddings, blocks and heads "
        "on pipeline, tensor and data ranks",
        p->document.path, what);
}

// A slice's keys are its own and whole lengths of it before.
static bool slices_are_whole(const struct layout *l)
{
    int before = 0;
    for (int i = 0; i < l->slice_count; before += l->slices[i++])
        if (before % l->slices[i]) return false;
    return true;
}

static enum status check_context(const struct running *r, struct error *err)
{
    const struct plan *p = r->plan;
    const struct layout *l = &p->layout;
    if (l->context == 1) return OK;
    const struct shape *s = &r->problem->model.shape;
    if (r->problem->job.context_kind == CONTEXT_ALL_TO_ALL &&
        (s->heads % (l->tensor * l->context) || s->kv_heads % (l->tensor * l->context)))
        return refuse_plan(p, "layout.context, which with tensor does not divide the heads", err);
    if (l->slice_count > 1) return refuse_plan(p, "layout: slices of context ranks", err);
    if (p->placement) return refuse_plan(p, "placement: of context ranks", err);
    return r->problem->job.sequence % l->context
               ? refuse_plan(p, "layout.context, which does not divide the sequence", err)
               : OK;
}

static enum status check_degrees(const struct running *r, struct error *err)
{
    const struct plan *p = r->plan;
    const struct layout *l = &p->layout;
    const struct shape *s = &r->problem->model.shape;
    const struct job *job = &r->problem->job;
    TRY(run_check_experts(r, err));
    TRY(check_context(r, err));
    if (layout_has_grid(l)) return refuse_plan(p, "layout: a grid of tensor ranks", err);
    if (l->tensor > 1 && (s->kv_heads % l->tensor || s->ffn % l->tensor))
        return refuse_plan(
            p, "layout.tensor, which does not divide KV heads and feed-forward width", err);
    bool whole = !strcmp(r->backend->name, "cuda"); // its norms have all tokens
    if (l->tensor > 1 && l->sequence_parallel && whole)
        return refuse_plan(p, "layout.sequence_parallel on cuda", err);
    if (l->tensor > 1 && job->overlapped_tensor)
        return refuse_plan(p, "job: overlapped_tensor", err);
    if (l->slice_count > 1 && !slices_are_whole(l))
        return refuse_plan(p, "layout.slices, of which one does not divide what is before it", err);
    if (job->whole_gradient_sums) return refuse_plan(p, "job: whole_gradient_sums", err);
    if (job_expert_padding(job) != 1) return refuse_plan(p, "job: expert_padding", err);
    if (job->owner_broadcasts) return refuse_plan(p, "job: owner_broadcasts", err);
    return OK;
}

// Replicas that differ.
static enum status check_placement(const struct running *r, struct error *err)
{
    const struct plan *p = r->plan;
    const struct plan_placement *x = p->placement;
    if (!x) return OK;
    for (int d = 0; d < x->replica_count; d++) {
        if (x->micro_batches && x->micro_batches[d] != p->micro_batches)
            return refuse_plan(p, "placement: replicas with different numbers of micro-batches",
                               err);
        for (int s = 0; s < p->stage_count && x->recompute; s++)
            if (x->recompute[d * p->stage_count + s] != (int)p->stages[s].recompute ||
                (p->stages[s].recompute == RECOMPUTE_FIRST_LAYERS &&
                 x->recomputed_layers[d * p->stage_count + s] != p->stages[s].recomputed_layers))
                return refuse_plan(p, "placement: replicas that recompute differently", err);
    }
    return OK;
}

static enum status check_layout(const struct running *r, struct error *err)
{
    const struct plan *p = r->plan;
    const struct layout *l = &p->layout;
    TRY(check_degrees(r, err));
    TRY(check_placement(r, err));
    if (l->local_loss_every) return refuse_plan(p, "layout: local losses", err);
    if (l->offload_optimizer) return refuse_plan(p, "layout.offload_optimizer", err);
    if (l->zero && layout_data_shard(l) < l->data) return refuse_plan(p, "layout.data_shard", err);
    for (int s = 0; s < p->stage_count; s++) {
        const struct plan_stage *x = &p->stages[s];
        if (x->recompute > RECOMPUTE_FIRST_LAYERS)
            return refuse_plan(p, arena_print(r->arena, "stages[%d].recompute", s), err);
        if (p->gradient_options[x->gradient_option].tier_option)
            return refuse_plan(p, arena_print(r->arena, "stages[%d]: parts in tiers", s), err);
        if (p->boundary_options[x->boundary_option].form.amount && l->slice_count > 1)
            return refuse_plan(p, arena_print(r->arena, "stages[%d]: packed slices", s), err);
    }
    return OK;
}

static enum status check_model(const struct running *r, struct error *err)
{
    const struct model *m = &r->problem->model;
    const char *what = m->has_shape ? model_peculiarity(m, false) : "layers without a shape";
    for (int i = 0; i < m->run_count && !what; i++)
        if ((m->runs[i].kind > LAYER_HEAD && m->runs[i].kind != LAYER_MOE) || m->runs[i].frozen)
            what = arena_print(r->arena, "run %s", m->runs[i].name);
    return what ? refuse(err, "%s: %s: own kernels run plain transformers, and mixtures",
                         m->document.path, what)
                : OK;
}

// ---- the catalogue

int run_cell(struct catalogue *c, enum work work, enum sample_kind kind, const char *operation,
             const int64_t dimensions[4], double flop, double bytes)
{
    for (int i = 0; i < c->chooser.count; i++)
        if (c->chooser.cells[i].work == work &&
            !memcmp(c->chooser.cells[i].sample.dimensions, dimensions, 4 * sizeof *dimensions))
            return i;
    cells_add(&c->chooser, work, kind, operation, flop, bytes, dimensions);
    return c->chooser.count - 1;
}

static int layer_cell(const struct catalogue *c, const struct layer_cell *what,
                      const int64_t dimensions[4])
{
    for (int i = 0; i < c->chooser.count; i++) {
        const struct cell *cell = &c->chooser.cells[i];
        const struct layer_cell *l = cell->layer;
        if (l && l->shape == what->shape && l->kind == what->kind && l->pass == what->pass &&
            l->gradients == what->gradients &&
            !memcmp(cell->sample.dimensions, dimensions, 4 * sizeof *dimensions))
            return i;
    }
    return -1;
}

// Of a slice: its tokens, and those before it. A mixture's is that of its shared experts.
static int pass_cell(struct catalogue *c, const struct running *r, const struct layer_run *layers,
                     enum pass pass, enum gradients gradients, int slice)
{
    const struct layout *l = &r->plan->layout;
    int64_t sequence = r->problem->job.sequence, parts = l->context;
    if (l->slice_count > 1) {
        sequence = 0;
        for (int i = 0; i <= slice; i++) sequence += l->slices[i];
        parts = sequence / l->slices[slice];
    }
    const struct layer_cell what = {.kind = layers->kind == LAYER_MOE ? LAYER_BLOCK : layers->kind,
                                    .pass = pass,
                                    .shape = c->shapes[layers - r->problem->model.runs],
                                    .gradients = gradients,
                                    .parts = l->sequence_parallel ? l->tensor : 1};
    int at = layer_cell(c, &what, SIZE(l->micro_batch, sequence, l->tensor, parts));
    if (at >= 0) return at;
    struct chooser usual = c->chooser;
    c->chooser.context = parts, c->chooser.shape = what.shape;
    cells_add_pass(&c->chooser, &what, l->micro_batch, sequence);
    c->chooser.context = usual.context, c->chooser.shape = usual.shape;
    return c->chooser.count - 1;
}

// A mixture's kernels have its shared experts in place of a feed-forward part; of none, width 1.
static void find_shapes(struct catalogue *c, const struct running *r)
{
    const struct model *m = &r->problem->model;
    c->shapes = TAKE(r->arena, m->run_count, const struct shape *);
    for (int i = 0; i < m->run_count; i++) {
        c->shapes[i] = &m->shape;
        if (m->runs[i].kind != LAYER_MOE) continue;
        int64_t ffn = larger(1, m->runs[i].experts.shared_ffn);
        for (int k = 0; k < i; k++)
            if (m->runs[k].kind == LAYER_MOE && c->shapes[k]->ffn == ffn)
                c->shapes[i] = c->shapes[k];
        if (c->shapes[i] != &m->shape) continue;
        struct shape *own = TAKE_COPY(r->arena, &m->shape, 1);
        own->ffn = ffn;
        c->shapes[i] = own;
    }
}

// ---- passes

// A pass of one stage over one slice, while it is put together.
struct making {
    struct running *r;
    struct catalogue *c;
    int stage, slice;
    int64_t activation_bytes; // of a slice: tokens x hidden
    bool beside, by_stage;
};

static void add_sums(struct making *m, struct actions *to, int times, int64_t bytes)
{
    for (int i = 0; i < times; i++)
        run_add_ring(m->r, to, (struct action){.rounds = RING_SUM, .bytes = bytes});
}

static void add_shards(struct making *m, struct actions *to, const struct layer_run *layers,
                       enum ring_rounds rounds)
{
    const struct job *job = &m->r->problem->job;
    int zero = m->c->zero, value_bytes = rounds == RING_GATHER ? precision_bytes(job->precision)
                                                               : job->gradient_bytes_per_value;
    if (zero < (rounds == RING_GATHER ? 3 : 2)) return;
    if (rounds == RING_SCATTER && job->trainer == TRAINER_DEEPSPEED)
        value_bytes = (int)smaller(value_bytes, precision_bytes(job->precision));
    struct action ring = {.of = RING_OF_DATA,
                          .beside = m->beside,
                          .by_stage = m->by_stage,
                          .rounds = rounds,
                          .bytes = value_bytes * run_values(m->r, layers)};
    run_add_ring(m->r, to, ring);
    ring.of = RING_OF_COPIES, ring.bytes = value_bytes * run_expert_values(m->r, layers);
    run_add_ring(m->r, to, ring);
}

// What tensor ranks send each other in a pass (docs/FORMULAS.md section 3). With sequence
// parallelism a sum's two halves are a scatter and a gather, of which the ring makes it anyway.
static void add_tensor_sums(struct making *m, struct actions *to, const struct layer_run *layers,
                            enum pass pass, enum gradients gradients)
{
    const struct job *job = &m->r->problem->job;
    bool forward = pass == PASS_FORWARD;
    int64_t tokens = m->activation_bytes / m->r->problem->model.shape.hidden /
                     precision_bytes(job->precision);
    if (gradients == GRADIENTS_OF_WEIGHTS) return;
    if (layers->kind == LAYER_BLOCK) {
        if (pass == PASS_BACKWARD_FULL) add_sums(m, to, 2, m->activation_bytes);
        bool gates = !forward && job->split_gate && !m->r->plan->layout.sequence_parallel;
        add_sums(m, to, 2 + gates, m->activation_bytes);
    } else if (layers->kind == LAYER_MOE) {
        int sums = layers->experts.shared_ffn ? 2 : 1;
        add_sums(m, to, pass == PASS_BACKWARD_FULL ? 2 * sums : sums, m->activation_bytes);
    } else if (layers->kind == LAYER_EMBEDDING) {
        add_sums(m, to, forward, m->activation_bytes);
    } else if (!forward) {
        add_sums(m, to, 1, m->activation_bytes);
    } else if (job->gathered_logits) {
        run_add_ring(m->r, to,
                     (struct action){.rounds = RING_GATHER,
                                     .bytes = precision_bytes(job->precision) * tokens *
                                              run_vocabulary(m->r) * m->r->tensor_count});
    } else {
        add_sums(m, to, 3, 4 * tokens);
    }
}

// The attention of one step of a ring, which hides what is sent meanwhile: cell + 1.
static int step_cell(struct making *m, bool back)
{
    const struct layout *l = &m->r->plan->layout;
    const struct shape *s = &m->r->problem->model.shape;
    int64_t heads = l->micro_batch * s->heads / l->tensor,
            tokens = m->r->problem->job.sequence / l->context;
    double scores = (double)heads * (double)tokens * (double)tokens;
    return 1 + run_cell(m->c, back ? WORK_CONTEXT_ATTENTION_BACKWARD : WORK_CONTEXT_ATTENTION,
                        SAMPLE_CONTEXT, back ? "step of a ring, backward" : "step of a ring",
                        SIZE(heads, tokens, tokens, s->head_width),
                        (back ? 8 : 4) * scores * (double)s->head_width,
                        (back ? 12 : 6) * scores * precision_bytes(m->r->problem->job.precision));
}

static void add_of_context(struct making *m, struct actions *to, enum ring_rounds rounds,
                           int64_t values, int hides)
{
    int64_t tokens = m->activation_bytes /
                     m->r->problem->model.shape.hidden; // times a value's bytes
    run_add_ring(m->r, to,
                 (struct action){.of = RING_OF_CONTEXT,
                                 .rounds = rounds,
                                 .bytes = tokens * values / m->r->plan->layout.tensor,
                                 .hides = hides});
}

// Between context ranks. Gathered: keys and values of all before attention, backward again, and
// their gradients go back after it. In a ring they pass while attention runs, backward with their
// gradients. Exchanged: queries, keys, values and results, each for other tokens or heads.
static void add_context(struct making *m, struct actions *to, bool back, bool after)
{
    const struct shape *s = &m->r->problem->model.shape;
    int64_t context = m->r->plan->layout.context, key = s->kv_heads * s->head_width,
            query = s->heads * s->head_width;
    switch (m->r->problem->job.context_kind) {
    case CONTEXT_ALL_GATHER:
        if (!after || back)
            add_of_context(m, to, after ? RING_SCATTER : RING_GATHER, context * 2 * key, 0);
        break;
    case CONTEXT_RING:
        if (!after)
            add_of_context(m, to, RING_STEPS, context * (back ? 4 : 2) * key, step_cell(m, back));
        break;
    case CONTEXT_ALL_TO_ALL:
        for (int i = 0; i < 4 && !after; i++)
            add_of_context(m, to, RING_EXCHANGE, i % 2 ? key : query, 0);
        break;
    }
}

static void add_layer(struct making *m, struct actions *to, const struct layer_run *layers,
                      enum pass pass, enum gradients gradients)
{
    bool back = pass != PASS_FORWARD, mixture = layers->kind == LAYER_MOE,
         attends = (layers->kind == LAYER_BLOCK || mixture) && m->r->plan->layout.context > 1 &&
                   gradients != GRADIENTS_OF_WEIGHTS;
    if (gradients != GRADIENTS_OF_WEIGHTS) add_shards(m, to, layers, RING_GATHER);
    if (attends && pass == PASS_BACKWARD_FULL) add_context(m, to, false, false);
    if (attends) add_context(m, to, back, false);
    run_add_cell(m->r, to, pass_cell(m->c, m->r, layers, pass, gradients, m->slice));
    if (attends) add_context(m, to, back, true);
    if (mixture)
        run_add_experts(m->r, m->c, layers, run_tokens(m->r, m->slice), pass, gradients, to);
    add_tensor_sums(m, to, layers, pass, gradients);
    if (back && gradients != GRADIENTS_OF_INPUT) add_shards(m, to, layers, RING_SCATTER);
    if (back && gradients != GRADIENTS_OF_INPUT && m->beside)
        run_add_layer_sync(m->r, m->c, m->stage, layers, to);
}

// How a layer of a stage goes back; `recomputable`: its number among the stage's recomputable ones.
static enum pass backward_of(const struct plan_stage *x, const struct layer_run *run,
                             int recomputable)
{
    if (!run->recomputable) return PASS_BACKWARD;
    if (x->recompute == RECOMPUTE_FIRST_LAYERS)
        return recomputable < x->recomputed_layers ? PASS_BACKWARD_FULL : PASS_BACKWARD;
    return x->recompute == RECOMPUTE_FULL ? PASS_BACKWARD_FULL
           : x->recompute == RECOMPUTE_SELECTIVE && run->kind != LAYER_EMBEDDING &&
                   run->kind != LAYER_HEAD
               ? PASS_BACKWARD_SELECTIVE
               : PASS_BACKWARD;
}

static int recomputable_before(const struct running *r, const struct plan_stage *x, int layer)
{
    const struct model *m = &r->problem->model;
    int count = 0;
    for (int i = 0; i < layer; i++)
        count += m->runs[model_run_of(m, x->first_layer + i)].recomputable;
    return count;
}

static void add_backward(struct making *m, struct actions *const *passes,
                         const struct plan_stage *x, int layer)
{
    struct running *r = m->r;
    const struct model *model = &r->problem->model;
    const struct layer_run *run = &model->runs[model_run_of(model, x->first_layer + layer)];
    enum pass back = backward_of(x, run, recomputable_before(r, x, layer));
    bool splits = schedule_splits_backward(r->plan->layout.schedule) &&
                  run->kind != LAYER_EMBEDDING; // it has no input gradient to hurry for
    struct actions *backward = &passes[EVENT_BACKWARD][m->slice];
    if (!splits) {
        add_layer(m, backward, run, back, GRADIENTS_BOTH);
        return;
    }
    add_layer(m, backward, run, back, GRADIENTS_OF_INPUT);
    add_layer(m, &passes[EVENT_WEIGHT][m->slice], run, PASS_BACKWARD, GRADIENTS_OF_WEIGHTS);
}

// What a back end keeps of a layer between its passes, and needs while one runs.
static void count_memory(struct running *r, struct catalogue *c, int stage)
{
    const struct plan_stage *x = &r->plan->stages[stage];
    const struct model *m = &r->problem->model;
    struct stage_work *work = &r->stages[stage];
    for (int i = 0; i < x->layer_count && r->backend->keeps; i++) {
        const struct layer_run *run = &m->runs[model_run_of(m, x->first_layer + i)];
        enum pass back = backward_of(x, run, recomputable_before(r, x, i));
        for (int slice = 0; slice < r->plan->layout.slice_count; slice++) {
            int64_t working, of_experts = 0;
            int cell = pass_cell(c, r, run, back, GRADIENTS_BOTH, slice);
            work->kept_bytes[slice] += r->backend->keeps(&c->chooser.cells[cell], &working);
            if (run->kind == LAYER_MOE)
                work->kept_bytes[slice] +=
                    run_experts_keep(r, run, run_tokens(r, slice), back, &of_experts);
            work->working_bytes = larger(work->working_bytes, working + of_experts);
        }
    }
}

// Which of its passes a stage runs first and last.
static void find_turns(struct running *r, int stage)
{
    const struct schedule *s = &r->schedule;
    struct stage_work *work = &r->stages[stage];
    const struct stream *stream = s->streams;
    int stages = s->request.stage_count, rank = schedule_rank_of(&s->request, stage);
    bool seen[EVENT_WEIGHT + 1] = {false};
    while (stream->kind != STREAM_COMPUTE || stream->rank != rank) stream++;
    for (int i = 0; i < stream->count; i++) {
        const struct operation *o = &s->operations[stream->operations[i]];
        int kind = symbol_base_kind(o->symbol / stages);
        if (kind > SYMBOL_WEIGHT || o->symbol % stages != stage) continue;
        work->last[kind] = (struct turn_of_stage){o->micro_batch, symbol_slice(o->symbol / stages)};
        if (!seen[kind]) work->first[kind] = work->last[kind];
        seen[kind] = true;
    }
}

static void add_passes(struct running *r, struct catalogue *c, int stage)
{
    const struct plan_stage *x = &r->plan->stages[stage];
    const struct model *m = &r->problem->model;
    const struct layout *l = &r->plan->layout;
    struct actions **passes = r->stages[stage].passes;
    for (int k = 0; k <= EVENT_WEIGHT; k++)
        passes[k] = TAKE(r->arena, l->slice_count, struct actions);
    for (int slice = 0; slice < l->slice_count; slice++) {
        struct making making = {.r = r,
                                .c = c,
                                .stage = stage,
                                .slice = slice,
                                .activation_bytes = run_tokens(r, slice) * m->shape.hidden *
                                                    precision_bytes(r->problem->job.precision),
                                .beside = l->gradient_sync == SYNC_OVERLAPPED,
                                .by_stage = schedule_kinds[l->schedule].layered &&
                                            r->problem->job.trainer != TRAINER_TORCHTITAN};
        for (int i = 0; i < x->layer_count; i++)
            add_layer(&making, &passes[EVENT_FORWARD][slice],
                      &m->runs[model_run_of(m, x->first_layer + i)], PASS_FORWARD, GRADIENTS_BOTH);
        for (int i = x->layer_count - 1; i >= 0; i--) add_backward(&making, passes, x, i);
    }
}

enum status run_make_work(struct running *r, struct arena *arena, struct error *err)
{
    const struct layout *l = &r->plan->layout;
    const struct job *job = &r->problem->job;
    TRY(check_layout(r, err));
    TRY(check_model(r, err));
    struct cells_request *request = TAKE(arena, 1, struct cells_request);
    *request = (struct cells_request){.precision = job->precision,
                                      .fused = l->fused_attention,
                                      .fp32_gradients = job->gradient_bytes_per_value == 4};
    struct catalogue *c = TAKE(arena, 1, struct catalogue);
    c->chooser = (struct chooser){.request = request,
                                  .shape = &r->problem->model.shape,
                                  .tensor = l->tensor,
                                  .context = 1,
                                  .arena = arena};
    // With a pipeline, whole gradients accumulate, and are scattered once.
    bool whole = l->pipeline > 1 && job->trainer != TRAINER_DEEPSPEED;
    c->zero = whole && l->zero == 2 ? 1 : l->zero;
    find_shapes(c, r);
    r->stages = TAKE(arena, r->plan->stage_count, struct stage_work);
    for (int s = 0; s < r->plan->stage_count; s++) {
        find_turns(r, s);
        add_passes(r, c, s);
        run_add_ending(r, c, s);
        run_add_message(r, c, s);
        count_memory(r, c, s);
    }
    r->yardstick = r->backend->has_host ? -1 : c->chooser.count;
    if (r->yardstick >= 0) cells_add_yardstick(&c->chooser);
    r->cells = c->chooser.cells;
    r->cell_count = c->chooser.count;
    r->times = TAKE(arena, r->cell_count, struct cell_times);
    for (int i = 0; i < r->cell_count && r->backend->state; i++)
        r->backend->state(r->session, &r->cells[i], &r->cells[i].sample);
    return OK;
}
