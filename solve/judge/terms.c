// Prices of each stage: sums of the judge's own terms against the plan's claims, to the nanosecond
// (docs/FORMULAS.md, sections 3 to 7).
#include "data/kinds/schedules.h"
#include "solve/judge/internal.h"

void audit_claim(struct audit *h, const char *rule, int stage, const char *what, const char *unit,
                 int64_t claimed, struct sum own)
{
    h->verdict->terms_checked += own.terms;
    if (claimed != own.value)
        REJECT(h, rule, stage, "%s: claimed %lld %s, the judge finds %lld (%+lld)", what,
               (long long)claimed, unit, (long long)own.value, (long long)(claimed - own.value));
}

static void audit_price(struct audit *h, int stage, const char *what, int64_t *claim,
                        struct sum own)
{
    if (h->collect) *claim = own.value;
    else audit_claim(h, "price", stage, what, "ns", *claim, own);
}

int judged_run(const struct audit *h, int layer)
{
    int run = 0;
    for (int behind = h->problem->model.runs[0].count; layer >= behind;
         behind += h->problem->model.runs[run].count)
        run++;
    return run;
}

static bool is_in_set(const struct plan_stage *x, int layer)
{
    bool found = x->recomputed_count == 0;
    for (int i = 0; i < x->recomputed_count; i++) found = found || x->recomputed[i] == layer;
    return found;
}

enum recompute layer_mode(const struct audit *h, const struct plan_stage *x, int layer, int run,
                          int *left)
{
    if (!h->problem->model.runs[run].recomputable) return RECOMPUTE_NONE;
    if (x->recompute == RECOMPUTE_FULL && !is_in_set(x, x->first_layer + layer))
        return RECOMPUTE_NONE;
    if (!recompute_counts_layers(x->recompute)) return x->recompute;
    int which = (*left)--;
    return which > x->recomputed_layers ? RECOMPUTE_SWAP
           : which > 0                  ? RECOMPUTE_FULL
                                        : RECOMPUTE_NONE;
}

bool sends_over(const struct audit *h, int boundary)
{
    return boundary >= 0 && boundary < h->request.stage_count - 1 &&
           !schedule_is_inner(&h->request, boundary) &&
           !(h->request.stored_inputs && schedule_is_local(&h->request, boundary));
}

bool sends_back_over(const struct audit *h, int boundary)
{
    return sends_over(h, boundary) && !schedule_is_local(&h->request, boundary);
}

bool learns_locally(const struct audit *h, int stage)
{
    return stage < h->request.stage_count - 1 && schedule_is_local(&h->request, stage);
}

// The same GPUs and samples, divided into other numbers of ranks.
static void spread_vocabulary(struct audit *h)
{
    const struct layout *own = layout_of(&h->price_audit);
    int degrees[VOCABULARY_DEGREES_MAX], count = problem_vocabulary_degrees(&h->judged, degrees);
    h->degree_count = 0;
    h->spread = TAKE(h->arena, count, struct problem);
    h->spread_audit = TAKE(h->arena, count, struct price_audit);
    for (int i = 0; i < count; i++) {
        struct problem *p = &h->spread[h->degree_count];
        int64_t devices = (int64_t)own->tensor * own->data,
                samples = (int64_t)own->data * own->micro_batch;
        *p = h->judged;
        p->job.layout.tensor = degrees[i];
        p->job.layout.data = (int)(devices / degrees[i]);
        p->job.layout.micro_batch = (int)(samples / p->job.layout.data);
        h->spread_audit[h->degree_count] = price_audit_over(p, &h->price_audit);
        if (can_spread_vocabulary(&h->price_audit, &h->spread_audit[h->degree_count]))
            h->degrees[h->degree_count++] = degrees[i];
    }
}

void judge_other_layers(struct audit *h)
{
    spread_vocabulary(h);
    if (h->problem->job.sharded_zero) {
        h->sharded = h->judged;
        h->sharded.job.layout.zero = h->problem->job.sharded_zero;
        h->sharded_audit = price_audit_over(&h->sharded, &h->price_audit);
    }
    if (!job_has_local_head(&h->judged.job)) return;
    h->headed = problem_with_local_head(&h->judged, &h->headed_run, h->arena);
    h->headed_audit = price_audit_over(&h->headed, &h->price_audit);
}

