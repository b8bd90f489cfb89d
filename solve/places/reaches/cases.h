// Reaches: shared by the files of the program over reaches (reaches.c).
#ifndef PLUMBLINE_SOLVE_PLACES_REACHES_CASES_H
#define PLUMBLINE_SOLVE_PLACES_REACHES_CASES_H

#include "data/priced/priced.h"

enum { PLACED_REACHES_MAX = 16, PLACED_CASES_MAX = 256 };

enum crossing { ANY_CROSSING, NONE_CROSSES, SOME_CROSSES };

struct placed_case {
    int ranks[PLACED_REACHES_MAX]; // [reach]
    enum crossing crossing;
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

#endif
