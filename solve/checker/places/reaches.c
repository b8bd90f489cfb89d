// By reaches. The reach of a ring is the set of groups that it has members on; it decides which
// kind of card the whole ring uses. The first targets are the groups, for rings that are on them
// alone; then, for every set of groups that a ring can be on together, each of its groups again. A
// case says how many ranks have rings of each reach (docs/PROOFS.md 11). What depends on a target's
// group alone is that of the first targets.
#include "solve/checker/places/relaxing.h"

static bool has(unsigned reach, int group) { return reach >> group & 1; }

static unsigned reach_of_node(const struct check_places *x, int node)
{
    return 1u << x->nodes[node].group;
}

static int size_of(unsigned reach) { return __builtin_popcount(reach); }

static int64_t room_of(const struct check_places *x, unsigned groups)
{
    int64_t room = 0;
    for (int i = 0; i < x->node_count; i++)
        if (reach_of_node(x, i) & groups && !x->problem->groups[x->nodes[i].group].excluded)
            room += x->nodes[i].slots;
    return room;
}

// ---- cases

// A rank takes all its replicas' device groups where its whole reach is, and otherwise at least one
// of each group that is there.
static bool fits(const struct check_cases *c, const struct check_places *x, const int *ranks)
{
    for (unsigned groups = 1; groups < 1u << x->problem->group_count; groups++) {
        int64_t taken = 0;
        for (int i = 0; i < c->reach_count; i++) {
            bool inside = !(c->reaches[i] & ~groups);
            taken += (int64_t)ranks[i] * (inside ? x->replicas : size_of(c->reaches[i] & groups));
        }
        if (taken > room_of(x, groups)) return false;
    }
    return true;
}

// Of several groups; 0: none, or there is one rank.
static unsigned reach_of_all(const struct check_cases *c, const int *ranks, int all)
{
    unsigned reach = 0;
    for (int i = 0; i < c->reach_count; i++)
        if (ranks[i] == all && size_of(c->reaches[i]) > 1) reach = c->reaches[i];
    return all > 1 ? reach : 0;
}

// Whole replicas in each of these groups, at least one, and all in one of them.
static bool fits_within(const struct check_places *x, unsigned reach)
{
    int64_t replicas = 0;
    for (int g = 0; g < x->problem->group_count; g++) {
        if (!has(reach, g)) continue;
        int64_t here = room_of(x, 1u << g) / x->problem->ranks;
        if (here < 1) return false;
        replicas += here;
    }
    return replicas >= x->replicas;
}

static bool add_case(struct check_cases *c, const int *ranks, enum check_crossing crossing)
{
    if (c->count == CASES_MOST) return false;
    for (int i = 0; i < c->reach_count; i++) c->ranks[c->count][i] = ranks[i];
    c->crossing[c->count++] = crossing;
    return true;
}

static bool add_cases(struct check_cases *c, const struct check_places *x, const int *ranks)
{
    unsigned reach = reach_of_all(c, ranks, x->problem->ranks);
    if (!reach) return add_case(c, ranks, CROSS_ANY);
    if (fits_within(x, reach) && !add_case(c, ranks, CROSS_NONE)) return false;
    return add_case(c, ranks, CROSS_SOME);
}

// From this reach on, `left` more ranks.
static bool list_cases(struct check_cases *c, const struct check_places *x, int *ranks, int from,
                       int left)
{
    if (from == c->reach_count) return left || add_cases(c, x, ranks);
    bool listed = true;
    for (int n = 0; n <= left && listed; n++) {
        ranks[from] = n;
        if (!fits(c, x, ranks)) break;
        listed = list_cases(c, x, ranks, from + 1, left - n);
    }
    ranks[from] = 0;
    return listed;
}

static bool can_be(const struct check_places *x, unsigned reach)
{
    if (size_of(reach) == 1) return true;
    return size_of(reach) <= x->replicas && room_of(x, reach) >= x->replicas;
}

static enum status list_reaches(struct check_cases *c, const struct check_places *x,
                                const struct reader *r, uint64_t *work)
{
    int groups = x->problem->group_count, targets = 0;
    *c = (struct check_cases){.count = 0};
    if (x->replicas < 2 || groups < 2)
        return fail(r->err, (enum status)NOT_PROVEN,
                    "places.by: reaches need several replicas and groups");
    TRY(check_spend(x->problem, work, (uint64_t)x->node_count << groups));
    for (int several = 0; several < 2; several++)
        for (unsigned reach = 1; reach < 1u << groups; reach++) {
            if ((size_of(reach) > 1) != several || !can_be(x, reach)) continue;
            targets += size_of(reach);
            if (targets > MOST_GROUPS)
                return fail(r->err, (enum status)NOT_PROVEN,
                            "places.by: with every reach there are more than the %d groups that "
                            "are checked",
                            MOST_GROUPS);
            c->reaches[c->reach_count++] = reach;
        }
    return OK;
}

