// The judge on features of some layouts: ranks with several stages, split backward, slices, local
// losses, no barrier, and layouts from a space. Each damage is reported under its own name.
#include "data/kinds/schedules.h"
#include "solve/judge/internal.h"
#include "tests/support/trials/trial.h"
#include "tests/support/check.h"

static int64_t off_by(struct trial *t, int64_t more)
{
    return random_chance(&t->rng, 50) ? more : -more;
}

// ---- prices

static bool weight_off(struct trial *t)
{
    struct plan_stage *x = &t->plan.stages[trial_stage(t)];
    x->weight_ns +=
        schedule_splits_backward(t->plan.layout.schedule) ? off_by(t, x->layer_count + 1) : 1;
    return true;
}

static struct plan_slice *some_slice(struct trial *t, int stage)
{
    int count = t->plan.layout.slice_count;
    return count > 1 ? &t->plan.stages[stage].slices[random_between(&t->rng, 1, count - 1)] : NULL;
}

static bool slice_off(struct trial *t)
{
    int stage = trial_stage(t);
    struct plan_slice *x = some_slice(t, stage);
    if (!x) return false;
    int64_t *prices[] = {&x->forward_ns, &x->backward_ns};
    *prices[random_between(&t->rng, 0, 1)] += off_by(t, 2 * t->plan.stages[stage].layer_count + 1);
    return true;
}

static bool slice_message_off(struct trial *t)
{
    struct plan_slice *x = some_slice(t, trial_stage(t));
    if (!x) return false;
    int64_t *prices[] = {x->send_forward_ns, x->send_backward_ns};
    prices[random_between(&t->rng, 0, 1)][random_between(&t->rng, 0, PART_COUNT - 1)] += 2;
    return true;
}

static int some_boundary(struct trial *t,
                         bool (*wanted)(const struct schedule_request *r, int boundary))
{
    struct schedule_request r = plan_request(&t->plan);
    for (int b = 0; b < t->plan.stage_count - 1; b++)
        if (wanted(&r, b)) return b;
    return -1;
}

static bool inner_message(struct trial *t)
{
    int boundary = some_boundary(t, schedule_is_inner);
    if (boundary < 0) return false;
    t->plan.stages[boundary].slices->send_forward_ns[PART_DELAY] = 1;
    return true;
}

static bool local_message(struct trial *t)
{
    int boundary = some_boundary(t, schedule_is_local);
    if (boundary < 0) return false;
    t->plan.stages[boundary].slices->send_backward_ns[PART_LINK] = 1;
    return true;
}

static bool stored_message(struct trial *t)
{
    int boundary = some_boundary(t, schedule_is_local);
    if (boundary < 0 || !t->plan.layout.stored_inputs) return false;
    t->plan.stages[boundary].slices->send_forward_ns[PART_LINK] = 1;
    return true;
}

static bool local_loss_left_out(struct trial *t)
{
    if (some_boundary(t, schedule_is_local) < 0) return false;
    struct local_loss *l = &t->problem.job.local_loss;
    if (random_chance(&t->rng, 50)) l->forward_s += 1e-6;
    else l->backward_s += 1e-6;
    return true;
}

static bool local_bytes_left_out(struct trial *t)
{
    t->problem.job.local_loss.bytes += 1000;
    return some_boundary(t, schedule_is_local) >= 0;
}

// A head with a thousand times the words.
static bool head_left_out(struct trial *t)
{
    if (some_boundary(t, schedule_is_local) < 0 || !t->problem.job.local_loss.head.vocabulary)
        return false;
    t->problem.job.local_loss.head.vocabulary *= 100000;
    return true;
}

// ---- memory of ranks

static bool rank_misreported(struct trial *t)
{
    if (!t->plan.ranks) return false;
    struct memory_parts *m =
        &t->plan.ranks[random_between(&t->rng, 0, t->plan.layout.pipeline - 1)].memory;
    int64_t *parts[] = {&m->weight_bytes,     &m->gradient_bytes, &m->optimizer_bytes,
                        &m->activation_bytes, &m->working_bytes,  &m->buffer_bytes,
                        &m->feedback_bytes,   &m->constant_bytes};
    // More than one byte for each rounded term; activations have one per layer and micro-batch in
    // flight.
    *parts[random_between(&t->rng, 0, (int64_t)ARRAY_LENGTH(parts) - 1)] +=
        off_by(t, (t->priced.layer_count + 8) *
                      (t->plan.micro_batches * t->plan.layout.virtual_stages + 1));
    return true;
}

// As if every stage were at its fullest at once.
static bool peaks_added(struct trial *t)
{
    if (!t->plan.ranks) return false;
    struct schedule_request r = plan_request(&t->plan);
    int64_t sum = 0;
    for (int turn = 0; turn < r.virtual_stages; turn++) {
        int stage = schedule_stage_of(&r, 0, turn);
        sum += t->plan.stages[stage].memory.activation_bytes;
    }
    int64_t before = t->plan.ranks[0].memory.activation_bytes;
    t->plan.ranks[0].memory.activation_bytes = sum;
    return sum > before + (t->priced.layer_count + 1) * t->plan.micro_batches * r.virtual_stages;
}

