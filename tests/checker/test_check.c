// The checker against independent code: its graphs against the schedule tables, its verdicts
// against enumeration. A true bound is accepted; one that is a nanosecond too high has no proof,
// however the boxes are made.
//
//   test_check [PROBLEMS] [SEED]
#include "data/kinds/schedules.h"
#include "solve/checker/proof.h"
#include "tests/support/trials/check_trials.h"
#include "tests/support/check.h"

enum { DEFAULT_PROBLEMS = 400 };

static int problem_count = DEFAULT_PROBLEMS;
static uint64_t first_seed = 1;

// ---- graphs

static int operation_in(const struct check_graph *g, const struct schedule *s, int operation)
{
    const struct operation *o = &s->operations[operation];
    int stages = s->request.stage_count, kind = o->symbol / stages;
    int base = symbol_base_kind(kind), place = o->symbol % stages,
        micro_batch = o->micro_batch < 0 ? 0 : o->micro_batch;
    bool sends = base >= SYMBOL_SEND_FORWARD && base < SYMBOL_EMBEDDING_SYNC,
         forward = base < SYMBOL_SEND_BACKWARD;
    if (sends && o->stage == place + forward)
        micro_batch += s->request.micro_batches; // the receiver's overhead
    return check_operation(g, base, place, micro_batch, symbol_slice(kind));
}

struct edges {
    int (*items)[3];
    int count;
};

static void add_edge(struct edges *e, int before, int after, int lap)
{
    e->items[e->count][0] = before;
    e->items[e->count][1] = lap;
    e->items[e->count++][2] = after;
}

static int compare_edge(const void *a, const void *b)
{
    for (int i = 0; i < 3; i++)
        if (((const int *)a)[i] != ((const int *)b)[i])
            return ((const int *)a)[i] < ((const int *)b)[i] ? -1 : 1;
    return 0;
}

// All edges of the tables, in the checker's numbers, sorted, each once. Slices are distinguished by
// the symbol.
static struct edges edges_of(const struct check_graph *g, const struct schedule *s,
                             struct arena *arena)
{
    int capacity = s->dependence_count + s->carried_count, kept = 0;
    for (int i = 0; i < s->stream_count; i++) capacity += s->streams[i].count;
    struct edges e = {arena_take(arena, (size_t)capacity, sizeof *e.items), 0};
    for (int i = 0; i < s->dependence_count; i++)
        add_edge(&e, operation_in(g, s, s->dependences[i].before),
                 operation_in(g, s, s->dependences[i].after), 0);
    for (int i = 0; i < s->carried_count; i++)
        add_edge(&e, operation_in(g, s, s->carried[i].before),
                 operation_in(g, s, s->carried[i].after), 1);
    for (int i = 0; i < s->stream_count; i++)
        for (int k = 1; k < s->streams[i].count; k++)
            add_edge(&e, operation_in(g, s, s->streams[i].operations[k - 1]),
                     operation_in(g, s, s->streams[i].operations[k]), 0);
    qsort(e.items, (size_t)e.count, sizeof *e.items, compare_edge);
    for (int i = 0; i < e.count; i++)
        if (i == 0 || compare_edge(e.items[i], e.items[kept - 1]))
            memmove(e.items[kept++], e.items[i], sizeof *e.items);
    e.count = kept;
    return e;
}

static void compare_graphs(const struct check_trial *t, struct arena *arena)
{
    struct error err = {OK, ""};
    struct check_problem p;
    struct check_graph g;
    if (check_read_problem(&p, &t->text, arena, &err) || check_build_graph(&g, &p, arena))
        fail_msg("%s", err.text);
    assert_int_equal(g.operation_count, t->schedule.operation_count);
    struct edges e = edges_of(&g, &t->schedule, arena);
    assert_int_equal(e.count, g.first[g.offset[KINDS]]);
    for (int i = 0, k = 0; i < g.offset[KINDS]; i++)
        for (int at = g.first[i]; at < g.first[i + 1]; at++, k++) {
            assert_int_equal(e.items[k][0], i);
            assert_int_equal(e.items[k][1], g.lap[at]);
            assert_int_equal(e.items[k][2], g.next[at]);
        }
    int peaks = 0;
    for (int rank = 0; rank < p.ranks; rank++) peaks += g.peaks[rank].count;
    assert_int_equal(peaks, t->schedule.peak_count);
}

