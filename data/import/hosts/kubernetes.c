// Nodes as Kubernetes knows them: what `kubectl get nodes -o json` and `kubectl describe node`
// print. Their GPUs are those that can be allocated; a product with -SHARED in its name counts each
// several times, and one with a part of a GPU in its name (MIG) is that part.
#include "data/import/hosts/sinfo.h"

#include <string.h>

// A node as far as it was read.
struct member {
    const char *name, *product, *amd, *all; // all: of the label that counts GPUs, not their shares
    const char *gpus[2];                    // of NVIDIA's and of AMD's that can be allocated
    bool away;
};

static enum status add_member(struct sinfo *s, const struct member *m, const struct text_lines *t,
                              struct error *err)
{
    const char *product = m->product ? m->product : m->amd ? m->amd : "";
    bool shared = strstr(product, "-SHARED") != NULL;
    int64_t count = 0, counts[2] = {0};
    for (int maker = 0; maker < 2; maker++) {
        const char *gpus = shared && !maker ? m->all : m->gpus[maker];
        if (gpus && !word_is_whole(gpus, &counts[maker]))
            return text_refuse(t, err, "%.60s: expected a number of GPUs, found '%.40s'", m->name,
                               gpus);
    }
    if (counts[0] && counts[1])
        return text_refuse(t, err, "%.60s: one node has GPUs of NVIDIA and of AMD", m->name);
    count = counts[0] + counts[1];
    if (shared && !m->all)
        return text_refuse(
            t, err, "%.60s: GPUs are shared: expected the label nvidia.com/gpu.count", m->name);
    int length = (int)(shared ? strstr(product, "-SHARED") - product : (long)strlen(product));
    return sinfo_add(
        s, m->name,
        count ? arena_print(s->arena, "gpu:%.*s:%lld", length, product, (long long)count) : "",
        m->away ? "down" : "", t, err);
}

// ---- JSON

static enum status read_conditions(const struct json *conditions, struct member *m,
                                   struct arena *arena, struct error *err)
{
    for (int i = 0; i < json_length(conditions); i++) {
        const char *type = "", *holds = "";
        struct json entry = json_element(conditions, i, arena);
        struct json_field fields[] = {FIELD_TEXT("type", OPTIONAL, &type),
                                      FIELD_TEXT("status", OPTIONAL, &holds)};
        TRY(json_lenient(&entry, fields, ARRAY_LENGTH(fields), arena, err));
        m->away |= !strcmp(type, "Ready") && strcmp(holds, "True");
    }
    return OK;
}

enum status kubernetes_read_node(struct sinfo *s, const struct json *node, struct text_lines *t,
                                 struct error *err)
{
    struct member m = {0};
    const char *kind = "Node";
    struct json meta, spec = {0}, status = {0}, labels = {0}, has = {0}, conditions = {0};
    struct json_field top[] = {
        FIELD_TEXT("kind", OPTIONAL, &kind), FIELD_OBJECT("metadata", REQUIRED, &meta),
        FIELD_OBJECT("spec", OPTIONAL, &spec), FIELD_OBJECT("status", OPTIONAL, &status)};
    struct json_field named[] = {FIELD_TEXT("name", REQUIRED, &m.name),
                                 FIELD_OBJECT("labels", OPTIONAL, &labels)};
    struct json_field labelled[] = {FIELD_TEXT("nvidia.com/gpu.product", OPTIONAL, &m.product),
                                    FIELD_TEXT("nvidia.com/gpu.count", OPTIONAL, &m.all),
                                    FIELD_TEXT("amd.com/gpu.product-name", OPTIONAL, &m.amd)};
    struct json_field stated[] = {FIELD_OBJECT("allocatable", OPTIONAL, &has),
                                  FIELD_ARRAY("conditions", OPTIONAL, &conditions)};
    struct json_field held[] = {FIELD_TEXT("nvidia.com/gpu", OPTIONAL, &m.gpus[0]),
                                FIELD_TEXT("amd.com/gpu", OPTIONAL, &m.gpus[1])};
    struct json_field wanted[] = {FIELD_BOOL("unschedulable", OPTIONAL, &m.away)};
    TRY(json_lenient(node, top, ARRAY_LENGTH(top), s->arena, err));
    if (strcmp(kind, "Node"))
        return json_refuse(node, err, "expected a Node (kubectl get nodes), found a %.40s", kind);
    TRY(json_lenient(&meta, named, ARRAY_LENGTH(named), s->arena, err));
    if (json_is_present(&labels))
        TRY(json_lenient(&labels, labelled, ARRAY_LENGTH(labelled), s->arena, err));
    if (json_is_present(&spec))
        TRY(json_lenient(&spec, wanted, ARRAY_LENGTH(wanted), s->arena, err));
    if (json_is_present(&status))
        TRY(json_lenient(&status, stated, ARRAY_LENGTH(stated), s->arena, err));
    if (json_is_present(&has)) TRY(json_lenient(&has, held, ARRAY_LENGTH(held), s->arena, err));
    TRY(read_conditions(&conditions, &m, s->arena, err));
    return add_member(s, &m, t, err);
}

