// Words by which people call GPUs.
#pragma once

#include <stddef.h>

enum { GPUS_MOST = 64 }; // indices are below it

// The index of the GPU that the word at s (letters and digits) is, or ends with behind a maker's
// word ("DGXH100"); -1: it is none.
int gpu_at(const char *s, size_t length);
const char *gpu_name(int index); // as costs call it, without memory: "h100"

// "two", "dual", "eight": a number that a word says; 0: none.
int count_word(const char *s, size_t length);
