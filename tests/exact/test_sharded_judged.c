// Layers that are sharded further, and those with the vocabulary at another tensor degree, from
// random documents with unlike kinds of layers, measured or
// priced by formula, with and without replicas, local losses, barrier or overlapped syncs: the
// judge accepts plans of the planner's choices, number by number, and none with another number of
// sharded layers where one layer's bytes tell them apart. And spaces of layouts: the answer is the
// best of all layouts, each solved by itself, and the judge accepts it.
//
//   test_sharded_judged [PROBLEMS] [SEED]      make test runs 300
#include "solve/judge/verify.h"
#include "tests/support/check.h"
#include "tests/support/draws/sharding.h"
#include "tests/support/spaces.h"
#include "tests/support/trials/trial.h"

static int problem_count = 300;
static uint64_t first_seed = 1;
static struct {
    int plans, sharded, beside, forged, refused, alone, local, open, overlapped;
    int spaces, without, chosen, spread, exchanges, degrees, degrees_refused, spread_spaces;
} seen;

// ---- plans and the judge

static bool unlike_bytes(const struct priced *p, int layer)
{
    int run = priced_run_of(p, layer);
    const struct priced_run *a = &p->runs[run], *b = &p->sharded_runs[run];
    return a->recomputable && a->weight_bytes + a->gradient_bytes + a->optimizer_bytes !=
                                  b->weight_bytes + b->gradient_bytes + b->optimizer_bytes;
}

// Between k and k + 1 sharded layers of a stage: the layer that is sharded or not. -1: none is.
static int layer_between(const struct priced *p, const struct plan_stage *x, int k)
{
    for (int i = x->first_layer; i < x->first_layer + x->layer_count; i++)
        if (p->runs[priced_run_of(p, i)].recomputable && k-- == 0) return i;
    return -1;
}

static bool unlike_run(const struct priced_run *a, const struct priced_run *b, int group)
{
    return a->weight_bytes != b->weight_bytes || a->forward_ns[group] != b->forward_ns[group] ||
           a->optimizer_bytes != b->optimizer_bytes;
}

// Every other degree of the vocabulary, and one that nobody offers.
static void forge_degrees(struct trial *t, uint64_t seed)
{
    const struct priced *p = &t->priced;
    for (int s = 0; s < t->plan.stage_count && t->problem.job.vocabulary_tensor_count; s++) {
        struct plan_stage *x = &t->plan.stages[s];
        int had = x->vocabulary_tensor;
        for (int i = -1; i <= t->problem.job.vocabulary_tensor_count; i++) {
            bool unlike = i == t->problem.job.vocabulary_tensor_count;
            x->vocabulary_tensor = i < 0 ? 0 : unlike ? 7 : t->problem.job.vocabulary_tensor[i];
            if (x->vocabulary_tensor == had) continue;
            for (int l = x->first_layer; l < x->first_layer + x->layer_count; l++) {
                int run = priced_run_of(p, l);
                const struct priced_run *was = had ? priced_at_vocabulary(p, run, had)
                                                   : &p->runs[run],
                                        *now =
                                            x->vocabulary_tensor
                                                ? priced_at_vocabulary(p, run, x->vocabulary_tensor)
                                                : &p->runs[run];
                unlike = unlike || (was && now && unlike_run(was, now, x->group)) || (had && !now);
            }
            bool accepted = trial_judge(t).accepted;
            seen.degrees++, seen.degrees_refused += !accepted;
            if (accepted && unlike)
                fail_msg("seed %llu, stage %d: degree %d of the vocabulary is accepted for %d",
                         (unsigned long long)seed, s, x->vocabulary_tensor, had);
        }
        x->vocabulary_tensor = had;
    }
}

static void forge(struct trial *t, uint64_t seed)
{
    if (!t->priced.sharded_run_count) return;
    for (int s = 0; s < t->plan.stage_count; s++) {
        struct plan_stage *x = &t->plan.stages[s];
        int had = x->sharded_layers;
        for (int by = -1; by <= 1; by += 2) {
            int layer = layer_between(&t->priced, x, by < 0 ? had - 1 : had);
            x->sharded_layers = had + by;
            bool accepted = trial_judge(t).accepted;
            seen.forged++, seen.refused += !accepted;
            if (accepted && (layer < 0 || unlike_bytes(&t->priced, layer)))
                fail_msg("seed %llu, stage %d: %d sharded layers are accepted for %d",
                         (unsigned long long)seed, s, had + by, had);
        }
        x->sharded_layers = had;
    }
}

