// Nodes one by one: their names, their switches, and the measured links between them, as a whole
// matrix (row = from, column = to, diagonal 0) or pair by pair. Links that were not measured follow
// from the level that two nodes share, and that from what their network cards have in common
// (places.h).
#include "data/places/places.h"

#include <string.h>

#include "data/places/internal.h"

enum { LEVELS_MAX = 8 };

int places_find(const struct places *p, const char *name)
{
    for (int i = 0; i < p->node_count; i++)
        if (!strcmp(p->nodes[i].name, name)) return i;
    return -1;
}

// ---- reading

static int find_or_add_switch(struct places *p, const char *name, int level, int *levels)
{
    for (int i = 0; i < p->switch_count; i++)
        if (levels[i] == level && !strcmp(p->switches[i], name)) return i;
    p->switches[p->switch_count] = name;
    levels[p->switch_count] = level;
    return p->switch_count++;
}

// Host files have one host per line, and what follows a space is something else.
static bool is_host(const char *name)
{
    for (; *name; name++)
        if ((unsigned char)*name <= ' ' || *name == 0x7f) return false;
    return true;
}

static enum status read_name(const struct places *p, const struct json *element, int node,
                             struct error *err)
{
    const char *name = p->nodes[node].name;
    if (!*name) return json_refuse(element, err, "name: expected a name, found an empty one");
    if (!is_host(name))
        return json_refuse(element, err,
                           "name: expected a host's name, found \"%.60s\" with white space or "
                           "control characters in it",
                           name);
    for (int i = 0; i < node; i++)
        if (!strcmp(p->nodes[i].name, name))
            return json_refuse(element, err, "name: \"%.60s\" names two nodes", name);
    return OK;
}

static const struct member level_rows[] = {
    KEY_TEXT(network_level, name, REQUIRED),
    KEY_OBJECT("link", network_level, link, REQUIRED, ALWAYS_WRITTEN, &link_members),
};
static MEMBERS(level, struct network_level, NULL, true, NULL);

static enum status check_levels(const struct places *p, const struct json *at, struct error *err)
{
    for (int i = 0; i < p->level_count; i++)
        for (int k = 0; k < i; k++)
            if (!strcmp(p->levels[k].name, p->levels[i].name))
                return json_refuse(at, err, "levels[%d].name: \"%.60s\" names two levels", i,
                                   p->levels[i].name);
    return OK;
}

GET_MEMBER(get_nodes)
{
    const struct cluster *c = context;
    struct places *p = to;
    TRY(check_levels(p, value, err));
    if (!c->group_count)
        return json_refuse(value, err, "expected groups before places, found none");
    p->node_count = json_length(value);
    if (p->node_count < 1 || p->node_count > PLACES_MAX)
        return json_refuse(value, err, "expected 1 to %d nodes, found %d", PLACES_MAX,
                           p->node_count);
    p->nodes = TAKE(arena, p->node_count, struct cluster_node);
    p->switches = TAKE(arena, p->node_count * (p->level_count + 1), const char *);
    int *levels = TAKE(arena, p->node_count * (p->level_count + 1), int);
    for (int i = 0; i < p->node_count; i++) {
        struct json element = json_element(value, i, arena), switches = {0};
        struct cluster_node *n = &p->nodes[i];
        const char *group = c->groups[0].name, **names;
        int count;
        struct json_field fields[] = {
            FIELD_TEXT("name", REQUIRED, &n->name),
            FIELD_TEXT("group", OPTIONAL, &group),
            FIELD_ARRAY("switches", OPTIONAL, &switches),
        };
        TRY(JSON_FIELDS(&element, fields, arena, err));
        TRY(read_name(p, &element, i, err));
        TRY(cluster_find_group(c, &element, "group", group, &n->group, err));
        TRY(json_texts(&switches, &names, &count, arena, err));
        if (count > p->level_count)
            return json_refuse(&switches, err,
                               "expected at most one switch for each of %d levels, found %d",
                               p->level_count, count);
        n->switches = TAKE(arena, p->level_count + 1, int);
        for (int k = 0; k < p->level_count; k++)
            n->switches[k] = k < count ? find_or_add_switch(p, names[k], k, levels) : -1;
    }
    return OK;
}

