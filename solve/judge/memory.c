// Memory of each stage, and of each rank with several stages (docs/FORMULAS.md, sections 4, 5 and
// 8): sums of the judge's own terms against the plan's claims and the limit. Micro-batches in
// flight are counted along the ranks' streams, moment by moment.
#include <string.h>

#include "data/kinds/schedules.h"
#include "solve/judge/internal.h"

enum {
    MEMORY_WEIGHT,
    MEMORY_GRADIENT,
    MEMORY_OPTIMIZER,
    MEMORY_ACTIVATION,
    MEMORY_WORKING,
    MEMORY_BUFFER,
    MEMORY_FEEDBACK,
    MEMORY_CONSTANT,
    MEMORY_PARTS,
};
static const char *const part_names[MEMORY_PARTS] = {
    "weights", "gradients", "optimizer", "activations",
    "working", "buffers",   "feedback",  "constant",
};

struct stage_bytes {
    struct sum parts[MEMORY_PARTS];
    struct sum stash; // of one micro-batch
    int64_t away;     // of one, swapped
    int in_flight;    // the maximum
};

// ---- what is in flight

// Walks a rank's compute stream in order: a forward of the first slice adds its stage's stash, and
// the pass that ends with the first slice (the weight gradient where the backward is split)
// removes it.
static void walk_stream(const struct audit *h, const struct stream *stream,
                        struct stage_bytes *stages, struct sum *most)
{
    int count = h->request.stage_count;
    int release = schedule_splits_backward(h->request.kind) ? SYMBOL_WEIGHT : SYMBOL_BACKWARD;
    int *held = TAKE(h->arena, count, int);
    struct sum now = {0, 0};
    for (int i = 0; i < stream->count; i++) {
        const struct operation *o = &h->schedule.operations[stream->operations[i]];
        int kind = o->symbol / count;
        if (kind != SYMBOL_FORWARD && kind != release) continue;
        struct stage_bytes *x = &stages[o->stage];
        int by = kind == SYMBOL_FORWARD ? 1 : -1;
        held[o->stage] += by;
        if (held[o->stage] > x->in_flight) x->in_flight = held[o->stage];
        now.value += by * x->stash.value;
        now.terms += by * x->stash.terms;
        if (now.value > most->value) most->value = now.value;
        if (now.terms > most->terms) most->terms = now.terms;
    }
}

// ---- a stage

static void add_buffers(struct sum *buffers, const struct audit *h, int stage, int last_layer)
{
    int64_t message = layer_bytes_of(audit_at(h, stage), judged_run(h, last_layer)).message;
    sum_add(buffers, message);
    sum_add(buffers, message);
}

// Whether what compression leaves out is kept and sent later.
static bool remembers(const struct compression_option *options, int chosen)
{
    return options[chosen].form.amount > 0 && !options[chosen].forgets;
}

static void add_layers(struct stage_bytes *sums, const struct audit *h, int stage)
{
    const struct plan_stage *x = &h->plan->stages[stage];
    struct layer_bytes b = {0};
    struct sum *parts = sums->parts;
    int left = counted_layers(x), priced_run = -1;
    int64_t feedback = 0;
    struct sum unsharded = {0, 0};
    struct tier_option where = stage_tiering(h, stage);
    const struct price_audit *priced = NULL;
    for (int i = 0; i < judged_layers(h, stage); i++) {
        int run;
        const struct price_audit *a = judged_layer(h, stage, i, &run);
        bool head = i == x->layer_count;
        int mode = head ? RECOMPUTE_NONE : (int)layer_mode(h, x, i, run, &left);
        bool away = mode == RECOMPUTE_SWAP;
        if (away) mode = RECOMPUTE_NONE;
        if (run != priced_run || a != priced) {
            b = layer_bytes_of(a, run);
            b.optimizer = device_state_bytes(a, run, where);
            struct tiered_weights w = tiered_weights_of(a, run, where);
            b.weight = w.kept;
            for (int k = 0; k < RECOMPUTE_COUNT; k++) b.working[k] += w.buffers;
            feedback = remembers(h->plan->gradient_options, x->gradient_option)
                           ? gradient_feedback_of(a, run, gradient_form(h, stage))
                           : 0;
            priced_run = run, priced = a;
        }
        sum_add(&parts[MEMORY_WEIGHT], b.weight);
        sum_add(&parts[MEMORY_GRADIENT], b.gradient);
        sum_add(&parts[MEMORY_OPTIMIZER], b.optimizer);
        sum_add(&sums->stash, away ? 0 : b.stash[mode]);
        sums->away += away ? b.stash[mode] : 0;
        sum_add(&parts[MEMORY_FEEDBACK], feedback);
        if (b.working[mode] > parts[MEMORY_WORKING].value)
            parts[MEMORY_WORKING].value = b.working[mode];
        sum_add(&unsharded, b.unsharded);
    }
    parts[MEMORY_WORKING].value += unsharded.value;
    parts[MEMORY_WORKING].terms += unsharded.terms;
    if (x->recompute == RECOMPUTE_SWAP)
        sum_add(&parts[MEMORY_WORKING], swapping_of(h, stage).buffer_bytes);
}

