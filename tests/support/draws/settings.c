// Draws layouts that recompute in all stages alike.
#include "tests/support/draws/settings.h"

#include "tests/support/random_priced.h"

void settings_draw(struct layout *l, const bool *offered, uint64_t state)
{
    uint64_t own = state * 0x9e3779b97f4a7c15u + 11;
    int mode = (int)random_less(&own, RECOMPUTE_SWAP);
    if (random_less(&own, 8)) return;
    for (int m = RECOMPUTE_SETS; m < RECOMPUTE_COUNT; m++)
        if (offered[m] && random_less(&own, 3) == 0) mode = m;
    if (mode != RECOMPUTE_NONE && !offered[mode]) return;
    l->recompute = 1 + mode;
    if (mode == RECOMPUTE_FIRST_LAYERS) l->recomputed_layers = 1 + (int)random_less(&own, 3);
}
