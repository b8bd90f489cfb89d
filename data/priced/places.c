// The part of a priced document that prices links between nodes: reading, checking, writing.
#include <string.h>

#include "data/base/least.h"
#include "data/priced/fields.h"
#include "data/inputs/problem.h"

static size_t pairs_of(const struct priced_places *p)
{
    return (size_t)p->node_count * (size_t)p->node_count;
}

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
            if (p->transport_rate[t][p->nodes[nodes[i]].group] < rate)
                rate = p->transport_rate[t][p->nodes[nodes[i]].group];
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

static size_t ring_prices(const struct priced_places *p)
{
    return (size_t)p->ring_level_count * priced_ring_links(p);
}

// ---- the ring of both ends

static int64_t take_least(int64_t least, int64_t ns)
{
    return ns != PRICE_NONE && (least == PRICE_NONE || ns < least) ? ns : least;
}

// A ring that leaves the node comes in over one link and goes out over another.
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

// Where both must be.
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

static enum status read_nodes(const struct priced *priced, struct priced_places *p,
                              const struct json *array, struct arena *arena, struct error *err)
{
    p->node_count = json_length(array);
    if (p->node_count < 1 || p->node_count > PLACED_NODES_MAX)
        return json_refuse(array, err, "expected 1 to %d nodes, found %d", PLACED_NODES_MAX,
                           p->node_count);
    p->nodes = TAKE(arena, p->node_count, struct priced_node);
    return members_read_each(array, &node_members, p->nodes, priced, arena, err);
}

static enum status read_cuts(const struct priced *priced, struct priced_places *p,
                             const struct json *array, struct arena *arena, struct error *err)
{
    int count = priced->slice_count * p->node_count * p->node_count * PART_COUNT;
    if (json_length(array) != priced->cut_count)
        return json_refuse(array, err, "expected %d entries, found %d", priced->cut_count,
                           json_length(array));
    p->forward_ns = TAKE(arena, priced->cut_count, int64_t *);
    p->backward_ns = TAKE(arena, priced->cut_count, int64_t **);
    for (int i = 0; i < priced->cut_count; i++) {
        struct json element = json_element(array, i, arena), forward = {0}, backward = {0};
        struct json_field fields[] = {
            FIELD_ARRAY("forward_ns", REQUIRED, &forward),
            FIELD_ARRAY("backward_ns", REQUIRED, &backward),
        };
        TRY(JSON_FIELDS(&element, fields, arena, err));
        TRY(priced_prices_get(&forward, count, PRICE_NONE, &p->forward_ns[i], arena, err));
        TRY(priced_tables_get(&backward, priced->boundary_option_count, count, PRICE_NONE,
                              &p->backward_ns[i], arena, err));
    }
    return OK;
}

// Absent: there is one, whatever it is.
static enum status read_transports(const struct priced *priced, struct priced_places *p,
                                   const struct json *array, struct arena *arena, struct error *err)
{
    p->transport_count = json_is_present(array) ? json_length(array) : 1;
    if (p->transport_count < 1 || p->transport_count > TRANSPORTS_MAX)
        return json_refuse(array, err, "expected 1 to %d transports, found %d", TRANSPORTS_MAX,
                           p->transport_count);
    p->transports = TAKE(arena, p->transport_count, const char *);
    p->transport_rate = TAKE(arena, p->transport_count, int64_t *);
    p->transport_rate[0] = TAKE(arena, priced->group_count, int64_t);
    for (int i = 0; i < p->transport_count && json_is_present(array); i++) {
        struct json element = json_element(array, i, arena), rates = {0};
        struct json_field fields[] = {FIELD_TEXT("name", REQUIRED, &p->transports[i]),
                                      FIELD_ARRAY("bytes_per_s", REQUIRED, &rates)};
        TRY(JSON_FIELDS(&element, fields, arena, err));
        TRY(priced_prices_get(&rates, priced->group_count, 0, &p->transport_rate[i], arena, err));
    }
    return OK;
}

