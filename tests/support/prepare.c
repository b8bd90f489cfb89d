// Schedule, graph and choices of a priced problem.
#include "tests/support/prepare.h"

#include <stdio.h>
#include <stdlib.h>

void prepare(struct prepared *p, struct arena *arena)
{
    struct error err = {0};
    enum status status = schedule_build_priced(&p->schedule, &p->priced, arena, &err);
    if (status == OK) status = graph_compile(&p->graph, &p->schedule, arena, &err);
    if (status == OK) status = choices_build(&p->choices, &p->priced, &p->schedule, arena, &err);
    if (status != OK) {
        fprintf(stderr, "prepare: %s\n", err.text);
        abort();
    }
}
