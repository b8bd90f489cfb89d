// The cases of reaches: how many ranks have rings of which reach, and whether some replica crosses
// from one group to another (docs/PROOFS.md 11).
#include <string.h>

#include "data/places/cluster.h"
#include "solve/places/reaches/cases.h"

int placed_slots_within(const struct placed_reaches *m, unsigned reach)
{
    int slots = 0;
    for (int i = 0; i < m->p->places->node_count; i++)
        slots += reach >> m->p->places->nodes[i].group & 1 ? m->p->places->nodes[i].slots : 0;
    return slots;
}

// Device groups that a rank with such a ring takes at least on these groups: all of them have its
// replicas, and each has one of them.
static int needs_of(const struct placed_reaches *m, unsigned reach, unsigned groups)
{
    return reach & ~groups ? placed_reach_size(reach & groups) : (int)m->p->layout.data;
}

// Whether every set of groups has room for what the ranks need there.
static bool have_room(const struct placed_reaches *m, const int *ranks)
{
    for (unsigned groups = 1; groups < 1u << m->p->group_count; groups++) {
        int64_t needed = 0;
        for (int i = 0; i < m->reach_count; i++)
            needed += (int64_t)ranks[i] * needs_of(m, m->reaches[i], groups);
        if (needed > placed_slots_within(m, groups)) return false;
    }
    return true;
}

// ---- cases

static bool add_case(struct placed_reaches *m, const int *ranks, enum crossing crossing)
{
    if (m->case_count == PLACED_CASES_MAX) return false;
    struct placed_case *c = &m->cases[m->case_count++];
    for (int i = 0; i < m->reach_count; i++) c->ranks[i] = ranks[i];
    c->crossing = crossing;
    return true;
}

unsigned placed_common_reach(const struct placed_reaches *m, const int *ranks)
{
    for (int i = 0; i < m->reach_count; i++)
        if (ranks[i] == m->p->rank_count && ranks[i] > 1 && placed_reach_size(m->reaches[i]) > 1)
            return m->reaches[i];
    return 0;
}

// Whether every replica can be within one of these groups, with some replica on each.
static bool can_be_within(const struct placed_reaches *m, unsigned reach)
{
    int replicas = 0;
    for (int g = 0; g < m->p->group_count; g++) {
        int own = reach >> g & 1 ? placed_slots_within(m, 1u << g) / m->p->rank_count : 0;
        if (reach >> g & 1 && !own) return false;
        replicas += own;
    }
    return replicas >= m->p->layout.data;
}

// Gives the reaches from this one on what is left of the ranks, in every way. false: too many ways.
static bool share_ranks(struct placed_reaches *m, int *ranks, int reach, int left)
{
    if (reach == m->reach_count) {
        unsigned common = left ? 0 : placed_common_reach(m, ranks);
        if (left) return true;
        if (!common) return add_case(m, ranks, ANY_CROSSING);
        return (!can_be_within(m, common) || add_case(m, ranks, NONE_CROSSES)) &&
               add_case(m, ranks, SOME_CROSSES);
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
    return placed_reach_size(reach) <= m->p->layout.data &&
           placed_slots_within(m, reach) >= m->p->layout.data;
}

// The groups themselves, for rings on them alone; then each group of every larger reach. false:
// they are more than a program can have, or only the groups.
bool placed_list_cases(struct placed_reaches *m)
{
    int groups = m->p->group_count, count = 0, ranks[PLACED_REACHES_MAX] = {0};
    for (int size = 1; size <= 2; size++) // 2: two or more
        for (unsigned reach = 1; reach < 1u << groups; reach++) {
            if ((placed_reach_size(reach) > 1) != (size > 1) || (size > 1 && !can_be(m, reach)))
                continue;
            if (m->reach_count == PLACED_REACHES_MAX ||
                count + placed_reach_size(reach) > GROUPS_MAX)
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

// ---- rings that share a node

// sums[n]: some of the group's nodes have just n device groups.
static void add_rooms(const struct placed_reaches *m, int group, bool *sums)
{
    sums[0] = true;
    for (int i = 0, all = 0; i < m->p->places->node_count; i++) {
        int slots = m->p->places->nodes[i].slots;
        if (m->p->places->nodes[i].group != group) continue;
        for (int n = all; n >= 0; n--) sums[n + slots] = sums[n + slots] || sums[n];
        all += slots;
    }
}

// Whether so many replicas within the group can have a rank alone on its nodes.
static bool has_own_nodes(const bool *sums, int slots, int replicas, int ranks)
{
    for (int n = replicas; n <= slots - (ranks - 1) * replicas; n++)
        if (sums[n]) return true;
    return false;
}

// of[n]: n replicas can be shared out among the groups so far such that some rank is alone on its
// nodes.
bool placed_must_share_nodes(const struct placed_reaches *m, unsigned reach)
{
    int d = (int)m->p->layout.data;
    bool *of = TAKE(m->arena, d + 1, bool), *next = TAKE(m->arena, d + 1, bool);
    of[0] = true;
    for (int g = 0; g < m->p->group_count; g++) {
        int slots = placed_slots_within(m, 1u << g);
        bool *sums = TAKE(m->arena, slots + 1, bool);
        if (!(reach >> g & 1)) continue;
        add_rooms(m, g, sums);
        memset(next, 0, (size_t)(d + 1) * sizeof *next);
        for (int n = 1; n <= d; n++)
            for (int k = 0; k + n <= d && has_own_nodes(sums, slots, n, m->p->rank_count); k++)
                next[k + n] = next[k + n] || of[k];
        memcpy(of, next, (size_t)(d + 1) * sizeof *of);
    }
    return !of[d];
}
