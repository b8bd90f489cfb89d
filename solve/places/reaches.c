// The program over reaches. A ring's reach is the set of groups that it has members on: it decides
// the kind of card that all of the ring uses. Each group stands once for every reach that it is in,
// so that the search decides with the group of a stage which kinds of card its ring may use; and it
// branches on how many ranks have rings of which reach (docs/PROOFS.md 11, by reaches).
// Values by groups come from the program over groups; only syncs and slots are those of the reach.
#include "data/base/least.h"
#include "data/base/watch.h"
#include "data/places/cluster.h"
#include "data/results/bound.h"
#include "solve/chains/chains.h"
#include "solve/places/internal.h"

enum { PLACED_REACHES_MAX = 16, PLACED_CASES_MAX = 256 };

struct placed_reaches {
    struct priced *priced;
    const struct priced *p, *relaxed;
    int *group_of;      // [group of priced]: that of the program over groups
    unsigned *reach_of; // [likewise]: a bit for each group
    int reach_count, case_count;
    unsigned reaches[PLACED_REACHES_MAX];
    int ranks[PLACED_CASES_MAX][PLACED_REACHES_MAX]; // [case][reach]
    int64_t *weights;                                // [pair]: of the present reach's links
    struct arena *arena;
};

static bool is_in(const struct placed_reaches *m, unsigned reach, size_t node)
{
    return reach >> m->p->places->nodes[node].group & 1;
}

static int size_of(unsigned reach) { return __builtin_popcount(reach); }

static int slots_within(const struct placed_reaches *m, unsigned reach)
{
    int slots = 0;
    for (int i = 0; i < m->p->places->node_count; i++)
        slots += is_in(m, reach, (size_t)i) ? m->p->places->nodes[i].slots : 0;
    return slots;
}

// Device groups that a rank with such a ring takes at least on these groups: all of them have its
// replicas, and each has one of them.
static int needs_of(const struct placed_reaches *m, unsigned reach, unsigned groups)
{
    return reach & ~groups ? size_of(reach & groups) : (int)m->p->layout.data;
}

// Whether every set of groups has room for what the ranks need there.
static bool have_room(const struct placed_reaches *m, const int *ranks)
{
    for (unsigned groups = 1; groups < 1u << m->p->group_count; groups++) {
        int64_t needed = 0;
        for (int i = 0; i < m->reach_count; i++)
            needed += (int64_t)ranks[i] * needs_of(m, m->reaches[i], groups);
        if (needed > slots_within(m, groups)) return false;
    }
    return true;
}

// ---- cases

// Gives the reaches from this one on what is left of the ranks, in every way. false: too many ways.
static bool share_ranks(struct placed_reaches *m, int *ranks, int reach, int left)
{
    if (reach == m->reach_count) {
        if (left) return true;
        if (m->case_count == PLACED_CASES_MAX) return false;
        for (int i = 0; i < reach; i++) m->ranks[m->case_count][i] = ranks[i];
        m->case_count++;
        return true;
    }
    for (ranks[reach] = 0; ranks[reach] <= left; ranks[reach]++) {
        if (!have_room(m, ranks)) break;
        if (!share_ranks(m, ranks, reach + 1, left - ranks[reach])) return false;
    }
    ranks[reach] = 0;
    return true;
}

static bool can_be(const struct placed_reaches *m, unsigned reach)
{
    return size_of(reach) <= m->p->layout.data && slots_within(m, reach) >= m->p->layout.data;
}

// The groups themselves, for rings on them alone; then each group of every larger reach. false:
// they are more than a program can have, or only the groups.
static bool list_targets(struct placed_reaches *m)
{
    int groups = m->p->group_count, count = 0, ranks[PLACED_REACHES_MAX] = {0};
    for (int size = 1; size <= 2; size++) // 2: two or more
        for (unsigned reach = 1; reach < 1u << groups; reach++) {
            if ((size_of(reach) > 1) != (size > 1) || (size > 1 && !can_be(m, reach))) continue;
            if (m->reach_count == PLACED_REACHES_MAX || count + size_of(reach) > GROUPS_MAX)
                return false;
            m->reaches[m->reach_count++] = reach;
            for (int g = 0; g < groups; g++) {
                if (!(reach >> g & 1)) continue;
                m->group_of[count] = g;
                m->reach_of[count++] = reach;
            }
        }
    m->priced->group_count = count;
    return count > groups && share_ranks(m, ranks, 0, m->p->rank_count);
}

static int ranks_with(const struct placed_reaches *m, const int *ranks, unsigned reach)
{
    for (int i = 0; i < m->reach_count; i++)
        if (m->reaches[i] == reach) return ranks[i];
    return 0;
}

