// Replicas that take whole micro-batches in turn, on small random priced problems: the plan of
// least load equals the best of all plans to the nanosecond, by an enumeration with sums of its
// own (every set of recomputed layers where any may be), also with a cut-off; a problem without a
// plan has none. Each result is certified; one nanosecond more, and a plan that is not what it is
// said to be, are refused. One table over all numbers of stages finds the best of all of them.
//
//   test_turns [PROBLEMS] [SEED]      make test runs 1000
#include "data/kinds/schedules.h"
#include "formulate/choices/choice.h"
#include "solve/layout/solve.h"
#include "tests/support/check.h"
#include "data/base/file.h"
#include "tests/support/random_priced.h"
#include "tests/support/trials/certified.h"
#include "tests/support/trials/check_trials.h"
#include "solve/checker/proof.h"

enum { DEFAULT_PROBLEMS = 1000, STAGES = 8 };

static int problem_count = DEFAULT_PROBLEMS;
static uint64_t first_seed = 77;
static struct {
    int planned, without, unlike, deep, recomputed, full, any, other, alone, sets, gapped,
        certified, right, wrong;
} seen;

// ---- enumeration: a stage is busy for its passes and its own ends of messages, over its replicas

struct stage {
    int first, end, group;
    int64_t busy_ns, link_ns, held, stash;
    int mode, set;
};

struct all {
    const struct priced *p;
    struct stage stages[STAGES];
    int64_t best_ns, plans;
};

static int run_of_layer(const struct priced *p, int layer)
{
    int run = 0;
    while (layer >= p->runs[run].count) layer -= p->runs[run++].count;
    return run;
}

static bool add_message(const struct priced *p, struct stage *s, int layer)
{
    const struct priced_cut *cut = &p->cuts[p->runs[run_of_layer(p, layer)].cut];
    int at = (s->group * p->group_count + s->group) * PART_COUNT;
    const int64_t *ways[] = {cut->forward_ns + at, cut->backward_ns[0] + at};
    for (int i = 0; i < 2; i++) {
        if (ways[i][PART_DELAY] < 0) return false;
        s->busy_ns += ways[i][PART_BLOCKING] + ways[i][PART_OVERHEAD];
        if (ways[i][PART_LINK] > s->link_ns) s->link_ns = ways[i][PART_LINK];
    }
    s->held += 2 * cut->seat_bytes[s->group];
    return true;
}

// As the layer before sends it, or what the stage's own first layer states.
static bool add_entry(const struct priced *p, struct stage *s)
{
    const int64_t *stated = p->runs[run_of_layer(p, s->first)].entry_ns;
    int64_t busy_ns = s->busy_ns, link_ns = s->link_ns;
    if (!add_message(p, s, s->first - 1)) return false;
    if (!stated) return true;
    s->busy_ns = busy_ns + stated[s->group];
    s->link_ns = link_ns;
    if (stated[p->group_count + s->group] > link_ns) s->link_ns = stated[p->group_count + s->group];
    return true;
}

// set: of the stage's layers, a bit each, where the mode is full and any set may be recomputed.
static bool fill(const struct priced *p, struct stage *s, int mode, int first_layers, int set)
{
    int64_t working = 0;
    s->busy_ns = s->link_ns = s->stash = 0, s->held = p->groups[s->group].constant_bytes;
    for (int layer = s->first; layer < s->end; layer++) {
        const struct priced_run *run = &p->runs[run_of_layer(p, layer)],
                                *bytes = &run->seats[s->group];
        int how = run->recomputable ? mode : RECOMPUTE_NONE;
        if (how == RECOMPUTE_FIRST_LAYERS)
            how = first_layers-- > 0 ? RECOMPUTE_FULL : RECOMPUTE_NONE;
        if (how == RECOMPUTE_FULL && p->recompute_any && !(set >> (layer - s->first) & 1))
            how = RECOMPUTE_NONE;
        s->busy_ns += run->forward_ns[s->group] + run->backward_ns[s->group];
        if (how != RECOMPUTE_NONE) s->busy_ns += run->again_ns[how][s->group];
        s->held += bytes->weight_bytes + bytes->gradient_bytes + bytes->optimizer_bytes +
                   bytes->unsharded_bytes;
        s->stash += bytes->stash_bytes[how];
        if (bytes->working_bytes[how] > working) working = bytes->working_bytes[how];
    }
    s->held += working;
    return (s->first == 0 || add_entry(p, s)) &&
           (s->end == p->layer_count || add_message(p, s, s->end - 1));
}

