// See plan.h. Without a barrier the time is the least t for which no cycle of the graph, repeated
// for ever, is longer than t for each iteration that it passes through.
#include "solve/checker/layout/plan.h"

// ---- what couples the stages

bool check_is_joined(const struct check_problem *p, int boundary, int from_group, int cut,
                     int to_group)
{
    if (check_is_inner(p, boundary)) return from_group == to_group;
    return !check_sends_forward(p, boundary) ||
           p->cuts[cut].forward[(from_group * p->group_count + to_group) * PARTS] >= 0;
}

static bool layers_meet(const struct check_problem *p, const struct check_choice *const *chosen)
{
    int layer = 0;
    for (int s = 0; s < p->stages; s++) {
        int first = chosen[s]->first;
        if (first >= 0 ? layer != first : layer < -1 - first) return false;
        layer += chosen[s]->layers;
    }
    return layer == p->layers;
}

int check_resource_count(const struct check_problem *p) { return p->group_count + BUDGETS; }

int64_t check_resource_limit(const struct check_problem *p, int resource)
{
    return resource < p->group_count ? p->groups[resource].slots
                                     : p->budget[resource - p->group_count];
}

int64_t check_most_use(const struct check_problem *p, int resource)
{
    int64_t most = 1;
    if (resource >= p->group_count + BUDGET_COST) return (int64_t)1 << 50;
    for (int g = 0; g < p->group_count && resource < p->group_count; g++)
        if (check_seat_slots(p, g) > most) most = check_seat_slots(p, g);
    return most * p->stages;
}

int64_t check_use(const struct check_problem *p, int stage, int resource,
                  const struct check_choice *c)
{
    if (resource < p->group_count) { // the first stage of each rank
        const struct check_group *own = &p->groups[c->group];
        if (p->groups[resource].takes)
            return stage < p->ranks ? p->groups[resource].takes[c->group] : 0;
        bool on = c->group == resource ||
                  (own->of_node_group && own->of_node_group == p->groups[resource].of_node_group);
        return stage < p->ranks && on ? check_seat_slots(p, c->group) : 0;
    }
    if (resource == p->group_count + BUDGET_BOUNDARIES) return c->boundary > 0;
    if (resource == p->group_count + BUDGET_STAGES) return p->gradient[c->gradient].amount > 0;
    return resource == p->group_count + BUDGET_COST ? c->cost : c->energy;
}

static const char *resource_misfit(const struct check_problem *p,
                                   const struct check_choice *const *chosen)
{
    for (int r = 0; r < check_resource_count(p); r++) {
        int64_t used = 0;
        for (int s = 0; s < p->stages; s++) used += check_use(p, s, r, chosen[s]);
        if (check_resource_limit(p, r) >= 0 && used > check_resource_limit(p, r))
            return r < p->group_count ? "more ranks are on a group than it has slots"
                                      : "a budget is exceeded";
    }
    return NULL;
}

static const char *rank_misfit(const struct check_graph *g,
                               const struct check_choice *const *chosen, int rank)
{
    const struct check_problem *p = g->p;
    const struct check_choice *own[MOST_STAGES];
    for (int turn = 0; turn < p->turns; turn++) {
        int stage = check_stage_of(p, rank, turn);
        own[turn] = chosen[stage];
        if (!check_tiers_hold(g, stage, own[turn])) return "a stage does not fit into a tier";
        if (own[turn]->group != own[0]->group)
            return "the stages of a rank are on different groups";
    }
    return check_rank_bytes(g, rank, own) <= p->groups[own[0]->group].memory_limit
               ? NULL
               : "a rank does not fit into memory";
}

static bool has_two_widths(const struct check_problem *p, const struct check_choice *const *chosen)
{
    for (int s = 1; s < p->stages && p->width_per_group; s++)
        for (int r = 0; r < s; r++) {
            int a = chosen[s]->group, b = chosen[r]->group;
            if (a != b && p->groups[a].of_node_group == p->groups[b].of_node_group) return true;
        }
    return false;
}

