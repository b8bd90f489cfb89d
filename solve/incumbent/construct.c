// Construction: for a grid of caps on the load of a stage, the plan with the least sum of forward,
// backward and transfers among those in which every load stays below the cap (the analytic bound
// "fill + (m-1) x slowest" for each slowest), by dynamic programming. Then a few rounds in which
// the paths that were critical so far share the weight. What the table does not count exactly is
// repaired: where a resource exceeds its limit, the use that is cheapest to give up is forbidden.
#include <stdlib.h>
#include <string.h>

#include "data/base/least.h"
#include "solve/incumbent/internal.h"

// The table is large (at most 256 MB) because repairs fail where the slots of several groups bind.
enum { CELLS_MAX = 1 << 25, CAPS_MAX = 20, ROUNDS = 3 };

struct construction {
    struct search *s;
    struct dynamic *d;
    struct dynamic_box box;
    struct dynamic_answer answer;
    bool **allowed;
    int64_t **through;
    int64_t *coefficients;
    int *chosen, *counts;
    int64_t solve_effort; // of one dynamic programme
    int **starts;
    int64_t *start_times;
    int start_count, starts_max;
};

// The distinct loads of all choices, ascending.
static int64_t *sort_loads(const struct search *s, int *count)
{
    int all = 0;
    for (int i = 0; i < s->stage_count; i++) all += s->c->stages[i].count;
    int64_t *loads = TAKE(s->arena, all, int64_t);
    all = 0;
    for (int i = 0; i < s->stage_count; i++)
        for (int k = 0; k < s->c->stages[i].count; k++)
            loads[all++] = s->c->stages[i].items[k].load_ns;
    qsort(loads, (size_t)all, sizeof *loads, int64_ascending);
    *count = 0;
    for (int i = 0; i < all; i++)
        if (*count == 0 || loads[i] != loads[*count - 1]) loads[(*count)++] = loads[i];
    return loads;
}

static void allow_loads(struct construction *k, int64_t cap_ns)
{
    for (int i = 0; i < k->s->stage_count; i++)
        for (int j = 0; j < k->s->c->stages[i].count; j++)
            k->allowed[i][j] = k->s->c->stages[i].items[j].load_ns <= cap_ns;
}

// One pass of every stage and boundary: what fills and drains the pipeline.
static void weigh_fill(struct construction *k)
{
    for (int i = 0; i < k->s->symbols; i++) k->coefficients[i] = (int64_t)1 << WEIGHT_BITS;
}

static bool solve(struct construction *k, bool with_through)
{
    k->answer.through_ns = with_through ? k->through : NULL;
    dynamic_solve(k->d, &k->box, &k->answer);
    k->s->effort_left -= k->solve_effort * (with_through ? 3 : 1);
    return k->answer.bound_ns != DYNAMIC_NOTHING;
}

// The least use of the resource that the repair of this stage forbids: any, or of the slots of
// widths, which every stage has to use, as much as now.
static int64_t forbidden_use(const struct construction *k, int stage, int resource)
{
    const struct choices *c = k->s->c;
    bool slots = priced_has_widths(c->priced) && resource < c->priced->group_count;
    return slots ? dynamic_choice_use(k->d, stage, resource,
                                      &c->stages[stage].items[k->chosen[stage]])
                 : 1;
}

// Forbids the resource at the stage where that raises the bound least. false: every stage that uses
// it has to.
static bool forbid_one_use(struct construction *k, int resource)
{
    const struct choices *c = k->s->c;
    int64_t least = DYNAMIC_NOTHING;
    int at = -1;
    for (int i = 0; i < k->s->stage_count; i++) {
        if (!dynamic_choice_use(k->d, i, resource, &c->stages[i].items[k->chosen[i]])) continue;
        int64_t forbidden = forbidden_use(k, i, resource);
        for (int j = 0; j < c->stages[i].count; j++)
            if (k->allowed[i][j] &&
                dynamic_choice_use(k->d, i, resource, &c->stages[i].items[j]) < forbidden &&
                k->through[i][j] < least) {
                least = k->through[i][j];
                at = i;
            }
    }
    int64_t forbidden = at >= 0 ? forbidden_use(k, at, resource) : 0;
    for (int j = 0; at >= 0 && j < c->stages[at].count; j++)
        if (dynamic_choice_use(k->d, at, resource, &c->stages[at].items[j]) >= forbidden)
            k->allowed[at][j] = false;
    return at >= 0;
}

// The least decision of the box within slots and budget; forbids uses on the way.
static bool solve_within_resources(struct construction *k)
{
    bool repaired = false;
    for (;;) {
        if (search_is_stopped(k->s) || !solve(k, repaired)) return false;
        int resource = 0, count = dynamic_resource_count(k->d);
        while (resource < count && dynamic_resource_use(k->d, resource, k->chosen) <=
                                       dynamic_resource_limit(k->d, resource))
            resource++;
        if (resource == count) return true;
        if (!repaired) {
            repaired = true;
            continue;
        }
        if (!forbid_one_use(k, resource)) return false;
    }
}

