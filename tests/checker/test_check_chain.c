// What the transfers of a pipeline take together beyond the least of each, as the checker computes
// it, against all chains of device groups with all messages: never more; with few device groups,
// exactly that.
//
//   test_check_chain [TRIALS] [SEED]
#include "solve/checker/boxes/chain.h"
#include "solve/checker/places/places.h"
#include "tests/support/check.h"
#include "tests/support/problems.h"

enum { DEFAULT_TRIALS = 400, NODES = 20, GROUPS = 2, CUTS = 2, OPTIONS = 2, RANKS_MOST = 4 };

static int trial_count = DEFAULT_TRIALS;
static uint64_t first_seed = 1;

struct drawn {
    struct check_node nodes[NODES];
    struct check_group groups[GROUPS];
    struct check_run runs[CUTS];
    struct check_cut cuts[CUTS];
    struct check_option options[OPTIONS], gradient;
    struct check_problem problem;
    struct check_places places;
    bool joined[NODES][NODES];
    int64_t forward[NODES][NODES][CUTS][PARTS], backward[NODES][NODES][CUTS][OPTIONS][PARTS];
    bool may_ring[GROUPS * GROUPS];
    unsigned char kind_of[1 << GROUPS];
    int64_t nothing[8], *steps[1];
};

static bool tell_pair(void *context, int from, int to, bool *joined, struct check_pair *prices)
{
    const struct drawn *d = context;
    *joined = d->joined[from][to];
    memcpy(prices->forward, d->forward[from][to], sizeof d->forward[from][to]);
    memcpy(prices->backward, d->backward[from][to], sizeof d->backward[from][to]);
    return true;
}

static bool tell_link(void *context, int kind, int from, int to, const int64_t rings[2],
                      bool *joined, struct check_ring_link *prices)
{
    (void)context, (void)kind, (void)from, (void)to, (void)rings, (void)prices;
    *joined = false;
    return true;
}

static void draw_prices(struct drawn *d, struct random *rng)
{
    int missing = (int)random_between(rng, 0, 2) * 20, kinds = (int)random_between(rng, 1, 30);
    for (int i = 0; i < NODES * NODES; i++) {
        int from = i / NODES, to = i % NODES;
        int64_t speed = random_between(rng, 1, kinds);
        d->joined[from][to] = !random_chance(rng, missing);
        for (int k = 0; k < CUTS * PARTS; k++) {
            d->forward[from][to][k / PARTS][k % PARTS] = speed * random_between(rng, 3, 4) +
                                                         k / PARTS;
            for (int o = 0; o < OPTIONS; o++)
                d->backward[from][to][k / PARTS][o][k % PARTS] = (o ? 1 : 3) * speed +
                                                                 random_between(rng, 0, 1);
        }
    }
}

static void draw(struct drawn *d, struct random *rng, bool many)
{
    int64_t *none = d->nothing;
    int left = many ? NODES : (int)random_between(rng, 2, 7);
    *d = (struct drawn){.gradient = {.amount = 0}};
    d->steps[0] = none;
    for (int g = 0; g < GROUPS; g++)
        d->groups[g] = (struct check_group){.name = "group", .slots = 1, .sync_constant = none};
    for (int i = 0; i < CUTS; i++) {
        d->runs[i] = (struct check_run){"run",
                                        .count = 3,
                                        .cut = i,
                                        .forward = none,
                                        .backward = none,
                                        .again[MODE_SELECTIVE] = none,
                                        .again[MODE_FULL] = none,
                                        .weight = none,
                                        .optimizer_bytes = none,
                                        .optimizer = d->steps,
                                        .stash = none,
                                        .working = none,
                                        .feedback = none};
        d->cuts[i] = (struct check_cut){.feedback = none};
    }
    d->options[1] = (struct check_option){
        .amount = 4, .epilogue_only = random_chance(rng, 50), .remembers = true};
    for (int i = 0; i < NODES; i++)
        d->nodes[i] = (struct check_node){"node", (int)random_between(rng, 0, GROUPS - 1),
                                          left-- <= 0                       ? 0
                                          : !many && random_chance(rng, 25) ? 2
                                                                            : 1};
    d->problem = (struct check_problem){.kind = check_schedule_default,
                                        .barrier = true,
                                        .turns = 1,
                                        .slices = 1,
                                        .micro_batches = 1,
                                        .layers = 6,
                                        .group_count = GROUPS,
                                        .run_count = CUTS,
                                        .cut_count = CUTS,
                                        .boundary_count = OPTIONS,
                                        .gradient_count = 1,
                                        .groups = d->groups,
                                        .runs = d->runs,
                                        .cuts = d->cuts,
                                        .boundary = d->options,
                                        .gradient = &d->gradient};
    d->problem.ranks = d->problem.stages = (int)random_between(rng, 2, RANKS_MOST);
    memset(d->may_ring, true, sizeof d->may_ring);
    draw_prices(d, rng);
    d->places = (struct check_places){.problem = &d->problem,
                                      .nodes = d->nodes,
                                      .node_count = NODES,
                                      .replicas = 1,
                                      .kinds = 1,
                                      .kind_of = d->kind_of,
                                      .may_ring = d->may_ring,
                                      .micro_batches = 1,
                                      .unit = 1,
                                      .pair = tell_pair,
                                      .link = tell_link,
                                      .context = d};
}