static void add_stage(struct stage_bytes *sums, const struct audit *h, int stage)
{
    const struct plan_stage *x = &h->plan->stages[stage];
    struct sum *parts = sums->parts;
    parts[MEMORY_WORKING].terms = 1;
    add_layers(sums, h, stage);
    if (learns_locally(h, stage)) sum_add(&parts[MEMORY_WEIGHT], h->problem->job.local_loss.bytes);
    // Inputs that are read from a file take the room of those that arrive.
    if (stage > 0 && !schedule_is_inner(&h->request, stage - 1)) {
        add_buffers(&parts[MEMORY_BUFFER], h, stage, x->first_layer - 1);
        if (remembers(h->plan->boundary_options, x->boundary_option))
            sum_add(&parts[MEMORY_FEEDBACK],
                    boundary_feedback_of(&h->price_audit, judged_run(h, x->first_layer - 1),
                                         boundary_form(h, stage)));
    }
    if (sends_over(h, stage))
        add_buffers(&parts[MEMORY_BUFFER], h, stage, x->first_layer + x->layer_count - 1);
    // The constant counts once per rank, at its first stage.
    if (stage < h->request.rank_count)
        sum_add(&parts[MEMORY_CONSTANT],
                constant_bytes_of(audit_at(h, stage), judged_group(h, stage)));
}

// ---- claims

// Each part, and the sums of the judge's terms and of the claims against the limit; at: the stage
// the limit is taken from. For a plan that claims nothing (collect), the judge's sum only.
static struct sum audit_parts(struct audit *h, int stage, const char *whose,
                              const struct memory_parts *m, const struct sum *own)
{
    const int64_t claimed[MEMORY_PARTS] = {
        m->weight_bytes,  m->gradient_bytes, m->optimizer_bytes, m->activation_bytes,
        m->working_bytes, m->buffer_bytes,   m->feedback_bytes,  m->constant_bytes};
    struct sum total = {0, 0};
    for (int i = 0; i < MEMORY_PARTS; i++) {
        if (!h->collect)
            audit_claim(h, "memory", stage, arena_print(h->arena, "%s%s", whose, part_names[i]),
                        "bytes", claimed[i], own[i]);
        total.value += own[i].value;
        total.terms += own[i].terms;
    }
    return total;
}

static void audit_limit(struct audit *h, int stage, const char *whose, const struct memory_parts *m,
                        struct sum total)
{
    int64_t claimed = memory_total(m),
            limit = memory_limit_of(audit_at(h, stage), judged_group(h, stage)),
            claimed_limit = h->plan->stages[stage].memory_limit_bytes;
    if (claimed > claimed_limit && !h->collect)
        REJECT(h, "memory", stage, "%s%lld bytes claimed, %lld over the limit of %lld", whose,
               (long long)claimed, (long long)(claimed - claimed_limit), (long long)claimed_limit);
    if (total.value > limit)
        REJECT(h, "memory", stage, "%sthe judge finds %lld bytes, %lld over the limit of %lld",
               whose, (long long)total.value, (long long)(total.value - limit), (long long)limit);
}

