#include "tests/support/claims_truth.h"

#include <string.h>

#include "data/schedule.h"
#include "formulate/price.h"
#include "solve/check_space_parts.h"
#include "solve/solve.h"
#include "solve/space_prices.h"
#include "tests/support/oracle.h"
#include "tests/support/spaces.h"

#include "tests/support/check.h"

enum { BOXES_MOST = 40, SOLVED_MOST = 1000 * 1000 };        // of the tree; plans of what is solved

// ---- the checker's tables as a priced document

static int64_t *copy(const int64_t *numbers, int count, struct arena *arena)
{
    return arena_grow(arena, numbers, (size_t)count, (size_t)count, sizeof *numbers);
}

static void copy_run(struct priced_run *to, const struct check_run *r, const struct check_problem *p, struct arena *arena)
{
    int passes = p->slices * p->group_count;
    *to = (struct priced_run){.name = r->name, .count = r->count, .recomputable = r->recomputable, .weight_bytes = r->weight_bytes,
                              .gradient_bytes = r->gradient_bytes, .optimizer_bytes = r->optimizer_bytes, .cut = r->cut};
    memcpy(to->stash_bytes, r->stash, sizeof to->stash_bytes);
    memcpy(to->working_bytes, r->working, sizeof to->working_bytes);
    to->feedback_bytes = copy(r->feedback, p->gradient_count, arena);
    to->forward_ns = copy(r->forward, passes, arena), to->backward_ns = copy(r->backward, passes, arena);
    to->selective_ns = copy(r->selective, passes, arena), to->full_ns = copy(r->full, passes, arena);
    to->weight_ns = copy(r->weight, p->group_count, arena), to->optimizer_ns = copy(r->optimizer, p->group_count, arena);
    to->sync_ns = TAKE(arena, p->gradient_count, int64_t *);
    for (int o = 0; o < p->gradient_count; o++) to->sync_ns[o] = copy(r->sync[o], p->group_count, arena);
}

static void copy_cut(struct priced_cut *to, const struct check_cut *c, const struct check_problem *p, struct arena *arena)
{
    int prices = p->slices * p->group_count * p->group_count * PARTS;
    *to = (struct priced_cut){.message_bytes = c->message_bytes, .feedback_bytes = copy(c->feedback, p->boundary_count, arena),
                              .forward_ns = copy(c->forward, prices, arena), .backward_ns = TAKE(arena, p->boundary_count, int64_t *)};
    for (int o = 0; o < p->boundary_count; o++) to->backward_ns[o] = copy(c->backward[o], prices, arena);
}

static void copy_rule(struct rule *to, const struct check_rule *r, const struct check_problem *p, struct arena *arena)
{
    *to = (struct rule){.action = r->forbids ? RULE_FORBID : RULE_REQUIRE, .stage = r->stage, .holds_first = r->holds_first, .holds_last = r->holds_last,
                        .run = r->run < 0 ? NULL : p->runs[r->run].name, .layers_min = r->layers_min, .layers_max = r->layers_max,
                        .recompute_stated = r->modes_stated, .compresses_gradient = r->compresses_gradient, .compresses_boundary = r->compresses_boundary};
    to->groups = TAKE(arena, p->group_count, const char *);
    for (int g = 0; g < p->group_count; g++)
        if (r->groups >> g & 1) to->groups[to->group_count++] = p->groups[g].name;
    for (int mode = 0; mode < MODES && r->modes_stated; mode++) to->recompute[mode] = r->modes >> mode & 1;
}

static void copy_groups(struct priced *to, const struct check_problem *p, struct arena *arena)
{
    to->group_count = p->group_count;
    to->groups = TAKE(arena, p->group_count, struct priced_group);
    for (int g = 0; g < p->group_count; g++) {
        const struct check_group *from = &p->groups[g];
        to->groups[g] = (struct priced_group){.name = from->name, .gpu = from->name, .slots = from->slots, .memory_limit_bytes = from->memory_limit,
                                              .constant_bytes = from->constant_bytes, .excluded = from->excluded ? "excluded" : NULL,
                                              .sync_constant_ns = copy(from->sync_constant, p->gradient_count, arena)};
    }
}

static void copy_options(struct priced *to, const struct check_problem *p, struct arena *arena)
{
    to->boundary_option_count = p->boundary_count, to->gradient_option_count = p->gradient_count;
    to->boundary_options = TAKE(arena, p->boundary_count, struct priced_boundary_option);
    to->gradient_options = TAKE(arena, p->gradient_count, struct priced_gradient_option);
    for (int o = 0; o < p->boundary_count; o++)
        to->boundary_options[o] = (struct priced_boundary_option){p->boundary[o].rank, p->boundary[o].epilogue_only, p->boundary[o].cost};
    for (int o = 0; o < p->gradient_count; o++) to->gradient_options[o] = (struct priced_gradient_option){p->gradient[o].rank, p->gradient[o].cost};
    to->budget = (struct quality_budget){p->budget[BUDGET_BOUNDARIES], p->budget[BUDGET_STAGES], p->budget[BUDGET_COST], p->rank_min};
}

