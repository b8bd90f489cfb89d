// A problem whose cluster has places: first the program over groups, at the least price of every
// link, which is a relaxation and gives layers and options; then the search for a placement.
#include <assert.h>
#include <math.h>
#include <string.h>

#include "data/base/least.h"
#include "data/results/bound.h"
#include "solve/places/internal.h"
#include "solve/places/single.h"
#include "solve/places/tree.h"
#include "solve/layout/steps.h"

// In evaluations of a placement.
static const int64_t proof_steps = 200000;
static const int64_t quick_tree = 50 * 1000; // in the tree's effort
enum { TREE_NODES_MAX = 32, FEW_PLACES = 8 };
static const double share_for_relaxation = 0.5; // of a time limit
static const double share_for_part = 0.1;       // likewise, for one program of the bound of share.c
static const double share_for_single = 0.7;     // of the time left then

// The claims of the slowest replica: values that depend on nodes replace those that depend on
// groups.
static void put_claims(struct plan *plan, const struct choices *c, const int64_t *durations)
{
    int stages = c->priced->stage_count;
    for (int s = 0; s < stages; s++) {
        struct plan_stage *to = &plan->stages[s];
        to->sync_ns = durations[symbol_index(stages, SYMBOL_SYNC, s)];
        to->queued_sync_ns = durations[symbol_index(stages, SYMBOL_QUEUED_SYNC, s)];
        for (int part = 0; part < PART_COUNT && s + 1 < stages; part++) {
            to->send_epilogue_ns[part] =
                durations[symbol_index(stages, SYMBOL_SEND_EPILOGUE + part, s)];
            for (int slice = 0; slice < c->priced->slice_count; slice++) {
                to->slices[slice].send_forward_ns[part] = durations[symbol_index(
                    stages, symbol_of_slice(slice, SYMBOL_SEND_FORWARD + part), s)];
                to->slices[slice].send_backward_ns[part] = durations[symbol_index(
                    stages, symbol_of_slice(slice, SYMBOL_SEND_BACKWARD + part), s)];
            }
        }
    }
    plan->embedding_sync_ns = durations[symbol_index(stages, SYMBOL_EMBEDDING_SYNC, 0)];
}

// From end to end: the overhead occurs at both.
static int64_t message_ns(int stages, int first_kind, int boundary, const int64_t *durations)
{
    int64_t sum = 0;
    for (int part = 0; part < PART_COUNT; part++)
        sum += (part == PART_OVERHEAD ? 2 : 1) *
               durations[symbol_index(stages, first_kind + part, boundary)];
    return sum;
}

static struct plan_placement *empty_placement(const struct placed *p, struct arena *arena)
{
    int stages = p->replicas * p->stages;
    struct plan_placement *x = TAKE(arena, 1, struct plan_placement);
    *x = (struct plan_placement){.replica_count = p->replicas, .rank_count = p->ranks};
    x->nodes = TAKE(arena, p->replicas * p->ranks, const char *);
    x->iteration_ns = TAKE(arena, p->replicas, int64_t);
    x->send_forward_ns = TAKE(arena, stages, int64_t);
    x->send_backward_ns = TAKE(arena, stages, int64_t);
    x->recompute = TAKE(arena, stages, int);
    x->recomputed_layers = TAKE(arena, stages, int);
    return x;
}

static void put_replica(struct plan_placement *x, struct placed *p, const struct placed_plan *best,
                        int replica, int64_t *durations)
{
    for (int s = 0; s < p->stages; s++) {
        const struct choice *choice = placed_choice_of(p, best, replica, s);
        x->recompute[replica * p->stages + s] = (int)choice->recompute;
        x->recomputed_layers[replica * p->stages + s] = choice->recomputed_layers;
    }
    placed_durations(p, best, replica, durations);
    x->iteration_ns[replica] =
        graph_longest(placed_variant(p, best->micro_batches[replica])->graph, durations, NULL);
    for (int s = 0; s + 1 < p->stages; s++) {
        x->send_forward_ns[replica * p->stages + s] =
            message_ns(p->stages, SYMBOL_SEND_FORWARD, s, durations);
        x->send_backward_ns[replica * p->stages + s] =
            message_ns(p->stages, SYMBOL_SEND_BACKWARD, s, durations);
    }
}