int judged_layers(const struct audit *h, int stage)
{
    bool head = learns_locally(h, stage) && job_has_local_head(&h->judged.job);
    return h->plan->stages[stage].layer_count + (head ? 1 : 0);
}

// Counted are a stage's layers that can be recomputed, from its first one.
static bool is_sharded(const struct audit *h, const struct plan_stage *x, int layer)
{
    int before = 0;
    for (int i = 0; i < layer && x->sharded_layers > 0; i++)
        before += h->problem->model.runs[judged_run(h, x->first_layer + i)].recomputable;
    return before < x->sharded_layers && h->problem->job.sharded_zero &&
           h->problem->model.runs[judged_run(h, x->first_layer + layer)].recomputable;
}

const struct price_audit *judged_layer(const struct audit *h, int stage, int layer, int *run)
{
    const struct plan_stage *x = &h->plan->stages[stage];
    bool head = layer >= x->layer_count;
    *run = head ? h->headed_run : judged_run(h, x->first_layer + layer);
    for (int i = 0; i < h->degree_count && !head; i++)
        if (x->vocabulary_tensor == h->degrees[i] &&
            run_has_vocabulary(&h->problem->model.runs[*run]))
            return &h->spread_audit[i];
    return head                      ? &h->headed_audit
           : is_sharded(h, x, layer) ? &h->sharded_audit
                                     : audit_at(h, stage);
}

// ---- what happens once per layer

// Time between one layer's gradient and the next one's, at the end of the last micro-batch, and
// the layer's sync.
struct layer_terms {
    int64_t gradient_ns, sync_ns;
    int64_t work_ns; // the sync with nothing hidden
};

// The exposed part of syncs that follow the last gradients, from the last layer to the first, by
// two clocks: one of the gradients and one of the syncs.
static struct sum sync_behind_gradients(const struct audit *h, const struct layer_terms *layers,
                                        int count, int64_t constant_ns)
{
    struct sum result = {0, 1};
    bool overlapped = h->judged.job.layout.gradient_sync == SYNC_OVERLAPPED;
    int64_t gradient_clock = 0, sync_clock = 0;
    for (int i = count - 1; i >= 0; i--) {
        gradient_clock = judged_later(gradient_clock, overlapped ? layers[i].gradient_ns : 0);
        if (sync_clock < gradient_clock) sync_clock = gradient_clock;
        sync_clock = judged_later(sync_clock, layers[i].sync_ns);
        result.terms++;
    }
    result.value = judged_later(constant_ns, sync_clock - gradient_clock);
    return result;
}

// The layers' syncs one after the other, by a clock that no gradient holds up: what a sync takes
// when the stream comes to it late.
static struct sum sync_in_full(const struct layer_terms *layers, int count, int64_t constant_ns)
{
    struct sum result = {constant_ns, 1 + count};
    for (int i = 0; i < count; i++) result.value = judged_later(result.value, layers[i].sync_ns);
    return result;
}

static int64_t sync_work(const struct layer_terms *layers, int count, int64_t constant_ns)
{
    int64_t work = constant_ns;
    for (int i = 0; i < count; i++) work = judged_later(work, layers[i].work_ns);
    return work;
}

// One sync in its two ways.
struct sync_ways {
    struct sum own, queued; // after the stage's own gradients; after another sync
    int64_t work_ns;        // of its stream
};

// Sums over the layers of a stage.
struct stage_times {
    struct sum forward, backward, weight, optimizer;
};

static bool recomputes(enum recompute mode)
{
    return mode != RECOMPUTE_NONE && mode != RECOMPUTE_SWAP;
}

static void add_layer(struct stage_times *t, const struct layer_duration *d, enum recompute mode)
{
    sum_add(&t->forward, d->forward_ns);
    sum_add(&t->backward, d->backward_ns);
    if (recomputes(mode)) sum_add(&t->backward, d->again_ns[mode]);
    sum_add(&t->weight, d->weight_ns);
    sum_add(&t->optimizer, d->optimizer_ns);
}

static bool is_spread(const struct audit *h, const struct price_audit *a)
{
    return h->degree_count && a >= h->spread_audit && a < h->spread_audit + h->degree_count;
}