void priced_of_tables(struct priced *to, const struct check_problem *p, const struct layout *layout, struct arena *arena)
{
    *to = (struct priced){.name = "tables", .layout = *layout, .stage_count = p->stages, .rank_count = p->ranks, .slice_count = p->slices,
                          .micro_batches = p->micro_batches, .layer_count = p->layers, .devices_per_stage = 1, .run_count = p->run_count, .cut_count = p->cut_count,
                          .rule_count = p->rule_count, .local_forward_ns = p->local_forward, .local_backward_ns = p->local_backward, .local_bytes = p->local_bytes};
    for (int mode = 0; mode < MODES; mode++) to->recompute[mode] = p->modes[mode];
    to->runs = TAKE(arena, p->run_count, struct priced_run), to->cuts = TAKE(arena, p->cut_count, struct priced_cut);
    to->rules = TAKE(arena, p->rule_count, struct rule);
    for (int r = 0; r < p->run_count; r++) copy_run(&to->runs[r], &p->runs[r], p, arena);
    for (int c = 0; c < p->cut_count; c++) copy_cut(&to->cuts[c], &p->cuts[c], p, arena);
    for (int i = 0; i < p->rule_count; i++) copy_rule(&to->rules[i], &p->rules[i], p, arena);
    copy_groups(to, p, arena);
    copy_options(to, p, arena);
    to->has_embedding_sync = p->embedding != NULL;
    int pairs = p->group_count * p->group_count;
    to->embedding_sync_ns = p->embedding ? copy(p->embedding, pairs, arena) : TAKE(arena, pairs, int64_t);
}

// ---- whether the two say the same; what stands beside excluded groups counts too, so that a difference only costs time

static bool same(const int64_t *a, const int64_t *b, int count) { return !memcmp(a, b, (size_t)count * sizeof *a); }

static bool same_run(const struct priced_run *a, const struct priced_run *b, const struct priced *p)
{
    int passes = p->slice_count * p->group_count;
    for (int o = 0; o < p->gradient_option_count; o++)
        if (!same(a->sync_ns[o], b->sync_ns[o], p->group_count)) return false;
    return a->weight_bytes == b->weight_bytes && a->gradient_bytes == b->gradient_bytes && a->optimizer_bytes == b->optimizer_bytes && a->cut == b->cut &&
           same(a->stash_bytes, b->stash_bytes, 3) && same(a->working_bytes, b->working_bytes, 3) && same(a->feedback_bytes, b->feedback_bytes, p->gradient_option_count) &&
           same(a->forward_ns, b->forward_ns, passes) && same(a->backward_ns, b->backward_ns, passes) && same(a->selective_ns, b->selective_ns, passes) &&
           same(a->full_ns, b->full_ns, passes) && same(a->weight_ns, b->weight_ns, p->group_count) && same(a->optimizer_ns, b->optimizer_ns, p->group_count);
}

static bool same_cut(const struct priced_cut *a, const struct priced_cut *b, const struct priced *p)
{
    int prices = p->slice_count * p->group_count * p->group_count * PART_COUNT;
    for (int o = 0; o < p->boundary_option_count; o++)
        if (!same(a->backward_ns[o], b->backward_ns[o], prices)) return false;
    return a->message_bytes == b->message_bytes && same(a->feedback_bytes, b->feedback_bytes, p->boundary_option_count) && same(a->forward_ns, b->forward_ns, prices);
}

static bool same_prices(const struct priced *a, const struct priced *b)
{
    if (a->boundary_option_count != b->boundary_option_count || a->gradient_option_count != b->gradient_option_count || a->cut_count != b->cut_count ||
        a->has_embedding_sync != b->has_embedding_sync || a->micro_batches != b->micro_batches) return false;
    if (a->has_embedding_sync && !same(a->embedding_sync_ns, b->embedding_sync_ns, a->group_count * a->group_count)) return false;
    if (a->local_forward_ns != b->local_forward_ns || a->local_backward_ns != b->local_backward_ns || a->local_bytes != b->local_bytes) return false;
    for (int g = 0; g < a->group_count; g++) {
        const struct priced_group *x = &a->groups[g], *y = &b->groups[g];
        if (!x->excluded != !y->excluded || x->slots != y->slots || x->memory_limit_bytes != y->memory_limit_bytes || x->constant_bytes != y->constant_bytes ||
            !same(x->sync_constant_ns, y->sync_constant_ns, a->gradient_option_count)) return false;
    }
    for (int r = 0; r < a->run_count; r++)
        if (!same_run(&a->runs[r], &b->runs[r], a)) return false;
    for (int c = 0; c < a->cut_count; c++)
        if (!same_cut(&a->cuts[c], &b->cuts[c], a)) return false;
    return true;
}

