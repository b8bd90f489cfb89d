// What a plan states besides its decision, its prices and its time: whose plan it is, how its
// search ended, and the groups and options that it repeats, so that it can be read on its own.
#include <string.h>

#include "solve/judge/internal.h"

struct statement {
    struct verdict *verdict;
    const struct plan *plan;
    const struct problem *problem;
    struct arena *arena;
};

// ---- how the search ended

static void state_end(struct statement *s)
{
    const struct plan *p = s->plan;
    bool timed = p->objective == OBJECTIVE_ITERATION_TIME;
    if (strcmp(p->name, s->problem->name))
        REJECT(s, "name", -1, "name is \"%.60s\", the problem's is \"%.60s\"", p->name,
               s->problem->name);
    if (p->reason && p->outcome != OUTCOME_INFEASIBLE)
        REJECT(s, "outcome", -1, "reason says why there is no plan, but the outcome is %s",
               outcome_names[p->outcome]);
    if (timed && p->objective_ns)
        REJECT(s, "objective", -1,
               "objective_ns is %lld, but the iteration time was minimised, which is iteration_ns",
               (long long)p->objective_ns);
    if (!p->runner_up_ns && p->runner_up_inside)
        REJECT(s, "range", -1, "runner_up_inside is true, but there is no runner_up_ns");
    if (p->stage_count) return;
    if (p->iteration_ns || p->objective_ns)
        REJECT(s, "iteration", -1, "iteration_ns is %lld and objective_ns %lld without a plan",
               (long long)p->iteration_ns, (long long)p->objective_ns);
    if (p->iteration_low_ns || p->iteration_high_ns)
        REJECT(s, "range", -1, "iteration_low_ns and iteration_high_ns are stated without a plan");
    if (p->bound_ns)
        REJECT(s, "bound", -1, "bound_ns is %lld without a plan", (long long)p->bound_ns);
}

// ---- groups: all of the cluster's, in its order

static void state_groups(struct statement *s)
{
    const struct plan *p = s->plan;
    const struct cluster *c = &s->problem->cluster;
    if (job_has_widths(&s->problem->job) || p->widths) {
        state_widths(s->verdict, p, s->problem, s->arena);
        return;
    }
    if (p->group_count != c->group_count)
        REJECT(s, "groups", -1, "groups: the plan lists %d, the cluster has %d", p->group_count,
               c->group_count);
    for (int i = 0; i < p->group_count && i < c->group_count; i++) {
        if (strcmp(p->group_names[i], c->groups[i].name))
            REJECT(s, "groups", -1, "groups[%d].name is \"%.60s\", the cluster's is \"%.60s\"", i,
                   p->group_names[i], c->groups[i].name);
        if (strcmp(p->group_gpus[i], c->groups[i].gpu))
            REJECT(s, "groups", -1, "groups[%d].gpu is \"%.60s\", the cluster's is \"%.60s\"", i,
                   p->group_gpus[i], c->groups[i].gpu);
    }
}

// ---- options: none, then those of the job that its budget allows; each compression of a gradient
// sync with everything on the GPU, then with each of the job's shares and tier options

struct offered {
    const struct compression_option *items; // the job's
    int count;
    const struct job *tiers; // of a sync's options: the job that offers them; NULL
};

static bool is_offered(const struct statement *s, const struct compression_option *option)
{
    int least = s->problem->job.budget.rank_min;
    return option->form.method != COMPRESS_LOW_RANK || option->form.amount >= least;
}

static void state_option(struct statement *s, const char *list, int at,
                         const struct compression_option *found,
                         const struct compression_option *own)
{
    const struct {
        const char *key;
        int64_t found, own;
    } keys[] = {
        {"epilogue_only", found->epilogue_only, own->epilogue_only},
        {"quality_cost", found->quality_cost, own->quality_cost},
        {"error_feedback", !found->forgets, !own->forgets},
        {"across_passes", found->across_passes, own->across_passes},
    };
    if (found->form.method != own->form.method || found->form.amount != own->form.amount)
        REJECT(s, "options", -1, "%s[%d].%s: the plan's option is %s, the job's is %s", list, at,
               compression_keys[found->form.method], compression_text(found->form, s->arena),
               compression_text(own->form, s->arena));
    const char *names[][3] = {{"tier_option", found->tier_option, own->tier_option},
                              {"activations", found->activations, own->activations}};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        const char *theirs = names[i][1] ? names[i][1] : "", *ours = names[i][2] ? names[i][2] : "";
        if (strcmp(theirs, ours))
            REJECT(s, "options", -1, "%s[%d].%s is \"%s\", the job's is \"%s\"", list, at,
                   names[i][0], theirs, ours);
    }
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++)
        if (keys[i].found != keys[i].own)
            REJECT(s, "options", -1, "%s[%d].%s is %lld, the job's is %lld", list, at, keys[i].key,
                   (long long)keys[i].found, (long long)keys[i].own);
}

static void state_options(struct statement *s, const char *list,
                          const struct compression_option *found, int count,
                          const struct offered *offered)
{
    static const struct compression_option none = {.form = {COMPRESS_LOW_RANK, 0}};
    int at = 0;
    for (int i = -1; i < offered->count; i++) {
        if (i >= 0 && !is_offered(s, &offered->items[i])) continue;
        for (int way = 0; way < (offered->tiers ? job_tier_ways(offered->tiers) : 1); way++, at++) {
            struct compression_option own = i < 0 ? none : offered->items[i];
            if (offered->tiers) own = job_option(offered->tiers, own, way);
            if (at < count) state_option(s, list, at, &found[at], &own);
        }
    }
    if (at != count)
        REJECT(s, "options", -1, "%s: the plan lists %d, the job has %d", list, count, at);
}

void audit_statement(struct verdict *v, const struct plan *plan, const struct problem *problem,
                     struct arena *arena)
{
    struct statement s = {v, plan, problem, arena};
    const struct job *j = &problem->job;
    state_end(&s);
    if (!plan->stage_count && !plan->group_count) return; // there is nothing that would refer to it
    state_groups(&s);
    state_options(&s, "boundary_options", plan->boundary_options, plan->boundary_option_count,
                  &(struct offered){j->boundary_options, j->boundary_option_count, NULL});
    state_options(&s, "gradient_options", plan->gradient_options, plan->gradient_option_count,
                  &(struct offered){j->gradient_options, j->gradient_option_count, j});
}
