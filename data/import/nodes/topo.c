// plumbline import topo FILE: what `nvidia-smi topo -m` reports about one node: the number of GPUs
// and NICs, the kind of path between every two of them, and the nearest NICs of each GPU. It
// reports no bandwidth, no memory and nothing outside the node. So without -o a table is printed;
// with -o a cluster is written whose missing numbers come from the options, none of them guessed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/places/cluster.h"
#include "data/import/import.h"
#include "data/import/text.h"

enum { ENTITIES_MAX = 256, NVLINKS_MAX = 64 };

// Paths from near to far, in NVML's order; NVLINK + k: k bonded NVLinks.
enum path { PATH_SELF, PATH_PIX, PATH_PXB, PATH_PHB, PATH_NODE, PATH_SYS, PATH_NVLINK };
static const char *const path_names[] = {"X", "PIX", "PXB", "PHB", "NODE", "SYS", NULL};

struct topology {
    const char *path;
    const char **names; // [count]: GPU0 ..., then NIC0 ... or the NICs' own names
    bool *is_gpu;
    int count, gpu_count;
    int *paths;    // [count * count]
    int row_count; // number of its rows read so far
    struct arena *arena;
};

static int path_at(const struct topology *t, int a, int b) { return t->paths[a * t->count + b]; }

static bool read_path(const char *word, int *path)
{
    int64_t links;
    for (*path = 0; path_names[*path]; ++*path)
        if (!strcmp(word, path_names[*path])) return true;
    if (strncmp(word, "NV", 2) || !word_is_whole(word + 2, &links) || links < 1 ||
        links > NVLINKS_MAX)
        return false;
    *path = PATH_NVLINK + (int)links;
    return true;
}

enum { PATH_TEXT = 16 };

static const char *path_text(int path, char text[PATH_TEXT])
{
    if (path > PATH_NVLINK) snprintf(text, PATH_TEXT, "NV%d", path - PATH_NVLINK);
    return path > PATH_NVLINK ? text : path_names[path];
}

static bool names_gpu(const char *word)
{
    int64_t number;
    return !strncmp(word, "GPU", 3) && word_is_whole(word + 3, &number);
}

// ---- reading

// The columns' names up to "CPU Affinity"; the names after that contain blanks and are not needed
// here.
static enum status read_header(struct topology *t, const struct text_lines *lines,
                               struct error *err)
{
    while (t->count < lines->word_count && strcmp(lines->words[t->count], "CPU") &&
           strcmp(lines->words[t->count], "NUMA"))
        t->count++;
    if (t->count > ENTITIES_MAX)
        return text_refuse(lines, err, "expected at most %d GPUs and NICs, found %d", ENTITIES_MAX,
                           t->count);
    t->names = TAKE(t->arena, t->count, const char *);
    t->is_gpu = TAKE(t->arena, t->count, bool);
    t->paths = TAKE(t->arena, t->count * t->count, int);
    for (int i = 0; i < t->count; i++) {
        t->names[i] = arena_copy_text(t->arena, lines->words[i]);
        t->is_gpu[i] = names_gpu(t->names[i]);
        t->gpu_count += t->is_gpu[i];
        for (int k = 0; k < i; k++)
            if (!strcmp(t->names[k], t->names[i]))
                return text_refuse(lines, err, "%.40s appears twice", t->names[i]);
    }
    return OK;
}

static enum status read_row(struct topology *t, const struct text_lines *lines, struct error *err)
{
    int row = t->row_count;
    if (strcmp(lines->words[0], t->names[row]))
        return text_refuse(lines, err, "expected the row of %.40s, found '%.40s'", t->names[row],
                           lines->words[0]);
    if (lines->word_count < 1 + t->count)
        return text_refuse(lines, err, "%.40s: expected %d cells, found %d", t->names[row],
                           t->count, lines->word_count - 1);
    for (int i = 0; i < t->count; i++) {
        int *path = &t->paths[row * t->count + i];
        char other[PATH_TEXT], this[PATH_TEXT];
        if (!read_path(lines->words[1 + i], path) || (*path == PATH_SELF) != (i == row))
            return text_refuse(
                lines, err, "%.40s, %.40s: expected %s, found '%.40s'", t->names[row], t->names[i],
                i == row ? "X" : "NV1 to NV64, PIX, PXB, PHB, NODE or SYS", lines->words[1 + i]);
        if (i < row && *path != path_at(t, i, row))
            return text_refuse(lines, err,
                               "%.40s, %.40s: expected %s as the other way round, found %s",
                               t->names[row], t->names[i], path_text(path_at(t, i, row), other),
                               path_text(*path, this));
    }
    t->row_count++;
    return OK;
}