// Ranks with rings on the group alone are there in every replica; those with others get what is
// left. The replica that has the fewest of the shared group has at most its share.
static int slots_of(const struct placed_reaches *m, const int *ranks, int shared, int target)
{
    int group = m->group_of[target], all = slots_within(m, 1u << group),
        most = group == shared ? all / (int)m->p->layout.data : all,
        alone = ranks_with(m, ranks, 1u << group), left = all - alone * (int)m->p->layout.data;
    if (size_of(m->reach_of[target]) > 1) most = smaller_int(most - alone, left);
    return larger_int(0, smaller_int(most, ranks_with(m, ranks, m->reach_of[target])));
}

static void put_slots(struct placed_reaches *m, const int *ranks, int shared)
{
    for (int t = 0; t < m->priced->group_count; t++)
        m->priced->groups[t].slots = slots_of(m, ranks, shared, t);
}

// ---- values by groups

static int64_t *spread(const struct placed_reaches *m, const int64_t *of_groups, int rows)
{
    int targets = m->priced->group_count, groups = m->p->group_count;
    int64_t *to = TAKE(m->arena, rows * targets, int64_t);
    for (int i = 0; i < rows * targets; i++)
        to[i] = of_groups[i / targets * groups + m->group_of[i % targets]];
    return to;
}

static int64_t *spread_pairs(const struct placed_reaches *m, const int64_t *of_groups, int slices,
                             int parts)
{
    int targets = m->priced->group_count, groups = m->p->group_count, pairs = targets * targets;
    int64_t *to = TAKE(m->arena, slices * pairs * parts, int64_t);
    for (int i = 0; i < slices * pairs * parts; i++) {
        int part = i % parts, pair = i / parts % pairs, slice = i / parts / pairs;
        int from = m->group_of[pair / targets], end = m->group_of[pair % targets];
        to[i] = of_groups[((slice * groups + from) * groups + end) * parts + part];
    }
    return to;
}

static void put_runs(struct placed_reaches *m)
{
    struct priced *to = m->priced;
    to->runs = TAKE_COPY(m->arena, m->relaxed->runs, to->run_count);
    for (int i = 0; i < to->run_count; i++) {
        struct priced_run *r = &to->runs[i];
        r->forward_ns = spread(m, r->forward_ns, to->slice_count);
        r->backward_ns = spread(m, r->backward_ns, to->slice_count);
        for (int mode = 0; mode < RECOMPUTE_COUNT; mode++)
            if (r->again_ns[mode])
                r->again_ns[mode] = spread(m, r->again_ns[mode], to->slice_count);
        r->weight_ns = spread(m, r->weight_ns, 1);
        r->optimizer_ns = spread(m, r->optimizer_ns, 1);
        r->sync_ns = TAKE(m->arena, to->gradient_option_count, int64_t *);
        if (r->tiered) r->tiered = TAKE_COPY(m->arena, r->tiered, r->tiered_count);
        for (int o = 0; o < to->gradient_option_count; o++) {
            r->sync_ns[o] = TAKE(m->arena, to->group_count, int64_t);
            if (r->tiered) r->tiered[o].optimizer_ns = spread(m, r->tiered[o].optimizer_ns, 1);
        }
    }
}

static void put_links(struct placed_reaches *m)
{
    struct priced *to = m->priced;
    to->cuts = TAKE_COPY(m->arena, m->relaxed->cuts, to->cut_count);
    for (int i = 0; i < to->cut_count; i++) {
        struct priced_cut *cut = &to->cuts[i];
        int64_t **backward = TAKE(m->arena, to->boundary_option_count, int64_t *);
        cut->forward_ns = spread_pairs(m, cut->forward_ns, to->slice_count, PART_COUNT);
        for (int o = 0; o < to->boundary_option_count; o++)
            backward[o] = spread_pairs(m, cut->backward_ns[o], to->slice_count, PART_COUNT);
        cut->backward_ns = backward;
    }
    if (to->has_embedding_sync)
        to->embedding_sync_ns = spread_pairs(m, m->relaxed->embedding_sync_ns, 1, 1);
}