// ---- kubectl describe node

// "nvidia.com/gpu.product=NVIDIA-H100", a label wherever it stands; NULL: another.
static const char *label_of(const char *word, const char *key, struct arena *arena)
{
    size_t length = strlen(key);
    return !strncmp(word, key, length) && word[length] == '='
               ? arena_copy_text(arena, word + length + 1)
               : NULL;
}

bool kubernetes_describes(const char *text)
{
    return strstr(text, "Allocatable:") &&
           (strstr(text, "nvidia.com/gpu") || strstr(text, "amd.com/gpu"));
}

enum status kubernetes_read_text(struct sinfo *s, struct text_lines *t, struct error *err)
{
    struct member m = {0};
    const char *section = "";
    for (bool more;;) {
        TRY(text_next(t, &more, err));
        if (!more) return m.name ? add_member(s, &m, t, err) : OK;
        if (!t->word_count) continue;
        const char *first = t->words[0], *second = t->word_count > 1 ? t->words[1] : "";
        if (!strcmp(first, "Name:")) {
            if (m.name) TRY(add_member(s, &m, t, err));
            m = (struct member){.name = arena_copy_text(s->arena, second)};
        }
        for (int i = 0; i < t->word_count; i++) {
            const char *product = label_of(t->words[i], "nvidia.com/gpu.product", s->arena),
                       *all = label_of(t->words[i], "nvidia.com/gpu.count", s->arena);
            const char *amd = label_of(t->words[i], "amd.com/gpu.product-name", s->arena);
            if (product) m.product = product;
            if (amd) m.amd = amd;
            if (all) m.all = all;
        }
        const char *last = t->words[t->word_count - 1];
        if (t->word_count <= 2 && last[strlen(last) - 1] == ':')
            section = arena_copy_text(s->arena, first);
        int maker = !strcmp(first, "amd.com/gpu:");
        bool gpus = maker || !strcmp(first, "nvidia.com/gpu:");
        if (gpus && !m.name)
            return text_refuse(t, err,
                               "expected \"Name: NODE\" before it, as kubectl describe node "
                               "prints it");
        if (gpus && !strcmp(section, "Allocatable:")) {
            const char **has = &m.gpus[maker];
            if (*has && strcmp(*has, second))
                return text_refuse(t, err, "%.60s has %.40s and %.40s GPUs", m.name, *has, second);
            *has = arena_copy_text(s->arena, second);
        }
        m.away |= !strcmp(first, "Unschedulable:") && !strcmp(second, "true");
        m.away |= !strcmp(section, "Conditions:") && !strcmp(first, "Ready") &&
                  strcmp(second, "True");
    }
}
