// Stages with widths of their own: the documents of uniform layouts, one for each width, put
// together seat by seat, and the messages between unlike widths. docs/FORMULAS.md section 23.

#include <string.h>

#include "data/base/least.h"
#include "formulate/price/pricing.h"

// What one width's uniform layout has.
struct at_width {
    struct priced priced;
    struct pricing *x;
};

struct seating {
    const struct problem *problem;
    struct priced *priced;
    struct seat *seats;
    int count;
    struct at_width **at; // [seat]; seats of one width share it
    bool named;           // nodes have names: ends of messages are nodes, not groups
    struct arena *arena;
};

static bool same_width(const struct seat *a, const struct seat *b)
{
    return a->tensor == b->tensor && a->context == b->context && a->data == b->data;
}

static enum status price_widths(struct seating *s, struct error *err)
{
    for (int i = 0; i < s->count; i++) {
        for (int k = 0; k < i && !s->at[i]; k++)
            if (same_width(&s->seats[i], &s->seats[k])) s->at[i] = s->at[k];
        if (s->at[i]) continue;
        struct problem *one = TAKE(s->arena, 1, struct problem);
        *one = problem_at_seat(s->problem, &s->seats[i]);
        s->at[i] = TAKE(s->arena, 1, struct at_width);
        TRY(price_terms_kept(&s->at[i]->x, &s->at[i]->priced, one, NULL, false, s->arena, err));
    }
    for (int i = 0; i < s->count; i++)
        if (s->at[i]->priced.cut_count != s->at[0]->priced.cut_count)
            return refuse(err, "widths: messages are alike at one width and not at another");
    return OK;
}

static const struct priced *document_of(const struct seating *s, int seat)
{
    return &s->at[seat]->priced;
}

// ---- groups

// Slots of a node group are as many devices as all its seats are multiples of.
static int64_t devices_of_slot(const struct seating *s, int group)
{
    int64_t all = 0;
    for (int i = 0; i < s->count; i++)
        if (s->seats[i].group == group) all = common_divisor(seat_devices(&s->seats[i]), all);
    return all;
}

static void put_groups(struct seating *s)
{
    struct priced *p = s->priced;
    p->group_count = s->count;
    p->groups = TAKE(s->arena, s->count, struct priced_group);
    for (int i = 0; i < s->count; i++) {
        const struct seat *seat = &s->seats[i];
        const struct node_group *nodes = &s->problem->cluster.groups[seat->group];
        int64_t each = devices_of_slot(s, seat->group);
        struct priced_group *to = &p->groups[i];
        *to = document_of(s, i)->groups[seat->group];
        to->name = seat->name, to->node_group = nodes->name;
        to->tensor = seat->tensor, to->context = seat->context, to->data = seat->data;
        to->seat_slots = (int)(seat_devices(seat) / each);
        to->slots = (int)((int64_t)nodes->nodes * nodes->gpus_per_node / each);
    }
    priced_find_pools(p);
}

// ---- runs: every price of a seat is that of its width's document on its group

static int64_t *column(const struct seating *s, int run, size_t member)
{
    int64_t *to = TAKE(s->arena, s->count, int64_t);
    for (int i = 0; i < s->count; i++) {
        const struct priced_run *own = &document_of(s, i)->runs[run];
        to[i] = (*(int64_t *const *)((const char *)own + member))[s->seats[i].group];
    }
    return to;
}

static void raise_bytes(struct priced_run *most, const struct priced_run *own)
{
    most->weight_bytes = larger(most->weight_bytes, own->weight_bytes);
    most->gradient_bytes = larger(most->gradient_bytes, own->gradient_bytes);
    most->optimizer_bytes = larger(most->optimizer_bytes, own->optimizer_bytes);
    most->unsharded_bytes = larger(most->unsharded_bytes, own->unsharded_bytes);
    for (int mode = 0; mode < RECOMPUTE_COUNT; mode++) {
        most->stash_bytes[mode] = larger(most->stash_bytes[mode], own->stash_bytes[mode]);
        most->working_bytes[mode] = larger(most->working_bytes[mode], own->working_bytes[mode]);
    }
}

