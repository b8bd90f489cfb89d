// Stages with widths of their own on named nodes: a first plan whose stages stand where there is
// room, exchanges of nodes, and a tree that puts stage after stage on nodes. Each of its parts is
// bounded by the program in which only these stages stand (docs/PROOFS.md 12.1).
#include "solve/places/named.h"

#include <stdlib.h>
#include <string.h>

#include "data/base/least.h"
#include "formulate/graph/objective.h"
#include "solve/layout/steps.h"

// Exchanges tried, programs solved, and the most ways to put one stage on nodes.
enum { EXCHANGES_MOST = 100000, PROGRAMS_MOST = 20000, WAYS_MOST = 4096 };

struct naming {
    const struct priced *p;
    const struct priced_places *places; // of any width: nodes, and the device groups that they hold
    const struct solve_settings *settings;
    struct watch watch;
    int stages, nodes, programs, exchanges;
    bool *alike;               // [node * nodes + node]: exchanging the two changes no price
    int *used;                 // [node]: device groups that are taken
    struct standing *standing; // [stage], of the part at hand
    struct standing *best;
    int64_t best_ns;  // NEVER_NS: no plan yet
    struct plan kept; // the best plan's decisions, stage s on group s
    struct schedule schedule;
    struct graph *graph;
    int64_t floor_ns; // least bound of the parts that are closed or left open
    struct plan_effort effort;
    struct arena *arena;
    struct error *err;
};

static int replicas_of(const struct naming *x, int seat) { return x->p->groups[seat].data; }
static int64_t wanted_ns(const struct naming *x)
{
    return bound_closing(x->best_ns, x->settings->gap, x->settings->cutoff_ns);
}
static bool is_over(const struct naming *x)
{
    return x->programs >= PROGRAMS_MOST || watch_is_over(&x->watch);
}

// ---- programs

static struct solve_settings settings_of(const struct naming *x, int64_t cutoff_ns)
{
    struct solve_settings s = {SOLVE_DEFAULTS};
    s.threads = 0, s.progress = 0;
    s.gap = x->settings->gap, s.seed = x->settings->seed;
    s.cutoff_ns = cutoff_ns < NEVER_NS ? larger(cutoff_ns, 1) : 0;
    s.memory_limit_bytes = x->settings->memory_limit_bytes;
    if (x->settings->time_limit_s > 0) s.time_limit_s = watch_left_s(&x->watch);
    return s;
}

// A bound on all plans whose first stages stand like this: NEVER_NS if there are none. A program
// with all of them has a plan of the problem, which is kept if it is better.
static enum status look(struct naming *x, const struct standing *standing, int fixed,
                        int64_t *bound_ns)
{
    struct arena_mark mark = arena_set_mark(x->arena);
    struct priced *own = TAKE(x->arena, 1, struct priced);
    struct solve_result *r = TAKE(x->arena, 1, struct solve_result);
    struct solve_settings settings = settings_of(x, wanted_ns(x));
    named_program(own, x->p, standing, fixed, x->arena);
    x->programs++;
    settings.start_search = fixed == x->stages; // of others only a bound is wanted
    TRY(solve_without_reason(r, own, &settings, x->watch.stop, x->arena, x->err));
    const struct plan *plan = &r->plan;
    bool none = plan->outcome == OUTCOME_INFEASIBLE && !r->cut_off && !plan->stage_count;
    *bound_ns = none ? NEVER_NS : plan->bound_ns;
    plan_effort_add(&x->effort, &plan->effort);
    if (fixed == x->stages && plan->stage_count && plan->iteration_ns < x->best_ns) {
        x->best_ns = plan->iteration_ns;
        memcpy(x->best, standing, (size_t)x->stages * sizeof *standing);
        for (int s = 0; s < x->stages; s++) x->kept.stages[s].decision = plan->stages[s].decision;
    }
    arena_reset(x->arena, mark);
    return OK;
}

// ---- nodes that no price tells apart

