// Symbols that two stages determine together: the transfers over a boundary (by the left stage's
// message class and group and the right stage's group and compression), and the embedding sync (by
// the end stages' groups). Their price is a table over pairs. If the table is a sum of a left and a
// right part, a row over states expresses it. Otherwise a flow between the two sides' states does,
// whose rows are those of a transportation problem, so no product is needed. Pairs that nothing
// joins get no flow column.
#include "formulate/program/formulate.h"

struct side {
    int stage, count;
    int *key_of_state;
    struct state *keys; // one state of each key
};

// For each slice: forward, backward, and the drain's backward, which only the first slice has.
enum { SERIES_OF_SLICE = 3, JOINT_SYMBOLS = SLICES_MAX * SERIES_OF_SLICE * PART_COUNT };

struct joint {
    int label; // boundary, or stage_count for the embedding sync
    struct side left, right;
    int symbol_count;
    int symbols[JOINT_SYMBOLS];
    int64_t
        *prices[JOINT_SYMBOLS]; // [left key * right.count + right key], PRICE_NONE if not joined
};

enum seen { SEEN_GROUP = 1, SEEN_CUT = 2, SEEN_OPTION = 4 };

static struct side make_side(struct builder *b, int stage, int seen)
{
    const struct stage_states *states = &b->states[stage];
    struct side side = {stage, 0, TAKE(b->arena, states->count, int),
                        TAKE(b->arena, states->count, struct state)};
    for (int i = 0; i < states->count; i++) {
        struct state x = states->items[i];
        if (!(seen & SEEN_CUT)) x.cut = 0;
        if (!(seen & SEEN_OPTION)) x.boundary_option = 0;
        int k = 0;
        while (k < side.count && (side.keys[k].group != x.group || side.keys[k].cut != x.cut ||
                                  side.keys[k].boundary_option != x.boundary_option))
            k++;
        if (k == side.count) side.keys[side.count++] = x;
        side.key_of_state[i] = k;
    }
    return side;
}

// Adds entries for coefficient x (sum of the states of this key); returns the constant part.
static int64_t put_key(struct builder *b, const struct side *side, int key, int64_t coefficient)
{
    const struct stage_states *states = &b->states[side->stage];
    int64_t constant = 0;
    for (int i = 0; i < states->count; i++) {
        if (side->key_of_state[i] != key) continue;
        if (states->items[i].column < 0) constant += coefficient;
        else milp_add_entry(&b->f->milp, states->items[i].column, coefficient);
    }
    return constant;
}

static int pairs(const struct joint *j) { return j->left.count * j->right.count; }

static bool all_joined(const struct joint *j)
{
    for (int i = 0; i < pairs(j); i++)
        if (j->prices[0][i] == PRICE_NONE) return false;
    return true;
}

// price[k][h] = price[k][0] + price[0][h] - price[0][0] everywhere
static bool is_sum(const struct joint *j, const int64_t *price)
{
    int n = j->right.count;
    for (int i = 0; i < pairs(j); i++)
        if (price[i] != price[i / n * n] + price[i % n] - price[0]) return false;
    return true;
}

static bool same_table(const struct joint *j, int a, int b)
{
    for (int i = 0; i < pairs(j); i++)
        if (j->prices[a][i] != j->prices[b][i]) return false;
    return true;
}

// Adds the symbol's column; true if its table needs a row.
static bool add_joint_symbol(struct builder *b, const struct joint *j, int index)
{
    const int64_t *price = j->prices[index];
    int64_t least = INT64_MAX, greatest = 0;
    for (int earlier = 0; earlier < index; earlier++)
        if (b->used[j->symbols[earlier]] && same_table(j, earlier, index)) {
            b->f->symbol_column[j->symbols[index]] = b->f->symbol_column[j->symbols[earlier]];
            return false;
        }
    for (int i = 0; i < pairs(j); i++) {
        if (price[i] == PRICE_NONE) continue;
        if (price[i] < least) least = price[i];
        if (price[i] > greatest) greatest = price[i];
    }
    if (least == INT64_MAX) return false;
    add_symbol_column(b->f, j->symbols[index], least, greatest);
    return least < greatest;
}

static void add_sum_row(struct builder *b, const struct joint *j, int index)
{
    const int64_t *price = j->prices[index];
    int64_t constant = 0;
    for (int k = 0; k < j->left.count; k++)
        constant += put_key(b, &j->left, k, -(price[k * j->right.count] - price[0]));
    for (int h = 0; h < j->right.count; h++)
        constant += put_key(b, &j->right, h, -(price[h] - price[0]));
    milp_add_entry(&b->f->milp, b->f->symbol_column[j->symbols[index]], 1);
    milp_add_row(&b->f->milp, ROW_SYMBOL, ROW_EQUAL, price[0] - constant);
}

