// plumbline import sinfo FILE: nodes with their GPUs as known to Slurm, from the output of `sinfo
// -N -o "%N %G %t"` (any columns, named by its header), of `scontrol show node` or `show
// partition`, from slurm.conf or gres.conf, from kubectl, or from `--json` of sinfo and of scontrol
// show nodes; makes a cluster whose nodes have these names, with a group for each kind and number
// of GPUs.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/import/foreign.h"
#include "data/import/hosts/sinfo.h"
#include "data/import/import.h"

enum { LIKES_MOST = GROUPS_MAX };
#define OF_JOBS "NODELIST(REASON)" // of squeue

// ---- the table

static int column_of(const struct text_lines *t, const char *const *names, int count)
{
    for (int i = 0; i < t->word_count; i++)
        for (int k = 0; k < count; k++)
            if (!strcasecmp(t->words[i], names[k])) return i;
    return -1;
}

// Without a header (-h): names first, then somewhere gpu:... and the state after it.
static bool guess_columns(struct sinfo *s, const struct text_lines *t)
{
    for (int i = 1; i < t->word_count; i++) {
        if (strncmp(t->words[i], "gpu:", 4) && strcmp(t->words[i], "(null)")) continue;
        s->name_column = 0, s->gres_column = i, s->state_column = i + 1, s->no_header = true;
        return true;
    }
    return false;
}

// A row of sinfo's own table, which has no GRES; another line ends the table, another header begins
// one anew.
static enum status read_bare_row(struct sinfo *s, const struct text_lines *t, struct error *err)
{
    static const char *const available[] = {"up", "down", "drain", "inact"};
    bool fits = t->word_count == s->column_count && strcmp(t->words[0], "PARTITION") &&
                strcmp(t->words[0], "NODELIST") && strcmp(t->words[0], "JOBID");
    if (s->of_jobs && t->word_count > s->name_column && *t->words[s->name_column] == '(')
        return OK; // a job that waits
    if (fits && s->available_column >= 0) {
        int k = 0;
        while (k < 4 && strcmp(t->words[s->available_column], available[k])) k++;
        fits = k < 4;
    }
    if (!fits) s->ended = true;
    if (s->ended) return OK;
    return sinfo_add(s, t->words[s->name_column], arena_print(s->arena, "gpu:%d", s->usual_gpus),
                     s->state_column >= 0 ? t->words[s->state_column] : "", t, err);
}

static bool text_has(const struct text_lines *t, const char *word)
{
    for (int i = 0; i < t->word_count; i++)
        if (!strncmp(t->words[i], word, strlen(word))) return true;
    return false;
}

// "$ sinfo", "[root@login ~]# sinfo -N", before a table.
static bool is_prompt(const struct text_lines *t)
{
    for (int i = 0; i < t->word_count; i++)
        if (!strcmp(t->words[i], "sinfo") || !strcmp(t->words[i], "squeue")) return true;
    return false;
}

// A line of gres.conf that is every node's.
static enum status refuse_unnamed(const struct text_lines *t, struct error *err)
{
    return text_refuse(t, err,
                       "expected NodeName=... before Name=gpu: these devices are every node's, and "
                       "slurm.conf or scontrol show node says which nodes there are");
}

