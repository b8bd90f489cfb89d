// Laws of a problem's time. Planner, judge and checker price by the same formulas, so what all of
// them believe is found by laws alone:
// - the judge lets no plan take less than the work of one of its streams, nothing hidden;
// - on one rank, with nothing that a stage costs by itself, one micro-batch takes the same whether
//   its layers are one stage or several turns, to a nanosecond a layer;
// - groups in another order, a run as two, and a space of one layout say the same problem.
//
//   test_price_laws [PROBLEMS] [SEED]
#include "data/kinds/schedules.h"
#include "formulate/choices/choice.h"
#include "formulate/graph/longest.h"
#include "formulate/price/price.h"
#include "tests/support/trials/trial.h"
#include "tests/support/check.h"

enum { PROBLEMS_OF_CI = 300 };

static int problems = PROBLEMS_OF_CI;
static uint64_t first_seed = 1;
static const volatile int never = 0;

// ---- the work of streams

// What is left of a layer's sync once its gather has been hidden behind the next forward passes is
// not its work: the same layout with a barrier has all of it.
static bool price_whole(struct priced *whole, const struct trial *t, struct arena *arena)
{
    struct error err = {OK, ""};
    struct problem problem = t->problem;
    problem.job.layout.barrier = true;
    return problem_check(&problem, &err) == OK && price_problem(whole, &problem, arena, &err) == OK;
}

static int own_heads(const struct priced *p, int stage)
{
    int every = p->layout.local_loss_every;
    return every && stage < p->stage_count - 1 && (stage + 1) % every == 0 ? p->local_head_count
                                                                           : 0;
}

static int64_t sync_work(const struct priced *p, const struct plan *plan, int stage)
{
    const struct plan_stage *x = &plan->stages[stage];
    int64_t sum = p->groups[x->group].sync_constant_ns[x->gradient_option];
    for (int l = x->first_layer; l < x->first_layer + x->layer_count; l++)
        sum += p->runs[priced_run_of(p, l)].sync_ns[x->gradient_option][x->group];
    if (own_heads(p, stage)) sum += p->local_heads->sync_ns[x->gradient_option][x->group];
    return sum;
}

static int64_t duration_of(const struct trial *t, const int64_t *durations, int operation)
{
    return durations[t->schedule.operations[operation].symbol];
}

// The most that a stream of a rank has to do, by the operations in it, or the sums of the rank's
// syncs; *spare: by how many nanoseconds roundings may let a sync seem longer.
static int64_t most_work(const struct trial *t, const struct priced *whole, int64_t *spare,
                         struct arena *arena)
{
    const struct schedule_request *r = &t->schedule.request;
    int64_t *durations = TAKE(arena, symbol_count(r->stage_count, r->slice_count), int64_t),
            most = 0;
    *spare = 0;
    assert_true(choices_durations(&t->choices, t->chosen, durations));
    for (int i = 0; i < t->schedule.stream_count; i++) {
        const struct stream *s = &t->schedule.streams[i];
        int64_t sum = 0;
        for (int k = 0; k < s->count && s->kind != STREAM_SYNC; k++)
            sum += duration_of(t, durations, s->operations[k]);
        if (sum > most) most = sum;
    }
    for (int rank = 0; rank < r->rank_count; rank++) {
        int64_t sum = 0;
        for (int k = 0; k < r->virtual_stages; k++)
            sum += sync_work(whole, &t->plan, schedule_stage_of(r, rank, k));
        if (sum > most)
            most = sum,
            *spare = r->barrier ? 0
                                : (t->priced.layer_count + r->stage_count) * (1 + r->slice_count);
    }
    return most;
}

// Whether the judge finds the plan's iteration below a stream's work.
static bool is_too_little(struct trial *t, int64_t iteration_ns)
{
    struct plan plan = t->plan;
    bool found = false;
    t->plan.iteration_ns = iteration_ns;
    t->plan.bound_ns = 0, t->plan.outcome = OUTCOME_OPEN;
    struct verdict v = trial_judge(t);
    for (int i = 0; i < v.violation_count; i++)
        found = found || !strcmp(v.violations[i].rule, "stream");
    t->plan = plan;
    return found;
}

