// A problem whose cluster has places: first the program over groups, at the least price of every
// link, which is a relaxation and gives layers and options; then the search for a placement.

#include "data/base/least.h"
#include "solve/places/internal.h"
#include "solve/layout/steps.h"

// In evaluations of a placement.
static const int64_t proof_steps = 200000;
static const int64_t quick_tree = 50 * 1000; // in the tree's effort
enum { TREE_NODES_MAX = 32, FEW_PLACES = 8, QUICK_EVALUATIONS = 500 };
static const double share_for_relaxation = 0.5; // of a time limit
static const double share_for_reaches = 0.25;   // of a gap

// If the search used another objective: from here on the iteration time counts, and the slowest
// replica in it.
static enum status find_slowest(struct placed *p, struct placed_plan *best, struct error *err)
{
    if (p->priced->objective == OBJECTIVE_ITERATION_TIME) return OK;
    TRY(graph_compile(&p->own->graph, p->own->schedule, p->arena, err));
    best->time_ns = -1;
    placed_sync_kept(p, best);
    for (int replica = 0; replica < p->replicas; replica++) {
        placed_durations(p, best, replica, p->durations);
        int64_t time_ns = graph_longest(p->own->graph, p->durations, NULL);
        if (time_ns <= best->time_ns) continue;
        best->time_ns = time_ns;
        best->slowest = replica;
    }
    assert(best->time_ns >= 0);
    return OK;
}

// ---- engines

// The longest time that is within the requested gap of the bound.
static int64_t enough_for(int64_t bound_ns, double gap)
{
    if (!(gap > 0 && bound_ns > 0) || gap >= 1 || bound_ns >= NEVER_NS)
        return gap >= 1 ? NEVER_NS : bound_ns;
    double most = floor((double)bound_ns / (1 - gap)) + 1;
    int64_t enough = most < 0x1p60 ? (int64_t)most : (int64_t)1 << 60;
    while (enough > bound_ns && bound_closing(enough, gap, 0) > bound_ns) enough--;
    assert(enough >= bound_ns);
    return enough;
}

// What is known of a problem while engines work on it.
struct proving {
    struct solving *s;
    struct solve_result *r;
    struct placed *p;
    struct placed_plan best; // time_ns INT64_MAX: no plan yet
    int64_t bound_ns;        // of every plan; NEVER_NS or more: there is none
    const struct placed_effort *effort;
    const struct priced *groups; // the program over groups
    const int *chosen;           // its plan's stages; NULL: it has none
    struct placed_settings search;
    struct placed_start *start; // NULL: none. Its plan's stages and nodes, and the least change of
    int *like, *retained;       // it that fits
    struct placed_plan repaired;
    double share; // cost of the engine at work
    struct error *err;
};

// The value that a bound has to reach for the requested gap.
static int64_t wanted_ns(const struct proving *x)
{
    return bound_closing(x->best.time_ns, x->s->settings->gap, 0);
}
static bool is_found(const struct proving *x) { return x->best.time_ns < INT64_MAX; }
static bool is_open(const struct proving *x)
{
    return is_found(x) ? x->bound_ns < wanted_ns(x) : x->bound_ns < NEVER_NS;
}
static bool is_enough(const struct proving *x, int64_t time_ns)
{
    return time_ns <= enough_for(x->bound_ns, x->s->settings->gap);
}

// Another objective's plans are stated only at the end: that needs another graph.
static void keep(struct proving *x)
{
    struct arena own;
    struct plan plan;
    const struct solve_settings *settings = x->s->settings;
    const struct priced *priced = x->s->priced;
    if (!solve_keeps(settings, priced) || !is_found(x) ||
        priced->objective != OBJECTIVE_ITERATION_TIME)
        return;
    arena_open(&own, x->s->arena->exit);
    struct placed_plan copy = placed_plan_empty(x->p, &own);
    placed_plan_copy(x->p, &copy, &x->best);
    placed_put_plan(&plan, x->p, &copy, &own);
    plan.iteration_ns = x->best.time_ns;
    solve_keep_plan(settings, priced, &plan, plan.iteration_ns);
    solve_keep_bound(settings, priced, smaller(x->bound_ns, x->best.time_ns));
    arena_close(&own);
}

static bool has_start(const struct proving *x) { return x->start; }

