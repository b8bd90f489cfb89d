// A line of people's words, cut into numbers, signs and words.
#pragma once

#include <stdint.h>

#include "data/base/arena.h"

enum { TOKENS_MOST = 512, TOKEN_TEXT = 32, TOKENS_NEAR = 8 };

struct token {
    char text[TOKEN_TEXT]; // of a number its unit, "" where none follows; of a sign "x", "|", "/"
    double value;          // NAN: no number
    int gpu;               // gpus.h; -1: none
};
struct tokens {
    struct token tokens[TOKENS_MOST];
    int count;
    struct arena *arena;
};

void tokens_cut(struct tokens *p, const char *line);
// Whether the token at i (there may be none) is one of these words, between blanks.
bool token_is(const struct tokens *p, int i, const char *words);
bool token_is_number(const struct tokens *p, int i);
// A whole number of so many at most, without a unit.
bool token_is_count(const struct tokens *p, int i, double most);
bool tokens_have(const struct tokens *p, const char *words); // one of these words
// The memory of a GPU that a token is, in GB: "80GB", "80 GB"; 0: none.
int token_memory(const struct tokens *p, int i);
// Words that stand between a GPU's name and its number: "SXM5", "80 GB", "x".
bool token_is_filler(const struct tokens *p, int i);

#define NODE_WORDS                                                                                 \
    "node server machine instance host box vm system blade computer workstation " MANY_NODES
#define MANY_NODES                                                                                 \
    "nodes servers machines instances hosts boxes vms systems blades computers workstations"

// "4 nodes", "4 compute nodes", "4x DGX H100", "Nodes: 4", "number of nodes 4"; 0: none.
int64_t sentence_nodes(const struct tokens *p);
// Those that the lines of a text say; 0: none, or several.
int64_t sentences_nodes(const char *text, struct arena *arena);
// "8 GPUs", "8-GPU", "GPUs per node: 8", "GPU count 8"; *each: it says that these are a node's.
int64_t sentence_gpus(const struct tokens *p, bool *each);
// The token that is the number of the GPU at a token; -1: none.
int sentence_count(const struct tokens *p, int gpu);

struct cloud_machine;
// The fastest network cards that a line says a node has, if they are faster than *to's; gpus: a
// node's, for "one per GPU".
void network_read(const struct tokens *p, const char *line, int gpus, struct cloud_machine *to);