// The names in the order of the matrix: each is a node, none is repeated, none is missing.
static enum status read_order(const struct places *p, const struct json *array, int **order,
                              struct arena *arena, struct error *err)
{
    const char **names;
    int count;
    TRY(json_texts(array, &names, &count, arena, err));
    if (count != p->node_count)
        return json_refuse(array, err, "expected the names of all %d nodes, found %d",
                           p->node_count, count);
    bool *seen = TAKE(arena, count, bool);
    *order = TAKE(arena, count, int);
    for (int i = 0; i < count; i++) {
        int node = (*order)[i] = places_find(p, names[i]);
        if (node < 0)
            return json_refuse(array, err, "expected names of nodes, found \"%.60s\"", names[i]);
        if (seen[node]) return json_refuse(array, err, "\"%.60s\" appears twice", names[i]);
        seen[node] = true;
    }
    return OK;
}

// One row of a matrix: numbers within the limits, 0 on the diagonal, null if nothing was measured
// (NAN).
static enum status read_row(const struct places *p, const struct json *rows, int i,
                            const int *order, double least, double most, double **row,
                            struct arena *arena, struct error *err)
{
    struct json element = json_element(rows, i, arena);
    int length;
    TRY(json_expect(&element, JSON_ARRAY, err));
    TRY(json_cells(&element, row, &length, arena, err));
    if (length != p->node_count)
        return json_refuse(&element, err, "expected %d numbers, one for each node, found %d",
                           p->node_count, length);
    for (int k = 0; k < length; k++) {
        double x = (*row)[k];
        const char *from = p->nodes[order[i]].name, *to = p->nodes[order[k]].name;
        if (k == i && x != 0 && !isnan(x))
            return json_refuse(&element, err,
                               "[%d]: expected 0, a node's link to itself (\"%.60s\"), found %g", k,
                               from, x);
        if (k != i && (x < least || x > most))
            return json_refuse(&element, err,
                               "[%d]: \"%.60s\" to \"%.60s\": expected %g to %g, or null where "
                               "nothing was measured, found %g",
                               k, from, to, least, most, x);
    }
    return OK;
}

// If there is a table of latencies, a rate without a latency is refused.
static enum status read_cells(struct places *p, const struct json *rates,
                              const struct json *latencies, double latency_s, const int *order,
                              int i, struct arena *arena, struct error *err)
{
    double *rate, *latency = NULL;
    TRY(read_row(p, rates, i, order, 1, LINK_RATE_MAX, &rate, arena, err));
    if (json_is_present(latencies))
        TRY(read_row(p, latencies, i, order, 0, LINK_SECONDS_MAX, &latency, arena, err));
    for (int k = 0; k < p->node_count; k++) {
        if (k == i) continue;
        if (latency && isnan(latency[k]) && !isnan(rate[k]))
            return json_refuse(latencies, err,
                               "[%d][%d]: \"%.60s\" to \"%.60s\": expected a latency for this "
                               "bandwidth, found null",
                               i, k, p->nodes[order[i]].name, p->nodes[order[k]].name);
        if (isnan(rate[k])) p->absent[pair_of(p, order[i], order[k])] = true;
        else
            *measured_link(p, order[i], order[k]) =
                (struct link){rate[k], latency ? latency[k] : latency_s};
    }
    return OK;
}

static void take_measured(struct places *p, struct arena *arena)
{
    if (!p->measured) p->measured = TAKE(arena, pair_of(p, p->node_count, 0), struct link);
}