static bool same_links(const struct naming *x, const int64_t *ns, int parts, int a, int b)
{
    int n = x->nodes;
    for (int part = 0; part < parts; part++) {
        for (int k = 0; k < n; k++) {
            if (k == a || k == b) continue;
            if (ns[(a * n + k) * parts + part] != ns[(b * n + k) * parts + part] ||
                ns[(k * n + a) * parts + part] != ns[(k * n + b) * parts + part])
                return false;
        }
        if (ns[(a * n + b) * parts + part] != ns[(b * n + a) * parts + part] ||
            ns[(a * n + a) * parts + part] != ns[(b * n + b) * parts + part])
            return false;
    }
    return true;
}

static bool same_rings(const struct naming *x, const struct priced *of, int a, int b)
{
    const struct priced_places *p = of->places;
    size_t pairs = (size_t)x->nodes * (size_t)x->nodes,
           tables = (size_t)p->ring_level_count * (size_t)p->transport_count;
    bool same = true;
    for (size_t t = 0; t < tables && same; t++) {
        same = same_links(x, p->ring_constant_ns[0] + t * pairs, 1, a, b);
        for (int run = 0; run < of->run_count && same; run++)
            same = same_links(x, p->ring_ns[run][0] + t * pairs, 1, a, b);
    }
    return same;
}

static bool are_alike(const struct naming *x, int a, int b)
{
    const struct priced_seat_nodes *s = x->p->seat_nodes;
    bool same = x->places->nodes[a].group == x->places->nodes[b].group;
    for (int i = 0; i < s->seat_count && same; i++) same = same_rings(x, s->of[i], a, b);
    for (int i = 0; i < s->seat_count * s->seat_count && same; i++)
        for (int cut = 0; cut < x->p->cut_count && same; cut++)
            same = same_links(x, s->cuts[i][cut].forward_ns, PART_COUNT, a, b) &&
                   same_links(x, s->cuts[i][cut].backward_ns[0], PART_COUNT, a, b);
    return same;
}

// ---- the tree

struct way {
    struct standing at;
    int64_t bound_ns;
};
struct ways {
    struct way *items;
    int count; // above WAYS_MOST: there are more
};

// Of unused nodes that are alike the first one is enough.
static bool may_take(const struct naming *x, const struct standing *at, int taken, int node)
{
    const struct priced_places *own = x->p->seat_nodes->of[at->seat]->places;
    int here = x->used[node];
    for (int i = 0; i < taken; i++) here += at->node[i] == node;
    if (here >= own->nodes[node].slots) return false;
    for (int other = 0; other < node && !here; other++) {
        bool fresh = x->alike[other * x->nodes + node] && !x->used[other];
        for (int i = 0; i < taken; i++) fresh = fresh && at->node[i] != other;
        if (fresh) return false;
    }
    return true;
}

static void add_ways(const struct naming *x, struct ways *w, struct standing *at, int taken,
                     int group)
{
    if (w->count > WAYS_MOST) return;
    if (taken == replicas_of(x, at->seat)) {
        if (w->count < WAYS_MOST) w->items[w->count].at = *at;
        w->count++;
        return;
    }
    for (int node = 0; node < x->nodes; node++) {
        if (x->places->nodes[node].group != group || !may_take(x, at, taken, node)) continue;
        at->node[taken] = node;
        add_ways(x, w, at, taken + 1, group);
    }
}

static int group_of_seat(const struct naming *x, int seat)
{
    for (int n = 0; n < x->nodes; n++)
        if (!strcmp(x->p->seat_nodes->of[seat]->groups[x->places->nodes[n].group].name,
                    x->p->groups[seat].node_group))
            return x->places->nodes[n].group;
    return -1;
}

static struct ways ways_of(const struct naming *x)
{
    struct ways w = {TAKE(x->arena, WAYS_MOST, struct way), 0};
    for (int seat = 0; seat < x->p->group_count; seat++) {
        struct standing at = {.seat = seat};
        if (!x->p->groups[seat].excluded) add_ways(x, &w, &at, 0, group_of_seat(x, seat));
    }
    return w;
}

static int by_bound(const void *a, const void *b)
{
    int64_t x = ((const struct way *)a)->bound_ns, y = ((const struct way *)b)->bound_ns;
    return (x > y) - (x < y);
}