// The greatest load; -1: it is no plan.
static int64_t judged(const struct all *x)
{
    const struct priced *p = x->p;
    int64_t load = 0, slots = 0, sum = 0;
    for (int i = p->stage_count; i-- > 0;) {
        const struct stage *s = &x->stages[i];
        const struct priced_group *g = &p->groups[s->group];
        int64_t busy = s->busy_ns > s->link_ns ? s->busy_ns : s->link_ns, kept = 0;
        sum += g->data;
        while (kept * g->data < sum && kept < p->micro_batches / g->data) kept++;
        if (s->held + kept * s->stash > g->memory_limit_bytes) return -1;
        slots += g->seat_slots;
        while (load * g->data < busy) load += 1 + (busy - load * g->data - 1) / g->data;
    }
    return slots <= p->groups[0].slots ? load : -1;
}

static void judge(struct all *x)
{
    int64_t load = judged(x);
    x->plans += load >= 0;
    if (load >= 0 && load < x->best_ns) x->best_ns = load;
}

static void enumerate(struct all *x, int stage, int first);

// With each number of the first layers, or each set.
static void enumerate_mode(struct all *x, int stage, int mode)
{
    const struct priced *p = x->p;
    struct stage *s = &x->stages[stage];
    int layers = s->end - s->first, most = 1;
    if (mode == RECOMPUTE_FIRST_LAYERS) most = layers;
    if (mode == RECOMPUTE_FULL && p->recompute_any) most = 1 << layers;
    for (int k = 1; k <= most; k++) {
        if (!fill(p, s, mode, k, k)) continue;
        if (stage == p->stage_count - 1) judge(x);
        else enumerate(x, stage + 1, s->end);
    }
}

static void enumerate(struct all *x, int stage, int first)
{
    const struct priced *p = x->p;
    struct stage *s = &x->stages[stage];
    bool last = stage == p->stage_count - 1;
    int end_most = p->layer_count - (p->stage_count - 1 - stage);
    for (int end = last ? p->layer_count : first + 1; end <= end_most; end++)
        for (int g = 0; g < p->group_count; g++)
            for (int mode = 0; mode < RECOMPUTE_COUNT; mode++) {
                if ((mode != RECOMPUTE_NONE && !p->recompute[mode]) || p->groups[g].excluded)
                    continue;
                s->first = first, s->end = end, s->group = g;
                enumerate_mode(x, stage, mode);
            }
}

// ---- problems

// Any set of layers may be recomputed, and each width has just the room for some stage with one.
static void allow_sets(struct priced *p, uint64_t *own)
{
    p->recompute_any = p->recompute[RECOMPUTE_FULL] = true;
    for (int r = 0; r < p->run_count; r++)
        p->runs[r].recomputable = p->runs[r].recomputable || random_less(own, 2);
    for (int g = 0; g < p->group_count; g++) {
        int first = (int)random_less(own, p->layer_count),
            end = first + 1 + (int)random_less(own, p->layer_count - first),
            set = (int)random_less(own, 1 << (end - first)), kept = 1 + (int)random_less(own, 3);
        struct stage s = {.first = first, .end = end, .group = g};
        if (fill(p, &s, RECOMPUTE_FULL, 0, set) && s.held + kept * s.stash > 0)
            p->groups[g].memory_limit_bytes = s.held + kept * s.stash;
    }
}

