// Clusters: load, check, save. Groups are named; links name the groups they join.
#include "data/places/cluster.h"
#include "data/base/least.h"
#include "data/places/internal.h"

#include <string.h>

const char *const nic_kind_names[] = {"infiniband", "roce", "ethernet", NULL};

#define MEMORY_MAX 1125899906842624 // 2^50 bytes
#define PRICE_MAX 1e9
enum { NODES_MAX = 1000000, GPUS_MAX = 1024, NICS_MAX = 1024, RINGS_MAX = 256 };

// ---- reading and writing

static const struct member link_rows[] = {
    KEY_NUMBER(link, bytes_per_s, REQUIRED, ALWAYS_WRITTEN, 1, LINK_RATE_MAX),
    KEY_NUMBER(link, latency_s, REQUIRED, ALWAYS_WRITTEN, 0, LINK_SECONDS_MAX),
};
MEMBERS(link, struct link, NULL, true, NULL);

static const struct nic nic_initial = {.count = 1};
static const struct member nic_rows[] = {
    KEY_NAME(nic, kind, REQUIRED, ALWAYS_WRITTEN, nic_kind_names),
    KEY_INT(nic, count, OPTIONAL, ALWAYS_WRITTEN, 1, NICS_MAX),
    KEY_OBJECT("link", nic, link, REQUIRED, ALWAYS_WRITTEN, &link_members),
};
static MEMBERS(nic, struct nic, &nic_initial, true, NULL);

static const struct member ring_rows[] = {
    KEY_INT(ring_rate, gpus, REQUIRED, ALWAYS_WRITTEN, 2, GPUS_MAX),
    KEY_INT(ring_rate, apart, OPTIONAL, IF_SET, 1, GPUS_MAX),
    KEY_NUMBER(ring_rate, bytes_per_s, REQUIRED, ALWAYS_WRITTEN, 1, LINK_RATE_MAX),
};
static MEMBERS(ring, struct ring_rate, NULL, true, NULL);

static const struct member sum_rows[] = {
    KEY_INT(ring_rate, gpus, REQUIRED, ALWAYS_WRITTEN, 2, GPUS_MAX),
    KEY_NUMBER(ring_rate, bytes_per_s, REQUIRED, ALWAYS_WRITTEN, 1, LINK_RATE_MAX),
};
static MEMBERS(sum, struct ring_rate, NULL, true, NULL);

enum { BYTE_ENERGY_MAX = 1000000 }; // pJ
static const struct tier tier_initial = {.gpus = 1};
static const struct member tier_rows[] = {
    KEY_TEXT(tier, name, REQUIRED),
    KEY_COUNT(tier, bytes, OPTIONAL, IF_SET, 1, MEMORY_MAX),
    KEY_NUMBER(tier, read_bytes_per_s, OPTIONAL, IF_SET, 1, LINK_RATE_MAX),
    KEY_NUMBER(tier, write_bytes_per_s, OPTIONAL, IF_SET, 1, LINK_RATE_MAX),
    KEY_INT(tier, gpus, OPTIONAL, 1, 1, GPUS_MAX),
    KEY_BOOL(tier, in_place, OPTIONAL, IF_SET),
    KEY_NUMBER(tier, read_pj_per_byte, OPTIONAL, IF_SET, 0, BYTE_ENERGY_MAX),
    KEY_NUMBER(tier, write_pj_per_byte, OPTIONAL, IF_SET, 0, BYTE_ENERGY_MAX),
};
static MEMBERS(tier, struct tier, &tier_initial, true, NULL);

static const struct member group_rows[] = {
    KEY_TEXT(node_group, name, REQUIRED),
    KEY_TEXT(node_group, gpu, REQUIRED),
    KEY_INT(node_group, nodes, REQUIRED, ALWAYS_WRITTEN, 1, NODES_MAX),
    KEY_INT(node_group, gpus_per_node, REQUIRED, ALWAYS_WRITTEN, 1, GPUS_MAX),
    KEY_COUNT(node_group, memory_bytes, REQUIRED, ALWAYS_WRITTEN, 1, MEMORY_MAX),
    KEY_NUMBER(node_group, gpu_hour_price, OPTIONAL, IF_SET, 0, PRICE_MAX),
    KEY_OBJECT("intra", node_group, intra, REQUIRED, ALWAYS_WRITTEN, &link_members),
    KEY_LIST(node_group, rings, ring_count, OPTIONAL, IF_SET, RINGS_MAX, &ring_members),
    KEY_LIST(node_group, switch_sums, switch_sum_count, OPTIONAL, IF_SET, RINGS_MAX, &sum_members),
    KEY_LIST(node_group, nics, nic_count, OPTIONAL, ALWAYS_WRITTEN, NIC_KIND_COUNT, &nic_members),
    KEY_LIST(node_group, tiers, tier_count, OPTIONAL, IF_SET, TIERS_MAX, &tier_members),
    KEY_NUMBER(node_group, memory_read_pj_per_byte, OPTIONAL, IF_SET, 0, BYTE_ENERGY_MAX),
    KEY_NUMBER(node_group, memory_write_pj_per_byte, OPTIONAL, IF_SET, 0, BYTE_ENERGY_MAX),
};
static MEMBERS(group, struct node_group, NULL, false, NULL);

