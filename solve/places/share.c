// The bound where replicas take unequal numbers of micro-batches. L(k, m), the least time of one
// pipeline with at most k[g] device groups of each kind of GPU and at least m micro-batches, comes
// from the program over groups. A plan distributes micro-batches and device groups among the
// replicas, so the least T for which some distribution has L(k, m) <= T everywhere is a bound. Only
// those L are computed that some distribution below the goal depends on; for the others a lower
// value is used: L grows with m and falls with k (docs/FORMULAS.md section 15).
#include <stdlib.h>

#include "data/base/least.h"
#include "solve/places/internal.h"
#include "solve/layout/steps.h"

enum { SOLVES_MAX = 120, STATES_MAX = 2000, PARTS_MAX = 500 };

static const double share_of_gap = 0.1;  // share of the gap that one program may leave open
static const double close_enough = 2e-4; // of the time: goals closer than this are treated as equal

struct share {
    struct placed *p;
    const struct priced *relaxed;
    const struct placed_share_settings *settings;
    int kinds, *group,
        *most;  // groups whose device groups are counted, the fastest first; how many each has
    int states; // products of (most + 1)
    int parts;  // number of combinations of device groups that a replica may have
    int *part, *weight; // [part * kinds + kind]; [part]: its number among the states
    int units, wanted;  // units of micro-batches that a replica can take, and of all together
    int64_t *least;     // [part * units + (micro-batches / unit - 1)]
    bool *solved;       // likewise
    int *reach, *before, *pick; // [state], likewise, [replica * states + state]
    int *count;                 // [part]: units within the current time
    int solves;
    struct arena *arena;
};

// ---- parts

static double load_of(const struct priced *p, int group)
{
    double load = 0;
    for (int run = 0; run < p->run_count; run++)
        load += p->runs[run].count *
                ((double)p->runs[run].forward_ns[group] + (double)p->runs[run].backward_ns[group] +
                 (double)p->runs[run].weight_ns[group]);
    return load;
}

static int seats_of(const struct share *x, int group)
{
    return priced_seats(x->p->own->priced, group);
}

// All groups but the slowest, as long as their combinations are few.
static void choose_kinds(struct share *x)
{
    const struct priced *p = x->p->priced;
    int count = 0, places = x->p->replicas * x->p->ranks;
    x->group = TAKE(x->arena, p->group_count + 1, int);
    x->most = TAKE(x->arena, p->group_count + 1, int);
    for (int g = 0; g < p->group_count; g++) {
        int at = count;
        if (p->groups[g].excluded || !seats_of(x, g)) continue;
        for (; at > 0 && load_of(p, g) < load_of(p, x->group[at - 1]); at--)
            x->group[at] = x->group[at - 1];
        x->group[at] = g;
        count++;
    }
    x->states = 1;
    for (int k = 0; k + 1 < count; k++) {
        int most = seats_of(x, x->group[k]) < places ? seats_of(x, x->group[k]) : places;
        if ((int64_t)x->states * (most + 1) > STATES_MAX) break;
        x->states *= most + 1;
        x->most[x->kinds++] = most;
    }
}

// Every number of ranks on each of the kinds that leaves the others enough room.
static void list_parts(struct share *x, int kind, int left, int *part)
{
    if (kind == x->kinds) {
        int others = 0;
        for (int g = 0; g < x->p->priced->group_count; g++)
            others += x->p->priced->groups[g].excluded ? 0 : seats_of(x, g);
        for (int k = 0; k < x->kinds; k++) others -= seats_of(x, x->group[k]);
        if (left > others) return;
        int weight = 0;
        for (int k = 0; k < x->kinds; k++) weight = weight * (x->most[k] + 1) + part[k];
        for (int k = 0; k < x->kinds && x->part; k++) x->part[x->parts * x->kinds + k] = part[k];
        if (x->part) x->weight[x->parts] = weight;
        x->parts++;
        return;
    }
    for (part[kind] = 0; part[kind] <= left && part[kind] <= x->most[kind]; part[kind]++)
        list_parts(x, kind + 1, left - part[kind], part);
}

static bool has_no_more(const struct share *x, int a, int b)
{
    for (int k = 0; k < x->kinds; k++)
        if (x->part[a * x->kinds + k] > x->part[b * x->kinds + k]) return false;
    return true;
}