static enum status read_row(struct sinfo *s, const struct text_lines *t, struct error *err)
{
    static const char *const names[] = {"NODELIST", "HOSTNAMES", "NODE", "NODEHOST", OF_JOBS},
                             *const gres[] = {"GRES", "TRES"}, *const available = "AVAIL",
                             *const count = "NODES",
                             *const states[] = {"STATE", "STATELONG", "STATECOMPACT"};
    for (int i = 0; i < t->word_count; i++)
        if (!strcmp(t->words[i], "Name=gpu")) return refuse_unnamed(t, err);
    if (s->name_column < 0) {
        s->name_column = column_of(t, names, ARRAY_LENGTH(names));
        s->gres_column = column_of(t, gres, ARRAY_LENGTH(gres));
        s->state_column = column_of(t, states, ARRAY_LENGTH(states));
        int nodes = column_of(t, &count, 1);
        s->nodes_column = nodes > 0 && s->name_column >= 0 ? nodes : 0;
        if (s->gres_column < 0 && guess_columns(s, t)) return read_row(s, t, err);
        s->available_column = column_of(t, &available, 1), s->column_count = t->word_count;
        s->of_jobs = s->name_column >= 0 &&
                     (!strcmp(t->words[s->name_column], OF_JOBS) || !strcmp(t->words[0], "JOBID"));
        if (s->name_column >= 0 && s->gres_column < 0 && s->usual_gpus) return OK;
        if (s->name_column < 0 || s->gres_column < 0)
            return text_refuse(
                t, err,
                "expected a header with NODELIST and GRES, or NodeName=...: print it with sinfo -N "
                "-o \"%%N %%G %%t\", or scontrol show node, or --json; a table without GRES needs "
                "one --like CLUSTER, whose number of GPUs its nodes have");
        return OK;
    }
    if (s->gres_column < 0) return read_bare_row(s, t, err);
    if (t->word_count <= s->name_column || t->word_count <= s->gres_column)
        return text_refuse(t, err, "expected as many columns as the header has, found %d",
                           t->word_count);
    if (s->no_header && strchr(t->words[0], '*'))
        return text_refuse(t, err,
                           "expected names of nodes, found the partition '%.40s': print sinfo -N "
                           "-o \"%%N %%G %%t\"",
                           t->words[0]);
    return sinfo_add(
        s, t->words[s->name_column], t->words[s->gres_column],
        s->state_column >= 0 && s->state_column < t->word_count ? t->words[s->state_column] : "", t,
        err);
}

// ---- scontrol show node, show partition

// "cpu=192,mem=2063G,billing=192,gres/gpu=8,gres/gpu:h100=8" of `total` nodes, as gres of one: its
// types, or the number alone. More than the types have is of types that Slurm does not count:
// parts.
static enum status gres_of(const char **to, struct sinfo *s, const struct text_lines *t,
                           struct error *err)
{
    const char *gres = "";
    long long all = 0, typed = 0;
    for (const char *at = s->tres; (at = strstr(at, "gres/gpu"));) {
        at += strlen("gres/gpu");
        size_t type = strcspn(at, "=,");
        if (at[type] != '=') continue;
        long long gpus = strtoll(at + type + 1, NULL, 10);
        if (gpus < 1 || gpus % s->total)
            return text_refuse(t, err,
                               "%.60s: expected as many GPUs on each of %d nodes, found %lld",
                               s->name, s->total, gpus);
        if (type && *gres && s->name_column != -2)
            return text_refuse(t, err,
                               "%.60s: a partition with GPUs of several types: print its nodes, "
                               "scontrol show node",
                               s->name);
        if (type)
            gres = arena_print(s->arena, "%sgpu%.*s:%lld,", gres, (int)type, at, gpus / s->total),
            typed += gpus;
        else all = gpus;
    }
    s->parted += typed && all > typed;
    *to = typed || !all ? gres : arena_print(s->arena, "gpu:%lld", all / s->total);
    return OK;
}

static enum status end_node(struct sinfo *s, const struct text_lines *t, struct error *err)
{
    const char *name = s->name, *gres = s->gres;
    if (!name) return OK;
    if (!strcasecmp(name, "DEFAULT")) return s->name = NULL, s->usual_gres = gres, OK;
    if (s->devices > 0 && s->detects && !s->counted)
        return text_refuse(t, err,
                           "expected Count or File of %s's GPUs: with AutoDetect the file does not "
                           "say how many there are",
                           name);
    if (s->devices > 0) gres = arena_print(s->arena, "gpu:%s:%d", s->type, s->devices);
    else if (strncmp(gres, "gpu", 3) && !strstr(gres, ",gpu")) TRY(gres_of(&gres, s, t, err));
    s->name = NULL;
    return sinfo_add(s, name, gres, s->state, t, err);
}

static void begin_node(struct sinfo *s, const char *name)
{
    s->name = name, s->gres = s->usual_gres, s->tres = s->state = s->type = "", s->total = 1;
    s->allocates = s->counted = false, s->devices = -1;
}

// gres.conf: "/dev/nvidia[0-3]", as many devices; "Count=4" says so itself.
static enum status read_device(struct sinfo *s, const char *word, const char *value,
                               const struct text_lines *t, struct error *err)
{
    struct host_names files = {.arena = s->arena};
    int64_t count;
    if (!strcmp(word, "Name=gpu")) {
        if (!s->name || s->devices >= 0) return refuse_unnamed(t, err);
        s->devices = 1;
    } else if (s->devices < 0) {
        return OK;
    } else if (!strncmp(word, "Type=", 5)) {
        s->type = value;
    } else if (!strncmp(word, "Count=", 6)) {
        if (!word_is_whole(value, &count) || count > 1024)
            return text_refuse(t, err, "Count: expected at most 1024 GPUs, found %s", value);
        s->devices = (int)count, s->counted = true;
    } else if (!strncmp(word, "File=", 5)) {
        char *bare = arena_copy_text(s->arena, value);
        for (char *c = bare; (c = strchr(c, '/'));) *c = '_';
        TRY(host_names_add(&files, bare, t, err));
        s->devices = files.count, s->counted = true;
    }
    return OK;
}

