// Clusters: load, check, save. Groups are named; links name the groups they join.
#include "data/places/cluster.h"
#include "data/places/internal.h"

#include <stdio.h>
#include <string.h>

const char *const nic_kind_names[] = {"infiniband", "roce", "ethernet", NULL};

#define MEMORY_MAX 1125899906842624 // 2^50 bytes
#define PRICE_MAX 1e9
enum { NODES_MAX = 1000000, GPUS_MAX = 1024, NICS_MAX = 1024 };

// ---- reading

enum status link_read(const struct json *object, struct link *link, struct arena *arena,
                      struct error *err)
{
    struct json_field fields[] = {
        FIELD_NUMBER("bytes_per_s", REQUIRED, &link->bytes_per_s, 1, LINK_RATE_MAX),
        FIELD_NUMBER("latency_s", REQUIRED, &link->latency_s, 0, LINK_SECONDS_MAX),
    };
    return JSON_FIELDS(object, fields, arena, err);
}

static enum status read_nic(const struct json *object, struct nic *nic, struct arena *arena,
                            struct error *err)
{
    struct json link = {0};
    nic->count = 1;
    struct json_field fields[] = {
        FIELD_NAME("kind", REQUIRED, &nic->kind, nic_kind_names),
        FIELD_INT("count", OPTIONAL, &nic->count, 1, NICS_MAX),
        FIELD_OBJECT("link", REQUIRED, &link),
    };
    TRY(JSON_FIELDS(object, fields, arena, err));
    return link_read(&link, &nic->link, arena, err);
}

static enum status read_group(const struct json *object, struct node_group *g, struct arena *arena,
                              struct error *err)
{
    struct json intra = {0}, nics = {0};
    struct json_field fields[] = {
        FIELD_TEXT("name", REQUIRED, &g->name),
        FIELD_TEXT("gpu", REQUIRED, &g->gpu),
        FIELD_INT("nodes", REQUIRED, &g->nodes, 1, NODES_MAX),
        FIELD_INT("gpus_per_node", REQUIRED, &g->gpus_per_node, 1, GPUS_MAX),
        FIELD_COUNT("memory_bytes", REQUIRED, &g->memory_bytes, 1, MEMORY_MAX),
        FIELD_NUMBER("gpu_hour_price", OPTIONAL, &g->gpu_hour_price, 0, PRICE_MAX),
        FIELD_OBJECT("intra", REQUIRED, &intra),
        FIELD_ARRAY("nics", OPTIONAL, &nics),
    };
    TRY(JSON_FIELDS(object, fields, arena, err));
    TRY(link_read(&intra, &g->intra, arena, err));
    if (json_length(&nics) > NIC_KIND_COUNT)
        return json_refuse(&nics, err, "expected at most one entry per kind, found %d entries",
                           json_length(&nics));
    g->nic_count = json_length(&nics);
    g->nics = TAKE(arena, g->nic_count, struct nic);
    for (int i = 0; i < g->nic_count; i++) {
        struct json nic = json_element(&nics, i, arena);
        TRY(read_nic(&nic, &g->nics[i], arena, err));
    }
    return OK;
}

enum status cluster_find_group(const struct cluster *c, const struct json *at, const char *key,
                               const char *name, int *group, struct error *err)
{
    for (int i = 0; i < c->group_count; i++)
        if (!strcmp(c->groups[i].name, name)) {
            *group = i;
            return OK;
        }
    return json_refuse(at, err, "%s: expected the name of a group, found \"%.60s\"", key, name);
}