GET_MEMBER(get_matrix)
{
    struct places *p = to;
    if (!json_is_present(value)) return OK;
    take_measured(p, arena);
    struct json names = {0}, rates = {0}, latencies = {0};
    double latency_s = -1;
    int *order = NULL;
    struct json_field fields[] = {
        FIELD_ARRAY("nodes", REQUIRED, &names),
        FIELD_ARRAY("bytes_per_s", REQUIRED, &rates),
        FIELD_ARRAY("latencies_s", OPTIONAL, &latencies),
        FIELD_NUMBER("latency_s", OPTIONAL, &latency_s, 0, LINK_SECONDS_MAX),
    };
    TRY(JSON_FIELDS(value, fields, arena, err));
    if (latency_s >= 0 && json_is_present(&latencies))
        return json_refuse(value, err, "latency_s: expected it or latencies_s, found both");
    latency_s = latency_s < 0 ? 0 : latency_s;
    TRY(read_order(p, &names, &order, arena, err));
    const struct json *const tables[] = {&rates, &latencies};
    for (int t = 0; t < 2; t++)
        if (json_is_present(tables[t]) && json_length(tables[t]) != p->node_count)
            return json_refuse(tables[t], err, "expected %d rows, one for each node, found %d",
                               p->node_count, json_length(tables[t]));
    p->absent = TAKE(arena, (size_t)p->node_count * (size_t)p->node_count, bool);
    for (int i = 0; i < p->node_count; i++)
        TRY(read_cells(p, &rates, &latencies, latency_s, order, i, arena, err));
    return OK;
}

enum status places_pair_get(const struct json *element, const struct places *p,
                            const char *const names[2], bool *seen, size_t *pair, struct error *err)
{
    int ends[2];
    for (int k = 0; k < 2; k++) {
        ends[k] = places_find(p, names[k]);
        if (ends[k] < 0)
            return json_refuse(element, err, "%s: expected the name of a node, found \"%.60s\"",
                               k ? "to" : "from", names[k]);
    }
    if (ends[0] == ends[1])
        return json_refuse(element, err, "expected two different nodes, found \"%.60s\" twice",
                           names[0]);
    *pair = pair_of(p, ends[0], ends[1]);
    if (seen[*pair])
        return json_refuse(element, err, "\"%.60s\" to \"%.60s\" appears twice", names[0],
                           names[1]);
    seen[*pair] = true;
    return OK;
}

GET_MEMBER(get_pairs)
{
    struct places *p = to;
    bool *seen = TAKE(arena, pair_of(p, p->node_count, 0), bool);
    if (json_length(value)) take_measured(p, arena);
    for (int i = 0; i < json_length(value); i++) {
        struct json element = json_element(value, i, arena), link = {0};
        const char *names[2] = {NULL, NULL};
        size_t pair;
        struct json_field fields[] = {
            FIELD_TEXT("from", REQUIRED, &names[0]),
            FIELD_TEXT("to", REQUIRED, &names[1]),
            FIELD_OBJECT("link", REQUIRED, &link),
        };
        TRY(JSON_FIELDS(&element, fields, arena, err));
        TRY(places_pair_get(&element, p, names, seen, &pair, err));
        TRY(members_read(&link, &link_members, &p->measured[pair], context, arena, err));
    }
    return OK;
}

static void put_rows(struct json_writer *w, const char *key, const struct places *p, bool latency)
{
    json_open_array(w, key);
    for (int i = 0; i < p->node_count; i++) {
        json_open_flat_array(w, NULL);
        for (int k = 0; k < p->node_count; k++)
            json_put_number(w, NULL,
                            latency ? measured_link(p, i, k)->latency_s
                                    : measured_link(p, i, k)->bytes_per_s);
        json_close_array(w);
    }
    json_close_array(w);
}

// Whether every pair was measured: then a matrix is written.
static bool all_measured(const struct places *p)
{
    bool all = p->measured && p->node_count > 1;
    for (int i = 0; all && i < p->node_count; i++)
        for (int k = 0; k < p->node_count; k++)
            all &= i == k || measured_link(p, i, k)->bytes_per_s > 0;
    return all;
}

PUT_MEMBER(put_matrix)
{
    const struct places *p = from;
    if (!all_measured(p)) return;
    json_open_object(w, key);
    json_open_flat_array(w, "nodes");
    for (int i = 0; i < p->node_count; i++) json_put_text(w, NULL, p->nodes[i].name);
    json_close_array(w);
    put_rows(w, "bytes_per_s", p, false);
    put_rows(w, "latencies_s", p, true);
    json_close_object(w);
}