static void draw(struct priced *p, uint64_t *state, struct arena *arena)
{
    random_priced_of(p, SCHEDULE_1F1B, state, arena);
    priced_draw_widths(p, *state, arena);
    if (p->layout.recompute) priced_without_setting(p);
    uint64_t own = *state ^ UINT64_C(0x7475726e73);
    for (int g = 0; g < p->group_count; g++) {
        p->groups[g].node_group = p->groups[0].node_group;
        p->groups[g].slots = p->groups[0].slots;
        p->groups[g].data = 1 + (int)random_less(&own, 3);
        p->groups[g].memory_limit_bytes += (int64_t)random_less(&own, 2) *
                                           p->groups[g].memory_limit_bytes;
    }
    priced_find_pools(p);
    for (int r = 0; r < p->run_count; r++) {
        int64_t *ns = TAKE(arena, 2 * p->group_count, int64_t);
        if (random_less(&own, 2)) continue;
        for (int i = 0; i < 2 * p->group_count; i++) ns[i] = (int64_t)random_less(&own, 40);
        p->runs[r].entry_ns = ns;
    }
    p->micro_batches = 6 * (1 + (int)random_less(&own, 3));
    p->layout.local_loss_every = p->local_head_count = 0;
    p->layout.stored_inputs = false;
    p->local_forward_ns = p->local_backward_ns = p->local_bytes = 0;
    p->objective = OBJECTIVE_MAX_LOAD, p->in_turn = true, p->rule_count = 0;
    if (!random_less(&own, 2)) allow_sets(p, &own);
}

// ---- certificates

static struct check_text state(const struct check_text *priced, const char *proof)
{
    char hash[SHA256_TEXT];
    sha256_text(priced->text, priced->size, hash);
    const char *text = arena_print(
        &own_arena,
        "{\"kind\": \"plumbline.certificate\", \"version\": 1, \"made_by\": \"test\", "
        "\"made_from\": [{\"role\": \"priced\", \"path\": \"%s\", \"sha256\": \"%s\"}], "
        "\"proof\": {\"objective\": \"max_load\", %s}}",
        priced->file, hash, proof);
    return (struct check_text){"certificate.json", text, strlen(text)};
}

static void expect_refused(const struct check_text *priced, const char *proof, const char *reason)
{
    const struct check_text forged = state(priced, proof);
    check_trial_refused(proof, &forged, priced, reason, true, &own_arena);
}

// Some stages, alike or not, with room or not, as drawn.
static bool draw_plan(struct all *x, uint64_t *state)
{
    const struct priced *p = x->p;
    int first = 0, last = p->stage_count - 1;
    for (int i = 0; i <= last; i++) {
        struct stage *s = &x->stages[i];
        int room = p->layer_count - first - (last - i);
        s->first = first, first += i < last ? 1 + (int)random_less(state, room) : room;
        s->end = first, s->group = (int)random_less(state, p->group_count);
        do s->mode = (int)random_less(state, RECOMPUTE_COUNT);
        while (s->mode != RECOMPUTE_NONE && !p->recompute[s->mode]);
        int able = span_recomputable(p, s->first, s->end - s->first);
        bool counts = s->mode == RECOMPUTE_FIRST_LAYERS;
        if (counts && (!able || p->recompute_any)) s->mode = RECOMPUTE_NONE, counts = false;
        s->set = 1 + (int)random_less(state, counts ? able : 1 << (s->end - s->first));
        for (int layer = s->first; layer < s->end; layer++)
            if (!p->runs[run_of_layer(p, layer)].recomputable && !counts)
                s->set &= ~(1 << (layer - s->first));
        if (p->groups[s->group].excluded || !fill(p, s, s->mode, s->set, s->set)) return false;
    }
    return true;
}

static const char *write_stage(const struct priced *p, const struct stage *s)
{
    bool counts = s->mode == RECOMPUTE_FIRST_LAYERS, set = false;
    const char *list = "";
    for (int layer = s->first; p->recompute_any && s->mode == RECOMPUTE_FULL && layer < s->end;
         layer++)
        if (s->set >> (layer - s->first) & 1)
            list = arena_print(&own_arena, "%s%s%d", list, set ? ", " : "", layer), set = true;
    int mode = p->recompute_any && s->mode == RECOMPUTE_FULL && !set ? RECOMPUTE_NONE : s->mode;
    return arena_print(&own_arena,
                       "{\"first_layer\": %d, \"layer_count\": %d, \"group\": \"%s\", "
                       "\"recompute\": \"%s\", \"recomputed_layers\": %d, \"gradient_option\": 0, "
                       "\"boundary_option\": 0%s%s%s}",
                       s->first, s->end - s->first, p->groups[s->group].name,
                       check_mode_names[mode], counts ? s->set : 0,
                       set ? ", \"recomputed\": [" : "", list, set ? "]" : "");
}