// Absent: however many rings leave a node.
static enum status read_levels(const struct priced *priced, struct priced_places *p,
                               const struct json *array, struct arena *arena, struct error *err)
{
    p->ring_level = TAKE(arena, p->transport_count, int *);
    p->rings_most = p->ring_level_count = 1;
    if (!json_is_present(array)) return OK;
    if (json_length(array) != p->transport_count)
        return json_refuse(array, err, "expected %d entries, one for each transport, found %d",
                           p->transport_count, json_length(array));
    for (int t = 0; t < p->transport_count; t++) {
        struct json element = json_element(array, t, arena);
        int64_t *levels;
        int count = json_length(&element);
        TRY(json_expect(&element, JSON_ARRAY, err));
        if (t == 0) p->rings_most = larger_int(count / priced->group_count, 1);
        if (count != p->rings_most * priced->group_count)
            return json_refuse(&element, err, "expected %d levels, found %d",
                               p->rings_most * priced->group_count, count);
        TRY(priced_prices_get(&element, count, 0, &levels, arena, err));
        p->ring_level[t] = TAKE(arena, count, int);
        for (int i = 0; i < count; i++) {
            if (levels[i] >= RING_LEVELS_MAX)
                return json_refuse(&element, err, "[%d]: expected 0 to %d, found %lld", i,
                                   RING_LEVELS_MAX - 1, (long long)levels[i]);
            p->ring_level[t][i] = (int)levels[i];
            p->ring_level_count = larger_int(p->ring_level_count, (int)levels[i] + 1);
        }
    }
    if (ring_prices(p) > RING_PRICES_MAX)
        return json_refuse(array, err, "expected levels that ask for %d prices at most, found %zu",
                           RING_PRICES_MAX, ring_prices(p));
    return OK;
}

static enum status read_rings(const struct priced *priced, struct priced_places *p,
                              const struct json *array, struct arena *arena, struct error *err)
{
    if (json_length(array) != priced->run_count)
        return json_refuse(array, err, "expected %d entries, found %d", priced->run_count,
                           json_length(array));
    p->ring_ns = TAKE(arena, priced->run_count, int64_t **);
    for (int i = 0; i < priced->run_count; i++) {
        struct json element = json_element(array, i, arena);
        TRY(json_expect(&element, JSON_ARRAY, err));
        TRY(priced_tables_get(&element, priced->gradient_option_count, (int)ring_prices(p),
                              PRICE_NONE, &p->ring_ns[i], arena, err));
    }
    return OK;
}

enum status priced_places_get(const struct json *object, void *to, const void *context,
                              struct arena *arena, struct error *err)
{
    struct priced *priced = to;
    (void)context;
    if (!json_is_present(object)) return OK;
    struct priced_places *p = priced->places = TAKE(arena, 1, struct priced_places);
    struct json nodes = {0}, cuts = {0}, transports = {0}, levels = {0}, rings = {0},
                constants = {0}, embedding = {0}, ring = {0}, pipette = {0};
    struct json_field fields[] = {
        FIELD_ARRAY("nodes", REQUIRED, &nodes),
        FIELD_ARRAY("cuts", REQUIRED, &cuts),
        FIELD_ARRAY("transports", OPTIONAL, &transports),
        FIELD_ARRAY("ring_levels", OPTIONAL, &levels),
        FIELD_ARRAY("ring_ns", REQUIRED, &rings),
        FIELD_ARRAY("ring_constant_ns", REQUIRED, &constants),
        FIELD_ARRAY("embedding_sync_ns", OPTIONAL, &embedding),
        FIELD_ARRAY("embedding_ring_ns", OPTIONAL, &ring),
        FIELD_OBJECT("pipette", OPTIONAL, &pipette),
        FIELD_COUNT("micro_batches_together", OPTIONAL, &p->micro_batches_together, 0,
                    JSON_COUNT_MAX),
    };
    TRY(JSON_FIELDS(object, fields, arena, err));
    if (!priced->group_count)
        return json_refuse(object, err, "expected groups before places, found none");
    TRY(read_nodes(priced, p, &nodes, arena, err));
    TRY(read_cuts(priced, p, &cuts, arena, err));
    TRY(read_transports(priced, p, &transports, arena, err));
    TRY(read_levels(priced, p, &levels, arena, err));
    TRY(read_rings(priced, p, &rings, arena, err));
    TRY(priced_tables_get(&constants, priced->gradient_option_count, (int)ring_prices(p),
                          PRICE_NONE, &p->ring_constant_ns, arena, err));
    if (json_is_present(&pipette)) {
        p->pipette = TAKE(arena, 1, struct priced_pipette);
        TRY(members_read(&pipette, &pipette_members, p->pipette, priced, arena, err));
    }
    bool sync = priced->has_embedding_sync, fused = priced->layout.fused_embedding_sync;
    if (json_is_present(&embedding) != (sync && !fused) ||
        json_is_present(&ring) != (sync && fused))
        return json_refuse(object, err,
                           "embedding_%s_ns: expected it where the document has %s embedding sync, "
                           "and nowhere else",
                           fused ? "ring" : "sync", fused ? "a fused" : "an");
    if (!sync) return OK;
    TRY(priced_prices_get(fused ? &ring : &embedding, (int)pairs_of(p), PRICE_NONE,
                          fused ? &p->embedding_ring_ns : &p->embedding_sync_ns, arena, err));
    if (fused) p->embedding_sync_ns = priced_embedding_pairs(priced, arena);
    return OK;
}

// ---- checking

static const char *name_of(const struct priced *p)
{
    return p->document.path ? p->document.path : "priced document";
}

