// See named.h. The problem by seats: each column is that of the uniform layout with the seat's
// width, on its node group; messages and syncs are the least that any nodes allow.

#include "data/base/least.h"
#include "solve/checker/layout/choices.h"
#include "solve/checker/places/named_tree.h"

enum { NAMED_NUMBERS_MOST = 1 << 23 };

// ---- columns

static const struct check_problem *problem_of(const struct check_named_tree *t, int seat)
{
    return t->x->seats[seat].at->problem;
}

static int64_t *take_column(const struct check_named_tree *t)
{
    return TAKE(t->arena, t->p.group_count, int64_t);
}

// By seat, of the tables that each seat's problem has at this place of its run.
#define COLUMN(to, member)                                                                         \
    do {                                                                                           \
        (to) = take_column(t);                                                                     \
        for (int seat = 0; seat < t->p.group_count; seat++)                                        \
            (to)[seat] = problem_of(t, seat)->runs[run].member[t->x->seats[seat].group];           \
    } while (0)

static void raise_bytes(struct check_run *most, const struct check_run *own)
{
    most->weight_bytes = larger(most->weight_bytes, own->weight_bytes);
    most->gradient_bytes = larger(most->gradient_bytes, own->gradient_bytes);
    most->unsharded_bytes = larger(most->unsharded_bytes, own->unsharded_bytes);
    *most->optimizer_bytes = larger(*most->optimizer_bytes, *own->optimizer_bytes);
    for (int mode = 0; mode < MODES; mode++) {
        most->stash[mode] = larger(most->stash[mode], own->stash[mode]);
        most->working[mode] = larger(most->working[mode], own->working[mode]);
    }
}

static void put_run(struct check_named_tree *t, int run)
{
    struct check_run *r = &t->p.runs[run];
    COLUMN(r->forward, forward);
    COLUMN(r->backward, backward);
    COLUMN(r->weight, weight);
    for (int mode = 0; mode < MODES; mode++)
        if (r->again[mode]) COLUMN(r->again[mode], again[mode]);
    r->optimizer = TAKE(t->arena, 1, int64_t *);
    r->sync = TAKE(t->arena, 1, int64_t *);
    COLUMN(r->optimizer[0], optimizer[0]);
    r->sync[0] = take_column(t);
    r->optimizer_bytes = TAKE_COPY(t->arena, r->optimizer_bytes, 1);
    r->stash = TAKE_COPY(t->arena, r->stash, MODES);
    r->working = TAKE_COPY(t->arena, r->working, MODES);
    r->seats = TAKE(t->arena, t->p.group_count, struct check_run);
    for (int seat = 0; seat < t->p.group_count; seat++) {
        r->seats[seat] = problem_of(t, seat)->runs[run];
        raise_bytes(r, &r->seats[seat]);
    }
}

// ---- groups, and the rules about them

// Replicas that a unit of a node group's room holds: of each of its widths a whole number of units.
static int replicas_of_unit(const struct check_named_tree *t, int group)
{
    int64_t unit = 0;
    for (int seat = 0; seat < t->p.group_count; seat++)
        if (t->x->seats[seat].group == group)
            unit = common_divisor(problem_of(t, seat)->layout.value[KEY_DATA], unit);
    return (int)unit;
}

static void put_groups(struct check_named_tree *t)
{
    t->p.groups = TAKE(t->arena, t->p.group_count, struct check_group);
    for (int seat = 0; seat < t->p.group_count; seat++) {
        const struct check_named_seat *own = &t->x->seats[seat];
        const struct check_problem *p = problem_of(t, seat);
        struct check_group *g = &t->p.groups[seat];
        int unit = replicas_of_unit(t, own->group), room = 0;
        for (int n = 0; n < t->node_count; n++)
            room += t->nodes[n].group == own->group ? t->nodes[n].slots : 0;
        *g = p->groups[own->group];
        g->name = own->name;
        g->tensor = p->layout.value[KEY_TENSOR], g->context = p->layout.value[KEY_CONTEXT];
        g->data = p->layout.value[KEY_DATA];
        g->seat_slots = g->data / unit, g->slots = room / unit;
        g->sync_constant = TAKE(t->arena, 1, int64_t);
    }
}

