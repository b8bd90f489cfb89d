// What the command lines of compute and compress request: shapes, degrees, micro-batches, ranks.
#ifndef PLUMBLINE_MEASURE_REQUEST_H
#define PLUMBLINE_MEASURE_REQUEST_H

#include "data/text/document.h"
#include "measure/sampling/cells.h"

struct request_settings {
    const char *model;  // a file; NULL: none
    const char *shapes; // in words, separated by ';'; NULL: none
    const char *tensors, *contexts, *micro_batches, *ranks; // "1,2,4"
    const char *experts;                                    // NULL: none
    const char *recompute;                                  // "none,selective,full"
    int64_t sequence;
    int precision;
    bool quick, fused, graphs;
    double sustained_s;  // 0: no turns without a rest
    int gradients;       // in gradient_names
    int recipe;          // enum recipe
    struct model loaded; // set by request_read if a model was named
};

extern const char *const gradient_names[]; // "fp32", "same"

// GPT-2 XL's shape where neither a model nor shapes are given. BAD_INPUT names the option.
enum status request_read(struct cells_request *request, struct request_settings *settings,
                         struct arena *arena, struct error *err);

// The widest possible head: beyond it random scores leave the range of the exponential that
// softmax uses.
enum { HEAD_WIDTH_MAX = 1024 };

#endif