static bool constant_twice(struct trial *t)
{
    if (!t->plan.ranks) return false;
    struct plan_stage *second = &t->plan.stages[t->plan.layout.pipeline];
    second->memory.constant_bytes = t->plan.stages[0].memory.constant_bytes;
    return second->memory.constant_bytes > 0;
}

static bool ranks_missing(struct trial *t)
{
    bool had = t->plan.ranks != NULL;
    t->plan.ranks = NULL;
    return had;
}

static bool slices_missing(struct trial *t)
{
    t->plan.stages[trial_stage(t)].slices = NULL;
    return true;
}

// ---- decisions

static bool rank_apart(struct trial *t)
{
    if (!t->plan.ranks || t->plan.group_count < 2 || t->problem.job.rule_count) return false;
    struct plan_stage *x = &t->plan.stages[trial_stage(t)];
    x->group = (x->group + 1) % t->plan.group_count;
    return !t->priced.groups[x->group].excluded;
}

static bool compressed_within_rank(struct trial *t)
{
    int boundary =
        some_boundary(t, random_chance(&t->rng, 50) ? schedule_is_inner : schedule_is_local);
    if (boundary < 0 || t->plan.boundary_option_count < 2) return false;
    t->plan.stages[boundary + 1].boundary_option = 1;
    t->problem.job.budget = (struct quality_budget){-1, -1, -1, 0};
    return true;
}

// ---- time

// The time of one iteration by itself, where the next one may begin before.
static bool barrier_after_all(struct trial *t)
{
    int64_t alone = judged_replay(&t->schedule, &t->plan, &t->arena), period = t->plan.iteration_ns;
    t->plan.iteration_ns = alone;
    t->plan.bound_ns = 0;
    t->plan.outcome = OUTCOME_OPEN;
    return !t->plan.layout.barrier && alone != period;
}

// ---- layouts

static bool field_differs(struct trial *t)
{
    struct layout *l = &t->plan.layout;
    switch (random_between(&t->rng, 0, 6)) {
    case 0: l->virtual_stages++; break;
    case 1: l->offload_optimizer = !l->offload_optimizer; break;
    case 2: l->barrier = !l->barrier; break;
    case 3: l->local_loss_every++; break;
    case 4: l->expert++; break;
    case 5: l->slice_count++; break;
    default:
        if (l->slice_count == 1) return false;
        l->slices[0]++;
        l->slices[1]--;
    }
    return true;
}

// The job leaves the ZeRO stage and the schedule open, and itself states others.
static bool open_space(struct trial *t, int zero)
{
    struct job *j = &t->problem.job;
    j->space = (struct space){.given = true, .fewer_devices = true};
    j->space.axes[SPACE_ZERO].kind = AXIS_LIST;
    j->space.axes[SPACE_ZERO].values = TAKE(&t->arena, 1, int);
    j->space.axes[SPACE_ZERO].values[0] = zero;
    j->space.axes[SPACE_ZERO].count = 1;
    j->layout.zero = (t->plan.layout.zero + 1) % 4;
    return true;
}

static bool in_space(struct trial *t)
{
    open_space(t, t->plan.layout.zero);
    struct space_limits limits = problem_space_limits(&t->problem);
    return space_contains(&t->problem.job.space, &limits, &t->plan.layout, NULL);
}

static bool out_of_space(struct trial *t) { return open_space(t, (t->plan.layout.zero + 1) % 4); }

static const struct damage damages[] = {
    {"a layout out of the space", in_space, NULL, false},
    {"weight gradient off", weight_off, "price", false},
    {"a slice off", slice_off, "price", false},
    {"a slice's message off", slice_message_off, "price", false},
    {"a message within a rank", inner_message, "price", false},
    {"a gradient over a local boundary", local_message, "price", false},
    {"an activation before stored inputs", stored_message, "price", false},
    {"local loss without its time", local_loss_left_out, "price", true},
    {"a stage's own head too small", head_left_out, "price", false},
    {"local loss without its bytes", local_bytes_left_out, "memory", true},
    {"memory of a rank misreported", rank_misreported, "memory", true},
    {"peaks of a rank's stages added", peaks_added, "memory", true},
    {"constant memory with every stage", constant_twice, "memory", true},
    {"ranks missing", ranks_missing, "layout", true},
    {"slices missing", slices_missing, "layout", true},
    {"a rank on two groups", rank_apart, "count", false},
    {"compression of what is not sent", compressed_within_rank, "compression", false},
    {"the time with a barrier", barrier_after_all, "iteration", false},
    {"another layout", field_differs, "layout", true},
    {"a layout not in the space", out_of_space, "layout", true},
};

TEST(test_planted_faults) { trial_plant(damages, ARRAY_LENGTH(damages), true); }