struct all_chains {
    const struct drawn *d;
    const struct check_problem *p;
    const int64_t *coefficients;
    int node[RANKS_MOST], left[NODES];
    wide least; // -1: there is none
};

// The message over a boundary, of a class and with an option, beyond what the problem has for the
// groups.
static wide message_beyond(const struct all_chains *a, int boundary, int cut, int option)
{
    const struct drawn *d = a->d;
    int from = a->node[boundary], to = a->node[boundary + 1],
        steady = d->options[option].epilogue_only ? 0 : option;
    int at = (d->nodes[from].group * GROUPS + d->nodes[to].group) * PARTS;
    const struct check_cut *least = &a->p->cuts[cut];
    wide sum = 0;
    for (int part = 0; part < PARTS; part++) {
        sum += (wide)a->coefficients[check_symbol(a->p, KIND_SEND_FORWARD + part, boundary, 0)] *
               (d->forward[from][to][cut][part] - least->forward[at + part]);
        sum += (wide)a->coefficients[check_symbol(a->p, KIND_SEND_BACKWARD + part, boundary, 0)] *
               (d->backward[from][to][cut][steady][part] - least->backward[steady][at + part]);
        sum += (wide)a->coefficients[check_symbol(a->p, KIND_SEND_EPILOGUE + part, boundary, 0)] *
               (d->backward[from][to][cut][option][part] - least->backward[option][at + part]);
    }
    return sum;
}

static void all_messages(struct all_chains *a, int boundary, wide sum)
{
    if (boundary + 1 == a->p->ranks) {
        if (a->least < 0 || sum < a->least) a->least = sum;
        return;
    }
    for (int i = 0; i < CUTS * OPTIONS; i++)
        all_messages(a, boundary + 1, sum + message_beyond(a, boundary, i / OPTIONS, i % OPTIONS));
}

static void all_nodes(struct all_chains *a, int rank)
{
    if (rank == a->p->ranks) {
        all_messages(a, 0, 0);
        return;
    }
    for (int i = 0; i < NODES; i++) {
        if (!a->left[i] || (rank && !a->d->joined[a->node[rank - 1]][i])) continue;
        a->left[i]--;
        a->node[rank] = i;
        all_nodes(a, rank + 1);
        a->left[i]++;
    }
}

static int try_chains(uint64_t seed, bool many, struct arena *arena)
{
    struct random rng = {seed};
    struct drawn *d = TAKE(arena, 1, struct drawn);
    struct check_problem p;
    struct error err = {OK, ""};
    const struct reader r = {"places", &err};
    const struct check_relaxation chained = {false, -1, true};
    uint64_t work = UINT64_MAX / 2;
    wide excess;
    draw(d, &rng, many);
    if (many && d->problem.ranks > 3) d->problem.ranks = d->problem.stages = 3;
    CHECK_OK(check_relax_places(&p, &d->places, &chained, &r, &work, arena));
    int64_t *coefficients = TAKE(arena, check_symbol_count(&p), int64_t);
    for (int i = 0; i < check_symbol_count(&p); i++)
        coefficients[i] = random_chance(&rng, 20) ? 0 : random_between(&rng, 0, 1 << 20);
    struct all_chains a = {.d = d, .p = &p, .coefficients = coefficients, .least = -1};
    for (int i = 0; i < NODES; i++) a.left[i] = d->nodes[i].slots;
    all_nodes(&a, 0);
    CHECK_OK(check_chain_excess(&p, coefficients, &work, &excess));
    if (a.least >= 0 && excess > a.least)
        fail_msg("seed %llu: %.0f is said to be the least, a chain takes %.0f",
                 (unsigned long long)seed, (double)excess, (double)a.least);
    if (!many && (a.least < 0 ? excess < (wide)1 << 100 : excess != a.least))
        fail_msg("seed %llu: %.0f is said to be the least of few, it is %.0f",
                 (unsigned long long)seed, (double)excess, (double)a.least);
    return a.least > 0 && excess > 0;
}

TEST(test_few)
{
    int above = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < trial_count; i++, arena_reset(arena, mark))
        above += try_chains(first_seed + (uint64_t)i, false, arena);
    printf("%d of %d above 0\n", above, trial_count);
    assert_true(above * 4 > trial_count);
}

TEST(test_many)
{
    int above = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < trial_count / 2; i++, arena_reset(arena, mark))
        above += try_chains(first_seed + (uint64_t)i, true, arena);
    printf("%d of %d above 0\n", above, trial_count / 2);
    assert_true(above > 0);
}

ARGUMENT(trial_count)
ARGUMENT(first_seed)
