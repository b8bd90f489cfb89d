// Stages with widths of their own, on small random priced problems: one or two node groups whose
// devices several widths share, bytes by width, memory tight. The plan equals the best of all plans
// to the nanosecond by enumeration, whichever way it is searched for, for the iteration time and
// for the greatest load, and each proof is certified; a false one is refused.
//
//   test_widths [PROBLEMS] [SEED]      make test runs 250
#include "data/kinds/schedules.h"
#include "formulate/graph/objective.h"
#include "solve/boxes/search.h"
#include "solve/layout/solve.h"
#include "tests/support/check.h"
#include "tests/support/forge.h"
#include "tests/support/oracle/oracle.h"
#include "tests/support/random_priced.h"
#include "tests/support/trials/certified.h"
#include "tests/support/trials/check_trials.h"
#include "tests/support/trials/ways.h"
#include "solve/checker/proof.h"

enum { PLANS_MAX = 20000, DEFAULT_PROBLEMS = 250 };

static int problem_count = DEFAULT_PROBLEMS;
static uint64_t first_seed = 1;
static struct {
    int feasible, infeasible, mixed, loads, periodic, certified, by_group, dearer, of_group, forged,
        two;
} seen;

// ---- certificates of one width for each node group, forged

enum forgery {
    LACKS_ONE,
    HAS_ONE_TWICE,
    HAS_ONE_IN_PLACE,
    IN_ANOTHER_ORDER,
    CLAIMS_MORE,
    CLAIMS_NONE,
    EACH_NONE,
    OF_ALL,
    FORGERIES
};

// false: it has nothing to forge so.
static bool forge(cJSON *proof, enum forgery how, bool has_plan)
{
    cJSON *all = get(proof, "combinations");
    int last = cJSON_GetArraySize(all) - 1;
    if (how == LACKS_ONE) cJSON_DeleteItemFromArray(all, last);
    if (how == HAS_ONE_TWICE)
        cJSON_AddItemToArray(all, cJSON_Duplicate(cJSON_GetArrayItem(all, last), true));
    if (how == HAS_ONE_IN_PLACE && last)
        cJSON_ReplaceItemInArray(all, 0, cJSON_Duplicate(cJSON_GetArrayItem(all, last), true));
    if (how == IN_ANOTHER_ORDER && last)
        cJSON_AddItemToArray(all, cJSON_DetachItemFromArray(all, 0));
    if (how == CLAIMS_MORE || how == CLAIMS_NONE) {
        drop(proof, "incumbent"), drop(proof, "iteration_ns"), drop(proof, "objective_ns");
        if (how == CLAIMS_MORE && has_plan)
            set_number(proof, "bound_ns", get_number(proof, "bound_ns") + 1);
        else drop(proof, "bound_ns"), set(proof, "infeasible", cJSON_CreateTrue());
    }
    for (cJSON *one = all->child; one && how == EACH_NONE; one = one->next)
        set(one, "infeasible", cJSON_CreateTrue());
    if (how == OF_ALL) {
        set(proof, "paths", cJSON_Duplicate(get(cJSON_GetArrayItem(all, 0), "paths"), true));
        set(proof, "boxes", cJSON_Duplicate(get(cJSON_GetArrayItem(all, 0), "boxes"), true));
        drop(proof, "combinations");
    }
    if (how == EACH_NONE) return has_plan;
    return last || how == LACKS_ONE || how == HAS_ONE_TWICE || how > IN_ANOTHER_ORDER;
}

// One of each combination: the product of what node groups have.
static int combinations_of(const struct priced *p)
{
    int all = 1;
    for (int g = 0; g < p->group_count; g++) {
        int widths = 0;
        bool first = true;
        for (int k = 0; k < p->group_count; k++) {
            if (strcmp(p->groups[k].node_group, p->groups[g].node_group) != 0) continue;
            first = first && k >= g;
            widths += !p->groups[k].excluded;
        }
        if (first && widths) all *= widths;
    }
    return all;
}

