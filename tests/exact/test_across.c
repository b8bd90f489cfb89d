// Transfers of swapped layers under other passes: what planner and judge say against a machine that
// runs every layer and every transfer by itself; never slower than passes that wait for their
// transfers; the room for it. That the best plans are exact: test_exact_decisions across.
//
//   test_across [PROBLEMS] [SEED]     make test runs 60, make test-exact 1000
#include "data/kinds/schedules.h"
#include "formulate/choices/choice.h"
#include "formulate/graph/longest.h"
#include "formulate/price/price.h"
#include "tests/support/check.h"
#include "tests/support/draws/models.h"
#include "tests/support/draws/tiers.h"

enum { BATCHES = 64, LAYERS = 64, STAGES = 8, DRAWN_PLANS = 12 };
static int problem_count = 60;
static uint64_t first_seed = 1;

// ---- the machine: a stage runs one layer after another; a layer's activations leave when it has
// run forward, one after another, and are there again before it runs backward. There is room for
// those of one micro-batch that leave, and of one that come; a backward pass begins when what it
// needs may come.

struct layer {
    int64_t forward, backward, out, in;
    bool goes;
};

struct machine {
    int stages, batches, layer_count[STAGES];
    struct layer layers[STAGES][LAYERS];
    int64_t there[STAGES], back[STAGES];      // of a message to the next stage, and back from it
    int64_t takes_f[STAGES], takes_b[STAGES]; // of a stage whose passes wait; -1: it runs by layers
    int64_t forward_end[STAGES][BATCHES], backward_end[STAGES][BATCHES]; // -1: not yet
    int64_t free[STAGES], gone[STAGES], used[STAGES], left[STAGES][BATCHES];
};

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

static void run_forward(struct machine *m, int s, int i, int64_t from)
{
    int64_t now = later(later(m->free[s], from), m->gone[s]), link = 0;
    if (m->takes_f[s] >= 0) now += m->takes_f[s];
    for (int l = 0; l < m->layer_count[s] && m->takes_f[s] < 0; l++) {
        now += m->layers[s][l].forward;
        if (m->layers[s][l].goes) link = later(link, now) + m->layers[s][l].out;
    }
    m->forward_end[s][i] = m->free[s] = now;
    m->left[s][i] = m->gone[s] = later(link, now);
}

static void run_backward(struct machine *m, int s, int i, int64_t from)
{
    int64_t link = later(m->used[s], m->left[s][i]), now = later(later(m->free[s], from), link),
            here[LAYERS] = {0};
    if (m->takes_b[s] >= 0) now += m->takes_b[s];
    for (int l = m->layer_count[s] - 1; l >= 0; l--)
        if (m->layers[s][l].goes) here[l] = link += m->layers[s][l].in;
    for (int l = m->layer_count[s] - 1; l >= 0 && m->takes_b[s] < 0; l--)
        now = later(now, here[l]) + m->layers[s][l].backward;
    m->backward_end[s][i] = m->free[s] = m->used[s] = now;
}

// The next pass of a stage, if what it needs is there: GPipe runs all forward first; 1F1B as many
// as there are stages behind it, then one of each kind in turn.
static bool step(struct machine *m, bool gpipe, int s, int *forwards, int *backwards)
{
    int ahead = gpipe ? m->batches : m->stages - s, last = m->stages - 1;
    bool forward = *forwards < m->batches && *forwards - *backwards < ahead;
    int i = forward ? *forwards : *backwards;
    if (i == m->batches) return false;
    int64_t from = forward ? (s ? m->forward_end[s - 1][i] : 0)
                           : (s < last ? m->backward_end[s + 1][i] : m->forward_end[s][i]);
    if (from < 0) return false;
    if (forward) run_forward(m, s, i, from + (s ? m->there[s - 1] : 0)), ++*forwards;
    else run_backward(m, s, i, from + (s < last ? m->back[s] : 0)), ++*backwards;
    return true;
}

static int64_t run(struct machine *m, bool gpipe)
{
    int forwards[STAGES] = {0}, backwards[STAGES] = {0};
    int64_t end = 0;
    for (int s = 0; s < m->stages; s++)
        for (int i = 0; i < m->batches; i++) m->forward_end[s][i] = m->backward_end[s][i] = -1;
    for (bool moved = true; moved;) {
        moved = false;
        for (int s = 0; s < m->stages; s++)
            while (step(m, gpipe, s, &forwards[s], &backwards[s])) moved = true;
    }
    for (int s = 0; s < m->stages; s++) {
        assert_int_equal(backwards[s], m->batches);
        end = later(end, m->free[s]);
    }
    return end;
}

// ---- drawn problems: nothing but passes, transfers and delays of messages takes time

static void clear_parts(int64_t *prices, int count)
{
    for (int i = 0; i < count; i++)
        if (i % PART_COUNT != PART_DELAY && prices[i] > 0) prices[i] = 0;
}

