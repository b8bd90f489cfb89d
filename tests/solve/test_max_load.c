// Objective max_load: the least greatest load equals that of all plans for every schedule, however
// it is searched for; loads are what a long stream of micro-batches occupies of the schedule's own
// streams; the judge audits nothing else.
//
//   test_max_load [PROBLEMS] [SEED]      PROBLEMS of each schedule; make test runs 30
#include "data/kinds/schedules.h"
#include "solve/report/report.h"
#include "solve/layout/solve.h"
#include "tests/support/check.h"
#include "tests/support/oracle/oracle.h"
#include "tests/support/random_priced.h"
#include "tests/support/requests.h"
#include "tests/support/textbook/textbook.h"
#include "tests/support/trials/trial.h"
#include "tests/support/trials/ways.h"

enum { PLANS_MAX = 20000 };

static int problem_count = 30;
static uint64_t first_seed = 1;

// ---- the loads of a plan's own claims, computed here

static int64_t held_ns(const int64_t *parts) { return parts[PART_BLOCKING] + parts[PART_OVERHEAD]; }

static int64_t load_of(const struct plan *plan, struct arena *arena)
{
    struct schedule_request r = plan_request(plan);
    int ranks = r.rank_count;
    int64_t *rank_ns = TAKE(arena, ranks, int64_t), *link_ns = TAKE(arena, ranks * ranks, int64_t),
            most = 0;
    for (int s = 0; s < plan->stage_count; s++) {
        const struct plan_stage *x = &plan->stages[s];
        int here = schedule_rank_of(&r, s),
            there = s + 1 < plan->stage_count ? schedule_rank_of(&r, s + 1) : here;
        rank_ns[here] += x->weight_ns;
        for (int i = 0; i < plan->layout.slice_count; i++) {
            const struct plan_slice *y = &x->slices[i];
            rank_ns[here] += y->forward_ns + y->backward_ns;
            rank_ns[here] +=
                here == there ? 0 : held_ns(y->send_forward_ns) + held_ns(y->send_backward_ns);
            rank_ns[there] +=
                here == there ? 0 : held_ns(y->send_forward_ns) + held_ns(y->send_backward_ns);
            link_ns[here * ranks + there] += y->send_forward_ns[PART_LINK];
            link_ns[there * ranks + here] += y->send_backward_ns[PART_LINK];
        }
    }
    for (int i = 0; i < ranks; i++) most = rank_ns[i] > most ? rank_ns[i] : most;
    for (int i = 0; i < ranks * ranks; i++) most = link_ns[i] > most ? link_ns[i] : most;
    return most;
}

// ---- the best of all plans

static void check_way(const struct priced *p, const struct oracle *e, enum way way, uint64_t seed,
                      struct arena *arena)
{
    struct solve_result result = way_solve(p, way, seed, 1, arena);
    const struct plan *plan = &result.plan;
    const char *name = way_name(p, way, seed, arena);
    if (plan->objective != OBJECTIVE_MAX_LOAD)
        fail_msg("%s: the plan does not say what was made least", name);
    way_expect(&result, p, e, way, seed);
    if (e->plans && load_of(plan, arena) != plan->objective_ns)
        fail_msg("%s: the plan's loads reach %lld ns, not %lld", name,
                 (long long)load_of(plan, arena), (long long)plan->objective_ns);
}

// Neither objective's plan is better at the other's; whether they differ.
static bool compare_objectives(struct priced *p, uint64_t seed, struct arena *arena)
{
    struct plan load = way_solve(p, WAY_DEFAULT, seed, 1, arena).plan;
    p->objective = OBJECTIVE_ITERATION_TIME;
    struct plan time = way_solve(p, WAY_DEFAULT, seed, 1, arena).plan;
    p->objective = OBJECTIVE_MAX_LOAD;
    assert_true(load.iteration_ns >= time.iteration_ns);
    assert_true(load_of(&time, arena) >= load.objective_ns);
    assert_int_equal(time.objective, OBJECTIVE_ITERATION_TIME);
    if (!priced_uses_epilogue(p))
        assert_true(time.iteration_ns >= p->micro_batches * load.objective_ns);
    return load.iteration_ns > time.iteration_ns && load_of(&time, arena) > load.objective_ns;
}

