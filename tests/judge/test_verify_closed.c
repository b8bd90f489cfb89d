// Closed forms of the iteration time against the judge's replay and period, for every schedule,
// rank count, number of stages and of micro-batches in a range, and random times: where there is a
// form it is exact. Also the period against a replay of many iterations.
#include "data/kinds/schedules.h"
#include "solve/judge/internal.h"
#include "tests/support/problems.h"
#include "tests/support/check.h"

enum { RANKS_MAX = 6, STAGES_OF_RANK_MAX = 4 };

struct times {
    int64_t forward, backward, weight;
};

// A plan of stages that all take the same, and nothing else.
static struct plan even_plan(const struct layout *l, int micro_batches, struct times t,
                             struct arena *arena)
{
    struct plan p = {
        .layout = *l, .micro_batches = micro_batches, .stage_count = layout_stage_count(l)};
    p.stages = TAKE(arena, p.stage_count, struct plan_stage);
    for (int s = 0; s < p.stage_count; s++) {
        p.stages[s].weight_ns = schedule_splits_backward(l->schedule) ? t.weight : 0;
        p.stages[s].slices = TAKE(arena, l->slice_count, struct plan_slice);
        *p.stages[s].slices =
            (struct plan_slice){.forward_ns = t.forward, .backward_ns = t.backward};
    }
    return p;
}

static int64_t time_of(struct plan *p, struct arena *arena)
{
    struct schedule s;
    struct schedule_request r = plan_request(p);
    MUST(schedule_build(&s, &r, arena, &own_err));
    int64_t ns = r.barrier ? judged_replay(&s, p, arena) : judged_period(&s, p, arena);
    // Whatever was claimed, the period is the same.
    p->iteration_ns = ns - 3;
    if (!r.barrier) assert_int_equal(judged_period(&s, p, arena), ns);
    p->iteration_ns = ns + 3;
    if (!r.barrier) assert_int_equal(judged_period(&s, p, arena), ns);
    return ns;
}

// Returns whether there was a form to check.
static bool check_form(const struct layout *l, int micro_batches, struct times t)
{
    struct arena_mark mark = arena_set_mark(&own_arena);
    struct plan p = even_plan(l, micro_batches, t, &own_arena);
    struct schedule_request r = plan_request(&p);
    struct closed_form form = closed_form_of(&p, &r);
    if (form.name) {
        int64_t ns = time_of(&p, &own_arena);
        if (form.ns != ns)
            fail_msg(
                "%s, p %d, v %d, m %d, F %lld, B %lld, W %lld: %s gives %lld, the graph takes %lld",
                schedule_names[l->schedule], l->pipeline, l->virtual_stages, micro_batches,
                (long long)t.forward, (long long)t.backward, (long long)t.weight, form.name,
                (long long)form.ns, (long long)ns);
    }
    arena_reset(&own_arena, mark);
    return form.name != NULL;
}

// Some forms hold where all passes take the same time alone.
static struct times random_times(struct random *rng)
{
    int64_t same = random_between(rng, 1, 60);
    if (random_chance(rng, 30)) return (struct times){same, same, same};
    return (struct times){random_between(rng, 1, 60), random_between(rng, 1, 60),
                          random_between(rng, 0, 60)};
}

TEST(test_equal_stages)
{
    struct random rng = {3};
    int checked[SCHEDULE_KIND_COUNT] = {0};
    for (int kind = 0; kind < SCHEDULE_KIND_COUNT; kind++)
        for (int ranks = 1; ranks <= RANKS_MAX; ranks++)
            for (int stages = 1; stages <= STAGES_OF_RANK_MAX; stages++)
                for (int m = 1; m <= 3 * ranks + 1; m++) {
                    struct layout l = {LAYOUT_PLAIN(ranks), .schedule = (int)kind};
                    const struct schedule_properties *is = &schedule_kinds[kind];
                    bool fits = is->virtual_stages ? stages == is->virtual_stages : stages > 1;
                    if (!fits || (is->in_groups && m < ranks)) continue;
                    l.virtual_stages = stages;
                    l.barrier = random_chance(&rng, 50);
                    for (int i = 0; i < 4; i++)
                        checked[kind] += check_form(&l, m, random_times(&rng));
                }
    for (int kind = 0; kind < SCHEDULE_KIND_COUNT; kind++)
        print_message("%s %d, ", schedule_names[kind], checked[kind]);
    print_message("forms checked\n");
    for (int kind = 0; kind < SCHEDULE_KIND_COUNT; kind++)
        assert_true(checked[kind] > (kind == SCHEDULE_ZB_H2 ? 5 : 10));
}

