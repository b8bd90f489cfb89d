// Nodes as other programs than Slurm know them: pbsnodes, ray status, and files by which machines
// of clouds are asked for.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/base/names.h"
#include "data/import/hosts/sinfo.h"
#include "data/import/hosts/tokens.h"

enum status sinfo_add_unnamed(struct sinfo *s, int64_t nodes, const char *type, int64_t gpus,
                              const struct text_lines *t, struct error *err)
{
    if (nodes < 1 || nodes > 65536 || gpus < 1 || gpus > 1024)
        return text_refuse(t, err,
                           "expected up to 65536 nodes of 1 to 1024 GPUs, found %lld of %lld",
                           (long long)nodes, (long long)gpus);
    s->times = (int)nodes;
    return sinfo_add(s, arena_print(s->arena, "node-%d", s->count),
                     arena_print(s->arena, "gpu:%s%s%lld", type, *type ? ":" : "", (long long)gpus),
                     "", t, err);
}

// ---- pbsnodes -a

// A name alone at a line's begin; then "resources_available.ngpus = 4", or "gpus = 4" (Torque).
static enum status read_pbs(struct sinfo *s, struct text_lines *t, struct error *err)
{
    static const char types[] = "gpu_model gpu_type gpu_name gputype gpu";
    const char *name = NULL, *type = "", *state = "", *gpus = "0";
    for (bool more = true; more;) {
        TRY(text_next(t, &more, err));
        if (more && !t->word_count) continue;
        const char *first = more ? t->words[0] : "", *begin = more ? t->rest_of[0] : NULL;
        bool node = more && t->word_count == 1 && (t->line == 1 || begin[-1] == '\n') &&
                    !strchr(first, '=') && !strchr(first, ':');
        if ((node || !more) && name)
            TRY(sinfo_add(s, name,
                          arena_print(s->arena, "gpu:%s%s%s", type, *type ? ":" : "", gpus), state,
                          t, err));
        if (node) name = arena_copy_text(s->arena, first), type = state = "", gpus = "0";
        if (!more || node || t->word_count < 3 || strcmp(t->words[1], "=")) continue;
        const char *value = arena_copy_text(s->arena, t->words[2]);
        int64_t count;
        if (!strcmp(first, "state")) state = value;
        if (!strcmp(first, "resources_available.ngpus") || !strcmp(first, "gpus")) {
            if (!word_is_whole(value, &count))
                return text_refuse(t, err, "expected a number of GPUs, found %.40s", value);
            gpus = value;
        }
        if (!strncmp(first, "resources_available.", 20) &&
            name_is_listed(types, first + 20, strlen(first + 20)) && isalpha((unsigned char)*value))
            type = value;
    }
    return OK;
}

// ---- ray status

// "0.0/4.0": the whole number behind the stroke; -1: it is none.
static int64_t total_of(const char *word)
{
    const char *stroke = strchr(word, '/');
    double total;
    return stroke && word_is_number(stroke + 1, &total) && total >= 0 && total < 1e6 &&
                   total == (double)(int64_t)total
               ? (int64_t)total
               : -1;
}

// Each node with GPUs has one accelerator_type, so their number is that of such nodes.
static enum status read_ray(struct sinfo *s, struct text_lines *t, struct error *err)
{
    const char *type = "";
    int64_t nodes = 0, gpus = 0, healthy = 0, count;
    bool listed = false;
    for (bool more;;) {
        TRY(text_next(t, &more, err));
        if (!more || (t->word_count && !strcmp(t->words[0], "Node:"))) break;
        if (!t->word_count) continue;
        const char *first = t->words[0], *second = t->word_count > 1 ? t->words[1] : "";
        if (!strcmp(first, "Healthy:") || !strcmp(first, "Active:") || !strcmp(first, "Idle:"))
            listed = true;
        else if (first[strlen(first) - 1] == ':') listed = false;
        if (listed && t->word_count == 2 && word_is_whole(first, &count)) healthy += count;
        int64_t total = total_of(first);
        if (total < 0) continue;
        if (!strcmp(second, "GPU")) gpus = total;
        if (strncasecmp(second, "accelerator", 11) || !strchr(second, ':') || !total) continue;
        if (*type)
            return text_refuse(t, err,
                               "GPUs of types %.40s and %.40s, which ray status does not count "
                               "apart: give ray status of each kind's nodes, or sinfo's table",
                               type, strchr(second, ':') + 1);
        type = arena_copy_text(s->arena, strchr(second, ':') + 1), nodes = total;
    }
    if (!gpus) return OK;
    if (!nodes) nodes = healthy, s->guessed = "all nodes that are up have GPUs";
    if (!nodes || gpus % nodes)
        return text_refuse(t, err, "expected as many GPUs on each of %lld nodes, found %lld",
                           (long long)nodes, (long long)gpus);
    return sinfo_add_unnamed(s, nodes, type, gpus / nodes, t, err);
}