static void put_groups(struct placed_reaches *m)
{
    struct priced *to = m->priced;
    to->groups = TAKE(m->arena, to->group_count, struct priced_group);
    for (int t = 0; t < to->group_count; t++) {
        to->groups[t] = m->relaxed->groups[m->group_of[t]];
        to->groups[t].sync_constant_ns = TAKE(m->arena, to->gradient_option_count, int64_t);
    }
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
                      (!inside ||
                       (size_of(reach) == 1 && x->nodes[pair / nodes].slots >= m->p->layout.data));
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

static void put_syncs(struct placed_reaches *m)
{
    const struct priced_places *x = m->p->places;
    struct priced *to = m->priced;
    for (int t = 0; t < to->group_count; t++) {
        size_t offset = weigh(m, m->reach_of[t]);
        int64_t weight = weight_at_least(m, m->reach_of[t]);
        if (weight == CHAIN_NONE) to->groups[t].excluded = "no ring joins these groups";
        for (int o = 0; o < to->gradient_option_count; o++) {
            to->groups[t].sync_constant_ns[o] =
                least_of(m, x->ring_constant_ns[o] + offset, weight);
            for (int run = 0; run < to->run_count; run++)
                to->runs[run].sync_ns[o][t] = least_of(m, x->ring_ns[run][o] + offset, weight);
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
    if (!list_targets(m)) return false;
    m->weights = TAKE(arena, nodes * nodes, int64_t);
    put_groups(m);
    put_runs(m);
    put_links(m);
    put_syncs(m);
    return says_more(m);
}

// ---- the cases' programs

struct case_solving {
    struct placed_reaches *m;
    struct placed_reaches_result *r;
    struct solve_settings *settings; // their limits become what is left
    struct watch *watch;
    int64_t wanted_ns; // a bound that no case has to pass
    int64_t least_ns;  // of the plans by groups so far
    int shared;        // of which the last program bounded most; -1: no group is shared
    struct error *err;
};

static enum status solve_shared(struct case_solving *c, const int *ranks, int shared,
                                int64_t enough_ns, int64_t *bound_ns)
{
    struct placed_reaches *m = c->m;
    struct solve_result *own = TAKE(m->arena, 1, struct solve_result);
    put_slots(m, ranks, shared);
    c->settings->cutoff_ns = enough_ns < NEVER_NS ? enough_ns : 0;
    if (c->settings->time_limit_s > 0) c->settings->time_limit_s = watch_left_s(c->watch);
    TRY(solve_run(own, m->priced, c->settings, NULL, c->watch->stop, m->arena, c->err));
    const struct plan *plan = &own->plan;
    bool none = plan->outcome == OUTCOME_INFEASIBLE && !own->cut_off;
    *bound_ns = none ? NEVER_NS : plan->bound_ns;
    if (none || own->cut_off || !plan->stage_count || plan->iteration_ns >= c->least_ns) return OK;
    c->least_ns = plan->iteration_ns;
    c->wanted_ns = smaller(c->wanted_ns, c->r->place(c->r->context, plan));
    return OK;
}

// Any group may be the one of which the replica in question has at most its share: what the best of
// these programs proves holds. *bound_ns NEVER_NS: the case has no plan.
static enum status solve_case(struct case_solving *c, const int *ranks, int ways, int64_t enough_ns,
                              int64_t *bound_ns)
{
    int first = c->shared;
    *bound_ns = -1;
    for (int way = 0; way < ways && *bound_ns < smaller(enough_ns, c->wanted_ns); way++) {
        int shared = ways == 1 ? first : (first + way) % ways;
        int64_t own_ns;
        TRY(solve_shared(c, ranks, shared, smaller(enough_ns, c->wanted_ns), &own_ns));
        if (own_ns <= *bound_ns) continue;
        *bound_ns = own_ns;
        c->shared = shared;
    }
    return OK;
}

// The group that the program over groups shares; its first group if that is not known.
static int shared_before(const struct placed_reaches *m)
{
    for (int g = 0; g < m->p->group_count; g++)
        if (m->relaxed->groups[g].slots < slots_within(m, 1u << g)) return g;
    return 0;
}

// The least of all cases' bounds. above_ns: what is known.
static enum status pass_cases(struct case_solving *c, int ways, int64_t above_ns, int64_t *bound_ns)
{
    int count = c->m->case_count;
    *bound_ns = NEVER_NS;
    for (int i = 0; i<count && * bound_ns> above_ns; i++) {
        int64_t own_ns;
        TRY(solve_case(c, c->m->ranks[ways > 1 ? count - 1 - i : i], ways,
                       smaller(*bound_ns, c->wanted_ns), &own_ns));
        *bound_ns = smaller(*bound_ns, own_ns);
    }
    return OK;
}

// First with the group to share that is known, which is quick and lower. Then with any, from the
// case with the most ranks whose rings are on one group on: its plans are the easiest to place, and
// a plan's time spares the others' programs.
static enum status solve_cases(struct case_solving *c)
{
    bool may_share = !c->m->p->places->micro_batches_together;
    int64_t bound_ns, known_ns = c->r->enough_ns;
    c->shared = may_share ? shared_before(c->m) : -1;
    TRY(pass_cases(c, 1, known_ns, &bound_ns));
    c->r->bound_ns = bound_ns;
    if (!may_share || !c->r->repeats || bound_ns >= c->wanted_ns) return OK;
    c->least_ns = NEVER_NS;
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
                             .wanted_ns = own.cutoff_ns ? own.cutoff_ns : NEVER_NS,
                             .least_ns = NEVER_NS,
                             .err = err};
    return open_reaches(m, p, relaxed, arena) ? solve_cases(&c) : OK;
}