enum status cluster_find_group(const struct cluster *c, const struct json *at, const char *key,
                               const char *name, int *group, struct error *err)
{
    for (int i = 0; i < c->group_count; i++)
        if (!strcmp(c->groups[i].name, name)) {
            *group = i;
            return OK;
        }
    return json_refuse(at, err, "%s%sexpected the name of a group, found \"%.60s\"", key ? key : "",
                       key ? ": " : "", name);
}

// The context of what follows is the cluster. Groups by name.
GET_MEMBER(get_group)
{
    TRY(json_expect(value, JSON_TEXT, err));
    return cluster_find_group(context, value, NULL, json_text(value, arena), to, err);
}

PUT_MEMBER(put_group)
{
    json_put_text(w, key, ((const struct cluster *)context)->groups[*(const int *)from].name);
}

static const struct member group_link_rows[] = {
    KEY_PART("from", JSON_VALUE, REQUIRED, offsetof(struct group_link, from), get_group, put_group),
    KEY_PART("to", JSON_VALUE, REQUIRED, offsetof(struct group_link, to), get_group, put_group),
    KEY_OBJECT("link", group_link, link, REQUIRED, ALWAYS_WRITTEN, &link_members),
};
static MEMBERS(group_link, struct group_link, NULL, true, NULL);

PUT_MEMBER(put_places)
{
    const struct places *p = from;
    if (p->node_count) members_write(w, key, &places_members, p, context);
}

static const struct member cluster_rows[] = {
    KEY_TEXT(cluster, name, REQUIRED),
    KEY_LIST(cluster, groups, group_count, REQUIRED, ALWAYS_WRITTEN, GROUPS_MAX, &group_members),
    KEY_LIST(cluster, links, link_count, OPTIONAL, ALWAYS_WRITTEN, GROUPS_MAX *GROUPS_MAX,
             &group_link_members),
    KEY_ROW("places", JSON_OBJECT, OPTIONAL, 0, offsetof(struct cluster, places), 0, 0, NULL,
            &places_members, 0, 0, JSON_SKIP, NULL, put_places),
};
MEMBERS(cluster, struct cluster, NULL, false, NULL);

enum status cluster_load(struct cluster *c, const char *path, struct arena *arena,
                         struct error *err)
{
    *c = (struct cluster){0};
    TRY(document_load(&c->document, path, "plumbline.cluster", &cluster_members, c, c, arena, err));
    return cluster_check(c, err);
}

enum status cluster_save(const struct cluster *c, const char *path, struct arena *arena,
                         struct error *err)
{
    return document_save(&c->document, "plumbline.cluster", &cluster_members, c, c, path, arena,
                         err);
}

// ---- tiers

bool cluster_states_energy(const struct cluster *c)
{
    double most = 0;
    for (int i = 0; i < c->group_count; i++) {
        const struct node_group *g = &c->groups[i];
        most = larger_double(most, g->memory_read_pj_per_byte + g->memory_write_pj_per_byte);
        for (int k = 0; k < g->tier_count; k++)
            most =
                larger_double(most, g->tiers[k].read_pj_per_byte + g->tiers[k].write_pj_per_byte);
    }
    return most > 0;
}

const struct tier *group_tier(const struct node_group *g, const char *name)
{
    for (int i = 0; i < g->tier_count; i++)
        if (!strcmp(g->tiers[i].name, name)) return &g->tiers[i];
    return NULL;
}

const char **cluster_tiers(const struct cluster *c, int *count, struct arena *arena)
{
    const char **names = TAKE(arena, GROUPS_MAX * TIERS_MAX, const char *);
    *count = 0;
    for (int g = 0; g < c->group_count; g++)
        for (int i = 0; i < c->groups[g].tier_count; i++) {
            int known = 0;
            while (known < *count && strcmp(names[known], c->groups[g].tiers[i].name)) known++;
            if (known == *count) names[(*count)++] = c->groups[g].tiers[i].name;
        }
    return names;
}

// ---- checking

enum status link_check(const char *where, const struct link *link, struct error *err)
{
    return members_check(&link_members, link, where, err);
}

static enum status check_nics(const struct node_group *g, struct error *err)
{
    for (int i = 0; i < g->nic_count; i++) {
        char where[60];
        snprintf(where, sizeof where, "nics[%d].link.", i);
        TRY(link_check(where, &g->nics[i].link, err));
        snprintf(where, sizeof where, "nics[%d].", i);
        TRY(members_check(&nic_members, &g->nics[i], where, err));
        for (int k = 0; k < i; k++)
            if (g->nics[k].kind == g->nics[i].kind)
                return refuse(err, "nics[%d].kind: \"%s\" appears twice; give its count instead", i,
                              nic_kind_names[g->nics[i].kind]);
    }
    return OK;
}

