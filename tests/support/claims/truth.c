// The best time of each layout of a space.
#include "tests/support/claims/truth.h"

#include "data/schedule/schedule.h"
#include "formulate/price/price.h"
#include "solve/checker/space/arguments.h"
#include "solve/layout/solve.h"
#include "solve/checker/prices/prices.h"
#include "tests/support/claims/tables.h"
#include "tests/support/oracle/oracle.h"
#include "tests/support/spaces.h"
#include "tests/support/check.h"

enum { BOXES_MOST = 40, SOLVED_MOST = 1000 * 1000 }; // boxes of the tree; plans of a solve

// ---- whether the two agree; entries of excluded groups count too, so a difference only costs time

static bool same(const int64_t *a, const int64_t *b, int count)
{
    return !memcmp(a, b, (size_t)count * sizeof *a);
}

static bool same_run(const struct priced_run *a, const struct priced_run *b, const struct priced *p)
{
    int passes = p->slice_count * p->group_count;
    for (int o = 0; o < p->gradient_option_count; o++)
        if (!same(a->sync_ns[o], b->sync_ns[o], p->group_count) ||
            priced_optimizer_bytes(a, o) != priced_optimizer_bytes(b, o))
            return false;
    for (int o = 0; o < a->tiered_count; o++)
        if (!same(a->tiered[o].optimizer_ns, b->tiered[o].optimizer_ns, p->group_count) ||
            (a->tiered[o].energy_uj &&
             (!same(a->tiered[o].energy_uj, b->tiered[o].energy_uj, p->group_count) ||
              !same(a->tiered[o].again_uj, b->tiered[o].again_uj, p->group_count) ||
              !same(a->tiered[o].swap_uj, b->tiered[o].swap_uj, p->group_count))) ||
            (a->tiered[o].away_ns &&
             !same(a->tiered[o].away_ns, b->tiered[o].away_ns, p->group_count)))
            return false;
    return a->weight_bytes == b->weight_bytes && a->gradient_bytes == b->gradient_bytes &&
           a->optimizer_bytes == b->optimizer_bytes && a->unsharded_bytes == b->unsharded_bytes &&
           a->cut == b->cut && same(a->stash_bytes, b->stash_bytes, 3) &&
           same(a->working_bytes, b->working_bytes, 3) &&
           same(a->feedback_bytes, b->feedback_bytes, p->gradient_option_count) &&
           same(a->forward_ns, b->forward_ns, passes) &&
           same(a->backward_ns, b->backward_ns, passes) &&
           same(a->again_ns[RECOMPUTE_SELECTIVE], b->again_ns[RECOMPUTE_SELECTIVE], passes) &&
           same(a->again_ns[RECOMPUTE_FULL], b->again_ns[RECOMPUTE_FULL], passes) &&
           same(a->weight_ns, b->weight_ns, p->group_count) &&
           same(a->optimizer_ns, b->optimizer_ns, p->group_count);
}

static bool same_cut(const struct priced_cut *a, const struct priced_cut *b, const struct priced *p)
{
    int prices = p->slice_count * p->group_count * p->group_count * PART_COUNT;
    for (int o = 0; o < p->boundary_option_count; o++)
        if (!same(a->backward_ns[o], b->backward_ns[o], prices)) return false;
    return a->message_bytes == b->message_bytes &&
           same(a->feedback_bytes, b->feedback_bytes, p->boundary_option_count) &&
           same(a->forward_ns, b->forward_ns, prices);
}

static bool same_prices(const struct priced *a, const struct priced *b)
{
    if (a->boundary_option_count != b->boundary_option_count ||
        a->gradient_option_count != b->gradient_option_count || a->cut_count != b->cut_count ||
        a->has_embedding_sync != b->has_embedding_sync || a->micro_batches != b->micro_batches)
        return false;
    if (a->has_embedding_sync &&
        !same(a->embedding_sync_ns, b->embedding_sync_ns, a->group_count * a->group_count))
        return false;
    if (a->local_forward_ns != b->local_forward_ns ||
        a->local_backward_ns != b->local_backward_ns || a->local_bytes != b->local_bytes)
        return false;
    for (int g = 0; g < a->group_count; g++) {
        const struct priced_group *x = &a->groups[g], *y = &b->groups[g];
        if (!x->excluded != !y->excluded || x->slots != y->slots ||
            x->memory_limit_bytes != y->memory_limit_bytes ||
            x->constant_bytes != y->constant_bytes ||
            !same(x->sync_constant_ns, y->sync_constant_ns, a->gradient_option_count))
            return false;
    }
    for (int r = 0; r < a->run_count; r++)
        if (!same_run(&a->runs[r], &b->runs[r], a)) return false;
    for (int c = 0; c < a->cut_count; c++)
        if (!same_cut(&a->cuts[c], &b->cuts[c], a)) return false;
    return true;
}