static void refuse_forged(const struct priced *p, const char *text, bool has_plan, uint64_t seed)
{
    const struct check_text priced = check_trial_save(p, "priced.json", &own_arena);
    for (enum forgery how = 0; how < FORGERIES; how++) {
        struct check_result audited = {.accepted = false};
        cJSON *root = cJSON_Parse(text);
        assert_int_equal(cJSON_GetArraySize(get(get(root, "proof"), "combinations")),
                         combinations_of(p));
        if ((has_plan || how < CLAIMS_MORE) && forge(get(root, "proof"), how, has_plan)) {
            char *forged = cJSON_PrintUnformatted(root);
            const struct check_text file = {"forged.json", forged, strlen(forged)};
            struct error why = {OK, ""};
            if (check_certificate(&audited, &file, &priced, CHECK_WORK_DEFAULT, &own_arena, &why) ==
                    OK &&
                audited.accepted)
                fail_msg("seed %d: forgery %d is accepted", (int)seed, how);
            cJSON_free(forged);
            seen.forged++;
        }
        cJSON_Delete(root);
    }
}

// A plan that has two widths on a node group, with what it takes.
static void refuse_two_widths(const struct priced *p, const char *text, const struct oracle *e,
                              uint64_t seed)
{
    const struct check_text priced = check_trial_save(p, "priced.json", &own_arena);
    cJSON *root = cJSON_Parse(text), *proof = get(root, "proof");
    const char *value = p->objective == OBJECTIVE_MAX_LOAD ? "objective_ns" : "iteration_ns";
    struct check_trial t = {.priced = *p, .best = e->best, .seed = seed};
    t.text = priced;
    t.priced.width_per_group = false;
    struct check_text of = check_trial_claim(&t, false, e->best_ns, 0, &own_arena);
    cJSON *other = cJSON_Parse(of.text);
    set(proof, "incumbent", cJSON_Duplicate(get(get(other, "proof"), "incumbent"), true));
    set_number(proof, value, (double)e->best_ns);
    set_number(proof, "bound_ns", (double)e->best_ns);
    char *forged = cJSON_PrintUnformatted(root);
    const struct check_text file = {"forged.json", forged, strlen(forged)};
    check_trial_refused("two widths", &file, &priced, "two widths of one node group", true,
                        &own_arena);
    cJSON_free(forged), cJSON_Delete(root), cJSON_Delete(other);
    seen.two++;
}

// of_stages: of the problem in which each stage has its own width.
static void check_way(const struct priced *p, const struct oracle *e, enum way way, uint64_t seed,
                      const struct oracle *of_stages)
{
    struct error err = {OK, ""};
    struct arena_mark mark = arena_set_mark(&own_arena);
    struct solve_result result = way_solve(p, way, seed, 1, &own_arena);
    way_expect(&result, p, e, way, seed);
    struct certified c;
    if (!certify_best(&c, p, &result, e->plans ? e->best_ns : INT64_MAX, &own_arena, &err))
        fail_msg("%s: %s", way_name(p, way, seed, &own_arena), err.text);
    seen.certified++;
    if (p->width_per_group) {
        refuse_forged(p, c.made.text, e->plans > 0, seed);
        if (e->plans && of_stages->best_ns < e->best_ns)
            refuse_two_widths(p, c.made.text, of_stages, seed);
        seen.of_group++;
    }
    arena_reset(&own_arena, mark);
}

static void draw_one(struct priced *p, uint64_t *state, struct arena *arena)
{
    int kind;
    do kind = (int)random_less(state, SCHEDULE_KIND_COUNT);
    while (schedule_kinds[kind].virtual_stages != 1);
    random_priced_of(p, kind, state, arena);
    priced_draw_widths(p, *state, arena);
    if (random_less(state, 3) == 0 && kind != SCHEDULE_ZB_H2) p->objective = OBJECTIVE_MAX_LOAD;
}

