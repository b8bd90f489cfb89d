// What rings over a mesh get together, against a linear program over all rings, enumerated here and
// solved by Bland's rule; its laws; and what nodes of known machines get.
#include "data/import/nodes/mesh.h"
#include "data/import/nodes/rings.h"
#include "tests/support/check.h"

enum { GPUS_MOST = 8, ROWS_MOST = 28, CYCLES_MOST = 2520 };

static int meshes = 1000;
ARGUMENT(meshes)

static uint64_t seed = 40;
ARGUMENT(seed)

static int below(int bound)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((seed >> 33) % (uint64_t)bound);
}

// ---- the enumeration

struct all_rings {
    int gpus, count;
    int order[CYCLES_MOST][GPUS_MOST];
};

// Each undirected cycle once: from GPU 0, its second GPU below its last.
static void enumerate(struct all_rings *all, int *order, unsigned used, int at)
{
    if (at == all->gpus) {
        if (order[1] > order[at - 1]) return;
        memcpy(all->order[all->count++], order, sizeof all->order[0]);
        return;
    }
    for (int gpu = 1; gpu < all->gpus; gpu++) {
        if (used >> gpu & 1) continue;
        order[at] = gpu;
        enumerate(all, order, used | 1u << gpu, at + 1);
    }
}

static int pair(int a, int b) { return a > b ? a * (a - 1) / 2 + b : b * (b - 1) / 2 + a; }

// A full tableau: rings, then what each pair has left, then the right side; the last row the
// objective.
static double best_of_all(const double *capacity, int gpus, struct arena *arena)
{
    struct all_rings *all = TAKE(arena, 1, struct all_rings);
    int order[GPUS_MOST] = {0}, rows = gpus * (gpus - 1) / 2, basis[ROWS_MOST];
    all->gpus = gpus;
    enumerate(all, order, 1, 1);
    int width = all->count + rows + 1;
    double *t = TAKE(arena, (rows + 1) * width, double);
    for (int c = 0; c < all->count; c++) {
        t[rows * width + c] = -1;
        for (int i = 0; i < gpus; i++)
            t[pair(all->order[c][i], all->order[c][(i + 1) % gpus]) * width + c] = 1;
    }
    for (int a = 0; a < gpus; a++)
        for (int b = 0; b < a; b++) {
            int r = pair(a, b);
            t[r * width + all->count + r] = 1;
            t[r * width + width - 1] = capacity[a * gpus + b];
            basis[r] = all->count + r;
        }
    for (;;) {
        int enters = 0, leaves = -1;
        while (enters < width - 1 && t[rows * width + enters] > -1e-9) enters++;
        if (enters == width - 1) return 2 * t[rows * width + width - 1];
        for (int r = 0; r < rows; r++) {
            double *row = &t[r * width];
            if (row[enters] < 1e-9) continue;
            double ratio = row[width - 1] / row[enters],
                   best = leaves < 0 ? INFINITY
                                     : t[leaves * width + width - 1] / t[leaves * width + enters];
            if (ratio < best - 1e-12 || (ratio < best + 1e-12 && basis[r] < basis[leaves]))
                leaves = r;
        }
        assert_true(leaves >= 0);
        double pivot = t[leaves * width + enters];
        for (int k = 0; k < width; k++) t[leaves * width + k] /= pivot;
        for (int r = 0; r <= rows; r++) {
            double times = t[r * width + enters];
            if (r == leaves || times == 0) continue;
            for (int k = 0; k < width; k++) t[r * width + k] -= times * t[leaves * width + k];
        }
        basis[leaves] = enters;
    }
}

static double *random_mesh(int gpus, struct arena *arena)
{
    double *capacity = TAKE(arena, gpus * gpus, double);
    int density = 5 + below(6), most = 1 + below(4);
    for (int a = 0; a < gpus; a++)
        for (int b = 0; b < a; b++)
            capacity[a * gpus + b] = capacity[b * gpus + a] = below(10) < density ? 1 + below(most)
                                                                                  : 0;
    return capacity;
}

TEST(as_the_enumeration_says)
{
    struct arena_mark mark = arena_set_mark(arena);
    int none = 0, fractions = 0;
    for (int i = 0; i < meshes; i++, arena_reset(arena, mark)) {
        int gpus = i % 12 ? 3 + i % 5 : 8;
        double *capacity = random_mesh(gpus, arena), found = rings_rate(capacity, gpus, arena),
               best = best_of_all(capacity, gpus, arena);
        if (fabs(found - best) > 1e-6) fail_msg("mesh %d: %.9g, but %.9g", i, found, best);
        none += best < 1e-9;
        fractions += fabs(best - round(best)) > 1e-6;
    }
    printf("%d meshes, %d without a ring, %d whose rings share links\n", meshes, none, fractions);
    assert_true(none && fractions);
}

