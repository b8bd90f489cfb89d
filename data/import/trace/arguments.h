// "args" of a trace's events.
#pragma once

#include "data/import/trace/ops.h"

// Resets everything to 0 and empty, before each event.
void trace_arguments_clear(struct trace_arguments *a, bool whole_lists);
// Reads from after the bracket to the end of the object. Absent values stay unchanged; of more
// inputs than TRACE_INPUTS, the first are kept. whole_lists: also sizes, types and values of
// inputs.
enum status trace_arguments_read(struct json_stream *s, int64_t *correlation, bool whole_lists,
                                 struct trace_arguments *a, struct error *err);