enum status check_list_cases(struct check_cases *cases, const struct check_places *x,
                             const struct reader *r, uint64_t *work)
{
    int ranks[MOST_GROUPS] = {0};
    TRY(list_reaches(cases, x, r, work));
    TRY(check_spend(x->problem, work,
                    ((uint64_t)CASES_MOST * MOST_GROUPS * (uint64_t)x->node_count)
                        << x->problem->group_count));
    if (list_cases(cases, x, ranks, 0, x->problem->ranks)) return OK;
    return fail(r->err, (enum status)NOT_PROVEN, "places.by: more than %d cases of reaches",
                CASES_MOST);
}

enum status check_open_reaches(struct relaxing *m)
{
    struct check_cases *c = m->cases = TAKE(m->arena, 1, struct check_cases);
    m->group_of = TAKE(m->arena, MOST_GROUPS, int);
    m->reach_of = TAKE(m->arena, MOST_GROUPS, unsigned);
    m->to->group_count = 0;
    TRY(list_reaches(c, m->x, m->r, m->work));
    for (int i = 0; i < c->reach_count; i++)
        for (int g = 0; g < m->p->group_count; g++) {
            if (!has(c->reaches[i], g)) continue;
            m->group_of[m->to->group_count] = g;
            m->reach_of[m->to->group_count++] = c->reaches[i];
        }
    return OK;
}

// ---- what a target takes from its group

static void copy_pairs(const struct relaxing *m, int64_t *table, int rows, int parts)
{
    int n = m->to->group_count;
    for (int i = 0; table && i < rows * n * n; i++) {
        int row = i / (n * n), from = m->group_of[i / n % n], to = m->group_of[i % n];
        for (int part = 0; part < parts; part++)
            table[i * parts + part] = table[((row * n + from) * n + to) * parts + part];
    }
}

static void name_targets(struct relaxing *m)
{
    for (int t = m->p->group_count; t < m->to->group_count; t++) {
        const char *name = m->p->groups[m->group_of[t]].name, *joint = " in rings with ";
        for (int g = 0; g < m->p->group_count; g++) {
            if (!has(m->reach_of[t], g) || g == m->group_of[t]) continue;
            name = arena_print(m->arena, "%s%s%s", name, joint, m->p->groups[g].name);
            joint = ", ";
        }
        m->to->groups[t].name = name;
    }
}

static int least(int64_t a, int64_t b) { return (int)(a < b ? a : b); }

// The replica has all ranks whose rings are on the group alone, and of the others at most what they
// leave: of the group, and of what it has of it at most. A replica that crosses has not all of them
// on one group; where none crosses, it has all of them on the group that is named.
static int limit_of(const struct relaxing *m, const struct check_relaxation *how, int target,
                    const int *ranks)
{
    const struct check_cases *c = m->cases;
    bool crosses = how->crossing == CROSS_SOME && how->shared < 0 && !m->x->together,
         stays = how->crossing == CROSS_NONE && how->shared >= 0;
    int g = m->group_of[target], slots = m->to->groups[g].slots, of_reach = 0;
    for (int i = 0; i < c->reach_count; i++)
        if (c->reaches[i] == m->reach_of[target]) of_reach = ranks[i];
    if (target >= m->p->group_count) {
        slots =
            least(slots - ranks[g], room_of(m->x, 1u << g) - (int64_t)ranks[g] * m->x->replicas);
        if (slots < 0) slots = 0;
    }
    if (crosses) slots = least(slots, m->p->ranks - 1);
    if (stays && has(m->reach_of[target], how->shared) && how->shared != g) slots = 0;
    return least(slots, of_reach);
}

// From the last target on: those of a reach follow the groups, whose own slots they are limited by.
static void limit_slots(struct relaxing *m, const struct check_relaxation *how)
{
    int share = how->shared < 0 ? -1 : m->to->groups[how->shared].slots;
    for (int t = m->to->group_count - 1; t >= 0; t--) {
        int most = 0;
        for (int i = 0; i == 0 || i < how->cases; i++) {
            int own = limit_of(m, how, t, how->ranks[i]);
            if (own > most) most = own;
        }
        m->to->groups[t].slots = most;
    }
    if (how->cases > 1 && share >= 0) check_join_slots(m, how, share);
}

// All replicas of a plan have a stage's number of layers, and one reach of its rank's ring.
static void add_halves(struct relaxing *m, const struct check_relaxation *how)
{
    struct check_problem *to = m->to;
    to->rules = arena_grow(m->arena, to->rules, (size_t)to->rule_count,
                           (size_t)(to->rule_count + how->half_count), sizeof *to->rules);
    for (int i = 0; i < how->half_count; i++) {
        const struct check_half *half = &how->halves[i];
        struct check_rule *r = &to->rules[to->rule_count++];
        *r = check_rule_about(half->stage);
        if (!half->reach) {
            r->layers_min = half->least, r->layers_max = half->most;
            continue;
        }
        for (int t = 0; t < to->group_count; t++)
            if ((m->reach_of[t] == half->reach) != half->other) r->groups |= 1u << t;
        if (!r->groups) r->groups = OF_NO_TARGET;
    }
}

// ---- syncs

