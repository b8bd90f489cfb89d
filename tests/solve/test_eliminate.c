// Bounds and elimination against exhaustive enumeration: the dynamic programme gives the exact
// least value of a mixture of paths, no choice of a plan below the target is ever removed, and
// splitting boxes ends at the optimum.
#include <assert.h>

#include "data/kinds/schedules.h"
#include "formulate/price/price.h"
#include "solve/boxes/dynamic.h"
#include "solve/layout/internal.h"
#include "solve/boxes/box.h"
#include "solve/boxes/search.h"
#include "tests/support/oracle/enumerate.h"
#include "tests/support/prepare.h"
#include "tests/support/problems.h"
#include "tests/support/random_priced.h"
#include "tests/support/check.h"

enum { PATHS = 5 };
static int problem_count = 60; // test_eliminate COUNT: as many

static const int64_t one = (int64_t)1 << WEIGHT_BITS;

// false: nothing to price (excluded layouts are no matter here).
// coefficients[symbol] = sum over the paths of weights[i] (multiples of 2^-40, >= 0) x counts.
static void dynamic_coefficients(int64_t *coefficients, const int *paths, const int64_t *weights,
                                 int path_count, int symbols)
{
    memset(coefficients, 0, (size_t)symbols * sizeof *coefficients);
    for (int i = 0; i < path_count; i++) {
        assert(weights[i] >= 0 && path_laps(paths + i * path_size(symbols), symbols) >= 1);
        for (int k = 0; k < symbols; k++)
            coefficients[k] += weights[i] * paths[i * path_size(symbols) + k];
    }
}

static bool draw(struct prepared *p, struct random *rng, bool long_and_close, struct arena *arena)
{
    struct random_limits limits = random_limits_small();
    struct problem problem = {0};
    struct error err = {0};
    limits.long_and_close = long_and_close;
    random_problem(&problem, rng, &limits, arena);
    if (price_problem(&p->priced, &problem, arena, &err) != OK) return false;
    prepare(p, arena);
    for (int s = 0; s < p->priced.stage_count; s++)
        if (p->choices.stages[s].count == 0) return false;
    return true;
}

// Whether some schedule of several stages a rank, a split backward or slices is drawn; not too many
// plans to enumerate.
static bool draw_scheduled(struct prepared *p, struct random *rng, struct arena *arena)
{
    uint64_t state = random_bits(rng);
    random_priced_of(&p->priced, (int)random_between(rng, 0, SCHEDULE_KIND_COUNT - 1), &state,
                     arena);
    prepare(p, arena);
    double plans = 1;
    for (int s = 0; s < p->priced.stage_count; s++) plans *= p->choices.stages[s].count;
    return plans > 0 && plans < 3e5;
}

// Runs check on drawn problems, every other one of any schedule; returns how many there were.
static int each_problem(uint64_t seed, int count,
                        void (*check)(struct prepared *p, struct random *rng, struct arena *arena))
{
    struct random rng = {seed};
    int checked = 0;
    struct arena_mark mark = arena_set_mark(&own_arena);
    for (int i = 0; i < count; i++, arena_reset(&own_arena, mark)) {
        struct prepared p = {0};
        if (i % 2 ? draw_scheduled(&p, &rng, &own_arena) : draw(&p, &rng, i % 4 == 0, &own_arena)) {
            check(&p, &rng, &own_arena);
            checked++;
        }
    }
    return checked;
}

// ---- the dynamic programme

struct mixture {
    const int64_t *coefficients;
    int symbols;
    wide least, least_any;
};

static void visit_mixture(void *argument, const int *chosen, const int64_t *durations)
{
    struct mixture *m = argument;
    wide value = 0;
    (void)chosen;
    for (int k = 0; k < m->symbols; k++) value += (wide)m->coefficients[k] * durations[k];
    m->least = m->least < 0 || value < m->least ? value : m->least;
}

