// The dynamic programme of a round: see mix.h. A cell is (uses of the counted resources, covered
// layers) at one side of a boundary. Forward it holds the least cost of the stages before,
// backward that of the stages after; a choice's own bound is the least sum of the two around it.
#include <string.h>

#include "data/base/grow.h"
#include "solve/checker/boxes/internal.h"
#include "solve/checker/layout/plan.h"

// ---- the sides of boundaries and the classes of uses

static int find_side(struct side *sides, int *count, int group, int detail, int choice)
{
    int i = 0;
    while (i < *count && (sides[i].group != group || sides[i].detail != detail)) i++;
    if (i == *count) sides[(*count)++] = (struct side){group, detail, choice};
    return i;
}

static bool uses_alike(const struct check_mixer *m, int s, const struct check_choice *a,
                       const struct check_choice *b)
{
    for (int r = 0; r < check_resource_count(m->p); r++)
        if (m->limit[r] >= 0 && check_use(m->p, s, r, a) != check_use(m->p, s, r, b)) return false;
    return true;
}

// The class of a choice's uses, added if new; its array grows.
static int find_class(struct check_mixer *m, int s, const struct check_choice *items, int i,
                      int *room)
{
    struct mix_stage *t = &m->stages[s];
    int k = 0;
    while (k < t->class_count && !uses_alike(m, s, &items[t->class_choice[k]], &items[i])) k++;
    if (k < t->class_count) return k;
    GROW(m->arena, t->class_choice, k, *room, 16);
    t->class_choice[t->class_count++] = i;
    return k;
}

static enum status open_stage(struct check_mixer *m, int s)
{
    const struct check_problem *p = m->p;
    const struct check_choice *items = m->c->items[s];
    struct mix_stage *t = &m->stages[s];
    int count = m->c->count[s], room = 0;
    t->left = TAKE(m->arena, p->group_count * p->cut_count, struct side);
    t->right = TAKE(m->arena, p->group_count * p->boundary_count, struct side);
    t->left_of = TAKE(m->arena, count, int);
    t->right_of = TAKE(m->arena, count, int);
    t->class_of = TAKE(m->arena, count, int);
    for (int i = 0; i < count; i++) {
        TRY(check_spend(p, m->c->work,
                        (uint64_t)(8 + t->left_count + t->right_count + t->class_count)));
        t->left_of[i] = find_side(t->left, &t->left_count, items[i].group, items[i].cut, i);
        t->right_of[i] = find_side(t->right, &t->right_count, items[i].group, items[i].boundary, i);
        t->class_of[i] = find_class(m, s, items, i, &room);
    }
    return OK;
}

enum status check_open_mixer(struct check_mixer **mixer, const struct check_choices *c,
                             const bool *counted, struct arena *arena)
{
    const struct check_problem *p = c->p;
    struct check_mixer *m = *mixer = TAKE(arena, 1, struct check_mixer);
    *m = (struct check_mixer){.c = c, .p = p, .use_count = 1, .arena = arena};
    for (int r = 0; r < check_resource_count(p); r++) {
        int64_t limit = check_resource_limit(p, r);
        m->limit[r] = -1;
        if (!counted[r] || limit < 0 ||
            (r < p->group_count + BUDGET_COST && limit >= check_most_use(p, r)))
            continue; // it cannot bind
        if (limit >= USES_MOST || (int64_t)m->use_count * (limit + 1) > USES_MOST)
            return check_refuse(&p->reader, "counted",
                                "more combinations of uses than are checked");
        m->limit[r] = limit;
        m->stride[r] = m->use_count;
        m->use_count *= (int)limit + 1;
    }
    m->row_of = TAKE(arena, m->use_count, int);
    m->stages = TAKE(arena, p->stages + 1, struct mix_stage);
    for (int s = 0; s < p->stages; s++) TRY(open_stage(m, s));
    return OK;
}

// ---- what can be reached