static struct layer_terms terms_of_layer(const struct audit *h, const struct layer_duration *d,
                                         enum recompute mode, int64_t sync_ns)
{
    if (schedule_splits_backward(h->request.kind))
        return (struct layer_terms){d->weight_ns, sync_ns, 0};
    return (struct layer_terms){d->backward_ns + (recomputes(mode) ? d->again_ns[mode] : 0),
                                sync_ns, 0};
}

// Of one slice; layers, if not NULL, receives what the stage's sync depends on, over what joins
// sync_group.
static struct stage_times stage_times_of(const struct audit *h, int stage, int slice,
                                         struct layer_terms *layers, int sync_group)
{
    const struct plan_stage *x = &h->plan->stages[stage];
    int group = judged_group(h, stage), left = counted_layers(x), priced_run = -1,
        count = judged_layers(h, stage);
    struct stage_times t = {0};
    struct layer_duration d = {0};
    const struct price_audit *priced = NULL;
    int64_t sync = 0, work = 0;
    for (int i = 0; i < count; i++) {
        int run;
        const struct price_audit *a = judged_layer(h, stage, i, &run);
        bool head = i == x->layer_count;
        enum recompute mode = head ? RECOMPUTE_NONE : layer_mode(h, x, i, run, &left);
        if (run != priced_run || a != priced) {
            d = layer_duration_of(a, run, group, slice, stage_tiering(h, stage));
            if (is_spread(h, a)) {
                d.forward_ns += vocabulary_exchange_ns(&h->price_audit, a, run, group, slice, 0);
                d.backward_ns += vocabulary_exchange_ns(&h->price_audit, a, run, group, slice, 1);
            }
            if (layers) {
                struct compression_form form = gradient_form(h, stage);
                sync = layer_sync_ns(a, run, sync_group, form);
                work = layer_sync_work_ns(a, run, sync_group, form);
            }
            priced_run = run, priced = a;
        }
        add_layer(&t, &d, mode);
        if (!layers) continue;
        layers[i] = terms_of_layer(h, &d, mode, sync);
        layers[i].work_ns = work;
    }
    return t;
}

static struct sync_ways ways_of_sync(const struct audit *h, const struct layer_terms *layers,
                                     int count, int64_t constant_ns)
{
    return (struct sync_ways){sync_behind_gradients(h, layers, count, constant_ns),
                              sync_in_full(layers, count, constant_ns),
                              sync_work(layers, count, constant_ns)};
}

static struct sync_ways sync_of_stage(const struct audit *h, int stage,
                                      const struct layer_terms *layers)
{
    return ways_of_sync(h, layers, judged_layers(h, stage),
                        sync_constant_ns(audit_at(h, stage), judged_group(h, stage)));
}

// If all links of the ring were like this one; where GPUs of two kinds meet, each term is that of
// the slower kind.
static struct sync_ways sync_over_link(const struct audit *h, int stage,
                                       const struct ring_link *link, struct layer_terms *layers)
{
    int count = h->plan->stages[stage].layer_count;
    struct layer_terms *other = TAKE(h->arena, count, struct layer_terms);
    for (int end = 0; end < 2; end++) h->joints[link->ends[end]] = link->joint;
    stage_times_of(h, stage, 0, layers, link->ends[0]);
    stage_times_of(h, stage, 0, other, link->ends[1]);
    for (int i = 0; i < count; i++)
        if (other[i].sync_ns > layers[i].sync_ns) layers[i].sync_ns = other[i].sync_ns;
    for (int i = 0; i < count; i++)
        if (other[i].work_ns > layers[i].work_ns) layers[i].work_ns = other[i].work_ns;
    int64_t constants[2] = {sync_constant_ns(&h->price_audit, link->ends[0]),
                            sync_constant_ns(&h->price_audit, link->ends[1])};
    return ways_of_sync(h, layers, count, constants[constants[1] > constants[0]]);
}

