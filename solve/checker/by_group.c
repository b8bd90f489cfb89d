// One width for each node group (docs/PROOFS.md 4): such a proof has boxes for each combination of
// widths, on the tables in which the node groups' other widths are excluded.
#include <string.h>

#include "solve/checker/proof.h"

// The first width of the node group from `group` on that is not excluded; -1: none.
static int find_width(const struct check_problem *p, int node_group, int group)
{
    while (group < p->group_count &&
           (p->groups[group].of_node_group != node_group || p->groups[group].excluded))
        group++;
    return group < p->group_count ? group : -1;
}

bool check_next_combination(const struct check_problem *p, bool *taken)
{
    for (int head = 0; head < p->group_count; head++) {
        int had = -1, node_group = head + 1; // its first group says which it is
        for (int g = head; g < p->group_count; g++)
            if (taken[g] && p->groups[g].of_node_group == node_group) had = g;
        int next = had < 0 ? -1 : find_width(p, node_group, had + 1);
        int to = next >= 0 ? next : find_width(p, node_group, 0);
        if (had >= 0) taken[had] = false;
        if (to >= 0) taken[to] = true;
        if (next >= 0) return true;
    }
    return false;
}

struct check_problem check_with_widths(const struct check_problem *p, const bool *taken,
                                       struct arena *arena)
{
    struct check_problem one = *p;
    one.width_per_group = false;
    one.groups = TAKE(arena, p->group_count, struct check_group);
    memcpy(one.groups, p->groups, (size_t)p->group_count * sizeof *p->groups);
    for (int g = 0; g < p->group_count; g++)
        one.groups[g].excluded = p->groups[g].excluded || !taken[g];
    return one;
}

static enum status check_names(const struct check_proof *k, const cJSON *list, const bool *taken)
{
    const char *names[MOST_SEATS + 1];
    const cJSON *next = list->child;
    bool same = true;
    for (int g = 0, named; g < k->p->group_count; g++) {
        if (!taken[g]) continue;
        if (!next) return check_refuse(&k->reader, "combinations", "groups: too few");
        TRY(value_name(&k->reader, next, "combinations.groups", check_group_names(k->p, names),
                       &named));
        same = same && named == g;
        next = next->next;
    }
    return same && !next ? OK
                         : NOT_PROVEN_HERE(k, "combinations: expected every combination of one "
                                              "width for each node group, in order");
}

static enum status audit_combination(const struct check_proof *all, const cJSON *v,
                                     const bool *taken)
{
    struct check_proof k = *all;
    struct check_graph graph;
    struct check_result own = *all->result;
    bool none = false;
    const cJSON *groups;
    const struct value_field fields[] = {
        {"groups", .value = &groups, .type = cJSON_Array},
        {"?infeasible", .flag = &none},
        {.key = "?counted"},
        {.key = "?paths"},
        {.key = "?boxes"},
        {NULL},
    };
    TRY(value_fields(&k.reader, v, "combinations", fields, NULL));
    TRY(check_names(&k, groups, taken));
    const struct check_problem one = check_with_widths(all->p, taken, k.arena);
    TRY(check_build_graph(&graph, &one, k.arena));
    k.p = &one, k.g = &graph, k.result = &own;
    if (none) own.infeasible = true, own.bound_ns = -1;
    TRY(check_audit_proof(&k, v));
    own.bound_ns = all->result->bound_ns, own.infeasible = all->result->infeasible;
    *all->result = own;
    return OK;
}

enum status check_by_group(struct check_proof *k, const cJSON *proof)
{
    const cJSON *list = value_get(proof, "combinations"), *next;
    bool taken[MOST_SEATS] = {false};
    if (value_get(proof, "paths") || value_get(proof, "boxes") || value_get(proof, "counted"))
        return check_refuse(&k->reader, "proof",
                            "expected paths, boxes and counted of each combination, with "
                            "width_per_group");
    TRY(value_expect(&k->reader, list, "combinations", cJSON_Array));
    check_open_replay(&k->replay, k->g, k->work, k->arena);
    if (value_get(proof, "incumbent"))
        TRY(check_incumbent(k, value_get(proof, "incumbent"), k->result->iteration_ns));
    next = list->child;
    check_next_combination(k->p, taken); // the first one
    do {
        struct arena_mark mark = arena_set_mark(k->arena);
        if (!next) return NOT_PROVEN_HERE(k, "combinations: too few");
        TRY(audit_combination(k, next, taken));
        next = next->next;
        arena_reset(k->arena, mark);
    } while (check_next_combination(k->p, taken));
    return next ? NOT_PROVEN_HERE(k, "combinations: too many") : OK;
}
