// Ranks with several stages where other layers come before the long run of like ones: a stage's
// choices state where it starts only before that run (docs/PROOFS.md 4.1). Small random problems:
// one to four runs before it, other messages between them, several long runs, hardly a like layer
// left, memory tight, one micro-batch. The plan equals the best of all plans to the nanosecond by
// enumeration, whichever way it is searched for, and each proof is certified; a false one is
// refused.
//
//   test_first_layers [PROBLEMS] [SEED]      make test runs 150
#include <cjson/cJSON.h>

#include "data/base/least.h"
#include "data/kinds/schedules.h"
#include "solve/layout/solve.h"
#include "tests/support/check.h"
#include "tests/support/oracle/oracle.h"
#include "tests/support/random_priced.h"
#include "tests/support/trials/certified.h"
#include "tests/support/trials/check_trials.h"
#include "tests/support/trials/ways.h"
#include "solve/checker/proof.h"

enum { PLANS_MAX = 20000, DEFAULT_PROBLEMS = 150, RUNS_MOST = 5 };

static int problem_count = DEFAULT_PROBLEMS;
static uint64_t first_seed = 1;
static bool cuts_runs, alternates; // of the problems drawn
static struct {
    int feasible, infeasible, open, free, stated, messages, single, split, by_ranks, certified,
        exchanged, by_kinds, priced, forged;
} seen;

static void note_splits(const struct solve_evidence *e)
{
    bool split = false, by_ranks = false, by_kinds = false;
    for (int64_t i = 0; i < e->proof.count; i++) {
        split = split || e->proof.records[i].split.by == SPLIT_PLACE;
        by_ranks = by_ranks || e->proof.records[i].spans;
        by_kinds = by_kinds || e->proof.records[i].split.like;
        for (int k = 0; k < e->proof.records[i].step_count; k++)
            seen.priced += e->proof.records[i].steps[k].layer_price_count > 0;
    }
    seen.by_kinds += by_kinds;
    seen.split += split;
    seen.by_ranks += by_ranks;
}

// ---- forged numbers of kinds

// One price or split of a kind's layers becomes another.
static void change_kinds(cJSON *box, uint64_t *state)
{
    cJSON *round, *row, *split = cJSON_GetObjectItem(box, "split"),
                        *run = split ? cJSON_GetObjectItem(split, "run") : NULL;
    cJSON_ArrayForEach(round, cJSON_GetObjectItem(box, "rounds"))
        cJSON_ArrayForEach(row, cJSON_GetObjectItem(round, "layers"))
    {
        cJSON *price = cJSON_GetArrayItem(row, 2);
        double changed = price->valuedouble * (double)(random_less(state, 7) - 3);
        if (random_less(state, 3) == 0) cJSON_SetNumberValue(price, changed);
        if (random_less(state, 6) == 0)
            cJSON_SetNumberValue(cJSON_GetArrayItem(row, 1), (double)random_less(state, 6));
    }
    if (!run || random_less(state, 2)) return;
    cJSON *below = cJSON_GetObjectItem(split, "layers_below");
    if (random_less(state, 3)) cJSON_SetNumberValue(run, (double)random_less(state, 6));
    else cJSON_SetNumberValue(below, below->valuedouble + (double)random_less(state, 3) - 1);
}

// Claims a nanosecond more than the best plan takes, by the certificate as it is, then with changed
// numbers of kinds: whatever these are, it is false.
static void forge(const struct priced *p, const struct certified *c, uint64_t seed)
{
    enum { CHANGES = 12 };
    uint64_t state = seed;
    struct check_text priced = check_trial_save(p, "priced.json", &own_arena);
    if (!strstr(c->made.text, "\"run\":")) return;
    for (int i = 0; i < CHANGES; i++) {
        cJSON *root = cJSON_Parse(c->made.text), *proof = cJSON_GetObjectItem(root, "proof"), *box;
        cJSON *bound = cJSON_GetObjectItem(proof, "bound_ns");
        cJSON_DeleteItemFromObject(proof, "iteration_ns");
        cJSON_DeleteItemFromObject(proof, "incumbent");
        cJSON_SetNumberValue(bound, bound->valuedouble + 1);
        cJSON_ArrayForEach(box, cJSON_GetObjectItem(proof, "boxes")) if (i)
            change_kinds(box, &state);
        char *text = cJSON_PrintUnformatted(root);
        struct check_text forged = {"forged.json", text, strlen(text)};
        struct error err = {OK, ""};
        struct check_result result = {.accepted = false};
        enum status status =
            check_certificate(&result, &forged, &priced, CHECK_WORK_DEFAULT, &own_arena, &err);
        if (status == OK && result.accepted) fail_msg("seed %d: a forged bound", (int)seed);
        if (status == OK) seen.forged++;
        cJSON_free(text);
        cJSON_Delete(root);
    }
}