// The lightest of the links from nodes of the first groups to nodes of the second.
static int64_t lightest_between(const struct relaxing *m, unsigned first, unsigned second)
{
    int n = m->x->node_count;
    int64_t least = -1;
    for (int from = 0; from < n; from++)
        for (int to = 0; to < n; to++)
            if (reach_of_node(m->x, from) & first && reach_of_node(m->x, to) & second)
                check_take_least(&least, m->weights[(size_t)from * (size_t)n + (size_t)to]);
    return least < 0 ? INT64_MAX : least;
}

static int64_t heavier(int64_t a, int64_t b) { return a > b ? a : b; }

// Every ring on exactly these groups has a link of at least this weight; INT64_MAX: there is none.
static int64_t least_weight(const struct relaxing *m, unsigned reach)
{
    struct arena_mark mark = arena_set_mark(m->arena);
    int n = m->x->node_count, *slots = TAKE(m->arena, n, int);
    for (int i = 0; i < n; i++)
        if (reach_of_node(m->x, i) & reach && relaxing_is_usable(m, i))
            slots[i] = m->x->nodes[i].slots;
    int64_t most = check_least_bottleneck(m->weights, slots, n, m->x->replicas, m->arena);
    for (int g = 0; g < m->p->group_count; g++) {
        int64_t through = INT64_MAX;
        unsigned others = reach & ~(1u << g);
        if (!has(reach, g)) continue;
        for (int i = 0; i < n; i++) { // the ring passes one of the group's nodes
            int64_t in = -1, out = -1;
            if (m->x->nodes[i].group != g || !slots[i]) continue;
            for (int k = 0; k < n; k++) {
                check_take_least(&in, m->weights[(size_t)k * (size_t)n + (size_t)i]);
                check_take_least(&out, m->weights[(size_t)i * (size_t)n + (size_t)k]);
            }
            if (in >= 0 && out >= 0 && heavier(in, out) < through) through = heavier(in, out);
        }
        most = heavier(most, through);
        if (!others) continue;
        most = heavier(most, lightest_between(m, others, 1u << g));
        most = heavier(most, lightest_between(m, 1u << g, others));
    }
    arena_reset(m->arena, mark);
    return most;
}

// Of links between nodes of the reach; one within a node only where the ring is on one group.
static enum status weigh(struct relaxing *m, unsigned reach, int pair, int64_t *weight)
{
    int n = m->x->node_count, from = pair / n, to = pair % n;
    *weight = -1;
    if (!(reach_of_node(m->x, from) & reach && reach_of_node(m->x, to) & reach)) return OK;
    if (from == to && size_of(reach) > 1) return OK;
    return check_weigh_link(m, m->x->kind_of[reach], from, to, weight);
}

// Whether each ring of the reach shares a node with another.
static enum status find_crowded(bool *crowded, const struct relaxing *m,
                                const struct check_relaxation *how, unsigned reach)
{
    bool none_crosses = how->crossing == CROSS_NONE;
    *crowded = false;
    if (!none_crosses || reach_of_all(m->cases, how->ranks[0], m->p->ranks) != reach) return OK;
    return check_crowds(crowded, m, reach);
}

// Of all targets of the reach, which follow each other.
static enum status relax_reach(struct relaxing *m, const struct check_relaxation *how, int first)
{
    bool crowded;
    unsigned reach = m->reach_of[first];
    int pairs = m->x->node_count * m->x->node_count, end = first;
    int64_t weight;
    while (end < m->to->group_count && m->reach_of[end] == reach) end++;
    for (int pair = 0; pair < pairs; pair++) TRY(weigh(m, reach, pair, &m->weights[pair]));
    int64_t least = least_weight(m, reach);
    for (int t = first; t < end; t++)
        m->to->groups[t].excluded = m->to->groups[t].excluded || least == INT64_MAX;
    TRY(find_crowded(&crowded, m, how, reach));
    if (crowded) return check_lower_crowded(m, m->x->kind_of[reach], first, end);
    for (int pair = 0; pair < pairs; pair++) {
        if (m->weights[pair] < 0 || m->weights[pair] < least) continue;
        TRY(weigh(m, reach, pair, &weight));
        for (int t = first; t < end; t++) check_lower_sync(m, t);
    }
    return OK;
}

enum status check_relax_reaches(struct relaxing *m, const struct check_relaxation *how)
{
    const struct check_problem *p = m->to;
    for (int c = 0; c < p->cut_count; c++) {
        copy_pairs(m, p->cuts[c].forward, p->slices, PARTS);
        for (int o = 0; o < p->boundary_count; o++)
            copy_pairs(m, p->cuts[c].backward[o], p->slices, PARTS);
    }
    copy_pairs(m, p->embedding, 1, 1);
    name_targets(m);
    limit_slots(m, how);
    add_halves(m, how);
    check_open_link(m);
    for (int t = 0; t < p->group_count; t++)
        if (!t || m->reach_of[t] != m->reach_of[t - 1]) TRY(relax_reach(m, how, t));
    check_settle_syncs(m);
    return OK;
}
