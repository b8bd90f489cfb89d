// Nodes as they are collected: what Slurm calls their gres and states, nodes that are listed twice.
#include <ctype.h>
#include <string.h>

#include "data/base/grow.h"
#include "data/base/names.h"
#include "data/import/hosts/sinfo.h"

enum { NODES_MOST = 1 << 14, LISTED_MOST = 1 << 20 };

// "nvidia_a100_3g.20gb": a part of a GPU, as MIG names it.
static bool is_part(const char *type)
{
    for (const char *dot = type; (dot = strchr(dot, '.')); dot++)
        if (dot > type + 1 && dot[-1] == 'g' && isdigit((unsigned char)dot[-2]) &&
            isdigit((unsigned char)dot[1]))
            return true;
    return false;
}

// "gpu:h100:8(S:0-1),nvme:1", "gpu:8": the kinds of one node add up.
static enum status read_gres(const char *gres, struct slurm_node *node, struct sinfo *s,
                             const struct text_lines *t, struct error *err)
{
    for (const char *at = gres; *at;) {
        size_t length = 0;
        for (int inside = 0; at[length] && (inside || at[length] != ','); length++)
            inside += (at[length] == '(') - (at[length] == ')');
        if (!strncmp(at, "gpu:", 4) || (!strncmp(at, "gpu", 3) && length == 3)) {
            const char *word = arena_print(s->arena, "%.*s", (int)strcspn(at, "(,"), at),
                       *first = strchr(word, ':'), *last = strrchr(word, ':');
            int64_t count = 1;
            if (last && !word_is_whole(last + 1, &count)) last = NULL; // gpu:h100
            if (count > 1024)
                return text_refuse(t, err, "gres: expected at most 1024 GPUs, found %.40s", word);
            const char *type =
                !first || first == last
                    ? ""
                    : arena_print(s->arena, "%.*s",
                                  (int)(last ? last - first - 1 : (long)strlen(first + 1)),
                                  first + 1);
            if (is_part(type)) {
                node->parts += (int)count;
            } else if (node->gpus && strcmp(node->type, type)) {
                return text_refuse(t, err, "gres: one node has GPUs of types %s and %s",
                                   *node->type ? node->type : "no type", type);
            } else {
                node->type = type;
                node->gpus += (int)count;
            }
        }
        at += length + (at[length] == ',');
    }
    return OK;
}

// idle, mixed, alloc, comp ...: the node works, whatever runs on it. "IDLE+DRAIN" and "down*" do
// not.
static bool works(const char *state)
{
    static const char *const away[] = {"down",    "drain", "drng",  "fail",     "maint",
                                       "err",     "unk",   "inval", "not_resp", "futur",
                                       "offline", "*",     NULL};
    char text[64] = "";
    for (size_t i = 0; state[i] && i < sizeof text - 1; i++)
        text[i] = (char)tolower((unsigned char)state[i]);
    const char *powered = strstr(text, "powered_down"); // starts on request
    if (powered) text[powered - text] = '\0';
    return !has_one_of(text, away);
}

// A node that is listed twice: of gres.conf with more devices, or the same ones.
static enum status add_again(const struct sinfo *s, struct slurm_node *old,
                             const struct slurm_node *node, const struct text_lines *t,
                             struct error *err)
{
    bool both = *old->type && *node->type;
    if (both && strcmp(old->type, node->type))
        return text_refuse(t, err, "%.60s has GPUs of types %s and %s", old->name, old->type,
                           node->type);
    if (s->devices > 0) old->gpus += node->gpus;
    else if (old->gpus != node->gpus)
        return text_refuse(t, err, "%.60s is listed twice, with %d and with %d GPUs", old->name,
                           old->gpus, node->gpus);
    if (!*old->type) old->type = node->type;
    old->away &= node->away;
    return OK;
}

// Lists repeat nodes in their order: behind the one found last, then from the first on. s->count:
// it is new.
static int find_node(const struct sinfo *s, const char *name)
{
    int k = s->next;
    if (k < s->count && !strcmp(s->nodes[k].name, name)) return k;
    for (k = 0; k < s->count && strcmp(s->nodes[k].name, name);) k++;
    return k;
}

enum status sinfo_add(struct sinfo *s, const char *names, const char *gres, const char *state,
                      const struct text_lines *t, struct error *err)
{
    struct host_names list = {.arena = s->arena};
    struct slurm_node node = {
        .type = "", .times = s->times, .away = !works(state), .machine = s->machine};
    TRY(host_names_add(&list, arena_copy_text(s->arena, names), t, err));
    TRY(read_gres(gres, &node, s, t, err));
    int64_t nodes;
    if (s->nodes_column && s->nodes_column < t->word_count &&
        word_is_whole(t->words[s->nodes_column], &nodes) && nodes != list.count)
        return text_refuse(t, err, "NODES: expected %d, as %.60s are, found %lld", list.count,
                           names, (long long)nodes);
    s->listed += list.count;
    if (s->listed > LISTED_MOST)
        return text_refuse(t, err, "expected at most %d names of nodes, repeated ones included",
                           LISTED_MOST);
    for (int i = 0; i < list.count; i++) {
        int k = find_node(s, list.items[i]);
        if (k < s->count) {
            TRY(add_again(s, &s->nodes[k], &node, t, err));
            s->next = k + 1;
            continue;
        }
        if (s->count == NODES_MOST)
            return text_refuse(t, err, "expected at most %d nodes, found more", NODES_MOST);
        GROW(s->arena, s->nodes, s->count, s->capacity, 64);
        node.name = list.items[i];
        s->nodes[s->count++] = node;
    }
    return OK;
}

void sinfo_end(struct sinfo *s)
{
    int left = 0;
    for (int i = 0; i < s->count; i++) {
        const struct slurm_node *node = &s->nodes[i];
        bool away = node->away && !s->all;
        s->parted += node->parts > 0;
        s->without_gpus += !node->gpus && !node->parts;
        s->away += node->gpus && away;
        if (node->gpus && !away) s->nodes[left++] = *node;
    }
    s->count = left;
}