// Weights of some starting paths that sum to at most one.
static void draw_coefficients(struct prepared *p, struct random *rng, int64_t *coefficients,
                              struct arena *arena)
{
    int *all, symbols = graph_symbol_count(p->graph),
              count = graph_starting_paths(p->graph, &all, NULL, NULL, arena);
    int size = symbols + 1, *paths = TAKE(arena, PATHS * size, int);
    int64_t weights[PATHS], left = one;
    for (int i = 0; i < PATHS; i++) {
        weights[i] = i == PATHS - 1 ? left : random_between(rng, 0, left);
        left -= weights[i];
        memcpy(paths + i * size, all + random_between(rng, 0, count - 1) * size,
               (size_t)size * sizeof *paths);
    }
    dynamic_coefficients(coefficients, paths, weights, PATHS, symbols);
}

static int by_ranks_seen;

static void check_dynamic(struct prepared *p, struct random *rng, struct arena *arena)
{
    int stages = p->priced.stage_count, symbols = graph_symbol_count(p->graph);
    int64_t *coefficients = TAKE(arena, symbols, int64_t),
            **through = TAKE(arena, stages, int64_t *);
    draw_coefficients(p, rng, coefficients, arena);
    for (int s = 0; s < stages; s++) through[s] = TAKE(arena, p->choices.stages[s].count, int64_t);
    struct mixture m = {.coefficients = coefficients, .symbols = symbols, .least = -1};
    struct enumeration e;
    enumerate(&e, &p->choices, p->graph, visit_mixture, &m, arena);
    struct dynamic_box box = {.coefficients = coefficients};
    struct dynamic_answer answer = {.chosen = TAKE(arena, stages, int), .through_ns = through};
    struct dynamic *d = dynamic_open(&p->choices, 1 << 22, arena);
    by_ranks_seen += dynamic_is_by_ranks(d);
    dynamic_solve(d, &box, &answer);
    assert_true(answer.bound_ns <= e.best_ns);
    for (int s = 0; s < stages; s++)
        for (int i = 0; i < p->choices.stages[s].count; i++) {
            assert_true(through[s][i] <= e.best_with_ns[s][i]);
            assert_true(through[s][i] >= answer.bound_ns);
        }
    int64_t least_ns = m.least < 0 ? DYNAMIC_NOTHING
                                   : (int64_t)((m.least + one - 1) >> WEIGHT_BITS);
    assert_true(answer.bound_ns <= least_ns);
    if (!p->priced.has_embedding_sync && p->choices.virtual_stages == 1) {
        // Nothing is relaxed: the bound is the least value itself, rounded up; below 2^-20 ns per
        // term it is rounded down.
        int64_t exact = m.least < 0 ? DYNAMIC_NOTHING
                                    : (int64_t)((m.least + one - 1) >> WEIGHT_BITS);
        assert_true(answer.bound_ns == exact || (m.least >= 0 && answer.bound_ns == exact - 1 &&
                                                 (m.least & (one - 1)) < (wide)one >> 12));
        if (m.least >= 0) assert_true(choices_fit_together(&p->choices, answer.chosen));
    }
    // With everything priced at will it stays a bound.
    int64_t *prices = TAKE(arena, dynamic_resource_count(d), int64_t);
    for (int r = 0; r < dynamic_resource_count(d); r++)
        prices[r] = random_between(rng, 0, (int64_t)1 << random_between(rng, 1, 34));
    box.prices = prices;
    dynamic_solve(dynamic_open(&p->choices, 0, arena), &box, &answer);
    assert_true(answer.bound_ns <= e.best_ns);
    for (int s = 0; s < stages; s++)
        for (int i = 0; i < p->choices.stages[s].count; i++)
            assert_true(through[s][i] <= e.best_with_ns[s][i]);
}

TEST(test_dynamic_is_the_least_value)
{
    by_ranks_seen = 0;
    assert_true(each_problem(1, problem_count, check_dynamic) > problem_count / 2);
    assert_true(by_ranks_seen >= problem_count / 50);
}

// ---- elimination

static bool is_kept(const struct choices *c, int stage, const struct choice *of)
{
    for (int i = 0; i < c->stages[stage].count; i++)
        if (!memcmp(&c->stages[stage].items[i], of, sizeof *of)) return true;
    return false;
}