const char *check_misfit(const struct check_graph *g, const struct check_choice *const *chosen)
{
    const struct check_problem *p = g->p;
    int last = p->stages - 1;
    if (!layers_meet(p, chosen)) return "the stages do not cover the layers once in order";
    if (resource_misfit(p, chosen)) return resource_misfit(p, chosen);
    if (has_two_widths(p, chosen)) return "two widths of one node group";
    for (int s = 0; s < last; s++)
        if (!check_is_joined(p, s, chosen[s]->group, chosen[s]->cut, chosen[s + 1]->group))
            return "no link connects two neighbours";
    if (p->embedding && p->embedding[chosen[0]->group * p->group_count + chosen[last]->group] < 0)
        return "no link connects the ends of the embedding sync";
    for (int rank = 0; rank < p->ranks; rank++) {
        const char *why = rank_misfit(g, chosen, rank);
        if (why) return why;
    }
    return NULL;
}

// ---- durations

int64_t check_transfer_ns(const struct check_problem *p, int boundary, int kind, int slice,
                          const struct check_choice *from, const struct check_choice *to)
{
    const struct check_cut *cut = &p->cuts[from->cut];
    int part = (kind - KIND_SEND_FORWARD) % PARTS,
        at = ((slice * p->group_count + from->group) * p->group_count + to->group) * PARTS + part;
    if (!check_sends_forward(p, boundary)) return 0;
    if (kind < KIND_SEND_BACKWARD) return cut->forward[at];
    if (!check_sends_backward(p, boundary)) return 0;
    bool compressed = kind >= KIND_SEND_EPILOGUE || !p->boundary[to->boundary].epilogue_only;
    return cut->backward[compressed ? to->boundary : 0][at];
}

void check_take_durations(struct check_replay *r, const struct check_choice *const *chosen)
{
    const struct check_problem *p = r->g->p;
    int last = p->stages - 1;
    for (int i = 0; i < check_symbol_count(p); i++) r->durations[i] = 0;
    for (int s = 0; s < p->stages; s++) {
        const struct check_choice *c = chosen[s];
        for (int slice = 0; slice < p->slices; slice++) {
            r->durations[check_symbol(p, KIND_FORWARD, s, slice)] = c->forward[slice];
            r->durations[check_symbol(p, KIND_BACKWARD, s, slice)] = c->backward[slice];
            for (int kind = KIND_SEND_FORWARD; kind < KIND_EMBEDDING_SYNC && s < last; kind++)
                if (slice == 0 || kind < KIND_SEND_EPILOGUE)
                    r->durations[check_symbol(p, kind, s, slice)] =
                        check_transfer_ns(p, s, kind, slice, c, chosen[s + 1]);
        }
        r->durations[check_symbol(p, KIND_WEIGHT, s, 0)] = c->weight;
        r->durations[check_symbol(p, KIND_SYNC, s, 0)] = c->sync;
        r->durations[check_symbol(p, KIND_QUEUED_SYNC, s, 0)] = c->queued_sync;
        r->durations[check_symbol(p, KIND_OPTIMIZER, s, 0)] = c->optimizer;
        r->durations[check_symbol(p, KIND_AWAY, s, 0)] = c->rest;
        r->durations[check_symbol(p, KIND_BACK, s, 0)] = c->start;
    }
    if (p->embedding)
        r->durations[check_symbol(p, KIND_EMBEDDING_SYNC, 0, 0)] =
            p->embedding[chosen[0]->group * p->group_count + chosen[last]->group];
}

// ---- replay