static void put_run(struct seating *s, int run)
{
    const struct priced *first = document_of(s, 0);
    struct priced_run *to = &s->priced->runs[run];
    struct priced_run *bytes = TAKE(s->arena, s->count, struct priced_run);
    *to = first->runs[run];
    to->forward_ns = column(s, run, offsetof(struct priced_run, forward_ns));
    to->backward_ns = column(s, run, offsetof(struct priced_run, backward_ns));
    to->weight_ns = column(s, run, offsetof(struct priced_run, weight_ns));
    to->optimizer_ns = column(s, run, offsetof(struct priced_run, optimizer_ns));
    for (int mode = 0; mode < RECOMPUTE_COUNT; mode++)
        if (to->again_ns[mode])
            to->again_ns[mode] =
                column(s, run,
                       offsetof(struct priced_run, again_ns) + (size_t)mode * sizeof *to->again_ns);
    to->sync_ns = TAKE(s->arena, 1, int64_t *);
    to->sync_ns[0] = TAKE(s->arena, s->count, int64_t);
    for (int i = 0; i < s->count; i++) {
        const struct priced_run *own = &document_of(s, i)->runs[run];
        to->sync_ns[0][i] = own->sync_ns[0][s->seats[i].group];
        bytes[i] = *own;
        raise_bytes(to, own);
    }
    priced_put_seats(to, bytes, s->count, s->arena);
}

static bool is_used(const struct seating *s, int seat) { return !s->priced->groups[seat].excluded; }

// ---- messages

// The parts of one direction at one end: what its devices send or receive, over the link as their
// width shares it. copies: of what a device sends.
struct one_end {
    const struct seating *s;
    int seat, from, to; // groups of the cluster, or nodes
    int cut;
};

static enum status price_end(const struct one_end *e, real copies, int64_t *forward,
                             int64_t *backward, bool *joined, struct error *err)
{
    const struct pricing *x = e->s->at[e->seat]->x;
    struct message m = x->messages[e->cut];
    struct message_ends ends = e->s->named ? ends_of_nodes(x, e->from, e->to)
                                           : ends_of_stages(x, e->from, e->to);
    m.bytes *= copies;
    *joined = ends.there.joined;
    return price_message(x, &m, &ends, 0, forward, &backward, 0, err);
}

// Where tensor ranks hold the same message, a device of fewer ranks sends it to several of more.
static real copies_of(const struct seating *s, int from, int to, int cut)
{
    bool split = s->problem->job.layout.sequence_parallel ||
                 s->at[from]->x->messages[cut].scattered;
    real more = (real)s->seats[to].tensor / s->seats[from].tensor;
    return split || more < 1 ? 1 : more;
}

static void take_longer(int64_t *to, const int64_t *a, const int64_t *b)
{
    for (int part = 0; part < PART_COUNT; part++) to[part] = larger(a[part], b[part]);
}

// ends: the cluster's groups, or nodes, that the two stages are on.
static enum status price_unlike(const struct seating *s, int cut, int from, int to,
                                const int ends[2], int64_t *forward, int64_t *backward,
                                struct error *err)
{
    struct one_end sends = {s, from, ends[0], ends[1], cut}, takes = {s, to, ends[0], ends[1], cut};
    int64_t f[2][PART_COUNT] = {{0}}, b[2][PART_COUNT] = {{0}}, unused[PART_COUNT] = {0};
    bool joined[2];
    TRY(price_end(&sends, copies_of(s, from, to, cut), f[0], unused, &joined[0], err));
    TRY(price_end(&takes, 1, f[1], unused, &joined[1], err));
    TRY(price_end(&sends, 1, unused, b[0], &joined[0], err));
    TRY(price_end(&takes, copies_of(s, to, from, cut), unused, b[1], &joined[1], err));
    if (joined[0] && joined[1] && is_used(s, from) && is_used(s, to)) {
        take_longer(forward, f[0], f[1]);
        take_longer(backward, b[0], b[1]);
        return OK;
    }
    for (int part = 0; part < PART_COUNT; part++) forward[part] = backward[part] = PRICE_NONE;
    return OK;
}

// ---- nodes that have names: prices between two seats by pairs of nodes

static enum status price_hops(struct seating *s, int cut, int from, int to, struct priced_hops *h,
                              struct error *err)
{
    const struct priced_places *p = document_of(s, from)->places;
    int nodes = p->node_count;
    if (same_width(&s->seats[from], &s->seats[to])) return *h = p->cuts[cut], OK;
    h->forward_ns = TAKE(s->arena, nodes * nodes * PART_COUNT, int64_t);
    h->backward_ns = TAKE(s->arena, 1, int64_t *);
    h->backward_ns[0] = TAKE(s->arena, nodes * nodes * PART_COUNT, int64_t);
    for (int pair = 0; pair < nodes * nodes; pair++) {
        const int ends[2] = {pair / nodes, pair % nodes};
        int64_t *there = h->forward_ns + pair * PART_COUNT,
                *back = h->backward_ns[0] + pair * PART_COUNT;
        for (int part = 0; part < PART_COUNT; part++) there[part] = back[part] = PRICE_NONE;
        // At the one's width a node of the other's group may have room for nothing.
        bool room = ends[0] != ends[1] || p->nodes[ends[0]].slots > 1;
        if (room && p->nodes[ends[0]].group == s->seats[from].group &&
            p->nodes[ends[1]].group == s->seats[to].group)
            TRY(price_unlike(s, cut, from, to, ends, there, back, err));
    }
    return OK;
}