static void note(const struct trial *t)
{
    const struct layout *l = &t->plan.layout;
    bool sharded = false, beside = false, spread = false;
    for (int s = 0; s < t->plan.stage_count; s++) {
        const struct plan_stage *x = &t->plan.stages[s];
        sharded = sharded || x->sharded_layers;
        beside = beside || (x->sharded_layers && x->recomputed_layers);
        spread = spread || x->vocabulary_tensor;
    }
    seen.spread += spread;
    seen.exchanges += spread && t->problem.model.has_shape && l->sequence_parallel;
    seen.plans++, seen.sharded += sharded, seen.beside += beside;
    seen.alone += sharded && l->data * l->context == 1;
    seen.local += sharded && l->local_loss_every, seen.open += sharded && !l->barrier;
    seen.overlapped += sharded && l->gradient_sync == SYNC_OVERLAPPED;
}

TEST(test_judged)
{
    for (uint64_t seed = first_seed; seed < first_seed + 5 * (uint64_t)problem_count; seed++) {
        struct random_limits limits = random_limits_small();
        struct trial t;
        limits.flavour = (int)(seed % FLAVOUR_COUNT);
        limits.sharded = true;
        if (!trial_open(&t, seed, &limits, seed % 4 > 0)) continue;
        trial_expect_accepted(&t, seed);
        note(&t);
        forge(&t, seed);
        forge_degrees(&t, seed);
        trial_close(&t);
    }
    print_message(
        "%d plans accepted, %d with sharded layers (%d beside recomputed ones, %d without "
        "replicas, %d with local losses, %d without a barrier, %d with overlapped "
        "syncs), %d with the vocabulary at another degree (%d of them with sequence parallelism); "
        "of %d with another number %d refused, of %d with another degree %d\n",
        seen.plans, seen.sharded, seen.beside, seen.alone, seen.local, seen.open, seen.overlapped,
        seen.spread, seen.exchanges, seen.forged, seen.refused, seen.degrees, seen.degrees_refused);
    assert_true(seen.spread && seen.exchanges && seen.sharded > problem_count / 2 && seen.beside &&
                seen.alone && seen.local && seen.open && seen.overlapped &&
                10 * seen.refused > 5 * seen.forged);
}

// ---- spaces

static void check_space(const struct problem *p, uint64_t seed)
{
    struct spaces_alone alone;
    struct layouts_result r;
    spaces_solve(&alone, p, &own_arena);
    spaces_search(&r, p, 0, 0, 0, NULL, &own_arena);
    const struct plan *plan = &r.solved.plan;
    seen.spaces++, seen.without += alone.best_ns == INT64_MAX;
    if ((plan->stage_count > 0) != (alone.best_ns < INT64_MAX) ||
        (plan->stage_count && spaces_value(plan) != alone.best_ns))
        fail_msg("space %llu: found %lld ns, the best is %lld", (unsigned long long)seed,
                 (long long)spaces_value(plan), (long long)alone.best_ns);
    if (!r.solved.finished)
        fail_msg("space %llu: not finished, %d stages, best %lld, bound %lld",
                 (unsigned long long)seed, plan->stage_count, (long long)alone.best_ns,
                 (long long)plan->bound_ns);
    if (!plan->stage_count) return;
    struct verdict v;
    MUST(verify_plan(&v, plan, p, &own_arena, &own_err));
    if (!v.accepted)
        fail_msg("space %llu: the judge refuses: %s", (unsigned long long)seed,
                 v.violations[0].text);
    bool chosen = false;
    for (int s = 0; s < plan->stage_count; s++) chosen = chosen || plan->stages[s].sharded_layers;
    for (int s = 0; s < plan->stage_count; s++)
        seen.spread_spaces += plan->stages[s].vocabulary_tensor > 0;
    seen.chosen += chosen;
}

TEST(test_spaces)
{
    struct random rng = {first_seed ^ UINT64_C(0x7368617264)};
    for (int i = 0; i < problem_count / 3; i++) {
        struct problem p = {0};
        struct arena_mark mark = arena_set_mark(&own_arena);
        if (i % 6 == 4) spaces_draw_experts(&p, &rng, &own_arena);
        else if (i % 6 == 5) spaces_draw_pools(&p, &rng, &own_arena);
        else spaces_draw(&p, &rng, &own_arena);
        if (random_sharding(&p, rng.state, &own_arena) && spaces_count(&p) > 1)
            check_space(&p, (uint64_t)i);
        arena_reset(&own_arena, mark);
    }
    print_message("%d spaces equal to the best of their layouts, %d without a plan, %d best plans "
                  "with sharded layers, %d stages with the vocabulary at another degree\n",
                  seen.spaces, seen.without, seen.chosen, seen.spread_spaces);
    assert_true(seen.spaces > problem_count / 10 && seen.chosen);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