// Draws until the enumeration is small enough; of problems without a plan one in five.
static void draw(struct priced *p, struct schedule *schedule, struct oracle *e, uint64_t seed,
                 struct arena *arena)
{
    uint64_t state = seed;
    struct arena_mark mark = arena_set_mark(arena);
    for (;; arena_reset(arena, mark)) {
        draw_one(p, &state, arena);
        if (priced_check(p, &own_err) != OK) fail_msg("%s", own_err.text);
        if (oracle_size(p, PLANS_MAX, arena) > PLANS_MAX) continue;
        priced_schedule(schedule, p, arena);
        MUST(oracle_answer(e, p, schedule, arena, &own_err));
        if (e->plans || random_less(&state, 5) == 0) return;
    }
}

static bool has_two_widths(const struct priced *p, const struct oracle *e)
{
    for (int s = 1; s < p->stage_count; s++)
        if (e->best[s].group != e->best[0].group) return true;
    return false;
}

// The same problem where all stages on a node group have one width.
static void search_by_group(struct priced *p, const struct schedule *schedule,
                            const struct oracle *of_stages, uint64_t seed)
{
    struct oracle e;
    p->width_per_group = true;
    MUST(oracle_answer(&e, p, schedule, &own_arena, &own_err));
    check_way(p, &e, WAY_DEFAULT, seed, of_stages);
    if (seed % 3 == 0) check_way(p, &e, WAY_TREE_ALONE, seed, of_stages);
    if (seed % 9 == 0) check_way(p, &e, WAY_GLPK, seed, of_stages);
    seen.by_group++;
    seen.dearer += e.best_ns > of_stages->best_ns;
}

TEST(test_enumerated)
{
    for (uint64_t seed = first_seed; seed < first_seed + (uint64_t)problem_count; seed++) {
        struct priced p;
        struct schedule schedule;
        struct oracle e;
        struct arena_mark mark = arena_set_mark(&own_arena);
        draw(&p, &schedule, &e, 1000 * seed, &own_arena);
        check_way(&p, &e, WAY_DEFAULT, seed, NULL);
        check_way(&p, &e, WAY_TREE_ALONE, seed, NULL);
        if (seed % 3 == 0) check_way(&p, &e, WAY_GLPK, seed, NULL);
        seen.feasible += e.plans > 0;
        seen.infeasible += e.plans == 0;
        seen.mixed += e.plans > 0 && has_two_widths(&p, &e);
        seen.loads += p.objective == OBJECTIVE_MAX_LOAD;
        seen.periodic += !p.layout.barrier;
        search_by_group(&p, &schedule, &e, seed);
        arena_reset(&own_arena, mark);
    }
    print_message(
        "%d problems with a plan (%d with unlike stages), %d without; %d of loads, %d "
        "without a barrier; %d proofs certified; %d with one width for each node group, %d of "
        "them dearer, %d of their proofs certified, %d forgeries and %d plans of two widths "
        "refused\n",
        seen.feasible, seen.mixed, seen.infeasible, seen.loads, seen.periodic, seen.certified,
        seen.by_group, seen.dearer, seen.of_group, seen.forged, seen.two);
    assert_true(seen.feasible && seen.mixed && seen.infeasible && seen.loads && seen.periodic &&
                seen.dearer && seen.forged && seen.two);
}

// The planner's choices and the checker's are as many, with the same bytes: neither misses one.
TEST(test_choices)
{
    int64_t compared = 0;
    uint64_t state = first_seed;
    for (int i = 0; i < 8 * problem_count; i++) {
        struct check_trial t = {0};
        struct check_problem p;
        struct check_graph g;
        struct check_choices own;
        uint64_t work = CHECK_WORK_DEFAULT;
        struct arena_mark mark = arena_set_mark(&own_arena);
        draw_one(&t.priced, &state, &own_arena);
        priced_schedule(&t.schedule, &t.priced, &own_arena);
        t.text = check_trial_save(&t.priced, "priced.json", &own_arena);
        MUST(choices_build(&t.choices, &t.priced, &t.schedule, &own_arena, &own_err));
        MUST(check_read_problem(&p, &t.text, &own_arena, &own_err));
        MUST(check_build_graph(&g, &p, &own_arena));
        MUST(check_list_choices(&own, &g, &work, &own_arena));
        for (int s = 0; s < p.stages; s++) {
            int64_t planners = 0, checkers = 0;
            assert_int_equal(own.count[s], t.choices.stages[s].count);
            for (int k = 0; k < own.count[s]; k++) {
                const struct memory_parts *m = &t.choices.stages[s].items[k].memory;
                planners += memory_total(m) - m->constant_bytes - m->activation_bytes;
                checkers += own.items[s][k].working + own.items[s][k].resident;
            }
            assert_int_equal(planners, checkers);
            compared += own.count[s];
        }
        arena_reset(&own_arena, mark);
    }
    print_message("%lld choices are the checker's\n", (long long)compared);
}