// One unit flows from the left stage's key to the right stage's.
static int *add_flow(struct builder *b, const struct joint *j)
{
    struct milp *m = &b->f->milp;
    int n = j->right.count, *flow = TAKE(b->arena, pairs(j), int);
    for (int i = 0; i < pairs(j); i++)
        flow[i] = j->prices[0][i] == PRICE_NONE
                      ? -1
                      : milp_add_column(m, (struct milp_column){.role = COLUMN_FLOW,
                                                                .a = j->label,
                                                                .b = i / n,
                                                                .c = i % n,
                                                                .upper = 1});
    for (int k = 0; k < j->left.count; k++) {
        int64_t constant = put_key(b, &j->left, k, -1);
        for (int h = 0; h < n; h++)
            if (flow[k * n + h] >= 0) milp_add_entry(m, flow[k * n + h], 1);
        milp_add_row(m, ROW_FLOW, ROW_EQUAL, -constant);
    }
    for (int h = 0; h < n; h++) {
        int64_t constant = put_key(b, &j->right, h, -1);
        for (int k = 0; k < j->left.count; k++)
            if (flow[k * n + h] >= 0) milp_add_entry(m, flow[k * n + h], 1);
        milp_add_row(m, ROW_FLOW, ROW_EQUAL, -constant);
    }
    return flow;
}

static void add_flow_row(struct builder *b, const struct joint *j, int index, const int *flow)
{
    for (int i = 0; i < pairs(j); i++)
        if (flow[i] >= 0) milp_add_entry(&b->f->milp, flow[i], -j->prices[index][i]);
    milp_add_entry(&b->f->milp, b->f->symbol_column[j->symbols[index]], 1);
    milp_add_row(&b->f->milp, ROW_SYMBOL, ROW_EQUAL, 0);
}

static void add_joint(struct builder *b, const struct joint *j)
{
    bool joined = all_joined(j), needs_row[JOINT_SYMBOLS];
    const int *flow = joined ? NULL : add_flow(b, j);
    for (int i = 0; i < j->symbol_count; i++)
        needs_row[i] = b->used[j->symbols[i]] && add_joint_symbol(b, j, i);
    for (int i = 0; i < j->symbol_count; i++) {
        if (!needs_row[i]) continue;
        if (!flow && is_sum(j, j->prices[i])) {
            add_sum_row(b, j, i);
            continue;
        }
        if (!flow) flow = add_flow(b, j);
        add_flow_row(b, j, i, flow);
    }
}

// A boundary's symbols are in series of PART_COUNT, those of a slice together.
static int series_kind(int series)
{
    static const int kinds[SERIES_OF_SLICE] = {SYMBOL_SEND_FORWARD, SYMBOL_SEND_BACKWARD,
                                               SYMBOL_SEND_EPILOGUE};
    return symbol_of_slice(series / SERIES_OF_SLICE, kinds[series % SERIES_OF_SLICE]);
}

static bool price_series(const struct choices *c, int boundary, int series,
                         const struct choice *from, const struct choice *to, int64_t *parts)
{
    int kind = series_kind(series);
    if (symbol_base_kind(kind) == SYMBOL_SEND_FORWARD)
        return choices_send_forward(c, boundary, symbol_slice(kind), from, to, parts);
    return choices_send_backward(c, boundary, symbol_slice(kind), from, to,
                                 symbol_base_kind(kind) == SYMBOL_SEND_EPILOGUE, parts);
}

static void price_pair(struct builder *b, struct joint *j, int boundary, int pair)
{
    const struct state *k = &j->left.keys[pair / j->right.count],
                       *h = &j->right.keys[pair % j->right.count];
    struct choice from = {.group = k->group, .cut = k->cut},
                  to = {.group = h->group, .boundary_option = h->boundary_option};
    int64_t parts[JOINT_SYMBOLS];
    bool joined = true;
    for (int i = 0; i < j->symbol_count; i += PART_COUNT)
        joined = price_series(b->c, boundary, i / PART_COUNT, &from, &to, parts + i) && joined;
    for (int i = 0; i < j->symbol_count; i++) j->prices[i][pair] = joined ? parts[i] : PRICE_NONE;
}

static void add_boundary(struct builder *b, int boundary)
{
    struct joint j = {.label = boundary,
                      .symbol_count = b->p->slice_count * SERIES_OF_SLICE * PART_COUNT};
    j.left = make_side(b, boundary, SEEN_GROUP | SEEN_CUT);
    j.right = make_side(b, boundary + 1, SEEN_GROUP | SEEN_OPTION);
    for (int i = 0; i < j.symbol_count; i++) {
        j.symbols[i] =
            symbol_index(b->p->stage_count, series_kind(i / PART_COUNT) + i % PART_COUNT, boundary);
        j.prices[i] = TAKE(b->arena, pairs(&j), int64_t);
    }
    for (int i = 0; i < pairs(&j); i++) price_pair(b, &j, boundary, i);
    add_joint(b, &j);
}

static void add_embedding_sync(struct builder *b)
{
    int last = b->p->stage_count - 1;
    struct joint j = {.label = last + 1, .symbol_count = 1};
    j.left = make_side(b, 0, SEEN_GROUP);
    j.right = make_side(b, last, SEEN_GROUP);
    j.symbols[0] = symbol_index(b->p->stage_count, SYMBOL_EMBEDDING_SYNC, 0);
    j.prices[0] = TAKE(b->arena, pairs(&j), int64_t);
    for (int i = 0; i < pairs(&j); i++) {
        int from = j.left.keys[i / j.right.count].group, to = j.right.keys[i % j.right.count].group;
        j.prices[0][i] = b->p->embedding_sync_ns[from * b->p->group_count + to];
    }
    add_joint(b, &j);
}

void add_joints(struct builder *b)
{
    for (int s = 0; s + 1 < b->p->stage_count; s++)
        if (schedule_sends(&b->c->schedule->request, s)) add_boundary(b, s);
    if (b->p->has_embedding_sync && b->p->stage_count > 1) add_embedding_sync(b);
}
