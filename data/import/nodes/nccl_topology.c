// plumbline import nccl-topology FILE.xml: the topology that NCCL or RCCL found in a node
// (NCCL_TOPO_DUMP_FILE) or is given for it (NCCL_TOPO_FILE), as a cluster of such nodes: GPUs, what
// their pairs and rings get of the links between them, and network cards. What it does not state
// (memory, latencies and the GPU's name) comes from --like or options. Clouds give a list of PCI
// devices that NCCL completes on the node: of it, only the numbers of GPUs and cards are read.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/base/grow.h"
#include "data/import/import.h"
#include "data/import/nodes/mesh.h"
#include "data/import/nodes/xml.h"

enum { GPUS_MOST = 1024, NETS_MOST = 1024, LINKS_MOST = 1 << 15 };

struct gpu {
    const char *bus, *host, *bridge; // bridge: outermost one above it; "": none
    int generation;                  // 90 of sm="90"
    const char *architecture;        // gcn="gfx942", AMD's; "": not AMD's
    int device, at;                  // dev; its place in the order of devices
    double pci_bytes_per_s;
};
enum end { END_GPU, END_SWITCH, END_OTHER }; // of a link: other: a CPU's
struct nvlink {
    int from; // GPU, as read
    const char *to;
    int count;
    enum end end;
};
struct net {
    const char *name, *bus; // bus: of its device
    double bytes_per_s, pci_bytes_per_s;
    enum nic_kind kind;
};

struct node {
    const char *path;
    struct gpu *gpus;
    struct nvlink *links;
    struct net *nets;
    int gpu_count, gpu_room, link_count, link_room, net_count, net_room, host_count;
    int listed_gpus, listed_cards[NIC_KIND_COUNT]; // PCI devices without more
    bool any_pci;
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
    if (!p->pci_count)
        return xml_refuse(x, err,
                          "<gpu> is not in a <pci>, as NCCL writes it: give what it dumps on a "
                          "node, NCCL_TOPO_DUMP_FILE");
    if (n->gpu_count == GPUS_MOST) return xml_refuse(x, err, "more than %d GPUs", GPUS_MOST);
    GROW(n->arena, n->gpus, n->gpu_count, n->gpu_room, 16);
    int at = n->gpu_count++;
    n->gpus[at] = (struct gpu){.bus = p->pci[p->pci_count - 1].bus,
                               .host = p->host,
                               .bridge = p->pci_count > 1 ? p->pci[0].bus : "",
                               .generation = whole(xml_attribute(x, "sm")),
                               .architecture = xml_attribute(x, "gcn"),
                               .device = whole(xml_attribute(x, "dev")),
                               .at = at,
                               .pci_bytes_per_s = path_bytes_per_s(p)};
    return OK;
}

static bool is_gpu_class(const char *class)
{
    return !strncmp(class, "0x03", 4) || !strncmp(class, "0x1200", 6);
}

// 0x0680: a bridge; NCCL's NVSwitch ends with 00, the bridge of an IBM CPU with 01.
static enum end end_of(const char *class)
{
    if (!*class || is_gpu_class(class)) return END_GPU;
    return !strncmp(class, "0x068000", 8) ? END_SWITCH : END_OTHER;
}

static enum status take_link(struct node *n, const struct xml *x, struct error *err)
{
    int count = whole(xml_attribute(x, "count"));
    const char *class = xml_attribute(x, "tclass"), *to = xml_attribute(x, "target");
    if (!n->gpu_count) return OK;
    if (count < 1 || count > 1024 || !*to)
        return xml_refuse(x, err,
                          "<%.20s>: expected a target and a count of 1 to 1024, found \"%.20s\"",
                          x->name, xml_attribute(x, "count"));
    if (n->link_count == LINKS_MOST) return xml_refuse(x, err, "more than %d links", LINKS_MOST);
    GROW(n->arena, n->links, n->link_count, n->link_room, 64);
    n->links[n->link_count++] = (struct nvlink){n->gpu_count - 1, to, count, end_of(class)};
    return OK;
}

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
        if (!strcmp(n->nets[i].name, name)) return OK; // some files list its channels one by one
    if (n->net_count == NETS_MOST) return xml_refuse(x, err, "more than %d <net>", NETS_MOST);
    GROW(n->arena, n->nets, n->net_count, n->net_room, 16);
    n->nets[n->net_count++] = (struct net){.name = name,
                                           .bus = p->pci_count ? p->pci[p->pci_count - 1].bus : "",
                                           .pci_bytes_per_s = path_bytes_per_s(p),
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
        const char *class = xml_attribute(x, "class");
        p->pci[p->pci_count++] = (struct pci){xml_attribute(x, "busid"), class, pci_bytes_per_s(x)};
        n->any_pci = true;
        n->listed_gpus += is_gpu_class(class);
        if (!strncmp(class, "0x0207", 6)) n->listed_cards[NIC_INFINIBAND]++;
        if (!strncmp(class, "0x0200", 6)) n->listed_cards[NIC_ETHERNET]++;
        return OK;
    }
    if (x->closes) return OK;
    if (!strcmp(x->name, "cpu")) p->host = xml_attribute(x, "host_hash");
    if (!strcmp(x->name, "gpu")) return take_gpu(n, x, p, err);
    if (!strcmp(x->name, "nvlink") || !strcmp(x->name, "xgmi")) return take_link(n, x, err);
    return strcmp(x->name, "net") ? OK : take_net(n, x, p, err);
}

