// Replays every plan of a small problem. The options of a stage: ways.c.
#include "tests/support/oracle/oracle.h"

#include <string.h>

#include "tests/support/oracle/ways.h"

// How many micro-batches each stage of a rank has in flight, moment after moment of its compute
// stream.
struct moments {
    int *in_flight, count;
}; // [moment * virtual_stages + turn]

struct walk {
    const struct priced *p;
    const struct schedule *s;
    struct way **ways; // [stage]
    int *way_count;
    const struct way **taken; // [stage]
    int *slots_used;          // [group], by ranks
    struct moments *moments;  // [rank]
    int64_t boundaries, stages, cost, energy;
    int *order; // the schedule's operations, topologically
    int *before_first,
        *before; // predecessors of operation i: before[before_first[i] .. before_first[i+1])
    int64_t *end, *durations;
    int64_t *ready; // without a barrier: when the operation's predecessors in the iteration before
                    // have ended
    struct oracle *e;
};

int64_t oracle_size(const struct priced *p, int64_t limit, struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    int64_t *reach = TAKE(arena, p->layer_count + 1, int64_t), total;
    reach[0] = 1;
    for (int stage = 0; stage < p->stage_count; stage++) {
        int n = ways_of_stage(NULL, p, stage);
        struct way *ways = TAKE(arena, n, struct way);
        int64_t *next = TAKE(arena, p->layer_count + 1, int64_t);
        ways_of_stage(ways, p, stage);
        for (int i = 0; i < n; i++) {
            int64_t *to = &next[ways[i].decision.first_layer + ways[i].decision.layer_count];
            *to += reach[ways[i].decision.first_layer];
            if (*to > limit) *to = limit + 1;
        }
        reach = next;
    }
    total = reach[p->layer_count];
    arena_reset(arena, mark);
    return total;
}

// ---- a whole plan

// Duration symbols of one slice and direction over boundary `stage`-1.
static void put_parts(struct walk *w, int stage, int kind, const int64_t *prices)
{
    for (int part = 0; part < PART_COUNT; part++)
        w->durations[symbol_index(w->p->stage_count, kind + part, stage - 1)] = prices[part];
}

// All of boundary `stage`-1, between two stages; false if no link connects them.
static bool put_transfer(struct walk *w, int stage)
{
    const struct priced *p = w->p;
    const struct way *a = w->taken[stage - 1], *b = w->taken[stage];
    const struct priced_cut *c = &p->cuts[a->cut_behind];
    int option = b->decision.boundary_option,
        steady = p->boundary_options[option].epilogue_only ? 0 : option;
    static const int64_t nothing[PART_COUNT] = {0};
    bool local = way_boundary_is_local(p, stage - 1);
    if (way_boundary_is_inner(p, stage - 1) || (local && p->layout.stored_inputs)) {
        for (int i = 0; i < p->slice_count; i++)
            for (int kind = SYMBOL_SEND_FORWARD; kind < SYMBOL_EMBEDDING_SYNC; kind += PART_COUNT)
                put_parts(w, stage, symbol_of_slice(i, kind), nothing);
        return true;
    }
    for (int i = 0; i < p->slice_count; i++) {
        int64_t at = (((int64_t)i * p->group_count + a->decision.group) * p->group_count +
                      b->decision.group) *
                     PART_COUNT;
        for (int part = 0; part < PART_COUNT; part++)
            if (c->forward_ns[at + part] == PRICE_NONE ||
                c->backward_ns[0][at + part] == PRICE_NONE)
                return false;
        put_parts(w, stage, symbol_of_slice(i, SYMBOL_SEND_FORWARD), c->forward_ns + at);
        put_parts(w, stage, symbol_of_slice(i, SYMBOL_SEND_BACKWARD),
                  local ? nothing : c->backward_ns[steady] + at);
        if (i == 0)
            put_parts(w, stage, SYMBOL_SEND_EPILOGUE,
                      local ? nothing : c->backward_ns[option] + at);
    }
    return true;
}

