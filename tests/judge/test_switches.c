// Which switches of the trainer a layout of a space has: planner, judge and checker, each by its
// own table, agree for every layout, framework and trainer, and with what the frameworks' sources
// say, written down here once more; and no price of a layout is higher with a switch than without.
#include "data/inputs/framework.h"
#include "data/kinds/schedules.h"
#include "formulate/price/price.h"
#include "solve/checker/prices/prices.h"
#include "solve/judge/internal.h"
#include "tests/support/draws/models.h"
#include "tests/support/check.h"

// By the switch, what is on: nothing listed, one listed, all listed.
static unsigned bits_of(struct job *j)
{
    unsigned bits = 0;
    for (int i = 0; i < SWITCH_COUNT; i++)
        bits |= (unsigned)*job_switch(j, (enum trainer_switch)i) << i;
    return bits;
}

// What the sources say.
static unsigned expected(const struct job *j)
{
    const struct layout *l = &j->layout;
    bool torch = j->trainer == TRAINER_TORCHTITAN, own = j->trainer == TRAINER_OTHER,
         sharded = layout_has_grid(l) || (l->tensor > 1 && l->sequence_parallel);
    const bool *listed = j->space.switches;
    bool messages = true, sums = sharded, parts = true, loss = torch || own, compiled = torch;
    if (j->space.framework == FRAMEWORK_MEGATRON || j->space.framework == FRAMEWORK_NEMO)
        messages = !strcmp(schedule_names[l->schedule], "interleaved"), parts = loss = compiled = 0;
    if (j->space.framework == FRAMEWORK_TORCHTITAN ||
        j->space.framework == FRAMEWORK_TORCHTITAN_0_2)
        parts = false, sums = sharded && (listed[SWITCH_COMPILED] || j->compiled);
    if (j->space.framework == FRAMEWORK_AXONN) messages = parts = loss = compiled = false;
    if (j->space.framework == FRAMEWORK_DEEPSPEED) messages = sums = loss = compiled = false;
    const bool has[] = {messages, sums, parts, loss, compiled};
    unsigned bits = 0;
    for (int i = 0; i < SWITCH_COUNT; i++) bits |= (unsigned)(has[i] && listed[i]) << i;
    return bits;
}

struct visit {
    struct problem *problem;
    int64_t seen, on[SWITCH_COUNT];
};

static bool compare_one(void *argument, int64_t number, const struct layout *layout)
{
    struct visit *v = argument;
    struct problem planned = problem_with_layout(v->problem, layout),
                   judged = judged_problem(v->problem, layout), checked = *v->problem;
    const struct check_layout own = space_layout(layout);
    space_switch(&checked.job, v->problem, &own);
    struct job asked = v->problem->job;
    unsigned stated = bits_of(&asked), bits = bits_of(&planned.job);
    asked.layout = *layout;
    assert_int_equal(bits, stated | expected(&asked));
    assert_int_equal(bits, bits_of(&judged.job));
    assert_int_equal(bits, bits_of(&checked.job));
    for (int i = 0; i < SWITCH_COUNT; i++) v->on[i] += bits >> i & 1;
    int kind = layout->context_kind ? layout->context_kind - 1 : (int)v->problem->job.context_kind;
    bool hidden = v->problem->job.overlapped_dispatch || layout->overlapped_dispatch;
    const struct job *jobs[] = {&planned.job, &judged.job, &checked.job};
    for (size_t i = 0; i < ARRAY_LENGTH(jobs); i++) {
        assert_int_equal(jobs[i]->context_kind, kind);
        assert_int_equal(jobs[i]->overlapped_dispatch, hidden);
    }
    v->seen++;
    return number < 3000;
}

// A grid's sums run beside the products with whole tokens, too.
TEST(grids_hide_their_sums)
{
    struct problem p;
    struct random rng = {2};
    struct random_limits limits = random_limits_small();
    random_problem(&p, &rng, &limits, arena);
    p.job.space = (struct space){.given = true};
    p.job.overlapped_tensor = false;
    struct visit v = {&p, 0, {0}};
    for (int listed = 0; listed < 2; listed++)
        for (int depth = 1; depth <= 2; depth++)
            for (int scattered = 0; scattered < 2; scattered++) {
                struct layout l = p.job.layout;
                l.tensor = 4, l.grid_depth = depth, l.grid_rows = 2, l.context = l.expert = 1;
                l.sequence_parallel = scattered;
                p.job.space.switches[SWITCH_OVERLAPPED_TENSOR] = listed;
                compare_one(&v, 0, &l);
            }
    assert_int_equal(v.on[SWITCH_OVERLAPPED_TENSOR], 4);
}

