// Laws of a priced document: raising one of its integers never lowers the optimum, more room and
// more options never raise it, and saying the same problem in another way (groups and runs in
// another form, other units) changes nothing. Planner, judge and checker share their formulas, so
// only laws find what all of them believe (docs/PROOFS.md 3, *Laws*).
//
//   test_raise_laws [PROBLEMS] [SEED]
#include "data/kinds/schedules.h"
#include "solve/layout/solve.h"
#include "tests/support/check.h"
#include "tests/support/oracle/oracle.h"
#include "tests/support/random_priced.h"

enum { PROBLEMS_OF_CI = 300, RAISES = 4, PLANS_MAX = 20000, NUMBERS_MAX = 4096 };

static int problems = PROBLEMS_OF_CI;
static uint64_t first_seed = 1;
static const volatile int never = 0;

// The proven optimum, INT64_MAX where there is no plan.
static int64_t optimum_ns(const struct priced *priced, struct arena *arena)
{
    struct solve_settings settings;
    struct solve_result result;
    solve_defaults(&settings);
    settings.progress = 0;
    MUST(solve_run(&result, priced, &settings, NULL, &never, arena, &own_err));
    if (result.plan.outcome == OUTCOME_INFEASIBLE) return INT64_MAX;
    assert_int_equal(result.plan.outcome, OUTCOME_OPTIMAL);
    return result.plan.iteration_ns;
}

// Stages of several like layers whose syncs take longer than what they are hidden behind.
static void draw_long_syncs(struct priced *p, uint64_t *state)
{
    int longest = 0, more = (int)random_less(state, 3 * p->stage_count);
    for (int r = 1; r < p->run_count; r++)
        if (p->runs[r].count > p->runs[longest].count) longest = r;
    p->layout.gradient_sync = SYNC_OVERLAPPED;
    if (random_less(state, 2)) p->micro_batches = 1;
    p->runs[longest].count += more, p->layer_count += more;
    for (int r = 0; r < p->run_count; r++)
        for (int o = 0; o < p->gradient_option_count; o++)
            for (int g = 0; g < p->group_count; g++)
                p->runs[r].sync_ns[o][g] = random_less(
                    state, 1 + 4 * (p->runs[r].backward_ns[g] + p->runs[r].weight_ns[g]));
}

// A document of any schedule, the same one for the same seed; false: it is none.
static bool draw(struct priced *p, uint64_t seed, struct arena *arena)
{
    struct error err = {OK, ""};
    struct schedule schedule;
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 11;
    int kind = (int)(seed % (SCHEDULE_KIND_COUNT + 2));
    if (kind < SCHEDULE_KIND_COUNT) random_priced_of(p, (int)kind, &state, arena);
    else random_priced(p, &state, arena);
    bool syncs = p->stage_count > p->rank_count && random_less(&state, 2);
    if (syncs) draw_long_syncs(p, &state);
    // As many problems with a plan as possible: rules and slots refuse most of them.
    if (random_less(&state, 3)) p->rule_count = 0;
    for (int g = 0; g < p->group_count; g++) {
        if (random_less(&state, 3)) p->groups[g].slots = p->stage_count;
        if (random_less(&state, 2)) p->groups[g].memory_limit_bytes *= 8;
    }
    int64_t plans_max = syncs ? PLANS_MAX * INT64_C(50) : PLANS_MAX;
    return p->layer_count >= p->stage_count && oracle_size(p, plans_max, arena) <= plans_max &&
           priced_check(p, &err) == OK && schedule_build_priced(&schedule, p, arena, &err) == OK;
}

// ---- the document's integers, each by what it is

enum kind {
    FORWARD,
    BACKWARD,
    WEIGHT,
    SELECTIVE,
    FULL,
    SYNC,
    CONSTANT,
    OPTIMIZER,
    SWAP,
    TRANSFER,
    EMBEDDING,
    LOCAL,
    WEIGHT_BYTES,
    STATE_BYTES,
    STASH,
    WORKING,
    MESSAGE,
    FEEDBACK,
    COST,
    KINDS
};
static const char *const kind_names[KINDS] = {
    "forward_ns",       "backward_ns",  "weight_ns",   "selective_ns",  "full_ns",       "sync_ns",
    "sync_constant_ns", "optimizer_ns", "away_ns",     "transfers",     "embedding_ns",  "local",
    "weight_bytes",     "state bytes",  "stash_bytes", "working bytes", "message_bytes", "feedback",
    "quality_cost"};