// The judge's own work of each rank's compute and sync streams, as it says of a plan that claims
// to take 1 ns.
static void expect_works(struct trial *t, const struct priced *whole, uint64_t seed)
{
    const struct schedule_request *r = &t->schedule.request;
    struct plan plan = t->plan;
    t->plan.iteration_ns = 1, t->plan.bound_ns = 0, t->plan.outcome = OUTCOME_OPEN;
    struct verdict v = trial_judge(t);
    t->plan = plan;
    for (int rank = 0; rank < r->rank_count; rank++) {
        int64_t sum = 0, layers = 0;
        bool found = false;
        for (int k = 0; k < r->virtual_stages; k++) {
            int stage = schedule_stage_of(r, rank, k);
            sum += sync_work(whole, &t->plan, stage);
            layers += t->plan.stages[stage].layer_count + own_heads(whole, stage);
        }
        if (sum <= 1 + (r->barrier ? 0 : layers * (1 + r->slice_count))) continue;
        const char *words = arena_print(&t->arena, "rank %d: its sync stream has %lld ns of work",
                                        rank, (long long)sum);
        for (int i = 0; i < v.violation_count; i++)
            found = found || strstr(v.violations[i].text, words);
        if (!found)
            fail_msg("seed %llu: the judge does not say: %s", (unsigned long long)seed, words);
    }
}

TEST(no_stream_works_longer)
{
    struct random_limits limits = random_limits_small();
    int judged = 0, tight = 0;
    for (uint64_t seed = first_seed; judged < problems; seed++) {
        struct trial t;
        struct priced whole;
        if (trial_open(&t, seed, &limits, true)) {
            bool gathers = !t.priced.layout.barrier;
            if (!gathers) whole = t.priced;
            if (!gathers || price_whole(&whole, &t, &t.arena)) {
                int64_t spare, work = most_work(&t, &whole, &spare, &t.arena);
                trial_expect_accepted(&t, seed);
                if (work > t.plan.iteration_ns + spare)
                    fail_msg("seed %llu: a stream has %lld ns of work, the plan takes %lld",
                             (unsigned long long)seed, (long long)work,
                             (long long)t.plan.iteration_ns);
                assert_false(is_too_little(&t, work));
                if (work > spare) assert_true(is_too_little(&t, work - spare - 1));
                expect_works(&t, &whole, seed);
                judged++, tight += work >= t.plan.iteration_ns - spare;
            }
        }
        trial_close(&t);
    }
    printf("laws: %d plans, none below the work of a stream, %d as long as one's\n", judged, tight);
}

// ---- one stage, and the same layers in turns

static bool price_alone(struct priced *p, const struct problem *problem, int turns,
                        struct arena *arena)
{
    struct error err = {OK, ""};
    struct problem alone = *problem;
    struct layout *l = &alone.job.layout;
    l->pipeline = 1, l->virtual_stages = turns, l->local_loss_every = 0;
    l->slice_count = 1, l->stored_inputs = false;
    l->schedule = turns > 1 ? SCHEDULE_LOOPED_BFS : SCHEDULE_GPIPE;
    alone.job.global_batch = l->data * l->micro_batch; // one micro-batch
    alone.job.rule_count = 0;
    if (problem_check(&alone, &err) != OK) return false;
    CHECK_OK(price_problem(p, &alone, arena, &err));
    // What a stage costs by itself, and steps: one stage's may run beside another's sync.
    for (int g = 0; g < p->group_count; g++)
        for (int o = 0; o < p->gradient_option_count; o++) p->groups[g].sync_constant_ns[o] = 0;
    for (int r = 0; r < p->run_count; r++) {
        memset(p->runs[r].optimizer_ns, 0, (size_t)p->group_count * sizeof(int64_t));
        p->runs[r].tiered = NULL, p->runs[r].tiered_count = 0;
    }
    return p->micro_batches == 1;
}

