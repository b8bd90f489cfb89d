// Draws a problem of a kind until its plan shows it.
#include "data/kinds/schedules.h"
#include "tests/support/sweep/kinds.h"

#include <unistd.h>

#include "tests/support/draws/layouts.h"
#include "tests/support/placed.h"
#include "tests/support/spaces.h"
#include "tests/support/sweep/run.h"

#include "tests/support/check.h" // last: its macro `fail` hides data/base/status.h's

enum { TRIES = 400 };

// ---- what is drawn

static void draw_any(struct problem *p, struct random *rng, struct arena *arena)
{
    struct random_limits limits = random_limits_small();
    limits.layers_max = 6;
    limits.stages_max = 3;
    limits.groups_max = 2;
    limits.micro_batches_max = 4;
    random_problem(p, rng, &limits, arena);
}

static void draw_shape(struct problem *p, struct random *rng, struct arena *arena)
{
    struct random_limits limits = random_limits_small();
    limits.layers_max = 5;
    limits.stages_max = 2;
    limits.groups_max = 2;
    limits.flavour = FLAVOUR_SHAPE;
    random_problem(p, rng, &limits, arena);
}

static void draw_schedule(struct problem *p, struct random *rng, struct arena *arena)
{
    draw_any(p, rng, arena);
    random_layout(p, rng);
}

static void draw_grid(struct problem *p, struct random *rng, struct arena *arena)
{
    struct random_limits limits = random_limits_small();
    limits.layers_max = 5;
    limits.flavour = FLAVOUR_SHAPE;
    limits.grids = true;
    random_problem(p, rng, &limits, arena);
}

static void draw_experts(struct problem *p, struct random *rng, struct arena *arena)
{
    draw_shape(p, rng, arena);
    struct layer_run *r = &p->model.runs[1];
    r->kind = LAYER_MOE;
    r->experts = (struct expert_shape){.experts = 4, .top_k = 2, .ffn = p->model.shape.ffn};
    p->job.layout.expert = p->job.layout.data;
}

static void draw_prices(struct problem *p, struct random *rng, struct arena *arena)
{
    spaces_draw(p, rng, arena);
    for (int g = 0; g < p->cluster.group_count; g++)
        p->cluster.groups[g].gpu_hour_price = (double)random_between(rng, 1, 9) / 4;
    p->job.run_tokens = 1000000000;
    p->job.objective = OBJECTIVE_COST;
    p->job.iteration_limit_s = 1;
}

static void draw_load(struct problem *p, struct random *rng, struct arena *arena)
{
    draw_any(p, rng, arena);
    p->job.objective = OBJECTIVE_MAX_LOAD;
}

static void draw_budget(struct problem *p, struct random *rng, struct arena *arena)
{
    draw_any(p, rng, arena);
    p->job.budget.cost_max = 3;
    p->job.budget.stages_max = 1;
}

// ---- what shows it

static bool shows_any(const struct problem *p, const struct plan *plan)
{
    return !p->job.space.given && plan->stage_count > 1 && p->model.has_shape;
}

static bool shows_space(const struct problem *p, const struct plan *plan)
{
    return p->job.space.given && plan->layout.pipeline > 1;
}

static bool shows_nodes(const struct problem *p, const struct plan *plan)
{
    (void)p;
    return plan->placement && plan->placement->replica_count > 1;
}

static bool shows_compression(const struct problem *p, const struct plan *plan)
{
    bool boundary = false, gradient = false;
    (void)p;
    for (int s = 0; s < plan->stage_count; s++) {
        boundary = boundary || plan->stages[s].boundary_option;
        gradient = gradient || plan->gradient_options[plan->stages[s].gradient_option].form.amount;
    }
    return boundary || gradient;
}

static bool shows_slices(const struct problem *p, const struct plan *plan)
{
    (void)p;
    return plan->layout.slice_count > 1 && plan->layout.pipeline > 1;
}

static bool shows_swap(const struct problem *p, const struct plan *plan)
{
    (void)p;
    for (int s = 0; s < plan->stage_count; s++)
        if (plan->stages[s].recompute == RECOMPUTE_SWAP) return true;
    return false;
}

static bool shows_offload(const struct problem *p, const struct plan *plan)
{
    (void)p;
    for (int s = 0; s < plan->stage_count; s++)
        if (plan->gradient_options[plan->stages[s].gradient_option].tier_option) return true;
    return false;
}

static bool shows_groups(const struct problem *p, const struct plan *plan)
{
    (void)p;
    return plan->stage_count > 1 && plan->stages[0].group != plan->stages[1].group;
}

static bool shows_turns(const struct problem *p, const struct plan *plan)
{
    (void)p;
    return plan->layout.virtual_stages > 1;
}

static bool shows_split(const struct problem *p, const struct plan *plan)
{
    (void)p;
    return schedule_splits_backward(plan->layout.schedule) && plan->layout.virtual_stages == 1;
}

static bool shows_local(const struct problem *p, const struct plan *plan)
{
    (void)p;
    return plan->layout.local_loss_every > 0 && plan->layout.pipeline > 1 &&
           plan->layout.virtual_stages == 1;
}

