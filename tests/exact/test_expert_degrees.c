// Expert degrees: random problems with mixtures of which every layout is solved by itself, and
// those whose experts are spread by enumeration, too. The search finds the best of them; its
// certificate is accepted and proves that time, and not a nanosecond more; the checker's walk
// equals the planner's. usage: test_expert_degrees [PROBLEMS] [SEED]
#include "tests/support/check.h"
#include "tests/support/trials/kind_trials.h"

static int problem_count = 80;
static uint64_t first_seed = 1;

static bool spreads_experts(const struct layout *l) { return l->expert > 1; }

TEST(best_degrees_are_found_and_proven)
{
    struct kind_trials x = {
        .what = "spread experts", .open = space_trial_of_experts, .is_kind = spreads_experts};
    for (int i = 0; i < problem_count; i++) kind_trial(&x, first_seed + (uint64_t)i);
    kind_trials_print(&x);
    assert_true(x.plans > problem_count / 3 && x.chosen > 0 && x.of_kind > problem_count &&
                x.bounded > problem_count / 2);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