// What the stage has in each tier of its group against its part of the tier: of layers for the
// whole iteration, on the host what is swapped of micro-batches in flight, too.
static void audit_tiers(struct audit *h, int stage, const struct stage_bytes *own)
{
    const struct plan_stage *x = &h->plan->stages[stage];
    const struct node_group *g = &h->problem->cluster.groups[judged_group(h, stage)];
    for (int i = 0; i < g->tier_count; i++) {
        const char *tier = g->tiers[i].name;
        const char *swaps = stage_tiering(h, stage).parts[TIER_ACTIVATIONS].tier;
        int64_t limit = judged_tier_limit(&h->price_audit, judged_group(h, stage), tier),
                used = swaps && !strcmp(tier, swaps) ? own->in_flight * own->away : 0, layer = 0;
        for (int k = 0, priced_run = -1; k < x->layer_count; k++) {
            int run = judged_run(h, x->first_layer + k);
            if (run != priced_run)
                layer = tier_held_bytes(&h->price_audit, run, stage_tiering(h, stage), tier);
            used += layer, priced_run = run;
        }
        if (limit >= 0 && used > limit)
            REJECT(h, "tier", stage, "%lld bytes in tier '%s', %lld over the stage's %lld of it",
                   (long long)used, tier, (long long)(used - limit), (long long)limit);
    }
}

static void audit_stage_memory(struct audit *h, int stage, struct stage_bytes *own)
{
    const struct plan_stage *x = &h->plan->stages[stage];
    if (is_in_turn(h)) own->in_flight = (int)turned_in_flight(h, stage);
    own->parts[MEMORY_ACTIVATION] =
        (struct sum){own->in_flight * own->stash.value, own->in_flight * own->stash.terms};
    struct sum total = audit_parts(h, stage, "", &x->memory, own->parts);
    if (!h->collect)
        audit_claim(h, "memory", stage, "memory limit", "bytes", x->memory_limit_bytes,
                    (struct sum){memory_limit_of(audit_at(h, stage), judged_group(h, stage)), 1});
    audit_tiers(h, stage, own);
    if (h->request.virtual_stages > 1) return;
    audit_limit(h, stage, "", &x->memory, total);
    if (stage == 0) h->verdict->memory_bytes = total.value;
}

// Activations are those of the rank's fullest moment, working memory is the largest of its
// stages'; the rest adds up.
static void audit_rank_memory(struct audit *h, int rank, const struct stage_bytes *stages,
                              struct sum activations)
{
    struct sum own[MEMORY_PARTS] = {0};
    for (int turn = 0; turn < h->request.virtual_stages; turn++) {
        const struct sum *parts = stages[schedule_stage_of(&h->request, rank, turn)].parts;
        for (int i = 0; i < MEMORY_PARTS; i++) {
            if (i == MEMORY_WORKING || i == MEMORY_ACTIVATION) continue;
            own[i].value += parts[i].value;
            own[i].terms += parts[i].terms;
        }
        if (parts[MEMORY_WORKING].value >= own[MEMORY_WORKING].value)
            own[MEMORY_WORKING] = parts[MEMORY_WORKING];
    }
    own[MEMORY_ACTIVATION] = activations;
    const char *whose = arena_print(h->arena, "rank %d: ", rank);
    int first = schedule_stage_of(&h->request, rank, 0);
    struct sum total = audit_parts(h, first, whose, &h->plan->ranks[rank].memory, own);
    audit_limit(h, first, whose, &h->plan->ranks[rank].memory, total);
    if (rank == 0) h->verdict->memory_bytes = total.value;
}

void audit_memory(struct audit *h)
{
    int count = h->plan->stage_count;
    struct stage_bytes *stages = TAKE(h->arena, count, struct stage_bytes);
    struct sum *most = TAKE(h->arena, h->request.rank_count, struct sum);
    bool *known = TAKE(h->arena, count, bool);
    for (int s = 0; s < count; s++) {
        // The message before a stage is known only if the previous stage ends where this one
        // begins.
        known[s] = h->sound[s] && (s == 0 || h->plan->stages[s].first_layer > 0);
        if (known[s]) add_stage(&stages[s], h, s);
    }
    for (int i = 0; i < h->schedule.stream_count; i++) {
        const struct stream *stream = &h->schedule.streams[i];
        if (stream->kind == STREAM_COMPUTE) walk_stream(h, stream, stages, &most[stream->rank]);
    }
    for (int s = 0; s < count; s++)
        if (known[s]) audit_stage_memory(h, s, &stages[s]);
    for (int rank = 0; rank < h->request.rank_count && h->request.virtual_stages > 1; rank++) {
        bool all = true;
        for (int turn = 0; turn < h->request.virtual_stages; turn++)
            all = all && known[schedule_stage_of(&h->request, rank, turn)];
        if (all) audit_rank_memory(h, rank, stages, most[rank]);
    }
}