static void take_nodes(struct naming *x, const struct standing *at, int count)
{
    for (int i = 0; i < replicas_of(x, at->seat); i++) x->used[at->node[i]] += count;
}

static void close_at(struct naming *x, int64_t bound_ns)
{
    x->floor_ns = smaller(x->floor_ns, bound_ns);
}

// Of the part whose first `fixed` stages stand: bounds every plan of it in floor_ns.
static enum status branch(struct naming *x, int fixed, int64_t bound_ns)
{
    struct arena_mark mark = arena_set_mark(x->arena);
    struct ways w = ways_of(x);
    bool all = fixed + 1 == x->stages;
    if (w.count > WAYS_MOST || is_over(x)) return close_at(x, bound_ns), OK;
    for (int i = 0; i < w.count; i++) {
        x->standing[fixed] = w.items[i].at;
        w.items[i].bound_ns = bound_ns;
        if (is_over(x)) continue;
        TRY(look(x, x->standing, fixed + 1, &w.items[i].bound_ns));
        w.items[i].bound_ns = larger(w.items[i].bound_ns, bound_ns);
    }
    qsort(w.items, (size_t)w.count, sizeof *w.items, by_bound);
    for (int i = 0; i < w.count; i++) {
        struct way *way = &w.items[i];
        if (all || way->bound_ns >= wanted_ns(x)) {
            close_at(x, way->bound_ns);
            continue;
        }
        x->standing[fixed] = way->at;
        take_nodes(x, &way->at, 1);
        TRY(branch(x, fixed + 1, way->bound_ns));
        take_nodes(x, &way->at, -1);
    }
    arena_reset(x->arena, mark);
    return OK;
}

// ---- a first plan

// Each stage on the first nodes of its group that have room.
static bool stand_first(struct naming *x, const struct plan *plan)
{
    bool all = true;
    for (int s = 0; s < x->stages; s++) {
        struct standing *at = &x->standing[s];
        at->seat = plan->stages[s].group;
        int taken = 0, group = group_of_seat(x, at->seat);
        const struct priced_node *nodes = x->p->seat_nodes->of[at->seat]->places->nodes;
        for (int n = 0; n < x->nodes; n++)
            while (taken < replicas_of(x, at->seat) && nodes[n].group == group &&
                   x->used[n] < nodes[n].slots)
                at->node[taken++] = n, x->used[n]++;
        all = all && taken == replicas_of(x, at->seat);
    }
    memset(x->used, 0, (size_t)x->nodes * sizeof *x->used);
    return all;
}

// The best plan's decisions on other nodes, and the plan if it is better.
static void try_standing(struct naming *x, const struct standing *now)
{
    struct arena_mark mark = arena_set_mark(x->arena);
    struct priced *own = TAKE(x->arena, 1, struct priced);
    x->exchanges++;
    named_program(own, x->p, now, x->stages, x->arena);
    int64_t ns = objective_iteration_ns(&x->kept, own, &x->schedule, x->graph, x->arena);
    arena_reset(x->arena, mark);
    if (ns <= 0 || ns >= x->best_ns) return;
    x->best_ns = ns;
    memcpy(x->best, now, (size_t)x->stages * sizeof *now);
}

static bool same_group(const struct naming *x, int a, int b)
{
    return x->places->nodes[a].group == x->places->nodes[b].group;
}

static int room_on(const struct naming *x, const struct standing *at, int seat, int node)
{
    int room = x->p->seat_nodes->of[seat]->places->nodes[node].slots;
    for (int s = 0; s < x->stages; s++)
        for (int i = 0; i < replicas_of(x, at[s].seat); i++) room -= at[s].node[i] == node;
    return room;
}

// A replica of the best plan and another one of any stage exchange their nodes.
static void exchange_replicas(struct naming *x, struct standing *now, int s, int i)
{
    for (int t = s; t < x->stages; t++)
        for (int k = 0; k < replicas_of(x, x->best[t].seat); k++) {
            memcpy(now, x->best, (size_t)x->stages * sizeof *now);
            int here = now[s].node[i], there = now[t].node[k];
            if (here == there || !same_group(x, here, there)) continue;
            now[s].node[i] = there, now[t].node[k] = here;
            try_standing(x, now);
        }
}

