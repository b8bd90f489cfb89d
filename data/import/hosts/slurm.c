// plumbline import slurm topology.conf: the tree of switches of Slurm's topology/tree plugin
// (SwitchName=, Nodes=, Switches=); makes a cluster whose nodes are below these switches. There is
// one network level for each height of switches; how much of the cards' bandwidth a level has is
// not in the file.
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "data/base/grow.h"
#include "data/import/hosts/names.h"
#include "data/import/import.h"

struct network_switch {
    const char *name;
    const char *below; // list of switches, NULL: none
    int line;
    int parent, height; // -1: none; not known
};

enum { LEVELS_MOST = 8 };

struct tree {
    struct network_switch *switches;
    int count, capacity;
    struct host_names nodes;
    int *leaf; // [nodes.count]
    int leaf_capacity;
    struct arena *arena;
};

static const char *value_of(const struct text_lines *t, const char *key, struct arena *arena)
{
    size_t n = strlen(key);
    for (int i = 0; i < t->word_count && *t->words[i] != '#'; i++)
        if (!strncasecmp(t->words[i], key, n) && t->words[i][n] == '=')
            return arena_copy_text(arena, t->words[i] + n + 1);
    return NULL;
}

static int switch_of(const struct tree *tree, const char *name)
{
    for (int i = 0; i < tree->count; i++)
        if (!strcmp(tree->switches[i].name, name)) return i;
    return -1;
}

static enum status add_nodes(struct tree *tree, const char *list, const struct text_lines *t,
                             struct error *err)
{
    int before = tree->nodes.count;
    TRY(host_names_add(&tree->nodes, list, t, err));
    for (int i = before; i < tree->nodes.count; i++) {
        for (int k = 0; k < i; k++)
            if (!strcmp(tree->nodes.items[i], tree->nodes.items[k]))
                return text_refuse(t, err, "node %.60s is attached to two switches",
                                   tree->nodes.items[i]);
        GROW(tree->arena, tree->leaf, i, tree->leaf_capacity, 64);
        tree->leaf[i] = tree->count - 1;
    }
    return OK;
}

static enum status read_line(struct tree *tree, const struct text_lines *t, struct error *err)
{
    const char *list = value_of(t, "SwitchName", tree->arena),
               *nodes = value_of(t, "Nodes", tree->arena),
               *below = value_of(t, "Switches", tree->arena);
    struct host_names names = {.arena = tree->arena};
    if (!list || (!nodes && !below))
        return text_refuse(
            t, err, "expected SwitchName=NAME and Nodes=LIST or Switches=LIST, found '%.60s'",
            t->words[0]);
    TRY(host_names_add(&names, list, t, err));
    if (names.count != 1) return text_refuse(t, err, "SwitchName: expected one name");
    if (switch_of(tree, names.items[0]) >= 0)
        return text_refuse(t, err, "switch %.60s appears twice", names.items[0]);
    GROW(tree->arena, tree->switches, tree->count, tree->capacity, 64);
    tree->switches[tree->count++] =
        (struct network_switch){names.items[0], below, t->line, -1, below ? -1 : 0};
    // The output of scontrol show topology lists all nodes below a switch in addition to its
    // switches.
    return nodes && !(below && value_of(t, "Level", tree->arena)) ? add_nodes(tree, nodes, t, err)
                                                                  : OK;
}

static enum status join_switches(struct tree *tree, struct text_lines *t, struct error *err)
{
    for (int i = 0; i < tree->count; i++) {
        struct host_names names = {.arena = tree->arena};
        t->line = tree->switches[i].line;
        if (!tree->switches[i].below) continue;
        TRY(host_names_add(&names, tree->switches[i].below, t, err));
        for (int k = 0; k < names.count; k++) {
            int child = switch_of(tree, names.items[k]);
            if (child < 0)
                return text_refuse(t, err, "Switches: there is no switch %.60s", names.items[k]);
            if (tree->switches[child].parent >= 0)
                return text_refuse(t, err, "Switches: %.60s is already attached to %.60s",
                                   names.items[k],
                                   tree->switches[tree->switches[child].parent].name);
            tree->switches[child].parent = i;
        }
    }
    return OK;
}

