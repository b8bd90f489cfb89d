// plumbline import slurm FILE: Slurm's topology.conf, topology.yaml or what scontrol show topology
// prints: the tree of switches, or blocks; makes a cluster whose nodes are below these switches.
// There is one network level for each height of switches; how much of the cards' bandwidth a level
// has is not in the file. A block may be an NVLink domain: then it is one node of the cluster.
#include <string.h>

#include "data/import/hosts/switches.h"
#include "data/import/import.h"

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
    if (!(cards.bytes_per_s > 0)) return refuse(err, "--like: its nodes have no network cards");
    p->level_count = levels;
    p->levels = TAKE(tree->arena, levels, struct network_level);
    for (int k = 0; k < levels; k++) {
        double times = 1;
        if (oversubscription && *oversubscription) {
            size_t length = strcspn(oversubscription, ",");
            const char *word = arena_print(tree->arena, "%.*s", (int)length, oversubscription);
            if (!word_is_number(word, &times) || times < 1 || times > 1000)
                return refuse(err,
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

// ---- blocks that are NVLink domains

// GPUs of one of Slurm's nodes, if blocks are domains of such nodes as `like` has: stated, or such
// that a block has as many GPUs as one of its nodes; 0: they are not.
static int gpus_of_domain(const struct tree *tree, const struct cluster *like, int64_t stated)
{
    int most = 0, of_block = 0;
    if (!tree->blocks || like->groups[0].gpus_per_node <= 8) return 0;
    for (int i = 0; i < tree->blocks; i++, of_block = 0) {
        for (int n = 0; n < tree->nodes.count; n++) of_block += tree->leaf[n] == i;
        if (of_block > most) most = of_block;
    }
    if (stated) return (int)stated;
    int each = like->groups[0].gpus_per_node / most;
    return each * most == like->groups[0].gpus_per_node && each <= 8 ? each : -1;
}

// Each block becomes a node, in a group for each number of GPUs.
static enum status put_domains(struct cluster *c, struct tree *tree, const struct cluster *like,
                               int each, const char *path, struct error *err)
{
    c->groups = TAKE(tree->arena, GROUPS_MAX, struct node_group);
    struct tree domains = *tree;
    int *groups = TAKE(tree->arena, tree->blocks, int), number[GROUPS_MAX];
    domains.nodes = (struct host_names){.arena = tree->arena};
    domains.nodes.items = TAKE(tree->arena, tree->blocks, const char *);
    domains.leaf = TAKE(tree->arena, tree->blocks, int);
    for (int i = 0; i < tree->blocks; i++) {
        int gpus = 0, g = 0;
        for (int n = 0; n < tree->nodes.count; n++) gpus += tree->leaf[n] == i ? each : 0;
        while (g < c->group_count && c->groups[g].gpus_per_node != gpus) g++;
        if (g == GROUPS_MAX)
            return refuse(err, "%s: blocks of more than %d different sizes", path, GROUPS_MAX);
        if (g == c->group_count) {
            struct node_group *to = &c->groups[c->group_count++];
            *to = like->groups[0];
            to->nodes = 0, to->gpus_per_node = gpus;
            to->name = arena_print(tree->arena, "%s-of-%d", like->groups[0].name, gpus);
            to->nics = TAKE_COPY(tree->arena, to->nics, to->nic_count);
            for (int k = 0; k < to->nic_count; k++) {
                int64_t cards = (int64_t)to->nics[k].count * gpus / like->groups[0].gpus_per_node;
                to->nics[k].count = cards > 0 ? (int)cards : 1;
            }
        }
        c->groups[g].nodes++;
        groups[i] = g, number[g] = g;
        domains.nodes.items[domains.nodes.count++] = tree->switches[i].name;
        domains.leaf[i] = i;
    }
    put_nodes(&c->places, &domains, tree->levels, groups, number);
    return OK;
}

struct options {
    struct reading import;
    const char *like, *oversubscription, *topology;
    int64_t gpus_per_node;
    int levels, listed; // of what was read
    int switches, blocks, domain_gpus;
};
static const struct option_row rows[] = {
    {"--like", OPTION_CLUSTER, OPT(like),
     "cluster with nodes of these names, otherwise one whose first group describes the nodes: "
     "shipped name or file"},
    {"--oversubscription", OPTION_TEXT, OPT(oversubscription),
     "oversubscription of each switch level, nearest first, such as 1,4: divides the bandwidth of "
     "a node's cards (default: 1)"},
    {"--topology", OPTION_TEXT, OPT(topology),
     "which one of topology.yaml (default: the cluster's default, or the first)"},
    {"--gpus-per-node", OPTION_INT, OPT(gpus_per_node),
     "GPUs of each node of a block, if blocks are NVLink domains (--like a cluster of such "
     "domains)",
     1, 64},
};

static enum status read_file(void *options, struct error *err)
{
    struct options *o = options;
    struct reading *r = &o->import;
    struct cluster *c = &r->cluster, known;
    struct tree tree = {.nodes = {.arena = r->arena}, .arena = r->arena};
    int number[GROUPS_MAX] = {0};
    TRY(host_cluster(&known, o->like, r->arena, err));
    TRY(switches_read(&tree, r->file.path, r->text, r->size, o->topology, err));
    if (tree.chosen) said_assume(&r->said, "%s", tree.chosen);
    int each = gpus_of_domain(&tree, &known, o->gpus_per_node);
    if (each < 0)
        return refuse(err,
                      "%s: nodes of %s are domains of %d GPUs, which no block fills: give "
                      "--gpus-per-node, or --like with nodes of 8 GPUs or fewer",
                      r->path, o->like, known.groups[0].gpus_per_node);
    if (o->gpus_per_node && !each)
        return refuse(err,
                      "--gpus-per-node: expected blocks, and --like a cluster of NVLink domains");
    o->levels = tree.levels, o->listed = tree.nodes.count,
    o->switches = tree.blocks ? tree.blocks : tree.count;
    o->blocks = tree.blocks, o->domain_gpus = each;
    if (each && !o->gpus_per_node)
        said_assume(&r->said,
                    "blocks are NVLink domains, as --like has them, of nodes with %d GPUs "
                    "(--gpus-per-node)",
                    each);
    if (each) {
        TRY(put_domains(c, &tree, &known, each, r->path, err));
        return put_levels(&c->places, &tree, o->levels, c, o->oversubscription, err);
    }
    int *groups = find_groups(&known, &tree);
    put_groups(c, &known, groups, tree.nodes.count, number, r->arena);
    TRY(put_levels(&c->places, &tree, o->levels, c, o->oversubscription, err));
    put_nodes(&c->places, &tree, o->levels, groups, number);
    return OK;
}

static void tell(const void *options)
{
    const struct options *o = options;
    const struct cluster *c = &o->import.cluster;
    if (o->domain_gpus) {
        fprintf(stderr,
                "%d blocks of %d nodes, taken as NVLink domains of %d GPU%s a node: each is one "
                "node of the cluster\n",
                o->blocks, o->listed, o->domain_gpus, o->domain_gpus == 1 ? "" : "s");
        return;
    }
    fprintf(stderr, "%d nodes in %d group%s on %d %s of %d level%s", c->places.node_count,
            c->group_count, c->group_count == 1 ? "" : "s", o->switches,
            o->blocks ? "blocks" : "switches", o->levels, o->levels == 1 ? "" : "s");
    if (c->places.node_count < o->listed)
        fprintf(stderr, "; %d not in %s left out", o->listed - c->places.node_count, o->like);
    fputc('\n', stderr);
}

static const struct reader reader = {"topology", MAKES_CLUSTER, false, read_file, tell};
static const struct options defaults = {
    .import = {.reader = &reader, .output = "-", .name = "slurm"}};
const struct command import_slurm = {
    .name = "slurm",
    .text = "Slurm topology.conf, .yaml -> cluster with its nodes, switches, blocks",
    .usage = "plumbline import slurm topology.conf --like CLUSTER [-o cluster.json]",
    READER(rows, struct options, defaults),
};