// Up to a comment; "OS=Linux 5.15.0 #1 SMP" is none.
static enum status read_words(struct sinfo *s, const struct text_lines *t, struct error *err)
{
    bool node = s->name_column == -2, system = false; // else partitions
    for (int i = 0; i < t->word_count; i++) {
        const char *word = t->words[i], *equals = strchr(word, '=');
        if (!strncmp(word, "Reason=", 7) || (*word == '#' && !system)) break; // words of a person
        system = system || !strncmp(word, "OS=", 3);
        if (!equals) continue;
        const char *value = arena_copy_text(s->arena, equals + 1);
        int64_t total;
        if (!strncmp(word, "NodeName=", 9) || !strncmp(word, "PartitionName=", 14)) {
            TRY(end_node(s, t, err));
            if (node && *word == 'N') begin_node(s, value);
        } else if (!node && !strncmp(word, "Nodes=", 6) && strcmp(value, "(null)")) {
            begin_node(s, value);
        } else if (!strncmp(word, "TotalNodes=", 11) && word_is_whole(value, &total) && total > 0 &&
                   total <= 65536) {
            s->total = (int)total;
        } else if (!strncmp(word, "AutoDetect=", 11)) s->detects = strcasecmp(value, "off") != 0;
        else if (!strncmp(word, "Gres=", 5)) s->gres = value;
        else if (!strncmp(word, "CfgTRES=", 8) || !strncmp(word, "TRES=", 5)) s->tres = value;
        else if (!strncmp(word, "CPUAlloc=", 9)) s->allocates = true;
        else if (node && !strncmp(word, "State=", 6) &&
                 (s->allocates || strcasecmp(value, "UNKNOWN"))) // slurm.conf's usual word
            s->state = value;
        else if (node) TRY(read_device(s, word, value, t, err));
    }
    return OK;
}

static enum status read_nodes(struct sinfo *s, const char *path, const char *text, size_t size,
                              struct error *err)
{
    struct text_lines *t = TAKE(s->arena, 1, struct text_lines);
    bool node = strstr(text, "NodeName=") != NULL, more,
         words = node || strstr(text, "PartitionName=");
    bool tabled = !words && strstr(text, "NODELIST");
    s->name_column = node ? -2 : -1;
    s->usual_gres = "";
    begin_node(s, NULL);
    // "%N|%G|%t" is used, too
    text_open(t, path, text_without_bars(text, size, s->arena), size, s->arena);
    if (!words && kubernetes_describes(text)) return kubernetes_read_text(s, t, err);
    if (!words && !strstr(text, "NODELIST")) {
        TRY(foreign_refuse(path, text, "sinfo", err));
        TRY(schedulers_read(s, t, text, &more, err));
        if (more) return OK;
        text_open(t, path, text_without_bars(text, size, s->arena), size, s->arena);
    }
    for (;;) {
        TRY(text_next(t, &more, err));
        if (!more) break;
        if (!t->word_count || *t->words[0] == '#') continue;
        // sinfo prints a date before its table if asked for everything, or repeatedly
        bool dated = s->name_column < 0 && !words && t->word_count > 3 &&
                     strstr(t->words[3], ":") != NULL;
        // what else was typed and said before a table
        bool before = tabled && s->name_column < 0 && !text_has(t, "NODELIST");
        if (!words && s->name_column < 0 && (before || is_prompt(t))) continue;
        if (!dated) TRY(words ? read_words(s, t, err) : read_row(s, t, err));
    }
    TRY(end_node(s, t, err));
    return OK;
}

static enum status expect_nodes(const struct sinfo *s, const char *path, const char *text,
                                struct error *err)
{
    if (s->count) return OK;
    TRY(foreign_refuse(path, text, "sinfo", err));
    return refuse(err, "%s: expected nodes with GPUs (gres), found %s", path,
                  s->away           ? "none that is up: --all includes the others"
                  : s->parted       ? "nodes with parts of GPUs (MIG) alone"
                  : s->without_gpus ? "nodes without"
                                    : "none");
}

