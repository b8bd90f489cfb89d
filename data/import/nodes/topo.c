// plumbline import topo FILE: what nvidia-smi (topo -m, topo -p2p, nvlink -s), rocm-smi --showtopo
// or amd-smi topology reports about one node: the number of GPUs and NICs, the kind of path between
// every two of them, and the nearest NICs of each GPU. None of them states memory or anything
// outside the node, and few a bandwidth. So without -o a table is printed; with -o a cluster is
// written whose missing numbers come from --like or options, none of them guessed.
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "data/base/names.h"
#include "data/import/import.h"
#include "data/import/nodes/mesh.h"
#include "data/import/nodes/tables.h"

// ---- evaluation

// The nearest kind of path from a GPU to a NIC; PATH_LINKS: there is no NIC.
static int nearest(const struct topology *t, int gpu)
{
    int best = PATH_LINKS;
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
static int count_pairs(const struct topology *t, int pairs[PATH_LINKS + LINKS_MAX + 1])
{
    int kinds = 0;
    for (int a = 0; a < t->count; a++)
        for (int b = a + 1; b < t->count; b++)
            if (t->is_gpu[a] && t->is_gpu[b]) kinds += !pairs[path_at(t, a, b)]++;
    return kinds;
}

static const char *links_text(const struct topology *t, int path)
{
    (void)path;
    return t->form == FORM_AMD ? "xGMI" : "bonded NVLinks";
}

static void print_topology(const struct topology *t)
{
    static const char *const meanings[] = {"itself",
                                           "one PCIe bridge",
                                           "several PCIe bridges",
                                           "a PCIe host bridge",
                                           "host bridges of one NUMA node",
                                           "between NUMA nodes",
                                           "PCIe",
                                           "links by way of other GPUs",
                                           "reached by each other",
                                           "not reached by each other"};
    int pairs[PATH_LINKS + LINKS_MAX + 1] = {0};
    char text[PATH_TEXT];
    count_pairs(t, pairs);
    printf("%d GPU%s, %d NIC%s in the node\n\npath  pairs of GPUs\n", t->gpu_count,
           t->gpu_count == 1 ? "" : "s", t->count - t->gpu_count,
           t->count - t->gpu_count == 1 ? "" : "s");
    for (int path = PATH_LINKS + LINKS_MAX; path > 0; path--)
        if (pairs[path])
            printf("%-5s %13d  %s\n", path_text(t, path, text), pairs[path],
                   path > PATH_LINKS ? links_text(t, path) : meanings[path]);
    if (t->count > t->gpu_count) printf("\nGPU    nearest NICs\n");
    for (int gpu = 0; gpu < t->count; gpu++) {
        if (!t->is_gpu[gpu] || t->count == t->gpu_count) continue;
        printf("%-6s", t->names[gpu]);
        for (int nic = 0; nic < t->count; nic++)
            if (is_nearest(t, gpu, nic)) printf(" %s", t->names[nic]);
        if (nearest(t, gpu) < PATH_LINKS) printf(" (%s)\n", path_text(t, nearest(t, gpu), text));
        else printf(" none\n");
    }
    if (t->cut) printf("\nColumns of NICs are cut off in this table: its NICs are not counted.\n");
    if (t->links_unsaid)
        printf(
            "\nlstopo does not say of links between GPUs here (its XML does, built with NVML).\n");
    printf("\nThis table has no bandwidth, no latency, no memory and nothing beyond the node: "
           "measure links, or import\nnvbandwidth and nccl-tests.\n");
}

static void print_links(const struct topology *t)
{
    printf("%d GPU%s (%s)\n\nGPU  active links  GB/s of all, one direction\n", t->gpu_count,
           t->gpu_count == 1 ? "" : "s", t->gpu_name);
    for (int i = 0; i < t->gpu_count; i++)
        printf("%-3d  %12d  %g\n", i, t->links[i], t->all[i] * 1e-9);
    printf("\nThis table does not say where links lead: nvidia-smi topo -m does.\n");
}

static void print_cards(const struct topology *t)
{
    printf("%d GPU%s", t->gpu_count, t->gpu_count == 1 ? "" : "s");
    if (t->gpu_name) printf(", each %s", t->gpu_name);
    if (t->memory_bytes > 0) printf(", %.1f GB", t->memory_bytes * 1e-9);
    printf(" (%s)\n\nThis list does not state what joins them: nvidia-smi topo -m or rocm-smi "
           "--showtopo does.\n",
           t->program);
}

// ---- the cluster

struct numbers {
    const char *gpu, *like;
    int64_t nodes, memory_bytes, nics;
    double intra_bytes_per_s, intra_latency_s, link_bytes_per_s, pcie_bytes_per_s, nic_bytes_per_s,
        nic_latency_s;
    int nic_kind;
};

static double rate_of_link(const struct numbers *n, const char *gpu)
{
    const struct gpu_links *of = mesh_links_of(gpu);
    if (n->link_bytes_per_s > 0) return n->link_bytes_per_s;
    if (!of) return 0;
    return of->capability ? mesh_nvlink_rate(of->capability) : mesh_xgmi_rate(of->architecture);
}

// PCIe 3, 4 or 5 with 16 lanes and 128 bits in 130, as GPUs of the kind have it; 0: not known.
static double bus_rate(const struct topology *t, const struct numbers *n, const char *gpu)
{
    const struct gpu_links *of = mesh_links_of(gpu);
    if (n->pcie_bytes_per_s > 0) return n->pcie_bytes_per_s;
    if (!of || t->form == FORM_PEERS) return 0;
    bool fifth = of->capability >= 90 || !strncmp(of->architecture, "94", 2) ||
                 !strncmp(of->architecture, "95", 2),
         third = of->capability && of->capability < 80;
    return (fifth ? 64e9 : third ? 16e9 : 32e9) * 128 / 130;
}

// More links to others than a GPU has at most lead through switches: to the first of those that
// they reach, itself among them; -1: they do not.
static int island_of(const struct topology *t, int gpu, int most)
{
    int links = 0, first = -1;
    for (int b = 0; b < t->count; b++) {
        int path = t->is_gpu[b] && b != gpu ? path_at(t, gpu, b) : PATH_SELF;
        if (path > PATH_LINKS) links += path - PATH_LINKS;
        if (first < 0 && (path > PATH_LINKS || b == gpu)) first = b;
    }
    return t->form == FORM_MATRIX && links > most ? first : -1;
}

static struct mesh make_mesh(const struct topology *t, const struct numbers *n, const char *gpu)
{
    struct mesh m = mesh_open(t->gpu_count, t->arena);
    const struct gpu_links *links = mesh_links_of(gpu);
    double one = rate_of_link(n, gpu);
    int *of = TAKE(t->arena, t->count, int), gpus = 0;
    m.capability = links ? links->capability : 0, m.bus_stated = n->pcie_bytes_per_s > 0;
    for (int i = 0; i < t->count; i++) of[i] = t->is_gpu[i] ? gpus++ : -1;
    for (int i = 0; i < t->gpu_count; i++) {
        m.bus[i] = bus_rate(t, n, gpu);
        if (t->form == FORM_LINKS) m.switched[i] = t->all[i];
    }
    for (int a = 0; a < t->count; a++) {
        int island = of[a] >= 0 ? island_of(t, a, links ? links->links : 18) : -1;
        if (island >= 0) m.island[of[a]] = of[island];
        for (int b = 0; b < t->count; b++) {
            int path = path_at(t, a, b);
            if (of[a] < 0 || of[b] < 0 || a == b) continue;
            m.apart[of[a] * m.count + of[b]] = (path >= PATH_PHB && path <= PATH_SYS) ||
                                               t->form == FORM_CARDS || !mesh_has_peers(gpu);
            if (path <= PATH_LINKS) continue;
            double stated = t->rates[a * t->count + b], rate = one * (path - PATH_LINKS);
            if (stated > 0 && !(n->link_bytes_per_s > 0)) rate = stated;
            if (island >= 0) m.switched[of[a]] = rate;
            else m.direct[of[a] * m.count + of[b]] = rate;
        }
    }
    return m;
}

static bool uses_bus(const struct mesh *m)
{
    for (int a = 0; a < m->count; a++)
        for (int b = 0; b < a; b++)
            if (!(mesh_joined(m, a, b) > 0)) return true;
    return false;
}

// Of a list of GPUs: cards whose name says so, and those that no cluster has and no link joins.
static bool joined_by_bus(const struct topology *t, const struct node_group *g, const char *like)
{
    static const char *const cards[] = {"pcie", "nvl", NULL};
    const struct gpu_links *links = mesh_links_of(g->gpu);
    if (t->form != FORM_CARDS) return false;
    if (t->gpu_name && has_one_in_any_case(t->gpu_name, cards)) return true;
    return !like && (!links || !links->links);
}

// The link between two GPUs, from options or from the table.
// like: the cluster that the group was taken from, of nodes with so many GPUs; NULL: none.
static enum status put_intra(struct node_group *g, struct reading *r, const struct topology *t,
                             const struct numbers *n, const char *like, int like_gpus,
                             struct error *err)
{
    const char *why, *rings;
    struct mesh m = make_mesh(t, n, g->gpu);
    if (n->intra_latency_s >= 0) g->intra.latency_s = n->intra_latency_s;
    if (n->intra_bytes_per_s > 0) {
        g->intra.bytes_per_s = n->intra_bytes_per_s, g->ring_count = g->switch_sum_count = 0;
        return OK;
    }
    if (t->form == FORM_CARDS && t->gpu_count == 1 && like) return OK;
    if (t->links_unsaid && t->gpu_count > 1 && !joined_by_bus(t, g, like)) {
        if (t->form != FORM_CARDS || !like || t->gpu_count > like_gpus)
            return refuse(err,
                          "%s: %s does not say here what links join GPUs%s: give nvidia-smi topo "
                          "-m, or %s--intra-bytes-per-s",
                          t->path, t->program ? t->program : "lstopo",
                          t->program ? "" : " (its XML does, built with NVML)",
                          t->program ? "--like CLUSTER of such nodes, or " : "");
        said_assume(&r->said, "what joins GPUs is as in %s: %g GB/s between two", like,
                    g->intra.bytes_per_s * 1e-9);
        return OK;
    }
    const struct gpu_links *of =
        mesh_links_of(t->gpu_name && !strncmp(t->gpu_name, "Tesla ", 6) ? t->gpu_name + 6 : g->gpu);
    if (t->form == FORM_LINKS && t->gpu_count > 2 && of && of->capability && of->capability < 80)
        return refuse(
            err,
            "%s: nvlink -s does not say where links lead, and GPUs of this kind are joined "
            "by switches or one to one: give nvidia-smi topo -m",
            t->path);
    if (!mesh_put(g, &m, &why, t->arena))
        return refuse(
            err,
            "%s: the bandwidth between two GPUs is unknown (%s): give --link-bytes-per-s, "
            "--pcie-bytes-per-s for pairs that no link joins, or --intra-bytes-per-s",
            t->path, why);
    rings = mesh_text(g, &m, t->arena);
    if (m.switched[0] > 0 && t->form == FORM_LINKS)
        said_assume(&r->said, "all links lead to switches, which the file does not say");
    if (!(n->pcie_bytes_per_s > 0) && uses_bus(&m))
        said_assume(&r->said,
                    "%g GB/s of PCIe where no link joins GPUs, and what processors pass on of it "
                    "where these alone join them (--pcie-bytes-per-s)",
                    m.bus[0] * 1e-9);
    if (t->gpu_count == 1 || (r->strict && r->said.assumed)) return OK; // refused in one line
    fprintf(stderr, "%s: %d GPUs, %g GB/s between two (%s)%s%s\n", t->path, t->gpu_count,
            g->intra.bytes_per_s * 1e-9, why, rings ? "; " : "", rings ? rings : "");
    return OK;
}

static enum status put_nics(struct node_group *g, struct reading *r, const struct topology *t,
                            const struct numbers *n, struct error *err)
{
    if (t->cut && n->nics < 0)
        said_assume(&r->said, "columns of NICs are cut off: %s (--nics)",
                    n->like ? "NICs as --like has them" : "there is none");
    bool none = (t->form == FORM_MATRIX || t->form == FORM_CARDS) && !t->cut &&
                t->count == t->gpu_count;
    if (none && n->nics < 0 && !(n->nic_bytes_per_s > 0) && g->nic_count)
        said_assume(&r->said, "the file has no NICs: those of %s (--nics)",
                    n->like ? "--like" : "that cluster");
    int64_t nics = n->nics >= 0 ? n->nics : t->form == FORM_MATRIX ? nics_near(t) : 0;
    if (!(n->nic_bytes_per_s > 0)) {
        if (!g->nic_count || t->form != FORM_MATRIX || !nics) return OK;
        g->nics = TAKE_COPY(t->arena, g->nics, g->nic_count);
        g->nics[0].count = (int)nics, g->nic_count = 1;
        return OK;
    }
    if (nics < 1)
        return refuse(err, "%s: --nic-bytes-per-s: there is no NIC; give their number with --nics",
                      t->path);
    g->nics = TAKE(t->arena, 1, struct nic), g->nic_count = 1;
    *g->nics =
        (struct nic){(enum nic_kind)n->nic_kind, (int)nics, {n->nic_bytes_per_s, n->nic_latency_s}};
    return OK;
}

// Links of one maker's GPUs, described as another's.
static enum status check_maker(const struct topology *t, const char *gpu, struct said *said,
                               struct error *err)
{
    bool amd = t->form == FORM_AMD, nvidia = t->form == FORM_LINKS;
    for (int i = 0; i < t->count * t->count && t->form == FORM_MATRIX; i++)
        nvidia = nvidia || t->paths[i] > PATH_LINKS;
    return amd || nvidia ? mesh_check_gpu(gpu, amd, 0, said, t->path, err) : OK;
}

// GPUs that have no shipped cluster: "rtx3060-12gb" of "NVIDIA GeForce RTX 3060" with 12,288 MiB.
static const char *name_in_costs(const char *printed, double memory_bytes, struct arena *arena)
{
    static const char makers[] = "nvidia tesla geforce quadro amd instinct";
    char *name = arena_copy_text(arena, printed), *text = arena_copy_text(arena, "");
    bool sized = false;
    for (char *word, *rest = name; (word = strtok_r(rest, " -_()[]/.", &rest));) {
        for (char *c = word; *c; c++) *c = (char)tolower((unsigned char)*c);
        size_t length = strlen(word);
        if (name_is_listed(makers, word, length)) continue;
        sized |= length > 2 && isdigit((unsigned char)*word) && !strcmp(word + length - 2, "gb");
        bool series = !strcmp(text, "rtx") && isdigit((unsigned char)*word);
        text = arena_print(arena, "%s%s%s", text, *text && !series ? "-" : "", word);
    }
    if (!sized && memory_bytes > 0)
        text = arena_print(arena, "%s-%.0fgb", text, memory_bytes / 1073741824);
    return text;
}

// What --like says, or a shipped cluster of the GPU that the file names; *like NULL: nothing.
static enum status find_like(struct node_group *g, const char **like, struct reading *r,
                             const struct topology *t, const struct numbers *n, struct error *err)
{
    struct cluster c = {0};
    const char **gpus;
    int count;
    *like = n->like;
    if (n->like) TRY(import_like(&c, n->like, t->arena, err));
    else if (t->gpu_name && !n->gpu)
        TRY(cluster_of_gpu(&c, t->gpu_name, t->memory_bytes, &gpus, &count, t->arena, err));
    if (!c.group_count) return OK;
    *g = c.groups[0];
    if (n->like) return OK;
    *like = c.name;
    said_assume(&r->said, "nodes are as in %s, which has this GPU (--like)", c.name);
    return OK;
}

// The GPU's name and memory, where neither options nor a cluster state them.
static enum status put_gpu(struct node_group *g, struct reading *r, const struct topology *t,
                           const struct numbers *n, const char *like, struct error *err)
{
    const char *printed = t->gpu_name;
    if (n->gpu) g->gpu = n->gpu;
    if (n->memory_bytes) g->memory_bytes = n->memory_bytes;
    if (!g->gpu && printed) {
        g->gpu = name_in_costs(printed, t->memory_bytes, t->arena);
        said_assume(&r->said, "no shipped cluster has %s: costs are to call it %s (--gpu)", printed,
                    g->gpu);
    } else if (printed && like && !n->gpu && !name_is_gpu(printed, strlen(printed), g->gpu))
        said_assume(&r->said, "%s is described as %s", printed, g->gpu);
    if (!n->memory_bytes && t->memory_bytes > 0 &&
        (!g->memory_bytes || fabs(t->memory_bytes / (double)g->memory_bytes - 1) > 0.08)) {
        if (g->memory_bytes)
            said_assume(&r->said, "a GPU has %.1f GB, as the file says; in %s %.1f",
                        t->memory_bytes * 1e-9, like, (double)g->memory_bytes * 1e-9);
        g->memory_bytes = (int64_t)t->memory_bytes;
    }
    if (g->gpu && g->memory_bytes) return OK;
    return refuse(err,
                  "%s: the file does not say %s: -o requires --like CLUSTER (plumbline clusters), "
                  "or --gpu and --memory-bytes",
                  t->path, g->gpu ? "a GPU's memory" : "which GPUs these are");
}

static enum status make_cluster(struct reading *r, const struct topology *t,
                                const struct numbers *n, struct error *err)
{
    struct cluster *c = &r->cluster;
    const char *like;
    c->groups = TAKE(t->arena, 1, struct node_group), c->group_count = 1;
    struct node_group *g = &c->groups[0];
    TRY(find_like(g, &like, r, t, n, err));
    int like_gpus = g->gpus_per_node;
    TRY(put_gpu(g, r, t, n, like, err));
    g->name = r->name, g->nodes = (int)n->nodes, g->gpus_per_node = t->gpu_count;
    TRY(check_maker(t, g->gpu, &r->said, err));
    TRY(put_intra(g, r, t, n, like, like_gpus, err));
    TRY(put_nics(g, r, t, n, err));
    if (n->nodes > 1 && !g->nic_count)
        return refuse(err,
                      "%s: a topology has no bandwidth: --nodes %lld requires --nic-bytes-per-s",
                      t->path, (long long)n->nodes);
    return OK;
}

static void tell_cluster(const struct node_group *g, const struct topology *t,
                         const struct numbers *n)
{
    int pairs[PATH_LINKS + LINKS_MAX + 1] = {0};
    if (n->intra_bytes_per_s > 0 && count_pairs(t, pairs) > 1)
        fprintf(stderr,
                "%s: GPUs are joined by several kinds of path; --intra-bytes-per-s is one link for "
                "all of them: give the slowest's, or let --link-bytes-per-s say what links have\n",
                t->path);
    if (t->form == FORM_MATRIX && !t->cut && t->count > t->gpu_count && g->nic_count)
        fprintf(stderr, "%s: %lld of %d NICs counted%s\n", t->path,
                (long long)(n->nics < 0 ? nics_near(t) : n->nics), t->count - t->gpu_count,
                n->nics < 0 ? ": those nearest to a GPU; change with --nics" : "");
}

struct options {
    struct reading import;
    struct numbers asked;
    struct topology read;
};
static const struct option_row rows[] = {
    {"--gpu", OPTION_GPU, OPT(asked.gpu),
     "name of the GPU in the costs; of a list of several kinds, the one that is meant"},
    {"--like", OPTION_CLUSTER, OPT(asked.like),
     "cluster whose first group gives GPU, memory, latencies and NICs: shipped name or file "
     "(default: the shipped one of the GPU that the file names)"},
    {"--memory-bytes", OPTION_INT, OPT(asked.memory_bytes), "memory of one GPU in bytes", 1, 1e15},
    {"--intra-bytes-per-s", OPTION_NUMBER, OPT(asked.intra_bytes_per_s),
     "bandwidth between two GPUs, one direction (default: by their links)", 1, 1e18},
    {"--link-bytes-per-s", OPTION_NUMBER, OPT(asked.link_bytes_per_s),
     "bandwidth of one NVLink or xGMI link, one direction (default: by the GPU's name)", 1, 1e18},
    {"--pcie-bytes-per-s", OPTION_NUMBER, OPT(asked.pcie_bytes_per_s),
     "bandwidth between two GPUs that no link joins, one direction", 1, 1e18},
    {"--intra-latency-s", OPTION_NUMBER, OPT(asked.intra_latency_s),
     "latency between two GPUs (default: that of --like, else 0)", 0, 1},
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
    o->read.arena = r->arena, o->read.path = r->file.path, o->read.meant = o->asked.gpu;
    TRY(topology_read(&o->read, r->text, r->size, err));
    if (r->output) return make_cluster(r, &o->read, &o->asked, err);
    if (o->read.form == FORM_LINKS) print_links(&o->read);
    else if (o->read.form == FORM_CARDS) print_cards(&o->read);
    else print_topology(&o->read);
    return OK;
}

static void tell(const void *options)
{
    const struct options *o = options;
    if (o->import.output) tell_cluster(o->import.cluster.groups, &o->read, &o->asked);
}

static const struct reader reader = {"topology", MAKES_CLUSTER, false, read_file, tell};
static const struct options defaults = {.import = {.reader = &reader, .name = "node"},
                                        .asked = {.nodes = 1, .nics = -1, .intra_latency_s = -1}};
const struct command import_topo = {
    .name = "topo",
    .text = "nvidia-smi topo -m, -L, -q, rocm-smi, lspci ... output -> table, or cluster",
    .usage = "plumbline import topo FILE: prints a table\n"
             "plumbline import topo FILE -o cluster.json --like CLUSTER [options]",
    READER(rows, struct options, defaults),
};