// It goes to another node with room.
static void move_replica(struct naming *x, struct standing *now, int s, int i)
{
    for (int node = 0; node < x->nodes; node++) {
        memcpy(now, x->best, (size_t)x->stages * sizeof *now);
        if (!same_group(x, node, now[s].node[i]) || room_on(x, now, now[s].seat, node) < 1)
            continue;
        now[s].node[i] = node;
        try_standing(x, now);
    }
}

// All that is on the one node goes to the other, and the reverse.
static void exchange_nodes(struct naming *x, struct standing *now, int a, int b)
{
    if (!same_group(x, a, b)) return;
    memcpy(now, x->best, (size_t)x->stages * sizeof *now);
    for (int s = 0; s < x->stages; s++)
        for (int i = 0; i < replicas_of(x, now[s].seat); i++)
            now[s].node[i] = now[s].node[i] == a ? b : now[s].node[i] == b ? a : now[s].node[i];
    try_standing(x, now);
}

// Exchanges with the decisions as they are, then layers anew, as long as either helps.
static enum status improve(struct naming *x, int64_t root_ns)
{
    struct standing *now = TAKE(x->arena, x->stages, struct standing);
    for (int64_t before = NEVER_NS; x->best_ns < before && root_ns < wanted_ns(x);) {
        before = x->best_ns;
        for (int64_t last = NEVER_NS; x->best_ns < last;) {
            last = x->best_ns;
            for (int a = 0; a < x->nodes; a++)
                for (int b = a + 1; b < x->nodes; b++) exchange_nodes(x, now, a, b);
            for (int s = 0; s < x->stages; s++)
                for (int i = 0; i < replicas_of(x, x->best[s].seat); i++) {
                    if (x->exchanges >= EXCHANGES_MOST || is_over(x)) return OK;
                    exchange_replicas(x, now, s, i);
                    move_replica(x, now, s, i);
                }
        }
        int64_t unused;
        memcpy(now, x->best, (size_t)x->stages * sizeof *now);
        if (x->best_ns < before) TRY(look(x, now, x->stages, &unused));
    }
    return OK;
}

// ---- the answer

enum status named_plan(struct plan *plan, const struct priced *p, const struct standing *standing,
                       const struct plan *start, const struct solve_settings *settings,
                       struct arena *arena, struct error *err)
{
    struct solve_result *r = TAKE(arena, 1, struct solve_result);
    struct priced *own = TAKE(arena, 1, struct priced);
    struct plan first = start ? *start : (struct plan){0};
    named_program(own, p, standing, p->stage_count, arena);
    first.group_names = TAKE(arena, own->group_count, const char *);
    for (int g = 0; g < own->group_count; g++) first.group_names[g] = own->groups[g].name;
    TRY(solve_run(r, own, settings, start ? &first : NULL, NULL, arena, err));
    *plan = r->plan;
    plan->group_count = p->group_count;
    plan->group_names = TAKE(arena, p->group_count, const char *);
    plan->group_gpus = TAKE(arena, p->group_count, const char *);
    plan->widths = TAKE(arena, p->group_count, struct plan_width);
    for (int g = 0; g < p->group_count; g++) {
        const struct priced_group *of = &p->groups[g];
        plan->group_names[g] = of->name, plan->group_gpus[g] = of->gpu;
        plan->widths[g] = (struct plan_width){of->node_group, of->tensor, of->context, of->data};
    }
    for (int s = 0; s < plan->stage_count; s++) {
        struct plan_stage *to = &plan->stages[s];
        const struct priced_places *places = p->seat_nodes->of[standing[s].seat]->places;
        to->group = standing[s].seat;
        to->node_count = p->groups[to->group].data;
        to->nodes = TAKE(arena, to->node_count, const char *);
        for (int i = 0; i < to->node_count; i++)
            to->nodes[i] = places->nodes[standing[s].node[i]].name;
    }
    return OK;
}