// The dearest of each, as priced_check takes sums.
static double longest_beside_passes(const struct priced *p)
{
    const struct priced_places *x = p->places;
    size_t pairs = pairs_of(x), rings = ring_prices(x);
    double constant = 0, syncs = 0, transfer = 0, embedding = 0;
    for (int o = 0; o < p->gradient_option_count; o++)
        for (size_t i = 0; i < rings; i++)
            constant = larger_double(constant, (double)x->ring_constant_ns[o][i]);
    for (int r = 0; r < p->run_count; r++) {
        double most = 0;
        for (int o = 0; o < p->gradient_option_count; o++)
            for (size_t i = 0; i < rings; i++)
                most = larger_double(most, (double)x->ring_ns[r][o][i]);
        syncs += p->runs[r].count * most;
    }
    for (int c = 0; c < p->cut_count; c++)
        for (size_t i = 0; i < (size_t)p->slice_count * pairs; i++)
            for (int o = 0; o < p->boundary_option_count; o++) {
                double both = 0;
                for (size_t part = 0; part < PART_COUNT; part++)
                    both += (part == PART_OVERHEAD ? 2 : 1) *
                            ((double)x->forward_ns[c][i * PART_COUNT + part] +
                             (double)x->backward_ns[c][o][i * PART_COUNT + part]);
                transfer = larger_double(transfer, both);
            }
    const int64_t *ends = x->embedding_ring_ns ? x->embedding_ring_ns : x->embedding_sync_ns;
    for (size_t i = 0; ends && i < pairs; i++)
        embedding = larger_double(embedding, (double)ends[i]);
    return syncs + embedding +
           p->stage_count *
               (constant + (double)priced_micro_batches_most(p) * 2 * p->slice_count * transfer);
}

// All prices of a pair are there or none is: transfers by themselves, rings of each transport by
// themselves.
static bool transfers_differ(const struct priced *p, size_t pair)
{
    const struct priced_places *x = p->places;
    size_t pairs = pairs_of(x);
    bool differs = false;
    for (int c = 0; c < p->cut_count; c++) {
        bool joined = x->forward_ns[0][pair * PART_COUNT] >= 0;
        for (size_t i = pair; i < (size_t)p->slice_count * pairs; i += pairs)
            for (size_t part = 0; part < PART_COUNT; part++) {
                differs = differs || (x->forward_ns[c][i * PART_COUNT + part] >= 0) != joined;
                for (int o = 0; o < p->boundary_option_count; o++)
                    differs = differs ||
                              (x->backward_ns[c][o][i * PART_COUNT + part] >= 0) != joined;
            }
    }
    return differs;
}

static bool rings_differ(const struct priced *p, size_t link)
{
    const struct priced_places *x = p->places;
    bool differs = false, ring = x->ring_constant_ns[0][link] >= 0;
    for (size_t at = link; at < ring_prices(x); at += priced_ring_links(x))
        for (int o = 0; o < p->gradient_option_count; o++) {
            differs = differs || (x->ring_constant_ns[o][at] >= 0) != ring;
            for (int r = 0; r < p->run_count; r++)
                differs = differs || (x->ring_ns[r][o][at] >= 0) != ring;
        }
    return differs;
}

// Whether sharing makes a link cheaper than it is for one ring.
static bool sharing_helps(const struct priced *p, size_t link)
{
    const struct priced_places *x = p->places;
    bool helps = false;
    for (size_t at = link; at < ring_prices(x); at += priced_ring_links(x))
        for (int o = 0; o < p->gradient_option_count; o++) {
            helps = helps || x->ring_constant_ns[o][at] < x->ring_constant_ns[o][link];
            for (int r = 0; r < p->run_count; r++)
                helps = helps || x->ring_ns[r][o][at] < x->ring_ns[r][o][link];
        }
    return helps;
}

static size_t dearest_pair(const struct priced *p)
{
    size_t dearest = 0;
    int64_t most = -1;
    for (int c = 0; c < p->cut_count; c++)
        for (size_t i = 0; i < pairs_of(p->places) * PART_COUNT; i++)
            if (p->places->forward_ns[c][i] > most)
                most = p->places->forward_ns[c][i], dearest = i / PART_COUNT;
    return dearest;
}

static enum status check_pair(const struct priced *p, size_t pair, struct error *err)
{
    const struct priced_places *x = p->places;
    bool differs = transfers_differ(p, pair), helps = false;
    for (int t = 0; t < x->transport_count; t++) {
        differs = differs || rings_differ(p, (size_t)t * pairs_of(x) + pair);
        helps = helps || sharing_helps(p, (size_t)t * pairs_of(x) + pair);
    }
    if (!differs && !helps) return OK;
    return fail(err, BAD_INPUT, "%s: places: \"%s\" to \"%s\": expected %s", name_of(p),
                x->nodes[pair / (size_t)x->node_count].name,
                x->nodes[pair % (size_t)x->node_count].name,
                differs ? "all prices of a link or none (-1)"
                        : "prices of rings that are least at level 0");
}