// One iteration, no operation before what the iteration before leaves ready.
static int64_t replay(struct walk *w)
{
    int64_t last = 0;
    for (int i = 0; i < w->s->operation_count; i++) {
        int o = w->order[i];
        int64_t start = w->ready[o];
        for (int k = w->before_first[o]; k < w->before_first[o + 1]; k++)
            if (w->end[w->before[k]] > start) start = w->end[w->before[k]];
        w->end[o] = start + w->durations[w->s->operations[o].symbol];
        if (w->end[o] > last) last = w->end[o];
    }
    return last;
}

// Whether iterations can begin every `period` ns: repeating times exist unless some operation is
// delayed for ever. A delay passes each carried dependence at most once.
static bool repeats(struct walk *w, int64_t period)
{
    memset(w->ready, 0, (size_t)w->s->operation_count * sizeof *w->ready);
    for (int round = 0; round <= w->s->carried_count + 1; round++) {
        bool pushed = false;
        replay(w);
        for (int i = 0; i < w->s->carried_count; i++) {
            const struct dependence *d = &w->s->carried[i];
            if (w->end[d->before] - period <= w->ready[d->after]) continue;
            w->ready[d->after] = w->end[d->before] - period;
            pushed = true;
        }
        if (!pushed) return true;
    }
    return false;
}

// With a barrier the length of one iteration, without one the least whole period; INT64_MAX if it
// is `limit` or more.
static int64_t time_below(struct walk *w, int64_t limit)
{
    if (w->p->layout.barrier) {
        int64_t time = replay(w);
        return time < limit ? time : INT64_MAX;
    }
    memset(w->ready, 0, (size_t)w->s->operation_count * sizeof *w->ready);
    int64_t low = 0, high = replay(w);
    if (limit <= high) {
        if (limit < 1 || !repeats(w, limit - 1)) return INT64_MAX;
        high = limit - 1;
    }
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (repeats(w, middle)) high = middle;
        else low = middle + 1;
    }
    return high;
}

// What one micro-batch occupies of the busiest rank or link direction.
static int64_t greatest_load(const struct walk *w)
{
    enum { RANKS = 8 };
    const struct priced *p = w->p;
    int S = p->stage_count;
    int64_t rank_ns[RANKS] = {0}, link_ns[RANKS][RANKS] = {{0}}, most = 0;
    for (int s = 0; s < S; s++) {
        int here = way_rank_of(p, s);
        for (int i = 0; i < p->slice_count; i++)
            rank_ns[here] += w->taken[s]->forward[i] + w->taken[s]->backward[i];
        rank_ns[here] += w->taken[s]->weight;
        if (s + 1 == S || way_boundary_is_inner(p, s)) continue;
        int there = way_rank_of(p, s + 1);
        for (int i = 0; i < p->slice_count; i++)
            for (int back = 0; back < 2; back++) {
                int kind = symbol_of_slice(i, back ? SYMBOL_SEND_BACKWARD : SYMBOL_SEND_FORWARD);
                int64_t held = w->durations[symbol_index(S, kind + PART_BLOCKING, s)] +
                               w->durations[symbol_index(S, kind + PART_OVERHEAD, s)];
                rank_ns[here] += held;
                rank_ns[there] += held;
                link_ns[back ? there : here][back ? here : there] +=
                    w->durations[symbol_index(S, kind + PART_LINK, s)];
            }
    }
    for (int r = 0; r < p->rank_count; r++) {
        most = rank_ns[r] > most ? rank_ns[r] : most;
        for (int to = 0; to < p->rank_count; to++)
            most = link_ns[r][to] > most ? link_ns[r][to] : most;
    }
    return most;
}