static bool shows_grid(const struct problem *p, const struct plan *plan)
{
    (void)p;
    return layout_has_grid(&plan->layout) && plan->stage_count > 1;
}

static bool shows_experts(const struct problem *p, const struct plan *plan)
{
    (void)p;
    return plan->layout.expert > 1;
}

static bool shows_budget(const struct problem *p, const struct plan *plan)
{
    return plan->stage_count > 1 && p->job.rule_count > 0 && p->job.gradient_option_count > 0;
}

static bool shows_prices(const struct problem *p, const struct plan *plan)
{
    (void)p;
    return plan->objective == OBJECTIVE_COST && plan->stage_count > 0;
}

static bool shows_load(const struct problem *p, const struct plan *plan)
{
    (void)p;
    return plan->objective == OBJECTIVE_MAX_LOAD && plan->stage_count > 1;
}

const struct sweep_kind sweep_kinds[] = {
    {"layout", draw_shape, shows_any, 1},
    {"space", spaces_draw, shows_space, 3},
    {"nodes", placed_problem_random, shows_nodes, 1},
    {"compression", draw_any, shows_compression, 13},
    {"slices", spaces_draw_slices, shows_slices, 1},
    {"swap", draw_any, shows_swap, 7},
    {"offload", draw_any, shows_offload, 8},
    {"groups", draw_any, shows_groups, 15},
    {"turns", draw_schedule, shows_turns, 2},
    {"split", draw_schedule, shows_split, 14},
    {"local", draw_schedule, shows_local, 8},
    {"grid", draw_grid, shows_grid, 3},
    {"experts", draw_experts, shows_experts, 1},
    {"budget", draw_budget, shows_budget, 20},
    {"prices", draw_prices, shows_prices, 10},
    {"load", draw_load, shows_load, 5},
};
const int sweep_kind_count = ARRAY_LENGTH(sweep_kinds);

// ---- its documents

static void save_problem(struct problem *p, const char *folder, struct arena *arena)
{
    const char *at[5];
    static const char *const names[] = {"model", "cluster", "costs", "job", "problem"};
    for (int i = 0; i < 5; i++) at[i] = arena_print(arena, "%s/%s.json", folder, names[i]);
    MUST(model_save(&p->model, at[0], arena, &own_err));
    MUST(cluster_save(&p->cluster, at[1], arena, &own_err));
    MUST(costs_save(&p->costs, at[2], arena, &own_err));
    MUST(job_save(&p->job, at[3], arena, &own_err));
    p->model.document.path = at[0], p->cluster.document.path = at[1];
    p->costs.document.path = at[2], p->job.document.path = at[3];
    MUST(problem_save(p, at[4], arena, &own_err));
}

bool sweep_has(const char *folder, const char *name)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return !access(path, R_OK);
}

static void clear(const char *folder)
{
    static const char *const made[] = {"plan.json",    "priced.json",  "certificate.json",
                                       "verdict.json", "checked.json", "plan.layouts.json"};
    char path[300];
    for (size_t i = 0; i < ARRAY_LENGTH(made); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, made[i]);
        unlink(path);
    }
}

static void must(const char *folder, const char *line, struct arena *arena)
{
    struct answer a = run_command(folder, line, arena);
    if (a.exit_code) fail_msg("%s: %d %s%s", line, a.exit_code, a.out, a.err);
}

// false: the problem has no plan, or one that does not show its kind.
static bool solve(const struct sweep_kind *kind, struct problem *p, const char *folder,
                  struct arena *arena)
{
    struct plan plan;
    const char *line = "solve problem.json -o plan.json --quiet";
    line = arena_print(arena, "%s --certificate certificate.json%s", line,
                       p->job.space.given ? "" : " --priced priced.json");
    struct answer a = run_command(folder, line, arena);
    if (a.exit_code != 0) return false;
    MUST(plan_load(&plan, arena_print(arena, "%s/plan.json", folder), arena, &own_err));
    return kind->shows(p, &plan);
}

void sweep_prepare(const struct sweep_kind *kind, const char *folder, struct arena *arena)
{
    struct error err = {OK, ""};
    struct problem p;
    uint64_t seed = kind->first_seed - 1;
    do {
        struct random rng = {++seed};
        if (seed > kind->first_seed + TRIES) fail_msg("no problem of %s in %d", kind->name, TRIES);
        clear(folder);
        kind->draw(&p, &rng, arena);
        if (problem_check(&p, &err) != OK) continue;
        save_problem(&p, folder, arena);
    } while (problem_check(&p, &err) != OK || !solve(kind, &p, folder, arena));
    printf("%s: seed %llu\n", kind->name, (unsigned long long)seed);
    bool certified = sweep_has(folder, "certificate.json");
    if (sweep_has(folder, "priced.json") && certified && !p.cluster.places.node_count)
        must(folder, "check certificate.json priced.json -o checked.json", arena);
    must(folder,
         certified ? "verify plan.json --certificate certificate.json -o verdict.json"
                   : "verify plan.json -o verdict.json",
         arena);
}
