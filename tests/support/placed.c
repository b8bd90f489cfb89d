// Problems on named nodes, with spare nodes.
#include "tests/support/placed.h"

#include "solve/judge/verify.h"
#include "tests/support/draws/towers.h"

#include "tests/support/check.h" // last: its macro `fail` hides data/base/status.h's

struct cluster_change cluster_change_of(const char *words, struct arena *arena)
{
    enum { MOST = 9 };
    struct cluster_change x = {{TAKE(arena, MOST, const char *), 0},
                               {TAKE(arena, MOST, const char *), 0}};
    char *copy = arena_copy_text(arena, words), *rest = NULL;
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (*word == '-') x.without.items[x.without.count++] = word + 1;
        else x.degrade.items[x.degrade.count++] = word;
    }
    return x;
}

static void put_places(struct problem *p, struct random *rng, int slots, struct arena *arena)
{
    struct cluster *c = &p->cluster;
    struct places *x = &c->places;
    int left = NODES, unmeasured = random_chance(rng, 50) ? 0 : 40;
    *x = (struct places){.nodes = TAKE(arena, NODES, struct cluster_node),
                         .measured = TAKE(arena, NODES * NODES, struct link)};
    for (int g = 0; g < c->group_count; g++) {
        c->groups[g].nodes = g == c->group_count - 1
                                 ? left
                                 : (int)random_between(rng, 1, left - (c->group_count - 1 - g));
        left -= c->groups[g].nodes;
        c->groups[g].gpus_per_node = p->job.layout.tensor * p->job.layout.context * slots;
        for (int i = 0; i < c->groups[g].nodes; i++, x->node_count++)
            x->nodes[x->node_count] =
                (struct cluster_node){.name = arena_print(arena, "n%d", x->node_count),
                                      .group = g,
                                      .switches = TAKE(arena, 1, int)};
    }
    for (int i = 0; i < NODES * NODES; i++)
        if (i / NODES != i % NODES && !random_chance(rng, unmeasured))
            x->measured[i] = (struct link){(double)random_between(rng, 1, 40) * 1e8,
                                           (double)random_between(rng, 1, 5) * 1e-6};
}

void placed_problem_random(struct problem *p, struct random *rng, struct arena *arena)
{
    struct random_limits limits = random_limits_small();
    struct error err = {OK, ""};
    limits.layers_max = 7;
    limits.stages_max = 3;
    limits.groups_max = 2;
    limits.keeps = true;
    do {
        random_problem(p, rng, &limits, arena);
        if (rng->state % 2) random_small_tower(p, rng->state, arena);
        struct layout *l = &p->job.layout;
        l->zero = l->zero > 1 ? 1 : l->zero;
        l->barrier = true;
        int slots = random_chance(rng, 30) ? 2 : 1,
            data = random_chance(rng, 40) ? PLACES / l->pipeline
                                          : (int)random_between(rng, 1, PLACES / l->pipeline);
        p->job.global_batch = p->job.global_batch / l->data * data;
        l->data = data;
        put_places(p, rng, slots, arena);
        err = (struct error){OK, ""};
    } while (p->job.space.given || p->job.layout.pipeline < 2 || problem_check(p, &err) != OK ||
             problem_check_places(p, &err) != OK);
}

bool placed_solve_within(struct solve_result *r, const struct priced *priced,
                         struct placed_start *start, double gap, bool stopped, struct arena *arena)
{
    static const volatile int stop = 1;
    struct solve_settings settings;
    struct error err = {OK, ""};
    solve_defaults(&settings);
    settings.progress = 0;
    settings.gap = gap;
    enum status status =
        placed_solve(r, priced, &settings, start, stopped ? &stop : NULL, arena, &err);
    if (status != OK) fail_msg("%s", err.text);
    return r->plan.stage_count > 0;
}

bool placed_solve_from(struct solve_result *r, const struct priced *priced,
                       struct placed_start *start, bool stopped, struct arena *arena)
{
    return placed_solve_within(r, priced, start, 0, stopped, arena);
}

void assert_accepted(const struct plan *plan, const struct problem *problem, struct arena *arena)
{
    struct verdict verdict;
    MUST(verify_plan(&verdict, plan, problem, arena, &own_err));
    if (!verdict.accepted)
        fail_msg("%s: %s", verdict.violations[0].rule, verdict.violations[0].text);
}

bool placed_stands_on(const struct plan_placement *x, const char *name)
{
    for (int i = 0; i < x->replica_count * x->rank_count; i++)
        if (!strcmp(x->nodes[i], name)) return true;
    return false;
}