static int64_t rank_bytes_of(const struct walk *w, int rank)
{
    const struct priced *p = w->p;
    int turns = p->stage_count / p->rank_count;
    const struct way *way[STAGES_MAX];
    for (int s = 0, turn = 0; s < p->stage_count; s++)
        if (way_rank_of(p, s) == rank) way[turn++] = w->taken[s];
    int64_t resident = p->groups[way[0]->decision.group].constant_bytes, working = 0, most = 0;
    for (int turn = 0; turn < turns; turn++) {
        resident += way[turn]->resident;
        if (way[turn]->working > working) working = way[turn]->working;
    }
    for (int i = 0; i < w->moments[rank].count; i++)
        for (int turn = 0; turn < turns; turn++)
            if (!way_tiers_hold(p, way[turn], w->moments[rank].in_flight[i * turns + turn]))
                return INT64_MAX;
    for (int i = 0; i < w->moments[rank].count; i++) {
        int64_t stash = 0;
        for (int turn = 0; turn < turns; turn++)
            stash += w->moments[rank].in_flight[i * turns + turn] * way[turn]->stash;
        if (stash > most) most = stash;
    }
    return resident + working + most;
}

// A rank's stages are on one group: that of the stage with the rank's number.
static bool memory_fits(const struct walk *w)
{
    for (int rank = 0; rank < w->p->rank_count; rank++)
        if (rank_bytes_of(w, rank) >
            w->p->groups[w->taken[rank]->decision.group].memory_limit_bytes)
            return false;
    return true;
}

// false: no link connects two of the stages.
static bool put_durations(struct walk *w)
{
    const struct priced *p = w->p;
    int S = p->stage_count;
    if (p->has_embedding_sync) {
        int64_t price = p->embedding_sync_ns[w->taken[0]->decision.group * p->group_count +
                                             w->taken[S - 1]->decision.group];
        if (price == PRICE_NONE) return false;
        w->durations[symbol_index(S, SYMBOL_EMBEDDING_SYNC, 0)] = price;
    }
    for (int s = 0; s < S; s++) {
        for (int i = 0; i < p->slice_count; i++) {
            w->durations[symbol_index(S, symbol_of_slice(i, SYMBOL_FORWARD), s)] =
                w->taken[s]->forward[i];
            w->durations[symbol_index(S, symbol_of_slice(i, SYMBOL_BACKWARD), s)] =
                w->taken[s]->backward[i];
        }
        w->durations[symbol_index(S, SYMBOL_WEIGHT, s)] = w->taken[s]->weight;
        w->durations[symbol_index(S, SYMBOL_SYNC, s)] = w->taken[s]->sync;
        w->durations[symbol_index(S, SYMBOL_QUEUED_SYNC, s)] = w->taken[s]->queued;
        w->durations[symbol_index(S, SYMBOL_OPTIMIZER, s)] = w->taken[s]->optimizer;
        w->durations[symbol_index(S, SYMBOL_AWAY, s)] = w->taken[s]->away;
        w->durations[symbol_index(S, SYMBOL_BACK, s)] = w->taken[s]->back;
        if (s > 0 && !put_transfer(w, s)) return false;
    }
    return true;
}

static void judge(struct walk *w)
{
    const struct priced *p = w->p;
    int S = p->stage_count;
    if (!memory_fits(w) || !put_durations(w)) return;
    bool of_energy = p->objective == OBJECTIVE_ENERGY;
    if (of_energy && time_below(w, p->iteration_limit_ns + 1) > p->iteration_limit_ns) return;
    w->e->plans++;
    int64_t time = of_energy                            ? w->energy
                   : p->objective == OBJECTIVE_MAX_LOAD ? greatest_load(w)
                                                        : time_below(w, w->e->second_ns);
    if (time < w->e->best_ns) {
        w->e->second_ns = w->e->best_ns;
        w->e->best_ns = time;
        for (int s = 0; s < S; s++) w->e->best[s] = w->taken[s]->decision;
    } else if (time > w->e->best_ns && time < w->e->second_ns) w->e->second_ns = time;
}

static int devices_of(const struct priced *p, int group)
{
    return p->groups[group].node_group ? p->groups[group].seat_slots : 1;
}

