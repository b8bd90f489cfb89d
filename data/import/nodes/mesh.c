// See mesh.h.
#include "data/import/nodes/mesh.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "data/import/nodes/rings.h"

struct mesh mesh_open(int count, struct arena *arena)
{
    return (struct mesh){.count = count,
                         .direct = TAKE(arena, count * count, double),
                         .switched = TAKE(arena, count, double),
                         .island = TAKE(arena, count, int),
                         .apart = TAKE(arena, count * count, bool),
                         .bus = TAKE(arena, count, double)};
}

// NVIDIA's data sheets: 160, 300, 600, 900 and 1,800 GB/s both ways over 4, 6, 12, 18 and 18 links;
// 112.5 over 4 of a GA102.
double mesh_nvlink_rate(int capability)
{
    return capability >= 100  ? 50e9
           : capability == 86 ? 14.0625e9
           : capability >= 70 ? 25e9
           : capability >= 60 ? 20e9
                              : 0;
}

// AMD's data sheets, both ways: MI50, MI60 and MI100 92 GB/s a link, MI200 100, MI300 128, MI350
// 153.6.
double mesh_xgmi_rate(const char *architecture)
{
    static const struct {
        const char *name;
        double bytes_per_s;
    } rates[] = {{"906", 46e9}, {"908", 46e9}, {"910", 50e9}, {"90a", 50e9},
                 {"940", 64e9}, {"941", 64e9}, {"942", 64e9}, {"950", 76.8e9}};
    if (!strncmp(architecture, "gfx", 3)) architecture += 3;
    for (size_t i = 0; i < ARRAY_LENGTH(rates); i++)
        if (!strncmp(architecture, rates[i].name, 3)) return rates[i].bytes_per_s;
    return 0;
}

// ---- pairs

static double direct(const struct mesh *m, int a, int b)
{
    return fmin(m->direct[a * m->count + b], m->direct[b * m->count + a]);
}

static double by_switch(const struct mesh *m, int a, int b)
{
    return m->island[a] == m->island[b] ? fmin(m->switched[a], m->switched[b]) : 0;
}

double mesh_joined(const struct mesh *m, int a, int b)
{
    return fmax(direct(m, a, b), by_switch(m, a, b));
}

// What memory and processors pass on of PCIe 4 (or 3, D) and 5 with 16 lanes: copies between GPUs
// with peer access off, 22.2 of 31.5 and 37.2 of 63 GB/s (NVIDIA/nccl issues 814 and 1264).
static double by_host(double bus) { return bus > 40e9 ? 0.59 * bus : 0.705 * bus; }

static double by_bus(const struct mesh *m, int a, int b)
{
    double bus = fmin(m->bus[a], m->bus[b]);
    return m->apart[a * m->count + b] && !m->bus_stated ? by_host(bus) : bus;
}

// By links of their own, or else through one other GPU, or over PCIe.
static double of_pair(const struct mesh *m, int a, int b)
{
    double best = mesh_joined(m, a, b);
    for (int k = 0; k < m->count && !(best > 0); k++)
        if (k != a && k != b) best = fmax(best, fmin(mesh_joined(m, a, k), mesh_joined(m, k, b)));
    return best > 0 ? best : by_bus(m, a, b);
}

static double slowest_pair(const struct mesh *m)
{
    double least = INFINITY;
    for (int a = 0; a < m->count; a++)
        for (int b = 0; b < a; b++) least = fmin(least, of_pair(m, a, b));
    return isfinite(least) ? least : 0;
}

// Whether rings are to be searched for: not where one switch, or PCIe alike, joins all.
static bool has_links(const struct mesh *m)
{
    for (int i = 1; i < m->count * m->count; i++)
        if (m->direct[i] > 0 || m->island[i % m->count] != *m->island ||
            (i % (m->count + 1) && m->apart[i] != m->apart[1]))
            return true;
    return false;
}

// ---- rings

static double rounded(double rate) { return round(rate / 1e3) * 1e3; }

// Over links alone, or over PCIe if that is more.
static double of_set(const struct mesh *m, const int *gpus, int count, struct arena *arena)
{
    struct arena_mark before = arena_set_mark(arena);
    double bus = INFINITY, switched = INFINITY, rate = 0,
           *capacity = count <= RINGS_GPUS_MAX ? TAKE(arena, count * count, double) : NULL;
    for (int i = 0; i < count; i++) {
        switched = fmin(switched, by_switch(m, gpus[0], gpus[i]));
        for (int k = 0; k < count; k++) {
            if (k != i) bus = fmin(bus, by_bus(m, gpus[i], gpus[k]));
            if (k != i && capacity) capacity[i * count + k] = mesh_joined(m, gpus[i], gpus[k]);
        }
    }
    if (switched > 0) rate = switched; // however many: a GPU's links are all rings'
    else if (capacity) rate = rings_rate(capacity, count, arena);
    arena_reset(arena, before);
    return rounded(fmax(rate, bus));
}