// Which numbers of layers can be covered before each stage. false: none can.
static bool bound_layers(struct check_mixer *m, const struct check_box *box)
{
    const struct check_problem *p = m->p;
    int least[MOST_STAGES], most[MOST_STAGES], rest_least = 0, rest_most = 0;
    m->stages[0].low = m->stages[0].high = 0;
    for (int s = 0; s < p->stages; s++) {
        least[s] = p->layers + 1;
        most[s] = 0;
        for (int i = 0; i < box->count[s]; i++) {
            int layers = m->c->items[s][box->left[s][i]].layers;
            if (layers < least[s]) least[s] = layers;
            if (layers > most[s]) most[s] = layers;
        }
        if (least[s] > p->layers) return false;
        m->stages[s + 1].low = m->stages[s].low + least[s];
        m->stages[s + 1].high = m->stages[s].high + most[s];
    }
    for (int s = p->stages; s >= 0; s--) {
        struct mix_stage *t = &m->stages[s];
        if (t->low < p->layers - rest_most) t->low = p->layers - rest_most;
        if (t->high > p->layers - rest_least) t->high = p->layers - rest_least;
        if (t->low > t->high) return false;
        if (s > 0) rest_least += least[s - 1], rest_most += most[s - 1];
    }
    return true;
}

// Uses after a stage, from those before it; -1: over a limit.
static int use_choice(const struct check_mixer *m, int s, const struct check_choice *c, int uses)
{
    int to = uses;
    for (int r = 0; r < check_resource_count(m->p); r++) {
        if (m->limit[r] < 0) continue;
        int64_t use = check_use(m->p, s, r, c), before = uses / m->stride[r] % (m->limit[r] + 1);
        if (before + use > m->limit[r]) return -1;
        to += (int)use * m->stride[r];
    }
    return to;
}

// Rows before stage s + 1, and where each class of s leads.
static void find_rows(struct check_mixer *m, const struct check_box *box, int s, bool counts)
{
    struct mix_stage *t = &m->stages[s], *behind = &m->stages[s + 1];
    bool *used = TAKE(m->arena, t->class_count, bool);
    for (int i = 0; i < box->count[s]; i++) used[t->class_of[box->left[s][i]]] = true;
    for (int u = 0; u < m->use_count; u++) m->row_of[u] = -1;
    behind->rows = TAKE(m->arena, m->use_count, int);
    behind->row_count = 0;
    t->target = TAKE(m->arena, (size_t)t->class_count * (size_t)t->row_count, int);
    for (int k = 0; k < t->class_count; k++)
        for (int row = 0; row < t->row_count && used[k]; row++) {
            const struct check_choice *c = &m->c->items[s][t->class_choice[k]];
            int uses = counts ? use_choice(m, s, c, t->rows[row]) : 0;
            if (uses >= 0 && m->row_of[uses] < 0) {
                m->row_of[uses] = behind->row_count;
                behind->rows[behind->row_count++] = uses;
            }
            t->target[k * t->row_count + row] = uses < 0 ? -1 : m->row_of[uses];
        }
}

static int width(const struct mix_stage *t) { return t->high - t->low + 1; }
static size_t cells(const struct mix_stage *t, int sides)
{
    return (size_t)sides * (size_t)t->row_count * (size_t)width(t);
}
static int64_t *row_at(int64_t *table, const struct mix_stage *t, int side, int row)
{
    return table + ((size_t)side * (size_t)t->row_count + (size_t)row) * (size_t)width(t);
}

