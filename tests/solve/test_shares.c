// Weights from fractions of layers: the linear programs are solved to optimality, as their own
// multipliers prove; the weights of a box are at least as good as any of its paths alone, and give
// no bound above its best plan. Where memory binds, a rank goes by its decisions that fit: the
// bound is then the least mixture of any plan, and so it is through every choice.
#include "data/kinds/schedules.h"
#include "solve/boxes/box_internal.h"
#include "solve/boxes/simplex/simplex.h"
#include "tests/support/check.h"
#include "tests/support/oracle/enumerate.h"
#include "tests/support/prepare.h"
#include "tests/support/problems.h"
#include "tests/support/random_priced.h"

enum { VARIABLES = 6, ROWS = 12, BOXES = 60 };

// ---- linear programs

// What the multipliers prove: sum of multiplier x least, and the least of every variable's cost.
static double proven(const struct simplex *s, double rows[][VARIABLES], const double *least,
                     const double *upper)
{
    double sum = 0;
    for (int j = 0; j < VARIABLES; j++) {
        double cost = j == 0;
        for (int r = 0; r < ROWS; r++) cost -= simplex_multiplier(s, r) * rows[r][j];
        if (j == 0) assert_true(cost > -1e-7);
        else sum += cost < 0 ? cost * upper[j] : 0;
    }
    for (int r = 0; r < ROWS; r++) sum += simplex_multiplier(s, r) * least[r];
    return sum;
}

TEST(multipliers_prove_the_least)
{
    struct random rng = {7};
    for (int run = 0; run < 500; run++) {
        struct simplex *s = simplex_open(VARIABLES, ROWS, arena);
        double rows[ROWS][VARIABLES], least[ROWS], upper[VARIABLES], within[VARIABLES];
        for (int j = 0; j < VARIABLES; j++) {
            upper[j] = (double)random_between(&rng, 0, 9);
            within[j] = j ? (double)random_between(&rng, 0, (int64_t)upper[j]) : 99;
        }
        simplex_begin(s, VARIABLES, upper);
        for (int r = 0; r < ROWS; r++) {
            least[r] = -(double)random_between(&rng, 0, 5);
            rows[r][0] = r % 3 > 0;
            for (int j = 1; j < VARIABLES; j++) rows[r][j] = (double)random_between(&rng, -9, 9);
            for (int j = r % 3 > 0; j < VARIABLES; j++) least[r] += rows[r][j] * within[j];
            assert_true(simplex_add_row(s, rows[r], least[r]));
            if (random_chance(&rng, 50)) assert_true(simplex_solve(s, 1000));
        }
        assert_true(simplex_solve(s, 1000));
        for (int r = 0; r < ROWS; r++) {
            double sum = 0;
            for (int j = 0; j < VARIABLES; j++) sum += rows[r][j] * simplex_value(s, j);
            assert_true(sum > least[r] - 1e-6);
        }
        for (int j = 1; j < VARIABLES; j++)
            assert_true(simplex_value(s, j) > -1e-6 && simplex_value(s, j) < upper[j] + 1e-6);
        assert_true(fabs(proven(s, rows, least, upper) - simplex_value(s, 0)) < 1e-5);
    }
}

TEST(no_solution)
{
    struct simplex *s = simplex_open(2, 2, arena);
    simplex_begin(s, 2, (double[]){0, 3});
    assert_true(simplex_add_row(s, (double[]){1, 1}, 2) && simplex_solve(s, 9));
    assert_true(simplex_add_row(s, (double[]){0, 1}, 4));
    assert_true(!simplex_solve(s, 9) && !simplex_add_row(s, (double[]){0, 1}, 4));
}