// ---- optima

static int64_t whole_batch(const struct priced *p, int64_t value) { return p->objective == OBJECTIVE_MAX_LOAD && value >= 0 && value != INT64_MAX ? p->micro_batches * value : value; }

static bool enough_slots(const struct priced *p)
{
    int64_t slots = 0;
    for (int g = 0; g < p->group_count; g++) slots += p->groups[g].excluded ? 0 : p->groups[g].slots;
    return slots >= p->rank_count;
}

int64_t priced_optimum(const struct priced *p, int64_t plans_most, bool *enumerated, struct arena *arena)
{
    struct error err = {OK, ""};
    struct schedule schedule;
    struct oracle oracle;
    struct schedule_request request = schedule_request_of(p);
    *enumerated = true;
    if (!enough_slots(p)) return INT64_MAX;
    CHECK_OK(schedule_build(&schedule, &request, arena, &err));
    int64_t size = oracle_size(p, SOLVED_MOST, arena);
    if (size <= plans_most) {
        CHECK_OK(oracle_answer(&oracle, p, &schedule, arena, &err));
        return whole_batch(p, oracle.best_ns);
    }
    *enumerated = false;
    if (size > SOLVED_MOST) return -1;
    struct solve_settings settings;
    struct solve_result r;
    solve_defaults(&settings);
    settings.progress = 0, settings.threads = 1, settings.boxes_max = BOXES_MOST;
    CHECK_OK(solve_run(&r, p, &settings, NULL, NULL, arena, &err));
    if (!r.finished) return -1;
    return r.plan.stage_count ? spaces_value(&r.plan) : INT64_MAX;
}

// ---- a space

static void find_checkers(struct layout_truth *l, struct space_truth *t)
{
    struct error err = {OK, ""};
    struct check_pricer pricer;
    struct check_problem *p;
    l->refused_by_checker = true;
    CHECK_OK(space_pricer_open(&pricer, t->problem, t->arena, &err));
    if (check_space_refusal(&t->space, &l->own) || !pricer.bytes(pricer.context, &l->own, &p) || !check_has_slots(p) || !pricer.times(pricer.context)) return;
    l->refused_by_checker = false;
    l->tables = p;
}

static void find_planners(struct layout_truth *l, struct space_truth *t)
{
    struct error err = {OK, ""};
    struct problem *one = TAKE(t->arena, 1, struct problem);
    *one = problem_with_layout(t->problem, &l->layout);
    l->refused = problem_check_layout(one, &err) != OK || price_problem(&l->priced, one, t->arena, &err) != OK;
    l->value_ns = l->time_ns = INT64_MAX;
    if (!l->refused) l->value_ns = priced_optimum(&l->priced, t->plans_most, &l->enumerated, t->arena);
}

static bool find_layout(void *argument, int64_t number, const struct check_layout *own)
{
    struct space_truth *t = argument;
    struct layout_truth *l = &t->layouts[number];
    struct priced tables;
    assert_true(number < t->count);
    *l = (struct layout_truth){.number = number, .layout = space_layout_back(own, &t->problem->job.layout), .own = *own};
    find_planners(l, t);
    find_checkers(l, t);
    if (l->tables) {
        priced_of_tables(&tables, l->tables, &l->layout, t->arena);
        l->alike = !l->refused && l->priced.objective == OBJECTIVE_ITERATION_TIME && same_prices(&l->priced, &tables);
        l->time_ns = l->alike ? l->value_ns : priced_optimum(&tables, t->plans_most, &l->enumerated, t->arena);
    }
    l->known = l->value_ns >= 0 && l->time_ns >= 0;
    t->unknown += !l->known;
    if (l->known && l->value_ns < t->value_ns) t->value_ns = l->value_ns;
    if (l->known && l->time_ns < t->time_ns) t->time_ns = l->time_ns;
    return true;
}

void space_truth_find(struct space_truth *t, const struct problem *problem, int64_t plans_most, struct arena *arena)
{
    *t = (struct space_truth){.problem = problem, .count = spaces_count(problem), .value_ns = INT64_MAX, .time_ns = INT64_MAX, .plans_most = plans_most, .arena = arena};
    t->layouts = TAKE(arena, t->count + 1, struct layout_truth);
    space_read(&t->space, problem, arena);
    assert_int_equal(check_space_walk(&t->space, find_layout, t), t->count);
}