// ---- optima

static int64_t whole_batch(const struct priced *p, int64_t value)
{
    return p->objective == OBJECTIVE_MAX_LOAD && value >= 0 && value != INT64_MAX
               ? p->micro_batches * value
               : value;
}

static bool enough_slots(const struct priced *p)
{
    int64_t slots = 0;
    for (int g = 0; g < p->group_count; g++)
        slots += p->groups[g].excluded ? 0 : p->groups[g].slots;
    return slots >= p->rank_count;
}

int64_t priced_optimum(const struct priced *p, int64_t plans_most, bool *enumerated,
                       struct arena *arena)
{
    struct schedule schedule;
    struct oracle oracle;
    *enumerated = true;
    if (!enough_slots(p)) return INT64_MAX;
    MUST(schedule_build_priced(&schedule, p, arena, &own_err));
    int64_t size = oracle_size(p, SOLVED_MOST, arena);
    if (size <= plans_most) {
        MUST(oracle_answer(&oracle, p, &schedule, arena, &own_err));
        return whole_batch(p, oracle.best_ns);
    }
    *enumerated = false;
    if (size > SOLVED_MOST) return -1;
    struct solve_settings settings;
    struct solve_result r;
    solve_defaults(&settings);
    settings.progress = 0, settings.threads = 1, settings.boxes_max = BOXES_MOST;
    MUST(solve_run(&r, p, &settings, NULL, NULL, arena, &own_err));
    if (!r.finished) return -1;
    return r.plan.stage_count ? spaces_value(&r.plan) : INT64_MAX;
}

// ---- a space

static struct check_problem *tables_of(const struct layout_truth *l, const struct check_pricer *x)
{
    struct check_problem *p;
    bool priced = x->bytes(x->context, &l->own, &p) && check_has_slots(p) && x->times(x->context);
    return priced ? p : NULL;
}

static void find_checkers(struct layout_truth *l, struct space_truth *t)
{
    struct check_pricer pricers[2];
    struct check_space *space = TAKE(t->arena, 1, struct check_space);
    *space = t->space; // it outlives *t, which is copied
    l->space = space;
    MUST(space_pricers_open(pricers, t->problem, t->arena, &own_err));
    l->pricer = pricers[0];
    if (!check_space_refusal(&t->space, &l->own))
        l->tables = tables_of(l, &pricers[0]), l->dear_tables = tables_of(l, &pricers[1]);
    if (!l->dear_tables) l->tables = NULL;
    l->refused_by_checker = !l->tables;
}

static void find_planners(struct layout_truth *l, struct space_truth *t)
{
    struct error err = {OK, ""};
    struct problem *one = TAKE(t->arena, 1, struct problem);
    *one = problem_with_layout(t->problem, &l->layout);
    l->refused = problem_check_layout(one, &err) != OK ||
                 price_problem(&l->priced, one, t->arena, &err) != OK;
    l->value_ns = l->time_ns = INT64_MAX;
    if (!l->refused)
        l->value_ns = priced_optimum(&l->priced, t->plans_most, &l->enumerated, t->arena);
}

static bool find_layout(void *argument, int64_t number, const struct check_layout *own)
{
    struct space_truth *t = argument;
    struct layout_truth *l = &t->layouts[number];
    struct priced tables;
    assert_true(number < t->count);
    *l = (struct layout_truth){
        .number = number, .layout = space_layout_back(own, &t->problem->job.layout), .own = *own};
    find_planners(l, t);
    find_checkers(l, t);
    if (l->tables) {
        priced_of_tables(&tables, l->tables, &l->layout, t->arena);
        l->alike = !l->refused && l->priced.objective == OBJECTIVE_ITERATION_TIME &&
                   same_prices(&l->priced, &tables);
        l->time_ns = l->alike ? l->value_ns
                              : priced_optimum(&tables, t->plans_most, &l->enumerated, t->arena);
    }
    l->known = l->value_ns >= 0 && l->time_ns >= 0;
    t->unknown += !l->known;
    if (l->known && l->value_ns < t->value_ns) t->value_ns = l->value_ns;
    if (l->known && l->time_ns < t->time_ns) t->time_ns = l->time_ns;
    return true;
}

void space_truth_find(struct space_truth *t, const struct problem *problem, int64_t plans_most,
                      struct arena *arena)
{
    *t = (struct space_truth){.problem = problem,
                              .count = spaces_count(problem),
                              .value_ns = INT64_MAX,
                              .time_ns = INT64_MAX,
                              .plans_most = plans_most,
                              .arena = arena};
    t->layouts = TAKE(arena, t->count + 1, struct layout_truth);
    space_read(&t->space, problem, arena);
    assert_int_equal(check_space_walk(&t->space, find_layout, t), t->count);
}