static void check_way(const struct priced *p, const struct oracle *e, enum way way, uint64_t seed)
{
    struct error err = {OK, ""};
    struct arena_mark mark = arena_set_mark(&own_arena);
    struct solve_result result = way_solve(p, way, seed, 1, &own_arena);
    way_expect(&result, p, e, way, seed);
    if (way == WAY_BOXES) note_splits(result.evidence);
    struct certified c;
    if (!certify_best(&c, p, &result, e->plans ? e->best_ns : INT64_MAX, &own_arena, &err))
        fail_msg("%s: %s", way_name(p, way, seed, &own_arena), err.text);
    seen.certified++;
    if (alternates && e->plans) forge(p, &c, seed);
    arena_reset(&own_arena, mark);
}

// ---- problems

static int64_t *vary(const int64_t *values, int count, uint64_t *state, struct arena *arena)
{
    int64_t *copy = TAKE_COPY(arena, values, count);
    for (int i = 0; i < count; i++) copy[i] += random_less(state, 12);
    return copy;
}

// A run like one of the problem's, with other times, bytes and messages.
static void draw_run(struct priced_run *to, const struct priced *p, int number, int count,
                     uint64_t *state, struct arena *arena)
{
    int passes = p->slice_count * p->group_count;
    *to = p->runs[random_less(state, p->run_count)];
    to->name = arena_print(arena, "drawn%d", number);
    to->count = count;
    to->forward_ns = vary(to->forward_ns, passes, state, arena);
    to->backward_ns = vary(to->backward_ns, passes, state, arena);
    to->weight_bytes += random_less(state, 4);
    to->stash_bytes[RECOMPUTE_NONE] += random_less(state, 6);
    if (random_less(state, 3) == 0) to->cut = (int)random_less(state, p->cut_count);
}

static void draw_runs(struct priced *p, uint64_t *state, struct arena *arena)
{
    static const int patterns[][RUNS_MOST] = {
        {1, 1, 4, 1}, {1, 1, 5, 1}, {2, 4, 1},       {1, 2, 4, 1}, {1, 1, 1, 4, 1},
        {1, 3, 3, 1}, {3, 4},       {1, 5, 1},       {3, 3, 1},    {1, 1, 2, 2},
        {1, 2, 2, 2}, {4, 1, 1},    {1, 1, 3, 1, 1}, {2, 4, 1, 1}, {1, 5, 1, 1}};
    const int *counts = patterns[random_less(state, (int64_t)ARRAY_LENGTH(patterns))];
    struct priced_run *runs = TAKE(arena, RUNS_MOST, struct priced_run);
    int count = 0;
    p->layer_count = 0;
    for (; count < RUNS_MOST && counts[count]; count++) {
        draw_run(&runs[count], p, count, counts[count], state, arena);
        p->layer_count += counts[count];
    }
    p->runs = runs;
    p->run_count = count;
}

// As multi-token prediction does: a stage with the last layer holds several.
static void draw_last(struct priced *p, uint64_t *state, struct arena *arena)
{
    struct rule *rules = TAKE(arena, p->rule_count + 1, struct rule), *r = &rules[p->rule_count];
    if (p->rule_count) rules[0] = p->rules[0];
    *r = rule_empty;
    r->action = RULE_FORBID;
    r->holds_first = r->holds_last = p->layer_count - 1;
    r->layers_max = 1 + (int)random_less(state, 2);
    p->rules = rules;
    p->rule_count++;
}