static enum status finish(struct naming *x, struct solve_result *r, int64_t bound_ns)
{
    struct plan *plan = &r->plan;
    int64_t wanted = wanted_ns(x);
    plan_effort_add(&plan->effort, &x->effort);
    struct plan_effort effort = plan->effort;
    effort.seconds = watch_elapsed_s(&x->watch);
    r->one_width_ns = 0, r->finished = bound_ns >= wanted || bound_ns >= NEVER_NS;
    if (x->best_ns < NEVER_NS) {
        struct solve_settings settings = settings_of(x, NEVER_NS);
        settings.time_limit_s = 0;
        TRY(named_plan(plan, x->p, x->best, &x->kept, &settings, x->arena, x->err));
        assert(plan->stage_count == x->stages && plan->iteration_ns <= x->best_ns);
        plan->bound_ns = bound_stated(smaller(bound_ns, plan->iteration_ns), plan->iteration_ns, 0);
    } else {
        r->cut_off = r->finished && bound_ns < NEVER_NS;
        plan->stage_count = 0, plan->iteration_ns = 0;
        plan->bound_ns = bound_ns < NEVER_NS ? bound_ns : 0;
        plan->reason = "no nodes have room for all stages, as memory and rules allow, and links "
                       "between them";
    }
    plan->seed = x->settings->seed, plan->effort = effort;
    plan_end(plan, x->settings->gap, r->finished && !r->cut_off);
    return OK;
}

static void find_alike(struct naming *x)
{
    x->alike = TAKE(x->arena, x->nodes * x->nodes, bool);
    for (int a = 0; a < x->nodes; a++)
        for (int b = a + 1; b < x->nodes; b++)
            x->alike[a * x->nodes + b] = x->alike[b * x->nodes + a] = are_alike(x, a, b);
}

static enum status open_graph(struct naming *x)
{
    const struct priced *p = x->p;
    TRY(schedule_build_priced(&x->schedule, p, x->arena, x->err));
    x->kept = (struct plan){.layout = p->layout,
                            .stage_count = x->stages,
                            .stages = TAKE(x->arena, x->stages, struct plan_stage),
                            .group_count = x->stages,
                            .boundary_options = p->boundary_options,
                            .boundary_option_count = p->boundary_option_count,
                            .gradient_options = p->gradient_options,
                            .gradient_option_count = p->gradient_option_count};
    return graph_compile(&x->graph, &x->schedule, x->arena, x->err);
}

enum status named_solve(struct solve_result *r, const struct priced *priced,
                        const struct solve_settings *settings, const volatile int *stop,
                        struct arena *arena, struct error *err)
{
    const struct priced whole = *priced; // its plans are not the problem's
    struct solve_settings first = *settings;
    struct naming x = {.p = priced,
                       .places = priced->seat_nodes->of[0]->places,
                       .settings = settings,
                       .watch = watch_begin(stop, settings->time_limit_s),
                       .stages = priced->stage_count,
                       .best_ns = NEVER_NS,
                       .floor_ns = NEVER_NS,
                       .arena = arena,
                       .err = err};
    first.time_limit_s /= 2;
    TRY(solve_run(r, &whole, &first, NULL, stop, arena, err));
    if (r->cut_off || !r->plan.stage_count) return OK;
    int64_t root_ns = r->plan.bound_ns;
    solve_keep_bound(settings, priced, root_ns);
    x.nodes = x.places->node_count;
    x.used = TAKE(arena, x.nodes, int);
    x.standing = TAKE(arena, x.stages, struct standing);
    x.best = TAKE(arena, x.stages, struct standing);
    find_alike(&x);
    TRY(open_graph(&x));
    int64_t unused;
    if (stand_first(&x, &r->plan)) TRY(look(&x, x.standing, x.stages, &unused));
    TRY(improve(&x, root_ns));
    if (root_ns < wanted_ns(&x)) TRY(branch(&x, 0, root_ns));
    else x.floor_ns = root_ns;
    int64_t bound_ns = larger(root_ns, x.floor_ns);
    TRY(finish(&x, r, bound_ns));
    if (r->plan.stage_count) solve_keep_plan(settings, priced, &r->plan, r->plan.iteration_ns);
    return OK;
}