// One above the highest switch directly below it. A switch in a cycle never gets a height.
static enum status find_heights(struct tree *tree, int *levels, struct text_lines *t,
                                struct error *err)
{
    *levels = 1;
    for (int round = 0; round <= LEVELS_MOST; round++)
        for (int i = 0; i < tree->count; i++) {
            const struct network_switch *s = &tree->switches[i];
            if (s->parent < 0 || s->height < 0) continue;
            struct network_switch *above = &tree->switches[s->parent];
            if (above->height <= s->height) above->height = s->height + 1;
            if (above->height + 1 > *levels) *levels = above->height + 1;
        }
    for (int i = 0; i<tree->count && * levels> LEVELS_MOST; i++)
        if (tree->switches[i].height >= LEVELS_MOST) {
            t->line = tree->switches[i].line;
            return text_refuse(t, err, "%.60s: more than %d levels of switches, or a cycle",
                               tree->switches[i].name, LEVELS_MOST);
        }
    for (int i = 0; i < tree->count; i++)
        if (tree->switches[i].height < 0) {
            t->line = tree->switches[i].line;
            return text_refuse(t, err, "%.60s: no node is below it, or it is in a cycle",
                               tree->switches[i].name);
        }
    return OK;
}

// The maximum that all cards of one kind in a node can forward.
static struct link cards_of(const struct cluster *c)
{
    struct link cards = {0, 0};
    for (int g = 0; g < c->group_count; g++)
        for (int i = 0; i < c->groups[g].nic_count; i++) {
            const struct nic *nic = &c->groups[g].nics[i];
            double all = nic->count * nic->link.bytes_per_s;
            if (all > cards.bytes_per_s) cards = (struct link){all, nic->link.latency_s};
        }
    return cards;
}

static enum status put_levels(struct places *p, const struct tree *tree, int levels,
                              const struct cluster *c, const char *oversubscription,
                              struct error *err)
{
    struct link cards = cards_of(c);
    if (!(cards.bytes_per_s > 0))
        return fail(err, BAD_INPUT, "--like: its nodes have no network cards");
    p->level_count = levels;
    p->levels = TAKE(tree->arena, levels, struct network_level);
    for (int k = 0; k < levels; k++) {
        double times = 1;
        if (oversubscription && *oversubscription) {
            size_t length = strcspn(oversubscription, ",");
            const char *word = arena_print(tree->arena, "%.*s", (int)length, oversubscription);
            if (!word_is_number(word, &times) || times < 1 || times > 1000)
                return fail(err, BAD_INPUT,
                            "--oversubscription: expected numbers from 1 to 1000 for the levels, "
                            "the nearest first, found '%.40s'",
                            word);
            oversubscription += length + (oversubscription[length] == ',');
        }
        p->levels[k] = (struct network_level){k ? arena_print(tree->arena, "level-%d", k) : "leaf",
                                              {cards.bytes_per_s / times, cards.latency_s}};
    }
    return OK;
}

// ---- nodes and their groups

static int group_in(const struct cluster *like, const char *name)
{
    for (int i = 0; i < like->places.node_count; i++)
        if (!strcmp(like->places.nodes[i].name, name)) return like->places.nodes[i].group;
    return -1;
}

// Each node's group in `like`; if that has none of the nodes, its first group for all.
static int *find_groups(const struct cluster *like, const struct tree *tree)
{
    int count = tree->nodes.count, known = 0;
    int *groups = TAKE(tree->arena, count, int);
    for (int i = 0; i < count; i++) {
        groups[i] = group_in(like, tree->nodes.items[i]);
        known += groups[i] >= 0;
    }
    if (!known) memset(groups, 0, (size_t)count * sizeof *groups);
    return groups;
}

// The groups of `like` that have nodes; number[group]: its index among them.
static void put_groups(struct cluster *c, const struct cluster *like, const int *groups, int count,
                       int number[GROUPS_MAX], struct arena *arena)
{
    int used[GROUPS_MAX] = {0};
    for (int i = 0; i < count; i++)
        if (groups[i] >= 0) used[groups[i]]++;
    c->groups = TAKE(arena, like->group_count, struct node_group);
    for (int g = 0; g < like->group_count; g++) {
        if (!used[g]) continue;
        number[g] = c->group_count;
        c->groups[c->group_count] = like->groups[g];
        c->groups[c->group_count++].nodes = used[g];
    }
    c->links = TAKE(arena, like->link_count, struct group_link);
    for (int i = 0; i < like->link_count; i++) {
        struct group_link link = like->links[i];
        if (!used[link.from] || !used[link.to]) continue;
        link.from = number[link.from], link.to = number[link.to];
        c->links[c->link_count++] = link;
    }
}