PUT_MEMBER(put_pairs)
{
    const struct places *p = from;
    if (!p->measured || all_measured(p)) return;
    json_open_array(w, key);
    for (int i = 0; i < p->node_count; i++)
        for (int k = 0; k < p->node_count; k++) {
            if (!(measured_link(p, i, k)->bytes_per_s > 0)) continue;
            json_open_flat_object(w, NULL);
            json_put_text(w, "from", p->nodes[i].name);
            json_put_text(w, "to", p->nodes[k].name);
            members_write(w, "link", &link_members, measured_link(p, i, k), NULL);
            json_close_object(w);
        }
    json_close_array(w);
}

PUT_MEMBER(put_nodes)
{
    const struct places *p = from;
    json_open_array(w, key);
    for (int i = 0; i < p->node_count; i++) {
        json_open_flat_object(w, NULL);
        json_put_text(w, "name", p->nodes[i].name);
        json_put_text(w, "group",
                      ((const struct cluster *)context)->groups[p->nodes[i].group].name);
        json_open_flat_array(w, "switches");
        for (int k = 0; k < p->level_count && p->nodes[i].switches[k] >= 0; k++)
            json_put_text(w, NULL, p->switches[p->nodes[i].switches[k]]);
        json_close_array(w);
        json_close_object(w);
    }
    json_close_array(w);
}

static const struct member places_rows[] = {
    KEY_LIST(places, levels, level_count, OPTIONAL, ALWAYS_WRITTEN, LEVELS_MAX, &level_members),
    KEY_PART("nodes", JSON_ARRAY, REQUIRED, 0, get_nodes, put_nodes),
    KEY_PART("matrix", JSON_OBJECT, OPTIONAL, 0, get_matrix, put_matrix),
    KEY_PART("links", JSON_ARRAY, OPTIONAL, 0, get_pairs, put_pairs),
    KEY_PART("degraded", JSON_ARRAY, OPTIONAL, 0, places_degraded_get, places_degraded_put),
};
MEMBERS(places, struct places, NULL, false, NULL);

// ---- checking

// A link that was not measured must follow from something else.
static enum status check_absent(const struct cluster *c, struct error *err)
{
    static const double plain[NIC_KIND_COUNT] = {1, 1, 1};
    const struct place_traffic one = {{1, 1}, {0, 0}};
    const struct places *p = &c->places;
    struct place_link link;
    for (int i = 0; p->absent && i < p->node_count; i++)
        for (int k = 0; k < p->node_count; k++)
            if (p->absent[pair_of(p, i, k)] && !places_link(&link, c, i, k, &one, plain))
                return refuse(err,
                              "places: \"%.60s\" to \"%.60s\": expected a measured bandwidth, or a "
                              "link, a level or network cards that give it, found none",
                              p->nodes[i].name, p->nodes[k].name);
    return OK;
}

enum status places_check(const struct cluster *c, struct error *err)
{
    const struct places *p = &c->places;
    int nodes[GROUPS_MAX] = {0};
    if (!p->node_count) return OK;
    for (int i = 0; i < p->level_count; i++) {
        char where[60];
        snprintf(where, sizeof where, "places.levels[%d].link.", i);
        TRY(link_check(where, &p->levels[i].link, err));
    }
    for (int i = 0; i < p->node_count; i++) {
        const char *name = p->nodes[i].name;
        if (!name || !*name)
            return refuse(err, "places.nodes[%d].name: expected a name, found an empty one", i);
        if (!is_host(name))
            return refuse(err,
                          "places.nodes[%d].name: expected a host's name, found one with white "
                          "space or control characters in it",
                          i);
        if (places_find(p, name) != i)
            return refuse(err, "places.nodes[%d].name: \"%.60s\" names two nodes", i, name);
        nodes[p->nodes[i].group]++;
    }
    for (int g = 0; g < c->group_count; g++)
        if (nodes[g] != c->groups[g].nodes)
            return refuse(err, "places.nodes: expected the %d nodes of group \"%.60s\", found %d",
                          c->groups[g].nodes, c->groups[g].name, nodes[g]);
    return check_absent(c, err);
}