struct numbers {
    int64_t *at[NUMBERS_MAX];
    enum kind kind[NUMBERS_MAX];
    int count, of_kind[KINDS];
};

static void note(struct numbers *n, enum kind kind, int64_t *values, int count)
{
    for (int i = 0; values && i < count; i++) {
        if (values[i] < 0) continue;
        assert_true(n->count < NUMBERS_MAX);
        n->of_kind[kind]++;
        n->kind[n->count] = kind;
        n->at[n->count++] = &values[i];
    }
}

static void note_run(struct numbers *n, const struct priced *p, struct priced_run *r)
{
    int groups = p->group_count, passes = groups * p->slice_count;
    note(n, FORWARD, r->forward_ns, passes);
    note(n, BACKWARD, r->backward_ns, passes);
    note(n, SELECTIVE, r->again_ns[RECOMPUTE_SELECTIVE], passes);
    note(n, FULL, r->again_ns[RECOMPUTE_FULL], passes);
    for (int mode = RECOMPUTE_SETS; mode < RECOMPUTE_COUNT; mode++)
        if (r->again_ns[mode]) note(n, SELECTIVE, r->again_ns[mode], passes);
    note(n, WEIGHT, r->weight_ns, groups);
    note(n, OPTIMIZER, r->optimizer_ns, groups);
    if (p->recompute[RECOMPUTE_SWAP]) note(n, SWAP, r->tiered[0].away_ns, groups);
    for (int o = 0; o < p->gradient_option_count; o++) {
        note(n, SYNC, r->sync_ns[o], groups);
        if (r->tiered && r->tiered[o].optimizer_ns != r->optimizer_ns)
            note(n, OPTIMIZER, r->tiered[o].optimizer_ns, groups);
    }
    if (!r->tiered) note(n, WEIGHT_BYTES, &r->weight_bytes, 1);
    note(n, WEIGHT_BYTES, &r->gradient_bytes, 1);
    if (!r->tiered) note(n, STATE_BYTES, &r->optimizer_bytes, 1);
    note(n, STASH, r->stash_bytes, RECOMPUTE_COUNT);
    note(n, WORKING, r->working_bytes, RECOMPUTE_COUNT);
    note(n, WORKING, &r->unsharded_bytes, 1);
    note(n, FEEDBACK, r->feedback_bytes, p->gradient_option_count);
}

static void note_all(struct numbers *n, struct priced *p)
{
    int pairs = p->group_count * p->group_count, links = p->slice_count * pairs * PART_COUNT;
    *n = (struct numbers){.count = 0};
    for (int r = 0; r < p->run_count; r++) note_run(n, p, &p->runs[r]);
    for (int g = 0; g < p->group_count; g++) {
        note(n, CONSTANT, p->groups[g].sync_constant_ns, p->gradient_option_count);
        note(n, STATE_BYTES, &p->groups[g].constant_bytes, 1);
    }
    for (int c = 0; c < p->cut_count; c++) {
        note(n, MESSAGE, &p->cuts[c].message_bytes, 1);
        note(n, FEEDBACK, p->cuts[c].feedback_bytes, p->boundary_option_count);
        note(n, TRANSFER, p->cuts[c].forward_ns, links);
        for (int o = 0; o < p->boundary_option_count; o++)
            note(n, TRANSFER, p->cuts[c].backward_ns[o], links);
    }
    if (p->has_embedding_sync) note(n, EMBEDDING, p->embedding_sync_ns, pairs);
    note(n, LOCAL, &p->local_forward_ns, 1);
    note(n, LOCAL, &p->local_backward_ns, 1);
    note(n, LOCAL, &p->local_bytes, 1);
    for (int o = 1; o < p->boundary_option_count; o++)
        note(n, COST, &p->boundary_options[o].quality_cost, 1);
    for (int o = 1; o < p->gradient_option_count; o++)
        note(n, COST, &p->gradient_options[o].quality_cost, 1);
}