static void check_eliminate(struct prepared *p, struct random *rng, struct arena *arena)
{
    struct enumeration e;
    enumerate(&e, &p->choices, p->graph, NULL, NULL, arena);
    int64_t target =
        e.best_ns == INT64_MAX
            ? INT64_MAX / 4
            : e.best_ns + (random_chance(rng, 50) ? 1 : random_between(rng, 0, 1 + e.best_ns / 5));
    int stages = p->priced.stage_count;
    struct stage_choices *before = TAKE(arena, stages, struct stage_choices);
    for (int s = 0; s < stages; s++) {
        before[s].count = p->choices.stages[s].count;
        before[s].items = TAKE_COPY(arena, p->choices.stages[s].items, before[s].count);
    }
    int64_t bound =
        eliminate(&p->choices, p->graph, target, NULL, NULL, 0, NULL, NULL, NULL, arena);
    assert_true(bound <= target);
    assert_true(bound <= e.best_ns || bound == target);
    assert_true(e.best_ns >= target || bound <= e.best_ns);
    for (int s = 0; s < stages; s++)
        for (int i = 0; i < before[s].count; i++)
            if (e.best_with_ns[s][i] < target)
                assert_true(is_kept(&p->choices, s, &before[s].items[i]));
    struct enumeration again;
    enumerate(&again, &p->choices, p->graph, NULL, NULL, arena);
    if (e.best_ns < target)
        assert_true(again.best_ns == e.best_ns && again.best_plans == e.best_plans);
}

TEST(test_no_plan_below_the_target_goes)
{
    assert_true(each_problem(2, problem_count, check_eliminate) > problem_count / 2);
}

// ---- boxes

struct search {
    struct prepared *p;
    struct box_closer *closer;
    struct arena *arena;
    int64_t best_ns;
    int boxes;
};

// The half of a split box: in = true the heavier loads, or the one choice, or the group, or the
// more layers.
static struct choice_box half(const struct search *s, const struct choice_box *box,
                              const struct box_answer *a, bool in)
{
    const struct choices *c = &s->p->choices;
    struct choice_box copy = choice_box_copy(s->closer, box, s->arena);
    int at = a->split.at, value = (int)a->split.value;
    if (a->split.by == SPLIT_LAYERS) {
        struct layer_span *span = &copy.spans[at];
        assert_true(span->least < value && value <= span->most);
        *(in ? &span->least : &span->most) = in ? value : value - 1;
        return copy;
    }
    for (int i = 0; i < c->stages[at].count; i++) {
        const struct choice *x = &c->stages[at].items[i];
        bool belongs = a->split.by == SPLIT_CHOICE  ? i == value
                       : a->split.by == SPLIT_GROUP ? x->group == value
                       : a->split.by == SPLIT_PLACE ? x->first_layer == value
                                                    : x->load_ns >= a->split.value;
        copy.allowed[at][i] = copy.allowed[at][i] && belongs == in;
    }
    return copy;
}

static void search_box(struct search *s, const struct choice_box *box)
{
    struct choice_box left = choice_box_copy(s->closer, box, s->arena);
    struct box_answer answer;
    int64_t target = s->best_ns;
    bool closed = box_close(s->closer, &left, target, 0, &answer);
    assert_true(++s->boxes < 200000);
    if (answer.found_ns < s->best_ns) s->best_ns = answer.found_ns;
    struct box_argument argument = {answer.steps, answer.step_count, target};
    assert_true(
        box_repeat(s->closer, box, closed ? s->best_ns : target, &argument, closed ? NULL : &left));
    if (closed) return;
    struct choice_box heavier = half(s, &left, &answer, true),
                      lighter = half(s, &left, &answer, false);
    search_box(s, &heavier);
    search_box(s, &lighter);
}