// The statements about stages, and the number of micro-batches, are those of the slowest replica.
void placed_put_plan(struct plan *plan, struct placed *p, struct placed_plan *best,
                     struct arena *arena)
{
    int64_t *durations = TAKE(arena, p->symbols, int64_t);
    const struct placed_variant *slowest = placed_variant(p, best->micro_batches[best->slowest]);
    choices_to_plan(plan, slowest->choices, best->chosen + best->slowest * p->stages, best->time_ns,
                    arena);
    struct plan_placement *x = plan->placement = empty_placement(p, arena);
    assert(plan->stage_count == p->stages && best->slowest < p->replicas);
    plan->micro_batches = slowest->micro_batches;
    x->slowest = best->slowest;
    x->rings = best->ring;
    x->embedding_ring = placed_fuses_embeddings(p) ? best->embedding_ring : NULL;
    x->micro_batches = p->uneven ? best->micro_batches : NULL;
    for (int i = 0; i < p->replicas * p->ranks; i++)
        x->nodes[i] = arena_copy_text(arena, p->priced->places->nodes[best->node[i]].name);
    placed_sync_kept(p, best);
    for (int replica = 0; replica < p->replicas; replica++)
        put_replica(x, p, best, replica, durations);
    placed_durations(p, best, best->slowest, durations);
    put_claims(plan, slowest->choices, durations);
}

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

// A prepared earlier plan.
struct beginning {
    int *like, *home;
    struct placed_plan mended;
};

// The longest time that is within the requested gap of the bound.
static int64_t enough_for(int64_t bound_ns, double gap)
{
    if (!(gap > 0 && bound_ns > 0) || gap >= 1) return gap >= 1 ? NEVER_NS : bound_ns;
    double most = floor((double)bound_ns / (1 - gap)) + 1;
    int64_t enough = most < 0x1p60 ? (int64_t)most : (int64_t)1 << 60;
    while (enough > bound_ns && bound_closing(enough, gap, 0) > bound_ns) enough--;
    assert(enough >= bound_ns);
    return enough;
}

// The search from an earlier plan comes first, so that it has all the time there is. A plan that is
// good enough stays as it is.
static enum status search_from(struct placed *p, struct placed_plan *best, struct beginning *b,
                               struct placed_start *start, int64_t enough_ns,
                               const struct placed_settings *settings, struct arena *arena,
                               struct error *err)
{
    struct placed_settings from = *settings;
    *b = (struct beginning){TAKE(arena, p->stages, int), TAKE(arena, p->replicas * p->ranks, int),
                            placed_plan_empty(p, arena)};
    if (!placed_take_start(p, start, b->like, b->home, &b->mended, arena))
        return fail(err, BAD_INPUT, "%s: the plan to start from does not fit this problem",
                    start->plan->document.path ? start->plan->document.path : "start");
    if (b->mended.time_ns < INT64_MAX) from.start = &b->mended;
    if (b->mended.time_ns <= enough_ns) placed_plan_copy(p, best, &b->mended);
    else placed_search(p, best, b->like, &from, arena);
    return OK;
}

// The value that a bound has to reach for the requested gap.
static int64_t wanted_ns(const struct solving *s, const struct placed_plan *best)
{
    return bound_closing(best->time_ns, s->settings->gap, 0);
}

// Replicas with unequal numbers of micro-batches: enumerates all placements if they are few, else
// the bound of share.c.
static enum status prove_uneven(struct solving *s, struct placed *p, const struct priced *relaxed,
                                struct placed_plan *best, int64_t *bound_ns, struct error *err)
{
    const struct placed_share_settings settings = {
        s->settings, s->settings->time_limit_s * share_for_part, &s->watch};
    bool few = p->replicas * p->ranks <= FEW_PLACES;
    if (!few && best->time_ns < INT64_MAX)
        TRY(placed_share(p, relaxed, wanted_ns(s, best), bound_ns, &settings, s->arena, err));
    if (best->time_ns < INT64_MAX && *bound_ns >= wanted_ns(s, best)) return OK;
    if (placed_prove(p, best, few ? proof_steps : proof_steps / 20, solving_should_stop, s,
                     s->arena))
        *bound_ns = best->time_ns;
    else if (few && best->time_ns < INT64_MAX)
        TRY(placed_share(p, relaxed, wanted_ns(s, best), bound_ns, &settings, s->arena, err));
    return OK;
}