// The slowest of all rings of `gpus` GPUs that are `apart`.
static double of_form(const struct mesh *m, int gpus, int apart, struct arena *arena)
{
    double least = INFINITY;
    int *set = TAKE(arena, gpus, int);
    for (int block = 0; (block + 1) * gpus * apart <= m->count; block++)
        for (int first = 0; first < apart; first++) {
            for (int i = 0; i < gpus; i++) set[i] = block * gpus * apart + first + i * apart;
            least = fmin(least, of_set(m, set, gpus, arena));
        }
    return least;
}

// One entry for all distances where they are equal. false: something joins no ring of some GPUs.
static bool put_rings(struct node_group *g, const struct mesh *m, struct arena *arena)
{
    int most = m->count < RINGS_GPUS_MAX ? m->count : RINGS_GPUS_MAX;
    g->rings = TAKE(arena, most * most, struct ring_rate);
    for (int gpus = 2; gpus <= most; gpus++) {
        int first = g->ring_count;
        bool equal = true;
        for (int apart = 1; gpus * apart <= m->count; apart++) {
            double rate = of_form(m, gpus, apart, arena);
            if (!(rate > 0)) return false;
            g->rings[g->ring_count++] = (struct ring_rate){gpus, apart, rate};
            equal = equal && rate == g->rings[first].bytes_per_s;
        }
        if (equal && g->ring_count > first) {
            g->ring_count = first + 1;
            g->rings[first].apart = 0;
            if (g->rings[first].bytes_per_s == g->intra.bytes_per_s) g->ring_count--;
        }
    }
    return true;
}

// ---- sums in switches

enum { HEADS_MAX = 32 };

// The bus bandwidth of an all-reduce by NCCL's own model: each of the GPUs that form sums moves its
// part twice and all others' once over its link, at one of these rates (GB/s). NCCL at 5067397c:
// src/graph/search.cc (ncclTopoSearchTryNvls, its lists of speeds), tuning.cc (nvlsEfficiency), the
// headers of topologies (rates of links) and of devices (NCCL_MAX_NVLS_ARITY).
static double rate_of_sums(double link, int capability, int gpus)
{
    static const double hopper[] = {60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3, 0},
                        blackwell[] = {90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18, 0};
    bool newer = capability >= 100;
    const double *rate = newer ? blackwell : hopper;
    int heads = gpus < HEADS_MAX ? gpus : HEADS_MAX;
    link *= newer ? 40.1e-9 / 50 : 20.6e-9 / 25;
    while (*rate > 0 && *rate * (heads + 1) > link) rate++;
    return 2 * (heads - 1) * *rate * (newer ? 0.74 : 0.85) * 1e9;
}

static void put_sums(struct node_group *g, const struct mesh *m, double link, struct arena *arena)
{
    enum { SIZES_MAX = 16 };
    g->switch_sums = TAKE(arena, SIZES_MAX, struct ring_rate), g->switch_sum_count = 0;
    if (m->capability < 90) return;
    for (int gpus = 4; gpus <= m->count;
         gpus = gpus < m->count && 2 * gpus > m->count ? m->count : 2 * gpus) {
        double rate = rounded(rate_of_sums(link, m->capability, gpus));
        if (rate > 0) g->switch_sums[g->switch_sum_count++] = (struct ring_rate){gpus, 0, rate};
    }
}

bool mesh_put(struct node_group *g, const struct mesh *m, const char **why, struct arena *arena)
{
    double slowest = rounded(slowest_pair(m)), switches = INFINITY, bus = INFINITY;
    g->rings = NULL, g->ring_count = 0;
    g->switch_sums = NULL, g->switch_sum_count = 0;
    for (int i = 0; i < m->count; i++) {
        switches = fmin(switches, m->switched[i]);
        bus = fmin(bus, m->bus[i]);
    }
    if (m->count < 2) slowest = bus > 0 && isfinite(bus) ? bus : 1e9; // there is no pair
    *why = "no link_speed, or links of an unknown version";
    if (!(slowest > 0)) return false;
    *why = "more GPUs than a mesh of links is searched for";
    if (has_links(m) && m->count > RINGS_GPUS_MAX) return false;
    g->intra.bytes_per_s = slowest;
    *why = "links do not join all GPUs, and PCIe's speed is not known";
    if (has_links(m) && !put_rings(g, m, arena)) return false;
    if (!has_links(m) && switches > 0) put_sums(g, m, switches, arena);
    *why = has_links(m) ? "the slowest pair" : switches > 0 ? "through switches" : "PCIe";
    return true;
}

// ---- words

enum { SUBSETS_OF = 8 }; // with more GPUs, not every subset is tried

