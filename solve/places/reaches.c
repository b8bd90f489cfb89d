// The program over reaches. A ring's reach is the set of groups that it has members on: it decides
// the kind of card that all of the ring uses. Each group stands once for every reach that it is in,
// so that the search decides with the group of a stage which kinds of card its ring may use; and it
// branches on how many ranks have rings of which reach, and on whether some replica crosses from
// one group to another (docs/PROOFS.md 11, by reaches). Values by groups come from the program over
// groups; only syncs and slots are those of the reach.
#include <stdlib.h>

#include "data/base/least.h"
#include "data/base/watch.h"
#include "data/results/bound.h"
#include "solve/chains/chains.h"
#include "solve/places/internal.h"
#include "solve/places/reaches/cases.h"

static bool is_in(const struct placed_reaches *m, unsigned reach, size_t node)
{
    return reach >> m->p->places->nodes[node].group & 1;
}

// ---- syncs

// The lightest of the links from nodes of these groups to nodes of those.
static int64_t lightest(const struct placed_reaches *m, unsigned from, unsigned to)
{
    size_t nodes = (size_t)m->p->places->node_count;
    int64_t least = CHAIN_NONE;
    for (size_t pair = 0; pair < nodes * nodes; pair++)
        if (is_in(m, from, pair / nodes) && is_in(m, to, pair % nodes))
            least = smaller(least, m->weights[pair]);
    return least;
}

// A ring enters a node over one link and leaves it over another: the heavier of the lightest two.
static int64_t least_through(const struct placed_reaches *m, unsigned reach, size_t node)
{
    size_t nodes = (size_t)m->p->places->node_count;
    int64_t in = CHAIN_NONE, out = CHAIN_NONE;
    for (size_t k = 0; k < nodes; k++) {
        if (!is_in(m, reach, k)) continue;
        in = smaller(in, m->weights[k * nodes + node]);
        out = smaller(out, m->weights[node * nodes + k]);
    }
    return larger(in, out);
}

// Every ring of the reach has a link of at least this weight. It passes a node of each group, goes
// to and from the others, and is no better than the best ring. CHAIN_NONE: there is no such ring.
static int64_t weight_at_least(const struct placed_reaches *m, unsigned reach)
{
    const struct priced_places *x = m->p->places;
    int64_t most = placed_least_bottleneck(m->p, m->weights, reach, m->arena);
    for (int g = 0; g < m->p->group_count; g++) {
        unsigned own = 1u << g, others = reach & ~own;
        int64_t least = CHAIN_NONE;
        if (!(reach & own)) continue;
        for (int i = 0; i < x->node_count; i++)
            if (x->nodes[i].group == g && x->nodes[i].slots)
                least = smaller(least, least_through(m, reach, (size_t)i));
        most = larger(most, least);
        if (others) most = larger(most, larger(lightest(m, own, others), lightest(m, others, own)));
    }
    return most;
}

// Where the prices of the reach's links begin, and their weights: a link within a node counts if a
// whole ring is there.
static size_t weigh(struct placed_reaches *m, unsigned reach)
{
    const struct priced_places *x = m->p->places;
    size_t nodes = (size_t)x->node_count;
    int *of_reach = TAKE(m->arena, nodes, int), count = 0;
    for (int i = 0; i < x->node_count; i++)
        if (is_in(m, reach, (size_t)i) && x->nodes[i].slots) of_reach[count++] = i;
    size_t offset = priced_ring_offset(x, of_reach, count);
    for (size_t pair = 0; pair < nodes * nodes; pair++) {
        bool inside = pair / nodes == pair % nodes,
             counts = is_in(m, reach, pair / nodes) && is_in(m, reach, pair % nodes) &&
                      (!inside || (placed_reach_size(reach) == 1 &&
                                   x->nodes[pair / nodes].slots >= m->p->layout.data));
        m->weights[pair] = counts ? placed_link_weight(m->p, offset + pair) : CHAIN_NONE;
    }
    return offset;
}

// The least of the table over links of at least this weight.
static int64_t least_of(const struct placed_reaches *m, const int64_t *table, int64_t weight)
{
    size_t nodes = (size_t)m->p->places->node_count;
    int64_t least = INT64_MAX;
    for (size_t pair = 0; pair < nodes * nodes; pair++)
        if (m->weights[pair] >= weight && m->weights[pair] < CHAIN_NONE)
            least = smaller(least, table[pair]);
    return least == INT64_MAX ? 0 : least;
}

// Where links have the price of two rings at one end.
static void find_crowded(struct placed_reaches *m, size_t offset)
{
    const struct priced_places *x = m->p->places;
    struct arena_mark mark = arena_set_mark(m->arena);
    int *rings = TAKE(m->arena, x->node_count, int);
    for (int i = 0; i < x->node_count; i++) {
        rings[i] = 2;
        m->beyond[i] = priced_ring_link(x, offset, i, i, rings) - offset -
                       (size_t)i * (size_t)(x->node_count + 1);
        rings[i] = 0;
    }
    arena_reset(m->arena, mark);
}

