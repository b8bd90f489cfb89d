// Prices that depend on the nodes that ranks are placed on: transfers and rings by ordered pairs of
// nodes, and for each group the minimum of them. docs/FORMULAS.md section 15.
#include <stdlib.h>
#include <string.h>

#include "data/base/least.h"
#include "formulate/price/pricing.h"

int node_slots(const struct pricing *x, int group)
{
    return (int)(x->problem->cluster.groups[group].gpus_per_node / (x->t * x->c));
}

// Over cards of its own kind, or within a node: where nothing is stated about this very link.
static bool is_by_cards(const struct pricing *x, const struct place_link *link, int from, int to,
                        bool ring)
{
    struct place_link own;
    if (link->origin == PLACE_INSIDE) return true;
    return link->origin == PLACE_CARDS && places_used_link(&own, x->problem, from, to, ring) &&
           own.nic == link->nic;
}

struct link_price link_of_nodes(const struct pricing *x, int from, int to, bool ring)
{
    const struct cluster_node *nodes = x->problem->cluster.places.nodes;
    struct place_link link;
    bool of_ring = ring && x->on_nodes;
    bool joined = of_ring ? places_ring_link(&link, x->problem, from, to, x->rings, x->transport)
                          : places_used_link(&link, x->problem, from, to, ring);
    if (!joined) return (struct link_price){0};
    struct link_price price = price_of_link(&link);
    const struct costs *c = &x->problem->costs;
    price.by_cards = (c->collective_count || c->node_doubling_share.value > 0) &&
                     is_by_cards(x, &link, from, to, ring);
    if (!ring) find_sends(x, &price, nodes[from].group, nodes[to].group);
    return price;
}

// ---- tables

// A node paired with itself counts only if two device groups are on it.
static bool is_pair(const struct priced_places *p, int from, int to)
{
    return p->nodes[from].slots && p->nodes[to].slots && (from != to || p->nodes[from].slots > 1);
}

struct message_ends ends_of_nodes(const struct pricing *x, int from, int to)
{
    const struct priced_places *p = x->priced->places;
    struct message_ends ends = {p->nodes[from].group, p->nodes[to].group, {0}, {0}};
    ends.there = link_of_nodes(x, from, to, false);
    ends.back = link_of_nodes(x, to, from, false);
    ends.there.joined = ends.there.joined && ends.back.joined;
    return ends;
}

// An error about a price, with the link that causes it.
static enum status blame_link(const struct pricing *x, int from, int to, enum status status,
                              struct error *err)
{
    const struct error found = *err;
    err->status = OK; // otherwise the first text stays
    const struct cluster *c = &x->problem->cluster;
    return fail(err, status, "%s: places: \"%.60s\" to \"%.60s\": %s",
                document_name(&c->document, "cluster"), c->places.nodes[from].name,
                c->places.nodes[to].name, found.text);
}

static enum status price_cuts(struct pricing *x, struct error *err)
{
    struct priced *priced = x->priced;
    struct priced_places *p = priced->places;
    size_t nodes = (size_t)p->node_count, pairs = (size_t)priced->slice_count * nodes * nodes;
    p->cuts = TAKE(x->arena, priced->cut_count, struct priced_hops);
    for (int cut = 0; cut < priced->cut_count; cut++) {
        p->cuts[cut].forward_ns = TAKE(x->arena, pairs * PART_COUNT, int64_t);
        p->cuts[cut].backward_ns = TAKE(x->arena, priced->boundary_option_count, int64_t *);
        for (int option = 0; option < priced->boundary_option_count; option++)
            p->cuts[cut].backward_ns[option] = TAKE(x->arena, pairs * PART_COUNT, int64_t);
        for (size_t pair = 0; pair < pairs; pair++) {
            int slice = (int)(pair / (nodes * nodes)), from = (int)(pair / nodes % nodes),
                to = (int)(pair % nodes);
            struct message_ends ends = ends_of_nodes(x, from, to);
            if (!is_pair(p, from, to)) ends.there.joined = false;
            enum status status = price_message(x, &x->messages[cut], &ends, slice,
                                               p->cuts[cut].forward_ns, p->cuts[cut].backward_ns,
                                               pair * PART_COUNT, err);
            if (status != OK) return blame_link(x, from, to, status, err);
        }
    }
    return OK;
}

