// Slots of a case's targets, or of those of several cases together (docs/PROOFS.md 11).
#include "data/base/least.h"
#include "solve/places/reaches/cases.h"

static int ranks_with(const struct placed_reaches *m, const int *ranks, unsigned reach)
{
    for (int i = 0; i < m->reach_count; i++)
        if (m->reaches[i] == reach) return ranks[i];
    return 0;
}

// Ranks with rings on the group alone are there in every replica; those with others get what is
// left. The replica that has the fewest of the shared group has at most its share. If none crosses,
// the shared group is that on which the replica is; a replica that crosses is not on one alone.
static int slots_of(const struct placed_reaches *m, const struct placed_case *of, int shared,
                    int target)
{
    const int *ranks = of->ranks;
    int group = m->group_of[target], all = placed_slots_within(m, 1u << group), most = all;
    if (of->crossing == NONE_CROSSES && shared >= 0 && group != shared &&
        m->reach_of[target] >> shared & 1)
        return 0;
    if (of->crossing != NONE_CROSSES && group == shared) most = all / (int)m->p->layout.data;
    if (of->crossing == SOME_CROSSES && shared < 0 && !m->p->places->micro_batches_together)
        most = smaller_int(most, m->p->rank_count - 1);
    int alone = ranks_with(m, ranks, 1u << group), left = all - alone * (int)m->p->layout.data;
    if (placed_reach_size(m->reach_of[target]) > 1) most = smaller_int(most - alone, left);
    return larger_int(0, smaller_int(most, ranks_with(m, ranks, m->reach_of[target])));
}

// Several cases together, a target at a time: in one of them it has no more slots than in the case
// that gives it most. With a shared group the replica keeps in all of them to more than that.
static int most_slots(const struct placed_reaches *m, const struct placed_cases *of, int shared,
                      int target)
{
    int most = 0;
    for (int i = 0; i < of->count; i++) {
        struct placed_case one = of->first[i];
        if (of->count > 1) one.crossing = ANY_CROSSING;
        most = larger_int(most, slots_of(m, &one, shared, target));
    }
    return most;
}

int placed_fewest_alone(const struct placed_cases *of, int group)
{
    int fewest = of->first->ranks[group];
    for (int i = 1; i < of->count; i++) fewest = smaller_int(fewest, of->first[i].ranks[group]);
    return fewest;
}

// The last target for rings on several groups that is on this one, or is not; -1: none.
static int last_target(const struct placed_reaches *m, int group, bool its)
{
    int last = -1;
    for (int t = m->p->group_count; t < m->priced->group_count; t++)
        if ((m->group_of[t] == group) == its) last = t;
    return last;
}

// One target of the shared group has the replica's share for all of them; one of another group has,
// for all but the ranks with rings on the shared group alone, what these leave.
static void put_joint(struct placed_reaches *m, const struct placed_cases *of, int shared)
{
    int count = m->priced->group_count, sharing = last_target(m, shared, true),
        leaving = last_target(m, shared, false);
    for (int t = 0; t < count; t++) {
        struct priced_group *to = &m->priced->groups[t];
        int *takes = TAKE(m->arena, count, int);
        to->takes = takes;
        for (int k = 0; k < count; k++)
            takes[k] = t == sharing   ? m->group_of[k] == shared
                       : t == leaving ? k != shared
                                      : k == t;
        if (t == sharing) to->slots = placed_slots_within(m, 1u << shared) / (int)m->p->layout.data;
        if (t == leaving) to->slots = m->p->rank_count - placed_fewest_alone(of, shared);
    }
}

void placed_put_slots(struct placed_reaches *m, const struct placed_cases *of, int shared)
{
    for (int t = 0; t < m->priced->group_count; t++) {
        m->priced->groups[t].slots = most_slots(m, of, shared, t);
        m->priced->groups[t].takes = NULL;
    }
    if (of->count > 1 && shared >= 0) put_joint(m, of, shared);
}