static enum status put_nodes(struct seating *s, struct error *err)
{
    struct priced_seat_nodes *x = TAKE(s->arena, 1, struct priced_seat_nodes);
    int count = s->count;
    x->seat_count = count;
    x->of = TAKE(s->arena, count, const struct priced *);
    x->cuts = TAKE(s->arena, count * count, struct priced_hops *);
    for (int i = 0; i < count; i++) x->of[i] = document_of(s, i);
    for (int pair = 0; pair < count * count; pair++) {
        x->cuts[pair] = TAKE(s->arena, s->priced->cut_count, struct priced_hops);
        for (int cut = 0; cut < s->priced->cut_count; cut++)
            TRY(price_hops(s, cut, pair / count, pair % count, &x->cuts[pair][cut], err));
    }
    s->priced->seat_nodes = x;
    return OK;
}

// The least of each part over the pairs of nodes of two groups, PRICE_NONE where none is joined.
static void least_over_nodes(const struct priced_places *p, const int groups[2],
                             const int64_t *nodes_ns, int64_t *least)
{
    for (int part = 0; part < PART_COUNT; part++) least[part] = PRICE_NONE;
    for (int pair = 0; pair < p->node_count * p->node_count; pair++)
        for (int part = 0; part < PART_COUNT; part++) {
            int64_t ns = nodes_ns[pair * PART_COUNT + part];
            bool of = p->nodes[pair / p->node_count].group == groups[0] &&
                      p->nodes[pair % p->node_count].group == groups[1];
            if (of && ns != PRICE_NONE && (least[part] == PRICE_NONE || ns < least[part]))
                least[part] = ns;
        }
}

static enum status put_pair(struct seating *s, int cut, int from, int to, struct error *err)
{
    struct priced_cut *c = &s->priced->cuts[cut];
    size_t at = (size_t)(from * s->count + to) * PART_COUNT;
    const int ends[2] = {s->seats[from].group, s->seats[to].group};
    const struct priced *own = document_of(s, from);
    if (s->named) {
        const struct priced_hops *h = &s->priced->seat_nodes->cuts[from * s->count + to][cut];
        least_over_nodes(own->places, ends, h->forward_ns, c->forward_ns + at);
        least_over_nodes(own->places, ends, h->backward_ns[0], c->backward_ns[0] + at);
        return OK;
    }
    if (!same_width(&s->seats[from], &s->seats[to]))
        return price_unlike(s, cut, from, to, ends, c->forward_ns + at, c->backward_ns[0] + at,
                            err);
    size_t of = (size_t)(ends[0] * own->group_count + ends[1]) * PART_COUNT;
    memcpy(c->forward_ns + at, own->cuts[cut].forward_ns + of, PART_COUNT * sizeof(int64_t));
    memcpy(c->backward_ns[0] + at, own->cuts[cut].backward_ns[0] + of,
           PART_COUNT * sizeof(int64_t));
    return OK;
}

static enum status put_cuts(struct seating *s, struct error *err)
{
    struct priced *p = s->priced;
    int pairs = s->count * s->count;
    p->cuts = TAKE(s->arena, p->cut_count, struct priced_cut);
    for (int cut = 0; cut < p->cut_count; cut++) {
        struct priced_cut *to = &p->cuts[cut];
        to->feedback_bytes = TAKE(s->arena, 1, int64_t);
        to->seat_bytes = TAKE(s->arena, s->count, int64_t);
        to->forward_ns = TAKE(s->arena, pairs * PART_COUNT, int64_t);
        to->backward_ns = TAKE(s->arena, 1, int64_t *);
        to->backward_ns[0] = TAKE(s->arena, pairs * PART_COUNT, int64_t);
        for (int i = 0; i < s->count; i++) {
            to->seat_bytes[i] = document_of(s, i)->cuts[cut].message_bytes;
            to->message_bytes = larger(to->message_bytes, to->seat_bytes[i]);
        }
        for (int pair = 0; pair < pairs; pair++)
            TRY(put_pair(s, cut, pair / s->count, pair % s->count, err));
    }
    return OK;
}