static enum status read_links(struct cluster *c, const struct json *links, struct arena *arena,
                              struct error *err)
{
    if (json_length(links) > GROUPS_MAX * GROUPS_MAX)
        return json_refuse(
            links, err, "expected at most one entry per ordered pair of groups, found %d entries",
            json_length(links));
    c->link_count = json_length(links);
    c->links = TAKE(arena, c->link_count, struct group_link);
    for (int i = 0; i < c->link_count; i++) {
        struct json element = json_element(links, i, arena), link = {0};
        const char *from = NULL, *to = NULL;
        struct json_field fields[] = {
            FIELD_TEXT("from", REQUIRED, &from),
            FIELD_TEXT("to", REQUIRED, &to),
            FIELD_OBJECT("link", REQUIRED, &link),
        };
        TRY(JSON_FIELDS(&element, fields, arena, err));
        TRY(cluster_find_group(c, &element, "from", from, &c->links[i].from, err));
        TRY(cluster_find_group(c, &element, "to", to, &c->links[i].to, err));
        TRY(link_read(&link, &c->links[i].link, arena, err));
    }
    return OK;
}

enum status cluster_load(struct cluster *c, const char *path, struct arena *arena,
                         struct error *err)
{
    struct json groups = {0}, links = {0}, places = {0};
    *c = (struct cluster){0};
    TRY(document_read(&c->document, path, "plumbline.cluster", arena, err));
    struct json_field fields[] = {
        FIELD_TEXT("name", REQUIRED, &c->name),
        FIELD_ARRAY("groups", REQUIRED, &groups),
        FIELD_ARRAY("links", OPTIONAL, &links),
        FIELD_OBJECT("places", OPTIONAL, &places),
    };
    TRY(document_fields(&c->document, fields, ARRAY_LENGTH(fields), arena, err));
    if (json_length(&groups) > GROUPS_MAX)
        return json_refuse(&groups, err, "expected at most %d groups, found %d", GROUPS_MAX,
                           json_length(&groups));
    c->group_count = json_length(&groups);
    c->groups = TAKE(arena, c->group_count, struct node_group);
    for (int i = 0; i < c->group_count; i++) {
        struct json group = json_element(&groups, i, arena);
        TRY(read_group(&group, &c->groups[i], arena, err));
    }
    TRY(read_links(c, &links, arena, err));
    if (json_is_present(&places)) TRY(places_read(c, &places, arena, err));
    return cluster_check(c, err);
}

// ---- checking

enum status link_check(const struct cluster *c, const char *where, const struct link *link,
                       struct error *err)
{
    if (!(link->bytes_per_s >= 1 && link->bytes_per_s <= LINK_RATE_MAX))
        return fail(err, BAD_INPUT,
                    "%s: %s.bytes_per_s: expected a number from 1 to 1e18, found %g",
                    cluster_file(c), where, link->bytes_per_s);
    if (!(link->latency_s >= 0 && link->latency_s <= LINK_SECONDS_MAX))
        return fail(err, BAD_INPUT, "%s: %s.latency_s: expected a number from 0 to 1e6, found %g",
                    cluster_file(c), where, link->latency_s);
    return OK;
}

static enum status check_nics(const struct cluster *c, int group, struct error *err)
{
    const struct node_group *g = &c->groups[group];
    for (int i = 0; i < g->nic_count; i++) {
        char where[60];
        snprintf(where, sizeof where, "groups[%d].nics[%d].link", group, i);
        TRY(link_check(c, where, &g->nics[i].link, err));
        if (g->nics[i].count < 1 || g->nics[i].count > NICS_MAX)
            return fail(err, BAD_INPUT, "%s: groups[%d].nics[%d].count: expected 1 to %d, found %d",
                        cluster_file(c), group, i, NICS_MAX, g->nics[i].count);
        for (int k = 0; k < i; k++)
            if (g->nics[k].kind == g->nics[i].kind)
                return fail(
                    err, BAD_INPUT,
                    "%s: groups[%d].nics[%d].kind: \"%s\" stands twice; give its count instead",
                    cluster_file(c), group, i, nic_kind_names[g->nics[i].kind]);
    }
    return OK;
}