// ---- LSF's lshosts -gpu and bhosts -gpu, SGE's qhost -F

// "HOST_NAME gpu_id gpu_model ...": a row for each GPU, the host's name in its first.
static enum status read_lsf(struct sinfo *s, struct text_lines *t, struct error *err)
{
    const char *name = NULL, *type = "";
    int model = -1, gpus = 0;
    for (bool more = true; more;) {
        TRY(text_next(t, &more, err));
        if (more && !t->word_count) continue;
        int64_t index;
        bool header = more && !strcmp(t->words[0], "HOST_NAME"),
             row = more && model > 0 && word_is_whole(t->words[0], &index),
             host = more && model > 0 && !row && t->word_count > model &&
                    word_is_whole(t->words[1], &index);
        for (int i = 1; header && i < t->word_count; i++)
            if (!strcasecmp(t->words[i], "gpu_model") || !strcmp(t->words[i], "MODEL")) model = i;
        if (model > 0 && !row && name) {
            TRY(sinfo_add(s, name, arena_print(s->arena, "gpu:%s:%d", type, gpus), "", t, err));
            name = NULL;
        }
        if (host) name = arena_copy_text(s->arena, t->words[0]), gpus = 0;
        if ((!host && !row) || !name || t->word_count <= model - row) continue;
        const char *now = t->words[model - row], *glued[] = {"NVIDIA", "Tesla"};
        for (size_t i = 0; i < ARRAY_LENGTH(glued); i++) // "TeslaV100_SXM2_"
            if (!strncmp(now, glued[i], strlen(glued[i])) && isalnum((unsigned char)now[6]))
                now += strlen(glued[i]);
        if (gpus++ && strncmp(type, now, strlen(type)))
            return text_refuse(t, err, "%.60s has GPUs of types %.40s and %.40s", name, type, now);
        type = arena_copy_text(s->arena, now);
    }
    return OK;
}

// A host's row at a line's begin, below it "hc:gpu=4.000000" among its resources.
static enum status read_qhost(struct sinfo *s, struct text_lines *t, struct error *err)
{
    static const char *const keys[] = {"gpu", "gpus", "ngpus", "num_gpu", "gpu_card"};
    const char *name = NULL;
    bool any = false;
    int64_t gpus = 0;
    for (bool more = true; more;) {
        TRY(text_next(t, &more, err));
        if (more && !t->word_count) continue;
        bool host = more && t->word_count > 5 && !strchr(t->words[0], '=') &&
                    strcmp(t->words[0], "HOSTNAME");
        if ((host || !more) && name)
            TRY(sinfo_add(s, name, arena_print(s->arena, "gpu:%lld", (long long)gpus), "", t, err));
        if (host) name = arena_copy_text(s->arena, t->words[0]), gpus = 0;
        for (int i = 0; more && !host && i < t->word_count; i++) {
            const char *key = strchr(t->words[i], ':'), *equals = strchr(t->words[i], '=');
            double count;
            for (size_t k = 0; key && equals > key && k < ARRAY_LENGTH(keys); k++)
                if ((size_t)(equals - key - 1) == strlen(keys[k]) &&
                    !strncmp(key + 1, keys[k], strlen(keys[k])) &&
                    word_is_number(equals + 1, &count) && count >= 0 && count <= 1024)
                    gpus = (int64_t)count, any = true;
        }
    }
    return any ? OK
               : refuse(
                     err,
                     "%s: qhost does not state here how many GPUs hosts have: print qhost -F gpu",
                     t->path);
}

// ---- machines of clouds

// Whether a key is inside "guest_accelerator { ... }", Terraform's of a machine's GPUs.
static bool is_of_gpus(const char *text, const char *key)
{
    enum { NEAR = 256 };
    static const char word[] = "accelerator";
    const char *least = key - text > NEAR ? key - NEAR : text, *at = key;
    while (at > least && *at != '{' && *at != '}') at--;
    if (*at != '{') return false;
    while (at > text && strchr(" {[=s", *at)) at--;
    return at - text >= (int)strlen(word) && !strncmp(at + 1 - strlen(word), word, strlen(word));
}

// The number behind the keys that count machines, if all say the same; 0: none; -1: several.
static int64_t count_in(const char *text)
{
    static const char *const keys[] = {
        "count",    "num_nodes", "node_count",     "desired_size", "desired_capacity",
        "MinCount", "min_count", "instance_count", "nodeCount",    "InstanceCount"};
    int64_t count = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++)
        for (const char *at = text; (at = strstr(at, keys[i]));) {
            bool begins = at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
            at += strlen(keys[i]);
            const char *value = at + strspn(at, " \t\"=:");
            size_t length = strspn(value, "0123456789");
            int64_t number = length < 8 ? strtol(value, NULL, 10) : 0;
            if (!begins || value == at || number < 1 || is_of_gpus(text, at)) continue;
            if (count && count != number) return -1;
            count = number;
        }
    return count;
}

