// The greatest load, where the job minimises it: the time that one micro-batch occupies each rank
// and each link direction, summed from the prices of the stages without the schedule's table. A
// rank is occupied by its stage's passes and, at either end of a message, by the blocking part and
// the overhead. The link part occupies the direction from rank to rank, and a delay occupies
// nothing. What an iteration does once is no load, nor is the drain's way of sending
// (docs/FORMULAS.md section 17).
#include "solve/judge/internal.h"

struct loads {
    int ranks;
    int64_t *rank_ns; // [rank]
    int64_t *link_ns; // [from * ranks + to]
};

static void add_to(int64_t *load, int64_t ns) { *load = judged_later(*load, ns); }

static void add_passes(struct loads *l, const struct plan *plan, int stage, int rank)
{
    const struct plan_stage *x = &plan->stages[stage];
    add_to(&l->rank_ns[rank], x->weight_ns);
    for (int i = 0; i < plan->layout.slice_count; i++) {
        add_to(&l->rank_ns[rank], x->slices[i].forward_ns);
        add_to(&l->rank_ns[rank], x->slices[i].backward_ns);
    }
}

static void add_message(struct loads *l, int from, int to, const int64_t *parts)
{
    const int ends[] = {from, to};
    for (int i = 0; i < 2; i++) {
        add_to(&l->rank_ns[ends[i]], parts[PART_BLOCKING]);
        add_to(&l->rank_ns[ends[i]], parts[PART_OVERHEAD]);
    }
    add_to(&l->link_ns[from * l->ranks + to], parts[PART_LINK]);
}

static void add_boundary(struct loads *l, const struct audit *h, const struct plan *plan,
                         int boundary)
{
    const struct plan_stage *x = &plan->stages[boundary];
    int from = schedule_rank_of(&h->request, boundary),
        to = schedule_rank_of(&h->request, boundary + 1);
    if (!sends_over(h, boundary)) return;
    for (int i = 0; i < plan->layout.slice_count; i++) {
        add_message(l, from, to, x->slices[i].send_forward_ns);
        if (sends_back_over(h, boundary)) add_message(l, to, from, x->slices[i].send_backward_ns);
    }
}

int64_t judged_load(const struct audit *h, const struct plan *plan)
{
    struct arena_mark mark = arena_set_mark(h->arena);
    int ranks = h->request.rank_count;
    struct loads l = {ranks, TAKE(h->arena, ranks, int64_t),
                      TAKE(h->arena, ranks * ranks, int64_t)};
    int64_t most = 0;
    for (int s = 0; s < plan->stage_count; s++) {
        add_passes(&l, plan, s, schedule_rank_of(&h->request, s));
        add_boundary(&l, h, plan, s);
    }
    for (int i = 0; i < ranks; i++) most = l.rank_ns[i] > most ? l.rank_ns[i] : most;
    for (int i = 0; i < ranks * ranks; i++) most = l.link_ns[i] > most ? l.link_ns[i] : most;
    arena_reset(h->arena, mark);
    return most;
}

void audit_load(struct audit *h, int64_t own_ns)
{
    if (h->problem->job.objective == OBJECTIVE_MAX_LOAD)
        audit_claim(h, "objective", -1, "greatest load", "ns", h->plan->objective_ns,
                    (struct sum){own_ns, 1});
}

// ---- the cost of a plan: its iteration time multiplied by the devices of its layout and their
// rental price. The iteration time is judged elsewhere.

void audit_cost(struct audit *h)
{
    const struct job *j = &h->problem->job;
    const struct layout *l = &h->plan->layout;
    long double devices = (long double)l->pipeline * l->data * l->context * l->tensor,
                seconds = (long double)h->plan->iteration_ns / 1e9L, rounding = 1 + 1e-12L;
    if (j->objective == OBJECTIVE_COST) {
        long double own = devices * (long double)h->plan->iteration_ns,
                    claimed = (long double)h->plan->objective_ns;
        h->verdict->terms_checked++;
        if (claimed < own || claimed > own)
            REJECT(h, "objective", -1,
                   "claimed a cost of %lld ns of a device, the judge finds %.0Lf devices x %lld ns",
                   (long long)h->plan->objective_ns, devices, (long long)h->plan->iteration_ns);
    }
    if (j->iteration_limit_s > 0 && seconds > j->iteration_limit_s * rounding)
        REJECT(h, "limit", -1, "an iteration takes %.9Lf s, the job's limit is %.9g s", seconds,
               j->iteration_limit_s);
    if (j->price_limit <= 0) return;
    long double hour = h->problem->cluster.groups[0].gpu_hour_price,
                tokens = (long double)j->sequence * j->global_batch,
                million = hour * devices * seconds / 3600 / tokens * 1e6L;
    if (million > j->price_limit * rounding)
        REJECT(h, "limit", -1, "a million tokens cost %.9Lg, the job's limit is %.9g", million,
               j->price_limit);
}