// ---- raising one of them

static struct {
    int raised[KINDS], rose[KINDS], lost[KINDS], documents;
} seen;

// Any of the kinds equally often, but what hides syncs more often. -1: none.
static int pick(const struct numbers *n, uint64_t *state)
{
    int kind, which;
    if (!n->count) return -1;
    do kind = random_less(state, 4) ? (int)random_less(state, KINDS) : BACKWARD;
    while (!n->of_kind[kind]);
    which = (int)random_less(state, n->of_kind[kind]);
    for (int i = 0; i < n->count; i++)
        if (n->kind[i] == (enum kind)kind && which-- == 0) return i;
    return -1;
}

static void raise_one(struct priced *p, uint64_t seed, uint64_t *state, int64_t before,
                      struct arena *arena)
{
    struct numbers *n = TAKE(arena, 1, struct numbers);
    struct error err = {OK, ""};
    note_all(n, p);
    int which = pick(n, state);
    if (which < 0) return;
    int64_t was = *n->at[which], more = random_less(state, 3) ? 1 + random_less(state, was + 3) : 1;
    *n->at[which] += more;
    if (priced_check(p, &err) == OK) {
        enum kind kind = n->kind[which];
        int64_t after = optimum_ns(p, arena);
        if (after < before)
            fail_msg("seed %llu, %s: %s raised from %lld by %lld, the optimum falls from %lld to "
                     "%lld ns",
                     (unsigned long long)seed, schedule_names[p->layout.schedule], kind_names[kind],
                     (long long)was, (long long)more, (long long)before, (long long)after);
        seen.raised[kind]++;
        seen.rose[kind] += after > before && after < INT64_MAX;
        seen.lost[kind] += after == INT64_MAX && before < INT64_MAX;
    }
    *n->at[which] = was;
}

// Memory that is just too little for the best plan, where another one is left; INT64_MAX: none is.
static int64_t tighten(struct priced *p, struct arena *arena)
{
    struct solve_settings settings;
    struct solve_result result;
    solve_defaults(&settings);
    settings.progress = 0;
    MUST(solve_run(&result, p, &settings, NULL, &never, arena, &own_err));
    const struct plan *plan = &result.plan;
    int64_t most = -1, *limit = NULL;
    for (int s = 0; s < plan->stage_count; s++) {
        struct priced_group *g = &p->groups[plan->stages[s].group];
        int rank = schedule_rank_of(&(struct schedule_request){.kind = p->layout.schedule,
                                                               .stage_count = p->stage_count,
                                                               .rank_count = p->rank_count},
                                    s);
        int64_t bytes =
            memory_total(plan->ranks ? &plan->ranks[rank].memory : &plan->stages[s].memory);
        if (bytes > most) most = bytes, limit = &g->memory_limit_bytes;
    }
    if (!limit || most < 2) return INT64_MAX;
    int64_t was = *limit;
    *limit = most - 1;
    int64_t best_ns = optimum_ns(p, arena);
    if (best_ns == INT64_MAX) *limit = was;
    return best_ns;
}

TEST(more_is_never_faster)
{
    uint64_t seed = first_seed;
    while (seen.documents < problems) {
        struct priced p;
        uint64_t random = ++seed * 77;
        struct arena_mark mark = arena_set_mark(arena);
        if (draw(&p, seed, arena)) {
            int64_t before = random_less(&random, 2) ? tighten(&p, arena) : INT64_MAX;
            if (before == INT64_MAX) before = optimum_ns(&p, arena);
            for (int i = 0; i < RAISES && before < INT64_MAX; i++)
                raise_one(&p, seed, &random, before, arena);
            seen.documents += before < INT64_MAX;
        }
        arena_reset(arena, mark);
    }
    for (int k = 0; k < KINDS; k++) {
        printf("laws: %-17s raised %5d times: slower %5d, no plan left %4d, faster 0\n",
               kind_names[k], seen.raised[k], seen.rose[k], seen.lost[k]);
        if (problems >= 3000) assert_true(seen.rose[k] + seen.lost[k] > 0);
    }
}