enum status priced_places_check(const struct priced *p, double passes_ns, double sum_max,
                                struct error *err)
{
    const struct priced_places *x = p->places;
    TRY(priced_pipette_check(p, sum_max, err));
    if (!x) return OK;
    for (int i = 0; i < x->node_count; i++)
        for (int k = 0; k < i; k++)
            if (!strcmp(x->nodes[i].name, x->nodes[k].name))
                return fail(err, BAD_INPUT, "%s: places.nodes[%d].name: \"%s\" names two nodes",
                            name_of(p), i, x->nodes[i].name);
    int64_t unit = layout_micro_batch_unit(&p->layout), units = x->micro_batches_together / unit;
    if (x->micro_batches_together &&
        (x->micro_batches_together % unit || units < p->layout.data ||
         units - p->layout.data >= MICRO_BATCHES_MAX ||
         p->micro_batches != (units + p->layout.data - 1) / p->layout.data * unit))
        return fail(err, BAD_INPUT,
                    "%s: places.micro_batches_together: %lld for %d replicas do not go with "
                    "micro_batches %d",
                    name_of(p), (long long)x->micro_batches_together, p->layout.data,
                    p->micro_batches);
    for (size_t pair = 0; pair < pairs_of(x); pair++) TRY(check_pair(p, pair, err));
    double longest = passes_ns + longest_beside_passes(p);
    if (longest <= sum_max) return OK;
    size_t pair = dearest_pair(p);
    return fail(err, BAD_INPUT,
                "%s: places: an iteration could take %.3g ns, with messages from \"%.60s\" to "
                "\"%.60s\" the dearest; sums must stay within 2^52 ns (52 days)",
                name_of(p), longest, x->nodes[pair / (size_t)x->node_count].name,
                x->nodes[pair % (size_t)x->node_count].name);
}

// ---- writing

static void put_transports(struct json_writer *w, const struct priced *priced)
{
    const struct priced_places *p = priced->places;
    if (p->transport_count == 1) return;
    json_open_array(w, "transports");
    for (int i = 0; i < p->transport_count; i++) {
        json_open_object(w, NULL);
        json_put_text(w, "name", p->transports[i]);
        priced_prices_put(w, "bytes_per_s", p->transport_rate[i], priced->group_count);
        json_close_object(w);
    }
    json_close_array(w);
}

static void put_levels(struct json_writer *w, const struct priced *priced)
{
    const struct priced_places *p = priced->places;
    if (p->ring_level_count == 1) return;
    json_open_array(w, "ring_levels");
    for (int t = 0; t < p->transport_count; t++) {
        json_open_flat_array(w, NULL);
        for (int i = 0; i < priced->group_count * p->rings_most; i++)
            json_put_count(w, NULL, p->ring_level[t][i]);
        json_close_array(w);
    }
    json_close_array(w);
}

void priced_places_put(struct json_writer *w, const char *key, const void *from,
                       const void *context)
{
    const struct priced *priced = from;
    const struct priced_places *p = priced->places;
    (void)context;
    if (!p) return;
    int pairs = p->node_count * p->node_count, rings = (int)ring_prices(p),
        prices = priced->slice_count * pairs * PART_COUNT;
    json_open_object(w, key);
    members_write_each(w, "nodes", &node_members, p->nodes, p->node_count, priced);
    json_open_array(w, "cuts");
    for (int i = 0; i < priced->cut_count; i++) {
        json_open_object(w, NULL);
        priced_prices_put(w, "forward_ns", p->forward_ns[i], prices);
        priced_tables_put(w, "backward_ns", p->backward_ns[i], priced->boundary_option_count,
                          prices);
        json_close_object(w);
    }
    json_close_array(w);
    put_transports(w, priced);
    put_levels(w, priced);
    json_open_array(w, "ring_ns");
    for (int i = 0; i < priced->run_count; i++)
        priced_tables_put(w, NULL, p->ring_ns[i], priced->gradient_option_count, rings);
    json_close_array(w);
    priced_tables_put(w, "ring_constant_ns", p->ring_constant_ns, priced->gradient_option_count,
                      rings);
    if (p->micro_batches_together)
        json_put_count(w, "micro_batches_together", p->micro_batches_together);
    if (p->embedding_ring_ns)
        priced_prices_put(w, "embedding_ring_ns", p->embedding_ring_ns, pairs);
    else if (p->embedding_sync_ns)
        priced_prices_put(w, "embedding_sync_ns", p->embedding_sync_ns, pairs);
    if (p->pipette) members_write(w, "pipette", &pipette_members, p->pipette, priced);
    json_close_object(w);
}
