// plumbline import hostfile FILE: "HOST slots=8" of Open MPI and DeepSpeed, "HOST:8" of MPICH, or
// only names; makes a cluster whose nodes have these names, with a group for each number of slots
// and each --like.
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

struct options {
    struct reading import;
    struct option_texts likes;
    const char *like_of[GROUPS_MAX]; // of --like, by group
    bool used[GROUPS_MAX];           // by --like
};
static const struct option_row rows[] = {
    {"--like", OPTION_TEXT, OPT(likes),
     "cluster whose first group describes the nodes: shipped name or file; slots are GPUs; "
     "NAME=CLUSTER: for hosts whose names begin with NAME; may be repeated",
     .many = GROUPS_MAX},
};

// The cluster of the longest beginning of the host's name, or that for all others; NULL: none.
static const char *find_like(struct options *o, const char *host)
{
    int found = -1;
    size_t longest = 0;
    for (int i = 0; i < o->likes.count; i++) {
        const char *like = o->likes.items[i], *equals = strchr(like, '=');
        size_t length = equals ? (size_t)(equals - like) + 1 : 0;
        if ((length && strncmp(like, host, length - 1) != 0) || (found >= 0 && length < longest))
            continue;
        found = i, longest = length;
    }
    if (found < 0) return NULL;
    o->used[found] = true;
    return o->likes.items[found] + longest;
}

// Nodes of several kinds are told apart by nothing in a hostfile.
static enum status check_like(const char *like, struct arena *arena, struct error *err)
{
    struct cluster c;
    TRY(host_cluster(&c, like, arena, err));
    for (int g = 1; g < c.group_count; g++)
        if (strcmp(c.groups[g].gpu, c.groups[0].gpu) != 0)
            return refuse(
                err,
                "--like: %s has nodes with %s and with %s, which a hostfile does not tell "
                "apart: give one for each, --like NAME=CLUSTER for hosts whose names begin "
                "with NAME",
                like, c.groups[0].gpu, c.groups[g].gpu);
    return OK;
}

// Which of two clusters a name's beginning means, or a cluster that any name begins with.
static enum status check_names(const struct option_texts *likes, struct error *err)
{
    for (int i = 0; i < likes->count; i++) {
        const char *equals = strchr(likes->items[i], '=');
        size_t length = equals ? (size_t)(equals - likes->items[i]) + 1 : 0;
        if (length == 1)
            return refuse(err, "--like: expected NAME=CLUSTER or CLUSTER, found '%.80s'",
                          likes->items[i]);
        for (int k = 0; k < i; k++)
            if (length ? !strncmp(likes->items[i], likes->items[k], length)
                       : !strchr(likes->items[k], '='))
                return refuse(err, "--like: '%.80s' and '%.80s' are for the same hosts",
                              likes->items[k], likes->items[i]);
    }
    return OK;
}

static bool is_named(const struct cluster *c, const char *name)
{
    int g = 0;
    while (g < c->group_count && strcmp(c->groups[g].name, name) != 0) g++;
    return g < c->group_count;
}

static enum status find_group(int *group, struct options *o, const char *host, int slots,
                              struct error *err)
{
    struct cluster *c = &o->import.cluster;
    struct arena *arena = o->import.arena;
    const char *like = find_like(o, host);
    struct node_group nodes;
    int g = 0;
    if (!like && o->likes.count)
        return refuse(err,
                      "--like: %.60s: its name begins with none of those given; expected --like "
                      "NAME=CLUSTER for it, or a CLUSTER for all others",
                      host);
    TRY(host_group(&nodes, like, arena, err));
    if (slots) nodes.gpus_per_node = slots;
    while (g < c->group_count &&
           (strcmp(o->like_of[g], like) != 0 || c->groups[g].gpus_per_node != nodes.gpus_per_node))
        g++;
    if (g == GROUPS_MAX)
        return refuse(err, "%s: more than %d different numbers of slots", o->import.path,
                      GROUPS_MAX);
    if (g == c->group_count) {
        TRY(check_like(like, arena, err));
        if (is_named(c, nodes.name))
            nodes.name = arena_print(arena, "%s-of-%d", nodes.name, nodes.gpus_per_node);
        if (is_named(c, nodes.name)) nodes.name = arena_print(arena, "%s-%d", nodes.name, g);
        nodes.nodes = 0, o->like_of[g] = like;
        c->groups[g] = nodes, c->group_count++;
    }
    c->groups[g].nodes++;
    *group = g;
    return OK;
}

static enum status read_file(void *options, struct error *err)
{
    struct options *o = options;
    struct reading *r = &o->import;
    struct cluster *c = &r->cluster;
    struct hosts h = {.names = {.arena = r->arena}};
    struct text_lines t;
    bool more;
    TRY(check_names(&o->likes, err));
    text_open(&t, r->file.path, r->text, r->size, r->arena);
    while (true) {
        TRY(text_next(&t, &more, err));
        if (!more) break;
        if (t.word_count && *t.words[0] != '#') TRY(read_line(&h, &t, r->arena, err));
    }
    if (!h.names.count) return refuse(err, "%s: expected one host per line, found none", r->path);
    c->groups = TAKE(r->arena, GROUPS_MAX, struct node_group);
    c->places.node_count = h.names.count;
    c->places.nodes = TAKE(r->arena, h.names.count, struct cluster_node);
    for (int i = 0; i < h.names.count; i++) {
        int group = 0;
        TRY(find_group(&group, o, h.names.items[i], h.slots[i], err));
        c->places.nodes[i] = (struct cluster_node){.name = h.names.items[i], .group = group};
    }
    for (int i = 0; i < o->likes.count; i++)
        if (!o->used[i])
            return refuse(err, "--like %s: no host of %s is described by it", o->likes.items[i],
                          r->path);
    return OK;
}

static void tell(const void *options)
{
    const struct options *o = options;
    const struct cluster *c = &o->import.cluster;
    for (int g = 0; g < c->group_count; g++)
        fprintf(stderr, "%s%d node%s of %d GPUs as in %s", g ? ", " : "", c->groups[g].nodes,
                c->groups[g].nodes == 1 ? "" : "s", c->groups[g].gpus_per_node, o->like_of[g]);
    fputc('\n', stderr);
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