static void leave_passes(struct priced *p)
{
    int links = p->group_count * p->group_count * PART_COUNT;
    p->has_embedding_sync = false, p->boundary_option_count = 1;
    for (int g = 0; g < p->group_count; g++)
        memset(p->groups[g].sync_constant_ns, 0, (size_t)p->gradient_option_count * 8);
    for (int c = 0; c < p->cut_count; c++) {
        clear_parts(p->cuts[c].forward_ns, links);
        clear_parts(p->cuts[c].backward_ns[0], links);
    }
    for (int r = 0; r < p->run_count; r++) {
        size_t all = (size_t)p->group_count * 8;
        memset(p->runs[r].optimizer_ns, 0, all);
        for (int o = 0; o < p->gradient_option_count; o++) {
            memset(p->runs[r].sync_ns[o], 0, all);
            memset(p->runs[r].tiered[o].optimizer_ns, 0, all);
        }
    }
}

static bool draw(struct priced *p, struct random *rng, struct arena *arena, struct error err)
{
    struct problem problem;
    struct random_limits limits = random_limits_small();
    limits.plans_max = 20000;
    random_problem(&problem, rng, &limits, arena);
    if (!random_tiers(&problem, rng->state, arena) || problem_check(&problem, &err) != OK)
        return false;
    CHECK_OK(price_problem(p, &problem, arena, &err));
    if (!priced_swaps_across(p) || p->micro_batches > BATCHES || p->stage_count > STAGES ||
        p->layer_count > LAYERS || p->layout.in_flight[0] ||
        (p->layout.schedule != SCHEDULE_1F1B && p->layout.schedule != SCHEDULE_GPIPE))
        return false;
    leave_passes(p);
    return true;
}

static void put_stage(struct machine *m, const struct priced *p, int s, const struct choice *x)
{
    int first = m->layer_count[s] = 0, swapped = x->swapped_layers, again = x->recomputed_layers;
    for (int before = 0; before < s; before++) first += m->layer_count[before];
    bool across = p->gradient_options[x->gradient_option].across_passes &&
                  x->recompute == RECOMPUTE_SWAP;
    m->takes_f[s] = across ? -1 : x->forward_ns[0], m->takes_b[s] = across ? -1 : x->backward_ns[0];
    m->layer_count[s] = x->layer_count;
    for (int l = 0; l < x->layer_count; l++) {
        const struct priced_run *r = &p->runs[priced_run_of(p, first + l)];
        const struct priced_tiered *t = &r->tiered[x->gradient_option];
        bool goes = across && r->recomputable && swapped > 0,
             full = across && r->recomputable && !goes && again > 0;
        swapped -= goes, again -= full;
        m->layers[s][l] =
            (struct layer){.forward = priced_forward_ns(r, x->gradient_option)[x->group],
                           .backward = priced_backward_ns(r, x->gradient_option)[x->group] +
                                       (full ? r->again_ns[RECOMPUTE_FULL][x->group] : 0),
                           .out = goes ? t->away_ns[x->group] : 0,
                           .in = goes ? t->back_ns[x->group] : 0,
                           .goes = goes};
    }
}

// The delays, and the choices as they are when passes wait.
struct trial {
    struct priced priced, waits;
    struct schedule schedule, still;
    struct choices choices, waiting;
    int64_t *durations;
};

static int64_t time_of(const struct schedule *s, const int64_t *durations, struct arena *arena,
                       struct error err)
{
    struct graph *graph;
    CHECK_OK(graph_compile(&graph, s, arena, &err));
    return graph_longest(graph, durations, NULL);
}

// The same decisions with all passes waiting: the time, and the room of the stages.
static int64_t time_waiting(struct trial *t, const int *chosen, struct arena *arena,
                            struct error err)
{
    int64_t waits[SYMBOL_KIND_COUNT * STAGES];
    int stages = t->priced.stage_count;
    memcpy(waits, t->durations, (size_t)symbol_count(stages, 1) * sizeof *waits);
    for (int s = 0; s < stages; s++) {
        const struct choice *x = &t->choices.stages[s].items[chosen[s]];
        struct choice y = *x;
        int64_t most = 0, all = 0, taken = x->swapped_layers;
        int layer = choice_first_layer(&t->choices, s, x);
        choice_evaluate(&t->waiting, s, &y);
        choices_stage_durations(&t->waiting, s, &y, waits);
        assert_int_equal(y.away_ns, 0);
        assert_int_equal(y.back_ns, 0);
        for (int l = layer; l < layer + x->layer_count; l++) {
            const struct priced_run *r = &t->priced.runs[priced_run_of(&t->priced, l)];
            if (!r->recomputable) continue;
            most = later(most, r->stash_bytes[RECOMPUTE_NONE]);
            if (taken-- > 0) all += r->stash_bytes[RECOMPUTE_NONE];
        }
        bool across = x->recompute == RECOMPUTE_SWAP &&
                      t->priced.gradient_options[x->gradient_option].across_passes;
        assert_int_equal(x->memory.working_bytes - y.memory.working_bytes,
                         across ? 2 * (all - most) : 0);
        assert_true(x->forward_ns[0] + x->away_ns <= y.forward_ns[0]);
        assert_true(x->backward_ns[0] + x->back_ns <= y.backward_ns[0]);
    }
    return time_of(&t->still, waits, arena, err);
}