static void draw_one(struct priced *p, uint64_t *state, struct arena *arena)
{
    int kind;
    do kind = (int)random_less(state, SCHEDULE_KIND_COUNT);
    while (schedule_kinds[kind].virtual_stages == 1);
    random_priced_of(p, kind, state, arena);
    draw_runs(p, state, arena);
    if (random_less(state, 4)) p->rule_count = 0;
    if (p->rule_count < 2 && random_less(state, 3) == 0) draw_last(p, state, arena);
    for (int g = 1; g < p->group_count && random_less(state, 2); g++)
        p->groups[g].excluded = "drawn";
    if (random_less(state, 4) == 0) p->micro_batches = p->layout.micro_batch = 1;
    for (int g = 0; g < p->group_count && random_less(state, 2); g++)
        p->groups[g].slots = p->stage_count;
}

static void raise(int64_t **values, int count, uint64_t *state, struct arena *arena)
{
    *values = TAKE_COPY(arena, *values, count);
    (*values)[random_less(state, count)] += 1 + random_less(state, 20);
}

// One number of the run, or whether it may be recomputed, as no other piece of its run has it.
static void tell_apart(struct priced_run *r, const struct priced *p, uint64_t *state,
                       struct arena *arena)
{
    int groups = p->group_count, options = p->gradient_option_count,
        passes = p->slice_count * groups, option = (int)random_less(state, options);
    int64_t *bytes[] = {&r->weight_bytes,    &r->gradient_bytes,
                        &r->optimizer_bytes, &r->unsharded_bytes,
                        r->stash_bytes,      r->stash_bytes + RECOMPUTE_FULL,
                        r->working_bytes,    r->working_bytes + RECOMPUTE_FULL},
            **times[] = {&r->forward_ns, &r->backward_ns, &r->again_ns[RECOMPUTE_FULL]};
    int which = (int)random_less(state, ARRAY_LENGTH(bytes) + ARRAY_LENGTH(times) + 6) -
                (int)ARRAY_LENGTH(bytes);
    if (which < 0) *bytes[which + (int)ARRAY_LENGTH(bytes)] += 1 + random_less(state, 10);
    else if (which < (int)ARRAY_LENGTH(times)) raise(times[which], passes, state, arena);
    else if (which == 3) raise(&r->optimizer_ns, groups, state, arena);
    else if (which == 4 && schedule_kinds[p->layout.schedule].splits_backward)
        raise(&r->weight_ns, groups, state, arena);
    else if (which == 5) raise(&r->feedback_bytes, options, state, arena);
    else if (which == 6) r->recomputable = !r->recomputable;
    else if (which == 7) r->cut = (int)random_less(state, p->cut_count);
    else {
        r->sync_ns = TAKE_COPY(arena, r->sync_ns, options);
        raise(&r->sync_ns[option], groups, state, arena);
    }
}

// Each run in pieces of a layer or two, most of which nothing but their names tells apart; a rule
// may name one of them.
static void cut_runs(struct priced *p, uint64_t *state, struct arena *arena)
{
    struct priced_run *runs = TAKE(arena, p->layer_count, struct priced_run);
    int count = 0, odd = (int)random_less(state, 2 * p->layer_count);
    for (int i = 0; i < p->run_count; i++)
        for (int left = p->runs[i].count, n; left > 0; left -= n, count++) {
            n = smaller_int(left, 1 + (int)random_less(state, 2));
            runs[count] = p->runs[i];
            runs[count].name = arena_print(arena, "piece%d", count);
            runs[count].count = n;
            if (count == odd) tell_apart(&runs[count], p, state, arena);
        }
    p->runs = runs;
    p->run_count = count;
    struct rule *rules = TAKE(arena, p->rule_count + 1, struct rule), *r = &rules[p->rule_count];
    for (int i = 0; i < p->rule_count; i++) {
        rules[i] = p->rules[i];
        if (rules[i].run) rules[i].run = runs[random_less(state, count)].name;
    }
    p->rules = rules;
    if (p->rule_count > 1 || random_less(state, 6)) return;
    *r = rule_empty;
    r->action = RULE_FORBID;
    r->run = runs[random_less(state, count)].name;
    r->layers_min = 1;
    r->stage = (int)random_less(state, p->stage_count);
    p->rule_count++;
}