// A rule about node groups is about all their seats.
static void put_rules(struct check_named_tree *t)
{
    t->p.rules = TAKE_COPY(t->arena, t->p.rules, t->p.rule_count);
    for (int i = 0; i < t->p.rule_count; i++) {
        uint64_t of = t->p.rules[i].groups;
        t->p.rules[i].groups = 0;
        for (int seat = 0; seat < t->p.group_count; seat++)
            if (of >> t->x->seats[seat].group & 1) t->p.rules[i].groups |= (uint64_t)1 << seat;
    }
}

// ---- messages

static void open_cuts(struct check_named_tree *t)
{
    const struct check_cut *from = t->p.cuts;
    int seats = t->p.group_count;
    t->p.cuts = TAKE(t->arena, t->p.cut_count, struct check_cut);
    for (int c = 0; c < t->p.cut_count; c++) {
        struct check_cut *to = &t->p.cuts[c];
        *to = from[c];
        to->message_bytes = 0;
        to->seat_bytes = TAKE(t->arena, seats, int64_t);
        to->forward = TAKE(t->arena, seats * seats * PARTS, int64_t);
        to->backward = TAKE(t->arena, 1, int64_t *);
        to->backward[0] = TAKE(t->arena, seats * seats * PARTS, int64_t);
        for (int i = 0; i < seats * seats * PARTS; i++) to->forward[i] = to->backward[0][i] = -1;
        for (int seat = 0; seat < seats; seat++) {
            to->seat_bytes[seat] = problem_of(t, seat)->cuts[c].message_bytes;
            to->message_bytes = larger(to->message_bytes, to->seat_bytes[seat]);
        }
    }
}

static enum status price_message(struct check_named_tree *t, const int seats[2], const int nodes[2],
                                 const struct reader *r)
{
    int64_t *to = named_message(t, seats, nodes);
    struct check_pair pair = {.forward = to, .backward = to + t->p.cut_count * PARTS};
    bool joined = named_is_of(t, seats[0], nodes[0]) && named_is_of(t, seats[1], nodes[1]) &&
                  (nodes[0] != nodes[1] || t->nodes[nodes[0]].slots > 1);
    if (joined && !t->x->pair(t->x->context, seats, nodes, &joined, &pair))
        return check_refuse(r, "places", "a price beyond what can be counted");
    if (joined) t->blocks = t->blocks && named_blocks(t, to);
    else to[0] = -1;
    return OK;
}

static enum status price_messages(struct check_named_tree *t, const struct reader *r,
                                  uint64_t *work)
{
    int seats = t->p.group_count, n = t->node_count;
    int64_t count = (int64_t)seats * seats * n * n;
    t->blocks = true;
    t->numbers = 2 * t->p.cut_count * PARTS;
    if (count * t->numbers > NAMED_NUMBERS_MOST)
        return fail(r->err, (enum status)NOT_PROVEN, "places.by: more than %d prices of messages",
                    NAMED_NUMBERS_MOST);
    TRY(check_spend(&t->p, work, (uint64_t)(count * t->numbers)));
    t->messages = TAKE(t->arena, count * t->numbers, int64_t);
    for (int64_t i = 0; i < count; i++) {
        const int pair = (int)(i / (n * n)), link = (int)(i % (n * n));
        TRY(price_message(t, (int[2]){pair / seats, pair % seats}, (int[2]){link / n, link % n},
                          r));
    }
    return OK;
}

static void lower(int64_t *table, const int64_t *parts)
{
    for (int k = 0; k < PARTS; k++)
        if (table[k] < 0 || parts[k] < table[k]) table[k] = parts[k];
}

