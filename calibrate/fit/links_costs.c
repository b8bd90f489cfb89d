// What measured links mean for pricing: tables of segments in the costs, by class, and the links
// themselves in a cluster.
#include <math.h>
#include <string.h>

#include "calibrate/fit/fit.h"
#include "data/places/places.h"

static const char *host_of(const struct endpoint *e) { return e->host ? e->host : e->name; }

static struct estimate fitted(struct interval i, const char *source, const struct segmented *f,
                              const struct segment_fit *s)
{
    return (struct estimate){.value = i.value,
                             .low = i.low,
                             .high = i.high,
                             .origin = ORIGIN_FITTED,
                             .source = source,
                             .valid_low = f->points[s->first].work,
                             .valid_high = f->points[s->first + s->count - 1].work};
}

static const char *source_of_class(const struct channel_class *k, struct arena *arena)
{
    return arena_print(
        arena,
        "%s, %d segment%s through the medians of %d %s, interval: their spread; residual %.1f %%",
        k->source, k->fit.segment_count, k->fit.segment_count == 1 ? "" : "s", k->channel_count,
        k->pairs ? "ordered pairs" : "groups of ranks", 100 * k->fit.residual);
}

static bool is_priced(const struct channel_class *k)
{
    return k->pairs || !strcmp(k->operation, "all_reduce");
}

// For messages under several names, "send" counts, otherwise the first.
static bool is_first(const struct link_fits *f, const struct channel_class *k)
{
    for (const struct channel_class *o = f->classes; o < f->classes + f->class_count; o++) {
        if (o == k || o->pairs != k->pairs || o->between_nodes != k->between_nodes ||
            o->ranks != k->ranks || !is_priced(o))
            continue;
        if (!strcmp(o->operation, "send") || (o < k && strcmp(k->operation, "send"))) return false;
    }
    return is_priced(k);
}

static int count_on_host(const struct link_fits *f, const int *members, int count, const char *host)
{
    int found = 0;
    for (int i = 0; i < count; i++)
        found += !strcmp(host_of(&f->endpoints[members ? members[i] : i]), host);
    return found;
}

// The nodes of an all-reduce over all that was measured on each of them; 0: it left some out.
static int64_t nodes_filled(const struct link_fits *f, const struct channel_class *k)
{
    const struct channel *c = &f->channels[k->channels[0]];
    int64_t nodes = 0;
    if (k->pairs || !k->between_nodes) return 0;
    for (int i = 0; i < c->ranks; i++) {
        const char *host = host_of(&f->endpoints[c->members[i]]);
        if (count_on_host(f, c->members, c->ranks, host) !=
            count_on_host(f, NULL, f->endpoint_count, host))
            return 0;
        nodes += count_on_host(f, c->members, i, host) == 0;
    }
    return nodes;
}

static struct collective_times table_of(const struct link_fits *f, const struct channel_class *k,
                                        const char *gpu, struct arena *arena)
{
    struct collective_times t = {.gpu = gpu,
                                 .between_nodes = k->between_nodes,
                                 .send = k->pairs,
                                 .ranks = k->ranks,
                                 .nodes = nodes_filled(f, k),
                                 .segment_count = k->fit.segment_count,
                                 .segments = TAKE(arena, k->fit.segment_count, struct segment)};
    const char *source = source_of_class(k, arena);
    for (int i = 0; i < t.segment_count; i++) {
        const struct segment_fit *s = &k->fit.segments[i];
        struct interval rate = {s->rate.value, fmax(s->rate.low, 1), s->rate.high};
        t.segments[i] = (struct segment){s->from_bytes, fitted(s->seconds, source, &k->fit, s),
                                         fitted(rate, source, &k->fit, s)};
    }
    return t;
}

static bool same_table(const struct collective_times *a, const struct collective_times *b)
{
    return a->send == b->send && a->between_nodes == b->between_nodes && a->ranks == b->ranks &&
           !strcmp(a->gpu, b->gpu);
}

int links_to_costs(struct costs *c, const struct link_fits *f, const char *gpu, struct arena *arena)
{
    struct collective_times *tables =
        TAKE(arena, f->class_count + c->collective_count, struct collective_times);
    int count = 0;
    for (int k = 0; k < f->class_count; k++)
        if (is_first(f, &f->classes[k])) tables[count++] = table_of(f, &f->classes[k], gpu, arena);
    int measured = count;
    for (int i = 0; i < c->collective_count;
         i++) { // earlier entries stay where nothing was measured
        bool known = false;
        for (int k = 0; k < measured; k++)
            known = known || same_table(&tables[k], &c->collectives[i]);
        if (!known) tables[count++] = c->collectives[i];
    }
    c->collectives = tables;
    c->collective_count = count;
    return measured;
}

// ---- the cluster

static const struct channel_class *class_of_pairs(const struct link_fits *f, bool between_nodes)
{
    for (int k = 0; k < f->class_count; k++)
        if (f->classes[k].pairs && f->classes[k].between_nodes == between_nodes &&
            is_first(f, &f->classes[k]))
            return &f->classes[k];
    return NULL;
}

