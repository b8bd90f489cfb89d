// See switches.h.
#include "data/import/hosts/switches.h"

#include <string.h>
#include <strings.h>

#include "data/base/grow.h"

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

// ---- one switch or block

static enum status add_switch(struct tree *tree, const char *list, const char *nodes,
                              const char *below, bool block, const struct text_lines *t,
                              struct error *err)
{
    const char *what = block ? "BlockName" : "SwitchName";
    struct host_names names = {.arena = tree->arena};
    TRY(host_names_add(&names, list, t, err));
    if (names.count != 1) return text_refuse(t, err, "%s: expected one name", what);
    if (switch_of(tree, names.items[0]) >= 0)
        return text_refuse(t, err, "%s %.60s appears twice", block ? "block" : "switch",
                           names.items[0]);
    if (tree->count && block != (tree->blocks > 0))
        return text_refuse(t, err, "expected switches or blocks, found both");
    GROW(tree->arena, tree->switches, tree->count, tree->capacity, 64);
    tree->switches[tree->count++] =
        (struct network_switch){names.items[0], below, t->line, -1, below ? -1 : 0};
    tree->blocks += block;
    return nodes ? add_nodes(tree, nodes, t, err) : OK;
}

static enum status add_sizes(struct tree *tree, const char *list, const struct text_lines *t,
                             struct error *err)
{
    while (*list) {
        size_t length = strcspn(list, ",");
        int64_t size;
        const char *word = arena_print(tree->arena, "%.*s", (int)length, list);
        int before = tree->size_count ? tree->sizes[tree->size_count - 1] : 1;
        if (!word_is_whole(word, &size) || size < before || size % before || size > 65536 ||
            tree->size_count == SIZES_MOST)
            return text_refuse(t, err,
                               "block sizes: expected at most %d numbers, each a multiple of the "
                               "one before, found '%.40s'",
                               SIZES_MOST, word);
        tree->sizes[tree->size_count++] = (int)size;
        list += length + (list[length] == ',');
    }
    return OK;
}

// ---- topology.conf, scontrol show topology

static enum status read_line(struct tree *tree, const struct text_lines *t, struct error *err)
{
    const char *name = value_of(t, "SwitchName", tree->arena),
               *block = value_of(t, "BlockName", tree->arena),
               *nodes = value_of(t, "Nodes", tree->arena),
               *below = value_of(t, "Switches", tree->arena),
               *sizes = value_of(t, "BlockSizes", tree->arena);
    if (value_of(t, "AggregatedBlock", tree->arena)) return OK; // follows from the sizes
    if (sizes && !block) return add_sizes(tree, sizes, t, err);
    if (block && nodes) return add_switch(tree, block, nodes, NULL, true, t, err);
    if (!name || (!nodes && !below))
        return text_refuse(t, err,
                           "expected SwitchName=NAME and Nodes=LIST or Switches=LIST, or "
                           "BlockName=NAME and Nodes=LIST, found '%.60s'",
                           t->words[0]);
    // The output of scontrol show topology lists all nodes below a switch in addition to its
    // switches.
    bool all = below && value_of(t, "Level", tree->arena);
    return add_switch(tree, name, all ? NULL : nodes, below, false, t, err);
}

// ---- topology.yaml

// A switch or block of it, as far as its lines were read.
struct entry {
    const char *name, *nodes, *below;
    bool block;
};

struct yaml {
    struct tree *tree;
    const char *wanted; // topology
    bool chosen;        // the current topology is it
    bool sizes;         // items of block_sizes follow
    struct entry now;
};

// A value without its quotes, and without the brackets of a list in one line.
static const char *value_at(const struct text_lines *t, int word, struct arena *arena)
{
    const char *text = text_rest(t, word, arena);
    char *value = arena_copy_text(arena, text), *to = value;
    for (const char *c = text; *c && *c != '#'; c++)
        if (!strchr(" \"'", *c)) *to++ = *c;
    *to = '\0';
    if (*value != '[' || to[-1] != ']') return value;
    to[-1] = '\0';
    return value + 1;
}

static enum status end_entry(struct yaml *y, const struct text_lines *t, struct error *err)
{
    struct entry e = y->now;
    y->now = (struct entry){0};
    if (!e.name) return OK;
    if (!e.nodes && !e.below)
        return text_refuse(t, err, "%.60s: expected nodes or children before this line", e.name);
    return add_switch(y->tree, e.name, e.nodes, e.below, e.block, t, err);
}