// The least of the table over links of the reach with two rings at one end.
static int64_t least_crowded(const struct placed_reaches *m, const int64_t *table)
{
    size_t nodes = (size_t)m->p->places->node_count;
    int64_t least = INT64_MAX;
    for (size_t pair = 0; pair < nodes * nodes; pair++) {
        if (m->weights[pair] == CHAIN_NONE) continue;
        least = smaller(least, table[pair + m->beyond[pair / nodes]]);
        least = smaller(least, table[pair + m->beyond[pair % nodes]]);
    }
    return least == INT64_MAX ? 0 : least;
}

static int64_t sync_of(const struct placed_reaches *m, int target, const int64_t *table,
                       size_t offset, int64_t weight)
{
    return m->reach_of[target] == m->crowded ? least_crowded(m, table + offset)
                                             : least_of(m, table + offset, weight);
}

static void put_syncs(struct placed_reaches *m)
{
    const struct priced_places *x = m->p->places;
    struct priced *to = m->priced;
    for (int t = 0; t < to->group_count; t++) {
        size_t offset = weigh(m, m->reach_of[t]);
        int64_t weight = weight_at_least(m, m->reach_of[t]);
        if (weight == CHAIN_NONE) to->groups[t].excluded = "no ring joins these groups";
        find_crowded(m, offset);
        for (int o = 0; o < to->gradient_option_count; o++) {
            to->groups[t].sync_constant_ns[o] =
                sync_of(m, t, x->ring_constant_ns[o], offset, weight);
            for (int run = 0; run < to->run_count; run++)
                to->runs[run].sync_ns[o][t] = sync_of(m, t, x->ring_ns[run][o], offset, weight);
        }
    }
}

// Whether some sync is not what the program over groups has.
static bool says_more(const struct placed_reaches *m)
{
    const struct priced *to = m->priced, *relaxed = m->relaxed;
    for (int t = 0; t < to->group_count; t++) {
        int g = m->group_of[t];
        if (to->groups[t].excluded) return true;
        for (int o = 0; o < to->gradient_option_count; o++) {
            if (to->groups[t].sync_constant_ns[o] != relaxed->groups[g].sync_constant_ns[o])
                return true;
            for (int run = 0; run < to->run_count; run++)
                if (to->runs[run].sync_ns[o][t] != relaxed->runs[run].sync_ns[o][g]) return true;
        }
    }
    return false;
}

static bool open_reaches(struct placed_reaches *m, const struct priced *p,
                         const struct priced *relaxed, struct arena *arena)
{
    size_t nodes = (size_t)p->places->node_count;
    *m = (struct placed_reaches){.p = p, .relaxed = relaxed, .arena = arena};
    if (p->layout.data == 1 || p->group_count == 1) return false;
    m->priced = TAKE(arena, 1, struct priced);
    *m->priced = *relaxed;
    m->priced->places = NULL;
    m->group_of = TAKE(arena, GROUPS_MAX, int);
    m->reach_of = TAKE(arena, GROUPS_MAX, unsigned);
    if (!placed_list_cases(m)) return false;
    m->weights = TAKE(arena, nodes * nodes, int64_t);
    m->beyond = TAKE(arena, nodes, size_t);
    placed_spread_values(m);
    put_syncs(m);
    return says_more(m);
}

// ---- the cases' programs

enum { PARTS_MAX = 400 }; // that are split

struct case_solving {
    struct placed_reaches *m;
    struct placed_reaches_result *r;
    struct solve_settings *settings; // their limits become what is left
    struct watch *watch;
    int64_t wanted_ns;       // a bound that no case has to pass
    int64_t best_ns;         // of the best plan
    const struct plan *next; // the fastest that is still to be placed; NULL: none is
    const struct plan *looks[GROUPS_MAX + 1]; // of a part's programs, by shared + 1; NULL: none
    int parts_left;
    int shared; // of which the last program bounded most; -1: no group is shared
    struct error *err;
};

static enum status solve_shared(struct case_solving *c, const struct placed_cases *of, int shared,
                                int64_t enough_ns, int64_t *bound_ns)
{
    struct placed_reaches *m = c->m;
    struct solve_result *own = TAKE(m->arena, 1, struct solve_result);
    placed_put_slots(m, of, shared);
    c->settings->cutoff_ns = enough_ns < NEVER_NS ? enough_ns : 0;
    if (c->settings->time_limit_s > 0) c->settings->time_limit_s = watch_left_s(c->watch);
    TRY(solve_run(own, m->priced, c->settings, NULL, c->watch->stop, m->arena, c->err));
    const struct plan *plan = &own->plan;
    bool none = plan->outcome == OUTCOME_INFEASIBLE && !own->cut_off;
    *bound_ns = none ? NEVER_NS : plan->bound_ns;
    c->looks[shared + 1] = plan->stage_count ? plan : NULL;
    if (none || !plan->stage_count || plan->iteration_ns >= c->best_ns) return OK;
    if (!c->next || plan->iteration_ns < c->next->iteration_ns) c->next = plan;
    return OK;
}