// The share of the link's stated rate that one stream reached, at most all of it.
static struct estimate efficiency(const struct channel_class *k, double nominal,
                                  struct arena *arena)
{
    struct interval r = segmented_rate(&k->fit);
    const struct segment_fit *last = &k->fit.segments[k->fit.segment_count - 1];
    struct interval share = {fmin(1, r.value / nominal), fmin(1, r.low / nominal),
                             fmin(1, r.high / nominal)};
    share = (struct interval){fmax(share.value, 1e-6), share.low, fmax(share.high, 1e-6)};
    return fitted(share, arena_print(arena, "%s over the nominal %.4g bytes/s", k->source, nominal),
                  &k->fit, last);
}

static void take_nodes(struct cluster *c, int group, const struct link_fits *f, struct costs *costs,
                       struct arena *arena)
{
    struct node_group *g = &c->groups[group];
    const struct channel_class *near = class_of_pairs(f, false), *far = class_of_pairs(f, true);
    if (near) {
        g->intra.latency_s = segmented_latency(&near->fit).value;
        costs->intra_efficiency = efficiency(near, g->intra.bytes_per_s, arena);
    }
    if (far && g->nic_count) { // of several kinds, the first is the one that was used
        g->nics[0].link.latency_s = segmented_latency(&far->fit).value;
        costs->network_efficiency[g->nics[0].kind] =
            efficiency(far, g->nics[0].link.bytes_per_s, arena);
    }
}

// In a cluster of one group with unnamed nodes, these get the names of the hosts if the numbers
// match.
static void name_nodes(struct cluster *c, const struct link_fits *f, int endpoint_count,
                       struct arena *arena)
{
    struct places *p = &c->places;
    struct cluster_node *nodes = TAKE(arena, endpoint_count, struct cluster_node);
    int count = 0;
    for (int i = 0; i < endpoint_count; i++) {
        bool known = false;
        for (int k = 0; k < count; k++)
            known = known || !strcmp(nodes[k].name, host_of(&f->endpoints[i]));
        if (!known)
            nodes[count++] = (struct cluster_node){.name = host_of(&f->endpoints[i]),
                                                   .switches = TAKE(arena, 1, int)};
    }
    if (p->node_count || c->group_count != 1 || count != c->groups[0].nodes || count < 2 ||
        count > PLACES_MAX)
        return;
    *p = (struct places){.nodes = nodes, .node_count = count};
}

// Between two nodes, the median over the pairs of their devices.
static void put_measured(struct cluster *c, const struct link_fits *f, struct arena *arena)
{
    struct places *p = &c->places;
    size_t n = (size_t)p->node_count;
    double *rates = TAKE(arena, f->channel_count, double),
           *latencies = TAKE(arena, f->channel_count, double);
    if (!p->measured) p->measured = TAKE(arena, n * n, struct link);
    for (int i = 0; i < f->channel_count; i++) {
        const struct channel *c1 = &f->channels[i];
        if (c1->from < 0 || !c1->between_nodes) continue;
        const char *from = host_of(&f->endpoints[c1->from]), *to = host_of(&f->endpoints[c1->to]);
        int a = places_find(p, from), b = places_find(p, to), found = 0;
        if (a < 0 || b < 0) continue;
        for (int k = 0; k < f->channel_count; k++) {
            const struct channel *o = &f->channels[k];
            if (o->from < 0 || strcmp(o->operation, c1->operation) ||
                strcmp(host_of(&f->endpoints[o->from]), from) ||
                strcmp(host_of(&f->endpoints[o->to]), to))
                continue;
            rates[found] = segmented_rate(&o->fit).value;
            latencies[found++] = segmented_start(&o->fit);
        }
        p->measured[(size_t)a * n + (size_t)b] =
            (struct link){median_of(rates, found), median_of(latencies, found)};
    }
}

static int count_endpoints(const struct link_fits *f)
{
    int count = 0;
    for (int i = 0; i < f->channel_count; i++) {
        const struct channel *c = &f->channels[i];
        if (c->from >= count) count = c->from + 1;
        if (c->to >= count) count = c->to + 1;
    }
    return count;
}

enum status links_to_cluster(struct cluster *cluster, struct costs *costs,
                             const struct link_fits *f, const char *gpu, struct arena *arena,
                             struct error *err)
{
    bool found = false;
    for (int g = 0; g < cluster->group_count; g++) {
        if (strcmp(cluster->groups[g].gpu, gpu)) continue;
        take_nodes(cluster, g, f, costs, arena);
        found = true;
    }
    if (!found)
        return refuse(
            err,
            "%s: groups: no group has the measured GPU \"%s\" (--name gives the cluster's "
            "name for it)",
            cluster->document.path, gpu);
    name_nodes(cluster, f, count_endpoints(f), arena);
    if (cluster->places.node_count) put_measured(cluster, f, arena);
    return cluster_check(cluster, err);
}
