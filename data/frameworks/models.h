// What frameworks' newest configurations can express of a model.
#pragma once

#include "data/frameworks/setting.h"
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

// A shipped model whose layers do what its document does not say (known.c). Llama 4: every fourth
// layer has neither chunks nor positions, and an expert's weight multiplies its tokens; Gemma:
// norms with weights beside 1, an embedding multiplied by the root of its width, a feed-forward
// part gated by GELU. 0: none, or as without it.
enum { LLAMA4_INTERVAL = 4 };
enum norms_place { NORMS_BEFORE, NORMS_BEHIND, NORMS_AROUND }; // attention and feed-forward part
struct known_model {
    const char *shipped;
    const char *provider; // Megatron Bridge's class of its configuration, where it is usable
    int64_t hidden;       // beside it
    int blocks;
    enum norms_place norms;
    bool gemma, llama4;
    bool layer_norms;   // norms without biases that take the mean off
    bool slopes;        // scores fall with distance, by 2^(-8 / heads) a head (ALiBi)
    bool pairs;         // positions turn numbers beside one another
    bool unit_norms;    // queries and keys of length 1 behind positions, where those are
    const char *layer;  // Megatron's, where flags do not say it: core_layer
    double query_width; // scores are multiplied by its -1/2nd power; 0: the head's width
    double score_cap;   // scores and logits are bounded by cap tanh(x / cap)
    double logit_cap;
    double window_base; // rotary base of layers with a window, which is not scaled
};
// Bridge has one of the class with as many layers of this width: the shipped model. NULL: none.
const struct known_model *known_provided(const char *provider, int64_t blocks, int64_t hidden);
// Some model of the class. NULL: none.
const struct known_model *known_provider(const char *provider);
// NULL: none of them.
const struct known_model *known_model(const struct model *model, struct arena *arena);
// The layer that Megatron-LM's flags do not say, by its name in the file that --spec names in the
// folder of launch files; NULL: they say it.
#define CORE_LAYER_FILE "plumbline_layer"
const char *core_layer(const struct model *model, struct arena *arena);
// Whether --spec's words are that file and the name; spec may be NULL.
bool core_layer_is(const char *spec, const char *name);
// Gemma 3's layer is of this name, behind which "_" and the width stand by whose root scores are
// divided (the shipped 27B's: by that of 168, not said). The width by the layer's name, and by
// --spec's words; 0: it is another layer.
#define CORE_LAYER_GEMMA "gemma3"
double core_gemma_scale(const char *layer);
double core_spec_scale(const char *spec);
// Whether it is the shipped model, but for what names and positions are.
bool model_is_shipped(const struct model *model, const char *shipped, struct arena *arena);
// Whether its layers are GPT-2's or OPT's without dropout, in any dimensions, with or without
// biases.
bool model_is_gpt2(const struct model *model, struct arena *arena);

// Whether its layers are Gemma 3's, in any dimensions, and it states how scores are scaled, by a
// whole number.
bool model_is_gemma3(const struct model *model, struct arena *arena);

// Whether torchtitan's layers need classes of their own for the problem (titan_base): a known
// model's, or some with windows shorter than the sequence.
bool titan_needs_classes(const struct problem *p, struct arena *arena);

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