// One replica: a box of that tree counts as several parts of the other.
static enum status prove_single(struct solving *s, struct placed *p,
                                const struct placed_effort *effort, struct placed_plan *best,
                                int64_t *bound_ns, struct solve_result *r, struct error *err)
{
    enum { WORTH = 75 };
    struct solve_settings settings = *s->settings;
    settings.boxes_max = effort->tree == INT64_MAX ? 0 : effort->tree / WORTH;
    settings.time_limit_s = share_for_single * watch_left_s(&s->watch);
    if (solving_should_stop(s)) return OK;
    struct solve_evidence *evidence = NULL;
    TRY(placed_single(p, best, bound_ns, &evidence, &settings, s->watch.stop, s->arena, err));
    if (!evidence) return OK;
    r->evidence = evidence;
    r->evidence_by_nodes = true;
    return OK;
}

// A bound by the tree, with so much effort; `best` may improve.
static int64_t bound_by_tree(struct solving *s, struct placed *p, struct placed_plan *best,
                             int64_t bound_ns, int64_t effort)
{
    const struct placed_tree_settings tree = {s->settings->gap, s->settings->cutoff_ns, effort,
                                              solving_should_stop, s};
    return placed_tree(p, best, bound_ns, &tree, s->arena);
}

static bool has_tree(const struct placed *p, const struct solving *s, int64_t bound_ns)
{
    int64_t cutoff_ns = s->settings->cutoff_ns;
    return !p->uneven && p->nodes <= TREE_NODES_MAX && !(cutoff_ns > 0 && bound_ns >= cutoff_ns);
}

// Another objective's plans are stated only at the end: that needs another graph.
static void keep(const struct solving *s, struct placed *p, const struct placed_plan *best,
                 int64_t bound_ns)
{
    struct arena own;
    struct plan plan;
    if (!solve_keeps(s->settings, s->priced) || best->time_ns == INT64_MAX ||
        s->priced->objective != OBJECTIVE_ITERATION_TIME)
        return;
    arena_open(&own, s->arena->exit);
    struct placed_plan copy = placed_plan_empty(p, &own);
    placed_plan_copy(p, &copy, best);
    placed_put_plan(&plan, p, &copy, &own);
    plan.iteration_ns = best->time_ns;
    solve_keep_plan(s->settings, s->priced, &plan, plan.iteration_ns);
    solve_keep_bound(s->settings, s->priced, smaller(bound_ns, best->time_ns));
    arena_close(&own);
}

// More searches, each from where the last one ended, for a share of the time limit.
static void search_again(struct solving *s, struct placed *p, struct placed_plan *best,
                         const int *chosen, int64_t enough_ns, struct placed_settings search)
{
    double share = p->nodes > TREE_NODES_MAX ? 0.9 : 0.3, limit_s = s->settings->time_limit_s;
    struct placed_plan from = placed_plan_empty(p, s->arena),
                       found = placed_plan_empty(p, s->arena);
    search.start = &from;
    while (best->time_ns > enough_ns && watch_elapsed_s(&s->watch) < share * limit_s &&
           !solving_should_stop(s)) {
        search.seed++;
        placed_plan_copy(p, &from, best);
        if (placed_search(p, &found, chosen, &search, s->arena) && found.time_ns < best->time_ns) {
            placed_plan_copy(p, best, &found);
            keep(s, p, best, 0);
        }
    }
}

