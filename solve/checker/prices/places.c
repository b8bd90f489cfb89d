// Documents -> input of the checker of placements. A price is the judge's, for a problem with two
// device groups, the ends of the link in question, as the judge audits a replica of a plan
// (solve/judge/places.c).
#include "data/base/least.h"
#include "solve/checker/places/named.h"
#include "solve/checker/prices/open.h"
#include "solve/checker/prices/prices.h"
#include "solve/judge/places.h"

static const double unlimited = 1e18; // bytes per second

struct place_prices {
    const struct problem *problem;
    struct price_audit whole;
    struct problem ranks; // each of its groups is one device group
    struct check_problem *p;
    int *run_of; // [cut]: a run that sends its message
    struct problem pair;
    struct node_group ends[2];
    struct group_link joins[2][2]; // [from][to]: what the groups stand for
    struct joint joints[2][2];     // the same
    struct summed_by summed_by[2];
    struct price_audit of_pair;
    struct doubts doubts;
    bool too_large; // a price was too large
};

static int64_t note(struct place_prices *x, int64_t price)
{
    if (price >= WHOLE_MAX - 1) x->too_large = true;
    return price;
}

// Room for one rank of each replica. What joins it is stated, or it is not joined.
static struct node_group device_group(const struct place_prices *x, int group)
{
    struct node_group one = x->problem->cluster.groups[group];
    one.nodes = layout_of(&x->whole)->data;
    one.gpus_per_node = (int)x->whole.collective;
    one.nic_count = 0;
    return one;
}

static struct cluster cluster_of(const struct place_prices *x, struct node_group *groups,
                                 int group_count, struct group_link *links, int link_count)
{
    struct cluster c = x->problem->cluster;
    c.groups = groups;
    c.group_count = group_count;
    c.links = links;
    c.link_count = link_count;
    c.places = (struct places){0};
    return c;
}

static void open_ranks(struct place_prices *x, struct arena *arena)
{
    int groups = x->problem->cluster.group_count;
    struct node_group *own = TAKE(arena, groups, struct node_group);
    struct group_link *inside = TAKE(arena, groups, struct group_link);
    for (int g = 0; g < groups; g++) {
        own[g] = device_group(x, g);
        inside[g] = (struct group_link){g, g, {unlimited, 0}};
    }
    x->ranks = *x->problem;
    x->ranks.cluster = cluster_of(x, own, groups, inside, groups);
}

static void open_pair(struct place_prices *x, struct arena *arena)
{
    for (int from = 0; from < 2; from++)
        for (int to = 0; to < 2; to++)
            x->joins[from][to] = (struct group_link){.from = from, .to = to},
            x->joints[from][to] = (struct joint){true, false, true, unlimited, 0, 1};
    x->ends[0] = x->ends[1] = device_group(x, 0);
    x->pair = *x->problem;
    x->pair.cluster = cluster_of(x, x->ends, 2, x->joins[0], 4);
    x->of_pair = price_audit_over(&x->pair, &x->whole);
    x->of_pair.joints = x->joints[0];
    x->of_pair.summed_by = x->summed_by;
    x->run_of = TAKE(arena, x->p->cut_count, int);
    for (int run = x->p->run_count - 1; run >= 0; run--) x->run_of[x->p->runs[run].cut] = run;
}

static void take_ends(struct place_prices *x, int from, int to)
{
    const struct cluster_node *nodes = x->problem->cluster.places.nodes;
    x->ends[0] = device_group(x, nodes[from].group);
    x->ends[1] = device_group(x, nodes[to].group);
    x->summed_by[0] = judged_sums(&x->whole, nodes[from].group);
    x->summed_by[1] = judged_sums(&x->whole, nodes[to].group);
    x->too_large = false;
}

// ---- messages

static void price_message(struct place_prices *x, const struct place_prices *receiver,
                          struct sending message, int64_t *to)
{
    int64_t parts[PART_COUNT] = {0};
    resharded_price(&x->of_pair, &receiver->of_pair, message, parts);
    to[PART_BLOCKS] = note(x, parts[PART_BLOCKING]);
    to[PART_LINKS] = note(x, parts[PART_LINK]);
    to[PART_DELAYS] = note(x, parts[PART_DELAY]);
    to[PART_WORKS] = note(x, parts[PART_OVERHEAD]);
}

static bool price_pair(void *context, int from, int to, bool *joined, struct check_pair *prices)
{
    struct place_prices *x = context;
    const struct check_problem *p = x->p;
    take_ends(x, from, to);
    x->joints[0][1] = judged_node_link(&x->whole, from, to);
    x->joints[1][0] = judged_node_link(&x->whole, to, from);
    *joined = x->joints[0][1].joined && x->joints[1][0].joined;
    for (int c = 0; c < p->cut_count && *joined; c++)
        for (int slice = 0; slice < p->slices; slice++) {
            const struct sending there = {
                .run = x->run_of[c], .sender = 0, .receiver = 1, .slice = slice};
            price_message(x, x, there, prices->forward + (c * p->slices + slice) * PARTS);
            for (int o = 0; o < p->boundary_count; o++) {
                const struct sending back = {.run = x->run_of[c],
                                             .sender = 1,
                                             .receiver = 0,
                                             .form = check_form_of(&p->boundary[o]),
                                             .slice = slice,
                                             .backward = true};
                price_message(x, x, back,
                              prices->backward +
                                  ((c * p->boundary_count + o) * p->slices + slice) * PARTS);
            }
        }
    if (*joined && p->embedding && !layout_of(&x->whole)->fused_embedding_sync)
        *joined = embedding_sync_price(&x->of_pair, 0, 1, &prices->embedding) &&
                  note(x, prices->embedding) >= 0;
    return !x->too_large;
}