static void put_nodes(struct places *p, const struct tree *tree, int levels, const int *groups,
                      const int number[GROUPS_MAX])
{
    p->switch_count = tree->count;
    p->switches = TAKE(tree->arena, tree->count, const char *);
    for (int i = 0; i < tree->count; i++) p->switches[i] = tree->switches[i].name;
    p->nodes = TAKE(tree->arena, tree->nodes.count, struct cluster_node);
    for (int i = 0; i < tree->nodes.count; i++) {
        if (groups[i] < 0) continue;
        int *at = TAKE(tree->arena, levels, int);
        for (int k = 0; k < levels; k++) at[k] = -1;
        for (int s = tree->leaf[i]; s >= 0; s = tree->switches[s].parent)
            at[tree->switches[s].height] = s;
        if (at[0] < 0) at[0] = tree->leaf[i];
        // A level that is skipped gets a separate switch for what is below.
        for (int k = 1; k < levels && at[levels - 1] >= 0; k++)
            if (at[k] < 0) at[k] = at[k - 1];
        p->nodes[p->node_count++] =
            (struct cluster_node){tree->nodes.items[i], number[groups[i]], at};
    }
}

struct options {
    struct reading import;
    const char *like, *oversubscription;
    int levels, listed; // of what was read
    int switches;
};
static const struct option_row rows[] = {
    {"--like", OPTION_CLUSTER, OPT(like),
     "cluster with nodes of these names, otherwise one whose first group describes the nodes: "
     "shipped name or file"},
    {"--oversubscription", OPTION_TEXT, OPT(oversubscription),
     "oversubscription of each switch level, nearest first, such as 1,4: divides the bandwidth of "
     "a "
     "node's cards (default: 1)"},
};

static enum status read_file(void *options, struct error *err)
{
    struct options *o = options;
    struct reading *r = &o->import;
    struct cluster *c = &r->cluster, known;
    struct tree tree = {.nodes = {.arena = r->arena}, .arena = r->arena};
    struct text_lines t;
    bool more;
    int number[GROUPS_MAX] = {0};
    TRY(host_cluster(&known, o->like, r->arena, err));
    text_open(&t, r->file.path, r->text, r->size, r->arena);
    while (true) {
        TRY(text_next(&t, &more, err));
        if (!more) break;
        if (t.word_count && *t.words[0] != '#') TRY(read_line(&tree, &t, err));
    }
    if (!tree.nodes.count)
        return fail(err, BAD_INPUT, "%s: expected switches with nodes, found none", r->path);
    TRY(join_switches(&tree, &t, err));
    TRY(find_heights(&tree, &o->levels, &t, err));
    int *groups = find_groups(&known, &tree);
    put_groups(c, &known, groups, tree.nodes.count, number, r->arena);
    TRY(put_levels(&c->places, &tree, o->levels, c, o->oversubscription, err));
    put_nodes(&c->places, &tree, o->levels, groups, number);
    o->listed = tree.nodes.count, o->switches = tree.count;
    return OK;
}

static void tell(const void *options)
{
    const struct options *o = options;
    const struct cluster *c = &o->import.cluster;
    fprintf(stderr, "%d nodes in %d group%s on %d switches of %d levels", c->places.node_count,
            c->group_count, c->group_count == 1 ? "" : "s", o->switches, o->levels);
    if (c->places.node_count < o->listed)
        fprintf(stderr, "; %d not in %s left out", o->listed - c->places.node_count, o->like);
    fputc('\n', stderr);
}

static const struct reader reader = {"topology", MAKES_CLUSTER, false, read_file, tell};
static const struct options defaults = {
    .import = {.reader = &reader, .output = "-", .name = "slurm"}};
const struct command import_slurm = {
    .name = "slurm",
    .text = "Slurm topology.conf -> cluster with its nodes and switches",
    .usage = "plumbline import slurm topology.conf --like CLUSTER [-o cluster.json]",
    READER(rows, struct options, defaults),
};
