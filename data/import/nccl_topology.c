// plumbline import nccl-topology FILE.xml: the topology that NCCL found in a node
// (NCCL_TOPO_DUMP_FILE) or is given for it (NCCL_TOPO_FILE), as a cluster of such nodes: GPUs, the
// link between two of them, and network cards. What it does not state (memory, latencies and the
// GPU's name) comes from --like or options.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/base/grow.h"
#include "data/import/import.h"
#include "data/import/text.h"
#include "data/import/xml.h"
#include "data/places/cluster.h"

enum { GPUS_MOST = 1024, NETS_MOST = 1024, LINKS_MOST = 1 << 15, TEXT_MOST = 128 };

struct gpu {
    const char *bus, *host;
    int generation; // 90 of sm="90"; 0: not an NVIDIA GPU
    double pci_bytes_per_s;
};
struct nvlink {
    const char *from, *to;
    int count;
    bool to_gpu, other; // other: not NVLink
};
struct net {
    const char *name;
    double bytes_per_s;
    enum nic_kind kind;
};

struct node {
    const char *path;
    struct gpu *gpus;
    struct nvlink *links;
    struct net *nets;
    int gpu_count, gpu_room, link_count, link_room, net_count, net_room, host_count;
    struct arena *arena;
};

// The open pci elements, outermost first, and the host of the cpu.
struct place {
    struct pci {
        const char *bus, *class;
        double bytes_per_s;
    } pci[XML_DEPTH_MAX];
    int pci_count;
    const char *host;
};

static int whole(const char *text) { return (int)strtol(text, NULL, 0); }

// ---- elements

// "32.0 GT/s PCIe" times lanes, minus the line code: 8 bits in 10 up to 5 GT/s, 128 in 130 above.
static double pci_bytes_per_s(const struct xml *x)
{
    double transfers = strtod(xml_attribute(x, "link_speed"), NULL) * 1e9;
    int lanes = whole(xml_attribute(x, "link_width"));
    if (!(transfers > 0 && transfers < 1e12) || lanes < 1 || lanes > 64) return 0;
    return transfers * lanes / 8 * (transfers > 5.5e9 ? 128.0 / 130 : 0.8);
}

// The slowest link on the path to it.
static double path_bytes_per_s(const struct place *p)
{
    double least = INFINITY;
    for (int i = 0; i < p->pci_count; i++)
        if (p->pci[i].bytes_per_s > 0) least = fmin(least, p->pci[i].bytes_per_s);
    return isfinite(least) ? least : 0;
}

static enum status take_gpu(struct node *n, const struct xml *x, const struct place *p,
                            struct error *err)
{
    if (!p->pci_count) return xml_refuse(x, err, "<gpu> is not in a <pci>");
    if (n->gpu_count == GPUS_MOST) return xml_refuse(x, err, "more than %d GPUs", GPUS_MOST);
    GROW(n->arena, n->gpus, n->gpu_count, n->gpu_room, 16);
    n->gpus[n->gpu_count++] = (struct gpu){.bus = p->pci[p->pci_count - 1].bus,
                                           .host = p->host,
                                           .generation = whole(xml_attribute(x, "sm")),
                                           .pci_bytes_per_s = path_bytes_per_s(p)};
    return OK;
}

static enum status take_link(struct node *n, const struct xml *x, struct error *err)
{
    int count = whole(xml_attribute(x, "count"));
    const char *class = xml_attribute(x, "tclass"), *to = xml_attribute(x, "target");
    if (!n->gpu_count) return OK;
    if (count < 1 || count > 1024 || !*to)
        return xml_refuse(x, err,
                          "<%.20s>: expected a target and a count of 1 to 1024, found "
                          "\"%.20s\"",
                          x->name, xml_attribute(x, "count"));
    if (n->link_count == LINKS_MOST) return xml_refuse(x, err, "more than %d links", LINKS_MOST);
    GROW(n->arena, n->links, n->link_count, n->link_room, 64);
    n->links[n->link_count++] = (struct nvlink){.from = n->gpus[n->gpu_count - 1].bus,
                                                .to = to,
                                                .count = count,
                                                .to_gpu = !strncmp(class, "0x03", 4) || !*class,
                                                .other = strcmp(x->name, "nvlink") != 0};
    return OK;
}