// ---- rings

// The transport of a ring over nodes of these groups, one bit per group.
static int transport_of(int64_t rates[TRANSPORT_COUNT][GROUPS_MAX], unsigned groups)
{
    int best = 0;
    int64_t best_rate = -1;
    for (int t = 0; t < TRANSPORT_COUNT; t++) {
        int64_t rate = INT64_MAX;
        for (int g = 0; g < GROUPS_MAX; g++)
            if (groups >> g & 1 && rates[t][g] < rate) rate = rates[t][g];
        if (rate <= best_rate) continue;
        best_rate = rate;
        best = t;
    }
    return best;
}

// The transports that some ring uses: of all sets of groups that may be in one ring.
static void find_transports(struct pricing *x, int *numbers)
{
    const struct cluster *cluster = &x->problem->cluster;
    struct priced_places *p = x->priced->places;
    int64_t rates[TRANSPORT_COUNT][GROUPS_MAX] = {{0}};
    unsigned usable = 0;
    bool needed[TRANSPORT_COUNT] = {false};
    for (int g = 0; g < cluster->group_count; g++) {
        if (!x->priced->groups[g].excluded) usable |= 1u << g;
        for (int t = 0; t < TRANSPORT_COUNT; t++) rates[t][g] = places_ring_rate(x->problem, g, t);
    }
    for (unsigned groups = usable; groups; groups = (groups - 1) & usable)
        needed[transport_of(rates, groups)] = true;
    if (!usable) needed[TRANSPORT_NONE] = true;
    p->transports = TAKE(x->arena, TRANSPORT_COUNT, struct priced_transport);
    for (int t = 0; t < TRANSPORT_COUNT; t++) {
        if (!needed[t]) continue;
        numbers[p->transport_count] = t;
        p->transports[p->transport_count++] =
            (struct priced_transport){t == TRANSPORT_NONE ? "none" : nic_kind_names[t],
                                      TAKE_COPY(x->arena, rates[t], cluster->group_count)};
    }
}

// ---- rings that share cards