// Where stages with widths of their own stand on nodes: each term over its slowest link.
static struct sync_ways sync_by_terms(const struct audit *h, int stage, struct layer_terms *layers)
{
    int count = h->plan->stages[stage].layer_count;
    int64_t constant = 0;
    struct layer_terms *own = TAKE(h->arena, count, struct layer_terms);
    for (int i = 0; i < count; i++) layers[i].sync_ns = layers[i].work_ns = 0;
    for (int k = 0; k < h->rings[stage].count; k++) {
        const struct ring_link *link = &h->rings[stage].links[k];
        int64_t ns;
        h->stage_joints[stage][link->ends[0]] = link->joint;
        stage_times_of(h, stage, 0, own, link->ends[0]);
        for (int i = 0; i < count; i++) {
            if (own[i].sync_ns > layers[i].sync_ns) layers[i].sync_ns = own[i].sync_ns;
            if (own[i].work_ns > layers[i].work_ns) layers[i].work_ns = own[i].work_ns;
        }
        ns = sync_constant_ns(audit_at(h, stage), link->ends[0]);
        if (ns > constant) constant = ns;
    }
    return ways_of_sync(h, layers, count, constant);
}

static struct sync_ways sync_over_ring(const struct audit *h, int stage, struct layer_terms *layers)
{
    struct sync_ways longest = {{-1, 0}, {-1, 0}, 0};
    if (h->first_place) return sync_by_terms(h, stage, layers);
    for (int i = 0; i < h->rings[stage].count; i++) {
        struct sync_ways sync = sync_over_link(h, stage, &h->rings[stage].links[i], layers);
        if (sync.own.value > longest.own.value) longest.own = sync.own;
        if (sync.queued.value > longest.queued.value) longest.queued = sync.queued;
        if (sync.work_ns > longest.work_ns) longest.work_ns = sync.work_ns;
    }
    return longest;
}

// The plan states the second way only where a stage's sync may wait for another one's.
static void audit_syncs(struct audit *h, int stage, struct layer_terms *layers)
{
    struct plan_stage *x = &h->plan->stages[stage];
    struct sync_ways sync = h->rings ? sync_over_ring(h, stage, layers)
                                     : sync_of_stage(h, stage, layers);
    bool waits = h->request.sync_overlapped && h->request.virtual_stages > 1;
    h->sync_work_ns[stage] = sync.work_ns;
    audit_price(h, stage, "sync", &x->sync_ns, sync.own);
    audit_price(h, stage, "queued sync", &x->queued_sync_ns,
                waits ? sync.queued : (struct sum){0, 0});
}

// Name of a term: the first slice's has no number.
static const char *name_of(const struct audit *h, const char *what, int slice)
{
    return slice ? arena_print(h->arena, "%s of slice %d", what, slice) : what;
}

static void audit_passes(struct audit *h, int stage, int slice, const struct stage_times *t)
{
    struct plan_slice *x = &h->plan->stages[stage].slices[slice];
    audit_price(h, stage, name_of(h, "forward", slice), &x->forward_ns, t->forward);
    audit_price(h, stage, name_of(h, "backward", slice), &x->backward_ns, t->backward);
}

static void audit_layer_prices(struct audit *h, int stage)
{
    struct plan_stage *x = &h->plan->stages[stage];
    struct layer_terms *layers = TAKE(h->arena, judged_layers(h, stage), struct layer_terms);
    struct stage_times t = stage_times_of(h, stage, 0, layers, judged_group(h, stage));
    struct swapping s = {0};
    if (x->recompute == RECOMPUTE_SWAP) {
        s = swapping_of(h, stage);
        t.forward = (struct sum){s.forward_ns, t.forward.terms + 1};
        t.backward = (struct sum){s.backward_ns, t.backward.terms + 1};
    }
    if (learns_locally(h, stage)) {
        const struct local_loss *l = &h->problem->job.local_loss;
        sum_add(&t.forward,
                judged_nanoseconds(&h->price_audit, (struct computed){l->forward_s, 0}));
        sum_add(&t.backward,
                judged_nanoseconds(&h->price_audit, (struct computed){l->backward_s, 0}));
    }
    if (!schedule_splits_backward(h->request.kind)) t.weight = (struct sum){0, 0};
    audit_passes(h, stage, 0, &t);
    audit_price(h, stage, "rest of what is swapped away", &x->away_ns,
                (struct sum){s.away_ns, 2 * t.forward.terms});
    audit_price(h, stage, "beginning of what is swapped back", &x->back_ns,
                (struct sum){s.back_ns, 2 * t.backward.terms});
    audit_price(h, stage, "weight gradient", &x->weight_ns, t.weight);
    audit_price(h, stage, "optimizer", &x->optimizer_ns, t.optimizer);
    audit_syncs(h, stage, layers);
    for (int slice = 1; slice < h->request.slice_count; slice++) {
        t = stage_times_of(h, stage, slice, NULL, -1);
        audit_passes(h, stage, slice, &t);
    }
}