static void least_of_nodes(struct check_named_tree *t)
{
    int seats = t->p.group_count, n = t->node_count;
    for (int pair = 0; pair < seats * seats; pair++)
        for (int link = 0; link < n * n; link++) {
            const int64_t *of = named_message(t, (int[2]){pair / seats, pair % seats},
                                              (int[2]){link / n, link % n});
            for (int c = 0; c < t->p.cut_count && *of >= 0; c++) {
                lower(t->p.cuts[c].forward + pair * PARTS, of + c * PARTS);
                lower(t->p.cuts[c].backward[0] + pair * PARTS, of + (t->p.cut_count + c) * PARTS);
            }
        }
}

// ---- the whole

// What a node holds is a number of replicas, whichever of its group's widths they have. false: it
// is not.
static bool put_nodes(struct check_named_tree *t, const struct check_places *x)
{
    struct check_node *nodes = TAKE_COPY(t->arena, x->nodes, x->node_count);
    t->nodes = nodes, t->node_count = x->node_count;
    for (int n = 0; n < x->node_count; n++) nodes[n].slots = -1;
    for (int seat = 0; seat < t->p.group_count; seat++)
        for (int n = 0; n < x->node_count; n++) {
            int room = t->x->seats[seat].at->nodes[n].slots;
            if (nodes[n].group != t->x->seats[seat].group) continue;
            if (nodes[n].slots >= 0 && nodes[n].slots != room) return false;
            nodes[n].slots = room;
        }
    return true;
}

// Its seats have the same layers, messages, options and modes, and what is not checked they lack.
static enum status check_seats_suit(const struct check_named_tree *t, bool right,
                                    const struct reader *r)
{
    const struct check_problem *first = problem_of(t, 0);
    right = right && first->slices == 1 && first->turns == 1 && !first->head &&
            !first->degree_count && first->boundary_count == 1 && first->gradient_count == 1 &&
            !first->tier_count && !first->modes[MODE_SWAP] && first->stages <= NAMED_STAGES_MOST;
    for (int seat = 0; right && seat < t->p.group_count; seat++) {
        const struct check_problem *p = problem_of(t, seat);
        right = p->run_count == first->run_count && p->cut_count == first->cut_count &&
                !p->embedding && p->layout.value[KEY_DATA] >= 1 &&
                p->layout.value[KEY_DATA] <= NAMED_REPLICAS_MOST;
        for (int run = 0; right && run < p->run_count; run++)
            right = p->runs[run].cut == first->runs[run].cut && !p->runs[run].next;
    }
    return right && first->stages + t->p.group_count < MOST_SEATS
               ? OK
               : fail(r->err, (enum status)NOT_PROVEN,
                      "places.by: widths of this kind have no certificate: expected up to %d "
                      "stages, %d with all seats, whose messages are alike, and no tied ends",
                      NAMED_STAGES_MOST, MOST_SEATS - 1);
}

enum status check_open_named(struct check_named_tree **tree, const struct check_places *x,
                             const struct reader *r, uint64_t *work, struct arena *arena)
{
    struct check_named_tree *t = *tree = TAKE(arena, 1, struct check_named_tree);
    *t = (struct check_named_tree){.x = x->named, .p = *x->problem, .arena = arena};
    t->p.reader = *r;
    t->p.group_count = x->named->seat_count;
    TRY(check_seats_suit(t, put_nodes(t, x), r));
    t->p.devices = 1, t->p.micro_batches = (int)x->micro_batches;
    put_groups(t);
    put_rules(t);
    t->p.runs = TAKE_COPY(arena, t->p.runs, t->p.run_count);
    for (int run = 0; run < t->p.run_count; run++) put_run(t, run);
    open_cuts(t);
    TRY(price_messages(t, r, work));
    least_of_nodes(t);
    TRY(named_least_rings(t, r, work));
    TRY(named_find_alike(t, r, work));
    TRY(check_problem_bytes(&t->p));
    return check_problem_times(&t->p);
}

const struct check_problem *check_named_problem(const struct check_named_tree *t) { return &t->p; }