static enum status read_yaml_line(struct yaml *y, const struct text_lines *t, struct error *err)
{
    int at = !strcmp(t->words[0], "-");
    if (at == t->word_count) return OK;
    const char *key = t->words[at], *value = value_at(t, at + 1, y->tree->arena);
    if (!strcmp(key, "topology:")) {
        TRY(end_entry(y, t, err));
        y->chosen = !strcmp(value, y->wanted);
    }
    if (!y->chosen) return OK;
    if (y->sizes && at && t->word_count == 2 && strspn(key, "0123456789") == strlen(key))
        return add_sizes(y->tree, key, t, err);
    y->sizes = !strcmp(key, "block_sizes:");
    if (y->sizes) return add_sizes(y->tree, value, t, err);
    if ((!strcmp(key, "ring:") || !strcmp(key, "torus3d:") || !strcmp(key, "flat:")) &&
        strcmp(value, "false"))
        y->tree->plugin = arena_print(y->tree->arena, "%.*s", (int)strlen(key) - 1, key);
    if (!strcmp(key, "switch:") || !strcmp(key, "block:")) {
        if (!*value) return OK; // the plugin's own key
        TRY(end_entry(y, t, err));
        y->now = (struct entry){.name = value, .block = *key == 'b'};
    } else if (!strcmp(key, "nodes:")) y->now.nodes = value;
    else if (!strcmp(key, "children:")) y->now.below = value;
    return OK;
}

// The default, or the first; of those the name.
static enum status find_topology(const char **wanted, struct text_lines t, struct tree *tree,
                                 struct error *err)
{
    struct arena *arena = tree->arena;
    const char *name = NULL, *asked = *wanted, *found = NULL, *names = "";
    int count = 0;
    bool more, by_default = false;
    t.copy = TAKE(arena, TEXT_LINE_MAX + 1, char);
    for (;;) {
        TRY(text_next(&t, &more, err));
        if (!more) break;
        int at = t.word_count && !strcmp(t.words[0], "-");
        if (at >= t.word_count) continue;
        const char *value = value_at(&t, at + 1, arena);
        if (!strcmp(t.words[at], "topology:")) {
            name = value;
            names = arena_print(arena, "%s%s%.60s", names, count++ ? ", " : "", name);
            if (asked ? !strcmp(asked, name) : !found) found = name;
        }
        if (!asked && !by_default && name && !strcmp(t.words[at], "cluster_default:") &&
            !strcmp(value, "true"))
            found = name, by_default = true;
    }
    if (!found)
        return text_refuse(&t, err, "expected a topology%s%.60s, found %.200s",
                           asked ? " named " : "", asked ? asked : "", count ? names : "none");
    *wanted = found;
    if (!asked && count > 1)
        tree->chosen = arena_print(arena, "topology %.60s, %s of %.200s (--topology)", found,
                                   by_default ? "the cluster's default" : "the first", names);
    return OK;
}

static enum status read_yaml(struct tree *tree, struct text_lines *t, const char *topology,
                             struct error *err)
{
    struct yaml y = {.tree = tree, .wanted = topology};
    bool more;
    TRY(find_topology(&y.wanted, *t, tree, err));
    for (;;) {
        TRY(text_next(t, &more, err));
        if (!more) break;
        if (t->word_count && *t->words[0] != '#') TRY(read_yaml_line(&y, t, err));
    }
    TRY(end_entry(&y, t, err));
    if (!tree->plugin) return OK;
    return refuse(
        err, "%s: topology %.60s: expected a tree or blocks, found a topology of the kind %s%s",
        t->path, y.wanted, tree->plugin, tree->nodes.count ? " beside them" : "");
}

// ---- the tree

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

// Blocks of blocks: as many that follow each other as fit in the next size.
static void join_blocks(struct tree *tree)
{
    int first = 0, count = tree->blocks;
    for (int size = 1; size < tree->size_count && count > 1; size++) {
        int each = tree->sizes[size] / tree->sizes[size - 1], from = tree->count;
        for (int i = 0; i < count && each > 1; i++) {
            if (i % each == 0) {
                GROW(tree->arena, tree->switches, tree->count, tree->capacity, 64);
                tree->switches[tree->count++] = (struct network_switch){
                    arena_print(tree->arena, "blocks-of-%d-%d", tree->sizes[size], i / each), NULL,
                    tree->switches[first].line, -1, tree->switches[first].height + 1};
            }
            tree->switches[first + i].parent = tree->count - 1;
        }
        if (each > 1) first = from, count = tree->count - from;
    }
}

// One above the highest switch directly below it. A switch in a cycle never gets a height.
static enum status find_heights(struct tree *tree, struct text_lines *t, struct error *err)
{
    int *levels = &tree->levels;
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

enum status switches_read(struct tree *tree, const char *path, const char *text, size_t size,
                          const char *topology, struct error *err)
{
    struct text_lines *t = TAKE(tree->arena, 1, struct text_lines);
    bool more, yaml = strstr(text, "topology:") != NULL;
    text_open(t, path, text, size, tree->arena);
    if (yaml) TRY(read_yaml(tree, t, topology, err));
    for (; !yaml;) {
        TRY(text_next(t, &more, err));
        if (!more) break;
        if (t->word_count && *t->words[0] != '#') TRY(read_line(tree, t, err));
    }
    if (!tree->nodes.count)
        return refuse(err, "%s: expected switches or blocks with nodes, found none", path);
    TRY(join_switches(tree, t, err));
    join_blocks(tree);
    return find_heights(tree, t, err);
}
