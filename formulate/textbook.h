// What decode needs of the textbook formulation.
#ifndef PLUMBLINE_FORMULATE_TEXTBOOK_H
#define PLUMBLINE_FORMULATE_TEXTBOOK_H

#include "formulate/formulate.h"

bool textbook_decode(const struct formulation *f, const double *values, int *chosen);

#endif