// A drawn plan is accepted just if it is one, and its load the one that is stated.
static void check_drawn(const struct priced *p, const struct check_text *priced, uint64_t *from)
{
    struct all x = {.p = p};
    if (!draw_plan(&x, from)) return;
    const char *stages = "";
    for (int i = 0; i < p->stage_count; i++)
        stages =
            arena_print(&own_arena, "%s%s%s", stages, i ? ", " : "", write_stage(p, &x.stages[i]));
    int64_t load = judged(&x), off = random_less(from, 3) ? 0 : 1;
    const char *proof = arena_print(&own_arena,
                                    "\"bound_ns\": 0, \"objective_ns\": %lld, \"incumbent\": [%s]",
                                    (long long)(load < 0 ? 0 : load + off), stages);
    const struct check_text text = state(priced, proof);
    struct check_result r;
    MUST(check_certificate(&r, &text, priced, CHECK_WORK_DEFAULT, &own_arena, &own_err));
    bool right = load >= 0 && !off;
    if (r.accepted != right)
        fail_msg("%s: load %lld: %s", proof, (long long)load, r.accepted ? "accepted" : r.reason);
    seen.right += right, seen.wrong += !right;
}

// The same document with a list of what is in flight, which says nothing of replicas in turn.
static void refuse_list(const struct check_text *priced, int stages)
{
    const char *at = strstr(priced->text, "\"pipeline\":"), *list = "1";
    if (stages < 2) return;
    for (int s = 1; s < stages; s++) list = arena_print(&own_arena, "%d, %s", s + 2, list);
    const char *text = arena_print(&own_arena, "%.*s\"in_flight\": [%s], %s",
                                   (int)(at - priced->text), priced->text, list, at);
    const struct check_text listed = {"priced.json", text, strlen(text)};
    const struct check_text forged = state(&listed, "\"bound_ns\": 0");
    check_trial_refused("a list", &forged, &listed, "in_turn: expected", false, &own_arena);
}

static void check_certified(const struct priced *p, const struct solve_result *r, int64_t best_ns,
                            uint64_t seed)
{
    struct certified c;
    struct error err;
    uint64_t own = seed ^ 0x636865636b;
    bool none = best_ns == INT64_MAX;
    if (!certify_best(&c, p, r, best_ns, &own_arena, &err))
        fail_msg("seed %llu: %s", (unsigned long long)seed, err.text);
    struct check_text priced = check_trial_save(p, "priced.json", &own_arena);
    seen.certified++;
    for (int i = 0; i < 6; i++) check_drawn(p, &priced, &own);
    refuse_list(&priced, p->stage_count);
    if (none) return;
    expect_refused(&priced, "\"infeasible\": true", "some plan has no load above");
    expect_refused(&priced, arena_print(&own_arena, "\"bound_ns\": %lld", (long long)best_ns + 1),
                   "some plan has no load above");
}

static int64_t sum_of_replicas(const struct priced *p, const struct plan *plan)
{
    int64_t sum = 0;
    for (int s = 0; s < plan->stage_count; s++) sum += p->groups[plan->stages[s].group].data;
    return sum;
}

// Whether a set is another than the first layers.
static bool has_gap(const struct plan_stage *s)
{
    return s->recomputed_count &&
           s->recomputed[s->recomputed_count - 1] - s->first_layer >= s->recomputed_count;
}

static void look(const struct priced *p, const struct plan *plan)
{
    bool unlike = false, again = false;
    for (int s = 0; s < plan->stage_count; s++) {
        unlike = unlike || plan->stages[s].group != plan->stages[0].group;
        again = again || plan->stages[s].recompute != RECOMPUTE_NONE;
        seen.sets += plan->stages[s].recomputed_count > 0;
        seen.gapped += has_gap(&plan->stages[s]);
    }
    seen.planned++, seen.unlike += unlike, seen.recomputed += again;
    seen.deep += sum_of_replicas(p, plan) > plan->stage_count;
    seen.full += sum_of_replicas(p, plan) > p->micro_batches;
}

