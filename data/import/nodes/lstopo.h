// hwloc's lstopo as the GPUs and NICs of a node, and what joins them.
#pragma once

#include "data/import/nodes/tables.h"

bool lstopo_is(const char *text, size_t size); // its XML, or the tree that it prints
// BAD_INPUT: no GPU is named, or the XML is cut short.
enum status lstopo_read(struct topology *t, const char *text, size_t size, struct error *err);