// The layers on the group in turns of any length, in one mode.
static int64_t time_of(const struct priced *p, int group, enum recompute mode, int gradient,
                       struct random *rng, struct arena *arena)
{
    struct schedule schedule;
    struct graph *graph;
    MUST(schedule_build_priced(&schedule, p, arena, &own_err));
    MUST(graph_compile(&graph, &schedule, arena, &own_err));
    int stages = p->stage_count, *chosen = TAKE(arena, stages, int), layer = 0;
    struct choice *items = TAKE(arena, stages, struct choice);
    struct choices c = {.priced = p,
                        .schedule = &schedule,
                        .free_from = p->layer_count,
                        .stages = TAKE(arena, stages, struct stage_choices),
                        .virtual_stages = stages,
                        .rank_count = 1,
                        .arena = arena};
    for (int s = 0; s < stages; s++) {
        int left = p->layer_count - layer - (stages - 1 - s),
            count = s == stages - 1 ? left : (int)random_between(rng, 1, left);
        items[s] = (struct choice){.first_layer = layer,
                                   .layer_count = count,
                                   .group = group,
                                   .recompute = mode,
                                   .gradient_option = gradient};
        choice_evaluate(&c, s, &items[s]);
        c.stages[s] = (struct stage_choices){&items[s], 1};
        layer += count;
    }
    int64_t *durations = TAKE(arena, symbol_count(stages, 1), int64_t);
    assert_true(choices_durations(&c, chosen, durations));
    return graph_longest(graph, durations, NULL);
}

// Links as much slower as makes syncs count.
static void slow_links(struct problem *p, struct random *rng)
{
    double by = (double)(INT64_C(1) << random_between(rng, 0, 12));
    for (int g = 0; g < p->cluster.group_count; g++) {
        p->cluster.groups[g].intra.bytes_per_s /= by;
        for (int i = 0; i < p->cluster.groups[g].nic_count; i++)
            p->cluster.groups[g].nics[i].link.bytes_per_s /= by;
    }
}

TEST(turns_take_the_same)
{
    int compared = 0, synced = 0, overlapped = 0, gathered = 0;
    for (uint64_t seed = first_seed; compared < problems; seed++) {
        struct problem problem;
        struct priced one, several;
        struct random rng = {seed * 3 + 1};
        struct random_limits limits = random_limits_small();
        struct arena_mark mark = arena_set_mark(arena);
        random_problem(&problem, &rng, &limits, arena);
        struct layout *l = &problem.job.layout;
        int longest = 0;
        for (int r = 1; r < problem.model.run_count; r++)
            if (problem.model.runs[r].count > problem.model.runs[longest].count) longest = r;
        if (problem.model.runs[longest].kind != LAYER_EMBEDDING &&
            problem.model.runs[longest].kind != LAYER_HEAD) {
            int more = (int)random_between(&rng, 0, 12);
            problem.model.runs[longest].count += more, problem.model.layer_count += more;
        }
        if (l->data * l->context == 1) l->data = 2;
        l->zero = (int)random_between(&rng, 0, 3), l->barrier = random_chance(&rng, 60);
        l->fused_embedding_sync = false;
        if (random_chance(&rng, 70)) l->gradient_sync = SYNC_OVERLAPPED;
        slow_links(&problem, &rng);
        int most = problem.model.layer_count < 6 ? problem.model.layer_count : 6,
            turns = (int)random_between(&rng, 2, most > 2 ? most : 2);
        if (most >= 2 && price_alone(&one, &problem, 1, arena) &&
            price_alone(&several, &problem, turns, arena)) {
            int group = (int)random_between(&rng, 0, one.group_count - 1),
                gradient = (int)random_between(&rng, 0, one.gradient_option_count - 1);
            enum recompute mode = random_chance(&rng, 50) ? RECOMPUTE_NONE : RECOMPUTE_FULL;
            if (!one.groups[group].excluded && !several.groups[group].excluded) {
                int64_t whole = time_of(&one, group, mode, gradient, &rng, arena),
                        cut = time_of(&several, group, mode, gradient, &rng, arena);
                if (llabs(whole - cut) > one.layer_count)
                    fail_msg("seed %llu, ZeRO %d: %d layers take %lld ns as one stage, %lld in %d "
                             "turns",
                             (unsigned long long)seed, l->zero, one.layer_count, (long long)whole,
                             (long long)cut, turns);
                bool syncs = priced_uses_sync(&one);
                compared++, synced += syncs;
                overlapped += syncs && l->gradient_sync == SYNC_OVERLAPPED;
                gathered += l->zero > 1;
            }
        }
        arena_reset(arena, mark);
    }
    printf("laws: %d stages as turns take the same, %d with syncs, %d of them overlapped, %d with "
           "sharded gradients\n",
           compared, synced, overlapped, gathered);
    assert_true(overlapped > compared / 4);
}

ARGUMENT(problems)
ARGUMENT(first_seed)