TEST(laws)
{
    for (int gpus = 3; gpus <= 12; gpus++) {
        double *one = TAKE(arena, gpus * gpus, double), *more = TAKE(arena, gpus * gpus, double);
        for (int i = 0; i < gpus * gpus; i++) one[i] = i % (gpus + 1) ? 1 : 0;
        // every GPU sends to all others at once
        assert_true(fabs(rings_rate(one, gpus, arena) - (gpus - 1)) <= 1e-6);
        for (int i = 0; i < gpus * gpus; i++) more[i] = 25e9 * one[i];
        assert_true(fabs(rings_rate(more, gpus, arena) - 25e9 * (gpus - 1)) <= 1e3);
        double before = rings_rate(one, gpus, arena);
        one[1] = one[gpus] = 0; // a link fails
        assert_true(rings_rate(one, gpus, arena) <= before + 1e-9);
        for (int i = 1; i < gpus; i++) one[i] = one[i * gpus] = 0; // a GPU has none
        assert_true(fabs(rings_rate(one, gpus, arena) - 0) <= 0);
    }
}

// A link less never helps, and no ring set is more than what any GPU's links carry.
TEST(bounds)
{
    for (int i = 0; i < 200; i++) {
        int gpus = 4 + below(5);
        double *capacity = random_mesh(gpus, arena), rate = rings_rate(capacity, gpus, arena);
        for (int a = 0; a < gpus; a++) {
            double sum = 0;
            for (int b = 0; b < gpus; b++) sum += capacity[a * gpus + b];
            assert_true(rate <= sum + 1e-6);
        }
        int a = below(gpus), b = below(gpus);
        capacity[a * gpus + b] = capacity[b * gpus + a] = 0;
        assert_true(rings_rate(capacity, gpus, arena) <= rate + 1e-6);
    }
}

static double listed(const struct node_group *g, int gpus, int apart)
{
    for (int i = 0; i < g->ring_count; i++)
        if (g->rings[i].gpus == gpus && (!g->rings[i].apart || g->rings[i].apart == apart))
            return g->rings[i].bytes_per_s;
    return g->intra.bytes_per_s;
}

static void join(struct mesh *m, int a, int b, double rate)
{
    m->direct[a * m->count + b] = m->direct[b * m->count + a] = rate;
}

// Two rings of quads, each pair of quads' GPUs joined: the DGX-1 with V100.
TEST(dgx_1)
{
    static const int links[][3] = {{0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {1, 2, 2},
                                   {1, 3, 1}, {2, 3, 2}, {0, 4, 2}, {1, 5, 2}};
    struct mesh m = mesh_open(8, arena);
    struct node_group g = {0};
    const char *why;
    for (size_t i = 0; i < ARRAY_LENGTH(links); i++) {
        int a = links[i][0], b = links[i][1];
        join(&m, a, b, 25e9 * links[i][2]);
        if (b < 4) join(&m, a + 4, b + 4, 25e9 * links[i][2]);
    }
    join(&m, 2, 6, 25e9), join(&m, 3, 7, 25e9);
    for (int i = 0; i < 8; i++) m.bus[i] = 12e9;
    assert_true(mesh_put(&g, &m, &why, arena));
    assert_true(fabs(listed(&g, 2, 1) - 25e9) <= 0);
    assert_true(fabs(listed(&g, 4, 1) - 100e9) <= 0);
    assert_true(fabs(listed(&g, 8, 1) - 150e9) <= 0);
    assert_true(fabs(listed(&g, 4, 2) - 50e9) <= 0);
    assert_true(fabs(listed(&g, 2, 3) - 12e9) <= 0); // 0 and 3 have links, 2 and 5 none
    assert_true(fabs(g.intra.bytes_per_s - 25e9) <= 0);
    assert_string_equal(mesh_text(&g, &m, arena),
                        "rings of 2 GPUs 25 GB/s (best 50: GPUs 1 2), of 4 GPUs 100 GB/s, "
                        "of 8 GPUs 150 GB/s");
}

// Through switches nothing depends on which GPUs they are.
TEST(switches)
{
    struct mesh m = mesh_open(16, arena);
    struct node_group g = {0};
    const char *why;
    for (int i = 0; i < 16; i++) m.switched[i] = 150e9;
    assert_true(mesh_put(&g, &m, &why, arena));
    assert_int_equal(g.ring_count, 0);
    assert_true(fabs(g.intra.bytes_per_s - 150e9) <= 0);
    assert_null(mesh_text(&g, &m, arena));
}

// Bridges between pairs: two GPUs get the bridge, more the bus; without a bus, nothing is known.
TEST(bridges)
{
    struct mesh m = mesh_open(4, arena);
    struct node_group g = {0};
    const char *why;
    join(&m, 0, 1, 300e9), join(&m, 2, 3, 300e9);
    assert_false(mesh_put(&g, &m, &why, arena));
    for (int i = 0; i < 4; i++) m.bus[i] = 31e9;
    assert_true(mesh_put(&g, &m, &why, arena));
    assert_true(fabs(listed(&g, 2, 1) - 300e9) <= 0);
    assert_true(fabs(listed(&g, 2, 2) - 31e9) <= 0);
    assert_true(fabs(listed(&g, 4, 1) - 31e9) <= 0);
    assert_true(fabs(g.intra.bytes_per_s - 31e9) <= 0);
}
