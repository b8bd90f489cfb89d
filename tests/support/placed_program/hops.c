// Transfers by node: for each replica and boundary, a flow from the nodes of one rank to those of
// the next. If prices also depend on the message's class after the left stage or on the right
// stage's compression, the flow is split by these too and tied to both stages' options. With
// integral choices and nodes it is one unit, and no product is needed.
#include <string.h>

#include "data/priced/priced.h"
#include "tests/support/placed_program/internal.h"

struct hop {
    int from, to, cut, option, column;
};

struct hops {
    struct placing *x;
    int replica, rank;
    int *cuts, cut_count, *options, option_count;
    struct hop *items;
    int count, capacity;
    int64_t *values; // [hop], for the current symbol
};

static int note(int *list, int count, int value)
{
    for (int i = 0; i < count; i++)
        if (list[i] == value) return count;
    list[count] = value;
    return count + 1;
}

static size_t at_of(const struct placing *x, int slice, int from, int to)
{
    return (((size_t)slice * (size_t)x->f->nodes + (size_t)from) * (size_t)x->f->nodes +
            (size_t)to) *
           PART_COUNT;
}

static void list_keys(struct hops *h)
{
    const struct stage_choices *left = &h->x->c->stages[h->rank], *right = left + 1;
    h->cuts = TAKE(h->x->arena, h->x->p->cut_count, int);
    h->options = TAKE(h->x->arena, h->x->p->boundary_option_count, int);
    for (int i = 0; i < left->count; i++)
        h->cut_count = note(h->cuts, h->cut_count, left->items[i].cut);
    for (int i = 0; i < right->count; i++)
        h->option_count = note(h->options, h->option_count, right->items[i].boundary_option);
}

static void add_hop_columns(struct hops *h)
{
    struct placing *x = h->x;
    h->capacity = h->cut_count * h->option_count * x->f->nodes * x->f->nodes;
    h->items = TAKE(x->arena, h->capacity + 1, struct hop);
    h->values = TAKE(x->arena, h->capacity + 1, int64_t);
    for (int from = 0; from < x->f->nodes; from++)
        for (int to = 0; to < x->f->nodes; to++) {
            bool room = from != to || x->places->nodes[from].slots > 1;
            if (!room || placing_node_column(x, h->replica, h->rank, from) < 0 ||
                placing_node_column(x, h->replica, h->rank + 1, to) < 0)
                continue;
            if (x->places->cuts[0].forward_ns[at_of(x, 0, from, to)] == PRICE_NONE) continue;
            for (int k = 0; k < h->cut_count * h->option_count; k++) {
                struct milp_column column = {
                    .role = COLUMN_OTHER, .a = h->rank, .b = from, .c = to, .upper = 1};
                h->items[h->count++] = (struct hop){from, to, h->cuts[k / h->option_count],
                                                    h->options[k % h->option_count],
                                                    milp_add_column(&x->f->milp, column)};
            }
        }
}

static void hold_to_nodes(const struct hops *h, bool right)
{
    struct milp *m = &h->x->f->milp;
    for (int node = 0; node < h->x->f->nodes; node++) {
        int column = placing_node_column(h->x, h->replica, h->rank + right, node);
        if (column < 0) continue;
        for (int i = 0; i < h->count; i++)
            if ((right ? h->items[i].to : h->items[i].from) == node)
                milp_add_entry(m, h->items[i].column, 1);
        milp_add_entry(m, column, -1);
        milp_add_row(m, ROW_FLOW, ROW_EQUAL, 0);
    }
}

// The choices of an option share its column; adds each column once.
static void hold_to_options(const struct hops *h, bool right, int key)
{
    const struct stage_choices *all = &h->x->c->stages[h->rank + right];
    const int *columns = h->x->f->option_column[h->rank + right];
    struct milp *m = &h->x->f->milp;
    for (int i = 0; i < h->count; i++)
        if ((right ? h->items[i].option : h->items[i].cut) == key)
            milp_add_entry(m, h->items[i].column, 1);
    for (int i = 0; i < all->count; i++)
        if (m->columns[columns[i]].b == i &&
            (right ? all->items[i].boundary_option : all->items[i].cut) == key)
            milp_add_entry(m, columns[i], -1);
    milp_add_row(m, ROW_FLOW, ROW_EQUAL, 0);
}

// ---- durations

// A symbol whose hops take as long as those of an earlier symbol shares its column.
static void add_symbol(struct hops *h, int symbol, const int *earlier, int earlier_count,
                       int64_t *const *earlier_values)
{
    struct placing *x = h->x;
    int64_t least = INT64_MAX, greatest = 0;
    for (int i = 0; i < earlier_count; i++)
        if (!memcmp(earlier_values[i], h->values, (size_t)h->count * sizeof *h->values)) {
            x->f->symbol_column[h->replica][symbol] = x->f->symbol_column[h->replica][earlier[i]];
            return;
        }
    for (int i = 0; i < h->count; i++) {
        least = h->values[i] < least ? h->values[i] : least;
        greatest = h->values[i] > greatest ? h->values[i] : greatest;
    }
    int column = h->count ? placing_symbol(x, h->replica, symbol, least, greatest) : -1;
    if (column < 0 || least == greatest) return;
    for (int i = 0; i < h->count; i++)
        milp_add_entry(&x->f->milp, h->items[i].column, -h->values[i]);
    milp_add_entry(&x->f->milp, column, 1);
    milp_add_row(&x->f->milp, ROW_SYMBOL, ROW_EQUAL, 0);
}