static bool is_net(const struct net *net, const char *name) { return !strcmp(net->name, name); }

static enum status take_net(struct node *n, const struct xml *x, const struct place *p,
                            struct error *err)
{
    double megabits;
    const char *name = xml_attribute(x, "name"), *speed = xml_attribute(x, "speed"),
               *class = p->pci_count ? p->pci[p->pci_count - 1].class : "";
    if (!*name) name = arena_print(n->arena, "net %s", xml_attribute(x, "dev"));
    if (!word_is_number(speed, &megabits) || !(megabits > 0 && megabits < 1e9))
        return xml_refuse(x, err, "<net>: speed: expected Mb/s above 0, found \"%.20s\"", speed);
    for (int i = 0; i < n->net_count; i++)
        if (is_net(&n->nets[i], name)) return OK; // some files list its channels one by one
    if (n->net_count == NETS_MOST) return xml_refuse(x, err, "more than %d <net>", NETS_MOST);
    GROW(n->arena, n->nets, n->net_count, n->net_room, 16);
    n->nets[n->net_count++] = (struct net){.name = name,
                                           .bytes_per_s = megabits * 1e6 / 8,
                                           .kind = !strncmp(class, "0x0207", 6) ? NIC_INFINIBAND
                                                   : whole(xml_attribute(x, "gdr")) == 1
                                                       ? NIC_ROCE
                                                       : NIC_ETHERNET};
    return OK;
}

static enum status take_element(struct node *n, struct place *p, const struct xml *x,
                                struct error *err)
{
    if (!strcmp(x->name, "pci")) {
        if (x->closes) return p->pci_count--, OK;
        p->pci[p->pci_count++] =
            (struct pci){xml_attribute(x, "busid"), xml_attribute(x, "class"), pci_bytes_per_s(x)};
        return OK;
    }
    if (x->closes) return OK;
    if (!strcmp(x->name, "cpu")) p->host = xml_attribute(x, "host_hash");
    if (!strcmp(x->name, "gpu")) return take_gpu(n, x, p, err);
    if (!strcmp(x->name, "nvlink") || !strcmp(x->name, "xgmi")) return take_link(n, x, err);
    return strcmp(x->name, "net") ? OK : take_net(n, x, p, err);
}

static enum status read_node(struct node *n, const char *text, size_t size, struct error *err)
{
    struct xml *x = TAKE(n->arena, 1, struct xml);
    struct place *p = TAKE(n->arena, 1, struct place);
    bool more;
    p->host = "";
    xml_open(x, n->path, text, size, n->arena);
    for (bool first = true;; first = false) {
        TRY(xml_next(x, &more, err));
        if (!more) break;
        if (first && strcmp(x->name, "system"))
            return xml_refuse(x, err, "expected <system> of NCCL's topology, found <%.40s>",
                              x->name);
        TRY(take_element(n, p, x, err));
    }
    return n->gpu_count
               ? OK
               : fail(err, BAD_INPUT, "%s: expected <gpu> elements of NCCL's topology, found none",
                      n->path);
}

// ---- the link between two GPUs

// One NVLink, one direction, by the generation of the GPU: versions 1 to 5.
static double nvlink_bytes_per_s(int generation)
{
    return generation >= 100  ? 50e9
           : generation == 86 ? 14.0625e9
           : generation >= 70 ? 25e9
           : generation >= 60 ? 20e9
                              : 0;
}

static int links_between(const struct node *n, const char *from, const char *to)
{
    int count = 0;
    for (int i = 0; i < n->link_count; i++)
        if (!strcmp(n->links[i].from, from) && (!to || !strcmp(n->links[i].to, to)) &&
            (to || !n->links[i].to_gpu))
            count += n->links[i].count;
    return count;
}

