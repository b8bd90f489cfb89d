// The part of a priced document with the prices of links between nodes: reading and writing, and
// which prices a ring has.

#include "data/base/least.h"
#include "data/priced/fields.h"
#include "data/inputs/problem.h"

size_t priced_ring_links(const struct priced_places *p)
{
    return (size_t)p->transport_count * pairs_of(p);
}

size_t priced_ring_offset(const struct priced_places *p, const int *nodes, int count)
{
    int best = 0;
    int64_t best_rate = -1;
    for (int t = 0; t < p->transport_count && p->transport_count > 1; t++) {
        int64_t rate = INT64_MAX;
        for (int i = 0; i < count; i++)
            if (p->transports[t].bytes_per_s[p->nodes[nodes[i]].group] < rate)
                rate = p->transports[t].bytes_per_s[p->nodes[nodes[i]].group];
        if (rate <= best_rate) continue;
        best_rate = rate;
        best = t;
    }
    return (size_t)best * pairs_of(p);
}

static int level_at(const struct priced_places *p, int transport, int node, const int *rings)
{
    int count = rings[node] < 1 ? 1 : smaller_int(rings[node], p->rings_most);
    return p->ring_level[transport][p->nodes[node].group * p->rings_most + count - 1];
}

size_t priced_ring_link(const struct priced_places *p, size_t offset, int from, int to,
                        const int *rings)
{
    int transport = (int)(offset / pairs_of(p)), level = 0;
    if (p->ring_level_count > 1)
        level = larger_int(level_at(p, transport, from, rings), level_at(p, transport, to, rings));
    return (size_t)level * priced_ring_links(p) + offset + (size_t)from * (size_t)p->node_count +
           (size_t)to;
}

// ---- the ring of both ends

static int64_t take_least(int64_t least, int64_t ns)
{
    return ns != PRICE_NONE && (least == PRICE_NONE || ns < least) ? ns : least;
}

// A ring that leaves the node enters over one link and leaves over another.
static int64_t least_through(const struct priced_places *p, size_t node)
{
    size_t n = (size_t)p->node_count;
    int64_t in = PRICE_NONE, out = PRICE_NONE;
    for (size_t k = 0; k < n; k++) {
        if (k == node) continue;
        in = take_least(in, p->embedding_ring_ns[k * n + node]);
        out = take_least(out, p->embedding_ring_ns[node * n + k]);
    }
    return in == PRICE_NONE || out == PRICE_NONE ? PRICE_NONE : larger(in, out);
}

// If both are required.
static int64_t greater_of(int64_t a, int64_t b)
{
    return a == PRICE_NONE || b == PRICE_NONE ? PRICE_NONE : larger(a, b);
}

int64_t *priced_embedding_pairs(const struct priced *p, struct arena *arena)
{
    const struct priced_places *x = p->places;
    size_t n = (size_t)x->node_count;
    int64_t *pairs = TAKE(arena, n * n, int64_t), *through = TAKE(arena, n, int64_t);
    for (size_t i = 0; i < n; i++) through[i] = least_through(x, i);
    for (size_t i = 0; i < n * n; i++) {
        size_t first = i / n, last = i % n, back = last * n + first;
        if (first != last && p->layout.data == 1)
            pairs[i] = greater_of(x->embedding_ring_ns[i], x->embedding_ring_ns[back]);
        else pairs[i] = greater_of(through[first], through[last]);
        if (first != last) continue;
        if (p->layout.data == 1) pairs[i] = PRICE_NONE;
        if (x->nodes[first].slots >= 2 * p->layout.data)
            pairs[i] = take_least(pairs[i], x->embedding_ring_ns[i]);
    }
    return pairs;
}

GET_MEMBER(finish_node)
{
    const struct priced *p = context;
    const struct priced_node *node = to;
    struct json group = json_member(value, "group", arena);
    if (node->group < p->group_count) return OK;
    return json_refuse(&group, err, "expected a whole number from 0 to %d, found %d",
                       p->group_count - 1, node->group);
}

static const struct member node_rows[] = {
    KEY_TEXT(priced_node, name, REQUIRED),
    KEY_INT(priced_node, group, REQUIRED, ALWAYS_WRITTEN, 0, GROUPS_MAX - 1),
    KEY_INT(priced_node, slots, REQUIRED, ALWAYS_WRITTEN, 0, 65536),
};
static MEMBERS(node, struct priced_node, NULL, true, finish_node);

GET_MEMBER(get_nodes)
{
    struct priced_places *p = ((const struct priced *)context)->places;
    p->node_count = json_length(value);
    if (p->node_count < 1 || p->node_count > PLACED_NODES_MAX)
        return json_refuse(value, err, "expected 1 to %d nodes, found %d", PLACED_NODES_MAX,
                           p->node_count);
    p->nodes = TAKE(arena, p->node_count, struct priced_node);
    return members_read_each(value, &node_members, p->nodes, context, arena, err);
}