// ---- more room and more options never make it slower

static void *more_of(const void *items, int count, size_t size, struct arena *arena)
{
    return arena_grow(arena, items, (size_t)count, (size_t)count + 1, size);
}

// One more option at the end, whose prices are drawn anew.
static void add_gradient_option(struct priced *p, uint64_t *state, struct arena *arena)
{
    int count = p->gradient_option_count, from = (int)random_less(state, count);
    p->gradient_options = more_of(p->gradient_options, count, sizeof *p->gradient_options, arena);
    p->gradient_options[count] = p->gradient_options[from];
    p->gradient_options[count].quality_cost += random_less(state, 2);
    if (!from) p->gradient_options[count].form.amount = 1 + (int)random_less(state, 4);
    for (int r = 0; r < p->run_count; r++) {
        struct priced_run *run = &p->runs[r];
        run->feedback_bytes = more_of(run->feedback_bytes, count, sizeof(int64_t), arena);
        run->feedback_bytes[count] = run->feedback_bytes[from];
        run->sync_ns = more_of(run->sync_ns, count, sizeof(int64_t *), arena);
        run->sync_ns[count] = TAKE(arena, p->group_count, int64_t);
        for (int g = 0; g < p->group_count; g++)
            run->sync_ns[count][g] = random_less(state, 1 + run->sync_ns[from][g]);
        if (!run->tiered) continue;
        run->tiered = more_of(run->tiered, count, sizeof(struct priced_tiered), arena);
        run->tiered[count] = run->tiered[from], run->tiered_count = count + 1;
    }
    for (int g = 0; g < p->group_count; g++) {
        int64_t **ns = &p->groups[g].sync_constant_ns;
        *ns = more_of(*ns, count, sizeof(int64_t), arena);
        (*ns)[count] = (*ns)[from];
    }
    p->gradient_option_count++;
}

static void add_boundary_option(struct priced *p, uint64_t *state, struct arena *arena)
{
    int count = p->boundary_option_count, from = (int)random_less(state, count),
        links = p->slice_count * p->group_count * p->group_count * PART_COUNT;
    p->boundary_options = more_of(p->boundary_options, count, sizeof *p->boundary_options, arena);
    p->boundary_options[count] = p->boundary_options[from];
    if (!from) p->boundary_options[count].form.amount = 1 + (int)random_less(state, 4);
    for (int c = 0; c < p->cut_count; c++) {
        struct priced_cut *cut = &p->cuts[c];
        cut->feedback_bytes = more_of(cut->feedback_bytes, count, sizeof(int64_t), arena);
        cut->feedback_bytes[count] = cut->feedback_bytes[from];
        cut->backward_ns = more_of(cut->backward_ns, count, sizeof(int64_t *), arena);
        cut->backward_ns[count] = TAKE(arena, links, int64_t);
        for (int i = 0; i < links; i++) {
            int64_t ns = cut->backward_ns[from][i];
            cut->backward_ns[count][i] = ns > 0 ? 1 + random_less(state, ns) : ns;
        }
    }
    p->boundary_option_count++;
}

static void allow_modes(struct priced *p, uint64_t *state, struct arena *arena)
{
    (void)arena, (void)state;
    for (int mode = 0; mode < RECOMPUTE_SWAP; mode++) p->recompute[mode] = true;
}

static void allow_loss(struct priced *p, uint64_t *state, struct arena *arena)
{
    struct quality_budget *b = &p->budget;
    (void)arena;
    if (b->boundaries_max >= 0) b->boundaries_max += random_less(state, 3);
    if (b->stages_max >= 0) b->stages_max += random_less(state, 3);
    if (b->cost_max >= 0) b->cost_max += 1 + random_less(state, 4);
    if (b->rank_min > 0) b->rank_min -= 1;
}

