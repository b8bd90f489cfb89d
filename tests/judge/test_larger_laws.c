// More work never takes less time: of problems of real size in which one quantity is larger, no
// price of the judge falls. Raising a price never lowers an optimum (test_raise_laws), so neither
// does that. The planner's prices are the judge's (test_price_judge).
#include "solve/checker/prices/prices.h"
#include "tests/support/check.h"
#include "tests/support/draws/costs.h"
#include "tests/support/draws/dispatch.h"
#include "tests/support/oracle/jobs.h"
#include "tests/support/draws/models.h"
#include "tests/support/oracle/prices.h"

enum quantity { VOCABULARY, WIDTH, EXPERT_WIDTH, SHARED_WIDTH, EXPERTS_CHOSEN, QUANTITIES };
static const char *const names[] = {"vocabulary", "width", "experts' width", "shared width",
                                    "experts chosen"};

static bool grow(int64_t *value, struct random *rng)
{
    int64_t before = *value;
    if (before > 0) *value += before / 8 * random_between(rng, 1, 12);
    return *value > before;
}

static bool enlarge_experts(struct layer_run *r, const struct shape *s, enum quantity what,
                            struct random *rng)
{
    struct expert_shape *e = &r->experts;
    bool sinks = r->more_values && r->more_values == sink_values(s, e), grown = false;
    if (what == EXPERT_WIDTH) grown = grow(&e->ffn, rng);
    if (what == SHARED_WIDTH) grown = grow(&e->shared_ffn, rng);
    if (what == EXPERTS_CHOSEN && e->top_k < e->experts) grown = true, e->top_k++;
    if (sinks) r->more_values = sink_values(s, e);
    return grown;
}

static bool enlarge(struct problem *p, enum quantity what, struct random *rng)
{
    bool grown = false;
    if (what == VOCABULARY) return grow(&p->model.shape.vocabulary, rng);
    if (what == WIDTH) return grow(&p->model.shape.ffn, rng);
    for (int i = 0; i < p->model.run_count; i++)
        if (p->model.runs[i].kind == LAYER_MOE)
            grown = enlarge_experts(&p->model.runs[i], &p->model.shape, what, rng) || grown;
    return grown;
}

// Hypotheses of the law: a vocabulary of whole eights is faster than a smaller one that is none,
// and what a longer forward pass hides (gathers of the next iteration, copies of checkpoints to the
// host) is priced in other terms than the pass, which grows by as much.
static void suppose(struct problem *p)
{
    p->job.layout.barrier = true;
    p->job.checkpoints = CHECKPOINTS_DEVICE;
    for (int g = 0; g < p->costs.gpu_count; g++)
        for (int i = 0; i < p->costs.gpus[g].precision_count; i++)
            p->costs.gpus[g].precisions[i].misaligned_gemm_share = exactly(0);
}

static bool prices_of(struct numbers *to, const struct problem *problem, struct arena *arena)
{
    struct check_pricer pricer;
    struct check_problem *p;
    struct check_layout layout = space_layout(&problem->job.layout);
    MUST(space_pricer_open(&pricer, problem, arena, &own_err));
    bool all = pricer.bytes(pricer.context, &layout, &p) && pricer.times(pricer.context);
    if (all) *to = numbers_of(p, arena);
    return all && !*pricer.doubtful_sizes;
}

TEST(larger_is_never_cheaper)
{
    struct random rng = {71};
    int pairs[QUANTITIES] = {0};
    for (int i = 0; i < 4000; i++) {
        struct problem problem = {.name = "random"};
        struct arena_mark mark = arena_set_mark(arena);
        struct numbers before, after;
        enum quantity what = (enum quantity)(i % QUANTITIES);
        err = (struct error){OK, ""};
        random_model(&problem.model, &rng, arena);
        random_cluster(&problem.cluster, &rng, arena);
        random_costs(&problem, &rng, arena);
        random_job(&problem.job, &problem.model, &rng, arena);
        dispatch_draw(&problem, rng.state);
        if (problem.job.layout.slice_count > 1) model_look_back(&problem.model);
        suppose(&problem);
        if (problem_check(&problem, &err) == OK && prices_of(&before, &problem, arena) &&
            enlarge(&problem, what, &rng) && problem_check(&problem, &err) == OK &&
            prices_of(&after, &problem, arena) && before.count == after.count) {
            pairs[what]++;
            for (int n = 0; n < before.count; n++)
                if (after.items[n] < before.items[n])
                    fail_msg("problem %d, more %s, number %d: %lld, then %lld", i, names[what], n,
                             (long long)before.items[n], (long long)after.items[n]);
        }
        arena_reset(arena, mark);
    }
    for (int what = 0; what < QUANTITIES; what++) {
        print_message("%d pairs with more %s\n", pairs[what], names[what]);
        assert_true(pairs[what] > 50);
    }
}
