// hwloc's lstopo: its XML, and the tree that it prints. Devices are found by what the operating
// system calls them; what joins two of them is what their ancestors in the tree have in common. Of
// NVLinks the XML says bandwidths (hwloc built with NVML); the printed tree says nothing.
#include "data/import/nodes/lstopo.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/base/grow.h"
#include "data/import/nodes/xml.h"

enum { DEPTH_MAX = XML_DEPTH_MAX, OBJECTS_MAX = 4096, DISTANCES_MAX = 256 };

// What an ancestor is, from near to far.
enum place { PLACE_DEVICE, PLACE_BRIDGE, PLACE_HOST_BRIDGE, PLACE_PART, PLACE_MACHINE };

struct step {
    int id; // of the object, unique
    enum place place;
};

struct device {
    struct step steps[DEPTH_MAX]; // from the machine to the device
    int depth;
};

// An operating system's device with a number that distances name; entity -1: neither GPU nor NIC.
struct named {
    const char *number;
    int entity;
};

struct tree {
    struct topology *t;
    struct device *devices;                // [ENTITIES_MAX], in the order of t's names
    struct device here;                    // where the reader is
    int ids, numa_nodes, entity_of_device; // entity of the PCI device that is open; -1: none yet
    struct named *named;
    int named_count, named_capacity;
    bool full;
};

static struct tree open_tree(struct topology *t)
{
    t->form = FORM_MATRIX;
    t->names = TAKE(t->arena, ENTITIES_MAX, const char *);
    t->is_gpu = TAKE(t->arena, ENTITIES_MAX, bool);
    return (struct tree){
        .t = t, .devices = TAKE(t->arena, ENTITIES_MAX, struct device), .entity_of_device = -1};
}

static enum place place_of(const char *type, bool host)
{
    if (!strncmp(type, "Machine", 7) || !strncmp(type, "System", 6)) return PLACE_MACHINE;
    if (!strncmp(type, "HostBridge", 10) || (!strncmp(type, "Bridge", 6) && host))
        return PLACE_HOST_BRIDGE;
    if (!strncmp(type, "PCIBridge", 9) || !strncmp(type, "Bridge", 6)) return PLACE_BRIDGE;
    return !strncmp(type, "PCI", 3) ? PLACE_DEVICE : PLACE_PART;
}

static void enter(struct tree *x, int depth, enum place place)
{
    if (depth < 0 || depth >= DEPTH_MAX) return;
    x->here.steps[depth] = (struct step){++x->ids, place};
    x->here.depth = depth + 1;
    if (place == PLACE_DEVICE) x->entity_of_device = -1;
}

static bool begins(const char *name, const char *const *words)
{
    for (; *words; words++) {
        size_t length = strlen(*words);
        if (!strncmp(name, *words, length) && isdigit((unsigned char)name[length])) return true;
    }
    return false;
}

// A device of the operating system, in the PCI device that is open; several names of one are one.
static void take_named(struct tree *x, const char *name, const char *number)
{
    static const char *const gpus[] = {"nvml", "cuda", "rsmi", "ze", "amdsmi", NULL},
                             *const nics[] = {"mlx4_", "mlx5_", "hfi1_", "bnxt_re", "irdma", "efa_",
                                              "cxi",   "rdmap", "qedr",  "ionic_",  NULL};
    struct topology *t = x->t;
    bool gpu = begins(name, gpus);
    if (!gpu && !begins(name, nics)) return;
    if (x->entity_of_device < 0 && t->count == ENTITIES_MAX) x->full = true;
    if (x->entity_of_device < 0 && t->count < ENTITIES_MAX) {
        x->entity_of_device = t->count;
        int length = 0;
        while (length < 40 && isgraph((unsigned char)name[length])) length++;
        t->names[t->count] = gpu ? arena_print(t->arena, "GPU%d", t->gpu_count)
                                 : arena_print(t->arena, "%.*s", length, name);
        t->is_gpu[t->count] = gpu, t->gpu_count += gpu;
        x->devices[t->count++] = x->here;
    }
    if (x->named_count == OBJECTS_MAX || !number) return;
    GROW(t->arena, x->named, x->named_count, x->named_capacity, 64);
    x->named[x->named_count++] = (struct named){number, x->entity_of_device};
}

// ---- paths

// The deepest ancestor of both, and how many bridges are between it and each.
static int path_of(const struct tree *x, const struct device *a, const struct device *b)
{
    int common = 0, most = 0;
    while (common < a->depth && common < b->depth && a->steps[common].id == b->steps[common].id)
        common++;
    if (!common) return PATH_SYS;
    for (int side = 0; side < 2; side++) {
        const struct device *d = side ? b : a;
        int bridges = 0;
        for (int i = common; i < d->depth; i++) bridges += d->steps[i].place == PLACE_BRIDGE;
        if (bridges > most) most = bridges;
    }
    switch (a->steps[common - 1].place) {
    case PLACE_DEVICE: return PATH_PIX; // functions of one device
    case PLACE_BRIDGE: return most <= 1 ? PATH_PIX : PATH_PXB;
    case PLACE_HOST_BRIDGE: return PATH_PHB;
    case PLACE_PART: return PATH_NODE;
    default: return x->numa_nodes > 1 ? PATH_SYS : PATH_NODE;
    }
}

