// See chain.h. With few device groups: a dynamic programme over sets of them and the last one.
// With many: over the last two nodes, so that a chain may return to a node but not at once, which
// only lowers the bound.
#include "solve/checker/boxes/chain.h"

enum { VALUE_BITS = 60 };
#define UNREACHED_CHAIN ((int64_t)1 << 61)

static int64_t *beyond_at(const struct check_chain *x, int hop, int from, int to)
{
    return &x->beyond[((size_t)hop * (size_t)x->node_count + (size_t)from) * (size_t)x->node_count +
                      (size_t)to];
}

// ---- a link's cost beyond the least between its groups

static wide part_beyond(const struct check_problem *p, const int64_t *coefficients, int boundary,
                        int kind, int slice, const int64_t *price, const int64_t *least)
{
    wide sum = 0;
    for (int part = 0; part < PARTS; part++)
        sum += (wide)coefficients[check_symbol(p, kind + part, boundary, slice)] *
               (price[part] - least[part]);
    return sum;
}

// For a message of this class, with this option at the stage after the boundary.
static wide class_beyond(const struct check_problem *p, const int64_t *coefficients, int boundary,
                         int cut, int option, int from, int to)
{
    const struct check_chain *x = p->chain;
    const struct check_cut *c = &p->cuts[cut];
    int steady = p->boundary[option].epilogue_only ? 0 : option;
    wide sum = 0;
    for (int slice = 0; slice < p->slices; slice++) {
        int at = ((slice * x->node_count + from) * x->node_count + to) * PARTS,
            of_groups =
                ((slice * p->group_count + x->group_of[from]) * p->group_count + x->group_of[to]) *
                PARTS;
        sum += part_beyond(p, coefficients, boundary, KIND_SEND_FORWARD, slice,
                           x->forward[cut] + at, c->forward + of_groups);
        if (!check_sends_backward(p, boundary)) continue;
        sum += part_beyond(p, coefficients, boundary, KIND_SEND_BACKWARD, slice,
                           x->backward[cut][steady] + at, c->backward[steady] + of_groups);
        if (!slice)
            sum += part_beyond(p, coefficients, boundary, KIND_SEND_EPILOGUE, 0,
                               x->backward[cut][option] + at, c->backward[option] + of_groups);
    }
    return sum;
}

static wide link_beyond(const struct check_problem *p, const int64_t *coefficients, int boundary,
                        int from, int to)
{
    wide least = -1;
    for (int cut = 0; cut < p->cut_count; cut++)
        for (int o = 0; o < p->boundary_count; o++) {
            wide beyond = class_beyond(p, coefficients, boundary, cut, o, from, to);
            if (least < 0 || beyond < least) least = beyond;
        }
    return least;
}

// In multiples of 2^shift, rounded down, so that sums stay within 2^60.
static int weigh(const struct check_problem *p, const int64_t *coefficients)
{
    const struct check_chain *x = p->chain;
    wide most = 0;
    int shift = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int hop = 0; hop < x->hops; hop++)
            for (int pair = 0; pair < x->node_count * x->node_count; pair++) {
                int from = pair / x->node_count, to = pair % x->node_count;
                wide beyond = x->joined[pair] ? link_beyond(p, coefficients, hop, from, to) : 0;
                if (beyond > most) most = beyond;
                if (pass)
                    *beyond_at(x, hop, from, to) = x->joined[pair] ? (int64_t)(beyond >> shift)
                                                                   : UNREACHED_CHAIN;
            }
        while ((most * (x->hops + 1)) >> shift >= (wide)1 << VALUE_BITS) shift++;
    }
    return shift;
}

// ---- chains that use each device group once

static void trace_sets(const struct check_chain *x, int set, int last)
{
    for (int at = x->hops; at >= 0; at--) {
        int before = x->before[set * x->places + last];
        x->least[at] = x->node_of[last];
        set &= ~(1 << last);
        last = before;
    }
}

// The least chain that visits exactly the set and ends at its member `last`.
static int64_t least_path(const struct check_chain *x, unsigned set, int last, const int64_t *links)
{
    unsigned rest = set & ~(1u << last);
    int64_t least = rest ? UNREACHED_CHAIN : 0;
    const int64_t *values = x->value + (size_t)rest * (size_t)x->places;
    for (unsigned left = rest; left; left &= left - 1) {
        int place = __builtin_ctz(left);
        int64_t value = values[place] + links[place * x->places + last];
        if (value >= least) continue;
        least = value;
        x->before[set * (unsigned)x->places + (unsigned)last] = (unsigned char)place;
    }
    return least;
}

