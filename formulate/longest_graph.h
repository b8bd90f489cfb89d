// What else the files of this room ask a compiled graph for.
#ifndef PLUMBLINE_FORMULATE_LONGEST_GRAPH_H
#define PLUMBLINE_FORMULATE_LONGEST_GRAPH_H

#include <stdbool.h>

#include "formulate/longest.h"

int graph_stage_count(const struct graph *g);
int graph_node_count(const struct graph *g);            // of the walk
const bool *graph_parts(const struct graph *g);         // [PART_COUNT]: which a transfer has

#endif
