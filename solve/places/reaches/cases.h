// Reaches: shared by the files of the program over reaches (reaches.c).
#pragma once

#include "data/priced/priced.h"

enum { PLACED_REACHES_MAX = 16, PLACED_CASES_MAX = 256 };

enum crossing { ANY_CROSSING, NONE_CROSSES, SOME_CROSSES };

struct plan;

struct placed_case {
    int ranks[PLACED_REACHES_MAX]; // [reach]
    enum crossing crossing;
};

// Some that follow each other.
struct placed_cases {
    const struct placed_case *first;
    int count;
};

struct placed_reaches {
    struct priced *priced;
    const struct priced *p, *relaxed;
    int *group_of;      // [group of priced]: that of the program over groups
    unsigned *reach_of; // [likewise]: a bit for each group
    int reach_count, case_count;
    unsigned reaches[PLACED_REACHES_MAX];
    struct placed_case cases[PLACED_CASES_MAX];
    unsigned crowded; // a reach whose rings have syncs as if each shared a node with another
    size_t *beyond;   // [node]: from a link's price to that with two rings at this end
    int64_t *weights; // [pair]: of the present reach's links
    struct arena *arena;
};

static inline int placed_reach_size(unsigned reach) { return __builtin_popcount(reach); }

int placed_slots_within(const struct placed_reaches *m, unsigned reach);
// Lists reaches, targets and cases. false: they are more than a program can have, or only groups.
bool placed_list_cases(struct placed_reaches *m);
// The reach that all ranks' rings have, if it is of several groups and there are several ranks; 0.
unsigned placed_common_reach(const struct placed_reaches *m, const int *ranks);
// Whether, with every replica within one of the reach's groups, each ring shares a node with
// another.
bool placed_must_share_nodes(const struct placed_reaches *m, unsigned reach);

// ---- slots.c

// Ranks whose rings are on the group alone: as many as all these cases have.
int placed_fewest_alone(const struct placed_cases *of, int group);
// The slots of all targets in these cases. shared: the group of which the replica has at most its
// share; -1: none.
void placed_put_slots(struct placed_reaches *m, const struct placed_cases *of, int shared);

// ---- values.c

void placed_spread_values(struct placed_reaches *m); // from m->relaxed; placed_spread_rules, too

// ---- halves.c

// Two halves of a part of a case: a stage has fewer layers than `below`, or not; or, if below is 0,
// the rings of a stage's rank have the reach, or another.
struct placed_half {
    int stage, below;
    unsigned reach;
    bool second;
};

// The rules of the groups' program hold for targets of these groups.
void placed_spread_rules(struct placed_reaches *m);
// One more rule: that of the half.
void placed_add_half(struct placed_reaches *m, const struct placed_half *half);
// Where the best plans differ: in the reach of a stage, otherwise most in its number of layers.
// looks[0..GROUPS_MAX], NULL: none. false: they do not, or there are too many rules.
bool placed_find_half(struct placed_half *half, const struct placed_reaches *m,
                      const struct plan *const *looks);
// The plan's groups are named as those of the program over groups.
void placed_name_groups(const struct placed_reaches *m, const struct plan *plan);