static void add_room(struct priced *p, uint64_t *state, struct arena *arena)
{
    int g = (int)random_less(state, p->group_count);
    (void)arena;
    p->groups[g].memory_limit_bytes += 1 + random_less(state, 1 + p->groups[g].memory_limit_bytes);
}

static void add_slot(struct priced *p, uint64_t *state, struct arena *arena)
{
    (void)arena;
    p->groups[random_less(state, p->group_count)].slots++;
}

// ---- the same problem in other words: `times` as long

static int64_t *in_order(const int64_t *values, int blocks, const int *order, int groups, int step,
                         struct arena *arena)
{
    int64_t *to = TAKE(arena, blocks * groups * step, int64_t);
    for (int b = 0; b < blocks; b++)
        for (int g = 0; g < groups; g++)
            memcpy(to + (b * groups + g) * step, values + (b * groups + order[g]) * step,
                   (size_t)step * sizeof *to);
    return to;
}

// [slice][from][to][part]
static int64_t *pairs_in_order(const int64_t *values, int slices, const int *order, int groups,
                               int step, struct arena *arena)
{
    int64_t *to = in_order(values, slices, order, groups, groups * step, arena);
    return in_order(to, slices * groups, order, groups, step, arena);
}

static void turn_groups(struct priced *p, uint64_t *state, struct arena *arena)
{
    int n = p->group_count, order[8], slices = p->slice_count;
    struct priced_group *groups = TAKE(arena, n, struct priced_group);
    for (int g = 0; g < n; g++) order[g] = g;
    for (int g = n - 1; g > 0; g--) {
        int other = (int)random_less(state, g + 1), kept = order[g];
        order[g] = order[other], order[other] = kept;
    }
    for (int g = 0; g < n; g++) groups[g] = p->groups[order[g]];
    p->groups = groups;
    for (int r = 0; r < p->run_count; r++) {
        struct priced_run *x = &p->runs[r];
        x->forward_ns = in_order(x->forward_ns, slices, order, n, 1, arena);
        x->backward_ns = in_order(x->backward_ns, slices, order, n, 1, arena);
        for (int i = 0; i < RECOMPUTE_COUNT; i++)
            if (x->again_ns[i])
                x->again_ns[i] = in_order(x->again_ns[i], slices, order, n, 1, arena);
        x->weight_ns = in_order(x->weight_ns, 1, order, n, 1, arena);
        x->optimizer_ns = in_order(x->optimizer_ns, 1, order, n, 1, arena);
        for (int o = 0; o < p->gradient_option_count; o++) {
            x->sync_ns[o] = in_order(x->sync_ns[o], 1, order, n, 1, arena);
            struct priced_tiered *t = x->tiered ? &x->tiered[o] : NULL;
            if (t) t->optimizer_ns = in_order(t->optimizer_ns, 1, order, n, 1, arena);
            if (t && t->away_ns)
                t->away_ns = t->back_ns = in_order(t->away_ns, 1, order, n, 1, arena);
        }
    }
    for (int c = 0; c < p->cut_count; c++) {
        struct priced_cut *x = &p->cuts[c];
        x->forward_ns = pairs_in_order(x->forward_ns, slices, order, n, PART_COUNT, arena);
        for (int o = 0; o < p->boundary_option_count; o++)
            x->backward_ns[o] =
                pairs_in_order(x->backward_ns[o], slices, order, n, PART_COUNT, arena);
    }
    p->embedding_sync_ns = pairs_in_order(p->embedding_sync_ns, 1, order, n, 1, arena);
}

static bool is_named(const struct priced *p, int run)
{
    for (int i = 0; i < p->rule_count; i++)
        if (p->rules[i].run && !strcmp(p->rules[i].run, p->runs[run].name)) return true;
    return false;
}

