// Names in documents.
#include "solve/checker/read/problem.h"

const char *const check_mode_names[] = {"none", "selective", "full", "first_layers", "swap", NULL};
const char *const check_objective_names[] = {"iteration_time", "pipette", "max_load", "cost", NULL};

const char *const *check_group_names(const struct check_problem *p, const char **names)
{
    for (int g = 0; g < p->group_count; g++) names[g] = p->groups[g].name;
    names[p->group_count] = NULL;
    return names;
}
