// Nodes leave with their rows and columns of measurements, and a group whose last node leaves is
// removed with its links. Links change by a separate factor (places.degraded), so measured values
// stay as measured.
#include "data/places/cluster_change.h"

#include <stdlib.h>
#include <string.h>

#include "data/base/names.h"
#include "data/places/internal.h"
#include "data/places/places.h"

bool cluster_change_any(const struct cluster_change *x)
{
    return x->without.count || x->degrade.count;
}

const char *cluster_change_text(const struct cluster_change *x, struct arena *arena)
{
    const char *text = x->without.count ? "without " : "";
    for (int i = 0; i < x->without.count; i++)
        text = arena_print(arena, "%s%s%s", text, i ? ", " : "", x->without.items[i]);
    for (int i = 0; i < x->degrade.count; i++) {
        const char *equals = strrchr(x->degrade.items[i], '=');
        int length = equals ? (int)(equals - x->degrade.items[i]) : 0;
        text = arena_print(arena, "%s%s%.*s x %s", text, !i ? (x->without.count ? "; " : "") : ", ",
                           length, x->degrade.items[i], equals ? equals + 1 : "?");
    }
    return text;
}

// ---- nodes that leave

// The number that a word ends in, of as many digits as a number below `limit` has; 0: none.
static long last_number(const char *word, long limit)
{
    const char *digits = word + strlen(word);
    while (digits > word && strchr("0123456789", digits[-1])) digits--;
    while (*digits && strtol(digits, NULL, 10) >= limit) digits++;
    return strtol(digits, NULL, 10);
}

// Where nodes have no names: of each group the one with the word's number.
static int list_nodes(const char **names, const struct cluster *c, const char *word,
                      struct arena *arena)
{
    for (int i = 0; i < c->places.node_count; i++) names[i] = c->places.nodes[i].name;
    for (int g = 0; g < c->group_count && !c->places.node_count; g++)
        names[g] =
            arena_print(arena, "%s-%ld", c->groups[g].name, last_number(word, c->groups[g].nodes));
    return c->places.node_count ? c->places.node_count : c->group_count;
}

const char *cluster_nearest_node(const struct cluster *c, const char *word, struct arena *arena)
{
    const char **names = TAKE(arena, c->places.node_count + c->group_count, const char *);
    int count = list_nodes(names, c, word, arena);
    return names[name_nearest(word, names, count)];
}

static enum status mark_nodes(const struct cluster *c, const struct cluster_change *x, bool *gone,
                              struct arena *arena, struct error *err)
{
    for (int i = 0; i < x->without.count; i++) {
        int node = places_find(&c->places, x->without.items[i]);
        if (node < 0)
            return refuse(
                err,
                "--without: expected the name of a node of %s, found '%.80s'; the nearest "
                "is %s",
                cluster_file(c), x->without.items[i],
                cluster_nearest_node(c, x->without.items[i], arena));
        if (gone[node]) return refuse(err, "--without: '%s' appears twice", x->without.items[i]);
        gone[node] = true;
    }
    if (x->without.count == c->places.node_count)
        return refuse(err, "--without: no node of %s would be left", cluster_file(c));
    return OK;
}

// A group of `length` characters at `name`; -1: there is none.
static int find_group(const struct cluster *c, const char *name, size_t length)
{
    for (int g = 0; g < c->group_count; g++)
        if (strlen(c->groups[g].name) == length && !memcmp(c->groups[g].name, name, length))
            return g;
    return -1;
}

// "GROUP=N": N nodes of it. "GROUP-K": the node that a hostfile of a plan calls so (from 0), one of
// it. "GROUP": all nodes of it. false: none of these.
static bool read_nodes(const struct cluster *c, const char *word, bool *named, int *group,
                       long *number)
{
    const char *sign = strrchr(word, '=');
    char *end = NULL;
    *named = !sign;
    if (!sign) sign = strrchr(word, '-');
    if (sign && sign[1] && (!*named || strchr("0123456789", sign[1]))) {
        *group = find_group(c, word, (size_t)(sign - word));
        *number = strtol(sign + 1, &end, 10);
        if (*group >= 0 && !*end) return true;
    }
    *group = find_group(c, word, strlen(word));
    if (*group >= 0) *named = false, *number = c->groups[*group].nodes;
    return *group >= 0;
}