// ---- labels: slots counted without a table

// A mixture of one path, at random prices, over a random part of the choices: the labels' least
// value is that of the table that counts all slots, or the target if that is less.
static void compare_labels(const struct choices *c, struct graph *g, uint64_t *state, int *below,
                           int *above)
{
    int symbols = graph_symbol_count(g), stages = c->priced->stage_count;
    struct dynamic *priced = dynamic_open(c, 0, &own_arena),
                   *counted = dynamic_open(c, 1 << 22, &own_arena);
    int64_t *durations = TAKE(&own_arena, symbols, int64_t),
            *coefficients = TAKE(&own_arena, symbols, int64_t),
            *prices = TAKE(&own_arena, dynamic_resource_count(priced), int64_t);
    int *path = TAKE(&own_arena, path_size(symbols), int), *chosen = TAKE(&own_arena, stages, int);
    int64_t **through = TAKE(&own_arena, stages, int64_t *);
    bool **allowed = TAKE(&own_arena, stages, bool *);
    if (!dynamic_has_labels(priced)) return;
    for (int r = 0; r < c->priced->group_count; r++) {
        prices[r] = (int64_t)random_less(state, 2) * (int64_t)random_less(state, 1 << 30);
        if (dynamic_resource_limit(counted, r) < INT64_MAX) return; // too many for the table
    }
    for (int k = 0; k < symbols; k++) durations[k] = (int64_t)random_less(state, 1000);
    graph_longest(g, durations, path);
    for (int k = 0; k < symbols; k++)
        coefficients[k] = ((int64_t)1 << WEIGHT_BITS) / path_laps(path, symbols) * path[k];
    for (int s = 0; s < stages; s++) {
        through[s] = TAKE(&own_arena, c->stages[s].count, int64_t);
        allowed[s] = TAKE(&own_arena, c->stages[s].count, bool);
        for (int i = 0; i < c->stages[s].count; i++) allowed[s][i] = random_less(state, 8) > 0;
    }
    struct dynamic_box box = {.coefficients = coefficients, .prices = prices, .allowed = allowed};
    struct dynamic_answer table = {0}, relaxed = {.through_ns = through};
    dynamic_solve(counted, &box, &table);
    dynamic_solve(priced, &box, &relaxed);
    if (relaxed.bound_ns == DYNAMIC_NOTHING) return;
    for (int k = 0; k < 8; k++) {
        // From slots one by one to one unit for all of them.
        const struct label_rooms *rooms =
            dynamic_label_rooms(priced, &box, (int64_t)1 << (k < 4 ? 22 : 2 * k - 4), &own_arena);
        assert_true(dynamic_rooms_bound(rooms) <= table.bound_ns);
        int64_t least = table.bound_ns == DYNAMIC_NOTHING ? 2 * relaxed.bound_ns : table.bound_ns;
        int64_t target = 1 + least - least / 8;
        target += (int64_t)random_less(state, least / 4 + 2);
        int64_t value = dynamic_solve_labels(priced, &box, rooms, target, chosen, &own_arena);
        assert_int_equal(value, table.bound_ns < target ? table.bound_ns : target);
        for (int r = 0; r < c->priced->group_count && value < target; r++)
            assert_true(dynamic_resource_use(priced, r, chosen) <= c->priced->groups[r].slots ||
                        dynamic_resource_limit(priced, r) == INT64_MAX);
        ++*(value < target ? below : above);
    }
}