// ---- messages over the boundary after a stage

// own NULL: there is no message.
static void audit_parts(struct audit *h, int stage, const char *what, int slice, int64_t *claimed,
                        const int64_t *own)
{
    for (int part = 0; part < PART_COUNT; part++) {
        const char *name = arena_print(h->arena, "%s.%s", what, transfer_part_names[part]);
        audit_price(h, stage, name_of(h, name, slice), &claimed[part],
                    own ? (struct sum){own[part], 1} : (struct sum){0, 0});
    }
}

// Where no option treats the drain separately, its symbols do not exist and a plan may omit them.
static void audit_epilogue(struct audit *h, int stage, const int64_t *own)
{
    struct plan_stage *x = &h->plan->stages[stage];
    int64_t claimed = 0;
    for (int part = 0; part < PART_COUNT; part++) claimed |= x->send_epilogue_ns[part];
    if (h->request.epilogue || claimed)
        audit_parts(h, stage, "send_epilogue", 0, x->send_epilogue_ns, own);
}

// What is sent forward; own NULL as above.
static void audit_slices(struct audit *h, int stage, const char *what, bool forward, int from,
                         int to, struct compression_form form)
{
    struct plan_stage *x = &h->plan->stages[stage];
    int run = judged_run(h, x->first_layer + x->layer_count - 1);
    int64_t own[PART_COUNT];
    for (int slice = 0; slice < h->request.slice_count; slice++) {
        struct plan_slice *y = &x->slices[slice];
        int64_t *claimed = forward ? y->send_forward_ns : y->send_backward_ns;
        bool sent = from >= 0;
        if (sent)
            stage_transfer(h, forward ? stage : stage + 1, forward ? stage + 1 : stage,
                           (struct sending){.run = run,
                                            .sender = from,
                                            .receiver = to,
                                            .form = form,
                                            .slice = slice,
                                            .backward = !forward},
                           own);
        audit_parts(h, stage, what, slice, claimed, sent ? own : NULL);
    }
}

static void audit_messages(struct audit *h, int stage)
{
    const struct plan_stage *x = &h->plan->stages[stage];
    bool forward = sends_over(h, stage), back = sends_back_over(h, stage);
    int from = judged_group(h, stage), to = from;
    struct compression_form form = {COMPRESS_LOW_RANK, 0}, none = form;
    const struct compression_option *option = NULL;
    if (forward) {
        if (!h->sound[stage + 1]) return;
        to = judged_group(h, stage + 1);
        if (!stages_joined(h, stage, stage + 1)) return;
        option = &h->plan->boundary_options[h->plan->stages[stage + 1].boundary_option];
        form = option->form;
    }
    audit_slices(h, stage, "send_forward", true, forward ? from : -1, to, none);
    audit_slices(h, stage, "send_backward", false, back ? to : -1, from,
                 option && option->epilogue_only ? none : form);
    int64_t drain[PART_COUNT];
    struct sending last = {.run = judged_run(h, x->first_layer + x->layer_count - 1),
                           .sender = to,
                           .receiver = from,
                           .form = form,
                           .backward = true};
    if (back) stage_transfer(h, stage + 1, stage, last, drain);
    audit_epilogue(h, stage, back ? drain : NULL);
}

void audit_prices(struct audit *h)
{
    int last = h->plan->stage_count - 1;
    int64_t embedding_ns;
    h->embedding_sync_ns = h->plan->embedding_sync_ns;
    for (int s = 0; s <= last; s++) {
        if (!h->sound[s]) continue;
        struct arena_mark mark = arena_set_mark(h->arena);
        int before = h->verdict->violation_count;
        audit_layer_prices(h, s);
        audit_messages(h, s);
        // The verdict's texts are in the same arena, so scratch is released only if none was
        // written.
        if (h->verdict->violation_count == before) arena_reset(h->arena, mark);
    }
    if (!h->sound[0] || !h->sound[last]) return;
    if (ends_embedding_price(h, &embedding_ns))
        audit_price(h, -1, "embedding sync", &h->embedding_sync_ns,
                    (struct sum){embedding_ns, h->price_audit.embedding_sync});
}
