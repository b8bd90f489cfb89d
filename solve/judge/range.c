// The uncertainty of the plan's time due to the costs: the decision is priced and replayed with
// one group of costs after another at each end of its intervals. The groups' errors are
// independent factors: the variances of their logarithms add, together with that of what the
// formulas leave open. What a trainer takes over its kernels was found with these very kernels, so
// of its doubt and of theirs only one is there, the greater.

#include "data/inputs/cost_keys.h"
#include "solve/judge/internal.h"

// A copy of the plan with its own room for prices.
static struct plan copy_of(const struct plan *plan, struct arena *arena)
{
    struct plan copy = *plan;
    size_t count = (size_t)plan->stage_count, slices = (size_t)plan->layout.slice_count;
    copy.stages = TAKE_COPY(arena, plan->stages, count);
    for (int s = 0; s < plan->stage_count && slices; s++)
        copy.stages[s].slices = TAKE_COPY(arena, plan->stages[s].slices, slices);
    return copy;
}

static int64_t time_at(const struct audit *h, const struct costs *costs, int64_t claimed_ns)
{
    struct verdict unused = {0};
    struct plan copy = copy_of(h->plan, h->arena);
    struct audit x = *h;
    x.verdict = &unused;
    x.judged.costs = *costs;
    x.price_audit = price_audit_over(&x.judged, &h->price_audit);
    judge_other_layers(&x);
    x.plan = &copy;
    x.collect = true;
    audit_prices(&x);
    copy.embedding_sync_ns = x.embedding_sync_ns;
    copy.iteration_ns = claimed_ns;
    return judged_time(&h->schedule, &copy, h->arena);
}

// By which factor this end of the group's interval moves the time, in that direction: at least 1.
static long double moved_by(struct audit *h, enum cost_group group, enum cost_end end)
{
    struct arena_mark mark = arena_set_mark(h->arena);
    struct error unfit = {OK, ""};
    struct costs costs = costs_copy(&h->judged.costs, h->arena);
    int64_t before = h->plan->iteration_ns, after = before;
    if (costs_move_to(&costs, group, end)) {
        if (costs_check(&costs, &unfit) == OK) after = time_at(h, &costs, before);
        else REJECT(h, "range", -1, "stated, but of costs at an end %s", unfit.text);
    }
    arena_reset(h->arena, mark);
    long double factor = end == COSTS_SLOW ? (long double)after / (long double)before
                                           : (long double)before / (long double)after;
    return factor > 1 ? factor : 1;
}

// Whether runs have shown what the trainer takes over its kernels, on each GPU that has costs: what
// is wrong with the kernels is then in its factor, and what differs from run to run in the spread.
static bool runs_showed_factor(const struct problem *p)
{
    const struct job *job = &p->job;
    if (p->costs.iteration_spread.origin != ORIGIN_FITTED) return false;
    for (int g = 0; g < p->cluster.group_count; g++) {
        const struct gpu_costs *gpu = costs_find_gpu(&p->costs, p->cluster.groups[g].gpu);
        if (!gpu) continue;
        const struct estimate *factor = &gpu->megatron_step_factor;
        if (job->trainer == TRAINER_DEEPSPEED) factor = &gpu->deepspeed_step_factor;
        if (job->trainer == TRAINER_OTHER && gpu->other_step_factor.value > 0)
            factor = &gpu->other_step_factor;
        if ((job->layout.zero == 3 || job->trainer == TRAINER_TORCHTITAN) &&
            gpu->sharded_step_factor.value > 0)
            factor = &gpu->sharded_step_factor;
        if (factor->origin != ORIGIN_FITTED) return false;
    }
    return p->costs.iteration_spread.value > 0;
}

// What is not known of mixtures beside the numbers of costs that no run was seen of: the squared
// logarithm of a factor.
static long double square_of_mixtures(const struct problem *p)
{
    bool mixture = false;
    for (int i = 0; i < p->model.run_count; i++) mixture |= p->model.runs[i].kind == LAYER_MOE;
    const struct estimate *spread = &p->costs.iteration_spread;
    return mixture && spread->value > 0 && spread->origin == ORIGIN_ASSUMED ? 0.205L * 0.205L : 0;
}

// The two sides sum and round in different orders; a nanosecond does not count as a difference.
// Beyond 2^53 nanoseconds neither side has single ones.
static void audit_end(struct audit *h, const char *what, enum cost_end end, int64_t claimed_ns)
{
    long double stated = (long double)h->plan->iteration_ns, doubts[COST_GROUPS] = {0}, sum = 0,
                // A spread of 1 is a factor of 2: half the time, or double.
        left = logl(1 + (long double)h->judged.costs.iteration_spread.value);
    for (int group = COST_GROUPS; group-- > 0 && stated > 0;) {
        long double doubt = logl(moved_by(h, (enum cost_group)group, end));
        doubts[group] = doubt * doubt;
        sum += doubts[group];
    }
    long double trainer = doubts[COSTS_OF_TRAINER], kernels = doubts[COSTS_OF_PRODUCTS] +
                                                              doubts[COSTS_OF_ATTENTION] +
                                                              doubts[COSTS_OF_MEMORY];
    sum -= trainer < kernels && !runs_showed_factor(&h->judged) ? trainer : kernels;
    // Four in five times are inside 0.75 of what holds nine in ten or more.
    long double all =
                    expl(sqrtl(0.75L * 0.75L * sum + left * left + square_of_mixtures(&h->judged))),
                own = end == COSTS_SLOW ? stated * all : stated / all, slack = 1 + own * 0x1p-50L;
    h->verdict->terms_checked++;
    if (!(fabsl((long double)claimed_ns - roundl(own)) <= slack))
        REJECT(h, "range", -1, "%s: claimed %lld ns, the judge finds %.0Lf (%+.0Lf)", what,
               (long long)claimed_ns, roundl(own), (long double)claimed_ns - roundl(own));
}

void audit_range(struct audit *h)
{
    const struct plan *p = h->plan;
    bool sound = true;
    for (int s = 0; s < p->stage_count; s++) sound = sound && h->sound[s];
    if (!sound || (!p->iteration_low_ns && !p->iteration_high_ns)) {
        if (p->runner_up_inside)
            REJECT(h, "range", -1,
                   "runner_up_inside is true, of a range that the plan does not state");
        return;
    }
    audit_end(h, "cost uncertainty, fast end", COSTS_FAST, p->iteration_low_ns);
    audit_end(h, "cost uncertainty, slow end", COSTS_SLOW, p->iteration_high_ns);
    bool inside = p->runner_up_ns > 0 && p->runner_up_ns >= p->iteration_low_ns &&
                  p->runner_up_ns <= p->iteration_high_ns;
    if (inside != p->runner_up_inside)
        REJECT(h, "range", -1,
               "runner_up_inside: the runner-up's %lld ns are stated to be %s of %lld to %lld ns",
               (long long)p->runner_up_ns, p->runner_up_inside ? "inside" : "outside",
               (long long)p->iteration_low_ns, (long long)p->iteration_high_ns);
}
