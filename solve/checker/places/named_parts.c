// Parts of the tree of named.h: where the next stage can stand, and the problem of a part.
#include <string.h>

#include "data/base/least.h"
#include "solve/checker/places/named_tree.h"
#include "solve/checker/places/relaxing.h"

// ---- nodes that no price tells apart

static bool same_message(const struct check_named_tree *t, const int seats[2], const int a[2],
                         const int b[2])
{
    const int64_t *one = named_message(t, seats, a), *other = named_message(t, seats, b);
    if (*one < 0 || *other < 0) return (*one < 0) == (*other < 0);
    return !memcmp(one, other, (size_t)t->numbers * sizeof *one);
}

static bool same_messages(const struct check_named_tree *t, int a, int b)
{
    int seats = t->p.group_count;
    for (int pair = 0; pair < seats * seats; pair++) {
        const int of[2] = {pair / seats, pair % seats};
        if (!same_message(t, of, (int[2]){a, b}, (int[2]){b, a}) ||
            !same_message(t, of, (int[2]){a, a}, (int[2]){b, b}))
            return false;
        for (int n = 0; n < t->node_count; n++)
            if (n != a && n != b &&
                (!same_message(t, of, (int[2]){a, n}, (int[2]){b, n}) ||
                 !same_message(t, of, (int[2]){n, a}, (int[2]){n, b})))
                return false;
    }
    return true;
}

enum status named_find_alike(struct check_named_tree *t, const struct reader *r, uint64_t *work)
{
    int n = t->node_count, seats = t->p.group_count;
    t->alike = TAKE(t->arena, n * n, bool);
    for (int a = 0; a < n; a++)
        for (int b = a + 1; b < n; b++) {
            TRY(check_spend(&t->p, work, (uint64_t)seats * (uint64_t)(seats * n * t->numbers)));
            bool same = t->nodes[a].group == t->nodes[b].group &&
                        t->nodes[a].slots == t->nodes[b].slots && same_messages(t, a, b);
            if (same) TRY(named_same_rings(&same, t, a, b, r, work, t->arena));
            t->alike[a * n + b] = t->alike[b * n + a] = same;
        }
    return OK;
}

// ---- ways to stand

struct ways {
    const struct check_named_tree *t;
    const int *used; // [node]: replicas of the stages that stand
    struct check_stand at;
    struct check_stand *items;
    int count;
};

static int taken_on(const struct ways *w, int taken, int node)
{
    int count = w->used[node];
    for (int i = 0; i < taken; i++) count += w->at.node[i] == node;
    return count;
}

// An unused node that could be exchanged for an earlier one, unused as well.
static bool repeats(const struct ways *w, int taken, int node)
{
    for (int other = 0; other < node && !taken_on(w, taken, node); other++)
        if (w->t->alike[other * w->t->node_count + node] && !taken_on(w, taken, other)) return true;
    return false;
}

static void add_ways(struct ways *w, int taken)
{
    if (w->count > NAMED_WAYS_MOST) return;
    if (taken == named_replicas(w->t, w->at.seat)) {
        if (w->count < NAMED_WAYS_MOST) w->items[w->count] = w->at;
        w->count++;
        return;
    }
    for (int node = 0; node < w->t->node_count; node++) {
        if (!named_is_of(w->t, w->at.seat, node) || repeats(w, taken, node) ||
            taken_on(w, taken, node) >= w->t->nodes[node].slots)
            continue;
        w->at.node[taken] = node;
        add_ways(w, taken + 1);
    }
}

enum status check_named_ways(struct check_stand **ways, int *count,
                             const struct check_named_tree *t, const struct check_named_part *part,
                             const struct reader *r, uint64_t *work, struct arena *arena)
{
    int *used = TAKE(arena, t->node_count, int);
    struct ways w = {
        .t = t, .used = used, .items = TAKE(arena, NAMED_WAYS_MOST, struct check_stand)};
    for (int s = 0; s < part->stands; s++)
        for (int i = 0; i < named_replicas(t, part->at[s].seat); i++) used[part->at[s].node[i]]++;
    for (int seat = 0; seat < t->p.group_count; seat++) {
        w.at = (struct check_stand){.seat = seat};
        add_ways(&w, 0);
    }
    *ways = w.items, *count = w.count;
    if (w.count > NAMED_WAYS_MOST)
        return fail(r->err, (enum status)NOT_PROVEN, "places.parts: more than %d ways to stand",
                    NAMED_WAYS_MOST);
    return check_spend(&t->p, work, (uint64_t)(1 + w.count) * (uint64_t)t->node_count);
}

// ---- the problem of a part: a group for each stage that stands, then the seats for the others

struct making {
    struct check_problem *to;
    const struct check_named_tree *t;
    const struct check_named_part *part;
    int seat[MOST_SEATS]; // [group]
    struct arena *arena;
};

