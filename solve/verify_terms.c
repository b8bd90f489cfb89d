// Prices and memory of each stage: sums of the judge's own terms against the plan's claims. A correct claim may differ by
// 1 for each term that was rounded, no more (docs/FORMULAS.md, sections 3 to 8).
#include <stdlib.h>

#include "solve/verify_parts.h"

#define REJECT(rule, stage, ...) verdict_add(h->verdict, h->arena, rule, stage, __VA_ARGS__)

struct sum { int64_t value, terms; };

static void add(struct sum *s, int64_t value)
{
    s->value += value;
    s->terms++;
}

static void compare(struct hearing *h, const char *rule, int stage, const char *what, const char *unit, int64_t claimed,
                    struct sum own)
{
    h->verdict->terms_checked += own.terms;
    int64_t off = claimed - own.value;
    if (claimed < 0 || llabs(off) > own.terms)
        REJECT(rule, stage, "%s: claimed %lld %s, the judge finds %lld (%+lld; %lld allowed for rounding)", what,
               (long long)claimed, unit, (long long)own.value, (long long)off, (long long)own.terms);
}

static int run_of(const struct hearing *h, int layer)
{
    int run = 0;
    for (int behind = h->problem->model.runs[0].count; layer >= behind; behind += h->problem->model.runs[run].count)
        run++;
    return run;
}

// The mode of one layer: first_layers is full for the first so many that can be recomputed. *left counts those down.
static enum recompute layer_mode(const struct hearing *h, const struct plan_stage *x, int run, int *left)
{
    if (!h->problem->model.runs[run].recomputable) return RECOMPUTE_NONE;
    if (x->recompute != RECOMPUTE_FIRST_LAYERS) return x->recompute;
    return (*left)-- > 0 ? RECOMPUTE_FULL : RECOMPUTE_NONE;
}

// ---- what happens once per layer

struct layer_terms { int64_t backward_ns, sync_ns; int roundings; };

// The exposed part of the syncs that run behind the last backward, layer by layer from the last to the first: an account
// of two clocks, one of the backward pass and one of the syncs.
static struct sum sync_behind_backward(const struct hearing *h, const struct layer_terms *layers, int count,
                                       int64_t constant_ns)
{
    struct sum result = {0, 1};
    bool overlapped = h->problem->job.layout.gradient_sync == SYNC_OVERLAPPED;
    int64_t backward_clock = 0, sync_clock = 0;
    for (int i = count - 1; i >= 0; i--) {
        backward_clock += overlapped ? layers[i].backward_ns : 0;
        if (sync_clock < backward_clock) sync_clock = backward_clock;
        sync_clock += layers[i].sync_ns;
        result.terms += 1 + (overlapped ? layers[i].roundings : 0);
    }
    result.value = constant_ns + sync_clock - backward_clock;
    return result;
}

static void hear_layer_prices(struct hearing *h, int stage)
{
    const struct plan_stage *x = &h->plan->stages[stage];
    int group = judged_group(h, stage), left = x->recomputed_layers, priced_run = -1;
    struct sum forward = {0}, backward = {0}, optimizer = {0};
    struct layer_duration d = {0};
    struct layer_terms *layers = TAKE(h->arena, x->layer_count, struct layer_terms);
    int64_t sync = 0;
    for (int i = 0; i < x->layer_count; i++) {
        int run = run_of(h, x->first_layer + i);
        enum recompute mode = layer_mode(h, x, run, &left);
        if (run != priced_run) {
            d = layer_duration_of(&h->assay, run, group);
            sync = layer_sync_ns(&h->assay, run, group, gradient_rank(h, stage));
            priced_run = run;
        }
        add(&forward, d.forward_ns);
        add(&backward, d.backward_ns);
        if (mode != RECOMPUTE_NONE) add(&backward, mode == RECOMPUTE_FULL ? d.full_ns : d.selective_ns);
        add(&optimizer, d.optimizer_ns);
        int64_t extra = mode == RECOMPUTE_NONE ? 0 : mode == RECOMPUTE_FULL ? d.full_ns : d.selective_ns;
        layers[i] = (struct layer_terms){d.backward_ns + extra, sync, mode == RECOMPUTE_NONE ? 1 : 2};
    }
    compare(h, "price", stage, "forward", "ns", x->forward_ns, forward);
    compare(h, "price", stage, "backward", "ns", x->backward_ns, backward);
    compare(h, "price", stage, "optimizer", "ns", x->optimizer_ns, optimizer);
    compare(h, "price", stage, "sync", "ns", x->sync_ns,
            sync_behind_backward(h, layers, x->layer_count, sync_constant_ns(&h->assay, group)));
}