TEST(planner_judge_and_checker_have_the_same_switches)
{
    struct problem p;
    struct random rng = {1};
    struct random_limits limits = random_limits_small();
    struct visit v = {&p, 0, {0}};
    random_problem(&p, &rng, &limits, arena);
    p.cluster.group_count = 1, p.cluster.groups[0].nodes = 2, p.cluster.groups[0].gpus_per_node = 4;
    p.job.global_batch = 8, p.model.layer_count = 16;
    const int keys[] = {SPACE_TENSOR,         SPACE_PIPELINE,    SPACE_DATA, SPACE_SCHEDULE,
                        SPACE_VIRTUAL_STAGES, SPACE_MICRO_BATCH, SPACE_ZERO, SPACE_GRADIENT_SYNC};
    for (int i = 0; i < 6 << (SWITCH_COUNT + 4); i++) {
        p.job.space = (struct space){.given = true, .framework = (enum framework)(i % 6)};
        for (size_t k = 0; k < ARRAY_LENGTH(keys); k++) p.job.space.axes[keys[k]].kind = AXIS_ALL;
        p.job.space.axes[SPACE_SEQUENCE_PARALLEL].kind = AXIS_ALL;
        if (i % 7 == 0) p.job.space.axes[SPACE_CONTEXT].kind = AXIS_ALL;
        if (i % 7 == 0) p.job.space.axes[SPACE_CONTEXT_KIND].kind = AXIS_ALL;
        p.job.layout.overlapped_dispatch = i % 3 == 0;
        p.job.context_kind = (enum context_kind)(i % 3);
        p.job.trainer = (enum trainer)(i / 6 % 4);
        for (int s = 0; s < SWITCH_COUNT; s++) {
            p.job.space.switches[s] = i >> (4 + s) & 1;
            *job_switch(&p.job, (enum trainer_switch)s) = i >> (4 + SWITCH_COUNT) && s == i % 5;
        }
        struct space_limits within = problem_space_limits(&p);
        space_each(&p.job.space, &within, compare_one, &v);
    }
    for (int s = 0; s < SWITCH_COUNT; s++) assert_true(v.on[s] > 1000 && v.on[s] < v.seen);
    print_message("%lld layouts\n", (long long)v.seen);
}

// ---- prices: of the same layout, with every switch that it has and with any of them off

static struct {
    int64_t terms, lower;
} seen;

static void no_higher(const char *what, int64_t on, int64_t off, int64_t most)
{
    if (on > off + most)
        fail_msg("%s: %lld with the switches, %lld without", what, (long long)on, (long long)off);
    seen.terms++, seen.lower += on < off;
}

static void compare_runs(const struct priced *on, const struct priced *off)
{
    int passes = on->slice_count * on->group_count;
    for (int r = 0; r < on->run_count; r++) {
        const struct priced_run *a = &on->runs[r], *b = &off->runs[r];
        for (int i = 0; i < passes; i++) {
            if (on->groups[i % on->group_count].excluded) continue;
            no_higher("forward", a->forward_ns[i], b->forward_ns[i], 0);
            no_higher("backward", a->backward_ns[i], b->backward_ns[i], 0);
            for (int m = 0; m < RECOMPUTE_COUNT; m++)
                if (a->again_ns[m]) no_higher("again", a->again_ns[m][i], b->again_ns[m][i], 0);
        }
        no_higher("weights", a->weight_bytes, b->weight_bytes, 0);
        for (int m = 0; m < RECOMPUTE_COUNT; m++) {
            no_higher("stash", a->stash_bytes[m], b->stash_bytes[m], 0);
            no_higher("working", a->working_bytes[m], b->working_bytes[m], 0);
        }
    }
}

// A message's parts are rounded one by one; ends are busy for its overhead twice.
static int64_t all_of(const int64_t *parts)
{
    int64_t sum = 0;
    for (int i = 0; i < PART_COUNT; i++) sum += parts[i] * (i == PART_OVERHEAD ? 2 : 1);
    return sum;
}

enum { ROUNDED = 3 };

static void compare_cuts(const struct priced *on, const struct priced *off)
{
    for (int c = 0; c < on->cut_count; c++)
        for (int i = 0; i < on->slice_count * on->group_count * on->group_count; i++) {
            const int64_t *a = &on->cuts[c].forward_ns[i * PART_COUNT],
                          *b = &off->cuts[c].forward_ns[i * PART_COUNT];
            if (a[0] == PRICE_NONE) continue;
            no_higher("message", all_of(a), all_of(b), ROUNDED);
            for (int part = 0; part < PART_COUNT; part++)
                if (part != PART_DELAY) no_higher("part of a message", a[part], b[part], 0);
        }
}

TEST(no_price_is_higher_with_a_switch)
{
    struct random rng = {5};
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < 1500; i++, arena_reset(arena, mark)) {
        struct problem p;
        struct random_limits limits = random_limits_small();
        struct priced on, off;
        limits.plans_max = 0;
        random_problem(&p, &rng, &limits, arena);
        p.job.trainer = (enum trainer)(i % 4);
        p.job.whole_gradient_sums = p.job.split_gate = false;
        struct job *job = &p.job;
        job->space.framework = (enum framework)(i / 4 % 6);
        for (int s = 0; s < SWITCH_COUNT; s++)
            *job_switch(job, (enum trainer_switch)s) = random_chance(&rng, 30) &&
                                                       switches_has(job, (enum trainer_switch)s);
        job->overlapped_tensor &= framework_trainer(job->space.framework) != TRAINER_TORCHTITAN ||
                                  job->compiled;
        if (price_problem(&off, &p, arena, &err) != OK) continue;
        switches_list(&job->space);
        switches_set(job);
        CHECK_OK(price_problem(&on, &p, arena, &err));
        if (on.cut_count != off.cut_count) continue; // equal messages that are parts now
        compare_runs(&on, &off), compare_cuts(&on, &off);
    }
    print_message("%lld terms, %lld lower\n", (long long)seen.terms, (long long)seen.lower);
    assert_true(seen.terms > 10000 && seen.lower > 300);
}