static void draw(struct priced *p, struct oracle *e, int kind, uint64_t seed, struct arena *arena)
{
    struct schedule schedule;
    uint64_t state = seed;
    struct arena_mark mark = arena_set_mark(arena);
    for (;; arena_reset(arena, mark)) {
        random_priced_of(p, kind, &state, arena);
        p->objective = OBJECTIVE_MAX_LOAD;
        if (oracle_size(p, PLANS_MAX, arena) <= PLANS_MAX) {
            priced_schedule(&schedule, p, arena);
            MUST(oracle_answer(e, p, &schedule, arena, &own_err));
            if (e->plans || random_less(&state, 5) == 0) return;
        }
    }
}

TEST(plan_is_the_best_of_all)
{
    int differ = 0;
    for (int kind = 0; kind < SCHEDULE_KIND_COUNT; kind++) {
        int feasible = 0, infeasible = 0;
        for (uint64_t seed = first_seed; seed < first_seed + (uint64_t)problem_count; seed++) {
            struct priced p;
            struct oracle e;
            struct arena_mark mark = arena_set_mark(arena);
            draw(&p, &e, (int)kind, 1000 * seed + (uint64_t)kind, arena);
            bool large = p.groups[0].memory_limit_bytes > 1000000; // beyond glp_intopt's tolerances
            check_way(&p, &e, WAY_DEFAULT, seed, arena);
            check_way(&p, &e, WAY_TREE_ALONE, seed, arena);
            if (seed % 3 == 0) check_way(&p, &e, WAY_GLPK, seed, arena);
            if (seed % 3 == 1 && !large && textbook_covers(&p))
                check_way(&p, &e, WAY_TEXTBOOK, seed, arena);
            if (e.plans) differ += compare_objectives(&p, seed, arena);
            feasible += e.plans > 0;
            infeasible += e.plans == 0;
            arena_reset(arena, mark);
        }
        assert_true(feasible >= problem_count / 3 && infeasible >= problem_count / 25);
    }
    assert_true(differ >= problem_count / 2);
}

// ---- loads and schedules

static int64_t length_of(const struct schedule *s, const struct stream *stream,
                         const int64_t *durations)
{
    int64_t sum = 0;
    for (int k = 0; k < stream->count; k++)
        if (s->operations[stream->operations[k]].micro_batch >= 0)
            sum += durations[s->operations[stream->operations[k]].symbol];
    return sum;
}

static const struct stream *stream_like(const struct schedule *s, const struct stream *like)
{
    for (int i = 0; i < s->stream_count; i++)
        if (s->streams[i].kind == like->kind && s->streams[i].rank == like->rank &&
            s->streams[i].to_rank == like->to_rank)
            return &s->streams[i];
    return NULL;
}

// Every stream of an iteration is as many times its load, and the graph of loads has its longest
// path there.
TEST(loads_are_the_streams)
{
    struct arena_mark mark = arena_set_mark(arena);
    for (uint64_t seed = 1; seed <= 600; seed++, arena_reset(arena, mark)) {
        struct random rng = {seed};
        struct schedule whole, load;
        struct graph *graph;
        int *paths;
        struct schedule_request r = request_random(&rng, 5, 7);
        r.epilogue = false;
        int symbols = symbol_count(r.stage_count, r.slice_count), seen = 0;
        int64_t *durations = TAKE(arena, symbols, int64_t), most = 0;
        for (int i = 0; i < symbols; i++) durations[i] = random_between(&rng, 0, 50);
        CHECK_OK(schedule_build(&whole, &r, arena, &err));
        CHECK_OK(schedule_build_load(&load, &r, arena, &err));
        for (int i = 0; i < whole.stream_count; i++) {
            if (whole.streams[i].kind == STREAM_SYNC) continue;
            const struct stream *same = stream_like(&load, &whole.streams[i]);
            assert_non_null(same);
            int64_t ns = length_of(&load, same, durations);
            assert_int_equal(length_of(&whole, &whole.streams[i], durations), r.micro_batches * ns);
            most = ns > most ? ns : most;
            seen++;
        }
        assert_int_equal(seen, load.stream_count);
        CHECK_OK(graph_compile(&graph, &load, arena, &err));
        assert_true(graph_is_chains(graph));
        assert_int_equal(graph_longest(graph, durations, NULL), most);
        assert_true(graph_starting_paths(graph, &paths, NULL, NULL, arena) <= load.stream_count);
    }
}

