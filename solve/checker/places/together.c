// Several cases of reaches together: what holds in each of them for the replica that has the fewest
// ranks on the shared group (docs/PROOFS.md 11, together). Ranks with rings on that group alone are
// as many in every replica, at least `fewest` in each case; so the others are at most all but
// these.
#include "solve/checker/places/relaxing.h"

int check_fewest_alone(const struct check_relaxation *how, int group)
{
    int fewest = how->ranks[0][group];
    for (int i = 1; i < how->cases; i++)
        if (how->ranks[i][group] < fewest) fewest = how->ranks[i][group];
    return fewest;
}

// A target for rings on several groups whose own limit gives way to one of several targets.
static int bearer(const struct relaxing *m, int group, bool on_it)
{
    for (int t = m->to->group_count - 1; t >= m->p->group_count; t--)
        if ((m->group_of[t] == group) == on_it) return t;
    return -1;
}

static int *take_targets(const struct relaxing *m)
{
    return TAKE(m->arena, m->to->group_count, int);
}

void check_join_slots(struct relaxing *m, const struct check_relaxation *how, int share)
{
    int count = m->to->group_count, on = bearer(m, how->shared, true),
        off = bearer(m, how->shared, false);
    for (int t = 0; t < count; t++) {
        int *alone = take_targets(m);
        alone[t] = 1;
        m->to->groups[t].takes = alone;
    }
    if (on >= 0) {
        int *all = take_targets(m);
        for (int t = 0; t < count; t++) all[t] = m->group_of[t] == how->shared;
        m->to->groups[on].takes = all, m->to->groups[on].slots = share;
    }
    if (off >= 0) {
        int *others = take_targets(m);
        for (int t = 0; t < count; t++) others[t] = t != how->shared;
        m->to->groups[off].takes = others;
        m->to->groups[off].slots = m->p->ranks - check_fewest_alone(how, how->shared);
    }
}