// What the message before a measured layer takes of a stage that begins with it, if it is stated.
static enum status put_entry(struct seating *s, int run, int64_t entry_ns[2], int seat,
                             struct error *err)
{
    const struct pricing *x = s->at[seat]->x;
    const struct measured_bytes *own = find_measured(x, &s->problem->model.runs[run]);
    struct message m = x->messages[s->priced->runs[run].cut];
    struct message_ends ends = ends_of_stages(x, s->seats[seat].group, s->seats[seat].group);
    int64_t there[PART_COUNT] = {0}, back[PART_COUNT] = {0}, *to = back;
    m.bytes = (real)own->entry_bytes, m.returns = true;
    if (!ends.there.joined) return OK;
    TRY(price_message(x, &m, &ends, 0, there, &to, 0, err));
    entry_ns[0] = there[PART_BLOCKING] + there[PART_OVERHEAD] + back[PART_BLOCKING] +
                  back[PART_OVERHEAD];
    entry_ns[1] = larger(there[PART_LINK], back[PART_LINK]);
    return OK;
}

static enum status put_entries(struct seating *s, struct error *err)
{
    for (int run = 0; run < s->priced->run_count; run++) {
        const struct layer_run *of = &s->problem->model.runs[run];
        int64_t *ns = TAKE(s->arena, 2 * s->count, int64_t), both[2] = {0};
        if (of->kind != LAYER_MEASURED || !of->measured.entry_bytes) continue;
        for (int i = 0; i < s->count; i++) {
            TRY(put_entry(s, run, both, i, err));
            ns[i] = both[0], ns[s->count + i] = both[1];
        }
        s->priced->runs[run].entry_ns = ns;
    }
    return OK;
}

// The tied embeddings' sum takes as long as the slower end's width makes it.
static void put_embedding(struct seating *s)
{
    struct priced *p = s->priced;
    p->embedding_sync_ns = TAKE(s->arena, s->count * s->count, int64_t);
    for (int pair = 0; pair < s->count * s->count; pair++) {
        int first = pair / s->count, last = pair % s->count;
        const struct priced *a = document_of(s, first), *b = document_of(s, last);
        int at = s->seats[first].group * a->group_count + s->seats[last].group;
        int64_t one = a->embedding_sync_ns[at], other = b->embedding_sync_ns[at];
        p->embedding_sync_ns[pair] = larger(one, other);
        if (one == PRICE_NONE || other == PRICE_NONE || !is_used(s, first) || !is_used(s, last))
            p->embedding_sync_ns[pair] = PRICE_NONE;
    }
}

// A link is there or not whatever a group's room is at the other end's width.
static enum status join_all(struct seating *s, struct error *err)
{
    for (int i = 0; i < s->count; i++) {
        struct priced *own = &s->at[i]->priced;
        for (int g = 0; g < own->group_count; g++) own->groups[g].excluded = NULL;
    }
    for (int i = 0; i < s->count; i++) TRY(price_embedding_sync(s->at[i]->x, err));
    return OK;
}

// Rules that name node groups are of all their seats.
static void put_rules(struct seating *s)
{
    struct priced *p = s->priced;
    p->rules = TAKE_COPY(s->arena, p->rules, p->rule_count);
    for (int r = 0; r < p->rule_count; r++) {
        struct rule *rule = &p->rules[r];
        const struct rule *from = &document_of(s, 0)->rules[r];
        rule->groups = TAKE(s->arena, s->count + 1, const char *);
        rule->group_count = 0;
        for (int i = 0; i < s->count; i++)
            for (int k = 0; k < from->group_count; k++)
                if (!strcmp(from->groups[k], p->groups[i].node_group))
                    rule->groups[rule->group_count++] = p->groups[i].name;
    }
}

enum status price_seats(struct priced *priced, const struct problem *problem, struct arena *arena,
                        struct error *err)
{
    struct seating s = {.problem = problem, .priced = priced, .arena = arena};
    s.count = problem_seats(problem, &s.seats, arena);
    s.at = TAKE(arena, s.count, struct at_width *);
    s.named = problem->cluster.places.node_count > 0;
    TRY(price_widths(&s, err));
    *priced = *document_of(&s, 0);
    priced->layout = problem->job.layout;
    priced->places = NULL;
    priced->devices_per_stage = 1;
    priced->in_turn = problem->job.replicas == REPLICAS_IN_TURN;
    priced->recompute_any = problem->job.recompute_any;
    priced->micro_batches = job_micro_batches(&problem->job);
    priced->width_per_group = problem->job.stage_degrees == DEGREES_PER_GROUP;
    put_groups(&s);
    put_rules(&s);
    priced->runs = TAKE(arena, priced->run_count, struct priced_run);
    for (int run = 0; run < priced->run_count; run++) put_run(&s, run);
    TRY(join_all(&s, err));
    put_embedding(&s);
    if (s.named) TRY(put_nodes(&s, err));
    TRY(put_cuts(&s, err));
    return put_entries(&s, err);
}
