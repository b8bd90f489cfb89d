// See internal.h. A chain continues from the last rank that has a node through free device groups,
// each once. For few device groups the least of its weighted transfers is a dynamic programme over
// sets of them; for many, the chain may return to a group, but not immediately. The least time of
// each boundary by itself is already counted; the chain adds what is beyond it.

#include "data/base/least.h"
#include "solve/chains/chains.h"
#include "solve/places/internal.h"

enum { SETS_MAX = 12, GROUPS_FREE_MAX = 64 };

struct joint {
    struct joint_transfers functions;
    const struct placed *p;
    const struct choices *view;
    int first, hops; // ranks first .. first + hops are a chain of free groups; it starts from rank
                     // first - 1, if there is one
    int from;        // that rank's node; -1: there is none
    int *place, places; // [places]: nodes, once for each free device group
    int64_t *beyond;    // [hop][from * places + to]; hop 0 is the one from `from`, in its first row
    int64_t *value;
    unsigned char *before;
    int *chain; // [hops + 1]: nodes of the least chain
};

// ---- what a link takes beyond the least, weighted

static wide parts_beyond(const struct joint *j, const int64_t *coefficients, int kind, int boundary,
                         const int64_t *price, const int64_t *least)
{
    wide sum = 0;
    for (int part = 0; part < PART_COUNT; part++)
        sum += (wide)coefficients[symbol_index(j->p->stages, kind + part, boundary)] *
               (price[part] - least[part]);
    assert(sum >= 0); // coefficients are >= 0, and no link is below the least
    return sum;
}

// For the boundary, with this message class and compression. -1: not joined.
static wide link_beyond(const struct joint *j, const int64_t *coefficients, int boundary, int cut,
                        int option, int from, int to)
{
    const struct priced *p = j->p->priced;
    const struct priced_cut *least = &j->view->boundary_cuts[boundary][cut];
    const struct schedule_request *r = &j->view->schedule->request;
    int steady = p->boundary_options[option].epilogue_only ? 0 : option;
    wide sum = 0;
    for (int slice = 0; slice < p->slice_count; slice++) {
        size_t at = (((size_t)slice * (size_t)j->p->nodes + (size_t)from) * (size_t)j->p->nodes +
                     (size_t)to) *
                    PART_COUNT;
        size_t group =
            (size_t)((slice * p->group_count + p->places->nodes[from].group) * p->group_count +
                     p->places->nodes[to].group) *
            PART_COUNT;
        int forward = symbol_of_slice(slice, SYMBOL_SEND_FORWARD),
            backward = symbol_of_slice(slice, SYMBOL_SEND_BACKWARD);
        if (p->places->cuts[cut].forward_ns[at] == PRICE_NONE) return -1;
        sum += parts_beyond(j, coefficients, forward, boundary,
                            p->places->cuts[cut].forward_ns + at, least->forward_ns + group);
        if (schedule_is_local(r, boundary)) continue;
        sum += parts_beyond(j, coefficients, backward, boundary,
                            p->places->cuts[cut].backward_ns[steady] + at,
                            least->backward_ns[steady] + group);
        if (!slice)
            sum += parts_beyond(j, coefficients, SYMBOL_SEND_EPILOGUE, boundary,
                                p->places->cuts[cut].backward_ns[option] + at,
                                least->backward_ns[option] + group);
    }
    return sum;
}

// The least over the choices of the stages on both sides.
static int64_t beyond_of(const struct joint *j, const int64_t *coefficients, int fraction_bits,
                         int boundary, int from, int to)
{
    const struct priced *p = j->p->priced;
    int64_t best = CHAIN_NONE;
    for (int cut = 0; cut < p->cut_count; cut++)
        for (int option = 0; option < p->boundary_option_count; option++) {
            wide sum = link_beyond(j, coefficients, boundary, cut, option, from, to);
            if (sum >= 0) best = smaller(best, (int64_t)(sum >> (WEIGHT_BITS - fraction_bits)));
        }
    return best;
}

