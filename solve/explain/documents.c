// The run as documents: what plan, solve and compare read.
#include "solve/explain/internal.h"

// Every stage holds exactly the layers that it has in the run, recomputed as there: alone these
// rules leave one plan, and a job of another layout can take them over.
static void set_rules(struct job *j, const struct plan *plan, struct arena *arena)
{
    j->rules = TAKE(arena, plan->stage_count, struct rule), j->rule_count = 0;
    for (int s = 0; s < plan->stage_count; s++) {
        const struct plan_stage *x = &plan->stages[s];
        struct rule *r = &j->rules[j->rule_count++];
        *r = rule_empty;
        r->action = RULE_REQUIRE, r->stage = s;
        r->layers_min = r->layers_max = x->layer_count;
        r->recompute_stated = true;
        r->recompute[x->recompute] = true;
    }
}

enum status explained_save(struct explained *x, const char *folder, struct error *err)
{
    static const bool written[PIECE_COUNT] = {
        [PIECE_PROBLEM] = true, [PIECE_MODEL] = true, [PIECE_CLUSTER] = true, [PIECE_JOB] = true};
    struct arena *a = x->arena;
    struct problem *p = &x->problem;
    if (*x->own.reason)
        return refuse(err, "%s: cannot be predicted: %s", x->log.path, x->own.reason);
    if (x->lone_stages)
        return refuse(err,
                      "%s: has no plan: layers that predict further tokens have a stage of their "
                      "own, and plans have them where the head is",
                      x->log.path);
    if (!x->plan.stage_count)
        return refuse(err, "%s: has no plan: %s", x->log.path, x->plan_missing);
    TRY(file_make_folder(folder, err));
    for (int i = 0; i < PIECE_COUNT; i++)
        if (written[i])
            *problem_piece_of(p, i) =
                (struct document){.path = arena_print(a, "%s/%s.json", folder, problem_roles[i])};
    p->name = p->job.name = p->model.name = p->cluster.name = "run";
    // A run that ran fitted, whatever the usual share of a GPU that plans may fill.
    if (!placement_fits(&x->plan)) p->job.memory_fraction = 1;
    set_rules(&p->job, &x->plan, a);
    TRY(problem_write(p, written, "; expected another -o for another log", a, err));
    TRY(problem_load(p, p->document.path, a, err));
    TRY(placement_plan(&x->plan, p, &x->placement, a, err));
    const char *path = arena_print(a, "%s/run.json", folder);
    problem_made(&x->plan.document, p, path, a);
    return plan_save(&x->plan, path, a, err);
}