static enum status expect_gpus(const struct node *n, struct error *err)
{
    if (n->gpu_count || n->listed_gpus) return OK;
    if (n->any_pci)
        return refuse(err,
                      "%s: its <pci> elements have no class, which NCCL fills in on the node: give "
                      "what it then has, NCCL_TOPO_DUMP_FILE",
                      n->path);
    return refuse(err, "%s: expected <gpu> elements of NCCL's topology, found none", n->path);
}

// In a script, the file begins at <system>; whatever follows its end is not read.
static enum status read_node(struct node *n, const char *text, size_t size, struct error *err)
{
    struct xml *x = TAKE(n->arena, 1, struct xml);
    struct place *p = TAKE(n->arena, 1, struct place);
    const char *begin = strstr(text, "<system");
    bool more, script = text[strspn(text, " \t\r\n")] != '<';
    size_t skipped = begin && script ? (size_t)(begin - text) : 0;
    p->host = "";
    xml_open(x, n->path, text + skipped, size - skipped, n->arena);
    for (size_t i = 0; i < skipped; i++) x->line += text[i] == '\n';
    for (bool first = true;; first = false) {
        TRY(xml_next(x, &more, err));
        if (!more) break;
        if (first && !strcmp(x->name, "graphs"))
            return xml_refuse(x, err,
                              "expected <system> of NCCL's topology, found <graphs>, what it chose "
                              "on it: give NCCL_TOPO_DUMP_FILE instead");
        if (first && strcmp(x->name, "system"))
            return xml_refuse(x, err, "expected <system> of NCCL's topology, found <%.40s>",
                              x->name);
        TRY(take_element(n, p, x, err));
        if (x->closes && !x->depth) break;
    }
    return expect_gpus(n, err);
}

// ---- the order of devices

static int by_device(const void *a, const void *b)
{
    const struct gpu *x = a, *y = b;
    return x->device != y->device ? (x->device > y->device) - (x->device < y->device)
                                  : (x->at > y->at) - (x->at < y->at);
}

// Hosts one after the other, each with its GPUs by number if these differ. Returns a copy of the
// links' ends: place[as read].
static int *order_gpus(struct node *n)
{
    struct gpu *ordered = TAKE(n->arena, n->gpu_count, struct gpu);
    int count = 0, *place = TAKE(n->arena, n->gpu_count, int);
    for (int i = 0; i < n->gpu_count; i++) {
        int first = count;
        bool seen = false, distinct = true;
        for (int k = 0; k < i; k++) seen = seen || !strcmp(n->gpus[k].host, n->gpus[i].host);
        if (seen) continue;
        for (int k = i; k < n->gpu_count; k++)
            if (!strcmp(n->gpus[k].host, n->gpus[i].host)) ordered[count++] = n->gpus[k];
        for (int k = first; k < count; k++)
            for (int j = first; j < k; j++)
                distinct = distinct && ordered[k].device != ordered[j].device;
        if (distinct) qsort(ordered + first, (size_t)(count - first), sizeof *ordered, by_device);
        n->host_count++;
    }
    for (int i = 0; i < count; i++) place[ordered[i].at] = i;
    n->gpus = ordered;
    return place;
}

// ---- what joins them

// The GPU of the same host at this bus; -1: this job does not have it.
static int gpu_at(const struct node *n, int from, const char *bus)
{
    for (int i = 0; i < n->gpu_count; i++)
        if (!strcmp(n->gpus[i].bus, bus) && !strcmp(n->gpus[i].host, n->gpus[from].host)) return i;
    return -1;
}