// The number of links of the pair with the fewest; through switches, all of a GPU's links lead to
// every other GPU. 0: some pair has none.
static int least_links(const struct node *n)
{
    int least = LINKS_MOST;
    for (int a = 0; a < n->gpu_count; a++)
        for (int b = 0; b < n->gpu_count; b++) {
            if (a == b || strcmp(n->gpus[a].host, n->gpus[b].host)) continue;
            int from = links_between(n, n->gpus[a].bus, NULL),
                to = links_between(n, n->gpus[b].bus, NULL), switched = from < to ? from : to,
                direct = links_between(n, n->gpus[a].bus, n->gpus[b].bus),
                both = switched > direct ? switched : direct;
            if (both < least) least = both;
        }
    return least == LINKS_MOST ? 0 : least;
}

static bool all_nvlink(const struct node *n)
{
    for (int i = 0; i < n->link_count; i++)
        if (n->links[i].other) return false;
    return n->link_count > 0;
}

// *why: in words. 0: it cannot be derived.
static double intra_bytes_per_s(const struct node *n, double link_bytes_per_s, char why[TEXT_MOST])
{
    int least = least_links(n);
    double slowest = INFINITY, one = link_bytes_per_s;
    if (!(one > 0) && all_nvlink(n)) one = nvlink_bytes_per_s(n->gpus[0].generation);
    if (least && one > 0) {
        snprintf(why, TEXT_MOST, "%d links of %g GB/s", least, one * 1e-9);
        return least * one;
    }
    if (least) return 0; // links of an unknown version
    for (int i = 0; i < n->gpu_count; i++) slowest = fmin(slowest, n->gpus[i].pci_bytes_per_s);
    snprintf(why, TEXT_MOST, "%s", n->link_count ? "PCIe, as some pairs have no link" : "PCIe");
    return slowest;
}

// ---- the cluster

struct request {
    const char *like, *gpu;
    int64_t nodes;
    double memory_gb, intra_bytes_per_s, link_bytes_per_s, latency_us;
};

static void count_hosts(struct node *n)
{
    for (int i = 0; i < n->gpu_count; i++) {
        int k = 0;
        while (k < i && strcmp(n->gpus[k].host, n->gpus[i].host)) k++;
        n->host_count += k == i;
    }
}

// The fastest of each kind: slower ones usually serve storage and management.
static void put_nics(struct node_group *g, const struct node *n, const struct node_group *like,
                     struct arena *arena)
{
    g->nics = TAKE(arena, NIC_KIND_COUNT, struct nic);
    g->nic_count = 0;
    for (int kind = 0; kind < NIC_KIND_COUNT; kind++) {
        struct nic nic = {.kind = (enum nic_kind)kind};
        for (int i = 0; i < n->net_count; i++)
            if ((int)n->nets[i].kind == kind && n->nets[i].bytes_per_s > nic.link.bytes_per_s)
                nic.link.bytes_per_s = n->nets[i].bytes_per_s;
        for (int i = 0; i < n->net_count; i++)
            nic.count += (int)n->nets[i].kind == kind &&
                         n->nets[i].bytes_per_s >= nic.link.bytes_per_s;
        for (int i = 0; i < n->net_count; i++)
            if ((int)n->nets[i].kind == kind && n->nets[i].bytes_per_s < nic.link.bytes_per_s)
                fprintf(stderr, "%s: %s of %g Gb/s is left out: there are faster cards\n", n->path,
                        n->nets[i].name, n->nets[i].bytes_per_s * 8e-9);
        for (int i = 0; i < like->nic_count; i++)
            if ((int)like->nics[i].kind == kind || like->nic_count == 1)
                nic.link.latency_s = like->nics[i].link.latency_s;
        nic.count /= n->host_count;
        if (nic.count) g->nics[g->nic_count++] = nic;
    }
}