// A form applies only to the plans it is for: there is none if a message, a sync or a local loss is
// involved.
TEST(test_no_form)
{
    struct layout l = {LAYOUT_PLAIN(3), .schedule = SCHEDULE_1F1B};
    struct plan p = even_plan(&l, 4, (struct times){5, 7, 0}, arena);
    p.graph.parts[PART_DELAY] = p.graph.sync = true;
    struct schedule_request r = plan_request(&p);
    assert_non_null(closed_form_of(&p, &r).name);
    p.stages[1].slices->send_backward_ns[PART_DELAY] = 1;
    assert_null(closed_form_of(&p, &r).name);
    p.stages[1].slices->send_backward_ns[PART_DELAY] = 0;
    p.stages[2].sync_ns = 1;
    assert_null(closed_form_of(&p, &r).name);
    p.stages[2].sync_ns = 0;
    r.local_loss_every = 1;
    assert_null(closed_form_of(&p, &r).name);
    r.local_loss_every = 0;
    p.stages[0].slices->forward_ns++;
    assert_null(closed_form_of(&p, &r).name);
}

// ---- the period: the time of further iterations, one after the other, joined by the carried
// dependences

enum { ITERATIONS = 60 }; // a multiple of every number of laps that a critical cycle here takes

static struct schedule unrolled(const struct schedule *s, int iterations, struct arena *arena)
{
    struct schedule u = *s;
    int n = s->operation_count;
    u.operation_count = n * iterations;
    u.operations = TAKE(arena, u.operation_count, struct operation);
    u.stream_count = s->stream_count * iterations;
    u.streams = TAKE(arena, u.stream_count, struct stream);
    u.dependences =
        TAKE(arena, iterations * (s->dependence_count + s->carried_count), struct dependence);
    u.dependence_count = 0;
    for (int k = 0; k < iterations; k++) {
        for (int i = 0; i < n; i++) u.operations[k * n + i] = s->operations[i];
        for (int i = 0; i < s->stream_count; i++) {
            struct stream *to = &u.streams[k * s->stream_count + i];
            *to = s->streams[i];
            to->operations = TAKE(arena, to->count, int);
            for (int at = 0; at < to->count; at++)
                to->operations[at] = s->streams[i].operations[at] + k * n;
        }
        for (int i = 0; i < s->dependence_count; i++)
            u.dependences[u.dependence_count++] = (struct dependence){
                s->dependences[i].before + k * n, s->dependences[i].after + k * n};
        for (int i = 0; i < s->carried_count && k + 1 < iterations; i++)
            u.dependences[u.dependence_count++] = (struct dependence){
                s->carried[i].before + k * n, s->carried[i].after + (k + 1) * n};
    }
    return u;
}

static struct layout random_layout(struct random *rng)
{
    struct layout l = {LAYOUT_PLAIN((int)random_between(rng, 1, 4))};
    do l.schedule = (int)random_between(rng, 0, SCHEDULE_KIND_COUNT - 1);
    while (schedule_kinds[l.schedule].slices);
    if (schedule_kinds[l.schedule].virtual_stages != 1) l.virtual_stages = 2;
    l.barrier = false;
    l.gradient_sync = random_chance(rng, 50) ? SYNC_OVERLAPPED : SYNC_EXPOSED;
    return l;
}

static void put_random_times(struct plan *p, struct random *rng)
{
    for (int s = 0; s < p->stage_count; s++) {
        struct times t = random_times(rng);
        struct plan_stage *x = &p->stages[s];
        x->slices->forward_ns = t.forward;
        x->slices->backward_ns = t.backward;
        if (schedule_splits_backward(p->layout.schedule)) x->weight_ns = t.weight;
        x->sync_ns = random_between(rng, 0, 90);
        x->optimizer_ns = random_between(rng, 0, 90);
        for (int k = 0; k < PART_COUNT; k++) {
            x->slices->send_forward_ns[k] = random_between(rng, 0, 20);
            x->slices->send_backward_ns[k] = random_between(rng, 0, 20);
        }
    }
    p->graph.sync = random_chance(rng, 70);
    p->graph.optimizer = random_chance(rng, 70);
    for (int k = 0; k < PART_COUNT; k++) p->graph.parts[k] = random_chance(rng, 50);
}

TEST(test_periods)
{
    struct random rng = {9};
    int built = 0;
    for (int i = 0; i < 400; i++) {
        err = (struct error){OK, ""};
        struct schedule s;
        struct arena_mark mark = arena_set_mark(arena);
        struct layout l = random_layout(&rng);
        struct plan p =
            even_plan(&l, l.pipeline * (int)random_between(&rng, 1, 3), random_times(&rng), arena);
        put_random_times(&p, &rng);
        struct schedule_request r = plan_request(&p);
        if (schedule_build(&s, &r, arena, &err) == OK) {
            struct schedule some = unrolled(&s, 2 * ITERATIONS, arena),
                            more = unrolled(&s, 3 * ITERATIONS, arena);
            int64_t period = judged_period(&s, &p, arena),
                    longer = judged_replay(&more, &p, arena) - judged_replay(&some, &p, arena);
            // After the start the laps of a critical cycle repeat; the period is theirs, rounded
            // up.
            assert_true(longer <= ITERATIONS * period && longer > ITERATIONS * (period - 1));
            built++;
        }
        arena_reset(arena, mark);
    }
    assert_true(built > 300);
}
