// The second evaluation of a search by boxes, where ranks have several stages and so little memory
// that it is priced: it finds the same bounds, and none that is raised.
//
//   test_recheck [PROBLEMS] [SEED]      make test runs 24
#include "data/kinds/schedules.h"
#include "solve/boxes/search.h"
#include "tests/support/check.h"
#include "tests/support/prepare.h"
#include "tests/support/random_priced.h"

enum { DEFAULT_PROBLEMS = 24 };

static int problem_count = DEFAULT_PROBLEMS;
static uint64_t first_seed = 1;

static int between(uint64_t *state, int least, int most)
{
    return least + (int)random_less(state, most - least + 1);
}

// Blocks of one kind, with more ways of recomputing a rank's stages than are listed.
static void draw(struct priced *p, uint64_t *state, struct arena *arena)
{
    static const int turns_of[] = {3, 6, 8};
    int ranks = between(state, 2, 4), turns = turns_of[random_less(state, 3)];
    int stages = ranks * turns, blocks = between(state, stages, 3 * stages);
    chain_priced(p, blocks, stages, 1, ranks * between(state, 1, 3), arena);
    p->rule_count = 0;
    p->cuts[0].forward_ns[PART_DELAY] = between(state, 0, 50);
    p->rank_count = p->layout.pipeline = p->groups[0].slots = ranks;
    p->layout.virtual_stages = turns;
    p->layout.schedule = random_less(state, 4) ? SCHEDULE_INTERLEAVED : SCHEDULE_LOOPED_BFS;
    p->recompute[RECOMPUTE_SELECTIVE] = random_less(state, 2);
    for (int r = 0; r < p->run_count; r++) {
        struct priced_run *run = &p->runs[r];
        int forward_ns = between(state, 500, 1500);
        run->weight_bytes = between(state, 0, 30);
        run->stash_bytes[RECOMPUTE_NONE] = between(state, 10, 50);
        run->stash_bytes[RECOMPUTE_SELECTIVE] = between(state, 5, 10);
        run->stash_bytes[RECOMPUTE_FULL] = between(state, 0, 5);
        for (int mode = 0; mode < RECOMPUTE_SWAP; mode++)
            run->working_bytes[mode] = between(state, 0, 40);
        run->forward_ns[0] = run->again_ns[RECOMPUTE_FULL][0] = forward_ns;
        run->again_ns[RECOMPUTE_SELECTIVE][0] = forward_ns / between(state, 3, 10);
        run->backward_ns[0] = 2 * forward_ns;
    }
    const struct priced_run *block = &p->runs[1];
    int held = blocks / ranks * between(state, 1, turns) * between(state, 20, 100) / 100;
    p->groups[0].memory_limit_bytes = 60 + blocks / ranks * block->weight_bytes * 5 / 4 +
                                      (int64_t)held * block->stash_bytes[RECOMPUTE_NONE];
}

// The plan that was found is in a record of which more is claimed than it takes, whatever its steps
// are said to have removed.
static void check_raised(struct prepared *p, struct box_search_result *r, uint64_t *state,
                         struct arena *arena)
{
    int64_t more_ns = r->best_ns - r->bound_ns + 1;
    for (int64_t i = 0; i < r->proof.count; i++) {
        struct box_record *of = &r->proof.records[i];
        of->claim_ns += more_ns;
        of->target_ns += random_less(state, 2) ? more_ns : -random_less(state, of->target_ns + 1);
    }
    assert_true(box_proof_recheck(&r->proof, r->best_ns + 1, &p->choices, p->graph, arena) > 0);
}

static struct {
    int problems, found, split;
} seen;

static void check_one(uint64_t seed, struct arena *arena)
{
    struct prepared p;
    const char *why;
    uint64_t state = seed;
    draw(&p.priced, &state, arena);
    prepare(&p, arena);
    if (choices_hopeless_stage(&p.choices, &why) >= 0) return;
    struct box_search_settings settings = {.target_ns = INT64_MAX,
                                           .boxes_max = between(&state, 1, 12),
                                           .gap = random_less(&state, 2) ? 0 : 0.05,
                                           .recheck = true};
    struct box_search_result r;
    box_search(&r, &p.choices, p.graph, &settings, arena);
    if (r.bad) fail_msg("seed %llu: %lld boxes", (unsigned long long)seed, (long long)r.bad);
    seen.problems++, seen.split += r.proof.count > 1, seen.found += r.found_better;
    if (r.found_better) check_raised(&p, &r, &state, arena);
}

TEST(test_stored_numbers_prove_the_same)
{
    for (int i = 0; i < problem_count; i++) {
        struct arena_mark mark = arena_set_mark(arena);
        check_one(first_seed + (uint64_t)i, arena);
        arena_reset(arena, mark);
    }
    print_message("%d problems, %d split, %d with a plan\n", seen.problems, seen.split, seen.found);
    assert_true(2 * seen.problems > problem_count && 2 * seen.split > seen.problems &&
                2 * seen.found > seen.problems);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