// Without a solution, multipliers prove any value.
TEST(multipliers_prove_that_there_is_no_solution)
{
    struct random rng = {19};
    int climbed = 0;
    for (int run = 0; run < 500; run++) {
        struct simplex *s = simplex_open(VARIABLES, ROWS, arena);
        double rows[ROWS][VARIABLES], least[ROWS], upper[VARIABLES];
        for (int j = 0; j < VARIABLES; j++) upper[j] = (double)random_between(&rng, 0, 9);
        simplex_begin(s, VARIABLES, upper);
        for (int r = 0; r < ROWS; r++) {
            least[r] = (double)random_between(&rng, -20, 20);
            rows[r][0] = r % 3 > 0;
            for (int j = 1; j < VARIABLES; j++) rows[r][j] = (double)random_between(&rng, -9, 9);
            assert_true(simplex_add_row(s, rows[r], least[r]));
        }
        if (simplex_solve(s, 1000)) {
            assert_true(!simplex_climb(s, 1e4));
            continue;
        }
        assert_true(simplex_climb(s, 1e4));
        assert_true(proven(s, rows, least, upper) > 1e4 * (1 - 1e-6));
        climbed++;
    }
    assert_true(climbed > 100);
}

// ---- boxes

// Equal layers that may be spread in any way, up to so many more than stages, memory that never
// binds; random times.
static void draw(struct prepared *p, struct random *rng, int more, struct arena *arena)
{
    static const int kinds[] = {SCHEDULE_INTERLEAVED, SCHEDULE_LOOPED_BFS};
    int ranks = (int)random_between(rng, 2, 4), turns = (int)random_between(rng, 2, 3),
        layers = ranks * turns + (int)random_between(rng, 1, more);
    struct priced *q = &p->priced;
    chain_priced(q, layers - 2, ranks * turns, 1, ranks * (int)random_between(rng, 1, 2), arena);
    q->rank_count = q->layout.pipeline = ranks;
    q->layout.virtual_stages = turns;
    q->layout.schedule = kinds[random_between(rng, 0, 1)];
    q->layout.micro_batch = 1;
    q->rule_count = 0;
    for (int mode = 1; mode < RECOMPUTE_COUNT; mode++) q->recompute[mode] = false;
    q->groups[0].memory_limit_bytes = (int64_t)1 << 50;
    q->groups[0].slots = ranks;
    for (int part = 0; part < PART_COUNT; part++)
        q->cuts[0].forward_ns[part] = random_between(rng, 0, 20) * 100;
    for (int i = 0; i < q->run_count; i++) {
        q->runs[i].forward_ns[0] = random_between(rng, 1, 5) * 1000;
        q->runs[i].backward_ns[0] = random_between(rng, 1, 9) * 1000;
    }
    prepare(p, arena);
}

struct values {
    const struct prepared *p;
    const struct box_closer *b;
    const int64_t *coefficients;
    int paths;
    int64_t *of_path; // the least of every path
    wide of_mixture;
};

static void visit(void *argument, const int *chosen, const int64_t *durations)
{
    struct values *v = argument;
    int symbols = graph_symbol_count(v->p->graph);
    wide value = 0;
    (void)chosen;
    for (int k = 0; k < symbols; k++) value += (wide)v->coefficients[k] * durations[k];
    if (value < v->of_mixture) v->of_mixture = value;
    for (int i = 0; i < v->paths; i++) {
        const int *path = box_closer_path(v->b, i);
        int64_t sum = 0;
        for (int k = 0; k < symbols; k++) sum += path[k] * durations[k];
        if (sum / path[symbols] < v->of_path[i]) v->of_path[i] = sum / path[symbols];
    }
}