bool cluster_has_nodes(const struct cluster *c, const char *word)
{
    bool named;
    int group;
    long number;
    return c->places.node_count ? places_find(&c->places, word) >= 0
                                : read_nodes(c, word, &named, &group, &number);
}

static enum status check_once(const struct cluster *c, const struct cluster_change *x, int at,
                              struct error *err)
{
    bool named, other_named;
    int group, other;
    long number, other_number;
    read_nodes(c, x->without.items[at], &named, &group, &number);
    for (int i = 0; i < at; i++) {
        read_nodes(c, x->without.items[i], &other_named, &other, &other_number);
        if (group != other || (named && other_named && number != other_number)) continue;
        if (named && other_named)
            return refuse(err, "--without: '%s' appears twice", x->without.items[at]);
        return refuse(err, "--without: group '%s' appears twice", c->groups[group].name);
    }
    return OK;
}

// lost[group] nodes are removed.
static enum status count_nodes(const struct cluster *c, const struct cluster_change *x, int *lost,
                               struct error *err)
{
    int all = 0, left = 0;
    for (int i = 0; i < x->without.count; i++) {
        bool named;
        int group;
        long number;
        if (!read_nodes(c, x->without.items[i], &named, &group, &number))
            return refuse(
                err,
                "--without: %s names no nodes; expected one as a plan's hostfile names it "
                "(such as %s-0), a group (%s), or GROUP=N, N nodes fewer of it (%s=1), "
                "found '%.80s'",
                cluster_file(c), c->groups[0].name, c->groups[0].name, c->groups[0].name,
                x->without.items[i]);
        int nodes = c->groups[group].nodes;
        TRY(check_once(c, x, i, err));
        if (named && number >= nodes)
            return refuse(err, "--without: expected %s-0 to %s-%d, found '%.80s'",
                          c->groups[group].name, c->groups[group].name, nodes - 1,
                          x->without.items[i]);
        if (!named && (number < 1 || number > nodes))
            return refuse(err, "--without: expected 1 to %d nodes of group '%s', found %ld", nodes,
                          c->groups[group].name, number);
        lost[group] += named ? 1 : (int)number;
    }
    for (int g = 0; g < c->group_count; g++) {
        all += c->groups[g].nodes;
        left += c->groups[g].nodes - lost[g];
    }
    if (!left)
        return refuse(err, "--without: none of the %d nodes of %s would be left", all,
                      cluster_file(c));
    return OK;
}

// Groups that have lost nodes; those with no nodes left are removed. number[group]: its new index,
// -1: removed.
static void take_groups(struct cluster *to, const struct cluster *from, const int *lost,
                        int *number, struct arena *arena)
{
    to->groups = TAKE(arena, from->group_count, struct node_group);
    to->links = TAKE(arena, from->link_count, struct group_link);
    to->group_count = to->link_count = 0;
    for (int g = 0; g < from->group_count; g++) {
        number[g] = lost[g] < from->groups[g].nodes ? to->group_count : -1;
        if (number[g] < 0) continue;
        to->groups[to->group_count] = from->groups[g];
        to->groups[to->group_count++].nodes -= lost[g];
    }
    for (int i = 0; i < from->link_count; i++) {
        struct group_link link = from->links[i];
        if (number[link.from] < 0 || number[link.to] < 0) continue;
        to->links[to->link_count++] =
            (struct group_link){number[link.from], number[link.to], link.link};
    }
}

static void take_nodes(struct places *to, const struct places *from, const bool *gone,
                       const int *number, struct arena *arena)
{
    int *kept = TAKE(arena, from->node_count, int), count = 0;
    to->nodes = TAKE(arena, from->node_count, struct cluster_node);
    for (int i = 0; i < from->node_count; i++) {
        if (gone[i]) continue;
        kept[count] = i;
        to->nodes[count] = from->nodes[i];
        to->nodes[count++].group = number[from->nodes[i].group];
    }
    to->node_count = count;
    if (from->measured) to->measured = TAKE(arena, (size_t)count * (size_t)count, struct link);
    if (from->factors) to->factors = TAKE(arena, (size_t)count * (size_t)count, double);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < count; k++) {
            size_t new = (size_t)i *(size_t)count + (size_t)k,
                   old = (size_t)kept[i] * (size_t)from->node_count + (size_t)kept[k];
            if (from->measured) to->measured[new] = from->measured[old];
            if (from->factors) to->factors[new] = from->factors[old];
        }
}