// By the ranks so far, of the group's node group.
static int devices_used(const struct walk *w, int group)
{
    const struct priced *p = w->p;
    const char *whose = p->groups[group].node_group;
    int used = 0;
    for (int g = 0; g < p->group_count; g++)
        if (g == group || (whose && !strcmp(p->groups[g].node_group, whose)))
            used += w->slots_used[g] * devices_of(p, g);
    return used;
}

// No rank so far has another width on the group's node group.
static bool keeps_width(const struct walk *w, int group)
{
    const struct priced *p = w->p;
    for (int g = 0; p->width_per_group && g < p->group_count; g++)
        if (g != group && w->slots_used[g] &&
            !strcmp(p->groups[g].node_group, p->groups[group].node_group))
            return false;
    return true;
}

static bool joins_rank(const struct walk *w, int stage, int group)
{
    const struct priced *p = w->p;
    if (!keeps_width(w, group)) return false;
    if (stage < p->rank_count)
        return devices_used(w, group) + devices_of(p, group) <= p->groups[group].slots;
    for (int s = 0; s < stage; s++)
        if (way_rank_of(p, s) == way_rank_of(p, stage)) return w->taken[s]->decision.group == group;
    return false;
}

static void descend(struct walk *w, int stage, int layer)
{
    const struct priced *p = w->p;
    if (stage == p->stage_count) {
        judge(w);
        return;
    }
    for (int i = 0; i < w->way_count[stage]; i++) {
        const struct way *way = &w->ways[stage][i];
        const struct plan_stage *d = &way->decision;
        int64_t cost = p->gradient_options[d->gradient_option].quality_cost +
                       p->boundary_options[d->boundary_option].quality_cost;
        if (d->first_layer != layer || !joins_rank(w, stage, d->group)) continue;
        int gradient = p->gradient_options[d->gradient_option].form.amount > 0,
            boundary = d->boundary_option > 0, slot = stage < p->rank_count;
        if (p->budget.stages_max >= 0 && w->stages + gradient > p->budget.stages_max) continue;
        if (p->budget.boundaries_max >= 0 && w->boundaries + boundary > p->budget.boundaries_max)
            continue;
        if (p->budget.cost_max >= 0 && w->cost + cost > p->budget.cost_max) continue;
        if (p->budget.energy_max_uj && w->energy + way->energy > p->budget.energy_max_uj) continue;
        w->slots_used[d->group] += slot, w->stages += gradient, w->boundaries += boundary,
            w->cost += cost, w->energy += way->energy;
        w->taken[stage] = way;
        descend(w, stage + 1, layer + d->layer_count);
        w->slots_used[d->group] -= slot, w->stages -= gradient, w->boundaries -= boundary,
            w->cost -= cost, w->energy -= way->energy;
    }
}

// Counted along the compute streams: a micro-batch is in flight from the first of its forwards at
// the stage to the last of the passes that release it.
static void collect_moments(struct walk *w, struct arena *arena)
{
    const struct priced *p = w->p;
    const struct schedule *s = w->s;
    int S = p->stage_count, turns = S / p->rank_count, m = p->micro_batches;
    int *started = TAKE(arena, S * m, int), *released = TAKE(arena, S * m, int),
        *now = TAKE(arena, S, int);
    bool splits = false;
    for (int i = 0; i < s->operation_count; i++)
        splits = splits || s->operations[i].symbol / S == SYMBOL_WEIGHT;
    w->moments = TAKE(arena, p->rank_count, struct moments);
    for (int i = 0; i < s->stream_count; i++) {
        const struct stream *stream = &s->streams[i];
        if (stream->kind != STREAM_COMPUTE) continue;
        struct moments *to = NULL;
        for (int k = 0; k < stream->count; k++) {
            const struct operation *o = &s->operations[stream->operations[k]];
            int kind = symbol_base_kind(o->symbol / S), at = o->stage * m + o->micro_batch;
            if (kind > SYMBOL_WEIGHT) continue;
            if (!to) {
                to = &w->moments[way_rank_of(p, o->stage)];
                to->in_flight = TAKE(arena, stream->count * turns, int);
            }
            if (kind == (splits ? SYMBOL_WEIGHT : SYMBOL_BACKWARD))
                now[o->stage] -= ++released[at] == p->slice_count;
            if (kind != SYMBOL_FORWARD || started[at]++) continue;
            now[o->stage]++;
            for (int stage = 0, turn = 0; stage < S; stage++)
                if (way_rank_of(p, stage) == way_rank_of(p, o->stage))
                    to->in_flight[to->count * turns + turn++] = now[stage];
            to->count++;
        }
    }
}

