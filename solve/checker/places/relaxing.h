// Shared by the files that make the problem of one replica that bounds every placement.
#pragma once

#include "solve/checker/places/internal.h"

struct relaxing {
    struct check_problem *to;
    const struct check_places *x;
    const struct check_problem *p; // as in the places
    int *target_of;                // [node]
    int *group_of;                 // [target]
    unsigned *reach_of;            // [target], by reaches: the groups of its rings, a bit each
    struct check_cases *cases;     // likewise
    struct check_pair pair;
    struct check_chain *chain; // NULL: not requested
    bool *joined;              // its own
    struct check_ring_link link;
    int64_t *weights; // of a kind: [from * nodes + to]; -1: no link
    const struct reader *r;
    uint64_t *work;
    struct arena *arena;
};

static inline bool relaxing_is_usable(const struct relaxing *m, int node)
{
    return m->x->nodes[node].slots > 0 && !m->p->groups[m->x->nodes[node].group].excluded;
}

// Whether two device groups can be there.
static inline bool relaxing_is_pair(const struct relaxing *m, int from, int to)
{
    return relaxing_is_usable(m, from) && relaxing_is_usable(m, to) &&
           (from != to || m->x->nodes[from].slots > 1);
}

// A rule about groups that no target is in.
#define OF_NO_TARGET (1u << 31)

// Lowers it to the price if there is one; -1: none.
void check_take_least(int64_t *least, int64_t price);

static inline int64_t *take_none(int count, struct arena *arena)
{
    int64_t *to = TAKE(arena, count, int64_t);
    for (int i = 0; i < count; i++) to[i] = -1;
    return to;
}

static inline enum status relaxing_refuse_price(const struct relaxing *m)
{
    return check_refuse(m->r, "places", "a price beyond what can be counted");
}

// ---- relax_rings.c: syncs of groups or nodes

enum status check_relax_syncs(struct relaxing *m);
void check_open_link(struct relaxing *m);
// The link's prices, in m->link, and its weight; -1: it joins nothing, or is within a node that has
// no room for a whole ring.
enum status check_weigh_link(struct relaxing *m, int kind, int from, int to, int64_t *weight);
// The target's syncs are at most the link's.
void check_lower_sync(struct relaxing *m, int target);
// A target for which no price was taken has syncs that take nothing.
void check_settle_syncs(struct relaxing *m);

// ---- reaches.c: the targets are the groups, and then groups in rings that are on several

enum status check_open_reaches(struct relaxing *m);
// What the other targets of a group take from its first, and all syncs. how: which case.
enum status check_relax_reaches(struct relaxing *m, const struct check_relaxation *how);

// ---- together.c

// Of several cases with a shared group, of which the replica has at most its share: that share, and
// what is left of its ranks, are limits of several targets together.
void check_join_slots(struct relaxing *m, const struct check_relaxation *how, int share);

// ---- crowded.c

// Where no replica crosses: whether each ring on exactly these groups shares a node with another.
enum status check_crowds(bool *crowds, const struct relaxing *m, unsigned reach);
// The syncs of the targets before `end` from `first` on, over any link between nodes that
// m->weights has, if two rings leave one of its ends.
enum status check_lower_crowded(struct relaxing *m, int kind, int first, int end);