static enum status check_group(const struct cluster *c, int i, struct error *err)
{
    const struct node_group *g = &c->groups[i];
    char where[40];
    if (!g->name || !*g->name || !g->gpu || !*g->gpu)
        return fail(err, BAD_INPUT, "%s: groups[%d]: expected a name and a gpu, found an empty one",
                    cluster_file(c), i);
    for (int k = 0; k < i; k++)
        if (!strcmp(c->groups[k].name, g->name))
            return fail(err, BAD_INPUT, "%s: groups[%d].name: \"%s\" names two groups",
                        cluster_file(c), i, g->name);
    if (g->nodes < 1 || g->nodes > NODES_MAX)
        return fail(err, BAD_INPUT, "%s: groups[%d].nodes: expected 1 to %d, found %d",
                    cluster_file(c), i, NODES_MAX, g->nodes);
    if (g->gpus_per_node < 1 || g->gpus_per_node > GPUS_MAX)
        return fail(err, BAD_INPUT, "%s: groups[%d].gpus_per_node: expected 1 to %d, found %d",
                    cluster_file(c), i, GPUS_MAX, g->gpus_per_node);
    if (g->memory_bytes < 1 || g->memory_bytes > MEMORY_MAX)
        return fail(err, BAD_INPUT, "%s: groups[%d].memory_bytes: expected 1 to 2^50, found %lld",
                    cluster_file(c), i, (long long)g->memory_bytes);
    if (!(g->gpu_hour_price >= 0 && g->gpu_hour_price <= PRICE_MAX))
        return fail(err, BAD_INPUT,
                    "%s: groups[%d].gpu_hour_price: expected a number from 0 to 1e9, found %g",
                    cluster_file(c), i, g->gpu_hour_price);
    snprintf(where, sizeof where, "groups[%d].intra", i);
    TRY(link_check(c, where, &g->intra, err));
    return check_nics(c, i, err);
}

enum status cluster_check(const struct cluster *c, struct error *err)
{
    if (c->group_count < 1 || c->group_count > GROUPS_MAX)
        return fail(err, BAD_INPUT, "%s: groups: expected 1 to %d groups, found %d",
                    cluster_file(c), GROUPS_MAX, c->group_count);
    for (int i = 0; i < c->group_count; i++) TRY(check_group(c, i, err));
    for (int i = 0; i < c->link_count; i++) {
        const struct group_link *l = &c->links[i];
        char where[40];
        snprintf(where, sizeof where, "links[%d].link", i);
        TRY(link_check(c, where, &l->link, err));
        if (l->from < 0 || l->from >= c->group_count || l->to < 0 || l->to >= c->group_count)
            return fail(err, BAD_INPUT, "%s: links[%d]: expected groups below %d, found %d and %d",
                        cluster_file(c), i, c->group_count, l->from, l->to);
        for (int k = 0; k < i; k++)
            if (c->links[k].from == l->from && c->links[k].to == l->to)
                return fail(err, BAD_INPUT, "%s: links[%d]: \"%s\" to \"%s\" stands twice",
                            cluster_file(c), i, c->groups[l->from].name, c->groups[l->to].name);
    }
    return places_check(c, err);
}

// ---- writing

void link_put(struct json_writer *w, const char *key, const struct link *link)
{
    json_open_flat_object(w, key);
    json_put_number(w, "bytes_per_s", link->bytes_per_s);
    json_put_number(w, "latency_s", link->latency_s);
    json_close_object(w);
}

static void put_group(struct json_writer *w, const struct node_group *g)
{
    json_open_object(w, NULL);
    json_put_text(w, "name", g->name);
    json_put_text(w, "gpu", g->gpu);
    json_put_count(w, "nodes", g->nodes);
    json_put_count(w, "gpus_per_node", g->gpus_per_node);
    json_put_count(w, "memory_bytes", g->memory_bytes);
    if (g->gpu_hour_price > 0) json_put_number(w, "gpu_hour_price", g->gpu_hour_price);
    link_put(w, "intra", &g->intra);
    json_open_array(w, "nics");
    for (int i = 0; i < g->nic_count; i++) {
        json_open_flat_object(w, NULL);
        json_put_text(w, "kind", nic_kind_names[g->nics[i].kind]);
        json_put_count(w, "count", g->nics[i].count);
        link_put(w, "link", &g->nics[i].link);
        json_close_object(w);
    }
    json_close_array(w);
    json_close_object(w);
}