// All rows, with the memory and work that the tables need.
static enum status find_all_rows(struct check_mixer *m, const struct check_box *box, bool counts)
{
    const struct check_problem *p = m->p;
    size_t total = 0;
    m->stages[0].rows = TAKE(m->arena, 1, int);
    m->stages[0].row_count = 1;
    for (int s = 0; s < p->stages; s++) {
        struct mix_stage *t = &m->stages[s];
        TRY(check_spend(p, m->c->work,
                        (uint64_t)m->use_count +
                            (uint64_t)t->class_count * (uint64_t)t->row_count * RESOURCES_MOST));
        find_rows(m, box, s, counts);
        uint64_t pairs = s ? (uint64_t)m->stages[s - 1].left_count * (uint64_t)t->right_count : 0;
        TRY(check_spend(p, m->c->work,
                        3 * ((uint64_t)box->count[s] + pairs) * (uint64_t)t->row_count *
                            (uint64_t)width(t)));
        total += cells(t, t->right_count) + 2 * cells(&m->stages[s + 1], t->left_count);
        if (total > CELLS_MOST)
            return fail(p->reader.err, (enum status)NOT_PROVEN,
                        "a box needs a larger table than is checked");
    }
    return OK;
}

// ---- the walk

static int64_t *take_table(const struct check_mixer *m, const struct mix_stage *t, int sides)
{
    size_t count = cells(t, sides);
    int64_t *table = TAKE(m->arena, count, int64_t);
    for (size_t i = 0; i < count; i++) table[i] = UNREACHED;
    return table;
}

void mix_lower(int64_t *restrict to, const int64_t *restrict from, int64_t cost, int count)
{
    for (int n = 0; n < count; n++) {
        int64_t value = from[n] + cost;
        to[n] = value < to[n] ? value : to[n];
    }
}

// The range of layers covered before stage s from which some choice can continue: [*first, *last].
static bool find_span(const struct check_mixer *m, int s, const struct check_choice *c, int *first,
                      int *last)
{
    const struct mix_stage *t = &m->stages[s], *behind = &m->stages[s + 1];
    *first = t->low > behind->low - c->layers ? t->low : behind->low - c->layers;
    *last = t->high < behind->high - c->layers ? t->high : behind->high - c->layers;
    int from = c->first < 0 ? -1 - c->first : c->first;
    if (*first < from) *first = from;
    if (*last > c->first && c->first >= 0) *last = c->first;
    return *first <= *last;
}

// leave[left][row][covered] after stage s.
static void pass_stage(struct check_mixer *m, const struct check_box *box, int s, int64_t *leave)
{
    struct mix_stage *t = &m->stages[s], *behind = &m->stages[s + 1];
    for (int i = 0; i < box->count[s]; i++) {
        int number = box->left[s][i], first, last;
        const struct check_choice *c = &m->c->items[s][number];
        if (t->cost[i] >= UNREACHED || !find_span(m, s, c, &first, &last)) continue;
        for (int row = 0; row < t->row_count; row++) {
            int to = t->target[t->class_of[number] * t->row_count + row];
            if (to >= 0)
                mix_lower(row_at(leave, behind, t->left_of[number], to) + first + c->layers -
                              behind->low,
                          row_at(t->enter, t, t->right_of[number], row) + first - t->low,
                          t->cost[i], last - first + 1);
        }
    }
}

static void pass_boundary(struct check_mixer *m, int s, int64_t *to, int64_t *from, bool back)
{
    struct mix_stage *before = &m->stages[s - 1], *t = &m->stages[s];
    for (int l = 0; l < before->left_count; l++)
        for (int r = 0; r < t->right_count; r++) {
            int64_t cost = t->boundary[l * t->right_count + r];
            if (cost >= UNREACHED) continue;
            for (int row = 0; row < t->row_count; row++)
                mix_lower(row_at(to, t, back ? l : r, row), row_at(from, t, back ? r : l, row),
                          cost, width(t));
        }
}

// The least cost of a complete decision.
static int64_t walk_forward(struct check_mixer *m, const struct check_box *box)
{
    const struct check_problem *p = m->p;
    int64_t *leave = NULL, least = UNREACHED;
    for (int s = 0; s < p->stages; s++) {
        struct mix_stage *t = &m->stages[s];
        t->enter = take_table(m, t, t->right_count);
        if (s == 0) memset(t->enter, 0, cells(t, t->right_count) * sizeof *t->enter);
        else pass_boundary(m, s, t->enter, leave, false);
        leave = take_table(m, &m->stages[s + 1], t->left_count);
        pass_stage(m, box, s, leave);
    }
    size_t count = cells(&m->stages[p->stages], m->stages[p->stages - 1].left_count);
    for (size_t i = 0; i < count; i++) least = leave[i] < least ? leave[i] : least;
    return least;
}