PUT_MEMBER(put_nodes)
{
    const struct priced_places *p = ((const struct priced *)context)->places;
    members_write_each(w, key, &node_members, p->nodes, p->node_count, context);
}

static int hop_prices(const struct priced *p)
{
    return p->slice_count * (int)pairs_of(p->places) * PART_COUNT;
}

PRICES(hops, hop_prices(p), PRICE_NONE)
TABLES(hops_back, p->boundary_option_count, hop_prices(p))

static const struct member hops_rows[] = {
    KEY_PRICES(priced_hops, forward_ns, REQUIRED, hops),
    KEY_PRICES(priced_hops, backward_ns, REQUIRED, hops_back),
};
static MEMBERS(hops, struct priced_hops, NULL, false, NULL);

GET_MEMBER(get_cuts)
{
    const struct priced *p = context;
    TRY(json_expect_count(value, p->cut_count, "entries", err));
    p->places->cuts = TAKE(arena, p->cut_count, struct priced_hops);
    return members_read_each(value, &hops_members, p->places->cuts, p, arena, err);
}

PUT_MEMBER(put_cuts)
{
    const struct priced *p = context;
    members_write_each(w, key, &hops_members, p->places->cuts, p->cut_count, p);
}

PRICES(rates, p->group_count, 0)

static const struct member transport_rows[] = {
    KEY_TEXT(priced_transport, name, REQUIRED),
    KEY_PRICES(priced_transport, bytes_per_s, REQUIRED, rates),
};
static MEMBERS(transport, struct priced_transport, NULL, false, NULL);

// If absent: there is one, whatever it is.
GET_MEMBER(get_transports)
{
    struct priced_places *p = ((const struct priced *)context)->places;
    p->transport_count = json_is_present(value) ? json_length(value) : 1;
    if (p->transport_count < 1 || p->transport_count > TRANSPORTS_MAX)
        return json_refuse(value, err, "expected 1 to %d transports, found %d", TRANSPORTS_MAX,
                           p->transport_count);
    p->transports = TAKE(arena, p->transport_count, struct priced_transport);
    if (json_is_present(value))
        return members_read_each(value, &transport_members, p->transports, context, arena, err);
    return get_rates(value, &p->transports[0].bytes_per_s, context, arena, err);
}

PUT_MEMBER(put_transports)
{
    const struct priced_places *p = ((const struct priced *)context)->places;
    if (p->transport_count > 1)
        members_write_each(w, key, &transport_members, p->transports, p->transport_count, context);
}

static enum status read_level(const struct priced *priced, int transport, const struct json *array,
                              struct arena *arena, struct error *err)
{
    struct priced_places *p = priced->places;
    int count = json_length(array), *levels;
    TRY(json_expect(array, JSON_ARRAY, err));
    if (transport == 0) p->rings_most = larger_int(count / priced->group_count, 1);
    TRY(json_expect_count(array, p->rings_most * priced->group_count, "levels", err));
    TRY(json_ints(array, 0, RING_LEVELS_MAX - 1, &levels, &count, arena, err));
    p->ring_level[transport] = levels;
    for (int i = 0; i < count; i++)
        p->ring_level_count = larger_int(p->ring_level_count, levels[i] + 1);
    return OK;
}

// If absent: the number of rings that leave a node has no effect.
GET_MEMBER(get_levels)
{
    const struct priced *priced = context;
    struct priced_places *p = priced->places;
    p->ring_level = TAKE(arena, p->transport_count, int *);
    p->rings_most = p->ring_level_count = 1;
    if (!json_is_present(value)) return OK;
    TRY(json_expect_count(value, p->transport_count, "entries, one for each transport", err));
    for (int t = 0; t < p->transport_count; t++) {
        struct json element = json_element(value, t, arena);
        TRY(read_level(priced, t, &element, arena, err));
    }
    if (ring_prices(p) > RING_PRICES_MAX)
        return json_refuse(value, err, "expected levels that ask for %d prices at most, found %zu",
                           RING_PRICES_MAX, ring_prices(p));
    return OK;
}

PUT_MEMBER(put_levels)
{
    const struct priced *priced = context;
    const struct priced_places *p = priced->places;
    if (p->ring_level_count == 1) return;
    json_open_array(w, key);
    for (int t = 0; t < p->transport_count; t++)
        json_put_ints(w, NULL, p->ring_level[t], priced->group_count * p->rings_most);
    json_close_array(w);
}

TABLES(ring_tables, p->gradient_option_count, (int)ring_prices(p->places))