// A link of the fused embedding sync's ring.
static bool price_embedding(void *context, int from, int to, bool *joined, int64_t *ns)
{
    struct place_prices *x = context;
    struct joint way = judged_node_link(&x->whole, from, to);
    x->too_large = false;
    *joined = way.joined;
    if (*joined) *ns = note(x, embedding_link_price(&x->whole, way));
    return !x->too_large;
}

// ---- rings

// Where GPUs of two kinds meet, each term is that of the slower kind.
static bool price_link(void *context, int kind, int from, int to, const int64_t rings[2],
                       bool *joined, struct check_ring_link *prices)
{
    struct place_prices *x = context;
    const struct check_problem *p = x->p;
    struct joint joint = judged_ring_part(&x->whole, from, to, rings, kind);
    take_ends(x, from, to);
    *joined = joint.joined;
    if (!*joined) return true;
    x->joints[0][0] = x->joints[1][1] = joint;
    for (int o = 0; o < p->gradient_count; o++) {
        prices->constant[o] =
            note(x, larger(sync_constant_ns(&x->of_pair, 0), sync_constant_ns(&x->of_pair, 1)));
        for (int run = 0; run < p->run_count; run++)
            prices->layer[run * p->gradient_count + o] =
                note(x, larger(layer_sync_ns(&x->of_pair, run, 0, check_form_of(&p->gradient[o])),
                               layer_sync_ns(&x->of_pair, run, 1, check_form_of(&p->gradient[o]))));
    }
    return !x->too_large;
}

// ---- the places

static const unsigned char *kinds_of_sets(const struct place_prices *x, struct arena *arena)
{
    const struct cluster *c = &x->problem->cluster;
    unsigned char *kinds = TAKE(arena, 1 << c->group_count, unsigned char);
    int node_of[GROUPS_MAX] = {0};
    for (int i = c->places.node_count - 1; i >= 0; i--) node_of[c->places.nodes[i].group] = i;
    for (int set = 1; set < 1 << c->group_count; set++) {
        int nodes[GROUPS_MAX], count = 0;
        for (int g = 0; g < c->group_count; g++)
            if (set >> g & 1) nodes[count++] = node_of[g];
        kinds[set] = (unsigned char)judged_ring_kind(&x->whole, nodes, count);
    }
    return kinds;
}

static const bool *ring_pairs(const struct place_prices *x, struct arena *arena)
{
    int groups = x->problem->cluster.group_count;
    bool *may = TAKE(arena, groups * groups, bool);
    for (int i = 0; i < groups * groups; i++)
        may[i] = judged_may_ring(&x->whole, i / groups, i % groups);
    return may;
}

static const struct check_node *list_nodes(const struct place_prices *x, struct arena *arena)
{
    const struct places *from = &x->problem->cluster.places;
    struct check_node *nodes = TAKE(arena, from->node_count, struct check_node);
    for (int i = 0; i < from->node_count; i++)
        nodes[i] = (struct check_node){from->nodes[i].name, from->nodes[i].group,
                                       (int)judged_slots_on(&x->whole, from->nodes[i].group)};
    return nodes;
}

static void put_micro_batches(struct check_places *to, const struct job *j)
{
    const struct layout *l = &j->layout;
    to->unit = check_schedules[space_layout(l).value[KEY_SCHEDULE]].in_groups ? l->pipeline : 1;
    if (j->placement.uneven_micro_batches) to->together = j->global_batch / l->micro_batch;
    to->micro_batches = j->global_batch / ((int64_t)l->data * l->micro_batch);
}