// A placed plan's time says which bound is wanted.
static void place_next(struct case_solving *c)
{
    if (!c->next) return;
    placed_name_groups(c->m, c->next);
    c->best_ns = smaller(c->best_ns, c->r->place(c->r->context, c->next));
    c->next = NULL;
    if (c->best_ns < INT64_MAX)
        c->wanted_ns = smaller(c->wanted_ns, bound_closing(c->best_ns, c->r->gap, 0));
}

static void crowd(struct placed_reaches *m, const struct placed_cases *of)
{
    unsigned common = of->count == 1 && of->first->crossing == NONE_CROSSES
                          ? placed_common_reach(m, of->first->ranks)
                          : 0,
             crowded = common && placed_must_share_nodes(m, common) ? common : 0;
    if (m->crowded == crowded) return;
    m->crowded = crowded;
    put_syncs(m);
}

// Any group may be the one of which the replica in question has at most its share: what the best of
// these programs proves holds. *bound_ns NEVER_NS: the part of a case has no plan.
static enum status solve_part(struct case_solving *c, const struct placed_cases *of, int ways,
                              int64_t enough_ns, int64_t *bound_ns)
{
    int first = c->shared;
    *bound_ns = -1;
    for (int i = 0; i <= GROUPS_MAX; i++) c->looks[i] = NULL;
    if (of->count == 1 && of->first->crossing == SOME_CROSSES)
        TRY(solve_shared(c, of, -1, smaller(enough_ns, c->wanted_ns), bound_ns));
    for (int way = 0; way < ways && *bound_ns < smaller(enough_ns, c->wanted_ns); way++) {
        int shared = ways == 1 ? first : (first + way) % ways;
        int64_t own_ns;
        TRY(solve_shared(c, of, shared, smaller(enough_ns, c->wanted_ns), &own_ns));
        if (ways > 1) place_next(c);
        if (own_ns <= *bound_ns) continue;
        *bound_ns = own_ns;
        c->shared = shared;
    }
    return OK;
}

// Where replicas want different plans, in halves: each is a part by itself, which a program of any
// shared group may close (docs/PROOFS.md 11, halves).
static enum status solve_halves(struct case_solving *c, const struct placed_cases *of, int ways,
                                int64_t enough_ns, int64_t *bound_ns)
{
    struct placed_half half;
    int64_t least_ns = NEVER_NS;
    TRY(solve_part(c, of, ways, enough_ns, bound_ns));
    if (*bound_ns >= smaller(enough_ns, c->wanted_ns) || --c->parts_left < 0 ||
        watch_is_over(c->watch) || !placed_find_half(&half, c->m, c->looks))
        return OK;
    for (half.second = false;; half.second = true) {
        int64_t own_ns;
        placed_add_half(c->m, &half);
        TRY(solve_halves(c, of, ways, smaller(enough_ns, least_ns), &own_ns));
        c->m->priced->rule_count--;
        least_ns = smaller(least_ns, own_ns);
        if (half.second || least_ns <= *bound_ns) break;
    }
    *bound_ns = larger(*bound_ns, least_ns);
    return OK;
}

static enum status solve_case(struct case_solving *c, const struct placed_cases *of, int ways,
                              int64_t enough_ns, int64_t *bound_ns)
{
    crowd(c->m, of);
    return ways > 1 && c->r->gap > 0 ? solve_halves(c, of, ways, enough_ns, bound_ns)
                                     : solve_part(c, of, ways, enough_ns, bound_ns);
}

// The group that the program over groups shares; its first group if that is not known.
static int shared_before(const struct placed_reaches *m)
{
    for (int g = 0; g < m->p->group_count; g++)
        if (m->relaxed->groups[g].slots < placed_slots_within(m, 1u << g)) return g;
    return 0;
}

// The least of all cases' bounds. above_ns: what is known.
static enum status pass_cases(struct case_solving *c, int ways, int64_t above_ns, int64_t *bound_ns)
{
    int count = c->m->case_count;
    *bound_ns = NEVER_NS;
    for (int i = 0; i<count && * bound_ns> above_ns; i++) {
        const struct placed_cases one = {&c->m->cases[count - 1 - i], 1};
        int64_t own_ns;
        TRY(solve_case(c, &one, ways, smaller(*bound_ns, c->wanted_ns), &own_ns));
        *bound_ns = smaller(*bound_ns, own_ns);
    }
    return OK;
}

