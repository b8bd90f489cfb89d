// The largest claim: random problems over all features, where the best plan of each layout is known
// (by enumeration if that is small, else by an exact solve). No bound that the planner states, in
// any document, is above it; nor is the largest bound that the checker can be made to accept, for
// each kind of argument by itself and for whole certificates. Each drawn problem is changed step by
// step towards tighter bounds, and every step is judged.
//
//   test_claims [PROBLEMS] [SEED] [FOLDER]       problems with a violation are saved in FOLDER,
//                                                reduced
#include "tests/support/claims/climb.h"
#include "tests/support/claims/deep.h"
#include "tests/support/claims/draw.h"
#include "tests/support/claims/features.h"
#include "tests/support/claims/placed.h"
#include "tests/support/claims/printed.h"
#include "tests/support/folder.h"
#include "tests/support/check.h"

enum {
    DEFAULT_PROBLEMS = 250,
    STEPS = 20,
    DEEP_EVERY = 5,
    CERTIFICATE_EVERY = 10,
    PLACED_EVERY = 10,
    PRINTED_EVERY = 50,
    SQUEEZED_EVERY = 4,
    CHANGES = 12,
    PLANS_MOST = 20000,
    SHOWN_MOST = 12
};

static int problem_count = DEFAULT_PROBLEMS;
static uint64_t first_seed = 1;
static const char *folder;

struct run {
    struct claims claims;
    struct features features;
    int64_t judged;
    int problems_with[CLAIM_KINDS]; // a violation
    bool violated[CLAIM_KINDS];     // in the current problem
    struct violation first[CLAIM_KINDS];
    int shown;
    int printed;
};

static void note(void *argument, const struct violation *v)
{
    struct run *r = argument;
    if (!r->violated[v->kind]) r->first[v->kind] = *v;
    r->violated[v->kind] = true;
}

// The problem at its smallest, once for each kind.
static void show(struct run *r, uint64_t seed, const struct problem *problem, struct arena *arena)
{
    for (int kind = 0; kind < CLAIM_KINDS; kind++) {
        struct problem p = *problem;
        struct space_truth t;
        struct violation v = r->first[kind];
        if (!r->violated[kind]) continue;
        r->problems_with[kind]++;
        if (r->shown++ >= SHOWN_MOST && !folder) continue;
        if (kind >= CLAIM_PLACED && kind <= CLAIM_PLACED_SPACE) v.layout = -1;
        space_truth_find(&t, &p, PLANS_MOST, arena);
        if (kind < CLAIM_QUICK) claims_reduce(&p, &t, &v, PLANS_MOST, arena);
        print_message("seed %llu: %s\n", (unsigned long long)seed, violation_text(&v, &t, arena));
        if (folder && !claims_save(&p,
                                   arena_print(arena, "%s/%llu-%s", folder,
                                               (unsigned long long)seed, claim_names[kind]),
                                   arena))
            fail_msg("%s: cannot be written", folder);
    }
}

static void ask_commands(struct run *r, const struct space_truth *t)
{
    char own[FOLDER_SIZE];
    assert_int_equal(folder_make(own), 0);
    if (t->problem->job.objective == OBJECTIVE_ITERATION_TIME && !t->unknown) {
        assert_true(claims_printed(&r->claims, t, own));
        r->printed++;
    }
    assert_int_equal(folder_remove(own), 0);
}

// Stages of one rank share its memory: there it is argued about at greatest length.
static bool is_squeezed(const struct problem *p, uint64_t seed)
{
    return p->job.layout.virtual_stages > 1 || seed % SQUEEZED_EVERY == 0;
}

static void try_problem(struct run *r, uint64_t seed)
{
    struct random rng = {seed};
    struct problem p;
    struct space_truth t;
    struct arena_mark mark = arena_set_mark(&own_arena);
    memset(r->violated, 0, sizeof r->violated);
    claims_draw(&p, &rng, &own_arena);
    space_truth_find(&t, &p, PLANS_MOST, &own_arena);
    features_count(&r->features, &t);
    r->judged += claims_climb(&r->claims, &p, &t, STEPS, PLANS_MOST, &rng, &own_arena);
    if (is_squeezed(&p, seed))
        r->judged += claims_squeeze(&r->claims, &p, &t, PLANS_MOST, &own_arena);
    claims_proofs(&r->claims, &t, seed % DEEP_EVERY ? 0 : CHANGES, &rng);
    if (seed % DEEP_EVERY == 0) claims_search(&r->claims, &t, &rng);
    if (seed % CERTIFICATE_EVERY == 0) claims_certificate(&r->claims, &t);
    if (seed % PLACED_EVERY == 0) claims_placed(&r->claims, seed, &own_arena);
    if (seed % PRINTED_EVERY == 0) ask_commands(r, &t);
    show(r, seed, &p, &own_arena);
    arena_reset(&own_arena, mark);
}

static void say_figures(const struct run *r, struct arena *arena)
{
    const struct features *f = &r->features;
    const char *text = arena_print(
        arena,
        "%lld problems, %lld judged with their changes; of the first %lld layouts: %lld with a "
        "plan, %lld without, %lld refused, %lld too large; %s; claims tried, "
        "held, mean and greatest share of the truth:",
        (long long)f->problems, (long long)r->judged, (long long)f->layouts, (long long)f->feasible,
        (long long)f->infeasible, (long long)f->refused, (long long)f->unknown,
        features_text(f, arena));
    for (int kind = 0; kind < CLAIM_KINDS; kind++) {
        const struct claims_seen *s = &r->claims.seen[kind];
        text = arena_print(arena, "%s%s %s %lld %lld %.3f %.3f", text, kind ? "," : "",
                           claim_names[kind], (long long)s->tried, (long long)s->held,
                           s->bounds ? s->ratio_sum / (double)s->bounds : 0, s->ratio_most);
    }
    printf("%s\n", text); // too long for print_message
    fflush(stdout);
}

static void expect_all_drawn(const struct run *r)
{
    int64_t least;
    const char *rarest = features_rarest(&r->features, &least);
    if (least * 100 < problem_count) fail_msg("%s: only %lld layouts", rarest, (long long)least);
    for (int kind = 0; kind < CLAIM_KINDS; kind++)
        if (r->claims.seen[kind].held * 50 < problem_count)
            fail_msg("%s: only %lld claims", claim_names[kind],
                     (long long)r->claims.seen[kind].held);
    assert_true(r->features.unknown * 50 <= r->features.layouts &&
                r->features.enumerated * 10 >= 9 * (r->features.feasible + r->features.infeasible));
}

TEST(no_claim_is_above_the_truth)
{
    struct run r = {.claims = {.found = note}};
    r.claims.argument = &r;
    for (int i = 0; i < problem_count; i++) try_problem(&r, first_seed + (uint64_t)i);
    // nothing takes time, and no link connects two groups
    static const uint64_t ended[] = {12114, 19210};
    for (size_t i = 0; i < ARRAY_LENGTH(ended) && problem_count >= DEFAULT_PROBLEMS; i++)
        try_problem(&r, ended[i]);
    for (int kind = 0; kind < CLAIM_KINDS; kind++)
        if (r.problems_with[kind])
            print_message("%s: above the truth in %d problems\n", claim_names[kind],
                          r.problems_with[kind]);
    say_figures(&r, arena);
    assert_int_equal(claims_violations(&r.claims), 0);
    if (problem_count >= DEFAULT_PROBLEMS) expect_all_drawn(&r);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
ARGUMENT(folder)