static void keep_start(struct construction *k, int64_t time)
{
    size_t bytes = (size_t)k->s->stage_count * sizeof(int);
    for (int i = 0; i < k->start_count; i++)
        if (!memcmp(k->starts[i], k->chosen, bytes)) return;
    int at = k->start_count;
    if (at == k->starts_max && time >= k->start_times[at - 1]) return;
    int *room = at < k->starts_max ? TAKE(k->s->arena, k->s->stage_count, int) : k->starts[--at];
    for (; at > 0 && k->start_times[at - 1] > time; at--) {
        k->starts[at] = k->starts[at - 1];
        k->start_times[at] = k->start_times[at - 1];
    }
    memcpy(room, k->chosen, bytes);
    k->starts[at] = room;
    k->start_times[at] = time;
    k->start_count += k->start_count < k->starts_max;
    assert(at == 0 || k->start_times[at - 1] <= time);
    assert(at + 1 >= k->start_count || time < k->start_times[at + 1]);
}

// Plans under one cap. In later rounds the weights move towards the path that was critical for the
// previous plan.
static bool construct_under(struct construction *k, int64_t cap_ns)
{
    allow_loads(k, cap_ns);
    weigh_fill(k);
    for (int round = 0; round < ROUNDS && k->s->effort_left > 0; round++) {
        if (!solve_within_resources(k)) return round > 0;
        int64_t time = search_replay(k->s, k->chosen, k->counts);
        assert(time == INT64_MAX || path_laps(k->counts, k->s->symbols) >= 1);
        if (time < INT64_MAX) keep_start(k, time);
        for (int i = 0; i < k->s->symbols && time < INT64_MAX; i++)
            k->coefficients[i] += ((int64_t)k->counts[i] << WEIGHT_BITS) /
                                  path_laps(k->counts, k->s->symbols) / (4 << round);
    }
    return true;
}

// The least cap that allows a plan, by bisection: the index of a load. load_count: none does.
static int least_cap(struct construction *k, const int64_t *loads, int load_count)
{
    int low = 0, high = load_count;
    while (low < high && !search_is_stopped(k->s)) {
        int middle = (low + high) / 2;
        allow_loads(k, loads[middle]);
        if (solve(k, false)) high = middle;
        else low = middle + 1;
    }
    return low;
}

static void open_construction(struct construction *k, struct search *s, bool by_stages)
{
    int64_t cells = 0;
    *k = (struct construction){.s = s};
    k->d = (by_stages ? dynamic_open_by_stages : dynamic_open)(s->c, CELLS_MAX, s->arena);
    k->allowed = TAKE(s->arena, s->stage_count, bool *);
    k->through = TAKE(s->arena, s->stage_count, int64_t *);
    for (int i = 0; i < s->stage_count; i++) {
        k->allowed[i] = TAKE(s->arena, s->c->stages[i].count, bool);
        k->through[i] = TAKE(s->arena, s->c->stages[i].count, int64_t);
        cells += s->c->stages[i].count;
    }
    k->coefficients = TAKE(s->arena, s->symbols, int64_t);
    k->chosen = TAKE(s->arena, s->stage_count, int);
    k->counts = TAKE(s->arena, s->symbols + 1, int);
    k->box = (struct dynamic_box){.coefficients = k->coefficients, .allowed = k->allowed};
    k->answer.chosen = k->chosen;
    // A rough count of steps relative to those of a replay; it only has to be the same every time.
    int layers = s->c->priced->layer_count;
    int64_t steps = cells * (s->c->free_from == layers ? 1 : layers) / 4;
    k->solve_effort = 1 + steps * EFFORT_REPLAY / (1 + s->c->schedule->operation_count) / 8;
}

int search_construct(struct search *s, bool by_stages, int **starts, int starts_max)
{
    struct construction k;
    open_construction(&k, s, by_stages);
    k.starts = starts;
    k.starts_max = starts_max;
    k.start_times = TAKE(s->arena, starts_max, int64_t);
    int load_count;
    int64_t *loads = sort_loads(s, &load_count);
    weigh_fill(&k);
    int first = least_cap(&k, loads, load_count);
    // Caps are close together where the slowest stage is fast, then increasingly farther apart; the
    // last allows everything.
    for (int cap = first, step = 1, tried = 0; cap < load_count; tried++) {
        if (tried < CAPS_MAX || !s->best->found) construct_under(&k, loads[cap]);
        if (cap == load_count - 1 || search_is_over(s)) break;
        step += tried / 4;
        cap = cap + step < load_count ? cap + step : load_count - 1;
    }
    return k.start_count;
}
