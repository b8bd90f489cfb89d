// The same problem in other words has the same optimum: groups in another order, a run as two of
// its kind, the layout as a space of one.
//
//   test_wording_laws [PROBLEMS] [SEED]
#include "formulate/price/price.h"
#include "tests/support/spaces.h"
#include "tests/support/trials/trial.h"
#include "tests/support/check.h"

enum { PROBLEMS_OF_CI = 300 };

static int problems = PROBLEMS_OF_CI;
static uint64_t first_seed = 1;
static const volatile int never = 0;

// The proven optimum, INT64_MAX where there is no plan.
static int64_t optimum_ns(const struct problem *problem, struct arena *arena)
{
    struct priced priced;
    struct solve_settings settings;
    struct solve_result result;
    if (problem->job.space.given) {
        struct layouts_result r;
        spaces_search(&r, problem, 1, 0, 0, NULL, arena);
        return r.solved.plan.stage_count ? spaces_value(&r.solved.plan) : INT64_MAX;
    }
    MUST(price_problem(&priced, problem, arena, &own_err));
    solve_defaults(&settings);
    settings.progress = 0;
    MUST(solve_run(&result, &priced, &settings, NULL, &never, arena, &own_err));
    if (result.plan.outcome == OUTCOME_INFEASIBLE) return INT64_MAX;
    assert_int_equal(result.plan.outcome, OUTCOME_OPTIMAL);
    return result.plan.iteration_ns;
}

static bool turn_groups(struct problem *p, struct random *rng, struct arena *arena)
{
    struct cluster *c = &p->cluster;
    int n = c->group_count, *place = TAKE(arena, n, int);
    struct node_group *groups = TAKE(arena, n, struct node_group);
    if (n < 2) return false;
    for (int g = 0; g < n; g++) place[g] = g;
    for (int g = n - 1; g > 0; g--) {
        int other = (int)random_between(rng, 0, g), kept = place[g];
        place[g] = place[other], place[other] = kept;
    }
    for (int g = 0; g < n; g++) groups[place[g]] = c->groups[g];
    struct group_link *links = TAKE(arena, c->link_count + 1, struct group_link);
    for (int i = 0; i < c->link_count; i++) {
        links[i] = c->links[i];
        links[i].from = place[links[i].from], links[i].to = place[links[i].to];
    }
    c->groups = groups, c->links = links;
    return true;
}

static bool may_split(const struct problem *p, int run)
{
    const struct layer_run *r = &p->model.runs[run];
    for (int i = 0; i < p->job.rule_count; i++)
        if (p->job.rules[i].run && !strcmp(p->job.rules[i].run, r->name)) return false;
    // Of weights or pools that layers share there is one for a run, or for all runs of a kind.
    return r->count > 1 && !r->shared_weights;
}

// The times of a run's layers are those of its second half, too.
static void name_times(struct costs *c, const char *run, const char *again, struct arena *arena)
{
    int count = c->layer_time_count;
    struct layer_time *times = TAKE(arena, 2 * count + 1, struct layer_time);
    for (int i = 0; i < count; i++) {
        times[i] = c->layer_times[i];
        if (strcmp(times[i].run, run)) continue;
        times[c->layer_time_count] = times[i];
        times[c->layer_time_count++].run = again;
    }
    c->layer_times = times;
}

static bool split_run(struct problem *p, struct random *rng, struct arena *arena)
{
    struct model *m = &p->model;
    int run = (int)random_between(rng, 0, m->run_count - 1), count = 0;
    struct layer_run *runs = TAKE(arena, m->run_count + 1, struct layer_run);
    if (!may_split(p, run)) return false;
    for (int r = 0; r < m->run_count; r++) {
        runs[count++] = m->runs[r];
        if (r != run) continue;
        int first = (int)random_between(rng, 1, m->runs[r].count - 1);
        runs[count - 1].count = first;
        runs[count] = m->runs[r];
        runs[count].name = arena_print(arena, "%s-again", m->runs[r].name);
        runs[count].count -= first;
        name_times(&p->costs, m->runs[r].name, runs[count++].name, arena);
    }
    m->runs = runs, m->run_count++;
    return true;
}

static bool space_of_one(struct problem *p, struct random *rng, struct arena *arena)
{
    (void)rng, (void)arena;
    p->job.space = (struct space){.given = true, .fewer_devices = true};
    return spaces_count(p) == 1;
}

static const struct wording {
    const char *name;
    bool (*say)(struct problem *p, struct random *rng, struct arena *arena);
} wordings[] = {{"groups in another order", turn_groups},
                {"a run as two", split_run},
                {"a space of one layout", space_of_one}};

static void draw(struct problem *p, uint64_t seed, struct arena *arena)
{
    struct random rng = {seed * 5 + 2};
    struct random_limits limits = random_limits_small();
    do random_problem(p, &rng, &limits, arena);
    while (p->job.space.given);
    vary_layout(p, &rng);
}

TEST(same_in_other_words)
{
    int tried[ARRAY_LENGTH(wordings)] = {0}, planned[ARRAY_LENGTH(wordings)] = {0};
    for (uint64_t seed = first_seed; seed < first_seed + (uint64_t)problems; seed++) {
        err = (struct error){OK, ""};
        struct problem p;
        struct random rng = {seed};
        struct arena_mark mark = arena_set_mark(arena);
        draw(&p, seed, arena);
        int64_t before = optimum_ns(&p, arena);
        for (size_t i = 0; i < ARRAY_LENGTH(wordings); i++) {
            struct problem other;
            draw(&other, seed, arena);
            if (!wordings[i].say(&other, &rng, arena) || problem_check(&other, &err) != OK)
                continue;
            int64_t after = optimum_ns(&other, arena);
            if (after != before)
                fail_msg("seed %llu: with %s the optimum is %lld, without %lld ns",
                         (unsigned long long)seed, wordings[i].name, (long long)after,
                         (long long)before);
            tried[i]++, planned[i] += before < INT64_MAX;
        }
        arena_reset(arena, mark);
    }
    for (size_t i = 0; i < ARRAY_LENGTH(wordings); i++) {
        printf("laws: %s: the same in %d problems, %d with a plan\n", wordings[i].name, tried[i],
               planned[i]);
        if (problems >= PROBLEMS_OF_CI) assert_true(planned[i] > problems / 20);
    }
}

ARGUMENT(problems)
ARGUMENT(first_seed)
