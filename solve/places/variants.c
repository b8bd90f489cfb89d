// Prepares a placement's problem for each number of micro-batches that a replica may take:
// schedule, choices, graph. Numbers with which a stage holds the same activations have the same
// choices.
#include <string.h>

#include "data/kinds/schedules.h"
#include "formulate/graph/objective.h"
#include "solve/places/internal.h"

// ---- one number of micro-batches

// Slots of the groups limit the program over groups; a placement counts the nodes themselves.
static struct priced *priced_for(const struct placed *p, int micro_batches)
{
    struct priced *priced = TAKE(p->arena, 1, struct priced);
    *priced = *p->priced;
    priced->micro_batches = micro_batches;
    priced->groups = TAKE_COPY(p->arena, priced->groups, priced->group_count);
    for (int g = 0; g < priced->group_count; g++) priced->groups[g].slots = 0;
    for (int i = 0; i < p->nodes; i++)
        priced->groups[priced->places->nodes[i].group].slots += priced->places->nodes[i].slots;
    return priced;
}

static bool holds_the_same(const struct schedule *a, const struct schedule *b)
{
    int turns = a->request.virtual_stages;
    if (memcmp(a->in_flight, b->in_flight, (size_t)a->request.stage_count * sizeof *a->in_flight) ||
        a->peak_count != b->peak_count)
        return false;
    for (int i = 0; i < a->peak_count; i++)
        if (a->peaks[i].rank != b->peaks[i].rank ||
            memcmp(a->peaks[i].in_flight, b->peaks[i].in_flight,
                   (size_t)turns * sizeof *a->peaks[i].in_flight))
            return false;
    return true;
}

static struct choices *choices_like(const struct placed *p, const struct schedule *schedule)
{
    for (int i = 1; i <= p->most / p->unit; i++)
        if (p->variants[i] && p->variants[i]->choices &&
            holds_the_same(p->variants[i]->schedule, schedule))
            return p->variants[i]->choices;
    return NULL;
}

static enum status build(struct placed *p, struct placed_variant *v, struct error *err)
{
    v->schedule = TAKE(p->arena, 1, struct schedule);
    TRY(schedule_build_priced(v->schedule, v->priced, p->arena, err));
    TRY(objective_graph(&v->graph, v->priced, v->schedule, p->arena, err));
    v->rows_max = p->uneven ? PLACED_ROWS_OF_MANY : PLACED_ROWS_MAX;
    v->rows = TAKE(p->arena, v->rows_max, struct placed_row);
    for (int i = 0; i < v->rows_max; i++) {
        v->rows[i].symbols = TAKE(p->arena, graph_symbol_count(v->graph), int);
        v->rows[i].counts = TAKE(p->arena, graph_symbol_count(v->graph), int);
    }
    v->choices = choices_like(p, v->schedule);
    if (v->choices) return OK;
    struct choices *choices = TAKE(p->arena, 1, struct choices);
    TRY(choices_build(choices, v->priced, v->schedule, p->arena, err));
    v->choices = choices;
    return OK;
}

struct placed_variant *placed_variant(struct placed *p, int micro_batches)
{
    assert(micro_batches > 0 && micro_batches <= p->most && micro_batches % p->unit == 0);
    struct placed_variant **v = &p->variants[micro_batches / p->unit];
    if (*v) return *v;
    struct placed_variant *made = TAKE(p->arena, 1, struct placed_variant);
    *made = (struct placed_variant){.micro_batches = micro_batches,
                                    .priced = priced_for(p, micro_batches)};
    enum status status = build(p, made, &p->error);
    if (status != OK) {
        p->status = status;
        made->choices = TAKE(p->arena, 1, struct choices);
        made->choices->stages = TAKE(p->arena, p->stages, struct stage_choices);
    }
    *v = made;
    return made;
}

// ---- all of them

// Whether the graph of fewer micro-batches is that of more with the first ones removed: then no
// path of it is longer, for any durations, and nothing more is in flight (docs/FORMULAS.md section
// 15). If transfers block both ends, their places in the orders come from one simulated run, which
// may begin differently.
bool placed_schedules_nest(const struct priced *priced)
{
    enum schedule_nesting nests = schedule_kinds[priced->layout.schedule].nests;
    return nests == NESTS_ALWAYS ||
           (nests == NESTS_UNBLOCKED && !priced_uses_part(priced, PART_BLOCKING));
}

enum status placed_open(struct placed **placed, const struct priced *priced, struct arena *arena,
                        struct error *err)
{
    struct placed *p = *placed = TAKE(arena, 1, struct placed);
    *p = (struct placed){.priced = priced,
                         .replicas = priced->layout.data,
                         .ranks = priced->rank_count,
                         .stages = priced->stage_count,
                         .nodes = priced->places->node_count,
                         .unit = layout_micro_batch_unit(&priced->layout),
                         .arena = arena};
    p->nested = placed_schedules_nest(priced);
    p->uneven = priced->places->micro_batches_together > 0;
    p->together = p->uneven ? priced->places->micro_batches_together
                            : (int64_t)priced->micro_batches * p->replicas;
    p->most = p->uneven ? (int)(p->together - (int64_t)(p->replicas - 1) * p->unit)
                        : priced->micro_batches;
    p->variants = TAKE(arena, p->most / p->unit + 1, struct placed_variant *);
    p->own = placed_variant(p, priced->micro_batches);
    if (p->status != OK) {
        *err = p->error;
        return p->status;
    }
    p->c = p->own->choices;
    p->symbols = graph_symbol_count(p->own->graph);
    p->durations = TAKE(arena, p->symbols, int64_t);
    p->counts = TAKE(arena, p->symbols + 1, int);
    p->syncs = TAKE(arena, p->replicas * p->stages, int64_t);
    p->queued_syncs = TAKE(arena, p->replicas * p->stages, int64_t);
    p->leaving = TAKE(arena, p->nodes, int);
    p->rings = placed_rings_open(p, arena);
    p->ring_next = TAKE(arena, p->stages, int);
    p->embedding = placed_embedding_open(p, arena);
    return OK;
}

