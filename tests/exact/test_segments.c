// Segments of stages with losses of their own within spaces: random problems of which every layout
// is solved by itself, and those with such losses by enumeration, too. The search finds the best of
// them; its certificate is accepted and proves that time; the checker's walk equals the planner's.
// No plan of a layout that is claimed for segments of another length, or for inputs that are stored
// where they are sent, is accepted. usage: test_segments [PROBLEMS] [SEED]
#include "solve/judge/verify.h"
#include "tests/support/check.h"
#include "tests/support/trials/kind_trials.h"

static int problem_count = 60;
static uint64_t first_seed = 1;

static bool learns_locally(const struct layout *l)
{
    return l->local_loss_every > 0 && l->local_loss_every < l->pipeline;
}

static bool reads_a_file(const struct layout *l) { return learns_locally(l) && l->stored_inputs; }

TEST(best_segments_are_found_and_proven)
{
    struct kind_trials x = {.what = "with losses of stages' own",
                            .open = space_trial_of_segments,
                            .is_kind = learns_locally};
    for (int i = 0; i < problem_count; i++) kind_trial(&x, first_seed + (uint64_t)i);
    kind_trials_print(&x);
    assert_true(x.plans > problem_count / 3 && x.chosen > 0 && x.of_kind > problem_count &&
                x.bounded > problem_count / 2);
}

// The plan's stages and figures with each other length of segments, and with stored inputs or not.
TEST(forged_segments_are_refused)
{
    int forged = 0, stored = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (uint64_t seed = 1; seed <= 60; seed++, arena_reset(arena, mark)) {
        struct space_trial t;
        space_trial_of_segments(&t, seed, 0, arena);
        struct plan plan = t.found.solved.plan;
        const struct layout own = plan.layout;
        if (!plan.stage_count || !learns_locally(&own)) continue;
        stored += reads_a_file(&own);
        for (int way = 0; way < 8; way++) {
            struct layout *l = &plan.layout;
            l->local_loss_every = way / 2, l->stored_inputs = way % 2;
            struct verdict verdict;
            MUST(verify_plan(&verdict, &plan, &t.problem, arena, &own_err));
            if (verdict.accepted != layout_equal(l, &own))
                fail_msg("seed %llu: losses every %d stages%s for %d%s: %s",
                         (unsigned long long)seed, way / 2, way % 2 ? ", stored" : "",
                         own.local_loss_every, own.stored_inputs ? ", stored" : "",
                         verdict.accepted ? "accepted" : verdict.violations[0].text);
            forged += !verdict.accepted;
        }
    }
    print_message("%d forged segments refused, %d plans read a file\n", forged, stored);
    assert_true(forged > 40 && stored > 3);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