static enum status read_topology(struct topology *t, const char *text, size_t size,
                                 struct error *err)
{
    struct text_lines *lines = TAKE(t->arena, 1, struct text_lines);
    int path;
    bool more;
    text_open(lines, t->path, text, size, t->arena);
    for (;;) {
        TRY(text_next(lines, &more, err));
        if (!more || (t->count && t->row_count == t->count)) break;
        if (!lines->word_count) continue;
        if (t->count) TRY(read_row(t, lines, err));
        else if (names_gpu(lines->words[0]) &&
                 (lines->word_count < 2 || !read_path(lines->words[1], &path)))
            TRY(read_header(t, lines, err));
    }
    if (!t->count)
        return fail(err, BAD_INPUT,
                    "%s: expected what nvidia-smi topo -m prints, found no header GPU0 ...",
                    t->path);
    if (t->row_count < t->count)
        return fail(err, BAD_INPUT, "%s: expected a row of each of %d GPUs and NICs, found %d rows",
                    t->path, t->count, t->row_count);
    return OK;
}

// ---- evaluation

// The nearest kind of path from a GPU to a NIC; PATH_NVLINK: there is no NIC.
static int nearest(const struct topology *t, int gpu)
{
    int best = PATH_NVLINK;
    for (int i = 0; i < t->count; i++)
        if (!t->is_gpu[i] && path_at(t, gpu, i) < best) best = path_at(t, gpu, i);
    return best;
}

static bool is_nearest(const struct topology *t, int gpu, int nic)
{
    return !t->is_gpu[nic] && path_at(t, gpu, nic) == nearest(t, gpu);
}

// NICs that are nearest to some GPU: the others usually serve storage and management.
static int nics_near(const struct topology *t)
{
    int near = 0;
    for (int nic = 0; nic < t->count; nic++) {
        int gpus = 0;
        for (int gpu = 0; gpu < t->count; gpu++) gpus += t->is_gpu[gpu] && is_nearest(t, gpu, nic);
        near += gpus > 0;
    }
    return near;
}

// Pairs of GPUs by path; returns the number of kinds.
static int count_pairs(const struct topology *t, int pairs[PATH_NVLINK + NVLINKS_MAX + 1])
{
    int kinds = 0;
    for (int a = 0; a < t->count; a++)
        for (int b = a + 1; b < t->count; b++)
            if (t->is_gpu[a] && t->is_gpu[b]) kinds += !pairs[path_at(t, a, b)]++;
    return kinds;
}

static void print_topology(const struct topology *t)
{
    static const char *const meanings[] = {"itself",
                                           "one PCIe bridge",
                                           "several PCIe bridges",
                                           "a PCIe host bridge",
                                           "host bridges of one NUMA node",
                                           "between NUMA nodes"};
    int pairs[PATH_NVLINK + NVLINKS_MAX + 1] = {0};
    char text[PATH_TEXT];
    count_pairs(t, pairs);
    printf("%d GPU%s, %d NIC%s in the node\n\npath  pairs of GPUs\n", t->gpu_count,
           t->gpu_count == 1 ? "" : "s", t->count - t->gpu_count,
           t->count - t->gpu_count == 1 ? "" : "s");
    for (int path = PATH_NVLINK + NVLINKS_MAX; path > 0; path--)
        if (pairs[path])
            printf("%-5s %13d  %s\n", path_text(path, text), pairs[path],
                   path > PATH_NVLINK ? "bonded NVLinks" : meanings[path]);
    printf("\nGPU    nearest NICs\n");
    for (int gpu = 0; gpu < t->count; gpu++) {
        if (!t->is_gpu[gpu]) continue;
        printf("%-6s", t->names[gpu]);
        for (int nic = 0; nic < t->count; nic++)
            if (is_nearest(t, gpu, nic)) printf(" %s", t->names[nic]);
        if (nearest(t, gpu) < PATH_NVLINK) printf(" (%s)\n", path_names[nearest(t, gpu)]);
        else printf(" none\n");
    }
    printf("\nThis table has no bandwidth, no latency, no memory and nothing beyond the node: "
           "measure links, or import\nnvbandwidth and nccl-tests.\n");
}

// ---- the cluster

struct numbers {
    const char *gpu;
    int64_t nodes, memory_bytes, nics;
    double intra_bytes_per_s, intra_latency_s, nic_bytes_per_s, nic_latency_s;
    int nic_kind;
};