// What is proven of a part also holds for those with no more device groups and no fewer
// micro-batches.
static void raise_bounds(struct share *x, int part, int units, int64_t bound_ns)
{
    assert(units >= 1 && units <= x->units);
    for (int a = 0; a < x->parts; a++) {
        if (!has_no_more(x, a, part)) continue;
        for (int u = units; u <= x->units; u++)
            if (x->least[a * x->units + u - 1] < bound_ns)
                x->least[a * x->units + u - 1] = bound_ns;
    }
}

// ---- distribution among replicas

// state minus a part, kind by kind; -1: it does not have that many.
static int state_without(const struct share *x, int state, int part)
{
    int rest = state;
    for (int k = x->kinds - 1; k >= 0; k--) {
        if (rest % (x->most[k] + 1) < x->part[part * x->kinds + k]) return -1;
        rest /= x->most[k] + 1;
    }
    assert(state >= x->weight[part]);
    return state - x->weight[part];
}

// Whether all micro-batches can be distributed in time_ns; the picks say how.
static bool can_share(struct share *x, int64_t time_ns)
{
    for (int part = 0; part < x->parts; part++) {
        const int64_t *least = x->least + part * x->units;
        int low = 0, high = x->units;
        for (int u = 1; u < x->units; u++) assert(least[u - 1] <= least[u]);
        while (low < high) {
            int middle = (low + high + 1) / 2;
            if (least[middle - 1] <= time_ns) low = middle;
            else high = middle - 1;
        }
        x->count[part] = low;
    }
    for (int state = 0; state < x->states; state++) x->reach[state] = 0;
    for (int replica = 0; replica < x->p->replicas; replica++) {
        int *kept = x->before;
        x->before = x->reach, x->reach = kept;
        for (int state = 0; state < x->states; state++) {
            int *best = &x->reach[state];
            *best = -1;
            for (int part = 0; part < x->parts; part++) {
                int from = state_without(x, state, part);
                if (from < 0 || x->before[from] < 0 || !x->count[part] ||
                    x->before[from] + x->count[part] <= *best)
                    continue;
                *best = x->before[from] + x->count[part];
                x->pick[replica * x->states + state] = part;
            }
        }
    }
    return x->reach[x->states - 1] >= x->wanted;
}

// The least time in which that is possible, by what is known. INT64_MAX: in none.
static int64_t proven_ns(struct share *x)
{
    struct arena_mark mark = arena_set_mark(x->arena);
    int count = x->parts * x->units, low = 0, high = count;
    int64_t *values = TAKE_COPY(x->arena, x->least, count);
    qsort(values, (size_t)count, sizeof *values, int64_ascending);
    while (low < high) {
        int middle = (low + high) / 2;
        if (values[middle] < INT64_MAX && !can_share(x, values[middle])) low = middle + 1;
        else high = middle;
    }
    int64_t proven = low < count ? values[low] : INT64_MAX;
    arena_reset(x->arena, mark);
    return proven;
}

// ---- one part

static enum status solve_part(struct share *x, int part, int units, int64_t goal_ns,
                              struct error *err)
{
    struct arena_mark mark = arena_set_mark(x->arena);
    struct priced one = *x->relaxed;
    struct solve_settings settings = *x->settings->solve;
    struct solve_result r;
    one.micro_batches = units * x->p->unit;
    one.groups = TAKE_COPY(x->arena, one.groups, one.group_count);
    for (int g = 0; g < one.group_count; g++)
        one.groups[g].slots = x->p->own->priced->groups[g].slots;
    for (int k = 0; k < x->kinds; k++) {
        struct priced_group *group = &one.groups[x->group[k]];
        group->slots = x->part[part * x->kinds + k] * priced_seat_slots(&one, x->group[k]);
        if (!group->slots) group->excluded = "not in this part";
    }
    settings.cutoff_ns = goal_ns;
    settings.gap = settings.gap * share_of_gap > close_enough ? settings.gap * share_of_gap
                                                              : close_enough;
    const struct watch *watch = x->settings->watch;
    if (watch && watch->limit_s > 0)
        settings.time_limit_s = fmin(x->settings->time_limit_s, watch_left_s(watch));
    settings.program_path = settings.map_path = NULL;
    settings.evidence = false;
    settings.alternatives = 0;
    settings.progress = 0;
    enum status status =
        solve_without_reason(&r, &one, &settings, watch ? watch->stop : NULL, x->arena, err);
    int64_t bound_ns = 0;
    if (status == OK)
        bound_ns = r.finished && !r.plan.stage_count && !r.cut_off ? INT64_MAX : r.plan.bound_ns;
    arena_reset(x->arena, mark);
    if (status != OK) return status;
    x->solves++;
    assert(!x->solved[part * x->units + units - 1]);
    x->solved[part * x->units + units - 1] = true;
    raise_bounds(x, part, units, bound_ns);
    return OK;
}