TEST(test_graphs)
{
    int compared = 0;
    for (uint64_t seed = first_seed; seed < first_seed + (uint64_t)problem_count; seed++) {
        struct check_trial t;
        struct arena_mark mark = arena_set_mark(arena);
        if (check_trial_draw(&t, seed, arena)) {
            compare_graphs(&t, arena);
            compared++;
        }
        arena_reset(arena, mark);
    }
    print_message("%d graphs are the tables' own\n", compared);
    assert_true(compared >= problem_count / 2);
}

// ---- choices

static bool same_choice(const struct choice *x, const struct check_choice *c)
{
    return (x->first_layer == c->first ||
            (x->first_layer < 0 && c->first >= -1 - x->first_layer)) && // the first or last stage
           x->layer_count == c->layers &&
           x->group == c->group && (int)x->recompute == c->mode &&
           x->swapped_layers == c->swapped && x->recomputed_layers == c->recomputed &&
           x->gradient_option == c->gradient && x->boundary_option == c->boundary;
}

// Every choice of the checker is one of the planner's, and means the same. Where ranks have one
// stage both have the same; where they have several the checker knows more of the room that the
// others leave.
static void compare_choices(const struct check_trial *t, const struct check_choices *own)
{
    for (int s = 0; s < own->p->stages; s++) {
        const struct stage_choices *stage = &t->choices.stages[s];
        if (own->p->turns == 1) assert_int_equal(own->count[s], stage->count);
        for (int i = 0; i < own->count[s]; i++) {
            const struct check_choice *c = &own->items[s][i];
            int k = 0;
            while (k < stage->count && !same_choice(&stage->items[k], c)) k++;
            assert_true(k < stage->count);
            const struct choice *x = &stage->items[k];
            for (int slice = 0; slice < own->p->slices; slice++)
                assert_true(x->forward_ns[slice] == c->forward[slice] &&
                            x->backward_ns[slice] == c->backward[slice]);
            assert_true(x->weight_ns == c->weight);
            assert_true(x->sync_ns == c->sync && x->queued_sync_ns == c->queued_sync);
            assert_true(x->optimizer_ns == c->optimizer && x->load_ns == c->load);
            assert_true(x->quality_cost == c->cost && x->stash_bytes == c->stash &&
                        x->cut == c->cut);
            assert_true(x->memory.working_bytes == c->working);
            assert_true(memory_total(&x->memory) - x->memory.constant_bytes -
                            x->memory.activation_bytes ==
                        c->working + c->resident);
        }
    }
}

TEST(test_choices)
{
    int64_t compared = 0;
    for (uint64_t seed = first_seed; seed < first_seed + (uint64_t)problem_count; seed++) {
        struct check_trial t;
        struct check_problem p;
        struct check_graph g;
        struct check_choices own;
        uint64_t work = CHECK_WORK_DEFAULT;
        struct arena_mark mark = arena_set_mark(arena);
        if (check_trial_draw(&t, seed, arena)) {
            if (choices_build(&t.choices, &t.priced, &t.schedule, arena, &err) ||
                check_read_problem(&p, &t.text, arena, &err) || check_build_graph(&g, &p, arena) ||
                check_list_choices(&own, &g, &work, arena))
                fail_msg("%s", err.text);
            compare_choices(&t, &own);
            for (int s = 0; s < p.stages; s++) compared += own.count[s];
        }
        arena_reset(arena, mark);
    }
    print_message("%lld choices are the planner's\n", (long long)compared);
    assert_true(compared > 10 * problem_count);
}

// ---- prices

// How many choices of the whole box a round of prices alone leaves.
static int left_under(const struct check_choices *c, const int64_t *prices, struct arena *arena)
{
    const struct check_problem *p = c->p;
    struct check_mixer *m;
    const bool counted[RESOURCES_MOST] = {false};
    struct check_box box = {TAKE(arena, p->stages, int *), TAKE(arena, p->stages, int),
                            TAKE(arena, p->ranks, struct check_span)};
    struct check_round round = {.coefficients = TAKE(arena, check_symbol_count(p), int64_t)};
    bool closed;
    int sum = 0;
    for (int r = 0; r < p->ranks; r++) box.spans[r] = (struct check_span){0, p->layers};
    for (int s = 0; s < p->stages; s++) {
        box.count[s] = c->count[s];
        box.left[s] = TAKE(arena, c->count[s], int);
        for (int i = 0; i < c->count[s]; i++) box.left[s][i] = i;
    }
    memcpy(round.prices, prices, sizeof round.prices);
    if (check_open_mixer(&m, c, counted, arena) || check_use_round(m, &box, &round, -1, &closed))
        fail_msg("a round is not audited");
    for (int s = 0; s < p->stages; s++) sum += box.count[s];
    return sum;
}