static void check(const struct priced *p, uint64_t seed)
{
    struct all all = {.p = p, .best_ns = INT64_MAX};
    struct solve_settings settings;
    struct solve_result r;
    enumerate(&all, 0, 0);
    solve_defaults(&settings);
    settings.progress = 0;
    MUST(solve_run(&r, p, &settings, NULL, NULL, &own_arena, &own_err));
    assert_true(r.finished);
    seen.without += !all.plans;
    check_certified(p, &r, all.best_ns, seed);
    if (!all.plans) {
        assert_int_equal(r.plan.outcome, OUTCOME_INFEASIBLE);
        return;
    }
    if (r.plan.objective_ns != all.best_ns || r.plan.bound_ns != all.best_ns)
        fail_msg("seed %llu: %lld ns, bound %lld, the best of %lld plans is %lld",
                 (unsigned long long)seed, (long long)r.plan.objective_ns,
                 (long long)r.plan.bound_ns, (long long)all.plans, (long long)all.best_ns);
    assert_int_equal(r.plan.iteration_ns, p->micro_batches * all.best_ns);
    look(p, &r.plan);
    for (int more = 0; more < 2 && all.best_ns > 0;
         more++) { // nothing below the best, the best itself below more
        settings.cutoff_ns = all.best_ns + more;
        MUST(solve_run(&r, p, &settings, NULL, NULL, &own_arena, &own_err));
        assert_int_equal(r.plan.stage_count > 0, more);
        assert_true(r.cut_off == !more);
    }
}

// Of every number of stages from `least` on, against their enumerations.
static void check_any(const struct priced *p, int least, uint64_t seed)
{
    struct priced of = *p;
    struct any_stages a;
    struct solve_settings settings;
    int64_t best_ns = INT64_MAX, here_ns = INT64_MAX;
    for (of.stage_count = least; of.stage_count <= p->layer_count; of.stage_count++) {
        struct all all = {.p = &of, .best_ns = INT64_MAX};
        enumerate(&all, 0, 0);
        if (all.best_ns < best_ns) best_ns = all.best_ns;
        if (of.stage_count == p->stage_count) here_ns = all.best_ns;
    }
    solve_defaults(&settings);
    MUST(solve_any_stages(&a, p, least == 1, &settings, NULL, &own_arena, &own_err));
    assert_true(a.finished && (a.stages > 0) == (best_ns < INT64_MAX));
    if (!a.stages) return;
    if (a.load_ns != best_ns || a.bound_ns != best_ns)
        fail_msg("seed %llu: %lld ns, bound %lld, the best of all numbers of stages is %lld",
                 (unsigned long long)seed, (long long)a.load_ns, (long long)a.bound_ns,
                 (long long)best_ns);
    seen.any++, seen.other += best_ns < here_ns, seen.alone += a.stages == 1;
}

TEST(test_enumerated)
{
    uint64_t state = first_seed * 7919;
    for (int i = 0; i < problem_count; i++) {
        struct priced p;
        uint64_t seed = state;
        struct arena_mark mark = arena_set_mark(&own_arena);
        draw(&p, &state, &own_arena);
        bool small = p.stage_count <= 3 && p.layer_count <= 6 && p.group_count <= 4;
        if (small && priced_check(&p, &own_err) == OK) {
            check(&p, seed);
            if (p.stage_count == 3 && p.layer_count <= 5) check_any(&p, 1 + (int)(seed % 2), seed);
        }
        arena_reset(&own_arena, mark);
    }
    print_message(
        "%d problems with a plan (%d with unlike stages, %d with several replicas, %d "
        "with more than micro-batches, %d that recompute, %d stages some set, %d of those "
        "not the first layers), %d without; any number of stages: %d with a plan, %d "
        "better by it, %d of one; %d certified, %d drawn plans right, %d wrong\n",
        seen.planned, seen.unlike, seen.deep, seen.full, seen.recomputed, seen.sets, seen.gapped,
        seen.without, seen.any, seen.other, seen.alone, seen.certified, seen.right, seen.wrong);
    assert_true(seen.right && seen.wrong && seen.any && seen.other && seen.alone &&
                seen.planned > problem_count / 10 && seen.unlike && seen.deep && seen.recomputed &&
                seen.without && seen.sets && seen.gapped);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