// Two or three kinds of layers in turn, by two to four of them, and now and then one that is of
// none; each layer may be a run of its own. What a rank holds of each kind binds: optimizer steps
// are long.
static void alternate(struct priced *p, uint64_t *state, struct arena *arena)
{
    int kinds = 2 + (random_less(state, 4) == 0), every = kinds + (int)random_less(state, 2),
        layers = smaller_int(p->stage_count + 2 + (int)random_less(state, 5), 11);
    struct priced_run of[3], *runs = TAKE(arena, layers, struct priced_run);
    for (int i = 0; i < kinds; i++) {
        draw_run(&of[i], p, i, 1, state, arena);
        of[i].optimizer_ns = vary(of[i].optimizer_ns, p->group_count, state, arena);
        for (int g = 0; g < p->group_count; g++)
            of[i].optimizer_ns[g] += random_less(state, 3) * p->micro_batches * 10;
        of[i].recomputable = of[0].recomputable;
    }
    for (int i = 0; i < layers; i++) {
        int kind = i % every < kinds - 1 ? i % every : kinds - 1;
        runs[i] = of[kind];
        runs[i].name = arena_print(arena, "layer%d", i);
        if (random_less(state, 30) == 0) tell_apart(&runs[i], p, state, arena);
    }
    p->runs = runs;
    p->run_count = p->layer_count = layers;
    for (int i = 0; i < p->rule_count; i++)
        if (p->rules[i].run) p->rule_count = i;
}

// Draws until the enumeration is small enough; of problems without a plan one in five.
static void draw(struct priced *p, struct schedule *schedule, struct oracle *e, uint64_t seed,
                 struct arena *arena)
{
    uint64_t state = seed, pieces = ~seed;
    struct arena_mark mark = arena_set_mark(arena);
    for (;; arena_reset(arena, mark)) {
        draw_one(p, &state, arena);
        if (cuts_runs) cut_runs(p, &pieces, arena);
        if (alternates) alternate(p, &pieces, arena);
        if (p->layer_count < p->stage_count || priced_check(p, &own_err) != OK) continue;
        if (oracle_size(p, PLANS_MAX, arena) > PLANS_MAX) continue;
        priced_schedule(schedule, p, arena);
        MUST(oracle_answer(e, p, schedule, arena, &own_err));
        if (e->plans || random_less(&state, 5) == 0) return;
    }
}

static void note(const struct priced *p, const struct oracle *e, const struct choices *c)
{
    seen.feasible += e->plans > 0;
    seen.infeasible += e->plans == 0;
    seen.free += c->free_from == 0;
    seen.open += c->free_from > 0 && c->free_from < p->layer_count;
    seen.stated += c->free_from == p->layer_count;
    seen.messages += c->free_from > 1 && c->free_from < p->layer_count &&
                     priced_run_of(p, c->free_from - 1) == priced_run_of(p, c->free_from);
    seen.single += p->micro_batches == 1;
    seen.exchanged += c->free_from < priced_first_layer(p, p->run_count - 1) - 1;
}

static void check_enumerated(void)
{
    for (uint64_t seed = first_seed; seed < first_seed + (uint64_t)problem_count; seed++) {
        struct priced p;
        struct schedule schedule;
        struct oracle e;
        struct choices c;
        struct arena_mark mark = arena_set_mark(&own_arena);
        draw(&p, &schedule, &e, 1000 * seed, &own_arena);
        MUST(choices_build(&c, &p, &schedule, &own_arena, &own_err));
        note(&p, &e, &c);
        check_way(&p, &e, WAY_DEFAULT, seed);
        check_way(&p, &e, WAY_BOXES, seed);
        check_way(&p, &e, seed % 2 ? WAY_TREE_ALONE : WAY_GLPK, seed);
        arena_reset(&own_arena, mark);
    }
    print_message("%d problems with a plan, %d without; places stated before the run %d (%d beyond "
                  "its first layer), everywhere %d, nowhere %d; one micro-batch %d; by ranks %d, "
                  "split by place %d; %d proofs certified\n",
                  seen.feasible, seen.infeasible, seen.open, seen.messages, seen.stated, seen.free,
                  seen.single, seen.by_ranks, seen.split, seen.certified);
}