// Where the number of ranks whose rings are on the first group alone begins to be above 0, or
// changes next to the middle; the middle if it does not.
static int division_of(const struct placed_cases *of)
{
    int best = 0, middle = of->count / 2;
    for (int i = 1; i < of->count; i++) {
        if (of->first[i].ranks[0] == of->first[i - 1].ranks[0]) continue;
        if (!of->first[i - 1].ranks[0]) return i;
        if (!best || abs(i - middle) < abs(best - middle)) best = i;
    }
    return best ? best : middle;
}

// Cases together, with any group to share that every replica has ranks on; where no program of all
// of them proves enough, the later ones and the earlier ones (docs/PROOFS.md 11, together).
static enum status solve_together(struct case_solving *c, const struct placed_cases *of,
                                  int64_t *bound_ns)
{
    int division = division_of(of);
    const struct placed_cases parts[2] = {{of->first, division},
                                          {of->first + division, of->count - division}};
    int64_t least_ns = NEVER_NS, own_ns = 0;
    if (of->count == 1) return solve_case(c, of, c->m->p->group_count, c->wanted_ns, bound_ns);
    crowd(c->m, of);
    *bound_ns = 0;
    for (int shared = 0; shared < c->m->p->group_count; shared++) {
        if (!placed_fewest_alone(of, shared)) continue;
        TRY(solve_shared(c, of, shared, c->wanted_ns, &own_ns));
        *bound_ns = larger(*bound_ns, own_ns);
        if (*bound_ns >= c->wanted_ns || watch_is_over(c->watch)) return OK;
    }
    for (int i = 0; i < 2 && least_ns > *bound_ns; i++) {
        TRY(solve_together(c, &parts[i], &own_ns));
        least_ns = smaller(least_ns, own_ns);
    }
    *bound_ns = larger(*bound_ns, least_ns);
    return OK;
}

// The last case, which has the most ranks whose rings are on one group, gives a plan that is
// placed: what is wanted of the others, together.
static enum status solve_many(struct case_solving *c)
{
    const struct placed_cases last = {&c->m->cases[c->m->case_count - 1], 1},
                              others = {c->m->cases, c->m->case_count - 1};
    int64_t last_ns, others_ns;
    TRY(solve_case(c, &last, 1, c->wanted_ns, &last_ns));
    place_next(c);
    if (last_ns < c->wanted_ns)
        TRY(solve_case(c, &last, c->m->p->group_count, c->wanted_ns, &last_ns));
    if (last_ns <= c->r->enough_ns) return OK;
    TRY(solve_together(c, &others, &others_ns));
    c->r->bound_ns = smaller(last_ns, others_ns);
    return OK;
}

// First with the group to share that is known, which is quick and lower. Then with any, from the
// case with the most ranks whose rings are on one group on: its plans are the easiest to place, and
// a plan's time spares the others' programs. Many cases are bounded together.
static enum status solve_cases(struct case_solving *c)
{
    enum { FEW_CASES = 4 };
    bool may_share = !c->m->p->places->micro_batches_together, repeats = may_share && c->r->repeats;
    int64_t bound_ns, known_ns = c->r->enough_ns;
    c->shared = may_share ? shared_before(c->m) : -1;
    if (repeats && c->r->gap > 0 && c->m->case_count > FEW_CASES) return solve_many(c);
    TRY(pass_cases(c, 1, known_ns, &bound_ns));
    place_next(c);
    c->r->bound_ns = bound_ns;
    if (!repeats || bound_ns >= c->wanted_ns) return OK;
    TRY(pass_cases(c, c->m->p->group_count, larger(known_ns, bound_ns), &bound_ns));
    c->r->bound_ns = larger(c->r->bound_ns, bound_ns);
    return OK;
}

enum status placed_reaches_solve(struct placed_reaches_result *r, const struct priced *p,
                                 const struct priced *relaxed,
                                 const struct solve_settings *settings, const volatile int *stop,
                                 struct arena *arena, struct error *err)
{
    struct placed_reaches *m = TAKE(arena, 1, struct placed_reaches);
    struct solve_settings own = *settings;
    struct watch watch = watch_begin(stop, settings->time_limit_s);
    r->bound_ns = 0;
    own.evidence = false; // that of one case alone is none
    struct case_solving c = {.m = m,
                             .r = r,
                             .settings = &own,
                             .watch = &watch,
                             .best_ns = INT64_MAX,
                             .parts_left = PARTS_MAX,
                             .wanted_ns = own.cutoff_ns ? own.cutoff_ns : NEVER_NS,
                             .err = err};
    return open_reaches(m, p, relaxed, arena) ? solve_cases(&c) : OK;
}