static enum status end_tree(struct tree *x, struct error *err)
{
    struct topology *t = x->t;
    if (x->full) return refuse(err, "%s: more than %d GPUs and NICs", t->path, ENTITIES_MAX);
    if (!t->gpu_count)
        return refuse(
            err,
            "%s: lstopo names no GPU (cuda0, nvml0, rsmi0 ...): it was built without CUDA, "
            "NVML and RSMI, or ran without --filter io:important; give nvidia-smi topo -m",
            t->path);
    t->paths = TAKE(t->arena, t->count * t->count, int);
    t->rates = TAKE(t->arena, t->count * t->count, double);
    t->row_count = t->count, t->links_unsaid = true;
    for (int a = 0; a < t->count; a++)
        for (int b = 0; b < t->count; b++)
            t->paths[a * t->count + b] = a == b ? PATH_SELF
                                                : path_of(x, &x->devices[a], &x->devices[b]);
    return OK;
}

// ---- XML

static int entity_of(const struct tree *x, const char *number, size_t length)
{
    for (int i = 0; i < x->named_count; i++)
        if (strlen(x->named[i].number) == length && !strncmp(x->named[i].number, number, length))
            return x->named[i].entity;
    return -1;
}

// Objects of a matrix of bandwidths, and its values, in MB/s.
struct distances {
    bool links, typed; // of NVLinks; indexes are numbers of operating system's devices
    int *entities, count;
    bool *switches; // [count] objects that are no GPUs, NICs or processors
    double *values;
    int value_count;
};

// "OSDev:802", or with one type for all "802".
static void take_indexes(const struct tree *x, struct distances *d, const char *at, const char *end)
{
    while (at < end && d->count < DISTANCES_MAX) {
        while (at < end && isspace((unsigned char)*at)) at++;
        const char *from = at;
        while (at < end && !isspace((unsigned char)*at)) at++;
        if (at == from) break;
        const char *colon = memchr(from, ':', (size_t)(at - from));
        bool device = colon ? !strncmp(from, "OSDev:", 6) : d->typed;
        const char *number = colon ? colon + 1 : from;
        d->switches[d->count] = colon && !strncmp(from, "PCIDev:", 7);
        d->entities[d->count++] = device ? entity_of(x, number, (size_t)(at - number)) : -1;
    }
}

static void take_values(struct distances *d, const char *at, const char *end)
{
    while (at < end) {
        char word[32] = "", *stop;
        while (at < end && isspace((unsigned char)*at)) at++;
        size_t length = 0;
        for (; at < end && !isspace((unsigned char)*at); at++)
            if (length + 1 < sizeof word) word[length++] = *at;
        if (!length) break;
        double value = strtod(word, &stop);
        if (*stop || !(value >= 0) || value > 1e9) value = 0;
        if (d->value_count < d->count * d->count) d->values[d->value_count++] = value;
    }
}

// As many links as of the nearest generation whose bandwidth divides theirs.
static int links_of_rate(double megabytes)
{
    static const double each[] = {25000, 20000, 26562, 50000};
    for (size_t i = 0; i < ARRAY_LENGTH(each); i++) {
        double links = round(megabytes / each[i]);
        if (links >= 1 && fabs(links * each[i] - megabytes) < 0.01 * megabytes)
            return links < LINKS_MAX ? (int)links : LINKS_MAX;
    }
    return 1;
}

static void join(struct topology *t, int a, int b, double megabytes)
{
    if (a == b || !(megabytes > 0)) return;
    t->paths[a * t->count + b] = PATH_LINKS + links_of_rate(megabytes);
    t->rates[a * t->count + b] = megabytes * 1e6;
}

// Links to other GPUs; where a GPU has none, those to switches reach all that have some.
static void join_gpus(struct topology *t, const struct distances *d)
{
    double *outside = TAKE(t->arena, t->count, double);
    bool *direct = TAKE(t->arena, t->count, bool);
    if (d->value_count < d->count * d->count) return;
    t->links_unsaid = false;
    for (int i = 0; i < d->count; i++)
        for (int j = 0; j < d->count; j++) {
            int a = d->entities[i], b = d->entities[j];
            double rate = d->values[i * d->count + j];
            if (a < 0 || i == j || !(rate > 0) || !t->is_gpu[a]) continue;
            if (b >= 0 && t->is_gpu[b]) direct[a] = true, join(t, a, b, rate);
            else if (d->switches[j]) outside[a] += rate;
        }
    for (int a = 0; a < t->count; a++)
        for (int b = 0; b < t->count; b++)
            if (!direct[a] && !direct[b] && outside[a] > 0 && outside[b] > 0)
                join(t, a, b, outside[a]);
}