static void check_boxes(struct prepared *p, struct random *rng, struct arena *arena)
{
    struct enumeration e;
    enumerate(&e, &p->choices, p->graph, NULL, NULL, arena);
    struct search s = {p, box_closer_open(&p->choices, p->graph, (struct box_settings){0}, arena),
                       arena, INT64_MAX / 4, 0};
    bool start_at_best = random_chance(rng, 30) && e.best_ns < INT64_MAX;
    if (start_at_best) s.best_ns = e.best_ns + random_between(rng, 0, 1);
    struct choice_box whole = choice_box_whole(s.closer, arena);
    search_box(&s, &whole);
    assert_true(s.best_ns == (e.best_ns == INT64_MAX ? INT64_MAX / 4 : e.best_ns));
}

TEST(test_splitting_ends_at_the_optimum)
{
    assert_true(each_problem(3, problem_count, check_boxes) > problem_count / 2);
}

// A step with manipulated weights proves nothing false: a box with a plan below the target never
// repeats as closed, and without its steps a box with several decisions is not closed.
enum { PARTS = 32 };

static void check_repeat(struct prepared *p, struct random *rng, struct arena *arena)
{
    struct enumeration e;
    enumerate(&e, &p->choices, p->graph, NULL, NULL, arena);
    if (e.best_ns == INT64_MAX) return;
    struct box_closer *closer =
        box_closer_open(&p->choices, p->graph, (struct box_settings){0}, arena);
    struct choice_box whole = choice_box_whole(closer, arena);
    struct box_step steps[20];
    for (int i = 0; i < 20; i++) {
        int *id = TAKE(arena, 1, int);
        *id = (int)random_between(rng, 0, box_closer_path_count(closer) - 1);
        steps[i] = (struct box_step){.path_count = 1, .ids = id, .weights = &one, .removes = true};
    }
    // Nor does a lower target help, by which its steps remove more.
    for (int i = 0; i < PARTS; i++) {
        struct box_argument argument = {steps, 20, e.best_ns + 1 - e.best_ns / PARTS * i};
        assert_false(box_repeat(closer, &whole, e.best_ns + 1, &argument, NULL));
    }
    if (e.plans > 1 && e.best_ns > 0)
        assert_false(box_repeat(closer, &whole, e.best_ns, &(struct box_argument){0}, NULL));
}

TEST(test_a_box_with_a_better_plan_is_never_closed)
{
    assert_true(each_problem(4, problem_count / 2, check_repeat) > problem_count / 4);
}

// ---- the whole search

static void check_search(struct prepared *p, struct random *rng, struct arena *arena)
{
    struct enumeration e;
    enumerate(&e, &p->choices, p->graph, NULL, NULL, arena);
    struct box_search_settings settings = {
        .target_ns = INT64_MAX, .boxes_max = 100000, .recheck = true};
    struct box_search_result r;
    box_search(&r, &p->choices, p->graph, &settings, arena);
    assert_true(r.finished && r.bad == 0);
    assert_true(r.best_ns == e.best_ns && r.found_better == (e.best_ns < INT64_MAX));
    if (e.best_ns == INT64_MAX) return;
    assert_true(r.bound_ns == e.best_ns);
    assert_true(choices_fit_together(&p->choices, r.found));
    // With a known plan only better ones are sought; with a gap the bound stays one; cut short it
    // stays one.
    settings.target_ns = e.best_ns + random_between(rng, 0, 3);
    settings.gap = random_chance(rng, 50) ? 0 : (double)random_between(rng, 0, 20) / 100;
    box_search(&r, &p->choices, p->graph, &settings, arena);
    assert_true(r.finished && r.bad == 0 && r.bound_ns <= e.best_ns &&
                r.best_ns <= settings.target_ns);
    assert_true((double)(r.best_ns - r.bound_ns) <= settings.gap * (double)r.best_ns);
    settings = (struct box_search_settings){.target_ns = INT64_MAX,
                                            .boxes_max = random_between(rng, 0, 3)};
    box_search(&r, &p->choices, p->graph, &settings, arena);
    assert_true(r.bound_ns <= e.best_ns && r.best_ns >= e.best_ns);
    if (r.finished) assert_true(r.best_ns == e.best_ns);
}

TEST(test_the_search_by_boxes_is_exact)
{
    assert_true(each_problem(5, problem_count, check_search) > problem_count / 2);
}