// Of one width for all stages.
static enum status places_of_one(struct check_places *to, const struct problem *problem,
                                 struct arena *arena, struct error *err)
{
    struct place_prices *x = TAKE(arena, 1, struct place_prices);
    struct check_pricer pricers[2];
    struct check_layout layout = space_layout(&problem->job.layout);
    const char *file = problem->document.path ? problem->document.path : "problem";
    *x = (struct place_prices){.problem = problem, .whole = price_audit_of(problem)};
    x->whole.doubts = &x->doubts;
    x->whole.direction = -1; // doubtful prices take the lower value
    open_ranks(x, arena);
    TRY(space_pricers_open(pricers, &x->ranks, arena, err));
    if (!pricers[0].bytes(pricers[0].context, &layout, &x->p) ||
        !pricers[0].times(pricers[0].context))
        return refuse(err, "%s: a price is beyond what can be counted (2^53)", file);
    x->p->name = problem->name;
    x->doubts.prices += *pricers[0].doubtful_prices;
    x->doubts.sizes += *pricers[0].doubtful_sizes;
    open_pair(x, arena);
    bool fused = x->p->embedding && problem->job.layout.fused_embedding_sync;
    *to = (struct check_places){.problem = x->p,
                                .nodes = list_nodes(x, arena),
                                .node_count = problem->cluster.places.node_count,
                                .replicas = problem->job.layout.data,
                                .kinds = NO_KIND + 1,
                                .kind_of = kinds_of_sets(x, arena),
                                .may_ring = ring_pairs(x, arena),
                                .pair = price_pair,
                                .link = price_link,
                                .embedding = fused ? price_embedding : NULL,
                                .context = x,
                                .doubtful_prices = &x->doubts.prices,
                                .doubtful_sizes = &x->doubts.sizes};
    put_micro_batches(to, &problem->job);
    if (problem->job.objective != OBJECTIVE_PIPETTE) return OK;
    struct check_rows *rows = TAKE(arena, 1, struct check_rows);
    to->rows = rows;
    return space_rows(rows, &x->whole, arena)
               ? OK
               : refuse(err, "%s: a price is beyond what can be counted (2^53)", file);
}

// ---- stages with widths of their own

struct seat_places {
    struct place_prices **of; // [seat]
};

// What a message takes at either end's width, over the link as that width shares it.
static bool price_between(void *context, const int seats[2], const int nodes[2], bool *joined,
                          struct check_pair *prices)
{
    const struct seat_places *own = context;
    struct place_prices *ends[2] = {own->of[seats[0]], own->of[seats[1]]};
    const struct check_problem *p = ends[0]->p;
    *joined = true;
    for (int end = 0; end < 2; end++) {
        struct place_prices *x = ends[end];
        take_ends(x, nodes[0], nodes[1]);
        x->joints[0][1] = judged_node_link(&x->whole, nodes[0], nodes[1]);
        x->joints[1][0] = judged_node_link(&x->whole, nodes[1], nodes[0]);
        *joined = *joined && x->joints[0][1].joined && x->joints[1][0].joined;
    }
    for (int k = 0; k < 2 * p->cut_count && *joined; k++) {
        int cut = k % p->cut_count, back = k / p->cut_count;
        const struct sending s = {
            .run = ends[0]->run_of[cut], .sender = back, .receiver = !back, .backward = back};
        price_message(ends[back], ends[!back], s,
                      (back ? prices->backward : prices->forward) + cut * PARTS);
    }
    return !ends[0]->too_large && !ends[1]->too_large;
}

static enum status places_of_seats(struct check_places *to, const struct problem *problem,
                                   struct arena *arena, struct error *err)
{
    struct seat *seats;
    int count = problem_seats(problem, &seats, arena);
    struct check_named_seat *own = TAKE(arena, count, struct check_named_seat);
    struct check_named *named = TAKE(arena, 1, struct check_named);
    struct seat_places *prices = TAKE(arena, 1, struct seat_places);
    struct doubts *doubts = TAKE(arena, 1, struct doubts);
    prices->of = TAKE(arena, count, struct place_prices *);
    for (int i = 0; i < count; i++) {
        struct problem *one = TAKE(arena, 1, struct problem);
        struct check_places *at = TAKE(arena, 1, struct check_places);
        *one = problem_at_seat(problem, &seats[i]);
        TRY(places_of_one(at, one, arena, err));
        prices->of[i] = at->context;
        doubts->prices += *at->doubtful_prices, doubts->sizes += *at->doubtful_sizes;
        prices->of[i]->whole.doubts = prices->of[i]->of_pair.doubts = doubts;
        own[i] = (struct check_named_seat){seats[i].name, seats[i].group, at};
    }
    *named = (struct check_named){own, count, price_between, prices};
    *to = *own[0].at;
    to->micro_batches = job_micro_batches(&problem->job);
    to->doubtful_prices = &doubts->prices, to->doubtful_sizes = &doubts->sizes;
    to->named = named;
    return OK;
}

enum status space_places(struct check_places *to, const struct problem *problem,
                         struct arena *arena, struct error *err)
{
    const char *file = problem->document.path ? problem->document.path : "problem";
    if (!problem->cluster.places.node_count)
        return refuse(err, "%s: expected a cluster with places", file);
    TRY(space_check_kind(problem, CERTIFICATE_OF_PLACES, err));
    TRY(problem_check_places(problem, err));
    return job_has_widths(&problem->job) ? places_of_seats(to, problem, arena, err)
                                         : places_of_one(to, problem, arena, err);
}

enum status space_open_places(struct check_places *to, const char *path,
                              const struct check_input *inputs, int count, struct arena *arena,
                              struct error *err)
{
    struct problem *problem = TAKE(arena, 1, struct problem);
    TRY(space_load_problem(problem, path, inputs, count, arena, err));
    return space_places(to, problem, arena, err);
}