static bool stands(const struct making *m, int group) { return group < m->part->stands; }

static int64_t *column(const struct making *m, const int64_t *of_seats)
{
    int64_t *to = TAKE(m->arena, m->to->group_count, int64_t);
    for (int g = 0; g < m->to->group_count; g++) to[g] = of_seats[m->seat[g]];
    return to;
}

static void put_run(const struct making *m, int run)
{
    struct check_run *r = &m->to->runs[run];
    const struct check_run own = *r;
    r->forward = column(m, own.forward), r->backward = column(m, own.backward);
    r->weight = column(m, own.weight);
    for (int mode = 0; mode < MODES; mode++)
        if (own.again[mode]) r->again[mode] = column(m, own.again[mode]);
    r->optimizer = TAKE(m->arena, 1, int64_t *);
    r->optimizer[0] = column(m, own.optimizer[0]);
    r->sync = TAKE(m->arena, 1, int64_t *);
    r->sync[0] = column(m, own.sync[0]);
    r->seats = TAKE(m->arena, m->to->group_count, struct check_run);
    for (int g = 0; g < m->to->group_count; g++) r->seats[g] = own.seats[m->seat[g]];
}

// The first of the problem's groups that takes the same room.
static int first_of_group(const struct making *m, int group)
{
    const struct check_named_seat *seats = m->t->x->seats;
    int first = 0;
    while (seats[m->seat[first]].group != seats[m->seat[group]].group) first++;
    return first;
}

// Whoever stands has its nodes' room; a seat, its node group's.
static void put_groups(const struct making *m)
{
    bool all = m->part->stands == m->to->stages;
    m->to->groups = TAKE(m->arena, m->to->group_count, struct check_group);
    for (int g = 0; g < m->to->group_count; g++) {
        struct check_group *to = &m->to->groups[g];
        *to = m->t->p.groups[m->seat[g]];
        to->of_node_group = first_of_group(m, g) + 1;
        if (!stands(m, g)) continue;
        to->name = arena_print(m->arena, "%s of stage %d", to->name, g);
        to->sync_constant = TAKE_COPY(m->arena, to->sync_constant, 1);
        if (all) to->slots = 1, to->of_node_group = 0, to->seat_slots = 0;
    }
}

static void put_rules(const struct making *m)
{
    struct check_problem *to = m->to;
    const struct check_rule *own = to->rules;
    int stood = m->part->stands, count = to->rule_count;
    to->rules = TAKE(m->arena, count + to->stages, struct check_rule);
    for (int i = 0; i < count; i++) {
        to->rules[i] = own[i];
        if (!own[i].groups) continue;
        to->rules[i].groups = 0;
        for (int g = 0; g < to->group_count; g++)
            if (own[i].groups >> m->seat[g] & 1) to->rules[i].groups |= (uint64_t)1 << g;
        if (!to->rules[i].groups) to->rules[i].groups = (uint64_t)1 << (MOST_SEATS - 1); // none
    }
    for (int s = 0; s < to->stages; s++) {
        struct check_rule *r = &to->rules[to->rule_count++];
        *r = check_rule_about(s);
        for (int g = 0; g < to->group_count; g++)
            if (s < stood ? g == s : g >= stood) r->groups |= (uint64_t)1 << g;
    }
}

// Whether replica i of so many and replica k of so many have a sample in common: they take equal
// parts of a micro-batch in their order.
static bool have_in_common(int i, int of, int k, int of_other)
{
    int begins = larger_int(i * of_other, k * of),
        ends = smaller_int((i + 1) * of_other, (k + 1) * of);
    return begins < ends;
}

static void raise(int64_t *to, const int64_t *message, int numbers)
{
    if (to[0] < 0) return;
    if (message[0] < 0) to[0] = -1;
    for (int i = 0; i < numbers && to[0] >= 0; i++) to[i] = larger(to[i], message[i]);
}

// The slowest of what the replicas of two stages that stand send each other, part by part.
static void between(const struct making *m, const struct check_stand *a,
                    const struct check_stand *b, int64_t *to)
{
    int d = named_replicas(m->t, a->seat), e = named_replicas(m->t, b->seat);
    for (int i = 0; i < d; i++)
        for (int k = 0; k < e; k++)
            if (have_in_common(i, d, k, e))
                raise(to,
                      named_message(m->t, (int[2]){a->seat, b->seat},
                                    (int[2]){a->node[i], b->node[k]}),
                      m->t->numbers);
}