// The search from an earlier plan comes first, so that it has all the time there is. A plan that is
// good enough stays as it is.
static enum status search_from_start(struct proving *x)
{
    struct placed *p = x->p;
    struct arena *arena = x->s->arena;
    struct placed_settings from = x->search;
    x->like = TAKE(arena, p->stages, int);
    x->retained = TAKE(arena, p->replicas * p->ranks, int);
    x->repaired = placed_plan_empty(p, arena);
    if (!placed_take_start(p, x->start, x->like, x->retained, &x->repaired, arena))
        return refuse(x->err, "%s: the plan to start from does not fit this problem",
                      document_name(&x->start->plan->document, "start"));
    if (x->repaired.time_ns < INT64_MAX) from.start = &x->repaired;
    if (is_enough(x, x->repaired.time_ns)) placed_plan_copy(p, &x->best, &x->repaired);
    else placed_search(p, &x->best, x->like, &from, arena);
    return OK;
}

// The plan of another program, placed: it takes the place of the best if it is faster.
static int64_t search_from(void *proving, const struct plan *plan)
{
    struct proving *x = proving;
    struct arena *arena = x->s->arena;
    struct placed_plan other = placed_plan_empty(x->p, arena);
    struct placed_settings search = x->search;
    int *chosen = TAKE(arena, x->p->stages, int);
    search.evaluations = QUICK_EVALUATIONS;
    if (!plan->stage_count || !choices_from_plan(chosen, placed_choices(x->p), plan) ||
        !placed_search(x->p, &other, chosen, &search, arena))
        return x->best.time_ns;
    if (other.time_ns < x->best.time_ns) placed_plan_copy(x->p, &x->best, &other);
    return x->best.time_ns;
}

// Which kinds of card rings use, decided with the groups of their stages.
static bool may_branch_on_reaches(const struct proving *x)
{
    return x->groups->group_count > 1 && is_open(x) && !solving_should_stop(x->s);
}
static enum status prove_by_reaches(struct proving *x)
{
    struct solving *s = x->s;
    struct solve_settings settings = *s->settings;
    struct placed_reaches_result r = {x->bound_ns, x->effort->repeats, .place = search_from,
                                      .context = x, .gap = s->settings->gap};
    settings.time_limit_s = x->share * watch_left_s(&s->watch);
    settings.gap *= share_for_reaches;
    if (is_found(x) && !(settings.cutoff_ns && settings.cutoff_ns < x->best.time_ns))
        settings.cutoff_ns = x->best.time_ns;
    TRY(placed_reaches_solve(&r, s->priced, x->groups, &settings, s->watch.stop, s->arena, x->err));
    if (r.bound_ns <= x->bound_ns) return OK;
    x->bound_ns = x->search.enough_ns = r.bound_ns;
    x->r->evidence_of = EVIDENCE_REACHES;
    if (r.bound_ns == NEVER_NS) x->chosen = NULL;
    return OK;
}

static bool wants_search(const struct proving *x)
{
    return x->chosen && !is_enough(x, x->best.time_ns);
}
static enum status search(struct proving *x)
{
    struct placed_plan other = placed_plan_empty(x->p, x->s->arena);
    placed_search(x->p, &other, x->chosen, &x->search, x->s->arena);
    if (other.time_ns < x->best.time_ns) placed_plan_copy(x->p, &x->best, &other);
    return OK;
}

static enum status improve_rings(struct proving *x)
{
    placed_improve_rings(x->p, &x->best);
    keep(x);
    return OK;
}

// Under a time limit the search goes on. A single pipeline's certificate takes the proof that comes
// later, which searches itself.
static bool repeats(const struct proving *x)
{
    const struct solve_settings *settings = x->s->settings;
    return x->chosen && x->effort->repeats && is_found(x) && settings->time_limit_s > 0 &&
           !(settings->evidence && placed_is_single(x->p));
}
static bool repeats_for_few(const struct proving *x)
{
    return repeats(x) && x->p->nodes <= TREE_NODES_MAX;
}
static bool repeats_for_many(const struct proving *x)
{
    return repeats(x) && x->p->nodes > TREE_NODES_MAX;
}
// Each time from where the last one ended.
static enum status search_again(struct proving *x)
{
    struct solving *s = x->s;
    struct placed_settings search = x->search;
    struct placed_plan from = placed_plan_empty(x->p, s->arena),
                       found = placed_plan_empty(x->p, s->arena);
    search.start = &from;
    while (!is_enough(x, x->best.time_ns) &&
           watch_elapsed_s(&s->watch) < x->share * s->settings->time_limit_s &&
           !solving_should_stop(s)) {
        search.seed++;
        placed_plan_copy(x->p, &from, &x->best);
        if (placed_search(x->p, &found, x->chosen, &search, s->arena) &&
            found.time_ns < x->best.time_ns) {
            placed_plan_copy(x->p, &x->best, &found);
            keep(x);
        }
    }
    return OK;
}

