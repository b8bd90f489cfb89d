// A problem's space and the prices of its layouts, for the command that hears certificates.
#ifndef PLUMBLINE_SOLVE_SPACE_OPEN_H
#define PLUMBLINE_SOLVE_SPACE_OPEN_H

#include "solve/check_space.h"

enum status space_open(struct check_space *space, struct check_pricer pricers[2], const char *problem_path, struct arena *arena, struct error *err);

#endif