// Every run that no rule names, of two layers or more, in two.
static void split_runs(struct priced *p, uint64_t *state, struct arena *arena)
{
    struct priced_run *runs = TAKE(arena, 2 * p->run_count, struct priced_run);
    int count = 0;
    for (int r = 0; r < p->run_count; r++) {
        runs[count++] = p->runs[r];
        if (p->runs[r].count < 2 || is_named(p, r)) continue;
        int first = 1 + (int)random_less(state, p->runs[r].count - 1);
        runs[count - 1].count = first;
        runs[count] = p->runs[r];
        runs[count].name = arena_print(arena, "%s again", p->runs[r].name);
        runs[count++].count -= first;
    }
    p->runs = runs;
    p->run_count = count;
}

enum { LONGER = 7, LARGER = 3 };

static void longer_seconds(struct priced *p, uint64_t *state, struct arena *arena)
{
    struct numbers *n = TAKE(arena, 1, struct numbers);
    (void)state;
    note_all(n, p);
    for (int i = 0; i < n->count; i++)
        if (n->kind[i] <= LOCAL && n->at[i] != &p->local_bytes) *n->at[i] *= LONGER;
}

static void smaller_bytes(struct priced *p, uint64_t *state, struct arena *arena)
{
    struct numbers *n = TAKE(arena, 1, struct numbers);
    (void)state;
    note_all(n, p);
    for (int i = 0; i < n->count; i++)
        if ((n->kind[i] > LOCAL && n->kind[i] < COST) || n->at[i] == &p->local_bytes)
            *n->at[i] *= LARGER;
    for (int r = 0; r < p->run_count && priced_tiers(p); r++) {
        struct priced_run *run = &p->runs[r];
        run->optimizer_bytes *= LARGER, run->weight_bytes *= LARGER;
        for (int o = 0; o < run->tiered_count; o++)
            run->tiered[o].optimizer_bytes *= LARGER, run->tiered[o].weight_bytes *= LARGER;
    }
    for (int g = 0; g < p->group_count; g++) p->groups[g].memory_limit_bytes *= LARGER;
}

static const struct saying {
    const char *name;
    void (*say)(struct priced *p, uint64_t *state, struct arena *arena);
    int times; // as long; 0: no longer
} sayings[] = {
    {"a gradient option more", add_gradient_option, 0},
    {"a boundary option more", add_boundary_option, 0},
    {"all recomputation allowed", allow_modes, 0},
    {"more quality loss", allow_loss, 0},
    {"more memory", add_room, 0},
    {"a slot more", add_slot, 0},
    {"groups in another order", turn_groups, 1},
    {"runs in two", split_runs, 1},
    {"seconds that are longer", longer_seconds, LONGER},
    {"bytes that are smaller", smaller_bytes, 1},
};

TEST(same_or_better)
{
    int tried[ARRAY_LENGTH(sayings)] = {0}, better[ARRAY_LENGTH(sayings)] = {0}, documents = 0;
    for (uint64_t seed = first_seed; documents < problems; seed++) {
        err = (struct error){OK, ""};
        struct priced p;
        uint64_t random = seed * 91;
        struct arena_mark mark = arena_set_mark(arena);
        bool good = draw(&p, seed, arena);
        int64_t before = good ? optimum_ns(&p, arena) : 0;
        for (size_t i = 0; i < ARRAY_LENGTH(sayings) && good; i++) {
            const struct saying *how = &sayings[i];
            if (!draw(&p, seed, arena)) break;
            how->say(&p, &random, arena);
            if (priced_check(&p, &err) != OK) continue;
            int64_t after = optimum_ns(&p, arena),
                    wanted = before == INT64_MAX || !how->times ? before : how->times * before;
            if (how->times ? after != wanted : after > before)
                fail_msg("seed %llu, %s: with %s the optimum is %lld, without %lld ns",
                         (unsigned long long)seed, schedule_names[p.layout.schedule], how->name,
                         (long long)after, (long long)before);
            tried[i]++;
            better[i] += after < before;
        }
        documents += good;
        arena_reset(arena, mark);
    }
    for (size_t i = 0; i < ARRAY_LENGTH(sayings); i++)
        printf("laws: %-25s tried %5d times, better %4d%s\n", sayings[i].name, tried[i], better[i],
               sayings[i].times ? ", different 0" : ", worse 0");
}

ARGUMENT(problems)
ARGUMENT(first_seed)
