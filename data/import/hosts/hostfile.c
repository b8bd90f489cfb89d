// plumbline import hostfile FILE: "HOST slots=8" of Open MPI and DeepSpeed, "HOST:8" of MPICH, or
// only names; makes a cluster whose nodes have these names, with a group for each number of slots.
#include <stdio.h>
#include <string.h>

#include "data/base/grow.h"
#include "data/import/hosts/names.h"
#include "data/import/import.h"

struct hosts {
    struct host_names names;
    int *slots; // [names.count], 0: the number of GPUs of the group
    int capacity;
};

static enum status read_slots(const struct text_lines *t, const char *text, int *slots,
                              struct error *err)
{
    int64_t count;
    if (!word_is_whole(text, &count) || count < 1 || count > 1024)
        return text_refuse(t, err, "slots: expected 1 to 1024, found '%.40s'", text);
    *slots = (int)count;
    return OK;
}

// Words after the name belong to other programs, except slots=.
static enum status read_line(struct hosts *h, const struct text_lines *t, struct arena *arena,
                             struct error *err)
{
    int slots = 0, before = h->names.count;
    const char *name = t->words[0], *colon = strrchr(name, ':');
    if (colon) {
        TRY(read_slots(t, colon + 1, &slots, err));
        name = arena_print(arena, "%.*s", (int)(colon - name), name);
    }
    for (int i = 1; i < t->word_count && *t->words[i] != '#'; i++)
        if (!strncmp(t->words[i], "slots=", 6)) TRY(read_slots(t, t->words[i] + 6, &slots, err));
    TRY(host_names_add(&h->names, arena_copy_text(arena, name), t, err));
    for (int i = before; i < h->names.count; i++) {
        GROW(arena, h->slots, i, h->capacity, 64);
        h->slots[i] = slots;
        for (int k = 0; k < i; k++)
            if (!strcmp(h->names.items[i], h->names.items[k]))
                return text_refuse(t, err, "host %.60s appears twice", h->names.items[i]);
    }
    return OK;
}

static int group_of(struct cluster *c, const struct node_group *like, int slots,
                    struct arena *arena)
{
    int gpus = slots ? slots : like->gpus_per_node, g = 0;
    while (g < c->group_count && c->groups[g].gpus_per_node != gpus) g++;
    if (g == GROUPS_MAX) return -1;
    if (g == c->group_count) {
        c->groups[c->group_count++] = *like;
        c->groups[g].gpus_per_node = gpus;
        c->groups[g].nodes = 0;
        c->groups[g].name = g ? arena_print(arena, "%s-of-%d", like->name, gpus) : like->name;
    }
    c->groups[g].nodes++;
    return g;
}

struct options {
    struct reading import;
    const char *like;
};
static const struct option_row rows[] = {
    {"--like", OPTION_CLUSTER, OPT(like),
     "cluster whose first group describes the nodes: shipped name or file; slots are GPUs"},
};

static enum status read_file(void *options, struct error *err)
{
    struct options *o = options;
    struct reading *r = &o->import;
    struct cluster *c = &r->cluster;
    struct hosts h = {.names = {.arena = r->arena}};
    struct node_group nodes;
    struct text_lines t;
    bool more;
    TRY(host_group(&nodes, o->like, r->arena, err));
    text_open(&t, r->file.path, r->text, r->size, r->arena);
    while (true) {
        TRY(text_next(&t, &more, err));
        if (!more) break;
        if (t.word_count && *t.words[0] != '#') TRY(read_line(&h, &t, r->arena, err));
    }
    if (!h.names.count)
        return fail(err, BAD_INPUT, "%s: expected one host per line, found none", r->path);
    c->groups = TAKE(r->arena, GROUPS_MAX, struct node_group);
    c->places.node_count = h.names.count;
    c->places.nodes = TAKE(r->arena, h.names.count, struct cluster_node);
    for (int i = 0; i < h.names.count; i++) {
        int group = group_of(c, &nodes, h.slots[i], r->arena);
        if (group < 0)
            return fail(err, BAD_INPUT, "%s: more than %d different numbers of slots", r->path,
                        GROUPS_MAX);
        c->places.nodes[i] = (struct cluster_node){.name = h.names.items[i], .group = group};
    }
    return OK;
}

static void tell(const void *options)
{
    const struct options *o = options;
    fprintf(stderr, "%d nodes as in %s\n", o->import.cluster.places.node_count, o->like);
}

static const struct reader reader = {"hostfile", MAKES_CLUSTER, false, read_file, tell};
static const struct options defaults = {
    .import = {.reader = &reader, .output = "-", .name = "hosts"}};
const struct command import_hostfile = {
    .name = "hostfile",
    .text = "hostfile (Open MPI, MPICH, DeepSpeed) -> cluster with its host names",
    .usage = "plumbline import hostfile FILE --like CLUSTER [-o cluster.json]",
    READER(rows, struct options, defaults),
};