// Predecessors by data and by the order of streams: counted, summed up, filled in.
static void collect_predecessors(struct walk *w, struct arena *arena)
{
    const struct schedule *s = w->s;
    int total = s->dependence_count;
    for (int i = 0; i < s->stream_count; i++) total += s->streams[i].count;
    struct dependence *all = TAKE(arena, total, struct dependence);
    int n = 0;
    for (int i = 0; i < s->dependence_count; i++) all[n++] = s->dependences[i];
    for (int i = 0; i < s->stream_count; i++)
        for (int k = 1; k < s->streams[i].count; k++)
            all[n++] =
                (struct dependence){s->streams[i].operations[k - 1], s->streams[i].operations[k]};
    w->before_first = TAKE(arena, s->operation_count + 1, int);
    w->before = TAKE(arena, n, int);
    for (int i = 0; i < n; i++) w->before_first[all[i].after]++;
    for (int i = 1; i <= s->operation_count; i++) w->before_first[i] += w->before_first[i - 1];
    for (int i = 0; i < n; i++) w->before[--w->before_first[all[i].after]] = all[i].before;
}

static enum status open_walk(struct walk *w, const struct priced *p, const struct schedule *s,
                             struct arena *arena, struct error *err)
{
    *w = (struct walk){
        .p = p,
        .s = s,
        .taken = TAKE(arena, p->stage_count, const struct way *),
        .order = TAKE(arena, s->operation_count, int),
        .end = TAKE(arena, s->operation_count, int64_t),
        .ready = TAKE(arena, s->operation_count, int64_t),
        .durations = TAKE(arena, symbol_count(p->stage_count, p->slice_count), int64_t)};
    collect_moments(w, arena);
    collect_predecessors(w, arena);
    return schedule_order(s, w->order, arena, err);
}

enum status oracle_answer(struct oracle *e, const struct priced *p, const struct schedule *s,
                          struct arena *arena, struct error *err)
{
    int S = p->stage_count;
    struct walk w;
    TRY(open_walk(&w, p, s, arena, err));
    *e = (struct oracle){0, INT64_MAX, INT64_MAX, TAKE(arena, S, struct plan_stage)};
    w.e = e;
    w.ways = TAKE(arena, S, struct way *);
    w.way_count = TAKE(arena, S, int);
    w.slots_used = TAKE(arena, p->group_count, int);
    for (int stage = 0; stage < S; stage++) {
        w.way_count[stage] = ways_of_stage(NULL, p, stage);
        w.ways[stage] = TAKE(arena, w.way_count[stage], struct way);
        ways_of_stage(w.ways[stage], p, stage);
    }
    descend(&w, 0, 0);
    return OK;
}

int64_t oracle_time(const struct priced *p, const struct schedule *s,
                    const struct plan_stage *decision, int64_t *rank_bytes, struct arena *arena)
{
    struct walk w;
    struct error err;
    if (open_walk(&w, p, s, arena, &err) != OK) return -1;
    for (int stage = 0; stage < p->stage_count; stage++) {
        struct way *way = TAKE(arena, 1, struct way);
        *way = (struct way){.decision = decision[stage]};
        way_put_times(way, p, stage);
        way_put_memory(way, p, stage);
        w.taken[stage] = way;
    }
    for (int rank = 0; rank < p->rank_count; rank++) rank_bytes[rank] = rank_bytes_of(&w, rank);
    return put_durations(&w) ? time_below(&w, INT64_MAX) : -1;
}
