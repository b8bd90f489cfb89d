// Choices of every schedule against the oracle: the best plan over the remaining choices is the
// best of all plans, to the nanosecond, and there is none exactly when the oracle finds none. This
// detects rank memory read wrongly, choices wrongly removed as dominated, and forgotten prices of a
// slice or a weight gradient. That the rows of both formulations agree:
// tests/formulate/test_formulate.c, tests/formulate/test_textbook.c.
#include "data/inputs/job.h"
#include "data/kinds/schedules.h"
#include "tests/support/check.h"
#include "tests/support/oracle/enumerate.h"
#include "tests/support/oracle/oracle.h"
#include "tests/support/prepare.h"
#include "tests/support/random_priced.h"

enum { DRAWS = 300, PLANS_MAX = 6000 };

struct seen {
    int compared, infeasible, hopeless, by_position, tight, periodic, local;
};

static void check_round_trip(const struct choices *c, const int *chosen, int64_t time,
                             struct arena *arena)
{
    struct plan plan;
    int *again = TAKE(arena, c->priced->stage_count, int);
    choices_to_plan(&plan, c, chosen, time, arena);
    assert_true(choices_from_plan(again, c, &plan));
    for (int s = 0; s < c->priced->stage_count; s++) assert_int_equal(again[s], chosen[s]);
    assert_int_equal(plan.ranks != NULL, c->virtual_stages > 1);
    for (int rank = 0; plan.ranks && rank < c->rank_count; rank++) {
        int64_t shares = 0;
        for (int turn = 0; turn < c->virtual_stages; turn++)
            shares += memory_total(&plan.stages[choices_stage_of(c, rank, turn)].memory);
        assert_true(memory_total(&plan.ranks[rank].memory) <=
                    plan.stages[choices_stage_of(c, rank, 0)].memory_limit_bytes);
        assert_true(memory_total(&plan.ranks[rank].memory) <= shares); // their peaks need not meet
    }
}

// Whether some rank is full up to a tenth: then memory affects the optimum.
static bool is_tight(const struct choices *c, const int *chosen)
{
    for (int rank = 0; rank < c->rank_count; rank++) {
        struct memory_parts m;
        choices_rank_memory(c, chosen, rank, &m);
        int64_t limit =
            c->priced->groups[c->stages[rank].items[chosen[rank]].group].memory_limit_bytes;
        if (10 * memory_total(&m) >= 9 * limit) return true;
    }
    return false;
}

static double combinations(const struct choices *c)
{
    double product = 1;
    for (int s = 0; s < c->priced->stage_count; s++) product *= c->stages[s].count;
    return product;
}

static void compare(struct seen *seen, int kind, uint64_t *seed, int draw, struct arena *arena)
{
    struct prepared p = {0};
    struct oracle oracle;
    struct enumeration e;
    const char *why;
    random_priced_of(&p.priced, kind, seed, arena);
    prepare(&p, arena);
    if (oracle_size(&p.priced, PLANS_MAX, arena) > PLANS_MAX || combinations(&p.choices) > 1e6)
        return;
    MUST(oracle_answer(&oracle, &p.priced, &p.schedule, arena, &own_err));
    enumerate(&e, &p.choices, p.graph, NULL, NULL, arena);
    if (e.best_ns != oracle.best_ns)
        fail_msg("%s, draw %d: choices %lld ns, oracle %lld ns of %lld plans", schedule_names[kind],
                 draw, (long long)e.best_ns, (long long)oracle.best_ns, (long long)oracle.plans);
    if (choices_hopeless_stage(&p.choices, &why) >= 0) {
        assert_int_equal(oracle.plans, 0);
        assert_non_null(why);
        seen->hopeless++;
    }
    seen->compared++;
    seen->infeasible += !oracle.plans;
    seen->by_position += p.choices.free_from > 0;
    seen->periodic += !p.priced.layout.barrier;
    seen->local += p.priced.layout.local_loss_every > 0;
    if (!oracle.plans) return;
    check_round_trip(&p.choices, e.best, e.best_ns, arena);
    seen->tight += is_tight(&p.choices, e.best);
}

TEST(best_of_choices_is_best_of_all)
{
    uint64_t seed = 41;
    for (int kind = 0; kind < SCHEDULE_KIND_COUNT; kind++) {
        struct seen seen = {0};
        struct arena_mark mark = arena_set_mark(arena);
        for (int i = 0; i < DRAWS; i++, arena_reset(arena, mark))
            compare(&seen, (int)kind, &seed, i, arena);
        print_message("%s: compared %d, infeasible %d (hopeless %d), by position %d, memory tight "
                      "%d, without barrier %d, local losses %d\n",
                      schedule_names[kind], seen.compared, seen.infeasible, seen.hopeless,
                      seen.by_position, seen.tight, seen.periodic, seen.local);
        assert_true(seen.compared >= 60 && seen.infeasible >= 15 &&
                    seen.compared - seen.infeasible >= 25 && seen.tight >= 2);
        assert_true(seen.periodic >= 5 && seen.local >= 5 && seen.by_position >= 5);
    }
}