// ---- messages over the boundary behind a stage

// own NULL: there is no message, so nothing was rounded either.
static void hear_parts(struct hearing *h, int stage, const char *what, const int64_t *claimed, const int64_t *own)
{
    for (int part = 0; part < PART_COUNT; part++) {
        const char *name = arena_print(h->arena, "%s.%s", what, transfer_part_names[part]);
        compare(h, "price", stage, name, "ns", claimed[part], own ? (struct sum){own[part], 1} : (struct sum){0, 0});
    }
}

static void hear_messages(struct hearing *h, int stage)
{
    const struct plan_stage *x = &h->plan->stages[stage];
    int64_t forward[PART_COUNT], steady[PART_COUNT], drain[PART_COUNT];
    if (stage == h->plan->stage_count - 1) {
        hear_parts(h, stage, "send_forward", x->send_forward_ns, NULL);
        hear_parts(h, stage, "send_backward", x->send_backward_ns, NULL);
        hear_parts(h, stage, "send_epilogue", x->send_epilogue_ns, NULL);
        return;
    }
    if (!h->sound[stage + 1]) return;
    const struct priced_boundary_option *option =
        &h->plan->boundary_options[h->plan->stages[stage + 1].boundary_option];
    int from = judged_group(h, stage), to = judged_group(h, stage + 1),
        run = run_of(h, x->first_layer + x->layer_count - 1);
    if (!transfer_price(&h->assay, run, from, to, 0, forward) ||
        !transfer_price(&h->assay, run, to, from, option->rank, drain))
        return;
    transfer_price(&h->assay, run, to, from, option->epilogue_only ? 0 : option->rank, steady);
    hear_parts(h, stage, "send_forward", x->send_forward_ns, forward);
    hear_parts(h, stage, "send_backward", x->send_backward_ns, steady);
    // Where no option tells the drain apart, its symbols do not exist and a plan may leave them out.
    int64_t claimed = 0;
    for (int part = 0; part < PART_COUNT; part++) claimed |= x->send_epilogue_ns[part];
    if (h->request.epilogue || claimed) hear_parts(h, stage, "send_epilogue", x->send_epilogue_ns, drain);
}

void hear_prices(struct hearing *h)
{
    int last = h->plan->stage_count - 1;
    int64_t embedding_ns;
    for (int s = 0; s <= last; s++) {
        if (!h->sound[s]) continue;
        struct arena_mark mark = arena_set_mark(h->arena);
        int before = h->verdict->violation_count;
        hear_layer_prices(h, s);
        hear_messages(h, s);
        // The verdict's texts live in the same arena: scratch goes back only where none was written.
        if (h->verdict->violation_count == before) arena_reset(h->arena, mark);
    }
    if (!h->sound[0] || !h->sound[last]) return;
    if (embedding_sync_price(&h->assay, judged_group(h, 0), judged_group(h, last), &embedding_ns))
        compare(h, "price", -1, "embedding sync", "ns", h->plan->embedding_sync_ns,
                (struct sum){embedding_ns, h->assay.embedding_sync});
}

// ---- memory

int in_flight_of(const struct schedule_request *request, int stage)
{
    int behind = request->stage_count - stage;
    return request->kind == SCHEDULE_GPIPE || behind > request->micro_batches ? request->micro_batches : behind;
}