enum { WAY_FORWARD, WAY_BACKWARD, WAY_EPILOGUE, WAY_COUNT };

static int64_t hop_ns(const struct hops *h, const struct hop *i, int way, int slice, int part)
{
    const struct priced_places *places = h->x->places;
    size_t at = at_of(h->x, slice, i->from, i->to) + (size_t)part;
    if (way == WAY_FORWARD) return places->cuts[i->cut].forward_ns[at];
    if (schedule_is_local(&h->x->c->schedule->request, h->rank)) return 0;
    bool applies = way == WAY_EPILOGUE || !h->x->p->boundary_options[i->option].epilogue_only;
    return places->cuts[i->cut].backward_ns[applies ? i->option : 0][at];
}

static int kind_of(int way, int slice)
{
    static const int kinds[] = {SYMBOL_SEND_FORWARD, SYMBOL_SEND_BACKWARD, SYMBOL_SEND_EPILOGUE};
    return symbol_of_slice(slice, kinds[way]);
}

static void add_durations(struct hops *h)
{
    struct placing *x = h->x;
    int slices = x->p->slice_count, count = 0,
        *done = TAKE(x->arena, WAY_COUNT * PART_COUNT * slices, int);
    int64_t **values = TAKE(x->arena, WAY_COUNT * PART_COUNT * slices, int64_t *);
    for (int slice = 0; slice < slices; slice++)
        for (int way = 0; way < WAY_COUNT; way++)
            for (int part = 0; part < PART_COUNT; part++) {
                int symbol = symbol_index(x->f->ranks, kind_of(way, slice) + part, h->rank);
                if (!x->used[symbol]) continue;
                for (int i = 0; i < h->count; i++)
                    h->values[i] = hop_ns(h, &h->items[i], way, slice, part);
                add_symbol(h, symbol, done, count, values);
                done[count] = symbol;
                values[count] = TAKE(x->arena, h->count + 1, int64_t);
                memcpy(values[count++], h->values, (size_t)h->count * sizeof *h->values);
            }
}

void placing_add_hops(struct placing *x, int replica, int rank)
{
    struct hops h = {.x = x, .replica = replica, .rank = rank};
    list_keys(&h);
    add_hop_columns(&h);
    hold_to_nodes(&h, false);
    hold_to_nodes(&h, true);
    for (int k = 0; k < h.cut_count && h.cut_count > 1; k++) hold_to_options(&h, false, h.cuts[k]);
    for (int k = 0; k < h.option_count && h.option_count > 1; k++)
        hold_to_options(&h, true, h.options[k]);
    add_durations(&h);
}

void placing_add_embedding(struct placing *x, int replica)
{
    struct milp *m = &x->f->milp;
    int nodes = x->f->nodes, last = x->f->ranks - 1,
        symbol = symbol_index(x->f->ranks, SYMBOL_EMBEDDING_SYNC, 0);
    int *columns = TAKE(x->arena, nodes * nodes, int);
    int64_t least = INT64_MAX, greatest = 0;
    if (!x->used[symbol]) return;
    for (int i = 0; i < nodes * nodes; i++) {
        int from = i / nodes, to = i % nodes;
        int64_t ns = x->places->embedding_sync_ns[i];
        columns[i] = -1;
        if (ns == PRICE_NONE || placing_node_column(x, replica, 0, from) < 0 ||
            placing_node_column(x, replica, last, to) < 0)
            continue;
        columns[i] = milp_add_column(
            m, (struct milp_column){
                   .role = COLUMN_OTHER, .a = x->f->ranks, .b = from, .c = to, .upper = 1});
        least = ns < least ? ns : least;
        greatest = ns > greatest ? ns : greatest;
    }
    for (int side = 0; side < 2; side++)
        for (int node = 0; node < nodes; node++) {
            int column = placing_node_column(x, replica, side ? last : 0, node);
            if (column < 0) continue;
            for (int other = 0; other < nodes; other++) {
                int at = side ? other * nodes + node : node * nodes + other;
                if (columns[at] >= 0) milp_add_entry(m, columns[at], 1);
            }
            milp_add_entry(m, column, -1);
            milp_add_row(m, ROW_FLOW, ROW_EQUAL, 0);
        }
    int column = least == INT64_MAX ? -1 : placing_symbol(x, replica, symbol, least, greatest);
    if (column < 0 || least == greatest) return;
    for (int i = 0; i < nodes * nodes; i++)
        if (columns[i] >= 0) milp_add_entry(m, columns[i], -x->places->embedding_sync_ns[i]);
    milp_add_entry(m, column, 1);
    milp_add_row(m, ROW_SYMBOL, ROW_EQUAL, 0);
}
