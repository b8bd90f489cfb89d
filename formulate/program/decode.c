// The decision in a solution's column values. The textbook form has it in other columns, which
// textbook.c reads.
#include "formulate/program/formulate.h"

#include "formulate/program/textbook.h"

bool formulation_decode(const struct formulation *f, const double *values, int *chosen)
{
    if (!f->choice_column) return textbook_decode(f, values, chosen);
    for (int s = 0; s < f->choices->priced->stage_count; s++) {
        int found = 0;
        for (int i = 0; i < f->choices->stages[s].count; i++) {
            if (values[f->choice_column[s][i]] < 0.5) continue;
            chosen[s] = i;
            found++;
        }
        if (found != 1) return false;
    }
    return true;
}