enum status cluster_save(const struct cluster *c, const char *path, struct arena *arena,
                         struct error *err)
{
    struct json_writer w;
    document_begin(&w, "plumbline.cluster", c->document.sources, c->document.source_count, arena);
    json_put_text(&w, "name", c->name);
    json_open_array(&w, "groups");
    for (int i = 0; i < c->group_count; i++) put_group(&w, &c->groups[i]);
    json_close_array(&w);
    json_open_array(&w, "links");
    for (int i = 0; i < c->link_count; i++) {
        json_open_flat_object(&w, NULL);
        json_put_text(&w, "from", c->groups[c->links[i].from].name);
        json_put_text(&w, "to", c->groups[c->links[i].to].name);
        link_put(&w, "link", &c->links[i].link);
        json_close_object(&w);
    }
    json_close_array(&w);
    if (c->places.node_count) places_put(&w, &c->places, c->groups);
    return document_write(&w, path, err);
}

// ---- numbers that no machine has

// A modem below, all links of the largest switch above.
static const double rate_least = 1e4, rate_most = 2e13, latency_most_s = 1;
static const int64_t memory_least = 1000 * 1000, memory_most = 16LL * 1000 * 1000 * 1000 * 1000;

static const char *doubt_of_link(const struct link *l, const char *where, struct arena *arena)
{
    if (l->bytes_per_s < rate_least)
        return arena_print(arena, "%s: %.9g bytes/s are no link; did you mean \"%.9g Gb/s\"?",
                           where, l->bytes_per_s, l->bytes_per_s);
    if (l->bytes_per_s > rate_most)
        return arena_print(arena, "%s: %.9g TB/s are no link; did you mean \"%.9g GB/s\"?", where,
                           l->bytes_per_s / 1e12, l->bytes_per_s / 1e12);
    if (l->latency_s > latency_most_s)
        return arena_print(arena, "%s: %.9g s are no link's latency; did you mean \"%.9g us\"?",
                           where, l->latency_s, l->latency_s);
    return NULL;
}

static const char *doubt_of_group(const struct node_group *g, struct arena *arena)
{
    // Gigabytes without their unit, megabytes as nvidia-smi has them, bytes of a thousand too many.
    if (g->memory_bytes < memory_least)
        return arena_print(arena,
                           "memory_bytes: %lld bytes are no GPU's; did you mean \"%lld %s\"?",
                           (long long)g->memory_bytes, (long long)g->memory_bytes,
                           g->memory_bytes < 1000 ? "GB" : "MiB");
    if (g->memory_bytes > memory_most)
        return arena_print(arena, "memory_bytes: %.9g TB are no GPU's; did you mean \"%.9g GB\"?",
                           (double)g->memory_bytes / 1e12, (double)g->memory_bytes / 1e12);
    const char *doubt = doubt_of_link(&g->intra, "intra", arena);
    for (int i = 0; i < g->nic_count && !doubt; i++)
        doubt = doubt_of_link(&g->nics[i].link, arena_print(arena, "nics[%d].link", i), arena);
    return doubt;
}

const char *cluster_doubt(const struct cluster *c, struct arena *arena)
{
    for (int i = 0; i < c->group_count; i++) {
        const char *doubt = doubt_of_group(&c->groups[i], arena);
        if (doubt) return arena_print(arena, "%s: groups[%d].%s", cluster_file(c), i, doubt);
    }
    return NULL;
}