// links[hop][from place * places + to place]
static void list_links(const struct check_chain *x)
{
    for (int hop = 0; hop < x->hops; hop++)
        for (int pair = 0; pair < x->places * x->places; pair++)
            x->links[hop * x->places * x->places + pair] =
                *beyond_at(x, hop, x->node_of[pair / x->places], x->node_of[pair % x->places]);
}

static int64_t walk_sets(const struct check_chain *x)
{
    int n = x->places, best_last = 0;
    unsigned best_set = 0;
    int64_t best = UNREACHED_CHAIN;
    list_links(x);
    for (unsigned set = 1; set < 1u << n; set++) {
        int size = __builtin_popcount(set);
        if (size > x->hops + 1) continue;
        for (unsigned left = set; left; left &= left - 1) {
            int last = __builtin_ctz(left);
            int64_t least = least_path(x, set, last, x->links + (size > 1 ? size - 2 : 0) * n * n);
            x->value[set * (unsigned)n + (unsigned)last] = least;
            if (size == x->hops + 1 && least < best) best = least, best_set = set, best_last = last;
        }
    }
    if (best < UNREACHED_CHAIN) trace_sets(x, (int)best_set, best_last);
    return best;
}

// ---- chains that do not return at once

static int64_t *value_at(const struct check_chain *x, int hop, int before, int last)
{
    return &x->value[((size_t)hop * (size_t)x->node_count + (size_t)before) *
                         (size_t)x->node_count +
                     (size_t)last];
}

// The least chain over so many hops that ends with these two nodes; from[..] is the node before
// `before`.
static int64_t least_before(const struct check_chain *x, int hop, int before, int last, int *from)
{
    int64_t least = UNREACHED_CHAIN;
    for (int node = 0; node < x->node_count; node++) {
        if (node == last && x->slots[node] < 2) continue;
        int64_t value = *value_at(x, hop - 1, node, before);
        if (value < least) least = value, *from = node;
    }
    return least;
}

static void trace_walk(const struct check_chain *x, int before, int last)
{
    for (int hop = x->hops - 1; hop >= 0; hop--) {
        size_t at = ((size_t)hop * (size_t)x->node_count + (size_t)before) * (size_t)x->node_count +
                    (size_t)last;
        x->least[hop + 1] = last;
        x->least[hop] = before;
        last = before;
        before = x->before[at];
    }
}

static int64_t walk_on(const struct check_chain *x)
{
    int n = x->node_count, best_before = 0, best_last = 0;
    int64_t best = UNREACHED_CHAIN;
    for (int hop = 0; hop < x->hops; hop++)
        for (int pair = 0; pair < n * n; pair++) {
            int before = pair / n, last = pair % n, from = 0;
            int64_t link = *beyond_at(x, hop, before, last), value = 0;
            if (hop && link < UNREACHED_CHAIN) value = least_before(x, hop, before, last, &from);
            value = link < UNREACHED_CHAIN && value < UNREACHED_CHAIN ? value + link
                                                                      : UNREACHED_CHAIN;
            *value_at(x, hop, before, last) = value;
            x->before[(size_t)hop * (size_t)n * (size_t)n + (size_t)pair] = (unsigned char)from;
            if (hop == x->hops - 1 && value < best)
                best = value, best_before = before, best_last = last;
        }
    if (best < UNREACHED_CHAIN) trace_walk(x, best_before, best_last);
    return best;
}

enum status check_chain_excess(const struct check_problem *p, const int64_t *coefficients,
                               uint64_t *work, wide *excess)
{
    const struct check_chain *x = p->chain;
    uint64_t n = (uint64_t)x->node_count, places = (uint64_t)x->places;
    uint64_t classes = (uint64_t)(p->cut_count * p->boundary_count * p->slices) * 3 * PARTS;
    bool few = x->places <= CHAIN_PLACES_MOST;
    TRY(check_spend(p, work, 2 * (uint64_t)x->hops * n * n * classes));
    TRY(check_spend(p, work, few ? (places * places) << places : (uint64_t)x->hops * n * n * n));
    int shift = weigh(p, coefficients);
    int64_t least = few ? walk_sets(x) : walk_on(x);
    *excess = least < UNREACHED_CHAIN ? (wide)least << shift
                                      : (wide)1 << 120; // no chain means no plan
    return OK;
}