// Of all hosts. false: links of a version that is not known.
static bool make_mesh(struct mesh *m, struct node *n, double link_bytes_per_s)
{
    const int *place = order_gpus(n);
    *m = mesh_open(n->gpu_count, n->arena);
    for (int i = 0; i < n->gpu_count; i++) {
        const struct gpu *a = &n->gpus[i], *b = n->gpus;
        m->bus[i] = a->pci_bytes_per_s;
        if (!i || a->generation < m->capability) m->capability = a->generation;
        for (int k = 0; k < m->count; k++, b++)
            m->apart[i * m->count + k] = k != i && (!*a->bridge || strcmp(a->bridge, b->bridge));
    }
    for (int i = 0; i < n->link_count; i++) {
        const struct nvlink *link = &n->links[i];
        int from = place[link->from];
        const struct gpu *gpu = &n->gpus[from];
        double one = link_bytes_per_s > 0 ? link_bytes_per_s
                     : *gpu->architecture ? mesh_xgmi_rate(gpu->architecture)
                                          : mesh_nvlink_rate(gpu->generation);
        if (link->end == END_SWITCH) {
            m->switched[from] += link->count * one;
        } else if (link->end == END_GPU) {
            int to = gpu_at(n, from, link->to);
            if (to < 0 || to == from) continue; // clouds write a GPU's links as to itself
            m->direct[from * m->count + to] += link->count * one;
        } else continue;
        if (!(one > 0)) return false;
    }
    return true;
}

// One host's part, the first's: false if another's differs.
static bool take_host(struct mesh *m, int hosts, struct arena *arena)
{
    int each = m->count / hosts;
    struct mesh one = mesh_open(each, arena);
    one.capability = m->capability;
    for (int i = 0; i < m->count; i++) {
        int at = i % each;
        if (i >= each && m->switched[i] != one.switched[at]) return false;
        one.switched[at] = m->switched[i], one.bus[at] = m->bus[i];
        for (int k = 0; k < each; k++) {
            double rate = m->direct[i * m->count + i / each * each + k];
            if (i >= each && rate != one.direct[at * each + k]) return false;
            one.direct[at * each + k] = rate;
            if (i < each) one.apart[i * each + k] = m->apart[i * m->count + k];
        }
    }
    *m = one;
    return true;
}

static bool all_switched(const struct mesh *m)
{
    for (int i = 0; i < m->count; i++)
        if (!(m->switched[i] > 0)) return false;
    return true;
}

// ---- the cluster

struct request {
    const char *like, *gpu;
    int64_t nodes;
    double memory_gb, intra_bytes_per_s, link_bytes_per_s, latency_us;
};

// Ports of one device have no more together than its way to the processor.
static void share_lanes(struct node *n)
{
    const struct net *stated = TAKE_COPY(n->arena, n->nets, n->net_count);
    for (int i = 0; i < n->net_count; i++) {
        double all = 0, most = stated[i].pci_bytes_per_s;
        for (int k = 0; k < n->net_count; k++)
            all += strcmp(stated[k].bus, stated[i].bus) ? 0 : stated[k].bytes_per_s;
        if (!*stated[i].bus || !(most > 0) || all <= most) continue;
        n->nets[i].bytes_per_s *= most / all;
        fprintf(stderr, "%s: %s of %g Gb/s gets %g: its device has %g GB/s of PCIe\n", n->path,
                stated[i].name, stated[i].bytes_per_s * 8e-9, n->nets[i].bytes_per_s * 8e-9,
                most * 1e-9);
    }
}

// The fastest of each kind: slower ones usually serve storage and management.
static void put_nics(struct node_group *g, const struct node *n, const struct node_group *from,
                     int hosts, struct arena *arena)
{
    const struct node_group of = *from, *like = &of;
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
        nic.count /= hosts;
        if (nic.count) g->nics[g->nic_count++] = nic;
    }
}

// As many GPUs and cards as the list has; all else as the other cluster says.
static enum status take_list(struct node_group *g, const struct node *n, const struct request *r,
                             struct reading *reading, struct error *err)
{
    enum nic_kind kind = n->listed_cards[NIC_INFINIBAND] ? NIC_INFINIBAND : NIC_ETHERNET;
    int cards = n->listed_cards[kind];
    if (!r->like)
        return refuse(
            err,
            "%s: a list of PCI devices, without links and speeds, which NCCL finds on the node: "
            "give --like CLUSTER (plumbline clusters), or what it found, NCCL_TOPO_DUMP_FILE",
            n->path);
    g->gpus_per_node = n->listed_gpus;
    g->nics = TAKE_COPY(n->arena, g->nics, g->nic_count);
    if (cards && g->nic_count) g->nic_count = 1, g->nics[0].count = cards;
    if (cards && g->nic_count && kind == NIC_INFINIBAND) g->nics[0].kind = kind;
    if (r->intra_bytes_per_s > 0)
        g->intra.bytes_per_s = r->intra_bytes_per_s, g->ring_count = g->switch_sum_count = 0;
    said_assume(&reading->said, "as in %s: %g GB/s between two GPUs, %g Gb/s a card", r->like,
                g->intra.bytes_per_s * 1e-9, g->nic_count ? g->nics[0].link.bytes_per_s * 8e-9 : 0);
    if (reading->strict) return OK; // refused in one line
    fprintf(stderr, "%s: %d GPUs and %d network card%s; the file has no links and no speeds\n",
            n->path, n->listed_gpus, cards, cards == 1 ? "" : "s");
    return OK;
}