// Whether the first line that is no comment is "key:", as YAML has it.
static bool begins_with_key(const char *text)
{
    while (*text == '#' || *text == '\n' || *text == '-' || *text == '\r')
        text += strcspn(text, "\n"), text += *text == '\n';
    size_t key = strspn(text, "abcdefghijklmnopqrstuvwxyz_");
    return key && text[key] == ':';
}

// SkyPilot's "accelerators: H100:8" and "{H100: 8}"; num_nodes is 1 by default.
static bool read_accelerators(const char *text, const char **type, int64_t *gpus,
                              struct arena *arena)
{
    const char *at = strstr(text, "accelerators:");
    if (!at || !begins_with_key(text)) return false;
    at += strlen("accelerators:"), at += strspn(at, " \"'{");
    size_t length = strcspn(at, ":\"'} \n#,");
    *type = arena_print(arena, "%.*s", (int)(length < 40 ? length : 40), at), *gpus = 1;
    at += length + strspn(at + length, "\"'");
    const char *number = *at == ':' ? at + 1 + strspn(at + 1, " ") : "";
    size_t size = strspn(number, "0123456789");
    if (size && size < 8) *gpus = strtol(number, NULL, 10);
    return length > 1 && isalpha((unsigned char)**type);
}

static enum status read_cloud(struct sinfo *s, struct text_lines *t, struct error *err)
{
    const char *text = t->at, *at, *type = "";
    int found;
    int64_t gpus = 1, stated = count_in(text), nodes = s->asked_nodes ? s->asked_nodes : stated;
    s->machine = cloud_machine_in(text, &at, &found);
    if (s->machine && !stated) stated = cloud_machines_before(text, at);
    if (!nodes) nodes = stated;
    bool sky = !found && strstr(text, "resources:") &&
               read_accelerators(text, &type, &gpus, s->arena);
    if (found > 1)
        return refuse(err,
                      "%s: names %d kinds of machines with GPUs: give a file with the one that "
                      "is meant",
                      t->path, found);
    if (!found && !sky) return OK;
    if (s->machine) type = s->machine->gpu, gpus = s->machine->gpus;
    if (!nodes && !stated && !sky && (nodes = sentences_nodes(text, s->arena)) > 0)
        s->guessed = "as many nodes as the words say (--nodes)";
    if (!nodes && sky) nodes = 1, s->guessed = "one node, the default of num_nodes";
    if (nodes < 1)
        return refuse(err, "%s: machines with %lld GPUs (%s): %s how many: give --nodes", t->path,
                      (long long)gpus, s->machine ? s->machine->name : type,
                      stated ? "the file has several numbers of" : "the file does not say");
    return sinfo_add_unnamed(s, nodes, type, gpus, t, err);
}

// ---- whichever it is

static bool is_cloud(const char *text)
{
    const char *at;
    int found;
    cloud_machine_in(text, &at, &found);
    return found || (strstr(text, "accelerators:") && strstr(text, "resources:"));
}

bool schedulers_ask(const char *text)
{
    static const char *const others[] = {"\"metadata\"", "\"sinfo\"", "\"gres\"", "per_node\"",
                                         NULL};
    return is_cloud(text) && !has_one_of(text, others);
}

// words: all of which the text has, up to NULL.
static const struct {
    const char *words[4];
    enum status (*read)(struct sinfo *s, struct text_lines *t, struct error *err);
} schedulers[] = {{{"resources_available.ngpus"}, read_pbs},
                  {{" Mom = "}, read_pbs},
                  {{"ntype = ", " gpus = "}, read_pbs},
                  {{"Node status\n", "GPU"}, read_ray},
                  {{"HOST_NAME", "gpu_model"}, read_lsf},
                  {{"HOST_NAME", " MODEL "}, read_lsf},
                  {{"HOSTNAME", "ARCH", "MEMTOT"}, read_qhost},
                  {{NULL}, read_cloud},
                  {{NULL}, prose_read}};

enum status schedulers_read(struct sinfo *s, struct text_lines *t, const char *text, bool *any,
                            struct error *err)
{
    const char *bare = t->at;
    *any = false;
    for (size_t i = 0; i < ARRAY_LENGTH(schedulers) && !*any; i++) {
        if (!has_all_of(text, schedulers[i].words)) continue;
        const char *from = schedulers[i].read == prose_read ? text : bare; // with bars of tables
        text_open(t, t->path, from, strlen(from), s->arena);
        TRY(schedulers[i].read(s, t, err));
        *any = s->count > 0;
    }
    return OK;
}