static void weigh(const struct joint *j, const int64_t *coefficients, int fraction_bits)
{
    const struct priced_node *nodes = j->p->priced->places->nodes;
    for (int hop = j->from < 0; hop <= j->hops; hop++)
        for (int a = 0; a < (hop ? j->places : 1); a++)
            for (int b = 0; b < j->places; b++) {
                int from = hop ? j->place[a] : j->from, to = j->place[b];
                bool same = (hop && a == b) || (from == to && nodes[from].slots < 2);
                j->beyond[((size_t)hop * (size_t)j->places + (size_t)a) * (size_t)j->places +
                          (size_t)b] =
                    same ? CHAIN_NONE
                         : beyond_of(j, coefficients, fraction_bits, j->first - 1 + hop, from, to);
            }
}

static int64_t hop_value(const struct joint *j, int hop, int a, int b)
{
    return j->beyond[((size_t)hop * (size_t)j->places + (size_t)a) * (size_t)j->places + (size_t)b];
}
static int64_t begin_value(const struct joint *j, int b)
{
    return j->from < 0 ? 0 : hop_value(j, 0, 0, b);
}

// ---- every group once

static int64_t walk_sets(const struct joint *j)
{
    int n = j->places, best_last = -1, best_set = 0;
    int64_t best = CHAIN_NONE;
    for (int set = 1; set < 1 << n; set++) {
        int size = __builtin_popcount((unsigned)set);
        if (size > j->hops + 1) continue;
        for (int last = 0; last < n; last++) {
            if (!(set >> last & 1)) continue;
            int64_t least = size == 1 ? begin_value(j, last) : CHAIN_NONE;
            int without = set & ~(1 << last);
            for (int a = 0; a < n && size > 1; a++) {
                if (!(without >> a & 1)) continue;
                int64_t value = j->value[without * n + a] + hop_value(j, size - 1, a, last);
                if (value < least) {
                    least = value;
                    j->before[set * n + last] = (unsigned char)a;
                }
            }
            j->value[set * n + last] = least;
            if (size == j->hops + 1 && least < best) best = least, best_last = last, best_set = set;
        }
    }
    for (int at = j->hops; at >= 0 && best_last >= 0; at--) {
        assert(best_set >> best_last & 1);
        j->chain[at] = j->place[best_last];
        int before = j->before[best_set * n + best_last];
        best_set &= ~(1 << best_last);
        best_last = at ? before : -1;
    }
    return best;
}

// ---- no immediate return: value[(hop * places + before) * places + last]

static int64_t walk_on(const struct joint *j)
{
    size_t n = (size_t)j->places;
    int64_t best = CHAIN_NONE;
    size_t best_before = 0, best_last = 0;
    for (int hop = 1; hop <= j->hops; hop++)
        for (size_t a = 0; a < n; a++)
            for (size_t b = 0; b < n; b++) {
                int64_t least = CHAIN_NONE, link = hop_value(j, hop, (int)a, (int)b);
                size_t at = ((size_t)hop * n + a) * n + b;
                j->before[at] = 0;
                if (hop == 1) least = a == b ? CHAIN_NONE : begin_value(j, (int)a);
                for (size_t c = 0; c < n && hop > 1 && link < CHAIN_NONE; c++)
                    if (c != b && j->value[((size_t)(hop - 1) * n + c) * n + a] < least) {
                        least = j->value[((size_t)(hop - 1) * n + c) * n + a];
                        j->before[at] = (unsigned char)c;
                    }
                j->value[at] = smaller(least + link, CHAIN_NONE);
                if (hop == j->hops && j->value[at] < best)
                    best = j->value[at], best_before = a, best_last = b;
            }
    for (int hop = j->hops; hop >= 1 && best < CHAIN_NONE; hop--) {
        j->chain[hop] = j->place[best_last];
        j->chain[hop - 1] = j->place[best_before];
        size_t before = j->before[((size_t)hop * n + best_before) * n + best_last];
        best_last = best_before, best_before = before;
    }
    return best;
}