static int by_falling_rate(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

// The levels of one transport: the distinct rates that the cards of any group give a ring, for each
// number of rings that share them, highest first. A group without such cards shares nothing.
static int level_transport(const struct pricing *x, int number, int *level)
{
    const struct priced_places *p = x->priced->places;
    int cells = x->priced->group_count * p->rings_most, count = 0, levels = 0;
    double *rates = TAKE(x->arena, 2 * cells, double), *sorted = rates + cells;
    for (int i = 0; i < cells; i++) {
        int group = i / p->rings_most;
        bool usable = !x->priced->groups[group].excluded && number != TRANSPORT_NONE;
        rates[i] = usable ? places_ring_share(x->problem, group, number, i % p->rings_most + 1) : 0;
        if (rates[i] > 0) sorted[count++] = rates[i];
    }
    qsort(sorted, (size_t)count, sizeof *sorted, by_falling_rate);
    for (int i = 0; i < count; i++)
        if (!levels || sorted[i] < sorted[levels - 1]) sorted[levels++] = sorted[i];
    for (int i = 0; i < cells; i++) {
        level[i] = 0;
        while (rates[i] > 0 && sorted[level[i]] > rates[i]) level[i]++;
    }
    return larger_int(levels, 1);
}

// Whether a ring may go over cards, where not all links are stated.
static bool any_cards(const struct pricing *x, const int *numbers)
{
    const struct priced_places *p = x->priced->places;
    static const int alone[2] = {1, 1};
    struct place_link link;
    bool any = p->transport_count > 1;
    for (int from = 0; from < p->node_count; from++)
        for (int to = 0; to < p->node_count && !any; to++)
            any = from != to && p->nodes[from].slots && p->nodes[to].slots &&
                  places_ring_link(&link, x->problem, from, to, alone, numbers[0]) &&
                  (link.origin == PLACE_CARDS || link.origin == PLACE_LEVEL);
    return any;
}

static void find_levels(struct pricing *x, const int *numbers)
{
    struct priced_places *p = x->priced->places;
    p->rings_most = p->ring_level_count = 1;
    for (int i = 0; i < p->node_count && x->d > 1; i++)
        p->rings_most = larger_int(p->rings_most, smaller_int(p->nodes[i].slots, (int)x->p));
    if (p->rings_most > 1 && !any_cards(x, numbers)) p->rings_most = 1;
    p->ring_level = TAKE(x->arena, p->transport_count, int *);
    for (int t = 0; t < p->transport_count; t++) {
        p->ring_level[t] = TAKE(x->arena, x->priced->group_count * p->rings_most, int);
        if (p->rings_most == 1) continue;
        p->ring_level_count =
            larger_int(p->ring_level_count, level_transport(x, numbers[t], p->ring_level[t]));
    }
}

// The most rings that leave a node of the group at this level, or at the nearest level before it.
static int rings_at(const struct priced_places *p, int transport, int group, int level)
{
    int rings = p->rings_most;
    while (rings > 1 && p->ring_level[transport][group * p->rings_most + rings - 1] > level)
        rings--;
    return level ? rings : 1;
}

// ---- prices of rings

static bool may_stand_in_a_ring(const struct pricing *x, int from, int to)
{
    const struct priced_places *p = x->priced->places;
    // One replica: its context ranks form the ring, within their node.
    if (x->d > 1 ? !is_pair(p, from, to) : from != to || !p->nodes[from].slots) return false;
    return !x->problem->job.placement.homogeneous_groups ||
           places_alike(&x->problem->cluster, p->nodes[from].group, p->nodes[to].group);
}

// Over a ring of different GPUs, the slower compression counts.
static enum status price_ring(const struct pricing *y, int run, int option, int64_t *ns,
                              struct error *err)
{
    const struct priced_places *p = y->priced->places;
    *ns = PRICE_NONE;
    if (!may_stand_in_a_ring(y, y->node_from, y->node_to) ||
        !link_of_nodes(y, y->node_from, y->node_to, true).joined)
        return OK;
    real seconds = 0;
    for (int end = 0; end < 2; end++) {
        int group = p->nodes[end ? y->node_to : y->node_from].group;
        seconds =
            fmaxl(seconds, run < 0 ? stage_sync_s(y, group)
                                   : layer_sync_s(y, &y->problem->model.runs[run], option, group));
    }
    return round_time(ns, seconds, "gradient sync time", p->nodes[y->node_from].name, err);
}

static void stand_on(struct pricing *y, const int *numbers, size_t link)
{
    const struct priced_places *p = y->priced->places;
    size_t nodes = (size_t)p->node_count;
    int transport = (int)(link % priced_ring_links(p) / (nodes * nodes)),
        level = (int)(link / priced_ring_links(p));
    y->transport = numbers[transport];
    y->node_from = (int)(link / nodes % nodes);
    y->node_to = (int)(link % nodes);
    y->rings[0] = rings_at(p, transport, p->nodes[y->node_from].group, level);
    y->rings[1] = rings_at(p, transport, p->nodes[y->node_to].group, level);
}

static enum status price_rings(struct pricing *x, struct error *err)
{
    struct priced *priced = x->priced;
    struct priced_places *p = priced->places;
    int numbers[TRANSPORT_COUNT];
    find_transports(x, numbers);
    find_levels(x, numbers);
    size_t links = (size_t)p->ring_level_count * priced_ring_links(p);
    struct pricing y = *x;
    y.on_nodes = true;
    p->ring_ns = TAKE(x->arena, priced->run_count, int64_t **);
    p->ring_constant_ns = TAKE(x->arena, priced->gradient_option_count, int64_t *);
    for (int run = -1; run < priced->run_count; run++) {
        if (run >= 0) p->ring_ns[run] = TAKE(x->arena, priced->gradient_option_count, int64_t *);
        for (int option = 0; option < priced->gradient_option_count; option++) {
            int64_t *ns = TAKE(x->arena, links, int64_t);
            *(run < 0 ? &p->ring_constant_ns[option] : &p->ring_ns[run][option]) = ns;
            for (size_t link = 0; link < links; link++) {
                stand_on(&y, numbers, link);
                TRY(price_ring(&y, run, option, &ns[link], err));
            }
        }
    }
    return OK;
}

// Between the ends, the slower of both ways; of the ring over both ends, each link on its own.
static enum status price_embeddings(struct pricing *x, struct error *err)
{
    struct priced_places *p = x->priced->places;
    int nodes = p->node_count;
    if (!x->priced->has_embedding_sync) return OK;
    bool fused = sums_fused_embeddings(x);
    int64_t *all = TAKE(x->arena, (size_t)nodes * (size_t)nodes, int64_t);
    for (int pair = 0; pair < nodes * nodes; pair++) {
        int from = pair / nodes, to = pair % nodes;
        struct link_price there = {0}, back = {0};
        if (is_pair(p, from, to)) there = back = link_of_nodes(x, from, to, false);
        if (there.joined && !fused) back = link_of_nodes(x, to, from, false);
        all[pair] = PRICE_NONE;
        if (!there.joined || !back.joined) continue;
        real seconds = fmaxl(embedding_sum_s(x, there), embedding_sum_s(x, back));
        enum status status =
            round_time(&all[pair], seconds, "embedding sync time", p->nodes[from].name, err);
        if (status != OK) return blame_link(x, from, to, status, err);
    }
    *(fused ? &p->embedding_ring_ns : &p->embedding_sync_ns) = all;
    if (fused) p->embedding_sync_ns = priced_embedding_pairs(x->priced, x->arena);
    return OK;
}

// ---- minima over nodes

// The minimum of the prices that exist; if there are none: PRICE_NONE.
static void take_least(int64_t *least, int64_t ns)
{
    if (ns != PRICE_NONE && (*least == PRICE_NONE || ns < *least)) *least = ns;
}

static void relax_table(const struct priced *priced, int64_t *groups, const int64_t *nodes,
                        int slices, int parts)
{
    const struct priced_places *p = priced->places;
    size_t group_pairs = (size_t)slices * (size_t)priced->group_count * (size_t)priced->group_count;
    for (size_t i = 0; i < group_pairs * (size_t)parts; i++) groups[i] = PRICE_NONE;
    for (int slice = 0; slice < slices; slice++)
        for (int from = 0; from < p->node_count; from++)
            for (int to = 0; to < p->node_count; to++) {
                size_t pair = ((size_t)slice * (size_t)p->node_count + (size_t)from) *
                                  (size_t)p->node_count +
                              (size_t)to;
                size_t groups_pair =
                    ((size_t)slice * (size_t)priced->group_count + (size_t)p->nodes[from].group) *
                        (size_t)priced->group_count +
                    (size_t)p->nodes[to].group;
                for (int part = 0; part < parts; part++)
                    take_least(&groups[groups_pair * (size_t)parts + (size_t)part],
                               nodes[pair * (size_t)parts + (size_t)part]);
            }
}

// A ring enters and leaves every node in it, so it uses two links with an end in the node's group.
// A link within a node counts only if the whole ring is in that node.
static void relax_ring(const struct priced *priced, int64_t *const *least, const int64_t *nodes)
{
    const struct priced_places *p = priced->places;
    size_t count = (size_t)p->node_count;
    for (int g = 0; g < priced->group_count; g++) *least[g] = PRICE_NONE;
    for (size_t link = 0; link < priced_ring_links(p); link++) {
        size_t from = link / count % count, to = link % count;
        if (from == to && p->nodes[from].slots < priced->layout.data) continue;
        take_least(least[p->nodes[from].group], nodes[link]);
        take_least(least[p->nodes[to].group], nodes[link]);
    }
    for (int g = 0; g < priced->group_count; g++)
        if (*least[g] == PRICE_NONE) *least[g] = 0;
}

static void relax_groups(struct pricing *x)
{
    struct priced *priced = x->priced;
    const struct priced_places *p = priced->places;
    int64_t **least = TAKE(x->arena, priced->group_count, int64_t *);
    for (int cut = 0; cut < priced->cut_count; cut++) {
        relax_table(priced, priced->cuts[cut].forward_ns, p->cuts[cut].forward_ns,
                    priced->slice_count, PART_COUNT);
        for (int option = 0; option < priced->boundary_option_count; option++)
            relax_table(priced, priced->cuts[cut].backward_ns[option],
                        p->cuts[cut].backward_ns[option], priced->slice_count, PART_COUNT);
    }
    for (int option = 0; option < priced->gradient_option_count; option++) {
        for (int run = 0; run < priced->run_count; run++) {
            for (int g = 0; g < priced->group_count; g++)
                least[g] = &priced->runs[run].sync_ns[option][g];
            relax_ring(priced, least, p->ring_ns[run][option]);
        }
        for (int g = 0; g < priced->group_count; g++)
            least[g] = &priced->groups[g].sync_constant_ns[option];
        relax_ring(priced, least, p->ring_constant_ns[option]);
    }
    if (priced->has_embedding_sync)
        relax_table(priced, priced->embedding_sync_ns, p->embedding_sync_ns, 1, 1);
}

static void free_groups(struct priced *priced)
{
    size_t pairs = (size_t)priced->group_count * (size_t)priced->group_count,
           parts = (size_t)priced->slice_count * pairs * PART_COUNT;
    for (int cut = 0; cut < priced->cut_count; cut++) {
        memset(priced->cuts[cut].forward_ns, 0, parts * sizeof(int64_t));
        for (int option = 0; option < priced->boundary_option_count; option++)
            memset(priced->cuts[cut].backward_ns[option], 0, parts * sizeof(int64_t));
    }
    for (int option = 0; option < priced->gradient_option_count; option++)
        for (int g = 0; g < priced->group_count; g++) {
            priced->groups[g].sync_constant_ns[option] = 0;
            for (int run = 0; run < priced->run_count; run++)
                priced->runs[run].sync_ns[option][g] = 0;
        }
    if (priced->has_embedding_sync) memset(priced->embedding_sync_ns, 0, pairs * sizeof(int64_t));
}

static enum status price_links(struct pricing *x, struct error *err)
{
    TRY(price_cuts(x, err));
    TRY(price_rings(x, err));
    TRY(price_embeddings(x, err));
    relax_groups(x);
    return OK;
}

// Time of all layers on a group.
static real load_of(const struct priced *priced, int group)
{
    real load = 0;
    for (int run = 0; run < priced->run_count; run++)
        load += priced->runs[run].count * ((real)priced->runs[run].forward_ns[group] +
                                           (real)priced->runs[run].backward_ns[group]);
    return load;
}

// Whether all replicas of a stage must be on this group if one of them is.
static bool keeps_to_itself(const struct pricing *x, int group)
{
    bool alone = x->problem->job.placement.homogeneous_groups;
    for (int g = 0; g < x->priced->group_count && alone; g++)
        alone = g == group || x->priced->groups[g].excluded ||
                !places_alike(&x->problem->cluster, g, group);
    return alone;
}

// Some pipeline uses at most its share of the fastest group, and no pipeline uses more than its
// share of a group that keeps to itself. Of the other groups, a pipeline may use everything. With
// uneven micro-batches, the pipeline with the most micro-batches may use all of the fastest group
// as well.
static void relax_slots(struct pricing *x)
{
    struct priced *priced = x->priced;
    int fastest = -1;
    for (int g = 0; g < priced->group_count; g++) {
        if (priced->groups[g].excluded) continue;
        priced->groups[g].slots = node_slots(x, g) * x->problem->cluster.groups[g].nodes;
        if (fastest < 0 || load_of(priced, g) < load_of(priced, fastest)) fastest = g;
    }
    for (int g = 0; g < priced->group_count; g++) {
        bool shared = (g == fastest && !priced->places->micro_batches_together) ||
                      (!priced->groups[g].excluded && keeps_to_itself(x, g));
        if (shared) priced->groups[g].slots /= (int)x->d;
    }
}

enum status price_nodes(struct pricing *x, struct error *err)
{
    const struct places *places = &x->problem->cluster.places;
    struct priced *priced = x->priced;
    struct priced_places *p = priced->places = TAKE(x->arena, 1, struct priced_places);
    p->node_count = places->node_count;
    if (x->problem->job.placement.uneven_micro_batches)
        p->micro_batches_together = job_micro_batches_together(&x->problem->job);
    p->nodes = TAKE(x->arena, p->node_count, struct priced_node);
    for (int i = 0; i < p->node_count; i++) {
        int group = places->nodes[i].group;
        p->nodes[i] =
            (struct priced_node){places->nodes[i].name, group,
                                 priced->groups[group].excluded ? 0 : node_slots(x, group)};
    }
    if (x->links_free) free_groups(priced);
    else TRY(price_links(x, err));
    relax_slots(x);
    return x->problem->job.objective == OBJECTIVE_PIPETTE ? price_pipette(x, err) : OK;
}