TEST(no_path_alone_is_better)
{
    struct random rng = {3};
    struct arena_mark mark = arena_set_mark(arena);
    for (int run = 0; run < BOXES; run++, arena_reset(arena, mark)) {
        struct prepared p = {0};
        draw(&p, &rng, 4, arena);
        struct box_closer *b =
            box_closer_open(&p.choices, p.graph, (struct box_settings){0}, arena);
        struct choice_box whole = choice_box_whole(b, arena);
        int symbols = graph_symbol_count(p.graph), count;
        assert_true(box_share_weights(b, &whole, INT64_MAX, &count));
        int64_t *coefficients = TAKE(arena, symbols, int64_t), left = (int64_t)1 << WEIGHT_BITS;
        assert_true(count > 0);
        for (int i = 0; i < count; i++) {
            const int *path = box_closer_path(b, b->now.ids[i]);
            left -= b->now.weights[i] * path[symbols];
            for (int k = 0; k < symbols; k++) coefficients[k] += b->now.weights[i] * path[k];
        }
        assert_true(left >= 0);
        struct values v = {&p, b, coefficients, box_closer_path_count(b), NULL, (wide)1 << 120};
        v.of_path = TAKE(arena, v.paths, int64_t);
        for (int i = 0; i < v.paths; i++) v.of_path[i] = INT64_MAX;
        struct enumeration e;
        enumerate(&e, &p.choices, p.graph, visit, &v, arena);
        int64_t bound_ns = (int64_t)(v.of_mixture >> WEIGHT_BITS);
        assert_true(bound_ns <= e.best_ns);
        for (int i = 0; i < v.paths; i++)
            assert_true((double)bound_ns > (double)v.of_path[i] * (1 - 1e-4) - 2);
    }
}

// ---- memory that binds

static void bind(struct prepared *p, struct random *rng, struct arena *arena)
{
    struct priced *q = &p->priced;
    for (int i = 0; i < q->run_count; i++) {
        q->runs[i].weight_bytes = random_between(rng, 0, 300);
        q->runs[i].stash_bytes[RECOMPUTE_NONE] = random_between(rng, 50, 150);
        q->runs[i].working_bytes[RECOMPUTE_NONE] = random_between(rng, 0, 200);
    }
    q->groups[0].memory_limit_bytes = random_between(rng, 800, 4000);
    prepare(p, arena);
}

struct mixtures {
    int64_t *coefficients;
    int symbols, stages;
    int64_t **through; // [stage][choice]: the least mixture of a plan, in whole ns upwards
    int64_t least;
};

static void visit_mixture(void *argument, const int *chosen, const int64_t *durations)
{
    struct mixtures *m = argument;
    wide value = 0;
    for (int k = 0; k < m->symbols; k++) value += (wide)m->coefficients[k] * durations[k];
    int64_t ns = (int64_t)((value + ((wide)1 << WEIGHT_BITS) - 1) >> WEIGHT_BITS);
    for (int s = 0; s < m->stages; s++)
        if (ns < m->through[s][chosen[s]]) m->through[s][chosen[s]] = ns;
    if (ns < m->least) m->least = ns;
}

// Whether the limit of any rank excludes a decision.
static bool memory_binds(const struct prepared *p, struct dynamic *d)
{
    bool binds = false;
    for (int r = 0; r < p->choices.rank_count; r++) {
        int count;
        int64_t all = 1;
        dynamic_rank_decisions(d, r, p->priced.layer_count, &count);
        for (int t = 0; t < p->choices.virtual_stages; t++)
            all *= p->choices.stages[choices_stage_of(&p->choices, r, t)].count;
        binds = binds || count < all;
    }
    return binds;
}

static void mix_shares(struct mixtures *m, const struct prepared *p, struct box_closer *b,
                       struct arena *arena)
{
    struct choice_box whole = choice_box_whole(b, arena);
    int count = 0;
    box_share_weights(b, &whole, INT64_MAX, &count);
    for (int i = 0; i < count; i++) {
        const int *path = box_closer_path(b, b->now.ids[i]);
        for (int k = 0; k < m->symbols; k++) m->coefficients[k] += b->now.weights[i] * path[k];
    }
    m->least = INT64_MAX;
    m->through = TAKE(arena, m->stages, int64_t *);
    for (int s = 0; s < m->stages; s++) {
        m->through[s] = TAKE(arena, p->choices.stages[s].count, int64_t);
        for (int i = 0; i < p->choices.stages[s].count; i++) m->through[s][i] = INT64_MAX;
    }
}

static void check_bounds(const struct prepared *p, const struct mixtures *m,
                         const struct dynamic_answer *a)
{
    assert_true(a->bound_ns <= m->least && a->bound_ns >= m->least - 1);
    for (int s = 0; s < m->stages; s++)
        for (int i = 0; i < p->choices.stages[s].count; i++) {
            assert_true(a->through_ns[s][i] <= m->through[s][i]);
            assert_true(a->through_ns[s][i] >= m->least - 1);
        }
}