// One replica: a box of that tree counts as several parts of the other.
static bool is_open_single(const struct proving *x)
{
    return is_open(x) && x->effort->tree && placed_is_single(x->p);
}
static enum status prove_single(struct proving *x)
{
    enum { WORTH = 75 };
    struct solving *s = x->s;
    struct solve_settings settings = *s->settings;
    struct solve_evidence *evidence = NULL;
    settings.boxes_max = x->effort->tree == INT64_MAX ? 0 : x->effort->tree / WORTH;
    settings.time_limit_s = x->share * watch_left_s(&s->watch);
    if (solving_should_stop(s)) return OK;
    TRY(placed_single(x->p, &x->best, &x->bound_ns, &evidence, &settings, s->watch.stop, s->arena,
                      x->err));
    if (!evidence) return OK;
    x->r->evidence = evidence;
    x->r->evidence_of = EVIDENCE_NODES;
    return OK;
}

// Replicas with unequal numbers of micro-batches: enumerates all placements if they are few, else
// the bound of share.c.
static bool is_open_uneven(const struct proving *x) { return is_open(x) && x->p->uneven; }
static enum status prove_uneven(struct proving *x)
{
    struct solving *s = x->s;
    const struct placed_share_settings settings = {s->settings,
                                                   s->settings->time_limit_s * x->share, &s->watch};
    bool few = x->p->replicas * x->p->ranks <= FEW_PLACES;
    if (!few && is_found(x))
        TRY(placed_share(x->p, x->groups, wanted_ns(x), &x->bound_ns, &settings, s->arena, x->err));
    if (!is_open(x)) return OK;
    if (placed_prove(x->p, &x->best, few ? proof_steps : proof_steps / 20, s->arena))
        x->bound_ns = x->best.time_ns;
    else if (few && is_found(x))
        TRY(placed_share(x->p, x->groups, wanted_ns(x), &x->bound_ns, &settings, s->arena, x->err));
    return OK;
}

static bool is_open_to_tree(const struct proving *x)
{
    int64_t cutoff_ns = x->s->settings->cutoff_ns;
    return is_open(x) && !x->p->uneven && x->p->nodes <= TREE_NODES_MAX &&
           !(cutoff_ns > 0 && x->bound_ns >= cutoff_ns);
}
static void run_tree(struct proving *x, int64_t effort)
{
    const struct placed_tree_settings tree = {x->s->settings->gap, x->s->settings->cutoff_ns,
                                              effort, solving_should_stop, x->s};
    x->bound_ns = placed_tree(x->p, &x->best, x->bound_ns, &tree, x->s->arena);
}
static enum status prove_by_tree(struct proving *x)
{
    run_tree(x, x->effort->tree);
    return OK;
}
// It may show that there is nothing better to search for.
static bool wants_look(const struct proving *x) { return repeats(x) && is_open_to_tree(x); }
static enum status look_by_tree(struct proving *x)
{
    run_tree(x, quick_tree);
    keep(x);
    return OK;
}

// In this order. The cost is a share: of the time limit, or for one replica of the time left then.
static const struct placed_engine {
    bool (*applies)(const struct proving *x);
    double cost;
    enum status (*run)(struct proving *x);
} engines[] = {
    {may_branch_on_reaches, 0.8, prove_by_reaches},
    {has_start, 1, search_from_start},
    {wants_search, 1, search},
    {is_found, 0, improve_rings},
    {wants_look, 1, look_by_tree},
    {repeats_for_few, 0.3, search_again},
    {repeats_for_many, 0.9, search_again},
    {is_open_single, 0.7, prove_single},
    {is_open_uneven, 0.1, prove_uneven},
    {is_open_to_tree, 1, prove_by_tree},
};

// ---- the answer

static void put_nothing(struct proving *x)
{
    struct plan *plan = &x->r->plan;
    bool proven = x->bound_ns >= smaller(x->best.time_ns, NEVER_NS);
    plan->reason = proven ? "no placement on the nodes has room for all ranks, as memory and rules "
                            "allow, and joins them"
                          : NULL;
    plan->stage_count = 0;
    plan_end(plan, x->s->settings->gap, proven);
    plan->iteration_ns = plan->objective_ns = 0;
    plan->bound_ns = proven ? 0 : x->bound_ns;
    x->r->finished = proven;
}

// Whatever of the earlier plan can stay does, now that the bound may have risen.
static void settle(struct proving *x)
{
    int64_t enough_ns = enough_for(x->bound_ns, x->s->settings->gap);
    if (x->repaired.time_ns <= enough_ns) placed_plan_copy(x->p, &x->best, &x->repaired);
    placed_settle(x->p, &x->best, x->like, x->retained, enough_ns);
}