static enum status check_rings(const struct node_group *g, struct error *err)
{
    for (int i = 0; i < g->ring_count; i++) {
        char where[60];
        snprintf(where, sizeof where, "rings[%d].", i);
        TRY(members_check(&ring_members, &g->rings[i], where, err));
        for (int k = 0; k < i; k++)
            if (g->rings[k].gpus == g->rings[i].gpus && g->rings[k].apart == g->rings[i].apart)
                return refuse(err, "rings[%d]: as many GPUs as far apart appear twice", i);
    }
    return OK;
}

static enum status check_sums(const struct node_group *g, struct error *err)
{
    for (int i = 0; i < g->switch_sum_count; i++) {
        char where[60];
        snprintf(where, sizeof where, "switch_sums[%d].", i);
        TRY(members_check(&sum_members, &g->switch_sums[i], where, err));
        if (i && g->switch_sums[i].gpus <= g->switch_sums[i - 1].gpus)
            return refuse(err, "switch_sums[%d].gpus: expected more than %d", i,
                          g->switch_sums[i - 1].gpus);
    }
    return OK;
}

// A tier states both of its rates, but for the host, whose rates the costs state.
static enum status check_tiers(const struct cluster *c, int group, struct error *err)
{
    const struct node_group *g = &c->groups[group];
    for (int i = 0; i < g->tier_count; i++) {
        const struct tier *t = &g->tiers[i];
        bool host = t->name && !strcmp(t->name, TIER_HOST);
        char where[60];
        snprintf(where, sizeof where, "tiers[%d].", i);
        if (!t->name || !*t->name)
            return refuse(err, "%sname: expected a name, found nothing", where);
        TRY(members_check(&tier_members, t, where, err));
        if (host && (t->read_bytes_per_s > 0 || t->write_bytes_per_s > 0 || t->in_place))
            return refuse(err,
                          "%sread_bytes_per_s, write_bytes_per_s, in_place: expected none for the "
                          "host, whose link is in the costs (host_link_bytes_per_s)",
                          where);
        if (!host && !(t->read_bytes_per_s > 0 && t->write_bytes_per_s > 0))
            return refuse(err, "%sread_bytes_per_s, write_bytes_per_s: expected both for \"%s\"",
                          where, t->name);
        for (int k = 0; k < group; k++) {
            const struct tier *other = group_tier(&c->groups[k], t->name);
            if (other && other->in_place != t->in_place)
                return refuse(err, "%sin_place: expected that of \"%s\" in group \"%s\"", where,
                              t->name, c->groups[k].name);
        }
        if (group_tier(g, t->name) != t)
            return refuse(err, "%sname: \"%s\" names two tiers", where, t->name);
    }
    return OK;
}

static enum status check_group(const struct cluster *c, int i, struct error *err)
{
    const struct node_group *g = &c->groups[i];
    for (int k = 0; k < i; k++)
        if (!strcmp(c->groups[k].name, g->name))
            return refuse(err, "name: \"%s\" names two groups", g->name);
    TRY(members_check(&group_members, g, "", err));
    TRY(link_check("intra.", &g->intra, err));
    TRY(check_rings(g, err));
    TRY(check_sums(g, err));
    TRY(check_tiers(c, i, err));
    return check_nics(g, err);
}

static enum status check(const struct cluster *c, struct error *err)
{
    if (c->group_count < 1 || c->group_count > GROUPS_MAX)
        return refuse(err, "groups: expected 1 to %d groups, found %d", GROUPS_MAX, c->group_count);
    for (int i = 0; i < c->group_count; i++) {
        const char *name = c->groups[i].name, *gpu = c->groups[i].gpu;
        if (!name || !*name || !gpu || !*gpu)
            return refuse(err, "groups[%d]: expected a name and a gpu, found an empty one", i);
        TRY(fail_within(err, check_group(c, i, err), "groups[%d].", i));
    }
    for (int i = 0; i < c->link_count; i++) {
        const struct group_link *l = &c->links[i];
        char where[40];
        snprintf(where, sizeof where, "links[%d].link.", i);
        TRY(link_check(where, &l->link, err));
        if (l->from < 0 || l->from >= c->group_count || l->to < 0 || l->to >= c->group_count)
            return refuse(err, "links[%d]: expected groups below %d, found %d and %d", i,
                          c->group_count, l->from, l->to);
        for (int k = 0; k < i; k++)
            if (c->links[k].from == l->from && c->links[k].to == l->to)
                return refuse(err, "links[%d]: \"%s\" to \"%s\" appears twice", i,
                              c->groups[l->from].name, c->groups[l->to].name);
    }
    return places_check(c, err);
}

enum status cluster_check(const struct cluster *c, struct error *err)
{
    return fail_within(err, check(c, err), "%s: ", cluster_file(c));
}

// ---- numbers that no machine has

// A modem at the low end, all links of the largest switch at the high end.
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
    // Gigabytes without their unit, megabytes as in nvidia-smi, bytes times a thousand too many.
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