// The least cost of a complete decision through one choice; lowers inner[right][row][covered] by
// the part after it.
static int64_t bound_choice(struct check_mixer *m, int s, const struct check_choice *c, int number,
                            int64_t cost, int64_t *behind, int64_t *inner)
{
    struct mix_stage *t = &m->stages[s], *next = &m->stages[s + 1];
    int64_t least = UNREACHED;
    int first, last;
    if (cost >= UNREACHED || !find_span(m, s, c, &first, &last)) return least;
    for (int row = 0; row < t->row_count; row++) {
        int to = t->target[t->class_of[number] * t->row_count + row], count = last - first + 1;
        if (to < 0) continue;
        const int64_t *back = row_at(behind, next, t->left_of[number], to) + first + c->layers -
                              next->low,
                      *enter = row_at(t->enter, t, t->right_of[number], row) + first - t->low;
        for (int n = 0; n < count; n++)
            least = enter[n] + back[n] < least ? enter[n] + back[n] : least;
        mix_lower(row_at(inner, t, t->right_of[number], row) + first - t->low, back, cost, count);
    }
    return least < UNREACHED ? least + cost : UNREACHED;
}

// Keeps the choices whose bound is at most `most`.
static void thin_out(struct check_mixer *m, struct check_box *box, int64_t most)
{
    const struct check_problem *p = m->p;
    const struct mix_stage *end = &m->stages[p->stages];
    int64_t *behind =
        TAKE(m->arena, cells(end, m->stages[p->stages - 1].left_count), int64_t); // all zero
    for (int s = p->stages - 1; s >= 0; s--) {
        struct mix_stage *t = &m->stages[s];
        int64_t *inner = take_table(m, t, t->right_count);
        int kept = 0;
        for (int i = 0; i < box->count[s]; i++) {
            int number = box->left[s][i];
            int64_t bound =
                bound_choice(m, s, &m->c->items[s][number], number, t->cost[i], behind, inner);
            if (bound <= most) box->left[s][kept++] = number;
        }
        box->count[s] = kept;
        if (s == 0) return;
        behind = take_table(m, t, m->stages[s - 1].left_count);
        pass_boundary(m, s, behind, inner, true);
    }
}

static enum status use_stages(struct check_mixer *m, struct check_box *box, bool counts,
                              int64_t most, bool *closed)
{
    TRY(find_all_rows(m, box, counts));
    *closed = walk_forward(m, box) > most;
    if (!*closed) thin_out(m, box, most);
    return OK;
}

enum status check_use_round(struct check_mixer *m, struct check_box *box,
                            const struct check_round *round, int64_t bound_ns, bool *closed)
{
    struct arena_mark mark = arena_set_mark(m->arena);
    *closed = true;
    if (bound_layers(m, box)) {
        // A plan below the bound costs at most (bound - 1) 2^40; with prices alone, any existing
        // plan costs at most 0.
        TRY(mix_price(m, box, round));
        wide unit = (wide)1 << WEIGHT_SHIFT, most = ((bound_ns < 0 ? 0 : (bound_ns - 1) * unit) +
                                                     m->priced_limits - round->excess) >>
                                                    m->shift;
        int64_t kept = most < 0 ? -1 : most < UNREACHED ? (int64_t)most : UNREACHED - 1;
        if (round->by_ranks) TRY(mix_use_ranks(m, box, round, kept, closed));
        else TRY(use_stages(m, box, round->counts, kept, closed));
    }
    for (int s = 0; s < m->p->stages && !*closed; s++) *closed = box->count[s] == 0;
    for (int s = 0; s < m->p->stages && *closed; s++) box->count[s] = 0;
    arena_reset(m->arena, mark);
    return OK;
}
