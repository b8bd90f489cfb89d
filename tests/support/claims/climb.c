// Climbs to problems with larger claims, and shrinks those that show a violation.
#include "data/kinds/schedules.h"
#include "tests/support/claims/climb.h"

#include <sys/stat.h>
#include "tests/support/check.h"

int claims_climb(struct claims *c, struct problem *p, struct space_truth *t, int steps,
                 int64_t plans_most, struct random *rng, struct arena *arena)
{
    int judged = 1;
    space_truth_find(t, p, plans_most, arena);
    double tightness = claims_judge(c, t);
    int64_t before = claims_violations(c);
    for (int i = 0; i < steps; i++) {
        struct arena_mark mark = arena_set_mark(arena);
        struct problem *next = TAKE(arena, 1, struct problem);
        struct space_truth own;
        claims_copy(next, p, arena);
        if (!claims_mutate(next, rng, arena)) {
            arena_reset(arena, mark);
            continue;
        }
        space_truth_find(&own, next, plans_most, arena);
        double reached = claims_judge(c, &own);
        judged++;
        if (reached < tightness && claims_violations(c) == before) {
            arena_reset(arena, mark);
            continue;
        }
        *p = *next, *t = own, tightness = reached;
        t->problem = p;
        if (claims_violations(c) > before) break;
    }
    return judged;
}

// ---- the least memory

static void give_memory(struct problem *p, int64_t bytes)
{
    for (int g = 0; g < p->cluster.group_count; g++) p->cluster.groups[g].memory_bytes = bytes;
}

static int64_t most_memory(const struct problem *p)
{
    int64_t most = 0;
    for (int g = 0; g < p->cluster.group_count; g++)
        if (p->cluster.groups[g].memory_bytes > most) most = p->cluster.groups[g].memory_bytes;
    return most;
}

static int64_t between(int64_t low, int64_t high)
{
    if (high / 4 <= low) return low + (high - low) / 2;
    return (int64_t)sqrt((double)(low + 1) * (double)high);
}

int claims_squeeze(struct claims *c, struct problem *p, struct space_truth *t, int64_t plans_most,
                   struct arena *arena)
{
    int judged = 0;
    int64_t before = claims_violations(c), low = 0, high = most_memory(p);
    while (high - low > high / 128 + 1) {
        struct arena_mark mark = arena_set_mark(arena);
        struct problem *next = TAKE(arena, 1, struct problem);
        struct space_truth own;
        int64_t bytes = between(low, high);
        claims_copy(next, p, arena);
        give_memory(next, bytes);
        space_truth_find(&own, next, plans_most, arena);
        claims_judge(c, &own);
        judged++;
        if (claims_violations(c) > before) {
            *p = *next, *t = own;
            t->problem = p;
            break;
        }
        *(own.value_ns == INT64_MAX ? &low : &high) = bytes;
        arena_reset(arena, mark);
    }
    return judged;
}

// ---- the smallest

struct looking {
    enum claim_kind kind;
    bool found;
    struct violation violation;
};

static void look(void *argument, const struct violation *v)
{
    struct looking *l = argument;
    if (v->kind != l->kind || l->found || v->truth_ns < 1) return;
    l->found = true;
    l->violation = *v;
}

static bool still_violates(const struct problem *p, struct space_truth *t, struct violation *v,
                           int64_t plans_most, struct arena *arena)
{
    struct looking l = {.kind = v->kind};
    struct claims c = {.found = look, .argument = &l};
    space_truth_find(t, p, plans_most, arena);
    claims_judge(&c, t);
    if (l.found) *v = l.violation;
    return l.found;
}

void claims_reduce(struct problem *p, struct space_truth *t, struct violation *v,
                   int64_t plans_most, struct arena *arena)
{
    bool progress = true;
    for (int round = 0; round < 6 && progress; round++) {
        bool more = true;
        progress = false;
        for (int step = 0; more; step++) {
            struct arena_mark mark = arena_set_mark(arena);
            struct problem *next = TAKE(arena, 1, struct problem);
            struct space_truth own;
            claims_copy(next, p, arena);
            if (!claims_simplify(next, step, &more, arena) ||
                !still_violates(next, &own, v, plans_most, arena)) {
                arena_reset(arena, mark);
                continue;
            }
            *p = *next, *t = own, progress = true;
            t->problem = p;
        }
    }
    still_violates(p, t, v, plans_most, arena);
}

// ---- telling

static const char *runs_text(const struct priced *q, struct arena *arena)
{
    const char *text = "";
    for (int r = 0; r < q->run_count; r++) {
        const struct priced_run *x = &q->runs[r];
        text = arena_print(
            arena, "%s%s%d x (forward %lld backward %lld weight %lld step %lld sync %lld)", text,
            r ? ", " : "", x->count, (long long)x->forward_ns[0], (long long)x->backward_ns[0],
            (long long)x->weight_ns[0], (long long)x->optimizer_ns[0], (long long)x->sync_ns[0][0]);
    }
    return text;
}

static const char *ns_text(int64_t ns, struct arena *arena)
{
    return ns == INT64_MAX ? "no plan" : arena_print(arena, "%lld ns", (long long)ns);
}

const char *violation_text(const struct violation *v, const struct space_truth *t,
                           struct arena *arena)
{
    const char *text = arena_print(arena, "%s: claimed %s, true %s", claim_names[v->kind],
                                   ns_text(v->claim_ns, arena), ns_text(v->truth_ns, arena));
    if (v->layout < 0) return text;
    const struct layout_truth *l = &t->layouts[v->layout];
    const struct layout *x = &l->layout;
    text = arena_print(
        arena,
        "%s: layout %lld of %lld, %s, %d ranks x %d stages, data %d, %s, %s syncs, ZeRO %d%s", text,
        (long long)v->layout, (long long)t->count, schedule_names[x->schedule], x->pipeline,
        x->virtual_stages, x->data, x->barrier ? "barrier" : "no barrier",
        gradient_sync_names[x->gradient_sync], x->zero,
        x->local_loss_every ? ", local losses" : "");
    if (l->refused) return text;
    const int64_t *parts = l->priced.cuts[0].forward_ns;
    return arena_print(arena, "%s, %d micro-batches, %d groups, %s; sends %lld %lld %lld %lld",
                       text, l->priced.micro_batches, l->priced.group_count,
                       runs_text(&l->priced, arena), (long long)parts[PART_BLOCKING],
                       (long long)parts[PART_LINK], (long long)parts[PART_DELAY],
                       (long long)parts[PART_OVERHEAD]);
}

bool claims_save(const struct problem *p, const char *folder, struct arena *arena)
{
    struct error err = {OK, ""};
    struct problem q = *p;
    mkdir(folder, 0777);
    q.model.document.path = arena_print(arena, "%s/model.json", folder),
    q.cluster.document.path = arena_print(arena, "%s/cluster.json", folder);
    q.costs.document.path = arena_print(arena, "%s/costs.json", folder),
    q.job.document.path = arena_print(arena, "%s/job.json", folder);
    return model_save(&q.model, q.model.document.path, arena, &err) == OK &&
           cluster_save(&q.cluster, q.cluster.document.path, arena, &err) == OK &&
           costs_save(&q.costs, q.costs.document.path, arena, &err) == OK &&
           job_save(&q.job, q.job.document.path, arena, &err) == OK &&
           problem_save(&q, arena_print(arena, "%s/problem.json", folder), arena, &err) == OK;
}
