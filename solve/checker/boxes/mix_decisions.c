// A rank with several stages and few decisions left in a box, in a round by ranks: those that fit
// into its memory are listed, and its least cost for a number of layers is that of one of them.
#include <string.h>

#include "solve/checker/boxes/internal.h"

#define BYTES_MOST ((int64_t)1 << 54) // above those of any device

struct listing {
    const struct check_mixer *m;
    const struct check_box *box;
    int rank, most; // most: layers
    // [turn]: the least layers, and bytes at the rank's first moment, of this turn and those after.
    int layers[MOST_STAGES + 1];
    int64_t bytes[MOST_STAGES + 1];
    const struct check_choice *chosen[MOST_STAGES];
    int places[MOST_STAGES], visits, capacity;
    uint64_t work; // steps taken
    struct mix_decisions *to;
};

static int stage_at(const struct listing *x, int turn)
{
    return check_stage_of(x->m->p, x->rank, turn);
}

static const struct check_choice *choice_at(const struct listing *x, int turn, int place)
{
    int stage = stage_at(x, turn);
    return &x->m->c->items[stage][x->box->left[stage][place]];
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

// Without constants and working memory: never more than the rank's bytes at that moment.
static int64_t first_bytes(const struct listing *x, int turn, const struct check_choice *c)
{
    return c->resident + x->m->c->g->peaks[x->rank].held[turn] * c->stash;
}

static bool is_possible(const struct listing *x, int turn, int place)
{
    return x->m->stages[stage_at(x, turn)].cost[place] < UNREACHED;
}

// The greatest bytes of all stages at every moment: whether these fit, too.
static bool is_roomy(const struct listing *x)
{
    const struct check_problem *p = x->m->p;
    int64_t stash[MOST_STAGES];
    const struct check_choice *any = choice_at(x, 0, 0);
    const struct check_peaks *peaks = &x->m->c->g->peaks[x->rank];
    int64_t rest = p->groups[any->group].constant_bytes, working = 0;
    for (int turn = 0; turn < p->turns; turn++) {
        int64_t resident = stash[turn] = 0;
        for (int i = 0; i < x->box->count[stage_at(x, turn)]; i++) {
            const struct check_choice *c = choice_at(x, turn, i);
            resident = larger(resident, c->resident);
            stash[turn] = larger(stash[turn], c->stash);
            working = larger(working, c->working);
        }
        rest += resident;
    }
    for (int i = 0; i < peaks->count; i++) {
        int64_t held = rest + working;
        for (int turn = 0; turn < p->turns; turn++)
            held += peaks->held[i * p->turns + turn] * stash[turn];
        if (held > p->groups[any->group].memory_limit) return false;
    }
    return true;
}

static void keep(const struct listing *x, int layers, int64_t cost)
{
    struct mix_decisions *to = x->to;
    int turns = x->m->p->turns;
    memcpy(to->places + to->count * turns, x->places, (size_t)turns * sizeof *to->places);
    to->layers[to->count] = layers;
    to->cost[to->count++] = cost;
}

// false: too many.
static bool list_from(struct listing *x, int turn, int layers, int64_t bytes, int64_t cost)
{
    const struct check_problem *p = x->m->p;
    int stage = stage_at(x, turn);
    x->work += (uint64_t)x->box->count[stage];
    for (int i = 0; i < x->box->count[stage]; i++) {
        const struct check_choice *c = choice_at(x, turn, i);
        const struct check_group *group = &p->groups[c->group];
        int n = layers + c->layers;
        int64_t sum = bytes + first_bytes(x, turn, c), total = cost + x->m->stages[stage].cost[i];
        if (!is_possible(x, turn, i) || n + x->layers[turn + 1] > x->most ||
            sum + x->bytes[turn + 1] > group->memory_limit - group->constant_bytes)
            continue;
        if (++x->visits > VISITS_MOST) return false;
        x->places[turn] = i, x->chosen[turn] = c;
        if (turn < p->turns - 1) {
            if (!list_from(x, turn + 1, n, sum, total)) return false;
            continue;
        }
        x->work += (uint64_t)p->turns * (2 + (uint64_t)x->m->c->g->peaks[x->rank].count);
        if (check_rank_bytes(x->m->c->g, x->rank, x->chosen) <= group->memory_limit) {
            if (x->to->count == x->capacity) return false;
            keep(x, n, total);
        }
    }
    return true;
}

bool mix_list_decisions(const struct check_mixer *m, const struct check_box *box, int rank,
                        int most, struct mix_decisions *list, uint64_t *work)
{
    struct listing x = {.m = m, .box = box, .rank = rank, .most = most, .capacity = 1, .to = list};
    size_t turns = (size_t)m->p->turns;
    *list = (struct mix_decisions){0};
    *work = 0;
    if (is_roomy(&x)) return false;
    for (int turn = m->p->turns - 1; turn >= 0; turn--) {
        int count = box->count[stage_at(&x, turn)], layers = m->p->layers;
        int64_t bytes = BYTES_MOST;
        for (int i = 0; i < count; i++) {
            const struct check_choice *c = choice_at(&x, turn, i);
            if (!is_possible(&x, turn, i)) continue;
            bytes = first_bytes(&x, turn, c) < bytes ? first_bytes(&x, turn, c) : bytes;
            layers = c->layers < layers ? c->layers : layers;
        }
        x.bytes[turn] = bytes + x.bytes[turn + 1];
        x.layers[turn] = layers + x.layers[turn + 1];
        x.capacity = x.capacity <= DECISIONS_MOST / count ? x.capacity * count : DECISIONS_MOST;
    }
    list->places = TAKE(m->arena, (size_t)x.capacity * turns, int);
    list->layers = TAKE(m->arena, x.capacity, int);
    list->cost = TAKE(m->arena, x.capacity, int64_t);
    bool few = list_from(&x, 0, 0, 0, 0);
    *work = x.work;
    return few;
}

void mix_cost_decisions(const struct check_mixer *m, const struct mix_decisions *list,
                        int64_t *cost)
{
    for (int n = 0; n <= m->p->layers; n++) cost[n] = UNREACHED;
    for (int i = 0; i < list->count; i++)
        if (list->cost[i] < cost[list->layers[i]]) cost[list->layers[i]] = list->cost[i];
}

void mix_thin_decisions(const struct check_mixer *m, const struct mix_decisions *list,
                        const int64_t *cost, const int64_t *others, int64_t most, bool **stays)
{
    for (int i = 0; i < list->count; i++) {
        int n = list->layers[i];
        if (cost[n] >= UNREACHED || others[n] > most - list->cost[i]) continue;
        for (int turn = 0; turn < m->p->turns; turn++)
            stays[turn][list->places[i * m->p->turns + turn]] = true;
    }
}