TEST(decisions_that_fit_are_exact)
{
    struct random rng = {11};
    struct arena_mark mark = arena_set_mark(arena);
    int bound = 0;
    for (int run = 0; run < 4 * BOXES; run++, arena_reset(arena, mark)) {
        struct prepared p = {0};
        struct enumeration e;
        const char *why;
        draw(&p, &rng, 4, arena);
        bind(&p, &rng, arena);
        if (choices_hopeless_stage(&p.choices, &why) >= 0) continue;
        struct box_closer *b =
            box_closer_open(&p.choices, p.graph, (struct box_settings){0}, arena);
        if (!box_closer_is_by_ranks(b) || !memory_binds(&p, b->counted)) continue;
        struct mixtures m = {.symbols = graph_symbol_count(p.graph),
                             .stages = p.priced.stage_count};
        m.coefficients = TAKE(arena, m.symbols, int64_t);
        mix_shares(&m, &p, b, arena);
        enumerate(&e, &p.choices, p.graph, visit_mixture, &m, arena);
        if (e.best_ns == INT64_MAX) continue;
        struct dynamic_answer answer = {.through_ns = b->work.through,
                                        .spans_ns = b->work.spans_ns};
        struct choice_box whole = choice_box_whole(b, arena);
        dynamic_solve(b->counted,
                      &(struct dynamic_box){.coefficients = m.coefficients,
                                            .allowed = whole.allowed,
                                            .spans = whole.spans},
                      &answer);
        check_bounds(&p, &m, &answer);
        bound++;
    }
    assert_true(bound >= BOXES);
}

// Where a rank has too many decisions for parts of them, fractions of layers are within its limit.
static void check_fractions(const struct prepared *p, const struct box_closer *b)
{
    const struct choices *c = &p->choices;
    const struct priced_run *run = &p->priced.runs[1];
    double limit = (double)p->priced.groups[0].memory_limit_bytes;
    for (int r = 0; r < c->rank_count; r++)
        for (int i = 0; i < c->peaks[r].count; i++) {
            double sum = 0;
            for (int t = 0; t < c->virtual_stages; t++) {
                int s = choices_stage_of(c, r, t), held = c->peaks[r].in_flight[i][t];
                sum += box_share_of(b, s, 0) *
                       (double)(run->weight_bytes + held * run->stash_bytes[RECOMPUTE_NONE]);
            }
            assert_true(sum <= limit * (1 + 1e-4));
        }
}

TEST(fractions_fit)
{
    struct random rng = {23};
    struct arena_mark mark = arena_set_mark(arena);
    int bound = 0;
    for (int run = 0; run < 4 * BOXES; run++, arena_reset(arena, mark)) {
        struct prepared p = {0};
        const char *why;
        draw(&p, &rng, 16, arena);
        struct priced *q = &p.priced;
        int64_t weight = random_between(&rng, 0, 300), stash = random_between(&rng, 50, 150);
        for (int i = 0; i < q->run_count; i++) { // bytes are layers times a number
            q->runs[i].weight_bytes = weight;
            q->runs[i].stash_bytes[RECOMPUTE_NONE] = stash;
        }
        q->groups[0].memory_limit_bytes = q->layer_count * (weight + q->rank_count * stash) /
                                          q->rank_count * random_between(&rng, 8, 12) / 10;
        prepare(&p, arena);
        if (choices_hopeless_stage(&p.choices, &why) >= 0) continue;
        struct box_closer *b =
            box_closer_open(&p.choices, p.graph, (struct box_settings){0}, arena);
        struct choice_box whole = choice_box_whole(b, arena);
        if (!box_closer_is_by_ranks(b) || !memory_binds(&p, b->counted)) continue;
        if (!box_share_weights(b, &whole, INT64_MAX, &(int){0})) continue;
        check_fractions(&p, b);
        bound++;
    }
    assert_true(bound >= BOXES);
}
