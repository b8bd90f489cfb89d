// What frameworks' newest configurations can express of a model.
#ifndef PLUMBLINE_DATA_FRAMEWORKS_MODELS_H
#define PLUMBLINE_DATA_FRAMEWORKS_MODELS_H

#include "data/frameworks/setting.h"
#include "data/inputs/framework.h"
#include "data/inputs/problem.h"

// What the framework cannot express of the model: texts of no more than GAPS_MAX gaps; returns how
// many. None where the model's code is the script's (DeepSpeed), or where its layers were measured.
enum { GAPS_MAX = 32 };
int framework_gaps(const char **texts, enum framework framework, const struct problem *p,
                   struct arena *arena);

// BAD_INPUT: the space's framework cannot express the model; it says what, and which can.
enum status framework_check_model(const struct problem *p, struct arena *arena, struct error *err);

// The flavor of torchtitan's models that the model is, of 0.2 (TOML) or of later ones; NULL: none.
const struct torchtitan_flavor *titan_flavor(const struct model *model, bool toml,
                                             struct arena *arena);

// The flavor that the problem's model is, but for dimensions: from 0.3 on a configuration states
// them (models/llama3, qwen3, deepseek_v3: __init__.py). NULL: none.
const struct torchtitan_flavor *titan_base(const struct problem *p, struct arena *arena);

// Llama 4 Maverick: every fourth layer has neither chunks nor positions, and an expert's weight
// multiplies its tokens. (Scout also has norms of unit length in the other layers alone.)
enum { MAVERICK_INTERVAL = 4 };
bool model_is_maverick(const struct model *model, struct arena *arena);

// Of each head's numbers, those that positions turn.
int64_t titan_rotated(const struct shape *s);

// Megatron's way to scale rotary positions (rotary.c).
enum rotary_way { ROTARY_PLAIN, ROTARY_LLAMA3, ROTARY_LINEAR, ROTARY_YARN };
struct core_rotary {
    enum rotary_way way;
    double factor;
};
// Returns what it cannot express of the shape's scaling, NULL: nothing; otherwise the way is
// ROTARY_PLAIN. fractions: a factor of ROTARY_LINEAR need not be a whole number.
const char *core_rotary_of(const struct shape *s, bool fractions, struct core_rotary *r,
                           struct arena *arena);

#endif