// ---- equal layers and closed forms

// `layers` equal layers of 3 ns forward and 4 + 2 ns backward (6 if it is not split), one group,
// nothing sent.
static void alike(struct priced *p, int kind, int layers, int ranks, int virtual_stages,
                  int micro_batches, struct arena *arena)
{
    chain_priced(p, layers - 2, ranks * virtual_stages, 1, micro_batches, arena);
    p->objective = OBJECTIVE_MAX_LOAD;
    p->rank_count = p->layout.pipeline = ranks;
    p->layout.virtual_stages = virtual_stages;
    p->layout.schedule = kind;
    p->layout.micro_batch = 1;
    p->rule_count = 0;
    p->groups[0].memory_limit_bytes = (int64_t)1 << 50;
    p->groups[0].slots = ranks;
    for (int part = 0; part < PART_COUNT; part++) p->cuts[0].forward_ns[part] = 0;
    for (int i = 0; i < p->run_count; i++) {
        bool split = schedule_splits_backward(kind);
        p->runs[i].forward_ns[0] = 3;
        p->runs[i].backward_ns[0] = split ? 4 : 6;
        p->runs[i].weight_ns[0] = split ? 2 : 0;
    }
}

TEST(alike_layers_are_shared_out_evenly)
{
    static const struct {
        int kind;
        int virtual_stages;
    } shapes[] = {
        {SCHEDULE_GPIPE, 1},       {SCHEDULE_1F1B, 1},       {SCHEDULE_INTERLEAVED, 2},
        {SCHEDULE_INTERLEAVED, 3}, {SCHEDULE_ZB_H1, 1},      {SCHEDULE_ZB_H2, 1},
        {SCHEDULE_ZB_V, 2},        {SCHEDULE_LOOPED_BFS, 3},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(shapes); i++)
        for (int ranks = 1; ranks <= 5; ranks++)
            for (int layers = ranks * shapes[i].virtual_stages + 2; layers <= 23; layers += 3) {
                struct priced p;
                struct arena_mark mark = arena_set_mark(arena);
                alike(&p, shapes[i].kind, layers, ranks, shapes[i].virtual_stages, 6, arena);
                struct plan plan = way_solve(&p, WAY_DEFAULT, 1, 1, arena).plan;
                assert_int_equal(plan.objective_ns, (layers + ranks - 1) / ranks * 9);
                assert_int_equal(plan.bound_ns, plan.objective_ns);
                arena_reset(arena, mark);
            }
}

// 1F1B that sends nothing, of any stages: m loads at least, m + p - 1 at most.
TEST(long_streams_reach_the_load)
{
    struct arena_mark mark = arena_set_mark(arena);
    for (uint64_t seed = 1; seed <= 400; seed++, arena_reset(arena, mark)) {
        struct random rng = {seed};
        struct schedule whole, load;
        struct graph *time_graph, *load_graph;
        int ranks = (int)random_between(&rng, 1, 7),
            micro_batches = (int)random_between(&rng, 1, 40);
        struct schedule_request r = {
            .kind = SCHEDULE_1F1B, .micro_batches = micro_batches, SCHEDULE_PLAIN(ranks)};
        int symbols = symbol_count(ranks, 1);
        int64_t *durations = TAKE(arena, symbols, int64_t);
        for (int s = 0; s < ranks; s++) {
            durations[symbol_index(ranks, SYMBOL_FORWARD, s)] =
                random_chance(&rng, 40) ? 0 : random_between(&rng, 0, 30);
            durations[symbol_index(ranks, SYMBOL_BACKWARD, s)] =
                random_chance(&rng, 40) ? 1 : random_between(&rng, 0, 30);
        }
        CHECK_OK(schedule_build(&whole, &r, arena, &err));
        CHECK_OK(schedule_build_load(&load, &r, arena, &err));
        CHECK_OK(graph_compile(&time_graph, &whole, arena, &err));
        CHECK_OK(graph_compile(&load_graph, &load, arena, &err));
        int64_t time_ns = graph_longest(time_graph, durations, NULL),
                load_ns = graph_longest(load_graph, durations, NULL);
        assert_true(time_ns >= micro_batches * load_ns);
        assert_true(time_ns <= (micro_batches + ranks - 1) * load_ns);
    }
}