// A search whose tables count no slots ends at the same plan, and its records hold.
static void search_by_labels(const struct choices *c, struct graph *g, const struct oracle *e,
                             uint64_t seed)
{
    struct box_search_settings settings = {.target_ns = INT64_MAX,
                                           .boxes_max = 100000,
                                           .labels = true,
                                           .uncounted = true,
                                           .recheck = true};
    struct box_search_result r;
    if (seed % 2 && e->plans) settings.target_ns = e->best_ns + (int64_t)(seed % 5);
    box_search(&r, c, g, &settings, &own_arena);
    assert_true(r.finished && r.bad == 0);
    assert_int_equal(r.best_ns, e->plans ? e->best_ns : INT64_MAX);
    assert_true(!e->plans || r.bound_ns == e->best_ns);
}

TEST(test_labels)
{
    int below = 0, above = 0, searched = 0;
    for (uint64_t seed = first_seed; seed < first_seed + (uint64_t)problem_count; seed++) {
        struct priced p;
        struct schedule schedule;
        struct oracle e;
        struct choices c;
        struct graph *g;
        const char *why;
        uint64_t state = seed;
        struct arena_mark mark = arena_set_mark(&own_arena);
        draw(&p, &schedule, &e, 1000 * seed, &own_arena);
        MUST(choices_build(&c, &p, &schedule, &own_arena, &own_err));
        MUST(objective_graph(&g, &p, &schedule, &own_arena, &own_err));
        if (choices_hopeless_stage(&c, &why) < 0) {
            compare_labels(&c, g, &state, &below, &above);
            if (p.objective != OBJECTIVE_MAX_LOAD) search_by_labels(&c, g, &e, seed), searched++;
        }
        arena_reset(&own_arena, mark);
    }
    print_message("%d values by labels, %d at the target; %d searches\n", below, above, searched);
    assert_true(below && above && searched);
}

// ---- false claims, with certificates made for them

static void expect_refused(const struct check_trial *t, const char *what, bool infeasible,
                           int64_t iteration_ns, int64_t bound_ns, const char *reason, int *count)
{
    struct check_text text = check_trial_claim(t, infeasible, iteration_ns, bound_ns, &own_arena);
    if (!text.text) return; // too many boxes
    check_trial_refused(what, &text, &t->text, reason, true, &own_arena);
    ++*count;
}

// All stages where they take the most slots; false: there are enough for that.
static bool crowd(const struct priced *p, const struct oracle *e, struct plan_stage *stages)
{
    int widest = e->best[0].group;
    for (int g = 0; g < p->group_count; g++)
        if (!p->groups[g].excluded && p->groups[g].slots >= p->groups[g].seat_slots &&
            p->groups[g].seat_slots > p->groups[widest].seat_slots)
            widest = g;
    for (int s = 0; s < p->stage_count; s++) stages[s] = e->best[s], stages[s].group = widest;
    return p->stage_count * p->groups[widest].seat_slots > p->groups[widest].slots;
}

TEST(test_false_claims)
{
    int bounds = 0, none = 0, crowded = 0;
    for (uint64_t seed = first_seed; seed < first_seed + (uint64_t)problem_count / 2; seed++) {
        struct schedule schedule;
        struct oracle e;
        struct check_trial t = {.seed = seed};
        struct arena_mark mark = arena_set_mark(&own_arena);
        draw(&t.priced, &schedule, &e, 1000 * seed + 7, &own_arena);
        if (e.plans) {
            struct plan_stage *stages = TAKE(&own_arena, t.priced.stage_count, struct plan_stage);
            t.text = check_trial_save(&t.priced, "priced.json", &own_arena);
            t.best = e.best;
            expect_refused(&t, "a bound above the best", false, e.best_ns, e.best_ns + 1, "",
                           &bounds);
            expect_refused(&t, "no plan", true, -1, 0, "", &none);
            t.best = stages;
            if (crowd(&t.priced, &e, stages))
                expect_refused(&t, "more slots than there are", false, e.best_ns, e.best_ns,
                               "incumbent", &crowded);
        }
        arena_reset(&own_arena, mark);
    }
    print_message("refused: %d bounds, %d of no plan, %d with more slots\n", bounds, none, crowded);
    assert_true(bounds && none && crowded);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