static int64_t excess(void *of, const int64_t *coefficients, int fraction_bits)
{
    struct joint *j = of;
    weigh(j, coefficients, fraction_bits);
    j->chain[0] = -1;
    if (j->places <= SETS_MAX) return walk_sets(j);
    if (j->hops) return walk_on(j);
    int64_t best = CHAIN_NONE;
    for (int b = 0; b < j->places; b++)
        if (begin_value(j, b) < best) best = begin_value(j, b), j->chain[0] = j->place[b];
    return best;
}

// ---- the transfers of the chain

static void put(void *of, int64_t *durations)
{
    struct joint *j = of;
    const struct priced *p = j->p->priced;
    if (j->chain[0] < 0) return;
    for (int hop = j->from < 0; hop <= j->hops; hop++) {
        int boundary = j->first - 1 + hop, from = hop ? j->chain[hop - 1] : j->from,
            to = j->chain[hop];
        for (int slice = 0; slice < p->slice_count; slice++)
            for (int part = 0; part < PART_COUNT; part++) {
                size_t at =
                    (((size_t)slice * (size_t)j->p->nodes + (size_t)from) * (size_t)j->p->nodes +
                     (size_t)to) *
                        PART_COUNT +
                    (size_t)part;
                size_t group = (size_t)((slice * p->group_count + p->places->nodes[from].group) *
                                            p->group_count +
                                        p->places->nodes[to].group) *
                                   PART_COUNT +
                               (size_t)part;
                const struct priced_cut *least = &j->view->boundary_cuts[boundary][0];
                int forward = symbol_of_slice(slice, SYMBOL_SEND_FORWARD),
                    backward = symbol_of_slice(slice, SYMBOL_SEND_BACKWARD);
                durations[symbol_index(j->p->stages, forward + part, boundary)] +=
                    p->places->cuts[0].forward_ns[at] - least->forward_ns[group];
                if (schedule_is_local(&j->view->schedule->request, boundary)) continue;
                int64_t back = p->places->cuts[0].backward_ns[0][at] - least->backward_ns[0][group];
                durations[symbol_index(j->p->stages, backward + part, boundary)] += back;
                if (!slice)
                    durations[symbol_index(j->p->stages, SYMBOL_SEND_EPILOGUE + part, boundary)] +=
                        back;
            }
    }
}

const struct joint_transfers *placed_joint_make(const struct placed *p,
                                                const struct choices *of_view, const int *node,
                                                const int *left, struct arena *arena)
{
    struct joint *j = TAKE(arena, 1, struct joint);
    *j = (struct joint){.functions = {excess, put, j}, .p = p, .view = of_view};
    while (j->first < p->ranks && node[j->first] >= 0) j->first++;
    for (int rank = j->first; rank < p->ranks; rank++)
        if (node[rank] >= 0) return NULL;
    j->hops = p->ranks - 1 - j->first;
    j->from = j->first ? node[j->first - 1] : -1;
    if (j->hops < 0 || (j->hops == 0 && j->from < 0)) return NULL;
    for (int i = 0; i < p->nodes; i++) j->places += left[i] < j->hops + 1 ? left[i] : j->hops + 1;
    if (j->places <= j->hops || j->places > GROUPS_FREE_MAX) return NULL;
    j->place = TAKE(arena, j->places, int);
    j->places = 0;
    for (int i = 0; i < p->nodes; i++)
        for (int k = 0; k < left[i] && k <= j->hops; k++) j->place[j->places++] = i;
    assert(j->hops >= 0 && j->hops < j->places && j->places <= GROUPS_FREE_MAX);
    size_t n = (size_t)j->places,
           cells = j->places <= SETS_MAX ? n << j->places : (size_t)(j->hops + 1) * n * n;
    j->beyond = TAKE(arena, (size_t)(j->hops + 1) * n * n, int64_t);
    j->value = TAKE(arena, cells, int64_t);
    j->before = TAKE(arena, cells, unsigned char);
    j->chain = TAKE(arena, j->hops + 1, int);
    return &j->functions;
}