void check_open_replay(struct check_replay *r, const struct check_graph *g, uint64_t *work,
                       struct arena *arena)
{
    int count = g->offset[KINDS];
    *r = (struct check_replay){.g = g, .work = work};
    r->durations = TAKE(arena, check_symbol_count(g->p), int64_t);
    r->end = TAKE(arena, count, int64_t);
    r->start = TAKE(arena, count, int64_t);
    r->handed = TAKE(arena, count, int64_t);
    r->symbol = TAKE(arena, count, int);
    r->opens = TAKE(arena, count, bool);
    for (int i = 0; i < count; i++) r->symbol[i] = check_symbol_of(g, i);
    if (g->p->objective == MINIMISE_LOAD) {
        check_list_loads(&r->loads, g->p, arena);
        r->load_ns = TAKE(arena, g->p->ranks * g->p->ranks, int64_t);
    }
    for (int i = 0; i < g->first[count]; i++) {
        if (!g->lap[i] || r->opens[g->next[i]]) continue;
        r->opens[g->next[i]] = true;
        r->open_count++;
    }
}

// One iteration from the current starts; returns when its last operation ends.
static int64_t walk(struct check_replay *r)
{
    const struct check_graph *g = r->g;
    int64_t last = 0;
    for (int k = 0; k < g->operation_count; k++) {
        int i = g->order[k];
        r->end[i] = r->start[i] + r->durations[r->symbol[i]];
        if (r->end[i] > last) last = r->end[i];
        for (int e = g->first[i]; e < g->first[i + 1]; e++)
            if (!g->lap[e] && r->start[g->next[e]] < r->end[i]) r->start[g->next[e]] = r->end[i];
    }
    return last;
}

// Raises what an iteration passes to the next, t later; returns whether anything rose. Starts
// within the iteration are cleared.
static bool carry(struct check_replay *r, int64_t t)
{
    const struct check_graph *g = r->g;
    bool rose = false;
    for (int k = 0; k < g->operation_count; k++) {
        int i = g->order[k];
        for (int e = g->first[i]; e < g->first[i + 1]; e++)
            if (g->lap[e] && r->handed[g->next[e]] < r->end[i] - t) {
                r->handed[g->next[e]] = r->end[i] - t;
                rose = true;
            }
    }
    for (int i = 0; i < g->offset[KINDS]; i++) r->start[i] = r->opens[i] ? r->handed[i] : 0;
    return rose;
}

static enum status loads_at_most(struct check_replay *r, int64_t t_ns, bool *within)
{
    int ranks = r->g->p->ranks;
    TRY(check_spend(r->g->p, r->work, (uint64_t)(ranks * ranks + r->loads.count)));
    for (int i = 0; i < ranks * ranks; i++) r->load_ns[i] = 0;
    *within = true;
    for (int i = 0; i < r->loads.count; i++) {
        struct check_load of = r->loads.items[i].of;
        int64_t *ns = &r->load_ns[of.from * ranks + of.to];
        *ns += r->durations[r->loads.items[i].symbol];
        *within = *within && *ns <= t_ns;
    }
    return OK;
}

enum status check_takes_at_most(struct check_replay *r, int64_t t_ns, bool *within)
{
    const struct check_graph *g = r->g;
    if (g->p->objective == MINIMISE_LOAD) return loads_at_most(r, t_ns, within);
    int count = g->offset[KINDS];
    uint64_t lap = (uint64_t)(count + g->first[count]);
    TRY(check_spend(g->p, r->work, lap));
    for (int i = 0; i < count; i++) r->start[i] = 0;
    if (g->p->barrier) {
        *within = walk(r) <= t_ns;
        return OK;
    }
    // Longest paths from zero to the operations that open an iteration. If no cycle is too long,
    // each path takes every opening at most once, so nothing rises after as many laps as there are
    // openings.
    for (int i = 0; i < count; i++) r->handed[i] = 0;
    for (int i = 0; i <= r->open_count; i++) {
        TRY(check_spend(g->p, r->work, 2 * lap));
        *within = false;
        if (walk(r) > 2 * MOST_SUM)
            return OK; // no path that takes every operation once is that
                       // long
        *within = !carry(r, t_ns);
        if (*within) return OK;
    }
    return OK;
}