// One micro-batch over two GPUs, one half as fast: the least time leaves the slow one a single
// layer of ten, the least load 3.
TEST(optima_differ)
{
    struct priced p;
    alike(&p, SCHEDULE_1F1B, 10, 2, 1, 1, arena);
    struct plan even = way_solve(&p, WAY_DEFAULT, 1, 1, arena).plan;
    assert_int_equal(even.objective_ns, 45);
    chain_priced(&p, 8, 2, 2, 1, arena);
    p.rule_count = 0;
    for (int g = 0; g < 2; g++) {
        p.groups[g].memory_limit_bytes = (int64_t)1 << 50;
        for (int i = 0; i < p.run_count; i++) {
            p.runs[i].forward_ns[g] = 10 + 10 * g;
            p.runs[i].backward_ns[g] = 20 + 20 * g;
        }
    }
    memset(p.cuts[0].forward_ns, 0, 4 * PART_COUNT * sizeof(int64_t));
    struct plan time = way_solve(&p, WAY_DEFAULT, 1, 1, arena).plan;
    p.objective = OBJECTIVE_MAX_LOAD;
    struct plan load = way_solve(&p, WAY_DEFAULT, 1, 1, arena).plan;
    assert_int_equal(time.iteration_ns, 9 * 30 + 60);
    assert_int_equal(load_of(&time, arena), 9 * 30);
    assert_int_equal(load.objective_ns, 7 * 30);
    assert_int_equal(load.iteration_ns, 7 * 30 + 3 * 60);
}

// The largest of the bench's chains, by the boxes alone.
TEST(large_chain_is_proven)
{
    struct priced p;
    chain_priced(&p, 96, 16, 2, 64, arena);
    p.objective = OBJECTIVE_MAX_LOAD;
    struct plan plan = way_solve(&p, WAY_DEFAULT, 0, 1, arena).plan;
    assert_int_equal(plan.outcome, OUTCOME_OPTIMAL);
    assert_int_equal(plan.objective_ns, 27000000);
    assert_int_equal(load_of(&plan, arena), plan.objective_ns);
}

// ---- the judge

static bool as_load_plan(struct trial *t)
{
    t->problem.job.objective = t->priced.objective = t->plan.objective = OBJECTIVE_MAX_LOAD;
    t->plan.objective_ns = load_of(&t->plan, &t->arena);
    t->plan.bound_ns = t->plan.objective_ns;
    return t->plan.objective_ns > 1;
}

