// Shared by the files of plans.
#pragma once

#include "data/results/plan.h"

// For the whole plan, read before: its placement.
member_get plan_placement_get;
member_put plan_placement_put;

enum { EXTRAPOLATIONS_MAX = 4096 };
extern const struct members extrapolation_members;