// Under a time limit the search goes on, unless a quick look by the tree shows that there is
// nothing better. A single pipeline's certificate takes the proof that comes later, which searches
// itself.
static void search_on(struct solving *s, struct placed *p, struct placed_plan *best,
                      const int *chosen, int64_t *bound_ns, const struct placed_settings *search)
{
    bool certified = s->settings->evidence && placed_is_single(p);
    if (best->time_ns == INT64_MAX || s->settings->time_limit_s <= 0 || certified) return;
    if (*bound_ns < wanted_ns(s, best) && has_tree(p, s, *bound_ns))
        *bound_ns = bound_by_tree(s, p, best, *bound_ns, quick_tree);
    search_again(s, p, best, chosen, enough_for(*bound_ns, s->settings->gap), *search);
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
    struct solve_result first;
    struct priced *groups = TAKE(arena, 1, struct priced);
    relaxed.time_limit_s *= share_for_relaxation;
    relaxed.gap *= effort->share_of_gap;
    placed_relax(groups, priced, arena);
    TRY(solve_run(&first, groups, &relaxed, NULL, stop, arena, err));
    *r = first;
    if (first.cut_off) r->plan.stage_count = 0;
    plan_end(&r->plan, settings->gap, first.finished && !first.cut_off);
    bool told = r->plan.stage_count;
    if (first.cut_off || (!told && !(start && first.plan.outcome == OUTCOME_NO_PLAN))) return OK;

    struct placed *placed;
    TRY(placed_open(&placed, priced, arena, err));
    placed->should_stop = solving_should_stop, placed->stop_argument = &s;
    int *chosen = TAKE(arena, priced->stage_count, int);
    if (told && !choices_from_plan(chosen, placed_choices(placed), &first.plan))
        return fail(err, SOLVER, "the plan of the program over groups is none of its choices");
    struct placed_plan best = placed_plan_empty(placed, arena),
                       other = placed_plan_empty(placed, arena);
    const struct placed_settings search = {
        effort->evaluations, (uint64_t)settings->seed, solving_should_stop, &s, NULL,
        first.plan.bound_ns};
    bool proven = false;
    struct beginning beginning;
    int64_t enough_ns = enough_for(first.plan.bound_ns, settings->gap);
    if (start) TRY(search_from(placed, &best, &beginning, start, enough_ns, &search, arena, err));
    if (told && best.time_ns > enough_ns) placed_search(placed, &other, chosen, &search, arena);
    if (other.time_ns < best.time_ns) placed_plan_copy(placed, &best, &other);
    bool found = best.time_ns < INT64_MAX;
    if (found) placed_improve_rings(placed, &best);
    int64_t bound_ns = first.plan.bound_ns;
    keep(&s, placed, &best, bound_ns);
    if (told && effort->repeats) search_on(&s, placed, &best, chosen, &bound_ns, &search);
    keep(&s, placed, &best, bound_ns);
    bool open = !found || bound_ns < wanted_ns(&s, &best);
    if (open && effort->tree && placed_is_single(placed)) {
        TRY(prove_single(&s, placed, effort, &best, &bound_ns, r, err));
        open = best.time_ns == INT64_MAX ? bound_ns < INT64_MAX : bound_ns < wanted_ns(&s, &best);
        proven = !open && bound_ns >= best.time_ns;
    }
    if (open && placed->uneven) {
        TRY(prove_uneven(&s, placed, groups, &best, &bound_ns, err));
        proven = bound_ns >= best.time_ns;
    } else if (open && has_tree(placed, &s, bound_ns)) {
        bound_ns = bound_by_tree(&s, placed, &best, bound_ns, effort->tree);
        proven = bound_ns >= best.time_ns || bound_ns >= NEVER_NS;
    }
    if (placed->status != OK) {
        *err = placed->error;
        return placed->status;
    }
    if (best.time_ns == INT64_MAX) {
        r->plan.reason = proven ? "no placement on the nodes has room for all ranks, as memory and "
                                  "rules allow, and joins them"
                                : NULL;
        r->plan.stage_count = 0;
        plan_end(&r->plan, settings->gap, proven);
        r->plan.iteration_ns = r->plan.objective_ns = 0;
        r->plan.bound_ns = proven ? 0 : bound_ns;
        r->finished = proven;
        return OK;
    }
    assert(bound_ns >= first.plan.bound_ns);
    if (proven) bound_ns = best.time_ns;
    assert(bound_ns <= best.time_ns);
    if (start) {
        enough_ns = enough_for(bound_ns, settings->gap); // the bound may have risen
        if (beginning.mended.time_ns <= enough_ns)
            placed_plan_copy(placed, &best, &beginning.mended);
        placed_settle(placed, &best, beginning.like, beginning.home, enough_ns);
    }
    int64_t value_ns = best.time_ns;
    TRY(find_slowest(placed, &best, err));
    placed_put_plan(&r->plan, placed, &best, arena);
    r->free_links_ns = placed_free_links_ns(placed, &best);
    r->plan.objective = priced->objective;
    if (priced->objective != OBJECTIVE_ITERATION_TIME) r->plan.objective_ns = value_ns;
    r->plan.iteration_ns = best.time_ns;
    r->plan.bound_ns =
        bound_stated(bound_ns, value_ns, first.plan.stage_count ? first.plan.bound_ns : 0);
    r->plan.seed = settings->seed;
    r->plan.effort = first.plan.effort;
    r->plan.effort.seconds = watch_elapsed_s(&s.watch);
    plan_end(&r->plan, settings->gap, false);
    r->finished = r->plan.outcome == OUTCOME_OPTIMAL;
    return OK;
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