// From a stage that stands to one that may be on any nodes of its seat: each replica sends some.
static void onward(const struct making *m, const struct check_stand *a, int seat, int64_t *to)
{
    int numbers = m->t->numbers;
    int64_t *least = TAKE(m->arena, numbers, int64_t);
    for (int i = 0; i < named_replicas(m->t, a->seat); i++) {
        least[0] = -1;
        for (int node = 0; node < m->t->node_count; node++) {
            const int64_t *own =
                named_message(m->t, (int[2]){a->seat, seat}, (int[2]){a->node[i], node});
            bool first = least[0] < 0;
            for (int k = 0; k < numbers && own[0] >= 0; k++)
                least[k] = first ? own[k] : smaller(least[k], own[k]);
        }
        raise(to, least, numbers);
    }
}

static void put_pair(const struct making *m, int from, int to, int64_t *message)
{
    const struct check_problem *p = m->to;
    int pair = from * p->group_count + to, seats = m->t->p.group_count,
        own = m->seat[from] * seats + m->seat[to], last = m->part->stands - 1;
    const struct check_stand *at = m->part->at;
    bool both = stands(m, to) && to == from + 1, one = from == last && !stands(m, to);
    memset(message, 0, (size_t)m->t->numbers * sizeof *message);
    if (both) between(m, &at[from], &at[to], message);
    if (one) onward(m, &at[from], m->seat[to], message);
    for (int c = 0; c < p->cut_count; c++)
        for (int back = 0; back < 2; back++) {
            const struct check_cut *of = &m->t->p.cuts[c];
            int64_t *table = (back ? p->cuts[c].backward[0] : p->cuts[c].forward) + pair * PARTS;
            const int64_t *least = (back ? of->backward[0] : of->forward) + own * PARTS,
                          *known = message + (back * p->cut_count + c) * PARTS;
            for (int k = 0; k < PARTS; k++)
                table[k] = both || one ? message[0] < 0 ? -1 : known[k] : least[k];
        }
}

static void put_cuts(const struct making *m)
{
    struct check_problem *to = m->to;
    int groups = to->group_count, numbers = groups * groups * PARTS;
    int64_t *message = TAKE(m->arena, m->t->numbers, int64_t);
    to->cuts = TAKE_COPY(m->arena, to->cuts, to->cut_count);
    for (int c = 0; c < to->cut_count; c++) {
        to->cuts[c].seat_bytes = column(m, to->cuts[c].seat_bytes);
        to->cuts[c].forward = TAKE(m->arena, numbers, int64_t);
        to->cuts[c].backward = TAKE(m->arena, 1, int64_t *);
        to->cuts[c].backward[0] = TAKE(m->arena, numbers, int64_t);
    }
    for (int pair = 0; pair < groups * groups; pair++)
        put_pair(m, pair / groups, pair % groups, message);
}

// Whether every plan's graph has the parts of messages that block: it has if any message between
// two of its stages, from the first replica of each, has one that takes time.
static bool all_block(const struct making *m)
{
    for (int a = 0; a < m->part->stands; a++)
        for (int b = 0; b < m->part->stands; b++) {
            const struct check_stand *from = &m->part->at[a], *to = &m->part->at[b];
            if (a != b && named_blocks(m->t, named_message(m->t, (int[2]){from->seat, to->seat},
                                                           (int[2]){from->node[0], to->node[0]})))
                return true;
        }
    return m->t->blocks;
}

static void drop_blocks(const struct making *m)
{
    int numbers = m->to->group_count * m->to->group_count * PARTS;
    for (int c = 0; c < m->to->cut_count; c++)
        for (int k = PART_BLOCKS; k < numbers; k += PARTS) {
            m->to->cuts[c].forward[k] = smaller(m->to->cuts[c].forward[k], 0);
            m->to->cuts[c].backward[0][k] = smaller(m->to->cuts[c].backward[0][k], 0);
        }
}

enum status check_named_part_problem(struct check_problem *to, const struct check_named_tree *t,
                                     const struct check_named_part *part, const struct reader *r,
                                     uint64_t *work, struct arena *arena)
{
    struct making m = {.to = to, .t = t, .part = part, .arena = arena};
    *to = t->p;
    to->reader = *r;
    to->group_count = part->stands + (part->stands < to->stages ? t->p.group_count : 0);
    for (int g = 0; g < to->group_count; g++)
        m.seat[g] = g < part->stands ? part->at[g].seat : g - part->stands;
    TRY(check_spend(to, work,
                    (uint64_t)(to->group_count * to->group_count * t->numbers *
                               NAMED_REPLICAS_MOST * t->node_count)));
    to->node_groups = TAKE(arena, to->group_count, const char *);
    put_groups(&m);
    to->runs = TAKE_COPY(arena, to->runs, to->run_count);
    for (int run = 0; run < to->run_count; run++) put_run(&m, run);
    put_rules(&m);
    put_cuts(&m);
    if (!all_block(&m)) drop_blocks(&m);
    for (int s = 0; s < part->stands; s++) TRY(named_put_ring(to, t, part, s, r, arena));
    return check_problem_times(to);
}