// The best of all subsets, and its GPUs; NULL: not tried.
static const char *best_text(const struct mesh *m, int gpus, double than, struct arena *arena)
{
    int set[SUBSETS_OF], chosen = 0;
    double best = than;
    const char *text = "";
    for (int subset = 1; m->count <= SUBSETS_OF && subset < 1 << m->count; subset++) {
        int at = 0;
        if (__builtin_popcount((unsigned)subset) != gpus) continue;
        for (int i = 0; i < m->count; i++)
            if (subset >> i & 1) set[at++] = i;
        double rate = of_set(m, set, gpus, arena);
        if (rate > best) best = rate, chosen = subset;
    }
    for (int i = 0; i < m->count; i++)
        if (chosen >> i & 1) text = arena_print(arena, "%s %d", text, i);
    return chosen ? arena_print(arena, " (best %g: GPUs%s)", best * 1e-9, text) : "";
}

const char *mesh_text(const struct node_group *g, const struct mesh *m, struct arena *arena)
{
    const char *text = NULL;
    for (int i = 0; i < g->switch_sum_count; i++)
        text = arena_print(arena, "%s %d GPUs %g GB/s",
                           text ? arena_print(arena, "%s, of", text) : "all-reduces in switches of",
                           g->switch_sums[i].gpus, g->switch_sums[i].bytes_per_s * 1e-9);
    if (!has_links(m)) return text;
    for (int gpus = 2; gpus <= m->count && gpus <= RINGS_GPUS_MAX; gpus *= 2) {
        double rate = g->intra.bytes_per_s;
        for (int i = g->ring_count - 1; i >= 0; i--)
            if (g->rings[i].gpus == gpus && g->rings[i].apart <= 1) rate = g->rings[i].bytes_per_s;
        text = arena_print(arena, "%s %d GPUs %g GB/s%s",
                           text ? arena_print(arena, "%s, of", text) : "rings of", gpus,
                           rate * 1e-9, best_text(m, gpus, rate, arena));
    }
    return text;
}

static const struct gpu_links known[] = {
    {"p100", 60, 4, ""},    {"v100", 70, 6, ""},    {"a100", 80, 12, ""},    {"a800", 80, 8, ""},
    {"a30", 80, 4, ""},     {"a40", 86, 4, ""},     {"a6000", 86, 4, ""},    {"rtx3090", 86, 4, ""},
    {"h100", 90, 18, ""},   {"h200", 90, 18, ""},   {"h800", 90, 8, ""},     {"h20", 90, 18, ""},
    {"gh", 90, 18, ""},     {"b200", 100, 18, ""},  {"b300", 100, 18, ""},   {"gb200", 100, 18, ""},
    {"gb300", 100, 18, ""}, {"t4", 75, 0, ""},      {"l4", 89, 0, ""},       {"l20", 89, 0, ""},
    {"l40", 89, 0, ""},     {"rtx4090", 89, 0, ""}, {"rtx5090", 120, 0, ""}, {"mi50", 0, 2, "906"},
    {"mi60", 0, 2, "906"},  {"mi100", 0, 3, "908"}, {"mi210", 0, 3, "90a"},  {"mi250", 0, 8, "90a"},
    {"mi300", 0, 7, "942"}, {"mi325", 0, 7, "942"}, {"mi350", 0, 7, "950"},  {"mi355", 0, 7, "950"},
};

const struct gpu_links *mesh_links_of(const char *gpu)
{
    const struct gpu_links *found = NULL;
    for (size_t i = 0; i < ARRAY_LENGTH(known) && gpu; i++) {
        size_t length = strlen(known[i].name);
        bool longer = isdigit((unsigned char)known[i].name[length - 1]) &&
                      isdigit((unsigned char)gpu[strnlen(gpu, length)]); // "a4000" is no "a40"
        if (!longer && !strncasecmp(gpu, known[i].name, length)) found = &known[i];
    }
    return found;
}

// GeForce from the 40 series on: their driver has none (tinygrad/open-gpu-kernel-modules adds it).
bool mesh_has_peers(const char *gpu)
{
    return strncasecmp(gpu, "rtx4", 4) != 0 && strncasecmp(gpu, "rtx5", 4) != 0;
}

enum status mesh_check_gpu(const char *gpu, bool amd, int capability, struct said *said,
                           const char *path, struct error *err)
{
    const struct gpu_links *of = mesh_links_of(gpu);
    if (!of) return OK;
    if (amd == (of->capability > 0))
        return refuse(err, "%s: these are %s's GPUs, but %.60s is %s's: --like, --gpu", path,
                      amd ? "AMD" : "NVIDIA", gpu, amd ? "NVIDIA" : "AMD");
    // 100 and 103 have the same links
    if (!amd && capability > 0 && capability != of->capability && capability / 10 != 10)
        said_assume(said, "GPUs of capability %d.%d are described as %s, which has %d.%d",
                    capability / 10, capability % 10, gpu, of->capability / 10,
                    of->capability % 10);
    return OK;
}