TEST(test_enumerated)
{
    check_enumerated();
    assert_true(seen.infeasible && seen.open > seen.feasible / 3 && seen.messages && seen.stated &&
                seen.free && seen.single && seen.by_ranks && seen.split);
}

// Several runs whose layers nothing tells apart, or one number of one of them.
TEST(test_cut_runs)
{
    memset(&seen, 0, sizeof seen);
    cuts_runs = true;
    check_enumerated();
    cuts_runs = false;
    print_message("layers of several runs exchanged: %d\n", seen.exchanged);
    assert_true(seen.infeasible && seen.open && seen.stated && seen.free && seen.single &&
                seen.by_ranks && seen.exchanged > seen.feasible / 4);
}

// Layers of several kinds, counted apart on each rank.
TEST(test_alternating)
{
    memset(&seen, 0, sizeof seen);
    alternates = true;
    check_enumerated();
    alternates = false;
    print_message("split by a kind's layers: %d, rounds with their prices: %d; forged and audited, "
                  "all refused: %d\n",
                  seen.by_kinds, seen.priced, seen.forged);
    assert_true(seen.forged > problem_count / 10 && seen.by_kinds > problem_count / 50 &&
                seen.priced > problem_count / 50);
}

// Planner and checker state the same places, each for as many choices.
static void compare_choices(void)
{
    uint64_t state = first_seed, pieces = ~first_seed;
    int64_t compared = 0;
    for (int i = 0; i < 4 * problem_count; i++) {
        struct check_trial t = {0};
        struct check_problem p;
        struct check_graph g;
        struct check_choices own;
        uint64_t work = CHECK_WORK_DEFAULT;
        struct arena_mark mark = arena_set_mark(&own_arena);
        do {
            draw_one(&t.priced, &state, &own_arena);
            if (cuts_runs) cut_runs(&t.priced, &pieces, &own_arena);
        } while (t.priced.layer_count < t.priced.stage_count ||
                 priced_check(&t.priced, &own_err) != OK);
        priced_schedule(&t.schedule, &t.priced, &own_arena);
        t.text = check_trial_save(&t.priced, "priced.json", &own_arena);
        MUST(choices_build(&t.choices, &t.priced, &t.schedule, &own_arena, &own_err));
        MUST(check_read_problem(&p, &t.text, &own_arena, &own_err));
        MUST(check_build_graph(&g, &p, &own_arena));
        MUST(check_list_choices(&own, &g, &work, &own_arena));
        assert_int_equal(own.free_from, p.stages > 2 ? t.choices.free_from : own.free_from);
        for (int s = 1; s < p.stages - 1; s++)
            for (int k = 0, of = 0; k < own.count[s]; k++, compared++) {
                const struct stage_choices *stage = &t.choices.stages[s];
                while (of < stage->count && stage->items[of].first_layer != own.items[s][k].first)
                    of++;
                assert_true(of < stage->count); // in the same order
            }
        arena_reset(&own_arena, mark);
    }
    print_message("%lld choices compared\n", (long long)compared);
    assert_true(compared > problem_count);
}

TEST(test_choices)
{
    compare_choices();
    cuts_runs = true;
    compare_choices();
    cuts_runs = false;
}

// ---- false claims, with certificates made for them

TEST(test_false_claims)
{
    int refused = 0;
    for (uint64_t seed = first_seed; seed < first_seed + (uint64_t)problem_count / 2; seed++) {
        struct schedule schedule;
        struct oracle e;
        struct check_trial t = {.seed = seed};
        struct arena_mark mark = arena_set_mark(&own_arena);
        draw(&t.priced, &schedule, &e, 1000 * seed + 7, &own_arena);
        t.text = check_trial_save(&t.priced, "priced.json", &own_arena);
        t.best = e.best;
        for (int none = 0; none < 2 && e.plans; none++) {
            struct check_text text = check_trial_claim(&t, none, none ? -1 : e.best_ns,
                                                       none ? 0 : e.best_ns + 1, &own_arena);
            if (!text.text) continue; // too many boxes
            check_trial_refused(none ? "no plan" : "a bound above the best", &text, &t.text, "",
                                true, &own_arena);
            refused++;
        }
        arena_reset(&own_arena, mark);
    }
    print_message("%d refused\n", refused);
    assert_true(refused > problem_count / 4);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