static void add_buffers(struct sum *buffers, const struct hearing *h, int last_layer)
{
    int64_t message = layer_bytes_of(&h->assay, run_of(h, last_layer)).message;
    add(buffers, message);
    add(buffers, message);
}

struct stage_bytes { struct sum weight, gradient, optimizer, activation, working, buffer, feedback, constant; };

static struct stage_bytes stage_bytes_of(const struct hearing *h, int stage)
{
    const struct plan_stage *x = &h->plan->stages[stage];
    struct stage_bytes sums = {.working = {0, 1}};
    struct layer_bytes b = {0};
    int left = x->recomputed_layers, priced_run = -1, in_flight = in_flight_of(&h->request, stage);
    int64_t feedback = 0;
    for (int i = 0; i < x->layer_count; i++) {
        int run = run_of(h, x->first_layer + i), mode = (int)layer_mode(h, x, run, &left);
        if (run != priced_run) {
            b = layer_bytes_of(&h->assay, run);
            feedback = gradient_feedback_of(&h->assay, run, gradient_rank(h, stage));
            priced_run = run;
        }
        add(&sums.weight, b.weight);
        add(&sums.gradient, b.gradient);
        add(&sums.optimizer, b.optimizer);
        sums.activation.value += in_flight * b.stash[mode];
        sums.activation.terms += in_flight;
        add(&sums.feedback, feedback);
        if (b.working[mode] > sums.working.value) sums.working.value = b.working[mode];
    }
    if (stage > 0) {
        add_buffers(&sums.buffer, h, x->first_layer - 1);
        add(&sums.feedback, boundary_feedback_of(&h->assay, run_of(h, x->first_layer - 1), boundary_rank(h, stage)));
    }
    if (stage < h->plan->stage_count - 1) add_buffers(&sums.buffer, h, x->first_layer + x->layer_count - 1);
    add(&sums.constant, constant_bytes_of(&h->assay, judged_group(h, stage)));
    return sums;
}

static void hear_stage_memory(struct hearing *h, int stage)
{
    const struct plan_stage *x = &h->plan->stages[stage];
    const struct memory_parts *m = &x->memory;
    struct stage_bytes own = stage_bytes_of(h, stage);
    const struct { const char *name; int64_t claimed; struct sum own;
    } parts[] = {
        {"weights", m->weight_bytes, own.weight},         {"gradients", m->gradient_bytes, own.gradient},
        {"optimizer", m->optimizer_bytes, own.optimizer}, {"activations", m->activation_bytes, own.activation},
        {"working", m->working_bytes, own.working},       {"buffers", m->buffer_bytes, own.buffer},
        {"feedback", m->feedback_bytes, own.feedback},    {"constant", m->constant_bytes, own.constant},
    };
    struct sum limit = {memory_limit_of(&h->assay, judged_group(h, stage)), 1}, total = {0};
    int64_t claimed_total = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(parts); i++) {
        compare(h, "memory", stage, parts[i].name, "bytes", parts[i].claimed, parts[i].own);
        claimed_total += parts[i].claimed;
        total.value += parts[i].own.value;
        total.terms += parts[i].own.terms;
    }
    compare(h, "memory", stage, "limit", "bytes", x->memory_limit_bytes, limit);
    if (claimed_total > x->memory_limit_bytes)
        REJECT("memory", stage, "%lld bytes claimed, %lld over the limit of %lld", (long long)claimed_total,
               (long long)(claimed_total - x->memory_limit_bytes), (long long)x->memory_limit_bytes);
    if (total.value - total.terms > limit.value + 1)
        REJECT("memory", stage, "the judge finds %lld bytes, %lld over the limit of %lld", (long long)total.value,
               (long long)(total.value - limit.value), (long long)limit.value);
}

void hear_memory(struct hearing *h)
{
    for (int s = 0; s < h->plan->stage_count; s++) {
        // The message before a stage is known only where the stage before it ends where this one begins.
        bool layers_meet = s == 0 || h->plan->stages[s].first_layer > 0;
        if (h->sound[s] && layers_meet) hear_stage_memory(h, s);
    }
}