static bool plant_nothing(struct trial *t) { return as_load_plan(t); }
static bool plant_high(struct trial *t) { return as_load_plan(t) && t->plan.objective_ns++; }
static bool plant_low(struct trial *t)
{
    return as_load_plan(t) && (t->plan.bound_ns = --t->plan.objective_ns) > 0;
}
static bool plant_time(struct trial *t)
{
    if (!as_load_plan(t) || t->plan.objective_ns == t->plan.iteration_ns) return false;
    t->plan.objective_ns = t->plan.iteration_ns;
    t->plan.outcome = OUTCOME_OPEN;
    return true;
}
static bool plant_iteration(struct trial *t) { return as_load_plan(t) && t->plan.iteration_ns++; }
static bool plant_bound(struct trial *t) { return as_load_plan(t) && t->plan.bound_ns++; }
static bool plant_objective(struct trial *t)
{
    if (!as_load_plan(t)) return false;
    t->plan.objective = OBJECTIVE_ITERATION_TIME;
    t->plan.bound_ns = t->plan.iteration_ns;
    return true;
}
static bool plant_unasked(struct trial *t)
{
    if (!as_load_plan(t)) return false;
    t->problem.job.objective = OBJECTIVE_ITERATION_TIME;
    return true;
}
static bool plant_open(struct trial *t) { return as_load_plan(t) && t->plan.bound_ns--; }

TEST(judge_audits_loads)
{
    static const struct damage damages[] = {
        {"a load plan as it is", plant_nothing, NULL, false},
        {"a load one above the judge's", plant_high, "objective", false},
        {"a load one below the judge's", plant_low, "objective", true},
        {"the iteration time in the load's place", plant_time, "objective", true},
        {"an iteration time that is not the replay's", plant_iteration, "iteration", false},
        {"a bound above the load", plant_bound, "bound", true},
        {"the iteration time made least instead", plant_objective, "objective", true},
        {"loads that the job does not ask for", plant_unasked, "objective", true},
        {"optimal with a nanosecond open", plant_open, "bound", true},
    };
    trial_plant(damages, ARRAY_LENGTH(damages), true);
}

// Whole problems: the solved plan is accepted, and never worse than a random plan.
TEST(judge_accepts_what_is_solved)
{
    int solved = 0;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        struct random_limits limits = random_limits_small();
        struct trial t;
        if (!trial_open(&t, seed, &limits, seed % 3)) continue;
        as_load_plan(&t);
        int64_t some_ns = t.plan.objective_ns;
        t.plan = way_solve(&t.priced, WAY_DEFAULT, seed, 1, &t.arena).plan;
        assert_true(t.plan.objective_ns <= some_ns);
        assert_int_equal(t.plan.outcome, OUTCOME_OPTIMAL);
        trial_expect_accepted(&t, seed);
        solved++;
        trial_close(&t);
    }
    assert_true(solved > 60);
}

// The line of the busiest rank or link, the load itself, and the throughput.
TEST(report_shows_the_loads)
{
    struct priced p;
    struct text out;
    text_begin(&out, arena);
    alike(&p, SCHEDULE_1F1B, 11, 3, 1, 5, arena);
    for (int i = 0; i < p.run_count; i++)
        p.runs[i].forward_ns[0] = 3000000, p.runs[i].backward_ns[0] = 6000000;
    p.cuts[0].forward_ns[PART_LINK] = 1250000;
    p.cuts[0].forward_ns[PART_BLOCKING] = 500000;
    struct plan plan = way_solve(&p, WAY_DEFAULT, 1, 1, arena).plan;
    assert_int_equal(plan.objective_ns,
                     37000000); // 4 layers at both ends of the pipeline, 3 between two boundaries
    CHECK_OK(report_text(&out, &plan, NULL, NULL, 0, &err));
    assert_non_null(strstr(out.text, "  objective  max_load: 37.000 ms, "));
    assert_non_null(strstr(out.text, "\nLoads of one micro-batch in ms"));
    assert_non_null(strstr(
        out.text,
        "     36.000         1.000  37.000  ########################      100.0 %  1.250 to 1\n"));
    assert_non_null(strstr(out.text, "  busiest    rank 0\n"));
    assert_non_null(strstr(out.text, "27.03 sequences/s at most"));
    p.cuts[0].forward_ns[PART_LINK] = 50000000;
    plan = way_solve(&p, WAY_DEFAULT, 1, 1, arena).plan;
    CHECK_OK(report_text(&out, &plan, NULL, NULL, 0, &err));
    assert_int_equal(plan.objective_ns, 50000000);
    assert_non_null(strstr(out.text, "  busiest    the link from rank 0 to rank 1\n"));
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