// ---- the proof of the search

struct plans_in {
    const struct choices *c;
    const struct box_record *record;
    int count;
};

static void count_if_in(void *argument, const int *chosen, const int64_t *durations)
{
    struct plans_in *in = argument;
    bool is_in = true;
    (void)durations;
    for (int s = 0, at = 0; s < in->c->priced->stage_count; at += in->c->stages[s++].count)
        is_in = is_in && in->record->given[(at + chosen[s]) / 8] >> (at + chosen[s]) % 8 & 1;
    in->count += is_in;
}

// Then nothing but its steps can prove it.
static bool holds_several_plans(struct prepared *p, const struct box_record *record,
                                struct arena *arena)
{
    struct plans_in in = {&p->choices, record, 0};
    struct enumeration e;
    enumerate(&e, &p->choices, p->graph, count_if_in, &in, arena);
    return in.count > 1;
}

// Whether the recheck finds that a record's steps have lost their weights.
static bool finds_lost_weights(struct prepared *p, const struct box_search_result *r,
                               struct box_record *record, struct arena *arena)
{
    const struct box_step *kept = record->steps;
    struct box_step *steps = TAKE(arena, record->step_count, struct box_step);
    for (int i = 0; i < record->step_count; i++) {
        steps[i] = kept[i];
        steps[i].weights = TAKE(arena, kept[i].path_count, int64_t);
    }
    record->steps = steps;
    bool found = box_proof_recheck(&r->proof, r->bound_ns, &p->choices, p->graph, arena) > 0;
    record->steps = kept;
    return found;
}

// A choice of the best plan is missing in the whole problem, or a claim is raised over the best
// plan's time.
static void check_wrong_box(struct prepared *p, const struct box_search_result *r,
                            struct random *rng, struct arena *arena)
{
    struct box_record *first = &r->proof.records[0];
    int stage = (int)random_between(rng, 0, p->priced.stage_count - 1), at = r->found[stage];
    for (int s = 0; s < stage; s++) at += p->choices.stages[s].count;
    first->given[at / 8] = (unsigned char)(first->given[at / 8] ^ 1u << at % 8);
    assert_true(box_proof_recheck(&r->proof, r->bound_ns, &p->choices, p->graph, arena) > 0);
    first->given[at / 8] = (unsigned char)(first->given[at / 8] ^ 1u << at % 8);
    // The plan is in one of the records that are not split: with all claims raised, that one cannot
    // hold.
    for (int64_t i = 0; i < r->proof.count; i++) r->proof.records[i].claim_ns += 1;
    assert_true(box_proof_recheck(&r->proof, r->bound_ns + 1, &p->choices, p->graph, arena) > 0);
    for (int64_t i = 0; i < r->proof.count; i++) r->proof.records[i].claim_ns -= 1;
}

static void check_proof(struct prepared *p, struct random *rng, struct arena *arena)
{
    struct box_search_settings settings = {
        .target_ns = INT64_MAX,
        .boxes_max = random_chance(rng, 30) ? random_between(rng, 1, 4) : 100000};
    struct box_search_result r;
    box_search(&r, &p->choices, p->graph, &settings, arena);
    assert_int_equal(box_proof_recheck(&r.proof, r.bound_ns, &p->choices, p->graph, arena), 0);
    if (!r.finished || !r.found_better || r.bound_ns == 0) return;
    assert_true(box_proof_recheck(&r.proof, r.bound_ns + 1, &p->choices, p->graph, arena) > 0);
    check_wrong_box(p, &r, rng, arena);
    for (int64_t i = 0; i < r.proof.count; i++)
        if (r.proof.records[i].first_part < 0 && r.proof.records[i].claim_ns > 0 &&
            holds_several_plans(p, &r.proof.records[i], arena))
            assert_true(finds_lost_weights(p, &r, &r.proof.records[i], arena));
}

TEST(test_the_proof_holds_and_faults_in_it_are_found)
{
    assert_true(each_problem(6, problem_count, check_proof) > problem_count / 2);
}

ARGUMENT(problem_count)
