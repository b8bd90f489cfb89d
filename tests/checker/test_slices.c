// Slices of any lengths: random problems of which every choice of lengths is solved by itself. The
// search finds the best of them; its certificate is accepted and proves that time, and not a
// nanosecond more. usage: test_slices [PROBLEMS] [SEED]
#include "tests/support/check.h"
#include "tests/support/trials/space_trials.h"

static int problem_count = 80;
static uint64_t first_seed = 1;
static int64_t layouts, plans, infeasible, unequal, bounded;

static bool lengths_differ(const struct layout *l)
{
    for (int i = 1; i < l->slice_count; i++)
        if (l->slices[i] != l->slices[0]) return true;
    return false;
}

static void try_problem(uint64_t seed)
{
    struct space_trial t;
    struct check_space_result audited;
    struct arena_mark mark = arena_set_mark(&own_arena);
    space_trial_of_slices(&t, seed, 0, &own_arena);
    const struct plan *plan = &t.found.solved.plan;
    int64_t best_ns = space_trial_best(&t, seed, &audited, &own_arena);
    layouts += audited.layouts, bounded += audited.bounded;
    *(best_ns ? &plans : &infeasible) += 1;
    unequal += best_ns && lengths_differ(&plan->layout);
    arena_reset(&own_arena, mark);
}

TEST(best_lengths_are_found_and_proven)
{
    for (int i = 0; i < problem_count; i++) try_problem(first_seed + (uint64_t)i);
    print_message(
        "%lld choices of lengths; %lld spaces with a plan, %lld of them of unequal slices, "
        "%lld without; %lld layouts by a bound\n",
        (long long)layouts, (long long)plans, (long long)unequal, (long long)infeasible,
        (long long)bounded);
    assert_true(plans > problem_count / 3 && unequal > 0 && bounded > problem_count);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