// ---- the cluster

// "h100=h100-128x8", or a cluster for all that have none of their own.
static const char *like_of(const struct option_texts *likes, const char *type)
{
    const char *any = NULL;
    size_t length = strlen(type);
    for (int i = 0; i < likes->count; i++) {
        const char *like = likes->items[i], *equals = strchr(like, '=');
        if (!equals) any = like;
        else if ((size_t)(equals - like) == length && !strncasecmp(like, type, length))
            return equals + 1;
    }
    return any;
}

static enum status find_group(struct cluster *c, const char *types[GROUPS_MAX],
                              const struct slurm_node *node, const struct option_texts *likes,
                              int *group, struct said *said, struct arena *arena, struct error *err)
{
    int g = 0;
    while (g < c->group_count &&
           (strcmp(types[g], node->type) || c->groups[g].gpus_per_node != node->gpus))
        g++;
    *group = g;
    if (g < c->group_count) return OK;
    if (g == GROUPS_MAX) return refuse(err, "more than %d different kinds of nodes", GROUPS_MAX);
    const char *like = like_of(likes, node->type), **gpus;
    struct cluster of_gpu = {0};
    int count;
    if (!like && *node->type)
        TRY(cluster_of_gpu(&of_gpu, node->type, 0, &gpus, &count, arena, err));
    for (int k = 0; k < g; k++)
        if (strcmp(types[k], node->type) && like && like_of(likes, types[k]) == like)
            return refuse(err,
                          "--like: there are nodes with %s and with %s: give one for each, --like "
                          "%s=CLUSTER --like %s=CLUSTER",
                          types[k], node->type, types[k], node->type);
    if (of_gpu.group_count) {
        c->groups[g] = of_gpu.groups[0];
        int same = 0;
        while (same < g && strcmp(types[same], node->type)) same++;
        if (same == g)
            said_assume(said, "nodes with %s are as in %s (--like)", node->type, of_gpu.name);
    } else if (!like && *node->type)
        return refuse(err, "--like: no shipped cluster has %.60s: give --like %.60s=CLUSTER",
                      node->type, node->type);
    else TRY(host_group(&c->groups[g], like, arena, err));
    types[g] = node->type;
    c->groups[g].gpus_per_node = node->gpus;
    c->groups[g].nodes = 0;
    c->groups[g].name =
        arena_print(arena, "%s-of-%d", *node->type ? node->type : "gpu", node->gpus);
    c->group_count++;
    return OK;
}

struct options {
    struct reading import;
    struct option_texts likes;
    struct sinfo read;
    const char *types[GROUPS_MAX]; // of GPUs, by group
};
static const struct option_row rows[] = {
    {"--like", OPTION_TEXT, OPT(likes),
     "cluster whose first group describes the nodes: shipped name or file; TYPE=CLUSTER: for nodes "
     "with GPUs of this gres type; may be repeated",
     .many = LIKES_MOST},
    {"--nodes", OPTION_INT, OPT(read.asked_nodes),
     "number of machines of a cloud, where the file does not say", 1, 65536},
    {"--line", OPTION_INT, OPT(read.asked_line),
     "line of a text that describes the machine that is meant", 1, 1e6},
    {"--all", OPTION_FLAG, OPT(read.all), "include nodes that are down or drained"},
};

// "h100" of "nvidia_h100_80gb_hbm3" and of "h100-80gb": the letters and digits of a model.
static const char *model_of(const char *name, struct arena *arena)
{
    const char *at = name;
    if (!strncasecmp(at, "nvidia", 6) || !strncasecmp(at, "amd", 3)) at += strcspn(at, "_- ");
    at += strspn(at, "_- ");
    if (!strncasecmp(at, "tesla_", 6)) at += 6;
    char *model = arena_print(arena, "%.*s", (int)strcspn(at, "_- "), at);
    for (char *c = model; *c; c++) *c = (char)tolower((unsigned char)*c);
    return strpbrk(model, "0123456789") && isalpha((unsigned char)*model) ? model : "";
}