// Limits that nothing reaches: the greatest prices of theirs take nothing away, for no product of
// them is too large.
TEST(test_prices)
{
    int binding = 0;
    for (uint64_t seed = first_seed; seed < first_seed + (uint64_t)problem_count; seed++) {
        struct check_trial t;
        struct check_problem p;
        struct check_graph g;
        struct check_choices own;
        uint64_t work = CHECK_WORK_DEFAULT;
        int64_t none[RESOURCES_MOST] = {0}, dear[RESOURCES_MOST] = {0};
        struct arena_mark mark = arena_set_mark(arena);
        if (check_trial_draw(&t, seed, arena)) {
            if (check_read_problem(&p, &t.text, arena, &err)) fail_msg("%s", err.text);
            for (int i = 0; i < BUDGETS; i++) p.budget[i] = (int64_t)1 << (50 + seed % 4);
            if (check_build_graph(&g, &p, arena) || check_list_choices(&own, &g, &work, arena))
                fail_msg("%s", err.text);
            int left = left_under(&own, none, arena);
            for (int i = 0; i < BUDGETS; i++) {
                dear[p.group_count + i] = (int64_t)1 << (i == BUDGET_COST ? 50 : 59);
                assert_int_equal(left_under(&own, dear, arena), left);
            }
            for (int s = 0; s < p.stages && left > 0; s++)
                for (int i = 0; i < own.count[s]; i++)
                    binding += own.items[s][i].boundary > 0 || own.items[s][i].gradient > 0;
        }
        arena_reset(arena, mark);
    }
    assert_true(binding > problem_count);
}

// ---- bounds

static struct {
    int feasible, infeasible, refused, skipped, by_ranks, by_kind[SCHEDULE_KIND_COUNT];
    int64_t boxes;
} seen;

static void expect(const struct check_text *certificate, const struct check_text *priced,
                   bool accepted, uint64_t seed, struct arena *arena)
{
    struct error err = {OK, ""};
    struct check_result result;
    if (check_certificate(&result, certificate, priced, CHECK_WORK_DEFAULT, arena, &err))
        fail_msg("seed %llu: %s", (unsigned long long)seed, err.text);
    if (result.accepted != accepted)
        fail_msg("seed %llu: %s, %s", (unsigned long long)seed,
                 accepted ? "not accepted" : "accepted", result.reason);
    seen.boxes += result.boxes;
}

// How many claims about the trial that are not true are refused: a nanosecond too much, and that
// there is no plan.
static int refuse_false_claims(const struct check_trial *t, struct arena *arena)
{
    int refused = 0;
    for (int i = 0; i < 2; i++) {
        struct check_text text = check_trial_claim(t, i == 1, -1, t->best_ns + 1, arena);
        if (!text.text) continue;
        expect(&text, &t->text, false, t->seed, arena);
        refused++;
    }
    return refused;
}

static void check_bounds(struct check_trial *t, struct arena *arena)
{
    if (!check_trial_enumerate(t, arena) || !check_trial_certify(t, arena)) {
        seen.skipped++;
        return;
    }
    expect(&t->certificate, &t->text, true, t->seed, arena);
    bool feasible = t->best_ns != INT64_MAX;
    seen.feasible += feasible;
    seen.infeasible += !feasible;
    seen.by_ranks += strstr(t->certificate.text, "\"by_ranks\"") != NULL;
    seen.by_kind[t->priced.layout.schedule]++;
    if (feasible) seen.refused += refuse_false_claims(t, arena);
}

TEST(test_bounds)
{
    for (uint64_t seed = first_seed; seed < first_seed + (uint64_t)problem_count; seed++) {
        struct check_trial t;
        struct arena_mark mark = arena_set_mark(arena);
        if (check_trial_draw(&t, seed, arena)) check_bounds(&t, arena);
        arena_reset(arena, mark);
    }
    print_message("%d bounds and %d infeasible problems proven, %d false claims refused, %lld "
                  "boxes; %d by ranks; %d skipped\n",
                  seen.feasible, seen.infeasible, seen.refused, (long long)seen.boxes,
                  seen.by_ranks, seen.skipped);
    for (int kind = 0; kind < SCHEDULE_KIND_COUNT; kind++) {
        print_message("  %-12s %d\n", schedule_names[kind], seen.by_kind[kind]);
        assert_true(seen.by_kind[kind] >= problem_count / 80);
    }
    assert_true(seen.feasible >= problem_count / 5 && seen.infeasible >= problem_count / 20 &&
                seen.refused >= problem_count / 5);
    assert_true(seen.by_ranks >= problem_count / 40);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
