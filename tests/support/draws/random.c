// Random numbers (splitmix64), and the limits of small problems.
#include <assert.h>

#include "tests/support/problems.h"

uint64_t random_bits(struct random *rng)
{
    uint64_t z = rng->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int64_t random_between(struct random *rng, int64_t low, int64_t high)
{
    assert(low <= high);
    return low + (int64_t)(random_bits(rng) % (uint64_t)(high - low + 1));
}

bool random_chance(struct random *rng, int percent)
{
    return random_between(rng, 1, 100) <= percent;
}

struct random_limits random_limits_small(void)
{
    return (struct random_limits){.layers_max = 9,
                                  .stages_max = 4,
                                  .groups_max = 3,
                                  .micro_batches_max = 6,
                                  .plans_max = 200000,
                                  .flavour = FLAVOUR_ANY};
}
