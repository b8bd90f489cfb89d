// See tests/support/draws/fabric.h.
#include "tests/support/draws/fabric.h"

#include <math.h>

static struct collective_times random_sweep(struct random *rng, const char *gpu, int64_t nodes,
                                            struct arena *arena)
{
    int points = (int)random_between(rng, 1, 3);
    struct collective_times t = {.gpu = gpu,
                                 .between_nodes = true,
                                 .ranks = nodes * random_between(rng, 1, 8),
                                 .nodes = nodes,
                                 .point_count = points,
                                 .bytes = TAKE(arena, points, double),
                                 .seconds = TAKE(arena, points, double)};
    for (int i = 0; i < points; i++) {
        t.bytes[i] = (double)random_between(rng, 1, 100) * pow(100, i + 1);
        t.seconds[i] = (double)random_between(rng, 1, 40) * pow(7, i) * 1e-6;
        if (i && t.bytes[i] <= t.bytes[i - 1]) t.bytes[i] = 2 * t.bytes[i - 1];
        if (i && t.seconds[i] < t.seconds[i - 1]) t.seconds[i] = t.seconds[i - 1];
    }
    return t;
}

void random_fabric(struct costs *c, const struct random *rng, struct arena *arena)
{
    struct random own = {rng->state ^ UINT64_C(0x6e6f646573)};
    if (random_chance(&own, 50))
        c->node_doubling_share = exactly((double)random_between(&own, 30, 100) / 100);
    if (random_chance(&own, 50)) return;
    struct collective_times *all =
        TAKE(arena, c->collective_count + 3 * c->gpu_count, struct collective_times);
    for (int i = 0; i < c->collective_count; i++) all[i] = c->collectives[i];
    c->collectives = all;
    for (int g = 0; g < c->gpu_count; g++)
        for (int64_t i = 0, nodes = 2; i < 3; i++)
            if (random_chance(&own, 60))
                all[c->collective_count++] =
                    random_sweep(&own, c->gpus[g].gpu, nodes += random_between(&own, 0, 3), arena);
}

static void random_sums(struct node_group *g, const struct random *rng, struct arena *arena)
{
    enum { MOST = 3 };
    struct random own = {rng->state ^ UINT64_C(0x73756d73)};
    if (random_chance(&own, 60)) return;
    g->switch_sums = TAKE(arena, MOST, struct ring_rate);
    for (int i = (int)random_between(&own, 1, MOST), gpus = 1; i > 0; i--) {
        gpus += (int)random_between(&own, 1, 3);
        g->switch_sums[g->switch_sum_count++] =
            (struct ring_rate){gpus, 0, 4e9 * (double)random_between(&own, 1, 300)};
    }
}

void random_rings(struct node_group *g, const struct random *rng, struct arena *arena)
{
    enum { MOST = 8 };
    random_sums(g, rng, arena);
    struct random own = {rng->state ^ UINT64_C(0x72696e6773)};
    if (random_chance(&own, 50)) return;
    g->rings = TAKE(arena, MOST, struct ring_rate);
    for (int i = (int)random_between(&own, 1, MOST); i > 0; i--) {
        struct ring_rate r = {(int)random_between(&own, 2, random_chance(&own, 70) ? 4 : 8),
                              (int)random_between(&own, 0, 4),
                              4e9 * (double)random_between(&own, 1, 200)};
        bool twice = false;
        for (int k = 0; k < g->ring_count; k++)
            twice = twice || (g->rings[k].gpus == r.gpus && g->rings[k].apart == r.apart);
        if (!twice) g->rings[g->ring_count++] = r;
    }
}