static void tell_group(const struct node_group *g, const struct node *n, const struct mesh *m,
                       const char *why, bool stated, struct arena *arena)
{
    const char *rings = stated ? NULL : mesh_text(g, m, arena);
    fprintf(stderr, "%s: %d GPUs, %g GB/s between two (%s)%s%s; ", n->path, g->gpus_per_node,
            g->intra.bytes_per_s * 1e-9, why, rings ? "; " : "", rings ? rings : "");
    if (!g->nic_count) fprintf(stderr, "no network card\n");
    for (int i = 0; i < g->nic_count; i++)
        fprintf(stderr, "%d x %s of %g Gb/s%s", g->nics[i].count, nic_kind_names[g->nics[i].kind],
                g->nics[i].link.bytes_per_s * 8e-9, i + 1 < g->nic_count ? ", " : "\n");
}

// What joins GPUs, stated or found. Hosts whose GPUs all lead to switches are one domain: NCCL
// writes several into a file only then.
static enum status put_links(struct node_group *g, struct node *n, const struct request *r,
                             int *hosts, struct error *err)
{
    struct mesh m;
    const char *why = "links of an unknown version";
    bool stated = r->intra_bytes_per_s > 0, known = make_mesh(&m, n, r->link_bytes_per_s);
    *hosts = n->host_count > 1 && known && all_switched(&m) ? 1 : n->host_count;
    if (n->gpu_count % *hosts)
        return refuse(err, "%s: %d GPUs on %d hosts: expected the same number on each", n->path,
                      n->gpu_count, *hosts);
    g->gpus_per_node = n->gpu_count / *hosts;
    if (*hosts > 1 && !take_host(&m, *hosts, n->arena))
        return refuse(err, "%s: expected %d hosts with the same links, found others", n->path,
                      *hosts);
    if (stated) {
        g->intra.bytes_per_s = r->intra_bytes_per_s, g->ring_count = g->switch_sum_count = 0;
        why = "stated";
    } else if (!known || !mesh_put(g, &m, &why, n->arena))
        return refuse(err,
                      "%s: the bandwidth between two GPUs is unknown (%s): give --link-bytes-per-s "
                      "or --intra-bytes-per-s",
                      n->path, why);
    share_lanes(n);
    put_nics(g, n, g, *hosts, n->arena);
    tell_group(g, n, &m, why, stated, n->arena);
    if (*hosts < n->host_count)
        fprintf(stderr, "%s: %d hosts in one NVLink domain, taken as one node\n", n->path,
                n->host_count);
    return OK;
}

static enum status make_group(struct node_group *g, struct node *n, const struct request *r,
                              struct reading *reading, struct error *err)
{
    struct cluster like = {.groups = TAKE(n->arena, 1, struct node_group)};
    int hosts;
    if (r->like) TRY(import_like(&like, r->like, n->arena, err));
    *g = like.groups[0];
    g->nodes = (int)r->nodes;
    if (r->gpu) g->gpu = r->gpu;
    if (r->memory_gb > 0) g->memory_bytes = (int64_t)(r->memory_gb * 1e9);
    if (r->latency_us >= 0) g->intra.latency_s = r->latency_us * 1e-6;
    if (!n->gpu_count) return take_list(g, n, r, reading, err);
    TRY(mesh_check_gpu(g->gpu, *n->gpus[0].architecture, n->gpus[0].generation, &reading->said,
                       n->path, err));
    if (reading->strict && reading->said.assumed) return OK; // refused in one line
    if (!g->gpu || !g->memory_bytes)
        return refuse(err,
                      "%s: NCCL's topology does not state the GPU's name and memory: give --like "
                      "CLUSTER (plumbline clusters), or --gpu and --memory-gb",
                      n->path);
    return put_links(g, n, r, &hosts, err);
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
    {"--memory-gb", OPTION_NUMBER, OPT(asked.memory_gb), "GB (1e9 bytes) of one GPU", 0.001, 1e6},
    {"--nodes", OPTION_INT, OPT(asked.nodes), "number of identical nodes (default: 1)", 1, 1000000},
    {"--link-bytes-per-s", OPTION_NUMBER, OPT(asked.link_bytes_per_s),
     "bandwidth of one NVLink or xGMI link, one direction (default: by the GPU)", 1, 1e18},
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
    TRY(make_group(&o->group, &n, &o->asked, r, err));
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
