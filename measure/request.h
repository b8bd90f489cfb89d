// What compute and compress are asked for on the command line: shapes, degrees, micro-batches,
// ranks.
#ifndef PLUMBLINE_MEASURE_REQUEST_H
#define PLUMBLINE_MEASURE_REQUEST_H

#include "data/text/document.h"
#include "measure/sampling/cells.h"

struct request_settings {
    const char *model;  // a file; NULL: none
    const char *shapes; // in words, several apart by ';'; NULL: none
    const char *tensors, *contexts, *micro_batches, *ranks; // "1,2,4"
    const char *recompute;                                  // "none,selective,full"
    int64_t sequence;
    int precision;
    bool quick, fused, graphs;
    struct model loaded; // by request_read, where a model was named
};

// GPT-2 XL's shape where neither a model nor shapes are given. BAD_INPUT names the option.
enum status request_read(struct cells_request *request, struct request_settings *settings,
                         struct arena *arena, struct error *err);

// Widths that a head may have at most: beyond it random scores leave the range of the exponential
// that softmax uses.
enum { HEAD_WIDTH_MAX = 1024 };

#endif