static void assume_types(struct options *o)
{
    const struct cluster *c = &o->import.cluster;
    for (int g = 0; g < c->group_count; g++) {
        const char *type = o->types[g], *model = model_of(type, o->import.arena),
                   *like = model_of(c->groups[g].gpu, o->import.arena);
        if (*model && *like && strcmp(model, like))
            said_assume(&o->import.said,
                        "nodes with %s are described as %s: --like is a cluster of other GPUs",
                        type, c->groups[g].gpu);
    }
}

static void put_network(struct node_group *g, const struct cloud_machine *m, struct reading *r)
{
    if (g->nodes) return; // the first node's
    struct nic had = g->nic_count ? g->nics[0] : (struct nic){.link.latency_s = 5e-05};
    g->nics = TAKE(r->arena, 1, struct nic), g->nic_count = 1;
    *g->nics = (struct nic){
        (enum nic_kind)m->network, m->cards, {m->card_gbit * 1e9 / 8, had.link.latency_s}};
    said_assume(&r->said, "%s: %d GPUs, and %d x %g Gb/s between nodes", m->name, m->gpus, m->cards,
                m->card_gbit);
}

static enum status read_file(void *options, struct error *err)
{
    struct options *o = options;
    struct reading *r = &o->import;
    struct cluster *c = &r->cluster;
    struct sinfo *s = &o->read;
    s->arena = r->arena;
    const char *any = like_of(&o->likes, "");
    struct node_group usual = {0};
    if (any && o->likes.count == 1) {
        TRY(host_group(&usual, any, r->arena, err));
        s->usual_gpus = usual.gpus_per_node;
    }
    const char *body = strstr(r->text, "application/json") ? strstr(r->text, "\n{") : NULL;
    if (body) r->size -= (size_t)(body - r->text), r->text = body; // behind HTTP's headers
    bool json = r->text[strspn(r->text, " \t\r\n")] == '{' && !schedulers_ask(r->text);
    TRY((json ? sinfo_read_json : read_nodes)(s, r->file.path, r->text, r->size, err));
    sinfo_end(s);
    TRY(expect_nodes(s, r->file.path, r->text, err));
    if (s->no_header)
        said_assume(&r->said, "the first column has nodes' names: the table has no header");
    if (s->parted)
        said_assume(&r->said, "parts of GPUs (MIG) are not counted: gres of %d node%s has some",
                    s->parted, s->parted == 1 ? "" : "s");
    if (!json && s->name_column >= 0 && s->gres_column < 0)
        said_assume(&r->said, "%d GPUs in each node, as %s has: the table has no GRES",
                    s->usual_gpus, any);
    if (s->of_jobs) said_assume(&r->said, "nodes are those that have jobs");
    if (s->guessed) said_assume(&r->said, "%s", s->guessed);
    c->groups = TAKE(r->arena, GROUPS_MAX, struct node_group);
    c->places.node_count = s->times ? 0 : s->count;
    c->places.nodes = TAKE(r->arena, s->count, struct cluster_node);
    for (int i = 0; i < s->count; i++) {
        int group;
        TRY(find_group(c, o->types, &s->nodes[i], &o->likes, &group, &r->said, r->arena, err));
        if (s->nodes[i].machine) put_network(&c->groups[group], s->nodes[i].machine, r);
        c->places.nodes[i] = (struct cluster_node){.name = s->nodes[i].name, .group = group};
        c->groups[group].nodes += s->times ? s->nodes[i].times : 1;
    }
    assume_types(o);
    return OK;
}

static void tell(const void *options)
{
    const struct options *o = options;
    const struct sinfo *s = &o->read;
    const struct cluster *c = &o->import.cluster;
    int groups = c->group_count, nodes = 0;
    for (int g = 0; g < groups; g++) nodes += c->groups[g].nodes;
    fprintf(stderr, "%d nodes in %d group%s", nodes, groups, groups == 1 ? "" : "s");
    if (s->away) fprintf(stderr, "; %d down or drained left out (--all includes them)", s->away);
    if (s->without_gpus) fprintf(stderr, "; %d without GPUs left out", s->without_gpus);
    fputc('\n', stderr);
}

static const struct reader reader = {"sinfo", MAKES_CLUSTER, false, read_file, tell};
static const struct options defaults = {
    .import = {.reader = &reader, .output = "-", .name = "slurm"}};
const struct command import_sinfo = {
    .name = "sinfo",
    .text = "sinfo, scontrol, kubectl, pbsnodes, ray, machines' names -> cluster of these",
    .usage = "plumbline import sinfo FILE [--like CLUSTER] [-o cluster.json]",
    READER(rows, struct options, defaults),
};