GET_MEMBER(get_rings)
{
    const struct priced *p = context;
    TRY(json_expect_count(value, p->run_count, "entries", err));
    p->places->ring_ns = TAKE(arena, p->run_count, int64_t **);
    for (int i = 0; i < p->run_count; i++) {
        struct json element = json_element(value, i, arena);
        TRY(json_expect(&element, JSON_ARRAY, err));
        TRY(get_ring_tables(&element, &p->places->ring_ns[i], p, arena, err));
    }
    return OK;
}

PUT_MEMBER(put_rings)
{
    const struct priced *p = context;
    json_open_array(w, key);
    for (int i = 0; i < p->run_count; i++) put_ring_tables(w, NULL, &p->places->ring_ns[i], p);
    json_close_array(w);
}

// ---- the sync of both ends

PRICES(ends, (int)pairs_of(p->places), PRICE_NONE)

static enum status read_ends(const struct json *value, int64_t **to, bool fused,
                             const struct priced *p, struct arena *arena, struct error *err)
{
    bool wanted = p->has_embedding_sync && p->layout.fused_embedding_sync == fused;
    if (json_is_present(value) != wanted)
        return refuse(err,
                      "%s: places.embedding_%s_ns: expected it where the document has %s embedding "
                      "sync, and nowhere else",
                      priced_file(p), fused ? "ring" : "sync", fused ? "a fused" : "an");
    return wanted ? get_ends(value, to, p, arena, err) : OK;
}

GET_MEMBER(get_ring)
{
    const struct priced *p = context;
    TRY(read_ends(value, to, true, p, arena, err));
    if (p->places->embedding_ring_ns)
        p->places->embedding_sync_ns = priced_embedding_pairs(p, arena);
    return OK;
}

PUT_MEMBER(put_ring)
{
    const struct priced *p = context;
    if (p->places->embedding_ring_ns) put_ends(w, key, from, p);
}

GET_MEMBER(get_sync) { return read_ends(value, to, false, context, arena, err); }

PUT_MEMBER(put_sync)
{
    const struct priced_places *p = ((const struct priced *)context)->places;
    if (p->embedding_sync_ns && !p->embedding_ring_ns) put_ends(w, key, from, context);
}

GET_MEMBER(get_pipette)
{
    struct priced_places *p = ((const struct priced *)context)->places;
    if (!json_is_present(value)) return OK;
    p->pipette = TAKE(arena, 1, struct priced_pipette);
    return members_read(value, &pipette_members, p->pipette, context, arena, err);
}

PUT_MEMBER(put_pipette)
{
    const struct priced_places *p = ((const struct priced *)context)->places;
    if (p->pipette) members_write(w, key, &pipette_members, p->pipette, context);
}

// ---- the whole section

#define AT(member) offsetof(struct priced_places, member)
static const struct member priced_places_rows[] = {
    KEY_EACH("nodes", REQUIRED, AT(nodes), &node_members, get_nodes, put_nodes),
    KEY_EACH("cuts", REQUIRED, AT(cuts), &hops_members, get_cuts, put_cuts),
    KEY_EACH("transports", OPTIONAL, AT(transports), &transport_members, get_transports,
             put_transports),
    KEY_PART("ring_levels", JSON_ARRAY, OPTIONAL, AT(ring_level), get_levels, put_levels),
    KEY_PART("ring_ns", JSON_ARRAY, REQUIRED, AT(ring_ns), get_rings, put_rings),
    KEY_PRICES(priced_places, ring_constant_ns, REQUIRED, ring_tables),
    KEY_COUNT(priced_places, micro_batches_together, OPTIONAL, IF_SET, 0, JSON_COUNT_MAX),
    KEY_PART("embedding_ring_ns", JSON_ARRAY, OPTIONAL, AT(embedding_ring_ns), get_ring, put_ring),
    KEY_PART("embedding_sync_ns", JSON_ARRAY, OPTIONAL, AT(embedding_sync_ns), get_sync, put_sync),
    KEY_OBJECT_PART("pipette", AT(pipette), &pipette_members, get_pipette, put_pipette),
};
MEMBERS(priced_places, struct priced_places, NULL, false, NULL);

enum status priced_places_get(const struct json *object, void *to, const void *context,
                              struct arena *arena, struct error *err)
{
    struct priced *p = to;
    (void)context;
    if (!json_is_present(object)) return OK;
    if (!p->group_count)
        return json_refuse(object, err, "expected groups before places, found none");
    p->places = TAKE(arena, 1, struct priced_places);
    return members_read(object, &priced_places_members, p->places, p, arena, err);
}

void priced_places_put(struct json_writer *w, const char *key, const void *from,
                       const void *context)
{
    const struct priced *p = from;
    (void)context;
    if (p->places) members_write(w, key, &priced_places_members, p->places, p);
}