// ---- links that change

static bool is_joined(const struct cluster *c, int from, int to)
{
    static const double whole[NIC_KIND_COUNT] = {1, 1, 1};
    const struct place_traffic traffic = {{1, 1}, {0, 0}};
    struct place_link link;
    return from != to && places_link(&link, c, from, to, &traffic, whole);
}

// "A:B" or "A" of `length` characters; names may contain a ':'. false: they are not names of nodes.
// *to -1: all links of *from.
static bool find_ends(const struct places *p, const char *word, size_t length, int *from, int *to,
                      struct arena *arena)
{
    *from = places_find(p, arena_print(arena, "%.*s", (int)length, word));
    *to = -1;
    for (size_t at = 0; at < length && *from < 0; at++) {
        if (word[at] != ':') continue;
        *from = places_find(p, arena_print(arena, "%.*s", (int)at, word));
        *to = places_find(p, arena_print(arena, "%.*s", (int)(length - at - 1), word + at + 1));
        if (*to < 0) *from = -1;
    }
    return *from >= 0;
}

// "; the nearest to vnode3 is vnode03", of the first of the two ends that is no node.
static const char *nearest_ends(const struct places *p, const char *word, struct arena *arena)
{
    size_t length = strcspn(word, ":=");
    const char *end = arena_print(arena, "%.*s", (int)length, word);
    const char **names = TAKE(arena, p->node_count, const char *);
    for (int i = 0; i < p->node_count; i++) names[i] = p->nodes[i].name;
    if (places_find(p, end) >= 0) {
        word += length + 1;
        end = arena_print(arena, "%.*s", (int)strcspn(word, "="), word);
    }
    return arena_print(arena, "; the nearest to '%.60s' is %s", end,
                       names[name_nearest(end, names, p->node_count)]);
}

static void lower(double *factor, double by)
{
    if (*factor == 0 || by < *factor) *factor = by;
}

// asked[from * node_count + to]: the smallest factor requested; 0: none.
static enum status ask_one(const struct cluster *c, const char *word, double *asked,
                           struct arena *arena, struct error *err)
{
    const struct places *p = &c->places;
    const char *equals = strrchr(word, '=');
    char *end = NULL;
    double factor = equals ? strtod(equals + 1, &end) : 0;
    int from, to, n = p->node_count;
    if (!equals || !equals[1] || *end ||
        !(factor >= CHANGE_FACTOR_LEAST && factor <= CHANGE_FACTOR_MOST))
        return refuse(
            err, "--degrade: expected A:B=X or A=X with a factor X from %g to %g, found '%.80s'",
            CHANGE_FACTOR_LEAST, CHANGE_FACTOR_MOST, word);
    if (!find_ends(p, word, (size_t)(equals - word), &from, &to, arena))
        return refuse(err,
                      "--degrade: expected names of nodes of %s, A:B=X or A=X, found '%.80s'%s",
                      cluster_file(c), word, nearest_ends(p, word, arena));
    if (from == to)
        return refuse(err, "--degrade: expected two different nodes, found '%.80s'", word);
    if (to >= 0 && !is_joined(c, from, to))
        return refuse(err, "--degrade: no link connects '%s' to '%s'", p->nodes[from].name,
                      p->nodes[to].name);
    if (to >= 0) lower(&asked[from * n + to], factor);
    for (int k = 0; k < n && to < 0; k++) {
        if (is_joined(c, from, k)) lower(&asked[from * n + k], factor);
        if (is_joined(c, k, from)) lower(&asked[k * n + from], factor);
    }
    return OK;
}