static enum status make_group(struct node_group *g, const struct node *n, const struct request *r,
                              struct arena *arena, struct error *err)
{
    struct cluster like = {.groups = TAKE(arena, 1, struct node_group)};
    char why[TEXT_MOST] = "";
    if (r->like) TRY(import_like(&like, r->like, arena, err));
    *g = like.groups[0];
    g->nodes = (int)r->nodes;
    if (r->gpu) g->gpu = r->gpu;
    if (r->memory_gb > 0) g->memory_bytes = (int64_t)(r->memory_gb * 1e9);
    if (!g->gpu || !g->memory_bytes)
        return fail(err, BAD_INPUT,
                    "%s: NCCL's topology does not state the GPU's name and memory: give --like "
                    "CLUSTER (plumbline clusters), or --gpu and --memory-gb",
                    n->path);
    if (n->gpu_count % n->host_count)
        return fail(err, BAD_INPUT, "%s: %d GPUs on %d hosts: expected the same number on each",
                    n->path, n->gpu_count, n->host_count);
    g->gpus_per_node = n->gpu_count / n->host_count;
    double intra = r->intra_bytes_per_s > 0 ? r->intra_bytes_per_s
                                            : intra_bytes_per_s(n, r->link_bytes_per_s, why);
    if (g->gpus_per_node == 1 && !(intra > 0)) intra = 1e9; // there is no pair
    if (!(intra > 0) || !isfinite(intra))
        return fail(err, BAD_INPUT,
                    "%s: the bandwidth between two GPUs is unknown (no link_speed, or links of an "
                    "unknown version): give --link-bytes-per-s or --intra-bytes-per-s",
                    n->path);
    g->intra.bytes_per_s = intra;
    if (r->latency_us >= 0) g->intra.latency_s = r->latency_us * 1e-6;
    put_nics(g, n, &like.groups[0], arena);
    fprintf(stderr, "%s: %d GPUs, %g GB/s between two%s%s%s; ", n->path, g->gpus_per_node,
            intra * 1e-9, *why ? " (" : "", why, *why ? ")" : "");
    if (!g->nic_count) fprintf(stderr, "no network card\n");
    for (int i = 0; i < g->nic_count; i++)
        fprintf(stderr, "%d x %s of %g Gb/s%s", g->nics[i].count, nic_kind_names[g->nics[i].kind],
                g->nics[i].link.bytes_per_s * 8e-9, i + 1 < g->nic_count ? ", " : "\n");
    return OK;
}

struct options {
    struct reading import;
    struct request asked;
    struct node_group group;
};
static const struct option_row rows[] = {
    {"--like", OPTION_CLUSTER, OPT(asked.like),
     "cluster whose first group gives GPU, memory and latencies: shipped name or file"},
    {"--gpu", OPTION_GPU, OPT(asked.gpu), "name of the GPU in the costs"},
    {"--memory-gb", OPTION_NUMBER, OPT(asked.memory_gb), "memory of one GPU in GB (1e9 bytes)",
     0.001, 1e6},
    {"--nodes", OPTION_INT, OPT(asked.nodes), "number of identical nodes (default: 1)", 1, 1000000},
    {"--link-bytes-per-s", OPTION_NUMBER, OPT(asked.link_bytes_per_s),
     "bandwidth of one NVLink or xGMI link, one direction (default: NVLink's, by the GPU's "
     "generation)",
     1, 1e18},
    {"--intra-bytes-per-s", OPTION_NUMBER, OPT(asked.intra_bytes_per_s),
     "bandwidth between two GPUs, one direction (default: links x that)", 1, 1e18},
    {"--intra-latency-us", OPTION_NUMBER, OPT(asked.latency_us),
     "latency between two GPUs (default: that of --like, else 0)", 0, 1e9},
};

static enum status read_file(void *options, struct error *err)
{
    struct options *o = options;
    struct reading *r = &o->import;
    struct node n = {.arena = r->arena, .path = r->file.path};
    TRY(read_node(&n, r->text, r->size, err));
    count_hosts(&n);
    TRY(make_group(&o->group, &n, &o->asked, r->arena, err));
    o->group.name = r->name;
    r->cluster = (struct cluster){.groups = &o->group, .group_count = 1};
    return OK;
}

static const struct reader reader = {"topology", MAKES_CLUSTER, false, read_file, NULL};
static const struct options defaults = {
    .import = {.reader = &reader, .output = "-", .name = "node"},
    .asked = {.nodes = 1, .latency_us = -1}};
const struct command import_nccl_topology = {
    .name = "nccl-topology",
    .text = "NCCL_TOPO_DUMP_FILE XML -> cluster of such nodes",
    .usage = "plumbline import nccl-topology FILE.xml --like CLUSTER [-o cluster.json]",
    READER(rows, struct options, defaults),
};