const struct choices *placed_choices(const struct placed *p) { return p->c; }

// ---- plans

void placed_spread(const struct placed *p, struct placed_plan *plan)
{
    int64_t units = p->together / p->unit;
    assert(units >= p->replicas && p->together % p->unit == 0);
    for (int r = 0; r < p->replicas; r++)
        plan->micro_batches[r] = (int)(units / p->replicas + (r < units % p->replicas)) * p->unit;
}

struct placed_plan placed_plan_empty(const struct placed *p, struct arena *arena)
{
    struct placed_plan plan = {TAKE(arena, p->replicas, int),
                               TAKE(arena, p->replicas * p->stages, int),
                               TAKE(arena, p->replicas * p->ranks, int),
                               TAKE(arena, p->stages * p->replicas, int),
                               TAKE(arena, 2 * p->replicas, int),
                               INT64_MAX,
                               0};
    placed_spread(p, &plan);
    for (int s = 0; s < p->stages; s++)
        for (int r = 0; r < p->replicas; r++) plan.ring[s * p->replicas + r] = r;
    for (int i = 0; i < 2 * p->replicas; i++) plan.embedding_ring[i] = i;
    return plan;
}

void placed_plan_copy(const struct placed *p, struct placed_plan *to,
                      const struct placed_plan *from)
{
    assert(to->node != from->node);
    memcpy(to->micro_batches, from->micro_batches, (size_t)p->replicas * sizeof *to->micro_batches);
    memcpy(to->chosen, from->chosen, (size_t)(p->replicas * p->stages) * sizeof *to->chosen);
    memcpy(to->node, from->node, (size_t)(p->replicas * p->ranks) * sizeof *to->node);
    memcpy(to->ring, from->ring, (size_t)(p->stages * p->replicas) * sizeof *to->ring);
    memcpy(to->embedding_ring, from->embedding_ring,
           (size_t)(2 * p->replicas) * sizeof *to->embedding_ring);
    to->time_ns = from->time_ns;
    to->slowest = from->slowest;
}

int placed_find_choice(const struct placed_variant *v, int stage, int first_layer, int layer_count,
                       int group, const struct choice *like)
{
    const struct stage_choices *choices = &v->choices->stages[stage];
    int best = -1;
    for (int i = 0; i < choices->count; i++) {
        const struct choice *y = &choices->items[i];
        if (y->group != group || y->layer_count != layer_count ||
            y->first_layer != choices_place(v->choices, first_layer) ||
            y->gradient_option != like->gradient_option ||
            y->boundary_option != like->boundary_option)
            continue;
        if (best < 0 || y->load_ns < choices->items[best].load_ns) best = i;
    }
    return best;
}

int placed_choice_in(const struct placed_variant *v, int stage, const struct choice *like,
                     int group)
{
    const struct stage_choices *choices = &v->choices->stages[stage];
    bool own = like >= choices->items && like < choices->items + choices->count;
    if (own && like->group == group) return (int)(like - choices->items);
    return placed_find_choice(v, stage, like->first_layer, like->layer_count, group, like);
}

bool placed_give(struct placed *p, struct placed_plan *plan, int replica, int micro_batches)
{
    const struct placed_variant *to = placed_variant(p, micro_batches),
                                *from = placed_variant(p, plan->micro_batches[replica]);
    int *chosen = plan->chosen + replica * p->stages;
    plan->micro_batches[replica] = micro_batches;
    if (to->choices == from->choices) return true;
    for (int stage = 0; stage < p->stages; stage++) {
        const struct choice *like = &from->choices->stages[stage].items[chosen[stage]];
        chosen[stage] = placed_choice_in(to, stage, like, like->group);
        if (chosen[stage] < 0) return false;
    }
    return true;
}

bool placed_fit(struct placed *p, struct placed_plan *plan, int replica, const int *like)
{
    const struct placed_variant *v = placed_variant(p, plan->micro_batches[replica]);
    int *chosen = plan->chosen + replica * p->stages;
    const int *node = plan->node + replica * p->ranks;
    for (int stage = 0; stage < p->stages; stage++) {
        const struct choice *x = like ? &p->c->stages[stage].items[like[stage]]
                                      : &v->choices->stages[stage].items[chosen[stage]];
        int group = p->priced->places->nodes[node[choices_rank_of(p->c, stage)]].group;
        chosen[stage] = placed_choice_in(v, stage, x, group);
        if (chosen[stage] < 0) return false;
    }
    for (int rank = 0; rank < p->ranks && p->stages > p->ranks; rank++)
        if (!choices_rank_fits(v->choices, chosen, rank)) return false;
    return true;
}

bool placed_fit_all(struct placed *p, struct placed_plan *plan, const int *like)
{
    for (int replica = 0; replica < p->replicas; replica++)
        if (!placed_fit(p, plan, replica, like)) return false;
    return true;
}
