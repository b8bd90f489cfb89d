// How light the heaviest link of a ring can be, as the checker finds it, against all rings: never above the least of them, and mostly it.
//
//   test_check_rings [TRIALS] [SEED]
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solve/check_places.h"
#include "tests/support/check.h"
#include "tests/support/problems.h"

enum { DEFAULT_TRIALS = 3000, NODES = 7, SLOTS = 10 };

static int trial_count = DEFAULT_TRIALS;
static uint64_t first_seed = 1;

struct brute {
    const int64_t *weights;
    int count, size, places, node[SLOTS], ring[SLOTS];      // places: device groups
    bool used[SLOTS];
    int64_t least;
};

static int64_t weight_of(const struct brute *x, int from, int to) { return x->weights[x->node[from] * x->count + x->node[to]]; }

// From its first place on, which no later one comes before.
static void all_rings(struct brute *x, int at, int64_t heaviest)
{
    if (at == x->size) {
        int64_t last = weight_of(x, x->ring[at - 1], x->ring[0]);
        if (last >= 0 && (last > heaviest ? last : heaviest) < x->least) x->least = last > heaviest ? last : heaviest;
        return;
    }
    for (int i = at ? x->ring[0] + 1 : 0; i < x->places; i++) {
        int64_t weight = at ? weight_of(x, x->ring[at - 1], i) : 0;
        if (x->used[i] || weight < 0 || (weight > heaviest ? weight : heaviest) >= x->least) continue;
        x->used[i] = true;
        x->ring[at] = i;
        all_rings(x, at + 1, weight > heaviest ? weight : heaviest);
        x->used[i] = false;
    }
}

struct drawn { int64_t weights[NODES * NODES]; int slots[NODES], count, size; };

static void draw(struct drawn *d, struct random *rng)
{
    int kinds = (int)random_between(rng, 1, 12), missing = (int)random_between(rng, 0, 3) * 15;
    bool racks = random_chance(rng, 40);
    d->count = (int)random_between(rng, 2, NODES);
    d->size = (int)random_between(rng, 2, 6);
    for (int i = 0; i < d->count; i++) d->slots[i] = random_chance(rng, 20) ? (int)random_between(rng, 0, 2) : 1;
    for (int i = 0; i < d->count * d->count; i++) {
        bool apart = racks && i / d->count % 2 != i % d->count % 2;
        d->weights[i] = random_chance(rng, missing) ? -1 : random_between(rng, 0, kinds) + (apart ? 5 : 0);
        if (i / d->count == i % d->count && d->slots[i / d->count] < 2) d->weights[i] = -1;
    }
}

static int64_t least_of_all(const struct drawn *d)
{
    struct brute x = {.weights = d->weights, .count = d->count, .size = d->size, .least = INT64_MAX};
    for (int i = 0; i < d->count; i++)
        for (int k = 0; k < d->slots[i] && x.places < SLOTS; k++) x.node[x.places++] = i;
    all_rings(&x, 0, -1);
    return x.least;
}

static void test_bottlenecks(void **state)
{
    int exact = 0, rings = 0;
    for (int i = 0; i < trial_count; i++) {
        struct random rng = {first_seed + (uint64_t)i};
        struct drawn d;
        draw(&d, &rng);
        int64_t least = least_of_all(&d), found = check_least_bottleneck(d.weights, d.slots, d.count, d.size, *state);
        if (found > least) fail_msg("trial %d: a ring of %d has links of %lld, %lld is said to be the least", i, d.size, (long long)least, (long long)found);
        exact += found == least;
        rings += least < INT64_MAX;
    }
    printf("%d of %d found exactly, %d with a ring\n", exact, trial_count, rings);
    assert_true(exact * 100 > 95 * trial_count && rings * 2 > trial_count);
}

int main(int argc, char **argv)
{
    if (argc > 1) trial_count = atoi(argv[1]);
    if (argc > 2) first_seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bottlenecks)};
    return cmocka_run_group_tests(tests, check_open_arena, check_close_arena);
}
