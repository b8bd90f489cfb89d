// Repeatable random numbers (splitmix64): operands, measuring orders and random searches all follow
// from one seed.
#pragma once

#include <stdint.h>

static inline uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// 0 .. bound - 1, bound >= 1; the bias of at most bound / 2^64 does not matter here.
static inline int random_below(uint64_t *state, int bound)
{
    return (int)(random_next(state) % (uint64_t)bound);
}