// A guess of where a part's time exceeds the goal: in proportion to its micro-batches and the ranks
// to be filled, from the nearest number of which something is known.
static int guess_units(const struct share *x, int part, int low, int high, int64_t goal_ns)
{
    const int64_t *least = x->least + part * x->units;
    int from = low, unit = x->p->unit, fill = x->p->ranks - 1;
    for (int u = high; u <= x->units && !from; u++)
        if (x->solved[part * x->units + u - 1] && least[u - 1] < INT64_MAX) from = u;
    if (!from) from = x->p->priced->micro_batches / unit;
    double known = (double)least[from - 1],
           wanted = known > 0 ? (double)goal_ns / known * (from * unit + fill) - fill : 0;
    int units = wanted < (double)x->units * unit ? (int)(wanted / unit) + 1 : x->units;
    return units <= low ? low + 1 : units >= high ? high - 1 : units;
}

// Finds, in the picked distribution, a number of micro-batches of some part that is not yet known
// to fit the goal. false: all are.
static bool find_open(const struct share *x, int64_t goal_ns, int *part, int *units)
{
    int state = x->states - 1;
    for (int replica = x->p->replicas - 1; replica >= 0; replica--) {
        int picked = x->pick[replica * x->states + state], low = x->count[picked], high = low + 1;
        while (low > 0 && !x->solved[picked * x->units + low - 1]) low--;
        if (low < x->count[picked]) {
            *part = picked;
            *units = guess_units(x, picked, low, high, goal_ns);
            return true;
        }
        state -= x->weight[picked];
        assert(state >= 0);
    }
    return false;
}

// Goal by goal: first the one wanted, then half way between what is proven and what cannot be
// reached.
static enum status reach_goals(struct share *x, int64_t wanted_ns, int64_t *bound_ns,
                               struct error *err)
{
    int64_t low = proven_ns(x), high = wanted_ns, goal = wanted_ns;
    while (low < high && x->solves < SOLVES_MAX &&
           !(x->settings->watch && watch_is_over(x->settings->watch))) {
        int part, units;
        if (!can_share(x, goal - 1)) {
            low = goal;
        } else if (find_open(x, goal, &part, &units)) {
            TRY(solve_part(x, part, units, goal, err));
            continue;
        } else {
            high = goal;
        }
        assert(low <= high);
        if (high - low <= 1 || (double)(high - low) <= close_enough * (double)wanted_ns) break;
        goal = low + (high - low) / 2;
    }
    int64_t proven = proven_ns(x);
    if (proven > *bound_ns) *bound_ns = proven;
    return OK;
}

enum status placed_share(struct placed *p, const struct priced *relaxed, int64_t wanted_ns,
                         int64_t *bound_ns, const struct placed_share_settings *settings,
                         struct arena *arena, struct error *err)
{
    struct share x = {.p = p,
                      .relaxed = relaxed,
                      .settings = settings,
                      .units = p->most / p->unit,
                      .wanted = (int)(p->together / p->unit),
                      .arena = arena};
    int *part = TAKE(arena, p->priced->group_count + 1, int);
    choose_kinds(&x);
    list_parts(&x, 0, p->ranks, part);
    if (!x.parts || x.parts > PARTS_MAX) return OK;
    x.part = TAKE(arena, x.parts * x.kinds + 1, int);
    x.weight = TAKE(arena, x.parts, int);
    x.parts = 0;
    list_parts(&x, 0, p->ranks, part);
    x.least = TAKE(arena, x.parts * x.units, int64_t);
    x.solved = TAKE(arena, x.parts * x.units, bool);
    x.reach = TAKE(arena, x.states, int);
    x.before = TAKE(arena, x.states, int);
    x.pick = TAKE(arena, p->replicas * x.states, int);
    x.count = TAKE(arena, x.parts, int);
    for (int a = 0; a < x.parts; a++)
        raise_bounds(&x, a, p->priced->micro_batches / p->unit, *bound_ns);
    return reach_goals(&x, wanted_ns, bound_ns, err);
}
