// Tensor degrees and all their grids: random problems of which every layout is solved by itself.
// The search finds the best of them; its certificate is accepted and proves that time, and not a
// nanosecond more; the checker's walk equals the planner's. usage: test_grids [PROBLEMS] [SEED]
#include "tests/support/check.h"
#include "tests/support/trials/kind_trials.h"

static int problem_count = 80;
static uint64_t first_seed = 1;

static bool layout_has_a_grid(const struct layout *l) { return layout_has_grid(l); }

TEST(best_grids_are_found_and_proven)
{
    struct kind_trials x = {
        .what = "grids", .open = space_trial_of_grids, .is_kind = layout_has_a_grid};
    for (int i = 0; i < problem_count; i++) kind_trial(&x, first_seed + (uint64_t)i);
    kind_trials_print(&x);
    assert_true(x.plans > problem_count / 3 && x.chosen > 0 && x.of_kind > problem_count &&
                x.bounded > problem_count);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
