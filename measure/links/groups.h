// Groups of ranks, from words of a command line.
#ifndef PLUMBLINE_MEASURE_LINKS_GROUPS_H
#define PLUMBLINE_MEASURE_LINKS_GROUPS_H

#include "data/numbers/samples.h"

struct member_list {
    int *members; // [count] ascending
    int count;
};

struct groups {
    struct member_list *lists;
    int count;
};

// A word is "all", "hosts" (the ranks of each host), "across" (the first ranks of all hosts, the
// second ones ...), or ranks: "0,1,4-7". "hosts" and "across" leave out groups of one; a repeated
// group is kept once.
enum status groups_read(struct groups *groups, const char *const *words, int word_count,
                        const struct endpoint *endpoints, int endpoint_count, struct arena *arena,
                        struct error *err);

bool groups_are_disjoint(const struct groups *groups, int endpoint_count, struct arena *arena);
bool group_has(const struct member_list *list, int rank);

#endif