static void read_object(struct tree *x, const struct xml *xml, int depth)
{
    const char *type = xml_attribute(xml, "type");
    if (!strcmp(type, "OSDev")) {
        take_named(x, xml_attribute(xml, "name"), xml_attribute(xml, "gp_index"));
        return;
    }
    x->numa_nodes += !strcmp(type, "NUMANode");
    enter(x, depth, place_of(type, !strncmp(xml_attribute(xml, "bridge_type"), "0-", 2)));
}

static const char *text_end(const struct xml *xml)
{
    const char *end = memchr(xml->at, '<', (size_t)(xml->end - xml->at));
    return end ? end : xml->end;
}

static enum status read_xml(struct tree *x, const char *text, size_t size, struct distances *d,
                            struct error *err)
{
    struct xml xml;
    bool more;
    int objects = 0;
    xml_open(&xml, x->t->path, text, size, x->t->arena);
    for (;;) {
        TRY(xml_next(&xml, &more, err));
        if (!more) return OK;
        bool object = !strcmp(xml.name, "object");
        if (xml.closes) {
            objects -= object;
            if (!strncmp(xml.name, "distances2", 10) && d->links && d->value_count) return OK;
        } else if (object) {
            read_object(x, &xml, objects++);
        } else if (!strncmp(xml.name, "distances2", 10)) {
            d->links = !strcmp(xml_attribute(&xml, "name"), "NVLinkBandwidth");
            d->typed = !strcmp(xml_attribute(&xml, "type"), "OSDev");
            d->count = d->value_count = 0;
        } else if (d->links && !strcmp(xml.name, "indexes")) {
            take_indexes(x, d, xml.at, text_end(&xml));
            if (!d->values) d->values = TAKE(x->t->arena, DISTANCES_MAX * DISTANCES_MAX, double);
        } else if (d->links && !strcmp(xml.name, "u64values") && d->values) {
            take_values(d, xml.at, text_end(&xml));
        }
    }
}

// ---- the printed tree

// The last name in quotes of a line.
static const char *quoted(const char *from, const char *end, struct arena *arena)
{
    const char *last = end, *first;
    while (last > from && last[-1] != '"') last--;
    if (last-- == from) return "";
    for (first = last; first > from && first[-1] != '"';) first--;
    return first > from ? arena_print(arena, "%.*s", (int)(last - first), first) : "";
}

static void read_tree(struct tree *x, const char *text, size_t size)
{
    int indents[DEPTH_MAX] = {0}, depth = 0;
    const char *at = text, *end = text + size;
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        if (!line_end) line_end = end;
        int indent = 0;
        for (; at < line_end && *at == ' '; at++) indent++;
        if (at < line_end && isalpha((unsigned char)*at)) {
            while (depth > 0 && indents[depth - 1] >= indent) depth--;
            const char *word = arena_print(x->t->arena, "%.*s", (int)(line_end - at), at);
            enum place place = place_of(word, false);
            x->numa_nodes += !strncmp(word, "NUMANode", 8);
            // A device's own line names it: GPU(NVML) "nvml0", OpenFabrics L#3 "mlx5_0".
            if (place == PLACE_PART && strchr(word, '"') && x->here.depth && depth &&
                x->here.steps[depth - 1].place == PLACE_DEVICE)
                take_named(x, quoted(at, line_end, x->t->arena), NULL);
            if (depth < DEPTH_MAX) indents[depth] = indent, enter(x, depth++, place);
        }
        at = line_end + (line_end < end);
    }
}

// ---- whichever it is

bool lstopo_is(const char *text, size_t size)
{
    size_t blanks = 0;
    while (blanks < size && isspace((unsigned char)text[blanks])) blanks++;
    text += blanks, size -= blanks;
    if (size >= 8 && !memcmp(text, "Machine ", 8)) return true;
    const char *head = text, *end = text + (size < 400 ? size : 400);
    for (; head + 9 <= end; head++)
        if (*head == '<' && !memcmp(head, "<topology", 9)) return true;
    return false;
}

enum status lstopo_read(struct topology *t, const char *text, size_t size, struct error *err)
{
    struct tree x = open_tree(t);
    struct distances d = {.entities = TAKE(t->arena, DISTANCES_MAX, int),
                          .switches = TAKE(t->arena, DISTANCES_MAX, bool)};
    while (size && isspace((unsigned char)*text)) text++, size--;
    if (size && *text == '<') TRY(read_xml(&x, text, size, &d, err));
    else read_tree(&x, text, size);
    TRY(end_tree(&x, err));
    if (d.links && d.values) join_gpus(t, &d);
    return OK;
}