// relaxed_ns: the bound of the program over groups.
static enum status put_answer(struct proving *x, int64_t relaxed_ns)
{
    struct plan *plan = &x->r->plan;
    const struct plan_effort effort = plan->effort;
    const struct priced *priced = x->s->priced;
    x->bound_ns = smaller(x->bound_ns, x->best.time_ns);
    assert(x->bound_ns >= relaxed_ns);
    if (x->start) settle(x);
    int64_t value_ns = x->best.time_ns;
    TRY(find_slowest(x->p, &x->best, x->err));
    placed_put_plan(plan, x->p, &x->best, x->s->arena);
    x->r->free_links_ns = placed_free_links_ns(x->p, &x->best);
    plan->objective = priced->objective;
    if (priced->objective != OBJECTIVE_ITERATION_TIME) plan->objective_ns = value_ns;
    plan->iteration_ns = x->best.time_ns;
    plan->bound_ns = bound_stated(x->bound_ns, value_ns, x->chosen ? relaxed_ns : 0);
    plan->seed = x->s->settings->seed;
    plan->effort = effort;
    plan->effort.seconds = watch_elapsed_s(&x->s->watch);
    plan_end(plan, x->s->settings->gap, false);
    x->r->finished = plan->outcome == OUTCOME_OPTIMAL;
    return OK;
}

// With r the answer of the program over groups.
static enum status prove(struct proving *x)
{
    struct solving *s = x->s;
    struct plan *plan = &x->r->plan;
    TRY(placed_open(&x->p, s->priced, s->arena, x->err));
    x->p->should_stop = solving_should_stop, x->p->stop_argument = s;
    int *chosen = TAKE(s->arena, s->priced->stage_count, int);
    if (plan->stage_count && !choices_from_plan(chosen, placed_choices(x->p), plan))
        return fail(x->err, SOLVER, "the plan of the program over groups is not among its choices");
    if (plan->stage_count) x->chosen = chosen;
    x->best = placed_plan_empty(x->p, s->arena);
    x->bound_ns = plan->bound_ns;
    x->search = (struct placed_settings){.evaluations = x->effort->evaluations,
                                         .seed = (uint64_t)s->settings->seed,
                                         .should_stop = solving_should_stop,
                                         .stop_argument = s,
                                         .enough_ns = plan->bound_ns};
    int64_t relaxed_ns = plan->bound_ns;
    for (size_t i = 0; i < ARRAY_LENGTH(engines); i++)
        if (engines[i].applies(x)) {
            x->share = engines[i].cost;
            TRY(engines[i].run(x));
        }
    if (x->p->status != OK) {
        *x->err = x->p->error;
        return x->p->status;
    }
    if (is_found(x)) return put_answer(x, relaxed_ns);
    put_nothing(x);
    return OK;
}

enum status placed_solve_with(struct solve_result *r, const struct priced *priced,
                              const struct solve_settings *settings, struct placed_start *start,
                              const struct placed_effort *effort, const volatile int *stop,
                              struct arena *arena, struct error *err)
{
    if (priced->objective == OBJECTIVE_PIPETTE)
        return placed_solve_pipette(r, priced, settings, stop, arena, err);
    struct solving s = {.priced = priced,
                        .settings = settings,
                        .watch = watch_begin(stop, settings->time_limit_s),
                        .arena = arena};
    struct solve_settings relaxed = *settings;
    struct priced *groups = TAKE(arena, 1, struct priced);
    relaxed.time_limit_s *= share_for_relaxation;
    relaxed.gap *= effort->share_of_gap;
    placed_relax(groups, priced, arena);
    TRY(solve_run(r, groups, &relaxed, NULL, stop, arena, err));
    bool without_plan = r->plan.outcome == OUTCOME_NO_PLAN;
    if (r->cut_off) r->plan.stage_count = 0;
    plan_end(&r->plan, settings->gap, r->finished && !r->cut_off);
    if (r->cut_off || (!r->plan.stage_count && !(start && without_plan))) return OK;
    struct proving x = {
        .s = &s, .r = r, .effort = effort, .groups = groups, .start = start, .err = err};
    return prove(&x);
}

enum status placed_solve(struct solve_result *r, const struct priced *priced,
                         const struct solve_settings *settings, struct placed_start *start,
                         const volatile int *stop, struct arena *arena, struct error *err)
{
    bool many = priced->places->node_count > TREE_NODES_MAX;
    const struct placed_effort effort = {
        many ? 200000 : 60000, settings->time_limit_s > 0 ? INT64_MAX : 300 * 1000, 0.02, true};
    return placed_solve_with(r, priced, settings, start, &effort, stop, arena, err);
}
