// "args" of a trace's events.
#ifndef PLUMBLINE_DATA_IMPORT_TRACE_ARGUMENTS_H
#define PLUMBLINE_DATA_IMPORT_TRACE_ARGUMENTS_H

#include "data/import/trace/ops.h"

// Behind its bracket, to the end of it. What is not there is 0 or empty; of more inputs than
// TRACE_INPUTS the first. whole_lists: sizes, types and values of inputs too.
enum status trace_arguments_read(struct json_stream *s, int64_t *correlation, bool whole_lists,
                                 struct trace_arguments *a, struct error *err);

#endif
