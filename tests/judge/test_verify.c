// The judge: correct plans are accepted, and for any number in a plan it gives an answer. The plans
// come from the solver's choices for random problems, with the time of the solver's own walk; so
// this also tests that two computations of every claim agree. Planted faults:
// test_verify_decision.c, test_verify_claims.c.
#include "data/kinds/schedules.h"
#include "tests/support/trials/trial.h"
#include "tests/support/check.h"

TEST(test_right_plans)
{
    int plans = 0, closed = 0, flavours[FLAVOUR_COUNT] = {0};
    for (uint64_t seed = 1; seed <= 600; seed++) {
        struct random_limits limits = random_limits_small();
        struct trial t;
        limits.flavour = (int)(seed % FLAVOUR_COUNT);
        limits.long_and_close = seed % 5 == 0;
        if (!trial_open(&t, seed, &limits, false)) continue;
        trial_expect_accepted(&t, seed);
        closed += trial_judge(&t).closed_form_ns >= 0;
        plans++;
        flavours[limits.flavour]++;
        trial_close(&t);
    }
    print_message("%d plans accepted, %d of them with a closed form\n", plans, closed);
    assert_true(plans > 300 && closed > 20);
    for (int i = 0; i < FLAVOUR_COUNT; i++) assert_true(flavours[i] > 60);
}

TEST(test_varied_layouts)
{
    int schedules[SCHEDULE_KIND_COUNT] = {0}, waived = 0, local = 0, several = 0;
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        struct random_limits limits = random_limits_small();
        struct trial t;
        limits.flavour = (int)(seed % FLAVOUR_COUNT);
        if (!trial_open(&t, seed, &limits, true)) continue;
        trial_expect_accepted(&t, seed);
        const struct layout *l = &t.plan.layout;
        schedules[l->schedule]++;
        waived += !l->barrier;
        local += l->local_loss_every > 0;
        several += l->virtual_stages > 1;
        trial_close(&t);
    }
    for (int i = 0; i < SCHEDULE_KIND_COUNT; i++)
        print_message("%s %d, ", schedule_names[i], schedules[i]);
    print_message("%d without a barrier, %d with local losses, %d with several stages a rank\n",
                  waived, local, several);
    for (int i = 0; i < SCHEDULE_KIND_COUNT; i++) assert_true(schedules[i] > 15);
    assert_true(waived > 100 && local > 50 && several > 100);
}

// For any number in a plan the judge gives an answer, and every decisive number is checked.
TEST(test_absurd_numbers)
{
    int accepted = 0, judged = 0;
    for (uint64_t seed = 5000; seed < 5400; seed++) {
        struct random_limits limits = random_limits_small();
        struct trial t;
        if (!trial_open(&t, seed, &limits, seed % 2)) continue;
        struct plan_stage *x = &t.plan.stages[trial_stage(&t)];
        int *indices[] = {&x->first_layer,       &x->layer_count,     &x->group,
                          &x->recomputed_layers, &x->gradient_option, &x->boundary_option,
                          (int *)&x->recompute};
        int64_t *claims[] = {&x->slices->forward_ns,
                             &x->slices->backward_ns,
                             &x->weight_ns,
                             &x->sync_ns,
                             &x->optimizer_ns,
                             &x->slices->send_forward_ns[PART_LINK],
                             &x->slices->send_backward_ns[PART_BLOCKING],
                             &x->send_epilogue_ns[PART_DELAY],
                             &t.plan.iteration_ns,
                             &t.plan.bound_ns,
                             &t.plan.embedding_sync_ns,
                             &x->memory.activation_bytes,
                             &x->memory_limit_bytes};
        const int64_t absurd[] = {-1, -1000000, 1000003, (int64_t)1 << 31, (int64_t)1 << 53};
        for (size_t i = 0; i < ARRAY_LENGTH(indices); i++) {
            int before = *indices[i];
            *indices[i] = (int)random_between(&t.rng, -2, 1 << random_between(&t.rng, 1, 30));
            // Recomputed layers decide under first_layers alone.
            if (*indices[i] != before && indices[i] != &x->recomputed_layers) {
                accepted += trial_judge(&t).accepted;
                judged++;
            } else {
                trial_judge(&t);
            }
            *indices[i] = before;
        }
        for (size_t i = 0; i < ARRAY_LENGTH(claims); i++) {
            int64_t before = *claims[i];
            *claims[i] = absurd[random_between(&t.rng, 0, (int64_t)ARRAY_LENGTH(absurd) - 1)];
            if (trial_judge(&t).accepted)
                fail_msg("seed %llu: claim %zu as %lld is accepted", (unsigned long long)seed, i,
                         (long long)*claims[i]);
            *claims[i] = before;
        }
        trial_expect_accepted(&t, seed);
        trial_close(&t);
    }
    // Two options, groups or modes may cost the same; most do not.
    print_message("%d decisions changed, %d of them as good\n", judged, accepted);
    assert_true(judged > 1000 && accepted * 10 < judged);
}

// A plan without stages is a claim that there is none: nothing to judge.
TEST(test_no_plan)
{
    struct random_limits limits = random_limits_small();
    struct trial t;
    uint64_t seed = 1;
    while (!trial_open(&t, seed, &limits, false)) seed++;
    t.plan = (struct plan){.outcome = OUTCOME_INFEASIBLE};
    struct verdict v = trial_judge(&t);
    assert_false(v.accepted);
    assert_int_equal(v.violation_count, 1);
    trial_close(&t);
}