static bool open_trial(struct trial *t, struct random *rng, struct arena *arena, struct error err)
{
    if (!draw(&t->priced, rng, arena, err)) return false;
    t->waits = t->priced;
    t->waits.gradient_options =
        TAKE_COPY(arena, t->priced.gradient_options, t->priced.gradient_option_count);
    for (int o = 0; o < t->waits.gradient_option_count; o++)
        t->waits.gradient_options[o].across_passes = false;
    struct schedule_request request = schedule_request_of(&t->priced),
                            still = schedule_request_of(&t->waits);
    assert_true(request.across_passes && !still.across_passes);
    CHECK_OK(schedule_build(&t->schedule, &request, arena, &err));
    CHECK_OK(schedule_build(&t->still, &still, arena, &err));
    CHECK_OK(choices_build(&t->choices, &t->priced, &t->schedule, arena, &err));
    CHECK_OK(choices_build(&t->waiting, &t->waits, &t->still, arena, &err));
    t->durations = TAKE(arena, symbol_count(t->priced.stage_count, 1), int64_t);
    return true;
}

// Among those drawn as soon as a stage of it swaps across passes.
static bool draw_plan(struct trial *t, int *chosen, struct random *rng)
{
    bool across = false;
    for (int s = 0; s < t->priced.stage_count; s++) {
        const struct stage_choices *all = &t->choices.stages[s];
        if (!all->count) return false;
        chosen[s] = (int)random_between(rng, 0, all->count - 1);
        for (int i = 0; i < all->count && random_chance(rng, 70); i++) {
            const struct choice *x = &all->items[(chosen[s] + i) % all->count];
            if (x->recompute != RECOMPUTE_SWAP) continue;
            chosen[s] = (chosen[s] + i) % all->count;
            break;
        }
        const struct choice *x = &all->items[chosen[s]];
        across = across || x->away_ns || x->back_ns;
    }
    return across && choices_fit_together(&t->choices, chosen) &&
           choices_durations(&t->choices, chosen, t->durations);
}

static int64_t run_plan(const struct trial *t, const int *chosen, struct arena *arena)
{
    struct machine *m = TAKE(arena, 1, struct machine);
    int stages = m->stages = t->priced.stage_count;
    m->batches = t->priced.micro_batches;
    for (int s = 0; s < stages; s++)
        put_stage(m, &t->priced, s, &t->choices.stages[s].items[chosen[s]]);
    for (int s = 0; s + 1 < stages; s++) {
        int forward = SYMBOL_SEND_FORWARD + PART_DELAY, back = SYMBOL_SEND_BACKWARD + PART_DELAY;
        m->there[s] = t->durations[symbol_index(stages, forward, s)];
        m->back[s] = t->durations[symbol_index(stages, back, s)];
    }
    return run(m, t->priced.layout.schedule == SCHEDULE_GPIPE);
}

TEST(plans_take_what_the_machine_takes)
{
    struct random rng = {first_seed * 977 + 5};
    struct arena_mark mark = arena_set_mark(arena);
    int plans = 0, faster = 0;
    for (int found = 0; found < problem_count; arena_reset(arena, mark)) {
        struct trial t;
        int chosen[STAGES], before = plans;
        if (!open_trial(&t, &rng, arena, err)) continue;
        for (int i = 0; i < DRAWN_PLANS; i++) {
            if (!draw_plan(&t, chosen, &rng)) continue;
            int64_t planned = time_of(&t.schedule, t.durations, arena, err),
                    ran = run_plan(&t, chosen, arena),
                    waiting = time_waiting(&t, chosen, arena, err);
            if (planned != ran)
                fail_msg(
                    "%lld ns planned, %lld ns by the machine (%s, %d stages, %d micro-batches)",
                    (long long)planned, (long long)ran, schedule_names[t.priced.layout.schedule],
                    t.priced.stage_count, t.priced.micro_batches);
            if (planned > waiting)
                fail_msg("%lld ns, %lld ns where passes wait", (long long)planned,
                         (long long)waiting);
            plans++, faster += planned < waiting;
        }
        found += plans > before;
    }
    print_message("%d problems, %d plans, %d of them faster than where passes wait\n",
                  problem_count, plans, faster);
    assert_true(faster > plans / 20);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