static enum status make_cluster(struct reading *r, const struct topology *t,
                                const struct numbers *numbers, struct error *err)
{
    int64_t nics = numbers->nics < 0 ? nics_near(t) : numbers->nics;
    if (!numbers->gpu || !numbers->memory_bytes || !(numbers->intra_bytes_per_s > 0))
        return fail(err, BAD_INPUT,
                    "%s: a topology has no bandwidth and no memory: -o requires --gpu, "
                    "--memory-bytes and --intra-bytes-per-s",
                    t->path);
    if (numbers->nodes > 1 && !(numbers->nic_bytes_per_s > 0))
        return fail(err, BAD_INPUT,
                    "%s: a topology has no bandwidth: --nodes %lld requires --nic-bytes-per-s",
                    t->path, (long long)numbers->nodes);
    if (numbers->nic_bytes_per_s > 0 && nics < 1)
        return fail(err, BAD_INPUT,
                    "%s: --nic-bytes-per-s: there is no NIC; give their number with --nics",
                    t->path);
    struct nic *nic = TAKE(t->arena, 1, struct nic);
    *nic = (struct nic){(enum nic_kind)numbers->nic_kind,
                        (int)nics,
                        {numbers->nic_bytes_per_s, numbers->nic_latency_s}};
    struct cluster *c = &r->cluster;
    c->groups = TAKE(t->arena, 1, struct node_group), c->group_count = 1;
    c->groups[0] =
        (struct node_group){.name = r->name,
                            .gpu = numbers->gpu,
                            .nodes = (int)numbers->nodes,
                            .gpus_per_node = t->gpu_count,
                            .memory_bytes = numbers->memory_bytes,
                            .intra = {numbers->intra_bytes_per_s, numbers->intra_latency_s},
                            .nics = nic,
                            .nic_count = numbers->nic_bytes_per_s > 0};
    return OK;
}

static void tell_cluster(const struct topology *t, const struct numbers *numbers)
{
    int pairs[PATH_NVLINK + NVLINKS_MAX + 1] = {0};
    if (count_pairs(t, pairs) > 1)
        fprintf(stderr,
                "%s: GPUs are joined by several kinds of path; a cluster's intra is one link for "
                "all of them: give the slowest's bandwidth\n",
                t->path);
    if (numbers->nic_bytes_per_s > 0)
        fprintf(stderr, "%s: %lld of %d NICs counted%s\n", t->path,
                (long long)(numbers->nics < 0 ? nics_near(t) : numbers->nics),
                t->count - t->gpu_count,
                numbers->nics < 0 ? ": those nearest to a GPU; change with --nics" : "");
}

struct options {
    struct reading import;
    struct numbers asked;
    struct topology read;
};
static const struct option_row rows[] = {
    {"--gpu", OPTION_GPU, OPT(asked.gpu), "name of the GPU in the costs"},
    {"--memory-bytes", OPTION_INT, OPT(asked.memory_bytes), "memory of one GPU in bytes", 1, 1e15},
    {"--intra-bytes-per-s", OPTION_NUMBER, OPT(asked.intra_bytes_per_s),
     "bandwidth between two GPUs, one direction", 1, 1e18},
    {"--intra-latency-s", OPTION_NUMBER, OPT(asked.intra_latency_s),
     "latency between two GPUs (default: 0)", 0, 1},
    {"--nodes", OPTION_INT, OPT(asked.nodes), "number of identical nodes (default: 1)", 1, 65536},
    {"--nics", OPTION_INT, OPT(asked.nics), "NICs per node (default: those nearest to a GPU)", 0,
     64},
    {"--nic-kind", OPTION_NAME, OPT(asked.nic_kind), "kind of network (default: infiniband)",
     .names = nic_kind_names},
    {"--nic-bytes-per-s", OPTION_NUMBER, OPT(asked.nic_bytes_per_s),
     "bandwidth of one NIC, one direction", 1, 1e18},
    {"--nic-latency-s", OPTION_NUMBER, OPT(asked.nic_latency_s),
     "latency between two nodes (default: 0)", 0, 1},
};

static enum status read_file(void *options, struct error *err)
{
    struct options *o = options;
    struct reading *r = &o->import;
    o->read.arena = r->arena, o->read.path = r->file.path;
    TRY(read_topology(&o->read, r->text, r->size, err));
    if (r->output) return make_cluster(r, &o->read, &o->asked, err);
    print_topology(&o->read);
    return OK;
}

static void tell(const void *options)
{
    const struct options *o = options;
    if (o->import.output) tell_cluster(&o->read, &o->asked);
}

static const struct reader reader = {"topology", MAKES_CLUSTER, false, read_file, tell};
static const struct options defaults = {.import = {.reader = &reader, .name = "node"},
                                        .asked = {.nodes = 1, .nics = -1}};
const struct command import_topo = {
    .name = "topo",
    .text = "nvidia-smi topo -m output -> table, or cluster with the bandwidths you give",
    .usage = "plumbline import topo FILE: prints a table\n"
             "plumbline import topo FILE -o cluster.json --gpu NAME --memory-bytes B "
             "--intra-bytes-per-s R",
    READER(rows, struct options, defaults),
};