static bool same_ends(const char *a, const char *b)
{
    const char *equals[2] = {strrchr(a, '='), strrchr(b, '=')};
    return equals[0] && equals[1] && equals[0] - a == equals[1] - b &&
           !memcmp(a, b, (size_t)(equals[0] - a));
}

static enum status ask_all(const struct cluster *c, const struct cluster_change *x, double *asked,
                           struct arena *arena, struct error *err)
{
    for (int i = 0; i < x->degrade.count; i++) {
        for (int k = 0; k < i; k++)
            if (same_ends(x->degrade.items[k], x->degrade.items[i]))
                return refuse(err, "--degrade: '%.80s' appears twice", x->degrade.items[i]);
        TRY(ask_one(c, x->degrade.items[i], asked, arena, err));
    }
    return OK;
}

static enum status change_links(struct cluster *to, const struct cluster *from,
                                const struct cluster_change *x, struct arena *arena,
                                struct error *err)
{
    struct places *p = &to->places;
    size_t n = (size_t)from->places.node_count,
           pairs = (size_t)p->node_count * (size_t)p->node_count;
    double *asked = TAKE(arena, n * n, double);
    TRY(ask_all(from, x, asked, arena, err));
    double *factors = TAKE(arena, pairs, double);
    size_t *old = TAKE(arena, p->node_count, size_t);
    for (int i = 0; i < p->node_count; i++)
        old[i] = (size_t)places_find(&from->places, p->nodes[i].name);
    for (size_t pair = 0; pair < pairs; pair++) {
        int a = (int)(pair / (size_t)p->node_count), b = (int)(pair % (size_t)p->node_count);
        double by = asked[old[a] * n + old[b]];
        factors[pair] = places_factor(p, a, b) * (by > 0 ? by : 1);
        if (!(factors[pair] >= PLACES_FACTOR_LEAST && factors[pair] <= PLACES_FACTOR_MOST))
            return refuse(
                err,
                "--degrade: '%s' to '%s' would have %g of its bandwidth in all; expected %g to %g",
                p->nodes[a].name, p->nodes[b].name, factors[pair], PLACES_FACTOR_LEAST,
                PLACES_FACTOR_MOST);
    }
    p->factors = factors;
    return OK;
}

// Refuses a change to a link of a node that the same request removes.
static enum status check_degraded_stay(const struct cluster *from, const struct cluster *to,
                                       const struct cluster_change *x, struct arena *arena,
                                       struct error *err)
{
    for (int i = 0; i < x->degrade.count; i++) {
        const char *word = x->degrade.items[i], *equals = strrchr(word, '=');
        int ends[2];
        if (!equals ||
            !find_ends(&from->places, word, (size_t)(equals - word), &ends[0], &ends[1], arena))
            continue;
        for (int k = 0; k < 2; k++)
            if (ends[k] >= 0 && places_find(&to->places, from->places.nodes[ends[k]].name) < 0)
                return refuse(err, "--degrade: '%.80s': '%s' is taken away by --without", word,
                              from->places.nodes[ends[k]].name);
    }
    return OK;
}

enum status cluster_make_change(struct cluster *to, const struct cluster *from,
                                const struct cluster_change *x, struct arena *arena,
                                struct error *err)
{
    int lost[GROUPS_MAX] = {0}, number[GROUPS_MAX];
    *to = *from;
    to->document = (struct document){0};
    to->name = arena_print(arena, "%s, %s", from->name, cluster_change_text(x, arena));
    if (!from->places.node_count) {
        if (x->degrade.count)
            return refuse(err, "--degrade: %s names no nodes; expected a cluster with places",
                          cluster_file(from));
        TRY(count_nodes(from, x, lost, err));
        take_groups(to, from, lost, number, arena);
        return OK;
    }
    bool *gone = TAKE(arena, from->places.node_count, bool);
    TRY(mark_nodes(from, x, gone, arena, err));
    for (int i = 0; i < from->places.node_count; i++) lost[from->places.nodes[i].group] += gone[i];
    take_groups(to, from, lost, number, arena);
    take_nodes(&to->places, &from->places, gone, number, arena);
    TRY(check_degraded_stay(from, to, x, arena, err));
    return x->degrade.count ? change_links(to, from, x, arena, err) : OK;
}
